"""The reference of the pytest plugin: fixtures, markers, options and settings."""

import ast
from collections.abc import Iterator
from typing import Any

import pytest_dynamometer
from tests.site.docstrings import as_markdown

HEAD = """\
# pytest plugin

What `pip install 'dynamometer[pytest]'` adds to pytest, written from the plugin when this site
is built. [The how-to](../how-to/pytest.md) shows it at work.
"""


class Recorder:
    """Stands for pytest's parser and group of options, and notes what is declared."""

    def __init__(self) -> None:
        self.options: list[tuple[str, str]] = []
        self.settings: list[tuple[str, str]] = []

    def getgroup(self, *_: object) -> "Recorder":
        """Return the group, which is this one."""
        return self

    def addoption(self, *names: str, **options: Any) -> None:
        """Note an option."""
        value = f" {options['metavar']}" if "metavar" in options else ""
        self.options.append((f"{names[0]}{value}", options.get("help", "").replace("%%", "%")))

    def addini(self, name: str, text: str = "", *_: object, **__: object) -> None:
        """Note a setting."""
        self.settings.append((name, text))


def declared() -> Recorder:
    """Return the options and settings that the plugin declares."""
    recorder = Recorder()
    pytest_dynamometer.pytest_addoption(recorder)  # type: ignore[arg-type]  # stands for it
    return recorder


def page() -> str:
    """Return the page."""
    recorder = declared()
    markers = [tuple(line.split(": ", 1)) for line in pytest_dynamometer.MARKERS.values()]
    return "\n".join(
        [
            HEAD,
            "## Fixtures\n",
            *(f"### `{name}`\n\n{as_markdown(text)}\n" for name, text in fixtures()),
            "## Markers\n",
            *(f"- `@pytest.mark.{name}`: {text}" for name, text in markers),
            "\n## Options\n",
            *_table("option", recorder.options),
            "\n## Settings in `pytest.ini` or `pyproject.toml`\n",
            *_table("setting", recorder.settings),
            "",
        ]
    )


def fixtures() -> Iterator[tuple[str, str]]:
    """Yield the name and the docstring of each fixture."""
    with open(pytest_dynamometer.__file__, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and any(
            "pytest.fixture" in ast.unparse(decorator) for decorator in node.decorator_list
        ):
            yield node.name, ast.get_docstring(node) or ""


def _table(what: str, rows: list[tuple[str, str]]) -> Iterator[str]:
    yield f"| {what} | what it does |\n| --- | --- |"
    for name, text in rows:
        yield f"| `{name}` | {text.replace('|', '&#124;')} |"
