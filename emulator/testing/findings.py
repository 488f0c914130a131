"""What is reported of a pytest item: findings in the code under test, not in the test itself."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from emulator.observe import CallFinding, Ledger, Place, expiries_of, findings_of
from emulator.sessions.finding_policy import FindingsPolicy, kinds_of

if TYPE_CHECKING:
    from emulator.api import Emulator

_TEST_FOLDERS: Final = ("test", "tests")


def findings_of_test(
    item: pytest.Item, ledger: Ledger, policy: FindingsPolicy, emulators: Iterable[Emulator] = ()
) -> list[CallFinding]:
    """Return the findings about a test: what the code under test could do better.

    Args:
        item: The test.
        ledger: What it called.
        policy: Which findings are reported.
        emulators: Those that it used, which know the tables.
    """
    if not policy.is_on:
        return []
    allowed = kinds_of(name for mark in item.iter_markers("ddb_allow") for name in mark.args)

    def is_exempt(place: Place) -> bool:
        return place is None or is_test_code(item.config, Path(place[0]))

    expiries = {
        table: attribute
        for emulator in emulators
        for table, attribute in expiries_of(emulator.snapshot()).items()
    }
    findings = findings_of(
        ledger, threshold=policy.threshold, is_exempt=is_exempt, expiries=expiries
    )
    return [
        finding
        for finding in findings
        if finding.kind not in allowed and not policy.leaves_out(finding)
    ]


def is_test_code(config: pytest.Config, file: Path) -> bool:
    """Return whether a file is a test, or helps tests, and is not the code under test."""
    patterns = config.getini("python_files")
    if file.name == "conftest.py" or any(fnmatch(file.name, pattern) for pattern in patterns):
        return True
    folders = file.relative_to(config.rootpath).parts if _is_below(file, config.rootpath) else ()
    return any(folder in _TEST_FOLDERS for folder in folders[:-1])


def _is_below(file: Path, folder: Path) -> bool:
    return folder in file.parents
