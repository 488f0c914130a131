"""Time goes forward, within bounds that are judged before anything moves."""

import threading
from decimal import Decimal
from fractions import Fraction

import pytest

from emulator import Emulator, EmulatorError, ManualClock, Settings
from emulator.clock import DEFAULT_START, LATEST
from tests.tables import table

WITH_STREAM = {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}}


@pytest.mark.parametrize(
    "seconds", [1e12, 1e300, 10**400, 10**5_000, LATEST, Fraction(10**20)], ids=lambda _: ""
)
def test_the_clock_cannot_pass_the_last_year(seconds):
    clock = ManualClock()
    with pytest.raises(EmulatorError, match=r"year 9998: advance\(\) takes at most"):
        clock.advance(seconds)
    assert clock.now() == DEFAULT_START


@pytest.mark.parametrize("seconds", [float("inf"), float("nan"), Decimal("Infinity")])
def test_a_step_is_finite(seconds):
    clock = ManualClock()
    with pytest.raises(EmulatorError, match=r"advance\(\) takes a finite number of seconds"):
        clock.advance(seconds)
    assert clock.now() == DEFAULT_START


@pytest.mark.parametrize("seconds", ["x", None, True, [1], b"1", 1j])
def test_a_step_is_a_number(seconds):
    clock = ManualClock()
    with pytest.raises(TypeError, match=r"advance\(\) takes a number of seconds, not "):
        clock.advance(seconds)
    assert clock.now() == DEFAULT_START


@pytest.mark.parametrize("start", [-1, 1e12, LATEST + 1, 10**400])
def test_a_clock_starts_within_its_years(start):
    with pytest.raises(ValueError, match="starts between the years 1970 and 9998"):
        ManualClock(start)


def test_every_kind_of_number_is_a_step():
    clock = ManualClock(0)
    for seconds in (1, 0.5, Decimal("0.25"), Fraction(1, 8)):
        clock.advance(seconds)
    assert clock.now() == 1.875


def test_in_the_last_second_everything_still_works():
    """A stream's label and a table's dates can be written at the last moment there is."""
    clock = ManualClock()
    emu = Emulator(clock=clock)
    clock.advance(LATEST - DEFAULT_START)
    created = emu.call("CreateTable", table("pk", TableName="tab", **WITH_STREAM))
    assert created["TableDescription"]["LatestStreamLabel"] == "9999-01-01T00:00:00.000"
    emu.call("UpdateContinuousBackups", {
        "TableName": "tab",
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
    })  # fmt: skip
    emu.call("DescribeContinuousBackups", {"TableName": "tab"})
    with pytest.raises(EmulatorError):
        clock.advance(1)
    emu.reset()
    assert emu.call("ListTables", {}) == {"TableNames": []}


@pytest.mark.parametrize("seconds", [float("inf"), float("nan"), 1e300, 10**30])
@pytest.mark.parametrize(
    "name",
    ["table_delay", "transaction_seconds", "gsi_lag", "split_delay", "prewarm_doubling_seconds"],
)
def test_nothing_is_put_off_beyond_what_can_be_written(name, seconds):
    expected = f"Settings.{name} (is at most 100 years|must be at least 0)"
    with pytest.raises(ValueError, match=expected):
        Settings(**{name: seconds})


def test_a_range_of_delays_is_bounded_too():
    with pytest.raises(ValueError, match="split_delay"):
        Settings(split_delay=(1, 2, float("inf")))


class Alarm:
    """A timer that is due at some moments, and notes when it rang."""

    def __init__(self, clock, name, rung, *seconds, sleep=0.0):
        self.clock, self.name, self.rung, self.sleep = clock, name, rung, sleep
        self.left = [round(second * 1e9) for second in seconds]

    def due_ns(self):
        return self.left[0] if self.left else None

    def fire(self):
        self.left.pop(0)
        self.rung.append((self.name, self.clock.now()))
        self.clock.sleep(self.sleep)


def test_an_advance_stops_for_timers_in_the_order_of_their_times_and_of_their_coming():
    clock, rung = ManualClock(start=100), []
    clock.attach(Alarm(clock, "a", rung, 101, 105, 120))
    clock.attach(Alarm(clock, "b", rung, 50, 101, 103.5))
    clock.advance(10)
    assert rung == [("b", 100), ("a", 101), ("b", 101), ("b", 103.5), ("a", 105)]
    assert clock.now() == 110


def test_a_timer_may_let_time_pass_and_an_advance_ends_where_it_was_to_end():
    clock, rung = ManualClock(start=0), []
    clock.attach(Alarm(clock, "a", rung, 1, 2, sleep=3))
    clock.advance(10)
    assert (rung, clock.now()) == ([("a", 1), ("a", 2)], 10)
    clock.attach(Alarm(clock, "b", rung, 11, sleep=5))
    clock.advance(2)
    assert clock.now() == 16


def test_timers_are_called_outside_the_lock_and_no_longer_once_detached():
    clock, rung = ManualClock(start=0), []

    class Elsewhere(Alarm):
        def fire(self):
            thread = threading.Thread(target=super().fire)
            thread.start()
            thread.join(5)
            assert not thread.is_alive()

    alarm = Elsewhere(clock, "a", rung, 1, 5, sleep=1)
    clock.attach(alarm)
    clock.advance(3)
    clock.detach(alarm)
    clock.advance(3)
    assert (rung, clock.now()) == ([("a", 1)], 6)
