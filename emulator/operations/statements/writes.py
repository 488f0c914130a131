"""INSERT, UPDATE, DELETE and EXISTS: the writes that they become. Rules PQL-7, PQL-8, PQL-10.

Each is a put, an update, a delete or a check with a condition of its own: an INSERT needs the
item to be missing, an UPDATE needs it to exist, a DELETE asks its further conditions only of an
item that exists. They are charged alike (CAP-313).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple

from emulator import expressions, partiql
from emulator.engine import Account, Table
from emulator.engine.writes import Planned, Write, apply, plan
from emulator.expressions import ast as trees
from emulator.model import KEY_CLASSES, Item, Value, type_name, wire
from emulator.operations import update_item
from emulator.operations.put_item import position_to_put
from emulator.operations.rules import keys
from emulator.service.errors import ApiError, DuplicateItemException, ValidationException

DUPLICATE: Final = "Duplicate primary key exists in table"
INCOMPLETE_KEY: Final = "Where clause does not contain a mandatory equality on all key attributes"
# Observed: another emulator's capture of eu-west-2, September 2026.
SEVERAL_KEYS: Final = (
    "Multiple conditions on same key {name}. Only single item Update/Insert/Delete are supported"
)
EXISTS_FORM: Final = "EXISTS() must contain a single item read with additional condition"
# Source: the list of validation messages of DynamoDB Local.
EXISTS_ON_INDEX: Final = "Operations on indices are not supported in transactions"

_KEY_ALIAS: Final = "#key"
_KEY: Final = trees.Path(parts=(_KEY_ALIAS,))
_EXISTS: Final = trees.Function(name="attribute_exists", operands=(_KEY,))
_NOT_EXISTS: Final = trees.Function(name="attribute_not_exists", operands=(_KEY,))


def carry_out(account: Account, write: Write) -> Planned:
    """Carry out a write, unless its condition fails; a failure was charged, too (CAP-313).

    Raises:
        ApiError: the write is refused for throughput or size, or a transaction holds the item.
    """
    account.holds.check(account, write.table, write.position)
    planned = plan(write)
    account.admit_write(planned)
    if planned.failure is None:
        apply(account, planned)
    return planned


def failure_of(bound: partiql.Bound, planned: Planned) -> ApiError | None:
    """Return why a write was not carried out, in the words of its statement (PQL-7)."""
    if planned.failure is not None and isinstance(bound.statement, partiql.Insert):
        return DuplicateItemException(DUPLICATE)
    return planned.failure


def returned(bound: partiql.Bound, planned: Planned) -> wire.WireItem | None:
    """Return the item, or the part of it, that RETURNING asks for (PQL-10)."""
    statement = bound.statement
    returning = (
        None
        if isinstance(statement, partiql.Insert | partiql.Select | partiql.Exists)
        else statement.returning
    )
    return update_item.returned(returning, planned, bound.update) or None


# What a statement becomes


def write_of(bound: partiql.Bound, table: Table, *, shows_old: bool) -> Write:
    """Return the write of a statement, its key checked.

    Args:
        bound: The statement.
        table: Its table.
        shows_old: Whether a failed condition shows the stored item (OPC-3).

    Raises:
        KeyFault: the condition names no key.
        ValidationException: the item or the key does not suit the table.
    """
    statement = bound.statement
    item = bound.item
    if item is not None:
        _insert_has_key_types(item, table)
        position = position_to_put(table, item)
        condition = _absent(table.key.names[0]).condition(bound.values)
        return Write(table, position, lambda _: item, condition, new=item, shows_old=shows_old)
    key_values_are_scalars(bound, table)
    split = _split(bound.parsed, table.key.names)
    key = _key_of(bound, table, split)
    position = table.position(keys.key_of(key, table.key))
    guard = split.condition(bound)
    change: Callable[[Item | None], Item | None]
    if isinstance(statement, partiql.UpdateStatement):
        assert bound.update is not None, "an UPDATE has its change"
        update_item.key_attributes_stay(bound.update, table)
        change = update_item.change_of(bound.update, key, table, standalone=False)
    elif isinstance(statement, partiql.Delete):
        change = _nothing
    else:
        change = _itself
    return Write(table, position, change, guard, shows_old=shows_old)


def _insert_has_key_types(item: Item, table: Table) -> None:
    """Refuse an item whose key has another type, once it has a key at all (PQL-7, KV-8).

    Assumed: that INSERT is worded like conditions, and a transaction like PutItem, as in two other
    emulators.
    """
    if not item.attributes.keys() >= set(table.key.names):
        return
    for attribute in table.key.attributes:
        name, value = attribute.name, item.attributes[attribute.name]
        if not attribute.accepts(value):
            in_transactions = keys.KEY_TYPE.format(
                name=name, wanted=attribute.type, given=type_name(value)
            )
            raise partiql.KeyFault(partiql.KEY_TYPE.format(name=name), in_transactions)


def key_values_are_scalars(bound: partiql.Bound, table: Table) -> None:
    """Refuse a condition that compares a key attribute with what no key can be (PQL-8).

    Assumed: that it is refused so, and a transaction whole, as by two other emulators.
    """
    for name, literals in _split(bound.parsed, table.key.names).literals.items():
        for literal in literals:
            letters = type_name(bound.values[literal])
            if letters not in KEY_CLASSES:
                raise ValidationException(partiql.NO_KEY_VALUE.format(name=name, type=letters))


def _nothing(_old: Item | None) -> None:
    return None


def _itself(old: Item | None) -> Item | None:
    return old


def check_exists(bound: partiql.Bound, statement: partiql.Exists, table: Table) -> None:
    """Refuse an EXISTS that is no condition on one item (PQL-20).

    Raises:
        ValidationException: it reads an index, does not name the key, or asks nothing else.
    """
    if statement.select.source.index is not None:
        raise ValidationException(EXISTS_ON_INDEX)
    split = _split(bound.parsed, table.key.names)
    if len(split.literals) < len(table.key.names) or not split.has_further:
        raise ValidationException(EXISTS_FORM)


# Keys and further conditions


class _Split(NamedTuple):
    """A condition, taken apart: the key it names, and the guard that the write needs.

    Attributes:
        literals: Key attribute to the placeholders it must equal.
        has_further: Whether the condition says more than the key.
        program: The guard, compiled; None for none.
    """

    literals: dict[str, list[str]]
    has_further: bool
    program: expressions.ConditionProgram | None

    def condition(self, bound: partiql.Bound) -> expressions.Condition | None:
        """Return the guard with the values of a statement."""
        return None if self.program is None else self.program.condition(bound.values)


@lru_cache(maxsize=expressions.CACHE_ENTRIES)
def _split(parsed: partiql.Parsed, names: tuple[str, ...]) -> _Split:
    """Take the condition of an UPDATE, DELETE or EXISTS apart, under a table's key.

    Observed: another emulator's capture of eu-west-2, September 2026: EXISTS takes the first
    value of a key attribute that has two.
    """
    where = parsed.where
    terms = () if where is None else where.terms if isinstance(where, trees.And) else (where,)
    first_only = isinstance(parsed.statement, partiql.Exists)
    literals: dict[str, list[str]] = {}
    further: list[trees.Node] = []
    for term in terms:
        clause = partiql.clause_of(term, parsed.names, names)
        if clause is None or clause.operator != "=" or (first_only and clause.name in literals):
            further.append(term)
        else:
            literals.setdefault(clause.name, []).append(clause.literals[0])
    guard = _guard(parsed, further)
    aliases = {**parsed.names, _KEY_ALIAS: names[0]}
    program = None if guard is None else expressions.condition_of(guard, aliases)
    return _Split(literals, bool(further), program)


def _guard(parsed: partiql.Parsed, further: list[trees.Node]) -> trees.Node | None:
    """Return the condition on the stored item (PQL-8).

    Observed: the public suite, July 2026: a DELETE of a missing item succeeds, whatever its
    conditions say.
    """
    if not isinstance(parsed.statement, partiql.Delete):
        return trees.And(terms=(_EXISTS, *further))
    return trees.Or(terms=(_NOT_EXISTS, trees.And(terms=tuple(further)))) if further else None


@lru_cache(maxsize=expressions.CACHE_ENTRIES)
def _absent(name: str) -> expressions.ConditionProgram:
    return expressions.condition_of(_NOT_EXISTS, {_KEY_ALIAS: name})


def _key_of(bound: partiql.Bound, table: Table, split: _Split) -> Item:
    """Return the key that a condition names, or say why it names none (PQL-8)."""
    key: dict[str, Value] = {}
    for name in table.key.names:
        if name not in split.literals:
            raise partiql.KeyFault(INCOMPLETE_KEY)
    for attribute in table.key.attributes:
        first, *others = (bound.values[literal] for literal in split.literals[attribute.name])
        if any(type(other) is not type(first) or other != first for other in others):
            raise partiql.KeyFault(SEVERAL_KEYS.format(name=attribute.name))
        if not attribute.accepts(first):
            raise partiql.KeyFault(partiql.KEY_TYPE.format(name=attribute.name))
        key[attribute.name] = first
    return Item.of(key)
