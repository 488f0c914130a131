"""Who may import whom: a room imports from rooms to its left, never from its right.

The table below is the rule; every file of the package is read with ``ast`` and held to it,
imports inside functions included.
"""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "emulator"

BASE = {"errors", "limits", "clock", "settings"}
MAY_IMPORT = {
    "errors": set(),
    "limits": set(),
    "clock": {"errors"},
    "settings": {"limits"},
    "model": BASE,
    "expressions": BASE | {"model"},
    "storage": BASE | {"model"},
    "capacity": BASE | {"model"},
    "clients": BASE | {"model"},
    "engine": BASE | {"model", "expressions", "storage", "capacity"},
    "operations": BASE | {"model", "expressions", "storage", "capacity", "engine"},
    "designs": BASE,
    "api": BASE | {"model", "capacity", "engine", "operations", "clients"},
    "frontends": BASE
    | {"designs", "model", "expressions", "capacity", "engine", "operations", "clients", "api"},
    "lab": BASE | {"designs", "model", "storage", "capacity", "engine", "operations", "api"},
    "strategies": {"frontends"},
    "__main__": BASE | {"api", "frontends", "lab"},
    "__init__": BASE | {"api", "engine", "frontends"},
}
#: Packages that only the files named may import.
ONLY_THERE = {
    "botocore": ("frontends/", "clients/exceptions.py"),
    "boto3": ("frontends/",),
    "aiobotocore": ("frontends/",),
    "aiohttp": ("frontends/",),
    "hypothesis": ("frontends/",),
    "pytest": ("frontends/",),
    "numpy": ("lab/",),
    "yaml": ("lab/", "designs/"),
    "rich": ("lab/",),
    "hcl2": ("designs/",),
}


def room_of(path: Path) -> str:
    """Return the room a file belongs to: its folder, or its own name at the top."""
    relative = path.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imported_modules(path: Path) -> list[tuple[int, str]]:
    """Return line and dotted name of every import in a file, at any depth."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute"
            module = node.module or ""
            if module == "emulator":
                found += [(node.lineno, f"emulator.{alias.name}") for alias in node.names]
            else:
                found.append((node.lineno, module))
    return found


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_imports_only_from_its_left(path):
    room = room_of(path)
    allowed = MAY_IMPORT[room] | {room}
    for line, module in imported_modules(path):
        parts = module.split(".")
        if parts[0] == "emulator" and len(parts) > 1:
            assert parts[1] in allowed or parts[1] == "__version__", (
                f"{path.relative_to(PACKAGE)}:{line} imports {module}; "
                f"{room} may import {sorted(allowed)}"
            )


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_optional_packages_stay_where_they_are_used(path):
    relative = str(path.relative_to(PACKAGE))
    for line, module in imported_modules(path):
        homes = ONLY_THERE.get(module.split(".")[0])
        assert homes is None or relative.startswith(homes), f"{relative}:{line} imports {module}"


def test_no_module_has_a_vague_name():
    vague = {"utils", "util", "helpers", "common", "manager", "misc"}
    assert not [path for path in FILES if path.stem in vague]
