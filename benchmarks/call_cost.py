"""(a) What Emulator.call costs per operation, in units of J.

    python -m benchmarks.call_cost

J is one ``json.dumps`` and ``json.loads`` of the benchmark item in the same round. The targets are
those of "observe"; admission may add a quarter to "off". The transaction has one put. The table is
warm enough for all that is asked of it, so that nothing is put on record as refused.
"""

import argparse
import json

from benchmarks.measure import interleave, table
from benchmarks.workbench import ITEM, filled, requests

TARGETS = {
    "GetItem": 1.1,
    "PutItem": 3.3,
    "UpdateItem": 4.2,
    "Query": 4.5,
    "TransactWriteItems": 6.0,
}


#: Units a second, of each kind: the puts of all lanes together are some thousands.
WARM = 40_000


def lanes():
    """Return a lane for J and one per operation and mode."""
    found = {"J": lambda: json.loads(json.dumps(ITEM))}
    for mode in ("off", "observe"):
        emulator = filled(100, partition="user#1", capacity=mode, warm=WARM)
        for operation, request in requests(at=50).items():
            found[f"{operation} {mode}"] = (
                lambda emulator=emulator, operation=operation, request=request: emulator.call(
                    operation, request()
                )
            )
    return found


def main():
    timings = {one.name: one for one in interleave(lanes(), yardstick="J")}
    rows = []
    for operation in requests():
        off, observe = timings[f"{operation} off"], timings[f"{operation} observe"]
        target = TARGETS.get(operation)
        rows.append(
            [
                operation,
                f"{off.microseconds:.1f}",
                f"{off.ratio:.2f}",
                f"{observe.microseconds:.1f}",
                f"{observe.ratio:.2f}",
                f"{observe.ratio / off.ratio:.2f}",
                "" if target is None else f"{target}",
            ]
        )
    unit = timings["J"].microseconds
    table(
        f"Emulator.call, one GSI; J = {unit:.1f} us",
        ["operation", "off us", "off J", "observe us", "observe J", "observe/off", "target J"],
        rows,
    )
    return {"J_us": unit, "rows": rows}


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    main()
