"""The tree of a PartiQL statement: frozen nodes that hold what was written.

Conditions and the right sides of SET are trees of the expressions room, so that one room
evaluates both languages. In them every name is a placeholder ``#0`` and every value a
placeholder ``:c0`` (written in the statement) or ``:p0`` (a parameter); ``Parsed`` has what
they stand for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from emulator.expressions import PathProjection
from emulator.expressions import ast as trees
from emulator.model import Value

#: Placeholder to value.
Values: TypeAlias = Mapping[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class FromSource:
    """The source that a FROM clause names: a table, or one of its indexes."""

    table: str
    index: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The paths that a SELECT lists, and the names they come back under (PQL-6).

    ``fault`` is what is wrong with the list; it is reported once table and index are found.
    """

    names: tuple[str, ...] = ()
    projection: PathProjection | None = None
    fault: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One term of ORDER BY."""

    name: str
    descending: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Select:
    """A SELECT; ``columns`` is None for ``*``."""

    source: FromSource
    columns: Columns | None
    where: trees.Node | None
    order: tuple[Order, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Insert:
    """An INSERT: each attribute with the placeholder of its value."""

    table: str
    attributes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateStatement:
    """An UPDATE, in either order of its clauses; ``returning`` names a ReturnValues value."""

    table: str
    actions: trees.UpdateExpression
    where: trees.Node | None
    returning: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """A DELETE; ``returning`` is None or ALL_OLD (PQL-10)."""

    table: str
    where: trees.Node | None
    returning: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exists:
    """An EXISTS around a SELECT: a condition check of a transaction (PQL-19)."""

    select: Select


Write: TypeAlias = Insert | UpdateStatement | Delete
Statement: TypeAlias = Select | Write | Exists


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parsed:
    """A statement with the meaning of its placeholders.

    Attributes:
        statement: The tree.
        names: Name placeholder to attribute name.
        constants: Placeholder to value, for the values written in the statement.
        parameters: How many ``?`` it has.
        sets: Placeholders of parameters that must be sets, with what to say if not (PQL-21).
    """

    statement: Statement
    names: Mapping[str, str]
    constants: Values
    parameters: int
    sets: tuple[tuple[str, str], ...] = ()

    @property
    def where(self) -> trees.Node | None:
        """The condition of the statement, wherever it stands."""
        statement = self.statement
        if isinstance(statement, Exists):
            return statement.select.where
        return None if isinstance(statement, Insert) else statement.where
