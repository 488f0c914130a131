"""Bulk puts: records that are written one after the other, as fast as their rate allows (BLK-1).

The input is what lies in the bucket when the operation starts. Each record is written at a moment
of the clock that follows from the units before it; a later look at the account finds done
what was due. What a record means, and where reports go, a ``Worker`` knows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, TypeAlias

from emulator.capacity import Receipt
from emulator.capacity.prices import BULK_PUTS, BULK_VECTORS
from emulator.clock import NANOSECONDS
from emulator.service import limits

if TYPE_CHECKING:
    from emulator.engine.account import Account
    from emulator.engine.table import Table

Status: TypeAlias = Literal[
    "IN_PROGRESS", "COMPLETED", "COMPLETED_WITH_ERRORS", "CANCELLING", "CANCELLED", "FAILED"
]
OutputType: TypeAlias = Literal["ERROR", "CONDITION_CHECK_FAILURE"]

# Assumed: codes and texts.
TABLE_GONE: Final = ("TableNotFound", "The table was deleted before the operation was complete")
CANCELLED: Final = ("UserCancelled", "The operation was cancelled by CancelBulkOperation")


class BulkRecord(NamedTuple):
    """One record of the input.

    Attributes:
        key: The object it stands in.
        number: Which record of the object it is, from 0.
        size_bytes: Its bytes in the object, the end of the line included.
        line: The record.
        fault: Why it cannot be read, if it cannot.
    """

    key: str
    number: int
    size_bytes: int
    line: str
    fault: str | None = None


class BulkOutcome(NamedTuple):
    """The outcome of a record: its receipt, and its line in a report, if it has one."""

    receipt: Receipt | None
    output: OutputType | None = None
    report: Mapping[str, Any] | None = None


class JobFault(Exception):
    """An operation cannot go on.

    Attributes:
        code: Its FailureCode.
        message: Its FailureMessage.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Worker(Protocol):
    """A reader and writer of records."""

    def put(self, account: Account, table: Table, job: BulkPut, record: BulkRecord) -> BulkOutcome:
        """Write a record, or say why it is not written."""

    def report(self, account: Account, job: BulkPut) -> None:
        """Write the reports of an operation that ends.

        Raises:
            JobFault: they cannot be written.
        """


@dataclass(slots=True, kw_only=True)
class BulkUsage:
    """Bytes that an operation has used: whole kilobytes by write and index entry (BLK-7)."""

    table: int = 0
    lsi: dict[str, int] = field(default_factory=dict)
    gsi: dict[str, int] = field(default_factory=dict)
    vectors: dict[str, int] = field(default_factory=dict)

    def add(self, receipt: Receipt) -> None:
        """Add the bytes charged for a write."""
        self.table += _whole_bytes(receipt.table)
        for total, arms in ((self.lsi, receipt.lsi), (self.gsi, receipt.gsi)):
            for name, units in arms.items():
                total[name] = total.get(name, 0) + _whole_bytes(units)
        for name, size_bytes in receipt.vectors.items():
            self.vectors[name] = self.vectors.get(name, 0) + size_bytes

    def copy(self) -> BulkUsage:
        """Return independent usage of the same size."""
        return replace(self, lsi=dict(self.lsi), gsi=dict(self.gsi), vectors=dict(self.vectors))


def _whole_bytes(units: float) -> int:
    return int(units) * limits.WRITE_BLOCK_BYTES


@dataclass(slots=True, kw_only=True, eq=False)
class BulkPut:
    """A bulk put, from its start to its end and after.

    Attributes:
        arn: Its resource name.
        table_arn: The table that it writes to.
        table_name: The table's name.
        table_id: The id that the table must still have.
        asked: The request, by wire name, with what was added to it.
        records: The input, without what was processed before a file was loaded.
        total_bytes: Its bytes, as they lie in the bucket.
        rate: Write units a second, or None for no limit.
        started_ns: When it was accepted.
        least_ns: It does not end before this moment.
        worker: The worker that reads and writes records.
        first: How many records there were before those that it has.
        done: How many records were processed.
        processed_bytes: Their bytes.
        failed: How many of them could not be read, or were no items of the table.
        spent_units: Their write units.
        usage: The same in bytes, by table and index.
        reports: The lines reported on records, by kind.
        status: Its state.
        ended_ns: When it ended, or None.
        failure: Why it failed or was cancelled: code and message.
    """

    arn: str
    table_arn: str
    table_name: str
    table_id: str
    asked: Mapping[str, Any]
    records: Sequence[BulkRecord]
    total_bytes: int
    rate: float | None
    started_ns: int
    least_ns: int
    worker: Worker
    first: int = 0
    done: int = 0
    processed_bytes: int = 0
    failed: int = 0
    spent_units: float = 0.0
    usage: BulkUsage = field(default_factory=BulkUsage)
    reports: dict[OutputType, list[Mapping[str, Any]]] = field(default_factory=dict)
    status: Status = "IN_PROGRESS"
    ended_ns: int | None = None
    failure: tuple[str, str] | None = None

    @property
    def is_running(self) -> bool:
        """Whether there is something left to do."""
        return self.status in ("IN_PROGRESS", "CANCELLING")

    @property
    def next_ns(self) -> int:
        """When it goes on: the next record at its rate, or its end."""
        if self.status == "CANCELLING":
            return self.started_ns
        spent_ns = 0 if self.rate is None else round(self.spent_units * NANOSECONDS / self.rate)
        at_ns = self.started_ns + spent_ns
        return at_ns if self._has_more else max(at_ns, self.least_ns)

    @property
    def _has_more(self) -> bool:
        return self.done - self.first < len(self.records)

    def step(self, account: Account) -> None:
        """Process one record, or end."""
        table = account.tables.get(self.table_name)
        if table is None or table.id != self.table_id or table.deleted_at_ns is not None:
            self._end(account, "FAILED", TABLE_GONE)
        elif self.status == "CANCELLING":
            self._end(account, "CANCELLED", CANCELLED)
        elif self._has_more:
            self._process(account, table, self.records[self.done - self.first])
        else:
            self._end(account, "COMPLETED_WITH_ERRORS" if self.failed else "COMPLETED")

    def _process(self, account: Account, table: Table, record: BulkRecord) -> None:
        outcome = self.worker.put(account, table, self, record)
        self.done += 1
        self.processed_bytes += record.size_bytes
        if outcome.receipt is not None:
            self.spent_units += outcome.receipt.total
            self.usage.add(outcome.receipt)
            self._bill(account, outcome.receipt)
        if outcome.output is not None and outcome.report is not None:
            self.failed += outcome.output == "ERROR"
            self.reports.setdefault(outcome.output, []).append(outcome.report)

    def _bill(self, account: Account, receipt: Receipt) -> None:
        """Count the cost of a record (BLK-8)."""
        written_bytes = sum(map(_whole_bytes, (receipt.table, *receipt.lsi.values())))
        written_bytes += sum(map(_whole_bytes, receipt.gsi.values()))
        vector_bytes = sum(receipt.vectors.values())
        for item, size_bytes in ((BULK_PUTS, written_bytes), (BULK_VECTORS, vector_bytes)):
            if size_bytes:
                account.bill("StartBulkPutItems", self.table_name, item, size_bytes)

    def cancel(self) -> None:
        """Stop, if it runs; what was written stays (BLK-3)."""
        if self.status == "IN_PROGRESS":
            self.status = "CANCELLING"

    def fail(self, now_ns: int, code: str, message: str) -> None:
        """End before anything was done."""
        self.status, self.ended_ns, self.failure = "FAILED", now_ns, (code, message)

    def _end(
        self, account: Account, status: Status, failure: tuple[str, str] | None = None
    ) -> None:
        try:
            self.worker.report(account, self)
        except JobFault as fault:
            status, failure = "FAILED", (fault.code, fault.message)
        self.status, self.ended_ns, self.failure = status, account.now_ns, failure
        # They are not read again, and may be large.
        self.records = ()
        self.reports = {}

    def copy(self) -> BulkPut:
        """Return an independent operation in the same state."""
        reports = {output: list(listed) for output, listed in self.reports.items()}
        return replace(self, usage=self.usage.copy(), reports=reports)


def advance(account: Account, until_ns: int) -> bool:
    """Let bulk puts go on until a moment, record by record in order of time.

    Returns:
        Whether they have got there: they wait while items expire at a moment before.
    """
    archive = account.archive
    # What is done on the way asks the account for its time again.
    running, archive.running_puts = archive.running_puts, []
    try:
        while True:
            waiting = [job for job in running if job.is_running]
            job = min(waiting, key=lambda job: job.next_ns, default=None)
            if job is None or job.next_ns > until_ns:
                return True
            if not account.catch_up(job.next_ns):
                return False
            job.step(account)
    finally:
        archive.running_puts = [job for job in running if job.is_running]
