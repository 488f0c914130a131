"""Two results of a design side by side: the measures that a reader compares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from emulator.lab.outcome import words
from emulator.lab.outcome.result_types import DesignResult
from emulator.lab.outcome.rows import headroom, month, risk


class FigureChange(NamedTuple):
    """One measure before and after."""

    measure: str
    before: str
    after: str


def changes_of(old: DesignResult, new: DesignResult) -> Iterator[FigureChange]:
    """Yield the measures that a reader compares, before and after."""
    for measure, text in _MEASURES.items():
        yield FigureChange(measure, text(old), text(new))
    for unit, axis in (("WCU", 1), ("RCU", 0)):
        names = dict.fromkeys(
            resource.name for design in (old, new) for resource in design.resources
        )
        for name in names:
            amounts = [_units(design, name, axis) for design in (old, new)]
            if any(amounts):
                yield FigureChange(f"{unit} on {words.resource(name)}", *map(words.count, amounts))


_MEASURES: Final[dict[str, Callable[[DesignResult], str]]] = {
    "worlds that throttle": lambda design: risk(design).text,
    "calls throttled, median world": lambda design: words.percent(design.throttled_share),
    "headroom": lambda design: headroom(design).text,
    "monthly cost": lambda design: _monthly_cost(design),
}


def _monthly_cost(design: DesignResult) -> str:
    bill = month(design)
    return words.NONE if bill is None else words.dollars(bill.total)


def _units(design: DesignResult, name: str, axis: int) -> float:
    for resource in design.resources:
        if resource.name == name:
            return (resource.read, resource.write)[axis].consumed_units
    return 0.0
