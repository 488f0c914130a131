"""Replication: what is due in a region is taken in, and time moves on in all regions together.

A write of another region is priced, admitted and applied as one of the region's own, with its
stream record and its index entries; an older one than what is there changes nothing (GTB-1 to
GTB-3). What finds no room, or no way through an outage, waits.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Final

from emulator.capacity import admit, record
from emulator.clock import NANOSECONDS
from emulator.engine.expiry import ExpiryQueue
from emulator.engine.minutes import next_expiry_ns
from emulator.engine.network import Network
from emulator.engine.replicas import Message, Replica
from emulator.engine.splits import split_for_size
from emulator.engine.table import Table
from emulator.engine.updates import EVERYWHERE
from emulator.engine.writes import Planned, Write, apply, place, plan
from emulator.regions.writes import forget_versions

if TYPE_CHECKING:
    from emulator.engine.account import Account

#: Assumed: how often a replicated write that finds no room is tried again.
RETRY_NS: Final = NANOSECONDS


def catch_up(network: Network, now_ns: int) -> None:
    """Move all regions that have replicas to a moment, one after the other.

    Each stops wherever an item expires in one of them: its deletion travels to the others.
    """
    accounts = list(network.accounts.values())
    reached_ns = -1
    while True:
        stop_ns = min(map(_next_stop_ns, accounts), default=now_ns)
        stop_ns = now_ns if stop_ns <= reached_ns else min(now_ns, stop_ns)
        for account in accounts:
            account.reach(stop_ns)
        if stop_ns >= now_ns:
            return
        reached_ns = stop_ns


def _next_stop_ns(account: Account) -> int:
    """Return when an item expires next in an account, or a moment that never comes."""
    with account.lock:
        due_ns = next_expiry_ns(account)
        return int(due_ns) if due_ns < float("inf") else 2**63


def deliver(account: Account, now_ns: int) -> None:
    """Take in every write of other regions that is due until a moment, in order of time."""
    with account.network.lock:
        arrivals = _arrivals(account, now_ns)
        written = {name for _, name, _ in arrivals}
        while arrivals:
            at_ns, name, message = heappop(arrivals)
            table = account.replicated[name]
            assert table.replica is not None, "only replicas have an inbox"
            # What arrives at a whole minute is there before the work of the minute.
            account.reach(at_ns - 1)
            account.arrive_at(at_ns)
            if _take_in(account, table, table.replica, message):
                continue
            later = message._replace(due_ns=account.now_ns + RETRY_NS)
            if later.due_ns <= now_ns:
                heappush(arrivals, (later.due_ns, name, later))
            else:
                heappush(table.replica.inbox, later)
        while account.minutes.next_ns <= account.now_ns:
            account.minutes.catch_up(account, account.now_ns)
        for name in written:
            replica = account.replicated[name].replica
            if replica is not None:
                forget_versions(replica, account, name)


def _arrivals(account: Account, now_ns: int) -> list[tuple[int, str, Message]]:
    """Take out of the inboxes what has arrived by a moment; outages hold back the rest."""
    arrivals = []
    for name, table in account.replicated.items():
        replica = table.replica
        if replica is None or not replica.inbox or replica.inbox[0].due_ns > now_ns:
            continue
        staying = []
        for message in replica.inbox:
            regions = (message.version.region, account.region)
            at_ns = account.faults.reachable_ns(regions, message.due_ns)
            if at_ns <= now_ns:
                arrivals.append((int(at_ns), name, message))
            else:
                staying.append(message)
        heapify(staying)
        replica.inbox = staying
    heapify(arrivals)
    return arrivals


def build(account: Account, source: Table) -> Table:
    """Return a table like another one of a different region, with all of its items (GTB-5)."""
    name, now_ns = source.name, account.now_ns
    twin = Table(
        name,
        arn=account.arn(f"table/{name}"),
        table_id=account.new_id(f"table/{name}"),
        key=source.key,
        attribute_types=dict(source.attribute_types),
        throughput=source.resource.throughput,
        settings=account.settings,
        now_ns=now_ns,
    )
    for index in source.indexes.values():
        throughput = index.resource.throughput if index.schema.is_global else None
        twin.add_index(index.schema, throughput, now_ns=now_ns)
    for vector_index in () if source.vectors is None else source.vectors:
        twin.add_vector_index(vector_index.schema, now_ns=now_ns)
    for position, item in source.store.walk(*EVERYWHERE):
        place(account, twin, position, item)
    for resource in twin.resources():
        split_for_size(account, twin, resource, account.throughput_ns)
    if source.expiry is not None:
        twin.expiry = ExpiryQueue(source.expiry.attribute, twin.store.walk(*EVERYWHERE))
        twin.expiry_changed_ns = source.expiry_changed_ns
    twin.options.sse = source.options.sse
    return twin


def settle(account: Account, table: Table) -> None:
    """Take in every write on its way to a replica, due or not (GTB-10)."""
    replica = table.replica
    assert replica is not None, "only replicas have an inbox"
    with account.network.lock:
        messages, replica.inbox = sorted(replica.inbox), []
        for message in messages:
            _take_in(account, table, replica, message, must=True)
        forget_versions(replica, account, table.name)


def _take_in(
    account: Account, table: Table, replica: Replica, message: Message, *, must: bool = False
) -> bool:
    """Apply a write of another region, unless a later one is there; False if it has no room."""
    known = replica.versions.get(message.position)
    if known is not None and known >= message.version:
        return True
    new = message.new
    planned = plan(Write(table, message.position, lambda _: new), is_limited=False)
    if not _admitted(account, planned) and not must:
        return False
    replica.versions[message.position] = message.version
    apply(account, planned, is_replicated=True)
    latency_ms = (account.now_ns - message.version.written_ns) / (NANOSECONDS // 1000)
    account.metrics.add("ReplicationLatency", latency_ms, table=table.name)
    return True


def _admitted(account: Account, planned: Planned) -> bool:
    """Charge a replicated write where it arrives (GTB-3); only "enforce" lets it wait."""
    if account.capacity == "off":
        return True
    charges, now_ns = planned.charges, account.throughput_ns
    reasons = admit(charges, now_ns) if account.is_judged else ()
    record(charges, now_ns, reasons)
    if reasons:
        account.metrics.count_throttles(reasons)
    return not reasons or account.capacity != "enforce"
