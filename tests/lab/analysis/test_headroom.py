"""Where the search for headroom begins."""

from types import SimpleNamespace

import pytest

from emulator.lab.analysis.headroom import likely_headroom


def case(*, partition, key, write=2800.0, provisioned=5000.0):
    def axis(units):
        return SimpleNamespace(per_minute=SimpleNamespace(provisioned=(units,)))

    table = SimpleNamespace(
        name="table",
        hottest_partition_share=partition,
        hottest_key_share=key,
        read=axis(0.0),
        write=axis(provisioned),
    )
    offered = {"table": SimpleNamespace(axis=lambda number: (0.0, write)[number])}
    return SimpleNamespace(resources=[table], offered=offered)


@pytest.mark.parametrize(
    ("partition", "key", "expected"),
    [
        (1.0, 1.0, 1000 / 2800),
        (0.5, 1.0, 1000 / 2800),  # it was split in the run; a smaller load may not split it
        (0.5, 0.1, 2000 / 2800),
        (0.01, 0.01, 5000 / 2800),  # the table's own capacity comes first
    ],
)
def test_a_key_is_in_one_partition_until_that_is_split(partition, key, expected):
    assert likely_headroom(case(partition=partition, key=key)) == pytest.approx(expected)
