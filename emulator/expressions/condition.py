"""Conditions and filters: a tree becomes functions of an item and the request's values.

A test answers a bool, an operand a value or MISSING; both have the same shape, since a bool
is a value. Pages, and conditions that are long, are asked by ``selection`` instead. Rules CND-1 to
CND-17.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

from emulator import model
from emulator.expressions import ast, resolve
from emulator.expressions.checks import Check, Names, condition_checks, document_path
from emulator.expressions.comparisons import COMPARISONS, Comparison, passes, size
from emulator.expressions.parser import CONDITION, NO_MEMBER
from emulator.expressions.selection import Tree, passed

#: Nodes from which on a condition looks once at what it asks for often.
LONG_NODES: Final = 32
#: Items from which on they are asked together.
MANY_ITEMS: Final = 32

Evaluate: TypeAlias = "Callable[[model.Attributes, resolve.Values], model.Value | model.Missing]"


class Condition:
    """A condition with its values: ask it about any number of items.

    Attributes:
        paths: The document paths it mentions, in the order of the source.

    >>> placeholders = resolve.Placeholders(None, {":tag": "b"})
    >>> condition = parse_condition("contains(tags, :tag)", placeholders)
    >>> condition.holds({"tags": ("a", "b")}), condition.holds({})
    (True, False)
    >>> list(condition.holding([{"tags": "abc"}, {"tags": "xyz"}]))
    [True, False]
    >>> condition.paths
    (('tags',),)
    """

    __slots__ = ("_program", "_values", "paths")

    def __init__(self, program: ConditionProgram, values: resolve.Values) -> None:
        self._program = program
        self._values = values
        self.paths = tuple(program.tree.paths.values())

    def holds(self, attributes: model.Attributes) -> bool:
        """Return whether an item meets the condition; a missing item has no attributes."""
        return self._program.evaluate(attributes, self._values) is True

    def holding(self, items: Sequence[model.Attributes]) -> Iterable[bool | int]:
        """Return of each item whether it meets the condition."""
        if len(items) < MANY_ITEMS:
            return map(self.holds, items)
        return passed(self._program.tree, items, self._values)


class ConditionProgram(NamedTuple):
    """A condition without its values: what to check of them, and how to ask it."""

    checks: tuple[Check, ...]
    evaluate: Evaluate
    tree: Tree

    def check(self, values: resolve.Values) -> None:
        """Refuse what needs no item to be seen (CND-4 to CND-11).

        Raises:
            RequestFault: an operand, or its type, is wrong.
        """
        for check in self.checks:
            check(values)

    def condition(self, values: resolve.Values) -> Condition:
        """Return the condition with values that passed ``check``."""
        return Condition(self, values)


def condition_of(root: ast.Node, names: Names) -> ConditionProgram:
    """Return the program of a tree that no text was written for, as PartiQL makes them."""
    return _compiled(resolve.ParsedExpression(NO_MEMBER, root), names)


def parse_condition(
    text: str, placeholders: resolve.Placeholders, *, kind: str = CONDITION
) -> Condition:
    """Return the condition that a text writes, its values checked.

    Args:
        text: The expression.
        placeholders: Names and values of the request.
        kind: ``ConditionExpression`` or ``FilterExpression``; messages name it.

    Raises:
        RequestFault: any fault that needs no item to be seen.
    """
    parsed = resolve.read(kind, text)
    program = _program(parsed, placeholders.use(parsed))
    values = placeholders.values
    for check in program.checks:
        check(values)
    return Condition(program, values)


@lru_cache(maxsize=resolve.CACHE_ENTRIES)
def _program(parsed: resolve.ParsedExpression, targets: resolve.Targets) -> ConditionProgram:
    return _compiled(parsed, parsed.names(targets))


def _compiled(parsed: resolve.ParsedExpression, names: Names) -> ConditionProgram:
    checks, can_pass = condition_checks(parsed.kind, parsed.root, names)
    if not can_pass:
        return ConditionProgram(checks, _refused, Tree(parsed.root, {}, is_long=False))
    paths = {
        node: document_path(parsed.kind, node, names)
        for node in ast.walk(parsed.root)
        if isinstance(node, ast.Path)
    }
    return program_of(parsed.root, paths, checks)


def program_of(
    root: ast.Node, paths: Mapping[ast.Path, model.Path], checks: tuple[Check, ...] = ()
) -> ConditionProgram:
    """Return the program of a tree whose paths are known."""
    tree = Tree(root, paths, is_long=sum(1 for _ in ast.walk(root)) > LONG_NODES)
    return ConditionProgram(checks, _compiled_for_one(tree), tree)


def _refused(_attributes: model.Attributes, _values: resolve.Values) -> model.Value:
    raise AssertionError("the checks refuse this expression")


def _compiled_for_one(tree: Tree) -> Evaluate:
    """Return the function that a condition's tree writes, made from the inside out."""

    def compiled(node: ast.Node, parts: list[Evaluate]) -> Evaluate:
        if isinstance(node, ast.Path):
            return path_operand(tree.paths[node])
        return _BUILDERS[type(node)](node, parts)

    evaluate = ast.fold(tree.root, compiled)
    if not tree.is_long:
        return evaluate

    def read_once(attributes: model.Attributes, values: resolve.Values) -> bool:
        types = map(type, chain(attributes.values(), values.values()))
        if model.CONTAINER_TYPES.isdisjoint(types):
            return evaluate(attributes, values) is True
        return passed(tree, (attributes,), values) == b"\1"

    return read_once


# Operands


def path_operand(path: model.Path) -> Evaluate:
    """Return the function that looks a path up (CND-1)."""
    if len(path) > 1:
        return lambda attributes, _: model.resolve(attributes, path)
    name = str(path[0])
    return lambda attributes, _: attributes.get(name, model.MISSING)


def literal_operand(node: ast.LiteralValue, _parts: list[Evaluate]) -> Evaluate:
    """Return the function that looks a value up."""
    name = node.name
    return lambda _, values: values[name]


def _size(_node: ast.Node, parts: list[Evaluate]) -> Evaluate:
    (operand,) = parts
    return lambda attributes, values: size(operand(attributes, values))


# Tests


def _and(_node: ast.Node, parts: list[Evaluate]) -> Evaluate:
    terms = tuple(parts)

    def evaluate(attributes: model.Attributes, values: resolve.Values) -> bool:
        for term in terms:  # noqa: SIM110  # all() would add a frame to every level
            if not term(attributes, values):
                return False
        return True

    return evaluate


def _or(_node: ast.Node, parts: list[Evaluate]) -> Evaluate:
    terms = tuple(parts)

    def evaluate(attributes: model.Attributes, values: resolve.Values) -> bool:
        for term in terms:  # noqa: SIM110  # any() would add a frame to every level
            if term(attributes, values):
                return True
        return False

    return evaluate


def _not(_node: ast.Node, parts: list[Evaluate]) -> Evaluate:
    (term,) = parts
    return lambda attributes, values: not term(attributes, values)


def _comparison(node: ast.ComparisonTest, parts: list[Evaluate]) -> Evaluate:
    """CND-2: a missing value equals nothing, not even another missing value.

    Assumed: so does a size that does not exist (CND-12), and ``<>`` holds of it, as in DynamoDB
    Local and two other emulators.
    """
    if node.operator == "<>":
        return _not(node, [_passes(COMPARISONS["="], *parts)])
    return _passes(COMPARISONS[node.operator], *parts)


def _passes(comparison: Comparison, left: Evaluate, right: Evaluate) -> Evaluate:
    def evaluate(attributes: model.Attributes, values: resolve.Values) -> bool:
        return passes(comparison, left(attributes, values), right(attributes, values))

    return evaluate


def _between(_node: ast.Node, parts: list[Evaluate]) -> Evaluate:
    """CND-5: both bounds belong to the range."""
    operand, lower, upper = parts
    above = _passes(COMPARISONS[">="], operand, lower)
    below = _passes(COMPARISONS["<="], operand, upper)
    return lambda attributes, values: above(attributes, values) and below(attributes, values)


def _in(_node: ast.Node, parts: list[Evaluate]) -> Evaluate:
    operand, *choices = parts
    return _or(_node, [_passes(COMPARISONS["="], operand, choice) for choice in choices])


def _exists(_node: ast.Node, parts: list[Evaluate]) -> Evaluate:
    (operand,) = parts
    return lambda attributes, values: operand(attributes, values) is not model.MISSING


def _not_exists(_node: ast.Node, parts: list[Evaluate]) -> Evaluate:
    (operand,) = parts
    return lambda attributes, values: operand(attributes, values) is model.MISSING


def _has_type(_node: ast.Node, parts: list[Evaluate]) -> Evaluate:
    operand, wanted = parts

    def evaluate(attributes: model.Attributes, values: resolve.Values) -> bool:
        value = operand(attributes, values)
        return not isinstance(value, model.Missing) and model.type_name(value) == wanted(
            attributes, values
        )

    return evaluate


def _function(node: ast.Function, parts: list[Evaluate]) -> Evaluate:
    if node.name in COMPARISONS:
        return _passes(COMPARISONS[node.name], *parts)
    return _FUNCTIONS[node.name](node, parts)


# Each builder takes the class, or the function, it stands under.
Builder: TypeAlias = Callable[..., Evaluate]
_FUNCTIONS: Final[dict[str, Builder]] = {
    "attribute_exists": _exists,
    "attribute_not_exists": _not_exists,
    "attribute_type": _has_type,
    "size": _size,
}
_BUILDERS: Final[dict[type, Builder]] = {
    ast.LiteralValue: literal_operand,
    ast.Function: _function,
    ast.ComparisonTest: _comparison,
    ast.Between: _between,
    ast.In: _in,
    ast.Not: _not,
    ast.And: _and,
    ast.Or: _or,
}
