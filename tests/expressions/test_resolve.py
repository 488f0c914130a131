"""LEX-4 and PLH-1 to PLH-9: placeholders and the caches behind them."""

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest

from emulator.expressions import (
    Placeholders,
    check_placeholder_keys,
    parse_condition,
    parse_key_condition,
    parse_projection,
    parse_update,
)
from emulator.expressions.resolve import CACHE_ENTRIES, read
from emulator.service.errors import RequestFault


def refusal(function, *arguments):
    with pytest.raises(RequestFault) as caught:
        function(*arguments)
    return caught.value.message


@pytest.mark.parametrize("key", ["a", "", "#", "##a", "#a-b", "#a b", "#é", "#" + "a" * 255])
def test_a_name_key_is_a_hash_and_word_characters(key):
    """LEX-4, ERR-EXP-24."""
    assert refusal(Placeholders, {key: "x"}) == (
        f'ExpressionAttributeNames contains invalid key: Syntax error; key: "{key}"'
    )


@pytest.mark.parametrize("key", ["a", "", ":", "::a", ":a.b", ":a\n", ":" + "a" * 255])
def test_a_value_key_is_a_colon_and_word_characters(key):
    """LEX-4, ERR-EXP-24."""
    assert refusal(Placeholders, None, {key: "x"}) == (
        f'ExpressionAttributeValues contains invalid key: Syntax error; key: "{key}"'
    )


def test_keys_may_start_with_digits_and_have_255_characters():
    """LEX-3, LEX-4."""
    names = {"#0": "a", "#_x": "b", "#" + "a" * 254: "c"}
    assert Placeholders(names, {":0": "x"}).names == names


def test_maps_are_not_empty():
    """PLH-4, ERR-EXP-23; names are looked at before values."""
    assert refusal(Placeholders, {}, {}) == "ExpressionAttributeNames must not be empty"
    assert refusal(Placeholders, None, {}) == "ExpressionAttributeValues must not be empty"
    assert refusal(Placeholders, {"a": "a"}, {}).startswith("ExpressionAttributeNames contains")


def test_an_alias_does_not_stand_for_nothing():
    """PLH-7."""
    assert refusal(Placeholders, {"#n": ""}) == (
        "ExpressionAttributeNames contains invalid value: Empty attribute name for key #n"
    )


def test_keys_can_be_checked_before_values_are_read():
    """ERR-PUT-1: step 4 comes before step 5."""
    wire = {":b": {"a": ""}, "b": {"S": "a"}}
    assert refusal(check_placeholder_keys, None, wire) == (
        'ExpressionAttributeValues contains invalid key: Syntax error; key: "b"'
    )
    check_placeholder_keys(None, None)


def test_an_alias_is_one_component_whatever_it_contains():
    """PLH-7: reserved words, dots, brackets and spaces."""
    placeholders = Placeholders({"#a": "a.b", "#s": "status", "#x": "x [0]"})
    projection = parse_projection("#a, #s.#x", placeholders)
    assert projection.paths == (("a.b",), ("status", "x [0]"))
    assert projection.pick({"a.b": "1", "a": {"b": "2"}}) == {"a.b": "1"}


def test_an_undefined_name_is_reported():
    """PLH-1, ERR-EXP-6."""
    for kind, parse in (
        ("ConditionExpression", parse_condition),
        ("UpdateExpression", parse_update),
        ("ProjectionExpression", parse_projection),
        ("KeyConditionExpression", parse_key_condition),
    ):
        text = {"UpdateExpression": "REMOVE #n", "ProjectionExpression": "#n"}
        assert refusal(parse, text.get(kind, "#n = :v"), Placeholders({"#o": "o"})) == (
            f"Invalid {kind}: An expression attribute name used in the document path "
            "is not defined; attribute name: #n"
        )


def test_an_undefined_value_is_reported():
    """PLH-1, ERR-EXP-7, KEY-16."""
    for kind, parse, text in (
        ("ConditionExpression", parse_condition, "a = :v"),
        ("UpdateExpression", parse_update, "SET a = :v"),
        ("KeyConditionExpression", parse_key_condition, "a = :v"),
    ):
        assert refusal(parse, text, Placeholders(None, {":w": "w"})) == (
            f"Invalid {kind}: An expression attribute value used in expression "
            "is not defined; attribute value: :v"
        )


def test_a_template_that_failed_for_one_request_serves_the_next():
    text = "#n = :v"
    refusal(parse_condition, text, Placeholders({"#o": "o"}, {":v": "x"}))
    refusal(parse_condition, text, Placeholders({"#n": "n"}, {":w": "x"}))
    good = Placeholders({"#n": "n"}, {":v": "x"})
    assert parse_condition(text, good).holds({"n": "x"})
    other = Placeholders({"#n": "m"}, {":v": "y"})
    assert parse_condition(text, other).holds({"m": "y"})


def test_unused_placeholders_are_reported_names_first_in_the_order_of_the_map():
    """PLH-2, ERR-EXP-19, ERR-EXP-20."""
    placeholders = Placeholders(
        {"#b": "b", "#a": "a", "#n": "n"}, {":v": "v", ":y": "y", ":x": "x"}
    )
    parse_condition("#n = :v", placeholders)
    assert refusal(placeholders.check_unused) == (
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b, #a}"
    )
    parse_projection("#a, #b", placeholders)
    assert refusal(placeholders.check_unused) == (
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:y, :x}"
    )


def test_use_counts_over_all_expressions_and_unevaluated_branches():
    """PLH-8, PLH-9."""
    names = {"#a": "x", "#b": "x", "#c": "c", "#d": "d"}
    placeholders = Placeholders(names, {":v": "v", ":n": Decimal(1), ":w": "w"})
    parse_update("SET #a = if_not_exists(#a, :v), #c = #d + :n", placeholders)
    parse_condition("#a = :v OR #b = :w", placeholders)
    placeholders.check_unused()


def test_no_placeholders_are_none_unused():
    Placeholders().check_unused()


def test_a_text_is_read_once_per_kind():
    assert read("ConditionExpression", "a = :v") is read("ConditionExpression", "a = :v")
    assert read("ConditionExpression", "a = :v") is not read("FilterExpression", "a = :v")


def test_the_cache_is_bounded():
    for number in range(CACHE_ENTRIES + 10):
        read("ProjectionExpression", f"a{number}")
    assert read.cache_info().currsize == CACHE_ENTRIES


def test_threads_share_the_cache():
    def ask(number):
        name = f"n{number % 7}"
        placeholders = Placeholders({"#n": name}, {":v": Decimal(number)})
        return parse_condition("#n = :v AND size(#n) <> :v", placeholders).holds(
            {name: Decimal(number)}
        ), parse_update("SET #n = :v", placeholders).apply({})[name]

    with ThreadPoolExecutor(max_workers=4) as pool:
        answers = list(pool.map(ask, range(200)))
    assert answers == [(True, Decimal(number)) for number in range(200)]
