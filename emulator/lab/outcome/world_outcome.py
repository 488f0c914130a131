"""What one world leaves behind when many are played: enough to judge a design by."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from emulator.lab.outcome.run_log import RunLog
from emulator.lab.outcome.throttled import throttled_by_reason, throttles
from emulator.lab.planning.worlds import World


@dataclass(frozen=True, slots=True)
class WorldOutcome:
    """How a design did in one world.

    Attributes:
        world: Which.
        throttled_share: First attempts refused, of all calls.
        failed_share: Calls given up, of all calls.
        throttled_by_reason: Calls refused at first, the most frequent reason first; of an index
            that closes after the run, its reason with no call.
        first_throttle: When the first call was refused, in seconds, or None.
        closes_after: When an index closes its table's writes if the load goes on, or None.
        splits: How many partitions were split.
        units: By resource, the read and write units consumed.
        is_whole: Whether the world is one of those that are played to the end whatever happens;
            of others only whether they throttle is known.
    """

    world: World
    throttled_share: float
    failed_share: float
    throttled_by_reason: dict[str, float]
    first_throttle: float | None
    closes_after: float | None
    splits: int
    units: dict[str, tuple[float, float]]
    is_whole: bool = True

    @property
    def throttles(self) -> bool:
        """Whether the design throttles in this world, or would if the load went on (CAP2-4)."""
        return throttles(self)

    @property
    def reason(self) -> str | None:
        """The reason that leads."""
        return next(iter(self.throttled_by_reason), None)


def outcome_of(world: World, log: RunLog) -> WorldOutcome:
    """Return what a run in a world has shown."""
    records = list(log.patterns.values())
    return make_outcome(
        world,
        calls=math.fsum(record.calls for record in records),
        failed=math.fsum(record.failed for record in records),
        reasons=throttled_by_reason(records),
        first_throttle=log.first_throttle,
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
    closing: Mapping[str, float],
    splits: int,
    units: dict[str, tuple[float, float]],
    is_whole: bool = True,
) -> WorldOutcome:
    """Return an outcome from sums over all patterns.

    Args:
        world: Which.
        calls: Calls in all.
        failed: Calls given up.
        reasons: Calls refused at first, by reason.
        first_throttle: When the first was.
        closing: By the reason of an index that closes, when it does.
        splits: How many partitions were split.
        units: By resource, the read and write units consumed.
        is_whole: Whether it was played to the end whatever happened.
    """
    by_count = dict(sorted(reasons.items(), key=lambda entry: -entry[1]))
    for reason in closing:
        by_count.setdefault(reason, 0.0)
    return WorldOutcome(
        world=world,
        throttled_share=math.fsum(reasons.values()) / calls if calls else 0.0,
        failed_share=max(0.0, failed) / calls if calls else 0.0,
        throttled_by_reason=by_count,
        first_throttle=first_throttle,
        closes_after=min(closing.values(), default=None),
        splits=splits,
        units=units,
        is_whole=is_whole,
    )
