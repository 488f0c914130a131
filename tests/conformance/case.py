"""What a case of the conformance table is, and the tables it runs on."""

from dataclasses import dataclass, field
from typing import Any


def key(*names):
    """Return a KeySchema: the first name HASH, the second RANGE."""
    kinds = ("HASH", "RANGE")
    return [
        {"AttributeName": name, "KeyType": kind} for name, kind in zip(names, kinds, strict=False)
    ]


def definitions(**types):
    """Return AttributeDefinitions."""
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in types.items()]


def index(name, schema, kind="ALL", names=None):
    """Return an index definition."""
    projection: dict[str, Any] = {"ProjectionType": kind}
    if names:
        projection["NonKeyAttributes"] = names
    return {"IndexName": name, "KeySchema": schema, "Projection": projection}


TABLES: dict[str, dict[str, Any]] = {
    "hash": {
        "KeySchema": key("pk"),
        "AttributeDefinitions": definitions(pk="S"),
    },
    "pair": {
        "KeySchema": key("pk", "sk"),
        "AttributeDefinitions": definitions(pk="S", sk="N"),
    },
    "blob": {
        "KeySchema": key("pk", "sk"),
        "AttributeDefinitions": definitions(pk="B", sk="B"),
    },
    "indexed": {
        "KeySchema": key("pk", "sk"),
        "AttributeDefinitions": definitions(pk="S", sk="S", g="S", n="N", l="S"),
        "GlobalSecondaryIndexes": [
            index("all", key("g", "n")),
            index("keys", key("g"), "KEYS_ONLY"),
            index("some", key("n"), "INCLUDE", ["x"]),
        ],
        "LocalSecondaryIndexes": [
            index("local", key("pk", "l")),
            index("lean", key("pk", "l"), "KEYS_ONLY"),
        ],
    },
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


INVALID = "One or more parameter values were invalid: "
VALIDATION = "ValidationException"


def refused(message):
    """Return the error of a ValidationException."""
    return VALIDATION, message


def detected(message, count=1):
    """Return the enveloped form of a message."""
    noun = "error" if count == 1 else "errors"
    return f"{count} validation {noun} detected: {message}"


def constraint(value, path, rule):
    """Return a constraint problem."""
    return f"Value {value} at '{path}' failed to satisfy constraint: {rule}"
