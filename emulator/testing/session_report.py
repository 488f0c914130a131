"""The report of a test session: what each test asked of its tables, and what would throttle.

A test's record is plain data, so that it travels from a worker process to the one that reports.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from emulator.api import Emulator
    from emulator.observe import Ledger, Load

Record: TypeAlias = dict[str, Any]

#: The version of the JSON report's form.
FORM: Final = 1
MOST_SHOWN: Final = 10
MOST_LIMITS_SHOWN: Final = 5
OTHER_REGION: Final = (
    "{asked} was asked and has no tables; {elsewhere}. Tables of different regions are apart: "
    'name the one region, as in @pytest.mark.ddb(region="{first}") or ddb_region.'
)


def record_of(test: str, ledger: Ledger, emulators: Sequence[Emulator]) -> Record:
    """Return what a test did, as plain data; its emulators are still there."""
    return {
        "test": test,
        "capacity": emulators[0].capacity if emulators else None,
        "rate": _rate(emulators),
        "calls": ledger.calls,
        "requests": ledger.requests,
        "read_units": ledger.read_units,
        "write_units": ledger.write_units,
        "throttles": [
            _throttle(reason, resource, times, emulators)
            for (reason, resource), times in ledger.reasons.items()
        ],
        "loads": [_load(load) for load in ledger.concentration.loads],
        "first_limit": _first_limit(ledger),
        "entries": [
            {
                "operation": entry.operation,
                "table": entry.table,
                "index": entry.index,
                "where": entry.where,
                "calls": entry.calls,
                "read_units": entry.read_units,
                "write_units": entry.write_units,
                "throttles": entry.throttles,
                "items_evaluated": entry.items_evaluated,
                "items_returned": entry.items_returned,
                "bytes_evaluated": entry.bytes_evaluated,
                "bytes_returned": entry.bytes_returned,
            }
            for entry in ledger.entries
        ],
    }


def _rate(emulators: Sequence[Emulator]) -> float | None:
    """Return the requests a second at which a test's calls were taken to arrive, if any."""
    from emulator.clock import PacedClock

    if not emulators or emulators[0].capacity != "observe":
        return None
    clock = emulators[0].clock
    return clock.rate if isinstance(clock, PacedClock) else None


def _load(load: Load) -> dict[str, Any]:
    from emulator.observe import resource_names

    table, index = resource_names(load.resource)
    return {
        "table": table,
        "index": index,
        "axis": load.axis,
        "units": load.units,
        "collections": load.collections,
        "units_per_collection": load.units_per_collection,
        "hottest_key": list(load.hottest_key),
        "key_share": load.key_share,
        "partitions": load.partitions,
        "partition_share": load.partition_share,
    }


def _first_limit(ledger: Ledger) -> dict[str, Any] | None:
    from emulator.observe import resource_names

    limit = ledger.concentration.first_limit(ledger.requests)
    if limit is None:
        return None
    table, index = resource_names(limit.reason.resource)
    return {
        "reason": limit.reason.reason,
        "table": table,
        "index": index,
        "axis": limit.reason.parts.axis,
        "units_per_second": limit.units_per_second,
        "runs_per_second": limit.runs_per_second,
        "requests_per_second": limit.requests_per_second,
    }


def _throttle(
    reason: str, resource: str, times: int, emulators: Iterable[Emulator]
) -> dict[str, Any]:
    from emulator.observe import resource_names

    table, index = resource_names(resource)
    key, share = _hottest_key(table, index, emulators)
    return {
        "reason": reason,
        "table": table,
        "index": index,
        "times": times,
        "hottest_key": key,
        "share": share,
        "waiting": _waiting(table, index, emulators) if index else None,
    }


def _waiting(table: str, index: str, emulators: Iterable[Emulator]) -> dict[str, Any] | None:
    """Return what waits for an index at the end of a test, and when that stops its table."""
    from emulator.service.errors import EmulatorError

    for emulator in emulators:
        try:
            backlog = emulator.backlog(table, index)
        except EmulatorError:  # the test has deleted the table
            continue
        if backlog.units:
            return {
                "units": backlog.units,
                "buffer": backlog.buffer,
                "closes_in": backlog.closes_in,
            }
    return None


def _hottest_key(
    table: str, index: str | None, emulators: Iterable[Emulator]
) -> tuple[list[str], float | None]:
    """Return the partition key that was throttled most, and its share of the throttles."""
    from emulator.service.errors import EmulatorError

    for emulator in emulators:
        try:
            throttled = emulator.insights(table, index).throttled_partition_keys
        except EmulatorError:  # the test has deleted the table
            continue
        if throttled:
            return [str(value) for value in throttled[0].key], throttled[0].share
    return [], None


# Beside a failure


def region_hints(emulators: Iterable[Emulator]) -> Iterator[str]:
    """Yield a sentence for every emulator that was asked in a region without tables."""
    from emulator.observe import tables_by_region

    for emulator in emulators:
        held = tables_by_region(emulator.snapshot())
        asked = [region for region, tables in held.items() if not tables]
        elsewhere = [
            f"{region} has {', '.join(tables)}" for region, tables in held.items() if tables
        ]
        if asked and elsewhere:
            yield OTHER_REGION.format(
                asked=" and ".join(asked), elsewhere="; ".join(elsewhere), first=asked[0]
            )


# On the terminal


def summary(records: Sequence[Record], *, with_costs: bool) -> Iterator[str]:
    """Yield the lines of the terminal summary; none if there is nothing to say."""
    yield from _throttled_lines(records)
    yield from _scan_lines(records)
    if with_costs:
        yield from _limit_lines(records)
        yield from _cost_lines(records)


def _throttled_lines(records: Sequence[Record]) -> Iterator[str]:
    throttled = _would_throttle(records)
    if throttled:
        yield f"{_count(len(throttled), 'test')} would have throttled:"
    for record in throttled:
        rate = record["rate"]
        pace = "" if rate is None else f" (at {_count(rate, 'request')} a second)"
        yield f"  {record['test']}{pace}"
        for throttle in record["throttles"]:
            yield f"    {throttle['times']} x {throttle_text(throttle)}"


def _limit_lines(records: Sequence[Record]) -> Iterator[str]:
    """Yield the tests whose code would be the first to throttle, and what would stop it."""
    limited = _limited(records)
    if limited:
        yield "would begin to throttle, if it went on with these keys:"
    for record in limited[:MOST_LIMITS_SHOWN]:
        limit = record["first_limit"]
        requests = _count(limit["requests_per_second"], "request")
        runs = _count(limit["runs_per_second"], "run")
        yield f"  at {requests} ({runs}) a second: {record['test']}"
        yield f"    {_limit_text(record)}"


def _limited(records: Iterable[Record]) -> list[Record]:
    """Return the tests that consumed something, those that pass a limit first to the front."""
    limited = [record for record in records if record["first_limit"]]
    limited.sort(key=lambda record: (record["first_limit"]["requests_per_second"], record["test"]))
    return limited


def _limit_text(record: Record) -> str:
    """Return what a test's code would run into first, and how its load on that is spread."""
    limit = record["first_limit"]
    text = f"{limit['reason']} on {resource_text(limit)}"
    names = ("table", "index", "axis")
    [load] = [load for load in record["loads"] if all(load[name] == limit[name] for name in names)]
    if not load["hottest_key"]:
        return text
    key, units = ", ".join(load["hottest_key"]), f"{load['axis'].lower()} units"
    return text + (
        f": key {key} has {load['key_share']:.0%} of the {units}, one partition "
        f"{load['partition_share']:.0%}; {load['units_per_collection']:,.3g} per item collection"
    ).replace("%", " %")


def _would_throttle(records: Iterable[Record]) -> list[Record]:
    """Return the tests that production would refuse; a test that enforces it knows already.

    It does not know of an index that falls behind, since base writes still pass.
    """
    return [
        record
        for record in records
        if any(
            record["capacity"] != "enforce" or throttle.get("waiting")
            for throttle in record["throttles"]
        )
    ]


def throttle_text(throttle: Mapping[str, Any]) -> str:
    """Return what was short, and who was hot.

    >>> throttle_text({"reason": "TableWriteKeyRangeThroughputExceeded", "table": "events",
    ...     "index": None, "hottest_key": ["10:00"], "share": 0.75})
    'TableWriteKeyRangeThroughputExceeded on events, hottest key 10:00 (75 %)'
    """
    text = f"{throttle['reason']} on {resource_text(throttle)}"
    if throttle["hottest_key"]:
        key = ", ".join(throttle["hottest_key"])
        text += f", hottest key {key} ({throttle['share']:.0%})".replace("%", " %")
    waiting = throttle.get("waiting")
    if waiting:
        text += f"; {waiting['units']:,.0f} of {waiting['buffer']:,.0f} write units wait for it"
        if waiting["closes_in"] is not None:
            text += (
                f", and at this pace every write to {throttle['table']} is refused in "
                f"{waiting['closes_in']:,.0f} s"
            )
    return text


def _scan_lines(records: Sequence[Record]) -> Iterator[str]:
    """Yield where Scans were found, one line a place, those that read most first."""
    places: dict[tuple[str, str], _Scans] = {}
    for record in records:
        for entry in record["entries"]:
            if entry["operation"] == "Scan":
                scanned = (resource_text(entry), entry["where"])
                places.setdefault(scanned, _Scans()).add(record["test"], entry)
    if places:
        yield f"Scans found at {_count(len(places), 'place')}:"
    ordered = sorted(places.items(), key=lambda scanned: -scanned[1].items_read)
    for (resource, where), scans in ordered[:MOST_SHOWN]:
        yield f"  {resource} at {where}: {scans}"


class _Scans:
    """The Scans of one place."""

    def __init__(self) -> None:
        self._tests: set[str] = set()
        self._pages = self._kept = self.items_read = 0

    def add(self, test: str, entry: Mapping[str, Any]) -> None:
        """Count the Scans of a test."""
        self._tests.add(test)
        self._pages += entry["calls"]
        self._kept += entry["items_returned"]
        self.items_read += entry["items_evaluated"]

    def __str__(self) -> str:
        tests = next(iter(self._tests)) if len(self._tests) == 1 else f"{len(self._tests)} tests"
        read = f"{self._kept} of {_count(self.items_read, 'item')} kept"
        return f"{_count(self._pages, 'page')} by {tests}, {read}"


def resource_text(entry: Mapping[str, Any]) -> str:
    """Name the table, or the index, of an entry or a throttle."""
    return str(entry["table"]) if not entry["index"] else f"{entry['table']}.{entry['index']}"


def _cost_lines(records: Sequence[Record]) -> Iterator[str]:
    from emulator.observe import as_table

    rows = [
        (
            f"{record['read_units']:g}",
            f"{record['write_units']:g}",
            str(record["calls"]),
            record["test"],
        )
        for record in dearest(records)[:MOST_SHOWN]
    ]
    if rows:
        yield "most expensive:"
        yield from (
            f"  {line}" for line in as_table(("rcu", "wcu", "calls", "test"), rows).split("\n")
        )


def dearest(records: Iterable[Record]) -> list[Record]:
    """Return the records of tests that consumed something, dearest first."""
    consuming = [record for record in records if record["read_units"] or record["write_units"]]
    return sorted(consuming, key=lambda record: -(record["read_units"] + record["write_units"]))


def _count(number: float, noun: str) -> str:
    text = f"{number:,.0f}" if number >= 100 else f"{number:.3g}"
    return f"{text} {noun}{'' if number == 1 else 's'}"


# In a file


def write(path: Path, records: Sequence[Record]) -> None:
    """Write the report, as HTML or as JSON by the file's name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = as_html(records) if path.suffix.lower() != ".json" else as_json(records)
    path.write_text(text, encoding="utf-8")


def as_json(records: Sequence[Record]) -> str:
    """Return the report as JSON."""
    return json.dumps({"form": FORM, "tests": records}, indent=2) + "\n"


def as_html(records: Sequence[Record]) -> str:
    """Return the report as one page that needs nothing else."""
    throttled = [
        (record, throttle)
        for record in _would_throttle(records)
        for throttle in record["throttles"]
    ]
    wasteful = [
        (record, entry) for record in records for entry in record["entries"] if _is_wasteful(entry)
    ]
    costly = dearest(records)
    calls = [(record, entry) for record in costly for entry in record["entries"]]
    sections = (
        _section("Would have throttled", "test, times, why", throttled),
        _section(
            "Would begin to throttle, if it went on with these keys",
            "requests a second, runs a second, limit, test",
            [(record, record["first_limit"]) for record in _limited(records)],
        ),
        _section(
            "Scans, and what filters threw away",
            "read, kept, bytes wasted, what, where, test",
            wasteful,
        ),
        _section("Most expensive tests", "rcu, wcu, calls, test", [(row, row) for row in costly]),
        _section("Calls", "rcu, wcu, calls, throttled, what, where, test", calls),
    )
    return _PAGE.format(sections="".join(sections))


def _is_wasteful(entry: Mapping[str, Any]) -> bool:
    from emulator.service.catalogue import Kind, names_of

    is_filtered = entry["items_evaluated"] > entry["items_returned"]
    return entry["operation"] == "Scan" or (
        entry["operation"] in names_of(Kind.PAGE) and is_filtered
    )


#: What a column shows of a test's record and of one of its entries or throttles.
_COLUMNS: Final[Mapping[str, Callable[[Record, Mapping[str, Any]], Any]]] = {
    "bytes wasted": lambda _, entry: entry["bytes_evaluated"] - entry["bytes_returned"],
    "calls": lambda _, entry: entry["calls"],
    "limit": lambda record, _: _limit_text(record),
    "requests a second": lambda _, limit: limit["requests_per_second"],
    "runs a second": lambda _, limit: limit["runs_per_second"],
    "kept": lambda _, entry: entry["items_returned"],
    "rcu": lambda _, entry: entry["read_units"],
    "read": lambda _, entry: entry["items_evaluated"],
    "test": lambda record, _: record["test"],
    "throttled": lambda _, entry: entry["throttles"],
    "times": lambda _, throttle: throttle["times"],
    "wcu": lambda _, entry: entry["write_units"],
    "what": lambda _, entry: f"{entry['operation']} {resource_text(entry)}",
    "where": lambda _, entry: entry["where"],
    "why": lambda _, throttle: throttle_text(throttle),
}


def _section(title: str, columns: str, rows: Sequence[tuple[Record, Mapping[str, Any]]]) -> str:
    if not rows:
        return f"<h2>{title}</h2>\n<p>None.</p>\n"
    names = columns.split(", ")
    lines = ["".join(f"<th>{name}</th>" for name in names)]
    lines += ["".join(_cell(_COLUMNS[name](*row)) for name in names) for row in rows]
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return f"<h2>{title}</h2>\n<table>\n{body}\n</table>\n"


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return f"<td>{html.escape(value)}</td>"
    return f'<td class="number">{value:g}</td>'


_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>dynamometer: what the tests consumed</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; }}
body {{ padding: 0 1rem; }}
h1 {{ font-size: 1.4rem; }} h2 {{ font-size: 1.1rem; margin-top: 2rem; }}
table {{ border-collapse: collapse; display: block; overflow-x: auto; }}
th, td {{ border-bottom: 1px solid #8884; padding: 0.25rem 0.75rem; text-align: left; }}
td {{ font-family: ui-monospace, monospace; font-size: 0.9em; }}
.number {{ text-align: right; }}
</style>
</head>
<body>
<h1>What the tests consumed</h1>
{sections}</body>
</html>
"""
