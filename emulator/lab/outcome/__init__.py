"""What a run leaves behind, and what a comparison is in the end: the lab's results.

Both engines write the same run log; results are summarised from it. Thresholds and the words
that numbers are put in live here, because engines, analyses and reports all need them.
"""
