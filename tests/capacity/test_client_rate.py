"""The rate limit of adaptive clients."""

import pytest

from emulator.capacity.client_rate import ClientRate


def drive(rate, per_second, seconds, allowed, start=0.0):
    """Send evenly through a limiter to a service that allows so many a second; return sent."""
    sent = refused = 0
    due = start
    taken = {}
    for number in range(int(per_second * seconds)):
        arrival = start + number / per_second
        due = max(due, arrival)
        while (delay := rate.wait(due)) > 0 and due <= start + seconds:
            due += delay + 1e-9
        if due > start + seconds:
            break
        second = int(due)
        taken[second] = taken.get(second, 0) + 1
        throttled = taken[second] > allowed
        refused += throttled
        sent += 1
        rate.answered(due, throttled=throttled)
    return sent, refused


def test_nothing_waits_before_the_first_throttled_answer():
    """CAP-708."""
    rate = ClientRate()

    assert drive(rate, per_second=100, seconds=10, allowed=1_000) == (1_000, 0)
    assert rate.limit is None


def test_a_throttled_client_slows_down_to_what_is_served():
    """CAP-708: a fraction of the refusals of a client without a limit, most of the service used."""
    rate = ClientRate()

    sent, refused = drive(rate, per_second=100, seconds=120, allowed=20)

    assert refused < 0.35 * sent
    assert sent - refused > 0.6 * 20 * 120
    assert sent < 0.4 * 100 * 120


def test_throttling_takes_three_tenths_of_the_rate():
    rate = ClientRate()
    for number in range(100):
        rate.answered(number / 50, throttled=False)
    rate.answered(2.0, throttled=True)
    first = rate.limit
    rate.answered(2.0, throttled=True)

    assert rate.limit == pytest.approx(0.7 * first)


def test_the_rate_comes_back_after_throttling():
    rate = ClientRate()
    for number in range(100):
        rate.answered(number / 50, throttled=False)
    rate.answered(2.0, throttled=True)
    low = rate.limit
    for number in range(1, 400):
        rate.answered(2.0 + number / 50, throttled=False)

    assert rate.limit > 1.3 * low


def test_the_rate_never_falls_to_nothing():
    rate = ClientRate()
    for number in range(100):
        rate.answered(number / 100, throttled=True)

    assert rate.limit == 0.5


def test_the_rate_is_what_was_counted_in_a_step_of_half_a_second():
    """CAP-708: smoothed by four fifths."""
    rate = ClientRate()
    for number in range(5):
        rate.answered(number / 10, throttled=False)
    rate.answered(0.5, throttled=True)

    assert rate.limit == pytest.approx(0.7 * 0.8 * 6 / 0.5)


def test_the_curve_begins_where_throttling_has_left_the_rate():
    """CAP-708."""
    rate = ClientRate()
    for number in range(100):
        rate.answered(number / 50, throttled=False)
    rate.answered(2.0, throttled=True)
    low = rate.limit
    rate.answered(2.0, throttled=False)
    assert rate.limit == pytest.approx(low)


def test_a_caller_who_waits_and_gives_up_has_taken_nothing():
    """CAP-708: before, each of them lengthened the wait of those who came later."""
    rate = ClientRate()
    rate.answered(0.0, throttled=True)

    assert {rate.wait(0.0) for _ in range(1_000)} == {1.0 / rate.limit}
    assert rate.wait(2.0) == 0.0
