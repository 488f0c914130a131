"""Extras: what a table has besides its capacity, as far as it is paid for."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Final

from emulator.capacity.prices import RESERVED_PRICES, RESERVED_STEP
from emulator.lab.inputs.documents import Entry
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
    """What a table has besides its capacity.

    >>> Extras(replicas=2, point_in_time_recovery=True).to_document()
    {'replicas': 2, 'point_in_time_recovery': True}
    """

    #: Copies in other regions: every write is paid in each of them, too (CAP-312).
    replicas: int = 0
    #: Applications that poll the stream; Lambda triggers and replicas read it free (CAP-1004).
    stream_consumers: int = 0
    point_in_time_recovery: bool = False
    #: Full backups that are kept.
    backups: int = 0
    reserved: Reserved = field(default_factory=Reserved)

    def to_document(self) -> dict[str, Any]:
        """Return what ``from_entry`` reads; nothing for what is not there."""
        document: dict[str, Any] = {
            entry.name: getattr(self, entry.name)
            for entry in fields(self)
            if entry.name != "reserved" and getattr(self, entry.name)
        }
        if any(self.reserved.units):
            document["reserved"] = {"years": self.reserved.years, **self.reserved.units._asdict()}
        return document


NO_EXTRAS: Final = Extras()


def from_entry(entry: Entry) -> Extras:
    """Read the ``extras`` of a table.

    Raises:
        DocumentError: Something is unknown or out of bounds.
    """
    members = entry.members(optional=[member.name for member in fields(Extras)])
    options: dict[str, Any] = {
        name: members[name].integer(least=0)
        for name in ("replicas", "stream_consumers", "backups")
        if name in members
    }
    if "point_in_time_recovery" in members:
        options["point_in_time_recovery"] = members["point_in_time_recovery"].boolean()
    if "reserved" in members:
        options["reserved"] = _read_reserved(members["reserved"])
    return Extras(**options)


def _read_reserved(entry: Entry) -> Reserved:
    members = entry.members(optional=("years", *Units._fields))
    units = Units(
        **{name: members[name].integer(least=0) for name in Units._fields if name in members}
    )
    years = members["years"].integer(least=1) if "years" in members else 1
    try:
        return Reserved(years=years, units=units)
    except ValueError as error:
        return entry.complain(str(error))
