"""Scopes: which emulator serves the code that calls, while real credentials are hidden.

A scope is one entry into a mock, from its beginning to its end. Code is served by the innermost
scope entered in its own thread or task, or in the one whose context it copied (tasks always
do). A mock without arguments that is entered there joins that scope: its emulator serves on. A
thread that entered none is served by the latest scope of the process, as long as there
is only one chain of nested scopes; if several stand side by side it is refused, because any
choice could be the wrong one.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from emulator.clock import Clock, SystemClock
from emulator.locks import Rank, new_lock
from emulator.service.errors import EmulatorError

if TYPE_CHECKING:
    from emulator.api import Emulator

WHICH_EMULATOR: Final = (
    "several emulators are active side by side and this thread entered none of them: "
    "start it with contextvars.copy_context().run, or enter mock_dynamodb in it"
)

ACCESS_KEY: Final = "emulator"
#: What the environment says of credentials while they are hidden; None is a variable unset.
HIDDEN_ENVIRONMENT: Final[Mapping[str, str | None]] = {
    "AWS_ACCESS_KEY_ID": ACCESS_KEY,
    "AWS_SECRET_ACCESS_KEY": ACCESS_KEY,
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN": None,
    "AWS_CONTAINER_CREDENTIALS_FULL_URI": None,
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": None,
    "AWS_DEFAULT_PROFILE": None,
    "AWS_PROFILE": None,
    "AWS_ROLE_ARN": None,
    "AWS_SECURITY_TOKEN": None,
    "AWS_SESSION_TOKEN": None,
    "AWS_WEB_IDENTITY_TOKEN_FILE": None,
}


class Scope:
    """One entry into a mock.

    Attributes:
        emulator: The emulator that serves.
        fast: Whether calls are answered before the SDK serialises them.
        hide_credentials: Whether real credentials are out of sight meanwhile.
    """

    def __init__(self, emulator: Emulator, *, fast: bool, hide_credentials: bool) -> None:
        self.emulator = emulator
        self.fast = fast
        self.hide_credentials = hide_credentials
        self._is_active = False
        self._outer: Scope | None = None
        self._thread = threading.get_ident()
        self._task = _running_task()
        self._sdk_offset = 0

    @property
    def is_virtual(self) -> bool:
        """Whether the emulator's time is not real time: in an experiment it never is."""
        return not isinstance(self.emulator.clock, SystemClock)

    def open(self, install: Callable[[], None]) -> None:
        """Serve from now on; ``install`` is called if no scope was active."""
        with _lock:
            if not _active:
                install()
            if self.hide_credentials:
                _hide_environment()
            if self.is_virtual:
                self._sdk_offset = _sdk_offset(self.emulator.clock)
            self._outer = enclosing()
            self._is_active = True
            _active.append(self)
        _current.set(self)
        for listener in tuple(_listeners):
            listener(self.emulator)

    def close(self, uninstall: Callable[[], None]) -> None:
        """Serve no longer; ``uninstall`` is called if no scope is left."""
        with _lock:
            self._is_active = False
            _active.remove(self)
            if self.is_virtual:
                _latest_sdk_time[0] = max(_latest_sdk_time[0], self.sdk_time())
            if not credentials_are_hidden():
                _restore_environment()
            if not _active:
                uninstall()
        # In another context the scope may still be current: there it is passed over.
        if _current.get() is self:
            _current.set(_entered_here())

    def outwards(self) -> Iterator[Scope]:
        """Yield the active scopes from this one to the outermost."""
        scope: Scope | None = self
        while scope is not None:
            if scope._is_active:
                yield scope
            scope = scope._outer

    def _encloses(self, thread: int, task: Any) -> bool:
        """Return whether the scope was entered in a thread, and by no other task that runs."""
        is_over = self._task is None or self._task is task or self._task.done()
        return self._thread == thread and is_over

    def sdk_time(self) -> float:
        """Return virtual time as the SDK's own rate limiter sees it: it never goes back."""
        return self.emulator.clock.now() + self._sdk_offset


_lock = new_lock(Rank.SCOPES)
_active: list[Scope] = []
_current: ContextVar[Scope | None] = ContextVar("emulator_scope", default=None)
#: The scope that serves the SDK call, the creation of a client or the wait that is under way.
serving: ContextVar[Scope | None] = ContextVar("emulator_serving", default=None)
_listeners: list[Callable[[Any], None]] = []
_latest_sdk_time = [0.0]
_environment: dict[str, str | None] = {}


def innermost() -> Scope | None:
    """Return the scope that serves the calling code, or None if none is active.

    Raises:
        EmulatorError: the caller entered none, and several are active side by side.
    """
    scope = _entered_here()
    if scope is not None or not _active:
        return scope
    scope = _active[-1]
    if sum(1 for _ in scope.outwards()) < len(_active):
        raise EmulatorError(WHICH_EMULATOR)
    return scope


def enclosing() -> Scope | None:
    """Return the scope that encloses what the caller enters next, or None.

    It was entered in the caller's own context, or earlier in its thread: an asynchronous fixture
    enters in a context of its own. A scope of a task that still runs belongs to that task.
    """
    scope = _entered_here()
    if scope is not None or not _active:
        return scope
    here, task = threading.get_ident(), _running_task()
    return next((scope for scope in reversed(_active) if scope._encloses(here, task)), None)


def innermost_of(scopes: Sequence[Scope]) -> Scope:
    """Return which of some active scopes the caller entered last, or the latest of them."""
    current = _current.get()
    entered = () if current is None else current.outwards()
    return next((scope for scope in entered if scope in scopes), scopes[-1])


def listen(listener: Callable[[Any], None]) -> Callable[[], None]:
    """Call ``listener`` with every emulator that begins to serve; returns how to stop that."""
    _listeners.append(listener)
    return lambda: _listeners.remove(listener)


def is_any_active() -> bool:
    """Return whether any code of this process is served."""
    return bool(_active)


def credentials_are_hidden() -> bool:
    """Return whether an active scope hides the real credentials."""
    return any(scope.hide_credentials for scope in _active)


def _entered_here() -> Scope | None:
    current = _current.get()
    return None if current is None else next(current.outwards(), None)


def _running_task() -> Any:
    """Return the asyncio task that the caller runs in, or None; asyncio is not loaded for it."""
    asyncio = sys.modules.get("asyncio")
    try:
        return None if asyncio is None else asyncio.current_task()
    except RuntimeError:  # no event loop runs in this thread
        return None


def _sdk_offset(clock: Clock) -> int:
    """Return whole seconds to add to virtual time so that no SDK object sees it go back.

    Clients outlive scopes, and what they remember of time may come from another clock. Whole
    seconds, because the SDK's rate limiter counts in half seconds: equal runs count the same.
    """
    real = time.time()  # noqa: TID251  # what the SDK itself reads outside of a scope
    return math.ceil(max(real, _latest_sdk_time[0]) - clock.now())


def _hide_environment() -> None:
    if not _environment:
        # Each is looked for once: nearly all are unset, which raises an exception inside.
        present = {name for name in HIDDEN_ENVIRONMENT if name in os.environ}
        for name, value in HIDDEN_ENVIRONMENT.items():
            _environment[name] = os.environ[name] if name in present else None
            if value is not None:
                os.environ[name] = value
            elif name in present:
                del os.environ[name]


def _restore_environment() -> None:
    for name, value in _environment.items():
        if value is not None:
            os.environ[name] = value
        elif name in os.environ:
            del os.environ[name]
    _environment.clear()
