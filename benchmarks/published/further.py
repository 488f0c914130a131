"""Further published figures, a line each, and how well the lab's intervals cover the truth.

These need no plot: a rule or a short run of the lab decides each of them.
"""

from functools import cache

import numpy as np

from emulator import Emulator, ManualClock
from emulator.capacity.prices import STANDARD
from emulator.lab import (
    Capacity,
    Constant,
    Design,
    Field,
    History,
    Index,
    Pattern,
    Spikes,
    Units,
    Weights,
    Workload,
    play,
    world,
)
from emulator.lab.outcome.risk import interval, is_decided, risk_of
from emulator.lab.outcome.thresholds import LOOKS
from emulator.lab.planning.layout import Layout
from emulator.settings import Settings
from emulator.strategies import create_request

UNIQUE = (Field("id", unique="random"),)
#: The true chances of throttling at which the intervals are looked at.
CHANCES = (0.01, 0.03, 0.05, 0.08, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.95, 0.97, 0.99)


def puts(rate, *, fields=UNIQUE, duration=120, key="{id}", seed=0, **design):
    """Return how a design does under puts of 500 bytes."""
    put = Pattern("put", "PutItem", rate=rate, size=500)
    workload = Workload(fields=fields, patterns=[put], duration=duration, warm_up=0)
    return play(workload, Design("d", partition=key, **design), seed=seed)


def partitions(*writes):
    """Return the partitions of a table after each provisioned rate."""
    emu, found = Emulator(clock=ManualClock()), []
    emu.call("CreateTable", create_request("table", "id", provisioned=(1, writes[0])))
    for number, write in enumerate(writes):
        if number:
            throughput = {"ReadCapacityUnits": 1, "WriteCapacityUnits": write}
            emu.call("UpdateTable", {"TableName": "table", "ProvisionedThroughput": throughput})
            emu.clock.advance(60)
        found.append(len(emu.partitions("table")))
    return ", ".join(map(str, found))


def one_second(burst_start):
    """Return the writes of one second that a table of 60 units lets pass."""
    settings = Settings(burst_start=burst_start)
    put = Pattern("put", "PutItem", rate=Spikes(base=0, peak=3_600, every=60, lasting=1), size=500)
    workload = Workload(
        fields=UNIQUE,
        patterns=[Pattern("put", "PutItem", rate=put.rate, size=500, retry="none")],
        duration=2,
        warm_up=0,
    )
    design = Design("d", partition="{id}", capacity=Capacity(read=1, write=60))
    outcome = play(workload, design, settings=settings)
    return round(outcome.units["table"][1])


def split_after(*, local):
    """Return the minute in which a hot collection is split, with and without a local index."""
    index = [Index("byKind", partition="{one}", sort="{kind}", local=True)] if local else []
    fields = (Field("one", values=("key",)), Field("kind", values=("a", "b")), *UNIQUE)
    put = Pattern("put", "PutItem", rate=1_500, size=300)
    workload = Workload(fields=fields, patterns=[put], duration=1_800, warm_up=0)
    design = Design("d", partition="{one}", sort="{id}", indexes=index)
    log = world.run(Layout(design, workload))
    times = [split.time for split in log.splits if split.children and split.cause == "heat"]
    return f"after {min(times) / 60:.0f} min" if times else "never in 30 min"


def index_by_status():
    """Return what happens to a table whose index has few keys."""
    status = Field("status", values=("a", "b", "c"), distribution=Weights((80, 15, 5)))
    fields = (status, *UNIQUE)
    put = Pattern("put", "PutItem", rate=Constant(3_000.0), size=300)
    workload = Workload(fields=fields, patterns=[put], duration=1_800, warm_up=0)
    index = Index("byStatus", partition="{status}", sort="{timestamp}", projection="KEYS_ONLY")
    own = play(workload, Design("d", partition="{id}", indexes=[index]))
    return "base writes are refused" if own.throttled > 0.001 else "nothing is refused"


def rows():
    """Yield each further figure: its source, what was published, and ours."""
    yield (
        "USENIX ATC 2022, section 4",
        "3,200, 3,600 and 6,000 WCU: 4, 4 and 8 partitions; lowered to 5,000: 8",
        partitions(3_200, 3_600, 6_000, 5_000),
    )
    yield (
        "Developer guide, throttling issues",
        "60 WCU, 3,600 writes in one second: most are refused",
        f"{one_second(0.0)} pass newborn, {one_second(1.0):,} with a full reserve",
    )
    warm = puts(28_000, history=History(warm=Units(10_000, 30_000)), duration=60)
    yield (
        "Developer guide, warm throughput",
        "warm for 30,000 writes a second: served at once",
        f"{warm.throttled:.1%} refused of 28,000 a second",
    )
    doubled = Pattern("get", "GetItem", by=("id",), rate=95_000, size=500, consistent=True)
    workload = Workload(
        fields=(Field("id", count=1_000_000),), patterns=[doubled], duration=60, warm_up=0
    )
    design = Design("d", partition="{id}", history=History(previous_peak=Units(50_000, 0)))
    enough = Settings(table_quota=200_000)  # the default quota is 40,000
    yield (
        "Developer guide, on demand",
        "a previous peak of 50,000 reads: up to 100,000 at once",
        f"{play(workload, design, settings=enough).throttled:.1%} refused of 95,000 a second",
    )
    yield (
        "AWS database blog, scaling, part 3",
        "a local index keeps a collection from being split",
        f"{split_after(local=True)}; without it {split_after(local=False)}",
    )
    yield (
        "Developer guide, index throttling",
        "an index by status: writes to the table are refused",
        index_by_status(),
    )
    yield (
        "The Burning Monk, 2019",
        "217 M writes on demand: $271.61",
        f"${2 * STANDARD.on_demand(writes=217_000_000):.2f} at the prices of then, "
        f"${STANDARD.on_demand(writes=217_000_000):.2f} today",
    )
    month = STANDARD.provisioned(read_hours=40 * 744, write_hours=240 * 744)
    yield (
        "AWS console",
        "40 RCU and 240 WCU: $119.94 a month",
        f"${month:.2f} in a month of 744 hours; the lab counts 730",
    )


@cache
def _decided(worlds):
    """Return for each number of hits whether playing ends at a look."""
    if worlds == LOOKS[-1]:
        return np.ones(worlds + 1, dtype=bool)
    made = [risk_of([True] * hits + [False] * (worlds - hits)) for hits in range(worlds + 1)]
    return np.asarray([is_decided(risk, risk) for risk in made])


@cache
def _bounds(worlds):
    return np.asarray([interval(hits, worlds) for hits in range(worlds + 1)])


def _binomial(count, chance):
    found = np.ones(1)
    for _ in range(count):
        found = np.convolve(found, [1 - chance, chance])
    return found


def coverage(chance):
    """Return how likely the printed interval has a true chance in it, over all looks."""
    covered, open_, played = 0.0, np.ones(1), 0
    for look in LOOKS:
        open_ = np.convolve(open_, _binomial(look - played, chance))
        played, ends = look, _decided(look)
        low, high = _bounds(look).T
        covered += float(open_[ends & (low <= chance) & (chance <= high)].sum())
        open_ = np.where(ends, 0.0, open_)
    return covered


def section():
    """Return the section of the page."""
    lines = [
        "## Further published figures",
        "",
        "| source | published | here |",
        "| --- | --- | --- |",
    ]
    lines += [f"| {source} | {published} | {ours} |" for source, published, ours in rows()]
    least = min(map(coverage, CHANCES))
    lines += [
        "",
        "Not explained: a report of 2023, second hand, of a new on-demand table that refused "
        "unique keys at 1,000 writes a second, where AWS's own page says 4,000.",
        "",
        "## How sure an answer is",
        "The interval of a risk is that of Clopper and Pearson, corrected for the looks at 20, "
        "100, 400 and 1,600 worlds. Enumerated over everything that can be seen at these looks, it "
        f"has the true chance in it in at least {100 * least:.1f} % of cases, for true chances of "
        f"{', '.join(f'{chance:g}' for chance in CHANCES)}.",
        "",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(section())
