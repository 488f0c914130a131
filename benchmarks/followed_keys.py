"""What is lost by following only the keys that could fill 1 % of a partition (decision 71).

    python -m benchmarks.followed_keys              six families, five loads each, 400 worlds
    python -m benchmarks.followed_keys --worlds 50

Each case is played twice in the same worlds: as the lab does, and with keys followed from a
hundredth of that share on. Loads are such that the risk goes from about 0.05 to 0.95. Printed are
both risks, their difference, and its standard error from the worlds in which the two differ.
"""

import argparse
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from unittest.mock import patch

from benchmarks.measure import table
from emulator.lab import Capacity, Design, Field, Index, Pattern, Preload, Workload, Zipf
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import Known, draw_worlds
from emulator.lab.world import Worlds, families

FINE = families.FOLLOWED_SHARE / 100


def put(rate, **options):
    return Pattern("put", "PutItem", rate=rate, size=900, arrivals="poisson", **options)


def design(partition, write, sort="{timestamp}", **options):
    return Design(
        "d", partition=partition, sort=sort, capacity=Capacity(read=9_000, write=write), **options
    )


def family(name, load):
    """Return the workload and design of a family at a multiple of its load."""
    user = Field("user", count=1_000_000, distribution=Zipf(1.0))
    tenant = Field("tenant", count=300, distribution=Zipf(1.1))
    customer = Field("customer", count=1_000, per="tenant", distribution=Zipf(0.9))
    run = {"duration": 300, "warm_up": 0, "load": load}
    if name == "popular keys":
        return Workload(fields=[user], patterns=[put(3_000)], **run), design("{user}", 6_000)
    if name == "even keys":
        fields = [Field("device", count=3_000)]
        return Workload(fields=fields, patterns=[put(5_200)], **run), design("{device}", 6_000)
    if name == "nested tenants":
        fields = [tenant, customer]
        keyed = design("{tenant}#{customer}", 6_000)
        return Workload(fields=fields, patterns=[put(4_300)], **run), keyed
    if name == "an index":
        by_customer = Index("byUser", partition="{user}", sort="{timestamp}")
        fields = [user, Field("order", unique="random")]
        keyed = design("{order}", 6_000, sort=None, indexes=[by_customer])
        return Workload(fields=fields, patterns=[put(3_000)], **run), keyed
    if name == "unequal collections":
        query = Pattern("query", "Query", by=("user",), rate=700, arrivals="poisson")
        fields = [Field("user", count=20_000, distribution=Zipf(0.8))]
        stored = [Preload(pattern="put", items=200_000)]
        keyed = design("{user}", 6_000)
        return Workload(fields=fields, patterns=[put(10), query], preload=stored, **run), keyed
    fields = [user, Field("item", count=40, per="user")]
    return Workload(fields=fields, patterns=[put(3_300)], **run), design("{user}#{item}", 5_000)


FAMILIES = {
    "popular keys": (1.6, 1.7, 1.8, 1.9, 2.0),
    "even keys": (1.3, 1.4, 1.5, 1.55, 1.6),
    "nested tenants": (1.6, 1.7, 1.75, 1.8, 1.9),
    "an index": (1.6, 1.7, 1.8, 1.9, 2.0),
    "unequal collections": (0.15, 0.18, 0.2, 0.22, 0.25),
    "items of users": (1.7, 1.8, 1.9, 2.0, 2.1),
}


def play(case):
    """Return in which worlds a case throttles, with few keys followed and with many."""
    name, load, worlds = case
    workload, chosen = family(name, load)
    drawn, found = draw_worlds(0, worlds, Known()), []
    for share in (families.FOLLOWED_SHARE, FINE):
        with patch.object(families, "FOLLOWED_SHARE", share):
            played = Worlds(Layout(chosen, workload)).play(drawn)
        found.append([outcome.throttles for outcome in played])
    return found


def main(worlds=400):
    cases = [(name, load, worlds) for name, loads in FAMILIES.items() for load in loads]
    context = multiprocessing.get_context("spawn")
    rows = []
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1), mp_context=context) as pool:
        for (name, load, _), (few, many) in zip(cases, pool.map(play, cases), strict=True):
            risks = [sum(own) / worlds for own in (few, many)]
            differ = sum(one != other for one, other in zip(few, many, strict=True))
            error = differ**0.5 / worlds
            rows.append(
                [
                    name,
                    f"{load:g}",
                    *(f"{own:.3f}" for own in risks),
                    f"{risks[0] - risks[1]:+.3f}",
                    f"{error:.3f}",
                ]
            )
            print(", ".join(rows[-1]), flush=True)
    header = ["family", "load", "risk", "risk, a hundredth", "difference", "standard error"]
    table(f"Keys followed from {families.FOLLOWED_SHARE:.0%} of a partition on", header, rows)
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--worlds", type=int, default=400)
    main(parser.parse_args().worlds)
