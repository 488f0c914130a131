"""The queue of clients that have so many calls under way at most.

A call takes a place from its first attempt until it is answered or given up, waits included; what
arrives meanwhile waits until another has ended. The places of all clients of a world are counted
together, by the part of each second for which they are taken.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from emulator.lab.aggregate.client_queues import (
    CLOSE,
    LEAST,
    TRIALS,
    ClientQueue,
    QueueContext,
    Sent,
    Trial,
    Try,
    attempted,
)
from emulator.lab.aggregate.retry_times import ATTEMPT_SECONDS, RetryTimes
from emulator.lab.inputs.distributions import Floats


class PlaceQueue(ClientQueue):
    """What waits in the clients of every world for a place.

    Args:
        context: What it is made for.
        concurrency: How many places a client has.
    """

    def __init__(self, context: QueueContext, concurrency: int) -> None:
        super().__init__(context)
        self._count = context.clients.count
        self._places = float(concurrency * self._count)
        self._held_by = _held_by(context.retry_times)
        #: By second of a ring and world: places that calls under way take then.
        self._held = np.zeros((self._held_by.shape[2], self._worlds))
        #: By world, the share of those who waited that got a place in the last second.
        self._begun_share = np.ones(self._worlds)

    def lets_pass(self, most: Floats) -> bool:
        """Return whether nobody waits, and nobody will if at most so many calls come by row."""
        if self._held.any() or self._waiting.any():
            return False
        return bool((self._by_world(most) * ATTEMPT_SECONDS <= self._places).all())

    def send(
        self,
        second: int,
        arriving: Floats,
        due: Floats | None,
        earlier: Floats | None,
        attempt: Try,
    ) -> Sent:
        """Return what is sent in a second, of what arrives, is due and waits."""
        calls = self._by_world(arriving)
        self._line.come(second, calls, calls if second < 0 else 0.0)
        self._waiting[0] += arriving
        new = self._search(second, due, attempt)
        self._waiting[0] -= new
        calls = self._by_world(new)
        leaving = self._line.leave(second, calls)
        self._note_waits(second, leaving.waits, new)
        if self._timeout is not None:
            self._give_up(second, self._line.came_before(second + 1.0 - self._timeout))
        if second >= 0 and leaving.earlier.any():
            share = leaving.earlier / np.maximum(calls, LEAST)
            earlier = np.zeros_like(self._waiting) if earlier is None else earlier
            earlier[0] = new * share[self._rows.world]
        return Sent(new, due, earlier)

    def _search(self, second: int, due: Floats | None, attempt: Try) -> Floats:
        """Return by row how many calls begin, so that places are taken as far as there are any."""
        search = _Search(self._begun_share)
        for _ in range(TRIALS):
            share = search.share
            new: Floats = self._waiting[0] * share[self._rows.world]
            trial = attempt(new, due)
            held = self._waits_held(trial)
            attempts, _ = attempted(new, due, trial)
            taken = self._held[second % len(self._held)] + held[0]
            taken = taken + ATTEMPT_SECONDS * self._by_world(attempts)
            if search.judge(taken - self._places, self._places):
                break
        self._hold(second, held)
        is_full = share < 1.0
        self._begun_share = np.where(is_full, share, self._begun_share)
        # A client is idle as often as if calls came to it and left it one by one.
        waiting = self._line.length * (1 - share) / self._count
        self.queued_share = np.where(is_full, waiting / (1 + waiting), 0.0)
        return new

    def _waits_held(self, trial: Trial) -> Floats:
        """Return by second ahead and world the places that calls refused now take then."""
        held = np.zeros_like(self._held)
        if trial is None:
            return held
        refusals, admitted = trial
        crowd = refusals.crowd
        refused = admitted.by_number[:-1] * admitted.again
        if admitted.restarted is not None:
            refused[0] += (admitted.by_number * admitted.restarted).sum(axis=0)
        waits = crowd.by_segment(refused)
        worlds, patterns = np.divmod(crowd.distinct_segments, len(self._items))
        over = np.rint(self.timeout_used * (len(self._held_by) - 1)).astype(np.int64)
        held_by = self._held_by[over[worlds], :, :, patterns]
        by_segment = (held_by * (waits / self._items[patterns]).T[:, :, None]).sum(axis=1)
        np.add.at(held.T, worlds, by_segment)
        return held

    def _hold(self, second: int, held: Floats) -> None:
        """Note the places that calls take in the seconds to come."""
        at = second % len(self._held)
        self._held[at] = 0.0
        ahead = np.arange(1, len(held))
        self._held[(at + ahead) % len(held)] += held[1:]

    def drop(self, rows: slice) -> None:
        """Forget who waits in the rows of a world."""
        super().drop(rows)
        self._held[:, self._rows.world[rows.start]] = 0.0


class _Search:
    """Looks for the share of those who wait that fills all places, in every world.

    More calls that begin take more places; the answer lies between a share that leaves some
    free and one that takes too many.
    """

    def __init__(self, guess: Floats) -> None:
        worlds = len(guess)
        self._low, self._high = np.zeros(worlds), np.ones(worlds)
        self._below, self._above = np.full(worlds, np.nan), np.full(worlds, np.nan)
        self._guess = guess
        self.share = np.ones(worlds)

    def judge(self, excess: Floats, places: float) -> bool:
        """Hear by how much the places are exceeded; return whether that is close enough."""
        is_over = excess > 0
        self._high = np.where(is_over, self.share, self._high)
        self._above = np.where(is_over, excess, self._above)
        self._low = np.where(is_over, self._low, self.share)
        self._below = np.where(is_over, self._below, excess)
        is_done = (np.abs(excess) <= CLOSE * places) | (~is_over & (self.share >= 1.0))
        width = self._high - self._low
        part = self._below / np.minimum(self._below - self._above, -LEAST)
        between = self._low + width * np.clip(part, 0.1, 0.9)
        between = np.where(np.isnan(between), self._low + width / 2, between)
        is_inside = (self._guess > self._low) & (self._guess < self._high)
        better = np.where(is_inside, self._guess, between)
        self._guess = np.where(is_done, self._guess, np.nan)
        self.share = np.where(is_done, self.share, better)
        return bool(is_done.all())


def _held_by(retry_times: Sequence[RetryTimes]) -> Floats:
    """Return the part of a second for which a refused call is under way.

    By share of the timeout that was over, retry, second ahead and pattern.
    """
    retries = max(own.held.shape[1] for own in retry_times)
    seconds = max(own.held.shape[2] for own in retry_times)
    held = np.zeros((len(retry_times[0].held), retries, seconds, len(retry_times)))
    for number, own in enumerate(retry_times):
        held[:, : own.held.shape[1], : own.held.shape[2], number] = own.held
    return held
