"""One design on the page: its tables and indexes, and the design as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, Final

from emulator.lab.outcome import result_types, words
from emulator.lab.outcome.rows import is_incomplete
from emulator.lab.report import pictures
from emulator.lab.report.charts import Chart, resource_charts, slug, summary_charts
from emulator.lab.report.markup import badge, figure
from emulator.web.markup import TableColumn, Value, table

#: Where a design gives calls up.
NO_ADVICE: Final = ", but calls that were given up are not counted: no advice"


class DesignSection:
    """The markup of a design, and the pictures in it by the ids of their figures."""

    def __init__(self, index: int, design: result_types.DesignResult, *, is_open: bool) -> None:
        self.design = design
        self.index = index
        self.is_open = is_open
        self.pictures: dict[str, pictures.Picture] = {}

    def render(self) -> str:
        """Return the section; it is folded if nothing in it needs a look."""
        design = self.design
        blocks = "".join(self._resource(number) for number in range(len(design.resources)))
        whole = "".join(self._figure(chart, "") for chart in summary_charts(design))
        return (
            f'<details id="{anchor(self.index)}" class="panel design {design.grade}"'
            f"{' open' if self.is_open else ''}>"
            f"<summary><h2>{escape(design.name)}</h2> {badge(design)}"
            f'<span class="gist">{escape(_gist(design))}</span></summary>'
            f'<p class="keys">{keys(design.design)}</p>{_shown_world(design)}{blocks}'
            f'<h3>The design as a whole</h3><div class="charts">{whole}'
            f"{_break_even(design)}</div>{_patterns(design.patterns)}{_confidence(design)}</details>"
        )

    def _resource(self, number: int) -> str:
        resource = self.design.resources[number]
        source = f"designs/{self.index}/resources/{number}"
        where = f"-{slug(resource.name)}"
        heat, *others = (
            self._figure(chart, where, is_wide=chart.name == "heat")
            for chart in resource_charts(resource, source)
        )
        inside = f'<div class="charts">{heat}{"".join(others)}{_top_keys(resource)}</div>'
        if len(self.design.resources) == 1:
            return inside
        name = "" if resource.name == resource.kind else f" {escape(resource.name)}"
        state = " open" if is_shown(resource, self.design) else ""
        return (
            f'<details class="resource"{state}><summary><h3>{resource.kind.capitalize()}{name}'
            f'</h3><span class="gist">{escape(_resource_gist(resource))}</span></summary>'
            f"{inside}</details>"
        )

    def _figure(self, chart: Chart, where: str, *, is_wide: bool = False) -> str:
        identity = f"{slug(self.design.name)}{where}-{chart.name}"
        if identity in self.pictures:
            identity += f"-{len(self.pictures)}"
        self.pictures[identity] = chart.picture
        return figure(chart, identity, is_wide=is_wide)


def anchor(index: int) -> str:
    """Return the id of a design's section."""
    return f"design-{index + 1}"


def is_burning(resource: result_types.ResourceResult) -> bool:
    """Return whether anything was refused."""
    return bool(resource.write.throttled_units or resource.read.throttled_units)


def is_shown(resource: result_types.ResourceResult, design: result_types.DesignResult) -> bool:
    """Return whether a table or index is open: it burns, or is the table and none does."""
    if any(is_burning(other) for other in design.resources):
        return is_burning(resource)
    return resource is design.resources[0]


def _gist(design: result_types.DesignResult) -> str:
    """Return the line of a folded section."""
    hottest = max(resource.hottest_partition_share for resource in design.resources)
    throttled = words.percent(design.throttled_share)
    return f"{throttled} of calls throttled, hottest partition {words.percent(hottest)}"


def _resource_gist(resource: result_types.ResourceResult) -> str:
    refused = resource.write.throttled_units + resource.read.throttled_units
    said = f"{words.count(refused)} units refused" if refused else "nothing refused"
    partitions = words.counted(sum(p.died is None for p in resource.heat.partitions), "partition")
    hottest = words.percent(resource.hottest_partition_share)
    return f"{said}; {partitions}, the hottest with {hottest} of the demand"


def _shown_world(design: result_types.DesignResult) -> str:
    """Return which world the pictures and figures of a design are of."""
    if design.shown_world is None:
        return ""
    count = words.counted(len(design.whole_worlds), "world")
    return (
        f'<p class="quiet">Pictures and figures are from the median of {count} by the share of '
        f"throttled calls (seed {design.shown_world}).</p>"
    )


# Keys


def keys(document: Mapping[str, Any]) -> str:
    """Return the keys of a design document as markup.

    >>> keys({"partition": "{user}", "sort": "{time}", "write": 10})
    '<code>{user}</code> / <code>{time}</code><br>provisioned: 10 WCU'
    """
    tables = document.get("tables") or {"": document}
    return "<br>".join(
        (f"<b>{escape(name)}</b> " if name else "") + "<br>".join(_table_lines(table))
        for name, table in tables.items()
    )


def _table_lines(document: Mapping[str, Any]) -> Iterator[str]:
    schemas = [document] if document.get("partition") else []
    schemas += document.get("entities", {}).values()
    yield ", ".join(_key(schema) for schema in schemas)
    for index in document.get("indexes", ()):
        yield f"index {escape(index['name'])}: {_key(index)}"
    units = ((document.get("read"), "RCU"), (document.get("write"), "WCU"))
    provided = [f"{amount:,} {unit}" for amount, unit in units if amount]
    yield f"provisioned: {', '.join(provided)}" if provided else "on-demand"


def _key(schema: Mapping[str, Any]) -> str:
    parts = [_templates(schema.get(name)) for name in ("partition", "sort")]
    return " / ".join(part for part in parts if part)


def _templates(templates: Any) -> str:
    texts = [templates] if isinstance(templates, str) else templates or []
    return " + ".join(f"<code>{escape(text)}</code>" for text in texts)


def _top_keys(resource: result_types.ResourceResult) -> str:
    if not resource.top_keys:
        return ""
    most = resource.top_keys[0].share or 1.0
    rows = "".join(_top_key(key, most) for key in resource.top_keys[:10])
    return (
        "<figure><figcaption><b>Busiest partition keys</b>Share of the demand"
        "; red where requests were refused.</figcaption>"
        f'<table class="top-keys"><tbody>{rows}</tbody></table>'
        f"{_collections(resource.collections)}</figure>"
    )


def _top_key(key: result_types.KeyShare, most: float) -> str:
    kind = "bar refused" if key.throttled_units else "bar"
    refused = '<span class="unseen">, refused</span>' if key.throttled_units else ""
    return (
        f'<tr><th scope="row"><code>{escape(key.key)}</code></th>'
        f'<td class="bars"><span class="{kind}" style="width:{key.share / most:.1%}"></span></td>'
        f'<td class="n">{words.percent(key.share)}{refused}</td></tr>'
    )


def _collections(sizes: result_types.CollectionSizes) -> str:
    if not sizes.count:
        return ""
    text = (
        f"{words.counted(sizes.count, 'item collection')} with "
        f"{words.counted(sizes.items, 'item')} and "
        f"{words.size(sizes.total_bytes)}; the largest ({sizes.largest_key}) has "
        f"{words.size(sizes.largest_bytes)} and grows by "
        f"{words.size(sizes.largest_growth_bytes_per_day)} a day."
    )
    return f'<p class="quiet collections">{escape(text)}</p>'


# The design as a whole


def _break_even(design: result_types.DesignResult) -> str:
    """Return which billing is the cheaper one; nothing of that for a design that gives calls up.

    The units that those would have consumed are not in the figures.
    """
    lines = "".join(
        f"<li>{escape(row.resource)} {row.axis}s: {words.percent(row.utilisation)} used on "
        f"average; provisioned pays from {words.percent(row.break_even)}"
        f"{NO_ADVICE if is_incomplete(design) else f', so {row.cheaper} is cheaper'}.</li>"
        for row in design.break_even
    )
    if not lines:
        return ""
    return (
        "<figure><figcaption><b>Provisioned or on-demand</b>The utilisation from which "
        f'provisioned capacity is cheaper.</figcaption><ul class="plain">{lines}</ul></figure>'
    )


_PATTERN_COLUMNS: Final = (
    TableColumn("access pattern"),
    TableColumn("operation"),
    TableColumn("answered by"),
    TableColumn("requests", is_number=True),
    TableColumn("calls each", is_number=True),
    TableColumn("throttled", is_number=True),
    TableColumn("attempts p50 / p99", is_number=True),
    TableColumn("added latency p50 / p99", is_number=True),
    TableColumn("units each", is_number=True),
    TableColumn("filtered away", is_number=True),
)


def _patterns(patterns: Sequence[result_types.PatternResult]) -> str:
    rows = [_pattern(pattern) for pattern in patterns]
    return "<h3>Access patterns</h3>" + table("Access patterns", _PATTERN_COLUMNS, rows)


def _pattern(pattern: result_types.PatternResult) -> list[str | Value]:
    wait = pattern.added_latency_seconds
    tries = pattern.attempts_per_call
    waste = pattern.filter_waste_share if pattern.filtered_bytes else None
    return [
        escape(pattern.name),
        escape(pattern.operation),
        escape(pattern.resource),
        Value(words.count(pattern.requests), pattern.requests),
        Value(words.significant(pattern.fan_out), pattern.fan_out),
        Value(words.percent(pattern.throttled_share), pattern.throttled_share),
        Value(f"{words.significant(tries.p50)} / {words.significant(tries.p99)}", tries.p99),
        Value(f"{words.duration(wait.p50)} / {words.duration(wait.p99)}", wait.p99),
        Value(units_each(pattern), _units(pattern) / (pattern.requests or 1.0)),
        Value(words.NONE if waste is None else words.percent(waste), waste or 0.0),
    ]


def _units(pattern: result_types.PatternResult) -> float:
    return sum(units.read + units.write for units in pattern.units)


def units_each(pattern: result_types.PatternResult) -> str:
    """Return the units of one request of a pattern, over its table and indexes."""
    if not pattern.requests:
        return words.NONE
    read = sum(units.read for units in pattern.units) / pattern.requests
    write = sum(units.write for units in pattern.units) / pattern.requests
    parts = [
        f"{words.significant(amount)} {name}"
        for amount, name in ((read, "RCU"), (write, "WCU"))
        if amount
    ]
    return " + ".join(parts) or "0"


def _confidence(design: result_types.DesignResult) -> str:
    if not design.confidence or len(design.confidence[0].values) < 2:
        return ""
    rows: list[list[str | Value]] = [
        [
            escape(row.measure.replace("_", " ")),
            Value(words.significant(row.mean), row.mean),
            Value(f"{words.significant(row.low)} to {words.significant(row.high)}", row.low),
        ]
        for row in design.confidence
    ]
    columns = (
        TableColumn("measure"),
        TableColumn("mean", is_number=True),
        TableColumn("95 % interval of the mean", is_number=True),
    )
    worlds = len(design.confidence[0].values)
    title = f"Over {worlds} worlds"
    return (
        f'<details class="more"><summary>{title}</summary>{table(title, columns, rows)}</details>'
    )
