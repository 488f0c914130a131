"""The YCSB core workloads A to F, as access patterns.

Records have 1 KB and a string key; popularity is Zipf with 0.99. Workload E reads short ranges
of a hashed table: a Scan with a limit from some key on, as YCSB's own DynamoDB binding does it.
Workload F's read-modify-write is a read and an update of one key.

Source: the YCSB core package, workloads a to f.
"""

from __future__ import annotations

from typing import Final

from emulator.lab.inputs.distributions import Latest, Sequential, Zipf
from emulator.lab.inputs.patterns import Field, Pattern, Preload
from emulator.lab.inputs.workload import Workload

_RECORD_BYTES: Final = 1000
#: The middle of YCSB's uniform 1 to 100.
_SCAN_ITEMS: Final = 50
#: Share of the rate by operation.
_MIXES: Final = {
    "A": {"GetItem": 0.5, "UpdateItem": 0.5},
    "B": {"GetItem": 0.95, "UpdateItem": 0.05},
    "C": {"GetItem": 1.0},
    "D": {"GetItem": 0.95, "PutItem": 0.05},
    "E": {"Scan": 0.95, "PutItem": 0.05},
    "F": {"GetItem": 1.0, "UpdateItem": 0.5},
}
_NAMES: Final = {"GetItem": "read", "UpdateItem": "update", "PutItem": "insert", "Scan": "scan"}


def ycsb(letter: str, *, records: int, rate: float, duration: int, seed: int) -> Workload:
    """Return a YCSB workload; ``Workload.ycsb`` is the way in.

    Raises:
        ValueError: There is no such workload.
    """
    mix = _MIXES.get(letter.upper())
    if mix is None:
        raise ValueError(f"YCSB has workloads {', '.join(_MIXES)}, not {letter!r}")
    inserts = "PutItem" in mix
    key = (
        Field("key", unique="sequential", distribution=Latest(0.99))
        if inserts
        else Field("key", count=records, distribution=Zipf(0.99))
    )
    loading = {} if inserts else {"key": Sequential()}
    patterns = [
        Pattern(
            _NAMES["PutItem"],
            "PutItem",
            rate=rate * mix.get("PutItem", 0.0),
            distributions=loading,
            size=_RECORD_BYTES,
        )
    ]
    patterns += [
        Pattern(
            _NAMES[operation],
            operation,
            rate=rate * share,
            by=() if operation == "Scan" else ("key",),
            items=_SCAN_ITEMS if operation == "Scan" else None,
            size=_RECORD_BYTES,
        )
        for operation, share in mix.items()
        if operation != "PutItem"
    ]
    return Workload(
        fields=(key,),
        patterns=tuple(patterns),
        preload=(Preload(pattern="insert", items=records),),
        duration=duration,
        seed=seed,
    )
