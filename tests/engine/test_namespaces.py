"""Namespaces: the data of different access keys is apart, and what has no key is everybody's."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from emulator import Emulator, ManualClock
from emulator.engine.namespaces import REGIONS_KEPT, Namespace
from emulator.errors import ResourceInUseException, ResourceNotFoundException

SCHEMA = {
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}
INDEX = {
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "g", "AttributeType": "S"},
    ],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "ProvisionedThroughput": {"ReadCapacityUnits": 100, "WriteCapacityUnits": 100},
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by_g",
            "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
            "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
        }
    ],
}


class Key:
    """An emulator as somebody with one access key sees it."""

    def __init__(self, emulator, access_key, region=None):
        self.emulator, self.where = emulator, {"access_key": access_key, "region": region}

    def call(self, operation, **request):
        return self.emulator.call(operation, request, **self.where)

    def create(self, name, **schema):
        return self.call("CreateTable", TableName=name, **(schema or SCHEMA))

    def put(self, table, pk, **attributes):
        item = {"pk": {"S": pk}} | {name: {"S": value} for name, value in attributes.items()}
        return self.call("PutItem", TableName=table, Item=item)

    def keys(self, table):
        items = self.call("Scan", TableName=table)["Items"]
        return sorted(item["pk"]["S"] for item in items)

    def tables(self):
        return self.call("ListTables")["TableNames"]


@pytest.fixture
def emulator():
    return Emulator(clock=ManualClock())


@pytest.fixture
def one(emulator):
    return Key(emulator, "one")


@pytest.fixture
def two(emulator):
    return Key(emulator, "two")


@pytest.fixture
def everybody(emulator):
    return Key(emulator, None)


def test_tables_of_different_keys_and_regions_are_apart(emulator, one, two, everybody):
    elsewhere = Key(emulator, "one", "eu-west-1")
    for key in (one, two, elsewhere):
        key.create("orders")
    one.put("orders", "a")
    assert (one.keys("orders"), two.keys("orders"), elsewhere.keys("orders")) == (["a"], [], [])
    assert everybody.tables() == []
    two.call("DeleteTable", TableName="orders")
    assert (one.tables(), two.tables(), elsewhere.tables()) == (["orders"], [], ["orders"])


def test_what_has_no_key_every_key_sees_and_changes(one, two, everybody):
    everybody.create("common")
    one.create("own")
    one.put("common", "a")
    two.put("common", "b")
    assert one.keys("common") == two.keys("common") == everybody.keys("common") == ["a", "b"]
    assert (one.tables(), two.tables()) == (["common", "own"], ["common"])
    with pytest.raises(ResourceInUseException):
        two.create("common")
    one.call("DeleteTable", TableName="common")
    assert (two.tables(), everybody.tables()) == ([], [])


def test_a_transaction_reaches_both(one, everybody):
    everybody.create("common")
    one.create("own")
    puts = [{"Put": {"TableName": name, "Item": {"pk": {"S": "a"}}}} for name in ("common", "own")]
    one.call("TransactWriteItems", TransactItems=puts)
    assert everybody.keys("common") == one.keys("own") == ["a"]


def test_a_stream_that_a_key_gives_to_a_common_table_is_everybodys(one, two, everybody):
    everybody.create("common")
    stream = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    one.call("UpdateTable", TableName="common", StreamSpecification=stream)
    (arn,) = (stream["StreamArn"] for stream in two.call("ListStreams")["Streams"])
    assert two.call("DescribeStream", StreamArn=arn)["StreamDescription"]["TableName"] == "common"
    one.create("own", StreamSpecification=stream, **SCHEMA)
    assert len(one.call("ListStreams")["Streams"]) == 2
    assert len(two.call("ListStreams")["Streams"]) == 1


def test_units_of_a_common_table_are_counted_once_with_it(emulator, one, two, everybody):
    everybody.create("common")
    one.put("common", "a")
    two.put("common", "b")
    assert emulator.metrics.sum("ConsumedWriteCapacityUnits", table="common") == 2.0


def test_what_waits_for_an_index_of_a_common_table_is_applied_whoever_comes_next():
    clock = ManualClock()
    emulator = Emulator(clock=clock, capacity="enforce")
    one, two, everybody = (Key(emulator, key) for key in ("one", "two", None))
    everybody.create("common", **INDEX)
    for number in range(5):
        one.put("common", str(number), g="x")
    assert emulator.backlog("common", "by_g").units > 0
    clock.advance(60)
    found = two.call(
        "Query",
        TableName="common",
        IndexName="by_g",
        KeyConditionExpression="g = :g",
        ExpressionAttributeValues={":g": {"S": "x"}},
    )
    assert found["Count"] == 5
    assert emulator.backlog("common", "by_g").units == 0


def test_a_table_of_another_key_is_not_there(one, two):
    one.create("orders")
    with pytest.raises(ResourceNotFoundException):
        two.put("orders", "a")


def test_invented_keys_and_regions_are_not_kept(emulator):
    for number in range(2 * REGIONS_KEPT):
        Key(emulator, f"key-{number}").tables()
        Key(emulator, None, f"region-{number}").tables()
        Key(emulator, f"key-{number}", f"region-{number}").tables()
    assert len(list(emulator._accounts)) <= REGIONS_KEPT
    assert emulator.namespaces() == []


def test_a_region_beyond_those_that_are_kept_is_kept_with_its_first_table(emulator):
    for number in range(REGIONS_KEPT):
        Key(emulator, None, f"region-{number}").tables()
    late = Key(emulator, None, "late")
    late.create("orders")
    assert late.tables() == ["orders"]


def test_namespaces_are_listed_with_what_they_hold(emulator, one, everybody):
    everybody.create("common")
    one.create("orders", **INDEX)
    one.put("orders", "a", g="x")
    assert [
        (str(view.namespace), view.tables, view.entries, view.size_bytes > 0)
        for view in emulator.namespaces()
    ] == [("*/us-east-1", ["common"], 0, False), ("one/us-east-1", ["orders"], 2, True)]


# State


def test_snapshots_keep_namespaces(emulator, one, two, everybody):
    everybody.create("common")
    one.create("orders")
    before = emulator.snapshot()
    one.put("orders", "a")
    two.create("later")
    emulator.restore(before)
    assert (one.keys("orders"), two.tables(), everybody.tables()) == ([], ["common"], ["common"])
    emulator.reset()
    assert one.tables() == everybody.tables() == []


def test_files_keep_namespaces(emulator, one, everybody, tmp_path):
    everybody.create("common")
    one.create("orders")
    one.put("orders", "a")
    emulator.save(tmp_path / "file")
    loaded = Emulator.load(tmp_path / "file")
    assert Key(loaded, "one").keys("orders") == ["a"]
    assert Key(loaded, "two").tables() == ["common"]


def test_an_emulator_can_be_narrowed_to_a_namespace(emulator, one, two):
    for key in (one, two):
        key.create("orders")
        key.put("orders", "a")
    narrowed = emulator.within(Namespace("one", "us-east-1"))
    assert narrowed.metrics.sum("ConsumedWriteCapacityUnits", table="orders") == 1.0
    assert sum(partition.items for partition in narrowed.partitions("orders")) == 1
    assert [view.namespace.access_key for view in narrowed.namespaces()] == ["one"]
    before = narrowed.snapshot()
    one.put("orders", "b")
    two.put("orders", "b")
    narrowed.restore(before)
    assert (one.keys("orders"), two.keys("orders")) == (["a"], ["a", "b"])
    narrowed.reset()
    assert (one.tables(), two.tables()) == ([], ["orders"])
    emulator.within(Namespace(None, "us-east-1")).reset()
    assert two.tables() == ["orders"]


def test_a_key_that_came_first_sees_what_is_everybody_s_later(one, everybody):
    one.create("own")
    everybody.create("common")
    assert one.tables() == ["common", "own"]


def test_keys_that_are_invented_make_nothing_grow(emulator, one):
    """An account is kept once it holds something, and forgotten when it holds nothing any more."""
    for number in range(20):
        Key(emulator, f"invented {number}").tables()
    assert list(emulator._accounts) == []
    one.create("own")
    assert {str(account.namespace) for account in emulator._accounts} == {
        "one/us-east-1",
        "*/us-east-1",
    }
    one.call("DeleteTable", TableName="own")
    emulator.forget_empty()
    assert [str(account.namespace) for account in emulator._accounts] == ["*/us-east-1"]


def test_every_key_knows_of_what_waits_in_the_tables_of_all():
    """CAP2-4.1: a change that another key has made is passed by nothing that comes later."""
    emulator = Emulator(clock=ManualClock(), capacity="enforce")
    common, ann = Key(emulator, None), Key(emulator, "ann")
    common.create("tab", **INDEX)
    bob = emulator._accounts.get(Namespace("bob", "us-east-1"))
    assert not bob.has_backlog
    for number in range(8):
        ann.put("tab", str(number), g="g")
    bob.catch_up(emulator.clock.now_ns())
    assert bob.has_backlog


def test_of_two_threads_that_make_one_account_the_first_does():
    """The second has looked before the first was done, and waits for the lock."""
    emulator = Emulator()
    accounts, namespace = emulator._accounts, Namespace(None, "eu-west-1")
    lock, made = accounts._making, []

    @contextmanager
    def late():
        accounts._making = lock
        made.append(accounts.get(namespace))
        with lock:
            yield

    accounts._making = late()
    assert accounts.get(namespace) is made[0]
