"""Prices and admission: units, buckets, admission, traffic, growth, prices.

The room knows no storage and no expressions: it prices bytes, draws on partitions that are
integers to it, and orders positions that it never looks into.

``emulator.capacity.prices`` and ``emulator.capacity.retries`` hold the prices of a run and the
retries of clients; serving requests does not load them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from emulator.capacity import heat, units
from emulator.capacity.bucket import ONE, TokenBucket
from emulator.capacity.decrease_limits import Decreases, ModeSwitches
from emulator.capacity.growth import Growth, prewarm_seconds
from emulator.capacity.heat import Decision, Heat
from emulator.capacity.index_queue import IndexGate, IndexQueue, WaitingChange
from emulator.capacity.insights import Contributor, Insights, InsightsReport
from emulator.capacity.meter import Charge, Meter, Quota, admit, admit_all, consume, record
from emulator.capacity.metrics import Dimensions, Metrics, MetricSeries
from emulator.capacity.receipt import Receipt, merged
from emulator.capacity.refusal import Reason, batch_write_error, cancellation, throttle_error
from emulator.capacity.traffic import Minute, PartitionLoad, Position, Traffic
from emulator.capacity.units import EVENTUAL, READ, STRONG, TRANSACTIONAL, WRITE

if TYPE_CHECKING:
    from emulator.capacity.scaling import Scaler, ScalingChange, ScalingPolicy

#: What only those load who scale automatically.
_OF_SCALING: Final = ("ScalingChange", "Scaler", "ScalingPolicy")

__all__ = [
    "EVENTUAL",
    "ONE",
    "READ",
    "STRONG",
    "TRANSACTIONAL",
    "WRITE",
    "Charge",
    "Contributor",
    "Decision",
    "Decreases",
    "Dimensions",
    "Growth",
    "Heat",
    "IndexGate",
    "IndexQueue",
    "Insights",
    "InsightsReport",
    "Meter",
    "MetricSeries",
    "Metrics",
    "Minute",
    "ModeSwitches",
    "PartitionLoad",
    "Position",
    "Quota",
    "Reason",
    "Receipt",
    "Scaler",
    "ScalingChange",
    "ScalingPolicy",
    "TokenBucket",
    "Traffic",
    "WaitingChange",
    "admit",
    "admit_all",
    "batch_write_error",
    "cancellation",
    "consume",
    "heat",
    "merged",
    "prewarm_seconds",
    "record",
    "throttle_error",
    "units",
]


def __getattr__(name: str) -> Any:
    if name not in _OF_SCALING:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("emulator.capacity.scaling"), name)
