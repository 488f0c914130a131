"""Pricing formulas: sections 1 to 5 of the capacity rules and their worked examples."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.capacity import EVENTUAL, STRONG, TRANSACTIONAL, units

KB = 1024
MB = 1024 * KB
GB = 1024 * MB

sizes = st.integers(min_value=0, max_value=400 * KB)
maybe_sizes = st.none() | sizes


@pytest.mark.parametrize(
    ("size", "strong", "eventual", "transactional"),
    [
        pytest.param(3_500, 1, 0.5, 2, id="EX-11"),
        pytest.param(20 * KB, 5, 2.5, 10, id="EX-12"),
        pytest.param(0, 1, 0.5, 2, id="EX-13"),
        pytest.param(4 * KB, 1, 0.5, 2, id="a full block"),
        pytest.param(4 * KB + 1, 2, 1.0, 4, id="one byte more"),
    ],
)
def test_reading_one_item(size, strong, eventual, transactional):
    """CAP-201, CAP-203."""
    price = units.read_units(size)
    assert (price * STRONG, price * EVENTUAL, price * TRANSACTIONAL) == (
        strong,
        eventual,
        transactional,
    )


def test_a_batch_rounds_each_item():
    """CAP-202, EX-14: 1.5 KB, 6.5 KB and a missing key."""
    price = sum(map(units.read_units, (1_536, 6_656, 0)))
    assert (price * STRONG, price * EVENTUAL) == (4, 2.0)


def test_three_small_items_in_a_transaction():
    """CAP-203, EX-25."""
    assert sum(units.read_units(500) * TRANSACTIONAL for _ in range(3)) == 6


@pytest.mark.parametrize(
    ("bytes_per_partition", "strong", "eventual"),
    [
        pytest.param([41_779], 11, 5.5, id="EX-15 and EX-17: filters change nothing"),
        pytest.param([1_500 * 64], 24, 12.0, id="EX-16"),
        pytest.param([0], 1, 0.5, id="EX-18"),
        pytest.param([1_007 * 1_042], 257, 128.5, id="EX-19"),
        pytest.param([0, 0, 0, 0], 4, 2.0, id="EX-21"),
        pytest.param([8 * 2_000], 4, 2.0, id="EX-22"),
    ],
)
def test_a_page_is_rounded_once_per_partition(bytes_per_partition, strong, eventual):
    """CAP-204, CAP-205, CAP-212."""
    assert sum(units.page_units(size, STRONG) for size in bytes_per_partition) == strong
    assert sum(units.page_units(size, EVENTUAL) for size in bytes_per_partition) == eventual


@pytest.mark.parametrize(
    ("base_sizes", "factor", "expected"),
    [
        pytest.param([300] * 4, EVENTUAL, 2.0, id="EX-23"),
        pytest.param([9 * KB] * 3, EVENTUAL, 4.5, id="EX-24 EC"),
        pytest.param([9 * KB] * 3, STRONG, 9, id="EX-24 SC"),
        pytest.param([], EVENTUAL, 0, id="nothing found, nothing fetched"),
    ],
)
def test_a_local_index_fetch_is_rounded_per_item(base_sizes, factor, expected):
    """CAP-210."""
    assert units.fetch_units(base_sizes, factor) == expected


def test_a_page_with_fetches_is_measured_in_whole_blocks():
    """CAP-210."""
    assert [units.whole_blocks(size) for size in (800, 300, 4097)] == [4096, 4096, 8192]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, 1_024, 1, id="EX-8"),
        pytest.param(None, 1_025, 2, id="EX-8, one byte more"),
        pytest.param(None, 10 * KB, 10, id="EX-26"),
        pytest.param(3 * KB, 100, 3, id="EX-27 put"),
        pytest.param(2_017, 117, 2, id="EX-27 update"),
        pytest.param(1_638, None, 2, id="EX-28"),
        pytest.param(None, None, 1, id="EX-28 missing"),
        pytest.param(5 * KB, 5 * KB, 5, id="EX-29"),
        pytest.param(None, 3_584, 4, id="EX-30"),
        pytest.param(9_830, 9_830, 10, id="EX-42 counter beside static data"),
        pytest.param(102, 102, 1, id="EX-42 counter alone"),
    ],
)
def test_the_table_arm_is_the_larger_image(old, new, expected):
    """CAP-301, CAP-302, CAP-304."""
    assert units.table_arm(old, new) == expected


def test_a_vertical_split_saves_writes_and_reads():
    """EX-42."""
    whole, static, counter = 9_830, 9_728, 102
    assert units.read_units(whole) == 3
    assert units.read_units(counter) == 1
    assert units.read_units(static) + units.read_units(counter) == 4


@pytest.mark.parametrize(
    ("arms", "expected"),
    [
        pytest.param([units.table_arm(None, 500)] * 3, 6, id="EX-37"),
        pytest.param([units.table_arm(3 * KB, 3 * KB)], 6, id="EX-39"),
        pytest.param([units.table_arm(None, None)], 2, id="EX-39 missing"),
        pytest.param([units.table_arm(9 * KB, None)], 18, id="EX-40"),
    ],
)
def test_a_transaction_doubles_the_table_arm(arms, expected):
    """CAP-305."""
    assert sum(TRANSACTIONAL * arm for arm in arms) == expected


def test_a_transaction_does_not_double_index_arms():
    """CAP-306, EX-38: one small put held by a global and a local index."""
    inserted = units.index_arm(None, 200, moved=False, identical=False)
    assert TRANSACTIONAL * units.table_arm(None, 200) + 2 * inserted == 4


def test_a_replay_reads_the_images_of_the_first_call():
    """CAP-307, EX-40."""
    assert units.replay_units([(9 * KB, None)]) == 6
    assert units.replay_units([(None, None), (100, 5_000)]) == 2 + 4


def test_failed_conditions_are_charged():
    """CAP-303, EX-41."""
    assert units.failed_put_units(300 * KB, 310 * KB) == 310
    assert units.failed_put_units(310 * KB, 300 * KB) == 310
    assert units.failed_put_units(None, 10) == 1
    assert units.failed_condition_units(None) == 1
    assert units.failed_condition_units(3_000) == 3


@pytest.mark.parametrize(
    ("before", "after", "moved", "identical", "expected"),
    [
        pytest.param(None, None, False, False, 0, id="EX-32 sparse"),
        pytest.param(None, 18, False, False, 1, id="EX-9"),
        pytest.param(3_017, None, False, False, 3, id="EX-36"),
        pytest.param(5 * KB, 5 * KB, False, True, 0, id="EX-29"),
        pytest.param(900, 2_000, False, False, 2, id="in place, grown"),
        pytest.param(2_000, 900, False, False, 2, id="in place, shrunk"),
        pytest.param(1_517, 1_517, True, False, 4, id="EX-34"),
        pytest.param(3_017, 18, True, False, 4, id="EX-35"),
    ],
)
def test_the_index_arm(before, after, moved, identical, expected):
    """CAP-309."""
    assert units.index_arm(before, after, moved=moved, identical=identical) == expected


def test_one_insert_into_three_indexes_is_four_writes():
    """CAP-310, EX-31; EX-9 with one index and a larger item; EX-33."""
    entry = units.index_arm(None, 100, moved=False, identical=False)
    assert units.table_arm(None, 1_000) + 3 * entry == 4
    assert units.table_arm(None, 3_023) + entry == 4
    unchanged = units.index_arm(80, 80, moved=False, identical=True)
    assert units.table_arm(900, 900) + units.index_arm(900, 900, moved=False, identical=False) == 2
    assert unchanged == 0


def test_stored_bytes_carry_an_overhead():
    """CAP-110, EX-10."""
    assert units.billed_bytes(500) == 600
    assert units.billed_bytes(500 * 1_000_000, items=1_000_000) == 600_000_000


@pytest.mark.parametrize(
    ("size", "expected"),
    [(0, [0.0, 1.0]), (GB - 1, [0.0, 1.0]), (GB, [1.0, 2.0]), (9 * GB + 5, [9.0, 10.0])],
)
def test_the_collection_size_is_estimated_in_whole_gigabytes(size, expected):
    """CAP-407."""
    assert units.collection_range_gb(size) == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param({"provisioned": (1_000, 500)}, 1, id="EX-44 1000/500"),
        pytest.param({"provisioned": (1_000, 1_000)}, 2, id="EX-44 1000/1000"),
        pytest.param({"provisioned": (10_000, 1_000)}, 5, id="EX-44 10000/1000"),
        pytest.param({"provisioned": (1, 1), "size_bytes": 25 * GB}, 3, id="EX-44 25 GB"),
        pytest.param({}, 4, id="EX-44 new on demand"),
        pytest.param({"on_demand_partitions": 7}, 7, id="new on demand, another start"),
        pytest.param({"warm": (30_000, 10_000)}, 10, id="EX-44 warm"),
        pytest.param({"provisioned": (1_000, 500), "warm": (12_000, 1)}, 4, id="both formulas"),
        pytest.param({"size_bytes": 100, "partition_bytes": 10}, 10, id="small partitions"),
    ],
)
def test_the_partition_count(arguments, expected):
    """CAP-502."""
    assert units.partition_count(**arguments) == expected


def test_one_partition_sustains_600_strong_reads_of_20_kb():
    """EX-12."""
    assert units.partition_count(provisioned=(600 * units.read_units(20 * KB), 0)) == 1
    assert units.partition_count(provisioned=(601 * units.read_units(20 * KB), 0)) == 2


@given(maybe_sizes, maybe_sizes)
def test_the_table_arm_is_the_maximum_of_both_arms(old, new):
    """CAP-301, word for word."""
    arms = [units.write_units(size) for size in (old, new) if size is not None]
    assert units.table_arm(old, new) == max([*arms, 1])


@given(sizes)
def test_rounding_loss_is_what_was_paid_and_not_used(size):
    assert units.read_units(size) * 4096 == size + units.read_loss(size)
    assert units.write_units(size) * 1024 == size + units.write_loss(size)
    assert 0 <= units.read_loss(size) <= 4096
    assert 0 <= units.write_loss(size) <= 1024


@pytest.mark.parametrize(
    ("read", "write", "count"),
    [(0, 0, 1), (3_000, 1_000, 1), (3_001, 1_000, 2), (3_000, 1_001, 2), (12_000, 5_000, 5)],
)
def test_warm_throughput_takes_one_partition_for_each_share(read, write, count):
    """CAP-502, CAP-509."""
    assert units.partitions_for_warm(read, write) == count
