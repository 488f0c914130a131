"""The wire form: TYP-*, SET-*, TXT-1, WIR-12 to WIR-14, with both wordings."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.model import wire
from emulator.model.items import EMPTY_NAME
from emulator.model.wire import check_levels, dump_value, load_item, load_value
from emulator.service.errors import (
    ApiError,
    RequestFault,
    SerializationException,
    ValidationException,
)
from tests.each import each

INVALID = "One or more parameter values were invalid: "


@pytest.mark.parametrize(
    ("written", "current", "older"),
    [
        ({"NULL": False}, INVALID + "Null attribute value types must have the value of true", None),
        ({"SS": []}, INVALID + "An string set  may not be empty", None),  # SET-1
        ({"NS": []}, INVALID + "An number set  may not be empty", None),
        ({"BS": []}, INVALID + "Binary sets should not be empty", None),
        (
            {"SS": ["b", "a", "b"]},  # SET-3, SET-4
            INVALID + 'Input collection ["a", "b", "b"] contains duplicates.',
            INVALID + "Input collection [b, a, b] contains duplicates.",
        ),
        (
            {"BS": ["/w==", "AA==", "AA=="]},
            INVALID + 'Input collection ["AA==","/w==","AA=="]of type BS contains duplicates.',
            INVALID + "Input collection [/w==, AA==, AA==]of type BS contains duplicates.",
        ),
        (
            {"NS": ["1", "1.0"]},  # SET-5
            INVALID + "Input collection contains duplicates.",
            "Input collection contains duplicates",
        ),
        (
            {"NS": [""]},  # SET-2
            "The parameter cannot be converted to a numeric value: ",
            "The parameter cannot be converted to a numeric value",
        ),
    ],
)
def test_values_the_service_refuses(written, current, older):
    with pytest.raises(RequestFault) as caught:
        load_value(written)
    assert (caught.value.message, caught.value.wording.text("older")) == (current, older or current)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({}, wire.EMPTY_VALUE),  # TYP-1
        ({"S": None}, wire.EMPTY_VALUE),  # WIR-15
        ({"X": "a"}, wire.EMPTY_VALUE),
        ({"S": "a", "N": "1"}, wire.SEVERAL_TYPES),
        ({"L": [{"M": {"a": {}}}]}, wire.EMPTY_VALUE),
        ({"M": {"": {"S": "a"}}}, EMPTY_NAME),  # TYP-7
    ],
)
def test_values_that_are_none(written, message):
    with pytest.raises(ValidationException) as caught:
        load_value(written)
    assert caught.value.message == message
    assert not isinstance(caught.value, RequestFault)


@each(
    ("written", "message"),
    [
        ({"N": 5}, "NUMBER_VALUE cannot be converted to String"),  # WIR-13
        ({"N": 5.5}, "DECIMAL_VALUE cannot be converted to String"),
        ({"S": True}, "TRUE_VALUE cannot be converted to String"),
        ({"S": False}, "FALSE_VALUE cannot be converted to String"),
        ({"S": {}}, "Start of structure or map found where not expected"),
        ({"BOOL": "x"}, "STRING_VALUE cannot be converted to Boolean"),
        ({"NULL": 1}, "NUMBER_VALUE cannot be converted to Boolean"),
        ({"SS": [1]}, "NUMBER_VALUE cannot be converted to String"),
        ({"NS": [1]}, "NUMBER_VALUE cannot be converted to String"),
        ({"SS": "a"}, "Unexpected field type"),
        ({"L": "a"}, "Unexpected field type"),
        ({"M": "a"}, "Unexpected value type in payload"),
        ("x", "Unexpected field type"),
        (
            {"M": [1]},
            "Unrecognized collection type java.util.Map<java.lang.String, "
            "com.amazonaws.dynamodb.v20120810.AttributeValue>",
        ),
        ({"B": "abc"}, "Base64 encoded length is expected a multiple of 4 bytes but found: 3"),
        ({"B": "a*b="}, "Invalid Base64 character found in the input"),
        ({"B": 5}, "NUMBER_VALUE cannot be converted to String"),
        ({"S": ["a"]}, "Unrecognized collection type class java.lang.String"),
        ({"S": 1, "N": "1"}, "NUMBER_VALUE cannot be converted to String"),
        ({"M": {"a": {"S": 1}}}, "NUMBER_VALUE cannot be converted to String"),
        ({"L": [{"S": "a"}, {"S": 1}]}, "NUMBER_VALUE cannot be converted to String"),
    ],
)
def test_wrong_json_types_cannot_be_read(written, message):
    """WIR-12 to WIR-14; the walk and the check for types alone agree."""
    for read in (load_value, wire.check_value_types):
        with pytest.raises(SerializationException) as caught:
            read(written)
        assert caught.value.message == message


@pytest.mark.parametrize("other", [{"N": None}, {"X": 5}, {"X": None, "B": None}])
def test_a_member_that_is_null_or_unknown_is_as_good_as_none(other):
    """WIR-15."""
    assert load_value({"S": "a", **other}) == "a"
    assert load_item({"name": {"S": "a", **other}}).attributes == {"name": "a"}
    wire.check_value_types({"S": "a", **other})


def test_an_attribute_of_several_types_is_refused():
    """TYP-1."""
    with pytest.raises(ValidationException) as caught:
        load_item({"name": {"S": "a", "N": "1"}})
    assert caught.value.message == wire.SEVERAL_TYPES


@pytest.mark.parametrize("digits", ["１２", "1２", "١"])
def test_digits_of_other_scripts_are_no_number(digits):
    """NUM-1."""
    with pytest.raises(RequestFault) as caught:
        load_value({"N": digits})
    assert caught.value.message == f"The parameter cannot be converted to a numeric value: {digits}"


@pytest.mark.parametrize(
    ("text", "plain"), [("1e-7", "0.0000001"), ("1e10", "10000000000"), ("-2.50", "-2.5")]
)
def test_numbers_are_written_without_an_exponent(text, plain):
    """NUM-8."""
    assert dump_value(load_value({"N": text})) == {"N": plain}
    assert dump_value(load_value({"NS": [text]})) == {"NS": [plain]}


def nested(levels):
    value = {"S": "x"}
    for _ in range(levels):
        value = {"L": [value]}
    return value


def test_a_scalar_may_lie_in_31_containers():
    """TYP-5."""
    check_levels(load_item({"a": nested(31)}).levels)
    with pytest.raises(ValidationException) as caught:
        check_levels(load_item({"a": nested(32)}).levels)
    assert caught.value.message == wire.TOO_DEEP


def test_hopeless_depth_is_not_walked():
    """PUT-5: what is too deep is reported late, by ``check_levels``."""
    assert load_item({"a": nested(99)}).levels == 100
    item = load_item({"a": nested(900)})
    assert item.levels == 101
    with pytest.raises(ValidationException) as caught:
        wire.check_levels(item.levels)
    assert caught.value.message == wire.TOO_DEEP


@pytest.mark.parametrize(
    ("inner", "message"),
    [(nested(31), "Empty attribute name"), (nested(32), wire.TOO_DEEP)],
)
def test_depth_is_told_before_an_empty_name_inside_of_a_value(inner, message):
    """ERR-VAL-1; a name of an attribute comes first of all."""
    item = {"m": {"M": {"": {"S": "x"}}}, "d": inner}
    with pytest.raises(ValidationException) as caught:
        load_item(item)
    assert caught.value.message == message
    with pytest.raises(ValidationException) as caught:
        load_item(item | {"": {"S": "x"}})
    assert caught.value.message == "Empty attribute name"


@pytest.mark.parametrize("strange", [{"L": 5}, {"M": "x"}, 5, {"L": [5, {}]}])
def test_an_empty_name_before_what_is_no_value_is_refused(strange):
    """TYP-7."""
    with pytest.raises(ValidationException) as caught:
        load_item({"m": {"M": {"": {"S": "x"}, "n": strange}}})
    assert caught.value.message == "Empty attribute name"


def test_an_empty_attribute_name_is_refused():
    """TYP-6."""
    with pytest.raises(ValidationException) as caught:
        load_item({"": {"S": "x"}})
    assert caught.value.message == "Empty attribute name"


def test_sets_come_back_ordered():
    """SET-6."""
    assert dump_value(load_value({"SS": ["b", "a", "é"]})) == {"SS": ["a", "b", "é"]}
    assert dump_value(load_value({"NS": ["10", "9", "-1"]})) == {"NS": ["-1", "9", "10"]}
    assert dump_value(load_value({"BS": ["/w==", "AA=="]})) == {"BS": ["AA==", "/w=="]}


def test_empty_strings_binaries_lists_and_maps_are_values():
    """TYP-4, SET-2."""
    for written in ({"S": ""}, {"B": ""}, {"L": []}, {"M": {}}, {"SS": [""]}, {"BS": [""]}):
        assert dump_value(load_value(written)) == written


def test_python_s_own_forms_are_taken_in_place_of_json_s():
    assert dump_value(load_value({"B": b"\x00\xff"})) == {"B": "AP8="}
    assert load_value({"L": ({"S": "a"},)}) == ("a",)
    assert load_value({"SS": {"a"}}) == load_value({"SS": ("a",)})


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS", "x", ""]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=10,
)


@given(json_values)
def test_nothing_but_the_service_s_errors_comes_of_any_json(written):
    try:
        value = load_value(written)
    except (ApiError, UnicodeEncodeError):
        return
    assert dump_value(load_value(dump_value(value))) == dump_value(value)


def test_numbers_of_an_item_are_written_without_an_exponent():
    """NUM-8: the shortcut of items is for those that have none."""
    item = {"small": Decimal("1E-7"), "plain": Decimal("1.5"), "text": "1E-7"}
    assert wire.dump_item(item) == {
        "small": {"N": "0.0000001"},
        "plain": {"N": "1.5"},
        "text": {"S": "1E-7"},
    }


STRUCTURE = "com.amazonaws.dynamodb.v20120810.AttributeValue"


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("x", "Unexpected field type"),
        (5, "Unexpected field type"),
        (["x"], f"Unrecognized collection type class {STRUCTURE}"),
        ({"L": "x"}, "Unexpected field type"),
        ({"L": 5}, "Unexpected field type"),
        ({"L": {"S": "x"}}, "Start of structure or map found where not expected"),
        ({"L": [["x"]]}, f"Unrecognized collection type class {STRUCTURE}"),
        (
            {"M": ["x"]},
            f"Unrecognized collection type java.util.Map<java.lang.String, {STRUCTURE}>",
        ),
        ({"M": "x"}, "Unexpected value type in payload"),
    ],
)
def test_an_attribute_that_is_no_value_cannot_be_read(written, message):
    """WIR-12: also where texts are looked for first."""
    with pytest.raises(SerializationException) as caught:
        load_item({"a": written})
    assert caught.value.message == message


def test_types_are_not_looked_for_in_hopeless_depth():
    """TYP-5: such a value is refused for its depth, and walking down would fill the stack."""
    value: dict = {"S": 5}
    for _ in range(20_000):
        value = {"M": {"a": value}}
    wire.check_value_types(value)
