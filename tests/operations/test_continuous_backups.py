"""DescribeContinuousBackups and UpdateContinuousBackups."""

import pytest

from tests.tables import emulator, refusal, table

START = 1_767_225_600.0
TAB = {"TableName": "tab"}
DAY = 24 * 3600


def created():
    emu = emulator()
    emu.call("CreateTable", table())
    return emu


def change(enabled, **members):
    spec = {"PointInTimeRecoveryEnabled": enabled, **members}
    return {**TAB, "PointInTimeRecoverySpecification": spec}


def description(**recovery):
    return {
        "ContinuousBackupsDescription": {
            "ContinuousBackupsStatus": "ENABLED",
            "PointInTimeRecoveryDescription": recovery,
        }
    }


def test_recovery_is_off_at_first():
    """OTH-8."""
    found = created().call("DescribeContinuousBackups", TAB)
    assert found == description(PointInTimeRecoveryStatus="DISABLED")


def test_recovery_reaches_back_to_its_beginning_or_by_its_days():
    """OTH-9, S3X-30: and up to five minutes ago."""
    emu = created()
    answer = emu.call("UpdateContinuousBackups", change(True, RecoveryPeriodInDays=2))
    assert answer == description(
        PointInTimeRecoveryStatus="ENABLED",
        RecoveryPeriodInDays=2,
        EarliestRestorableDateTime=START,
        LatestRestorableDateTime=START,
    )
    emu.clock.advance(5 * DAY)
    assert emu.call("DescribeContinuousBackups", TAB) == description(
        PointInTimeRecoveryStatus="ENABLED",
        RecoveryPeriodInDays=2,
        EarliestRestorableDateTime=START + 3 * DAY,
        LatestRestorableDateTime=START + 5 * DAY - 300,
    )


def test_the_latest_moment_waits_for_its_lag():
    """S3X-30: for five minutes both bounds are the moment recovery was switched on."""
    emu = created()
    emu.call("UpdateContinuousBackups", change(True))
    seen = []
    for _ in range(3):
        emu.clock.advance(180)
        found = emu.call("DescribeContinuousBackups", TAB)["ContinuousBackupsDescription"]
        window = found["PointInTimeRecoveryDescription"]
        seen.append(window["LatestRestorableDateTime"] - START)
        assert window["EarliestRestorableDateTime"] == START
    assert seen == [0, 60, 240]


def test_days_may_change_and_are_35_unless_told():
    """OTH-9."""
    emu = created()
    days = []
    for request in (change(True), change(True, RecoveryPeriodInDays=7), change(True)):
        emu.clock.advance(60)
        answer = emu.call("UpdateContinuousBackups", request)["ContinuousBackupsDescription"]
        found = answer["PointInTimeRecoveryDescription"]
        days.append((found["RecoveryPeriodInDays"], found["EarliestRestorableDateTime"]))
    assert days == [(35, START + 60), (7, START + 60), (7, START + 60)]


def test_recovery_is_switched_off():
    """OTH-9."""
    emu = created()
    emu.call("UpdateContinuousBackups", change(True))
    answer = emu.call("UpdateContinuousBackups", change(False))
    assert answer == description(PointInTimeRecoveryStatus="DISABLED")


def test_days_without_recovery_are_refused():
    """ERR-OTH-7."""
    request = change(False, RecoveryPeriodInDays=1)
    assert refusal(created(), "UpdateContinuousBackups", request) == (
        "ValidationException",
        "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time "
        "recovery.",
    )


def test_days_are_35_at_the_most():
    """OTH-9."""
    request = change(True, RecoveryPeriodInDays=36)
    assert refusal(created(), "UpdateContinuousBackups", request)[1] == (
        "1 validation error detected: Value '36' at "
        "'pointInTimeRecoverySpecification.recoveryPeriodInDays' failed to satisfy constraint: "
        "Member must have value less than or equal to 35"
    )


@pytest.mark.parametrize("operation", ["DescribeContinuousBackups", "UpdateContinuousBackups"])
@pytest.mark.filterwarnings("ignore::emulator.errors.UnservedMemberWarning")
def test_an_unknown_table_is_named(operation):
    """OTH-8."""
    assert refusal(emulator(), operation, change(True)) == (
        "TableNotFoundException",
        "Table not found: tab",
    )
