"""Inputs that a person writes: a workload, designs for it, and the distributions and rates within.

Everything here can be read from YAML and written back; nothing here knows an engine.
"""
