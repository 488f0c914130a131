"""What data is: values, numbers, items, sizes, keys, schemas, paths and their wire form."""

from emulator.model.items import EMPTY_NAME, SHORT_NAME, Item, check_name
from emulator.model.keys import (
    EMPTY_KEY,
    LONG_PARTITION_KEY,
    LONG_SORT_KEY,
    KeyRange,
    successor,
)
from emulator.model.numbers import format_number, parse_number
from emulator.model.paths import Path, format_path, resolve
from emulator.model.schema import (
    KEY_CLASSES,
    IndexSchema,
    KeyAttribute,
    KeySchema,
    Projection,
    key_bytes,
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
    nesting_levels,
    type_name,
)
from emulator.service.attribute_types import BinarySet, NumberSet, StringSet

__all__ = [
    "EMPTY_KEY",
    "EMPTY_NAME",
    "KEY_CLASSES",
    "LONG_PARTITION_KEY",
    "LONG_SORT_KEY",
    "MISSING",
    "ORDERED_TYPES",
    "SET_TYPES",
    "SHORT_NAME",
    "Attributes",
    "BinarySet",
    "IndexSchema",
    "Item",
    "KeyAttribute",
    "KeyRange",
    "KeySchema",
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
    "format_number",
    "format_path",
    "is_below",
    "key_bytes",
    "nesting_levels",
    "parse_number",
    "resolve",
    "successor",
    "text_size",
    "type_name",
    "value_size",
]
