"""Placement: where the key groups of a pattern fall on one table or index.

Keys are rendered and hashed as the emulator does it, so both engines agree on the partition of
every key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from emulator.lab.aggregate.key_groups import NEW_VALUE, KeyGroups
from emulator.lab.inputs.distributions import Floats, Integers
from emulator.lab.inputs.key_templates import FieldPart, KeyTemplate, Renderer
from emulator.lab.inputs.workload import Workload
from emulator.lab.outcome.run_log import ResourceRecord
from emulator.lab.planning.key_traits import fixed_parts, is_in_order, is_unbounded
from emulator.lab.planning.layout import KeyLayout
from emulator.storage import HASH_SPACE, Position, placement_hash

#: A partition key, whether it stands for keys that are new every time, and the fixed beginning
#: of the sort key.
EntryKey: TypeAlias = tuple[str, bool, str]

#: Between the attributes of one key.
JOINT: Final = "\x1f"
#: Spreads the new keys of several indexes independently of each other.
_GOLDEN: Final = 0.6180339887498949


class Placement:
    """Where each key group falls on one resource, by one key.

    Attributes:
        record: The resource.
        axis: Reads or writes.
        is_spread: Whether the partition key is new every time, so that keys fall anywhere.
        is_new: Whether the texts of partition keys stand for keys that are new every time.
        in_order: Whether sort keys within one partition key are written in ascending order.
        is_unbounded: Whether a key group can stand for many items.
        step: How many seconds the partition keys stay the same; None for ever.
        texts: For each key group its partition key.
        hashes: For each key group the hash of its partition key.
        units: For each key group the units of one call.
        chance: How likely a call draws on the resource at all.
    """

    def __init__(
        self,
        record: ResourceRecord,
        axis: int,
        key: KeyLayout,
        groups: KeyGroups,
        workload: Workload,
        *,
        is_spread: bool,
        number: int = 0,
        ages: Floats | None = None,
    ) -> None:
        self.record = record
        self.axis = axis
        self.is_spread = is_spread
        self.is_new = is_spread or _begins_with(key, groups.new_fields)
        self.in_order = is_in_order(key, workload)
        self.is_unbounded = is_unbounded(key, workload)
        self.units: Floats = np.zeros(len(groups))
        self.chance = 1.0
        self.texts: list[tuple[str, ...]] = []
        self.hashes: NDArray[np.uint64] = np.zeros(len(groups), dtype=np.uint64)
        steps = [template.step_seconds for template in key.partition]
        self.step = min((step for step in steps if step is not None), default=None)
        self._groups = groups
        self._partitions = [template.bind(groups.columns) for template in key.partition]
        self._sorts = [template.bind(groups.columns) for template in key.sort]
        self._fixed_sorts = _fixed_renderers(key, workload, groups.columns)
        self._number = number
        #: Of requests that range over time, how many seconds ago each key group's stretch is.
        self._ages = ages
        self._rendered_step: float | None = None
        self._moment = 0.0

    def refresh(self, moment: float) -> bool:
        """Render the keys as of a moment; return whether they changed."""
        self._moment = moment
        step = None if self.step is None else moment // max(self.step, 1.0)
        if self.texts and (self.is_spread or step == self._rendered_step):
            return False
        self._rendered_step = step
        if self.is_spread:
            self._spread()
        else:
            self._render(moment)
        return True

    def _render(self, moment: float) -> None:
        rows = self._groups.rows
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
        salt = self.record.resource.settings.placement_salt
        hashes: dict[tuple[str, ...], int] = {}
        for text in self.texts:
            if text not in hashes:
                hashes[text] = placement_hash(text, salt)
        self.hashes = np.asarray([hashes[text] for text in self.texts], dtype=np.uint64)

    def _moments(self, moment: float) -> Sequence[float]:
        if self._ages is None:
            return [moment] * len(self._groups)
        return (moment - self._ages).tolist()  # type: ignore[no-any-return]  # numpy says Any

    def _spread(self) -> None:
        """Give new keys their stretch of the hash space."""
        strata = self._groups.strata
        assert strata is not None, "key groups with new keys have strata"
        self.texts = [(NEW_VALUE,)] * len(self._groups)
        spread = (strata + self._number * _GOLDEN) % 1.0
        self.hashes = (spread * float(HASH_SPACE)).astype(np.uint64)

    def entry_keys(self) -> list[EntryKey]:
        """Return for each key group what its items are found by."""
        moment, is_new = self._moment, self.is_new
        return [
            (
                JOINT.join(text),
                is_new,
                JOINT.join([render(row, moment) for render in self._fixed_sorts]),
            )
            for text, row in zip(self.texts, self._groups.rows, strict=True)
        ]

    def partitions(self) -> Integers:
        """Return for each key group its partition, by number in key order."""
        partitions = list(self.record.resource.partitions)
        lows = np.asarray([partition.low[0] for partition in partitions], dtype=np.uint64)
        numbers = np.searchsorted(lows, self.hashes, side="right") - 1
        cut_hashes = {partition.low[0] for partition in partitions if len(partition.low) > 1}
        if cut_hashes:
            number_of = {partition.id: number for number, partition in enumerate(partitions)}
            is_cut = np.isin(self.hashes, np.asarray(sorted(cut_hashes), dtype=np.uint64))
            for group in np.flatnonzero(is_cut).tolist():
                partition = self.record.resource.partitions.at(self.position(group, self._moment))
                numbers[group] = number_of[partition.id]
        return numbers.astype(np.int64)

    def position(self, group: int, moment: float) -> Position:
        """Return the position of a key group's item at a moment."""
        row = self._groups.rows[group]
        sorts = [render(row, moment) for render in self._sorts]
        return (int(self.hashes[group]), *self.texts[group], *sorts)


def _begins_with(key: KeyLayout, fields: frozenset[str]) -> bool:
    """Return whether the value of one of these fields is the first thing in a partition key."""
    first = key.partition[0].parts[0] if key.partition and key.partition[0].parts else None
    return isinstance(first, FieldPart) and first.name in fields


def _fixed_renderers(
    key: KeyLayout, workload: Workload, columns: Mapping[str, int]
) -> list[Renderer]:
    """Return what renders the beginning of the sort key that no moment or new value changes."""
    renderers = []
    for template in key.sort:
        parts, whole = fixed_parts(template, workload)
        if parts:
            renderers.append(KeyTemplate("", parts).bind(columns))
        if not whole:
            break
    return renderers
