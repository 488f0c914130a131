"""The differences between two sides, and whether they are worse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from emulator.designs import DeclaredTable, Finding
from emulator.designs.declared import unreadable
from emulator.designs.findings import SEVERITIES, Severity, gravest_first
from emulator.diff.sides import ONLY, RunLab, Side
from emulator.lab.outcome.expectations import GRADES
from emulator.lab.outcome.result_types import Comparison, DesignResult, MeasuredRefusals
from emulator.service.errors import DocumentError

Status = Literal["added", "removed", "changed"]

NEVER: Final = "never"
_REPLACED: Final = "its {what} changes, which no update can do: the table is replaced, and empty."
_KEEP_DATA: Final = (
    "Create a table beside it and move the items, for example by export and import, or keep the key"
)
_REPLACING: Final = ("key", "local indexes")


@dataclass(frozen=True)
class Difference:
    """One member before and after; None where it was or is not there."""

    what: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class TableChange:
    """A table that was added, removed or changed."""

    name: str
    status: Status
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class DesignChange:
    """A design of a lab file or result, before and after; None where it was or is not there."""

    file: str
    name: str
    before: DesignResult | None
    after: DesignResult | None
    differences: tuple[Difference, ...]
    #: Refusals that metrics counted under the load of the later side, or of the earlier.
    measured: MeasuredRefusals | None = None

    @property
    def is_worse(self) -> bool:
        """Return whether the grade fell."""
        if self.before is None or self.after is None:
            return False
        return GRADES.index(self.after.grade) < GRADES.index(self.before.grade)

    @property
    def increase(self) -> float | None:
        """The share by which a month costs more; None if there is no cost before."""
        if self.before is None or self.after is None:
            return None
        before, after = self.before.cost.total, self.after.cost.total
        return after / before - 1 if before else None


@dataclass(frozen=True)
class Changes:
    """All that differs, and how much of it fails a build."""

    tables: tuple[TableChange, ...]
    designs: tuple[DesignChange, ...]
    new_findings: tuple[Finding, ...]
    resolved_findings: tuple[Finding, ...]
    #: Lab files that are the same on both sides; they were not run.
    unchanged: tuple[str, ...] = ()

    @property
    def is_nothing(self) -> bool:
        """Return whether nothing differs."""
        return not (self.tables or self.designs or self.new_findings or self.resolved_findings)

    def failures(self, fail_on: str, max_increase: float | None) -> list[str]:
        """Return why a build should fail: one sentence each (ICH-86).

        Args:
            fail_on: The least severity of a new finding that fails, or ``never``.
            max_increase: The largest rise of a month's cost as a share, or None for any.
        """
        reasons = [
            f"{change.name} was {change.before.grade} and is {change.after.grade}"
            for change in self.designs
            if change.is_worse and change.before and change.after and fail_on != NEVER
        ]
        reasons += [
            f"{finding.subject}: new {finding.severity} {finding.rule}"
            for finding in self.new_findings
            if _is_grave(finding.severity, fail_on)
        ]
        if max_increase is not None:
            reasons += [
                f"{change.name} costs {change.increase:.1%} more a month, over {max_increase:.1%}"
                for change in self.designs
                if change.increase is not None and change.increase > max_increase
            ]
        return reasons


def _is_grave(severity: Severity, fail_on: str) -> bool:
    if fail_on == NEVER:
        return False
    least: Severity = "problem" if fail_on == "error" else fail_on  # type: ignore[assignment]  # argparse checks it
    return SEVERITIES.index(severity) <= SEVERITIES.index(least)


def changes(base: Side, head: Side, play: RunLab) -> Changes:
    """Return the differences of two sides; lab files that differ are run."""
    tables = tuple(_table_changes(base.tables, head.tables))
    same = [name for name, file in head.lab_files.items() if base.lab_files.get(name) == file]
    befores, old_failures = _run(base, same, play)
    afters, new_failures = _run(head, same, play)
    new, resolved = _finding_changes(
        [*base.findings, *old_failures, *_of_results(befores)],
        [*head.findings, *new_failures, *_of_results(afters), *_replaced(tables, head.findings)],
    )
    designs = tuple(_design_changes(befores, afters))
    return Changes(tables, designs, new, resolved, tuple(same))


def _run(
    side: Side, same: Sequence[str], play: RunLab
) -> tuple[dict[str, Comparison], list[Finding]]:
    """Return the results of a side; a lab file that cannot be run is a finding (ICH-3).

    Raises:
        DocumentError: It is the only one.
    """
    results = dict(side.results)
    failures: list[Finding] = []
    for name, file in side.lab_files.items():
        if name in same:
            continue
        try:
            results[name] = play(file, name)
        except DocumentError as error:
            if name == ONLY:
                raise
            failures.append(unreadable(name, error))
    return results, failures


# Tables


def _table_changes(
    before: Sequence[DeclaredTable], after: Sequence[DeclaredTable]
) -> Iterator[TableChange]:
    olds, news = _by_name(before), _by_name(after)
    for name in dict.fromkeys([*olds, *news]):
        old, new = olds.get(name), news.get(name)
        differences = tuple(
            _differences(
                {} if old is None else _described(old), {} if new is None else _described(new)
            )
        )
        if old is None or new is None:
            yield TableChange(name, "added" if old is None else "removed", differences)
        elif differences:
            yield TableChange(name, "changed", differences)


def _by_name(tables: Sequence[DeclaredTable]) -> dict[str, DeclaredTable]:
    """Return tables by what tells them apart: what the file calls them."""
    return {table.resource: table for table in tables}


def _described(table: DeclaredTable) -> dict[str, str]:
    """Return the properties of a table that a reviewer compares, by name."""
    request = table.request
    described = {
        "name": str(request.get("TableName")),
        "key": _key(request),
        "billing": str(request.get("BillingMode", "PROVISIONED")),
        "table class": str(request.get("TableClass", "STANDARD")),
    }
    described |= _throughput(request, "")
    locals_ = request.get("LocalSecondaryIndexes", ())
    if locals_:
        described["local indexes"] = ", ".join(sorted(map(_index, locals_)))
    for index in request.get("GlobalSecondaryIndexes", ()):
        described[f"index {index.get('IndexName')}"] = _index(index)
        described |= _throughput(index, f"index {index.get('IndexName')} ")
    if table.ttl_attribute is not None:
        described["time to live"] = table.ttl_attribute
    stream = request.get("StreamSpecification", {})
    if stream.get("StreamEnabled"):
        described["stream"] = str(stream.get("StreamViewType"))
    return described


def _key(described: Mapping[str, Any]) -> str:
    """Return a key as ``partition / sort``, types left out."""
    parts = {"HASH": [], "RANGE": []}  # type: dict[str, list[str]]
    for element in described.get("KeySchema", ()):
        parts[element["KeyType"]].append(element["AttributeName"])
    return " / ".join(", ".join(names) for names in parts.values() if names)


def _index(index: Mapping[str, Any]) -> str:
    projection = index.get("Projection", {})
    included = ", ".join(sorted(projection.get("NonKeyAttributes", ())))
    kind = projection.get("ProjectionType", "ALL")
    return f"{_key(index)}, {kind}{f' ({included})' if included else ''}"


def _throughput(described: Mapping[str, Any], prefix: str) -> dict[str, str]:
    return {
        f"{prefix}{member}": str(described[member_of][member])
        for member_of in ("ProvisionedThroughput", "OnDemandThroughput", "WarmThroughput")
        for member in described.get(member_of) or {}
    }


def _differences(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Difference]:
    for what in dict.fromkeys([*old, *new]):
        if old.get(what) != new.get(what):
            yield Difference(what, old.get(what), new.get(what))


def _replaced(tables: Sequence[TableChange], known: Sequence[Finding]) -> Iterator[Finding]:
    """Yield a problem for every table whose change cannot be an update, unless a plan says it."""
    replaced = {finding.subject for finding in known if finding.rule == "table-replaced"}
    for table in tables:
        replacing = [
            difference.what for difference in table.differences if difference.what in _REPLACING
        ]
        if table.status == "changed" and replacing and table.name not in replaced:
            message = _REPLACED.format(what=" and ".join(replacing))
            yield Finding("table-replaced", "problem", table.name, message, _KEEP_DATA, "KeySchema")


# Findings


def _of_results(results: Mapping[str, Comparison]) -> Iterator[Finding]:
    for comparison in results.values():
        for design in comparison.designs:
            for finding in design.findings:
                subject = finding.subject
                if subject != design.name:
                    subject = f"{design.name}: {subject}"
                yield Finding(finding.rule, finding.severity, subject, finding.message, finding.fix)


def _finding_changes(
    before: Sequence[Finding], after: Sequence[Finding]
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Return the new and the resolved findings; none of a refused table counts as resolved."""
    olds = {finding.fingerprint for finding in before}
    news = {finding.fingerprint for finding in after}
    unchecked = {finding.subject for finding in after if finding.rule == "refused"}
    new = gravest_first(finding for finding in after if finding.fingerprint not in olds)
    resolved = gravest_first(
        finding
        for finding in before
        if finding.fingerprint not in news and finding.subject.split(" ")[0] not in unchecked
    )
    return tuple(new), tuple(resolved)


# Designs of the lab


def _design_changes(
    befores: Mapping[str, Comparison], afters: Mapping[str, Comparison]
) -> Iterator[DesignChange]:
    for file in dict.fromkeys([*befores, *afters]):
        before, after = befores.get(file), afters.get(file)
        olds, news = _designs_of(before), _designs_of(after)
        measured = next((side.measured for side in (after, before) if side and side.measured), None)
        for name in dict.fromkeys([*olds, *news]):
            old, new = olds.get(name), news.get(name)
            differences = tuple(
                _differences(
                    {} if old is None else dict(_flat(old.design)),
                    {} if new is None else dict(_flat(new.design)),
                )
            )
            yield DesignChange(file, name, old, new, differences, measured)


def _designs_of(comparison: Comparison | None) -> dict[str, DesignResult]:
    return {} if comparison is None else {design.name: design for design in comparison.designs}


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the members of a document by their path, such as ``indexes byStatus partition``."""
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield from _flat(member, f"{path} {name}".strip())
    elif isinstance(value, list | tuple) and any(isinstance(member, Mapping) for member in value):
        for number, member in enumerate(value):
            yield from _flat(member, f"{path} {member.get('name', number)}")
    elif isinstance(value, list | tuple):
        yield path, ", ".join(map(str, value))
    else:
        yield path, str(value)
