"""The busiest window: where clients hold calls back, waits come request by request (CAP2-9)."""

from dataclasses import replace

import pytest

from emulator.lab import Capacity, Clients, Design, Field, Pattern, Spikes, Workload, compare
from emulator.lab.analysis import window
from emulator.lab.analysis.window import busiest_window

SMALL = Design("small", partition="{user}", capacity=Capacity(read=5, write=10))


def load(**options):
    spikes = Spikes(base=20, peak=90, every=240, lasting=60)
    put = Pattern("put", "PutItem", rate=spikes, retry=options.pop("retry", None))
    return Workload(
        fields=[Field("user", count=50)], patterns=[put], duration=300, warm_up=0, **options
    )


def result_of(workload, **options):
    quickly = {"headroom": False, "sensitivity": False, "fix": False, "worlds": 2} | options
    return compare(workload, [SMALL], engine="aggregate", **quickly).designs[0]


@pytest.mark.parametrize(
    ("retry", "clients"), [("adaptive", 3), (None, Clients(count=3, concurrency=2))]
)
def test_waits_of_clients_that_hold_calls_back_are_those_of_the_exact_engine(retry, clients):
    """CAP2-9: and risk, refusals and units stay those of the many worlds."""
    limited = result_of(load(retry=retry, clients=clients))
    plain = result_of(load(retry="standard" if retry else None, clients=3))

    assert limited.window is not None
    assert plain.window is None
    assert limited.risk == plain.risk
    assert limited.patterns[0].throttled == plain.patterns[0].throttled
    assert limited.patterns[0].units == plain.patterns[0].units
    waits = [own.patterns[0].added_latency_seconds.p99 for own in (limited, plain)]
    assert waits[0] > waits[1]


def test_the_window_is_the_busiest_of_so_many_attempts(monkeypatch):
    monkeypatch.setattr(window, "MOST_ATTEMPTS", 4_000)
    workload = load(clients=Clients(concurrency=1))
    patterns = result_of(load()).patterns
    once = [replace(own, attempts=own.requests) for own in patterns]

    first, last = busiest_window(workload, once)

    rates = workload.rates(workload.patterns[0])
    assert rates[first:last].sum() <= 4_000
    others = [rates[at : at + last - first].sum() for at in range(0, 300, 60)]
    assert all(other <= rates[first:last].sum() or other > 4_000 for other in others)


def test_a_second_with_too_many_attempts_is_a_window_of_its_own(monkeypatch):
    monkeypatch.setattr(window, "MOST_ATTEMPTS", 10)
    workload = load(clients=Clients(concurrency=1))
    first, last = busiest_window(workload, result_of(load()).patterns)
    assert last - first == 1
