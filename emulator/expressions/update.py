"""Updates: actions become functions of the stored item; their results are put in place.

Every action reads the item as it was (UPD-1). Results are put into new containers along the
paths; whatever an update does not touch is shared with the item it came from.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple, TypeAlias, TypeGuard

from emulator import model
from emulator.expressions import ast, resolve
from emulator.expressions.checks import Check, Names, check_text, document_path, update_checks
from emulator.expressions.condition import Evaluate, literal_operand, path_operand
from emulator.expressions.parser import NO_MEMBER, UPDATE
from emulator.service import limits
from emulator.service.errors import ValidationException

INVALID_PATH: Final = "The document path provided in the update expression is invalid for update"
MISSING_OPERAND: Final = (
    "The provided expression refers to an attribute that does not exist in the item"
)
WRONG_TYPE: Final = "An operand in the update expression has an incorrect data type"

# SIZ-5: what a statement costs beside the attributes it writes.
_STATEMENT_BYTES: Final = 3
_ACTION_BYTES: Final = 19
_REMOVAL_BYTES: Final = 1
_OPERATION_BYTES: Final = {"+": 34, "-": 37, "if_not_exists": 39, "list_append": 37}
_OPERAND_PATH_BYTES: Final = 1
_OPERAND_PART_BYTES: Final = 14
_TARGET_PART_BYTES: Final = 4

#: Where results go: an int is the place of a result, a dict lies below.
Edits: TypeAlias = "dict[str | int, Edits | int]"
_Set: TypeAlias = model.StringSet | model.NumberSet | model.BinarySet


class UpdateCost(NamedTuple):
    """The measures of a request: fixed bytes, literals, and attributes written (SIZ-5)."""

    fixed_bytes: int
    literals: tuple[str, ...]
    written: tuple[str, ...]


class Program(NamedTuple):
    """The actions of an update, for any item and any values.

    ``names`` are the targets if all of them are top-level attributes; else ``edits`` says
    where each result goes. ``mentioned`` are the targets and all paths that actions read;
    ``computed`` are the places of results that may be more than can be stored; ``gathers`` says
    whether an action makes a list or set longer; ``assigned`` are the attributes that SET gives
    the value of a placeholder.
    """

    paths: tuple[model.Path, ...]
    mentioned: tuple[model.Path, ...]
    actions: tuple[Evaluate, ...]
    names: tuple[str, ...] | None
    edits: Edits
    creates: bool
    computed: tuple[int, ...]
    cost: UpdateCost
    assigned: tuple[tuple[str, str], ...] = ()
    gathers: bool = False


NO_COST: Final = UpdateCost(0, (), ())


class Update:
    """An update with its values: apply it to any item.

    Attributes:
        paths: The target of every action, in the order of the source.
        mentioned: Every document path, targets and operands, in the order of the source.
        names: The top-level attributes among the targets, or around them.
        creates: False if the update only removes; it then makes no item (UPD-20).

    >>> placeholders = resolve.Placeholders({"#n": "count"}, {":one": Decimal(1)})
    >>> update = parse_update("SET #n = #n + :one REMOVE z", placeholders)
    >>> update.apply({"pk": "a", "count": Decimal(4), "z": "old"})
    {'pk': 'a', 'count': Decimal('5')}
    """

    __slots__ = ("_program", "_values", "creates", "mentioned", "names", "paths")

    def __init__(self, program: Program, values: resolve.Values) -> None:
        self._program = program
        self._values = values
        self.paths = program.paths
        self.names = tuple(map(str, program.edits)) if program.names is None else program.names
        self.mentioned = program.mentioned
        self.creates = program.creates

    def apply(self, attributes: model.Attributes) -> dict[str, model.Value]:
        """Return the attributes after the update; those given are not changed.

        Raises:
            ValidationException: the stored item does not suit the update (UPD-6, UPD-10,
                UPD-11, UPD-14 to UPD-16), a number leaves the storable range (NUM-10), or lists
                and sets have more members than an item has bytes (SIZ-3).
        """
        _, _, actions, names, edits, _, computed, _, _, gathers = self._program
        values = self._values
        if gathers:
            results = _gathered(actions, attributes, values)
        else:
            results = [action(attributes, values) for action in actions]
        if names is None:
            changed = _edited_map(attributes, edits, results)
        else:
            changed = _replaced(attributes, names, results)
        for number in computed:
            result = results[number]
            if isinstance(result, Decimal):
                model.numbers.check_storable(result)
        return changed

    def assigned(self) -> dict[str, model.Value]:
        """Return the attributes that SET gives a value as it came with the request."""
        return {name: self._values[literal] for name, literal in self._program.assigned}

    def request_bytes(self, attributes: model.Attributes, result: model.Attributes) -> int:  # noqa: ARG002  # what was stored does not count
        """Return the bytes that a stand-alone UpdateItem is measured by (SIZ-5).

        Beyond what an item may have it is not measured on, however often a value is named.

        Args:
            attributes: The item before the update.
            result: The item after it.
        """
        cost = self._program.cost
        size = cost.fixed_bytes
        for literal in cost.literals:
            if size > limits.ITEM_BYTES:
                return size
            size += model.value_size(self._values[literal])
        for name in cost.written:
            size += model.text_size(name) + model.value_size(result[name])
        return size


def parse_update(text: str, placeholders: resolve.Placeholders) -> Update:
    """Return the update that a text writes, its values checked.

    Raises:
        RequestFault: any fault that needs no item to be seen.
    """
    parsed = resolve.read(UPDATE, text)
    return _program(parsed, placeholders.use(parsed)).update(placeholders.values)


class UpdateProgram(NamedTuple):
    """An update without its values: what to check of them, and what it does."""

    checks: tuple[Check, ...]
    program: Program

    def update(self, values: resolve.Values) -> Update:
        """Return the update with its values, checked.

        Raises:
            RequestFault: an operand, or its type, is wrong.
        """
        for check in self.checks:
            check(values)
        return Update(self.program, values)


def update_of(root: ast.UpdateExpression, names: Names) -> UpdateProgram:
    """Return the program of a tree that no text was written for, as PartiQL makes them.

    Raises:
        RequestFault: whatever a text of this tree would show to be wrong, save its length.
    """
    check_text(NO_MEMBER, root)
    return _checked(NO_MEMBER, root, names)


@lru_cache(maxsize=resolve.CACHE_ENTRIES)
def _program(parsed: resolve.ParsedExpression, targets: resolve.Targets) -> UpdateProgram:
    assert isinstance(parsed.root, ast.UpdateExpression)
    return _checked(UPDATE, parsed.root, parsed.names(targets))


def _checked(kind: str, root: ast.UpdateExpression, names: Names) -> UpdateProgram:
    checks, can_pass = update_checks(kind, root, names)
    return UpdateProgram(checks, _compiled(root, names) if can_pass else _REFUSED)


_REFUSED: Final = Program((), (), (), (), {}, creates=False, computed=(), cost=NO_COST)


def _compiled(root: ast.UpdateExpression, names: Names) -> Program:
    actions = list(chain.from_iterable(root.sections))
    paths = tuple(document_path(UPDATE, action.path, names) for action in actions)
    assigned = tuple(
        (str(path[0]), action.value.name)
        for action, path in zip(actions, paths, strict=True)
        if action.keyword == "SET" and len(path) == 1 and isinstance(action.value, ast.LiteralValue)
    )
    compiled = program(
        paths,
        tuple(
            _ACTIONS[action.keyword](action, path, names)
            for action, path in zip(actions, paths, strict=True)
        ),
        creates=any(action.keyword in ("SET", "ADD") for action in actions),
        mentioned=tuple(
            document_path(UPDATE, node, names)
            for node in ast.walk(root)
            if isinstance(node, ast.Path)
        ),
        computed=tuple(number for number, action in enumerate(actions) if _computes(action)),
        cost=_cost(actions, paths, names),
    )
    return compiled._replace(assigned=assigned, gathers=any(map(_gathers, actions)))


def _gathers(action: ast.UpdateAction) -> bool:
    """Return whether an action may make a list or a set longer than each of its operands."""
    value = action.value
    is_append = isinstance(value, ast.Function) and value.name == "list_append"
    return action.keyword == "ADD" or is_append


def _gathered(
    actions: tuple[Evaluate, ...], attributes: model.Attributes, values: resolve.Values
) -> list[model.Value | model.Missing]:
    """Return the results of actions, of which some make lists and sets longer.

    A member takes a byte at least. What has more members than an item has bytes is refused before
    all of it is made: a hundred actions could each join the largest lists there are.
    """
    results: list[model.Value | model.Missing] = []
    members = 0
    for action in actions:
        result = action(attributes, values)
        if isinstance(result, tuple | _Set):
            members += len(result)
            if members > limits.ITEM_BYTES:
                raise ValidationException(model.UPDATE_TOO_LARGE)
        results.append(result)
    return results


def _computes(action: ast.UpdateAction) -> bool:
    """Return whether an action calculates; its result is checked at the end (UPD-21)."""
    if action.keyword == "ADD":
        return True
    return action.value is not None and any(
        isinstance(node, ast.Arithmetic) for node in ast.walk(action.value)
    )


def program(
    paths: tuple[model.Path, ...],
    actions: tuple[Evaluate, ...],
    *,
    creates: bool,
    mentioned: tuple[model.Path, ...] = (),
    computed: tuple[int, ...] = (),
    cost: UpdateCost = NO_COST,
) -> Program:
    """Return the program of actions, each with its target."""
    if all(len(path) == 1 for path in paths):
        targets = tuple(str(path[0]) for path in paths)
        return Program(paths, mentioned, actions, targets, {}, creates, computed, cost)
    edits: Edits = {}
    for number, path in enumerate(paths):
        below = edits
        for part in path[:-1]:
            inner = below.setdefault(part, {})
            assert isinstance(inner, dict)  # paths do not overlap
            below = inner
        below[path[-1]] = number
    return Program(paths, mentioned, actions, None, edits, creates, computed, cost)


# Actions: a function of the item that answers the new value, or MISSING to remove it


def _set_action(action: ast.UpdateAction, _path: model.Path, names: Names) -> Evaluate:
    assert action.value is not None
    evaluate = _compiled_value(action.value, names)
    if isinstance(action.value, ast.LiteralValue):
        return evaluate
    return lambda attributes, values: _present(evaluate(attributes, values))


def _remove_action(_action: ast.UpdateAction, _path: model.Path, _names: Names) -> Evaluate:
    return lambda _attributes, _values: model.MISSING


def _add_action(action: ast.UpdateAction, path: model.Path, _names: Names) -> Evaluate:
    name = _literal(action)

    def evaluate(attributes: model.Attributes, values: resolve.Values) -> model.Value:
        return added(model.resolve(attributes, path), values[name], WRONG_TYPE)

    return evaluate


def _delete_action(action: ast.UpdateAction, path: model.Path, _names: Names) -> Evaluate:
    name = _literal(action)

    def evaluate(
        attributes: model.Attributes, values: resolve.Values
    ) -> model.Value | model.Missing:
        return without(model.resolve(attributes, path), values[name], WRONG_TYPE)

    return evaluate


def _literal(action: ast.UpdateAction) -> str:
    assert isinstance(action.value, ast.LiteralValue)
    return action.value.name


_ACTIONS: Final[dict[str, Callable[[ast.UpdateAction, model.Path, Names], Evaluate]]] = {
    "SET": _set_action,
    "REMOVE": _remove_action,
    "ADD": _add_action,
    "DELETE": _delete_action,
}


def added(stored: model.Value | model.Missing, value: model.Value, message: str) -> model.Value:
    """Return the sum or union of a stored value with another (UPD-15).

    Raises:
        ValidationException: with ``message``, if the types do not fit.
    """
    if isinstance(stored, model.Missing):
        return value
    if isinstance(stored, Decimal) and isinstance(value, Decimal):
        return model.numbers.add(stored, value)
    if _is_set(stored) and type(stored) is type(value):
        return type(stored)(stored.union(value))  # type: ignore[arg-type]  # sets of one type
    raise ValidationException(message)


def without(
    stored: model.Value | model.Missing, value: model.Value, message: str
) -> model.Value | model.Missing:
    """Return a stored set without the members of another; MISSING if none is left (UPD-16).

    Raises:
        ValidationException: with ``message``, if the types do not fit.
    """
    if isinstance(stored, model.Missing):
        return model.MISSING
    if _is_set(stored) and type(stored) is type(value):
        return type(stored)(stored.difference(value)) or model.MISSING  # type: ignore[arg-type]  # sets of one type
    raise ValidationException(message)


def _is_set(value: model.Value) -> TypeGuard[_Set]:
    return isinstance(value, _Set)


# Values of SET


def _compiled_value(root: ast.Node, names: Names) -> Evaluate:
    """Return the function that the right side of SET writes, made from the inside out."""

    def compiled(node: ast.Node, parts: list[Evaluate]) -> Evaluate:
        if isinstance(node, ast.Path):
            return path_operand(document_path(UPDATE, node, names))
        if isinstance(node, ast.LiteralValue):
            return literal_operand(node, parts)
        assert isinstance(node, ast.Function | ast.Arithmetic)
        return _OPERATIONS[_operation(node)](*parts)

    return ast.fold(root, compiled)


def _operation(node: ast.Function | ast.Arithmetic) -> str:
    return node.name if isinstance(node, ast.Function) else node.operator


def _present(value: model.Value | model.Missing) -> model.Value:
    """Refuse an operand that the item does not have (UPD-10)."""
    if isinstance(value, model.Missing):
        raise ValidationException(MISSING_OPERAND)
    return value


def _arithmetic(calculate: Callable[[Decimal, Decimal], Decimal]) -> Operation:
    def build(left: Evaluate, right: Evaluate) -> Evaluate:
        def evaluate(attributes: model.Attributes, values: resolve.Values) -> model.Value:
            left_value = _present(left(attributes, values))
            right_value = _present(right(attributes, values))
            if isinstance(left_value, Decimal) and isinstance(right_value, Decimal):
                return calculate(left_value, right_value)
            raise ValidationException(WRONG_TYPE)

        return evaluate

    return build


def _if_not_exists(stored: Evaluate, fallback: Evaluate) -> Evaluate:
    """UPD-13: the fallback is not looked at while the path leads to a value."""

    def evaluate(
        attributes: model.Attributes, values: resolve.Values
    ) -> model.Value | model.Missing:
        value = stored(attributes, values)
        return fallback(attributes, values) if isinstance(value, model.Missing) else value

    return evaluate


def _list_append(first: Evaluate, second: Evaluate) -> Evaluate:
    def evaluate(attributes: model.Attributes, values: resolve.Values) -> model.Value:
        head = _present(first(attributes, values))
        tail = _present(second(attributes, values))
        if isinstance(head, tuple) and isinstance(tail, tuple):
            return head + tail
        raise ValidationException(WRONG_TYPE)

    return evaluate


Operation: TypeAlias = Callable[[Evaluate, Evaluate], Evaluate]
_OPERATIONS: Final[dict[str, Operation]] = {
    "+": _arithmetic(model.numbers.add),
    "-": _arithmetic(model.numbers.subtract),
    "if_not_exists": _if_not_exists,
    "list_append": _list_append,
}


# Putting results in place


def _replaced(
    attributes: model.Attributes, names: tuple[str, ...], results: list[model.Value | model.Missing]
) -> dict[str, model.Value]:
    changed = dict(attributes)
    for name, result in zip(names, results, strict=True):
        if result is model.MISSING:
            changed.pop(name, None)
        else:
            changed[name] = result  # type: ignore[assignment]  # not MISSING
    return changed


def _edited_map(
    container: model.Attributes, edits: Edits, results: list[model.Value | model.Missing]
) -> dict[str, model.Value]:
    changed = dict(container)
    for part, edit in edits.items():
        name = str(part)
        result = _result(container.get(name, model.MISSING), edit, results)
        if isinstance(result, model.Missing):
            changed.pop(name, None)
        else:
            changed[name] = result
    return changed


def _edited_list(
    container: tuple[model.Value, ...], edits: Edits, results: list[model.Value | model.Missing]
) -> tuple[model.Value, ...]:
    """UPD-7, UPD-9: indexes are those of the stored list; past its end they append in order."""
    changed: list[model.Value | model.Missing] = list(container)
    for index in sorted(part for part in edits if isinstance(part, int)):
        if index < len(container):
            changed[index] = _result(container[index], edits[index], results)
        else:
            changed.append(_result(model.MISSING, edits[index], results))
    return tuple([member for member in changed if not isinstance(member, model.Missing)])


def _result(
    stored: model.Value | model.Missing,
    edit: Edits | int,
    results: list[model.Value | model.Missing],
) -> model.Value | model.Missing:
    if isinstance(edit, int):
        return results[edit]
    is_list = isinstance(next(iter(edit)), int)
    if is_list and isinstance(stored, tuple):
        return _edited_list(stored, edit, results)
    if not is_list and isinstance(stored, dict):
        return _edited_map(stored, edit, results)
    raise ValidationException(INVALID_PATH)


# Cost


def _cost(
    actions: list[ast.UpdateAction], paths: tuple[model.Path, ...], names: Names
) -> UpdateCost:
    """Return the cost of a statement (SIZ-5).

    Assumed: a list position takes as many bytes as it has digits; a path copied by SET costs
    as much as an operand; SET and ADD write whole top-level attributes. Without these costs:
    ``Settings.update_size_rule``.
    """
    fixed = _STATEMENT_BYTES
    literals: list[str] = []
    written: list[str] = []
    for action, path in zip(actions, paths, strict=True):
        if action.keyword in ("REMOVE", "DELETE"):
            fixed += _REMOVAL_BYTES + _target_bytes(path)
            continue
        written.append(str(path[0]))
        if action.keyword == "ADD":
            fixed += _ACTION_BYTES + _target_bytes(path)
            literals.append(_literal(action))
        elif isinstance(action.value, ast.LiteralValue):
            fixed += _ACTION_BYTES
        else:
            assert action.value is not None
            fixed += _ACTION_BYTES if isinstance(action.value, ast.Path) else 0
            fixed += sum(_operand_bytes(node, names) for node in ast.walk(action.value))
            literals += [
                node.name for node in ast.walk(action.value) if isinstance(node, ast.LiteralValue)
            ]
    return UpdateCost(fixed, tuple(literals), tuple(dict.fromkeys(written)))


def _target_bytes(path: model.Path) -> int:
    return sum(map(_part_bytes, path)) + _TARGET_PART_BYTES * (len(path) - 1)


def _operand_bytes(node: ast.Node, names: Names) -> int:
    if isinstance(node, ast.Path):
        path = document_path(UPDATE, node, names)
        return _OPERAND_PATH_BYTES + sum(_OPERAND_PART_BYTES + _part_bytes(part) for part in path)
    if isinstance(node, ast.Function | ast.Arithmetic):
        return _OPERATION_BYTES[_operation(node)]
    return 0


def _part_bytes(part: str | int) -> int:
    return model.text_size(str(part))
