"""A run: parts take turns by their shares, from one seed."""

import contextlib
import random
import warnings
from collections import Counter

from benchmarks.fuzz.doors import Control, Http
from benchmarks.fuzz.files import Designs, LabFiles, Snapshots
from benchmarks.fuzz.growth import Growth
from benchmarks.fuzz.operations import Operations, Statements
from benchmarks.fuzz.tally import Tally
from emulator.operations import find
from emulator.service.catalogue import OPERATIONS

#: How often each operation must be served, and in how many requests.
LEAST_SERVED, OF_REQUESTS = 50, 1_000_000


def _enforced(chooser, tally):
    return Operations(chooser, tally, "enforce")


#: Name, share of the requests, and who plays.
PARTS = {
    "operations": (0.395, Operations),
    "growth": (0.005, Growth),
    "operations, enforced": (0.20, _enforced),
    "statements": (0.15, Statements),
    "http": (0.18, Http),
    "control": (0.05, Control),
    "snapshots": (0.015, Snapshots),
    "lab files": (0.001, LabFiles),
    "designs": (0.004, Designs),
}


def run(requests, seed, parts=None, told=lambda _tally: None):
    """Play every part, and return their tallies.

    Args:
        requests: How many over all parts.
        seed: Where chance begins; the same seed plays the same requests.
        parts: Names of the parts to play; all if None.
        told: Called with each tally as its part ends.
    """
    chosen = PARTS if parts is None else {name: PARTS[name] for name in parts}
    shares = sum(share for share, _ in chosen.values())
    tallies = []
    for name, (share, part) in chosen.items():
        tally = Tally(name)
        with _without_warnings():
            played = part(random.Random(f"{seed}/{name}"), tally)
            for _ in range(max(1, round(requests * share / shares))):
                played.play()
            if hasattr(played, "end"):
                played.end()
        told(tally)
        tallies.append(tally)
    return tallies


def served_counts(tallies):
    """Return how often each operation was served, the most seldom first.

    Those that the service refuses whatever is asked of them are left out.
    """
    served = sum((tally.served for tally in tallies), Counter())
    names = (n for n in OPERATIONS if find(n).handler.__annotations__["return"] != "NoReturn")
    return {name: served[name] for name in sorted(names, key=served.__getitem__)}


def seldom_served(tallies, requests):
    """Return the operations that were served too seldom, with how often."""
    least = LEAST_SERVED * requests / OF_REQUESTS
    return {name: count for name, count in served_counts(tallies).items() if count < least}


@contextlib.contextmanager
def _without_warnings():
    """Show no warnings: members that nobody knows are named by every fuzzed request."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda *_arguments, **_options: None
        yield
