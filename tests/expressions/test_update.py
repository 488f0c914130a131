"""UPD-1 to UPD-20 and SIZ-5: what an update makes of an item."""

from decimal import Decimal

import pytest

from emulator.expressions import Placeholders, fragment, parse_update
from emulator.model import Attributes, BinarySet, NumberSet, StringSet, Value
from emulator.service import limits
from emulator.service.errors import RequestFault, ValidationException

INVALID_PATH = "The document path provided in the update expression is invalid for update"
MISSING_OPERAND = "The provided expression refers to an attribute that does not exist in the item"
UPDATE_TOO_LARGE = "Item size to update has exceeded the maximum allowed size"
WRONG_TYPE = "An operand in the update expression has an incorrect data type"


def parsed(text, **values: Value):
    given = {f":{name}": value for name, value in values.items()}
    return parse_update(text, Placeholders(None, given or None))


def after(text, item, **values: Value):
    return parsed(text, **values).apply(item)


def refusal(text, item, **values: Value):
    update = parsed(text, **values)
    with pytest.raises(ValidationException) as caught:
        update.apply(item)
    assert not isinstance(caught.value, RequestFault)
    return caught.value.message


# SET


def test_set_copies_swaps_and_keeps_the_rest():
    """UPD-1: every right side reads the item as it was."""
    item: Attributes = {"a": "1", "b": "2", "c": "3"}
    assert after("SET a = b, b = a, d = c", item) == {"a": "2", "b": "1", "c": "3", "d": "3"}


def test_nested_values_are_set_in_place():
    """UPD-1, VEC-5."""
    item: Attributes = {"m": {"c": Decimal(10), "d": "x"}, "l": ("p", {"q": "r"})}
    assert after("SET m.c = m.c + :inc, l[1].q = m.d", item, inc=Decimal(5)) == {
        "m": {"c": Decimal(15), "d": "x"},
        "l": ("p", {"q": "x"}),
    }


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("SET a.b.c = :v", {}),  # VEC-5
        ("SET a.b.c = :v", {"a": {}}),
        ("SET a.b = :v", {"a": "text"}),
        ("SET a.b = :v", {"a": ()}),
        ("SET a[0] = :v", {"a": {}}),
        ("SET a[0] = :v", {}),
        ("SET a[3].b = :v", {"a": ()}),
        ("ADD a.b :v", {}),
        ("ADD a[1] :v", {"a": "text"}),
        ("DELETE a.b :v", {}),
        ("DELETE a.b :v", {"a": ()}),
        ("DELETE a[1] :v", {"a": {}}),
    ],
)
def test_a_parent_must_exist_and_be_the_right_container(text, item):
    """UPD-6."""
    assert refusal(text, item, v=StringSet({"x"})) == INVALID_PATH


def test_a_list_grows_at_its_end_without_gaps():
    """UPD-7, VEC-4."""
    three: Attributes = {"l": ("a", "b", "c")}
    assert after("SET l[5] = :v", three, v="x") == {"l": ("a", "b", "c", "x")}
    assert after("SET l[0] = :v", {"l": ()}, v="x") == {"l": ("x",)}
    assert after("SET l[9] = :v, l[7] = :w, l[1] = :v", three, v="x", w="y") == {
        "l": ("a", "x", "c", "y", "x")
    }


@pytest.mark.parametrize(
    "text",
    [
        "SET a = gone",
        "SET a = n + gone",
        "SET a = gone - n",
        "SET a = list_append(gone, l)",
        "SET a = list_append(l, m.gone)",
        "SET a = if_not_exists(gone, gone2)",
        "SET a = if_not_exists(gone, gone2) + n",
        "SET a = l[5]",
    ],
)
def test_an_operand_must_exist(text):
    """UPD-10."""
    assert refusal(text, {"n": Decimal(1), "l": (), "m": {}}) == MISSING_OPERAND


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("n + :v", "7"),
        ("n - :v", "3"),
        ("(n + :v) - (n - :v)", "4"),
        ("if_not_exists(gone, :v) + :v", "4"),
        ("if_not_exists(n, gone) - :v", "3"),
        ("if_not_exists(gone, (n + :v))", "7"),
    ],
)
def test_arithmetic(text, answer):
    """UPD-11, UPD-12, UPD-13."""
    item: Attributes = {"n": Decimal(5)}
    assert after(f"SET n = {text}", item, v=Decimal(2)) == {"n": Decimal(answer)}


@pytest.mark.parametrize("operator", ["+", "-"])
@pytest.mark.parametrize("stored", ["5", True, None, NumberSet({Decimal(1)})])
def test_arithmetic_needs_stored_numbers(operator, stored):
    """UPD-11."""
    item: Attributes = {"a": stored, "n": Decimal(1)}
    assert refusal(f"SET n = a {operator} n", item) == WRONG_TYPE
    assert refusal(f"SET n = n {operator} a", item) == WRONG_TYPE


def test_a_sum_must_be_storable():
    """NUM-10: too many digits are an overflow, too."""
    big = Decimal("9" * 38)
    assert refusal("SET n = n + :v", {"n": big}, v=big) == (
        "Number overflow. Attempting to store a number with magnitude larger than supported range"
    )


def test_list_append():
    """UPD-14."""
    item: Attributes = {"l": ("a",)}
    assert after("SET l = list_append(l, :v)", item, v=("b",)) == {"l": ("a", "b")}
    assert after("SET l = list_append(:v, l)", item, v=("b",)) == {"l": ("b", "a")}
    assert after("SET l = list_append(if_not_exists(l, :e), :v)", {}, v=("b",), e=()) == {
        "l": ("b",)
    }
    assert after("SET l = list_append(l, l)", item) == {"l": ("a", "a")}
    assert refusal("SET l = list_append(a, :v)", {"a": "text"}, v=()) == WRONG_TYPE
    assert refusal("SET l = list_append(:v, a)", {"a": {}}, v=()) == WRONG_TYPE


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("SET a = list_append(l, l), b = list_append(l, :v)", 11),
        ("SET a = list_append(l, l) ADD s :s", 9),
        ("ADD s :s, t :s SET b = list_append(l, l)", 12),
        ("SET a = l, b = l, c = list_append(l, l)", 12),
    ],
)
def test_more_members_than_bytes_are_refused_before_they_are_made(monkeypatch, text, members):
    """SIZ-3: a member takes a byte at least; a short text may name the longest lists often."""
    item: Attributes = {"l": ("",) * 3, "s": StringSet({"x"})}
    values = {"v": ("",) * 2, "s": StringSet({"x", "y", "z"})}
    values = {name: value for name, value in values.items() if f":{name}" in text}
    monkeypatch.setattr(limits, "ITEM_BYTES", members)
    assert after(text, item, **values)
    monkeypatch.setattr(limits, "ITEM_BYTES", members - 1)
    assert refusal(text, item, **values) == UPDATE_TOO_LARGE


def test_a_value_that_is_named_often_is_measured_until_it_is_too_large(monkeypatch):
    """SIZ-5: the bytes of a request, which no item can have from then on."""
    monkeypatch.setattr(limits, "ITEM_BYTES", 100)
    text = "SET " + ", ".join(f"a{number} = if_not_exists(n, :v)" for number in range(50))
    item: Attributes = {"n": Decimal(1)}
    made = parsed(text, v="x" * 60)
    once = made.request_bytes(item, made.apply(item))
    assert 100 < once < 50 * (39 + 60)


# REMOVE


def test_remove():
    """UPD-8, UPD-9, VEC-4, VEC-6."""
    item: Attributes = {"a": "x", "m": {"a": "1", "b": "2"}, "l": ("a", "b", "c", "d")}
    assert after("REMOVE a, gone, m.a, m.gone, l[1], l[9]", item) == {
        "m": {"b": "2"},
        "l": ("a", "c", "d"),
    }
    assert after("REMOVE l[0], l[2]", item)["l"] == ("b", "d")
    assert after("REMOVE m.a, m.b", item)["m"] == {}


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("REMOVE m.x", {}),
        ("REMOVE m[0]", {}),
        ("REMOVE m.x", {"m": ()}),
        ("REMOVE m[0]", {"m": {}}),
        ("REMOVE m.x.y", {"m": {}}),
    ],
)
def test_what_is_removed_must_lie_in_a_container(text, item):
    """UPD-8, VEC-6."""
    assert refusal(text, item) == INVALID_PATH


def test_setting_and_removing_in_one_list_use_the_stored_indexes():
    """UPD-7, UPD-9."""
    item: Attributes = {"l": ("a", "b", "c")}
    update = "REMOVE l[0], l[8] SET l[1] = :v, l[7] = :w"
    assert after(update, item, v="x", w="y") == {"l": ("x", "c", "y")}


# ADD and DELETE


def test_add():
    """UPD-15, VEC-6."""
    item: Attributes = {"n": Decimal(1), "s": StringSet({"a"}), "m": {}}
    assert after("ADD n :v, fresh :v", item, v=Decimal(5)) == {
        **item, "n": Decimal(6), "fresh": Decimal(5),
    }  # fmt: skip
    result = after("ADD s :v, m.s :v", item, v=StringSet({"b"}))
    assert result == {**item, "s": StringSet({"a", "b"}), "m": {"s": StringSet({"b"})}}
    assert type(result["s"]) is StringSet


@pytest.mark.parametrize(
    ("stored", "value"),
    [
        ("text", Decimal(1)),
        (NumberSet({Decimal(1)}), Decimal(1)),
        (Decimal(1), NumberSet({Decimal(1)})),
        (StringSet({"a"}), NumberSet({Decimal(1)})),
        ((), StringSet({"a"})),
    ],
)
def test_add_needs_the_same_type(stored, value):
    """UPD-15."""
    assert refusal("ADD a :v", {"a": stored}, v=value) == WRONG_TYPE


def test_delete():
    """UPD-16, SET-7, VEC-6."""
    item: Attributes = {"s": StringSet({"a", "b"}), "l": (BinarySet({b"x"}), "y")}
    result = after("DELETE s :v", item, v=StringSet({"b", "z"}))
    assert result == {**item, "s": StringSet({"a"})}
    assert type(result["s"]) is StringSet
    assert after("DELETE s :v", item, v=item["s"]) == {"l": item["l"]}
    assert after("DELETE l[0] :v", item, v=BinarySet({b"x"}))["l"] == ("y",)
    assert after("DELETE gone :v", item, v=StringSet({"a"})) == item


@pytest.mark.parametrize("stored", ["a", NumberSet({Decimal(1)}), ("a",), {}])
def test_delete_needs_the_same_type(stored):
    """UPD-16."""
    assert refusal("DELETE a :v", {"a": stored}, v=StringSet({"a"})) == WRONG_TYPE


# The whole


def test_the_item_is_not_changed_and_the_rest_is_shared():
    inner: dict[str, Value] = {"k": "v"}
    item: Attributes = {"keep": {"deep": ()}, "m": {"a": "1", "in": inner}, "l": ({}, "x")}
    before = repr(item)
    result = after("SET m.a = :v, l[1] = :v, z = :v REMOVE gone", item, v="2")
    assert repr(item) == before
    assert result["keep"] is item["keep"]
    assert result["m"]["in"] is inner
    assert result["l"][0] is item["l"][0]


def test_all_sections_together():
    """UPD-1, UPD-19, as dynalite saw the service do it."""
    item: Attributes = {
        "a": "key",
        "b": {"a": Decimal(1), "b": Decimal(2), "c": Decimal(3)},
        "c": (Decimal(1), Decimal(3)),
    }
    update = parsed(
        "set b.c=((c[1])+(b.a)),b.a = a,c[1] = a, c[4] = b.a - b.b, c[2] = b.c "
        "add c[8] :b, c[6] :a",
        a=Decimal(2),
        b=StringSet({"a"}),
    )
    result = update.apply(item)
    assert result == {
        "a": "key",
        "b": {"a": "key", "b": Decimal(2), "c": Decimal(4)},
        "c": (Decimal(1), "key", Decimal(3), Decimal(-1), Decimal(2), StringSet({"a"})),
    }
    assert fragment(result, update.paths) == {
        "b": {"c": Decimal(4), "a": "key"},
        "c": ("key", Decimal(3), Decimal(2)),
    }


def test_only_what_set_gives_a_whole_attribute_is_assigned():
    """IXV-8 needs it: key attributes of an index are judged before the update."""
    update = parsed("SET a = :v, b.c = :v, d = e, f[0] = :v ADD g :n", v="x", n=Decimal(1))
    assert update.assigned() == {"a": "x"}


def test_targets_are_listed_in_source_order():
    """UIT-3, UPD-5 need them."""
    placeholders = Placeholders({"#p": "pk"}, {":v": Decimal(1)})
    update = parse_update("REMOVE a[0].b SET c = d, #p.x = :v ADD e :v", placeholders)
    assert update.paths == (("a", 0, "b"), ("c",), ("pk", "x"), ("e",))


@pytest.mark.parametrize(
    ("text", "creates"),
    [
        ("SET a = :v", True),
        ("ADD a :v", True),
        ("REMOVE a", False),
        ("DELETE a :v", False),
        ("REMOVE b DELETE a :v", False),
        ("REMOVE b ADD a :v", True),
    ],
)
def test_an_update_that_only_removes_creates_nothing(text, creates):
    """UPD-20."""
    values = {"v": StringSet({"a"})} if ":v" in text else {}
    assert parsed(text, **values).creates is creates


# SIZ-5


@pytest.mark.parametrize(("size", "request_bytes"), [(409_577, 409_600), (409_578, 409_601)])
def test_the_largest_set_of_one_attribute(size, request_bytes):
    """SIZ-5 and EX-58: an item of 409,581 bytes is the largest that SET can write."""
    item: Attributes = {"pk": "k"}
    update = parsed("SET b = :v", v="x" * size)
    assert update.request_bytes(item, update.apply(item)) == request_bytes


@pytest.mark.parametrize(
    ("text", "request_bytes"),
    [
        ("SET ab = :n", 3 + 19 + (2 + 2)),
        ("SET ab = c", 3 + 19 + (1 + 14 + 1) + (2 + 2)),
        ("SET ab = c + :n", 3 + 34 + (1 + 14 + 1) + 2 + (2 + 2)),
        ("SET ab = :n - m.x", 3 + 37 + 2 + (1 + 14 + 1 + 14 + 1) + (2 + 1)),
        ("SET ab = if_not_exists(ab, :n)", 3 + 39 + (1 + 14 + 2) + 2 + (2 + 2)),
        ("SET ab = if_not_exists(ab, :n) + :n", 3 + 34 + 39 + (1 + 14 + 2) + 4 + (2 + 2)),
        ("SET l = list_append(l, :l)", 3 + 37 + (1 + 14 + 1) + 6 + (1 + 9)),
        ("SET l[0] = :n", 3 + 19 + (1 + 6)),
        ("SET m.x = :n, m.y = :n", 3 + 19 + 19 + (1 + 3 + 2 * (1 + 1 + 2))),
        ("ADD c :n", 3 + 19 + 1 + 2 + (1 + 2)),
        ("ADD m.x :n", 3 + 19 + (1 + 4 + 1) + 2 + (1 + 3 + 4)),
        ("REMOVE c, l[10]", 3 + (1 + 1) + (1 + 1 + 4 + 2)),
        ("DELETE s :s", 3 + 1 + 1),
    ],
)
def test_the_cost_of_each_action(text, request_bytes):
    """SIZ-5: 3, the actions, their operands, and the attributes written."""
    item: Attributes = {
        "c": Decimal(1),
        "m": {"x": Decimal(1)},
        "l": (Decimal(1),),
        "s": StringSet({"a", "b"}),
    }
    known: dict[str, Value] = {"n": Decimal(1), "l": (Decimal(2),), "s": StringSet({"a"})}
    used = {name: value for name, value in known.items() if f":{name}" in text}
    update = parsed(text, **used)
    assert update.request_bytes(item, update.apply(item)) == request_bytes
