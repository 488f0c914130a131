"""How writes reach global indexes: through a queue that waits, fills up and closes (CAP2-4)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator import BudgetExceeded, Emulator, ManualClock, Settings
from emulator.observe import IndexClosed, IndexDelayed
from emulator.storage import HASH_SPACE, entry_of
from tests.engine.conftest import Bench, gsi, wire
from tests.tables import table

INDEX_ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/tab/index/gsi"


def starved(bench, *, write=100, index_write=5, **more):
    """Return a bench whose index has less room than its table."""
    made = bench(**more)
    indexes = [gsi("gsi", "g", read=100, write=index_write)]
    made.table(read=100, write=write, GlobalSecondaryIndexes=indexes)
    return made


def entries(made, name="gsi"):
    """Return the keys of the items that a reader of the index sees."""
    answer = made.emu.call("Scan", {"TableName": "tab", "IndexName": name})
    return {item["pk"]["S"] for item in answer["Items"]}


def events(made, metric, **dimensions):
    return made.emu.metrics.sum(metric, table="tab", **dimensions)


def test_a_base_write_does_not_wait_for_its_index(bench):
    """CAP2-4.1, MEA-4: 100 puts a second into an index of 5."""
    made = starved(bench)
    for second in range(10):
        for number in range(100):
            assert made.try_put(pk=f"{second}-{number}", g="x") is None
        made.clock.advance(1)
    assert events(made, "ConsumedWriteCapacityUnits") == 1_000
    assert events(made, "ConsumedWriteCapacityUnits", index="gsi") == 5 + 10 * 5
    assert made.emu.backlog("tab", "gsi").units == 1_000 - 55


def test_a_receipt_has_the_index_arm_whether_it_waits_or_not(bench):
    """CAP2-4.1."""
    made = starved(bench, index_write=1)
    costs = [made.put(pk=f"{n}", g="x")["GlobalSecondaryIndexes"] for n in range(3)]
    assert costs == [{"gsi": {"CapacityUnits": 1.0}}] * 3


def test_a_change_that_waits_is_one_throttle_event_of_the_index_at_once(bench):
    """CAP2-4.2."""
    made = starved(bench)
    for number in range(12):
        made.put(pk=f"{number}", g="x")
    assert events(made, "WriteThrottleEvents", index="gsi") == 7
    assert events(made, "WriteProvisionedThroughputThrottleEvents", index="gsi") == 7
    made.clock.advance(60)
    assert events(made, "WriteThrottleEvents", index="gsi") == 7
    assert events(made, "WriteThrottleEvents") == 0
    assert events(made, "ThrottledRequests") == 0
    assert made.emu.backlog("tab", "gsi").units == 0


def test_reads_of_the_index_see_what_was_applied(bench):
    """CAP2-4.5: and nothing of it is lost."""
    made = starved(bench)
    for number in range(12):
        made.put(pk=f"{number:02}", g="x")
    assert entries(made) == {f"{n:02}" for n in range(5)}
    made.clock.advance(1)
    assert entries(made) == {f"{n:02}" for n in range(10)}
    made.clock.advance(1)
    assert entries(made) == {f"{n:02}" for n in range(12)}


def test_a_lag_counts_from_acceptance(bench):
    """CAP2-4.5: seen at the later of accepted + gsi_lag and applied."""
    made = starved(bench, gsi_lag=1.5)
    for number in range(10):
        made.put(pk=f"{number:02}", g="x")
    made.clock.advance(1.25)
    assert entries(made) == set()
    made.clock.advance(0.25)
    assert entries(made) == {f"{n:02}" for n in range(10)}


def test_backlog_and_age_are_visible(bench):
    """CAP2-4.5."""
    made = starved(bench, index_write=1)
    for number in range(6):
        made.put(pk=f"{number}", g="x")
    made.clock.advance(2)
    backlog = made.emu.backlog("tab", "gsi")
    assert (backlog.units, backlog.buffer, backlog.oldest_wait) == (3.0, 30_000.0, 2.0)
    assert not backlog.is_closed
    assert backlog.closes_in == pytest.approx((30_000 - 3) / 1.5)
    [view] = made.emu.partitions("tab", "gsi")
    assert (view.waiting_write, view.oldest_wait) == (3.0, 2.0)
    assert made.emu.partitions("tab")[0].waiting_write == 0


def test_a_backlog_that_only_drains_closes_nothing(bench):
    """CAP2-4.5."""
    made = starved(bench, index_write=1, write=200)
    for number in range(200):
        made.put(pk=f"{number}", g="x")
    made.clock.advance(59)
    assert made.emu.backlog("tab", "gsi").closes_in is not None
    made.clock.advance(1)
    assert made.emu.backlog("tab", "gsi").closes_in is None


def test_the_backlog_is_reported_by_the_minute(bench):
    """CAP2-4.5: not a metric of the service."""
    made = starved(bench, index_write=1, write=200)
    for number in range(101):
        made.put(pk=f"{number}", g="x")
    made.clock.advance(120)
    assert made.emu.metrics.sum("IndexBacklogUnits", table="tab", index="gsi") == 40
    assert made.emu.metrics.sum("IndexBacklogSeconds", table="tab", index="gsi") == 60


def test_who_listens_hears_of_delays_and_closings(bench):
    made = starved(bench, index_write=1, write=10, gsi_buffer_seconds=0.5)
    heard = []
    made.emu.events.subscribe(heard.append)
    for number in range(6):
        made.put(pk=f"{number}", g="x")
    delayed = [event for event in heard if isinstance(event, IndexDelayed)]
    assert [event.resource for event in delayed] == [INDEX_ARN] * 5
    assert delayed[0].reasons[0].reason == "IndexWriteProvisionedThroughputExceeded"
    [closed] = [event for event in heard if isinstance(event, IndexClosed)]
    assert (closed.resource, closed.backlog) == (INDEX_ARN, 5.0)


def closed_table(bench, **more):
    """Return a bench whose index is closed: six units wait, and the buffer holds five."""
    made = starved(bench, write=10, index_write=1, gsi_buffer_seconds=0.5, **more)
    for number in range(6):
        made.put(pk=f"{number}", g="x")
    return made


def test_a_full_buffer_refuses_every_write_of_the_table(bench):
    """CAP2-4.4, MEA-5: of items outside the index, too."""
    made = closed_table(bench)
    for item in ({"pk": "in", "g": "x"}, {"pk": "out"}):
        error = made.try_put(**item)
        assert error.code == "ProvisionedThroughputExceededException"
        assert error.members["ThrottlingReasons"] == [
            {"reason": "IndexWriteProvisionedThroughputExceeded", "resource": INDEX_ARN}
        ]
    key = {"pk": {"S": "1"}}
    assert made.attempt("DeleteItem", TableName="tab", Key=key) is not None
    assert made.attempt("GetItem", TableName="tab", Key=key) is None
    assert events(made, "WriteThrottleEvents", index="gsi") == 5 + 3
    assert events(made, "WriteThrottleEvents") == 0
    assert events(made, "ThrottledRequests", operation="PutItem") == 2


def test_a_closed_index_opens_after_its_time(bench):
    """CAP2-4.4."""
    made = closed_table(bench)
    made.clock.advance(29.999)
    assert made.try_put(pk="early") is not None
    made.clock.advance(0.001)
    assert made.try_put(pk="late", g="x") is None


def test_a_closed_index_refuses_batches_and_transactions(bench):
    """CAP2-4.4, CAP2-4.8."""
    made = closed_table(bench)
    put = {"PutRequest": {"Item": wire({"pk": "b"})}}
    error = made.attempt("BatchWriteItem", RequestItems={"tab": [put]})
    assert error.code == "ProvisionedThroughputExceededException"
    action = {"Put": {"TableName": "tab", "Item": wire({"pk": "t"})}}
    error = made.attempt("TransactWriteItems", TransactItems=[action])
    assert error.code == "TransactionCanceledException"
    [reason] = error.members["CancellationReasons"]
    assert reason["Code"] == "ProvisionedThroughputExceeded"


def test_without_a_buffer_only_writes_to_the_index_are_refused(bench):
    """CAP2-4.6: CAP-609."""
    made = starved(bench, index_write=1, gsi_buffer_seconds=0)
    assert made.try_put(pk="a", g="x") is None
    assert made.try_put(pk="b", g="x").code == "ProvisionedThroughputExceededException"
    assert made.try_put(pk="c") is None
    assert made.emu.backlog("tab", "gsi").units == 0


@pytest.mark.parametrize("capacity", ["observe", "off"])
def test_only_enforce_delays_index_reads(bench, capacity):
    """CAP2-4.7."""
    made = starved(bench, capacity=capacity, index_write=1)
    for number in range(4):
        made.put(pk=f"{number}", g="x")
    assert entries(made) == {"0", "1", "2", "3"}
    waiting = made.emu.backlog("tab", "gsi").units
    assert waiting == (3.0 if capacity == "observe" else 0.0)
    made.clock.advance(10)
    assert made.emu.backlog("tab", "gsi").units == 0
    assert events(made, "WriteThrottleEvents", index="gsi") == waiting


def test_observe_records_what_a_closed_index_would_refuse(bench):
    """CAP2-4.7: and does not let it wait, since the service would not have accepted it."""
    made = closed_table(bench, capacity="observe")
    assert made.try_put(pk="in", g="x") is None
    assert made.emu.last_receipt.reasons[0].resource == INDEX_ARN
    assert made.emu.backlog("tab", "gsi").units == 5
    assert events(made, "ThrottledRequests", operation="PutItem") == 1


@pytest.mark.parametrize("capacity", ["observe", "enforce"])
def test_a_budget_counts_the_first_throttle_event_of_an_index(bench, capacity):
    """A short test still catches a starved index."""
    made = starved(bench, capacity=capacity, index_write=1)
    made.put(pk="a", g="x")
    with pytest.raises(BudgetExceeded, match=r"1 item operation"), made.emu.budget(throttles=0):
        made.put(pk="b", g="x")


def test_what_waits_survives_a_snapshot(bench):
    """CAP2-4.8."""
    made = starved(bench, index_write=1)
    for number in range(4):
        made.put(pk=f"{number}", g="x")
    snapshot = made.emu.snapshot()
    made.clock.advance(10)
    assert entries(made) == {"0", "1", "2", "3"}
    made.emu.restore(snapshot)
    assert made.emu.backlog("tab", "gsi").units == 3
    made.clock.advance(10)
    assert entries(made) == {"0", "1", "2", "3"}


def test_what_waits_survives_a_file(bench, tmp_path):
    """CAP2-4.8: changes of every kind, and the closed index."""
    made = closed_table(bench)
    path = tmp_path / "saved.snapshot"
    before = entries(made)
    made.emu.save(path)
    loaded = Emulator.load(
        path,
        clock=ManualClock(made.clock.now()),
        capacity="enforce",
        settings=Settings(gsi_buffer_seconds=0.5),
    )
    again = starved(bench)
    again.emu, again.clock = loaded, loaded.clock
    assert loaded.backlog("tab", "gsi") == made.emu.backlog("tab", "gsi")
    assert entries(again) == before
    assert again.try_put(pk="x") is not None
    for one in (made, again):
        one.clock.advance(60)
    assert entries(again) == entries(made) == {str(number) for number in range(6)}
    observing = Emulator.load(path, capacity="observe")
    assert observing.backlog("tab", "gsi").units == 0
    assert len(observing.call("Scan", {"TableName": "tab", "IndexName": "gsi"})["Items"]) == 6


def test_a_queue_ends_with_its_index(bench):
    """CAP2-4.8."""
    made = closed_table(bench)
    deleted = [{"Delete": {"IndexName": "gsi"}}]
    made.emu.call("UpdateTable", {"TableName": "tab", "GlobalSecondaryIndexUpdates": deleted})
    assert made.try_put(pk="x", g="x") is None
    made.clock.advance(60)
    assert not made.emu.account().has_backlog


def test_a_raised_index_drains_faster(bench):
    """CAP2-4.8."""
    made = starved(bench, index_write=1, write=200)
    for number in range(101):
        made.put(pk=f"{number}", g="x")
    units = {"ReadCapacityUnits": 100, "WriteCapacityUnits": 50}
    raised = [{"Update": {"IndexName": "gsi", "ProvisionedThroughput": units}}]
    made.emu.call("UpdateTable", {"TableName": "tab", "GlobalSecondaryIndexUpdates": raised})
    made.clock.advance(2)
    assert made.emu.backlog("tab", "gsi").units == 0


def test_the_buffer_follows_the_warm_throughput_of_the_table(bench):
    """CAP2-4.3: it never shrinks; on demand it begins at 4,000 units a second."""
    made = starved(bench)
    assert made.emu.backlog("tab", "gsi").buffer == 300 * 100
    for write in (200, 50):
        units = {"ReadCapacityUnits": 100, "WriteCapacityUnits": write}
        made.emu.call("UpdateTable", {"TableName": "tab", "ProvisionedThroughput": units})
    assert made.emu.backlog("tab", "gsi").buffer == 300 * 200
    other = bench()
    other.table(GlobalSecondaryIndexes=[gsi("gsi", "g")])
    assert other.emu.backlog("tab", "gsi").buffer == 300 * 4_000


def test_heat_of_an_index_is_what_was_applied_there(bench):
    """CAP2-2: a starved index is not split for what waits."""
    made = starved(bench, index_write=1, write=2_000)
    for _ in range(4):
        for number in range(1_000):
            made.put(pk=f"{number}", g="x", v="1")
            made.put(pk=f"{number}", g="y", v="2")
        made.clock.advance(60)
    assert made.emu.account().tables["tab"].indexes["gsi"].resource.heat.is_idle
    assert len(made.emu.partitions("tab", "gsi")) == 1


writes = st.tuples(
    st.sampled_from([0, 0, 0, 0.3, 1, 40]),
    st.sampled_from(["put", "put", "delete", "expire", "transact", "batch", "import", "grow"]),
    st.sampled_from("abcd"),
    st.sampled_from(["x", "y", "z", None]),
)


def play(made, step, tmp_path):
    pause, kind, key, group = step
    made.clock.advance(pause)
    item = {"pk": key} | ({} if group is None else {"g": group})
    if kind == "expire":
        item["ttl"] = int(made.clock.now()) - 10
    if kind == "delete":
        made.attempt("DeleteItem", TableName="tab", Key=wire({"pk": key}))
    elif kind == "transact":
        both = [
            {"Put": {"TableName": "tab", "Item": wire(item)}},
            {"Delete": {"TableName": "tab", "Key": wire({"pk": "other"})}},
        ]
        made.attempt("TransactWriteItems", TransactItems=both)
    elif kind == "batch":
        requests = [{"PutRequest": {"Item": wire(item)}}]
        made.attempt("BatchWriteItem", RequestItems={"tab": requests})
    elif kind == "import":
        path = tmp_path / "items.json"
        path.write_text(f'{{"Item": {{"pk": {{"S": "{key}"}}, "g": {{"S": "imported"}}}}}}')
        made.emu.import_items("tab", path)
    elif kind == "grow":
        units = {"ReadCapacityUnits": 100, "WriteCapacityUnits": 3}
        update = [{"Update": {"IndexName": "gsi", "ProvisionedThroughput": units}}]
        made.attempt("UpdateTable", TableName="tab", GlobalSecondaryIndexUpdates=update)
    else:
        made.try_put(**item)


def index_is_the_projection(made):
    table = made.emu.account().tables["tab"]
    index = table.indexes["gsi"]
    expected = {}
    for _, item in table.store.walk((0,), (HASH_SPACE,)):
        entry = entry_of(index.schema, item, table.settings.placement_salt)
        if entry is not None:
            expected[entry.position] = entry.item.attributes
    stored = {at: entry.attributes for at, entry in index.store.walk((0,), (HASH_SPACE,))}
    assert stored == expected
    index.resource.partitions.check()
    assert sum(partition.items for partition in index.resource.partitions) == len(expected)


@settings(max_examples=60)
@given(run=st.lists(writes, max_size=40), salt=st.integers(0, 3))
def test_once_the_queue_is_empty_the_index_is_the_projection_of_its_table(
    tmp_path_factory, run, salt
):
    """CAP2-4.8: whatever was written, by whom, and in which steps."""
    from tests.engine.conftest import Bench

    made = Bench(gsi_buffer_seconds=0.5, gsi_closed_seconds=2, placement_salt=salt)
    made.table(read=10, write=20, GlobalSecondaryIndexes=[gsi("gsi", "g", read=10, write=1)])
    ttl = {"Enabled": True, "AttributeName": "ttl"}
    made.emu.call("UpdateTimeToLive", {"TableName": "tab", "TimeToLiveSpecification": ttl})
    folder = tmp_path_factory.mktemp("items")
    queue = made.emu.account().tables["tab"].indexes["gsi"].queue
    for step in run:
        play(made, step, folder)
        queue.check()
    made.clock.advance(600)
    assert queue.is_empty
    index_is_the_projection(made)


def test_a_change_that_waits_is_noted_once_however_many_limits_it_lacks():
    """CAP2-4.3: index and partition are both in debt, and the receipt names the first."""
    made = Bench()
    index = gsi("gsi", "g", read=1, write=1000)
    made.table(read=1, write=10_000, GlobalSecondaryIndexes=[index])
    for number in range(4):
        made.put(pk=f"{number}", g="x", v="x" * 390_000)
    assert [reason.reason for reason in made.emu.last_receipt.delayed] == [
        "IndexWriteProvisionedThroughputExceeded"
    ]


WAYS = {
    "PutItem": lambda item: {"TableName": "tab", "Item": item},
    "BatchWriteItem": lambda *items: {
        "RequestItems": {"tab": [{"PutRequest": {"Item": item}} for item in items]}
    },
    "TransactWriteItems": lambda *items: {
        "TransactItems": [{"Put": {"TableName": "tab", "Item": item}} for item in items]
    },
}


@pytest.mark.parametrize("capacity", ["off", "observe", "enforce"])
@pytest.mark.parametrize("operation", WAYS)
def test_a_write_may_split_the_partition_of_an_index_that_it_goes_to(operation, capacity):
    """CAP-504, CAP2-4: its charge goes to the child; so does that of a write planned with it."""
    emu = Emulator(clock=ManualClock(), capacity=capacity, settings=Settings(partition_bytes=1000))
    emu.call("CreateTable", table(indexes={"by_g": "g"}))
    for number in range(12):
        items = [
            {"pk": {"S": f"{number}.{n}"}, "g": {"S": f"{number % 7}.{n}"}, "x": {"S": "x" * 300}}
            for n in range(1 if operation == "PutItem" else 3)
        ]
        emu.call(operation, WAYS[operation](*items))
    assert len(emu.partitions("tab", "by_g")) > 4
    scanned = [emu.call("Scan", {"TableName": "tab", **at}) for at in ({}, {"IndexName": "by_g"})]
    assert scanned[0]["Count"] == scanned[1]["Count"] == 12 * len(items)
