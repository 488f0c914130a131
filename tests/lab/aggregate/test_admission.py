"""The arithmetic of admission, against plain loops over rows and columns."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from emulator.lab.aggregate import admission
from emulator.lab.aggregate.admission import Crowd, RowBehaviour
from emulator.lab.aggregate.buckets import PLENTY
from emulator.lab.aggregate.retries import RowPolicies

BUCKETS = 5
#: Three rows with three columns; the second meets two buckets only, and 0 is always open.
ROWS = np.array([[1, 2, 3], [1, 0, 3], [4, 2, 3]])
UNITS = np.array([[1.0, 2.0, 0.5], [3.0, 0.0, 1.5], [2.0, 1.0, 4.0]])
shares = arrays(np.float64, BUCKETS, elements=st.sampled_from([0.0, 0.25, 0.5, 1.0]))
NO_RETRIES = np.zeros((1, 3))


def policies(same_second):
    """Return policies that retry within the second with these chances, and later never."""
    chances = np.asarray(same_second)
    return RowPolicies(same_second=chances, may_retry=(chances > 0) * 1.0, later=chances[:0])


def crowd(*, short=(1, 2, 3, 4), worlds=(0, 0, 0, 0, 0), **changes):
    """Return the rows as those that meet short buckets; changes are by row and column."""
    members = {
        "buckets": ROWS,
        "units": UNITS,
        "chance": np.ones((3, 3)),
        "final": np.zeros((3, 3), dtype=np.bool_),
        "patience": np.ones(3),
        "actions": np.ones(3),
        "is_partition": np.zeros((3, 3), dtype=np.bool_),
        "pattern": np.zeros(3, dtype=np.int64),
        "world": np.zeros(3, dtype=np.int64),
        "segment": np.zeros(3, dtype=np.int64),
        "shares": np.full(3, 1 / 3),
    } | changes
    rows = SimpleNamespace(**{name: np.asarray(value).T for name, value in members.items()})
    rows.has_final, rows.has_many = bool(rows.final.any()), bool((rows.actions > 1).any())
    is_short = np.isin(np.arange(BUCKETS), short)
    return Crowd(rows, is_short, np.asarray(worlds))


def opened(made, values):
    values = values.copy()
    values[0] = 1.0
    return made.open_shares(values)


def test_a_load_is_calls_times_units_summed_by_bucket():
    calls = np.array([10.0, 1.0, 2.0])
    expected = np.zeros(BUCKETS)
    for row, units, count in zip(ROWS, UNITS, calls, strict=True):
        for bucket, unit in zip(row, units, strict=True):
            expected[bucket] += count * unit
    made = crowd()
    assert made.by_bucket(calls * made.units).tolist() == expected.tolist()


def test_only_rows_that_meet_a_short_bucket_are_looked_at():
    made = crowd(short=(4,))
    assert (made.rows.tolist(), made.columns.tolist()) == ([2], [0])
    assert made.numbers.tolist() == [0, 4]
    assert (made.buckets.tolist(), made.units.tolist()) == ([[1]], [[2.0]])


@given(shares)
def test_a_call_passes_where_all_its_buckets_are_open(values):
    made = crowd()
    open_shares = opened(made, values)
    for row, own, passed in zip(ROWS, open_shares.T, made.passed(open_shares), strict=True):
        expected = [1.0 if bucket == 0 else values[bucket] for bucket in row]
        assert own.tolist() == expected
        assert passed == pytest.approx(np.prod(expected))


def test_a_bucket_refuses_only_calls_that_draw_on_it():
    """CAP-609: an index whose entry does not change cannot hold a write back."""
    made = crowd(chance=np.array([[1.0, 0.5, 0.0]] * 3))
    open_shares = made.open_shares(np.array([1.0, 0.2, 0.2, 0.2, 1.0]))
    assert open_shares[:, 0] == pytest.approx([0.2, 0.6, 1])


def test_a_transaction_passes_if_all_its_actions_do():
    """CAP-611: all or none; three actions pass with the third power of one's chance."""
    made = crowd(actions=np.array([1.0, 3.0, 1.0]))
    half = np.full((3, 3), 0.5)
    assert made.passed(half) == pytest.approx([0.5**3, 0.5**9, 0.5**3])


def test_what_is_refused_comes_again_unless_nobody_is_patient():
    half = np.full((3, 3), 0.5)
    made = crowd(patience=np.array([1.0, 0.0, 1.0]))
    assert made.again(half, made.passed(half)) == pytest.approx([7 / 8, 0, 7 / 8])


def test_what_a_final_bucket_refuses_does_not_come_again():
    """Half is refused for good; of the half that is left, a quarter passes."""
    half = np.full((3, 3), 0.5)
    made = crowd(final=np.array([[True, False, False]] * 3))
    assert made.again(half, made.passed(half)) == pytest.approx([1 / 2 - 1 / 8] * 3)


@given(shares)
def test_every_refusal_has_one_first_bucket(values):
    made = crowd(actions=np.array([1.0, 2.0, 1.0]))
    open_shares = opened(made, values)
    passed = made.passed(open_shares)
    first = made.first_refusals(open_shares, passed)
    assert first.sum(axis=0) == pytest.approx(1 - passed)
    assert (first[open_shares == 1] == 0).all()
    for own, refused in zip(open_shares.T, first.T, strict=True):
        reached = [np.prod(own[:column]) for column in range(3)]
        weights = [before * (1 - share) for before, share in zip(reached, own, strict=True)]
        # In proportion to how often each is the first that is short.
        assert refused * sum(weights) == pytest.approx(np.array(weights) * refused.sum())


def fitted(calls, available, *, same_second=NO_RETRIES, affordable=1.0, start=None, **changes):
    """Return the shares, what the buckets give for so many first attempts, and what they have."""
    made = crowd(**changes)
    arriving = np.zeros((len(same_second) + 1, 3))
    arriving[0] = calls
    room = np.array([PLENTY, *available])
    first = np.ones(len(available)) if start is None else start
    admitted, found = made.admit(
        arriving,
        policies(same_second),
        np.full(3, affordable),
        room,
        np.concatenate([[1.0], first]),
        np.arange(len(room)) > 0,
    )
    loads = made.by_bucket(admitted.total * admitted.passed * made.units)
    return found[1:], loads[1:], room[1:]


def test_demand_that_fits_passes_whole():
    found, _, _ = fitted([10, 10, 10], [1000, 1000, 1000, 1000])
    assert found.tolist() == [1, 1, 1, 1]


def test_one_short_bucket_passes_the_share_that_it_has():
    """Ten calls ask bucket 4 for two units each, and it has five."""
    found, loads, _ = fitted([0, 0, 10], [1000, 1000, 1000, 5])
    assert found[3] == pytest.approx(0.25, rel=0.005)
    assert loads[3] == pytest.approx(5, rel=0.005)


@pytest.mark.parametrize("start", [None, np.full(4, 0.01), np.full(4, 1e-9)])
@pytest.mark.parametrize(
    "available",
    [[20, 1000, 1000, 5], [20, 10, 1000, 1000], [30, 10, 12, 7], [1000, 3, 40, 1000]],
)
def test_no_bucket_gives_more_than_it_has_and_none_keeps_what_is_asked(available, start):
    """Wherever the fitting begins."""
    found, loads, most = fitted([10, 10, 10], available, start=start)
    assert (loads <= most * 1.01).all()
    short = found < 0.99
    assert loads[short] == pytest.approx(most[short], rel=0.01)
    assert (found[~short] <= 1).all()


def test_a_bucket_with_nothing_lets_nothing_pass():
    found, loads, _ = fitted([10, 10, 10], [1000, 1000, 0, 1000])
    assert (found[2], loads[2]) == (0, 0)


@pytest.mark.parametrize("affordable", [0.0, 0.5, 1.0])
def test_retries_within_the_second_are_demand_as_well(affordable):
    """A tenth of the first attempts passes; nine tenths ask again, as far as is afforded."""
    again = np.full((1, 3), 1.0)
    found, loads, _ = fitted(
        [100, 0, 0], [10, 1e6, 1e6, 1e6], same_second=again, affordable=affordable
    )
    attempts = 100 * (1 + (1 - found[0]) * affordable)
    assert loads[0] == pytest.approx(10, rel=0.01)
    assert found[0] * attempts == pytest.approx(10, rel=0.01)


def test_attempts_are_counted_by_their_number():
    """Half of what is refused comes again at once; what is refused for the third time is lost."""
    made = crowd(short=(4,))
    arriving = np.array([[80.0], [4.0], [1.0]])
    admitted, _ = made.admit(
        arriving,
        policies(np.full((2, 1), 0.5)),
        np.ones(1),
        np.array([PLENTY, 0.0]),
        np.ones(2),
        np.array([False, True]),
    )
    # All of each attempt is refused.
    assert admitted.by_number[:, 0].tolist() == [80, 4 + 40, 1 + 22]
    assert arriving[:, 0].tolist() == [80, 4, 1]


def test_a_bucket_belongs_to_the_first_column_it_stands_in():
    """It is corrected once in a round, with those of that column."""
    from emulator.lab.aggregate.admission import _levels

    columns = np.array([[1, 2, 3], [2, 0, 1], [4, 2, 3]]).T
    levels = [np.flatnonzero(level).tolist() for level in _levels(columns, BUCKETS)]
    assert levels == [[1, 2, 4], [3]]


def test_worlds_that_are_close_are_left_where_they_are():
    """The rows of two worlds: each is fitted as if it were alone."""
    rows = np.array([[1, 0, 0], [2, 3, 0], [2, 3, 0]])
    alone = fitted([10, 0, 0], [4.0, 1e9, 1e9], buckets=rows, short=(1, 2, 3))[0][0]
    both = fitted([10, 9, 9], [4.0, 3, 2], buckets=rows, short=(1, 2, 3), worlds=(0, 0, 1, 1, 1))
    assert both[0][0] == alone


def test_a_short_bucket_that_no_call_meets_has_a_load_of_nothing():
    made = crowd(buckets=np.array([[1, 2, 0]] * 3), short=(1, 2, 3, 4))
    loads = made.by_bucket(np.ones_like(made.units))
    assert loads.tolist() == [0.0, 3.0, 3.0, 0.0, 0.0]


def test_amounts_of_rows_are_summed_by_world_and_pattern():
    """Whatever else the amounts are counted by."""
    made = crowd(segment=np.array([0, 0, 4]))
    assert made.distinct_segments.tolist() == [0, 4]
    assert made.by_segment(np.array([1.0, 2.0, 4.0])).tolist() == [3.0, 4.0]
    assert made.by_segment(np.array([[1.0, 2.0, 4.0]] * 2)).tolist() == [[3.0, 4.0]] * 2


def test_only_the_patient_come_again_where_some_refusals_are_final():
    half = np.full((3, 3), 0.5)
    made = crowd(final=np.array([[True, False, False]] * 3), patience=np.array([1.0, 0.5, 0.0]))
    again = made.again(half, made.passed(half))
    assert again.tolist() == pytest.approx([3 / 8, 3 / 16, 0])


def test_a_call_takes_units_of_short_buckets_only():
    made = crowd(short=(1, 2))
    assert (made.units > 0).tolist() == (made.buckets > 0).tolist()


def test_a_bucket_may_be_short_of_less_than_a_unit():
    """Half a unit is asked for, and a tenth is there."""
    found, loads, _ = fitted([0, 0, 0.25], [1000, 1000, 1000, 0.1])
    assert (found[3], loads[3]) == (pytest.approx(0.2, rel=0.005), pytest.approx(0.1, rel=0.005))


@pytest.mark.parametrize("room", [0.0, 6.0])
def test_of_a_batch_less_passes_than_of_single_calls(room):
    """CAP-610: and nothing at all, if the bucket has nothing."""
    one = np.zeros(2, dtype=np.int64)
    made = crowd(
        short=(1,),
        buckets=[[1], [1]],
        units=np.ones((2, 1)),
        chance=np.ones((2, 1)),
        final=np.zeros((2, 1), dtype=np.bool_),
        is_partition=np.zeros((2, 1), dtype=np.bool_),
        patience=np.ones(2),
        actions=np.ones(2),
        pattern=[0, 1],
        world=one,
        segment=[0, 1],
        shares=np.ones(2),
    )
    none = np.zeros(2)
    behaviour = RowBehaviour(
        none, np.ones(2), np.array([1.0, 10.0]), none > 0, none, np.zeros((1, 2))
    )

    admitted, found = made.admit(
        np.full((1, 2), 10.0),
        policies(np.zeros((0, 2))),
        1.0,
        np.array([PLENTY, room]),
        np.ones(2),
        np.array([False, True]),
        behaviour,
    )

    single, batch = admitted.first_passed
    assert admitted.accepted.sum() == pytest.approx(room, rel=0.01)
    assert single == found[1]
    assert (batch < 0.6 * single) == (room > 0)
    # Nothing of a batch passes exactly if its first item does not.
    assert admitted.unanswered[0].tolist() == pytest.approx([1 - single] * 2)


def admitted_share(made, calls, room, short):
    """Return the share that each bucket lets pass of so many calls by row."""
    arriving = np.zeros((2, 3))
    arriving[0] = calls
    room = np.array([PLENTY, *room])
    start = np.full(len(room), 0.5)
    return made.admit(
        arriving, policies(NO_RETRIES), 1.0, room, start, np.isin([0, 1, 2, 3, 4], short)
    )


def test_a_bucket_that_was_short_and_is_no_more_is_open_to_all():
    """A crowd serves for many seconds; only what is short in this one refuses."""
    _, found = admitted_share(crowd(), [10, 10, 10], [1000, 1000, 1000, 5], [4])
    assert found[:4].tolist() == [1, 1, 1, 1]
    assert found[4] == pytest.approx(0.25, rel=0.005)


def test_a_second_like_the_one_before_has_its_answer_and_another_has_its_own():
    made = crowd()
    asked = [10, 10, 10], [1000, 1000, 1000, 5], [4]
    before = admitted_share(made, *asked)
    assert admitted_share(made, *asked) is before
    for other in (
        ([10, 10, 11], asked[1], asked[2]),
        (asked[0], [1000, 1000, 1000, 6], asked[2]),
        (asked[0], asked[1], [3, 4]),
    ):
        made = crowd()
        assert admitted_share(made, *asked) is not admitted_share(made, *other)
        assert (
            admitted_share(made, *other)[1].tolist() == admitted_share(crowd(), *other)[1].tolist()
        )


# How the shares are fitted: what a correction learns from the one before

ROOM = np.array([1.0, 6.0, 6.0, 6.0])


def corrected(growth, rounds, *, start=0.9):
    """Return the shares after some corrections, where a load grows with a power of the share.

    The first two are of the level, the first and the last still move.
    """
    numbers = np.arange(len(ROOM))
    steps = admission._Steps(np.isin(numbers, [1, 2]), np.log(ROOM))
    found = np.full(len(ROOM), start)
    for _ in range(rounds):
        found = steps.correct(found, 10 * found**growth, np.isin(numbers, [1, 3]))
    return found


@pytest.mark.parametrize("growth", [1.0, 0.8, 0.5, 0.3])
def test_the_second_correction_knows_from_the_first_how_a_load_grows(growth):
    """Whoever is refused less comes back less, so a load grows less than its share does."""
    wanted = 0.6 ** (1 / growth)  # the share at which the load is the room
    assert corrected(growth, 2)[1] == pytest.approx(max(wanted, 1e-6), rel=1e-9)


def test_a_small_correction_teaches_as_well():
    """Of one that moved a share by a thousandth the next one still learns."""
    assert corrected(0.5, 2, start=0.36 * 1.002)[1] == pytest.approx(0.36, rel=1e-9)


def test_a_bucket_that_nobody_asked_is_opened():
    steps = admission._Steps(np.array([True]), np.log([0.5]))
    found = steps.correct(np.array([1e-6]), np.array([0.0]), np.array([True]))
    assert found.tolist() == [1.0]


def test_a_load_that_hardly_grows_is_not_chased_further_than_four_times():
    """The bounds of what is learned keep one odd second from throwing the shares away."""
    first, second = corrected(0.1, 1)[1], corrected(0.1, 2)[1]
    missing = np.log(6.0) - np.log(10 * first**0.1)
    assert np.log(second / first) == pytest.approx(4 * missing)


def test_a_load_that_grows_faster_than_its_share_is_taken_to_grow_with_it():
    first, second = corrected(2.0, 1)[1], corrected(2.0, 2)[1]
    missing = np.log(6.0) - np.log(10 * first**2)
    assert np.log(second / first) == pytest.approx(missing)


def test_only_buckets_of_the_level_that_still_move_are_corrected():
    assert (corrected(1.0, 1) != 0.9).tolist() == [False, True, False, False]


def test_fitting_goes_on_while_a_world_moves_and_ends_when_none_does(monkeypatch):
    """A share that moved by less than one part in five hundred is close enough."""
    made = crowd(short=(4,))
    rounds = []
    correct = admission._Steps.correct

    def counted(self, values, loads, moves):
        found = correct(self, values, loads, moves)
        rounds.append(float(found[-1]))
        return found

    monkeypatch.setattr(admission._Steps, "correct", counted)
    arriving = np.array([[20.0], [0.0]])
    room, is_short = np.array([PLENTY, 5.0]), np.array([False, True])
    made.admit(arriving, policies([[0.5]]), 1.0, room, np.array([1.0, 0.9]), is_short)
    moved = np.abs(np.diff([0.9, *rounds])) / rounds
    assert (moved[:-1] > admission._CLOSE).all()
    assert moved[-1] <= admission._CLOSE
