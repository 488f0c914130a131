"""The cookbook: every experiment still finds what the file beside it says."""

import io
import runpy
from contextlib import redirect_stdout
from pathlib import Path

import pytest

COOKBOOK = Path(__file__).parents[2] / "examples" / "cookbook"


@pytest.mark.parametrize("script", sorted(COOKBOOK.glob("*.py")), ids=lambda path: path.stem)
def test_an_experiment_prints_what_it_promises(script):
    printed = io.StringIO()
    with redirect_stdout(printed):
        runpy.run_path(str(script), run_name="__main__")
    assert printed.getvalue() == script.with_suffix(".out").read_text()


def test_the_page_lists_every_experiment():
    listed = (COOKBOOK / "README.md").read_text()
    assert all(f"`{script.name}`" in listed for script in COOKBOOK.glob("*.py"))
