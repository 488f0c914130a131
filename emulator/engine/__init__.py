"""The joined machine: accounts, tables, reads, writes, transactions, and what time does.

This room decides in which order things happen: plan, price, admit, judge, apply.
"""
