"""Calls that a test survives and production does not: it takes time, or size, to hurt.

Expiry times that are no seconds, items that become large, and pages read to the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from emulator.capacity import READ, Receipt
from emulator.observe.call_finding import CallFinding
from emulator.observe.places import Place
from emulator.service import limits
from emulator.service.catalogue import Kind, names_of
from emulator.storage import Position

if TYPE_CHECKING:
    from emulator.engine.events import RequestServed

#: Assumed: an item of this size costs 100 write units each time, and one that grows so far goes on.
GROWING_BYTES: Final = 100 * limits.KIB
#: Assumed: so close to the largest size there is that it is time to divide the item.
LARGE_BYTES: Final = 300 * limits.KIB
#: Seconds are below this until the year 5138, and milliseconds above it since 1973.
_MILLISECONDS: Final = 10**11

_PAGES: Final = names_of(Kind.PAGE)
_SET: Final = re.compile(r"(#?[\w.-]+)\s*=\s*(?:if_not_exists\s*\([^,]*,\s*)?(:\w+)")
_EXPIRY: Final = (
    "write the seconds since 1970 as a number: time to live ignores anything else, and the item "
    "stays and is paid for"
)
_LARGE: Final = (
    f"divide it, or keep the large part in S3: an item has at most {limits.ITEM_BYTES // 1024} KB, "
    "and each update pays for all of it"
)
_ALL_PAGES: Final = (
    "set a Limit and hand on the LastEvaluatedKey, or read what is needed by a key: the cost of "
    "this call grows with the table"
)

#: A table, an attribute, and whether it is a text.
_Written: TypeAlias = tuple[str, str, bool, Place]
#: An operation on a table or index.
_Walk: TypeAlias = tuple[str, str, str | None]


class SlowHarm:
    """What of the calls of a piece of code will hurt later."""

    def __init__(self) -> None:
        #: How often an attribute was written that is no number of seconds.
        self._no_seconds: dict[_Written, int] = {}
        self._sizes: dict[tuple[str, Position], int] = {}
        #: By line and table, the largest item: its bytes, and what it was before.
        self._large: dict[tuple[Place, str, str], tuple[int, int]] = {}
        self._counts: dict[tuple[Place, str, str], int] = {}
        #: Pages of the walk that goes on, and by line, of the longest that reached the end.
        self._walks: dict[_Walk, int] = {}
        self._ended: dict[tuple[Place, str, str, str | None], int] = {}

    def note(self, event: RequestServed, place: Place) -> None:
        """Remember what a request wrote, or which page it read."""
        for table, attributes in _written(event.operation, event.request):
            for name, value in attributes:
                is_text = _is_text(value)
                if is_text is not None:
                    key = (table, name, is_text, place)
                    self._no_seconds[key] = self._no_seconds.get(key, 0) + 1
        for table, receipt in event.receipts:
            if receipt.axis != READ:
                self._note_size(event.operation, place, table, receipt)
            elif event.operation in _PAGES:
                self._note_page(event, place, table, receipt)

    def _note_size(self, operation: str, place: Place, table: str, receipt: Receipt) -> None:
        if operation == "DeleteItem" or receipt.items_evaluated != 1 or not receipt.charges:
            return
        position = receipt.charges[0].position
        assert position is not None, "a write has a position"
        size, before = receipt.bytes_evaluated, self._sizes.get((table, position))
        self._sizes[table, position] = size
        has_grown = before is not None and size > before
        if size > LARGE_BYTES or (has_grown and size > GROWING_BYTES):
            call = (place, operation, table)
            self._counts[call] = self._counts.get(call, 0) + 1
            largest = self._large.get(call, (0, 0))
            self._large[call] = max(largest, (size, before or 0))

    def _note_page(self, event: RequestServed, place: Place, table: str, receipt: Receipt) -> None:
        index = event.request.get("IndexName")
        walk = (event.operation, table, index)
        if event.request.get("Limit") is not None:
            self._walks.pop(walk, None)
            return
        goes_on = event.request.get("ExclusiveStartKey") is not None
        pages = self._walks.get(walk, 0) + 1 if goes_on else 1
        self._walks[walk] = pages
        # Without a Limit a page is full, or the last one (CAP-206).
        if goes_on and pages > 1 and receipt.bytes_evaluated < limits.PAGE_BYTES:
            self._ended[place, *walk] = max(pages, self._ended.get((place, *walk), 0))

    def findings(self, expiries: Mapping[str, str]) -> Iterator[CallFinding]:
        """Yield what was found.

        Args:
            expiries: By table, the attribute that says when an item expires.
        """
        for (table, name, is_text, place), times in self._no_seconds.items():
            if expiries.get(table) == name:
                unit = "as text" if is_text else "in milliseconds"
                what = f"{name}, by which items of {table} expire, is written {unit}"
                yield CallFinding("expiry-format", table, None, place, times, what, _EXPIRY)
        for (place, operation, table), (size, before) in self._large.items():
            grown = f", {before / 1024:,.0f} KB before" if 0 < before < size else ""
            what = f"{operation} {table} writes an item of {size / 1024:,.0f} KB{grown}"
            times = self._counts[place, operation, table]
            yield CallFinding("large-item", table, None, place, times, what, _LARGE)
        for (place, operation, table, index), pages in self._ended.items():
            name = table if index is None else f"{table}.{index}"
            what = f"{operation} {name} follows {pages} pages to the end without a Limit"
            yield CallFinding("all-pages", table, index, place, pages, what, _ALL_PAGES)


def _is_text(value: Any) -> bool | None:
    """Return whether a value is a text; None if it may be a number of seconds, or is neither."""
    if not isinstance(value, Mapping):
        return None
    if "S" in value:
        return True
    try:
        return None if float(value["N"]) < _MILLISECONDS else False
    except (KeyError, ValueError, TypeError):
        return None


_Attributes: TypeAlias = Iterator[tuple[str, Any]]


def _written(operation: str, request: Mapping[str, Any]) -> Iterator[tuple[str, _Attributes]]:
    """Yield the tables that a request writes, each with the attributes that it sets."""
    if operation == "PutItem":
        yield str(request.get("TableName")), _items(request.get("Item"))
    elif operation == "UpdateItem":
        yield str(request.get("TableName")), _updated(request)
    elif operation == "BatchWriteItem":
        for table, writes in _items(request.get("RequestItems")):
            for write in writes:
                yield table, _items(write.get("PutRequest", {}).get("Item"))
    elif operation == "TransactWriteItems":
        for action in request.get("TransactItems") or ():
            put, update = action.get("Put"), action.get("Update")
            if put:
                yield str(put.get("TableName")), _items(put.get("Item"))
            elif update:
                yield str(update.get("TableName")), _updated(update)


def _items(value: Any) -> _Attributes:
    yield from value.items() if isinstance(value, Mapping) else ()


def _updated(request: Mapping[str, Any]) -> _Attributes:
    """Yield the attributes that an update sets to a value."""
    names = request.get("ExpressionAttributeNames") or {}
    values = request.get("ExpressionAttributeValues") or {}
    for name, value in _SET.findall(request.get("UpdateExpression") or ""):
        yield names.get(name, name), values.get(value)
