"""Holdings: what each partition holds of a population, and splits for size.

The engine splits what grew too large by its own rules; it is shown stand-ins for the items.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from emulator.capacity.units import billed_bytes
from emulator.engine.feed import TrafficFeed
from emulator.engine.table import Table
from emulator.lab.aggregate.population import Population
from emulator.lab.inputs.distributions import sums
from emulator.lab.outcome.run_log import ResourceRecord
from emulator.storage import HASH_SPACE, Position

#: Pieces that new keys are shown in, when a partition is to be halved by size.
_PIECES: Final = 64


def hold(feed: TrafficFeed, record: ResourceRecord, population: Population) -> list[float]:
    """Tell every partition what it holds of a population, and return their billed bytes."""
    partitions = list(record.resource.partitions)
    count = len(population)
    if not count:
        return []
    lows = np.asarray([partition.low[0] for partition in partitions], dtype=np.uint64)
    places = np.searchsorted(lows, population.hashes, side="right") - 1
    fresh = population.is_fresh
    items, sizes = population.items[:count], population.sizes[:count]
    held_items = sums(places[~fresh], items[~fresh], len(partitions))
    held_sizes = sums(places[~fresh], sizes[~fresh], len(partitions))
    widths = np.asarray(
        [record.spans[one.id].high - record.spans[one.id].low for one in partitions]
    )
    held_items = held_items + widths * float(items[fresh].sum())
    held_sizes = held_sizes + widths * float(sizes[fresh].sum())
    billed = [
        float(billed_bytes(round(size), round(number)))
        for size, number in zip(held_sizes.tolist(), held_items.tolist(), strict=True)
    ]
    feed.report_contents(record.resource, billed, held_items.tolist())
    return billed


def split_large(
    feed: TrafficFeed, table: Table, record: ResourceRecord, population: Population
) -> None:
    """Let the engine split what is too large, showing it stand-ins for the items."""
    feed.split_for_size(table, record.resource, _stand_ins(record, population))
    hold(feed, record, population)


def _stand_ins(record: ResourceRecord, population: Population) -> list[tuple[Position, float]]:
    count = len(population)
    fresh = population.is_fresh
    items, sizes = population.items[:count], population.sizes[:count]
    billed = [billed_bytes(round(s), round(n)) for s, n in zip(sizes, items, strict=True)]
    length = record.resource.key_length
    found: dict[Position, float] = {}
    for place, (key, sort) in enumerate(population.keys()):
        if fresh[place] or not billed[place]:
            continue
        position = (int(population.hashes[place]), *key.split("\x1f"), sort)[:length]
        found[position] = found.get(position, 0.0) + billed[place]
    new = sum(size for size, is_new in zip(billed, fresh, strict=True) if is_new)
    if new:
        pieces = _PIECES * len(record.resource.partitions)
        for piece in range(pieces):
            found[(piece * HASH_SPACE // pieces, f"new {piece:06d}")] = new / pieces
    return list(found.items())
