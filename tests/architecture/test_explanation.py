"""What the explanations point at is there: files, names and links."""

import ast
import re
from pathlib import Path

import pytest

from tests.architecture.reference import PACKAGE
from tests.architecture.rules import ROOT

DOCS = ROOT / "docs"
#: What is kept true; decisions keep the names of their day.
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if page.parent.name != "decisions"]
POINTER = re.compile(r"`([a-z_/]+\.py)(?:: ([\w.]+))?`")
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def names_in(file: Path) -> set[str]:
    """Return the functions, classes and methods of a file."""
    names = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
            names |= {
                f"{node.name}.{inner.name}"
                for inner in node.body
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef)
            }
    return names


@pytest.mark.parametrize("page", sorted(DOCS.glob("explanation/*.md")), ids=lambda page: page.name)
def test_an_explanation_names_what_exists(page):
    lost = []
    for file, name in POINTER.findall(page.read_text()):
        homes = [home for home in (PACKAGE / file, ROOT / file) if home.exists()]
        if not homes or (name and name not in names_in(homes[0])):
            lost.append(f"{file}: {name}")
    assert lost == []


@each_page
def test_a_link_leads_somewhere(page):
    links = LINK.findall(page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_front_page_leads_to_every_page():
    """The rules have a front page of their own."""
    linked = {(DOCS / link).resolve() for link in LINK.findall((DOCS / "README.md").read_text())}
    rules = set((DOCS / "rules").glob("*.md")) - {DOCS / "rules" / "README.md"}
    assert set(PAGES) - linked - rules == {DOCS / "README.md"}
