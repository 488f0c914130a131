"""Advice on the access patterns of a data model: what its own figures lead to.

Nothing is played here: units are those of one request, money that of the stated rates. The lab
has the same rules for a workload that it ran.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from emulator.capacity.prices import STANDARD
from emulator.capacity.units import page_units, read_units, write_units
from emulator.designs.declared import DeclaredPattern, DeclaredTable, Reading
from emulator.designs.findings import Finding
from emulator.service import limits
from emulator.settings import Settings

#: Index writes beyond this multiple of the table's own are worth a look.
AMPLIFICATION: Final = 2.0
#: Scans more often than this, per second, are frequent.
FREQUENT: Final = 1 / 60
#: An update of an item this large pays mostly for what it leaves as it is.
BIG_ITEM: Final = 4 * limits.KIB
#: A cheaper way to pay is worth a word if it saves this share, and so many dollars a month.
SAVING: Final = 0.10
_LEAST_SAVING: Final = 1.0
_MONTH_HOURS: Final = Settings().hours_per_month
_HOUR: Final = 3600


def check_patterns(reading: Reading) -> Iterator[Finding]:
    """Yield the findings about the access patterns that were read."""
    tables = {table.resource: table for table in reading.tables}
    for pattern in reading.patterns:
        table = tables.get(pattern.table)
        for rule in RULES:
            for finding in rule(pattern, table):
                yield _located(finding, reading)
    for table in reading.tables:
        own = [pattern for pattern in reading.patterns if pattern.table == table.resource]
        yield from (table.located(finding) for finding in _billing(table, own))


def _located(finding: Finding, reading: Reading) -> Finding:
    file = next(iter(reading.files), None)
    return finding if file is None else finding.at(file)


def is_write(pattern: DeclaredPattern) -> bool:
    """Return whether a pattern changes items."""
    return pattern.operation in _WRITES


_WRITES: Final = frozenset(
    ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems")
)


def _scan(pattern: DeclaredPattern, _table: DeclaredTable | None) -> Iterator[Finding]:
    """Report patterns that read everything."""
    if pattern.operation != "Scan" or (pattern.rate and pattern.rate <= FREQUENT):
        return
    rate = f" {pattern.rate:g} times a second" if pattern.rate else ""
    yield Finding(
        "frequent-scan",
        "problem" if pattern.rate else "warning",
        pattern.name,
        f"It reads the whole of {pattern.index or pattern.table}{rate}.",
        "Add an index with a key of what is known when asking, and use Query.",
    )


def _filter(pattern: DeclaredPattern, _table: DeclaredTable | None) -> Iterator[Finding]:
    """Report filters: they are applied after reading, and paid for."""
    if pattern.has_filter:
        yield Finding(
            "filter-instead-of-key",
            "warning",
            pattern.name,
            f"A filter is applied after {pattern.operation} has read and paid for the items.",
            "Put what is filtered into the sort key or into an index, if much is thrown away.",
        )


def _amplification(pattern: DeclaredPattern, table: DeclaredTable | None) -> Iterator[Finding]:
    """Report writes that cost mostly in indexes."""
    if table is None or not is_write(pattern) or pattern.operation == "UpdateItem":
        return
    own = write_units(pattern.size_bytes)
    copies = [_index_units(pattern, index) for index in _indexes(table)]
    total = own + sum(copies)
    if total / own > AMPLIFICATION:
        yield Finding(
            "index-amplification",
            "warning",
            pattern.name,
            f"Every item costs {total} write units: {own} in the table and {sum(copies)} in "
            f"{len(copies)} indexes.",
            "Drop or narrow indexes, or make them sparse.",
        )


def _indexes(table: DeclaredTable) -> list[dict[str, Any]]:
    return list(table.request.get("GlobalSecondaryIndexes", ()))


def _index_units(pattern: DeclaredPattern, index: dict[str, Any]) -> int:
    """Return the write units of a new item in an index; narrow copies are taken to fit one unit."""
    wide = index["Projection"].get("ProjectionType") == "ALL"
    return write_units(pattern.size_bytes) if wide else 1


def _big_update(pattern: DeclaredPattern, _table: DeclaredTable | None) -> Iterator[Finding]:
    """Report updates of large items."""
    if pattern.operation == "UpdateItem" and pattern.size_bytes >= BIG_ITEM:
        yield Finding(
            "vertical-split",
            "warning",
            pattern.name,
            f"Every update pays for the whole item of {pattern.size_bytes:,} bytes: "
            f"{write_units(pattern.size_bytes)} units, however little changes.",
            "Keep what changes often in an item of its own.",
        )


PatternRule = Callable[[DeclaredPattern, DeclaredTable | None], Iterator[Finding]]
RULES: Final[tuple[PatternRule, ...]] = (_scan, _filter, _amplification, _big_update)


# Money


def units_of(pattern: DeclaredPattern, table: DeclaredTable) -> tuple[float, float]:
    """Return the read and write units of one request, its indexes included."""
    transactional = 2 if pattern.operation.startswith("Transact") else 1
    if is_write(pattern):
        copies = sum(_index_units(pattern, index) for index in _indexes(table))
        # The table's part of a transaction is doubled, that of its indexes is not (CAP-306).
        own = write_units(pattern.size_bytes) * transactional
        return 0.0, float(pattern.items * (own + copies))
    factor = 1.0 if pattern.consistent else 0.5
    if pattern.operation in ("Query", "Scan"):
        return page_units(pattern.size_bytes * pattern.items, factor), 0.0
    each = read_units(pattern.size_bytes) * (factor if transactional == 1 else 2)
    return each * pattern.items, 0.0


def _billing(table: DeclaredTable, patterns: list[DeclaredPattern]) -> Iterator[Finding]:
    """Report the cheaper way to pay for the stated load.

    On demand pays the average; provisioned capacity is held for the peak.
    Source: CAP-1001, CAP-1008.
    """
    if not any(pattern.rate for pattern in patterns):
        return
    peaks, means = [0.0, 0.0], [0.0, 0.0]
    for pattern in patterns:
        for axis, units in enumerate(units_of(pattern, table)):
            peaks[axis] += units * pattern.rate
            means[axis] += units * pattern.average
    seconds = _MONTH_HOURS * _HOUR
    on_demand = STANDARD.on_demand(reads=means[0] * seconds, writes=means[1] * seconds)
    provisioned = STANDARD.provisioned(
        read_hours=peaks[0] * _MONTH_HOURS, write_hours=peaks[1] * _MONTH_HOURS
    )
    is_provisioned = table.request.get("BillingMode") == "PROVISIONED"
    chosen, other = (provisioned, on_demand) if is_provisioned else (on_demand, provisioned)
    if other < chosen * (1 - SAVING) and chosen - other > _LEAST_SAVING:
        cheaper = "on demand" if is_provisioned else "provisioned for the peak"
        yield Finding(
            "billing-mode",
            "info",
            table.resource,
            f"At the stated load it costs ${chosen:,.2f} a month; {cheaper} it would cost "
            f"${other:,.2f}.",
            "Change the billing mode, if the stated load is the real one.",
            "BillingMode",
        )
