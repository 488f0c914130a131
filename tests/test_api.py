"""The emulator's own arguments: what is wrong is told in one sentence."""

import gc
import json
import weakref

import pytest

from emulator import Emulator, ManualClock, SystemClock, api
from emulator.api import LongAnswer
from emulator.operations import responses
from emulator.persistence import snapshot_file
from emulator.strategies import create_request

SCHEMA = {
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}


@pytest.mark.parametrize("clock", ["manual", ManualClock, 0])
def test_what_is_no_clock_is_refused(clock):
    with pytest.raises(TypeError, match=r"clock must be a clock, such as ManualClock\(\), not "):
        Emulator(clock=clock)


def test_a_region_is_text():
    with pytest.raises(TypeError, match="region must be text, such as 'us-east-1', not 5"):
        Emulator(region=5)


def test_only_a_snapshot_is_restored():
    emu = Emulator()
    emu.call("CreateTable", {"TableName": "orders", **SCHEMA})
    with pytest.raises(TypeError, match=r"takes what snapshot\(\) returned, not 'shop.snapshot'"):
        emu.restore("shop.snapshot")
    assert emu.call("ListTables", {}) == {"TableNames": ["orders"]}


def test_real_time_cannot_be_advanced():
    assert isinstance(Emulator().clock, SystemClock)
    with pytest.raises(Exception, match=r"real time cannot be advanced by 60 .* a ManualClock\(\)"):
        Emulator().clock.advance(60)


def test_an_emulator_shows_its_mode_its_region_and_its_tables():
    emu = Emulator(capacity="off", region="eu-west-1")
    assert repr(emu) == "Emulator(capacity='off', region='eu-west-1', tables=[])"
    emu.call("CreateTable", {"TableName": "orders", **SCHEMA})
    assert repr(emu) == "Emulator(capacity='off', region='eu-west-1', tables=['orders'])"


@pytest.mark.parametrize("clock", [SystemClock, ManualClock])
def test_what_an_emulator_holds_is_freed_with_it(clock):
    """A suite that makes one per test would otherwise keep many until Python looks for cycles."""
    emu = Emulator(clock=clock())
    emu.call("CreateTable", create_request("orders", "id"))
    emu.call("PutItem", {"TableName": "orders", "Item": {"id": {"S": "1"}}})
    metrics = weakref.ref(emu.metrics)
    gc.disable()
    try:
        del emu
        assert metrics() is None
    finally:
        gc.enable()


def test_a_view_follows_the_clock_after_its_emulator_is_gone():
    clock = ManualClock()
    emu = Emulator(clock=clock)
    emu.call("CreateTable", create_request("orders", "id"))
    view = emu.within(emu.namespace)
    account = emu.account()
    del emu
    clock.advance(90)
    assert account.now_seconds == clock.now()
    assert view.clock is clock


def test_a_save_holds_every_region(tmp_path, monkeypatch):
    emu = Emulator()
    accounts = [emu.account(region) for region in ("us-east-1", "eu-west-1")]
    held = []
    monkeypatch.setattr(
        snapshot_file,
        "save",
        lambda _, saved: held.append([account.lock._is_owned() for account in saved]),
    )
    emu.save(tmp_path / "file")
    assert held == [[True] * len(accounts)]


@pytest.mark.parametrize("does", ["capture", "reinstate"])
def test_a_snapshot_is_taken_and_brought_back_under_the_locks_of_every_region(monkeypatch, does):
    emu = Emulator()
    accounts = [emu.account(region) for region in ("us-east-1", "eu-west-1")]
    before, held = emu.snapshot(), []
    function = getattr(api, does)

    def look(account, *state):
        held.append([account.lock._is_owned() for account in accounts])
        return function(account, *state)

    monkeypatch.setattr(api, does, look)
    emu.snapshot() if does == "capture" else emu.restore(before)
    assert held == [[True, True]] * 2


def test_a_save_does_not_mind_a_region_that_is_met_meanwhile(tmp_path, monkeypatch):
    emu = Emulator()
    emu.account("eu-west-1")
    saved = []

    def save(_path, accounts):
        for account in accounts:
            emu.account(f"{account.region}-again")  # as another thread does
            saved.append(account.region)

    monkeypatch.setattr(snapshot_file, "save", save)
    emu.save(tmp_path / "file")
    assert saved == ["eu-west-1"]


# Answers in pieces

LONG_ANSWERS = {
    "Query": {
        "TableName": "orders",
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": "a"}},
        "ReturnConsumedCapacity": "TOTAL",
    },
    "Scan": {"TableName": "orders", "ProjectionExpression": "pk, sk", "Limit": 90},
    "ExecuteStatement": {"Statement": "SELECT * FROM orders", "Limit": 90},
    "BatchGetItem": {
        "RequestItems": {
            "orders": {"Keys": [{"pk": {"S": "a"}, "sk": {"S": f"{n:03}"}} for n in range(90)]},
            "others": {"Keys": [{"pk": {"S": "a"}, "sk": {"S": "000"}}]},
        },
        "ReturnConsumedCapacity": "TOTAL",
    },
    "TransactGetItems": {
        "TransactItems": [
            {"Get": {"TableName": name, "Key": {"pk": {"S": "a"}, "sk": {"S": f"{n:03}"}}}}
            for name, most in (("orders", 90), ("others", 1))
            for n in range(most)
        ],
        "ReturnConsumedCapacity": "TOTAL",
    },
    "GetRecords": {"Limit": 90},
}


def with_many_items():
    """Return an emulator with two tables, one of them with 100 items of 1,000 bytes."""
    emulator = Emulator(clock=ManualClock())
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    for name in ("orders", "others"):
        definition = create_request(name, "pk", sort="sk")
        emulator.call("CreateTable", definition | {"StreamSpecification": stream})
    for number in range(100):
        emulator.call("PutItem", {"TableName": "orders", "Item": order(number, "x" * 985)})
    return emulator


def order(number, note):
    return {"pk": {"S": "a"}, "sk": {"S": f"{number:03}"}, "note": {"S": note}}


def first_iterator(emulator):
    """Return a ShardIterator at the first record of the table."""
    arn = emulator.call("ListStreams", {"TableName": "orders"})["Streams"][0]["StreamArn"]
    description = emulator.call("DescribeStream", {"StreamArn": arn})["StreamDescription"]
    shard = {"StreamArn": arn, "ShardId": description["Shards"][0]["ShardId"]}
    asked = shard | {"ShardIteratorType": "TRIM_HORIZON"}
    return {"ShardIterator": emulator.call("GetShardIterator", asked)["ShardIterator"]}


@pytest.mark.parametrize(("operation", "request_"), LONG_ANSWERS.items())
def test_a_long_answer_in_pieces_is_that_of_call_as_of_its_time(operation, request_):
    emulator = with_many_items()
    if operation == "GetRecords":
        request_ = request_ | first_iterator(emulator)
    whole = emulator.call(operation, request_)
    assert type(whole) is dict

    answer = emulator.call_in_pieces(operation, request_)
    assert isinstance(answer, LongAnswer)
    for number in range(100):
        emulator.call("PutItem", {"TableName": "orders", "Item": order(number, "written later")})

    assert json.dumps(answer.whole()) == json.dumps(whole), "the order of the members, too"


def test_the_pieces_of_a_long_answer_are_of_about_one_size():
    emulator = with_many_items()
    [*pieces] = emulator.call_in_pieces("Query", LONG_ANSWERS["Query"])["Items"]

    assert [len(piece) for piece in pieces] == [17] * 5 + [15]


def test_a_piece_ends_with_what_fills_it():
    full = responses.PIECE_BYTES
    sizes = [full - 1, 1, full, full - 1, full]
    pieces = responses.measured_in_pieces(
        zip(sizes, sizes, strict=True), lambda some: [{"sizes": some}]
    )
    shown = [piece[0]["sizes"] for piece in pieces]
    assert shown == [[full - 1, 1], [full], [full - 1, full]]


@pytest.mark.parametrize(("items", "kind"), [(65, dict), (66, LongAnswer)])
def test_an_answer_is_long_from_64_kilobytes_on(items, kind):
    emulator = with_many_items()
    gets = LONG_ANSWERS["TransactGetItems"]["TransactItems"][:items]
    answers = [
        emulator.call_in_pieces("TransactGetItems", {"TransactItems": gets}),
        emulator.call_in_pieces("GetRecords", {"Limit": items} | first_iterator(emulator)),
    ]
    assert [type(answer) for answer in answers] == [kind, kind]


@pytest.mark.parametrize("change", [{"Limit": 60}, {"Select": "COUNT"}])
def test_a_short_answer_is_whole(change):
    emulator = with_many_items()
    request = LONG_ANSWERS["Query"] | change

    assert type(emulator.call_in_pieces("Query", request)) is dict
