"""Whether the lab's engine gives the answers of a recording, as distributions over worlds.

    python -m benchmarks.same_answers record answers.json          about 200 cases, hours
    python -m benchmarks.same_answers compare answers.json         the same cases now
    python -m benchmarks.same_answers record answers.json --only saas --worlds 50

A case is a design under a workload: the built-in comparison, every key scheme, the workloads of
``benchmarks.agreement``, designs drawn at random and, if its path is given with ``--file``, a lab
file. Kept of each world is whether it throttles, its share of throttled calls, and its units;
``compare`` prints the cases whose risk differs by more than two standard errors and 0.01, and those
whose median share, units or cost differ by more than 1 %.
"""

import argparse
import json
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from statistics import fmean, median

import numpy as np

from benchmarks.agreement import draw
from emulator.lab import (
    Capacity,
    Design,
    Field,
    Hotspot,
    Index,
    Pattern,
    Preload,
    Ramp,
    Spikes,
    Uniform,
    Workload,
    Zipf,
    load,
)
from emulator.lab.analysis.costs import costs, usages
from emulator.lab.analysis.world_runs import WorldRuns
from emulator.lab.inputs import builtin
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import Known

SCHEMES = Path(__file__).parent / "key_schemes"
AGREEMENT_SEEDS = range(60)
RANDOM_SEEDS = range(90)
#: Worlds are played by so many at once, until a case has taken so many seconds.
BATCH = 40
LONGEST = 400.0
LEAST = 200


def drawn(seed):
    """Return a workload and a design that may throttle in some worlds."""
    rng = np.random.default_rng([seed, 39])

    def one_of(*values):
        return values[int(rng.integers(len(values)))]

    rate = one_of(600, 1_500, 3_000)
    popular = one_of(Uniform(), Zipf(0.8), Zipf(1.0), Zipf(1.2), Hotspot(0.02, 0.5))
    fields = [
        Field("user", count=one_of(6, 40, 400, 20_000, 300_000), distribution=popular),
        Field("item", count=one_of(3, 50), per="user"),
        Field("kind", values=("a", "b", "c"), distribution=one_of(Uniform(), Zipf(1.0))),
        Field("order", unique="random"),
    ]
    pace = one_of(
        rate,
        rate,
        Ramp(start=rate / 2, end=rate, over=200),
        Spikes(base=rate / 3, peak=rate, every=200, lasting=30),
    )
    size = one_of(300, 900, 2_500)
    patterns = [Pattern("put", "PutItem", rate=pace, size=size, arrivals=one_of("even", "poisson"))]
    if rng.random() < 0.5:
        patterns.append(
            Pattern("get", "GetItem", by=("user", "item", "order"), rate=rate, consistent=True)
        )
    if rng.random() < 0.5:
        query = Pattern(
            "query", "Query", by=("user",), rate=rate / one_of(10, 40), items=one_of(5, 40, None)
        )
        patterns.append(query)
    if rng.random() < 0.3:
        patterns.append(
            Pattern(
                "update",
                "UpdateItem",
                by=("user", "item", "order"),
                changes=("kind",),
                rate=rate / 5,
                size=size,
            )
        )
    indexes = []
    if rng.random() < 0.6:
        key = one_of("{kind}", "{kind}#{random(8)}", "{item}", "{user}#{kind}")
        projection = one_of("ALL", "KEYS_ONLY")
        indexes.append(
            Index(
                "other", partition=key, sort=one_of("{timestamp}", "{order}"), projection=projection
            )
        )
        if rng.random() < 0.4:
            patterns.append(
                Pattern("by kind", "Query", by=("kind", "user", "item"), rate=rate / 50, items=10)
            )
    partition = one_of(
        "{user}",
        "{user}",
        "{timestamp:minute}#{hash(user) % 8}",
        "{timestamp:hour}#{random(6)}",
        "{order}",
        "{user}#{item}",
        "{kind}#{hash(order) % 5}",
    )
    write = rate * -(-size // 1024)
    capacity = one_of(
        Capacity(),
        Capacity(read=int(rate * 3), write=int(write * one_of(0.9, 1.2, 1.6))),
        Capacity(read=int(rate * 3), write=int(write * 2.5)),
    )
    workload = Workload(
        fields=fields,
        patterns=patterns,
        duration=one_of(120, 300, 900),
        warm_up=one_of(0, 60, 300),
        retry=one_of("legacy", "legacy", "standard"),
        preload=one_of((), (Preload(pattern="put", items=100_000, span=86_400.0),)),
        seed=seed,
    )
    sort = one_of("{timestamp}#{order}", "{item}#{order}", "{order}")
    return workload, Design("d", partition=partition, sort=sort, indexes=indexes, capacity=capacity)


def cases(files):
    """Yield the name of every case, with its workload, design and known settings."""
    known = Known()
    for design in builtin.hour_and_device():
        yield f"built-in/{design.name}", builtin.device_events(), design, known
    for path in [*files, *sorted(SCHEMES.glob("*.yaml"))]:
        file = load(path)
        for design in file.designs:
            name = f"{path.stem}/{design.name}"
            yield name, file.workload, design, Known(file.settings, file.known)
    for seed in AGREEMENT_SEEDS:
        yield f"agreement/{seed}", *draw(seed), known
    for seed in RANDOM_SEEDS:
        yield f"random/{seed}", *drawn(seed), known


def play(case, worlds):
    """Return what the worlds of a case showed, and the cost of the one in the middle."""
    name, workload, design, known = case
    layout = Layout(design, workload)
    began, cpu = time.monotonic(), time.process_time()
    outcomes = []
    while len(outcomes) < worlds:
        count = min(BATCH, worlds - len(outcomes))
        first = workload.seed + len(outcomes)
        runs = WorldRuns(layout, "aggregate", first, known, whole=count)
        outcomes += runs.play(count)
        if time.monotonic() - began > LONGEST and len(outcomes) >= LEAST:
            break
    seconds = time.process_time() - cpu
    shares = [outcome.throttled_share for outcome in outcomes]
    middle = sorted(outcomes, key=lambda outcome: outcome.throttled_share)[len(outcomes) // 2]
    log = WorldRuns(layout, "aggregate", 0, known).log(middle.world)
    bills = costs(usages(log, known.settings), layout, known.settings, log.patterns.values())
    resources = outcomes[0].units
    return {
        "name": name,
        "worlds": len(outcomes),
        "hits": sum(outcome.throttles for outcome in outcomes),
        "shares": [round(share, 6) for share in shares],
        "failed": fmean(outcome.failed_share for outcome in outcomes),
        "splits": fmean(outcome.splits for outcome in outcomes),
        "units": {
            key: [fmean(outcome.units[key][axis] for outcome in outcomes) for axis in (0, 1)]
            for key in resources
        },
        "costs": {f"{bill.billing} {bill.table_class}": bill.total for bill in bills},
        "seconds": seconds,
    }


def record(path, chosen, worlds, jobs):
    """Play all cases that the file does not have yet, and add each as it ends."""
    done = set()
    if path.exists():
        done = {json.loads(line)["name"] for line in path.read_text().splitlines()}
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool, path.open("a") as out:
        futures = {pool.submit(play, case, worlds): case for case in chosen if case[0] not in done}
        for future in as_completed(futures):
            try:
                result = future.result()
            except Exception as error:
                print(f"{futures[future][0]}: {type(error).__name__}: {error}", flush=True)
                continue
            out.write(json.dumps(result) + "\n")
            out.flush()
            hits, played = result["hits"], result["worlds"]
            print(f"{result['name']}: {hits}/{played}, {result['seconds']:.1f} s", flush=True)


def differences(old, new):
    """Yield in words how a case differs from its recording."""
    risks = [own["hits"] / own["worlds"] for own in (old, new)]
    pooled = (old["hits"] + new["hits"]) / (old["worlds"] + new["worlds"])
    error = (pooled * (1 - pooled) * (1 / old["worlds"] + 1 / new["worlds"])) ** 0.5
    if abs(risks[0] - risks[1]) > 2 * error + 0.01:
        yield f"risk {risks[0]:.3f} -> {risks[1]:.3f} (+-{error:.3f})"
    for name, function in (("median share", median), ("mean share", fmean)):
        shares = [function(own["shares"]) for own in (old, new)]
        spread = max(np.std(own["shares"]) / len(own["shares"]) ** 0.5 for own in (old, new))
        if abs(shares[0] - shares[1]) > 0.01 * max(shares[0], 0.05) + 3 * spread:
            yield f"{name} {shares[0]:.4f} -> {shares[1]:.4f}"
    if abs(old["splits"] - new["splits"]) > 0.1 + 0.05 * old["splits"]:
        yield f"splits {old['splits']:.2f} -> {new['splits']:.2f}"
    for key, units in old["units"].items():
        for axis, before in enumerate(units):
            after = new["units"][key][axis]
            if abs(after - before) > 0.01 * max(before, 1.0):
                yield f"{key} {'RW'[axis]} units {before:.0f} -> {after:.0f}"
    for key, before in old["costs"].items():
        after = new["costs"].get(key, 0.0)
        if abs(after - before) > 0.01 * max(before, 0.01):
            yield f"cost {key} {before:.2f} -> {after:.2f}"


def compare(path, chosen, worlds, jobs):
    """Play all cases of the file again, and print those that differ."""
    recorded = {own["name"]: own for own in map(json.loads, path.read_text().splitlines())}
    context = multiprocessing.get_context("spawn")
    differ = played = 0
    before = after = 0.0
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        futures = {
            pool.submit(play, case, min(worlds, recorded[case[0]]["worlds"])): case[0]
            for case in chosen
            if case[0] in recorded
        }
        for future in as_completed(futures):
            name = futures[future]
            old = recorded[name]
            try:
                new = future.result()
            except Exception as error:
                print(f"{name}: {type(error).__name__}: {error}", flush=True)
                differ += 1
                continue
            played += 1
            before += old["seconds"] / old["worlds"]
            after += new["seconds"] / new["worlds"]
            found = list(differences(old, new))
            differ += bool(found)
            pace = f"{old['seconds'] / old['worlds']:.3f} -> {new['seconds'] / new['worlds']:.3f} s"
            print(f"{name} ({pace} a world): {'; '.join(found) or 'same'}", flush=True)
    print(
        f"{played} cases, {differ} differ; {before:.1f} -> {after:.1f} CPU s for one world of each"
    )
    return differ


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("command", choices=("record", "compare"))
    parser.add_argument("path", type=Path, help="the recording")
    parser.add_argument("--file", type=Path, action="append", default=[], help="a lab file besides")
    parser.add_argument("--only", default="", help="cases whose name begins so")
    parser.add_argument("--worlds", type=int, default=1_000)
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    options = parser.parse_args()
    wanted = [case for case in cases(options.file) if case[0].startswith(options.only)]
    do = record if options.command == "record" else compare
    raise SystemExit(bool(do(options.path, wanted, options.worlds, options.jobs)))
