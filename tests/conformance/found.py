"""What comparisons with other emulators found: orders and answers that two of them share."""

from tests.conformance.case import (
    INVALID,
    Case,
    constraint,
    detected,
    put,
    refused,
    wire,
)

A = wire({"pk": "a"})
DUPLICATES = "Provided list of item keys contains duplicates"
OTHER_SCHEMA = "The provided key element does not match the schema"

NOT_SCALAR = (
    "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: {}"
)
CANCELLED = "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]"
INDEXED = wire({"pk": "a", "sk": "b"})
FILL = put("indexed", pk="a", sk="b", g="c", l="d", y="e")

LONG = "n" * 65_536
#: With their placeholders they make an UpdateExpression of more than 4,096 bytes.
MANY = [f"attribute_{number:03}" for number in range(290)]
KEY_IS_A = {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]}}
NO_TYPE = "Invalid ConditionExpression: Invalid attribute type name found; type: Q, valid types: {}"

START = "The provided starting key is invalid"
MISFIT = START + ": " + OTHER_SCHEMA


def start(table, key, **others):
    """Return a Query of a partition from a start key."""
    return {
        "TableName": table,
        "KeyConditionExpression": "pk = :v",
        "ExpressionAttributeValues": wire({":v": "a"}),
        "ExclusiveStartKey": key,
        **others,
    }


def query(index, name, value, **others):
    """Return a Query of an index by its partition key."""
    return {
        "TableName": "indexed",
        "IndexName": index,
        "KeyConditionExpression": f"{name} = :v",
        "ExpressionAttributeValues": wire({":v": value}),
        **others,
    }


def puts(*items):
    """Return put requests of a batch."""
    return [{"PutRequest": {"Item": wire(item)}} for item in items]


CASES = [
    Case(
        "CND-12, CND-2 a size that does not exist differs",
        "PutItem",
        {
            "TableName": "hash",
            "Item": A,
            "ConditionExpression": "size(n) <> :one AND size(gone) <> :one",
            "ExpressionAttributeValues": wire({":one": 1}),
        },
        given=[put("hash", pk="a", n=1)],
        answer={},
    ),
    Case(
        "UPD-16 the type set of DELETE",
        "UpdateItem",
        {
            "TableName": "hash",
            "Key": A,
            "UpdateExpression": "DELETE x :v",
            "ExpressionAttributeValues": wire({":v": True}),
        },
        error=refused(
            detected(
                "Invalid UpdateExpression: Incorrect operand type for operator or function; "
                "operator: DELETE, operand type: BOOL, typeSet: ALLOWED_FOR_ADD_OPERAND"
            )
        ),
        classic="Invalid UpdateExpression: Incorrect operand type for operator or function; "
        "operator: DELETE, operand type: BOOLEAN, typeSet: ALLOWED_FOR_DELETE_OPERAND",
    ),
    Case(
        "WIR-15 GetItem knows no values",
        "GetItem",
        {"TableName": "hash", "Key": A, "ExpressionAttributeValues": {}},
        given=[put("hash", pk="a")],
        answer={"Item": A},
        http_only=True,
    ),
    Case(
        "LEG-6 nothing to join",
        "DeleteItem",
        {"TableName": "hash", "Key": A, "ConditionalOperator": "OR"},
        error=refused(detected("ConditionalOperator cannot be used without Filter or Expected")),
        classic="ConditionalOperator cannot be used without Filter or Expected",
    ),
    Case(
        "LEG-6 one to join",
        "Scan",
        {
            "TableName": "hash",
            "ConditionalOperator": "OR",
            "ScanFilter": {"x": {"ComparisonOperator": "NULL"}},
        },
        error=refused(
            "ConditionalOperator can only be used when Filter or Expected has two or more elements"
        ),
    ),
    Case(
        "BGI-3, ERR-BGET-1 the same key twice in no table",
        "BatchGetItem",
        {"RequestItems": {"none": {"Keys": [A, A]}}},
        error=refused(DUPLICATES),
    ),
    Case(
        "BGI-3, ERR-BGET-1 the same key twice, and one of another schema",
        "BatchGetItem",
        {"RequestItems": {"hash": {"Keys": [wire({"x": "a"}), A, A]}}},
        error=refused(DUPLICATES),
    ),
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
        error=refused(OTHER_SCHEMA),
    ),
    # Paths below a key (QRY-7)
    Case(
        "QRY-7 a projection below a key",
        "GetItem",
        {"TableName": "hash", "Key": A, "ProjectionExpression": "pk[0]"},
        error=refused(NOT_SCALAR.format("Key: pk")),
    ),
    Case(
        "QRY-7 a projection below an index key",
        "BatchGetItem",
        {"RequestItems": {"indexed": {"Keys": [INDEXED], "ProjectionExpression": "x, g.a"}}},
        error=refused(NOT_SCALAR.format("IndexKey: g")),
    ),
    Case(
        "QRY-7, TXG-3 a projection below a key cancels",
        "TransactGetItems",
        {
            "TransactItems": [
                {"Get": {"TableName": "hash", "Key": A, "ProjectionExpression": "pk.a"}}
            ]
        },
        error=("TransactionCanceledException", CANCELLED.format("ValidationError")),
    ),
    Case(
        "QRY-7 a table key is no index key, whatever is read",
        "Scan",
        {
            "TableName": "indexed",
            "IndexName": "local",
            "FilterExpression": "attribute_exists(pk.a)",
        },
        error=refused(NOT_SCALAR.format("Key: pk")),
    ),
    Case(
        "QRY-7 keys of every index, whatever is read",
        "Scan",
        {"TableName": "indexed", "FilterExpression": "attribute_exists(g.a)"},
        error=refused(NOT_SCALAR.format("IndexKey: g")),
    ),
    Case(
        "QRY-6 comes before QRY-7",
        "Query",
        query("keys", "g", "c", FilterExpression="attribute_exists(g.a)"),
        error=refused(
            "Filter Expression can only contain non-primary key attributes: "
            "Primary key attribute: g"
        ),
    ),
    Case(
        "QRY-7 an update below an index key",
        "UpdateItem",
        {"TableName": "indexed", "Key": INDEXED, "UpdateExpression": "REMOVE g.a"},
        error=refused(NOT_SCALAR.format("IndexKey: g")),
    ),
    Case(
        "QRY-7 an update from below a key",
        "UpdateItem",
        {"TableName": "indexed", "Key": INDEXED, "UpdateExpression": "SET x = pk.a"},
        error=refused(NOT_SCALAR.format("Key: pk")),
    ),
    Case(
        "UPD-5 comes before QRY-7",
        "UpdateItem",
        {"TableName": "indexed", "Key": INDEXED, "UpdateExpression": "REMOVE g.a, pk.a"},
        error=refused(INVALID + "Cannot update attribute pk. This attribute is part of the key"),
    ),
    *(
        Case(
            f"QRY-7 a condition below a key: {operation}",
            operation,
            {
                "TableName": "hash",
                member: A,
                "ConditionExpression": "attribute_not_exists(pk.a)",
            },
            error=refused(NOT_SCALAR.format("Key: pk")),
        )
        for operation, member in (("PutItem", "Item"), ("UpdateItem", "Key"), ("DeleteItem", "Key"))
    ),
    Case(
        "QRY-7, TXW-12 a condition below a key cancels",
        "TransactWriteItems",
        {
            "TransactItems": [
                {
                    "ConditionCheck": {
                        "TableName": "hash",
                        "Key": A,
                        "ConditionExpression": "attribute_not_exists(pk.a)",
                    }
                }
            ]
        },
        error=("TransactionCanceledException", CANCELLED.format("ValidationError")),
    ),
    # Filters on what an index does not hold (QRY-10)
    Case(
        "QRY-10 a global index",
        "Query",
        query("keys", "g", "c", FilterExpression="attribute_exists(z.a) OR x = y"),
        error=refused(
            INVALID + "Secondary index keys does not project one or more filter attributes: "
            "[x, y, z]"
        ),
    ),
    Case(
        "QRY-10 a local index",
        "Query",
        query("lean", "pk", "a", FilterExpression="attribute_exists(y)", Select="ALL_ATTRIBUTES"),
        error=refused(
            INVALID + "Secondary index lean does not project one or more filter attributes: [y]"
        ),
    ),
    Case(
        "QRY-10 SEL-5 comes first",
        "Query",
        query("keys", "g", "c", FilterExpression="attribute_exists(y)", Select="ALL_ATTRIBUTES"),
        error=refused(
            INVALID + "Select type ALL_ATTRIBUTES is not supported for global secondary index "
            "keys because its projection type is not ALL"
        ),
    ),
    *(
        Case(
            f"QRY-10, CAP-210 a scan finds nothing and fetches nothing: {index}",
            "Scan",
            {
                "TableName": "indexed",
                "IndexName": index,
                "FilterExpression": "attribute_exists(y)",
                "ReturnConsumedCapacity": "TOTAL",
            },
            given=[FILL],
            answer={
                "Items": [],
                "Count": 0,
                "ScannedCount": 1,
                # Four partitions, and no item is fetched from the table.
                "ConsumedCapacity": {"TableName": "indexed", "CapacityUnits": 2.0},
            },
        )
        for index in ("keys", "lean")
    ),
    # Updates
    Case(
        "UPD-12, UPD-13 a function takes no bare arithmetic",
        "UpdateItem",
        {
            "TableName": "hash",
            "Key": A,
            "UpdateExpression": "SET n = if_not_exists(n, m + :one)",
            "ExpressionAttributeValues": wire({":one": 1}),
        },
        error=refused(
            detected('Invalid UpdateExpression: Syntax error; token: "+", near: "m + :one"')
        ),
        classic='Invalid UpdateExpression: Syntax error; token: "+", near: "m + :one"',
    ),
    Case(
        "UPD-21, UPD-6 a path that leads nowhere before a number that is too large",
        "UpdateItem",
        {
            "TableName": "hash",
            "Key": A,
            "UpdateExpression": "SET n = :big + :big, gone.x = :big",
            "ExpressionAttributeValues": {":big": {"N": "9E125"}},
        },
        error=refused("The document path provided in the update expression is invalid for update"),
    ),
    Case(
        "UPD-21, NUM-10 only the result is stored",
        "UpdateItem",
        {
            "TableName": "hash",
            "Key": A,
            "UpdateExpression": "SET n = (:big + :one) - :big",
            "ExpressionAttributeValues": {":big": {"N": "1E125"}, ":one": {"N": "1"}},
            "ReturnValues": "UPDATED_NEW",
        },
        answer={"Attributes": {"n": {"N": "1"}}},
    ),
    Case(
        "UPD-21, NUM-4 a sum that is too large, after all",
        "UpdateItem",
        {
            "TableName": "hash",
            "Key": A,
            "AttributeUpdates": {"n": {"Action": "ADD", "Value": {"N": "9E125"}}},
        },
        given=[put("hash", pk="a", n={"N": "9E125"})],
        error=refused(
            "Number overflow. Attempting to store a number with magnitude larger than "
            "supported range"
        ),
    ),
    Case(
        "TXG-1 nothing of an item is no item",
        "TransactGetItems",
        {"TransactItems": [{"Get": {"TableName": "hash", "Key": A, "ProjectionExpression": "x"}}]},
        given=[put("hash", pk="a", n=1)],
        answer={"Responses": [{}]},
    ),
    # Start keys (ESK-*), where the layers of 2026 differ
    Case(
        "ESK-1 a start key without its sort key",
        "Query",
        start("pair", A),
        error=refused(START),
    ),
    Case(
        "ESK-2 a table key of another type",
        "Query",
        start("pair", wire({"pk": "a", "sk": "b"})),
        error=refused(START),
        classic=MISFIT,
    ),
    Case(
        "ESK-2 an index key of another type",
        "Query",
        start("indexed", wire({"pk": "a", "sk": "b", "l": 1}), IndexName="local"),
        error=refused(START),
        classic=OTHER_SCHEMA,
    ),
    Case(
        "ESK-2 a scan is still served by the older layer",
        "Scan",
        {"TableName": "pair", "ExclusiveStartKey": wire({"pk": "a", "sk": "b"})},
        error=refused(MISFIT),
    ),
    Case(
        "ESK-3 a value that is none",
        "Query",
        start("hash", {"pk": {"NULL": False}}),
        error=refused(INVALID + "Null attribute value types must have the value of true"),
        classic=START + ": " + INVALID + "Null attribute value types must have the value of true",
    ),
    Case(
        "ESK-3 no value at all",
        "Query",
        start("hash", {"pk": {}}),
        error=refused(
            START + ": Supplied AttributeValue is empty, must contain exactly one of the "
            "supported datatypes"
        ),
    ),
    Case(
        "ESK-3, KV-3 an empty key",
        "Query",
        start("hash", wire({"pk": ""})),
        error=refused(
            "One or more parameter values are not valid. The AttributeValue for a key attribute "
            "cannot contain an empty string value. Key: pk"
        ),
    ),
    Case(
        "ESK-5 another item of a table without sort key",
        "Query",
        start("hash", wire({"pk": "b"})),
        error=refused("The provided exclusive start key is invalid"),
    ),
    # Members
    Case(
        "SEL-4 a query",
        "Query",
        {**start("hash", A), "Select": "ALL_PROJECTED_ATTRIBUTES"},
        error=refused(
            detected("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
        ),
        classic="ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
    ),
    Case(
        "ERR-SCAN-1 Select before the segments",
        "Scan",
        {"TableName": "hash", "Segment": 5, "TotalSegments": 5, "Select": "SPECIFIC_ATTRIBUTES"},
        error=refused(
            "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
            "SPECIFIC_ATTRIBUTES"
        ),
    ),
    Case(
        "TBL-1 a name that no table can have",
        "GetItem",
        {"TableName": "ab", "Key": A},
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
        {"TableName": "hash", "Key": A, "AttributesToGet": ["x", ""]},
        error=refused("Empty attribute name"),
    ),
    Case(
        "TYP-6 an empty name in AttributeUpdates",
        "UpdateItem",
        {"TableName": "hash", "Key": A, "AttributeUpdates": {"": {"Value": {"S": "x"}}}},
        error=refused("Empty attribute name"),
    ),
    Case(
        "TYP-6 an empty name in Expected",
        "PutItem",
        {"TableName": "hash", "Item": A, "Expected": {"": {"Exists": False}}},
        error=refused("Empty attribute name"),
    ),
    Case(
        "TYP-6 a name of 65,536 bytes",
        "PutItem",
        {"TableName": "hash", "Item": wire({"pk": "a", "m": {"M": {LONG: {"S": "x"}}}})},
        error=refused("Attribute name is too large, must be less than 65536 bytes"),
    ),
    Case(
        "TYP-6, PLH-7 a placeholder for such a name",
        "GetItem",
        {
            "TableName": "hash",
            "Key": A,
            "ProjectionExpression": "#n",
            "ExpressionAttributeNames": {"#n": LONG},
        },
        error=refused(
            "ExpressionAttributeNames contains invalid value: Attribute name is too large, must "
            "be less than 65536 bytes for key #n"
        ),
    ),
    # Legacy parameters
    Case(
        "LEG-1 KeyConditions goes with other expressions",
        "Query",
        {
            "TableName": "pair",
            "KeyConditions": KEY_IS_A,
            "FilterExpression": "x = :x",
            "ProjectionExpression": "sk",
            "ExpressionAttributeValues": wire({":x": 2}),
        },
        given=[put("pair", pk="a", sk=1, x=1), put("pair", pk="a", sk=2, x=2)],
        answer={"Items": [wire({"sk": 2})], "Count": 1, "ScannedCount": 2},
    ),
    Case(
        "LEG-1 KeyConditions is not named where other parameters are",
        "Query",
        {
            "TableName": "pair",
            "KeyConditions": KEY_IS_A,
            "AttributesToGet": ["x"],
            "ProjectionExpression": "sk",
        },
        error=refused(
            "Can not use both expression and non-expression parameters in the same request: "
            "Non-expression parameters: {AttributesToGet} Expression parameters: "
            "{ProjectionExpression}"
        ),
    ),
    Case(
        "UPD-19, LEG-7 an update of nothing creates the item",
        "UpdateItem",
        {"TableName": "hash", "Key": A, "AttributeUpdates": {}, "ReturnValues": "ALL_NEW"},
        answer={"Attributes": A},
    ),
    # Updates
    Case(
        "UPD-8, UPD-20 removing from an item that does not exist",
        "UpdateItem",
        {"TableName": "hash", "Key": A, "UpdateExpression": "REMOVE x.y, z[0]"},
        answer={},
    ),
    Case(
        "CND-8 the type of a value",
        "PutItem",
        {
            "TableName": "hash",
            "Item": A,
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
            "Item": A,
            "ConditionExpression": "attribute_type(x, :t)",
            "ExpressionAttributeValues": wire({":t": "Q"}),
        },
        error=refused(detected(NO_TYPE.format("{S,SS,N,NS,B,BS,BOOL,NULL,L,M}"))),
        classic=NO_TYPE.format("{N,BS,L,B,NULL,M,S,SS,NS,BOOL}"),
    ),
    # Partitions of one item
    Case(
        "ESK-5 the item itself, of a table without sort key",
        "Query",
        start("hash", A),
        error=refused("The provided exclusive start key is invalid"),
    ),
    Case(
        "ESK-5, QRY-4 nothing follows the item of a table without sort key",
        "Query",
        {
            "TableName": "hash",
            "KeyConditionExpression": "pk = :v",
            "ExpressionAttributeValues": wire({":v": "a"}),
            "Limit": 1,
        },
        given=[put("hash", pk="a")],
        answer={"Items": [A], "Count": 1, "ScannedCount": 1},
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
                        "Item": A,
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
                        "Key": INDEXED,
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
    # PartiQL
    Case(
        "PQL-2 a statement may be longer than an expression",
        "ExecuteStatement",
        {
            "Statement": "UPDATE hash SET "
            + ", ".join(f"{name}=1" for name in MANY)
            + " WHERE pk='a' RETURNING MODIFIED NEW *"
        },
        given=[put("hash", pk="a")],
        answer={"Items": [wire(dict.fromkeys(MANY, 1))]},
    ),
]
