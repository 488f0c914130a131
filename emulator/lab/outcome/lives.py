"""Lives: one world, run after run, until its tables have settled.

A design is asked two questions: how tables meet the load first, and how they do once they have
lived with it. The second is answered by repeating the run until nothing splits or scales any more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from emulator.lab.outcome.world_outcome import Buckets, WorldOutcome
from emulator.lab.planning.run_emulator import RunEmulator

#: Runs that are shorter are repeated several at a time.
SHORT: Final = 900
#: Seconds for which the load is repeated at most.
_LONGEST: Final = 24 * 3600
#: Seconds without a split after which tables have settled: longer than it takes to
#: find a partition hot and to split it (CAP2-3).
_SETTLED: Final = 780


@dataclass
class Life:
    """One world, run after run.

    Attributes:
        emulator: Its emulator.
        first: How the tables met the load.
        lived: How they did in the last run.
        calm_after: Seconds until the last refusal of all runs, or None.
        lasted: Seconds of all runs.
        settled: Seconds since anything has split or scaled.
    """

    emulator: RunEmulator
    first: WorldOutcome
    lived: WorldOutcome
    calm_after: float | None
    lasted: int
    settled: int
    _seconds: int
    #: Whether an index that falls behind in the first run still does in another.
    _keeps_falling_behind: bool = False

    @classmethod
    def begun(cls, emulator: RunEmulator, first: WorldOutcome) -> Life:
        """Return a life after its first run."""
        seconds = emulator.layout.workload.duration
        # A run of less than a few minutes does not show yet which partitions are hot.
        is_telling = not (emulator.is_restless or first.refuses)
        settled = max(seconds, _SETTLED) if is_telling else seconds
        if emulator.has_changed or emulator.overdrawn(first.units, seconds):
            settled = 0
        return cls(emulator, first, first, first.last_throttle, seconds, settled, seconds)

    @property
    def goes_on(self) -> bool:
        """Whether another run may do better or worse than the last."""
        return self.lasted < _LONGEST and (self.settled < _SETTLED or self.emulator.will_grow)

    def begin_again(self) -> None:
        """Begin another run on the tables as they are."""
        self.emulator.begin_again(self.lived.units, self._seconds)

    def note(self, outcome: WorldOutcome, seconds: int) -> None:
        """Note another run and its length."""
        self._seconds = seconds
        self._keeps_falling_behind |= outcome.refuses
        if outcome.last_throttle is not None:
            self.calm_after = self.lasted + outcome.last_throttle
        self.lived, self.lasted = outcome, self.lasted + seconds
        self.settled = 0 if self.emulator.has_changed else self.settled + seconds

    def outcome(self, buckets: Buckets | None = None) -> WorldOutcome:
        """Return how the world did at both ages.

        Args:
            buckets: How further buckets of time do, where keys or heat follow the time.
        """
        first, seconds = self.first, self.emulator.layout.workload.duration
        if self.lasted > seconds and not self._keeps_falling_behind:
            # It would have closed if its busy partition had not been split in time (CAP2-4).
            first = replace(first, closes_after=None)
        return replace(
            first,
            lived=replace(self.lived, buckets=buckets),
            calm_after=None if self.lived.refuses else self.calm_after,
            buckets=buckets,
        )
