"""Heat: when a partition is split for what it serves, where, and when that would gain nothing.

The engine reports each closed minute, asks which partitions are due, and carries out the
decision on its own map.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from emulator.capacity import delays
from emulator.capacity.traffic import WRITES, AccessRun, Minute, Position, weight
from emulator.service import limits
from emulator.settings import Settings

_MINUTE_SECONDS: Final = 60

# Why a partition stays whole.
NO_TRAFFIC: Final = "no traffic"
SINGLE_ITEM: Final = "one item has nearly all traffic"
QUERIED: Final = (
    "nearly all traffic is Queries of one item collection, which are assumed not to split it"
)
SEQUENTIAL: Final = "sort keys are written in order"
NO_BOUNDARY: Final = "no item collection boundary"

#: Half is half, in whatever order the weights were added up.
_ROUNDING: Final = 1e-9


class Decision(NamedTuple):
    """Where to cut a partition, or why not to.

    Attributes:
        boundaries: First positions of the children after the leftmost; empty if refused.
        refusal: Why the partition stays whole, or None.
    """

    boundaries: tuple[Position, ...] = ()
    refusal: str | None = None


class HeatState(NamedTuple):
    """The state of a ``Heat``.

    Attributes:
        streaks: Partition to how many minutes in a row were hot.
        last_start_s: When the last closed minute began, or None if none was closed.
        minutes: The minutes that show where the traffic goes.
        pending: Partition to the whole second at which it is split.
    """

    streaks: Mapping[int, int]
    last_start_s: int | None
    minutes: Sequence[Minute]
    pending: Mapping[int, int]


class Heat:
    """The hot partitions of one resource and the minutes that show where their traffic goes.

    A partition is hot from the start of the first hot minute. After ``heat_minutes`` of them in a
    row its split is decided, and takes place ``split_delay`` after the start of the heat, whatever
    happens in between (CAP2-3).

    Args:
        settings: For the threshold, the minutes, the delay and the window.
        resource: Whose partitions they are; the delay is drawn for it.

    >>> heat = Heat(Settings(heat_minutes=1, split_delay=130), "t")
    >>> heat.on_minute(Minute(start_s=0), {3: (0.0, 60_000.0), 4: (100.0, 0.0)})
    [3]
    >>> heat.due(129), heat.due(130)
    ([], [3])
    """

    __slots__ = (
        "_last_start_s",
        "_resource",
        "_settings",
        "_streaks",
        "minutes",
        "pending",
        "traffic_of",
    )

    def __init__(self, settings: Settings, resource: str) -> None:
        self._settings = settings
        self._resource = resource
        self._streaks: dict[int, int] = {}
        self._last_start_s: int | None = None
        #: The last few minutes with traffic, kept while some partition is hot.
        self.minutes: list[Minute] = []
        #: Partition to the whole second at which it is split.
        self.pending: dict[int, int] = {}
        #: Tells where the traffic of a partition went lately, where it was not served here.
        self.traffic_of: Callable[[int], Minute] | None = None

    @property
    def is_idle(self) -> bool:
        """Whether minutes without traffic change nothing here."""
        return not self._streaks and not self.pending

    @property
    def has_streaks(self) -> bool:
        """Whether some partition was hot in the last minute, and is not to be split yet."""
        return bool(self._streaks)

    @property
    def next_due_s(self) -> float:
        """The second of the next split, or infinity."""
        return min(self.pending.values(), default=math.inf)

    def on_minute(self, minute: Minute, demands: Mapping[int, tuple[float, float]]) -> list[int]:
        """Count a closed minute; return the partitions whose split is decided now.

        Args:
            minute: Its accesses; minutes without any may be left out.
            demands: Read and write units that reached each partition.

        Observed: CAP2-3. Assumed: how hot (``Settings.heat_threshold``), for how many minutes
        (``Settings.heat_minutes``), and what delay is drawn (``Settings.split_delay``).
        """
        if self._last_start_s != minute.start_s - _MINUTE_SECONDS:
            self._streaks.clear()
        self._last_start_s = minute.start_s
        decided = []
        streaks = {}
        for partition_id in self._hot(demands):
            if partition_id in self.pending:
                continue
            streak = self._streaks.get(partition_id, 0) + 1
            if self._schedule_split(partition_id, streak, minute.start_s):
                decided.append(partition_id)
            else:
                streaks[partition_id] = streak
        self._streaks = streaks
        if self.is_idle:
            self.minutes = []
        elif minute.accesses:
            self.keep(minute)
        return decided

    def _schedule_split(self, partition_id: int, streak: int, last_start_s: int) -> bool:
        """Decide on the split of a partition if its hot minutes suffice; return whether.

        Args:
            partition_id: Its number.
            streak: How many minutes in a row were hot.
            last_start_s: When the last of them began.
        """
        if streak < self._settings.heat_minutes:
            return False
        began_s = last_start_s - (streak - 1) * _MINUTE_SECONDS
        self.pending[partition_id] = self._split_s(partition_id, began_s)
        return True

    def _split_s(self, partition_id: int, began_s: int) -> int:
        """Return the second at which a partition splits that has been hot since ``began_s``."""
        settings = self._settings
        chance = delays.draw(settings.seed, "split", self._resource, partition_id, began_s)
        return began_s + round(delays.seconds(settings.split_delay, chance))

    def due(self, now_s: float) -> list[int]:
        """Return, and strike off, the partitions that are split by now, earliest first."""
        splits = sorted((due_s, number) for number, due_s in self.pending.items() if due_s <= now_s)
        for _, partition_id in splits:
            del self.pending[partition_id]
        return [partition_id for _, partition_id in splits]

    def forget(self, partition_id: int) -> None:
        """Drop a partition that is gone."""
        self._streaks.pop(partition_id, None)
        self.pending.pop(partition_id, None)

    def forget_old(self, now_s: int) -> None:
        """Drop the minutes that began before the window."""
        first_s = now_s - self._settings.split_window_minutes * _MINUTE_SECONDS
        self.minutes = [minute for minute in self.minutes if minute.start_s >= first_s]

    def _hot(self, demands: Mapping[int, tuple[float, float]]) -> list[int]:
        """Return the partitions that were asked for so much of a minute that they are hot."""
        threshold = self._settings.heat_threshold
        reads, writes = limits.PARTITION_READ_UNITS, limits.PARTITION_WRITE_UNITS
        return [
            partition_id
            for partition_id, (read, write) in demands.items()
            if write / writes / _MINUTE_SECONDS >= threshold
            or read / reads / _MINUTE_SECONDS >= threshold
        ]

    def minutes_of(self, partition_id: int) -> Sequence[Minute]:
        """Return the minutes that show where the traffic of a partition goes."""
        if self.traffic_of is None:
            return self.minutes
        return [*self.minutes, self.traffic_of(partition_id)]

    def keep(self, minute: Minute) -> None:
        """Keep a minute's accesses for the split points to come.

        Assumed: for how many minutes (``Settings.split_window_minutes``, CAP-505).
        """
        self.minutes = [*self.minutes, minute][-self._settings.split_window_minutes :]

    def save(self) -> HeatState:
        """Return the state, for ``restore``; closed minutes never change."""
        return HeatState(
            dict(self._streaks), self._last_start_s, tuple(self.minutes), dict(self.pending)
        )

    def restore(self, state: HeatState) -> None:
        """Go back to a saved state, perhaps with a longer window and more ``heat_minutes``.

        The split of a partition that has been hot for long enough by now is decided (CAP2-3).
        """
        self._streaks = {}
        self._last_start_s = state.last_start_s
        self.minutes = list(state.minutes)[-self._settings.split_window_minutes :]
        self.pending = dict(state.pending)
        if state.last_start_s is None:
            return
        for partition_id, streak in state.streaks.items():
            if not self._schedule_split(partition_id, streak, state.last_start_s):
                self._streaks[partition_id] = streak

    def check(self) -> None:
        """Assert the invariants."""
        assert len(self.minutes) <= self._settings.split_window_minutes, len(self.minutes)
        assert not self._streaks.keys() & self.pending.keys()
        assert all(0 < n < self._settings.heat_minutes for n in self._streaks.values())


def decide(
    minutes: Sequence[Minute],
    low: Position,
    high: Position,
    *,
    prefix_length: int,
    key_length: int,
    has_local_index: bool,
    top: object,
    settings: Settings,
) -> Decision:
    """Decide on the split of the partition ``[low, high)`` from its recent traffic.

    Args:
        minutes: The window.
        low: The partition's first position.
        high: The first position behind it.
        prefix_length: How many leading elements of a position name its item collection.
        key_length: How many elements of a position name its item; a Query has fewer.
        has_local_index: Collections must stay whole.
        top: A value above every sort value, to end an isolated item.
        settings: For the shares.

    Assumed: where it is cut, and which shares of the traffic isolate an item or prevent a cut
    (CAP-505, CAP-506): ``Settings.isolation_share``, ``Settings.single_item_share``,
    ``Settings.sequential_share``. Assumed: a Query counts for its item collection as a whole, as
    in Contributor Insights (CAP-805), so Queries alone never cut a collection in two.
    """
    weights = _weights(minutes, low, high)
    total = sum(weights.values())
    if not total:
        return Decision(refusal=NO_TRAFFIC)
    hottest = max(weights, key=weights.__getitem__)
    share = weights[hottest] / total
    if share >= settings.single_item_share:
        return Decision(refusal=QUERIED if len(hottest) < key_length else SINGLE_ITEM)
    if share >= settings.isolation_share and not has_local_index:
        return _isolate(hottest, low, high, top)
    point = _median(weights, total, low)
    if point is None:
        return Decision(refusal=SINGLE_ITEM)
    collection = point[:prefix_length]
    if has_local_index:
        return _beside(collection, weights)
    if _is_sequential(minutes, collection, settings.sequential_share):
        # Assumed: a collection with less than ``isolation_share`` of the traffic is not what heats
        # the partition, so the cut moves beside it; the service's own choice is not published.
        inside = sum(w for p, w in weights.items() if p[:prefix_length] == collection)
        if inside >= settings.isolation_share * total:
            return Decision(refusal=SEQUENTIAL)
        return _beside(collection, weights)
    return Decision((point,))


def _weights(minutes: Iterable[Minute], low: Position, high: Position) -> dict[Position, float]:
    """Return the weight of each position accessed in ``[low, high)``, in position order."""
    weights: dict[Position, float] = {}
    for minute in minutes:
        for position in minute.between(low, high):
            weights[position] = weights.get(position, 0.0) + weight(minute.accesses[position])
    return dict(sorted(weights.items()))


def _isolate(position: Position, low: Position, high: Position, top: object) -> Decision:
    """Cut right before and right after one position, where the partition does not end anyway."""
    cuts = tuple(cut for cut in (position, (*position, top)) if low < cut < high)
    return Decision(cuts) if cuts else Decision(refusal=SINGLE_ITEM)


def _median(weights: Mapping[Position, float], total: float, low: Position) -> Position | None:
    """Return the first position, above ``low``, at which half of the weight is reached."""
    reached = 0.0
    for position, amount in weights.items():
        reached += amount
        if reached * 2 >= total * (1 - _ROUNDING) and position > low:
            return position
    return None


def _beside(collection: Position, weights: Mapping[Position, float]) -> Decision:
    """Cut at the collection's start or end, whichever is nearer to half of the weight."""
    length = len(collection)
    before = after = 0.0
    following: Position | None = None
    for position, amount in weights.items():
        if position < collection:
            before += amount
        elif position[:length] != collection:
            following = following or position[:length]
            after += amount
    if following is not None and (not before or after > before):
        return Decision((following,))
    return Decision((collection,)) if before else Decision(refusal=NO_BOUNDARY)


def _is_sequential(minutes: Iterable[Minute], collection: Position, share: float) -> bool:
    """Return whether nearly every write to the collection went above, or below, all before it."""
    run = AccessRun()
    writes = 0.0
    rises = falls = 0
    for minute in minutes:
        for position in _first_writes(minute, collection):
            access = minute.accesses[position]
            if access[WRITES]:
                followed = run.follow(position)
                up, down = minute.records.get(position, followed)
                writes += access[WRITES]
                rises += up
                falls += down
    # The first write follows nothing.
    return writes > 1 and max(rises, falls) >= share * (writes - 1)


def _first_writes(minute: Minute, collection: Position) -> Iterable[Position]:
    """Return the positions of a collection, in the order of first writes unless that is known."""
    own = minute.within(collection)
    if all(position in minute.records for position in own):
        return own
    inside = set(own)
    return (position for position in minute.accesses if position in inside)
