"""Answers of the data plane: what a request gives, whole."""

from tests.conformance.case import Case, put, value_of, wire

KEY = wire({"pk": "a"})


def update(expression, names=None, given=(), **values):
    """Return an UpdateItem on {pk: a} that answers the new item."""
    request = {
        "TableName": "hash",
        "Key": KEY,
        "UpdateExpression": expression,
        "ReturnValues": "ALL_NEW",
    }
    if names:
        request["ExpressionAttributeNames"] = names
    if values:
        request["ExpressionAttributeValues"] = {
            f":{name}": value_of(value) for name, value in values.items()
        }
    return request


def updated(rules, stored, expression, result, **values):
    """Return a case: an update of a stored item, and what it becomes."""
    return Case(
        rules,
        "UpdateItem",
        update(expression, **values),
        given=[put("hash", pk="a", **stored)] if stored is not None else [],
        answer={"Attributes": wire({"pk": "a", **result})},
    )


def fragment(rules, stored, expression, return_values, result, **values):
    """Return a case: an update, and the fragment it answers (UIT-3 to UIT-5)."""
    return Case(
        rules,
        "UpdateItem",
        {**update(expression, **values), "ReturnValues": return_values},
        given=[put("hash", pk="a", **stored)] if stored is not None else [],
        answer={"Attributes": wire(result)} if result else {},
    )


def condition(rules, stored, text, holds, **values):
    """Return a case: a delete under a condition that holds or not."""
    request = {"TableName": "hash", "Key": KEY, "ConditionExpression": text}
    if values:
        request["ExpressionAttributeValues"] = {
            f":{name}": value_of(value) for name, value in values.items()
        }
    return Case(
        rules,
        "DeleteItem",
        request,
        given=[put("hash", pk="a", **stored)] if stored is not None else [],
        answer={} if holds else None,
        error=None
        if holds
        else ("ConditionalCheckFailedException", "The conditional request failed"),
    )


SORTED = [put("pair", pk="a", sk=number) for number in (10, -1, 100, 5, 0, -10)]
ITEMS = [put("indexed", pk="a", sk=sk, g="x", n=n, l=f"l{n}", x="1", y="2") for sk, n in
         (("1", 3), ("2", 1), ("3", 2))]  # fmt: skip
MAP = {"M": wire({"b": 1, "c": "x"})}

CASES = [
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
    Case("DEL-1", "DeleteItem", {"TableName": "hash", "Key": KEY}, answer={}),
    Case(
        "DEL-2",
        "DeleteItem",
        {"TableName": "hash", "Key": KEY, "ReturnValues": "ALL_OLD"},
        given=[put("hash", pk="a", x=1)],
        answer={"Attributes": wire({"pk": "a", "x": 1})},
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
    # Updates (UPD-*, VEC-4 to VEC-6)
    updated("UPD-19 creation", None, "SET x = :v", {"x": 1}, v=1),
    updated(
        "UPD-1 actions do not see each other",
        {"x": 1, "y": 2},
        "SET x = y, y = x",
        {"x": 2, "y": 1},
    ),
    updated(
        "UPD-7, VEC-4 append",
        {"l": ["a", "b", "c"]},
        "SET l[5] = :v",
        {"l": ["a", "b", "c", "d"]},
        v="d",
    ),
    updated("VEC-4 into an empty list", {"l": []}, "SET l[0] = :v", {"l": ["x"]}, v="x"),
    updated(
        "UPD-9, VEC-4 removal shifts",
        {"l": ["a", "b", "c", "d"]},
        "REMOVE l[1]",
        {"l": ["a", "c", "d"]},
    ),
    updated(
        "UPD-9 original indexes",
        {"l": ["a", "b", "c", "d"]},
        "REMOVE l[0], l[2]",
        {"l": ["b", "d"]},
    ),
    updated(
        "VEC-5",
        {"m": {"M": wire({"c": 10})}},
        "SET m.c = m.c + :i",
        {"m": {"M": wire({"c": 15})}},
        i=5,
    ),
    updated("VEC-6, UPD-15 ADD creates", {}, "ADD n :five", {"n": 5}, five=5),
    updated("UPD-15 ADD adds", {"n": 1}, "ADD n :five", {"n": 6}, five=5),
    updated(
        "UPD-15 ADD unites",
        {"s": {"SS": ["a"]}},
        "ADD s :m",
        {"s": {"SS": ["a", "b"]}},
        m={"SS": ["b"]},
    ),
    updated(
        "UPD-16 DELETE removes members",
        {"s": {"NS": ["1", "2"]}},
        "DELETE s :m",
        {"s": {"NS": ["1"]}},
        m={"NS": ["2.0"]},
    ),
    updated("SET-7, VEC-6", {"s": {"SS": ["a"]}}, "DELETE s :m", {}, m={"SS": ["a"]}),
    updated("UPD-8, VEC-6 removing nothing", {"m": MAP}, "REMOVE m.x, z", {"m": MAP}),
    updated(
        "UPD-13",
        {"n": 1},
        "SET n = if_not_exists(n, :z) + :o, p = if_not_exists(q, :z)",
        {"n": 2, "p": 0},
        z=0,
        o=1,
    ),
    updated(
        "UPD-14", {}, "SET l = list_append(if_not_exists(l, :e), :n)", {"l": ["x"]}, e=[], n=["x"]
    ),
    updated("UPD-12", {"b": 1}, "SET a = (b + :x) - :y", {"b": 1, "a": 2}, x=3, y=2),
    Case(
        "UPD-20 removals alone create nothing",
        "UpdateItem",
        update("REMOVE x"),
        answer={},
    ),
    fragment("UIT-3", {"m": MAP}, "SET m.b = :v", "UPDATED_NEW", {"m": {"M": wire({"b": 2})}}, v=2),
    fragment(
        "UIT-3 before", {"m": MAP}, "SET m.b = :v", "UPDATED_OLD", {"m": {"M": wire({"b": 1})}}, v=2
    ),
    fragment(
        "UIT-4",
        {"l": ["a", "b", "c"]},
        "SET l[2] = :v, l[0] = :v",
        "UPDATED_NEW",
        {"l": ["x", "x"]},
        v="x",
    ),
    fragment("UIT-5 without the key", None, "SET x = :v", "UPDATED_NEW", {"x": 1}, v=1),
    fragment("UIT-3 nothing left", {"x": 1}, "REMOVE x", "UPDATED_NEW", None),
    fragment("UIT-2 nothing before", None, "SET x = :v", "ALL_OLD", None, v=1),
    # Conditions (CND-*, VEC-3)
    condition("CND-2, VEC-3", None, "s <> :v", True, v=1),
    condition("CND-2, VEC-3", None, "s = :v", False, v=1),
    condition("VEC-3", None, "s <> :v OR u < :v", True, v=1),
    condition("CND-13, VEC-3", None, "NOT attribute_exists(x)", True),
    condition("CND-3 types differ", {"s": "1"}, "s = :v OR s < :v OR s > :v", False, v=1),
    condition("CND-3 types differ", {"s": "1"}, "s <> :v", True, v=1),
    condition("CND-5", {"n": 5}, "n BETWEEN :a AND :b", True, a=5, b=5),
    condition("CND-6", {"s": {"SS": ["a", "b"]}}, "s IN (:a, :b)", True, a=1, b={"SS": ["b", "a"]}),
    condition("CND-7 NULL exists", {"z": {"NULL": True}}, "attribute_exists(z)", True),
    condition("CND-8", {"n": 5}, "attribute_type(n, :t)", True, t="N"),
    condition("CND-9", {"s": "abc"}, "begins_with(s, :p)", True, p="ab"),
    condition("CND-9 another type", {"s": 12}, "begins_with(s, :p)", False, p="1"),
    condition("CND-10 text", {"s": "abc"}, "contains(s, :p)", True, p="bc"),
    condition("CND-10 set", {"s": {"NS": ["1"]}}, "contains(s, :p)", True, p={"N": "1.0"}),
    condition("CND-10 list", {"s": [["x"]]}, "contains(s, :p)", True, p=["x"]),
    condition("CND-12", {"s": "abc", "l": ["x"]}, "size(s) = :n AND size(l) < :n", True, n=3),
    condition("CND-12 of a number", {"n": 5}, "size(n) > :n", False, n=0),
    condition(
        "EXP-1", {"a": 1}, "a = :one OR a = :two AND a = :three", True, one=1, two=2, three=3
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
    Case(
        "SEL-7, CAP-212, EX-21 an empty on-demand table has four partitions",
        "Scan",
        {"TableName": "hash", "Select": "COUNT", "ReturnConsumedCapacity": "TOTAL"},
        answer={
            "Count": 0,
            "ScannedCount": 0,
            "ConsumedCapacity": {"TableName": "hash", "CapacityUnits": 2.0},
        },
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
    Case(
        "BWI-1, BWI-3",
        "BatchWriteItem",
        {
            "RequestItems": {
                "hash": [
                    {"PutRequest": {"Item": wire({"pk": "b"})}},
                    {"DeleteRequest": {"Key": KEY}},
                ]
            },
            "ReturnConsumedCapacity": "TOTAL",
        },
        given=[put("hash", pk="a", x=1)],
        answer={
            "UnprocessedItems": {},
            "ConsumedCapacity": [{"TableName": "hash", "CapacityUnits": 2.0}],
        },
    ),
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
