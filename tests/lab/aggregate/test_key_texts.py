"""Key texts: made once for all worlds and loads, and other ones when the time in them changes."""

import numpy as np

from emulator.lab import Capacity, Design, Field, Pattern, Workload
from emulator.lab.aggregate import WorldsEngine
from emulator.lab.aggregate.key_groups import key_groups_of
from emulator.lab.aggregate.key_texts import key_texts_of
from emulator.lab.inputs.key_templates import parse
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import Known, draw_worlds

HOUR = 3600


def devices(**options):
    """Return a workload of events by device."""
    put = Pattern("put", "PutItem", rate=50)
    fields = [Field("deviceId", count=30)]
    return Workload(fields=fields, patterns=[put], duration=20, warm_up=0, **options)


def test_keys_are_spelled_once_for_several_loads_and_blocks_of_worlds():
    design = Design(
        "d", partition="{deviceId}", sort="{timestamp}", capacity=Capacity(read=5, write=40)
    )
    key_texts_of.cache_clear()

    for load in (1, 2):
        engine = WorldsEngine(Layout(design, devices().scaled(load)))
        worlds = draw_worlds(0, 4, Known())
        engine.play(worlds[:2])
        engine.play(worlds[2:])
        engine.log(worlds[0])

    assert key_texts_of.cache_info().misses == 1


def test_key_groups_lie_below_a_key_if_their_own_keys_do():
    workload = devices()
    groups = key_groups_of(
        workload, workload.patterns[0], ["deviceId"], [], is_new=False, seed=workload.seed
    )
    texts = key_texts_of(groups, (parse("all"),), (parse("{timestamp}#{deviceId}"),), (), 0.0)
    keys = [(*texts.partitions[group], *texts.sorts(group, 7.0)) for group in range(len(groups))]

    for asked in (np.arange(len(groups)), np.array([4, 17, 9]), np.array([3])):
        for key in (*keys, ("all", ""), ("all", "z")):
            below = texts.are_below(asked, key, 7.0).tolist()
            assert below == [keys[group] < key for group in asked]


def test_keys_with_a_time_are_others_when_it_changes():
    workload = devices()
    groups = key_groups_of(
        workload, workload.patterns[0], ["deviceId"], [], is_new=False, seed=workload.seed
    )
    template = parse("{timestamp:hour}#{deviceId}")

    first, same, later = (
        key_texts_of(groups, (template.at(moment),), (), (), 0.0)
        for moment in (10.0, 3000.0, HOUR + 10.0)
    )

    assert first is same
    assert first.partitions[0] == (f"1970-01-01T00#{groups.rows[0][0]}",)
    assert later.partitions[0] == (f"1970-01-01T01#{groups.rows[0][0]}",)
    assert [key for key, _, _ in later.entry_keys] == [text for (text,) in later.partitions]
