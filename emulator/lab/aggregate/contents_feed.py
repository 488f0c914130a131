"""What partitions hold is reported to the real engine of a world, so that the large ones split.

The engine decides on splits for size from the items that lie there; it is shown stand-ins for the
items of a partition that is too large.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from emulator.capacity.units import billed_bytes
from emulator.engine.resource import Resource
from emulator.lab.aggregate.key_texts import JOINT
from emulator.lab.aggregate.pattern_model import ModelContext
from emulator.lab.aggregate.played_world import PlayedWorld
from emulator.lab.aggregate.population import Population
from emulator.storage import HASH_SPACE, Position

#: Pieces that new keys are shown in, when a partition is to be halved by size.
_PIECES: Final = 64


def held_bytes(context: ModelContext) -> list[float]:
    """Return the billed bytes of every table, with its local indexes, and global index."""
    return [
        sum(
            float(billed_bytes(round(each.total_bytes), round(each.total_items)))
            for each in (context.population_of(number), *context.local_populations(number))
        )
        for number in range(len(context.resources))
    ]


class ContentsFeed:
    """Reports what lies in the partitions of one world to its engine."""

    def __init__(self, world: PlayedWorld, context: ModelContext) -> None:
        self._world = world
        self._context = context
        self._feed = world.emulator.feed
        self._settings = world.world.settings
        #: For each resource the bytes from which a partition may be too large.
        self._check_bytes = [float(self._settings.partition_bytes)] * len(world.resources)

    def load(self, held: Sequence[float]) -> None:
        """Report what is there before the run, and give the tables partitions for it."""
        self.report(held)
        self._feed.fit_partitions()

    def is_due(self, held: Sequence[float]) -> bool:
        """Return whether some partition may hold too much, if each resource holds so much.

        Nothing looks at the bytes of a partition before that, so until then there is no need
        to count them.
        """
        return any(total >= most for total, most in zip(held, self._check_bytes, strict=True))

    def report(self, held: Sequence[float], *, at_once: bool = False) -> None:
        """Report what every partition holds, and let those split that hold too much.

        Args:
            held: The billed bytes of each resource.
            at_once: Count them in any case.
        """
        for number, resource in enumerate(self._world.resources):
            total = held[number]
            if not at_once and total < self._check_bytes[number]:
                continue
            most = self._settings.partition_bytes
            largest = self._hold(number, resource)
            if largest >= most:
                stand_ins = self._stand_ins(number, resource)
                self._feed.split_for_size(self._world.table_of(number), resource, stand_ins)
                largest = self._hold(number, resource)
            self._check_bytes[number] = total + max(1.0, most - largest)

    def _hold(self, number: int, resource: Resource) -> float:
        """Report the contents of every partition, and return the largest one's bytes."""
        sizes, items = self._context.population_of(number).by_partition(resource, self._world.salt)
        for local in self._context.local_populations(number):
            for held, more in zip(
                (sizes, items), local.by_partition(resource, self._world.salt), strict=True
            ):
                held += more
        self._feed.report_contents(resource, sizes.tolist(), items.tolist())
        return float(sizes.max())

    def _stand_ins(self, number: int, resource: Resource) -> list[tuple[Position, float]]:
        """Return positions and sizes that lie as the items of too large partitions do.

        Sort keys of local indexes are not the table's own; but then no item collection is divided
        (CAP-504), so it does not matter where in its collection an entry is.
        """
        stand_ins: dict[Position, float] = {}
        self._stand_in(stand_ins, resource, self._context.population_of(number))
        for local in self._context.local_populations(number):
            self._stand_in(stand_ins, resource, local, is_local=True)
        return list(stand_ins.items())

    def _stand_in(
        self,
        stand_ins: dict[Position, float],
        resource: Resource,
        population: Population,
        *,
        is_local: bool = False,
    ) -> None:
        """Add the positions and sizes of what lies in a table or index."""
        most = self._settings.partition_bytes
        is_large = np.asarray([p.size_bytes >= most for p in resource.partitions])
        count = len(population)
        numbers = population.partitions_of(resource, self._world.salt)
        hashes, keys = population.hashes(self._world.salt), population.numbers.keys()
        billed = [
            billed_bytes(round(size), round(items))
            for size, items in zip(population.sizes[:count], population.items[:count], strict=True)
        ]
        for entry in np.flatnonzero(is_large[numbers] & ~population.numbers.is_new).tolist():
            text, _, sort = keys[entry]
            if billed[entry]:
                whole = (int(hashes[entry]), *text.split(JOINT), "" if is_local else sort)
                position = whole[: resource.key_length]
                stand_ins[position] = stand_ins.get(position, 0.0) + billed[entry]
        new_bytes = sum(
            billed[entry] for entry in np.flatnonzero(population.numbers.is_new).tolist()
        )
        if new_bytes:
            pieces = _PIECES * len(is_large)
            for piece in range(pieces):
                position = (piece * HASH_SPACE // pieces, f"new {piece:06d}")
                stand_ins[position] = stand_ins.get(position, 0.0) + new_bytes / pieces
