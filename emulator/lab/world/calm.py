"""Calm: stretches in which it is certain what each bucket does, in closed form.

A bucket surely has room if it has room for the largest demand of a second and a margin for chance;
it is surely short if it has not even room for the mean demand less that margin. Rows that meet
only buckets with room, and of which no call waits, pass a whole stretch at once. All others are
played by the second, with the mean demand where nothing is left to chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from emulator.lab.inputs.distributions import Floats, Integers
from emulator.lab.world.limits import WorldBucket
from emulator.lab.world.queues import IndexQueue
from emulator.lab.world.rows import RowTable, WorldPatternBucket
from emulator.lab.world.state import State
from emulator.lab.world.step import Part

Flags = NDArray[np.bool_]
WorldPattern = Annotated[Floats, "world", "pattern"]

#: How many standard deviations of a second's demand are certain.
MARGIN: Final = 4.5
#: A reserve is drawn on in closed form for as many seconds as this at least.
_LEAST_RESERVE: Final = 5.0


@dataclass(eq=False)
class Loads:
    """The units that a request of each pattern takes of each bucket, on average.

    Attributes:
        asked: By admission.
        entering: By what it changes in indexes, behind their queues.
        variance: Of what one request takes, for it falls on one row and not on another.
    """

    asked: WorldPatternBucket
    entering: WorldPatternBucket
    variance: WorldPatternBucket

    @classmethod
    def of(cls, worlds: int, patterns: int, buckets: int) -> Loads:
        """Return loads of nothing."""
        shape = worlds, patterns, buckets
        return cls(np.zeros(shape), np.zeros(shape), np.zeros(shape))

    def write(
        self, table: RowTable, queues: Sequence[IndexQueue], state: State, worlds: Integers
    ) -> None:
        """Work out the loads in some worlds."""
        count = state.numbers.count
        for number, rows in enumerate(table.patterns):
            own = np.zeros((len(worlds), table.shares.shape[1]))
            shares = table.shares[worlds, rows.all]
            calls = table.calls[worlds, rows.all]
            own[:, rows.all] = shares * calls
            self.asked[worlds, number] = table.loads(own, worlds, count)
            own[:, rows.all] = shares * (1 - shares) * calls**2
            squares = table.units[:, worlds] ** 2 * own
            self.variance[worlds, number] = _spread(table, squares, count)
            self.entering[worlds, number] = 0.0
        for queue in queues:
            partitions, above = queue.buckets(state.numbers)
            for part in queue.entering:
                accepted = np.zeros((len(worlds), table.shares.shape[1]))
                accepted[:, part.rows] = (table.shares * table.calls)[worlds, part.rows]
                brought = part.of(accepted, table.shares, worlds)
                self.entering[worlds, part.pattern, partitions] += brought
                for bucket in above:
                    self.entering[worlds, part.pattern, bucket] += brought.sum(axis=1)
                # Each call brings its units to one partition: as if drawn one by one.
                total = brought.sum(axis=1, keepdims=True)
                self.variance[worlds, part.pattern, partitions] += brought * np.maximum(
                    part.units[worlds, None] - brought * brought / np.maximum(total, 1e-300), 0.0
                )


def _spread(
    table: RowTable, squares: Annotated[Floats, "column", "world", "row"], count: int
) -> WorldBucket:
    worlds = squares.shape[1]
    at = np.arange(worlds)[:, None] * count + table.buckets[:, None]
    found = np.bincount(at.ravel(), squares.ravel(), worlds * count)
    return np.asarray(found.reshape(worlds, count))


@dataclass(frozen=True)
class Demand:
    """The units asked of the buckets of some worlds in a stretch.

    Attributes:
        most: In its largest second, by admission and by what enters indexes.
        margin: Units that chance may add in a second.
        mean: In the mean second.
    """

    most: WorldBucket
    margin: WorldBucket
    mean: WorldBucket

    @classmethod
    def of(
        cls, loads: Loads, worlds: Integers, most: WorldPattern, mean: WorldPattern, even: Flags
    ) -> Demand:
        """Return the demand of some worlds.

        Args:
            loads: Of a request.
            worlds: The worlds.
            most: The requests of the largest second.
            mean: And of the mean one.
            even: By pattern, whether the number of requests of a second is certain.
        """
        each = loads.asked[worlds] + loads.entering[worlds]
        largest = np.einsum("wp,wpb->wb", most, each)
        variance = np.einsum("wp,wpb->wb", most, loads.variance[worlds])
        variance += np.einsum("wp,wpb->wb", most * ~even, each**2)
        return cls(
            largest,
            MARGIN * np.sqrt(np.maximum(variance, 0.0)),
            np.einsum("wp,wpb->wb", mean, each),
        )


def decide(
    part: Part,
    state: State,
    table: RowTable,
    demand: Demand,
    worlds: Integers,
    is_constant: Flags,
) -> None:
    """Decide which rows of some worlds are played by the second.

    Args:
        part: Where it is noted. A world's ``until`` may be brought forward.
        state: The worlds.
        table: The rows.
        demand: By world.
        worlds: The worlds.
        is_constant: By world, whether all seconds up to where it goes ask for the same.
    """
    tokens, shares = state.tokens, table.shares[worlds] > 0
    rates, caps, burst = (column[worlds] for column in (tokens.rates, tokens.caps, tokens.burst))
    over = demand.most + demand.margin
    fits = over <= rates
    owes = tokens.base[worlds] < rates
    # A reserve serves what is above the rate, for a while.
    lasts = np.where(caps > 0, burst / np.maximum(over - rates, 1e-9), 0.0) - 1
    reserve = ~fits & ~owes & (lasts >= _LEAST_RESERVE) & is_constant[:, None]
    left = part.until[worlds] - state.now[worlds]
    most = np.where(reserve, np.floor(lasts), np.inf).min(axis=1)
    part.until[worlds] = state.now[worlds] + np.minimum(most, left).astype(np.int64)
    fits |= reserve
    is_busy = ~fits | owes
    is_busy[:, 0] = False
    rows = is_busy[:, table.buckets].any(axis=1) & shares
    queueing = np.zeros(len(worlds), dtype=np.bool_)
    for queue in state.queues:
        partitions, above = queue.buckets(state.numbers)
        queueing |= is_busy[:, partitions].any(axis=1) | is_busy[:, list(above)].any(axis=1)
        queueing |= queue.waits[worlds].any(axis=1) | queue.is_closed[worlds]
    for entering in (own for queue in state.queues for own in queue.entering):
        rows[:, entering.rows] |= queueing[:, None]
    rows |= part.is_coupled[worlds, None] | table.recorded
    rows &= shares
    width = rows.shape[1]
    for at in np.flatnonzero(part.rows[worlds].any(axis=1)).tolist():
        first = int(worlds[at]) * width
        rows[at] |= state.waiting.is_waiting(slice(first, first + width))
    part.rows[worlds] = rows
    part.is_queueing[worlds] = queueing
    part.is_whole[worlds] = (rows | ~shares).all(axis=1)
    part.is_settling[worlds] = (fits | (rates <= 0)).all(axis=1) & ~table.recorded.any()
    part.is_coupled[worlds] &= rows.any(axis=1)
    certain = fits | (demand.most - demand.margin > rates)
    certain[:, 0] = True
    part.is_certain[worlds] = certain.all(axis=1) & is_constant & ~table.recorded.any()


def pass_reserves(state: State, worlds: Integers, seconds: Integers, loads: WorldBucket) -> None:
    """Let seconds pass in all of which buckets that owe nothing have room.

    Args:
        state: The worlds.
        worlds: Some of them.
        seconds: How many, by world.
        loads: Units taken of each bucket over all of them.
    """
    tokens = state.tokens
    held = tokens.burst[worlds] + tokens.rates[worlds] * seconds[:, None] - loads
    tokens.burst[worlds] = np.clip(held, 0.0, tokens.caps[worlds])
