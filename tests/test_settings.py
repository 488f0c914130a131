"""Settings: what each may be."""

import pytest

from emulator import Settings
from emulator.settings import setting_values


@pytest.mark.parametrize("name", ["on_demand_partitions", "split_window_minutes"])
@pytest.mark.parametrize("value", [0, 0.5, 2.0, 10_001, float("inf")])
def test_what_is_counted_is_a_whole_number_above_0(name, value):
    """CAP-502, CAP-505: there is no table without a partition, and no cut without traffic."""
    with pytest.raises(ValueError, match=rf"^Settings.{name} is a whole number from 1 to 10,000, "):
        Settings(**{name: value})


@pytest.mark.parametrize("name", ["isolation_share", "prewarm_doubling_seconds"])
@pytest.mark.parametrize("value", [-0.1, float("nan")])
def test_shares_and_seconds_are_at_least_0(name, value):
    """CAP-506, CAP-509."""
    with pytest.raises(ValueError, match=rf"^Settings.{name} must be at least 0, not {value}$"):
        Settings(**{name: value})


def test_the_constants_of_partitions_can_be_written_on_a_command_line():
    """CAP-502, CAP-505, CAP-506, CAP-509."""
    lines = [
        *("on_demand_partitions=2", "split_window_minutes=3"),
        *("isolation_share=0.4", "prewarm_doubling_seconds=30"),
    ]
    assert setting_values(lines) == {
        "on_demand_partitions": 2,
        "split_window_minutes": 3,
        "isolation_share": 0.4,
        "prewarm_doubling_seconds": 30.0,
    }


def test_policies_that_are_to_be_evaluated_are_refused_with_a_reason():
    """OTH-22: no emulator decides as IAM does; the setting was there until 0.2.0."""
    reason = r"^Settings.enforce_policies is gone since 0\.3\.0, because .* leave the setting out"
    with pytest.raises(ValueError, match=reason):
        Settings(enforce_policies=True)
    with pytest.raises(ValueError, match=reason):
        setting_values(["enforce_policies=true"])
    assert Settings(enforce_policies=False) == Settings()
