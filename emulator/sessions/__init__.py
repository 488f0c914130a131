"""Sessions: the calls that tests made on their tables, whatever language they are written in.

This room decides what a test's record holds, which findings of it are reported and fail it, and how
the records of a session are shown: on a terminal, as a page, as JSON, JUnit XML and Markdown. The
pytest plugin keeps such records, and so does a server for its callers.
"""

__all__ = ["Fault"]


class Fault(Exception):
    """A wrong argument; the message says what would be right.

    >>> raise Fault("there is no finding 'scans'")
    Traceback (most recent call last):
    emulator.sessions.Fault: there is no finding 'scans'
    """
