"""A table: what it holds is what was written, and its copy goes its own way."""

import pytest

from emulator.capacity import TokenBucket
from tests.engine.conftest import Bench, gsi, lsi, wire


def buckets(table):
    """Return every bucket that a table and its indexes draw on."""
    meters = [resource.meter for resource in table.resources()]
    made = [bucket for meter in meters for pair in meter.partitions.values() for bucket in pair]
    made += [bucket for meter in meters for limits in meter.limits for bucket in limits]
    made += table.quota.buckets
    return [bucket for bucket in made if isinstance(bucket, TokenBucket)]


@pytest.fixture(params=["on demand", "provisioned"])
def table(request):
    bench = Bench()
    units = {} if request.param == "on demand" else {"read": 10, "write": 10}
    bench.table(
        key=("pk", "sk"),
        **units,
        GlobalSecondaryIndexes=[gsi("global", "g", **units)],
        LocalSecondaryIndexes=[lsi("local", "pk", "l")],
    )
    bench.put(pk="p", sk="s", g="g", l="l")
    return bench.emu.account().tables["tab"]


def test_a_copy_shares_no_bucket(table):
    """Tokens spent after a snapshot are there again when it is restored."""
    twin = table.copy()
    own, others = buckets(table), buckets(twin)
    assert len(own) == len(others) > 0
    assert not {id(bucket) for bucket in own} & {id(bucket) for bucket in others}
    assert [bucket.save() for bucket in own] == [bucket.save() for bucket in others]
    assert all(resource.meter.quota is twin.quota for resource in twin.resources())


def test_what_is_deleted_leaves_no_bytes_behind():
    """CAP-110: partitions, indexes and collections are as before."""
    bench = Bench(capacity="off")
    bench.table(
        key=("pk", "sk"),
        GlobalSecondaryIndexes=[gsi("global", "g")],
        LocalSecondaryIndexes=[lsi("local", "pk", "l")],
    )
    bench.put(pk="p", sk="s", g="g", l="l", v="x" * 300)
    bench.put(pk="p", sk="s", g="h", l="m", v="x" * 100)
    key = wire({"pk": "p", "sk": "s"})
    bench.emu.call("DeleteItem", {"TableName": "tab", "Key": key})
    table = bench.emu.account().tables["tab"]
    for resource in table.resources():
        assert {(one.items, one.size_bytes) for one in resource.partitions} == {(0, 0)}
    assert [table.store.size_bytes, *(i.store.size_bytes for i in table.indexes.values())] == [
        0
    ] * 3
    assert not any(table.collection_bytes.values())


@pytest.mark.parametrize("index", [None, "global"])
def test_a_copy_has_its_own_view_of_the_past(index):
    """CAP-1104, CAP-1105: what is written later is not seen there."""
    bench = Bench(capacity="off", ec_lag=1.0, gsi_lag=1.0)
    bench.table(GlobalSecondaryIndexes=[gsi("global", "g")])
    bench.put(pk="a", g="x")
    table = bench.emu.account().tables["tab"]
    twin = table.copy()
    bench.put(pk="b", g="x")
    later_ns = bench.emu.account().now_ns + 2 * 10**9

    def seen(of):
        if index is None:
            return len(of.visible(later_ns, consistent=False))
        return len(of.indexes[index].visible(later_ns))

    assert (seen(table), seen(twin)) == (2, 1)
