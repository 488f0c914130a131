"""The state of the worlds that are played: what one second hands on to the next.

Every array names its axes in its type; ``check`` holds them to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, Final, TypeAlias, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from emulator.lab.inputs.distributions import Floats, Integers
from emulator.lab.world.limits import Numbers, Slots, Tokens, WorldBucket
from emulator.lab.world.queues import IndexQueue
from emulator.lab.world.retries import Quotas, RetryRow, RetryTimes
from emulator.lab.world.rows import WorldRow

Flags: TypeAlias = NDArray[np.bool_]
WorldPattern: TypeAlias = Annotated[Floats, "world", "pattern"]
AttemptWorldPattern: TypeAlias = Annotated[Floats, "attempt", "world", "pattern"]

#: Fewer calls than this are rounding.
NO_CALLS: Final = 1e-9
#: Traffic counts half after each minute, where it is asked where a partition is to be cut.
_FADING: Final = 0.5


@dataclass
class Minute:
    """The load of partitions in the running minute, in units.

    Attributes:
        demand: Units that reached them (CAP2-2).
        consumed: Units that they gave, as they are metered.
    """

    demand: WorldBucket
    consumed: WorldBucket

    def begin(self, worlds: Integers | int) -> None:
        """Count a minute from its beginning."""
        for column in (self.demand, self.consumed):
            column[worlds] = 0.0

    def moved(self, number_of: Integers, count: int) -> Minute:
        """Return the figures under other numbers of buckets."""
        columns = (self.demand, self.consumed)
        return Minute(*(_widened(own, number_of, count) for own in columns))


def _widened(column: Floats, number_of: Integers, count: int) -> Floats:
    """Return a column whose last axis has other numbers, and room for ``count`` of them."""
    moved = np.zeros((*column.shape[:-1], count), dtype=column.dtype)
    moved[..., number_of] = column
    return moved


@dataclass
class Tally:
    """Sums over a run, by world and pattern.

    Every call that arrives is answered, given up, or waits at the end; so it is counted which
    calls arrive, which attempts are refused, and which of these are tried again.

    Attributes:
        requests: Requests that arrived.
        arrived: Calls that they made.
        refused: Attempts refused, by number of the attempt.
        retried: Those of them that are tried again, by number of the retry.
        begun_anew: Those of them that are sent again at once, as items of a new batch.
        first_refused: Calls refused at first, by the reason's number.
        units: Units consumed, by resource and axis.
        first_throttle: The second in which a call was first refused, or infinity.
        last_throttle: The end of the last second in which one was, or minus infinity.
    """

    requests: WorldPattern
    arrived: WorldPattern
    refused: AttemptWorldPattern
    retried: Annotated[Floats, "retry", "world", "pattern"]
    begun_anew: AttemptWorldPattern
    first_refused: Annotated[Floats, "world", "pattern", "reason"]
    units: Annotated[Floats, "world", "resource", "axis"]
    first_throttle: Annotated[Floats, "world"]
    last_throttle: Annotated[Floats, "world"]

    @classmethod
    def of(cls, worlds: int, patterns: int, attempts: int, reasons: int, resources: int) -> Tally:
        """Return a tally of nothing."""
        return cls(
            np.zeros((worlds, patterns)),
            np.zeros((worlds, patterns)),
            np.zeros((attempts, worlds, patterns)),
            np.zeros((attempts - 1, worlds, patterns)),
            np.zeros((attempts, worlds, patterns)),
            np.zeros((worlds, patterns, reasons)),
            np.zeros((worlds, resources, 2)),
            np.full(worlds, np.inf),
            np.full(worlds, -np.inf),
        )

    @property
    def throttled(self) -> Annotated[Floats, "world"]:
        """Calls refused at first."""
        return np.asarray(self.first_refused.sum(axis=(1, 2)))


class Waiting:
    """The calls that wait for a retry: of each retry a ring, with a place for each second ahead.

    Args:
        times: When the calls of each pattern come again.
        rows: How many rows all worlds have together.

    Attributes:
        calls: By place, and row of all worlds.
        shares: Of the calls of a pattern that come again by a retry, the share that does so in a
            second ahead.
    """

    def __init__(self, times: Sequence[RetryTimes], rows: int) -> None:
        retries = max(len(own.waits) for own in times)
        seconds = max(own.chances.shape[1] for own in times)
        chances = np.zeros((retries, seconds, len(times)))
        for number, own in enumerate(times):
            chances[: len(own.chances), : own.chances.shape[1], number] = own.chances
        totals = chances.sum(axis=1)
        #: The retry of each share, and how many seconds ahead it comes.
        self._retry, self._ahead = np.nonzero(chances[:, 1:].any(axis=2))
        self._ahead += 1
        self.shares: Annotated[Floats, "share", "pattern"] = chances[self._retry, self._ahead]
        self.shares /= np.maximum(totals, NO_CALLS)[self._retry]
        self._lengths: Integers = np.ones(retries, dtype=np.int64)
        np.maximum.at(self._lengths, self._retry, self._ahead)
        self._firsts: Integers = np.cumsum(self._lengths) - self._lengths
        self.calls: Annotated[Floats, "place", "row"] = np.zeros((int(self._lengths.sum()), rows))

    @property
    def retries(self) -> int:
        """How often a call is tried again at most."""
        return len(self._lengths)

    @property
    def longest(self) -> int:
        """In how many seconds the last retry comes, at most."""
        return int(self._lengths.max(initial=1))

    def _places(self, seconds: Annotated[Integers, "row"]) -> Annotated[Integers, "retry", "row"]:
        """Return where the calls are that come again in a second."""
        if (seconds == seconds[:1]).all():
            seconds = seconds[:1]
        return self._firsts[:, None] + seconds % self._lengths[:, None]

    def take(self, rows: Integers, seconds: Annotated[Integers, "row"]) -> RetryRow:
        """Take out and return the calls that come again in a second."""
        places = self._places(seconds)
        due = self.calls[places, rows]
        self.calls[places, rows] = 0.0
        return np.where(due > NO_CALLS, due, 0.0)

    def put_back(self, rows: Integers, seconds: Annotated[Integers, "row"], due: RetryRow) -> None:
        """Let calls wait again that were taken out."""
        self.calls[self._places(seconds), rows] = due

    def put(
        self,
        rows: Integers,
        seconds: Annotated[Integers, "row"],
        shares: Annotated[Floats, "share", "row"],
        waits: RetryRow,
    ) -> None:
        """Let calls wait that were refused in a second.

        Args:
            rows: Their rows, of all worlds.
            seconds: The second.
            shares: Those of the pattern of each row.
            waits: By retry, calls that come again, those that came in the same second too.
        """
        if (seconds == seconds[:1]).all():
            seconds = seconds[:1]
        ahead, lengths = self._ahead[:, None], self._lengths[self._retry, None]
        places = self._firsts[self._retry, None] + (seconds + ahead) % lengths
        self.calls[places, rows] += waits[self._retry] * shares

    def turn(self, rows: slice, seconds: int) -> None:
        """Let seconds pass over some rows in which as many calls came as went."""
        retry = np.repeat(np.arange(self.retries), self._lengths)
        place = np.arange(len(retry)) - self._firsts[retry]
        before = self._firsts[retry] + (place - seconds) % self._lengths[retry]
        self.calls[:, rows] = self.calls[before, rows]

    def is_waiting(self, rows: slice) -> Annotated[Flags, "row"]:
        """Return in which of some rows calls wait."""
        return np.asarray((self.calls[:, rows] > NO_CALLS).any(axis=0))

    def clear(self, rows: slice) -> None:
        """Forget what waits in some rows."""
        self.calls[:, rows] = 0.0

    def move(self, old: Integers, new: Integers, shares: Floats) -> None:
        """Let calls wait in other rows.

        Args:
            old: For each pair of an old and a new row, the old one.
            new: And the new one.
            shares: And the share of the old row's calls that goes to the new one.
        """
        moved = self.calls[:, old] * shares
        self.calls[:, old] = 0.0
        self.calls[:, new] += moved

    def widen(self, number_of: Integers, worlds: int, count: int) -> None:
        """Give rows other numbers, with room for ``count`` of them in each world."""
        at = (np.arange(worlds)[:, None] * count + number_of).ravel()
        self.calls = _widened(self.calls, at, worlds * count)

    def of_rows(self, rows: slice) -> Annotated[Floats, "retry", "row"]:
        """Return how many calls wait in some rows, by retry."""
        return np.add.reduceat(self.calls[:, rows], self._firsts, axis=0)


@dataclass
class Lately:
    """The outcome of calls lately, by row; a minute ago counts half.

    Attributes:
        accepted: Calls accepted.
        hot: Units that the partition refused, by column.
        attempted: Attempts in the last second that was played by itself.
    """

    accepted: WorldRow
    hot: Annotated[Floats, "column", "world", "row"]
    attempted: WorldRow

    def forget(self, rows: slice) -> None:
        """Forget what happened to rows: other keys are asked for now."""
        self.accepted[:, rows] = 0.0
        self.hot[:, :, rows] = 0.0

    def fade(self, worlds: Integers, minutes: Integers) -> None:
        """Let minutes pass."""
        chosen = minutes > 0
        if chosen.any():
            factors = _FADING ** minutes[chosen].astype(np.float64)
            self.accepted[worlds[chosen]] *= factors[:, None]
            self.hot[:, worlds[chosen]] *= factors[:, None]

    def widen(self, number_of: Integers, count: int) -> None:
        """Give rows other numbers."""
        self.accepted, self.hot, self.attempted = (
            _widened(own, number_of, count) for own in (self.accepted, self.hot, self.attempted)
        )


@dataclass
class State:
    """The worlds, between two seconds.

    Attributes:
        now: The second of the run that comes next.
        numbers: Of the buckets.
        slots: The slots of the partitions, by resource.
        tokens: Of the buckets.
        opened: The share of attempts that a bucket let pass when it was last short.
        reasons: The number of the reason of a refusal by a bucket.
        minute: The load of partitions in the running minute.
        lately: The outcome of calls lately, by row.
        waiting: Calls that wait for a retry.
        quotas: The quotas of clients for retries.
        queues: The queues of indexes.
    """

    now: Annotated[Integers, "world"]
    numbers: Numbers
    slots: Sequence[Slots]
    tokens: Tokens
    opened: WorldBucket
    reasons: Annotated[Integers, "world", "bucket"]
    minute: Minute
    lately: Lately
    waiting: Waiting
    quotas: Quotas
    queues: Sequence[IndexQueue]

    def widen(self, resource: int, room: int) -> None:
        """Make room for more partitions of a resource in all that is known by bucket."""
        old = self.numbers.rooms[resource]
        self.numbers, number_of = self.numbers.with_room(resource, room)
        count = self.numbers.count
        self.tokens = self.tokens.moved(number_of, count)
        self.minute = self.minute.moved(number_of, count)
        reasons = np.zeros((len(self.reasons), count), dtype=np.int64)
        reasons[:, number_of] = self.reasons
        self.reasons = reasons
        opened = np.ones((len(self.opened), count))
        opened[:, number_of] = self.opened
        self.opened = opened
        self.slots[resource].grow(old, room)
        for queue in self.queues:
            if queue.resource == resource:
                queue.grow(room)


def check(record: Any, sizes: dict[str, int] | None = None) -> dict[str, int]:
    """Assert that the arrays of a record have the axes that their types name.

    Args:
        record: A dataclass; those that it holds are checked with it.
        sizes: Of axes that are known.

    Returns:
        The size of every axis.
    """
    known = {} if sizes is None else sizes
    hints = get_type_hints(type(record), include_extras=True)
    for member in fields(record):
        value, hint = getattr(record, member.name), hints[member.name]
        if get_origin(hint) is Annotated and isinstance(value, np.ndarray):
            names = [name for name in get_args(hint)[1:] if isinstance(name, str)]
            assert value.ndim == len(names), (member.name, value.shape, names)
            for name, size in zip(names, value.shape, strict=True):
                assert known.setdefault(name, size) == size, (member.name, name, size, known[name])
        elif is_dataclass(value) and not isinstance(value, type):
            check(value, known)
    return known
