"""What it costs, and who may pass: units, buckets, admission, traffic, growth, prices.

The room knows no storage and no expressions: it prices bytes, draws on partitions that are
integers to it, and orders positions that it never looks into.
"""

from emulator.capacity import units
from emulator.capacity.bucket import ONE, TokenBucket
from emulator.capacity.meter import Charge, Meter, Quota, admit, admit_all, record
from emulator.capacity.receipt import Receipt, merged
from emulator.capacity.refusal import Reason, batch_write_error, cancellation, throttle_error
from emulator.capacity.traffic import Load, Minute, Position, Traffic
from emulator.capacity.units import EVENTUAL, READ, STRONG, TRANSACTIONAL, WRITE

__all__ = [
    "EVENTUAL",
    "ONE",
    "READ",
    "STRONG",
    "TRANSACTIONAL",
    "WRITE",
    "Charge",
    "Load",
    "Meter",
    "Minute",
    "Position",
    "Quota",
    "Reason",
    "Receipt",
    "TokenBucket",
    "Traffic",
    "admit",
    "admit_all",
    "batch_write_error",
    "cancellation",
    "merged",
    "record",
    "throttle_error",
    "units",
]
