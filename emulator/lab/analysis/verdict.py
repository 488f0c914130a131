"""The verdict: how likely a design throttles, why, and the grade that goes with it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from emulator.capacity import READ, WRITE
from emulator.lab.analysis.case import Case, axis_of
from emulator.lab.analysis.headroom import CLOSE
from emulator.lab.analysis.offered_load import ROUNDING, mean_offered
from emulator.lab.outcome import words
from emulator.lab.outcome.result_types import (
    AgeResult as AgeResult,
)
from emulator.lab.outcome.result_types import (
    Ages,
    Grade,
    Headroom,
    Horizon,
    ResourceResult,
    Risk,
)
from emulator.lab.outcome.risk import is_decided
from emulator.lab.outcome.thresholds import (
    CERTAIN,
    CLEAR,
    HEALTHY,
    MOST_WORLDS,
    THRESHOLD,
    TIGHT,
    UNEVEN,
    UNLIKELY,
)
from emulator.service.limits import PARTITION_UNITS
from emulator.service.throttling import AXES, ThrottlingLimit, parse_reason

#: A first refusal within so many seconds is one from the first second on.
_FIRST_SECONDS: Final = 2.0
#: Where a bucket throttles less often than this part of the worlds, it is now and then.
_MOST_OFTEN: Final = 0.9
#: Capacity of which less than this share is used stays unused.
_UNUSED: Final = 0.8


@dataclass(frozen=True)
class Judged:
    """What the verdict on a design rests on.

    Attributes:
        case: The median world, its tables new.
        grade: The grade.
        ages: How new tables do, and tables that have lived with the load.
        throttling: A typical world in which the design throttles, if there is one.
        headroom: How much more it carries, if that was looked for.
        horizon: How it does over the time that it is to hold for.
        first_throttle: The second of the first refusal in that typical world.
    """

    case: Case
    grade: Grade
    ages: Ages
    throttling: Case | None
    headroom: Headroom | None
    horizon: Horizon
    first_throttle: float | None = None


def grade(ages: Ages, headroom: Headroom | None, *, is_at_the_line: bool = False) -> Grade:
    """Return how a design does, from the chance that it throttles at each age of its tables.

    Args:
        ages: The chances.
        headroom: How much more the design carries, if that was looked for.
        is_at_the_line: Whether only the unevenness of the hash stands between load and limit.

    >>> never = AgeResult(risk=Risk(chance=0.0, low=0.0, high=0.05, worlds=100), throttled=0.0,
    ...                   calm_after_seconds=None)
    >>> always = AgeResult(risk=Risk(chance=1.0, low=0.95, high=1.0, worlds=100), throttled=0.3,
    ...                    calm_after_seconds=None)
    >>> grade(Ages(first=always, lived=always), None), grade(Ages(first=always, lived=never), None)
    ('throttles', 'heals')
    """
    if is_at_the_line:
        return "tight"
    if ages.lived.risk.chance > CERTAIN:
        return "throttles"
    if ages.lived.risk.chance >= UNLIKELY:
        return "risky"
    if ages.first.risk.chance >= UNLIKELY:
        return "heals"
    if headroom is not None and not headroom.at_least and headroom.multiple < TIGHT:
        return "tight"
    return "fine"


def sentence(judged: Judged) -> str:
    """Return the verdict: when it throttles, for how long, how sure that is, and why."""
    name = judged.case.layout.design.name
    if not any(pattern.requests for pattern in judged.case.patterns):
        return f"{name} holds: nothing is asked of it."
    parts = [f"{name} {_headline(judged)}."]
    if judged.throttling is not None and judged.grade not in HEALTHY:
        if not _only_closes(judged.throttling):
            parts.append(f"{_cause(judged.throttling)}.")
            parts += _unused(judged.throttling)
        parts += _what_splits_do(judged.throttling)
    parts += [*_what_reserves_hide(judged), *_how_sure(judged.ages)]
    names = tuple(resource.name for resource in judged.case.resources if resource.name != "table")
    return " ".join(
        part[0].upper() + part[1:] if at and not part.startswith(names) else part
        for at, part in enumerate(parts)
    )


def _headline(judged: Judged) -> str:
    """Return when a design throttles, for how long, and how many calls are refused then."""
    room, case, ages = judged.headroom, judged.throttling, judged.ages
    if judged.grade in HEALTHY or case is None:
        if ages.first.risk.chance >= UNLIKELY:
            return (
                f"is at its limit: it holds {words.percent(CLEAR)} of this load, and the rest is "
                "refused in places because even keys are hashed unevenly"
            )
        spare = "" if room is None else f", and carries {_multiple(room)} times this load"
        if judged.grade == "tight" and room is not None:
            limit = f"; beyond that, {words.reason(room.limited_by)}" if room.limited_by else ""
            return f"holds, but carries only {_multiple(room)} times this load{limit}"
        return f"holds{spare}"
    if _only_closes(case) and case.closing_index is not None:
        return f"does not hold: {_closing(case.closing_index)}"
    if judged.grade == "heals":
        calm = ages.first.calm_after_seconds
        until = "at first" if calm is None else f"for the first {words.duration(calm)}"
        refused = f"{words.of_calls(ages.first.throttled)} of that run are refused"
        return f"throttles {until}, until its new tables have split or grown; {refused}"
    return _lasting(judged, case)


def _lasting(judged: Judged, case: Case) -> str:
    """Return how a design throttles that does not recover."""
    horizon, lived = judged.horizon, judged.ages.lived
    share = case.throttled_share or lived.throttled
    per_bucket = horizon.risk_per_bucket
    if horizon.bucket_seconds is not None and per_bucket < lived.risk.chance * _MOST_OFTEN:
        return (
            f"throttles now and then: about {words.count(max(1.0, per_bucket * horizon.buckets))} "
            f"of {words.count(horizon.buckets)} times that its keys are placed anew in "
            f"{words.duration(horizon.seconds)}, for "
            f"{words.count(horizon.throttled_minutes_a_month)} minutes a month, with "
            f"{words.count(horizon.refused_calls_a_month)} refused calls"
        )
    when = "from the first second"
    if judged.first_throttle is not None and judged.first_throttle >= _FIRST_SECONDS:
        when = f"after {words.duration(judged.first_throttle)}"
    if judged.ages.first.risk.chance < UNLIKELY:
        when, lasting = "in the end", "and does not recover"
    elif horizon.bucket_seconds is not None:
        lasting = f"and again with each new key, every {words.duration(horizon.bucket_seconds)}"
    else:
        lasting = "and does not recover"
    refused = f"{words.of_calls(share)} are refused"
    if judged.grade == "risky":
        risk = lived.risk
        return (
            f"throttles in {round(risk.chance * risk.worlds)} of {words.count(risk.worlds)} worlds "
            f"(draws of what AWS does not publish) {lasting}; {refused}"
        )
    return f"throttles {when} {lasting}; {refused}"


def _only_closes(case: Case) -> bool:
    """Return whether calls are refused only once an index has fallen behind too far."""
    return case.throttled_share < THRESHOLD and case.closing_index is not None


def interval(risk: Risk) -> str:
    """Return the bounds of a chance in percent.

    >>> interval(Risk(chance=0.83, low=0.714, high=0.906, worlds=60))
    '71 to 91 %'
    """
    return f"{risk.low * 100:.0f} to {risk.high * 100:.0f} %"


def _how_sure(ages: Ages) -> Iterator[str]:
    """Yield that the grade is undecided even after the last look, if it is."""
    worlds = ages.first.risk.worlds
    if worlds >= MOST_WORLDS and not is_decided(ages.first.risk, ages.lived.risk):
        yield f"the grade is undecided after {words.counted(worlds, 'world')}."


def _what_splits_do(case: Case) -> Iterator[str]:
    """Yield, as a sentence, what splits do about a full partition in a typical world."""
    reason = case.reasons[0]
    if parse_reason(reason).limit is not ThrottlingLimit.KEY_RANGE:
        return
    resource = case.refusing_resource(reason)
    splits = resource.busy_splits
    done = [split for split in splits if split.children]
    if not done:
        causes = sorted({split.cause for split in splits})
        if causes:
            yield f"no split helps: {' and '.join(causes)}."
        return
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
            yield f"{then}; it splits for {first.cause} only after {after}."
            return
    yield f"it splits for {first.cause} after {after}, and {then}."


def _what_reserves_hide(judged: Judged) -> Iterator[str]:
    """Yield, as a sentence, that a load which goes on is only carried by unused capacity.

    Whatever the world, the reserve of a table that is asked for more than it has runs out; a run
    of some minutes may end before (CAP-601). A load that comes now and then fills it up again.
    """
    case, room = judged.case, judged.headroom
    workload = case.layout.workload
    is_at_risk = judged.grade not in HEALTHY
    if judged.ages.first.risk.chance == 1 or workload.every is not None:
        return
    multiples = []
    for resource in case.resources:
        for axis in (READ, WRITE):
            rate = _steady_rate(case, resource, axis)
            asked = mean_offered(case.patterns, resource, axis, workload.duration)
            if rate is None or asked <= ROUNDING:
                continue
            if asked > rate + ROUNDING:
                where = "in the other worlds only" if is_at_risk else "only"
                if judged.ages.first.risk.chance == 0:
                    where = "at first"
                yield (
                    f"{where} a reserve of unused capacity carries it: on average "
                    f"{words.resource(resource.name)} is asked for {asked:,.0f} "
                    f"{AXES[axis].lower()} units a second and has {rate:,.0f}, so a "
                    "longer run throttles in the end."
                )
                return
            multiples.append(rate / asked)
    steady = min(multiples, default=math.inf)
    if room is not None and not is_at_risk and room.multiple > steady * CLOSE:
        yield f"beyond {steady:.3g} times only a reserve of unused capacity carries it for a while."


def _steady_rate(case: Case, resource: ResourceResult, axis: int) -> float | None:
    """Return the units a second that a limit with a reserve allows for good; None without one."""
    result = resource.write if axis == WRITE else resource.read
    if result.utilisation is None:
        capacity = case.layout.capacities[resource.name]
        return capacity.max_write if axis == WRITE else capacity.max_read
    provided = set(result.fine.provisioned)
    return min(provided) if len(provided) == 1 else None


def _closing(index: ResourceResult) -> str:
    """Return when an index that falls behind closes its table's writes (CAP2-4)."""
    backlog = index.backlog
    assert backlog is not None, "an index that closes has a backlog"
    assert backlog.closes_after is not None, "and a time for it"
    return (
        f"{words.resource(index.name)} falls behind, {backlog.units:,.0f} write units at the end, "
        f"and refuses every write to its table after {words.duration(backlog.closes_after)}"
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
    """Return the cause of a full partition: one key, several together, or the whole load."""
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
        who = f"the key {resource.top_keys[0].key!r} takes {words.percent(key)} of"
    else:
        who = f"one of {count} partitions takes {words.percent(partition)} of"
    return f"{who} the {word} units of {name}, and a partition serves {rate:,} a second"


def _unused(case: Case) -> Iterator[str]:
    """Yield how much of what is paid for stays unused beside a full partition."""
    reason = case.reasons[0]
    parts = parse_reason(reason)
    if parts.limit is not ThrottlingLimit.KEY_RANGE:
        return
    utilisation = axis_of(case.refusing_resource(reason), reason).utilisation
    if utilisation is not None and utilisation < _UNUSED:
        share = words.percent(1 - utilisation)
        yield f"{share} of the {parts.axis.lower()} capacity stays unused."
