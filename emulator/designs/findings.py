"""Findings: what reading or checking a design shows, and where it stands in a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final, Literal, NamedTuple

Severity = Literal["info", "warning", "problem"]
#: The gravest first.
SEVERITIES: Final[tuple[Severity, ...]] = ("problem", "warning", "info")
_FINGERPRINT_DIGITS: Final = 16


class Position(NamedTuple):
    """Lines and columns of something in a file, from 1; the end column is past the last sign."""

    line: int
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a rule says about a design (ICH-5, ICH-103).

    >>> finding = Finding("time-key", "warning", "orders", "It is a date.", "Change it.")
    >>> finding.rule, finding.at("main.tf", Position(4)).line
    ('time-key', 4)
    """

    #: The rule's id, one of ``emulator.designs.catalogue``.
    check: str
    severity: Severity
    #: The table, index or pattern it is about.
    subject: str
    message: str
    fix: str
    #: What of the subject it is about, as the service calls it: KeySchema, Projection.
    attribute: str | None = None
    file: str | None = None
    #: From 1, as all of these.
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None

    @property
    def rule(self) -> str:
        """The rule's id; a second name of ``check``."""
        return self.check

    @property
    def fingerprint(self) -> str:
        """What stays the same when the finding moves to another line (ICH-82).

        >>> Finding("a", "info", "t", "m", "f").fingerprint
        'ecd4cd631e739c51'
        """
        text = "\0".join((self.check, self.subject, self.attribute or ""))
        return sha256(text.encode()).hexdigest()[:_FINGERPRINT_DIGITS]

    def at(self, file: str, position: Position | None = None) -> Finding:
        """Return the finding with the place it stands at."""
        places = {} if position is None else position._asdict()
        return replace(self, file=file, **places)


def gravest_first(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings by severity; equal ones stay in their order."""
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


def counted(findings: Iterable[Finding]) -> dict[Severity, int]:
    """Return how many findings there are of each severity, the gravest first.

    >>> counted([Finding("a", "info", "t", "m", "f")])
    {'problem': 0, 'warning': 0, 'info': 1}
    """
    listed = [finding.severity for finding in findings]
    return {severity: listed.count(severity) for severity in SEVERITIES}


def in_words(counts: dict[Severity, int]) -> str:
    """Return counts as a reader wants them.

    >>> in_words({"problem": 0, "warning": 2, "info": 3}), in_words({})
    ('2 warnings, 3 info', 'no findings')
    """
    shown = [
        f"{count} {severity if severity == 'info' or count == 1 else severity + 's'}"
        for severity, count in counts.items()
        if count
    ]
    return ", ".join(shown) or "no findings"


def sentence(text: str) -> str:
    """Return a text with a capital at its beginning and a full stop at its end.

    A name at its beginning is left as it is written.

    >>> sentence("make {deviceId} the partition key"), sentence("read_capacity is 5.")
    ('Make {deviceId} the partition key.', 'read_capacity is 5.')
    """
    stopped = text if text.endswith((".", "!", "?")) else f"{text}."
    first = stopped.split(maxsplit=1)[0]
    is_name = "_" in first or first.endswith(":") or first[1:] != first[1:].lower()
    return stopped if is_name else stopped[:1].upper() + stopped[1:]
