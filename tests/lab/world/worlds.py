"""Designs under workloads, and the worlds they are played in."""

import math

from emulator.capacity import ScalingPolicy
from emulator.lab import Capacity, Design, Field, Hotspot, Index, Pattern, Preload, Workload
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.lab.planning.worlds import Known, draw_worlds
from emulator.lab.world import Worlds
from emulator.lab.world.minutes import PlayedWorld
from emulator.lab.world.plan import Plan
from emulator.lab.world.run import Run
from emulator.lab.world.step import Busy
from emulator.settings import Settings

MANY = 12
#: Heat is followed by a split sooner than by default, so that a short run has some (CAP2-3).
KNOWN = Known(Settings(split_delay=(60.0, 170.0, 240.0)))


def events(*, rate, duration, partition="{deviceId}", sort="{timestamp}", **design):
    """Return a design and a workload of devices that write events."""
    workload = Workload(
        fields=[Field("deviceId", count=1_000)],
        patterns=[Pattern("event", "PutItem", rate=rate)],
        duration=duration,
        warm_up=0,
    )
    return Design("d", partition=partition, sort=sort, **design), workload


def orders(*, retry="standard", patterns=None):
    """Return a design and a workload with an index, reads and several kinds of refusals."""
    fields = [
        Field("user", count=40, distribution=Hotspot(0.1, 0.7)),
        Field("kind", values=("a", "b")),
    ]
    put = Pattern("put", "PutItem", rate=400, arrivals="poisson")
    get = Pattern("get", "GetItem", by=("user",), rate=900, consistent=True)
    update = Pattern("update", "UpdateItem", by=("user",), rate=50)
    index = Index("byKind", partition="{kind}", capacity=Capacity(read=5, write=300))
    design = Design(
        "d", partition="{user}", indexes=[index], capacity=Capacity(read=500, write=450)
    )
    workload = Workload(
        fields=fields,
        patterns=patterns or [put, get, update],
        duration=150,
        retry=retry,
        warm_up=0,
        # Every item is there and of one size: no price depends on what a world has accepted.
        preload=[Preload(pattern="put", items=4_000)],
    )
    return design, workload


def scaling():
    """Return a design that scales, and a workload that makes it."""
    capacity = Capacity(read=5, write=200, scaling=ScalingPolicy(target=70))
    return events(rate=500, duration=900, capacity=capacity)


def splitting():
    """Return a design whose only hot collection is split for heat, once or twice."""
    capacity = Capacity(read=100, write=5_000)
    return events(
        rate=2_500,
        duration=350,
        partition="{timestamp:hour}",
        sort="{deviceId}",
        capacity=capacity,
    )


def run_of(layout, worlds):
    """Return a run that has not begun, of which everything can be looked at."""
    emulators = [RunEmulator(layout, world.settings) for world in worlds]
    plan = Plan(layout, emulators[0])
    resources = plan.context.resources
    return Run(plan, [PlayedWorld(*own, resources) for own in zip(worlds, emulators, strict=True)])


def played(layout, numbers, known=KNOWN):
    """Return the outcomes of some of many worlds, played together."""
    worlds = draw_worlds(0, MANY, known)
    return Worlds(layout).play([worlds[number] for number in numbers])


def seconds_played(monkeypatch):
    """Return a list to which the number of worlds of each second is added that is played."""
    seconds, play = [], Busy._second

    def counted(busy, arriving):
        seconds.append(len(busy._worlds))
        return play(busy, arriving)

    monkeypatch.setattr(Busy, "_second", counted)
    return seconds


def figures(outcome):
    """Return all numbers of an outcome, by name."""
    units = {
        f"{name} {axis}": amount
        for name, taken in outcome.units.items()
        for axis, amount in zip(("read", "write"), taken, strict=True)
    }
    reasons = {name: calls for name, calls in outcome.throttled_by_reason.items() if calls > 0.5}
    moments = {"first throttle": outcome.first_throttle, "closes after": outcome.closes_after}
    return {
        **{name: moment for name, moment in moments.items() if moment is not None},
        "throttled": outcome.throttled_share,
        "failed": outcome.failed_share,
        "splits": float(outcome.splits),
        **units,
        **reasons,
    }


def close(one, other, rel=1e-6):
    """Return whether two outcomes differ in nothing but rounding."""
    own, same = figures(one), figures(other)
    return own.keys() == same.keys() and all(
        math.isclose(own[name], same[name], rel_tol=rel, abs_tol=1e-9) for name in own
    )
