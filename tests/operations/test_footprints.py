"""Footprints: which requests conflict, as they are sent."""

import pytest

from emulator import Emulator, ManualClock
from emulator.api import footprint_of
from emulator.testing.table_notation import create_request

KEY = {"pk": {"S": "a"}, "sk": {"N": "1"}}
SAME = {"pk": {"S": "a"}, "sk": {"N": "1.0"}}
BESIDE = {"pk": {"S": "a"}, "sk": {"N": "2"}}
VALUES = {"ExpressionAttributeValues": {":v": {"S": "a"}}}
REQUESTS = {
    "get": ("GetItem", {"TableName": "tab", "Key": KEY}),
    "put": ("PutItem", {"TableName": "tab", "Item": SAME | {"x": {"S": "1"}}}),
    "put beside": ("PutItem", {"TableName": "tab", "Item": BESIDE}),
    "query": ("Query", {"TableName": "tab", "KeyConditionExpression": "pk = :v"} | VALUES),
    "legacy query": (
        "Query",
        {
            "TableName": "tab",
            "KeyConditions": {
                "pk": {"AttributeValueList": [{"S": "b"}], "ComparisonOperator": "EQ"}
            },
        },
    ),
    "query index": (
        "Query",
        {"TableName": "tab", "IndexName": "by_x", "KeyConditionExpression": "x = :v"} | VALUES,
    ),
    "scan": ("Scan", {"TableName": "tab"}),
    "other table": ("PutItem", {"TableName": "other", "Item": {"pk": {"S": "a"}}}),
    "describe": ("DescribeTable", {"TableName": "tab"}),
    "batch": ("BatchWriteItem", {"RequestItems": {"tab": [{"DeleteRequest": {"Key": KEY}}]}}),
    "batch get": ("BatchGetItem", {"RequestItems": {"tab": {"Keys": [KEY]}}}),
    "transact": (
        "TransactWriteItems",
        {
            "TransactItems": [
                {"ConditionCheck": {"TableName": "tab", "Key": BESIDE, "ConditionExpression": "x"}},
                {"Delete": {"TableName": "tab", "Key": KEY}},
            ]
        },
    ),
    "select": ("ExecuteStatement", {"Statement": "SELECT * FROM tab WHERE pk='a' AND sk=1"}),
    "select all": ("ExecuteStatement", {"Statement": "SELECT * FROM tab WHERE pk='a'"}),
    "update": ("ExecuteStatement", {"Statement": "UPDATE tab SET x='1' WHERE pk='a' AND sk=1"}),
    "malformed": ("GetItem", {"TableName": "tab", "Key": 5}),
}


def footprint(name, capacity="observe"):
    emu = Emulator(clock=ManualClock(), capacity=capacity)
    emu.call("CreateTable", create_request("tab", "pk", "sk:N", indexes={"by_x": "x"}))
    emu.call("CreateTable", create_request("other"))
    operation, request = REQUESTS[name]
    return footprint_of(emu.account(), operation, request)


@pytest.mark.parametrize(
    ("one", "other", "conflict"),
    [
        ("get", "get", False),
        ("get", "put", True),
        ("get", "put beside", False),
        ("put", "put beside", False),
        ("put", "put", True),
        ("query", "put beside", True),
        ("legacy query", "put", False),
        ("query index", "put", True),
        ("query index", "other table", False),
        ("scan", "other table", True),
        ("scan", "query", False),
        ("describe", "get", True),
        ("batch", "get", True),
        ("batch", "put beside", False),
        ("batch get", "put", True),
        ("transact", "put", True),
        ("transact", "put beside", True),
        ("transact", "batch get", True),
        ("select", "put", True),
        ("select", "put beside", False),
        ("select all", "other table", True),
        ("update", "get", True),
        ("update", "put beside", False),
        ("malformed", "put", False),
    ],
)
def test_requests_conflict_if_one_writes_what_the_other_names(one, other, conflict):
    first, second = footprint(one), footprint(other)

    assert (first.conflicts(second), second.conflicts(first)) == (conflict, conflict)


def test_requests_to_one_table_conflict_where_throughput_is_enforced():
    assert footprint("get", "enforce").conflicts(footprint("put beside", "enforce"))
    assert not footprint("get", "enforce").conflicts(footprint("other table", "enforce"))


def test_a_check_in_a_transaction_only_reads():
    assert not footprint("transact").conflicts(footprint("malformed"))
    names = {
        name[1][2] for name in footprint("transact").written if len(name) == 2 and len(name[1]) > 2
    }
    assert names == {1}
