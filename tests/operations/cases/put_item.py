"""Cases of PutItem: requests with their whole answer or exact error, for every door."""

from tests.operations.cases.case import (
    CAPACITY_ENUM,
    EMPTY_KEY,
    INDEXED,
    INVALID,
    KEY,
    LONG,
    MIXED,
    NOT_NULL,
    NOT_SCALAR,
    RETURN_ENUM,
    TOO_DEEP,
    Case,
    constraint,
    detected,
    either,
    nested,
    put,
    refused,
    value_of,
    wire,
)

NO_TYPE = "Invalid ConditionExpression: Invalid attribute type name found; type: Q, valid types: {}"


CASES = [
    # Which fault is reported first
    Case(
        "TBL-5 a missing table name is reported with the members",
        "PutItem",
        {"Item": KEY},
        error=refused(detected(constraint("null", "tableName", NOT_NULL))),
    ),
    Case(
        "TBL-7, ERR-SHAPE-7 an empty table name is reported alone",
        "PutItem",
        {"TableName": "", "Item": KEY, "ReturnValues": "NEVER"},
        error=refused(
            detected(
                "Value at 'TableName' failed to satisfy constraint: "
                "Member must have length greater than or equal to 1"
            )
        ),
        classic=detected(
            constraint("''", "tableName", "Member must have length greater than or equal to 1")
        ),
    ),
    Case(
        "ERR-PUT-1 step 2 enumerations are reported together",
        "PutItem",
        {
            "TableName": "none",
            "Item": KEY,
            "ReturnValues": "X",
            "ReturnConsumedCapacity": "X",
            "ReturnItemCollectionMetrics": "X",
        },
        error=refused(
            detected(
                "; ".join(
                    [
                        constraint("'X'", "returnConsumedCapacity", CAPACITY_ENUM),
                        constraint(
                            "'X'",
                            "returnItemCollectionMetrics",
                            "Member must satisfy enum value set: [SIZE, NONE]",
                        ),
                        constraint("'X'", "returnValues", RETURN_ENUM),
                    ]
                ),
                3,
            )
        ),
    ),
    Case(
        "ERR-PUT-3 a missing item",
        "PutItem",
        {"TableName": "hash"},
        error=refused(detected(constraint("null", "item", NOT_NULL))),
    ),
    Case(
        "ERR-PUT-1 step 3 mixing comes before values",
        "PutItem",
        {
            "TableName": "none",
            "Item": {"pk": {"N": "x"}},
            "Expected": {"a": {"Exists": False}},
            "ConditionExpression": "!!",
        },
        error=refused(detected(MIXED % ("Expected", "ConditionExpression"))),
        classic=MIXED % ("Expected", "ConditionExpression"),
    ),
    Case(
        "ERR-PUT-1 step 5 values come before expressions",
        "PutItem",
        {"TableName": "none", "Item": {"pk": {"N": "x"}}, "ConditionExpression": "!!"},
        error=refused(detected("The parameter cannot be converted to a numeric value: x")),
        classic="The parameter cannot be converted to a numeric value: x",
    ),
    Case(
        "ERR-PUT-1 step 6, ORD-2 expressions come before the table",
        "PutItem",
        {"TableName": "none", "Item": KEY, "ConditionExpression": "a ="},
        error=refused(
            detected('Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "="')
        ),
        classic='Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "="',
    ),
    Case(
        "ORD-1 JSON types come before everything",
        "PutItem",
        {"TableName": "", "Item": {"pk": {"N": 5}}, "ReturnValues": "X"},
        error=("SerializationException", "NUMBER_VALUE cannot be converted to String"),
        http_only=True,
    ),
    # Keys (KV-*)
    Case(
        "KV-4",
        "PutItem",
        {"TableName": "pair", "Item": KEY},
        error=refused(INVALID + "Missing the key sk in the item"),
    ),
    Case(
        "KV-4 the partition key is missed first",
        "PutItem",
        {"TableName": "pair", "Item": wire({"x": "y"})},
        error=refused(INVALID + "Missing the key pk in the item"),
    ),
    Case(
        "KV-5",
        "PutItem",
        {"TableName": "pair", "Item": wire({"pk": "a", "sk": "b"})},
        error=refused(INVALID + "Type mismatch for key sk expected: N actual: S"),
    ),
    Case(
        "KV-3",
        "PutItem",
        {"TableName": "hash", "Item": wire({"pk": ""})},
        error=refused(EMPTY_KEY.format("string", "pk")),
    ),
    Case(
        "KV-3 binary",
        "PutItem",
        {"TableName": "blob", "Item": {"pk": {"B": "AA=="}, "sk": {"B": ""}}},
        error=refused(EMPTY_KEY.format("binary", "sk")),
        http_only=True,
    ),
    Case(
        "KV-2 sort key of 1,025 bytes",
        "PutItem",
        {"TableName": "indexed", "Item": wire({"pk": "a", "sk": "x" * 1025})},
        error=refused(
            INVALID + "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"
        ),
    ),
    # Index keys (IXV-*)
    Case(
        "IXV-1, IXV-9 the first index in name order",
        "PutItem",
        {"TableName": "indexed", "Item": wire({**INDEXED, "n": "x"})},
        error=refused(
            INVALID + "Type mismatch for Index Key n Expected: N Actual: S IndexName: all"
        ),
    ),
    Case(
        "IXV-1 a local index likewise",
        "PutItem",
        {"TableName": "indexed", "Item": wire({**INDEXED, "l": 1})},
        error=refused(
            INVALID + "Type mismatch for Index Key l Expected: S Actual: N IndexName: lean"
        ),
    ),
    Case(
        "IXV-2",
        "PutItem",
        {"TableName": "indexed", "Item": wire({**INDEXED, "g": ""})},
        error=refused(
            "One or more parameter values are not valid. A value specified for a secondary index "
            "key is not supported. The AttributeValue for a key attribute cannot contain an empty "
            "string value. IndexName: all, IndexKey: g"
        ),
    ),
    # Values (PRO-5: bare everywhere)
    Case(
        "TYP-1, ERR-VAL-3",
        "PutItem",
        {"TableName": "hash", "Item": {"pk": {}}},
        error=refused(
            "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
        ),
        http_only=True,
    ),
    Case(
        "TYP-2",
        "PutItem",
        {"TableName": "hash", "Item": {"pk": {"S": "a"}, "n": {"NULL": False}}},
        **either(INVALID + "Null attribute value types must have the value of true"),
    ),
    # Placeholders (PLH-*)
    Case(
        "PLH-3 values",
        "PutItem",
        {"TableName": "hash", "Item": KEY, "ExpressionAttributeValues": {":a": value_of(1)}},
        error=refused(
            detected("ExpressionAttributeValues can only be specified when using expressions")
        ),
        classic="ExpressionAttributeValues can only be specified when using expressions: "
        "ConditionExpression is null",
    ),
    # Updates (UPD-*)
    Case(
        "PUT-3",
        "PutItem",
        {"TableName": "hash", "Item": KEY, "ReturnValues": "UPDATED_NEW"},
        **either("ReturnValues can only be ALL_OLD or NONE"),
    ),
    Case(
        "CND-14",
        "PutItem",
        {
            "TableName": "hash",
            "Item": KEY,
            "ConditionExpression": "attribute_exists(pk)",
        },
        error=("ConditionalCheckFailedException", "The conditional request failed"),
    ),
    # Limits
    Case(
        "WIR-15 nulls count as absent",
        "PutItem",
        {
            "TableName": "hash",
            "Item": wire({"pk": "a"}),
            "ReturnValues": None,
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
        **either(TOO_DEEP),
    ),
    Case(
        "MAK-27, IXV-7",
        "PutItem",
        {"TableName": "indexed", "Item": wire({"pk": "a", "sk": "b", "g": "x" * 2049})},
        error=refused(INVALID + "Size of hashkey has exceeded the maximum size limit of2048 bytes"),
        given=[],
    ),
    # Found by comparing with other emulators
    Case(
        "CND-12, CND-2 a size that does not exist differs",
        "PutItem",
        {
            "TableName": "hash",
            "Item": KEY,
            "ConditionExpression": "size(n) <> :one AND size(gone) <> :one",
            "ExpressionAttributeValues": wire({":one": 1}),
        },
        given=[put("hash", pk="a", n=1)],
        answer={},
    ),
    # Paths below a key (QRY-7)
    Case(
        "QRY-7 a condition below a key: PutItem",
        "PutItem",
        {"TableName": "hash", "Item": KEY, "ConditionExpression": "attribute_not_exists(pk.a)"},
        error=refused(NOT_SCALAR.format("Key: pk")),
    ),
    # Members
    Case(
        "TYP-6 an empty name in Expected",
        "PutItem",
        {"TableName": "hash", "Item": KEY, "Expected": {"": {"Exists": False}}},
        error=refused("Empty attribute name"),
    ),
    Case(
        "TYP-6 a name of 65,536 bytes",
        "PutItem",
        {"TableName": "hash", "Item": wire({"pk": "a", "m": {"M": {LONG: {"S": "x"}}}})},
        error=refused("Attribute name is too large, must be less than 65536 bytes"),
    ),
    # Updates
    Case(
        "CND-8 the type of a value",
        "PutItem",
        {
            "TableName": "hash",
            "Item": KEY,
            "ConditionExpression": "attribute_type(:v, :t)",
            "ExpressionAttributeValues": wire({":v": 1, ":t": "N"}),
        },
        answer={},
    ),
    Case(
        "CND-8 no type of the service",
        "PutItem",
        {
            "TableName": "hash",
            "Item": KEY,
            "ConditionExpression": "attribute_type(x, :t)",
            "ExpressionAttributeValues": wire({":t": "Q"}),
        },
        error=refused(detected(NO_TYPE.format("{S,SS,N,NS,B,BS,BOOL,NULL,L,M}"))),
        classic=NO_TYPE.format("{N,BS,L,B,NULL,M,S,SS,NS,BOOL}"),
    ),
    # Put, get, delete
    Case(
        "PUT-1, PUT-4",
        "PutItem",
        {"TableName": "hash", "Item": wire({"pk": "a", "y": 2}), "ReturnValues": "ALL_OLD"},
        given=[put("hash", pk="a", x=1)],
        answer={"Attributes": wire({"pk": "a", "x": 1})},
    ),
    Case(
        "PUT-4 nothing replaced",
        "PutItem",
        {"TableName": "hash", "Item": KEY, "ReturnValues": "ALL_OLD"},
        answer={},
    ),
    # Batches and transactions
    Case(
        "ICM-1, CAP-407",
        "PutItem",
        {
            "TableName": "indexed",
            "Item": wire({"pk": "a", "sk": "b"}),
            "ReturnItemCollectionMetrics": "SIZE",
        },
        answer={
            "ItemCollectionMetrics": {
                "ItemCollectionKey": KEY,
                "SizeEstimateRangeGB": [0.0, 1.0],
            }
        },
    ),
    Case(
        "OPC-3 the stored item with a failed condition",
        "PutItem",
        {
            "TableName": "hash",
            "Item": KEY,
            "ConditionExpression": "attribute_not_exists(pk)",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        },
        given=[put("hash", pk="a", x=1)],
        error=("ConditionalCheckFailedException", "The conditional request failed"),
    ),
]
