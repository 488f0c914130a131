"""Partition keys: hashed once for every world, and forgotten when there are too many."""

from collections import Counter

import pytest

from emulator.lab import Capacity, Design, Field, Pattern, Workload
from emulator.lab.aggregate import WorldsEngine, partition_keys
from emulator.lab.aggregate.partition_keys import PartitionKeys, partition_keys_of
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import Known, draw_worlds


@pytest.fixture
def hashings(monkeypatch):
    """Count by salt how often keys are hashed."""
    counts = Counter()
    hash_keys = partition_keys.hash_keys

    def counted(hashed, salt):
        counts[salt] += 1
        return hash_keys(hashed, salt)

    monkeypatch.setattr(partition_keys, "hash_keys", counted)
    partition_keys_of.cache_clear()
    return counts


def test_keys_are_hashed_once_for_all_patterns_loads_and_blocks_of_a_world(hashings):
    workload = Workload(
        fields=[Field("deviceId", count=30)],
        patterns=[
            Pattern("put", "PutItem", rate=50),
            Pattern("last events", "Query", by=("deviceId",), rate=5),
        ],
        duration=20,
        warm_up=0,
    )
    capacity = Capacity(read=5, write=40)
    design = Design("d", partition="{deviceId}", sort="{timestamp}", capacity=capacity)
    worlds = draw_worlds(0, 3, Known())

    for load in (1, 2):
        engine = WorldsEngine(Layout(design, workload.scaled(load)))
        engine.play(worlds)
        engine.log(worlds[0])

    assert hashings == {world.settings.placement_salt: 1 for world in worlds}


def test_of_many_keys_the_hashes_that_were_asked_for_last_are_kept(hashings, monkeypatch):
    monkeypatch.setattr(partition_keys, "_KEPT_HASHES", 4)
    keys = PartitionKeys([("a",), ("b",)])

    for salt in (1, 2, 1, 3, 1, 2):
        keys.hashes(salt)

    assert hashings == {1: 1, 2: 2, 3: 1}
