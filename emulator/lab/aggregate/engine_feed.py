"""What is reported to the real engine, so that it grows, splits and scales by its own rules.

The engine decides on splits for heat from the positions that were accessed, and on splits for
size from the items that lie there. It is shown a position for each key group of a hot partition,
several for a group that stands for many items, and stand-ins for items.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from emulator.capacity import READ, WRITE
from emulator.capacity.traffic import WEIGHTS
from emulator.capacity.units import billed_bytes
from emulator.lab.aggregate.bucket_shares import BucketTable
from emulator.lab.aggregate.pattern_model import RunContext
from emulator.lab.aggregate.placement import JOINT
from emulator.lab.aggregate.population import Population
from emulator.lab.aggregate.stretch import PatternStretch, Stretch
from emulator.lab.inputs.distributions import Floats, Integers
from emulator.lab.outcome.run_log import MINUTE, ResourceRecord
from emulator.service.limits import PARTITION_UNITS
from emulator.storage import HASH_SPACE, Position

#: Positions that the traffic of hot partitions is told apart by.
_MOST_POSITIONS: Final = 400
#: A key group with more than this share of the accesses is shown as several items.
_HEAVY_SHARE: Final = 0.005
_HEAVY_POSITIONS: Final = 50
#: Pieces that new keys are shown in, when a partition is to be halved by size.
_PIECES: Final = 64


class EngineFeed:
    """Reports what happens to the engine of a run."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._feed = context.emulator.feed
        self._account = context.emulator.account
        self._records = list(context.log.resources.values())

    def report_minute(
        self,
        buckets: BucketTable,
        consumed: Floats,
        refused: Floats,
        demand: Floats,
        end_ns: int,
    ) -> None:
        """Close a minute with what each bucket gave and refused, and what reached it."""
        for record in self._records:
            for axis in (READ, WRITE):
                own = buckets.partitions[record.resource.arn, axis]
                self._feed.report_loads(
                    record.resource,
                    axis,
                    consumed[own].tolist(),
                    refused[own].tolist(),
                    demand[own].tolist(),
                )
        self._context.log.close_minute()
        self._feed.advance(end_ns)

    # Heat

    def report_heat(self, stretch: Stretch, demand: Floats, moment: float) -> None:
        """Report where the traffic of hot partitions went, at the end of a minute."""
        for record in self._records:
            hot = self._hot_partitions(stretch.buckets, record, demand)
            if not len(hot):
                continue
            for pattern in stretch.patterns:
                if pattern.model.path.kind != "scan":
                    for number, placement in enumerate(pattern.model.placements):
                        if placement.record is record:
                            self._report_accesses(pattern, number, hot, moment)

    def _hot_partitions(
        self, buckets: BucketTable, record: ResourceRecord, demand: Floats
    ) -> Integers:
        """Return the partitions whose traffic the engine may want to look at, by number."""
        use = np.zeros(len(record.resource.partitions))
        for axis, rate in enumerate(PARTITION_UNITS):
            own = buckets.partitions[record.resource.arn, axis]
            use = np.maximum(use, demand[own] / (rate * MINUTE))
        pending = record.resource.heat.pending
        waits = [partition.id in pending for partition in record.resource.partitions]
        return np.flatnonzero((use >= self._account.settings.heat_threshold) | waits)

    def _report_accesses(
        self, pattern: PatternStretch, number: int, hot: Integers, moment: float
    ) -> None:
        """Report a pattern's accesses to hot partitions of one placement."""
        placement = pattern.model.placements[number]
        partition_of = pattern.grouping.partitions[number][pattern.grouping.group_of]
        groups = np.flatnonzero(np.isin(partition_of, hot))
        accepted, consumed, refused = pattern.use_of(number)
        weigh = WEIGHTS[placement.axis]
        weight = (consumed + refused) * weigh
        groups = groups[weight[groups] > 0]
        if not len(groups):
            return
        heavy = _HEAVY_SHARE * float(weight[groups].sum())
        is_write = placement.axis == WRITE
        written = accepted if is_write else np.zeros(len(accepted))
        columns = np.stack([consumed * weigh, refused * weigh, written])
        for group, amounts in _neighbours(groups, placement.hashes, weight, columns):
            position = placement.position(group, moment)
            if pattern.model.path.kind == "query":
                position = position[: 1 + len(placement.texts[group])]
            stands_for_many = placement.is_unbounded and is_write and weight[group] > heavy
            shown = _items(position) if stands_for_many else [position]
            taken, lost, writes = (amount / len(shown) for amount in amounts)
            for item in shown:
                self._feed.report_access(
                    placement.record.resource,
                    item,
                    consumed=taken,
                    refused=lost,
                    writes=writes,
                    in_order=placement.in_order,
                )

    # Contents

    def report_contents(self) -> None:
        """Report what every partition holds, and let those split that hold too much."""
        for table in self._context.layout.tables:
            for index in (None, *table.global_indexes):
                record = self._context.log.record_of(table, index)
                population = self._context.population(table, None if index is None else index.name)
                if self._hold(record, population) >= self._account.settings.partition_bytes:
                    stand_ins = _stand_ins(record, population)
                    engine_table = self._context.emulator.table(table)
                    self._feed.split_for_size(engine_table, record.resource, stand_ins)
                    self._hold(record, population)

    def _hold(self, record: ResourceRecord, population: Population) -> float:
        """Report the contents of every partition, and return the largest one's bytes."""
        sizes, items = population.by_partition(record)
        self._feed.report_contents(record.resource, sizes, items)
        return max(sizes)


def _items(position: Position) -> list[Position]:
    """Return some items of a key group that stands for many, in ascending order."""
    if len(position) < 3:
        return [position]
    *rest, last = position
    return [(*rest, f"{last}{number:03d}") for number in range(_HEAVY_POSITIONS)]


def _neighbours(
    groups: Integers, hashes: NDArray[np.uint64], weight: Floats, columns: Floats
) -> list[tuple[int, list[float]]]:
    """Return key groups with their amounts; neighbours as one, where there are too many.

    The heaviest of neighbours gives its name, as in the engine's own bounded record.
    """
    if len(groups) <= _MOST_POSITIONS:
        return list(zip(groups.tolist(), columns[:, groups].T.tolist(), strict=True))
    ordered = groups[np.argsort(hashes[groups])]
    heaviest = np.argsort(weight[ordered])[-_MOST_POSITIONS // 2 :]
    starts = np.linspace(0, len(ordered), _MOST_POSITIONS // 2, endpoint=False).astype(np.int64)
    starts = np.unique(
        np.concatenate([starts, heaviest, np.minimum(heaviest + 1, len(ordered) - 1)])
    )
    amounts = np.add.reduceat(columns[:, ordered], starts, axis=1)
    return list(zip(ordered[starts].tolist(), amounts.T.tolist(), strict=True))


def _stand_ins(record: ResourceRecord, population: Population) -> list[tuple[Position, float]]:
    """Return positions and sizes that lie as the items of a population do."""
    count = len(population)
    pairs = zip(population.sizes[:count], population.items[:count], strict=True)
    billed = [billed_bytes(round(size), round(items)) for size, items in pairs]
    stand_ins: dict[Position, float] = {}
    new_bytes = 0.0
    for entry, (text, is_new, sort) in enumerate(population.keys()):
        if is_new:
            new_bytes += billed[entry]
        elif billed[entry]:
            whole = (int(population.hashes[entry]), *text.split(JOINT), sort)
            position = whole[: record.resource.key_length]
            stand_ins[position] = stand_ins.get(position, 0.0) + billed[entry]
    if new_bytes:
        pieces = _PIECES * len(record.resource.partitions)
        for piece in range(pieces):
            stand_ins[(piece * HASH_SPACE // pieces, f"new {piece:06d}")] = new_bytes / pieces
    return list(stand_ins.items())
