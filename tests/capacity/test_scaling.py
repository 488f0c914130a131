"""Target tracking: alarms, cooldowns, delays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.capacity import Scaler, ScalingChange, ScalingPolicy
from emulator.settings import Settings


def scaler(**policy):
    return Scaler(ScalingPolicy(**policy), Settings())


def run(scaler, provisioned, rates, start_s=0, decrease_allowed=True):
    """Report one minute per rate; return the changes and the capacity in the end."""
    changes = []
    for number, rate in enumerate(rates, 1):
        now_s = start_s + number * 60
        change = scaler.on_minute(rate, provisioned, now_s, decrease_allowed=decrease_allowed)
        if change is not None:
            changes.append((now_s, change))
        provisioned = scaler.due(now_s) or provisioned
    return changes, provisioned


def test_two_minutes_above_the_target_scale_out():
    """CAP-904, EX-53."""
    assert run(scaler(), 100, [90, 90, 90, 90]) == ([(120, ScalingChange(129, 240.0))], 129)


def test_fifteen_quiet_minutes_scale_in():
    """CAP-904, EX-54."""
    scaling = scaler()
    _, provisioned = run(scaling, 100, [90, 90, 90, 90])
    changes, provisioned = run(scaling, provisioned, [30] * 17, start_s=240)
    assert changes == [(240 + 900, ScalingChange(43, 240 + 900 + 120.0))]
    assert provisioned == 43


def test_a_spike_of_one_minute_does_nothing():
    """CAP-902."""
    assert run(scaler(), 100, [90, 60, 90, 60, 90]) == ([], 100)


def test_exactly_on_target_does_nothing():
    assert run(scaler(), 100, [70] * 20) == ([], 100)


def test_the_low_alarm_lies_twenty_points_below():
    """CAP-904, low_alarm_offset; never below half of the target."""
    assert run(scaler(), 100, [50] * 15) == ([], 100)
    assert run(scaler(), 100, [49.5] * 15)[0] == [(900, ScalingChange(71, 1020.0))]
    assert run(scaler(target=30), 100, [15] * 15) == ([], 100)
    assert run(scaler(target=30), 100, [14.5] * 15)[0] == [(900, ScalingChange(49, 1020.0))]


def test_the_policy_bounds_both_ways():
    assert run(scaler(maximum=110), 100, [90] * 4) == ([(120, ScalingChange(110, 240.0))], 110)
    assert run(scaler(maximum=100), 100, [90] * 4) == ([], 100)
    assert run(scaler(minimum=40), 100, [1] * 17) == ([(900, ScalingChange(40, 1020.0))], 40)
    assert run(scaler(minimum=100), 100, [1] * 17) == ([], 100)


def test_scale_in_can_be_disabled_or_not_allowed():
    """CAP-903, CAP-618."""
    assert run(scaler(disable_scale_in=True), 100, [1] * 30) == ([], 100)
    assert run(scaler(), 100, [1] * 30, decrease_allowed=False) == ([], 100)


def test_cooldowns_hold_the_next_change_of_their_kind():
    """CAP-903."""
    patient = scaler(scale_out_cooldown=600)
    changes, _ = run(patient, 100, [90] * 4 + [129] * 12)
    assert [at for at, _ in changes] == [120, 240 + 600]
    quiet = scaler(scale_in_cooldown=3600)
    changes, _ = run(quiet, 100, [30] * 17 + [10] * 70)
    assert [at for at, _ in changes] == [900, 1020 + 3600]
    eager = scaler(scale_in_cooldown=3600)
    changes, _ = run(eager, 100, [30] * 17 + [100] * 4)
    assert [at for at, _ in changes] == [900, 1020 + 120]  # out during a scale-in cooldown


def test_one_change_is_pending_at_a_time():
    scaling = scaler()
    changes, _ = run(scaling, 100, [90, 90, 99])
    assert changes == [(120, ScalingChange(129, 240.0))]
    assert scaling.due(239) is None
    assert scaling.due(240) == 129
    assert scaling.due(240) is None


def test_the_delay_is_a_setting():
    """CAP-904, autoscaling_delay."""
    quick = Scaler(ScalingPolicy(), Settings(autoscaling_delay=0))
    assert run(quick, 100, [90, 90])[1] == 129


@given(
    st.lists(st.sampled_from([0.0, 0.0, 0.0, 30.0, 90.0]), max_size=60),
    st.integers(min_value=5, max_value=100),
)
def test_minutes_left_out_are_minutes_without_traffic(rates, provisioned):
    """CAP-614: leaving out idle minutes, while idle, changes no decision."""
    every, some = scaler(), scaler()
    capacity = {every: provisioned, some: provisioned}
    seen: dict[Scaler, list[ScalingChange | None]] = {every: [], some: []}
    for number, rate in enumerate(rates, 1):
        for scaling in (every, some):
            if scaling is some and not rate and scaling.is_idle(capacity[scaling]):
                continue
            now_s, units = number * 60, capacity[scaling]
            seen[scaling].append(scaling.on_minute(rate, units, now_s, decrease_allowed=True))
            capacity[scaling] = scaling.due(now_s) or units
    assert [c for c in seen[every] if c] == [c for c in seen[some] if c]
    assert capacity[every] == capacity[some]


def test_every_minute_left_out_is_a_point_of_the_low_alarm():
    """CAP-902: fourteen minutes that nobody reported and one that was are fifteen."""
    scaling = scaler()
    assert scaling.on_minute(60, 100, 60, decrease_allowed=True) is None
    late = scaling.on_minute(1, 100, 60 + 15 * 60, decrease_allowed=True)
    assert late == ScalingChange(5, 60 + 15 * 60 + 120.0)


def test_one_minute_left_out_too_few_is_no_alarm():
    """CAP-902."""
    scaling = scaler()
    assert scaling.on_minute(60, 100, 60, decrease_allowed=True) is None
    assert scaling.on_minute(1, 100, 60 + 14 * 60, decrease_allowed=True) is None


def test_a_target_may_be_twenty_to_ninety_percent():
    """CAP-901."""
    assert [ScalingPolicy(target=target).target for target in (20, 90)] == [20, 90]


@pytest.mark.parametrize(
    ("provisioned", "policy", "is_idle"),
    [(5, {}, True), (6, {}, False), (6, {"disable_scale_in": True}, True)],
)
def test_only_what_can_still_fall_needs_its_quiet_minutes(provisioned, policy, is_idle):
    """CAP-614."""
    assert scaler(**policy).is_idle(provisioned) is is_idle


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ({"target": 19}, "ScalingPolicy.target must lie between 20 and 90 percent, not 19"),
        ({"minimum": 0}, "ScalingPolicy needs 1 <= minimum <= maximum, not 0 and 40000"),
        (
            {"minimum": 9, "maximum": 8},
            "ScalingPolicy needs 1 <= minimum <= maximum, not 9 and 8",
        ),
    ],
)
def test_an_impossible_policy_is_refused(policy, message):
    """CAP-901."""
    with pytest.raises(ValueError) as caught:
        ScalingPolicy(**policy)
    assert str(caught.value) == message


def test_the_busier_of_the_two_minutes_says_how_much_is_wanted():
    """CAP-904: 95 units at 70 % are 136."""
    assert run(scaler(), 100, [95, 90]) == ([(120, ScalingChange(136, 240.0))], 100)


def test_what_was_known_is_known_again():
    """A scaler that is saved halfway through an alarm decides as the other does."""
    first = scaler()
    assert run(first, 100, [30] * 14)[0] == []
    second = scaler()
    second.restore(first.save())
    assert second.on_minute(30, 100, 900, decrease_allowed=True) == ScalingChange(43, 1020.0)
    third = scaler()
    third.restore(second.save())
    assert third.pending == second.pending


def test_a_range_is_drawn_from_the_seed_for_every_change():
    """CAP2-8: between its ends, the same again with the same seed."""

    def delays_of(seed):
        settings = Settings(autoscaling_delay=(60, 180, 600), seed=seed)
        scaling = Scaler(ScalingPolicy(minimum=5, maximum=10_000), settings, "tab")
        units, now_s, found = 100, 0.0, []
        for _ in range(5):
            change = None
            while change is None:
                now_s += 60
                change = scaling.on_minute(units * 1.0, units, now_s, decrease_allowed=True)
            found.append(change.due_s - now_s)
            now_s = -(-change.due_s // 60) * 60
            units = scaling.due(now_s) or units
        return found

    first = delays_of(1)
    assert first == delays_of(1)
    assert first != delays_of(2)
    assert len(set(first)) == 5
    assert all(60 <= delay <= 600 for delay in first)
