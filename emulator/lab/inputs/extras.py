"""Extras: what a table has besides its capacity, as far as it is paid for."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Final

from emulator.capacity.prices import RESERVED_PRICES, RESERVED_STEP
from emulator.lab.inputs import forms
from emulator.lab.inputs.documents import Entry
from emulator.lab.inputs.forms import FormMember, Record
from emulator.lab.inputs.history import NO_UNITS, Units


@dataclass(frozen=True, kw_only=True)
class Reserved:
    """Capacity that is paid for some years ahead, in hundreds of units (CAP-1003)."""

    years: int = 1
    units: Units = NO_UNITS

    def __post_init__(self) -> None:
        if self.years not in RESERVED_PRICES:
            raise ValueError(f"capacity is reserved for 1 or 3 years, not {self.years}")
        if any(units % RESERVED_STEP for units in self.units):
            raise ValueError(f"capacity is reserved in steps of {RESERVED_STEP} units")


@dataclass(frozen=True, kw_only=True)
class Extras:
    """Features of a table besides its capacity.

    >>> Extras(replicas=2, point_in_time_recovery=True).to_document()
    {'replicas': 2, 'point_in_time_recovery': True}
    """

    #: Copies in other regions: every write is paid in each of them, too (CAP-312).
    replicas: int = 0
    #: Applications that poll the stream; Lambda triggers and replicas read it free (CAP-1004).
    stream_consumers: int = 0
    #: Assumed: how often each of them polls a shard, per second: four times, as Lambda does.
    stream_polls: float = 4.0
    #: Records that a consumer takes of a shard per second; 0 to leave out how far it is behind.
    stream_records: float = 0.0
    point_in_time_recovery: bool = False
    #: Full backups that are kept.
    backups: int = 0
    reserved: Reserved = field(default_factory=Reserved)

    def to_document(self) -> dict[str, Any]:
        """Return the document that ``from_entry`` reads, without unset members."""
        document: dict[str, Any] = {
            entry.name: getattr(self, entry.name)
            for entry in fields(self)
            if entry.name != "reserved" and getattr(self, entry.name) != entry.default
        }
        if any(self.reserved.units):
            document["reserved"] = {"years": self.reserved.years, **self.reserved.units._asdict()}
        return document


NO_EXTRAS: Final = Extras()


_UNITS: Final = forms.integer()
RESERVED: Final = Record(
    "reserved",
    "Capacity that is paid for ahead, whether it is used or not.",
    {
        "years": FormMember(forms.integer(least=1), "1 or 3.", default=Reserved.years),
        "read": FormMember(
            _UNITS, "Read units, a multiple of 100.", default=NO_UNITS.read, example=500
        ),
        "write": FormMember(
            _UNITS, "Write units, a multiple of 100.", default=NO_UNITS.write, example=300
        ),
    },
    needs_one=("read", "write"),
)


def _reserved(entry: Entry, values: dict[str, int]) -> Reserved:
    if not {"read", "write"} & values.keys():
        entry.fail("read or write units to reserve, in multiples of 100")
    years = values.pop("years", Reserved.years)
    return Reserved(years=years, units=Units(**values))


EXTRAS: Final = Record(
    "extras",
    "What a table has, and pays for, besides its capacity.",
    {
        "replicas": FormMember(
            forms.integer(),
            "Copies in other regions: every write and every gigabyte is paid for in each of them.",
            default=Extras.replicas,
        ),
        "stream_consumers": FormMember(
            forms.integer(),
            "Applications that poll the stream; Lambda triggers read it free.",
            default=Extras.stream_consumers,
        ),
        "stream_polls": FormMember(
            forms.number(least=0),
            "How often each of these polls a shard, per second.",
            default=Extras.stream_polls,
        ),
        "stream_records": FormMember(
            forms.number(least=0),
            "Records that a consumer reads from a shard, per second; the report then says how far "
            "behind it is.",
            default=Extras.stream_records,
            example=200,
        ),
        "point_in_time_recovery": FormMember(
            forms.boolean(),
            "Whether point-in-time recovery is on.",
            default=Extras.point_in_time_recovery,
        ),
        "backups": FormMember(
            forms.integer(), "How many full backups are kept.", default=Extras.backups
        ),
        "reserved": FormMember(
            RESERVED.form.made(_reserved),
            "Reserved capacity; without it: none.",
            example={"years": 1, "read": 500},
        ),
    },
)
FORM: Final = EXTRAS.form.made(lambda _, values: Extras(**values))
