"""An engine that is told of traffic behaves as if it had served it."""

from emulator.capacity import READ, WRITE
from emulator.clock import NANOSECONDS
from emulator.engine.events import Split, Throttled
from emulator.engine.feed import ReportedAccess, TrafficFeed
from emulator.model import Item
from emulator.storage import key_position
from tests.engine.conftest import gsi, lsi

GIB = 1024**3


def fed(made, name="tab"):
    """Return the feed of a bench, a table of it, and the table's resource."""
    account = made.emu.account()
    table = account.tables[name]
    return TrafficFeed(account), table, table.resource


def test_an_item_that_is_put_can_be_read_and_counts_for_its_partition(bench):
    made = bench()
    made.table(read=5, write=5)
    feed, table, _ = fed(made)

    feed.put(table, key_position(("k",), salt=0), Item({"pk": "k"}, 3))

    answer = made.emu.call("GetItem", {"TableName": "tab", "Key": {"pk": {"S": "k"}}})
    assert answer["Item"] == {"pk": {"S": "k"}}
    assert [partition.items for partition in table.resource.partitions] == [1]
    assert table.resource.meter.traffic.consumed(WRITE) == 0


def test_reported_loads_are_those_of_the_running_minute(bench):
    made = bench()
    made.table()
    feed, _, resource = fed(made)

    feed.report_loads(
        resource, READ, [1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 5.0, 0.0], [1.0, 2.0, 3.0, 4.0]
    )

    assert resource.meter.traffic.consumed(READ) == 10.0
    assert resource.meter.traffic.throttled(READ) == 5.0


def test_loads_can_be_reported_of_some_partitions(bench):
    made = bench()
    made.table()
    feed, _, resource = fed(made)
    first, _, third, _ = (partition.id for partition in resource.partitions)

    feed.report_loads(resource, WRITE, [3.0, 1.0], [0.0, 2.0], [3.0, 4.0], [third, first])

    loads = resource.meter.traffic.loads
    assert [(own.consumed, own.throttled, own.heat) for _, own in loads.values()] == [
        (1.0, 2.0, 3.0),
        (0.0, 0.0, 0.0),
        (3.0, 0.0, 0.0),
        (0.0, 0.0, 0.0),
    ]


def test_a_hot_partition_splits_for_heat_as_if_it_had_served_the_traffic(bench):
    made = bench()
    made.table(key=("pk", "sk"))
    feed, _, resource = fed(made)
    splits = []
    made.emu.events.subscribe(lambda event: splits.append(event) if isinstance(event, Split) else 0)
    account = made.emu.account()
    hot = next(iter(resource.partitions)).id

    for _ in range(30):
        here = [1000.0 * 60 if one.id == hot else 0.0 for one in resource.partitions]
        feed.report_loads(resource, WRITE, here, [0.0] * len(here), here)
        feed.report_accesses(
            resource,
            [
                ReportedAccess((number * 1000, f"k{number}", "s"), 1800.0, 0.0, 600.0, False)
                for number in range(100)
            ],
        )
        feed.advance(account.now_ns + 60 * NANOSECONDS)
        if splits:
            break

    assert [event.cause for event in splits] == ["heat"]
    assert len(resource.partitions) == 5


def test_accesses_add_up_at_a_position(bench):
    made = bench()
    made.table()
    feed, _, resource = fed(made)

    access = ReportedAccess((1, "k"), consumed=3.0, refused=6.0, writes=1.0, in_order=True)
    feed.report_accesses(resource, [access, access])

    [minute] = resource.heat.minutes
    assert minute.accesses == {(1, "k"): [6.0, 12.0, 2.0, 2.0]}
    assert minute.records == {(1, "k"): (2, 0)}


def test_accesses_are_kept_for_five_minutes(bench):
    """CAP-505: the window that a split point is found in."""
    made = bench()
    made.table()
    feed, _, resource = fed(made)
    account = made.emu.account()

    for _ in range(3):
        feed.report_accesses(resource, [])
        feed.advance(account.now_ns + 170 * NANOSECONDS)
    feed.report_accesses(resource, [])

    assert [account.now_ns // NANOSECONDS - minute.start_s for minute in resource.heat.minutes] == [
        170,
        0,
    ]


def test_accesses_are_kept_for_as_long_as_the_window(bench):
    """CAP-505, split_window_minutes: also in the engine of the aggregate worlds."""
    made = bench(split_window_minutes=8)
    made.table()
    feed, _, resource = fed(made)
    account = made.emu.account()

    for _ in range(3):
        feed.report_accesses(resource, [])
        feed.advance(account.now_ns + 170 * NANOSECONDS)
    feed.report_accesses(resource, [])

    now_s = account.now_ns // NANOSECONDS
    assert [now_s - minute.start_s for minute in resource.heat.minutes] == [340, 170, 0]


def test_contents_that_are_too_large_split_where_the_stand_ins_halve(bench):
    made = bench(partition_bytes=10 * GIB)
    made.table(read=5, write=5)
    feed, table, resource = fed(made)
    feed.report_contents(resource, [12 * GIB], [12])

    feed.split_for_size(table, resource, [((number, "k"), 3.0 * GIB) for number in range(4)])

    assert [partition.low for partition in resource.partitions] == [(0,), (2, "k")]
    assert len(table.store) == 0


def test_partitions_follow_the_contents(bench):
    made = bench(partition_bytes=10 * GIB)
    made.table(read=5, write=5)
    feed, _, resource = fed(made)
    feed.report_contents(resource, [25 * GIB], [1])

    feed.fit_partitions()

    assert len(resource.partitions) == 3


def test_receipts_of_calls_below_the_api_are_dropped(bench):
    made = bench()
    made.table()
    made.put(pk="k")
    feed, _, _ = fed(made)

    feed.forget_receipts()

    assert made.emu.account().receipts == []


def test_an_access_counts_what_was_served_and_that_something_was_refused(bench):
    """CAP-804: a refusal is one, however little was refused."""
    made = bench()
    made.table()
    feed, _, resource = fed(made)
    position = (1, "k")

    feed.report_accesses(
        resource,
        [
            ReportedAccess(position, consumed=3.0, refused=refused, writes=2.0, in_order=True)
            for refused in (0.5, 0.0, 2.0)
        ],
    )

    [minute] = resource.heat.minutes
    assert minute.accesses[position] == [9.0, 2.5, 6, 2]
    assert minute.records[position] == (6, 0)


def test_a_table_is_as_its_life_has_left_it(bench):
    """CAP2-10."""
    made = bench()
    made.table(read=5, write=10)
    feed, table, resource = fed(made)

    feed.give_history(table, resource, partitions=3, warm=(4_000, 10), burst_share=0.5)

    assert len(resource.partitions) == 3
    assert resource.growth.warm == (4_000, 10)
    assert resource.meter.own[WRITE].tokens == 10 + 0.5 * 300 * 10
    resource.meter.check()


def test_what_is_consumed_and_refused_can_be_left_out_of_the_metrics(bench):
    made = bench(capacity="observe")
    made.table(read=5, write=1)
    feed, _, resource = fed(made)

    feed.leave_metrics_out()
    for _ in range(2):
        made.emu.call("PutItem", {"TableName": "tab", "Item": {"pk": {"S": "k"}}})

    traffic = resource.meter.traffic
    assert (traffic.consumed(WRITE), traffic.throttled(WRITE)) == (1, 1)
    for metric in ("ConsumedWriteCapacityUnits", "WriteThrottleEvents"):
        assert made.emu.metrics.get(metric, table="tab") == []


def test_a_listener_may_choose_what_it_hears(bench):
    made = bench()
    made.table(read=1, write=1)
    everything, splits = [], []
    events = made.emu.events
    events.subscribe(splits.append, (Split,))
    assert events.wanted
    assert events.wants(Split)
    assert not events.wants(Throttled)
    leave = events.subscribe(everything.append)
    assert events.wants(Throttled)

    made.emu.call("GetItem", {"TableName": "tab", "Key": {"pk": {"S": "k"}}})

    assert everything
    assert splits == []
    leave()
    assert not events.wants(Throttled)


def test_an_engine_that_did_not_serve_asks_where_the_traffic_went_when_a_split_is_due(bench):
    """CAP-505, CAP2-3: only then, and what it is told decides where the partition is cut."""
    made = bench(split_delay=120)
    made.table(key=("pk", "sk"), read=5, write=5)
    feed, _, resource = fed(made)
    account, asked = made.emu.account(), []

    def accesses_of(partition):
        asked.append((partition, account.now_ns // NANOSECONDS % 3600))
        return [ReportedAccess((7, "k", name), 1.0, 9.0, 1.0, False) for name in "abcd"]

    feed.answer_for_accesses(resource, accesses_of)
    begin = account.now_ns
    for minute in (1, 2):
        feed.report_loads(resource, WRITE, [60_000.0], [0.0], [60_000.0])
        feed.advance(begin + minute * 60 * NANOSECONDS)
    feed.answer_for_accesses(resource, None)

    [(partition, _)] = asked
    assert partition == 0
    assert [own.low for own in resource.partitions] == [(0,), (7, "k", "b")]
    assert resource.heat.traffic_of is None


def test_an_index_of_a_table_with_local_indexes_is_cut_inside_of_a_collection(bench):
    """CAP-506: only the collections of the table itself stay whole for the local indexes."""
    made = bench(split_delay=60)
    made.table(
        key=("pk", "sk"),
        GlobalSecondaryIndexes=[gsi("by_g", "g", "h")],
        LocalSecondaryIndexes=[lsi("local", "pk", "h")],
    )
    feed, table, _ = fed(made)
    resource = table.indexes["by_g"].resource
    splits = []
    made.emu.events.subscribe(lambda event: splits.append(event) if isinstance(event, Split) else 0)
    account = made.emu.account()
    hot = resource.partitions.at((5,)).id
    for _ in range(5):
        here = [1000.0 * 60 if one.id == hot else 0.0 for one in resource.partitions]
        feed.report_loads(resource, WRITE, here, [0.0] * len(here), here)
        accesses = [((5, "g", number * 7 % 100), 600.0, 0.0, 600.0, False) for number in range(100)]
        feed.report_accesses(resource, [ReportedAccess(*access) for access in accesses])
        feed.advance(account.now_ns + 60 * NANOSECONDS)
    assert [event.cause for event in splits] == ["heat"]
