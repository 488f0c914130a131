"""The lab's results: the records of a run, and the comparison in the end.

Both engines write the same run log; results are summarised from it. Thresholds and the words
that numbers are put in live here, because engines, analyses and reports all need them.
"""
