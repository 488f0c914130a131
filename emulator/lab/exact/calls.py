"""Calls: how the requests of one pattern are carried out on the real engine.

They enter below the wire: no request dictionaries, no expression texts. Everything after that
is the emulator's own: planning, pricing, admission, storage, indexes, splits. A *work* is one
call's worth; trying it answers the reasons of its refusal, so ``()`` means done.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final, Protocol, TypeAlias

import numpy as np

from emulator.capacity import Charge, Meter, Reason, throttle_error
from emulator.capacity.traffic import WEIGHTS
from emulator.engine.propagation import IndexArm
from emulator.lab.inputs.key_templates import KeyTemplate, Renderer
from emulator.lab.outcome.run_log import PatternRecord, ResourceRecord, RunLog, key_text
from emulator.lab.planning.access_paths import AccessPath
from emulator.lab.planning.key_traits import fixed_parts
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.lab.planning.sampling import Drawer, Values
from emulator.service.errors import TransactionCanceledException
from emulator.storage import Position, key_position

Reasons: TypeAlias = tuple[Reason, ...]
Row: TypeAlias = tuple[str, ...]

#: Above every character of a key.
LAST: Final = "\U0010ffff"


class Work(Protocol):
    """One call's worth of a request, or one item of a batch."""

    def attempt(self, second: int, number: int) -> Reasons:
        """Try it in a second of the run, for the nth time; return why it was refused, if so."""

    @property
    def following(self) -> Work | None:
        """The call that comes next once this one is done, such as another page."""


class ExactContext:
    """The common ground of the runners of a run: the engine, the log, the values, the chances."""

    def __init__(self, emulator: RunEmulator, log: RunLog, seed: int) -> None:
        self.emulator = emulator
        self.account = emulator.account
        self.log = log
        self.layout = emulator.layout
        self.values = Values(emulator.layout.workload)
        self.seed = seed


class Runner(ABC):
    """Carries out the requests of one pattern."""

    #: Draws the rows of its requests.
    drawer: Drawer

    def __init__(self, context: ExactContext, path: AccessPath, rng: np.random.Generator) -> None:
        self.context = context
        self.path = path
        self.pattern = path.pattern
        self.rng = rng
        self.account = context.account
        self.table = context.emulator.table(path.table)
        log = context.log
        name = log.record_of(path.table, path.index).name
        self.record = log.patterns[self.pattern.name] = PatternRecord(self.pattern, name)
        self._codes: dict[Reasons, str] = {}
        self._tallies: dict[str, tuple[ResourceRecord, list[float], int]] = {}

    @abstractmethod
    def rows(self, count: int) -> list[Row]:
        """Draw the rows of the next requests, one for each item they are about."""

    @abstractmethod
    def works(self, rows: Sequence[Row], moments: Sequence[float]) -> Sequence[Sequence[Work]]:
        """Return the calls of each of the requests that arrive at these moments.

        They are made for a whole second at once, so what hangs on the items that there are is
        found by the first attempt.
        """

    def error_code(self, reasons: Reasons) -> str:
        """Return the error that a refusal is answered with (CAP-702)."""
        if self.pattern.is_transaction:
            return TransactionCanceledException.__name__
        code = self._codes.get(reasons)
        if code is None:
            on_demand = self.table.resource.throughput.on_demand
            code = self._codes[reasons] = throttle_error(reasons, on_demand=on_demand).code
        return code

    def offer(self, charges: Sequence[Charge]) -> None:
        """Record what a first attempt asks for, by resource, partition and key."""
        for meter, partition_id, axis, units, position, _ in charges:
            record, _, prefix_length = self._tallies.get(meter.arn) or self._tally(meter)
            record.offer(partition_id, axis, units)
            if position is not None:
                record.key(key_text(position, prefix_length)).offer(axis, units)

    def count(self, charge: Charge, second: int, number: int) -> None:
        """Record what passed with the nth attempt, by resource and key."""
        meter, partition_id, axis, units, position, _ = charge
        record, own, prefix_length = self._tallies.get(meter.arn) or self._tally(meter)
        record.consumed[axis][second] += units
        own[axis] += units
        weight = units * WEIGHTS[axis] if number == 1 else 0.0
        record.offered_now[partition_id] += weight
        if position is not None:
            text = position[1] if prefix_length == 2 else key_text(position, prefix_length)
            tally = record.named_keys.get(text) or record.key(text)
            tally.consumed += units
            tally.offered += weight

    def count_arms(self, arms: Sequence[IndexArm], number: int) -> None:
        """Record what accepted writes take of indexes, by key; the log hears when they do."""
        for arm in arms:
            for meter, _, axis, units, position, _ in arm.charges:
                record, own, prefix_length = self._tallies.get(meter.arn) or self._tally(meter)
                own[axis] += units
                assert position is not None, "a change of an index has a position"
                record.key(key_text(position, prefix_length)).consumed += units
            if number == 1:
                self.offer(arm.charges)

    def _tally(self, meter: Meter) -> tuple[ResourceRecord, list[float], int]:
        """Return where the units of a table or index are written down."""
        record = self.context.log.resources[meter.arn]
        own = self.record.units.setdefault(record.name, [0.0, 0.0])
        tally = self._tallies[meter.arn] = (record, own, meter.traffic.prefix_length)
        return tally

    def count_refused(
        self, charges: Sequence[Charge], reasons: Reasons, second: int, number: int
    ) -> None:
        """Record what was refused with the nth attempt, where a limit was short."""
        if number == 1:
            self.offer(charges)
        self.count_short(charges, reasons, second)

    def count_short(self, charges: Sequence[Charge], reasons: Reasons, second: int) -> None:
        """Record units that a limit was short of, where it was."""
        short = [reason.resource for reason in reasons]
        for meter, _, axis, units, position, _ in charges:
            arn = meter.arn
            if arn in short:
                record, _, prefix_length = self._tallies.get(arn) or self._tally(meter)
                record.throttled[axis][second] += units
                if position is not None:
                    text = position[1] if prefix_length == 2 else key_text(position, prefix_length)
                    (record.named_keys.get(text) or record.key(text)).throttled += units


class Finder:
    """Finds the item that a point operation is about.

    Where the sort key has a moment or a unique value of the item's own, it is the newest item
    of those that share what comes before.
    """

    def __init__(self, runner: Runner, path: AccessPath, columns: dict[str, int]) -> None:
        key = path.key
        self._salt = runner.table.settings.placement_salt
        self._store = runner.table.store
        self._partition = key.partition[0].bind(columns)
        self._sort = key.sort[0].bind(columns) if key.sort else None
        self._prefix: Renderer | None = None
        #: Whether the key is known whatever is stored.
        self.is_free = True
        if key.sort:
            parts, whole = fixed_parts(key.sort[0], runner.context.layout.workload)
            self.is_free = whole
            if not whole:
                self._prefix = KeyTemplate("", parts).bind(columns) if parts else _nothing

    def position(self, row: Row, moment: float) -> Position:
        """Return where the item lies, or would lie if there were one."""
        partition = self._partition(row, moment)
        prefix = key_position((partition,), salt=self._salt)
        if self._prefix is not None:
            known = self._prefix(row, moment)
            newest = next(
                self._store.walk((*prefix, known), (*prefix, known + LAST), reverse=True), None
            )
            if newest is not None:
                return newest[0]
        return prefix if self._sort is None else (*prefix, self._sort(row, moment))


def _nothing(_row: Sequence[str], _moment: float) -> str:
    return ""
