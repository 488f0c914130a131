"""The same experiments in the lab's aggregate engine, where a workload of the lab can state them.

Its clients retry as the SDK does; those of the published runs mostly did not resend. What a
partition serves is the same, what is refused is not, so neither shares of refused calls are
compared nor rates at which earlier calls come again.
"""

from itertools import pairwise
from statistics import mean

from benchmarks.published.plays import Run
from benchmarks.published.verdicts import judge
from emulator.capacity import ScalingPolicy
from emulator.lab import Capacity, Design, Field, Index, Pattern, Workload, aggregate
from emulator.lab.inputs.arrival_rates import Series
from emulator.lab.outcome.summarise import resource_results
from emulator.lab.planning.layout import Layout
from emulator.settings import Settings

COLLECTION = Design("one collection", partition="{one}", sort="{item}")
COLLECTION_FIELDS = (Field("one", values=("key",)), Field("item", unique="random"))
#: Items that are read have to be there: so many, each as likely as the others.
READ_FIELDS = (Field("one", values=("key",)), Field("item", count=400))
ONE_ITEM = (Field("one", values=("key",)),)
SPREAD = (Field("id", unique="random"),)


def series(*phases):
    """Return a rate from (units per second, seconds) pairs."""
    return Series(tuple(float(rate) for rate, seconds in phases for _ in range(seconds)))


def play(patterns, design, fields, duration, **settings):
    """Return a run's log and its resources."""
    workload = Workload(fields=fields, patterns=patterns, duration=duration, warm_up=0)
    log = aggregate.run(Layout(design, workload), settings=Settings(**settings))
    return log, resource_results(log)


def served(log, axis, first, last=None, resource=0):
    record = list(log.resources.values())[resource]
    return mean(record.consumed["RW".index(axis)][int(first) : None if last is None else int(last)])


def heat_splits(log, after=0):
    return [one.time for one in log.splits if one.cause == "heat" and one.time >= after]


def put(rate, **options):
    return Pattern("put", "PutItem", rate=rate, size=200, **options)


def burst(_seed=0):
    read = Pattern(
        "read", "GetItem", by=("id",), rate=series((0, 300), (200, 1000)), consistent=True
    )
    fields = (Field("id", count=1000),)
    design = Design("d", partition="{id}", capacity=Capacity(read=150, write=1))
    log, _ = play([read], design, fields, 1300)
    first = log.first_throttle - 300
    return Run({"first_refusal": first}, {"only_after_reserve": first > 850})


def full_index(_seed=0):
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


def _hot_reads(seed, reads, length):
    get = Pattern(
        "get",
        "GetItem",
        by=("one", "item"),
        rate=series((0, 600), (reads, length)),
        consistent=True,
        size=200,
    )
    fill = put(series((900, 600), (0, length)))
    log, _ = play([fill, get], COLLECTION, READ_FIELDS, 600 + length, seed=seed)
    return log, any(time < 600 for time in heat_splits(log))


def served_after_split(seed):
    log, filled = _hot_reads(seed, 6000, 300)
    reads = served(log, "R", 620)
    return Run(
        {"served": reads, "split_in_fill": 100.0 * filled},
        {"split_and_6000": reads > 5800},
        counts=filled,
    )


def steps_to_9900(seed):
    log, filled = _hot_reads(seed, 9900, 780)
    steps = [time - 600 for time in heat_splits(log, 600)]
    if not filled or not steps:
        return Run(counts=filled, kinds={"rises_in_steps": False, "free_at_the_end": False})
    plateau = served(log, "R", 602, 600 + steps[0])
    free = [at for at in range(600, 1370) if served(log, "R", at, at + 10) > 9800]
    return Run(
        {
            "plateau": plateau,
            "first_step": steps[0] / 60,
            "last_step": (free[0] - 600) / 60 if free else 13,
        },
        {
            "rises_in_steps": abs(plateau - 6000) < 200 and bool(free),
            "free_at_the_end": served(log, "R", -30) > 9800,
        },
    )


def steps_to_4000(seed, length=1800):
    log, _ = play([put(4000)], COLLECTION, COLLECTION_FIELDS, length, seed=seed)
    reached = next((at for at in range(length - 30) if served(log, "W", at, at + 30) > 3800), 4800)
    splits = [time for time in heat_splits(log) if time <= reached + 30]
    bounds = list(pairwise([0, *splits]))
    levels = [served(log, "W", a + 2, b) for a, b in bounds if b - a > 30]
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


def mixed_load(seed):
    get = Pattern("get", "GetItem", by=("one", "item"), rate=6000, consistent=True, size=200)
    log, _ = play([put(2500), get], COLLECTION, COLLECTION_FIELDS, 600, seed=seed)
    first = min([*heat_splits(log), 600.0])
    writes = served(log, "W", 2, 170)
    return Run(
        {
            "start_writes": writes,
            "start_reads": served(log, "R", 30, 170),
            "first_step": first / 60,
            "stepped": 100.0 * (first < 600),
        },
        {"starts_at_one_partition": abs(writes - 1000) < 30},
    )


def eventual_queries(_seed=0):
    get = Pattern("get", "GetItem", by=("one",), rate=12_000, size=200)
    figures = {}
    for factor in (1, 1.5):
        fields, design = ONE_ITEM, Design("d", partition="{one}")
        log, _ = play([put(1), get], design, fields, 60, eventual_read_factor=float(factor))
        figures[f"served_{factor}"] = served(log, "R", 5)
    return Run(figures, {"level": True})


def start_rates(_seed=0):
    write, _ = play([put(3_800)], Design("d", partition="{id}"), SPREAD, 60)
    fields = (Field("id", count=200_000),)
    get = Pattern("get", "GetItem", by=("id",), rate=11_400, consistent=True)
    read, _ = play([get], Design("d", partition="{id}"), fields, 60)
    shares = {"throttled_W": write.throttled_share, "throttled_R": read.throttled_share}
    return Run(shares, {"sustained": not any(shares.values())})


def never_split(_seed=0):
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
            "no_split": not heat_splits(item) and not heat_splits(rising),
            "reason": reasons == {"TableWriteKeyRangeThroughputExceeded"},
            "why": len(causes) == 2,
        },
    )


def auto_scaling(seed):
    capacity = Capacity(read=5, write=100, scaling=ScalingPolicy(target=70))
    design = Design("d", partition="{id}", capacity=capacity)
    log, _ = play(
        [put(series((50, 300), (950, 1500)))],
        design,
        SPREAD,
        1800,
        seed=seed,
        autoscaling_delay=(60.0, 180.0, 600.0),
    )
    changes = [one for one in log.scalings if one.axis == "Write" and one.after > one.before]
    first = changes[0].time_ns / 1e9 - log.layout.workload.start - 300
    return Run(
        {"first_change": first / 60, "first_value": float(changes[0].after)},
        {"follows_consumption": changes[0].after < 1_357, "rises_again": len(changes) > 1},
    )


#: By experiment: the play, and whether a delay is drawn in it.
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
    "MEA-15": (auto_scaling, True),
}


def lab_verdict(data, seeds):
    """Return the verdict on an experiment in the lab, or None if the lab cannot state it."""
    if data["id"] not in LAB_PLAYS:
        return None
    run, is_drawn = LAB_PLAYS[data["id"]]
    return judge(data, [run(seed) for seed in (range(seeds) if is_drawn else (0,))])
