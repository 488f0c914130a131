"""Runs of the lab for an agent: bounded in time and size, and answered in a few figures."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from emulator.lab.analysis.comparison import compare
from emulator.lab.files import LabFile
from emulator.lab.inputs.agent_models import read_skew
from emulator.lab.inputs.workload import Workload
from emulator.lab.outcome import words
from emulator.lab.outcome.expectations import GRADES
from emulator.lab.outcome.result_types import DesignResult
from emulator.mcp import answers
from emulator.service.errors import DocumentError

MOST_SECONDS: Final = 3600
MOST_WORLDS: Final = 200
MOST_DESIGNS: Final = 8
#: Values over all fields, and items over all preloads.
MOST_VALUES: Final = 1_000_000
MOST_PATTERNS: Final = 100
#: Values times patterns: what is weighed before the first second.
MOST_WEIGHTS: Final = 1_000_000
#: Of patterns and of resources, how many an answer lists (ICH-103).
MOST_LISTED: Final = 5
#: Seconds for the search of a fix, of a quick answer.
_QUICK_SEARCH: Final = 10.0
#: A search ends a moment after its time, and the answer must be there by then.
_OF_THE_LIMIT: Final = 0.75

OUT_OF_BOUNDS: Final = "{name} is a number from {least} to {most}, not {value}"
TOO_MANY_VALUES: Final = (
    "a simulation has at most {most:,} field values and preloaded items, this one {count:,}: "
    "simulate a smaller world with the same shares"
)
TOO_MANY_WEIGHTS: Final = (
    "a simulation has at most {most:,} field values times patterns, this one {count:,} times "
    "{patterns}: simulate a smaller world with the same shares"
)
TOO_LONG: Final = (
    "the simulation was stopped after {limit:g} seconds: ask for fewer seconds, worlds or designs"
)


@dataclass(frozen=True)
class SimulationRun:
    """How a simulation is run.

    Attributes:
        skew: How popular the values of every field are, instead of what the workload says.
        load: A multiple of every rate.
        seconds: The length of the run, at most.
        seed: The seed of the first world.
        worlds: How many worlds are played.
        quick: No search for headroom, a short one for a fix.
        time_limit: Real seconds for all of it.
    """

    skew: str | None
    load: float
    seconds: int
    seed: int
    worlds: int
    quick: bool
    time_limit: float

    def check(self) -> None:
        """Refuse what is out of bounds."""
        for name, least, most in (
            ("seconds", 1, MOST_SECONDS),
            ("worlds", 1, MOST_WORLDS),
            ("load", 0.001, 1000),
        ):
            value = getattr(self, name)
            if not least <= value <= most:
                raise DocumentError(
                    OUT_OF_BOUNDS.format(name=name, least=least, most=most, value=value)
                )


def simulated(file: LabFile, run: SimulationRun) -> list[answers.SimulateAnswer]:
    """Return how each design of a lab file does.

    Raises:
        DocumentError: It is too large, takes too long, or does not fit.
    """
    run.check()
    workload = _workload(file.workload, run)
    _check_size(workload, len(file.designs))
    began = time.monotonic()

    def stop_in_time(*_: object) -> None:
        if time.monotonic() - began > run.time_limit:
            raise DocumentError(TOO_LONG.format(limit=run.time_limit))

    options: dict[str, Any] = file.arguments() | {"workload": workload, "worlds": run.worlds}
    options |= {"seeds": None, "engine": "auto", "sensitivity": False, "headroom": not run.quick}
    search = min(_QUICK_SEARCH, run.time_limit) if run.quick else run.time_limit * _OF_THE_LIMIT
    try:
        comparison = compare(**options, time_limit=search, progress=stop_in_time)
    except ValueError as error:
        raise DocumentError(str(error)) from error
    stated = [*_assumptions(file.workload, run), *_of_model(file)]
    stated += [words.sentence(note) for note in comparison.notes]
    return [_answer(design, stated) for design in comparison.designs]


def best_first(designs: Sequence[answers.SimulateAnswer]) -> list[answers.SimulateAnswer]:
    """Return designs by grade, then by chance of throttling, then by cost."""
    return sorted(
        designs,
        key=lambda design: (-GRADES.index(design.grade), design.risk.chance, design.monthly_cost),
    )


def _workload(workload: Workload, run: SimulationRun) -> Workload:
    changed = replace(workload, duration=min(workload.duration, run.seconds), seed=run.seed).scaled(
        run.load
    )
    if run.skew is None:
        return changed
    distribution = read_skew(run.skew)
    return replace(
        changed,
        fields=tuple(
            field if field.unique else replace(field, distribution=distribution)
            for field in changed.fields
        ),
        patterns=tuple(replace(pattern, distributions={}) for pattern in changed.patterns),
    )


def _check_size(workload: Workload, designs: int) -> None:
    count = sum(field.size for field in workload.fields)
    count += sum(preload.items for preload in workload.preload)
    if count > MOST_VALUES:
        raise DocumentError(TOO_MANY_VALUES.format(most=MOST_VALUES, count=count))
    patterns = len(workload.patterns)
    if patterns > MOST_PATTERNS:
        raise DocumentError(
            OUT_OF_BOUNDS.format(
                name="the number of patterns", least=1, most=MOST_PATTERNS, value=patterns
            )
        )
    if count * patterns > MOST_WEIGHTS:
        raise DocumentError(
            TOO_MANY_WEIGHTS.format(most=MOST_WEIGHTS, count=count, patterns=patterns)
        )
    if designs > MOST_DESIGNS:
        raise DocumentError(
            OUT_OF_BOUNDS.format(name="designs", least=1, most=MOST_DESIGNS, value=designs)
        )


def _assumptions(workload: Workload, run: SimulationRun) -> list[str]:
    """Return the assumptions of the answer besides the workload."""
    stated = [
        f"{run.worlds} worlds were played, each a draw of what AWS does not publish, such as "
        "which keys share a partition."
    ]
    if workload.duration > run.seconds:
        stated.append(f"Only {run.seconds} of {workload.duration} seconds were played.")
    if run.skew is not None:
        stated.append(f"Every field's values are used as {run.skew} says.")
    if run.load != 1:
        stated.append(f"The load is {run.load:g} times the workload's.")
    if workload.every is None and workload.mean == 1:
        stated.append("The month is this load all the time.")
    return stated


def _of_model(file: LabFile) -> list[str]:
    """Return the assumptions made to play a data model of AWS's agent tools."""
    assumed = [line.partition("assumed: ") for line in file.about.splitlines()]
    return [said for before, mark, said in assumed if mark and not before]


def _answer(design: DesignResult, stated: list[str]) -> answers.SimulateAnswer:
    patterns = sorted(design.patterns, key=lambda pattern: (-pattern.throttled, -pattern.calls))
    resources = sorted(design.resources, key=lambda resource: -resource.hottest_partition_share)
    assert design.risk is not None
    own = [f"{row.setting} = {row.value:g} ({row.rule})." for row in design.assumptions]
    return answers.SimulateAnswer(
        name=design.name,
        grade=design.grade,
        risk=answers.RiskAnswer(
            chance=design.risk.chance,
            low=design.risk.low,
            high=design.risk.high,
            worlds=design.risk.worlds,
        ),
        verdict=design.verdict,
        throttled_share=design.throttled_share,
        first_throttle_seconds=design.time_to_first_throttle,
        headroom=None if design.headroom is None else design.headroom.multiple,
        fix=design.fix,
        monthly_cost=round(design.cost.total, 2),
        patterns=[
            answers.PatternAnswer(
                name=pattern.name,
                calls=pattern.calls,
                throttled=pattern.throttled,
                reasons=pattern.throttled_by_reason,
                read=sum(units.read for units in pattern.units),
                write=sum(units.write for units in pattern.units),
            )
            for pattern in patterns[:MOST_LISTED]
        ],
        resources=[
            answers.ResourceAnswer(
                name=resource.name,
                hottest_partition_share=resource.hottest_partition_share,
                hottest_key_share=resource.hottest_key_share,
                partitions=resource.partitions_at_the_end,
            )
            for resource in resources[:MOST_LISTED]
        ],
        left_out=max(0, len(patterns) - MOST_LISTED) + max(0, len(resources) - MOST_LISTED),
        assumptions=[*stated, *own],
    )
