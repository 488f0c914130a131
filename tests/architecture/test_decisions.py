"""Decisions have one form, and their list is complete and says which are replaced in part."""

import re
from pathlib import Path

from tests.each import each

DECISIONS = Path(__file__).parents[2] / "docs" / "decisions"
PAGES = sorted(DECISIONS.glob("0*.md"))
LIST = (DECISIONS / "README.md").read_text()


@each("page", PAGES, ids=lambda page: page.stem)
def test_a_decision_has_context_decision_and_consequences(page):
    headings = re.findall(r"^## (.+)$", page.read_text(), re.MULTILINE)
    assert headings[:2] == ["Context", "Decision"]
    assert "Consequences" in headings


@each("page", PAGES, ids=lambda page: page.stem)
def test_the_list_has_every_decision_with_its_number_and_title(page):
    title = page.read_text().partition("\n")[0].removeprefix("# ")
    assert title.startswith(f"{int(page.name[:4])}. ")
    assert f"- [{title}]({page.name})" in LIST


@each("page", PAGES, ids=lambda page: page.stem)
def test_the_list_marks_what_a_later_decision_changes(page):
    preamble = page.read_text().partition("## Context")[0]
    later = {int(number) for number in re.findall(r"\]\((0\d{3})-", preamble)}
    line = next(line for line in LIST.splitlines() if f"({page.name})" in line)
    marked = {int(number) for number in re.findall(r"\d+", line.partition(f"({page.name})")[2])}
    assert all(number > int(page.name[:4]) for number in later)
    assert marked == later or line.endswith("(its examples are served today)")
