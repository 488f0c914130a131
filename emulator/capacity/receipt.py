"""The receipt of a request: its units in one table, arm by arm, and the bytes and items for them.

It answers ``ReturnConsumedCapacity`` and makes waste visible: bytes evaluated against bytes
returned, and the bytes lost to rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from emulator.capacity.meter import Charge
from emulator.capacity.refusal import Reason

#: Shared by all receipts of tables without vector indexes.
_NO_VECTORS: Final[Mapping[str, int]] = MappingProxyType({})
_AXIS_MEMBERS: Final = ("ReadCapacityUnits", "WriteCapacityUnits")


class Receipt:
    """The units that one request consumed of one table and its indexes.

    Attributes:
        axis: ``READ`` or ``WRITE``.
        table: Units of the table arm.
        lsi: Units by local index; only those charged or read appear.
        gsi: Units by global index; only those charged or read appear.
        transactional: The answer also names the axis (CAP-406).
        bytes_evaluated: Sizes of the items read, or of the larger image written.
        bytes_returned: Sizes of the items that the answer carries, before projection.
        items_evaluated: ``ScannedCount`` of a page, else the items touched.
        items_returned: ``Count`` of a page, else the items answered.
        rounding_loss_bytes: Bytes paid for and not used.
        reasons: Why the request was, or in observe mode would have been, refused.
        delayed: For each change of a global index that has to wait for room, why.
        charges: The units asked of each partition, and for which key.
        replicas: In how many other regions the same is written, and paid for, again (CAP-312).
        vectors: Bytes searched or written by vector index; they are no units (VIX-60, VIX-62).

    >>> from emulator.capacity import READ, WRITE
    >>> receipt = Receipt(WRITE, 3.0)
    >>> receipt.gsi["byStatus"] = 1.0
    >>> receipt.report("TOTAL", "orders")
    {'TableName': 'orders', 'CapacityUnits': 4.0}
    """

    __slots__ = (
        "axis",
        "bytes_evaluated",
        "bytes_returned",
        "charges",
        "delayed",
        "gsi",
        "items_evaluated",
        "items_returned",
        "lsi",
        "reasons",
        "replicas",
        "rounding_loss_bytes",
        "table",
        "transactional",
        "vectors",
    )

    def __init__(
        self,
        axis: int,
        table: float = 0.0,
        bytes_evaluated: int = 0,
        bytes_returned: int = 0,
        items_evaluated: int = 0,
        items_returned: int = 0,
        rounding_loss_bytes: int = 0,
        *,
        transactional: bool = False,
    ) -> None:
        self.axis = axis
        self.table = table
        self.transactional = transactional
        self.lsi: dict[str, float] = {}
        self.gsi: dict[str, float] = {}
        self.reasons: tuple[Reason, ...] = ()
        self.delayed: tuple[Reason, ...] = ()
        self.charges: Sequence[Charge] = ()
        self.vectors: Mapping[str, int] = _NO_VECTORS
        self.bytes_evaluated = bytes_evaluated
        self.bytes_returned = bytes_returned
        self.items_evaluated = items_evaluated
        self.items_returned = items_returned
        self.rounding_loss_bytes = rounding_loss_bytes
        self.replicas = 0

    def __repr__(self) -> str:
        arms = ", ".join(f"{name}={units}" for name, units in (self.lsi | self.gsi).items())
        axis = _AXIS_MEMBERS[self.axis]
        return f"<Receipt {axis}={self.total} table={self.table}{', ' if arms else ''}{arms}>"

    @property
    def total(self) -> float:
        """All units: the table's, and those of every index."""
        total = self.table
        if self.lsi:
            total += sum(self.lsi.values())
        if self.gsi:
            total += sum(self.gsi.values())
        return total

    def merge(self, other: Receipt) -> None:
        """Add another receipt of the same table, for batches and transactions (CAP-404)."""
        self.table += other.table
        _add_arms(self.lsi, other.lsi)
        _add_arms(self.gsi, other.gsi)
        self.bytes_evaluated += other.bytes_evaluated
        self.bytes_returned += other.bytes_returned
        self.items_evaluated += other.items_evaluated
        self.items_returned += other.items_returned
        self.rounding_loss_bytes += other.rounding_loss_bytes
        if other.reasons:
            self.reasons = tuple(dict.fromkeys(self.reasons + other.reasons))
        self.delayed += other.delayed
        self.replicas = max(self.replicas, other.replicas)
        if other.vectors:
            merged_bytes = dict(self.vectors)
            for name, size_bytes in other.vectors.items():
                merged_bytes[name] = merged_bytes.get(name, 0) + size_bytes
            self.vectors = merged_bytes

    def report(self, mode: str | None, table_name: str) -> dict[str, Any] | None:
        """Return the ConsumedCapacity object for ``ReturnConsumedCapacity`` = ``mode``.

        Source: CAP-402, CAP-403, CAP-406, VIX-62.

        >>> from emulator.capacity import READ
        >>> Receipt(READ, 2, transactional=True).report("TOTAL", "t")
        {'TableName': 't', 'CapacityUnits': 2.0, 'ReadCapacityUnits': 2.0}
        >>> Receipt(READ).report("NONE", "t") is None
        True
        """
        if mode is None or mode == "NONE":
            return None
        report: dict[str, Any] = {"TableName": table_name, **self._capacity(self.total)}
        if mode == "INDEXES":
            report["Table"] = self._capacity(self.table)
            if self.lsi:
                report["LocalSecondaryIndexes"] = self._arms(self.lsi)
            if self.gsi:
                report["GlobalSecondaryIndexes"] = self._arms(self.gsi)
            if self.vectors:
                report["VectorIndexes"] = {
                    name: {"VectorWriteRequestBytes": size_bytes}
                    for name, size_bytes in self.vectors.items()
                }
        return report

    def _arms(self, arms: dict[str, float]) -> dict[str, dict[str, float]]:
        return {name: self._capacity(units) for name, units in arms.items()}

    def _capacity(self, units: float) -> dict[str, float]:
        units = float(units)
        if self.transactional:
            return {"CapacityUnits": units, _AXIS_MEMBERS[self.axis]: units}
        return {"CapacityUnits": units}


def merged(receipts: Iterable[Receipt]) -> Receipt | None:
    """Return the sum of receipts of one table, or None of none.

    >>> from emulator.capacity import READ
    >>> merged([Receipt(READ, 0.5), Receipt(READ, 1.0)]).total
    1.5
    """
    result: Receipt | None = None
    for receipt in receipts:
        if result is None:
            result = Receipt(receipt.axis, transactional=receipt.transactional)
        result.merge(receipt)
    return result


def _add_arms(into: dict[str, float], arms: dict[str, float]) -> None:
    for name, units in arms.items():
        into[name] = into.get(name, 0.0) + units
