"""Cases of BatchWriteItem: requests with their whole answer or exact error, for every door."""

from tests.operations.cases.case import (
    CAPACITY_ENUM,
    DUPLICATES,
    KEY,
    NOT_THE_SCHEMA,
    Case,
    constraint,
    detected,
    keys,
    put,
    refused,
    wire,
)


def so_many_puts(count, table="hash"):
    """Return so many put requests."""
    return [{"PutRequest": {"Item": key}} for key in keys(count)]


def puts(*items):
    """Return put requests of a batch."""
    return [{"PutRequest": {"Item": wire(item)}} for item in items]


CASES = [
    # Which fault is reported first
    Case(
        "ERR-BWRITE-1 enumerations before tables",
        "BatchWriteItem",
        {
            "RequestItems": {"none": [{"PutRequest": {"Item": KEY}}]},
            "ReturnConsumedCapacity": "X",
        },
        error=refused(detected(constraint("'X'", "returnConsumedCapacity", CAPACITY_ENUM))),
    ),
    # Keys (KV-*)
    Case(
        "KV-6, BWI-6 in a batch put",
        "BatchWriteItem",
        {"RequestItems": {"pair": [{"PutRequest": {"Item": KEY}}]}},
        error=refused(NOT_THE_SCHEMA),
    ),
    # Batches and transactions
    Case(
        "ERR-BWRITE-3",
        "BatchWriteItem",
        {"RequestItems": {}},
        error=refused("The requestItems parameter is required for BatchWriteItem"),
    ),
    Case(
        "BWI-2",
        "BatchWriteItem",
        {
            "RequestItems": {
                "hash": [{"PutRequest": {"Item": KEY}}, {"DeleteRequest": {"Key": KEY}}]
            }
        },
        error=refused("Provided list of item keys contains duplicates"),
    ),
    # Limits
    Case(
        "ERR-BWRITE-2 over two tables",
        "BatchWriteItem",
        {
            "RequestItems": {
                "hash": so_many_puts(13),
                "pair": [{"PutRequest": {"Item": wire({"pk": "a", "sk": n})}} for n in range(13)],
            }
        },
        error=refused("Too many items requested for the BatchWriteItem call"),
    ),
    Case(
        "BWI-5 both",
        "BatchWriteItem",
        {
            "RequestItems": {
                "hash": [
                    {
                        "PutRequest": {"Item": wire({"pk": "a"})},
                        "DeleteRequest": {"Key": wire({"pk": "a"})},
                    }
                ]
            }
        },
        error=refused(
            "Supplied AttributeValue has more than one datatypes set, "
            "must contain exactly one of the supported datatypes"
        ),
    ),
    Case(
        "BWI-5 neither",
        "BatchWriteItem",
        {"RequestItems": {"hash": [{}]}},
        error=refused(
            "Supplied AttributeValue has more than one datatypes set, must contain exactly one of "
            "the supported datatypes"
        ),
    ),
    Case(
        "BWI-4",
        "BatchWriteItem",
        {
            "RequestItems": {
                "hash": [{"PutRequest": {"Item": wire({"pk": "a", "v": "x" * 409_600})}}]
            }
        },
        error=refused("Item size has exceeded the maximum allowed size"),
    ),
    Case(
        "CAP-407 of a batch",
        "BatchWriteItem",
        {
            "RequestItems": {
                "indexed": [
                    {"PutRequest": {"Item": wire({"pk": "a", "sk": str(n)})}} for n in range(2)
                ],
                "hash": so_many_puts(1),
            },
            "ReturnItemCollectionMetrics": "SIZE",
        },
        answer={
            "UnprocessedItems": {},
            "ItemCollectionMetrics": {
                "indexed": [
                    {
                        "ItemCollectionKey": wire({"pk": "a"}),
                        "SizeEstimateRangeGB": [0.0, 1.0],
                    }
                ]
            },
        },
    ),
    # Found by comparing with other emulators
    Case(
        "BWI-2, BWI-6 the same key twice before one of another schema",
        "BatchWriteItem",
        {"RequestItems": {"hash": puts({"pk": "a"}, {"pk": "a"}, {"x": "a"})}},
        error=refused(DUPLICATES),
    ),
    Case(
        "BWI-2, BWI-6 a key of another schema before the same key twice",
        "BatchWriteItem",
        {"RequestItems": {"hash": puts({"x": "a"}, {"pk": "a"}, {"pk": "a"})}},
        error=refused(NOT_THE_SCHEMA),
    ),
    # Batches and transactions
    Case(
        "BWI-1, BWI-3",
        "BatchWriteItem",
        {
            "RequestItems": {
                "hash": [
                    {"PutRequest": {"Item": wire({"pk": "b"})}},
                    {"DeleteRequest": {"Key": KEY}},
                ]
            },
            "ReturnConsumedCapacity": "TOTAL",
        },
        given=[put("hash", pk="a", x=1)],
        answer={
            "UnprocessedItems": {},
            "ConsumedCapacity": [{"TableName": "hash", "CapacityUnits": 2.0}],
        },
    ),
]
