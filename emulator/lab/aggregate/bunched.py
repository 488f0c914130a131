"""Calls that come bunched: what passes of them if a bucket is short.

What flows into a bucket is taken by calls that come at moments which know nothing of each other.
Between two of them g flows in on average, and how much it is follows an exponential law: the
chance of at least x is exp(-x / g). Of a call that asks 1 the part g (1 - exp(-1 / g)) passes.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from emulator.lab.inputs.distributions import Floats

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


def refused_in_whole(items: Floats, passed: Floats) -> Floats:
    """Return of the refused items the share whose whole batch is refused.

    Args:
        items: In a batch.
        passed: The share of items that passes.

    >>> refused_in_whole(np.array([1.0, 2.0, 10.0]), np.array([0.5, 0.5, 0.5])).round(3)
    array([1.   , 0.621, 0.151])
    """
    flows = _flows(passed) * items
    whole = 1 + flows * np.expm1(-1 / flows)
    share = np.divide(whole, 1 - passed, out=np.zeros_like(whole), where=passed < 1)
    return np.where(items > 1, np.clip(share, 0.0, 1.0), 1.0)
