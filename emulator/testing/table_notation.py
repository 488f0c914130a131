"""Tables in few words: ``("orders", "customer", "created:N")`` becomes a CreateTable request.

A key attribute is its name, with its type after a colon if it is not a string. A key part of
several attributes (only in a global index) is a tuple of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

KeyPart: TypeAlias = str | tuple[str, ...]
IndexKey: TypeAlias = str | tuple[KeyPart, KeyPart]

TYPES: Final = ("S", "N", "B")
BAD_TYPE: Final = "{notation!r}: the type of a key attribute is one of S, N, B, not {type!r}"
UNKNOWN: Final = (
    "there is no argument {name!r}: there are indexes, local_indexes, provisioned and the members "
    "of CreateTable, such as StreamSpecification"
)
TWO_TYPES: Final = "{name!r} is declared as {one} and as {other}"


def create_request(
    name: str,
    partition: str = "pk",
    sort: str | None = None,
    *,
    indexes: Mapping[str, IndexKey | Mapping[str, Any]] | None = None,
    local_indexes: Mapping[str, str | Mapping[str, Any]] | None = None,
    provisioned: tuple[int, int] | None = None,
    **members: Any,
) -> dict[str, Any]:
    """Return the CreateTable request of a table.

    Args:
        name: The table's name.
        partition: Its partition key.
        sort: Its sort key, or None.
        indexes: Global indexes by name: a partition key, or a pair of partition and sort key;
            or an index in wire form, for projections. All attributes are projected.
        local_indexes: Local indexes by name: a sort key, or an index in wire form.
        provisioned: Read and write units of the table and of every global index; on demand
            without.
        members: Further members of the request, such as ``StreamSpecification``.

    Raises:
        TypeError: there is no such member.
        ValueError: an attribute has no known type, or two.

    >>> request = create_request("orders", "customer", "created:N", indexes={"all": "kind"})
    >>> request["AttributeDefinitions"]
    [{'AttributeName': 'customer', 'AttributeType': 'S'},
     {'AttributeName': 'created', 'AttributeType': 'N'},
     {'AttributeName': 'kind', 'AttributeType': 'S'}]
    """
    _judge(members)
    types: dict[str, str] = {}
    request: dict[str, Any] = {
        "TableName": name,
        "KeySchema": list(_key_schema(types, partition, sort)),
        "BillingMode": "PAY_PER_REQUEST" if provisioned is None else "PROVISIONED",
    }
    if indexes:
        request["GlobalSecondaryIndexes"] = [
            _index(types, index, key, None) for index, key in indexes.items()
        ]
    if local_indexes:
        request["LocalSecondaryIndexes"] = [
            _index(types, index, key, partition) for index, key in local_indexes.items()
        ]
    if provisioned is not None:
        read, write = provisioned
        for target in (request, *request.get("GlobalSecondaryIndexes", ())):
            throughput = {"ReadCapacityUnits": read, "WriteCapacityUnits": write}
            target["ProvisionedThroughput"] = throughput
    request["AttributeDefinitions"] = [
        {"AttributeName": attribute, "AttributeType": kind} for attribute, kind in types.items()
    ]
    return request | members


def _judge(members: Mapping[str, Any]) -> None:
    from emulator.api import request_members  # only for those who say more than keys

    for name in members:
        if name not in request_members("CreateTable"):
            raise TypeError(UNKNOWN.format(name=name))


def _index(types: dict[str, str], name: str, key: Any, table_partition: str | None) -> Any:
    """Return an index in wire form; a local one has the table's partition key."""
    if isinstance(key, Mapping):
        return {"IndexName": name, **key}
    if table_partition is not None:
        parts: tuple[KeyPart, KeyPart | None] = (table_partition, key)
    else:
        parts = (key, None) if isinstance(key, str) else key
    return {
        "IndexName": name,
        "KeySchema": list(_key_schema(types, *parts)),
        "Projection": {"ProjectionType": "ALL"},
    }


def _key_schema(
    types: dict[str, str], partition: KeyPart, sort: KeyPart | None
) -> Iterator[dict[str, str]]:
    """Yield a key schema, and note the types of its attributes."""
    for attributes, kind in ((partition, "HASH"), (sort, "RANGE")):
        for notation in (attributes,) if isinstance(attributes, str) else attributes or ():
            name, declared = _attribute(notation)
            known = types.setdefault(name, declared or "S")
            if declared not in (None, known):
                raise ValueError(TWO_TYPES.format(name=name, one=known, other=declared))
            yield {"AttributeName": name, "KeyType": kind}


def _attribute(notation: str) -> tuple[str, str | None]:
    name, colon, kind = notation.rpartition(":")
    if not colon:
        return notation, None
    if kind not in TYPES:
        raise ValueError(BAD_TYPE.format(notation=notation, type=kind))
    return name, kind
