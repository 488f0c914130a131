"""What Terraform expressions come to, as far as files tell.

A value that is decided elsewhere (a variable without default, an attribute of a resource, a
function of the machine) is ``Unknown``, and so is everything made of it. It is never a text.

Source: Terraform language documentation, expressions and functions.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import Any, Final, TypeAlias

from emulator.designs import documents, hcl
from emulator.service.errors import DocumentError

#: A text, number, truth value, None, list, dictionary, or Unknown.
Value: TypeAlias = Any
_DEEPEST: Final = 120
_LONGEST: Final = 10_000
#: Characters of a text, and of one that a pattern is looked for in.
_LONGEST_TEXT: Final = 100_000
_LONGEST_SEARCHED: Final = 1_000
#: Steps of one reading: about a second.
_MOST_STEPS: Final = 300_000
_TOO_LONG: Final = "an expression that takes too long"


@dataclass(frozen=True)
class UnknownValue:
    """A value that files do not tell, and what it depends on."""

    reason: str
    #: It is certain that there is none, as Terraform would say; ``try`` goes on.
    is_absent: bool = False

    def __str__(self) -> str:
        return self.reason


@dataclass
class EvaluationWork:
    """What the expressions of one reading have cost so far, which is bounded."""

    steps: int = 0
    depth: int = 0


class HclScope:
    """The names that expressions may use.

    Args:
        roots: Values by first word, such as ``{"var": {...}, "each": {...}}``.
        lookup: What else ``word.attribute`` stands for; None if it does not know either.
        functions: Functions besides those that need nothing but their arguments.
        work: What is shared by the scopes of one reading.

    >>> scope = HclScope({"var": {"env": "test"}})
    >>> scope.value(hcl.parse_template("app-${var.env}", "x"))
    'app-test'
    >>> scope.value(hcl.parse_template("${var.other}", "x"))
    UnknownValue(reason='var.other', is_absent=False)
    """

    def __init__(
        self,
        roots: Mapping[str, Value],
        lookup: Callable[[str, str], Value] | None = None,
        functions: Mapping[str, Callable[..., Value]] | None = None,
        work: EvaluationWork | None = None,
    ) -> None:
        self._roots = roots
        self._lookup = lookup
        self._functions = functions or {}
        self._work = work or EvaluationWork()

    def with_names(self, names: Mapping[str, Value]) -> HclScope:
        """Return a scope with further names, which hide those of the same spelling."""
        return HclScope({**self._roots, **names}, self._lookup, self._functions, self._work)

    def function(self, name: str) -> Callable[..., Value] | None:
        """Return a function, None if it is not known."""
        return self._functions.get(name) or _FUNCTIONS.get(name)

    def value(self, expression: hcl.Expression) -> Value:
        """Return the value of an expression."""
        work = self._work
        work.depth += 1
        work.steps += 1
        try:
            if work.depth > _DEEPEST:
                return UnknownValue("an expression that is nested too deeply")
            if work.steps > _MOST_STEPS:
                return UnknownValue(_TOO_LONG)
            value = _EVALUATORS[type(expression)](self, expression)
            if isinstance(value, list | dict):
                work.steps += len(value)
            elif isinstance(value, str) and len(value) > _LONGEST_TEXT:
                return UnknownValue("a text that is too long")
            return value
        finally:
            work.depth -= 1

    def name(self, expression: hcl.Name) -> Value:
        """Return the value of a name."""
        return self._roots.get(expression.name, UnknownValue(expression.name))

    def attribute(self, expression: hcl.Attribute) -> Value:
        """Return an attribute, or what the file's other parts say it is."""
        if isinstance(expression.value, hcl.Name) and self._lookup is not None:
            word = expression.value.name
            if word not in self._roots:
                looked_up = self._lookup(word, expression.name)
                if looked_up is not None:
                    return looked_up
        value = self.value(expression.value)
        if isinstance(value, Mapping) and expression.name not in value:
            # What a variable or a local is may be told elsewhere; what an object has is told here.
            return UnknownValue(shown(expression), not isinstance(expression.value, hcl.Name))
        return _member(value, expression.name)


def shown(expression: hcl.Expression) -> str:
    """Return a reference as it is written, as far as words and dots go.

    >>> shown(hcl.parse_template("${each.value[0].name}", "x"))
    'each.value[...].name'
    """
    if isinstance(expression, hcl.Name):
        return expression.name
    if isinstance(expression, hcl.Attribute):
        return f"{shown(expression.value)}.{expression.name}"
    if isinstance(expression, hcl.IndexAccess):
        return f"{shown(expression.value)}[...]"
    return "an expression"


def _member(value: Value, name: Value) -> Value:
    """Return a member of an object or list, or that it is not known."""
    if isinstance(value, UnknownValue):
        return UnknownValue(f"{value}.{name}", value.is_absent)
    if isinstance(name, UnknownValue):
        return name
    if isinstance(value, Mapping):
        key = _name(name)
        if isinstance(key, UnknownValue):
            return key
        return value[key] if key in value else UnknownValue(f"the member {key}", is_absent=True)
    if isinstance(value, Sequence) and not isinstance(value, str):
        number = _number(name)
        if isinstance(number, int) and -1 < number < len(value):
            return value[number]
    return UnknownValue(f"the member {name}", is_absent=True)


# Expressions


def _template(scope: HclScope, expression: hcl.Template) -> Value:
    pieces = [piece if isinstance(piece, str) else scope.value(piece) for piece in expression.parts]
    for piece in pieces:
        if isinstance(piece, UnknownValue):
            return piece
        if isinstance(piece, list | dict):
            return UnknownValue("a text made of a list")
    return "".join(as_text(piece) for piece in pieces)


def _splat(scope: HclScope, expression: hcl.Splat) -> Value:
    value = scope.value(expression.value)
    if isinstance(value, UnknownValue):
        return value
    elements = value if isinstance(value, list) else [] if value is None else [value]
    for step in expression.steps:
        name = step if isinstance(step, str) else scope.value(step)
        elements = [_member(element, name) for element in elements]
    return elements


def _call(scope: HclScope, expression: hcl.FunctionCall) -> Value:
    arguments = [scope.value(argument) for argument in expression.arguments]
    if expression.expands and arguments and isinstance(arguments[-1], list):
        arguments[-1:] = arguments[-1]
    if expression.name in ("try", "coalesce"):
        return _first_usable(expression.name, arguments)
    if expression.name == "can":
        return _is_there(arguments[0])
    function = scope.function(expression.name)
    if function is None:
        return UnknownValue(f"{expression.name}()")
    for argument in arguments:
        passes = expression.name in _PASSING and not isinstance(argument, UnknownValue)
        unknown = None if passes else unknown_in(argument)
        if unknown is not None:
            return unknown
    try:
        return function(*arguments)
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, DocumentError):
        return UnknownValue(f"{expression.name}()")


def unknown_in(value: Value) -> UnknownValue | None:
    """Return an unknown value, or one that a list or object holds at any depth.

    >>> unknown_in(["a", {"b": UnknownValue("var.b")}])
    UnknownValue(reason='var.b', is_absent=False)
    """
    if isinstance(value, UnknownValue):
        return value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((found for found in map(unknown_in, inner) if found is not None), None)


def _is_there(value: Value) -> Value:
    """Return the answer of ``can`` for a value: nothing, if that is decided elsewhere."""
    if not isinstance(value, UnknownValue):
        return True
    return False if value.is_absent else value


def _first_usable(name: str, arguments: list[Value]) -> Value:
    """Return the first argument without an error, or that is neither null nor empty."""
    for argument in arguments:
        if isinstance(argument, UnknownValue):
            if name == "coalesce" or not argument.is_absent:
                return argument
        elif name == "try" or argument not in (None, ""):
            return argument
    return arguments[-1] if arguments else UnknownValue(f"{name}()")


def _unary(scope: HclScope, expression: hcl.Unary) -> Value:
    value = scope.value(expression.value)
    if isinstance(value, UnknownValue):
        return value
    if expression.operator == "!":
        return not _truth(value)
    number = _number(value)
    return number if isinstance(number, UnknownValue) else -number


def _binary(scope: HclScope, expression: hcl.BinaryOperation) -> Value:
    left, right = scope.value(expression.left), scope.value(expression.right)
    if expression.operator in ("&&", "||"):
        # A known side may decide alone; Terraform itself wants both.
        decides = expression.operator == "||"
        for side in (left, right):
            if not isinstance(side, UnknownValue) and _truth(side) is decides:
                return decides
    for side in (left, right):
        unknown = unknown_in(side)
        if unknown is not None:
            return unknown
    if expression.operator in ("==", "!="):
        return (left == right) is (expression.operator == "==")
    if expression.operator in ("&&", "||"):
        return expression.operator == "&&"
    return _arithmetic(expression.operator, _number(left), _number(right))


def _arithmetic(sign: str, left: Value, right: Value) -> Value:
    for side in (left, right):
        if isinstance(side, UnknownValue):
            return side
    if sign in ("/", "%") and right == 0:
        return UnknownValue("a division by zero")
    result = _ARITHMETIC[sign](left, right)
    return int(result) if isinstance(result, float) and result.is_integer() else result


_ARITHMETIC: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": math.fmod,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _conditional(scope: HclScope, expression: hcl.Conditional) -> Value:
    condition = scope.value(expression.condition)
    if isinstance(condition, UnknownValue):
        yes, no = scope.value(expression.yes), scope.value(expression.no)
        return yes if yes == no else condition
    return scope.value(expression.yes if _truth(condition) else expression.no)


def _object(scope: HclScope, expression: hcl.Object) -> Value:
    made = {}
    for key_expression, value_expression in expression.members:
        key = _name(scope.value(key_expression))
        if isinstance(key, UnknownValue):
            return key
        made[key] = scope.value(value_expression)
    return made


def _for(scope: HclScope, expression: hcl.For) -> Value:
    collection = scope.value(expression.collection)
    if isinstance(collection, UnknownValue):
        return collection
    made_list: list[Value] = []
    made_object: dict[str, Value] = {}
    for key, value in pairs(collection):
        names = dict(zip(reversed(expression.names), (value, key), strict=False))
        inner = scope.with_names(names)
        if expression.condition is not None:
            kept = inner.value(expression.condition)
            if isinstance(kept, UnknownValue):
                return kept
            if not _truth(kept):
                continue
        result = inner.value(expression.result)
        if expression.key is None:
            made_list.append(result)
            continue
        name = _name(inner.value(expression.key))
        if isinstance(name, UnknownValue):
            return name
        if expression.groups:
            made_object.setdefault(name, []).append(result)
        else:
            made_object[name] = result
    return made_list if expression.key is None else made_object


def pairs(collection: Value) -> Iterator[tuple[Value, Value]]:
    """Yield keys and values of an object, or numbers and elements of a list.

    >>> list(pairs(["a"])), list(pairs({"k": 1}))
    ([(0, 'a')], [('k', 1)])
    """
    if isinstance(collection, Mapping):
        yield from sorted(collection.items())
    elif isinstance(collection, list):
        yield from enumerate(collection)


_EVALUATORS: Final[dict[type, Callable[[HclScope, Any], Value]]] = {
    hcl.HclLiteral: lambda _, expression: expression.value,
    hcl.Template: _template,
    hcl.Name: HclScope.name,
    hcl.Attribute: HclScope.attribute,
    hcl.IndexAccess: lambda scope, expression: _member(
        scope.value(expression.value), scope.value(expression.key)
    ),
    hcl.Splat: _splat,
    hcl.FunctionCall: _call,
    hcl.Unary: _unary,
    hcl.BinaryOperation: _binary,
    hcl.Conditional: _conditional,
    hcl.Tuple: lambda scope, expression: [scope.value(element) for element in expression.elements],
    hcl.Object: _object,
    hcl.For: _for,
}


# Conversions


def as_text(value: Value) -> str:
    """Return a value as it stands in a text.

    >>> as_text(True), as_text(1e3), as_text(None)
    ('true', '1000', '')

    Raises:
        TypeError: It is a list or an object, which no text is made of.
    """
    if isinstance(value, list | Mapping | UnknownValue):
        raise TypeError
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _name(value: Value) -> str | UnknownValue:
    """Return the name of a member."""
    if isinstance(value, UnknownValue):
        return value
    return UnknownValue("a list for a name") if isinstance(value, list | dict) else as_text(value)


def _number(value: Value) -> Value:
    if isinstance(value, bool) or value is None:
        return UnknownValue(f"a number from {value!r}")
    if isinstance(value, int | float | UnknownValue):
        return value
    try:
        number = float(value)
    except (TypeError, ValueError):
        return UnknownValue(f"a number from {value!r}")
    return int(number) if number.is_integer() else number


def _truth(value: Value) -> bool:
    return value is True or value == "true"


def converted(value: Value, constraint: hcl.Expression | None) -> Value:
    """Return a value as the type of its variable makes it: optional members are filled in.

    >>> file = hcl.parse("type = object({a = string, b = optional(number, 5)})", "x")
    >>> converted({"a": "x"}, file.settings["type"].expression)
    {'a': 'x', 'b': 5}
    """
    if not isinstance(constraint, hcl.FunctionCall) or not constraint.arguments:
        return value
    inner = constraint.arguments[0]
    if constraint.name == "optional":
        return converted(value, inner)
    if constraint.name in ("list", "set", "map"):
        if isinstance(value, list):
            return [converted(element, inner) for element in value]
        if isinstance(value, Mapping):
            return {name: converted(element, inner) for name, element in value.items()}
    if constraint.name == "object" and isinstance(inner, hcl.Object) and isinstance(value, Mapping):
        return {**value, **dict(_typed_members(value, inner))}
    return value


def _typed_members(value: Mapping[str, Value], types: hcl.Object) -> Iterator[tuple[str, Value]]:
    nothing = HclScope({}, work=EvaluationWork(_MOST_STEPS - _LONGEST))  # they are literals
    for key_expression, constraint in types.members:
        name = _name(nothing.value(key_expression))
        if isinstance(name, UnknownValue):
            continue
        if value.get(name) is not None:
            yield name, converted(value[name], constraint)
        elif isinstance(constraint, hcl.FunctionCall) and constraint.name == "optional":
            defaults = constraint.arguments[1:]
            default = nothing.value(defaults[0]) if defaults else None
            yield name, converted(default, constraint.arguments[0])


# Functions


def _merged(*maps: Value) -> Value:
    return {
        name: value for mapping in maps if mapping is not None for name, value in mapping.items()
    }


def _lookup(mapping: Value, key: Value, *default: Value) -> Value:
    return mapping.get(
        key, default[0] if default else UnknownValue(f"the member {key}", is_absent=True)
    )


def _flattened(elements: Value) -> Value:
    """Return the elements of lists in a list; how many an unknown one has is not known."""
    flat: list[Value] = []
    for element in elements:
        inner = _flattened(element) if isinstance(element, list) else element
        if isinstance(inner, UnknownValue):
            return inner
        flat += inner if isinstance(element, list) else [inner]
    return flat


def _all_rows(*lists: Value) -> list[Value]:
    if math.prod(map(len, lists)) > _LONGEST:
        raise ValueError(len(lists))
    return [list(row) for row in product(*lists)]


def _zipped(names: Value, values: Value) -> Value:
    return unknown_in(names) or dict(zip(names, values, strict=False))


def _distinct(elements: Value) -> list[Value]:
    """Return each element once; elements may be lists and maps, so they are told by their text."""
    first: dict[str, Value] = {}
    for element in elements:
        first.setdefault(repr(element), element)
    return list(first.values())


def _set(elements: Value) -> list[Value]:
    """Return a set's elements, which Terraform keeps in order."""
    distinct = _distinct(list(elements))
    return sorted(distinct) if all(isinstance(element, str) for element in distinct) else distinct


def _formatted(form: str, *values: Value) -> str:
    if re.search(r"\d{4}", form):  # a width
        raise ValueError(form)
    return form.replace("%v", "%s") % tuple(
        value if type(value) in (int, float) else as_text(value) for value in values
    )


def _only(elements: Value) -> Value:
    return elements[0] if elements else None


def _replaced(text: str, old: str, new: str) -> str:
    """Return a text with a part replaced; one between slashes is a pattern."""
    if len(old) > 1 and old[0] == old[-1] == "/":
        _check_pattern(old[1:-1], text)
        return re.sub(old[1:-1], re.sub(r"\$(\d+)", r"\\\1", new), text)
    return text.replace(old, new)


_NESTED_REPEAT: Final = re.compile(r"[+*}]\)*\)[+*{]|\\\d")


def _check_pattern(pattern: str, text: str) -> None:
    """Refuse a pattern that might try for ever; Terraform's own kind never does.

    Raises:
        ValueError: It repeats what repeats, refers back, or the text is long.
    """
    if len(text) > _LONGEST_SEARCHED or _NESTED_REPEAT.search(pattern):
        raise ValueError(pattern)


def _indented(text: str, spaces: int) -> str:
    if spaces > _LONGEST_SEARCHED:
        raise ValueError(spaces)
    return text.replace("\n", "\n" + " " * spaces)


def _matches(pattern: str, text: str) -> list[Value]:
    """Return the matches of a pattern: texts, or lists or objects of its groups."""
    _check_pattern(pattern, text)
    found = re.finditer(re.sub(r"\(\?<(?=\w)", "(?P<", pattern), text)
    return [match.groupdict() or list(match.groups()) or match[0] for match in found]


def _transposed(mapping: Value) -> Value:
    turned: dict[str, list[str]] = {}
    for name in sorted(mapping):
        for element in mapping[name]:
            turned.setdefault(element, []).append(name)
    return turned


def _hashed(algorithm: str) -> Callable[[str], str]:
    return lambda text: hashlib.new(algorithm, text.encode(), usedforsecurity=False).hexdigest()


#: Functions that pass elements along without looking at them; others need to know them all.
_PASSING: Final = frozenset(
    {
        *("chunklist", "concat", "element", "flatten", "keys", "length", "lookup", "merge", "one"),
        *("nonsensitive", "reverse", "sensitive", "setproduct", "slice", "tolist", "tomap"),
        *("values", "zipmap"),
    }
)


_FUNCTIONS: Final[dict[str, Callable[..., Value]]] = {
    "abs": abs,
    "alltrue": lambda elements: all(map(_truth, elements)),
    "anytrue": lambda elements: any(map(_truth, elements)),
    "base64decode": lambda text: base64.b64decode(text, validate=True).decode(),
    "base64encode": lambda text: base64.b64encode(text.encode()).decode(),
    "basename": lambda path: path.rpartition("/")[2],
    "ceil": math.ceil,
    "chomp": lambda text: text.rstrip("\r\n"),
    "chunklist": lambda elements, size: [
        elements[start : start + int(size)] for start in range(0, len(elements), int(size))
    ],
    "coalescelist": lambda *lists: next(each for each in lists if each),
    "compact": lambda elements: [element for element in elements if element not in (None, "")],
    "concat": lambda *lists: list(chain(*lists)),
    "csvdecode": lambda text: list(csv.DictReader(text.splitlines())),
    "contains": lambda elements, element: element in elements,
    "dirname": lambda path: path.rpartition("/")[0] or ".",
    "distinct": _distinct,
    "element": lambda elements, number: elements[int(number) % len(elements)],
    "endswith": lambda text, end: text.endswith(end),
    "flatten": _flattened,
    "floor": math.floor,
    "format": _formatted,
    "index": lambda elements, element: elements.index(element),
    "join": lambda separator, *lists: separator.join(map(as_text, chain(*lists))),
    "formatlist": lambda form, *lists: [
        _formatted(form, *values) for values in zip(*lists, strict=True)
    ],
    "indent": lambda spaces, text: _indented(text, int(spaces)),
    "jsondecode": lambda text: documents.load_json(text, ""),
    "jsonencode": lambda value: json.dumps(value, separators=(",", ":"), sort_keys=True),
    "keys": sorted,
    "length": len,
    "lookup": _lookup,
    "lower": lambda text: text.lower(),
    "matchkeys": lambda values, keys, wanted: [
        value for value, key in zip(values, keys, strict=True) if key in wanted
    ],
    "max": max,
    "md5": _hashed("md5"),
    "merge": _merged,
    "min": min,
    "nonsensitive": lambda value: value,
    "one": _only,
    "parseint": lambda text, base: int(as_text(text), int(base)),
    "range": lambda *limits: list(range(*map(int, limits))[:_LONGEST]),
    "regex": lambda pattern, text: _matches(pattern, text)[0],
    "regexall": _matches,
    "replace": _replaced,
    "reverse": lambda elements: elements[::-1],
    "sensitive": lambda value: value,
    "setintersection": lambda *sets: [
        each for each in _set(sets[0]) if all(each in other for other in sets[1:])
    ],
    "setproduct": _all_rows,
    "setsubtract": lambda left, right: [each for each in left if each not in right],
    "setunion": lambda *lists: _set(chain(*lists)),
    "sha1": _hashed("sha1"),
    "sha256": _hashed("sha256"),
    "sha512": _hashed("sha512"),
    "slice": lambda elements, first, last: elements[int(first) : int(last)],
    "sort": sorted,
    "split": lambda separator, text: text.split(separator),
    "startswith": lambda text, start: text.startswith(start),
    "strcontains": lambda text, part: part in text,
    "strrev": lambda text: text[::-1],
    "substr": lambda text, first, length: text[int(first) :][
        : None if int(length) < 0 else int(length)
    ],
    "sum": sum,
    "title": lambda text: text.title(),
    "tobool": _truth,
    "tolist": list,
    "tomap": dict,
    "tonumber": _number,
    "toset": _set,
    "tostring": as_text,
    "transpose": _transposed,
    "trim": lambda text, characters: text.strip(characters),
    "trimprefix": lambda text, prefix: text.removeprefix(prefix),
    "trimspace": lambda text: text.strip(),
    "trimsuffix": lambda text, suffix: text.removesuffix(suffix),
    "upper": lambda text: text.upper(),
    "yamldecode": lambda text: documents.parse_yaml(text, "").value,
    "values": lambda mapping: [mapping[name] for name in sorted(mapping)],
    "zipmap": _zipped,
}
