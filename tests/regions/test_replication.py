"""Replication over time: outages, threads, snapshots, and what is held for how long."""

import threading

import pytest

from emulator import ApiError, Emulator, ManualClock, Settings
from emulator.engine.namespaces import Namespace
from emulator.regions import replication
from tests.tables import table

HOME, EUROPE, ASIA = "us-east-1", "eu-west-1", "ap-south-1"


def world(*regions, access_key=None, clock=None, **settings):
    """Return an emulator with one table in several regions."""
    emu = Emulator(clock=clock or ManualClock(), settings=Settings(**settings))
    emu.call("CreateTable", table(), access_key=access_key)
    updates = [{"Create": {"RegionName": region}} for region in regions]
    request = {"TableName": "tab", "ReplicaUpdates": updates}
    emu.call("UpdateTable", request, access_key=access_key)
    return emu


def put(emu, region, pk, **where):
    emu.call("PutItem", {"TableName": "tab", "Item": {"pk": {"S": pk}}}, region=region, **where)


def keys(emu, region, **where):
    items = emu.call("Scan", {"TableName": "tab"}, region=region, **where)["Items"]
    return sorted(item["pk"]["S"] for item in items)


def test_an_outage_holds_back_what_goes_to_and_comes_from_a_region():
    """GTB-1: until it ends, and then everything arrives at once."""
    emu = world(EUROPE, ASIA)
    start = emu.clock.now()
    put(emu, EUROPE, "from")
    emu.faults.add(kind="outage", regions=EUROPE, after=start + 0.5, until=start + 100)
    put(emu, HOME, "to")
    emu.clock.advance(50)
    assert keys(emu, HOME) == keys(emu, ASIA) == ["to"]
    with pytest.raises(ApiError) as caught:
        keys(emu, EUROPE)
    assert (caught.value.code, caught.value.status) == ("InternalServerError", 500)
    emu.clock.advance(50)
    assert keys(emu, HOME) == keys(emu, EUROPE) == ["from", "to"]
    (latency,) = {
        emu.account(region).metrics.sum("ReplicationLatency", table="tab") for region in (EUROPE,)
    }
    assert latency == 100_000


def test_an_outage_without_end_ends_with_its_rule():
    """GTB-1."""
    emu = world(EUROPE)
    outage = emu.faults.add(kind="outage", regions=(EUROPE,))
    put(emu, HOME, "a")
    emu.clock.advance(10_000)
    emu.faults.rules.remove(outage)
    assert keys(emu, EUROPE) == ["a"]


def test_expired_items_go_also_while_the_first_replica_is_out():
    """GTB-2: the next replica deletes them, and the first learns of it."""
    emu = world(EUROPE)
    ttl = {"Enabled": True, "AttributeName": "ttl"}
    emu.call("UpdateTimeToLive", {"TableName": "tab", "TimeToLiveSpecification": ttl})
    now = emu.clock.now()
    item = {"pk": {"S": "a"}, "ttl": {"N": str(int(now) + 30)}}
    emu.call("PutItem", {"TableName": "tab", "Item": item})
    emu.faults.add(kind="outage", regions=HOME, after=now + 10, until=now + 600)
    emu.clock.advance(120)
    assert keys(emu, EUROPE) == []
    emu.clock.advance(600)
    assert keys(emu, HOME) == []
    counts = [
        emu.account(region).metrics.sum("TimeToLiveDeletedItemCount", table="tab")
        for region in (HOME, EUROPE)
    ]
    assert counts == [0, 1]


def test_most_regions_out_of_reach_leave_nothing_to_agree_with():
    """GTB-6: a majority is needed."""
    emu = Emulator(clock=ManualClock())
    emu.call("CreateTable", table())
    creation = [{"Create": {"RegionName": "us-east-2"}}]
    witness = [{"Create": {"RegionName": "us-west-2"}}]
    request = {"TableName": "tab", "ReplicaUpdates": creation}
    request |= {"GlobalTableWitnessUpdates": witness, "MultiRegionConsistency": "STRONG"}
    emu.call("UpdateTable", request)
    emu.faults.add(kind="outage", regions="us-west-2")
    put(emu, HOME, "a")
    emu.faults.add(kind="outage", regions="us-east-2")
    with pytest.raises(ApiError, match="majority"):
        put(emu, HOME, "b")
    emu.faults.clear()
    assert keys(emu, "us-east-2") == ["a"]


def test_a_key_has_global_tables_of_its_own():
    """GTB-1: data of different access keys is apart in all regions."""
    emu = world(EUROPE, access_key="ann")
    put(emu, HOME, "a", access_key="ann")
    emu.clock.advance(1)
    assert keys(emu, EUROPE, access_key="ann") == ["a"]
    assert emu.call("ListTables", {}, region=EUROPE) == {"TableNames": []}
    assert emu.within(Namespace("ann", EUROPE)).call("ListTables", {}) == {"TableNames": ["tab"]}


def test_what_every_key_sees_is_replicated_for_every_key():
    """GTB-1."""
    emu = world(EUROPE)
    put(emu, HOME, "a", access_key="ann")
    emu.clock.advance(1)
    assert keys(emu, EUROPE, access_key="bob") == ["a"]
    emu.call("DeleteTable", {"TableName": "tab"}, region=EUROPE, access_key="bob")
    assert keys(emu, HOME, access_key="bob") == ["a"]


def test_a_region_that_was_emptied_on_its_own_is_in_nobody_s_way():
    """GTB-5: the others go on, and its replica can be deleted and made anew."""
    emu = world(EUROPE, ASIA)
    put(emu, EUROPE, "a")
    emu.within(Namespace(None, EUROPE)).reset()
    put(emu, HOME, "b")
    emu.clock.advance(1)
    assert keys(emu, ASIA) == ["a", "b"]
    change = {"TableName": "tab", "BillingMode": "PROVISIONED"}
    units = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
    emu.call("UpdateTable", change | {"ProvisionedThroughput": units})
    override = {"Update": {"RegionName": EUROPE, "TableClassOverride": "STANDARD"}}
    ttl = {"Enabled": True, "AttributeName": "ttl"}
    emu.call("UpdateTimeToLive", {"TableName": "tab", "TimeToLiveSpecification": ttl})
    for update in (
        override,
        {"Delete": {"RegionName": EUROPE}},
        {"Create": {"RegionName": EUROPE}},
    ):
        emu.call("UpdateTable", {"TableName": "tab", "ReplicaUpdates": [update]})
    assert keys(emu, EUROPE) == ["a", "b"]


def test_a_snapshot_has_what_is_on_its_way():
    """GTB-1: and goes back to it as often as wanted."""
    emu = world(EUROPE)
    put(emu, HOME, "a")
    state = emu.snapshot()
    for _ in range(2):
        emu.restore(state)
        put(emu, EUROPE, "b")
        emu.clock.advance(1)
        assert keys(emu, HOME) == keys(emu, EUROPE) == ["a", "b"]
    emu.reset()
    assert not emu.account(HOME).network.accounts


def test_a_snapshot_has_the_regions_of_its_moment():
    """GTB-1: one that is added later is not in it."""
    emu = world(EUROPE)
    state = emu.snapshot()
    emu.call(
        "UpdateTable",
        {"TableName": "tab", "ReplicaUpdates": [{"Create": {"RegionName": ASIA}}]},
    )
    emu.restore(state)
    described = emu.call("DescribeTable", {"TableName": "tab"})["Table"]
    assert [replica["RegionName"] for replica in described["Replicas"]] == [EUROPE]


@pytest.mark.parametrize("consistency", ["EVENTUAL", "STRONG"])
def test_threads_in_several_regions_neither_hang_nor_lose_anything(consistency):
    """GTB-1, GTB-6: a counter of a strong group misses no increment that was acknowledged."""
    regions = (HOME, "us-east-2", "us-west-2")
    emu = Emulator(clock=ManualClock(), settings=Settings(replication_lag=0))
    emu.call("CreateTable", table())
    creations = [{"Create": {"RegionName": region}} for region in regions[1:]]
    request = {"TableName": "tab", "ReplicaUpdates": creations}
    emu.call("UpdateTable", request | {"MultiRegionConsistency": consistency})
    counted = []

    def work(region):
        for number in range(20):
            put(emu, region, f"{region}/{number}")
            increment = {
                "TableName": "tab",
                "Key": {"pk": {"S": "counter"}},
                "UpdateExpression": "ADD n :1",
                "ExpressionAttributeValues": {":1": {"N": "1"}},
            }
            emu.call("UpdateItem", increment, region=region)
            counted.append(1)
            emu.call("DescribeTable", {"TableName": "tab"}, region=region)

    threads = [threading.Thread(target=work, args=(region,)) for region in regions * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    contents = [
        sorted(emu.call("Scan", {"TableName": "tab"}, region=region)["Items"], key=repr)
        for region in regions
    ]
    assert contents[0] == contents[1] == contents[2]
    assert len(contents[0]) == 61
    if consistency == "STRONG":
        (counter,) = [item["n"] for item in contents[0] if "n" in item]
        assert counter == {"N": str(len(counted))}


def test_when_an_item_expires_is_asked_under_the_lock_of_its_region(monkeypatch):
    """GTB-2: another thread may be writing there."""
    emu = world(EUROPE)
    account, asked = emu.account(EUROPE), []

    def next_expiry_ns(account):
        asked.append(account.lock._is_owned())
        return float("inf")

    monkeypatch.setattr(replication, "next_expiry_ns", next_expiry_ns)
    assert not account.lock._is_owned()
    replication.catch_up(account.network, account.now_ns)
    assert asked == [True, True]


@pytest.mark.parametrize("units", [40_001, 10**12])
def test_a_replica_has_no_more_units_than_a_table_may_have(units):
    """CAP-615: a partition would be made for every few thousand of them."""
    emu = Emulator(clock=ManualClock())
    emu.call("CreateTable", table(provisioned=(5, 5)))
    override = {"ProvisionedThroughputOverride": {"ReadCapacityUnits": units}}
    create = {"Create": {"RegionName": EUROPE} | override}
    with pytest.raises(ApiError, match="exceeds the per-table limit of 40000"):
        emu.call("UpdateTable", {"TableName": "tab", "ReplicaUpdates": [create]})
