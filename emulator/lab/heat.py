"""Heat and size in numbers: what the engine is shown so that it can split by its own rules.

The engine decides on splits from the positions that were accessed. The aggregate engine shows
it a position for each flow of a hot partition, several for a flow that stands for many items.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from emulator.capacity import WRITE
from emulator.capacity.traffic import CONSUMED, THROTTLED, THROTTLES, WEIGHTS, WRITES, Minute
from emulator.capacity.units import billed_bytes
from emulator.engine.account import Account
from emulator.engine.splits import split_for_size, store_of
from emulator.engine.table import Table
from emulator.lab.distributions import Floats, Integers, sums
from emulator.lab.population import Population
from emulator.lab.recording import ResourceRecord
from emulator.lab.tracks import Track
from emulator.model import Item
from emulator.storage import HASH_SPACE, Position

#: Positions that the traffic of hot partitions is told apart by.
_MOST_POSITIONS: Final = 1000
#: A flow with more than this share of its kind is shown as so many items, if it has them.
_HEAVY_SHARE: Final = 0.005
_HEAVY_POSITIONS: Final = 50
#: Pieces that new keys are shown in, when a partition is to be halved by size.
_PIECES: Final = 64


def write_heat(minute: Minute, track: Track, place: int, hot: Integers, moment: float) -> None:
    """Enter a track's accesses to hot partitions into the minute."""
    lane = track.lane
    spot = lane.spots[place]
    if lane.path.kind == "scan":
        return
    flows = np.flatnonzero(np.isin(track.parts[place][track.cell_of], hot))
    accepted, consumed, refused = track.minute_of(place)
    weight = (consumed + refused) * WEIGHTS[spot.axis]
    flows = flows[weight[flows] > 0]
    if not len(flows):
        return
    heavy = _HEAVY_SHARE * float(weight[flows].sum())
    measure = WEIGHTS[spot.axis]
    writes = accepted if spot.axis == WRITE else np.zeros(len(accepted))
    columns = np.stack([consumed * measure, refused * measure, writes])
    for flow, amounts in _neighbours(flows, spot.hashes, weight, columns):
        position = spot.position(flow, moment)
        if lane.path.kind == "query":
            position = position[: 1 + len(spot.texts[flow])]
        stands_for_many = spot.unbounded and spot.axis == WRITE and weight[flow] > heavy
        shown = _items(position) if stands_for_many else [position]
        for one in shown:
            _enter(minute, one, [amount / len(shown) for amount in amounts], ordered=spot.ordered)


def _enter(minute: Minute, position: Position, amounts: list[float], *, ordered: bool) -> None:
    taken, lost, writes = amounts
    access = minute.accesses.setdefault(position, [0.0, 0.0, 0.0, 0.0])
    access[CONSUMED] += taken
    access[THROTTLED] += lost
    access[WRITES] += writes
    access[THROTTLES] += float(lost > 0)
    if writes:
        ups, downs = minute.records.get(position, (0, 0))
        minute.records[position] = (ups + (round(writes) if ordered else 0), downs)


def _items(position: Position) -> list[Position]:
    """Return some items of a flow that stands for many, in ascending order."""
    if len(position) < 3:
        return [position]
    *rest, last = position
    return [(*rest, f"{last}{number:03d}") for number in range(_HEAVY_POSITIONS)]


def _neighbours(
    flows: Integers, hashes: NDArray[np.uint64], weight: Floats, columns: Floats
) -> list[tuple[int, list[float]]]:
    """Return flows with their amounts; neighbours as one, where there are too many to tell.

    The heaviest of neighbours gives its name, as in the engine's own bounded record.
    """
    if len(flows) <= _MOST_POSITIONS:
        return list(zip(flows.tolist(), columns[:, flows].T.tolist(), strict=True))
    ordered = flows[np.argsort(hashes[flows])]
    heaviest = np.argsort(weight[ordered])[-_MOST_POSITIONS // 2 :]
    starts = np.linspace(0, len(ordered), _MOST_POSITIONS // 2, endpoint=False).astype(np.int64)
    starts = np.unique(
        np.concatenate([starts, heaviest, np.minimum(heaviest + 1, len(ordered) - 1)])
    )
    amounts = np.add.reduceat(columns[:, ordered], starts, axis=1)
    return list(zip(ordered[starts].tolist(), amounts.T.tolist(), strict=True))


def hold(record: ResourceRecord, population: Population) -> list[float]:
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
    for partition, size, number in zip(partitions, billed, held_items.tolist(), strict=True):
        partition.size_bytes = round(size)
        partition.items = round(number)
    return billed


def split_large(
    account: Account, table: Table, record: ResourceRecord, population: Population
) -> None:
    """Let the engine split what is too large, showing it stand-ins for the items."""
    store = store_of(table, record.resource)
    stand_ins = _stand_ins(record, population)
    for position, size in stand_ins:
        store.put(position, Item({}, round(size)))
    before = 0
    while before != len(record.resource.partitions):
        before = len(record.resource.partitions)
        split_for_size(account, table, record.resource, account.now_ns)
    for position, _ in stand_ins:
        store.remove(position)
    hold(record, population)


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
