"""How the SDK's own time passes on an emulator's clock.

The SDK sleeps between retries (in all modes) and between a waiter's questions; its adaptive mode
also reads a clock and waits for tokens. On real time all of that is left alone. On virtual time
a sleep advances the emulator's clock and takes none, and the rate limiter reads that clock.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable
from typing import Any, Final

from emulator.clock import Clock
from emulator.sdk.scopes import serving

# A wait that rounds to nothing would never end on a clock that moves only when slept on.
_SHORTEST_WAIT_SECONDS: Final = 1e-6


class ModuleWithSleep:
    """Stands in for ``time`` or ``asyncio`` in a module of the SDK, for its ``sleep``."""

    def __init__(self, module: Any, sleep: Callable[..., Any]) -> None:
        self._module = module
        self.sleep = sleep

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def _virtual_clock() -> Clock | None:
    scope = serving.get()
    return scope.emulator.clock if scope is not None and scope.is_virtual else None


def sleep(seconds: float) -> None:
    """Stand in for ``time.sleep``."""
    time.sleep(_slept(seconds))  # noqa: TID251  # the SDK's own sleep


async def sleep_async(seconds: float, *args: Any) -> None:
    """Stand in for ``asyncio.sleep``."""
    await asyncio.sleep(_slept(seconds), *args)


def sleep_by_method(original: Any) -> Any:
    """AnyioEndpoint._sleep and AnyioWaiter._sleep."""

    @functools.wraps(original)
    async def sleep(self: Any, seconds: float) -> None:
        await original(self, _slept(seconds))

    return sleep


def _slept(seconds: float) -> float:
    """Let virtual time pass, and return the seconds left to sleep: other threads get a turn."""
    clock = _virtual_clock()
    if clock is None:
        return seconds
    clock.sleep(seconds)
    return 0


def tell_virtual_time(original: Any) -> Any:
    """Clock.current_time of the adaptive retry mode's rate limiter."""

    @functools.wraps(original)
    def current_time(self: Any) -> float:
        scope = serving.get()
        if scope is not None and scope.is_virtual:
            return scope.sdk_time()
        seconds: float = original(self)
        return seconds

    return current_time


def acquire(original: Any, no_capacity: type[Exception]) -> Any:
    """TokenBucket.acquire of the adaptive retry mode: wait for a token in virtual time."""

    @functools.wraps(original)
    def acquire(self: Any, amount: float = 1, block: bool = True) -> Any:  # noqa: FBT001, FBT002  # the SDK's
        while block and (clock := _virtual_clock()) is not None:
            try:
                return original(self, amount, block=False)
            except no_capacity:
                clock.sleep(_seconds_to_token(self, amount))
        return original(self, amount, block)

    return acquire


def acquire_async(original: Any, no_capacity: type[Exception]) -> Any:
    """AsyncTokenBucket.acquire."""

    @functools.wraps(original)
    async def acquire(self: Any, amount: float = 1, block: bool = True) -> Any:  # noqa: FBT001, FBT002  # the SDK's
        while block and (clock := _virtual_clock()) is not None:
            try:
                return await original(self, amount, block=False)
            except no_capacity:
                clock.sleep(_seconds_to_token(self, amount))
        return await original(self, amount, block)

    return acquire


def _seconds_to_token(bucket: Any, amount: float) -> float:
    wanting = amount - bucket.available_capacity
    return float(max(wanting / bucket.max_rate, _SHORTEST_WAIT_SECONDS))
