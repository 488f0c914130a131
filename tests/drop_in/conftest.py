"""The server as set-ups in other languages start it.

These tests run where they are asked for by name, ``pytest tests/drop_in``: they install the image
into a folder, and compile programs in Go, Java and Rust with what their registries hold. Where a
tool chain is not on the machine they are skipped and say so.
"""

import shutil

import pytest

from benchmarks.release import Image, steps


def required(*programs):
    """Skip a test where a program is not on this machine."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        pytest.skip(f"not on this machine: {', '.join(missing)}")


@pytest.fixture(scope="session")
def image(tmp_path_factory):
    """The steps of the Containerfile, carried out below a folder."""
    made = Image(tmp_path_factory.mktemp("image") / "root")
    problems = [made.carry_out(instruction, rest) for instruction, rest in steps()]
    assert [problem for problem in problems if problem] == []
    return made
