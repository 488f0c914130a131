"""The run: worlds under one design, from event to event.

The same for all worlds are *stretches*: in one, keys and prices stay as they are. Within it each
world goes to its next event: a split, a minute, a change of a rate. Up to there most rows pass in
closed form (``calm``), the others by the second (``step``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Final, TypeAlias

import numpy as np

from emulator.capacity import READ, WRITE
from emulator.lab.inputs.distributions import Floats, Integers
from emulator.lab.outcome.run_log import MINUTE
from emulator.lab.outcome.world_outcome import WorldOutcome, make_outcome
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.lab.world.admission import ByBucket
from emulator.lab.world.arrivals import Arrivals
from emulator.lab.world.calm import Demand, decide, pass_reserves
from emulator.lab.world.families import Cut
from emulator.lab.world.limits import AXES, PLENTY, Numbers, Slots, Tokens, WorldBucket
from emulator.lab.world.minutes import PlayedWorld, Shown
from emulator.lab.world.plan import Plan
from emulator.lab.world.queues import IndexQueue, entering_of
from emulator.lab.world.retries import Quotas, retry_times
from emulator.lab.world.routing import Routing
from emulator.lab.world.rows import WorldRow
from emulator.lab.world.state import Flags, Lately, Minute, State, Tally, Waiting, WorldPattern
from emulator.lab.world.step import Busy, Clients, Part, SecondRow, Watch
from emulator.service.limits import PARTITION_UNITS

#: Called with the seconds done and the seconds in all.
Progress: TypeAlias = Callable[[int, int], None]

#: A stretch is no longer than this part of what the table has lived, in its first half hour and
#: later: prices follow what is stored. While they move by less than ``_STILL`` in a stretch, the
#: next one is twice as long, up to ``_LONGEST`` of what the table has lived.
_YOUNG: Final = 8
_OLD: Final = 32
_STILL: Final = 0.002
_LONGEST: Final = 6
#: Where no price follows what is stored, stretches are so long: partitions fill all the time.
_FIXED: Final = 300
#: Arrivals of rows are drawn for as many seconds as this at once, and those of all patterns.
_DRAWN: Final = 60
_MOST_DRAWN: Final = 40_000
#: Partitions that fill all the time are held against their size this often in a run.
_SIZE_CHECKS: Final = 500
_ROUNDING: Final = 1e-9


class Run:
    """Some worlds under one design.

    Args:
        plan: The part that is the same in all of them.
        worlds: The worlds, with their emulators.
        stop_over: End a world as soon as its refused first attempts surely exceed this share of
            all its calls.

    Attributes:
        state: The worlds.
        routing: Where requests go.
        tally: Where calls are counted.
        reason_names: The names of refusals, by number.
        clients: The behaviour of clients.
        watch: Sees everything that happens, if there is one world.
    """

    def __init__(
        self,
        plan: Plan,
        worlds: Sequence[PlayedWorld],
        stop_over: float | None = None,
    ) -> None:
        plan.begin(len(worlds))
        self.plan, self._worlds = plan, worlds
        self._stop_over = stop_over
        self.watch: Watch | None = None
        for number, world in enumerate(worlds):
            _load(plan, world)
            world.answer_for_accesses(partial(self._shown, number), number)
        self.reason_names: list[str] = []
        self.clients = _clients(plan)
        self.state = _new_state(plan, worlds, self.clients, self.reason_names)
        queued = [queue.resource for queue in self.state.queues]
        self.routing = Routing(plan, worlds, self.state, queued)
        rows = self.routing.table.shares.shape[1]
        self.state.waiting = Waiting(self.clients.times, len(worlds) * rows)
        self.tally = Tally.of(
            len(worlds),
            len(plan.models),
            self.state.waiting.retries + 1,
            len(self.reason_names),
            len(plan.context.resources),
        )
        requests = [plan.context.requests[model.pattern.name] for model in plan.models]
        self._arrivals = Arrivals(requests, [world.world.arrivals for world in worlds])
        self._course = _Course.of(len(worlds), rows)
        self._level: Floats = np.zeros(len(plan.models))
        self._length = 0
        self._outcomes: list[WorldOutcome | None] = [None] * len(worlds)

    @property
    def emulator(self) -> RunEmulator:
        """The emulator of the first world."""
        return self._worlds[0].emulator

    @property
    def _duration(self) -> int:
        return self.plan.workload.duration

    def play(self, progress: Progress | None = None) -> list[WorldOutcome]:
        """Play all worlds to the end, or until all have ended."""
        first = 0
        while first < self._duration:
            last = self._begin_stretch(first)
            self._pass(last)
            self._end_stretch(first, last)
            if progress is not None:
                progress(last, self._duration)
            if self._stop_over is not None and self._stop(self._stop_over):
                break
            first = last
        for number, world in enumerate(self._worlds):
            world.keep_accesses(partial(self._shown, number), number)
            world.leave()
        return [own or self._outcome(world) for world, own in enumerate(self._outcomes)]

    @property
    def _played(self) -> Integers:
        """The worlds that have not ended."""
        return np.asarray([at for at, own in enumerate(self._outcomes) if own is None], dtype=int)

    # Stretches

    def _begin_stretch(self, first: int) -> int:
        """Follow keys and prices; return when the stretch ends."""
        context, routing = self.plan.context, self.routing
        context.elapsed = context.until = float(first)
        if routing.keys_end(context.moment):
            for world in self._played.tolist():
                self._worlds[world].keep_accesses(partial(self._shown, world), world)
        routing.refresh()
        last = self._stretch_end(first)
        context.until = float(last)
        self._length = last - first
        self._arrivals.draw(first, last)
        self._course.begin(routing)
        return last

    def _stretch_end(self, first: int) -> int:
        """Return the end of a stretch in which no key and hardly any price changes."""
        workload = self.plan.workload
        age, now = first + workload.warm_up, workload.start + first
        models = self.plan.models
        ends = [self._duration]
        ends.append(first + _MOST_DRAWN // len(models))
        if first < self._duration - MINUTE:
            ends.append(self._duration - MINUTE)
        for step, is_read in self.routing.steps():
            ends.append(first + max(1, int(step - now % step)))
            if is_read:
                age = min(age, int(now % step))
        old = max(1, age // _OLD)
        if old < MINUTE:
            old = min(MINUTE - first % MINUTE, max(1, age // _YOUNG))
        length = max(old, min(2 * self._still(), age // _LONGEST))
        if all(model.is_fixed for model in models):
            length = max(length, _FIXED, self._duration // _SIZE_CHECKS)
        ends.append(first + length)
        ends += [int(np.ceil(model.until)) for model in models if model.until < np.inf]
        return max(first + 1, min(ends))

    def _still(self) -> int:
        """Return how long prices have been still: the last stretch, or 0 if they moved in it."""
        before, self._level = self._level, self.routing.levels()
        moved = np.abs(self._level - before) > _STILL * self._level
        return 0 if moved.any() else self._length

    def _end_stretch(self, first: int, last: int) -> None:
        """Store what was written, and hold partitions against their size."""
        course, routing = self._course, self.routing
        self._collect(np.arange(len(self._worlds)))
        for number, model in enumerate(self.plan.models):
            if model.pattern.is_write:
                requests = self.plan.context.requests[model.pattern.name].expected(first, last)
                routing.absorb(number, course.written[number], requests)
        for held in self.plan.context.every():
            held.settle()
        if last == self._duration - min(MINUTE, self._duration - 1):
            for queue in self.state.queues:
                queue.mark()
        every_so_often = max(MINUTE, self._duration // _SIZE_CHECKS)
        if last // every_so_often > first // every_so_often or last == self._duration:
            self._check_sizes()

    def _check_sizes(self) -> None:
        """Report what partitions hold, and follow the splits of those that hold too much."""
        for world in self._played.tolist():
            own = self._worlds[world]
            for resource in range(len(self.plan.context.resources)):
                if own.may_be_full(resource, self.routing.held(resource, world)):
                    self.routing.report_contents(resource, world)
            if own.has_changed:
                self._follow([world])

    def _collect(self, worlds: Integers) -> None:
        """Note under which keys calls were accepted, before these lie elsewhere."""
        course = self._course
        for number, model in enumerate(self.plan.models):
            if model.pattern.is_write:
                own = self.routing.accepted_by_column(number, course.unwritten[worlds], worlds)
                course.written[number][worlds] += own
        course.unwritten[worlds] = 0.0
        if self.watch is not None:
            self.watch.stretch(course.accepted, course.arrived)
            course.accepted[:] = course.arrived[:] = 0.0

    # Worlds within a stretch

    def _pass(self, end: int) -> None:
        """Let all worlds reach the end of a stretch, each at its own pace."""
        now, part, worlds = self.state.now, self._course.part, self._played
        self._decide(worlds, end)
        while len(worlds):
            is_busy = part.rows[worlds].any(axis=1)
            if not is_busy.all():
                self._pass_calm(worlds[~is_busy])
            if is_busy.any():
                self._play_seconds(worlds[is_busy])
            due = worlds[part.until[worlds] <= now[worlds]]
            self._do_what_is_due(due)
            self._decide(due[now[due] < end], end)
            worlds = worlds[now[worlds] < end]

    def _decide(self, worlds: Integers, end: int) -> None:
        """Decide how far worlds go, and which of their rows are played by the second."""
        if not len(worlds):
            return
        state, course, part = self.state, self._course, self._course.part
        now = state.now[worlds]
        course.limit[worlds] = np.minimum(self._breaks(now), end)
        until = np.minimum(course.limit[worlds], course.split_due[worlds]).astype(np.int64)
        part.until[worlds] = until
        demand, is_constant = self._demand(worlds)
        is_tight = (demand.most + demand.margin > state.tokens.rates[worlds]).any(axis=1)
        if (is_tight & ~is_constant).any():
            shorter = np.where(is_tight & ~is_constant, (now // MINUTE + 1) * MINUTE, until)
            part.until[worlds] = np.minimum(until, shorter)
            demand, is_constant = self._demand(worlds)
        self._wake(worlds, demand)
        decide(part, state, self.routing.table, demand, worlds, is_constant)
        if not self._arrivals.is_even.all():
            course.limit[worlds] = part.until[worlds]
        self._note_rows_coming(worlds)

    def _breaks(self, now: Annotated[Integers, "world"]) -> Annotated[Floats, "world"]:
        """Return the next second at which a rate becomes another, as far as rates do so rarely."""
        own = self.plan.context.requests.values()
        return np.asarray(np.min([requests.next_breaks(now) for requests in own], axis=0))

    def _demand(self, worlds: Integers) -> tuple[Demand, Annotated[Flags, "world"]]:
        """Return the demand of worlds up to where they go, and in which it is constant."""
        first, last = self.state.now[worlds], self._course.part.until[worlds]
        requests = self.plan.context.requests
        spans = [requests[model.pattern.name].most(first, last) for model in self.plan.models]
        most, mean = (np.stack(own, axis=1) for own in zip(*spans, strict=True))
        is_constant = (most == mean).all(axis=1)
        even = self._arrivals.is_even
        whole = np.where(even & (most % 1 > 0), np.ceil(most), most)
        return Demand.of(self.routing.loads, worlds, whole, mean, even), is_constant

    def _wake(self, worlds: Integers, demand: Demand) -> None:
        """Let worlds go no further than to a minute that changes something."""
        course = self._course
        uses = [
            demand.most[:, self.state.numbers.partitions(resource, axis)].max(axis=1)
            / PARTITION_UNITS[axis]
            for resource in range(len(self.state.numbers.rooms))
            for axis in AXES
        ]
        hottest = np.max(uses, axis=0)
        for at, world in enumerate(worlds.tolist()):
            own = self._worlds[world]
            is_cool = own.is_fixed and hottest[at] < own.hot_from and not course.is_restless[world]
            course.is_awake[world] = not (is_cool or self._sleeps(world, demand.most[at]))
        awake = worlds[course.is_awake[worlds]]
        minutes = (self.state.now[awake] // MINUTE + 1) * MINUTE
        course.part.until[awake] = np.minimum(course.part.until[awake], minutes)

    def _sleeps(self, world: int, demand: ByBucket) -> bool:
        """Return whether minutes with such seconds change nothing in the emulator of a world."""
        numbers, played = self.state.numbers, self._worlds[world]
        uses, rates = [], []
        for resource in range(len(numbers.rooms)):
            read, write = (demand[numbers.partitions(resource, axis)] for axis in AXES)
            uses.append(np.maximum(read / PARTITION_UNITS[READ], write / PARTITION_UNITS[WRITE]))
            rates.append((float(read.sum()), float(write.sum())))
        return played.sleeps(uses, rates, [slots.ids(world) for slots in self.state.slots])

    def _note_rows_coming(self, worlds: Integers) -> None:
        """Note the calls that come of the rows of worlds that are played by the second."""
        state, table, course = self.state, self.routing.table, self._course
        part = course.part
        busy = worlds[part.rows[worlds].any(axis=1)]
        sure = busy[part.is_certain[busy]]
        means = self._arrivals.mean(sure, state.now[sure], part.until[sure])
        calls = means[:, table.pattern] * table.shares[sure] * table.calls[sure]
        for world, own in zip(sure.tolist(), calls, strict=True):
            rows = np.flatnonzero(part.rows[world])
            course.coming[world] = _Coming(int(state.now[world]), rows, own[None, rows])
        for world in busy[~part.is_certain[busy]].tolist():
            course.coming[world] = self._rows_drawn(world)

    def _rows_drawn(self, world: int) -> _Coming:
        """Return the calls of the rows of a world that chance has a say in."""
        table, part = self.routing.table, self._course.part
        first, rows = int(self.state.now[world]), np.flatnonzero(part.rows[world])
        part.until[world] = min(part.until[world], first + _DRAWN)
        last = int(part.until[world])
        calls = np.zeros((last - first, len(rows)))
        for number in range(len(table.patterns)):
            chosen = np.flatnonzero(table.pattern[rows] == number)
            if len(chosen):
                calls[:, chosen] = self._drawn(world, number, rows[chosen], first, last)
        return _Coming(first, rows, calls * table.calls[world, rows])

    def _drawn(self, world: int, number: int, rows: Integers, first: int, last: int) -> SecondRow:
        """Return the requests of a pattern that fall on some rows of a world in some seconds."""
        table = self.routing.table
        own = table.patterns[number]
        recording = self.routing.recording(number)
        if recording is not None:
            by_row = recording.counts(first, last, len(own.model.placements[0].cells))
            return np.asarray(by_row @ self.routing.rows_of_cells(number, world))[
                :, rows - own.first
            ]
        counts, shares = (
            self._arrivals.counts(world, number, first, last),
            table.shares[world, rows],
        )
        if own.model.placements and own.model.placements[0].cells.steady:
            return np.outer(counts, shares)
        return self._arrivals.among(world, number, counts, shares)

    def _pass_calm(self, worlds: Integers) -> None:
        """Let worlds pass to where they go in closed form."""
        state, table = self.state, self.routing.table
        first, last = state.now[worlds].copy(), self._course.part.until[worlds].copy()
        requests = self._arrivals.total(worlds, first, last)
        calls = self._scattered(worlds, requests) * table.calls[worlds]
        state.now[worlds] = last
        loads, consumed = self._flow(worlds, calls, None)
        pass_reserves(state, worlds, last - first, loads)
        if self.watch is not None:
            self.watch.calm(int(first[0]), int(last[0]), calls)
        self._account(worlds, first, requests, calls, calls, consumed, loads)
        if state.quotas.is_used:
            state.quotas.calm(worlds, table.by_pattern(calls))

    def _scattered(self, worlds: Integers, requests: WorldPattern) -> WorldRow:
        """Return how many of some requests fall on each row, with chance as it adds up."""
        table = self.routing.table
        shares = table.shares[worlds]
        counts = requests[:, table.pattern]
        is_steady = np.asarray(
            [
                bool(own.model.placements) and own.model.placements[0].cells.steady
                for own in table.patterns
            ]
        )
        spread = np.sqrt(counts * shares) * self._arrivals.noise(worlds, shares.shape[1])
        for own in table.patterns:
            spread[:, own.all] -= shares[:, own.all] * spread[:, own.all].sum(axis=1, keepdims=True)
        spread[:, is_steady[table.pattern]] = 0.0
        found = np.maximum(counts * shares + spread, 0.0)
        for own in table.patterns:
            total = found[:, own.all].sum(axis=1, keepdims=True)
            wanted = (counts * shares)[:, own.all].sum(axis=1, keepdims=True)
            np.multiply(
                found[:, own.all],
                np.divide(wanted, total, out=np.zeros_like(total), where=total > 0),
                out=found[:, own.all],
            )
        return found

    def _play_seconds(self, worlds: Integers) -> None:
        """Play seconds of rows that need it, up to where one of the worlds goes."""
        state, course, table, part = self.state, self._course, self.routing.table, self._course.part
        first, until = state.now[worlds].copy(), part.until[worlds]
        seconds = int((until - first).min())
        coming = [course.coming[world] for world in worlds.tolist()]
        means = self._arrivals.mean(worlds, first, until)
        others = np.where(part.rows[worlds], 0.0, table.shares[worlds] * table.calls[worlds])
        busy = Busy(
            state,
            table,
            self.tally,
            self.clients,
            part,
            worlds,
            others * means[:, table.pattern],
            self.watch,
        )
        arriving = [own.of(now, seconds) for own, now in zip(coming, first.tolist(), strict=True)]
        busy.play(np.concatenate(arriving, axis=1))
        self._book(busy, worlds, first, others, coming)
        first = state.now[worlds].copy()
        self._leap(busy, worlds)
        if (first < state.now[worlds]).any():
            self._book(busy, worlds, first, others, coming)

    def _book(
        self,
        busy: Busy,
        worlds: Integers,
        first: Integers,
        others: WorldRow,
        coming: Sequence[_Coming],
    ) -> None:
        """Count the calls of worlds that were played by the second.

        Args:
            busy: The seconds played.
            worlds: The worlds.
            first: By world, the second since which nothing was counted.
            others: By world and row, the calls of a request that were not played.
            coming: By world, the calls of those that were.
        """
        last = self.state.now[worlds]
        accepted, applied, hot = busy.leave()
        requests = self._arrivals.total(worlds, first, last)
        calm = others * requests[:, self.routing.table.pattern]
        arrived = calm.copy()
        for at, own in enumerate(coming):
            arrived[at, own.rows] += own.total(int(first[at]), int(last[at]))
        accepted += calm
        loads, consumed = self._flow(worlds, accepted, applied)
        self._account(worlds, first, requests, arrived, accepted, consumed, loads + hot)

    def _leap(self, busy: Busy, worlds: Integers) -> None:
        """Pass on, in closed form, the worlds in which all seconds are like the last."""
        state, course = self.state, self._course
        seconds = busy.ahead(course.limit[worlds])
        if not seconds.any():
            return
        accepted, applied, hot = busy.last_second()
        loads, consumed = self._flow(worlds, accepted, applied)
        for at in np.flatnonzero(seconds).tolist():
            world = int(worlds[at])
            end = int(state.now[world] + seconds[at])
            reached = self._live_on(world, end, loads[at] + hot[at], consumed[at])
            seconds[at], course.part.until[world] = reached - state.now[world], reached
        busy.leap(seconds)

    def _flow(
        self, worlds: Integers, accepted: WorldRow, applied: WorldBucket | None
    ) -> tuple[WorldBucket, WorldBucket]:
        """Return the units that accepted calls take of each bucket, and those that are metered.

        Args:
            worlds: The worlds.
            accepted: Calls.
            applied: Units that indexes took in, if they are played by the second.
        """
        table, count = self.routing.table, self.state.numbers.count
        aside = self.entering(accepted, worlds)
        if applied is not None:
            aside = np.where(self._course.part.is_queueing[worlds, None], applied, aside)
        loads = table.loads(accepted, worlds, count) + aside
        return loads, table.metered(accepted, worlds, count) + aside

    def entering(self, accepted: WorldRow, worlds: Integers) -> WorldBucket:
        """Return the units that accepted calls bring to the buckets of indexes with a queue."""
        state = self.state
        return entering_of(state.queues, state.numbers, accepted, self.routing.table.shares, worlds)

    def _account(
        self,
        worlds: Integers,
        first: Integers,
        requests: WorldPattern,
        arrived: WorldRow,
        accepted: WorldRow,
        consumed: WorldBucket,
        demand: WorldBucket,
    ) -> None:
        """Count the calls of worlds since a second.

        Args:
            worlds: The worlds.
            first: By world, the second.
            requests: Requests that came.
            arrived: Calls that came.
            accepted: Calls that passed.
            consumed: Units that each bucket gave, as it is metered.
            demand: Units that reached it.
        """
        state, tally, course, table = self.state, self.tally, self._course, self.routing.table
        now, numbers = state.now[worlds], state.numbers
        tally.requests[worlds] += requests
        tally.arrived[worlds] += table.by_pattern(arrived)
        for resource in range(len(numbers.rooms)):
            for axis in AXES:
                own = consumed[:, numbers.partitions(resource, axis)]
                tally.units[worlds, resource, axis] += own.sum(axis=1)
        # Of more than a minute the running one is a part.
        begun = (now - 1) // MINUTE * MINUTE
        part = np.minimum((now - begun) / np.maximum(now - first, 1), 1.0)[:, None]
        state.minute.begin(worlds[first < begun])
        state.minute.demand[worlds] += demand * part
        state.minute.consumed[worlds] += consumed * part
        state.lately.fade(worlds, now // MINUTE - first // MINUTE)
        state.lately.accepted[worlds] += accepted * part
        course.unwritten[worlds] += accepted
        if self.watch is not None and now[0] > first[0]:
            course.accepted[worlds] += accepted
            course.arrived[worlds] += arrived
            self.watch.count(int(first[0]), int(now[0]), arrived)

    # What is due

    def _do_what_is_due(self, worlds: Integers) -> None:
        """Close the minute of worlds, split their partitions, and follow what came of it."""
        course, now = self._course, self.state.now
        ends = worlds[(now[worlds] % MINUTE == 0) | (now[worlds] == self._duration)]
        for world in ends[course.is_awake[ends] & (course.told[ends] < now[ends])].tolist():
            self._close_minute(world, int(now[world]), self.state.minute, world)
        self.state.minute.begin(ends)
        for world in worlds[course.split_due[worlds] <= now[worlds]].tolist():
            self._worlds[world].advance(int(now[world]))
            course.split_due[world] = self._worlds[world].split_due
        self._follow([world for world in worlds.tolist() if self._worlds[world].has_changed])

    def _close_minute(self, world: int, now: int, minute: Minute, row: int) -> None:
        """Tell the emulator of a world of the minute that ends, of which a row has the figures."""
        own, numbers, course = self._worlds[world], self.state.numbers, self._course
        own.advance((now - 1) // MINUTE * MINUTE)
        buckets = [
            numbers.partitions(resource, axis)
            for resource in range(len(numbers.rooms))
            for axis in AXES
        ]
        ids = [slots.ids(world) for slots in self.state.slots]
        own.report_minute(row, minute, ids, buckets)
        own.advance(now)
        course.told[world] = now
        course.split_due[world] = own.split_due
        course.is_restless[world] = any(one.heat.has_streaks for one in own.resources)

    def _live_on(self, world: int, end: int, demand: ByBucket, consumed: ByBucket) -> int:
        """Let the emulator of a world live on seconds that are alike, until something changes.

        Args:
            world: The world.
            end: At most up to this second.
            demand: Units that reach each bucket in a second.
            consumed: Units that each gives.

        Returns:
            The second in which something has changed, or ``end``.
        """
        state, course, own = self.state, self._course, self._worlds[world]
        moment, minute = int(state.now[world]), state.minute
        figures = Minute(minute.demand[[world]], minute.consumed[[world]])
        while True:
            begin, ends = moment, (moment // MINUTE + 1) * MINUTE
            is_awake = bool(course.is_awake[world])
            moment = int(min(ends if is_awake else end, course.split_due[world], end))
            if moment >= end:
                return end
            running = (moment - 1) // MINUTE * MINUTE
            if begin <= running:
                figures.begin(0)
            figures.demand += demand * (moment - max(begin, running))
            figures.consumed += consumed * (moment - max(begin, running))
            if is_awake and moment == ends:
                self._close_minute(world, moment, figures, 0)
            else:
                own.advance(moment)
                course.split_due[world] = own.split_due
            if own.has_changed:
                return moment
            course.is_awake[world] = not self._sleeps(world, demand)

    def _shown(self, world: int, resource: int, partition: int) -> list[Shown]:
        """Return the calls to a partition of a world lately."""
        return self.routing.shown(world, resource, self.state.slots[resource].of(world, partition))

    def _follow(self, worlds: Sequence[int]) -> None:
        """Follow the splits and scalings of worlds."""
        course = self._course
        split = [world for world in worlds if self._worlds[world].new_splits]
        if split:
            self._collect(np.asarray(split))
        for cut in self._cuts(worlds):
            self._open(cut)
            for queue in self.state.queues:
                if queue.resource == cut.resource:
                    queue.split(cut)
            self.routing.split(cut)
        for world in worlds:
            own = self._worlds[world]
            course.part.alike[world] = 0
            if own.has_scaled:
                own.has_scaled = False
                _follow_limits(self.state, world, own, self.reason_names, keep=True)
            course.split_due[world] = own.split_due

    def _cuts(self, worlds: Sequence[int]) -> list[Cut]:
        """Return the splits of worlds as cuts between slots, once all partitions have slots."""
        state, rooms, cuts = self.state, self.state.numbers.rooms, []
        for world in worlds:
            splits, self._worlds[world].new_splits = self._worlds[world].new_splits, []
            for split in splits:
                slots = state.slots[split.resource]
                if not slots.has_room(world, len(split.children)):
                    self._collect(np.arange(len(self._worlds)))
                    room = _with_spare(state.numbers.rooms[split.resource] + len(split.children))
                    state.widen(split.resource, room)
                parent, children = slots.split(world, split.parent, split.children)
                cuts.append(Cut(world, split.resource, parent, children, split.lows, split.high))
        if state.numbers.rooms != rooms:
            number_of = self.routing.grow()
            self._course.widen(number_of, self.routing.table.shares.shape[1])
        return cuts

    def _open(self, cut: Cut) -> None:
        """Fill the buckets of new partitions."""
        state, numbers, world = self.state, self.state.numbers, cut.world
        firsts = [numbers.partitions(cut.resource, kind).start for kind in numbers.kinds]
        for slot in (cut.parent, *cut.children):
            buckets = [first + slot for first in firsts]
            state.tokens.open_partition(world, buckets)
            state.opened[world, buckets] = 1.0
            for column in (state.minute.demand, state.minute.consumed):
                column[world, buckets] = 0.0
        _name_partitions(state, world, self._worlds[world], self.reason_names)

    # Outcomes

    def _stop(self, share: float) -> bool:
        """End the worlds that surely have more refusals than a share; return whether all have."""
        allowed = self._expected_calls() * share
        width = self.routing.table.shares.shape[1]
        for world in np.flatnonzero(self.tally.throttled > allowed).tolist():
            if self._outcomes[world] is None:
                self._outcomes[world] = self._outcome(world)
                self.state.waiting.clear(slice(world * width, (world + 1) * width))
                self.state.now[world] = self._duration
        return all(own is not None for own in self._outcomes)

    def _expected_calls(self) -> Annotated[Floats, "world"]:
        """Return how many calls each world will have had in the end."""
        tally, requests = self.tally, self.plan.context.requests
        fan_out = np.maximum(1.0, tally.arrived / np.maximum(tally.requests, 1.0))
        expected = [
            requests[model.pattern.name].expected(0, self._duration) for model in self.plan.models
        ]
        return np.asarray((fan_out * expected).sum(axis=1))

    def _outcome(self, world: int) -> WorldOutcome:
        """Return the outcome of a world so far."""
        tally, names, context = self.tally, self.reason_names, self.plan.context
        refused = tally.first_refused[world].sum(axis=0).tolist()
        lost = (tally.refused - tally.begun_anew)[:, world].sum()
        first, last = float(tally.first_throttle[world]), float(tally.last_throttle[world])
        return make_outcome(
            self._worlds[world].world,
            calls=float(tally.arrived[world].sum()),
            failed=float(lost - tally.retried[:, world].sum()),
            reasons={name: calls for name, calls in zip(names, refused, strict=True) if calls > 0},
            first_throttle=first if np.isfinite(first) else None,
            last_throttle=last if np.isfinite(last) else None,
            closing={
                names[queue.reason[world]]: after
                for queue in self.state.queues
                if (after := queue.closes_after(world, self._duration)) is not None
            },
            splits=self._worlds[world].splits,
            units={
                self.plan.layout.resource_name(table, None if index is None else index.name): (
                    float(tally.units[world, number, 0]),
                    float(tally.units[world, number, 1]),
                )
                for number, (table, index) in enumerate(context.resources)
            },
        )


@dataclass(frozen=True)
class _Coming:
    """The calls that come of the rows of a world that are played by the second.

    Attributes:
        first: The first second.
        rows: The rows.
        calls: New calls; one second stands for all if they are alike.
    """

    first: int
    rows: Integers
    calls: SecondRow

    def total(self, first: int, last: int) -> Annotated[Floats, "row"]:
        """Return the calls between two seconds."""
        if len(self.calls) == 1:
            return np.asarray(self.calls[0] * (last - first))
        return np.asarray(self.calls[first - self.first : last - self.first].sum(axis=0))

    def of(self, first: int, seconds: int) -> SecondRow:
        """Return the calls of some seconds."""
        if len(self.calls) == 1:
            return np.repeat(self.calls, seconds, axis=0)
        return self.calls[first - self.first : first - self.first + seconds]


@dataclass(eq=False)
class _Course:
    """How far worlds go, and what happens on the way, within a stretch.

    Attributes:
        part: Which rows are played by the second.
        coming: By world, the calls that come of these.
        split_due: By world, the second of its next split, or infinity.
        is_awake: By world, whether its emulator is to take in the minute that ends.
        is_restless: By world, whether a partition was hot in the last minute that it took in.
        told: By world, the end of that minute.
        limit: By world, the second up to which rates and keys stay as they are.
        accepted: Calls that passed in this stretch, of the only world.
        arrived: Calls that came, likewise.
        unwritten: Calls that passed and are not noted by key.
        written: By pattern, accepted calls by column of its keys.
    """

    part: Part
    coming: dict[int, _Coming]
    split_due: Annotated[Floats, "world"]
    is_awake: Annotated[Flags, "world"]
    is_restless: Annotated[Flags, "world"]
    told: Annotated[Floats, "world"]
    limit: Annotated[Integers, "world"]
    accepted: WorldRow
    arrived: WorldRow
    unwritten: WorldRow
    written: list[Annotated[Floats, "world", "column"]]

    @classmethod
    def of(cls, worlds: int, rows: int) -> _Course:
        """Return the course of worlds that have not begun."""
        awake, restless = np.zeros((2, worlds), dtype=np.bool_)
        one, two, three = np.zeros((3, worlds, rows))
        due, told, limit = np.full(worlds, np.inf), np.full(worlds, -np.inf), np.zeros(worlds, int)
        return cls(
            Part.of(worlds, rows), {}, due, awake, restless, told, limit, one, two, three, []
        )

    def begin(self, routing: Routing) -> None:
        """Begin a stretch."""
        for column in (self.accepted, self.arrived, self.unwritten):
            column[...] = 0.0
        worlds = len(self.accepted)
        self.written = [
            np.zeros((worlds, len(routing.columns(number)[0]) if routing.columns(number) else 0))
            for number in range(len(routing.table.patterns))
        ]

    def widen(self, number_of: Integers, count: int) -> None:
        """Give rows other numbers."""
        worlds = len(self.accepted)
        self.accepted, self.arrived, self.unwritten = np.zeros((3, worlds, count))
        rows = np.zeros((worlds, count), dtype=np.bool_)
        rows[:, number_of] = self.part.rows
        self.part.rows = rows
        for world, own in self.coming.items():
            self.coming[world] = _Coming(own.first, number_of[own.rows], own.calls)


def _clients(plan: Plan) -> Clients:
    """Return the behaviour of clients, by pattern."""
    callers = plan.workload.callers
    models = plan.models
    items = np.asarray([float(model.per_request) for model in models])
    is_batch = items > 1
    backs_off = callers.batch_retry == "backoff"
    times = [
        retry_times(
            plan.workload.policy(model.pattern),
            callers.timeout,
            resends=backs_off and model.per_request > 1,
        )
        for model in models
    ]
    attempts = max(len(own.waits) for own in times) + 1
    restarted = np.zeros((attempts, len(models)))
    if callers.batch_retry == "requeue":
        for number, own in enumerate(times):
            if is_batch[number]:
                restarted[: len(own.still_waiting), number] = own.still_waiting
    # Those of a batch that is sent again are the fewer, the more often it was.
    sizes = items if callers.batch_retry == "none" else (2 * items + 1) / 3
    resent = np.where(is_batch & backs_off, 1.0, 0.0)
    return Clients(times, np.where(is_batch, sizes, items), resent, restarted)


def _load(plan: Plan, world: PlayedWorld) -> None:
    """Give the tables of a world partitions for what is there before the run."""
    for number in range(len(plan.context.resources)):
        held = plan.context.all_of(number)
        billed = sum(float(own.billed()[0].sum()) for own in held)
        items = sum(float((own.items[0] * own.counts).sum()) for own in held)
        while world.may_be_full(number, billed) and world.fill(number, billed, items):
            pass
    world.fit_partitions()
    world.new_splits.clear()
    world.splits = 0


def _new_state(
    plan: Plan, worlds: Sequence[PlayedWorld], clients: Clients, names: list[str]
) -> State:
    """Return the state of worlds at the beginning."""
    resources = worlds[0].resources
    rooms = [
        _with_spare(max(len(world.resources[number].partitions) for world in worlds))
        for number in range(len(resources))
    ]
    numbers = Numbers.of(resources, rooms)
    shape = len(worlds), numbers.count
    policies = [plan.workload.policy(model.pattern) for model in plan.models]
    items = [model.per_request for model in plan.models]
    tables = [number for number, resource in enumerate(resources) if resource.is_table]
    queues = [
        IndexQueue(
            number,
            max(table for table in tables if table < number),
            [world.table_of(number) for world in worlds],
            numbers,
        )
        for number, resource in enumerate(resources)
        if not resource.is_table and worlds[0].world.settings.gsi_buffer_seconds
    ]
    state = State(
        now=np.zeros(len(worlds), dtype=np.int64),
        numbers=numbers,
        slots=[
            Slots([world.resources[number] for world in worlds], room)
            for number, room in enumerate(rooms)
        ],
        tokens=Tokens(np.full(shape, PLENTY), np.zeros(shape)),
        opened=np.ones(shape),
        reasons=np.zeros(shape, dtype=np.int64),
        minute=Minute(np.zeros(shape), np.zeros(shape)),
        lately=Lately(
            np.zeros((len(worlds), 0)), np.zeros((0, len(worlds), 0)), np.zeros((len(worlds), 0))
        ),
        waiting=Waiting(clients.times, 0),
        quotas=Quotas(plan.workload.callers.count, policies, items, len(worlds)),
        queues=queues,
    )
    for number, world in enumerate(worlds):
        _follow_limits(state, number, world, names, keep=False)
        for resource in range(len(resources)):
            firsts = [numbers.partitions(resource, kind).start for kind in numbers.kinds]
            for slot in state.slots[resource].ids(number).values():
                state.tokens.open_partition(number, [first + slot for first in firsts])
        _name_partitions(state, number, world, names)
    return state


def _follow_limits(
    state: State, number: int, world: PlayedWorld, names: list[str], *, keep: bool
) -> None:
    """Take over the rates of the limits above partitions, and what refusals by them are called."""
    # What table and indexes share is called by the table's name for it: it comes last here.
    for resource, own in reversed(list(enumerate(world.resources))):
        for axis in AXES:
            above = state.numbers.above[resource, axis]
            reasons = own.meter.reasons[axis]
            for bucket, limit, reason in zip(above, own.meter.limits[axis], reasons, strict=False):
                state.tokens.follow(number, bucket, limit, keep=keep)
                state.reasons[number, bucket] = _number_of(names, reason.reason)


def _name_partitions(state: State, number: int, world: PlayedWorld, names: list[str]) -> None:
    for resource, own in enumerate(world.resources):
        for kind in state.numbers.kinds:
            reason = own.meter.reasons[min(kind, WRITE)][-1].reason
            state.reasons[number, state.numbers.partitions(resource, kind)] = _number_of(
                names, reason
            )


def _number_of(names: list[str], name: str) -> int:
    if name not in names:
        names.append(name)
    return names.index(name)


def _with_spare(partitions: int) -> int:
    return partitions + max(8, partitions // 4)
