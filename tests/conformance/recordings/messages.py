"""What faults of items, keys and expressions are called, operation by operation."""

import base64

from tests.conformance.recordings.recording import (
    INVALID,
    NO_SCHEMA,
    TOO_DEEP,
    Step,
    accepted,
    constraint,
    deep,
    detected,
    key,
    n,
    refused,
    s,
)

OVERFLOW = (
    "Number overflow. Attempting to store a number with magnitude larger than supported range"
)
UNDERFLOW = (
    "Number underflow. Attempting to store a number with magnitude smaller than supported range"
)
NO_NUMBER = "The parameter cannot be converted to a numeric value"
DIGITS = "Attempting to store more than 38 significant digits in a Number"
WRITTEN = ("abc", "", "1e126", "1e2147483647")
CURRENT = (f"{NO_NUMBER}: abc", f"{NO_NUMBER}: ", OVERFLOW, OVERFLOW)
OLDER = (f"{NO_NUMBER}: abc", NO_NUMBER, OVERFLOW, UNDERFLOW)
VALUES = tuple({"N": text} for text in WRITTEN)


def b64(text):
    return base64.b64encode(text.encode()).decode()


def enveloped(texts):
    return tuple(map(detected, texts))


def of_key(texts, name=":v"):
    return tuple(
        f"ExpressionAttributeValues contains invalid value: {text} for key {name}" for text in texts
    )


def each(values, texts, operation, request):
    """Return a step for each value, put into a request by a function."""
    return [
        refused(operation, request(value), text, is_layered=True)
        for value, text in zip(values, texts, strict=True)
    ]


def put_item(value):
    return {"TableName": "hash", "Item": {**key(), "n": value}}


def put_condition(value):
    return {
        "TableName": "hash",
        "Item": key(),
        "ConditionExpression": "attribute_not_exists(pk) OR n = :v",
        "ExpressionAttributeValues": {":v": value},
    }


def put_expected(value):
    return {"TableName": "hash", "Item": key(), "Expected": {"n": {"Value": value}}}


def update_value(value):
    return {
        "TableName": "hash",
        "Key": key(),
        "UpdateExpression": "SET n = :v",
        "ExpressionAttributeValues": {":v": value},
    }


def update_condition(value):
    return {
        "TableName": "hash",
        "Key": key(),
        "UpdateExpression": "SET o = :o",
        "ConditionExpression": "attribute_not_exists(pk) OR s = :t",
        "ExpressionAttributeValues": {":o": n(1), ":t": value},
    }


def update_attributes(value):
    return {
        "TableName": "hash",
        "Key": key(),
        "AttributeUpdates": {"n": {"Action": "PUT", "Value": value}},
    }


def update_key(value):
    return {
        "TableName": "hash",
        "Key": {"pk": value},
        "UpdateExpression": "SET n = :o",
        "ExpressionAttributeValues": {":o": n(1)},
    }


def delete_condition(value):
    return {
        "TableName": "hash",
        "Key": key(),
        "ConditionExpression": "n = :v",
        "ExpressionAttributeValues": {":v": value},
    }


def by_key(value):
    return {"TableName": "hash", "Key": {"pk": value}}


def batch_get(value):
    return {"RequestItems": {"hash": {"Keys": [{"pk": value}]}}}


def batch_put(value):
    return {"RequestItems": {"hash": [{"PutRequest": {"Item": {**key(), "n": value}}}]}}


def batch_delete(value):
    return {"RequestItems": {"hash": [{"DeleteRequest": {"Key": {"pk": value}}}]}}


def query_filter(value):
    return {
        "TableName": "hash",
        "KeyConditionExpression": "pk = :p",
        "FilterExpression": "n = :v",
        "ExpressionAttributeValues": {":p": s("a"), ":v": value},
    }


def query_key(value):
    return {
        "TableName": "hash",
        "KeyConditionExpression": "pk = :t",
        "ExpressionAttributeValues": {":t": value},
    }


def query_start(value):
    return {
        "TableName": "hash",
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": s("a")},
        "ExclusiveStartKey": {"pk": value},
    }


def query_legacy(value):
    return {
        "TableName": "hash",
        "KeyConditions": {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [s("a")]}},
        "QueryFilter": {"s": {"ComparisonOperator": "EQ", "AttributeValueList": [value]}},
    }


def transact(action):
    return {"TransactItems": [action]}


def transact_put(value):
    return transact({"Put": {"TableName": "hash", "Item": {**key(), "n": value}}})


def transact_update(value):
    return transact({"Update": update_value(value)})


def transact_get(value):
    return transact({"Get": by_key(value)})


SHAPES = {
    "1e99999999999": OVERFLOW,
    "-1e99999999999": OVERFLOW,
    "1e-99999999999": UNDERFLOW,
    "1e2147483648": OVERFLOW,
    "1e2147483647": OVERFLOW,
    "1e-2147483648": UNDERFLOW,
    "1e126": OVERFLOW,
    "1e-131": UNDERFLOW,
    **{
        text: f"{NO_NUMBER}: {text}"
        for text in ("abc", "1.2.3", "", " 1", "1 ", "0x10", "1e", "NaN", "Infinity")
    },
    "1234567890123456789012345678901234567890": DIGITS,
}
SETS = ({"SS": ["b", "a", "b"]}, {"BS": ["/w==", "AA==", "AA=="]}, {"NS": ["2", "1", "2"]})
REPEATS = (
    f'{INVALID}Input collection ["a", "b", "b"] contains duplicates.',
    f'{INVALID}Input collection ["AA==","/w==","AA=="]of type BS contains duplicates.',
    f"{INVALID}Input collection contains duplicates.",
)
OLDER_REPEATS = (
    f"{INVALID}Input collection [b, a, b] contains duplicates.",
    f"{INVALID}Input collection [/w==, AA==, AA==]of type BS contains duplicates.",
    "Input collection contains duplicates",
)
NOTHING = accepted("GetItem", {"TableName": "hash", "Key": key()})
VALUE_LAYERS = {
    "every bad number of an item": [
        refused("PutItem", put_item({"N": text}), detected(message), is_layered=True)
        for text, message in SHAPES.items()
    ],
    "a member of a set, and a nested number": [
        *each(WRITTEN, enveloped(CURRENT), "PutItem", lambda x: put_item({"NS": ["1", x]})),
        *each(
            VALUES,
            enveloped(CURRENT),
            "PutItem",
            lambda x: put_item({"M": {"x": {"L": [x]}}}),
        ),
    ],
    "a condition of PutItem": each(VALUES, enveloped(CURRENT), "PutItem", put_condition),
    "Expected of PutItem": [
        *each(VALUES, enveloped(CURRENT), "PutItem", put_expected),
        NOTHING,
    ],
    "UpdateItem": [
        *each(VALUES, enveloped(CURRENT), "UpdateItem", update_value),
        *each(VALUES, enveloped(CURRENT), "UpdateItem", update_attributes),
        *each(VALUES, enveloped(CURRENT), "UpdateItem", update_key),
    ],
    "DeleteItem": [
        *each(VALUES, enveloped(CURRENT), "DeleteItem", delete_condition),
        *each(VALUES, enveloped(CURRENT), "DeleteItem", by_key),
    ],
    "GetItem, BatchGetItem and Query": [
        *each(VALUES, CURRENT, "GetItem", by_key),
        *each(VALUES, CURRENT, "BatchGetItem", batch_get),
        *each(VALUES, CURRENT, "Query", query_filter),
    ],
    "BatchWriteItem": each(VALUES, OLDER, "BatchWriteItem", batch_put),
    "a Put of a transaction": each(VALUES, OLDER, "TransactWriteItems", transact_put),
    "an Update of a transaction": each(
        VALUES, of_key(OLDER), "TransactWriteItems", transact_update
    ),
    "a Get of a transaction": each(VALUES, OLDER, "TransactGetItems", transact_get),
    "repeats, PutItem": [
        *each(SETS, enveloped(REPEATS), "PutItem", put_item),
        *each(SETS, enveloped(REPEATS), "PutItem", put_condition),
        *each(SETS, enveloped(REPEATS), "PutItem", put_expected),
    ],
    "repeats, UpdateItem": [
        *each(SETS, enveloped(REPEATS), "UpdateItem", update_condition),
        *each(SETS, enveloped(REPEATS), "UpdateItem", update_attributes),
        *each(SETS, enveloped(REPEATS), "UpdateItem", update_key),
    ],
    "repeats, DeleteItem": each(SETS, enveloped(REPEATS), "DeleteItem", by_key),
    "repeats, GetItem and BatchGetItem": [
        *each(SETS, REPEATS, "GetItem", by_key),
        *each(SETS, REPEATS, "BatchGetItem", batch_get),
    ],
    "repeats, Query": [
        *each(SETS, REPEATS, "Query", query_key),
        *each(SETS, REPEATS, "Query", query_filter),
        *each(SETS, REPEATS, "Query", query_start),
        *each(SETS, REPEATS, "Query", query_legacy),
    ],
    "repeats, BatchWriteItem": [
        *each(SETS, OLDER_REPEATS, "BatchWriteItem", batch_put),
        *each(SETS, OLDER_REPEATS, "BatchWriteItem", batch_delete),
    ],
}
PAIR = "One or more parameter values were invalid: Condition parameter type does not match"


def asking(table, condition, **values):
    values = {f":{name}": value for name, value in values.items()}
    return {
        "TableName": table,
        "KeyConditionExpression": condition,
        "ExpressionAttributeValues": values,
    }


def operand(operator, kind):
    return (
        "Invalid KeyConditionExpression: Incorrect operand type for operator or function; "
        f"operator or function: {operator}, operand type: {kind}"
    )


BOOL = {"BOOL": True}
P = s("q")
MISSING = (
    "Invalid KeyConditionExpression: An expression attribute value used in expression is not "
    "defined; attribute value: :missing"
)
KEY_OPERANDS = {
    "begins_with a number": [
        refused(
            "Query",
            asking("pair", "pk = :p AND begins_with(sk, :v)", p=P, v=n(1)),
            operand("begins_with", "N"),
        )
    ],
    "begins_with a boolean": [
        refused(
            "Query",
            asking("pair", "pk = :p AND begins_with(sk, :v)", p=P, v=BOOL),
            operand("begins_with", "BOOL"),
        )
    ],
    "begins_with a number on a number": [
        refused(
            "Query",
            asking("ordered", "pk = :p AND begins_with(sk, :v)", p=P, v=n(1)),
            operand("begins_with", "N"),
        )
    ],
    "begins_with a text on a number": [
        refused(
            "Query",
            asking("ordered", "pk = :p AND begins_with(sk, :v)", p=P, v=s("a")),
            f"{PAIR} schema type",
        )
    ],
    "an order of booleans": [
        refused(
            "Query", asking("ordered", "pk = :p AND sk < :v", p=P, v=BOOL), operand("<", "BOOL")
        )
    ],
    "value first": [
        refused(
            "Query", asking("ordered", "pk = :p AND :v >= sk", p=P, v=BOOL), operand(">=", "BOOL")
        )
    ],
    "BETWEEN booleans": [
        refused(
            "Query",
            asking("ordered", "pk = :p AND sk BETWEEN :a AND :b", p=P, a={"BOOL": False}, b=BOOL),
            operand("BETWEEN", "BOOL"),
        )
    ],
    "equal to a boolean": [
        refused(
            "Query", asking("ordered", "pk = :p AND sk = :v", p=P, v=BOOL), f"{PAIR} schema type"
        )
    ],
    "two conditions on the sort key": [
        refused(
            "Query",
            asking("ordered", "pk = :p AND sk > :a AND sk < :b", p=P, a=n(1), b=n(5)),
            "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one "
            "condition per key",
        )
    ],
    "three attributes": [
        refused(
            "Query",
            asking("ordered", "pk = :p AND sk > :a AND extra = :b", p=P, a=n(1), b=n(5)),
            "The number of query conditions (3) exceeds the number of key attributes defined in "
            "the schema (2)",
        )
    ],
}
KEY_ORDER = {
    "undefined before an operand": [
        refused("Query", asking("pair", "pk = :missing AND begins_with(sk, :n)", n=n(1)), MISSING)
    ],
    "an operand before undefined": [
        refused(
            "Query",
            asking("pair", "begins_with(sk, :n) AND pk = :missing", n=n(1)),
            operand("begins_with", "N"),
        )
    ],
    "an operand between": [
        refused(
            "Query",
            asking("pair", "pk = :p AND begins_with(sk, :n) AND sk = :missing", p=P, n=n(1)),
            operand("begins_with", "N"),
        )
    ],
    "an operand before a third condition": [
        refused(
            "Query",
            asking("pair", "pk = :p AND begins_with(sk, :n) AND sk > :s", p=P, n=n(1), s=s("a")),
            operand("begins_with", "N"),
        )
    ],
    "an operand before a missing table": [
        refused(
            "Query",
            asking("absent", "pk = :p AND begins_with(sk, :n)", p=P, n=n(1)),
            operand("begins_with", "N"),
        )
    ],
    "a missing table": [
        refused(
            "Query",
            asking("absent", "pk = :p AND begins_with(sk, :s)", p=P, s=s("a")),
            code="ResourceNotFoundException",
        )
    ],
}


def put_number(text):
    return {"TableName": "hash", "Item": {**key("x"), "val": {"N": text}}}


BIG = {"N": "1e99999999999"}


def exponent(operation, request, message):
    return [refused(operation, request, message, is_layered=True)]


EXPONENTS = {
    "beyond 32 bits": exponent("PutItem", put_number("1e99999999999"), detected(OVERFLOW)),
    "below 32 bits": exponent("PutItem", put_number("1e-99999999999"), detected(UNDERFLOW)),
    "one beyond 32 bits": exponent("PutItem", put_number("1e2147483648"), detected(OVERFLOW)),
    "beyond 64 bits": exponent(
        "PutItem",
        put_number("1e9223372036854775808"),
        detected(f"{NO_NUMBER}: 1e9223372036854775808"),
    ),
    "zero above": exponent("PutItem", put_number("0e126"), detected(OVERFLOW)),
    "zero below": exponent("PutItem", put_number("0e-131"), detected(UNDERFLOW)),
    "zero within": [
        accepted("PutItem", put_number("0e125")),
        accepted(
            "GetItem",
            {"TableName": "hash", "Key": key("x")},
            Item={**key("x"), "val": n(0)},
        ),
    ],
    "the smallest": [accepted("PutItem", put_number("1e-130"))],
    "an update": exponent("UpdateItem", update_value(BIG), detected(OVERFLOW)),
    "a condition": exponent("PutItem", put_condition(BIG), detected(OVERFLOW)),
    "a key of GetItem": exponent("GetItem", {"TableName": "number", "Key": {"pk": BIG}}, OVERFLOW),
    "a key of DeleteItem": exponent(
        "DeleteItem", {"TableName": "number", "Key": {"pk": BIG}}, detected(OVERFLOW)
    ),
    "a key of UpdateItem": exponent(
        "UpdateItem",
        {
            "TableName": "number",
            "Key": {"pk": BIG},
            "UpdateExpression": "SET a = :a",
            "ExpressionAttributeValues": {":a": s("x")},
        },
        detected(OVERFLOW),
    ),
    "a key of Query": exponent(
        "Query", asking("ordered", "pk = :p AND sk = :v", p=P, v=BIG), OVERFLOW
    ),
    "a key of BatchGetItem": exponent(
        "BatchGetItem", {"RequestItems": {"number": {"Keys": [{"pk": BIG}]}}}, OVERFLOW
    ),
}
EMPTY_BINARY = (
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
    "contain an empty binary value. Key: pk"
)
EMPTY_TEXT = EMPTY_BINARY.replace("binary", "string")
NO_BYTES = {"pk": {"B": ""}}
REPEATED = "Provided list of item keys contains duplicates"
ABSENT = ("Requested resource not found", "ResourceNotFoundException")


def batch_item(item, table="hash"):
    return {"RequestItems": {table: [{"PutRequest": {"Item": item}}]}}


def batch_key(where, table="hash"):
    return {"RequestItems": {table: [{"DeleteRequest": {"Key": where}}]}}


COUNTS = (
    "Map value must satisfy constraint: [Member must have length less than or equal to 25, Member "
    "must have length greater than or equal to 1]"
)
BATCH_WRITE = {
    "nothing": [
        refused(
            "BatchWriteItem",
            {"RequestItems": {}},
            "The requestItems parameter is required for BatchWriteItem",
        )
    ],
    "too many": [
        refused(
            "BatchWriteItem",
            {"RequestItems": {"hash": [{"PutRequest": {"Item": key(f"{i}")}} for i in range(26)]}},
        )
    ],
    "put and delete": [
        refused(
            "BatchWriteItem",
            {
                "RequestItems": {
                    "hash": [{"PutRequest": {"Item": key()}}, {"DeleteRequest": {"Key": key()}}]
                }
            },
            REPEATED,
        )
    ],
    "no table": [refused("BatchWriteItem", batch_item(key(), "absent"), *ABSENT)],
    "a key of another type": [refused("BatchWriteItem", batch_item({"pk": n(5)}), NO_SCHEMA)],
    "a key that is a list": [
        refused("BatchWriteItem", batch_item({"pk": {"L": [s("x")]}}), NO_SCHEMA)
    ],
    "an empty text": [refused("BatchWriteItem", batch_item({"pk": s("")}), EMPTY_TEXT)],
    "no bytes to put": [refused("BatchWriteItem", batch_item(NO_BYTES, "binary"), EMPTY_BINARY)],
    "no bytes to delete": [refused("BatchWriteItem", batch_key(NO_BYTES, "binary"), EMPTY_BINARY)],
    "no key to put": [refused("BatchWriteItem", batch_item({"other": s("x")}), NO_SCHEMA)],
    "no key to delete": [refused("BatchWriteItem", batch_key({"other": s("x")}), NO_SCHEMA)],
    "an empty list": [
        refused(
            "BatchWriteItem",
            {"RequestItems": {"hash": []}},
            detected(constraint("{hash=[]}", "requestItems", COUNTS)),
        )
    ],
    "a bad table name": [refused("BatchWriteItem", batch_item(key(), "bad!name"))],
}
OVERLAP = (
    "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or "
    "rewrite one of these paths; path one: [a], path two: "
)
MAP_KEYS = (
    "Map keys must satisfy constraint: [Member must have length less than or equal to 255, Member "
    "must have length greater than or equal to 3, Member must satisfy regular expression pattern: "
    "[a-zA-Z0-9_.-]+]"
)


def batch_reads(**tables):
    return {"RequestItems": tables}


def newer(path, rule):
    return detected(f"Value at '{path}' failed to satisfy constraint: {rule}")


def projected(text, **names):
    request = {"Keys": [key()], "ProjectionExpression": text}
    if names:
        request["ExpressionAttributeNames"] = {f"#{name}": to for name, to in names.items()}
    return request


MIXED = (
    "Can not use both expression and non-expression parameters in the same request: "
    "Non-expression parameters: {%s} Expression parameters: {%s}"
)
BATCH_GET = {
    "nothing": [
        refused(
            "BatchGetItem",
            batch_reads(),
            newer("RequestItems", "Member must have length greater than or equal to 1"),
            is_layered=True,
        )
    ],
    "too many": [
        refused(
            "BatchGetItem",
            batch_reads(hash={"Keys": [key(f"{i}") for i in range(101)]}),
            newer(
                "RequestItems.hash.member.Keys", "Member must have length less than or equal to 100"
            ),
        )
    ],
    "no table": [refused("BatchGetItem", batch_reads(absent={"Keys": [key()]}), *ABSENT)],
    "a key twice": [refused("BatchGetItem", batch_reads(hash={"Keys": [key(), key()]}), REPEATED)],
    "both projections": [
        refused(
            "BatchGetItem",
            batch_reads(hash={**projected("pk"), "AttributesToGet": ["pk"]}),
            MIXED % ("AttributesToGet", "ProjectionExpression"),
        )
    ],
    "no bytes": [refused("BatchGetItem", batch_reads(binary={"Keys": [NO_BYTES]}), EMPTY_BINARY)],
    "both projections, of two tables": [
        refused(
            "BatchGetItem",
            batch_reads(
                hash=projected("pk"),
                pair={"Keys": [{"pk": s("b"), "sk": s("z")}], "AttributesToGet": ["pk"]},
            ),
        )
    ],
    "a bad table name": [
        refused(
            "BatchGetItem",
            batch_reads(**{"bad!name": {"Keys": [key()]}}),
            detected(
                constraint('{"bad!name":{"Keys":[{"pk":{"S":"a"}}]}}', "requestItems", MAP_KEYS)
            ),
            is_layered=True,
        )
    ],
    "no keys": [
        refused(
            "BatchGetItem",
            batch_reads(hash={"Keys": []}),
            newer(
                "RequestItems.hash.member.Keys",
                "Member must have length greater than or equal to 1",
            ),
        )
    ],
    "a path twice": [refused("BatchGetItem", batch_reads(hash=projected("a, a")), OVERLAP + "[a]")],
    "two names of a path": [
        refused(
            "BatchGetItem", batch_reads(hash=projected("#a, #b", a="a", b="a")), OVERLAP + "[a]"
        )
    ],
    "a path below another": [
        refused("BatchGetItem", batch_reads(hash=projected("a, a.b")), OVERLAP + "[a, b]")
    ],
    "a bad and a good one": [
        refused(
            "BatchGetItem",
            batch_reads(
                hash=projected("a, a"),
                pair={"Keys": [{"pk": s("c"), "sk": s("z")}], "ProjectionExpression": "a"},
            ),
            OVERLAP + "[a]",
        )
    ],
}
PUT = {"TableName": "hash", "Item": key()}
DELETE = {"TableName": "hash", "Key": key()}
VALUES_ALONE = "ExpressionAttributeValues can only be specified when using expressions"
NAMES_ALONE = "ExpressionAttributeNames can only be specified when using expressions"


def wrapped(operation, request, message):
    return refused(operation, request, detected(message), is_layered=True)


def name_fault(name, rule):
    return [
        refused("PutItem", PUT | {"TableName": name}, detected(constraint(name, "tableName", rule)))
    ]


EMPTIES = {
    "SS": "An string set  may not be empty",
    "NS": "An number set  may not be empty",
    "BS": "Binary sets should not be empty",
}
PUT_ITEM = {
    "no table name": [
        refused(
            "PutItem",
            {"Item": key()},
            detected(
                "Value null at 'tableName' failed to satisfy constraint: Member must not be null"
            ),
        )
    ],
    "an empty table name": [
        refused(
            "PutItem",
            PUT | {"TableName": ""},
            newer("TableName", "Member must have length greater than or equal to 1"),
            is_layered=True,
        )
    ],
    "a long table name": name_fault("a" * 256, "Member must have length less than or equal to 255"),
    "a bad table name": name_fault(
        "bad table!@#", "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
    ),
    **{
        f"an empty {kind}": [wrapped("PutItem", put_item({kind: []}), INVALID + text)]
        for kind, text in EMPTIES.items()
    },
    "a text twice": [
        wrapped(
            "PutItem",
            put_item({"SS": ["a", "a"]}),
            f'{INVALID}Input collection ["a", "a"] contains duplicates.',
        )
    ],
    "an empty number": [wrapped("PutItem", put_item({"NS": [""]}), f"{NO_NUMBER}: ")],
    "an empty text twice": [
        wrapped(
            "PutItem",
            put_item({"SS": ["", ""]}),
            f'{INVALID}Input collection ["", ""] contains duplicates.',
        )
    ],
    "no bytes twice": [
        wrapped(
            "PutItem",
            put_item({"BS": ["", ""]}),
            f'{INVALID}Input collection ["",""]of type BS contains duplicates.',
        )
    ],
    "NULL false": [
        wrapped(
            "PutItem",
            put_item({"NULL": False}),
            INVALID + "Null attribute value types must have the value of true",
        )
    ],
    "both kinds of parameters": [
        wrapped(
            "PutItem",
            PUT
            | {
                "Expected": {"pk": {"Exists": False}},
                "ConditionExpression": "attribute_not_exists(pk)",
            },
            MIXED % ("Expected", "ConditionExpression"),
        )
    ],
    "values alone": [
        wrapped("PutItem", PUT | {"ExpressionAttributeValues": {":v": s("x")}}, VALUES_ALONE)
    ],
    "redundant parentheses": [
        wrapped(
            "PutItem",
            PUT | {"ConditionExpression": "((attribute_not_exists(pk)))"},
            "Invalid ConditionExpression: The expression has redundant parentheses;",
        )
    ],
    "contains itself": [
        wrapped(
            "PutItem",
            PUT
            | {
                "ConditionExpression": "contains(#a, #a)",
                "ExpressionAttributeNames": {"#a": "data"},
            },
            "Invalid ConditionExpression: The first operand must be distinct from the remaining "
            "operands for this operator or function; operator: contains, first operand: [data]",
        )
    ],
    "no bytes": [refused("PutItem", {"TableName": "binary", "Item": NO_BYTES}, EMPTY_BINARY)],
    "values or names alone": [
        wrapped("PutItem", PUT | {"ExpressionAttributeValues": {":v": s("x")}}, VALUES_ALONE),
        wrapped("PutItem", PUT | {"ExpressionAttributeNames": {"#a": "a"}}, NAMES_ALONE),
    ],
}
EXPECTED_FAULTS = (
    ({"Exists": True}, "Value must be provided when Exists is true for Attribute: a"),
    (
        {"Exists": False, "Value": s("x")},
        "Value cannot be used when Exists is false for Attribute: a",
    ),
    (
        {"Value": s("x"), "ComparisonOperator": "EQ", "AttributeValueList": [s("x")]},
        "Value and AttributeValueList cannot be used together for Attribute: a",
    ),
    (
        {"ComparisonOperator": "EQ"},
        "Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: a",
    ),
    (
        {"ComparisonOperator": "BETWEEN", "AttributeValueList": [s("x")]},
        "Invalid number of argument(s) for the BETWEEN ComparisonOperator",
    ),
)
EXISTS = {"ConditionExpression": "attribute_exists(a)"}
DELETE_ITEM = {
    "no table": [refused("DeleteItem", DELETE | {"TableName": "absent"}, *ABSENT)],
    "no sort key": [refused("DeleteItem", DELETE | {"TableName": "pair"}, NO_SCHEMA)],
    "both kinds of parameters": [
        wrapped(
            "DeleteItem",
            DELETE
            | {
                "Expected": {"pk": {"Exists": False}},
                "ConditionExpression": "attribute_not_exists(pk)",
            },
            MIXED % ("Expected", "ConditionExpression"),
        )
    ],
    "no bytes": [refused("DeleteItem", {"TableName": "binary", "Key": NO_BYTES}, EMPTY_BINARY)],
    "values or names alone": [
        wrapped("DeleteItem", DELETE | {"ExpressionAttributeValues": {":v": s("x")}}, VALUES_ALONE),
        wrapped("DeleteItem", DELETE | {"ExpressionAttributeNames": {"#a": "a"}}, NAMES_ALONE),
        wrapped(
            "DeleteItem",
            DELETE
            | {"Expected": {"a": {"Exists": False}}, "ExpressionAttributeNames": {"#a": "a"}},
            NAMES_ALONE,
        ),
    ],
    "empty maps": [
        wrapped("DeleteItem", DELETE | EXISTS | {f"ExpressionAttribute{kind}": {}}, text)
        for kind, text in {
            "Values": "ExpressionAttributeValues must not be empty",
            "Names": "ExpressionAttributeNames must not be empty",
        }.items()
    ],
    "an empty condition": [
        wrapped(
            "DeleteItem",
            DELETE | {"ConditionExpression": ""},
            "Invalid ConditionExpression: The expression can not be empty;",
        )
    ],
    "ReturnValues": [
        wrapped(
            "DeleteItem",
            DELETE | {"ReturnValues": wanted},
            "ReturnValues can only be ALL_OLD or NONE",
        )
        for wanted in ("ALL_NEW", "UPDATED_NEW")
    ],
    "Expected": [
        wrapped("DeleteItem", DELETE | {"Expected": {"a": entry}}, INVALID + text)
        for entry, text in EXPECTED_FAULTS
    ],
}
UPDATE = {"TableName": "hash", "Key": key()}
KEY_PART = INVALID + "Cannot update attribute {}. This attribute is part of the key"
UPDATE_V = UPDATE | {
    "UpdateExpression": "SET attr1 = :v",
    "ExpressionAttributeValues": {":v": s("x")},
}
UPDATE_ITEM = {
    "the key": [
        refused("UpdateItem", UPDATE_V | {"UpdateExpression": "SET pk = :v"}, KEY_PART.format("pk"))
    ],
    "syntax": [
        wrapped(
            "UpdateItem",
            UPDATE_V | {"UpdateExpression": "INVALID SYNTAX HERE"},
            'Invalid UpdateExpression: Syntax error; token: "INVALID", near: "INVALID SYNTAX"',
        )
    ],
    "an unused name": [
        wrapped(
            "UpdateItem",
            UPDATE_V | {"ExpressionAttributeNames": {"#unused": "x"}},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#unused}",
        )
    ],
    "an unused value": [
        wrapped(
            "UpdateItem",
            UPDATE_V | {"ExpressionAttributeValues": {":v": s("x"), ":unused": s("y")}},
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:unused}",
        )
    ],
    "an undefined value": [
        wrapped(
            "UpdateItem",
            UPDATE | {"UpdateExpression": "SET attr1 = :v"},
            "Invalid UpdateExpression: An expression attribute value used in expression is not "
            "defined; attribute value: :v",
        )
    ],
    "an undefined value of the condition": [
        wrapped(
            "UpdateItem",
            UPDATE
            | {
                "UpdateExpression": "SET b = :w",
                "ConditionExpression": "a = :v",
                "ExpressionAttributeValues": {":w": s("x")},
            },
            "Invalid ConditionExpression: An expression attribute value used in expression is not "
            "defined; attribute value: :v",
        )
    ],
    "both kinds of parameters": [
        wrapped(
            "UpdateItem",
            UPDATE_V | {"AttributeUpdates": {"attr1": {"Value": s("x"), "Action": "PUT"}}},
            MIXED % ("AttributeUpdates", "UpdateExpression"),
        )
    ],
    "an empty update": [
        wrapped(
            "UpdateItem",
            UPDATE | {"UpdateExpression": ""},
            "Invalid UpdateExpression: The expression can not be empty;",
        )
    ],
    "the sort key": [
        refused(
            "UpdateItem",
            UPDATE_V
            | {
                "TableName": "pair",
                "Key": {"pk": s("a"), "sk": s("b")},
                "UpdateExpression": "SET sk = :v",
            },
            KEY_PART.format("sk"),
        )
    ],
    "no bytes": [
        refused("UpdateItem", UPDATE_V | {"TableName": "binary", "Key": NO_BYTES}, EMPTY_BINARY)
    ],
}
SCAN = {"TableName": "hash"}
SEGMENT_ALONE = (
    "The TotalSegments parameter is required but was not present in the request when Segment "
    "parameter is present"
)
TOTAL_ALONE = (
    "The Segment parameter is required but was not present in the request when parameter "
    "TotalSegments is present"
)
NOT_LESS = (
    "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 5 "
    "is not less than TotalSegments: 5"
)


def scanned(text, **names):
    request = SCAN | {
        "FilterExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": s("none")},
        "ProjectionExpression": text,
    }
    if names:
        request["ExpressionAttributeNames"] = {f"#{name}": to for name, to in names.items()}
    return request


SCANS = {
    "Segment alone": [refused("Scan", SCAN | {"Segment": 0}, SEGMENT_ALONE)],
    "Segment too large": [refused("Scan", SCAN | {"Segment": 5, "TotalSegments": 5}, NOT_LESS)],
    "TotalSegments alone": [refused("Scan", SCAN | {"TotalSegments": 4}, TOTAL_ALONE)],
    "Limit 0": [
        refused(
            "Scan",
            SCAN | {"Limit": 0},
            detected(constraint("0", "limit", "Member must have value greater than or equal to 1")),
        )
    ],
    "a negative Segment": [
        refused(
            "Scan",
            SCAN | {"Segment": -1, "TotalSegments": 4},
            detected(
                constraint("-1", "segment", "Member must have value greater than or equal to 0")
            ),
        )
    ],
    "no table": [refused("Scan", {"TableName": "absent"}, *ABSENT)],
    "begins_with a number": [
        refused(
            "Scan",
            SCAN
            | {
                "FilterExpression": "begins_with(#a, :n)",
                "ExpressionAttributeNames": {"#a": "data"},
                "ExpressionAttributeValues": {":n": n(1)},
            },
            "Invalid FilterExpression: Incorrect operand type for operator or function; operator "
            "or function: begins_with, operand type: N",
        )
    ],
    "redundant parentheses": [
        refused(
            "Scan",
            SCAN
            | {
                "FilterExpression": "((#a = :v))",
                "ExpressionAttributeNames": {"#a": "data"},
                "ExpressionAttributeValues": {":v": s("x")},
            },
            "Invalid FilterExpression: The expression has redundant parentheses;",
        )
    ],
    "a start key of other attributes": [
        refused(
            "Scan",
            SCAN | {"ExclusiveStartKey": {"bad": s("p")}},
            f"The provided starting key is invalid: {NO_SCHEMA}",
        )
    ],
    "SPECIFIC_ATTRIBUTES of nothing": [
        refused(
            "Scan",
            SCAN | {"Select": "SPECIFIC_ATTRIBUTES"},
            "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
            "SPECIFIC_ATTRIBUTES",
        )
    ],
    "a path twice": [refused("Scan", scanned("a, a"), OVERLAP + "[a]")],
    "two names of a path": [refused("Scan", scanned("#a, #b", a="a", b="a"), OVERLAP + "[a]")],
    "a path below another": [refused("Scan", scanned("a, a.b"), OVERLAP + "[a, b]")],
    "an undefined name": [
        refused(
            "Scan",
            scanned("#undef"),
            "Invalid ProjectionExpression: An expression attribute name used in the document path "
            "is not defined; attribute name: #undef",
        )
    ],
    "a path twice, of an item": [
        accepted("PutItem", {"TableName": "hash", "Item": key("none")}),
        refused("Scan", scanned("a, a"), OVERLAP + "[a]"),
    ],
}
CONSISTENT = "Consistent reads are not supported on global secondary indexes"
QUALIFIED = 'SELECT * FROM "indexed"."{}"'
INDEX_READS = {
    "Query": [
        refused(
            "Query",
            {
                "TableName": "indexed",
                "IndexName": "gsi1",
                "KeyConditionExpression": "#hk = :v",
                "ExpressionAttributeNames": {"#hk": "lsi1sk"},
                "ExpressionAttributeValues": {":v": s("x")},
                "ConsistentRead": True,
            },
            CONSISTENT,
        )
    ],
    "Scan": [
        refused(
            "Scan",
            {"TableName": "indexed", "IndexName": "gsi1", "ConsistentRead": True},
            CONSISTENT,
        )
    ],
    "ExecuteStatement": [
        refused(
            "ExecuteStatement",
            {"Statement": QUALIFIED.format("gsi1"), "ConsistentRead": True},
            "Strongly consistent read is not supported on Global Secondary Indexes",
        )
    ],
    "no index": [
        refused(
            "ExecuteStatement",
            {"Statement": QUALIFIED.format("none")},
            "The table does not have the specified index",
        )
    ],
    "no index, consistent": [
        refused(
            "ExecuteStatement",
            {"Statement": QUALIFIED.format("none"), "ConsistentRead": True},
            "The table does not have the specified index",
        )
    ],
}


def clauses(size, prefix, joiner, clause):
    """Return an expression of so many bytes."""
    parts, total = [], len(prefix)
    while True:
        part = clause(len(parts), 50)
        added = len(part) + (len(joiner) if parts else 0)
        if total + added > size:
            break
        parts.append(part)
        total += added
    parts[-1] = clause(len(parts) - 1, 50 + size - total)
    return prefix + joiner.join(parts), len(parts)


def padded(number, length):
    return "a" * (length - len(f"x{number}")) + f"x{number}"


def assignments(size):
    text, count = clauses(size, "SET ", ", ", lambda i, k: f"{padded(i, k)} = :v{i}")
    return {
        "UpdateExpression": text,
        "ExpressionAttributeValues": {f":v{i}": s("x") for i in range(count)},
    }


def absences(size):
    text, _ = clauses(size, "", " AND ", lambda i, k: f"attribute_not_exists({padded(i, k)})")
    return {"ConditionExpression": text}


def choices(size, **values):
    text, count = clauses(size, "", " OR ", lambda i, k: f"{padded(i, k)} = :v{i}")
    return {
        "FilterExpression": text,
        "ExpressionAttributeValues": {f":v{i}": s("x") for i in range(count)}
        | {f":{name}": value for name, value in values.items()},
    }


def listed(size):
    return {"ProjectionExpression": clauses(size, "", ", ", padded)[0]}


def too_long(kind):
    return (
        f"Invalid {kind}Expression: Expression size has exceeded the maximum allowed size; "
        "expression size: 4097"
    )


def both_sizes(operation, base, made, kind, *, is_wrapped=False):
    message = detected(too_long(kind)) if is_wrapped else too_long(kind)
    return (
        [Step(operation, base | made(4096), {})],
        [refused(operation, base | made(4097), message, is_layered=is_wrapped)],
    )


def query_choices(size):
    return {"KeyConditionExpression": "pk = :pk", **choices(size, pk=s("a"))}


SIZES = {
    "UpdateExpression": both_sizes("UpdateItem", UPDATE, assignments, "Update", is_wrapped=True),
    "ConditionExpression": both_sizes("PutItem", PUT, absences, "Condition", is_wrapped=True),
    "ProjectionExpression": both_sizes(
        "GetItem", {"TableName": "hash", "Key": key()}, listed, "Projection"
    ),
}
COUNT_NONE = {"Count": 0}
EXPRESSION_SIZE = {
    **{f"{kind}, 4096": steps[0] for kind, steps in SIZES.items()},
    **{f"{kind}, 4097": steps[1] for kind, steps in SIZES.items()},
    "a filter of Query, 4096": [
        accepted("PutItem", {"TableName": "hash", "Item": {**key(), padded(0, 50): s("x")}}),
        accepted("Query", SCAN | query_choices(4096), Count=1),
    ],
    "a filter of Query, 4097": [refused("Query", SCAN | query_choices(4097), too_long("Filter"))],
    "a filter of Scan, 4096": [accepted("Scan", SCAN | choices(4096), Count=0)],
    "a filter of Scan, 4097": [refused("Scan", SCAN | choices(4097), too_long("Filter"))],
    "aliases count as written": [
        accepted("PutItem", {"TableName": "hash", "Item": {**key(), "real": s("y")}}),
        accepted(
            "GetItem",
            {
                "TableName": "hash",
                "Key": key(),
                "ProjectionExpression": ", ".join(f"#a{i}" for i in range(30)),
                "ExpressionAttributeNames": {f"#a{i}": "n" * 246 + f"q{i}" for i in range(30)},
            },
            Item={},
        ),
    ],
    "a condition of a transaction, 4096": [
        accepted("TransactWriteItems", transact({"Put": PUT | absences(4096)}))
    ],
    "a condition of a transaction, 4097": [
        refused(
            "TransactWriteItems", transact({"Put": PUT | absences(4097)}), too_long("Condition")
        )
    ],
    "an update of a transaction, 4097": [
        refused(
            "TransactWriteItems",
            transact({"Update": UPDATE | assignments(4097)}),
            "Invalid UpdateExpression: Expression size has exceeded the maximum allowed size;",
        )
    ],
    "the second action": [
        refused(
            "TransactWriteItems",
            {
                "TransactItems": [
                    {"Put": PUT},
                    {"Put": {"TableName": "hash", "Item": key("b"), **absences(4097)}},
                ]
            },
            too_long("Condition"),
        ),
        NOTHING,
    ],
}


def deep_list(levels):
    """Return a text inside so many lists."""
    value = s("leaf")
    for _ in range(levels):
        value = {"L": [value]}
    return value


def with_data(levels):
    return {**key(), "data": deep(levels)}


def compared(levels, of=deep):
    return {
        "ConditionExpression": "#d = :deep",
        "ExpressionAttributeNames": {"#d": "data"},
        "ExpressionAttributeValues": {":deep": of(levels)},
    }


def checked(levels, of=deep):
    return {"TableName": "hash", "Key": key(), **compared(levels, of)}


def sets_deep(levels):
    return {
        "TableName": "hash",
        "Key": key(),
        "UpdateExpression": "SET d = :deep",
        "ExpressionAttributeValues": {":deep": deep(levels)},
    }


def touched(levels):
    request = compared(levels)
    return UPDATE | {
        **request,
        "UpdateExpression": "SET touched = :t",
        "ExpressionAttributeValues": request["ExpressionAttributeValues"] | {":t": s("y")},
    }


STORED = accepted("PutItem", {"TableName": "hash", "Item": key()})
FAILED = {"code": "ConditionalCheckFailedException"}
CANCELLED = {
    "message": "Transaction cancelled, please refer cancellation reasons for specific reasons "
    "[ConditionalCheckFailed]",
    "code": "TransactionCanceledException",
}
OF_DEEP = f"ExpressionAttributeValues contains invalid value: {TOO_DEEP} for key :deep"
NESTING = {
    "31 levels": [accepted("PutItem", {"TableName": "hash", "Item": with_data(31)})],
    "32 levels": [
        refused(
            "PutItem",
            {"TableName": "hash", "Item": with_data(levels)},
            detected(TOO_DEEP),
            is_layered=True,
        )
        for levels in (32, 61)
    ],
    "63 levels": [refused("PutItem", {"TableName": "hash", "Item": with_data(63)}, TOO_DEEP)],
    "a value of 31 levels": [STORED, refused("UpdateItem", touched(31), **FAILED)],
    "a value of 32 levels": [
        STORED,
        refused("UpdateItem", touched(32), detected(TOO_DEEP), is_layered=True),
    ],
    "a value of 63 levels": [refused("UpdateItem", touched(63), OF_DEEP)],
    "a batch, 31 levels": [
        accepted("BatchWriteItem", batch_item(with_data(31)), UnprocessedItems={})
    ],
    "a batch, 32 levels": [refused("BatchWriteItem", batch_item(with_data(32)), TOO_DEEP)],
    "a transaction, 31 levels": [
        accepted(
            "TransactWriteItems", transact({"Put": {"TableName": "hash", "Item": with_data(31)}})
        )
    ],
    "a transaction, 32 levels": [
        refused(
            "TransactWriteItems",
            transact({"Put": {"TableName": "hash", "Item": with_data(32)}}),
            TOO_DEEP,
        )
    ],
    "a transaction makes an item too deep": [
        refused(
            "TransactWriteItems",
            transact({"Update": sets_deep(32)}),
            "Transaction cancelled, please refer cancellation reasons for specific reasons "
            "[ValidationError]",
            "TransactionCanceledException",
            members={
                "CancellationReasons": [
                    {
                        "Code": "ValidationError",
                        "Message": "Nesting Levels have exceeded supported limits",
                    }
                ]
            },
        )
    ],
    "a transaction, a value of 32 levels": [
        STORED,
        refused("TransactWriteItems", transact({"Update": touched(32)}), **CANCELLED),
        refused("TransactWriteItems", transact({"ConditionCheck": checked(32)}), **CANCELLED),
    ],
    "a transaction, a value of 33 levels": [
        refused("TransactWriteItems", transact(action), OF_DEEP)
        for action in (
            {"ConditionCheck": checked(33)},
            {"Put": {"TableName": "hash", "Item": key(), **compared(33)}},
            {"Update": sets_deep(33)},
        )
    ],
    "a transaction, a value of 61 levels": [
        refused("TransactWriteItems", transact({"ConditionCheck": checked(61, of)}), OF_DEEP)
        for of in (deep, deep_list)
    ],
}

FILES = {
    "tier3/error-messages/valueLayers": VALUE_LAYERS,
    "tier3/error-messages/queryKeyConditionOperands": KEY_OPERANDS,
    "tier3/validation-ordering/queryKeyCondition": KEY_ORDER,
    "tier3/limits/numberExponent": EXPONENTS,
    "tier3/error-messages/batchWriteItem": BATCH_WRITE,
    "tier3/error-messages/batchGetItem": BATCH_GET,
    "tier3/error-messages/putItem": PUT_ITEM,
    "tier3/error-messages/deleteItem": DELETE_ITEM,
    "tier3/error-messages/updateItem": UPDATE_ITEM,
    "tier3/error-messages/scan": SCANS,
    "tier3/error-messages/indexReads": INDEX_READS,
    "tier3/limits/expressionSize": EXPRESSION_SIZE,
    "tier3/limits/nestingDepth": NESTING,
}
