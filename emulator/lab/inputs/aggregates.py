"""Traces that were reduced elsewhere: requests per minute, pattern and key bucket.

A CSV or Parquet file with four columns, in any order:

    minute,pattern,deviceId,count
    2026-11-02T10:00,record,d-17,5400

``minute`` is a time, or the number of a minute; ``pattern`` names a pattern of the workload; the
third is called like the field that it holds, a value or the name of a bucket of values; ``count``
says how many requests there were. It is what one ``GROUP BY`` in Spark or DuckDB gives.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any, Final

from emulator.files import open_file
from emulator.lab.inputs.arrival_rates import Series
from emulator.lab.inputs.distributions import Weights
from emulator.lab.inputs.documents import traffic_lines
from emulator.lab.inputs.patterns import Field
from emulator.lab.inputs.workload import Workload
from emulator.service.errors import DocumentError

_MINUTE: Final = 60
COLUMNS: Final = ("minute", "pattern", "count")
_EXPECTED: Final = "expected the columns minute, pattern and count, and one named like a field"
NEEDS_ARROW: Final = "{path}: reading Parquet needs the module pyarrow: pip install pyarrow"


def with_counts(workload: Workload, path: Path) -> Workload:
    """Return a workload whose patterns come as often, and for the keys, that a file counts.

    Patterns that it does not name keep their rates.

    Raises:
        DocumentError: It cannot be read, or names what the workload does not have.
    """
    rows = _parquet(path) if path.suffix == ".parquet" else _csv(path)
    first = next(rows, None)
    if first is None:
        raise DocumentError(f"{path}: it has no rows")
    field = _field_of(first, workload, path)
    counts: dict[str, dict[int, float]] = {}
    buckets: dict[str, dict[str, float]] = {}
    for number, row in enumerate(chain([first], rows), 2):
        name, minute, count = _checked(row, workload, f"{path}:{number}")
        by_minute = counts.setdefault(name, {})
        by_minute[minute] = by_minute.get(minute, 0.0) + count
        by_key = buckets.setdefault(name, {})
        by_key[str(row[field])] = by_key.get(str(row[field]), 0.0) + count
    return _changed(workload, field, counts, buckets)


def _csv(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with traffic_lines(path) as lines:
            yield from csv.DictReader(lines)
    except csv.Error as error:
        raise DocumentError(f"{path}: cannot be read: not UTF-8 text with columns") from error


def _parquet(path: Path) -> Iterator[dict[str, Any]]:
    try:
        from pyarrow import ArrowException, parquet
    except ModuleNotFoundError:
        raise DocumentError(NEEDS_ARROW.format(path=path)) from None
    try:
        with open_file(path) as file:
            for batch in parquet.ParquetFile(file).iter_batches():
                yield from batch.to_pylist()
    except (OSError, ArrowException) as error:
        raise DocumentError(f"{path}: cannot be read: not Parquet") from error


def _field_of(row: Mapping[str, Any], workload: Workload, path: Path) -> str:
    others = [name for name in row if name not in COLUMNS]
    if set(COLUMNS) - set(row) or len(others) != 1:
        raise DocumentError(f"{path}: {_EXPECTED}, found {', '.join(map(str, row))}")
    known = [field.name for field in workload.fields]
    if others[0] not in known:
        raise DocumentError(
            f"{path}: the workload has no field {others[0]!r}; it has {', '.join(known)}"
        )
    return others[0]


def _checked(row: Mapping[str, Any], workload: Workload, where: str) -> tuple[str, int, float]:
    name = str(row["pattern"])
    if name not in {pattern.name for pattern in workload.patterns}:
        raise DocumentError(f"{where}: pattern: the workload has no pattern {name!r}")
    try:
        count = float(row["count"])
    except (TypeError, ValueError):
        raise DocumentError(f"{where}: count: expected a number, found {row['count']!r}") from None
    if not 0 <= count < float("inf"):
        raise DocumentError(f"{where}: count: expected a number from 0, found {row['count']!r}")
    return name, _minute(row["minute"], where), count


def _minute(value: Any, where: str) -> int:
    """Return the number of a minute since the epoch, or of the file's own count."""
    if isinstance(value, datetime):
        moment = value
    else:
        text = str(value).strip()
        if text.isdecimal():
            return int(text)
        try:
            moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
        except ValueError:
            raise DocumentError(
                f"{where}: minute: expected a time or a number, found {text!r}"
            ) from None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return int(moment.timestamp()) // _MINUTE


def _changed(
    workload: Workload,
    field: str,
    counts: Mapping[str, Mapping[int, float]],
    buckets: Mapping[str, Mapping[str, float]],
) -> Workload:
    minutes = [minute for by_minute in counts.values() for minute in by_minute]
    first, last = min(minutes), max(minutes)
    totals: dict[str, float] = {}
    for by_key in buckets.values():
        for key, count in by_key.items():
            totals[key] = totals.get(key, 0.0) + count
    keys = sorted(totals, key=lambda key: -totals[key])
    made = Field(field, values=tuple(keys), distribution=_weights(keys, totals))
    patterns = []
    for pattern in workload.patterns:
        by_minute = counts.get(pattern.name)
        if by_minute is None:
            patterns.append(pattern)
            continue
        rates = [by_minute.get(minute, 0.0) / _MINUTE for minute in range(first, last + 1)]
        seconds = tuple(rate for rate in rates for _ in range(_MINUTE))
        picks = {**pattern.distributions, field: _weights(keys, buckets[pattern.name])}
        patterns.append(replace(pattern, rate=Series(seconds), distributions=picks))
    return replace(
        workload,
        fields=tuple(made if other.name == field else other for other in workload.fields),
        patterns=tuple(patterns),
        duration=(last - first + 1) * _MINUTE,
    )


def _weights(keys: list[str], counts: Mapping[str, float]) -> Weights:
    return Weights(tuple(counts.get(key, 0.0) for key in keys))
