"""The verdict: what is known to come after the run, and what a split has to do with it."""

import re

import pytest

from emulator.lab import (
    Capacity,
    Design,
    Field,
    History,
    Index,
    Pattern,
    Preload,
    Spikes,
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


def verdict(layout, rate, worlds=3, headroom=False, **more):
    load = Workload(
        fields=USERS,
        patterns=[Pattern("put", "PutItem", rate=rate)],
        duration=60,
        warm_up=0,
        **more,
    )
    [result] = compare(
        load,
        [layout],
        engine="aggregate",
        worlds=worlds,
        headroom=headroom,
        sensitivity=False,
        fix=False,
    ).designs
    return result.verdict


def test_a_load_that_only_the_reserve_carries_is_not_said_to_be_carried():
    """CAP-601: 600 a second of 500 for a minute take 6,000 of 150,000 units in reserve."""
    said = verdict(design(500, burst_start=1), 600)
    assert said.startswith("d throttles in the end and does not recover; ")
    assert said.endswith(
        " At first a reserve of unused capacity carries it: on average the table is asked for 600 "
        "write units a second and has 500, so a "
        "longer run throttles in the end."
    )


def test_worlds_that_pass_beside_others_that_throttle_may_have_nothing_but_a_reserve():
    """CAP2-5: the reserve at the start is drawn for each world; a maximum has one, too."""
    capped = Design("d", partition="{userId}", capacity=Capacity(max_write=500))

    said = verdict(capped, 1_000, worlds=20)

    assert re.match(r"d throttles after \d+\u202fs and does not recover; ", said)
    assert said.endswith(
        " In the other worlds only a reserve of unused capacity carries it: on average the table "
        "is asked for 1,000 write units a second and has 500, so a longer run throttles in the end."
    )


def test_headroom_that_is_a_reserve_is_called_so():
    """CAP-601: of 500 a second 400 are used; a full reserve carries twice as much for a minute."""
    said = verdict(design(500, burst_start=1), 400, headroom=True)

    assert re.search(r"and carries 2\.\d+ times this load\. Beyond 1\.25 times", said)
    assert said.endswith(" only a reserve of unused capacity carries it for a while.")


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


def test_a_split_that_comes_after_the_last_refusal_is_not_said_to_help():
    """CAP2-3: heat of a minute or two splits a partition minutes later."""
    rate = Spikes(base=10, peak=6_000, every=1_200, lasting=120)
    load = Workload(
        fields=[Field("id", unique="random")],
        patterns=[Pattern("put", "PutItem", rate=rate, retry="none")],
        duration=600,
        warm_up=0,
    )
    [result] = compare(
        load,
        [Design("d", partition="{id}")],
        engine="aggregate",
        worlds=1,
        headroom=False,
        sensitivity=False,
        fix=False,
        settings=Settings(split_delay=300),
    ).designs

    assert result.verdict.endswith(
        "No call is refused after 2\u202fmin; it splits for heat only after 5\u202fmin."
    )
