"""What a mutant is, and which mutants a file has.

Only bodies of functions are changed: not signatures, decorators, docstrings, annotations, texts,
assertions, nor the methods called ``check``, which are instruments of the tests.
"""

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
#: Functions that are taken for one another, and functions that are left out around their argument.
OPPOSITES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}
OPPOSITES |= {"any": "all", "all": "any"}
LEFT_OUT = {"ceil", "floor", "abs", "sorted", "reversed", "round"}

#: Fields of a node that hold no behaviour of the body.
NOT_CHANGED = {"decorator_list", "args", "returns", "annotation", "type_comment", "format_spec"}
NOT_CHANGED_FUNCTIONS = {"check", "__repr__"}

#: A way down the tree: the names of fields, with the places in those that are lists.
Steps = tuple[tuple[str, int | None], ...]


@dataclass(frozen=True)
class Mutant:
    """One change of one statement.

    Args:
        path: The file, from the root of the project.
        function: The qualified name of the function, as ``Class.method``.
        before: The first line of the statement as it is, in the form of ``ast.unparse``.
        after: The same line, changed.
        repeat: Which it is, from 1, of the changes of the function that read the same.
        lines: First and last line of the statement, or of its head if it has a body.
        steps: Where in the tree of the file the change is made.
        choice: Which of the changes that are possible there.
    """

    path: str
    function: str
    before: str
    after: str
    repeat: int
    lines: tuple[int, int]
    steps: Steps
    choice: int

    @property
    def name(self) -> str:
        """What the mutant is called in lists: it holds no line number, so it outlives edits."""
        again = f" #{self.repeat}" if self.repeat > 1 else ""
        return f"{self.path}:{self.function}{again}: {self.before} -> {self.after}"


def of_file(path: str, source: str) -> list[Mutant]:
    """Return every mutant of a file."""
    repeats: Counter[tuple[str, str, str]] = Counter()
    mutants = []
    for function, statement, steps, node in _nodes(ast.parse(source), (), (), None, ()):
        if not function:
            continue
        for choice, (before, after) in enumerate(_readings(statement, steps, node)):
            key = (".".join(function), before, after)
            repeats[key] += 1
            mutants.append(
                Mutant(
                    path=path,
                    function=key[0],
                    before=before,
                    after=after,
                    repeat=repeats[key],
                    lines=_lines(statement.node),
                    steps=steps,
                    choice=choice,
                )
            )
    return mutants


def tree_of(mutant: Mutant, root: Path) -> ast.Module:
    """Return the tree of the mutant's file with the change made in it."""
    tree = ast.parse((root / mutant.path).read_text())
    parent: ast.AST = tree
    for field, place in mutant.steps[:-1]:
        parent = _child(parent, field, place)
    field, place = mutant.steps[-1]
    changed = _changes(_child(parent, field, place))[mutant.choice]
    if place is None:
        setattr(parent, field, changed[0])
    else:
        getattr(parent, field)[place : place + 1] = changed
    return ast.fix_missing_locations(tree)


@dataclass(frozen=True)
class _Statement:
    """A statement and where it stands in the tree."""

    node: ast.stmt
    depth: int


def _child(parent: ast.AST, field: str, place: int | None) -> ast.AST:
    value = getattr(parent, field)
    child: ast.AST = value if place is None else value[place]
    return child


def _nodes(
    node: ast.AST,
    scope: tuple[str, ...],
    function: tuple[str, ...],
    statement: _Statement | None,
    steps: Steps,
) -> Iterator[tuple[tuple[str, ...], _Statement, Steps, ast.AST]]:
    """Yield what may be changed below a node: function, statement, way down and the node itself."""
    if isinstance(node, ast.ClassDef):
        scope = (*scope, node.name)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        if node.name in NOT_CHANGED_FUNCTIONS:
            return
        scope = function = (*scope, node.name)
    for field, value in ast.iter_fields(node):
        # The arguments of a call have the same name as those of a definition.
        if field in NOT_CHANGED and not (field == "args" and isinstance(node, ast.Call)):
            continue
        places = enumerate(value) if isinstance(value, list) else [(None, value)]
        for place, child in places:
            if not isinstance(child, ast.AST) or _is_left_alone(child):
                continue
            way = (*steps, (field, place))
            inner = _Statement(child, len(way)) if isinstance(child, ast.stmt) else statement
            if inner is not None and not isinstance(child, ast.FunctionDef | ast.ClassDef):
                yield function, inner, way, child
            yield from _nodes(child, scope, function, inner, way)


def _is_left_alone(node: ast.AST) -> bool:
    """Return whether nothing below a node is changed: assertions, texts and docstrings."""
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        return ast.unparse(node.exc.func) == "AssertionError"
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.keyword):
        return node.arg == "strict"  # of zip: an assertion
    return isinstance(node, ast.Assert | ast.Import | ast.ImportFrom | ast.JoinedStr)


def _readings(statement: _Statement, steps: Steps, node: ast.AST) -> list[tuple[str, str]]:
    """Return for each change of a node its statement's first line before and after."""
    before = _first_line(statement.node)
    readings = []
    for changed in _changes(node):
        if isinstance(node, ast.With):
            after = "its body alone"
        elif node is statement.node:
            after = _first_line(changed[0])
        else:
            altered = copy.deepcopy(statement.node)
            parent: ast.AST = altered
            for field, place in steps[statement.depth : -1]:
                parent = _child(parent, field, place)
            field, place = steps[-1]
            if place is None:
                setattr(parent, field, changed[0])
            else:
                getattr(parent, field)[place] = changed[0]
            after = _first_line(altered)
        readings.append((before, after))
    return readings


def _first_line(node: ast.AST) -> str:
    return ast.unparse(node).split("\n", 1)[0]


def _lines(statement: ast.stmt) -> tuple[int, int]:
    """Return first and last line of a statement, without the statements in it."""
    bodies = [child for child in ast.walk(statement) if isinstance(child, ast.stmt)]
    inner = [child.lineno for child in bodies if child is not statement]
    last = min(inner) - 1 if inner else statement.end_lineno or statement.lineno
    return statement.lineno, max(statement.lineno, last)


def _changes(node: ast.AST) -> list[list[ast.AST]]:
    """Return what may stand in the place of a node, each as the list of nodes that stands there."""
    if isinstance(node, ast.stmt):
        return _changed_statements(node)
    changed = [*_changed_operators(node), *_changed_values(node)]
    return [[other] for other in changed]


def _changed_statements(node: ast.stmt) -> list[list[ast.AST]]:
    if isinstance(node, ast.With) and all(item.optional_vars is None for item in node.items):
        return [list(node.body)]
    if isinstance(node, ast.Return) and node.value is not None:
        # To whoever asks for truth, None says what these say, or the opposite, which is tried.
        is_kept = ast.unparse(node.value) in ("None", "True", "False", "()", "[]", "{}")
        return [] if is_kept else [[ast.Return(ast.Constant(None))]]
    if isinstance(node, ast.Assign):
        # A name that is never bound is a NameError, which says nothing about the tests.
        is_kept = any(isinstance(target, ast.Name | ast.Tuple) for target in node.targets)
        return [] if is_kept else [[ast.Pass()]]
    dropped = ast.Expr | ast.AugAssign | ast.Raise | ast.Continue | ast.Break | ast.Delete
    return [[ast.Pass()]] if isinstance(node, dropped | ast.Return) else []


def _changed_operators(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            other = copy.deepcopy(node)
            other.ops[place] = COMPARISONS[type(operator)]()
            yield other
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        yield ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        for place in range(len(node.values)):
            others = node.values[:place] + node.values[place + 1 :]
            yield others[0] if len(others) == 1 else ast.BoolOp(node.op, others)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield node.operand
    elif isinstance(node, ast.IfExp):
        yield ast.IfExp(node.test, node.orelse, node.body)


def _changed_values(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield ast.Constant(not node.value)
        elif isinstance(node.value, int | float):
            yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.Call):
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name in OPPOSITES:
            yield ast.Call(_renamed(called, OPPOSITES[name]), node.args, node.keywords)
        elif name in LEFT_OUT and node.args:
            yield node.args[0]


def _renamed(called: ast.expr, name: str) -> ast.expr:
    if isinstance(called, ast.Attribute):
        return ast.Attribute(called.value, name, called.ctx)
    return ast.Name(name, ast.Load())
