"""Contributor Insights as the popularity of keys (ICH-65, ICH-66)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from emulator.lab.inputs.distributions import Weights
from emulator.lab.inputs.patterns import Field
from emulator.lab.inputs.workload import Workload
from emulator.service.errors import DocumentError

#: More values than this are not told apart; their share stays the same.
MOST_OTHERS: Final = 20_000


def is_report(document: Any) -> bool:
    """Return whether a document is what get-insight-rule-report prints."""
    return isinstance(document, Mapping) and {"KeyLabels", "Contributors"} <= set(document)


def with_popularity(
    workload: Workload,
    report: Mapping[str, Any],
    source: str,
    *,
    total: float | None = None,
    anonymous: bool = False,
) -> Workload:
    """Return a workload in which keys are as popular as a report says.

    The contributors have their shares; the rest is spread evenly over the other values.

    Args:
        workload: With a field of the key's name.
        report: The output of get-insight-rule-report.
        source: The file, for complaints.
        total: Read units and three times the write units of the same time, if they are known.
        anonymous: Give keys other names.

    Raises:
        DocumentError: The report has another form, or the workload no such field.
    """
    try:
        label = str(report["KeyLabels"][0])
        values: dict[str, float] = {}
        for contributor in report["Contributors"]:
            key = str(contributor["Keys"][0])
            amount = float(contributor["ApproximateAggregateValue"])
            values[key] = values.get(key, 0.0) + amount
        whole = float(total or report.get("AggregateValue") or sum(values.values()))
        unique = int(report.get("ApproximateUniqueCount") or len(values))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise DocumentError(f"{source}: expected what get-insight-rule-report prints") from error
    known = {field.name: field for field in workload.fields}
    if label not in known:
        raise DocumentError(
            f"{source}: its key is {label!r}; the workload has {', '.join(known) or 'no fields'}"
        )
    field = known[label]
    count = max(field.size if field.count is not None else 0, unique, len(values))
    made = _field(label, values, whole, count - len(values), anonymous=anonymous)
    fields = tuple(made if other.name == label else other for other in workload.fields)
    return replace(workload, fields=fields)


def _field(
    name: str, values: Mapping[str, float], whole: float, others: int, *, anonymous: bool
) -> Field:
    ranked = sorted(values.items(), key=lambda pair: -pair[1])
    names = [f"{name}-{rank}" if anonymous else key for rank, (key, _) in enumerate(ranked, 1)]
    weights = [weight for _, weight in ranked]
    rest = max(0.0, whole - sum(weights))
    others = min(others, MOST_OTHERS)
    if others > 0:
        names += [f"{name}-other-{number}" for number in range(others)]
        weights += [rest / others] * others
    return Field(name, values=tuple(names), distribution=Weights(tuple(weights)))
