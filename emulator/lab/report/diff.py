"""Two results side by side: what a change to a design or a workload did."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from emulator.lab.outcome import words
from emulator.lab.outcome.result_types import Comparison, DesignResult
from emulator.lab.outcome.rows import headroom, month, risk

#: By which a comment in a pull request is found again and replaced.
MARKER: Final = "<!-- dynamometer diff -->"


class Change(NamedTuple):
    """One measure before and after."""

    measure: str
    before: str
    after: str


def diff_report(before: Comparison, after: Comparison, *, markdown: bool = False) -> str:
    """Return what changed from one result to another, design by design.

    >>> empty = Comparison(title="t", workload={}, engine="exact", duration_seconds=60.0,
    ...                    seeds=(0,), designs=())
    >>> print(diff_report(empty, empty))
    No design is in both results.
    """
    both = [
        (design, after.design(design.name))
        for design in before.designs
        if any(other.name == design.name for other in after.designs)
    ]
    blocks = [_block(old, new, markdown=markdown) for old, new in both]
    text = "\n".join([*blocks, *_left_out(before, after)])
    if not both:
        text = "\n".join(["No design is in both results.", *_left_out(before, after)])
    return f"{MARKER}\n{text}\n" if markdown else f"{text}\n"


def _left_out(before: Comparison, after: Comparison) -> Iterator[str]:
    old = [design.name for design in before.designs]
    new = [design.name for design in after.designs]
    for name in old:
        if name not in new:
            yield f"{name}: only in the first result"
    for name in new:
        if name not in old:
            yield f"{name}: only in the second result"


def _block(old: DesignResult, new: DesignResult, *, markdown: bool) -> str:
    changes = list(changes_of(old, new))
    if markdown:
        lines = [
            f"### {old.name}: {_arrow(old.grade, new.grade)}",
            "",
            "| measure | before | after |",
            "| --- | ---: | ---: |",
            *(f"| {change.measure} | {change.before} | {change.after} |" for change in changes),
            "",
        ]
        return "\n".join(lines).replace(words.SPACE, " ")
    widths = [max(len(change[column]) for change in changes) for column in range(3)]
    lines = [f"{old.name}: {_arrow(old.grade, new.grade)}"]
    lines += [_line(change, widths) for change in changes]
    return "\n".join([*lines, ""]).replace(words.SPACE, " ")


def _arrow(old: str, new: str) -> str:
    return old if old == new else f"{old} -> {new}"


def _line(change: Change, widths: Sequence[int]) -> str:
    label, before, after = widths
    mark = "  " if change.before == change.after else "* "
    return f"  {mark}{change.measure:<{label}}  {change.before:>{before}}  {change.after:>{after}}"


def changes_of(old: DesignResult, new: DesignResult) -> Iterator[Change]:
    """Yield the measures that a reader compares, before and after."""
    for measure, text in _MEASURES.items():
        yield Change(measure, text(old), text(new))
    for unit, axis in (("WCU", 1), ("RCU", 0)):
        names = dict.fromkeys(
            resource.name for design in (old, new) for resource in design.resources
        )
        for name in names:
            amounts = [_units(design, name, axis) for design in (old, new)]
            if any(amounts):
                yield Change(f"{unit} on {words.resource(name)}", *map(words.count, amounts))


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
