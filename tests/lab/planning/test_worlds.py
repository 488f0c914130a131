"""Worlds: the same seed gives the same world, and what is known is the same in all of them."""

from __future__ import annotations

from dataclasses import fields
from statistics import fmean, median

import pytest

from emulator.lab.planning.worlds import (
    ARRIVALS,
    PLACEMENT,
    UNKNOWNS,
    Known,
    Unknown,
    World,
    draw_worlds,
)
from emulator.settings import SALTS, Settings


def _differences(worlds: list[World]) -> set[str]:
    """Return the names of settings that are not the same in all worlds."""
    return {
        field.name
        for field in fields(Settings)
        if len({getattr(world.settings, field.name) for world in worlds}) > 1
    }


def test_a_world_follows_from_its_seed() -> None:
    assert draw_worlds(0, 20, Known())[7] == draw_worlds(7, 1, Known())[0]


def test_placements_and_buffers_are_spread_over_their_ranges() -> None:
    """CAP2-7, and the ranges of the section Worlds."""
    worlds = draw_worlds(0, 2000, Known())
    salts = [world.settings.placement_salt / SALTS for world in worlds]
    buffers = [world.settings.gsi_buffer_seconds for world in worlds]
    factors = [world.settings.eventual_read_factor for world in worlds]
    assert fmean(salts) == pytest.approx(0.5, abs=0.03)
    assert min(buffers) >= 50
    assert max(buffers) <= 600
    assert median(buffers) == pytest.approx(173, rel=0.1)
    assert set(factors) == {1.0, 1.5}
    assert fmean(factors) == pytest.approx(1.25, abs=0.02)


def test_a_setting_that_is_given_is_the_same_in_every_world() -> None:
    worlds = draw_worlds(0, 20, Known(Settings(burst_start=1.0), frozenset({"placement_salt"})))
    assert _differences(worlds) == {
        "seed",
        "gsi_buffer_seconds",
        "eventual_read_factor",
        "ttl_delay",
    }


@pytest.mark.parametrize("unknown", UNKNOWNS, ids=lambda unknown: unknown.name)
def test_one_unknown_alone_changes_nothing_else(unknown: Unknown) -> None:
    worlds = draw_worlds(0, 20, Known(), only=unknown)
    assert worlds[0] == draw_worlds(0, 1, Known())[0]
    assert _differences(worlds) <= {unknown.setting, "seed"}
    assert (len({world.arrivals for world in worlds}) > 1) == (unknown is ARRIVALS)
    if unknown is PLACEMENT:
        assert _differences(worlds) == {"placement_salt"}
