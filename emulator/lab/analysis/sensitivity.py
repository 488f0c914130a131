"""What an answer depends on: which unknown moves it and by how much, and what else is assumed.

Each unknown is drawn again in ten worlds that are alike in all else; the shares of throttled
calls in them show what it decides. Constants that worlds do not draw are the same in all of
them and listed, where they had a say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from emulator.capacity.heat import QUERIED, SEQUENTIAL, SINGLE_ITEM
from emulator.lab.analysis.deadline import Deadline
from emulator.lab.analysis.world_runs import WorldRuns
from emulator.lab.outcome.result_types import Assumption, UnknownEffect
from emulator.lab.outcome.run_log import RunLog
from emulator.lab.outcome.thresholds import ALONE_WORLDS, FIRST_WORLDS, MOVES
from emulator.lab.outcome.world_outcome import WorldOutcome
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import (
    DELETION,
    INDEX_BUFFER,
    REPLICA_READS,
    RESERVE,
    SCALING_DELAY,
    UNKNOWNS,
    Unknown,
    draw_worlds,
)
from emulator.service.throttling import ThrottlingLimit
from emulator.settings import Settings

#: What stands for every unknown at once.
TOGETHER: Final = "all unknowns together"
#: And for the answer under another reading of what AWS says.
COMBINED: Final = "reads and writes of a partition, if AWS combines them"


def _has_global_index(layout: Layout) -> bool:
    return any(table.global_indexes for table in layout.tables)


def _has_reserve(layout: Layout) -> bool:
    """Return whether a limit of some table or index saves up what is not used (CAP-601)."""
    return any(
        capacity.is_provisioned or capacity.max_read or capacity.max_write
        for capacity in layout.capacities.values()
    )


def _reads_eventually(layout: Layout) -> bool:
    return any(
        not pattern.is_write and not pattern.consistent for pattern in layout.workload.patterns
    )


#: Where some unknowns can have a say at all; the others always can.
_CAN_MATTER: Final[dict[Unknown, Callable[[Layout], bool]]] = {
    INDEX_BUFFER: _has_global_index,
    RESERVE: _has_reserve,
    REPLICA_READS: _reads_eventually,
    SCALING_DELAY: lambda layout: layout.is_scaled,
    DELETION: lambda _: False,  # it decides what is stored, and refuses nothing
}


def effects_of(runs: WorldRuns, deadline: Deadline) -> Iterator[UnknownEffect]:
    """Yield how far each unknown moves the answer by itself, the most decisive first.

    Where all of them together move it by less than half a point, and all worlds throttle or none
    does, that is all there is to say.

    Args:
        runs: The worlds of the design, as many as the chance took.
        deadline: When to stop; nothing is tried after it.
    """
    yield from _if_combined(runs)
    shares = [outcome.throttled_share for outcome in runs.outcomes]
    are_alike = len(shares) >= FIRST_WORLDS and max(shares) - min(shares) < MOVES
    if are_alike and len({outcome.throttles for outcome in runs.outcomes}) == 1:
        yield _effect(TOGETHER, "", runs.outcomes)
        return
    if deadline.has_passed():
        return
    first = _telling_world(runs)
    unknowns = [unknown for unknown in UNKNOWNS if _can_matter(unknown, runs.layout)]
    worlds = [draw_worlds(first, ALONE_WORLDS, runs.known, only=own) for own in unknowns]
    # All at once: what is the same in all worlds is worked out once for all unknowns.
    outcomes = iter(runs.estimates_in([world for own in worlds for world in own]))
    effects = [
        _effect(unknown.name, unknown.rule, list(islice(outcomes, len(own))))
        for unknown, own in zip(unknowns, worlds, strict=True)
    ]
    yield from sorted(effects, key=lambda effect: effect.low - effect.high)


def _if_combined(runs: WorldRuns) -> Iterator[UnknownEffect]:
    """Yield the answer if AWS's other page is right: a partition's reads and writes share.

    It is beside the risk, which takes them as independent (CAP2-15).
    """
    patterns = runs.layout.workload.patterns
    settings = runs.known.settings
    is_mixed = len({pattern.is_write for pattern in patterns}) == 2
    if settings.partition_throughput == "combined" or not is_mixed:
        return
    known = replace(runs.known, settings=replace(settings, partition_throughput="combined"))
    worlds = draw_worlds(runs.first, ALONE_WORLDS, known)
    yield _effect(COMBINED, "CAP2-15", [*runs.outcomes[:1], *runs.estimates_in(worlds)])


def _telling_world(runs: WorldRuns) -> int:
    """Return the seed of the world from which one unknown at a time is changed.

    It is the first one. Where the next ones do as it does and others do not, it is the first of
    these: what is rare shows where it happens.
    """
    first, *others = runs.outcomes
    unlike = [
        number for number, other in enumerate(others, 1) if other.throttles != first.throttles
    ]
    is_rare = unlike and unlike[0] >= ALONE_WORLDS
    return runs.first + (unlike[0] if is_rare else 0)


def _can_matter(unknown: Unknown, layout: Layout) -> bool:
    return unknown not in _CAN_MATTER or _CAN_MATTER[unknown](layout)


def _effect(name: str, rule: str, outcomes: Sequence[WorldOutcome]) -> UnknownEffect:
    shares = [outcome.throttled_share for outcome in outcomes]
    return UnknownEffect(
        name=name,
        rule=rule,
        chance=sum(outcome.throttles for outcome in outcomes) / len(outcomes),
        low=min(shares),
        high=max(shares),
        worlds=len(outcomes),
    )


@dataclass(frozen=True)
class _Assumed:
    """A constant that is the same in every world, and when it has a say."""

    setting: str
    rule: str
    meaning: str
    matters: Callable[[RunLog], bool]


def _refused_for(*causes: str) -> Callable[[RunLog], bool]:
    return lambda log: any(split.cause in causes for split in log.splits)


def _has_account_limit(log: RunLog) -> bool:
    return any(
        ThrottlingLimit.of(reason) is ThrottlingLimit.ACCOUNT
        for record in log.patterns.values()
        for reason in record.throttled_by_reason
    )


_ASSUMED: Final = (
    _Assumed(
        "heat_threshold",
        "CAP-505",
        "share of a partition's throughput that counts as hot",
        lambda log: bool(log.splits),
    ),
    _Assumed(
        "sequential_share",
        "CAP-506",
        "share of ascending sort keys that prevents a split",
        _refused_for(SEQUENTIAL),
    ),
    _Assumed(
        "single_item_share",
        "CAP-506",
        "share of one item, or of Queries of one collection, that prevents a split",
        _refused_for(SINGLE_ITEM, QUERIED),
    ),
    _Assumed(
        "gsi_closed_seconds",
        "CAP2-4",
        "how long an index whose buffer is full refuses its table's writes",
        lambda log: any(record.closed_at is not None for record in log.resources.values()),
    ),
    _Assumed(
        "table_quota",
        "CAP-615",
        "units per second that an on-demand table may use",
        _has_account_limit,
    ),
)


def assumptions_of(log: RunLog, settings: Settings) -> tuple[Assumption, ...]:
    """Return the constants that are the same in every world and had a say in this one."""
    return tuple(
        Assumption(
            setting=assumed.setting,
            value=float(getattr(settings, assumed.setting)),
            rule=assumed.rule,
            meaning=assumed.meaning,
        )
        for assumed in _ASSUMED
        if assumed.matters(log)
    )
