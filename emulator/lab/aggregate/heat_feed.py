"""Heat in numbers: what the engine is shown so that it can split by its own rules.

The engine decides on splits from the positions that were accessed. The aggregate engine shows
it a position for each flow of a hot partition, several for a flow that stands for many items.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from emulator.capacity import WRITE
from emulator.capacity.traffic import WEIGHTS
from emulator.engine.feed import TrafficFeed
from emulator.lab.aggregate.pattern_state import Track
from emulator.lab.inputs.distributions import Floats, Integers
from emulator.storage import Position

#: Positions that the traffic of hot partitions is told apart by.
_MOST_POSITIONS: Final = 400
#: A flow with more than this share of its kind is shown as so many items, if it has them.
_HEAVY_SHARE: Final = 0.005
_HEAVY_POSITIONS: Final = 50


def write_heat(feed: TrafficFeed, track: Track, place: int, hot: Integers, moment: float) -> None:
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
    written = accepted if spot.axis == WRITE else np.zeros(len(accepted))
    columns = np.stack([consumed * measure, refused * measure, written])
    may_stand_for_many = spot.unbounded and spot.axis == WRITE
    for flow, amounts in _neighbours(flows, spot.hashes, weight, columns):
        position = spot.position(flow, moment)
        if lane.path.kind == "query":
            position = position[: 1 + len(spot.texts[flow])]
        if not (may_stand_for_many and weight[flow] > heavy):
            shown = [position]
        else:
            shown = _items(position)
        taken, lost, writes = (amount / len(shown) for amount in amounts)
        for one in shown:
            feed.report_access(
                spot.record.resource,
                one,
                consumed=taken,
                refused=lost,
                writes=writes,
                in_order=spot.ordered,
            )


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
