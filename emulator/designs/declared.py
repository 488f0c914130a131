"""What a design file declares: a table as the CreateTable request that would make it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any, Final, TypeAlias

from emulator.designs.documents import Document, Path
from emulator.designs.event_sources import DeclaredSource
from emulator.designs.findings import Finding, Position
from emulator.designs.ignores import Ignore
from emulator.service.errors import DocumentError

Wire: TypeAlias = Mapping[str, Any]

#: Assumed: the capacity, if it is decided elsewhere.
UNKNOWN_UNITS: Final = 5
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
    "WarmThroughput",
)


@dataclass(frozen=True, kw_only=True)
class DeclaredTable:
    """A table of a design file.

    >>> from emulator.strategies import create_request
    >>> table = DeclaredTable(resource="orders", request=create_request("orders", "id"))
    >>> table.request["KeySchema"]
    [{'AttributeName': 'id', 'KeyType': 'HASH'}]
    """

    #: How the file calls it, such as ``aws_dynamodb_table.events``.
    resource: str
    #: The CreateTable request that would make it.
    request: dict[str, Any]
    ttl_attribute: str | None = None
    #: Whether the file would tell if items expired.
    tells_ttl: bool = False
    #: Provisioned capacity follows the load, as far as the file tells.
    scaled: bool = False
    #: Sample items in wire form.
    samples: tuple[Wire, ...] = ()
    #: What reading it showed: forms to avoid, values that are decided elsewhere.
    findings: tuple[Finding, ...] = ()
    #: The file that declares it.
    file: str | None = None
    #: Where it stands, by index name and member; empty texts for the table and for the whole.
    places: Places = field(default_factory=dict)

    def located(self, finding: Finding) -> Finding:
        """Return a finding about this table with the place that it is about."""
        if self.file is None or finding.file is not None:
            return finding
        index = self._index_of(finding)
        keys = ((index, finding.attribute or ""), (index, ""), ("", ""))
        position = next((self.places[key] for key in keys if key in self.places), None)
        return finding.at(self.file, position)

    def lines_around(self, finding: Finding) -> set[int]:
        """Return the first line of each thing around a finding: its line, index and table."""
        keys = ((self._index_of(finding), ""), ("", ""))
        blocks = {self.places[key].line for key in keys if key in self.places}
        return blocks | ({finding.line} if finding.line is not None else set())

    def _index_of(self, finding: Finding) -> str:
        return finding.subject.removeprefix(self.resource).strip()


#: Positions by index name and member.
Places: TypeAlias = Mapping[tuple[str, str], Position]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What was read from a file or directory."""

    tables: tuple[DeclaredTable, ...] = ()
    #: Access patterns with their load, of models that have them.
    patterns: tuple[DeclaredPattern, ...] = ()
    #: Which functions get the streams of tables.
    sources: tuple[DeclaredSource, ...] = ()
    #: What concerns no table that could be read.
    findings: tuple[Finding, ...] = ()
    files: tuple[str, ...] = ()
    #: What the files themselves wish not to hear of.
    ignores: tuple[Ignore, ...] = ()

    @classmethod
    def joined(cls, readings: Iterable[Reading]) -> Reading:
        """Return several readings as one."""
        readings = list(readings)
        return cls(
            **{
                member.name: tuple(
                    entry for reading in readings for entry in getattr(reading, member.name)
                )
                for member in fields(cls)
            }
        )


@dataclass(frozen=True, kw_only=True)
class DeclaredPattern:
    """An access pattern of a data model, with the load that it states."""

    name: str
    operation: str
    table: str
    index: str | None = None
    #: Requests per second, at the peak and on average.
    rate: float = 0.0
    average: float = 0.0
    size_bytes: int = 1024
    items: int = 1
    consistent: bool = False
    has_filter: bool = False
    #: Attributes that an update writes, and whether a put replaces an item that is there.
    changes: tuple[str, ...] = ()
    updates: bool = False
    #: Days that items are kept, if it says so.
    retention_days: float | None = None
    #: The entities that one request writes, each with how many of it.
    entities: tuple[tuple[str, float], ...] = ()
    #: The indexes that its items are in; None if it does not say.
    indexes: tuple[str, ...] | None = None


class NothingDeclaredError(DocumentError):
    """A file or directory that can be read and has no table in it."""

    def __init__(self, path: object) -> None:
        super().__init__(f"{path}: no DynamoDB table is declared in it")


class UndecidedError(Exception):
    """A value without which there is no table is decided elsewhere."""

    def __init__(self, field_name: str, reason: object) -> None:
        super().__init__(f"{field_name} is decided elsewhere ({reason})")
        self.field_name = field_name


DECIDED_ELSEWHERE: Final = "{name} is decided elsewhere; it is taken as {taken}."
NOT_STATED: Final = "{name} is not stated; it is taken as {taken}."


@dataclass
class Notes:
    """Findings gathered while a table is read."""

    resource: str
    findings: list[Finding] = field(default_factory=list)
    #: How a value is stated where it is missing.
    remedy: str = "Give it a default in the file to have it checked."
    #: What is said of a value that the file does not tell.
    assumption: str = DECIDED_ELSEWHERE

    def assumed(self, name: str, taken: object) -> None:
        """Note a value that the file does not tell (ICH-3)."""
        message = self.assumption.format(name=name, taken=taken)
        finding = Finding("assumed-value", "info", self.resource, message, self.remedy, name)
        self.findings.append(finding)

    def warn(self, check: str, message: str, fix: str) -> None:
        """Note a form that should be written in another way."""
        self.findings.append(Finding(check, "warning", self.resource, message, fix))

    def unread(self, names: Iterable[str], fix: str) -> None:
        """Note members that are not looked at (ICH-2)."""
        listed = sorted(set(names))
        if listed:
            verb = "is" if len(listed) == 1 else "are"
            message = f"{', '.join(listed)} {verb} not read."
            self.findings.append(Finding("unread-member", "info", self.resource, message, fix))

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
                self.assumed(where + name, UNKNOWN_UNITS)
                made[member] = UNKNOWN_UNITS
        return made

    def name(self, value: Any, fallback: str) -> str:
        """Return a table's name, or what the file calls the resource.

        A text is the name even if the service refuses it, which the check then says.
        """
        if isinstance(value, str | int):
            return str(value)
        name = re.sub(r"[^a-zA-Z0-9_.-]+", "-", fallback).strip("-").ljust(3, "-")
        if value is not None:
            self.assumed("the table's name", name)
        return name


def unreadable(resource: str, reason: object, *, fix: str = "") -> Finding:
    """Return the finding of a table that is not one (ICH-3)."""
    message = f"It cannot be read: {reason}"
    return Finding(
        "unreadable", "problem", resource, message, fix or "Correct it; it was not checked."
    )


def undecided(resource: str, error: UndecidedError, fix: str, what: str = "table") -> Finding:
    """Return the finding of a table that depends on what is decided elsewhere (ICH-47)."""
    message = f"{error}, so there is no {what} to check."
    return Finding("unknown-value", "warning", resource, message, fix)


@contextmanager
def expecting(where: str, what: str) -> Iterator[None]:
    """Turn a member of another kind than expected into a complaint about its place.

    Args:
        where: The place; empty if whoever catches the complaint knows it.
        what: What is expected there.

    >>> with expecting("t.json", "a table"):
    ...     {}["KeySchema"]
    Traceback (most recent call last):
    emulator.errors.DocumentError: t.json: expected a table: 'KeySchema' is missing
    """
    prefix = f"{where}: " if where else ""
    try:
        yield
    except KeyError as error:
        raise DocumentError(f"{prefix}expected {what}: {error} is missing") from error
    except ValueError as error:
        raise DocumentError(f"{prefix}expected {what}: {error}") from error
    except (AttributeError, IndexError, TypeError) as error:
        raise DocumentError(f"{prefix}expected {what}; a member has the wrong type") from error


_PLACED: Final = (
    "KeySchema",
    "BillingMode",
    "ProvisionedThroughput",
    "StreamSpecification",
    "TimeToLiveSpecification",
    "LocalSecondaryIndexes",
    "TableName",
)


def request_places(
    document: Document, path: Path, properties: Wire
) -> Iterator[tuple[tuple[str, str], Position]]:
    """Yield where a table in the service's own form, its indexes and their members stand."""
    yield ("", ""), document.position(path)
    for member in _PLACED:
        if member in properties:
            yield ("", member), document.position((*path, member))
    for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        for number, index in enumerate(properties.get(kind) or ()):
            inner = (*path, kind, number)
            yield (str(index.get("IndexName")), ""), document.position(inner)
            for member in ("KeySchema", "KeyAttributes", "Projection", "ProvisionedThroughput"):
                if member in index:
                    name = member.replace("KeyAttributes", "KeySchema")
                    yield (str(index.get("IndexName")), name), document.position((*inner, member))


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
