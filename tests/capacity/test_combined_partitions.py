"""Reads and writes of a partition, independent or combined (CAP2-15)."""

from emulator import Emulator, ManualClock
from emulator.capacity import READ, WRITE
from emulator.capacity.meter import Charge, Meter, admit
from emulator.settings import Settings
from emulator.strategies import create_request


def meter(*, is_combined):
    made = Meter("arn", is_table=True, quota=None, is_combined=is_combined)
    made.on_demand(None, None, 0)
    made.open_partition(7, 0)
    return made


def admitted(own, axis, calls):
    return sum(not admit([Charge(own, 7, axis, 1.0, None)], 0) for _ in range(calls))


def test_independent_partitions_serve_both_in_full():
    own = meter(is_combined=False)
    assert (admitted(own, WRITE, 1_100), admitted(own, READ, 3_100)) == (1_000, 3_000)


def test_a_write_takes_what_three_reads_take_where_they_are_combined():
    own = meter(is_combined=True)
    assert (admitted(own, WRITE, 700), admitted(own, READ, 2_000)) == (700, 900)
    assert own.tokens(7, 0) == (0.0, 0.0)
    assert admitted(own.copy(None), READ, 1) == 0


def test_the_setting_switches_a_whole_emulator():
    refused = {}
    for throughput in ("independent", "combined"):
        emu = Emulator(
            clock=ManualClock(),
            capacity="observe",
            settings=Settings(partition_throughput=throughput),
        )
        emu.call("CreateTable", create_request("tab", "id"))
        for _ in range(900):
            emu.call("PutItem", {"TableName": "tab", "Item": {"id": {"S": "a"}}})
            key = {"TableName": "tab", "Key": {"id": {"S": "a"}}, "ConsistentRead": True}
            emu.call("GetItem", key)
        refused[throughput] = sum(own.throttled_read for own in emu.partitions("tab"))
    assert refused == {"independent": 0, "combined": 150}
