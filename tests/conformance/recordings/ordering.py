"""Which of several faults is told."""

from tests.conformance.recordings.recording import (
    BOGUS,
    BOGUS2,
    CAPACITY,
    METRICS,
    TOO_DEEP,
    accepted,
    constraint,
    deep,
    detected,
    key,
    pair,
    refused,
    s,
)

NOTHING = "Member must have length greater than or equal to 1"
LONG = "x" * 37
TOKEN = constraint(LONG, "clientRequestToken", "Member must have length less than or equal to 36")
NO_KEY = "Value null at 'key' failed to satisfy constraint: Member must not be null"
NO_NAME = constraint("", "tableName", NOTHING)
MAP_KEYS = (
    "Map keys must satisfy constraint: [Member must have length less than or equal to 255, Member "
    "must have length greater than or equal to 3, Member must satisfy regular expression pattern: "
    "[a-zA-Z0-9_.-]+]"
)
NAMED = """{"bad!name":{"Keys":[{"pk":{"S":"a"}}]}}"""
SYNTAX = 'Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "("'
UNUSED = "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}"
XOR = constraint("XOR", "conditionalOperator", "Member must satisfy enum value set: [OR, AND]")
RETURN_VALUES = constraint(
    "BOGUS",
    "returnValues",
    "Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]",
)
EQUALS = 'Invalid ConditionExpression: Syntax error; token: "=", near: "= = b"'
EMPTY_NAME = "Empty attribute name"


def puts(table="hash", item=None, **members):
    return {"RequestItems": {table: [{"PutRequest": {"Item": item or key()}}]}, **members}


def gets(table="hash", **members):
    return {"RequestItems": {table: {"Keys": [key()]}}, **members}


def writes(*actions, **members):
    return {"TransactItems": list(actions), **members}


def put(table="hash", item=None, **members):
    return {"Put": {"TableName": table, "Item": item or key(), **members}}


def check(table="hash", where=None, **members):
    return {"ConditionCheck": {"TableName": table, "Key": where or key(), **members}}


def delete(where, **members):
    return {"Delete": {"TableName": "absent", "Key": where, **members}}


def update(where=None, expression="SET a = :v", **values):
    values = {f":{name}": value for name, value in values.items()}
    return {
        "Update": {
            "TableName": "absent",
            "Key": where or pair(),
            "UpdateExpression": expression,
            "ExpressionAttributeValues": values,
        }
    }


def reads(table="hash", count=1, **members):
    return {"TransactItems": [{"Get": {"TableName": table, "Key": key()}}] * count, **members}


UNFINISHED = check(ConditionExpression="attribute_not_exists(")
UNUSED_CHECK = check(
    ConditionExpression="attribute_not_exists(pk)", ExpressionAttributeValues={":v": s("x")}
)
NONE = accepted("GetItem", {"TableName": "hash", "Key": key()})

BATCHES = {
    "a write with an unknown enum": [
        refused("BatchWriteItem", puts(**BOGUS), detected(CAPACITY)),
        NONE,
    ],
    "a write with another unknown enum": [
        refused("BatchWriteItem", puts(**BOGUS2), detected(METRICS)),
        NONE,
    ],
    "both enums together": [
        refused("BatchWriteItem", puts(**BOGUS, **BOGUS2), detected(f"{CAPACITY}; {METRICS}", 2)),
        NONE,
    ],
    "an enum before a missing table": [
        refused("BatchWriteItem", puts("absent", **BOGUS), detected(CAPACITY))
    ],
    "an enum alone over a bad table name": [
        refused("BatchWriteItem", puts("bad!name", **BOGUS), detected(CAPACITY))
    ],
    "a read with an unknown enum": [refused("BatchGetItem", gets(**BOGUS), detected(CAPACITY))],
    "a read's enum before a missing table": [
        refused("BatchGetItem", gets("absent", **BOGUS), detected(CAPACITY))
    ],
    "a read's bad table name with the enum": [
        refused(
            "BatchGetItem",
            gets("bad!name", **BOGUS),
            detected(f"{constraint(NAMED, 'requestItems', MAP_KEYS)}; {CAPACITY}", 2),
            is_layered=True,
        )
    ],
    "no write at all": [refused("BatchWriteItem", {"RequestItems": {}})],
    "no read at all": [refused("BatchGetItem", {"RequestItems": {}})],
    "too many writes": [
        refused(
            "BatchWriteItem",
            {"RequestItems": {"hash": [{"PutRequest": {"Item": key(f"{n}")}} for n in range(26)]}},
        )
    ],
    "too many reads": [
        refused(
            "BatchGetItem", {"RequestItems": {"hash": {"Keys": [key(f"{n}") for n in range(101)]}}}
        )
    ],
}
TRANSACTIONS = {
    "an unknown enum": [
        refused("TransactWriteItems", writes(put(), **BOGUS), detected(CAPACITY)),
        NONE,
    ],
    "another unknown enum": [
        refused("TransactWriteItems", writes(put(), **BOGUS2), detected(METRICS)),
        NONE,
    ],
    "both enums together": [
        refused(
            "TransactWriteItems",
            writes(put(), **BOGUS, **BOGUS2),
            detected(f"{CAPACITY}; {METRICS}", 2),
        ),
        NONE,
    ],
    "an enum before a missing table": [
        refused("TransactWriteItems", writes(put("absent"), **BOGUS), detected(CAPACITY))
    ],
    "an enum before two actions on an item": [
        refused(
            "TransactWriteItems",
            writes(put(), {"Delete": {"TableName": "hash", "Key": key()}}, **BOGUS),
            detected(CAPACITY),
        )
    ],
    "a long token": [
        refused("TransactWriteItems", writes(put(), ClientRequestToken=LONG), detected(TOKEN)),
        NONE,
    ],
    "a long token before an enum": [
        refused(
            "TransactWriteItems",
            writes(put(), ClientRequestToken=LONG, **BOGUS),
            detected(f"{TOKEN}; {CAPACITY}", 2),
        )
    ],
    "a later condition before an earlier missing table": [
        refused("TransactWriteItems", writes(put("absent"), UNFINISHED), SYNTAX)
    ],
    "a condition before a later deep item": [
        refused(
            "TransactWriteItems",
            writes(UNFINISHED, put(item={**key(), "data": deep(32)})),
            SYNTAX,
        )
    ],
    "a deep item before a later condition": [
        refused(
            "TransactWriteItems",
            writes(put(item={**key(), "data": deep(32)}), UNFINISHED),
            TOO_DEEP,
        )
    ],
    "an unused value before an earlier missing table": [
        refused("TransactWriteItems", writes(put("absent"), UNUSED_CHECK), UNUSED)
    ],
    "an unused value before a later missing table": [
        refused("TransactWriteItems", writes(UNUSED_CHECK, put("absent")), UNUSED)
    ],
    "an unused value before two actions on an item": [
        refused("TransactWriteItems", writes(put(), UNUSED_CHECK), UNUSED),
        NONE,
    ],
    "a read with an unknown enum": [
        refused("TransactGetItems", reads(**BOGUS), detected(CAPACITY))
    ],
    "a read's enum before a missing table": [
        refused("TransactGetItems", reads("absent", **BOGUS), detected(CAPACITY))
    ],
    "a read's enum before the same item twice": [
        refused("TransactGetItems", reads(count=2, **BOGUS), detected(CAPACITY))
    ],
}
EXPECTED = {"a": {"Value": deep(100)}, "b": {"Exists": False}}
DELETE = {"TableName": "absent", "Key": pair()}


def condition(levels):
    return {
        "ConditionExpression": "#d = :deep",
        "ExpressionAttributeNames": {"#d": "d"},
        "ExpressionAttributeValues": {":deep": deep(levels)},
    }


def acts(*actions):
    return writes(*actions)


def lone(first, second, message):
    return [refused("TransactWriteItems", acts(first, second), message)]


EMPTY = put("absent", {**pair(), "": s("x")})
DEEP_CHECK = check(
    "absent",
    pair("b"),
    ConditionExpression="d = :deep",
    ExpressionAttributeValues={":deep": deep(100)},
)
LATE = check("absent", pair(deep(100)), ConditionExpression="attribute_exists(a)")
LIMIT = "a = :v" + " AND a = :v" * 373
DEEP_REQUESTS = {
    "PutItem's older enum before a deep Expected": [
        refused(
            "PutItem",
            {
                "TableName": "absent",
                "Item": pair(),
                "Expected": EXPECTED,
                "ConditionalOperator": "XOR",
            },
            detected(XOR),
        )
    ],
    "UpdateItem's older enum before a deep Expected": [
        refused(
            "UpdateItem",
            {
                "TableName": "absent",
                "Key": pair(),
                "AttributeUpdates": {"x": {"Action": "PUT", "Value": s("1")}},
                "Expected": EXPECTED,
                "ConditionalOperator": "XOR",
            },
            detected(XOR),
        )
    ],
    "Scan's deep filter before a lone ConditionalOperator": [
        refused(
            "Scan",
            {
                "TableName": "absent",
                "ScanFilter": {"a": {"ComparisonOperator": "EQ", "AttributeValueList": [deep(40)]}},
                "ConditionalOperator": "AND",
            },
            TOO_DEEP,
        )
    ],
    "a deep item before a later empty name": lone(
        put("absent", {**pair("b"), "d": deep(40)}), EMPTY, TOO_DEEP
    ),
    "an empty name before a later deep item": lone(
        EMPTY, put("absent", {**pair("b"), "d": deep(100)}), EMPTY_NAME
    ),
    "an empty name before depth in one item": [
        refused("TransactWriteItems", acts(put("absent", item)), EMPTY_NAME)
        for item in (
            {**pair(), "": s("x"), "d": deep(100)},
            {**pair(), "d": deep(100), "": s("x")},
        )
    ],
    "depth before an empty key of a map in one item": [
        refused(
            "TransactWriteItems",
            acts(put("absent", {**pair(), "m": {"M": {"": s("x")}}, "d": deep(40)})),
            TOO_DEEP,
        )
    ],
    "an empty name before a later deep value of a check": lone(EMPTY, DEEP_CHECK, EMPTY_NAME),
    "an earlier deep value of a check": lone(
        check(
            "absent",
            pair("b"),
            ConditionExpression="d = :deep",
            ExpressionAttributeValues={":deep": deep(40)},
        ),
        EMPTY,
        f"ExpressionAttributeValues contains invalid value: {TOO_DEEP} for key :deep",
    ),
    "an earlier deep value of an update": lone(
        update(expression="SET d = :deep", deep=deep(40)),
        put("absent", {**pair("b"), "": s("x")}),
        f"ExpressionAttributeValues contains invalid value: {TOO_DEEP} for key :deep",
    ),
    "a deep key before a later condition": lone(
        delete(pair(deep(40))),
        put("absent", pair(), ConditionExpression="a = = b"),
        TOO_DEEP,
    ),
    "a deep key before a later unused value": lone(
        check("absent", pair(deep(40)), ConditionExpression="attribute_exists(a)"),
        update(v=s("x"), u=s("y")),
        TOO_DEEP,
    ),
    "a condition before a later deep key": lone(
        put("absent", pair(), ConditionExpression="a = = b"), delete(pair(deep(100))), EQUALS
    ),
    "a condition before its own deep key": [
        refused(
            "TransactWriteItems",
            acts(delete(pair(deep(100)), ConditionExpression="a = = b")),
            EQUALS,
        )
    ],
    "a long condition before its own deep key": [
        refused(
            "TransactWriteItems",
            acts(
                delete(
                    pair(deep(100)),
                    ConditionExpression=LIMIT,
                    ExpressionAttributeValues={":v": s("x")},
                )
            ),
            "Invalid ConditionExpression: Expression size has exceeded the maximum allowed size; "
            "expression size: 4109",
        )
    ],
    "a long update before a later deep key": lone(
        update(expression="SET " + ", ".join(f"a{i} = :v" for i in range(500)), v=s("x")),
        LATE,
        "Invalid UpdateExpression: Expression size has exceeded the maximum allowed size;",
    ),
    "an unused value before a later deep key": lone(
        update(v=s("x"), u=s("y")),
        LATE,
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:u}",
    ),
    "DeleteItem's older enum with a deep condition": [
        refused(
            "DeleteItem",
            {**DELETE, **condition(63), "ReturnValues": "BOGUS"},
            detected(RETURN_VALUES),
        )
    ],
    "DeleteItem's older enum with a deep Expected": [
        refused(
            "DeleteItem",
            {**DELETE, "Expected": {"d": {"Value": deep(63)}}, "ReturnValues": "BOGUS"},
            detected(RETURN_VALUES),
        )
    ],
    "DeleteItem's older enum with a deep key": [
        refused(
            "DeleteItem",
            {"TableName": "absent", "Key": pair(deep(100)), "ReturnValues": "BOGUS"},
            detected(RETURN_VALUES),
        )
    ],
    "DeleteItem's bare ReturnValues with a deep condition": [
        refused(
            "DeleteItem",
            {**DELETE, **condition(100), "ReturnValues": "UPDATED_NEW"},
            "ReturnValues can only be ALL_OLD or NONE",
        )
    ],
}
SET_A = {"UpdateExpression": "SET a = :a", "ExpressionAttributeValues": {":a": s("x")}}
INVALID_CAPACITY = CAPACITY.replace("BOGUS", "INVALID")
UPDATE_ITEM = {
    "an empty table name alone": [
        refused(
            "UpdateItem",
            {"TableName": "", "Key": {}},
            detected(f"Value at 'TableName' failed to satisfy constraint: {NOTHING}"),
            is_layered=True,
        )
    ],
    "the first enum alone": [
        refused(
            "UpdateItem",
            {
                "TableName": "absent",
                "Key": key(),
                "ReturnValues": "INVALID",
                "ReturnConsumedCapacity": "INVALID",
            },
            detected(
                "Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, "
                "UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
            ),
            is_layered=True,
        )
    ],
    "a bad table name": [refused("UpdateItem", {"TableName": "x!", "Key": {}})],
    "an empty table name and no key": [
        refused("UpdateItem", {"TableName": "", **SET_A}, detected(f"{NO_NAME}; {NO_KEY}", 2))
    ],
    "enums, an empty table name and no key": [
        refused(
            "UpdateItem",
            {
                "TableName": "",
                **SET_A,
                "ReturnConsumedCapacity": "INVALID",
                "ReturnValues": "INVALID",
            },
            detected(
                f"{INVALID_CAPACITY}; {NO_NAME}; {RETURN_VALUES.replace('BOGUS', 'INVALID')}; "
                f"{NO_KEY}",
                4,
            ),
        )
    ],
    "ConditionalOperator and no key": [
        refused(
            "UpdateItem",
            {
                "TableName": "absent",
                "AttributeUpdates": {"x": {"Action": "PUT", "Value": s("1")}},
                "Expected": {"a": {"Exists": False}, "b": {"Exists": False}},
                "ConditionalOperator": "XOR",
            },
            detected(f"{XOR}; {NO_KEY}", 2),
        )
    ],
}

FILES = {
    "tier3/validation-ordering/batchOperations": BATCHES,
    "tier3/validation-ordering/transactions": TRANSACTIONS,
    "tier3/validation-ordering/deepRequests": DEEP_REQUESTS,
    "tier3/validation-ordering/updateItem": UPDATE_ITEM,
}
