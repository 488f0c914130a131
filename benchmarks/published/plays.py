"""How each experiment is played: once request by request, and over seeds where a delay is drawn.

A play returns a ``Run``: figures by name, the shapes it must show by name, and series to plot.
What they are held against is data (``data/*.yaml``).
"""

from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean, mean

from benchmarks.published.rig import (
    TABLE,
    BatchThread,
    Rig,
    SerialClient,
    even,
    requests,
    single,
    spread,
)
from emulator.capacity import ScalingPolicy
from emulator.clock import NANOSECONDS
from emulator.service.errors import ApiError

PARTITION_WRITES, PARTITION_READS = 1000, 3000
AUTOSCALING_DELAY = (60.0, 180.0, 600.0)


@dataclass
class Run:
    """What one play of an experiment gave."""

    figures: dict = field(default_factory=dict)
    kinds: dict = field(default_factory=dict)
    series: dict = field(default_factory=dict)
    #: Whether the run is one of those that the criteria speak of.
    counts: bool = True


@dataclass(frozen=True)
class Play:
    """The plays of one experiment.

    ``requests`` plays it once, request by request; ``seeds`` takes a seed, for experiments with a
    drawn delay; ``test`` is the short form that the tests hold, where ``requests`` is long.
    """

    requests: object
    seeds: object = None
    test: object = None
    scaled: str = ""
    #: Options of ``seeds`` that make it quick enough for the tests.
    quick: object = None


def served(seconds, axis, first=0, last=None):
    """Return the mean units per second that were served."""
    return fmean(second.served[axis] for second in seconds[first:last])


def throttled_share(seconds, axis):
    offered = sum(second.offered[axis] for second in seconds)
    return 100 * sum(second.refused[axis] for second in seconds) / offered


def per_minute(seconds, axis):
    """Return (minute, units per second) pairs for a plot."""
    return [
        (start / 60, served(seconds, axis, start, start + 60))
        for start in range(0, len(seconds), 60)
    ]


# One table and its reserve


def burst(per_second=200):
    rig = Rig(read=150, write=1)
    rig.account.catch_up(rig.start_ns + 300 * NANOSECONDS)
    reserve = rig.reserve("R")
    load = even(rig, {"R": 200}, per_second)
    seconds = rig.run(load, 1300, 300, stop=lambda seen: bool(seen[-1].refused))
    first = len(seconds) - 1 + seconds[-1].served["R"] / 200
    return Run(
        {"reserve": reserve, "first_refusal": first},
        {"only_after_reserve": rig.reserve("R") < 150 and first > 800},
        {"served units/s": per_minute(seconds, "R")},
    )


def log_table(**settings):
    return Rig(
        read=5,
        write=5,
        gsi={
            "keys": ["host", "pk"],
            "projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["bytes"]},
            "read": 5,
            "write": 5,
        },
        **settings,
    )


def log_row(number):
    return {
        "pk": {"S": f"request#{number}"},
        "host": {"S": f"host#{number % 300}"},
        "bytes": {"N": str(number)},
        "line": {"S": "x" * 150},
    }


def index_events(rig):
    return rig.emu.metrics.sum("WriteThrottleEvents", table=TABLE, index="index")


def table_events(rig):
    return rig.emu.metrics.sum("WriteThrottleEvents", table=TABLE)


def empty_then_slow():
    rig = log_table()
    rig.sleep((1144 - 5) / 5)
    client = SerialClient(rig, 0.00536)
    total = client.put_rows(0, 2000, log_row)
    blocks = client.blocks
    slow = blocks[-8:]
    return Run(
        {"total": total, "slow_block": mean(slow), "mixed_block": blocks[11]},
        {
            "shape": all(b < 0.7 for b in blocks[:11])
            and 1 < blocks[11] < 19.9
            and all(19 < b < 21 for b in slow),
            "no_index_throttle": index_events(rig) == 0 and client.throttled > 0,
        },
        {"seconds for 100 rows": list(enumerate(blocks, 1))},
    )


def newborn():
    runs = {}
    for share in (0.0, 1.0):
        client = SerialClient(log_table(burst_start=share), 0.0076)
        runs[share] = client.put_rows(0, 500, log_row), client.blocks
    full, blocks = runs[1.0]
    return Run(
        {"full": full, "empty": runs[0.0][0]},
        {"even_pace": max(blocks) - min(blocks) < 0.1},
        {
            "burst_start=1": list(enumerate(blocks, 1)),
            "burst_start=0": list(enumerate(runs[0.0][1], 1)),
        },
    )


def starved_index():
    figures, series, kinds = {}, {}, {"none_refused": True}
    for name, latency in (("2019", 0.00665), ("later", 0.00855)):
        rig = log_table()
        rig.call("UpdateTable", ProvisionedThroughput=_units(100))
        rig.sleep(30)
        client = SerialClient(rig, latency)
        figures[f"total_{name}"] = client.put_rows(0, 2000, log_row)
        backlog = rig.emu.backlog(TABLE, "index")
        figures[f"backlog_{name}"] = backlog.units
        kinds["none_refused"] &= client.throttled == 0 and backlog.units > 0
        series[name] = list(enumerate(client.blocks, 1))
    return Run(figures, kinds, series)


def _units(write):
    return {"ReadCapacityUnits": 5, "WriteCapacityUnits": write}


# The queue of an index


def full_index(scale=1, *, rows_per_second=980, **settings):
    """Two threads of batch writes until one call has failed ten times.

    ``scale`` divides the table's capacity and the rate; the index keeps its one unit.
    """
    rig = Rig(
        read=1000 // scale,
        write=1000 // scale,
        gsi={"keys": ["host"], "projection": {"ProjectionType": "ALL"}, "read": 1, "write": 1},
        **settings,
    )

    def row(thread, number):
        return {"pk": {"S": f"{thread}#{number}"}, "host": {"S": f"host#{number % 300}"}}

    latency = 50 / (rows_per_second / scale)
    threads = [BatchThread(rig, latency, row, number) for number in range(2)]
    while not any(thread.error for thread in threads):
        thread = min(threads, key=lambda one: one.next_ns)
        rig.sleep(max(0, thread.next_ns - rig.emu.clock.now_ns()) / NANOSECONDS)
        thread.step()
    return _judge_full_index(rig, threads, scale)


def _judge_full_index(rig, threads, scale):
    failed_at, error = next(thread.error for thread in threads if thread.error)
    first = min(thread.first_refusal for thread in threads if thread.first_refusal)
    own_events = table_events(rig)
    try:
        rig.call("PutItem", Item={"pk": {"S": "outside the index"}})
        outside = False
    except ApiError as refusal:
        outside = "Index" in str(refusal.members) or "index" in str(refusal)
    consumed = rig.emu.metrics.sum("ConsumedWriteCapacityUnits", table=TABLE)
    applied = rig.emu.metrics.sum("ConsumedWriteCapacityUnits", table=TABLE, index="index")
    return Run(
        {
            "first_refusal": first,
            "throttled_requests": sum(thread.throttled for thread in threads),
            "refused_for": failed_at - first,
            "table_rate": scale * consumed / first,
            "index_rate": applied / first,
        },
        {
            "index_named": "index" in str(error).lower() or "Index" in str(error.members),
            "only_index_events": own_events == 0 and index_events(rig) > 0,
            "all_refused": outside,
            "ten_attempts": failed_at - first >= 25.55,
        },
    )


# One hot item collection


def hot_reads(seed, reads, make=spread, length=600, **options):
    """900 W/s for ten minutes, then reads for as long, under one partition key."""
    rig = Rig(seed=seed, sort=True)
    rig.run(make(rig, {"W": 900}, **options), 600)
    filled = bool(rig.heat_splits())
    seconds = rig.run(make(rig, {"R": reads}, **options), 600 + length, 600)
    return rig, filled, seconds


def served_after_split(seed, **options):
    _, filled, seconds = hot_reads(seed, 6000, **options)
    return Run(
        {
            "served": served(seconds, "R", 1),
            "throttled": throttled_share(seconds, "R"),
            "split_in_fill": 100.0 * filled,
        },
        {"split_and_6000": filled and served(seconds, "R", 1) > 5800},
        {"reads/s": per_minute(seconds, "R")},
        counts=filled,
    )


def steps_to_9900(seed, **options):
    """The reads go on for 180 s more than published, so that no step lies behind the end."""
    rig, filled, seconds = hot_reads(seed, 9900, length=780, **options)
    steps = [at - 600 for at in rig.heat_splits(600)]
    if not filled or not steps:
        return Run(counts=filled, kinds={"rises_in_steps": False, "free_at_the_end": False})
    plateau = served(seconds, "R", 2, int(steps[0]))
    # Partitions that serve all they are asked for may split again; that is no step.
    free = [at for at in range(len(seconds) - 10) if served(seconds, "R", at, at + 10) > 9800]
    return Run(
        {
            "plateau": plateau,
            "first_step": steps[0] / 60,
            "last_step": free[0] / 60 if free else len(seconds) / 60,
            "end": served(seconds, "R", 540, 600),
        },
        {
            "rises_in_steps": abs(plateau - 2 * PARTITION_READS) < 200 and bool(free),
            "free_at_the_end": served(seconds, "R", -30) > 9800,
        },
        {"reads/s": per_minute(seconds, "R")},
    )


def mixed_load(seed, make=spread, **options):
    rig = Rig(seed=seed, sort=True)
    seconds = rig.run(make(rig, {"W": 2500, "R": 6000}, **options), 600)
    splits = rig.heat_splits()
    first = min([*splits, 600.0])
    return Run(
        {
            "start_writes": served(seconds, "W", 2, 170),
            "start_reads": served(seconds, "R", 2, 170),
            "first_step": first / 60,
            "stepped": 100.0 * bool(splits),
        },
        {"starts_at_one_partition": abs(served(seconds, "W", 2, 170) - PARTITION_WRITES) < 30},
        {"writes/s": per_minute(seconds, "W"), "reads/s": per_minute(seconds, "R")},
    )


def steps_to_4000(seed, make=spread, whole=False, **options):
    rig = Rig(seed=seed, sort=True)

    def done(seen):
        return len(seen) > 30 and served(seen, "W", -30) > 3800

    stop = None if whole else done
    seconds = rig.run(make(rig, {"W": 4000}, **options), 4800, stop=stop)
    reached = next(
        (at for at in range(len(seconds) - 29) if served(seconds, "W", at, at + 30) > 3800), 4800
    )
    splits = [at for at in rig.heat_splits() if at <= reached + 30]
    plateaus = [
        served(seconds, "W", int(begin) + 2, int(end))
        for begin, end in pairwise([0, *splits])
        if end - begin > 30
    ]
    gaps = [end - begin for begin, end in pairwise([0, *splits])]
    off = [abs(level - PARTITION_WRITES * round(level / PARTITION_WRITES)) for level in plateaus]
    rises = [round(after / 1000) - round(before / 1000) for before, after in pairwise(plateaus)]
    return Run(
        {"reached": reached / 60, "start": plateaus[0]},
        {
            "steps_of_one": max(off) < 100 and max(rises) <= 1 and len(splits) >= 3,
            "unequal": len(set(gaps)) == len(gaps),
            "within_80_minutes": reached < 4800,
        },
        {"writes/s": per_minute(seconds, "W")},
    )


def eventual_queries(seed=0, slots=128):
    figures, series = {}, {}
    for factor in (1.0, 1.5):
        rig = Rig(seed=seed, sort=True, eventual_read_factor=factor)
        load = spread(rig, {"R": 9000}, slots)
        seconds = rig.run(load, 180, strong=False)
        figures[f"served_{factor:g}"] = served(seconds, "R", 2)
        series[f"factor {factor:g}"] = [(n / 60, s.served["R"]) for n, s in enumerate(seconds)][::5]
    return Run(figures, {"level": figures["served_1.5"] > figures["served_1"]}, series)


# What the guide promises


def new_on_demand(seconds=20):
    figures = {}
    for axis, rate in (("W", 3800), ("R", 11400)):
        rig = Rig(sort=True)
        seen = rig.run(requests_over_keys(rig, axis, rate), seconds)
        figures[f"throttled_{axis}"] = throttled_share(seen, axis)
    return Run(figures, {"sustained": not any(figures.values())})


def requests_over_keys(rig, axis, rate):
    def load(second):
        for number in range(rate):
            key = f"{second}-{number}"
            yield number / rate, axis, 1, rig.position(key, "item")

    return load


def one_item(seconds=3600, per_second=150):
    rig = Rig(sort=True)
    seen = rig.run(single(rig, {"W": 1500}, per_second), seconds)
    rising = Rig(sort=True)
    ascending = rising.run(_ascending(rising, 1500, per_second), seconds)
    return Run(
        {"item": served(seen, "W", 1), "ascending": served(ascending, "W", 1)},
        {
            "no_split": not rig.heat_splits() and not rising.heat_splits(),
            "reason": set(seen[-1].reasons) == {"TableWriteKeyRangeThroughputExceeded"},
            "why": bool(rig.refused_splits and rising.refused_splits),
        },
        {"writes/s": per_minute(seen, "W")},
    )


def _ascending(rig, rate, per_second):
    hot = rig.position("hot")

    def load(second):
        for number in range(per_second):
            sort = f"{second * per_second + number:09d}"
            yield number / per_second, "W", rate / per_second, (*hot, sort)

    return load


def big_item(seconds=10):
    rig = Rig()
    rig.call("PutItem", Item={"pk": {"S": "big"}, "data": {"S": "x" * (20 * 1024 - 9)}})
    units, passed, counts = 0, 0, []
    for second in range(seconds):
        passed = 0
        for _ in range(1500):
            rig.sleep(1 / 1500)
            try:
                answer = rig.call(
                    "GetItem",
                    Key={"pk": {"S": "big"}},
                    ConsistentRead=True,
                    ReturnConsumedCapacity="TOTAL",
                )
                units = answer["ConsumedCapacity"]["CapacityUnits"]
                passed += 1
            except ApiError:
                pass
        counts.append((second, passed))
    after = [count for second, count in counts if second >= seconds // 2]
    return Run({"units": units, "reads": mean(after)}, {"limited": max(after) < 1500})


def scan_pages(items=5000):
    rig = Rig(read=25, write=25, sort=True)
    for number in range(items):
        rig.sleep(0.2)
        key = {"pk": {"S": f"{number % 33:02d}"}, "sk": {"S": f"{number:08d}"}}
        rig.call("PutItem", Item={**key, "data": {"S": "x" * 1024}})
    pages, start = [], {}
    while True:
        rig.sleep(300)
        answer = rig.call("Scan", ReturnConsumedCapacity="TOTAL", **start)
        pages.append(answer["ConsumedCapacity"]["CapacityUnits"])
        if "LastEvaluatedKey" not in answer:
            break
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
    return Run(
        {"page": max(pages[:-1]), "pages": len(pages)}, {"all_alike": len(set(pages[:-1])) == 1}
    )


def auto_scaling(seed, demand=1000, per_second=10, *, whole=True):
    rig = Rig(seed=seed, read=5, write=100, autoscaling_delay=AUTOSCALING_DELAY)
    policy = ScalingPolicy(target=70, minimum=100, maximum=10_000)
    rig.emu.auto_scale(TABLE, write=policy)
    rates = {"W": lambda second: 60 if second < 600 else demand}
    stop = None if whole else lambda _: len(rig.scaled) > 1
    seconds = rig.run(even(rig, rates, per_second), 2400, stop=stop)
    changes = [(at - 600, after) for at, _, after in rig.scaled if at > 600]
    first, value = changes[0] if changes else (1800.0, 0)
    consumed = served(seconds, "W", 600, 600 + int(first))
    return Run(
        {"first_change": first / 60, "first_value": value},
        {
            "follows_consumption": bool(changes) and value < demand / 0.7 * 0.95,
            "rises_again": len(changes) > 1,
        },
        {"served units/s": per_minute(seconds, "W")},
        counts=consumed > 0,
    )


# On-demand growth


def first_minute(peak=8000, slots=256):
    rig = Rig(sort=True)
    load = even(rig, {"W": lambda second: peak * (second + 1) / 60}, slots)
    ramp = rig.run(load, 60)
    calm = Rig(sort=True)
    under = calm.run(even(calm, {"W": lambda s: 4000 * (s + 1) / 60}, slots), 60)
    return Run(
        {"plateau": served(ramp, "W", 45), "throttled_at_4000": throttled_share(under, "W")},
        {"throttled_above": bool(ramp[-1].refused) and not any(s.refused for s in under)},
        {
            "offered": [(n / 60, s.offered["W"]) for n, s in enumerate(ramp)],
            "served": [(n / 60, s.served["W"]) for n, s in enumerate(ramp)],
        },
    )


def switched_tables(rates=(20_000, 30_000, 40_000), seconds=16, slots=2048):
    figures = {}
    for rate in rates:
        rig = Rig(read=5, write=rate, sort=True)
        rig.call("UpdateTable", BillingMode="PAY_PER_REQUEST")
        seen = rig.run(even(rig, {"W": 40_000}, slots), seconds)
        figures[f"served_{rate // 1000}k"] = served(seen, "W", seconds // 2)
    return Run(figures, {"keeps": all(figures[f"served_{r // 1000}k"] > 0.97 * r for r in rates)})


def ramps(minutes=(60, 90, 150), slots=128, seed=0):
    figures, series = {}, {}
    for length in minutes:
        rig = Rig(seed=seed, sort=True)
        rates = {"W": lambda second, end=60 * length: 40_000 * (second + 1) / end}
        seen = rig.run(even(rig, rates, slots), 60 * length)
        figures[f"throttled_{length}"] = throttled_share(seen, "W")
        series[f"{length} min"] = per_minute(seen, "W")
    shares = list(figures.values())
    return Run(
        figures,
        {"a_lot": shares[0] > 1, "slower_is_better": shares == sorted(shares, reverse=True)},
        series,
    )


# Small tables


def above_for_minutes():
    rig = Rig(read=1, write=6)
    place = rig.position("row")
    refused = asked = 0
    moment = 0.0
    while moment < 900:
        moment += 1 / (4.5 if moment < 600 else 8.053)
        refused += bool(rig.offer(moment, "W", 1, place))
        asked += 1
    return Run({"refused": refused}, {"none_refused": refused == 0})


def one_large_scan():
    rig = Rig(read=1, write=1)
    for number in range(20):
        rig.sleep(2)
        rig.call("PutItem", Item={"pk": {"S": f"{number:02d}"}, "data": {"S": "x" * 990}})
    answer = rig.call("Scan", ReturnConsumedCapacity="TOTAL")
    units = answer["ConsumedCapacity"]["CapacityUnits"]
    return Run({"units": units}, {"passes": units > 1})


def _weighted(play, weight, **more):
    def once(seed=0):
        def make(rig, rates):
            return requests(rig, rates, seed=seed, weight=weight)

        return play(seed, make=make, **more)

    return once


PLAYS = {
    "MEA-1": Play(burst, test=lambda: burst(40)),
    "MEA-2": Play(empty_then_slow),
    "MEA-3": Play(newborn),
    "MEA-4": Play(starved_index),
    "MEA-5": Play(full_index, test=lambda: full_index(20)),
    "MEA-6": Play(
        _weighted(served_after_split, 5),
        served_after_split,
        scaled="one request stands for 5",
        quick={"slots": 8, "length": 90},
    ),
    "MEA-7": Play(
        _weighted(steps_to_9900, 10),
        steps_to_9900,
        scaled="one request stands for 10",
        quick={"slots": 4},
    ),
    "MEA-8": Play(
        _weighted(mixed_load, 10),
        mixed_load,
        scaled="one request stands for 10",
        quick={"slots": 4},
    ),
    "MEA-9": Play(
        _weighted(steps_to_4000, 20, whole=True),
        lambda seed, slots=32: steps_to_4000(seed, slots=slots),
        scaled="one request stands for 20",
        quick={"slots": 4},
    ),
    "MEA-10": Play(
        lambda: eventual_queries(slots=1800),
        test=lambda: eventual_queries(slots=32),
        scaled="one query stands for 10",
    ),
    "MEA-11": Play(new_on_demand, test=lambda: new_on_demand(5), scaled="20 s of each load"),
    "MEA-12": Play(one_item, test=lambda: one_item(900, 15), scaled="one write stands for 10"),
    "MEA-13": Play(big_item, test=lambda: big_item(2)),
    "MEA-14": Play(scan_pages, test=lambda: scan_pages(1500)),
    "MEA-15": Play(
        lambda: auto_scaling(0, per_second=200),
        auto_scaling,
        scaled="one write stands for 5 at the peak",
        quick={"per_second": 4, "whole": False},
    ),
    "MEA-16": Play(
        first_minute,
        test=lambda: first_minute(slots=64),
        scaled="one write stands for up to 31",
    ),
    "MEA-17": Play(
        switched_tables,
        test=lambda: switched_tables(slots=256),
        scaled="one write stands for 20",
    ),
    "MEA-18": Play(ramps, test=lambda: ramps((60,), 64), scaled="one write stands for up to 312"),
    "MEA-19": Play(above_for_minutes),
    "MEA-20": Play(one_large_scan),
}
