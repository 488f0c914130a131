"""Pattern models: one access pattern under a design, in numbers.

A model knows where its calls fall (placements), how many calls a request makes, what each costs
at the moment, and what its writes leave behind. It decides nothing about admission.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from emulator.lab.aggregate.key_groups import Existing, KeyGroups, latest_weights
from emulator.lab.aggregate.placement import Placement
from emulator.lab.aggregate.population import Population
from emulator.lab.inputs.distributions import Floats, Zipf
from emulator.lab.inputs.key_templates import ShardPart
from emulator.lab.inputs.workload import Workload
from emulator.lab.outcome.run_log import PatternRecord, RunLog
from emulator.lab.planning.access_paths import AccessPath
from emulator.lab.planning.layout import TableLayout
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.lab.planning.sampling import LATEST_WINDOW


class RunContext:
    """What the models of a run share: the emulator, the log, the time, what is stored where.

    Attributes:
        elapsed: Seconds into the run at the beginning of the present stretch.
        until: And at its end.
        created: By unique field, how many values exist.
        creation_rate: By unique field, how many values come per second.
        mean_bytes: By table and index, the mean size of what is written there.
    """

    def __init__(self, emulator: RunEmulator, log: RunLog, seed: int) -> None:
        self.emulator = emulator
        self.log = log
        self.layout = emulator.layout
        self.workload = emulator.layout.workload
        self.seed = seed
        self.elapsed = 0.0
        self.until = 0.0
        self.created: dict[str, float] = {}
        self.creation_rate: dict[str, float] = {}
        self.mean_bytes: dict[tuple[str, str | None], float] = {}
        self._populations: dict[tuple[str, str | None], Population] = {}

    @property
    def moment(self) -> float:
        """Epoch seconds."""
        return self.workload.start + self.elapsed

    def population(self, table: TableLayout, index: str | None) -> Population:
        """Return what lies in a table or index."""
        return self._populations.setdefault((table.name, index), Population())

    def size_of(self, table: TableLayout, index: str | None) -> float:
        """Return the mean size of what lies in a table or index, as far as known."""
        population = self.population(table, index)
        if population.total_items:
            return population.total_bytes / population.total_items
        return self.mean_bytes.get((table.name, index), 0.0)


class PatternModel(ABC):
    """One pattern in numbers.

    Attributes:
        groups: Its key groups.
        placements: Where they fall on each resource that a call draws on, the table first.
        calls: Calls per request, for each key group.
        actions: Items per call that are admitted all or none.
        evaluated: Bytes read per call of each key group.
        filtered: Of those the bytes that a filter throws away.
    """

    groups: KeyGroups
    placements: list[Placement]
    calls: Floats

    def __init__(self, context: RunContext, path: AccessPath) -> None:
        self.context = context
        self.path = path
        self.pattern = path.pattern
        self.policy = context.workload.policy(path.pattern)
        resource = context.log.record_of(path.table, path.index)
        self.record = PatternRecord(path.pattern, resource.name)
        context.log.patterns[path.pattern.name] = self.record
        self.actions = self.pattern.actions if self.pattern.is_transaction else 1
        self.per_request = 1 if self.pattern.is_transaction else self.pattern.actions
        self.evaluated: Floats = np.zeros(1)
        self.filtered: Floats = np.zeros(1)

    @abstractmethod
    def refresh(self) -> bool:
        """Render what depends on the context's moment; return whether keys changed."""

    @abstractmethod
    def price(self) -> None:
        """Set calls and units as they are at the context's moment."""

    def absorb(self, accepted: Floats) -> None:  # noqa: B027 - reads leave nothing
        """Store what the accepted calls of each key group have written."""

    def existing_values(self) -> dict[str, Existing]:
        """Return which values of unique fields are asked for, if popularity tells them apart."""
        existing: dict[str, Existing] = {}
        for field in self.context.workload.fields:
            if not field.unique:
                continue
            pick = self.pattern.pick(field)
            count = self.context.created.get(field.name, 0.0)
            if isinstance(pick, Zipf) and count >= 1:
                window = int(min(count, LATEST_WINDOW))
                existing[field.name] = Existing(np.arange(window), pick.probabilities(window))
            arrivals = self.context.creation_rate.get(field.name, 0.0) * 60
            shares = latest_weights(pick, count, arrivals)
            if shares is not None:
                newest = int(count) + max(1, round(arrivals)) - 2
                existing[field.name] = Existing(newest - np.arange(len(shares)), shares)
        return existing


def unlisted_shards(shards: Sequence[ShardPart], workload: Workload) -> list[ShardPart]:
    """Return the calculated suffixes whose fields are new every time: as good as drawn."""
    return [shard for shard in shards if any(workload.field(name).unique for name in shard.fields)]
