"""Streams: what changed, in order, for a day (STM-1 to STM-10).

A stream outlives its table. Records are kept as items and written to the wire when read.
Memory is bounded by the retention of 24 hours, by ``MOST_RECORDS`` and by ``MOST_BYTES``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Literal, NamedTuple

from emulator.clock import NANOSECONDS
from emulator.engine.option_values import ResourcePolicy
from emulator.engine.shards import Shard, Shards
from emulator.model import Item, KeySchema, attributes_size
from emulator.service import limits

ViewType = Literal["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"]

#: Records a stream keeps at the most; older ones count as trimmed.
#: Assumed: the service keeps a whole day of any size; the memory of a test is limited.
MOST_RECORDS = 200_000
#: Bytes of the items in a stream's records at the most; the newest record always stays.
#: Assumed: for the same reason.
MOST_BYTES = 128 * limits.MIB


class StreamRecord(NamedTuple):
    """One change of one item."""

    number: int
    created_ns: int
    keys: Item
    old: Item | None
    new: Item | None
    by_service: bool
    shard: int = 0

    @property
    def event_name(self) -> str:
        """INSERT, MODIFY or REMOVE."""
        if self.old is None:
            return "INSERT"
        return "REMOVE" if self.new is None else "MODIFY"


def stream_label(time_ns: int) -> str:
    """Return how an ARN writes the moment a stream was enabled (TBL-2).

    >>> stream_label(1_767_225_600_123_456_789)
    '2026-01-01T00:00:00.123'
    """
    second, rest_ns = divmod(time_ns, NANOSECONDS)
    moment = datetime.fromtimestamp(second, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{rest_ns // 1_000_000:03}"


class Stream:
    """The changes of one table since its stream was enabled.

    Attributes:
        arn: The stream's resource name; a new one each time a stream is enabled.
        label: The time it was enabled, as the ARN writes it.
        is_open: False once the stream is disabled or its table deleted.
        shards: The parts that it is read in.
        copied_number: The number that came next when it was copied, as for a snapshot; what comes
            before it is of the stream that it was copied from.
    """

    def __init__(
        self,
        *,
        arn: str,
        label: str,
        table_name: str,
        key: KeySchema,
        view: ViewType,
        now_ns: int,
        partition_ids: Iterable[int] | None = None,
        shard_seconds: float = 0,
    ) -> None:
        self.arn = arn
        self.label = label
        self.table_name = table_name
        self.key = key
        self.view: ViewType = view
        self.created_ns = now_ns
        self.closed_ns: int | None = None
        self.tags: dict[str, str] = {}
        self.policy: ResourcePolicy | None = None
        self._records: deque[StreamRecord] = deque()
        self._is_shared = False
        self._kept_bytes = 0
        self._next_number = self.copied_number = 1
        self.shards = Shards(
            arn,
            partition_ids,
            first_number=1,
            now_ns=now_ns,
            lifetime_ns=round(shard_seconds * NANOSECONDS),
        )

    @property
    def is_open(self) -> bool:
        """Whether records are still being added."""
        return self.closed_ns is None

    @property
    def next_number(self) -> int:
        """The number that the next record will have."""
        return self._next_number

    @property
    def records(self) -> tuple[StreamRecord, ...]:
        """Everything that was kept, oldest first."""
        return tuple(self._records)

    @property
    def first_number(self) -> int:
        """The number of the oldest record that is kept, or of the next to come."""
        return self._next_number - len(self._records)

    def restore(self, records: Sequence[StreamRecord], next_number: int) -> None:
        """Hold these records and no others.

        Raises:
            ValueError: their numbers have gaps, or do not end before the next one.
        """
        first = next_number - len(records)
        if first < 1 or [record.number for record in records] != list(range(first, next_number)):
            raise ValueError("records of a stream are numbered one after the other")
        self._records, self._is_shared = deque(records), False
        self._kept_bytes = sum(map(_kept_bytes, records))
        self._next_number = next_number
        if not self.shards.follows_partitions:
            shard = self.shards.of_partition(None)
            shard.last_number, shard.trimmed_number = next_number - 1, first - 1

    def record(
        self,
        old: Item | None,
        new: Item | None,
        now_ns: int,
        *,
        by_service: bool = False,
        partition_id: int | None = None,
    ) -> None:
        """Add a change; one that leaves the item as it was adds nothing (STM-8).

        Args:
            old: The item before.
            new: The item after.
            now_ns: The moment.
            by_service: Whether time to live deleted the item.
            partition_id: Where the item lies, if shards follow partitions.
        """
        image = new if new is not None else old
        if image is None or (old is not None and new is not None and old.same_as(new)):
            return
        keys = image.pick(self.key.names)
        if now_ns >= self.shards.next_roll_ns:
            self.shards.roll(self._next_number, now_ns)
        shard = self.shards.of_partition(partition_id)
        shard.last_number = number = self._next_number
        record = StreamRecord(number, now_ns, keys, old, new, by_service, shard.number)
        self._own().append(record)
        self._kept_bytes += _kept_bytes(record)
        self._next_number += 1
        self._trim(now_ns)

    def read(self, shard: Shard, first_number: int, most: int, now_ns: int) -> list[StreamRecord]:
        """Return up to ``most`` records of a shard from ``first_number`` on."""
        self._trim(now_ns)
        if not self._records:
            return []
        following = islice(self._records, max(0, first_number - self._records[0].number), None)
        return list(islice((r for r in following if r.shard == shard.number), most))

    def since(self, first_number: int, now_ns: int) -> list[StreamRecord]:
        """Return the records of all shards from ``first_number`` on. O(how many they are)."""
        self._trim(now_ns)
        count = self._next_number - first_number
        newest = list(islice(reversed(self._records), count))
        newest.reverse()
        return newest

    def split_shard(self, partition_id: int, children: Iterable[int], now_ns: int) -> None:
        """Follow a partition of the table that was split (STM-12)."""
        if self.is_open and self.shards.follows_partitions:
            self.catch_up(now_ns)
            number = self._next_number
            self.shards.split(partition_id, children, next_number=number, now_ns=now_ns)

    def oldest_number(self, shard: Shard, now_ns: int) -> int:
        """Return the first number that no trimmed record of a shard has.

        Records of other shards that are trimmed make no difference.
        """
        self._trim(now_ns)
        return shard.trimmed_number + 1

    def number_at(self, time_ns: int, now_ns: int) -> int:
        """Return the number of the first record at or after a time, or of the next to come."""
        self._trim(now_ns)
        return next(
            (record.number for record in self._records if record.created_ns >= time_ns),
            self._next_number,
        )

    def size_bytes(self, record: StreamRecord) -> int:
        """Return the size of a record: keys and the images it shows (STM-10)."""
        size = attributes_size(record.keys.attributes)
        if record.new is not None and self.view in ("NEW_IMAGE", "NEW_AND_OLD_IMAGES"):
            size += record.new.size_bytes
        if record.old is not None and self.view in ("OLD_IMAGE", "NEW_AND_OLD_IMAGES"):
            size += record.old.size_bytes
        return size

    def catch_up(self, now_ns: int) -> None:
        """Let shards come of age, and forget those that were closed more than a day ago."""
        if now_ns >= self.shards.next_roll_ns:
            self.shards.roll(self._next_number, now_ns)
        self.shards.forget_before(now_ns - limits.STREAM_RETENTION_SECONDS * NANOSECONDS)

    def close(self, now_ns: int) -> None:
        """End the stream; its records stay readable for a day (DT-1)."""
        self.catch_up(now_ns)
        self.closed_ns = now_ns
        self.shards.close(now_ns)

    def expired(self, now_ns: int) -> bool:
        """Return whether a closed stream has left the retention window."""
        retention_ns = limits.STREAM_RETENTION_SECONDS * NANOSECONDS
        return self.closed_ns is not None and now_ns - self.closed_ns > retention_ns

    def _trim(self, now_ns: int) -> None:
        horizon = now_ns - limits.STREAM_RETENTION_SECONDS * NANOSECONDS
        records = self._records
        while records and (
            records[0].created_ns < horizon
            or len(records) > MOST_RECORDS
            or (self._kept_bytes > MOST_BYTES and len(records) > 1)
        ):
            records = self._own()
            record = records.popleft()
            self._kept_bytes -= _kept_bytes(record)
            shard = self.shards.by_number(record.shard)
            if shard is not None:
                shard.trimmed_number = record.number

    def _own(self) -> deque[StreamRecord]:
        """Return the records, to be changed by this stream alone."""
        if self._is_shared:
            self._records, self._is_shared = self._records.copy(), False
        return self._records

    def share(self) -> Stream:
        """Return a stream of the same records that is independent from now on. O(shards)."""
        self._is_shared = True
        twin = Stream.__new__(Stream)
        twin.__dict__.update(self.__dict__)
        twin.tags = dict(self.tags)
        twin.shards = self.shards.copy()
        twin.copied_number = self._next_number
        return twin


def _kept_bytes(record: StreamRecord) -> int:
    """Return the bytes that a record keeps alive: both images, whichever the stream shows."""
    old_bytes = 0 if record.old is None else record.old.size_bytes
    return old_bytes + (0 if record.new is None else record.new.size_bytes)
