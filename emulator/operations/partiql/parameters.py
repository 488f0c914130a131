"""Parameters of a statement: read before the statement is (PQL-12).

Observed: the public suite, October 2026: a number is read as Java reads it, so an exponent
beyond 32 bits makes it none; of several faults the first in the order of the document is told.
"""

from __future__ import annotations

import re
from typing import Any, Final

from emulator import limits
from emulator.errors import RequestFault, ValidationException
from emulator.model import Value
from emulator.model.numbers import NOT_A_NUMBER
from emulator.model.wire import TOO_DEEP, load_value

_EXPONENT: Final = re.compile(r"[+-]?[0-9.]+[eE]([+-]?)0*([0-9]+)", re.ASCII)
_JAVA_DIGITS: Final = 10
_JAVA_INTEGER: Final = range(-(2**31) + 1, 2**31)


def load_parameters(written: list[Any] | None) -> list[Value]:
    """Return the values of parameters.

    Raises:
        ValidationException: the first fault in the order of the document.
    """
    if written is None:
        return []
    try:
        return [load_value(value) for value in written]
    except ValidationException:
        for value in written:
            _tell_first_fault(value, 1)
        raise


def _tell_first_fault(wire: Any, level: int) -> None:
    """Walk a value in the order of the document and raise the first fault."""
    if type(wire) is dict and len(wire) == 1:
        for raw in wire.values():
            if type(raw) is dict or "L" in wire:
                _tell_in_container(raw, level + 1)
            else:
                _check_exponents(wire)
    load_value(wire)


def _tell_in_container(raw: Any, level: int) -> None:
    if level > limits.NESTING_LEVELS:
        raise ValidationException(TOO_DEEP)
    if isinstance(raw, dict | list | tuple):
        for member in raw.values() if isinstance(raw, dict) else raw:
            _tell_first_fault(member, level)


def _check_exponents(wire: dict[str, Any]) -> None:
    """Refuse an exponent beyond 32 bits, of a number or of a member of a set."""
    members = wire.get("NS", [wire.get("N")])
    for text in members if isinstance(members, list) else ():
        match = _EXPONENT.fullmatch(text) if isinstance(text, str) else None
        if match is not None:
            sign, digits = match.groups()
            if len(digits) > _JAVA_DIGITS or int(sign + digits) not in _JAVA_INTEGER:
                raise RequestFault(NOT_A_NUMBER.format(text=text))
