"""Processes that study designs, and say how far they are."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator, MutableSequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from typing import Any, Final

#: Tasks that are told apart; a later one takes the place of an earlier one.
_MOST_TASKS: Final = 1_024
#: In a process that works: how much of each task is done, for the process that waits to see.
_shares: MutableSequence[float] = []


class WatchedProcesses:
    """Processes that work, as an executor.

    Args:
        count: How many.
    """

    def __init__(self, count: int) -> None:
        is_safe = sys.platform == "linux" and threading.active_count() == 1
        context = get_context("fork" if is_safe else "spawn")
        self._shares = context.RawArray("d", _MOST_TASKS)
        self._tasks: dict[Future[Any], int] = {}
        self._pool = ProcessPoolExecutor(
            count, mp_context=context, initializer=_begin, initargs=(self._shares,)
        )
        self._pool.submit(abs, 0)  # starts them

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Run a function that takes ``progress``, and return its future."""
        task = len(self._tasks) % _MOST_TASKS
        self._shares[task] = 0.0
        future = self._pool.submit(_watched, task, function, *arguments)
        self._tasks[future] = task
        return future

    def share_done(self, future: Future[Any]) -> float:
        """Return how much of a task is done, from 0 to 1."""
        return float(self._shares[self._tasks[future]])

    def shutdown(self, *, cancel: bool = False) -> None:
        """End the processes, after their tasks unless these are cancelled."""
        self._pool.shutdown(wait=not cancel, cancel_futures=cancel)
        if cancel:
            for process in active_children():
                process.terminate()


def _begin(shares: MutableSequence[float]) -> None:
    """Leave Ctrl-C to the process that waits for this one, and show it how far tasks are."""
    global _shares
    _shares = shares
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _watched(task: int, function: Callable[..., Any], *arguments: Any) -> Any:
    def tell(_: str, done: int, total: int) -> None:
        _shares[task] = done / total

    return function(*arguments, progress=tell)


@contextmanager
def processes(count: int) -> Iterator[WatchedProcesses]:
    """Yield processes that end with this one, also when it is interrupted."""
    pool = WatchedProcesses(count)
    try:
        yield pool
    except BaseException:
        pool.shutdown(cancel=True)
        raise
    pool.shutdown()
