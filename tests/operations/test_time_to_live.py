"""UpdateTimeToLive and DescribeTimeToLive."""

import pytest

from tests.tables import described, emulator, refusal, table

TAB = {"TableName": "tab"}
DISABLED = {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}


def created(**settings):
    emu = emulator(**settings)
    emu.call("CreateTable", table())
    return emu


def change(enabled, name="ttl"):
    return {**TAB, "TimeToLiveSpecification": {"Enabled": enabled, "AttributeName": name}}


def put(emu, key, expiry):
    emu.call("PutItem", {**TAB, "Item": {"pk": {"S": key}, "ttl": expiry}})


def test_time_to_live_is_off_at_first():
    """TTL-2."""
    assert created().call("DescribeTimeToLive", TAB) == DISABLED


def test_time_to_live_is_switched_on_and_off():
    """TTL-1, TTL-2: the answer is the specification."""
    emu = created()
    answer = emu.call("UpdateTimeToLive", change(True))
    assert answer == {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ttl"}}
    assert emu.call("DescribeTimeToLive", TAB) == {
        "TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}
    }
    emu.call("UpdateTimeToLive", change(False))
    assert emu.call("DescribeTimeToLive", TAB) == DISABLED


OTHER = "TimeToLive is active on a different AttributeName: current AttributeName is ttl"


@pytest.mark.parametrize(
    ("before", "request_change", "message"),
    [
        (None, change(False), "TimeToLive is already disabled"),
        (change(True), change(True), "TimeToLive is already enabled"),
        (change(True), change(True, "other"), OTHER),
        (change(True), change(False, "other"), OTHER),
        (
            None,
            change(True, ""),
            "1 validation error detected: Value '' at 'timeToLiveSpecification.attributeName' "
            "failed to satisfy constraint: Member must have length greater than or equal to 1",
        ),
        (
            None,
            TAB,
            "1 validation error detected: Value null at 'timeToLiveSpecification' failed to "
            "satisfy constraint: Member must not be null",
        ),
        (
            None,
            {},
            "The parameter 'TableName' is required but was not present in the request",
        ),
    ],
)
def test_a_change_that_changes_nothing_is_refused(before, request_change, message):
    """TTL-3, TBL-5, ERR-OTH-4."""
    emu = created()
    if before is not None:
        emu.call("UpdateTimeToLive", before)
    assert refusal(emu, "UpdateTimeToLive", request_change) == ("ValidationException", message)


@pytest.mark.parametrize("operation", ["UpdateTimeToLive", "DescribeTimeToLive"])
@pytest.mark.filterwarnings("ignore::emulator.errors.UnservedMemberWarning")
def test_an_unknown_table_is_named(operation):
    """TBL-4, ERR-OTH-4."""
    assert refusal(emulator(), operation, change(True)) == (
        "ResourceNotFoundException",
        "Requested resource not found: Table: tab not found",
    )


@pytest.mark.parametrize("operation", ["UpdateTimeToLive", "DescribeTimeToLive"])
@pytest.mark.filterwarnings("ignore::emulator.errors.UnservedMemberWarning")
def test_a_table_in_creation_has_none_yet(operation):
    """TTL-3."""
    assert refusal(created(table_delay=5), operation, change(True)) == (
        "ValidationException",
        "Cannot describe time to live while table is in CREATING state: "
        "Current table state is CREATING",
    )


def test_changes_come_no_faster_than_the_settings_allow():
    """TTL-3; off by default."""
    emu = created(ttl_change_interval=1800)
    emu.call("UpdateTimeToLive", change(True))
    emu.clock.advance(1799)
    assert refusal(emu, "UpdateTimeToLive", change(False)) == (
        "ValidationException",
        "Time to live has been modified multiple times within a fixed interval",
    )
    emu.clock.advance(1)
    emu.call("UpdateTimeToLive", change(False))


def test_items_there_before_expire_too():
    """TTL-4, CAP-1101: at the next whole minute, numbers only, within five years."""
    emu = created()
    now = int(emu.clock.now())
    put(emu, "past", {"N": str(now - 1)})
    put(emu, "long past", {"N": str(now - 6 * 365 * 24 * 3600)})
    put(emu, "future", {"N": str(now + 90)})
    put(emu, "text", {"S": str(now - 1)})
    emu.call("UpdateTimeToLive", change(True))
    counts = []
    for _ in range(3):
        counts.append(described(emu)["ItemCount"])
        emu.clock.advance(60)
    assert counts == [4, 3, 2]


def test_nothing_expires_once_it_is_switched_off():
    """TTL-2."""
    emu = created()
    emu.call("UpdateTimeToLive", change(True))
    put(emu, "past", {"N": str(int(emu.clock.now()) - 1)})
    emu.call("UpdateTimeToLive", change(False))
    emu.clock.advance(600)
    assert described(emu)["ItemCount"] == 1
