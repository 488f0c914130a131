"""A case: a design under a workload, with what one world has shown of it.

Verdict, fixes and advice are all drawn from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from emulator.lab.analysis.offered_load import Offered
from emulator.lab.inputs.key_templates import KeyTemplate
from emulator.lab.inputs.patterns import Pattern
from emulator.lab.outcome import result_types
from emulator.lab.outcome.throttled import throttled_by_reason, throttled_share, throttles
from emulator.lab.planning.access_paths import AccessPath, find_path
from emulator.lab.planning.layout import Layout, TableLayout
from emulator.service.throttling import ThrottlingLimit, parse_reason
from emulator.settings import Settings


class Hot(NamedTuple):
    """A table or index with a full partition, and the reason that it gives."""

    resource: result_types.ResourceResult
    reason: str


@dataclass(frozen=True)
class Case:
    """What is known of a design once it has run."""

    layout: Layout
    settings: Settings
    patterns: Sequence[result_types.PatternResult]
    resources: Sequence[result_types.ResourceResult]
    offered: dict[str, Offered]
    costs: Sequence[result_types.Cost]
    break_even: Sequence[result_types.BreakEven]

    @property
    def throttles(self) -> bool:
        """Whether this world throttles, or would if the load went on."""
        return throttles(self)

    @property
    def closes_after(self) -> float | None:
        """When the first index closes its table's writes if the load goes on, or None."""
        index = self.closing_index
        return None if index is None or index.backlog is None else index.backlog.closes_after

    @property
    def throttled_share(self) -> float:
        """The share of calls refused at least once."""
        return throttled_share(self.patterns)

    @property
    def closing_index(self) -> result_types.ResourceResult | None:
        """The first index to close its table's writes, if the load goes on as it ended."""
        closing = {
            resource.backlog.closes_after: resource
            for resource in self.resources
            if resource.backlog is not None and resource.backlog.closes_after is not None
        }
        return closing[min(closing)] if closing else None

    @property
    def reasons(self) -> list[str]:
        """The reasons of refusals, the most frequent first; then of an index that will refuse."""
        reasons = list(throttled_by_reason(self.patterns))
        index = self.closing_index
        if index is not None and index.backlog is not None:
            reasons.append(index.backlog.reason)
        return list(dict.fromkeys(reasons))

    @property
    def chosen_cost(self) -> result_types.Cost | None:
        """The month as the design asks for it, if it is among the costs."""
        return next((cost for cost in self.costs if cost.chosen), None)

    def path(self, result: result_types.PatternResult) -> AccessPath:
        """Return how the design answers a pattern."""
        return find_path(self.layout, self.pattern(result))

    def pattern(self, result: result_types.PatternResult) -> Pattern:
        """Return the pattern that a result is about."""
        return self.layout.workload.pattern(result.name)

    def resource(self, name: str) -> result_types.ResourceResult:
        """Return the table or index of that name."""
        return next(resource for resource in self.resources if resource.name == name)

    def refusing_resource(self, reason: str) -> result_types.ResourceResult:
        """Return the resource that a reason is most likely about: that which refused most."""
        kind = "index" if parse_reason(reason).is_index else "table"
        candidates = [resource for resource in self.resources if resource.kind == kind]
        return max(candidates, key=lambda resource: axis_of(resource, reason).throttled_units)

    @property
    def hot(self) -> list[Hot]:
        """The tables and indexes with a full partition, each once; that which refuses most first.

        One reason may be that of several tables.
        """
        found: dict[str, Hot] = {}
        for reason in self.reasons:
            limit, is_index = ThrottlingLimit.of(reason), parse_reason(reason).is_index
            if limit is not ThrottlingLimit.KEY_RANGE:
                continue
            refusing = [self.refusing_resource(reason)] + [
                resource
                for resource in self.resources
                if (resource.kind == "index") is is_index
                and axis_of(resource, reason).throttled_units
            ]
            for resource in refusing:
                found.setdefault(resource.name, Hot(resource, reason))
        return list(found.values())

    def partition_keys(
        self,
    ) -> Iterator[tuple[result_types.ResourceResult, TableLayout, Sequence[KeyTemplate]]]:
        """Yield every resource with its table and partition key templates."""
        for table in self.layout.tables:
            for resource in self.resources:
                if resource.name == self.layout.resource_name(table, None):
                    for key in table.keys.values():
                        yield resource, table, key.partition
                for index in table.global_indexes:
                    if resource.name == self.layout.resource_name(table, index.name):
                        yield resource, table, index.key.partition


def axis_of(resource: result_types.ResourceResult, reason: str) -> result_types.AxisResult:
    """Return the reads or writes of a resource, whichever a reason is about."""
    return resource.read if parse_reason(reason).axis == "Read" else resource.write
