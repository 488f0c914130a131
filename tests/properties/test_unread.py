"""A server that is attacked by clients which read nothing; the command plays ten waves of them."""

import pytest

from benchmarks.reliability.unread import LIMIT_MIB, MARGIN_MIB, Wave, attacks, judged, run


@pytest.mark.parametrize(
    ("most", "after", "complaints"),
    [
        (LIMIT_MIB + MARGIN_MIB + 30, MARGIN_MIB + 30, []),
        (LIMIT_MIB + MARGIN_MIB + 31, 30, ["wave 2: 351 MiB at most"]),
        (30, MARGIN_MIB + 31, ["wave 2: 95 MiB afterwards"]),
    ],
)
def test_a_wave_is_judged_by_its_memory(most, after, complaints):
    waves = [Wave("1 MB", 30, 30, 0), Wave("1 MB", most, after, 0)]
    assert judged(waves, 30) == complaints


def test_a_server_comes_back_after_clients_that_read_nothing():
    first, waves = run(1, connections=40)
    assert [wave.attack for wave in waves] == list(attacks())[:1]
    assert waves[0].kept == 40
    assert waves[0].most_mib > first + 5
    assert judged(waves, first) == []
