"""Time to live: which items are due when. TTL-4, CAP-1101."""

from decimal import Decimal

import pytest

from emulator.engine.expiry import ExpiryQueue
from emulator.model import Item

NOW = 1_700_000_000
FIVE_YEARS = 5 * 365 * 24 * 3600
HERE = (1, "a")


def item(expiry):
    return Item.of({"ttl": Decimal(expiry)})


def due(expiring, now):
    return [position for position in expiring.due(now) if position is not None]


def queue(*expiries):
    return ExpiryQueue("ttl", [((number,), item(e)) for number, e in enumerate(expiries)])


@pytest.mark.parametrize(
    ("expiry", "is_due"),
    [
        (NOW, False),
        (NOW - 1, True),
        (NOW - FIVE_YEARS + 1, True),
        (NOW - FIVE_YEARS, False),
        (NOW - FIVE_YEARS - 1, False),
    ],
)
def test_due_is_before_now_and_within_five_years(expiry, is_due):
    """CAP-1101: value < now and value > now - 5 years."""
    assert due(queue(expiry), NOW) == ([(0,)] if is_due else [])


def test_what_is_due_comes_in_the_order_of_positions():
    assert due(queue(NOW - 1, NOW + 1, NOW - 3, NOW - 2), NOW) == [(0,), (2,), (3,)]


def test_a_rewritten_item_is_due_by_its_new_value():
    """CAP-1101: an update rescues an item."""
    expiring = ExpiryQueue("ttl", [(HERE, item(NOW - 1))])
    expiring.replace(HERE, item(NOW - 1), item(NOW + 5))
    assert (due(expiring, NOW), due(expiring, NOW + 6)) == ([], [HERE])
    expiring.replace(HERE, item(NOW + 5), None)
    assert due(expiring, NOW + 6) == []
    expiring.replace(HERE, None, item(NOW + 5))
    assert due(expiring, NOW + 6) == [HERE]


def test_the_next_time_is_the_first_expiry_that_can_come_due():
    assert queue().next_due(NOW) is None
    assert queue(NOW - FIVE_YEARS - 1).next_due(NOW) is None
    assert queue(NOW - FIVE_YEARS - 1, NOW + 9, NOW + 7).next_due(NOW) == NOW + 7


def test_a_copy_goes_its_own_way():
    first = ExpiryQueue("ttl", [(HERE, item(NOW - 1))])
    second = first.share()
    first.replace(HERE, item(NOW - 1), None)
    assert (due(first, NOW), due(second, NOW)) == ([], [HERE])
