"""(h) How fast the lab's engines are, in seconds of the processor and in B.

    python -m benchmarks.lab_engines                     all of it, about five minutes
    python -m benchmarks.lab_engines exact               request by request
    python -m benchmarks.lab_engines aggregate           many worlds in numbers
    python -m benchmarks.lab_engines command --file F    'dynamometer lab', also on your lab file

Machines differ by a factor of two and more, so the yardstick is *B*: what version 0.2.0 takes for
its complete built-in comparison in the same run. The command takes 0.2.0 out of the history of
this repository for it. Every row of the aggregate engine is measured in a process of its own,
without its start and imports; those of the command are whole, child processes included.

Targets, in B: the cases below as they say; the exact engine at 3.3 J per attempt for single items
without an index, where ``J`` is one ``json.dumps`` and ``json.loads`` of a small item. The exact
engine runs in a process of its own, warmed up; each of its rounds is held against the J just
before and after it, and the median of the rounds is printed with the least and the most.
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
from dataclasses import dataclass
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


def main(which="all", files=()):
    print(f"\nJ = {json_microseconds():.1f} us")
    results = {}
    if which in ("all", "exact"):
        results["exact"] = measure_exact()
    yardstick = 0.0 if which == "exact" else measure_yardstick()
    if which in ("all", "aggregate"):
        results["aggregate"] = measure_aggregate(yardstick)
    if which in ("all", "command"):
        results["command"] = measure_command(yardstick, files)
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
HOUR = {"partition": "{timestamp:hour}", "sort": "{timestamp}#{deviceId}"}
BY_EIGHT = {"partition": "{timestamp:hour}#{hash(deviceId) % 8}", "sort": "{timestamp}#{deviceId}"}
HUGE = Settings(table_quota=20_000_000, account_quota=40_000_000)
DAY = 86_400


@dataclass(frozen=True)
class Case:
    """Worlds under one design, and how much of B they may take."""

    name: str
    key: dict
    write: int
    devices: int
    rate: float
    seconds: int
    worlds: int
    wanted: float

    def layout(self):
        capacity = Capacity(read=100, write=self.write)
        design = Design("d", **self.key, capacity=capacity)
        return Layout(design, events(self.devices, self.rate, self.seconds))


CASES = [
    Case("1,000,000/s, 1 h", DEVICE, 1_300_000, 10_000, 1_000_000, 3600, 20, 0.8),
    Case("10,000,000/s, 1 h", DEVICE, 13_000_000, 100_000, 10_000_000, 3600, 1, 0.8),
    Case("2,800/s for 30 days, none refused", DEVICE, 5_000, 10_000, 2_800, 30 * DAY, 20, 0.8),
    Case("hour key for 7 days, refused", HOUR, 5_000, 10_000, 2_800, 7 * DAY, 20, 2.5),
    Case("100,000,000 keys, 1 h", DEVICE, 5_000, 100_000_000, 2_800, 3600, 20, 0.25),
    Case("hour key and 8 suffixes, 1 h", BY_EIGHT, 5_000, 10_000, 2_800, 3600, 500, 0.25),
]
#: Plays of one world of a minute in which calls are refused, as experiments make thousands.
PLAYS = 20
#: The commit of version 0.2.0, whose complete built-in comparison is B.
VERSION_0_2_0 = "5117fe6"


def measure_aggregate(yardstick):
    rows = []
    context = multiprocessing.get_context("spawn")
    for case in CASES:
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            seconds, throttling, memory = pool.submit(play, case).result()
        rows.append(
            [
                case.name,
                f"{case.worlds}",
                f"{seconds:.1f}",
                f"{seconds / yardstick:.2f}",
                f"{case.wanted:.2f}",
                f"{memory:.2f}",
                f"{throttling}",
            ]
        )
        print(", ".join(rows[-1]), flush=True)
    header = ["workload", "worlds", "CPU s", "B", "wanted", "GB", "throttle"]
    table(f"Aggregate engine; B is {yardstick:.1f} CPU s", header, rows)
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        each = pool.submit(play_minute).result()
    print(f"one world of a minute, refused, from Python: {each * 1e3:.0f} ms of CPU (wanted: 10)")
    return rows


def play(case):
    """Play the worlds of a case; return CPU seconds, how many throttle, and memory."""
    layout, worlds = case.layout(), draw_worlds(0, case.worlds, Known(HUGE))
    start = time.process_time()
    outcomes = world.Worlds(layout).play(worlds)
    seconds = time.process_time() - start
    return seconds, sum(outcome.throttles for outcome in outcomes), peak_gigabytes()


def play_minute():
    """Return the CPU seconds of one world of a minute in which calls are refused."""
    layout = Case("", HOUR, 5_000, 10_000, 2_800, 60, 1, 0).layout()
    [drawn] = draw_worlds(0, 1, Known())
    world.Worlds(layout).play([drawn])
    start = time.process_time()
    for _ in range(PLAYS):
        world.Worlds(layout).play([drawn])
    return (time.process_time() - start) / PLAYS


def measure_yardstick():
    """Return the CPU seconds of 0.2.0's complete built-in comparison."""
    root = Path(__file__).parents[1]
    archive = subprocess.run(
        ["git", "archive", VERSION_0_2_0, "emulator"], cwd=root, capture_output=True, check=True
    ).stdout
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(["tar", "-x", "-C", directory], input=archive, check=True)
        compileall.compile_dir(directory, quiet=2)
        [_, _, _, cpu] = run_command([], 3, directory)
    return float(cpu)


#: Name, arguments of the command, designs, and how much of B it may take.
COMMANDS = [
    ("the built-in comparison", [], 3, 0.4),
    ("a ticket sale", [str(Path(__file__).with_name("ticket_sale.yaml"))], 3, None),
]


def measure_command(yardstick, files=()):
    # As installers do: else every start compiles what others find compiled.
    root = Path(emulator.__file__).parent
    compileall.compile_dir(root, quiet=2)
    commands = list(COMMANDS)
    for file in files:
        commands.append((f"{file.name} --quick", ["--quick", str(file)], 1, 0.8))
        commands.append((file.name, [str(file)], 1, 5.0))
    rows = []
    for name, arguments, designs, wanted in commands:
        figures = run_command(arguments, designs, str(root.parent))
        share = float(figures[3]) / yardstick
        rows.append([name, *figures, f"{share:.2f}", "" if wanted is None else f"{wanted:.2f}"])
        print(", ".join(rows[-1]), flush=True)
    header = ["dynamometer lab", "first verdicts, s", "CPU s", "complete, s", "CPU s"]
    table(f"The command; B is {yardstick:.1f} CPU s", [*header, "B", "wanted"], rows)
    return rows


def run_command(arguments, designs, root):
    """Return when so many designs have a first verdict and when all is done: wall and CPU seconds.

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
            env=os.environ | {"COLUMNS": "200", "PYTHONPATH": root},
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
    parser.add_argument("--file", type=Path, action="append", default=[], help="a lab file besides")
    options = parser.parse_args()
    main(options.which, options.file)
