"""The files of the front end by their names."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

_SUFFIXES: Final = (".css", ".html", ".js")


@cache
def read(name: str) -> str:
    """Return the text of a file of the front end, such as ``kit/dom.js``.

    >>> read("kit/dom.js").splitlines()[0]
    '/**'

    Raises:
        FileNotFoundError: There is none of that name; nothing outside this folder has one.
    """
    entry: Traversable = files(__package__)
    for step in name.split("/"):
        children = entry.iterdir() if entry.is_dir() else ()
        child = next((child for child in children if child.name == step), None)
        if child is None:
            raise FileNotFoundError(name)
        entry = child
    if entry.is_dir() or not name.endswith(_SUFFIXES):
        raise FileNotFoundError(name)
    return entry.read_text(encoding="utf-8")
