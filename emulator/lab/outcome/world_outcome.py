"""The outcome of one world when many are played: enough to judge a design by."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from emulator.lab.inputs.workload import Age
from emulator.lab.outcome.run_log import RunLog
from emulator.lab.outcome.throttled import throttled_by_reason, throttles
from emulator.lab.planning.worlds import World

#: Of a month as prices count it.
_MONTH_SECONDS = 730 * 3600


@dataclass(frozen=True, slots=True)
class Buckets:
    """How the buckets of time after the first do in one world, with keys placed again.

    Attributes:
        count: The buckets of the horizon, the first included.
        busy: Those in which a partition is asked for more than it serves.
        confirmed: Of those of them that were played, the share that throttle.
        minutes: Throttled minutes in one that does.
        refused: Calls refused at first in one that does.
        step: How many seconds a bucket lasts.
    """

    count: int
    busy: int
    confirmed: float
    minutes: float
    refused: float
    step: float

    @classmethod
    def of(
        cls, busy: int, count: int, step: float, duration: int, played: Sequence[WorldOutcome]
    ) -> Buckets:
        """Return the figures of all buckets, from those that were played.

        One that still refuses calls when the run ends does so until its keys are others.

        Args:
            busy: The buckets that are asked for too much.
            count: All buckets.
            step: Seconds that each lasts.
            duration: Seconds of it that were played.
            played: The first of those that are asked for too much.
        """
        refusing = [own for own in played if own.refuses]
        minutes, refused = [0.0], [0.0]
        for own in refusing:
            first, last = own.first_throttle or 0.0, own.last_throttle or 0.0
            lasts = max(1.0, last - first)
            until_the_end = max(1.0, step - first) if last >= duration - 1 else lasts
            minutes.append(max(1.0, min(until_the_end, step) / 60))
            refused.append(own.refused * min(until_the_end, step) / lasts)
        return cls(
            count=count,
            busy=busy,
            confirmed=len(refusing) / len(played) if played else 0.0,
            minutes=fmean(minutes[1:] or minutes),
            refused=fmean(refused[1:] or refused),
            step=step,
        )

    @property
    def throttles(self) -> bool:
        """Whether any of them throttles."""
        return self.busy * self.confirmed > 0

    @property
    def share(self) -> float:
        """The share of them that throttle."""
        return self.busy * self.confirmed / max(1, self.count - 1)

    @property
    def minutes_a_month(self) -> float:
        """Throttled minutes a month."""
        return self.share * self.minutes * _MONTH_SECONDS / self.step

    @property
    def refused_a_month(self) -> float:
        """Calls refused at first in a month."""
        return self.share * self.refused * _MONTH_SECONDS / self.step


@dataclass(frozen=True, slots=True)
class WorldOutcome:
    """How a design did in one world.

    Attributes:
        world: Which.
        throttled_share: First attempts refused, of all calls.
        failed_share: Calls given up, of all calls.
        throttled_by_reason: Calls refused at first, the most frequent reason first; of an index
            that closes after the run, its reason with no call.
        refused: Calls refused at first.
        first_throttle: When the first call was refused, in seconds, or None.
        last_throttle: When the last one was, or None.
        closes_after: When an index closes its table's writes if the load goes on, or None.
        splits: How many partitions were split.
        units: By resource, the read and write units consumed.
        lived: How it does once the tables have lived with the load; None if that was not played.
        calm_after: Seconds after the first meeting until no call is refused any more; None if
            none was, or if some still are.
        buckets: How further buckets of time do, where keys or heat follow the time.
    """

    world: World
    throttled_share: float
    failed_share: float
    throttled_by_reason: dict[str, float]
    refused: float
    first_throttle: float | None
    last_throttle: float | None
    closes_after: float | None
    splits: int
    units: dict[str, tuple[float, float]]
    lived: WorldOutcome | None = None
    calm_after: float | None = None
    buckets: Buckets | None = None

    @property
    def refuses(self) -> bool:
        """Whether the design throttles in the run, or would if the load went on (CAP2-4)."""
        return throttles(self)

    @property
    def throttles(self) -> bool:
        """Whether it throttles in the run, or in any other bucket of the horizon."""
        return self.refuses or (self.buckets is not None and self.buckets.throttles)

    def at(self, age: Age) -> WorldOutcome:
        """Return how the design does at an age of its tables.

        Args:
            age: ``first`` or ``lived``.
        """
        return self if age == "first" or self.lived is None else self.lived

    @property
    def reason(self) -> str | None:
        """The reason that leads."""
        return next(iter(self.throttled_by_reason), None)


def outcome_of(world: World, log: RunLog) -> WorldOutcome:
    """Return the outcome of a run in a world."""
    records = list(log.patterns.values())
    return make_outcome(
        world,
        calls=math.fsum(record.calls for record in records),
        failed=math.fsum(record.failed for record in records),
        reasons=throttled_by_reason(records),
        first_throttle=log.first_throttle,
        last_throttle=log.last_throttle,
        closing={
            record.waiting_reason: after
            for record in log.resources.values()
            if record.waiting_reason is not None and (after := log.closes_after(record)) is not None
        },
        splits=sum(1 for split in log.splits if split.children),
        units={
            record.name: (math.fsum(record.consumed[0]), math.fsum(record.consumed[1]))
            for record in log.resources.values()
        },
    )


def make_outcome(
    world: World,
    *,
    calls: float,
    failed: float,
    reasons: Mapping[str, float],
    first_throttle: float | None,
    last_throttle: float | None,
    closing: Mapping[str, float],
    splits: int,
    units: dict[str, tuple[float, float]],
) -> WorldOutcome:
    """Return an outcome from sums over all patterns.

    Args:
        world: Which.
        calls: Calls in all.
        failed: Calls given up.
        reasons: Calls refused at first, by reason.
        first_throttle: When the first was.
        last_throttle: And the last.
        closing: By the reason of an index that closes, when it does.
        splits: How many partitions were split.
        units: By resource, the read and write units consumed.
    """
    by_count = dict(sorted(reasons.items(), key=lambda entry: -entry[1]))
    for reason in closing:
        by_count.setdefault(reason, 0.0)
    return WorldOutcome(
        world=world,
        throttled_share=math.fsum(reasons.values()) / calls if calls else 0.0,
        failed_share=max(0.0, failed) / calls if calls else 0.0,
        throttled_by_reason=by_count,
        refused=math.fsum(reasons.values()),
        first_throttle=first_throttle,
        last_throttle=last_throttle,
        closes_after=min(closing.values(), default=None),
        splits=splits,
        units=units,
    )
