"""The server as one file: it is built, runs on its own, and hashes as the installed one does."""

import json
import re
import subprocess
import sys
import urllib.request

import mmh3
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.one_file import __main__ as one_file
from benchmarks.one_file import mmh3 as in_python
from benchmarks.release import list_tables
from emulator import __version__


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """The file, as the command builds it."""
    target = tmp_path_factory.mktemp("built") / "dynamometer.pyz"
    one_file.build(target)
    return target


def run(file, *words):
    """Run the file without anything that is installed."""
    command = [sys.executable, "-I", "-S", str(file), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@given(st.binary(max_size=70), st.integers(0, 2**32 - 1))
@example(b"", 0)
@example(b"\xff" * 15, 2**32 - 1)
def test_keys_are_placed_as_by_the_installed_server(key, seed):
    for signed in (False, True):
        assert in_python.hash64(key, seed, signed=signed) == mmh3.hash64(key, seed, signed=signed)
        assert in_python.hash128(key, seed, signed=signed) == mmh3.hash128(key, seed, signed=signed)
        assert in_python.hash(key, seed, signed=signed) == mmh3.hash(key, seed, signed=signed)
    assert in_python.hash_bytes(key, seed) == mmh3.hash_bytes(key, seed)


def test_the_same_sources_make_the_same_file(file, tmp_path):
    one_file.build(tmp_path / "again.pyz")
    assert (tmp_path / "again.pyz").read_bytes() == file.read_bytes()


def test_it_tells_its_version_and_what_it_comes_without(file):
    assert run(file, "--version").stdout == f"dynamometer {__version__}\n"
    without = run(file, "lab")
    assert (without.returncode, without.stderr) == (
        2,
        "dynamometer: this version comes without 'lab'\n",
    )


def test_it_serves_reports_and_has_its_console(file, tmp_path):
    report = tmp_path / "report.html"
    command = [sys.executable, "-I", "-S", str(file), "serve", "--port", "0", "--report", report]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = re.search(r"http://\S+", server.stdout.readline())[0]
            with urllib.request.urlopen(list_tables(address), timeout=10) as answer:
                assert json.load(answer) == {"TableNames": []}
            page = urllib.request.Request(address, headers={"Accept": "text/html"})
            with urllib.request.urlopen(page, timeout=10) as answer:
                assert b"dynamometer console" in answer.read()
            with urllib.request.urlopen(f"{address}/_emulator/stop", b"{}", timeout=10):
                pass
            assert server.wait(10) == 0
        finally:
            server.kill()
    assert "What the tests consumed" in report.read_text()
