"""What GetItem, BatchGetItem, Query and Scan return, page by page, cost and refuse."""

from tests.conformance.recordings.recording import (
    Part,
    accepted,
    key,
    n,
    pair,
    refused,
    s,
)
from tests.tables import table

READ = accepted("PutItem", {"TableName": "hash", "Item": key("none")})


def put(item, name="hash"):
    return accepted("PutItem", {"TableName": name, "Item": item})


def m(**members):
    return {"M": members}


def texts(*parts):
    return {"L": [s(part) for part in parts]}


def get(projection, names=(), **members):
    """Return a GetItem of ``a`` that projects; ``names`` are attributes with a #name each."""
    request = {"TableName": "hash", "Key": key(), "ProjectionExpression": projection, **members}
    if names:
        request["ExpressionAttributeNames"] = {f"#{name}": name for name in names}
    return request


NESTED = put(key() | {"m": m(a=s("A"), b=s("B"), c=s("C")), "l": texts("0", "1", "2")})
DEEP = {
    "l": {
        "L": [
            m(
                a=s("a0"),
                b=s("b0"),
                m=m(x=s("x0"), y=s("y0")),
                n={"L": [m(p=s("p00"), q=s("q00")), m(p=s("p01"), q=s("q01"))]},
            ),
            m(a=s("a1"), b=s("b1")),
            m(a=s("a2"), b=s("b2"), c=s("c2")),
        ]
    }
}
MERGED = put(key() | DEEP)


def elements(*members):
    return {"l": {"L": list(members)}}


def merges(projection, *wanted):
    return [MERGED, accepted("GetItem", get(projection), Item=elements(*wanted))]


def batch(keys, name="hash", **members):
    return {"RequestItems": {name: {"Keys": keys, **members}}}


ALICE = put(key() | {"name": s("Alice")})
PROJECTION = {
    "several elements": [
        NESTED,
        accepted("GetItem", get("l[2], l[0]"), Item={"l": texts("0", "2")}),
    ],
    "several members": [
        NESTED,
        accepted("GetItem", get("#m.a, #m.b", "m"), Item={"m": m(a=s("A"), b=s("B"))}),
    ],
    "nothing": [ALICE, accepted("GetItem", get("gone"), Item={})],
    "nothing, AttributesToGet": [
        ALICE,
        accepted(
            "GetItem", {"TableName": "hash", "Key": key(), "AttributesToGet": ["gone"]}, Item={}
        ),
    ],
    "something": [ALICE, accepted("GetItem", get("#name", ["name"]), Item={"name": s("Alice")})],
    "the key": [ALICE, accepted("GetItem", get("pk"), Item=key())],
    "two members of an element": merges("l[0].a, l[0].b", m(a=s("a0"), b=s("b0"))),
    "two members of its map": merges("l[0].m.x, l[0].m.y", m(m=m(x=s("x0"), y=s("y0")))),
    "a member and one of its map": merges("l[0].a, l[0].m.x", m(a=s("a0"), m=m(x=s("x0")))),
    "two members of an inner element": merges(
        "l[0].n[0].p, l[0].n[0].q", m(n={"L": [m(p=s("p00"), q=s("q00"))]})
    ),
    "two inner elements": merges(
        "l[0].n[0].p, l[0].n[1].q", m(n={"L": [m(p=s("p00")), m(q=s("q01"))]})
    ),
    "two elements, one merged": merges(
        "l[0].a, l[0].b, l[2].c", m(a=s("a0"), b=s("b0")), m(c=s("c2"))
    ),
    "any order": merges("l[0].b, l[0].a", m(a=s("a0"), b=s("b0"))),
    "Query": [
        put(pair() | DEEP, "pair"),
        accepted(
            "Query",
            {
                "TableName": "pair",
                "KeyConditionExpression": "pk = :p",
                "ExpressionAttributeValues": {":p": s("a")},
                "ProjectionExpression": "l[0].a, l[0].b",
            },
            Items=[elements(m(a=s("a0"), b=s("b0")))],
        ),
    ],
    "BatchGetItem": [
        MERGED,
        accepted(
            "BatchGetItem",
            batch([key()], ProjectionExpression="l[0].a, l[0].b"),
            Responses={"hash": [elements(m(a=s("a0"), b=s("b0")))]},
        ),
    ],
}
SHARED = {"a": m(b=s("B"), c=s("C"), d=s("D")), "l": {"L": [m(x=s("X"), y=s("Y")), s("one")]}}
PREFIXES = {
    "members of a map": ("a.b, a.c", {"a": m(b=s("B"), c=s("C"))}),
    "elements of a list": ("l[0], l[1]", {"l": SHARED["l"]}),
    "members of an element": ("l[0].x, l[0].y", {"l": {"L": [m(x=s("X"), y=s("Y"))]}}),
}
ONE_KEY = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": s("a")}}


def shared(operation, **members):
    """Return how an operation answers projections that share a prefix."""
    return {
        title: [
            put(key() | SHARED),
            accepted(
                operation,
                {"TableName": "hash", "ProjectionExpression": projection, **members},
                Items=[wanted],
            ),
        ]
        for title, (projection, wanted) in PREFIXES.items()
    }


BATCH_PREFIXES = {
    title: [
        put(key() | SHARED),
        accepted(
            "BatchGetItem",
            batch([key()], ProjectionExpression=projection),
            Responses={"hash": [wanted]},
        ),
    ]
    for title, (projection, wanted) in PREFIXES.items()
}
BATCH = {
    "all served": [
        put(key()),
        put(pair(), "pair"),
        accepted(
            "BatchGetItem",
            {"RequestItems": {"hash": {"Keys": [key()]}, "pair": {"Keys": [pair()]}}},
            Responses={"hash": [key()], "pair": [pair()]},
            UnprocessedKeys={},
        ),
    ],
    "nothing of an item": [
        put(key()),
        accepted(
            "BatchGetItem",
            batch([key()], ProjectionExpression="gone"),
            Responses={"hash": [{}]},
        ),
    ],
}
OVERLAP = (
    "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or "
    "rewrite one of these paths; path one: {}, path two: {}"
)
UNDEFINED = (
    "Invalid {}: An expression attribute name used in the document path is not defined; "
    "attribute name: {}"
)


def overlaps(projection, one, two, **names):
    request = get(projection)
    if names:
        request["ExpressionAttributeNames"] = {f"#{name}": to for name, to in names.items()}
    return [refused("GetItem", request, OVERLAP.format(one, two))]


GET_MESSAGES = {
    "no table": [
        refused(
            "GetItem",
            {"TableName": "gone", "Key": key()},
            "Requested resource not found",
            "ResourceNotFoundException",
        )
    ],
    "no sort key": [
        refused(
            "GetItem",
            {"TableName": "pair", "Key": key()},
            "The provided key element does not match the schema",
        )
    ],
    "syntax": [
        refused(
            "GetItem",
            get("!!! INVALID !!!"),
            'Invalid ProjectionExpression: Syntax error; token: "!", near: "!!"',
        )
    ],
    "no bytes": [
        refused(
            "GetItem",
            {"TableName": "binary", "Key": {"pk": {"B": ""}}},
            "One or more parameter values are not valid. The AttributeValue for a key attribute "
            "cannot contain an empty binary value. Key: pk",
        )
    ],
    "a path twice": overlaps("a, a", "[a]", "[a]"),
    "a name twice": overlaps("#a, #a", "[a]", "[a]", a="a"),
    "two names of one": overlaps("#a, #b", "[a]", "[a]", a="a", b="a"),
    "a path and its name": overlaps("a, #a", "[a]", "[a]", a="a"),
    "a path below another": overlaps("a, a.b", "[a]", "[a, b]"),
    "names below others": overlaps("#a, #a.#b", "[a]", "[a, b]", a="a", b="b"),
    "above another": overlaps("a.b, a", "[a, b]", "[a]"),
    "below another name": overlaps("#x, #y.#b", "[a]", "[a, b]", x="a", y="a", b="b"),
    "far below": overlaps("a, a.b.c", "[a]", "[a, b, c]"),
    "an element": overlaps("l, l[0]", "[l]", "[l, [0]]"),
    "an undefined name": [
        refused("GetItem", get("#undef"), UNDEFINED.format("ProjectionExpression", "#undef"))
    ],
}
PROJECTION_VALIDATION = {
    "one below another": overlaps("#a, #a.#b", "[a]", "[a, b]", a="a", b="b"),
    "twice": overlaps("#a, #a", "[a]", "[a]", a="a"),
    "elements in order": PROJECTION["several elements"],
    "an undefined name of nothing": [
        refused(
            "Scan",
            {
                "TableName": "hash",
                "FilterExpression": "pk = :n",
                "ExpressionAttributeValues": {":n": s("gone")},
                "ProjectionExpression": "#undef",
            },
        )
    ],
}


def units(total, name="hash", **arms):
    return {"TableName": name, "CapacityUnits": total, **arms}


TOTAL = {"ReturnConsumedCapacity": "TOTAL"}
INDEXES = {"ReturnConsumedCapacity": "INDEXES"}
WHERE = {"TableName": "hash", "Key": key()}
UNITS = {
    "GetItem": [
        put(key()),
        accepted("GetItem", WHERE | TOTAL, Item=key(), ConsumedCapacity=units(0.5)),
    ],
    "GetItem, consistent": [
        accepted("GetItem", WHERE | TOTAL | {"ConsistentRead": True}, ConsumedCapacity=units(1.0))
    ],
    "UpdateItem": [accepted("UpdateItem", WHERE | TOTAL, ConsumedCapacity=units(1.0))],
    "DeleteItem": [
        put(key()),
        accepted("DeleteItem", WHERE | TOTAL, ConsumedCapacity=units(1.0)),
    ],
    "Query by arm": [
        put(key()),
        accepted(
            "Query",
            {"TableName": "hash", **ONE_KEY, **INDEXES},
            ConsumedCapacity=units(0.5, Table={"CapacityUnits": 0.5}),
        ),
    ],
}
PUT_UNITS = {
    "the total": [
        accepted(
            "PutItem",
            {"TableName": "hash", "Item": key(), **TOTAL},
            ConsumedCapacity=units(1.0),
        )
    ],
    "by arm": [
        accepted(
            "PutItem",
            {"TableName": "hash", "Item": key(), **INDEXES},
            ConsumedCapacity=units(1.0, Table={"CapacityUnits": 1.0}),
        )
    ],
}
WIDE = [
    put(
        {"pk": s("a"), "sk": s(f"s{i}"), "keep": s("no" if i else "yes"), "f": s("x" * 2_000)},
        "pair",
    )
    for i in range(6)
]


def wide_query(count, **members):
    values = {":p": s("a")} | members.pop("values", {})
    request = {"TableName": "pair", "KeyConditionExpression": "pk = :p", **TOTAL, **members}
    request["ExpressionAttributeValues"] = values
    return accepted("Query", request, Count=count, ConsumedCapacity=units(1.5, "pair"))


KEEP = {"FilterExpression": "keep = :k"}
QUERY_UNITS = {
    "a filter for one": [*WIDE, wide_query(6), wide_query(1, **KEEP, values={":k": s("yes")})],
    "a filter for none": [*WIDE, wide_query(0, **KEEP, values={":k": s("gone")})],
    "a projection": [*WIDE, wide_query(6, ProjectionExpression="sk")],
}
TIED = table(
    "pk",
    "sk",
    TableName="tied",
    indexes={"gsi1": "h", "gsi2": ("h", "r")},
    local_indexes={"lsi1": "l", "lsi2": "r"},
    projections={"gsi2": ["data"], "lsi2": ["l"]},
)
MADE = accepted("CreateTable", TIED, unrecorded=None)


def tied(pk, sk, **attributes):
    return {"pk": s(pk), "sk": s(sk)} | {name: s(text) for name, text in attributes.items()}


def in_tied(*items):
    return [MADE, *(put(item, "tied") for item in items)]


def query(index, condition, values, **members):
    """Return a Query of the table ``tied``."""
    request = {"TableName": "tied", "KeyConditionExpression": condition, **members}
    if index:
        request["IndexName"] = index
    request["ExpressionAttributeValues"] = {f":{name}": s(text) for name, text in values.items()}
    return request


def walk(request, operation, *pages):
    """Return the steps of a walk of one item a page, each after where the page before ended."""
    limited = request | {"Limit": 1}

    def after(before):
        return limited | {"ExclusiveStartKey": before["LastEvaluatedKey"]}

    first, *rest = pages
    steps = [accepted(operation, limited, Items=[first], LastEvaluatedKey=position(first, request))]
    for page in rest:
        wanted = {"Items": [page], "LastEvaluatedKey": position(page, request)}
        steps.append(accepted(operation, after, **wanted))
    return [*steps, accepted(operation, after, Items=[], LastEvaluatedKey=None)]


def position(item, request):
    """Return a LastEvaluatedKey: the keys of the table and of the index."""
    names = {"gsi1": "h", "gsi2": "hr", "lsi1": "l", "lsi2": "r"}[request["IndexName"]]
    return {name: value for name, value in item.items() if name in ("pk", "sk", *names)}


def narrow(item, *names):
    return {name: value for name, value in item.items() if name in names}


SAME = [tied("p", f"s{i}", h="h", r="r", l="l", data=f"d{i}") for i in range(3)]
PROJECTED = [narrow(item, "pk", "sk", "h", "r", "data") for item in SAME]
INVALID_START = "The provided starting key is invalid"
QUERY_GSI = {
    "a start key without the index key": [
        *in_tied(SAME[0]),
        refused(
            "Query",
            query("gsi1", "h = :h", {"h": "h"}, ExclusiveStartKey=narrow(SAME[0], "pk", "sk")),
        ),
    ],
    "tied keys": [
        *in_tied(*SAME),
        *walk(query("gsi2", "h = :h AND r = :r", {"h": "h", "r": "r"}), "Query", *PROJECTED),
    ],
    "without the sort key": [
        *in_tied(tied("p", "1", h="h"), SAME[1]),
        accepted("Query", query("gsi2", "h = :h", {"h": "h"}), Items=[PROJECTED[1]]),
    ],
}
QUERY_HASH_ONLY = {
    "tied keys": [
        *in_tied(*SAME),
        *walk(query("gsi1", "h = :h", {"h": "h"}), "Query", *SAME),
    ]
}
QUERY_LSI = {
    "tied keys": [
        *in_tied(*SAME),
        *walk(query("lsi1", "pk = :p AND l = :l", {"p": "p", "l": "l"}), "Query", *SAME),
    ],
    "without the sort key": [
        *in_tied(tied("p", "1"), SAME[1]),
        accepted("Query", query("lsi1", "pk = :p", {"p": "p"}), Items=[SAME[1]]),
        accepted("Query", query("", "pk = :p", {"p": "p"}), Count=2),
    ],
}
SCAN_TIED = {
    "tied keys": [
        *in_tied(*SAME),
        *walk({"TableName": "tied", "IndexName": "gsi2"}, "Scan", *PROJECTED),
    ]
}
SCAN_GSI = {
    "without the sort key": [
        *in_tied(tied("p", "1", h="h"), SAME[1]),
        accepted("Scan", {"TableName": "tied", "IndexName": "gsi2"}, Items=[PROJECTED[1]]),
    ],
    "parentheses": [
        *in_tied(*SAME),
        accepted(
            "Scan",
            {
                "TableName": "tied",
                "IndexName": "gsi1",
                "FilterExpression": "(sk = :a) OR (sk = :b)",
                "ExpressionAttributeValues": {":a": s("s0"), ":b": s("s2")},
            },
            Items=[SAME[0], SAME[2]],
        ),
    ],
}
SCAN_LSI = {
    "without the sort key": [
        *in_tied(tied("p", "1"), SAME[1]),
        accepted("Scan", {"TableName": "tied", "IndexName": "lsi1"}, Items=[SAME[1]]),
    ]
}
INDEX_UNITS = {
    "a global index": [
        *in_tied(SAME[0]),
        accepted(
            "Query",
            query("gsi1", "h = :h", {"h": "h"}, **INDEXES),
            ConsumedCapacity=units(
                0.5,
                "tied",
                Table={"CapacityUnits": 0.0},
                GlobalSecondaryIndexes={"gsi1": {"CapacityUnits": 0.5}},
            ),
        ),
    ],
    "a local index": [
        *in_tied(SAME[0]),
        accepted(
            "Query",
            query("lsi1", "pk = :p", {"p": "p"}, **INDEXES),
            ConsumedCapacity=units(
                0.5,
                "tied",
                Table={"CapacityUnits": 0.0},
                LocalSecondaryIndexes={"lsi1": {"CapacityUnits": 0.5}},
            ),
        ),
    ],
}
SELECT_ON_INDEXES = {
    "what is projected": [
        *in_tied(SAME[0]),
        accepted(
            "Query",
            query("gsi2", "h = :h", {"h": "h"}, Select="ALL_PROJECTED_ATTRIBUTES"),
            Items=[PROJECTED[0]],
        ),
    ],
    "everything": [
        *in_tied(SAME[0]),
        accepted(
            "Query",
            query("lsi2", "pk = :p", {"p": "p"}, Select="ALL_ATTRIBUTES"),
            Items=[SAME[0]],
        ),
    ],
}
ROWS = [put(pair("a", str(i)), "pair") for i in range(3)]
PAIR_QUERY = {"TableName": "pair", **ONE_KEY}
QUERY_BASIC = {
    "the start is left out": [
        *ROWS,
        accepted(
            "Query",
            PAIR_QUERY | {"ExclusiveStartKey": pair("a", "1")},
            Items=[pair("a", "2")],
            LastEvaluatedKey=None,
        ),
    ],
    "a start of other attributes": [
        refused("Query", PAIR_QUERY | {"ExclusiveStartKey": {"bad": s("x")}}, INVALID_START)
    ],
}
LIMITED = {"FilterExpression": "sk = :x", "ExpressionAttributeValues": {":x": s("none")}}
SCAN_BASIC = {
    "the start is left out": [
        *ROWS,
        accepted(
            "Scan",
            {"TableName": "pair", "ExclusiveStartKey": pair("a", "0")},
            Items=[pair("a", "1"), pair("a", "2")],
            LastEvaluatedKey=None,
        ),
    ],
    "a limit counts what was read": [
        *ROWS,
        accepted(
            "Scan",
            {"TableName": "pair", "Limit": 2, **LIMITED},
            Items=[],
            ScannedCount=2,
            LastEvaluatedKey=pair("a", "1"),
        ),
    ],
    "a start of other attributes": [
        refused("Scan", {"TableName": "pair", "ExclusiveStartKey": {"bad": s("x")}})
    ],
}


def filtered(expression, *sort_keys, **values):
    """Return a Query with a filter, and the items that it leaves."""
    request = {
        "TableName": "pair",
        "KeyConditionExpression": "pk = :p",
        "FilterExpression": expression,
        "ExpressionAttributeValues": {":p": s("a")}
        | {f":{name}": value for name, value in values.items()},
        "ProjectionExpression": "sk",
    }
    return accepted("Query", request, Items=[{"sk": s(text)} for text in sort_keys])


MEMBERS = [
    put(pair("a", "1") | {"t": {"SS": ["", "a"]}}, "pair"),
    put(pair("a", "2") | {"t": {"SS": ["a", "b"]}}, "pair"),
]
ACCENTED = [put(pair("a", "1") | {"t": s("é\U0001d11e")}, "pair")]
QUERY_EXPRESSIONS = {
    "contains an empty text": [*MEMBERS, filtered("contains(t, :e)", "1", e=s(""))],
    "size in UTF-16": [
        *ACCENTED,
        filtered("size(t) = :n", "1", n=n(3)),
        filtered("size(t) = :n", n=n(6)),
    ],
    "size of nothing": [*ACCENTED, filtered("size(gone) = :n", n=n(0))],
}
WITH_BOTH = "Cannot specify the ProjectionExpression when choosing to get {}"
NO_INDEX = "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"
NOTHING_SPECIFIC = (
    "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
    "SPECIFIC_ATTRIBUTES"
)


def selects(operation, request, envelope):
    """Return how Select and ProjectionExpression contradict each other."""

    def refuses(message, **members):
        return [
            refused(operation, request | members, envelope + message, is_layered=bool(envelope))
        ]

    return {
        "ALL_ATTRIBUTES": refuses(
            WITH_BOTH.format("ALL_ATTRIBUTES"), Select="ALL_ATTRIBUTES", ProjectionExpression="sk"
        ),
        "no index": refuses(NO_INDEX, Select="ALL_PROJECTED_ATTRIBUTES"),
        "COUNT": refuses(
            WITH_BOTH.format("only the Count"), Select="COUNT", ProjectionExpression="sk"
        ),
        "no index and a projection": refuses(
            WITH_BOTH.format("ALL_PROJECTED_ATTRIBUTES"),
            Select="ALL_PROJECTED_ATTRIBUTES",
            ProjectionExpression="sk",
        ),
    }


REDUNDANT = "Invalid {}: The expression has redundant parentheses;"
ENVELOPE = "1 validation error detected: "


def redundant(operation, member, request):
    return [refused(operation, request, REDUNDANT.format(member))]


def hash_query(**members):
    return {"TableName": "hash", **ONE_KEY, **members}


QUERY_MESSAGES = {
    "no partition key": [
        refused(
            "Query",
            PAIR_QUERY | {"KeyConditionExpression": "sk = :p"},
            "Query condition missed key schema element: pk",
        )
    ],
    "no key": [
        refused(
            "Query",
            PAIR_QUERY | {"KeyConditionExpression": "attr1 = :p"},
            "Query condition missed key schema element: pk",
        )
    ],
    "an unused name": [
        refused(
            "Query",
            PAIR_QUERY | {"ExpressionAttributeNames": {"#unused": "x"}},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#unused}",
        )
    ],
    "an unknown Select": [
        refused(
            "Query",
            PAIR_QUERY | {"Select": "INVALID_VALUE"},
            ENVELOPE
            + "Value 'INVALID_VALUE' at 'select' failed to satisfy constraint: Member must satisfy "
            "enum value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, "
            "ALL_PROJECTED_ATTRIBUTES]",
            is_layered=True,
        )
    ],
    "Limit 0": [
        refused(
            "Query",
            PAIR_QUERY | {"Limit": 0},
            ENVELOPE + "Value at 'Limit' failed to satisfy constraint: Member must have value "
            "greater than or equal to 1",
            is_layered=True,
        )
    ],
    "an empty condition": [
        refused(
            "Query",
            PAIR_QUERY | {"KeyConditionExpression": ""},
            "Invalid KeyConditionExpression: The expression can not be empty;",
        )
    ],
    "an undefined name": [
        refused(
            "Query",
            PAIR_QUERY | {"FilterExpression": "#missing = :p"},
            UNDEFINED.format("FilterExpression", "#missing"),
        )
    ],
    "redundant parentheses": redundant(
        "Query", "KeyConditionExpression", hash_query(KeyConditionExpression="((pk = :p))")
    ),
    "a start of other attributes": QUERY_BASIC["a start of other attributes"],
    "SPECIFIC_ATTRIBUTES of nothing": [
        refused(
            "Query",
            PAIR_QUERY | {"Select": "SPECIFIC_ATTRIBUTES"},
            ENVELOPE + NOTHING_SPECIFIC,
            is_layered=True,
        )
    ],
    "a path twice, of nothing": [
        refused(
            "Query", PAIR_QUERY | {"ProjectionExpression": "a, a"}, OVERLAP.format("[a]", "[a]")
        )
    ],
    "a path twice, of an item": [
        *ROWS,
        refused(
            "Query", PAIR_QUERY | {"ProjectionExpression": "a, a"}, OVERLAP.format("[a]", "[a]")
        ),
    ],
    "a path below another": [
        refused(
            "Query",
            PAIR_QUERY | {"ProjectionExpression": "a, a.b"},
            OVERLAP.format("[a]", "[a, b]"),
        )
    ],
    "two names of a path": [
        refused(
            "Query",
            PAIR_QUERY
            | {
                "ProjectionExpression": "#a, #b",
                "ExpressionAttributeNames": {"#a": "a", "#b": "a"},
            },
            OVERLAP.format("[a]", "[a]"),
        )
    ],
}
SCAN_FILTER = {
    "TableName": "hash",
    "FilterExpression": "",
    "ExpressionAttributeValues": {":v": n(1)},
}
OPERAND = (
    "Invalid FilterExpression: Incorrect operand type for operator or function; operator or "
    "function: begins_with, operand type: N"
)
FILTER_OPERATORS = {
    "redundant parentheses": redundant(
        "Scan", "FilterExpression", SCAN_FILTER | {"FilterExpression": "((pk = :v))"}
    ),
    "begins_with a number": [
        put(key()),
        refused("Scan", SCAN_FILTER | {"FilterExpression": "begins_with(pk, :v)"}, OPERAND),
    ],
}
OPERAND_ORDER = {
    "of nothing": [
        refused("Scan", SCAN_FILTER | {"FilterExpression": "begins_with(pk, :v)"}, OPERAND)
    ]
}
SCAN_VALIDATION = {
    "too many segments": [
        refused("Scan", {"TableName": "hash", "Segment": 0, "TotalSegments": 1_000_001})
    ]
}
SCAN_ORDERING = {
    "a negative segment": [
        refused("Scan", {"TableName": "hash", "Segment": -1, "TotalSegments": 2})
    ]
}
DESCRIBED = {
    "indexes": [
        MADE,
        accepted(
            "DescribeTable",
            {"TableName": "tied"},
            Table=Part(
                TableName="tied",
                TableStatus="ACTIVE",
                KeySchema=TIED["KeySchema"],
                GlobalSecondaryIndexes=[Part(IndexName="gsi1"), Part(IndexName="gsi2")],
                LocalSecondaryIndexes=[Part(IndexName="lsi1"), Part(IndexName="lsi2")],
            ),
        ),
    ]
}
LEGACY_BOOL = {
    "EQ of a boolean": [
        put(pair("a", "1") | {"on": {"BOOL": True}}, "pair"),
        put(pair("a", "2") | {"on": {"BOOL": False}}, "pair"),
        accepted(
            "Query",
            {
                "TableName": "pair",
                "KeyConditions": {
                    "pk": {"ComparisonOperator": "EQ", "AttributeValueList": [s("a")]}
                },
                "QueryFilter": {
                    "on": {"ComparisonOperator": "EQ", "AttributeValueList": [{"BOOL": True}]}
                },
            },
            Items=[pair("a", "1") | {"on": {"BOOL": True}}],
        ),
    ]
}

FILES = {
    "tier1/batchGetItem/basic": BATCH,
    "tier1/batchGetItem/projection": BATCH_PREFIXES,
    "tier1/describeTable/indexes": DESCRIBED,
    "tier1/getItem/consumedCapacity": UNITS,
    "tier1/getItem/projection": PROJECTION,
    "tier1/getItem/projectionValidation": PROJECTION_VALIDATION,
    "tier1/putItem/consumedCapacity": PUT_UNITS,
    "tier1/query/basic": QUERY_BASIC,
    "tier1/query/consumedCapacity": QUERY_UNITS,
    "tier1/query/expressions": QUERY_EXPRESSIONS,
    "tier1/query/gsi": QUERY_GSI,
    "tier1/query/gsiHashOnlyPagination": QUERY_HASH_ONLY,
    "tier1/query/indexConsumedCapacity": INDEX_UNITS,
    "tier1/query/keyConditionParens": {
        "redundant": QUERY_MESSAGES["redundant parentheses"],
    },
    "tier1/query/lsi": QUERY_LSI,
    "tier1/query/projection": shared("Query", **ONE_KEY),
    "tier1/query/select": selects("Query", PAIR_QUERY, ENVELOPE),
    "tier1/query/selectOnIndexes": SELECT_ON_INDEXES,
    "tier1/scan/basic": SCAN_BASIC,
    "tier1/scan/filterOperandOrder": OPERAND_ORDER,
    "tier1/scan/filterOperators": FILTER_OPERATORS,
    "tier1/scan/gsi": SCAN_GSI,
    "tier1/scan/gsiPagination": SCAN_TIED,
    "tier1/scan/lsi": SCAN_LSI,
    "tier1/scan/projection": shared("Scan"),
    "tier1/scan/select": selects("Scan", {"TableName": "pair"}, "")
    | {
        "SPECIFIC_ATTRIBUTES of nothing": [
            refused("Scan", {"TableName": "pair", "Select": "SPECIFIC_ATTRIBUTES"})
        ]
    },
    "tier1/scan/validation": SCAN_VALIDATION,
    "tier3/error-messages/getItem": GET_MESSAGES,
    "tier3/error-messages/query": QUERY_MESSAGES,
    "tier3/legacy-api/queryFilter": LEGACY_BOOL,
    "tier3/validation-ordering/scan": SCAN_ORDERING,
}
