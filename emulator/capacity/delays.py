"""Delays that the service does not publish, drawn so that equal seeds give equal runs.

A draw is a pure function of the seed and of what it is about, so it does not depend on what else
was drawn, in which order, or on which machine.
"""

from __future__ import annotations

import math
from typing import Final

import mmh3

from emulator.settings import Delay

_SEEDS: Final = 2**32
_DRAWS: Final = 2**64


def draw(seed: int, *subject: object) -> float:
    """Return a number in [0, 1), uniform over seeds and over subjects.

    >>> draw(0, "a") == draw(0, "a"), draw(0, "a") == draw(1, "a")
    (True, False)
    """
    text = "\0".join(map(str, (seed, *subject)))
    return mmh3.hash64(text.encode(), seed % _SEEDS, signed=False)[0] / _DRAWS


def seconds(delay: Delay, chance: float) -> float:
    """Return a delay: the number itself, or of three the triangular quantile at ``chance``.

    >>> seconds(120.0, 0.9)
    120.0
    >>> [round(seconds((180, 513, 720), chance)) for chance in (0.0, 0.5, 1.0)]
    [180, 480, 720]
    """
    if not isinstance(delay, tuple | list):
        return delay
    least, mode, most = delay
    width = most - least
    if not width:
        return float(least)
    if chance * width < mode - least:
        return float(least + math.sqrt(chance * width * (mode - least)))
    return float(most - math.sqrt((1 - chance) * width * (most - mode)))
