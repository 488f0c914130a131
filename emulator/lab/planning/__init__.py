"""How a design answers a workload: tables, access paths, items, and the requests to make.

Both engines start from the same plan, so that they disagree on nothing but arithmetic.
"""
