"""The options of a table beyond keys and throughput: kept, and described."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from emulator.engine.option_values import Destination, InsightsRule, Recovery, ResourcePolicy


@dataclass(slots=True, kw_only=True)
class TableOptions:
    """The options of a table beyond keys and throughput.

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
