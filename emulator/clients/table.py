"""A table of the shape of boto3's ``Table``, on an emulator's ``call``, without boto3.

Values are natural Python values, conditions are expression strings or objects (``Key``,
``Attr``, boto3's or ours), and numbers come back as ``Decimal``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, Self

from emulator.clients import conversion
from emulator.clients.client import Client, invoke, snake_case
from emulator.clients.conditions import PlaceholderNames, is_condition
from emulator.clients.exceptions import response_metadata
from emulator.clock import Clock
from emulator.protocol import Call
from emulator.service import limits

#: The members of a table's description that are attributes of a Table.
#: Source: shape TableDescription of the service model, as boto3's resource model has it.
DESCRIPTION_MEMBERS: Final = (
    "ArchivalSummary",
    "AttributeDefinitions",
    "BillingModeSummary",
    "CreationDateTime",
    "DeletionProtectionEnabled",
    "DisassociationProtectionEnabled",
    "GlobalSecondaryIndexes",
    "GlobalTableSettingsReplicationMode",
    "GlobalTableVersion",
    "GlobalTableWitnesses",
    "ItemCount",
    "KeySchema",
    "LatestStreamArn",
    "LatestStreamLabel",
    "LocalSecondaryIndexes",
    "MultiRegionConsistency",
    "OnDemandThroughput",
    "ProvisionedThroughput",
    "Replicas",
    "RestoreSummary",
    "SSEDescription",
    "StreamSpecification",
    "TableArn",
    "TableClassSummary",
    "TableId",
    "TableName",
    "TableSizeBytes",
    "TableStatus",
    "VectorIndexes",
    "WarmThroughput",
)
_ATTRIBUTES: Final = {snake_case(member): member for member in DESCRIPTION_MEMBERS}

NO_SUCH_ATTRIBUTE: Final = "a table has no attribute {name!r}"


class TableMeta(NamedTuple):
    """The properties of a table.

    Attributes:
        client: A client, for ``client.exceptions`` and for operations on several tables; unlike
            that of boto3's resource it takes values in wire form.
    """

    client: Client


class Table:
    """boto3's ``Table`` in shape, served by an emulator.

    >>> from emulator import Emulator
    >>> from emulator.clients import Key
    >>> emu = Emulator()
    >>> _ = emu.client().create_table(
    ...     TableName="music",
    ...     AttributeDefinitions=[{"AttributeName": "artist", "AttributeType": "S"}],
    ...     KeySchema=[{"AttributeName": "artist", "KeyType": "HASH"}],
    ...     BillingMode="PAY_PER_REQUEST",
    ... )
    >>> table = emu.table("music")
    >>> _ = table.put_item(Item={"artist": "Nina", "plays": 3})
    >>> table.query(KeyConditionExpression=Key("artist").eq("Nina"))["Items"]
    [{'artist': 'Nina', 'plays': Decimal('3')}]
    """

    def __init__(
        self,
        call: Call,
        name: str,
        *,
        region: str = "us-east-1",
        clock: Clock | None = None,
    ) -> None:
        self.name = name
        self._call = call
        self._region = region
        self._client = Client(call, region=region, clock=clock)
        self._description: conversion.Wire | None = None

    def __repr__(self) -> str:
        return f"Table(name={self.name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and (self.name, self._call) == (other.name, other._call)

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def meta(self) -> TableMeta:
        """The table's client: ``except table.meta.client.exceptions.ResourceNotFoundException``."""
        return TableMeta(self._client)

    # Items

    def put_item(self, **request: Any) -> conversion.Wire:
        """Store an item: ``put_item(Item={...})``."""
        return self._request("PutItem", request)

    def get_item(self, **request: Any) -> conversion.Wire:
        """Read an item by its key: ``get_item(Key={...})["Item"]``."""
        return self._request("GetItem", request)

    def update_item(self, **request: Any) -> conversion.Wire:
        """Change an item in place."""
        return self._request("UpdateItem", request)

    def delete_item(self, **request: Any) -> conversion.Wire:
        """Delete an item by its key."""
        return self._request("DeleteItem", request)

    def query(self, **request: Any) -> conversion.Wire:
        """Read one page of the items under a partition key."""
        return self._request("Query", request)

    def scan(self, **request: Any) -> conversion.Wire:
        """Read one page of the table."""
        return self._request("Scan", request)

    def query_all(self, **request: Any) -> Iterator[dict[str, Any]]:
        """Yield the items of every page of a query."""
        return self._items(self.query, request)

    def scan_all(self, **request: Any) -> Iterator[dict[str, Any]]:
        """Yield the items of every page of a scan."""
        return self._items(self.scan, request)

    def batch_writer(self, overwrite_by_pkeys: Sequence[str] | None = None) -> BatchWriter:
        """Return a context manager that writes in batches.

        Args:
            overwrite_by_pkeys: The key attributes; a later write to the same key then replaces
                an earlier one that waits in the same batch.
        """
        return BatchWriter(self, overwrite_by_pkeys)

    # The table itself

    def load(self) -> None:
        """Read the table's description again; the attributes are read from it."""
        response = self._invoke("DescribeTable", {})
        self._description = conversion.client_response(response)["Table"]

    reload = load

    def update(self, **request: Any) -> Table:
        """Change the table: the members of UpdateTable."""
        self._invoke("UpdateTable", request)
        return Table(self._call, self.name, region=self._region, clock=self._client._clock)

    def delete(self) -> conversion.Wire:
        """Delete the table."""
        response = self._invoke("DeleteTable", {})
        return {**conversion.client_response(response), "ResponseMetadata": response_metadata(200)}

    def wait_until_exists(self, **config: Any) -> None:
        """Wait, on the emulator's clock, until the table is ACTIVE."""
        self._client.get_waiter("table_exists").wait(TableName=self.name, **config)

    def wait_until_not_exists(self, **config: Any) -> None:
        """Wait, on the emulator's clock, until the table is gone."""
        self._client.get_waiter("table_not_exists").wait(TableName=self.name, **config)

    def __getattr__(self, name: str) -> Any:
        member = _ATTRIBUTES.get(name)
        if member is None:
            raise AttributeError(NO_SUCH_ATTRIBUTE.format(name=name))
        if member == "TableName":
            return self.name
        if self._description is None:
            self.load()
        return (self._description or {}).get(member)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_ATTRIBUTES})

    # Between the vocabularies

    def _invoke(self, operation: str, request: conversion.Wire) -> conversion.Wire:
        return invoke(self._call, operation, {"TableName": self.name, **request}, self._region)

    def _request(self, operation: str, request: conversion.Wire) -> conversion.Wire:
        response = _natural_response(self._invoke(operation, _wire_request(request)))
        response["ResponseMetadata"] = response_metadata(200)
        return response

    def _items(
        self, read: Callable[..., conversion.Wire], request: conversion.Wire
    ) -> Iterator[dict[str, Any]]:
        while True:
            page = read(**request)
            yield from page.get("Items", ())
            if "LastEvaluatedKey" not in page:
                return
            request = {**request, "ExclusiveStartKey": page["LastEvaluatedKey"]}


class BatchWriter:
    """Puts and deletes, sent in batches; what comes back unprocessed is sent again at once.

    Source: CAP-709, as boto3's batch_writer does.
    """

    def __init__(self, table: Table, overwrite_by_pkeys: Sequence[str] | None) -> None:
        self._table = table
        self._key_names = overwrite_by_pkeys
        self._waiting: list[conversion.Wire] = []

    def put_item(self, Item: Mapping[str, object]) -> None:  # noqa: N803  # the SDK's name
        """Add a put to the batch."""
        self._add({"PutRequest": {"Item": conversion.wire_item(Item)}})

    def delete_item(self, Key: Mapping[str, object]) -> None:  # noqa: N803  # the SDK's name
        """Add a delete to the batch."""
        self._add({"DeleteRequest": {"Key": conversion.wire_item(Key)}})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        while self._waiting:
            self._flush()

    def _add(self, write: conversion.Wire) -> None:
        if self._key_names:
            key = self._key_of(write)
            self._waiting = [other for other in self._waiting if self._key_of(other) != key]
        self._waiting.append(write)
        if len(self._waiting) >= limits.BATCH_WRITE_REQUESTS:
            self._flush()

    def _key_of(self, write: conversion.Wire) -> list[conversion.Wire]:
        [request] = write.values()
        [attributes] = request.values()
        return [attributes[name] for name in self._key_names or ()]

    def _flush(self) -> None:
        batch = self._waiting[: limits.BATCH_WRITE_REQUESTS]
        del self._waiting[: limits.BATCH_WRITE_REQUESTS]
        name = self._table.name
        response = invoke(
            self._table._call,
            "BatchWriteItem",
            {"RequestItems": {name: batch}},
            self._table._region,
        )
        self._waiting.extend(response.get("UnprocessedItems", {}).get(name, ()))


def _legacy_conditions(conditions: Mapping[str, conversion.Wire]) -> conversion.Wire:
    """Convert Expected, AttributeUpdates, KeyConditions, QueryFilter and ScanFilter."""
    return {name: _legacy_condition(condition) for name, condition in conditions.items()}


def _legacy_condition(condition: conversion.Wire) -> conversion.Wire:
    converted = dict(condition)
    if "Value" in condition:
        converted["Value"] = conversion.wire_value(condition["Value"])
    if "AttributeValueList" in condition:
        converted["AttributeValueList"] = [
            conversion.wire_value(value) for value in condition["AttributeValueList"]
        ]
    return converted


_REQUEST_VALUES: Final[dict[str, Callable[[Any], conversion.Wire]]] = {
    "Item": conversion.wire_item,
    "Key": conversion.wire_item,
    "ExpressionAttributeValues": conversion.wire_item,
    "ExclusiveStartKey": conversion.wire_item,
    "Expected": _legacy_conditions,
    "AttributeUpdates": _legacy_conditions,
    "KeyConditions": _legacy_conditions,
    "QueryFilter": _legacy_conditions,
    "ScanFilter": _legacy_conditions,
}
_EXPRESSIONS: Final = ("ConditionExpression", "FilterExpression", "KeyConditionExpression")


def _wire_request(request: conversion.Wire) -> conversion.Wire:
    converted = dict(request)
    for name in _EXPRESSIONS:
        if is_condition(request.get(name)):
            _render_conditions(converted)
            break
    for name, member in converted.items():
        convert = _REQUEST_VALUES.get(name)
        if convert is not None:
            converted[name] = convert(member)
    return converted


def _render_conditions(request: conversion.Wire) -> None:
    """Replace condition objects by expressions and what their placeholders stand for."""
    names = request.get("ExpressionAttributeNames", {})
    values = request.get("ExpressionAttributeValues", {})
    placeholders = PlaceholderNames(taken={*names, *values})
    for member in _EXPRESSIONS:
        if is_condition(request.get(member)):
            request[member] = placeholders.render(
                request[member], key_condition=member == "KeyConditionExpression"
            )
    request["ExpressionAttributeNames"] = {**names, **placeholders.names}
    if placeholders.values:
        request["ExpressionAttributeValues"] = {**values, **placeholders.values}


_RESPONSE_VALUES: Final[dict[str, Callable[[Any], Any]]] = {
    "Item": conversion.natural_item,
    "Attributes": conversion.natural_item,
    "Items": lambda items: [conversion.natural_item(item) for item in items],
    "LastEvaluatedKey": conversion.natural_item,
    "ItemCollectionMetrics": lambda metrics: {
        **metrics,
        "ItemCollectionKey": conversion.natural_item(metrics.get("ItemCollectionKey", {})),
    },
}


def _natural_response(response: conversion.Wire) -> conversion.Wire:
    return {
        name: _RESPONSE_VALUES[name](member) if name in _RESPONSE_VALUES else member
        for name, member in response.items()
    }
