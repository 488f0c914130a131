"""Partitions tile the key space and hold each position once: CAP-501 to CAP-507."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.storage import HASH_SPACE, PartitionMap
from emulator.storage.partition import Partition

positions = st.tuples(st.integers(0, HASH_SPACE - 1), st.text("ab", max_size=2))


@given(st.integers(1, 20), st.lists(positions, max_size=10), st.lists(positions, max_size=20))
def test_splits_keep_the_tiling(count, cuts, probes):
    partitions = PartitionMap(count)
    for cut in cuts:
        partition = partitions.at(cut)
        if partition.low < cut:
            partitions.split(partition, [cut])
    partitions.check()
    assert partitions.widths() == [partitions.width(partition) for partition in partitions]
    for probe in probes:
        holders = []
        for partition in partitions:
            low, high = partitions.range_of(partition)
            if low <= probe < high:
                holders.append(partition)
        assert holders == [partitions.at(probe)]


def test_initial_slices_are_equal():
    """CAP-503."""
    partitions = PartitionMap(3)
    assert [one.low for one in partitions] == [(number * HASH_SPACE // 3,) for number in range(3)]


@pytest.mark.parametrize(
    ("low", "high", "ids"),
    [
        ((0,), (HASH_SPACE,), [0, 1, 2, 3]),
        ((1, "a"), (2, "a"), [0]),
        ((2**62 - 1,), (2**62,), [0]),
        ((2**62 - 1,), (2**62, "x"), [0, 1]),
        ((2**62,), (2**62, "x"), [1]),
        ((2**62,), (2**62,), [1]),  # an empty range lies where it begins
        ((2**63,), (HASH_SPACE,), [2, 3]),
    ],
)
def test_overlapping_partitions_are_found(low, high, ids):
    assert [one.id for one in PartitionMap(4).between(low, high)] == ids


def test_children_are_new_and_counted_apart():
    """CAP-505: up to three children; CAP-507: never merged."""
    partitions = PartitionMap(1)
    partitions.count((5, "a"), 100, 1)
    (only,) = partitions
    assert (only.size_bytes, only.items) == (200, 1)  # CAP-110: 100 bytes of overhead
    children = partitions.split(only, [(5, "a"), (5, "a", "z")])
    assert [(child.id, child.low, child.items, child.splits) for child in children] == [
        (1, (0,), 0, 1),
        (2, (5, "a"), 0, 1),
        (3, (5, "a", "z"), 0, 1),
    ]
    assert partitions.by_id(0) is None
    assert partitions.by_id(2) is children[1]


def test_a_copy_goes_its_own_way():
    partitions = PartitionMap(2)
    twin = partitions.copy()
    twin.split(twin.at((0,)), [(7,)])
    partitions.count((1,), 10, 1)
    assert (len(partitions), len(twin)) == (2, 3)
    assert [one.items for one in twin] == [0, 0, 0]
    twin.check()


def test_a_map_is_made_again_of_its_partitions():
    partitions = PartitionMap(2)
    partitions.split(partitions.at((5,)), [(10, "a")])
    again = PartitionMap.of(list(partitions), partitions.next_id)
    again.check()
    assert [(one.id, one.low) for one in again] == [(one.id, one.low) for one in partitions]
    assert again.next_id == partitions.next_id
    assert again.at((10, "b")) is again.by_id(again.at((10, "a")).id)


TILING, SHARED = "partitions do not tile the key space", "partitions share an id"


@pytest.mark.parametrize(
    ("parts", "next_id", "fault"),
    [
        ([], 1, TILING),
        ([(0, (1,))], 1, TILING),
        ([(0, (0,)), (1, (7,)), (2, (5,))], 3, TILING),
        ([(0, (0,)), (1, (7,)), (2, (7,))], 3, TILING),
        ([(0, (0,)), (0, (7,))], 2, SHARED),
        ([(0, (0,)), (2, (7,))], 2, SHARED),
        ([(-1, (0,)), (0, (7,))], 2, SHARED),
    ],
)
def test_what_is_no_map_of_partitions_is_refused(parts, next_id, fault):
    """CAP-501: a file may say so."""
    with pytest.raises(ValueError, match=fault):
        PartitionMap.of([Partition(number, low) for number, low in parts], next_id)
