"""PartiQL: grammar, functions, numbers, writes."""

import base64

from tests.conformance.recordings.recording import (
    INVALID,
    TOO_DEEP,
    Step,
    accepted,
    deep,
    key,
    n,
    refused,
    s,
    statement,
)

ILL_FORMED = "Statement wasn't well formed, can't be processed: "
LEFT_OVER = ILL_FORMED + "Unexpected token after expression"
OVERFLOW = (
    "Number overflow. Attempting to store a number with magnitude larger than supported range"
)
UNDERFLOW = (
    "Number underflow. Attempting to store a number with magnitude smaller than supported range"
)
DIGITS = "Attempting to store more than 38 significant digits in a Number"
NO_NUMBER = "The parameter cannot be converted to a numeric value"
CONDITION = "ConditionalCheckFailedException"


def run(text, *parameters, **members):
    """Return a statement that is carried out, with members of its answer."""
    request = statement(text, **({"Parameters": list(parameters)} if parameters else {}))
    return accepted("ExecuteStatement", request, **members)


def fails(text, message=None, *parameters, code="ValidationException"):
    request = statement(text, **({"Parameters": list(parameters)} if parameters else {}))
    return refused("ExecuteStatement", request, message, code)


def stored(table, item):
    return accepted("PutItem", {"TableName": table, "Item": item})


def kept(table, where, item):
    """Return a step that finds an item, or none."""
    members = {"Item": item}
    return accepted("GetItem", {"TableName": table, "Key": where}, **members)


def selected(text, *items):
    return run(text, Items=list(items))


NUMBERS = [stored("number", {"pk": n(pk)}) for pk in ("7310000", "7.3", "-7.3")]
TEXTS = [stored("hash", key(pk)) for pk in "abc"]
ORDERED = [stored("ordered", {"pk": s("o"), "sk": n(sk)}) for sk in (1, 2, 3)]


def ordered(*numbers):
    return [{"pk": s("o"), "sk": n(sk)} for sk in numbers]


GRAMMAR = {
    "an exponent in WHERE": [
        *NUMBERS,
        selected('SELECT * FROM "number" WHERE pk = 7.31e6', {"pk": n("7310000")}),
    ],
    "other ways to write it": [
        *NUMBERS,
        *(
            selected(f'SELECT * FROM "number" WHERE pk = {written}', {"pk": n("7310000")})
            for written in ("7.31E6", "7.31e+6", "731e4", "73100000e-1")
        ),
    ],
    "an exponent in INSERT": [
        run("INSERT INTO \"number\" VALUE {'pk': 7.32e6}", Items=[]),
        kept("number", {"pk": n("7320000")}, {"pk": n("7320000")}),
    ],
    "no leading digit": [
        *NUMBERS,
        selected('SELECT * FROM "number" WHERE pk = .73e1', {"pk": n("7.3")}),
    ],
    "no leading digit, negative": [
        *NUMBERS,
        selected('SELECT * FROM "number" WHERE pk = -.73e1', {"pk": n("-7.3")}),
    ],
    "no leading digit in INSERT": [
        run("INSERT INTO \"number\" VALUE {'pk': .7325e1}", Items=[]),
        kept("number", {"pk": n("7.325")}, {"pk": n("7.325")}),
    ],
    "an exponent beyond 32 bits": [fails('SELECT * FROM "number" WHERE pk = 1e99999999999')],
    "a line comment after": [*TEXTS, selected("SELECT * FROM \"hash\" WHERE pk = 'a' -- x", key())],
    "a line comment before WHERE": [
        *TEXTS,
        selected("SELECT * FROM \"hash\" -- x\nWHERE pk = 'b'", key("b")),
    ],
    "a line comment before": [
        *TEXTS,
        selected("-- x\nSELECT * FROM \"hash\" WHERE pk = 'a'", key()),
    ],
    "a block comment between": [
        *TEXTS,
        selected("SELECT * FROM \"hash\" /* x */ WHERE pk = 'c'", key("c")),
    ],
    "a block comment after": [
        *TEXTS,
        selected("SELECT * FROM \"hash\" WHERE pk = 'c' /* x */", key("c")),
    ],
    "a hash comment": [fails("SELECT * FROM \"hash\" WHERE pk = 'a' # x")],
    "ORDER BY DESC": [
        *ORDERED,
        selected("SELECT * FROM \"ordered\" WHERE pk = 'o' ORDER BY sk DESC", *ordered(3, 2, 1)),
    ],
    "ORDER BY ASC": [
        *ORDERED,
        selected("SELECT * FROM \"ordered\" WHERE pk = 'o' ORDER BY sk ASC", *ordered(1, 2, 3)),
    ],
    "INSERT with a token left": [
        fails("INSERT INTO \"number\" VALUE {'pk': 7330000} foo"),
        kept("number", {"pk": n(7330000)}, None),
    ],
    "SELECT with an alias": [fails("SELECT * FROM \"hash\" t WHERE pk = 'a'")],
    "DELETE with an alias": [
        *TEXTS,
        fails("DELETE FROM \"hash\" t WHERE pk = 'a'"),
        kept("hash", key(), key()),
    ],
    "DELETE with ORDER BY": [
        *TEXTS,
        fails("DELETE FROM \"hash\" WHERE pk = 'b' ORDER BY pk"),
        kept("hash", key("b"), key("b")),
    ],
}
GRAMMAR_MESSAGES = {
    text: [fails(text, message)]
    for text, message in {
        'SELECT * FROM "number" WHERE pk = 1 foo': LEFT_OVER,
        'SELECT * FROM "number" WHERE pk = 1 e5': LEFT_OVER,
        "INSERT INTO \"number\" VALUE {'pk': 970001} foo": LEFT_OVER,
        'UPDATE "number" SET a = 9 WHERE pk = 970002 foo': LEFT_OVER,
        'DELETE FROM "number" WHERE pk = 970003 foo': LEFT_OVER,
        'SELECT * FROM "number" WHERE pk = 1)': LEFT_OVER,
        'DELETE FROM "number" WHERE pk = 970004 ORDER BY pk': LEFT_OVER,
        'SELECT * FROM "number" ORDER BY pk WHERE pk = 1': LEFT_OVER,
        'SELECT * FROM "number" WHERE pk = 1e2147483648': ILL_FORMED,
        'SELECT * FROM "number" WHERE pk = 1e99999999999': ILL_FORMED,
        'SELECT * FROM "number" WHERE pk = 1.5e-2147483647': ILL_FORMED,
        'SELECT * FROM "number" WHERE pk = 1 # note': ILL_FORMED,
        'SELECT * FROM "number" WHERE pk = 1 /* note': ILL_FORMED,
        "SELECT * FROM \"hash\" t WHERE pk = 'x'": "Aliasing is not supported",
        "SELECT * FROM \"hash\" AS t WHERE pk = 'x'": "Aliasing is not supported",
        "UPDATE \"hash\" t SET a = 3 WHERE pk = 'x'": "Aliasing is not supported",
        "DELETE FROM \"hash\" t WHERE pk = 'x'": "Aliasing is not supported",
        "INSERT INTO \"hash\" t VALUE {'pk': 'x'}": LEFT_OVER,
        'SELECT * FROM "number" WHERE pk = 1e126': f"{OVERFLOW} under root",
        'SELECT * FROM "number" WHERE pk = 1e-131': f"{UNDERFLOW} under root",
        f'SELECT * FROM "number" WHERE pk = {"1" * 39}': f"{DIGITS} under root",
        "INSERT INTO \"number\" VALUE {'pk': 1e126}": f"{OVERFLOW} under root",
        'UPDATE "number" SET a = 1e-131 WHERE pk = 970005': f"{UNDERFLOW} under root",
        "INSERT INTO \"number\" VALUE {'pk': 1, 'm': {'x': 1e126}}": f"{OVERFLOW} under root.x",
        "INSERT INTO \"number\" VALUE {'pk': 1, 'l': [1, 1e126]}": f"{OVERFLOW} under root[1]",
    }.items()
}
ITEM = {
    "pk": s("i"),
    "ss": {"SS": ["a", "b", "c"]},
    "s": s("str"),
    "m": {"M": {"sub": s("x")}},
    "nul": {"NULL": True},
    "flag": {"BOOL": True},
    "marker": s("present"),
}
WRITTEN = {**key("w"), "a": n(5)}


def where(condition, holds):
    text = f"SELECT * FROM \"hash\" WHERE pk = 'i' AND {condition}"
    return selected(text, *([ITEM] if holds else []))


def filtered(*conditions):
    """Return the steps of conditions on the item, each with whether it holds."""
    return [stored("hash", ITEM), *(where(text, holds) for text, holds in conditions)]


def updated(text, item, message=None):
    """Return the steps of a write on the item ``w``, and what it leaves."""
    write = run(text, Items=[]) if message is None else fails(text, code=message)
    return [stored("hash", WRITTEN), write, kept("hash", key("w"), item)]


WHERE_FUNCTIONS = {
    "attribute_exists holds": filtered(("attribute_exists(ss)", True)),
    "attribute_exists fails": filtered(("attribute_exists(nope)", False)),
    "attribute_not_exists holds": filtered(("attribute_not_exists(nope)", True)),
    "attribute_not_exists fails": filtered(("attribute_not_exists(ss)", False)),
    "NOT attribute_exists": filtered(("NOT attribute_exists(nope)", True)),
    "any case": filtered(("ATTRIBUTE_EXISTS(ss)", True)),
    "OR and parentheses": filtered(("(attribute_exists(nope) OR attribute_exists(ss))", True)),
    "compared with true": filtered(("attribute_exists(ss) = true", True)),
    "a quoted name": filtered(('attribute_exists("ss")', True)),
    "a nested path": filtered(("attribute_exists(m.sub)", True)),
    "an absent nested path": filtered(("attribute_exists(m.nope)", False)),
    "without a key": [
        stored("hash", ITEM),
        selected('SELECT pk FROM "hash" WHERE attribute_exists(marker)', {"pk": s("i")}),
    ],
    "size": filtered(("size(s) = 3", True), ("size(s) = 4", False)),
    "attribute_type": filtered(
        ("attribute_type(ss, 'SS')", True), ("attribute_type(ss, 'S')", False)
    ),
    "IS NULL": filtered(("nul IS NULL", True), ("s IS NULL", False)),
    "IS NOT NULL": filtered(("s IS NOT NULL", True), ("nul IS NOT NULL", False)),
    "IS with a type": filtered(("flag IS BOOL", True), ("s IS STRING", True), ("s IS BOOL", False)),
    "UPDATE, the condition holds": updated(
        "UPDATE \"hash\" SET z = 1 WHERE pk = 'w' AND attribute_exists(a)", {**WRITTEN, "z": n(1)}
    ),
    "UPDATE, the condition fails": updated(
        "UPDATE \"hash\" SET z = 2 WHERE pk = 'w' AND attribute_exists(nope)", WRITTEN, CONDITION
    ),
    "UPDATE once": [
        *updated(
            "UPDATE \"hash\" SET y = 1 WHERE pk = 'w' AND attribute_not_exists(y)",
            {**WRITTEN, "y": n(1)},
        ),
        fails(
            "UPDATE \"hash\" SET y = 2 WHERE pk = 'w' AND attribute_not_exists(y)",
            code=CONDITION,
        ),
    ],
    "DELETE, the condition fails": updated(
        "DELETE FROM \"hash\" WHERE pk = 'w' AND attribute_exists(nope)", WRITTEN, CONDITION
    ),
    "DELETE, the condition holds": updated(
        "DELETE FROM \"hash\" WHERE pk = 'w' AND attribute_not_exists(nope)", None
    ),
    "UPDATE of no item": [
        fails(
            "UPDATE \"hash\" SET z = 1 WHERE pk = 'none' AND attribute_not_exists(pk)",
            code=CONDITION,
        ),
        kept("hash", key("none"), None),
    ],
    "in a transaction": [
        stored("hash", WRITTEN),
        accepted(
            "ExecuteTransaction",
            {
                "TransactStatements": [
                    statement("UPDATE \"hash\" SET z = 1 WHERE pk = 'w' AND attribute_exists(a)")
                ]
            },
            Responses=[],
        ),
        kept("hash", key("w"), {**WRITTEN, "z": n(1)}),
    ],
}
SELECT_ITEM = "SELECT * FROM \"hash\" WHERE pk = 'i' AND "
NEEDS_PATH = "Operator or function requires a document path; operator or function: attribute_exists"
OPERANDS = (
    "Incorrect number of operands for operator or function; operator or function: "
    "attribute_exists, number of operands: "
)
WRONG_TYPE = "An operand in the update expression has an incorrect data type"
SETS = {
    "pk": s("i"),
    "ss": {"SS": ["a", "b", "c"]},
    "ns": {"NS": ["1", "2", "3"]},
    "s": s("str"),
    "m": {"M": {"inner": {"SS": ["x"]}}},
}


def at(text, token, start=0):
    """Return where a token stands, as messages say it."""
    return f"1:{text.index(token, start) + 1}:{len(token)}"


def placed(text, message, token, after=""):
    """Return a statement whose message ends with the place of a token."""
    start = text.index(after) if after else 0
    return [stored("hash", SETS), fails(text, f"{message} at {at(text, token, start)}")]


def setting(clause):
    return f"UPDATE \"hash\" SET {clause} WHERE pk = 'i'"


def told(text, message, *parameters):
    return [stored("hash", SETS), fails(text, message, *parameters)]


def same(function):
    return f"The first argument to {function} must equal the assignment value"


def not_a_set(function):
    return f"The second argument to {function} must be a value with type SET"


FUNCTION_MESSAGES = {
    "a text": told(SELECT_ITEM + "attribute_exists('ss')", NEEDS_PATH),
    "a parameter": told(SELECT_ITEM + "attribute_exists(?)", NEEDS_PATH, s("ss")),
    "no operand": told(SELECT_ITEM + "attribute_exists()", OPERANDS + "0"),
    "two operands": told(SELECT_ITEM + "attribute_exists(ss, ns)", OPERANDS + "2"),
    "in a projection": placed(
        "SELECT attribute_exists(ss) FROM \"hash\" WHERE pk = 'i'",
        "Unexpected path component",
        "attribute_exists",
    ),
    "EXISTS of a path": placed(
        SELECT_ITEM + "EXISTS(ss)", "Unrecognized function: exists", "EXISTS"
    ),
    "inner": told(
        SELECT_ITEM + "attribute_exists(m.inner)", ILL_FORMED + "Invalid path dot component"
    ),
    "a SELECT of a transaction": [
        refused(
            "ExecuteTransaction",
            {"TransactStatements": [statement(SELECT_ITEM + "attribute_exists(ss)")]},
            "Validation failed in TransactStatements[0]: Select statements within "
            "ExecuteTransaction must specify the primary key in the where clause.",
        )
    ],
    "a SELECT of a batch": [
        accepted(
            "BatchExecuteStatement",
            {"Statements": [statement(SELECT_ITEM + "attribute_exists(ss)")]},
            Responses=[
                {
                    "Error": {
                        "Code": "ValidationError",
                        "Message": "Select statements within BatchExecuteStatement must specify "
                        "the primary key in the where clause.",
                    }
                }
            ],
        )
    ],
    "EXISTS without a condition": [
        refused(
            "ExecuteTransaction",
            {
                "TransactStatements": [
                    statement("EXISTS(SELECT * FROM \"hash\" WHERE pk = 'i')"),
                    statement("UPDATE \"hash\" SET z = 1 WHERE pk = 'none'"),
                ]
            },
            "Validation failed in TransactStatements[0]: EXISTS() must contain a single item read "
            "with additional condition",
        )
    ],
    "set_add to another attribute": placed(
        setting("t = set_add(ss, <<'x'>>)"), same("SET_ADD"), "set_add"
    ),
    "set_add of no path": placed(
        setting("ss = set_add(<<'a'>>, <<'b'>>)"), same("SET_ADD"), "set_add"
    ),
    "set_add of a text": placed(
        setting("ss = set_add(ss, 'x')"), not_a_set("SET_ADD"), "ss", "set_add("
    ),
    "set_add of a list": placed(
        setting("ss = set_add(ss, ['x'])"), not_a_set("SET_ADD"), "ss", "set_add("
    ),
    "set_add of one": placed(
        setting("ss = set_add(ss)"), "SET_ADD must have exactly two arguments", "set_add"
    ),
    "set_add of three": placed(
        setting("ss = set_add(ss, <<'x'>>, <<'y'>>)"),
        "SET_ADD must have exactly two arguments",
        "set_add",
    ),
    "set_add of a number": told(setting("ss = set_add(ss, <<1>>)"), WRONG_TYPE),
    "set_add to a text": told(setting("s = set_add(s, <<'x'>>)"), WRONG_TYPE),
    "set_add of a repeat": told(
        setting("ss = set_add(ss, <<'x', 'x'>>)"),
        INVALID + "Input collection [x, x] contains duplicates.",
    ),
    "set_add of nothing": told(setting("ss = set_add(ss, <<>>)"), "Empty bags are not supported"),
    "set_add below inner": told(
        setting("m.inner = set_add(m.inner, <<'y'>>)"), ILL_FORMED + "Invalid path dot component"
    ),
    "set_add in WHERE": placed(
        SELECT_ITEM + "set_add(ss, <<'x'>>) = ss", "Unrecognized function: set_add", "set_add"
    ),
    "set_add in INSERT": placed(
        "INSERT INTO \"hash\" VALUE {'pk': 'x', 'ss': set_add(<<'a'>>, <<'b'>>)}",
        "Unsupported data type: set_add under key root",
        "set_add",
    ),
    "set_delete from another attribute": placed(
        setting("t = set_delete(ss, <<'a'>>)"), same("SET_DELETE"), "set_delete"
    ),
    "set_delete of a text": placed(
        setting("ss = set_delete(ss, 'a')"), not_a_set("SET_DELETE"), "ss", "set_delete("
    ),
    "set_delete of a number": told(setting("ss = set_delete(ss, <<1>>)"), WRONG_TYPE),
}


def binary(*numbers):
    return {"BS": [base64.b64encode(bytes([number])).decode() for number in numbers]}


HOLDER = {
    "pk": s("i"),
    "ss": {"SS": ["a", "b", "c"]},
    "ns": {"NS": ["1", "2", "3"]},
    "bs": binary(1, 2),
    "s": s("str"),
}


def sets(clause, *parameters, **attributes):
    """Return the steps of an update of the sets, and what it leaves of them."""
    left = {name: value for name, value in (HOLDER | attributes).items() if value is not None}
    text = f"UPDATE \"hash\" SET {clause} WHERE pk = 'i'"
    return [stored("hash", HOLDER), run(text, *parameters, Items=[]), kept("hash", key("i"), left)]


ADD_T = "UPDATE \"hash\" SET ss = set_add(ss, <<'t'>>) WHERE pk = 'i'"
ADDED_T = kept("hash", key("i"), HOLDER | {"ss": {"SS": ["a", "b", "c", "t"]}})
SET_FUNCTIONS = {
    "texts": sets("ss = set_add(ss, <<'0', 'z'>>)", ss={"SS": ["0", "a", "b", "c", "z"]}),
    "numbers": sets("ns = set_add(ns, <<4, 1>>)", ns={"NS": ["1", "2", "3", "4"]}),
    "a parameter": sets("bs = set_add(bs, ?)", binary(1, 3), bs=binary(1, 2, 3)),
    "a member that is there": sets("ss = set_add(ss, <<'a'>>)"),
    "a missing attribute": sets("nss = set_add(nss, <<'x'>>)", nss={"SS": ["x"]}),
    "any case": sets("ss = SET_ADD(ss, <<'x'>>)", ss={"SS": ["a", "b", "c", "x"]}),
    "two clauses": sets(
        "ss = set_add(ss, <<'x'>>) SET ns = set_add(ns, <<9>>)",
        ss={"SS": ["a", "b", "c", "x"]},
        ns={"NS": ["1", "2", "3", "9"]},
    ),
    "returned": [
        stored("hash", HOLDER),
        run(
            "UPDATE \"hash\" SET ss = set_add(ss, <<'r'>>) WHERE pk = 'i' RETURNING ALL NEW *",
            Items=[HOLDER | {"ss": {"SS": ["a", "b", "c", "r"]}}],
        ),
    ],
    "a missing item": [
        fails("UPDATE \"hash\" SET ss = set_add(ss, <<'x'>>) WHERE pk = 'i'", code=CONDITION),
        kept("hash", key("i"), None),
    ],
    "set_delete": sets("ss = set_delete(ss, <<'a'>>)", ss={"SS": ["b", "c"]}),
    "set_delete of a number": sets("ns = set_delete(ns, <<2>>)", ns={"NS": ["1", "3"]}),
    "set_delete of all": sets("ss = set_delete(ss, <<'a', 'b', 'c'>>)", ss=None),
    "set_delete of none": sets("ss = set_delete(ss, <<'zz'>>)"),
    "set_delete of a missing attribute": sets("nss = set_delete(nss, <<'a'>>)"),
    "in a transaction": [
        stored("hash", HOLDER),
        accepted("ExecuteTransaction", {"TransactStatements": [statement(ADD_T)]}, Responses=[]),
        ADDED_T,
    ],
    "in a batch": [
        stored("hash", HOLDER),
        accepted(
            "BatchExecuteStatement",
            {"Statements": [statement(ADD_T)]},
            Responses=[{"TableName": "hash"}],
        ),
        ADDED_T,
    ],
}
ROWS = [stored("pair", {"pk": s("p"), "sk": s(sk)}) for sk in "123"]


def overlapping(left, *sort_keys):
    text = f"SELECT sk FROM \"pair\" WHERE {left} OR pk = 'p' AND sk = '2'"
    return [*ROWS, selected(text, *({"sk": s(sk)} for sk in sort_keys))]


OVERLAP = {
    "NOT sk =": overlapping("pk = 'p' AND NOT sk = '1'", "2", "3"),
    "sk <>": overlapping("pk = 'p' AND sk <> '1'", "2", "3"),
    "NOT begins_with": overlapping("pk = 'p' AND NOT begins_with(sk, 'x')", "1", "2", "3"),
    "NOT sk IN": overlapping("pk = 'p' AND NOT sk IN ['1', '3']", "2"),
    "NOT sk >": overlapping("pk = 'p' AND NOT sk > '5'", "1", "2", "3"),
    "NOT (sk =)": overlapping("pk = 'p' AND NOT (sk = '1')", "2", "3"),
    "a bare partition": [
        *ROWS,
        selected(
            "SELECT sk FROM \"pair\" WHERE pk = 'p' OR pk = 'p' AND NOT sk = '1'",
            *({"sk": s(sk)} for sk in "123"),
        ),
    ],
}
SEEDED = [stored("hash", {**key(pk), "a": n(1)}) for pk in "uvw"]


def transacted(*texts, **members):
    request = {"TransactStatements": [statement(text) for text in texts]}
    return [*SEEDED, accepted("ExecuteTransaction", request | members, Responses=[])]


WRITE_RESPONSES = {
    "INSERT": [run("INSERT INTO \"hash\" VALUE {'pk': 'x'}", Items=[])],
    "UPDATE": [*SEEDED, run("UPDATE \"hash\" SET a = 2 WHERE pk = 'u'", Items=[])],
    "DELETE": [*SEEDED, run("DELETE FROM \"hash\" WHERE pk = 'u'", Items=[])],
    "DELETE of none": [run("DELETE FROM \"hash\" WHERE pk = 'never'", Items=[])],
    "two updates": transacted(
        "UPDATE \"hash\" SET a = 2 WHERE pk = 'u'", "UPDATE \"hash\" SET a = 2 WHERE pk = 'v'"
    ),
    "INSERT and DELETE": transacted(
        "INSERT INTO \"hash\" VALUE {'pk': 'new'}", "DELETE FROM \"hash\" WHERE pk = 'w'"
    ),
    "with its capacity": transacted(
        "UPDATE \"hash\" SET a = 3 WHERE pk = 'u'", ReturnConsumedCapacity="TOTAL"
    ),
}
OLD = {**key("f"), "a": n(1), "b": s("bee")}


def from_first(clauses, *parameters, **attributes):
    left = {name: value for name, value in (OLD | attributes).items() if value is not None}
    text = f'FROM "hash" WHERE {clauses}'
    return [stored("hash", OLD), run(text, *parameters, Items=[]), kept("hash", key("f"), left)]


SET_C = "FROM \"hash\" WHERE pk = 'f' SET c = 1"
FROM_FIRST = {
    "SET": from_first("pk = 'f' SET c = 1", c=n(1)),
    "REMOVE": from_first("pk = 'f' REMOVE b", b=None),
    "SET and REMOVE": from_first("pk = 'f' SET c = 2 REMOVE a", c=n(2), a=None),
    "RETURNING": [
        stored("hash", OLD),
        run(
            "FROM \"hash\" WHERE pk = 'f' SET d = 3 RETURNING ALL NEW *", Items=[OLD | {"d": n(3)}]
        ),
    ],
    "any case": [
        stored("hash", OLD),
        run("from \"hash\" where pk = 'f' set e = 4", Items=[]),
        kept("hash", key("f"), OLD | {"e": n(4)}),
    ],
    "parameters": from_first("pk = ? SET c = ?", s("f"), n(7), c=n(7)),
    "a condition that holds": from_first("pk = 'f' AND a = 1 SET c = 5", c=n(5)),
    "a condition that fails": [
        stored("hash", OLD),
        fails("FROM \"hash\" WHERE pk = 'f' AND a = 2 SET c = 5", code=CONDITION),
        kept("hash", key("f"), OLD),
    ],
    "no item": [fails(SET_C, code=CONDITION), kept("hash", key("f"), None)],
    "in a transaction": [
        stored("hash", OLD),
        accepted("ExecuteTransaction", {"TransactStatements": [statement(SET_C)]}, Responses=[]),
        kept("hash", key("f"), OLD | {"c": n(1)}),
    ],
    "in a batch": [
        stored("hash", OLD),
        accepted(
            "BatchExecuteStatement",
            {"Statements": [statement(SET_C)]},
            Responses=[{"TableName": "hash"}],
        ),
        kept("hash", key("f"), OLD | {"c": n(1)}),
    ],
}
POSITIONS = {
    "a comparison": "SELECT * FROM \"pair\" WHERE pk = 'p' AND n = ?",
    "INSERT": "INSERT INTO \"pair\" VALUE {'pk': 'p', 'sk': 's', 'n': ?}",
    "SET": "UPDATE \"pair\" SET n = ? WHERE pk = 'p' AND sk = 's'",
    "a key": 'SELECT * FROM "pair" WHERE pk = ?',
}
UNREADABLE = ("1e99999999999", "-1e99999999999", "1e-99999999999", "1e2147483648", "1e-2147483648")
COMPARISON = POSITIONS["a comparison"]
BAD = {"N": "1e99999999999"}
BAD_TEXT = f"{NO_NUMBER}: 1e99999999999"
BOTH = "SELECT * FROM \"pair\" WHERE pk = 'p' AND x = ? AND y = ?"
LONE = "SELECT * FROM \"pair\" WHERE pk = 'p' AND x = ?"


def deep_leaf(levels, leaf):
    value = leaf
    for _ in range(levels):
        value = {"M": {"n": value}}
    return value


def batch_error(text, *parameters, message):
    request = {"Statements": [statement(text, Parameters=list(parameters))]}
    error = {"Code": "ValidationError", "Message": message}
    return Step("BatchExecuteStatement", request, {"Responses": [{"Error": error}]})


PARAMETER_NUMBERS = {
    **{
        f"{written} in {position}": [fails(text, f"{NO_NUMBER}: {written}", {"N": written})]
        for written in UNREADABLE
        for position, text in POSITIONS.items()
    },
    **{
        f"1e2147483647 in {position}": [fails(text, UNDERFLOW, {"N": "1e2147483647"})]
        for position, text in POSITIONS.items()
    },
    **{
        f"empty in {position}": [fails(text, NO_NUMBER, {"N": ""})]
        for position, text in POSITIONS.items()
    },
    "in a list": [fails(COMPARISON, BAD_TEXT, {"L": [n(1), BAD]})],
    "in a map": [fails(COMPARISON, BAD_TEXT, {"M": {"x": BAD}})],
    "in a set": [fails(COMPARISON, BAD_TEXT, {"NS": ["1", "1e99999999999"]})],
    "in a transaction": [
        refused(
            "ExecuteTransaction",
            {"TransactStatements": [statement(POSITIONS["SET"], Parameters=[BAD])]},
            BAD_TEXT,
        )
    ],
    "in a batch": [
        batch_error(
            "SELECT * FROM \"pair\" WHERE pk = 'p' AND sk = 's' AND n = ?", BAD, message=BAD_TEXT
        )
    ],
    **{
        f"{levels} levels, {name}": steps
        for levels in (40, 100)
        for name, steps in {
            "before": [fails(BOTH, TOO_DEEP, deep(levels), {"N": "abc"})],
            "after": [fails(BOTH, f"{NO_NUMBER}: abc", {"N": "abc"}, deep(levels))],
            "before, in a map": [
                fails(LONE, TOO_DEEP, {"M": {"d": deep(levels), "bad": {"N": "abc"}}})
            ],
            "after, in a map": [
                fails(LONE, f"{NO_NUMBER}: abc", {"M": {"bad": {"N": "abc"}, "d": deep(levels)}})
            ],
            "around": [fails(LONE, TOO_DEEP, deep_leaf(levels, {"N": "abc"}))],
            "before too large a number": [fails(BOTH, TOO_DEEP, deep(levels), {"N": "1e126"})],
            "in a transaction": [
                refused(
                    "ExecuteTransaction",
                    {
                        "TransactStatements": [
                            statement(
                                "UPDATE \"pair\" SET x = ? SET y = ? WHERE pk = 'p' AND sk = '1'",
                                Parameters=[deep(levels), {"N": "abc"}],
                            )
                        ]
                    },
                    TOO_DEEP,
                )
            ],
            "in a batch": [batch_error(BOTH, deep(levels), {"N": "abc"}, message=TOO_DEEP)],
        }.items()
    },
}
KINDS = {
    "SS": ({"SS": ["a", "b", "c"]}, {"SS": ["a", "b", "d"]}, {"SS": ["c", "a", "b"]}, True),
    "NS": ({"NS": ["1", "2", "3"]}, {"NS": ["1", "2", "4"]}, {"NS": ["3", "1", "2"]}, True),
    "BS": (binary(1, 2), binary(1, 3), binary(2, 1), True),
    "L": ({"L": [s("a"), s("b")]}, {"L": [s("a"), s("c")]}, {"L": [s("b"), s("a")]}, False),
    "M": (
        {"M": {"x": n(1), "y": n(2)}},
        {"M": {"x": n(1), "y": n(3)}},
        {"M": {"y": n(2), "x": n(1)}},
        True,
    ),
    "B": ({"B": "AQID"}, {"B": "AQIE"}, None, None),
    "NULL": ({"NULL": True}, s("not null"), None, None),
}
FOUND = {"pk": s("c")}


def matches(operator, value, holds):
    text = f'SELECT pk FROM "hash" WHERE pk = ? AND val {operator} ?'
    return run(text, s("c"), value, Items=[FOUND] if holds else [])


def guarded(operator, value, holds):
    request = {
        "TableName": "hash",
        "Key": key("c"),
        "UpdateExpression": "SET marker = :m",
        "ConditionExpression": f"val {operator} :v",
        "ExpressionAttributeValues": {":m": n(1), ":v": value},
    }
    if holds:
        return accepted("UpdateItem", request)
    return refused("UpdateItem", request, code=CONDITION)


def compared(stored_value, *steps):
    return [stored("hash", {**FOUND, "val": stored_value}), *steps]


UNORDERED = {
    "BOOL": {"BOOL": True},
    "NULL": {"NULL": True},
    "L": {"L": [s("a")]},
    "M": {"M": {"a": s("b")}},
    "SS": {"SS": ["a"]},
    "NS": {"NS": ["1"]},
    "BS": binary(1),
}
OF_TYPE = (
    "Incorrect operand type for operator or function; operator or function: {}, operand type: {}"
)
ORDERING = 'SELECT pk FROM "hash" WHERE pk = ? AND val {} ?'
COMPARISONS = {
    **{
        f"{kind} {name}": steps
        for kind, (same_value, other, permuted, is_same) in KINDS.items()
        for name, steps in {
            "equal": compared(same_value, matches("=", same_value, True)),
            "different": compared(same_value, matches("=", other, False)),
            "<>": compared(
                same_value, matches("<>", same_value, False), matches("<>", other, True)
            ),
            "agrees": compared(
                same_value,
                guarded("=", same_value, True),
                guarded("=", other, False),
                guarded("<>", same_value, False),
                guarded("<>", other, True),
            ),
            **(
                {"permuted": compared(same_value, matches("=", permuted, is_same))}
                if permuted
                else {}
            ),
        }.items()
    },
    **{
        f"< {kind}": [fails(ORDERING.format("<"), OF_TYPE.format("<", kind), s("c"), value)]
        for kind, value in UNORDERED.items()
    },
    **{
        f"{operator} as written": [
            fails(
                ORDERING.format(operator), OF_TYPE.format(operator, "BOOL"), s("c"), {"BOOL": True}
            )
        ]
        for operator in ("<", "<=", ">", ">=")
    },
    "BETWEEN as written": [
        fails(
            'SELECT pk FROM "hash" WHERE pk = ? AND val BETWEEN ? AND ?',
            OF_TYPE.format("BETWEEN", "BOOL"),
            s("c"),
            {"BOOL": True},
            {"BOOL": False},
        )
    ],
    **{
        f"= and <> {kind}": compared(
            {"B": "AQID"}, matches("=", value, False), matches("<>", value, True)
        )
        for kind, value in UNORDERED.items()
    },
    "text and number": compared(s("x"), matches("<", n(5), False)),
    "bytes": compared(
        {"B": "AQID"}, matches("<", {"B": "AQIE"}, True), matches(">", {"B": "AQIE"}, False)
    ),
    "a write that holds": compared(
        {"SS": ["a", "b"]},
        run(
            "UPDATE \"hash\" SET touched = 'yes' WHERE pk = ? AND val = ?",
            s("c"),
            {"SS": ["b", "a"]},
            Items=[],
        ),
    ),
    "a write that fails": compared(
        {"M": {"x": n(1)}},
        fails(
            "UPDATE \"hash\" SET touched = 'yes' WHERE pk = ? AND val = ?",
            None,
            s("c"),
            {"M": {"x": n(2)}},
            code=CONDITION,
        ),
    ),
}

FILES = {
    "tier2/partiql/grammar": GRAMMAR,
    "tier3/error-messages/partiqlGrammar": GRAMMAR_MESSAGES,
    "tier2/partiql/whereFunctions": WHERE_FUNCTIONS,
    "tier3/error-messages/partiqlFunctions": FUNCTION_MESSAGES,
    "tier2/partiql/setFunctions": SET_FUNCTIONS,
    "tier2/partiql/whereOverlap": OVERLAP,
    "tier2/partiql/writeResponses": WRITE_RESPONSES,
    "tier2/partiql/fromFirstUpdate": FROM_FIRST,
    "tier3/error-messages/partiqlParameterNumbers": PARAMETER_NUMBERS,
    "tier2/partiql/comparison": COMPARISONS,
}
