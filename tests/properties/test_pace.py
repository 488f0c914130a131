"""The pace of requests: throughput is judged by a stated rate, and never by the machine's speed."""

import random

import pytest

from emulator import Emulator, ManualClock
from emulator.capacity import ScalingPolicy
from emulator.clock import NANOSECONDS, PacedClock, SystemClock
from emulator.observe import IndexDelayed, RequestServed, Scaled, Throttled
from emulator.testing.table_notation import create_request

RATE = 6
TABLES = (
    create_request("days", "day", "id", provisioned=(5, 2), indexes={"by_kind": "kind"}),
    create_request("customers", "customer"),
)
[INDEX] = TABLES[0]["GlobalSecondaryIndexes"]
INDEX["ProvisionedThroughput"] = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}


class SlowMachine(PacedClock):
    """A paced clock on a machine that takes ``seconds`` over each look at the real time."""

    def __init__(self, rate, seconds):
        super().__init__(rate)
        self._seconds = seconds
        self._real_ns = 1_790_000_000 * NANOSECONDS

    def now_ns(self):
        self._real_ns += round(self._seconds * NANOSECONDS)
        return self._real_ns


def observed(emulator, *, before_each=lambda: None):
    """Return what would throttle in a workload with hot days, batches, transactions and reads."""
    for table in TABLES:
        emulator.call("CreateTable", table)
    heard = []

    def hear(event):
        if isinstance(event, Throttled | IndexDelayed):
            heard.append((type(event).__name__, event.operation, event.table, event.reasons))

    emulator.events.subscribe(hear)
    draw = random.Random(7)
    for number in range(400):
        item = {
            "day": {"S": draw.choice("aaab")},
            "id": {"S": str(number)},
            "kind": {"S": draw.choice("xy")},
        }
        before_each()
        emulator.call(*request(draw, item))
        emulator.call("DescribeTable", {"TableName": "days"})
    views = [emulator.partitions("days"), emulator.partitions("days", "by_kind")]
    return heard, [[(view.id, view.write_tokens, view.waiting_write) for view in v] for v in views]


def request(draw, item):
    put = {"TableName": "days", "Item": item}
    key = {"day": item["day"], "id": item["id"]}
    return draw.choice(
        [
            ("PutItem", put),
            ("PutItem", put),
            ("BatchWriteItem", {"RequestItems": {"days": [{"PutRequest": {"Item": item}}]}}),
            ("TransactWriteItems", {"TransactItems": [{"Put": put}]}),
            ("GetItem", {"TableName": "days", "Key": key}),
            ("Scan", {"TableName": "days"}),
            ("PutItem", {"TableName": "customers", "Item": {"customer": {"S": "c"}}}),
        ]
    )


def test_what_throttles_at_a_rate_is_what_throttles_on_a_clock_advanced_at_that_rate():
    clock = ManualClock()
    advanced = observed(Emulator(clock=clock), before_each=lambda: clock.advance(1 / RATE))
    paced = observed(Emulator(clock=PacedClock(RATE)))
    assert paced == advanced
    assert {kind for kind, *_ in paced[0]} == {"Throttled", "IndexDelayed"}


@pytest.mark.parametrize("seconds", [0.00001, 0.1, 7])
def test_the_speed_of_the_machine_changes_nothing(seconds):
    slow = observed(Emulator(clock=SlowMachine(RATE, seconds)))
    assert slow == observed(Emulator(clock=PacedClock(RATE)))


def test_auto_scaling_acts_on_whole_minutes_of_the_pace():
    """CAP-904: several minutes may end between two requests."""
    clock, heard = PacedClock(1 / 200), []
    emulator = Emulator(clock=clock)
    emulator.call("CreateTable", create_request("days", "day", provisioned=(50, 5)))
    emulator.auto_scale("days", read=ScalingPolicy(target=70))
    emulator.events.subscribe(heard.append)
    for _ in range(30):
        emulator.call("GetItem", {"TableName": "days", "Key": {"day": {"S": "a"}}})
    minutes = [
        (event.time_ns - clock.start_ns) / NANOSECONDS / 60
        for event in heard
        if isinstance(event, Scaled)
    ]
    assert minutes == [17.0]


def test_a_faster_pace_throttles_more_and_a_slow_one_nothing():
    throttles = [len(observed(Emulator(clock=PacedClock(rate)))[0]) for rate in (0.01, 2, 200)]
    assert throttles[0] == 0 < throttles[1] < throttles[2]


def test_without_a_rate_nothing_throttles_and_everything_is_counted():
    emulator = Emulator(clock=PacedClock(None))
    assert observed(emulator)[0] == []
    counted = Emulator(clock=ManualClock())
    observed(counted)
    for index in (None, "by_kind"):
        consumed = sum(view.consumed_write for view in emulator.partitions("days", index))
        assert consumed > 100
        assert emulator.insights("days", index).accessed_partition_keys[0].share < 1


def test_a_pace_is_for_throughput_only():
    clock = SlowMachine(1000, 0.5)
    emulator = Emulator(clock=clock)
    emulator.call("CreateTable", create_request("sessions"))
    ttl = {"Enabled": True, "AttributeName": "until"}
    emulator.call("UpdateTimeToLive", {"TableName": "sessions", "TimeToLiveSpecification": ttl})
    sessions = emulator.table("sessions")
    sessions.put_item(Item={"pk": "a", "until": int(clock.now()) + 60})
    assert "Item" in sessions.get_item(Key={"pk": "a"})
    for _ in range(300):
        emulator.call("ListTables", {})
    assert "Item" not in sessions.get_item(Key={"pk": "a"})
    created = emulator.call("DescribeTable", {"TableName": "sessions"})["Table"]
    assert created["CreationDateTime"] == pytest.approx(clock.now(), abs=600)


def test_enforce_goes_by_real_time_whatever_the_pace():
    emulator = Emulator(clock=PacedClock(0.001), capacity="enforce")
    emulator.call("CreateTable", create_request("tab", provisioned=(1, 1)))
    emulator.table("tab").put_item(Item={"pk": "a"})
    with pytest.raises(Exception, match="exceeded"):
        emulator.table("tab").put_item(Item={"pk": "a"})


def test_requests_to_all_regions_share_one_pace():
    emulator = Emulator(clock=PacedClock(1))
    heard = []
    emulator.events.subscribe(heard.append)
    for region in ("us-east-1", "eu-west-1"):
        emulator.call("CreateTable", create_request("tab", provisioned=(1, 1)), region=region)
    for _ in range(3):
        for region in ("us-east-1", "eu-west-1"):
            emulator.call(
                "PutItem", {"TableName": "tab", "Item": {"pk": {"S": "a"}}}, region=region
            )
    assert not [event for event in heard if isinstance(event, Throttled)]
    assert [event for event in heard if isinstance(event, RequestServed)][-1].request["Item"]
    assert isinstance(emulator.clock, SystemClock)


def test_a_snapshot_of_a_later_clock_goes_on_at_the_pace():
    later = Emulator(clock=ManualClock(start=SystemClock().now() - 60))
    later.call("CreateTable", TABLES[0])
    for number in range(2):
        later.table("days").put_item(Item={"day": "a", "id": str(number), "kind": "x"})
    assert later.backlog("days", "by_kind").units
    emulator = Emulator(clock=PacedClock(1))
    emulator.restore(later.snapshot())
    heard = []
    emulator.events.subscribe(heard.append)
    for number in range(200):
        emulator.table("days").get_item(Key={"day": "a", "id": str(number)})
    assert emulator.backlog("days", "by_kind").units == 0
    emulator.table("days").put_item(Item={"day": "a", "id": "0", "kind": "y"})
    assert not [event for event in heard if isinstance(event, Throttled | IndexDelayed)]
