"""What can be looked at from outside: of a snapshot, its regions and its last moment."""

from emulator import Emulator, ManualClock
from emulator.observe import last_moment, tables_by_region
from tests.tables import table


def test_a_snapshot_tells_its_tables_by_region():
    """What belongs to an access key alone is not told."""
    emu = Emulator(clock=ManualClock(1_000))
    for name, where in (
        ("tab", {}),
        ("more", {}),
        ("far", {"region": "eu-west-1"}),
        ("own", {"access_key": "key"}),
    ):
        emu.clock.advance(60)
        emu.call("CreateTable", table(TableName=name), **where)
    snapshot = emu.snapshot()
    assert tables_by_region(snapshot) == {"us-east-1": ["more", "tab"], "eu-west-1": ["far"]}
    assert last_moment(snapshot) == 1_180


def test_the_keys_of_the_running_minute_come_by_what_they_consumed():
    """Not by what was refused."""
    emu = Emulator(clock=ManualClock())
    emu.call("CreateTable", table(OnDemandThroughput={"MaxWriteRequestUnits": 6}))
    for key in ("a", "b", "b", "b", "c", "c", "c", "c"):
        emu.call("PutItem", {"TableName": "tab", "Item": {"pk": {"S": key}}})
    told = emu.running_keys("tab", most=2)
    assert [(hot.key, hot.accessed, hot.throttled) for hot in told] == [
        (("b",), 9, 0),
        (("c",), 6, 2),
    ]
