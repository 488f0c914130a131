"""PartiQL reads of indexes, and what a table and a key may be."""

from tests.conformance.recordings.recording import (
    INVALID,
    accepted,
    key,
    refused,
    s,
    statement,
)
from tests.tables import table

DEFINITION = table(
    "pk",
    "sk",
    TableName="many",
    indexes={"gsi-all": "gsiPk", "gsi-inc": "gsiPk2", "gsi-keys": "gsiPk2"},
    local_indexes={"lsi-all": "lsiSk", "lsi-keys": "lsiSk2", "lsi-inc": "lsiSk3"},
    projections={
        "gsi-inc": ["projattr"],
        "gsi-keys": "KEYS_ONLY",
        "lsi-keys": "KEYS_ONLY",
        "lsi-inc": ["projattr"],
    },
)


def row(number, **attributes):
    names = {"lsiSk": "l", "lsiSk2": "k", "lsiSk3": "m", "projattr": "proj", "nonproj": "np"}
    item = {name: f"{text}{number}" for name, text in names.items()}
    item |= {"pk": "p", "sk": f"s{number}", **attributes}
    return {name: s(text) for name, text in item.items() if text is not None}


NO_INDEX = dict.fromkeys(("lsiSk", "lsiSk2", "lsiSk3", "projattr"))
NO_LOCAL = dict.fromkeys(("lsiSk", "lsiSk2", "lsiSk3"))
ITEMS = [
    row(1, gsiPk="x", gsiPk2="y"),
    row(2, gsiPk="z", gsiPk2="y"),
    row(3, **NO_INDEX),
    row(4, gsiPk="x", gsiPk2="y"),
    row(5, **NO_LOCAL, pk="q", gsiPk2="y2"),
]
MANY = [
    accepted("CreateTable", DEFINITION, unrecorded=None),
    *(accepted("PutItem", {"TableName": "many", "Item": item}) for item in ITEMS),
]


def of(*numbers, names):
    """Return these attributes of these items."""
    return [
        {name: ITEMS[number - 1][name] for name in names if name in ITEMS[number - 1]}
        for number in numbers
    ]


def reads(text, *items, **members):
    return [*MANY, accepted("ExecuteStatement", statement(text), Items=list(items), **members)]


def fails(text, message=None, code="ValidationException", **members):
    return [*MANY, refused("ExecuteStatement", statement(text, **members), message, code)]


def sort_keys(text, *numbers):
    return reads(text, *of(*numbers, names=("pk", "sk")))


FILTERED = INVALID + "Secondary index {} does not project one or more filter attributes: [nonproj]"
KEYED = 'SELECT pk FROM "many"."gsi-inc" WHERE gsiPk2 = \'y\' AND '
UNITS = {"ReturnConsumedCapacity": "INDEXES"}


def costs(text, **arms):
    consumed = {"TableName": "many", **arms}
    return accepted("ExecuteStatement", statement(text, **UNITS), ConsumedCapacity=consumed)


HALF = {"CapacityUnits": 0.5}
QUALIFIER = {
    "members": [
        *sort_keys('SELECT pk, sk FROM "many"."gsi-all" WHERE gsiPk = \'x\'', 1, 4),
        *sort_keys("SELECT pk, sk FROM \"many\" WHERE pk = 'p'", 1, 2, 3, 4)[-1:],
    ],
    "KEYS_ONLY, global": reads(
        'SELECT * FROM "many"."gsi-keys" WHERE gsiPk2 = \'y\'',
        *of(1, 2, 4, names=("gsiPk2", "pk", "sk")),
    ),
    "INCLUDE, global": reads(
        'SELECT * FROM "many"."gsi-inc" WHERE gsiPk2 = \'y\'',
        *of(1, 2, 4, names=("gsiPk2", "pk", "sk", "projattr")),
    ),
    "KEYS_ONLY, local": reads(
        'SELECT * FROM "many"."lsi-keys" WHERE pk = \'p\'',
        *of(1, 2, 4, names=("lsiSk2", "pk", "sk")),
    ),
    "SELECT * stays in the index": [
        *MANY,
        costs(
            'SELECT * FROM "many"."gsi-keys" WHERE gsiPk2 = \'y\'',
            CapacityUnits=0.5,
            Table={"CapacityUnits": 0.0},
            GlobalSecondaryIndexes={"gsi-keys": HALF},
        ),
        costs(
            'SELECT * FROM "many"."lsi-keys" WHERE pk = \'p\'',
            CapacityUnits=0.5,
            Table={"CapacityUnits": 0.0},
            LocalSecondaryIndexes={"lsi-keys": HALF},
        ),
    ],
    "a local index reaches back": reads(
        'SELECT nonproj FROM "many"."lsi-keys" WHERE pk = \'p\'', *of(1, 2, 4, names=("nonproj",))
    ),
    "a global index does not": fails(
        'SELECT nonproj FROM "many"."gsi-inc" WHERE gsiPk2 = \'y\'',
        INVALID + "Global secondary index gsi-inc does not project [nonproj]",
    ),
    "a filter, keyed, global": fails(KEYED + "nonproj = 'np1'", FILTERED.format("gsi-inc")),
    "a filter, keyed, local": fails(
        "SELECT pk FROM \"many\".\"lsi-keys\" WHERE pk = 'p' AND nonproj = 'np1'",
        FILTERED.format("lsi-keys"),
    ),
    "a filter, without a key, global": reads(
        'SELECT pk FROM "many"."gsi-inc" WHERE nonproj = \'np1\''
    ),
    "a filter, without a key, local": reads(
        'SELECT pk FROM "many"."lsi-keys" WHERE nonproj = \'np1\''
    ),
    "two filters, without a key": reads(
        "SELECT pk FROM \"many\".\"gsi-inc\" WHERE nonproj = 'np1' AND nonproj = 'np2'"
    ),
    "a filter that is projected": reads(KEYED + "projattr = 'proj1'", {"pk": s("p")}),
    "IS MISSING": fails(KEYED + "nonproj IS MISSING", FILTERED.format("gsi-inc")),
    "IS NOT MISSING": fails(KEYED + "nonproj IS NOT MISSING", FILTERED.format("gsi-inc")),
    "begins_with": fails(KEYED + "begins_with(nonproj, 'np')", FILTERED.format("gsi-inc")),
    "IS NOT MISSING, projected": reads(KEYED + "projattr IS NOT MISSING", *[{"pk": s("p")}] * 3),
    "NOT": fails(KEYED + "NOT nonproj = 'np1'", FILTERED.format("gsi-inc")),
    "IN counts as keyed": fails(
        "SELECT pk FROM \"many\".\"gsi-inc\" WHERE gsiPk2 IN ['y', 'z'] AND nonproj = 'np1'",
        FILTERED.format("gsi-inc"),
    ),
    "a branch of OR does not": sort_keys(
        "SELECT pk, sk FROM \"many\".\"gsi-inc\" WHERE (gsiPk2 = 'y' AND nonproj = 'np1') OR "
        "(gsiPk2 = 'y2')",
        5,
    ),
    "BETWEEN counts as keyed": fails(
        "SELECT pk FROM \"many\".\"lsi-keys\" WHERE pk = 'p' AND lsiSk2 BETWEEN 'k1' AND 'k4' AND "
        "nonproj = 'np1'",
        FILTERED.format("lsi-keys"),
    ),
}
RETURNING = (
    "Invalid returning clause: RETURNING {} *. Only RETURNING ALL OLD * is allowed in DELETE "
    "statements."
)
NO_SUCH_INDEX = "The table does not have the specified index"
NO_COMPONENT = "Path component cannot be an empty string"
OPERAND = (
    "Incorrect operand type for operator or function; operator or function: <, operand type: BOOL"
)


def transaction(text, message):
    request = {"TransactStatements": [statement(text)]}
    message = f"Validation failed in TransactStatements[0]: {message}"
    return [*MANY, refused("ExecuteTransaction", request, message)]


MESSAGES = {
    **{
        f"DELETE RETURNING {kind}": fails(
            f"DELETE FROM \"hash\" WHERE pk = 'x' RETURNING {kind} *", RETURNING.format(kind)
        )
        for kind in ("MODIFIED OLD", "ALL NEW", "MODIFIED NEW")
    },
    "RETURNING in a transaction": transaction(
        "UPDATE \"hash\" SET data = 'v' WHERE pk = 'x' RETURNING ALL NEW *",
        "RETURNING clause is not supported in ExecuteTransaction.",
    ),
    "a filter, global": fails(KEYED + "nonproj = 'np1'", FILTERED.format("gsi-inc")),
    "a filter, local": fails(
        "SELECT pk FROM \"many\".\"lsi-keys\" WHERE pk = 'p' AND nonproj = 'np1'",
        FILTERED.format("lsi-keys"),
    ),
    "a projection": fails(
        'SELECT nonproj FROM "many"."gsi-inc" WHERE gsiPk2 = \'y\'',
        INVALID + "Global secondary index gsi-inc does not project [nonproj]",
    ),
    "no index": fails('SELECT * FROM "many"."none" WHERE pk = \'p\'', NO_SUCH_INDEX),
    "the table itself": fails('SELECT * FROM "many"."many" WHERE pk = \'p\'', NO_SUCH_INDEX),
    "three components": fails(
        'SELECT * FROM "many"."gsi-all"."extra" WHERE pk = \'p\'',
        "A path may contain at most 2 components in the FROM clause",
    ),
    "an empty index": fails('SELECT * FROM "many"."" WHERE pk = \'p\'', NO_COMPONENT),
    "an empty table": fails("SELECT * FROM \"\" WHERE pk = 'p'", NO_COMPONENT),
    "a consistent read": fails(
        'SELECT * FROM "many"."gsi-all" WHERE gsiPk = \'x\'',
        "Strongly consistent read is not supported on Global Secondary Indexes",
        ConsistentRead=True,
    ),
    "a consistent Query": [
        *MANY,
        refused(
            "Query",
            {
                "TableName": "many",
                "IndexName": "gsi-all",
                "KeyConditionExpression": "gsiPk = :v",
                "ExpressionAttributeValues": {":v": s("x")},
                "ConsistentRead": True,
            },
            "Consistent reads are not supported on global secondary indexes",
        ),
    ],
    "an index in a transaction": transaction(
        'SELECT * FROM "many"."gsi-all" WHERE gsiPk = \'x\'',
        "Reads on indices are not supported within transactions.",
    ),
    "an open quote": fails('SELECT * FROM "many'),
    "no table": fails(
        "SELECT * FROM \"absent\" WHERE pk = 'p'",
        "Requested resource not found",
        "ResourceNotFoundException",
    ),
    "an operand": fails(
        "SELECT pk FROM \"hash\" WHERE pk = 'x' AND val < ?", OPERAND, Parameters=[{"BOOL": True}]
    ),
}
ORDER = {
    "an operand before the table": fails(
        'SELECT pk FROM "absent" WHERE pk = ? AND val < ?',
        OPERAND,
        Parameters=[s("x"), {"BOOL": True}],
    ),
    "the table": fails(
        'SELECT pk FROM "absent" WHERE pk = ?',
        "Requested resource not found",
        "ResourceNotFoundException",
        Parameters=[s("x")],
    ),
    "a component before the table": fails("SELECT * FROM \"\" WHERE pk = 'x'", NO_COMPONENT),
}
UPDATE = {"TableName": "hash", "Key": key()}
SET_S = {"UpdateExpression": "SET #s = :v"}
HYGIENE = {
    "a name without #": [
        refused(
            "UpdateItem",
            UPDATE
            | SET_S
            | {
                "ExpressionAttributeNames": {"s": "status"},
                "ExpressionAttributeValues": {":v": s("x")},
            },
        )
    ],
    "a value without :": [
        refused(
            "UpdateItem",
            UPDATE
            | SET_S
            | {
                "ExpressionAttributeNames": {"#s": "status"},
                "ExpressionAttributeValues": {"v": s("x")},
            },
        )
    ],
    "names alone": [refused("UpdateItem", UPDATE | {"ExpressionAttributeNames": {"#s": "status"}})],
    "an unused name": [
        refused(
            "UpdateItem",
            UPDATE
            | SET_S
            | {
                "ExpressionAttributeNames": {"#s": "status", "#unused": "other"},
                "ExpressionAttributeValues": {":v": s("x")},
            },
        )
    ],
}
NAMES = {"ExpressionAttributeNames": {"#pk": "pk", "#sk": "sk"}}
ROW = {"pk": s("a"), "sk": s("m")}
KEY_CONDITION = {
    "value first": [
        accepted("PutItem", {"TableName": "pair", "Item": ROW}),
        accepted(
            "Query",
            {
                "TableName": "pair",
                "KeyConditionExpression": "#pk = :pk AND :lo <= #sk",
                "ExpressionAttributeValues": {":pk": s("a"), ":lo": s("a")},
                **NAMES,
            },
            Items=[ROW],
        ),
    ],
    "a nested path": [
        refused(
            "Query",
            {
                "TableName": "pair",
                "KeyConditionExpression": "#pk = :pk AND #sk.foo = :v",
                "ExpressionAttributeValues": {":pk": s("a"), ":v": s("x")},
                **NAMES,
            },
            "Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on "
            "nested attributes",
        )
    ],
}
LONG = "Size of hashkey has exceeded the maximum size limit of2048 bytes"
KEY_LENGTH = {
    "2048 bytes": [accepted("PutItem", {"TableName": "hash", "Item": key("a" * 2048)})],
    "2049 bytes to put": [
        refused("PutItem", {"TableName": "hash", "Item": key("a" * 2049)}, INVALID + LONG)
    ],
    "2049 bytes to get": [
        refused("GetItem", {"TableName": "hash", "Key": key("a" * 2049)}, INVALID + LONG)
    ],
}


def defined(names, **members):
    return {
        "TableName": "new",
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in names],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
        **members,
    }


def projecting(**projection):
    index = {
        "IndexName": "gsi1",
        "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
        "Projection": projection,
    }
    return defined(("pk", "g"), GlobalSecondaryIndexes=[index])


SPECIFICATIONS = {
    "INCLUDE of nothing": [
        refused(
            "CreateTable",
            projecting(ProjectionType="INCLUDE"),
            INVALID + "ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
        )
    ],
    "KEYS_ONLY of something": [
        refused(
            "CreateTable",
            projecting(ProjectionType="KEYS_ONLY", NonKeyAttributes=["x"]),
            INVALID + "ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified",
        )
    ],
    "a view of no stream": [
        refused(
            "CreateTable",
            defined(
                ("pk",),
                StreamSpecification={"StreamEnabled": False, "StreamViewType": "NEW_IMAGE"},
            ),
            INVALID + "Table is being created with a stream disabled, UpdateViewType should not be "
            "specified",
        )
    ],
}
ASKING = {
    "KeyConditionExpression": "pk = :pk",
    "ExpressionAttributeValues": {":pk": s("x")},
}
NO_INDEX_NAMED = "The table does not have the specified index: none"
INDEX = {
    "Query": [
        refused("Query", {"TableName": "hash", "IndexName": "none", **ASKING}, NO_INDEX_NAMED)
    ],
    "Scan": [refused("Scan", {"TableName": "hash", "IndexName": "none"}, NO_INDEX_NAMED)],
    "UpdateTable": [
        refused(
            "UpdateTable",
            {
                "TableName": "hash",
                "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "none"}}],
            },
            "Requested resource not found: Index none for table hash",
            "ResourceNotFoundException",
        )
    ],
}

FILES = {
    "tier2/partiql/indexQualifier": QUALIFIER,
    "tier3/error-messages/partiql": MESSAGES,
    "tier3/validation-ordering/partiql": ORDER,
    "tier1/updateItem/expressionHygiene": HYGIENE,
    "tier1/query/keyConditionSemantics": KEY_CONDITION,
    "tier3/limits/keyLength": KEY_LENGTH,
    "tier1/createTable/specValidation": SPECIFICATIONS,
    "tier3/validation-ordering/index": INDEX,
}
