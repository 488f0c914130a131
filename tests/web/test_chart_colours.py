"""Colours of charts: apart for every kind of sight, and legible on their ground."""

import math
import re
from itertools import combinations

import pytest

from emulator.web import read

DESIGNS = ("d1", "d2", "d3", "d4", "d5", "d6")
#: Machado, Oliveira and Fernandes 2009: what is left of a colour without one kind of cone.
SIGHT = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}  # fmt: skip


def variables(text):
    """Return the colours that a block of the style sheet sets."""
    return dict(re.findall(r"--(\w+): (#[0-9a-f]{6}|#fff);", text))


LIGHT_TEXT, _, DARK_TEXT = read("kit/chart.css").partition("@media (prefers-color-scheme: dark)")
LIGHT = variables(LIGHT_TEXT) | {"surface": "#ffffff"}
DARK = LIGHT | variables(DARK_TEXT)
each_scheme = pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])


def linear(colour):
    """Return the light of a colour, by channel."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]


def luminance(colour):
    """Return how bright a colour is."""
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(colour), strict=True))


def contrast(one, other):
    """Return the ratio of WCAG 2."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def perceived(colour, sight):
    """Return a colour in CIELAB, as someone sees it."""
    light = linear(colour)
    red, green, blue = (
        min(1.0, max(0.0, sum(a * b for a, b in zip(row, light, strict=True)))) for row in sight
    )
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883
    fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def distance(one, other, sight):
    """Return how different two colours look; about 2 is just noticeable."""
    return math.dist(perceived(one, sight), perceived(other, sight))


@each_scheme
@pytest.mark.parametrize("sight", SIGHT)
def test_designs_and_refusals_stay_apart_for_every_kind_of_sight(colours, sight):
    names = (*DESIGNS, "red")
    near = [
        (one, other)
        for one, other in combinations(names, 2)
        if distance(colours[one], colours[other], SIGHT[sight]) < 15
    ]
    assert near == []


@each_scheme
@pytest.mark.parametrize("sight", SIGHT)
def test_load_is_never_taken_for_refusal(colours, sight):
    assert distance(colours["blue"], colours["red"], SIGHT[sight]) > 40


@each_scheme
def test_text_and_lines_are_legible_on_their_ground(colours):
    surface = colours["surface"]
    assert all(contrast(colours[n], surface) >= 4.5 for n in ("ink", "ink2", "ink3", "best"))
    assert all(contrast(colours[name], surface) >= 3.0 for name in (*DESIGNS, "red", "blue"))
