"""Conditions asked of a page, beside the same conditions asked of its items one by one."""

from decimal import Decimal

import pytest

from emulator.expressions import Placeholders, condition, parse_condition, selection
from emulator.model import StringSet

#: Of every attribute some items have one type, some another, and some have none.
ITEMS = [
    {"a": Decimal(1), "b": Decimal(2), "c": "x"},
    {"a": Decimal(3), "b": Decimal(2)},
    {"a": "x", "b": "y", "l": (Decimal(1), "x", {"m": "x"})},
    {"a": b"x", "l": ()},
    {"b": Decimal(1), "l": (Decimal(1), (), True)},
    {"a": True, "b": True, "c": "xyz", "m": {"k": (Decimal(1), "y")}},
    {"a": None, "b": StringSet({"x", "y"}), "m": {"k": Decimal(1)}},
    {},
]
VALUES = {
    ":one": Decimal(1),
    ":two": Decimal(2),
    ":x": "x",
    ":y": "y",
    ":bytes": b"x",
    ":true": True,
    ":null": None,
    ":list": (Decimal(1), (), True),
    ":map": {"m": "x"},
    ":type": "N",
}
CONDITIONS = {
    "a = :one": [0],
    "a <> :one": [1, 2, 3, 4, 5, 6, 7],
    ":one = a": [0],
    ":two < a": [1],
    ":two >= b": [0, 1, 4],
    ":one < :two": [0, 1, 2, 3, 4, 5, 6, 7],
    ":one = :two": [],
    "a < b": [0, 2],
    "b > a": [0, 2],
    "a = b": [5],
    "a <> b": [0, 1, 2, 3, 4, 6, 7],
    "c = a": [],
    "a IN (:one, :x, :null)": [0, 2, 6],
    "a IN (b, :bytes)": [3, 5],
    "l IN (:list)": [4],
    "a BETWEEN :one AND :two": [0],
    "a BETWEEN :one AND b": [0],
    "a BETWEEN :x AND :y": [2],
    "a BETWEEN :one AND c": [],
    "b BETWEEN a AND :two": [0],
    "c BETWEEN :one AND :two": [],
    "b BETWEEN :one AND :one": [4],
    "b BETWEEN :one AND :two": [0, 1, 4],
    "b BETWEEN :two AND :two": [0, 1],
    ":one BETWEEN :one AND :two": [0, 1, 2, 3, 4, 5, 6, 7],
    "attribute_exists(c)": [0, 5],
    "attribute_exists(m.k[1])": [5],
    "attribute_not_exists(a)": [4, 7],
    "attribute_type(a, :type)": [0, 1],
    "begins_with(c, :x)": [0, 5],
    "begins_with(c, a)": [],
    "contains(b, :x)": [6],
    "contains(l, :one)": [2, 4],
    "contains(l, :true)": [4],
    "contains(l, :map)": [2],
    "contains(c, :y)": [5],
    "size(l) = :two": [],
    "size(b) = :two": [6],
    "size(c) < :two": [0],
    "m.k[0] = :one": [5],
    "m.k = :one": [6],
    "NOT a = :one AND (b = :two OR c = :x)": [1],
    # AND and OR of the same terms are not one step
    "(a = :one AND b = :one) OR NOT (a = :one OR b = :one)": [1, 2, 3, 5, 6, 7],
    "a = :x OR a = :x": [2],
}


def asked(text):
    used = {name: value for name, value in VALUES.items() if name in text}
    return parse_condition(text, Placeholders(None, used or None))


@pytest.mark.parametrize("is_long", [False, True], ids=["short", "long"])
@pytest.mark.parametrize("text", CONDITIONS)
def test_a_page_is_judged_as_its_items_are(monkeypatch, text, is_long):
    """CMP-1, CMP-2, CND-1 to CND-13."""
    asking = asked(text)
    one_by_one = [row for row, item in enumerate(ITEMS) if asking.holds(item)]
    tree = asking._program.tree
    monkeypatch.setattr(tree, "is_long", is_long)
    together = selection.passed(tree, ITEMS, VALUES)
    assert [row for row, is_passed in enumerate(together) if is_passed] == one_by_one
    assert one_by_one == CONDITIONS[text]


def test_a_long_condition_compares_no_value_with_the_bounds_of_its_ranges(monkeypatch):
    """Values are put in order once: as many ranges as a text can name take no longer for it."""
    tree = asked("a BETWEEN :one AND :two")._program.tree
    monkeypatch.setattr(tree, "is_long", True)
    monkeypatch.setattr(selection, "COMPARISONS", {})
    items = [{"a": Decimal(number)} for number in (3, 1, 2, 0, 2)]
    assert list(selection.passed(tree, items, VALUES)) == [0, 1, 1, 0, 1]


def test_a_test_that_is_written_twice_is_one_step():
    tree = asked("a = :x OR a = :x AND b = a")._program.tree
    places = {step.node: number for number, step in enumerate(tree.steps)}
    assert len(places) == len(tree.steps)
    assert [tree.steps[number].node for number in tree.steps[-1].children] == [
        tree.root.terms[0],
        tree.root.terms[1],
    ]


def test_rows_that_have_both_operands_are_judged_wherever_they_are():
    """Two columns of one type each, with different gaps."""
    items = [{"a": "x"}, {"b": "x"}, {"a": "x", "b": "x"}, {"a": "x", "b": "y"}, {"b": "z"}]
    assert list(selection.passed(asked("a = b")._program.tree, items, {})) == [0, 0, 1, 0, 0]
    assert list(selection.passed(asked("a < b")._program.tree, items, {})) == [0, 0, 0, 1, 0]


@pytest.fixture
def together(monkeypatch):
    """Return how many items were asked together, each time."""
    counts = []

    def counted(tree, items, values, ask=selection.passed):
        counts.append(len(items))
        return ask(tree, items, values)

    monkeypatch.setattr(condition, "passed", counted)
    return counts


def test_few_items_are_asked_one_by_one_and_many_together(together):
    few, many = [{"a": "x"}] * 31, [{"a": "x"}] * 32
    assert list(asked("a = :x").holding(few)) == [True] * 31
    assert together == []
    assert list(asked("a = :x").holding(many)) == [True] * 32
    assert together == [32]


#: 32 nodes, and one more.
SHORT = " AND ".join(["NOT a = :x"] + ["a = :x"] * 9)
LONG = " AND ".join(["NOT a = :x", "NOT a = :x"] + ["a = :x"] * 8)


@pytest.mark.parametrize(
    ("text", "item", "is_together"),
    [
        (LONG, {"a": ()}, True),
        (LONG, {"a": {}}, True),
        (LONG, {"a": "x"}, False),
        (SHORT, {"a": ()}, False),
    ],
    ids=["a list", "a map", "neither", "not long"],
)
def test_a_long_condition_asks_an_item_with_lists_as_a_page_is_asked(
    together, text, item, is_together
):
    """It looks once at what it asks for often; an item without lists is quicker test by test."""
    assert asked(text).holds(item) is False
    assert together == ([1] if is_together else [])


def test_a_long_condition_over_lists_may_hold():
    text = " AND ".join(["a = :list"] * 12)
    assert asked(text).holds({"a": VALUES[":list"]})
