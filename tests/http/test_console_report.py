"""A report of the lab is made beside the server, one at a time, and leaves nothing behind."""

from __future__ import annotations

import sys

import pytest

from emulator.http import console_report
from emulator.http.console_report import BUSY, NO_REPORT, LabReport
from emulator.service.errors import EmulatorError

PYTHON = sys.executable
WRITES_A_PAGE = """
import pathlib, sys
assert sys.argv[1:3] == ["-m", "emulator"], sys.argv
assert pathlib.Path(sys.argv[4]).read_text() == '{"title":"t"}'
pathlib.Path(sys.argv[sys.argv.index("--html") + 1]).write_text("<p>page</p>")
"""
COMPLAINS = "import sys; sys.exit('dynamometer: this needs the module numpy')"
WAITS = "import sys; sys.stdin.read(); import time; time.sleep(60)"


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Let a script of ours run in the place of Python."""

    def become(text):
        script = tmp_path / "lab"
        script.write_text(f"#!{PYTHON}\n{text}")
        script.chmod(0o755)
        monkeypatch.setattr(console_report.sys, "executable", str(script))

    return become


@pytest.fixture
def report():
    made = LabReport()
    yield made
    made.close()


def ended(report):
    report._process.wait(timeout=30)
    return report.state()


def test_a_report_is_made_and_its_folder_goes(report, stand_in):
    stand_in(WRITES_A_PAGE)
    assert report.state() == "none"
    with pytest.raises(EmulatorError, match=NO_REPORT):
        report.page()
    report.start({"title": "t"})
    folder = report._file("")
    assert ended(report) == "ready"
    assert report.page() == b"<p>page</p>"
    assert not folder.exists()


def test_what_the_lab_complains_of_is_said(report, stand_in):
    stand_in(COMPLAINS)
    report.start({"title": "t"})
    assert ended(report) == "failed"
    assert report.complaint == "this needs the module numpy"
    with pytest.raises(EmulatorError, match="needs the module numpy"):
        report.page()
    stand_in("raise SystemExit(3)")
    report.start({"title": "t"})
    ended(report)
    assert report.complaint == "the lab ended with 3 and said nothing"


def test_one_is_made_at_a_time_and_closing_stops_it(report, stand_in):
    stand_in(WAITS)
    report.start({"title": "t"})
    process = report._process
    with pytest.raises(EmulatorError, match=BUSY):
        report.start({"title": "t"})
    report.close()
    assert process.poll() is not None
    assert report.state() == "none"
