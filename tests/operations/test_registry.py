"""The registry: an ApiError and nothing else, whatever a request holds."""

import pytest

from emulator import ApiError
from emulator.operations import registry
from emulator.service.errors import SerializationException
from tests.tables import emulator, table

KEY = {"pk": {"S": "a"}}


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("PutItem", {"Item": KEY | {1: {"S": "x"}}}),
        ("PutItem", {"Item": KEY | {"m": {"M": {(1,): {"S": "x"}}}}}),
        (
            "UpdateItem",
            {"Key": KEY, "UpdateExpression": "SET a = a", "ExpressionAttributeNames": {None: "x"}},
        ),
        ("GetItem", {"Key": KEY, "AttributesToGet": {"a"}}),
        ("PutItem", {"Item": object()}),
    ],
)
def test_what_no_json_can_say_is_not_serialized(operation, request_):
    emu = emulator()
    emu.call("CreateTable", table())
    with pytest.raises(SerializationException):
        emu.call(operation, {"TableName": "tab"} | request_)


@pytest.mark.parametrize(
    ("profile", "operation", "named"),
    [
        ("2026-10", "PutItem", "message"),
        ("2026-10", "UpdateItem", "message"),
        ("2026-10", "DeleteItem", "message"),
        ("classic", "PutItem", "Message"),
        ("classic", "UpdateItem", "Message"),
        ("classic", "DeleteItem", "Message"),
    ],
)
def test_the_layer_names_the_text_of_a_failed_condition(profile, operation, named):
    """WIR-10: beside the stored item; without one it is ``message`` everywhere."""
    emu = emulator(messages=profile)
    emu.call("CreateTable", table())
    emu.call("PutItem", {"TableName": "tab", "Item": KEY})
    request = {
        "TableName": "tab",
        "Item" if operation == "PutItem" else "Key": KEY,
        "ConditionExpression": "attribute_not_exists(pk)",
    }
    wanted = {"message": "The conditional request failed"}
    for asked, body in (
        ({}, wanted),
        (
            {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"},
            {named: wanted["message"], "Item": KEY},
        ),
    ):
        with pytest.raises(ApiError) as caught:
            emu.call(operation, request | asked)
        kind = "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException"
        assert caught.value.body() == {"__type": kind} | body


def test_a_fault_is_told_where_the_caller_has_used_up_the_stack(monkeypatch):
    """What follows the first fault reads the request again, and may find no room to do so."""

    def no_room(_):
        raise RecursionError

    monkeypatch.setattr(registry.find("GetItem").shape, "check_types", no_room)
    with pytest.raises(SerializationException):
        emulator().call("GetItem", {"TableName": "tab", "Key": KEY})


def test_a_fault_beside_something_nested_deeply_is_told():
    """Found by fuzzing: showing the map that nobody asked for ended in Python's own error."""
    deep = {"S": "x"}
    for _ in range(500):
        deep = {"M": {"a": deep}}
    request = {"TableName": "tab", "Key": KEY, "ReturnConsumedCapacity": "ALL"}
    emu = emulator()
    with pytest.raises(ApiError) as caught:
        emu.call("UpdateItem", request | {"ExpressionAttributeValues": {":a": deep}})
    assert caught.value.message.startswith("1 validation error detected: Value 'ALL' at ")
    with pytest.raises(ApiError):  # which one depends on how deep this Python can show a value
        emu.call("BatchWriteItem", {"RequestItems": {"!": [{"PutRequest": {"Item": {"a": deep}}}]}})


def test_a_request_that_holds_itself_is_refused():
    """Only a caller in the same process can tie one; looking for its end never ended."""
    ring = {}
    ring["M"] = {"a": ring}
    request = {"TableName": "tab", "Item": {**KEY, "x": ring}}
    with pytest.raises(ApiError, match="Nesting Levels have exceeded"):
        emulator().call("PutItem", request)
    with pytest.raises(SerializationException):
        emulator().call("PutItem", request | {"ConditionExpression": object()})


def test_a_fault_of_ours_is_not_hidden(monkeypatch):
    def fail(_account, _request):
        raise TypeError("ours")

    listing = registry.find("ListTables")
    monkeypatch.setitem(registry._LOADED, "ListTables", listing._replace(handler=fail))
    with pytest.raises(TypeError, match="ours"):
        emulator().call("ListTables", {"ExclusiveStartTableName": "abc", "Limit": 1})
