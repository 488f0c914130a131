"""Docstrings say the noun: calls, rows, clients, bytes."""

from benchmarks.house import riddles
from tests.architecture.rules import ROOT


def test_no_docstring_avoids_the_noun():
    found = [
        f"{path}: {name}"
        for path in (file.relative_to(ROOT) for file in sorted(ROOT.glob("emulator/**/*.py")))
        for name, _ in riddles((ROOT / path).read_text())
    ]
    assert found == []
