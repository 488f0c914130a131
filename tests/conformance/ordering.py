"""Which fault is told first: ORD-1, ORD-2 and the order lists of errors.md."""

from tests.conformance.case import Case, constraint, detected, refused, value_of, wire

NOT_NULL = "Member must not be null"
ITEM = wire({"pk": "a"})
KEY = wire({"pk": "a"})
CAPACITY_ENUM = "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"
RETURN_ENUM = (
    "Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
)
NOT_FOUND = ("ResourceNotFoundException", "Requested resource not found")
MIXED = (
    "Can not use both expression and non-expression parameters in the same request: "
    "Non-expression parameters: {%s} Expression parameters: {%s}"
)

CASES = [
    Case(
        "TBL-5 a missing table name is told with the members",
        "PutItem",
        {"Item": ITEM},
        error=refused(detected(constraint("null", "tableName", NOT_NULL))),
    ),
    Case(
        "TBL-7, ERR-SHAPE-7 an empty table name is told alone",
        "PutItem",
        {"TableName": "", "Item": ITEM, "ReturnValues": "NEVER"},
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
        "TBL-6 a bad table name is told alone",
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
        "ERR-PUT-1 step 2 enumerations are told together",
        "PutItem",
        {
            "TableName": "none",
            "Item": ITEM,
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
        "GET-4 a missing key",
        "GetItem",
        {"TableName": "hash"},
        error=refused(detected(constraint("null", "key", NOT_NULL))),
    ),
    Case(
        "ERR-UPD-2 without Key the older form joins everything",
        "UpdateItem",
        {"TableName": ""},
        error=refused(
            detected(
                "; ".join(
                    [
                        constraint(
                            "''",
                            "tableName",
                            "Member must have length greater than or equal to 1",
                        ),
                        constraint("null", "key", NOT_NULL),
                    ]
                ),
                2,
            )
        ),
    ),
    Case(
        "ERR-UPD-1 the first enumeration alone in the current layer",
        "UpdateItem",
        {"TableName": "hash", "Key": KEY, "ReturnValues": "X", "ReturnConsumedCapacity": "X"},
        error=refused(
            detected(
                "Failed to satisfy constraint: Member must satisfy enum value set: "
                "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
            )
        ),
        classic=detected(
            "; ".join(
                [
                    constraint("'X'", "returnConsumedCapacity", CAPACITY_ENUM),
                    constraint("'X'", "returnValues", RETURN_ENUM),
                ]
            ),
            2,
        ),
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
        {"TableName": "none", "Item": ITEM, "ConditionExpression": "a ="},
        error=refused(
            detected('Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "="')
        ),
        classic='Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "="',
    ),
    Case(
        "TBL-4 the table comes before the key",
        "GetItem",
        {"TableName": "none", "Key": {"wrong": {"S": "x"}}},
        error=NOT_FOUND,
    ),
    Case(
        "ORD-1 JSON types come before everything",
        "PutItem",
        {"TableName": "", "Item": {"pk": {"N": 5}}, "ReturnValues": "X"},
        error=("SerializationException", "NUMBER_VALUE cannot be converted to String"),
        http_only=True,
    ),
    Case(
        "ORD-1 JSON types come before the table",
        "GetItem",
        {"TableName": "none", "Key": {"pk": {"S": "a"}, "x": {"L": [{"S": True}]}}},
        error=("SerializationException", "TRUE_VALUE cannot be converted to String"),
        http_only=True,
    ),
    Case(
        "ERR-QUERY-1 step 2 the conditional operator alone and bare",
        "Query",
        {"TableName": "pair", "ConditionalOperator": "X", "Limit": 0},
        error=refused(
            "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]"
        ),
        classic=detected(
            "; ".join(
                [
                    constraint(
                        "'X'",
                        "conditionalOperator",
                        "Member must satisfy enum value set: [OR, AND]",
                    ),
                    "Value at 'Limit' failed to satisfy constraint: "
                    "Member must have value greater than or equal to 1",
                ]
            ),
            2,
        ),
    ),
    Case(
        "ERR-QUERY-1 step 10 the filter before the key condition",
        "Query",
        {
            "TableName": "none",
            "KeyConditionExpression": "pk = ",
            "FilterExpression": "a b",
        },
        error=refused('Invalid FilterExpression: Syntax error; token: "b", near: "a b"'),
    ),
    Case(
        "ERR-QUERY-1 step 13 before 14: no key condition before no table",
        "Query",
        {"TableName": "none"},
        error=refused(
            "Either the KeyConditions or KeyConditionExpression parameter must be "
            "specified in the request."
        ),
    ),
    Case(
        "ERR-QUERY-1 step 14 before 15: no table before no index",
        "Query",
        {
            "TableName": "none",
            "IndexName": "none",
            "KeyConditionExpression": "pk = :p",
            "ExpressionAttributeValues": {":p": value_of("a")},
        },
        error=NOT_FOUND,
    ),
    Case(
        "ERR-QUERY-1 step 15 before 18: no index before a wrong key condition",
        "Query",
        {
            "TableName": "pair",
            "IndexName": "none",
            "KeyConditionExpression": "x = :p",
            "ExpressionAttributeValues": {":p": value_of("a")},
        },
        error=refused("The table does not have the specified index: none"),
    ),
    Case(
        "ERR-SCAN-1 members are told together",
        "Scan",
        {"TableName": "hash", "Limit": 0, "TotalSegments": 0, "Segment": -1},
        error=refused(
            detected(
                "; ".join(
                    [
                        constraint(
                            "'0'",
                            "limit",
                            "Member must have value greater than or equal to 1",
                        ),
                        constraint(
                            "'-1'",
                            "segment",
                            "Member must have value greater than or equal to 0",
                        ),
                        constraint(
                            "'0'",
                            "totalSegments",
                            "Member must have value greater than or equal to 1",
                        ),
                    ]
                ),
                3,
            )
        ),
    ),
    Case(
        "ERR-BWRITE-1 enumerations before tables",
        "BatchWriteItem",
        {
            "RequestItems": {"none": [{"PutRequest": {"Item": ITEM}}]},
            "ReturnConsumedCapacity": "X",
        },
        error=refused(detected(constraint("'X'", "returnConsumedCapacity", CAPACITY_ENUM))),
    ),
    Case(
        "ERR-TX-1 the first fault of the first faulty action",
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Put": {"TableName": "none", "Item": ITEM}},
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
        {"TransactItems": [{"Put": {"TableName": "none", "Item": ITEM}}]},
        error=NOT_FOUND,
    ),
]
