"""A run as a table: who asked for what, what became of it, and which update is lost."""

import re

from emulator import Emulator
from emulator.testing import every_crash, every_interleaving
from emulator.testing.table_notation import create_request

LOST = """\
  #  a (visit)                               b (visit)
  1                                          GetItem visits home
                                               -> {}
  2  GetItem visits home
       -> {}
  3  PutItem visits home
  4                                          PutItem visits home
                                               LOST UPDATE: it overwrites request 3, which came \
after its read
     returned None                           returned None
play it again: pytest --ddb-schedule 'baab'"""
BATCH = """\
  #  a (load)
  1  BatchWriteItem visits a b c
       dies after 2 of 3 items
     raised ProcessDied()
play it again: pytest --ddb-schedule 'a<2'"""


def emulator():
    emu = Emulator()
    emu.call("CreateTable", create_request("visits", "page"))
    return emu


def named(call, name):
    call.__qualname__ = name
    return call


def shown(run):
    """Return the table without its lines of places."""
    return re.sub(r" +\S*test_run_table.py:\d+\n", "", str(run))


def test_a_lost_update_is_marked():
    emu = emulator()
    visits = emu.table("visits")

    def visit():
        seen = visits.get_item(Key={"page": "home"}).get("Item", {"n": 0})["n"]
        visits.put_item(Item={"page": "home", "n": seen + 1})

    calls = [named(visit, "visit")] * 2
    *_, run = every_interleaving(emu, *calls, reads="latest")

    assert shown(run) == LOST


def test_what_became_of_a_batch_is_said():
    emu = emulator()
    rows = [{"PutRequest": {"Item": {"page": {"S": name}}}} for name in "abc"]

    def load():
        emu.call("BatchWriteItem", {"RequestItems": {"visits": rows}})

    texts = {run.schedule: shown(run) for run in every_crash(emu, named(load, "load"))}

    assert texts["a<2"] == BATCH
