"""How often work is done, counted exactly: a regression is caught without a clock."""

import copy
import gc
import json
import subprocess
import sys
import tracemalloc

import pytest

from emulator import Emulator, ManualClock, Settings
from emulator.capacity import TokenBucket, meter
from emulator.expressions import lexer
from emulator.model import numbers, wire
from emulator.operations import paging
from emulator.operations.rules import expressions, items, keys
from emulator.storage import ordered
from tests.tables import table

TABLE = table("pk", "sk:N", indexes={"gsi": "g"})


def item(number):
    return {
        "pk": {"S": "p"},
        "sk": {"N": str(number)},
        "g": {"S": "x"},
        "m": {"M": {"a": {"L": [{"N": "1"}, {"S": "y"}]}}},
    }


@pytest.fixture
def emulator():
    made = Emulator(capacity="observe")
    made.call("CreateTable", TABLE)
    for number in range(100):
        made.call("PutItem", {"TableName": "tab", "Item": item(number)})
    return made


class Calls:
    """Counts calls of functions by name, anywhere below, while it stands."""

    def __init__(self, *functions):
        self.codes = {function.__code__: function.__qualname__ for function in functions}
        self.counts = dict.fromkeys(self.codes.values(), 0)

    def __enter__(self):
        sys.setprofile(self._note)
        return self.counts

    def __exit__(self, *_):
        sys.setprofile(None)

    def _note(self, frame, event, _):
        name = self.codes.get(frame.f_code) if event == "call" else None
        if name is not None:
            self.counts[name] += 1


REQUESTS = [
    (
        "Query",
        {
            "TableName": "tab",
            "KeyConditionExpression": "pk = :p AND sk > :s",
            "FilterExpression": "attribute_exists(m)",
            "ProjectionExpression": "#k, m.a[0]",
            "ExpressionAttributeNames": {"#k": "sk"},
            "ExpressionAttributeValues": {":p": {"S": "p"}, ":s": {"N": "5"}},
            "Limit": 3,
        },
    ),
    (
        "UpdateItem",
        {
            "TableName": "tab",
            "Key": {"pk": {"S": "p"}, "sk": {"N": "1"}},
            "UpdateExpression": "SET n = if_not_exists(n, :z) + :o REMOVE q",
            "ConditionExpression": "attribute_exists(pk)",
            "ExpressionAttributeValues": {":z": {"N": "0"}, ":o": {"N": "1"}},
        },
    ),
]


@pytest.mark.parametrize(("operation", "request_"), REQUESTS)
def test_a_repeated_request_is_not_parsed_again(emulator, operation, request_):
    emulator.call(operation, request_)
    with Calls(lexer.tokenize) as counts:
        for _ in range(10):
            emulator.call(operation, request_)
    assert counts == {"tokenize": 0}


def test_a_put_walks_each_value_once(emulator):
    """Texts and numbers of a map are read in place; the rest is one load per value."""
    written = item(1000)
    with Calls(wire._load, wire.load_item) as counts:
        emulator.call("PutItem", {"TableName": "tab", "Item": written})
    # m, a, and the two members of a; pk, g and sk are text and a number at the top.
    assert counts == {"_load": 4, "load_item": 1}


def test_a_number_that_came_before_is_not_read_again(emulator):
    emulator.call("PutItem", {"TableName": "tab", "Item": item(1)})
    with Calls(numbers.measured_number) as counts:
        emulator.call("PutItem", {"TableName": "tab", "Item": item(1)})
        emulator.call("PutItem", {"TableName": "tab", "Item": item(7_310_982_645)})
    assert counts == {"measured_number": 1}


def test_items_of_a_collection_share_their_partition_key_and_its_hash(emulator):
    """One text and one hash for all of them, in the table as in the index."""
    for number in (201, 202):
        text = json.dumps({"TableName": "tab", "Item": item(number)})
        emulator.call("PutItem", json.loads(text))
    stored = emulator.account().tables["tab"]
    for store, name in ((stored.store, "pk"), (stored.indexes["gsi"].store, "g")):
        entries = list(store.walk((0,), (2**64,)))
        assert len({id(position[0]) for position, _ in entries}) == 1
        assert {id(entry.attributes[name]) for _, entry in entries} == {id(entries[0][0][1])}


def test_a_read_asks_for_admission_once_and_is_recorded_with_it(emulator):
    """One charge under one limit: no list of buckets is made, and the charge is read once."""
    counted = (meter.consume, meter.admit, meter.record, TokenBucket.refill)
    request = {"TableName": "tab", "Key": {"pk": {"S": "p"}, "sk": {"N": "1"}}}
    with Calls(*counted) as counts:
        emulator.call("GetItem", request)
    assert counts == {"consume": 1, "admit": 0, "record": 0, "TokenBucket.refill": 2}


def test_a_refused_charge_refills_each_bucket_once():
    """What fills the buckets to judge a charge also decides who refuses it."""
    made = Emulator(clock=ManualClock(), capacity="observe")
    made.call("CreateTable", table("pk", provisioned=(1, 1)))
    write = {"TableName": "tab", "Item": {"pk": {"S": "p"}}}
    made.call("PutItem", write)
    with Calls(meter.consume, meter.admit, meter._costs, TokenBucket.refill) as counts:
        made.call("PutItem", write)
    assert made.metrics.sum("WriteThrottleEvents") == 1
    assert counts == {"consume": 1, "admit": 0, "_costs": 0, "TokenBucket.refill": 2}


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("GetItem", {"TableName": "tab", "Key": {"pk": {"S": "p"}, "sk": {"N": "1"}}}),
        (
            "Query",
            {
                "TableName": "tab",
                "KeyConditionExpression": "pk = :p",
                "ExpressionAttributeValues": {":p": {"S": "p"}},
            },
        ),
    ],
)
def test_a_read_that_has_no_projection_passes_no_rule_about_one(emulator, operation, request_):
    rules = (
        expressions.parameters_are_legacy_or_current,
        items.names_are_distinct,
        keys.keys_are_scalars,
        paging.index_projects,
    )
    with Calls(*rules) as counts:
        emulator.call(operation, request_)
    assert not any(counts.values()), counts


def test_a_transaction_of_one_action_saves_no_buckets(emulator):
    request = {"TransactItems": [{"Put": {"TableName": "tab", "Item": item(1)}}]}
    with Calls(meter.admit_all, meter._save) as counts:
        emulator.call("TransactWriteItems", request)
    assert counts == {"admit_all": 1, "_save": 0}


def test_emulators_without_settings_share_those_that_were_checked():
    with Calls(Settings.__post_init__) as counts:
        made = [Emulator(), Emulator()]
    assert counts == {"Settings.__post_init__": 0}
    assert made[0].settings == Settings()


def test_nothing_is_copied_deeply(emulator, monkeypatch):
    def forbidden(*_):
        raise AssertionError("deep copy")

    monkeypatch.setattr(copy, "deepcopy", forbidden)
    emulator.call("PutItem", {"TableName": "tab", "Item": item(1)})
    emulator.call("GetItem", {"TableName": "tab", "Key": {"pk": {"S": "p"}, "sk": {"N": "1"}}})
    emulator.call(*REQUESTS[0])
    snapshot = emulator.snapshot()
    emulator.restore(snapshot)


def test_an_index_that_projects_all_shares_its_items(emulator):
    table = emulator.account().tables["tab"]
    position = table.position(("p", wire.parse_number("7")))
    stored = table.store.get(position)
    entries = [entry for _, entry in table.indexes["gsi"].store.walk((0,), (2**64,))]
    assert any(entry is stored for entry in entries)


@pytest.mark.parametrize("count", [100, 2000])
def test_a_query_touches_only_its_page(count):
    """Whatever the collection's size: ten items asked for, ten walked."""
    made = Emulator(capacity="off")
    made.call("CreateTable", TABLE)
    for number in range(count):
        made.call("PutItem", {"TableName": "tab", "Item": item(number)})
    walked = []
    original = ordered.OrderedStore.items_at

    def counting(self, positions):
        walked.extend(positions)
        return original(self, positions)

    ordered.OrderedStore.items_at = counting
    try:
        made.call("Query", {**REQUESTS[0][1], "Limit": 10})
    finally:
        ordered.OrderedStore.items_at = original
    assert len(walked) == 10


def allocated(function):
    """Return what a function keeps in memory, and what it took at its highest, in bytes."""
    gc.collect()
    tracemalloc.start()
    try:
        kept = function()
        return tracemalloc.get_traced_memory(), kept
    finally:
        tracemalloc.stop()


def test_snapshots_take_the_same_whatever_the_table_holds():
    """Items, index entries, collections, expiries and stream records are shared until written."""
    taken = []
    for count in (20, 1000):
        made = Emulator(clock=ManualClock(), capacity="observe")
        stream = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
        indexes = {"indexes": {"gsi": "g"}, "local_indexes": {"lsi": "g"}}
        made.call("CreateTable", table("pk", "sk:N", **indexes, StreamSpecification=stream))
        expiry = {"Enabled": True, "AttributeName": "sk"}
        made.call("UpdateTimeToLive", {"TableName": "tab", "TimeToLiveSpecification": expiry})
        for number in range(count):
            written = item(2_000_000_000 + number) | {"pk": {"S": str(number)}}
            made.call("PutItem", {"TableName": "tab", "Item": written})
        made.snapshot()
        (kept, peak), snapshot = allocated(made.snapshot)
        (restored, restoring), _ = allocated(lambda made=made, at=snapshot: made.restore(at))
        taken.append((kept, peak, restored, restoring))
    few, many = taken
    assert all(large <= small + 2048 for small, large in zip(few, many, strict=True)), taken


#: What serves tables and their items, and what only some of those who have tables use.
NOT_FOR_AN_EMULATOR_WITHOUT_TABLES = (
    *("engine.table", "engine.reads", "engine.writes", "engine.updates", "engine.transactions"),
    *(
        "engine.streams",
        "engine.history",
        "regions",
        "engine.replicas",
        "engine.archived",
        "expressions",
    ),
    "operations.profiles",
    *("capacity.prices", "capacity.scaling", "observe.ledger", "observe.inspection", "clients"),
)


def test_an_emulator_without_tables_loads_nothing_that_serves_them():
    code = (
        "import sys; from emulator import Emulator; Emulator().call('ListTables', {});"
        "print(*(name for name in sys.modules if name.startswith('emulator.')))"
    )
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True)

    unwanted = {f"emulator.{name}" for name in NOT_FOR_AN_EMULATOR_WITHOUT_TABLES}
    assert unwanted.isdisjoint(loaded.split())
