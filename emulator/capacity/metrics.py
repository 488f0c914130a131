"""The CloudWatch metrics of an emulator, minute by minute.

Names and dimensions are CloudWatch's. The running minute is part of every answer, so a test need
not wait for its end.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from emulator.capacity.refusal import Reason
from emulator.service.throttling import AXES, ThrottlingLimit

_MINUTE_SECONDS: Final = 60
#: Source: CloudWatch keeps one-minute datapoints for 15 days.
RETENTION_SECONDS: Final = 15 * 24 * 3600
#: Expired points that are dropped at once: a busy day's.
_TRIM_POINTS: Final = 24 * 60
#: Source: CAP-801, the interval of settings such as provisioned capacity.
GAUGE_SECONDS: Final = 300

#: Source: CAP-801. What is in force rather than what happened.
GAUGES: Final = frozenset(
    f"{name}{suffix}"
    for name, suffix in (
        *((f"Provisioned{axis}", "CapacityUnits") for axis in AXES),
        *((f"OnDemandMax{axis}", "RequestUnits") for axis in AXES),
        *((f"AccountMax{level}{axis}", "s") for level in ("", "TableLevel") for axis in AXES),
        *((f"AccountProvisioned{axis}", "CapacityUtilization") for axis in AXES),
        *((f"MaxProvisionedTable{axis}", "CapacityUtilization") for axis in AXES),
        ("OnlineIndexPercentage", "Progress"),
    )
)

#: Source: CAP-801, CAP-802. What happened.
COUNTERS: Final = frozenset(
    (
        *(f"Consumed{axis}CapacityUnits" for axis in AXES),
        *(f"{axis}ThrottleEvents" for axis in AXES),
        *(limit.metric(axis) for axis in AXES for limit in ThrottlingLimit),
        "ThrottledRequests",
        "ConditionalCheckFailedRequests",
        "TransactionConflict",
        "SuccessfulRequestLatency",
        "ReturnedItemCount",
        "ReturnedBytes",
        "ReturnedRecordsCount",
        "TimeToLiveDeletedItemCount",
        "OnlineIndexConsumedWriteCapacity",
        # Not the service's: what waits for a global index at the end of a minute (CAP2-4.5).
        "IndexBacklogUnits",
        "IndexBacklogSeconds",
        "OnlineIndexThrottleEvents",
        "UserErrors",
        "SystemErrors",
        "ConsumedChangeDataCaptureUnits",
        "ReplicationLatency",
        "PendingReplicationCount",
        # Not the service's: what is paid for besides units (CAP-1004).
        "BilledExportBytes",
        "BilledImportBytes",
        "BilledRestoreBytes",
        "BilledTransferBytes",
        "BilledBulkPutBytes",
        "BilledBulkPutVectorBytes",
        "BilledStreamReads",
        "VectorSearchRequestBytes",  # Source: VIX-66
        "VectorWriteRequestBytes",
    )
)

STATISTICS: Final = ("Sum", "SampleCount", "Average", "Minimum", "Maximum")


@dataclass(frozen=True, slots=True)
class Dimensions:
    """The dimensions that tell the series of one metric apart."""

    table: str | None = None
    index: str | None = None
    operation: str | None = None
    stream: str | None = None


#: Table, index, operation, stream: the hot form of Dimensions.
_Key = tuple[str | None, str | None, str | None, str | None]


class _Point(NamedTuple):
    """The samples of one minute, or of several series in that minute."""

    total: float
    samples: float
    minimum: float
    maximum: float

    def joined(self, other: _Point) -> _Point:
        return _Point(
            self.total + other.total,
            self.samples + other.samples,
            min(self.minimum, other.minimum),
            max(self.maximum, other.maximum),
        )

    def statistic(self, stat: str) -> float:
        if stat == "Average":
            return self.total / self.samples
        return self[("Sum", "SampleCount", "Minimum", "Maximum").index(stat)]


class MetricSeries:
    """One metric with one set of dimensions; the handle that the hot path adds to.

    >>> series = Metrics().series("ReadThrottleEvents", table="t")
    >>> series.add()
    >>> series.add(2.0)
    >>> series.total, series.count
    (3.0, 2)
    """

    __slots__ = ("_columns", "_starts", "_touched", "count", "maximum", "minimum", "total")

    def __init__(self, touched: list[MetricSeries]) -> None:
        self._touched = touched
        self._starts = array("q")
        self._columns = tuple(array("d") for _ in _Point._fields)
        self.count = 0
        self.total = self.minimum = self.maximum = 0.0

    def add(self, value: float = 1.0) -> None:
        """Add a sample to the running minute."""
        if not self.count:
            self._touched.append(self)
            self.minimum = self.maximum = value
        elif value > self.maximum:
            self.maximum = value
        elif value < self.minimum:
            self.minimum = value
        self.count += 1
        self.total += value

    def _fold(self, start_s: int) -> None:
        """End the running minute, which began at ``start_s``, and forget what is too old."""
        self._starts.append(start_s)
        for column, value in zip(self._columns, self._running(), strict=True):
            column.append(value)
        self.count = 0
        self.total = 0.0
        expired = bisect_left(self._starts, start_s + _MINUTE_SECONDS - RETENTION_SECONDS)
        if expired >= _TRIM_POINTS:
            del self._starts[:expired]
            for column in self._columns:
                del column[:expired]

    def _running(self) -> _Point:
        return _Point(self.total, self.count, self.minimum, self.maximum)

    def _points(self, start_s: float, end_s: float) -> Iterator[tuple[int, _Point]]:
        for number in range(bisect_left(self._starts, start_s), bisect_left(self._starts, end_s)):
            yield self._starts[number], _Point(*(column[number] for column in self._columns))


class Metrics:
    """Everything that was counted, queryable by CloudWatch's names and dimensions.

    ``table=None`` adds up all tables and ``operation=None`` all operations; ``index=None`` is
    the table's own series, which never includes its indexes (CAP-801).

    >>> metrics = Metrics(now_s=60)
    >>> metrics.add("ConsumedWriteCapacityUnits", 2.0, table="orders")
    >>> metrics.add("ConsumedWriteCapacityUnits", 1.0, table="orders")
    >>> metrics.roll(120)
    >>> metrics.get("ConsumedWriteCapacityUnits", table="orders")
    [(60, 3.0)]
    >>> metrics.get("ConsumedWriteCapacityUnits", table="orders", stat="Maximum")
    [(60, 2.0)]
    >>> metrics.sum("ConsumedWriteCapacityUnits")
    3.0
    """

    def __init__(self, now_s: float = 0) -> None:
        self._minute_s = _floor(now_s, _MINUTE_SECONDS)
        self._series: dict[str, dict[_Key, MetricSeries]] = {}
        self._gauges: dict[str, dict[_Key, list[tuple[int, float | None]]]] = {}
        self._touched: list[MetricSeries] = []
        self._throttles: dict[tuple[Reason, ...], list[MetricSeries]] = {}

    def names(self) -> list[str]:
        """Return the metrics that have data.

        >>> metrics = Metrics()
        >>> metrics.add("UserErrors")
        >>> metrics.names()
        ['UserErrors']
        """
        return sorted(self._series.keys() | self._gauges.keys())

    def dimensions(self, metric: str) -> list[Dimensions]:
        """Return the dimensions with which a metric has data.

        >>> metrics = Metrics()
        >>> metrics.add("ThrottledRequests", table="t", operation="PutItem")
        >>> metrics.dimensions("ThrottledRequests")
        [Dimensions(table='t', index=None, operation='PutItem', stream=None)]
        """
        _is_known(metric)
        keys = (*self._series.get(metric, ()), *self._gauges.get(metric, ()))
        return [Dimensions(*key) for key in keys]

    def series(
        self,
        metric: str,
        *,
        table: str | None = None,
        index: str | None = None,
        operation: str | None = None,
        stream: str | None = None,
    ) -> MetricSeries:
        """Return the handle of one series, to add to without a look-up."""
        family = self._series.get(metric)
        if family is None:
            _is_known(metric)
            family = self._series[metric] = {}
        key = (table, index, operation, stream)
        series = family.get(key)
        if series is None:
            series = family[key] = MetricSeries(self._touched)
        return series

    def add(
        self,
        metric: str,
        value: float = 1.0,
        *,
        table: str | None = None,
        index: str | None = None,
        operation: str | None = None,
        stream: str | None = None,
    ) -> None:
        """Add a sample to the running minute."""
        self.series(metric, table=table, index=index, operation=operation, stream=stream).add(value)

    def set(
        self,
        metric: str,
        value: float | None,
        now_s: float,
        *,
        table: str | None = None,
        index: str | None = None,
    ) -> None:
        """Note a setting that is in force from now on; None ends it, if there was one.

        >>> metrics = Metrics()
        >>> metrics.set("ProvisionedReadCapacityUnits", 10, 0, table="t")
        >>> metrics.roll(600)
        >>> metrics.get("ProvisionedReadCapacityUnits", table="t")
        [(0, 10), (300, 10), (600, 10)]
        """
        _is_known(metric)
        key = (table, index, None, None)
        if value is None and key not in self._gauges.get(metric, ()):
            return
        changes = self._gauges.setdefault(metric, {}).setdefault(key, [])
        period_s = _floor(now_s, GAUGE_SECONDS)
        if changes and changes[-1][0] == period_s:
            changes.pop()
        changes.append((period_s, value))
        while len(changes) > 1 and changes[1][0] <= period_s - RETENTION_SECONDS:
            del changes[0]

    def count_throttles(self, reasons: Sequence[Reason]) -> None:
        """Count one refused item operation from its reasons.

        Source: CAP-802, CAP-803. Assumed: only resources whose limit was exceeded count.

        >>> metrics = Metrics()
        >>> arn = "arn:aws:dynamodb:us-east-1:0:table/t/index/i"
        >>> metrics.count_throttles([Reason("IndexWriteKeyRangeThroughputExceeded", arn)])
        >>> metrics.names()
        ['WriteKeyRangeThroughputThrottleEvents', 'WriteThrottleEvents']
        """
        key = tuple(reasons)
        series = self._throttles.get(key)
        if series is None:
            series = self._throttles[key] = self._throttle_series(key)
        for counted in series:
            counted.add(1.0)

    def _throttle_series(self, reasons: Sequence[Reason]) -> list[MetricSeries]:
        """Return the series that count a refusal: every limit, and each resource once."""
        series = []
        events: dict[tuple[str, str, str | None], None] = {}
        for reason in reasons:
            table, index = _table_and_index(reason.resource)
            _, axis, limit = reason.parts
            series.append(self.series(limit.metric(axis), table=table, index=index))
            events[f"{axis}ThrottleEvents", table, index] = None
        return series + [
            self.series(metric, table=table, index=index) for metric, table, index in events
        ]

    def roll(self, now_s: float) -> None:
        """Make the minute that holds ``now_s`` the running one; the former one is closed."""
        minute_s = _floor(now_s, _MINUTE_SECONDS)
        if minute_s > self._minute_s:
            for series in self._touched:
                series._fold(self._minute_s)
            self._touched.clear()
            self._minute_s = minute_s

    def get(
        self,
        metric: str,
        table: str | None = None,
        index: str | None = None,
        operation: str | None = None,
        stream: str | None = None,
        start: float | None = None,
        end: float | None = None,
        stat: str = "Sum",
    ) -> list[tuple[int, float]]:
        """Return the datapoints from ``start`` until before ``end``, earliest first.

        Args:
            metric: A name of CloudWatch's namespace AWS/DynamoDB.
            table: One table, or all together.
            index: One global index of the table, or the table itself.
            operation: One operation, or all together.
            stream: One stream label, or all together.
            start: Epoch seconds.
            end: Epoch seconds.
            stat: ``Sum``, ``SampleCount``, ``Average``, ``Minimum`` or ``Maximum``.

        Returns:
            Pairs of a minute's beginning, in epoch seconds, and its value; minutes without
            samples are left out.

        Raises:
            ValueError: The metric or the statistic does not exist.
        """
        _is_known(metric)
        if stat not in STATISTICS:
            raise ValueError(f"stat must be one of {', '.join(STATISTICS)}, not {stat!r}")
        wanted = (table, index, operation, stream)
        oldest_s = self._minute_s + _MINUTE_SECONDS - RETENTION_SECONDS
        start_s = max(oldest_s, oldest_s if start is None else start)
        end_s = self._minute_s + _MINUTE_SECONDS if end is None else end
        points: dict[int, _Point] = {}
        for second, point in self._matching(metric, wanted, start_s, end_s):
            points[second] = points[second].joined(point) if second in points else point
        return [(second, points[second].statistic(stat)) for second in sorted(points)]

    def sum(
        self,
        metric: str,
        table: str | None = None,
        index: str | None = None,
        operation: str | None = None,
        stream: str | None = None,
        start: float | None = None,
        end: float | None = None,
    ) -> float:
        """Return the sum over all datapoints that ``get`` would return.

        >>> Metrics().sum("UserErrors")
        0.0
        """
        points = self.get(metric, table, index, operation, stream, start, end)
        return float(sum(value for _, value in points))

    def _matching(
        self, metric: str, wanted: _Key, start_s: float, end_s: float
    ) -> Iterator[tuple[int, _Point]]:
        for key, series in self._series.get(metric, {}).items():
            if _matches(key, wanted):
                yield from series._points(start_s, end_s)
                if series.count and start_s <= self._minute_s < end_s:
                    yield self._minute_s, series._running()
        for key, changes in self._gauges.get(metric, {}).items():
            if _matches(key, wanted):
                until_s = min(end_s, self._minute_s + 1)
                yield from _gauge_points(changes, _floor(start_s, GAUGE_SECONDS), until_s)

    def check(self) -> None:
        """Assert the invariants."""
        for family in self._series.values():
            for series in family.values():
                starts = list(series._starts)
                assert starts == sorted(set(starts)), starts
                assert not starts or starts[-1] < self._minute_s, starts
                assert all(len(column) == len(starts) for column in series._columns)
                assert (series.count > 0) == (series in self._touched)


def _gauge_points(
    changes: Iterable[tuple[int, float | None]], start_s: int, end_s: float
) -> Iterator[tuple[int, _Point]]:
    """Yield a point for every five minutes in which the setting was in force."""
    value: float | None = None
    second = start_s
    for changed_s, following in (*changes, (None, None)):
        stop_s = end_s if changed_s is None else min(changed_s, end_s)
        while value is not None and second < stop_s:
            yield second, _Point(value, 1, value, value)
            second += GAUGE_SECONDS
        second = max(second, start_s if changed_s is None else changed_s)
        value = following


def _matches(key: _Key, wanted: _Key) -> bool:
    table, index, operation, stream = wanted
    return (
        key[1] == index
        and table in (None, key[0])
        and operation in (None, key[2])
        and stream in (None, key[3])
    )


def _is_known(metric: str) -> None:
    """Refuse a name that CloudWatch does not have: a typing error must not read as zero."""
    if metric in COUNTERS or metric in GAUGES:
        return
    import difflib  # only a mistake needs it

    near = difflib.get_close_matches(metric, COUNTERS | GAUGES, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise ValueError(f"there is no metric {metric!r}{hint}")


def _table_and_index(arn: str) -> tuple[str, str | None]:
    """Return table and index name of an ARN (CAP-704)."""
    _, table, *index = arn.split("/")
    return table, index[1] if index else None


def _floor(seconds: float, period: int) -> int:
    return int(seconds // period) * period
