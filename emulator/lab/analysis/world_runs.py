"""The worlds of one design, played as far as a question needs them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from emulator.lab import exact
from emulator.lab.analysis.deadline import Deadline
from emulator.lab.inputs.workload import Age
from emulator.lab.outcome.lives import Life
from emulator.lab.outcome.result_types import Risk
from emulator.lab.outcome.risk import is_decided, next_look, risk_of
from emulator.lab.outcome.run_log import RunLog
from emulator.lab.outcome.thresholds import MOST_WORLDS
from emulator.lab.outcome.world_outcome import WorldOutcome, outcome_of
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.lab.planning.worlds import Known, World, draw_worlds
from emulator.lab.world import Worlds
from emulator.settings import Settings

Engine: TypeAlias = Literal["exact", "aggregate"]
#: Called with what is done and what there is to do.
WorldsProgress: TypeAlias = Callable[[int, int], None]

_NEVER: Final = Deadline(None)
#: Worlds that are played at once at most.
AT_ONCE: Final = 200


@dataclass(frozen=True)
class WorldCount:
    """How many worlds are played: a fixed number, or until the grade is decided.

    >>> WorldCount(exactly=5).after(0), WorldCount().after(20), WorldCount(most=20).after(20)
    (5, 100, 20)
    """

    most: int = MOST_WORLDS
    exactly: int | None = None

    def after(self, played: int) -> int:
        """Return how many worlds are played at the next look."""
        return self.exactly or min(next_look(played), self.most)


@dataclass
class WorldRuns:
    """The worlds of one design under one workload.

    Attributes:
        layout: The design under the workload.
        engine: What plays them.
        first: The seed of the first world.
        known: What is known of the service.
        outcomes: Those of the worlds played so far, in the order of their seeds.
    """

    layout: Layout
    engine: Engine
    first: int
    known: Known
    outcomes: list[WorldOutcome] = field(default_factory=list)
    _engine: Worlds = field(init=False)

    def __post_init__(self) -> None:
        """Prepare what is the same in all worlds."""
        self._engine = Worlds(self.layout)

    @property
    def keys_followed(self) -> int | None:
        """How many keys were followed one by one; None where each request was."""
        return self._engine.keys_followed if self.engine == "aggregate" else None

    def risk(self, age: Age) -> Risk:
        """Return the share of worlds that throttle at an age of the tables."""
        return risk_of(outcome.at(age).throttles for outcome in self.outcomes)

    def play(self, count: int, progress: WorldsProgress | None = None) -> list[WorldOutcome]:
        """Play until there are ``count`` outcomes, and return these."""
        while (played := len(self.outcomes)) < count:
            worlds = draw_worlds(self.first + played, min(count - played, AT_ONCE), self.known)
            self.outcomes += self._live(worlds, progress)
        return self.outcomes[:count]

    def play_until_known(
        self,
        count: WorldCount,
        progress: WorldsProgress | None = None,
        deadline: Deadline = _NEVER,
    ) -> float | None:
        """Play until the grade is decided, or the next look would come after the deadline.

        Returns:
            At most how many seconds the next look needs; None if the grade is decided, or all
            worlds are played.
        """
        # Those that are there have taken no longer than all that was done so far.
        seconds_each = deadline.elapsed() / max(1, len(self.outcomes))
        while (played := len(self.outcomes)) < (wanted := count.after(played)):
            if self.outcomes and is_decided(self.risk("first"), self.risk("lived")):
                return None
            needed = seconds_each * (wanted - played)
            if self.outcomes and not deadline.allows(needed):
                return needed
            began = time.monotonic()
            self.play(wanted, progress)
            seconds_each = (time.monotonic() - began) / (wanted - played)
        return None

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

    def _live(self, worlds: Sequence[World], progress: WorldsProgress | None) -> list[WorldOutcome]:
        """Return how the design does in some worlds, at both ages."""
        if self.engine == "aggregate":
            return self._engine.live(worlds, progress=progress)
        outcomes = []
        for number, world in enumerate(worlds, 1):
            outcomes.append(self._live_exactly(world))
            if progress is not None:
                progress(number, len(worlds))
        return outcomes

    def _live_exactly(self, world: World) -> WorldOutcome:
        """Return how the design does in a world, request by request."""

        def played(*, is_new: bool) -> WorldOutcome:
            log = exact.run(self.layout, seed=world.arrivals, emulator=emulator, is_new=is_new)
            return outcome_of(world, log)

        emulator = RunEmulator(self.layout, world.settings)
        life = Life.begun(emulator, played(is_new=True))
        while life.goes_on:
            life.begin_again()
            life.note(played(is_new=False), self.layout.workload.duration)
        return life.outcome()

    def log(self, world: World, age: Age) -> RunLog:
        """Run one world, its tables of an age, and return everything that it leaves behind."""
        if self.engine == "aggregate" or age == "lived":
            return self._engine.log(world, age=age)
        return exact.run(self.layout, seed=world.arrivals, settings=world.settings)
