"""Strategies of schemas, and of the keys and items that tables of a schema hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from emulator.model import IndexSchema, KeyAttribute, KeySchema, Projection
from emulator.service import limits
from emulator.strategies import values
from emulator.strategies.table_schema import Schema, TableSchema

#: The attributes beside the keys that items have and expressions name, unless others are named:
#: one of each type, some of them reserved words.
ATTRIBUTES: Final[Mapping[str, str]] = {
    "title": "S",
    "total": "N",
    "raw": "B",
    "active": "BOOL",
    "nothing": "NULL",
    "tags": "SS",
    "scores": "NS",
    "digests": "BS",
    "log": "L",
    "doc": "M",
}

_KEY_NAMES: Final = ("pk", "sk", "status", "region", "date", "a-b", "x.y", "été", "k1", "k2", "k3")


@values.checked_when_drawn
def table_schemas(
    *, max_global_indexes: int = 2, max_local_indexes: int = 1
) -> SearchStrategy[TableSchema]:
    """Draw tables with any key, and with indexes of every kind of key and projection.

    Args:
        max_global_indexes: The most global indexes; their keys have one to four partition and
            none to four sort attributes.
        max_local_indexes: The most local indexes; only a table with a sort key has any.

    >>> from hypothesis import given, settings
    >>> @settings(max_examples=5)
    ... @given(table_schemas(max_global_indexes=1))
    ... def law(schema):
    ...     assert len(schema.create_request()) > 0
    >>> law()
    """
    _check_count("max_global_indexes", max_global_indexes, limits.GLOBAL_INDEXES)
    _check_count("max_local_indexes", max_local_indexes, limits.LOCAL_INDEXES)
    return _table_schemas(max_global_indexes, max_local_indexes)


def _check_count(name: str, count: int, most: int) -> None:
    if not 0 <= count <= most:
        raise ValueError(f"{name} is between 0 and {most}, not {count}")


@st.composite
def _table_schemas(draw: DrawFn, max_global_indexes: int, max_local_indexes: int) -> TableSchema:
    types: Any = st.sampled_from("SNB")
    attributes = [KeyAttribute(name, draw(types)) for name in _KEY_NAMES]
    key = KeySchema((attributes[0],), tuple(attributes[1:2] if draw(st.booleans()) else ()))
    indexes = []
    if key.sort:
        for number in range(draw(st.integers(0, max_local_indexes))):
            sort = draw(st.sampled_from(attributes[1:]))
            index_key = KeySchema(key.partition, (sort,))
            indexes.append(draw(_index_schemas(f"local{number}", index_key, key)))
    for number in range(draw(st.integers(0, max_global_indexes))):
        index_key = draw(_global_keys(attributes))
        indexes.append(draw(_index_schemas(f"global{number}", index_key, key)))
    return TableSchema("table", key, tuple(indexes))


@st.composite
def _global_keys(draw: DrawFn, attributes: list[KeyAttribute]) -> KeySchema:
    """Draw keys of one to four partition and none to four sort attributes (MAK-2)."""
    hashes, sorts = draw(st.integers(1, 4)), draw(st.integers(0, 4))
    width = hashes + sorts
    names = st.lists(st.sampled_from(attributes), min_size=width, max_size=width, unique=True)
    chosen = draw(names)
    return KeySchema(tuple(chosen[:hashes]), tuple(chosen[hashes:]))


def _index_schemas(
    name: str, index_key: KeySchema, table_key: KeySchema
) -> SearchStrategy[IndexSchema]:
    is_global = name.startswith("global")
    return _projections().map(
        lambda projection: IndexSchema(
            name, index_key, projection, is_global=is_global, table_key=table_key
        )
    )


def _projections() -> SearchStrategy[Projection]:
    names = st.lists(st.sampled_from(list(ATTRIBUTES)), min_size=1, max_size=3, unique=True)
    return st.one_of(
        st.just(Projection("ALL")),
        st.just(Projection("KEYS_ONLY")),
        names.map(lambda chosen: Projection("INCLUDE", tuple(chosen))),
    )


@values.checked_when_drawn
def keys(
    schema: Schema, *, attributes: values.AttributeTypes | None = None, form: values.Form = "wire"
) -> SearchStrategy[dict[str, Any]]:
    """Draw primary keys of a table.

    Args:
        schema: A TableSchema, a CreateTable request or a table's description.
        attributes: Strategies that narrow the values of key attributes.
        form: "wire", or "python" for natural values.

    >>> from emulator.strategies import create_request
    >>> orders = create_request("orders", "customer", "created:N")
    >>> from hypothesis import given, settings
    >>> @settings(max_examples=5)
    ... @given(keys(orders, form="python"))
    ... def law(key):
    ...     assert isinstance(key["customer"], str)
    >>> law()
    """
    table, wide = TableSchema.of(schema), form == "wire"
    return model_keys(table, attributes or {}, wide=wide).map(values.formed_item(form))


def model_keys(
    schema: TableSchema, attributes: values.AttributeTypes, *, wide: bool = True
) -> SearchStrategy[dict[str, Any]]:
    """Draw primary keys, as the model has them."""
    return st.fixed_dictionaries(
        {
            attribute.name: values.key_values(attribute, attributes, wide=wide)
            for attribute in schema.key.attributes
        }
    )


@values.checked_when_drawn
def items(
    schema: Schema, *, attributes: values.AttributeTypes | None = None, form: values.Form = "wire"
) -> SearchStrategy[dict[str, Any]]:
    """Draw items that a table takes: keys of the right type, index keys right or absent.

    Args:
        schema: A TableSchema, a CreateTable request or a table's description.
        attributes: The attributes beside the keys, each absent or of its type; strategies may
            also narrow the values of key attributes. ``ATTRIBUTES`` by default.
        form: "wire", or "python" for natural values.

    >>> from emulator.strategies import create_request
    >>> orders = create_request("orders", "customer", "created:N")
    >>> from hypothesis import given, settings
    >>> @settings(max_examples=5)
    ... @given(items(orders))
    ... def law(item):
    ...     assert item.keys() >= {"customer", "created"}
    >>> law()
    """
    table, wide = TableSchema.of(schema), form == "wire"
    return model_items(table, or_default(attributes), wide=wide).map(values.formed_item(form))


def or_default(attributes: values.AttributeTypes | None) -> values.AttributeTypes:
    """Return the attributes of items when none are named."""
    return ATTRIBUTES if attributes is None else attributes


def other_attributes(
    schema: TableSchema | None, attributes: values.AttributeTypes
) -> values.AttributeTypes:
    """Return the attributes that are part of no key."""
    keys = {} if schema is None else schema.key_types
    return {name: kind for name, kind in attributes.items() if name not in keys}


def model_items(
    schema: TableSchema, attributes: values.AttributeTypes, *, wide: bool = True
) -> SearchStrategy[dict[str, Any]]:
    """Draw items, as the model has them."""
    optional = {
        attribute.name: values.key_values(attribute, attributes, wide=wide)
        for index in schema.indexes
        for attribute in index.key.attributes
        if attribute.name not in schema.key.names
    }
    for name, kind in other_attributes(schema, attributes).items():
        optional[name] = values.typed_values(kind, wide=wide)
    required = {
        attribute.name: values.key_values(attribute, attributes, wide=wide)
        for attribute in schema.key.attributes
    }
    return st.fixed_dictionaries(required, optional=optional)


st.register_type_strategy(TableSchema, table_schemas())
st.register_type_strategy(KeySchema, table_schemas().map(lambda schema: schema.key))
st.register_type_strategy(
    IndexSchema,
    table_schemas()
    .filter(lambda schema: len(schema.indexes) > 0)
    .map(lambda schema: schema.indexes[0]),
)
