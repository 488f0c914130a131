"""Rules about vector indexes (VIX-11, VIX-12), and about the vectors of items (VIX-31)."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from emulator.engine import Table
from emulator.model import (
    MISSING,
    Item,
    Value,
    equal,
    first_repeat,
    format_number,
    is_empty,
    type_name,
)
from emulator.model import kind_of as kind_of_empty
from emulator.model.wire import INVALID
from emulator.operations.rules import keys, tables, updates
from emulator.service import errors, limits

if TYPE_CHECKING:
    from emulator.engine.vector_indexes import VectorIndex
    from emulator.model.vectors import VectorSchema

Wire: TypeAlias = Mapping[str, Any]

# Definitions
ON_DEMAND_ONLY: Final = INVALID + "Vector indexes are only supported for PAY_PER_REQUEST tables"
TOO_MANY: Final = INVALID + "VectorIndex count exceeds the per-table limit of 5"
TOO_MANY_IN_TIME: Final = (
    "Subscriber limit exceeded: Number of vector secondary indexes exceeds per-table limit of 5"
)
DIMENSIONS: Final = INVALID + "Number of dimensions must be between 1 and 4096 inclusive."
ROLE_COUNT: Final = (
    INVALID + "Value '{count}' at 'SearchSchema' failed to satisfy constraint: Member must have "
    "{role} count less than or equal to {most}"
)
SCHEMA_TWICE: Final = INVALID + "SearchSchema contains a duplicate AttributeName"
SCHEMA_UNDEFINED: Final = (
    INVALID + "One element in SearchSchema is not defined in attribute definitions"
)
VECTOR_DEFINED: Final = (
    INVALID + "Conflicting attribute definition for '{name}'. An attribute cannot be defined in "
    "AttributeDefinitions when used as a VectorAttribute."
)
OTHER_DIMENSIONS: Final = (
    INVALID + "Conflicting attribute definition for '{name}'. All VectorIndexes on the same vector "
    "attribute must use the same dimensions."
)

# Changes
SEVERAL_ACTIONS: Final = (
    INVALID + "Only one vector index action is allowed per VectorIndexUpdate object"
)
NO_ACTION: Final = (
    INVALID + "One of VectorIndexUpdate.Create, VectorIndexUpdate.Delete must not be null"
)
# The two blanks are the service's own.
BEING_CREATED: Final = (
    "Attempt to change a resource which is still in use: Index is being created.  Table: {table} "
    "Index: {index}"
)
IN_ALLOCATION: Final = (
    "Attempt to change a resource which is still in use: Index creation is in resource allocation "
    "phase. Retry deletion during backfilling phase or when the index is active. Table: {table} "
    "Index: {index}"
)
# Observed: dynoxide, 2026-08-12; ExtendDB saw ON_DEMAND_ONLY (VIX-12).
STAY_ON_DEMAND: Final = INVALID + "Tables with vector indexes must be in PAY_PER_REQUEST mode"

# Items
_INVALID_VECTOR: Final = "One or more parameter values were invalid. "
NOT_A_LIST: Final = (
    _INVALID_VECTOR + "Invalid type for parameter {name}, Expected: 32-bit floating point number "
    "list IndexName: {index}"
)
NOT_A_NUMBER: Final = (
    _INVALID_VECTOR + "Invalid type for parameter {name}[{number}], Expected: 32-bit floating "
    "point number, Actual: {actual}. IndexName: {index}"
)
OUT_OF_RANGE: Final = (
    _INVALID_VECTOR + "Invalid value for parameter {name}[{number}], Value: {value} is outside "
    "valid range [-3.4028235E38, 3.4028235E38]. IndexName: {index}"
)
WRONG_LENGTH: Final = (
    _INVALID_VECTOR + "Invalid size for parameter {name}, Expected: {wanted}, Actual: {actual} "
    "IndexName: {index}"
)
WRONG_TYPE: Final = (
    _INVALID_VECTOR + "Attribute '{name}' type mismatch. Expected: {wanted}, Actual: {actual}. "
    "IndexName: {index}"
)


# Definitions


def new_indexes_are_well_formed(request: Wire) -> None:
    """Refuse vector indexes that a new table cannot have (VIX-11)."""
    indexes = request.get("VectorIndexes")
    if indexes is None:
        return
    if not indexes:
        raise errors.ValidationException(tables.EMPTY_INDEX_LIST.format(member="VectorIndexes"))
    if tables.billing(request) != "PAY_PER_REQUEST":
        raise errors.ValidationException(ON_DEMAND_ONLY)
    if len(indexes) > limits.VECTOR_INDEXES:
        raise errors.ValidationException(TOO_MANY)
    names = [index["IndexName"] for index in (*tables.indexes(request), *indexes)]
    repeat = first_repeat(names)
    if repeat is not None:
        raise errors.ValidationException(tables.DUPLICATE_INDEX.format(index=names[repeat]))
    _definitions_are_well_formed(indexes, tables.names_of(request["AttributeDefinitions"]), {})


def _definitions_are_well_formed(
    indexes: Sequence[Wire], defined: Container[str], dimensions: Mapping[str, int]
) -> None:
    """Refuse what no vector index can be, fault by fault (VIX-11).

    Args:
        indexes: Their definitions.
        defined: The attributes that the request defines.
        dimensions: Those of the vector attributes that the table has.
    """
    for rule in (_dimensions_are_in_range, _roles_are_not_too_many, _schema_names_differ):
        for index in indexes:
            rule(index)
    for index in indexes:
        if not all(name in defined for name in tables.names_of(index.get("SearchSchema") or ())):
            raise errors.ValidationException(SCHEMA_UNDEFINED)
    for index in indexes:
        name = index["VectorAttribute"]["AttributeName"]
        if name in defined:
            raise errors.ValidationException(VECTOR_DEFINED.format(name=name))
    agreed = dict(dimensions)
    for index in indexes:
        name, count = index["VectorAttribute"]["AttributeName"], int(index["Dimensions"])
        if agreed.setdefault(name, count) != count:
            raise errors.ValidationException(OTHER_DIMENSIONS.format(name=name))
    for index in indexes:
        tables.projection_is_complete(index["Projection"])


def _dimensions_are_in_range(index: Wire) -> None:
    if int(index["Dimensions"]) > limits.VECTOR_DIMENSIONS:
        raise errors.ValidationException(DIMENSIONS)


def _roles_are_not_too_many(index: Wire) -> None:
    roles = [element["SearchSchemaElementType"] for element in index.get("SearchSchema") or ()]
    for role, most in (
        ("HASH", limits.SEARCH_PARTITIONS),
        ("INLINE_FILTER", limits.SEARCH_FILTERS),
    ):
        count = roles.count(role)
        if count > most:
            raise errors.ValidationException(ROLE_COUNT.format(count=count, role=role, most=most))


def _schema_names_differ(index: Wire) -> None:
    if first_repeat(tables.names_of(index.get("SearchSchema") or ())) is not None:
        raise errors.ValidationException(SCHEMA_TWICE)


# Changes


def actions_of(request: Wire, kind: str) -> list[Wire]:
    """Return the Create or Delete actions on vector indexes, in order."""
    entries = request.get("VectorIndexUpdates") or ()
    return [update[kind] for update in entries if update.get(kind) is not None]


def mode_stays(request: Wire, table: Table) -> None:
    """Refuse to switch a table with vector indexes to provisioned throughput (VIX-12)."""
    if request.get("BillingMode") == "PROVISIONED" and live_indexes(table):
        raise errors.ValidationException(STAY_ON_DEMAND)


def updates_fit(request: Wire, table: Table) -> None:
    """Refuse changes of vector indexes that cannot be carried out (VIX-12, then VIX-11)."""
    created, deleted = actions_of(request, "Create"), actions_of(request, "Delete")
    if created and not table.resource.throughput.on_demand:
        raise errors.ValidationException(ON_DEMAND_ONLY)
    for update in request.get("VectorIndexUpdates") or ():
        _has_one_action(update)
    live = {index.schema.name for index in live_indexes(table)}
    for action in deleted:
        if action["IndexName"] not in live:
            raise errors.ResourceNotFoundException(
                updates.NO_INDEX.format(index=action["IndexName"], table=table.name)
            )
    for action in created:
        if action["IndexName"] in live or action["IndexName"] in table.indexes:
            raise errors.ValidationException(updates.INDEX_EXISTS)
        _vector_is_no_key(action, table)
        if len(live) == limits.VECTOR_INDEXES:
            raise errors.LimitExceededException(TOO_MANY_IN_TIME)
        _new_index_is_well_formed(action, request, table)


def _has_one_action(update: Wire) -> None:
    actions = [kind for kind in ("Create", "Delete") if update.get(kind) is not None]
    if len(actions) > 1:
        raise errors.ValidationException(SEVERAL_ACTIONS)
    if not actions:
        raise errors.ValidationException(NO_ACTION)


def _new_index_is_well_formed(action: Wire, request: Wire, table: Table) -> None:
    defined = tables.names_of(request.get("AttributeDefinitions") or ())
    dimensions = {index.schema.attribute: index.schema.dimensions for index in live_indexes(table)}
    _definitions_are_well_formed([action], defined, dimensions)


def live_indexes(table: Table) -> list[VectorIndex]:
    """Return the vector indexes of a table that are not being deleted."""
    return [] if table.vectors is None else list(table.vectors)


def indexes_are_not_in_the_making(request: Wire, table: Table, now_ns: int) -> None:
    """Refuse an index that is being created already, or has to be before it is deleted (VIX-12).

    Either is reported before the state of the table, which is UPDATING meanwhile.
    """
    created = {action["IndexName"] for action in actions_of(request, "Create")}
    indexes: Iterable[Any] = (*table.indexes.values(), *live_indexes(table))
    for index in indexes:
        name = index.schema.name
        if name in created and index.status(now_ns) == "CREATING":
            raise errors.ResourceInUseException(BEING_CREATED.format(table=table.name, index=name))
    deleted = {action["IndexName"] for action in actions_of(request, "Delete")}
    for index in live_indexes(table):
        name = index.schema.name
        if name in deleted and index.is_backfilling(now_ns) is False:
            raise errors.ResourceInUseException(IN_ALLOCATION.format(table=table.name, index=name))


def _vector_is_no_key(action: Wire, table: Table) -> None:
    """Refuse a vector attribute that is part of a key of the table or of an index.

    Observed: ExtendDB, 2026-08-13, for a table's partition key. Assumed: for other keys, too.
    """
    name, count = action["VectorAttribute"]["AttributeName"], int(action["Dimensions"])
    for key in (table.key, *(schema.key for schema in table.index_schemas)):
        if name in key.names:
            existing = updates.schema_text(updates.key_roles(key))
            new = _vector_text(name, count)
            raise errors.ValidationException(updates.REDEFINED.format(existing=existing, new=new))


def _vector_text(name: str, dimensions: int) -> str:
    return f"VectorIndexSchema:[VectorAttribute: key{{{name}:L:{dimensions}}}]"


def global_indexes_fit(request: Wire, table: Table) -> None:
    """Refuse a global index with a vector index's name, or keyed on its vector (VIX-12)."""
    for action in updates.actions_of(request, "Create"):
        if any(index.schema.name == action["IndexName"] for index in live_indexes(table)):
            raise errors.ValidationException(updates.INDEX_EXISTS)
        if request.get("AttributeDefinitions") is not None:
            _keys_are_no_vectors(updates.key_elements(action, request), table)


def _keys_are_no_vectors(key: Sequence[tuple[str, str | None, str]], table: Table) -> None:
    for index in live_indexes(table):
        if any(name == index.schema.attribute for name, _, _ in key):
            existing = _vector_text(index.schema.attribute, index.schema.dimensions)
            new = updates.schema_text(key)
            raise errors.ValidationException(updates.REDEFINED.format(existing=existing, new=new))


# Items


def vectors_can_be_put(table: Table, item: Item) -> None:
    """Refuse an item that a vector index of its table cannot hold (VIX-31, VIX-32)."""
    if table.vectors is not None:
        for schema in table.vectors.schemas:
            _judge(schema, item.attributes, keys.EMPTY_INDEX_KEY)


def vectors_can_be_updated(table: Table, old: Item | None, new: Item) -> None:
    """Refuse an update by which a vector index cannot hold the item any more (VIX-31, VIX-32).

    Assumed: attributes that do not change are not checked, as with index keys (IXV-4).
    """
    if table.vectors is None:
        return
    for schema in table.vectors.schemas:
        names = (schema.attribute, *(element.name for element in schema.search))
        judged = {name: new.attributes[name] for name in names if _is_judged(table, old, new, name)}
        _judge(schema, judged, keys.EMPTY_INDEX_KEY_UPDATE)


def _is_judged(table: Table, old: Item | None, new: Item, name: str) -> bool:
    if name not in new.attributes:
        return False
    if old is None or table.settings.index_key_check == "all":
        return True
    before, after = old.attributes.get(name, MISSING), new.attributes[name]
    return before is not after and not equal(before, after)


def _judge(schema: VectorSchema, attributes: Mapping[str, Value], empty_key: str) -> None:
    """Refuse the first fault: the vector's type, elements and length, then the search schema."""
    if schema.attribute in attributes:
        _is_vector(schema, attributes[schema.attribute])
    for element in schema.search:
        if element.name not in attributes:
            continue
        value = attributes[element.name]
        if not element.key.accepts(value):
            raise errors.ValidationException(
                WRONG_TYPE.format(
                    name=element.name,
                    wanted=element.type,
                    actual=type_name(value),
                    index=schema.name,
                )
            )
        if element.role == "HASH" and is_empty(value):
            raise errors.ValidationException(
                empty_key.format(kind=kind_of_empty(value), index=schema.name, name=element.name)
            )


def _is_vector(schema: VectorSchema, value: Value) -> None:
    from emulator.model.vectors import is_single

    name, index = schema.attribute, schema.name
    if not isinstance(value, tuple):
        raise errors.ValidationException(NOT_A_LIST.format(name=name, index=index))
    for number, element in enumerate(value):
        if not isinstance(element, Decimal):
            raise errors.ValidationException(
                NOT_A_NUMBER.format(
                    name=name, number=number, actual=type_name(element), index=index
                )
            )
        if not is_single(element):
            raise errors.ValidationException(
                OUT_OF_RANGE.format(
                    name=name, number=number, value=format_number(element), index=index
                )
            )
    if len(value) != schema.dimensions:
        raise errors.ValidationException(
            WRONG_LENGTH.format(name=name, wanted=schema.dimensions, actual=len(value), index=index)
        )
