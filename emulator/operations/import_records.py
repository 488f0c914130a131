"""The records of an import: objects, lines and cells become items (S3X-21, S3X-22).

Texts of errors are those of the service's log where they were seen. A line that cannot be read ends
its object; a record that is no item of the table is passed over.

Observed: another project's probes of the service, October 2026, for what is counted.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from emulator.engine import Table
from emulator.model import Item
from emulator.model.wire import load_item
from emulator.objects import DamagedObject
from emulator.operations.put_item import position_to_put
from emulator.operations.rules.items import item_fits
from emulator.service.errors import ApiError
from emulator.storage import Position

UNEXPECTED_TOKEN: Final = "Unexpected token"
NO_ITEM: Final = "Expected 'Item' top level container"
# Assumed: the texts.
TOO_MANY_CELLS: Final = "The record has more values than the header has names"
NO_TEXT: Final = "The object is not encoded in UTF-8"

_DECODER: Final = json.JSONDecoder()
_INK: Final = re.compile(r"\S")


class Read(NamedTuple):
    """A record that was read: what to store and where, or why it cannot be.

    Attributes:
        number: Which record of its object it is, from 0.
        placed: Position and item.
        fault: Why there is none.
    """

    number: int
    placed: tuple[Position, Item] | None
    fault: str | None = None


class CsvForm(NamedTuple):
    """How a file of comma-separated values is written.

    Attributes:
        delimiter: The text between two cells.
        header: The names of the columns, if the first line does not give them.
    """

    delimiter: str = ","
    header: Sequence[str] | None = None


#: An item in wire form, or what is wrong with the record.
_Record: TypeAlias = Mapping[str, Any] | str


class _Unreadable(Exception):
    """The rest of an object cannot be read."""


def read_records(lines: Iterable[bytes], form: CsvForm | None, table: Table) -> Iterator[Read]:
    """Yield the records of an object; one that cannot be read is the last.

    Args:
        lines: The object's lines.
        form: How its values are separated, or None for lines of DynamoDB JSON.
        table: Whose items they are to be.
    """
    number = -1
    try:
        records = _json_records(lines) if form is None else _csv_records(lines, form, table)
        for number, record in enumerate(records):
            yield _read(number, record, table)
    except (_Unreadable, DamagedObject) as error:
        yield Read(number + 1, None, str(error))


def _read(number: int, record: _Record, table: Table) -> Read:
    if isinstance(record, str):
        return Read(number, None, record)
    try:
        item = load_item(record)
        item_fits(item)
        return Read(number, (position_to_put(table, item), item))
    except ApiError as error:
        return Read(number, None, error.message or error.code)


def _json_records(lines: Iterable[bytes]) -> Iterator[_Record]:
    """Yield the value of ``Item`` in each record of each line."""
    for line in lines:
        for written in _json_values(line):
            if not isinstance(written, dict) or not isinstance(written.get("Item"), dict):
                raise _Unreadable(NO_ITEM)
            yield written["Item"]


def _json_values(line: bytes) -> Iterator[Any]:
    """Yield the values of a line, which need nothing between them.

    Observed: moto's tests, verified on the service in May 2024: five records on one line.
    """
    try:
        text = line.decode()
        end = 0
        while (start := _INK.search(text, end)) is not None:
            value, end = _DECODER.raw_decode(text, start.start())
            yield value
    except (ValueError, RecursionError):
        raise _Unreadable(UNEXPECTED_TOKEN) from None


def _csv_records(lines: Iterable[bytes], form: CsvForm, table: Table) -> Iterator[_Record]:
    """Yield an item for each line: key attributes by their types, others as text."""
    reader = csv.reader(_texts(lines), delimiter=form.delimiter, strict=True)
    names = form.header
    try:
        for cells in reader:
            if names is None:
                names = cells
            elif cells:
                yield _csv_item(names, cells, table.attribute_types)
    except csv.Error as error:
        raise _Unreadable(str(error)) from None


def _texts(lines: Iterable[bytes]) -> Iterator[str]:
    for line in lines:
        try:
            yield line.decode() + "\n"
        except UnicodeDecodeError:
            raise _Unreadable(NO_TEXT) from None


def _csv_item(names: Sequence[str], cells: Sequence[str], types: Mapping[str, str]) -> _Record:
    """Return the item of a line; empty cells, and those that it lacks at its end, are left out."""
    if len(cells) > len(names):
        return TOO_MANY_CELLS
    return {
        name: {types.get(name, "S"): cell}
        for name, cell in zip(names, cells, strict=False)
        if cell != ""
    }
