"""(h) How fast the lab's engines are: requests per second, and cost per key and second.

    python -m benchmarks.lab_engines            all of it, about three minutes
    python -m benchmarks.lab_engines exact      request by request
    python -m benchmarks.lab_engines aggregate  in numbers, one world and twenty
    python -m benchmarks.lab_engines command    'dynamometer lab' to its first verdict and its end

Targets: the exact engine at 3.3 J per attempt for single items without an index; the aggregate
engine with 10,000 devices of 100 events a second each for one hour (3.6 billion requests) in
twenty worlds in under 30 seconds and 1 GB on two cores, twenty worlds of a small design for
little more than one, and a cost that grows with keys and seconds, not with requests; the
command's first verdict after 3 s and its end after 10 s for the built-in comparison, after 10 s
and 40 s for ``ticket_sale.yaml``, on two cores that nobody else uses. Each row of the aggregate
engine is measured in processes of its own, begun for it; their memory is added up.

Seconds advise and do not block: they are those of the machine at hand. ``J`` is one
``json.dumps`` and ``json.loads`` of a small item, for comparison between machines: three short
attributes, as the events have that are put here. The item of ``benchmarks.call_cost`` has ten, two
of them nested, and its J is more than twice as much. The exact engine runs in a process of its own,
warmed up; each of its rounds is held against the J just before and after it, in CPU seconds, and
the median of the rounds is printed with the least and the most.
"""

import argparse
import compileall
import contextlib
import json
import multiprocessing
import os
import pty
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median

import emulator
from benchmarks.measure import table
from emulator.lab import Capacity, Design, Field, Pattern, Workload, exact, world
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import Known, draw_worlds
from emulator.settings import Settings

ITEM = {
    "deviceId": {"S": "device-0001"},
    "timestamp": {"S": "2026-01-01T00:00:00Z"},
    "n": {"N": "1"},
}


def main(which="all"):
    print(f"\nJ = {json_microseconds():.1f} us")
    results = {}
    if which in ("all", "exact"):
        results["exact"] = measure_exact()
    if which in ("all", "aggregate"):
        results["aggregate"] = measure_aggregate()
    if which in ("all", "command"):
        results["command"] = measure_command()
    return results


def json_microseconds(count=20_000):
    start = time.process_time()
    for _ in range(count):
        json.loads(json.dumps(ITEM))
    return (time.process_time() - start) / count * 1e6


def events(devices, rate, duration):
    return Workload(
        fields=[Field("deviceId", count=devices)],
        patterns=[Pattern("record event", "PutItem", rate=rate)],
        duration=duration,
        warm_up=0,
    )


#: Name, write capacity, events a second, seconds.
EXACT_CASES = [
    ("puts, nothing refused", 5000, 2000, 30),
    ("puts, two thirds refused", 500, 1500, 10),
]
ROUNDS = 5


def measure_exact():
    rows = []
    context = multiprocessing.get_context("spawn")
    for case in EXACT_CASES:
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            rounds = pool.submit(play_exact, case).result()
        requests, attempts, costs = (sorted(column) for column in zip(*rounds, strict=True))
        shown = [f"{median(rates):,.0f}" for rates in (requests, attempts)]
        spread = f"{costs[0]:.2f} to {costs[-1]:.2f}"
        rows.append([case[0], *shown, f"{median(costs):.2f}", spread])
    header = ["workload", "requests/s", "attempts/s", "J per attempt", "least to most"]
    table(f"Exact engine, by CPU time; median of {ROUNDS} rounds", header, rows)
    return rows


def play_exact(case):
    """Run a case some times; return of each time requests and attempts a second, and J."""
    _, write, rate, duration = case
    capacity = Capacity(read=100, write=write)
    design = Design("d", **DEVICE, capacity=capacity)
    exact.run(Layout(design, events(10_000, rate, 2)))
    workload = events(10_000, rate, duration)
    rounds, before = [], json_microseconds()
    for _ in range(ROUNDS):
        start = time.process_time()
        log = exact.run(Layout(design, workload))
        seconds = time.process_time() - start
        after = json_microseconds()
        attempts = sum(record.attempts for record in log.patterns.values())
        unit, before = (before + after) / 2, after
        cost = 1e6 * seconds / attempts / unit
        rounds.append((workload.requests / seconds, attempts / seconds, cost))
    return rounds


DEVICE = {"partition": "{deviceId}", "sort": "{timestamp}"}
HOUR = {"partition": "{timestamp:hour}", "sort": "{timestamp}"}
BY_EIGHT = {"partition": "{timestamp:hour}#{hash(deviceId) % 8}", "sort": "{timestamp}"}
HUGE = Settings(table_quota=2_000_000, account_quota=4_000_000)
#: Name, key, write capacity, devices, events a second, seconds, worlds, processes.
CASES = [
    ("2,800/s by device", DEVICE, 5000, 10_000, 2_800, 3600, 1, 1),
    ("", DEVICE, 5000, 10_000, 2_800, 3600, 20, 1),
    ("2,800/s by hour", HOUR, 5000, 10_000, 2_800, 3600, 1, 1),
    ("", HOUR, 5000, 10_000, 2_800, 3600, 20, 1),
    ("2,800/s by hour and 8 suffixes", BY_EIGHT, 5000, 10_000, 2_800, 3600, 1, 1),
    ("", BY_EIGHT, 5000, 10_000, 2_800, 3600, 20, 1),
    ("1,000,000/s, 5,000 provisioned", DEVICE, 5000, 10_000, 1_000_000, 3600, 20, 1),
    ("1,000,000/s, 1,300,000 provisioned", DEVICE, 1_300_000, 10_000, 1_000_000, 3600, 1, 1),
    ("", DEVICE, 1_300_000, 10_000, 1_000_000, 3600, 20, 2),
    ("twice the keys", DEVICE, 5000, 20_000, 2_800, 3600, 20, 1),
    ("twice the seconds", DEVICE, 5000, 10_000, 2_800, 7200, 20, 1),
    ("ten times the requests", DEVICE, 50_000, 10_000, 28_000, 3600, 20, 1),
]


def measure_aggregate():
    rows = []
    for case in CASES:
        name, *_, duration, worlds, processes = case
        share = worlds // processes
        shares = [(case, number * share, share) for number in range(processes)]
        context = multiprocessing.get_context("spawn")
        start = time.perf_counter()
        with ProcessPoolExecutor(processes, mp_context=context) as pool:
            played = list(pool.map(play, shares))
        seconds = time.perf_counter() - start
        throttling = sum(count for count, _ in played)
        memory = sum(gigabytes for _, gigabytes in played)
        rows.append(
            [
                name,
                f"{case[4] * duration:,}",
                f"{worlds}" if processes == 1 else f"{worlds} in {processes} processes",
                f"{seconds:.1f}",
                f"{memory:.2f}",
                f"{throttling} of {worlds}",
            ]
        )
    table("Aggregate engine", ["workload", "requests", "worlds", "s", "GB", "throttle"], rows)
    return rows


def play(worlds):
    """Play some worlds of a case, in a process of its own; return how many throttle, and memory."""
    (_, key, write, devices, rate, duration, _, _), first, count = worlds
    design = Design("d", **key, capacity=Capacity(read=100, write=write))
    layout = Layout(design, events(devices, rate, duration))
    outcomes = world.Worlds(layout).play(draw_worlds(first, count, Known(HUGE)))
    return sum(outcome.throttles for outcome in outcomes), peak_gigabytes()


#: Name, arguments of the command, designs.
COMMANDS = [
    ("the built-in comparison", [], 3),
    ("a ticket sale", [str(Path(__file__).with_name("ticket_sale.yaml"))], 3),
]


def measure_command():
    # As installers do: else every start compiles what others find compiled.
    compileall.compile_dir(Path(emulator.__file__).parent, quiet=2)
    rows = [[name, *run_command(arguments, designs)] for name, arguments, designs in COMMANDS]
    header = ["dynamometer lab", "first verdict, s", "CPU s", "complete, s", "CPU s"]
    table("The command", header, rows)
    return rows


def run_command(arguments, designs):
    """Return when all designs have a first verdict and when all is done, in wall and CPU seconds.

    The command runs on a terminal, where it says what it knows at once.
    """
    terminal, its_end = pty.openpty()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as directory:
        process = subprocess.Popen(
            [sys.executable, "-m", "emulator", "lab", *arguments],
            cwd=directory,
            stdout=subprocess.DEVNULL,
            stderr=its_end,
            env=os.environ | {"COLUMNS": "200"},
        )
        os.close(its_end)
        shown, first, first_cpu = b"", 0.0, 0.0
        while chunk := read_terminal(terminal):
            shown += chunk
            if not first and shown.count(b" throttles in ") >= designs:
                first, first_cpu = time.perf_counter() - start, cpu_seconds(process.pid)
        process.wait()
    complete = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return [f"{seconds:.1f}" for seconds in (first, first_cpu, complete, cpu)]


def read_terminal(terminal):
    """Return what was shown since; nothing once the command has ended."""
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that nobody has the other end
        return b""


def cpu_seconds(pid):
    """Return what a running process and its children have used; 0 where /proc does not tell."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            own, _, rest = path.read_text().rpartition(")")
            parent, *_ = (members := rest.split())[1:]
            if pid in (int(own.split()[0]), int(parent)):
                ticks += int(members[11]) + int(members[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def peak_gigabytes():
    """Return the most memory that this process had; getrusage would begin with its parent's."""
    [line] = [
        line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line
    ]
    return int(line.split()[1]) / 1024**2


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parts = ("all", "exact", "aggregate", "command")
    parser.add_argument("which", nargs="?", default="all", choices=parts)
    main(parser.parse_args().which)
