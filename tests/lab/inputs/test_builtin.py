"""The comparison that ``dynamometer lab`` runs without a file."""

from dataclasses import replace

import pytest

from emulator.lab import compare
from emulator.lab.inputs.builtin import device_events, hour_and_device
from emulator.lab.outcome import words


@pytest.fixture(scope="module")
def result():
    """Ten minutes, after one of warm-up: reads find what was sent in ten seconds."""
    return compare(
        replace(device_events(duration=600), warm_up=60),
        hour_and_device(),
        worlds=1,
        headroom=False,
        sensitivity=False,
        fix=False,
    )


def test_the_hour_throttles_at_one_partition(result):
    """CAP-501, L0."""
    hour = result.design("hour key")

    assert hour.grade == "throttles"
    assert set(hour.throttled_share_by_reason) == {"TableWriteKeyRangeThroughputExceeded"}
    assert hour.table.write.per_minute.consumed[-1] == pytest.approx(1000, rel=0.005)
    assert hour.table.write.utilisation == pytest.approx(0.2, abs=0.005)
    assert hour.table.hottest_key_share == pytest.approx(1, abs=0.01)
    assert "and a partition serves 1,000 a second. 80\u202f% of the write" in hour.verdict
    assert hour.verdict.endswith(". No split helps: sort keys are written in order.")


def test_the_device_does_not_throttle_at_all(result):
    device = result.design("device key")

    assert device.grade == "fine"
    assert device.throttled_share == 0
    assert device.table.write.consumed_units == pytest.approx(2800 * 600)
    assert device.pattern("last events of a device").units[0].read == pytest.approx(
        0.5 * 1200, rel=0.1
    )


def test_the_wrong_key_makes_reads_hundreds_of_times_dearer(result):
    hour, device, _ = (design.pattern("last events of a device") for design in result.designs)

    assert hour.units[0].read > 300 * device.units[0].read


def test_the_hour_with_the_device_first_is_split_for_heat(result):
    """CAP2-3: its sort keys do not ascend, so it can be cut between devices, minutes later."""
    split = result.design("hour key by device")

    assert {cut.cause for cut in split.splits} == {"heat"}
    assert 0 < split.throttled_share < result.design("hour key").throttled_share
    assert not any(cut.children for cut in result.design("hour key").splits)


def test_the_verdict_says_when_the_busy_partition_is_split_and_whether_that_helps(result):
    """CAP2-3, CAP2-10: a split of the last hour's partition is none of it."""
    design = result.design("hour key by device")
    first = min(split.time for split in design.table.busy_splits if split.children)

    assert (
        f"It splits for heat after {words.duration(first)}, and calls are still refused at the end."
    ) in design.verdict
