"""Sensitivity: which assumed constants a result depends on, and the answer under other values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from emulator.lab import aggregate
from emulator.lab.outcome.result_types import Assumption, SensitivityRow
from emulator.lab.outcome.run_log import RunLog
from emulator.lab.planning.layout import Layout
from emulator.service.throttling import ThrottlingLimit
from emulator.settings import Settings


@dataclass(frozen=True)
class Assumed:
    """An adjustable constant that results may depend on, and values to try."""

    setting: str
    rule: str
    meaning: str
    others: tuple[float, ...]
    matters: Callable[[RunLog], bool]


def _has_heat(log: RunLog) -> bool:
    return bool(log.splits)


def _refused_for(cause: str) -> Callable[[RunLog], bool]:
    return lambda log: any(split.cause == cause for split in log.splits)


def _refused_by(limit: ThrottlingLimit) -> Callable[[RunLog], bool]:
    return lambda log: any(
        ThrottlingLimit.of(reason) is limit
        for record in log.patterns.values()
        for reason in record.throttled_by_reason
    )


ASSUMED: Final = (
    Assumed(
        "heat_threshold",
        "CAP-505",
        "share of a partition's throughput that counts as hot",
        (0.5,),
        _has_heat,
    ),
    Assumed(
        "split_delay",
        "CAP2-3",
        "seconds from the start of the heat to the split",
        (1440.0,),
        _has_heat,
    ),
    Assumed(
        "gsi_buffer_seconds",
        "CAP2-4",
        "how far an index may fall behind before it closes its table's writes",
        (50.0,),
        lambda log: any(any(record.backlog) for record in log.resources.values()),
    ),
    Assumed(
        "burst_start",
        "CAP2-5",
        "share of the burst reserve that a new table has",
        (1.0,),
        _refused_by(ThrottlingLimit.PROVISIONED),
    ),
    Assumed(
        "placement_salt",
        "CAP2-7",
        "the hash that places keys on partitions",
        (1,),
        _refused_by(ThrottlingLimit.KEY_RANGE),
    ),
    Assumed(
        "sequential_share",
        "CAP-506",
        "share of ascending sort keys that prevents a split",
        (1.1,),
        _refused_for("sort keys are written in order"),
    ),
    Assumed(
        "single_item_share",
        "CAP-506",
        "share of one item that prevents a split",
        (0.5,),
        _refused_for("one item has nearly all traffic"),
    ),
    Assumed(
        "autoscaling_delay",
        "CAP2-8",
        "time from an alarm to the new capacity",
        (600.0,),
        lambda log: bool(log.scalings),
    ),
    Assumed(
        "table_quota",
        "CAP-615",
        "units per second that an on-demand table may use",
        (80_000,),
        _refused_by(ThrottlingLimit.ACCOUNT),
    ),
)


def assumption(
    assumed: Assumed, layout: Layout, settings: Settings, *, seed: int, tries: bool
) -> Assumption:
    """Return an assumed constant, with the answer under its other values if they are tried."""
    rows = []
    for value in assumed.others if tries else ():
        changes: dict[str, Any] = {assumed.setting: value}
        log = aggregate.run(layout, seed=seed, settings=replace(settings, **changes))
        rows.append(SensitivityRow(value=value, throttled_share=log.throttled_share))
    return Assumption(
        setting=assumed.setting,
        value=_mode(getattr(settings, assumed.setting)),
        rule=assumed.rule,
        meaning=assumed.meaning,
        rows=tuple(rows),
    )


def _mode(value: Any) -> float:
    """Return a setting as one number: of a delay that is drawn, the likeliest."""
    return float(value[1] if isinstance(value, tuple) else value)
