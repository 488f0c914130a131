"""Conditions and filters: a tree becomes functions of an item and the request's values.

A test answers a bool, an operand a value or MISSING; both have the same shape, since a bool
is a value. Rules CND-1 to CND-17.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Sized
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from emulator import model
from emulator.expressions import ast, resolve
from emulator.expressions.checks import Check, Names, condition_checks, document_path
from emulator.expressions.parser import CONDITION, NO_MEMBER
from emulator.service.attribute_types import ATTRIBUTE_TYPES

#: Nodes from which on a condition remembers what it has found out about an item.
LONG_NODES: Final = 32

Evaluate: TypeAlias = "Callable[[model.Attributes, resolve.Values], model.Value | model.Missing]"


class Condition:
    """A condition with its values: ask it about any number of items.

    Attributes:
        paths: Every document path it mentions, in the order of the source.

    >>> placeholders = resolve.Placeholders(None, {":n": Decimal(1)})
    >>> condition = parse_condition("size(tags) > :n", placeholders)
    >>> condition.holds({"tags": ("a", "b")}), condition.holds({})
    (True, False)
    >>> condition.paths
    (('tags',),)
    """

    __slots__ = ("_evaluate", "_values", "paths")

    def __init__(
        self, evaluate: Evaluate, paths: tuple[model.Path, ...], values: resolve.Values
    ) -> None:
        self._evaluate = evaluate
        self._values = values
        self.paths = paths

    def holds(self, attributes: model.Attributes) -> bool:
        """Return whether an item meets the condition; a missing item has no attributes."""
        return self._evaluate(attributes, self._values) is True


class ConditionProgram(NamedTuple):
    """A condition without its values: what to check of them, and how to ask it."""

    checks: tuple[Check, ...]
    evaluate: Evaluate
    paths: tuple[model.Path, ...]

    def check(self, values: resolve.Values) -> None:
        """Refuse what needs no item to be seen (CND-4 to CND-11).

        Raises:
            RequestFault: an operand, or its type, is wrong.
        """
        for check in self.checks:
            check(values)

    def condition(self, values: resolve.Values) -> Condition:
        """Return the condition with values that passed ``check``."""
        return Condition(self.evaluate, self.paths, values)


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
    checks, evaluate, paths = _program(parsed, placeholders.use(parsed))
    values = placeholders.values
    for check in checks:
        check(values)
    return Condition(evaluate, paths, values)


@lru_cache(maxsize=resolve.CACHE_ENTRIES)
def _program(parsed: resolve.ParsedExpression, targets: resolve.Targets) -> ConditionProgram:
    return _compiled(parsed, parsed.names(targets))


def _compiled(parsed: resolve.ParsedExpression, names: Names) -> ConditionProgram:
    checks, can_pass = condition_checks(parsed.kind, parsed.root, names)
    if not can_pass:
        return ConditionProgram(checks, _refused, ())
    evaluate = compile_condition(parsed, names)
    return ConditionProgram(checks, evaluate, paths_of(parsed, names))


def _refused(_attributes: model.Attributes, _values: resolve.Values) -> model.Value:
    raise AssertionError("the checks refuse this expression")


def paths_of(parsed: resolve.ParsedExpression, names: Names) -> tuple[model.Path, ...]:
    """Return every document path of a tree, in the order of the source."""
    paths = (node for node in ast.walk(parsed.root) if isinstance(node, ast.Path))
    return tuple(document_path(parsed.kind, path, names) for path in paths)


def compile_condition(parsed: resolve.ParsedExpression, names: Names) -> Evaluate:
    """Return the function that a condition's tree writes, made from the inside out."""
    is_long = sum(1 for _ in ast.walk(parsed.root)) > LONG_NODES
    builders = _LONG_BUILDERS if is_long else _BUILDERS

    def compiled(node: ast.Node, parts: list[Evaluate]) -> Evaluate:
        if isinstance(node, ast.Path):
            return path_operand(document_path(parsed.kind, node, names))
        return builders[type(node)](node, parts)

    evaluate = ast.fold(parsed.root, compiled)
    if is_long:
        return lambda attributes, values: evaluate(attributes, _Found(values))
    return evaluate


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
    """CND-12: characters of S, bytes of B, members of the rest."""
    (operand,) = parts

    def evaluate(
        attributes: model.Attributes, values: resolve.Values
    ) -> model.Value | model.Missing:
        value = operand(attributes, values)
        if isinstance(value, str):
            return Decimal(_utf16_units(value))
        if isinstance(value, _SIZED):
            return Decimal(len(value))
        return model.MISSING

    return evaluate


def _utf16_units(text: str) -> int:
    """Assumed: strings are measured as Java measures them (CND-12)."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


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
    left, right = parts
    if node.operator == "=":
        return lambda attributes, values: _same(left(attributes, values), right(attributes, values))
    if node.operator == "<>":
        return lambda attributes, values: (
            not _same(left(attributes, values), right(attributes, values))
        )
    return _ordered(_ORDERINGS[node.operator], left, right)


def _same(left: model.Value | model.Missing, right: model.Value | model.Missing) -> bool:
    """CND-2: what is missing equals nothing, not even something else that is.

    Observed: DynamoDB Local and two other emulators treat a size that does not exist alike
    (CND-12), so that ``<>`` holds of it.
    """
    return left is not model.MISSING and model.equal(left, right)


def _ordered(ordering: Callable[..., bool], left: Evaluate, right: Evaluate) -> Evaluate:
    """CMP-2: an order exists only within S, within N and within B."""

    def evaluate(attributes: model.Attributes, values: resolve.Values) -> bool:
        first, second = left(attributes, values), right(attributes, values)
        return (
            type(first) is type(second)
            and type(first) in model.ORDERED_TYPES
            and ordering(first, second)
        )

    return evaluate


def _between(_node: ast.Node, parts: list[Evaluate]) -> Evaluate:
    """CND-5: both bounds belong to the range."""
    operand, lower, upper = parts
    above = _ordered(operator.ge, operand, lower)
    below = _ordered(operator.le, operand, upper)
    return lambda attributes, values: above(attributes, values) and below(attributes, values)


def _in(_node: ast.Node, parts: list[Evaluate]) -> Evaluate:
    operand, *choices = parts

    def evaluate(attributes: model.Attributes, values: resolve.Values) -> bool:
        value = operand(attributes, values)
        return any(_same(value, choice(attributes, values)) for choice in choices)

    return evaluate


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


def _on_two(
    test: Callable[[model.Value | model.Missing, model.Value | model.Missing], bool],
) -> Builder:
    def build(_node: ast.Node, parts: list[Evaluate]) -> Evaluate:
        left, right = parts
        return lambda attributes, values: test(left(attributes, values), right(attributes, values))

    return build


def begins_with(value: model.Value | model.Missing, prefix: model.Value | model.Missing) -> bool:
    """Return whether a text or binary begins with another (CND-9).

    >>> begins_with("abc", "ab"), begins_with("abc", b"ab")
    (True, False)
    """
    if isinstance(value, str):
        return isinstance(prefix, str) and value.startswith(prefix)
    return isinstance(value, bytes) and isinstance(prefix, bytes) and value.startswith(prefix)


def contains(value: model.Value | model.Missing, sought: model.Value | model.Missing) -> bool:
    """Return whether a text, binary, set or list contains something (CND-10).

    >>> contains("abc", "bc"), contains((Decimal(1),), Decimal(1)), contains("1", Decimal(1))
    (True, True, False)
    """
    if isinstance(value, tuple):
        # Whatever the service takes for equal, Python does, and much sooner.
        return sought in value and any(model.equal(member, sought) for member in value)
    return type(sought) is _MEMBER_TYPES.get(type(value)) and sought in value  # type: ignore[operator]  # the table lists containers


# Long conditions


class _Found(dict[str, model.Value]):
    """The values of a long condition, and what it has found out about one item.

    A text of 4 KB can ask for one list of 400 KB two hundred times. Each pair of lists or maps is
    compared once, and the members of a list are gathered once. Both sides live as long as this
    does, so their identities are theirs alone.
    """

    __slots__ = ("_contained", "_members", "_same")

    def __init__(self, values: resolve.Values) -> None:
        super().__init__(values)
        self._same: dict[tuple[int, int], bool] = {}
        self._contained: dict[tuple[int, int], bool] = {}
        self._members: dict[int, frozenset[Hashable]] = {}

    def same(self, left: model.Value | model.Missing, right: model.Value | model.Missing) -> bool:
        """Return what ``_same`` does."""
        if type(left) not in model.CONTAINER_TYPES:
            return _same(left, right)
        pair = id(left), id(right)
        if pair not in self._same:
            self._same[pair] = _same(left, right)
        return self._same[pair]

    def contains(
        self, value: model.Value | model.Missing, sought: model.Value | model.Missing
    ) -> bool:
        """Return what ``contains`` does."""
        if not isinstance(value, tuple) or isinstance(sought, model.Missing):
            return contains(value, sought)
        members = self._members.get(id(value))
        if members is None:
            members = self._members[id(value)] = frozenset(map(model.frozen, value))
        if type(sought) not in model.CONTAINER_TYPES:  # it may be a size, which lives no longer
            return model.frozen(sought) in members
        pair = id(value), id(sought)
        if pair not in self._contained:
            self._contained[pair] = model.frozen(sought) in members
        return self._contained[pair]


def _long_comparison(node: ast.ComparisonTest, parts: list[Evaluate]) -> Evaluate:
    left, right = parts
    if node.operator not in _EQUALITIES:
        return _comparison(node, parts)
    wanted = node.operator == "="

    def evaluate(attributes: model.Attributes, found: _Found) -> bool:
        return found.same(left(attributes, found), right(attributes, found)) is wanted

    return evaluate  # type: ignore[return-value]  # the values of a long condition are found


def _long_in(_node: ast.Node, parts: list[Evaluate]) -> Evaluate:
    operand, *choices = parts

    def evaluate(attributes: model.Attributes, found: _Found) -> bool:
        value = operand(attributes, found)
        return any(found.same(value, choice(attributes, found)) for choice in choices)

    return evaluate  # type: ignore[return-value]  # the values of a long condition are found


def _long_contains(_node: ast.Node, parts: list[Evaluate]) -> Evaluate:
    left, right = parts

    def evaluate(attributes: model.Attributes, found: _Found) -> bool:
        return found.contains(left(attributes, found), right(attributes, found))

    return evaluate  # type: ignore[return-value]  # the values of a long condition are found


_MEMBER_TYPES: Final = {row.python_class: row.contained for row in ATTRIBUTE_TYPES}
_SIZED: Final[tuple[type[Sized], ...]] = tuple(
    row.python_class for row in ATTRIBUTE_TYPES if row.is_sized
)
_EQUALITIES: Final = frozenset(("=", "<>"))
_ORDERINGS: Final[dict[str, Callable[..., bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

# Each builder takes the class, or the function, it stands under.
Builder: TypeAlias = Callable[..., Evaluate]
_FUNCTIONS: Final[dict[str, Builder]] = {
    "attribute_exists": _exists,
    "attribute_not_exists": _not_exists,
    "attribute_type": _has_type,
    "begins_with": _on_two(begins_with),
    "contains": _on_two(contains),
    "size": _size,
}
_BUILDERS: Final[dict[type, Builder]] = {
    ast.LiteralValue: literal_operand,
    ast.Function: lambda node, parts: _FUNCTIONS[node.name](node, parts),
    ast.ComparisonTest: _comparison,
    ast.Between: _between,
    ast.In: _in,
    ast.Not: _not,
    ast.And: _and,
    ast.Or: _or,
}
_LONG_FUNCTIONS: Final[dict[str, Builder]] = _FUNCTIONS | {"contains": _long_contains}
_LONG_BUILDERS: Final[dict[type, Builder]] = {
    **_BUILDERS,
    ast.Function: lambda node, parts: _LONG_FUNCTIONS[node.name](node, parts),
    ast.ComparisonTest: _long_comparison,
    ast.In: _long_in,
}
