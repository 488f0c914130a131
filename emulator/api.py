"""The one way in, for every front end: ``Emulator.call("PutItem", {...}) -> {...}``."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from emulator import observe
from emulator.clock import NANOSECONDS, Clock, ManualClock, SystemClock
from emulator.engine import Account as Account  # for doors
from emulator.engine import (
    Accounts,
    CapacityMode,
    Events,
    Faults,
    Namespace,
    Network,
    Regions,
    RegionsNeeded,
    Snapshot,
    capture,
    reinstate,
)
from emulator.locks import holding
from emulator.operations import LongAnswer as LongAnswer  # for doors
from emulator.operations import find, serve
from emulator.service.errors import ApiError, EmulatorError
from emulator.settings import DEFAULT_SETTINGS, Settings

if TYPE_CHECKING:
    from emulator.capacity import InsightsReport, Metrics, Receipt, ScalingPolicy
    from emulator.clients import Client, Table
    from emulator.observe import Backlog, HotKey, Ledger, NamespaceView, PartitionView, Spending
    from emulator.operations.footprints import Footprint as Footprint  # for doors
    from emulator.persistence.export_folder import ExportedTable
    from emulator.streams import EventSource
    from emulator.streams.filters import Pattern
    from emulator.streams.handlers import Handler

_MODES = ("off", "observe", "enforce")
NOT_A_CLOCK: Final = "clock must be a clock, such as ManualClock(), not {value!r}"
SEVERAL_TABLES: Final = (
    "{folder} has exports of several tables ({names}): import it without naming a table"
)
NO_IMPORT: Final = "there is no import {arn!r}: pass the ImportArn that ImportTable returned"
NOT_A_SNAPSHOT: Final = (
    "restore() takes what snapshot() returned, not {value!r}; Emulator.load() reads a file"
)
PACED: Final = (
    'this emulator takes requests to arrive at a stated pace, which goes with capacity "observe" '
    'only: make it with capacity="enforce", or on another clock'
)


class ImportedTable(NamedTuple):
    """A table that was filled from exports.

    Attributes:
        name: Its name.
        items: How many items were put into it.
        deduced_key: The attributes of its key, if it was created with a key deduced from its items.
    """

    name: str
    items: int
    deduced_key: tuple[str, ...] | None


class Emulator:
    """An in-memory DynamoDB: one account, any number of regions.

    Args:
        clock: Where time comes from; real time by default, a ``ManualClock`` for virtual.
        capacity: ``"off"`` reports units and admits everything; ``"observe"`` also records
            what would have throttled; ``"enforce"`` refuses as the service would.
        region: The region of calls that name none.
        account_id: The account that owns every table.
        settings: The adjustable constants.

    >>> emu = Emulator()
    >>> emu.call("ListTables", {})
    {'TableNames': []}
    """

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        capacity: CapacityMode = "observe",
        region: str = "us-east-1",
        account_id: str = "000000000000",
        settings: Settings | None = None,
    ) -> None:
        _judge_mode(capacity)
        clock = SystemClock() if clock is None else clock
        _judge(clock, region)
        self.capacity: CapacityMode = capacity
        self.region = region
        self.account_id = account_id
        self.settings = DEFAULT_SETTINGS if settings is None else settings
        if self.settings.s3 is not None:
            from emulator.objects import check_place  # only for those who move files

            check_place(self.settings.s3)
        self.events = Events()
        self.faults = Faults()
        self._access_key: str | None = None
        self._is_narrowed = False
        self._event_sources: list[EventSource] = []
        self._network = Network(_regions)
        make = partial(
            Account,
            settings=self.settings,
            account_id=account_id,
            events=self.events,
            faults=self.faults,
        )
        self._accounts = Accounts(make, network=self._network, clock=clock, capacity=capacity)
        if isinstance(clock, ManualClock):
            clock.subscribe(self._accounts.reach_in_turns)

    def __repr__(self) -> str:
        account = self._accounts.find((self._access_key, self.region))
        tables = [] if account is None else sorted(account.tables)
        return f"Emulator(capacity={self.capacity!r}, region={self.region!r}, tables={tables})"

    @property
    def clock(self) -> Clock:
        """Where time comes from.

        >>> emu = Emulator(clock=ManualClock())
        >>> emu.clock.advance(60)
        """
        return self._accounts.clock

    @clock.setter
    def clock(self, clock: Clock) -> None:
        """Let accounts to come follow another clock; those that there are keep theirs."""
        self._accounts.clock = clock

    def call(
        self,
        operation: str,
        request: dict[str, Any],
        *,
        region: str | None = None,
        access_key: str | None = None,
    ) -> dict[str, Any]:
        """Serve one request in wire form.

        Args:
            operation: The operation's name, such as ``"PutItem"``.
            request: Its parameters; binary values are base64 text or bytes.
            region: The region, if not the emulator's own.
            access_key: The caller's key, if the data of different keys is kept apart; tables
                made without a key are visible to every key.

        Raises:
            ApiError: the error that the service would answer; nothing has changed then.

        >>> from emulator.strategies import create_request
        >>> emu = Emulator()
        >>> _ = emu.call("CreateTable", create_request("orders", "id"))
        >>> emu.call("PutItem", {"TableName": "orders", "Item": {"id": {"S": "o1"}}})
        {}
        >>> emu.call("GetItem", {"TableName": "orders", "Key": {"id": {"S": "o1"}}})
        {'Item': {'id': {'S': 'o1'}}}
        """
        answer = self.call_in_pieces(operation, request, region, access_key, is_patient=True)
        return answer.whole() if isinstance(answer, LongAnswer) else answer

    def call_in_pieces(
        self,
        operation: str,
        request: dict[str, Any],
        region: str | None = None,
        access_key: str | None = None,
        *,
        is_patient: bool = False,
    ) -> dict[str, Any]:
        """Serve one request as ``call`` does, for a server that has others to serve meanwhile.

        If the answer holds many items, it is a ``LongAnswer``: they are brought into wire form as
        they are taken from it, and everything else is done. If more items expire than can be
        deleted in a few milliseconds, the request does not wait for all of them, unless
        ``is_patient``; the server has the rest deleted with ``catch_up_in_turns``.

        >>> Emulator().call_in_pieces("ListTables", {})
        {'TableNames': []}
        """
        key, name = access_key or self._access_key, region or self.region
        account = self._accounts.find((key, name))
        if account is None:
            namespace = Namespace(key, name)
            return self._serve_first(namespace, operation, request, is_patient=is_patient)
        if self.faults.in_the_way:
            answer = self._strike(account, operation, request)
            if answer is not None:
                return answer
        if self._network.accounts:
            return self._serve_in_regions(account, operation, request)
        try:
            return serve(account, operation, request, is_patient=is_patient)
        except RegionsNeeded as needed:
            return self._serve_in_regions(account, operation, request, needed)

    def catch_up_in_turns(self) -> Iterator[None]:
        """Do what is due, and yield whenever other requests may be served.

        >>> list(Emulator().catch_up_in_turns())
        []
        """
        return self._accounts.reach_in_turns(self.clock.now_ns())

    def _serve_first(
        self, namespace: Namespace, operation: str, request: dict[str, Any], *, is_patient: bool
    ) -> dict[str, Any]:
        """Serve a namespace whose account is not kept yet."""
        if self.faults.in_the_way:
            answered = self._strike(self._accounts.meet(namespace), operation, request)
            if answered is not None:
                return answered
        answer = partial(serve, operation=operation, request=request, is_patient=is_patient)
        try:
            return self._accounts.serve(namespace, answer)
        except RegionsNeeded as error:
            needed = error
        answer = partial(
            self._serve_in_regions, operation=operation, request=request, needed=needed
        )
        if needed.if_known:
            return self._accounts.serve(namespace, answer)
        return answer(self._accounts.get(namespace))

    def _serve_in_regions(
        self,
        account: Account,
        operation: str,
        request: dict[str, Any],
        needed: RegionsNeeded | None = None,
    ) -> dict[str, Any]:
        """Serve where there are global tables, or an operation that acts in several regions."""
        from emulator import regions  # most emulators have no global table

        answer = partial(serve, operation=operation, request=request)
        return regions.serve(self._accounts, account, answer, needed)

    def _strike(
        self, account: Account, operation: str, request: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Ask what is in a request's way: an answer in place of the service's, or None.

        A delay does not block other calls.
        """
        gate = self.faults.gate
        answer = None if gate is None else gate(account, operation, request)
        if answer is not None:
            return answer
        try:
            self.faults.strike(account, operation, request)
        except ApiError as error:
            with account.lock:
                account.begin(operation, request)
                account.end(error.code)
            raise
        return None

    def account(self, region: str | None = None) -> Account:
        """Return the account in a region; each region has its own tables.

        >>> Emulator().account("eu-west-1").region
        'eu-west-1'
        """
        return self._accounts.get(Namespace(self._access_key, region or self.region))

    # What can be observed

    @property
    def metrics(self) -> Metrics:
        """The metrics that CloudWatch would show, by its own names, up to now.

        >>> Emulator().metrics.sum("UserErrors")
        0.0
        """
        return self._current().metrics

    def partitions(self, table: str, index: str | None = None) -> list[PartitionView]:
        """Return the live partitions of a table, or of one of its global indexes.

        Raises:
            EmulatorError: there is no such table or global index.

        >>> from emulator.strategies import create_request
        >>> emu = Emulator()
        >>> _ = emu.call("CreateTable", create_request("orders", "id"))
        >>> [partition.write_tokens for partition in emu.partitions("orders")]
        [1000.0, 1000.0, 1000.0, 1000.0]
        """
        account = self._current()
        with account.lock:
            return observe.partitions_of(account, table, index)

    def backlog(self, table: str, index: str) -> Backlog:
        """Return the backlog of a global index, its age, and when the index closes (CAP2-4).

        Raises:
            EmulatorError: there is no such table or global index.

        >>> from emulator.strategies import create_request
        >>> emu = Emulator()
        >>> request = create_request("orders", "id", indexes={"by_status": "status"})
        >>> _ = emu.call("CreateTable", request)
        >>> emu.backlog("orders", "by_status").units
        0.0
        """
        account = self._current()
        with account.lock:
            return observe.backlog_of(account, table, index)

    def insights(self, table: str, index: str | None = None) -> InsightsReport:
        """Return the most accessed and most throttled keys, heaviest first (CAP-804).

        >>> from emulator.strategies import create_request
        >>> emu = Emulator()
        >>> _ = emu.call("CreateTable", create_request("orders", "id"))
        >>> _ = emu.call("PutItem", {"TableName": "orders", "Item": {"id": {"S": "o1"}}})
        >>> emu.insights("orders").accessed_partition_keys[0].key
        ('o1',)
        """
        account = self._current()
        with account.lock:
            return observe.insights_of(observe.resource_of(account, table, index))

    def running_keys(self, table: str, index: str | None = None, *, most: int) -> list[HotKey]:
        """Return the heaviest partition keys of the running minute, heaviest first.

        Raises:
            EmulatorError: there is no such table or global index.

        >>> from emulator.strategies import create_request
        >>> emu = Emulator()
        >>> _ = emu.call("CreateTable", create_request("orders", "id"))
        >>> _ = emu.call("PutItem", {"TableName": "orders", "Item": {"id": {"S": "o1"}}})
        >>> [hot.key for hot in emu.running_keys("orders", most=3)]
        [('o1',)]
        """
        account = self._current()
        with account.lock:
            return observe.running_keys_of(observe.resource_of(account, table, index), most)

    def spending(self) -> list[Spending]:
        """Return the units, throttles and dollars of every table and global index so far.

        >>> Emulator().spending()
        []
        """
        from emulator.observe import spending_of  # loaded only by those who ask for it

        account = self._current()
        with account.lock:
            account.forget_deleted()
            return spending_of(account)

    def set_capacity(self, capacity: CapacityMode) -> None:
        """Switch to another capacity mode, in every region.

        Raises:
            ValueError: there is no such mode.
            EmulatorError: requests arrive at a stated pace, which works in "observe" only.

        >>> emu = Emulator()
        >>> emu.set_capacity("enforce")
        >>> emu.capacity
        'enforce'
        """
        _judge_mode(capacity)
        with self._all_accounts() as accounts:
            if capacity == "enforce" and any(account.pace for account in accounts):
                raise EmulatorError(PACED)
            self.capacity = capacity
            if not self._is_narrowed:
                self._accounts.capacity = capacity
            for account in accounts:
                account.reach(self.clock.now_ns())
                account.capacity = capacity

    @property
    def last_receipts(self) -> list[tuple[str, Receipt]]:
        """The receipts of the last call, as pairs of table name and receipt.

        >>> emu = Emulator()
        >>> _ = emu.call("ListTables", {})
        >>> emu.last_receipts
        []
        """
        return list(self.account().last_receipts)

    @property
    def last_receipt(self) -> Receipt:
        """The receipt of the last call, if it touched one table once.

        Raises:
            EmulatorError: it touched none, or several.

        >>> from emulator.strategies import create_request
        >>> emu = Emulator()
        >>> _ = emu.call("CreateTable", create_request("orders", "id"))
        >>> _ = emu.call("PutItem", {"TableName": "orders", "Item": {"id": {"S": "o1"}}})
        >>> emu.last_receipt.total
        1
        """
        receipts = self.last_receipts
        if len(receipts) != 1:
            raise EmulatorError(
                f"the last call has {len(receipts)} receipts: read emu.last_receipts instead"
            )
        return receipts[0][1]

    @contextmanager
    def budget(
        self,
        *,
        rcu: float | None = None,
        wcu: float | None = None,
        calls: int | None = None,
        usd: float | None = None,
        throttles: int | None = None,
        scans: int | None = None,
        filtered: int | None = None,
    ) -> Iterator[Ledger]:
        """Limit the consumption of a block of code, and yield its ledger.

        Args:
            rcu: Most read units, indexes included.
            wcu: Most write units, indexes included.
            calls: Most requests of every kind.
            usd: Most dollars for a million runs, on demand in tables of class Standard.
            throttles: Most item operations that were, or would have been, throttled.
            scans: Most pages of Scan.
            filtered: Most items read and thrown away by filters.

        Raises:
            BudgetExceeded: an AssertionError that lists the most expensive calls and their lines.

        >>> emu = Emulator()
        >>> with emu.budget(rcu=1, scans=0) as ledger:
        ...     _ = emu.call("ListTables", {})
        >>> ledger.calls
        1
        """
        from emulator.observe import Budget, Ledger  # loaded only by those who ask for one

        budget = Budget(
            rcu=rcu,
            wcu=wcu,
            calls=calls,
            usd=usd,
            throttles=throttles,
            scans=scans,
            filtered=filtered,
        )
        ledger = Ledger()
        leave = self.events.subscribe(ledger.hear)
        try:
            yield ledger
        finally:
            leave()
        budget.check(ledger)

    def auto_scale(
        self,
        table: str,
        index: str | None = None,
        *,
        read: ScalingPolicy | None = None,
        write: ScalingPolicy | None = None,
    ) -> None:
        """Put a provisioned table or global index under target tracking (CAP-901).

        An axis without a policy is left alone. DescribeTable shows what was scaled, and when.

        >>> from emulator.capacity import ScalingPolicy
        >>> from emulator.strategies import create_request
        >>> emu = Emulator()
        >>> _ = emu.call("CreateTable", create_request("orders", "id", provisioned=(5, 5)))
        >>> emu.auto_scale("orders", write=ScalingPolicy(minimum=5, maximum=100))
        """
        account = self._current()
        with account.lock:
            observe.resource_of(account, table, index).scale(read, write)

    def _current(self) -> Account:
        """Return the emulator's own region, with everything done that is due."""
        self._network.catch_up(self.clock.now_ns())
        account = self.account()
        account.reach(self.clock.now_ns())
        return account

    # Namespaces

    def namespaces(self) -> list[NamespaceView]:
        """Return the namespaces that hold data: the shared one, and those of access keys.

        >>> emu = Emulator()
        >>> emu.namespaces()
        []
        """
        with self._all_accounts() as accounts:
            for account in accounts:
                account.forget_deleted()
            return [observe.namespace_of(account) for account in accounts if not account.is_empty]

    def within(self, namespace: Namespace) -> Self:
        """Return a view of this emulator that shows and changes one namespace only.

        Clock, faults and events are those of the whole emulator.

        >>> emu = Emulator()
        >>> emu.within(emu.namespace._replace(region="eu-west-1")).region
        'eu-west-1'
        """
        narrowed = copy(self)
        narrowed._access_key, narrowed.region = namespace
        narrowed._is_narrowed = True
        return narrowed

    def forget_empty(self) -> None:
        """Drop the accounts of access keys that hold nothing any more; no answer changes.

        >>> Emulator().forget_empty()
        """
        self._accounts.forget_empty()

    @property
    def namespace(self) -> Namespace:
        """Where calls go that name neither key nor region.

        >>> Emulator(region="eu-west-1").namespace
        Namespace(access_key=None, region='eu-west-1')
        """
        return Namespace(self._access_key, self.region)

    # State

    def snapshot(self) -> Snapshot:
        """Return the present state, for ``restore``; the clock is not part of it.

        Costs microseconds, whatever the tables hold: both sides share items until one writes.

        >>> from emulator.strategies import create_request
        >>> emu = Emulator()
        >>> empty = emu.snapshot()
        >>> _ = emu.call("CreateTable", create_request("orders", "id"))
        >>> emu.restore(empty)
        >>> emu.call("ListTables", {})
        {'TableNames': []}
        """
        with self._all_accounts() as accounts:
            return Snapshot({account.namespace: capture(account) for account in accounts})

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot, of this emulator or of another.

        Counts (metrics, insights, receipts) start from zero.

        >>> filled, copied = Emulator(), Emulator()
        >>> copied.restore(filled.snapshot())
        """
        if not isinstance(snapshot, Snapshot):
            raise TypeError(NOT_A_SNAPSHOT.format(value=snapshot))
        for namespace in snapshot.states:
            if self._covers(namespace):
                self._accounts.get(namespace)
        with self._all_accounts() as accounts:
            for account in accounts:
                account.reach(self.clock.now_ns())
                state = snapshot.states.get(account.namespace)
                reinstate(account, state or capture(self._accounts.new(account.namespace)))
        self._accounts.forget_empty()

    @contextmanager
    def _all_accounts(self) -> Iterator[list[Account]]:
        """Hold every account that there is, and give them in the order they were met.

        An account that another thread creates meanwhile is empty, and need not be held.
        """
        accounts = [account for account in self._accounts if self._covers(account.namespace)]
        with holding(account.lock for account in accounts):
            yield accounts

    def _covers(self, namespace: Namespace) -> bool:
        """Return whether this emulator is narrowed to a namespace, or to none."""
        return not self._is_narrowed or namespace == (self._access_key, self.region)

    @contextmanager
    def trial(self, snapshot: Snapshot | None = None) -> Iterator[None]:
        """Let a block try something out on virtual time, and undo all of it afterwards.

        The block begins with the present contents, or with those of a snapshot. Contents, clock,
        fault rules, metrics and listeners are then as before: nothing that was done in the
        block is counted, and no time has passed.

        >>> from emulator.strategies import create_request
        >>> emu = Emulator()
        >>> with emu.trial():
        ...     _ = emu.call("CreateTable", create_request("orders", "id"))
        ...     emu.clock.advance(3600)
        >>> emu.call("ListTables", {})
        {'TableNames': []}
        """
        if snapshot is None:
            whole = copy(self)  # what belongs to other access keys is tried out with the rest
            whole._is_narrowed = False
            snapshot = whole.snapshot()
        clock, capacity = self.clock, self.capacity
        if not isinstance(clock, ManualClock):
            clock = ManualClock(Decimal(clock.now_ns()) / NANOSECONDS)  # type: ignore[arg-type]  # exact, and judged as a number there
        undo = [
            clock.set_aside(),
            self._network.set_aside(),
            self._accounts.set_aside(clock),
            self.events.set_aside(),
            self.faults.set_aside(),
            *(source.set_aside() for source in self._event_sources),
        ]
        clock.subscribe(self._accounts.reach_in_turns)
        try:
            for namespace, state in snapshot.states.items():
                reinstate(self._accounts.get(namespace), state)
            yield
        finally:
            for put_back in reversed(undo):
                put_back()
            self.capacity = capacity

    def reset(self) -> None:
        """Remove every table, stream and count, in every region.

        >>> emu = Emulator()
        >>> emu.reset()
        >>> emu.namespaces()
        []
        """
        self.restore(Snapshot({}))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write every table of every region to a file, whole or not at all.

        The file includes what time has made of them: partitions, tokens, splits that are
        decided, streams, what waits for indexes, backups. It does not include what was counted.

        Raises:
            OSError: there is no room, no folder or no permission; the old file is as it was.

        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     Emulator().save(f"{folder}/test-data.snapshot")
        ...     Emulator.load(f"{folder}/test-data.snapshot", region="eu-west-1")
        Emulator(capacity='observe', region='eu-west-1', tables=[])
        """
        from emulator.persistence import snapshot_file  # only for those who touch a disk

        with self._all_accounts() as accounts:
            now_ns = self.clock.now_ns()
            for account in accounts:
                account.reach(now_ns)
            snapshot_file.save(path, accounts)

    @classmethod
    def load(cls, path: str | os.PathLike[str], **options: Any) -> Self:
        """Return an emulator filled from a file; ``options`` are the arguments of the class.

        It continues where the saved one stopped: what has fallen due since, such as a split or
        the expiry of an item, happens with the first call. If its clock is behind the file's
        time, everything is moved back by whole minutes.

        Raises:
            EmulatorError: the file is damaged, foreign, of a later version, or does not hold
                together; it says where.
            OSError: the file cannot be read.

        >>> Emulator.load("no-such.snapshot")
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] No such file or directory: 'no-such.snapshot'
        """
        from emulator.persistence import snapshot_file  # only for those who touch a disk

        emulator = cls(**options)
        snapshot_file.load(path, emulator._accounts.get)
        return emulator

    def import_table(self, description: Mapping[str, Any]) -> dict[str, Any]:
        """Create a table from an answer of DescribeTable; returns CreateTable's answer.

        >>> from emulator.strategies import create_request
        >>> emu, copied = Emulator(), Emulator()
        >>> _ = emu.call("CreateTable", create_request("orders", "id"))
        >>> described = emu.call("DescribeTable", {"TableName": "orders"})
        >>> copied.import_table(described)["TableDescription"]["TableName"]
        'orders'
        """
        from emulator.persistence import exchange  # only for those who touch a disk

        return self.call("CreateTable", exchange.create_request(description))

    def import_items(self, table: str, path: str | os.PathLike[str]) -> int:
        """Put the items of a DynamoDB JSON lines file, all or none, free of charge.

        Raises:
            EmulatorError: there is no such table, or a line does not fit; file and line named.

        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from emulator.strategies import create_request
        >>> emu = Emulator()
        >>> _ = emu.call("CreateTable", create_request("orders", "id"))
        >>> with TemporaryDirectory() as folder:
        ...     _ = Path(folder, "orders.json").write_text('{"Item": {"id": {"S": "o1"}}}')
        ...     emu.import_items("orders", f"{folder}/orders.json")
        1
        """
        from emulator.persistence import exchange  # only for those who touch a disk

        account = self._current()
        with account.lock:
            return exchange.import_items(path, account, observe.table_of(account, table))

    def import_exports(
        self,
        folder: str | os.PathLike[str],
        table: str | None = None,
        *,
        missing_only: bool = False,
    ) -> list[ImportedTable]:
        """Fill tables from a folder of the service's exports, copied from S3 as it is.

        For each table, the last full export and the increments after it are used. A missing table
        is created from DescribeTable's answer, if a file beside the export has it, or with the
        only key that the items allow. Nothing is charged.

        Args:
            folder: The folder, or one above it.
            table: Put the items of the one exported table into this table, whatever its name.
            missing_only: Leave existing tables alone.

        Raises:
            EmulatorError: a file is missing or damaged, an item does not fit, or a key is not
                clear; the table concerned is as it was.

        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     Emulator().import_exports(folder)
        Traceback (most recent call last):
        emulator.service.errors.EmulatorError: ... holds no export of DynamoDB: ...
        """
        from emulator.persistence import export_folder  # only for those who touch a disk

        exports = export_folder.read_exports(folder)
        if table is not None:
            if len(exports) != 1:
                names = ", ".join(exported.name for exported in exports)
                raise EmulatorError(SEVERAL_TABLES.format(folder=folder, names=names))
            exports = [exports[0]._replace(name=table)]
        present = self._current().visible_tables() if missing_only else {}
        return [
            self._import_table(folder, exported)
            for exported in exports
            if exported.name not in present
        ]

    def _import_table(
        self, folder: str | os.PathLike[str], exported: ExportedTable
    ) -> ImportedTable:
        from emulator.persistence import export_folder

        account = self._current()
        is_new, is_deduced = exported.name not in account.visible_tables(), False
        if is_new:
            request, is_deduced = exported.request()
            try:
                self.call("CreateTable", request | {"TableName": exported.name})
            except ApiError as error:
                raise EmulatorError(f"{folder}: {exported.name}: {error.message}") from None
        with account.lock:
            target = observe.table_of(account, exported.name)
            try:
                count = export_folder.fill(folder, account, target, exported)
            except EmulatorError:
                if is_new:
                    del account.tables[exported.name]
                raise
            return ImportedTable(exported.name, count, target.key.names if is_deduced else None)

    def import_errors(self, import_arn: str) -> list[dict[str, Any]]:
        """Return why an import refused records, in the order of the objects.

        They are the messages that the service writes to the log group ``/aws-dynamodb/imports``:
        ``itemS3Pointer`` (bucket, key and number of the record), ``importArn`` and
        ``errorMessages`` (S3X-23).

        Raises:
            EmulatorError: there is no such import.

        >>> Emulator().import_errors("arn:aws:dynamodb:us-east-1:000000000000:table/t/import/1")
        Traceback (most recent call last):
        emulator.service.errors.EmulatorError: there is no import ...
        """
        self._current()
        for account in self._accounts:
            with account.lock:
                known = account.archive.imports.get(import_arn)
                if known is not None and account.namespace.access_key == self._access_key:
                    return [dict(error) for error in known.errors]
        raise EmulatorError(NO_IMPORT.format(arn=import_arn))

    def export_items(self, table: str, path: str | os.PathLike[str]) -> int:
        """Write the items of a table as DynamoDB JSON lines; returns how many.

        >>> from tempfile import TemporaryDirectory
        >>> from emulator.strategies import create_request
        >>> emu = Emulator()
        >>> _ = emu.call("CreateTable", create_request("orders", "id"))
        >>> with TemporaryDirectory() as folder:
        ...     emu.export_items("orders", f"{folder}/orders.json")
        0
        """
        from emulator.persistence import exchange  # only for those who touch a disk

        account = self._current()
        with account.lock:
            return exchange.export_items(path, observe.table_of(account, table))

    # Streams

    def event_source(
        self,
        table: str,
        handler: Handler | None = None,
        *,
        batch_size: int = 100,
        batch_window: int = 0,
        starting_position: str = "TRIM_HORIZON",
        filters: Iterable[Pattern] = (),
        parallelization_factor: int = 1,
        retries: int = -1,
        max_record_age: int = -1,
        bisect_on_error: bool = False,
        report_item_failures: bool = False,
        on_failure: Callable[[dict[str, Any]], object] | None = None,
        tumbling_window: int = 0,
        kinesis: Any = None,
        timeout: int = 3,
        activation_delay: float = 0.0,
        at_least_once: int | None = None,
    ) -> EventSource:
        """Deliver a table's stream to a handler, as Lambda's event source mapping does.

        On a ``ManualClock`` nothing runs by itself: ``drain``, and the clock's ``advance``,
        deliver. On real time a thread polls four times a second.

        Args:
            table: A table with a stream.
            handler: A callable of ``(event, context)``, sync or async, or where to import one from.
            batch_size: Most records in a batch; 1 to 10,000.
            batch_window: Seconds to wait for a full batch; up to 300.
            starting_position: ``"TRIM_HORIZON"``, or ``"LATEST"`` for what comes from now on.
            filters: Patterns as objects or JSON text, of which a record has to match one.
            parallelization_factor: Batches of a shard under way together; up to 10.
            retries: How often a batch that fails is sent again; -1 is without end.
            max_record_age: Seconds after which a record is given up; -1, or 60 to 604,800.
            bisect_on_error: Whether a batch that fails is halved.
            report_item_failures: Whether the answer's ``batchItemFailures`` count.
            on_failure: Takes the service's document about records that are given up.
            tumbling_window: Seconds over which the handler keeps a state; up to 900.
            kinesis: Instead of a handler, a callable of a record or a Kinesis client: the table's
                active Kinesis destinations get their records through it.
            timeout: Seconds that the handler may run; 1 to 900.
            activation_delay: Seconds until the source begins to read, which LATEST then misses.
            at_least_once: A seed: some batches are sent twice, as the service may.

        Raises:
            TypeError: the handler is not callable, there are two or none, or a setting is of the
                wrong type.
            ValueError: a setting is out of its range, or a filter is wrong.
            EmulatorError: there is no such table, it has no stream, or there is no such handler.

        >>> from emulator.strategies import create_request
        >>> emu = Emulator(clock=ManualClock())
        >>> stream = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
        >>> request = create_request("orders", "id") | {"StreamSpecification": stream}
        >>> _ = emu.call("CreateTable", request)
        >>> def handler(event, context):
        ...     print([record["eventName"] for record in event["Records"]])
        >>> with emu.event_source("orders", handler) as source:
        ...     _ = emu.table("orders").put_item(Item={"id": "o1"})
        ...     deliveries = source.drain()
        ['INSERT']
        >>> len(deliveries), source.metrics.polled
        (1, 1)
        """
        from emulator.streams.mapping import EventSourceMapping  # most emulators have none
        from emulator.streams.source import Consumer, EventSource

        mapping = EventSourceMapping(
            batch_size=batch_size,
            batch_window=batch_window,
            starting_position=starting_position,
            filters=tuple(filters),
            parallelization_factor=parallelization_factor,
            retries=retries,
            max_record_age=max_record_age,
            bisect_on_error=bisect_on_error,
            report_item_failures=report_item_failures,
            tumbling_window=tumbling_window,
            timeout=timeout,
            activation_delay=activation_delay,
            at_least_once=at_least_once,
        )
        consumer = Consumer(handler, kinesis, on_failure)
        readers = self._event_sources
        return EventSource(self.account, self.clock, table, consumer, mapping, readers)

    # Front ends that need nothing else

    def client(self, region: str | None = None) -> Client:
        """Return a client in boto3's shape; boto3 is not needed.

        >>> Emulator().client().list_tables()["TableNames"]
        []
        """
        from emulator.clients import Client  # loaded only by those who ask for one

        return Client(self.call, region=region or self.region, clock=self.clock)

    def table(self, name: str, region: str | None = None) -> Table:
        """Return a table in the shape of boto3's resource, with plain Python values.

        >>> from emulator.strategies import create_request
        >>> emu = Emulator()
        >>> _ = emu.call("CreateTable", create_request("orders", "id"))
        >>> orders = emu.table("orders")
        >>> _ = orders.put_item(Item={"id": "o1", "total": 3})
        >>> orders.get_item(Key={"id": "o1"})["Item"]["total"]
        Decimal('3')
        """
        from emulator.clients import Table  # loaded only by those who ask for one

        return Table(self.call, name, region=region or self.region, clock=self.clock)


def request_members(operation: str) -> Collection[str]:
    """Return the names of the members that a request of an operation may have.

    >>> "ReturnValues" in request_members("PutItem")
    True
    """
    return find(operation).shape.members


def footprint_of(account: Account, operation: str, request: dict[str, Any]) -> Footprint:
    """Return which items a request names, and whether it writes them."""
    from emulator.operations import footprints  # only for experiments

    return footprints.footprint_of(account, operation, request)


def _regions() -> Regions:
    """Return the room that decides about global tables; most emulators have none."""
    from emulator import regions

    return regions


def _judge_mode(capacity: object) -> None:
    if capacity not in _MODES:
        raise ValueError(f"capacity must be one of {', '.join(_MODES)}, not {capacity!r}")


def _judge(clock: object, region: object) -> None:
    if isinstance(clock, type) or not hasattr(clock, "now_ns"):
        raise TypeError(NOT_A_CLOCK.format(value=clock))
    if not isinstance(region, str):
        raise TypeError(f"region must be text, such as 'us-east-1', not {region!r}")
