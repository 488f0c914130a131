"""Injected faults: by rule, by seed, and repeatable."""

import pytest

from emulator import ApiError, Emulator, ManualClock
from emulator.engine.fault_rules import FaultRule
from emulator.engine.faults import Faults
from tests.engine.conftest import Bench, wire


@pytest.fixture
def made():
    bench = Bench(capacity="observe")
    bench.table()
    return bench


def outcomes(bench, count=10):
    return [getattr(bench.try_put(pk=str(number)), "code", None) for number in range(count)]


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("throttle", "ThrottlingException"),
        ("internal_error", "InternalServerError"),
        ("conflict", "TransactionConflictException"),
    ],
)
def test_a_fault_refuses_and_changes_nothing(made, kind, code):
    made.emu.faults.add(kind=kind, times=1)
    assert outcomes(made, 2) == [code, None]
    assert made.emu.call("Scan", {"TableName": "tab", "Select": "COUNT"})["Count"] == 1


def test_a_share_is_drawn_by_seed():
    runs = []
    for seed in (1, 1, 2):
        bench = Bench(capacity="observe")
        bench.table()
        bench.emu.faults.add(kind="internal_error", share=0.5, seed=seed)
        runs.append(outcomes(bench, 20))
    assert runs[0] == runs[1] != runs[2]
    assert 0 < runs[0].count(None) < 20


def test_rules_choose_operations_tables_keys_and_times(made):
    start = made.clock.now()
    faults = made.emu.faults
    faults.add(kind="internal_error", operations="GetItem")
    faults.add(kind="internal_error", tables=("other",))
    faults.add(kind="internal_error", key={"pk": {"S": "bad"}})
    faults.add(kind="internal_error", after=start + 10, until=start + 20)
    assert outcomes(made, 2) == [None, None]
    assert made.attempt("GetItem", TableName="tab", Key=wire({"pk": "a"})) is not None
    assert made.try_put(pk="bad") is not None
    made.clock.advance(10)
    assert made.try_put(pk="a") is not None
    made.clock.advance(10)
    assert made.try_put(pk="a") is None
    faults.clear()
    assert made.try_put(pk="bad") is None


@pytest.mark.parametrize("kind", ["throttle", "conflict"])
def test_without_operations_only_requests_on_items_are_throttled_or_conflict(made, kind):
    rule = made.emu.faults.add(kind=kind)
    assert made.emu.call("ListTables", {}) == {"TableNames": ["tab"]}
    assert made.try_put(pk="a") is not None
    assert rule.hits == 1


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"kind": "latency", "seconds": 5}, "a fault rule has no 'seconds'; it takes kind, "),
        ({"kind": "latency", "hits": 5}, "a fault rule has no 'hits'; it takes kind, "),
        ({"share": 1}, "a fault rule needs a kind; it takes kind, operations, "),
    ],
)
def test_an_argument_that_no_rule_has_is_told(rule, said):
    faults = Faults()
    with pytest.raises(TypeError) as caught:
        faults.add(**rule)
    assert str(caught.value).startswith(said)
    assert faults.rules == []


def test_an_operation_that_is_none_is_told(made):
    with pytest.raises(ValueError, match="operations are such as PutItem, not 'put_item'"):
        made.emu.faults.add(kind="throttle", operations=["GetItem", "put_item"])
    assert made.emu.faults.rules == []


def test_a_throttle_is_what_the_model_raises_on_the_table(bench):
    """CAP-702: on demand, of a partition or of the maximum; provisioned, of the capacity."""
    made = bench()
    made.table("free")
    made.table("capped", OnDemandThroughput={"MaxWriteRequestUnits": 10})
    made.table("paid", read=5, write=5)
    made.emu.faults.add(kind="throttle")
    errors = [made.try_put(table, pk="a") for table in ("free", "capped", "paid")]
    assert [error.code for error in errors] == [
        "ThrottlingException",
        "ThrottlingException",
        "ProvisionedThroughputExceededException",
    ]
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/"
    assert [next(iter(error.members.values())) for error in errors] == [
        [{"reason": "TableWriteKeyRangeThroughputExceeded", "resource": arn + "free"}],
        [{"reason": "TableWriteMaxOnDemandThroughputExceeded", "resource": arn + "capped"}],
        [{"reason": "TableWriteProvisionedThroughputExceeded", "resource": arn + "paid"}],
    ]


@pytest.mark.parametrize("request_made", [[], {"TableName": "tab"}, {"Key": [], "Item": 5}])
def test_a_rule_for_a_key_does_not_hit_what_has_none(made, request_made):
    made.emu.faults.add(kind="internal_error", key={"pk": {"S": "a"}})
    with pytest.raises(ApiError) as caught:
        made.emu.call("GetItem", request_made)
    assert caught.value.status == 400


@pytest.mark.parametrize(
    ("operation", "request_made", "reason"),
    [
        ("GetItem", {"TableName": "tab", "Key": wire({"pk": "a"})}, "TableRead"),
        ("Scan", {"TableName": "tab"}, "TableRead"),
        ("DeleteItem", {"TableName": "tab", "Key": wire({"pk": "a"})}, "TableWrite"),
        (
            "BatchWriteItem",
            {"RequestItems": {"tab": [{"DeleteRequest": {"Key": wire({"pk": "a"})}}]}},
            "TableWrite",
        ),
    ],
)
def test_a_throttle_is_of_reads_or_of_writes_as_the_operation_is(
    made, operation, request_made, reason
):
    """CAP-702."""
    made.emu.faults.add(kind="throttle")
    (reasons,) = made.attempt(operation, **request_made).members.values()
    assert [told["reason"] for told in reasons] == [f"{reason}KeyRangeThroughputExceeded"]


def test_a_throttled_transaction_is_cancelled(bench):
    """CAP-706."""
    made = bench()
    made.table("free")
    made.emu.faults.add(kind="throttle")
    actions = [{"Put": {"TableName": "free", "Item": wire({"pk": name})}} for name in "ab"]
    error = made.attempt("TransactWriteItems", TransactItems=actions)
    assert error.message.endswith("[ThrottlingError, None]")


def test_latency_passes_on_the_clock(made):
    made.emu.faults.add(kind="latency", latency=2.5)
    before = made.clock.now()
    made.put(pk="a")
    assert made.clock.now() == before + 2.5


def test_a_share_of_a_batch_stays_undone(made):
    made.emu.faults.add(kind="unprocessed", share=0.5, seed=3)
    puts = [{"PutRequest": {"Item": wire({"pk": str(n)})}} for n in range(10)]
    answer = made.emu.call("BatchWriteItem", {"RequestItems": {"tab": puts}})
    undone = answer["UnprocessedItems"]["tab"]
    assert 0 < len(undone) < 10
    assert made.emu.call("Scan", {"TableName": "tab", "Select": "COUNT"})["Count"] == 10 - len(
        undone
    )


def test_a_batch_is_never_wholly_undone(made):
    made.emu.faults.add(kind="unprocessed", share=1.0)
    keys = [wire({"pk": str(n)}) for n in range(3)]
    answer = made.emu.call("BatchGetItem", {"RequestItems": {"tab": {"Keys": keys}}})
    assert len(answer["UnprocessedKeys"]["tab"]["Keys"]) == 2


def test_a_transaction_meets_a_conflict(made):
    made.emu.faults.add(kind="conflict", operations=("TransactWriteItems",))
    actions = [{"Put": {"TableName": "tab", "Item": wire({"pk": name})}} for name in "ab"]
    with pytest.raises(ApiError) as caught:
        made.emu.call("TransactWriteItems", {"TransactItems": actions})
    assert caught.value.message.endswith("[TransactionConflict, None]")
    assert caught.value.members["CancellationReasons"][1] == {"Code": "None"}


@pytest.mark.parametrize(
    ("rule", "error"),
    [
        ({"kind": "flood"}, ValueError),
        ({"kind": "throttle", "share": 1.5}, ValueError),
        ({"kind": "throttle", "times": "many"}, TypeError),
        ({"kind": "latency", "latency": -1}, ValueError),
        ({"kind": "throttle", "times": -1}, ValueError),
        ({"kind": "throttle", "seed": True}, TypeError),
        ({"kind": "throttle", "key": {"pk": "a"}}, ValueError),
        ({"kind": "throttle", "key": 5}, ValueError),
        ({"kind": "throttle", "tables": 5}, TypeError),
        ({"kind": "throttle", "tables": [5]}, TypeError),
        ({"kind": "throttle", "operations": {"PutItem": 1}}, TypeError),
        ({"kind": "throttle", "share": None}, TypeError),
        ({"kind": "throttle", "after": float("nan")}, ValueError),
        ({"kind": "latency", "latency": 3601}, ValueError),
        ({"kind": ["throttle"]}, ValueError),
    ],
)
def test_wrong_rules_are_refused_when_made(rule, error):
    with pytest.raises(error):
        FaultRule(**rule)


MALFORMED = [
    ("TransactWriteItems", {"TransactItems": 5}),
    ("TransactWriteItems", {"TransactItems": [5, {"Put": 5}, {"Put": {"TableName": 5}}]}),
    ("TransactWriteItems", {"TransactItems": {"a": 1}}),
    ("ExecuteTransaction", {"TransactStatements": 5}),
    ("BatchWriteItem", {"RequestItems": {5: []}}),
    ("BatchWriteItem", {"RequestItems": 5}),
    ("PutItem", {"TableName": 5, "Item": {}}),
    ("PutItem", {"TableName": "tab", "Item": [1]}),
    ("GetItem", {"TableName": "tab", "Key": 5}),
    ("GetItem", [1]),
    ("Scan", None),
]


@pytest.mark.parametrize("bounds", [{"share": 0}, {"share": 1}, {"latency": 3600}, {"times": 0}])
def test_the_bounds_of_a_rule_belong_to_it(bounds):
    rule = FaultRule(kind="latency", **bounds)
    assert {name: getattr(rule, name) for name in bounds} == bounds


def test_an_unprocessed_rule_leaves_other_tables_alone(bench):
    """It hits what it names, and as often as it says; one item of a batch is always done."""
    made = bench("off")
    made.table("hit")
    made.table("spared")
    rule = made.emu.faults.add(kind="unprocessed", tables="hit", times=1)

    def unprocessed(table):
        puts = [{"PutRequest": {"Item": {"pk": {"S": key}}}} for key in "ab"]
        answer = made.emu.call("BatchWriteItem", {"RequestItems": {table: puts}})
        return len(answer["UnprocessedItems"].get(table, ()))

    assert [unprocessed(table) for table in ("spared", "hit", "hit")] == [0, 1, 0]
    assert rule.hits == 1


@pytest.mark.parametrize("kind", ["throttle", "conflict", "latency", "unprocessed"])
@pytest.mark.parametrize(
    "rule", [{}, {"tables": "tab"}, {"key": {"pk": {"S": "a"}}}, {"operations": "TransactGetItems"}]
)
def test_a_rule_meets_malformed_requests(made, kind, rule):
    """They are answered with an error of the service: the rule's own, or what is wrong."""
    made.emu.faults.add(kind=kind, **rule)
    for operation, request in MALFORMED:
        with pytest.raises(ApiError):
            made.emu.call(operation, request)


def test_a_cancellation_has_no_more_reasons_than_a_transaction_has_actions(made):
    made.emu.faults.add(kind="throttle")
    with pytest.raises(ApiError) as caught:
        made.emu.call("TransactWriteItems", {"TransactItems": [{}] * 50_000})
    assert len(caught.value.members["CancellationReasons"]) == 100


def test_transactions_overlap_where_they_take_time():
    """TXW-6, ERR-TYPE-11: Settings.transaction_seconds."""
    bench = Bench(capacity="off", transaction_seconds=1.0)
    bench.table()
    put = {"Put": {"TableName": "tab", "Item": wire({"pk": "a"})}}
    bench.emu.call("TransactWriteItems", {"TransactItems": [put]})
    error = bench.try_put(pk="a")
    assert (error.code, error.message) == (
        "TransactionConflictException",
        "Transaction is ongoing for the item",
    )
    with pytest.raises(ApiError) as caught:
        bench.emu.call("TransactWriteItems", {"TransactItems": [put]})
    assert caught.value.members["CancellationReasons"] == [
        {"Code": "TransactionConflict", "Message": "Transaction is ongoing for the item"}
    ]
    assert bench.try_put(pk="b") is None
    puts = [{"PutRequest": {"Item": wire({"pk": name})}} for name in "ab"]
    batch = bench.emu.call("BatchWriteItem", {"RequestItems": {"tab": puts}})
    assert batch["UnprocessedItems"] == {"tab": puts[:1]}
    bench.clock.advance(1)
    assert bench.try_put(pk="a") is None


def test_a_wrong_capacity_mode_is_refused():
    with pytest.raises(ValueError, match="capacity must be one of off, observe, enforce"):
        Emulator(clock=ManualClock(), capacity="on")


def test_an_outage_spares_nothing_in_its_regions_and_says_what_it_takes():
    faults = Faults()
    with pytest.raises(ValueError, match="needs regions"):
        faults.add(kind="outage")
    with pytest.raises(ValueError, match="nothing else"):
        faults.add(kind="outage", regions="us-east-1", tables="tab")
    second = 1_000_000_000
    faults.add(kind="outage", regions="us-east-1", after=10, until=20)
    faults.add(kind="outage", regions=("eu-west-1", "us-east-1"), after=20, until=30)
    faults.add(kind="outage", regions="ap-south-1", after=40)
    both = ("us-east-1", "eu-west-1")
    assert faults.reachable_ns(both, 9 * second) == 9 * second
    assert faults.reachable_ns(both, 10 * second) == 30 * second
    assert faults.reachable_ns(("eu-west-1",), 10 * second) == 10 * second
    assert faults.reachable_ns(("ap-south-1",), 40 * second) == float("inf")


def test_a_rule_can_be_for_some_regions_only():
    emu = Emulator(clock=ManualClock())
    emu.faults.add(kind="internal_error", regions=["eu-west-1"])
    assert emu.call("ListTables", {}) == {"TableNames": []}
    with pytest.raises(ApiError):
        emu.call("ListTables", {}, region="eu-west-1")
