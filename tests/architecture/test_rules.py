"""The rules that are cited exist, and what points somewhere points at something."""

import re
from collections import Counter
from functools import cache

import pytest

from tests.architecture import reference, rules
from tests.architecture.rules import ROOT, RULES

PAGES = ["docs", "examples", "benchmarks", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
#: Everything that may cite a rule.
READERS = ["emulator", "tests", *PAGES]
#: What a reader of the repository cannot follow.
NOWHERE = re.compile(r"\bissues? #?\d|\blessons? L?\d", re.IGNORECASE)
DOCUMENT = re.compile(r"(?<![\w./-])[\w./-]*\w\.md\b")
FILE = re.compile(r"`((?:[a-z_]+/)+[a-z_]+\.py)`")
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s]*)\)")
SLUG = re.compile(r"[^\w\- ]")


def test_a_rule_is_defined_once_under_its_own_name():
    found = list(rules.definitions())
    assert [anchor for anchor, rule in found if anchor != rule.id.lower()] == []
    assert [one for one, times in Counter(rule.id for _, rule in found).items() if times > 1] == []
    assert len(found) > 950


def test_a_rule_that_is_cited_is_defined():
    known = rules.defined()
    cited = rules.citations(*READERS)
    lost = {one: sorted(files) for one, files in cited.items() if one not in known}
    assert lost == {}


def test_a_list_of_rules_names_each_in_full():
    """``CAP-505/506`` and ``PRO-1 to 7`` hide ids from those who search for them."""
    short = re.compile(rf"({rules.ID})(?:/\d| to \d)")
    found = {
        str(file.relative_to(ROOT)): short.findall(file.read_text())
        for file in rules.sources(*READERS)
        if file.name != "test_rules.py" and short.search(file.read_text())
    }
    assert found == {}


def test_every_limit_is_read_by_code_that_enforces_it():
    assert reference.unread_limits() == set()


def test_evidence_links_to_its_rules():
    pages = sorted((ROOT / "docs" / "reference").glob("*.md"))
    for page in pages:
        text = page.read_text()
        assert text == rules.linked(text, "../rules/"), page.name


@pytest.mark.parametrize("root", READERS)
def test_nothing_points_at_what_is_not_in_the_repository(root):
    own = ROOT / "tests" / "architecture" / "test_rules.py"
    site = ROOT / "tests" / "site"  # names pages where the site has them
    lost = []
    for file in rules.sources(root):
        text = file.read_text() if file != own and file.parent != site else ""
        lost += [f"{file}: {match}" for match in NOWHERE.findall(text)]
        if file.suffix == ".py":
            named = DOCUMENT.findall(text) + FILE.findall(text)
            lost += [f"{file}: {name}" for name in named if not is_in_the_repository(name)]
    assert lost == []


@cache
def is_in_the_repository(name: str) -> bool:
    """Return whether a file that may cite a rule has a path that ends like this."""
    return any(file.endswith(name) for file in all_files())


@cache
def all_files() -> list[str]:
    """Return the paths of all files that may cite a rule."""
    return [str(file) for file in rules.sources(*READERS)]


@pytest.mark.parametrize("root", [*PAGES, "tests/README.md"])
def test_a_link_leads_to_a_file_and_an_anchor(root):
    lost = []
    for page in (file for file in rules.sources(root) if file.suffix == ".md"):
        for link in LINK.findall(page.read_text()):
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if not target.exists() or (anchor and anchor not in anchors(target.read_text())):
                lost.append(f"{page.relative_to(ROOT)}: {link}")
    assert lost == []


def anchors(text: str) -> set[str]:
    """Return what can be linked to on a page: its headings as GitHub names them, and its anchors.

    >>> sorted(anchors('## 4. Figures people quote'))
    ['4-figures-people-quote']
    """
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    slugs = {SLUG.sub("", heading.lower()).replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r'<a id="([^"]+)"', text))


def test_the_rules_have_a_front_page():
    """README.md leads to every file; each file defines something."""
    linked = set(LINK.findall((RULES / "README.md").read_text()))
    files = {file.name for file in RULES.glob("*.md")} - {"README.md"}
    assert files <= linked
    assert files == {rule.file for rule in rules.defined().values()}
