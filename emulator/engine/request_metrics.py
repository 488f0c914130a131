"""The metrics of each request beside the units (CAP-801, CAP-803)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from emulator.capacity import Metrics, MetricSeries, Receipt
from emulator.service.catalogue import Kind, names_of
from emulator.service.throttling import THROTTLE_CODES

_SYSTEM_ERRORS: Final = frozenset(("InternalServerError", "ServiceUnavailable"))
_PAGES: Final = names_of(Kind.PAGE)
_BATCHES: Final = names_of(Kind.BATCH)
#: The series of one table and operation: its requests, and the items that pages return.
_Served: TypeAlias = tuple[MetricSeries, MetricSeries | None]


class RequestMetrics:
    """Counts requests by table and operation."""

    __slots__ = ("_metrics", "_served", "_throttles")

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        #: By operation and table.
        self._served: dict[tuple[str, str], _Served] = {}
        self._throttles: dict[tuple[str, str], MetricSeries] = {}

    def success(self, operation: str, receipts: Sequence[tuple[str, Receipt]]) -> None:
        """Count an answered request, and what would have refused it."""
        seen = None
        was_refused = False
        for table, receipt in receipts:
            if table != seen:
                seen = table
                served, returned = self._served.get((operation, table)) or self._watch(
                    operation, table
                )
                served.add(0.0)
            if returned is not None:
                returned.add(receipt.items_returned)
            if receipt.reasons:
                was_refused = True
        if was_refused:
            self._observed_refusal(operation, receipts)

    def _watch(self, operation: str, table: str) -> _Served:
        """Begin to count the requests of a table and operation, and what pages return."""
        series = self._metrics.series
        served = series("SuccessfulRequestLatency", table=table, operation=operation)
        returned = None
        if operation in _PAGES:
            returned = series("ReturnedItemCount", table=table, operation=operation)
        self._served[operation, table] = served, returned
        return served, returned

    def _observed_refusal(self, operation: str, receipts: Sequence[tuple[str, Receipt]]) -> None:
        """Count a request that production would have refused; a batch only if wholly."""
        if operation in _BATCHES and not all(receipt.reasons for _, receipt in receipts):
            return
        refused = {table: None for table, receipt in receipts if receipt.reasons}
        self._throttled(operation, refused)

    def failure(self, operation: str, tables: Iterable[str], error: str) -> None:
        """Count a refused request by the code of its error."""
        named = dict.fromkeys(tables)
        if error in THROTTLE_CODES:
            self._throttled(operation, named)
        elif error in _SYSTEM_ERRORS:
            for table in named:
                self._metrics.add("SystemErrors", table=table, operation=operation)
        elif error == "ConditionalCheckFailedException":
            for table in named:
                self._metrics.add("ConditionalCheckFailedRequests", table=table)
        elif error == "TransactionConflictException":
            for table in named:
                self._metrics.add("TransactionConflict", table=table)
        else:
            self._metrics.add("UserErrors")

    def _throttled(self, operation: str, tables: Iterable[str]) -> None:
        for table in tables:
            throttles = self._throttles.get((operation, table))
            if throttles is None:
                throttles = self._metrics.series(
                    "ThrottledRequests", table=table, operation=operation
                )
                self._throttles[operation, table] = throttles
            throttles.add()
