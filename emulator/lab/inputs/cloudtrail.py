"""CloudTrail data events as a trace (ICH-70)."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from emulator.designs.documents import check_depth
from emulator.files import open_file
from emulator.lab.inputs.patterns import OPERATIONS
from emulator.service.errors import DocumentError

_SOURCE: Final = "dynamodb.amazonaws.com"
#: Within this time a success shows that a refused attempt was tried again.
RETRY_SECONDS: Final = 30
_THROTTLES: Final = frozenset(
    {
        *("ProvisionedThroughputExceededException", "ThrottlingException"),
        *("RequestLimitExceeded", "TransactionCanceledException"),
    }
)
_STATEMENTS: Final = {
    "SELECT": "Query",
    "INSERT": "PutItem",
    "UPDATE": "UpdateItem",
    "DELETE": "DeleteItem",
}
_EQUALITY: Final = re.compile(r"\"?([\w.-]+)\"?\s*=\s*'([^']*)'")


def is_trail(document: Any) -> bool:
    """Return whether a document is a file of CloudTrail."""
    records = document.get("Records") if isinstance(document, Mapping) else None
    return isinstance(records, list) and any(
        isinstance(record, Mapping) and "eventSource" in record for record in records
    )


def read_trail(path: Path) -> Any:
    """Return the document of a trail file, compressed or not.

    Raises:
        DocumentError: It cannot be read.
    """
    try:
        with open_file(path) as file:
            content = file.read()
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
        text = content.decode("utf-8-sig")
        check_depth(text, str(path))
        return json.loads(text)
    except (OSError, EOFError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not JSON, nor compressed JSON"
        raise DocumentError(f"{path}: cannot be read: {reason}") from error


def trace_lines(document: Mapping[str, Any], source: str) -> list[str]:
    """Return the requests of a trail as lines of a trace.

    Event times are whole seconds; requests of one second are spread over it evenly.

    Raises:
        DocumentError: There is none of DynamoDB.
    """
    events = sorted(_events(document, source), key=lambda event: event["time"])
    kept = [event for event in events if not _was_retried(event, events)]
    if not kept:
        raise DocumentError(f"{source}: no data event of DynamoDB is in it")
    lines = []
    for _, group in groupby(kept, key=lambda event: event["time"]):
        same_second = list(group)
        for number, event in enumerate(same_second):
            line = {
                "time": event["time"] + number / len(same_second),
                "operation": event["operation"],
                "fields": event["fields"],
            }
            lines.append(json.dumps(line))
    return lines


def _events(document: Mapping[str, Any], source: str) -> Iterator[dict[str, Any]]:
    for number, record in enumerate(document["Records"]):
        if not isinstance(record, Mapping) or record.get("eventSource") != _SOURCE:
            continue
        if record.get("eventCategory", "Data") != "Data":
            continue
        parameters = record.get("requestParameters") or {}
        operation = str(record.get("eventName"))
        fields = _fields(parameters)
        if operation == "ExecuteStatement":
            statement = str(parameters.get("statement"))
            operation = _STATEMENTS.get(statement.split(maxsplit=1)[0].upper(), "")
            fields = dict(_EQUALITY.findall(statement))
        if operation not in OPERATIONS:
            continue
        try:
            moment = datetime.fromisoformat(str(record["eventTime"]).replace("Z", "+00:00"))
        except (KeyError, ValueError) as error:
            raise DocumentError(
                f"{source}: Records[{number}].eventTime: expected a time"
            ) from error
        yield {
            "time": moment.timestamp(),
            "operation": operation,
            "fields": fields,
            "throttled": record.get("errorCode") in _THROTTLES,
        }


def _fields(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return the key of a request, or of its first item; member names vary in case."""
    members = {str(name).lower(): value for name, value in parameters.items()}
    key = members.get("key")
    items = members.get("requestitems") or members.get("transactitems")
    if not isinstance(key, Mapping) and isinstance(items, list) and items:
        inner = {str(name).lower(): value for name, value in dict(items[0]).items()}
        key = inner.get("key")
    return (
        {str(name): str(value) for name, value in key.items()} if isinstance(key, Mapping) else {}
    )


def _was_retried(event: Mapping[str, Any], events: list[dict[str, Any]]) -> bool:
    """Return whether a refused attempt succeeded later, and so is no request of its own."""
    return event["throttled"] and any(
        other["fields"] == event["fields"]
        and other["operation"] == event["operation"]
        and not other["throttled"]
        and 0 <= other["time"] - event["time"] <= RETRY_SECONDS
        for other in events
    )
