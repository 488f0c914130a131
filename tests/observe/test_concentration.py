"""Concentration: the hottest key and partition, and the rate at which throttling would begin."""

import pytest

from emulator import Emulator, ManualClock
from emulator.observe import Ledger
from emulator.testing.table_notation import create_request


def ledger_of(emulator):
    ledger = Ledger()
    emulator.events.subscribe(ledger.hear)
    return ledger


@pytest.fixture
def emulator():
    return Emulator(clock=ManualClock(), capacity="off")


def test_shares_are_of_the_units_of_one_resource_and_axis(emulator):
    emulator.call("CreateTable", create_request("orders", "day", "id", indexes={"kinds": "kind"}))
    ledger = ledger_of(emulator)
    orders = emulator.table("orders")
    for number, day in enumerate("aaab"):
        orders.put_item(Item={"day": day, "id": str(number), "kind": "x", "text": "é" * 300})
    orders.get_item(Key={"day": "b", "id": "3"}, ConsistentRead=True)
    loads = {
        (load.resource.rpartition("/")[2], load.axis): load for load in ledger.concentration.loads
    }
    table, index, read = loads["orders", "Write"], loads["kinds", "Write"], loads["orders", "Read"]
    assert (table.units, table.hottest_key, table.key_share) == (4, ("a",), 0.75)
    assert (table.collections, table.units_per_collection) == (2, 2)
    assert (index.units, index.hottest_key, index.key_share) == (4, ("x",), 1)
    assert (index.partitions, index.partition_share) == (1, 1)
    assert (read.units, read.hottest_key) == (1, ("b",))


def test_what_was_drawn_on_most_comes_first(emulator):
    for name in ("few", "most"):
        emulator.call("CreateTable", create_request(name, "pk"))
    ledger = ledger_of(emulator)
    for name, count in (("few", 1), ("most", 3)):
        for number in range(count):
            emulator.table(name).put_item(Item={"pk": str(number)})
    found = [load.resource.rpartition("/")[2] for load in ledger.concentration.loads]
    assert found == ["most", "few"]


def test_the_first_limit_is_the_one_that_the_least_rate_passes(emulator):
    emulator.call("CreateTable", create_request("spread", provisioned=(10, 40)))
    ledger = ledger_of(emulator)
    for number in range(20):
        emulator.table("spread").put_item(Item={"pk": str(number)})
        emulator.table("spread").get_item(Key={"pk": str(number)})
    limit = ledger.concentration.first_limit(ledger.requests)
    assert limit.reason.reason == "TableReadProvisionedThroughputExceeded"
    assert (limit.units_per_second, limit.runs_per_second) == (10, 1)
    assert limit.requests_per_second == 40


def test_an_even_pace_just_above_the_first_limit_throttles_and_just_below_does_not():
    def throttles(factor):
        clock = ManualClock()
        emulator = Emulator(clock=clock)
        emulator.call("CreateTable", create_request("events", "hour", "id"))
        ledger = ledger_of(emulator)
        hours = ["10:00", "10:00", "10:00", "11:00"] * 1_000
        for number, hour in enumerate(hours):
            clock.advance(1 / (1_333 * factor))
            emulator.table("events").put_item(Item={"hour": hour, "id": str(number)})
        limit = ledger.concentration.first_limit(ledger.requests)
        assert limit.requests_per_second == pytest.approx(1_333, abs=1)
        return ledger.throttles

    assert throttles(0.99) == 0
    assert throttles(2) > 0


def test_a_scan_heats_partitions_and_names_no_key(emulator):
    emulator.call("CreateTable", create_request("orders"))
    emulator.table("orders").put_item(Item={"pk": "a"})
    ledger = ledger_of(emulator)
    emulator.table("orders").scan()
    [load] = ledger.concentration.loads
    assert (load.hottest_key, load.key_share, load.collections) == ((), 0, 0)
    assert ledger.concentration.first_limit(1).reason.reason.startswith("TableReadKeyRange")


def test_a_table_and_its_indexes_share_their_quota(emulator):
    request = create_request("orders", indexes={f"by_{name}": name for name in "abcde"})
    emulator.call("CreateTable", request)
    ledger = ledger_of(emulator)
    for number in range(400):
        keys = {name: f"{name}{number}" for name in "abcde"}
        emulator.table("orders").put_item(Item={"pk": str(number), **keys})
    limits = {own[0].reason: own[2] for own in ledger.concentration._limits(requests=400)}
    assert limits["TableWriteAccountLimitExceeded"] == 6 * 400


def test_a_restored_table_is_the_same_resource(emulator):
    emulator.call("CreateTable", create_request("orders"))
    ledger = ledger_of(emulator)
    snapshot = emulator.snapshot()
    for _ in range(2):
        emulator.table("orders").put_item(Item={"pk": "a"})
        emulator.restore(snapshot)
    [load] = ledger.concentration.loads
    assert load.units == 2


def test_what_consumed_nothing_has_no_limit():
    assert Ledger().concentration.first_limit(0) is None


def shown(ledger):
    """Return the key of the limit that a ledger's calls show, None if they show none."""
    limit = ledger.concentration.first_limit(ledger.requests, shown_only=True)
    if limit is None:
        return None
    [load] = [one for one in ledger.concentration.loads if one.resource == limit.reason.resource]
    return load.hottest_key


@pytest.mark.parametrize(
    ("calls", "others", "key"), [(20, 10, ("hot",)), (19, 10, None), (20, 9, None)]
)
def test_a_key_is_hot_if_enough_calls_used_it_beside_enough_others(emulator, calls, others, key):
    emulator.call("CreateTable", create_request("orders"))
    ledger = ledger_of(emulator)
    for number in range(others):
        emulator.table("orders").put_item(Item={"pk": str(number)})
    for _ in range(calls):
        emulator.table("orders").put_item(Item={"pk": "hot"})
    assert shown(ledger) == key


@pytest.mark.parametrize(("calls", "key"), [(200, ("hot",)), (199, None)])
def test_a_loop_shows_a_hot_key_by_itself(emulator, calls, key):
    emulator.call("CreateTable", create_request("orders"))
    ledger = ledger_of(emulator)
    for _ in range(calls):
        emulator.table("orders").put_item(Item={"pk": "hot"})
    assert shown(ledger) == key


def test_calls_of_several_lines_are_no_loop(emulator):
    emulator.call("CreateTable", create_request("orders"))
    ledger = ledger_of(emulator)
    for _ in range(100):
        emulator.table("orders").put_item(Item={"pk": "user"})
        emulator.table("orders").put_item(Item={"pk": "user", "again": True})
    assert shown(ledger) is None


def test_single_writes_under_fresh_keys_show_nothing(emulator):
    emulator.call("CreateTable", create_request("orders"))
    ledger = ledger_of(emulator)
    for number in range(300):
        emulator.table("orders").put_item(Item={"pk": str(number)})
    assert shown(ledger) is None


def test_a_batch_is_one_call_of_a_key(emulator):
    emulator.call("CreateTable", create_request("orders", sort="sk"))
    ledger = ledger_of(emulator)
    for start in range(0, 25 * 10, 25):
        puts = [{"pk": "hot", "sk": str(start + number)} for number in range(25)]
        with emulator.table("orders").batch_writer() as batch:
            for put in puts:
                batch.put_item(Item=put)
    assert shown(ledger) is None
