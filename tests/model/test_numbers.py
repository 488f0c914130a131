"""Numbers: rules NUM-1 to NUM-10, VEC-1, VEC-2, and the sizes of CAP-103."""

from decimal import Decimal, localcontext

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from emulator.model.numbers import (
    NOT_A_NUMBER,
    OVERFLOW,
    TOO_MANY_DIGITS,
    UNDERFLOW,
    add,
    check_storable,
    format_number,
    measured_number,
    number_size,
    parse_number,
    subtract,
)
from emulator.service.errors import RequestFault, ValidationException
from tests.each import each

LARGEST = "9" * 38 + "0" * 88


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        # VEC-1, NUM-8
        ("00042", "42"),
        ("1.50", "1.5"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("1.5E2", "150"),
        ("+1E6", "1000000"),
        ("1e-003", "0.001"),
        ("1E2", "100"),
        (".5", "0.5"),
        ("5.", "5"),
        ("1E125", "1" + "0" * 125),
        ("1E-130", "0." + "0" * 129 + "1"),
        (LARGEST, LARGEST),
        ("0e125", "0"),  # NUM-5
        ("0.0e126", "0"),
        ("-0.00e127", "0"),
        ("0.00000000000000000000000000000000000000000001", "0." + "0" * 43 + "1"),
        ("-12.340", "-12.34"),
        ("0" * 100 + "7" + "." + "0" * 100, "7"),  # NUM-3: zeros on either side do not count
    ],
)
def test_a_number_comes_back_in_canonical_plain_decimal(text, canonical):
    assert format_number(parse_number(text)) == canonical


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "1e",
        "e5",
        " 1",
        "1 ",
        "0x10",
        "1.2.3",
        "NaN",
        "Infinity",
        "1_000",
        "--1",
        "+",
        "１",
    ],
)
def test_what_is_not_a_number_is_refused(text):
    """NUM-1, NUM-2, VEC-2."""
    with pytest.raises(RequestFault) as caught:
        parse_number(text)
    assert caught.value.message == NOT_A_NUMBER.format(text=text)


def test_the_older_layer_says_nothing_after_an_empty_number():
    """NUM-2."""
    with pytest.raises(RequestFault) as caught:
        parse_number("")
    assert (
        caught.value.wording.text("older") == "The parameter cannot be converted to a numeric value"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1" * 39, TOO_MANY_DIGITS),  # NUM-3
        ("1." + "2" * 38, TOO_MANY_DIGITS),
        ("1e126", OVERFLOW),  # NUM-4
        ("-1e126", OVERFLOW),
        ("1e-131", UNDERFLOW),
        ("0e126", OVERFLOW),  # NUM-5
        ("0.0e127", OVERFLOW),
        ("0.0e-130", UNDERFLOW),
        ("0e-131", UNDERFLOW),
        ("1e99999999999", OVERFLOW),  # NUM-6
        ("1e-99999999999", UNDERFLOW),
        ("1e9223372036854775807", OVERFLOW),  # the last exponents of 64 bits
        ("1e-9223372036854775808", UNDERFLOW),
        ("1e2147483647", OVERFLOW),
        ("1" * 39 + "e200", TOO_MANY_DIGITS),  # NUM-7: digits before range
    ],
)
def test_what_cannot_be_stored_is_refused(text, message):
    with pytest.raises(RequestFault) as caught:
        parse_number(text)
    assert caught.value.message == message


@pytest.mark.parametrize(
    "text", ["1e9223372036854775808", "1e-9223372036854775809", "1e" + "9" * 40]
)
def test_an_exponent_beyond_64_bits_is_no_number(text):
    """NUM-6."""
    with pytest.raises(RequestFault) as caught:
        parse_number(text)
    assert caught.value.message == NOT_A_NUMBER.format(text=text)


def test_one_exponent_underflows_in_the_older_layer():
    """NUM-6."""
    with pytest.raises(RequestFault) as caught:
        parse_number("1e2147483647")
    assert caught.value.wording.text("older") == UNDERFLOW


def test_equal_numbers_are_the_same_object_in_every_respect():
    """NUM-9."""
    forms = {parse_number(text) for text in ("1", "1.0", "01", "1E0", "+1.000")}
    assert forms == {Decimal(1)}
    assert {format_number(number) for number in forms} == {"1"}


@each(
    ("text", "size"),
    [
        # CAP-103: every captured value
        ("1", 2), ("12", 2), ("123", 3), ("1234", 3), ("12345", 4), ("123456", 4),
        ("1234567891", 6), ("1234567890123456789", 11),
        ("12345678901234567890123456789012345678", 20), ("0042", 2), ("100", 2), ("1010", 3),
        ("0.0000001", 2), ("0", 1), ("1E125", 2), ("1E-100", 2), ("1.5", 3), ("1.200", 3),
        ("1.234", 4), ("3.14159", 5), ("100.5", 4), ("0.15", 2), ("-42", 3), ("-12345", 5),
        ("-1E125", 3), ("-0.15", 3), ("-0", 1), ("120", 3), ("0.012", 3), ("1E3", 2),
        ("1000.0", 2),  # CAP-104
    ],
)  # fmt: skip
def test_sizes_are_counted_in_pairs_of_digits(text, size):
    assert number_size(parse_number(text)) == size


def spec_size(text):
    """CAP-103 as the rule writes it."""
    sign, digits, exp = Decimal(text).as_tuple()
    ds = list(digits)
    while ds and ds[0] == 0:
        ds.pop(0)
    while ds and ds[-1] == 0:
        ds.pop()
        exp += 1
    if not ds:
        return 1
    if exp % 2:
        ds.append(0)
        exp -= 1
    if len(ds) % 2:
        ds.insert(0, 0)
    return 1 + len(ds) // 2 + (1 if sign else 0)


texts = st.builds(
    lambda sign, digits, exponent: f"{sign}{digits}e{exponent}",
    st.sampled_from(["", "-", "+"]),
    st.integers(0, 10**38 - 1),
    st.integers(-90, 80),
)


@given(texts)
@example("120e0")  # an even digit count off the pair grid
def test_sizes_equal_the_specified_function(text):
    assert number_size(parse_number(text)) == spec_size(text)


@given(
    st.one_of(
        texts,
        st.integers(0, 10**40 - 1).map(str),
        st.from_regex(r"0{0,2}[0-9]{1,4}0{0,3}", fullmatch=True),
    )
)
@example("100")
@example("1000")
def test_a_number_is_measured_as_it_is_read(text):
    """CAP-103: however it is written, and whatever shortcut its text allows."""
    try:
        number = parse_number(text)
    except RequestFault:
        with pytest.raises(RequestFault):
            measured_number(text)
        return
    measured, size_bytes = measured_number(text)
    assert measured.as_tuple() == number.as_tuple()
    assert size_bytes == number_size(number) == spec_size(text)


@given(texts)
def test_parsing_is_exact_and_formatting_is_its_inverse(text):
    number = parse_number(text)
    assert number == Decimal(text)
    assert parse_number(format_number(number)).as_tuple() == number.as_tuple()
    assert "E" not in format_number(number)


@given(texts)
@example("12e1")
def test_a_number_in_memory_has_one_form(text):
    """NUM-9: no exponent above 0, no zero at the end of a fraction, no minus zero."""
    sign, digits, exponent = parse_number(text).as_tuple()
    assert exponent <= 0
    assert exponent == 0 or digits[-1] != 0
    assert not sign or any(digits)


@given(texts, texts)
def test_number_order_is_decimal_order(left, right):
    assert (parse_number(left) < parse_number(right)) == (Decimal(left) < Decimal(right))


@given(texts, texts)
def test_arithmetic_is_exact_and_then_judged(left, right):
    """NUM-10."""
    with localcontext(prec=400):
        for ours, theirs in (
            (add, Decimal(left) + Decimal(right)),
            (subtract, Decimal(left) - Decimal(right)),
        ):
            result = ours(parse_number(left), parse_number(right))
            assert result == theirs
            try:
                check_storable(result)
            except ValidationException as error:
                assert error.message == OVERFLOW
                assert len(theirs.normalize().as_tuple().digits) > 38
            else:
                assert format_number(result) == format_number(parse_number(format(theirs, "f")))


def test_arithmetic_beyond_the_range_is_refused():
    """NUM-10, NUM-4."""
    large = parse_number("9E125")
    with pytest.raises(ValidationException) as caught:
        check_storable(add(large, large))
    assert caught.value.message == OVERFLOW
    assert not isinstance(caught.value, RequestFault)


def test_what_is_left_below_the_range_is_refused():
    """NUM-10, NUM-4."""
    with pytest.raises(ValidationException) as caught:
        check_storable(subtract(parse_number("1.1E-130"), parse_number("1E-130")))
    assert caught.value.message == UNDERFLOW


def test_zeros_before_an_exponent_count_for_nothing():
    """Thousands of them are more digits than Python makes a number of."""
    assert parse_number(f"1e-{'0' * 5000}1") == Decimal("0.1")
