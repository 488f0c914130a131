"""Rules about keys: which attributes, of which type, how long. They need the schema."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from emulator import model
from emulator.model.wire import INVALID
from emulator.service.errors import ValidationException

MISSING_KEY: Final = INVALID + "Missing the key {name} in the item"
KEY_TYPE: Final = INVALID + "Type mismatch for key {name} expected: {wanted} actual: {given}"
INDEX_KEY_TYPE: Final = (
    INVALID + "Type mismatch for Index Key {name} Expected: {wanted} Actual: {given} "
    "IndexName: {index}"
)
KEY_NOT_SCALAR: Final = (
    "Key attributes must be scalars; list random access '[]' and map lookup '.' "
    "are not allowed: {kind}: {name}"
)
EMPTY_INDEX_KEY: Final = (
    "One or more parameter values are not valid. A value specified for a secondary index key "
    "is not supported. The AttributeValue for a key attribute cannot contain an empty {kind} "
    "value. IndexName: {index}, IndexKey: {name}"
)
EMPTY_INDEX_KEY_UPDATE: Final = (
    "One or more parameter values are not valid. The update expression attempted to update a "
    "secondary index key to a value that is not supported. The AttributeValue for a key "
    "attribute cannot contain an empty {kind} value."
)


def key_matches_the_schema(key: model.Item, schema: model.KeySchema) -> None:
    """Refuse a Key with a missing, extra or wrong-typed attribute (KV-6)."""
    attributes = key.attributes
    if len(attributes) != len(schema.attributes):
        raise ValidationException(model.NOT_THE_SCHEMA)
    for attribute in schema.attributes:
        if not attribute.accepts(attributes.get(attribute.name)):
            raise ValidationException(model.NOT_THE_SCHEMA)


def item_has_its_key(item: model.Item, schema: model.KeySchema) -> None:
    """Refuse an item that lacks a key attribute or has it with another type (KV-4, KV-5)."""
    for attribute in schema.attributes:
        if attribute.name not in item.attributes:
            raise ValidationException(MISSING_KEY.format(name=attribute.name))
    for attribute in schema.attributes:
        value = item.attributes[attribute.name]
        if not attribute.accepts(value):
            raise ValidationException(
                KEY_TYPE.format(
                    name=attribute.name, wanted=attribute.type, given=model.type_name(value)
                )
            )


def key_of(key: model.Item, schema: model.KeySchema) -> tuple[model.KeyValue, ...]:
    """Return the values of a Key parameter, or say what is wrong with it (KV-7)."""
    if len(key.attributes) == len(schema.names) and schema.is_plain(key.attributes):
        return schema.values(key)
    key_matches_the_schema(key, schema)
    model.key_values_are_not_empty(key, schema)
    model.key_values_are_not_too_long(key, schema)
    return schema.values(key)


def key_of_item(item: model.Item, schema: model.KeySchema) -> tuple[model.KeyValue, ...]:
    """Return the key values of an item to put, or say what is wrong with them."""
    if schema.is_plain(item.attributes):
        return schema.values(item)
    item_has_its_key(item, schema)
    model.key_values_are_not_empty(item, schema)
    model.key_values_are_not_too_long(item, schema)
    return schema.values(item)


def keys_are_scalars(
    paths: Iterable[model.Path], schema: model.KeySchema, indexes: Iterable[model.IndexSchema]
) -> None:
    """Refuse a path into a key attribute of the table or of any index (QRY-7).

    Observed: ScyllaDB's tests of updates and dynalite's of projections and filters, both run
    against the service.
    Assumed: that this applies to conditions of writes too, as in DynamoDB Local.
    """
    for path in paths:
        if len(path) == 1:
            continue
        name = path[0]
        if name in schema.names:
            raise ValidationException(KEY_NOT_SCALAR.format(kind="Key", name=name))
        if any(name in index.key.names for index in indexes):
            raise ValidationException(KEY_NOT_SCALAR.format(kind="IndexKey", name=name))


def index_keys_can_be_put(item: model.Item, schemas: list[model.IndexSchema]) -> None:
    """Hold every rule of index keys for an item to put (IXV-1, IXV-2, IXV-7)."""
    attributes = item.attributes
    for schema in schemas:
        key = schema.key
        if not key.is_plain(attributes) and not attributes.keys().isdisjoint(key.names):
            index_key_types_match(item, schemas)
            index_keys_are_not_empty(item, schemas)
            index_keys_are_not_too_long(item, schemas)
            return


def index_key_types_match(item: model.Item, schemas: list[model.IndexSchema]) -> None:
    """Refuse a present index key attribute of another type (IXV-1, MAK-21).

    ``schemas`` come in name order: the first violated index is named (IXV-9).
    """
    for schema in schemas:
        for attribute in schema.key.attributes:
            value = item.attributes.get(attribute.name, attribute)
            if value is not attribute and not attribute.accepts(value):
                raise ValidationException(
                    INDEX_KEY_TYPE.format(
                        name=attribute.name,
                        wanted=attribute.type,
                        given=model.type_name(value),
                        index=schema.name,
                    )
                )


def index_keys_are_not_empty(
    item: model.Item, schemas: list[model.IndexSchema], message: str = EMPTY_INDEX_KEY
) -> None:
    """Refuse an empty index key attribute (IXV-2, IXV-3, MAK-22)."""
    for schema in schemas:
        for name in schema.key.names:
            value = item.attributes.get(name)
            if model.is_empty(value):
                raise ValidationException(
                    message.format(kind=model.kind_of(value), index=schema.name, name=name)
                )


def index_keys_are_not_too_long(item: model.Item, schemas: list[model.IndexSchema]) -> None:
    """Refuse index key values beyond the key size limits (IXV-7, MAK-27)."""
    for schema in schemas:
        if schema.key.holds(item):
            model.key_values_are_not_too_long(item, schema.key)
