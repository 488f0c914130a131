"""Transactions, sizes, definitions of tables, and index keys of several attributes."""

from tests.conformance.recordings.recording import (
    CAPACITY,
    INVALID,
    NO_SCHEMA,
    accepted,
    constraint,
    detected,
    key,
    n,
    refused,
    s,
    statement,
)

CANCELLED = "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]"
FAILED = {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}
EMPTY = (
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
    "contain an empty {} value. Key: pk"
)
NEW = "attribute_not_exists(pk)"


def acting(*actions):
    return {"TransactItems": list(actions)}


def put(item, table="hash", **members):
    return {"Put": {"TableName": table, "Item": item, **members}}


def update(value, table="hash"):
    return {
        "Update": {
            "TableName": table,
            "Key": {"pk": value},
            "UpdateExpression": "SET attr1 = :v",
            "ExpressionAttributeValues": {":v": s("x")},
        }
    }


def delete(value, table="hash"):
    return {"Delete": {"TableName": table, "Key": {"pk": value}}}


def check(value, table="hash"):
    return {
        "ConditionCheck": {"TableName": table, "Key": {"pk": value}, "ConditionExpression": NEW}
    }


def cancelled(request, *reasons, operation="TransactWriteItems"):
    codes = ", ".join(reason["Code"] for reason in reasons)
    return refused(
        operation,
        request,
        CANCELLED.format(codes),
        "TransactionCanceledException",
        members={"CancellationReasons": list(reasons)},
    )


def invalid(action, message):
    return [cancelled(acting(action), {"Code": "ValidationError", "Message": message})]


def told(action, message):
    return [refused("TransactWriteItems", acting(action), message)]


def stored(*texts):
    return [
        accepted("PutItem", {"TableName": "hash", "Item": {**key(text), "attr1": s("x")}})
        for text in texts
    ]


LIST, FIVE = {"L": [s("x")]}, n(5)
MISMATCH = INVALID + "Type mismatch for key pk expected: S actual: {}"
AT_LEAST_ONE = detected(
    constraint("[]", "transactItems", "Member must have length greater than or equal to 1")
)
TWICE = "Transaction request cannot include multiple operations on one item"
NO_TABLE = ("Requested resource not found", "ResourceNotFoundException")
WRITES = {
    "nothing": [refused("TransactWriteItems", acting(), AT_LEAST_ONE)],
    "too many": [refused("TransactWriteItems", acting(*(put(key(f"{i}")) for i in range(101))))],
    "an item twice": [refused("TransactWriteItems", acting(put(key()), put(key())), TWICE)],
    "no table": [refused("TransactWriteItems", acting(put(key(), "absent")), *NO_TABLE)],
    "two conditions fail": [
        *stored("a", "b"),
        cancelled(
            acting(*(put(key(text), ConditionExpression=NEW) for text in "ab")), FAILED, FAILED
        ),
    ],
    "one of two fails": [
        *stored("a"),
        cancelled(
            acting(*(put(key(text), ConditionExpression=NEW) for text in "na")),
            {"Code": "None"},
            FAILED,
        ),
    ],
    "a key of another type": invalid(put({"pk": FIVE}), MISMATCH.format("N")),
    "a key that is a list": invalid(put({"pk": LIST}), MISMATCH.format("L")),
    "an empty key": told(put({"pk": s("")}), EMPTY.format("string")),
    **{
        f"{made.__name__}, {name}": steps
        for made in (update, delete, check)
        for name, steps in {
            "an empty key": told(made(s("")), EMPTY.format("string")),
            "a key of another type": invalid(made(FIVE), NO_SCHEMA),
            "a key that is a list": invalid(made(LIST), NO_SCHEMA),
            "no bytes": told(made({"B": ""}, "binary"), EMPTY.format("binary")),
        }.items()
    },
    "put, no bytes": told(put({"pk": {"B": ""}}, "binary"), EMPTY.format("binary")),
}


def reading(where, table="hash", **members):
    return {"Get": {"TableName": table, "Key": where, **members}}


READS = {
    "nothing": [refused("TransactGetItems", acting(), AT_LEAST_ONE)],
    "too many": [refused("TransactGetItems", acting(*(reading(key(f"{i}")) for i in range(101))))],
    "no table": [refused("TransactGetItems", acting(reading(key(), "absent")), *NO_TABLE)],
    "syntax": [
        refused(
            "TransactGetItems",
            acting(reading(key(), ProjectionExpression="!!!")),
            'Invalid ProjectionExpression: Syntax error; token: "!", near: "!!"',
        )
    ],
    "no key": [
        cancelled(
            acting(reading({})),
            {"Code": "ValidationError", "Message": NO_SCHEMA},
            operation="TransactGetItems",
        )
    ],
}


def defining(*names, **members):
    return {
        "TableName": "new",
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in names],
        **members,
    }


def keyed(*pairs):
    return [{"AttributeName": name, "KeyType": kind} for name, kind in pairs]


HASH = keyed(("pk", "HASH"))
PAIR = keyed(("pk", "HASH"), ("sk", "RANGE"))
ALL = {"ProjectionType": "ALL"}


def indexes(local, wide):
    return defining(
        "pk",
        "sk",
        KeySchema=PAIR,
        LocalSecondaryIndexes=[
            {
                "IndexName": local,
                "KeySchema": keyed(("pk", "HASH"), ("lr", "RANGE")),
                "Projection": ALL,
            }
        ],
        GlobalSecondaryIndexes=[
            {"IndexName": wide, "KeySchema": keyed(("gh", "HASH")), "Projection": ALL}
        ],
    )


def short(name, member):
    return constraint(
        name, f"{member}.1.member.indexName", "Member must have length greater than or equal to 3"
    )


def both_short(local, wide):
    problems = [short(wide, "globalSecondaryIndexes"), short(local, "localSecondaryIndexes")]
    return [refused("CreateTable", indexes(local, wide), detected("; ".join(problems), 2))]


BILLING = constraint(
    "INVALID_MODE",
    "billingMode",
    "Member must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]",
)
CREATE_TABLE = {
    "an empty name": [refused("CreateTable", defining(TableName="", KeySchema=[]))],
    "a bad name": [refused("CreateTable", defining("pk", TableName="x!", KeySchema=[]))],
    "a bad mode and a bad key": [
        refused(
            "CreateTable",
            defining("pk", KeySchema=keyed(("pk", "INVALID")), BillingMode="INVALID_MODE"),
        )
    ],
    "no units and a bad key": [
        refused(
            "CreateTable",
            defining("pk", KeySchema=keyed(("pk", "INVALID")), BillingMode="PROVISIONED"),
        )
    ],
    "a key attribute twice": [
        refused("CreateTable", defining("pk", KeySchema=keyed(("pk", "HASH"), ("pk", "RANGE"))))
    ],
    "three key attributes": [
        refused(
            "CreateTable", defining("pk", "sk", "tk", KeySchema=[*PAIR, *keyed(("tk", "RANGE"))])
        )
    ],
    "a bad mode": [
        refused(
            "CreateTable",
            defining("pk", KeySchema=HASH, BillingMode="INVALID_MODE"),
            detected(BILLING),
        )
    ],
    "global names before local ones": both_short("l1", "g1"),
    "whatever the names": both_short("aa", "zz"),
}
ASKING = {
    "KeyConditionExpression": "#pk = :pk",
    "ExpressionAttributeNames": {"#pk": "pk"},
    "ExpressionAttributeValues": {":pk": s("x")},
}
QUERY = {
    "a bad table name": [refused("Query", {"TableName": "abc!", "Select": "INVALID", **ASKING})],
    "Limit": [
        refused(
            "Query",
            {"TableName": "hash", "Limit": 0, **ASKING},
            detected(
                "Value at 'Limit' failed to satisfy constraint: Member must have value greater "
                "than or equal to 1"
            ),
            is_layered=True,
        )
    ],
    "two enums": [
        refused(
            "Query",
            {
                "TableName": "hash",
                "ReturnConsumedCapacity": "BOGUS",
                "Select": "INVALID",
                **ASKING,
            },
            detected(
                CAPACITY
                + "; "
                + constraint(
                    "INVALID",
                    "select",
                    "Member must satisfy enum value set: [SPECIFIC_ATTRIBUTES, COUNT, "
                    "ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]",
                ),
                2,
            ),
        )
    ],
    "ConditionalOperator before Select": [
        refused(
            "Query",
            {
                "TableName": "absent",
                "KeyConditions": {
                    "pk": {"ComparisonOperator": "EQ", "AttributeValueList": [s("a")]}
                },
                "QueryFilter": {name: {"ComparisonOperator": "NULL"} for name in "bc"},
                "ConditionalOperator": "XOR",
                "Select": "BOGUS",
            },
            "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]",
            is_layered=True,
        )
    ],
}
ROWS = {
    "p1": "T live b r1",
    "p2": "T live a r2",
    "p3": "T live a r1",
    "p4": "T draft c r1",
    "p5": "F live a r0",
}
WIDE = [
    accepted(
        "CreateTable",
        defining(
            *["pk", "h", "a", "b", "c", "d"],
            KeySchema=HASH,
            GlobalSecondaryIndexes=[
                {
                    "IndexName": "gsi",
                    "KeySchema": keyed(("h", "HASH"), *((name, "RANGE") for name in "abcd")),
                    "Projection": ALL,
                }
            ],
        ),
        unrecorded=None,
    ),
    *(
        accepted(
            "PutItem",
            {
                "TableName": "new",
                "Item": {
                    "pk": s(pk),
                    "h": s("o1"),
                    **{name: s(text) for name, text in zip("abcd", row.split(), strict=True)},
                },
            },
        )
        for pk, row in ROWS.items()
    ),
    accepted(
        "PutItem",
        {
            "TableName": "new",
            "Item": {"pk": s("p6"), "h": s("o1"), "a": s("T"), "b": s("live"), "d": s("r1")},
        },
    ),
]
GIVEN = {
    ":h": "o1",
    ":a": "T",
    ":b": "live",
    ":c": "a",
    ":d": "r",
    ":x": "r1",
    ":y": "r1",
}


def wide(condition, **members):
    return {
        "TableName": "new",
        "IndexName": "gsi",
        "KeyConditionExpression": condition,
        "ExpressionAttributeValues": {
            name: s(text) for name, text in GIVEN.items() if name in condition
        },
        "ProjectionExpression": "pk",
        **members,
    }


def finds(condition, *keys, **members):
    items = [{"pk": s(pk)} for pk in keys]
    return [*WIDE, accepted("Query", wide(condition, **members), Items=items)]


def gap(condition, missing, present):
    message = (
        f"RANGE key attributes {missing} must have equality conditions specified in the query "
        f"because a condition is present on key attribute {present}"
    )
    return [*WIDE, refused("Query", wide(condition), message)]


LAST = {name: s(text) for name, text in zip("abcd", ROWS["p3"].split(), strict=True)}
MULTI_ATTRIBUTE = {
    "HASH": finds("h = :h", "p5", "p4", "p3", "p2", "p1"),
    "one RANGE": finds("h = :h AND a = :a", "p4", "p3", "p2", "p1"),
    "reversed": finds("h = :h AND a = :a", "p1", "p2", "p3", "p4", ScanIndexForward=False),
    "two RANGE": finds("h = :h AND a = :a AND b = :b", "p3", "p2", "p1"),
    "three RANGE": finds("h = :h AND a = :a AND b = :b AND c = :c", "p3", "p2"),
    "a range on the last": finds("h = :h AND a = :a AND b = :b AND c > :c", "p1"),
    "begins_with": finds(
        "h = :h AND a = :a AND b = :b AND c = :c AND begins_with(d, :d)", "p3", "p2"
    ),
    "BETWEEN": finds("h = :h AND a = :a AND b = :b AND c = :c AND d BETWEEN :x AND :y", "p3"),
    "a range on the second": finds("h = :h AND a = :a AND b < :b", "p4"),
    "any order": finds("b = :b AND h = :h AND a = :a", "p3", "p2", "p1"),
    "a page": [
        *WIDE,
        accepted(
            "Query",
            wide("h = :h AND a = :a", Limit=2),
            Items=[{"pk": s("p4")}, {"pk": s("p3")}],
            LastEvaluatedKey={"pk": s("p3"), "h": s("o1"), **LAST},
        ),
    ],
    "a gap": gap("h = :h AND a = :a AND c = :c", "b", "c"),
    "a range before the last": gap("h = :h AND a = :a AND b > :b AND c = :c", "b", "c"),
    "no first": gap("h = :h AND b = :b", "a", "b"),
}
UNSUPPORTED = (
    "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or "
    "multi-attribute RANGE keys."
)
ILL_FORMED = "Statement wasn't well formed, can't be processed: "


def table_of(name, hashes, ranges):
    return accepted(
        "CreateTable",
        defining(
            "id",
            *hashes,
            *ranges,
            TableName=name,
            KeySchema=keyed(("id", "HASH")),
            GlobalSecondaryIndexes=[
                {
                    "IndexName": "gsi",
                    "KeySchema": keyed(
                        *((h, "HASH") for h in hashes), *((r, "RANGE") for r in ranges)
                    ),
                    "Projection": ALL,
                }
            ],
        ),
        unrecorded=None,
    )


THREE = [
    table_of("hhrr", ["h1", "h2"], ["r1", "r2"]),
    table_of("hhr", ["h1", "h2"], ["r1"]),
    table_of("plain", ["h1"], ["r1"]),
    accepted("PutItem", {"TableName": "hhr", "Item": {"id": s("i1")}}),
]


def says(*statements, **members):
    return [
        *THREE,
        *(
            refused("ExecuteStatement", statement(text, **members), message)
            for text, message in statements
        ),
    ]


NEEDS_KEY = (
    "Select statements within BatchExecuteStatement must specify the primary key in the where "
    "clause."
)
PARTIQL_MULTI = {
    "two and two": says(('SELECT * FROM "hhrr"."gsi" WHERE h1 = \'a\'', UNSUPPORTED)),
    "two and one": says(('SELECT * FROM "hhr"."gsi" WHERE h1 = \'a\'', UNSUPPORTED)),
    "ORDER BY": says(
        (
            "SELECT id FROM \"hhrr\".\"gsi\" WHERE h1 = 'a' AND h2 = 'x' ORDER BY r1 DESC",
            UNSUPPORTED,
        )
    ),
    "syntax first": says(('SELECT * FROM "hhr"."gsi" WHERE', ILL_FORMED + "Unexpected term")),
    "a literal first": says(('SELECT * FROM "hhr"."gsi" WHERE h1 = 1e99999999999', ILL_FORMED)),
    "a parameter first": says(
        (
            'SELECT * FROM "hhr"."gsi" WHERE h1 = ?',
            "The parameter cannot be converted to a numeric value: 1e99999999999",
        ),
        Parameters=[{"N": "1e99999999999"}],
    ),
    "before the rest": says(
        ('SELECT * FROM "hhr"."gsi" WHERE h1 = 5', UNSUPPORTED),
        ('SELECT * FROM "hhr"."gsi" WHERE id = \'i1\'', UNSUPPORTED),
        ('SELECT * FROM "hhr"."gsi"', UNSUPPORTED),
        ('SELECT COUNT(*) FROM "hhr"."gsi"', UNSUPPORTED),
    ),
    "a batch": [
        *THREE,
        accepted(
            "BatchExecuteStatement",
            {
                "Statements": [
                    statement("SELECT * FROM \"plain\".\"gsi\" WHERE h1 = 'a' AND r1 = 'm'"),
                    statement(
                        "SELECT * FROM \"hhr\".\"gsi\" WHERE h1 = 'a' AND h2 = 'x' AND r1 = 'm'"
                    ),
                    statement("SELECT * FROM \"hhr\" WHERE id = 'i1'"),
                ]
            },
            Responses=[
                {"Error": {"Code": "ValidationError", "Message": NEEDS_KEY}},
                {"Error": {"Code": "ValidationError", "Message": UNSUPPORTED}},
                {"TableName": "hhr", "Item": {"id": s("i1")}},
            ],
        ),
    ],
}
MOST = 409_600
TOO_LARGE = "Item size has exceeded the maximum allowed size"
UPDATE_TOO_LARGE = "Item size to update has exceeded the maximum allowed size"


def padding(size):
    return s("x" * (size - len("pkap")))


def sized(size):
    return {**key(), "p": padding(size)}


def grown(size):
    return {
        "Update": {
            "TableName": "hash",
            "Key": key(),
            "UpdateExpression": "SET p = :p",
            "ExpressionAttributeValues": {":p": padding(size)},
        }
    }


def batch(size):
    return {"RequestItems": {"hash": [{"PutRequest": {"Item": sized(size)}}]}}


INSERT = "INSERT INTO \"hash\" VALUE {'pk': ?, 'p': ?}"
GROW = 'UPDATE "hash" SET p = ? WHERE pk = ?'
SMALL = accepted("PutItem", {"TableName": "hash", "Item": key()})
KEPT = accepted("GetItem", {"TableName": "hash", "Key": key()}, Item=sized(MOST))


def inserted(size):
    return statement(INSERT, Parameters=[s("a"), padding(size)])


def updated(size):
    return statement(GROW, Parameters=[padding(size), s("a")])


SIZES = {
    "BatchWriteItem": [accepted("BatchWriteItem", batch(MOST), UnprocessedItems={}), KEPT],
    "BatchWriteItem, over": [refused("BatchWriteItem", batch(MOST + 1), TOO_LARGE)],
    "INSERT": [accepted("ExecuteStatement", inserted(MOST), Items=[]), KEPT],
    "INSERT, over": [refused("ExecuteStatement", inserted(MOST + 1), TOO_LARGE)],
    "UPDATE": [SMALL, accepted("ExecuteStatement", updated(MOST), Items=[]), KEPT],
    "UPDATE, over": [SMALL, refused("ExecuteStatement", updated(MOST + 1), UPDATE_TOO_LARGE)],
    "Put": [accepted("TransactWriteItems", acting(put(sized(MOST)))), KEPT],
    "Put, over": told(put(sized(MOST + 1)), TOO_LARGE),
    "Update": [accepted("TransactWriteItems", acting(grown(MOST))), KEPT],
    "Update, over": invalid(grown(MOST + 1), UPDATE_TOO_LARGE),
    "Update of an item, over": [SMALL, *invalid(grown(MOST + 1), UPDATE_TOO_LARGE)],
}


def numbered(literal, cost, size):
    return {
        "TableName": "hash",
        "Item": {**key(), "n": {"N": literal}, "p": s("x" * (size - len("pkanp") - cost))},
    }


def costing(literal, cost):
    return [
        accepted("PutItem", numbered(literal, cost, MOST)),
        refused("PutItem", numbered(literal, cost, MOST + 1), TOO_LARGE),
    ]


def read_back(literal, text):
    return [
        accepted("PutItem", {"TableName": "hash", "Item": {**key(), "n": {"N": literal}}}),
        accepted("GetItem", {"TableName": "hash", "Key": key()}, Item={**key(), "n": {"N": text}}),
    ]


NUMBER_SIZES = {
    "3.14159": costing("3.14159", 5),
    "123456": costing("123456", 4),
    "1E125": costing("1E125", 2),
    "zeros are trimmed": read_back("0042.1200", "42.12"),
    "an exponent is expanded": read_back("1E125", "1" + "0" * 125),
}

FILES = {
    "tier3/error-messages/transactWriteItems": WRITES,
    "tier3/error-messages/transactGetItems": READS,
    "tier3/validation-ordering/createTable": CREATE_TABLE,
    "tier3/validation-ordering/query": QUERY,
    "tier1/query/multiAttributeGsiKey": MULTI_ATTRIBUTE,
    "tier3/error-messages/partiqlMultiAttributeIndex": PARTIQL_MULTI,
    "tier3/limits/itemSizeBySurface": SIZES,
    "tier3/limits/numberByteSize": NUMBER_SIZES,
}
