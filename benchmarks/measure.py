"""How the benchmarks measure: lanes take turns, and what counts is the ratio within a round.

A machine's speed drifts; two figures of one round share the drift. Each round times a small
batch of every lane; a lane's figure is its median round, its ratio the median of the ratios to
the yardstick of the same round.
"""

import gc
import statistics
import time
from contextlib import nullcontext
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """A lane's median in microseconds, and its ratio to the yardstick."""

    name: str
    microseconds: float
    ratio: float


def interleave(
    lanes,
    *,
    yardstick,
    rounds=30,
    batch=50,
    clock=time.process_time,
    around=None,
    patience=None,
):
    """Time lanes in turns.

    Args:
        lanes: Name to function.
        yardstick: The lane that ratios are taken to.
        rounds: How often every lane has its turn.
        batch: Calls in a turn.
        clock: CPU time of this process, which neighbours do not stretch; pass
            ``time.perf_counter`` where the work is done by another process.
        around: Name to what makes the context of a lane's turns, which is not timed.
        patience: Seconds after which no further round begins, for lanes that take very long.
    """
    contexts = {name: (around or {}).get(name, nullcontext) for name in lanes}
    for name, function in lanes.items():
        with contexts[name]():
            function()
    samples = {name: [] for name in lanes}
    gc.collect()
    gc.disable()
    try:
        ends = None if patience is None else time.perf_counter() + patience
        for number in range(rounds):
            if ends is not None and number >= 3 and time.perf_counter() > ends:
                break
            for name, function in lanes.items():
                with contexts[name]():
                    started = clock()
                    for _ in range(batch):
                        function()
                    samples[name].append((clock() - started) / batch * 1e6)
            gc.collect()
    finally:
        gc.enable()
    unit = samples[yardstick]
    return [
        Timing(
            name,
            statistics.median(taken),
            statistics.median(one / other for one, other in zip(taken, unit, strict=True)),
        )
        for name, taken in samples.items()
    ]


def in_milliseconds(timing):
    """Return a cell: a lane's median in milliseconds, and its ratio."""
    return f"{timing.microseconds / 1e3:.3f} ({timing.ratio:.2f})"


def table(title, header, rows):
    """Print rows under a header, columns aligned."""
    widths = [max(len(str(row[i])) for row in [header, *rows]) for i in range(len(header))]
    print(f"\n{title}")
    for row in [header, ["-" * width for width in widths], *rows]:
        cells = [
            str(cell).ljust(width) if i == 0 else str(cell).rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  " + "  ".join(cells))
