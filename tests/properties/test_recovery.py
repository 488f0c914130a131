"""Point-in-time recovery: a restore to a moment has the naive model's state of that moment.

S3X-30, whatever wrote: puts, updates, deletes, transactions, time to live; however the clock moves;
after snapshots in memory and on disk.
"""

import math

from hypothesis import example, given, settings
from hypothesis import strategies as st

from emulator import Emulator, ManualClock, Settings
from tests.tables import index, schema, table

START = 1_767_225_600
KEYS = st.sampled_from("abc")
SETTINGS = Settings(recovery_lag=0)
STEPS = st.one_of(
    st.tuples(st.just("put"), KEYS, st.integers(0, 9)),
    st.tuples(st.just("delete"), KEYS),
    st.tuples(st.just("update"), KEYS, st.integers(0, 9)),
    st.tuples(st.just("transact"), KEYS, st.integers(0, 9)),
    st.tuples(st.just("expire"), KEYS, st.integers(-30, 90)),
    st.tuples(st.just("advance"), st.sampled_from([0.25, 1, 7, 61, 3600])),
    st.tuples(st.sampled_from(["save", "copy"])),
)


class Model:
    """The items by key, and what they were after every moment at which something changed."""

    def __init__(self):
        self.now = float(START)
        self.items = {}
        self.states = {self.now: {}}

    def write(self, key, item):
        self.items = {name: old for name, old in self.items.items() if name != key}
        if item is not None:
            self.items[key] = item
        self.states[self.now] = self.items

    def advance(self, seconds):
        end = self.now + seconds
        while (minute := math.floor(self.now / 60 + 1) * 60) <= end:
            self.now = float(minute)
            for key, item in list(self.items.items()):
                if item.get("ttl", minute) < minute:
                    self.write(key, None)
        self.now = end

    def at(self, moment):
        return self.states[max(time for time in self.states if time <= moment)]


def perform(emu, model, step, folder):
    """Carry out a step in both; return the emulator to go on with."""
    kind, *arguments = step
    if kind == "advance":
        emu.clock.advance(*arguments)
        model.advance(*arguments)
    elif kind == "save":
        emu.save(folder / "file.snapshot")
        return Emulator.load(folder / "file.snapshot", clock=emu.clock, settings=SETTINGS)
    elif kind == "copy":
        snapshot = emu.snapshot()
        emu.call("DeleteTable", {"TableName": "tab"})
        emu.restore(snapshot)
    elif kind == "delete":
        emu.call("DeleteItem", {"TableName": "tab", "Key": {"pk": {"S": arguments[0]}}})
        if arguments[0] in model.items:
            model.write(arguments[0], None)
    else:
        write(emu, model, kind, *arguments)
    return emu


def write(emu, model, kind, key, number):
    item = {"n": number}
    if kind == "expire":
        item = {"ttl": int(model.now) + number}
    if kind == "update":
        item = model.items.get(key, {}) | item
    wire = {"pk": {"S": key}} | {name: {"N": str(value)} for name, value in item.items()}
    if kind == "transact":
        put = {"Put": {"TableName": "tab", "Item": wire}}
        others = [other for other in "abc" if other != key]
        deletes = [
            {"Delete": {"TableName": "tab", "Key": {"pk": {"S": other}}}} for other in others
        ]
        emu.call("TransactWriteItems", {"TransactItems": [put, *deletes]})
        for other in others:
            if other in model.items:
                model.write(other, None)
    elif kind == "update":
        emu.call(
            "UpdateItem",
            {
                "TableName": "tab",
                "Key": {"pk": {"S": key}},
                "UpdateExpression": "SET n = :n",
                "ExpressionAttributeValues": {":n": {"N": str(number)}},
            },
        )
    else:
        emu.call("PutItem", {"TableName": "tab", "Item": wire})
    model.write(key, item)


def restored(emu, moment):
    """Return what a table restored to a moment holds, read from it and from its index."""
    request = {"SourceTableName": "tab", "TargetTableName": "new", "RestoreDateTime": moment}
    emu.call("RestoreTableToPointInTime", request)
    items = emu.call("Scan", {"TableName": "new"})["Items"]
    entries = emu.call("Scan", {"TableName": "new", "IndexName": "by-n"})["Items"]
    emu.call("DeleteTable", {"TableName": "new"})
    assert sorted(entries, key=repr) == sorted((i for i in items if "n" in i), key=repr)
    return {
        item.pop("pk")["S"]: {name: int(value["N"]) for name, value in item.items()}
        for item in items
    }


@settings(max_examples=25, deadline=None)
@given(steps=st.lists(STEPS, max_size=14))
@example(steps=[("put", "a", 1), ("advance", 0.25), ("put", "a", 2), ("save",), ("delete", "a")])
@example(steps=[("expire", "a", 5), ("advance", 61), ("copy",), ("update", "a", 1)])
def test_a_restore_has_the_state_of_its_moment(tmp_path_factory, steps):
    emu = Emulator(clock=ManualClock(START), settings=SETTINGS)
    by_n = index("by-n", schema("n"))
    emu.call("CreateTable", table(names="pk n:N", GlobalSecondaryIndexes=[by_n]))
    ttl = {"Enabled": True, "AttributeName": "ttl"}
    emu.call("UpdateTimeToLive", {"TableName": "tab", "TimeToLiveSpecification": ttl})
    spec = {"PointInTimeRecoveryEnabled": True}
    request = {"TableName": "tab", "PointInTimeRecoverySpecification": spec}
    emu.call("UpdateContinuousBackups", request)
    model, folder = Model(), tmp_path_factory.mktemp("saved")
    for step in steps:
        emu = perform(emu, model, step, folder)
    changes = sorted(model.states)
    for moment in {*changes, *(time - 0.125 for time in changes[1:]), model.now}:
        assert restored(emu, moment) == model.at(moment)
