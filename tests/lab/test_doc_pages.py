"""The tutorial and the how-to are carried out as written."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from emulator.lab import Field
from emulator.lab.analysis import fixes, headroom
from emulator.lab.analysis.world_runs import WorldCount
from emulator.lab.inputs import builtin
from tests.lab.doc_pages import run_page

FEW = 2
DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("page", "commands", "cores"), [("tutorial/ten-minutes.md", 4, 1), ("how-to/lab.md", 4, 2)]
)
def test_a_page_can_be_followed(tmp_path, monkeypatch, page, commands, cores):
    """Searches play few worlds here, the built-in comparison has few devices.

    Which change is named depends on neither, nor on how many processes look for it.
    """
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    monkeypatch.setattr(fixes, "WorldCount", lambda: WorldCount(exactly=FEW))
    for module in (fixes, headroom):
        monkeypatch.setattr(module, "FIRST_WORLDS", FEW)
    monkeypatch.setattr(headroom, "CLOSE", 4.0)  # the page shows no figure of it
    workload = builtin.device_events()
    assert workload.warm_up == 5 * 60  # as the page shows
    less = replace(workload, warm_up=30, fields=(Field("deviceId", count=500),))
    monkeypatch.setattr(builtin, "device_events", lambda: less)
    text = (DOCS / page).read_text(encoding="utf-8")
    assert len(run_page(text, tmp_path)) == commands
