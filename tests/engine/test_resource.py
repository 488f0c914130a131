"""A resource: what it serves at once, and with what it begins. CAP-502, CAP-509, CAP2-5."""

import pytest

from emulator.engine.resource import Throughput


@pytest.mark.parametrize(
    ("throughput", "warm"),
    [
        (Throughput("PROVISIONED", 5, 6), (5, 6)),
        (Throughput("PROVISIONED", 5, 6, warm_read=20, warm_write=30), (20, 30)),
        (Throughput("PROVISIONED", 50, 60, warm_read=20, warm_write=30), (50, 60)),
        (Throughput("PAY_PER_REQUEST"), (12_000, 4_000)),
        (
            Throughput("PAY_PER_REQUEST", warm_read=13_000, warm_write=5_000),
            (13_000, 5_000),
        ),
        (Throughput("PAY_PER_REQUEST", warm_read=20, warm_write=30), (12_000, 4_000)),
    ],
)
def test_warm_is_the_larger_of_what_was_asked_and_what_the_mode_gives(throughput, warm):
    """CAP-509, DS-6."""
    assert throughput.warm == warm


@pytest.mark.parametrize(("share", "passed"), [(0.0, 2), (0.5, 2 + 300), (1.0, 2 + 600)])
def test_a_new_table_has_its_share_of_the_reserve(bench, share, passed):
    """CAP2-5: of 300 seconds' units, besides those of the running second."""
    made = bench(burst_start=share)
    made.table(read=1, write=2)
    count = 0
    while made.try_put(pk=f"k{count}") is None:
        count += 1
    assert count == passed
