"""What a design file declares: a table as the CreateTable request that would make it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from emulator.designs.findings import Finding
from emulator.service.errors import DocumentError

Wire: TypeAlias = Mapping[str, Any]

NEEDS: Final = "{path}: reading it needs the module {module}: pip install 'dynamometer[designs]'"
#: Assumed: what stands for a capacity that is decided elsewhere.
UNKNOWN_UNITS: Final = 5
_TABLE_NAME: Final = re.compile(r"[a-zA-Z0-9_.-]{3,255}")
UNITS: Final = {
    "ReadCapacityUnits": "ReadCapacityUnits",
    "WriteCapacityUnits": "WriteCapacityUnits",
}
_TABLE_MEMBERS: Final = (
    "TableName",
    "KeySchema",
    "AttributeDefinitions",
    "LocalSecondaryIndexes",
    "GlobalSecondaryIndexes",
    "BillingMode",
    "ProvisionedThroughput",
    "OnDemandThroughput",
    "WarmThroughput",
    "StreamSpecification",
    "SSESpecification",
    "TableClass",
    "DeletionProtectionEnabled",
)
INDEX_MEMBERS: Final = (
    "IndexName",
    "KeySchema",
    "Projection",
    "ProvisionedThroughput",
    "OnDemandThroughput",
)


@dataclass(frozen=True, kw_only=True)
class DeclaredTable:
    """A table of a design file."""

    #: How the file calls it, such as ``aws_dynamodb_table.events``.
    resource: str
    #: The CreateTable request that would make it.
    request: dict[str, Any]
    ttl_attribute: str | None = None
    #: Provisioned capacity follows the load, as far as the file tells.
    scaled: bool = False
    #: Sample items in wire form.
    samples: tuple[Wire, ...] = ()
    #: What reading it showed: forms to avoid, values that are decided elsewhere.
    findings: tuple[Finding, ...] = ()


@dataclass
class Notes:
    """Findings gathered while a table is read."""

    resource: str
    findings: list[Finding] = field(default_factory=list)

    def unknown(self, name: str, taken: object) -> None:
        """Note a value that the file does not tell."""
        message = f"{name} is decided elsewhere; it is taken as {taken}."
        fix = "Give it a default in the file to have it checked."
        self.findings.append(Finding("unknown-value", "info", self.resource, message, fix))

    def warn(self, check: str, message: str, fix: str) -> None:
        """Note a form that should be written in another way."""
        self.findings.append(Finding(check, "warning", self.resource, message, fix))

    def units(self, throughput: Wire, names: Mapping[str, str], where: str = "") -> dict[str, int]:
        """Return throughput by wire name; what is not known is taken as a few units.

        A capacity that is not given at all stays out: the service refuses such a table, and
        says so.
        """
        made = {}
        for member, name in names.items():
            value = throughput.get(name)
            if value is None:
                continue
            try:
                made[member] = int(value)
            except (TypeError, ValueError):
                self.unknown(where + name, UNKNOWN_UNITS)
                made[member] = UNKNOWN_UNITS
        return made

    def name(self, value: Any, fallback: str) -> str:
        """Return a table's name, or what the file calls the resource."""
        if isinstance(value, str) and _TABLE_NAME.fullmatch(value):
            return value
        name = re.sub(r"[^a-zA-Z0-9_.-]", "-", fallback).ljust(3, "-")
        if value is not None:
            self.unknown("the table's name", name)
        return name


def read_text(path: Path) -> str:
    """Return a file's text.

    Raises:
        DocumentError: It cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise DocumentError(f"{path}: cannot be read: {reason}") from error


@contextmanager
def expecting(where: str, what: str) -> Iterator[None]:
    """Turn a member of another kind than expected into a complaint about its place.

    >>> with expecting("t.json: Resources.T", "a table"):
    ...     {}["KeySchema"]
    Traceback (most recent call last):
    emulator.errors.DocumentError: t.json: Resources.T: expected a table: 'KeySchema' is
    missing
    """
    try:
        yield
    except KeyError as error:
        raise DocumentError(f"{where}: expected {what}: {error} is missing") from error
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        raise DocumentError(f"{where}: expected {what}: {error}") from error


def key_schema(partition: Iterable[str], sort: Iterable[str]) -> list[dict[str, str]]:
    """Return a KeySchema.

    >>> key_schema(["a"], ["b"])
    [{'AttributeName': 'a', 'KeyType': 'HASH'}, {'AttributeName': 'b', 'KeyType': 'RANGE'}]
    """
    roles = (("HASH", partition), ("RANGE", sort))
    return [{"AttributeName": name, "KeyType": role} for role, names in roles for name in names]


def from_description(description: Wire) -> dict[str, Any]:
    """Return the CreateTable request of a table's description, or of a request itself."""
    request = kept(description, _TABLE_MEMBERS)
    mode = description.get("BillingModeSummary", {}).get("BillingMode")
    if "TableStatus" in description or mode is not None:
        request["BillingMode"] = mode or "PROVISIONED"
    if isinstance(description.get("TableClassSummary"), Mapping):
        request["TableClass"] = description["TableClassSummary"]["TableClass"]
    for name in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        if name in request:
            request[name] = [_index(element, request) for element in request[name]]
    _keep_throughput(request, request)
    request.pop("SSESpecification", None)
    return request


def _index(index: Wire, table: Wire) -> dict[str, Any]:
    made = kept(index, INDEX_MEMBERS)
    _keep_throughput(made, table)
    return made


def _keep_throughput(holder: dict[str, Any], table: Wire) -> None:
    """Drop what a description adds to throughput, and all of it on demand."""
    holder.pop("WarmThroughput", None)
    throughput = holder.pop("ProvisionedThroughput", None)
    if throughput is not None and table.get("BillingMode") != "PAY_PER_REQUEST":
        holder["ProvisionedThroughput"] = kept(throughput, UNITS)


def kept(source: Wire, names: Iterable[str]) -> dict[str, Any]:
    """Return the members of those names."""
    return {name: source[name] for name in names if source.get(name) is not None}
