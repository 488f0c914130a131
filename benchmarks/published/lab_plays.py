"""The same experiments in the lab's aggregate engine, where a workload of the lab can state them.

Where the clients of a published run did not resend, neither do these; in some, clients retry as the
SDK does, and then shares of refused calls are not compared.
"""

from itertools import pairwise

import numpy as np

from benchmarks.published.plays import Run
from benchmarks.published.verdicts import judge
from emulator.capacity import ScalingPolicy
from emulator.clock import NANOSECONDS
from emulator.lab import Capacity, Design, Field, Index, Pattern, Workload, world
from emulator.lab.inputs.arrival_rates import Series
from emulator.lab.outcome.summarise import resource_results
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import World
from emulator.lab.world import Worlds
from emulator.settings import Settings

COLLECTION = Design("one collection", partition="{one}", sort="{item}")
COLLECTION_FIELDS = (Field("one", values=("key",)), Field("item", unique="random"))
#: Items that are read have to be there: so many, each as likely as the others.
READ_FIELDS = (Field("one", values=("key",)), Field("item", count=400))
ONE_ITEM = (Field("one", values=("key",)),)
SPREAD = (Field("id", unique="random"),)
ON_DEMAND = Design("on demand", partition="{id}")


def series(*phases):
    """Return a rate from (units per second, seconds) pairs."""
    return Series(tuple(float(rate) for rate, seconds in phases for _ in range(seconds)))


def play(patterns, design, fields, duration, **settings):
    """Return a run's log and its resources."""
    workload = Workload(fields=fields, patterns=patterns, duration=duration, warm_up=0)
    log = world.run(Layout(design, workload), settings=Settings(**settings))
    return log, resource_results(log)


def play_seeds(seeds, patterns, design, fields, duration, **settings):
    """Return a run's log for every seed."""
    workload = Workload(fields=fields, patterns=patterns, duration=duration, warm_up=0)
    worlds = Worlds(Layout(design, workload))
    return [worlds.log(World(0, 0, Settings(seed=seed, **settings))) for seed in seeds]


def served(run, axis, first, last=None):
    """Return the units a second that a table served."""
    points = next(iter(run.resources.values())).consumed["RW".index(axis)]
    units = np.repeat(np.asarray(points) / run.step, run.step)[: run.seconds]
    return float(units[int(first) : None if last is None else int(last)].mean())


def heat_splits(run, after=0):
    """Return when partitions were split for heat, in seconds since the run began."""
    return [own.time for own in run.splits if own.cause == "heat" and own.time >= after]


def put(rate, **options):
    return Pattern("put", "PutItem", rate=rate, size=200, **options)


def burst():
    read = Pattern(
        "read", "GetItem", by=("id",), rate=series((0, 300), (200, 1000)), consistent=True
    )
    fields = (Field("id", count=1000),)
    design = Design("d", partition="{id}", capacity=Capacity(read=150, write=1))
    log, _ = play([read], design, fields, 1300)
    first = log.first_throttle - 300
    return Run({"first_refusal": first}, {"only_after_reserve": first > 850})


def full_index():
    index = Index("index", partition="{host}", capacity=Capacity(read=1, write=1))
    design = Design("d", partition="{id}", indexes=[index], capacity=Capacity(read=1, write=1000))
    fields = (*SPREAD, Field("host", count=300))
    log, (_, result) = play([put(980)], design, fields, 420)
    reasons = log.patterns["put"].throttled_by_reason
    return Run(
        {
            "first_refusal": log.first_throttle,
            "table_rate": served(log, "W", 0, log.first_throttle),
        },
        {
            "index_named": set(reasons) == {"IndexWriteProvisionedThroughputExceeded"},
            "only_index_events": sum(next(iter(log.resources.values())).throttled[1]) == 0,
            "all_refused": served(log, "W", log.first_throttle + 2, log.first_throttle + 25) == 0,
            "ten_attempts": result.backlog.has_closed,
        },
    )


def _hot_reads(seeds, reads, length):
    get = Pattern(
        "get",
        "GetItem",
        by=("one", "item"),
        rate=series((0, 600), (reads, length)),
        consistent=True,
        size=200,
    )
    fill = put(series((900, 600), (0, length)))
    return play_seeds(seeds, [fill, get], COLLECTION, READ_FIELDS, 600 + length)


def _splits_in_fill(course):
    return any(time < 600 for time in heat_splits(course))


def served_after_split(seeds):
    return [_after_split(course) for course in _hot_reads(seeds, 6000, 300)]


def _after_split(course):
    filled = _splits_in_fill(course)
    reads = served(course, "R", 620)
    return Run(
        {"served": reads, "split_in_fill": 100.0 * filled},
        {"split_and_6000": reads > 5800},
        counts=filled,
    )


def steps_to_9900(seeds):
    return [_to_9900(course) for course in _hot_reads(seeds, 9900, 780)]


def _to_9900(course):
    filled = _splits_in_fill(course)
    steps = [time - 600 for time in heat_splits(course, 600)]
    if not filled or not steps:
        return Run(counts=filled, kinds={"rises_in_steps": False, "free_at_the_end": False})
    plateau = served(course, "R", 602, 600 + steps[0])
    free = [at for at in range(600, 1370) if served(course, "R", at, at + 10) > 9800]
    return Run(
        {
            "plateau": plateau,
            "first_step": steps[0] / 60,
            "last_step": (free[0] - 600) / 60 if free else 13,
        },
        {
            "rises_in_steps": abs(plateau - 6000) < 200 and bool(free),
            "free_at_the_end": served(course, "R", -30) > 9800,
        },
    )


def steps_to_4000(seeds, length=1800):
    played = play_seeds(seeds, [put(4000)], COLLECTION, COLLECTION_FIELDS, length)
    return [_to_4000(course, length) for course in played]


def _to_4000(course, length):
    reached = next(
        (at for at in range(length - 30) if served(course, "W", at, at + 30) > 3800), 4800
    )
    splits = [time for time in heat_splits(course) if time <= reached + 30]
    bounds = list(pairwise([0, *splits]))
    levels = [served(course, "W", a + 2, b) for a, b in bounds if b - a > 30]
    rises = [round(b / 1000) - round(a / 1000) for a, b in pairwise(levels)]
    gaps = [b - a for a, b in bounds]
    return Run(
        {"reached": reached / 60, "start": levels[0]},
        {
            "steps_of_one": max(rises, default=0) <= 1 and len(splits) >= 3,
            "unequal": len(set(gaps)) == len(gaps),
            "within_80_minutes": reached < 4800,
        },
    )


def mixed_load(seeds):
    get = Pattern("get", "GetItem", by=("one", "item"), rate=6000, consistent=True, size=200)
    played = play_seeds(seeds, [put(2500), get], COLLECTION, COLLECTION_FIELDS, 600)
    return [_mixed(course) for course in played]


def _mixed(course):
    first = min([*heat_splits(course), 600.0])
    writes = served(course, "W", 2, 170)
    return Run(
        {
            "start_writes": writes,
            "start_reads": served(course, "R", 30, 170),
            "first_step": first / 60,
            "stepped": 100.0 * (first < 600),
        },
        {"starts_at_one_partition": abs(writes - 1000) < 30},
    )


def eventual_queries():
    get = Pattern("get", "GetItem", by=("one",), rate=12_000, size=200)
    figures = {}
    for factor in (1, 1.5):
        fields, design = ONE_ITEM, Design("d", partition="{one}")
        log, _ = play([put(1), get], design, fields, 60, eventual_read_factor=float(factor))
        figures[f"served_{factor}"] = served(log, "R", 5)
    return Run(figures, {"level": True})


def start_rates():
    write, _ = play([put(3_800)], Design("d", partition="{id}"), SPREAD, 60)
    fields = (Field("id", count=50_000),)
    get = Pattern("get", "GetItem", by=("id",), rate=11_400, consistent=True)
    read, _ = play([get], Design("d", partition="{id}"), fields, 60)
    shares = {"throttled_W": write.throttled_share, "throttled_R": read.throttled_share}
    return Run(shares, {"sustained": not any(shares.values())})


def never_split():
    item, _ = play([put(1_500)], Design("d", partition="{one}"), ONE_ITEM, 900)
    ascending = Design("rising", partition="{one}", sort="{timestamp}#{item}")
    rising, _ = play([put(1_500)], ascending, COLLECTION_FIELDS, 900)
    causes = {one.cause for log in (item, rising) for one in log.splits if not one.children}
    reasons = {
        reason for log in (item, rising) for reason in log.patterns["put"].throttled_by_reason
    }
    return Run(
        {"item": served(item, "W", 2), "ascending": served(rising, "W", 2)},
        {
            "no_split": not any(one.children for log in (item, rising) for one in log.splits),
            "reason": reasons == {"TableWriteKeyRangeThroughputExceeded"},
            "why": len(causes) == 2,
        },
    )


def auto_scaling(seeds):
    capacity = Capacity(read=5, write=100, scaling=ScalingPolicy(target=70))
    design = Design("d", partition="{id}", capacity=capacity)
    played = play_seeds(
        seeds,
        [put(series((50, 300), (950, 1500)))],
        design,
        SPREAD,
        1800,
        autoscaling_delay=(60.0, 180.0, 600.0),
    )
    return [_scaled(course) for course in played]


def _scaled(course):
    changes = [one for one in course.scalings if one.axis == "Write" and one.after > one.before]
    first = changes[0].time_ns / NANOSECONDS - course.layout.workload.start - 300
    return Run(
        {"first_change": first / 60, "first_value": float(changes[0].after)},
        {"follows_consumption": changes[0].after < 1_357, "rises_again": len(changes) > 1},
    )


def open_loop(rate, design, seconds, **settings):
    """Return the course of writes that nobody sends again, and the shares refused by second."""
    pattern = put(rate, retry="none")
    return play([pattern], design, SPREAD, seconds, **settings)[0]


def big_item():
    get = Pattern("get", "GetItem", by=("one",), rate=1500, consistent=True, retry="none")
    fill = Pattern("put", "PutItem", rate=series((1, 5), (0, 15)), size=20 * 1024)
    log, _ = play([fill, get], Design("d", partition="{one}"), ONE_ITEM, 20)
    read = log.patterns["get"]
    reads = served(log, "R", 10) / 5
    return Run(
        {"units": served(log, "R", 10) / reads, "reads": reads}, {"limited": read.failed > 0}
    )


def first_minute(peak=8000):
    def ramp(top):
        return open_loop(series(*((top * (n + 1) / 60, 1) for n in range(60))), ON_DEMAND, 60)

    above, under = ramp(peak), ramp(4000)
    return Run(
        {
            "plateau": served(above, "W", 45),
            "throttled_at_4000": 100 * under.throttled_share,
        },
        {"throttled_above": above.throttled_share > 0 and not under.throttled_share},
    )


def switched_tables(rates=(20_000, 30_000, 40_000), seconds=16):
    figures = {}
    for rate in rates:
        # The lab has no switch of mode; a table that is created warm enters it as a switched one.
        design = Design("switched", partition="{id}", capacity=Capacity(warm_write=rate))
        log = open_loop(40_000, design, seconds)
        figures[f"served_{rate // 1000}k"] = served(log, "W", seconds // 2)
    return Run(figures, {"keeps": all(figures[f"served_{r // 1000}k"] > 0.97 * r for r in rates)})


def ramps(minutes=(60, 90, 150)):
    figures = {}
    for length in minutes:
        rising = series(*((40_000 * (n + 1) / (60 * length), 1) for n in range(60 * length)))
        log = open_loop(rising, ON_DEMAND, 60 * length)
        figures[f"throttled_{length}"] = 100 * log.throttled_share
    shares = list(figures.values())
    return Run(
        figures,
        {"a_lot": shares[0] > 1, "slower_is_better": shares == sorted(shares, reverse=True)},
    )


def above_for_minutes():
    design = Design("d", partition="{id}", capacity=Capacity(read=1, write=6))
    log = open_loop(series((4.5, 600), (8.053, 300)), design, 900)
    refused = log.throttled_share * log.patterns["put"].calls
    return Run({"refused": refused}, {"none_refused": refused == 0})


def one_large_scan():
    fill = Pattern("put", "PutItem", rate=series((0.5, 40), (0, 60)), size=1000)
    scan = Pattern("scan", "Scan", rate=series((0, 90), (1, 1), (0, 9)))
    design = Design("d", partition="{id}", capacity=Capacity(read=1, write=1))
    log, _ = play([fill, scan], design, SPREAD, 100)
    record = next(iter(log.resources.values()))
    units = sum(record.consumed[0])
    return Run({"units": units}, {"passes": units > 1 and log.throttled_share == 0})


#: By experiment: the play, and whether a delay is drawn in it, so that it is played for seeds.
LAB_PLAYS = {
    "MEA-1": (burst, False),
    "MEA-5": (full_index, False),
    "MEA-6": (served_after_split, True),
    "MEA-7": (steps_to_9900, True),
    "MEA-8": (mixed_load, True),
    "MEA-9": (steps_to_4000, True),
    "MEA-10": (eventual_queries, False),
    "MEA-11": (start_rates, False),
    "MEA-12": (never_split, False),
    "MEA-13": (big_item, False),
    "MEA-15": (auto_scaling, True),
    "MEA-16": (first_minute, False),
    "MEA-17": (switched_tables, False),
    "MEA-18": (ramps, False),
    "MEA-19": (above_for_minutes, False),
    "MEA-20": (one_large_scan, False),
}

_SERIAL = "it measures the pace of one serial client, which the aggregate engine does not play"
#: The others, and why.
NOT_IN_LAB = {
    "MEA-2": _SERIAL,
    "MEA-3": _SERIAL,
    "MEA-4": _SERIAL,
    "MEA-14": "it measures the price of one page, and the lab counts whole Scans",
}


def lab_verdict(data, seeds, **quick):
    """Return the verdict on an experiment in the lab, or None if the lab cannot state it.

    ``quick`` is what a play that draws no delay is to be given, to be shorter.
    """
    if data["id"] not in LAB_PLAYS:
        return None
    run, is_drawn = LAB_PLAYS[data["id"]]
    return judge(data, run(range(seeds)) if is_drawn else [run(**quick)])
