"""What a case is, the tables it runs on, and the words that several operations share."""

from dataclasses import dataclass, field
from typing import Any

from emulator import Emulator, Settings
from tests.tables import INVALID as INVALID
from tests.tables import table

TABLES = {
    request["TableName"]: request
    for request in (
        table(TableName="hash"),
        table("pk", "sk:N", TableName="pair"),
        table("pk:B", "sk:B", TableName="blob"),
        table(
            "pk",
            "sk",
            TableName="indexed",
            indexes={"all": ("g", "n:N"), "keys": "g", "some": "n"},
            local_indexes={"local": "l", "lean": "l"},
            projections={"keys": "KEYS_ONLY", "some": ["x"], "lean": "KEYS_ONLY"},
        ),
    )
}


@dataclass(frozen=True)
class Case:
    """One request with its answer or its exact error.

    Attributes:
        rules: The rules it proves, and what it says.
        operation: The operation.
        request: Its parameters.
        answer: The whole answer, if it succeeds.
        error: Code and message, if it fails (profile 2026-10).
        classic: The message under the classic profile, if another.
        given: Requests that come before.
        http_only: True where an SDK would not send this.
    """

    rules: str
    operation: str
    request: dict[str, Any]
    answer: dict[str, Any] | None = None
    error: tuple[str, str] | None = None
    classic: str | None = None
    given: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    http_only: bool = False


def filled(profile):
    """Return an emulator with the standard tables."""
    emulator = Emulator(settings=Settings(messages=profile))
    for request in TABLES.values():
        emulator.call("CreateTable", request)
    return emulator


def put(table, **item):
    """Return a PutItem for ``given``: text becomes S, numbers N, the rest is wire form."""
    return "PutItem", {"TableName": table, "Item": wire(item)}


def wire(item):
    """Return an item in wire form."""
    return {name: value_of(value) for name, value in item.items()}


def value_of(value):
    """Return a value in wire form; dictionaries are taken to be it already."""
    if isinstance(value, str):
        return {"S": value}
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, int):
        return {"N": str(value)}
    if isinstance(value, list):
        return {"L": [value_of(member) for member in value]}
    return value


def refused(message):
    """Return the error of a ValidationException."""
    return "ValidationException", message


def detected(message, count=1):
    """Return the enveloped form of a message."""
    noun = "error" if count == 1 else "errors"
    return f"{count} validation {noun} detected: {message}"


def either(message):
    """Return error and classic wording of an enveloped family (PRO-4)."""
    return {"error": refused(detected(message)), "classic": message}


def constraint(value, path, rule):
    """Return a constraint problem."""
    return f"Value {value} at '{path}' failed to satisfy constraint: {rule}"


def compare(operator, *values):
    """Return an entry of Expected or of a filter, with a comparison."""
    entry = {"ComparisonOperator": operator}
    if values:
        entry["AttributeValueList"] = [value_of(value) for value in values]
    return entry


def nested(levels):
    """Return a text inside so many lists."""
    value = {"S": "x"}
    for _ in range(levels):
        value = {"L": [value]}
    return value


def keys(count):
    """Return so many keys."""
    return [wire({"pk": f"{number}"}) for number in range(count)]


# Messages of several operations
NOT_NULL = "Member must not be null"
AT_LEAST = "Member must have length greater than or equal to {}"
AT_MOST = "Member must have length less than or equal to {}"
NAME_PATTERN = "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
CAPACITY_ENUM = "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"
METRICS_ENUM = "Member must satisfy enum value set: [SIZE, NONE]"
SELECT_ENUM = (
    "Member must satisfy enum value set: "
    "[SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]"
)
RETURN_ENUM = (
    "Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
)
FAILED = ("ConditionalCheckFailedException", "The conditional request failed")
NOT_FOUND = ("ResourceNotFoundException", "Requested resource not found")
NOT_THE_SCHEMA = "The provided key element does not match the schema"
EMPTY_KEY = (
    "One or more parameter values are not valid. The AttributeValue for a key attribute "
    "cannot contain an empty {} value. Key: {}"
)
NOT_SCALAR = (
    "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: {}"
)
NOT_A_NUMBER = "The parameter cannot be converted to a numeric value: {}"
OF_VALUES = "ExpressionAttributeValues contains invalid value: {} for key {}"
TOO_DEEP = (
    "Nesting Levels have exceeded supported limits: "
    "Attributes in the item have nested levels beyond supported limit"
)
MIXED = (
    "Can not use both expression and non-expression parameters in the same request: "
    "Non-expression parameters: {%s} Expression parameters: {%s}"
)
DUPLICATES = "Provided list of item keys contains duplicates"
CANCELLED = "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]"
START = "The provided starting key is invalid"
MISFIT = START + ": " + NOT_THE_SCHEMA

# Keys and items of several operations
KEY = wire({"pk": "a"})
PAIR = wire({"pk": "a", "sk": 1})
INDEXED = {"pk": "a", "sk": "b"}
INDEXED_KEY = wire(INDEXED)
FILL = put("indexed", pk="a", sk="b", g="c", l="d", y="e")
STORED = [put("hash", pk="a", n=5, s="abc", l=["x"], ss={"SS": ["a", "b"]})]
ROWS = [put("pair", pk="a", sk=number, v=f"v{number % 2}") for number in range(1, 6)]
MAP = {"M": wire({"b": 1, "c": "x"})}
BIG = "x" * 300_000
LONG = "n" * 65_536
