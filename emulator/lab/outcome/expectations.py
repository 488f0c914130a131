"""Expectations: what a lab file promises of its designs, so that a build can fail by it.

expect:
  device key:            # a design's name, or "all"
    grade: tight         # at worst
    throttled: 0.001     # at most this share of calls
    headroom: 1.5        # at least this multiple of the load; 64 at most
    monthly_cost: 3000   # at most so many dollars
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from emulator.lab.inputs.documents import Entry
from emulator.lab.outcome import words
from emulator.lab.outcome.result_types import Comparison, DesignResult
from emulator.lab.outcome.thresholds import MOST_HEADROOM

ALL: Final = "all"
#: From worst to best.
GRADES: Final = ("throttles", "tight", "fine")


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """What is promised of one design; None for what is not.

    >>> Expectation(design="a", headroom=2.0).headroom
    2.0
    """

    design: str
    grade: str | None = None
    throttled: float | None = None
    headroom: float | None = None
    monthly_cost: float | None = None


def from_entry(entry: Entry, designs: Mapping[str, object]) -> tuple[Expectation, ...]:
    """Read the ``expect`` member of a file.

    Raises:
        DocumentError: It names no design, or something unknown.
    """
    expectations = []
    for name, member in entry.mapping().items():
        if name != ALL and name not in designs:
            member.complain(f"no design is called {name!r}; there are {', '.join(designs)}")
        given = member.members(optional=("grade", "throttled", "headroom", "monthly_cost"))
        expectations.append(
            Expectation(
                design=name,
                grade=given["grade"].choice({g: g for g in GRADES}) if "grade" in given else None,
                throttled=given["throttled"].number(least=0, most=1)
                if "throttled" in given
                else None,
                headroom=given["headroom"].number(above=0, most=MOST_HEADROOM)
                if "headroom" in given
                else None,
                monthly_cost=given["monthly_cost"].number(least=0)
                if "monthly_cost" in given
                else None,
            )
        )
    return tuple(expectations)


def failures(comparison: Comparison, expected: tuple[Expectation, ...]) -> Iterator[str]:
    """Yield a sentence for every promise that a comparison does not keep."""
    for expectation in expected:
        for design in comparison.designs:
            if expectation.design in (ALL, design.name):
                yield from _failures(design, expectation)


def _failures(design: DesignResult, expectation: Expectation) -> Iterator[str]:
    if expectation.grade is not None and GRADES.index(design.grade) < GRADES.index(
        expectation.grade
    ):
        yield f"{design.name} is graded {design.grade}, not {expectation.grade}"
    if expectation.throttled is not None and design.throttled_share > expectation.throttled:
        yield (
            f"{design.name} throttles {words.percent(design.throttled_share)} of calls, over "
            f"{words.percent(expectation.throttled)}"
        )
    room = design.headroom
    if expectation.headroom is not None and room is None:
        yield f"{design.name} was run without looking for its headroom, which is promised"
    elif (
        expectation.headroom is not None
        and room is not None
        and room.multiple < expectation.headroom
    ):
        yield (
            f"{design.name} carries {words.multiple(room.multiple)} this load, under "
            f"{words.multiple(expectation.headroom)}"
        )
    if expectation.monthly_cost is not None and design.cost.total > expectation.monthly_cost:
        yield (
            f"{design.name} costs {words.dollars(design.cost.total)} a month, over "
            f"{words.dollars(expectation.monthly_cost)}"
        )
