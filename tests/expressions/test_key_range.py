"""KEY-1 to KEY-20 and MAK-30 to MAK-41: from a key condition to a range of keys."""

from decimal import Decimal

import pytest

from emulator.expressions import Placeholders, parse_key_condition
from emulator.expressions.key_range import _PLANS
from emulator.model import KeyAttribute, KeyRange, KeySchema, Value
from emulator.service.errors import RequestFault, ValidationException

HASH_ONLY = KeySchema((KeyAttribute("pk", "S"),))
TABLE = KeySchema((KeyAttribute("pk", "S"),), (KeyAttribute("sk", "S"),))
NUMBERS = KeySchema((KeyAttribute("pk", "N"),), (KeyAttribute("sk", "N"),))
BINARY = KeySchema((KeyAttribute("pk", "B"),), (KeyAttribute("sk", "B"),))
INDEX = KeySchema(
    (KeyAttribute("h", "S"),), tuple(KeyAttribute(name, "S") for name in ("a", "b", "c", "d"))
)
WIDE = KeySchema(
    (KeyAttribute("h1", "S"), KeyAttribute("h2", "N")),
    (KeyAttribute("r1", "S"), KeyAttribute("r2", "N")),
)
VALUES: dict[str, Value] = {
    ":p": "p", ":s": "s", ":t": "t", ":n": Decimal(1), ":m": Decimal(2), ":y": b"y",
    ":bool": True, ":e": "", ":ey": b"", ":list": (),
}  # fmt: skip


TWO_FIRST = KeySchema((KeyAttribute("h1", "S"), KeyAttribute("h2", "S")), ())
TWO_LAST = KeySchema((KeyAttribute("h1", "S"),), (KeyAttribute("a", "S"), KeyAttribute("b", "S")))


def parsed(text, names=None, values=None):
    return parse_key_condition(text, Placeholders(names, values or VALUES))


def key_range(text, key=TABLE, values=None):
    return parsed(text, None, values).range(key)


def static_fault(text, names=None, values=None):
    with pytest.raises(RequestFault) as caught:
        parsed(text, names, values)
    return caught.value.message


def schema_fault(text, key=TABLE, values=None):
    condition = parsed(text, None, values)
    with pytest.raises(ValidationException) as caught:
        condition.range(key)
    assert not isinstance(caught.value, RequestFault)
    return caught.value.message


# Ranges


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pk = :p", KeyRange(("p",))),
        ("pk = :p AND sk = :s", KeyRange(("p",), ("s",))),
        ("sk = :s AND :p = pk", KeyRange(("p",), ("s",))),
        ("pk = :p AND sk < :s", KeyRange(("p",), upper="s", upper_inclusive=False)),
        ("pk = :p AND sk <= :s", KeyRange(("p",), upper="s")),
        ("pk = :p AND sk > :s", KeyRange(("p",), lower="s", lower_inclusive=False)),
        ("pk = :p AND sk >= :s", KeyRange(("p",), lower="s")),
        ("pk = :p AND sk BETWEEN :s AND :t", KeyRange(("p",), lower="s", upper="t")),
        ("pk = :p AND sk BETWEEN :s AND :s", KeyRange(("p",), lower="s", upper="s")),
        (
            "pk = :p AND begins_with(sk, :s)",
            KeyRange(("p",), lower="s", upper="t", upper_inclusive=False),
        ),
    ],
)
def test_operators(text, expected):
    """KEY-1, KEY-2, KEY-4, KEY-14, MAK-71."""
    assert key_range(text) == expected


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (":s < sk", "sk > :s"),
        (":s <= sk", "sk >= :s"),
        (":s > sk", "sk < :s"),
        (":s >= sk", "sk <= :s"),
        (":s = sk", "sk = :s"),
    ],
)
def test_the_value_may_come_first(text, same):
    """KEY-11."""
    assert key_range(f"pk = :p AND {text}") == key_range(f"pk = :p AND {same}")


@pytest.mark.parametrize(
    "text", ["(pk = :p) AND (sk = :s)", "(pk = :p AND sk = :s)", "(pk = :p AND (sk = :s))"]
)
def test_parentheses_are_optional(text):
    """KEY-1, VEC-11."""
    assert key_range(text) == KeyRange(("p",), ("s",))


def test_other_key_types():
    """KEY-13, MAK-39."""
    assert key_range("pk = :n AND sk > :m", NUMBERS) == KeyRange(
        (Decimal(1),), lower=Decimal(2), lower_inclusive=False
    )
    assert key_range("pk = :y AND begins_with(sk, :y)", BINARY) == KeyRange(
        (b"y",), lower=b"y", upper=b"z", upper_inclusive=False
    )


def test_a_prefix_without_successor_is_open_above():
    """MAK-71."""
    last = "\U0010ffff"
    assert key_range("pk = :p AND begins_with(sk, :s)", values={":p": "p", ":s": last}) == (
        KeyRange(("p",), lower=last, upper_inclusive=False)
    )


def test_names_come_in_source_order_and_resolved():
    """MAK-43."""
    condition = parsed("#r = :s AND pk = :p", {"#r": "region"})
    assert condition.names == ("region", "pk")


# What needs no schema


def test_it_is_first_a_condition_like_any_other():
    """KEY-12, KEY-16, KEY-20."""
    prefix = "Invalid KeyConditionExpression: "
    assert static_fault("((pk = :p))") == prefix + "The expression has redundant parentheses;"
    assert static_fault("status = :p") == (
        prefix + "Attribute name is a reserved keyword; reserved keyword: status"
    )
    assert static_fault("pk = :p AND") == prefix + 'Syntax error; token: "<EOF>", near: "AND"'
    assert static_fault("sk = :x AND begins_with(pk, :n)") == (
        prefix + "An expression attribute value used in expression is not defined; "
        "attribute value: :x"
    )
    assert static_fault("pk = :p AND begins_with(sk, :n)") == (
        prefix + "Incorrect operand type for operator or function; "
        "operator or function: begins_with, operand type: N"
    )
    assert static_fault("pk = :p AND :list > sk") == (
        prefix + "Incorrect operand type for operator or function; "
        "operator or function: >, operand type: L"
    )
    assert static_fault("pk = :p AND sk BETWEEN :t AND :s") == (
        prefix + "The BETWEEN operator requires upper bound to be greater than or equal to lower "
        "bound; lower bound operand: AttributeValue: {S:t}, "
        "upper bound operand: AttributeValue: {S:s}"
    )


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("pk = :p OR sk = :s", "OR"),
        ("NOT pk = :p", "NOT"),
        ("pk = :p AND NOT sk = :s", "NOT"),
        ("pk IN (:p)", "IN"),
        ("pk <> :p", "<>"),
        ("contains(a.d, :p)", "contains"),
        ("attribute_exists(pk)", "attribute_exists"),
        ("attribute_not_exists(pk)", "attribute_not_exists"),
        ("attribute_type(pk, :type)", "attribute_type"),
        ("size(pk) = :n", "size"),
        ("pk = :p AND sk > size(sk2)", "size"),
        ("a > b and size(b) > c or a > c", "OR"),
        ("a in (b, size(c), d)", "IN"),
    ],
)
def test_some_operators_are_not_for_keys(text, operator):
    """KEY-7; the message has no prefix."""
    assert static_fault(text, None, VALUES | {":type": "S"}) == (
        f"Invalid operator used in KeyConditionExpression: {operator}"
    )


@pytest.mark.parametrize("text", ["a.b = :p", "a[0] = :p", "b.d > a AND c.d > e.f"])
def test_a_key_is_a_top_level_attribute(text):
    """KEY-8."""
    assert static_fault(text) == (
        "Invalid KeyConditionExpression: "
        "KeyConditionExpressions cannot have conditions on nested attributes"
    )


@pytest.mark.parametrize(
    "text", ["pk = strange", "b > a.b", "b between c[1] and d", "begins_with(a, b)"]
)
def test_one_attribute_per_condition(text):
    """KEY-9."""
    assert static_fault(text) == (
        "Invalid KeyConditionExpression: Invalid condition in KeyConditionExpression: "
        "Multiple attribute names used in one condition"
    )


@pytest.mark.parametrize("text", [":p = :s", "pk = :p AND :s < :t"])
def test_each_condition_names_an_attribute(text):
    """KEY-10."""
    assert static_fault(text) == (
        "Invalid KeyConditionExpression: Invalid condition in KeyConditionExpression: "
        "No key attribute specified"
    )


@pytest.mark.parametrize(
    ("text", "operator"),
    [("begins_with(:s, sk)", "begins_with"), (":s between size(b) and size(a)", "BETWEEN")],
)
def test_the_attribute_comes_first_in_ranges(text, operator):
    """KEY-10."""
    assert static_fault(text) == (
        "Invalid KeyConditionExpression: Invalid condition in KeyConditionExpression: "
        f"{operator} operator must have the key attribute as its first operand"
    )


@pytest.mark.parametrize(
    "text",
    [
        "pk = :p AND sk > :s AND sk < :t",  # VEC-9
        "b > :p AND b < :p and c = :p and d = :p",
        "(a > :p and b > :p) and (#b > :p and c > :p)",
    ],
)
def test_one_condition_per_attribute(text):
    """KEY-5."""
    names = {"#b": "b"} if "#b" in text else None
    assert static_fault(text, names) == (
        "Invalid KeyConditionExpression: "
        "KeyConditionExpressions must only contain one condition per key"
    )


# What needs the schema


@pytest.mark.parametrize(
    ("text", "key", "given", "defined"),
    [
        ("pk = :p AND sk > :s AND extra = :t", TABLE, 3, 2),  # VEC-9
        ("pk = :p AND sk = :s", HASH_ONLY, 2, 1),
        ("y = :p AND z = :s", HASH_ONLY, 2, 1),
        ("h1=:p AND h2=:n AND r1=:s AND r2=:n AND x=:t", WIDE, 5, 4),
    ],
)
def test_too_many_conditions(text, key, given, defined):
    """KEY-6, KEY-17, MAK-38: counted before the names are looked at."""
    assert schema_fault(text, key) == (
        f"The number of query conditions ({given}) exceeds "
        f"the number of key attributes defined in the schema ({defined})"
    )


@pytest.mark.parametrize(
    ("text", "key", "name"),
    [
        ("sk = :s", TABLE, "pk"),  # VEC-9
        ("attr1 = :s", TABLE, "pk"),  # VEC-9
        ("attr1 = :s AND sk > :s", TABLE, "pk"),
        ("pk > :p AND strange = :s", TABLE, "sk"),
        ("pk = :p AND strange = :s", TABLE, "sk"),
        ("h1 = :p AND h2 = :n AND strange = :s", WIDE, "r1"),
        ("h1 = :p AND h2 = :n AND r1 = :s AND strange = :s", WIDE, "r2"),
    ],
)
def test_missing_key_attributes(text, key, name):
    """KEY-3, KEY-4, KEY-17, MAK-40."""
    assert schema_fault(text, key) == f"Query condition missed key schema element: {name}"


@pytest.mark.parametrize(
    "text",
    ["pk > :p", "pk <= :n", ":p < pk", "begins_with(pk, :p)", "pk BETWEEN :p AND :p AND sk = :n"],
)
def test_a_partition_attribute_takes_equality_only(text):
    """KEY-2, KEY-17, MAK-31: before types are looked at."""
    assert schema_fault(text) == "Query key condition not supported"


@pytest.mark.parametrize(
    ("text", "key", "lacking"),
    [
        ("h1 = :p", WIDE, "h2"),
        ("h2 = :n AND r1 = :s", WIDE, "h1"),
        ("h1 = :p AND h2 > :n", WIDE, "h2"),
        ("r1 = :s AND strange = :s", WIDE, "h1, h2"),
        ("h1 = :p AND strange = :s", WIDE, "h2"),
        ("h > :p AND a = :s", INDEX, "h"),
        ("a = :s", INDEX, "h"),
        ("h1 = :p", TWO_FIRST, "h2"),
        ("a = :s", TWO_LAST, "h1"),
    ],
)
def test_every_partition_attribute_takes_an_equality(text, key, lacking):
    """MAK-30, MAK-31: said in its own way where a side of the key has several attributes."""
    assert schema_fault(text, key) == (
        f"HASH key attributes {lacking} must have equality conditions specified in the query"
    )


@pytest.mark.parametrize(
    ("text", "lacking", "name"),
    [
        ("h = :p AND a = :s AND c = :s", "b", "c"),  # MAK-V12
        ("h = :p AND a = :s AND b > :s AND c = :s", "b", "c"),  # MAK-V13
        ("h = :p AND b = :s", "a", "b"),  # MAK-V14
        ("h = :p AND c = :s", "a, b", "c"),  # MAK-35
        ("h = :p AND c = :s AND b = :s", "a", "c"),  # MAK-36
        ("h = :p AND b > :s AND c = :s", "a, b", "c"),
        ("h = :p AND a = :s AND d > :s AND b < :s", "b, c", "d"),
    ],
)
def test_sort_conditions_form_a_prefix(text, lacking, name):
    """MAK-32 to MAK-36."""
    assert schema_fault(text, INDEX) == (
        f"RANGE key attributes {lacking} must have equality conditions specified in the query "
        f"because a condition is present on key attribute {name}"
    )


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("pk = :n", TABLE),
        ("pk = :bool", TABLE),
        ("pk = :p AND sk = :y", TABLE),
        ("pk = :p AND sk BETWEEN :n AND :m", TABLE),
        ("pk = :n AND begins_with(sk, :s)", NUMBERS),
        ("pk = :e AND sk = :n", TABLE),
        ("h1 = :p AND h2 = :p", WIDE),
    ],
)
def test_values_are_of_the_declared_type(text, key):
    """KEY-13, KEY-17, MAK-39: all types before any value is looked at."""
    assert schema_fault(text, key) == (
        "One or more parameter values were invalid: "
        "Condition parameter type does not match schema type"
    )


@pytest.mark.parametrize(
    ("text", "key", "kind", "name"),
    [
        ("pk = :e", TABLE, "string", "pk"),
        ("pk = :ey", BINARY, "binary", "pk"),
        ("pk = :p AND sk = :e", TABLE, "string", "sk"),
        ("pk = :p AND sk > :e", TABLE, "string", "sk"),
        ("pk = :p AND sk BETWEEN :e AND :s", TABLE, "string", "sk"),
        ("pk = :p AND begins_with(sk, :e)", TABLE, "string", "sk"),
        ("sk = :e AND pk = :e", TABLE, "string", "pk"),
    ],
)
def test_key_values_are_not_empty(text, key, kind, name):
    """KEY-15, KV-3."""
    assert schema_fault(text, key) == (
        "One or more parameter values are not valid. The AttributeValue for a key attribute "
        f"cannot contain an empty {kind} value. Key: {name}"
    )


def test_zero_is_not_empty():
    values: dict[str, Value] = {":z": Decimal(0)}
    assert key_range("pk = :z AND sk = :z", NUMBERS, values) == KeyRange(
        (Decimal(0),), (Decimal(0),)
    )


PARTITION_SIZE = (
    "One or more parameter values were invalid: "
    "Size of hashkey has exceeded the maximum size limit of2048 bytes"
)
SORT_SIZE = (
    "One or more parameter values were invalid: "
    "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"
)


@pytest.mark.parametrize("full", ["p" * 2048, "é" * 1024])
def test_partition_values_have_a_size(full):
    """KEY-15, KV-2."""
    assert key_range("pk = :p", values={":p": full}) == KeyRange((full,))
    assert schema_fault("pk = :p", values={":p": full + "x"}) == PARTITION_SIZE


def test_partition_values_are_measured_together():
    """MAK-27."""
    values: dict[str, Value] = {":p": "p" * 2046, ":n": Decimal(12)}
    assert key_range("h1 = :p AND h2 = :n", WIDE, values) == KeyRange(("p" * 2046, Decimal(12)))
    values[":n"] = Decimal(123)
    assert schema_fault("h1 = :p AND h2 = :n", WIDE, values) == PARTITION_SIZE


def test_sort_values_are_measured_together():
    """KEY-15, KV-2, MAK-27; of two bounds the longer counts."""
    values: dict[str, Value] = {":p": "p", ":a": "a" * 1000, ":b": "b" * 24, ":c": "c" * 25}
    text = "h = :p AND a = :a AND b BETWEEN :b AND :b"
    del values[":c"]
    assert key_range(text, INDEX, values) == KeyRange(("p",), ("a" * 1000,), "b" * 24, "b" * 24)
    values[":c"] = "c" * 25
    text = "h = :p AND a = :a AND b BETWEEN :b AND :c"
    assert schema_fault(text, INDEX, values) == SORT_SIZE


# Several attributes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("h = :p", KeyRange(("p",))),  # MAK-41
        ("h = :p AND a = :s", KeyRange(("p",), ("s",))),
        ("b = :t AND h = :p AND a = :s", KeyRange(("p",), ("s", "t"))),  # MAK-37
        (
            "h = :p AND a = :s AND b = :s AND c > :t",
            KeyRange(("p",), ("s", "s"), lower="t", lower_inclusive=False),
        ),
        (
            "h = :p AND a = :s AND b = :s AND c = :s AND d BETWEEN :s AND :t",
            KeyRange(("p",), ("s", "s", "s"), "s", "t"),
        ),
    ],
)
def test_prefixes_of_a_multi_attribute_key(text, expected):
    """MAK-32, MAK-33, MAK-37, MAK-41."""
    assert key_range(text, INDEX) == expected


def test_several_partition_attributes():
    """MAK-30: in the order of the schema, whatever that of the text."""
    assert key_range("r1 = :s AND h2 = :n AND r2 < :m AND h1 = :p", WIDE) == KeyRange(
        ("p", Decimal(1)), ("s",), upper=Decimal(2), upper_inclusive=False
    )


def test_one_condition_serves_many_schemas():
    condition = parsed("pk = :p AND sk > :s")
    schemas = [KeySchema((KeyAttribute("pk", "S"),), (KeyAttribute("sk", "S"),)) for _ in range(40)]
    assert {condition.range(key) for key in [*schemas, *schemas]} == {
        KeyRange(("p",), lower="s", lower_inclusive=False)
    }
    # What is kept for a text is bounded, however many tables come and go.
    assert len(condition._clauses._plans) <= _PLANS
