"""Cases of BatchGetItem: requests with their whole answer or exact error, for every door."""

from tests.operations.cases.case import (
    AT_LEAST,
    AT_MOST,
    DUPLICATES,
    INDEXED_KEY,
    KEY,
    NOT_SCALAR,
    Case,
    detected,
    keys,
    put,
    refused,
    wire,
)

CASES = [
    # Batches and transactions
    Case(
        "ERR-BGET-2",
        "BatchGetItem",
        {"RequestItems": {}},
        error=refused(
            detected(
                "Value at 'RequestItems' failed to satisfy constraint: "
                "Member must have length greater than or equal to 1"
            )
        ),
        classic="The requestItems parameter is required for BatchGetItem",
    ),
    Case(
        "BGI-3, NUM-9 duplicates are numeric",
        "BatchGetItem",
        {
            "RequestItems": {
                "pair": {
                    "Keys": [wire({"pk": "a", "sk": 1}), {"pk": {"S": "a"}, "sk": {"N": "1.0"}}]
                }
            }
        },
        error=refused("Provided list of item keys contains duplicates"),
    ),
    # Limits
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
    # KeyConditions, filters, AttributesToGet
    Case(
        "LEG-1, ERR-BGET-1 across tables",
        "BatchGetItem",
        {
            "RequestItems": {
                "hash": {"Keys": [KEY], "AttributesToGet": ["n"]},
                "pair": {"Keys": [wire({"pk": "a", "sk": 1})], "ProjectionExpression": "v"},
            }
        },
        error=refused(
            "Can not use both expression and non-expression parameters in the same request: "
            "Non-expression parameters: {AttributesToGet} "
            "Expression parameters: {ProjectionExpression}"
        ),
    ),
    # Found by comparing with other emulators
    Case(
        "BGI-3, ERR-BGET-1 the same key twice in no table",
        "BatchGetItem",
        {"RequestItems": {"none": {"Keys": [KEY, KEY]}}},
        error=refused(DUPLICATES),
    ),
    Case(
        "BGI-3, ERR-BGET-1 the same key twice, and one of another schema",
        "BatchGetItem",
        {"RequestItems": {"hash": {"Keys": [wire({"x": "a"}), KEY, KEY]}}},
        error=refused(DUPLICATES),
    ),
    # Paths below a key (QRY-7)
    Case(
        "QRY-7 a projection below an index key",
        "BatchGetItem",
        {"RequestItems": {"indexed": {"Keys": [INDEXED_KEY], "ProjectionExpression": "x, g.a"}}},
        error=refused(NOT_SCALAR.format("IndexKey: g")),
    ),
    # Batches and transactions
    Case(
        "BGI-2",
        "BatchGetItem",
        {
            "RequestItems": {
                "hash": {"Keys": [KEY, wire({"pk": "none"})]},
                "pair": {"Keys": [wire({"pk": "none", "sk": 1})]},
            },
            "ReturnConsumedCapacity": "TOTAL",
        },
        given=[put("hash", pk="a", x=1)],
        answer={
            "Responses": {"hash": [wire({"pk": "a", "x": 1})], "pair": []},
            "UnprocessedKeys": {},
            "ConsumedCapacity": [
                {"TableName": "hash", "CapacityUnits": 1.0},
                {"TableName": "pair", "CapacityUnits": 0.5},
            ],
        },
    ),
]
