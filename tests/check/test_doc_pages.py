"""The pages about check are carried out as written."""

from pathlib import Path

import pytest

from tests.lab.doc_pages import run_page

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("page", "commands"), [("how-to/check.md", 3), ("tutorial/two-minutes.md", 2)]
)
def test_a_page_can_be_followed(tmp_path, page, commands):
    text = (DOCS / page).read_text(encoding="utf-8")
    assert len(run_page(text, tmp_path)) == commands
