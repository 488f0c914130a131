"""Routing: where a key lies. The hash places a collection, the sort values order it.

A position is a flat tuple ``(hash, partition values, sort values, tie values)``; positions
of one store always compare, since each place holds one type (MAK-72). Rule CAP-503 fixes
the hash, so placement is the same on every machine and Python.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from itertools import repeat
from typing import Any, Final, TypeAlias

import mmh3

from emulator.model import KeyRange, KeyValue, format_number

Position: TypeAlias = tuple[Any, ...]

HASH_SPACE: Final = 2**64
#: How many partition keys are not hashed again.
KNOWN_COLLECTIONS: Final = 8192
_LENGTH_BYTES: Final = 4


class _Top:
    """Greater than every key value: closes a range of positions from above."""

    __slots__ = ()

    def __lt__(self, other: object) -> bool:
        return False

    def __le__(self, other: object) -> bool:
        return other is self

    def __gt__(self, other: object) -> bool:
        return other is not self

    def __ge__(self, other: object) -> bool:
        return True

    def __repr__(self) -> str:
        return "TOP"


TOP: Final = _Top()


def placement_hash(partition: tuple[KeyValue, ...], salt: int) -> int:
    """Return the unsigned 64-bit hash of partition key values (CAP-503).

    Assumed: the service does not disclose its hash; this one is uniform and reproducible, and
    every salt makes it a different one (``Settings.placement_salt``, CAP2-7).

    >>> placement_hash(("abc",), salt=0), placement_hash(("abc",), salt=1)
    (16748430526252140965, 12981690585527873061)
    """
    return mmh3.hash64(hashed_bytes(partition), salt, signed=False)[0]


def hashed_bytes(partition: tuple[KeyValue, ...]) -> bytes:
    r"""Return the bytes to hash for a partition key: values with types, several with lengths.

    >>> hashed_bytes(("abc",)), hashed_bytes(("a", "bc"))
    (b'Sabc', b'S\x00\x00\x00\x01aS\x00\x00\x00\x02bc')
    """
    if len(partition) == 1:
        value = partition[0]
        if isinstance(value, str):
            # Encoded here: mmh3 does not survive text that is no Unicode.
            return ("S" + value).encode()
        tag, raw = _tagged(value)
        return tag + raw
    parts = []
    for value in partition:
        tag, raw = _tagged(value)
        parts.append(tag + len(raw).to_bytes(_LENGTH_BYTES, "big") + raw)
    return b"".join(parts)


def placement_digests(hashed: Iterable[bytes], salt: int) -> bytes:
    """Return the digests of many keys, 16 bytes each; the first 8 are the hash, little-endian.

    >>> digests = placement_digests([hashed_bytes(("abc",))], salt=0)
    >>> int.from_bytes(digests[:8], "little") == placement_hash(("abc",), salt=0)
    True
    """
    return b"".join(map(mmh3.hash_bytes, hashed, repeat(salt)))


def key_position(key: tuple[KeyValue, ...], salt: int, width: int = 1) -> Position:
    """Return where a key lies; without sort values, where its item collection begins.

    Args:
        key: One value per partition attribute, then of the sort attributes all, some or none; of
            an index entry also the table's key values, which keep entries apart.
        salt: The table's ``placement_salt``.
        width: How many partition attributes there are.

    >>> key_position(("abc", "2026"), salt=0)
    (16748430526252140965, 'abc', '2026')
    """
    return _collection(key[:width], salt) + key[width:]


@lru_cache(maxsize=KNOWN_COLLECTIONS)
def _collection(partition: tuple[KeyValue, ...], salt: int) -> Position:
    """Return where an item collection begins; positions share what is known of late ones."""
    return (placement_hash(partition, salt), *partition)


def _tagged(value: KeyValue) -> tuple[bytes, bytes]:
    if isinstance(value, str):
        return b"S", value.encode()
    if isinstance(value, Decimal):
        return b"N", format_number(value).encode()
    return b"B", value


def bounds(key_range: KeyRange, salt: int) -> tuple[Position, Position]:
    r"""Return the half-open interval of positions that a key range covers (MAK-71).

    >>> low, high = bounds(KeyRange(("abc",), lower="b", lower_inclusive=False), salt=0)
    >>> low[1:], high[1:]
    (('abc', 'b', TOP), ('abc\x00',))
    """
    partition = key_range.partition
    prefix = key_position((*partition, *key_range.equal), salt, len(partition))
    low: Position = prefix
    if key_range.lower is not None:
        low = (*prefix, key_range.lower)
        if not key_range.lower_inclusive:
            low = (*low, TOP)
    if key_range.upper is None:
        return low, _beyond(prefix)
    high = (*prefix, key_range.upper)
    return low, _beyond(high) if key_range.upper_inclusive else high


def _beyond(prefix: Position) -> Position:
    """Return the least bound above all positions that begin like this.

    Nothing lies between a text and the same with a zero behind it; that is compared without us.
    """
    last = prefix[-1]
    if isinstance(last, str):
        return (*prefix[:-1], last + "\0")
    if isinstance(last, bytes):
        return (*prefix[:-1], last + b"\0")
    return (*prefix, TOP)


def segment_bounds(segment: int, total_segments: int) -> tuple[Position, Position]:
    """Return the positions of one parallel Scan segment (CAP-211).

    >>> segment_bounds(1, 2)
    ((9223372036854775808,), (18446744073709551616,))
    """
    return (_slice_start(segment, total_segments),), (_slice_start(segment + 1, total_segments),)


def slice_position(number: int, count: int) -> Position:
    """Return where slice ``number`` of ``count`` equal slices of the hash space begins."""
    return (number * HASH_SPACE // count,)


def _slice_start(segment: int, total_segments: int) -> int:
    """Return the first hash with ``floor(h * total / 2**64) == segment``."""
    return -(-segment * HASH_SPACE // total_segments)
