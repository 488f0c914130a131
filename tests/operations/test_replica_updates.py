"""Global tables through the API: groups that form, change and dissolve (GTB-1 to GTB-10)."""

import pytest

from emulator import ApiError, Emulator, ManualClock, Settings
from tests.tables import INVALID, UNITS, table

HOME, EUROPE, ASIA = "us-east-1", "eu-west-1", "ap-northeast-1"
OHIO, OREGON = "us-east-2", "us-west-2"
TTL = {"Enabled": True, "AttributeName": "ttl"}


class World:
    """An emulator with one table, asked in several regions."""

    def __init__(self, *regions, request=None, capacity="observe", **settings):
        self.emu = Emulator(clock=ManualClock(), capacity=capacity, settings=Settings(**settings))
        self.emu.call("CreateTable", request or table())
        for region in regions:
            self.change(HOME, Create={"RegionName": region})

    def call(self, operation, region=HOME, **request):
        return self.emu.call(operation, {"TableName": "tab", **request}, region=region)

    def refusal(self, operation, region=HOME, **request):
        with pytest.raises(ApiError) as caught:
            self.call(operation, region, **request)
        return caught.value.code, caught.value.message

    def change(self, region, **update):
        return self.call("UpdateTable", region, ReplicaUpdates=[update])

    def put(self, region, pk, **attributes):
        item = {"pk": {"S": pk}} | {name: {"S": text} for name, text in attributes.items()}
        return self.call("PutItem", region, Item=item, ReturnConsumedCapacity="TOTAL")

    def items(self, region, **request):
        items = self.call("Scan", region, **request)["Items"]
        return {item["pk"]["S"]: item.get("v", {}).get("S") for item in items}

    def described(self, region=HOME):
        return self.call("DescribeTable", region)["Table"]

    def records(self, region):
        arn = self.described(region)["LatestStreamArn"]
        shard = self.streams("DescribeStream", region, StreamArn=arn)["StreamDescription"]
        shard_id = shard["Shards"][0]["ShardId"]
        where = {"StreamArn": arn, "ShardId": shard_id, "ShardIteratorType": "TRIM_HORIZON"}
        iterator = self.streams("GetShardIterator", region, **where)["ShardIterator"]
        return self.streams("GetRecords", region, ShardIterator=iterator)["Records"]

    def streams(self, operation, region, **request):
        return self.emu.call(operation, request, region=region)

    def later(self, seconds=1.0):
        self.emu.clock.advance(seconds)


def strong(*others, witness=None, **settings):
    """Return a world whose table is strongly consistent in several regions."""
    world = World(**settings)
    request = {"MultiRegionConsistency": "STRONG"}
    if witness is not None:
        request["GlobalTableWitnessUpdates"] = [{"Create": {"RegionName": witness}}]
    creations = [{"Create": {"RegionName": region}} for region in others]
    world.call("UpdateTable", ReplicaUpdates=creations, **request)
    return world


# Eventual consistency


def test_a_write_is_acknowledged_where_it_is_made_and_arrives_after_the_lag():
    """GTB-1: reads and conditions are local."""
    world = World(EUROPE, replication_lag=2.5)
    world.put(HOME, "a", v="1")
    assert world.items(EUROPE, ConsistentRead=True) == {}
    absent = {"ConditionExpression": "attribute_not_exists(pk)"}
    world.call("PutItem", EUROPE, Item={"pk": {"S": "a"}, "w": {"S": "2"}}, **absent)
    world.later(2.4)
    assert world.items(HOME) == {"a": "1"}
    world.later(0.1)
    # Both were written at the same moment: the region that sorts last has won everywhere.
    assert world.items(HOME) == world.items(EUROPE) == {"a": "1"}


def test_the_last_writer_wins_whatever_arrives_last():
    """GTB-1."""
    world = World(EUROPE, ASIA)
    world.put(EUROPE, "a", v="early")
    world.later(0.1)
    world.put(ASIA, "a", v="late")
    world.put(HOME, "b")
    world.later(1)
    world.put(HOME, "b", v="while it is deleted elsewhere")
    world.later(0.1)
    world.call("DeleteItem", EUROPE, Key={"pk": {"S": "b"}})
    world.later(2)
    assert [world.items(region) for region in (HOME, EUROPE, ASIA)] == [{"a": "late"}] * 3


def test_a_write_that_follows_another_is_later_even_if_no_time_has_passed():
    """GTB-1: what a region has seen, its next write is after."""
    world = World(EUROPE, replication_lag=0)
    world.put(HOME, "a", v="first")
    assert world.items(EUROPE) == {"a": "first"}
    world.put(EUROPE, "a", v="second")
    assert world.items(HOME) == {"a": "second"}
    world.put(HOME, "a", v="third")
    assert world.items(EUROPE) == {"a": "third"}


def test_each_replica_has_one_record_of_each_write_in_its_stream():
    """GTB-2: and no attribute that nobody wrote."""
    world = World(EUROPE)
    world.put(HOME, "a", v="1")
    world.put(EUROPE, "b", v="2")
    world.later(1)
    for region in (HOME, EUROPE):
        records = world.records(region)
        assert sorted(r["dynamodb"]["Keys"]["pk"]["S"] for r in records) == ["a", "b"]
        assert all(r["dynamodb"]["NewImage"].keys() == {"pk", "v"} for r in records)
        assert {record["awsRegion"] for record in records} == {region}


def test_the_stream_of_a_replica_cannot_be_disabled():
    """GTB-2."""
    world = World(EUROPE)
    assert world.described()["StreamSpecification"] == {
        "StreamEnabled": True,
        "StreamViewType": "NEW_AND_OLD_IMAGES",
    }
    assert world.refusal("UpdateTable", StreamSpecification={"StreamEnabled": False}) == (
        "ValidationException",
        INVALID + "The stream of a global table replica cannot be disabled",
    )


@pytest.mark.parametrize("asked", [HOME, EUROPE])
def test_an_expired_item_is_deleted_once_and_the_deletion_is_replicated(asked):
    """GTB-2, CAP-311: its userIdentity shows only where it happened; the others pay."""
    world = World(EUROPE)
    world.call("UpdateTimeToLive", EUROPE, TimeToLiveSpecification=TTL)
    status = world.call("DescribeTimeToLive", HOME)["TimeToLiveDescription"]
    assert status == {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}
    ttl = {"N": str(int(world.emu.clock.now()) + 30)}
    world.call("PutItem", EUROPE, Item={"pk": {"S": "a"}, "ttl": ttl})
    world.later(120)
    assert world.items(asked) == {}
    expiries = {
        region: [r.get("userIdentity") for r in world.records(region) if r["eventName"] == "REMOVE"]
        for region in (HOME, EUROPE)
    }
    service = {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"}
    assert expiries == {HOME: [service], EUROPE: [None]}
    units = [
        world.emu.account(region).metrics.sum("ConsumedWriteCapacityUnits", table="tab")
        for region in (HOME, EUROPE)
    ]
    assert units == [1.0, 2.0]


def test_a_write_is_paid_for_in_every_region_of_its_table_and_of_its_indexes():
    """GTB-3, CAP-312."""
    world = World(EUROPE, ASIA, request=table(indexes={"by_v": "v"}))
    with world.emu.budget(calls=1) as ledger:
        answer = world.put(HOME, "a", v="x" * 1500)
    assert answer["ConsumedCapacity"]["CapacityUnits"] == 4.0
    assert (ledger.write_units, ledger.replicated_units) == (4.0, 8.0)
    assert ledger.usd == pytest.approx(12 * 0.625)
    world.later(1)
    for region in (HOME, EUROPE, ASIA):
        world.items(region)
        metrics = world.emu.account(region).metrics
        assert metrics.sum("ConsumedWriteCapacityUnits", table="tab") == 2.0
        assert metrics.sum("ConsumedWriteCapacityUnits", table="tab", index="by_v") == 2.0
    metrics = world.emu.account(EUROPE).metrics
    assert metrics.sum("ReplicationLatency", table="tab") == 1000.0


def test_a_replica_without_room_falls_behind_and_catches_up():
    """GTB-3: replicated writes take the write capacity of where they arrive."""
    provisioned = table(ProvisionedThroughput=UNITS | {"WriteCapacityUnits": 1})
    world = World(EUROPE, request=provisioned, capacity="enforce", burst_start=0.0)
    world.later(1)
    world.put(EUROPE, "large", v="x" * 9000)
    world.put(HOME, "a", v="1")
    world.later(2)
    assert world.items(EUROPE).keys() == {"large"}
    assert world.emu.account(EUROPE).metrics.sum("WriteThrottleEvents", table="tab") > 0
    world.later(30)
    assert world.items(EUROPE) == world.items(HOME)


# Groups


def test_a_new_replica_has_what_was_there_and_what_was_on_its_way():
    """GTB-5: adding a replica fills it."""
    request = table(indexes={"by_v": "v"})
    world = World(EUROPE, request=request)
    world.put(HOME, "a", v="1")
    world.put(EUROPE, "b", v="2")
    world.change(HOME, Create={"RegionName": ASIA})
    assert world.items(ASIA) == {"a": "1"}
    world.later(1)
    everything = {"a": "1", "b": "2"}
    assert [world.items(region) for region in (HOME, EUROPE, ASIA)] == [everything] * 3
    assert world.items(ASIA, IndexName="by_v") == everything


def test_a_replica_that_is_deleted_is_gone_and_the_others_go_on():
    """GTB-5."""
    world = World(EUROPE, ASIA)
    world.put(EUROPE, "a", v="1")
    world.change(HOME, Delete={"RegionName": EUROPE})
    missing = "Requested resource not found: Table: tab not found"
    assert world.refusal("DescribeTable", EUROPE) == ("ResourceNotFoundException", missing)
    world.put(ASIA, "b", v="2")
    world.later(1)
    assert world.items(HOME) == world.items(ASIA) == {"a": "1", "b": "2"}
    world.call("DeleteTable", ASIA)
    assert "Replicas" not in world.described(HOME)
    world.put(HOME, "c")
    assert len(world.items(HOME)) == 3


def test_replicas_share_keys_indexes_billing_and_writes_but_not_reads():
    """GTB-5."""
    world = World(EUROPE, request=table(ProvisionedThroughput=UNITS))
    override = {"ProvisionedThroughputOverride": {"ReadCapacityUnits": 7}}
    world.change(HOME, Update={"RegionName": EUROPE, **override, "TableClassOverride": "STANDARD"})
    (replica,) = world.described()["Replicas"]
    assert replica["ProvisionedThroughputOverride"] == {"ReadCapacityUnits": 7}
    assert replica["ReplicaTableClassSummary"] == {"TableClass": "STANDARD"}
    units = {"ReadCapacityUnits": 11, "WriteCapacityUnits": 9}
    world.call("UpdateTable", ProvisionedThroughput=units)
    units = world.described(EUROPE)["ProvisionedThroughput"]
    assert (units["ReadCapacityUnits"], units["WriteCapacityUnits"]) == (7, 9)
    creation = {
        "IndexName": "by_v",
        "KeySchema": [{"AttributeName": "v", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
        "ProvisionedThroughput": UNITS,
    }
    definitions = [{"AttributeName": "v", "AttributeType": "S"}]
    world.call(
        "UpdateTable",
        EUROPE,
        AttributeDefinitions=definitions,
        GlobalSecondaryIndexUpdates=[{"Create": creation}],
    )
    assert [index["IndexName"] for index in world.described()["GlobalSecondaryIndexes"]] == ["by_v"]
    world.call("UpdateTable", BillingMode="PAY_PER_REQUEST")
    mode = world.described(EUROPE)["BillingModeSummary"]["BillingMode"]
    assert mode == "PAY_PER_REQUEST"
    world.call("UpdateTable", EUROPE, DeletionProtectionEnabled=True)
    assert world.described()["DeletionProtectionEnabled"] is False
    code, message = world.refusal(
        "UpdateTable", ReplicaUpdates=[{"Delete": {"RegionName": EUROPE}}]
    )
    assert (code, message[:26]) == ("ValidationException", "Resource cannot be deleted")


def test_a_table_is_in_the_way_of_a_replica():
    """GTB-5: nothing has changed then."""
    world = World()
    world.emu.call("CreateTable", table(), region=EUROPE)
    request = {"ReplicaUpdates": [{"Create": {"RegionName": r}} for r in (ASIA, EUROPE)]}
    assert world.refusal("UpdateTable", **request) == (
        "ValidationException",
        "Failed to create a the new replica of table with name: 'tab' because one or more "
        "replicas already existed as tables.",
    )
    assert "Replicas" not in world.described()
    assert world.emu.call("ListTables", {}, region=ASIA) == {"TableNames": []}


REFUSED = {
    "own region": (
        [{"Create": {"RegionName": HOME}}],
        INVALID + "Cannot add, delete, or update the local region through ReplicaUpdates",
    ),
    "twice": (
        [{"Create": {"RegionName": EUROPE}}, {"Create": {"RegionName": EUROPE}}],
        INVALID + "Replica already exists in region: eu-west-1",
    ),
    "none to delete": (
        [{"Delete": {"RegionName": EUROPE}}],
        INVALID + "Replica does not exist in region: eu-west-1",
    ),
    "none to update": (
        [{"Update": {"RegionName": EUROPE}}],
        INVALID + "Replica does not exist in region: eu-west-1",
    ),
    "no action": (
        [{}],
        INVALID + "One of Create, Update, Delete must be specified in a ReplicaUpdate",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_replica_change_that_cannot_be_is_refused(case):
    """OTH-14."""
    updates, message = REFUSED[case]
    world = World()
    refused = world.refusal("UpdateTable", ReplicaUpdates=updates)
    assert refused == ("ValidationException", message)
    assert "Replicas" not in world.described()


# Strong consistency


@pytest.mark.parametrize(
    "world",
    [lambda: strong(OHIO, OREGON), lambda: strong(OHIO, witness=OREGON)],
    ids=["three replicas", "two replicas and a witness"],
)
def test_what_one_region_acknowledged_every_region_reads(world):
    """GTB-6, GTB-8."""
    world = world()
    described = world.described()
    assert described["MultiRegionConsistency"] == "STRONG"
    witnesses = described.get("GlobalTableWitnesses", [])
    assert len(witnesses) + len(described["Replicas"]) == 2
    assert all(
        witness == {"RegionName": OREGON, "WitnessStatus": "ACTIVE"} for witness in witnesses
    )
    world.put(HOME, "a", v="1")
    assert world.items(OHIO, ConsistentRead=True) == {"a": "1"}
    world.later(1)
    absent = {"ConditionExpression": "attribute_not_exists(pk)"}
    code, _ = world.refusal("PutItem", OHIO, Item={"pk": {"S": "a"}}, **absent)
    assert code == "ConditionalCheckFailedException"
    assert "StreamSpecification" not in described


NOT_STRONG = {
    "two regions": ({"others": [OHIO]}, "three Regions"),
    "four regions": ({"others": [OHIO, OREGON], "witness": "us-west-1"}, "three Regions"),
    "two sets": ({"others": [OHIO, EUROPE]}, "three Regions"),
    "the same twice": ({"others": [OHIO], "witness": OHIO}, "three Regions"),
    "no creation": ({"others": []}, "first replicas are created"),
    "items": ({"others": [OHIO, OREGON], "items": 1}, "must be empty"),
    "local index": (
        {"others": [OHIO, OREGON], "request": table("pk", "sk", local_indexes={"by_v": "v"})},
        "local secondary indexes",
    ),
    "time to live": ({"others": [OHIO, OREGON], "ttl": TTL}, "time to live"),
}


@pytest.mark.parametrize("case", NOT_STRONG)
def test_a_group_that_cannot_be_strongly_consistent_is_refused(case):
    """GTB-6."""
    asked, message = NOT_STRONG[case]
    world = World(request=asked.get("request"))
    if "items" in asked:
        world.put(HOME, "a")
    if "ttl" in asked:
        world.call("UpdateTimeToLive", TimeToLiveSpecification=TTL)
    request = {"MultiRegionConsistency": "STRONG"}
    if asked["others"]:
        request["ReplicaUpdates"] = [{"Create": {"RegionName": r}} for r in asked["others"]]
    if "witness" in asked:
        request["GlobalTableWitnessUpdates"] = [{"Create": {"RegionName": asked["witness"]}}]
    code, text = world.refusal("UpdateTable", **request)
    assert code == "ValidationException"
    assert message in text
    assert "Replicas" not in world.described()


def test_a_strong_group_takes_no_replica_no_expiry_and_no_transaction():
    """GTB-6: nor another mode."""
    world = strong(OHIO, OREGON)
    key = {"TableName": "tab", "Key": {"pk": {"S": "a"}}}
    refused = [
        world.refusal("UpdateTable", ReplicaUpdates=[{"Create": {"RegionName": EUROPE}}]),
        world.refusal("UpdateTable", MultiRegionConsistency="EVENTUAL"),
        world.refusal("UpdateTimeToLive", TimeToLiveSpecification=TTL),
        world.refusal("DeleteTable"),
    ]
    with pytest.raises(ApiError) as caught:
        world.emu.call("TransactWriteItems", {"TransactItems": [{"Delete": key}]})
    refused.append((caught.value.code, caught.value.message))
    with pytest.raises(ApiError) as caught:
        world.emu.call("TransactGetItems", {"TransactItems": [{"Get": key}]})
    refused.append((caught.value.code, caught.value.message))
    assert {code for code, _ in refused} == {"ValidationException"}


def test_writes_of_one_item_in_two_regions_at_once_are_in_conflict():
    """GTB-7."""
    world = strong(OHIO, OREGON)
    world.put(HOME, "a")
    message = (
        "The request was rejected because one or more items in the request are being modified by "
        "a request in another Region."
    )
    conflict = ("ReplicatedWriteConflictException", message)
    item, key = {"pk": {"S": "a"}}, {"Key": {"pk": {"S": "a"}}}
    assert world.refusal("PutItem", OHIO, Item=item) == conflict
    assert world.refusal("DeleteItem", OHIO, **key) == conflict
    with pytest.raises(ApiError) as caught:
        world.emu.call(
            "BatchWriteItem",
            {"RequestItems": {"tab": [{"PutRequest": {"Item": item}}]}},
            region=OHIO,
        )
    assert caught.value.code == "ReplicatedWriteConflictException"
    world.put(OHIO, "b")
    world.put(HOME, "a")
    world.later(1.1)
    world.put(OHIO, "a", v="mine")
    assert world.items(OREGON) == {"a": "mine", "b": None}


def test_a_conflict_can_be_injected():
    """GTB-7."""
    world = World()
    world.emu.faults.add(kind="replication_conflict", times=1)
    world.items(HOME)
    assert world.refusal("PutItem", Item={"pk": {"S": "a"}})[0] == (
        "ReplicatedWriteConflictException"
    )
    world.put(HOME, "a")


def test_a_witness_comes_with_its_group_and_goes_with_it():
    """GTB-8."""
    world = strong(OHIO, witness=OREGON)
    away = {"GlobalTableWitnessUpdates": [{"Delete": {"RegionName": OREGON}}]}
    gone = {"ReplicaUpdates": [{"Delete": {"RegionName": OHIO}}]}
    both = {"Create": {"RegionName": OREGON}, "Delete": {"RegionName": OREGON}}
    elsewhere = {"GlobalTableWitnessUpdates": [{"Delete": {"RegionName": "us-west-1"}}]}
    assert world.refusal("UpdateTable", **gone)[0] == "ValidationException"
    assert world.refusal("UpdateTable", **away)[0] == "ValidationException"
    assert world.refusal("UpdateTable", **gone, **elsewhere)[0] == "ValidationException"
    refused = world.refusal("UpdateTable", GlobalTableWitnessUpdates=[both])
    assert refused[1].endswith("exactly one of Create and Delete")
    world.put(OHIO, "a")
    world.call("UpdateTable", **gone, **away)
    described = world.described()
    assert not described.keys() & {"Replicas", "GlobalTableWitnesses", "MultiRegionConsistency"}
    assert world.items(HOME) == {"a": None}


def test_an_eventual_group_has_no_witness():
    """GTB-8."""
    world = World(EUROPE)
    creation = {"GlobalTableWitnessUpdates": [{"Create": {"RegionName": OREGON}}]}
    assert world.refusal("UpdateTable", **creation)[0] == "ValidationException"
    assert World().refusal("UpdateTable", **creation)[0] == "ValidationException"


# Accounts, and leaving


def test_settings_are_said_to_be_replicated_and_another_account_is_not_there():
    """GTB-9: an emulator has one account."""
    world = World()
    world.call("UpdateTable", GlobalTableSettingsReplicationMode="ENABLED")
    assert world.described()["GlobalTableSettingsReplicationMode"] == "ENABLED"
    assert World(EUROPE).described()["GlobalTableSettingsReplicationMode"] == (
        "ENABLED_WITH_OVERRIDES"
    )
    request = {
        "TableName": "tab",
        "GlobalTableSettingsReplicationMode": "ENABLED",
        "GlobalTableSourceArn": "arn:aws:dynamodb:us-east-1:999999999999:table/tab",
    }
    with pytest.raises(ApiError) as caught:
        world.emu.call("CreateTable", request, region=EUROPE)
    assert (caught.value.code, caught.value.message) == (
        "ValidationException",
        INVALID + "GlobalTableSourceArn names a table of another account, and an emulator has one "
        "account: see docs/reference/fidelity.md#not-there",
    )
    own = {"GlobalTableSourceArn": "arn:aws:dynamodb:us-east-1:000000000000:table/tab"}
    with pytest.raises(ApiError) as caught:
        world.emu.call("CreateTable", request | own, region=EUROPE)
    assert caught.value.code == "ValidationException"


def test_a_replica_that_is_disassociated_keeps_its_data_and_goes_alone():
    """GTB-10."""
    world = World(EUROPE, ASIA)
    world.put(HOME, "a", v="1")
    leaving = {"RegionName": EUROPE, "DisassociationMode": "WAIT_FOR_REPLICATION"}
    request = {"ReplicaUpdates": [{"Disassociate": leaving}]}
    assert world.described(EUROPE)["DisassociationProtectionEnabled"] is True
    assert world.refusal("UpdateTable", EUROPE, **request) == (
        "ValidationException",
        INVALID + "Disassociation protection is enabled for this replica",
    )
    world.call("UpdateTable", EUROPE, DisassociationProtectionEnabled=False)
    arn = world.described(EUROPE)["TableArn"]
    world.call("UpdateTable", EUROPE, **request)
    assert "Replicas" not in world.described(EUROPE)
    assert world.described(EUROPE)["TableArn"] == arn
    assert world.items(EUROPE) == {"a": "1"}
    world.put(EUROPE, "b")
    world.put(HOME, "c")
    world.later(1)
    assert (len(world.items(HOME)), len(world.items(ASIA)), len(world.items(EUROPE))) == (2, 2, 2)
    assert [other["RegionName"] for other in world.described()["Replicas"]] == [ASIA]
    world.call("UpdateTable", ASIA, DisassociationProtectionEnabled=False)
    leaving["RegionName"] = ASIA
    world.call("UpdateTable", ASIA, **request)
    assert "Replicas" not in world.described(HOME)


def test_a_disassociation_is_asked_alone_of_the_replica_itself():
    """GTB-10."""
    world = World(EUROPE)
    leaving = {"RegionName": EUROPE, "DisassociationMode": "WAIT_FOR_REPLICATION"}
    away = {"Disassociate": leaving}
    more = {"Create": {"RegionName": ASIA}}
    messages = [
        world.refusal("UpdateTable", HOME, ReplicaUpdates=[away])[1],
        world.refusal("UpdateTable", EUROPE, ReplicaUpdates=[away, more])[1],
        World().refusal("UpdateTable", DisassociationProtectionEnabled=False)[1],
        World().refusal(
            "UpdateTable", ReplicaUpdates=[{"Disassociate": leaving | {"RegionName": HOME}}]
        )[1],
    ]
    assert [message.removeprefix(INVALID) for message in messages] == [
        "Disassociate must name the Region that the request is sent to",
        "Disassociate must be the only change in a request",
        "The table is not a replica of a global table",
        "The table is not a replica of a global table",
    ]
