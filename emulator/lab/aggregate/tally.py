"""The tally: what became of the calls of every pattern in every world."""

from __future__ import annotations

import numpy as np

from emulator.lab.inputs.distributions import Floats, Integers, sums


class Tally:
    """Sums over a run, by world and pattern.

    Every call that arrives is answered, given up, or waits at the end; so what is counted is who
    arrives, who is refused, and who tries again.

    Attributes:
        requests: Requests that arrived.
        arrived: Calls that they made.
        refused: By number of the attempt, attempts refused.
        retried: By number of the attempt, those of them that try again.
        begun_anew: By number of the attempt, those of them that are sent again at once, as items of
            a new batch, and come as its second attempt.
        never_sent: Calls that were given up before their first attempt.
        first_refused: Calls refused at first, by the reason's number.
        units: By world, resource and axis, units consumed.
        first_throttle: By world, the second in which a call was first refused, or infinity.
    """

    def __init__(
        self, worlds: int, patterns: int, attempts: int, reasons: int, resources: int
    ) -> None:
        segments = worlds * patterns
        self._shape = worlds, patterns
        self.requests = np.zeros(segments)
        self.arrived = np.zeros(segments)
        self.never_sent = np.zeros(segments)
        self.refused = np.zeros((attempts, segments))
        self.retried = np.zeros((attempts - 1, segments))
        self.begun_anew = np.zeros((attempts, segments))
        self.first_refused = np.zeros((segments, reasons))
        self.units = np.zeros((worlds, resources, 2))
        self.first_throttle = np.full(worlds, np.inf)
        self._all_have_throttled = False

    def start_counting(self) -> None:
        """Forget the warm-up."""
        amounts = (self.requests, self.arrived, self.refused, self.retried, self.first_refused)
        for amount in (*amounts, self.begun_anew, self.never_sent, self.units):
            amount[...] = 0.0
        self.first_throttle[:] = np.inf
        self._all_have_throttled = False

    def of_world(self, amounts: Floats, world: int) -> Floats:
        """Return what belongs to the patterns of a world, the first axis being segments."""
        return np.asarray(amounts.reshape(*self._shape, *amounts.shape[1:])[world])

    def by_world(self, amounts: Floats) -> Floats:
        """Return sums over the patterns of each world."""
        return np.asarray(amounts.reshape(*self._shape, -1).sum(axis=(1, 2)))

    def throttled(self) -> Floats:
        """Return how many calls were refused at first, by world."""
        return self.by_world(self.first_refused)

    def add_first_refused(self, segments: Integers, reasons: Integers, calls: Floats) -> None:
        """Count calls refused at first."""
        count = self.first_refused.shape[1]
        code = (segments * count + reasons).ravel()
        summed = sums(code, calls.ravel(), self.first_refused.size)
        self.first_refused += summed.reshape(self.first_refused.shape)

    @property
    def all_have_throttled(self) -> bool:
        """Return whether in every world some call was refused."""
        return self._all_have_throttled

    def note_throttles(self, second: int, refused: Floats) -> None:
        """Note in which worlds a call was refused in a second, by how many were."""
        new = (refused > 0.5) & np.isinf(self.first_throttle)
        self.first_throttle[new] = float(second)
        self._all_have_throttled = not np.isinf(self.first_throttle).any()
