"""What event sources cost: nothing where there are none, and once for each record elsewhere."""

import subprocess
import sys
from collections import Counter

import pytest

from emulator.streams import records
from tests.streams.sources import Handler, put, streamed
from tests.tables import table


class EveryCall:
    """Counts the calls of all Python functions while it stands."""

    def __enter__(self):
        self.counts = Counter()
        sys.setprofile(self._note)
        return self.counts

    def __exit__(self, *raised):
        sys.setprofile(None)

    def _note(self, frame, event, _):
        if event == "call" and frame.f_code is not EveryCall.__exit__.__code__:
            self.counts[frame.f_code.co_qualname] += 1


def calls_of(emu, name):
    """Return the calls that a put into a table, and an advance of nothing, make."""
    request = {"TableName": name, "Item": {"pk": {"S": "a"}, "n": {"N": "1"}}}
    emu.call("PutItem", request)
    with EveryCall() as counts:
        emu.call("PutItem", request)
    return counts


@pytest.mark.parametrize("name", ["tab", "plain"])
def test_a_write_costs_the_same_with_and_without_a_source(name):
    """The stream is read, and nothing tells a source of writes."""
    emu = streamed()
    emu.call("CreateTable", table() | {"TableName": "plain"})
    before = calls_of(emu, name)
    with emu.event_source("tab", Handler()):
        assert calls_of(emu, name) == before


def test_an_advance_costs_the_same_once_a_source_has_left():
    emu = streamed()

    def advance():
        with EveryCall() as counts:
            emu.clock.advance(0)
        return counts

    before = advance()
    with emu.event_source("tab", Handler()):
        pass
    assert advance() == before


def test_a_process_without_a_source_loads_none_of_the_room():
    code = """
import sys
from tests.streams.sources import put, streamed
put(streamed(), "a")
print([name for name in sys.modules if name.startswith(("emulator.streams", "emulator.virtual"))])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_each_record_is_made_into_an_event_once_however_many_drains_there_are(monkeypatch):
    made = Counter()
    dump = records.dump_record

    def counted(account, stream, shard, record):
        made[record.number] += 1
        return dump(account, stream, shard, record)

    monkeypatch.setattr(records, "dump_record", counted)
    emu = streamed()
    with emu.event_source("tab", Handler(), batch_size=7, batch_window=5) as source:
        for turn in range(5):
            put(emu, *range(10), turn=turn)
            emu.clock.advance(1)
        source.drain()
    assert made == Counter(range(1, 51))
