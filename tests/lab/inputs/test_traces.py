"""Recorded traffic is a workload too."""

import json

import pytest

from emulator import Emulator, ManualClock
from emulator.lab import Capacity, Design, DocumentError, Workload, exact, record, world
from emulator.lab.inputs.traces import mean_sizes
from emulator.lab.outcome.summarise import pattern_results, resource_results
from emulator.lab.planning.layout import Layout

DESIGN = Design(
    "d", partition="{deviceId}", sort="{timestamp}", capacity=Capacity(read=50, write=4)
)


def lines(count=60, step=0.25):
    return [
        json.dumps(
            {
                "time": 100 + number * step,
                "operation": "PutItem" if number % 3 else "Query",
                "fields": {"deviceId": f"d{number % 5}"},
                "size": 900,
            }
        )
        for number in range(count)
    ]


@pytest.mark.parametrize("engine", [exact, world])
def test_a_trace_is_replayed_request_by_request(engine):
    workload = Workload.from_trace(lines())

    recording = engine.run(Layout(DESIGN, workload))

    results = {one.operation: one for one in pattern_results(recording)}
    assert workload.duration == 15
    assert {name: round(one.requests) for name, one in results.items()} == {
        "PutItem": 40,
        "Query": 20,
    }
    [table] = resource_results(recording)
    assert table.distinct_keys == 5
    assert table.write.consumed_units == pytest.approx(40, abs=1)


def test_a_trace_survives_its_document():
    workload = Workload.from_trace(lines())

    assert Workload.from_document(workload.to_document()) == workload


def test_what_reaches_an_emulator_becomes_a_trace(tmp_path):
    clock = ManualClock()
    emu = Emulator(clock=clock)
    emu.call(
        "CreateTable",
        {
            "TableName": "events",
            "KeySchema": [
                {"AttributeName": "deviceId", "KeyType": "HASH"},
                {"AttributeName": "at", "KeyType": "RANGE"},
            ],
            "AttributeDefinitions": [
                {"AttributeName": "deviceId", "AttributeType": "S"},
                {"AttributeName": "at", "AttributeType": "N"},
            ],
            "BillingMode": "PAY_PER_REQUEST",
        },
    )
    item = {"deviceId": {"S": "d1"}, "at": {"N": "7"}, "data": {"M": {}}}
    with record(emu, table="events") as trace:
        emu.call("PutItem", {"TableName": "events", "Item": item})
        clock.advance(2)
        emu.call(
            "Query",
            {
                "TableName": "events",
                "KeyConditionExpression": "#d = :d AND #a > :a",
                "ExpressionAttributeNames": {"#d": "deviceId", "#a": "at"},
                "ExpressionAttributeValues": {":d": {"S": "d1"}, ":a": {"N": "1"}},
            },
        )
        emu.call("BatchWriteItem", {"RequestItems": {"events": [{"PutRequest": {"Item": item}}]}})
        key = {"deviceId": {"S": "d1"}, "at": {"N": "7"}}
        emu.call("BatchGetItem", {"RequestItems": {"events": {"Keys": [key]}}})
        emu.call("GetItem", {"TableName": "events", "Key": key})
    emu.call("GetItem", {"TableName": "events", "Key": key})

    told = [json.loads(line) for line in trace]
    assert [(one["time"] - told[0]["time"], one["operation"], one["fields"]) for one in told] == [
        (0, "PutItem", {"deviceId": "d1", "at": "7"}),
        (2, "Query", {"deviceId": "d1"}),
        (2, "PutItem", {"deviceId": "d1", "at": "7"}),
        (2, "GetItem", {"deviceId": "d1", "at": "7"}),
        (2, "GetItem", {"deviceId": "d1", "at": "7"}),
    ]
    assert told[0]["size"] == 8 + 2 + 2 + 2 + 4 + 3  # CAP-101 to CAP-103
    path = tmp_path / "trace.jsonl"
    path.write_text("\n".join(trace))
    assert Workload.from_trace(path).requests == 5


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "trace:1: not JSON"),
        ("5", "trace:1: expected an object, found '5'"),
        ('{"operation": "PutItem"}', "trace:1: time: expected seconds, found None"),
        ('{"time": 1, "operation": "Put"}', "trace:1: operation: expected one of BatchGetItem"),
        ('{"time": 1, "operation": "PutItem", "fields": 3}', "trace:1: fields: expected an object"),
        ("", "trace: the trace is empty"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(line, complaint):
    with pytest.raises(DocumentError) as error:
        Workload.from_trace([line])

    assert str(error.value).startswith(complaint)


def test_a_trace_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DocumentError, match="cannot be read"):
        Workload.from_trace(tmp_path / "none.jsonl")


def test_sizes_are_those_of_the_items_of_one_table():
    calls = [
        (0.0, "PutItem", {"TableName": name, "Item": {"note": {"S": text}}})
        for name, text in (("t", "four"), ("u", "of another table"), ("t", "no more!"))
    ]
    assert mean_sizes(calls, "t", ["note", "never written"]) == {"note": 6}
