"""Which texts are policy documents: the form of one, and of its Condition (OTH-18, OTH-23).

Nothing here enforces a policy (OTH-22).
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from ipaddress import ip_network
from typing import Any, Final

#: The version in which ``${...}`` is a variable; without one it is not.
_WITH_VARIABLES: Final = "2012-10-17"
_VARIABLE: Final = re.compile(r"\$\{[^{}]*\}")


def is_policy(text: str) -> bool:
    """Return whether a text has the form of a policy.

    >>> is_policy('{"Statement": {"Effect": "Deny", "Principal": "*", "Action": "*",'
    ...           ' "Resource": "*"}}')
    True
    >>> is_policy("[]")
    False
    """
    try:
        document = json.loads(text)
        statements = document["Statement"]
        has_variables = document.get("Version") == _WITH_VARIABLES
        for statement in [statements] if isinstance(statements, dict) else statements:
            _check_statement(statement, has_variables=has_variables)
    except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError):
        return False
    return True


def _check_statement(written: Any, *, has_variables: bool) -> None:
    if written["Effect"] not in ("Allow", "Deny"):
        raise ValueError(written["Effect"])
    _check_principals(_either(written, "Principal"))
    _check_texts(_either(written, "Action"))
    _check_texts(_either(written, "Resource"))
    for operator, keys in (written.get("Condition") or {}).items():
        read = _reader(operator)
        for values in keys.values():
            for value in values if isinstance(values, list) else [values]:
                text = _condition_text(value)
                if not (has_variables and _VARIABLE.search(text)):
                    read(text)


def _either(written: dict[str, Any], member: str) -> Any:
    """Return a member, or the one that says what the statement is not about."""
    opposite = f"Not{member}"
    if (member in written) == (opposite in written):
        raise ValueError(member)
    return written.get(member, written.get(opposite))


def _check_principals(written: Any) -> None:
    if written == "*":
        return
    if not isinstance(written, dict) or not written:
        raise TypeError("Principal")
    for names in written.values():
        _check_texts(names)


def _check_texts(written: Any) -> None:
    texts = [written] if isinstance(written, str) else written
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise TypeError("a text or a list of texts is expected")


def _condition_text(value: Any) -> str:
    """Return a value as text: JSON's numbers and booleans may stand for theirs."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    raise TypeError("a condition's value is a text, a number or a boolean")


def _reader(operator: str) -> Callable[[str], object]:
    """Return the function that refuses values of the wrong kind for an operator (OTH-23)."""
    name = operator.lower().rpartition(":")[2].removesuffix("ifexists")
    kind = next((kind for kind in _READERS if name.startswith(kind)), None)
    return str if kind is None else _READERS[kind]


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


def _date(text: str) -> object:
    """Return a date of ISO 8601 or seconds since 1970."""
    try:
        return float(text)
    except ValueError:
        return datetime.fromisoformat(text)


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _network(text: str) -> object:
    return ip_network(text, strict=False)


#: The first letters of an operator's name, and the function that reads its values.
_READERS: Final[dict[str, Callable[[str], object]]] = {
    "bool": _boolean,
    "null": _boolean,
    "binary": _bytes,
    "ipaddress": _network,
    "notipaddress": _network,
    "numeric": Decimal,
    "date": _date,
}
