"""The step: seconds that are alike pass in closed form, and no bucket gives more than it has."""

import pytest

from emulator.lab import (
    Capacity,
    Design,
    Field,
    Index,
    Pattern,
    Preload,
    Sequential,
    Workload,
    world,
)
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import Known, draw_worlds
from emulator.lab.world import Worlds, step
from emulator.settings import Settings
from tests.lab.world.worlds import KNOWN, close, seconds_played, splitting


def devices(rate, write, *, duration=150, warm_up=0, retry="standard", indexes=(), **keys):
    """Return devices that write in turn, more than is provisioned."""
    put = Pattern("put", "PutItem", rate=rate)
    workload = Workload(
        fields=[
            Field("deviceId", count=300, distribution=Sequential()),
            Field("kind", count=4, distribution=Sequential()),
        ],
        patterns=[put],
        duration=duration,
        warm_up=warm_up,
        retry=retry,
        preload=[Preload(pattern="put", items=300)],
    )
    keys = {"partition": "{deviceId}"} | keys
    design = Design("d", capacity=Capacity(read=5, write=write), indexes=indexes, **keys)
    return Layout(design, workload)


BY_KIND = Index("byKind", partition="{kind}", capacity=Capacity(read=5, write=60))
REFUSED = {
    "a table, standard retries": devices(400, 150),
    "a table, legacy retries": devices(400, 150, retry="legacy"),
    "a table, no retries": devices(200, 150, retry="none", duration=300),
    "a table that was refused before the run": devices(400, 150, warm_up=90),
    "a partition": devices(
        2_500, 5_000, partition="{timestamp:hour}", sort="{deviceId}", duration=300
    ),
    "an index that falls behind and closes": devices(100, 200, indexes=(BY_KIND,), duration=250),
    "splits": Layout(*splitting()),
}
#: No reserve but a small one, and an index that closes after so many seconds.
FEW = Known(Settings(burst_start=0.02, gsi_buffer_seconds=20, split_delay=(60.0, 170.0, 240.0)))


@pytest.mark.parametrize("name", REFUSED)
def test_steadily_refused_time_is_its_seconds(name, monkeypatch):
    """Nothing is alike to whoever allows no difference: every second is played.

    Of admission's answers all but one part in a thousand is certain, so far they may differ.
    """
    layout, worlds = REFUSED[name], draw_worlds(0, 3, FEW)
    seconds = seconds_played(monkeypatch)
    leapt = Worlds(layout).play(worlds)
    few = len(seconds)

    monkeypatch.setattr(step, "_ALIKE", -1.0)
    one_by_one = Worlds(layout).play(worlds)

    assert 0 < few < len(seconds) - few
    assert all(close(one, other, rel=1e-3) for one, other in zip(leapt, one_by_one, strict=True))
    assert [one.first_throttle for one in leapt] == [one.first_throttle for one in one_by_one]
    assert leapt[0].throttled_share > 0


@pytest.mark.parametrize("retry", ["none", "standard", "legacy"])
def test_no_bucket_gives_more_than_it_has(retry):
    """CAP-603: its reserve, and its rate for each second; of all worlds, wherever they leap."""
    layout, worlds = devices(400, 150, retry=retry), draw_worlds(0, 12, Known(Settings()))

    outcomes = Worlds(layout).play(worlds)

    for own, outcome in zip(worlds, outcomes, strict=True):
        reserve = own.settings.burst_start * 300 * 150
        # The first second's tokens are there at once.
        assert outcome.units["table"][1] <= (reserve + 150 * 151) * 1.001


def test_no_index_takes_in_more_than_it_has():
    """CAP-603, CAP2-4."""
    worlds = draw_worlds(0, 12, KNOWN)

    outcomes = Worlds(devices(100, 200, indexes=(BY_KIND,))).play(worlds)

    for own, outcome in zip(worlds, outcomes, strict=True):
        reserve = own.settings.burst_start * 300 * 60
        assert outcome.units["byKind"][1] <= (reserve + 60 * 151) * 1.001


def test_every_request_is_a_call_however_time_passes():
    """Refused reads pass in closed form beside drawn writes that live on a reserve for a while."""
    workload = Workload(
        fields=[Field("user", count=400)],
        patterns=[
            Pattern("put", "PutItem", rate=448, arrivals="poisson"),
            Pattern("get", "GetItem", by=("user",), rate=900, consistent=True),
        ],
        duration=300,
        warm_up=0,
        retry="none",
        preload=[Preload(pattern="put", items=4_000)],
    )
    design = Design("d", partition="{user}", capacity=Capacity(read=500, write=450))

    log = world.run(Layout(design, workload), settings=Settings(burst_start=0.015))

    for record in log.patterns.values():
        assert record.calls == pytest.approx(record.requests, rel=1e-9)
    assert log.patterns["get"].throttled > 0
