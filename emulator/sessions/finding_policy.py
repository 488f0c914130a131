"""Which findings are reported, and which of them fail a test (ICH-112)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final, NamedTuple

from emulator.observe import (
    KINDS,
    REPEAT_THRESHOLD,
    CallFinding,
    file_of,
    function_of,
)
from emulator.sessions import Fault
from emulator.sessions.accepted_findings import Accepted, read_baseline

MODES: Final = ("off", "warn", "fail")
#: What people call a kind besides its name.
OTHER_NAMES: Final = {"throttle": "would-throttle"}

_UNKNOWN_KIND: Final = "there is no finding {name!r}; there are throttle, {known}"
_NOT_A_MODE: Final = "findings is one of off, warn, fail, not {value!r}"
_NOT_A_THRESHOLD: Final = "repeat_threshold is a whole number of at least 2, not {value!r}"
_NOT_IGNORED: Final = (
    "ignore: {line!r} is not of the form KIND TABLE [file=PATTERN] [function=PATTERN]"
)
_FAILED: Final = "this could be improved, and the session fails on it:"


class Ignored(NamedTuple):
    """Findings that a project lives with; patterns are those of a shell."""

    kind: str
    table: str
    file: str = "*"
    function: str = "*"

    def covers(self, finding: CallFinding) -> bool:
        """Return whether a finding is one of these."""
        return (
            self.kind in ("*", finding.kind)
            and fnmatch(finding.table, self.table)
            and fnmatch(file_of(finding.place), self.file)
            and fnmatch(function_of(finding.place), self.function)
        )


class FindingsPolicy(NamedTuple):
    """What a project says about findings.

    Attributes:
        is_on: Whether they are reported at all.
        fail_on: The kinds that fail a test.
        threshold: From how many calls at one line a call is repeated.
        ignored: What is not reported.
        accepted: Of the baseline: what was there before; it is not reported either.
    """

    is_on: bool = True
    fail_on: frozenset[str] = frozenset()
    threshold: int = REPEAT_THRESHOLD
    ignored: tuple[Ignored, ...] = ()
    accepted: frozenset[Accepted] = frozenset()

    def leaves_out(self, finding: CallFinding) -> bool:
        """Return whether a finding is not reported."""
        label = finding.table if finding.index is None else f"{finding.table}.{finding.index}"
        place = Accepted(finding.kind, label, file_of(finding.place), function_of(finding.place))
        return place in self.accepted or any(rule.covers(finding) for rule in self.ignored)

    @property
    def fails_on_throttles(self) -> bool:
        """Whether a test fails if it would throttle."""
        return "would-throttle" in self.fail_on


def policy_of(written: Mapping[str, Any]) -> FindingsPolicy:
    """Return the policy of the command line and the ini file for findings.

    Args:
        written: What they say: ``findings``, ``fail_on``, ``repeat_threshold``, ``ignore`` and
            ``baseline``, the path of the findings that were there before.

    Raises:
        Fault: something of it is wrong.
    """
    mode = written.get("findings") or "warn"
    if mode not in MODES:
        raise Fault(_NOT_A_MODE.format(value=mode))
    kinds = kinds_of(written.get("fail_on", "").replace(",", " ").split())
    return FindingsPolicy(
        is_on=mode != "off" or bool(kinds),
        fail_on=frozenset(KINDS) if mode == "fail" else kinds,
        threshold=_threshold(written.get("repeat_threshold") or REPEAT_THRESHOLD),
        ignored=tuple(map(_ignored, written.get("ignore") or ())),
        accepted=read_baseline(Path(written["baseline"])) if "baseline" in written else frozenset(),
    )


def kinds_of(names: Iterable[str]) -> frozenset[str]:
    """Return the kinds of findings that names stand for.

    >>> sorted(kinds_of(["throttle", "scan"]))
    ['scan', 'would-throttle']

    Raises:
        Fault: there is no such kind.
    """
    kinds = set()
    for name in names:
        kind = OTHER_NAMES.get(name, name)
        if kind not in KINDS:
            raise Fault(_UNKNOWN_KIND.format(name=name, known=", ".join(KINDS)))
        kinds.add(kind)
    return frozenset(kinds)


def _threshold(text: Any) -> int:
    try:
        threshold = int(text)
    except ValueError:
        threshold = 0
    if threshold < 2:
        raise Fault(_NOT_A_THRESHOLD.format(value=text))
    return threshold


def _ignored(line: str) -> Ignored:
    words = line.split()
    options = dict(word.partition("=")[::2] for word in words[2:])
    if len(words) < 2 or not options.keys() <= {"file", "function"}:
        raise Fault(_NOT_IGNORED.format(line=line))
    kind = "*" if words[0] == "*" else next(iter(kinds_of(words[:1])))
    return Ignored(kind, words[1], **options)


def verdict(findings: Iterable[CallFinding], policy: FindingsPolicy) -> str | None:
    """Return why a test fails for its findings, or None."""
    failing = [finding for finding in findings if finding.kind in policy.fail_on]
    if not failing:
        return None
    return "\n".join([_FAILED, *(f"  {finding}" for finding in failing)])
