"""The tables that are fuzzed, and what can be seen of a database: every list and description."""

import json

from emulator import ApiError, Emulator, ManualClock
from emulator.operations import find
from emulator.service.catalogue import OPERATIONS
from emulator.testing.table_notation import create_request

_STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
_CREATED = (
    create_request(
        "tab",
        "pk",
        "sk:N",
        indexes={"wide": (("a", "b:N"), ("c", "d:B")), "gsi": "g"},
        local_indexes={"local": "e"},
        StreamSpecification=_STREAM,
    ),
    create_request("hash", "pk", StreamSpecification=_STREAM),
    create_request("paid", "pk", "sk:N", provisioned=(50, 50)),
)
#: Most requests are about the first, so that most of their keys fit.
TABLE_NAMES = (*("tab",) * 6, "paid", "hash", "new1", "new2")
INDEX_NAMES = ("wide", "gsi", "local", "absent")
KEYS = tuple(
    {"pk": {"S": name}} | ({"sk": {"N": number}} if number else {})
    for name in ("x", "y", "z")
    for number in ("1", "2", "3", "4", "")
)


def filled(capacity):
    """Return an emulator with the tables, each with a few items, on a clock that stands."""
    emulator = Emulator(clock=ManualClock(), capacity=capacity)
    for request in _CREATED:
        emulator.call("CreateTable", request)
        has_sort_key = len(request["KeySchema"]) > 1
        for key in KEYS:
            if ("sk" in key) is has_sort_key:
                emulator.call("PutItem", {"TableName": request["TableName"], "Item": key | _ITEM})
    return emulator


def has_tables(emulator):
    """Return whether the tables are there: without them nearly everything would be refused."""
    return {request["TableName"] for request in _CREATED} <= set(
        emulator.call("ListTables", {})["TableNames"]
    )


_ITEM = {
    "a": {"S": "x"},
    "b": {"N": "1"},
    "c": {"S": "x"},
    "d": {"B": "YQ=="},
    "e": {"S": "e"},
    "g": {"S": "g"},
    "n": {"N": "7"},
    "m": {"M": {"a": {"S": "x"}}},
    "l": {"L": [{"S": "p"}, {"N": "2"}]},
    "ss": {"SS": ["p", "q"]},
}

#: Members that name a table or its ARN.
_TABLE_MEMBERS = frozenset(("TableName", "ResourceArn", "TableArn", "GlobalTableName"))


def _readers():
    """Return the operations that only tell, with the members that must name a table."""
    for name in OPERATIONS:
        if name.startswith(("Describe", "List", "GetResourcePolicy")):
            members = find(name).shape.members.items()
            needed = {member for member, shape in members if shape.is_required}
            if needed <= _TABLE_MEMBERS:
                yield name, needed


_READERS = tuple(_readers())


def visible(emulator):
    """Return everything that a client can see of a database, as text.

    Driven by the catalogue: all operations that describe or list, of each table and of the
    account, and the items of each table and index.
    """
    names = emulator.call("ListTables", {})["TableNames"]
    seen = [(name, _answer(emulator, name, {})) for name, needed in _READERS if not needed]
    for table in names:
        described = emulator.call("DescribeTable", {"TableName": table})["Table"]
        for name, needed in _READERS:
            arn = described["TableArn"]
            request = {member: arn if "Arn" in member else table for member in needed}
            seen.append((name, table, _answer(emulator, name, request) if needed else None))
        indexes = [
            *described.get("GlobalSecondaryIndexes", ()),
            *described.get("LocalSecondaryIndexes", ()),
        ]
        seen.append((table, _answer(emulator, "Scan", {"TableName": table})))
        for index in indexes:
            request = {"TableName": table, "IndexName": index["IndexName"]}
            seen.append((table, _answer(emulator, "Scan", request)))
    seen.append(len(emulator.account().tokens))
    return json.dumps(seen, sort_keys=True, default=repr)


def _answer(emulator, name, request):
    try:
        return emulator.call(name, request)
    except ApiError as error:
        return error.body()
