"""Lays out the pages of the site: where each goes, how they link, and what the menu says.

``docs/`` becomes the root of the site and the project's README its first page. What a page links to
outside of ``docs/`` comes along: a Markdown page as a page, a picture as it is, any other file as a
page that shows it.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from tests.site import command_line, pytest_plugin, python_api
from tests.site.markdown import (
    FENCE,
    commonmark_lists,
    first_sentence,
    heading_ids,
    title_of,
    titled_fences,
)

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: Papers outside of docs/ that the site has, and where.
PAPERS = {
    "README.md": "index.md",
    "docs/README.md": "contents.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "tests/README.md": "project/tests.md",
    "benchmarks/README.md": "project/benchmarks.md",
    "benchmarks/RESULTS.md": "project/results.md",
    "examples/README.md": "examples/README.md",
    "examples/cookbook/README.md": "examples/cookbook.md",
}
#: The menu: folders of docs/ with their titles. Others follow under their own names.
SECTIONS = {
    "tutorial": "Tutorial",
    "how-to": "How-to guides",
    "reference": "Reference",
    "checks": "Checks",
    "explanation": "Explanation",
    "decisions": "Decisions",
    "rules": "Rules of the service",
}
#: Pages that are read off the code when the site is built.
GENERATED = {
    "reference/command-line.md": command_line.page,
    "reference/python-api.md": python_api.page,
    "reference/pytest-plugin.md": pytest_plugin.page,
}
PICTURES = {".svg", ".png"}
LINK = re.compile(r"(\]\()(?!https?:|mailto:|#)([^)\s#]+)(#[^)\s]*)?(\))")

CONFIGURATION = """\
[project]
site_name = "dynamometer"
site_description = "Find out whether your DynamoDB design will throttle before you deploy it."
docs_dir = "pages"
site_dir = "site"
use_directory_urls = false
extra_css = ["tables.css"]
nav = {menu}

[project.theme]
font = false
features = [
    "content.code.copy", "navigation.footer", "navigation.indexes", "navigation.instant",
    "navigation.tabs", "navigation.top", "search.highlight", "toc.follow",
]
[[project.theme.palette]]
media = "(prefers-color-scheme)"
toggle = {{ icon = "lucide/sun-moon", name = "Light" }}
[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle = {{ icon = "lucide/sun", name = "Dark" }}
[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle = {{ icon = "lucide/moon", name = "As the system" }}

[project.markdown_extensions]
attr_list = {{}}
md_in_html = {{}}
tables = {{}}
pymdownx.highlight = {{}}
pymdownx.superfences = {{}}
pymdownx.inlinehilite = {{}}
toc = {{ permalink = true, toc_depth = 3, slugify = {slugs} }}
"""
#: A name in a cell is not broken, and no column is narrower than a few words: a table that is too
#: wide scrolls. 100 columns of output fit.
STYLE = """.md-typeset table code { overflow-wrap: normal; word-break: normal; }
.md-typeset table:not([class]) td:not(:first-child):not(:empty) { min-width: 5.5rem; }
.md-grid { max-width: 70rem; }
"""
#: Headings are linked to as GitHub names them.
SLUGS = '{ object = "pymdownx.slugs.slugify", kwds = { case = "lower" } }'


def lay_out(folder: Path) -> int:
    """Write pages, menu and configuration below a folder; return how many pages there are."""
    pages = folder / "pages"
    texts = all_pages()
    for place, text in texts.items():
        path = pages / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(titled_fences(commonmark_lists(heading_ids(text))), encoding="utf-8")
    for picture in _pictures():
        path = pages / "pictures" / picture.relative_to(ROOT)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(picture, path)
    (pages / "llms.txt").write_text(llms(texts), encoding="utf-8")
    (pages / "tables.css").write_text(STYLE, encoding="utf-8")
    configuration = CONFIGURATION.format(menu=_toml(menu(texts)), slugs=SLUGS)
    (folder / "zensical.toml").write_text(configuration, encoding="utf-8")
    return len(texts)


def all_pages() -> dict[str, str]:
    """Return the text of every page by its path in the site, with links that fit there."""
    sources = _sources()
    pages = {place: relinked(path, place, sources) for path, place in sources.items()}
    for path in _other_files(sources):
        pages[_shown_at(path)] = _file_page(path)
    for place, page in GENERATED.items():
        pages[place] = page()
    return pages


def _sources() -> dict[Path, str]:
    """Return the place of every Markdown page: the papers, docs/, and what these link to."""
    sources = {ROOT / paper: place for paper, place in PAPERS.items()}
    sources |= {path: str(path.relative_to(DOCS)) for path in sorted(DOCS.glob("*/**/*.md"))}
    unread = list(sources)
    while unread:
        for target in _links(unread.pop()):
            if target.suffix == ".md" and target.is_file() and target not in sources:
                sources[target] = f"project/{target.relative_to(ROOT)}"
                unread.append(target)
    return sources


def relinked(path: Path, place: str, sources: dict[Path, str]) -> str:
    """Return the text of a page with its links changed to where the site has their targets."""

    def changed(link: re.Match[str]) -> str:
        target = (path.parent / link[2]).resolve()
        to = _place(target, sources)
        return f"{link[1]}{os.path.relpath(to, Path(place).parent)}{link[3] or ''}{link[4]}"

    pieces = FENCE.split(path.read_text(encoding="utf-8"))
    pieces[::2] = [LINK.sub(changed, piece) for piece in pieces[::2]]
    return "".join(pieces)


def _place(target: Path, sources: dict[Path, str]) -> str:
    if target in sources:
        return sources[target]
    if target.suffix in PICTURES:
        return f"pictures/{target.relative_to(ROOT)}"
    if target.is_dir():
        return _place(target / "README.md", sources)
    generated = str(target.relative_to(ROOT)).removeprefix("docs/")
    return generated if generated in GENERATED else _shown_at(target)


def _links(path: Path) -> Iterator[Path]:
    """Yield what a page links to, outside of its code blocks."""
    for piece in FENCE.split(path.read_text(encoding="utf-8"))[::2]:
        for link in LINK.finditer(piece):
            yield (path.parent / link[2]).resolve()


def _other_files(sources: dict[Path, str]) -> list[Path]:
    linked = {target for path in sources for target in _links(path) if target.is_file()}
    return sorted(
        target for target in linked if target not in sources and target.suffix not in PICTURES
    )


def _pictures() -> list[Path]:
    pages = [ROOT / paper for paper in PAPERS] + list(DOCS.rglob("*.md"))
    linked = {target for path in pages for target in _links(path)}
    return sorted(target for target in linked if target.suffix in PICTURES)


def _shown_at(path: Path) -> str:
    return f"files/{path.relative_to(ROOT)}.md"


def _file_page(path: Path) -> str:
    name = path.relative_to(ROOT)
    text = path.read_text(encoding="utf-8")
    language = {".py": "python", ".yaml": "yaml", ".json": "json"}.get(path.suffix, "text")
    hidden = "---\nsearch:\n  exclude: true\n---\n"
    return f"{hidden}# `{name}`\n\n~~~~{language}\n{text}\n~~~~\n"


# The menu and llms.txt


def menu(pages: dict[str, str]) -> list[dict[str, object]]:
    """Return the menu: sections in their order, pages in that of the table of contents."""
    contents = pages["contents.md"]
    entries: list[dict[str, object]] = [{"Start": ["index.md", "contents.md"]}]
    folders = {path.relative_to(DOCS).parts[0] for path in DOCS.glob("*/**/*.md")}
    others = {folder: folder.capitalize() for folder in sorted(folders - set(SECTIONS))}
    for section, title in (SECTIONS | others).items():
        places = [place for place in pages if place.startswith(f"{section}/")]
        entries.append({title: sorted(places, key=lambda place: _rank(place, contents))})
    entries.append({"Examples": [place for place in pages if place.startswith("examples/")]})
    entries.append({"Project": [place for place in pages if place.startswith("project/")]})
    return entries


def _rank(place: str, contents: str) -> tuple[bool, int, str]:
    at = contents.find(f"({place})")
    return not place.endswith("README.md"), at if at >= 0 else len(contents), place


def _toml(entries: list[dict[str, object]]) -> str:
    """Return the menu as TOML, which JSON is not for want of the equals sign."""
    tables = (
        f"{{ {json.dumps(key)} = {json.dumps(value)} }}"
        for entry in entries
        for key, value in entry.items()
    )
    return f"[{', '.join(tables)}]"


def llms(pages: dict[str, str]) -> str:
    """Return ``llms.txt``: every page of the menu with its title and first sentence."""
    lines = ["# dynamometer", "", f"> {first_sentence(pages['index.md'])}"]
    for entry in menu(pages):
        for title, places in entry.items():
            assert isinstance(places, list)
            lines += ["", f"## {title}", ""]
            lines += [_llms_line(place, pages[place]) for place in places]
    return "\n".join(lines) + "\n"


def _llms_line(place: str, text: str) -> str:
    address = re.sub(r"README\.md$", "index.md", place).removesuffix(".md") + ".html"
    sentence = first_sentence(text)
    return f"- [{title_of(text)}]({address})" + (f": {sentence}" if sentence else "")
