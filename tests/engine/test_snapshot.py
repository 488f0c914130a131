"""Going back to a snapshot brings back its state, and nothing of what came after."""

import pytest

from emulator import Emulator, ManualClock
from tests.engine.conftest import Bench, lsi, wire

COLLECTION = {"TableName": "tab", "ReturnItemCollectionMetrics": "SIZE"}


def transact(bench, pk):
    put = {"Put": {"TableName": "tab", "Item": wire({"pk": pk})}}
    bench.emu.call("TransactWriteItems", {"TransactItems": [put]})


def test_reset_lets_go_of_what_a_transaction_holds():
    bench = Bench(transaction_seconds=5)
    bench.table()
    transact(bench, "a")
    assert bench.try_put(pk="a").code == "TransactionConflictException"
    bench.emu.reset()
    bench.table()
    assert bench.try_put(pk="a") is None


def test_a_snapshot_has_what_transactions_hold():
    bench = Bench(transaction_seconds=5)
    bench.table()
    free = bench.emu.snapshot()
    transact(bench, "a")
    held = bench.emu.snapshot()
    bench.emu.restore(free)
    assert bench.try_put(pk="a") is None
    bench.emu.restore(held)
    transact(bench, "b")  # what follows belongs to nobody's snapshot
    assert bench.try_put(pk="a").code == "TransactionConflictException"
    bench.emu.restore(held)
    assert bench.try_put(pk="b") is None


def test_receipts_start_anew():
    bench = Bench()
    bench.table()
    snapshot = bench.emu.snapshot()
    bench.put(pk="a")
    assert len(bench.emu.last_receipts) == 1
    bench.emu.restore(snapshot)
    assert bench.emu.last_receipts == []
    bench.put(pk="a")
    bench.emu.reset()
    assert bench.emu.last_receipts == []


@pytest.mark.parametrize("restored_first", [False, True])
def test_the_sizes_of_collections_are_the_snapshot_s_own(restored_first):
    bench = Bench(capacity="off", item_collection_bytes=2_000)
    bench.table(key=("pk", "sk"), LocalSecondaryIndexes=[lsi("local", "pk", "l", kind="KEYS_ONLY")])
    bench.put(pk="a", sk="1", l="x", pad="x" * 800)
    snapshot = bench.emu.snapshot()
    if restored_first:
        bench.emu.restore(snapshot)
    account = bench.emu.account()
    sizes = dict(account.tables["tab"].collection_bytes)
    for _ in range(2):
        bench.put(pk="a", sk="2", l="y", pad="x" * 500)
        assert account.tables["tab"].collection_bytes != sizes
        bench.emu.restore(snapshot)
        assert account.tables["tab"].collection_bytes == sizes


def test_the_sizes_of_collections_are_copied_once():
    """However many writes follow a snapshot."""
    bench = Bench(capacity="off")
    bench.table(key=("pk", "sk"), LocalSecondaryIndexes=[lsi("local", "pk", "l")])
    bench.emu.snapshot()
    bench.put(pk="a", sk="1")
    sizes = bench.emu.account().tables["tab"].collection_bytes
    bench.put(pk="a", sk="2")
    assert bench.emu.account().tables["tab"].collection_bytes is sizes


def test_a_snapshot_is_one_moment_of_all_regions(monkeypatch):
    """Every region is held while any is captured: a write to two of them is in both or neither."""
    emu = Emulator(clock=ManualClock())
    accounts = [emu.account(region) for region in ("us-east-1", "eu-west-1")]
    held = []
    monkeypatch.setattr(
        "emulator.api.capture",
        lambda _: held.append([account.lock._is_owned() for account in accounts]),
    )
    emu.snapshot()
    assert held == [[True, True], [True, True]]


def test_another_emulator_that_goes_on_from_a_snapshot_makes_ids_of_its_own():
    first, second = Bench(), Bench()
    first.table()
    request = {"TableName": "tab", "BackupName": "backup"}
    first.emu.call("CreateBackup", request)
    second.emu.restore(first.emu.snapshot())
    for _ in range(3):
        second.emu.call("CreateBackup", request)
    assert len(second.emu.call("ListBackups", {})["BackupSummaries"]) == 4
