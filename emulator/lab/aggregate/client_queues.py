"""Client queues: what waits in the clients until it may be sent.

A client may have so many calls under way at most (``place_queue``), and in adaptive mode it limits
its own rate (``rate_queue``). How many calls are sent in a second, and what is refused of them,
depend on each other: both are looked for together, by trials. A world's trials are its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from emulator.lab.aggregate.admission import Admitted
from emulator.lab.aggregate.call_rows import CallRows
from emulator.lab.aggregate.grouping import Moves
from emulator.lab.aggregate.refusals import Refusals
from emulator.lab.aggregate.retries import renumbered
from emulator.lab.aggregate.retry_times import RetryTimes
from emulator.lab.aggregate.tally import Tally
from emulator.lab.aggregate.waiting_line import LEAVING, WaitingLine
from emulator.lab.inputs.clients import Clients
from emulator.lab.inputs.distributions import Floats, Integers, sums
from emulator.lab.inputs.patterns import Pattern

#: What would become of calls: nothing is refused, or what is.
Trial: TypeAlias = tuple[Refusals, Admitted] | None
#: Tries calls: new ones by row, and retries by number and row.
Try: TypeAlias = Callable[[Floats, Floats | None], Trial]

#: Trials in a second at most, and what is close enough: a share of the places, or of attempts.
TRIALS: Final = 8
CLOSE: Final = 0.01
LEAST: Final = 1e-9
#: Of all waits of a run, those that are told.
_POINTS: Final = 100


@dataclass(frozen=True)
class Sent:
    """What clients send in a second.

    Attributes:
        new: By row, first attempts.
        due: By retry and row, other attempts.
        earlier: By attempt and row, those of them that belong to calls from before the run.
    """

    new: Floats
    due: Floats | None
    earlier: Floats | None


@dataclass(frozen=True)
class QueueContext:
    """What queues are made for.

    Attributes:
        clients: What the clients are like.
        rows: Whose calls.
        retry_times: Of each pattern.
        span: The first second, and the one after the last.
        seeds: Of the arrivals in each world.
        tally: Where calls are counted that are never sent.
    """

    clients: Clients
    rows: CallRows
    retry_times: Sequence[RetryTimes]
    span: tuple[int, int]
    seeds: Sequence[int]
    tally: Tally


class ClientQueue(ABC):
    """What waits in the clients of every world.

    Attributes:
        timeout_used: By world, the share of the timeout that had passed at recent first attempts.
        queued_share: By world, the share of calls that begin when another one ends.
        unevenness: By world, how uneven the gaps between calls are: see ``bunched``.
        later_wait: How long a retry waited in its client on average, in the first world.
    """

    def __init__(self, context: QueueContext) -> None:
        self._rows = context.rows
        self._tally = context.tally
        self._worlds = len(context.seeds)
        self._timeout = context.clients.timeout
        self._patterns = [own.model.pattern for own in context.rows.patterns]
        #: By pattern, how many items go in one call of a client.
        items = [own.model.per_request for own in context.rows.patterns]
        self._items = np.asarray(items, dtype=np.float64)
        attempts = max(len(own.waits) for own in context.retry_times) + 1
        #: By attempt and row, calls that wait.
        self._waiting = np.zeros((attempts, len(context.rows)))
        self._line = WaitingLine(self._worlds, *context.span)
        self.timeout_used = np.zeros(self._worlds)
        self.later_wait = 0.0
        self.queued_share = np.zeros(self._worlds)
        self.unevenness = np.ones(self._worlds)
        #: Of each second of the run, in the first world: how long calls waited before their first
        #: attempts, at some points of the second, and by pattern how many they were.
        self._waits: list[tuple[Floats, Floats]] = []

    @property
    def has_timeout(self) -> bool:
        """Return whether callers give up while they wait."""
        return self._timeout is not None

    @abstractmethod
    def lets_pass(self, most: Floats) -> bool:
        """Return whether nobody waits, and nobody will if at most so many calls come by row."""

    @abstractmethod
    def send(
        self,
        second: int,
        arriving: Floats,
        due: Floats | None,
        earlier: Floats | None,
        attempt: Try,
    ) -> Sent:
        """Return what is sent in a second, of what arrives, is due and waits.

        Args:
            second: Which.
            arriving: By row, new calls.
            due: By retry and row, calls whose wait between attempts is over.
            earlier: By attempt and row, those of the due from before the run.
            attempt: Tells what would become of calls.
        """

    def _note_waits(self, second: int, waits: Floats, new: Floats) -> None:
        """Note how long those waited whose first attempts are sent."""
        if self._timeout is not None:
            waits = np.minimum(waits, self._timeout)
            # A short queue fills and empties within a second or two, and what it is like decides
            # how long places are held: followed at once, it would swing from second to second.
            self.timeout_used = (3 * self.timeout_used + waits.mean(axis=0) / self._timeout) / 4
        if second >= 0:
            own = self._rows.by_segment(new)[: len(self._items)]
            self._waits.append((waits[:, 0], own))

    def _give_up(self, second: int, calls: Floats) -> None:
        """Let the callers of so many calls give up, by world, that wait longest."""
        if not calls.any():
            return
        worlds = self._rows.world
        share = calls / np.maximum(self._line.length, LEAST)
        earlier = self._line.leave(second, calls).earlier / np.maximum(calls, LEAST)
        late = self._waiting * share[worlds]
        self._waiting = self._waiting - late
        counted = self._rows.by_segment(late * (1 - earlier)[worlds])
        self._tally.never_sent += counted[0]
        self._tally.retried -= counted[1:]

    def left(self) -> Floats:
        """Return by attempt, and world and pattern, how many calls of the run are not sent yet."""
        own = 1 - self._line.earlier / np.maximum(self._line.length, LEAST)
        return self._rows.by_segment(self._waiting * own[self._rows.world])

    def waits_of(self, pattern: Pattern) -> Floats:
        """Return how long calls of a pattern waited before their first attempts, all as likely."""
        number = self._patterns.index(pattern)
        waits = np.concatenate([own for own, _ in self._waits])
        calls = np.repeat([own[number] for _, own in self._waits], len(LEAVING))
        order = np.argsort(waits)
        reached = np.cumsum(calls[order])
        points = (np.arange(_POINTS) + 0.5) / _POINTS * reached[-1]
        return np.asarray(waits[order][np.searchsorted(reached, points)])

    def _by_world(self, calls: Floats) -> Floats:
        """Return by world how many calls of clients some calls by row are."""
        of_client = calls / self._items[self._rows.pattern]
        return sums(self._rows.world, of_client, self._worlds)

    # Rows that change

    def carry(self, moves: Moves, region: slice) -> None:
        """Let those who wait in a region of rows go where their keys lie now."""
        moves.apply(self._waiting[:, region])

    def drop(self, rows: slice) -> None:
        """Forget who waits in the rows of a world."""
        self._waiting[:, rows] = 0.0

    def renumber(self, number_of: Integers, count: int) -> None:
        """Follow rows that have other numbers now."""
        self._waiting = renumbered(self._waiting, number_of, count)


def attempted(new: Floats, due: Floats | None, trial: Trial) -> tuple[Floats, Floats]:
    """Return by row all attempts of a second, and those that are answered with an error."""
    attempts = new.copy() if due is None else new + due.sum(axis=0)
    errors = np.zeros_like(attempts)
    if trial is not None:
        refusals, admitted = trial
        at = refusals.crowd.rows
        attempts[at] = admitted.total
        errors[at] = admitted.errors
    return attempts, errors
