"""Arguments: what to write instead of a name or a value that a class does not take."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import cache, wraps
from numbers import Real
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

Described = TypeVar("Described")

#: What a sentence calls the values of plain types.
_WORDS: Final[Mapping[object, str]] = {
    int: "a number",
    float: "a number",
    str: "a text",
    bool: "True or False",
    NoneType: "None",
}
#: A longer value is not repeated in a sentence.
_LONG: Final = 60


def explain_arguments(
    *more: type[Any], **inner: type[Any]
) -> Callable[[type[Described]], type[Described]]:
    """Return a decorator for classes that say what to write instead of a wrong argument.

    Args:
        more: Classes whose arguments the class takes besides its own.
        inner: By argument, the class of its value: an argument of that class is often given to
            the outer one, as a file may.

    >>> @explain_arguments()
    ... class Inner:
    ...     def __init__(self, *, size: int = 1) -> None: ...
    >>> @explain_arguments(part=Inner)
    ... class Outer:
    ...     def __init__(self, name: str, *, part: Inner | None = None) -> None: ...
    >>> Outer("a", size=2)
    Traceback (most recent call last):
    TypeError: Outer takes no 'size'; write part=Inner(size=...)
    >>> Outer("a", prat=Inner())
    Traceback (most recent call last):
    TypeError: Outer takes no 'prat'; did you mean 'part'? It takes: name, part
    >>> Inner(size="1 KB")
    Traceback (most recent call last):
    TypeError: Inner takes a number as size, not '1 KB'
    """

    def decorate(described: type[Described]) -> type[Described]:
        make = described.__init__
        taken = [name for one in (described, *more) for name in _names(one)]
        bind = inspect.signature(make).bind_partial

        @wraps(make)
        def explaining(self: Described, *arguments: Any, **named: Any) -> None:
            for name in named:
                if name not in taken:
                    raise TypeError(_advice(described.__name__, name, taken, inner))
            for name, value in bind(self, *arguments, **named).arguments.items():
                expected = _types(make).get(name, Any)
                if not _fits(value, expected):
                    words = f"{described.__name__} takes {_named(expected)} as {name}"
                    wrong = ValueError if _is_choice(value, expected) else TypeError
                    raise wrong(f"{words}, not {_shown(value)}")
            make(self, *arguments, **named)

        setattr(described, "__init__", explaining)  # noqa: B010 - mypy forbids the plain form
        return described

    return decorate


def _names(described: type[Any]) -> list[str]:
    """Return the names of the arguments that a class spells out."""
    return [
        name
        for name, parameter in inspect.signature(described).parameters.items()
        if parameter.kind is not parameter.VAR_KEYWORD
    ]


def _advice(outer: str, wrong: str, taken: list[str], inner: dict[str, type[Any]]) -> str:
    wrote = f"{outer} takes no {wrong!r}"
    for argument, own in inner.items():
        if wrong in _names(own):
            return f"{wrote}; write {argument}={own.__name__}({wrong}=...)"
    close = get_close_matches(wrong, taken, 1)
    guess = f"; did you mean {close[0]!r}? It" if close else "; it"
    return f"{wrote}{guess} takes: {', '.join(dict.fromkeys(taken))}"


@cache
def _types(make: Callable[..., Any]) -> dict[str, Any]:
    """Return the types that a constructor declares, by argument."""
    return get_type_hints(make)


def _fits(value: object, expected: Any) -> bool:
    """Return whether a value can be meant by a type, and so can those in a list of objects.

    >>> _fits(3, float | None), _fits("a", tuple[str, ...]), _fits(["a"], tuple[str, ...])
    (True, False, True)
    """
    origin, inner = get_origin(expected), get_args(expected)
    if expected is Any:
        return True
    if origin in (Union, UnionType):
        return any(_fits(value, own) for own in inner)
    if origin is Literal:
        return value in inner
    if expected in (int, float):
        return isinstance(value, Real)
    if origin is None:
        return isinstance(value, expected)
    if issubclass(origin, Mapping):
        return isinstance(value, Mapping)
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        return False
    is_plain = inner[0] in _WORDS or not isinstance(value, list | tuple)
    return is_plain or all(_fits(own, inner[0]) for own in value)


def _is_choice(value: object, expected: Any) -> bool:
    """Return whether a value is like one of those that a type lists."""
    if get_origin(expected) is Literal:
        return any(isinstance(value, type(own)) for own in get_args(expected))
    return any(_is_choice(value, own) for own in get_args(expected))


def _shown(value: object) -> str:
    """Return a value as it was written; of a long one what it is."""
    text = repr(value)
    return text if len(text) <= _LONG else f"one {type(value).__name__}"


def _named(expected: Any) -> str:
    """Return the name of a type in a sentence.

    >>> _named(tuple[str, ...] | None), _named(Literal["a", "b"]), _named(float | int)
    ('a list of texts or None', "'a' or 'b'", 'a number')
    """
    origin, inner = get_origin(expected), get_args(expected)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(_named(own) for own in inner))
    if origin is Literal:
        return " or ".join(map(repr, inner))
    if origin is None:
        return _WORDS.get(expected, expected.__name__)
    if issubclass(origin, Mapping):
        return "a mapping"
    element = _named(inner[0])
    return f"a list of {element.removeprefix('a ')}{'s' if element.startswith('a ') else ''}"
