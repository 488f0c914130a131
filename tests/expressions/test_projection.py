"""PRJ-1, PRJ-2, PRJ-4, PRJ-5, UIT-3, UIT-4: cutting parts out of an item."""

from decimal import Decimal

from emulator.expressions import PathProjection, Placeholders, fragment, parse_projection

ITEM = {
    "pk": "k",
    "n": Decimal(1),
    "m": {"a": "x", "b": {"c": "y", "d": "z"}, "e": {}},
    "l": ("p", {"q": "r", "s": "t"}, ("u", "v"), "w"),
}


def pick(text, names=None):
    return parse_projection(text, Placeholders(names)).pick(ITEM)


def test_missing_paths_are_left_out_and_keys_are_not_added():
    """PRJ-1."""
    assert pick("n, nothing") == {"n": Decimal(1)}


def test_nothing_may_match():
    """PRJ-4."""
    assert pick("nothing, pk.deeper, m[0], l.x") == {}
    assert pick("m.b.x, l[9], l[1].x") == {}


def test_a_nested_path_keeps_the_structure_around_it():
    """PRJ-2."""
    assert pick("m.b.c") == {"m": {"b": {"c": "y"}}}
    assert pick("m.#e", {"#e": "e"}) == {"m": {"e": {}}}


def test_list_elements_keep_their_order_and_close_up():
    """PRJ-2: elements in ascending order, sub-paths of one element merged."""
    assert pick("l[3], l[0]") == {"l": ("p", "w")}
    assert pick("l[1].s, l[2][1], l[1].q") == {"l": ({"s": "t", "q": "r"}, ("v",))}


def test_top_level_names_are_known():
    projection = parse_projection("m.a, l[0], m.b, pk", Placeholders())
    assert projection.paths == (("m", "a"), ("l", 0), ("m", "b"), ("pk",))
    assert projection.names == ("m", "l", "pk")


def test_names_alone_make_a_projection():
    """LEG-10."""
    projection = PathProjection.of_names(["n", "m.a", "pk"])
    assert projection.pick(ITEM) == {"n": Decimal(1), "pk": "k"}
    assert projection.names == ("n", "m.a", "pk")


def test_whole_values_are_shared():
    assert pick("m")["m"] is ITEM["m"]
    assert pick("l, m.b")["l"] is ITEM["l"]


def test_fragments_hold_only_the_touched_elements():
    """UIT-3, UIT-4."""
    assert fragment(ITEM, [("l", 3), ("m", "a"), ("l", 9), ("l", 0)]) == {
        "l": ("p", "w"),
        "m": {"a": "x"},
    }
    assert fragment(ITEM, [("gone",), ("pk", "x")]) == {}
    assert fragment(ITEM, []) == {}
