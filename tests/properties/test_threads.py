"""Many threads on one emulator: what they see is some serial order."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from emulator import Emulator
from emulator.service.errors import (
    ApiError,
    ConditionalCheckFailedException,
    TransactionCanceledException,
)
from emulator.testing.table_notation import create_request

THREADS, CALLS = 8, 40


@pytest.fixture
def emu():
    emu = Emulator()
    emu.call("CreateTable", create_request("table", indexes={"by_n": "n:N"}))
    return emu


def together(work):
    """Run work(number) in many threads that start at once, and return what they return."""
    barrier = threading.Barrier(THREADS)

    def begin(number):
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(begin, range(THREADS)))


def test_every_increment_is_seen_once(emu):
    """Each answer is the counter after one of the increments; together they are all of them."""
    request = {
        "TableName": "table",
        "Key": {"pk": {"S": "counter"}},
        "UpdateExpression": "ADD n :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
        "ReturnValues": "UPDATED_NEW",
    }
    seen = together(
        lambda _: [
            int(emu.call("UpdateItem", request)["Attributes"]["n"]["N"]) for _ in range(CALLS)
        ]
    )
    assert sorted(n for numbers in seen for n in numbers) == list(range(1, THREADS * CALLS + 1))
    assert all(numbers == sorted(numbers) for numbers in seen)
    entries = emu.call("Scan", {"TableName": "table", "IndexName": "by_n"})["Items"]
    assert entries == [{"pk": {"S": "counter"}, "n": {"N": str(THREADS * CALLS)}}]


def test_exactly_one_thread_creates_an_item(emu):
    def create(number):
        created = []
        for name in range(CALLS):
            item = {"pk": {"S": str(name)}, "owner": {"N": str(number)}}
            request = {"TableName": "table", "Item": item}
            try:
                emu.call("PutItem", request | {"ConditionExpression": "attribute_not_exists(pk)"})
            except ConditionalCheckFailedException:
                continue
            created.append(name)
        return created

    owned = together(create)
    assert sorted(name for names in owned for name in names) == list(range(CALLS))
    for item in emu.call("Scan", {"TableName": "table"})["Items"]:
        assert int(item["pk"]["S"]) in owned[int(item["owner"]["N"])]


def test_transfers_never_make_or_lose_money(emu):
    accounts = ["a", "b", "c"]
    for name in accounts:
        emu.call("PutItem", {"TableName": "table", "Item": {"pk": {"S": name}, "n": {"N": "100"}}})

    def change(name, amount):
        return {
            "Update": {
                "TableName": "table",
                "Key": {"pk": {"S": name}},
                "UpdateExpression": "SET n = n + :amount",
                "ConditionExpression": "n >= :least",
                "ExpressionAttributeValues": {
                    ":amount": {"N": str(amount)},
                    ":least": {"N": str(max(0, -amount))},
                },
            }
        }

    def work(number):
        sums = set()
        for step in range(CALLS):
            source, target = accounts[(number + step) % 3], accounts[(number + step + 1) % 3]
            try:
                moves = [change(source, -30), change(target, 30)]
                emu.call("TransactWriteItems", {"TransactItems": moves})
            except TransactionCanceledException:
                pass
            gets = [{"Get": {"TableName": "table", "Key": {"pk": {"S": one}}}} for one in accounts]
            read = emu.call("TransactGetItems", {"TransactItems": gets})["Responses"]
            sums.add(sum(int(one["Item"]["n"]["N"]) for one in read))
        return sums

    assert together(work) == [{300}] * THREADS


def test_readers_and_table_makers_do_not_disturb_each_other(emu):
    def work(number):
        name = f"own{number}"
        for step in range(CALLS // 4):
            emu.call("CreateTable", create_request(name))
            emu.call("PutItem", {"TableName": name, "Item": {"pk": {"S": str(step)}}})
            assert emu.call("Scan", {"TableName": name})["Count"] == 1
            emu.snapshot()
            emu.call("DeleteTable", {"TableName": name})
            with pytest.raises(ApiError):
                emu.call("Scan", {"TableName": name})

    together(work)
    assert emu.call("ListTables", {}) == {"TableNames": ["table"]}
