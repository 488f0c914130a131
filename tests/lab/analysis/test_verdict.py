"""The verdict: what is known to come after the run, and what a split has to do with it."""

import pytest

from emulator.lab import (
    Capacity,
    Design,
    Field,
    History,
    Index,
    Pattern,
    Preload,
    Workload,
    compare,
)
from emulator.lab.outcome.rows import groups
from emulator.settings import Settings

USERS = [Field("userId", count=5_000)]
HIDDEN = "Only a reserve of unused capacity carries it"


def design(write, **history):
    return Design(
        "d",
        partition="{userId}",
        capacity=Capacity(read=1, write=write),
        history=History(**history),
    )


def verdict(layout, rate, **more):
    load = Workload(
        fields=USERS,
        patterns=[Pattern("put", "PutItem", rate=rate)],
        duration=60,
        warm_up=0,
        **more,
    )
    [result] = compare(
        load, [layout], engine="aggregate", worlds=3, headroom=False, sensitivity=False, fix=False
    ).designs
    return result.verdict


def test_a_load_that_only_the_reserve_carries_is_not_said_to_be_carried():
    """CAP-601: 600 a second of 500 for a minute take 6,000 of 150,000 units in reserve."""
    said = verdict(design(500, burst_start=1), 600)
    assert said.startswith("d is fine: it throttles in none of 3 worlds")
    assert said.endswith(
        f" {HIDDEN}: on average the table is asked for 600 write units a second and has 500, so a "
        "longer run throttles in the end."
    )


@pytest.mark.parametrize(
    ("layout", "rate", "more"),
    [
        (design(500, burst_start=1), 500, {}),
        (design(500, burst_start=1), 600, {"every": 3_600}),
        (design(10, burst_start=0), 600, {}),
        (Design("d", partition="{userId}"), 600, {}),
    ],
    ids=["no more than it has", "a load that ends", "throttled in every world", "on demand"],
)
def test_nothing_is_hidden(layout, rate, more):
    """CAP-601: what fits, what refills and what is refused anyway needs no such sentence."""
    assert HIDDEN not in verdict(layout, rate, **more)


def test_one_partition_is_not_several():
    """CAP-501: 800 provisioned units lie in one partition, which serves 1,000 from a reserve."""
    said = verdict(design(800, burst_start=1), 3_000)
    assert "asked for up to 3,000 write units a second, and its one partition carries 1,000" in said


def test_queries_of_a_collection_are_not_called_one_item():
    """CAP-805, CAP-506: that they do not split it is assumed, and said."""
    load = Workload(
        fields=[Field("userId", values=("u",)), Field("id", unique="random")],
        patterns=[
            Pattern("put", "PutItem", rate=0.1, size=1_000),
            Pattern("list", "Query", by=("userId",), rate=40, size=1_000),
        ],
        preload=[Preload(pattern="put", items=1_000)],
        duration=780,
        warm_up=0,
    )
    [result] = compare(
        load,
        [Design("d", partition="{userId}", sort="{id}")],
        engine="aggregate",
        worlds=3,
        known=("eventual_read_factor",),
        headroom=False,
        sensitivity=False,
        fix=False,
    ).designs
    assert result.verdict.endswith(
        " No split helps: nearly all traffic is Queries of one item collection, which are assumed "
        "not to split it."
    )


def test_worlds_in_which_an_index_closes_are_not_hidden_behind_the_median():
    """CAP2-4: the row of the median world says that others end otherwise."""
    load = Workload(
        fields=[Field("id", unique="random"), Field("kind", values=("a",))],
        patterns=[Pattern("put", "PutItem", rate=1_500)],
        duration=600,
        warm_up=0,
    )
    index = Index("byKind", partition="{kind}", sort="{id}", capacity=Capacity(write=3_000, read=1))
    split_early = Settings(split_delay=(180, 240, 660))
    compared = compare(
        load,
        [Design("d", partition="{id}", capacity=Capacity(read=1, write=3_000), indexes=[index])],
        engine="aggregate",
        worlds=20,
        settings=split_early,
        headroom=False,
        sensitivity=False,
        fix=False,
    )
    [result] = compared.designs
    closing = sum(world.closes_after is not None for world in result.worlds)
    rows = {row.label: row.cells[0].text for group in groups(compared) for row in group.rows}

    assert 0 < closing < 10, "the median world closes nothing, others do"
    assert rows["an index closes after"] == f"never (it does in {closing} of 20)"


def test_partitions_at_the_end_are_those_before_and_one_for_each_split():
    """CAP2-3: a split on the last second of the run is one of its splits."""
    load = Workload(
        fields=USERS, patterns=[Pattern("put", "PutItem", rate=850)], duration=240, warm_up=0
    )
    compared = compare(
        load,
        [design(900)],
        engine="aggregate",
        worlds=1,
        settings=Settings(split_delay=240),
        headroom=False,
        sensitivity=False,
        fix=False,
    )
    [result] = compared.designs
    rows = {row.label: row.cells[0].text for group in groups(compared) for row in group.rows}
    assert [(split.time, len(split.children)) for split in result.splits] == [(240, 2)]
    assert rows["partitions at the end"] == "2"
    assert result.table.partitions_at_the_end == 2
