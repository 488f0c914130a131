"""The time from start to first answer: ``python -m benchmarks.first_answer [COMMAND...]``.

Every server of ``servers.py`` that can be started, and each command that is given in quotes, such
as ``"python3 dist/dynamometer.pyz serve"``, is started 15 times, in turns, and asked for its tables
until it answers. Printed are medians without the first two turns: real time until the answer, and
processor time until the process, stopped by SIGTERM, has ended.
"""

import argparse
import resource
import shlex
import statistics
import subprocess
import time
import urllib.error
import urllib.request

from benchmarks.release import list_tables
from benchmarks.servers import commands, free_port

TURNS = 15
WARM_UP = 2


def measured(name, command):
    """Start a server, and return both times in milliseconds."""
    port = free_port()
    words = [*shlex.split(command), "--port", str(port)] if command else commands(port)[name]
    before = processor_seconds()
    started = time.perf_counter()
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            while not answers(port):
                if server.poll() is not None:
                    raise SystemExit(f"{name} ended with {server.returncode}")
                time.sleep(0.002)
            seconds = time.perf_counter() - started
        finally:
            server.terminate()
    return 1000 * seconds, 1000 * (processor_seconds() - before)


def answers(port):
    try:
        with urllib.request.urlopen(list_tables(f"http://127.0.0.1:{port}"), timeout=10):
            return True
    except (urllib.error.URLError, ConnectionError):
        return False


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(given):
    named = {name: None for name, command in commands(0).items() if command}
    servers = named | {command: command for command in given}
    times = {name: [] for name in servers}
    for _ in range(TURNS):
        for name, command in servers.items():
            times[name].append(measured(name, command))
    for name, turns in times.items():
        real, processor = (statistics.median(one) for one in zip(*turns[WARM_UP:], strict=True))
        print(f"{name:40} {real:6.0f} ms {processor:6.0f} ms of the processor")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("commands", nargs="*", metavar="COMMAND")
    main(parser.parse_args().commands)
