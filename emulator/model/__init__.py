"""What data is: values, numbers, items, sizes, keys, schemas, paths and their wire form."""

from emulator.model.items import ITEM_TOO_LARGE, SHORT_NAME, UPDATE_TOO_LARGE, Item, check_name
from emulator.model.keys import (
    EMPTY_KEY,
    LONG_PARTITION_KEY,
    LONG_SORT_KEY,
    NOT_THE_SCHEMA,
    KeyRange,
    is_empty,
    key_values_are_not_empty,
    key_values_are_not_too_long,
    kind_of,
    successor,
)
from emulator.model.numbers import NOT_A_NUMBER, format_number, parse_number
from emulator.model.paths import Path, format_path, resolve
from emulator.model.repeats import first_repeat
from emulator.model.schema import (
    KEY_CLASSES,
    IndexSchema,
    KeyAttribute,
    KeySchema,
    KeyType,
    Projection,
)
from emulator.model.sizes import attributes_size, text_size, value_size
from emulator.model.values import (
    MISSING,
    ORDERED_TYPES,
    SET_TYPES,
    Attributes,
    KeyValue,
    Missing,
    Value,
    equal,
    is_below,
    type_name,
)
from emulator.service.attribute_types import BinarySet, NumberSet, StringSet

__all__ = [
    "EMPTY_KEY",
    "ITEM_TOO_LARGE",
    "KEY_CLASSES",
    "LONG_PARTITION_KEY",
    "LONG_SORT_KEY",
    "MISSING",
    "NOT_A_NUMBER",
    "NOT_THE_SCHEMA",
    "ORDERED_TYPES",
    "SET_TYPES",
    "SHORT_NAME",
    "UPDATE_TOO_LARGE",
    "Attributes",
    "BinarySet",
    "IndexSchema",
    "Item",
    "KeyAttribute",
    "KeyRange",
    "KeySchema",
    "KeyType",
    "KeyValue",
    "Missing",
    "NumberSet",
    "Path",
    "Projection",
    "StringSet",
    "Value",
    "attributes_size",
    "check_name",
    "equal",
    "first_repeat",
    "format_number",
    "format_path",
    "is_below",
    "is_empty",
    "key_values_are_not_empty",
    "key_values_are_not_too_long",
    "kind_of",
    "parse_number",
    "resolve",
    "successor",
    "text_size",
    "type_name",
    "value_size",
]
