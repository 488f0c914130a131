"""LEG-2 to LEG-9 and MAK-45: the parameters from before expressions."""

from decimal import Decimal

import pytest

from emulator.expressions import (
    LegacyCondition,
    legacy_condition,
    legacy_key_condition,
    legacy_update,
)
from emulator.model import (
    MISSING,
    Attributes,
    BinarySet,
    KeyAttribute,
    KeyRange,
    KeySchema,
    NumberSet,
    StringSet,
    Value,
)
from emulator.service.errors import RequestFault, ValidationException

INVALID = "One or more parameter values were invalid: "
SAMPLES: dict[str, Value] = {
    "S": "a",
    "N": Decimal(1),
    "B": b"a",
    "BOOL": True,
    "NULL": None,
    "L": (),
    "M": {},
    "SS": StringSet({"a"}),
    "NS": NumberSet({Decimal(1)}),
    "BS": BinarySet({b"a"}),
}
TABLE = KeySchema((KeyAttribute("pk", "S"),), (KeyAttribute("sk", "S"),))
INDEX = KeySchema(
    (KeyAttribute("h1", "S"), KeyAttribute("h2", "S")),
    (KeyAttribute("r1", "S"), KeyAttribute("r2", "N")),
)


def entry(operator, *values):
    return LegacyCondition(operator, values)


def refusal(function, *arguments):
    with pytest.raises(RequestFault) as caught:
        function(*arguments)
    return caught.value.message


def schema_fault(entries, key=TABLE):
    condition = legacy_key_condition(entries)
    with pytest.raises(ValidationException) as caught:
        condition.range(key)
    assert not isinstance(caught.value, RequestFault)
    return caught.value.message


# Arguments


COUNTS = {
    **dict.fromkeys(("EQ", "NE", "LE", "LT", "GE", "GT"), 1),
    **dict.fromkeys(("CONTAINS", "NOT_CONTAINS", "BEGINS_WITH"), 1),
    **dict.fromkeys(("NULL", "NOT_NULL"), 0),
    "BETWEEN": 2,
}


@pytest.mark.parametrize("make", [legacy_condition, legacy_key_condition])
@pytest.mark.parametrize(
    ("operator", "count"),
    [
        (operator, count)
        for operator, right in COUNTS.items()
        for count in range(4)
        if count != right
    ]
    + [("IN", 0)],
)
def test_operators_take_a_fixed_number_of_arguments(make, operator, count):
    """LEG-2."""
    assert refusal(make, {"a": entry(operator, *["a"] * count)}) == (
        f"{INVALID}Invalid number of argument(s) for the {operator} ComparisonOperator"
    )


REFUSED = {
    **dict.fromkeys(
        ("LT", "LE", "GT", "GE", "IN", "BETWEEN"),
        ("BOOL", "NULL", "L", "M", "SS", "NS", "BS"),
    ),
    **dict.fromkeys(("CONTAINS", "NOT_CONTAINS"), ("L", "M", "SS", "NS", "BS")),
    "BEGINS_WITH": ("N", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"),
    "EQ": (),
    "NE": (),
}


@pytest.mark.parametrize("operator", REFUSED)
@pytest.mark.parametrize("found", SAMPLES)
def test_operators_take_certain_types(operator, found):
    """LEG-3."""
    entries = {"a": entry(operator, *[SAMPLES[found]] * COUNTS.get(operator, 1))}
    if found in REFUSED[operator]:
        message = f"ComparisonOperator {operator} is not valid for {found} AttributeValue type"
        assert refusal(legacy_condition, entries) == INVALID + message
    else:
        legacy_condition(entries)


def test_arguments_are_of_one_type():
    """LEG-3."""
    message = f"{INVALID}AttributeValues inside AttributeValueList must be of same type"
    assert refusal(legacy_condition, {"a": entry("IN", "b", Decimal(1))}) == message
    assert refusal(legacy_condition, {"a": entry("BETWEEN", "b", b"c")}) == message


def test_bounds_are_in_order():
    """LEG-3."""
    message = (
        "The BETWEEN condition was provided a range "
        "where the lower bound is greater than the upper bound"
    )
    assert refusal(legacy_condition, {"a": entry("BETWEEN", "b", "a")}) == message
    assert refusal(legacy_key_condition, {"a": entry("BETWEEN", "b", "a")}) == message
    legacy_condition({"a": entry("BETWEEN", "b", "b")})


# Conditions


@pytest.mark.parametrize(
    ("condition", "matching", "failing"),
    [
        (entry("EQ", Decimal(5)), [Decimal("5.0")], [Decimal(4), "5", MISSING]),
        (entry("EQ", ("a",)), [("a",)], [("b",), "a"]),
        (entry("NE", "a"), ["b", Decimal(1), MISSING], ["a"]),
        (entry("IN", "a", "b"), ["a", "b"], ["c", MISSING]),
        (entry("LT", Decimal(5)), [Decimal(4)], [Decimal(5), Decimal(6), "4", MISSING]),
        (entry("LE", Decimal(5)), [Decimal(4), Decimal(5)], [Decimal(6), "4", MISSING]),
        (entry("GT", "m"), ["n"], ["m", "a", b"n", MISSING]),
        (entry("GE", "m"), ["n", "m"], ["a", b"n", MISSING]),
        (entry("BETWEEN", "b", "d"), ["b", "c", "d"], ["a", "e", Decimal(1), MISSING]),
        (entry("NULL"), [MISSING], [None, "a"]),
        (entry("NOT_NULL"), [None, "a"], [MISSING]),
        (entry("CONTAINS", "a"), ["cat", ("a",), StringSet({"a"})], ["dog", MISSING]),
        (entry("CONTAINS", None), [(None,)], [(), None]),
        (entry("NOT_CONTAINS", "a"), ["dog", (), Decimal(1)], ["cat", MISSING]),
        (entry("BEGINS_WITH", b"a"), [b"ab"], ["ab", b"ba", MISSING]),
    ],
)
def test_operators(condition, matching, failing):
    """LEG-5."""
    legacy = legacy_condition({"a": condition})
    items = [{} if value is MISSING else {"a": value} for value in matching]
    assert [item for item in items if not legacy.holds(item)] == []
    items = [{} if value is MISSING else {"a": value} for value in failing]
    assert [item for item in items if legacy.holds(item)] == []


@pytest.mark.parametrize("a", [True, False])
@pytest.mark.parametrize("b", [True, False])
def test_entries_are_joined(a, b):
    """LEG-6."""
    entries = {"a": entry("EQ", True), "b": entry("EQ", True)}
    item: Attributes = {"a": a, "b": b}
    assert legacy_condition(entries).holds(item) is (a and b)
    assert legacy_condition(entries, any_of=True).holds(item) is (a or b)


def test_names_are_not_paths():
    """LEG-5; QRY-6 asks for them."""
    condition = legacy_condition({"a.b": entry("NOT_NULL"), "status": entry("NULL")})
    assert condition.paths == (("a.b",), ("status",))
    assert condition.holds({"a.b": "x"})
    assert not condition.holds({"a": {"b": "x"}})


# Key conditions


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (entry("EQ", "s"), KeyRange(("p",), ("s",))),
        (entry("LT", "s"), KeyRange(("p",), upper="s", upper_inclusive=False)),
        (entry("LE", "s"), KeyRange(("p",), upper="s")),
        (entry("GT", "s"), KeyRange(("p",), lower="s", lower_inclusive=False)),
        (entry("GE", "s"), KeyRange(("p",), lower="s")),
        (entry("BETWEEN", "s", "t"), KeyRange(("p",), lower="s", upper="t")),
        (
            entry("BEGINS_WITH", "s"),
            KeyRange(("p",), lower="s", upper="t", upper_inclusive=False),
        ),
    ],
)
def test_key_conditions(condition, expected):
    """LEG-9."""
    legacy = legacy_key_condition({"sk": condition, "pk": entry("EQ", "p")})
    assert legacy.names == ("sk", "pk")
    assert legacy.range(TABLE) == expected


def test_key_conditions_fail_as_expressions_do():
    """LEG-9, KEY-2 to KEY-6, KEY-13."""
    pk = entry("EQ", "p")
    assert schema_fault({"pk": pk, "sk": pk, "x": pk}) == (
        "The number of query conditions (3) exceeds "
        "the number of key attributes defined in the schema (2)"
    )
    assert schema_fault({"sk": pk}) == "Query condition missed key schema element: pk"
    assert schema_fault({"pk": pk, "c": entry("NULL")}) == (
        "Query condition missed key schema element: sk"
    )
    assert schema_fault({"pk": entry("GT", "p")}) == "Query key condition not supported"
    assert schema_fault({"pk": entry("EQ", Decimal(1))}) == (
        f"{INVALID}Condition parameter type does not match schema type"
    )


@pytest.mark.parametrize(
    "condition",
    [
        entry("NULL"),
        entry("NOT_NULL"),
        entry("NE", "a"),
        entry("CONTAINS", "a"),
        entry("NOT_CONTAINS", "a"),
        entry("IN", "a"),
    ],
)
def test_some_operators_are_not_for_keys(condition):
    """LEG-9."""
    message = "Attempted conditional constraint is not an indexable operation"
    assert schema_fault({"pk": condition}) == message
    assert schema_fault({"pk": entry("EQ", "p"), "sk": condition}) == message


def test_there_is_a_key_condition():
    """LEG-9."""
    assert refusal(legacy_key_condition, {}) == "Conditions can be of length 1 or 2 only"


def test_key_conditions_on_several_attributes():
    """MAK-45."""
    entries = {
        "r2": entry("BETWEEN", Decimal(1), Decimal(2)),
        "h2": entry("EQ", "y"),
        "h1": entry("EQ", "x"),
        "r1": entry("EQ", "z"),
    }
    assert legacy_key_condition(entries).range(INDEX) == KeyRange(
        ("x", "y"), ("z",), Decimal(1), Decimal(2)
    )
    del entries["r1"]
    assert schema_fault(entries, INDEX) == (
        "RANGE key attributes r1 must have equality conditions specified in the query "
        "because a condition is present on key attribute r2"
    )


# Updates


def test_put_add_and_delete():
    """LEG-7."""
    update = legacy_update(
        {
            "p": ("PUT", ()),
            "n": ("ADD", Decimal(2)),
            "s": ("ADD", StringSet({"b"})),
            "l": ("ADD", ("y",)),
            "d": ("DELETE", StringSet({"x"})),
            "e": ("DELETE", StringSet({"x"})),
            "r": ("DELETE", MISSING),
            "g": ("DELETE", MISSING),
        }
    )
    item: Attributes = {
        "k": "key",
        "p": "old",
        "n": Decimal(1),
        "s": StringSet({"a"}),
        "l": ("x",),
        "d": StringSet({"x", "y"}),
        "e": StringSet({"x"}),
        "r": "gone",
    }
    assert update.apply(item) == {
        "k": "key",
        "p": (),
        "n": Decimal(3),
        "s": StringSet({"a", "b"}),
        "l": ("x", "y"),
        "d": StringSet({"y"}),
    }
    assert update.paths == tuple((name,) for name in "pnslderg")


def test_missing_attributes_are_created():
    """LEG-7."""
    added: dict[str, tuple[str, Value]] = {
        "n": ("ADD", Decimal(5)),
        "s": ("ADD", StringSet({"a"})),
        "l": ("ADD", ("a",)),
        "d": ("DELETE", StringSet({"a"})),
    }
    result = legacy_update(added).apply({})
    assert result == {"n": Decimal(5), "s": StringSet({"a"}), "l": ("a",)}


@pytest.mark.parametrize(
    ("entries", "creates"),
    [
        ({"a": ("DELETE", MISSING)}, False),
        ({"a": ("DELETE", StringSet({"a"}))}, False),
        ({"a": ("PUT", "x")}, True),
        ({"a": ("ADD", Decimal(1)), "b": ("DELETE", MISSING)}, True),
    ],
)
def test_deletions_alone_create_nothing(entries, creates):
    """LEG-7, UPD-20."""
    assert legacy_update(entries).creates is creates


@pytest.mark.parametrize("other", [{}, {"z": ("PUT", "x")}, {"z": ("DELETE", MISSING)}])
def test_a_sum_that_cannot_be_stored_is_refused(other):
    """NUM-10, LEG-7: whatever else the update does."""
    largest = Decimal("9" * 38)
    update = legacy_update({"a": ("PUT", "x"), "n": ("ADD", Decimal("0.1")), **other})
    assert update.apply({"n": Decimal(1)})["n"] == Decimal("1.1")
    with pytest.raises(ValidationException):
        update.apply({"n": largest})


@pytest.mark.parametrize("action", ["PUT", "ADD"])
def test_only_delete_needs_no_value(action):
    """LEG-8."""
    assert refusal(legacy_update, {"a": (action, MISSING)}) == (
        f"{INVALID}Only DELETE action is allowed when no attribute value is specified"
    )


@pytest.mark.parametrize("found", ["S", "N", "B", "BOOL", "NULL", "L", "M"])
def test_delete_takes_sets(found):
    """LEG-8."""
    assert refusal(legacy_update, {"a": ("DELETE", SAMPLES[found])}) == (
        f"{INVALID}DELETE action with value is not supported for the type {found}"
    )


@pytest.mark.parametrize("found", ["S", "B", "BOOL", "NULL", "M"])
def test_add_takes_numbers_sets_and_lists(found):
    """LEG-8."""
    assert refusal(legacy_update, {"a": ("ADD", SAMPLES[found])}) == (
        f"{INVALID}ADD action is not supported for the type {found}"
    )


@pytest.mark.parametrize(
    ("stored", "action", "value"),
    [
        ("SS", "DELETE", "NS"),
        ("SS", "DELETE", "BS"),
        ("N", "DELETE", "NS"),
        ("SS", "ADD", "NS"),
        ("NS", "ADD", "N"),
        ("S", "ADD", "L"),
        ("L", "ADD", "N"),
    ],
)
def test_the_stored_value_is_of_the_same_type(stored, action, value):
    """LEG-8."""
    update = legacy_update({"a": (action, SAMPLES[value])})
    with pytest.raises(ValidationException) as caught:
        update.apply({"a": SAMPLES[stored]})
    assert caught.value.message == "Type mismatch for attribute to update"
    assert not isinstance(caught.value, RequestFault)


def test_only_the_finished_item_is_measured():
    """SIZ-5."""
    update = legacy_update({"a": ("PUT", "x" * 1000)})
    assert update.request_bytes({}, update.apply({})) == 0
