"""Which namespaces a server keeps, and which it drops."""

from __future__ import annotations

import boto3
import pytest

from emulator import Emulator, ManualClock
from emulator.errors import LimitExceededException
from emulator.http import ServerOptions, ServerThread
from emulator.http.namespaces import TABLE_BYTES, NamespaceKeeper, estimated_bytes

TABLE = {
    "TableName": "orders",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}


class Kept:
    """A keeper with a time that stands still, and the sentences that it says."""

    def __init__(self, **limits):
        self.emulator = Emulator(clock=ManualClock())
        self.now = 0.0
        self.notes = []
        self.keeper = NamespaceKeeper(
            self.emulator, time=lambda: self.now, note=self.notes.append, **limits
        )

    def call(self, access_key, operation, **request):
        return self.keeper.call(operation, request, access_key=access_key)

    def put(self, access_key, size=0):
        item = {"pk": {"S": "a"}, "v": {"S": "x" * size}}
        return self.call(access_key, "PutItem", TableName="orders", Item=item)

    def after(self, seconds):
        self.now += seconds
        self.keeper.sweep()
        return [view.namespace.access_key for view in self.emulator.namespaces()]


def test_an_idle_namespace_goes_and_what_every_key_sees_stays():
    kept = Kept(idle_seconds=60)
    for access_key in (None, "one", "two"):
        kept.call(access_key, "CreateTable", **TABLE | {"TableName": f"table-{access_key}"})
    assert kept.after(40) == [None, "one", "two"]
    kept.call("two", "ListTables")
    assert kept.after(20) == [None, "two"]
    assert kept.notes == [
        "namespace one/us-east-1 was dropped: it was not used for 60 seconds",
    ]
    assert kept.after(60) == [None]


def test_a_namespace_that_was_loaded_is_idle_from_the_first_look():
    kept = Kept(idle_seconds=60)
    kept.emulator.call("CreateTable", TABLE, access_key="loaded")
    assert kept.after(1000) == ["loaded"]
    assert kept.after(60) == []


def test_without_a_limit_nothing_is_dropped():
    kept = Kept()
    kept.call("one", "CreateTable", **TABLE)
    assert kept.after(10**9) == ["one"]
    kept.call("one", "DeleteTable", TableName="orders")
    assert kept.after(1) == []
    assert [account.namespace.access_key for account in kept.emulator._accounts] == [None]


def test_too_much_data_drops_what_was_unused_for_the_longest_time():
    kept = Kept(memory_bytes=3 * TABLE_BYTES)
    for access_key in ("one", "two", "three"):
        kept.call(access_key, "CreateTable", **TABLE)
        kept.now += 1
    kept.call("one", "ListTables")
    assert kept.after(1) == ["one", "two", "three"]
    kept.put("three", size=1000)
    assert kept.after(1) == ["one", "three"]
    assert kept.notes == [
        "namespace two/us-east-1 was dropped: there is more data than --memory allows"
    ]


def test_what_one_namespace_has_is_not_dropped_but_nothing_is_added():
    kept = Kept(memory_bytes=2 * TABLE_BYTES)
    kept.call("one", "CreateTable", **TABLE)
    kept.put("one", size=100_000)
    assert kept.after(1) == ["one"]
    with pytest.raises(LimitExceededException) as refusal:
        kept.put("one")
    assert str(refusal.value.message) == (
        "This server keeps 0.1 MB of data and may keep 0.0 MB (--memory). Delete something, or "
        "start it with a higher limit"
    )
    kept.call("one", "DeleteItem", TableName="orders", Key={"pk": {"S": "a"}})
    kept.after(1)
    kept.put("one")


def test_the_estimate_counts_tables_entries_and_bytes():
    kept = Kept()
    kept.call("one", "CreateTable", **TABLE)
    kept.put("one", size=10)
    (view,) = kept.emulator.namespaces()
    assert estimated_bytes(view) == TABLE_BYTES + 600 + view.size_bytes


# Over the wire


def client(server, access_key, region="us-east-1"):
    return boto3.client(
        "dynamodb",
        endpoint_url=server.endpoint_url,
        region_name=region,
        aws_access_key_id=access_key,
        aws_secret_access_key="any",
    )


@pytest.mark.parametrize(
    ("options", "seen"),
    [
        ({"keys_apart": True}, ([], [])),
        ({}, (["orders"], [])),
        ({"keys_apart": True, "shared": True}, (["orders"], ["orders"])),
    ],
)
def test_keys_and_regions_are_apart_as_the_options_say(options, seen):
    options = ServerOptions(grace_seconds=1.0, **options)
    with ServerThread(Emulator(), options=options) as server:
        client(server, "one").create_table(**TABLE)
        there = client(server, "two").list_tables()["TableNames"]
        elsewhere = client(server, "one", "eu-west-1").list_tables()["TableNames"]
        assert client(server, "one").list_tables()["TableNames"] == ["orders"]
    assert (there, elsewhere) == seen


def test_tables_made_in_process_are_seen_by_every_key():
    emulator = Emulator()
    emulator.call("CreateTable", TABLE)
    options = ServerOptions(grace_seconds=1.0, keys_apart=True)
    with ServerThread(emulator, options=options) as server:
        assert client(server, "any").list_tables()["TableNames"] == ["orders"]
