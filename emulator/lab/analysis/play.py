"""Play: one design in one world, for tests that ask many times."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from emulator.lab.analysis.costs import costs, usages
from emulator.lab.inputs.design import Design
from emulator.lab.inputs.workload import Age, Workload
from emulator.lab.outcome.run_log import RunLog
from emulator.lab.outcome.summarise import resource_results
from emulator.lab.outcome.world_outcome import WorldOutcome
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import Known, draw_worlds
from emulator.lab.world import Worlds
from emulator.settings import Settings


class Hottest(NamedTuple):
    """The busiest partition of a run, and the busiest key.

    Attributes:
        resource: The table or index with the busiest partition.
        partition_share: The share of its demand that this partition gets.
        key: Its busiest partition key.
        key_share: The share of its demand that this key gets.
    """

    resource: str
    partition_share: float
    key: str
    key_share: float


@dataclass(frozen=True)
class Outcome:
    """How a design does in one world.

    Attributes:
        throttled: The share of calls that are refused at first.
        reasons: The refused calls by reason, the most frequent first.
        units: By table and index, the read and write units consumed.
        first_throttle: The second of the first refusal, or None.

    >>> from emulator.lab import Design, Field, Pattern, Workload
    >>> workload = Workload(
    ...     fields=[Field("device", count=10)],
    ...     patterns=[Pattern("event", "PutItem", rate=5)],
    ...     duration=10,
    ... )
    >>> outcome = play(workload, Design("device", partition="{device}"))
    >>> outcome.throttled, outcome.units
    (0.0, {'table': (0.0, 50.0)})
    """

    throttled: float
    reasons: dict[str, float]
    units: dict[str, tuple[float, float]]
    first_throttle: float | None
    _engine: Worlds = field(repr=False, compare=False)
    _world: WorldOutcome = field(repr=False, compare=False)
    _age: Age = field(repr=False, compare=False)

    @cached_property
    def _log(self) -> RunLog:
        return self._engine.log(self._world.world, age=self._age)

    @cached_property
    def hottest(self) -> Hottest:
        """The busiest partition and key; the world is played again for it."""
        hottest = max(resource_results(self._log), key=lambda own: own.hottest_partition_share)
        key = hottest.top_keys[0].key if hottest.top_keys else ""
        return Hottest(
            hottest.name, hottest.hottest_partition_share, key, hottest.hottest_key_share
        )

    @cached_property
    def cost(self) -> float:
        """The dollars of a month with this load; the world is played again for it."""
        settings, layout = self._world.world.settings, self._log.layout
        made = costs(usages(self._log, settings), layout, settings, self._log.patterns.values())
        return next(cost.total for cost in made if cost.chosen)


def play(
    workload: Workload,
    design: Design,
    *,
    seed: int = 0,
    age: Age = "first",
    settings: Settings | None = None,
) -> Outcome:
    """Play a design in one world.

    Args:
        workload: The requests.
        design: The design.
        seed: Of the world, which is a draw of what AWS does not publish.
        age: Whether its tables meet the load first, or have lived with it.
        settings: What is known of the service.

    Raises:
        ValueError: The design does not fit the workload.

    >>> from emulator.lab import Capacity, Field, Pattern
    >>> workload = Workload(
    ...     fields=[Field("device", count=1_000)],
    ...     patterns=[Pattern("event", "PutItem", rate=2_000)],
    ...     duration=60,
    ... )
    >>> capacity = Capacity(read=10, write=5_000)
    >>> hour = Design("hour", partition="{timestamp:hour}", sort="{device}", capacity=capacity)
    >>> outcome = play(workload, hour)
    >>> outcome.throttled > 0.5, list(outcome.reasons)
    (True, ['TableWriteKeyRangeThroughputExceeded'])
    >>> play(workload, Design("device", partition="{device}", capacity=capacity)).throttled
    0.0
    """
    engine = Worlds(Layout(design, workload))
    [world] = draw_worlds(seed, 1, Known(settings or Settings()))
    [first] = engine.play([world]) if age == "first" else engine.live([world])
    own = first.at(age)
    return Outcome(
        throttled=own.throttled_share,
        reasons=own.throttled_by_reason,
        units=own.units,
        first_throttle=own.first_throttle,
        _engine=engine,
        _world=own,
        _age=age,
    )
