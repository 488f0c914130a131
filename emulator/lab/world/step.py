"""One second of the rows that need it: arrive, retry, admit, refuse, pay, queue, count.

Most calls meet buckets that surely have room, or surely have not; these pass in closed form
(``calm``). The others are played here second by second, those of all worlds at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from emulator.lab.inputs.distributions import Floats, Integers, sums
from emulator.lab.world.admission import (
    Admitted,
    AttemptRow,
    Batches,
    ByBucket,
    ByRow,
    ColumnRow,
    Rows,
    admit,
)
from emulator.lab.world.limits import WorldBucket
from emulator.lab.world.queues import IndexQueue, entering_of, seconds_ns
from emulator.lab.world.retries import RetryRow, RetryTimes, RowPolicies
from emulator.lab.world.rows import RowTable, WorldRow
from emulator.lab.world.state import State, Tally

SecondRow: TypeAlias = Annotated[Floats, "second", "row"]
Flags: TypeAlias = NDArray[np.bool_]

#: Worlds that need no more seconds go on playing until they are this part of all that play.
_FEW: Final = 4
#: Seconds that differ by less are alike.
_ALIKE: Final = 1e-5
_ROUNDING: Final = 1e-9
#: A second that refuses more calls than this is one with refusals.
_REFUSED: Final = 0.5
#: A bucket without a reserve that loses more than this part of its rate is not steady.
_SINKING: Final = 1e-3


class Watch(Protocol):
    """Sees what happens in the only world that is played."""

    def calm(self, first: int, last: int, accepted: WorldRow) -> None:
        """Note seconds that passed in closed form, with the calls of all of them."""

    def count(self, first: int, last: int, arrived: WorldRow) -> None:
        """Note the calls that came between two seconds."""

    def stretch(self, accepted: WorldRow, arrived: WorldRow) -> None:
        """Note the end of a stretch, with the calls of its rows."""

    def span(
        self,
        first: int,
        last: int,
        accepted: WorldRow,
        applied: WorldBucket,
        refused: ColumnRow,
        delayed: WorldBucket,
    ) -> None:
        """Note seconds that were alike, with what happened in one of them.

        Args:
            first: The first second.
            last: The second after the last.
            accepted: Calls.
            applied: Units that indexes took in.
            refused: Units refused, of all rows.
            delayed: Units that have to wait for an index.
        """


@dataclass(frozen=True)
class Clients:
    """The behaviour of clients, by pattern.

    Attributes:
        times: When refused calls come again.
        items: How many items a call of a client sends together.
        resent: Of the items of a batch that is done in part, the share sent again after a wait.
        restarted: The share sent again at once, by attempt.
    """

    times: Sequence[RetryTimes]
    items: Annotated[Floats, "pattern"]
    resent: Annotated[Floats, "pattern"]
    restarted: Annotated[Floats, "attempt", "pattern"]

    def batches(self, patterns: Integers) -> Batches | None:
        """Return how the batches of rows come, if any row has such."""
        if not (self.items[patterns] > 1).any():
            return None
        return Batches(self.items[patterns], self.resent[patterns], self.restarted[:, patterns])


@dataclass
class Part:
    """Which part of each world is played by the second, and why.

    Attributes:
        rows: The rows that are.
        until: The second at which it is to be decided again.
        is_whole: Whether they are all rows that meet a limit above partitions.
        is_settling: Whether they only wait for calls and debts to be gone.
        is_queueing: Whether indexes are played by the second, too.
        is_certain: Whether chance has no say, and all seconds ask for the same.
        is_coupled: Whether a limit was short of which not all rows were played.
        alike: How many of the last seconds were alike.
    """

    rows: Annotated[Flags, "world", "row"]
    until: Annotated[Integers, "world"]
    is_whole: Annotated[Flags, "world"]
    is_settling: Annotated[Flags, "world"]
    is_queueing: Annotated[Flags, "world"]
    is_certain: Annotated[Flags, "world"]
    is_coupled: Annotated[Flags, "world"]
    alike: Annotated[Integers, "world"]

    @classmethod
    def of(cls, worlds: int, rows: int) -> Part:
        """Return that nothing is played."""
        flags = (np.zeros(worlds, dtype=np.bool_) for _ in range(5))
        whole, settling, queueing, certain, coupled = flags
        none = np.zeros((worlds, rows), dtype=np.bool_)
        until, alike = np.zeros((2, worlds), dtype=np.int64)
        return cls(none, until, whole, settling, queueing, certain, coupled, alike)


@dataclass(frozen=True)
class _Second:
    """The calls and loads of a second.

    Attributes:
        arriving: New calls.
        accepted: Calls that passed.
        admitted: The outcome of attempts, if any was refused.
        loads: Units that calls and indexes took of each bucket.
        applied: Units that indexes took in.
        waits: By queue, the units that waited before.
    """

    arriving: ByRow
    accepted: ByRow
    admitted: Admitted | None
    loads: WorldBucket
    applied: WorldBucket
    waits: Sequence[Floats]


@dataclass
class _Sums:
    """The counts of rows since the tally last took them."""

    accepted: ByRow
    refused: AttemptRow
    retried: RetryRow
    begun_anew: AttemptRow
    first: ColumnRow
    hot: ColumnRow

    @classmethod
    def of(cls, attempts: int, columns: int, rows: int) -> _Sums:
        """Return sums of nothing."""
        return cls(
            np.zeros(rows),
            np.zeros((attempts, rows)),
            np.zeros((attempts - 1, rows)),
            np.zeros((attempts, rows)),
            np.zeros((columns, rows)),
            np.zeros((columns, rows)),
        )


class Busy:
    """Some rows of some worlds, second by second; each world is at a second of its own.

    Args:
        state: Where they begin, and what they leave behind.
        table: The rows of all patterns.
        tally: Where calls are counted.
        clients: The behaviour of clients.
        part: Which rows are played.
        worlds: The worlds.
        others: By these worlds and row, the calls of a second that are not played here.
        watch: Sees every second, if there is one world.
    """

    def __init__(
        self,
        state: State,
        table: RowTable,
        tally: Tally,
        clients: Clients,
        part: Part,
        worlds: Integers,
        others: WorldRow,
        watch: Watch | None = None,
    ) -> None:
        self._state, self._table, self._tally, self._part = state, table, tally, part
        self._worlds, self._others = worlds, others
        self._watch = watch
        self._rows = _rows_of(state, table, clients, part, worlds)
        self._policies = RowPolicies.of(clients.times, self._rows.patterns)
        self._shares = state.waiting.shares[:, self._rows.patterns]
        local, row = np.nonzero(part.rows[worlds])
        self._at = worlds[local] * table.shares.shape[1] + row
        #: Where the rows of a world and pattern begin; rows lie in their order.
        kinds = self._rows.worlds * len(table.patterns) + self._rows.patterns
        self._starts = np.flatnonzero(np.diff(kinds, prepend=-1))
        self._tokens = state.tokens.of_worlds(worlds)
        self._calm = table.loads(others, worlds, state.numbers.count)
        self._calm += entering_of(state.queues, state.numbers, others, table.shares, worlds)
        self._opened = state.opened[worlds]
        self._sums = _Sums.of(self._policies.attempts, len(self._rows.buckets), len(row))
        self._applied = np.zeros_like(self._calm)
        self._first_refusal = np.full(len(worlds), np.inf)
        self._last_refusal = np.full(len(worlds), -np.inf)
        self._last: _Second | None = None
        self._delayed = np.zeros((0, 0))

    # One second

    def play(self, arriving: SecondRow) -> None:
        """Play some seconds, or fewer if something is to be decided again.

        Args:
            arriving: New calls by row.
        """
        for calls in arriving:
            if not self._second(calls) or self._are_ready():
                return

    def _second(self, arriving: ByRow) -> bool:
        """Play a second; return whether the rows sufficed for it."""
        state, rows = self._state, self._rows
        seconds = state.now[self._worlds[rows.worlds]]
        room = self._tokens.available() - self._calm
        self._close_gates(room)
        due = state.waiting.take(self._at, seconds)
        calls = arriving + due.sum(axis=0)
        loads = rows.loads(calls, room.size).reshape(room.shape)
        short = loads > room
        admitted, accepted, attempted = None, calls, calls
        if short.any():
            limited = short[:, 1 : state.numbers.fixed].any(axis=1)
            coupled = self._worlds[limited & ~self._part.is_whole[self._worlds]]
            if len(coupled):
                self._part.is_coupled[coupled] = True
                self._part.until[coupled] = state.now[coupled]
                state.waiting.put_back(self._at, seconds, due)
                return False
            attempts = np.concatenate([arriving[None], due])
            admitted = self._admit(attempts, room.ravel(), short.ravel())
            self._refuse(admitted, attempts)
            accepted, attempted = admitted.accepted, admitted.by_number.sum(axis=0)
            loads = rows.loads(accepted, room.size).reshape(room.shape)
        self._pay(arriving, due, admitted)
        before = [queue.waits[self._worlds] for queue in state.queues]
        applied = self._queue(accepted, room - loads)
        loads += applied
        self._tokens.take(loads + self._calm)
        self._applied += applied
        self._sums.accepted += accepted
        self._note_attempts(attempted)
        self._last = _Second(arriving, accepted, admitted, loads, applied, before)
        if self._watch is not None:
            self._show(int(seconds[0]), int(seconds[0]) + 1)
        state.now[self._worlds] += 1
        return True

    def _admit(self, attempts: AttemptRow, room: ByBucket, short: Flags) -> Admitted:
        """Let pass what the buckets have."""
        quotas, rows = self._state.quotas, self._rows
        affordable: ByRow | float = 1.0
        if quotas.is_used:
            affordable = quotas.affordable(self._worlds[rows.worlds], rows.patterns)
        opened = self._opened.ravel()
        admitted, opened[:] = admit(rows, attempts, self._policies, affordable, room, opened, short)
        return admitted

    def _refuse(self, admitted: Admitted, attempts: AttemptRow) -> None:
        """Let the refused wait or give up, and count them."""
        self._count(admitted, attempts[0])
        waits = admitted.waiting(admitted.by_number, self._policies)
        seconds = self._state.now[self._worlds[self._rows.worlds]]
        self._state.waiting.put(self._at, seconds, self._shares, waits)

    def _count(self, admitted: Admitted, arriving: ByRow, seconds: ByRow | float = 1.0) -> None:
        """Count the refusals in seconds that are alike."""
        sums_, rows = self._sums, self._rows
        self._add(admitted, admitted.by_number, seconds)
        new = arriving * seconds
        sums_.first += new * rows.first_refusals(admitted.open_columns, admitted.passed)
        sums_.hot += rows.heat(new, admitted.open_columns)
        refused = np.bincount(rows.worlds, arriving * (1 - admitted.passed), len(self._worlds))
        is_first = (refused > _REFUSED) & np.isinf(self._first_refusal)
        now = self._state.now[self._worlds]
        self._first_refusal[is_first] = now[is_first]
        passed = np.zeros(len(now))
        np.maximum.at(passed, rows.worlds, np.broadcast_to(seconds, len(rows.worlds)))
        is_last = (refused > _REFUSED) & (passed > 0)
        self._last_refusal[is_last] = (now + passed)[is_last]

    def _add(self, admitted: Admitted, by_number: AttemptRow, seconds: ByRow | float) -> None:
        """Count some attempts in seconds that are alike."""
        sums_ = self._sums
        sums_.refused += by_number * (1 - admitted.passed) * seconds
        sums_.retried += admitted.retried(by_number, self._policies) * seconds
        anew = admitted.begun_anew(by_number, self._policies)
        if anew is not None:
            sums_.begun_anew += anew * seconds

    def _pay(
        self,
        first: ByRow,
        due: RetryRow,
        admitted: Admitted | None,
        seconds: Annotated[Integers, "world"] | None = None,
    ) -> None:
        """Pay for retries, and give back what answers give, in seconds that are alike."""
        if not self._state.quotas.is_used:
            return
        later = due.sum(axis=0)
        retried = wanted = np.zeros_like(first)
        if admitted is not None:
            answered = admitted.by_number * admitted.passed
            first, later = answered[0], answered[1:].sum(axis=0)
            retried = (admitted.by_number[:-1] * admitted.paid).sum(axis=0)
            wanted = (admitted.by_number[:-1] * admitted.wanted).sum(axis=0)
        amounts = [self._by_pattern(own[None])[0] for own in (retried, wanted, first, later)]
        amounts[2] = amounts[2] + self._table.by_pattern(self._others)
        self._state.quotas.settle(self._worlds, amounts, 1 if seconds is None else seconds)

    def _by_pattern(self, amounts: AttemptRow) -> Annotated[Floats, "attempt", "world", "pattern"]:
        """Return the sum over the rows of each world and pattern."""
        patterns = len(self._table.patterns)
        found = np.zeros((len(amounts), len(self._worlds) * patterns))
        kinds = self._rows.worlds * patterns + self._rows.patterns
        found[:, kinds[self._starts]] = np.add.reduceat(amounts, self._starts, axis=1)
        return found.reshape(len(amounts), len(self._worlds), patterns)

    # Indexes

    def _close_gates(self, room: WorldBucket) -> None:
        """Refuse all writes to tables of which an index is closed."""
        state = self._state
        for queue in state.queues:
            closed = np.flatnonzero(queue.is_closed[self._worlds])
            if len(closed):
                worlds = self._worlds[closed]
                queue.open_gates(worlds, seconds_ns(state.now[worlds]))
                gate = state.numbers.gates[queue.table]
                for local in closed[queue.is_closed[worlds]].tolist():
                    room[local, gate] = 0.0
                    self._rename(local, gate, int(queue.reason[self._worlds[local]]))

    def _rename(self, local: int, bucket: int, reason: int) -> None:
        """Let refusals of a bucket have another reason from now on."""
        if self._state.reasons[self._worlds[local], bucket] != reason:
            self._tell_reasons()
            self._state.reasons[self._worlds[local], bucket] = reason

    def _queue(self, accepted: ByRow, left: WorldBucket) -> WorldBucket:
        """Apply the writes that indexes can take in; return the units that each bucket gave."""
        applied = np.zeros_like(left)
        state, table = self._state, self._table
        local = np.flatnonzero(self._part.is_queueing[self._worlds])
        self._delayed = np.zeros((0, 0))
        if not len(local):
            return applied
        worlds = self._worlds[local]
        by_row = np.zeros((len(self._worlds), table.shares.shape[1]))
        by_row[self._part.rows[self._worlds]] = accepted
        ends = seconds_ns(state.now[worlds] + 1)
        self._delayed = np.zeros_like(left)
        for queue in state.queues:
            entering = np.zeros((len(worlds), queue.waits.shape[1]))
            for part in queue.entering:
                entering += part.of(by_row[local], table.shares, worlds)
            partitions, above = queue.buckets(state.numbers)
            limits = np.asarray(above, dtype=np.int64)
            passed, delayed, is_over = queue.let_pass(
                worlds, entering, left[local, partitions], left[np.ix_(local, limits)]
            )
            given = np.zeros_like(left)
            given[local, partitions] = passed
            given[np.ix_(local, limits)] = passed.sum(axis=1, keepdims=True)
            applied += given
            left -= given
            self._delayed[local, partitions] += delayed
            self._note_reasons(queue, worlds, is_over, left[local])
            queue.close(worlds, state.now[worlds], ends)
        return applied

    def _note_reasons(
        self, queue: IndexQueue, worlds: Integers, is_over: Flags, left: WorldBucket
    ) -> None:
        """Note why calls that wait for an index have to."""
        partitions, above = queue.buckets(self._state.numbers)
        for at in np.flatnonzero(queue.waits[worlds].any(axis=1)).tolist():
            short = partitions.start
            if is_over[at]:
                short = min(above, key=lambda bucket: left[at, bucket])
            queue.reason[worlds[at]] = self._state.reasons[worlds[at], short]

    # Deciding

    def _note_attempts(self, attempted: ByRow) -> None:
        """Note in which worlds this second was like the last."""
        lately, part = self._state.lately.attempted.reshape(-1), self._part
        differs = np.abs(attempted - lately[self._at]) > _ALIKE * attempted
        lately[self._at] = attempted
        part.alike[self._worlds] += part.is_certain[self._worlds]
        part.alike[self._worlds[np.unique(self._rows.worlds[differs])]] = 0

    def _is_steady(self) -> Annotated[Flags, "world"]:
        """Return in which of the worlds all seconds are like the last."""
        return np.asarray(self._part.alike[self._worlds] > self._state.waiting.longest)

    def _are_ready(self) -> bool:
        """Return whether enough of the worlds go on as they are, or have settled."""
        part, state, worlds = self._part, self._state, self._worlds
        settling = np.flatnonzero(part.is_settling[worlds])
        if len(settling):
            missing = self._tokens.rates - self._tokens.base
            owes = (missing[:, 1:] > 0).any(axis=1)
            width = self._table.shares.shape[1]
            for local in np.setdiff1d(settling, np.flatnonzero(owes)).tolist():
                world = int(worlds[local])
                is_open = not any(
                    queue.waits[world].any() or queue.is_closed[world] for queue in state.queues
                )
                own = slice(world * width, (world + 1) * width)
                if is_open and not state.waiting.is_waiting(own).any():
                    part.until[world] = state.now[world]
        is_ready = (part.until[worlds] <= state.now[worlds]) | self._is_steady()
        return bool(np.count_nonzero(is_ready) * _FEW >= len(worlds))

    def ahead(self, limit: Annotated[Integers, "world"]) -> Annotated[Integers, "world"]:
        """Return how many seconds of each world will be like the last, up to a limit."""
        if self._last is None:
            return np.zeros(len(self._worlds), dtype=np.int64)
        worlds, now = self._worlds, self._state.now[self._worlds]
        steady = self._is_steady() & (now < self._part.until[worlds])
        seconds = np.where(steady, limit - now, 0)
        seconds = self._shortened(seconds, self._change)
        self._part.alike[worlds[steady & (seconds < 1)]] = 0
        return seconds

    @property
    def _change(self) -> WorldBucket:
        """The units that each bucket gains in a second like the last; negative if it loses."""
        assert self._last is not None, "asked after a second"
        return self._tokens.rates - self._last.loads - self._calm

    def last_second(self) -> tuple[WorldRow, WorldBucket, WorldBucket]:
        """Return the calls accepted in the last second, what indexes took in, and heat refused."""
        last = self._last
        assert last is not None, "asked after a second"
        accepted, hot = self._others.copy(), np.zeros_like(self._calm)
        accepted[self._part.rows[self._worlds]] = last.accepted
        if last.admitted is not None:
            heat = self._rows.heat(last.arriving, last.admitted.open_columns)
            hot = sums(self._rows.flat, heat.ravel(), hot.size).reshape(hot.shape)
            hot[:, 0] = 0.0
        return accepted, last.applied, hot

    def leap(self, seconds: Annotated[Integers, "world"]) -> None:
        """Let seconds pass that are like the last, in closed form."""
        state, last, worlds = self._state, self._last, self._worlds
        assert last is not None, "asked after a second"
        change = self._change
        each = seconds[self._rows.worlds].astype(np.float64)
        if last.admitted is not None:
            self._count(last.admitted, last.arriving, each)
            self._pay(last.arriving, last.admitted.by_number[:-1], last.admitted, seconds)
        self._sums.accepted += last.accepted * each
        tokens, all_of = self._tokens, seconds[:, None]
        self._applied += last.applied * all_of
        held = np.clip(tokens.burst + change * all_of, 0.0, tokens.caps)
        tokens.burst = np.where((tokens.base >= tokens.rates) & (all_of > 0), held, tokens.burst)
        for queue, before in zip(state.queues, last.waits, strict=True):
            queue.waits[worlds] += (queue.waits[worlds] - before) * all_of
        width = self._table.shares.shape[1]
        for world, passed in zip(worlds.tolist(), seconds.tolist(), strict=True):
            if passed:
                state.waiting.turn(slice(world * width, (world + 1) * width), passed)
        if self._watch is not None:
            now = int(state.now[worlds[0]])
            self._show(now, now + int(seconds[0]))
        state.now[worlds] += seconds

    def _shortened(
        self, seconds: Annotated[Integers, "world"], change: WorldBucket
    ) -> Annotated[Integers, "world"]:
        """Return how far worlds may go before a reserve or a buffer is used up."""
        last, worlds, tokens = self._last, self._worlds, self._tokens
        assert last is not None, "asked after a second"
        sinking = (change < -_ROUNDING) & (tokens.burst > 0)
        lasts = np.full_like(change, np.inf)
        np.divide(tokens.burst, -change, out=lasts, where=sinking)
        # A reserve has just been used up: the seconds to come are not like the last.
        lasts[(change < -_SINKING * tokens.rates) & (tokens.burst <= 0)] = 0.0
        most = np.floor(lasts.min(axis=1)) - 1
        quotas = self._state.quotas
        drains = (quotas.change[worlds] < -_ROUNDING) & (quotas.tokens[worlds] > 0)
        lasts = np.full(len(worlds), np.inf)
        np.divide(quotas.tokens[worlds], -quotas.change[worlds], out=lasts, where=drains)
        most = np.minimum(most, np.floor(lasts) - 1)
        for queue, before in zip(self._state.queues, last.waits, strict=True):
            growth = (queue.waits[worlds] - before).sum(axis=1)
            room = (queue.buffers - queue.backlog)[worlds]
            lasts = np.full(len(worlds), np.inf)
            np.divide(room, growth, out=lasts, where=growth > _ROUNDING)
            lasts[(queue.waits[worlds] < before - _ROUNDING).any(axis=1)] = 0.0
            lasts[queue.is_closed[worlds]] = 0.0
            most = np.minimum(most, np.floor(lasts) - 1)
        return np.asarray(np.minimum(seconds, np.maximum(most, 0.0)), dtype=np.int64)

    # The end

    def leave(self) -> tuple[WorldRow, WorldBucket, WorldBucket]:
        """Hand everything back to the state, and what was counted to the tally.

        Returns:
            Calls accepted, by world and row; by world and bucket, what indexes took in, and what
            partitions refused.
        """
        state, tally, worlds, sums_ = self._state, self._tally, self._worlds, self._sums
        state.tokens.put_back(worlds, self._tokens)
        state.opened[worlds] = self._opened
        self._tell_reasons()
        for own, total in (
            (sums_.refused, tally.refused),
            (sums_.retried, tally.retried),
            (sums_.begun_anew, tally.begun_anew),
        ):
            if own.any():
                total[:, worlds] += self._by_pattern(own)
        tally.first_throttle[worlds] = np.minimum(tally.first_throttle[worlds], self._first_refusal)
        tally.last_throttle[worlds] = np.maximum(tally.last_throttle[worlds], self._last_refusal)
        hot = sums(self._rows.flat, sums_.hot.ravel(), self._calm.size).reshape(self._calm.shape)
        hot[:, 0] = 0.0
        lately = state.lately.hot.reshape(len(state.lately.hot), -1)
        lately[: len(sums_.hot), self._at] += sums_.hot
        accepted = np.zeros((len(worlds), self._table.shares.shape[1]))
        accepted[self._part.rows[worlds]] = sums_.accepted
        applied, self._applied = self._applied, np.zeros_like(self._applied)
        self._sums = _Sums.of(self._policies.attempts, *sums_.first.shape)
        return accepted, applied, hot

    def _tell_reasons(self) -> None:
        """Hand what was first refused on to the tally, under the reasons of now."""
        rows, sums_ = self._rows, self._sums
        if sums_.first.any():
            reasons = self._state.reasons[self._worlds].ravel()[rows.buckets]
            at = (self._worlds[rows.worlds], rows.patterns, reasons)
            np.add.at(self._tally.first_refused, at, sums_.first)
            sums_.first[:] = 0.0

    def _show(self, first: int, last: int) -> None:
        """Show seconds that were like the last one to the watch, of the only world."""
        assert self._watch is not None, "asked only where there is one"
        assert self._last is not None, "asked after a second"
        state, table, second = self._state, self._table, self._last
        state.tokens.put_back(self._worlds, self._tokens)
        own = self._part.rows[self._worlds]
        accepted, applied, _ = self.last_second()
        if not self._part.is_queueing[self._worlds].any():
            applied = entering_of(state.queues, state.numbers, accepted, table.shares, self._worlds)
        refused = np.zeros_like(table.buckets, dtype=np.float64)
        if second.admitted is not None:
            refused[:, own[0]] = refused_units(self._rows, second.admitted)
        delayed = self._delayed if self._delayed.size else np.zeros_like(applied)
        self._watch.span(first, last, accepted, applied, refused, delayed)


def _rows_of(state: State, table: RowTable, clients: Clients, part: Part, worlds: Integers) -> Rows:
    """Return the rows that are played in some worlds, in their order and by their numbers."""
    local, row = np.nonzero(part.rows[worlds])
    world, count = worlds[local], state.numbers.count
    met = table.buckets[:, row]
    patterns = table.pattern[row]
    models = [own.model for own in table.patterns]
    return Rows(
        worlds=local,
        patterns=patterns,
        shares=table.shares[world, row],
        actions=np.asarray([float(model.actions) for model in models])[patterns],
        patience=np.asarray([own.patience for own in table.patterns])[patterns],
        buckets=np.where(met > 0, local * count + met, 0),
        units=np.where(met > 0, table.units[:, world, row], 0.0),
        chance=table.chance[:, world, row],
        final=table.final[:, row],
        is_partition=table.is_partition[:, row],
        owners=table.owners[:, row],
        levels=np.tile(state.numbers.levels, len(worlds)),
        batches=clients.batches(patterns),
    )


def refused_units(rows: Rows, admitted: Admitted) -> ColumnRow:
    """Return the units of refused attempts by partition, if a limit of its resource was short.

    Of a gate that is closed they are calls.
    """
    total = admitted.by_number.sum(axis=0)
    is_gate = (rows.owners < 0) & (rows.buckets > 0)
    refused = np.where(is_gate, total * (1 - admitted.open_columns), 0.0)
    for column in range(len(rows.buckets)):
        own = np.flatnonzero(rows.is_partition[column])
        if len(own):
            is_same = rows.owners[:, own] == rows.owners[column, own]
            short = 1 - np.where(is_same, admitted.open_columns[:, own], 1.0).prod(axis=0)
            refused[column, own] = total[own] * short * rows.units[column, own]
    return refused
