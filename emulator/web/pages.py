"""One page of several files: modules become functions, styles are joined, nothing is fetched.

A module is written for a browser that loads it by its address. In a page that must work from a
disk there is no address, so each module becomes a function that returns what it exports, in the
order of the imports. Two forms are all it takes, and a module that has others is refused:
``import { a, b } from "./c.js";`` and ``export`` before a function, class or const.
"""

from __future__ import annotations

import base64
import hashlib
import json
import posixpath
import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, Final

from emulator.web.files import read

_IMPORT: Final = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)";\n', re.MULTILINE)
_EXPORT: Final = re.compile(
    r"^export (?=(?:async )?(?:function\*?|class|const) (\w+))", re.MULTILINE
)
_COMMENT: Final = re.compile(r"^[ \t]*(?:/\*\*.*?\*/|//[^\n]*)\n", re.MULTILINE | re.DOTALL)
_STYLE_COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)
_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="generator" content="{generator}">
<title>{title}</title>
{styles}
</head>
<body>
{body}
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""
#: Only the script of this page runs; nothing is fetched from anywhere.
_POLICY: Final = (
    "default-src 'none'; img-src data: blob:; "
    "style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
)


def page(
    *, title: str, generator: str, body: str, data: Any, styles: Sequence[str], module: str
) -> str:
    """Return one file with the markup ``body``, ``data`` for its script, and that script.

    Args:
        title: The title of the browser's tab.
        generator: The program that made it, such as ``dynamometer 0.1.0``.
        body: Markup; whatever came from a user is escaped in it.
        data: Plain data that the module reads from the element ``data``.
        styles: Names of style sheets; an id is their name without folder and ending.
        module: Name of the module that is run, with those that it imports.
    """
    script = bundle(module)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return _PAGE.format(
        policy=_POLICY.format(digest=digest),
        generator=escape(generator),
        title=escape(title),
        styles="\n".join(_style(name) for name in styles),
        body=body,
        data=json_in_markup(data),
        script=script,
    )


def json_in_markup(data: Any) -> str:
    """Return data as JSON that can stand inside a script element.

    >>> "<" in json_in_markup("</script><!--")
    False
    """
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _style(name: str) -> str:
    identity = posixpath.basename(name).removesuffix(".css")
    return f'<style id="{identity}-style">{style(name)}</style>'


def style(name: str) -> str:
    """Return a style sheet without comments and needless space."""
    return " ".join(_STYLE_COMMENT.sub("", read(name)).split())


def bundle(module: str) -> str:
    """Return a module and all that it imports as one script.

    Raises:
        ValueError: A module imports or exports in a form that is not supported.
    """
    order: dict[str, str] = {}
    _collect(module, order, ())
    names = {name: f"module{number}" for number, name in enumerate(order)}
    parts = [_as_function(name, text, names) for name, text in order.items()]
    return "\n".join(['"use strict";', "(() => {", *parts, "})();"])


def _collect(name: str, order: dict[str, str], above: tuple[str, ...]) -> None:
    """Add a module after those that it imports."""
    if name in above:
        raise ValueError(f"modules import each other: {' -> '.join((*above, name))}")
    if name in order:
        return
    text = _COMMENT.sub("", read(name))
    for imported, _ in _imports(name, text):
        _collect(imported, order, (*above, name))
    order[name] = text


def _imports(name: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield name and braces' content of every import."""
    for match in _IMPORT.finditer(text):
        yield posixpath.normpath(posixpath.join(posixpath.dirname(name), match[2])), match[1]


def _as_function(name: str, text: str, names: dict[str, str]) -> str:
    """Return a module as a constant: what its function returns."""
    taken = [f"const {{{bound}}} = {names[imported]};" for imported, bound in _imports(name, text)]
    body = _EXPORT.sub("", _IMPORT.sub("", text))
    if re.search(r"^(?:import|export)\b", body, re.MULTILINE):
        raise ValueError(f"{name} imports or exports in a form that one page cannot hold")
    returned = f"return {{{', '.join(_EXPORT.findall(text))}}};"
    lines = (line.strip() for line in [*taken, *body.splitlines(), returned])
    inside = "\n".join(line for line in lines if line)
    return f"const {names[name]} = (() => {{\n{inside}\n}})();"
