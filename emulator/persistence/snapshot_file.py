"""Tables on disk: snapshot files, and the service's own forms of tables and items.

A snapshot file is JSON lines: a header that names the format, its version and the SHA-256 of
all that follows; then each table as the request that creates it, followed by its items and by
what waits for its global indexes. It is written beside its place and renamed into it, so a crash
at any byte leaves the old file or the new one. Streams begin anew when a file is loaded;
partitions follow from throughput and size.

Items travel in the service's export form (``{"Item": {...}}``), tables as DescribeTable
answers them.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

from emulator.engine import Account, Namespace, Table, writes
from emulator.model.wire import dump_item, load_item
from emulator.operations import descriptions, run
from emulator.operations.put_item import position_to_put
from emulator.operations.rules.items import item_fits
from emulator.persistence import index_queues
from emulator.service.errors import ApiError, EmulatorError
from emulator.storage import HASH_SPACE

FORMAT: Final = "dynamometer-snapshot"
VERSION: Final = 2
#: Files of these versions can be read.
_READABLE: Final = (1, 2)

#: What a description shows of an index and CreateTable takes back.
_INDEX_MEMBERS: Final = ("IndexName", "KeySchema", "Projection")
_UNITS: Final = ("ReadCapacityUnits", "WriteCapacityUnits")


# Snapshot files


def save(path: str | os.PathLike[str], accounts: Iterable[Account]) -> None:
    """Write the tables of some regions, whole or not at all."""
    body = b"".join(_encode(line) for account in accounts for line in _tables(account))
    header = {
        "format": FORMAT,
        "version": VERSION,
        "sha256": hashlib.sha256(body).hexdigest(),
    }
    _replace_file(Path(path), _encode(header) + body)


def _encode(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def _tables(account: Account) -> Iterator[dict[str, Any]]:
    for table in account.tables.values():
        if table.deleted_at_ns is not None:
            continue
        description = descriptions.describe_table(account, table, status="ACTIVE")
        request = create_request(description)
        tags = table.options.tags
        if tags:
            request["Tags"] = [{"Key": key, "Value": value} for key, value in tags.items()]
        queued = account.capacity == "enforce"
        waiting = list(index_queues.dump(table, account.now_ns)) if queued else []
        yield {
            "region": account.region,
            "access_key": account.namespace.access_key,
            "table": request,
            "ttl": None if table.expiry is None else table.expiry.attribute,
            "items": len(table.store),
            "waiting": len(waiting),
        }
        for _, item in table.store.walk((0,), (HASH_SPACE,)):
            yield dump_item(item.attributes)
        yield from waiting


def _replace_file(path: Path, data: bytes) -> None:
    """Write beside the path, then rename: readers see the old file or the new one."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return the lines of a snapshot file behind its header, verified.

    Raises:
        EmulatorError: the file is damaged, foreign or of a later version.
    """
    header_line, _, body = Path(path).read_bytes().partition(b"\n")
    try:
        header = json.loads(header_line)
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise EmulatorError(f"{path} is no dynamometer snapshot: save one with emu.save(path)")
    if header.get("version") not in _READABLE:
        raise EmulatorError(
            f"{path} has snapshot version {header.get('version')!r}, this release reads "
            f"{VERSION}: load it with the release that wrote it"
        )
    if hashlib.sha256(body).hexdigest() != header.get("sha256"):
        raise EmulatorError(f"{path} is damaged (its checksum does not fit): save it anew")
    return [json.loads(line) for line in body.splitlines()]


def namespaces(
    lines: Iterable[Mapping[str, Any]],
) -> Iterator[tuple[Namespace, Iterator[Any]]]:
    """Yield for each table its namespace and an iterator: its head, then its items.

    A table of a file that names no access key, as those of 0.1.0, is seen by every key.
    """
    walk = iter(lines)
    for head in walk:
        count = head["items"] + head.get("waiting", 0)
        lines_of_table = [next(walk) for _ in range(count)]
        namespace = Namespace(head.get("access_key"), head["region"])
        yield namespace, iter([head, *lines_of_table])


def restore_table(account: Account, lines: Iterator[Any]) -> None:
    """Create a table of a snapshot file and fill it, free of charge."""
    head = next(lines)
    run(account, "CreateTable", head["table"])
    table = account.tables[head["table"]["TableName"]]
    table.active_at_ns = account.now_ns
    fill(account, table, islice(lines, head["items"]))
    index_queues.load(account, table, lines)
    if head["ttl"] is not None:
        specification = {"Enabled": True, "AttributeName": head["ttl"]}
        request = {"TableName": table.name, "TimeToLiveSpecification": specification}
        run(account, "UpdateTimeToLive", request)


# The service's forms


def create_request(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return the CreateTable request that makes a table as described.

    >>> create_request({"Table": {"TableName": "t", "KeySchema": [], "AttributeDefinitions": []}})
    {'TableName': 't', 'KeySchema': [], 'AttributeDefinitions': [],
     'BillingMode': 'PAY_PER_REQUEST'}
    """
    described = description.get("Table", description)
    for member in ("TableName", "KeySchema", "AttributeDefinitions"):
        if member not in described:
            raise EmulatorError(f"a table description needs {member}: pass DescribeTable's answer")
    request = {
        member: described[member] for member in ("TableName", "KeySchema", "AttributeDefinitions")
    }
    units = _provisioned(described)
    request["BillingMode"] = "PAY_PER_REQUEST" if units is None else "PROVISIONED"
    if units is not None:
        request["ProvisionedThroughput"] = units
    for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        if described.get(member):
            request[member] = [_index_request(index, member, units) for index in described[member]]
    return request | _option_members(described)


def _provisioned(described: Mapping[str, Any]) -> dict[str, int] | None:
    throughput = described.get("ProvisionedThroughput") or {}
    units = {member: throughput.get(member, 0) for member in _UNITS}
    return units if all(units.values()) else None


def _index_request(
    index: Mapping[str, Any], kind: str, table_units: dict[str, int] | None
) -> dict[str, Any]:
    request = {member: index[member] for member in _INDEX_MEMBERS}
    if kind == "GlobalSecondaryIndexes" and table_units is not None:
        request["ProvisionedThroughput"] = _provisioned(index) or table_units
    if index.get("OnDemandThroughput"):
        request["OnDemandThroughput"] = index["OnDemandThroughput"]
    return request


def _option_members(described: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a request that a description has under other names."""
    options: dict[str, Any] = {}
    stream = described.get("StreamSpecification")
    if stream and stream.get("StreamEnabled"):
        options["StreamSpecification"] = stream
    if described.get("TableClassSummary"):
        options["TableClass"] = described["TableClassSummary"]["TableClass"]
    if described.get("DeletionProtectionEnabled"):
        options["DeletionProtectionEnabled"] = True
    if described.get("OnDemandThroughput"):
        options["OnDemandThroughput"] = described["OnDemandThroughput"]
    encryption = described.get("SSEDescription")
    if encryption and encryption.get("SSEType") == "KMS":
        options["SSESpecification"] = {"Enabled": True, "SSEType": "KMS"}
    return options


def export_items(path: str | os.PathLike[str], table: Table) -> int:
    """Write a table's items as DynamoDB JSON lines; return how many."""
    lines = (
        _encode({"Item": dump_item(item.attributes)})
        for _, item in table.store.walk((0,), (HASH_SPACE,))
    )
    _replace_file(Path(path), b"".join(lines))
    return len(table.store)


def import_items(path: str | os.PathLike[str], account: Account, table: Table) -> int:
    """Put the items of a DynamoDB JSON lines file, all or none; return how many.

    A line is an item, bare or under ``Item``; a file whose name ends in ``.gz`` is compressed, as
    the service's exports are.

    Raises:
        EmulatorError: a line is not an item of this table; it names file and line.
    """
    items = []
    for number, line in enumerate(_text(Path(path)).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            written = json.loads(line)
            item = load_item(written.get("Item", written))
            item_fits(item)
            position_to_put(table, item)
        except (ValueError, AttributeError) as error:
            raise EmulatorError(f"{path}:{number}: not a line of DynamoDB JSON: {error}") from None
        except ApiError as error:
            raise EmulatorError(f"{path}:{number}: {error.message}") from None
        items.append(written.get("Item", written))
    fill(account, table, items)
    return len(items)


def _text(path: Path) -> str:
    data = path.read_bytes()
    try:
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    except (ValueError, EOFError, OSError, zlib.error) as error:
        raise EmulatorError(f"{path}: not a file of DynamoDB JSON lines: {error}") from None


def fill(account: Account, table: Table, items: Iterable[Mapping[str, Any]]) -> None:
    """Put items straight into a table and its indexes: nothing is admitted or charged."""
    for written in items:
        item = load_item(written)
        position = position_to_put(table, item)
        writes.place(account, table, position, item)
