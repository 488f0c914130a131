"""Traces: recorded traffic as a workload.

A trace is JSON lines, one request each, in order of time:

    {"time": 0.25, "operation": "PutItem", "fields": {"deviceId": "d7"}, "size": 312}

``time`` is in seconds from any origin; ``fields`` are the values that identify what was asked
for; ``size`` is the item's (of a write) in bytes; ``pattern`` may name the access pattern,
otherwise operation and field names tell them apart. ``record`` writes such lines from the calls
that reach an emulator, for example during a test run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import numpy as np

from emulator.api import Emulator
from emulator.designs.documents import check_depth
from emulator.lab.inputs.arrival_rates import Series
from emulator.lab.inputs.documents import traffic_lines
from emulator.lab.inputs.patterns import OPERATIONS, WRITES, Field, Pattern, Recorded, Sizes
from emulator.lab.inputs.workload import Workload
from emulator.model.sizes import value_size
from emulator.model.wire import load_item, load_value
from emulator.service.catalogue import Kind, names_of
from emulator.service.errors import ApiError, DocumentError

_EQUALITY: Final = re.compile(r"([#\w.-]+)\s*=\s*(:\w+)")
_DEFAULT_SIZE: Final = 300
#: What is kept of a line; it may have more.
_MEMBERS: Final = ("time", "operation", "fields", "size", "pattern")


def from_trace(
    lines: Iterable[str] | Path,
    *,
    duration: int | None = None,
    seed: int = 0,
    retry: str = "legacy",
) -> Workload:
    """Return recorded traffic as a workload.

    Args:
        lines: JSON lines, or a file of them.
        duration: Seconds; as long as the trace by default.
        seed: For what the trace does not tell.
        retry: How refused calls are retried.

    Raises:
        DocumentError: A line cannot be read; the message says which and why.

    >>> lines = ['{"time": 3, "operation": "PutItem", "fields": {"id": "a"}}',
    ...          '{"time": 5, "operation": "PutItem", "fields": {"id": "b"}}']
    >>> workload = from_trace(lines)
    >>> workload.duration, workload.requests, workload.field("id").values
    (3, 2.0, ('a', 'b'))
    """
    requests = _sorted_requests(lines)
    origin = requests[0]["time"]
    last = requests[-1]["time"] - origin
    seconds = duration if duration is not None else int(last) + 1
    groups: dict[str, list[dict[str, Any]]] = {}
    for request in requests:
        names = ", ".join(sorted(request["fields"]))
        name = request.get("pattern") or f"{request['operation']} by {names or 'nothing'}"
        groups.setdefault(name, []).append(request)
    values = _values(requests)
    patterns = [_pattern(name, group, values, origin, seconds) for name, group in groups.items()]
    return Workload(
        fields=tuple(Field(name, values=tuple(texts)) for name, texts in values.items()),
        patterns=tuple(patterns),
        duration=seconds,
        seed=seed,
        retry=retry,
    )


def _sorted_requests(lines: Iterable[str] | Path) -> list[dict[str, Any]]:
    if isinstance(lines, Path):
        with traffic_lines(lines) as text:
            return _sorted_lines(text, str(lines))
    return _sorted_lines(lines, "trace")


def _sorted_lines(lines: Iterable[str], source: str) -> list[dict[str, Any]]:
    requests = [
        _request(line, f"{source}:{number}") for number, line in enumerate(lines, 1) if line.strip()
    ]
    if not requests:
        raise DocumentError(f"{source}: the trace is empty; expected one request per line")
    return sorted(requests, key=lambda request: float(request["time"]))


def _request(line: str, where: str) -> dict[str, Any]:
    check_depth(line, where)
    try:
        request = json.loads(line)
    except ValueError as error:
        raise DocumentError(f"{where}: not JSON: {error}") from error
    if not isinstance(request, dict):
        raise DocumentError(f"{where}: expected an object, found {line[:40]!r}")
    time = request.get("time")
    if isinstance(time, bool) or not isinstance(time, int | float):
        raise DocumentError(f"{where}: time: expected seconds, found {time!r}")
    if request.get("operation") not in OPERATIONS:
        raise DocumentError(
            f"{where}: operation: expected one of {', '.join(OPERATIONS)}, "
            f"found {request.get('operation')!r}"
        )
    fields = request.setdefault("fields", {})
    if not isinstance(fields, dict):
        raise DocumentError(f"{where}: fields: expected an object, found {fields!r}")
    request["fields"] = {str(name): str(value) for name, value in fields.items()}
    return {name: request[name] for name in _MEMBERS if name in request}


def _values(requests: Iterable[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Return the values of every field, in order of appearance, with their numbers."""
    values: dict[str, dict[str, int]] = {}
    for request in requests:
        for name, text in request["fields"].items():
            known = values.setdefault(name, {})
            known.setdefault(text, len(known))
    return values


def _pattern(
    name: str,
    group: list[dict[str, Any]],
    values: dict[str, dict[str, int]],
    origin: float,
    seconds: int,
) -> Pattern:
    operation = group[0]["operation"]
    fields = sorted(group[0]["fields"])
    times = [float(request["time"]) - origin for request in group]
    counts = np.bincount([int(time) for time in times], minlength=seconds)[:seconds]
    numbers = {
        field: tuple(
            values[field][request["fields"].get(field, next(iter(values[field])))]
            for request in group
        )
        for field in fields
    }
    sizes = tuple(int(request.get("size") or _DEFAULT_SIZE) for request in group)
    distinct, shares = np.unique(np.asarray(sizes), return_counts=True)
    return Pattern(
        name,
        operation,
        rate=Series(tuple(float(count) for count in counts.tolist())),
        by=() if operation in WRITES else tuple(fields),
        fields=tuple(fields) if operation == "PutItem" else None,
        size=Sizes(tuple(distinct.tolist()), tuple((shares / shares.sum()).tolist())),
        actions=1,
        recorded=Recorded(tuple(times), numbers, sizes if operation in WRITES else ()),
    )


@contextmanager
def record(emulator: Emulator, table: str | None = None) -> Iterator[list[str]]:
    """Write down the requests that reach an emulator, as trace lines, while the block runs.

    Scalars of the key, or of the item put, become fields. Operations on several items become
    one line per item.

    Args:
        emulator: The emulator whose calls are recorded.
        table: Only those on this table.

    >>> emu = Emulator()
    >>> with record(emu) as lines:
    ...     _ = emu.call("ListTables", {})
    >>> lines
    []
    """
    lines: list[str] = []
    original = emulator.call

    def call(operation: str, request: dict[str, Any], **where: str | None) -> dict[str, Any]:
        entries = entries_of(operation, request, table)
        now = emulator.clock.now()
        lines.extend(json.dumps({"time": now, **entry}) for entry in entries)
        return original(operation, request, **where)

    emulator.call = call  # type: ignore[method-assign]  # every front end calls the instance
    try:
        yield lines
    finally:
        del emulator.call  # the class's own is back


def entries_of(
    operation: str, request: Mapping[str, Any], table: str | None = None
) -> list[dict[str, Any]]:
    """Return the trace entries of one request, all but their time.

    Args:
        operation: Its wire name.
        request: Its members.
        table: Only the entries of this table.
    """
    entries = [entry for entry in _entries(operation, request) if table in (None, entry["table"])]
    for entry in entries:
        del entry["table"]
    return entries


def _entries(operation: str, request: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the accesses of one request, item by item."""
    name = request.get("TableName", "")
    if operation == "PutItem":
        yield _written(name, request.get("Item", {}))
    elif operation in ("UpdateItem", "DeleteItem", "GetItem"):
        yield _keyed(name, operation, request.get("Key", {}))
    elif operation in names_of(Kind.PAGE):
        yield {"table": name, "operation": operation, "fields": _equalities(request)}
    elif operation in ("BatchWriteItem", "BatchGetItem"):
        for table, inner in request.get("RequestItems", {}).items():
            yield from _batched(table, inner)


def _batched(table: str, inner: Any) -> Iterator[dict[str, Any]]:
    if isinstance(inner, dict):
        yield from (_keyed(table, "GetItem", key) for key in inner.get("Keys", ()))
        return
    for write in inner:
        if "PutRequest" in write:
            yield _written(table, write["PutRequest"]["Item"])
        else:
            yield _keyed(table, "DeleteItem", write["DeleteRequest"]["Key"])


def _written(table: str, item: dict[str, Any]) -> dict[str, Any]:
    try:
        size = load_item(item).size_bytes
    except (ApiError, TypeError, ValueError):
        size = _DEFAULT_SIZE  # the emulator will refuse it; its traffic is recorded all the same
    return {"table": table, "operation": "PutItem", "fields": _scalars(item), "size": size}


def _keyed(table: str, operation: str, key: dict[str, Any]) -> dict[str, Any]:
    return {"table": table, "operation": operation, "fields": _scalars(key)}


def _scalars(attributes: dict[str, Any]) -> dict[str, str]:
    """Return the strings and numbers among wire attributes."""
    scalars = {}
    for name, value in attributes.items():
        if isinstance(value, dict) and len(value) == 1:
            [(kind, inner)] = value.items()
            if kind in ("S", "N"):
                scalars[name] = str(inner)
    return scalars


def _equalities(request: Mapping[str, Any]) -> dict[str, str]:
    """Return the attributes that a key condition sets equal to a value."""
    names = request.get("ExpressionAttributeNames") or {}
    values = request.get("ExpressionAttributeValues") or {}
    equalities = {}
    for name, placeholder in _EQUALITY.findall(request.get("KeyConditionExpression") or ""):
        value = _scalars({"value": values.get(placeholder, {})}).get("value")
        if value is not None:
            equalities[names.get(name, name)] = value
    return equalities


def mean_sizes(
    calls: Iterable[tuple[float, str, Mapping[str, Any]]], table: str, names: Iterable[str]
) -> dict[str, int]:
    """Return the mean size of some attributes in the items put to a table, in bytes.

    >>> put = {"TableName": "t", "Item": {"note": {"S": "four"}}}
    >>> mean_sizes([(0.0, "PutItem", put)], "t", ["note", "never written"])
    {'note': 4}
    """
    sizes: dict[str, list[int]] = {name: [] for name in sorted(names)}
    for _, operation, request in calls:
        if operation == "PutItem" and request.get("TableName") == table:
            for name, seen in sizes.items():
                if name in request["Item"]:
                    with suppress(ApiError):  # the emulator refuses the item
                        seen.append(value_size(load_value(request["Item"][name])))
    return {name: round(fmean(seen)) for name, seen in sizes.items() if seen}
