"""The state of a table or global index over time, in a snapshot file.

Partitions with their tokens, the reserve for bursts, warm throughput, hot partitions and the splits
that are decided, auto scaling, and the changes that count against limits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from emulator.capacity import READ, WRITE, Minute, ScalingPolicy, TokenBucket
from emulator.capacity.decrease_limits import DecreasesState
from emulator.capacity.growth import GrowthState
from emulator.capacity.heat import HeatState
from emulator.capacity.scaling import ScalerState, ScalingChange
from emulator.engine.resource import Prewarm, Replaced, Resource, Throughput
from emulator.persistence.written import (
    Moments,
    Times,
    dump_position,
    integer,
    load_position,
    number,
)
from emulator.storage import Partition, PartitionMap

Written = Mapping[str, Any]


def dump(resource: Resource, now_ns: int) -> dict[str, Any]:
    """Return the state of a resource at a moment."""
    meter = resource.meter
    return {
        "throughput": resource.throughput,
        "own": [bucket and _tokens(bucket, now_ns) for bucket in meter.own],
        "next_partition": resource.partitions.next_id,
        "partitions": [
            {
                "id": partition.id,
                "low": dump_position(partition.low),
                "splits": partition.splits,
                "tokens": dump_tokens(meter.partitions[partition.id], now_ns),
            }
            for partition in resource.partitions
        ],
        "growth": resource.growth.save(),
        "heat": _dump_heat(resource.heat.save()),
        "scalers": {
            str(axis): _dump_scaler(scaler.policy, scaler.save())
            for axis, scaler in resource.scalers.items()
        },
        "decreases": resource.decreases.save(),
        "prewarm": resource.prewarm,
        "replaced": resource.replaced,
    }


def load(resource: Resource, written: Written, times: Times) -> None:
    """Bring a new and empty resource into the state that a file has."""
    now_ns, moments = times.throughput_ns, times.throughput
    resource.set_throughput(_load_throughput(resource, written["throughput"]), now_ns)
    resource.growth.restore(_load_growth(written["growth"], moments))
    partitions = [_load_partition(partition) for partition in written["partitions"]]
    resource.set_partitions(PartitionMap.of(partitions, integer(written["next_partition"])), now_ns)
    meter = resource.meter
    for bucket, tokens in zip(meter.own, written["own"], strict=True):
        if bucket is not None:
            load_tokens(bucket, tokens, now_ns)
    for partition in written["partitions"]:
        buckets = meter.partitions[partition["id"]]
        for bucket, tokens in zip(buckets, partition["tokens"], strict=True):
            load_tokens(bucket, tokens, now_ns)
    resource.heat.restore(_load_heat(written["heat"], moments))
    for axis in (READ, WRITE):
        if str(axis) in written["scalers"]:
            _load_scaler(resource, axis, written["scalers"][str(axis)], moments)
    _load_changes(resource, written, times.dates)


def _load_changes(resource: Resource, written: Written, dates: Moments) -> None:
    """Load the changes of throughput that were made and that are under way."""
    resource.decreases.restore(_load_decreases(written["decreases"], dates))
    if written["prewarm"] is not None:
        due_ns, read, write = written["prewarm"]
        resource.prewarm = Prewarm(dates.ns(due_ns), integer(read, 1), integer(write, 1))
    if written["replaced"] is not None:
        resource.replaced = Replaced(*(integer(number) for number in written["replaced"]))


# Buckets


def _tokens(bucket: TokenBucket, now_ns: int) -> list[int]:
    bucket.refill(now_ns)
    return [bucket.base, bucket.burst]


def dump_tokens(buckets: Sequence[TokenBucket], now_ns: int) -> list[list[int]]:
    """Return the tokens in buckets at a moment, base and reserve."""
    return [_tokens(bucket, now_ns) for bucket in buckets]


def load_tokens(bucket: TokenBucket, written: Sequence[Any], now_ns: int) -> None:
    """Put tokens into a bucket, as many as its rate allows; a debt stays one."""
    base, burst = (integer(tokens, least=None) for tokens in written)
    base = min(base, bucket.base_cap)
    bucket.restore((base, min(max(0, burst), bucket.burst_cap) if base >= 0 else 0, now_ns))


# Partitions and their heat


def _load_partition(written: Written) -> Partition:
    return Partition(
        integer(written["id"]), load_position(written["low"]), integer(written["splits"])
    )


def _load_growth(written: Sequence[Any], moments: Moments) -> GrowthState:
    (read, write), recent = written
    minutes = ((moments.whole_seconds(end), number(r), number(w)) for end, r, w in recent)
    return GrowthState((integer(read, 1), integer(write, 1)), tuple(minutes))


def _dump_heat(state: HeatState) -> dict[str, Any]:
    return {
        "streaks": list(state.streaks.items()),
        "last_minute": state.last_start_s,
        "pending": list(state.pending.items()),
        "minutes": [
            {
                "start": minute.start_s,
                "accesses": [
                    [dump_position(position), access]
                    for position, access in minute.accesses.items()
                ],
                "records": [
                    [dump_position(position), record] for position, record in minute.records.items()
                ],
            }
            for minute in state.minutes
        ],
    }


def _load_heat(written: Written, moments: Moments) -> HeatState:
    last_s = written["last_minute"]
    return HeatState(
        streaks={integer(number): integer(minutes, 1) for number, minutes in written["streaks"]},
        last_start_s=None if last_s is None else moments.whole_seconds(last_s),
        minutes=[_load_minute(minute, moments) for minute in written["minutes"]],
        pending={
            integer(number): moments.whole_seconds(due_s) for number, due_s in written["pending"]
        },
    )


def _load_minute(written: Written, moments: Moments) -> Minute:
    minute = Minute(moments.whole_seconds(written["start"]))
    for position, (consumed, throttled, writes, throttles) in written["accesses"]:
        access = [number(consumed), number(throttled), number(writes), number(throttles)]
        minute.accesses[load_position(position)] = access
    for position, (rises, falls) in written["records"]:
        minute.records[load_position(position)] = (integer(rises), integer(falls))
    return minute


# Throughput and its changes


def _load_throughput(resource: Resource, written: Sequence[Any]) -> Throughput:
    """Return the throughput set by its owner; CreateTable has checked mode and units."""
    throughput = Throughput(*written)
    if throughput[:5] != resource.throughput[:5]:
        raise ValueError("throughput is not that of the table's definition")
    for warm in (throughput.warm_read, throughput.warm_write):
        if warm is not None:
            integer(warm, 1)
    return throughput


def _dump_scaler(policy: ScalingPolicy, state: ScalerState) -> dict[str, Any]:
    return {
        "policy": asdict(policy),
        "pending": state.pending,
        "history": state.history,
        "last": state.last_s,
        "out_over": None if state.out_over_s == -math.inf else state.out_over_s,
        "in_over": None if state.in_over_s == -math.inf else state.in_over_s,
    }


def _load_scaler(resource: Resource, axis: int, written: Written, moments: Moments) -> None:
    policy = ScalingPolicy(**written["policy"])
    read, write = (policy, None) if axis == READ else (None, policy)
    resource.scale(read, write)
    pending, last_s = written["pending"], written["last"]
    over = [
        -math.inf if written[name] is None else moments.seconds(written[name])
        for name in ("out_over", "in_over")
    ]
    resource.scalers[axis].restore(
        ScalerState(
            None
            if pending is None
            else ScalingChange(integer(pending[0], 1), moments.seconds(pending[1])),
            tuple(number(rate) for rate in written["history"]),
            None if last_s is None else moments.seconds(last_s),
            *over,
        )
    )


def _load_decreases(written: Sequence[Any], moments: Moments) -> DecreasesState:
    # Files of before have the day of the last decrease beside its moment.
    count, *_, decreased, increased = written
    return DecreasesState(
        integer(count),
        None if decreased is None else moments.seconds(decreased),
        None if increased is None else moments.seconds(increased),
    )
