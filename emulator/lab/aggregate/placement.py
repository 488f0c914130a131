"""Spots: where the flows of a pattern fall on one table or index.

Keys are rendered and hashed as the emulator does it, so both engines agree on the partition of
every key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from emulator.lab.aggregate.key_groups import FRESH, Flows
from emulator.lab.inputs.distributions import Floats, Integers
from emulator.lab.inputs.key_templates import Renderer, Template
from emulator.lab.inputs.workload import Workload
from emulator.lab.outcome.run_log import ResourceRecord
from emulator.lab.planning.key_traits import is_ordered, is_unbounded, told_parts
from emulator.lab.planning.layout import KeyLayout
from emulator.storage import HASH_SPACE, Position, placement_hash

#: Between the sort attributes of one key.
JOINT: Final = "\x1f"
#: Spreads the new keys of several indexes independently of each other.
_GOLDEN: Final = 0.6180339887498949


class Spot:
    """The place of each flow on one resource, for one key.

    Attributes:
        record: The resource.
        axis: Reads or writes.
        texts: For each flow its partition key.
        hashes: For each flow the hash of its partition key.
        units: For each flow the units of one call.
        chance: How likely a call draws on the resource at all.
    """

    def __init__(
        self,
        record: ResourceRecord,
        axis: int,
        key: KeyLayout,
        flows: Flows,
        workload: Workload,
        *,
        fresh: bool,
        number: int = 0,
        moments: Floats | None = None,
    ) -> None:
        self.record = record
        self.axis = axis
        self.flows = flows
        self.fresh = fresh
        self.ordered = is_ordered(key, workload)
        self.unbounded = is_unbounded(key, workload)
        self.units: Floats = np.zeros(len(flows))
        self.chance = 1.0
        self.texts: list[tuple[str, ...]] = []
        self.hashes: NDArray[np.uint64] = np.zeros(len(flows), dtype=np.uint64)
        columns = flows.columns
        self._partitions = [template.bind(columns) for template in key.partition]
        self._sorts = [template.bind(columns) for template in key.sort]
        self._told = _told_renderers(key, workload, columns)
        steps = [template.step_seconds for template in key.partition]
        self.step = min((step for step in steps if step is not None), default=None)
        self._number = number
        #: Of a request that ranges over time, how long ago each flow's stretch is.
        self._ages = moments
        self._slot: float | None = None
        self._moment = 0.0

    def refresh(self, moment: float) -> bool:
        """Render the keys as of a moment; return whether they changed."""
        self._moment = moment
        slot = None if self.step is None else moment // max(self.step, 1.0)
        if self.texts and (self.fresh or slot == self._slot):
            return False
        self._slot = slot
        if self.fresh:
            self._spread()
            return True
        rows = self.flows.rows
        moments = self._moments(moment)
        renders = self._partitions
        if len(renders) == 1:
            render = renders[0]
            self.texts = [(render(row, at),) for row, at in zip(rows, moments, strict=True)]
        else:
            self.texts = [
                tuple([render(row, at) for render in renders])
                for row, at in zip(rows, moments, strict=True)
            ]
        known: dict[tuple[str, ...], int] = {}
        for text in self.texts:
            if text not in known:
                known[text] = placement_hash(text)
        self.hashes = np.asarray([known[text] for text in self.texts], dtype=np.uint64)
        return True

    def _moments(self, moment: float) -> Sequence[float]:
        if self._ages is None:
            return [moment] * len(self.flows)
        return (moment - self._ages).tolist()  # type: ignore[no-any-return]  # numpy says Any

    def _spread(self) -> None:
        """Give new keys their stretch of the hash space."""
        strata = self.flows.strata
        assert strata is not None, "flows with new keys have strata"
        self.texts = [(f"{FRESH}",)] * len(self.flows)
        spread = (strata + self._number * _GOLDEN) % 1.0
        self.hashes = (spread * float(HASH_SPACE)).astype(np.uint64)

    def told(self) -> list[tuple[str, str]]:
        """Return for each flow its partition key and what can be told of its sort key."""
        moment = self._moment
        pairs = zip(self.texts, self.flows.rows, strict=True)
        return [
            (JOINT.join(text), JOINT.join([render(row, moment) for render in self._told]))
            for text, row in pairs
        ]

    def places(self) -> Integers:
        """Return for each flow its partition, by number in position order."""
        partitions = list(self.record.resource.partitions)
        lows = np.asarray([partition.low[0] for partition in partitions], dtype=np.uint64)
        places = np.searchsorted(lows, self.hashes, side="right") - 1
        inner = {partition.low[0] for partition in partitions if len(partition.low) > 1}
        if inner:
            numbers = {partition.id: place for place, partition in enumerate(partitions)}
            shared = np.isin(self.hashes, np.asarray(sorted(inner), dtype=np.uint64))
            for flow in np.flatnonzero(shared).tolist():
                held = self.record.resource.partitions.at(self.position(flow, self._moment))
                places[flow] = numbers[held.id]
        return places.astype(np.int64)

    def position(self, flow: int, moment: float) -> Position:
        """Return the position of a flow's item at a moment."""
        row = self.flows.rows[flow]
        sorts = [render(row, moment) for render in self._sorts]
        return (int(self.hashes[flow]), *self.texts[flow], *sorts)


def _told_renderers(
    key: KeyLayout, workload: Workload, columns: Mapping[str, int]
) -> list[Renderer]:
    found = []
    for template in key.sort:
        parts, whole = told_parts(template, workload)
        if parts:
            found.append(Template("", parts).bind(columns))
        if not whole:
            break
    return found
