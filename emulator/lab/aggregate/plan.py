"""The plan: what is the same in every world under one design.

Patterns, their keys, rates and prices, and what is stored before the run. A plan is made once and
played as often as there are blocks of worlds.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from emulator.capacity import READ
from emulator.lab.aggregate.pattern_model import ModelContext, PatternKeys, PatternModel, Schemas
from emulator.lab.aggregate.read_model import GetModel, QueryModel, ScanModel
from emulator.lab.aggregate.write_model import WriteModel
from emulator.lab.inputs import arrival_rates
from emulator.lab.inputs.distributions import Integers
from emulator.lab.outcome.run_log import MINUTE
from emulator.lab.planning.access_paths import find_path
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.run_emulator import RunEmulator

_MODELS: Final[dict[str, type[PatternModel]]] = {
    "write": WriteModel,
    "get": GetModel,
    "query": QueryModel,
    "scan": ScanModel,
}
#: Tells the draws of keys from other draws of the same seed; no name of a pattern begins so.
_KEYS: Final = 2


class Plan:
    """One design under its workload, in numbers.

    Attributes:
        layout: The design under its workload.
        context: What the models share.
        models: One for each pattern, writes first; their order is that of names, so that no
            figure depends on the order in which somebody wrote them down.
    """

    def __init__(self, layout: Layout, emulator: RunEmulator) -> None:
        self.layout = layout
        self.workload = layout.workload
        self.context = ModelContext(layout, _schemas(layout, emulator))
        patterns = sorted(
            self.workload.patterns, key=lambda pattern: (not pattern.is_write, pattern.name)
        )
        paths = [find_path(layout, pattern) for pattern in patterns]
        self.models = [_MODELS[path.kind](self.context, path) for path in paths]
        self._load(emulator)
        self._contents = self.context.copy_contents()

    def _load(self, emulator: RunEmulator) -> None:
        """Store what is there before the run."""
        for model in self.models:
            model.keys(emulator.resource(model.path.table, model.path.index))
        for preload in self.workload.preload:
            for model in self.models:
                if model.pattern.name == preload.pattern and isinstance(model, WriteModel):
                    model.load(preload.items, preload.span)
        self.context.settle()

    def begin(self) -> None:
        """Go back to the beginning of the run."""
        self.context.restore_contents(self._contents)

    def requests(self, model: PatternModel, seed: int) -> Integers:
        """Return how many requests of a pattern arrive in each second, the warm-up's first."""
        workload, pattern = self.workload, model.pattern
        draws = arrival_rates.request_draws(seed, pattern.name)
        warming = np.full(workload.warm_up, workload.warm_up_rate(pattern))
        counts = [
            arrival_rates.counts(rates, pattern.arrivals, draws)
            for rates in (warming, workload.rates(pattern))
        ]
        return np.concatenate(counts)

    def key_draws(self, model: PatternModel, seed: int) -> np.random.Generator:
        """Return what draws the keys of a pattern's requests, second after second."""
        return np.random.default_rng([seed, _KEYS, *model.pattern.name.encode()])

    def end_of_stretch(self, first: int, keys: list[PatternKeys]) -> int:
        """Return the end of a stretch in which no key and hardly any price changes.

        That is a minute at most, and less while what is read fills quickly: in the beginning,
        and when a key that has a time begins.
        """
        age = first + self.workload.warm_up
        last = min(self.workload.duration, (first // MINUTE + 1) * MINUTE)
        now = self.workload.start + first
        for placed in (placed for own in keys for placed in own.placed):
            placement = placed.placement
            if not placement.step or placement.is_spread:
                continue
            step = max(1, int(placement.step))
            if step < MINUTE:
                last = min(last, first + step - now % step)
            if placement.axis == READ:
                age = min(age, now % step)
        return max(first + 1, min(last, first + max(1, age // 8)))


def _schemas(layout: Layout, emulator: RunEmulator) -> Schemas:
    return {
        table.name: {name: index.schema for name, index in emulator.table(table).indexes.items()}
        for table in layout.tables
    }
