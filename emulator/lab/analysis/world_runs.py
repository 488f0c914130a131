"""The worlds of one design, played as far as a question needs them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from emulator.lab import exact
from emulator.lab.outcome.risk import next_worlds
from emulator.lab.outcome.run_log import RunLog
from emulator.lab.outcome.thresholds import FIRST_WORLDS, MOST_WORLDS, THRESHOLD
from emulator.lab.outcome.world_outcome import WorldOutcome, outcome_of
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import Known, World, draw_worlds
from emulator.lab.world import Worlds
from emulator.settings import Settings

Engine: TypeAlias = Literal["exact", "aggregate"]
#: Called with what is done and what there is to do.
WorldsProgress: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True)
class WorldCount:
    """How many worlds are played: a fixed number, or until the chance is known well enough.

    >>> WorldCount(exactly=5).next(hits=5, played=5), WorldCount().next(hits=0, played=20)
    (5, 73)
    """

    most: int = MOST_WORLDS
    exactly: int | None = None

    @property
    def whole(self) -> int:
        """How many of them are played to the end: all of a fixed number, else the first ones."""
        return FIRST_WORLDS if self.exactly is None else self.exactly

    def next(self, *, hits: int, played: int) -> int:
        """Return how many worlds to have played before the question is asked again."""
        if self.exactly is not None:
            return self.exactly
        return min(next_worlds(hits, played), self.most)


@dataclass
class WorldRuns:
    """The worlds of one design under one workload.

    Attributes:
        layout: The design under the workload.
        engine: What plays them.
        first: The seed of the first world.
        known: What is known of the service.
        outcomes: Those of the worlds played so far, in the order of their seeds.
        whole: How many worlds are played to the end: they show how much is throttled, and why.
            Further ones only tell whether the design throttles, and end once that is sure.
    """

    layout: Layout
    engine: Engine
    first: int
    known: Known
    outcomes: list[WorldOutcome] = field(default_factory=list)
    whole: int = FIRST_WORLDS
    _engine: Worlds = field(init=False)

    def __post_init__(self) -> None:
        """Prepare what is the same in all worlds."""
        self._engine = Worlds(self.layout)

    @property
    def keys_followed(self) -> int | None:
        """How many keys were followed one by one; None where each request was."""
        return self._engine.keys_followed if self.engine == "aggregate" else None

    @property
    def hits(self) -> int:
        """How many worlds throttle."""
        return sum(outcome.throttles for outcome in self.outcomes)

    @property
    def whole_outcomes(self) -> list[WorldOutcome]:
        """The outcomes of worlds that were played to the end."""
        return [outcome for outcome in self.outcomes if outcome.is_whole]

    def play(self, count: int, progress: WorldsProgress | None = None) -> list[WorldOutcome]:
        """Play on until there are so many outcomes, and return these."""
        for end, stop_over in ((min(count, self.whole), None), (count, THRESHOLD)):
            played = len(self.outcomes)
            if played < end:
                worlds = draw_worlds(self.first + played, end - played, self.known)
                self.outcomes += self.outcomes_in(worlds, progress, stop_over)
        return self.outcomes[:count]

    def play_until_known(
        self, count: WorldCount, progress: WorldsProgress | None = None
    ) -> list[WorldOutcome]:
        """Play until the chance is known well enough, and return all outcomes."""
        while True:
            wanted = count.next(hits=self.hits, played=len(self.outcomes))
            if wanted <= len(self.outcomes):
                return self.outcomes
            self.play(wanted, progress)

    def estimates_in(self, worlds: Sequence[World]) -> list[WorldOutcome]:
        """Return how the design does in any worlds, in numbers.

        Worlds with other seeds may be alike in all that was drawn; these are played once.
        """
        distinct: dict[tuple[int, Settings], World] = {}
        for world in worlds:
            distinct.setdefault((world.arrivals, world.settings), world)
        played = self._engine.play(list(distinct.values()))
        outcomes = dict(zip(distinct, played, strict=True))
        return [replace(outcomes[world.arrivals, world.settings], world=world) for world in worlds]

    def outcomes_in(
        self,
        worlds: Sequence[World],
        progress: WorldsProgress | None = None,
        stop_over: float | None = None,
    ) -> list[WorldOutcome]:
        """Return how the design does in any worlds.

        Args:
            worlds: Which.
            progress: Called with what is done and what there is to do.
            stop_over: A world may end as soon as its refused first attempts surely exceed this
                share of all its calls.
        """
        if self.engine == "aggregate":
            return self._engine.play(worlds, progress=progress, stop_over=stop_over)
        outcomes = []
        for number, world in enumerate(worlds, 1):
            outcomes.append(outcome_of(world, self.log(world)))
            if progress is not None:
                progress(number, len(worlds))
        return outcomes

    def log(self, world: World) -> RunLog:
        """Run one world and return everything that it leaves behind."""
        if self.engine == "aggregate":
            return self._engine.log(world)
        return exact.run(self.layout, seed=world.arrivals, settings=world.settings)
