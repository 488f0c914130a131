"""``dynamometer cloudwatch-queries TABLE``: what to ask CloudWatch for a table's traffic.

The ids of the queries say what each series is, so that ``dynamometer lab --traffic`` knows it
without being told (ICH-60).
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final

from emulator.service.throttling import AXES, ThrottlingLimit

#: Requests of an operation: ``requests_PutItem``.
REQUESTS: Final = "requests_"
#: Refused requests of an operation, and refusals of a table by the metric of their limit.
THROTTLED: Final = "throttled_"
THROTTLES: Final = "throttles_"
#: Units that a table consumed.
READ_UNITS: Final = "units_read"
WRITE_UNITS: Final = "units_write"
PERIOD_SECONDS: Final = 60
_NAMESPACE: Final = "AWS/DynamoDB"
_OPERATIONS: Final = (
    *("GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems"),
    *("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"),
)
_EPILOG: Final = """\
examples:
  dynamometer cloudwatch-queries orders > queries.json
  aws cloudwatch get-metric-data --metric-data-queries file://queries.json \\
      --start-time 2026-11-02T10:00:00Z --end-time 2026-11-02T11:00:00Z > metrics.json
  dynamometer lab shop.yaml --traffic metrics.json
"""


def queries(table: str, indexes: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Return the queries for a table and its indexes.

    >>> [query["Id"] for query in queries("orders")][:2]
    ['requests_GetItem', 'throttled_GetItem']
    """
    return [*_of_table(table), *(query for index in indexes for query in _of_index(table, index))]


def _of_table(table: str) -> Iterator[dict[str, Any]]:
    for operation in _OPERATIONS:
        dimensions = {"TableName": table, "Operation": operation}
        name = f"{REQUESTS}{operation}"
        yield _query(name, "SuccessfulRequestLatency", "SampleCount", dimensions)
        yield _query(f"{THROTTLED}{operation}", "ThrottledRequests", "Sum", dimensions)
    for operation in ("Query", "Scan"):
        dimensions = {"TableName": table, "Operation": operation}
        yield _query(f"items_{operation}", "ReturnedItemCount", "Sum", dimensions)
    yield _query(READ_UNITS, "ConsumedReadCapacityUnits", "Sum", {"TableName": table})
    yield _query(WRITE_UNITS, "ConsumedWriteCapacityUnits", "Sum", {"TableName": table})
    for axis in AXES:
        for limit in ThrottlingLimit:
            metric = limit.metric(axis)
            yield _query(f"{THROTTLES}{metric}", metric, "Sum", {"TableName": table})


def _of_index(table: str, index: str) -> Iterator[dict[str, Any]]:
    dimensions = {"TableName": table, "GlobalSecondaryIndexName": index}
    suffix = re.sub(r"\W", "_", index)
    for axis in ("Read", "Write"):
        name = f"index_{axis.lower()}_{suffix}"
        yield _query(name, f"Consumed{axis}CapacityUnits", "Sum", dimensions)


def _query(name: str, metric: str, statistic: str, dimensions: dict[str, str]) -> dict[str, Any]:
    return {
        "Id": name,
        "MetricStat": {
            "Metric": {
                "Namespace": _NAMESPACE,
                "MetricName": metric,
                "Dimensions": [{"Name": key, "Value": text} for key, text in dimensions.items()],
            },
            "Period": PERIOD_SECONDS,
            "Stat": statistic,
        },
    }


def add_cloudwatch_queries_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``dynamometer cloudwatch-queries``."""
    parser.description = "Print the queries of get-metric-data for a table's traffic."
    parser.epilog = _EPILOG
    parser.add_argument("table", metavar="TABLE", help="the table's name")
    parser.add_argument(
        "--index",
        action="append",
        default=[],
        metavar="NAME",
        help="a global index; may be repeated",
    )


def run_cloudwatch_queries(arguments: argparse.Namespace) -> int:
    """Print the queries."""
    sys.stdout.write(json.dumps(queries(arguments.table, arguments.index), indent=1) + "\n")
    return 0
