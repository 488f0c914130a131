"""Definitions of tables, written briefly, and how a refusal is caught."""

from typing import Any

import pytest

from emulator import ApiError, Emulator, ManualClock, Settings

INVALID = "One or more parameter values were invalid: "
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/tab"
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}


def emulator(**settings):
    """Return an emulator on virtual time."""
    return Emulator(clock=ManualClock(), settings=Settings(**settings))


def schema(hashes, ranges=""):
    """Return a KeySchema: ``schema("h1 h2", "r1")``."""
    return [
        {"AttributeName": name, "KeyType": kind}
        for kind, names in (("HASH", hashes), ("RANGE", ranges))
        for name in names.split()
    ]


def types(names, kind="S"):
    """Return AttributeDefinitions of one type."""
    return [{"AttributeName": name, "AttributeType": kind} for name in names.split()]


def index(name, key, projection="ALL", **members):
    """Return an index definition."""
    described = {"ProjectionType": projection} if isinstance(projection, str) else projection
    return {"IndexName": name, "KeySchema": key, "Projection": described, **members}


def table(hashes="pk", ranges="", names=None, **members) -> dict[str, Any]:
    """Return a CreateTable request, on demand unless it says otherwise."""
    request: dict[str, Any] = {
        "TableName": "tab",
        "KeySchema": schema(hashes, ranges),
        "AttributeDefinitions": types(names or f"{hashes} {ranges}"),
        **members,
    }
    if "ProvisionedThroughput" not in request:
        request.setdefault("BillingMode", "PAY_PER_REQUEST")
    return {member: given for member, given in request.items() if given is not None}


def refusal(emu, operation, request):
    """Return the code and the message of a request that is refused."""
    with pytest.raises(ApiError) as caught:
        emu.call(operation, request)
    return caught.value.code, caught.value.message


def described(emu, name="tab"):
    """Return the table as DescribeTable has it."""
    return emu.call("DescribeTable", {"TableName": name})["Table"]


def put(emu, name="tab", **attributes):
    """Put an item of texts."""
    item = {attribute: {"S": text} for attribute, text in attributes.items()}
    emu.call("PutItem", {"TableName": name, "Item": item})
