"""Document paths: resolved names and list positions.

A path is a tuple whose first component is an attribute name; each further one is a name
(into a map) or an int (into a list).
"""

from __future__ import annotations

from typing import TypeAlias

from emulator.model.values import MISSING, Attributes, Missing, Value

Path: TypeAlias = tuple[str | int, ...]


def resolve(attributes: Attributes, path: Path) -> Value | Missing:
    """Return the value at a path, or MISSING when it leads nowhere (CND-1).

    >>> resolve({"a": {"b": ("x", "y")}}, ("a", "b", 1))
    'y'
    >>> resolve({"a": "x"}, ("a", "b"))
    MISSING
    """
    value: Value | Missing = attributes.get(path[0], MISSING)  # type: ignore[arg-type]  # the first component is a name
    if len(path) == 1:
        return value
    for component in path[1:]:
        value = step(value, component)
        if value is MISSING:
            break
    return value


def step(value: Value | Missing, component: str | int) -> Value | Missing:
    """Return the member of a container that one path component names, or MISSING."""
    if isinstance(component, str):
        return value.get(component, MISSING) if isinstance(value, dict) else MISSING
    if isinstance(value, tuple) and component < len(value):
        return value[component]
    return MISSING


def format_path(path: Path) -> str:
    """Write a path as messages do (UPD-3).

    >>> format_path(("a", 0, "b"))
    '[a, [0], b]'
    """
    parts = (f"[{part}]" if isinstance(part, int) else part for part in path)
    return f"[{', '.join(parts)}]"
