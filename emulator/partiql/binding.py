"""A statement meets its parameters: what needs no table is decided here.

The order is observable (ERR-PQL-1): parameters, statement, number of parameters, types of
operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from emulator.expressions import (
    CACHE_ENTRIES,
    ConditionProgram,
    Update,
    UpdateProgram,
    condition_of,
    update_of,
)
from emulator.model import SET_TYPES, Item, Value
from emulator.partiql.ast import Exists, Insert, Parsed, Select, Statement, Values
from emulator.partiql.ast import Update as UpdateStatement
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

    parsed: Parsed
    values: Values
    update: Update | None = None
    item: Item | None = None

    @property
    def statement(self) -> Statement:
        """The tree of the statement."""
        return self.parsed.statement

    @property
    def reads(self) -> bool:
        """Return whether the statement only reads; EXISTS counts among the writes (PQL-19)."""
        return isinstance(self.parsed.statement, Select)

    @property
    def table_name(self) -> str:
        """The table that the statement names."""
        statement = self.parsed.statement
        if isinstance(statement, Exists):
            return statement.select.source.table
        return statement.source.table if isinstance(statement, Select) else statement.table


def bind(text: str, parameters: Sequence[Value]) -> Bound:
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
        if not isinstance(values[name], SET_TYPES):
            raise ValidationException(complaint)
    compiled = _compiled(parsed)
    update = None if compiled.change is None else compiled.change.update(values)
    if compiled.where is not None:
        compiled.where.check(values)
    return Bound(parsed, values, update, _item_of(parsed.statement, values))


def _item_of(statement: Statement, values: Values) -> Item | None:
    """Return the item that an INSERT writes."""
    if not isinstance(statement, Insert):
        return None
    return Item.of({name: values[literal] for name, literal in statement.attributes})


def where_program(parsed: Parsed) -> ConditionProgram | None:
    """Return the compiled condition of a statement, whole."""
    return _compiled(parsed).where


class _Compiled(NamedTuple):
    where: ConditionProgram | None
    change: UpdateProgram | None


@lru_cache(maxsize=CACHE_ENTRIES)
def _compiled(parsed: Parsed) -> _Compiled:
    where = None if parsed.where is None else condition_of(parsed.where, parsed.names)
    change = None
    if isinstance(parsed.statement, UpdateStatement):
        change = update_of(parsed.statement.actions, parsed.names)
    return _Compiled(where, change)
