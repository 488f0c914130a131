"""What statements return and change, alone, in batches and in transactions."""

from tests.conformance.recordings.indexes import MANY, UNITS
from tests.conformance.recordings.recording import (
    Part,
    accepted,
    key,
    n,
    refused,
    s,
    statement,
)
from tests.tables import schema, table


def put(name="hash", **attributes):
    return accepted("PutItem", {"TableName": name, "Item": key() | attributes})


def item(**attributes):
    return accepted("GetItem", {"TableName": "hash", "Key": key()}, Item=key() | attributes)


GONE = accepted("GetItem", {"TableName": "hash", "Key": key()})


def runs(text, *items, **members):
    return accepted("ExecuteStatement", statement(text, **members), Items=list(items))


def fails(text, message=None, code="ValidationException"):
    return refused("ExecuteStatement", statement(text), message, code)


FAILED = ("The conditional request failed", "ConditionalCheckFailedException")
UPDATE = "UPDATE \"hash\" {} WHERE pk = 'a'"
DELETE = "DELETE FROM \"hash\" WHERE pk = 'a'"
ALPHA = put(kind=s("alpha"), v=n(5))
LETTERS = ("a", "b", "c")


def letters(*texts):
    return {"L": [s(text) for text in texts]}


def returns(clause, which, *items, old=None, new=None):
    """Return an UPDATE of an item with a list, a map and a text, and what it gives back."""
    stored = {"l": letters(*LETTERS), "m": {"M": {"x": s("x"), "y": s("y")}}, "t": s("old")}
    steps = [put(**(stored if old is None else old))]
    steps.append(runs(f"{UPDATE.format(clause)} RETURNING {which} *", *items))
    return [*steps, item(**new)] if new is not None else steps


NEW = "MODIFIED NEW"
OLD = "MODIFIED OLD"
X = "'X'"
STATEMENTS = {
    "RETURNING of DELETE": [
        ALPHA,
        runs(f"{DELETE} RETURNING ALL OLD *", key() | {"kind": s("alpha"), "v": n(5)}),
        GONE,
    ],
    "RETURNING of DELETE of none": [runs(f"{DELETE} RETURNING ALL OLD *")],
    "DELETE of none, a condition": [runs(f"{DELETE} AND kind = 'x'"), GONE],
    **{
        f"DELETE RETURNING {which}": [
            ALPHA,
            fails(f"{DELETE} RETURNING {which} *"),
            item(kind=s("alpha"), v=n(5)),
        ]
        for which in ("ALL NEW", NEW, OLD)
    },
    "DELETE, NOT begins_with fails": [
        ALPHA,
        fails(f"{DELETE} AND NOT begins_with(kind, 'al')", *FAILED),
        item(kind=s("alpha"), v=n(5)),
    ],
    "DELETE, NOT begins_with holds": [
        ALPHA,
        runs(f"{DELETE} AND NOT begins_with(kind, 'zz')"),
        GONE,
    ],
    "DELETE, a condition fails": [
        ALPHA,
        fails(f"{DELETE} AND kind = 'beta'", *FAILED),
        item(kind=s("alpha"), v=n(5)),
    ],
    "DELETE, a condition holds": [ALPHA, runs(f"{DELETE} AND kind = 'alpha'"), GONE],
    "UPDATE, a condition fails": [
        ALPHA,
        fails(UPDATE.format("SET v = 9") + " AND kind = 'beta'", *FAILED),
        item(kind=s("alpha"), v=n(5)),
    ],
    "UPDATE, a condition holds": [
        ALPHA,
        runs(UPDATE.format("SET v = 9") + " AND kind = 'alpha'"),
        item(kind=s("alpha"), v=n(9)),
    ],
    "UPDATE of none": [fails(UPDATE.format("SET v = 9"), *FAILED)],
    "INSERT again": [
        put(),
        runs(DELETE),
        runs("INSERT INTO \"hash\" VALUE {'pk': 'a', 'v': 1}"),
        item(v=n(1)),
    ],
    "no key to write": [
        fails(
            "DELETE FROM \"hash\" WHERE kind = 'alpha'",
            "Where clause does not contain a mandatory equality on all key attributes",
        )
    ],
    "what it costs": [
        put(),
        accepted(
            "ExecuteStatement",
            statement("SELECT * FROM \"hash\" WHERE pk = 'a'", ReturnConsumedCapacity="TOTAL"),
            Items=[key()],
            ConsumedCapacity={"TableName": "hash", "CapacityUnits": 0.5},
        ),
    ],
    "NOT begins_with": [
        ALPHA,
        accepted("PutItem", {"TableName": "hash", "Item": key("b") | {"kind": s("beta")}}),
        runs(
            "SELECT pk FROM \"hash\" WHERE pk IN ['a', 'b'] AND NOT begins_with(kind, 'al')",
            key("b"),
        ),
        runs("SELECT pk FROM \"hash\" WHERE pk = 'a' AND kind IS NOT MISSING", key()),
    ],
    "a member of a map": [
        put(m={"M": {"x": s("deep")}}),
        runs("SELECT m.x FROM \"hash\" WHERE pk = 'a'", {"x": s("deep")}),
    ],
    "all that is new": returns(
        "SET t = 'new'",
        "ALL NEW",
        key() | {"t": s("new"), "k": s("s")},
        old={"t": s("old"), "k": s("s")},
    ),
    "all that was": returns(
        "SET t = 'new'",
        "ALL OLD",
        key() | {"t": s("old"), "k": s("s")},
        old={"t": s("old"), "k": s("s")},
    ),
    "an attribute, new": returns("SET t = 'new'", NEW, {"t": s("new")}),
    "an attribute, old": returns("SET t = 'new'", OLD, {"t": s("old")}),
    "another attribute, new": returns("SET z = 'new'", NEW, {"z": s("new")}),
    "another attribute, old": returns("SET z = 'new'", OLD),
    "a member, new": returns(f"SET m.x = {X}", NEW, {"m": {"M": {"x": s("X")}}}),
    "a member, old": returns(f"SET m.x = {X}", OLD, {"m": {"M": {"x": s("x")}}}),
    "the first element, new": returns(f"SET l[0] = {X}", NEW, {"l": letters("X")}),
    "the first element, old": returns(f"SET l[0] = {X}", OLD, {"l": letters("a")}),
    "an element, new": returns(f"SET l[1] = {X}", NEW, {"l": letters("X")}),
    "an element, old": returns(f"SET l[1] = {X}", OLD, {"l": letters("b")}),
    "the next element, new": returns(f"SET l[3] = {X}", NEW, {"l": letters("X")}),
    "the next element, old": returns(f"SET l[3] = {X}", OLD),
    "an element far off, new": returns(f"SET l[9] = {X}", NEW),
    "an element far off, old": returns(f"SET l[9] = {X}", OLD),
    "two elements, new": returns(f"SET l[0] = {X} SET l[2] = 'Z'", NEW, {"l": letters("X", "Z")}),
    "two elements, old": returns(f"SET l[0] = {X} SET l[2] = 'Z'", OLD, {"l": letters("a", "c")}),
    "two elements reversed, new": returns(
        f"SET l[2] = 'Z' SET l[0] = {X}", NEW, {"l": letters("X", "Z")}
    ),
    "two elements reversed, old": returns(
        f"SET l[2] = 'Z' SET l[0] = {X}", OLD, {"l": letters("a", "c")}
    ),
    "REMOVE, new": returns("REMOVE t", NEW),
    "REMOVE, old": returns("REMOVE t", OLD, {"t": s("old")}),
    "REMOVE of an element, new": returns("REMOVE l[0]", NEW, {"l": letters("b")}),
    "REMOVE of an element, old": returns("REMOVE l[0]", OLD, {"l": letters("a")}),
    "REMOVE of the last, new": returns("REMOVE l[2]", NEW),
    "REMOVE of the last, old": returns("REMOVE l[2]", OLD, {"l": letters("c")}),
    "an element of nothing": [put(), fails(UPDATE.format(f"SET gone[0] = {X}")), item()],
}


def transaction(*texts, **members):
    return {"TransactStatements": [statement(text) for text in texts], **members}


COUNTED = transaction(
    UPDATE.format("SET v = v + 1"), ClientRequestToken="again", ReturnConsumedCapacity="TOTAL"
)


def consumed(units, kind):
    return [{"TableName": "hash", "CapacityUnits": units, kind: units}]


TRANSACTIONS = {
    "a token twice": [
        put(v=n(0)),
        accepted(
            "ExecuteTransaction", COUNTED, ConsumedCapacity=consumed(2.0, "WriteCapacityUnits")
        ),
        accepted(
            "ExecuteTransaction", COUNTED, ConsumedCapacity=consumed(2.0, "ReadCapacityUnits")
        ),
        item(v=n(1)),
    ],
    "RETURNING": [
        put(v=n(0)),
        refused(
            "ExecuteTransaction", transaction(UPDATE.format("SET v = 1") + " RETURNING ALL NEW *")
        ),
        item(v=n(0)),
    ],
}
DUPLICATE = {"Code": "DuplicateItem", "Message": "Duplicate primary key exists in table"}
CHECK = {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}


def batch(*statements, **members):
    requests = [one if isinstance(one, dict) else statement(one) for one in statements]
    return accepted("BatchExecuteStatement", {"Statements": requests}, **members)


GUARDED = UPDATE.format("SET v = 9") + " AND kind = 'beta'"


def guarded(**members):
    return [
        ALPHA,
        batch(
            statement(GUARDED, **members),
            Responses=[Part(Error=Part(CHECK), Item=None, TableName="hash")],
        ),
    ]


RETURNED = "ReturnValuesOnConditionCheckFailure"
BATCHES = {
    "ALL_OLD gives no item": guarded(**{RETURNED: "ALL_OLD"}),
    "NONE gives no item": guarded(**{RETURNED: "NONE"}),
    "nothing gives no item": guarded(),
    "a check of a transaction gives it": [
        ALPHA,
        refused(
            "TransactWriteItems",
            {
                "TransactItems": [
                    {
                        "ConditionCheck": {
                            "TableName": "hash",
                            "Key": key(),
                            "ConditionExpression": "kind = :k",
                            "ExpressionAttributeValues": {":k": s("beta")},
                            RETURNED: "ALL_OLD",
                        }
                    }
                ]
            },
            code="TransactionCanceledException",
            members={
                "CancellationReasons": [{**CHECK, "Item": key() | {"kind": s("alpha"), "v": n(5)}}]
            },
        ),
    ],
    "a condition names its table": guarded(),
    "a duplicate names its table": [
        ALPHA,
        batch(
            "INSERT INTO \"hash\" VALUE {'pk': 'a'}",
            Responses=[{"Error": DUPLICATE, "TableName": "hash"}],
        ),
    ],
    "the others run": [
        ALPHA,
        batch(
            "SELECT * FROM \"hash\" WHERE kind = 'alpha'",
            "SELECT v FROM \"hash\" WHERE pk = 'a'",
            Responses=[Part(Item=None, TableName=None), {"Item": {"v": n(5)}, "TableName": "hash"}],
        ),
    ],
}


ONE_TABLE = "FROM clause may only contain a single table name in data manipulation statements"
ON_INDEX = "This operation is not supported on an index"
UNTOUCHED = accepted("Scan", {"TableName": "many", "Select": "COUNT"}, Count=5)


def writes(text, message=None):
    return [*MANY, fails(text, message), UNTOUCHED]


REACH = 'SELECT nonproj FROM "many"."lsi-keys" WHERE pk = \'p\''
ALL = 'SELECT pk FROM "many"."lsi-all" WHERE pk = \'p\''


def arms(total, **units):
    """Return consumed capacity by arm: the table's, and one index's."""
    kinds = {"gsi": "GlobalSecondaryIndexes", "lsi": "LocalSecondaryIndexes"}
    consumed = {"TableName": "many", "CapacityUnits": total}
    for arm, value in units.items():
        if arm == "table":
            consumed["Table"] = {"CapacityUnits": value}
        else:
            kind, index = arm.split("_", 1)
            consumed[kinds[kind]] = {index.replace("_", "-"): {"CapacityUnits": value}}
    return consumed


def charged(text, consumed, **members):
    return accepted(
        "ExecuteStatement", statement(text, **UNITS, **members), ConsumedCapacity=consumed
    )


FIRST = 'SELECT pk, sk FROM "many"."gsi-all" WHERE gsiPk = \'x\''
INCLUDED = 'SELECT pk, sk FROM "many"."gsi-inc" WHERE gsiPk2 = \'y\''
QUALIFIER = {
    "a page": [
        *MANY,
        runs(FIRST, {"pk": s("p"), "sk": s("s1")}, Limit=1),
        accepted(
            "ExecuteStatement",
            lambda before: statement(FIRST, NextToken=before["NextToken"]),
            Items=[{"pk": s("p"), "sk": s("s4")}],
        ),
    ],
    "a token of another index": [
        *MANY,
        runs(INCLUDED, {"pk": s("p"), "sk": s("s1")}, Limit=1),
        refused(
            "ExecuteStatement",
            lambda before: statement(
                INCLUDED.replace("gsi-inc", "gsi-keys"), NextToken=before["NextToken"]
            ),
        ),
    ],
    "INSERT": writes("INSERT INTO \"many\".\"gsi-all\" VALUE {'pk': 'w', 'sk': 'w'}", ONE_TABLE),
    "INSERT, no index": writes(
        "INSERT INTO \"many\".\"no-such\" VALUE {'pk': 'w', 'sk': 'w'}", ONE_TABLE
    ),
    "UPDATE": writes(
        "UPDATE \"many\".\"gsi-all\" SET z = 'z' WHERE pk = 'p' AND sk = 's1'", ON_INDEX
    ),
    "DELETE": writes("DELETE FROM \"many\".\"gsi-all\" WHERE pk = 'p' AND sk = 's1'", ON_INDEX),
    "units, global": [
        *MANY,
        charged(
            'SELECT pk FROM "many"."gsi-all" WHERE gsiPk = \'x\'',
            arms(0.5, table=0.0, gsi_gsi_all=0.5),
        ),
    ],
    "units, local": [*MANY, charged(ALL, arms(0.5, table=0.0, lsi_lsi_all=0.5))],
    "units, consistent": [
        *MANY,
        charged(ALL, arms(1.0, table=0.0, lsi_lsi_all=1.0), ConsistentRead=True),
    ],
    "units, reaching back": [
        *MANY,
        charged(REACH, arms(2.0, table=1.5, lsi_lsi_keys=0.5)),
        charged(REACH, arms(4.0, table=3.0, lsi_lsi_keys=1.0), ConsistentRead=True),
    ],
    "units, reaching back from a page": [
        *MANY,
        charged(REACH, arms(1.0, table=0.5, lsi_lsi_keys=0.5), Limit=1),
    ],
    "units, a filter": [
        *MANY,
        charged(
            "SELECT nonproj FROM \"many\".\"lsi-inc\" WHERE pk = 'p' AND projattr = 'none'",
            arms(2.0, table=1.5, lsi_lsi_inc=0.5),
        ),
    ],
    "units, what is projected": [
        *MANY,
        charged(
            'SELECT lsiSk2 FROM "many"."lsi-keys" WHERE pk = \'p\'',
            arms(0.5, table=0.0, lsi_lsi_keys=0.5),
        ),
    ],
    "consistent, global": [
        *MANY,
        refused(
            "ExecuteStatement",
            statement('SELECT pk FROM "many"."gsi-all" WHERE gsiPk = \'x\'', ConsistentRead=True),
            "Strongly consistent read is not supported on Global Secondary Indexes",
        ),
    ],
    "a transaction": [
        *MANY,
        refused(
            "ExecuteTransaction",
            transaction('SELECT * FROM "many"."gsi-all" WHERE gsiPk = \'x\''),
            "Validation failed in TransactStatements[0]: Reads on indices are not supported "
            "within transactions.",
        ),
        accepted(
            "ExecuteTransaction",
            transaction("SELECT pk FROM \"many\" WHERE pk = 'p' AND sk = 's1'"),
            Responses=[{"Item": {"pk": s("p")}}],
        ),
    ],
    "NOT, without a key": [
        *MANY,
        accepted(
            "ExecuteStatement",
            statement(
                "SELECT sk FROM \"many\".\"gsi-keys\" WHERE NOT nonproj = 'np1' AND pk = 'p'"
            ),
            Items=[{"sk": s(f"s{i}")} for i in (1, 2, 4)],
        ),
    ],
}
MIXED = table(
    "id",
    "sk",
    names="id sk g h1 h2 r1 l",
    TableName="mixed",
    GlobalSecondaryIndexes=[
        {"IndexName": name, "KeySchema": key_schema, "Projection": {"ProjectionType": "ALL"}}
        for name, key_schema in (("single", schema("g")), ("multi", schema("h1 h2", "r1")))
    ],
    LocalSecondaryIndexes=[
        {
            "IndexName": "local",
            "KeySchema": schema("id", "l"),
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
)
STORED = {name: s(name) for name in ("id", "sk", "g", "h1", "h2", "r1", "l")}
IN_MIXED = [
    accepted("CreateTable", MIXED, unrecorded=None),
    accepted("PutItem", {"TableName": "mixed", "Item": STORED}),
]
MULTI = {
    "two and one": [
        *IN_MIXED,
        fails("SELECT * FROM \"mixed\".\"multi\" WHERE h1 = 'h1' AND h2 = 'h2'"),
    ],
    "ORDER BY": [
        *IN_MIXED,
        fails("SELECT id FROM \"mixed\".\"multi\" WHERE h1 = 'h1' AND h2 = 'h2' ORDER BY r1 DESC"),
    ],
    "a part of the key": [*IN_MIXED, fails('SELECT * FROM "mixed"."multi" WHERE h1 = \'h1\'')],
    "the rest of the table": [
        *IN_MIXED,
        runs("SELECT * FROM \"mixed\" WHERE id = 'id'", STORED),
        runs('SELECT * FROM "mixed"."single" WHERE g = \'g\'', STORED),
        runs('SELECT * FROM "mixed"."local" WHERE id = \'id\'', STORED),
    ],
    "writes": [
        *IN_MIXED,
        runs("INSERT INTO \"mixed\" VALUE {'id': 'n', 'sk': 'n'}"),
        runs("UPDATE \"mixed\" SET a = 1 WHERE id = 'id' AND sk = 'sk'"),
        runs("DELETE FROM \"mixed\" WHERE id = 'zz' AND sk = 'zz'"),
        runs("SELECT a FROM \"mixed\" WHERE id = 'id'", {"a": n(1)}),
    ],
}
MESSAGES = {"INSERT": writes("INSERT INTO \"many\".\"gsi-all\" VALUE {'pk': 'w', 'sk': 'w'}")}

FILES = {
    "tier2/partiql/batchExecuteStatement": BATCHES,
    "tier2/partiql/executeStatement": STATEMENTS,
    "tier2/partiql/executeTransaction": TRANSACTIONS,
    "tier2/partiql/indexQualifier": QUALIFIER,
    "tier2/partiql/multiAttributeIndex": MULTI,
}
