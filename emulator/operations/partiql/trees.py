"""Trees of the expressions room, compiled and checked there, with the words of PartiQL.

The room checks and evaluates conditions and updates for both languages. Its messages open
with the name of a request member, which a statement does not have (PQL-22).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

from emulator.errors import RequestFault, ValidationException
from emulator.expressions import Condition, Placeholders, Update, parse_update, render
from emulator.expressions.ast import Node
from emulator.expressions.checks import Check, condition_checks
from emulator.expressions.condition import Evaluate, compile_condition, paths_of
from emulator.expressions.resolve import Template
from emulator.model import Path, Value

Names: TypeAlias = Mapping[str, str]
Values: TypeAlias = Mapping[str, Value]

_KIND: Final = "ConditionExpression"
_PREFIXES: Final = (f"Invalid {_KIND}: ", "Invalid UpdateExpression: ")


class Program(NamedTuple):
    """A compiled condition: what to check of its values, and how to ask it.

    ``evaluate`` is None if the checks refuse any values.
    """

    checks: tuple[Check, ...]
    evaluate: Evaluate | None
    paths: tuple[Path, ...]

    def check(self, values: Values) -> None:
        """Refuse what needs no item to be seen (CND-4 to CND-11).

        Raises:
            ValidationException: an operand, or its type, is wrong.
        """
        try:
            for check in self.checks:
                check(values)
        except RequestFault as fault:
            raise _without_prefix(fault) from None

    def condition(self, values: Values) -> Condition:
        """Return the condition with values that passed ``check``."""
        assert self.evaluate is not None, "the checks refuse this condition"
        return Condition(self.evaluate, self.paths, values)


def compile_tree(root: Node, names: Names) -> Program:
    """Return the program of a condition's tree."""
    checks, can_pass = condition_checks(_KIND, root, names)
    if not can_pass:
        return Program(checks, None, ())
    template = Template(_KIND, root)
    return Program(checks, compile_condition(template, names), paths_of(template, names))


class Change(NamedTuple):
    """An update as text, which the expressions room reads once and keeps."""

    text: str
    names: Names

    def update(self, values: Values) -> Update:
        """Return the update with its values, checked.

        Raises:
            ValidationException: an operand, or its type, is wrong, or two paths overlap.
        """
        try:
            return parse_update(self.text, Placeholders(self.names, values or None))
        except RequestFault as fault:
            raise _without_prefix(fault) from None


def change_of(root: Node, names: Names) -> Change:
    """Return the update that a tree writes."""
    return Change(render(root), names)


def _without_prefix(fault: RequestFault) -> ValidationException:
    text = str(fault.message)
    for prefix in _PREFIXES:
        text = text.removeprefix(prefix)
    return ValidationException(text)
