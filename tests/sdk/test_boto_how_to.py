"""What docs/how-to/boto3.md shows is run here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "boto3.md"


def test_the_examples_of_the_how_to_run():
    pytest.importorskip("moto")
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names: dict = {}
    for block in blocks:
        exec(compile(block, PAGE.name, "exec"), names)
    names["test_nothing_is_there"]()
    tests = names["TestMusic"]()
    tests.setup_method()
    tests.test_it_is_there()
    assert len(blocks) == 6
