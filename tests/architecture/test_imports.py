"""Who may import whom: a room imports from rooms to its left, never from its right.

The table below is the rule; every import in every file of the package is read with ``ast`` and held
to it, those inside functions included.
"""

import ast
import re
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "emulator"

BASE = {"service", "locks", "clock", "files", "settings", "step_summary", "command_line"}
LEFT = BASE | {"model", "expressions", "storage", "capacity", "engine"}
DOOR = BASE | {"api", "observe", "clients", "protocol"}
PLANNED = LEFT | {"lab.inputs", "lab.planning"}
MAY_IMPORT = {
    "service": set(),
    "errors": {"service"},
    "locks": set(),
    "clock": {"service", "locks", "virtual_loop"},
    "files": set(),
    "settings": {"service"},
    "objects": BASE,
    "model": BASE,
    "expressions": BASE | {"model"},
    "storage": BASE | {"model"},
    "capacity": BASE | {"model"},
    "engine": LEFT,
    "regions": LEFT,
    "virtual_loop": {"clock"},
    "observe": LEFT,
    "partiql": BASE | {"model", "expressions"},
    "operations": LEFT | {"regions", "objects", "partiql"},
    "persistence": LEFT | {"operations"},
    "streams": LEFT | {"observe", "operations"},
    "protocol": {"service"},
    "clients": BASE | {"model", "protocol"},
    "designs": BASE | {"model", "capacity"},
    "api": BASE
    | {"model", "objects", "capacity", "engine", "regions", "observe", "operations"}
    | {"clients", "persistence", "streams"},
    "sdk": DOOR,
    "web": set(),
    "sessions": DOOR | {"designs", "web"},
    "http": DOOR | {"web", "lab", "sessions", "streams"},
    "testing": DOOR | {"designs", "sdk", "sessions", "http", "streams"},
    "strategies": DOOR | {"model", "expressions", "testing", "lab"},
    # A run: inputs <- planning <- outcome <- { exact | world } <- analysis <- searches <- report.
    "lab.inputs": BASE | {"model", "capacity", "designs", "api"},
    "lab.planning": BASE | {"model", "capacity", "storage", "engine", "api", "lab.inputs"},
    "lab.outcome": PLANNED | {"designs"},
    "lab.exact": PLANNED | {"lab.outcome"},
    "lab.world": PLANNED | {"lab.outcome"},
    "lab.analysis": PLANNED | {"designs", "lab", "lab.outcome", "lab.exact", "lab.world"},
    "lab.searches": PLANNED | {"lab.outcome", "lab.world", "lab.analysis"},
    "lab.report": BASE | {"designs", "lab.outcome", "web"},
    "lab": BASE
    | {"designs", "api", "lab.inputs", "lab.planning", "lab.outcome", "lab.analysis"}
    | {"lab.exact", "lab.world", "lab.report", "lab.searches"},
    "check": BASE | {"designs", "api", "lab"},
    "diff": BASE | {"designs", "check", "lab", "lab.inputs", "lab.outcome", "lab.report"},
    "step_summary": set(),
    "command_line": {"service"},
    "mcp": BASE
    | {"designs", "check", "api", "observe", "lab", "lab.inputs", "lab.outcome", "lab.analysis"},
    "__main__": BASE | {"api", "http", "lab", "sessions"},
    "__init__": BASE | {"api", "observe", "sdk"},
}
#: An import, which the formatter gives lines of its own; to parse all of a file takes far longer.
IMPORT = re.compile(
    r"^[ \t]*(?P<statement>import [\w.]+.*|from [\w.]+ import (?:\([^)]*\)|.*))$", re.MULTILINE
)
#: Packages that only the files named may import.
ONLY_THERE = {
    "botocore": ("sdk/", "clients/exceptions.py"),
    "boto3": ("sdk/", "testing/"),
    "aiobotocore": ("sdk/",),
    "aiohttp": ("sdk/",),
    "hypothesis": ("strategies/",),
    "pytest": ("testing/",),
    "numpy": ("lab/", "storage/vectors.py"),
    "pandas": ("lab/outcome/",),
    "yaml": ("lab/", "designs/"),
    "rich": ("lab/",),
    "mcp": ("mcp/",),
    "pydantic": ("mcp/",),
}


def room_of(module: str) -> str:
    """Return the room of a module: what follows ``emulator.``, and two steps deep in the lab."""
    room, *inner = module.split(".")[1:3]
    nested = f"{room}.{inner[0]}" if inner else room
    return nested if nested in MAY_IMPORT else room


def module_of(path: Path) -> str:
    """Return the dotted name of a file of the package."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if path.stem == "__init__" and len(parts) > 2 else parts)


@cache
def imported_modules(path: Path) -> list[tuple[int, str]]:
    """Return line and dotted name of every import in a file, at any depth."""
    found = []
    text = path.read_text()
    for match in IMPORT.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        [node] = ast.parse(match["statement"]).body
        if isinstance(node, ast.Import):
            found += [(line, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{line}: imports are absolute"
            module = node.module or ""
            if module in ("emulator", "emulator.lab"):
                found += [(line, f"{module}.{alias.name}") for alias in node.names]
            else:
                found.append((line, module))
    return found


FILES = sorted(PACKAGE.rglob("*.py"))


def test_a_room_imports_only_from_its_left():
    offenders = []
    for path in FILES:
        room = room_of(module_of(path))
        allowed = MAY_IMPORT[room] | {room, "__version__"}
        for line, module in imported_modules(path):
            if module.startswith("emulator.") and room_of(module) not in allowed:
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
