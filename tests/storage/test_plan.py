"""Plans: what a write does to an index, found without doing it. CAP-309, MAK-23."""

from decimal import Decimal

import pytest

from emulator.model import IndexSchema, Item, KeyAttribute, KeySchema, Projection
from emulator.storage import LaggedView, OrderedStore, placement_hash, plan_index_change

TABLE = KeySchema((KeyAttribute("pk", "S"),))
SCHEMA = IndexSchema(
    "i",
    KeySchema((KeyAttribute("g", "S"),), (KeyAttribute("n", "N"),)),
    Projection("INCLUDE", ("x",)),
    is_global=True,
    table_key=TABLE,
)
BASE = {"pk": "p", "g": "a", "n": Decimal(1), "x": "1", "other": "1"}


def change(old, new):
    return plan_index_change(SCHEMA, old and Item.of(old), new and Item.of(new), 0)


def without(name):
    return {key: value for key, value in BASE.items() if key != name}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (None, None),
        (None, without("n")),
        (without("g"), without("n")),
        (BASE, BASE),
        (BASE, {**BASE, "other": "2"}),
        (BASE, {**BASE, "n": Decimal("1.0")}),
    ],
)
def test_an_index_that_does_not_change_is_not_planned(old, new):
    assert change(old, new) is None


@pytest.mark.parametrize(
    ("old", "new", "sides", "moves"),
    [
        (None, BASE, (False, True), False),
        (BASE, None, (True, False), False),
        (BASE, without("g"), (True, False), False),
        (without("g"), BASE, (False, True), False),
        (BASE, {**BASE, "x": "2"}, (True, True), False),
        (BASE, {**BASE, "n": Decimal(2)}, (True, True), True),
        (BASE, {**BASE, "g": "b"}, (True, True), True),
    ],
)
def test_an_entry_appears_disappears_changes_or_moves(old, new, sides, moves):
    planned = change(old, new)
    assert (planned.before is not None, planned.after is not None) == sides
    assert planned.moves is moves


def test_an_entry_lies_at_its_keys_then_the_table_s():
    """IDX-3, MAK-25: ties are ordered by the table key."""
    entry = change(None, BASE).after
    assert entry.position == (placement_hash(("a",), 0), "a", Decimal(1), "p")
    assert entry.item.attributes == {key: BASE[key] for key in ("pk", "g", "n", "x")}


def test_a_late_view_shows_commits_whole_and_in_order():
    """CAP-1104: a key change is seen as removal and insertion together."""
    view = LaggedView(OrderedStore())
    first, second = Item.of({"v": "1"}), Item.of({"v": "2"})
    view.record([((1,), first)], visible_ns=110)
    view.record([((1,), None), ((2,), second)], visible_ns=115)
    assert [len(view.at(now)) for now in (109, 110, 114)] == [0, 1, 1]
    assert view.at(114).get((1,)) is first
    twin = view.copy()
    assert list(view.at(115).walk((0,), (9,))) == [((2,), second)]
    assert twin.at(114).get((1,)) is first


def test_commits_that_are_seen_at_one_moment_keep_their_order():
    """CAP-1104: the later one has the last word."""
    view = LaggedView(OrderedStore())
    first, second = Item.of({"v": "1"}), Item.of({"v": "2"})
    for item in (first, None, first, second):
        view.record([((1,), item)], visible_ns=110)
    assert list(view.at(110).walk((0,), (9,))) == [((1,), second)]
