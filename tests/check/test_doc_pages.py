"""The pages about check are carried out as written."""

from pathlib import Path

import pytest

from tests.lab.doc_pages import run_page

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("page", "commands"),
    [("docs/how-to/check.md", 3), ("docs/tutorial/two-minutes.md", 2)],
)
def test_a_page_can_be_followed(tmp_path, page, commands):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert len(run_page(text, tmp_path)) == commands
