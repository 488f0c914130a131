"""What one call is expected to cost: the capacity room's formulas, over sizes and chances."""

import numpy as np
import pytest

from emulator.lab import Design, Field, Index, Pattern, Sequential, Sizes, Weights, Workload
from emulator.lab.planning.access_paths import find_path
from emulator.lab.planning.items import ItemMaker, needed_fields
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.lab.world.prices import (
    Overwritten,
    SizeMix,
    WritePricer,
    between,
    mean_size,
    point_units,
    price_pages,
)
from emulator.settings import Settings

#: A quarter of the items takes one write unit, the others take two.
SIZES = Sizes((500, 1500), (0.25, 0.75))
FRESH = 0.25 * 1 + 0.75 * 2
#: Old and new are drawn alike; the larger one counts.
OVER = 0.25 * 0.25 * 1 + (1 - 0.25 * 0.25) * 2
#: How likely two draws of a status differ.
MOVES = 1 - (0.75**2 + 0.25**2)
FIELDS = [
    Field("userId", count=10),
    Field("orderId", unique="random"),
    Field("status", values=("open", "done"), distribution=Weights((3, 1))),
    Field("kind", values=("a", "b")),
]


def pricer(index=None, operation="PutItem", **pattern):
    """Return the prices of a pattern on a table with an index."""
    write = Pattern("write", operation, rate=1, **{"size": SIZES} | pattern)
    indexes = () if index is None else (index,)
    design = Design("d", partition="{userId}", sort="{kind}", indexes=indexes)
    layout = Layout(design, Workload(fields=FIELDS, patterns=[write], duration=60))
    names = needed_fields(layout, write)
    maker = ItemMaker(
        layout, write, {name: place for place, name in enumerate(names)}, placement_salt=0
    )
    table = RunEmulator(layout, Settings()).table(layout.table_of(write))
    schemas = {name: one.schema for name, one in table.indexes.items()}
    return WritePricer(layout, write, maker, ["open" for _ in names], schemas)


def by_status(projection="ALL", **key):
    return Index("byStatus", **{"partition": "{status}"} | key, projection=projection)


def at(pair, exists):
    """Return the mean of an amount, if an item is met with this chance."""
    [mean] = between(pair, np.array([exists]))
    return mean


def table(price, exists):
    return at(price.table, exists)


def of_index(price, exists):
    return at(price.indexes["byStatus"], exists), at(price.touches["byStatus"], exists)


def test_a_put_costs_the_larger_image_where_there_was_an_item():
    """CAP-301, CAP-302."""
    write = pricer().price()
    assert write.table == (FRESH, OVER)
    assert table(write, 0.4) == pytest.approx(0.4 * OVER + 0.6 * FRESH)


def test_a_transaction_costs_its_table_twice_and_its_indexes_once():
    """CAP-305, CAP-306."""
    price = pricer(by_status(), operation="TransactWriteItems").price()
    assert (table(price, 0), of_index(price, 0)[0]) == (2 * FRESH, FRESH)


def test_a_delete_costs_what_is_there_and_one_for_nothing():
    """CAP-302."""
    delete = pricer(operation="DeleteItem").price()
    assert table(delete, 0) == 1
    assert table(delete, 0.4) == pytest.approx(0.4 * FRESH + 0.6 * 1)


def test_a_delete_touches_an_index_as_often_as_there_is_an_item():
    """CAP-309: nothing is removed from an index where nothing is removed from the table."""
    price = pricer(by_status(), operation="DeleteItem").price()
    assert of_index(price, 0.4) == (pytest.approx(0.4 * FRESH), 0.4)


def test_a_put_moves_the_entry_when_it_draws_another_value():
    """CAP-309: a move is a removal and an insertion; otherwise the larger image counts."""
    price = pricer(by_status()).price()
    over = MOVES * 2 * FRESH + (1 - MOVES) * OVER
    assert of_index(price, 0.4) == (pytest.approx(0.4 * over + 0.6 * FRESH), pytest.approx(1))


def test_an_entry_that_shows_no_change_costs_nothing():
    """CAP-309: keys alone change only if they move."""
    price = pricer(by_status("KEYS_ONLY")).price()
    assert of_index(price, 0.4) == (
        pytest.approx(0.4 * MOVES * 2 + 0.6),
        pytest.approx(0.4 * MOVES + 0.6),
    )


@pytest.mark.parametrize(
    ("projection", "changes", "chance"),
    [
        ("ALL", (), 1.0),
        ("KEYS_ONLY", (), 0.0),
        ("KEYS_ONLY", ("status",), 1.0),
        (("kind",), (), 0.0),
        (("status",), ("status",), 1.0),
        (("payload",), (), 1.0),
    ],
)
def test_an_update_shows_in_an_index_that_has_what_it_changes(projection, changes, chance):
    """CAP-309; the payload changes with every update, and so does what is said to change."""
    update = pricer(by_status(projection), operation="UpdateItem", changes=changes)
    assert of_index(update.price(), 1)[1] == pytest.approx(chance)


@pytest.mark.parametrize(
    ("key", "distributions", "chance"),
    [
        ({"sort": "{timestamp}"}, {}, 1.0),
        ({"sort": "{orderId}"}, {}, 1.0),
        ({}, {"status": Sequential()}, 0.0),
        ({"partition": "{status}#{kind}"}, {}, MOVES),
    ],
)
def test_what_is_new_each_time_always_moves(key, distributions, chance):
    """A time and a unique value always; a value in turn never; the table's key never."""
    put = pricer(by_status("KEYS_ONLY", **key), distributions=distributions)
    assert of_index(put.price(), 1)[1] == pytest.approx(chance)


def test_a_local_index_is_paid_by_its_table():
    """CAP-309, CAP-310."""
    local = Index("local", partition="{userId}", sort="{status}", local=True)
    price = pricer(local).price()
    assert (table(price, 0), price.indexes, price.touches) == (2 * FRESH, {}, {})


def test_what_is_stored_may_be_of_another_size_than_what_is_written():
    """CAP-302: an update of a larger item costs the larger one."""
    stored = Overwritten([(1.0, 3000)], {"byStatus": [(1.0, 2048)]})
    update = pricer(by_status(), operation="UpdateItem").price(stored)
    assert (table(update, 1), of_index(update, 1)[0]) == (3, 2)
    delete = pricer(by_status(), operation="DeleteItem").price(stored)
    assert (table(delete, 0.5), of_index(delete, 0.5)[0]) == (0.5 * 3 + 0.5 * 1, 0.5 * 2)


def test_mean_sizes_weigh_each_size_by_its_share():
    write = pricer(by_status())
    entries = mean_size(write.entry_sizes("byStatus"))
    assert write.item_bytes == entries == 0.25 * 500 + 0.75 * 1500


def path(design=None, **pattern):
    """Return the way in which a pattern is read."""
    options = {"operation": "Query", "by": ("userId",), "rate": 1} | pattern
    read = Pattern("read", **options)
    design = design or Design("d", partition="{userId}", sort="{orderId}")
    return find_path(Layout(design, Workload(fields=FIELDS, patterns=[read], duration=60)), read)


def pages(way, items, size_bytes=1000, base_bytes=0):
    price = price_pages(
        way, np.asarray(items, dtype=np.float64), SizeMix.of(size_bytes, ()), base_bytes
    )
    return price.calls.tolist(), price.units.tolist(), (price.calls * price.evaluated).tolist()


def test_pages_are_whole_and_as_many_as_the_items_need():
    """CAP-206: 1,049 items of 1,000 bytes fill a page; one more needs a second."""
    calls, units, evaluated = pages(path(consistent=True), [0, 10, 1049, 1050, 3000])
    assert calls == [1, 1, 1, 2, 3]
    assert evaluated == [0, 10_000, 1_049_000, 1_050_000, 3_000_000]
    # CAP-204: the bytes of a page in blocks of 4 KB, each page like the others.
    assert units == [1, 3, 257, 129, 245]


@pytest.mark.parametrize(
    ("options", "factor"),
    [({}, 0.5), ({"consistent": True}, 1), ({"operation": "Scan", "by": ()}, 0.5)],
)
def test_an_eventually_consistent_page_costs_half(options, factor):
    """CAP-204."""
    assert pages(path(**options), [10])[1] == [3 * factor]


def test_a_page_that_ends_with_a_block_takes_no_other():
    """CAP-204: four items of 1,024 bytes are one block of 4 KB, five are two."""
    assert pages(path(consistent=True), [4, 5, 8], size_bytes=1024)[1] == [1, 2, 2]


def test_a_limit_ends_the_reading_unless_something_is_filtered_away():
    """CAP-206."""
    assert pages(path(items=4), [10])[2] == [4_000]
    assert pages(path(items=4, by=("userId", "status")), [10])[2] == [10_000]


def test_a_fetch_costs_each_item_by_itself():
    """CAP-210."""
    local = Index(
        "local", partition="{userId}", sort="{status}", projection="KEYS_ONLY", local=True
    )
    design = Design("d", partition="{userId}", sort="{orderId}", indexes=(local,))
    way = path(design, consistent=True, by=("userId", "status"))
    assert pages(way, [10], size_bytes=100, base_bytes=4097)[1] == [1 + 10 * 2]
    assert pages(way, [21_000], size_bytes=100, base_bytes=4096)[:2] == ([3], [171 + 7000])


@pytest.mark.parametrize(
    ("operation", "options", "factor"),
    [
        ("GetItem", {}, 0.5),
        ("GetItem", {"consistent": True}, 1),
        ("TransactGetItems", {}, 2),
    ],
)
def test_an_item_that_is_not_there_costs_the_smallest_read(operation, options, factor):
    """CAP-201, CAP-205."""
    read = Pattern("read", operation, rate=1, by=("userId",), **options)
    assert point_units(read, SizeMix.of(8192.4, ()), hits=0) == 1 * factor
    assert point_units(read, SizeMix.of(8192.4, ()), hits=0.25) == (0.25 * 2 + 0.75) * factor


@pytest.mark.parametrize("items", [1, 3, 8])
def test_items_of_two_sizes_are_priced_by_what_they_come_to_together(items):
    """CAP-204: sizes are summed before rounding, and the sum is a matter of chance."""
    mix = SizeMix(300.0, 3_000.0, 0.3)
    large = np.random.default_rng(3).binomial(items, mix.share, 20_000)
    pages = np.ceil((300 * (items - large) + 3_000 * large) / 4_096)

    [units, between_two] = mix.units_together(np.array([items, items + 0.5]), 1)
    [more] = mix.units_together(np.array([items + 1.0]), 1)

    assert units == pytest.approx(pages.mean(), rel=0.01)
    assert between_two == pytest.approx((units + more) / 2)
