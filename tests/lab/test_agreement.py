"""Both engines on the same random workloads.

The bounds that these tests hold, and ``docs/explanation/lab.md`` states:

- where a request is one call, the share of throttled calls differs by at most 0.20 and the units
  consumed by at most 5 %;
- where a request makes many calls at once (suffixes) or its pages are large (Scans), calls come
  bunched, which the aggregate engine does not see: there the share differs by at most 0.30,
  the units by at most 5 % and the cost of the largest page;
- where callers give up after a time, or a call carries the items of a batch, the shares of calls
  throttled and given up differ by at most 0.12 in some simple cases, and by at most 0.04 in their
  mean.

A limited number of calls under way and adaptive retries are left to the exact engine: the other
one plays them as unlimited and as standard (``tests/lab/world/test_retries.py``).
"""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.lab import (
    Capacity,
    Clients,
    Design,
    Field,
    Hotspot,
    Index,
    Pattern,
    Preload,
    Sequential,
    Uniform,
    Weights,
    Workload,
    Zipf,
    exact,
    world,
)
from emulator.lab.outcome.summarise import pattern_results, resource_results
from emulator.lab.planning.layout import Layout
from emulator.settings import Settings

UNITS = 0.05
SHARE = 0.20
BUNCHED_SHARE = 0.30


@pytest.mark.parametrize("count", [1, 3])
def test_on_demand_begins_alike_in_both_engines(count):
    """CAP-502, on_demand_partitions: what is beyond its partitions is refused."""
    workload = Workload(
        fields=[Field("user", count=3_000)],
        patterns=[Pattern("put", "PutItem", rate=2_000)],
        duration=5,
        warm_up=0,
        retry="none",
    )
    layout = Layout(Design("d", partition="{user}"), workload)
    known = Settings(on_demand_partitions=count)
    shares = []
    for engine in (world, exact):
        log = engine.run(layout, settings=known)
        assert resource_results(log)[0].partitions_per_minute[0] == count
        shares.append(log.throttled_share)
    assert abs(shares[0] - shares[1]) <= SHARE
    assert [share > 0.3 for share in shares] == [count == 1] * 2


@st.composite
def fields(draw):
    shapes = st.sampled_from([Uniform(), Zipf(0.8), Zipf(1.3), Hotspot(0.1, 0.7), Sequential()])
    return (
        Field("user", count=draw(st.sampled_from([5, 40, 300])), distribution=draw(shapes)),
        Field("kind", values=("a", "b", "c"), distribution=Weights((6, 2, 1))),
        Field("order", unique=draw(st.sampled_from(["sequential", "random"]))),
    )


@st.composite
def single_calls(draw):
    """Puts, gets, short queries and updates; one or two limits that may be too small."""
    size = draw(st.sampled_from([300, 1500, 6000]))
    rate = draw(st.sampled_from([20, 40]))
    units = -(-size // 1024) * rate
    patterns = [
        Pattern(
            "put",
            "PutItem",
            rate=rate,
            size=size,
            arrivals=draw(st.sampled_from(["even", "poisson"])),
        )
    ]
    others = {
        "get": Pattern("get", "GetItem", by=("user",), rate=rate, size=size),
        "query": Pattern("query", "Query", by=("user",), rate=rate / 2, items=3, size=size),
        "update": Pattern("update", "UpdateItem", by=("user",), rate=rate / 4, size=size),
    }
    patterns += [others[name] for name in draw(st.sets(st.sampled_from(sorted(others))))]
    workload = Workload(
        fields=draw(fields()),
        patterns=patterns,
        duration=40,
        warm_up=0,
        retry=draw(st.sampled_from(["legacy", "standard"])),
        seed=draw(st.integers(0, 9)),
    )
    room = st.sampled_from([0.5, 0.9, 1.4, 3.0])
    indexes = []
    if draw(st.booleans()):
        capacity = Capacity(read=10, write=max(5, int(units * draw(room))))
        projection = draw(st.sampled_from(["ALL", "KEYS_ONLY"]))
        indexes = [
            Index(
                "byKind",
                partition="{kind}",
                sort="{timestamp}",
                projection=projection,
                capacity=capacity,
            )
        ]
    design = Design(
        "d",
        partition="{user}",
        sort=draw(st.sampled_from(["{timestamp}", "{order}", None])),
        indexes=indexes,
        capacity=Capacity(read=10 * rate, write=max(5, int(1.3 * units * draw(room)))),
    )
    return workload, design


@st.composite
def bunched_calls(draw):
    """Reads that ask many keys at once, and Scans."""
    rate = draw(st.sampled_from([10, 30]))
    by = draw(st.sampled_from([("user",), ("kind",)]))
    workload = Workload(
        fields=draw(fields()),
        patterns=[
            Pattern("put", "PutItem", rate=rate, size=900),
            Pattern("query", "Query", by=by, rate=rate / 4, items=4, size=900),
        ],
        duration=40,
        warm_up=0,
        retry=draw(st.sampled_from(["legacy", "standard"])),
        seed=draw(st.integers(0, 9)),
    )
    design = Design(
        "d",
        partition="{user}#{hash(order) % 4}",
        sort="{order}",
        capacity=Capacity(read=draw(st.sampled_from([20, 60, 400])), write=4 * rate),
    )
    return workload, design


def differences(workload, design):
    """Return the largest difference in throttled share, and in units as a share."""
    ran = [engine.run(Layout(design, workload), seed=workload.seed) for engine in (exact, world)]
    one, other = (pattern_results(log) for log in ran)
    share = max(abs(a.throttled_share - b.throttled_share) for a, b in zip(one, other, strict=True))
    largest = 0.0
    for a, b in zip(*map(resource_results, ran), strict=True):
        for axis in ("read", "write"):
            units = [getattr(side, axis).consumed_units for side in (a, b)]
            slack = 130 if any(p.operation == "Query" and p.calls for p in one) else 30
            largest = max(largest, (abs(units[0] - units[1]) - slack) / max(*units, 1))
    return share, largest


@settings(max_examples=8, deadline=None, derandomize=True)
@given(single_calls())
def test_the_engines_agree_on_single_calls(case):
    share, units = differences(*case)

    assert share <= SHARE
    assert units <= UNITS


@pytest.mark.parametrize("read", [5, 100])
def test_the_engines_agree_on_reads_of_an_index(read):
    """CAP-209: a read of a global index takes of its capacity, not of the queue of its writes."""
    query = Pattern("query", "Query", by=("kind",), rate=40, items=3, size=300)
    workload = Workload(
        fields=[Field("user", count=40), Field("kind", count=20)],
        patterns=[Pattern("put", "PutItem", rate=20, size=300), query],
        duration=40,
        warm_up=0,
    )
    index = Index("byKind", partition="{kind}", capacity=Capacity(read=read, write=100))
    design = Design(
        "d", partition="{user}", indexes=[index], capacity=Capacity(read=100, write=100)
    )

    share, _ = differences(workload, design)
    log = world.run(Layout(design, workload), seed=workload.seed)
    consumed = resource_results(log)[1].read.consumed_units
    throttled = pattern_results(log)[1].throttled_share

    assert share <= SHARE
    assert consumed == pytest.approx(sum(side.read for side in pattern_results(log)[1].units))
    assert consumed > 0
    assert (throttled > 0) == (read < 20)


@settings(max_examples=4, deadline=None, derandomize=True)
@given(bunched_calls())
def test_the_engines_agree_less_where_calls_come_bunched(case):
    share, units = differences(*case)

    assert share <= BUNCHED_SHARE
    assert units <= UNITS


CLIENTS = {
    "a timeout, legacy": ("legacy", 1, {"timeout": 0.5}),
    "a timeout, standard": ("standard", 1, {"timeout": 2.0}),
    "batches, lost": ("legacy", 10, {"batch_retry": "none"}),
    "batches, at once": ("standard", 10, {"count": 20, "batch_retry": "requeue"}),
    "batches, after a wait": ("standard", 10, {"count": 20, "batch_retry": "backoff"}),
}
CLIENTS_SHARE = 0.12
CLIENTS_MEAN = 0.04


def client_differences(retry, items, clients):
    """Return how far the engines differ in the shares of calls throttled and given up."""
    operation = "BatchWriteItem" if items > 1 else "PutItem"
    workload = Workload(
        fields=[Field("user", count=300)],
        patterns=[Pattern("put", operation, rate=60 / items, size=300, actions=items)],
        duration=24,
        warm_up=0,
        retry=retry,
        clients=Clients(**clients),
    )
    capacity = Capacity(read=1, write=36)
    design = Design("d", partition="{user}", sort="{timestamp}", capacity=capacity)
    one, other = (
        engine.run(Layout(design, workload), seed=1).patterns["put"] for engine in (world, exact)
    )
    return [
        one.throttled / one.calls - other.throttled / other.calls,
        one.failed / one.calls - other.failed / other.calls,
    ]


def test_the_engines_agree_on_clients_that_give_up_and_send_batches():
    """CAP-708, CAP2-9."""
    found = {name: client_differences(*case) for name, case in CLIENTS.items()}

    far = {name: own for name, own in found.items() if max(map(abs, own)) > CLIENTS_SHARE}
    assert not far
    for shares in zip(*found.values(), strict=True):
        assert abs(sum(shares) / len(shares)) <= CLIENTS_MEAN


@pytest.mark.parametrize("retry", ["none", "standard"])
def test_the_engines_agree_on_single_calls_beside_batches(retry):
    """CAP-603, CAP-610, CAP-708: most of a batch is refused, and most single calls pass."""
    workload = Workload(
        fields=[Field("user", count=300)],
        patterns=[
            Pattern("put", "BatchWriteItem", rate=1.5, size=300, actions=20),
            Pattern("update", "UpdateItem", by=("user",), rate=7.5, size=3_000),
        ],
        duration=45,
        warm_up=0,
        retry=retry,
        clients=Clients(count=2, batch_retry="none"),
    )
    capacity = Capacity(read=1, write=31)
    design = Design("d", partition="{user}", sort="{timestamp}", capacity=capacity)
    one, other = (engine.run(Layout(design, workload), seed=1) for engine in (world, exact))

    for name, low, high in (("put", 0.6, 0.9), ("update", 0.0, 0.3)):
        shares = [log.patterns[name].throttled / log.patterns[name].calls for log in (one, other)]
        assert abs(shares[0] - shares[1]) <= 0.08
        assert all(low <= share <= high for share in shares)


@pytest.mark.parametrize("sort", [None, "{timestamp}"])
def test_a_read_finds_what_was_written_last(sort):
    """CAP-201: items that some write small and others large cost what each of them does."""
    workload = Workload(
        fields=[Field("user", count=20)],
        patterns=[
            Pattern("put", "PutItem", rate=40, size=300),
            Pattern("update", "UpdateItem", by=("user",), rate=20, size=9_000),
            Pattern("get", "GetItem", by=("user",), rate=40, consistent=True),
        ],
        duration=60,
        warm_up=0,
    )
    capacity = Capacity(read=1_000, write=1_000)
    design = Design("d", partition="{user}", sort=sort, capacity=capacity)
    units = [
        engine.run(Layout(design, workload), seed=1).patterns["get"].units["table"][0]
        for engine in (world, exact)
    ]

    # A third of the items takes three units, the others take one.
    assert units == pytest.approx([40 * 60 * 5 / 3] * 2, rel=0.06)


@pytest.mark.parametrize("letter", ["A", "B", "D"])
def test_the_engines_agree_on_ycsb(letter):
    workload = replace(Workload.ycsb(letter, records=500, rate=100, duration=30), warm_up=0)
    design = Design("d", partition="{key}", capacity=Capacity(read=60, write=30))

    share, units = differences(workload, design)

    assert share <= 0.05
    assert units <= UNITS


def test_the_engines_agree_on_a_full_partition():
    """CAP-501: the limit that provisioning does not move."""
    workload = Workload(
        fields=[Field("shop", values=("main",))],
        patterns=[Pattern("put", "PutItem", rate=60, size=20_000)],
        duration=40,
        warm_up=0,
        retry="standard",
    )
    design = Design(
        "d", partition="{shop}", sort="{timestamp}", capacity=Capacity(read=1, write=4000)
    )

    share, units = differences(workload, design)

    assert share <= 0.05
    assert units <= 0.02


TIMED = {
    "the last seconds, a key for each minute": (
        {"partition": "{timestamp:minute}", "sort": "{timestamp}"},
        {"by": (), "span": 10, "rate": 2},
        (),
        150,
    ),
    "three months, a key for each": (
        {"partition": "{userId}#{timestamp:%Y-%m}", "sort": "{timestamp}"},
        {"by": ("userId",), "span": 90 * 86_400, "rate": 2},
        (Preload(pattern="put", items=3000, span=120 * 86_400),),
        60,
    ),
}


@pytest.mark.parametrize(("keys", "query", "preload", "duration"), TIMED.values(), ids=TIMED)
def test_the_engines_agree_on_keys_that_have_a_time(keys, query, preload, duration):
    """What a range of time finds goes by when each key was written, not by the whole run."""
    workload = Workload(
        fields=[Field("userId", count=200)],
        patterns=[Pattern("put", "PutItem", rate=50, size=1000), Pattern("look", "Query", **query)],
        duration=duration,
        warm_up=0,
        preload=preload,
    )
    design = Design("d", **keys, capacity=Capacity(read=1000, write=500))

    share, units = differences(workload, design)

    assert share == 0
    assert units <= 0.02
