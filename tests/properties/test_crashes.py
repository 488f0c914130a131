"""Kills and full disks lose nothing that was saved: a short run of the experiments."""

import sys

import pytest

if sys.platform == "win32":
    pytest.skip("kills and limits of this kind are not Windows'", allow_module_level=True)

from benchmarks.reliability.crashes import (
    EXPERIMENTS,
    Outcome,
    first_generation,
    generation_of,
    repeat,
)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_crash_loses_nothing(name):
    counts = repeat(name, times=1, seed=1, items=50)
    assert counts["crashes"] == 1
    assert counts["the old file"] + counts["the new file"] == 1
    assert counts["lost"] == 0
    assert counts["left after the next save"] == 0


def test_a_file_with_parts_of_two_generations_would_be_noticed(tmp_path):
    first_generation(tmp_path / "file", items=3)
    assert generation_of(tmp_path / "file", items=3) == 0
    with pytest.raises(AssertionError, match="has 3 items of 4"):
        generation_of(tmp_path / "file", items=4)
    assert Outcome(kept=1, promised=2, leftovers=0).is_lost
