"""The client for the JVM: a launcher in the place of DynamoDB Local's, and a container.

There is no container engine, so the container is compiled and not started; its image is in
``test_image.py``.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.release import ROOT
from tests.drop_in.conftest import required

CLIENT = ROOT / "clients" / "java"
ENVIRONMENT = os.environ | {
    "DYNAMOMETER": f"{sys.executable} -m emulator",
    "PYTHONPATH": str(ROOT),
}


def run(*command, cwd):
    done = subprocess.run(
        command,
        cwd=cwd,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def program(tmp_path):
    """The launcher without what needs Testcontainers, and a program that uses it, compiled."""
    required("java", "javac")
    sources = [path for path in CLIENT.rglob("*.java") if "Container" not in path.name]
    here = Path(__file__).parent / "OrdersTest.java"
    words = [str(path) for path in (*sources, here)]
    code, _, said = run("javac", "-Xlint:all", "-Werror", "-d", str(tmp_path), *words, cwd=ROOT)
    assert code == 0, said
    return tmp_path


def test_a_program_that_ran_dynamodb_local_inside_of_its_jvm(program):
    code, told, said = run("java", "-cp", str(program), "OrdersTest", cwd=program)
    assert code == 0, said
    lines = [line for line in told.splitlines() if line.startswith(("{", "true", "dynamometer: "))]
    assert lines == [
        '{"TableNames":[]}',
        '{"TableNames":["orders"]}',
        "true",
        "dynamometer: {\"error\":\"there is no test 'none' that has begun; begin it by {'begin': "
        "'none'}\"}",
        "dynamometer: tests failed, as printed above",
    ]


def test_the_container_compiles(tmp_path):
    required("mvn")
    project = tmp_path / "java"
    shutil.copytree(CLIENT, project)
    code, told, _ = run("mvn", "-q", "-B", "package", cwd=project)
    assert code == 0, told
    assert (project / "target/classes/dynamometer/DynamometerContainer.class").exists()
