"""The naive model and the phrases, held against what the rules say."""

import inspect
from decimal import Decimal

import pytest

from emulator import Emulator
from emulator.model import StringSet
from emulator.model.wire import dump_item
from emulator.service.errors import ConditionalCheckFailedException, ValidationException
from emulator.strategies.expression_trees import condition_fragment, update_fragment
from emulator.strategies.oracle import tables as naive
from emulator.strategies.oracle.expressions import holds, updated
from emulator.strategies.oracle.tables import NaiveTable
from emulator.strategies.table_schema import TableSchema
from emulator.testing.table_notation import create_request

ITEM = {
    "pk": "a",
    "name": "north",
    "n": Decimal(5),
    "price": Decimal("708.49"),
    "b": b"\x01\x02",
    "yes": True,
    "none": None,
    "tags": StringSet({"x", "y"}),
    "list": ("a", Decimal(1)),
    "map": {"a": "b", "name": ("z",)},
}

CONDITIONS = [
    (("=", ("n",), Decimal(5)), True),
    (("=", ("yes",), Decimal(1)), False),
    (("<>", ("absent",), "a"), True),
    (("<", ("name",), "o"), True),
    (("<", ("name",), Decimal(1)), False),
    ((">=", ("absent",), Decimal(1)), False),
    (("between", ("n",), Decimal(5), Decimal(6)), True),
    (("in", ("name",), ("south", "north")), True),
    (("exists", ("none",)), True),
    (("missing", ("map", "b")), True),
    (("type", ("tags",), "SS"), True),
    (("begins", ("name",), "no"), True),
    (("begins", ("n",), "5"), False),
    (("contains", ("tags",), "x"), True),
    (("contains", ("list",), Decimal(1)), True),
    (("contains", ("name",), "ort"), True),
    (("contains", ("name",), b"ort"), False),
    (("size", ("map",), "=", Decimal(2)), True),
    (("size", ("n",), "<>", Decimal(9)), True),
    (("=", ("map", "name", 0), "z"), True),
    (("not", ("=", ("absent",), "a")), True),
    (("or", ("exists", ("absent",)), ("and", ("exists", ("n",)), ("exists", ("b",)))), True),
]
UPDATES = [
    [("set", ("name",), "new"), ("remove", ("n",))],
    [("default", ("name",), "x"), ("default", ("fresh",), "x")],
    [("plus", ("n",), Decimal(2)), ("append", ("list",), ("b",))],
    [("add", ("n",), Decimal(-1)), ("add", ("tags",), StringSet({"z"}))],
    [("plus", ("price",), Decimal("0.01"))],  # a sum that ends in a zero, found by the machine
    [("delete", ("tags",), StringSet({"x", "y"})), ("delete", ("absent",), StringSet({"x"}))],
    [("set", ("map", "new"), "v"), ("set", ("list", 9), "end")],
    [("remove", ("map", "a")), ("remove", ("list", 0))],
]
REFUSED = [
    [("set", ("absent", "x"), "v")],
    [("plus", ("absent",), Decimal(1))],
    [("plus", ("name",), Decimal(1))],
    [("append", ("map",), ("a",))],
    [("add", ("name",), Decimal(1))],
    [("delete", ("name",), StringSet({"a"}))],
    [("remove", ("name", 0))],
]


@pytest.fixture
def emu():
    emu = Emulator()
    emu.call("CreateTable", create_request("table"))
    emu.call("PutItem", {"TableName": "table", "Item": dump_item(ITEM)})
    return emu


@pytest.mark.parametrize(("tree", "verdict"), CONDITIONS)
def test_conditions_mean_what_the_engine_says(emu, tree, verdict):
    """CND-1 to CND-13."""
    assert holds(tree, ITEM) is verdict
    request = {"TableName": "table"} | condition_fragment(tree, "FilterExpression", "f")
    assert emu.call("Scan", request)["Count"] == verdict


@pytest.mark.parametrize("actions", UPDATES)
def test_updates_mean_what_the_engine_says(emu, actions):
    """UPD-1 to UPD-16."""
    answer = emu.call(
        "UpdateItem",
        {"TableName": "table", "Key": {"pk": {"S": "a"}}, "ReturnValues": "ALL_NEW"}
        | update_fragment(actions),
    )
    assert dump_item(updated(actions, ITEM, {"pk": "a"})) == answer["Attributes"]


@pytest.mark.parametrize("actions", REFUSED)
def test_refusals_are_the_engines(emu, actions):
    """UPD-6, UPD-8, UPD-10, UPD-11, UPD-15, UPD-16."""
    request = {"TableName": "table", "Key": {"pk": {"S": "a"}}} | update_fragment(actions)
    with pytest.raises(ValidationException):
        emu.call("UpdateItem", request)
    with pytest.raises(ValidationException):
        updated(actions, ITEM, {"pk": "a"})


def test_removals_alone_create_no_item():
    """UPD-20."""
    assert updated([("remove", ("a",))], None, {"pk": "a"}) is None
    assert updated([("remove", ("a", "b"))], None, {"pk": "a"}) is None
    assert updated([], None, {"pk": "a"}) == {"pk": "a"}


def test_a_naive_table_keeps_the_rules_of_keys():
    """KV-4, KV-5, KV-3, IXV-1, IXV-2."""
    table = NaiveTable(TableSchema.of(create_request("table", indexes={"by": "kind:N"})))
    for item in ({}, {"pk": Decimal(1)}, {"pk": ""}, {"pk": "a", "kind": "x"}):
        with pytest.raises(ValidationException):
            table.put(item)
    with pytest.raises(ConditionalCheckFailedException):
        table.put({"pk": "a"}, ("exists", ("pk",)))
    assert table.items == {}
    table.put({"pk": "a", "kind": Decimal(1)})
    with pytest.raises(ValidationException):
        table.update({"pk": "a"}, [("set", ("kind",), "x")])
    assert table.read("by") == [{"pk": "a", "kind": Decimal(1)}]


def test_the_model_of_a_table_stays_under_a_hundred_lines():
    """An oracle is believed because it can be read at a glance."""
    assert len(inspect.getsource(naive).splitlines()) < 100
