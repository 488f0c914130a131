"""The event sources of a test: those of its markers, and those that it opens itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from inspect import signature
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from emulator.api import Emulator
from emulator.designs.event_sources import read_event_sources
from emulator.service.errors import EmulatorError
from emulator.streams import Delivery, EventSource

#: What stands for a function: a callable of an event and a context, or where to import one from.
Handler: TypeAlias = Callable[[dict[str, Any], Any], Any] | str

TABLE_OR_HANDLERS: Final = (
    "a table and its handler are given, or handlers={'function': handler} with tables= of a design"
)
UNKNOWN_SETTING: Final = "there is no argument {name!r}; there are {known}"
NO_DESIGN: Final = "handlers= needs the design that says which tables they read: ddb(tables=...)"
NO_FUNCTION: Final = "{path} gives no table's stream to a function {name!r}; it does to: {known}"


class DeclaredHandlers(NamedTuple):
    """Callables for the functions of a design."""

    handlers: Mapping[str, Handler]


class TableHandler(NamedTuple):
    """A callable for a table, and the settings of its event source."""

    table: str
    handler: Handler | None
    settings: Mapping[str, Any]


def judged(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> DeclaredHandlers | TableHandler:
    """Return the event sources that the arguments of a marker ask for.

    >>> judged(("orders", print), {"batch_size": 5}).table
    'orders'
    >>> judged((), {"handlers": {"mail": print}})
    DeclaredHandlers(handlers={'mail': <built-in function print>})

    Raises:
        ValueError: they are neither.
    """
    settings = dict(kwargs)
    handlers = settings.pop("handlers", None)
    if isinstance(handlers, Mapping) and not args and not settings:
        return DeclaredHandlers(handlers)
    table, handler = (*args, None, None)[:2]
    table, handler = settings.pop("table", table), settings.pop("handler", handler)
    if handlers is not None or not isinstance(table, str) or len(args) > 2:
        raise ValueError(TABLE_OR_HANDLERS)
    known = [name for name in signature(Emulator.event_source).parameters if name != "self"]
    for name in settings:
        if name not in known:
            raise ValueError(UNKNOWN_SETTING.format(name=name, known=", ".join(known)))
    return TableHandler(table, handler, settings)


class EventSources:
    """Opens event sources for a test; called with the arguments of ``Emulator.event_source``.

    Args:
        emulator: Whose tables they read.
        stack: Closes them.
    """

    def __init__(self, emulator: Emulator, stack: ExitStack) -> None:
        self._emulator = emulator
        self._stack = stack
        self._sources: list[EventSource] = []

    def __call__(self, table: str, handler: Handler | None = None, **settings: Any) -> EventSource:
        """Return a source that reads from now on, until the test ends."""
        source = self._emulator.event_source(table, handler, **settings)
        self._sources.append(self._stack.enter_context(source))
        return source

    def __iter__(self) -> Iterator[EventSource]:
        return iter(self._sources)

    def drain(self) -> list[Delivery]:
        """Drain every source of the test until none has anything left."""
        deliveries: list[Delivery] = []
        while made := [delivery for source in self for delivery in source.drain()]:
            deliveries += made
        return deliveries

    def open(self, wanted: DeclaredHandlers | TableHandler, designs: list[Path]) -> None:
        """Open the event sources that a marker asks for.

        Raises:
            EmulatorError: no design gives a stream to one of the functions.
        """
        if isinstance(wanted, TableHandler):
            self(wanted.table, wanted.handler, **wanted.settings)
            return
        if not designs:
            raise EmulatorError(NO_DESIGN)
        declared = [source for path in designs for source in read_event_sources(path)]
        for name, handler in wanted.handlers.items():
            sources = [source for source in declared if name in source.functions]
            if not sources:
                known = ", ".join(sorted({source.functions[0] for source in declared})) or "none"
                path = ", ".join(map(str, designs))
                raise EmulatorError(NO_FUNCTION.format(path=path, name=name, known=known))
            for source in sources:
                self(source.table, handler, **source.settings)


def designs_of(tables: object) -> list[Path]:
    """Return the design files among what a test's tables are made of.

    >>> designs_of(["main.tf", {"TableName": "orders"}])
    [PosixPath('main.tf')]
    """
    listed = tables if isinstance(tables, list | tuple) else [tables]
    return [Path(entry) for entry in listed if isinstance(entry, str | Path)]
