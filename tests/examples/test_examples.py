"""Every example still prints, byte for byte, what the file beside it says."""

import ast
import io
import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import emulator

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))

each_script = pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)


@each_script
def test_an_example_prints_what_it_promises(script):
    printed = io.StringIO()
    with redirect_stdout(printed):
        runpy.run_path(str(script), run_name="__main__")
    assert printed.getvalue() == script.with_suffix(".out").read_text()


@each_script
def test_an_example_tells_its_scenario(script):
    text = ast.get_docstring(ast.parse(script.read_text())) or ""
    assert "\n\nScenario: " in text


@each_script
def test_an_example_uses_the_public_surface_only(script):
    for node in ast.walk(ast.parse(script.read_text())):
        if isinstance(node, ast.Import):
            assert {alias.name for alias in node.names} <= sys.stdlib_module_names
        elif isinstance(node, ast.ImportFrom) and node.module == "emulator":
            assert {alias.name for alias in node.names} <= set(emulator.__all__)
        elif isinstance(node, ast.ImportFrom):
            assert (node.module or "").partition(".")[0] in sys.stdlib_module_names


def test_every_output_has_its_script():
    assert {path.stem for path in EXAMPLES.glob("*.out")} == {path.stem for path in SCRIPTS}


def test_the_index_names_every_example():
    index = (EXAMPLES / "README.md").read_text()
    assert [script.name for script in SCRIPTS if f"`{script.name}`" not in index] == []
