"""Cases of TransactGetItems: requests with their whole answer or exact error, for every door."""

from tests.operations.cases.case import (
    BIG,
    CANCELLED,
    KEY,
    PAIR,
    Case,
    put,
    refused,
    wire,
)

CASES = [
    # Batches and transactions
    Case(
        "TXG-2",
        "TransactGetItems",
        {"TransactItems": [{"Get": {"TableName": "hash", "Key": KEY}}] * 2},
        error=refused("Transaction request cannot include multiple operations on one item"),
    ),
    Case(
        "TXG-3",
        "TransactGetItems",
        {"TransactItems": [{"Get": {"TableName": "hash", "Key": PAIR}}]},
        error=(
            "TransactionCanceledException",
            "Transaction cancelled, please refer cancellation reasons for specific reasons "
            "[ValidationError]",
        ),
    ),
    # Limits
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
    # Paths below a key (QRY-7)
    Case(
        "QRY-7, TXG-3 a projection below a key cancels",
        "TransactGetItems",
        {
            "TransactItems": [
                {"Get": {"TableName": "hash", "Key": KEY, "ProjectionExpression": "pk.a"}}
            ]
        },
        error=("TransactionCanceledException", CANCELLED.format("ValidationError")),
    ),
    # Updates
    Case(
        "TXG-1 nothing of an item is no item",
        "TransactGetItems",
        {
            "TransactItems": [
                {"Get": {"TableName": "hash", "Key": KEY, "ProjectionExpression": "x"}}
            ]
        },
        given=[put("hash", pk="a", n=1)],
        answer={"Responses": [{}]},
    ),
    # Batches and transactions
    Case(
        "TXG-1, EX-25",
        "TransactGetItems",
        {
            "TransactItems": [
                {"Get": {"TableName": "hash", "Key": wire({"pk": "none"})}},
                {"Get": {"TableName": "hash", "Key": KEY, "ProjectionExpression": "x"}},
            ],
            "ReturnConsumedCapacity": "TOTAL",
        },
        given=[put("hash", pk="a", x=1, y=2)],
        answer={
            "Responses": [{}, {"Item": wire({"x": 1})}],
            "ConsumedCapacity": [
                {"TableName": "hash", "CapacityUnits": 4.0, "ReadCapacityUnits": 4.0}
            ],
        },
    ),
]
