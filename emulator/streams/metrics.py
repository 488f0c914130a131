"""The metrics of a source: its calls, and counts of records (EVS-29)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Delivery(NamedTuple):
    """A call of the handler.

    Attributes:
        at: When, in seconds since the epoch.
        shard_id: The shard that its records are of.
        sequence_numbers: Those of its first and last record; empty if it had none.
        records: How many it had.
        iterator_age_ms: The age of its last record when it was sent.
        error: The handler's exception, or the fault of its answer.

    >>> Delivery(1767225600.0, "shardId-1", ("100", "104"), 5, 250, None).records
    5
    """

    at: float
    shard_id: str
    sequence_numbers: tuple[str, ...]
    records: int
    iterator_age_ms: int
    error: Exception | None


@dataclass(slots=True)
class SourceMetrics:
    """The work of a source so far; counts are of records unless said otherwise.

    Attributes:
        polled: Read from the stream.
        filtered: Matching no filter.
        invoked: Sent, each time that they were.
        delivered: Sent, with success.
        failed: Sent, with an error.
        dropped: Given up.
        invocations: Calls of the handler.
        iterator_age_ms: The age of the last record of the last batch, when that was sent.
        most_iterator_age_ms: The highest of them.

    >>> SourceMetrics(polled=3).polled
    3
    """

    polled: int = 0
    filtered: int = 0
    invoked: int = 0
    delivered: int = 0
    failed: int = 0
    dropped: int = 0
    invocations: int = 0
    iterator_age_ms: int = 0
    most_iterator_age_ms: int = 0

    def send(self, records: int, age_ms: int) -> None:
        """Count a call of the handler."""
        self.invocations += 1
        self.invoked += records
        self.iterator_age_ms = age_ms
        self.most_iterator_age_ms = max(self.most_iterator_age_ms, age_ms)
