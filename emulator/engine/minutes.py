"""Work that falls due by the clock: that of every whole minute (CAP-613), and splits (CAP2-3).

At a whole minute, in this order: expired items go, for some milliseconds at a time; the minute's
metrics are closed; on-demand tables grow; hot partitions are found; auto scaling acts. A hot
partition splits at a second of its own. A stretch in which nothing can happen is passed over, so
advancing a year costs no more than what falls due in it. Where requests arrive at a stated pace,
the calendar's work (expiry) and that of throughput (growth, heat, splits, scaling) fall due on
times of their own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emulator.capacity import READ, WRITE, heat
from emulator.clock import NANOSECONDS
from emulator.engine.events import Scaled, SplitRefused
from emulator.engine.propagation import drain
from emulator.engine.splits import divide, finish_prewarm, grow
from emulator.storage import TOP, Position

if TYPE_CHECKING:
    from emulator.engine.account import Account
    from emulator.engine.resource import Resource
    from emulator.engine.table import Table

MINUTE_SECONDS: Final = 60
MINUTE_NS: Final = MINUTE_SECONDS * NANOSECONDS
#: For how long items expire before others have a turn.
_SLICE_SECONDS: Final = 0.005
_AXES: Final = ((READ, "Read"), (WRITE, "Write"))


class Minutes:
    """Work that falls due by the clock: that of every minute, and splits in between.

    Attributes:
        next_ns: When the next thing falls due.
        expiring: The rest of the expiry of the minute at which the account stands, if any.
    """

    __slots__ = ("_next_minute_ns", "expiring", "next_ns")

    def __init__(self, now_ns: int) -> None:
        self.next_ns = self._next_minute_ns = _minute_after(now_ns)
        self.expiring: Iterator[None] | None = None

    def catch_up(self, account: Account, now_ns: int) -> bool:
        """Do what falls due up to ``now_ns``, in order; return whether that is all of it.

        Items expire for some milliseconds. If others are left, the account stands at their minute.
        """
        while self.next_ns <= now_ns:
            if self.expiring is None:
                self._skip_idle(account, now_ns)
                if self.next_ns > now_ns:
                    break
                self._reach(account)
            if self.next_ns == self._next_minute_ns:
                if not self._expire(account):
                    return False
                self._work(account)
                self._next_minute_ns += MINUTE_NS
            else:
                split_hot_partitions(account)
            self.look_ahead(account)
        self._finish(account, now_ns)
        return True

    def _expire(self, account: Account) -> bool:
        """Remove expired items for some milliseconds; return whether none is left."""
        ends_at = time.perf_counter() + _SLICE_SECONDS
        # Counted in the minute that ends now, however long nothing was to be done before it.
        account.metrics.roll((account.now_ns - 1) // NANOSECONDS)
        expiring = _expire(account) if self.expiring is None else self.expiring
        for _ in expiring:
            if time.perf_counter() >= ends_at:
                self.expiring = expiring
                return False
        self.expiring = None
        return True

    def _reach(self, account: Account) -> None:
        """Move the account to the next moment at which something falls due."""
        drain(account, self.next_ns)
        account.now_ns = account.throughput_ns = self.next_ns

    def _work(self, account: Account) -> None:
        """Do the work of the minute that ends now, but for expiry."""
        _report_backlogs(account)
        account.metrics.roll(account.now_ns // NANOSECONDS)
        _close_minutes(account)

    def _finish(self, account: Account, now_ns: int) -> None:
        """Do what does not wait for a whole minute."""
        account.metrics.roll(now_ns // NANOSECONDS)
        drain(account, now_ns)

    def look_ahead(self, account: Account) -> None:
        """Recompute when the next thing is due; what is overdue is due now."""
        due_s = min(
            (
                resource.heat.next_due_s
                for table in account.tables.values()
                for resource in table.resources()
            ),
            default=math.inf,
        )
        self.next_ns = self._next_minute_ns
        if due_s < self._next_minute_ns // NANOSECONDS:
            self.next_ns = max(int(due_s) * NANOSECONDS, account.throughput_ns)

    def _skip_idle(self, account: Account, now_ns: int) -> None:
        """Pass over minutes in which nothing can happen."""
        if _is_idle(account):
            self._pass_over(min(_minute_after(now_ns), next_expiry_ns(account)))

    def _pass_over(self, until_ns: float) -> None:
        """Let nothing fall due before a whole minute."""
        self.next_ns = self._next_minute_ns = max(self._next_minute_ns, int(until_ns))


class CalendarMinutes(Minutes):
    """Work due by real time where requests arrive at a pace: expiry alone."""

    __slots__ = ()

    def _reach(self, account: Account) -> None:
        account.now_ns = self.next_ns

    def _work(self, account: Account) -> None:
        account.metrics.roll(account.now_ns // NANOSECONDS)

    def _finish(self, account: Account, now_ns: int) -> None:
        account.metrics.roll(now_ns // NANOSECONDS)

    def look_ahead(self, account: Account) -> None:  # noqa: ARG002  # nothing depends on it
        """Recompute when the next thing is due: a whole minute."""
        self.next_ns = self._next_minute_ns

    def _skip_idle(self, account: Account, now_ns: int) -> None:
        self._pass_over(min(_minute_after(now_ns), next_expiry_ns(account)))


class ThroughputMinutes(Minutes):
    """Work due as requests arrive at a pace: growth, heat, splits, scaling."""

    __slots__ = ()

    def _expire(self, account: Account) -> bool:  # noqa: ARG002  # that goes by the calendar
        return True

    def _reach(self, account: Account) -> None:
        drain(account, self.next_ns)
        account.throughput_ns = self.next_ns

    def _work(self, account: Account) -> None:
        _report_backlogs(account)
        _close_minutes(account)

    def _finish(self, account: Account, now_ns: int) -> None:
        drain(account, now_ns)

    def _skip_idle(self, account: Account, now_ns: int) -> None:
        if _is_idle(account):
            self._pass_over(_minute_after(now_ns))


def _minute_after(now_ns: int) -> int:
    return (now_ns // MINUTE_NS + 1) * MINUTE_NS


def _is_idle(account: Account) -> bool:
    """Return whether a minute without requests would change nothing of throughput."""
    return not account.has_backlog and all(
        resource.is_idle for table in account.tables.values() for resource in table.resources()
    )


def next_expiry_ns(account: Account) -> float:
    """Return the whole minute at which the next item expires here, or infinity."""
    delay = account.settings.ttl_delay
    moments = (
        table.expiry.next_due(account.now_seconds - delay)
        for table in account.tables.values()
        if table.expiry is not None and _expires_here(account, table)
    )
    return min(
        (_minute_after(round((due + delay) * NANOSECONDS)) for due in moments if due is not None),
        default=math.inf,
    )


def _expires_here(account: Account, table: Table) -> bool:
    """Return whether a table deletes its own expired items; of replicas, one does so for all."""
    replica = table.replica
    return replica is None or account.network.regions.expires_here(account, replica)


def _expire(account: Account) -> Iterator[None]:
    for table in list(account.tables.values()):
        if _expires_here(account, table):
            yield from _sweep(account, table)


def _close_minutes(account: Account) -> None:
    now_s = account.throughput_ns // NANOSECONDS
    for table in list(account.tables.values()):
        for resource in table.resources():
            _close_minute(account, table, resource, now_s)


def _report_backlogs(account: Account) -> None:
    """Put the backlogs of global indexes among the metrics of the minute (CAP2-4.5)."""
    for table in account.tables.values():
        for index in table.global_indexes:
            oldest = index.queue.oldest
            if oldest is not None:
                name = index.schema.name
                seconds = (account.throughput_ns - oldest.accepted_ns) / NANOSECONDS
                backlog = index.queue.backlog
                account.metrics.add("IndexBacklogUnits", backlog, table=table.name, index=name)
                account.metrics.add("IndexBacklogSeconds", seconds, table=table.name, index=name)


def _close_minute(account: Account, table: Table, resource: Resource, now_s: int) -> None:
    traffic = resource.meter.traffic
    consumed = (traffic.consumed(READ), traffic.consumed(WRITE))
    minute = traffic.end_minute(now_s - MINUTE_SECONDS)
    resource.insights.fold(minute)
    _grow(account, table, resource, consumed, now_s)
    resource.heat.on_minute(minute, traffic.demands())
    _split_due(account, table, resource, now_s)
    _scale(account, table, resource, consumed, now_s)


def _sweep(account: Account, table: Table) -> Iterator[None]:
    """Remove the expired items of a table, in position order, free of charge (CAP-1101, CAP-1102).

    Whoever takes from it may stop and go on later, whatever has become of table and items.

    Assumed: at the minute, ``Settings.ttl_delay`` after their time; the service takes days.
    """
    expiry = table.expiry
    if expiry is None:
        return
    due_s = account.now_seconds - account.settings.ttl_delay
    deleted = 0
    for position in expiry.due(due_s):
        if position is not None and expiry.is_due(table.store.get(position), due_s):
            expire(account, table, position)
            deleted += 1
        yield
        if table.expiry is not expiry or account.tables.get(table.name) is not table:
            break
    if deleted:
        account.metrics.add("TimeToLiveDeletedItemCount", deleted, table=table.name)


def expire(account: Account, table: Table, position: Position) -> None:
    """Delete an expired item, as the service does it."""
    # Most tables keep their items.
    from emulator.engine.writes import Write, apply, plan

    apply(account, plan(Write(table, position, lambda _: None)), by_service=True)


def _grow(
    account: Account,
    table: Table,
    resource: Resource,
    consumed: tuple[float, float],
    now_s: int,
) -> None:
    """Add the partitions that on-demand traffic or pre-warming has earned (CAP-509, CAP-510)."""
    if resource.throughput.on_demand:
        resource.growth.on_minute(now_s - MINUTE_SECONDS, *consumed)
    finish_prewarm(account, table, resource)
    grow(account, table, resource, account.throughput_ns)


def split_hot_partitions(account: Account) -> None:
    """Carry out the heat splits that are due (CAP2-3)."""
    for table in list(account.tables.values()):
        for resource in table.resources():
            _split_due(account, table, resource, account.throughput_ns // NANOSECONDS)


def _split_due(account: Account, table: Table, resource: Resource, now_s: int) -> None:
    for partition_id in resource.heat.due(now_s):
        _split_for_heat(account, table, resource, partition_id)


def _split_for_heat(account: Account, table: Table, resource: Resource, partition_id: int) -> None:
    """Carry out a heat split that is due, unless it would gain nothing (CAP-505, CAP-506)."""
    partition = resource.partitions.by_id(partition_id)
    if partition is None:
        return
    low, high = resource.partitions.range_of(partition)
    decision = heat.decide(
        resource.heat.minutes_of(partition_id),
        low,
        high,
        prefix_length=resource.meter.traffic.prefix_length,
        key_length=resource.key_length,
        has_local_index=resource.is_table and table.has_local_indexes,
        top=TOP,
        settings=account.settings,
    )
    now_ns = account.throughput_ns
    if decision.refusal is not None:
        if account.events.wanted:
            account.events.publish(
                SplitRefused(now_ns, resource.arn, partition_id, decision.refusal)
            )
        return
    divide(account, table, resource, partition, list(decision.boundaries), "heat", now_ns)


def _scale(
    account: Account,
    table: Table,
    resource: Resource,
    consumed: tuple[float, float],
    now_s: int,
) -> None:
    """Let auto scaling follow the consumption (CAP-904, CAP-905)."""
    if resource.throughput.on_demand:
        return
    for axis, name in _AXES:
        scaler = resource.scalers.get(axis)
        if scaler is None:
            continue
        before = resource.throughput.write if axis == WRITE else resource.throughput.read
        scaler.on_minute(
            consumed[axis] / MINUTE_SECONDS,
            before,
            now_s,
            decrease_allowed=resource.decreases.is_allowed(now_s),
        )
        after = scaler.due(now_s)
        if after is None or after == before:
            continue
        if after < before:
            resource.decreases.decrease(now_s)
        else:
            resource.decreases.increase(now_s)
        throughput = (
            resource.throughput._replace(write=after)
            if axis == WRITE
            else resource.throughput._replace(read=after)
        )
        account.set_throughput(table, resource, throughput)
        if account.events.wanted:
            account.events.publish(Scaled(account.throughput_ns, resource.arn, name, before, after))
