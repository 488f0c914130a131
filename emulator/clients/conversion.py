"""Conversion between natural Python values and wire dictionaries.

Two vocabularies meet the wire here:

- the *client's*, botocore's own: AttributeValues that hold ``bytes``, and datetimes where the
  wire has numbers (``wire_request``, ``client_response``);
- the *table's*, boto3's ``Table``: plain ``str``, ``int``, ``Decimal``, ``bytes``, ``bool``,
  ``None``, ``list``, ``dict`` and sets (``wire_value``, ``natural_value``).

Nothing that is handed in is changed; what needs no conversion is not copied.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence, Set
from datetime import UTC, datetime
from decimal import Clamped, Context, Decimal, Inexact, Overflow, Rounded, Underflow
from operator import is_
from typing import Any, Final, TypeAlias

from emulator.service.attribute_types import ATTRIBUTE_TYPES

Wire: TypeAlias = dict[str, Any]

FLOAT_REFUSED: Final = "Float types are not supported. Use Decimal types instead."
NOT_FINITE: Final = "Infinity and NaN not supported"
UNSUPPORTED: Final = 'Unsupported type "{kind}" for value "{value}"'

#: Every response member that is a timestamp.
#: Source: service models dynamodb and dynamodbstreams 2012-08-10, shapes of type timestamp.
TIMESTAMPS: Final = frozenset(
    {
        "ApproximateCreationDateTime",
        "ArchivalDateTime",
        "BackupCreationDateTime",
        "BackupExpiryDateTime",
        "CreationDateTime",
        "CreationRequestDateTime",
        "EarliestRestorableDateTime",
        "EndTime",
        "ExportFromTime",
        "ExportTime",
        "ExportToTime",
        "InaccessibleEncryptionDateTime",
        "LastDecreaseDateTime",
        "LastIncreaseDateTime",
        "LastUpdateDateTime",
        "LastUpdateToPayPerRequestDateTime",
        "LatestRestorableDateTime",
        "ReplicaInaccessibleDateTime",
        "RestoreDateTime",
        "StartTime",
        "TableCreationDateTime",
    }
)

# Source: boto3.dynamodb.types.DYNAMODB_CONTEXT: the SDK refuses what these traps catch.
_SDK_NUMBERS = Context(
    prec=38, Emin=-128, Emax=126, traps=[Clamped, Overflow, Inexact, Rounded, Underflow]
)
_PLAIN_INTEGERS: Final = 10**38


class Binary(bytes):
    """A B value read from a table: bytes, with the ``value`` that boto3's Binary has.

    >>> Binary(b"abc") == b"abc", Binary(b"abc").value
    (True, b'abc')
    """

    @property
    def value(self) -> bytes:
        """Return the plain bytes."""
        return bytes(self)


# The client's vocabulary


def wire_request(request: Wire) -> Wire:
    """Return a client's request as the wire has it.

    >>> wire_request({"Key": {"pk": {"B": "text"}}})
    {'Key': {'pk': {'B': b'text'}}}
    """
    converted: Wire = _inward(request)
    return converted


def client_response(response: Wire) -> Wire:
    """Return a wire response as a client hands it out.

    >>> client_response({"Item": {"pk": {"B": "YWJj"}}})
    {'Item': {'pk': {'B': b'abc'}}}
    """
    converted: Wire = _outward(response)
    return converted


def _inward(value: Any) -> Any:
    """Encode text under B as UTF-8, as botocore does, and turn datetimes into seconds."""
    if isinstance(value, dict):
        changed: Wire | None = None
        for name, member in value.items():
            kind = type(member)
            if kind is str and name != "B":
                continue
            new = _inward_binary(member) if name in _BINARY_TAGS else _inward(member)
            if new is not member:
                changed = dict(value) if changed is None else changed
                changed[name] = new
        return value if changed is None else changed
    if isinstance(value, list | tuple):
        return _each(_inward, value)
    if isinstance(value, datetime):
        return value.timestamp()
    return value


_BINARY_TAGS: Final = frozenset(row.letters for row in ATTRIBUTE_TYPES if row.contained is bytes)


def _inward_binary(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, list | tuple):
        return _each(_inward_binary, value)
    return _inward(value)


def _each(convert: Callable[[Any], Any], members: Sequence[Any]) -> Sequence[Any]:
    """Convert every member; the same sequence if none of them changes."""
    converted = [convert(member) for member in members]
    return members if all(map(is_, converted, members)) else converted


def _outward(value: Any) -> Any:
    """Decode base64 under B and BS, and turn timestamps into datetimes.

    A member called ``B`` that is text, or ``BS`` that is a list of text, can only be an
    AttributeValue's: every other map with free names has structures for values.
    """
    if type(value) is not dict:
        return _each(_outward, value) if type(value) is list else value
    changed: Wire | None = None
    for name, member in value.items():
        convert = _OUTWARD.get(type(member))
        if convert is None:
            continue
        new = convert(name, member)
        if new is not member:
            changed = dict(value) if changed is None else changed
            changed[name] = new
    return value if changed is None else changed


def _outward_text(name: str, text: str) -> str | bytes:
    return base64.b64decode(text) if name == "B" else text


def _outward_list(name: str, members: list[Any]) -> Sequence[Any]:
    return _each(base64.b64decode if name == "BS" else _outward, members)


def _outward_number(name: str, number: float) -> float | datetime:
    if name in TIMESTAMPS:
        # boto3 answers in local time with its offset; the instant is the same.
        return datetime.fromtimestamp(number, UTC).astimezone()
    return number


_OUTWARD: Final[dict[type, Callable[[str, Any], Any]]] = {
    dict: lambda _, member: _outward(member),
    list: _outward_list,
    str: _outward_text,
    int: _outward_number,
    float: _outward_number,
}


# The table's vocabulary


def wire_value(value: object) -> Wire:
    """Return the AttributeValue of a natural Python value.

    Raises:
        TypeError: a float, or a type that has no AttributeValue; the sentences are boto3's.

    >>> wire_value({"n": 1, "tags": {"a"}})
    {'M': {'n': {'N': '1'}, 'tags': {'SS': ['a']}}}
    >>> wire_value(0.1)
    Traceback (most recent call last):
    TypeError: Float types are not supported. Use Decimal types instead.
    """
    convert = _TO_WIRE.get(type(value))
    if convert is None:
        convert = _converter_of_subclass(value)
    return convert(value)


def wire_item(item: Mapping[str, object]) -> Wire:
    """Return the wire form of a map of natural values."""
    return {name: wire_value(value) for name, value in item.items()}


def natural_value(wire: Wire) -> Any:
    """Return the natural Python value of an AttributeValue.

    >>> natural_value({"M": {"n": {"N": "1"}, "b": {"B": "YWJj"}}})
    {'n': Decimal('1'), 'b': b'abc'}
    """
    [(tag, raw)] = wire.items()
    return _TO_NATURAL[tag](raw)


def natural_item(wire: Wire) -> dict[str, Any]:
    """Return the natural form of an item or key."""
    return {name: natural_value(value) for name, value in wire.items()}


def _integer(value: int) -> Wire:
    if -_PLAIN_INTEGERS < value < _PLAIN_INTEGERS:
        return {"N": str(value)}
    return {"N": _number_text(value)}


def _number_text(value: int | Decimal) -> str:
    text = str(_SDK_NUMBERS.create_decimal(value))
    if text in ("Infinity", "NaN"):
        raise TypeError(NOT_FINITE)
    return text


def _set(value: Set[Any]) -> Wire:
    # An empty set is sent as boto3 sends it, and refused by the service.
    if all(map(_is_number, value)):
        return {"NS": [_number_text(member) for member in value]}
    if all(isinstance(member, str) for member in value):
        return {"SS": list(value)}
    if all(map(_is_binary, value)):
        return {"BS": [_bytes(member) for member in value]}
    raise TypeError(UNSUPPORTED.format(kind=type(value), value=value))


def _refuse_float(_value: float) -> Wire:
    raise TypeError(FLOAT_REFUSED)


def _is_number(value: object) -> bool:
    if isinstance(value, float):
        raise TypeError(FLOAT_REFUSED)
    return isinstance(value, int | Decimal)


def _is_binary(value: object) -> bool:
    """Return whether a value is bytes, or wraps them as boto3's Binary does."""
    return isinstance(value, bytes | bytearray) or (
        type(value).__name__ == "Binary"
        and isinstance(getattr(value, "value", None), bytes | bytearray)
    )


def _bytes(value: Any) -> bytes:
    return bytes(value if isinstance(value, bytes | bytearray) else value.value)


_TO_WIRE: Final[dict[type, Callable[[Any], Wire]]] = {
    str: lambda value: {"S": value},
    int: _integer,
    Decimal: lambda value: {"N": _number_text(value)},
    bytes: lambda value: {"B": value},
    bool: lambda value: {"BOOL": value},
    type(None): lambda _: {"NULL": True},
    list: lambda value: {"L": [wire_value(member) for member in value]},
    dict: lambda value: {"M": wire_item(value)},
    set: _set,
    float: _refuse_float,
}
# In the order in which boto3 asks.
_SUBCLASSES: Final = (
    ((int, Decimal), lambda value: {"N": _number_text(value)}),
    (float, _refuse_float),
    (str, lambda value: {"S": str(value)}),
    ((bytes, bytearray), lambda value: {"B": bytes(value)}),
    (Set, _set),
    (Mapping, lambda value: {"M": wire_item(value)}),
    ((list, tuple), lambda value: {"L": [wire_value(member) for member in value]}),
)


def _converter_of_subclass(value: object) -> Callable[[Any], Wire]:
    if _is_binary(value):
        return lambda value: {"B": _bytes(value)}
    for kinds, convert in _SUBCLASSES:
        if isinstance(value, kinds):
            return convert
    raise TypeError(UNSUPPORTED.format(kind=type(value), value=value))


def _binary(raw: str | bytes) -> Binary:
    return Binary(base64.b64decode(raw) if isinstance(raw, str) else raw)


_TO_NATURAL: Final[dict[str, Callable[[Any], Any]]] = {
    "S": lambda raw: raw,
    "N": Decimal,
    "B": _binary,
    "BOOL": lambda raw: raw,
    "NULL": lambda _: None,
    "L": lambda raw: [natural_value(member) for member in raw],
    "M": natural_item,
    "SS": set,
    "NS": lambda raw: set(map(Decimal, raw)),
    "BS": lambda raw: set(map(_binary, raw)),
}
