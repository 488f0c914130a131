"""The answers of the tools: data for the agent, and a paragraph that says the same.

Shares are 0 to 1, costs US dollars a month, times seconds; what is not known is None (ICH-103).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class FindingAnswer:
    """One finding about a design."""

    rule: str
    severity: str
    subject: str
    message: str
    fix: str
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, kw_only=True)
class CheckAnswer:
    """The findings on the tables of a design, the gravest first."""

    findings: list[FindingAnswer]
    tables: list[str]
    #: How many findings there are, by severity.
    counts: dict[str, int]
    #: How many are not listed.
    left_out: int = 0

    @property
    def paragraph(self) -> str:
        """The answer as text."""
        if not self.findings:
            return f"Nothing to object to in {', '.join(self.tables) or 'this design'}."
        counts = ", ".join(f"{count} {severity}" for severity, count in self.counts.items())
        lines = [
            f"[{finding.severity}] {finding.rule}: {finding.subject}: {finding.message} "
            f"Fix: {finding.fix}"
            for finding in self.findings
        ]
        return "\n".join([f"{counts}.", *lines])


@dataclass(frozen=True, kw_only=True)
class RiskAnswer:
    """The chance that a design throttles, with its 95 % interval."""

    chance: float
    low: float
    high: float
    worlds: int


@dataclass(frozen=True, kw_only=True)
class PatternAnswer:
    """One access pattern in the median world."""

    name: str
    calls: float
    throttled: float
    reasons: dict[str, float]
    read: float
    write: float


@dataclass(frozen=True, kw_only=True)
class ResourceAnswer:
    """One table or index in the median world."""

    name: str
    hottest_partition_share: float
    hottest_key_share: float
    partitions: int


@dataclass(frozen=True, kw_only=True)
class SimulateAnswer:
    """How a design does under a workload."""

    name: str
    #: From worst: throttles, risky, heals, tight, fine.
    grade: str
    risk: RiskAnswer
    verdict: str
    throttled_share: float
    first_throttle_seconds: float | None
    #: The largest multiple of the load that passes; None if it was not looked for.
    headroom: float | None
    #: The smallest change that holds in 95 % of worlds; None if none is needed or was found.
    fix: str | None
    monthly_cost: float
    patterns: list[PatternAnswer]
    resources: list[ResourceAnswer]
    #: How many patterns and resources are not listed.
    left_out: int
    assumptions: list[str]

    @property
    def paragraph(self) -> str:
        """The answer as text."""
        fix = f" Smallest fix: {self.fix}." if self.fix else ""
        cost = f" A month costs ${self.monthly_cost:,.2f}."
        return f"{self.verdict}{fix}{cost} Assumed: {' '.join(self.assumptions)}"


@dataclass(frozen=True, kw_only=True)
class CompareAnswer:
    """Several designs under one workload, the best by grade, chance and cost first."""

    best: str
    designs: list[SimulateAnswer]

    @property
    def paragraph(self) -> str:
        """The answer as text."""
        verdicts = " ".join(
            f"{design.verdict} ${design.monthly_cost:,.2f} a month." for design in self.designs
        )
        return f"Best: {self.best}. {verdicts}"


@dataclass(frozen=True, kw_only=True)
class ErrorAnswer:
    """How the service refuses a request."""

    code: str
    message: str | None
    #: The reasons of a throttled request.
    reasons: list[str]


@dataclass(frozen=True, kw_only=True)
class ExecuteAnswer:
    """The answer to a request, and the units that it consumed."""

    ok: bool
    response: dict[str, Any] | None
    error: ErrorAnswer | None
    #: Units, indexes included.
    read: float
    write: float
    #: How many elements of lists in the response are not shown.
    left_out: int = 0

    @property
    def paragraph(self) -> str:
        """The answer as text."""
        units = f"It consumed {self.read:g} read and {self.write:g} write units."
        if self.error is None:
            return f"Served. {units}"
        reasons = f" ({', '.join(self.error.reasons)})" if self.error.reasons else ""
        return f"Refused: {self.error.code}: {self.error.message or ''}{reasons}. {units}"


@dataclass(frozen=True, kw_only=True)
class Cure:
    """A change that helps, and what it does."""

    change: str
    effect: str


@dataclass(frozen=True, kw_only=True)
class ExplainAnswer:
    """Why a request was throttled, and what helps; the likeliest cure first."""

    #: As the wire names it; None if the error does not say.
    reason: str | None
    #: The table or index.
    resource: str | None
    #: ``read`` or ``write``.
    axis: str | None
    #: Units per second that were exceeded; None if it depends on settings that were not given.
    limit: float | None
    meaning: str
    cures: list[Cure] = field(default_factory=list)

    @property
    def paragraph(self) -> str:
        """The answer as text."""
        cures = " ".join(f"{cure.change} ({cure.effect})." for cure in self.cures)
        return f"{self.meaning} What helps: {cures}"
