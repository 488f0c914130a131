"""The table and the item that every benchmark uses."""

from emulator import Emulator

#: Ten attributes, 340 bytes, as an order might be: text, numbers, a nested list, a set.
ITEM = {
    "pk": {"S": "user#12345"},
    "sk": {"S": "order#2026-01-15#000123"},
    "status": {"S": "SHIPPED"},
    "total": {"N": "129.95"},
    "currency": {"S": "EUR"},
    "lines": {
        "L": [
            {"M": {"sku": {"S": "A-1"}, "qty": {"N": "2"}}},
            {"M": {"sku": {"S": "B-7"}, "qty": {"N": "1"}}},
        ]
    },
    "tags": {"SS": ["express", "gift"]},
    "paid": {"BOOL": True},
    "note": {"S": "leave at the door, thanks"},
    "created": {"N": "1767225600"},
}


def definition(name="bench", indexes=1, warm=None):
    """Return a CreateTable request with so many global indexes, ready for so many units."""
    attributes = {"pk": "S", "sk": "S"} | {f"g{n}": "S" for n in range(indexes)}
    request = {
        "TableName": name,
        "KeySchema": [
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        "AttributeDefinitions": [
            {"AttributeName": attribute, "AttributeType": kind}
            for attribute, kind in attributes.items()
        ],
        "BillingMode": "PAY_PER_REQUEST",
    }
    if indexes:
        request["GlobalSecondaryIndexes"] = [
            {
                "IndexName": f"gsi{n}",
                "KeySchema": [{"AttributeName": f"g{n}", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
            for n in range(indexes)
        ]
    if warm is not None:
        for resource in (request, *request.get("GlobalSecondaryIndexes", ())):
            resource["WarmThroughput"] = {"ReadUnitsPerSecond": warm, "WriteUnitsPerSecond": warm}
    return request


def item(number, indexes=1, partition=None):
    """Return the item, under a key of its own, in every index."""
    written = dict(ITEM)
    written["pk"] = {"S": partition or f"user#{number % 50}"}
    written["sk"] = {"S": f"order#{number:09}"}
    for index in range(indexes):
        written[f"g{index}"] = {"S": f"value#{number % 5000}"}
    return written


def all_new(number):
    """Return a PutItem whose keys and numbers no other has."""
    written = item(number, partition=f"new#{number}")
    written["g0"] = {"S": f"new#{number}"}
    written["total"], written["created"] = {"N": f"{number}.95"}, {"N": str(1767225600 + number)}
    return {"TableName": "bench", "Item": written}


def filled(count, *, indexes=1, partition=None, capacity="observe", warm=None):
    """Return an emulator whose table holds ``count`` items."""
    emulator = Emulator(capacity=capacity)
    emulator.call("CreateTable", definition(indexes=indexes, warm=warm))
    for number in range(count):
        emulator.call(
            "PutItem",
            {"TableName": "bench", "Item": item(number, indexes, partition)},
        )
    return emulator


def requests(indexes=1, partition="user#1", at=0):
    """Return the requests that are timed, by name; puts walk through keys of their own."""
    counter = iter(range(10**9))

    def put():
        # Spread, as a partition key that took all of them would throttle.
        number = next(counter) % 5000
        return {"TableName": "bench", "Item": item(number, indexes, f"put#{number % 500}")}

    key = {"pk": {"S": partition}, "sk": {"S": f"order#{at:09}"}}
    return {
        "GetItem": lambda: {"TableName": "bench", "Key": key},
        "PutItem": put,
        "UpdateItem": lambda: {
            "TableName": "bench",
            "Key": key,
            "UpdateExpression": "SET #total = #total + :one",
            "ExpressionAttributeNames": {"#total": "total"},
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        },
        "DeleteItem": lambda: {
            "TableName": "bench",
            "Key": {"pk": {"S": "none"}, "sk": {"S": "none"}},
        },
        "Query": lambda: {
            "TableName": "bench",
            "KeyConditionExpression": "pk = :p AND sk >= :s",
            "ExpressionAttributeValues": {
                ":p": {"S": partition},
                ":s": {"S": f"order#{at:09}"},
            },
            "Limit": 10,
        },
        "Scan": lambda: {"TableName": "bench", "Limit": 10},
        "BatchGetItem": lambda: {"RequestItems": {"bench": {"Keys": [key]}}},
        "BatchWriteItem": lambda: {
            "RequestItems": {"bench": [{"PutRequest": {"Item": put()["Item"]}} for _ in range(25)]}
        },
        "TransactWriteItems": lambda: {
            "TransactItems": [{"Put": {"TableName": "bench", "Item": put()["Item"]}}]
        },
    }
