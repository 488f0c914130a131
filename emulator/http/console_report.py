"""The lab's report on the traffic that a console has just seen.

The lab runs in a process of its own: the server goes on answering, nothing of the lab is loaded
here, and stopping the server stops it. One report is made at a time.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final, Literal

from emulator.protocol import encode_json
from emulator.service.errors import EmulatorError

BUSY: Final = "a report is being made; wait for it"
NO_REPORT: Final = "there is no report; make one first"
FAILED: Final = "the lab ended with {code} and said nothing"
#: The page is there whatever the file promises: 1 is what a broken promise gives.
_PAGE_CODES: Final = (0, 1)

State = Literal["none", "running", "ready", "failed"]


class LabReport:
    """Runs ``dynamometer lab`` on a document, and keeps the page that comes of it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._page: bytes | None = None
        self._complaint = ""

    def start(self, document: dict[str, Any]) -> None:
        """Begin to make a report.

        Raises:
            EmulatorError: another one is being made.
        """
        if self.state() == "running":
            raise EmulatorError(BUSY)
        self._page, self._complaint = None, ""
        self._folder = tempfile.TemporaryDirectory(prefix="dynamometer-")
        file = self._file("traffic.yaml")
        file.write_bytes(encode_json(document))
        arguments = ["lab", str(file), "--quick", "--html", str(self._file("report.html"))]
        with self._file("complaint").open("wb") as complaint:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "emulator", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=complaint,
                env=_environment(),
            )

    def state(self) -> State:
        """Return how far the report is; "ready" and "failed" until another one is started."""
        process = self._process
        if process is not None and process.poll() is None:
            return "running"
        if process is not None:
            self._process = None
            self._gather(process.returncode)
        if self._page is not None:
            return "ready"
        return "failed" if self._complaint else "none"

    @property
    def complaint(self) -> str:
        """Why there is no report: the lab's own sentence, "" if it did not fail."""
        return self._complaint

    def page(self) -> bytes:
        """Return the page.

        Raises:
            EmulatorError: there is none.
        """
        if self.state() != "ready" or self._page is None:
            raise EmulatorError(self._complaint or NO_REPORT)
        return self._page

    def close(self) -> None:
        """Stop what is running and leave nothing on the disk."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        self._clean_up()

    def _gather(self, code: int) -> None:
        """Take over what an ended process has left."""
        with contextlib.suppress(FileNotFoundError):
            if code in _PAGE_CODES:
                self._page = self._file("report.html").read_bytes()
        if self._page is None:
            lines = self._file("complaint").read_text("utf-8", "replace").splitlines()
            said = [line.removeprefix("dynamometer: ") for line in lines if line.strip()]
            self._complaint = said[-1] if said else FAILED.format(code=code)
        self._clean_up()

    def _file(self, name: str) -> Path:
        assert self._folder is not None, "start() makes the folder"
        return Path(self._folder.name) / name

    def _clean_up(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def _environment() -> dict[str, str]:
    """Return an environment in which the child finds the package that runs here."""
    own = str(Path(__file__).parents[2])
    before = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": own if not before else f"{own}{os.pathsep}{before}"}
