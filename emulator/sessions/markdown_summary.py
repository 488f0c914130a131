"""What tests consumed as Markdown, for the summary of a build (ICH-83)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from emulator.sessions.accepted_findings import accepted_of
from emulator.sessions.session_report import Record, dearest, throttle_text, would_throttle

_MOST_SHOWN: Final = 10


def markdown_summary(records: Sequence[Record]) -> str:
    """Return throttles, findings and the dearest tests; nothing if there is none."""
    lines = [*_throttles(records), *_findings(records), *_costs(records)]
    return "\n".join(["### DynamoDB in the tests", *lines]) if lines else ""


def _throttles(records: Sequence[Record]) -> Iterator[str]:
    throttled = would_throttle(records)
    if not throttled:
        return
    yield from ("", "**Would throttle**", "", "| test | limit | remedy |", "|---|---|---|")
    for record in throttled[:_MOST_SHOWN]:
        limits = "<br>".join(
            f"{throttle['times']} x {throttle_text(throttle)}" for throttle in record["throttles"]
        )
        cures = "<br>".join(
            dict.fromkeys(
                finding["cure"]
                for finding in record["findings"]
                if finding["kind"] == "would-throttle"
            )
        )
        yield f"| `{record['test']}` | {limits} | {cures} |"


def _findings(records: Sequence[Record]) -> Iterator[str]:
    places = {
        (accepted_of(finding), finding["where"]): finding
        for record in records
        for finding in record["findings"]
        if finding["kind"] != "would-throttle"
    }
    if not places:
        return
    yield from (
        "",
        "**Could be improved**",
        "",
        "| | where | what | remedy |",
        "|---|---|---|---|",
    )
    for (accepted, where), finding in list(places.items())[:_MOST_SHOWN]:
        yield f"| {accepted.kind} | {where} | {finding['what']} | {finding['cure']} |"
    if len(places) > _MOST_SHOWN:
        yield f"\n{len(places) - _MOST_SHOWN} more are in the report."


def _costs(records: Sequence[Record]) -> Iterator[str]:
    ranked = dearest(records)[:_MOST_SHOWN]
    if not ranked:
        return
    yield from ("", "| most expensive tests | read units | write units | calls |")
    yield "|---|---:|---:|---:|"
    for record in ranked:
        units = f"{record['read_units']:g} | {record['write_units']:g} | {record['calls']}"
        yield f"| `{record['test']}` | {units} |"
