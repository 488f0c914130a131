"""Limits of requests: BGI-1, BWI-1, TXW-1, SIZ-3, SIZ-7, EXP-4."""

from tests.conformance.case import INVALID, Case, constraint, detected, put, refused, value_of, wire

AT_MOST = "Member must have length less than or equal to {}"
AT_LEAST = "Member must have length greater than or equal to {}"


def keys(count):
    """Return so many keys."""
    return [wire({"pk": f"{number}"}) for number in range(count)]


def puts(count, table="hash"):
    """Return so many put requests."""
    return [{"PutRequest": {"Item": key}} for key in keys(count)]


def nested(levels):
    """Return a text inside so many lists."""
    value = {"S": "x"}
    for _ in range(levels):
        value = {"L": [value]}
    return value


BIG = "x" * 300_000

CASES = [
    Case(
        "ERR-BGET-3",
        "BatchGetItem",
        {"RequestItems": {"hash": {"Keys": keys(101)}}},
        error=refused(
            detected(
                "Value at 'RequestItems.hash.member.Keys' failed to satisfy constraint: "
                + AT_MOST.format(100)
            )
        ),
    ),
    Case(
        "ERR-BGET-3 none",
        "BatchGetItem",
        {"RequestItems": {"hash": {"Keys": []}}},
        error=refused(
            detected(
                "Value at 'RequestItems.hash.member.Keys' failed to satisfy constraint: "
                + AT_LEAST.format(1)
            )
        ),
    ),
    Case(
        "ERR-BGET-3 over two tables",
        "BatchGetItem",
        {
            "RequestItems": {
                "hash": {"Keys": keys(60)},
                "pair": {"Keys": [wire({"pk": "a", "sk": n}) for n in range(60)]},
            }
        },
        error=refused("Too many items requested for the BatchGetItem call"),
    ),
    Case(
        "BGI-4",
        "BatchGetItem",
        {"RequestItems": {"hash": {"Keys": keys(1)}, "none": {"Keys": keys(1)}}},
        error=("ResourceNotFoundException", "Requested resource not found"),
    ),
    Case(
        "ERR-BWRITE-2 over two tables",
        "BatchWriteItem",
        {
            "RequestItems": {
                "hash": puts(13),
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
        "ERR-TX-2 none",
        "TransactWriteItems",
        {"TransactItems": []},
        error=refused(detected(constraint("'[]'", "transactItems", AT_LEAST.format(1)))),
    ),
    Case(
        "SIZ-4 an oversized put is told at the top",
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Put": {"TableName": "hash", "Item": wire({"pk": "a", "v": "x" * 409_600})}}
            ]
        },
        error=refused("Item size has exceeded the maximum allowed size"),
    ),
    Case(
        "TXW-10",
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Put": {"TableName": "hash", "Item": wire({"pk": str(n), "v": BIG})}}
                for n in range(15)
            ]
        },
        error=refused(
            "Collection size of items exceeded, which can also be caused by the aggregate size "
            "of the items in the transaction exceeding the 4MB limit"
        ),
    ),
    Case(
        "TXG-4",
        "TransactGetItems",
        {
            "TransactItems": [
                {"Get": {"TableName": "hash", "Key": wire({"pk": str(n)})}} for n in range(15)
            ]
        },
        given=[put("hash", pk=str(n), v=BIG) for n in range(15)],
        error=refused(
            "Collection size of items exceeded, which can also be caused by the aggregate size "
            "of the items in the transaction exceeding the 4MB limit"
        ),
    ),
    Case(
        "KV-8 a wrong key type cancels",
        "TransactWriteItems",
        {"TransactItems": [{"Put": {"TableName": "hash", "Item": wire({"pk": 1})}}]},
        error=(
            "TransactionCanceledException",
            "Transaction cancelled, please refer cancellation reasons for specific reasons "
            "[ValidationError]",
        ),
    ),
    Case(
        "KV-8 an empty key is told at the top",
        "TransactWriteItems",
        {"TransactItems": [{"Put": {"TableName": "hash", "Item": wire({"pk": ""})}}]},
        error=refused(
            "One or more parameter values are not valid. The AttributeValue for a key attribute "
            "cannot contain an empty string value. Key: pk"
        ),
    ),
    Case(
        "EXP-4",
        "Scan",
        {"TableName": "hash", "FilterExpression": "a" * 4097},
        error=refused(
            "Invalid FilterExpression: Expression size has exceeded the maximum allowed size; "
            "expression size: 4097"
        ),
    ),
    Case(
        "EXP-3",
        "Query",
        {"TableName": "hash", "KeyConditionExpression": ""},
        error=refused("Invalid KeyConditionExpression: The expression can not be empty;"),
    ),
    Case(
        "SCN-3 a start key of another segment",
        "Scan",
        {
            "TableName": "hash",
            "Segment": 0,
            "TotalSegments": 2,
            "ExclusiveStartKey": wire({"pk": "abc"}),
        },
        error=refused(
            "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use "
            "ExclusiveStartKey with correct Segment. TotalSegments: 2 Segment: 0"
        ),
    ),
    Case(
        "TBL-3 a malformed ARN",
        "GetItem",
        {"TableName": "arn:aws:dynamodb:us-east-1:000000000000:index/x", "Key": keys(1)[0]},
        error=refused(
            "Invalid TableArn: Invalid ResourceArn provided as input "
            "arn:aws:dynamodb:us-east-1:000000000000:index/x"
        ),
    ),
    Case(
        "TBL-3 by ARN, CAP-402 echoed",
        "GetItem",
        {
            "TableName": "arn:aws:dynamodb:us-east-1:000000000000:table/hash",
            "Key": wire({"pk": "a"}),
            "ReturnConsumedCapacity": "TOTAL",
        },
        given=[put("hash", pk="a")],
        answer={
            "Item": wire({"pk": "a"}),
            "ConsumedCapacity": {
                "TableName": "arn:aws:dynamodb:us-east-1:000000000000:table/hash",
                "CapacityUnits": 0.5,
            },
        },
    ),
    Case(
        "CAP-407 of a batch",
        "BatchWriteItem",
        {
            "RequestItems": {
                "indexed": [
                    {"PutRequest": {"Item": wire({"pk": "a", "sk": str(n)})}} for n in range(2)
                ],
                "hash": puts(1),
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
    Case(
        "ERR-VAL-3, PRO-6 an empty value among expression values",
        "Scan",
        {
            "TableName": "hash",
            "FilterExpression": "a = :v",
            "ExpressionAttributeValues": {":v": {}},
        },
        error=refused(
            "ExpressionAttributeValues contains invalid value: Supplied AttributeValue is empty, "
            "must contain exactly one of the supported datatypes for key :v"
        ),
        http_only=True,
    ),
    Case(
        "ESK-3 an empty value",
        "Scan",
        {"TableName": "hash", "ExclusiveStartKey": {"pk": {}}},
        error=refused(
            "The provided starting key is invalid: Supplied AttributeValue is empty, "
            "must contain exactly one of the supported datatypes"
        ),
        http_only=True,
    ),
    Case(
        "ESK-3 a bad number is not prefixed",
        "Query",
        {
            "TableName": "pair",
            "KeyConditionExpression": "pk = :p",
            "ExpressionAttributeValues": {":p": value_of("a")},
            "ExclusiveStartKey": {"pk": {"S": "a"}, "sk": {"N": "x"}},
        },
        error=refused("The parameter cannot be converted to a numeric value: x"),
    ),
    Case(
        "WIR-15 nulls and unknown members count as absent",
        "PutItem",
        {
            "TableName": "hash",
            "Item": wire({"pk": "a"}),
            "ReturnValues": None,
            "Nonsense": {"a": 1},
        },
        answer={},
        http_only=True,
    ),
    Case(
        "TYP-5",
        "PutItem",
        {
            "TableName": "hash",
            "Item": {
                "pk": {"S": "a"},
                "d": nested(32),
            },
        },
        error=refused(
            "Nesting Levels have exceeded supported limits: "
            "Attributes in the item have nested levels beyond supported limit"
        ),
    ),
    Case(
        "IXV-8 a wrong-typed index key cancels",
        "TransactWriteItems",
        {
            "TransactItems": [
                {
                    "Put": {
                        "TableName": "indexed",
                        "Item": wire({"pk": "a", "sk": "b", "n": "x"}),
                    }
                }
            ]
        },
        error=(
            "TransactionCanceledException",
            "Transaction cancelled, please refer cancellation reasons for specific reasons "
            "[ValidationError]",
        ),
    ),
    Case(
        "MAK-27, IXV-7",
        "PutItem",
        {"TableName": "indexed", "Item": wire({"pk": "a", "sk": "b", "g": "x" * 2049})},
        error=refused(INVALID + "Size of hashkey has exceeded the maximum size limit of2048 bytes"),
        given=[],
    ),
]
