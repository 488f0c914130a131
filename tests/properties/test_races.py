"""A gallery of twelve mistakes: each is found, and its corrected version is never accused."""

from collections.abc import Callable
from typing import NamedTuple

import boto3
import pytest

from emulator import ApiError, Emulator, ManualClock, mock_dynamodb
from emulator.testing import every_crash, every_interleaving
from emulator.testing.table_notation import create_request

NOW = 1_800_000_000


class Refused(Exception):
    """The code under test says no, as it should."""


class Shop:
    """One table, and the few requests that the code of the gallery makes."""

    def __init__(self, emu):
        self.emu = emu
        request = create_request("shop", "id", indexes={"by_owner": "owner"})
        emu.call("CreateTable", request)
        ttl = {"AttributeName": "ttl", "Enabled": True}
        emu.call("UpdateTimeToLive", {"TableName": "shop", "TimeToLiveSpecification": ttl})
        self.table = emu.table("shop")

    def get(self, name, *, consistent=True):
        return self.table.get_item(Key={"id": name}, ConsistentRead=consistent).get("Item")

    def put(self, name, condition=None, **attributes):
        conditions = {} if condition is None else {"ConditionExpression": condition}
        self.table.put_item(Item={"id": name, **attributes}, **conditions)

    def add(self, name, number, condition=None):
        """Add to n with one request; refused if a condition fails."""
        request = {
            "TableName": "shop",
            "Key": {"id": {"S": name}},
            "UpdateExpression": "ADD n :n",
            "ExpressionAttributeValues": {":n": {"N": str(number)}},
        }
        if condition is not None:
            request["ConditionExpression"] = condition
        call_unless_refused(self.emu, "UpdateItem", request)

    def transact(self, *actions, token=None):
        request = {"TransactItems": list(actions)}
        if token is not None:
            request["ClientRequestToken"] = token
        call_unless_refused(self.emu, "TransactWriteItems", request)


def call_unless_refused(emu, operation, request):
    try:
        emu.call(operation, request)
    except ApiError as error:
        if "ConditionalCheckFailed" in f"{error.code} {error}":
            raise Refused from None
        raise


def item(name, **attributes):
    return {"TableName": "shop", "Item": {"id": {"S": name}, **attributes}}


def retrying(call):
    """Try again what a transaction was in the way of."""
    for _ in range(5):
        try:
            return call()
        except ApiError as error:
            if "TransactionConflict" not in f"{error.code} {error}":
                raise
    raise AssertionError("five conflicts in a row")


# Each mistake: what is there, the wrong code, the right code, and what must hold


class Mistake(NamedTuple):
    begin: Callable
    wrong: Callable
    right: Callable
    holds: Callable
    kind: str = "interleaving"
    callables: int = 2


def nothing(_shop):
    pass


def lost_update():
    def count(shop):
        seen = shop.get("visits")["n"]
        shop.put("visits", n=seen + 1)

    return Mistake(
        lambda shop: shop.put("visits", n=0),
        count,
        lambda shop: shop.add("visits", 1),
        lambda shop, results: shop.get("visits")["n"] == 2,
    )


def write_skew():
    """Of two doctors, one has to stay: each looks whether the other is there, and goes."""

    def begin(shop):
        for name in ("ann", "bob"):
            shop.put(name, n=1)

    def leave(shop, name, other):
        if not shop.get(other)["n"]:
            raise Refused
        shop.put(name, n=0)

    def leave_together(shop, name, other):
        check = {
            "TableName": "shop",
            "Key": {"id": {"S": other}},
            "ConditionExpression": "n = :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        }
        actions = {"ConditionCheck": check}, {"Put": item(name, n={"N": "0"})}
        retrying(lambda: shop.transact(*actions))

    return Mistake(
        begin,
        [lambda shop: leave(shop, "ann", "bob"), lambda shop: leave(shop, "bob", "ann")],
        [
            lambda shop: leave_together(shop, "ann", "bob"),
            lambda shop: leave_together(shop, "bob", "ann"),
        ],
        lambda shop, results: shop.get("ann")["n"] + shop.get("bob")["n"] >= 1,
    )


def double_spend():
    def pay(shop):
        balance = shop.get("account")["n"]
        if balance < 10:
            raise Refused
        shop.add("account", -10)
        return "paid"

    def pay_if_there(shop):
        request = {
            "TableName": "shop",
            "Key": {"id": {"S": "account"}},
            "UpdateExpression": "SET n = n - :price",
            "ConditionExpression": "n >= :price",
            "ExpressionAttributeValues": {":price": {"N": "10"}},
        }
        call_unless_refused(shop.emu, "UpdateItem", request)
        return "paid"

    return Mistake(
        lambda shop: shop.put("account", n=10),
        pay,
        pay_if_there,
        lambda shop, results: shop.get("account")["n"] == 10 - 10 * results.count("paid") >= 0,
    )


def check_then_act():
    def register(shop):
        if shop.get("ann@example.com") is not None:
            raise Refused
        shop.put("ann@example.com", owner="new")
        return "registered"

    def register_if_new(shop):
        put = item("ann@example.com", owner={"S": "new"})
        call_unless_refused(
            shop.emu, "PutItem", put | {"ConditionExpression": "attribute_not_exists(id)"}
        )
        return "registered"

    return Mistake(
        nothing,
        register,
        register_if_new,
        lambda shop, results: results.count("registered") == 1,
    )


def half_done_pair():
    def place(shop):
        shop.put("order", n=1)
        shop.put("receipt", n=1)

    def place_at_once(shop):
        shop.transact({"Put": item("order")}, {"Put": item("receipt")})

    return Mistake(
        nothing,
        place,
        place_at_once,
        lambda shop, results: (shop.get("order") is None) == (shop.get("receipt") is None),
        kind="crash",
    )


def retry_that_is_not_idempotent():
    def count(_shop):
        boto3.client("dynamodb", "us-east-1").update_item(
            TableName="shop",
            Key={"id": {"S": "visits"}},
            UpdateExpression="ADD n :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
        )

    def count_with_a_token(_shop):  # boto3 makes the token, and repeats it with the request
        update = {
            "TableName": "shop",
            "Key": {"id": {"S": "visits"}},
            "UpdateExpression": "ADD n :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        }
        client = boto3.client("dynamodb", "us-east-1")
        client.transact_write_items(TransactItems=[{"Update": update}])

    return Mistake(
        nothing,
        count,
        count_with_a_token,
        lambda shop, results: shop.get("visits")["n"] == 1,
        kind="lost_answer",
    )


def unprocessed_items_dropped():
    rows = [{"PutRequest": {"Item": {"id": {"S": name}}}} for name in "abc"]

    def load(shop):
        shop.emu.call("BatchWriteItem", {"RequestItems": {"shop": rows}})

    def load_all(shop):
        left = {"shop": rows}
        while left:
            left = shop.emu.call("BatchWriteItem", {"RequestItems": left})["UnprocessedItems"]

    return Mistake(
        nothing,
        load,
        load_all,
        lambda shop, results: shop.table.scan(ConsistentRead=True)["Count"] == 3,
        kind="unprocessed",
    )


def stale_read():
    def write_and_show(shop, *, consistent=False):
        shop.put("profile", n=1)
        return shop.get("profile", consistent=consistent) is not None

    return Mistake(
        nothing,
        write_and_show,
        lambda shop: write_and_show(shop, consistent=True),
        lambda shop, results: all(results),
        callables=1,
    )


def index_read_after_write():
    def query(shop, **names):
        values = {":owner": "ann"}
        return shop.table.query(
            KeyConditionExpression="#owner = :owner",
            ExpressionAttributeNames={"#owner": names.pop("key")},
            ExpressionAttributeValues=values,
            **names,
        )["Count"]

    def place(shop):
        shop.put("ann", owner="ann")
        return query(shop, key="owner", IndexName="by_owner")

    def place_and_read_the_table(shop):
        shop.put("ann", owner="ann")
        return query(shop, key="id", ConsistentRead=True)

    return Mistake(
        nothing,
        place,
        place_and_read_the_table,
        lambda shop, results: results == [1],
        callables=1,
    )


def token_used_twice():
    def deposit(shop, token):
        update = {
            "TableName": "shop",
            "Key": {"id": {"S": "account"}},
            "UpdateExpression": "ADD n :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        }
        retrying(lambda: shop.transact({"Update": update}, token=token))

    def deposit_with(*tokens):
        return [lambda shop, token=token: deposit(shop, token) for token in tokens]

    return Mistake(
        nothing,
        deposit_with("deposit", "deposit"),
        deposit_with("deposit-1", "deposit-2"),
        lambda shop, results: shop.get("account")["n"] == 2,
    )


def item_expired_between_read_and_write():
    def touch(shop, condition=None):
        if shop.get("session") is None:
            raise Refused
        shop.add("session", 1, condition)

    def is_whole_or_gone(shop, _results):
        session = shop.get("session")
        return session is None or "owner" in session

    return Mistake(
        lambda shop: shop.put("session", owner="ann", ttl=NOW - 1),
        touch,
        lambda shop: touch(shop, "attribute_exists(id)"),
        is_whole_or_gone,
        callables=1,
    )


def transaction_conflict_not_retried():
    def transfer(shop):
        puts = [{"Put": item(name, n={"N": "1"})} for name in ("ann", "bob")]
        retrying(lambda: shop.transact(*puts))

    def rename(shop):
        shop.emu.call("PutItem", item("ann", n={"N": "2"}))

    return Mistake(
        nothing,
        [transfer, rename],
        [transfer, lambda shop: retrying(lambda: rename(shop))],
        lambda shop, results: shop.get("bob") is not None,
    )


GALLERY = (
    lost_update,
    write_skew,
    double_spend,
    check_then_act,
    half_done_pair,
    retry_that_is_not_idempotent,
    unprocessed_items_dropped,
    stale_read,
    index_read_after_write,
    token_used_twice,
    item_expired_between_read_and_write,
    transaction_conflict_not_retried,
)


def accusation(mistake, code):
    """Return what is wrong with some code, or None if no run has shown anything."""
    shop = Shop(Emulator(clock=ManualClock(NOW)))
    mistake.begin(shop)
    each = code if isinstance(code, list) else [code] * mistake.callables
    calls = [lambda one=one: one(shop) for one in each]
    with mock_dynamodb(shop.emu):
        try:
            if mistake.kind == "interleaving":
                runs = every_interleaving(shop.emu, *calls, expected=Refused)
            else:
                runs = every_crash(shop.emu, calls[0], kind=mistake.kind)
            for run in runs:
                results = getattr(run, "results", None)
                if not mistake.holds(shop, results):
                    return str(run)
        except ApiError as error:
            return str(error)
    return None


@pytest.mark.parametrize("make", GALLERY, ids=lambda make: make.__name__)
def test_the_mistake_is_found_and_its_correction_is_not_accused(make):
    mistake = make()

    assert accusation(mistake, mistake.wrong) is not None
    assert accusation(mistake, mistake.right) is None
