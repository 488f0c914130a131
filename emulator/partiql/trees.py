"""Trees of the expressions room, compiled and checked there, with the words of PartiQL.

The room checks and evaluates conditions and updates for both languages. Its messages open
with the name of a request member, which a statement does not have (PQL-22).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

from emulator.expressions import (
    Condition,
    ConditionProgram,
    Update,
    UpdateProgram,
    condition_of,
    update_of,
)
from emulator.expressions.ast import Node
from emulator.expressions.ast import Update as Actions
from emulator.model import Value
from emulator.service.errors import RequestFault, ValidationException

Names: TypeAlias = Mapping[str, str]
Values: TypeAlias = Mapping[str, Value]

_PREFIXES: Final = ("Invalid ConditionExpression: ", "Invalid UpdateExpression: ")


class Program(NamedTuple):
    """A condition of a statement, compiled."""

    compiled: ConditionProgram

    def check(self, values: Values) -> None:
        """Refuse what needs no item to be seen (CND-4 to CND-11).

        Raises:
            ValidationException: an operand, or its type, is wrong.
        """
        try:
            self.compiled.check(values)
        except RequestFault as fault:
            raise _without_prefix(fault) from None

    def condition(self, values: Values) -> Condition:
        """Return the condition with values that passed ``check``."""
        return self.compiled.condition(values)


def compile_tree(root: Node, names: Names) -> Program:
    """Return the program of a condition's tree."""
    return Program(condition_of(root, names))


class Change(NamedTuple):
    """The change of an UPDATE, compiled."""

    compiled: UpdateProgram

    def update(self, values: Values) -> Update:
        """Return the update with its values, checked.

        Raises:
            ValidationException: an operand, or its type, is wrong, or two paths overlap.
        """
        try:
            return self.compiled.update(values)
        except RequestFault as fault:
            raise _without_prefix(fault) from None


def change_of(root: Actions, names: Names) -> Change:
    """Return the update that a tree writes.

    Raises:
        ValidationException: no values can make it right.
    """
    try:
        return Change(update_of(root, names))
    except RequestFault as fault:
        raise _without_prefix(fault) from None


def _without_prefix(fault: RequestFault) -> ValidationException:
    """Return a fault in the words of a statement.

    Observed: another emulator's capture of eu-west-2, September 2026: the older wording.
    """
    text = fault.older
    for prefix in _PREFIXES:
        text = text.removeprefix(prefix)
    return ValidationException(text)
