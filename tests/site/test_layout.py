"""Every page is on the site, in the menu and in ``llms.txt``, and links where it should."""

from pathlib import Path

import pytest

from tests.site import build, layout

DOCS = Path(layout.DOCS)


@pytest.fixture(scope="module")
def pages():
    return layout.all_pages()


def test_every_page_of_docs_is_in_the_menu(pages):
    places = {place for entry in layout.menu(pages) for list_ in entry.values() for place in list_}
    written = {str(path.relative_to(DOCS)) for path in DOCS.glob("*/**/*.md")}
    assert written - places == set()
    assert {place for place in pages if not place.startswith("files/")} == places


def test_a_new_folder_is_a_section_of_its_own(pages, tmp_path, monkeypatch):
    monkeypatch.setattr(layout, "DOCS", tmp_path)
    (tmp_path / "essays").mkdir()
    (tmp_path / "essays" / "one.md").write_text("# One\n")
    assert {"Essays": ["essays/one.md"]} in layout.menu(pages | {"essays/one.md": "# One\n"})


def test_a_page_of_the_menu_has_a_title_and_a_line_in_llms_txt(pages):
    lines = layout.llms(pages)
    assert lines.startswith("# dynamometer\n\n> Will this DynamoDB design throttle")
    assert "- [](" not in lines
    assert "](how-to/pytest.html): " in lines
    assert "](rules/index.html)" in lines


def test_links_lead_to_where_the_site_has_their_targets(tmp_path, monkeypatch):
    monkeypatch.setattr(layout, "ROOT", tmp_path)
    monkeypatch.setattr(layout, "DOCS", tmp_path / "docs")
    page = tmp_path / "docs" / "how-to" / "page.md"
    page.parent.mkdir(parents=True)
    (tmp_path / "lab.yaml").write_text("a: 1\n")
    decisions = tmp_path / "docs" / "decisions" / "README.md"
    decisions.parent.mkdir()
    page.write_text(
        "[a](../../README.md#top) [b](../../lab.yaml) ![c](../../a.svg) [d](../decisions)\n"
        "[e](../reference/python-api.md) [f](#here) [g](https://example.org)\n"
        "```text\n[kept](../../README.md)\n```\n"
    )
    sources = {tmp_path / "README.md": "index.md", page: "how-to/page.md"}
    sources[decisions] = "decisions/README.md"
    assert layout.relinked(page, "how-to/page.md", sources) == (
        "[a](../index.md#top) [b](../files/lab.yaml.md) ![c](../pictures/a.svg)"
        " [d](../decisions/README.md)\n"
        "[e](../reference/python-api.md) [f](#here) [g](https://example.org)\n"
        "```text\n[kept](../../README.md)\n```\n"
    )


def test_a_block_that_is_not_recognised_is_found(tmp_path):
    (tmp_path / "good.html").write_text("<p>a</p><pre><code>x</code></pre>")
    (tmp_path / "bad.html").write_text("<p>```yaml lab.yaml a: 1</p>")
    assert build.pages_with_fence_marks(tmp_path) == ["bad.html"]
