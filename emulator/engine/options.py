"""What the control plane sets on a table beyond keys and throughput: kept, and described."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple


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


@dataclass(slots=True, kw_only=True)
class TableOptions:
    """What the control plane says of a table beyond keys and throughput.

    ``sse_while_updating`` is described for ``sse`` until the table's last change is complete.
    ``insights`` go by index name, None for the table; ``destinations`` by stream ARN.
    ``extra`` holds what is stored and described but has no effect here, by wire name.
    """

    deletion_protection: bool = False
    table_class: str | None = None
    table_class_changed_ns: int | None = None
    sse: dict[str, Any] | None = None
    sse_while_updating: dict[str, Any] | None = None
    tags: dict[str, str] = field(default_factory=dict)
    policy: ResourcePolicy | None = None
    recovery: Recovery | None = None
    insights: dict[str | None, InsightsRule] = field(default_factory=dict)
    destinations: dict[str, Destination] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)

    def copy(self) -> TableOptions:
        """Return independent options of the same content."""
        return replace(
            self,
            tags=dict(self.tags),
            insights=dict(self.insights),
            destinations=dict(self.destinations),
            extra=dict(self.extra),
        )
