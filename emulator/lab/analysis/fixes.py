"""Fixes: the smallest change that makes a design hold in 95 % of worlds.

A change is only named after the aggregate engine has played the changed design in as many worlds
as it takes to know. Changes of one kind form a family, the smallest first; of a family the
smallest member that holds is looked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from statistics import fmean
from typing import Final

from emulator.lab.analysis.case import Case
from emulator.lab.analysis.changes import (
    Change,
    Family,
    families,
    is_about_reads,
    makes_reads_dearer,
    prices,
    warming_price,
    warmings,
)
from emulator.lab.analysis.deadline import Deadline
from emulator.lab.analysis.world_runs import WorldCount, WorldRuns
from emulator.lab.outcome import words
from emulator.lab.outcome.thresholds import FIRST_WORLDS, THRESHOLD, UNLIKELY
from emulator.lab.outcome.world_outcome import WorldOutcome
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import World, draw_worlds
from emulator.lab.world import Worlds

#: Of the first worlds, in how many a change may throttle to be looked at closely.
_HARDLY_ANY: Final = int(UNLIKELY * FIRST_WORLDS)
#: Of many changes, each is tried in so many worlds before the others: enough to rule it out.
_FEW: Final = _HARDLY_ANY + 1

NOTHING_HELPS: Final = "no change that was tried holds in 95 % of worlds"
RAMP: Final = "before launch, raise the load over half an hour instead of at once"
NO_TIME: Final = "the time limit was reached before one was found"


@dataclass(frozen=True)
class Search:
    """What a search for a fix came to: a change that holds, or why there is none."""

    fix: str | None = None
    note: str | None = None


def find_fix(case: Case, runs: WorldRuns, world: World, deadline: Deadline) -> Search:
    """Return the first change, smallest first, that holds in 95 % of worlds.

    Args:
        case: A world in which the design throttles.
        runs: The worlds of the design.
        world: That world.
        deadline: When to stop looking.
    """
    trial = _Trial(runs, deadline, was_about_reads=is_about_reads(case.reasons[0]))
    for family in families(case, world):
        if deadline.has_passed():
            return Search(note=NO_TIME)
        held = trial.smallest(family)
        if held is not None:
            return Search(fix=held)
    if deadline.has_passed():
        return Search(note=NO_TIME)
    return Search(note=f"{NOTHING_HELPS}{trial.best()}")


def find_launch(case: Case, runs: WorldRuns, world: World, deadline: Deadline) -> Search:
    """Return the step to take before new tables meet a load that they carry once they have split.

    Args:
        case: A world in which new tables throttle.
        runs: The worlds of the design.
        world: That world.
        deadline: When to stop looking.
    """
    trial = _Trial(runs, deadline, was_about_reads=is_about_reads(case.reasons[0]))
    for change in warmings(case, world):
        if not deadline.has_passed() and trial.holds(change):
            price = words.dollars(warming_price(runs.layout, change.design))
            return Search(fix=f"before launch, {change.sentence}, {price} once")
    return Search(note=RAMP)


class _Size(Enum):
    """Whether a change of a family is of the right size."""

    TOO_SMALL = auto()
    MAY_HOLD = auto()
    TOO_LARGE = auto()


class _Trial:
    """Plays changed designs in the worlds of the original."""

    def __init__(self, runs: WorldRuns, deadline: Deadline, *, was_about_reads: bool) -> None:
        self._runs_before = runs
        self._was_about_reads = was_about_reads
        self._deadline = deadline
        #: By change, its worlds as far as they were played.
        self._runs: dict[str, WorldRuns] = {}
        #: By change, how its new tables do in the first worlds.
        self._tried: dict[str, list[WorldOutcome]] = {}

    def smallest(self, family: Family) -> str | None:
        """Return the sentence of the smallest change of a family that holds, or None.

        The smallest are tried first, in growing steps; then what lies between the last that is too
        small and the first that may hold or is too large. What is found is played until it is
        known well enough.
        """
        low, high, step = 0, 0, 1
        while high < len(family) and not self._deadline.has_passed():
            size = self._size(family.surest(high), few=_FEW if len(family) > 1 else FIRST_WORLDS)
            if size is not _Size.TOO_SMALL:
                break
            low = high + 1
            step *= 2
            is_last = high == len(family) - 1
            high += step if is_last else min(step, len(family) - 1 - high)
        while low < high < len(family) and not self._deadline.has_passed():
            middle = (low + high) // 2
            if self._size(family.surest(middle), few=_FEW) is _Size.TOO_SMALL:
                low = middle + 1
            else:
                high = middle
        for number in range(low, len(family)):
            if (
                self._deadline.has_passed()
                or self._size(family.surest(number), _FEW) is _Size.TOO_LARGE
            ):
                break
            for change in family.variants(number):
                if self._may_hold(change, few=_FEW) and self._holds(change):
                    return self._sentence(family, number, change)
        return None

    def holds(self, change: Change) -> bool:
        """Return whether a changed design throttles in at most 5 % of worlds."""
        return self._may_hold(change, few=_FEW) and self._holds(change)

    def best(self) -> str:
        """Return, as a clause, the change that throttles in the fewest worlds over the horizon."""
        played = [(_hits(runs), sentence) for sentence, runs in self._runs.items() if runs.outcomes]
        if not played:
            return ""
        hits, sentence = min(played)
        runs = self._runs[sentence]
        own = [outcome.buckets for outcome in runs.outcomes if outcome.buckets is not None]
        if not own:
            return f"; the best, {sentence}, throttles in {hits} of {len(runs.outcomes)} worlds"
        minutes = fmean(buckets.minutes_a_month for buckets in own)
        refused = fmean(buckets.refused_a_month for buckets in own)
        return (
            f"; the best, {sentence}, throttles for {words.count(minutes)} minutes a month, with "
            f"{words.count(refused)} refused calls"
        )

    def _size(self, change: Change | None, few: int) -> _Size:
        """Return whether a change is too small, too large, or may be right.

        Too large is what no quota allows, and what makes reads so dear that they are refused
        where writes were.
        """
        if change is None:
            return _Size.TOO_LARGE
        if self._may_hold(change, few=few):
            return _Size.MAY_HOLD
        if self._was_about_reads or not makes_reads_dearer(self._runs_before.layout, change):
            return _Size.TOO_SMALL
        tried = self._tried.get(change.sentence, [])
        reasons = [outcome.reason for outcome in tried if outcome.reason]
        return _Size.TOO_LARGE if any(map(is_about_reads, reasons)) else _Size.TOO_SMALL

    def _runs_of(self, change: Change) -> WorldRuns:
        """Return the worlds of a changed design."""
        if change.sentence not in self._runs:
            before = self._runs_before
            changed = Layout(change.design, before.layout.workload)
            runs = WorldRuns(changed, "aggregate", before.first, before.known)
            self._runs[change.sentence] = runs
        return self._runs[change.sentence]

    def _may_hold(self, change: Change, few: int) -> bool:
        """Return whether new tables of a changed design throttle in hardly any of the first worlds.

        If they throttle in the first few, the others are not played.
        """
        try:
            return all(
                sum(own.throttles for own in self._first(change, count)) <= _HARDLY_ANY
                for count in (few, FIRST_WORLDS)
            )
        except ValueError:
            return False  # beyond a quota

    def _first(self, change: Change, count: int) -> list[WorldOutcome]:
        """Return how new tables of a changed design do in the first worlds."""
        before, known = self._runs_before, self._tried.setdefault(change.sentence, [])
        if len(known) < count:
            worlds = draw_worlds(before.first + len(known), count - len(known), before.known)
            layout = self._runs_of(change).layout
            known += Worlds(layout).play(worlds, stop_over=THRESHOLD)
        return known[:count]

    def _holds(self, change: Change) -> bool:
        """Return whether a changed design throttles in at most 5 % of worlds."""
        try:
            runs = self._runs_of(change)
            runs.play_until_known(WorldCount())
            outcomes = runs.outcomes
        except ValueError:
            return False
        return _hits(runs) <= UNLIKELY * len(outcomes)

    def _sentence(self, family: Family, number: int, change: Change) -> str:
        """Return the change, its cost, and how often the next smaller change would not do."""
        price = "".join(prices(self._runs_before.layout, self._runs_of(change).layout))
        return f"{change.sentence}{price}{self._smaller(family, number)}"

    def _smaller(self, family: Family, number: int) -> str:
        """Return how often the next smaller change would not do, if that is known."""
        if not number:
            return ""
        smaller = family.surest(number - 1)
        if smaller is None:
            return ""
        try:
            hits = sum(own.throttles for own in self._first(smaller, FIRST_WORLDS))
        except ValueError:
            return ""
        if smaller.size is None or not hits:
            return ""
        return f"; {smaller.size} would throttle in {hits} of {FIRST_WORLDS} worlds"


def _hits(runs: WorldRuns) -> int:
    """Return how many worlds throttle, their tables new or not."""
    return sum(outcome.throttles or outcome.at("lived").throttles for outcome in runs.outcomes)
