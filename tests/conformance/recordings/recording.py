"""What a recording is, the tables it runs on, and the words that several recordings share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from emulator import Emulator, Settings
from tests.operations.cases.case import TOO_DEEP as TOO_DEEP
from tests.operations.cases.case import detected as detected
from tests.tables import INVALID as INVALID
from tests.tables import table

TABLES = (
    table(TableName="hash"),
    table("pk:N", TableName="number"),
    table("pk:B", TableName="binary"),
    table("pk", TableName="bytes", indexes={"gsib": "bidx:B"}),
    table("pk", "sk", TableName="pair"),
    table("pk", "sk:N", TableName="ordered"),
    table(
        "pk",
        "sk",
        TableName="indexed",
        indexes={"gsi1": "lsi1sk", "gsi2": ("gsi2pk", "gsi2sk")},
        local_indexes={"lsi1": "lsi1sk"},
    ),
)
VALIDATION = "ValidationException"


@dataclass(frozen=True)
class Refused:
    """An error, by its whole message.

    Attributes:
        message: The text in us-east-1, October 2026; None where none was recorded.
        code: Which error.
        is_layered: Whether the text depends on the request layer; in the classic profile only
            the code is compared then.
        members: Further members of the error body.
    """

    message: str | None
    code: str = VALIDATION
    is_layered: bool = False
    members: dict[str, Any] | None = None


class Part(dict[str, Any]):
    """A structure of which these members were recorded, and not what else it has."""


@dataclass(frozen=True)
class Step:
    """A request, and the error or the members of the answer that were recorded.

    A request that repeats what was answered before (a token, the ARN of a backup) is a function of
    the members of the answers so far.
    """

    operation: str
    request: dict[str, Any] | Callable[[dict[str, Any]], dict[str, Any]]
    outcome: Refused | dict[str, Any]


def refused(operation, request, message=None, code=VALIDATION, **options):
    """Return a step that is refused."""
    return Step(operation, request, Refused(message, code, **options))


def accepted(operation, request, **members):
    """Return a step that is accepted, with members of its answer."""
    return Step(operation, request, members)


def statement(text, **members):
    """Return a PartiQL statement as a request."""
    return {"Statement": text, **members}


def prepared(profile):
    """Return an emulator with the tables."""
    emulator = Emulator(settings=Settings(messages=profile))
    for request in TABLES:
        emulator.call("CreateTable", request)
    return emulator


def s(text):
    """Return a text in wire form."""
    return {"S": text}


def n(number):
    """Return a number in wire form."""
    return {"N": str(number)}


def key(text="a"):
    """Return the key of an item of the table ``hash``."""
    return {"pk": s(text)}


def pair(pk="a", sk="1"):
    """Return the key of an item of the table ``pair``; ``pk`` may be any value."""
    return {"pk": s(pk) if isinstance(pk, str) else pk, "sk": s(sk)}


def deep(levels):
    """Return a text inside so many maps."""
    value = s("leaf")
    for _ in range(levels):
        value = {"M": {"n": value}}
    return value


def constraint(value, path, rule):
    """Return a broken constraint."""
    return f"Value '{value}' at '{path}' failed to satisfy constraint: {rule}"


CAPACITY = constraint(
    "BOGUS", "returnConsumedCapacity", "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"
)
METRICS = constraint(
    "BOGUS2", "returnItemCollectionMetrics", "Member must satisfy enum value set: [SIZE, NONE]"
)
BOGUS = {"ReturnConsumedCapacity": "BOGUS"}
BOGUS2 = {"ReturnItemCollectionMetrics": "BOGUS2"}
NO_SCHEMA = "The provided key element does not match the schema"
