"""Writes: what a table takes, and what it refuses. CAP-111."""

import pytest

from tests.engine.conftest import Bench, lsi, wire

#: An item is its keys, `l` and `v`; its entry in the index is the same attributes again.
FIXED_BYTES = len("pk" + "p" + "sk" + "1" + "l" + "x" + "v")


@pytest.mark.parametrize(("extra_bytes", "fits"), [(0, True), (1, False)])
def test_a_collection_may_be_as_large_as_its_limit(extra_bytes, fits):
    """CAP-111, CAP-110: items and entries, 100 bytes more each, reach the limit, no further."""
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
