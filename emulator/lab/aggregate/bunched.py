"""Calls that come bunched: what passes of them if a bucket is short.

A call passes if the bucket holds one unit, whatever it costs (CAP-603). So the first item of a
batch passes as often as a single call that comes at any moment, and the next ones only if the
bucket holds more. How much more it holds follows an exponential law: the chance of at least x is
exp(-d x). What flows in lifts the level and what calls take lowers it; the two are in balance if
the mean of exp(d (inflow - cost)), over the gaps between calls and over calls, is 1. If gaps know
nothing of each other, that is the d for which inflow d = sum of calls (1 - exp(-d cost)), where
the inflow and the calls are those of a second; a batch is one call with the cost of all its items.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from emulator.lab.inputs.distributions import Floats, Integers, sums

#: Steps towards a decay.
_STEPS: Final = 8
#: Gaps between calls are never taken as more even than this.
_LEAST_UNEVEN: Final = 0.05
_LEAST: Final = 1e-9
#: What flows in between two calls, as a multiple of what one takes: where looked at.
_FLOWS: Final = np.geomspace(1e-3, 1e3, 601)
#: The part of a call that passes then.
_PASSED: Final = _FLOWS * -np.expm1(-1 / _FLOWS)


def _flows(passed: Floats) -> Floats:
    """Return what flows in between two calls of which such a part passes.

    >>> _flows(np.array([0.5])).round(3).tolist()
    [0.628]
    """
    return np.interp(passed, _PASSED, _FLOWS)


def passed_when_queued(passed: Floats, is_cut: NDArray[np.bool_]) -> Floats:
    """Return the chance of calls to pass that begin when another has ended.

    A call that comes back takes what has flowed in, and its place is taken by new ones until one
    of them finds nothing. With g between two that come back, 1 - exp(-1 / g) of the new ones are
    refused. Where a batch that is done in part gives its place away, too, another finds nothing.

    Args:
        passed: The chance of calls that come back.
        is_cut: Whether they are batches that end when they are done in part.

    >>> passed_when_queued(np.array([0.5, 0.5, 1.0]), np.array([False, True, False])).round(3)
    array([0.203, 0.102, 1.   ])
    """
    found = np.exp(-1 / _flows(passed))
    return np.where(passed < _PASSED[-1], np.where(is_cut, passed, 1.0) * found, passed)


def decays(
    calls: Floats, costs: Floats, buckets: Integers, room: Floats, unevenness: Floats
) -> Floats:
    """Return for each bucket how fast the chance falls that it holds more: d in exp(-d x).

    Args:
        calls: In a second; of any shape.
        costs: What each of them would take, likewise.
        buckets: The number of the bucket that they meet, likewise.
        room: By bucket, what it can give in the second.
        unevenness: By bucket, the variance of the gaps between calls, as a multiple of their
            mean squared: 1 if calls know nothing of each other, 0 if they come at an even pace.

    >>> calls, costs = np.array([1.5, 7.5]), np.array([20.0, 3.0])
    >>> one, room = np.zeros(2, dtype=np.int64), np.array([31.0])
    >>> [decays(calls, costs, one, room, np.array([own])).round(3) for own in (1.0, 0.5)]
    [array([0.113]), array([0.163])]
    """
    flat, costs = buckets.ravel(), costs.ravel()
    calls = np.where(costs > 0, calls.ravel(), 0.0)
    count = len(room)
    total = np.maximum(sums(flat, calls, count), _LEAST)
    uneven = np.maximum(unevenness, _LEAST_UNEVEN)
    inflow = np.maximum(room, _LEAST) / total
    # The logarithm of the mean: it bends upwards, so that Newton's steps come from above once they
    # are there, and it has no end below the highest decay.
    low, high = np.zeros(count), 1 / (inflow * uneven)
    found = np.minimum(1.0, 0.5 / uneven) / inflow
    for _ in range(_STEPS):
        left = calls * np.exp(-found[flat] * costs)
        staying = np.maximum(sums(flat, left, count), np.finfo(np.float64).tiny)
        filled = 1 - found * inflow * uneven
        excess = np.log(staying / total) - np.log(filled) / uneven
        slope = inflow / filled - sums(flat, left * costs, count) / staying
        low, high = np.where(excess < 0, found, low), np.where(excess < 0, high, found)
        step = np.divide(excess, slope, out=np.full(count, np.inf), where=slope > 0)
        better = found - step
        is_inside = (better >= low) & (better <= high)
        found = np.where(is_inside, better, (low + high) / 2)
    return found


def passed_together(items: Floats, decay: Floats) -> Floats:
    """Return the share of a batch's items that pass, if the first one does.

    Args:
        items: In a batch.
        decay: Of what the bucket holds, for the cost of an item.

    >>> passed_together(np.array([1.0, 20.0, 20.0]), np.array([0.113, 0.113, 0.0])).round(2)
    array([1.  , 0.42, 1.  ])
    """
    falls = np.maximum(decay, _LEAST)
    return np.asarray(np.expm1(-falls * items) / (items * np.expm1(-falls)))


def unevenness(clients: int, paced: Floats) -> Floats:
    """Return how uneven the gaps between the calls of some clients are.

    A client whose own limit is all that holds its calls back sends them at an even pace. The calls
    of n such clients come like n even rows laid over each other at random.

    Args:
        clients: How many.
        paced: The share of calls that their client's limit held back.

    >>> unevenness(2, np.array([0.0, 1.0])).round(3), unevenness(20, np.array([1.0])).round(3)
    (array([1.   , 0.333]), array([0.905]))
    """
    return np.asarray(1 - 2 * paced / (clients + 1))
