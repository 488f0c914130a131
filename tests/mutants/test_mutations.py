"""Which mutants a function has, and what they are called."""

import ast
from pathlib import Path

import pytest

from benchmarks.mutants import ROOMS
from benchmarks.mutants.mutations import of_file, tree_of
from tests.each import each


def changes(*body):
    """Return the changes of a function with these lines as its body."""
    source = "\n".join(["def function(a, b=1):", *(f"    {line}" for line in body)])
    return [(mutant.before, mutant.after) for mutant in of_file("file.py", source)]


@each(
    ("line", "others"),
    [
        ("x = a < b", ["x = a <= b"]),
        ("x = a <= b < 2", ["x = a < b < 2", "x = a <= b <= 2", "x = a <= b < 3"]),
        ("x = a is not b", ["x = a is b"]),
        ("x = a + b", ["x = a - b"]),
        ("x = a // b", ["x = a * b"]),
        ("x = -a", ["x = a"]),
        ("x = not a", ["x = a"]),
        ("x = a and b", ["x = a or b", "x = b", "x = a"]),
        ("x = a if b else 0", ["x = 0 if b else a", "x = a if b else 1"]),
        ("x = True", ["x = False"]),
        ("x = min(a, b)", ["x = max(a, b)"]),
        ("x = np.ceil(a)", ["x = a"]),
        ("return a", ["return None"]),
        ("return None", []),
        ("return False", ["return True"]),
        ("return ()", []),
        ("return", ["pass"]),
        ("a.x = b", ["pass"]),
        ("a += b", ["pass"]),
        ("a.close()", ["pass"]),
        ("raise a", ["pass"]),
        ("with a.lock: b()", ["its body alone", "pass"]),
        ("with a as x: x.b", ["pass"]),
        ("if a > 0: pass", ["if a >= 0:", "if a > 1:"]),
        ("x = f'{a + 1}'", []),
        ("x: int = 'text'", []),
        ("assert a > 0", []),
        ("x = zip(a, b, strict=True)", []),
        ("'A docstring with 1 number.'", []),
        ("raise AssertionError(a + 1)", []),
    ],
)
def test_the_changes_of_a_line(line, others):
    assert [after for _, after in changes(line)] == others


def test_signatures_decorators_and_instruments_stay():
    source = """
LIMIT = 1
class Thing:
    size: int = 1
    @decorated(1)
    def method(self, a=1): pass
    def check(self): return 1
"""
    assert of_file("file.py", source) == []


def test_a_name_says_function_and_change_and_counts_repeats():
    source = """
class Thing:
    def method(self):
        self.x = 1
        self.x = 1
"""
    names = [mutant.name for mutant in of_file("file.py", source)]
    assert names == [
        "file.py:Thing.method: self.x = 1 -> pass",
        "file.py:Thing.method: self.x = 1 -> self.x = 2",
        "file.py:Thing.method #2: self.x = 1 -> pass",
        "file.py:Thing.method #2: self.x = 1 -> self.x = 2",
    ]


def test_lines_are_those_of_the_head_of_a_statement():
    source = "def function(a):\n    if (\n        a > b\n    ):\n        a()\n"
    assert {mutant.before: mutant.lines for mutant in of_file("file.py", source)} == {
        "if a > b:": (2, 4),
        "a()": (5, 5),
    }


def test_the_tree_of_a_mutant_has_its_change_and_no_other(tmp_path):
    source = "def function(a):\n    with a.lock:\n        a.b()\n    return a + 1\n"
    (tmp_path / "file.py").write_text(source)
    trees = [ast.unparse(tree_of(mutant, Path(tmp_path))) for mutant in of_file("file.py", source)]
    assert trees == [
        "def function(a):\n    a.b()\n    return a + 1",
        "def function(a):\n    with a.lock:\n        pass\n    return a + 1",
        "def function(a):\n    with a.lock:\n        a.b()\n    return None",
        "def function(a):\n    with a.lock:\n        a.b()\n    return a - 1",
        "def function(a):\n    with a.lock:\n        a.b()\n    return a + 2",
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_is_made_of_files_that_are_there(room):
    package = Path(__file__).parents[2] / "emulator"
    assert [pattern for pattern in ROOMS[room] if not list(package.glob(pattern))] == []
