"""Strategies of what requests say: key conditions, filters and updates, as trees and as text."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import reduce
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from emulator.model import KeyAttribute, KeySchema
from emulator.service.attribute_types import ORDERED, SETS
from emulator.strategies.expression_trees import (
    COMPARISONS,
    Action,
    Fragment,
    Tree,
    condition_fragment,
    update_fragment,
)
from emulator.strategies.schemas import or_default, other_attributes
from emulator.strategies.table_schema import Schema, TableSchema
from emulator.strategies.values import (
    TYPES,
    AttributeTypes,
    checked_when_drawn,
    key_values,
    typed_values,
)

_ADDED: Final = ("N", *SETS)


# Conditions


def condition_trees(attributes: AttributeTypes) -> SearchStrategy[Tree]:
    """Draw conditions on attributes, as trees."""
    leaves = st.one_of(*(_leaves(name, kind) for name, kind in attributes.items()))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(st.sampled_from(("and", "or")), inner, inner),
            st.tuples(st.just("not"), inner),
        ),
        max_leaves=4,
    )


@st.composite
def _leaves(draw: DrawFn, name: str, kind: str | SearchStrategy[Any]) -> Tree:
    """Draw one comparison, usually with a value of the attribute's own type."""
    path = draw(_paths(name, kind))
    own = typed_values(kind)
    other = (
        own if isinstance(kind, SearchStrategy) else st.sampled_from(TYPES).flatmap(typed_values)
    )
    form = draw(st.sampled_from(("compare", "ordered", "between", "in", "text", "size", "is")))
    if form == "compare":
        return (draw(st.sampled_from(("=", "<>"))), path, draw(st.one_of(own, other)))
    if form == "in":
        return ("in", path, tuple(draw(st.lists(own, min_size=1, max_size=3))))
    if form == "size":
        operator = draw(st.sampled_from(COMPARISONS))
        return ("size", path, operator, Decimal(draw(st.integers(0, 4))))
    if form == "is":
        tested = st.tuples(st.just("type"), st.just(path), st.sampled_from(TYPES))
        claims = st.tuples(st.sampled_from(("exists", "missing")), st.just(path))
        return draw(st.one_of(claims, tested))
    if form == "text":
        if draw(st.booleans()):
            return ("contains", path, draw(st.one_of(own, other)))
        return ("begins", path, draw(typed_values(draw(st.sampled_from(("S", "B"))))))
    scalar = typed_values(draw(st.sampled_from(ORDERED)) if kind not in ORDERED else kind)
    if form == "between":
        return _between(path, draw(scalar), draw(scalar))
    return (draw(st.sampled_from(COMPARISONS[2:])), path, draw(scalar))


def _paths(name: str, kind: str | SearchStrategy[Any]) -> SearchStrategy[tuple[str | int, ...]]:
    whole = st.just((name,))
    if kind == "M":
        return st.one_of(whole, st.text(min_size=1, max_size=2).map(lambda step: (name, step)))
    if kind == "L":
        return st.one_of(whole, st.integers(0, 2).map(lambda step: (name, step)))
    return whole


def _between(path: tuple[str | int, ...], first: Any, second: Any) -> Tree:
    low, high = (first, second) if first <= second else (second, first)
    return ("between", path, low, high)


@checked_when_drawn
def filters(
    *, schema: Schema | None = None, attributes: AttributeTypes | None = None
) -> SearchStrategy[Fragment]:
    """Draw filters: FilterExpression, with its names and values.

    Args:
        schema: A table whose key attributes are left alone, as a Query demands (QRY-6).
        attributes: The attributes to ask about; ``ATTRIBUTES`` by default.

    >>> from hypothesis import given, settings
    >>> @settings(max_examples=5)
    ... @given(filters())
    ... def law(drawn):
    ...     assert "FilterExpression" in drawn
    >>> law()
    """
    table = None if schema is None else TableSchema.of(schema)
    asked = other_attributes(table, or_default(attributes))
    if not asked:
        raise ValueError("there is no attribute to filter by")
    return condition_trees(asked).map(
        lambda tree: condition_fragment(tree, "FilterExpression", "f")
    )


# Key conditions


@st.composite
def key_condition_trees(draw: DrawFn, key: KeySchema, attributes: AttributeTypes) -> Tree:
    """Draw valid key conditions, as trees: MAK-30 to MAK-37."""
    clauses: list[Tree] = [_equal(draw, attribute, attributes) for attribute in key.partition]
    depth = draw(st.integers(0, len(key.sort)))
    for number, attribute in enumerate(key.sort[:depth]):
        if number == depth - 1 and draw(st.booleans()):
            clauses.append(_range(draw, attribute, attributes))
        else:
            clauses.append(_equal(draw, attribute, attributes))
    return _conjunction(draw(st.permutations(clauses)))


def _conjunction(clauses: Sequence[Tree]) -> Tree:
    return reduce(lambda left, right: ("and", left, right), clauses)


def _equal(draw: DrawFn, attribute: KeyAttribute, attributes: AttributeTypes) -> Tree:
    return ("=", (attribute.name,), draw(key_values(attribute, attributes)))


def _range(draw: DrawFn, attribute: KeyAttribute, attributes: AttributeTypes) -> Tree:
    path, values = (attribute.name,), key_values(attribute, attributes)
    operators = ["<", "<=", ">", ">=", "between"] + ["begins"] * (attribute.type != "N")
    operator = draw(st.sampled_from(operators))
    if operator == "between":
        return _between(path, draw(values), draw(values))
    return (operator, path, draw(values))


@checked_when_drawn
def key_conditions(
    schema: Schema,
    *,
    index: str | None = None,
    attributes: AttributeTypes | None = None,
    valid: bool = True,
) -> SearchStrategy[Fragment]:
    """Draw key conditions: KeyConditionExpression, its names and values, and IndexName.

    Args:
        schema: A TableSchema, a CreateTable request or a table's description.
        index: The index to ask; None for the table.
        attributes: Strategies that narrow the values of key attributes.
        valid: False for conditions that the service refuses.

    >>> from emulator.strategies import create_request
    >>> orders = create_request("orders", "customer", "created:N")
    >>> from hypothesis import given, settings
    >>> @settings(max_examples=5)
    ... @given(key_conditions(orders))
    ... def law(drawn):
    ...     assert "customer" in drawn["KeyConditionExpression"]
    >>> law()
    """
    key = TableSchema.of(schema).key_of(index)
    target: Fragment = {} if index is None else {"IndexName": index}
    drawn = key_condition_trees(key, attributes or {}) if valid else bad_key_conditions(key)
    return drawn.map(lambda tree: target | condition_fragment(tree, "KeyConditionExpression", "k"))


@st.composite
def bad_key_conditions(draw: DrawFn, key: KeySchema) -> Tree:
    """Draw key conditions that are refused whatever the table holds (KEY-2 to KEY-13)."""
    fine = {attribute.name: _equal(draw, attribute, {}) for attribute in key.attributes}
    fault = draw(st.sampled_from(_faults_of(key)))
    partition = draw(st.sampled_from(key.partition))
    if fault == "missing":
        clauses = [fine[name] for name in key.names if name != partition.name]
        return _conjunction(clauses or [("=", ("no key",), "x")])
    if fault == "inequality":
        fine[partition.name] = (
            draw(st.sampled_from(("<", "<=", ">", ">="))),
            *fine[partition.name][1:],
        )
    elif fault == "type":
        wrong = draw(st.sampled_from([letters for letters in "SNB" if letters != partition.type]))
        fine[partition.name] = ("=", (partition.name,), draw(typed_values(wrong)))
    elif fault == "stranger":
        return _conjunction([*fine.values(), ("=", ("no key",), "x")])
    elif fault == "twice":
        return _conjunction([*fine.values(), fine[partition.name]])
    elif fault == "operator":
        return ("or", _conjunction(list(fine.values())), fine[partition.name])
    elif fault == "negation":
        return ("not", _conjunction(list(fine.values())))
    elif fault == "function":
        fine[partition.name] = ("exists", (partition.name,))
    else:
        skipped = draw(st.sampled_from(key.sort[:-1]))
        if fault == "gap":
            del fine[skipped.name]
        else:
            fine[skipped.name] = (">", *fine[skipped.name][1:])
    return _conjunction(list(fine.values()))


def _faults_of(key: KeySchema) -> list[str]:
    faults = [
        "missing",
        "inequality",
        "type",
        "stranger",
        "twice",
        "operator",
        "negation",
        "function",
    ]
    return faults + ["gap", "early range"] * (len(key.sort) > 1)


# Updates


@st.composite
def update_trees(
    draw: DrawFn, schema: TableSchema, attributes: AttributeTypes, *, total: bool = True
) -> list[Action]:
    """Draw updates, as actions on different attributes.

    Args:
        draw: Hypothesis's.
        schema: The table.
        attributes: The attributes beside the keys, with their types.
        total: Whether every item of these types can be updated so; else some may refuse.
    """
    kinds: dict[str, Any] = dict(other_attributes(schema, attributes))
    index_keys = {
        attribute.name: attribute
        for index in schema.indexes
        for attribute in index.key.attributes
        if attribute.name not in schema.key.names
    }
    chosen = draw(
        st.lists(
            st.sampled_from(sorted([*kinds, *index_keys])), min_size=1, max_size=3, unique=True
        )
    )
    return [
        _key_action(draw, index_keys[name], attributes)
        if name in index_keys
        else _action(draw, name, kinds[name], total=total)
        for name in chosen
    ]


def _key_action(draw: DrawFn, attribute: KeyAttribute, attributes: AttributeTypes) -> Action:
    """Draw a change of an index key."""
    path = (attribute.name,)
    if draw(st.booleans()):
        return ("set", path, draw(key_values(attribute, attributes)))
    return ("remove", path)


def _action(draw: DrawFn, name: str, kind: str | SearchStrategy[Any], *, total: bool) -> Action:
    path = (name,)
    choices = ["set", "default", "remove"]
    choices += ["add"] * (kind in _ADDED) + ["delete"] * (kind in SETS)
    if not total:
        choices += (
            ["plus"] * (kind == "N")
            + ["append"] * (kind == "L")
            + ["member"] * (kind in ("L", "M"))
        )
    choice = draw(st.sampled_from(choices))
    if choice == "member":
        inner = draw(_paths(name, kind))
        if draw(st.booleans()):
            return ("remove", inner)
        return ("set", inner, draw(typed_values(kind if len(inner) == 1 else "S")))
    return (choice, path) if choice == "remove" else (choice, path, draw(typed_values(kind)))


@checked_when_drawn
def updates(
    schema: Schema, *, attributes: AttributeTypes | None = None
) -> SearchStrategy[Fragment]:
    """Draw updates: UpdateExpression, with its names and values.

    They fit every item of ``items(schema)`` with the same attributes; the result is one too.

    Args:
        schema: A TableSchema, a CreateTable request or a table's description.
        attributes: The attributes beside the keys; ``ATTRIBUTES`` by default.

    >>> from emulator.strategies import create_request
    >>> orders = create_request("orders", "customer", "created:N")
    >>> from hypothesis import given, settings
    >>> @settings(max_examples=5)
    ... @given(updates(orders))
    ... def law(drawn):
    ...     assert "customer" not in drawn["UpdateExpression"]
    >>> law()
    """
    table, kinds = TableSchema.of(schema), or_default(attributes)
    if not other_attributes(table, kinds) and not table.indexes:
        raise ValueError("there is no attribute to update")
    return update_trees(table, kinds).map(update_fragment)
