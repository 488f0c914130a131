"""Offered load: what a workload would consume of a design if nothing were refused."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from emulator.capacity import READ, WRITE
from emulator.capacity.units import partitions_for_warm
from emulator.lab.inputs.workload import Workload
from emulator.lab.outcome.result_types import PatternResult, ResourceResult

#: What sums of floats may be off by.
ROUNDING: Final = 1e-6


@dataclass(frozen=True)
class Offered:
    """Units per second at the busiest second, by resource.

    >>> Offered(write=4_000 + 1e-9).partitions
    4
    """

    read: float = 0.0
    write: float = 0.0

    @property
    def partitions(self) -> int:
        """How many partitions it takes to serve it, if perfectly even."""
        return partitions_for_warm(
            *(math.ceil(units - ROUNDING) for units in (self.read, self.write))
        )

    def larger(self, other: Offered) -> Offered:
        """Return the larger of both on each axis."""
        return Offered(max(self.read, other.read), max(self.write, other.write))

    def axis(self, axis: int) -> float:
        """Return one axis."""
        return self.write if axis == WRITE else self.read


def units_per_request(pattern: PatternResult, resource: str, axis: int) -> float:
    """Return the units that one request consumes of a resource, had all its calls been answered."""
    answered = pattern.attempts - pattern.refusals
    if answered <= 0 or not pattern.requests:
        return 0.0
    calls = max(pattern.calls / pattern.requests, 1.0)
    for units in pattern.units:
        if units.resource == resource:
            return (units.read if axis == READ else units.write) / answered * calls
    return 0.0


def offered(
    patterns: Sequence[PatternResult], resources: Sequence[ResourceResult], workload: Workload
) -> dict[str, Offered]:
    """Return the offered load of each resource, all patterns at their peak."""
    loads = {}
    for resource in resources:
        sums = [0.0, 0.0]
        for pattern in patterns:
            peak = float(workload.rates(workload.pattern(pattern.name)).max(initial=0.0))
            for axis in (READ, WRITE):
                sums[axis] += peak * units_per_request(pattern, resource.name, axis)
        loads[resource.name] = Offered(*sums)
    return loads


def mean_offered(
    patterns: Sequence[PatternResult], resource: ResourceResult, axis: int, seconds: float
) -> float:
    """Return the units per second that a run asked of a resource on average."""
    asked = (
        pattern.requests * units_per_request(pattern, resource.name, axis) for pattern in patterns
    )
    return math.fsum(asked) / seconds
