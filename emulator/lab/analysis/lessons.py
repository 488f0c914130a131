"""Lessons: figures that are often quoted about DynamoDB, played or computed again.

Each gives the figure as quoted and by the rules; ``dynamometer lab --lesson NAME`` shows one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emulator.capacity import WRITE
from emulator.capacity.prices import STANDARD, STANDARD_IA
from emulator.capacity.units import read_units, write_units
from emulator.lab.inputs.builtin import device_events, hour_and_device
from emulator.lab.inputs.design import Capacity, Design, Key
from emulator.lab.inputs.distributions import Sequential
from emulator.lab.inputs.patterns import Field, Pattern, Preload
from emulator.lab.inputs.workload import Workload
from emulator.lab.outcome import words
from emulator.service.errors import DocumentError

if TYPE_CHECKING:
    from emulator.lab.outcome.result_types import DesignResult

#: Source: CAP-1001; on-demand requests cost twice as much before November 2024.
_OLD_PRICES: Final = 2
_KB: Final = 1024
NO_LESSON: Final = "--lesson: there is no lesson {name!r}; there are {names}"


@dataclass(frozen=True)
class Lesson:
    """A figure that is often quoted.

    Attributes:
        name: How the command line calls it.
        told: The figure as it is quoted.
        plays: Returns what is so.
    """

    name: str
    told: str
    plays: Callable[[], str]


def lesson(name: str) -> str:
    """Return a lesson as text: the figure as quoted, and by the rules.

    Raises:
        DocumentError: There is no lesson of that name.

    >>> print(lesson("vertical-split"))
    told: counters split from a profile of 10 KB make writes 100 times cheaper
    is:   10 times: 10 units for 10 KB, and 1 unit for the counters, however small
    """
    known = {own.name: own for own in LESSONS}
    if name not in known:
        raise DocumentError(NO_LESSON.format(name=name, names=", ".join(known)))
    return f"told: {known[name].told}\nis:   {known[name].plays()}"


def _throttles_an_hour() -> str:
    hour, device = (
        sum(pattern.throttled for pattern in design.patterns) for design in _device_events()
    )
    return (
        f"at 2,800 events a second the hour key refuses {words.count(hour)} calls an hour, the "
        f"device key {words.count(device)}"
    )


def _monthly_cost() -> str:
    hour, device = (design.cost.total for design in _device_events())
    return (
        f"5,000 write units cost {words.dollars(hour)} with the hour key, which gives most calls "
        f"up, and {words.dollars(device)} with the device key: ten times as much, and no cheaper"
    )


def _device_events() -> tuple[DesignResult, ...]:
    return _played(device_events(), hour_and_device()[:2])


def _played(workload: Workload, designs: Sequence[Design]) -> tuple[DesignResult, ...]:
    from emulator.lab.analysis.comparison import compare

    return compare(
        workload, designs, worlds=1, headroom=False, sensitivity=False, fix=False
    ).designs


def _dashboard() -> str:
    workload = Workload(
        fields=[Field("userId", count=1_000), Field("deviceId", count=10, per="userId")],
        patterns=[
            Pattern(
                "save device",
                "PutItem",
                entity="device",
                rate=5,
                size=400,
                distributions={"userId": Sequential()},
            ),
            Pattern(
                "devices of a user", "Query", entity="device", by=("userId",), rate=40, size=400
            ),
        ],
        preload=[Preload(pattern="save device", items=50_000)],
        duration=300,
        retention=30 * 86_400.0,
    )
    designs = [
        Design(
            "scan",
            entities={"device": Key(partition="{deviceId}")},
            capacity=Capacity(warm_read=40_000),
        ),
        Design("query", entities={"device": Key(partition="{userId}", sort="DEVICE#{deviceId}")}),
    ]
    scan, query = (
        sum(line.amount for line in design.cost.lines if line.item in ("reads", "writes"))
        for design in _played(workload, designs)
    )
    return (
        f"scans for the devices of a user alone cost {words.dollars(scan * _OLD_PRICES)} at the "
        f"prices before November 2024, {words.dollars(scan)} today; with queries instead "
        f"{words.dollars(query)}"
    )


def _premium() -> str:
    return f"{1 / STANDARD.break_even(WRITE):.2f} times, if every provisioned unit is used"


def _break_even() -> str:
    return f"from {words.percent(STANDARD.break_even(WRITE))} of average utilisation on"


def _infrequent_access() -> str:
    saved = 1 - STANDARD_IA.storage_month / STANDARD.storage_month
    dearer = STANDARD_IA.write_million / STANDARD.write_million - 1
    return f"from storage of {words.percent(dearer / saved)} of the throughput cost on"


def _vertical_split() -> str:
    whole, counters = write_units(10 * _KB), write_units(100)
    return (
        f"{whole // counters} times: {whole} units for 10 KB, and {counters} unit for the "
        "counters, however small"
    )


def _scan() -> str:
    scanned, found = 10_000 * 400, 10 * 400
    scan, query = (read_units(size) / 2 for size in (scanned, found))  # eventually consistent
    return (
        f"{words.count(scan)} units to scan 10,000 devices of 400 bytes for the ten of a user, and "
        f"{query:g} to query them"
    )


LESSONS: Final = (
    Lesson("throttles-an-hour", "2,450 throttles an hour against none", _throttles_an_hour),
    Lesson("monthly-cost", "$237 a month against $140", _monthly_cost),
    Lesson("dashboard", "$12,600 a month against $401", _dashboard),
    Lesson("on-demand-premium", "on demand costs about 3.5 times as much", _premium),
    Lesson("break-even", "provisioned capacity pays from 28.8 % of utilisation on", _break_even),
    Lesson(
        "infrequent-access",
        "Standard-IA pays when storage exceeds 50 % of the throughput cost",
        _infrequent_access,
    ),
    Lesson(
        "vertical-split",
        "counters split from a profile of 10 KB make writes 100 times cheaper",
        _vertical_split,
    ),
    Lesson("scan", "500 read units and more against 15", _scan),
)
