"""Client rates: what adaptive clients let pass of their own calls (CAP-708).

Each client has a limit that falls with every throttled answer and comes back on a curve:
``capacity/client_rate.py``. Here are some of the clients of every world, as arrays; a world's
other clients are like them. A second is gone through in slices, in each of which a client sends
what its limit allows and hears what became of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np

from emulator.capacity import client_rate
from emulator.lab.inputs.clients import Clients
from emulator.lab.inputs.distributions import Floats, Integers

#: Clients of a world that are looked at, at most.
_CLIENTS: Final = 32
#: Slices of a second.
_SLICES: Final = 20
#: What is left after a slice of the places that were taken by calls that wait: such a wait is
#: half a second to a second, and nobody knows how much of it is over.
_STILL_HELD: Final = np.exp(-1 / _SLICES / 0.75)
_HARDLY_ONE: Final = 0.5
#: Tells these draws from others of the same seed.
_CLIENT_DRAWS: Final = 3


@dataclass
class State:
    """What clients know, by world and client; the names are those of ``ClientRate``.

    Attributes:
        limit: Infinite until the first throttled answer.
        waiting: How many calls wait for it.
        held: How many places are taken by calls that wait for another attempt.
    """

    limit: Floats
    tokens: Floats
    measured: Floats
    count: Floats
    last_step: Floats
    top: Floats
    throttled_at: Floats
    recovery: Floats
    waiting: Floats
    held: Floats

    @classmethod
    def of(cls, shape: tuple[int, int]) -> State:
        """Return what so many clients of so many worlds know before their first calls."""
        state = cls(*(np.zeros(shape) for _ in fields(cls)))
        state.limit[...] = np.inf
        state.last_step[...] = np.nan
        return state

    def copy(self) -> State:
        """Return an independent twin."""
        return State(*(getattr(self, member.name).copy() for member in fields(self)))

    def send(self, arriving: Integers, places: float) -> Floats:
        """Let pass what the limits allow, of the calls that wait and arrive in a slice."""
        self.waiting += arriving
        self.held *= _STILL_HELD
        has_place = self.held + _HARDLY_ONE < places
        is_limited = np.isfinite(self.limit)
        flow = np.where(is_limited, self.limit, 0.0)
        self.tokens = np.minimum(np.maximum(flow, 1.0), self.tokens + flow / _SLICES)
        most = np.where(is_limited, np.minimum(np.floor(self.tokens), self.waiting), self.waiting)
        sent: Floats = most * has_place
        self.tokens -= np.where(is_limited, sent, 0.0)
        self.waiting -= sent
        return sent

    def hear(self, now: float, sent: Floats, throttled: Floats) -> None:
        """Set the limits anew after so many answers, of which some were throttled."""
        self._measure(now, sent)
        self.held += throttled
        is_hit = throttled > 0
        # Each of them takes its share of the rate; the curve begins where the last one found it.
        rate = np.minimum(self.measured, self.limit)
        self.top = np.where(is_hit, rate * client_rate.THROTTLED_SHARE ** (throttled - 1), self.top)
        self.throttled_at = np.where(is_hit, now, self.throttled_at)
        self.recovery = np.where(is_hit, client_rate.recovery_seconds(self.top), self.recovery)
        curve = client_rate.recovering_rate(self.top, now - self.throttled_at, self.recovery)
        limit = np.minimum(curve, client_rate.MOST_MEASURED * self.measured)
        is_set = is_hit | ((sent > 0) & np.isfinite(self.limit))
        self.limit = np.where(is_set, np.maximum(limit, client_rate.LEAST_RATE), self.limit)
        self.tokens = np.where(
            is_set, np.minimum(self.tokens, np.maximum(self.limit, 1.0)), self.tokens
        )

    def _measure(self, now: float, sent: Floats) -> None:
        step = np.floor(now / client_rate.STEP_SECONDS) * client_rate.STEP_SECONDS
        self.last_step = np.where(np.isnan(self.last_step), step, self.last_step)
        is_over = (sent > 0) & (step > self.last_step)
        passed = np.where(is_over, step - self.last_step, 1.0)
        rate = (self.count + 1) / passed
        self.measured = np.where(is_over, client_rate.smoothed(self.measured, rate), self.measured)
        self.count = np.where(is_over, sent - 1, self.count + sent)
        self.last_step = np.where(is_over, step, self.last_step)


class ClientRates:
    """The limits of some clients of every world.

    Args:
        clients: What they are like.
        seeds: Of each world's arrivals: a world's draws are its own.

    Attributes:
        paced_share: By world, the share of the calls sent in a second that had to wait.
    """

    def __init__(self, clients: Clients, seeds: Sequence[int]) -> None:
        self._looked_at = min(clients.count, _CLIENTS)
        self._share = self._looked_at / clients.count
        self._places = float(clients.concurrency or np.inf)
        self._timeout = clients.timeout
        self._draws = [np.random.default_rng([seed, _CLIENT_DRAWS]) for seed in seeds]
        shape = len(seeds), self._looked_at
        self.paced_share = np.zeros(len(seeds))
        self._state = self._next = State.of(shape)
        self._second = 0
        #: Of the present second, by slice, world and client: the chances that a call is
        #: throttled, and the order in which calls come.
        self._chances = np.zeros((_SLICES, *shape))
        self._order: Integers = np.zeros((len(seeds), _SLICES * self._looked_at), dtype=np.int64)

    def begin_second(self, second: int) -> None:
        """Draw the chances of a second."""
        self._second = second
        shape = 2, _SLICES, self._looked_at
        chances = np.stack([draws.random(shape) for draws in self._draws], axis=1)
        self._chances = np.moveaxis(chances[0], 1, 0)
        places = chances[1].reshape(len(self._draws), -1)
        self._order = places.argsort(axis=1).argsort(axis=1)

    def sent(self, entering: Floats, refused: Floats) -> Floats:
        """Return by world the share of the calls that wait and come which is sent in the second.

        Args:
            entering: By world, calls that come.
            refused: By world, the share of what is sent that is throttled.
        """
        state = self._next = self._state.copy()
        arriving = self._arriving(entering)
        waited = state.waiting.sum(axis=1) + arriving.sum(axis=(0, 2))
        calls, paced = np.zeros((2, len(waited)))
        for number in range(_SLICES):
            now = self._second + (number + 0.5) / _SLICES
            is_waiting = state.waiting > 0
            sent = state.send(arriving[number], self._places)
            calls += sent.sum(axis=1)
            paced += (sent * (is_waiting | (state.waiting > 0))).sum(axis=1)
            throttled = np.floor(sent * refused[:, None] + self._chances[number])
            state.hear(now, sent, np.minimum(throttled, sent))
        self.paced_share = paced / np.maximum(calls, 1.0)
        left = state.waiting.sum(axis=1)
        return np.asarray(np.where(waited > 0, 1 - left / np.maximum(waited, 1.0), 1.0))

    def _arriving(self, entering: Floats) -> Floats:
        """Return by slice, world and client how many calls come: whole ones, in the drawn order."""
        own = entering * self._share
        cells = self._order.shape[1]
        even = np.floor(own / cells)
        rest = np.rint(own - even * cells)
        calls = even[:, None] + (self._order < rest[:, None])
        return np.moveaxis(calls.reshape(len(entering), _SLICES, -1), 0, 1)

    def end_second(self) -> Floats:
        """Go on from what the last call of ``sent`` found.

        Returns:
            By world the share of those who wait whose callers give up: they would wait longer
            than they want to.
        """
        state = self._state = self._next
        if self._timeout is None:
            return np.zeros(len(state.waiting))
        late = np.ceil(np.maximum(state.waiting - state.limit * self._timeout, 0.0))
        before = state.waiting.sum(axis=1)
        state.waiting = state.waiting - late
        return np.asarray(late.sum(axis=1) / np.maximum(before, 1.0))
