"""Snapshot files: every table of every namespace, with what time has made of it.

A file is JSON lines: a header that names the format, its version and the SHA-256 of all that
follows; then each namespace with the moment it was saved at, its tables and its streams. A table is
the request that creates it and its state, followed by its items and by the changes that wait for
its global indexes. Files of earlier versions have no moments and no state: such a table is full.

``docs/reference/snapshots.md`` lists what a file holds and what it does not.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from emulator.clock import LATEST, NANOSECONDS
from emulator.engine import Account, Namespace, Table, updates, writes
from emulator.engine.expiry import ExpiryQueue
from emulator.engine.splits import split_for_size
from emulator.files import replace_file
from emulator.model.wire import dump_item, dump_types, load_item
from emulator.operations import descriptions, run
from emulator.operations.rules.items import item_fits
from emulator.operations.rules.keys import key_of_item
from emulator.persistence import (
    archives,
    bulk_puts,
    histories,
    index_queues,
    replicas,
    streams,
    table_state,
)
from emulator.persistence.exchange import create_request
from emulator.persistence.written import Moments, Times, integer, text
from emulator.service.errors import EmulatorError

FORMAT: Final = "dynamometer-snapshot"
VERSION: Final = 3
#: The last version whose tables have neither moment nor state.
_LAST_WITHOUT_STATE: Final = 2

FOREIGN: Final = "{path} is not a dynamometer snapshot: save one with emu.save(path)"
LATER: Final = (
    "{path} has snapshot version {version}, this release reads 1 to {latest}: load it with the "
    "release that wrote it"
)
DAMAGED: Final = "{path} is damaged (its checksum does not match): save it again"
WRONG: Final = "{path} line {line} is not what a snapshot has there ({reason}): save it again"


# Saving


def save(path: str | os.PathLike[str], accounts: Iterable[Account]) -> None:
    """Write some accounts, whole or not at all."""
    # A key's own table may have the name of one that every key sees, and must then come first.
    keys_first = sorted(accounts, key=lambda account: account.namespace.access_key is None)
    body = b"".join(_encode(line) for account in keys_first for line in _account(account))
    header = {"format": FORMAT, "version": VERSION, "sha256": hashlib.sha256(body).hexdigest()}
    replace_file(path, _encode(header) + body)


def _encode(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _account(account: Account) -> Iterator[dict[str, Any]]:
    tables = [table for table in account.tables.values() if table.deleted_at_ns is None]
    transfers = list(archives.dump_transfers(account))
    yield {
        "region": account.region,
        "access_key": account.namespace.access_key,
        "now": account.now_ns,
        "throughput_now": account.throughput_ns,
        "ids_made": account.ids_made,
        "backups": len(account.archive.backups),
        "tables": len(tables),
        "streams": len(account.streams),
        "transfers": len(transfers),
        "bulk_puts": len(account.archive.bulk_puts),
    }
    for backup in account.archive.backups.values():
        yield archives.dump_backup(backup)
        yield from _table(account, backup.table)
    for table in tables:
        yield from _table(account, table)
    for stream in account.streams.values():
        yield from streams.dump(stream)
    yield from transfers
    for job in account.archive.bulk_puts.values():
        yield bulk_puts.dump(job)


def _table(account: Account, table: Table) -> Iterator[dict[str, Any]]:
    queued = account.capacity == "enforce"
    waiting = list(index_queues.dump(table, account.throughput_ns)) if queued else []
    yield {
        "table": _definition(account, table),
        "ttl": None if table.expiry is None else table.expiry.attribute,
        "items": len(table.store),
        "waiting": len(waiting),
        "history": histories.dump_head(table),
        "state": table_state.dump(table, account.throughput_ns),
    }
    for _, item in table.store.walk(*updates.EVERYWHERE):
        yield dump_item(item.attributes)
    yield from waiting
    yield from histories.dump(table)


def _definition(account: Account, table: Table) -> dict[str, Any]:
    """Return the request that creates a table, without indexes that are being deleted."""
    described = descriptions.describe_table(account, table, status="ACTIVE")
    described["AttributeDefinitions"] = dump_types(table.attribute_types)
    for member in ("GlobalSecondaryIndexes", "VectorIndexes"):
        described[member] = [
            index for index in described.get(member, ()) if index["IndexStatus"] != "DELETING"
        ]
    request = create_request(described)
    # Its stream follows, with its records.
    request.pop("StreamSpecification", None)
    if table.options.tags:
        request["Tags"] = [{"Key": key, "Value": tag} for key, tag in table.options.tags.items()]
    return request


# Loading


def load(path: str | os.PathLike[str], account_of: Callable[[Namespace], Account]) -> None:
    """Fill new accounts, given by namespace, from a file.

    Raises:
        EmulatorError: the file is damaged, foreign, of a later version, or does not hold together;
            the accounts are of no use then.
    """
    version, body = _read(path)
    lines = _SnapshotLines(body)
    try:
        if version <= _LAST_WITHOUT_STATE:
            _load_without_state(lines, account_of)
        else:
            dates: Moments | None = None
            for head in lines:
                dates = _load_account(head, lines, account_of, dates)
    # Whatever a line can be wrong about, the file is at fault, and its reader gets one sentence.
    except Exception as error:
        raise EmulatorError(
            WRONG.format(path=path, line=lines.number, reason=_reason(error))
        ) from error


def _read(path: str | os.PathLike[str]) -> tuple[int, bytes]:
    """Return the version of a snapshot file and what follows its header, verified."""
    header_line, _, body = Path(path).read_bytes().partition(b"\n")
    try:
        header = json.loads(header_line)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise EmulatorError(FOREIGN.format(path=path))
    version = header.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        shown = str(version) if isinstance(version, int | float) else "of another kind"
        raise EmulatorError(LATER.format(path=path, version=shown[:20], latest=VERSION))
    if hashlib.sha256(body).hexdigest() != header.get("sha256"):
        raise EmulatorError(DAMAGED.format(path=path))
    return version, body


class _SnapshotLines(Iterator[dict[str, Any]]):
    """The lines of a file behind its header, read one by one.

    Attributes:
        number: The line that was read last, counted from 1 with the header.
    """

    def __init__(self, body: bytes) -> None:
        self._lines = iter(body.splitlines())
        self.number = 1

    def __next__(self) -> dict[str, Any]:
        encoded = next(self._lines)
        self.number += 1
        line = json.loads(encoded)
        if not isinstance(line, dict):
            raise TypeError("an object is expected")
        return line

    def take(self, count: object) -> Iterator[dict[str, Any]]:
        """Yield the next ``count`` lines.

        Raises:
            ValueError: there are fewer.
        """
        wanted = integer(count)
        for _ in range(wanted):
            line = next(self, None)
            if line is None:
                raise ValueError("the file ends too early")
            yield line


def _reason(error: Exception) -> str:
    """Return the fault of a line, in few words."""
    if isinstance(error, KeyError):
        return f"{error} is missing"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return (str(error).partition("\n")[0] or type(error).__name__)[:200]


def _load_account(
    head: Mapping[str, Any],
    lines: _SnapshotLines,
    account_of: Callable[[Namespace], Account],
    dates: Moments | None,
) -> Moments:
    """Fill an account; return its moments, which are those of every account of the file."""
    account = account_of(_namespace(head))
    if not account.is_empty:
        raise ValueError("a namespace comes twice")
    with account.lock:
        times = _begin(account, head, dates)
        for backup in lines.take(head.get("backups", 0)):
            (table_head,) = lines.take(1)
            table = _load_table(account, table_head, lines, times)
            archives.load_backup(account, backup, table, times.dates)
        arns = {}
        for table_head in lines.take(head["tables"]):
            table = _load_table(account, table_head, lines, times)
            arns[table.name] = table_head["state"]["stream"]
        for stream_head in lines.take(head["streams"]):
            streams.load(account, stream_head, lines.take(stream_head["records"]), times.dates)
        for name, arn in arns.items():
            account.tables[name].stream = None if arn is None else account.streams[arn]
        transfers = lines.take(head.get("transfers", 0))
        archives.load_transfers(account, transfers, times.dates)
        for job in lines.take(head.get("bulk_puts", 0)):
            bulk_puts.load(account, job, times.dates)
        account.ids_made = max(account.ids_made, integer(head.get("ids_made", 0)))
        account.network.note(account)
        account.look_ahead()
        account.begin_observing()
    return times.dates


def _namespace(head: Mapping[str, Any]) -> Namespace:
    """Return whose data it is; what a file names no access key for, every key sees."""
    access_key = head.get("access_key")
    return Namespace(None if access_key is None else text(access_key), text(head["region"]))


def _begin(account: Account, head: Mapping[str, Any], dates: Moments | None) -> Times:
    """Be at the moment at which an account was saved; return when that was, and all else."""
    saved_ns, throughput_ns = (
        integer(head[name], 0, LATEST * NANOSECONDS) for name in ("now", "throughput_now")
    )
    if dates is None:
        dates = Moments.of(saved_ns, account.now_ns)
    account.begin_at(dates.ns(saved_ns))
    shift_ns = account.throughput_ns - throughput_ns
    return Times(dates, Moments(shift_ns), account.throughput_ns)


def _load_table(
    account: Account, head: Mapping[str, Any], lines: _SnapshotLines, times: Times
) -> Table:
    table = _create(account, head["table"])
    table_state.load(table, head["state"], times)
    _fill(account, table, head, lines)
    history = head.get("history")
    changes = lines.take(0 if history is None else history["changes"])
    histories.load(account, table, history, list(changes), times.dates)
    if head["ttl"] is not None:
        items = table.store.walk(*updates.EVERYWHERE)
        table.expiry = ExpiryQueue(text(head["ttl"]), items)
    replica = head["state"].get("replica")  # not in files of before there were any
    if replica is not None:
        table.replica = replicas.load(replica, times.dates)
    for resource in table.resources():
        resource.check()
    return table


def _create(account: Account, request: dict[str, Any]) -> Table:
    run(account, "CreateTable", request)
    return account.tables[request["TableName"]]


def _fill(account: Account, table: Table, head: Mapping[str, Any], lines: _SnapshotLines) -> None:
    """Put the items into a new table and its indexes, then take back what waits for an index.

    An item that an index would refuse today may have been there before the index (MAK-26).
    """
    for line in lines.take(head["items"]):
        item = load_item(line)
        item_fits(item)
        position = table.position(key_of_item(item, table.key))
        writes.place(account, table, position, item)
    if len(table.store) != head["items"]:
        raise ValueError("an item comes twice")
    waiting = list(lines.take(head.get("waiting", 0)))
    index_queues.load(account, table, waiting)
    table.show_everything()


def _load_without_state(lines: _SnapshotLines, account_of: Callable[[Namespace], Account]) -> None:
    """Fill accounts from a file of version 1 or 2: tables are new, and ACTIVE at once."""
    for head in lines:
        account = account_of(_namespace(head))
        with account.lock:
            account.begin("CreateTable")
            table = _create(account, head["table"])
            table.active_at_ns = account.now_ns
            _fill(account, table, head, lines)
            if head["ttl"] is not None:
                specification = {"Enabled": True, "AttributeName": head["ttl"]}
                request = {"TableName": table.name, "TimeToLiveSpecification": specification}
                run(account, "UpdateTimeToLive", request)
            for resource in table.resources():
                split_for_size(account, table, resource, account.throughput_ns)
