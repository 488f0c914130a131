"""Entries of a vector index, and the exact search among them (VIX-33, VIX-42).

Vectors lie one after the other in an ``array("f")``, partition by partition of the search schema.
A search scores every vector of a partition: numpy, where it is installed and the work is worth its
import, first leaves out what cannot be among the nearest; whatever is left is scored by the same
few lines as without it. So both ways give the same entries, scores and order.

Scores are exact sums, correctly rounded: the order of summation does not matter.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from functools import lru_cache
from heapq import nsmallest
from operator import mul
from typing import Any, Final, NamedTuple, TypeAlias

from emulator.model import Item, KeyValue
from emulator.model.vectors import (
    FLOAT_BYTES,
    LARGEST_FLOAT,
    DistanceFunction,
    Vector,
    VectorEntry,
    single,
)
from emulator.storage.routing import Position

#: With fewer numbers to look at, numpy's import and its calls cost more than they save.
WORTH_NUMPY: Final = 32_768
#: A product of numbers of 32 bits that may be this large is not summed in 32 bits.
_SAFE_SUM: Final = 1e37
#: The least step between numbers of 32 and of 64 bits, relative to them.
_STEP_32: Final = 2.0**-23
_STEP_64: Final = 2.0**-52
#: What sums of 32 bits lose at most where their terms are too small for them.
_TINY_32: Final = 2.0**-120
#: This multiple of the entries wanted is scored one by one without looking closer before.
_FEW: Final = 4
#: Rows whose numbers are widened to 64 bits at a time.
_WIDE_ROWS: Final = 4096
#: The vectors of candidates, or all of them.
_Rows: TypeAlias = "list[int] | None"


class Hit(NamedTuple):
    """An entry that a search has found, and its score."""

    position: Position
    item: Item
    vector: Vector
    score: float


class VectorSearch(NamedTuple):
    """A search.

    Attributes:
        vector: The vector that entries are compared with.
        most: How many entries are wanted.
        distance: How they are compared.
        partition: The partition of the search schema, None where it has none.
        keep: Whether an entry passes the filters; None for no filter.
    """

    vector: Vector
    most: int
    distance: DistanceFunction
    partition: KeyValue | None = None
    keep: Callable[[Item], bool] | None = None


class VectorStore:
    """The entries of a vector index by the position of their items, shared until written.

    >>> from decimal import Decimal
    >>> store = VectorStore(2)
    >>> for name, numbers in (("a", (1, 0)), ("b", (0, 1))):
    ...     entry = VectorEntry(Item.of({"pk": name}), array("f", numbers), 11, None)
    ...     store.put((7, name), entry)
    >>> hits = store.search(VectorSearch(array("f", (1, 1)), 1, "EUCLIDEAN"))
    >>> [(hit.item, hit.score) for hit in hits]
    [(Item({'pk': 'a'}), 1.0)]
    """

    __slots__ = ("_blocks", "_dimensions", "_partitions", "_shared", "size_bytes")

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        #: Which partition the entry of each position is in.
        self._partitions: dict[Position, KeyValue | None] = {}
        self._blocks: dict[KeyValue | None, _Block] = {}
        self._shared = False
        self.size_bytes = 0

    def __len__(self) -> int:
        return len(self._partitions)

    def __iter__(self) -> Iterator[tuple[Position, VectorEntry]]:
        for position in self._partitions:
            entry = self.get(position)
            assert entry is not None, position
            yield position, entry

    def __contains__(self, position: Position) -> bool:
        return position in self._partitions

    def get(self, position: Position) -> VectorEntry | None:
        """Return the entry at a position. O(dimensions)."""
        if position not in self._partitions:
            return None
        partition = self._partitions[position]
        return self._blocks[partition].entry(position, partition)

    def put(self, position: Position, entry: VectorEntry) -> None:
        """Store an entry, replacing the one at its position. O(dimensions)."""
        old = self.get(position)
        if old is not None:
            self.size_bytes -= old.size_bytes
            if old.partition != entry.partition:
                self._own(old.partition).remove(position)
        self.size_bytes += entry.size_bytes
        block = self._own(entry.partition)
        block.put(position, entry)
        self._partitions[position] = entry.partition
        if old is not None:
            self._forget_empty(old.partition)

    def remove(self, position: Position) -> None:
        """Remove the entry at a position, which must be there. O(dimensions)."""
        old = self.get(position)
        assert old is not None, position
        self.size_bytes -= old.size_bytes
        self._own(old.partition).remove(position)
        del self._partitions[position]
        self._forget_empty(old.partition)

    def search(self, wanted: VectorSearch) -> list[Hit]:
        """Return the nearest entries, the nearest first, ties in table order. O(entries)."""
        block = self._blocks.get(wanted.partition)
        return [] if block is None else block.search(wanted)

    def share(self) -> VectorStore:
        """Return a store of the same content that is independent from now on.

        O(partitions); each is copied when one side first writes to it.
        """
        self._shared = True
        for block in self._blocks.values():
            block.is_shared = True
        return copy(self)

    def _own(self, partition: KeyValue | None) -> _Block:
        """Return the block of a partition, to be written by this store alone."""
        if self._shared:
            self._partitions = self._partitions.copy()
            self._blocks = self._blocks.copy()
            self._shared = False
        block = self._blocks.get(partition)
        if block is None:
            block = self._blocks[partition] = _Block(self._dimensions)
        elif block.is_shared:
            block = self._blocks[partition] = block.copy()
        return block

    def _forget_empty(self, partition: KeyValue | None) -> None:
        if not len(self._blocks[partition]):
            del self._blocks[partition]

    def check(self) -> None:
        """Assert the invariants; O(entries)."""
        assert len(self) == sum(map(len, self._blocks.values())), "an entry is lost"
        assert all(map(len, self._blocks.values())), "a partition is empty"
        total = sum(entry.size_bytes for _, entry in self)
        assert total == self.size_bytes, f"size is {self.size_bytes}, entries sum to {total}"
        for block in self._blocks.values():
            block.check()


class _Block:
    """The entries of one partition: row after row, in no particular order.

    Attributes:
        is_shared: Whether several stores share it; then it is not written.
    """

    __slots__ = ("_dimensions", "_largest", "_numbers", "_rows", "_squares", "_stored", "is_shared")

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self.is_shared = False
        self._rows: dict[Position, int] = {}
        #: By row: position, attributes, size.
        self._stored: list[tuple[Position, Item, int]] = []
        self._numbers: Vector = array("f")
        #: By row: the sum of the squares, rounded once.
        self._squares = array("d")
        #: No number that was ever here is larger.
        self._largest = 0.0

    def __len__(self) -> int:
        return len(self._stored)

    def entry(self, position: Position, partition: KeyValue | None) -> VectorEntry:
        row = self._rows[position]
        _, item, size_bytes = self._stored[row]
        return VectorEntry(item, self._vector(row), size_bytes, partition)

    def _vector(self, row: int) -> Vector:
        return self._numbers[row * self._dimensions : (row + 1) * self._dimensions]

    def put(self, position: Position, entry: VectorEntry) -> None:
        vector = entry.vector
        stored = (position, entry.item, entry.size_bytes)
        square = _dot(vector, vector)
        self._largest = max(self._largest, max(vector), -min(vector))
        row = self._rows.setdefault(position, len(self._stored))
        if row < len(self._stored):
            self._stored[row], self._squares[row] = stored, square
            self._numbers[row * self._dimensions : (row + 1) * self._dimensions] = vector
        else:
            self._stored.append(stored)
            self._squares.append(square)
            self._numbers.extend(vector)

    def remove(self, position: Position) -> None:
        """Take a row out; the last one moves to where it was."""
        row = self._rows.pop(position)
        last = self._vector(len(self._stored) - 1)
        stored, square = self._stored.pop(), self._squares.pop()
        if row < len(self._stored):
            self._stored[row], self._squares[row] = stored, square
            self._rows[stored[0]] = row
            self._numbers[row * self._dimensions : (row + 1) * self._dimensions] = last
        del self._numbers[len(self._stored) * self._dimensions :]

    def copy(self) -> _Block:
        twin = copy(self)
        twin.is_shared = False
        twin._rows, twin._stored = self._rows.copy(), self._stored.copy()
        twin._numbers, twin._squares = self._numbers[:], self._squares[:]
        return twin

    def check(self) -> None:
        assert [self._rows[stored[0]] for stored in self._stored] == list(range(len(self)))
        assert len(self._numbers) == len(self) * self._dimensions
        assert len(self._squares) == len(self._rows) == len(self)
        assert all(abs(number) <= self._largest for number in self._numbers)

    # Search

    def search(self, wanted: VectorSearch) -> list[Hit]:
        rows: _Rows = None
        if wanted.keep is not None:
            keep = wanted.keep
            rows = [row for row, (_, item, _) in enumerate(self._stored) if keep(item)]
        count = len(self) if rows is None else len(rows)
        if count > wanted.most and count * self._dimensions >= WORTH_NUMPY:
            numpy = find_numpy()
            if numpy is not None:
                rows = _Candidates(self._arrays(numpy, rows), wanted, numpy).rows
        return nsmallest(wanted.most, self._scored(rows, wanted), key=_order(wanted.distance))

    def _scored(self, rows: _Rows, wanted: VectorSearch) -> Iterator[Hit]:
        """Yield the entries of rows with their exact scores; equal vectors are scored once."""
        query, score = wanted.vector, _SCORES[wanted.distance]
        query_square = _dot(query, query)
        known: dict[bytes, float] = {}
        for row in range(len(self)) if rows is None else rows:
            vector = self._vector(row)
            same = vector.tobytes()
            if same not in known:
                known[same] = single(score(query, vector, query_square, self._squares[row]))
            position, item, _ = self._stored[row]
            yield Hit(position, item, vector, known[same])

    def _arrays(self, numpy: Any, rows: _Rows) -> _Arrays:
        """Return the numbers as numpy sees them, without a copy unless some rows are left out."""
        vectors = numpy.frombuffer(self._numbers, numpy.float32).reshape(len(self), -1)
        squares = numpy.frombuffer(self._squares, numpy.float64)
        if rows is None:
            return _Arrays(numpy.arange(len(self)), vectors, squares, self._largest)
        chosen = numpy.array(rows, numpy.intp)
        return _Arrays(chosen, vectors[chosen], squares[chosen], self._largest)


# Exact scores


def _dot(left: Iterable[float], right: Iterable[float]) -> float:
    """Return the sum of products: each is exact in 64 bits, and the sum is rounded once."""
    return math.fsum(map(mul, left, right))


def _dot_score(query: Vector, vector: Vector, _query_square: float, _square: float) -> float:
    return _dot(query, vector)


def _cosine_score(query: Vector, vector: Vector, query_square: float, square: float) -> float:
    if not query_square or not square:
        return 1.0
    # The root of a square is exact, so equal vectors have the score 0.
    cosine = _dot(query, vector) / math.sqrt(query_square * square)
    return min(2.0, max(0.0, 1.0 - cosine))


def _euclidean_score(query: Vector, vector: Vector, _query_square: float, _square: float) -> float:
    return math.sqrt(math.fsum((left - right) ** 2 for left, right in zip(query, vector)))  # noqa: B905 - of one length, and asked of every vector


_SCORES: Final[dict[str, Callable[[Vector, Vector, float, float], float]]] = {
    "DOT_PRODUCT": _dot_score,
    "COSINE": _cosine_score,
    "EUCLIDEAN": _euclidean_score,
}


def _order(distance: DistanceFunction) -> Callable[[Hit], tuple[float, Position]]:
    """Return the sort key that puts the nearest first (VIX-42).

    Assumed: entries of one score come in the order of their items in the table.
    """
    if distance == "DOT_PRODUCT":
        return lambda hit: (-hit.score, hit.position)
    return lambda hit: (hit.score, hit.position)


# What numpy leaves out


@lru_cache(maxsize=1)
def find_numpy() -> Any:
    """Return numpy, or None where it is not installed."""
    try:
        import numpy
    except ImportError:
        return None
    return numpy


class _Arrays(NamedTuple):
    """Rows of a block as numpy arrays; no number is larger than ``largest``."""

    rows: Any
    vectors: Any
    squares: Any
    largest: float


class _Candidates:
    """The rows that can be among the nearest, found by inexact sums with known bounds.

    Each row has a rank (low is near) that is wrong by ``slack`` at most. A row whose lowest
    possible rank is above the highest possible one of the last entry wanted is left out.

    Source: Higham, Accuracy and Stability of Numerical Algorithms, 3.1: a sum of ``n`` products is
    off by ``n`` steps of the sum of their sizes at most, which is at most the product of the norms.
    """

    def __init__(self, arrays: _Arrays, wanted: VectorSearch, numpy: Any) -> None:
        self._numpy = numpy
        self._wanted = wanted
        self._query = numpy.frombuffer(wanted.vector, numpy.float32)
        self._query_64 = self._query.astype(numpy.float64)
        self._query_square = _dot(wanted.vector, wanted.vector)
        size = len(wanted.vector)
        largest = arrays.largest * max(max(wanted.vector), -min(wanted.vector))
        if largest * size < _SAFE_SUM:
            arrays = self._kept(arrays, arrays.vectors @ self._query, (size + 4) * _STEP_32)
        if len(arrays.rows) > _FEW * wanted.most:
            arrays = self._kept(arrays, self._wide(arrays.vectors), (size + 4) * _STEP_64)
        self.rows: list[int] = arrays.rows.tolist()

    def _wide(self, vectors: Any) -> Any:
        """Return the products of rows with the query, summed in 64 bits."""
        numpy = self._numpy
        starts = range(0, len(vectors), _WIDE_ROWS)
        return numpy.concatenate(
            [vectors[start : start + _WIDE_ROWS].astype(numpy.float64) @ self._query_64
             for start in starts]
        )  # fmt: skip

    def _kept(self, arrays: _Arrays, dots: Any, step: float) -> _Arrays:
        numpy = self._numpy
        dots = dots.astype(numpy.float64)
        norms = numpy.sqrt(arrays.squares * self._query_square)
        rank, slack = self._ranks(arrays, dots, norms, step)
        # Scores are rounded to 32 bits, so that near ones may become equal.
        slack = slack + numpy.abs(rank) * (2 * _STEP_32)
        last = numpy.partition(rank + slack, self._wanted.most - 1)[self._wanted.most - 1]
        kept = numpy.flatnonzero(rank - slack <= last)
        return _Arrays(
            arrays.rows[kept], arrays.vectors[kept], arrays.squares[kept], arrays.largest
        )

    def _ranks(self, arrays: _Arrays, dots: Any, norms: Any, step: float) -> tuple[Any, Any]:
        """Return the rank of each row, and by how much it may be wrong."""
        numpy = self._numpy
        slack = step * norms + _TINY_32
        if self._wanted.distance == "DOT_PRODUCT":
            return numpy.clip(-dots, -LARGEST_FLOAT, LARGEST_FLOAT), slack
        if self._wanted.distance == "COSINE":
            is_zero = norms == 0
            safe = numpy.where(is_zero, 1.0, norms)
            cosines = numpy.where(is_zero, 0.0, dots / safe)
            return numpy.clip(1.0 - cosines, 0.0, 2.0), slack / safe + _STEP_64
        squares = arrays.squares + self._query_square
        most = LARGEST_FLOAT**2
        return numpy.clip(squares - 2.0 * dots, 0.0, most), 2.0 * slack + 4 * _STEP_64 * squares


assert array("f").itemsize == FLOAT_BYTES, "a number of 32 bits has four bytes"
