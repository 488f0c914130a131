"""Cases of Query: requests with their whole answer or exact error, for every door."""

from tests.operations.cases.case import (
    EMPTY_KEY,
    INVALID,
    KEY,
    MISFIT,
    NOT_FOUND,
    NOT_THE_SCHEMA,
    ROWS,
    START,
    Case,
    compare,
    constraint,
    detected,
    either,
    put,
    refused,
    value_of,
    wire,
)


def query(condition, table="pair", **more):
    """Return a Query; values are given as v_name."""
    values = {f":{name[2:]}": value_of(v) for name, v in more.items() if name.startswith("v_")}
    rest = {name: v for name, v in more.items() if not name.startswith("v_")}
    request = {"TableName": table, "KeyConditionExpression": condition, **rest}
    if values:
        request["ExpressionAttributeValues"] = values
    return request


def by_key_conditions(rules, conditions, numbers, **more):
    """Return a case: a Query by KeyConditions, and the sort keys it finds."""
    request = {
        "TableName": "pair",
        "KeyConditions": {"pk": compare("EQ", "a"), **conditions},
        "AttributesToGet": ["sk"],
        **more,
    }
    found = [wire({"sk": number}) for number in numbers]
    scanned = more.pop("scanned", len(found))
    request.pop("scanned", None)
    return Case(
        rules,
        "Query",
        request,
        given=ROWS,
        answer={"Items": found, "Count": len(found), "ScannedCount": scanned},
    )


KEY_IS_A = {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]}}


def from_start(table, key, **others):
    """Return a Query of a partition from a start key."""
    return {
        "TableName": table,
        "KeyConditionExpression": "pk = :v",
        "ExpressionAttributeValues": wire({":v": "a"}),
        "ExclusiveStartKey": key,
        **others,
    }


def of_index(index, name, value, **others):
    """Return a Query of an index by its partition key."""
    return {
        "TableName": "indexed",
        "IndexName": index,
        "KeyConditionExpression": f"{name} = :v",
        "ExpressionAttributeValues": wire({":v": value}),
        **others,
    }


SORTED = [put("pair", pk="a", sk=number) for number in (10, -1, 100, 5, 0, -10)]
ITEMS = [put("indexed", pk="a", sk=sk, g="x", n=n, l=f"l{n}", x="1", y="2") for sk, n in
         (("1", 3), ("2", 1), ("3", 2))]  # fmt: skip


CASES = [
    # Which fault is reported first
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
    # Values (PRO-5: bare everywhere)
    Case(
        "PRO-2, ERR-VAL-2 a query words it bare",
        "Query",
        query("pk = :p", v_p={"N": "x"}),
        error=refused("The parameter cannot be converted to a numeric value: x"),
        classic="ExpressionAttributeValues contains invalid value: "
        "The parameter cannot be converted to a numeric value: x for key :p",
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
        error=refused(EMPTY_KEY.format("string", "pk")),
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
    # Limits
    Case(
        "EXP-3",
        "Query",
        {"TableName": "hash", "KeyConditionExpression": ""},
        error=refused("Invalid KeyConditionExpression: The expression can not be empty;"),
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
    # KeyConditions, filters, AttributesToGet
    by_key_conditions("LEG-9", {}, [1, 2, 3, 4, 5]),
    by_key_conditions("LEG-9 BETWEEN, VEC-8", {"sk": compare("BETWEEN", 2, 4)}, [2, 3, 4]),
    by_key_conditions(
        "LEG-9 GT backwards", {"sk": compare("GT", 3)}, [5, 4], ScanIndexForward=False
    ),
    by_key_conditions(
        "LEG-5 a QueryFilter",
        {"sk": compare("LE", 4)},
        [2, 4],
        QueryFilter={"v": compare("EQ", "v0")},
        scanned=4,
    ),
    Case(
        "QRY-6 a QueryFilter on a key",
        "Query",
        {
            "TableName": "pair",
            "KeyConditions": {"pk": compare("EQ", "a")},
            "QueryFilter": {"sk": compare("EQ", 1)},
        },
        error=refused(
            "QueryFilter can only contain non-primary key attributes: Primary key attribute: sk"
        ),
    ),
    # Paths below a key (QRY-7)
    Case(
        "QRY-6 comes before QRY-7",
        "Query",
        of_index("keys", "g", "c", FilterExpression="attribute_exists(g.a)"),
        error=refused(
            "Filter Expression can only contain non-primary key attributes: "
            "Primary key attribute: g"
        ),
    ),
    # Filters on what an index does not hold (QRY-10)
    Case(
        "QRY-10 a global index",
        "Query",
        of_index("keys", "g", "c", FilterExpression="attribute_exists(z.a) OR x = y"),
        error=refused(
            INVALID + "Secondary index keys does not project one or more filter attributes: "
            "[x, y, z]"
        ),
    ),
    Case(
        "QRY-10 a local index",
        "Query",
        of_index(
            "lean", "pk", "a", FilterExpression="attribute_exists(y)", Select="ALL_ATTRIBUTES"
        ),
        error=refused(
            INVALID + "Secondary index lean does not project one or more filter attributes: [y]"
        ),
    ),
    Case(
        "QRY-10 SEL-5 comes first",
        "Query",
        of_index("keys", "g", "c", FilterExpression="attribute_exists(y)", Select="ALL_ATTRIBUTES"),
        error=refused(
            INVALID + "Select type ALL_ATTRIBUTES is not supported for global secondary index "
            "keys because its projection type is not ALL"
        ),
    ),
    # Start keys (ESK-*), where the layers of 2026 differ
    Case(
        "ESK-1 a start key without its sort key",
        "Query",
        from_start("pair", KEY),
        error=refused(START),
    ),
    Case(
        "ESK-2 a table key of another type",
        "Query",
        from_start("pair", wire({"pk": "a", "sk": "b"})),
        error=refused(START),
        classic=MISFIT,
    ),
    Case(
        "ESK-2 an index key of another type",
        "Query",
        from_start("indexed", wire({"pk": "a", "sk": "b", "l": 1}), IndexName="local"),
        error=refused(START),
        classic=NOT_THE_SCHEMA,
    ),
    Case(
        "ESK-3 a value that is none",
        "Query",
        from_start("hash", {"pk": {"NULL": False}}),
        error=refused(INVALID + "Null attribute value types must have the value of true"),
        classic=START + ": " + INVALID + "Null attribute value types must have the value of true",
    ),
    Case(
        "ESK-3 no value at all",
        "Query",
        from_start("hash", {"pk": {}}),
        error=refused(
            START + ": Supplied AttributeValue is empty, must contain exactly one of the "
            "supported datatypes"
        ),
    ),
    Case(
        "ESK-3, KV-3 an empty key",
        "Query",
        from_start("hash", wire({"pk": ""})),
        error=refused(
            "One or more parameter values are not valid. The AttributeValue for a key attribute "
            "cannot contain an empty string value. Key: pk"
        ),
    ),
    Case(
        "ESK-5 another item of a table without sort key",
        "Query",
        from_start("hash", wire({"pk": "b"})),
        error=refused(
            "The provided exclusive start key is invalid: "
            "ExclusiveStartKey: {pk=AttributeValue: {S:b}}"
        ),
    ),
    # Members
    Case(
        "SEL-4 a query",
        "Query",
        {**from_start("hash", KEY), "Select": "ALL_PROJECTED_ATTRIBUTES"},
        error=refused(
            detected("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
        ),
        classic="ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
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
    # Partitions of one item
    Case(
        "ESK-5 the item itself, of a table without sort key",
        "Query",
        from_start("hash", KEY),
        error=refused(
            "The provided exclusive start key is invalid: "
            "ExclusiveStartKey: {pk=AttributeValue: {S:a}}"
        ),
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
        answer={"Items": [KEY], "Count": 1, "ScannedCount": 1},
    ),
    # Query and Scan
    Case(
        "QRY-1, VEC-7 numbers order as numbers",
        "Query",
        {
            "TableName": "pair",
            "KeyConditionExpression": "pk = :p",
            "ExpressionAttributeValues": {":p": value_of("a")},
            "ProjectionExpression": "sk",
        },
        given=SORTED,
        answer={
            "Items": [wire({"sk": n}) for n in (-10, -1, 0, 5, 10, 100)],
            "Count": 6,
            "ScannedCount": 6,
        },
    ),
    Case(
        "QRY-1 backwards, QRY-4",
        "Query",
        {
            "TableName": "pair",
            "KeyConditionExpression": "pk = :p AND sk < :s",
            "ExpressionAttributeValues": {":p": value_of("a"), ":s": value_of(10)},
            "ScanIndexForward": False,
            "Limit": 2,
            "ProjectionExpression": "sk",
        },
        given=SORTED,
        answer={
            "Items": [wire({"sk": 5}), wire({"sk": 0})],
            "Count": 2,
            "ScannedCount": 2,
            "LastEvaluatedKey": wire({"pk": "a", "sk": 0}),
        },
    ),
    Case(
        "QRY-4, EX-20 Limit equal to the count leaves a key",
        "Query",
        {
            "TableName": "pair",
            "KeyConditionExpression": "pk = :p",
            "ExpressionAttributeValues": {":p": value_of("a")},
            "Limit": 6,
            "Select": "COUNT",
        },
        given=SORTED,
        answer={
            "Count": 6,
            "ScannedCount": 6,
            "LastEvaluatedKey": wire({"pk": "a", "sk": 100}),
        },
    ),
    Case(
        "QRY-4, EX-20 one more does not",
        "Query",
        {
            "TableName": "pair",
            "KeyConditionExpression": "pk = :p",
            "ExpressionAttributeValues": {":p": value_of("a")},
            "Limit": 7,
            "Select": "COUNT",
        },
        given=SORTED,
        answer={"Count": 6, "ScannedCount": 6},
    ),
    Case(
        "CND-15 an empty page that goes on",
        "Query",
        {
            "TableName": "pair",
            "KeyConditionExpression": "pk = :p",
            "FilterExpression": "attribute_exists(x)",
            "ExpressionAttributeValues": {":p": value_of("a")},
            "Limit": 2,
        },
        given=SORTED,
        answer={
            "Items": [],
            "Count": 0,
            "ScannedCount": 2,
            "LastEvaluatedKey": wire({"pk": "a", "sk": -1}),
        },
    ),
    Case(
        "QRY-9",
        "Query",
        {
            "TableName": "pair",
            "KeyConditionExpression": "pk = :p",
            "ExpressionAttributeValues": {":p": value_of("none")},
        },
        answer={"Items": [], "Count": 0, "ScannedCount": 0},
    ),
    Case(
        "QRY-5, QRY-11, IDX-2 a page of a lean index",
        "Query",
        {
            "TableName": "indexed",
            "IndexName": "all",
            "KeyConditionExpression": "g = :g AND n >= :n",
            "ExpressionAttributeValues": {":g": value_of("x"), ":n": value_of(2)},
            "Limit": 1,
        },
        given=ITEMS,
        answer={
            "Items": [
                wire({"pk": "a", "sk": "3", "g": "x", "n": 2, "l": "l2", "x": "1", "y": "2"})
            ],
            "Count": 1,
            "ScannedCount": 1,
            "LastEvaluatedKey": wire({"pk": "a", "sk": "3", "g": "x", "n": 2}),
        },
    ),
    Case(
        "IDX-2 INCLUDE",
        "Query",
        {
            "TableName": "indexed",
            "IndexName": "some",
            "KeyConditionExpression": "n = :n",
            "ExpressionAttributeValues": {":n": value_of(2)},
        },
        given=ITEMS,
        answer={
            "Items": [wire({"pk": "a", "sk": "3", "n": 2, "x": "1"})],
            "Count": 1,
            "ScannedCount": 1,
        },
    ),
    Case(
        "SEL-5, CAP-210 a lean local index fetches",
        "Query",
        {
            "TableName": "indexed",
            "IndexName": "lean",
            "KeyConditionExpression": "pk = :p AND begins_with(l, :l)",
            "ExpressionAttributeValues": {":p": value_of("a"), ":l": value_of("l")},
            "ProjectionExpression": "y",
            "ReturnConsumedCapacity": "INDEXES",
        },
        given=ITEMS,
        answer={
            "Items": [wire({"y": "2"})] * 3,
            "Count": 3,
            "ScannedCount": 3,
            "ConsumedCapacity": {
                "TableName": "indexed",
                "CapacityUnits": 2.0,
                "Table": {"CapacityUnits": 1.5},
                "LocalSecondaryIndexes": {"lean": {"CapacityUnits": 0.5}},
            },
        },
    ),
]
