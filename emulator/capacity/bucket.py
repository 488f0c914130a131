"""The token bucket: every limit of the service is one.

Integers only: time in nanoseconds, tokens in nano-units, so that a rate times a duration is
exact and the same sequence of calls gives the same answers everywhere. A state is a function of
the last change and the time, so refilling in many steps equals refilling once.
"""

from __future__ import annotations

from typing import Final

from emulator.service.limits import BURST_SECONDS

#: One unit, in nano-units.
ONE: Final = 1_000_000_000

BucketState = tuple[int, int, int]


class TokenBucket:
    """A rate with one second of base tokens and, above them, a reserve for bursts.

    Assumed: CAP-603. A request needs one unit (or its cost, if smaller) and then pays its whole
    cost; the base may go negative, and refill repays that debt before anything else passes.

    Args:
        rate: Units per second.
        now_ns: The time; the base starts full, the burst reserve empty.
        burst_seconds: Seconds of the rate that the reserve holds.

    >>> bucket = TokenBucket(5, now_ns=0)
    >>> bucket.take(400 * ONE)
    >>> bucket.refill(79 * ONE)
    0
    >>> bucket.can_take(ONE)
    False
    >>> bucket.refill(80 * ONE)
    5000000000
    >>> bucket.can_take(ONE)
    True
    """

    __slots__ = ("base", "base_cap", "burst", "burst_cap", "burst_seconds", "rate", "updated_ns")

    def __init__(self, rate: int, now_ns: int, burst_seconds: int = BURST_SECONDS) -> None:
        self.burst_seconds = burst_seconds
        self.updated_ns = now_ns
        self.rate = rate
        self.base_cap = self.base = rate * ONE
        self.burst_cap = self.base_cap * burst_seconds
        self.burst = 0

    @property
    def tokens(self) -> float:
        """The units at hand as of the last refill; negative while in debt."""
        return (self.base + self.burst) / ONE

    def refill(self, now_ns: int) -> int:
        """Add the tokens that came in, to the base and then the reserve, and return the base."""
        base = self.base
        elapsed = now_ns - self.updated_ns
        if elapsed > 0:
            self.updated_ns = now_ns
            base += self.rate * elapsed
            if base > self.base_cap:
                if self.burst < self.burst_cap:
                    self.burst = min(self.burst_cap, self.burst + base - self.base_cap)
                base = self.base_cap
            self.base = base
        return base

    def can_take(self, cost: int) -> bool:
        """Return whether a request of ``cost`` nano-units passes; ``refill`` comes first."""
        return self.base + self.burst >= (cost if cost < ONE else ONE)

    def take(self, cost: int) -> None:
        """Pay ``cost``: from the base, then from the reserve, then as debt."""
        base = self.base - cost
        if base < 0 and self.burst:
            used = min(self.burst, -base)
            self.burst -= used
            base += used
        self.base = base

    def room_ns(self, cost: int) -> int:
        """Return when a request of ``cost`` nano-units passes, if nothing else is taken before.

        >>> bucket = TokenBucket(5, now_ns=0)
        >>> bucket.take(400 * ONE)
        >>> bucket.room_ns(2 * ONE) / ONE
        79.2
        """
        missing = (cost if cost < ONE else ONE) - self.base - self.burst
        return self.updated_ns + max(0, -(-missing // self.rate))

    def fill_reserve(self, share: float) -> None:
        """Put a share of what the reserve holds at most into it (CAP2-5)."""
        self.burst = int(self.burst_cap * share)

    def set_rate(self, rate: int, now_ns: int) -> None:
        """Go on with another rate; tokens above the new caps are lost.

        Assumed: that they are, and that the old rate counts up to this moment (CAP-604).
        """
        self.refill(now_ns)
        self.rate = rate
        self.base_cap = rate * ONE
        self.burst_cap = self.base_cap * self.burst_seconds
        self.base = min(self.base, self.base_cap)
        self.burst = min(self.burst, self.burst_cap)

    def save(self) -> BucketState:
        """Return the tokens and their time, for ``restore``."""
        return self.base, self.burst, self.updated_ns

    def restore(self, state: BucketState) -> None:
        """Go back to a saved state of the same rate."""
        self.base, self.burst, self.updated_ns = state

    def copy(self) -> TokenBucket:
        """Return an independent bucket with the same tokens."""
        twin = TokenBucket(self.rate, self.updated_ns, self.burst_seconds)
        twin.base, twin.burst = self.base, self.burst
        return twin

    def check(self) -> None:
        """Assert the invariants."""
        state = (self.rate, self.base, self.base_cap, self.burst, self.burst_cap, self.updated_ns)
        assert all(type(number) is int for number in state), state
        assert self.base_cap == self.rate * ONE, state
        assert self.burst_cap == self.base_cap * self.burst_seconds, state
        assert self.base <= self.base_cap, state
        assert 0 <= self.burst <= self.burst_cap, state
        assert self.base >= 0 or self.burst == 0, state
