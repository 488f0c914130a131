"""Which namespaces a server keeps, whose a request is, and where else a missing table is.

Whose request it is follows from its signature; the emulator keeps the data apart
(docs/decisions/0031-namespaces-on-the-server.md). Idle namespaces can go, and memory can be capped:
here stands what is forgotten, and when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from emulator.observe import Namespace
from emulator.protocol import signed_access_key, signed_region
from emulator.service import errors, limits

if TYPE_CHECKING:
    from emulator.api import Emulator
    from emulator.observe import NamespaceView

#: Measured (CPython 3.11): what an item or an index entry takes beside its billed bytes.
ENTRY_BYTES: Final = 600
#: Measured likewise: a table with one global index and without items; 12 KB without the index.
TABLE_BYTES: Final = 24 * limits.KIB

FULL: Final = (
    "This server keeps {kept} of data and may keep {most} (--memory). Delete something, or start "
    "it with a higher limit"
)
IDLE: Final = "namespace {namespace} was dropped: it was not used for {seconds:g} seconds"
TOO_MUCH: Final = "namespace {namespace} was dropped: there is more data than --memory allows"

#: The operations that can add data.
_ADDING: Final = frozenset(
    {
        "BatchExecuteStatement",
        "BatchWriteItem",
        "CreateBackup",
        "CreateTable",
        "ExecuteStatement",
        "ExecuteTransaction",
        "ImportTable",
        "PutItem",
        "RestoreTableFromBackup",
        "RestoreTableToPointInTime",
        "TransactWriteItems",
        "UpdateItem",
        "UpdateTable",
    }
)


class CallerNamespaces:
    """Says which namespace a request is for, and which others hold a table that it has not.

    Args:
        emulator: The emulator that answers.
        keys_apart: Whether the data of different access keys is apart.
        shared: Whether all regions are one.
    """

    def __init__(self, emulator: Emulator, *, keys_apart: bool, shared: bool) -> None:
        self._emulator = emulator
        self._keys_apart = keys_apart
        self._shared = shared

    def of(self, authorization: str) -> Namespace:
        """Return the namespace of a request with this Authorization field."""
        own = self._emulator.region
        region = own if self._shared else signed_region(authorization) or own
        return Namespace(signed_access_key(authorization) if self._keys_apart else None, region)

    def elsewhere(self, tables: Iterable[str], here: Namespace) -> Iterator[tuple[str, list[str]]]:
        """Yield each table that is not here but elsewhere, with the namespaces that hold it."""
        views = self._emulator.namespaces()
        seen = {Namespace(None, here.region), here}
        for table in tables:
            holders = {view.namespace for view in views if table in view.tables}
            if holders and not holders & seen:
                yield table, sorted(map(str, holders))


class NamespaceKeeper:
    """Passes calls on to an emulator, and drops unused namespaces.

    Args:
        emulator: The emulator that answers.
        idle_seconds: A namespace unused for this time is dropped; 0 keeps all.
        memory_bytes: Bytes that may be kept, by estimate; 0 is no limit.
        time: Real time in seconds, from any start.
        note: Called with a sentence for each namespace that goes.
    """

    def __init__(
        self,
        emulator: Emulator,
        *,
        idle_seconds: float = 0.0,
        memory_bytes: int = 0,
        time: Callable[[], float],
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._emulator = emulator
        self._idle_seconds = idle_seconds
        self._memory_bytes = memory_bytes
        self._time = time
        self._note = note
        self._forgets = bool(idle_seconds or memory_bytes)
        self._used_at: dict[tuple[str | None, str], float] = {}
        self._kept_bytes = 0

    def call(
        self,
        operation: str,
        request: dict[str, Any],
        *,
        region: str | None = None,
        access_key: str | None = None,
    ) -> dict[str, Any]:
        """Answer one operation.

        Raises:
            LimitExceededException: it may add data, and no more may be kept.
        """
        emulator = self._emulator
        if access_key is not None and self._forgets:
            self._used_at[access_key, region or emulator.region] = self._time()
        if 0 < self._memory_bytes < self._kept_bytes and operation in _ADDING:
            kept, most = _megabytes(self._kept_bytes), _megabytes(self._memory_bytes)
            raise errors.LimitExceededException(FULL.format(kept=kept, most=most))
        return emulator.call_in_pieces(operation, request, region, access_key)

    def sweep(self) -> None:
        """Forget what is idle or too much; those that hold nothing are forgotten anyway."""
        self._emulator.forget_empty()
        if not self._forgets:
            return
        views = self._emulator.namespaces()
        kept = {view.namespace for view in views}
        self._used_at = {name: at for name, at in self._used_at.items() if name in kept}
        views = self._without_idle(views)
        if self._memory_bytes:
            self._keep_under_the_limit(views)

    def _without_idle(self, views: list[NamespaceView]) -> list[NamespaceView]:
        """Drop the namespaces that were idle for too long; return the others."""
        if not self._idle_seconds:
            return views
        now = self._time()
        staying = []
        for view in views:
            used_at = self._used_at.setdefault(view.namespace, now)  # loaded, and not asked for yet
            is_own = view.namespace.access_key is not None
            if is_own and now - used_at >= self._idle_seconds:
                self._drop(
                    view.namespace,
                    IDLE.format(namespace=view.namespace, seconds=self._idle_seconds),
                )
            else:
                staying.append(view)
        return staying

    def _keep_under_the_limit(self, views: list[NamespaceView]) -> None:
        """Drop the namespaces that were not used for the longest time, but never the last used."""
        self._kept_bytes = sum(map(estimated_bytes, views))
        own = [view for view in views if view.namespace.access_key is not None]
        own.sort(key=lambda view: self._used_at.get(view.namespace, 0.0))
        for view in own[:-1]:
            if self._kept_bytes <= self._memory_bytes:
                return
            self._drop(view.namespace, TOO_MUCH.format(namespace=view.namespace))
            self._kept_bytes -= estimated_bytes(view)

    def _drop(self, namespace: Namespace, sentence: str) -> None:
        self._emulator.within(namespace).reset()
        self._used_at.pop(namespace, None)
        self._note(sentence)


def estimated_bytes(view: NamespaceView) -> int:
    """Return about how much memory a namespace takes."""
    return view.size_bytes + ENTRY_BYTES * view.entries + TABLE_BYTES * len(view.tables)


def _megabytes(count: int) -> str:
    return f"{count / limits.MIB:.1f} MB"
