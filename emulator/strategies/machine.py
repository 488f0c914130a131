"""A state machine for data-access code: tables, time, faults, a budget and an oracle.

A user's subclass adds rules that call the code under test. The base brings the emulator, lets
time pass and things fail, and asserts after every step that each index holds what its table
says, that no step costs more than its budget, and, if the subclass keeps ``expected``, that the
tables hold what it expects.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, ClassVar, Final

from hypothesis import strategies as st
from hypothesis.control import current_build_context
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from hypothesis.strategies import DataObject, SearchStrategy

from emulator.api import Emulator
from emulator.clients import Client, Table
from emulator.clock import ManualClock
from emulator.model.wire import dump_item, load_item
from emulator.observe import Budget, CapacityMode, FaultRule, Ledger, Snapshot, changed_tables
from emulator.settings import Settings
from emulator.strategies.oracle.tables import NaiveTable
from emulator.strategies.table_schema import Schema, TableSchema
from emulator.testing.seeded_databases import routed

#: The latest request after which a drawn order goes to another callable, or after which one dies.
MOST_SWITCHES: Final = 12
#: The longest that time passes in one step: beyond the burst that buckets keep.
MAX_SECONDS: Final = 400


class DynamoDBMachine(RuleBasedStateMachine):
    """Subclass it, declare ``tables``, and add rules that call the code under test.

    Attributes:
        tables: CreateTable requests or schemas of the tables that each run begins with.
        capacity: "off", "observe" or "enforce".
        settings: The adjustable constants, or None.
        faults: The kinds of faults that may occur; the rules must cope with them.
        budget: The limits of a single step, as in ``Emulator.budget``; None is no limit.
        routes_boto3: Whether boto3 is served by the emulator during a run.
        keeps_expected: Whether the rules keep ``expected`` in step with what they write.
        emu: The emulator, on a manual clock.
        expected: A naive table for every table, by name.

    >>> from hypothesis import settings
    >>> from hypothesis.stateful import rule
    >>> from emulator.strategies import create_request
    >>> class Orders(DynamoDBMachine):
    ...     tables = (create_request("orders", "id"),)
    ...
    ...     @rule()
    ...     def put(self):
    ...         self.emu.table("orders").put_item(Item={"id": "o1"})
    >>> TestOrders = Orders.TestCase  # pytest runs it
    """

    tables: ClassVar[Sequence[Schema]] = ()
    capacity: ClassVar[CapacityMode] = "observe"
    settings: ClassVar[Settings | None] = None
    faults: ClassVar[Sequence[str]] = ()
    budget: ClassVar[Mapping[str, float] | None] = None
    routes_boto3: ClassVar[bool] = True
    keeps_expected: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Report wrong faults and a wrong budget where the class is written, not in some run."""
        super().__init_subclass__(**kwargs)
        for kind in cls.faults:
            FaultRule(kind=kind)  # type: ignore[arg-type]  # judged there
        if cls.budget is not None:
            Budget(**cls.budget)  # type: ignore[arg-type]  # judged there

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock()
        self.emu = Emulator(clock=self.clock, capacity=self.capacity, settings=self.settings)
        self.expected: dict[str, NaiveTable] = {}
        #: What the tables held when they were last read, and the contents at the last step.
        self._held: dict[str, NaiveTable] = {}
        self._seen = Snapshot({})
        self._budget = None if self.budget is None else Budget(**self.budget)  # type: ignore[arg-type]  # judged by Budget
        self._ledger = Ledger()
        self._stack = ExitStack()
        if self.routes_boto3:
            self._stack.enter_context(routed(self.emu))
        for table in self.tables:
            self.create(table)
        if self._budget is not None:
            self._stack.callback(self.emu.events.subscribe(self._hear))

    def _hear(self, event: Any) -> None:
        self._ledger.hear(event)

    def _has_expectations(self) -> bool:
        tables = self.expected.values()
        return bool(tables) and (
            self.keeps_expected or any(table.schema.indexes for table in tables)
        )

    def teardown(self) -> None:
        """End the run."""
        self._stack.close()

    # What rules use

    def create(self, schema: Schema) -> TableSchema:
        """Create a table, and a naive one beside it in ``expected``."""
        table = TableSchema.of(schema)
        request = dict(schema) if isinstance(schema, Mapping) else table.create_request()
        self.emu.call("CreateTable", request)
        self.expected[table.name] = NaiveTable(table)
        return table

    @property
    def client(self) -> Client:
        """A client of boto3's shape that does not retry."""
        return self.emu.client()

    def table(self, name: str) -> Table:
        """Return a table of boto3's shape that takes natural values."""
        return self.emu.table(name)

    # Code that is not alone, and code that dies

    def interleaved(self, *calls: Callable[[], Any]) -> list[Any]:
        """Play functions at once, in an order of their requests that is drawn, and keep its state.

        Returns:
            What they returned.

        Raises:
            Exception: one of them raised it; the run is its note.
        """
        from emulator.testing.schedule import Switches, play_once  # only where it is asked for

        first = self._draw(st.integers(0, len(calls) - 1), "goes first")
        after = self._draw(st.lists(st.integers(1, MOST_SWITCHES), max_size=3), "switches after")
        return play_once(self.emu, calls, Switches(first, after)).results

    def interrupted(self, call: Callable[[], Any]) -> bool:
        """Play a function that may die at a request that is drawn, and keep what it leaves.

        Returns:
            Whether it died.

        Raises:
            Exception: the function raised it before it died; the run is its note.
        """
        from emulator.testing.schedule import Dies, ProcessDied, play_once

        served = self._draw(st.integers(0, MOST_SWITCHES), "requests before it dies")
        is_served = self._draw(st.booleans(), "the last one is served")
        [result] = play_once(self.emu, (call,), Dies(served, is_served=is_served)).results
        return isinstance(result, ProcessDied)

    def _draw(self, strategy: SearchStrategy[Any], label: str) -> Any:
        """Draw before anything is played: a thread of a callable must not draw."""
        return DataObject(current_build_context().data).draw(strategy, label=label)

    # Time and faults

    @rule(seconds=st.integers(0, MAX_SECONDS))
    def time_passes(self, seconds: int) -> None:
        """Let time pass: buckets refill, items expire, minutes end."""
        self.clock.advance(seconds)

    @precondition(lambda self: self.faults)
    @rule(data=st.data(), times=st.integers(1, 3))
    def a_fault_is_coming(self, data: st.DataObject, times: int) -> None:
        """Make the next requests fail."""
        kind = data.draw(st.sampled_from(list(self.faults)), label="kind")
        share = 0.5 if kind == "unprocessed" else 1.0
        self.emu.faults.add(kind=kind, times=times, latency=1.0, share=share)

    @precondition(lambda self: self.emu.faults.rules)
    @rule()
    def faults_are_over(self) -> None:
        """Let requests succeed again."""
        self.emu.faults.clear()

    # What holds after every step

    # Of a failing run hypothesis prints every invariant after every step, unless its precondition
    # does not hold.

    @precondition(lambda self: self._budget is not None)
    @invariant()
    def no_step_exceeds_its_budget(self) -> None:
        """Hold what the last step consumed against the budget."""
        ledger, self._ledger = self._ledger, Ledger()
        assert self._budget is not None  # by the precondition
        self._budget.check(ledger)

    @precondition(lambda self: self._has_expectations())
    @invariant()
    def tables_and_indexes_agree(self) -> None:
        """Compare every index with its table, and the tables with what is expected."""
        before, self._seen = self._seen, self.emu.snapshot()
        changed = changed_tables(before, self._seen, self.emu.region)
        if changed:
            copy = _settled_copy(self.emu, self._seen)
            for name in [name for name in self.expected if name in changed]:
                self._held[name] = _held(copy, self.expected[name].schema)
        if self.keeps_expected:
            for name, expected in self.expected.items():
                held = self._held.get(name)
                _assert_same(name, [] if held is None else held.read(), expected.read())


def _held(copy: Emulator, schema: TableSchema) -> NaiveTable:
    """Return the items of a table, after a comparison with each of its indexes."""
    held = NaiveTable(schema)
    for item in _scanned(copy, schema.name, None):
        held.items[held.key_of(item)] = item
    for index in schema.indexes:
        listed = _scanned(copy, schema.name, index.name)
        _assert_same(f"{schema.name}.{index.name}", listed, held.read(index.name))
    return held


def _settled_copy(emulator: Emulator, snapshot: Snapshot) -> Emulator:
    """Return a copy that costs nothing to read, at a time when no lag hides anything."""
    settings = emulator.settings
    later = emulator.clock.now() + max(settings.gsi_lag, settings.ec_lag)
    copy = Emulator(clock=ManualClock(math.ceil(later)), capacity="off", settings=settings)
    copy.restore(snapshot)
    return copy


def _scanned(emulator: Emulator, table: str, index: str | None) -> list[dict[str, Any]]:
    """Return everything in a table or index."""
    request: dict[str, Any] = {"TableName": table}
    if index is not None:
        request["IndexName"] = index
    items: list[dict[str, Any]] = []
    while True:
        page = emulator.call("Scan", request)
        items += [load_item(item).attributes for item in page["Items"]]
        if "LastEvaluatedKey" not in page:
            return items
        request["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def _assert_same(
    name: str, held: Sequence[Mapping[str, Any]], wanted: Sequence[Mapping[str, Any]]
) -> None:
    """Compare items, whatever their order."""
    shown, expected = (sorted(map(_canonical, items)) for items in (held, wanted))
    assert shown == expected, f"{name} holds {shown}, and {expected} is expected"


def _canonical(item: Mapping[str, Any]) -> str:
    return json.dumps(dump_item(item), sort_keys=True)
