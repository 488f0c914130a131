"""The verdict: how likely a design throttles, why, and the grade that goes with it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from emulator.capacity import READ, WRITE
from emulator.lab.analysis.case import Case, axis_of
from emulator.lab.analysis.headroom import CLOSE
from emulator.lab.analysis.offered_load import ROUNDING, mean_offered
from emulator.lab.outcome import words
from emulator.lab.outcome.result_types import Grade, Headroom, ResourceResult, Risk
from emulator.lab.outcome.risk import is_near_the_line
from emulator.lab.outcome.thresholds import CERTAIN, MOST_WORLDS, THRESHOLD, TIGHT, UNEVEN, UNLIKELY
from emulator.service.limits import PARTITION_UNITS
from emulator.service.throttling import AXES, ThrottlingLimit, parse_reason


@dataclass(frozen=True)
class Judged:
    """What the verdict on a design rests on.

    Attributes:
        case: The median world.
        risk: The share of worlds that throttle.
        throttling: A typical world in which the design throttles, if there is one.
        headroom: How much more it carries, if that was looked for.
    """

    case: Case
    risk: Risk
    throttling: Case | None
    headroom: Headroom | None


def grade(risk: Risk, headroom: Headroom | None) -> Grade:
    """Return how a design does, from the chance that it throttles.

    >>> grade(Risk(chance=1.0, low=0.95, high=1.0, worlds=73), None)
    'throttles'
    """
    if risk.chance > CERTAIN:
        return "throttles"
    if risk.chance >= UNLIKELY:
        return "risky"
    if headroom is not None and not headroom.at_least and headroom.multiple < TIGHT:
        return "tight"
    return "fine"


def is_at_risk(risk: Risk) -> bool:
    """Return whether a design throttles, or is risky."""
    return grade(risk, None) in ("throttles", "risky")


def sentence(judged: Judged) -> str:
    """Return the verdict in one or two sentences."""
    name = judged.case.layout.design.name
    if not any(pattern.requests for pattern in judged.case.patterns):
        return f"{name} is fine: it is asked for nothing."
    near = _how_sure(judged.risk)
    room = judged.headroom
    graded = grade(judged.risk, room)
    if judged.throttling is not None and is_at_risk(judged.risk):
        worse = "throttles" if graded == "throttles" else "is risky: it throttles"
        where = "a typical world" if judged.risk.chance == 1 else "a typical one of these"
        happens = _what_happens(judged.throttling)
        splits = _what_splits_do(judged.throttling, where)
        hidden = _what_reserves_hide(judged)
        return f"{name} {worse} in {chance(judged.risk)}{near}; {happens}.{splits}{hidden}"
    rarely = f"it throttles in {chance(judged.risk)}{near}"
    if graded == "tight" and room is not None:
        limit = f"; beyond that, {words.reason(room.limited_by)}" if room.limited_by else ""
        return (
            f"{name} is tight: {rarely}, but carries only {_multiple(room)} times this load{limit}."
            f"{_what_reserves_hide(judged)}"
        )
    spare = "" if room is None else f", and it carries {_multiple(room)} times this load"
    return f"{name} is fine: {rarely}{spare}.{_what_reserves_hide(judged)}"


def chance(risk: Risk) -> str:
    """Return the chance in words, with its interval.

    >>> chance(Risk(chance=0.83, low=0.71, high=0.91, worlds=60)).replace(words.SPACE, " ")
    '83 % of 60 worlds (71 to 91 %)'
    >>> chance(Risk(chance=0.995, low=0.972, high=0.999, worlds=200)).replace(words.SPACE, " ")
    '99.5 % of 200 worlds (97 to 100 %)'
    >>> chance(Risk(chance=0.0, low=0.0, high=0.0499, worlds=73))
    'none of 73 worlds (0 to 5 %)'
    """
    share = "none" if not risk.chance else "all" if risk.chance == 1 else words.percent(risk.chance)
    return f"{share} of {words.counted(risk.worlds, 'world')} ({interval(risk)})"


def interval(risk: Risk) -> str:
    """Return the bounds of a chance in percent.

    >>> interval(Risk(chance=0.83, low=0.714, high=0.906, worlds=60))
    '71 to 91 %'
    """
    return f"{risk.low * 100:.0f} to {risk.high * 100:.0f} %"


def _how_sure(risk: Risk) -> str:
    """Return what keeps the interval from deciding the grade; nothing if it does decide it.

    >>> _how_sure(Risk(chance=0.0, low=0.0, high=0.1611, worlds=20))
    ', near the line for so few worlds'
    >>> _how_sure(Risk(chance=0.955, low=0.917, high=0.976, worlds=200))
    ', near the line'
    """
    if not is_near_the_line(risk):
        return ""
    return ", near the line" if risk.worlds >= MOST_WORLDS else ", near the line for so few worlds"


def _what_happens(case: Case) -> str:
    """Return what a typical world that throttles looks like, and why."""
    if case.throttled_share < THRESHOLD and case.closing_index is not None:
        return f"if this load goes on, {_closing(case, case.closing_index)}"
    return f"when it does, {words.percent(case.throttled_share)} of calls: {_cause(case)}"


def _what_splits_do(case: Case, where: str) -> str:
    """Return, as a sentence, what splits do about a full partition; nothing if none was due."""
    reason = case.reasons[0]
    if parse_reason(reason).limit is not ThrottlingLimit.KEY_RANGE:
        return ""
    resource = case.refusing_resource(reason)
    splits = resource.busy_splits
    done = [split for split in splits if split.children]
    if not done:
        causes = sorted({split.cause for split in splits})
        return f" No split helps: {' and '.join(causes)}." if causes else ""
    first = min(done, key=lambda split: split.time)
    heat = resource.heat
    last, end = heat.last_refusal, len(heat.throttled) * heat.step_seconds
    is_refused = case.throttled_share >= THRESHOLD
    after = words.duration(first.time)
    if last is None or last >= end:
        then = "calls are still refused" if is_refused else "entries still wait"
        then += " at the end"
    else:
        then = "no call is refused" if is_refused else "no entry waits"
        then += f" after {words.duration(last)}"
        if last <= first.time:
            return f" In {where} {then}; it splits for {first.cause} only after {after}."
    return f" In {where} it splits for {first.cause} after {after}, and {then}."


def _what_reserves_hide(judged: Judged) -> str:
    """Return, as a sentence, that a load which goes on is only carried by unused capacity.

    Whatever the world, the reserve of a table that is asked for more than it has runs out; a run
    of some minutes may end before (CAP-601). A load that comes now and then fills it up again.
    """
    case, room = judged.case, judged.headroom
    workload = case.layout.workload
    if judged.risk.chance == 1 or workload.every is not None:
        return ""
    multiples = []
    for resource in case.resources:
        for axis in (READ, WRITE):
            rate = _steady_rate(case, resource, axis)
            asked = mean_offered(case.patterns, resource, axis, workload.duration)
            if rate is None or asked <= ROUNDING:
                continue
            if asked > rate + ROUNDING:
                where = " In the other worlds only" if is_at_risk(judged.risk) else " Only"
                return (
                    f"{where} a reserve of unused capacity carries it: on average "
                    f"{words.resource(resource.name)} is asked for {asked:,.0f} "
                    f"{AXES[axis].lower()} units a second and has {rate:,.0f}, so a "
                    "longer run throttles in the end."
                )
            multiples.append(rate / asked)
    steady = min(multiples, default=math.inf)
    if room is None or is_at_risk(judged.risk) or room.multiple <= steady * CLOSE:
        return ""
    return f" Beyond {steady:.3g} times only a reserve of unused capacity carries it, for a while."


def _steady_rate(case: Case, resource: ResourceResult, axis: int) -> float | None:
    """Return the units a second that a limit with a reserve allows for good; None without one."""
    result = resource.write if axis == WRITE else resource.read
    if result.utilisation is None:
        capacity = case.layout.capacities[resource.name]
        return capacity.max_write if axis == WRITE else capacity.max_read
    provided = set(result.fine.provisioned)
    return min(provided) if len(provided) == 1 else None


def _closing(case: Case, index: ResourceResult) -> str:
    """Return when an index that falls behind closes its table's writes (CAP2-4)."""
    backlog = index.backlog
    assert backlog is not None, "an index that closes has a backlog"
    assert backlog.closes_after is not None, "and a time for it"
    is_refused = any(not split.children for split in index.busy_splits)
    is_full = parse_reason(backlog.reason).limit is ThrottlingLimit.KEY_RANGE
    may_split = is_full and not is_refused and not case.is_in_order(index)
    unless = " unless its busy partition splits before" if may_split else ""
    return (
        f"{words.resource(index.name)} falls behind, {backlog.units:,.0f} write units at the end, "
        f"and refuses every write to its table after {words.duration(backlog.closes_after)}{unless}"
    )


def _multiple(room: Headroom) -> str:
    return f"{'at least ' if room.at_least else ''}{room.multiple:.3g}"


def _cause(case: Case) -> str:
    """Return why calls are refused, in the words of the leading reason."""
    reason = case.reasons[0]
    _, axis, limit = parse_reason(reason)
    resource = case.refusing_resource(reason)
    name, word = words.resource(resource.name), axis.lower()
    asked = case.offered[resource.name].axis(AXES.index(axis))
    if limit is ThrottlingLimit.KEY_RANGE:
        return _full_partition(resource, reason, asked)
    if limit is ThrottlingLimit.ACCOUNT:
        return f"{name} is asked for {asked:,.0f} {word} units a second, over its quota"
    provided = axis_of(resource, reason).per_minute.provisioned
    least, most = min(provided, default=0.0), max(provided, default=0.0)
    has, scaling = f" and has {most:,.0f}", case.layout.capacities[resource.name].scaling
    if scaling is not None and most >= scaling.maximum:
        has = f", and auto scaling stops at its maximum of {most:,.0f}"
    elif scaling is not None and least < most:
        has = f", and auto scaling provides {least:,.0f} to {most:,.0f}, minutes late"
    return f"{name} is asked for up to {asked:,.0f} {word} units a second{has}"


def _full_partition(resource: ResourceResult, reason: str, asked: float) -> str:
    """Return what fills a partition: one key, several that lie together, or the whole load."""
    axis = parse_reason(reason).axis
    name, word, rate = (
        words.resource(resource.name),
        axis.lower(),
        PARTITION_UNITS[AXES.index(axis)],
    )
    count = min(resource.partitions_per_minute, default=1)
    key, partition = resource.hottest_key_share, resource.hottest_partition_share
    if partition * count < UNEVEN and asked > count * rate:
        return (
            f"{name} is asked for up to {asked:,.0f} {word} units a second, and its "
            f"{'one partition carries' if count == 1 else f'{count} partitions carry'} "
            f"{count * rate:,}"
        )
    if key > 0.5 and resource.top_keys:
        who = f"the key {resource.top_keys[0].key!r} gets {words.percent(key)} of the traffic"
    else:
        who = f"one of {count} partitions of {name} gets {words.percent(partition)} of the traffic"
    unused = ""
    utilisation = axis_of(resource, reason).utilisation
    if utilisation is not None and utilisation < 0.8:
        unused = f" while {words.percent(1 - utilisation)} of the {word} capacity is unused"
    return f"{who}, and a partition stops at {rate:,} {word} units a second{unused}"
