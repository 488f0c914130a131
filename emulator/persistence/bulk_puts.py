"""Bulk puts, as lines of a snapshot file (BLK-3, BLK-4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, get_args

from emulator.engine import Account
from emulator.engine.bulk_puts import BulkPut, BulkRecord, BulkUsage, Status
from emulator.operations.bulk_records import RecordWorker
from emulator.persistence.written import Moments, integer, number, text


def dump(job: BulkPut) -> dict[str, Any]:
    """Return a bulk put with the records that are left."""
    return {
        "bulk_put": job.arn,
        "table": job.table_name,
        "table_arn": job.table_arn,
        "table_id": job.table_id,
        "asked": job.asked,
        "records": job.records[job.done - job.first :],
        "total": job.total_bytes,
        "started": job.started_ns,
        "least": job.least_ns,
        "done": job.done,
        "processed": job.processed_bytes,
        "failed": job.failed,
        "spent": job.spent_units,
        "usage": asdict(job.usage),
        "reports": job.reports,
        "status": job.status,
        "ended": job.ended_ns,
        "failure": job.failure,
    }


def load(account: Account, line: Mapping[str, Any], moments: Moments) -> None:
    """Let a bulk put go on where it was when the file was written."""
    asked, usage, ended_ns = dict(line["asked"]), line["usage"], line["ended"]
    if line["status"] not in get_args(Status):
        raise ValueError("a bulk put has no such state")
    job = BulkPut(
        arn=text(line["bulk_put"]),
        table_arn=text(line["table_arn"]),
        table_name=text(line["table"]),
        table_id=text(line["table_id"]),
        asked=asked,
        records=[_load_record(record) for record in line["records"]],
        total_bytes=integer(line["total"]),
        rate=asked.get("MaxWriteRequestUnits"),
        started_ns=moments.ns(line["started"]),
        least_ns=moments.ns(line["least"]),
        worker=RecordWorker(),
        first=integer(line["done"]),
        done=integer(line["done"]),
        processed_bytes=integer(line["processed"]),
        failed=integer(line["failed"]),
        spent_units=number(line["spent"]),
        usage=BulkUsage(
            table=integer(usage["table"]),
            lsi=_load_bytes(usage["lsi"]),
            gsi=_load_bytes(usage["gsi"]),
            vectors=_load_bytes(usage["vectors"]),
        ),
        reports={output: list(listed) for output, listed in line["reports"].items()},
        status=line["status"],
        ended_ns=None if ended_ns is None else moments.ns(ended_ns),
        failure=None if line["failure"] is None else _load_failure(line["failure"]),
    )
    account.archive.begin(job)


def _load_failure(written: Sequence[Any]) -> tuple[str, str]:
    code, message = written
    return text(code), text(message)


def _load_record(written: Sequence[Any]) -> BulkRecord:
    key, row, size_bytes, line, fault = written
    fault_text = None if fault is None else text(fault)
    return BulkRecord(text(key), integer(row), integer(size_bytes), text(line), fault_text)


def _load_bytes(written: Mapping[str, Any]) -> dict[str, int]:
    return {text(name): integer(size_bytes) for name, size_bytes in written.items()}
