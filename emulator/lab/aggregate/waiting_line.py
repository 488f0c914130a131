"""Waiting lines: when those who wait came, first in first out.

A line knows numbers and times and not who it is that waits: calls of one world leave in the order
in which they came, and within a second they came evenly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from emulator.lab.inputs.distributions import Floats

#: Points of a second at which those who leave in it are looked at.
LEAVING: Final = np.asarray([0.1, 0.3, 0.5, 0.7, 0.9])


@dataclass(frozen=True)
class Leaving:
    """Those who leave a line in a second, by world.

    Attributes:
        waits: How long those waited who leave at the points of the second: by point and world.
        earlier: How many of them came on account of calls from before the run.
    """

    waits: Floats
    earlier: Floats


class WaitingLine:
    """A line in each world.

    Args:
        worlds: How many.
        first: The first second.
        last: The second after the last.
    """

    def __init__(self, worlds: int, first: int, last: int) -> None:
        self._first = first
        self._bounds = np.arange(first, last + 1, dtype=np.float64)
        #: By world and bound: how many have come until then, and of them those of earlier calls.
        self._came = np.zeros((worlds, len(self._bounds)))
        self._earlier = np.zeros((worlds, len(self._bounds)))
        self._until = 0
        self._left = np.zeros(worlds)
        self._left_earlier = np.zeros(worlds)

    @property
    def length(self) -> Floats:
        """How many wait in each world."""
        return np.asarray(np.maximum(self._came[:, self._until] - self._left, 0.0))

    @property
    def earlier(self) -> Floats:
        """How many of them are there on account of calls from before the run."""
        return np.asarray(np.maximum(self._earlier[:, self._until] - self._left_earlier, 0.0))

    def come(self, second: int, calls: Floats, earlier: Floats | float = 0.0) -> None:
        """Let calls join the line in a second, by world."""
        until = second - self._first + 1
        for joined, more in ((self._came, calls), (self._earlier, earlier)):
            before = joined[:, self._until]
            joined[:, self._until : until] = before[:, None]
            joined[:, until] = before + more
        self._until = until

    def came_before(self, moment: float) -> Floats:
        """Return how many of those who wait came before a moment, by world."""
        at = np.clip(moment - self._first, 0.0, float(self._until))
        whole = min(int(at), self._until - 1)
        part = at - whole
        came = (1 - part) * self._came[:, whole] + part * self._came[:, whole + 1]
        return np.asarray(np.clip(came - self._left, 0.0, self.length))

    def leave(self, second: int, calls: Floats) -> Leaving:
        """Let so many leave in a second, by world."""
        places = self._left + np.append(LEAVING, 1.0)[:, None] * calls
        times = np.stack([self._times(world, own) for world, own in enumerate(places.T)], axis=1)
        self._left = self._left + calls
        earlier = np.asarray(
            [
                np.interp(time, self._bounds[: self._until + 1], own[: self._until + 1])
                for time, own in zip(times[-1], self._earlier, strict=True)
            ]
        )
        earlier = np.clip(earlier - self._left_earlier, 0.0, calls)
        self._left_earlier = self._left_earlier + earlier
        return Leaving(np.maximum(second + LEAVING[:, None] - times[:-1], 0.0), earlier)

    def _times(self, world: int, places: Floats) -> Floats:
        """Return when those came who have places in the order of all who ever came to a world."""
        until = self._until + 1
        return np.interp(places, self._came[world, :until], self._bounds[:until])
