"""The queue of clients in adaptive mode: what waits for the limit of their own rate (CAP-708)."""

from __future__ import annotations

import numpy as np

from emulator.lab.aggregate.bunched import unevenness
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
from emulator.lab.aggregate.client_rates import ClientRates
from emulator.lab.inputs.distributions import Floats


class RateQueue(ClientQueue):
    """What waits in the clients of every world for the limit of the rate, retries too.

    Patterns whose clients have another retry mode pass.
    """

    def __init__(self, context: QueueContext) -> None:
        super().__init__(context)
        limits_rate = [own.model.policy.limits_rate for own in context.rows.patterns]
        self._limits_rate = np.asarray(limits_rate, dtype=np.float64)
        self._rates = ClientRates(context.clients, context.seeds)
        self._count = context.clients.count
        #: By world, the share of attempts that was throttled in the last second.
        self._refused = np.zeros(self._worlds)
        #: In the first world, how long retries waited, in all, and how many they were.
        self._later_waits = np.zeros(2)

    def lets_pass(self, most: Floats) -> bool:  # noqa: ARG002 - whatever comes is measured
        """Return whether nobody waits, and nobody will: no, clients measure every second."""
        return False

    def send(
        self,
        second: int,
        arriving: Floats,
        due: Floats | None,
        earlier: Floats | None,
        attempt: Try,
    ) -> Sent:
        """Return what is sent in a second, of what arrives, is due and waits."""
        coming = np.zeros_like(self._waiting)
        coming[0] = arriving
        if due is not None:
            coming[1:] = due
        is_limited = self._limits_rate[self._rows.pattern]
        entering = self._by_world(coming.sum(axis=0) * is_limited)
        came_earlier = entering
        if second >= 0:
            came_earlier = np.zeros(self._worlds)
            if earlier is not None:
                came_earlier = self._by_world(earlier.sum(axis=0) * is_limited)
        self._line.come(second, entering, came_earlier)
        self._waiting += coming
        self._rates.begin_second(second)
        sent = self._search(entering, attempt)
        self.unevenness = unevenness(self._count, self._rates.paced_share)
        self._waiting = self._waiting - sent
        shares = self._leave(second, sent)
        self._give_up(second, self._line.length * self._rates.end_second())
        new, others = _by_attempt(sent)
        if second < 0:
            return Sent(new, others, None)
        free = 0.0 if earlier is None else earlier * (1 - is_limited)
        return Sent(new, others, sent * (shares[self._rows.world] * is_limited) + free)

    def _search(self, entering: Floats, attempt: Try) -> Floats:
        """Return by attempt and row what is sent, and what becomes of it as clients heard of it."""
        worlds = self._rows.world
        is_limited = self._limits_rate[self._rows.pattern]
        is_settled = np.zeros(self._worlds, dtype=np.bool_)
        for _ in range(TRIALS):
            sent_share = self._rates.sent(entering, self._refused)
            sent = self._waiting * (1 - is_limited * (1 - sent_share[worlds]))
            new, others = _by_attempt(sent)
            share = self._refused_share(new, others, attempt(new, others))
            is_settled |= np.abs(share - self._refused) <= CLOSE
            if is_settled.all():
                break
            self._refused = np.where(is_settled, self._refused, (self._refused + share) / 2)
        return sent

    def _refused_share(self, new: Floats, others: Floats | None, trial: Trial) -> Floats:
        """Return by world the share of attempts that clients hear to be throttled."""
        is_limited = self._limits_rate[self._rows.pattern]
        attempts, errors = (
            self._by_world(calls * is_limited) for calls in attempted(new, others, trial)
        )
        return np.asarray(errors / np.maximum(attempts, LEAST))

    def _leave(self, second: int, sent: Floats) -> Floats:
        """Let those leave the line who are sent; return the share of calls from before the run."""
        limited = sent * self._limits_rate[self._rows.pattern]
        calls = self._by_world(limited.sum(axis=0))
        leaving = self._line.leave(second, calls)
        self._note_waits(second, leaving.waits, sent[0])
        retries = float(self._by_world(limited[1:].sum(axis=0))[0])
        self._later_waits += float(leaving.waits[:, 0].mean()) * retries, retries
        self.later_wait = float(self._later_waits[0] / max(self._later_waits[1], LEAST))
        return leaving.earlier / np.maximum(calls, LEAST)


def _by_attempt(sent: Floats) -> tuple[Floats, Floats | None]:
    """Return first attempts by row, and others by retry and row, if there are any."""
    return sent[0], sent[1:] if sent[1:].any() else None
