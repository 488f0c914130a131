"""The horizon: keys that have a time, or heat that moves, are placed again in each bucket.

The outcome of one bucket says little about a month of them. Where their keys would lie is known
without playing them; only those are played in which a partition is asked for too much.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

import numpy as np

from emulator.lab.inputs.distributions import Floats, Integers
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.lab.world.families import Family, Places, hashes_in
from emulator.lab.world.limits import AXES
from emulator.lab.world.plan import Plan
from emulator.storage import HASH_SPACE

ByBucketAndSlot = Annotated[Floats, "bucket", "slot"]

#: Partitions that are asked for less than this share of their limit refuse hardly any call.
_BUSY: Final = 0.95
#: Buckets whose keys are placed at once.
_AT_ONCE: Final = 2_000


def step_of(plan: Plan) -> float | None:
    """Return how many seconds a bucket lasts: the shortest time that keys stay; None for ever."""
    steps = [own.step for model in plan.models for own in model.placements if own.step]
    return max(1.0, min(steps)) if steps else None


def busy_buckets(
    plan: Plan, emulators: Sequence[RunEmulator], salts: Sequence[int], step: float, count: int
) -> list[list[int]]:
    """Return by world the buckets after the first in which a partition is asked for too much.

    Args:
        plan: The part that is the same in all worlds.
        emulators: By world, with the partitions of now.
        salts: By world, the salt of the hash.
        step: How many seconds a bucket lasts.
        count: How many buckets there are.
    """
    found = []
    for emulator, salt in zip(emulators, salts, strict=True):
        busy: list[int] = []
        for first in range(1, count, _AT_ONCE):
            buckets = np.arange(first, min(count, first + _AT_ONCE))
            is_busy = np.zeros(len(buckets), dtype=np.bool_)
            for number in range(len(plan.context.resources)):
                for axis in AXES:
                    shifts = buckets.astype(np.float64) * step
                    is_busy |= _most(plan, emulator, salt, number, axis, shifts) > _BUSY
            busy += buckets[is_busy].tolist()
        found.append(busy)
    return found


def _most(
    plan: Plan,
    emulator: RunEmulator,
    salt: int,
    number: int,
    axis: int,
    shifts: Annotated[Floats, "bucket"],
) -> Annotated[Floats, "bucket"]:
    """Return by bucket what the busiest partition of a resource is asked for, of its limit."""
    partitions = emulator.resource(*plan.context.resources[number]).partitions
    lows = [partition.low for partition in partitions]
    slots = np.arange(len(lows))
    asked: ByBucketAndSlot = np.zeros((len(shifts), len(lows)))
    for family in plan.families():
        if family.resource != number:
            continue
        columns = family.columns(plan.context.moment)
        amounts = np.zeros(len(columns))
        for placement, demand in family.demands.items():
            if placement.axis == axis:
                amounts += demand * columns.mass(placement)
        if not amounts.any():
            continue
        places = Places.of(family, columns, [salt], [0], lambda _: (slots, lows), len(lows))
        if family.step is None:
            placement = family.placements[0]
            asked += places.by_slot(placement, amounts[None], np.zeros(1, dtype=np.int64))
        else:
            asked += _placed_anew(family, places, amounts, lows, shifts)
    return np.asarray(asked.max(axis=1))


def _placed_anew(
    family: Family,
    places: Places,
    amounts: Annotated[Floats, "column"],
    lows: Sequence[tuple[int, ...]],
    shifts: Annotated[Floats, "bucket"],
) -> ByBucketAndSlot:
    """Return by bucket and slot what keys are asked for that are others in every bucket."""
    keys, room = len(places.columns.keys), len(lows)
    firsts = np.asarray([low[0] for low in lows], dtype=np.uint64)
    periods: Integers = (shifts // max(family.step or 1.0, 1.0)).astype(np.int64)
    hashes = hashes_in(places.hashes.view(np.uint64)[0], periods[:, None])
    slots = np.searchsorted(firsts, hashes, side="right") - 1
    at = (np.arange(len(shifts))[:, None] * room + slots).ravel()
    found = np.bincount(at, np.tile(amounts[:keys], len(shifts)), len(shifts) * room)
    widths = np.diff(np.asarray([*firsts.tolist(), HASH_SPACE], dtype=np.float64)) / HASH_SPACE
    return np.asarray(found.reshape(len(shifts), room) + amounts[keys:].sum() * widths)
