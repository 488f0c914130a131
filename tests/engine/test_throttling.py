"""What throttles in production throttles here: EX-44 to EX-54, and the lessons behind them."""

from collections import Counter

import pytest

from emulator import ApiError
from emulator.capacity import ScalingPolicy
from emulator.engine.events import Scaled, Split, SplitRefused
from tests.engine.conftest import gsi, lsi, sized, wire

MINUTE = 60


@pytest.mark.parametrize(
    ("request_", "partitions"),
    [
        ({"read": 1000, "write": 500}, 1),
        ({"read": 1000, "write": 1000}, 2),
        ({"read": 10_000, "write": 1000}, 5),
        ({}, 4),
        ({"WarmThroughput": {"ReadUnitsPerSecond": 30_000, "WriteUnitsPerSecond": 10_000}}, 10),
    ],
)
def test_ex_44_initial_partitions(bench, request_, partitions):
    made = bench()
    made.table(**request_)
    assert len(made.emu.partitions("tab")) == partitions


def reads(bench, count):
    """Return how many of ``count`` one-unit reads pass now."""
    passed = 0
    for _ in range(count):
        error = bench.attempt(
            "GetItem", TableName="tab", Key=wire({"pk": "k"}), ConsistentRead=True
        )
        passed += error is None
    return passed


def test_ex_45_five_minutes_of_burst(bench):
    made = bench()
    made.table(read=15, write=1)
    made.clock.advance(301)
    for _ in range(900):  # the example's figures, a tenth of them
        assert reads(made, 20) == 20
        made.clock.advance(1)
    for _ in range(3):
        assert reads(made, 20) == 15
        made.clock.advance(1)


def test_ex_46_debt_is_repaid_first(bench):
    made = bench()
    made.table(read=1, write=5)
    assert made.try_put(**sized(400 * 1024)) is None
    for second in range(1, 80):
        made.clock.advance(1)
        assert made.try_put(pk="a") is not None, second
    made.clock.advance(1)
    assert made.try_put(pk="a") is None


def keys_by_partition(bench, wanted, table="tab"):
    """Return for each partition some key that lies in it."""
    emulator = bench.emu
    found = {}
    number = 0
    partitions = emulator.partitions(table)
    from emulator.storage import placement_hash

    while len(found) < wanted:
        name = f"key{number}"
        number += 1
        position = (placement_hash((name,), 0), name)
        for partition in partitions:
            if partition.low <= position < partition.high:
                found.setdefault(partition.id, name)
    return [found[number] for number in sorted(found)]


def test_ex_47_a_hot_partition_may_use_the_table_s_capacity(bench):
    made = bench()
    made.table(read=9000, write=400)  # four partitions
    keys = keys_by_partition(made, 4)
    for _ in range(5):
        for key, load in zip(keys, (50, 50, 50, 150), strict=True):
            assert all(made.try_put(pk=key) is None for _ in range(load))
        made.clock.advance(1)


def test_ex_48_one_hot_item_is_held_to_its_partition(bench):
    """That it never splits: ``test_cap_506_splits_that_would_gain_nothing``."""
    made = bench()
    made.table(read=1, write=10_000)
    outcomes = [made.try_put(pk="hot") for _ in range(1500)]
    refused = [error for error in outcomes if error is not None]
    assert len(refused) == 500
    assert {error.code for error in refused} == {"ProvisionedThroughputExceededException"}
    assert refused[0].members == {
        "ThrottlingReasons": [
            {
                "reason": "TableWriteKeyRangeThroughputExceeded",
                "resource": "arn:aws:dynamodb:us-east-1:000000000000:table/tab",
            }
        ]
    }


def heat_up(bench, put, minutes, per_minute):
    """Load a table evenly for some minutes, ``per_minute`` calls of ``put`` each."""
    for minute in range(minutes):
        for number in range(per_minute):
            put(minute * per_minute + number)
        bench.clock.advance(MINUTE)


def watched(bench):
    events = []
    bench.emu.events.subscribe(
        lambda event: events.append(event) if isinstance(event, Split | SplitRefused) else None
    )
    return events


BIG = "x" * (100 * 1024 - 100)  # 100 units a put: heat without many requests


def big_put(bench, table="tab", **key):
    bench.attempt("PutItem", TableName=table, Item=wire({**key, "v": BIG}))


def test_a_hot_collection_splits_when_its_delay_is_over(bench):
    """CAP-505, CAP2-3: two hot minutes decide it; the delay counts from the first."""
    made = bench(capacity="observe", split_delay=570)
    made.table(key=("pk", "sk"))
    events = watched(made)
    order = [7, 3, 11, 1, 9, 5, 13, 2, 12, 6]  # not sequential
    for minute in range(10):
        for number in range(500):
            big_put(made, pk="p", sk=f"{order[number % 10]:02}-{minute * 500 + number}")
        assert not events, minute
        made.clock.advance(MINUTE)
    (split,) = events
    assert (split.cause, len(split.children)) == ("heat", 2)
    [low, high] = [view for view in made.emu.partitions("tab") if view.items]
    assert high.low[1] == "p"  # the cut lies inside the collection
    assert low.items + high.items == 5000


@pytest.mark.parametrize(
    ("definition", "sort", "cause"),
    [
        ({"key": ("pk",)}, None, "one item has nearly all traffic"),
        (
            {"key": ("pk", "sk"), "LocalSecondaryIndexes": [lsi("local", "pk", "l")]},
            lambda n: f"{n * 7919 % 5000:05}",
            "no item collection boundary",
        ),
        ({"key": ("pk", "sk")}, lambda n: f"{n:05}", "sort keys are written in order"),
    ],
    ids=["one item", "local index", "sequential"],
)
def test_cap_506_splits_that_would_gain_nothing(bench, definition, sort, cause):
    made = bench(capacity="observe")
    made.table(read=1, write=900, **definition)
    events = watched(made)

    def put(number):
        key = {"pk": "p"} if sort is None else {"pk": "p", "sk": sort(number)}
        big_put(made, **key)

    heat_up(made, put, 10, 500)
    assert [event.cause for event in events] == [cause]
    assert len(made.emu.partitions("tab")) == 1


def test_cap_506_an_item_with_most_of_the_traffic_is_isolated(bench):
    made = bench(capacity="observe")
    made.table(read=1, write=900)
    events = watched(made)
    heat_up(made, lambda n: big_put(made, pk="hot" if n % 4 else f"k{n % 40}"), 10, 500)
    (split,) = events
    assert len(split.children) == 3
    alone = [one for one in made.emu.partitions("tab") if one.items == 1]
    assert [one.low[1] for one in alone] == ["hot"]


def test_ex_49_a_new_on_demand_table_serves_4000_writes(bench):
    made = bench()
    made.table()
    keys = keys_by_partition(made, 4)
    passed = Counter()
    codes = set()
    for number in range(5000):
        error = made.try_put(pk=keys[number % 4])
        passed[error is None] += 1
        if error is not None:
            codes.add((error.code, error.members["throttlingReasons"][0]["reason"]))
    assert passed[True] == 4000
    assert codes == {("ThrottlingException", "TableWriteKeyRangeThroughputExceeded")}


def test_ex_50_a_starved_index_throttles_the_table(bench):
    """CAP-609, CAP-802, CAP2-4.6: without a buffer, at once."""
    made = bench(gsi_buffer_seconds=0)
    made.table(read=1, write=100, GlobalSecondaryIndexes=[gsi("gsi", "g", read=1, write=10)])
    for second in range(3):
        outcomes = [made.try_put(pk=f"{second}-{n}", g="x") for n in range(50)]
        refused = [error for error in outcomes if error is not None]
        assert len(refused) == 40
        arn = "arn:aws:dynamodb:us-east-1:000000000000:table/tab/index/gsi"
        assert refused[0].members["ThrottlingReasons"] == [
            {"reason": "IndexWriteProvisionedThroughputExceeded", "resource": arn}
        ]
        made.clock.advance(1)
    metrics = made.emu.metrics
    assert metrics.sum("WriteThrottleEvents", table="tab", index="gsi") == 120
    assert metrics.sum("WriteThrottleEvents", table="tab") == 0
    assert made.try_put(pk="without") is None  # an entry that does not change asks for nothing


def test_ex_51_a_batch_is_served_in_part(bench):
    """CAP-610, CAP-803."""
    made = bench()
    made.table(read=1, write=10)
    puts = [{"PutRequest": {"Item": wire(sized(1024, value=f"{n:02}"))}} for n in range(25)]
    answer = made.emu.call("BatchWriteItem", {"RequestItems": {"tab": puts}})
    assert answer["UnprocessedItems"] == {"tab": puts[10:]}
    metrics = made.emu.metrics
    assert metrics.sum("WriteThrottleEvents", table="tab") == 15
    assert metrics.sum("ThrottledRequests", table="tab") == 0
    error = made.attempt("BatchWriteItem", RequestItems={"tab": puts})
    assert error.code == "ProvisionedThroughputExceededException"
    assert metrics.sum("ThrottledRequests", table="tab") == 1


def test_cap_610_a_batch_of_reads_is_served_in_part(bench):
    made = bench()
    made.table(read=2, write=1)
    keys = [wire({"pk": f"{n}"}) for n in range(5)]
    request = {"tab": {"Keys": keys, "ConsistentRead": True}}
    answer = made.emu.call("BatchGetItem", {"RequestItems": request})
    assert answer["UnprocessedKeys"] == {"tab": {"Keys": keys[2:], "ConsistentRead": True}}


def test_ex_52_a_throttled_transaction_takes_nothing(bench):
    """CAP-611, CAP-706."""
    made = bench()
    made.table(read=1, write=2)
    request = {
        "TransactItems": [
            {"Put": {"TableName": "tab", "Item": wire(sized(1024, value=name))}} for name in "ab"
        ]
    }
    with pytest.raises(ApiError) as caught:
        made.emu.call("TransactWriteItems", request)
    assert caught.value.message == (
        "Transaction cancelled, please refer cancellation reasons for specific reasons "
        "[None, ProvisionedThroughputExceeded]"
    )
    assert caught.value.members["CancellationReasons"][0] == {"Code": "None"}
    assert made.emu.call("Scan", {"TableName": "tab", "Select": "COUNT"})["Count"] == 0
    assert made.try_put(pk="a") is None  # both units are still there
    assert made.try_put(pk="b") is None
    assert made.try_put(pk="c") is not None


def test_ex_53_54_auto_scaling_follows(bench):
    made = bench()
    made.table(read=100, write=1)
    scaled = []
    made.emu.events.subscribe(
        lambda event: (
            scaled.append((event.before, event.after)) if isinstance(event, Scaled) else None
        )
    )
    made.emu.auto_scale("tab", read=ScalingPolicy(target=70))

    def load(units_per_second, seconds):
        for _ in range(seconds):
            keys = [wire({"pk": f"{n}"}) for n in range(units_per_second)]
            request = {"tab": {"Keys": keys, "ConsistentRead": True}}
            made.emu.call("BatchGetItem", {"RequestItems": request})
            made.clock.advance(1)

    load(90, 120)
    assert scaled == []
    load(90, 120)
    assert scaled == [(100, 129)]
    load(30, 17 * MINUTE)
    assert scaled == [(100, 129), (129, 43)]
    described = made.emu.call("DescribeTable", {"TableName": "tab"})["Table"]
    assert described["ProvisionedThroughput"]["ReadCapacityUnits"] == 43
    assert described["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 1
    assert {"LastIncreaseDateTime", "LastDecreaseDateTime"} <= described[
        "ProvisionedThroughput"
    ].keys()


def test_on_demand_tables_double_after_half_an_hour(bench):
    """CAP-510: twice the peak of a minute that ended thirty minutes ago."""
    made = bench(capacity="observe")
    made.table()
    keys = keys_by_partition(made, 4)
    for _ in range(MINUTE):
        for key in keys * 10:
            big_put(made, pk=key)
        made.clock.advance(1)
    grown = []
    for _ in range(31):
        described = made.emu.call("DescribeTable", {"TableName": "tab"})["Table"]
        warm = described["WarmThroughput"]["WriteUnitsPerSecond"]
        grown.append((warm, len(made.emu.partitions("tab"))))
        made.clock.advance(MINUTE)
    assert grown == [(4000, 4)] * 30 + [(8000, 8)]


def test_the_device_events_mistake(bench):
    """L0: 5,000 WCU, the hour as partition key; then the device."""
    made = bench()
    for name, key in (("byHour", ("hour", "device")), ("byDevice", ("device", "hour"))):
        made.table(name, key=key, read=1, write=5000)
    passed = Counter()
    for second in range(3):
        for number in range(2500):
            item = {"hour": "2026-01-01T00", "device": f"d{number}-{second}"}
            for table in ("byHour", "byDevice"):
                error = made.try_put(table, **item)
                passed[table] += error is None
                if error is not None:
                    assert error.members["ThrottlingReasons"][0]["reason"] == (
                        "TableWriteKeyRangeThroughputExceeded"
                    )
        made.clock.advance(1)
    assert passed == {"byHour": 3000, "byDevice": 7500}
    metrics = made.emu.metrics
    assert metrics.sum("WriteThrottleEvents", table="byHour") == 4500
    assert metrics.sum("ReadThrottleEvents", table="byHour") == 0
    hottest = made.emu.insights("byHour").throttled_partition_keys[0]
    assert (hottest.key, hottest.share) == (("2026-01-01T00",), 1.0)


def test_a_sharded_celebrity_does_not_throttle(bench):
    """L0, calculated suffixes: ten keys instead of one."""
    made = bench()
    made.table(key=("pk", "sk"), read=1, write=10_000)
    for suffixes, refused in ((1, 1000), (10, 0)):
        made.clock.advance(1)
        outcomes = [made.try_put(pk=f"celebrity#{n % suffixes}", sk=f"{n}") for n in range(2000)]
        assert sum(error is not None for error in outcomes) == refused


def test_a_status_index_throttles_base_writes(bench):
    """L0: few index keys make one index partition hot, and the table waits for it."""
    made = bench(gsi_buffer_seconds=0)
    made.table(GlobalSecondaryIndexes=[gsi("byStatus", "status", kind="KEYS_ONLY")])
    outcomes = [made.try_put(pk=f"o{n}", status="pending") for n in range(1500)]
    refused = [error for error in outcomes if error is not None]
    assert len(refused) == 500
    assert refused[0].members["throttlingReasons"][0] == {
        "reason": "IndexWriteKeyRangeThroughputExceeded",
        "resource": "arn:aws:dynamodb:us-east-1:000000000000:table/tab/index/byStatus",
    }


def test_an_on_demand_maximum_is_held(bench):
    """CAP-616, CAP-705."""
    made = bench()
    made.table(OnDemandThroughput={"MaxWriteRequestUnits": 10})
    outcomes = [made.try_put(pk=f"{n}") for n in range(12)]
    assert [error is None for error in outcomes] == [True] * 10 + [False] * 2
    assert outcomes[-1].code == "ThrottlingException"
    assert outcomes[-1].message == (
        "Throughput exceeds the maximum OnDemandThroughput configured on table or index"
    )


def test_observe_records_what_enforce_refuses(bench):
    """The two modes agree up to the first refusal; observe serves all the same."""
    results = {}
    for mode in ("observe", "enforce"):
        made = bench(capacity=mode)
        made.table(read=1, write=3)
        outcomes = [made.try_put(pk=f"{n}") for n in range(5)]
        results[mode] = (
            [error is None for error in outcomes],
            made.emu.metrics.sum("WriteThrottleEvents", table="tab"),
        )
    assert results == {
        "observe": ([True] * 5, 2.0),
        "enforce": ([True] * 3 + [False] * 2, 2.0),
    }


def test_off_records_nothing(bench):
    made = bench(capacity="off")
    made.table(read=1, write=1)
    consumed = [made.put(pk=f"{n}")["CapacityUnits"] for n in range(3)]
    assert consumed == [1.0] * 3
    assert "ConsumedWriteCapacityUnits" not in made.emu.metrics.names() or (
        made.emu.metrics.sum("ConsumedWriteCapacityUnits", table="tab") == 0
    )


def test_cap_504_a_full_partition_splits(bench):
    made = bench(capacity="off", partition_bytes=10_000)
    made.table(key=("pk", "sk"), read=1, write=1)
    for number in range(40):
        made.put(pk=f"k{number}", sk="s", v="x" * 400)
    partitions = made.emu.partitions("tab")
    assert len(partitions) > 1
    assert sum(one.items for one in partitions) == 40
    assert all(one.size_bytes < 10_000 for one in partitions)


def test_a_throttled_write_does_not_say_whether_its_condition_holds(bench):
    """CAP-607: admission is decided first; what has passed pays though its condition fails."""
    made = bench()
    made.table(read=1, write=2)
    put = {"TableName": "tab", "Item": wire({"pk": "k"})}
    impossible = put | {"ConditionExpression": "attribute_exists(pk)"}
    for expected in (
        "ConditionalCheckFailedException",
        "ConditionalCheckFailedException",
        "ProvisionedThroughputExceededException",
    ):
        assert made.attempt("PutItem", **impossible).code == expected


@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_a_page_is_refused_whole(bench, operation):
    """CAP-612: its cost is known when it was read; there is no part of a page."""
    made = bench()
    made.table(key=("pk", "sk"), read=1, write=100)
    for number in range(4):
        made.put(pk="p", sk=str(number), pad="x" * 4000)
    asked = {"TableName": "tab", "ConsistentRead": True}
    if operation == "Query":
        asked |= {
            "KeyConditionExpression": "pk = :p",
            "ExpressionAttributeValues": wire({":p": "p"}),
        }
    assert made.emu.call(operation, asked)["Count"] == 4  # four units of the one that is there
    assert made.attempt(operation, **asked).code == "ProvisionedThroughputExceededException"
    made.clock.advance(3)  # three are owed
    assert made.attempt(operation, **asked) is not None
    made.clock.advance(1)
    assert made.emu.call(operation, asked)["Count"] == 4


def test_a_reason_names_whose_limit_it_was(bench):
    """CAP-704: the table, or the global index; a local index presses on its table."""
    made = bench(gsi_buffer_seconds=0)
    made.table(
        "local", key=("pk", "sk"), read=1, write=1, LocalSecondaryIndexes=[lsi("own", "pk", "l")]
    )
    made.table(
        "global", read=1, write=9, GlobalSecondaryIndexes=[gsi("other", "g", read=1, write=1)]
    )
    home = "arn:aws:dynamodb:us-east-1:000000000000:table"
    found = []
    for name, item in (("local", {"sk": "s", "l": "l"}), ("global", {"g": "g"})):
        made.put(name, pk="1", **item)
        [reason] = made.try_put(name, pk="2", **item).members["ThrottlingReasons"]
        found.append((reason["reason"], reason["resource"]))
    assert found == [
        ("TableWriteProvisionedThroughputExceeded", f"{home}/local"),
        ("IndexWriteProvisionedThroughputExceeded", f"{home}/global/index/other"),
    ]


def test_auto_scaling_has_nothing_to_do_where_its_units_are_set_by_hand(bench):
    """CAP-904: what is on its way finds the table with these units, and nothing is counted."""
    made = bench()
    made.table(read=100, write=1)
    made.emu.auto_scale("tab", read=ScalingPolicy(target=70))
    scaled = []
    made.emu.events.subscribe(
        lambda event: scaled.append(event.after) if isinstance(event, Scaled) else None
    )
    keys = [wire({"pk": f"{number}"}) for number in range(90)]
    request = {"tab": {"Keys": keys, "ConsistentRead": True}}
    for _ in range(2 * MINUTE):
        made.emu.call("BatchGetItem", {"RequestItems": request})
        made.clock.advance(1)
    units = {"ReadCapacityUnits": 129, "WriteCapacityUnits": 1}
    made.emu.call("UpdateTable", {"TableName": "tab", "ProvisionedThroughput": units})
    raised = made.emu.call("DescribeTable", {"TableName": "tab"})["Table"]["ProvisionedThroughput"]
    made.clock.advance(3 * MINUTE)
    described = made.emu.call("DescribeTable", {"TableName": "tab"})["Table"]
    assert described["ProvisionedThroughput"] == raised
    assert scaled == []


def test_auto_scaling_follows_what_is_admitted(bench):
    """CAP-905, CAP-604, CAP2-1: not what is asked for; and what is raised gets its partitions."""
    made = bench()
    for name, least in (("tab", 5), ("wide", 1500)):
        made.table(name, read=1, write=9)
        made.emu.auto_scale(name, write=ScalingPolicy(target=70, minimum=least))
    for second in range(4 * MINUTE + 1):
        for number in range(12):
            for name in ("tab", "wide"):
                made.try_put(name, pk=f"{second}-{number}")
        made.clock.advance(1)
    found = {}
    for name in ("tab", "wide"):
        described = made.emu.call("DescribeTable", {"TableName": name})["Table"]
        units = described["ProvisionedThroughput"]["WriteCapacityUnits"]
        found[name] = units, len(made.emu.partitions(name))
    assert found == {"tab": (13, 1), "wide": (1500, 2)}  # of 9 a second at 70 %, not of 12


def test_what_is_paid_for_and_what_is_not(bench):
    """CAP-1006: a transaction twice, a failed condition once, refusals and expiry not at all."""
    made = bench()
    made.table(read=1, write=4)
    made.emu.call(
        "UpdateTimeToLive",
        {"TableName": "tab", "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "t"}},
    )
    expiring = wire({"pk": "a", "t": int(made.clock.now()) + 1})
    put = {"TableName": "tab", "Item": expiring}

    def paid():
        return made.emu.metrics.sum("ConsumedWriteCapacityUnits", table="tab")

    found = []
    made.emu.call("TransactWriteItems", {"TransactItems": [{"Put": put}]})
    found.append(paid())
    failing = put | {"ConditionExpression": "attribute_not_exists(pk)"}
    assert made.attempt("PutItem", **failing).code == "ConditionalCheckFailedException"
    found.append(paid())
    made.put(pk="b")
    assert made.try_put(pk="c") is not None
    found.append(paid())
    made.clock.advance(2 * MINUTE)
    assert made.emu.call("Scan", {"TableName": "tab", "Select": "COUNT"})["Count"] == 1
    found.append(paid())
    assert found == [2.0, 3.0, 4.0, 4.0]
