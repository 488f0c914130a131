"""Who may import whom: a room imports from rooms to its left, never from its right.

The table below is the rule; every file of the package is read with ``ast`` and held to it,
imports inside functions included.
"""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "emulator"

BASE = {"service", "clock", "settings"}
LEFT = BASE | {"model", "expressions", "storage", "capacity", "engine"}
DOOR = BASE | {"api", "observe", "clients"}
MAY_IMPORT = {
    "service": set(),
    "errors": {"service"},
    "clock": {"service"},
    "settings": {"service"},
    "model": BASE,
    "expressions": BASE | {"model"},
    "storage": BASE | {"model"},
    "capacity": BASE | {"model"},
    "engine": LEFT,
    "observe": LEFT,
    "partiql": LEFT | {"operations"},
    "operations": LEFT | {"partiql"},
    "persistence": LEFT | {"operations"},
    "clients": BASE | {"model"},
    "designs": BASE,
    "api": BASE
    | {"model", "capacity", "engine", "observe", "operations", "clients", "persistence"},
    "sdk": DOOR | {"http"},
    "http": DOOR,
    "testing": DOOR | {"designs", "sdk", "http"},
    "strategies": DOOR | {"model", "expressions", "testing"},
    "hypothesis_entry": {"model", "strategies"},
    "lab": BASE | {"designs", "model", "storage", "capacity", "engine", "operations", "api"},
    "__main__": BASE | {"api", "http", "lab"},
    "__init__": BASE | {"api", "observe", "sdk"},
}
#: Packages that only the files named may import.
ONLY_THERE = {
    "botocore": ("sdk/", "clients/exceptions.py"),
    "boto3": ("sdk/", "testing/"),
    "aiobotocore": ("sdk/",),
    "aiohttp": ("sdk/",),
    "hypothesis": ("strategies/", "hypothesis_entry.py"),
    "pytest": ("testing/",),
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


def test_a_room_imports_only_from_its_left():
    offenders = []
    for path in FILES:
        room = room_of(path)
        allowed = MAY_IMPORT[room] | {room, "__version__"}
        for line, module in imported_modules(path):
            parts = module.split(".")
            if parts[0] == "emulator" and len(parts) > 1 and parts[1] not in allowed:
                offenders.append(f"{path.relative_to(PACKAGE)}:{line} imports {module}")
    assert not offenders


def test_optional_packages_stay_where_they_are_used():
    offenders = []
    for path in FILES:
        relative = str(path.relative_to(PACKAGE))
        for line, module in imported_modules(path):
            places = ONLY_THERE.get(module.split(".")[0])
            if places is not None and not relative.startswith(places):
                offenders.append(f"{relative}:{line} imports {module}")
    assert not offenders


def test_no_module_has_a_vague_name():
    vague = {"utils", "util", "helpers", "common", "manager", "misc"}
    assert not [path for path in FILES if path.stem in vague]
