"""Numbers: text in, exact decimal inside, canonical plain text out.

A number in memory is a canonical ``Decimal``: finite, at most 38 significant digits, no
trailing zero after the point, exponent never positive, never minus zero. Two equal numbers
are then the same in every respect, including their text. Rules NUM-1 to NUM-10, CAP-103.
"""

from __future__ import annotations

import re
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from functools import lru_cache
from typing import Final

from emulator.service import errors, limits
from emulator.service.wording import Wording

NOT_A_NUMBER: Final = "The parameter cannot be converted to a numeric value: {text}"
NO_TEXT: Final = Wording(
    NOT_A_NUMBER.format(text=""), older="The parameter cannot be converted to a numeric value"
)
TOO_MANY_DIGITS: Final = "Attempting to store more than 38 significant digits in a Number"
OVERFLOW: Final = (
    "Number overflow. Attempting to store a number with magnitude larger than supported range"
)
UNDERFLOW: Final = (
    "Number underflow. Attempting to store a number with magnitude smaller than supported range"
)
# NUM-6: the older layer overflows 32 bits itself at exactly one exponent.
OVERFLOW_QUIRK: Final = Wording(OVERFLOW, older=UNDERFLOW)

ZERO: Final = Decimal(0)
#: How many texts of numbers are not read again, and how long they may be.
KNOWN_NUMBERS: Final = 4096
SHORT_NUMBER: Final = 20

_SYNTAX: Final = r"([+-]?)(?=[0-9.])([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?"
# What needs no more than its conversion: few digits, and no zero at the end of a fraction.
_PLAIN = re.compile(r"-?[0-9]{1,19}(?:\.[0-9]{0,18}[1-9])?", re.ASCII).fullmatch
_EXPONENT_64_BITS: Final = 2**63
# Wide enough for every exact sum of two storable numbers: 125 + 130 digits and one carry.
_EXACT = Context(prec=300, Emax=MAX_EMAX, Emin=MIN_EMIN)
_ONE: Final = Decimal(1)
_BEYOND_DIGITS: Final = Decimal(10) ** limits.NUMBER_DIGITS
_BELOW_DIGITS: Final = -_BEYOND_DIGITS
_LONG_DIGITS: Final = 20  # digits of an exponent that cannot fit 64 bits


def parse_number(text: str) -> Decimal:
    """Return the canonical number that ``text`` writes.

    Raises:
        RequestFault: not a number, too many digits, or out of range, checked in this order
            (NUM-7).

    >>> parse_number("1.50"), parse_number("+1E3"), parse_number("-0")
    (Decimal('1.5'), Decimal('1000'), Decimal('0'))
    """
    if len(text) <= limits.NUMBER_DIGITS and text.isdigit() and text.isascii():
        return Decimal(text)
    if _PLAIN(text) is not None:
        return Decimal(text) or ZERO
    return _parse_general(text)


def measured_number(text: str) -> tuple[Decimal, int]:
    """Return the canonical number that ``text`` writes, and its stored bytes.

    Raises:
        RequestFault: as ``parse_number``.

    >>> measured_number("129.95")
    (Decimal('129.95'), 4)
    """
    if text.isdigit() and text[0] != "0" and len(text) <= limits.NUMBER_DIGITS and text.isascii():
        # A whole number is canonical as it is written, and its size is in its text.
        return Decimal(text), _whole_size(text)
    number = parse_number(text)
    return number, number_size(number)


#: ``measured_number`` of a short text. Quantities, prices and flags come again and again: those of
#: late are kept, and shared.
known_number: Final = lru_cache(maxsize=KNOWN_NUMBERS)(measured_number)


def _parse_general(text: str) -> Decimal:
    match = re.fullmatch(_SYNTAX, text, re.ASCII)
    if match is None or not (match[2] or match[3]):
        raise errors.RequestFault(NOT_A_NUMBER.format(text=text) if text else NO_TEXT)
    sign, whole, fraction, exponent_text = match[1], match[2], match[3] or "", match[4] or "0"
    exponent = _exponent(exponent_text, text)
    digits = (whole + fraction).lstrip("0")
    leading_zeros = len(whole) + len(fraction) - len(digits)
    leading_exponent = len(whole) - 1 - leading_zeros + exponent
    digits = digits.rstrip("0")
    if len(digits) > limits.NUMBER_DIGITS:
        raise errors.RequestFault(TOO_MANY_DIGITS)
    if not digits:
        # NUM-5: zero is checked on the exponent of its last digit.
        # Observed: ScyllaDB's tests, run against the service: 0.0e126 is zero, 0e126 is not.
        _check_range(exponent - len(fraction), text)
        return ZERO
    _check_range(leading_exponent, text)
    return canonical(Decimal(f"{sign}{digits}E{leading_exponent - len(digits) + 1}"))


def _exponent(exponent_text: str, text: str) -> int:
    """Return the exponent; beyond 64 bits the text is no number at all (NUM-6)."""
    stripped = exponent_text.lstrip("+-").lstrip("0")
    if len(stripped) < _LONG_DIGITS:
        exponent = int(f"0{stripped}") * (-1 if exponent_text.startswith("-") else 1)
        if -_EXPONENT_64_BITS <= exponent < _EXPONENT_64_BITS:
            return exponent
    raise errors.RequestFault(NOT_A_NUMBER.format(text=text))


def _check_range(leading_exponent: int, text: str) -> None:
    if leading_exponent > limits.NUMBER_MAX_EXPONENT:
        is_quirk = text.lower().lstrip("+-") == "1e2147483647"
        raise errors.RequestFault(OVERFLOW_QUIRK if is_quirk else OVERFLOW)
    if leading_exponent < limits.NUMBER_MIN_EXPONENT:
        raise errors.RequestFault(UNDERFLOW)


def canonical(number: Decimal) -> Decimal:
    """Return the canonical form of an exact, in-range number."""
    number = number.normalize(_EXACT)
    if not number:
        return ZERO
    # A positive exponent is written, and is not where there is none.
    return _EXACT.quantize(number, _ONE) if "E+" in str(number) else number


def format_number(number: Decimal) -> str:
    """Return the plain decimal text of a canonical number (NUM-8).

    >>> format_number(parse_number("1E-7"))
    '0.0000001'
    """
    text = str(number)
    return format(number, "f") if "E" in text else text


def add(left: Decimal, right: Decimal) -> Decimal:
    """Return the exact sum, which may be more than can be stored (NUM-10)."""
    return _tidy(_EXACT.add(left, right))


def subtract(left: Decimal, right: Decimal) -> Decimal:
    """Return the exact difference, which may be more than can be stored (NUM-10)."""
    return _tidy(_EXACT.subtract(left, right))


def _tidy(number: Decimal) -> Decimal:
    # An integer of few enough digits is canonical as it is.
    return number or ZERO if _is_small_integer(number) else canonical(number)


def _is_small_integer(number: Decimal) -> bool:
    return number.same_quantum(_ONE) and _BELOW_DIGITS < number < _BEYOND_DIGITS


def check_storable(number: Decimal) -> None:
    """Refuse a result that has too many digits or leaves the range (NUM-3, NUM-4, NUM-10).

    Observed: ScyllaDB's tests, run against the service: too many digits are an overflow here.
    """
    if _is_small_integer(number) or not number:
        return
    if len(text := str(number)) <= limits.NUMBER_DIGITS and "E" not in text:
        return
    digits = len(number.normalize(_EXACT).as_tuple().digits)
    if digits > limits.NUMBER_DIGITS or number.adjusted() > limits.NUMBER_MAX_EXPONENT:
        raise errors.ValidationException(OVERFLOW)
    if number.adjusted() < limits.NUMBER_MIN_EXPONENT:
        raise errors.ValidationException(UNDERFLOW)


def number_size(number: Decimal) -> int:
    """Return the stored bytes of a canonical number: pairs of digits around the point.

    Assumed: base 100, on the grid of the decimal point (CAP-103); it reproduces every
    captured value.

    >>> [number_size(parse_number(text)) for text in ("0", "42", "-42", "100", "3.14159")]
    [1, 2, 3, 2, 5]
    """
    if not number:
        return 1
    text = format_number(number)
    if text.isdigit():
        return _whole_size(text)
    negative = text[0] == "-"
    if negative:
        text = text[1:]
    whole, _, fraction = text.partition(".")
    if not fraction:
        return _whole_size(whole) + negative
    # Pairs of the fraction, less the zero pairs between the point and its first digit.
    pairs = (len(fraction) + 1) // 2
    if whole == "0":
        pairs -= (len(fraction) - len(fraction.lstrip("0"))) // 2
    else:
        pairs += (len(whole) + 1) // 2
    return 1 + pairs + negative


def _whole_size(digits: str) -> int:
    """Return the stored bytes of a whole number above 0: its pairs, less zero pairs at its end."""
    return 1 + (len(digits) + 1) // 2 - (len(digits) - len(digits.rstrip("0"))) // 2
