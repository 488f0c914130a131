"""Writes: what a table takes, and what it refuses. CAP-111."""

import pytest

from tests.engine.conftest import Bench, gsi, lsi, sized, wire

#: An item is its keys, `l` and `v`; its entry in the index is the same attributes again.
FIXED_BYTES = len("pk" + "p" + "sk" + "1" + "l" + "x" + "v")


@pytest.mark.parametrize(("extra_bytes", "fits"), [(0, True), (1, False)])
def test_a_collection_may_be_as_large_as_its_limit(extra_bytes, fits):
    """CAP-111, IDX-6, CAP-110: items and entries, 100 bytes more each, reach the limit."""
    bench = Bench(capacity="off", item_collection_bytes=4 * (500 + 100))
    bench.table(key=("pk", "sk"), LocalSecondaryIndexes=[lsi("local", "pk", "l")])
    bench.put(pk="p", sk="1", l="x", v="x" * (500 - FIXED_BYTES))
    error = bench.try_put(pk="p", sk="2", l="x", v="x" * (500 - FIXED_BYTES + extra_bytes))
    assert (error is None) is fits


def test_a_full_collection_may_change_and_shrink():
    """CAP-111: only what leaves the collection larger than before is refused."""
    bench = Bench(capacity="off", item_collection_bytes=2 * (500 + 100))
    bench.table(key=("pk", "sk"), LocalSecondaryIndexes=[lsi("local", "pk", "l")])
    bench.put(pk="p", sk="1", l="x", v="x" * (500 - FIXED_BYTES))
    assert bench.try_put(pk="p", sk="1", l="x", v="y" * (500 - FIXED_BYTES)) is None
    assert bench.try_put(pk="p", sk="2", l="x", v="") is not None
    key = wire({"pk": "p", "sk": "1"})
    assert bench.attempt("DeleteItem", TableName="tab", Key=key) is None
    assert bench.try_put(pk="p", sk="2", l="x", v="") is None


def test_items_without_an_entry_fill_a_collection_too():
    """CAP-111: base items count, whether or not a local index holds them."""
    bench = Bench(capacity="off", item_collection_bytes=2 * (500 + 100))
    bench.table(key=("pk", "sk"), LocalSecondaryIndexes=[lsi("local", "pk", "l")])
    padding = "x" * (500 - len("pk" + "p" + "sk" + "1" + "v"))
    bench.put(pk="p", sk="1", v=padding)
    bench.put(pk="p", sk="2", v=padding)
    assert bench.try_put(pk="p", sk="3", v="") is not None
    assert bench.try_put(pk="q", sk="3", v="") is None


def test_an_item_grows_only_as_far_as_its_unchanged_entry_leaves_room():
    """CAP-109, CAP-105: item and local entries together, though the write changes no entry."""
    bench = Bench(capacity="off")
    indexes = [lsi("local", "pk", "l", kind="KEYS_ONLY")]
    bench.table(key=("pk", "sk"), LocalSecondaryIndexes=indexes)
    entry_bytes = len("pk" + "p" + "sk" + "1" + "l" + "x")
    room = 409_600 - entry_bytes - FIXED_BYTES
    bench.put(pk="p", sk="1", l="x", v="")
    assert bench.try_put(pk="p", sk="1", l="x", v="x" * room) is None
    put = bench.try_put(pk="p", sk="1", l="x", v="x" * (room + 1))
    assert put.message == "Item size has exceeded the maximum allowed size"
    update = bench.attempt(
        "UpdateItem",
        TableName="tab",
        Key=wire({"pk": "p", "sk": "1"}),
        UpdateExpression="SET v = :v",
        ExpressionAttributeValues=wire({":v": "x" * (room + 1)}),
    )
    assert update.message == "Item size to update has exceeded the maximum allowed size"


@pytest.mark.parametrize(("old", "new"), [(None, 1000), (3000, 1000), (1000, 3000)])
def test_a_receipt_says_how_large_the_larger_image_was(old, new):
    """CAP-301: what is paid for, and what rounding adds to it."""
    bench = Bench(capacity="off")
    bench.table()
    if old is not None:
        bench.put(**sized(old))
    bench.put(**sized(new))
    receipt = bench.emu.last_receipt
    larger = max(old or 0, new)
    assert (receipt.items_evaluated, receipt.bytes_evaluated) == (1, larger)
    assert receipt.rounding_loss_bytes == -larger % 1024


def test_reasons_name_indexes_in_the_order_of_their_names():
    """CAP-606, CAP-609: whatever order they were declared in."""
    bench = Bench(gsi_buffer_seconds=0)
    indexes = [gsi(name, "g", read=1, write=1) for name in ("second", "first")]
    bench.table(read=1, write=10, GlobalSecondaryIndexes=indexes)
    bench.put(pk="1", g="g")
    error = bench.try_put(pk="2", g="g")
    assert [
        reason["resource"].rsplit("/", 1)[-1] for reason in error.members["ThrottlingReasons"]
    ] == ["first", "second"]


def test_a_local_index_is_paid_by_its_table():
    """CAP-310: item and entry together."""
    bench = Bench()
    bench.table(key=("pk", "sk"), LocalSecondaryIndexes=[lsi("local", "pk", "l")])
    bench.put(pk="p", sk="1", l="x", v="x" * 1500)
    assert bench.emu.metrics.sum("ConsumedWriteCapacityUnits", table="tab") == 2 + 2


def test_an_entry_that_moves_is_paid_where_it_was_and_where_it_comes_to():
    """CAP-309: a removal of two units, and an insertion of one."""
    bench = Bench()
    bench.table(GlobalSecondaryIndexes=[gsi("global", "g")])
    bench.put(pk="a", g="x", v="x" * 1500)
    before = bench.emu.metrics.sum("ConsumedWriteCapacityUnits", table="tab", index="global")
    bench.put(pk="a", g="y")
    after = bench.emu.metrics.sum("ConsumedWriteCapacityUnits", table="tab", index="global")
    assert (before, after) == (2, 2 + 2 + 1)


def test_a_write_is_charged_where_it_lands():
    """CAP-605: the table with its local entries once, a global index where its entry is or was."""
    bench = Bench(capacity="off")
    bench.table(
        key=("pk", "sk"),
        LocalSecondaryIndexes=[lsi("local", "pk", "l")],
        GlobalSecondaryIndexes=[gsi("global", "g", kind="KEYS_ONLY")],
    )
    found = []
    for item in (
        {"g": "1", "l": "l"},  # one entry in each index
        {"g": "2", "l": "l"},  # the global one moves
        {"g": "2", "l": "l", "v": "v"},  # only the local one holds it
        {"g": "2", "v": "v"},  # the local one is gone
    ):
        bench.put(pk="p", sk="s", **item)
        charges = bench.emu.last_receipt.charges
        found.append([charge.units for charge in charges])
    assert found == [[2, 1], [2, 1, 1], [2], [2]]
