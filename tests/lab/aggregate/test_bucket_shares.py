"""How much of a second's demand passes: nobody gives more than there is, and none holds back."""

import numpy as np
import pytest

from emulator.lab.aggregate.bucket_shares import Attempts, fit_shares
from tests.lab.aggregate.test_call_groups import groups

NO_RETRIES = np.zeros((1, 3))


def fitted(calls, available, *, same_second=NO_RETRIES, affordable=1.0, start=None, **changes):
    """Return groups, shares, and what the buckets give for so many first attempts."""
    made = groups(**changes)
    attempts = Attempts(same_second)
    attempts.arriving[0] = calls
    available = np.array([1e18, *available])
    shares = fit_shares(
        made,
        attempts,
        affordable=affordable,
        available=available,
        start=np.ones(5) if start is None else start,
    )
    open_shares = made.open_shares(shares)
    passed = made.passed(open_shares)
    again = made.again(open_shares, passed) * affordable
    total = attempts.by_number(again).sum(axis=0)
    return shares, made.loads(total * passed), available


def test_demand_that_fits_passes_whole():
    shares, _, _ = fitted([10, 10, 10], [1000, 1000, 1000, 1000])
    assert shares.tolist() == [1, 1, 1, 1, 1]


def test_one_short_bucket_passes_the_share_that_it_has():
    """Ten calls ask bucket 4 for two units each, and it has five."""
    shares, loads, _ = fitted([0, 0, 10], [1000, 1000, 1000, 5])
    assert shares[4] == pytest.approx(0.25, rel=0.005)
    assert loads[4] == pytest.approx(5, rel=0.005)


@pytest.mark.parametrize("start", [None, np.full(5, 0.01), np.full(5, 1e-9)])
@pytest.mark.parametrize(
    "available",
    [[20, 1000, 1000, 5], [20, 10, 1000, 1000], [30, 10, 12, 7], [1000, 3, 40, 1000]],
)
def test_no_bucket_gives_more_than_it_has_and_none_keeps_what_is_asked(available, start):
    """Wherever the fitting begins."""
    shares, loads, most = fitted([10, 10, 10], available, start=start)
    assert (loads <= most * 1.01).all()
    short = shares < 0.99
    assert loads[short] == pytest.approx(most[short], rel=0.01)
    assert (shares[~short] <= 1).all()
    assert shares[0] == 1


def test_a_bucket_with_nothing_lets_nothing_pass():
    shares, loads, _ = fitted([10, 10, 10], [1000, 1000, 0, 1000])
    assert (shares[3], loads[3]) == (0, 0)


@pytest.mark.parametrize("affordable", [0.0, 0.5, 1.0])
def test_retries_within_the_second_are_demand_as_well(affordable):
    """A tenth of the first attempts passes; nine tenths ask again, as far as is afforded."""
    again = np.full((1, 3), 1.0)
    shares, loads, _ = fitted(
        [100, 0, 0], [10, 1e6, 1e6, 1e6], same_second=again, affordable=affordable
    )
    share = shares[1]
    attempts = 100 * (1 + (1 - share) * affordable)
    assert loads[1] == pytest.approx(10, rel=0.01)
    assert share * attempts == pytest.approx(10, rel=0.01)


def test_attempts_are_counted_by_their_number():
    """Half of what is refused comes again at once; what is refused for the third time is lost."""
    attempts = Attempts(np.array([[0.5], [0.5]]))
    attempts.arriving[:, 0] = [80, 4, 1]
    # Three quarters of each attempt are refused.
    counted = attempts.by_number(np.array([0.75]))
    assert counted[:, 0].tolist() == [80, 4 + 80 * 0.375, 1 + (4 + 80 * 0.375) * 0.375]
    assert attempts.arriving[:, 0].tolist() == [80, 4, 1]
