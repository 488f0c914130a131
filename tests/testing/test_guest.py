"""The plugin as a guest: in projects that have a package ``emulator`` of their own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PYTHON_M = (sys.executable, "-m", "pytest")
PLAIN = (os.path.join(os.path.dirname(sys.executable), "pytest"),)
ROOT = Path(__file__).parents[2]
COMMANDS = pytest.mark.parametrize("command", [PYTHON_M, PLAIN], ids=["python -m pytest", "pytest"])
#: Plugins that take a second to load and have no part in this.
OTHERS = tuple(
    option
    for name in ("randomly", "cacheprovider", "asyncio", "anyio", "pytest_cov", "platformdirs")
    for option in ("-p", f"no:{name}")
)

THEIRS = """
from emulator.processor import registers

def test_registers():
    assert registers() == 16
"""
WITH_HYPOTHESIS = """
from hypothesis import given, settings, strategies as st

from emulator.processor import registers

@settings(max_examples=1, database=None)
@given(st.integers())
def test_registers(number):
    assert registers() == 16
"""
#: A setting of ours that is wrong.
NONSENSE = "[pytest]\nddb_capacity = nonsense\n"
OURS = """
import pytest

def test_fixture(ddb_client):
    raise AssertionError("unreachable")

@pytest.mark.ddb(capacity="enforce")
def test_marked():
    raise AssertionError("unreachable")
"""


@pytest.fixture
def project(tmp_path):
    """A project with an emulator of processors."""
    package = tmp_path / "emulator"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "processor.py").write_text("def registers():\n    return 16\n")
    return tmp_path


#: Hypothesis takes most of the time that pytest takes to begin.
QUICKLY = ("-p", "no:hypothesispytest")


def run(project, command, *arguments, **environment):
    return subprocess.run(
        [*command, *OTHERS, *arguments],
        cwd=project,
        env=os.environ | {"PYTEST_ADDOPTS": ""} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("command", "arguments", "ini"),
    # Only "pytest" has to find the package without the working directory on the path. A setting of
    # ours, even a wrong one, does not bring our package first.
    [
        (PYTHON_M, (), NONSENSE),
        (PLAIN, (), ""),
        (PLAIN, ("-v",), NONSENSE),
        (PLAIN, QUICKLY, ""),
    ],
    ids=["python -m pytest", "pytest", "pytest -v", "pytest without hypothesis"],
)
def test_tests_see_the_projects_own_package(project, command, arguments, ini):
    (project / "test_theirs.py").write_text(THEIRS)
    (project / "test_with_hypothesis.py").write_text(WITH_HYPOTHESIS)
    (project / "pytest.ini").write_text(ini)

    ended = run(project, command, *arguments)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "2 passed" in ended.stdout


@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_wrong_setting_ends_the_session_before_any_test(tmp_path, workers):
    (tmp_path / "test_it.py").write_text("def test_it():\n    print('ran')\n")
    (tmp_path / "pytest.ini").write_text(NONSENSE)

    ended = run(tmp_path, PLAIN, *QUICKLY, "-s", "-n", workers)

    assert ended.returncode == pytest.ExitCode.USAGE_ERROR, ended.stdout + ended.stderr
    assert "ERROR: ddb: capacity is one of off, observe, enforce, not 'nonsense'" in ended.stderr
    assert "no tests ran" in ended.stdout


@COMMANDS
def test_a_distribution_that_was_installed_over_ours_serves_its_users(tmp_path, command):
    installed, project = tmp_path / "installed", tmp_path / "project"
    ignored = shutil.ignore_patterns("__pycache__", "lab", "web")
    shutil.copytree(ROOT / "emulator", installed / "emulator", ignore=ignored)
    shutil.copy(ROOT / "pytest_dynamometer.py", installed)
    (installed / "emulator" / "__init__.py").write_text("")
    (installed / "emulator" / "processor.py").write_text("def registers():\n    return 16\n")
    project.mkdir()
    (project / "test_it.py").write_text(THEIRS + OURS)
    (project / "pytest.ini").write_text("[pytest]\nddb_rate = 5\n")

    ended = run(project, command, *QUICKLY, "-q", PYTHONPATH=str(installed))

    assert "1 passed, 2 errors" in ended.stdout, ended.stdout + ended.stderr
    sentence = (
        "dynamometer's fixtures need its package 'emulator', but another distribution was "
        f"installed over it in {installed / 'emulator'}: uninstall that one, and install "
        "dynamometer again"
    )
    assert ended.stdout.splitlines().count(sentence) == 2


@pytest.mark.parametrize(
    ("command", "ini"),
    [(PYTHON_M, ""), (PLAIN, "[pytest]\nddb_capacity = enforce\n")],
    ids=["python -m pytest", "pytest"],
)
def test_a_fixture_says_in_one_sentence_what_shadows_it(project, command, ini):
    (project / "test_it.py").write_text(THEIRS + OURS)
    (project / "conftest.py").write_text("import emulator\n")
    (project / "pytest.ini").write_text(ini)

    ended = run(project, command, *QUICKLY, "-rE", "-q")

    assert "1 passed, 2 errors" in ended.stdout, ended.stdout + ended.stderr
    origin = project / "emulator" / "__init__.py"
    sentence = (
        "dynamometer's fixtures need its package 'emulator', but here that name is another "
        f"package, from {origin}: rename that one, or keep it off the import path of these tests"
    )
    assert ended.stdout.splitlines().count(sentence) == 2


def test_the_plugin_can_be_left_out(project):
    (project / "test_it.py").write_text(THEIRS + OURS)

    ended = run(project, PYTHON_M, *QUICKLY, "-p", "no:dynamometer", "-q")

    assert "fixture 'ddb_client' not found" in ended.stdout
    assert "Unknown pytest.mark.ddb" in ended.stdout


def test_without_a_rival_our_package_serves(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "def test_it(ddb):\n    assert ddb.call('ListTables', {})['TableNames'] == []\n"
    )
    for command in (PYTHON_M, PLAIN):
        ended = run(tmp_path, command, *QUICKLY)
        assert "1 passed" in ended.stdout, ended.stdout + ended.stderr


def test_importing_hypothesis_loads_nothing_of_ours():
    script = "import sys, hypothesis; print([m for m in sys.modules if 'emulator' in m])"
    assert subprocess.check_output([sys.executable, "-c", script], text=True).strip() == "[]"
