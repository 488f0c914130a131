"""Patterns: who wrote an item last, and which of the newest values are asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.lab import Latest
from emulator.lab.world.patterns import LastWriters, latest_weights


def test_the_newest_share_their_turn():
    shares = latest_weights(Latest(1.0), existing=100, arrivals=4)

    assert shares.sum() == pytest.approx(1)
    assert shares[3] == shares.max()
    assert shares[0] < shares[3]


writes = st.lists(st.tuples(st.sampled_from(["put", "update"]), st.floats(0.1, 500)), max_size=8)


@given(st.lists(writes, max_size=4), st.floats(1, 100))
def test_the_writes_of_a_stretch_have_no_order(stretches, items):
    forth, back = LastWriters(), LastWriters()
    for stretch in stretches:
        for name, count in stretch:
            forth.write(name, count)
        for name, count in reversed(stretch):
            back.write(name, count)
        shares = forth.shares(items)
        assert back.shares(items) == pytest.approx(shares)
        assert all(0 <= share <= 1 for share in shares.values())
        assert sum(shares.values()) <= 1 + 1e-9
