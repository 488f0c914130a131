"""Where items lie: placement, ordered stores, partitions, and plans of change.

This room decides the order of Scan and of paging, and which partition serves a key.
"""

from emulator.storage.lagged import Change, LaggedView
from emulator.storage.ordered import OrderedStore, copied
from emulator.storage.partition import Partition, PartitionMap
from emulator.storage.plan import EntryChange, IndexEntry, entry_of, plan_index_change
from emulator.storage.routing import (
    HASH_SPACE,
    TOP,
    Position,
    bounds,
    hashed_bytes,
    key_position,
    placement_digests,
    placement_hash,
    segment_bounds,
)

__all__ = [
    "HASH_SPACE",
    "TOP",
    "Change",
    "EntryChange",
    "IndexEntry",
    "LaggedView",
    "OrderedStore",
    "Partition",
    "PartitionMap",
    "Position",
    "bounds",
    "copied",
    "entry_of",
    "hashed_bytes",
    "key_position",
    "placement_digests",
    "placement_hash",
    "plan_index_change",
    "segment_bounds",
]
