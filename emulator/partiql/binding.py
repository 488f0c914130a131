"""A statement meets its parameters: what needs no table is decided here.

The order is observable (ERR-PQL-1): parameters, statement, number of parameters, types of
operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from emulator import expressions, model
from emulator.partiql import ast
from emulator.partiql.parser import parse
from emulator.service.errors import ValidationException

WRONG_COUNT: Final = "Number of parameters in request and statement don't match."


class Bound(NamedTuple):
    """A statement with the values of all its placeholders.

    Attributes:
        parsed: The statement as it was read.
        values: Placeholder to value.
        update: The change of an UPDATE.
        item: The item of an INSERT.
    """

    parsed: ast.Parsed
    values: ast.Values
    update: expressions.Update | None = None
    item: model.Item | None = None

    @property
    def statement(self) -> ast.Statement:
        """The tree of the statement."""
        return self.parsed.statement

    @property
    def reads(self) -> bool:
        """Return whether the statement only reads; EXISTS counts among the writes (PQL-19)."""
        return isinstance(self.parsed.statement, ast.Select)

    @property
    def table_name(self) -> str:
        """The table that the statement names."""
        statement = self.parsed.statement
        if isinstance(statement, ast.Exists):
            return statement.select.source.table
        return statement.source.table if isinstance(statement, ast.Select) else statement.table


def reads_only(text: str) -> bool:
    """Return whether a statement only reads; EXISTS counts among the writes (PQL-19).

    Raises:
        ValidationException: the statement cannot be read.
    """
    return isinstance(parse(text).statement, ast.Select)


def bind(text: str, parameters: Sequence[model.Value]) -> Bound:
    """Return a statement with its parameters, checked as far as it goes without a table.

    Raises:
        ValidationException: the statement is at fault, or does not suit its parameters.
    """
    parsed = parse(text)
    if len(parameters) != parsed.parameters:
        raise ValidationException(WRONG_COUNT)
    values = parsed.constants
    if parameters:
        values = {**values, **{f":p{i}": value for i, value in enumerate(parameters)}}
    for name, complaint in parsed.sets:
        if not isinstance(values[name], model.SET_TYPES):
            raise ValidationException(complaint)
    compiled = _compiled(parsed)
    update = None if compiled.change is None else compiled.change.update(values)
    if compiled.where is not None:
        compiled.where.check(values)
    return Bound(parsed, values, update, _item_of(parsed.statement, values))


def _item_of(statement: ast.Statement, values: ast.Values) -> model.Item | None:
    """Return the item that an INSERT writes."""
    if not isinstance(statement, ast.Insert):
        return None
    return model.Item.of({name: values[literal] for name, literal in statement.attributes})


def where_program(parsed: ast.Parsed) -> expressions.ConditionProgram | None:
    """Return the compiled condition of a statement, whole."""
    return _compiled(parsed).where


class _Compiled(NamedTuple):
    where: expressions.ConditionProgram | None
    change: expressions.UpdateProgram | None


@lru_cache(maxsize=expressions.CACHE_ENTRIES)
def _compiled(parsed: ast.Parsed) -> _Compiled:
    where = None if parsed.where is None else expressions.condition_of(parsed.where, parsed.names)
    change = None
    if isinstance(parsed.statement, ast.UpdateStatement):
        change = expressions.update_of(parsed.statement.actions, parsed.names)
    return _Compiled(where, change)
