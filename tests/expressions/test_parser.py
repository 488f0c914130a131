"""LEX-8, EXP-1 to EXP-4 and EXP-8: what parses, to what, and how the rest is refused."""

import pytest

from emulator.expressions.ast import (
    And,
    Arithmetic,
    Between,
    ComparisonTest,
    Function,
    In,
    LiteralValue,
    Not,
    Or,
    Path,
    ProjectionExpression,
    UpdateAction,
    UpdateExpression,
)
from emulator.expressions.parser import parse
from emulator.service.errors import RequestFault
from tests.each import each

CONDITION = "ConditionExpression"
FILTER = "FilterExpression"
KEY = "KeyConditionExpression"
UPDATE = "UpdateExpression"
PROJECTION = "ProjectionExpression"

A, B, C = (Path(parts=(name,)) for name in "abc")
V, W = LiteralValue(name=":v"), LiteralValue(name=":w")


def equals(left, right):
    return ComparisonTest(operator="=", left=left, right=right)


def refusal(kind, text):
    with pytest.raises(RequestFault) as caught:
        parse(kind, text)
    assert caught.value.message is not None
    assert caught.value.message.startswith(f"Invalid {kind}: ")
    return caught.value.message.removeprefix(f"Invalid {kind}: ")


# Trees, compared as they are shown: as tuples, And and Or of the same terms are equal


@pytest.mark.parametrize("operator", ["=", "<>", "<", "<=", ">", ">="])
def test_comparisons(operator):
    tree = ComparisonTest(operator=operator, left=A, right=V)
    assert repr(parse(CONDITION, f"a{operator}:v")) == repr(tree)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a BETWEEN :v AND :w", Between(operand=A, lower=V, upper=W)),
        ("a in (:v)", In(operand=A, choices=(V,))),
        ("a IN (:v, b, (c))", In(operand=A, choices=(V, B, C))),
        ("attribute_exists(a)", Function(name="attribute_exists", operands=(A,))),
        ("contains((a), :v)", Function(name="contains", operands=(A, V))),
        ("size(a) = :v", equals(Function(name="size", operands=(A,)), V)),
        ("(a) = (:v)", equals(A, V)),
        (":v = a", equals(V, A)),
    ],
)
def test_simple_conditions(text, tree):
    assert repr(parse(CONDITION, text)) == repr(tree)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a = :v OR b = :v AND c = :v", lambda a, b, c: Or(terms=(a, And(terms=(b, c))))),
        ("(a = :v OR b = :v) AND c = :v", lambda a, b, c: And(terms=(Or(terms=(a, b)), c))),
        ("NOT a = :v AND b = :v OR c = :v",
         lambda a, b, c: Or(terms=(And(terms=(Not(term=a), b)), c))),
        ("a = :v AND b = :v AND c = :v", lambda a, b, c: And(terms=(a, b, c))),
        ("a = :v AND (b = :v AND c = :v)", lambda a, b, c: And(terms=(a, And(terms=(b, c))))),
        ("NOT NOT a = :v", lambda a, b, c: Not(term=Not(term=a))),
        ("NOT (a = :v OR (b = :v))", lambda a, b, c: Not(term=Or(terms=(a, b)))),
    ],
)  # fmt: skip
def test_not_binds_before_and_and_before_or(text, tree):
    """EXP-1."""
    assert repr(parse(CONDITION, text)) == repr(tree(equals(A, V), equals(B, V), equals(C, V)))


def test_the_and_inside_between_belongs_to_it():
    """EXP-1."""
    tree = parse(CONDITION, "a BETWEEN :v AND :w AND b = :v")
    wanted = And(terms=(Between(operand=A, lower=V, upper=W), equals(B, V)))
    assert repr(tree) == repr(wanted)


def test_paths():
    """LEX-1, EXP-8."""
    tree = parse(PROJECTION, "a, #b.c[0][10] . #d")
    assert tree == ProjectionExpression(paths=(A, Path(parts=("#b", "c", 0, 10, "#d"))))


def test_updates():
    tree = parse(UPDATE, "set a = :v, b = if_not_exists(b, :w) + :v remove c add a :v delete b :w")
    total = Arithmetic(operator="+", left=Function(name="if_not_exists", operands=(B, W)), right=V)
    wanted = UpdateExpression(
        sections=(
            (
                UpdateAction(keyword="SET", path=A, value=V),
                UpdateAction(keyword="SET", path=B, value=total),
            ),
            (UpdateAction(keyword="REMOVE", path=C),),
            (UpdateAction(keyword="ADD", path=A, value=V),),
            (UpdateAction(keyword="DELETE", path=B, value=W),),
        )
    )
    assert repr(tree) == repr(wanted)


@pytest.mark.parametrize(
    "text",
    ["(b + :v) - :w", "((b) + (:v)) - (:w)", "((b + :v) - :w)"],
)
def test_parentheses_group_arithmetic(text):
    """UPD-12."""
    value = Arithmetic(operator="-", left=Arithmetic(operator="+", left=B, right=V), right=W)
    tree = UpdateExpression(sections=((UpdateAction(keyword="SET", path=A, value=value),),))
    assert repr(parse(UPDATE, f"SET a = {text}")) == repr(tree)


# Syntax errors


@each(
    ("kind", "text", "token", "near"),
    [
        # Verified on the service (LEX-8).
        (UPDATE, "INVALID SYNTAX HERE", "INVALID", "INVALID SYNTAX"),
        (PROJECTION, "!!! X", "!", "!!"),
        (UPDATE, "SET a = b c d", "c", "b c d"),
        (UPDATE, "SET a = b + 1", "1", "+ 1"),
        (UPDATE, "SET a = :v,", "<EOF>", ","),
        (CONDITION, "a = = b", "=", "= = b"),
        (KEY, "GI-1-PK = :v", "-", "GI-1"),
        (UPDATE, "set _something = :v", "_", "set _something"),
        (CONDITION, "attribute_not_exists(", "<EOF>", "("),
        # Seen by users of the service in public reports.
        (UPDATE, "SET  REMOVE #Options", "REMOVE", "SET  REMOVE #Options"),
        (UPDATE, "REMOVE #ri :vals", ":vals", "#ri :vals"),
        (CONDITION, "attribute_exists([1])", "[", "([1"),
        (CONDITION, "attribute_type()", ")", "()"),
        # The same rule elsewhere.
        (CONDITION, "a", "<EOF>", "a"),
        (CONDITION, "a AND b = :v", "AND", "a AND b"),
        (CONDITION, "(a) AND b = :v", "AND", ") AND b"),
        (CONDITION, "b = :v OR a", "<EOF>", "a"),
        (CONDITION, "b = :v AND a OR", "OR", "a OR"),
        (CONDITION, "NOT a", "<EOF>", "a"),
        (CONDITION, "NOT (a)", "<EOF>", ")"),
        (CONDITION, "(a = :v) = :w", "=", ") = :w"),
        (CONDITION, "(a = :v) IN (:w)", "IN", ") IN ("),
        (CONDITION, "(a = :v) BETWEEN :v AND :w", "BETWEEN", ") BETWEEN :v"),
        (CONDITION, "a BETWEEN :v OR :w", "OR", ":v OR :w"),
        (CONDITION, "a IN :v", ":v", "IN :v"),
        (CONDITION, "a != :v", "!", "a !="),
        (CONDITION, "a = :v)", ")", ":v)"),
        (CONDITION, "(a = :v", "<EOF>", ":v"),
        (CONDITION, "a[-1] = :v", "-", "[-1"),
        (CONDITION, "a[01] = :v", "1", "01]"),
        (CONDITION, "[0] = :v", "[", "[0"),
        (CONDITION, "a. = :v", "=", ". = :v"),
        (CONDITION, "and = :v", "and", "and ="),
        (PROJECTION, "a,,b", ",", ",,b"),
        (PROJECTION, "(a)", "(", "(a"),
        (PROJECTION, ":a", ":a", ":a"),
        (PROJECTION, "a b", "b", "a b"),
        (UPDATE, "SET a = b + c - d", "-", "c - d"),
        (UPDATE, "ADD a b", "b", "a b"),
        (UPDATE, "DELETE a if_not_exists(b, :v)", "if_not_exists", "a if_not_exists("),
        (UPDATE, "SET :a = b", ":a", "SET :a ="),
        (UPDATE, "SET (a = b)", "(", "SET (a"),
        (UPDATE, "SET a = (b.c).d + e", ".", ").d"),
    ],
)
def test_a_syntax_error_names_its_token_and_surroundings(kind, text, token, near):
    """LEX-8, UPD-12, UPD-17, EXP-8."""
    assert refusal(kind, text) == f'Syntax error; token: "{token}", near: "{near}"'


# Observed: dynalite's tests of scan, getItem and updateItem, run against the service.
@each(
    "text",
    [
        "things are not gonna be ok",
        "a > 4",
        "attribute_exists(Pictures-RearView)",
        'attribute_exists("Pictures.RearView")',
        "attribute_exists(Pictures..RearView)",
        "attribute_exists(Pi#ctures.RearView)",
        "attribute_exists(asdf[a])",
        "a in b, c",
        "a > between",
        "a in b",
        "a in (b,c,)",
        "(a)between(b.(c.d))and(c)",
        "(a)between(b.c.d)and((c)",
        "#$.b > a",
        "a > :things.stuff",
        "b[:a] > a",
        "b[#_] > a",
        "ü > a",
        "(a)between(b.c[4.5].#d)and(:a)",
        "size(a).b > a",
        "(size(a)).b > a",
        "size(a)[0] > a",
        "(size(a))[0] > a",
    ],
)
def test_what_the_service_refuses_as_syntax(text):
    assert refusal(FILTER, text).startswith("Syntax error; ")


# Redundant parentheses


@pytest.mark.parametrize(
    "text",
    [
        "((a = :v))",
        "((a)) = :v",
        "((a)) AND b = :v",
        "a = ((:v))",
        "a IN (((b)))",
        "size(((a))) > :v",
        "((a = :v)) AND ((b = :v))",  # VEC-11
        "a=a and a > ((views))",
        "(a)between(((b.c)).d)and(c)",
        "a > whatever((:things), ((a)))",
        "a=a AND ((a=a AND a=a)) AND a=a",
        "a=a OR ((a=a OR (a=a OR a=a)))",
    ],
)
def test_a_group_in_a_group_is_redundant(text):
    """EXP-2."""
    assert refusal(CONDITION, text) == "The expression has redundant parentheses;"


def test_redundant_parentheses_in_an_update():
    """EXP-2: arithmetic groups too."""
    assert refusal(UPDATE, "SET a = ((b + :v))") == "The expression has redundant parentheses;"


@pytest.mark.parametrize(
    "text",
    [
        "(a = :v)",
        "(a = :v AND (b = :w))",
        "(NOT (a = :v))",
        "((a = :v) AND (b = :w))",
        "((a) = (:v))",
        "a IN ((b))",
        "size((a)) > :v",
    ],
)
def test_other_parentheses_are_fine(text):
    """EXP-2, VEC-11."""
    parse(CONDITION, text)


# Emptiness, size, depth


@pytest.mark.parametrize("kind", [CONDITION, FILTER, KEY, UPDATE, PROJECTION])
@pytest.mark.parametrize("text", ["", " \t\r\n"])
def test_an_expression_is_not_empty(kind, text):
    """EXP-3, LEX-9, KEY-20."""
    assert refusal(kind, text) == "The expression can not be empty;"


@pytest.mark.parametrize("text", ["a" * 4097, "é" * 2048 + "a"])
def test_an_expression_has_at_most_4096_bytes(text):
    """EXP-4: bytes of UTF-8, counted before anything is parsed."""
    assert refusal(PROJECTION, text) == (
        "Expression size has exceeded the maximum allowed size; expression size: 4097"
    )
    assert parse(PROJECTION, "a" * 4096) == ProjectionExpression(paths=(Path(parts=("a" * 4096,)),))


def test_brackets_nest_deeper_than_python_calls():
    assert refusal(CONDITION, "(" * 4096) == 'Syntax error; token: "<EOF>", near: "("'
    depth = 680
    tree = parse(CONDITION, "NOT(" * depth + "a=:v" + ")" * depth)
    for _ in range(depth):
        assert isinstance(tree, Not)
        tree = tree.term
    assert tree == equals(A, V)
