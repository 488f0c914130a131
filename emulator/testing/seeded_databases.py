"""Seeded databases: built once, and restored for every test that wants them.

One is built with capacity "off", so that filling it draws on nothing, and on a clock that stands
still. A test goes on where its database ended. Restoring shares everything that is not written,
so it takes microseconds whatever the tables hold.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeAlias

from emulator.api import Emulator
from emulator.clock import DEFAULT_START, Clock, ManualClock, PacedClock, SystemClock
from emulator.designs import DeclaredTable, read_tables
from emulator.observe import Snapshot, last_moment, table_of, tables_by_region
from emulator.sdk import default_region, mock_dynamodb
from emulator.service.errors import ApiError, EmulatorError
from emulator.settings import Settings

#: A design file, a saved snapshot or a folder of exports, CreateTable requests, or a function of
#: the emulator.
Tables: TypeAlias = str | Path | Mapping[str, Any] | Sequence[Any] | Callable[[Emulator], object]
#: JSON lines or a folder of exports, items by table name (Python values, or such files), several of
#: these, or a function.
Seed: TypeAlias = (
    str
    | Path
    | Mapping[str, str | Path | Iterable[Any]]
    | Sequence[Any]
    | Callable[[Emulator], object]
)

NOT_A_TEMPLATE: Final = (
    "ddb_template returns what ddb_build returned, an Emulator, a snapshot, a file's path or None, "
    "not {value!r}"
)
TOO_EARLY: Final = (
    "the clock starts at {start:g}, before the template was finished at {now:g}: leave start out, "
    "or build the template with an earlier start"
)
WHICH_TABLE: Final = "{path}: which table is it for? name it in a mapping, as {{'orders': ...}}"
SNAPSHOT_SUFFIX: Final = ".snapshot"


class SeededDatabase:
    """A database in the making: enter it to route boto3 to it, and hand it to ``ddb``.

    >>> from emulator.testing.table_notation import create_request
    >>> database = SeededDatabase(tables=create_request("orders"))
    >>> with database as emu:
    ...     _ = emu.table("orders").put_item(Item={"pk": "a"})
    >>> copy = Emulator()
    >>> copy.restore(database.snapshot)
    >>> copy.table("orders").get_item(Key={"pk": "a"})["Item"]
    {'pk': 'a'}
    """

    def __init__(
        self,
        *,
        tables: Tables | None = None,
        seed: Seed | None = None,
        base: SeededDatabase | None = None,
        start: float | None = None,
        region: str | None = None,
        settings: Settings | None = None,
    ) -> None:
        clock = ManualClock(_earliest(start) if base is None else base.now)
        if region is None:
            region = default_region() if base is None else base.region
        self.emulator = Emulator(clock=clock, capacity="off", region=region, settings=settings)
        if base is not None:
            self.emulator.restore(base.snapshot)
        self._routes = ExitStack()
        self._snapshot: Snapshot | None = None
        with self:
            create_tables(self.emulator, tables)
            fill(self.emulator, seed)

    @classmethod
    def of(cls, value: object) -> SeededDatabase | None:
        """Return the database of a ``ddb_template`` fixture's value."""
        if value is None or isinstance(value, SeededDatabase):
            return value
        if isinstance(value, str | Path):
            return cls(tables=value)
        if not isinstance(value, Emulator | Snapshot):
            raise EmulatorError(NOT_A_TEMPLATE.format(value=value))
        snapshot = value.snapshot() if isinstance(value, Emulator) else value
        region = value.region if isinstance(value, Emulator) else _only_region(value)
        database = cls(start=last_moment(snapshot), region=region)
        database.emulator.restore(snapshot)
        return database

    def __enter__(self) -> Emulator:
        self._snapshot = None
        self._routes.enter_context(routed(self.emulator))
        return self.emulator

    def __exit__(self, *_raised: object) -> None:
        self._routes.close()

    @property
    def snapshot(self) -> Snapshot:
        """The state to restore; taken once, after the database was last entered."""
        if self._snapshot is None:
            self._snapshot = self.emulator.snapshot()
        return self._snapshot

    @property
    def region(self) -> str:
        """The region of calls that name none."""
        return self.emulator.region

    @property
    def now(self) -> float:
        """The moment at which the database ends, in seconds since the epoch."""
        return max(self.emulator.clock.now(), last_moment(self.snapshot))


def _earliest(start: float | None) -> float:
    """Return when a database is built: never after the present, so that any test comes later."""
    return min(DEFAULT_START if start is None else start, SystemClock().now())


def _only_region(snapshot: Snapshot) -> str | None:
    return next(iter(snapshot.regions)) if len(snapshot.regions) == 1 else None


def make_clock(
    kind: str | Clock,
    database: SeededDatabase | None,
    *,
    start: float | None,
    rate: float | None = None,
) -> Clock:
    """Return the clock of a test: real time, virtual time, or the one that was passed.

    Virtual time starts at ``start``, or where the database ended. On real time, requests are
    taken to arrive at ``rate``; without one, nothing throttles in "observe".

    Raises:
        EmulatorError: ``start`` is before the end of the database.
    """
    if not isinstance(kind, str):
        return kind
    if kind == "system":
        return PacedClock(rate)
    now = 0.0 if database is None else database.now
    if start is None:
        return ManualClock(max(DEFAULT_START, now))
    if start < now:
        raise EmulatorError(TOO_EARLY.format(start=start, now=now))
    return ManualClock(start)


def routed(emulator: Emulator, *, fast: bool = False) -> AbstractContextManager[Any]:
    """Return a context in which boto3, if it is installed, is served by the emulator."""
    if find_spec("botocore") is None:
        return nullcontext(emulator)
    return mock_dynamodb(emulator, fast=fast)


class SeededDatabases:
    """The databases of one test session, each built once."""

    def __init__(self) -> None:
        self._built: dict[Any, SeededDatabase] = {}
        # The value is kept beside its database: while it lives, no other has its id.
        self._of_fixtures: dict[int, tuple[object, SeededDatabase | None]] = {}

    def of_fixture(self, value: object) -> SeededDatabase | None:
        """Return the database of a ``ddb_template`` fixture's value, the same every time."""
        kept = self._of_fixtures.get(id(value))
        if kept is None:
            kept = self._of_fixtures[id(value)] = (value, SeededDatabase.of(value))
        return kept[1]

    def get(
        self,
        base: SeededDatabase | None,
        tables: Any,
        seed: Any,
        *,
        start: float | None,
        region: str,
        settings: Settings | None,
    ) -> SeededDatabase | None:
        """Return the database of these tables and data, on top of another one if there is one."""
        if tables is None and seed is None:
            return base
        key = (id(base), _identity(tables), _identity(seed), start, region, settings)
        database = self._built.get(key)
        if database is None:
            database = self._built[key] = SeededDatabase(
                tables=tables, seed=seed, base=base, start=start, region=region, settings=settings
            )
        return database


def take_pace(emulator: Emulator, rate: float | None) -> None:
    """Let requests to an emulator of the test's own making arrive as those to a fixture's do."""
    if type(emulator.clock) is SystemClock and emulator.capacity == "observe":
        emulator.clock = pace = PacedClock(rate)
        for region in tables_by_region(emulator.snapshot()):
            account = emulator.account(region)
            with account.lock:
                account.follow(pace)


def _identity(value: Any) -> object:
    """Return a value that is equal for the same tables or data."""
    if value is None or isinstance(value, str | Path) or callable(value):
        return value
    return json.dumps(value, sort_keys=True, default=repr)


# Filling


def create_tables(emulator: Emulator, tables: Tables | None) -> None:
    """Create the tables of a file, CreateTable requests or a function, or of several of these.

    Raises:
        EmulatorError: a file cannot be read, or the service refuses a table.
    """
    if tables is None:
        return
    if callable(tables):
        tables(emulator)
    elif isinstance(tables, Mapping):
        _create(emulator, "", DeclaredTable(resource="", request=dict(tables)))
    elif not isinstance(tables, str | Path):
        for declaration in tables:
            create_tables(emulator, declaration)
    elif Path(tables).suffix == SNAPSHOT_SUFFIX:
        _load_snapshot(emulator, Path(tables))
    elif Path(tables).is_dir():
        emulator.import_exports(tables)
    else:
        for design in read_tables(tables):
            _create(emulator, f"{tables}: ", design)


def _create(emulator: Emulator, origin: str, design: DeclaredTable) -> None:
    request = design.request
    try:
        emulator.call("CreateTable", request)
        if design.ttl_attribute is not None:
            ttl = {"Enabled": True, "AttributeName": design.ttl_attribute}
            target = {"TableName": request["TableName"], "TimeToLiveSpecification": ttl}
            emulator.call("UpdateTimeToLive", target)
    except ApiError as error:
        name = request.get("TableName", "a table without a name")
        raise EmulatorError(f"{origin}{name}: {error.message}") from None


def _load_snapshot(emulator: Emulator, path: Path) -> None:
    """Load the file that ``Emulator.save`` wrote."""
    try:
        loaded = Emulator.load(path, clock=emulator.clock, settings=emulator.settings)
    except OSError as error:
        raise EmulatorError(f"{path}: {error.strerror}") from None
    emulator.restore(loaded.snapshot())


def fill(emulator: Emulator, seed: Seed | None) -> None:
    """Put the items of files or of a mapping into their tables, or call a function.

    Raises:
        EmulatorError: a line is no item, or its table is not known or not there.
    """
    if seed is None:
        return
    if callable(seed):
        seed(emulator)
    elif isinstance(seed, str | Path):
        _fill_from_files(emulator, Path(seed), None)
    elif isinstance(seed, list | tuple):
        for source in seed:
            fill(emulator, source)
    elif isinstance(seed, Mapping):
        for table, items in seed.items():
            if isinstance(items, str | Path):
                _fill_from_files(emulator, Path(items), table)
            else:
                table_of(emulator.account(), table)
                for item in items:
                    emulator.table(table).put_item(Item=item)


def _fill_from_files(emulator: Emulator, path: Path, table: str | None) -> None:
    if path.is_dir():
        emulator.import_exports(path, table)
        return
    try:
        emulator.import_items(table or _table_for(emulator, path), path)
    except OSError as error:
        raise EmulatorError(f"{path}: {error.strerror}") from None


def _table_for(emulator: Emulator, path: Path) -> str:
    """Return the table that a file is named for, or the only one there is."""
    names: list[str] = emulator.call("ListTables", {})["TableNames"]
    named = path.name.partition(".")[0]
    if named in names:
        return named
    if len(names) != 1:
        raise EmulatorError(WHICH_TABLE.format(path=path))
    return names[0]
