"""Verdict: a grade, and one sentence on how a design does."""

from __future__ import annotations

from typing import Literal

from emulator.lab.analysis.case import Case, axis_of
from emulator.lab.outcome import words
from emulator.lab.outcome.result_types import Headroom, ResourceResult
from emulator.lab.outcome.thresholds import THRESHOLD, TIGHT, UNEVEN
from emulator.service.limits import PARTITION_UNITS
from emulator.service.throttling import AXES, ThrottlingLimit, parse_reason

Grade = Literal["fine", "tight", "throttles"]


def grade(case: Case) -> Grade:
    """Return how the design does."""
    if case.throttled_share >= THRESHOLD or case.closing_index is not None:
        return "throttles"
    room = case.headroom
    if room is not None and not room.at_least and room.multiple < TIGHT:
        return "tight"
    return "fine"


def sentence(case: Case) -> str:
    """Return the verdict in one sentence."""
    name = case.layout.design.name
    graded = grade(case)
    room, share = case.headroom, case.throttled_share
    if not any(pattern.requests for pattern in case.patterns):
        return f"{name} is fine: it is asked for nothing."
    if graded == "fine":
        spare = "" if room is None else f", and it carries {_multiple(room)} times this load"
        little = f"only {share:.2g} of all calls" if share else "nothing"
        return f"{name} is fine: {little} is throttled{spare}."
    if graded == "tight" and room is not None:
        limit = f", then {room.limited_by} begins" if room.limited_by else ""
        return f"{name} is tight: it carries only {_multiple(room)} times this load{limit}."
    if share < THRESHOLD and case.closing_index is not None:
        return f"{name} throttles if this load goes on: {_closing(case.closing_index)}."
    return f"{name} throttles {share:.1%} of calls: {_cause(case)}."


def _closing(index: ResourceResult) -> str:
    """Return when an index that falls behind closes its table's writes (CAP2-4)."""
    backlog = index.backlog
    assert backlog is not None, "an index that closes has a backlog"
    assert backlog.closes_after is not None, "and a time for it"
    return (
        f"{index.name} falls behind, {backlog.units:,.0f} write units at the end, and refuses "
        f"every write to its table after {words.duration(backlog.closes_after)}"
    )


def _multiple(room: Headroom) -> str:
    return f"{'at least ' if room.at_least else ''}{room.multiple:.3g}"


def _cause(case: Case) -> str:
    """Return why calls are refused, in the words of the leading reason."""
    reason = case.reasons[0]
    _, axis, limit = parse_reason(reason)
    resource = case.refusing_resource(reason)
    word = axis.lower()
    asked = case.offered[resource.name].axis(AXES.index(axis))
    if limit is ThrottlingLimit.KEY_RANGE:
        return _full_partition(resource, reason, asked)
    if limit is ThrottlingLimit.ACCOUNT:
        return f"{resource.name} is asked for {asked:,.0f} {word} units a second, over its quota"
    provided = max(axis_of(resource, reason).per_minute.provisioned, default=0.0)
    return (
        f"{resource.name} is asked for up to {asked:,.0f} {word} units a second and has "
        f"{provided:,.0f}"
    )


def _full_partition(resource: ResourceResult, reason: str, asked: float) -> str:
    """Return what fills a partition: one key, several that lie together, or the whole load."""
    axis = parse_reason(reason).axis
    word, rate = axis.lower(), PARTITION_UNITS[AXES.index(axis)]
    count = min(resource.partitions_per_minute, default=1)
    key, partition = resource.hottest_key_share, resource.hottest_partition_share
    if partition * count < UNEVEN and asked > count * rate:
        return (
            f"{resource.name} is asked for up to {asked:,.0f} {word} units a second, and its "
            f"{count} partitions carry {count * rate:,}"
        )
    if key > 0.5 and resource.top_keys:
        who, share = f"the key {resource.top_keys[0].key!r}", key
    else:
        who, share = f"one partition of {resource.name}", partition
    unused = ""
    utilisation = axis_of(resource, reason).utilisation
    if utilisation is not None and utilisation < 0.8:
        unused = f" while {1 - utilisation:.0%} of the {word} capacity is unused"
    return (
        f"{who} gets {share:.0%} of the traffic of {resource.name}, and a partition stops at "
        f"{rate:,} {word} units a second{unused}"
    )
