"""The report of a test session: what each test asked of its tables, and what would throttle.

A test's record is plain data, so that it travels from a worker process to the one that reports.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from emulator.service.throttling import ThrottlingLimit

if TYPE_CHECKING:
    from emulator.api import Emulator
    from emulator.observe import CallFinding, KeyLoad, Ledger

Record: TypeAlias = dict[str, Any]

#: The version of the JSON report's form.
FORM: Final = 1
#: What the name of a report ends with that is JUnit XML.
JUNIT_SUFFIXES: Final = (".junit", ".xml")
#: The limit that one key runs into.
_OF_A_KEY: Final = ThrottlingLimit.KEY_RANGE
MOST_SHOWN: Final = 10
MOST_LIMITS_SHOWN: Final = 5
OTHER_REGION: Final = (
    "requests went to {asked}, which has no tables; {elsewhere}. Each region has its own tables: "
    'set the region with @pytest.mark.ddb(region="{first}") or ddb_region.'
)


def record_of(
    test: str, ledger: Ledger, emulators: Sequence[Emulator], findings: Iterable[CallFinding] = ()
) -> Record:
    """Return the calls of a test, as plain data; its emulators are still there."""
    from emulator.observe import file_of, function_of

    return {
        "test": test,
        "capacity": emulators[0].capacity if emulators else None,
        "rate": _rate(emulators),
        "is_judged": all(emulator.account().is_judged for emulator in emulators),
        "calls": ledger.calls,
        "requests": ledger.requests,
        "read_units": ledger.read_units,
        "write_units": ledger.write_units,
        "usd": ledger.usd,
        "usd_month": _month(ledger, _rate(emulators)),
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
                "file": file_of(entry.place),
                "function": function_of(entry.place),
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
        "findings": [_finding(finding) for finding in findings],
    }


def _finding(finding: CallFinding) -> dict[str, Any]:
    from emulator.observe import file_of, function_of, where

    return {
        "kind": finding.kind,
        "table": finding.table,
        "index": finding.index,
        "where": where(finding.place),
        "file": file_of(finding.place),
        "line": None if finding.place is None else finding.place[1],
        "function": function_of(finding.place),
        "count": finding.count,
        "what": finding.what,
        "cure": finding.cure,
    }


def _rate(emulators: Sequence[Emulator]) -> float | None:
    """Return the requests a second at which a test's calls were taken to arrive, if any."""
    from emulator.clock import PacedClock

    if not emulators or emulators[0].capacity != "observe":
        return None
    clock = emulators[0].clock
    return clock.rate if isinstance(clock, PacedClock) else None


def _month(ledger: Ledger, rate: float | None) -> float | None:
    """Return the dollars of a month of a test's requests at its stated rate."""
    from emulator.settings import DEFAULT_SETTINGS

    if rate is None or not ledger.requests:
        return None
    runs = DEFAULT_SETTINGS.hours_per_month * 3600 * rate / ledger.requests
    return ledger.usd / 1_000_000 * runs


def _load(load: KeyLoad) -> dict[str, Any]:
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

    limit = ledger.concentration.first_limit(ledger.requests, shown_only=True)
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
    """Return the writes that wait for an index after a test, and when they stop its table."""
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


def not_on_record(records: Iterable[Record]) -> Iterator[str]:
    """Yield a line if tests are not on record, where others are."""
    new = sum(1 for record in records if not record["is_recorded"])
    if new:
        yield f"{_count(new, 'test')} not on record: --ddb-budget-update-new adds them"


def not_judged(records: Iterable[Record]) -> Iterator[str]:
    """Yield a line if tests were to fail on throttles, and no rate says whether they throttle."""
    unjudged = sum(record["fails_on_throttles"] and not record["is_judged"] for record in records)
    if unjudged:
        yield (
            f"{_count(unjudged, 'test')} not judged for throttles: on the system clock that needs "
            "a rate (ddb_rate or @pytest.mark.ddb(rate=...))"
        )


def properties(record: Record) -> Iterator[tuple[str, object]]:
    """Yield what a JUnit file has of a test."""
    for name in ("calls", "read_units", "write_units", "usd"):
        yield f"ddb_{name}", record[name]
    yield "ddb_throttles", sum(throttle["times"] for throttle in record["throttles"])
    yield "ddb_findings", " ".join(sorted({finding["kind"] for finding in record["findings"]}))


def summary(
    records: Sequence[Record], *, with_costs: bool, is_whole: bool = False
) -> Iterator[str]:
    """Yield the lines of the terminal summary; none if there is nothing to say.

    Args:
        records: Of all tests.
        with_costs: Whether costs and limits are shown.
        is_whole: Whether these are all tests there are, so that what none of them does is known.
    """
    yield from _throttled_lines(records)
    yield from _finding_lines(records)
    if is_whole:
        yield from _unread_lines(records)
    if with_costs:
        yield from _limit_lines(records)
        yield from _cost_lines(records)


def _throttled_lines(records: Sequence[Record]) -> Iterator[str]:
    throttled = would_throttle(records)
    if throttled:
        yield f"{_count(len(throttled), 'test')} would have throttled:"
    for record in throttled:
        rate = record["rate"]
        pace = "" if rate is None else f" (at {_count(rate, 'request')} a second{_from(record)})"
        yield f"  {record['test']}{pace}"
        for throttle in record["throttles"]:
            yield f"    {throttle['times']} x {throttle_text(throttle)}"
        for cure in _cures(record):
            yield f"    {cure}"


def _from(record: Record) -> str:
    """Return from which rate on a test throttles, if its calls show that."""
    limit = record["first_limit"]
    return f"; it does from {_few_digits(limit['requests_per_second'])} on" if limit else ""


def _cures(record: Record) -> list[str]:
    """Return the remedies for a test that throttles."""
    findings = (finding for finding in record["findings"] if finding["kind"] == "would-throttle")
    return list(dict.fromkeys(finding["cure"] for finding in findings))


def throttle_hints(record: Record) -> Iterator[str]:
    """Yield what a failed test was refused, and what to change, if it was."""
    if record["throttles"]:
        yield "\n".join(
            [
                *(
                    f"throttled {throttle['times']} x: {throttle_text(throttle)}"
                    for throttle in record["throttles"]
                ),
                "what to change:",
                *(f"  {cure}" for cure in _cures(record)),
            ]
        )


def _limit_lines(records: Sequence[Record]) -> Iterator[str]:
    """Yield the tests whose code would be the first to throttle, and what would stop it."""
    refused = would_throttle(records)
    limited = [record for record in limited_tests(records) if record not in refused]
    if limited:
        yield "first to throttle, if it kept using these keys:"
    for record in limited[:MOST_LIMITS_SHOWN]:
        yield f"  {rate_text(record)}: {record['test']}"
        yield f"    {limit_text(record)}"


def rate_text(record: Record) -> str:
    """Return how a test's code does at the stated rate, and from which rate on it throttles.

    >>> limit = {"requests_per_second": 671.0, "runs_per_second": 0.4}
    >>> rate_text({"rate": 500.0, "first_limit": limit})
    'holds at 500 requests a second, and throttles from 671 on'
    >>> rate_text({"rate": 900.0, "first_limit": limit})
    'throttles at 900 requests a second once the reserve is used up, and from 671 on'
    >>> rate_text({"rate": None, "first_limit": limit})
    'throttles from 671 requests (0.4 runs) a second on'
    """
    limit, rate = record["first_limit"], record["rate"]
    if rate is None:
        requests = _count(limit["requests_per_second"], "request")
        return f"throttles from {requests} ({_count(limit['runs_per_second'], 'run')}) a second on"
    stated, start = _count(rate, "request"), _few_digits(limit["requests_per_second"])
    if throttles_in_the_end(record):
        return f"throttles at {stated} a second once the reserve is used up, and from {start} on"
    return f"holds at {stated} a second, and throttles from {start} on"


def throttles_in_the_end(record: Record) -> bool:
    """Return whether a test's code is over a limit at its stated rate, even if a reserve hid it."""
    rate, limit = record["rate"], record["first_limit"]
    return bool(rate is not None and limit and rate > limit["requests_per_second"])


def limited_tests(records: Iterable[Record]) -> list[Record]:
    """Return the tests that consumed something, those that pass a limit first to the front."""
    limited = [record for record in records if record["first_limit"]]
    limited.sort(key=lambda record: (record["first_limit"]["requests_per_second"], record["test"]))
    return limited


def limit_text(record: Record) -> str:
    """Return the limit that a test's code would reach first, and how its load on that is spread."""
    limit = record["first_limit"]
    text = f"{limit['reason']} on {resource_text(limit)}"
    names = ("table", "index", "axis")
    [load] = [load for load in record["loads"] if all(load[name] == limit[name] for name in names)]
    if not load["hottest_key"] or ThrottlingLimit.of(limit["reason"]) is not _OF_A_KEY:
        return text
    key, units = ", ".join(load["hottest_key"]), f"{load['axis'].lower()} units"
    each = _count(load["units_per_collection"], "unit")
    return text + (
        f": key {key} gets {load['key_share']:.0%} of the {units}, the busiest partition "
        f"{load['partition_share']:.0%}; {each} per item collection"
    ).replace("%", " %")


def _few_digits(number: float) -> str:
    """Return a number with three digits, or all those before the point.

    >>> _few_digits(1500.4), _few_digits(3.987)
    ('1,500', '3.99')
    """
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def would_throttle(records: Iterable[Record]) -> list[Record]:
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
    """Return the limit that was short, and the hottest key.

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


def _finding_lines(records: Sequence[Record]) -> Iterator[str]:
    """Yield what the code under test could do better, one place each; throttles stand apart."""
    by_place: dict[tuple[str, ...], list[tuple[str, Mapping[str, Any]]]] = {}
    for record in records:
        for finding in record["findings"]:
            if finding["kind"] != "would-throttle":
                place = (finding["kind"], finding["where"], resource_text(finding))
                by_place.setdefault(place, []).append((record["test"], finding))
    if by_place:
        yield f"could be improved in {_count(len(by_place), 'place')}:"
    ordered = sorted(
        by_place.values(), key=lambda met: -sum(finding["count"] for _, finding in met)
    )
    for met in ordered[:MOST_SHOWN]:
        test, finding = max(met, key=lambda met_by: met_by[1]["count"])
        tests = test if len(met) == 1 else f"{len(met)} tests"
        yield f"  {finding['kind']} at {finding['where']} ({tests}): {finding['what']}"
        yield f"    {finding['cure']}"


class UnreadIndex(NamedTuple):
    """A global index that tests write and none reads.

    Attributes:
        name: ``table.index``.
        units: What was written to it.
        where: The line that wrote most to its table.
    """

    name: str
    units: float
    where: str


def unread_indexes(records: Sequence[Record]) -> Iterator[UnreadIndex]:
    """Yield the global indexes that some test pays for and none reads."""
    read = {(own["table"], own["index"]) for record in records for own in record["entries"]}
    written: dict[tuple[str, str], float] = {}
    lines: dict[str, dict[str, float]] = {}
    for record in records:
        for load in record["loads"]:
            name = load["table"], load["index"]
            if load["index"] is not None and load["axis"] == "Write":
                written[name] = written.get(name, 0.0) + load["units"]
        for own in record["entries"]:
            by_line = lines.setdefault(own["table"], {})
            by_line[own["where"]] = by_line.get(own["where"], 0.0) + own["write_units"]
    for (table, index), units in sorted(written.items()):
        if (table, index) not in read:
            by_line = lines[table]
            where = max(by_line, key=by_line.__getitem__)
            yield UnreadIndex(f"{table}.{index}", units, where)


def _unread_lines(records: Sequence[Record]) -> Iterator[str]:
    for unread in unread_indexes(records):
        yield (
            f"unread-index at {unread.where}: no test reads {unread.name}, and "
            f"{_count(unread.units, 'write unit')} went to it"
        )
        yield "  drop it, or test the query that needs it"


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
    return f"{_few_digits(number)} {noun}{'' if number == 1 else 's'}"


# In a file


def write(path: Path, records: Sequence[Record]) -> None:
    """Write the report, as JSON, JUnit XML or a page by the file's name."""
    from emulator.clock import SystemClock
    from emulator.sessions.junit import as_junit
    from emulator.sessions.session_page import as_html

    path.parent.mkdir(parents=True, exist_ok=True)
    kind = path.suffix.lower()
    if kind == ".json":
        text = as_json(records)
    else:
        is_junit = kind in JUNIT_SUFFIXES
        text = as_junit(records) if is_junit else as_html(records, SystemClock().now())
    path.write_text(text, encoding="utf-8")


def as_json(records: Sequence[Record]) -> str:
    """Return the report as JSON."""
    return json.dumps({"form": FORM, "tests": records}, indent=2) + "\n"
