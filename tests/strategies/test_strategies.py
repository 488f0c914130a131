"""The strategies: what is drawn as valid is accepted, what is drawn as invalid is refused."""

import sys
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

from emulator import ApiError, Emulator, EmulatorError, ManualClock
from emulator.model import IndexSchema, KeySchema
from emulator.model.wire import dump_value, load_item, load_value
from emulator.strategies import (
    Burst,
    Request,
    TableSchema,
    Workload,
    attribute_values,
    filters,
    items,
    key_conditions,
    keys,
    numbers,
    requests,
    table_schemas,
    updates,
    workloads,
)
from emulator.testing.table_notation import create_request

INDEXES: dict[str, Any] = {
    "indexes": {
        "by_status": ("status", "created:N"),
        "by_place": (("region", "city"), ("zip:N", "x:B")),
    },
    "local_indexes": {"by_total": "total:N"},
}
SCARCE_ORDERS = create_request("orders", "customer", "created:N", provisioned=(5, 5))
ORDERS = create_request("orders", "customer", "created:N", **INDEXES)
quick = settings(
    max_examples=settings().max_examples // 3, suppress_health_check=[HealthCheck.too_slow]
)


def example(strategy):
    """Return one example, the simplest first tried."""
    drawn = []

    @settings(max_examples=1, database=None, phases=[Phase.generate])
    @given(strategy)
    def draw(value):
        drawn.append(value)

    draw()
    return drawn[0]


def filled(schema, stored=()):
    schema = TableSchema.of(schema)
    emu = Emulator(clock=ManualClock(), capacity="off")
    emu.call("CreateTable", schema.create_request())
    for item in stored:
        emu.call("PutItem", {"TableName": schema.name, "Item": item})
    return emu


def with_items(schema):
    return st.tuples(st.just(schema), st.lists(items(schema), max_size=3))


# Values


@quick
@given(attribute_values())
def test_every_value_survives_the_wire(value):
    assert dump_value(load_value(value)) == value


@quick
@given(numbers())
def test_numbers_are_within_what_the_service_stores(number):
    """NUM-3, NUM-4."""
    digits = len(number.normalize().as_tuple().digits)
    assert digits <= 38
    assert number == 0 or Decimal("1E-130") <= abs(number) < Decimal("1E126")


@quick
@given(numbers(min_value=-1.5, max_value=3, places=1))
def test_numbers_keep_to_their_bounds(number):
    assert Decimal("-1.5") <= number <= 3
    assert number * 10 == int(number * 10)


@pytest.mark.parametrize("letters", ["S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"])
def test_types_can_be_chosen(letters):
    assert list(example(attribute_values(types=[letters]))) == [letters]


@quick
@given(attribute_values(form="python"), items(ORDERS, form="python"))
def test_natural_values_are_what_a_table_takes(value, item):
    emu = filled(ORDERS)
    table = emu.table("orders")
    table.put_item(Item=item | {"value": value})
    key = {name: item[name] for name in ("customer", "created")}
    assert table.get_item(Key=key)["Item"] == item | {"value": value}


def test_values_shrink_to_the_simplest():
    assert find(attribute_values(types=["S"]), lambda value: value["S"]) == {"S": "0"}
    assert find(numbers(), lambda number: number > 5) == 6


# Schemas, keys and items


@quick
@given(table_schemas(max_global_indexes=3, max_local_indexes=2))
def test_every_schema_can_be_created_and_read_back(schema):
    emu = filled(schema)
    read = TableSchema.of(emu.call("DescribeTable", {"TableName": schema.name}))
    assert (read.name, read.key) == (schema.name, schema.key)
    assert _by_name(read) == _by_name(schema)


def _by_name(schema):
    """Return what indexes are; descriptions list projected names in order (DS-2)."""
    return {
        index.name: (index.key, index.is_global, index.projection.kind, set(index.projection.names))
        for index in schema.indexes
    }


@pytest.mark.parametrize("width", [(1, 0), (1, 4), (4, 0), (4, 4)])
def test_schemas_have_keys_of_every_width(width):
    """MAK-2."""

    def has_width(schema):
        return width in [(len(one.key.partition), len(one.key.sort)) for one in schema.indexes]

    find(table_schemas(), has_width, settings=settings(phases=[Phase.generate], max_examples=5_000))


@quick
@given(table_schemas().flatmap(with_items))
def test_every_item_is_accepted(drawn):
    schema, stored = drawn
    emu = filled(schema, stored)
    assert emu.call("Scan", {"TableName": "table"})["Count"] == len(
        {tuple(repr(item[name]) for name in schema.key.names) for item in stored}
    )


@quick
@given(keys(ORDERS), items(ORDERS, attributes={"customer": st.sampled_from(["a", "b"]), "n": "N"}))
def test_keys_and_items_have_what_is_asked_for(key, item):
    assert set(key) == {"customer", "created"}
    assert item["customer"]["S"] in ("a", "b")
    assert set(item) <= {
        "customer",
        "created",
        "status",
        "region",
        "city",
        "zip",
        "x",
        "total",
        "n",
    }
    load_item(key)


# Parts of requests


def queries(schema, valid):
    names = [None, *(index.name for index in schema.indexes)]
    return st.sampled_from(names).flatmap(
        lambda index: key_conditions(schema, index=index, valid=valid)
    )


@quick
@given(st.data(), table_schemas())
def test_valid_key_conditions_are_accepted_and_invalid_ones_refused(data, schema):
    """MAK-30 to MAK-39."""
    emu = filled(schema)
    emu.call("Query", {"TableName": "table"} | data.draw(queries(schema, True)))
    with pytest.raises(ApiError) as caught:
        emu.call("Query", {"TableName": "table"} | data.draw(queries(schema, False)))
    assert caught.value.code == "ValidationException"


def test_invalid_key_conditions_have_every_kind_of_fault():
    """KEY-5, KEY-6, KEY-7, KEY-13, MAK-30, MAK-31, MAK-34."""
    emu, told = filled(ORDERS), set()

    # So many that the rarest kind comes also where hypothesis, slowed down, draws other ones.
    @settings(max_examples=600, database=None, derandomize=True, deadline=None)
    @given(key_conditions(ORDERS, index="by_place", valid=False))
    def refuse(condition):
        with pytest.raises(ApiError) as caught:
            emu.call("Query", {"TableName": "orders"} | condition)
        told.add(str(caught.value))

    refuse()
    assert told == {
        "HASH key attributes region must have equality conditions specified in the query",
        "HASH key attributes city must have equality conditions specified in the query",
        "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition "
        "per key",
        "The number of query conditions (5) exceeds the number of key attributes defined in the "
        "schema (4)",
        "Invalid operator used in KeyConditionExpression: OR",
        "Invalid operator used in KeyConditionExpression: NOT",
        "Invalid operator used in KeyConditionExpression: attribute_exists",
        "One or more parameter values were invalid: Condition parameter type does not match schema "
        "type",
        "RANGE key attributes zip must have equality conditions specified in the query because a "
        "condition is present on key attribute x",
    }


@quick
@given(filters(schema=ORDERS), st.lists(items(ORDERS), max_size=3))
def test_filters_are_accepted(condition, stored):
    answer = filled(ORDERS, stored).call("Scan", {"TableName": "orders"} | condition)
    assert answer["Count"] <= answer["ScannedCount"]


@quick
@given(updates(ORDERS), items(ORDERS))
def test_updates_fit_every_item(update, item):
    emu = filled(ORDERS, [item])
    key = {name: item[name] for name in ("customer", "created")}
    emu.call("UpdateItem", {"TableName": "orders", "Key": key} | update)
    emu.call("UpdateItem", {"TableName": "orders", "Key": {**key, "created": {"N": "7"}}} | update)


# Requests


@settings(quick, max_examples=settings().max_examples // 2)
@given(st.data(), table_schemas())
def test_every_valid_request_is_answered(data, schema):
    emu = filled(schema, data.draw(st.lists(items(schema), max_size=2)))
    for request in data.draw(st.lists(requests(schema), min_size=1, max_size=3)):
        emu.call(*request)


@quick
@given(st.data(), table_schemas())
def test_conditional_requests_fail_only_for_their_conditions(data, schema):
    emu = filled(schema, data.draw(st.lists(items(schema), max_size=2)))
    try:
        emu.call(*data.draw(requests(schema, conditional=True)))
    except ApiError as error:
        codes = [reason["Code"] for reason in error.members.get("CancellationReasons", ())]
        assert error.code == "ConditionalCheckFailedException" or set(codes) <= {
            "None",
            "ConditionalCheckFailed",
        }


@settings(quick, max_examples=settings().max_examples // 2)
@given(st.data(), table_schemas())
def test_every_invalid_request_is_refused_and_changes_nothing(data, schema):
    stored = data.draw(st.lists(items(schema), max_size=2))
    emu = filled(schema, stored)
    before = emu.call("Scan", {"TableName": "table"})
    with pytest.raises(ApiError):
        emu.call(*data.draw(requests(schema, valid=False)))
    assert emu.call("Scan", {"TableName": "table"}) == before


def test_operations_can_be_chosen():
    assert example(requests(ORDERS, operations=["Scan"])).operation == "Scan"


# Workloads


def test_a_workload_is_played_in_the_order_of_time():
    put = Request(
        "PutItem", {"TableName": "orders", "Item": {"customer": {"S": "a"}, "created": {"N": "1"}}}
    )
    get = Request(
        "GetItem", {"TableName": "orders", "Key": {"customer": {"S": "a"}, "created": {"N": "1"}}}
    )
    workload = Workload((Burst(10, 4, 2, (put,)), Burst(11, 0, 1, (get,))))
    assert workload.timed() == [(10.0, put), (11.0, get), (12.0, put)]
    emu = filled(ORDERS)
    start = emu.clock.now()
    ledger = workload.play(emu)
    assert (ledger.write_units, ledger.read_units, emu.clock.now() - start) == (2.0, 0.5, 12.0)
    with pytest.raises(EmulatorError, match="give the emulator a ManualClock"):
        workload.play(Emulator())


def test_a_play_can_end_with_the_first_throttle():
    put = Request(
        "PutItem", {"TableName": "orders", "Item": {"customer": {"S": "a"}, "created": {"N": "1"}}}
    )
    workload = Workload((Burst(0, 0, 3_000, (put,)),))
    for capacity in ("observe", "enforce"):
        emu = Emulator(clock=ManualClock(), capacity=capacity)
        emu.call("CreateTable", create_request("orders", "customer", "created:N"))
        ledger = workload.play(emu, until_throttled=True)
        assert (ledger.calls, ledger.throttles) == (1_001, 1)


def test_a_hot_key_is_found_and_shrunk_to_one_burst_of_one_item():
    found = []

    @settings(
        max_examples=200, database=None, derandomize=True, phases=[Phase.generate, Phase.shrink]
    )
    @given(workloads(SCARCE_ORDERS, max_count=20, max_seconds=10))
    def hold(workload):
        emu = Emulator(clock=ManualClock(), capacity="enforce")
        emu.call("CreateTable", SCARCE_ORDERS)
        if workload.play(emu, until_throttled=True).throttles:
            found.append(workload)
            raise AssertionError

    with pytest.raises(AssertionError):
        hold()

    key = {"customer": {"S": "a"}, "created": {"N": "0"}}
    request = Request("PutItem", {"TableName": "orders", "Item": key})
    assert found[-1] == Workload((Burst(0, 0, 10, (request,)),))


@settings(quick, max_examples=15)
@given(workloads(ORDERS, max_count=60, max_bursts=1))
def test_workloads_send_single_items_of_few_keys_in_round_numbers(workload):
    for burst in workload.bursts:
        assert burst.count in (1, 2, 5, 10, 20, 50, 60)
        assert {request.operation for request in burst.requests} <= {
            "PutItem",
            "GetItem",
            "UpdateItem",
            "DeleteItem",
        }


@given(workloads(ORDERS, max_count=5))
def test_workloads_can_be_played(workload):
    assert workload.play(filled(ORDERS)).calls == sum(burst.count for burst in workload.bursts)


def test_throttled_requests_are_part_of_the_play():
    emu = Emulator(clock=ManualClock(), capacity="enforce")
    emu.call("CreateTable", create_request("orders", provisioned=(1, 1)))
    put = Request("PutItem", {"TableName": "orders", "Item": {"pk": {"S": "a"}}})
    assert Workload((Burst(0, 0, 3, (put,)),)).play(emu).throttles == 2
    wrong = Request("PutItem", {"TableName": "orders", "Item": {}})
    with pytest.raises(ApiError, match="Missing the key"):
        Workload((Burst(0, 0, 1, (wrong,)),)).play(emu)


def transactions(operation, action, member):
    """Return a workload of three transactions at once, of one action each."""
    item = {"customer": {"S": "a"}, "created": {"N": "1"}}
    written = {"TransactItems": [{action: {"TableName": "orders", member: item}}]}
    return Workload((Burst(0, 0, 3, (Request(operation, written),)),))


TRANSACTIONS = [
    transactions("TransactWriteItems", "Put", "Item"),
    transactions("TransactGetItems", "Get", "Key"),
]
SCARCE = st.sampled_from(
    [
        {"provisioned": (1, 1)},
        {"OnDemandThroughput": {"MaxReadRequestUnits": 1, "MaxWriteRequestUnits": 1}},
    ]
)


@settings(quick, max_examples=15)
@given(SCARCE, workloads(ORDERS, max_count=5) | st.sampled_from(TRANSACTIONS))
def test_workloads_are_played_to_their_end_where_throughput_is_scarce(members, workload):
    """CAP-706: a transaction without room is throttled like any other request."""
    emu = Emulator(clock=ManualClock(), capacity="enforce")
    emu.call("CreateTable", create_request("orders", "customer", "created:N", **INDEXES, **members))
    assert workload.play(emu).calls == sum(burst.count for burst in workload.bursts)


def test_a_transaction_that_is_cancelled_for_anything_else_is_raised():
    emu = filled(ORDERS)
    key = {"customer": {"S": "a"}, "created": {"N": "1"}}
    check = {"TableName": "orders", "Key": key, "ConditionExpression": "attribute_exists(x)"}
    request = Request("TransactWriteItems", {"TransactItems": [{"ConditionCheck": check}]})
    with pytest.raises(ApiError, match="ConditionalCheckFailed"):
        Workload((Burst(0, 0, 1, (request,)),)).play(emu)


# How the strategies are called


@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        (attribute_values(types=["X"]), "attribute_values(): types are among S, N, B, BOOL, NULL*"),
        (attribute_values(types=[]), "attribute_values(): types is empty"),
        (
            attribute_values(form="json"),  # type: ignore[arg-type]  # wrong on purpose
            "attribute_values(): form is one of wire, python, not 'json'",
        ),
        (numbers(min_value=2, max_value=1), "numbers(): min_value=2 is above max_value=1"),
        (table_schemas(max_global_indexes=21), "table_schemas(): max_global_indexes is between*"),
        (
            items(3),  # type: ignore[arg-type]  # wrong on purpose
            "items(): a schema is a TableSchema, a CreateTable request or a table's*",
        ),
        (items(ORDERS, attributes={"a": "X"}), "items(): an attribute's type is one of S, N, B*"),
        (
            keys(ORDERS, form=1),  # type: ignore[arg-type]  # wrong on purpose
            "keys(): form is one of wire, python, not 1",
        ),
        (key_conditions(ORDERS, index="none"), "key_conditions(): table 'orders' has no index*"),
        (filters(attributes={}), "filters(): there is no attribute to filter by"),
        (
            updates(create_request("abc"), attributes={}),
            "updates(): there is no attribute to update",
        ),
        (requests(ORDERS, operations=["Fly"]), "requests(): operations are among PutItem*"),
    ],
)
def test_wrong_arguments_are_told_when_something_is_drawn(strategy, message):
    with pytest.raises(InvalidArgument) as caught:
        example(strategy)
    told = str(caught.value)
    assert told == message or (message[-1] == "*" and told.startswith(message[:-1]))


@pytest.mark.parametrize("kind", [KeySchema, IndexSchema, Request, Workload])
def test_types_are_resolved(kind):
    assert isinstance(example(st.from_type(kind)), kind)


@settings(quick, max_examples=15)
@given(st.from_type(TableSchema))
def test_a_schema_resolved_from_its_type_can_be_created(schema):
    filled(schema)


def test_drawing_is_quick_enough_for_hundreds_of_examples():
    """A whole request takes some ten thousand calls, and few are thrown away."""
    begun, drawn, events = [], [], 0

    def note(*_):
        nonlocal events
        events += 1

    @settings(max_examples=20, database=None)
    @given(st.data())
    def draw(data):
        begun.append(None)
        sys.setprofile(note)
        try:
            drawn.append(data.draw(requests(ORDERS)))
        finally:
            sys.setprofile(None)

    draw()
    assert len(drawn) >= 20
    assert len(begun) < 2 * len(drawn)
    assert events < 100_000 * len(begun)
