"""Cases by the hundred as one test, which names those that fail.

pytest takes three milliseconds for each case of a test: to collect it, to set it up, and to tell of
it. Where the case itself takes less than one, it belongs here; where it needs a fixture, or takes
longer, ``pytest.mark.parametrize`` is as good.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest


def each(
    names: str | Sequence[str],
    cases: Iterable[Any],
    *,
    ids: Callable[[Any], object] | Iterable[str] | None = None,
) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Have a test played for every case, like ``pytest.mark.parametrize``, but as one test.

    A case may be skipped; the test is if all of them are.

    >>> @each("number", [1, 2, 3])
    ... def test_it(number):
    ...     if number == 1:
    ...         pytest.skip("it is the first")
    ...     assert number != 2
    >>> test_it()
    Traceback (most recent call last):
    ExceptionGroup: of 3 cases, 1 fail: 2 (1 sub-exception)
    """
    members = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    given = [case if _is_named(case) else pytest.param(*_values(case, members)) for case in cases]
    assert given, "there are cases"
    told = [*ids] if ids is not None and not callable(ids) else [None] * len(given)
    shown = ids if callable(ids) else _shown
    every: dict[str, Sequence[Any]] = {}
    for number, (case, name) in enumerate(zip(given, told, strict=True)):
        parts = (shown(value) for value in case.values)
        text = str(case.id or name or "-".join(str(part or f"case {number}") for part in parts))
        every[text if text not in every else f"{text} ({number})"] = case.values

    def decorate(test: Callable[..., None]) -> Callable[[], None]:
        def test_of_all() -> None:
            failures: dict[str, BaseException] = {}
            skipped = []
            for name, values in every.items():
                try:
                    test(**dict(zip(members, values, strict=True)))
                except pytest.skip.Exception as reason:
                    skipped.append(str(reason))
                except (Exception, pytest.fail.Exception) as failure:
                    failure.add_note(f"the case is {name!r}")
                    failures[name] = failure
            if failures:
                message = f"of {len(every)} cases, {len(failures)} fail: {', '.join(failures)}"
                raise BaseExceptionGroup(message, [*failures.values()])
            if len(skipped) == len(every):
                pytest.skip(skipped[0])

        test_of_all.__name__, test_of_all.__doc__ = test.__name__, test.__doc__
        test_of_all.__module__, test_of_all.__qualname__ = test.__module__, test.__qualname__
        return test_of_all

    return decorate


def _is_named(case: Any) -> bool:
    return isinstance(case, type(pytest.param()))


def _values(case: Any, members: list[str]) -> Sequence[Any]:
    return [case] if len(members) == 1 else case


def _shown(value: Any) -> str | None:
    """Return a value that can stand in a name, as pytest would show it."""
    return str(value) if isinstance(value, str | bytes | int | float | None) else None
