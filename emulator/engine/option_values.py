"""The values of a table's options; most tables have none of them."""

from __future__ import annotations

from typing import NamedTuple


class ResourcePolicy(NamedTuple):
    """A resource policy, and the revision it has (OTH-18)."""

    text: str
    revision: str


class Recovery(NamedTuple):
    """Point-in-time recovery: since when, and how far back (OTH-9)."""

    since_ns: int
    days: int


class InsightsRule(NamedTuple):
    """Whether Contributor Insights is on, in which mode, since when (OTH-17)."""

    is_enabled: bool
    mode: str
    changed_ns: int


class Destination(NamedTuple):
    """A Kinesis stream that changes are said to go to (OTH-16).

    ``precision`` is None until it is set.
    """

    is_active: bool
    precision: str | None
