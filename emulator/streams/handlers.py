"""Handlers: any callable of an event and a context, and how a call of one went.

A handler runs in the caller's thread. Its time is that of the clock, so that on a ``ManualClock``
it runs as long as it sleeps there (EVS-29).
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, NamedTuple, TypeAlias

from emulator import clock as clocks
from emulator.clock import Clock
from emulator.service.errors import EmulatorError

#: A callable of an event and a context, sync or async, or where to import one from.
Handler: TypeAlias = Callable[[dict[str, Any], Any], Any] | str

NOT_CALLABLE: Final = (
    "a handler is a callable of (event, context), or where to import one from, such as "
    "'package.module.handler', not {value!r}"
)
NOT_IMPORTABLE: Final = "the handler {path!r} cannot be imported: {reason}"
TIMED_OUT: Final = "Task timed out after {seconds:.2f} seconds"
NOT_JSON: Final = "Unable to marshal response: {reason}"


class InvocationRefused(Exception):
    """Raised by a handler: the function had no concurrency left, and did not run (EVS-19).

    Such a call uses no retry; the batch comes again until its records are too old.

    >>> raise InvocationRefused
    Traceback (most recent call last):
    emulator.streams.handlers.InvocationRefused
    """


class FunctionTimeout(Exception):
    """A handler took longer than its timeout."""


class MarshalError(Exception):
    """A handler's answer is not JSON."""


@dataclass(frozen=True, slots=True)
class LambdaContext:
    """The context of a handler's call, by the names of Lambda's Python runtime."""

    function_name: str
    invoked_function_arn: str
    aws_request_id: str
    clock: Clock
    timeout: int
    deadline_ns: int
    function_version: str = "$LATEST"
    memory_limit_in_mb: str = "128"
    identity: None = None
    client_context: None = None

    @property
    def log_group_name(self) -> str:
        """The group that the function's log would be in."""
        return f"/aws/lambda/{self.function_name}"

    @property
    def log_stream_name(self) -> str:
        """The stream of the function's log."""
        return f"[{self.function_version}]{self.aws_request_id}"

    def get_remaining_time_in_millis(self) -> int:
        """Return how long the call may still take."""
        return max(0, self.deadline_ns - self.clock.now_ns()) // 1_000_000


class Invocation(NamedTuple):
    """A call to be made."""

    event: dict[str, Any]
    context: LambdaContext


class Outcome(NamedTuple):
    """How a call went.

    Attributes:
        answer: The answer of the handler.
        error: Its exception, or the runtime's error for its answer; None if it is fine.
    """

    answer: Any = None
    error: Exception | None = None


def resolved(handler: Handler) -> Callable[[dict[str, Any], Any], Any]:
    """Return the callable that a handler is or names.

    >>> resolved("json.dumps").__name__
    'dumps'
    >>> resolved(5)
    Traceback (most recent call last):
    TypeError: a handler is a callable of (event, context), ...

    Raises:
        TypeError: it is not callable.
        EmulatorError: it cannot be imported.
    """
    found: Any = handler
    if isinstance(handler, str):
        module, _, name = handler.replace(":", ".").rpartition(".")
        try:
            found = getattr(import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise EmulatorError(NOT_IMPORTABLE.format(path=handler, reason=error)) from error
    if not callable(found):
        raise TypeError(NOT_CALLABLE.format(value=handler))
    return found  # type: ignore[no-any-return]  # it is judged when it is called


def name_of(handler: Callable[..., Any]) -> str:
    """Return the name of a handler's function.

    >>> name_of(resolved)
    'resolved'
    """
    return str(getattr(handler, "__name__", type(handler).__name__)).strip("<>")


def call(handler: Callable[..., Any], invocation: Invocation) -> Outcome:
    """Call a handler and wait for it."""
    try:
        answer = handler(*invocation)
        if inspect.isawaitable(answer):
            answer = _awaited(answer, invocation.context.clock)
    except Exception as error:  # whatever a handler raises is a function error
        return Outcome(error=error)
    return _judged(answer, invocation.context)


async def call_async(handler: Callable[..., Any], invocation: Invocation) -> Outcome:
    """Call a handler, and await it in the loop that runs."""
    try:
        answer = handler(*invocation)
        if inspect.isawaitable(answer):
            answer = await answer
    except Exception as error:  # as above
        return Outcome(error=error)
    return _judged(answer, invocation.context)


def _judged(answer: Any, context: LambdaContext) -> Outcome:
    """Return the outcome of a call that came back: it may be late, or no JSON."""
    if context.clock.now_ns() > context.deadline_ns:
        return Outcome(error=FunctionTimeout(TIMED_OUT.format(seconds=context.timeout)))
    if answer is not None:
        try:
            json.dumps(answer)
        except (TypeError, ValueError) as error:
            return Outcome(error=MarshalError(NOT_JSON.format(reason=error)))
    return Outcome(answer)


def _awaited(answer: Awaitable[Any], clock: Clock) -> Any:
    """Return the result of an awaitable, in a loop of its own whose sleeps are the clock's."""

    async def wait() -> Any:
        return await answer

    def run() -> Any:
        with asyncio.Runner(loop_factory=lambda: clocks.loop(clock)) as runner:
            return runner.run(wait())

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run()
    with ThreadPoolExecutor(1) as other:  # two loops cannot run in one thread
        return other.submit(run).result()
