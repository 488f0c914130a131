"""Expressions of every kind, read once and asked many times.

This room decides what a text means and what is wrong with it. It knows values, paths and key
schemas, but no tables, no stores and no wire form.
"""

from emulator.expressions import ast
from emulator.expressions.checks import (
    CONDITION_FUNCTIONS,
    INDEX_RANGE,
    MAX_INDEX,
    OPERAND_TYPE,
    TOO_DEEP,
    TOO_MANY_CHOICES,
    TOO_MANY_OPERATORS,
    shown_value,
)
from emulator.expressions.condition import (
    Condition,
    ConditionProgram,
    condition_of,
    parse_condition,
)
from emulator.expressions.key_range import EXCHANGED, KeyCondition, parse_key_condition
from emulator.expressions.legacy import (
    NO_ARGUMENTS,
    LegacyCondition,
    legacy_condition,
    legacy_key_condition,
    legacy_update,
)
from emulator.expressions.lexer import END, NAME, Token
from emulator.expressions.parser import SECTIONS
from emulator.expressions.projection import PathProjection, fragment, parse_projection
from emulator.expressions.render import render
from emulator.expressions.reserved import is_reserved
from emulator.expressions.resolve import (
    CACHE_ENTRIES,
    NAMES,
    VALUES,
    Placeholders,
    check_placeholder_keys,
)
from emulator.expressions.update import Update, UpdateProgram, parse_update, update_of

__all__ = [
    "CACHE_ENTRIES",
    "CONDITION_FUNCTIONS",
    "END",
    "EXCHANGED",
    "INDEX_RANGE",
    "MAX_INDEX",
    "NAME",
    "NAMES",
    "NO_ARGUMENTS",
    "OPERAND_TYPE",
    "SECTIONS",
    "TOO_DEEP",
    "TOO_MANY_CHOICES",
    "TOO_MANY_OPERATORS",
    "VALUES",
    "Condition",
    "ConditionProgram",
    "KeyCondition",
    "LegacyCondition",
    "PathProjection",
    "Placeholders",
    "Token",
    "Update",
    "UpdateProgram",
    "ast",
    "check_placeholder_keys",
    "condition_of",
    "fragment",
    "is_reserved",
    "legacy_condition",
    "legacy_key_condition",
    "legacy_update",
    "parse_condition",
    "parse_key_condition",
    "parse_projection",
    "parse_update",
    "render",
    "shown_value",
    "update_of",
]
