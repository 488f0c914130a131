"""CloudWatch metrics as load curves (ICH-60 to ICH-62)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Final

from emulator.designs.cloudwatch_queries import (
    PERIOD_SECONDS,
    READ_UNITS,
    REQUESTS,
    THROTTLED,
    THROTTLES,
    WRITE_UNITS,
)
from emulator.lab.inputs.arrival_rates import Series
from emulator.lab.inputs.patterns import Pattern, Sizes
from emulator.lab.inputs.workload import Workload
from emulator.service import limits
from emulator.service.errors import DocumentError
from emulator.service.throttling import AXES, ThrottlingLimit

#: Values of one series by second since the epoch.
Points = dict[float, float]
_LEAST_BYTES: Final = 100
_DAY_SECONDS: Final = 86_400
#: A curve has a rate for every second; CloudWatch keeps minutes for half of this.
_MOST_DAYS: Final = 31
_TOO_LONG: Final = (
    "{source}: the series span {days:,.0f} days, and a load curve has at most {most}; ask "
    "get-metric-data for less"
)
_NOT_KNOWN: Final = (
    "{source}: no series is that of an operation; ids such as requests_PutItem are printed by "
    "'dynamometer cloudwatch-queries TABLE', others are named by --map ID=requests_PutItem"
)
_NO_PATTERN: Final = (
    "{source}: the metrics are those of {operations}, and no pattern of the workload is one of them"
)


def is_metrics(document: Any) -> bool:
    """Return whether a document is what get-metric-data or get-metric-statistics print."""
    return isinstance(document, Mapping) and (
        isinstance(document.get("MetricDataResults"), list)
        or isinstance(document.get("Datapoints"), list)
    )


def series_of(
    document: Mapping[str, Any], names: Mapping[str, str], source: str
) -> dict[str, Points]:
    """Return the series of a document by our ids.

    Args:
        document: The output of the AWS CLI.
        names: Our ids by those of the caller.
        source: The file, for complaints.

    Raises:
        DocumentError: A member is missing, or a time is none.
    """
    series: dict[str, Points] = {}
    try:
        for name, moment, value in _points(document):
            at = datetime.fromisoformat(moment.replace("Z", "+00:00"))
            at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
            series.setdefault(names.get(name, name), {})[at.timestamp()] = _count(name, value)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DocumentError(
            f"{source}: expected what the AWS CLI prints of metrics: {error}"
        ) from error
    if not any(name.startswith(REQUESTS) for name in series):
        raise DocumentError(_NOT_KNOWN.format(source=source))
    return series


def _count(name: str, value: Any) -> float:
    count = float(value)
    if not 0 <= count < math.inf:
        raise ValueError(f"{name}: a count is 0 or more, not {value!r}")
    return count


def _points(document: Mapping[str, Any]) -> Iterator[tuple[str, str, float]]:
    for result in document.get("MetricDataResults") or ():
        if len(result["Timestamps"]) != len(result["Values"]):
            raise ValueError(f"{result['Id']} does not have as many Values as Timestamps")
        for moment, value in zip(result["Timestamps"], result["Values"], strict=True):
            yield str(result["Id"]), moment, value
    for point in document.get("Datapoints") or ():
        counts = point.get("SampleCount") if "Sum" not in point else point["Sum"]
        yield str(document.get("Label")), point["Timestamp"], counts


@dataclass(frozen=True)
class MeasuredThrottles:
    """CloudWatch's counts of a table's refusals, to stand beside a run."""

    #: Requests of each operation that were answered, and those that were refused.
    answered: Mapping[str, float] = field(default_factory=dict)
    refused: Mapping[str, float] = field(default_factory=dict)
    #: Refusals by limit, reads and writes together.
    by_limit: Mapping[ThrottlingLimit, float] = field(default_factory=dict)

    def joined(self, other: MeasuredThrottles) -> MeasuredThrottles:
        """Return the throttles of two files; of the same series the other's."""
        return MeasuredThrottles(
            {**self.answered, **other.answered},
            {**self.refused, **other.refused},
            {**self.by_limit, **other.by_limit},
        )


def throttles_of(document: Mapping[str, Any], names: Mapping[str, str]) -> MeasuredThrottles:
    """Return the refusals in a document; a series without points is zero.

    Args:
        document: The output of the AWS CLI, which ``series_of`` has read.
        names: Our ids by those of the caller.
    """
    sums: dict[str, float] = {}
    for result in document.get("MetricDataResults") or ():
        name = names.get(str(result["Id"]), str(result["Id"]))
        sums[name] = sums.get(name, 0.0) + sum(map(float, result["Values"]))
    by_limit: dict[ThrottlingLimit, float] = {}
    for axis in AXES:
        for limit in ThrottlingLimit:
            name = f"{THROTTLES}{limit.metric(axis)}"
            if name in sums:
                by_limit[limit] = by_limit.get(limit, 0.0) + sums[name]
    return MeasuredThrottles(_below(sums, REQUESTS), _below(sums, THROTTLED), by_limit)


def _below(sums: Mapping[str, float], prefix: str) -> dict[str, float]:
    return {
        name.removeprefix(prefix): value for name, value in sums.items() if name.startswith(prefix)
    }


def with_load(workload: Workload, series: Mapping[str, Points], source: str) -> Workload:
    """Return a workload whose patterns come as often as CloudWatch counted their operations.

    Patterns of one operation share its requests as their rates in the workload do; patterns of
    operations that were not measured keep theirs.

    Raises:
        DocumentError: No pattern is of an operation that was measured.
    """
    measured = {
        name.removeprefix(REQUESTS): points
        for name, points in series.items()
        if name.startswith(REQUESTS)
    }
    totals: dict[str, float] = {}
    for pattern in workload.patterns:
        rate = totals.get(pattern.operation, 0.0)
        totals[pattern.operation] = rate + _mean_rate(workload, pattern)
    if not set(totals) & set(measured):
        operations = ", ".join(sorted(measured))
        raise DocumentError(_NO_PATTERN.format(source=source, operations=operations))
    moments = [moment for points in measured.values() for moment in points]
    days = (max(moments) - min(moments)) / _DAY_SECONDS
    if days > _MOST_DAYS:
        raise DocumentError(_TOO_LONG.format(source=source, days=days, most=_MOST_DAYS))
    curves, start = _curves(measured)
    sizes = dict(_sizes(series, measured))

    def changed(pattern: Pattern) -> Pattern:
        curve = curves.get(pattern.operation)
        if curve is None:
            return pattern
        total = totals[pattern.operation]
        alike = sum(other.operation == pattern.operation for other in workload.patterns)
        share = _mean_rate(workload, pattern) / total if total else 1 / alike
        size = sizes.get(pattern.operation)
        return replace(
            pattern,
            rate=Series(tuple(rate * share for rate in curve)),
            size=pattern.sizes if size is None else Sizes.constant(size),
        )

    return replace(
        workload,
        patterns=tuple(changed(pattern) for pattern in workload.patterns),
        duration=len(next(iter(curves.values()))),
        start=start,
    )


def _curves(measured: Mapping[str, Points]) -> tuple[dict[str, list[float]], int]:
    """Return requests per second of each operation, and the minute in which they begin."""
    moments = sorted({moment for points in measured.values() for moment in points})
    period = _period(moments)
    first = moments[0]
    duration = round(moments[-1] - first + period)
    curves = {operation: [0.0] * duration for operation in measured}
    for operation, points in measured.items():
        for moment, count in points.items():
            begin = round(moment - first)
            for second in range(begin, min(begin + period, duration)):
                curves[operation][second] = count / period
    return curves, int(first) - int(first) % PERIOD_SECONDS


def _mean_rate(workload: Workload, pattern: Pattern) -> float:
    return float(workload.rates(pattern).mean())


def _period(moments: list[float]) -> int:
    """Return the smallest gap between moments, a minute at least (ICH-61)."""
    gaps = [later - earlier for earlier, later in pairwise(moments)]
    return max(PERIOD_SECONDS, round(min(gaps, default=PERIOD_SECONDS)))


def _sizes(
    series: Mapping[str, Points], measured: Mapping[str, Points]
) -> Iterator[tuple[str, int]]:
    """Yield mean item sizes, from units per request (ICH-62)."""
    for units, operations, unit_bytes in (
        (WRITE_UNITS, ("PutItem", "UpdateItem", "DeleteItem"), limits.WRITE_BLOCK_BYTES),
        (READ_UNITS, ("GetItem",), 2 * limits.READ_BLOCK_BYTES),
    ):
        same_axis = [name for name in measured if (name in _WRITES) == (units == WRITE_UNITS)]
        requests = sum(sum(measured[name].values()) for name in same_axis)
        # One size can be told only if nothing else consumes on that axis.
        if units in series and requests and set(same_axis) <= set(operations):
            per_request = sum(series[units].values()) / requests
            size = max(_LEAST_BYTES, round(unit_bytes * per_request - unit_bytes / 2))
            yield from ((name, min(size, limits.ITEM_BYTES)) for name in same_axis)


_WRITES: Final = frozenset(
    ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems")
)
