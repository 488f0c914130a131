"""Vector search by the number of entries, with numpy and without it.

    python -m benchmarks.vectors [ENTRIES ...]

Target: 100,000 vectors of 256 dimensions searched in under 30 ms with numpy, and a cost that is
linear in the entries. Without numpy a tenth of them is searched, and the figure is for all.
"""

import argparse
import random
import statistics
import time
from array import array

from benchmarks.measure import table
from emulator.model import Item
from emulator.model.vectors import VectorEntry
from emulator.storage import vectors
from emulator.storage.vectors import VectorSearch, VectorStore

DIMENSIONS = 256
SIZES = (12_500, 25_000, 50_000, 100_000)
FUNCTIONS = ("COSINE", "EUCLIDEAN", "DOT_PRODUCT")
ROUNDS = 9
MOST = 10


def drawn(draw):
    return array("f", [draw.gauss(0, 1) for _ in range(DIMENSIONS)])


def filled(size, draw):
    """Return a store of so many vectors; drawing few and turning them keeps the set-up short."""
    seeds = [drawn(draw) for _ in range(1000)]
    store = VectorStore(DIMENSIONS)
    for number in range(size):
        turn = draw.randrange(DIMENSIONS)
        vector = seeds[number % len(seeds)]
        turned = vector[turn:] + vector[:turn]
        item = Item({"pk": str(number)}, 8)
        store.put((number, str(number)), VectorEntry(item, turned, 4 * DIMENSIONS + 11, None))
    return store


def searched(store, draw, function, rounds):
    """Return the milliseconds of a search: the least, and the median."""
    times = []
    for _ in range(rounds):
        wanted = VectorSearch(drawn(draw), MOST, function)
        started = time.perf_counter()
        store.search(wanted)
        times.append((time.perf_counter() - started) * 1e3)
    return min(times), statistics.median(times)


def main(sizes=SIZES):
    draw = random.Random(1)
    rows = []
    has_numpy = vectors.find_numpy() is not None
    for size in sizes:
        store = filled(size, draw)
        cells = [f"{size:,}"]
        for function in FUNCTIONS if has_numpy else ():
            least, median = searched(store, draw, function, ROUNDS)
            cells.append(f"{least:.1f} / {median:.1f}")
        kept, vectors.find_numpy = vectors.find_numpy, lambda: None
        tenth = filled(size // 10, draw)
        cells.append(f"{10 * searched(tenth, draw, 'COSINE', 3)[0]:.0f}")
        vectors.find_numpy = kept
        rows.append(cells)
    head = ["entries", *(FUNCTIONS if has_numpy else ()), "without numpy, COSINE"]
    table(f"A search among vectors of {DIMENSIONS} dimensions, ms (least / median)", head, rows)
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("entries", type=int, nargs="*", default=SIZES, help="how many vectors")
    main(parser.parse_args().entries)
