"""The load that flags state for declared tables."""

import numpy as np
import pytest

from emulator.lab.inputs.distributions import Hotspot, Uniform, Zipf
from emulator.lab.inputs.stated_load import read_load
from emulator.service.errors import DocumentError

TABLES = {"orders": ["byStatus"], "app.v2": []}


def test_a_figure_holds_for_every_table_or_for_one():
    flags = {"rate": ["500", "app.v2=20"], "writes": ["orders=0.5"], "item_size": ["2 KB"]}
    load = read_load(flags, TABLES)
    assert load.of("orders").writes_a_second == 250
    assert load.of("app.v2").reads_a_second == pytest.approx(14)
    assert load.size_of("orders") == load.size_of("app.v2") == 2048


def test_a_rate_of_one_table_says_nothing_of_the_others():
    load = read_load({"rate": ["orders=500"]}, TABLES)
    assert load.of("orders") is not None
    assert load.of("app.v2") is None


def test_an_index_has_its_own_skew():
    load = read_load({"skew": ["zipf:1.1", "orders.byStatus=uniform"]}, TABLES)
    assert load.skew_of("orders") == Zipf(1.1)
    assert load.skew_of("orders.byStatus") == Uniform()


@pytest.mark.parametrize(
    ("text", "skew"),
    [("uniform", Uniform()), ("80/20", Hotspot(0.2, 0.8)), ("hotspot:0.1,0.5", Hotspot(0.1, 0.5))],
)
def test_skews_have_names(text, skew):
    assert read_load({"skew": [text]}, TABLES).skews[""] == skew


@pytest.mark.parametrize("count", [2, 1000, 10**8])
def test_one_tenant_is_one_value_with_half_of_the_requests(count):
    skew = read_load({"skew": ["one-tenant"]}, TABLES).skews[""]
    assert skew.below(count, np.array([1]))[0] == 0.5


WRONG = {
    "no rate": ({"rate": ["0"]}, "command line: --rate: expected a number above 0, found 0"),
    "no number": ({"rate": ["x"]}, "command line: --rate: expected a number, found 'x'"),
    "no share": ({"writes": ["2"]}, "command line: --writes: expected a number of at most 1"),
    "a misspelt skew": ({"skew": ["ziff:1"]}, "a skew is uniform, 80/20, zipf:S, "),
    "an endless skew": ({"skew": ["zipf:inf"]}, "a skew is uniform, 80/20, zipf:S, "),
    "no key": ({"keys": ["0"]}, "command line: --keys: expected a whole number of at least 1"),
    "no such table": (
        {"keys": ["order=5"]},
        "--keys: no table or index is called 'order'; did you mean 'orders'?; there are orders, "
        "app.v2, orders.byStatus",
    ),
    "the rate of an index": (
        {"rate": ["orders.byStatus=5"]},
        "--rate: no table or index is called 'orders.byStatus'",
    ),
    "a large item": (
        {"item_size": ["500 KB"]},
        "command line: --item-size: expected a whole number of at most 409,600, found 512000",
    ),
    "the mean of a table": ({"mean": ["orders=1"]}, "command line: --mean: expected a number"),
}


@pytest.mark.parametrize(("flags", "complaint"), WRONG.values(), ids=WRONG)
def test_a_figure_that_cannot_be_is_refused_in_one_sentence(flags, complaint):
    with pytest.raises(DocumentError) as refusal:
        read_load(flags, TABLES)
    assert str(refusal.value).startswith(complaint)
