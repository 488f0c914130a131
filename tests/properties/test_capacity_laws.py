"""Laws of capacity over whole runs: tiling, determinism, indifference to steps, no side effects.

A run is a list of pauses and requests on a table made to move: small partitions that split for
size, heat that counts after a minute, an index, a local index, items that expire.
"""

from hypothesis import given, settings
from hypothesis import strategies as st

from emulator import ApiError, Emulator, ManualClock, Settings
from emulator.storage import HASH_SPACE

BIG = "x" * 20_000

pauses = st.sampled_from([0, 0, 0, 1, 7, 30, 60, 61, 400])
keys = st.sampled_from("abcdefgh")
sorts = st.integers(0, 30)
requests = st.tuples(
    st.sampled_from(["put", "put", "big", "get", "delete", "query", "scan", "transact"]),
    keys,
    sorts,
)
runs = st.lists(st.tuples(pauses, requests), min_size=1, max_size=40)


def table(*, on_demand, local):
    attributes = {"pk": "S", "sk": "N", "g": "S"} | ({"l": "S"} if local else {})
    units = {"ReadCapacityUnits": 40, "WriteCapacityUnits": 30}
    index = {
        "IndexName": "gsi",
        "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "KEYS_ONLY"},
    }
    request = {
        "TableName": "tab",
        "KeySchema": [
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": kind} for name, kind in attributes.items()
        ],
        "GlobalSecondaryIndexes": [index],
    }
    if on_demand:
        request["BillingMode"] = "PAY_PER_REQUEST"
        request["OnDemandThroughput"] = {"MaxWriteRequestUnits": 30, "MaxReadRequestUnits": 40}
    else:
        request["ProvisionedThroughput"] = units
        index["ProvisionedThroughput"] = {**units, "WriteCapacityUnits": 1}
    if local:
        request["LocalSecondaryIndexes"] = [
            {
                "IndexName": "lsi",
                "KeySchema": [
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "l", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ]
    return request


def emulator(mode="enforce", *, on_demand=False, local=False):
    made = Emulator(
        clock=ManualClock(),
        capacity=mode,
        settings=Settings(
            partition_bytes=60_000,
            heat_minutes=1,
            heat_threshold=0.0001,
            split_delay=(60, 90, 200),
            gsi_buffer_seconds=0.2,
            gsi_closed_seconds=9,
            placement_salt=7,
        ),
    )
    made.call("CreateTable", table(on_demand=on_demand, local=local))
    made.call(
        "UpdateTimeToLive",
        {
            "TableName": "tab",
            "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ttl"},
        },
    )
    return made


def wire(made, kind, pk, sk):
    key = {"pk": {"S": pk}, "sk": {"N": str(sk)}}
    item = {**key, "g": {"S": pk}, "l": {"S": str(sk % 3)}}
    item["v"] = {"S": BIG if kind == "big" else "x"}
    if sk % 5 == 0:
        item["ttl"] = {"N": str(int(made.clock.now()) + 90)}
    query = {
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": pk}},
    }
    return {
        "put": ("PutItem", {"TableName": "tab", "Item": item}),
        "big": ("PutItem", {"TableName": "tab", "Item": item}),
        "get": ("GetItem", {"TableName": "tab", "Key": key}),
        "delete": ("DeleteItem", {"TableName": "tab", "Key": key}),
        "query": ("Query", {"TableName": "tab", **query}),
        "scan": ("Scan", {"TableName": "tab", "Limit": 5}),
        "transact": (
            "TransactWriteItems",
            {
                "TransactItems": [
                    {"Put": {"TableName": "tab", "Item": item}},
                    {"Delete": {"TableName": "tab", "Key": {**key, "sk": {"N": "99"}}}},
                ]
            },
        ),
    }[kind]


def perform(made, request):
    """Return what a request gives, told the same way every time."""
    operation, body = wire(made, *request)
    try:
        return made.call(operation, body)
    except ApiError as error:
        return error.body()


def state(made):
    """Return everything a person could see of the table."""
    return (
        made.partitions("tab"),
        made.partitions("tab", "gsi"),
        made.backlog("tab", "gsi"),
        made.insights("tab"),
        made.call("DescribeTable", {"TableName": "tab"})["Table"]["ItemCount"],
    )


def check(made):
    """Assert that partitions tile the key space and hold each item once (CAP-501)."""
    found = made.account().tables["tab"]
    for resource in found.resources():
        resource.partitions.check()
        resource.meter.check()
        store = found.store if resource.is_table else found.indexes["gsi"].store
        store.check()
        extra = 0
        if resource.is_table:
            extra = sum(len(index.store) for index in found.local_indexes)
        assert sum(one.items for one in resource.partitions) == len(store) + extra
        for partition in resource.partitions:
            low, high = resource.partitions.range_of(partition)
            inside = list(store.walk(low, high))
            assert partition.items == len(inside) * (2 if extra else 1)
    queue = found.indexes["gsi"].queue
    queue.check()
    if not queue.is_empty:
        return
    entries = {
        tuple(item.attributes.items())
        for _, item in found.indexes["gsi"].store.walk((0,), (HASH_SPACE,))
    }
    names = found.indexes["gsi"].schema.entry_names
    wanted = {
        tuple(item.pick(names).attributes.items())
        for _, item in found.store.walk((0,), (HASH_SPACE,))
    }
    assert {frozenset(entry) for entry in entries} == {frozenset(entry) for entry in wanted}


@given(runs, st.booleans(), st.booleans())
@settings(max_examples=40)
def test_partitions_tile_and_hold_each_item_once(run, on_demand, local):
    made = emulator(on_demand=on_demand, local=local)
    for pause, request in run:
        made.clock.advance(pause)
        perform(made, request)
        check(made)


@given(runs, st.booleans())
@settings(max_examples=25)
def test_the_same_run_gives_the_same_answers(run, on_demand):
    answers = []
    for _ in range(2):
        made = emulator(on_demand=on_demand)
        told = []
        for pause, request in run:
            made.clock.advance(pause)
            told.append(perform(made, request))
        answers.append((told, state(made)))
    assert answers[0] == answers[1]


@given(runs, st.booleans(), st.integers(1, 13))
@settings(max_examples=25)
def test_steps_make_no_difference(run, on_demand, step):
    """CAP-613, CAP-614: a pause at once, or in steps of a few seconds."""
    whole, stepped = emulator(on_demand=on_demand), emulator(on_demand=on_demand)
    for pause, request in run:
        whole.clock.advance(pause)
        left = pause
        while left > 0:
            stepped.clock.advance(min(step, left))
            left -= step
        assert perform(whole, request) == perform(stepped, request)
    assert state(whole) == state(stepped)


@given(runs, st.booleans())
@settings(max_examples=25)
def test_a_refusal_changes_nothing(run, on_demand):
    """CAP-608: neither items nor tokens; only the count of refusals grows."""
    made = emulator(on_demand=on_demand)
    for pause, request in run:
        made.clock.advance(pause)
        before = made.snapshot()
        tokens = [(one.read_tokens, one.write_tokens) for one in made.partitions("tab")]
        answer = perform(made, request)
        if "hrottl" not in str(answer.get("__type", "")) and "Throughput" not in str(
            answer.get("__type", "")
        ):
            continue
        assert [(one.read_tokens, one.write_tokens) for one in made.partitions("tab")] == tokens
        held = before.regions["us-east-1"]["tables"]["tab"].store
        store = made.account().tables["tab"].store
        everything = ((0,), (HASH_SPACE,))
        assert list(store.walk(*everything)) == list(held.walk(*everything))


@given(runs, st.booleans())
@settings(max_examples=25)
def test_observe_and_enforce_agree_up_to_the_first_refusal(run, on_demand):
    observed, enforced = emulator("observe", on_demand=on_demand), emulator(on_demand=on_demand)
    for pause, request in run:
        observed.clock.advance(pause)
        enforced.clock.advance(pause)
        refused = observed.metrics.sum("WriteThrottleEvents", table="tab")
        refused += observed.metrics.sum("ReadThrottleEvents", table="tab")
        refused += observed.metrics.sum("WriteThrottleEvents", table="tab", index="gsi")
        answers = perform(observed, request), perform(enforced, request)
        now = observed.metrics.sum("WriteThrottleEvents", table="tab")
        now += observed.metrics.sum("ReadThrottleEvents", table="tab")
        now += observed.metrics.sum("WriteThrottleEvents", table="tab", index="gsi")
        if now > refused:
            assert "__type" in answers[1]
            return
        assert answers[0] == answers[1]
