"""Clients: what is on its way from them, what waits in them, and how fast they may go."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from emulator.capacity.client_rate import ClientRate
from emulator.capacity.retries import RetryQuota
from emulator.lab.exact.calls import Work
from emulator.lab.exact.sources import RequestSource
from emulator.lab.outcome.run_log import PatternRecord


class SimulatedClient:
    """One client: its retry quota, its rate limit, and the calls that wait for others to end.

    Attributes:
        free: How many more calls it may have under way; None without a limit.
        queue: Calls that wait until another has ended, in the order they came.
        unsent: Calls that wait until the rate limit lets them pass, likewise.
    """

    __slots__ = ("free", "queue", "quota", "rate", "unsent")

    def __init__(self, concurrency: int | None) -> None:
        self.quota = RetryQuota()
        self.rate = ClientRate()
        self.free = concurrency
        self.queue: deque[ClientCall] = deque()
        self.unsent: deque[ClientCall] = deque()


class ClientCall:
    """A call on its way.

    Attributes:
        record: Where it is written down: a call of the warm-up counts for nothing in the run.
        works: Its work: one thing, or the items of a batch that are not done.
        arrived_ns: When its caller asked for it.
        attempts: How often it was sent.
        earlier: How many of these attempts were of batches that were answered in part.
        rounds: How many batches were answered in part.
        waited: Seconds that its caller waited, besides the attempts themselves.
        unsent_ns: Since when it waits for its client's rate limit; None if it does not.
    """

    __slots__ = (
        "arrived_ns",
        "attempts",
        "client",
        "earlier",
        "record",
        "rounds",
        "source",
        "unsent_ns",
        "waited",
        "works",
    )

    def __init__(
        self,
        source: RequestSource,
        works: Sequence[Work],
        client: SimulatedClient,
        arrived_ns: int,
    ) -> None:
        self.source = source
        self.record: PatternRecord = source.runner.record
        self.works = works
        self.client = client
        self.arrived_ns = arrived_ns
        self.attempts = 0
        self.earlier = 0
        self.rounds = 0
        self.waited = 0.0
        self.unsent_ns: int | None = None
