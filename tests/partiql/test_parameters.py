"""Parameters: numbers as Java reads them, and the first fault of the document (PQL-12)."""

import pytest

from emulator.partiql.parameters import load_parameters
from emulator.service.errors import RequestFault, SerializationException, ValidationException
from tests.operations.statement_runs import fault, with_table

DEEP = (
    "Nesting Levels have exceeded supported limits: "
    "Attributes in the item have nested levels beyond supported limit"
)
NO_NUMBER = "The parameter cannot be converted to a numeric value"
UNDERFLOW = (
    "Number underflow. Attempting to store a number with magnitude smaller than supported range"
)


def deep(levels, leaf=None):
    value = leaf or {"S": "leaf"}
    for _ in range(levels):
        value = {"M": {"n": value}}
    return value


def refusal(*written):
    """Return what a client reads: statements are answered by the older layer."""
    with pytest.raises(ValidationException) as caught:
        load_parameters(list(written))
    error = caught.value
    return error.wording.text("older") if isinstance(error, RequestFault) else error.message


def test_no_parameters_are_none():
    assert load_parameters(None) == []


def test_every_type_is_a_parameter():
    assert load_parameters([{"S": "a"}, {"L": [{"BOOL": True}]}]) == ["a", (True,)]


@pytest.mark.parametrize(
    "number",
    ["1e99999999999", "-1e99999999999", "1e-99999999999", "1e2147483648", "1e-2147483648"],
)
def test_an_exponent_beyond_32_bits_makes_no_number(number):
    message = f"{NO_NUMBER}: {number}"
    assert refusal({"N": number}) == message
    assert refusal({"L": [{"N": "1"}, {"N": number}]}) == message
    assert refusal({"M": {"x": {"N": number}}}) == message
    assert refusal({"NS": ["1", number]}) == message


@pytest.mark.parametrize("number", ["1e-2147483647", "1.5e-2147483647"])
def test_an_exponent_of_32_bits_is_judged_as_any_other(number):
    assert refusal({"N": number}) == UNDERFLOW


def test_the_largest_exponent_wraps_around():
    """NUM-6."""
    assert refusal({"N": "1e2147483647"}) == UNDERFLOW


def test_an_empty_number_leaves_nothing_to_say():
    """NUM-2."""
    assert refusal({"N": ""}) == NO_NUMBER


@pytest.mark.parametrize("levels", [32, 40, 100, 2000])
def test_the_first_fault_of_the_document_is_told(levels):
    no_number = f"{NO_NUMBER}: abc"
    bad = {"N": "abc"}
    assert refusal(deep(levels), bad) == DEEP
    assert refusal(bad, deep(levels)) == no_number
    assert refusal({"M": {"d": deep(levels), "bad": bad}}) == DEEP
    assert refusal({"M": {"bad": bad, "d": deep(levels)}}) == no_number
    assert refusal(deep(levels, bad)) == DEEP
    assert refusal(deep(levels), {"N": "1e126"}) == DEEP


def test_a_value_may_be_as_deep_as_any():
    """TYP-5."""
    assert len(load_parameters([deep(31)])) == 1


@pytest.mark.parametrize("wrong", [5, {"S": 5}, {"L": [5]}, {"L": 5}, {"M": 5}, {"N": 5}])
def test_a_wrong_json_type_is_told_as_such(wrong):
    """WIR-12: also behind another fault."""
    with pytest.raises(SerializationException):
        load_parameters([wrong])
    with pytest.raises((SerializationException, ValidationException)):
        load_parameters([{"NULL": False}, wrong])
    with pytest.raises(SerializationException):
        load_parameters([wrong, {"NULL": False}])


@pytest.mark.parametrize("empty", [{}, {"S": None}, {"X": "x"}, {"S": "a", "N": "1"}])
def test_a_value_has_one_type(empty):
    """TYP-1."""
    assert refusal(empty).startswith("Supplied AttributeValue ")


def test_parameters_are_read_before_the_statement():
    emu = with_table()
    assert fault(emu, "SELECT", {"N": "abc"}) == f"{NO_NUMBER}: abc"
    assert fault(emu, "SELECT", {"NULL": False}) == (
        "One or more parameter values were invalid: "
        "Null attribute value types must have the value of true"
    )


@pytest.mark.parametrize(
    "written",
    [
        [{"N": None}],
        [{"NS": None}],
        [{"L": None}],
        [{"M": None}],
        [{"L": [{"N": None}]}, 5],
        [{"N": "x"}, {"L": 5}],
        [{"N": "x"}, {"NS": [None]}],
        [{"N": "x"}, None],
    ],
)
def test_a_null_in_a_value_is_a_fault_like_others(written):
    """An ApiError and nothing else."""
    with pytest.raises((ValidationException, SerializationException)):
        load_parameters(written)
