"""Rules about legacy conditions: Expected, QueryFilter, ScanFilter, KeyConditions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from emulator import expressions
from emulator.engine import Table
from emulator.model import check_name
from emulator.model.wire import INVALID, load_value
from emulator.operations.rules import keys
from emulator.operations.rules.expressions import load_placeholders
from emulator.service.errors import RequestFault

FOR: Final = " for Attribute: {name}"
NEEDS_VALUE: Final = INVALID + "Value must be provided when Exists is {exists}" + FOR
NO_VALUE: Final = INVALID + "Value cannot be used when Exists is false" + FOR
EXISTS_AND_OPERATOR: Final = INVALID + "Exists and ComparisonOperator cannot be used together" + FOR
VALUE_AND_LIST: Final = INVALID + "Value and AttributeValueList cannot be used together" + FOR
LIST_ALONE: Final = INVALID + "AttributeValueList can only be used with a ComparisonOperator" + FOR
OPERATOR_ALONE: Final = (
    INVALID + "Value or AttributeValueList must be used with ComparisonOperator: {operator}" + FOR
)
NOTHING_TO_JOIN: Final = "ConditionalOperator cannot be used without Filter or Expected"
TOO_FEW: Final = (
    "ConditionalOperator can only be used when Filter or Expected has two or more elements"
)
_OF_A_CONDITION: Final = (
    "ConditionExpression",
    "ExpressionAttributeNames",
    "ExpressionAttributeValues",
    "Expected",
    "ConditionalOperator",
)


def load_expected(request: Mapping[str, Any]) -> dict[str, expressions.LegacyCondition] | None:
    """Return the entries of Expected, values loaded and structure checked (LEG-4)."""
    expected = request.get("Expected")
    if expected is None:
        return None
    for name in expected:
        check_name(name)
    return {name: _expected_entry(name, entry) for name, entry in expected.items()}


def _expected_entry(name: str, entry: Mapping[str, Any]) -> expressions.LegacyCondition:
    exists, operator = entry.get("Exists"), entry.get("ComparisonOperator")
    value, listed = entry.get("Value"), entry.get("AttributeValueList")
    if operator is not None:
        if exists is not None:
            raise RequestFault(EXISTS_AND_OPERATOR.format(name=name))
        if value is not None and listed is not None:
            raise RequestFault(VALUE_AND_LIST.format(name=name))
        if value is None and listed is None and operator not in expressions.NO_ARGUMENTS:
            raise RequestFault(OPERATOR_ALONE.format(operator=operator, name=name))
        written = [value] if value is not None else listed or []
        return expressions.LegacyCondition(operator, tuple(map(load_value, written)))
    if listed is not None:
        raise RequestFault(LIST_ALONE.format(name=name))
    if exists is False:
        if value is not None:
            raise RequestFault(NO_VALUE.format(name=name))
        return expressions.LegacyCondition("NULL", ())
    if value is None:
        shown = "null" if exists is None else "true"
        raise RequestFault(NEEDS_VALUE.format(exists=shown, name=name))
    return expressions.LegacyCondition("EQ", (load_value(value),))


def load_conditions(
    written: Mapping[str, Any] | None,
) -> dict[str, expressions.LegacyCondition] | None:
    """Return the entries of a filter or of KeyConditions, values loaded."""
    if written is None:
        return None
    for name in written:
        check_name(name)
    return {
        name: expressions.LegacyCondition(
            entry["ComparisonOperator"],
            tuple(map(load_value, entry.get("AttributeValueList") or ())),
        )
        for name, entry in written.items()
    }


def joined(
    entries: dict[str, expressions.LegacyCondition] | None, request: Mapping[str, Any]
) -> expressions.Condition | None:
    """Return the condition that legacy entries make together, or None (LEG-6).

    Observed: another emulator's captures of seven regions, October 2026.
    """
    operator = request.get("ConditionalOperator")
    if operator is not None and (not entries or len(entries) == 1):
        raise RequestFault(TOO_FEW if entries else NOTHING_TO_JOIN)
    if not entries:
        return None
    return expressions.legacy_condition(entries, any_of=operator == "OR")


def write_condition(
    request: Mapping[str, Any],
    expected: dict[str, expressions.LegacyCondition] | None,
    placeholders: expressions.Placeholders,
) -> expressions.Condition | None:
    """Return the condition of a write, from its expression or its Expected."""
    text = request.get("ConditionExpression")
    if text is not None:
        return expressions.parse_condition(text, placeholders)
    return joined(expected, request)


def load_condition(request: Mapping[str, Any]) -> expressions.Condition | None:
    """Return the condition of a put or delete, or None; it uses every placeholder."""
    if request.keys().isdisjoint(_OF_A_CONDITION):
        return None
    placeholders = load_placeholders(request)
    expected = load_expected(request)
    condition = write_condition(request, expected, placeholders)
    placeholders.check_unused()
    return condition


def keys_are_scalars(condition: expressions.Condition | None, table: Table) -> None:
    """Refuse the condition of a write on what lies below a key attribute (QRY-7)."""
    if condition is not None:
        keys.keys_are_scalars(condition.paths, table.key, table.index_schemas)
