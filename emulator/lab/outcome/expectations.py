"""Expectations: what a lab file promises of its designs, so that a build can fail by it.

expect:
  device key:            # a design's name, or "all"
    grade: tight         # at worst
    risk: 0.05           # at most this chance of throttling
    throttled: 0.001     # at most this share of calls, in the median world
    headroom: 1.5        # at least this multiple of the load; 64 at most
    monthly_cost: 3000   # dollars at most, in the median world
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, get_args

from emulator.lab.inputs import forms
from emulator.lab.inputs.documents import Entry
from emulator.lab.inputs.forms import FormMember, Record
from emulator.lab.outcome import words
from emulator.lab.outcome.result_types import Comparison, DesignResult, Grade
from emulator.lab.outcome.thresholds import MOST_HEADROOM

ALL: Final = "all"
#: From worst to best.
GRADES: Final = get_args(Grade)


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """The promises of one design; None for those not made.

    >>> Expectation(design="a", headroom=2.0).headroom
    2.0
    """

    design: str
    grade: str | None = None
    risk: float | None = None
    throttled: float | None = None
    headroom: float | None = None
    monthly_cost: float | None = None


_SHARE: Final = forms.number(least=0, most=1)
EXPECTATION: Final = Record(
    "promises",
    "What is promised about a design; a member that is left out promises nothing.",
    {
        "grade": FormMember(
            forms.choice({grade: grade for grade in GRADES}),
            "The worst grade that is allowed.",
            example="tight",
        ),
        "risk": FormMember(_SHARE, "At most this chance of throttling.", example=0.05),
        "throttled": FormMember(
            _SHARE, "At most this share of calls, in the median world.", example=0.001
        ),
        "headroom": FormMember(
            forms.number(above=0, most=MOST_HEADROOM),
            "At least this multiple of the load; not available with `--quick`.",
            example=1.5,
        ),
        "monthly_cost": FormMember(
            forms.number(least=0), "At most this many dollars, in the median world.", example=3000
        ),
    },
)
FORM: Final = forms.by_name(EXPECTATION.form, names="design (or `all`)")


def from_entry(entry: Entry, designs: Collection[str]) -> tuple[Expectation, ...]:
    """Read the ``expect`` member of a file.

    Raises:
        DocumentError: It names no design, or something unknown.
    """
    for name, member in entry.mapping().items():
        if name != ALL and name not in designs:
            member.complain(f"no design is called {name!r}; there are {', '.join(designs)}")
    return tuple(
        Expectation(design=name, **promised) for name, promised in FORM.read(entry).items()
    )


@dataclass(frozen=True)
class Judgement:
    """Whether a design keeps one promise.

    Attributes:
        design: The design.
        promise: The member of ``expect``, such as ``grade``.
        complaint: A sentence if it is not kept, else None.
    """

    design: str
    promise: str
    complaint: str | None


def judgements(comparison: Comparison, expected: Iterable[Expectation]) -> Iterator[Judgement]:
    """Yield every promise that is made of a design, and whether it is kept."""
    for expectation in expected:
        for design in comparison.designs:
            if expectation.design not in (ALL, design.name):
                continue
            for promise, judge in _JUDGES.items():
                promised = getattr(expectation, promise)
                if promised is not None:
                    yield Judgement(design.name, promise, judge(design, promised))


def failures(comparison: Comparison, expected: Iterable[Expectation]) -> Iterator[str]:
    """Yield a sentence for every promise that a comparison does not keep."""
    for judgement in judgements(comparison, expected):
        if judgement.complaint is not None:
            yield judgement.complaint


def _grade(design: DesignResult, promised: str) -> str | None:
    if GRADES.index(design.grade) >= GRADES.index(promised):
        return None
    return f"{design.name} is graded {design.grade}, not {promised}"


def _risk(design: DesignResult, promised: float) -> str | None:
    if design.risk is None or design.risk.chance <= promised:
        return None
    return (
        f"{design.name} throttles in {words.percent(design.risk.chance)} of worlds, over "
        f"{words.percent(promised)}"
    )


def _throttled(design: DesignResult, promised: float) -> str | None:
    if design.throttled_share <= promised:
        return None
    return (
        f"{design.name} throttles {words.percent(design.throttled_share)} of calls in the "
        f"median world, over {words.percent(promised)}"
    )


def _headroom(design: DesignResult, promised: float) -> str | None:
    if design.headroom is None:
        return f"{design.name} was run without looking for its headroom, which is promised"
    if design.headroom.multiple >= promised:
        return None
    return (
        f"{design.name} carries {words.multiple(design.headroom.multiple)} this load, under "
        f"{words.multiple(promised)}"
    )


def _monthly_cost(design: DesignResult, promised: float) -> str | None:
    if design.cost.total <= promised:
        return None
    return (
        f"{design.name} costs {words.dollars(design.cost.total)} a month, over "
        f"{words.dollars(promised)}"
    )


_JUDGES: Final[Mapping[str, Callable[[DesignResult, Any], str | None]]] = {
    "grade": _grade,
    "risk": _risk,
    "throttled": _throttled,
    "headroom": _headroom,
    "monthly_cost": _monthly_cost,
}
