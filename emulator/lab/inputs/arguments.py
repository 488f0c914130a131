"""Arguments: what to write instead of one that a class does not take."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from difflib import get_close_matches
from functools import wraps
from typing import Any, TypeVar

Described = TypeVar("Described")


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
    """

    def decorate(described: type[Described]) -> type[Described]:
        make = described.__init__
        taken = [name for one in (described, *more) for name in _names(one)]

        @wraps(make)
        def explaining(self: Described, *arguments: Any, **named: Any) -> None:
            for name in named:
                if name not in taken:
                    raise TypeError(_advice(described.__name__, name, taken, inner))
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
