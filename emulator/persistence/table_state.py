"""The state of a table beyond its definition, in a snapshot file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from emulator.engine import Table, TableOptions
from emulator.engine.lifetime import Lifetime
from emulator.engine.option_values import Destination, InsightsRule, Recovery, ResourcePolicy
from emulator.persistence import replicas, resource_state
from emulator.persistence.written import Moments, Times, integer, text

Written = Mapping[str, Any]


def dump(table: Table, now_ns: int) -> dict[str, Any]:
    """Return the state of a table; its items, queues and stream follow elsewhere.

    Args:
        table: The table.
        now_ns: The moment of throughput.
    """
    state = {
        "id": table.id,
        "times": _dump_times(table),
        "ttl_changed": table.expiry_changed_ns,
        "on_demand_since": table.on_demand_since_ns,
        "switches": table.switches.times,
        "options": _dump_options(table.options),
        "stream": None if table.stream is None else table.stream.arn,
        "replica": None if table.replica is None else replicas.dump(table.replica),
        "quota": resource_state.dump_tokens(table.quota.buckets, now_ns),
        "resource": resource_state.dump(table.resource, now_ns),
        "indexes": {
            name: {
                "times": _dump_times(index),
                "backfill": index.backfill_at_ns,
                "resource": resource_state.dump(index.resource, now_ns)
                if index.schema.is_global
                else None,
            }
            for name, index in table.indexes.items()
        },
    }
    if table.vectors is not None and table.vectors.live:
        state["vectors"] = {
            index.schema.name: {
                "times": _dump_times(index),
                "backfill": index.backfill_at_ns,
                "searchable": index.searchable_at_ns,
            }
            for index in table.vectors
        }
    return state


def load(table: Table, written: Written, times: Times) -> None:
    """Bring a table that was made from its definition, and is empty, into the state of a file."""
    moments = times.dates
    table.id = text(written["id"])
    _load_times(table, written["times"], moments)
    table.expiry_changed_ns = _moment(written["ttl_changed"], moments)
    table.on_demand_since_ns = _moment(written["on_demand_since"], moments)
    table.switches.restore([moments.seconds(time) for time in written["switches"]])
    _load_options(table.options, written["options"], moments)
    for bucket, tokens in zip(table.quota.buckets, written["quota"], strict=True):
        resource_state.load_tokens(bucket, tokens, times.throughput_ns)
    resource_state.load(table.resource, written["resource"], times)
    if written["indexes"].keys() != table.indexes.keys():
        raise ValueError("indexes are not those of the table's definition")
    for name, index in table.indexes.items():
        state = written["indexes"][name]
        _load_times(index, state["times"], moments)
        index.backfill_at_ns = moments.ns(state["backfill"])
        if index.schema.is_global:
            resource_state.load(index.resource, state["resource"], times)
    for vector_index in () if table.vectors is None else table.vectors:
        state = written["vectors"][vector_index.schema.name]
        _load_times(vector_index, state["times"], moments)
        vector_index.backfill_at_ns = _moment(state["backfill"], moments)
        vector_index.searchable_at_ns = moments.ns(state["searchable"])


def _dump_times(life: Lifetime) -> list[int]:
    return [life.created_ns, life.active_at_ns, life.updated_at_ns]


def _load_times(life: Lifetime, written: list[Any], moments: Moments) -> None:
    life.created_ns, life.active_at_ns, life.updated_at_ns = map(moments.ns, written)


def _moment(written: object, moments: Moments) -> int | None:
    return None if written is None else moments.ns(written)


def _dump_options(options: TableOptions) -> dict[str, Any]:
    """Return the options that CreateTable does not set."""
    return {
        "class_changed": options.table_class_changed_ns,
        "sse": options.sse,
        "sse_while_updating": options.sse_while_updating,
        "policy": options.policy,
        "recovery": options.recovery,
        "insights": list(options.insights.items()),
        "destinations": options.destinations,
        "extra": options.extra,
    }


def _load_options(options: TableOptions, written: Written, moments: Moments) -> None:
    options.table_class_changed_ns = _moment(written["class_changed"], moments)
    if written["sse"] is not None:
        options.sse = _load_encryption(written["sse"])
    if written["sse_while_updating"] is not None:
        options.sse_while_updating = _load_encryption(written["sse_while_updating"])
    options.policy = load_policy(written["policy"])
    if written["recovery"] is not None:
        since_ns, days = written["recovery"]
        options.recovery = Recovery(moments.ns(since_ns), integer(days, 1))
    for index, (is_enabled, mode, changed_ns) in written["insights"]:
        rule = InsightsRule(bool(is_enabled), text(mode), moments.ns(changed_ns))
        options.insights[None if index is None else text(index)] = rule
    for arn, (is_active, precision) in written["destinations"].items():
        options.destinations[arn] = Destination(
            bool(is_active), None if precision is None else text(precision)
        )
    options.extra = moments.description(written["extra"])


def _load_encryption(written: Written) -> dict[str, Any]:
    return {text(name): text(value) for name, value in written.items()}


def load_policy(written: object) -> ResourcePolicy | None:
    """Return a resource policy that a file writes, if there is one."""
    if not isinstance(written, list):
        return None
    policy, revision = written
    return ResourcePolicy(text(policy), text(revision))
