"""The log of a run: the limits that are in force."""

from emulator.capacity import READ, WRITE
from emulator.lab import Capacity
from tests.lab.analysis.test_costs import make_log


def test_a_table_on_demand_serves_no_more_than_its_quota():
    """CAP-615: its partitions could."""
    log = make_log(capacity=Capacity(warm_write=40_000))
    [record] = log.resources.values()
    record.sample(0, 0)
    assert len(record.resource.partitions) == 40
    assert [record.provisioned[axis][0] for axis in (READ, WRITE)] == [40_000, 40_000]
