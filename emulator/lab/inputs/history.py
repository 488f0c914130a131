"""Histories: the state in which a table or index enters a run (CAP2-10)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from emulator.designs.documents import load_json, read_text
from emulator.lab.inputs import forms
from emulator.lab.inputs.arguments import explain_arguments
from emulator.lab.inputs.documents import Entry
from emulator.lab.inputs.forms import FormMember, Record
from emulator.service.errors import DocumentError
from emulator.service.limits import PARTITION_BYTES

NO_DESCRIPTION: Final = (
    "expected what 'aws dynamodb describe-table' prints: a JSON object with 'Table', or with "
    "'TableName' and 'KeySchema'"
)


class Units(NamedTuple):
    """Read and write units per second.

    >>> Units(read=3_000, write=1_000).write
    1000
    """

    read: int = 0
    write: int = 0


NO_UNITS: Final = Units()


@explain_arguments()
@dataclass(frozen=True, kw_only=True)
class History:
    """The state of a table or global index from its use before the run.

    It is the state when the run begins. Partitions that the
    design's own capacity needs are there in any case.

    >>> History(previous_peak=Units(write=6_000)).promised
    Units(read=0, write=12000)
    """

    #: The least number of partitions; the widest are cut in the middle until there are (CAP2-1).
    partitions: int = 1
    #: The most that it has served, more than half an hour ago: twice as much is promised
    #: (CAP-510).
    previous_peak: Units = NO_UNITS
    #: Its warm throughput, as DescribeTable reports it (CAP-509).
    warm: Units = NO_UNITS
    #: The share of the burst reserve that it has; None: as the settings or the world say (CAP2-5).
    burst_start: float | None = None

    def __post_init__(self) -> None:
        if self.partitions < 1:
            raise ValueError(f"History.partitions must be at least 1, not {self.partitions}")
        if self.burst_start is not None and not 0 <= self.burst_start <= 1:
            raise ValueError(f"History.burst_start is a share up to 1, not {self.burst_start!r}")

    @property
    def promised(self) -> Units:
        """The units per second that it serves at once, whatever its capacity (CAP2-1)."""
        return Units(
            max(self.warm.read, 2 * self.previous_peak.read),
            max(self.warm.write, 2 * self.previous_peak.write),
        )

    @property
    def is_newborn(self) -> bool:
        """Return whether there is none."""
        return self == NEWBORN

    def to_document(self) -> dict[str, Any]:
        """Return the document that ``from_entry`` reads; a DescribeTable file is spelled out."""
        document: dict[str, Any] = {}
        if self.partitions > 1:
            document["partitions"] = self.partitions
        for name in ("previous_peak", "warm"):
            units: Units = getattr(self, name)
            if any(units):
                document[name] = units._asdict()
        if self.burst_start is not None:
            document["burst_start"] = self.burst_start
        return document


NEWBORN: Final = History()


@dataclass(frozen=True)
class Histories:
    """The history of a table, and those of its indexes that a file tells."""

    table: History = NEWBORN
    indexes: Mapping[str, History] = field(default_factory=dict)


_UNITS: Final = Record(
    "units",
    "Units per second; at least one of them.",
    {
        "read": FormMember(forms.integer(), "Read units per second.", default=0, example=3000),
        "write": FormMember(forms.integer(), "Write units per second.", default=0, example=1000),
    },
)


def _units(entry: Entry, values: dict[str, int]) -> Units:
    if not values:
        entry.fail("read and write units per second, or one of them")
    return Units(**values)


_MEMBERS: Final = {
    "partitions": FormMember(
        forms.integer(least=1),
        "At least this many, even if its capacity requires fewer.",
        default=History.partitions,
        example=4,
    ),
    "previous_peak": FormMember(
        _UNITS.form.made(_units),
        "The most that it has served: twice as much is available at once.",
        example={"write": 6000},
    ),
    "warm": FormMember(
        _UNITS.form.made(_units),
        "The warm throughput that DescribeTable reports.",
        example={"read": 12000, "write": 4000},
    ),
    "burst_start": FormMember(
        forms.number(least=0, most=1),
        "The share of the 300 s reserve that it has. Without it: as the settings or the world say.",
        example=1,
    ),
}
INDEX_HISTORY: Final = Record(
    "index history", "The state of a global index when the run begins.", _MEMBERS
)
HISTORY: Final = Record(
    "history",
    "The state of a table when the run begins.",
    {
        **_MEMBERS,
        "describe_table": FormMember(
            forms.text().made(lambda entry, _: _read_description(entry)),
            "A file beside the lab file with what `aws dynamodb describe-table` printed: warm "
            "throughput of the table and its indexes, and the partitions that their sizes need.",
            example="orders.json",
        ),
    },
)


def _histories(_: Entry, values: dict[str, Any]) -> Histories:
    described = values.pop("describe_table", Histories())
    return Histories(replace(described.table, **values), described.indexes)


#: Read as ``Histories``.
FORM: Final = HISTORY.form.made(_histories)
#: Read as the values that an index's entry has, on top of its table's DescribeTable file.
INDEX_FORM: Final = INDEX_HISTORY.form


def _read_description(entry: Entry) -> Histories:
    """Read a file with an answer of DescribeTable."""
    path = Path(entry.text())
    if not path.is_absolute():
        path = Path(entry.source).parent / path
    try:
        document = load_json(read_text(path), str(path))
    except DocumentError as error:
        entry.complain(str(error))
    table = document.get("Table", document) if isinstance(document, dict) else None
    if not isinstance(table, dict) or "KeySchema" not in table:
        entry.complain(f"{path}: {NO_DESCRIPTION}")
    try:
        indexes = {
            index["IndexName"]: _described(index, "IndexSizeBytes")
            for index in table.get("GlobalSecondaryIndexes") or ()
        }
        return Histories(_described(table, "TableSizeBytes"), indexes)
    except (AttributeError, KeyError, TypeError, ValueError):
        entry.complain(f"{path}: {NO_DESCRIPTION}")


def _described(resource: Mapping[str, Any], size_member: str) -> History:
    """Return the history of a described table or index.

    DescribeTable does not tell the number of partitions; the size and the warm throughput say
    how many there are at least.
    """
    warm = resource.get("WarmThroughput") or {}
    size = int(resource.get(size_member) or 0)
    return History(
        partitions=max(1, math.ceil(size / PARTITION_BYTES)),
        warm=Units(
            int(warm.get("ReadUnitsPerSecond") or 0), int(warm.get("WriteUnitsPerSecond") or 0)
        ),
    )
