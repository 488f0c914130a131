"""What clients do with batches (CAP2-9), and what the last second has shown of them."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from emulator.capacity.retries import STANDARD
from emulator.lab.aggregate.client_behaviour import ClientBehaviour
from emulator.lab.aggregate.retry_times import RetryTimes
from tests.lab.aggregate.waiting_clients import Rows

ITEMS = 1, 10


def behaviour(batch_retry, worlds=1):
    rows: Any = Rows(worlds, ITEMS, (False, False))
    return ClientBehaviour(batch_retry, rows, [RetryTimes(STANDARD, None)] * 2, worlds)


def crowd(worlds=1) -> Any:
    """Return all rows, one for each world and pattern."""
    segments = np.arange(worlds * len(ITEMS))
    return SimpleNamespace(
        worlds=segments // len(ITEMS),
        patterns=segments % len(ITEMS),
        segments=segments,
    )


@pytest.mark.parametrize(
    ("batch_retry", "is_cut", "resent"),
    [
        ("none", [False, True], [0.0, 0.0]),
        ("requeue", [False, False], [0.0, 0.0]),
        ("backoff", [False, False], [0.0, 1.0]),
    ],
)
def test_only_batches_are_done_in_part(batch_retry, is_cut, resent):
    own = behaviour(batch_retry).of(crowd())
    assert own.is_cut.tolist() == is_cut
    assert own.resent.tolist() == resent
    assert bool(own.restarted.any()) is (batch_retry == "requeue")


@pytest.mark.parametrize(
    ("batch_retry", "size"), [("none", 10.0), ("requeue", 7.0), ("backoff", 7.0)]
)
def test_batches_that_are_sent_again_are_smaller(batch_retry, size):
    """Two thirds of the items, and one: what was refused is sent again."""
    own = behaviour(batch_retry, worlds=2)
    assert own.of(crowd(2)).items.tolist() == [1.0, size, 1.0, size]


def test_how_calls_begin_and_how_evenly_they_come_is_noted_by_world():
    own = behaviour("none", worlds=2)
    assert own.of(crowd(2)).unevenness.tolist() == [1.0] * 4
    own.note(np.asarray([0.25, 0.75]), np.asarray([1.0, 0.5]))
    assert own.of(crowd(2)).queued.tolist() == [0.25, 0.25, 0.75, 0.75]
    assert own.of(crowd(2)).unevenness.tolist() == [1.0, 1.0, 0.5, 0.5]
