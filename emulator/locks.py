"""Locks that a fork respects.

A process that forks copies its memory as it is: a lock that another thread holds stays held in the
child for ever, over data that is half written. Locks made here are all taken before a fork and
released after it, on both sides, so that a child finds everything whole and free.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from enum import IntEnum
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from threading import RLock


class Rank(IntEnum):
    """The order in which locks are taken: while one is held, only later ranks may be taken.

    Of several accounts, the one that was made first comes first.
    """

    SCOPES = 0
    ACCOUNTS = 1
    CLOCK = 2
    ACCOUNT = 3
    NETWORK = 4
    LEDGER = 5


_registry: Final = threading.Lock()
_numbers: Final = itertools.count()
_order: Final[weakref.WeakKeyDictionary[RLock, tuple[Rank, int]]] = weakref.WeakKeyDictionary()
_held: Final[list[RLock]] = []


def new_lock(rank: Rank) -> RLock:
    """Return a lock that its holder may take again and that no fork leaves held.

    >>> lock = new_lock(Rank.ACCOUNT)
    >>> with lock, lock:
    ...     pass
    """
    lock = threading.RLock()
    with _registry:
        _order[lock] = (rank, next(_numbers))
    return lock


@contextmanager
def holding(locks: Iterable[RLock]) -> Iterator[None]:
    """Hold several locks, taken in the order in which every thread takes them."""
    with ExitStack() as stack:
        for lock in sorted(locks, key=_order.__getitem__):
            stack.enter_context(lock)
        yield


def _before_fork() -> None:
    """Take every lock; no lock can be made until the fork is over.

    The registry comes last, because the holder of an account's lock may be making a new one.
    """
    while True:
        with _registry:
            locks = sorted(_order.keys(), key=_order.__getitem__)
        for lock in locks:
            lock.acquire()
        _finish_imports()
        _held[:] = locks
        _registry.acquire()
        if len(_order) == len(locks):
            return
        _after_fork()


def _finish_imports() -> None:
    """Wait until no thread imports one of our modules: in the child it would never be done.

    Most imports are by a thread that holds an account, and accounts were waited for already.
    """
    package = __name__.partition(".")[0]
    for name in list(sys.modules):
        if name == package or name.startswith(f"{package}."):
            with suppress(ImportError):  # its reader is told
                import_module(name)


def _after_fork() -> None:
    _registry.release()
    while _held:
        _held.pop().release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )
