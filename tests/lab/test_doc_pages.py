"""The tutorial and the how-to are carried out as written."""

from pathlib import Path

import pytest

from emulator.lab.analysis import fixes, headroom
from emulator.lab.analysis.world_runs import WorldCount
from tests.lab.doc_pages import run_page

FEW = 2
DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("page", "commands"), [("tutorial/ten-minutes.md", 4), ("how-to/lab.md", 4)]
)
def test_a_page_can_be_followed(tmp_path, monkeypatch, page, commands):
    """Searches play few worlds here; which change is named does not depend on it."""
    monkeypatch.setattr(fixes, "WorldCount", lambda: WorldCount(exactly=FEW))
    for module in (fixes, headroom):
        monkeypatch.setattr(module, "FIRST_WORLDS", FEW)
    monkeypatch.setattr(headroom, "_CLOSE", 4.0)  # the page shows no figure of it
    text = (DOCS / page).read_text(encoding="utf-8")
    assert len(run_page(text, tmp_path)) == commands
