"""What a statement says, and what is wrong with it before any table is looked at."""

from decimal import Decimal

import pytest

from emulator.expressions import render
from emulator.model import NumberSet, StringSet
from emulator.partiql.ast import Delete, Exists, FromSource, Insert, Order, Select, UpdateStatement
from emulator.partiql.parser import parse
from emulator.service.errors import ValidationException
from tests.each import each

NOT_WELL_FORMED = "Statement wasn't well formed, can't be processed: "
LEFT_OVER = NOT_WELL_FORMED + "Unexpected token after expression"
INVALID = "One or more parameter values were invalid: "
OVERFLOW = (
    "Number overflow. Attempting to store a number with magnitude larger than supported range"
)
UNDERFLOW = (
    "Number underflow. Attempting to store a number with magnitude smaller than supported range"
)

NO_RIGHT_SIDE = "Missing right-hand side expression of infix operator"
TARGET = "The first argument to SET_ADD must equal the assignment value at "
OPERAND = "The second argument to SET_ADD must be a value with type SET at "
INDEX = "List index is not within the allowable range; index: "
CONDITION_OPERATOR = "Unsupported operator in Condition Expression. Operator: "


def fault(text):
    with pytest.raises(ValidationException) as caught:
        parse(text)
    return caught.value.message


def spelled(parsed, node):
    """Return a tree as text, with names and values for placeholders."""
    written = render(node)
    meanings = {**parsed.names, **{key: str(value) for key, value in parsed.constants.items()}}
    for key in sorted(meanings, key=len, reverse=True):
        written = written.replace(key, meanings[key])
    return written


def where(condition):
    parsed = parse(f"SELECT * FROM t WHERE {condition}")
    return spelled(parsed, parsed.where)


def values(literal):
    parsed = parse(f"INSERT INTO t VALUE {{'a': {literal}}}")
    return parsed.constants[":c0"]


# Statements


def test_a_select_of_everything():
    """PQL-2."""
    parsed = parse("SELECT * FROM t")
    assert parsed.statement == Select(
        source=FromSource(table="t"), columns=None, where=None, order=()
    )
    assert (parsed.names, parsed.constants, parsed.parameters) == ({}, {}, 0)


def test_a_select_of_columns_from_an_index_in_order():
    """PQL-2, PQL-3, PQL-6."""
    text = 'select "a", b.c, l[0], m.k[1], n[\'x y\'] from "t"."i" order by sk desc, pk asc, b;'
    statement = parse(text).statement
    assert isinstance(statement, Select)
    assert statement.source == FromSource(table="t", index="i")
    assert statement.columns.names == ("a", "c", "l[0]", "k[1]", "x y")
    assert statement.columns.projection.paths == (
        ("a",), ("b", "c"), ("l", 0), ("m", "k", 1), ("n", "x y"),
    )  # fmt: skip
    assert statement.order == (
        Order(name="sk", descending=True),
        Order(name="pk", descending=False),
        Order(name="b", descending=False),
    )


def test_an_insert_has_values_and_parameters():
    """PQL-2, PQL-4."""
    parsed = parse("INSERT INTO t VALUE {'a': ?, 'b': 1, 'c': ?}")
    assert parsed.statement == Insert(
        table="t", attributes=(("a", ":p0"), ("b", ":c0"), ("c", ":p1"))
    )
    assert parsed.constants == {":c0": Decimal(1)}
    assert parsed.parameters == 2


def test_an_update_gathers_its_clauses():
    """PQL-2: SET and REMOVE may come again and again; set functions become ADD and DELETE."""
    parsed = parse(
        "UPDATE t SET a = a + 1, b = list_append(b, [2]) REMOVE c[0] SET d = set_add(d, <<'x'>>) "
        "SET e = set_delete(e, ?) REMOVE f WHERE pk = 'k' RETURNING MODIFIED OLD *"
    )
    statement = parsed.statement
    assert isinstance(statement, UpdateStatement)
    assert spelled(parsed, statement.actions) == (
        f"SET a = a + 1, b = list_append(b, {(Decimal(2),)}) REMOVE c[0], f "
        f"ADD d {StringSet({'x'})} DELETE e :p0"
    )
    assert statement.returning == "UPDATED_OLD"
    assert spelled(parsed, statement.where) == "pk = k"


def test_an_update_may_name_its_table_first():
    """PQL-2."""
    first = parse("FROM t WHERE pk = 'k' SET a = 1 REMOVE b RETURNING ALL NEW *")
    last = parse("UPDATE t SET a = 1 REMOVE b WHERE pk = 'k' RETURNING ALL NEW *")
    assert spelled(first, first.statement.actions) == spelled(last, last.statement.actions)
    assert spelled(first, first.where) == spelled(last, last.where)
    assert first.statement.returning == last.statement.returning == "ALL_NEW"


def test_a_delete():
    """PQL-2."""
    statement = parse("DELETE FROM t WHERE pk = 'k' RETURNING ALL OLD *").statement
    assert isinstance(statement, Delete)
    assert (statement.table, statement.returning) == ("t", "ALL_OLD")


def test_exists_holds_a_select():
    """PQL-2."""
    parsed = parse("EXISTS(SELECT * FROM t WHERE pk = 'k' AND a IS MISSING)")
    assert isinstance(parsed.statement, Exists)
    assert spelled(parsed, parsed.where) == "pk = k AND attribute_not_exists(a)"


def test_a_statement_is_read_once():
    assert parse("SELECT * FROM t") is parse("SELECT * FROM t")


# Conditions


@each(
    ("written", "read"),
    [
        ("a = 1 OR b = 2 AND c = 3", "a = 1 OR b = 2 AND c = 3"),
        ("(a = 1 OR b = 2) AND c = 3", "(a = 1 OR b = 2) AND c = 3"),
        ("a = 1 AND b = 2 AND (c = 3 AND d = 4)", "a = 1 AND b = 2 AND c = 3 AND d = 4"),
        ("NOT a = 1 AND b = 2", "NOT a = 1 AND b = 2"),
        ("NOT NOT a = 1", "NOT NOT a = 1"),
        ("a BETWEEN 1 AND 2 AND b = 3", "a BETWEEN 1 AND 2 AND b = 3"),
        ("a NOT BETWEEN 1 AND 2", "NOT a BETWEEN 1 AND 2"),
        ("a IN [1, 2]", "a IN (1, 2)"),
        ("a IN (1, 2)", "a IN (1, 2)"),
        ("a IN <<1, 2>>", "a IN (1, 2)"),
        ("a IN ('x')", "a IN (x)"),
        ("a NOT IN [1]", "NOT a IN (1)"),
        ("a != 1", "a <> 1"),
        ("1 < a", "1 < a"),
        ("a.b[2].c >= 1", "a.b[2].c >= 1"),
        ("BEGINS_WITH(a, 'x')", "begins_with(a, x)"),
        ("contains(a, ?)", "contains(a, :p0)"),
        ("size(a) > 3", "size(a) > 3"),
        ("attribute_type(a, 'SS')", "attribute_type(a, SS)"),
        ("a IS MISSING", "attribute_not_exists(a)"),
        ("a IS NOT MISSING", "NOT attribute_not_exists(a)"),
        ("a IS NULL", "attribute_type(a, NULL)"),
        ("a IS NOT NULL", "NOT attribute_type(a, NULL)"),
        ("a IS BOOL", "attribute_type(a, BOOL)"),
        ("a IS STRING", "attribute_type(a, S)"),
        ("a IS NUMERIC", "attribute_type(a, N)"),
        ("a IS STRUCT", "attribute_type(a, M)"),
        ("a IS LIST", "attribute_type(a, L)"),
        ("a IS BLOB", "attribute_type(a, B)"),
        ("attribute_exists(a) = true", "attribute_exists(a) = True"),
        ("a = - - 1", "a = 1"),
        ("a > -/* c */-1", "a > 1"),
        ("a = +5", "a = 5"),
        ("a>-5", "a > -5"),
    ],
)
def test_conditions_are_trees_of_the_expressions_room(written, read):
    """PQL-2, PQL-24."""
    assert where(written) == read


def test_parts_of_dates_are_names():
    """PQL-3."""
    assert where("year = 1 AND data = 2 AND name = 3") == "year = 1 AND data = 2 AND name = 3"


# Values


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("'it''s'", "it's"),
        ("1E3", Decimal(1000)),
        ("-1.5e-3", Decimal("-0.0015")),
        (".5", Decimal("0.5")),
        ("-0", Decimal(0)),
        ("TRUE", True),
        ("false", False),
        ("NULL", None),
        ("[]", ()),
        ("[1, 'a', [null]]", (Decimal(1), "a", (None,))),
        ("{}", {}),
        ("{'x': {'y': -2}}", {"x": {"y": Decimal(-2)}}),
        ("<<'a', 'b'>>", StringSet({"a", "b"})),
        ("<<1, -2.50>>", NumberSet({Decimal(1), Decimal("-2.5")})),
    ],
)
def test_values_are_read(literal, value):
    """PQL-2."""
    assert values(literal) == value


@each(
    ("literal", "message"),
    [
        ("1e126", f"{OVERFLOW} under root"),
        ("1e-131", f"{UNDERFLOW} under root"),
        ("[1, 1e126]", f"{OVERFLOW} under root[1]"),
        ("{'x': 1e126}", f"{OVERFLOW} under root.x"),
        ("[{'x': [0, -1e126]}]", f"{OVERFLOW} under root[0].x[1]"),
        (
            "123456789012345678901234567890123456789",
            "Attempting to store more than 38 significant digits in a Number under root",
        ),
        ("1e2147483648", NOT_WELL_FORMED),
        ("1e99999999999", NOT_WELL_FORMED),
        ("1e" + "9" * 5000, NOT_WELL_FORMED),
        ("1.5e-2147483647", NOT_WELL_FORMED),
        ("<<>>", "Empty bags are not supported"),
        (
            "<<1, 'a'>>",
            "Unsupported data type in Bag. "
            "DynamoDB only supports either numbers or strings in bags",
        ),
        ("<<'a', 'a'>>", INVALID + "Input collection [a, a] contains duplicates."),
        ("<<2, 2.0>>", INVALID + "Input collection [2, 2.0] contains duplicates! under root"),
        ("[?]", "Unsupported data type: Parameter under key root[0] at 1:28:1"),
        ("{'k': ?}", "Unsupported data type: Parameter under key root.k at 1:33:1"),
        (
            "set_add(<<'a'>>, <<'b'>>)",
            "Unsupported data type: set_add under key root at 1:27:7",
        ),
        ("MISSING", "MISSING must be compared using IS operator"),
        ("{'x': 1, 'x': 2}", "Duplicate keys in tuple. Key: x under root"),
        ("{'': 1}", "Path component cannot be an empty string"),
        (
            "<<?>>",
            "Unsupported data type in Bag. "
            "DynamoDB only supports either numbers or strings in bags at 1:29:1",
        ),
        ("`{a: 1}`", "Ion Literals are not supported: `{a: 1}` under key root at 1:27:8"),
        ("{x: 1}", "Tuple keys must be of type String. Actual type: name under root"),
        ("[1,]", NOT_WELL_FORMED + "Unexpected term"),
        ("[1", NOT_WELL_FORMED + "Unexpected term"),
    ],
)
def test_what_is_wrong_with_a_value(literal, message):
    """PQL-12, PQL-21."""
    assert fault(f"INSERT INTO t VALUE {{'a': {literal}}}") == message


@pytest.mark.parametrize(
    ("literal", "path"),
    [
        ("{'a':" * 32 + "1" + "}" * 32, ".a" * 32),
        ("{'a':" + "[" * 31 + "1" + "]" * 31 + "}", ".a" + "[0]" * 31),
        ("[" * 4000, "[0]" * 32),
    ],
)
def test_a_value_in_too_many_containers(literal, path):
    """TYP-5, with the path that leads to it."""
    assert fault(f"UPDATE t SET d = {literal}") == (
        f"Nesting Levels have exceeded supported limits under root{path}"
    )


def test_a_value_in_just_as_many_containers_as_may_be():
    """TYP-5."""
    value = values("[" * 31 + "1" + "]" * 31)
    for _ in range(31):
        (value,) = value
    assert value == Decimal(1)


# Syntax


@each(
    ("text", "detail"),
    [
        ("SELECT * FROM t WHERE pk = 1 foo", "Unexpected token after expression"),
        ("SELECT * FROM t WHERE pk = 1 e5", "Unexpected token after expression"),
        ("SELECT * FROM t WHERE pk = 1)", "Unexpected token after expression"),
        ("SELECT * FROM t ORDER BY pk WHERE pk = 1", "Unexpected token after expression"),
        ("SELECT * FROM t; SELECT * FROM t", "Unexpected token after expression"),
        ("INSERT INTO t VALUE {'pk': 1} foo", "Unexpected token after expression"),
        ("INSERT INTO t x VALUE {'pk': 1}", "Unexpected token after expression"),
        ("UPDATE t SET a = 9 WHERE pk = 2 foo", "Unexpected token after expression"),
        ("DELETE FROM t WHERE pk = 3 foo", "Unexpected token after expression"),
        ("DELETE FROM t WHERE pk = 4 ORDER BY pk", "Unexpected token after expression"),
        ("FROM t SET c = 1 WHERE pk = 'x'", "Unexpected token after expression"),
        ("SELECT * FROM t WHERE", "Unexpected term"),
        ("SELECT * FROM t WHERE;", "Unexpected term"),
        ("SELECT pk FROM t WHERE   ", "Unexpected term"),
        ("UPDATE t SET a = 1 WHERE", "Unexpected term"),
        ("DELETE FROM t WHERE", "Unexpected term"),
        ("SELECT * FROM t WHERE NOT", "Unexpected term"),
        ("SELECT * FROM t WHERE (", "Unexpected term"),
        ("SELECT * FROM", "Unexpected term"),
        ("SELECT * FROM t WHERE pk = 'p' AND", NO_RIGHT_SIDE),
        ("SELECT * FROM t WHERE pk = 'p' OR", NO_RIGHT_SIDE),
        ("SELECT * FROM t WHERE pk =", NO_RIGHT_SIDE),
        ("SELECT * FROM t WHERE ORDER BY pk", "Unexpected keyword"),
        ("SELECT * FROM t WHERE user = 1", "Unexpected keyword"),
        ("SELECT * FROM t WHERE l[1.5] = 1", "Unexpected term"),
        ("INSERT INTO t (key, a) VALUES (1, 2)", "Unexpected keyword"),
        ("SELECT * FROM t WHERE IS NULL", "Unexpected operator"),
        ("SELECT * FROM t WHERE pk = LIKE", "Unexpected operator"),
        ("SELECT * FROM t WHERE x IS FOO", "Expected type name"),
        ("DELETE FROM", "Expected identifier for simple path"),
        ("DELETE FROM;", "Expected identifier for simple path"),
        ("DELETE FROM WHERE pk = 'a'", "Expected identifier for simple path"),
        ("SELECT * FROM t WHERE attribute_exists(m.inner)", "Invalid path dot component"),
        ("UPDATE t SET m.inner = 1", "Invalid path dot component"),
        ("SLECT * FROM t", "Expected data manipulation"),
        ("x IS FOO", "Expected type name"),
        ("x IS INT4 y", "Unexpected token after expression"),
        ("x IS NOT INT4", "Expected data manipulation"),
        ("x = 1", "Expected data manipulation"),
        ("UPDATE Payment-x SET a = 1", "Expected data manipulation"),
        ("UPDATE t WHERE pk = 1", "Expected data manipulation"),
        ("FROM t WHERE pk = 1", "Expected data manipulation"),
        ("   ", "Expected data manipulation"),
    ],
)
def test_a_statement_that_cannot_be_read(text, detail):
    """PQL-11, every detail that was seen."""
    assert fault(text) == NOT_WELL_FORMED + detail


# Faults of statements that can be read


@each(
    ("text", "message"),
    [
        ("SELECT * FROM t x WHERE pk = 1", "Aliasing is not supported"),
        ("SELECT * FROM t AS x WHERE pk = 1", "Aliasing is not supported"),
        ("UPDATE t x SET a = 1 WHERE pk = 1", "Aliasing is not supported"),
        ("DELETE FROM t x WHERE pk = 1", "Aliasing is not supported"),
        ("SELECT * FROM a.b.c", "A path may contain at most 2 components in the FROM clause"),
        ('SELECT * FROM t.""', "Path component cannot be an empty string"),
        ('SELECT * FROM ""', "Path component cannot be an empty string"),
        ("SELECT * FROM t, u", "Only select from a single table or index is supported."),
        ("SELECT * FROM t LIMIT 1", "Unsupported clause: LIMIT"),
        ("UPDATE t.i SET a = 1 WHERE pk = 1", "This operation is not supported on an index"),
        ("DELETE FROM t.i WHERE pk = 1", "This operation is not supported on an index"),
        (
            "INSERT INTO t.i VALUE {'pk': 1}",
            "FROM clause may only contain a single table name in data manipulation statements",
        ),
        (
            "INSERT INTO t VALUE 'x'",
            "Unsupported format in item expression. "
            "Please use struct format {...} to express item values for insert statement.",
        ),
        (
            "INSERT INTO t VALUE {'pk': 1} RETURNING ALL OLD *",
            "RETURNING is not supported in INSERT",
        ),
        (
            "DELETE FROM t WHERE pk = 1 RETURNING ALL NEW *",
            "Invalid returning clause: RETURNING ALL NEW *. "
            "Only RETURNING ALL OLD * is allowed in DELETE statements.",
        ),
        (
            "DELETE FROM t WHERE pk = 1 RETURNING MODIFIED OLD *",
            "Invalid returning clause: RETURNING MODIFIED OLD *. "
            "Only RETURNING ALL OLD * is allowed in DELETE statements.",
        ),
        (
            "DELETE FROM t WHERE pk = 1 RETURNING MODIFIED NEW *",
            "Invalid returning clause: RETURNING MODIFIED NEW *. "
            "Only RETURNING ALL OLD * is allowed in DELETE statements.",
        ),
        (
            "DELETE FROM t WHERE pk = 1 RETURNING ALL OLD",
            "Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause",
        ),
        (
            "SELECT * FROM t WHERE pk",
            "WHERE clause must contain an expression that resolves to a boolean",
        ),
        ("SELECT * FROM t WHERE a = 1 AND b", "The arguments to AND/OR must be Expressions"),
        ("SELECT * FROM t WHERE NOT a", "The argument to NOT must be a Type or Expression"),
        (
            "SELECT * FROM t WHERE size(a)",
            "WHERE clause must contain an expression that resolves to a boolean",
        ),
        (
            "SELECT * FROM t WHERE a = 1 + 2",
            CONDITION_OPERATOR + "+",
        ),
        ("SELECT * FROM t WHERE a > -b", CONDITION_OPERATOR + "-"),
        (
            "SELECT * FROM t WHERE a LIKE 'x'",
            CONDITION_OPERATOR + "LIKE",
        ),
        ("UPDATE t SET a = b = c", "Unsupported operator in Update Expression. Operator: ="),
        (
            "SELECT * FROM t WHERE a IN []",
            "IN operator must have a left hand argument of type Variable Reference and right hand "
            "argument of type Seq with at least one member",
        ),
        (
            "SELECT * FROM t WHERE a IN b",
            "IN operator must have a left hand argument of type Variable Reference and right hand "
            "argument of type Seq with at least one member",
        ),
        (
            "SELECT * FROM t WHERE size(a) IS NULL",
            "The left hand side argument to IS must be a Variable Reference, Literal, or Path",
        ),
        (
            "SELECT * FROM t WHERE a IN [" + ",".join("1" * 101) + "]",
            "The IN operator is provided with too many operands; number of operands: 101",
        ),
        (
            "SELECT * FROM t WHERE a IS BAG",
            "Unsupported data type for IS operator: BAG. Supported data types are "
            "[MISSING, NULL, BOOLEAN, BLOB, STRING, NUMERIC, STRUCT, TUPLE, LIST]",
        ),
        (
            "SELECT * FROM t WHERE a IS DOUBLE PRECISION",
            "Unsupported data type for IS operator: DOUBLE_PRECISION. Supported data types are "
            "[MISSING, NULL, BOOLEAN, BLOB, STRING, NUMERIC, STRUCT, TUPLE, LIST]",
        ),
        ("x IS INT4", "Unsupported operation: IsType"),
        ("x IS INT8", "Unsupported operation: IsType"),
        ("x IS DOUBLE PRECISION", "Unsupported operation: IsType"),
        ("x IS CHARACTER VARYING", "Unsupported operation: IsType"),
        ("a.b IS NULL;", "Unsupported operation: IsType"),
        ("SELECT * FROM t WHERE EXISTS(ss)", "Unrecognized function: exists at 1:23:6"),
        (
            "SELECT * FROM t\nWHERE a = 1\n AND set_add(ss, <<'x'>>) = ss",
            "Unrecognized function: set_add at 3:6:7",
        ),
        ("UPDATE t SET a = size(b)", "Unrecognized function: size at 1:18:4"),
        (
            "SELECT * FROM t WHERE attribute_exists(a) > false",
            "Incorrect operand type for operator or function; "
            "operator or function: >, operand type: BOOL",
        ),
        ("SELECT * FROM t WHERE a.*.b = 1", "Unpivot path component like a.*.b are not supported"),
        ("SELECT * FROM t WHERE a[*] = 1", "Wildcard path component like a[*].b are not supported"),
        (
            "UPDATE t REMOVE l[2147483648]",
            INDEX + "[2147483648] at 1:19:10",
        ),
        (
            "SELECT * FROM t WHERE " + "NOT " * 400 + "a = 1",
            "The expression contains too many operators; operator count: 401",
        ),
        (
            "SELECT * FROM t WHERE " + ".".join("a" * 33) + " = 1",
            "The document path has too many nesting levels; nesting levels: 33",
        ),
        (
            "SELECT * FROM t ORDER BY a.b",
            "Argument to ORDER BY must be of type VariableReference. Type: Path",
        ),
    ],
)
def test_a_statement_that_says_what_it_may_not(text, message):
    """PQL-10, PQL-13, PQL-23, PQL-25, and what DynamoDB Local says."""
    assert fault(text) == message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("t = set_add(ss, <<'x'>>)", TARGET + "1:18:7"),
        ("ss = set_add(<<'a'>>, <<'b'>>)", TARGET + "1:19:7"),
        ("ss = set_add(ss, 'x')", OPERAND + "1:27:2"),
        ("ss = set_add(ss, ['x'])", OPERAND + "1:27:2"),
        ('"ss" = set_delete("ss", \'a\')', OPERAND.replace("ADD", "DELETE") + "1:32:4"),
        ("ss = set_add(ss, s)", OPERAND + "1:27:2"),
        ("ss = set_add(ss)", "SET_ADD must have exactly two arguments at 1:19:7"),
        ("ss = set_add(ss, <<'x'>>, <<'y'>>)", "SET_ADD must have exactly two arguments at 1:19:7"),
        ("ss = set_add(ss, <<>>)", "Empty bags are not supported"),
    ],
)
def test_what_set_add_and_set_delete_take(change, message):
    """PQL-21."""
    assert fault(f"UPDATE t SET {change} WHERE pk = 'a'") == message


def test_the_first_fault_of_a_statement_is_told():
    """ERR-PQL-1: but a syntax error comes before all of them."""
    faulty = "SELECT * FROM t WHERE a = 1e126 AND nope(b)"
    assert fault(faulty) == f"{OVERFLOW} under root"
    assert fault(f"{faulty} foo") == LEFT_OVER


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("COUNT(*)", "Unexpected path component at 1:8:5"),
        ("attribute_exists(ss)", "Unexpected path component at 1:8:16"),
        ("a, 'x'", "Unexpected path component at 1:11:3"),
        ("?", "Unexpected path component at 1:8:1"),
        ("a + 1", "Unexpected path component at 1:8:1"),
        ("-a", "Unexpected path component at 1:8:1"),
        ("a AS b", "Aliasing is not supported"),
        ("a b", "Aliasing is not supported"),
        ("a.z, b.z", "Duplicate identifiers in select clause: z"),
        ("*, a", "Other attributes should not be present in the projection when '*' is used."),
        ("VALUE a", "Select projection doesn't support value or pivot keywords"),
        ("l[-1]", INDEX + "[-1] at 1:11:1"),
        ("l[2147483648]", INDEX + "[2147483648] at 1:10:10"),
    ],
)
def test_columns_that_are_no_paths(columns, message):
    """PQL-6: the fault waits until the table is found."""
    assert parse(f"SELECT {columns} FROM t").statement.columns.fault == message


def test_minus_zero_is_an_index():
    """PQL-6."""
    assert parse("SELECT l[-0] FROM t").statement.columns.names == ("l[0]",)
