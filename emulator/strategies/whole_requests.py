"""Strategies of whole requests: those that a table answers, and those that it refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from emulator.model.wire import dump_item
from emulator.strategies import expressions, schemas
from emulator.strategies.expression_trees import (
    ExpressionWriter,
    Fragment,
    condition_fragment,
    merged,
    update_fragment,
)
from emulator.strategies.table_schema import Schema, TableSchema
from emulator.strategies.values import AttributeTypes, checked_when_drawn

UNKNOWN_OPERATION: Final = "operations are among {known}, not {given!r}"


class Request(NamedTuple):
    """An operation and its parameters: ``emu.call(*request)``.

    >>> from emulator import Emulator
    >>> Emulator().call(*Request("ListTables", {}))
    {'TableNames': []}
    """

    operation: str
    parameters: dict[str, Any]


@checked_when_drawn
def requests(
    schema: Schema,
    *,
    valid: bool = True,
    operations: Sequence[str] | None = None,
    conditional: bool = False,
    attributes: AttributeTypes | None = None,
) -> SearchStrategy[Request]:
    """Draw whole requests on a table that exists.

    A valid one is answered, whatever items of ``items(schema)`` the table holds. One that is not
    valid is refused, whatever the table holds, and has one fault.

    Args:
        schema: A TableSchema, a CreateTable request or a table's description.
        valid: False for requests that the service refuses.
        operations: The operations to draw; by default all that read or write items.
        conditional: Whether writes may have conditions, which may fail.
        attributes: The attributes beside the keys; ``ATTRIBUTES`` by default.

    >>> from emulator.strategies import create_request
    >>> orders = create_request("orders", "customer", "created:N")
    >>> from hypothesis import given, settings
    >>> @settings(max_examples=5)
    ... @given(requests(orders, operations=["GetItem"]))
    ... def law(request):
    ...     assert request.operation == "GetItem"
    >>> law()
    """
    chosen = list(_BODIES) if operations is None else list(operations)
    for name in chosen:
        if name not in _BODIES:
            raise ValueError(UNKNOWN_OPERATION.format(known=", ".join(_BODIES), given=name))
    table = _Table(TableSchema.of(schema), schemas.or_default(attributes), conditional=conditional)
    drawn = st.one_of(*(_requests(table, name) for name in chosen))
    return drawn if valid else drawn.flatmap(lambda request: _spoilt(table, request))


class _Table:
    """The table that requests are drawn for."""

    def __init__(
        self, schema: TableSchema, attributes: AttributeTypes, *, conditional: bool
    ) -> None:
        self.schema = schema
        self.attributes = attributes
        self.others = schemas.other_attributes(schema, attributes)
        self.keys = schemas.model_keys(schema, attributes).map(dump_item)
        self.items = schemas.model_items(schema, attributes).map(dump_item)
        self.conditional = conditional

    def conditions(
        self, member: str, prefix: str, *, wanted: bool, index: str | None = None
    ) -> SearchStrategy[Fragment]:
        """Draw a condition or a filter, or none; of an index, on what it holds (QRY-10)."""
        nothing: SearchStrategy[Fragment] = st.just({})
        others = self.others
        if index is not None:
            projects = self.schema.index(index).projects
            others = {name: kinds for name, kinds in others.items() if projects(name)}
        if not wanted or not others:
            return nothing
        trees = expressions.condition_trees(others)
        return st.one_of(nothing, trees.map(lambda tree: condition_fragment(tree, member, prefix)))

    def updates(self) -> SearchStrategy[Fragment]:
        """Draw an update, or none if there is nothing to update."""
        if not self.others and not self.schema.indexes:
            return st.just({})
        return expressions.update_trees(self.schema, self.attributes).map(update_fragment)


def _requests(table: _Table, operation: str) -> SearchStrategy[Request]:
    bodies = _BODIES[operation](table)
    target = {} if operation in _MANY else {"TableName": table.schema.name}
    common = st.fixed_dictionaries(
        {}, optional={"ReturnConsumedCapacity": st.sampled_from(("INDEXES", "TOTAL", "NONE"))}
    )
    return st.builds(lambda body, extra: Request(operation, target | body | extra), bodies, common)


def _write_options(*values: str) -> SearchStrategy[Fragment]:
    return st.fixed_dictionaries(
        {},
        optional={
            "ReturnValues": st.sampled_from(("NONE", "ALL_OLD", *values)),
            "ReturnItemCollectionMetrics": st.sampled_from(("SIZE", "NONE")),
        },
    )


@st.composite
def _put(draw: DrawFn, table: _Table) -> Fragment:
    condition = draw(table.conditions("ConditionExpression", "c", wanted=table.conditional))
    return {"Item": draw(table.items)} | condition | draw(_write_options())


@st.composite
def _delete(draw: DrawFn, table: _Table) -> Fragment:
    condition = draw(table.conditions("ConditionExpression", "c", wanted=table.conditional))
    return {"Key": draw(table.keys)} | condition | draw(_write_options())


@st.composite
def _update(draw: DrawFn, table: _Table) -> Fragment:
    condition = draw(table.conditions("ConditionExpression", "c", wanted=table.conditional))
    options = draw(_write_options("UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"))
    return {"Key": draw(table.keys)} | merged(draw(table.updates()), condition) | options


@st.composite
def _get(draw: DrawFn, table: _Table) -> Fragment:
    projection = draw(_projections(table, None))
    consistent = {"ConsistentRead": draw(st.booleans())}
    return {"Key": draw(table.keys)} | projection | consistent


@st.composite
def _query(draw: DrawFn, table: _Table) -> Fragment:
    index = draw(_index_names(table))
    tree = draw(expressions.key_condition_trees(table.schema.key_of(index), table.attributes))
    condition = condition_fragment(tree, "KeyConditionExpression", "k")
    return merged(condition, draw(_page_options(table, index))) | draw(
        st.fixed_dictionaries({}, optional={"ScanIndexForward": st.booleans()})
    )


@st.composite
def _scan(draw: DrawFn, table: _Table) -> Fragment:
    options = draw(_page_options(table, draw(_index_names(table))))
    segments = draw(st.integers(0, 4))
    if segments:
        segment = draw(st.integers(0, segments - 1))
        options |= {"TotalSegments": segments, "Segment": segment}
    return options


def _index_names(table: _Table) -> SearchStrategy[str | None]:
    return st.sampled_from([None, *(index.name for index in table.schema.indexes)])


@st.composite
def _page_options(draw: DrawFn, table: _Table, index: str | None) -> Fragment:
    """Draw the common members of Query and Scan: filter, projection, limit, consistency."""
    options: Fragment = draw(st.fixed_dictionaries({}, optional={"Limit": st.integers(1, 100)}))
    if index is not None:
        options["IndexName"] = index
    if index is None or not table.schema.index(index).is_global:
        options |= draw(st.fixed_dictionaries({}, optional={"ConsistentRead": st.booleans()}))
    if draw(st.booleans()):
        options["Select"] = "COUNT"
        shown: Fragment = {}
    else:
        shown = draw(_projections(table, index))
    filters = table.conditions("FilterExpression", "f", wanted=True, index=index)
    return options | merged(draw(filters), shown)


@st.composite
def _projections(draw: DrawFn, table: _Table, index: str | None) -> Fragment:
    """Draw a projection of what the table, or a global index, has; or none (SEL-6)."""
    names = [*table.schema.key.names, *table.others]
    if index is not None:
        schema = table.schema.index(index)
        if schema.is_global:
            names = [name for name in names if schema.projects(name)]
    chosen = draw(st.lists(st.sampled_from(names), max_size=3, unique=True))
    if not chosen:
        return {}
    writer = ExpressionWriter("p")
    text = ", ".join(writer.path((name,)) for name in chosen)
    return writer.fragment("ProjectionExpression", text)


def _distinct_keys(table: _Table, most: int) -> SearchStrategy[list[dict[str, Any]]]:
    return st.lists(
        table.keys, min_size=1, max_size=most, unique_by=lambda key: repr(sorted(key.items()))
    )


@st.composite
def _batch_get(draw: DrawFn, table: _Table) -> Fragment:
    wanted = {"Keys": draw(_distinct_keys(table, 4))} | draw(_projections(table, None))
    return {"RequestItems": {table.schema.name: wanted}}


@st.composite
def _batch_write(draw: DrawFn, table: _Table) -> Fragment:
    writes = [
        draw(st.sampled_from(({"DeleteRequest": {"Key": key}}, None)))
        or {"PutRequest": {"Item": draw(table.items) | key}}
        for key in draw(_distinct_keys(table, 4))
    ]
    return {"RequestItems": {table.schema.name: writes}}


@st.composite
def _transact_get(draw: DrawFn, table: _Table) -> Fragment:
    return {
        "TransactItems": [
            {"Get": {"TableName": table.schema.name, "Key": key} | draw(_projections(table, None))}
            for key in draw(_distinct_keys(table, 4))
        ]
    }


@st.composite
def _transact_write(draw: DrawFn, table: _Table) -> Fragment:
    actions = []
    for key in draw(_distinct_keys(table, 4)):
        kind = draw(st.sampled_from(("Put", "Delete", "Update")))
        body: Fragment = {"TableName": table.schema.name}
        condition = draw(table.conditions("ConditionExpression", "c", wanted=table.conditional))
        if kind == "Put":
            body |= {"Item": draw(table.items) | key} | condition
        else:
            update = draw(table.updates()) if kind == "Update" else {}
            if kind == "Update" and not update:
                kind = "Delete"
            body |= {"Key": key} | merged(update, condition)
        actions.append({kind: body})
    return {"TransactItems": actions}


_BODIES: Final[dict[str, Callable[[_Table], SearchStrategy[Fragment]]]] = {
    "PutItem": _put,
    "GetItem": _get,
    "UpdateItem": _update,
    "DeleteItem": _delete,
    "Query": _query,
    "Scan": _scan,
    "BatchGetItem": _batch_get,
    "BatchWriteItem": _batch_write,
    "TransactGetItems": _transact_get,
    "TransactWriteItems": _transact_write,
}
_MANY: Final = ("BatchGetItem", "BatchWriteItem", "TransactGetItems", "TransactWriteItems")


# Faults


@st.composite
def _spoilt(draw: DrawFn, table: _Table, request: Request) -> Request:
    """Draw a request with one fault in it, for which every table refuses it."""
    operation, parameters = request
    fault = draw(st.sampled_from(_FAULTS[operation]))
    return Request(operation, fault(draw, table, dict(parameters)))


def _bad_member(member: str, value: Any) -> Callable[..., Fragment]:
    return lambda _draw, _table, parameters: parameters | {member: value}


def _no_member(member: str) -> Callable[..., Fragment]:
    return lambda _draw, _table, parameters: {
        name: value for name, value in parameters.items() if name != member
    }


def _bad_key(draw: DrawFn, table: _Table, key: dict[str, Any]) -> dict[str, Any]:
    """Spoil a primary key: too few or too many attributes, a wrong type, an empty value."""
    attribute = draw(st.sampled_from(table.schema.key.attributes))
    wrong = {"S": {"N": "1"}, "N": {"S": "1"}, "B": {"BOOL": True}}[attribute.type]
    empty = {"S": {"S": ""}, "N": {"N": ""}, "B": {"B": ""}}[attribute.type]
    return draw(
        st.sampled_from(
            [
                {name: value for name, value in key.items() if name != attribute.name},
                key | {attribute.name: wrong},
                key | {attribute.name: empty},
            ]
        )
    )


def _spoilt_key(draw: DrawFn, table: _Table, parameters: Fragment) -> Fragment:
    return parameters | {"Key": _bad_key(draw, table, parameters["Key"])}


def _extra_key(_draw: DrawFn, _table: _Table, parameters: Fragment) -> Fragment:
    return parameters | {"Key": parameters["Key"] | {"not a key": {"S": "x"}}}


def _spoilt_item(draw: DrawFn, table: _Table, parameters: Fragment) -> Fragment:
    return parameters | {"Item": _bad_key(draw, table, parameters["Item"])}


def _bad_value(draw: DrawFn, _table: _Table, parameters: Fragment) -> Fragment:
    value = draw(st.sampled_from(BAD_VALUES))
    return parameters | {"Item": parameters["Item"] | {"spoilt": value}}


def _bad_index_key(draw: DrawFn, table: _Table, parameters: Fragment) -> Fragment:
    """Spoil the key of an index, or where there is none, a value (IXV-1)."""
    names = [name for name in table.schema.key_types if name not in table.schema.key.names]
    if not names:
        return _bad_value(draw, table, parameters)
    spoilt = {draw(st.sampled_from(names)): {"BOOL": True}}
    return parameters | {"Item": parameters["Item"] | spoilt}


def _bad_expression(member: str) -> Callable[..., Fragment]:
    def spoil(draw: DrawFn, _table: _Table, parameters: Fragment) -> Fragment:
        text = draw(
            st.sampled_from(("", "((a))", "a = ", "size(a)", "a ! b", "#none = :none", "SET"))
        )
        return parameters | {member: text}

    return spoil


def _unused_value(_draw: DrawFn, _table: _Table, parameters: Fragment) -> Fragment:
    values = parameters.get("ExpressionAttributeValues", {})
    return parameters | {"ExpressionAttributeValues": values | {":unused": {"S": "x"}}}


def _update_of_key(draw: DrawFn, table: _Table, parameters: Fragment) -> Fragment:
    name = draw(st.sampled_from(table.schema.key.names))
    return {member: parameters[member] for member in ("TableName", "Key")} | {
        "UpdateExpression": "SET #key = :value",
        "ExpressionAttributeNames": {"#key": name},
        "ExpressionAttributeValues": {":value": {"S": "x"}},
    }


def _bad_key_condition(draw: DrawFn, table: _Table, parameters: Fragment) -> Fragment:
    index = parameters.get("IndexName")
    return {"TableName": parameters["TableName"]} | draw(
        expressions.key_conditions(table.schema, index=index, valid=False)
    )


def _repeated(member: str) -> Callable[..., Fragment]:
    """Ask for the same item twice (BGI-3, BWI-2, TXW-2)."""

    def spoil(_draw: DrawFn, table: _Table, parameters: Fragment) -> Fragment:
        if member == "TransactItems":
            return parameters | {member: parameters[member] + parameters[member][:1]}
        wanted = parameters[member][table.schema.name]
        if isinstance(wanted, list):
            twice: Any = wanted + wanted[:1]
        else:
            twice = wanted | {"Keys": wanted["Keys"] + wanted["Keys"][:1]}
        return parameters | {member: {table.schema.name: twice}}

    return spoil


def _other_table(_draw: DrawFn, table: _Table, parameters: Fragment) -> Fragment:
    wanted = parameters["RequestItems"][table.schema.name]
    return parameters | {"RequestItems": {"no-such-table": wanted}}


#: Attribute values that the service refuses anywhere (TYP-1, TYP-2, NUM-*, SET-*).
BAD_VALUES: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"S": "a", "N": "1"},
    {"N": "one"},
    {"N": ""},
    {"N": "1" * 39},
    {"N": "1E126"},
    {"N": "1E-131"},
    {"NULL": False},
    {"SS": []},
    {"NS": ["1", "1.0"]},
    {"BS": ["AA==", "AA=="]},
    {"S": 1},
    {"L": {}},
    {"M": {"": {"S": "a"}}},
    {"X": "a"},
)
_ANYWHERE: Final = (
    _bad_member("TableName", "no-such-table"),
    _bad_member("TableName", 7),
    _no_member("TableName"),
    _bad_member("ReturnConsumedCapacity", "SOME"),
)
_PAGES: Final = (
    *_ANYWHERE,
    _bad_member("Limit", 0),
    _bad_member("Select", "EVERYTHING"),
    _bad_member("IndexName", "no-such-index"),
    _bad_expression("FilterExpression"),
    _unused_value,
)
_FAULTS: Final[dict[str, tuple[Callable[..., Fragment], ...]]] = {
    "PutItem": (
        *_ANYWHERE,
        _spoilt_item,
        _bad_value,
        _bad_index_key,
        _bad_expression("ConditionExpression"),
        _unused_value,
        _bad_member("ReturnValues", "ALL_NEW"),
        _no_member("Item"),
    ),
    "GetItem": (*_ANYWHERE, _spoilt_key, _extra_key, _bad_expression("ProjectionExpression")),
    "UpdateItem": (
        *_ANYWHERE,
        _spoilt_key,
        _extra_key,
        _bad_expression("UpdateExpression"),
        _unused_value,
        _update_of_key,
    ),
    "DeleteItem": (*_ANYWHERE, _spoilt_key, _extra_key, _unused_value, _no_member("Key")),
    "Query": (*_PAGES, _bad_key_condition, _no_member("KeyConditionExpression")),
    "Scan": (*_PAGES, _bad_member("TotalSegments", 0), _bad_member("Segment", 9)),
    "BatchGetItem": (_repeated("RequestItems"), _other_table, _no_member("RequestItems")),
    "BatchWriteItem": (_repeated("RequestItems"), _other_table, _no_member("RequestItems")),
    "TransactGetItems": (_repeated("TransactItems"), _no_member("TransactItems")),
    "TransactWriteItems": (_repeated("TransactItems"), _no_member("TransactItems")),
}


st.register_type_strategy(Request, schemas.table_schemas().flatmap(requests))
