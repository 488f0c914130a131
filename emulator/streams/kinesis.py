"""A table's Kinesis destinations: records as Kinesis Data Streams for DynamoDB has them (EVS-32).

Kinesis itself is the user's: a callable, or a client with ``put_record``. Records of a batch come
in no order, as the service may send them; a batch that fails comes again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final
from uuid import UUID

from emulator.engine import Account, Stream, StreamRecord
from emulator.engine.option_values import Destination
from emulator.engine.shards import Shard
from emulator.model.wire import dump_item
from emulator.observe import table_of
from emulator.operations.streams import dump_record
from emulator.service.errors import EmulatorError
from emulator.streams.records import IDENTITY

#: Assumed: that of a destination for which none was set.
DEFAULT_PRECISION: Final = "MILLISECOND"

NOT_A_STREAM: Final = (
    "kinesis is a callable of a record, or a client with put_record, not {value!r}"
)
NO_DESTINATION: Final = (
    "table {table!r} has no active Kinesis destination: call EnableKinesisStreamingDestination"
)


def kinesis_record(
    account: Account, stream: Stream, shard: Shard, record: StreamRecord
) -> dict[str, Any]:
    """Return a record as Kinesis gets it, its time in microseconds; it has every image."""
    dumped = dump_record(account, stream, shard, record)
    change: dict[str, Any] = {
        "ApproximateCreationDateTime": record.created_ns // 1000,
        "Keys": dumped["dynamodb"]["Keys"],
    }
    size_bytes = record.keys.size_bytes
    for name, image in (("NewImage", record.new), ("OldImage", record.old)):
        if image is not None:
            change[name] = dump_item(image.attributes)
            size_bytes += image.size_bytes
    return {
        "awsRegion": account.region,
        "eventID": str(UUID(dumped["eventID"])),
        "eventName": record.event_name,
        "userIdentity": dict(IDENTITY) if record.by_service else None,
        "recordFormat": "application/json",
        "tableName": stream.table_name,
        "dynamodb": change | {"SizeBytes": size_bytes},
        "eventSource": "aws:dynamodb",
    }


class KinesisWriter:
    """A handler that puts records into the active destinations of a table.

    Args:
        account_of: Returns the account that the table is in.
        table: The table's name.
        kinesis: A callable of a record, or a client with ``put_record``.
        seed: Of the order in which the records of a batch are sent.
    """

    def __init__(
        self, account_of: Callable[[], Account], table: str, kinesis: Any, seed: int
    ) -> None:
        if not callable(getattr(kinesis, "put_record", kinesis)):
            raise TypeError(NOT_A_STREAM.format(value=kinesis))
        self._account_of = account_of
        self._table = table
        self._kinesis = kinesis
        self._order = Random(seed)
        if not self._destinations():
            raise EmulatorError(NO_DESTINATION.format(table=table))

    def __call__(self, event: Mapping[str, Any], context: object) -> None:  # noqa: ARG002
        """Send the records of a batch."""
        records = list(event["Records"])
        self._order.shuffle(records)
        for arn, destination in self._destinations().items():
            for record in records:
                self._put(arn, _with_precision(record, destination.precision))

    def _destinations(self) -> dict[str, Destination]:
        known = table_of(self._account_of(), self._table).options.destinations
        return {arn: destination for arn, destination in known.items() if destination.is_active}

    def _put(self, arn: str, record: dict[str, Any]) -> None:
        if not hasattr(self._kinesis, "put_record"):
            self._kinesis(record)
            return
        key = json.dumps(record["dynamodb"]["Keys"], sort_keys=True)
        data = json.dumps(record).encode()
        self._kinesis.put_record(StreamARN=arn, Data=data, PartitionKey=key[:256])


def _with_precision(record: Mapping[str, Any], precision: str | None) -> dict[str, Any]:
    """Return a record with its time as a destination wants it."""
    named = precision or DEFAULT_PRECISION
    change = dict(record["dynamodb"])
    if named == DEFAULT_PRECISION:
        change["ApproximateCreationDateTime"] //= 1000
    change["ApproximateCreationDateTimePrecision"] = named
    return {**record, "dynamodb": change}
