"""Filter patterns: one small language, parsed to a predicate over events (EVS-10 to EVS-15)."""

from __future__ import annotations

import json
import operator
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from emulator.service.errors import EventSourceWarning

Event: TypeAlias = Mapping[str, Any]
Predicate: TypeAlias = Callable[[Any], bool]
#: A pattern as JSON text, as the service takes it, or as the object that it writes.
Pattern: TypeAlias = str | Mapping[str, Any]

#: The default quota of five can be raised to ten.
MOST_PATTERNS: Final = 10
MOST_CHARACTERS: Final = 4096
# Observed: field reports; what follows it is ours.
INVALID: Final = "Invalid filter pattern definition. {fault}"
TOO_MANY: Final = (
    "a source has at most {most} filters, and five without a raised quota, not {count}"
)
TOO_LONG: Final = "a filter pattern has at most {most} characters, not {count}"
NEVER: Final = (
    "the filter {path} can never match: DynamoDB sends numbers as text, so compare with "
    '"N": ["5"], or filter in the handler'
)
_SCALARS: Final = (str, int, float, bool, type(None))
_ABSENT: Final = object()


def predicate_of(patterns: Iterable[Pattern]) -> Predicate | None:
    """Return whether an event matches any of some patterns, or None if there are no patterns.

    >>> matches = predicate_of([{"eventName": ["INSERT", {"prefix": "MOD"}]}])
    >>> [matches({"eventName": name}) for name in ("INSERT", "MODIFY", "REMOVE")]
    [True, True, False]
    >>> predicate_of(['{"eventName": "INSERT"}'])
    Traceback (most recent call last):
    ValueError: Invalid filter pattern definition. eventName: expected a list or an object, ...

    Raises:
        ValueError: a pattern is wrong, or there are too many; the message says where.
    """
    texts = [p if isinstance(p, str) else _written(p) for p in patterns]
    if len(texts) > MOST_PATTERNS:
        raise ValueError(TOO_MANY.format(most=MOST_PATTERNS, count=len(texts)))
    parsed = [_parse(text) for text in texts]
    return _any(parsed) if parsed else None


def _written(pattern: Any) -> str:
    if not isinstance(pattern, Mapping):
        raise _fault(f"expected an object or JSON text, not {pattern!r}")
    try:
        return json.dumps(pattern)
    except (TypeError, ValueError) as error:
        raise _fault(str(error)) from None


def _parse(text: str) -> Predicate:
    if len(text) > MOST_CHARACTERS:
        raise ValueError(TOO_LONG.format(most=MOST_CHARACTERS, count=len(text)))
    try:
        pattern = json.loads(text, parse_float=_Written)
    except ValueError as error:
        raise _fault(f"it is not JSON: {error}") from None
    if not isinstance(pattern, dict) or not pattern:
        raise _fault("expected an object with at least one key")
    return _object(pattern, "")


class _Written(float):
    """A number with the text that wrote it: 300.0 and 3.0e2 are not equal (EVS-11)."""

    def __init__(self, text: str) -> None:
        self.text = text


def _object(pattern: Mapping[str, Any], path: str) -> Predicate:
    """Return the predicate of an object: all of its members match."""
    members = [_member(name, rule, f"{path}.{name}".strip(".")) for name, rule in pattern.items()]
    return members[0] if len(members) == 1 else _all(members)


def _member(name: str, rule: Any, path: str) -> Predicate:
    if name == "$or":
        return _alternatives(rule, path)
    if isinstance(rule, Mapping) and rule:
        below = _object(rule, path)
    elif isinstance(rule, list) and rule:
        below = _leaf([_comparison(entry, path) for entry in rule])
    else:
        raise _fault(f"{path}: expected a list or an object, and not an empty one")

    def matches(node: Any) -> bool:
        if isinstance(node, list):
            return any(map(matches, node))
        return below(node.get(name, _ABSENT) if isinstance(node, Mapping) else _ABSENT)

    return matches


def _alternatives(rule: Any, path: str) -> Predicate:
    if not isinstance(rule, list) or not rule:
        raise _fault(f"{path}: expected a list of objects")
    for entry in rule:
        if not isinstance(entry, Mapping) or not entry:
            raise _fault(f"{path}: expected objects with keys, not {entry!r}")
    return _any([_object(entry, path.removesuffix("$or").strip(".")) for entry in rule])


def _leaf(comparisons: Sequence[Predicate]) -> Predicate:
    """Return whether a value, or one of several in a list, satisfies one of the comparisons."""

    def matches(value: Any) -> bool:
        if isinstance(value, list):
            return any(map(matches, value)) if value else matches(_ABSENT)
        leaf = _ABSENT if isinstance(value, Mapping) else value
        return any(compare(leaf) for compare in comparisons)

    return matches


def _comparison(entry: Any, path: str) -> Predicate:
    if isinstance(entry, _SCALARS):
        return _equals(entry)
    if not isinstance(entry, Mapping) or len(entry) != 1:
        raise _fault(f"{path}: expected a value or one operator, not {entry!r}")
    [(name, operand)] = entry.items()
    build = _OPERATORS.get(name)
    if build is None:
        known = ", ".join(_OPERATORS)
        raise _fault(f"{path}: there is no operator {name!r}; there are {known}")
    if name == "numeric" and path.rpartition(".")[2] == "N":
        warnings.warn(NEVER.format(path=path), EventSourceWarning, stacklevel=2)
    return build(operand, path)


def _equals(wanted: Any) -> Predicate:
    text = _text(wanted)
    return lambda value: value is not _ABSENT and _text(value) == text


def _text(value: Any) -> str:
    """Return a value as JSON: values are equal if they are written alike (EVS-11)."""
    return value.text if isinstance(value, _Written) else json.dumps(value)


def _anything_but(operand: Any, path: str) -> Predicate:
    listed = operand if isinstance(operand, list) else [operand]
    if not listed or not all(isinstance(entry, str | int | float) for entry in listed):
        raise _fault(f"{path}: anything-but takes texts and numbers, not {operand!r}")
    is_listed = _any([_equals(entry) for entry in listed])
    return lambda value: value is not _ABSENT and not is_listed(value)


def _numeric(operand: Any, path: str) -> Predicate:
    is_even = isinstance(operand, list) and len(operand) in (2, 4)
    pairs = list(zip(operand[::2], operand[1::2], strict=True)) if is_even else []
    if not pairs or not all(sign in _SIGNS and _is_number(number) for sign, number in pairs):
        raise _fault(f'{path}: numeric takes signs and numbers, as [">", 0], not {operand!r}')
    tests = [(_SIGNS[sign], number) for sign, number in pairs]
    return lambda value: _is_number(value) and all(test(value, n) for test, n in tests)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _exists(operand: Any, path: str) -> Predicate:
    if not isinstance(operand, bool):
        raise _fault(f"{path}: exists takes true or false, not {operand!r}")
    return lambda value: (value is not _ABSENT) is operand


def _on_text(test: Callable[[str, str], bool]) -> Callable[[Any, str], Predicate]:
    """Return an operator that compares text with text."""

    def build(operand: Any, path: str) -> Predicate:
        if not isinstance(operand, str):
            raise _fault(f"{path}: expected text, not {operand!r}")
        return lambda value: isinstance(value, str) and test(value, operand)

    return build


_SIGNS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_OPERATORS: Final[dict[str, Callable[[Any, str], Predicate]]] = {
    "equals-ignore-case": _on_text(lambda value, wanted: value.casefold() == wanted.casefold()),
    "anything-but": _anything_but,
    "numeric": _numeric,
    "exists": _exists,
    "prefix": _on_text(str.startswith),
    "suffix": _on_text(str.endswith),
}


def _all(predicates: Sequence[Predicate]) -> Predicate:
    return lambda value: all(matches(value) for matches in predicates)


def _any(predicates: Sequence[Predicate]) -> Predicate:
    if len(predicates) == 1:
        return predicates[0]
    return lambda value: any(matches(value) for matches in predicates)


def _fault(fault: str) -> ValueError:
    return ValueError(INVALID.format(fault=fault))
