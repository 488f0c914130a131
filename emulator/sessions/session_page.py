"""The report of a test session as a page: what is grave first, then what everything cost.

Tables are plain markup; the script sorts and filters them and draws the charts above them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any, Final, NamedTuple, TypeAlias

from emulator import __version__, web
from emulator.sessions.session_report import (
    Record,
    dearest,
    limit_text,
    limited_tests,
    rate_text,
    resource_text,
    throttle_text,
    throttles_in_the_end,
    would_throttle,
)
from emulator.web.markup import TableColumn, Value, table

MOST_CHARTED: Final = 8
_STYLES: Final = ("kit/chart.css", "kit/base.css", "session/session.css")


#: A test's record, and one of its entries, findings, loads, throttles or limits.
Subject: TypeAlias = tuple[Record, Mapping[str, Any]]
Field: TypeAlias = Callable[[Record, Mapping[str, Any]], str | Value]


class Section(NamedTuple):
    """A table of the page; what is grave is open, and ``empty`` is what stands for no rows."""

    identity: str
    title: str
    explanation: str
    columns: tuple[str, ...]
    rows: Sequence[Subject]
    empty: str
    is_grave: bool = False
    is_open: bool = False


def as_html(records: Sequence[Record], when: float) -> str:
    """Return the report as one page that needs nothing else; ``when`` is the epoch second of it."""
    sections = list(_sections(records))
    body = (
        f"{_header(records, when)}{_navigation(sections)}<main>{_tiles(records)}"
        f"{_charts(records)}{''.join(_section(section) for section in sections)}</main>{_FOOTER}"
    )
    return web.page(
        title="What the tests consumed",
        generator=f"dynamometer {__version__}",
        body=body,
        data={"charts": dict(_pictures(records))},
        styles=_STYLES,
        module="session/session.js",
    )


# Top


def _header(records: Sequence[Record], when: float) -> str:
    moment = f"{datetime.fromtimestamp(when, UTC):%-d %B %Y, %H:%M} UTC"
    return (
        '<header><div class="in"><p class="brand">dynamometer</p><h1>What the tests consumed</h1>'
        f'<p class="meta">{_plural(len(records), "test")} with a database, {moment}</p>'
        "</div></header>"
    )


def _navigation(sections: Iterable[Section]) -> str:
    links = "".join(
        f'<a href="#{section.identity}">{escape(section.title)}</a>' for section in sections
    )
    return f'<nav aria-label="Sections"><div class="in">{links}</div></nav>'


def _tiles(records: Sequence[Record]) -> str:
    refused = would_throttle(records)
    throttled = sum(record in refused or throttles_in_the_end(record) for record in records)
    findings = sum(len(record["findings"]) for record in records)
    tiles = (
        (str(throttled), "would throttle", "bad" if throttled else "good"),
        (str(findings), "findings", "tight" if findings else "good"),
        (_number(sum(record["calls"] for record in records)), "calls", ""),
        (_number(sum(record["read_units"] for record in records)), "read units", ""),
        (_number(sum(record["write_units"] for record in records)), "write units", ""),
    )
    inside = "".join(
        f'<div class="tile"><b{_mark(mark)}>{figure}</b><span>{name}</span></div>'
        for figure, name, mark in tiles
    )
    return f'<section class="tiles" aria-label="Summary">{inside}</section>'


def _mark(mark: str) -> str:
    return f' class="m-{mark}"' if mark else ""


def _plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _dollars(usd: float) -> str:
    return f"${usd:,.0f}" if usd >= 100 else f"${usd:,.2f}"


def _percent(share: float) -> str:
    return f"{share * 100:.0f}\u202f%"


# Charts


def _charts(records: Sequence[Record]) -> str:
    titles = {
        "expensive": ("Most expensive tests", "Capacity units of one run."),
        "operations": ("By operation", "Capacity units of all tests together."),
        "limits": (
            "First to throttle",
            "Requests a second from which on a test's code throttles.",
        ),
        "kinds": ("Findings by kind", "How many places could be improved."),
    }
    made = dict(_pictures(records))
    figures = "".join(
        f'<figure id="{name}" data-chart><figcaption><b>{title}</b>{caption}</figcaption>'
        '<div class="picture plot"></div></figure>'
        for name, (title, caption) in titles.items()
        if name in made
    )
    return f'<section class="panel pictures"><div class="charts">{figures}</div></section>'


def _pictures(records: Sequence[Record]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what each chart shows, in the words of ``kit/bars.js``."""
    costly = dearest(records)
    if costly:
        rows = [_unit_bar(record["test"], record) for record in costly[:MOST_CHARTED]]
        yield "expensive", {"label": "Most expensive tests", "rows": rows}
        yield "operations", {"label": "Units by operation", "rows": _by_operation(records)}
    limited = limited_tests(records)[:MOST_CHARTED]
    if limited:
        rates = [record["first_limit"]["requests_per_second"] for record in limited]
        rows = [
            {"name": record["test"], "text": _number(rate), "parts": [_part("rate", rate, "amber")]}
            for record, rate in zip(limited, rates, strict=True)
        ]
        chart = {"label": "Requests a second from which on a test throttles", "rows": rows}
        yield "limits", chart | {"scale": "ratio", "low": min(rates) / 2}
    kinds: dict[str, int] = {}
    for record in records:
        for finding in record["findings"]:
            kinds[finding["kind"]] = kinds.get(finding["kind"], 0) + 1
    if kinds:
        rows = [
            {"name": kind, "text": str(count), "parts": [_part("findings", count, "violet")]}
            for kind, count in sorted(kinds.items(), key=lambda entry: -entry[1])
        ]
        yield "kinds", {"label": "Findings by kind", "rows": rows}


def _by_operation(records: Sequence[Record]) -> list[dict[str, Any]]:
    totals: dict[str, dict[str, float]] = {}
    for record in records:
        for entry in record["entries"]:
            units = totals.setdefault(entry["operation"], {"read_units": 0.0, "write_units": 0.0})
            for axis in units:
                units[axis] += entry[axis]
    consuming = {name: units for name, units in totals.items() if any(units.values())}
    ordered = sorted(consuming.items(), key=lambda entry: -sum(entry[1].values()))
    return [_unit_bar(name, units) for name, units in ordered[:MOST_CHARTED]]


def _unit_bar(name: str, units: Mapping[str, Any]) -> dict[str, Any]:
    read, write = units["read_units"], units["write_units"]
    said = [
        f"{_number(amount)} {unit}" for amount, unit in ((read, "RCU"), (write, "WCU")) if amount
    ]
    parts = [_part("read units", read, "teal"), _part("write units", write, "blue")]
    return {"name": name, "text": " + ".join(said), "parts": parts}


def _part(name: str, value: float, color: str) -> dict[str, Any]:
    return {"name": name, "value": value, "color": color}


# Sections


def _sections(records: Sequence[Record]) -> Iterator[Section]:
    costly = dearest(records)
    yield Section(
        "throttled",
        "Would have throttled",
        "What production would refuse, at the rates that the tests state.",
        ("test", "times", "why", "hottest key"),
        [(record, part) for record in would_throttle(records) for part in record["throttles"]],
        "No test would have throttled.",
        is_grave=True,
    )
    yield Section(
        "findings",
        "Could be improved",
        "What the code under test does that costs more than it needs to.",
        ("finding", "what", "cure", "where", "test"),
        [(record, finding) for record in records for finding in record["findings"]],
        "Nothing was found.",
        is_grave=True,
    )
    yield Section(
        "hot-keys",
        "Hot keys",
        "The busiest partition key of each table and index in each test.",
        ("key", "table", "axis", "of the units", "one partition", "units", "keys", "test"),
        sorted(_hot(records), key=lambda row: -row[1]["units"] * row[1]["key_share"]),
        "No key was used.",
        is_open=True,
    )
    yield Section(
        "limits-table",
        "First to throttle",
        "At which rate, and by which limit, if the test's code kept using these keys; of tests "
        "whose calls are enough to show how uneven keys are.",
        ("requests a second", "at the rate", "limit", "test"),
        [(record, record["first_limit"]) for record in limited_tests(records)],
        "No test made enough calls to show a hot key.",
    )
    yield Section(
        "waste",
        "Scans and filters",
        "Items that were read and paid for, and how many of them were returned.",
        ("read", "kept", "bytes wasted", "call", "where", "test"),
        [(record, e) for record in records for e in record["entries"] if _is_wasteful(e)],
        "No scan, and no filter that threw anything away.",
    )
    yield Section(
        "tests",
        "Tests by cost",
        "Dollars are those of a month at the stated rate, on demand in a table of class Standard.",
        ("dollars", "rcu", "wcu", "calls", "test"),
        [(record, record) for record in costly],
        "Nothing was consumed.",
        is_open=True,
    )
    yield Section(
        "calls",
        "Calls",
        "Every line that made calls, by what they consumed.",
        ("rcu", "wcu", "calls", "throttled", "call", "where", "test"),
        [(record, entry) for record in costly for entry in record["entries"]],
        "Nothing was called.",
    )


def _hot(records: Iterable[Record]) -> Iterator[Subject]:
    for record in records:
        for load in record["loads"]:
            if load["hottest_key"]:
                yield record, load


def _is_wasteful(entry: Mapping[str, Any]) -> bool:
    from emulator.service.catalogue import Kind, names_of

    is_filtered = entry["items_evaluated"] > entry["items_returned"]
    return entry["operation"] == "Scan" or (
        entry["operation"] in names_of(Kind.PAGE) and is_filtered
    )


def _section(section: Section) -> str:
    count = len(section.rows)
    grave = " throttles" if section.is_grave and count else " fine" if section.is_grave else ""
    state = " open" if count and (section.is_grave or section.is_open) else ""
    inside = (
        table(section.title, [_COLUMNS[name][0] for name in section.columns], _rows(section))
        if count
        else f'<p class="quiet">{section.empty}</p>'
    )
    return (
        f'<details id="{section.identity}" class="panel section{grave}"{state}><summary>'
        f'<h2>{escape(section.title)}</h2> <span class="badge">{count:,}</span></summary>'
        f'<p class="quiet">{escape(section.explanation)}</p>{inside}</details>'
    )


def _rows(section: Section) -> list[list[str | Value]]:
    fields = [_COLUMNS[name][1] for name in section.columns]
    return [[field(*subject) for field in fields] for subject in section.rows]


def _text(name: str) -> Field:
    return lambda _, entry: escape(str(entry[name]))


def _code(name: str) -> Field:
    return lambda _, entry: f"<code>{escape(str(entry[name]))}</code>"


def _amount(name: str, form: Callable[[float], str] = _number) -> Field:
    return lambda _, entry: Value(form(entry[name]), entry[name])


def _key(_: Record, entry: Mapping[str, Any]) -> str:
    key = ", ".join(entry["hottest_key"])
    return f"<code>{escape(key)}</code>" if entry["hottest_key"] else ""


def _test(record: Record, _: Mapping[str, Any]) -> str:
    name = escape(record["test"]).replace("::", "::<wbr>")  # where a long name may be broken
    return f"<code>{name}</code>"


def _kind(_: Record, finding: Mapping[str, Any]) -> str:
    return f'<span class="sev warning">{escape(finding["kind"])}</span>'


def _month(record: Record, _: Mapping[str, Any]) -> str | Value:
    usd = record["usd_month"]
    return "" if usd is None else Value(_dollars(usd), usd)


def _wasted(_: Record, entry: Mapping[str, Any]) -> Value:
    wasted = entry["bytes_evaluated"] - entry["bytes_returned"]
    return Value(_number(wasted), wasted)


def _call(_: Record, entry: Mapping[str, Any]) -> str:
    return escape(f"{entry['operation']} {resource_text(entry)}")


#: What a column is called, and what it shows of a test's record and of one of its parts.
_COLUMNS: Final[Mapping[str, tuple[TableColumn, Field]]] = {
    "at the rate": (
        TableColumn("at the stated rate", is_long=True), lambda record, _: rate_text(record),
    ),
    "axis": (TableColumn("units of"), lambda _, load: f"{load['axis'].lower()}s"),
    "bytes wasted": (TableColumn("bytes wasted", is_number=True), _wasted),
    "call": (TableColumn("call"), _call),
    "calls": (TableColumn("calls", is_number=True), _amount("calls")),
    "cure": (TableColumn("remedy", is_long=True), _text("cure")),
    "dollars": (TableColumn("$ a month", is_number=True), _month),
    "finding": (TableColumn("finding"), _kind),
    "hottest key": (TableColumn("hottest key"), _key),
    "kept": (TableColumn("kept", is_number=True), _amount("items_returned")),
    "key": (TableColumn("key"), _key),
    "keys": (TableColumn("keys used", is_number=True), _amount("collections")),
    "limit": (TableColumn("limit", is_long=True), lambda record, _: escape(limit_text(record))),
    "of the units": (TableColumn("of the units", is_number=True), _amount("key_share", _percent)),
    "one partition": (
        TableColumn("busiest partition", is_number=True), _amount("partition_share", _percent),
    ),
    "rcu": (TableColumn("RCU", is_number=True), _amount("read_units")),
    "read": (TableColumn("items read", is_number=True), _amount("items_evaluated")),
    "requests a second": (
        TableColumn("requests a second", is_number=True), _amount("requests_per_second"),
    ),
    "table": (TableColumn("table or index"), lambda _, entry: escape(resource_text(entry))),
    "test": (TableColumn("test", is_long=True), _test),
    "throttled": (TableColumn("throttled", is_number=True), _amount("throttles")),
    "times": (TableColumn("times", is_number=True), _amount("times")),
    "units": (TableColumn("units", is_number=True), _amount("units")),
    "wcu": (TableColumn("WCU", is_number=True), _amount("write_units")),
    "what": (TableColumn("what", is_long=True), _text("what")),
    "where": (TableColumn("where"), _code("where")),
    "why": (TableColumn("why", is_long=True), lambda _, throttle: escape(throttle_text(throttle))),
}  # fmt: skip

_FOOTER: Final = (
    f'<footer><div class="in"><p>Made by dynamometer {__version__}. RCU and WCU are read and write '
    "capacity units. Prices are those of us-east-1.</p></div></footer>"
)
