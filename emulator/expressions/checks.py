"""Faults of an expression that show before any item is looked at.

``check_text`` judges the tree alone. ``condition_checks`` and ``update_checks`` add the names
of a request: what they can decide they decide, and what depends on the values becomes a list
of checks to run on each request's values, in the order in which faults are reported.

The order of faults (ERR-EXP-31, UPD-18) follows what others saw the service answer:
syntax and redundant parentheses; unknown functions; misplaced functions; reserved words;
repeated sections; limits. Then, in a condition, node by node from the inside out and from the
left to the right: undefined placeholders, number of operands, equal operands, operand types.
In an update: undefined names; undefined values; overlapping, then conflicting paths; types
of ADD and DELETE; functions.

Observed: dynalite's tests of scan, query, getItem and updateItem, which it runs against the
service.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain, islice
from typing import Final, NamedTuple, NoReturn, TypeAlias

from emulator import model
from emulator.expressions import ast
from emulator.expressions.parser import fault
from emulator.expressions.reserved import is_reserved
from emulator.service import errors, limits
from emulator.service.attribute_types import BY_LETTERS, ORDERED, SIZED
from emulator.service.wording import Wording

UNKNOWN_FUNCTION: Final = "Invalid function name; function: {function}"
MISPLACED_FUNCTION: Final = (
    "The function is not allowed to be used this way in an expression; function: {function}"
)
# Source: the list of validation errors in the code of DynamoDB Local.
NOT_IN_CONDITIONS: Final = (
    "The function is not allowed in a condition expression; function: {function}"
)
NOT_IN_UPDATES: Final = "The function is not allowed in an update expression; function: {function}"
RESERVED: Final = "Attribute name is a reserved keyword; reserved keyword: {word}"
# Observed: other emulators that recorded the service, for an index beyond 32 bits.
INDEX_RANGE: Final = "List index is not within the allowable range; index: [{index}]"
REPEATED_SECTION: Final = 'The "{section}" section can only be used once in an update expression;'
TOO_MANY_OPERATORS: Final = "The expression contains too many operators; operator count: {count}"
TOO_MANY_CHOICES: Final = (
    "The IN operator is provided with too many operands; number of operands: {count}"
)
# Observed: ScyllaDB's test of projections against the service.
TOO_DEEP: Final = "The document path has too many nesting levels; nesting levels: {count}"
UNDEFINED_NAME: Final = (
    "An expression attribute name used in the document path is not defined; attribute name: {name}"
)
UNDEFINED_VALUE: Final = (
    "An expression attribute value used in expression is not defined; attribute value: {name}"
)
OPERAND_COUNT: Final = (
    "Incorrect number of operands for operator or function; "
    "operator or function: {function}, number of operands: {count}"
)
OPERAND_TYPE: Final = (
    "Incorrect operand type for operator or function; "
    "operator or function: {operator}, operand type: {type}"
)
# Observed: captures of eu-west-2 by two other emulators, September and October 2026; the set is
# named after ADD even for DELETE. The older layer is that of DynamoDB Local.
ACTION_TYPE: Final = Wording(
    "Incorrect operand type for operator or function; operator: {operator}, "
    "operand type: {type.current_name}, typeSet: ALLOWED_FOR_ADD_OPERAND",
    older="Incorrect operand type for operator or function; operator: {operator}, "
    "operand type: {type.older_name}, typeSet: ALLOWED_FOR_{operator}_OPERAND",
)
PATH_REQUIRED: Final = (
    "Operator or function requires a document path; operator or function: {function}"
)
EQUAL_OPERANDS: Final = (
    "The first operand must be distinct from the remaining operands for this operator or "
    "function; operator: {operator}, first operand: {path}"
)
# Observed: another emulator's tests of the current layer, 2026, and a third one's capture of
# eu-west-2, September 2026, for the older.
UNKNOWN_TYPE: Final = Wording(
    "Invalid attribute type name found; type: {type}, "
    "valid types: {{S,SS,N,NS,B,BS,BOOL,NULL,L,M}}",
    older="Invalid attribute type name found; type: {type}, "
    "valid types: {{N,BS,L,B,NULL,M,S,SS,NS,BOOL}}",
)
BETWEEN_TYPES: Final = (
    "The BETWEEN operator requires same data type for lower and upper bounds; "
    "lower bound operand: AttributeValue: {{{lower}}}, "
    "upper bound operand: AttributeValue: {{{upper}}}"
)
BETWEEN_ORDER: Final = (
    "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
    "lower bound operand: AttributeValue: {{{lower}}}, "
    "upper bound operand: AttributeValue: {{{upper}}}"
)
OVERLAP: Final = (
    "Two document paths overlap with each other; must remove or rewrite one of these paths; "
    "path one: {one}, path two: {two}"
)
CONFLICT: Final = (
    "Two document paths conflict with each other; must remove or rewrite one of these paths; "
    "path one: {one}, path two: {two}"
)

#: How many operands each function takes.
CONDITION_FUNCTIONS: Final = {
    "attribute_exists": 1,
    "attribute_not_exists": 1,
    "attribute_type": 2,
    "begins_with": 2,
    "contains": 2,
}
OPERAND_FUNCTIONS: Final = {"size": 1}
UPDATE_FUNCTIONS: Final = {"if_not_exists": 2, "list_append": 2}
_OPERAND_COUNTS: Final = CONDITION_FUNCTIONS | OPERAND_FUNCTIONS | UPDATE_FUNCTIONS

# The order is observed.
_ALL_TYPES: Final = "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}"
_MEMBER_TYPES: Final = {"ADD": (Decimal, *model.SET_TYPES), "DELETE": model.SET_TYPES}
_LETTERS: Final = tuple(BY_LETTERS)
MAX_INDEX: Final = 2**31 - 1

Values: TypeAlias = Mapping[str, model.Value]
Names: TypeAlias = Mapping[str, str]
Check: TypeAlias = Callable[[Values], None]


# What the text alone shows


def check_text(kind: str, root: ast.Node) -> None:
    """Refuse what no placeholder can mend: functions, reserved words, sections, limits.

    Raises:
        RequestFault: EXP-9, LEX-7, UPD-2, EXP-5, EXP-6, EXP-7.
    """
    nodes = tuple(ast.walk(root))
    _functions_are_known(kind, nodes)
    _functions_are_in_place(kind, nodes, root)
    _names_are_not_reserved(kind, nodes)
    _sections_are_used_once(kind, root)
    _limits_are_kept(kind, nodes)


def _functions_are_known(kind: str, nodes: Sequence[ast.Node]) -> None:
    for node in nodes:
        if isinstance(node, ast.Function) and node.name not in _OPERAND_COUNTS:
            raise fault(kind, UNKNOWN_FUNCTION.format(function=node.name))


def _functions_are_in_place(kind: str, nodes: Sequence[ast.Node], root: ast.Node) -> None:
    if isinstance(root, ast.UpdateExpression):
        for node in nodes:
            if isinstance(node, ast.Function) and node.name not in UPDATE_FUNCTIONS:
                raise fault(kind, NOT_IN_UPDATES.format(function=node.name))
        _appends_are_outermost(kind, nodes)
        return
    for node in nodes:
        wanted = (
            CONDITION_FUNCTIONS
            if isinstance(node, ast.And | ast.Or | ast.Not)
            else OPERAND_FUNCTIONS
        )
        for child in ast.children(node):
            _function_is_one_of(kind, child, wanted)
    _function_is_one_of(kind, root, CONDITION_FUNCTIONS)


def _appends_are_outermost(kind: str, nodes: Sequence[ast.Node]) -> None:
    """Refuse list_append as an operand of a function (EXP-9, UPD-14).

    Observed: ScyllaDB's tests, run against the service, for list_append in itself. Assumed: for
    if_not_exists, where DynamoDB Local says the same.
    """
    calls = [node for node in nodes if isinstance(node, ast.Function)]
    for operand in chain.from_iterable(call.operands for call in calls):
        if isinstance(operand, ast.Function) and operand.name == "list_append":
            raise fault(kind, MISPLACED_FUNCTION.format(function="list_append"))


def _function_is_one_of(kind: str, node: ast.Node, wanted: Mapping[str, int]) -> None:
    if not isinstance(node, ast.Function) or node.name in wanted:
        return
    message = NOT_IN_CONDITIONS if node.name in UPDATE_FUNCTIONS else MISPLACED_FUNCTION
    raise fault(kind, message.format(function=node.name))


def _names_are_not_reserved(kind: str, nodes: Sequence[ast.Node]) -> None:
    for part in chain.from_iterable(node.parts for node in nodes if isinstance(node, ast.Path)):
        if isinstance(part, str):
            if is_reserved(part):
                raise fault(kind, RESERVED.format(word=part))
        elif part > MAX_INDEX:
            raise fault(kind, INDEX_RANGE.format(index=part))


def _sections_are_used_once(kind: str, root: ast.Node) -> None:
    if isinstance(root, ast.UpdateExpression):
        seen: set[str] = set()
        for first, *_ in root.sections:
            if first.keyword in seen:
                raise fault(kind, REPEATED_SECTION.format(section=first.keyword))
            seen.add(first.keyword)


def _limits_are_kept(kind: str, nodes: Sequence[ast.Node]) -> None:
    count = sum(map(_operators, nodes))
    if count > limits.EXPRESSION_OPERATORS:
        raise fault(kind, TOO_MANY_OPERATORS.format(count=count))
    for node in nodes:
        if isinstance(node, ast.In) and len(node.choices) > limits.IN_OPERANDS:
            raise fault(kind, TOO_MANY_CHOICES.format(count=len(node.choices)))
        if isinstance(node, ast.Path) and len(node.parts) > limits.PATH_COMPONENTS:
            raise fault(kind, TOO_DEEP.format(count=len(node.parts)))


def _operators(node: ast.Node) -> int:
    """Return how many operators a node stands for.

    Assumed: each action of an update counts as one (EXP-5).
    """
    if isinstance(node, ast.And | ast.Or):
        return len(node.terms) - 1
    return isinstance(
        node,
        ast.Not
        | ast.ComparisonTest
        | ast.Between
        | ast.In
        | ast.Function
        | ast.Arithmetic
        | ast.UpdateAction,
    )


# What names and values add


def document_path(kind: str, path: ast.Path, names: Names) -> model.Path:
    """Return a path with its placeholders replaced.

    Raises:
        RequestFault: a name placeholder is not defined (PLH-1).
    """
    return tuple(
        _target(kind, part, names) if isinstance(part, str) else part for part in path.parts
    )


def _target(kind: str, part: str, names: Names) -> str:
    if not part.startswith("#"):
        return part
    if part not in names:
        raise fault(kind, UNDEFINED_NAME.format(name=part))
    return names[part]


class Checks(NamedTuple):
    """The checks of each request's values, in order; if not ``can_pass``, the last fails."""

    steps: tuple[Check, ...]
    can_pass: bool


def condition_checks(kind: str, root: ast.Node, names: Names) -> Checks:
    """Return the checks of a condition."""
    return _collected(kind, _condition_checks(kind, root, names))


def update_checks(kind: str, root: ast.UpdateExpression, names: Names) -> Checks:
    """Return the checks of an update."""
    return _collected(kind, _update_checks(kind, root, names))


class _Branch:
    """Where document paths part: the first path that came here, and what lies below."""

    __slots__ = ("below", "first", "is_end")

    def __init__(self, first: model.Path) -> None:
        self.first = first
        self.below: dict[str | int, _Branch] = {}
        self.is_end = False


def paths_are_separate(kind: str, paths: Iterable[model.Path]) -> None:
    """Refuse paths of which one leads to another, or that disagree about a parent.

    An overlap is reported before any conflict; both name the paths in the order of the source
    (UPD-3, UPD-4, PRJ-3).
    """
    root = _Branch(())
    conflict: errors.RequestFault | None = None
    for path in paths:
        branch, is_known = root, True
        for part in path:
            if branch.is_end:
                raise _clash(kind, OVERLAP, branch.first, path)
            if conflict is None and _is_other_container(branch, part):
                conflict = _clash(kind, CONFLICT, branch.first, path)
            is_known = part in branch.below
            branch = branch.below.setdefault(part, _Branch(path))
        if is_known:
            raise _clash(kind, OVERLAP, branch.first, path)
        branch.is_end = True
    if conflict is not None:
        raise conflict


def _is_other_container(branch: _Branch, part: str | int) -> bool:
    return any(type(other) is not type(part) for other in islice(branch.below, 1))


def _clash(kind: str, message: str, first: model.Path, second: model.Path) -> errors.RequestFault:
    return fault(kind, message.format(one=model.format_path(first), two=model.format_path(second)))


def _collected(kind: str, steps: Iterator[Check | str]) -> Checks:
    """Return the checks up to a fault that is certain, which becomes the last of them.

    A step that is a name asks for that value to be defined; runs of them become one check.
    """
    collected: list[Check] = []
    wanted: list[str] = []
    try:
        for step in steps:
            if isinstance(step, str):
                wanted.append(step)
                continue
            _flush(kind, wanted, collected)
            collected.append(step)
    except errors.RequestFault as certain:
        _flush(kind, wanted, collected)
        return Checks((*collected, always(certain)), can_pass=False)
    _flush(kind, wanted, collected)
    return Checks(tuple(collected), can_pass=True)


def _flush(kind: str, wanted: list[str], collected: list[Check]) -> None:
    if wanted:
        collected.append(_are_defined(kind, tuple(wanted)))
        wanted.clear()


def always(certain: errors.RequestFault) -> Check:
    """Return the check that fails for any values."""

    def check(_values: Values) -> NoReturn:
        raise errors.RequestFault(certain.wording)

    return check


def _condition_checks(kind: str, root: ast.Node, names: Names) -> Iterator[Check | str]:
    for node in ast.walk(root):
        if isinstance(node, ast.Path):
            document_path(kind, node, names)
        elif isinstance(node, ast.LiteralValue):
            yield node.name
        elif isinstance(node, ast.Function):
            yield from _function_checks(kind, node, names)
        elif isinstance(node, ast.ComparisonTest):
            _operands_differ(kind, node.operator, (node.left, node.right), names)
            if node.operator not in ("=", "<>"):
                yield from _type_checks(kind, node.operator, ast.children(node), ORDERED)
        elif isinstance(node, ast.Between):
            yield from _type_checks(kind, "BETWEEN", ast.children(node), ORDERED)
            if isinstance(node.lower, ast.LiteralValue) and isinstance(
                node.upper, ast.LiteralValue
            ):
                yield _bounds_fit(kind, node.lower.name, node.upper.name)


def _update_checks(kind: str, root: ast.UpdateExpression, names: Names) -> Iterator[Check | str]:
    nodes = tuple(ast.walk(root))
    for node in nodes:
        if isinstance(node, ast.Path):
            document_path(kind, node, names)
    yield from (node.name for node in nodes if isinstance(node, ast.LiteralValue))
    actions = [node for node in nodes if isinstance(node, ast.UpdateAction)]
    paths_are_separate(kind, [document_path(kind, action.path, names) for action in actions])
    for action in actions:
        yield from _member_checks(kind, action)
    for node in nodes:
        if isinstance(node, ast.Function):
            yield from _function_checks(kind, node, names)
        elif isinstance(node, ast.Arithmetic):
            yield from _type_checks(kind, node.operator, ast.children(node), ("N",))


def _function_checks(kind: str, node: ast.Function, names: Names) -> Iterator[Check]:
    function, operands = node.name, node.operands
    if len(operands) != _OPERAND_COUNTS[function]:
        raise fault(kind, OPERAND_COUNT.format(function=function, count=len(operands)))
    if function in CONDITION_FUNCTIONS:
        _operands_differ(kind, function, operands, names)
    if function in ("attribute_exists", "attribute_not_exists", "if_not_exists"):
        if not isinstance(operands[0], ast.Path):
            raise fault(kind, PATH_REQUIRED.format(function=function))
    elif function == "begins_with":
        yield from _type_checks(kind, function, operands, ("S", "B"))
    elif function == "size":
        yield from _type_checks(kind, function, operands, SIZED)
    elif function == "list_append":
        yield from _type_checks(kind, function, operands, ("L",))
    elif function == "attribute_type":
        yield from _type_name_checks(kind, operands)


def _type_name_checks(kind: str, operands: Sequence[ast.Node]) -> Iterator[Check]:
    """Yield the checks of attribute_type: a path or value, and the name of a type (CND-8).

    Observed: ScyllaDB's tests, run against the service: a value has its type like any other.
    """
    if not isinstance(operands[0], ast.Path | ast.LiteralValue):
        raise fault(kind, PATH_REQUIRED.format(function="attribute_type"))
    named = operands[1]
    if not isinstance(named, ast.LiteralValue):
        operand_type = _ALL_TYPES if isinstance(named, ast.Path) else "N"
        raise fault(kind, OPERAND_TYPE.format(operator="attribute_type", type=operand_type))
    yield _has_type(kind, "attribute_type", named.name, ("S",))
    yield _names_a_type(kind, named.name)


def _operands_differ(kind: str, operator: str, operands: Sequence[ast.Node], names: Names) -> None:
    """Refuse the same path on both sides (CND-11)."""
    first, second = (*operands, None, None)[:2]
    if isinstance(first, ast.Path) and isinstance(second, ast.Path):
        path = document_path(kind, first, names)
        if path == document_path(kind, second, names):
            raise fault(
                kind, EQUAL_OPERANDS.format(operator=operator, path=model.format_path(path))
            )


def _type_checks(
    kind: str, operator: str, operands: Sequence[ast.Node], allowed: tuple[str, ...]
) -> Iterator[Check]:
    """Yield the type checks of literals (CND-4); ``size`` is known to be a number."""
    for operand in operands:
        if isinstance(operand, ast.LiteralValue):
            yield _has_type(kind, operator, operand.name, allowed)
        elif isinstance(operand, ast.Function) and operand.name == "size" and "N" not in allowed:
            raise fault(kind, OPERAND_TYPE.format(operator=operator, type="N"))


def _member_checks(kind: str, action: ast.UpdateAction) -> Iterator[Check]:
    """Yield the type check of ADD or DELETE (UPD-15, UPD-16)."""
    allowed = _MEMBER_TYPES.get(action.keyword)
    if allowed is not None and isinstance(action.value, ast.LiteralValue):
        yield _is_a_member(kind, action.keyword, action.value.name, allowed)


# Checks of one request's values


def _are_defined(kind: str, names: tuple[str, ...]) -> Check:
    def check(values: Values) -> None:
        for name in names:
            if name not in values:
                raise fault(kind, UNDEFINED_VALUE.format(name=name))

    return check


def _has_type(kind: str, operator: str, name: str, allowed: tuple[str, ...]) -> Check:
    def check(values: Values) -> None:
        operand_type = model.type_name(values[name])
        if operand_type not in allowed:
            raise fault(kind, OPERAND_TYPE.format(operator=operator, type=operand_type))

    return check


def _names_a_type(kind: str, name: str) -> Check:
    def check(values: Values) -> None:
        if values[name] not in _LETTERS:
            raise fault(kind, UNKNOWN_TYPE.format(type=values[name]))

    return check


def _is_a_member(kind: str, keyword: str, name: str, allowed: tuple[type, ...]) -> Check:
    def check(values: Values) -> None:
        value = values[name]
        if not isinstance(value, allowed):
            long_name = BY_LETTERS[model.type_name(value)]
            raise fault(kind, ACTION_TYPE.format(operator=keyword, type=long_name))

    return check


def _bounds_fit(kind: str, lower_name: str, upper_name: str) -> Check:
    """Return the check of BETWEEN's literal bounds (CND-5, KEY-14)."""

    def check(values: Values) -> None:
        lower, upper = values[lower_name], values[upper_name]
        if type(lower) is not type(upper):
            message = BETWEEN_TYPES
        elif model.is_below(upper, lower):
            message = BETWEEN_ORDER
        else:
            return
        raise fault(kind, message.format(lower=shown_value(lower), upper=shown_value(upper)))

    return check


def shown_value(value: model.Value) -> str:
    """Write an ordered value as messages do: type, colon, text."""
    if isinstance(value, Decimal):
        return f"N:{model.format_number(value)}"
    if isinstance(value, bytes):
        return f"B:{base64.b64encode(value).decode()}"
    return f"S:{value}"
