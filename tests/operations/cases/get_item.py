"""Cases of GetItem: requests with their whole answer or exact error, for every door."""

from tests.operations.cases.case import (
    EMPTY_KEY,
    INVALID,
    KEY,
    LONG,
    MAP,
    NOT_FOUND,
    NOT_NULL,
    NOT_SCALAR,
    NOT_THE_SCHEMA,
    STORED,
    Case,
    constraint,
    detected,
    keys,
    put,
    refused,
    value_of,
    wire,
)

CASES = [
    # Which fault is reported first
    Case(
        "TBL-6 a bad table name is reported alone",
        "GetItem",
        {"TableName": "a!b", "Key": KEY, "ReturnConsumedCapacity": "NEVER"},
        error=refused(
            detected(
                constraint(
                    "'a!b'",
                    "tableName",
                    "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
                )
            )
        ),
    ),
    Case(
        "GET-4 a missing key",
        "GetItem",
        {"TableName": "hash"},
        error=refused(detected(constraint("null", "key", NOT_NULL))),
    ),
    Case(
        "TBL-4 the table comes before the key",
        "GetItem",
        {"TableName": "none", "Key": {"wrong": {"S": "x"}}},
        error=NOT_FOUND,
    ),
    Case(
        "ORD-1 JSON types come before the table",
        "GetItem",
        {"TableName": "none", "Key": {"pk": {"S": "a"}, "x": {"L": [{"S": True}]}}},
        error=("SerializationException", "TRUE_VALUE cannot be converted to String"),
        http_only=True,
    ),
    # Keys (KV-*)
    Case(
        "KV-6 missing attribute",
        "GetItem",
        {"TableName": "pair", "Key": KEY},
        error=refused(NOT_THE_SCHEMA),
    ),
    Case(
        "KV-3 on a read",
        "GetItem",
        {"TableName": "hash", "Key": wire({"pk": ""})},
        error=refused(EMPTY_KEY.format("string", "pk")),
    ),
    Case(
        "KV-2 partition key of 2,049 bytes",
        "GetItem",
        {"TableName": "hash", "Key": wire({"pk": "x" * 2049})},
        error=refused(INVALID + "Size of hashkey has exceeded the maximum size limit of2048 bytes"),
    ),
    Case(
        "KV-7 the schema before emptiness",
        "GetItem",
        {"TableName": "pair", "Key": wire({"pk": "", "sk": "x"})},
        error=refused(NOT_THE_SCHEMA),
    ),
    # Placeholders (PLH-*)
    Case(
        "PLH-3 names",
        "GetItem",
        {"TableName": "hash", "Key": KEY, "ExpressionAttributeNames": {"#a": "a"}},
        error=refused("ExpressionAttributeNames can only be specified when using expressions"),
    ),
    # Limits
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
    # KeyConditions, filters, AttributesToGet
    Case(
        "LEG-10, PRJ-5",
        "GetItem",
        {"TableName": "hash", "Key": KEY, "AttributesToGet": ["n", "absent"]},
        given=STORED,
        answer={"Item": wire({"n": 5})},
    ),
    Case(
        "PRJ-5 a name twice",
        "GetItem",
        {"TableName": "hash", "Key": KEY, "AttributesToGet": ["n", "s", "n"]},
        error=refused(INVALID + "Duplicate value in attribute name: n"),
    ),
    Case(
        "GET-3",
        "GetItem",
        {"TableName": "hash", "Key": KEY, "AttributesToGet": []},
        error=refused(
            detected(
                "Value '[]' at 'attributesToGet' failed to satisfy constraint: "
                "Member must have length greater than or equal to 1"
            )
        ),
    ),
    # Found by comparing with other emulators
    # Paths below a key (QRY-7)
    Case(
        "QRY-7 a projection below a key",
        "GetItem",
        {"TableName": "hash", "Key": KEY, "ProjectionExpression": "pk[0]"},
        error=refused(NOT_SCALAR.format("Key: pk")),
    ),
    # Members
    Case(
        "TBL-1 a name that no table can have",
        "GetItem",
        {"TableName": "ab", "Key": KEY},
        error=refused(
            detected(
                constraint(
                    "'ab'", "tableName", "Member must have length greater than or equal to 3"
                )
            )
        ),
    ),
    Case(
        "TYP-6 an empty name in AttributesToGet",
        "GetItem",
        {"TableName": "hash", "Key": KEY, "AttributesToGet": ["x", ""]},
        error=refused("Empty attribute name"),
    ),
    Case(
        "TYP-6, PLH-7 a placeholder for such a name",
        "GetItem",
        {
            "TableName": "hash",
            "Key": KEY,
            "ProjectionExpression": "#n",
            "ExpressionAttributeNames": {"#n": LONG},
        },
        error=refused(
            "ExpressionAttributeNames contains invalid value: Attribute name is too large, must "
            "be less than 65536 bytes for key #n"
        ),
    ),
    # Put, get, delete
    Case("GET-1 nothing found", "GetItem", {"TableName": "hash", "Key": KEY}, answer={}),
    Case(
        "GET-1",
        "GetItem",
        {"TableName": "hash", "Key": KEY},
        given=[put("hash", pk="a", n=1)],
        answer={"Item": wire({"pk": "a", "n": 1})},
    ),
    Case(
        "NUM-9 equal numbers are one key",
        "GetItem",
        {"TableName": "pair", "Key": {"pk": {"S": "a"}, "sk": {"N": "1.0"}}},
        given=[put("pair", pk="a", sk={"N": "01"}, v="x")],
        answer={"Item": wire({"pk": "a", "sk": 1, "v": "x"})},
    ),
    # Projections (PRJ-*)
    Case(
        "PRJ-1, PRJ-2",
        "GetItem",
        {"TableName": "hash", "Key": KEY, "ProjectionExpression": "m.b, l[2], l[0], absent"},
        given=[put("hash", pk="a", m=MAP, l=["x", "y", "z"])],
        answer={"Item": {"m": {"M": wire({"b": 1})}, "l": value_of(["x", "z"])}},
    ),
    Case(
        "PRJ-4",
        "GetItem",
        {"TableName": "hash", "Key": KEY, "ProjectionExpression": "absent"},
        given=[put("hash", pk="a")],
        answer={"Item": {}},
    ),
]
