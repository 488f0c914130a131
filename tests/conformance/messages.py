"""Exact messages of the data plane, in both profiles."""

from tests.conformance.case import (
    INVALID,
    Case,
    constraint,
    detected,
    put,
    refused,
    value_of,
    wire,
)

KEY = wire({"pk": "a"})
PAIR = wire({"pk": "a", "sk": 1})
NOT_THE_SCHEMA = "The provided key element does not match the schema"
EMPTY = (
    "One or more parameter values are not valid. The AttributeValue for a key attribute "
    "cannot contain an empty {} value. Key: {}"
)
INDEXED = {"pk": "a", "sk": "b"}


def update(expression, names=None, **values):
    """Return an UpdateItem request on the item {pk: a}."""
    request = {"TableName": "hash", "Key": KEY, "UpdateExpression": expression}
    if names:
        request["ExpressionAttributeNames"] = names
    if values:
        request["ExpressionAttributeValues"] = {
            f":{name}": value_of(value) for name, value in values.items()
        }
    return request


def query(condition, table="pair", **more):
    """Return a Query; values are given as v_name."""
    values = {f":{name[2:]}": value_of(v) for name, v in more.items() if name.startswith("v_")}
    rest = {name: v for name, v in more.items() if not name.startswith("v_")}
    request = {"TableName": table, "KeyConditionExpression": condition, **rest}
    if values:
        request["ExpressionAttributeValues"] = values
    return request


def either(message):
    """Return error and classic wording of an enveloped family (PRO-4)."""
    return {"error": refused(detected(message)), "classic": message}


CASES = [
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
        "KV-6 missing attribute",
        "GetItem",
        {"TableName": "pair", "Key": KEY},
        error=refused(NOT_THE_SCHEMA),
    ),
    Case(
        "KV-6 extra attribute",
        "DeleteItem",
        {"TableName": "hash", "Key": PAIR},
        error=refused(NOT_THE_SCHEMA),
    ),
    Case(
        "KV-6 wrong type",
        "UpdateItem",
        {"TableName": "hash", "Key": wire({"pk": 1})},
        error=refused(NOT_THE_SCHEMA),
    ),
    Case(
        "KV-6, BWI-6 in a batch put",
        "BatchWriteItem",
        {"RequestItems": {"pair": [{"PutRequest": {"Item": KEY}}]}},
        error=refused(NOT_THE_SCHEMA),
    ),
    Case(
        "KV-3",
        "PutItem",
        {"TableName": "hash", "Item": wire({"pk": ""})},
        error=refused(EMPTY.format("string", "pk")),
    ),
    Case(
        "KV-3 on a read",
        "GetItem",
        {"TableName": "hash", "Key": wire({"pk": ""})},
        error=refused(EMPTY.format("string", "pk")),
    ),
    Case(
        "KV-3 binary",
        "PutItem",
        {"TableName": "blob", "Item": {"pk": {"B": "AA=="}, "sk": {"B": ""}}},
        error=refused(EMPTY.format("binary", "sk")),
        http_only=True,
    ),
    Case(
        "KV-2 partition key of 2,049 bytes",
        "GetItem",
        {"TableName": "hash", "Key": wire({"pk": "x" * 2049})},
        error=refused(INVALID + "Size of hashkey has exceeded the maximum size limit of2048 bytes"),
    ),
    Case(
        "KV-2 sort key of 1,025 bytes",
        "PutItem",
        {"TableName": "indexed", "Item": wire({"pk": "a", "sk": "x" * 1025})},
        error=refused(
            INVALID + "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"
        ),
    ),
    Case(
        "KV-7 the schema before emptiness",
        "GetItem",
        {"TableName": "pair", "Key": wire({"pk": "", "sk": "x"})},
        error=refused(NOT_THE_SCHEMA),
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
    Case(
        "IXV-3",
        "UpdateItem",
        {
            "TableName": "indexed",
            "Key": wire(INDEXED),
            "UpdateExpression": "SET g = :e",
            "ExpressionAttributeValues": {":e": value_of("")},
        },
        error=refused(
            "One or more parameter values are not valid. The update expression attempted to update "
            "a secondary index key to a value that is not supported. The AttributeValue for a key "
            "attribute cannot contain an empty string value."
        ),
    ),
    Case(
        "MAK-21, IXV-1 on update",
        "UpdateItem",
        {
            "TableName": "indexed",
            "Key": wire(INDEXED),
            "UpdateExpression": "SET n = :e",
            "ExpressionAttributeValues": {":e": value_of("x")},
        },
        error=refused(
            INVALID + "Type mismatch for Index Key n Expected: N Actual: S IndexName: all"
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
    Case(
        "PRO-2, ERR-VAL-2 a query words it bare",
        "Query",
        query("pk = :p", v_p={"N": "x"}),
        error=refused("The parameter cannot be converted to a numeric value: x"),
        classic="ExpressionAttributeValues contains invalid value: "
        "The parameter cannot be converted to a numeric value: x for key :p",
    ),
    Case(
        "PRO-2, ERR-VAL-2 a scan words it as ever",
        "Scan",
        {
            "TableName": "hash",
            "FilterExpression": "a = :p",
            "ExpressionAttributeValues": {":p": {"N": "x"}},
        },
        error=refused(
            "ExpressionAttributeValues contains invalid value: "
            "The parameter cannot be converted to a numeric value: x for key :p"
        ),
    ),
    # Placeholders (PLH-*)
    Case(
        "PLH-1 name",
        "UpdateItem",
        update("SET #a = :v", v=1),
        **either(
            "Invalid UpdateExpression: An expression attribute name used in the document path is "
            "not defined; attribute name: #a"
        ),
    ),
    Case(
        "PLH-1 value",
        "UpdateItem",
        update("SET a = :v"),
        **either(
            "Invalid UpdateExpression: An expression attribute value used in expression is not "
            "defined; attribute value: :v"
        ),
    ),
    Case(
        "PLH-2 names before values",
        "UpdateItem",
        update("SET a = :v", names={"#x": "x"}, v=1, w=2),
        **either("Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}"),
    ),
    Case(
        "PLH-2 values",
        "UpdateItem",
        update("SET a = :v", v=1, w=2),
        **either("Value provided in ExpressionAttributeValues unused in expressions: keys: {:w}"),
    ),
    Case(
        "PLH-3 names",
        "GetItem",
        {"TableName": "hash", "Key": KEY, "ExpressionAttributeNames": {"#a": "a"}},
        error=refused("ExpressionAttributeNames can only be specified when using expressions"),
    ),
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
    Case(
        "PLH-4",
        "UpdateItem",
        {**update("REMOVE a"), "ExpressionAttributeNames": {}},
        **either("ExpressionAttributeNames must not be empty"),
    ),
    Case(
        "LEX-4",
        "UpdateItem",
        update("SET a = :v", names={"a": "x"}, v=1),
        **either('ExpressionAttributeNames contains invalid key: Syntax error; key: "a"'),
    ),
    # Updates (UPD-*)
    Case(
        "UPD-2",
        "UpdateItem",
        update("SET a = :v SET b = :v", v=1),
        **either(
            'Invalid UpdateExpression: The "SET" section can only be used once in an update '
            "expression;"
        ),
    ),
    Case(
        "UPD-3",
        "UpdateItem",
        update("SET a = :v, a.b = :v", v=1),
        **either(
            "Invalid UpdateExpression: Two document paths overlap with each other; must remove or "
            "rewrite one of these paths; path one: [a], path two: [a, b]"
        ),
    ),
    Case(
        "UPD-5, PRO-5 never enveloped",
        "UpdateItem",
        update("SET pk = :v", v="a"),
        error=refused(INVALID + "Cannot update attribute pk. This attribute is part of the key"),
    ),
    Case(
        "UPD-6",
        "UpdateItem",
        update("SET a.b = :v", v=1),
        error=refused("The document path provided in the update expression is invalid for update"),
    ),
    Case(
        "UPD-10",
        "UpdateItem",
        update("SET a = b + :v", v=1),
        error=refused(
            "The provided expression refers to an attribute that does not exist in the item"
        ),
    ),
    Case(
        "UPD-11 stored type",
        "UpdateItem",
        update("SET n = n + :v", v=1),
        given=[put("hash", pk="a", n="text")],
        error=refused("An operand in the update expression has an incorrect data type"),
    ),
    Case(
        "UPD-15",
        "UpdateItem",
        update("ADD a :v", v="x"),
        **either(
            "Invalid UpdateExpression: Incorrect operand type for operator or function; "
            "operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND"
        ),
    ),
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
    # Key conditions (KEY-*), also vectors of VEC-9
    Case(
        "KEY-2",
        "Query",
        query("pk > :p", v_p="a"),
        error=refused("Query key condition not supported"),
    ),
    Case(
        "KEY-3",
        "Query",
        query("sk = :s", v_s=1),
        error=refused("Query condition missed key schema element: pk"),
    ),
    Case(
        "KEY-4",
        "Query",
        query("pk = :p AND x = :s", v_p="a", v_s=1),
        error=refused("Query condition missed key schema element: sk"),
    ),
    Case(
        "KEY-5",
        "Query",
        query("pk = :p AND sk > :a AND sk < :b", v_p="a", v_a=1, v_b=2),
        error=refused(
            "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one "
            "condition per key"
        ),
    ),
    Case(
        "KEY-6",
        "Query",
        query("pk = :p AND sk > :a AND x = :b", v_p="a", v_a=1, v_b=2),
        error=refused(
            "The number of query conditions (3) exceeds the number of key attributes defined in "
            "the schema (2)"
        ),
    ),
    Case(
        "KEY-6, KEY-17 counted before names on a hash-only index",
        "Query",
        query("g = :p AND sk = :s", table="indexed", v_p="a", v_s="x", IndexName="keys"),
        error=refused(
            "The number of query conditions (2) exceeds the number of key attributes defined in "
            "the schema (1)"
        ),
    ),
    Case(
        "KEY-7",
        "Query",
        query("pk = :p OR sk = :s", v_p="a", v_s=1),
        error=refused("Invalid operator used in KeyConditionExpression: OR"),
    ),
    Case(
        "KEY-8",
        "Query",
        query("pk.a = :p", v_p="a"),
        error=refused(
            "Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on "
            "nested attributes"
        ),
    ),
    Case(
        "KEY-9",
        "Query",
        query("pk = sk"),
        error=refused(
            "Invalid KeyConditionExpression: Invalid condition in KeyConditionExpression: "
            "Multiple attribute names used in one condition"
        ),
    ),
    Case(
        "KEY-12 on a number key",
        "Query",
        query("pk = :p AND begins_with(sk, :s)", v_p="a", v_s=1),
        error=refused(
            "Invalid KeyConditionExpression: Incorrect operand type for operator or function; "
            "operator or function: begins_with, operand type: N"
        ),
    ),
    Case(
        "KEY-13",
        "Query",
        query("pk = :p AND begins_with(sk, :s)", v_p="a", v_s="x"),
        error=refused(INVALID + "Condition parameter type does not match schema type"),
    ),
    Case(
        "KEY-14",
        "Query",
        query("pk = :p AND sk BETWEEN :a AND :b", v_p="a", v_a=5, v_b=1),
        error=refused(
            "Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be "
            "greater than or equal to lower bound; lower bound operand: AttributeValue: {N:5}, "
            "upper bound operand: AttributeValue: {N:1}"
        ),
    ),
    Case(
        "KEY-15",
        "Query",
        query("pk = :p", v_p=""),
        error=refused(EMPTY.format("string", "pk")),
    ),
    # Query and Scan
    Case(
        "QRY-6",
        "Query",
        query("pk = :p", v_p="a", v_x=1, FilterExpression="sk = :x"),
        error=refused(
            "Filter Expression can only contain non-primary key attributes: "
            "Primary key attribute: sk"
        ),
    ),
    Case(
        "QRY-7",
        "Query",
        query(
            "g = :p", table="indexed", v_p="a", v_x=1, IndexName="all", FilterExpression="l.a = :x"
        ),
        error=refused(
            "Key attributes must be scalars; list random access '[]' and map lookup '.' "
            "are not allowed: IndexKey: l"
        ),
    ),
    Case(
        "QRY-12",
        "Query",
        query("g = :p", table="indexed", v_p="a", IndexName="keys", ConsistentRead=True),
        error=refused("Consistent reads are not supported on global secondary indexes"),
    ),
    Case(
        "SEL-2 query",
        "Query",
        query("pk = :p", v_p="a", Select="SPECIFIC_ATTRIBUTES"),
        **either(
            "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
            "SPECIFIC_ATTRIBUTES"
        ),
    ),
    Case(
        "SEL-2 scan",
        "Scan",
        {"TableName": "hash", "Select": "SPECIFIC_ATTRIBUTES"},
        error=refused(
            "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
            "SPECIFIC_ATTRIBUTES"
        ),
    ),
    Case(
        "SEL-3",
        "Scan",
        {"TableName": "hash", "Select": "COUNT", "ProjectionExpression": "a"},
        error=refused(
            "Cannot specify the ProjectionExpression when choosing to get only the Count"
        ),
    ),
    Case(
        "SEL-4",
        "Scan",
        {"TableName": "hash", "Select": "ALL_PROJECTED_ATTRIBUTES"},
        error=refused("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"),
    ),
    Case(
        "SEL-5",
        "Query",
        query("g = :p", table="indexed", v_p="a", IndexName="keys", Select="ALL_ATTRIBUTES"),
        error=refused(
            INVALID + "Select type ALL_ATTRIBUTES is not supported for global secondary index keys "
            "because its projection type is not ALL"
        ),
    ),
    Case(
        "SEL-6",
        "Query",
        query(
            "g = :p", table="indexed", v_p="a", IndexName="keys", ProjectionExpression="a, pk, b"
        ),
        error=refused(INVALID + "Global secondary index keys does not project [a, b]"),
    ),
    Case(
        "ESK-1 number of attributes",
        "Scan",
        {"TableName": "pair", "ExclusiveStartKey": KEY},
        error=refused("The provided starting key is invalid"),
    ),
    Case(
        "ESK-1 table key absent",
        "Scan",
        {"TableName": "pair", "ExclusiveStartKey": wire({"pk": "a", "x": 1})},
        error=refused(
            "The provided starting key is invalid: "
            "The provided key element does not match the schema"
        ),
    ),
    Case(
        "ESK-1 index key absent",
        "Scan",
        {
            "TableName": "indexed",
            "IndexName": "keys",
            "ExclusiveStartKey": wire({"pk": "a", "sk": "b", "x": "c"}),
        },
        error=refused("The provided starting key is invalid"),
    ),
    Case(
        "ESK-2 index key of another type",
        "Scan",
        {
            "TableName": "indexed",
            "IndexName": "keys",
            "ExclusiveStartKey": wire({"pk": "a", "sk": "b", "g": 1}),
        },
        error=refused(NOT_THE_SCHEMA),
    ),
    Case(
        "ESK-3",
        "Scan",
        {"TableName": "hash", "ExclusiveStartKey": {"pk": {"NULL": False}}},
        error=refused(
            "The provided starting key is invalid: "
            + INVALID
            + "Null attribute value types must have the value of true"
        ),
    ),
    Case(
        "ESK-5 another partition",
        "Query",
        query("pk = :p", v_p="a", ExclusiveStartKey=wire({"pk": "b", "sk": 1})),
        error=refused(
            "The provided starting key is outside query boundaries based on provided conditions"
        ),
    ),
    Case(
        "ESK-5 outside the range",
        "Query",
        query("pk = :p AND sk > :s", v_p="a", v_s=5, ExclusiveStartKey=wire({"pk": "a", "sk": 1})),
        error=refused("The provided starting key does not match the range key predicate"),
    ),
    Case(
        "SCN-2 no total",
        "Scan",
        {"TableName": "hash", "Segment": 0},
        error=refused(
            "The TotalSegments parameter is required but was not present in the request when "
            "Segment parameter is present"
        ),
    ),
    Case(
        "SCN-2 no segment",
        "Scan",
        {"TableName": "hash", "TotalSegments": 2},
        error=refused(
            "The Segment parameter is required but was not present in the request when parameter "
            "TotalSegments is present"
        ),
    ),
    Case(
        "SCN-2 too high",
        "Scan",
        {"TableName": "hash", "TotalSegments": 2, "Segment": 2},
        error=refused(
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
            "Segment: 2 is not less than TotalSegments: 2"
        ),
    ),
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
    Case(
        "ERR-BWRITE-3",
        "BatchWriteItem",
        {"RequestItems": {}},
        error=refused(
            detected(
                "Value at 'RequestItems' failed to satisfy constraint: "
                "Member must have length greater than or equal to 1"
            )
        ),
        classic="The requestItems parameter is required for BatchWriteItem",
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
]
