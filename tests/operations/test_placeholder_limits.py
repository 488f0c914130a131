"""PLH-6: the names and values of one request are 2 MB at the most."""

import pytest

from emulator.service import limits
from tests.tables import emulator, refusal, table

KEY = {"TableName": "tab", "Key": {"pk": {"S": "a"}}}
DETECTED = "1 validation error detected: "
NAMES = "ExpressionAttributeNames exceeds max size"
VALUES = "ExpressionAttributeValues exceeds max size"
BOTH = "Combined size of ExpressionAttributeNames and ExpressionAttributeValues exceeds max size"
MOST = limits.PLACEHOLDER_BYTES


@pytest.fixture
def emu():
    emu = emulator()
    emu.call("CreateTable", table())
    return emu


def update(values, names=None):
    """Return an UpdateItem whose condition compares attributes with values."""
    targets = {"#n": "n"} if names is None else names
    return {
        **KEY,
        "UpdateExpression": "SET #n = :a",
        "ConditionExpression": " AND ".join(f"x <> {key}" for key in values),
        "ExpressionAttributeNames": targets,
        "ExpressionAttributeValues": values,
    }


def text(size):
    return {"S": "x" * size}


def test_two_megabytes_are_accepted_and_one_byte_more_is_not(emu):
    # ``:a`` and ``:b`` are four bytes, ``#n`` and ``n`` three.
    values = {":a": text(1), ":b": text(MOST - 4 - 3 - 1)}
    emu.call("UpdateItem", update(values))
    values = {":a": text(1), ":b": text(MOST - 4 - 3)}
    code, message = refusal(emu, "UpdateItem", update(values))
    assert (code, message) == ("ValidationException", DETECTED + BOTH)


def test_values_alone_can_be_too_large(emu):
    values = {":a": text(1), ":b": text(MOST // 2), ":c": text(MOST // 2)}
    assert refusal(emu, "UpdateItem", update(values)) == ("ValidationException", DETECTED + VALUES)


def test_values_of_every_type_are_measured(emu):
    values = {":a": {"L": [text(MOST // 2)]}, ":b": {"M": {"m": text(MOST // 2)}}}
    assert refusal(emu, "UpdateItem", update(values)) == ("ValidationException", DETECTED + VALUES)


def test_many_short_values_add_up(emu):
    values = {f":{number}": text(4096) for number in range(600)}
    request = update(values | {":a": text(1)})
    assert refusal(emu, "UpdateItem", request) == ("ValidationException", DETECTED + VALUES)


def test_names_alone_can_be_too_large(emu):
    """Here of a GetItem, whose layer has no envelope."""
    names = {f"#{number}": "é" * 32_000 for number in range(40)}
    request = {
        **KEY,
        "ProjectionExpression": ", ".join(names),
        "ExpressionAttributeNames": names,
    }
    assert refusal(emu, "GetItem", request) == ("ValidationException", NAMES)


def test_a_bad_value_is_reported_first(emu):
    values = {":a": text(MOST), ":b": {"N": "x"}}
    assert refusal(emu, "UpdateItem", update(values)) == (
        "ValidationException",
        DETECTED + "The parameter cannot be converted to a numeric value: x",
    )
