"""The loop of the aggregate engine: many worlds at once, in stretches, seconds and minutes.

Its cost grows with keys and seconds and not with requests. Under every world lies a real, empty
emulator: its partitions, growth, heat, splits and scaling do their own work, minute by minute;
seconds are arithmetic on the arrays of all worlds. A world is a block of rows and buckets that
meets no other. Keys, rates and prices are the same in all; what is stored, and so what reads
cost, is that of the first world.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from emulator.clock import NANOSECONDS
from emulator.engine.resource import Resource
from emulator.lab.aggregate.admission import Admitted, Crowd
from emulator.lab.aggregate.arrivals import Arrivals
from emulator.lab.aggregate.buckets import Buckets
from emulator.lab.aggregate.call_rows import CallRows, PatternColumns, is_uniform
from emulator.lab.aggregate.client_behaviour import ClientBehaviour
from emulator.lab.aggregate.client_queues import ClientQueue, QueueContext, Trial
from emulator.lab.aggregate.contents_feed import ContentsFeed, held_bytes
from emulator.lab.aggregate.engine_feed import EngineFeed, PatternTraffic
from emulator.lab.aggregate.grouping import Cuts, Grouping, Moves
from emulator.lab.aggregate.index_queues import IndexQueues
from emulator.lab.aggregate.log_writer import LogWriter
from emulator.lab.aggregate.pattern_model import CallPrices, PatternKeys
from emulator.lab.aggregate.place_queue import PlaceQueue
from emulator.lab.aggregate.plan import Plan
from emulator.lab.aggregate.played_world import PartitionSplit, PlayedWorld
from emulator.lab.aggregate.rate_queue import RateQueue
from emulator.lab.aggregate.refusals import Refusals
from emulator.lab.aggregate.retries import RetryTokens, RowPolicies, WaitingCalls, renumbered
from emulator.lab.aggregate.retry_times import retry_times_of
from emulator.lab.aggregate.tally import Tally
from emulator.lab.inputs.distributions import Floats, sums
from emulator.lab.outcome.run_log import MINUTE, Progress, RunLog
from emulator.lab.outcome.world_outcome import WorldOutcome, make_outcome

Flags: TypeAlias = NDArray[np.bool_]
Watch: TypeAlias = Callable[[int, Floats], None]

#: The world that is stored, and whose log is written.
_FIRST: Final = 0
#: What is known of the traffic of rows is weighed half after each minute.
_FADING: Final = 0.5


class Block:
    """Some worlds under one design.

    Args:
        plan: What is the same in all of them.
        worlds: The worlds, with their emulators.
        log: Where the first world's log is written, if anywhere.
        watch: Called with every second of the run, and with what was consumed in it: units by
            world, resource and axis.
        stop_over: End a world as soon as its refused first attempts surely exceed this share of
            all its calls.
    """

    def __init__(
        self,
        plan: Plan,
        worlds: Sequence[PlayedWorld],
        log: RunLog | None = None,
        watch: Watch | None = None,
        stop_over: float | None = None,
    ) -> None:
        plan.begin()
        self._plan = plan
        self._context = plan.context
        self._worlds = worlds
        self._seconds = plan.workload.duration
        self._warm_up = plan.workload.warm_up
        self._log = log
        self._watch = watch
        self._contents = [ContentsFeed(world, plan.context) for world in worlds]
        held = held_bytes(plan.context)
        for contents in self._contents:
            contents.load(held)
        self._buckets = Buckets(worlds)
        for world in worlds:
            world.new_splits.clear()
        self._feeds = [
            EngineFeed(number, world, self._buckets, plan.context)
            for number, world in enumerate(worlds)
        ]
        self._keys = [model.keys(self._resource(_FIRST, model.resource)) for model in plan.models]
        self._rows = self._make_rows()
        queued = self._queued()
        self._queues = IndexQueues(worlds, queued, self._buckets, plan.workload)
        callers = plan.workload.callers
        policies = [model.policy for model in plan.models]
        items = [model.per_request for model in plan.models]
        backs_off = callers.batch_retry == "backoff"
        self._retry_times = retry_times = [
            retry_times_of(policy, callers.timeout, resends=backs_off and number > 1)
            for policy, number in zip(policies, items, strict=True)
        ]
        self._waiting = WaitingCalls(self._rows, [own.chances for own in retry_times])
        self._tokens = RetryTokens(callers.count, policies, items, len(worlds))
        seeds = [world.world.arrivals for world in worlds]
        self._arrivals = Arrivals(plan, self._keys, seeds)
        self._tally = Tally(
            len(worlds),
            len(plan.models),
            self._waiting.attempts,
            len(self._buckets.reason_names),
            len(self._context.resources),
        )
        span = -self._warm_up, self._seconds
        self._clients = _client_queue(
            QueueContext(callers, self._rows, retry_times, span, seeds, self._tally)
        )
        self._behaviour: ClientBehaviour | None = None
        if self._clients is not None or any(number > 1 for number in items):
            self._behaviour = ClientBehaviour(
                callers.batch_retry, self._rows, retry_times, len(worlds)
            )
        self._prices: list[list[CallPrices]] = [[] for _ in worlds]
        self._priced_until = -self._warm_up
        #: By world, the second of its next split.
        self._next_splits: list[float] = []
        #: Of the present stretch: calls that arrived and were accepted by row, and units applied
        #: to indexes by bucket.
        self._arrived = np.zeros(len(self._rows))
        self._accepted = np.zeros(len(self._rows))
        self._applied = np.zeros(len(self._buckets))
        #: What happened to rows lately: calls accepted, and units refused by their partition.
        self._recent = np.zeros(len(self._rows))
        self._recent_hot = np.zeros_like(self._rows.units)
        #: Who met a bucket that was short, as long as rows and prices are the same.
        self._crowd: Refusals | None = None
        self._outcomes: list[WorldOutcome | None] = [None] * len(worlds)
        self._stop_over = stop_over
        self._writer: LogWriter | None = None

    def _resource(self, world: int, number: int) -> Resource:
        return self._worlds[world].resources[number]

    def _queued(self) -> list[int]:
        """Return the numbers of the indexes that have a queue."""
        first = self._worlds[_FIRST]
        return [
            number
            for number, resource in enumerate(first.resources)
            if not resource.is_table and first.world.settings.gsi_buffer_seconds
        ]

    def _make_rows(self) -> CallRows:
        queued = self._queued()
        resources = self._worlds[_FIRST].resources
        patterns = [
            PatternColumns.of(model, keys, resources, queued)
            for model, keys in zip(self._plan.models, self._keys, strict=True)
        ]
        groupings = [
            [self._group(world, pattern) for pattern in range(len(patterns))]
            for world in range(len(self._worlds))
        ]
        rows = CallRows(patterns, groupings, self._buckets)
        factors = [world.world.settings.eventual_read_factor for world in self._worlds]
        rows.set_read_factors(np.asarray(factors, dtype=np.float64))
        return rows

    def _group(self, world: int, pattern: int) -> Grouping:
        """Group the key groups of a pattern by the partitions that they meet in a world."""
        model, played = self._plan.models[pattern], self._worlds[world]
        keys = self._keys[pattern]
        if model.differs_by_world:
            keys = model.keys(self._resource(world, model.resource))
        slots = []
        for placed in keys.placed:
            number = placed.placement.resource
            partitions = placed.partitions_of(
                played.resources[number], played.salt, self._context.moment
            )
            slots.append(self._buckets.slots(world, number)[partitions])
        return Grouping(keys, slots)

    # The run

    def play(self, progress: Progress | None = None) -> list[WorldOutcome]:
        """Play all worlds to the end, or until all have ended."""
        first = -self._warm_up
        while first < self._seconds:
            if first == 0:
                self._start_counting()
            last = self._begin_stretch(first)
            self._run_stretch(first, last)
            self._end_stretch(last)
            if progress is not None:
                progress(self._warm_up + last, self._warm_up + self._seconds)
            if self._stop_over is not None and last > 0 and self._stop(self._stop_over):
                break
            first = last
        for world in self._worlds:
            world.leave()
        for keys in self._keys:
            for placed in keys.placed:
                placed.forget_hashes()
        return [outcome or self._outcome(world) for world, outcome in enumerate(self._outcomes)]

    def _start_counting(self) -> None:
        """Forget the warm-up: the run begins with the tables as they are (CAP2-10)."""
        if self._warm_up:
            self._tally.start_counting()
            self._waiting.start_counting()
            self._queues.start_counting()
            self._context.start_counting()
            for world in self._worlds:
                world.start_counting()
        log = self._log
        if log is not None:
            if self._warm_up:
                log.start_counting()
            self._writer = LogWriter(
                log, self._context, self._rows, self._buckets, self._queues, self._retry_times
            )

    def finish_log(self) -> RunLog:
        """Write the log of the first world, and return it."""
        assert self._writer is not None, "asked only of a block with a log"
        self._contents[_FIRST].report(held_bytes(self._context), at_once=True)
        left = self._rows.by_segment(self._waiting.left())
        return self._writer.finish(self._tally, left, self._clients)

    def _time_ns(self, second: int) -> int:
        return (self._plan.workload.start + second) * NANOSECONDS

    # Stretches

    def _begin_stretch(self, first: int) -> int:
        """Return when the stretch ends: where keys or prices change, or some partition splits.

        Prices are taken when the plan says so and not at splits, so that those of other worlds
        change nothing.
        """
        self._context.elapsed = float(first)
        if first >= self._priced_until:
            self._refresh_keys()
            self._priced_until = self._plan.end_of_stretch(first, self._keys)
            self._price()
        start = self._plan.workload.start
        self._next_splits = [
            world.due_second(first, start) if self._is_played(number) else np.inf
            for number, world in enumerate(self._worlds)
        ]
        last = min(self._priced_until, *self._next_splits)
        self._context.until = last
        return int(last)

    def _is_played(self, world: int) -> bool:
        return world == _FIRST or self._outcomes[world] is None

    def _refresh_keys(self) -> None:
        """Take keys as they are now, and group those anew that have changed."""
        now = [
            self._keys[number]
            if model.differs_by_world
            else model.keys(self._resource(_FIRST, model.resource))
            for number, model in enumerate(self._plan.models)
        ]
        changed = [number for number, keys in enumerate(now) if keys is not self._keys[number]]
        if not changed:
            return
        self._show_pending()
        self._keys = now
        for number in changed:
            for world in range(len(self._worlds)):
                self._regroup(world, number)
                region = self._rows.region(world, number)
                self._recent[region] = 0.0
                self._recent_hot[:, region] = 0.0

    def _show_pending(self) -> None:
        """Show the engines where the traffic of hot partitions went, before keys change."""
        for number, feed in enumerate(self._feeds):
            if self._is_played(number):
                feed.show_pending(partial(self._traffic, number))

    def _regroup(self, world: int, pattern: int) -> None:
        """Group the keys of a pattern anew; those who wait go where the keys lie now."""
        old = self._rows.groupings[world][pattern]
        new = self._group(world, pattern)
        self._rows.groupings[world][pattern] = new
        moves = new.moves_from(old)
        self._make_room(world, pattern)
        self._rows.write(world, pattern)
        self._carry(world, pattern, moves)

    def _make_room(self, world: int, pattern: int) -> None:
        """Let the rows of a pattern have room for its call groups."""
        rows = self._rows
        if not rows.has_room(world, pattern):
            number_of = rows.grow(pattern)
            self._waiting.renumber(number_of, len(rows))
            if self._clients is not None:
                self._clients.renumber(number_of, len(rows))
            self._recent = renumbered(self._recent, number_of, len(rows))
            self._recent_hot = renumbered(self._recent_hot, number_of, len(rows))

    def _carry(self, world: int, pattern: int, moves: Moves) -> None:
        """Let what belongs to the rows of a pattern follow its key groups."""
        region = self._rows.region(world, pattern)
        self._waiting.carry(moves, region)
        if self._clients is not None:
            self._clients.carry(moves, region)
        moves.apply(self._recent[region])
        moves.apply(self._recent_hot[:, region])
        self._crowd = None

    def _price(self) -> None:
        """Set what calls cost now."""
        for own in self._prices:
            own.clear()
        for number, model in enumerate(self._plan.models):
            if not model.differs_by_world:
                prices = model.price(self._keys[number], self._resource(_FIRST, model.resource))
                self._rows.price(number, prices)
            for world, own in enumerate(self._prices):
                if model.differs_by_world:
                    prices = self._price_in(world, number)
                own.append(prices)
        self._crowd = None

    def _price_in(self, world: int, pattern: int) -> CallPrices:
        """Set what calls of a pattern cost that asks whole partitions."""
        model = self._plan.models[pattern]
        keys = self._rows.groupings[world][pattern].keys
        prices = model.price(keys, self._resource(world, model.resource))
        self._rows.price_in(world, pattern, prices)
        return prices

    def _run_stretch(self, first: int, last: int) -> None:
        arriving = self._arrivals.calls(self._rows, first, last, self._next_splits)
        self._count_arrivals(arriving, first, last)
        self._accepted = np.zeros(len(self._rows))
        self._applied = np.zeros(len(self._buckets))
        if self._writer is not None:
            self._writer.begin_stretch()
        is_watched = self._writer is not None or self._watch is not None
        if not is_watched and self._is_calm(arriving):
            self._pass_calm(arriving)
            return
        if self._clients is not None:
            self._arrived[:] = 0.0
        for second in range(first, last):
            self._run_second(second, arriving[second - first])
        self._count_refused()

    def _count_arrivals(self, arriving: Floats, first: int, last: int) -> None:
        self._arrived = arriving.sum(axis=0)
        self._tally.arrived += self._rows.by_segment(self._arrived)
        self._tally.requests += self._arrivals.requests(first, last).sum(axis=1)

    def _is_calm(self, arriving: Floats) -> bool:
        """Return whether nobody waits and no second of a stretch asks more than flows in."""
        buckets, rows = self._buckets, self._rows
        if not (buckets.is_full and self._waiting.is_empty and self._queues.is_empty):
            return False
        if buckets.has_closed_gate:
            return False
        most = arriving.max(axis=0)
        if self._clients is not None and not self._clients.lets_pass(most):
            return False
        if (rows.loads(most) + rows.arm_loads(most) <= buckets.rates).all():
            return True
        return all(
            bool((rows.loads(calls) + rows.arm_loads(calls) <= buckets.rates).all())
            for calls in arriving
        )

    def _pass_calm(self, arriving: Floats) -> None:
        calls = arriving.sum(axis=0)
        self._applied = self._rows.arm_loads(calls)
        loads = self._rows.loads(calls) + self._applied
        self._buckets.pass_calm(loads, len(arriving))
        self._buckets.demand += loads
        self._accepted = calls
        if self._tokens.is_used:
            first = self._by_world_and_pattern(self._rows.by_segment(calls))
            nobody = np.zeros_like(first)
            self._tokens.settle(nobody, nobody, first, nobody, np.zeros(0, dtype=np.int64))

    # Seconds

    def _run_second(self, second: int, arriving: Floats) -> None:
        """Run one second, with so many new calls by row."""
        buckets, rows = self._buckets, self._rows
        end_ns = self._time_ns(second + 1)
        if self._queues.close_gates(second, self._time_ns(second)):
            self._end_crowd()
        due, earlier = self._waiting.due(second), self._waiting.due_earlier(second)
        available = buckets.available()
        if self._clients is not None:
            if self._clients.has_timeout and self._crowd is not None:
                self._crowd.retry_with(self._policies_of(self._crowd.crowd))
            attempt = partial(self._try, available)
            sent = self._clients.send(second, arriving, due, earlier, attempt)
            arriving, due, earlier = sent.new, sent.due, sent.earlier
            self._arrived += arriving
        calls = arriving if due is None else arriving + due.sum(axis=0)
        loads = rows.loads(calls)
        short = loads > available
        accepted, refused = calls, None
        if np.count_nonzero(short):
            crowd = self._crowd_of(short)
            admitted = self._admit(crowd, arriving, due, short, available)
            accepted = calls.copy()
            accepted[crowd.crowd.rows] = admitted.accepted
            refused = self._settle(second, crowd, admitted, arriving, due, earlier)
            if self._behaviour is not None and self._clients is not None:
                self._behaviour.note(self._clients.queued_share, self._clients.unevenness)
            loads = rows.loads(accepted)
        elif self._tokens.is_used:
            self._settle_tokens(arriving, due)
        applied = None
        if self._queues.queues:
            entering = rows.arm_loads(accepted)
            applied, delayed = self._queues.run_second(entering, available - loads, second, end_ns)
            loads = loads + applied
            self._applied += applied
            if self._writer is not None:
                refused = delayed if refused is None else refused + delayed
        buckets.take(loads)
        buckets.demand += loads
        self._accepted += accepted
        if self._writer is not None or self._watch is not None:
            own = rows.metered(accepted)
            self._show_second(second, own if applied is None else own + applied, refused)

    def _show_second(self, second: int, consumed: Floats, refused: Floats | None) -> None:
        """Tell those who look on what a second took of each bucket, and what it refused."""
        if self._writer is not None:
            refused = np.zeros(len(self._buckets)) if refused is None else refused
            self._buckets.refused += refused
            self._writer.note_second(second, self._time_ns(second + 1), consumed, refused)
        if self._watch is not None and second >= 0:
            self._watch(second, self._buckets.units_by_axis(consumed))

    def _policies_of(self, crowd: Crowd) -> RowPolicies:
        """Return how a crowd's calls are retried, given how long callers have waited."""
        if self._clients is None or not self._clients.has_timeout:
            return self._waiting.policies_of(crowd.patterns)
        over = self._clients.timeout_used
        return self._waiting.policies_within_timeout(over, crowd.worlds, crowd.patterns)

    def _try(self, available: Floats, arriving: Floats, due: Floats | None) -> Trial:
        """Return what would become of calls."""
        calls = arriving if due is None else arriving + due.sum(axis=0)
        short = self._rows.loads(calls) > available
        if not short.any():
            return None
        crowd = self._crowd_of(short)
        return crowd, self._fit(crowd, arriving, due, short, available)[0]

    def _crowd_of(self, short: Flags) -> Refusals:
        """Return the rows that meet short buckets; those of before, if they are among them."""
        known = self._crowd
        if known is not None:
            if not np.count_nonzero(short > known.crowd.short):
                return known
            short = short | known.crowd.short
            self._end_crowd()
        crowd = Crowd(self._rows, short, self._buckets.worlds)
        policies = self._policies_of(crowd)
        self._crowd = Refusals(crowd, policies, self._buckets, self._waiting.attempts)
        return self._crowd

    def _end_crowd(self) -> None:
        """Count what the present crowd was refused, and let it go."""
        self._count_refused()
        self._crowd = None

    def _count_refused(self) -> None:
        """Count what the present crowd was refused so far."""
        if self._crowd is None:
            return
        crowd, hot = self._crowd.crowd, self._crowd.tell(self._tally)
        self._recent_hot[crowd.chosen] += hot
        self._buckets.demand[crowd.numbers] += crowd.by_bucket(hot)

    def _admit(
        self,
        refusals: Refusals,
        arriving: Floats,
        due: Floats | None,
        short: Flags,
        available: Floats,
    ) -> Admitted:
        """Let pass what the buckets have; return what became of those who met a short one."""
        admitted, shares = self._fit(refusals, arriving, due, short, available)
        self._buckets.shares[refusals.crowd.numbers] = shares
        return admitted

    def _fit(
        self,
        refusals: Refusals,
        arriving: Floats,
        due: Floats | None,
        short: Flags,
        available: Floats,
    ) -> tuple[Admitted, Floats]:
        """Return what becomes of those who meet a short bucket, and the shares of the buckets."""
        crowd = refusals.crowd
        attempts = np.zeros((self._waiting.attempts, len(crowd.rows)))
        attempts[0] = arriving[crowd.rows]
        if due is not None:
            attempts[1:] = due.take(crowd.rows, axis=1)
        affordable: Floats | float = 1.0
        if self._tokens.is_used:
            affordable = self._tokens.affordable(crowd.worlds, crowd.patterns)
        numbers = crowd.numbers
        return crowd.admit(
            attempts,
            refusals.policies,
            affordable,
            available[numbers],
            self._buckets.shares[numbers],
            short[numbers],
            None if self._behaviour is None else self._behaviour.of(crowd),
        )

    def _settle(
        self,
        second: int,
        refusals: Refusals,
        admitted: Admitted,
        arriving: Floats,
        due: Floats | None,
        earlier: Floats | None,
    ) -> Floats | None:
        """Let the refused wait or give up, and count them.

        Returns:
            The units refused by bucket, if a log is written.
        """
        crowd, policies = refusals.crowd, refusals.policies
        at = crowd.rows
        new = arriving[at]
        retried = refusals.count(admitted, new)
        self._waiting.push(second, at, policies, retried)
        if earlier is not None:
            by_number = admitted.follow(earlier.take(at, axis=1), policies)
            waits = refusals.leave_out(admitted, by_number, earlier[0, at])
            self._waiting.push_earlier(second, at, policies, waits)
        if not self._tally.all_have_throttled:
            refused = sums(crowd.worlds, new * (1 - admitted.first_passed), len(self._worlds))
            self._tally.note_throttles(second, refused)
        if self._tokens.is_used:
            self._settle_tokens(arriving, due, crowd, admitted, retried)
        return None if self._writer is None else self._writer.note_refusals(crowd, admitted)

    def _by_world_and_pattern(self, amounts: Floats) -> Floats:
        return amounts.reshape(len(self._worlds), -1)

    def _settle_tokens(
        self,
        arriving: Floats,
        due: Floats | None,
        crowd: Crowd | None = None,
        admitted: Admitted | None = None,
        retried: Floats | None = None,
    ) -> None:
        """Pay for retries, and give back what answers give."""
        amounts = np.zeros((4, len(arriving)))
        waits, wanted, first, later = amounts
        first[:] = arriving
        if due is not None:
            due.sum(axis=0, out=later)
        crowded = np.zeros(0, dtype=np.int64)
        if crowd is not None and admitted is not None and retried is not None:
            answered = admitted.by_number * admitted.passed
            first[crowd.rows] = answered[0]
            later[crowd.rows] = answered[1:].sum(axis=0)
            if admitted.paid is not None:
                retried = admitted.by_number[:-1] * admitted.paid
            waits[crowd.rows] = retried.sum(axis=0)
            wanted[crowd.rows] = (admitted.by_number[:-1] * admitted.wanted).sum(axis=0)
            crowded = np.unique(crowd.worlds)
        waits, wanted, first, later = map(
            self._by_world_and_pattern, self._rows.by_segment(amounts)
        )
        self._tokens.settle(waits, wanted, first, later, crowded)

    # The end of a stretch

    def _end_stretch(self, last: int) -> None:
        """Store what was written, and hand time on to the engines."""
        consumed = self._rows.metered(self._accepted) + self._applied
        self._buckets.consumed += consumed
        self._tally.units += self._buckets.units_by_axis(consumed)
        self._recent += self._accepted
        self._absorb()
        if last % MINUTE == 0 or last == self._seconds:
            self._close_minute(last)
        else:
            self._split_due(last)
        self._follow_worlds()

    def _close_minute(self, last: int) -> None:
        """Tell the engines of the minute that ends; those are left asleep that it leaves cold."""
        begin_ns = self._time_ns((last - 1) // MINUTE * MINUTE)
        now_ns = self._time_ns(last)
        is_shown = self._writer is not None
        held, busiest = held_bytes(self._context), self._buckets.busiest().tolist()
        for number, (feed, contents) in enumerate(zip(self._feeds, self._contents, strict=True)):
            if not self._is_played(number):
                continue
            if not is_shown and feed.is_asleep(busiest[number]) and not contents.is_due(held):
                continue
            feed.advance(begin_ns)
            feed.show_due(partial(self._traffic, number), now_ns, closes=True)
            feed.report_minute(is_shown=is_shown)
            if self._writer is not None:
                self._writer.close_minute()
            feed.advance(now_ns)
            contents.report(held)
        self._buckets.begin_minute()
        self._recent *= _FADING
        self._recent_hot *= _FADING

    def _split_due(self, last: int) -> None:
        """Let the partitions split whose time has come within a minute."""
        now_ns = self._time_ns(last)
        for number, feed in enumerate(self._feeds):
            if self._is_played(number) and self._worlds[number].is_due(now_ns // NANOSECONDS):
                feed.show_due(partial(self._traffic, number), now_ns, closes=False)
                feed.advance(now_ns)

    def _absorb(self) -> None:
        """Store what the calls accepted in the first world have written."""
        rows = self._rows
        for number, model in enumerate(self._plan.models):
            if self._writer is None and not model.pattern.is_write:
                continue
            grouping, prices = rows.groupings[_FIRST][number], self._prices[_FIRST][number]
            own, key_shares = rows.rows(_FIRST, number), grouping.key_shares(prices.calls)
            accepted = self._accepted[own][grouping.rows] * key_shares
            if self._writer is not None:
                arrived = self._arrived[own][grouping.rows] * key_shares
                self._writer.note_stretch(number, accepted, arrived, prices)
            model.absorb(accepted)
        self._context.settle_rewrites()
        if self._writer is not None:
            self._writer.note_offered(self._arrived)

    def _traffic(self, world: int) -> list[PatternTraffic]:
        """Return what happened to a world's calls lately."""
        traffic = []
        for number, own in enumerate(self._rows.patterns):
            rows = self._rows.rows(world, number)
            grouping, prices = self._rows.groupings[world][number], self._prices[world][number]
            hot = [np.zeros(grouping.size) for _ in grouping.keys.placed]
            for column, limit in enumerate(own.met):
                if limit.is_partition:
                    hot[limit.placements[0]] = self._recent_hot[column, rows]
            traffic.append(
                PatternTraffic(
                    own.model, grouping, self._recent[rows], hot, prices.units, prices.calls
                )
            )
        return traffic

    # Splits

    def _follow_worlds(self) -> None:
        """Follow the splits and scalings of all worlds."""
        has_changed = False
        for number, world in enumerate(self._worlds):
            splits, world.new_splits = world.new_splits, []
            for split in splits:
                self._follow_split(number, split)
            if splits:
                self._rewrite(number, {split.resource for split in splits})
            if world.has_scaled:
                world.has_scaled = False
                self._buckets.follow_limits(number)
                has_changed = True
            has_changed = has_changed or bool(splits)
        if has_changed:
            self._queues.follow()

    def _follow_split(self, world: int, split: PartitionSplit) -> None:
        """Give children their buckets, and the key groups of the parent to them."""
        if not self._buckets.has_room(world, split):
            self._rows.renumber(self._buckets.grow(split.resource))
            self._crowd = None
        parent, children = self._buckets.split(world, split)
        played = self._worlds[world]
        moment = self._plan.workload.start + self._context.until
        for number, model in enumerate(self._plan.models):
            grouping = self._rows.groupings[world][number]
            placements = _placements_on(grouping.keys, split.resource)
            if not placements or model.differs_by_world:
                continue
            cuts = Cuts(grouping.keys, split.lows, played.salt, moment)
            moves = grouping.split(placements, parent, children, cuts)
            self._make_room(world, number)
            self._rows.follow_split(world, number, moves)
            self._carry(world, number, moves)
            prices = self._prices[world][number]
            if not is_uniform(prices):
                self._rows.price_in(world, number, prices)

    def _rewrite(self, world: int, resources: set[int]) -> None:
        """Group the keys anew of patterns that ask whole partitions."""
        for number, model in enumerate(self._plan.models):
            if model.differs_by_world and model.resource in resources:
                self._regroup(world, number)
                self._prices[world][number] = self._price_in(world, number)

    # Outcomes

    def _stop(self, share: float) -> bool:
        """End the worlds that surely have more refusals than a share; return whether all have."""
        allowed = self._expected_calls() * share
        for world in np.flatnonzero(self._tally.throttled() > allowed).tolist():
            if self._outcomes[world] is None:
                self._outcomes[world] = self._outcome(world)
                if world != _FIRST:
                    self._end_world(world)
        return all(outcome is not None for outcome in self._outcomes)

    def _expected_calls(self) -> Floats:
        """Return how many calls each world will have had in the end."""
        tally = self._tally
        fan_out = np.maximum(1.0, tally.arrived / np.maximum(tally.requests, 1.0))
        models = self._plan.models
        requests = [float(self._plan.workload.rates(model.pattern).sum()) for model in models]
        expected = np.tile(requests, len(self._worlds)) * fan_out
        return tally.by_world(expected)

    def _end_world(self, world: int) -> None:
        self._arrivals.end(world)
        self._waiting.drop(self._rows.world_rows(world))
        if self._clients is not None:
            self._clients.drop(self._rows.world_rows(world))

    def _outcome(self, world: int) -> WorldOutcome:
        """Return what a world has shown so far."""
        tally, names = self._tally, self._buckets.reason_names
        refused = tally.of_world(tally.first_refused, world).sum(axis=0).tolist()
        lost = tally.of_world((tally.refused - tally.begun_anew).T, world).sum()
        kept = tally.of_world(tally.retried.T, world).sum()
        closing = {
            names[queue.waiting_reason[world]]: after
            for queue in self._queues.queues
            if (after := queue.closes_after(world)) is not None
        }
        unsent = np.zeros(len(tally.arrived)) if self._clients is None else self._clients.left()[0]
        calls = tally.of_world(tally.arrived - unsent, world).sum()
        lost += tally.of_world(tally.never_sent, world).sum()
        first = float(tally.first_throttle[world])
        return make_outcome(
            self._worlds[world].world,
            calls=float(calls),
            failed=float(lost - kept),
            reasons={name: calls for name, calls in zip(names, refused, strict=True) if calls > 0},
            first_throttle=first if np.isfinite(first) else None,
            closing=closing,
            splits=self._worlds[world].splits,
            units={
                self._plan.layout.resource_name(table, None if index is None else index.name): (
                    float(tally.units[world, number, 0]),
                    float(tally.units[world, number, 1]),
                )
                for number, (table, index) in enumerate(self._context.resources)
            },
            is_whole=self._stop_over is None,
        )


def _placements_on(keys: PatternKeys, resource: int) -> list[int]:
    return [
        number for number, placed in enumerate(keys.placed) if placed.placement.resource == resource
    ]


def _client_queue(context: QueueContext) -> ClientQueue | None:
    """Return what waits in the clients before it is sent, if anything may."""
    if any(own.model.policy.limits_rate for own in context.rows.patterns):
        return RateQueue(context)
    concurrency = context.clients.concurrency
    return None if concurrency is None else PlaceQueue(context, concurrency)
