"""Conditions asked of a page: each test answers for all items at once.

One item is asked by the functions of ``condition``; both take their decisions from
``comparisons``. Here a value is fetched once for the page, and the rows of one type are judged by
one function, so that a filter of many tests over many items stays quick. A long condition reads
each list and map once, however often it asks: a text of 4 KB can name a list of 400 KB 200 times.
"""

from __future__ import annotations

import operator
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property, reduce
from itertools import compress, product, repeat
from typing import Any, Final, NamedTuple, TypeAlias

from emulator import model
from emulator.expressions import ast
from emulator.expressions.comparisons import COMPARISONS, Comparison, Test, is_member, size
from emulator.service.attribute_types import BY_LETTERS

#: The rows that pass, as a number with a byte for each row: joining them is arithmetic.
Rows: TypeAlias = int


class Step(NamedTuple):
    """A node, and which of the steps before it its children are."""

    node: ast.Node
    children: tuple[int, ...]


class Tree:
    """A condition as a tree.

    Args:
        root: Its topmost node.
        paths: The document path of each path in it.
        is_long: Whether it may ask for one value often.
    """

    def __init__(
        self, root: ast.Node, paths: Mapping[ast.Path, model.Path], *, is_long: bool
    ) -> None:
        self.root = root
        self.paths = paths
        self.is_long = is_long

    @cached_property
    def steps(self) -> list[Step]:
        """Its nodes, children first; what is written twice is one of them."""
        steps: list[Step] = []
        places: dict[ast.Node, int] = {}

        def place(node: ast.Node, children: list[int]) -> int:
            if type(node) in _JOINING:
                steps.append(Step(node, tuple(children)))
                return len(steps) - 1
            if node not in places:
                places[node] = len(steps)
                steps.append(Step(node, tuple(children)))
            return places[node]

        ast.fold(self.root, place)
        return steps


def passed(
    tree: Tree, items: Sequence[model.Attributes], values: Mapping[str, model.Value]
) -> bytes:
    """Return for each item 1 if it meets a condition, else 0.

    >>> path, literal = ast.Path(("a",)), ast.LiteralValue(":v")
    >>> tree = Tree(ast.ComparisonTest("=", path, literal), {path: ("a",)}, is_long=False)
    >>> list(passed(tree, [{"a": "x"}, {}, {"a": "y"}], {":v": "y"}))
    [0, 0, 1]
    """
    page = _Page(tree, items, values)
    results: list[Any] = []
    for node, children in tree.steps:
        parts = [results[place] for place in children]
        results.append(_RESULTS[type(node)](page, node, parts))
    rows: Rows = results[-1]
    return rows.to_bytes(len(items), "little")


Read: TypeAlias = Callable[[Any], Any]


class _Part:
    """The rows where an operand has one type, and its values there."""

    def __init__(self, rows: Sequence[int], values: Sequence[Any]) -> None:
        self.rows = rows
        self._values = values
        self._read: dict[Read, Sequence[Any]] = {}

    @cached_property
    def in_order(self) -> tuple[list[Any], Callable[[bytes], Iterable[int]]]:
        """The different values in order, and what spreads marks of these over the rows.

        There have to be at least two rows.
        """
        ordered = sorted(set(self._values))
        ranks = {value: rank for rank, value in enumerate(ordered)}
        return ordered, operator.itemgetter(*map(ranks.__getitem__, self._values))

    def read(self, read: Read | None) -> Iterable[Any]:
        """Return the values, or what a function reads out of them, once."""
        if read is None:
            return self._values
        if read not in self._read:
            self._read[read] = list(map(read, self._values))
        return self._read[read]


class _Constant(_Part):
    """A value that every row has."""

    def __init__(self, rows: Sequence[int], value: model.Value) -> None:
        super().__init__(rows, (value,))

    def read(self, read: Read | None) -> Iterable[Any]:
        """Return the value, or what a function reads out of it, for each row."""
        return repeat(self.value(read), len(self.rows))

    def value(self, read: Read | None = None) -> Any:
        """Return the value, or what a function reads out of it, once."""
        [value] = super().read(read)
        return value


_Operand: TypeAlias = dict[type, _Part]


def _by_type(rows: Sequence[int], values: Sequence[model.Value | model.Missing]) -> _Operand:
    """Return an operand in parts; rows where it is missing have a part, or none."""
    types = set(map(type, values))
    if len(types) == 1:
        return {types.pop(): _Part(rows, values)}
    places: dict[type, list[int]] = {each: [] for each in types}
    for place, each in enumerate(map(type, values)):
        places[each].append(place)
    return {
        each: _Part([rows[place] for place in own], [values[place] for place in own])
        for each, own in places.items()
    }


#: Rows and the values of a path there; where it is missing it may be left out.
_Column: TypeAlias = tuple[Sequence[int], list["model.Value | model.Missing"]]


class _Way(NamedTuple):
    """A test, and what it reads out of either side first."""

    test: Test
    left: Read | None = None
    right: Read | None = None


def _joined(left: _Part, right: _Part, way: _Way) -> tuple[Sequence[int], Iterable[bool]]:
    """Return the rows that two parts have in common, and whether each passes the test."""
    lefts, rights = left.read(way.left), right.read(way.right)
    if isinstance(right, _Constant) or left.rows == right.rows:
        return left.rows, map(way.test, lefts, rights)
    if isinstance(left, _Constant):
        return right.rows, map(way.test, lefts, rights)
    others = dict(zip(right.rows, rights, strict=True))
    is_common = [row in others for row in left.rows]
    rows = list(compress(left.rows, is_common))
    return rows, map(way.test, compress(lefts, is_common), map(others.__getitem__, rows))


class _Page:
    """The items that a condition is asked of, and what has been found out about them."""

    def __init__(
        self, tree: Tree, items: Sequence[model.Attributes], values: Mapping[str, model.Value]
    ) -> None:
        self._tree = tree
        self._items = items
        self._given = values
        self._all = int.from_bytes(b"\1" * len(items), "little")
        self._columns: dict[model.Path, _Column] = {}
        if tree.is_long:
            self._look_everywhere()

    # Operands

    def _path(self, node: ast.Path, _parts: list[Any]) -> _Operand:
        return _by_type(*self._column(self._tree.paths[node]))

    def _column(self, path: model.Path) -> _Column:
        """Look a path up, from the values of the path above it (CND-1)."""
        if path not in self._columns:
            *above, last = path
            if above:
                rows, values = self._column(tuple(above))
                self._columns[path] = rows, [model.step(value, last) for value in values]
            else:
                found = [attributes.get(str(last), model.MISSING) for attributes in self._items]
                self._columns[path] = range(len(found)), found
        return self._columns[path]

    def _look_everywhere(self) -> None:
        """Find the attributes that many tests name by looking at each item once."""
        found: dict[str, tuple[list[int], list[model.Value | model.Missing]]] = {
            str(path[0]): ([], []) for path in self._tree.paths.values()
        }
        for row, attributes in enumerate(self._items):
            for name in found.keys() & attributes.keys():
                rows, values = found[name]
                rows.append(row)
                values.append(attributes[name])
        everywhere = range(len(self._items))
        for name, (rows, values) in found.items():
            is_everywhere = len(rows) == len(everywhere)
            self._columns[(name,)] = everywhere if is_everywhere else rows, values

    def _literal(self, node: ast.LiteralValue, _parts: list[Any]) -> _Operand:
        value = self._given[node.name]
        return {type(value): _Constant(range(len(self._items)), value)}

    def _function(self, node: ast.Function, parts: list[_Operand]) -> Rows | _Operand:
        if node.name in COMPARISONS:
            return self._passing(COMPARISONS[node.name], *parts)
        result: Rows | _Operand = _FUNCTIONS[node.name](self, *parts)
        return result

    def _size(self, operand: _Operand) -> _Operand:
        rows = [row for part in operand.values() for row in part.rows]
        return _by_type(rows, [each for part in operand.values() for each in part.read(size)])

    # Tests

    def _and(self, _node: ast.Node, parts: list[Rows]) -> Rows:
        return reduce(operator.and_, parts)

    def _or(self, _node: ast.Node, parts: list[Rows]) -> Rows:
        return reduce(operator.or_, parts)

    def _not(self, _node: ast.Node, parts: list[Rows]) -> Rows:
        return self._all ^ parts[0]

    def _comparison(self, node: ast.ComparisonTest, parts: list[_Operand]) -> Rows:
        """CND-2: what is missing equals nothing, not even something else that is."""
        if node.operator == "<>":
            return self._all ^ self._passing(COMPARISONS["="], *parts)
        return self._passing(COMPARISONS[node.operator], *parts)

    def _between(self, _node: ast.Node, parts: list[_Operand]) -> Rows:
        """CND-5: both bounds belong to the range; they and what is in it are of one type."""
        operand, lower, upper = parts
        rows = 0
        for each in model.ORDERED_TYPES:
            if each in operand and each in lower and each in upper:
                rows |= self._within(each, operand[each], lower[each], upper[each])
        return rows

    def _within(self, each: type, part: _Part, low: _Part, high: _Part) -> Rows:
        """Return the rows of one type that lie in a range.

        A long condition puts the values in order once, and looks each range up there.
        """
        is_long = self._tree.is_long and len(part.rows) > 1 and not isinstance(part, _Constant)
        if is_long and isinstance(low, _Constant) and isinstance(high, _Constant):
            ordered, spread = part.in_order
            first, end = bisect_left(ordered, low.value()), bisect_right(ordered, high.value())
            marks = bytes(first) + b"\1" * (end - first) + bytes(len(ordered) - end)
            return self._marked(part.rows, spread(marks))
        above = self._passing(COMPARISONS[">="], {each: part}, {each: low})
        return above & self._passing(COMPARISONS["<="], {each: part}, {each: high})

    def _in(self, _node: ast.Node, parts: list[_Operand]) -> Rows:
        operand, *choices = parts
        rows = 0
        constants: dict[type, set[Hashable]] = {}
        for choice in choices:
            for each, part in choice.items():
                if isinstance(part, _Constant):
                    constants.setdefault(each, set()).add(part.value(model.frozen))
                elif each in operand:
                    rows |= self._passing(COMPARISONS["="], operand, {each: part})
        for each in constants.keys() & operand.keys():
            judged = map(constants[each].__contains__, operand[each].read(model.frozen))
            rows |= self._marked(operand[each].rows, judged)
        return rows

    def _exists(self, operand: _Operand) -> Rows:
        types = operand.keys() - {model.Missing}
        return reduce(operator.or_, [self._having(operand, each) for each in types], 0)

    def _not_exists(self, operand: _Operand) -> Rows:
        return self._all ^ self._exists(operand)

    def _has_type(self, operand: _Operand, wanted: _Operand) -> Rows:
        letters = wanted[str]
        assert isinstance(letters, _Constant), "CND-8 lets no path pass"
        return self._having(operand, BY_LETTERS[letters.value()].python_class)

    def _having(self, operand: _Operand, wanted: type) -> Rows:
        part = operand.get(wanted)
        return 0 if part is None else self._marked(part.rows, b"\1" * len(part.rows))

    # Values, row by row

    def _passing(self, comparison: Comparison, left: _Operand, right: _Operand) -> Rows:
        """Return the rows where two operands pass a test; each pair of types is judged once."""
        rows = 0
        for types in product(left, right):
            test = comparison.get(types)
            if test is not None:
                way = _READING_ONCE.get(test) if self._tree.is_long else None
                joined = _joined(left[types[0]], right[types[1]], way or _Way(test))
                rows |= self._marked(*joined)
        return rows

    def _marked(self, rows: Sequence[int], judged: Iterable[int]) -> Rows:
        """Return those of some rows that were judged well."""
        if isinstance(rows, range):
            return int.from_bytes(bytes(judged), "little")
        marks = bytearray(len(self._items))
        for row in compress(rows, judged):
            marks[row] = True
        return int.from_bytes(marks, "little")


def _members(values: tuple[model.Value, ...]) -> frozenset[Hashable]:
    return frozenset(map(model.frozen, values))


#: Tests that look through a list or a map, and how to read it once for all of them.
_READING_ONCE: Final[dict[Test, _Way]] = {
    model.equal: _Way(operator.eq, model.frozen, model.frozen),
    is_member: _Way(operator.contains, _members, model.frozen),
}
#: What joins tests: it would take as long to look up as it is deep, and AND is equal to OR.
_JOINING: Final = frozenset((ast.And, ast.Or, ast.Not))
_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "attribute_exists": _Page._exists,
    "attribute_not_exists": _Page._not_exists,
    "attribute_type": _Page._has_type,
    "size": _Page._size,
}
_RESULTS: Final[dict[type, Callable[..., Any]]] = {
    ast.Path: _Page._path,
    ast.LiteralValue: _Page._literal,
    ast.Function: _Page._function,
    ast.ComparisonTest: _Page._comparison,
    ast.Between: _Page._between,
    ast.In: _Page._in,
    ast.Not: _Page._not,
    ast.And: _Page._and,
    ast.Or: _Page._or,
}
