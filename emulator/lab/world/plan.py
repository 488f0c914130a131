"""The plan: what is the same in every world under one design.

Patterns, their cells, rates and prices, what is stored before the run, and which keys are
followed. A plan is made once and played as often as worlds are asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from emulator.lab.inputs.distributions import Distribution
from emulator.lab.planning.access_paths import find_path
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.lab.world import families
from emulator.lab.world.bins import Bins, bins_of, fitting_bins
from emulator.lab.world.families import Family, Placement
from emulator.lab.world.patterns import Context, PatternModel, Schemas
from emulator.lab.world.reads import MODELS
from emulator.lab.world.writes import WriteModel
from emulator.service.limits import PARTITION_UNITS

#: Of fields with fewer values the most popular one is looked for among all.
_LISTED = 4_096
#: Pieces in which the warm-up's writes are stored, or more where keys change with time.
_WARM_UP_PIECES = 8


class Plan:
    """One design under its workload, in numbers.

    Attributes:
        layout: The design under its workload.
        context: The common ground of the models.
        models: One for each pattern, writes first; their order is that of names, so that no
            figure depends on the order in which they were written down.
    """

    def __init__(self, layout: Layout, emulator: RunEmulator) -> None:
        self.layout = layout
        self.workload = layout.workload
        schemas: Schemas = {
            table.name: {
                name: index.schema for name, index in emulator.table(table).indexes.items()
            }
            for table in layout.tables
        }
        # What keys are asked for decides how closely values are looked at, and the other way
        # round: so the plan is drawn up roughly first.
        rough = self._draw_up(schemas, bins_of(self.workload, {}), least=1.0)
        self._demands = _demands(*rough)
        share = families.FOLLOWED_SHARE
        least = share / max(sum(self._demands.values()), share)
        bins = fitting_bins(self.workload, self._least(least), _together(rough[1]))
        self.context, self.models = self._draw_up(schemas, bins, least)
        self._warm_up()
        self._loaded = self.context.save()
        self._families: dict[object, Family] = {}

    def _draw_up(
        self, schemas: Schemas, bins: Mapping[str, Bins], least: float
    ) -> tuple[Context, list[PatternModel]]:
        """Return the models of all patterns, with everything loaded."""
        context = Context(self.layout, schemas, bins, least, worlds=1)
        patterns = sorted(
            self.workload.patterns, key=lambda pattern: (not pattern.is_write, pattern.name)
        )
        paths = [find_path(self.layout, pattern) for pattern in patterns]
        models = [
            WriteModel(context, path) if path.kind == "write" else MODELS[path.kind](context, path)
            for path in paths
        ]
        for preload in self.workload.preload:
            for model in models:
                if model.pattern.name == preload.pattern and isinstance(model, WriteModel):
                    model.load(preload.items, preload.span)
        for held in context.every():
            held.close_preload()
        return context, models

    def _warm_up(self) -> None:
        """Store what is written before the run; nothing of it is refused (CAP2-10)."""
        context, first = self.context, -self.workload.warm_up
        steps = [own.step for model in self.models for own in model.placements if own.step]
        longest = max(1, self.workload.warm_up // _WARM_UP_PIECES)
        while first < 0:
            ends = [int(step - (self.workload.start + first) % step) for step in steps]
            last = min(0, first + max(1, min(longest, *ends)) if ends else first + longest)
            context.elapsed, context.until = float(first), float(last)
            for model in self.models:
                model.refresh()
                if model.pattern.is_write:
                    own = model.placements[0].cells.shares
                    requests = context.requests[model.pattern.name].expected(first, last)
                    calls = np.tile(own * requests * model.per_request, (context.worlds + 1, 1))
                    keys = [placement.partitions(context.moment) for placement in model.placements]
                    model.absorb(calls, keys)
            for held in context.every():
                held.settle()
            first = last
        context.elapsed = context.until = 0.0
        for held in context.every():
            held.start_counting()

    def _least(self, least: float) -> dict[str, float]:
        """Return by field from which probability on one of its values is followed.

        A value is not worth a bin of its own if even with the most popular value of the other
        fields in the same key it is rare.
        """
        found: dict[str, float] = {}
        for names in self._key_fields():
            most = {name: self._most_popular(name) for name in names}
            for name in names:
                others = math.prod(own for other, own in most.items() if other != name)
                found[name] = min(found.get(name, 1.0), least / max(others, least))
        return found

    def _key_fields(self) -> list[list[str]]:
        keys = [key for table in self.layout.tables for key in table.keys.values()]
        keys += [index.key for table in self.layout.tables for index in table.indexes]
        known = {field.name for field in self.workload.fields if not field.unique}
        fields = []
        for key in keys:
            names = {name for template in key.partition for name in template.names}
            parents = {self.workload.field(name).per for name in names & known}
            fields.append(sorted((names | {own for own in parents if own}) & known))
        return fields

    def _most_popular(self, name: str) -> float:
        field = self.workload.field(name)
        picks: list[Distribution] = [field.distribution]
        picks += [pattern.pick(field) for pattern in self.workload.patterns]
        return max(_highest(pick, field.size) for pick in picks)

    # Playing

    def begin(self, worlds: int) -> None:
        """Go back to the beginning of the run, for some worlds."""
        self.context.restore(self._loaded, worlds)
        for model in self.models:
            model.begin()

    @property
    def keys_followed(self) -> int:
        """How many keys are followed one by one, at the last moment that was played."""
        moment = self.context.moment
        return sum(len(family.columns(moment).keys) for family in self._families.values())

    def families(self) -> list[Family]:
        """Return the families of keys of all patterns, those of before if they are the same."""
        demands: dict[object, dict[Placement, float]] = {}
        for model in self.models:
            for placement in model.placements:
                own = demands.setdefault(placement.signature, {})
                own[placement] = self._demands[model.pattern.name]
        found = {}
        for number, (signature, own) in enumerate(demands.items()):
            known = self._families.get(signature)
            if known is None or known.placements != tuple(own):
                known = Family(number, own)
            found[signature] = known
        self._families = found
        return list(found.values())


def _highest(pick: Distribution, count: int) -> float:
    """Return the probability of the most popular value."""
    ends = np.unique(np.clip([0, 1, count - 1, count], 0, count))
    shares = np.diff(pick.below(count, ends)) / np.diff(ends)
    if count <= _LISTED:
        shares = np.diff(pick.below(count, np.arange(count + 1)))
    return float(shares.max())


def _demands(context: Context, models: list[PatternModel]) -> dict[str, float]:
    """Return the highest demand of each pattern, as a multiple of the limit of a partition.

    A Query finds more items the more are written, so prices are those at the end of the run.
    """
    workload = context.workload
    keys = {
        model: [placement.partitions(context.moment) for placement in model.placements]
        for model in models
    }
    for model in models:
        if isinstance(model, WriteModel):
            requests = context.requests[model.pattern.name].expected(0, workload.duration)
            calls = requests * model.per_request
            model.absorb(np.tile(model.placements[0].cells.shares * calls, (2, 1)), keys[model])
    for held in context.every():
        held.settle()
    demands = {}
    for model in models:
        price = model.price(keys[model])
        axis = int(model.pattern.is_write)
        rate = float(context.requests[model.pattern.name].rates.max())
        units = max(float((price.calls * own).max()) for own in price.units)
        demands[model.pattern.name] = rate * units * model.actions / PARTITION_UNITS[axis]
    return demands


def _together(models: list[PatternModel]) -> Iterator[tuple[list[str], int]]:
    """Yield of each pattern the fields whose combinations it tells apart, and other things."""
    for model in models:
        for placement in model.placements[:1]:
            cells = placement.cells
            names = [field.name for field in cells.fields if field is not None and not field.unique]
            others = math.prod(
                len(np.unique(firsts))
                for field, firsts in zip(cells.fields, cells.firsts, strict=True)
                if field is None or field.unique
            )
            yield names, others
