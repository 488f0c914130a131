"""Parameters of a statement: read before the statement is (PQL-12).

Observed: the public suite, October 2026: a number is read as Java reads it, so one with an exponent
beyond 32 bits is not a number; of several faults, the first in the document is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from emulator.model import NOT_A_NUMBER, Value
from emulator.model.wire import TOO_DEEP, load_value
from emulator.partiql.literals import fits_java
from emulator.service import errors, limits

_CONTAINERS: Final = (("L", list), ("M", dict))
_EXPONENT: Final = re.compile(r"[+-]?[0-9.]+[eE]([+-]?[0-9]+)", re.ASCII)


def load_parameters(written: list[Any] | None) -> list[Value]:
    """Return the values of parameters.

    Raises:
        ValidationException: the first fault in the order of the document.
    """
    if written is None:
        return []
    try:
        return [load_value(value) for value in written]
    except errors.ValidationException:
        return [_load_in_order(value, 1) for value in written]


def _load_in_order(wire: Any, level: int) -> Value:
    """Load a value member by member, so that the first fault of the document is raised.

    A value of a wrong JSON type, such as a null, is left to ``load_value``.
    """
    if type(wire) is dict and len(wire) == 1:
        for tag, raw in wire.items():
            if (tag, type(raw)) in _CONTAINERS:
                if level >= limits.NESTING_LEVELS:
                    raise errors.ValidationException(TOO_DEEP)
                for member in raw.values() if tag == "M" else raw:
                    _load_in_order(member, level + 1)
            elif tag == "N":
                _check_exponents([raw])
            elif tag == "NS" and type(raw) is list:
                _check_exponents(raw)
    return load_value(wire)


def _check_exponents(numbers: Iterable[Any]) -> None:
    """Refuse an exponent beyond 32 bits, of a number or of a member of a set."""
    for text in numbers:
        match = _EXPONENT.fullmatch(text) if type(text) is str else None
        if match is not None and not fits_java(match[1]):
            raise errors.RequestFault(NOT_A_NUMBER.format(text=text))
