"""The arithmetic of admission, against plain loops over rows and columns."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from emulator.lab.world.admission import Batches, Rows, admit, decays, passed_together
from emulator.lab.world.limits import PLENTY
from emulator.lab.world.retries import RowPolicies

BUCKETS = 5
#: Three rows with three columns; the second meets two buckets only, and 0 is always open.
MET = np.array([[1, 2, 3], [1, 0, 3], [4, 2, 3]])
UNITS = np.array([[1.0, 2.0, 0.5], [3.0, 0.0, 1.5], [2.0, 1.0, 4.0]])
shares = arrays(np.float64, BUCKETS, elements=st.sampled_from([0.0, 0.25, 0.5, 1.0]))


def rows_of(met=MET, units=UNITS, **changes):
    """Return rows each column of which is of another table or index; by row and column."""
    met, units = np.asarray(met), np.asarray(units, dtype=float)
    count, columns = met.shape
    members = {
        "chance": np.ones(met.shape),
        "final": np.zeros(met.shape, dtype=np.bool_),
        "is_partition": met > 0,
        "owners": np.where(met > 0, np.arange(columns), -1),
        "levels": np.zeros(int(met.max()) + 1, dtype=np.int64),
        "patience": np.ones(count),
        "actions": np.ones(count),
        "patterns": np.zeros(count, dtype=np.int64),
        "worlds": np.zeros(count, dtype=np.int64),
        "shares": np.full(count, 1 / count),
        "batches": None,
    } | changes
    wide = {name: np.asarray(members.pop(name)).T for name in ("chance", "final", "is_partition")}
    return Rows(
        buckets=met.T, units=units.T, owners=np.asarray(members.pop("owners")).T, **wide, **members
    )


def nest(**changes):
    """Return rows of three partitions of a table in an account: limits that lie in each other."""
    met = np.array([[4, 5, 1], [4, 5, 2], [4, 5, 3]])
    return rows_of(
        met,
        np.array([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [1.0, 1.0, 1.0]]),
        **{
            "owners": np.zeros_like(met),
            "is_partition": np.array([[False, False, True]] * 3),
            "levels": np.array([0, 0, 0, 0, 1, 2]),
        }
        | changes,
    )


def policies(same_second):
    """Return policies that retry within the second with these chances, and later never."""
    chances = np.asarray(same_second, dtype=float)
    return RowPolicies(same_second=chances, may_retry=(chances > 0) * 1.0)


def admitted(rows, calls, room, *, same_second=0.0, affordable=1.0, start=None):
    """Return what becomes of so many first attempts, the shares, and the loads of buckets."""
    room = np.array([PLENTY, *room], dtype=float)
    arriving = np.zeros((2, len(rows)))
    arriving[0] = calls
    short = rows.loads(arriving[0], len(room)) > room
    first = np.ones(len(room)) if start is None else np.full(len(room), start)
    own = policies(np.full((1, len(rows)), same_second))
    found, opened = admit(rows, arriving, own, affordable, room, first, short)
    return found, opened, rows.loads(found.accepted, len(room))


def test_a_load_is_calls_times_units_summed_by_bucket():
    calls = np.array([10.0, 1.0, 2.0])
    expected = np.zeros(BUCKETS)
    for met, units, count in zip(MET, UNITS, calls, strict=True):
        for bucket, unit in zip(met, units, strict=True):
            expected[bucket] += count * unit
    assert rows_of().loads(calls, BUCKETS).tolist() == expected.tolist()


@given(shares)
def test_a_call_passes_where_all_tables_and_indexes_let_it(values):
    """They have no limit in common, so chances multiply."""
    values[0] = 1.0
    rows = rows_of()
    expected = [np.prod(values[met]) for met in MET]
    assert rows.passed(rows.open_columns(values)) == pytest.approx(expected)
    assert rows.passed_by(values) == pytest.approx(expected)


@given(arrays(np.float64, 6, elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])))
def test_of_limits_that_lie_in_each_other_the_closest_decides(values):
    values[0] = 1.0
    rows = nest()
    expected = [min(values[met]) for met in rows.buckets.T]
    assert rows.passed(rows.open_columns(values)) == pytest.approx(expected)
    assert rows.passed_by(values) == pytest.approx(expected)


def test_a_bucket_refuses_only_calls_that_draw_on_it():
    """CAP-609: an index whose entry does not change cannot hold a write back."""
    rows = rows_of(chance=np.array([[1.0, 0.5, 0.0]] * 3))
    opened = rows.open_columns(np.array([1.0, 0.2, 0.2, 0.2, 1.0]))
    assert opened[:, 0] == pytest.approx([0.2, 0.6, 1])


def test_a_transaction_passes_if_all_its_actions_do():
    """CAP-611: all or none; three actions pass with the third power of one's chance."""
    rows = rows_of(actions=np.array([1.0, 3.0, 1.0]))
    assert rows.passed(np.full((3, 3), 0.5)) == pytest.approx([0.5**3, 0.5**9, 0.5**3])


def test_what_is_refused_comes_again_unless_nobody_is_patient():
    half = np.full((3, 3), 0.5)
    rows = rows_of(patience=np.array([1.0, 0.0, 1.0]))
    assert rows.tried_again(half, rows.passed(half)) == pytest.approx([7 / 8, 0, 7 / 8])


def test_what_a_final_bucket_refuses_does_not_come_again():
    """Half is refused for good; of the half that is left, a quarter passes."""
    half = np.full((3, 3), 0.5)
    rows = rows_of(final=np.array([[True, False, False]] * 3), patience=np.array([1.0, 0.5, 0.0]))
    again = rows.tried_again(half, rows.passed(half))
    assert again == pytest.approx([3 / 8, 3 / 16, 0])


@given(shares)
def test_every_refusal_has_one_first_bucket(values):
    values[0] = 1.0
    rows = rows_of(actions=np.array([1.0, 2.0, 1.0]))
    opened = rows.open_columns(values)
    passed = rows.passed(opened)
    first = rows.first_refusals(opened, passed)
    assert first.sum(axis=0) == pytest.approx(1 - passed)
    for own, refused in zip(opened.T, first.T, strict=True):
        reached = [np.prod(own[:column]) for column in range(3)]
        weights = [before * (1 - share) for before, share in zip(reached, own, strict=True)]
        # In proportion to how often each is the first that is short.
        assert refused * sum(weights) == pytest.approx(np.array(weights) * refused.sum())


def test_a_partition_is_hot_from_what_limits_above_it_let_through():
    """CAP2-2: of 10 calls the table lets half pass, and of these the partition half."""
    rows = nest()
    opened = np.array([[0.5] * 3, [1.0] * 3, [0.5] * 3])
    assert rows.heat(np.full(3, 10.0), opened)[2].tolist() == [2.5, 5.0, 2.5]
    assert not rows.heat(np.full(3, 10.0), opened)[:2].any()


# What passes


def test_demand_that_fits_passes_whole():
    found, opened, _ = admitted(rows_of(), [10, 10, 10], [1000] * 4)
    assert opened.tolist() == [1] * 5
    assert found.passed.tolist() == [1] * 3


def test_one_short_bucket_passes_the_share_that_it_has():
    """Ten calls ask bucket 4 for two units each, and it has five."""
    _, opened, loads = admitted(rows_of(), [0, 0, 10], [1000, 1000, 1000, 5])
    assert (opened[4], loads[4]) == (pytest.approx(0.25, rel=0.005), pytest.approx(5, rel=0.005))


def test_a_bucket_may_be_short_of_less_than_a_unit():
    """Half a unit is asked for, and a tenth is there."""
    _, opened, loads = admitted(rows_of(), [0, 0, 0.25], [1000, 1000, 1000, 0.1])
    assert (opened[4], loads[4]) == (pytest.approx(0.2, rel=0.005), pytest.approx(0.1, rel=0.005))


def test_a_bucket_with_nothing_lets_nothing_pass():
    _, opened, loads = admitted(rows_of(), [10, 10, 10], [1000, 1000, 0, 1000])
    assert (opened[3], loads[3]) == (0, 0)


@pytest.mark.parametrize("start", [1.0, 0.01, 1e-9])
@pytest.mark.parametrize(
    "room", [[20, 1000, 1000, 5], [20, 10, 1000, 1000], [30, 10, 12, 7], [1000, 3, 40, 1000]]
)
def test_no_bucket_gives_more_than_it_has_and_none_keeps_what_is_asked(room, start):
    """Wherever the search begins, and whatever else the calls meet."""
    _, opened, loads = admitted(rows_of(), [10, 10, 10], room, start=start)
    room = np.array([PLENTY, *room])
    assert (loads <= room * 1.01).all()
    short = opened < 0.99
    assert loads[short] == pytest.approx(room[short], rel=0.01)


calls = st.floats(0.1, 500.0)


@settings(max_examples=60)
@given(
    st.lists(calls, min_size=3, max_size=3),
    st.lists(st.floats(0.5, 800.0), min_size=5, max_size=5),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from([0.0, 0.5, 1.0]),
)
def test_limits_that_lie_in_each_other_give_what_they_have(asked, room, same_second, affordable):
    """CAP-603: whoever is refused met a bucket that gave all; no bucket gave more."""
    rows = nest()
    found, _, loads = admitted(rows, asked, room, same_second=same_second, affordable=affordable)
    full = loads >= np.array([PLENTY, *room]) * 0.99
    assert (loads <= np.array([PLENTY, *room]) * 1.01).all()
    assert all(full[rows.buckets[:, row]].any() for row in np.flatnonzero(found.passed < 0.999))


@pytest.mark.parametrize("affordable", [0.0, 0.5, 1.0])
def test_retries_within_the_second_are_demand_as_well(affordable):
    """CAP-603: a tenth passes; nine tenths ask again, as far as is afforded."""
    _, opened, loads = admitted(
        rows_of(), [100, 0, 0], [10, 1e6, 1e6, 1e6], same_second=1.0, affordable=affordable
    )
    attempts = 100 * (1 + (1 - opened[1]) * affordable)
    assert loads[1] == pytest.approx(10, rel=0.01)
    assert opened[1] * attempts == pytest.approx(10, rel=0.01)


def test_attempts_are_counted_by_their_number():
    """Half of what is refused comes again at once; what is refused for the third time is lost."""
    rows = rows_of([[1]], [[1.0]])
    arriving = np.array([[80.0], [4.0], [1.0]])
    own = policies(np.full((2, 1), 0.5))
    room, short = np.array([PLENTY, 0.0]), np.array([False, True])
    found, _ = admit(rows, arriving, own, 1.0, room, np.ones(2), short)
    # All of each attempt is refused.
    assert found.by_number[:, 0].tolist() == [80, 4 + 40, 1 + 22]
    assert arriving[:, 0].tolist() == [80, 4, 1]


def test_worlds_that_are_admitted_together_are_each_as_if_alone():
    """To the last bit: they have no bucket in common."""
    met = np.array([[1, 2], [3, 4], [3, 5]])
    units = np.array([[1.0, 1.0], [1.0, 2.0], [3.0, 1.0]])
    both = rows_of(met, units, worlds=np.array([0, 1, 1]))
    _, together, _ = admitted(both, [10, 9, 9], [4.0, 1e9, 30, 9, 4], same_second=0.5)
    first = rows_of([[1, 2]], [[1.0, 1.0]])
    _, alone, _ = admitted(first, [10], [4.0, 1e9], same_second=0.5)
    assert together[1:3].tolist() == alone[1:].tolist()


# Batches


def single_beside_batch(room):
    """Return what becomes of ten single calls and ten items of batches of ten."""
    batches = Batches(np.array([1.0, 10.0]), np.zeros(2), np.zeros((2, 2)))
    rows = rows_of([[1], [1]], np.ones((2, 1)), patterns=np.array([0, 1]), shares=np.ones(2))
    return admitted(replace(rows, batches=batches), [10.0, 10.0], [room])


@pytest.mark.parametrize("room", [0.0, 6.0])
def test_of_a_batch_less_passes_than_of_single_calls(room):
    """CAP-610: and nothing at all, if the bucket has nothing."""
    found, opened, loads = single_beside_batch(room)
    single, batch = found.passed
    assert loads[1] == pytest.approx(room, rel=0.01)
    assert single == opened[1]
    assert (batch < 0.6 * single) == (room > 0)


BESIDE = ((1.5, 20, 1.0), (7.5, 1, 3.0))
#: What flows in within a second; calls in a second, the items of each, and what an item costs.
MIXES = {
    "batches": (10.0, ((6.0, 5, 1.0),)),
    "batches beside dear calls": (31.0, BESIDE),
    "batches beside dear calls, short": (21.0, BESIDE),
    "batches beside many calls": (40.0, ((6.0, 5, 1.0), (30.0, 1, 1.0))),
    "dear batches": (20.0, ((6.0, 5, 2.0), (3.0, 1, 9.0))),
}


def simulated(room, mix, *, seconds=4_000):
    """Return of each kind how often a first item passes, and the share of items that do."""
    draws = np.random.default_rng(5)
    rates = np.asarray([rate for rate, _, _ in mix])
    count = int(rates.sum() * seconds)
    gaps = draws.exponential(1 / rates.sum(), count)
    kinds = draws.choice(len(mix), count, p=rates / rates.sum())
    level, seen, first, items = 0.0, [0] * len(mix), [0] * len(mix), [0] * len(mix)
    for gap, kind in zip(gaps.tolist(), kinds.tolist(), strict=True):
        level += gap * room
        _, most, cost = mix[kind]
        done = 0
        while done < most and level >= 1:
            level -= cost
            done += 1
        seen[kind] += 1
        first[kind] += done > 0
        items[kind] += done
    return [
        (began / all_of, done / all_of / most)
        for began, done, all_of, (_, most, _) in zip(first, items, seen, mix, strict=True)
    ]


@pytest.mark.parametrize(("room", "mix"), MIXES.values(), ids=MIXES)
def test_batches_and_single_calls_pass_as_often_as_the_law_says(room, mix):
    """CAP-603, CAP-610: a first item passes like any call, the next ones if there is more."""
    rates, items, costs = (np.asarray(column, dtype=float) for column in zip(*mix, strict=True))
    bucket = np.zeros(len(mix), dtype=np.int64)
    own = decays(rates, items * costs, bucket, np.asarray([room]))[0]
    parts = passed_together(items, own * costs)
    first = room / (rates * items * costs * parts).sum()

    for part, (began, done) in zip(parts, simulated(room, mix), strict=True):
        assert began == pytest.approx(first, abs=0.02)
        assert done == pytest.approx(first * part, abs=0.02)


def test_a_bucket_that_is_not_short_holds_more_than_any_batch_takes():
    """CAP-610."""
    own = decays(np.ones(1), np.full(1, 5.0), np.zeros(1, dtype=np.int64), np.full(1, 9.0))
    assert passed_together(np.full(1, 5.0), own)[0] == pytest.approx(1, abs=0.02)
