"""CMP-1, CMP-2 and CND-1 to CND-17: what a condition says about an item."""

from decimal import Decimal

import pytest

from emulator.expressions import Placeholders, parse_condition
from emulator.model import Attributes, BinarySet, NumberSet, StringSet, Value

ITEM: Attributes = {
    "s": "hello",
    "n": Decimal(5),
    "b": b"bytes",
    "t": True,
    "z": None,
    "l": ("x", Decimal(1), {"k": "deep"}),
    "m": {"a": "x", "nest": {"n": Decimal(7)}},
    "ss": StringSet({"x", "y"}),
    "ns": NumberSet({Decimal(1), Decimal(2)}),
    "bs": BinarySet({b"x"}),
}


def holds(text, item=ITEM, **values: Value):
    given = {f":{name}": value for name, value in values.items()}
    return parse_condition(text, Placeholders(None, given or None)).holds(item)


# Paths and comparisons


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("s", "hello"),
        ("m.a", "x"),
        ("m.nest.n", Decimal(7)),
        ("l[1]", Decimal(1)),
        ("l[2].k", "deep"),
        ("z", None),
        ("l", ("x", Decimal(1), {"k": "deep"})),
        ("m", {"nest": {"n": Decimal("7.0")}, "a": "x"}),
        ("ss", StringSet({"y", "x"})),
    ],
)
def test_a_path_leads_to_its_value(path, value):
    """CND-1, CMP-1."""
    assert holds(f"{path} = :v", v=value)
    assert not holds(f"{path} <> :v", v=value)
    assert holds(f"{path} IN (:w, :v)", v=value, w="other")
    assert holds(f"attribute_exists({path})")


@pytest.mark.parametrize("path", ["gone", "m.gone", "m[0]", "l[3]", "l.a", "s.a", "s[0]", "m.a.b"])
def test_a_path_that_leads_nowhere_is_missing(path):
    """CND-1, CND-2, CND-7."""
    assert holds(f"attribute_not_exists({path})")
    assert not holds(f"attribute_exists({path})")
    assert holds(f"{path} <> :v", v="x")
    assert not any(holds(f"{path} {sign} :v", v="x") for sign in ("=", "<", "<=", ">", ">="))
    assert not holds(f"{path} BETWEEN :v AND :v", v="x")
    assert not holds(f"{path} IN (:v)", v="x")


def test_two_missing_operands_are_not_equal():
    """CND-2."""
    assert not holds("gone = missing_too")
    assert holds("gone <> missing_too")
    assert not holds("gone IN (:v, missing_too)", v="x")


@pytest.mark.parametrize(
    ("one", "two"),
    [("1", Decimal(1)), (True, Decimal(1)), ("x", b"x"), ((), {}), (None, False)],
)
def test_values_of_different_types_differ(one, two):
    """CND-3, CMP-1, CMP-2."""
    assert not holds("a = :v", {"a": one}, v=two)
    assert holds("a <> :v", {"a": one}, v=two)
    assert not any(holds(f"a {sign} b", {"a": one, "b": two}) for sign in ("<", "<=", ">", ">="))


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (Decimal(2), Decimal(10)),
        ("10", "2"),
        ("a", "ab"),
        ("\uffff", "\U00010000"),  # CMP-3: as UTF-8, not as UTF-16
        (b"\x01", b"\xff"),
        (b"", b"\x00"),
    ],
)
def test_order_within_a_type(low, high):
    """CMP-2, CMP-3, CND-5: both bounds of BETWEEN belong to it."""
    item = {"a": low}
    assert holds("a < :v AND a <= :v AND a <= :w AND a >= :w", item, v=high, w=low)
    assert not holds("a > :v OR a >= :v OR a < :w OR a > :w", item, v=high, w=low)
    assert holds("a BETWEEN :w AND :v AND :v BETWEEN a AND :v", item, v=high, w=low)
    assert not holds("a BETWEEN :v AND :v", item, v=high)


@pytest.mark.parametrize("value", [True, None, (), {}, StringSet({"a"})])
def test_other_types_have_no_order(value):
    """CMP-2: not even with themselves."""
    assert not holds("a <= b OR a >= b OR a BETWEEN b AND b", {"a": value, "b": value})


def test_bounds_that_are_paths_are_compared_without_error():
    """CND-5."""
    item = {"a": Decimal(5), "low": Decimal(9), "high": Decimal(1), "word": "x"}
    assert not holds("a BETWEEN low AND high", item)
    assert holds("a BETWEEN high AND low", item)
    assert not holds("a BETWEEN high AND word", item)


def test_literals_may_stand_on_both_sides():
    """CND-16, CND-17."""
    assert holds(":a = :b", a="", b="")
    assert not holds(":a = :b", a="", b="x")


# Functions


@pytest.mark.parametrize(
    ("name", "type_name"),
    [
        ("s", "S"), ("n", "N"), ("b", "B"), ("t", "BOOL"), ("z", "NULL"),
        ("l", "L"), ("m", "M"), ("ss", "SS"), ("ns", "NS"), ("bs", "BS"),
    ],
)  # fmt: skip
def test_attribute_type(name, type_name):
    """CND-8."""
    for wanted in ("S", "SS", "N", "NS", "B", "BS", "BOOL", "NULL", "L", "M"):
        assert holds(f"attribute_type({name}, :t)", t=wanted) == (wanted == type_name)
    assert not holds("attribute_type(gone, :t)", t=type_name)


@pytest.mark.parametrize(
    ("path", "prefix", "answer"),
    [
        ("s", "he", True),
        ("s", "", True),
        ("s", "hello!", False),
        ("b", b"by", True),
        ("b", b"", True),
        ("s", b"he", False),
        ("b", "by", False),
        ("n", "5", False),
        ("gone", "", False),
    ],
)
def test_begins_with(path, prefix, answer):
    """CND-9."""
    assert holds(f"begins_with({path}, :p)", p=prefix) is answer


@pytest.mark.parametrize(
    ("path", "sought", "answer"),
    [
        ("s", "ell", True),
        ("s", "", True),
        ("s", "x", False),
        ("s", b"ell", False),
        ("b", b"yte", True),
        ("b", "yte", False),
        ("ss", "x", True),
        ("ss", "z", False),
        ("ss", StringSet({"x"}), False),
        ("ns", Decimal("1.0"), True),
        ("ns", Decimal(3), False),
        ("ns", "1", False),
        ("bs", b"x", True),
        ("l", "x", True),
        ("l", {"k": "deep"}, True),
        ("l", True, False),
        ("m", "a", False),
        ("n", Decimal(5), False),
        ("gone", "x", False),
    ],
)
def test_contains(path, sought, answer):
    """CND-10."""
    assert holds(f"contains({path}, :x)", x=sought) is answer


def test_contains_of_a_missing_operand():
    """CND-10."""
    assert not holds("contains(l, gone) OR contains(s, gone) OR begins_with(s, gone)")


@pytest.mark.parametrize(
    ("path", "size"),
    [("s", 5), ("b", 5), ("l", 3), ("m", 2), ("ss", 2), ("ns", 2), ("bs", 1)],
)
def test_size(path, size):
    """CND-12."""
    number = Decimal(size)
    assert holds(f"size({path}) = :n AND size({path}) BETWEEN :n AND :n", n=number)
    assert holds(f"size({path}) IN (:n) AND NOT size({path}) <> :n", n=number)
    assert holds(f"size({path}) < :n AND :n <> size({path})", n=number + 1)


@pytest.mark.parametrize(("text", "size"), [("é", 1), ("\uffff", 1), ("a\U0001f600", 3)])
def test_size_counts_utf16_units(text, size):
    """CND-12, assumed."""
    assert holds("size(a) = :n", {"a": text}, n=Decimal(size))


@pytest.mark.parametrize("path", ["n", "t", "z", "gone"])
def test_what_has_no_size_differs_from_everything(path):
    """CND-12, CND-2: like a missing attribute."""
    for sign in ("=", "<", "<=", ">", ">="):
        assert not holds(f"size({path}) {sign} :n", n=Decimal(1))
        assert not holds(f":n {sign} size({path})", n=Decimal(1))
    assert holds(f"size({path}) <> :n AND :n <> size({path})", n=Decimal(1))


def test_a_literal_has_a_size_too():
    assert holds("size(:v) = :n", v="abc", n=Decimal(3))


# Logic


@pytest.mark.parametrize("a", [True, False])
@pytest.mark.parametrize("b", [True, False])
@pytest.mark.parametrize("c", [True, False])
def test_logic(a, b, c):
    """EXP-1, CND-13."""
    item: Attributes = {"a": a, "b": b, "c": c}
    assert holds("a = :t OR b = :t AND c = :t", item, t=True) is (a or (b and c))
    assert holds("(a = :t OR b = :t) AND NOT c = :t", item, t=True) is ((a or b) and not c)
    assert holds("NOT (a = :t AND b = :t AND c = :t)", item, t=True) is not (a and b and c)


def test_not_inverts_what_is_missing():
    """CND-13, VEC-3."""
    assert holds("NOT gone = :v", v="x")
    assert holds("NOT attribute_exists(gone)")


def test_a_missing_item_has_no_attributes():
    """CND-14, VEC-3."""
    placeholders = Placeholders({"#s": "s", "#u": "u"}, {":v": "x", ":t": Decimal(1)})
    assert parse_condition("#s <> :v", placeholders).holds({})
    assert not parse_condition("#s = :v", placeholders).holds({})
    assert parse_condition("#s <> :v OR #u < :t", placeholders).holds({})


# What a query asks about a filter


def test_paths_are_listed_resolved_and_in_source_order():
    """QRY-6, QRY-7 need them."""
    placeholders = Placeholders({"#k": "key.name"}, {":v": "x"})
    condition = parse_condition(
        "NOT (b.c[0] = :v OR size(#k) > a) AND contains(#k.x, :v)",
        placeholders,
        kind="FilterExpression",
    )
    assert condition.paths == (("b", "c", 0), ("key.name",), ("a",), ("key.name", "x"))
