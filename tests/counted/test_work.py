"""How often work is done, counted exactly: a regression is caught without a clock."""

import copy
import sys

import pytest

from emulator import Emulator
from emulator.expressions import lexer
from emulator.model import wire
from emulator.storage import ordered
from tests.tables import table

TABLE = table("pk", "sk:N", indexes={"gsi": "g"})


def item(number):
    return {
        "pk": {"S": "p"},
        "sk": {"N": str(number)},
        "g": {"S": "x"},
        "m": {"M": {"a": {"L": [{"N": "1"}, {"S": "y"}]}}},
    }


@pytest.fixture
def emulator():
    made = Emulator(capacity="observe")
    made.call("CreateTable", TABLE)
    for number in range(100):
        made.call("PutItem", {"TableName": "tab", "Item": item(number)})
    return made


class Calls:
    """Counts calls of functions by name, anywhere below, while it stands."""

    def __init__(self, *functions):
        self.codes = {function.__code__: function.__qualname__ for function in functions}
        self.counts = dict.fromkeys(self.codes.values(), 0)

    def __enter__(self):
        sys.setprofile(self._note)
        return self.counts

    def __exit__(self, *_):
        sys.setprofile(None)

    def _note(self, frame, event, _):
        name = self.codes.get(frame.f_code) if event == "call" else None
        if name is not None:
            self.counts[name] += 1


REQUESTS = [
    (
        "Query",
        {
            "TableName": "tab",
            "KeyConditionExpression": "pk = :p AND sk > :s",
            "FilterExpression": "attribute_exists(m)",
            "ProjectionExpression": "#k, m.a[0]",
            "ExpressionAttributeNames": {"#k": "sk"},
            "ExpressionAttributeValues": {":p": {"S": "p"}, ":s": {"N": "5"}},
            "Limit": 3,
        },
    ),
    (
        "UpdateItem",
        {
            "TableName": "tab",
            "Key": {"pk": {"S": "p"}, "sk": {"N": "1"}},
            "UpdateExpression": "SET n = if_not_exists(n, :z) + :o REMOVE q",
            "ConditionExpression": "attribute_exists(pk)",
            "ExpressionAttributeValues": {":z": {"N": "0"}, ":o": {"N": "1"}},
        },
    ),
]


@pytest.mark.parametrize(("operation", "request_"), REQUESTS)
def test_a_repeated_request_is_not_parsed_again(emulator, operation, request_):
    emulator.call(operation, request_)
    with Calls(lexer.tokenize) as counts:
        for _ in range(10):
            emulator.call(operation, request_)
    assert counts == {"tokenize": 0}


def test_a_put_walks_each_value_once(emulator):
    """Three strings at the top are read in place; the rest is one load per value."""
    written = item(1000)
    with Calls(wire._load, wire.load_item) as counts:
        emulator.call("PutItem", {"TableName": "tab", "Item": written})
    # sk, m, a, and the two members of a; g and pk are text at the top.
    assert counts == {"_load": 5, "load_item": 1}


def test_nothing_is_copied_deeply(emulator, monkeypatch):
    def forbidden(*_):
        raise AssertionError("deep copy")

    monkeypatch.setattr(copy, "deepcopy", forbidden)
    emulator.call("PutItem", {"TableName": "tab", "Item": item(1)})
    emulator.call("GetItem", {"TableName": "tab", "Key": {"pk": {"S": "p"}, "sk": {"N": "1"}}})
    emulator.call(*REQUESTS[0])
    snapshot = emulator.snapshot()
    emulator.restore(snapshot)


def test_an_index_that_projects_all_shares_its_items(emulator):
    table = emulator.account().tables["tab"]
    position = table.position(("p", wire.parse_number("7")))
    stored = table.store.get(position)
    entries = [entry for _, entry in table.indexes["gsi"].store.walk((0,), (2**64,))]
    assert any(entry is stored for entry in entries)


@pytest.mark.parametrize("count", [100, 2000])
def test_a_query_touches_only_its_page(count):
    """Whatever the collection's size: ten items asked for, ten walked."""
    made = Emulator(capacity="off")
    made.call("CreateTable", TABLE)
    for number in range(count):
        made.call("PutItem", {"TableName": "tab", "Item": item(number)})
    walked = []
    original = ordered.OrderedStore.items_at

    def counting(self, positions):
        walked.extend(positions)
        return original(self, positions)

    ordered.OrderedStore.items_at = counting
    try:
        made.call("Query", {**REQUESTS[0][1], "Limit": 10})
    finally:
        ordered.OrderedStore.items_at = original
    assert len(walked) == 10
