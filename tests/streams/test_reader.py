"""The reader: no cost where nobody reads, and the law of its lanes."""

import pytest

from tests.streams.sources import Handler, put, streamed


def test_check_finds_a_record_that_is_neither_held_nor_settled():
    emu = streamed()
    with emu.event_source("tab", Handler(), batch_window=60) as source:
        put(emu, "a", "b")
        emu.clock.advance(1)
        source.check()
        [lane] = source._reader._lanes.values()
        lane._gathered.reverse()
        with pytest.raises(AssertionError, match="a lane is out of order"):
            source.check()
        lane._gathered.clear()
        with pytest.raises(AssertionError, match="2 records are not settled, and 0 are held"):
            source.check()
