"""Rules about expression parameters, decided from the request alone."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from emulator.expressions import NAMES, VALUES, Placeholders, check_placeholder_keys
from emulator.model import Value, attributes_size, text_size, wire
from emulator.service import errors, limits
from emulator.service.wording import Wording

MIXED: Final = (
    "Can not use both expression and non-expression parameters in the same request: "
    "Non-expression parameters: {{{legacy}}} Expression parameters: {{{current}}}"
)
NAMES_ALONE: Final = "ExpressionAttributeNames can only be specified when using expressions"
VALUES_ALONE: Final = Wording(
    "ExpressionAttributeValues can only be specified when using expressions",
    older="ExpressionAttributeValues can only be specified when using expressions: {absent}",
)
BAD_VALUE: Final = Wording(
    "{message}", older="ExpressionAttributeValues contains invalid value: {message} for key {key}"
)
# Source: the list of validation errors in the code of DynamoDB Local.
PLACEHOLDERS_TOO_LARGE: Final = "{what} exceeds max size"
_BOTH: Final = "Combined size of ExpressionAttributeNames and ExpressionAttributeValues"

#: So few placeholders, each so short, are far below the limit whatever their characters are.
_FEW: Final = 64
_SHORT: Final = 4096

_USES_PLACEHOLDERS: Final = (
    "ExpressionAttributeNames",
    "ExpressionAttributeValues",
    "ConditionExpression",
    "UpdateExpression",
    "FilterExpression",
    "KeyConditionExpression",
    "ProjectionExpression",
    "SearchConditionExpression",
)
# Nothing is ever parsed with it, so nothing is ever noted in it.
_NO_PLACEHOLDERS: Final = Placeholders()


def parameters_are_legacy_or_current(
    request: Mapping[str, Any], legacy: tuple[str, ...], current: tuple[str, ...]
) -> None:
    """Refuse legacy parameters beside expressions (LEG-1)."""
    if request.keys().isdisjoint(legacy):
        return
    given_legacy = [name for name in legacy if request.get(name) is not None]
    given_current = [name for name in current if request.get(name) is not None]
    if given_legacy and given_current:
        raise errors.RequestFault(
            MIXED.format(legacy=", ".join(given_legacy), current=", ".join(given_current))
        )


def placeholders_come_with_expressions(
    request: Mapping[str, Any], current: tuple[str, ...], values_for: tuple[str, ...] | None = None
) -> None:
    """Refuse names or values where no expression could use them (PLH-3, PLH-5).

    Args:
        request: The request, or one action of a transaction.
        current: The expression parameters of the operation.
        values_for: Those that can use values, if not all; where none can, values are no
            parameter of the operation and passed over like any unknown member (WIR-15).
    """
    users = current if values_for is None else values_for
    names = request.get("ExpressionAttributeNames")
    values = request.get("ExpressionAttributeValues") if users else None
    if names is None and values is None:
        return
    if names is not None and _lacks(request, current):
        raise errors.RequestFault(NAMES_ALONE)
    if values is not None and _lacks(request, users):
        raise errors.RequestFault(VALUES_ALONE.format(absent=_absent(users)))
    check_placeholder_keys(names, values)


def _lacks(request: Mapping[str, Any], members: tuple[str, ...]) -> bool:
    for name in members:  # noqa: SIM110 - asked of every request
        if request.get(name) is not None:
            return False
    return True


def _absent(users: tuple[str, ...]) -> str:
    """Return the older wording's addition: the expressions that are null (PLH-3)."""
    if users == ("UpdateExpression", "ConditionExpression"):
        return "UpdateExpression and ConditionExpression are null"
    return " and ".join(f"{name} is null" for name in users)


def load_placeholders(
    request: Mapping[str, Any], levels: int = limits.NESTING_LEVELS
) -> Placeholders:
    """Return the placeholders of a request, values loaded (PRO-6).

    Their keys were judged by ``placeholders_come_with_expressions``.

    Args:
        request: The request, or one action of a transaction.
        levels: How deep a value may be nested.
    """
    if request.keys().isdisjoint(_USES_PLACEHOLDERS):
        return _NO_PLACEHOLDERS
    written = request.get("ExpressionAttributeValues")
    values: dict[str, Value] | None = None
    if written is not None:
        values = _load_values(written, levels)
    names = request.get("ExpressionAttributeNames")
    placeholders_fit(names, values)
    return Placeholders(names, values, checked=True)


def placeholders_fit(names: Mapping[str, str] | None, values: Mapping[str, Value] | None) -> None:
    """Refuse names and values beyond 2 MB, those of one table or one action together (PLH-6).

    Assumed: that they are measured like items, and checked after the values are read.
    """
    count = 0
    if values is not None:
        count = len(values)
        for value in values.values():
            kind = type(value)
            if kind is not Decimal and (kind is not str or len(value) > _SHORT):  # type: ignore[arg-type]  # it is text
                return _sizes_fit(names or {}, values)
    if names is not None:
        count += len(names)
        for target in names.values():
            if len(target) > _SHORT:
                return _sizes_fit(names, values or {})
    return _sizes_fit(names or {}, values or {}) if count > _FEW else None


def _sizes_fit(names: Mapping[str, str], values: Mapping[str, Value]) -> None:
    names_bytes = sum(text_size(key) + text_size(target) for key, target in names.items())
    values_bytes = attributes_size(values)
    for what, size in (
        (NAMES, names_bytes),
        (VALUES, values_bytes),
        (_BOTH, names_bytes + values_bytes),
    ):
        if size > limits.PLACEHOLDER_BYTES:
            raise errors.RequestFault(PLACEHOLDERS_TOO_LARGE.format(what=what))


def _load_values(written: Mapping[str, Any], levels: int) -> dict[str, Value]:
    values: dict[str, Value] = {}
    key = ""
    try:
        for key, value in written.items():
            values[key] = wire.load_value(value, levels)
    except errors.RequestFault as fault:
        raise errors.RequestFault(BAD_VALUE.format(message=fault.wording, key=key)) from None
    except errors.ValidationException as fault:
        wording = BAD_VALUE.format(message=fault.message, key=key)
        raise errors.RequestFault(wording, is_final=True) from None
    return values
