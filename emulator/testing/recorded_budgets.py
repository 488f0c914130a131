"""Budgets by record: the consumption of each test, recorded in one committed file (ICH-111).

A test fails if it consumes more than its record, past a tolerance. The file names functions and no
line numbers, so that it changes only when the consumption does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from emulator.sessions import Fault

#: What a test is recorded as: see ``measured``.
Measured: TypeAlias = dict[str, Any]

VERSION: Final = 1
#: What may be compared, with the words for one and for several.
FIELDS: Final = {
    "rcu": ("read unit", "read units"),
    "wcu": ("write unit", "write units"),
    "calls": ("call", "calls"),
    "scans": ("page of Scan", "pages of Scan"),
}
DEFAULT: Final = "rcu:0%,wcu:0%"

_NOT_A_TOLERANCE: Final = (
    "compare_fail: {text!r} is not of the form FIELD:NUMBER or FIELD:NUMBER%, with a FIELD of "
    "{fields}"
)
_NOT_A_RECORD: Final = "{path} is not a record of budgets: {reason}"
_NOT_JSON: Final = "it is not JSON"
_NOT_OURS: Final = "expected version {version} and an object of tests"
_EXCEEDED: Final = "this consumes more than {path} records:"
_MEANT: Final = "if that is intended, record it: pytest --ddb-budget-update"


class Tolerance(NamedTuple):
    """How much more of a field is accepted."""

    field: str
    amount: float
    is_share: bool

    def most(self, recorded: float) -> float:
        """Return the most that is accepted; of nothing, no share is more."""
        return recorded * (1 + self.amount / 100) if self.is_share else recorded + self.amount

    def __str__(self) -> str:
        return f"{self.amount:g}{' %' if self.is_share else ''}"


def tolerances_of(text: str) -> list[Tolerance]:
    """Return the tolerances that ``--ddb-compare-fail`` names.

    >>> tolerances_of("wcu:5%,calls:2")
    [Tolerance(field='wcu', amount=5.0, is_share=True),
     Tolerance(field='calls', amount=2.0, is_share=False)]

    Raises:
        Fault: one of them is wrong.
    """
    return [_tolerance(part) for part in text.replace(",", " ").split()]


def _tolerance(text: str) -> Tolerance:
    field, _, amount = text.partition(":")
    try:
        number = float(amount.removesuffix("%"))
    except ValueError:
        number = -1.0
    if field not in FIELDS or not 0 <= number < float("inf"):
        raise Fault(_NOT_A_TOLERANCE.format(text=text, fields=", ".join(FIELDS)))
    return Tolerance(field, number, amount.endswith("%"))


def measured(record: Mapping[str, Any]) -> Measured:
    """Return the recorded figures of a test, from the session's report."""
    lines: dict[str, Measured] = {}
    for entry in record["entries"]:
        line = lines.setdefault(_line_of(entry), {"rcu": 0, "wcu": 0, "calls": 0})
        line["rcu"] += _plain(entry["read_units"])
        line["wcu"] += _plain(entry["write_units"])
        line["calls"] += entry["calls"]
    return {
        "rcu": _plain(record["read_units"]),
        "wcu": _plain(record["write_units"]),
        "calls": record["calls"],
        "scans": sum(entry["calls"] for entry in record["entries"] if entry["operation"] == "Scan"),
        "lines": lines,
    }


def _line_of(entry: Mapping[str, Any]) -> str:
    """Return a name for a line of code, which lasts as long as that of its function."""
    return f"{entry['file']} {entry['function']} {entry['operation']} {_resource_of(entry)}"


def _resource_of(entry: Mapping[str, Any]) -> str:
    return str(entry["table"]) if not entry["index"] else f"{entry['table']}.{entry['index']}"


def _plain(units: float) -> float:
    return int(units) if units == int(units) else units


class RecordedBudgets:
    """The file with the consumption of tests.

    Args:
        path: The file; it need not be there.
        tolerances: How much more is accepted.

    Raises:
        Fault: the file is there, and is not one.
    """

    def __init__(self, path: Path, tolerances: Sequence[Tolerance]) -> None:
        self._path = path
        self._tolerances = tolerances
        self._tests = _read(path) if path.exists() else {}

    @property
    def has_tests(self) -> bool:
        """Whether any test is on record."""
        return bool(self._tests)

    def knows(self, test: str) -> bool:
        """Return whether a test is on record."""
        return test in self._tests

    def verdict(self, test: str, record: Mapping[str, Any], advice: Sequence[str]) -> str | None:
        """Return how a test consumed more than its record and which lines grew, or None.

        Args:
            test: Its name.
            record: Its record in the session's report.
            advice: Changes that would help.
        """
        recorded = self._tests.get(test)
        if recorded is None:
            return None
        now = measured(record)
        grown = [
            tolerance
            for tolerance in self._tolerances
            if now[tolerance.field] > tolerance.most(recorded.get(tolerance.field, 0))
        ]
        if not grown:
            return None
        parts = [_EXCEEDED.format(path=self._path.name)]
        for tolerance in grown:
            field = tolerance.field
            before = recorded.get(field, 0)
            allowed = f"{before:g} on record, and {tolerance} more is allowed"
            parts.append(f"  {_amount(now[field], field)}: {allowed}")
        fields = [tolerance.field for tolerance in grown if tolerance.field != "scans"]
        parts += ["grown:", *_grown_lines(record, now, recorded, fields or ["calls"])]
        return "\n".join([*parts, "what to change:", *(f"  {line}" for line in advice), _MEANT])

    def write(self, records: Sequence[Mapping[str, Any]], *, only_new: bool, root: Path) -> None:
        """Put tests on record; others stay on record, as long as their file is there.

        Args:
            records: The records of tests in the session's report.
            only_new: Leave alone what is on record.
            root: The folder from which test names start.
        """
        tests = {
            test: recorded
            for test, recorded in self._tests.items()
            if (root / test.partition("::")[0]).exists()
        }
        for record in records:
            if not (only_new and record["test"] in tests):
                tests[record["test"]] = measured(record)
        document = {"version": VERSION, "tests": tests}
        text = json.dumps(document, indent=2, sort_keys=True) + "\n"
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(text, encoding="utf-8")


def _read(path: Path) -> dict[str, Measured]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise Fault(_NOT_A_RECORD.format(path=path, reason=_NOT_JSON)) from None
    if isinstance(document, dict) and document.get("version") == VERSION:
        tests = document.get("tests")
        if isinstance(tests, dict) and all(isinstance(test, dict) for test in tests.values()):
            return tests
    raise Fault(_NOT_A_RECORD.format(path=path, reason=_NOT_OURS.format(version=VERSION)))


def _amount(number: float, field: str) -> str:
    singular, plural = FIELDS[field]
    return f"{number:g} {singular if number == 1 else plural}"


def _grown_lines(
    record: Mapping[str, Any], now: Measured, recorded: Measured, fields: Sequence[str]
) -> Iterator[str]:
    """Yield the lines that consume more than they did, and how much."""
    before = recorded.get("lines", {})
    for name, line in now["lines"].items():
        was = before.get(name, {})
        words = [
            f"{_amount(line[field], field)}, {was.get(field, 0):g} on record"
            for field in fields
            if line[field] > was.get(field, 0)
        ]
        if words:
            entries = [entry for entry in record["entries"] if _line_of(entry) == name]
            places = ", ".join(dict.fromkeys(entry["where"] for entry in entries))
            what = f"{entries[0]['operation']} {_resource_of(entries[0])}"
            yield f"  {places} in {entries[0]['function']}: {what}: {'; '.join(words)}"
