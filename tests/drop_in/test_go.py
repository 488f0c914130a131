"""The client for Go, in a project's tests with the AWS SDK."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.release import ROOT
from tests.drop_in.conftest import required

#: The versions that were tried; a test must not fail because another one appears.
MODULES = """module orders

go 1.24

require (
	dynamometer v0.0.0
	github.com/aws/aws-sdk-go-v2 v1.41.0
	github.com/aws/aws-sdk-go-v2/credentials v1.19.0
	github.com/aws/aws-sdk-go-v2/service/dynamodb v1.53.0
)

replace dynamometer => {client}
"""


def test_a_project_in_go(tmp_path):
    """One of its tests scans, and fails for that; the report says what each test consumed."""
    required("go")
    client = tmp_path / "client"
    shutil.copytree(ROOT / "clients" / "go", client)
    project = tmp_path / "orders"
    project.mkdir()
    shutil.copy(Path(__file__).parent / "orders_test.go", project)
    (project / "go.mod").write_text(MODULES.format(client=client))
    report = tmp_path / "report.json"
    environment = os.environ | {
        "DYNAMOMETER": f"{sys.executable} -m emulator",
        "PYTHONPATH": str(ROOT),
        "REPORT": str(report),
        "GOFLAGS": "-mod=mod",
    }
    go = {"cwd": project, "env": environment, "capture_output": True, "text": True, "check": False}
    fetched = subprocess.run(["go", "mod", "tidy"], **go)
    assert fetched.returncode == 0, fetched.stderr
    done = subprocess.run(["go", "test", "./..."], **go)
    said = done.stdout + done.stderr
    assert done.returncode == 1, said
    assert "--- FAIL: TestScan" in said
    assert "--- FAIL: TestPut" not in said
    assert "could be improved in 1 place" in said
    assert "dynamometer: TestScan failed" in said
    consumed = {test["test"]: test for test in json.loads(report.read_text())["tests"]}
    assert {name: test["calls"] for name, test in consumed.items()} == {"TestPut": 3, "TestScan": 1}
    assert [len(consumed[name]["failures"]) for name in ("TestPut", "TestScan")] == [0, 1]
