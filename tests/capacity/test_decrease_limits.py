"""Limits on lowering capacity and on switching the billing mode."""

import pytest

from emulator.capacity import Decreases, ModeSwitches
from emulator.service.errors import LimitExceededException

MIDNIGHT = 1_767_225_600  # 2026-01-01T00:00:00Z
HOUR, DAY = 3_600, 24 * 3_600


def lowered(*times):
    history = Decreases()
    for now_s in times:
        history.verify(now_s)
        history.decrease(now_s)
    return history


def test_the_fifth_decrease_within_the_hour_is_refused():
    """CAP-618."""
    history = lowered(*(MIDNIGHT + minute * 60 for minute in range(4)))
    now_s = MIDNIGHT + 10 * 60
    with pytest.raises(LimitExceededException) as caught:
        history.verify(now_s)
    assert caught.value.message == (
        "Subscriber limit exceeded: Provisioned throughput decreases are limited within a given "
        "UTC day. After the first 4 decreases, each subsequent decrease in the same UTC day can be "
        "performed at most once every 3600 seconds. Number of decreases today: 4. Last decrease at "
        "Thursday, January 1, 2026 12:03:00 AM UTC. Next decrease can be made at Thursday, January "
        "1, 2026 1:03:00 AM UTC"
    )
    assert history.today(now_s) == 4


def test_one_decrease_an_hour_makes_27_a_day():
    """CAP-618."""
    history = lowered(*[MIDNIGHT] * 4, *(MIDNIGHT + hour * HOUR for hour in range(1, 24)))
    assert history.today(MIDNIGHT + 23 * HOUR) == 27
    assert not history.is_allowed(MIDNIGHT + DAY - 1)
    assert history.is_allowed(MIDNIGHT + DAY)


def test_a_new_day_begins_at_midnight_utc():
    """CAP-618: the next decrease is an hour away, or tomorrow."""
    late = MIDNIGHT + DAY - 60
    history = lowered(late, late, late, late)
    with pytest.raises(
        LimitExceededException, match=r"at Friday, January 2, 2026 12:00:00 AM UTC$"
    ):
        history.verify(late + 30)
    assert history.is_allowed(late + 60)
    assert history.today(late + 60) == 0


def test_increases_are_unlimited():
    history = Decreases()
    for now_s in range(100):
        history.increase(MIDNIGHT + now_s)
    assert (history.today(MIDNIGHT), history.last_increase_s) == (0, MIDNIGHT + 99)
    assert history.last_decrease_s is None


def test_a_fifth_switch_to_on_demand_in_24_hours_is_refused():
    """CAP-617."""
    switches = ModeSwitches()
    for hour in (0, 13, 14, 15):
        switches.to_on_demand(MIDNIGHT + hour * HOUR)
    with pytest.raises(LimitExceededException) as caught:
        switches.to_on_demand(MIDNIGHT + DAY - 1)
    assert caught.value.message == (
        "Subscriber limit exceeded: Updates to PAY_PER_REQUEST mode are limited to 4 in 24 hours. "
        "Last update at Thursday, January 1, 2026 3:00:00 PM UTC. Next update can be made at "
        "Friday, January 2, 2026 12:00:00 AM UTC"
    )
    switches.to_on_demand(MIDNIGHT + DAY)
    with pytest.raises(LimitExceededException):
        switches.to_on_demand(MIDNIGHT + DAY + 12 * HOUR)


def test_copies_go_their_own_way():
    history = lowered(MIDNIGHT, MIDNIGHT, MIDNIGHT)
    history.increase(MIDNIGHT + 1)
    twin = history.copy()
    twin.decrease(MIDNIGHT + 2)
    assert (twin.today(MIDNIGHT), history.today(MIDNIGHT)) == (4, 3)
    assert (twin.last_increase_s, history.last_decrease_s) == (MIDNIGHT + 1, MIDNIGHT)
    switches = ModeSwitches()
    for _ in range(3):
        switches.to_on_demand(MIDNIGHT)
    other = switches.copy()
    other.to_on_demand(MIDNIGHT)
    switches.to_on_demand(MIDNIGHT)
    with pytest.raises(LimitExceededException):
        other.to_on_demand(MIDNIGHT)


def test_a_decrease_in_the_first_second_of_all_is_told():
    """CAP-618: a clock may begin in 1970."""
    with pytest.raises(LimitExceededException, match=r"at Thursday, January 1, 1970 12:00:00 AM"):
        lowered(0, 0, 0, 0, 1)
