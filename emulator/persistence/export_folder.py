"""A folder of the service's exports, as seeds: what S3 holds, copied to a disk (S3X-6 to S3X-8).

Every ``manifest-summary.json`` below the folder is an export. Of each table the last full export
counts, and the increments after it. Checksums are verified; a folder whose files do not fit
together fills nothing.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from emulator.engine import Account, Table, writes
from emulator.model import Item
from emulator.model.wire import load_item
from emulator.operations.put_item import position_to_put
from emulator.operations.rules.items import item_fits
from emulator.persistence.deduced_keys import deduced_request
from emulator.persistence.exchange import create_request
from emulator.service.errors import ApiError, EmulatorError
from emulator.storage import Position

NO_EXPORT: Final = (
    "{folder} holds no export of DynamoDB: there is no manifest-summary.json in it or below"
)
NOT_READ: Final = "{path} cannot be read as part of an export: {reason}"
NO_JSON: Final = "{path} belongs to an export in {format}: only DYNAMODB_JSON is read"
DAMAGED: Final = "{path} is damaged: its checksum does not match its manifest"
MISSING: Final = "{path} lists the file {name}, which is not there"
NO_FULL: Final = "{folder} has increments of table {table}, and no full export before them"
BAD_ITEM: Final = "{folder}: an item of table {table} does not fit: {reason}"
_SUMMARY: Final = "manifest-summary.json"


class ExportedTable(NamedTuple):
    """A table as its exports have it.

    Attributes:
        name: Its name.
        items: Its items.
        key_names: The attributes of its key, if increments name them.
        description: Its description by DescribeTable, if there is a file beside the export.
    """

    name: str
    items: list[Item]
    key_names: frozenset[str]
    description: Mapping[str, Any] | None

    def request(self) -> tuple[dict[str, Any], bool]:
        """Return the CreateTable request of the table, and whether its key was deduced."""
        if self.description is not None:
            return create_request(self.description), False
        return deduced_request(self.name, self.items, self.key_names), True


class _Export(NamedTuple):
    path: Path
    summary: Mapping[str, Any]

    @property
    def table(self) -> str:
        """The name of the table."""
        return str(self.summary["tableArn"]).rpartition("table/")[2]

    @property
    def is_incremental(self) -> bool:
        """Whether it has changes, and not items."""
        return self.summary.get("exportType") == "INCREMENTAL_EXPORT"

    @property
    def moment(self) -> str:
        """The moment of the state that it has, or leads to; texts in the order of time."""
        return str(self.summary["exportToTime" if self.is_incremental else "exportTime"])


def read_exports(folder: str | os.PathLike[str]) -> list[ExportedTable]:
    """Return every table that a folder has exports of, by name.

    Raises:
        EmulatorError: there is none, or a file is missing, damaged or in another format.
    """
    root = Path(folder)
    exports = [_opened(path) for path in sorted(root.rglob(_SUMMARY))]
    if not exports:
        raise EmulatorError(NO_EXPORT.format(folder=folder))
    descriptions = dict(_descriptions(root))
    names = sorted({export.table for export in exports})
    return [
        _table(root, name, [export for export in exports if export.table == name], descriptions)
        for name in names
    ]


def _opened(path: Path) -> _Export:
    summary = _json(path, path.read_bytes())
    for member in ("tableArn", "outputFormat"):
        if member not in summary:
            raise EmulatorError(NOT_READ.format(path=path, reason=f"{member} is missing"))
    if summary["outputFormat"] != "DYNAMODB_JSON":
        raise EmulatorError(NO_JSON.format(path=path, format=summary["outputFormat"]))
    return _Export(path, summary)


def _descriptions(root: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield table names and descriptions from files beside the exports."""
    for path in sorted(root.glob("*.json")):
        if path.name == _SUMMARY or path.name == "manifest-files.json":
            continue
        described = _json(path, path.read_bytes())
        table = described.get("Table", described)
        if isinstance(table, dict) and {"TableName", "KeySchema"} <= table.keys():
            yield table["TableName"], table


def _table(
    root: Path, name: str, exports: list[_Export], descriptions: Mapping[str, Mapping[str, Any]]
) -> ExportedTable:
    full = [export for export in exports if not export.is_incremental]
    if not full:
        raise EmulatorError(NO_FULL.format(folder=root, table=name))
    last = max(full, key=lambda export: export.moment)
    increments = sorted(
        (export for export in exports if export.is_incremental and export.moment > last.moment),
        key=lambda export: export.moment,
    )
    items = [load_item(record["Item"]) for record in _records(last)]
    names: set[str] = set()
    if increments:
        items, names = _brought_forward(items, increments)
    return ExportedTable(name, items, frozenset(names), descriptions.get(name))


def _brought_forward(items: list[Item], increments: list[_Export]) -> tuple[list[Item], set[str]]:
    """Return the items after some increments, and the names of their key's attributes."""
    changes = [record for export in increments for record in _records(export)]
    names = {name for record in changes for name in record["Keys"]}
    state = {_key(item, names): item for item in items}
    for record in changes:
        key = _key(load_item(record["Keys"]), names)
        state.pop(key, None)
        if "NewImage" in record:
            state[key] = load_item(record["NewImage"])
    return list(state.values()), names


def _key(item: Item, names: set[str]) -> tuple[Any, ...]:
    return tuple(item.attributes.get(name) for name in sorted(names))


def _records(export: _Export) -> Iterator[Mapping[str, Any]]:
    """Yield the records of an export, file by file."""
    manifest = export.path.with_name("manifest-files.json")
    if not manifest.exists():
        raise EmulatorError(MISSING.format(path=export.path, name=manifest.name))
    for line in manifest.read_bytes().splitlines():
        listed = _json(manifest, line)
        name = str(listed["dataFileS3Key"]).rpartition("/")[2]
        path = _data_file(manifest, name)
        packed = path.read_bytes()
        digest = hashlib.md5(packed, usedforsecurity=False).digest()
        if base64.b64encode(digest).decode() != listed["md5Checksum"]:
            raise EmulatorError(DAMAGED.format(path=path))
        try:
            text = gzip.decompress(packed)
        except (OSError, EOFError, zlib.error) as error:
            raise EmulatorError(NOT_READ.format(path=path, reason=error)) from None
        for record in text.splitlines():
            yield _json(path, record)


def _data_file(manifest: Path, name: str) -> Path:
    """Return where a data file lies: beside the manifest, or in the folder that exports share."""
    for folder in (manifest.parent / "data", manifest.parent.parent / "data"):
        if (folder / name).exists():
            return folder / name
    raise EmulatorError(MISSING.format(path=manifest, name=name))


def _json(path: Path, data: bytes) -> Mapping[str, Any]:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise EmulatorError(NOT_READ.format(path=path, reason=error)) from None
    if not isinstance(document, dict):
        raise EmulatorError(NOT_READ.format(path=path, reason="an object is expected"))
    return document


def fill(
    folder: str | os.PathLike[str], account: Account, table: Table, exported: ExportedTable
) -> int:
    """Put the items of an export into a table, all or none, free of charge; return how many.

    Raises:
        EmulatorError: an item is none of this table.
    """
    placed: list[tuple[Position, Item]] = []
    for item in exported.items:
        try:
            item_fits(item)
            placed.append((position_to_put(table, item), item))
        except ApiError as error:
            reason = error.message
            raise EmulatorError(
                BAD_ITEM.format(folder=folder, table=table.name, reason=reason)
            ) from None
    for position, item in placed:
        writes.place(account, table, position, item)
    return len(placed)
