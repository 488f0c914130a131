"""Updates of paths, batches of statements, and what writes and reads cost."""

from tests.conformance.recordings.recording import (
    INVALID,
    accepted,
    key,
    n,
    refused,
    s,
    statement,
)
from tests.tables import table

LADDER = table(
    "pk",
    "sk",
    TableName="ladder",
    indexes={"gsi-inc": "gsiPk"},
    local_indexes={"lsi1": "lsiSk"},
    projections={"gsi-inc": ["proj"]},
)
MADE = accepted("CreateTable", LADDER, unrecorded=None)
INDEXES = {"ReturnConsumedCapacity": "INDEXES"}
WHERE = {"pk": s("i"), "sk": s("1")}


def units(total, table_units, **arms):
    """Return consumed capacity by arm; an arm of none is not there."""
    consumed = {
        "TableName": "ladder",
        "CapacityUnits": float(total),
        "Table": {"CapacityUnits": float(table_units)},
    }
    kinds = {
        "gsi": ("GlobalSecondaryIndexes", "gsi-inc"),
        "lsi": ("LocalSecondaryIndexes", "lsi1"),
    }
    for arm, count in arms.items():
        member, index = kinds[arm]
        consumed[member] = {index: {"CapacityUnits": float(count)}}
    return consumed


def item(**attributes):
    return WHERE | {name: s(text) for name, text in attributes.items()}


def puts(stored, consumed, mode="INDEXES"):
    request = {"TableName": "ladder", "Item": stored, "ReturnConsumedCapacity": mode}
    return accepted("PutItem", request, ConsumedCapacity=consumed)


FULL = item(gsiPk="g", lsiSk="L1", proj="p")
SEED = accepted("PutItem", {"TableName": "ladder", "Item": item(other="o") | FULL})


def changes(expression, consumed, value=None, **names):
    request = {"TableName": "ladder", "Key": WHERE, "UpdateExpression": expression, **INDEXES}
    if value is not None:
        request["ExpressionAttributeValues"] = {":v": s(value)}
    if names:
        request["ExpressionAttributeNames"] = {f"#{name}": to for name, to in names.items()}
    return [MADE, SEED, accepted("UpdateItem", request, ConsumedCapacity=consumed)]


def deletes(stored, consumed):
    request = {"TableName": "ladder", "Key": WHERE, **INDEXES}
    return [
        MADE,
        accepted("PutItem", {"TableName": "ladder", "Item": stored}),
        accepted("DeleteItem", request, ConsumedCapacity=consumed),
    ]


INDEX_WRITES = {
    "a global index": [MADE, puts(item(gsiPk="g", proj="p"), units(2, 1, gsi=1))],
    "TOTAL": [
        MADE,
        puts(
            item(gsiPk="g", proj="p"),
            {"TableName": "ladder", "CapacityUnits": 2.0},
            "TOTAL",
        ),
    ],
    "no index": [MADE, puts(item(other="o"), units(1, 1))],
    "a local index": [MADE, puts(item(lsiSk="L1"), units(2, 1, lsi=1))],
    "both": [MADE, puts(FULL, units(3, 1, gsi=1, lsi=1))],
    "the same again": [
        MADE,
        puts(FULL, units(3, 1, gsi=1, lsi=1)),
        puts(FULL, units(1, 1)),
    ],
    "an attribute that is not projected": changes(
        "SET #o = :v", units(2, 1, lsi=1), "o2", o="other"
    ),
    "an attribute that is projected": changes("SET proj = :v", units(3, 1, gsi=1, lsi=1), "p2"),
    "another index key": changes("SET gsiPk = :v", units(4, 1, gsi=2, lsi=1), "moved"),
    "no index key any more": changes("REMOVE gsiPk", units(3, 1, gsi=1, lsi=1)),
    "another local index key": changes("SET lsiSk = :v", units(3, 1, lsi=2), "L2"),
    "a delete": deletes(FULL, units(3, 1, gsi=1, lsi=1)),
    "a delete of no index": deletes(item(other="o"), units(1, 1)),
    "a batch": [
        MADE,
        accepted(
            "BatchWriteItem",
            {
                "RequestItems": {
                    "ladder": [
                        {"PutRequest": {"Item": item(gsiPk="g", proj="p")}},
                        {"PutRequest": {"Item": item(other="o") | {"sk": s("2")}}},
                    ]
                },
                **INDEXES,
            },
            ConsumedCapacity=[units(3, 2, gsi=1)],
            UnprocessedItems={},
        ),
    ],
}
ROWS = [
    accepted(
        "PutItem",
        {
            "TableName": "pair",
            "Item": {
                "pk": s("c"),
                "sk": s(f"s{i}"),
                "keep": s("no" if i else "yes"),
                "filler": s("x" * 2_000),
            },
        },
    )
    for i in range(6)
]


def scans(count, **members):
    """Return a Scan; what it keeps changes nothing of what it costs."""
    consumed = {"TableName": "pair", "CapacityUnits": 3.0}
    request = {"TableName": "pair", "ReturnConsumedCapacity": "TOTAL", **members}
    return [*ROWS, accepted("Scan", request, Count=count, ConsumedCapacity=consumed)]


def keeping(text):
    return {
        "FilterExpression": "keep = :k",
        "ExpressionAttributeValues": {":k": s(text)},
    }


SCAN_UNITS = {
    "a filter for one": [*scans(6), *scans(1, **keeping("yes"))[-1:]],
    "a filter for none": scans(0, **keeping("none")),
    "a projection": scans(6, ProjectionExpression="pk"),
    "both": scans(1, ProjectionExpression="pk", **keeping("yes")),
}


def before(**attributes):
    return accepted("PutItem", {"TableName": "hash", "Item": key() | attributes})


def after(**attributes):
    return accepted("GetItem", {"TableName": "hash", "Key": key()}, Item=key() | attributes)


def update(expression, **values):
    request = {"TableName": "hash", "Key": key(), "UpdateExpression": expression}
    if values:
        request["ExpressionAttributeValues"] = {f":{name}": to for name, to in values.items()}
    return request


def sets(expression, old, new, **values):
    return [before(**old), accepted("UpdateItem", update(expression, **values)), after(**new)]


def texts(letters):
    return {"L": [s(letter) for letter in letters]}


def m(**members):
    return {"M": members}


PATHS = {
    "no map on the way": [
        before(top=s("x")),
        refused(
            "UpdateItem",
            update("SET gone.nested.deep = :v", v=s("x")),
            "The document path provided in the update expression is invalid for update",
        ),
    ],
    "a map": sets("SET mm.k = :v", {"mm": m(k=s("old"))}, {"mm": m(k=s("new"))}, v=s("new")),
    "beyond a list": sets("SET l[5] = :v", {"l": texts("abc")}, {"l": texts("abcd")}, v=s("d")),
    "three levels": sets(
        "SET a.b.c = :v", {"a": m(b=m(c=s("old")))}, {"a": m(b=m(c=s("new")))}, v=s("new")
    ),
    "arithmetic": sets("SET mm.k = mm.k + :v", {"mm": m(k=n(10))}, {"mm": m(k=n(15))}, v=n(5)),
    "REMOVE of a key": sets("REMOVE mm.k", {"mm": m(k=s("x"), l=s("y"))}, {"mm": m(l=s("y"))}),
    "REMOVE of an element": sets("REMOVE l[1]", {"l": texts("abcd")}, {"l": texts("acd")}),
    "REMOVE of the last": sets("REMOVE l[1]", {"l": texts("xy")}, {"l": texts("x")}),
    "an attribute twice": [
        before(val=s("x")),
        refused("UpdateItem", update("SET val = :a, val = :b", a=s("a"), b=s("b"))),
    ],
    "an empty list": sets("SET l[0] = :v", {"l": texts("")}, {"l": texts("x")}, v=s("x")),
    "beside a key": sets(
        "SET mm.k = :v", {"mm": m(l=s("y"))}, {"mm": m(l=s("y"), k=s("x"))}, v=s("x")
    ),
    "UPDATED_NEW of two": [
        before(a=m(old=s("e"))),
        accepted(
            "UpdateItem",
            update("SET a.b = :x, a.c = :y", x=s("x"), y=s("y")) | {"ReturnValues": "UPDATED_NEW"},
            Attributes={"a": m(b=s("x"), c=s("y"))},
        ),
    ],
}
EMPTY_SET = {"SS": [""]}
BASICS = {
    "an item is made": [
        accepted("UpdateItem", update("SET v = :v", v=s("x"))),
        after(v=s("x")),
    ],
    "an attribute changes": sets("SET v = :v", {"v": s("a")}, {"v": s("b")}, v=s("b")),
    "an attribute is added": sets("SET w = :v", {"v": s("a")}, {"v": s("a"), "w": n(1)}, v=n(1)),
    "arithmetic": sets("SET c = c + :v", {"c": n(10)}, {"c": n(15)}, v=n(5)),
    "if_not_exists": sets(
        "SET a = if_not_exists(a, :d), b = if_not_exists(b, :e)",
        {"a": s("keep")},
        {"a": s("keep"), "b": s("new")},
        d=s("default"),
        e=s("new"),
    ),
    "if_not_exists of another": sets(
        "SET b = if_not_exists(b, a)", {"a": s("x")}, {"a": s("x"), "b": s("x")}
    ),
    "list_append": sets(
        "SET l = list_append(l, :v)", {"l": texts("ab")}, {"l": texts("abcd")}, v=texts("cd")
    ),
    "a set of an empty text": sets("SET t = :v", {}, {"t": EMPTY_SET}, v=EMPTY_SET),
    "such a set in a map": sets("SET w.t = :v", {"w": m()}, {"w": m(t=EMPTY_SET)}, v=EMPTY_SET),
    "REMOVE": sets("REMOVE d", {"k": s("y"), "d": s("x")}, {"k": s("y")}),
    "REMOVE of nothing": sets("REMOVE ghost", {"k": s("y")}, {"k": s("y")}),
    "REMOVE of nothing in a map": sets("REMOVE mm.n", {"mm": m(k=s("x"))}, {"mm": m(k=s("x"))}),
    "ADD": sets("ADD c :v", {"c": n(10)}, {"c": n(13)}, v=n(3)),
    "ADD to nothing": sets("ADD c :v", {}, {"c": n(10)}, v=n(10)),
    "ADD to a set": sets(
        "ADD t :v", {"t": {"SS": ["a", "b"]}}, {"t": {"SS": ["a", "b", "c"]}}, v={"SS": ["c"]}
    ),
    "ADD of an empty text": sets(
        "ADD t :v", {"t": {"SS": ["a"]}}, {"t": {"SS": ["", "a"]}}, v=EMPTY_SET
    ),
    "ADD of an empty text to nothing": sets("ADD t :v", {}, {"t": EMPTY_SET}, v=EMPTY_SET),
    "ADD of what is there": sets("ADD t :v", {"t": EMPTY_SET}, {"t": EMPTY_SET}, v=EMPTY_SET),
}


def stored(text, **attributes):
    return accepted("PutItem", {"TableName": "hash", "Item": {**key(text), **attributes}})


def batch(*statements, **members):
    requests = [one if isinstance(one, dict) else statement(one) for one in statements]
    return accepted("BatchExecuteStatement", {"Statements": requests}, **members)


def select(text):
    return f"SELECT * FROM \"hash\" WHERE pk = '{text}'"


def error(code, message):
    return {"Error": {"Code": code, "Message": message}}


def returned(**attributes):
    response = {"TableName": "hash"}
    return response | {"Item": attributes} if attributes else response


NEEDS_KEY = error(
    "ValidationError",
    "Select statements within BatchExecuteStatement must specify the primary key in the where "
    "clause.",
)
HASH = {"TableName": "hash"}
OLD = stored("a", data=s("old"))


def reading(text, **members):
    return statement('SELECT * FROM "hash" WHERE pk = ?', Parameters=[s(text)], **members)


def charged(total, *requests):
    return [
        stored("a", val=s("a")),
        stored("b", val=s("b")),
        accepted(
            "BatchExecuteStatement",
            {"Statements": list(requests), "ReturnConsumedCapacity": "TOTAL"},
            ConsumedCapacity=[{"TableName": "hash", "CapacityUnits": total}],
        ),
    ]


BATCH = {
    "reads": [
        stored("a", data=s("one")),
        stored("b", data=s("two")),
        batch(
            select("a"),
            select("b"),
            Responses=[
                returned(**key("a"), data=s("one")),
                returned(**key("b"), data=s("two")),
            ],
        ),
    ],
    "writes": [
        OLD,
        batch(
            "INSERT INTO \"hash\" VALUE {'pk': 'n', 'data': 'new'}",
            "UPDATE \"hash\" SET data = 'after' WHERE pk = 'a'",
            Responses=[HASH, HASH],
        ),
        after(data=s("after")),
    ],
    "one of two fails": [
        OLD,
        batch(
            select("a"),
            "SELECT * FROM \"absent\" WHERE pk = 'x'",
            Responses=[
                returned(**key("a"), data=s("old")),
                error("ResourceNotFound", "Requested resource not found"),
            ],
        ),
    ],
    "RETURNING ALL OLD": [
        OLD,
        batch(
            "DELETE FROM \"hash\" WHERE pk = 'a' RETURNING ALL OLD *",
            Responses=[returned(**key("a"), data=s("old"))],
        ),
    ],
    "RETURNING ALL NEW": [
        OLD,
        batch(
            "UPDATE \"hash\" SET data = 'new' WHERE pk = 'a' RETURNING ALL NEW *",
            Responses=[returned(**key("a"), data=s("new"))],
        ),
    ],
    "RETURNING MODIFIED NEW": [
        OLD,
        batch(
            "UPDATE \"hash\" SET data = 'new' WHERE pk = 'a' RETURNING MODIFIED NEW *",
            Responses=[returned(data=s("new"))],
        ),
    ],
    "RETURNING of nothing": [
        OLD,
        batch(
            "UPDATE \"hash\" REMOVE data WHERE pk = 'a' RETURNING MODIFIED NEW *", Responses=[HASH]
        ),
        after(),
    ],
    "a bad RETURNING": [
        batch(
            "DELETE FROM \"hash\" WHERE pk = 'x' RETURNING MODIFIED OLD *",
            Responses=[
                error(
                    "ValidationError",
                    "Invalid returning clause: RETURNING MODIFIED OLD *. Only RETURNING ALL OLD * "
                    "is allowed in DELETE statements.",
                )
            ],
        )
    ],
    "a statement that is none": [
        OLD,
        batch(
            "SLECT * FROM \"hash\" WHERE pk = 'a'",
            select("a"),
            Responses=[
                error(
                    "ValidationError",
                    "Statement wasn't well formed, can't be processed: Expected data manipulation",
                ),
                returned(**key("a"), data=s("old")),
            ],
        ),
    ],
    "no statement": [refused("BatchExecuteStatement", {"Statements": []})],
    "half a unit": charged(0.5, reading("a")),
    "a consistent read": charged(1.0, reading("a", ConsistentRead=True)),
    "a read that is not": charged(0.5, reading("a", ConsistentRead=False)),
    "one of each": charged(1.5, reading("a", ConsistentRead=True), reading("b")),
    "no key": [batch("SELECT * FROM \"hash\" WHERE val = 'a'", Responses=[NEEDS_KEY])],
    "an index": [
        batch('SELECT * FROM "indexed"."gsi1" WHERE lsi1sk = \'x\'', Responses=[NEEDS_KEY])
    ],
    "an index and the key": [
        batch(
            "SELECT * FROM \"indexed\".\"gsi1\" WHERE pk = 'p' AND sk = 's1' AND lsi1sk = 'x'",
            Responses=[NEEDS_KEY],
        )
    ],
}
INDEXED = {"pk": s("i"), "sk": s("s1"), "lsi1sk": s("g")}
LEAN = table(
    "pk",
    "sk",
    TableName="lean",
    indexes={"gsi2": "lsi1sk"},
    local_indexes={"lsi2": "lsi2sk"},
    projections={"gsi2": "KEYS_ONLY", "lsi2": ["lsi1sk"]},
)
LEAN_ITEM = INDEXED | {"lsi2sk": s("b"), "data": s("one")}
LEAN_MADE = [
    accepted("CreateTable", LEAN, unrecorded=None),
    accepted("PutItem", {"TableName": "lean", "Item": LEAN_ITEM}),
    accepted("PutItem", {"TableName": "indexed", "Item": INDEXED}),
]


def qualified(text, *items, **members):
    return [
        *LEAN_MADE,
        accepted("ExecuteStatement", statement(text, **members), Items=list(items)),
    ]


def refuses(text, names):
    message = f"{INVALID}Global secondary index gsi2 does not project [{names}]"
    return [*LEAN_MADE, refused("ExecuteStatement", statement(text), message)]


STATEMENT_INDEX = {
    "a key": qualified('SELECT * FROM "indexed"."gsi1" WHERE lsi1sk = \'g\'', INDEXED),
    "no key": qualified('SELECT * FROM "indexed"."gsi1" WHERE pk = \'i\'', INDEXED),
    "consistent, local": qualified(
        'SELECT * FROM "indexed"."lsi1" WHERE pk = \'i\'', INDEXED, ConsistentRead=True
    ),
    "reaching back": qualified(
        "SELECT data FROM \"lean\".\"lsi2\" WHERE pk = 'i' AND lsi2sk = 'b'", {"data": s("one")}
    ),
    "not projected": refuses(
        'SELECT alternate, mymap FROM "lean"."gsi2" WHERE lsi1sk = \'g\'', "alternate, mymap"
    ),
    "not projected, scanned": refuses('SELECT alternate FROM "lean"."gsi2"', "alternate"),
    "a batch": [
        batch(
            'SELECT * FROM "indexed"."gsi1" WHERE lsi1sk = \'g\'',
            "SELECT * FROM \"indexed\" WHERE pk = 'i'",
            Responses=[NEEDS_KEY, NEEDS_KEY],
        )
    ],
}

FILES = {
    "tier1/putItem/indexConsumedCapacity": INDEX_WRITES,
    "tier1/scan/consumedCapacity": SCAN_UNITS,
    "tier1/updateItem/paths": PATHS,
    "tier1/updateItem/basic": BASICS,
    "tier2/partiql/batchExecuteStatement": BATCH,
    "tier2/partiql/executeStatementIndex": STATEMENT_INDEX,
}
