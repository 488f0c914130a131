"""Shrinking: the smallest workload that a design still throttles under.

Steps are those of a person: leave a pattern out, make a curve a constant rate, make keys even,
halve what is left. The answer is minimal: none of these steps leaves a workload that throttles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from emulator.lab.analysis.play import play
from emulator.lab.inputs.arrival_rates import Constant, Rate
from emulator.lab.inputs.design import Design
from emulator.lab.inputs.distributions import Uniform
from emulator.lab.inputs.workload import Workload
from emulator.lab.outcome.thresholds import THRESHOLD
from emulator.settings import Settings

#: Rates and durations are brought down along 1, 2, 5, 10, 20, 50 and so on.
_ROUND: Final = (1, 2, 5)
_SHORTEST: Final = 1
_LEAST_RATE: Final = 1.0

_T = TypeVar("_T")


def shrink(
    workload: Workload, designs: Sequence[Design], settings: Settings | None = None
) -> tuple[Workload, Design] | None:
    """Return the smallest workload that still throttles the first design that does.

    Args:
        workload: The requests.
        designs: One or more designs.
        settings: What is known of the service.

    Returns:
        The workload and the design; None if no design throttles.

    >>> from emulator.lab import Field, Pattern
    >>> put = Pattern("put", "PutItem", rate=4_321)
    >>> load = Workload(fields=[Field("kind", values=("a",))], patterns=[put], duration=900)
    >>> small, design = shrink(load, [Design("by kind", partition="{kind}", sort="{timestamp}")])
    >>> [(pattern.name, pattern.pace.highest) for pattern in small.patterns]
    [('put', 2000.0)]
    """
    for design in designs:
        if _throttles(workload, design, settings):
            return _smallest(workload, design, settings), design
    return None


_TEST: Final = """\
from pathlib import Path

from emulator.lab import load, play


def test_the_design_holds():
    file = load(Path(__file__).with_name("{name}"))
    [design] = file.designs
    assert not play(file.workload, design, seed=file.workload.seed).throttled
"""


def test_of(name: str) -> str:
    """Return a pytest test of a lab file beside it, which fails as long as its design throttles.

    >>> print(test_of("small.yaml").splitlines()[-1])
        assert not play(file.workload, design, seed=file.workload.seed).throttled
    """
    return _TEST.format(name=name)


def _throttles(workload: Workload, design: Design, settings: Settings | None) -> bool:
    seed = workload.seed
    return play(workload, design, seed=seed, settings=settings).throttled >= THRESHOLD


def _smallest(workload: Workload, design: Design, settings: Settings | None) -> Workload:
    """Take any step that leaves a workload that throttles, until there is none."""
    while True:
        for smaller in _steps(workload):
            try:
                if _throttles(smaller, design, settings):
                    workload = smaller
                    break
            except ValueError:
                continue  # the design needs what was left out
        else:
            return workload


def _steps(workload: Workload) -> Iterator[Workload]:
    """Yield workloads that are one step smaller."""
    yield from _with_less_before(workload)
    for at, field in enumerate(workload.fields):
        if field.distribution != Uniform():
            even = replace(field, distribution=Uniform())
            yield replace(workload, fields=_replaced(workload.fields, at, even))
    for at, pattern in enumerate(workload.patterns):
        if pattern.recorded is None:
            for rate in _rates(pattern.pace):
                own = replace(pattern, rate=rate)
                yield replace(workload, patterns=_replaced(workload.patterns, at, own))
    if workload.duration > _SHORTEST:
        shorter = max(_SHORTEST, int(_below(workload.duration)))
        yield replace(workload, duration=shorter, every=None, horizon=None)


def _with_less_before(workload: Workload) -> Iterator[Workload]:
    """Yield workloads without a pattern, without stored items, and without a warm-up."""
    for at in range(len(workload.patterns)):
        left = (*workload.patterns[:at], *workload.patterns[at + 1 :])
        names = {pattern.name for pattern in left}
        if left:
            preload = [own for own in workload.preload if own.pattern in names]
            yield replace(workload, patterns=left, preload=preload)
    if workload.preload:
        yield replace(workload, preload=())
    if workload.warm_up:
        yield replace(workload, warm_up=0)


def _replaced(values: Sequence[_T], at: int, value: _T) -> tuple[_T, ...]:
    return (*values[:at], value, *values[at + 1 :])


def _rates(rate: Rate) -> Iterator[float]:
    """Yield constant rates to try: the highest of a curve, or the next round one below."""
    if not isinstance(rate, Constant):
        yield rate.highest
    elif rate.highest > _LEAST_RATE:
        yield _below(rate.highest)


def _below(value: float) -> float:
    """Return the next round number below.

    >>> [_below(value) for value in (4_321, 2_000, 1_000, 2, 1.5)]
    [2000.0, 1000.0, 500.0, 1.0, 1.0]
    """
    scale = 1.0
    while scale * 10 < value:
        scale *= 10
    return max(own * scale for own in _ROUND if own * scale < value)
