"""Growth: every member of every operation made long, in every way its shape allows.

A request may cost what its bytes cost and no more. So each case is a request that can be made of
any length; ``tests/counted/test_growth.py`` counts the work of a short and a longer one, and the
fuzzer times long ones.
"""

import itertools
import json
import random
from dataclasses import dataclass
from typing import Any

from benchmarks.fuzz.operations import Operations
from benchmarks.fuzz.requests import RECIPES, RequestMaker
from emulator.operations import find, shapes
from emulator.service.catalogue import OPERATIONS

#: Ways to make a text long; some are expressions, statements, lists or paths.
_TEXTS = (
    "a{}",
    "a, ",
    "(",
    "a.a",
    "[0]",
    "NOT ",
    "a = :a AND ",
    "#a, ",
    "'",
    "SET a = :a, ",
    "pk, ",
    "-",
    "\u00e9",
)

#: What a value in a statement is made long of.
_LITERALS = ("9", "-", ".", "e", "9e", "''", "[", "[1],", "<<", "{'a':", " ", "(", "\u00e9")


@dataclass(frozen=True)
class Case:
    """A request that can be made of any length.

    Attributes:
        operation: Its operation.
        member: The path of the member that grows.
        form: In what way.
        grow: Returns the request for a count of parts.
    """

    operation: str
    member: str
    form: str
    grow: Any

    def __str__(self):
        return f"{self.operation} {self.member}: {self.form}"


def cases():
    """Yield a case for every operation, every member and every way to grow."""
    for operation in OPERATIONS:
        maker = RequestMaker(random.Random(operation))
        shape = find(operation).shape
        for path, form, grow in _structure(maker, shape):
            yield Case(operation, path, form, grow)
        if shape.members:
            yield Case(operation, "", "everything", _everything(maker, shape))


def _everything(maker, shape, levels=3):
    """Return a function to a structure in which all lists and maps have so many entries.

    What one member is compared with may be another: a definition with each key, a name with each
    index.
    """
    grown = {}
    for name, member in shape.members.items():
        if isinstance(member, shapes.Structure) and levels:
            grown[name] = _everything(maker, member, levels - 1)
        elif isinstance(member, shapes.List):
            element = maker.member(name, member.member)
            grown[name] = lambda count, element=element: [
                _numbered(element, number) for number in range(count)
            ]
        elif isinstance(member, shapes.AttributeMap | shapes.Map):
            entry = {"S": "x"}
            if isinstance(member, shapes.Map):
                entry = maker.member(name, member.member)
            grown[name] = lambda count, entry=entry: _named(count, entry)
        else:
            value = maker.member(name, member)
            grown[name] = lambda _count, value=value: value
    return lambda count: {name: grow(count) for name, grow in grown.items()}


def _grown(maker, name, member):
    """Yield path, form and function for each way in which a member grows."""
    if isinstance(member, shapes.Structure):
        yield from _structure(maker, member)
    elif isinstance(member, shapes.AttributeMap):
        yield from _attributes(maker)
    elif isinstance(member, shapes.AttributeValue):
        for form, grow in _VALUES.items():
            yield "", form, grow
    elif isinstance(member, shapes.List):
        yield from _list(maker, name, member)
    elif isinstance(member, shapes.Map):
        element = maker.member(name, member.member)
        yield "", "entries", lambda count: _named(count, element)
        yield "", "nulls", lambda count: _named(count, None)
        yield "", "empty entries", lambda count: _named(count, {})
        for path, form, grow in _grown(maker, name, member.member):
            yield f".*{path}", form, lambda count, grow=grow: {"tab": grow(count)}
    elif isinstance(member, shapes.String):
        yield from _text(name, member)


def _text(name, member):
    for text in _TEXTS:
        yield "", repr(text), lambda count, text=text: text * count
    if name == "Statement":
        for text in _LITERALS:
            yield (
                "",
                f"literal {text!r}",
                lambda count, text=text: _statement(text, count, member.most),
            )


def _attributes(maker):
    yield "", "attributes", lambda count: maker.key() | _named(count, {"S": "x"})
    for form, grow in _VALUES.items():
        yield ".a", form, lambda count, grow=grow: maker.key() | {"a": grow(count)}


def _list(maker, name, member):
    element = maker.member(name, member.member)
    yield "", "equal elements", lambda count: [element] * count
    yield "", "nulls", lambda count: [None] * count
    yield "", "empty elements", lambda count: [{}] * count
    yield "", "elements", lambda count: [_numbered(element, number) for number in range(count)]
    yield (
        "",
        "elements and a repeat",
        lambda count: [_numbered(element, number) for number in (*range(count), count - 1)],
    )
    for path, form, grow in _grown(maker, name, member.member):
        yield f"[]{path}", form, lambda count, grow=grow: [grow(count)]


def _structure(maker, shape):
    for name, member in shape.members.items():
        base = maker.structure(shape) | next((recipe for recipe in RECIPES if name in recipe), {})
        base = {key: value for key, value in base.items() if key in shape.members}
        for path, form, grow in _grown(maker, name, member):
            yield (
                f".{name}{path}",
                form,
                lambda count, base=base, name=name, grow=grow: base | {name: grow(count)},
            )


def _named(count, value):
    return {f"n{number}": value for number in range(count)}


def _numbered(element, number):
    """Return an element that differs from the others: its first text has the number."""
    if isinstance(element, str):
        return f"n{number}"
    if isinstance(element, dict):
        for name, value in element.items():
            changed = _numbered(value, number)
            if changed != value:
                return element | {name: changed}
    return element


def _statement(text, count, most):
    """Return a statement that writes a long value, and is as long as it may be at most."""
    before, after = "INSERT INTO tab VALUE {'pk': 'a', 'sk': 1, 'n': ", "}"
    return before + text * min(count, (most - len(before + after)) // len(text)) + after


def _nested(count):
    value = {"L": [{"N": "1"}] * count}
    for _ in range(25):
        value = {"M": {"a": value}}
    return value


_VALUES = {
    "S": lambda count: {"S": "x" * count},
    "N": lambda count: {"N": "1" * count},
    "N, zeros": lambda count: {"N": "0" * count + "1E-" + "0" * count + "1"},
    "B": lambda count: {"B": "YWFh" * count},
    "SS": lambda count: {"SS": [f"n{number}" for number in range(count)]},
    "SS and a repeat": lambda count: {
        "SS": [f"n{number}" for number in (*range(count), count - 1)]
    },
    "NS": lambda count: {"NS": [str(number) for number in range(count)]},
    "NS and a repeat": lambda count: {"NS": [str(number) for number in (*range(count), count - 1)]},
    "BS": lambda count: {"BS": [f"{number:08}" for number in range(count)]},
    "BS and a repeat": lambda count: {
        "BS": [f"{number:08}" for number in (*range(count), count - 1)]
    },
    "L": lambda count: {"L": [{"S": "x"}] * count},
    "L of sets": lambda count: {"L": [{"SS": ["a", "b"]}] * count},
    "M": lambda count: {"M": _named(count, {"N": "1"})},
    "types": lambda count: _named(count, "x"),
    "nested": _nested,
}


class Growth(Operations):
    """Every case, as long as its bytes allow, one after the other."""

    #: How long requests are; the square of that would take seconds.
    BYTES = 200_000

    def __init__(self, chooser, tally):
        super().__init__(chooser, tally)
        self._cases = itertools.cycle(list(cases()))

    def _next(self):
        case = next(self._cases)
        part_bytes = (len(json.dumps(case.grow(200))) - len(json.dumps(case.grow(100)))) / 100
        return case.operation, case.grow(round(self.BYTES / max(1, part_bytes)))
