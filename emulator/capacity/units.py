"""Units: the one home of every pricing formula.

Sizes come in as bytes, units go out; no other module divides by a block size. A size of None means
that the item or index entry does not exist. Table arms of a transaction are multiplied by
``TRANSACTIONAL`` after rounding, its index arms are not (CAP-305, CAP-306).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from emulator.service import limits

#: The two axes of throughput; indexes into every pair of this room.
READ: Final = 0
WRITE: Final = 1

#: What one read unit's worth of bytes costs, by consistency. Source: CAP section 0.
EVENTUAL: Final = 0.5
STRONG: Final = 1
TRANSACTIONAL: Final = limits.TRANSACTION_FACTOR

#: What a search counts for each dimension, and for each entry found beside its bytes (VIX-61).
_SEARCHED_BYTES: Final = 30.6875
_FOUND_BYTES: Final = 65
_FLOAT_BYTES: Final = 4
_READ_BLOCK = limits.READ_BLOCK_BYTES
_WRITE_BLOCK = limits.WRITE_BLOCK_BYTES


def read_units(size_bytes: int) -> int:
    """Return the strongly consistent read units of ``size_bytes``; a miss costs one too.

    Source: CAP-201, CAP-205.

    >>> read_units(0), read_units(4096), read_units(4097)
    (1, 1, 2)
    """
    return -(-size_bytes // _READ_BLOCK) or 1


def write_units(size_bytes: int) -> int:
    """Return the write units of ``size_bytes``.

    Source: CAP-301.

    >>> write_units(0), write_units(1024), write_units(1025)
    (1, 1, 2)
    """
    return -(-size_bytes // _WRITE_BLOCK) or 1


def read_cost(size_bytes: int) -> tuple[int, int]:
    """Return ``read_units``, and the bytes paid for by them and not read.

    >>> read_cost(4097), read_cost(0)
    ((2, 4095), (1, 4096))
    """
    units = -(-size_bytes // _READ_BLOCK) or 1
    return units, units * _READ_BLOCK - size_bytes


def read_loss(size_bytes: int) -> int:
    """Return the bytes paid for by ``read_units`` and not read.

    >>> read_loss(4097), read_loss(0)
    (4095, 4096)
    """
    return read_cost(size_bytes)[1]


def write_cost(size_bytes: int) -> tuple[int, int]:
    """Return ``write_units``, and the bytes paid for by them and not written.

    >>> write_cost(1500), write_cost(0)
    ((2, 548), (1, 1024))
    """
    units = -(-size_bytes // _WRITE_BLOCK) or 1
    return units, units * _WRITE_BLOCK - size_bytes


def write_loss(size_bytes: int) -> int:
    """Return the bytes paid for by ``write_units`` and not written.

    >>> write_loss(1500), write_loss(0)
    (548, 1024)
    """
    return write_cost(size_bytes)[1]


def page_units(size_bytes: int, factor: float) -> float:
    """Return the units of a Query or Scan page for the bytes evaluated in one partition.

    Source: CAP-204, sizes are summed before rounding.
    Assumed: CAP-212, every partition touched serves its part as its own read; without
    ``Settings.scan_partition_minimum`` the first one serves the whole page.

    >>> page_units(0, EVENTUAL), page_units(4097, STRONG)
    (0.5, 2)
    """
    return read_units(size_bytes) * factor


def fetch_units(base_sizes: Iterable[int], factor: float) -> float:
    """Return the table units of a local index query that also reads its base items.

    Source: CAP-210, rounded per item.

    >>> fetch_units([300, 300, 300, 300], EVENTUAL)
    2.0
    """
    return sum(map(read_units, base_sizes)) * factor


def whole_blocks(size_bytes: int) -> int:
    """Return the bytes that count against the page limit when base items are fetched too.

    The entries of a page count together, each fetched item for itself.

    Source: CAP-210, Developer Guide, Local Secondary Indexes.

    >>> whole_blocks(200) + whole_blocks(300) + whole_blocks(5000)
    16384
    """
    return read_units(size_bytes) * _READ_BLOCK


def table_arm(old_bytes: int | None, new_bytes: int | None) -> int:
    """Return the table's write units: the larger image counts, nothing at all costs one.

    Source: CAP-301, CAP-302. Assumed: also the price of a failed PartiQL batch member, from
    the stored and the carried item (CAP-313).

    >>> table_arm(3072, 100), table_arm(1639, None), table_arm(None, None)
    (3, 2, 1)
    """
    return write_units(max(old_bytes or 0, new_bytes or 0))


def failed_put_units(old_bytes: int | None, new_bytes: int) -> int:
    """Return the write units of a put whose condition failed.

    Assumed: CAP-303, the larger of the stored and the new item; AWS's texts differ.

    >>> failed_put_units(300 * 1024, 310 * 1024)
    310
    """
    return table_arm(old_bytes, new_bytes)


def failed_condition_units(old_bytes: int | None) -> int:
    """Return the write units of an update or delete whose condition failed.

    Assumed: CAP-303, the stored item, or one unit when there is none.

    >>> failed_condition_units(None), failed_condition_units(3000)
    (1, 3)
    """
    return write_units(old_bytes or 0)


def index_arm(before: int | None, after: int | None, *, moved: bool, identical: bool) -> int:
    """Return the write units of one index, from its entry's size before and after.

    Zero means that the index does not appear in the answer at all.

    Args:
        before: Size of the old entry, or None.
        after: Size of the new entry, or None.
        moved: The value of an index key changed.
        identical: Both entries exist and are equal.

    Source: CAP-309.

    >>> index_arm(3017, 18, moved=True, identical=False)
    4
    >>> index_arm(3017, 18, moved=False, identical=False)
    3
    """
    if before is None:
        return 0 if after is None else write_units(after)
    if after is None:
        return write_units(before)
    if moved:
        return write_units(before) + write_units(after)
    return 0 if identical else write_units(max(before, after))


def vector_write_bytes(entry_bytes: int) -> int:
    """Return the bytes charged for writing a vector index's entry: those of its larger image.

    Source: VIX-63. Assumed: the larger of old and new.

    >>> vector_write_bytes(400), vector_write_bytes(1500)
    (1024, 1500)
    """
    return max(limits.VECTOR_REQUEST_BYTES, entry_bytes)


def vector_search_bytes(dimensions: int, entries: Iterable[int], carried: int) -> int:
    """Return the bytes charged for a search, from the entries found.

    Args:
        dimensions: Of the index.
        entries: The bytes of each entry found, without its vector.
        carried: How many of them the answer shows with their vector.

    Assumed: VIX-61, fitted to small indexes by others; the service's own figure varies between
    equal calls, and is lower within a partition and higher in large indexes.

    >>> vector_search_bytes(16, [], 0), vector_search_bytes(1024, [20, 20], 2)
    (1024, 39786)
    """
    matches_bytes = sum(_FOUND_BYTES + size for size in entries)
    searched = math.ceil(dimensions * _SEARCHED_BYTES) + matches_bytes
    return max(limits.VECTOR_REQUEST_BYTES, searched + _FLOAT_BYTES * dimensions * carried)


def replay_units(images: Iterable[tuple[int | None, int | None]]) -> int:
    """Return the read units of a repeated transaction, from the first call's old and new sizes.

    Source: CAP-307.

    >>> replay_units([(9 * 1024, None)])
    6
    """
    return TRANSACTIONAL * sum(read_units(max(old or 0, new or 0)) for old, new in images)


def billed_bytes(size_bytes: int, items: int = 1) -> int:
    """Return the stored bytes that are paid for ``items`` entries of ``size_bytes`` together.

    Source: CAP-110.

    >>> billed_bytes(500), billed_bytes(500_000_000, items=1_000_000)
    (600, 600000000)
    """
    return size_bytes + limits.STORAGE_OVERHEAD_BYTES * items


def collection_range_gb(size_bytes: int) -> list[float]:
    """Return ``SizeEstimateRangeGB`` of an item collection.

    Assumed: CAP-407, the whole gigabytes around the size.

    >>> collection_range_gb(0), collection_range_gb(3 * 2**30)
    ([0.0, 1.0], [3.0, 4.0])
    """
    low = float(size_bytes // limits.GIB)
    return [low, low + 1.0]


def partition_count(
    *,
    provisioned: tuple[int, int] | None = None,
    warm: tuple[int, int] | None = None,
    size_bytes: int = 0,
    partition_bytes: int = limits.PARTITION_BYTES,
    on_demand_partitions: int = limits.ON_DEMAND_PARTITIONS,
) -> int:
    """Return how many partitions a table or index needs.

    Args:
        provisioned: Read and write units per second, or None on demand.
        warm: Warm read and write throughput; on demand it defaults to that of a new table.
        size_bytes: Billed bytes held.
        partition_bytes: The bytes that one partition holds.
        on_demand_partitions: How many there are on demand at least.

    Source: CAP-502, provisioned. Assumed: on demand (``Settings.on_demand_partitions``), inferred
    from the documented start rates.

    >>> partition_count(provisioned=(10_000, 1_000)), partition_count()
    (5, 4)
    """
    count = max(1, -(-size_bytes // partition_bytes))
    if provisioned is None:
        count = max(count, on_demand_partitions)
    else:
        count = max(count, _partitions_for_sum(*provisioned))
    return count if warm is None else max(count, partitions_for_warm(*warm))


def on_demand_start(partitions: int) -> tuple[int, int]:
    """Return read and write units per second that a new on-demand table serves at once.

    Source: CAP-509, 12,000 and 4,000. Assumed: that its partitions serve as much, and no more
    (``Settings.on_demand_partitions``, CAP-502).

    >>> on_demand_start(4)
    (12000, 4000)
    """
    return partitions * limits.PARTITION_READ_UNITS, partitions * limits.PARTITION_WRITE_UNITS


def partitions_for_warm(read: int, write: int) -> int:
    """Return the partitions that serve ``read`` and ``write`` units per second at once.

    Assumed: CAP-502, the axes are not added because partition limits are independent.

    >>> partitions_for_warm(30_000, 10_000)
    10
    """
    return max(
        -(-read // limits.PARTITION_READ_UNITS), -(-write // limits.PARTITION_WRITE_UNITS), 1
    )


def _partitions_for_sum(read: int, write: int) -> int:
    """Return ceil(read/3000 + write/1000), in integers."""
    read_limit, write_limit = limits.PARTITION_READ_UNITS, limits.PARTITION_WRITE_UNITS
    return -(-(read * write_limit + write * read_limit) // (read_limit * write_limit))
