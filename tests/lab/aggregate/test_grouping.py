"""Groupings: what a split changes in place is what grouping all keys anew would give."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from emulator.lab import Capacity, Design, Field, Index, Pattern, Preload, Workload
from emulator.lab.aggregate.call_rows import CallRows
from emulator.lab.aggregate.grouping import Grouping, Pieces, _distinct, _numbered
from emulator.lab.aggregate.key_groups import KeyGroups
from emulator.lab.aggregate.pattern_model import PatternKeys
from emulator.lab.planning.layout import Layout
from tests.lab.aggregate.worlds import played

numbers = st.lists(st.integers(min_value=0, max_value=5_000), min_size=1, max_size=40)


@given(numbers)
def test_distinct_values_are_numbered_in_ascending_order(values):
    distinct, among = _numbered(np.asarray(values))

    wanted, inverse = np.unique(values, return_inverse=True)
    assert distinct.tolist() == wanted.tolist()
    assert among.tolist() == inverse.tolist()


@given(st.lists(st.tuples(st.integers(0, 900), st.integers(0, 3)), min_size=1, max_size=40))
def test_combinations_are_told_apart_whether_they_are_counted_or_sorted(pairs):
    few, many = (
        _distinct([np.asarray(own) for own in zip(*rows, strict=True)])
        for rows in (pairs, pairs * 300)
    )

    for combinations, among in (few, many):
        assert list(zip(*(own.tolist() for own in combinations), strict=True)) == sorted(set(pairs))
        assert [sorted(set(pairs))[number] for number in among[: len(pairs)]] == pairs


def table_and_index():
    """Return a design whose table and index both split, for heat and on demand."""
    index = Index("bySite", partition="{site}", sort="{deviceId}")
    design = Design(
        "d",
        partition="{deviceId}",
        sort="{timestamp}",
        indexes=[index],
        capacity=Capacity(read=500, write=9_000),
    )
    put = Pattern("event", "PutItem", rate=7_000)
    workload = Workload(
        fields=[Field("deviceId", count=60), Field("site", count=9)],
        patterns=[put, Pattern("read", "GetItem", by=("deviceId",), rate=50)],
        duration=600,
        warm_up=0,
        preload=[Preload(pattern="event", items=1_000)],
    )
    return design, replace(workload, retry="standard")


def test_rows_that_follow_a_split_are_those_that_would_be_written_anew(monkeypatch):
    """To the last bit: the sums of the rows that stay are not made again."""
    followed, follow = [], CallRows.follow_split

    def state(rows):
        live = [(own.at, own.shares.tolist(), own.only) for own in rows.live]
        columns = (rows.shares, rows.buckets, rows.arm_buckets)
        return [column.tolist() for column in columns], str(live)

    def follow_and_look(rows, world, pattern, moves):
        follow(rows, world, pattern, moves)
        grouping = rows.groupings[world][pattern]
        after = state(rows)
        rows.write(world, pattern)
        assert after == state(rows)
        assert grouping.row_shares.tolist() == grouping.sums(grouping.weights).tolist()
        assert grouping.live.tolist() == sorted(set(grouping.rows.tolist()))
        followed.append(len(moves.new))

    monkeypatch.setattr(CallRows, "follow_split", follow_and_look)
    played(Layout(*table_and_index()), range(2))

    assert max(followed) > 1


def test_pieces_of_a_partition_are_forgotten_when_it_splits():
    groups = KeyGroups({}, np.full(4, 0.25), [()] * 4, None, steady=True, sampled=False)
    grouping = Grouping(PatternKeys(groups, ()), [np.zeros(4, dtype=np.int64)])
    kept = Pieces(np.arange(2), np.array([0.5, 0.5]))
    grouping.pieces |= {(0, slot): kept for slot in range(4)}

    class Halves:
        def child_of(self, placement, groups):
            return groups // 2

    assert grouping.row_of(0, 0) == 0
    grouping.split([0], 0, [1, 2], Halves())

    assert set(grouping.pieces) == {(0, 3)}
    assert [grouping.row_of(0, slot) is None for slot in range(3)] == [True, False, False]
