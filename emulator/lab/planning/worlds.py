"""Worlds: one draw each of everything that the service does not tell.

Which keys share a partition, when a partition splits, how far an index may fall behind: none of
it is known outside the service. A world has one answer to each of these questions, drawn from its
seed; a design is judged by the share of worlds in which it throttles. The ranges are those of
``docs/rules/measurements.md``, section Worlds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from emulator.capacity.delays import draw
from emulator.settings import SALTS, Settings, Unset

_LEAST_BUFFER: Final = 50.0
_MOST_BUFFER: Final = 600.0
#: Assumed: two days, as older texts of AWS say.
_LONGEST_TTL_DELAY: Final = 2 * 86_400.0
_READ_FACTORS: Final = (1.0, 1.5)
_AUTOSCALING_DELAY: Final = (60.0, 180.0, 600.0)


@dataclass(frozen=True)
class Unknown:
    """One thing that the service does not tell.

    Attributes:
        name: Its name in reports.
        rule: The rule that gives the evidence; "" for what the workload leaves to chance.
        setting: The setting that a world decides; "" for the arrivals of requests.
        value: Return a world's value for its seed.
    """

    name: str
    rule: str
    setting: str
    value: Callable[[int], Any]


def _salt(seed: int) -> int:
    return int(draw(seed, "placement_salt") * SALTS)


def _buffer(seed: int) -> float:
    """Return a buffer whose logarithm is uniform."""
    chance = draw(seed, "gsi_buffer_seconds")
    return float(_LEAST_BUFFER * (_MOST_BUFFER / _LEAST_BUFFER) ** chance)


def _ttl_delay(seed: int) -> float:
    """Return how long an item outlives its time: within days, says AWS."""
    return float(draw(seed, "ttl_delay") * _LONGEST_TTL_DELAY)


def _read_factor(seed: int) -> float:
    return _READ_FACTORS[draw(seed, "eventual_read_factor") >= 0.5]


PLACEMENT: Final = Unknown("placement of keys", "CAP2-7", "placement_salt", _salt)
SPLIT_TIMES: Final = Unknown("times of splits", "CAP2-3", "seed", lambda seed: seed)
INDEX_BUFFER: Final = Unknown("index buffer", "CAP2-4", "gsi_buffer_seconds", _buffer)
RESERVE: Final = Unknown(
    "reserve at the start", "CAP2-5", "burst_start", lambda seed: draw(seed, "burst_start")
)
REPLICA_READS: Final = Unknown("replica reads", "CAP2-6", "eventual_read_factor", _read_factor)
SCALING_DELAY: Final = Unknown(
    "auto-scaling delay", "CAP2-8", "autoscaling_delay", lambda _: _AUTOSCALING_DELAY
)
DELETION: Final = Unknown("deletion by time to live", "CAP-1101", "ttl_delay", _ttl_delay)
ARRIVALS: Final = Unknown("arrivals", "", "", lambda seed: seed)

#: In the order in which reports name them.
UNKNOWNS: Final = (
    PLACEMENT,
    SPLIT_TIMES,
    INDEX_BUFFER,
    RESERVE,
    REPLICA_READS,
    SCALING_DELAY,
    DELETION,
    ARRIVALS,
)
_DEFAULTS: Final = {field.name: field.default for field in fields(Settings)}


@dataclass(frozen=True)
class Known:
    """The known settings of the service, which are the same in every world.

    A setting is known if it was given, differs from its default, or is named.

    >>> known = Known(Settings(burst_start=1.0), frozenset({"placement_salt"}))
    >>> known.has("burst_start"), known.has("placement_salt"), known.has("gsi_buffer_seconds")
    (True, True, False)
    """

    settings: Settings = field(default_factory=Settings)
    named: frozenset[str] = frozenset()

    def has(self, setting: str) -> bool:
        """Return whether a setting is known."""
        value = getattr(self.settings, setting)
        if setting in self.named or value != _DEFAULTS[setting]:
            return True
        return isinstance(_DEFAULTS[setting], Unset) and not isinstance(value, Unset)


@dataclass(frozen=True)
class World:
    """One draw of every unknown.

    Attributes:
        seed: Names it.
        arrivals: The seed of the requests that arrive.
        settings: The constants that hold in it.
    """

    seed: int
    arrivals: int
    settings: Settings


def draw_worlds(
    first: int, count: int, known: Known, *, only: Unknown | None = None
) -> list[World]:
    """Return worlds with consecutive seeds; equal seeds give equal worlds.

    Args:
        first: The seed of the first world.
        count: How many.
        known: The known settings.
        only: Draw this unknown alone; all others are as in the first world.

    >>> first, second = draw_worlds(0, 2, Known(Settings(gsi_buffer_seconds=0)))
    >>> first.settings.placement_salt == second.settings.placement_salt
    False
    >>> first.settings.gsi_buffer_seconds, second.settings.gsi_buffer_seconds
    (0, 0)
    """
    worlds = [_world(seed, known) for seed in range(first, first + count)]
    if only is None:
        return worlds
    return [_with(worlds[0], only, world) for world in worlds]


def _world(seed: int, known: Known) -> World:
    drawn = {
        unknown.setting: unknown.value(seed)
        for unknown in UNKNOWNS
        if unknown.setting and not known.has(unknown.setting)
    }
    return World(seed, seed, replace(known.settings, **drawn))


def _with(base: World, unknown: Unknown, other: World) -> World:
    """Return a world with one unknown as it is in another."""
    if not unknown.setting:
        return replace(base, seed=other.seed, arrivals=other.arrivals)
    # Delays that are drawn for each change follow the settings' seed.
    settings: dict[str, Any] = {unknown.setting: getattr(other.settings, unknown.setting)}
    if unknown is SCALING_DELAY:
        settings["seed"] = other.settings.seed
    return replace(base, seed=other.seed, settings=replace(base.settings, **settings))
