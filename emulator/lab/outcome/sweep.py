"""The points of a sweep, as results: a sequence that prints as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from emulator.lab.outcome import words
from emulator.lab.outcome.notebooks import sweep_frame, sweep_markup, sweep_text
from emulator.lab.outcome.result_types import Comparison, DesignResult
from emulator.lab.outcome.thresholds import HEALTHY

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class SweepResult:
    """One point with its comparison."""

    point: dict[str, float]
    comparison: Comparison


class Sweep(Sequence[SweepResult]):
    """The points of a sweep, in the order of the grid; printed, they are a table.

    >>> empty = Sweep([])
    >>> len(empty), empty.best()
    (0, None)
    """

    def __init__(self, results: Sequence[SweepResult]) -> None:
        self._results = tuple(results)

    def __len__(self) -> int:
        return len(self._results)

    @overload
    def __getitem__(self, at: int) -> SweepResult: ...

    @overload
    def __getitem__(self, at: slice) -> Sweep: ...

    def __getitem__(self, at: int | slice) -> SweepResult | Sweep:
        return Sweep(self._results[at]) if isinstance(at, slice) else self._results[at]

    def __repr__(self) -> str:
        return f"Sweep({words.counted(len(self), 'point')})"

    def __str__(self) -> str:
        return sweep_text(self._points())

    def _repr_html_(self) -> str:
        return sweep_markup(self._points())

    def _points(self) -> list[tuple[dict[str, float], DesignResult]]:
        return [(own.point, design) for own in self for design in own.comparison.designs]

    def to_frame(self) -> pandas.DataFrame:
        """Return the measures as a frame of pandas, a row for each point and design.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        return sweep_frame(self._points())

    def best(self) -> tuple[dict[str, float], DesignResult] | None:
        """Return the cheapest point and design that holds; None if none does."""
        holding = [own for own in self._points() if own[1].grade in HEALTHY]
        return min(holding, key=lambda own: own[1].cost.total, default=None)
