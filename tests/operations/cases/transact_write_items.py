"""Cases of TransactWriteItems: requests with their whole answer or exact error, for every door."""

from tests.operations.cases.case import (
    AT_LEAST,
    BIG,
    CANCELLED,
    FILL,
    INDEXED_KEY,
    KEY,
    NOT_FOUND,
    Case,
    constraint,
    detected,
    put,
    refused,
    wire,
)

CASES = [
    # Which fault is reported first
    Case(
        "ERR-TX-1 the first fault of the first faulty action",
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Put": {"TableName": "none", "Item": KEY}},
                {
                    "Update": {
                        "TableName": "hash",
                        "Key": KEY,
                        "UpdateExpression": "SET a = :v",
                        "ExpressionAttributeValues": {":v": {"N": "x"}},
                    }
                },
            ]
        },
        error=refused(
            "ExpressionAttributeValues contains invalid value: "
            "The parameter cannot be converted to a numeric value: x for key :v"
        ),
    ),
    Case(
        "ERR-TX-7 an unknown table never cancels",
        "TransactWriteItems",
        {"TransactItems": [{"Put": {"TableName": "none", "Item": KEY}}]},
        error=NOT_FOUND,
    ),
    # Batches and transactions
    Case(
        "ERR-TX-3 no member",
        "TransactWriteItems",
        {"TransactItems": [{}]},
        error=refused(
            "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"
        ),
    ),
    Case(
        "TXW-1 two members",
        "TransactWriteItems",
        {
            "TransactItems": [
                {
                    "Put": {"TableName": "hash", "Item": KEY},
                    "Delete": {"TableName": "hash", "Key": KEY},
                }
            ]
        },
        error=refused("TransactItems can only contain one of Check, Put, Update or Delete"),
    ),
    Case(
        "TXW-2",
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Put": {"TableName": "hash", "Item": KEY}},
                {"Delete": {"TableName": "hash", "Key": KEY}},
            ]
        },
        error=refused("Transaction request cannot include multiple operations on one item"),
    ),
    Case(
        "TXW-9 token of 37 characters",
        "TransactWriteItems",
        {
            "TransactItems": [{"Put": {"TableName": "hash", "Item": KEY}}],
            "ClientRequestToken": "x" * 37,
        },
        error=refused(
            detected(
                constraint(
                    f"'{'x' * 37}'",
                    "clientRequestToken",
                    "Member must have length less than or equal to 36",
                )
            )
        ),
    ),
    Case(
        "TXW-5, VEC-10",
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Put": {"TableName": "hash", "Item": KEY}},
                {
                    "Put": {
                        "TableName": "hash",
                        "Item": wire({"pk": "b"}),
                        "ConditionExpression": "attribute_exists(pk)",
                    }
                },
            ]
        },
        error=(
            "TransactionCanceledException",
            "Transaction cancelled, please refer cancellation reasons for specific reasons "
            "[None, ConditionalCheckFailed]",
        ),
    ),
    # Limits
    Case(
        "ERR-TX-2 none",
        "TransactWriteItems",
        {"TransactItems": []},
        error=refused(detected(constraint("'[]'", "transactItems", AT_LEAST.format(1)))),
    ),
    Case(
        "SIZ-4 an oversized put is reported at the top",
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
        error=refused("Transaction payload size cannot exceed 4 MB"),
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
        "KV-8 an empty key is reported at the top",
        "TransactWriteItems",
        {"TransactItems": [{"Put": {"TableName": "hash", "Item": wire({"pk": ""})}}]},
        error=refused(
            "One or more parameter values are not valid. The AttributeValue for a key attribute "
            "cannot contain an empty string value. Key: pk"
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
    # Paths below a key (QRY-7)
    Case(
        "QRY-7, TXW-12 a condition below a key cancels",
        "TransactWriteItems",
        {
            "TransactItems": [
                {
                    "ConditionCheck": {
                        "TableName": "hash",
                        "Key": KEY,
                        "ConditionExpression": "attribute_not_exists(pk.a)",
                    }
                }
            ]
        },
        error=("TransactionCanceledException", CANCELLED.format("ValidationError")),
    ),
    # Transactions
    Case(
        "KV-8, TXW-12 the first key that does not fit cancels alone",
        "TransactWriteItems",
        {
            "TransactItems": [
                {
                    "Put": {
                        "TableName": "hash",
                        "Item": KEY,
                        "ConditionExpression": "attribute_exists(pk)",
                    }
                },
                {"Put": {"TableName": "hash", "Item": wire({"pk": 7})}},
                {"Put": {"TableName": "hash", "Item": wire({"pk": 8})}},
            ]
        },
        error=(
            "TransactionCanceledException",
            CANCELLED.format("None, ValidationError, None"),
        ),
    ),
    Case(
        "IXV-8 an update that empties an index key is refused at once",
        "TransactWriteItems",
        {
            "TransactItems": [
                {
                    "Update": {
                        "TableName": "indexed",
                        "Key": INDEXED_KEY,
                        "UpdateExpression": "SET x = :v, g = :v",
                        "ExpressionAttributeValues": wire({":v": ""}),
                    }
                }
            ]
        },
        given=[FILL],
        error=refused(
            "One or more parameter values are not valid. The update expression attempted to "
            "update a secondary index key to a value that is not supported. The AttributeValue "
            "for a key attribute cannot contain an empty string value."
        ),
    ),
    # Batches and transactions
    Case(
        "TXW-3, TXW-13, CAP-305, CAP-406",
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Put": {"TableName": "hash", "Item": wire({"pk": "b"})}},
                {
                    "ConditionCheck": {
                        "TableName": "hash",
                        "Key": KEY,
                        "ConditionExpression": "attribute_exists(pk)",
                    }
                },
            ],
            "ReturnConsumedCapacity": "INDEXES",
        },
        given=[put("hash", pk="a")],
        answer={
            "ConsumedCapacity": [
                {
                    "TableName": "hash",
                    "CapacityUnits": 4.0,
                    "WriteCapacityUnits": 4.0,
                    "Table": {"CapacityUnits": 4.0, "WriteCapacityUnits": 4.0},
                }
            ]
        },
    ),
]
