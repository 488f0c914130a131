"""Traffic of production on a workload: which reader a file belongs to, by what is in it.

Metrics of CloudWatch give the load curve, reports of Contributor Insights the popularity of
keys, CloudTrail and recordings the requests themselves, and counts by minute both.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from emulator.designs.cloudwatch_queries import READ_UNITS, WRITE_UNITS
from emulator.designs.documents import check_depth
from emulator.lab.inputs import aggregates, cloudtrail, cloudwatch, contributor_insights
from emulator.lab.inputs.documents import traffic_lines
from emulator.lab.inputs.traces import from_trace
from emulator.lab.inputs.workload import Workload
from emulator.service.errors import DocumentError

_KINDS: Final = (
    "expected metrics of CloudWatch, a report of Contributor Insights, events of CloudTrail, a "
    "trace (JSON lines), or counts by minute (CSV, Parquet)"
)
_WRITE_WEIGHT: Final = 3


def with_traffic(
    workload: Workload,
    paths: Sequence[Path],
    *,
    names: Mapping[str, str] | None = None,
    anonymous: bool = False,
) -> Workload:
    """Return a workload with the traffic that files tell, in their order.

    Args:
        workload: Everything known besides: fields, patterns, sizes.
        paths: The files.
        names: Our ids of metrics by those of the caller.
        anonymous: Give keys of reports other names.

    Raises:
        DocumentError: A file cannot be read, or does not fit the workload.
    """
    total: float | None = None
    for path in paths:
        if path.suffix in (".csv", ".parquet"):
            workload = aggregates.with_counts(workload, path)
            continue
        document = _document(path)
        if document is None:
            workload = _as_recorded(workload, path, path)
        elif cloudwatch.is_metrics(document):
            series = cloudwatch.series_of(document, names or {}, str(path))
            total = _weighed_units(series)
            workload = cloudwatch.with_load(workload, series, str(path))
        elif contributor_insights.is_report(document):
            workload = contributor_insights.with_popularity(
                workload, document, str(path), total=total, anonymous=anonymous
            )
        elif cloudtrail.is_trail(document):
            lines = cloudtrail.trace_lines(document, str(path))
            workload = _as_recorded(workload, lines, path)
        else:
            raise DocumentError(f"{path}: {_KINDS}")
    return workload


def measured_throttles(
    paths: Sequence[Path], names: Mapping[str, str] | None = None
) -> cloudwatch.MeasuredThrottles | None:
    """Return the refusals that files of metrics count; None if they count none.

    Args:
        paths: Files that ``with_traffic`` has read.
        names: Our ids of metrics by those of the caller.
    """
    measured = cloudwatch.MeasuredThrottles()
    for path in paths:
        document = None if path.suffix in (".csv", ".parquet") else _document(path)
        if document is not None and cloudwatch.is_metrics(document):
            measured = measured.joined(cloudwatch.throttles_of(document, names or {}))
    return measured if measured.refused or measured.by_limit else None


def _document(path: Path) -> Any:
    """Return a file as JSON; None if it has one document on each line."""
    if path.suffix == ".gz":
        return cloudtrail.read_trail(path)
    with traffic_lines(path) as lines:
        first = lines.readline()
        document = _value(first, path)
        if document is None:
            return _value(first + lines.read(), path)
        is_line = isinstance(document, dict) and "operation" in document and "time" in document
        return None if is_line or any(line.strip() for line in lines) else document


def _value(text: str, path: Path) -> Any:
    """Return a text as JSON, None if it is none."""
    check_depth(text, str(path))
    try:
        return json.loads(text)
    except ValueError:
        return None


def _as_recorded(workload: Workload, lines: Iterable[str] | Path, path: Path) -> Workload:
    """Return the requests of a trace, with the rest of the workload."""
    try:
        recorded = from_trace(lines, seed=workload.seed, retry=workload.retry)
    except DocumentError as error:
        raise DocumentError(str(error).replace("trace", str(path), 1)) from error
    fields = {field.name: field for field in (*workload.fields, *recorded.fields)}
    return replace(
        workload,
        fields=tuple(fields.values()),
        patterns=recorded.patterns,
        duration=recorded.duration,
        preload=(),
    )


def _weighed_units(series: Mapping[str, cloudwatch.Points]) -> float | None:
    """Return the units as Contributor Insights counts them: writes three times (ICH-65)."""
    if READ_UNITS not in series and WRITE_UNITS not in series:
        return None
    reads = sum(series.get(READ_UNITS, {}).values())
    writes = sum(series.get(WRITE_UNITS, {}).values())
    return reads + _WRITE_WEIGHT * writes
