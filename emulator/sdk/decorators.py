"""A context manager as a decorator: of functions of every kind, and of test classes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import AbstractContextManager, aclosing
from typing import Any, Final, TypeAlias
from unittest import TestCase

#: Given the arguments of a call, what to run it in.
Opened: TypeAlias = Callable[[tuple[Any, ...]], AbstractContextManager[Any]]

#: What pytest calls before and after each test of a class.
_FIXTURE_METHODS: Final = ("setup_method", "teardown_method")


def decorate(target: Any, opened: Callable[[], AbstractContextManager[Any]]) -> Any:
    """Run a function, or the tests of a class, inside ``opened()``; arguments are unchanged.

    A function gets a new context per call, a ``unittest.TestCase`` one per test (``setUp`` and
    ``tearDown`` included), another class one per instance, in which all of its public methods
    run: pytest makes an instance per test.
    """
    if not inspect.isclass(target):
        return _inside(target, lambda _: opened())
    if issubclass(target, TestCase):
        setattr(target, "run", _inside(target.run, lambda _: opened()))  # noqa: B010  # mypy: a method
        return target
    for name, function in inspect.getmembers(target, inspect.isfunction):
        is_static = isinstance(inspect.getattr_static(target, name), staticmethod)
        if not name.startswith("_") and not is_static:
            method = _ignoring_the_test(function) if name in _FIXTURE_METHODS else function
            setattr(target, name, _inside(method, lambda args: _of_instance(args[0], opened)))
    return target


def _ignoring_the_test(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that may be passed the test, as pytest does to a method that is wrapped.

    pytest looks at the code of the wrapper to learn whether the method takes an argument.
    """
    if len(inspect.signature(function).parameters) > 1:
        return function

    @functools.wraps(function)
    def run(instance: Any, *_test: Any) -> Any:
        return function(instance)

    return run


def _of_instance(
    instance: Any, opened: Callable[[], AbstractContextManager[Any]]
) -> AbstractContextManager[Any]:
    """Return the context manager that belongs to an instance; it is entered call by call."""
    owned: AbstractContextManager[Any] | None = vars(instance).get("_emulator_context")
    if owned is None:
        owned = instance._emulator_context = opened()
    return owned


def _inside(function: Callable[..., Any], opened: Opened) -> Callable[..., Any]:
    kind = next((wrap for is_kind, wrap in _KINDS if is_kind(function)), _plain)
    return functools.wraps(function)(kind(function, opened))


def _plain(function: Callable[..., Any], opened: Opened) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        with opened(args):
            return function(*args, **kwargs)

    return run


def _coroutine(function: Callable[..., Any], opened: Opened) -> Callable[..., Any]:
    async def run(*args: Any, **kwargs: Any) -> Any:
        with opened(args):
            return await function(*args, **kwargs)

    return run


def _generator(function: Callable[..., Any], opened: Opened) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        with opened(args):
            return (yield from function(*args, **kwargs))

    return run


def _async_generator(function: Callable[..., Any], opened: Opened) -> Callable[..., Any]:
    async def run(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        with opened(args):
            async with aclosing(function(*args, **kwargs)) as values:
                async for value in values:
                    yield value

    return run


_KINDS = (
    (inspect.isasyncgenfunction, _async_generator),
    (inspect.iscoroutinefunction, _coroutine),
    (inspect.isgeneratorfunction, _generator),
)
