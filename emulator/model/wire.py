"""The wire form of values, keys and items: ``{"S": "x"}`` stops here.

Loading validates, converts and measures in one walk; the order of its checks is observable
(ERR-VAL-1). Binary is base64 text on the wire; raw bytes are taken as well, since an
in-process caller has no reason to encode them.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from sys import intern
from typing import Any, Final, TypeAlias, cast

from emulator.model.items import EMPTY_NAME, Item, check_name
from emulator.model.numbers import (
    SHORT_NUMBER,
    format_number,
    known_number,
    measured_number,
    number_size,
    parse_number,
)
from emulator.model.repeats import first_repeat
from emulator.model.schema import KeyAttribute, KeySchema, KeyType
from emulator.model.sizes import CONTAINER_BYTES, MEMBER_BYTES
from emulator.model.values import Value
from emulator.service import errors, limits
from emulator.service.attribute_types import SETS, BinarySet, NumberSet, StringSet
from emulator.service.wording import Wording

WireValue: TypeAlias = dict[str, Any]
WireItem: TypeAlias = dict[str, WireValue]

INVALID: Final = "One or more parameter values were invalid: "
EMPTY_VALUE: Final = (
    "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
)
SEVERAL_TYPES: Final = (
    "Supplied AttributeValue has more than one datatypes set, "
    "must contain exactly one of the supported datatypes"
)
FALSE_NULL: Final = INVALID + "Null attribute value types must have the value of true"
# What writes say of an item that they made too deep; a request hears more about its own values.
TOO_NESTED: Final = "Nesting Levels have exceeded supported limits"
TOO_DEEP: Final = f"{TOO_NESTED}: Attributes in the item have nested levels beyond supported limit"
# The two blanks are the service's own (SET-1).
EMPTY_STRING_SET: Final = INVALID + "An string set  may not be empty"
EMPTY_NUMBER_SET: Final = INVALID + "An number set  may not be empty"
EMPTY_BINARY_SET: Final = INVALID + "Binary sets should not be empty"
DUPLICATES: Final = Wording(
    INVALID + "Input collection {quoted} contains duplicates.",
    older=INVALID + "Input collection [{plain}] contains duplicates.",
)
BINARY_DUPLICATES: Final = Wording(
    INVALID + "Input collection {quoted}of type BS contains duplicates.",
    older=INVALID + "Input collection [{plain}]of type BS contains duplicates.",
)
NUMBER_DUPLICATES: Final = Wording(
    INVALID + "Input collection contains duplicates.", older="Input collection contains duplicates"
)
BAD_START: Final = "The provided starting key is invalid"

# A walk goes no deeper: the item is refused for its levels, and Python's recursion is bounded.
_HOPELESS_LEVELS: Final = 100


class _EmptyNameError(Exception):
    """A walk met an empty name."""


def load_value(wire: object, most: int = limits.NESTING_LEVELS) -> Value:
    """Return the value that an AttributeValue writes, nested in ``most`` levels at most.

    Raises:
        RequestFault: a value the service refuses (TYP-2, NUM-*, SET-*), nesting too deep (TYP-5).
        ValidationException: no or several datatypes (TYP-1).
        SerializationException: a wrong JSON type or bad base64 (WIR-12, WIR-14).
    """
    if type(wire) is dict and len(wire) == 1:
        text = wire.get("S")
        if type(text) is str and text.isascii():
            return text
        text = wire.get("N")
        if type(text) is str and len(text) <= SHORT_NUMBER:
            return known_number(text)[0]
    try:
        value, _, levels = _load(wire, "", 1)
    except _EmptyNameError:
        raise _empty_name([wire]) from None
    check_levels(levels, most)
    return value


def load_item(wire: Mapping[str, object], opening: str = "") -> Item:
    """Return the item that a map of AttributeValues writes, measured on the way.

    Nesting is not judged here, since requests report it late (PUT-5): see ``check_levels``.

    Args:
        wire: The map.
        opening: The text with which the faults of some values open.
    """
    try:
        attributes, size_bytes, levels = _load_members(wire, opening, 1)
    except _EmptyNameError:
        raise _empty_name(() if "" in wire else wire.values()) from None
    if size_bytes > limits.ATTRIBUTE_NAME_BYTES:
        _check_names(attributes)
    return Item(attributes, size_bytes, levels)


def load_start_key(wire: Mapping[str, object]) -> Item:
    """Return the item that an ExclusiveStartKey writes, with faults worded as its own (ESK-3)."""
    start = load_item(wire, f"{BAD_START}: ")
    check_levels(start.levels)
    return start


def _check_names(value: Value) -> None:
    """Refuse too long a name, at any depth (TYP-6, TYP-7)."""
    if isinstance(value, dict):
        for name, member in value.items():
            check_name(name)
            _check_names(member)
    elif isinstance(value, tuple):
        for member in value:
            _check_names(member)


def _empty_name(values: Iterable[object]) -> errors.ValidationException:
    """Return the fault of an empty name inside of values; their depth comes first (ERR-VAL-1)."""
    levels = 0
    while values:
        levels += 1
        values = [member for value in values for member in _members_of(value)]
    if levels > limits.NESTING_LEVELS:
        return errors.RequestFault(TOO_DEEP)
    return errors.ValidationException(EMPTY_NAME)


def _members_of(value: object) -> Iterable[object]:
    """Return the members of a map or list in wire form; anything else has none."""
    container = value.get("M", value.get("L")) if isinstance(value, dict) else None
    if isinstance(container, dict):
        return container.values()
    return container if isinstance(container, (list, tuple)) else ()


def check_levels(levels: int, most: int = limits.NESTING_LEVELS) -> None:
    """Refuse values that are nested too deep (TYP-5)."""
    if levels > most:
        raise errors.RequestFault(TOO_DEEP)


def dump_value(value: Value) -> WireValue:
    """Return the AttributeValue of a value.

    >>> dump_value((Decimal("1.5"), b"x"))
    {'L': [{'N': '1.5'}, {'B': 'eA=='}]}
    """
    return _DUMPERS[type(value)](value)


def dump_item(attributes: Mapping[str, Value]) -> WireItem:
    """Return the wire form of an item, new all through."""
    dumpers = _DUMPERS
    wire: dict[str, Any] = dict(attributes)  # at its size from the start: it need not grow
    for name, value in attributes.items():
        kind = type(value)
        # The most common values; their dumpers would say the same.
        if kind is str:
            wire[name] = {"S": value}
        elif kind is Decimal and "E" not in (text := str(value)):
            wire[name] = {"N": text}
        elif kind is bool:
            wire[name] = {"BOOL": value}
        else:
            wire[name] = dumpers[kind](value)
    return wire


# Loading


#: A value, its bytes, and how many levels deep it goes: 1 for a scalar.
_Loaded: TypeAlias = tuple[Value, int, int]


def _load(wire: object, opening: str, level: int) -> _Loaded:
    if type(wire) is not dict:
        raise errors.SerializationException(_unexpected(wire))
    if len(wire) != 1:
        wire = _only_member(wire, opening)
    [tag] = wire
    raw = wire[tag]
    if raw is None or tag not in _LOADERS:
        raise errors.ValidationException(opening + EMPTY_VALUE)
    return _LOADERS[tag](raw, opening, level)


def _only_member(wire: dict[str, Any], opening: str) -> dict[str, Any]:
    """Drop null and unknown members (WIR-15); none or several known ones are an error (TYP-1)."""
    known = {tag: raw for tag, raw in wire.items() if raw is not None and tag in _LOADERS}
    if not known:
        raise errors.ValidationException(opening + EMPTY_VALUE)
    if len(known) > 1:
        for tag, raw in known.items():
            check_type(tag, raw)
        raise errors.ValidationException(opening + SEVERAL_TYPES)
    return known


def _load_string(raw: Any, _opening: str, _level: int) -> _Loaded:
    if type(raw) is not str:
        raise errors.SerializationException(scalar_text(raw, "String"))
    return raw, len(raw) if raw.isascii() else len(raw.encode()), 1


def _load_number(raw: Any, _opening: str, _level: int) -> _Loaded:
    if type(raw) is not str:
        raise errors.SerializationException(scalar_text(raw, "String"))
    number, size_bytes = (known_number if len(raw) <= SHORT_NUMBER else measured_number)(raw)
    return number, size_bytes, 1


def _load_binary(raw: Any, _opening: str, _level: int) -> _Loaded:
    data = load_bytes(raw)
    return data, len(data), 1


def _load_bool(raw: Any, _opening: str, _level: int) -> _Loaded:
    if type(raw) is not bool:
        raise errors.SerializationException(scalar_text(raw, "Boolean"))
    return raw, 1, 1


def _load_null(raw: Any, opening: str, _level: int) -> _Loaded:
    if type(raw) is not bool:
        raise errors.SerializationException(scalar_text(raw, "Boolean"))
    if not raw:
        raise _value_fault(FALSE_NULL, opening)
    return None, 1, 1


def _load_list(raw: Any, opening: str, level: int) -> _Loaded:
    if type(raw) is not list and type(raw) is not tuple:
        raise errors.SerializationException(_unexpected(raw))
    if raw and level >= _HOPELESS_LEVELS:
        return (), CONTAINER_BYTES, 2
    members = []
    size_bytes = CONTAINER_BYTES
    deepest = 0
    for written in raw:
        member, member_bytes, levels = _load(written, opening, level + 1)
        members.append(member)
        size_bytes += MEMBER_BYTES + member_bytes
        if levels > deepest:
            deepest = levels
    return tuple(members), size_bytes, 1 + deepest


def _load_map(raw: Any, opening: str, level: int) -> _Loaded:
    if type(raw) is not dict:
        raise errors.SerializationException(_unexpected(raw, "map"))
    if not raw:
        return {}, CONTAINER_BYTES, 1
    if level >= _HOPELESS_LEVELS:
        return {}, CONTAINER_BYTES, 2
    members, size_bytes, levels = _load_members(raw, opening, level + 1)
    return members, CONTAINER_BYTES + MEMBER_BYTES * len(members) + size_bytes, 1 + levels


def _load_members(
    wire: Mapping[str, object], opening: str, level: int
) -> tuple[dict[str, Value], int, int]:
    """Return the values of a map or an item by name, the bytes of both, and the deepest levels."""
    members: dict[str, Value] = {}
    size_bytes = 0
    deepest = 1
    for name, written in wire.items():
        if not name:
            raise _EmptyNameError
        size_bytes += len(name) if name.isascii() else len(name.encode())
        if type(written) is dict and len(written) == 1:
            # By far the most common values; their loaders would say the same.
            if type(text := written.get("S")) is str:
                members[intern(name)] = text
                size_bytes += len(text) if text.isascii() else len(text.encode())
                continue
            if type(text := written.get("N")) is str and len(text) <= SHORT_NUMBER:
                members[intern(name)], value_bytes = known_number(text)
                size_bytes += value_bytes
                continue
        members[intern(name)], value_bytes, levels = _load(written, opening, level)
        size_bytes += value_bytes
        if levels > deepest:
            deepest = levels
    return members, size_bytes, deepest


def _load_string_set(raw: Any, opening: str, _level: int) -> _Loaded:
    members = _members(raw)
    size_bytes = 0
    for member in members:
        if type(member) is not str:
            raise errors.SerializationException(scalar_text(member, "String"))
        size_bytes += len(member) if member.isascii() else len(member.encode())
    if not members:
        raise _value_fault(EMPTY_STRING_SET, opening)
    loaded = StringSet(members)
    if len(loaded) < len(members):
        quoted = _repeats_quoted(members, ", ")
        raise errors.RequestFault(DUPLICATES.format(quoted=quoted, plain=", ".join(members)))
    return loaded, size_bytes, 1


def _load_number_set(raw: Any, _opening: str, _level: int) -> _Loaded:
    members = _members(raw)
    for member in members:
        if type(member) is not str:
            raise errors.SerializationException(scalar_text(member, "String"))
    if not members:
        raise errors.RequestFault(EMPTY_NUMBER_SET)
    loaded = NumberSet(map(parse_number, members))
    if len(loaded) < len(members):
        raise errors.RequestFault(NUMBER_DUPLICATES)
    return loaded, sum(map(number_size, loaded)), 1


def _load_binary_set(raw: Any, opening: str, _level: int) -> _Loaded:
    members = [load_bytes(member) for member in _members(raw)]
    if not members:
        raise _value_fault(EMPTY_BINARY_SET, opening)
    loaded = BinarySet(members)
    if len(loaded) < len(members):
        texts = [_base64(member) for member in members]
        quoted = _repeats_quoted(texts, ",", members)
        raise errors.RequestFault(BINARY_DUPLICATES.format(quoted=quoted, plain=", ".join(texts)))
    return loaded, sum(map(len, loaded)), 1


def _value_fault(message: str, opening: str) -> errors.RequestFault:
    return errors.RequestFault(Wording(message, older=opening + message))


def _members(raw: Any) -> list[Any]:
    if type(raw) is list:
        return raw
    if isinstance(raw, (tuple, set, frozenset)):
        return list(raw)
    raise errors.SerializationException(_unexpected(raw))


def _repeats_quoted(texts: list[str], separator: str, order: list[Any] | None = None) -> str:
    """List set members as the current layer does (SET-3).

    Those before the first repeat in byte order, then the repeat, then the rest as sent.
    """
    order = texts if order is None else order
    repeat = first_repeat(order)
    before = [text for _, text in sorted(zip(order[:repeat], texts[:repeat], strict=True))]
    return "[" + separator.join(f'"{text}"' for text in before + texts[repeat:]) + "]"


def load_bytes(raw: Any) -> bytes:
    """Return the bytes of base64 text, or the bytes themselves.

    Source: WIR-14; the sentences are those other emulators recorded.
    """
    if isinstance(raw, bytes | bytearray | memoryview):
        return bytes(raw)
    if type(raw) is not str:
        raise errors.SerializationException(scalar_text(raw, "String"))
    if len(raw) % 4:
        raise errors.SerializationException(
            f"Base64 encoded length is expected a multiple of 4 bytes but found: {len(raw)}"
        )
    try:
        return binascii.a2b_base64(raw, strict_mode=True)
    except (binascii.Error, ValueError):
        raise errors.SerializationException("Invalid Base64 character found in the input") from None


def check_type(tag: str, raw: Any, level: int = 1) -> None:
    """Raise SerializationException if a member of an AttributeValue has a wrong JSON type.

    Only JSON types are judged: this is what a request is read for before anything else. What is
    nested hopelessly deep is not looked at: it is refused for that.
    """
    if tag == "M":
        if type(raw) is not dict:
            raise errors.SerializationException(_unexpected(raw, "map"))
        for member in raw.values():
            check_value_types(member, level + 1)
    elif tag == "L":
        for member in _members(raw):
            check_value_types(member, level + 1)
    elif tag in SETS:
        for member in _members(raw):
            check_type(tag[0], member)
    elif tag == "B":
        load_bytes(raw)
    else:
        wanted = "Boolean" if tag in ("BOOL", "NULL") else "String"
        if type(raw) is not (bool if wanted == "Boolean" else str):
            raise errors.SerializationException(scalar_text(raw, wanted))


def check_value_types(wire: object, level: int = 1) -> None:
    """Raise SerializationException if an AttributeValue has a wrong JSON type in it."""
    if level > _HOPELESS_LEVELS:
        return
    if type(wire) is not dict:
        raise errors.SerializationException(_unexpected(wire))
    for tag, raw in wire.items():
        if raw is not None and tag in _LOADERS:
            check_type(tag, raw, level)


def scalar_text(raw: Any, wanted: str) -> str:
    """Say why a JSON value cannot be a scalar of the wanted type (WIR-12)."""
    if raw is True or raw is False:
        return f"{str(raw).upper()}_VALUE cannot be converted to {wanted}"
    if isinstance(raw, int):
        return f"NUMBER_VALUE cannot be converted to {wanted}"
    if isinstance(raw, float | Decimal):
        return f"DECIMAL_VALUE cannot be converted to {wanted}"
    if isinstance(raw, str | bytes):
        return f"STRING_VALUE cannot be converted to {wanted}"
    if isinstance(raw, dict):
        return "Start of structure or map found where not expected"
    return f"Unrecognized collection type class java.lang.{wanted}"


def _unexpected(raw: Any, wanted: str = "structure") -> str:
    """Say why a JSON value cannot be a structure, list or map (WIR-12)."""
    if isinstance(raw, list) and wanted == "map":
        return (
            "Unrecognized collection type java.util.Map<java.lang.String, "
            "com.amazonaws.dynamodb.v20120810.AttributeValue>"
        )
    if isinstance(raw, list):
        return "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue"
    if isinstance(raw, dict):
        return "Start of structure or map found where not expected"
    return "Unexpected value type in payload" if wanted == "map" else "Unexpected field type"


_LOADERS: Final[dict[str, Callable[[Any, str, int], _Loaded]]] = {
    "S": _load_string,
    "N": _load_number,
    "B": _load_binary,
    "BOOL": _load_bool,
    "NULL": _load_null,
    "L": _load_list,
    "M": _load_map,
    "SS": _load_string_set,
    "NS": _load_number_set,
    "BS": _load_binary_set,
}


# Dumping


def _base64(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def _dump_number(value: Decimal) -> WireValue:
    return {"N": format_number(value)}


def _dump_list(value: tuple[Value, ...]) -> WireValue:
    dumpers = _DUMPERS
    members = []
    for member in value:
        if type(member) is dict:
            # Most members of lists are maps; their dumper would say the same.
            members.append({"M": dump_item(member)})
        else:
            members.append(dumpers[type(member)](member))
    return {"L": members}


def _dump_map(value: dict[str, Value]) -> WireValue:
    return {"M": dump_item(value)}


_DUMPERS: Final[dict[type, Callable[[Any], WireValue]]] = {
    str: lambda value: {"S": value},
    Decimal: _dump_number,
    bytes: lambda value: {"B": _base64(value)},
    bool: lambda value: {"BOOL": value},
    type(None): lambda _: {"NULL": True},
    tuple: _dump_list,
    dict: _dump_map,
    # SET-6: by bytes and by value; code points order as UTF-8 bytes do.
    StringSet: lambda value: {"SS": sorted(value)},
    NumberSet: lambda value: {"NS": [format_number(member) for member in sorted(value)]},
    BinarySet: lambda value: {"BS": [_base64(member) for member in sorted(value)]},
}


# Keys of tables and indexes


def load_types(definitions: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return the types of AttributeDefinitions by name."""
    return {definition["AttributeName"]: definition["AttributeType"] for definition in definitions}


def dump_types(types: Mapping[str, str]) -> list[dict[str, str]]:
    """Return AttributeDefinitions, by name (DS-2)."""
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in sorted(types.items())]


def load_key(elements: Iterable[Mapping[str, str]], types: Mapping[str, str]) -> KeySchema:
    """Return the key that a KeySchema writes, once the rules have passed it."""
    roles: dict[str, list[KeyAttribute]] = {"HASH": [], "RANGE": []}
    for element in elements:
        name = element["AttributeName"]
        roles[element["KeyType"]].append(KeyAttribute(name, cast(KeyType, types[name])))
    return KeySchema(tuple(roles["HASH"]), tuple(roles["RANGE"]))


def dump_key(key: KeySchema) -> list[dict[str, str]]:
    """Return a key schema in its own order (MAK-19)."""
    return [
        {"AttributeName": attribute.name, "KeyType": role}
        for role, attributes in (("HASH", key.partition), ("RANGE", key.sort))
        for attribute in attributes
    ]
