"""The client for Node: its launcher, and its set-up of vitest and jest."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.release import ROOT
from emulator import __version__
from tests.drop_in.conftest import required

#: The versions that were tried; a test must not fail because another one appears.
PACKAGES = {"vitest": "3.2.4", "jest": "30.2.0", "@aws-sdk/client-dynamodb": "3.940.0"}
TABLE = {
    "TableName": "orders",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}
VITEST = """export default {
  test: {
    globals: true,
    globalSetup: ["dynamometer/vitest"],
    setupFiles: ["dynamometer/vitest-each"],
  },
};
"""
JEST = {
    "globalSetup": "dynamometer/jest",
    "globalTeardown": "dynamometer/jest-teardown",
    "setupFilesAfterEnv": ["dynamometer/jest-each"],
    "testMatch": ["**/*.test.mjs"],
    "transform": {},
}
ENVIRONMENT = os.environ | {
    "DYNAMOMETER": f"{sys.executable} -m emulator",
    "PYTHONPATH": str(ROOT),
    "NO_COLOR": "1",
}


def run(*command, cwd, **environment):
    done = subprocess.run(
        command,
        cwd=cwd,
        env=ENVIRONMENT | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project that has the client and what runs its tests."""
    required("node", "npm")
    folder = tmp_path_factory.mktemp("project")
    (folder / "package.json").write_text(json.dumps({"private": True, "jest": JEST}))
    (folder / "vitest.config.mjs").write_text(VITEST)
    options = ["--fail-on", "scan", "--report", str(folder / "report.json")]
    (folder / "dynamometer.json").write_text(json.dumps({"tables": [TABLE], "options": options}))
    shutil.copy(Path(__file__).parent / "node" / "orders.test.mjs", folder)
    wanted = [f"{name}@{version}" for name, version in PACKAGES.items()]
    quiet = ("--silent", "--no-audit", "--no-fund", "--prefer-offline")
    code, said = run("npm", "install", *quiet, *wanted, cwd=folder)
    assert code == 0, said
    shutil.copytree(ROOT / "clients" / "node", folder / "node_modules" / "dynamometer")
    return folder


def test_the_launcher_passes_on_words_output_and_exit_code(project):
    launcher = project / "node_modules" / "dynamometer" / "launch.cjs"
    told = run("node", str(launcher), "--version", cwd=project)
    assert told == (0, f"dynamometer {__version__}\n")
    code, said = run("node", str(launcher), "serve", "--port", "x", cwd=project)
    assert (code, said.startswith("dynamometer: argument --port/-port")) == (2, True)


def test_a_program_starts_joins_and_stops_a_server(project):
    program = """
      const { start, join } = require("dynamometer");
      (async () => {
        const server = await start("--clock", "manual");
        const joined = join(server.url);
        const before = await joined.snapshot();
        await joined.ask("clock", { advance: 60 });
        await joined.restore(before);
        console.log((await joined.ask("clock")).kind, await joined.call("ListTables", {}));
        await joined.ask("nothing").catch((error) => console.log(error.message.slice(0, 24)));
        await server.stop();
      })();
    """
    code, said = run("node", "-e", program, cwd=project)
    assert (code, said) == (0, "manual { TableNames: [] }\ndynamometer: there is no\n")


@pytest.mark.parametrize(
    ("command", "environment"),
    [
        (("npx", "vitest", "run"), {}),
        (("npx", "jest"), {"NODE_OPTIONS": "--experimental-vm-modules --no-warnings"}),
    ],
    ids=["vitest", "jest"],
)
def test_a_runner_of_tests_has_tables_and_a_report(project, command, environment):
    """Two tests pass, the second with empty tables; the one that scans fails, and so does all."""
    (project / "report.json").unlink(missing_ok=True)
    code, said = run(*command, cwd=project, **environment)
    assert code == 1, said
    assert "1 failed" in said
    assert "2 passed" in said
    assert "this could be improved, and the session fails on it" in said
    tests = json.loads((project / "report.json").read_text())["tests"]
    failed = {test["test"]: bool(test["failures"]) for test in tests if test["requests"]}
    assert failed == {"puts": False, "starts with empty tables": False, "scans": True}
