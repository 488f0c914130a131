"""What PutItem, UpdateItem, BatchWriteItem and transactions store, refuse and cost."""

from tests.conformance.recordings.recording import (
    INVALID,
    NO_SCHEMA,
    Part,
    accepted,
    key,
    n,
    pair,
    refused,
    s,
)
from tests.conformance.recordings.tables_and_transactions import costing

NUMERIC = "1 validation error detected: The parameter cannot be converted to a numeric value: {}"


def put(item, name="hash", **members):
    return {"TableName": name, "Item": item, **members}


def puts(item, name="hash"):
    return accepted("PutItem", put(item, name))


def gives(item, name="hash", where=None):
    return accepted("GetItem", {"TableName": name, "Key": where or key()}, Item=item)


def keeps(**attributes):
    """Return that an item comes back as it was put."""
    return [puts(key() | attributes), gives(key() | attributes)]


def refuses(value, message=None):
    request = put(key() | {"bad": value})
    return [refused("PutItem", request, message, is_layered=message is not None)]


WRITTEN = {
    "+5": "5",
    "+1.5": "1.5",
    "+0": "0",
    "-0": "0",
    "+0.0": "0",
    "+1e2": "100",
    "1e+2": "100",
    "1.5E+3": "1500",
    "+.5": "0.5",
    ".5": "0.5",
    "5.": "5",
    "1.": "1",
    "1.e5": "100000",
    "00042": "42",
    "+1e-2": "0.01",
    "1.23E10": "12300000000",
}
NO_NUMBERS = (
    "+e2|e2|+1+2|1+2|+1.2.3|1.2.3|++5|+-5|-+5|+|-|1e|1e+|.|1.2e3.4|0x5|NaN|Infinity|1_000| 5|5 |1 5"
)
NUMBER_FORMAT = {
    f"{written} is {stored}": [puts(key() | {"v": n(written)}), gives(key() | {"v": n(stored)})]
    for written, stored in WRITTEN.items()
} | {f"not {text!r}": refuses(n(text), NUMERIC.format(text)) for text in NO_NUMBERS.split("|")}
NUMBER_FORMAT["a sort key"] = [
    puts({"pk": s("a"), "sk": n("+5")}, "ordered"),
    gives({"pk": s("a"), "sk": n(5)}, "ordered", {"pk": s("a"), "sk": n(5)}),
]
PUT_VALIDATION = {
    "a leading blank": refuses(n(" 5"), NUMERIC.format(" 5")),
    "a trailing blank": refuses(n("5 "), NUMERIC.format("5 ")),
    "an empty number": refuses({"NS": [""]}),
    "an empty text twice": refuses({"SS": ["", ""]}),
    "no bytes twice": refuses({"BS": ["", ""]}),
    "a number twice": refuses({"NS": ["1", "1", "2"]}),
    "bytes twice": refuses({"BS": ["AQ==", "AQ=="]}),
}
CONTAINS = (
    "1 validation error detected: Invalid ConditionExpression: The first operand must be "
    "distinct from the remaining operands for this operator or function; operator: contains, "
    "first operand: [a]"
)
REDUNDANT = (
    "1 validation error detected: Invalid ConditionExpression: The expression has redundant "
    "parentheses;"
)
PUT_PARENTHESES = {
    "contains itself": [
        refused(
            "PutItem", put(key(), ConditionExpression="contains(a, a)"), CONTAINS, is_layered=True
        )
    ],
    "redundant": [
        refused(
            "PutItem",
            put(key(), ConditionExpression="((attribute_exists(pk)))"),
            REDUNDANT,
            is_layered=True,
        )
    ],
}
FAILED = ("The conditional request failed", "ConditionalCheckFailedException")
CONDITIONS = {
    "reversed bounds": [
        refused(
            "PutItem",
            put(
                key(),
                ConditionExpression="v BETWEEN :hi AND :lo",
                ExpressionAttributeValues={":hi": n(10), ":lo": n(1)},
            ),
        )
    ],
    "the item that was there": [
        puts(key() | {"v": s("first")}),
        refused(
            "PutItem",
            put(
                key(),
                ConditionExpression="attribute_not_exists(pk)",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            ),
            *FAILED,
            members={"Item": key() | {"v": s("first")}},
        ),
    ],
}
MISMATCH = INVALID + "Type mismatch for Index Key lsi1sk Expected: S Actual: {} IndexName: gsi1"
EMPTY_INDEX_KEY = (
    "One or more parameter values are not valid. A value specified for a secondary index key is "
    "not supported. The AttributeValue for a key attribute cannot contain an empty {} value. "
    "IndexName: {}, IndexKey: {}"
)
EMPTY_UPDATE = (
    "One or more parameter values are not valid. The update expression attempted to update a "
    "secondary index key to a value that is not supported. The AttributeValue for a key attribute "
    "cannot contain an empty {} value."
)
EMPTY_TEXT = EMPTY_INDEX_KEY.format("string", "gsi1", "lsi1sk")
NO_BYTES = EMPTY_INDEX_KEY.format("binary", "gsib", "bidx")
BAD_INDEX_KEYS = {
    "another type": (n(5), MISMATCH.format("N")),
    "a list": ({"L": [s("x")]}, MISMATCH.format("L")),
    "an empty text": (s(""), EMPTY_TEXT),
}


def indexed(value):
    return pair() | {"lsi1sk": value}


EMPTY_BYTES = key() | {"bidx": {"B": ""}}


def batch(*items, name="hash"):
    return {"RequestItems": {name: [{"PutRequest": {"Item": item}} for item in items]}}


PUT_INDEX_KEYS = {
    title: [refused("PutItem", put(indexed(value), "indexed"), message)]
    for title, (value, message) in BAD_INDEX_KEYS.items()
}
BATCH_INDEX_KEYS = {
    title: [refused("BatchWriteItem", batch(indexed(value), name="indexed"), message)]
    for title, (value, message) in BAD_INDEX_KEYS.items()
}
SETS_BYTES = {
    "TableName": "bytes",
    "Key": key(),
    "UpdateExpression": "SET bidx = :v",
    "ExpressionAttributeValues": {":v": {"B": ""}},
}
INDEX_KEY_MESSAGES = BATCH_INDEX_KEYS | {
    "no bytes, a batch": [refused("BatchWriteItem", batch(EMPTY_BYTES, name="bytes"), NO_BYTES)],
    "no bytes": [refused("PutItem", put(EMPTY_BYTES, "bytes"), NO_BYTES)],
    "no bytes, an update": [refused("UpdateItem", SETS_BYTES, EMPTY_UPDATE.format("binary"))],
}


def writes(*actions, **members):
    return {"TransactItems": list(actions), **members}


CANCELLED = (
    "Transaction cancelled, please refer cancellation reasons for specific reasons "
    "[ValidationError]"
)


def cancelled(action, reason):
    return [
        refused(
            "TransactWriteItems",
            writes(action),
            CANCELLED,
            "TransactionCanceledException",
            members={"CancellationReasons": [{"Code": "ValidationError", "Message": reason}]},
        )
    ]


def sets_index_key(value):
    return {
        "Update": {
            "TableName": "indexed",
            "Key": pair(),
            "UpdateExpression": "SET lsi1sk = :v",
            "ExpressionAttributeValues": {":v": value},
        }
    }


TRANSACT_INDEX_KEYS = {
    "Put, another type": cancelled({"Put": put(indexed(n(5)), "indexed")}, MISMATCH.format("N")),
    "Put, a list": cancelled(
        {"Put": put(indexed({"L": [s("x")]}), "indexed")}, MISMATCH.format("L")
    ),
    "Put, an empty text": [
        refused("TransactWriteItems", writes({"Put": put(indexed(s("")), "indexed")}), EMPTY_TEXT)
    ],
    "Update, another type": cancelled(sets_index_key(n(5)), MISMATCH.format("N")),
    "Update, a list": cancelled(sets_index_key({"L": [s("x")]}), MISMATCH.format("L")),
    "Update, an empty text": [
        refused("TransactWriteItems", writes(sets_index_key(s(""))), EMPTY_UPDATE.format("string"))
    ],
}
TRANSACT_INDEX_MESSAGES = TRANSACT_INDEX_KEYS | {
    "Put, no bytes": [
        refused("TransactWriteItems", writes({"Put": put(EMPTY_BYTES, "bytes")}), NO_BYTES)
    ],
    "Update, no bytes": [
        refused("TransactWriteItems", writes({"Update": SETS_BYTES}), EMPTY_UPDATE.format("binary"))
    ],
}
EMPTY_KEY = (
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
    "contain an empty string value. Key: pk"
)
BAD_KEYS = {"another type": n(5), "a list": {"L": [s("x")]}}
BATCH_VALIDATION = {
    title: [refused("BatchWriteItem", batch({"pk": value}), NO_SCHEMA)]
    for title, value in BAD_KEYS.items()
} | {
    "an empty text": [refused("BatchWriteItem", batch({"pk": s("")}), EMPTY_KEY)],
    "no key": [refused("BatchWriteItem", batch({"other": s("x")}))],
}
SOME = {"SS": ["", "a"]}
BATCH = {
    "an empty member": [
        accepted("BatchWriteItem", batch(key() | {"t": SOME}), UnprocessedItems={}),
        gives(key() | {"t": SOME}),
    ],
    "all served": [
        accepted(
            "BatchWriteItem",
            {
                "RequestItems": batch(key())["RequestItems"]
                | batch(pair(), name="pair")["RequestItems"]
            },
            UnprocessedItems={},
        )
    ],
}
ACTIONS = {
    "Put": lambda where: {"Put": put(where)},
    "Update": lambda where: {"Update": {"TableName": "hash", "Key": where}},
    "Delete": lambda where: {"Delete": {"TableName": "hash", "Key": where}},
    "ConditionCheck": lambda where: {
        "ConditionCheck": {
            "TableName": "hash",
            "Key": where,
            "ConditionExpression": "attribute_not_exists(pk)",
        }
    },
}


MISMATCHED_KEY = INVALID + "Type mismatch for key pk expected: S actual: {}"


def action(kind, value):
    made = ACTIONS[kind]({"pk": value})
    if kind == "Update":
        made[kind] |= {"UpdateExpression": "SET v = :v", "ExpressionAttributeValues": {":v": n(1)}}
    return made


def costs(request, *entries, operation="TransactWriteItems"):
    return accepted(operation, request, ConsumedCapacity=list(entries))


def consumed(total, name="hash", **members):
    return Part(TableName=name, CapacityUnits=total, **members)


TOTAL = {"ReturnConsumedCapacity": "TOTAL"}
INDEXES = {"ReturnConsumedCapacity": "INDEXES"}
REPLAYED = writes(
    {"Put": put(key() | {"big": s("x" * 1_536)})}, ClientRequestToken="again", **INDEXES
)
TRANSACT = (
    {
        f"{kind}, {title}": cancelled(action(kind, value), NO_SCHEMA)
        for kind in ("Update", "Delete", "ConditionCheck")
        for title, value in BAD_KEYS.items()
    }
    | {
        f"{kind}, an empty text": [
            refused("TransactWriteItems", writes(action(kind, s(""))), EMPTY_KEY)
        ]
        for kind in ACTIONS
    }
    | {
        "Put, another type": cancelled(action("Put", n(5)), MISMATCHED_KEY.format("N")),
        "Put, a list": cancelled(action("Put", BAD_KEYS["a list"]), MISMATCHED_KEY.format("L")),
        "an empty member": [
            accepted("TransactWriteItems", writes({"Put": put(key() | {"t": SOME})})),
            gives(key() | {"t": SOME}),
        ],
        "two units an item": [
            costs(writes({"Put": put(key("a"))}, {"Put": put(key("b"))}, **TOTAL), consumed(4.0))
        ],
        "two units a condition": [
            costs(
                writes(
                    {"Put": put(key(), ConditionExpression="attribute_not_exists(pk)")}, **TOTAL
                ),
                consumed(2.0),
            )
        ],
        "two units a check": [
            puts(pair(), "pair"),
            costs(
                writes(
                    {
                        "ConditionCheck": {
                            "TableName": "pair",
                            "Key": pair(),
                            "ConditionExpression": "attribute_exists(pk)",
                        }
                    },
                    **INDEXES,
                ),
                consumed(2.0, "pair", WriteCapacityUnits=2.0),
            ),
        ],
        "a replay reads": [
            costs(REPLAYED, consumed(4.0, WriteCapacityUnits=4.0, ReadCapacityUnits=None)),
            costs(REPLAYED, consumed(2.0, ReadCapacityUnits=2.0, WriteCapacityUnits=None)),
        ],
        "a cancelled one says nothing": [
            refused(
                "TransactWriteItems",
                writes({"Put": put(key(), ConditionExpression="attribute_exists(pk)")}, **TOTAL),
                code="TransactionCanceledException",
                members={
                    "CancellationReasons": [
                        {
                            "Code": "ConditionalCheckFailed",
                            "Message": "The conditional request failed",
                        }
                    ]
                },
            )
        ],
    }
)


def reads(*keys, **members):
    gets = [{"Get": {"TableName": "hash", "Key": where, **members}} for where in keys]
    return {"TransactItems": gets}


TRANSACT_GET = {
    "two units an item": [
        puts(key()),
        costs(reads(key(), key("gone")) | TOTAL, consumed(4.0), operation="TransactGetItems"),
    ],
    "by arm": [
        puts(key()),
        costs(
            reads(key()) | INDEXES,
            consumed(
                2.0,
                ReadCapacityUnits=2.0,
                Table={"ReadCapacityUnits": 2.0, "CapacityUnits": 2.0},
            ),
            operation="TransactGetItems",
        ),
    ],
    "nothing of an item": [
        puts(key()),
        accepted("TransactGetItems", reads(key(), ProjectionExpression="gone"), Responses=[{}]),
    ],
}


def update(expression, **values):
    request = {"TableName": "hash", "Key": key(), "UpdateExpression": expression}
    if values:
        request["ExpressionAttributeValues"] = {f":{name}": to for name, to in values.items()}
    return request


def changes(expression, old, new, **values):
    return [
        puts(key() | old),
        accepted("UpdateItem", update(expression, **values)),
        gives(key() | new),
    ]


def letters(text):
    return {"L": [s(letter) for letter in text]}


def answers(expression, old, wanted, mode="UPDATED_NEW", **values):
    request = update(expression, **values) | {"ReturnValues": mode}
    return [*([puts(key() | old)] if old else []), accepted("UpdateItem", request, **wanted)]


UPDATES = {
    "ADD of no bytes": changes(
        "ADD b :v", {"b": {"BS": ["AQ=="]}}, {"b": {"BS": ["", "AQ=="]}}, v={"BS": [""]}
    ),
    "DELETE of an empty text": changes(
        "DELETE t :v", {"t": SOME}, {"t": {"SS": ["a"]}}, v={"SS": [""]}
    ),
    "DELETE of the last": changes("DELETE t :v", {"t": {"SS": [""]}}, {}, v={"SS": [""]}),
    "DELETE but an empty text": changes(
        "DELETE t :v", {"t": SOME}, {"t": {"SS": [""]}}, v={"SS": ["a"]}
    ),
    "what it was before": changes(
        "SET a = :v, b = a", {"a": s("OLD")}, {"a": s("NEW"), "b": s("OLD")}, v=s("NEW")
    ),
    "parentheses": changes("SET c = (c - :v)", {"c": n(10)}, {"c": n(7)}, v=n(3)),
    "arithmetic on if_not_exists": changes(
        "SET v = if_not_exists(v, :d) - :a", {"v": n(10)}, {"v": n(7)}, d=n(0), a=n(3)
    ),
    "list_append of if_not_exists": changes(
        "SET l = list_append(if_not_exists(l, :e), :m)",
        {},
        {"l": letters("x")},
        e=letters(""),
        m=letters("x"),
    ),
    "list_append before": changes(
        "SET l = list_append(:v, l)", {"l": letters("bc")}, {"l": letters("abc")}, v=letters("a")
    ),
    "UPDATED_NEW of a new item": answers("SET a = :v", {}, {"Attributes": {"a": s("x")}}, v=s("x")),
    "UPDATED_NEW of a member": answers(
        "SET p.c = :v",
        {"p": {"M": {"keep": s("k"), "c": s("old")}}},
        {"Attributes": {"p": {"M": {"c": s("new")}}}},
        v=s("new"),
    ),
    "UPDATED_NEW of REMOVE": answers(
        "REMOVE y", {"x": s("keep"), "y": s("drop")}, {"Attributes": None}
    ),
    "nothing to do": [
        accepted("UpdateItem", {"TableName": "hash", "Key": key()}),
        gives(key()),
    ],
}
EMPTY_VALUES = {
    "an empty text alone": keeps(t={"SS": [""]}),
    "an empty text and another": keeps(t=SOME),
    "no bytes alone": keeps(t={"BS": [""]}),
    "no bytes and others": keeps(t={"BS": ["", "AQ=="]}),
    "in a map": keeps(m={"M": {"t": SOME}}),
    "in a list": keeps(l={"L": [{"SS": [""]}]}),
    "an empty text twice": refuses({"SS": ["", ""]}),
    "no bytes twice": refuses({"BS": ["", ""]}),
    "an empty number": refuses({"NS": [""]}),
}
MOST = 409_600
TOO_LARGE = "Item size has exceeded the maximum allowed size"


def filled(size, parts):
    """Return an item of so many bytes, in so many attributes of its own."""
    names = [f"f{i:02}" for i in range(parts)]
    free = size - len("pk" + "a") - 3 * parts
    shares = [free // parts + (1 if i < free % parts else 0) for i in range(parts)]
    return put(key() | {name: s("x" * share) for name, share in zip(names, shares, strict=True)})


ITEM_SIZE = {
    f"{parts} attributes": [
        accepted("PutItem", filled(MOST, parts)),
        refused("PutItem", filled(MOST + 1, parts), TOO_LARGE),
    ]
    for parts in (1, 2, 5, 10)
} | {
    "exactly": [accepted("PutItem", filled(MOST, 3))],
    "one over": [refused("PutItem", filled(MOST + 1, 3), TOO_LARGE)],
    "15,000 numbers": [puts(key() | {"l": {"L": [n(10**37 + i) for i in range(15_000)]}})],
    "21,000 numbers": [
        refused("PutItem", put(key() | {"l": {"L": [n(10**37 + i) for i in range(21_000)]}}))
    ],
}
DIGITS = "12345678901234567890123456789012345678"
COSTS = (
    "-0 1|-42 3|0 1|0.0000001 2|0.15 2|0042 2|1 2|1.2 3|1.200 3|1.234 4|1.5 3|100 2|100.5 4|1010 3"
    f"|12 2|123 3|1234 3|{DIGITS} 20|15 2|1E-100 2"
)
NUMBER_SIZES = {
    literal: costing(literal, int(cost))
    for literal, cost in (row.split() for row in COSTS.split("|"))
} | {"written either way": [*costing("1" + "0" * 125, 2), *costing("1E125", 2)]}
PRECISE = {"NS": ["100000000000000001"]}


def touches(value):
    request = update("SET w = :w", w=s("y"), p=value)
    return request | {"ConditionExpression": "v = :p"}


PRECISION = {
    "too large a sum": [
        refused(
            "UpdateItem",
            update("SET v = :a + :b", a=n("9.9e125"), b=n("9.9e125")),
            "Number overflow. Attempting to store a number with magnitude larger than supported "
            "range",
        )
    ],
    "sets beyond a float": [
        puts(key() | {"v": PRECISE}),
        accepted("UpdateItem", touches(PRECISE)),
        refused("UpdateItem", touches({"NS": ["100000000000000002"]}), *FAILED),
    ],
}
DELETE_PARENTHESES = {
    "redundant": [
        refused(
            "DeleteItem",
            {
                "TableName": "hash",
                "Key": key(),
                "ConditionExpression": "((attribute_exists(pk)))",
            },
            REDUNDANT,
            is_layered=True,
        )
    ]
}
LEGACY = {
    "PUT by default": [
        accepted(
            "UpdateItem",
            {"TableName": "hash", "Key": key(), "AttributeUpdates": {"v": {"Value": s("x")}}},
        ),
        gives(key() | {"v": s("x")}),
    ]
}
METRICS = {
    mode: [
        accepted(
            "PutItem",
            put(pair(), "indexed", ReturnItemCollectionMetrics=mode),
            ItemCollectionMetrics=metrics,
        )
    ]
    for mode, metrics in {
        "SIZE": {"ItemCollectionKey": key(), "SizeEstimateRangeGB": [0.0, 1.0]},
        "NONE": None,
    }.items()
}
COLLECTION = {"ItemCollectionKey": key(), "SizeEstimateRangeGB": [0.0, 1.0]}
WHERE = {"TableName": "indexed", "Key": pair(), "ReturnItemCollectionMetrics": "SIZE"}
METRICS |= {
    operation: [
        puts(pair(), "indexed"),
        accepted(operation, WHERE, ItemCollectionMetrics=COLLECTION),
    ]
    for operation in ("DeleteItem", "UpdateItem")
} | {"a range": METRICS["SIZE"]}
FILES = {
    "tier1/batchWriteItem/basic": BATCH,
    "tier1/batchWriteItem/indexKeyValidation": BATCH_INDEX_KEYS,
    "tier1/batchWriteItem/validation": BATCH_VALIDATION,
    "tier1/deleteItem/conditionExpressionParens": DELETE_PARENTHESES,
    "tier1/putItem/conditionExpressionParens": PUT_PARENTHESES,
    "tier1/putItem/conditions": CONDITIONS,
    "tier1/putItem/indexKeyValidation": PUT_INDEX_KEYS,
    "tier1/putItem/itemCollectionMetrics": METRICS,
    "tier1/putItem/numberFormat": NUMBER_FORMAT,
    "tier1/putItem/validation": PUT_VALIDATION,
    "tier1/updateItem/basic": UPDATES,
    "tier2/transactions/transactGet": TRANSACT_GET,
    "tier2/transactions/transactWrite": TRANSACT,
    "tier2/transactions/transactWriteIndexKeys": TRANSACT_INDEX_KEYS,
    "tier3/error-messages/indexKeyValues": INDEX_KEY_MESSAGES,
    "tier3/error-messages/transactIndexKeys": TRANSACT_INDEX_MESSAGES,
    "tier3/legacy-api/attributeUpdates": LEGACY,
    "tier3/limits/emptyValues": EMPTY_VALUES,
    "tier3/limits/itemSize": ITEM_SIZE,
    "tier3/limits/numberByteSize": NUMBER_SIZES,
    "tier3/limits/numberPrecision": PRECISION,
}
