"""How long calls wait: a soak with expiring items, streams, backups, snapshots and saved files.

    python -m benchmarks.reliability.holds [--minutes 120]

Six threads send the mixed load of the soak to one emulator, whose items now expire; another writes
5,000 items that expire at one moment, again and again; two read the stream of each table, one scans
whole tables. A last one takes a snapshot and goes back to it, saves a file and loads it, makes a
backup and deletes it. Time runs 30 times as fast as it does, so that an hour has more than a day:
records of streams are trimmed, too.

Two things are measured: for how long the emulator's locks are held, in processor time of the holder
(what Python takes to collect garbage is counted apart); and calls that take more than 250 ms of the
clock, with the reason. What must hold: no lock is held for more than 50 ms, no call fails, and
memory stays where it is.

The stream's records fill memory until they are a day old, which takes 48 minutes, or until there
are 200,000 of a table or 128 MiB.
"""

from __future__ import annotations

import _thread
import argparse
import contextlib
import gc
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from benchmarks.measure import table as print_table
from benchmarks.reliability.soak import SLICES, TABLE, Slice, is_flat, requests
from benchmarks.server_load import resident_mib
from emulator import ApiError, Emulator
from emulator.clock import SystemClock
from emulator.testing.table_notation import create_request

MOST_HELD_SECONDS = 0.05
LONG_CALL_SECONDS = 0.25
CLIENTS = 6
PAUSE_SECONDS = 0.004
PACE = 30
BURST_ITEMS, BURST_EVERY_SECONDS, KEEPING_EVERY_SECONDS = 5_000, 30, 20
#: Seconds of the emulator's time after which items expire.
EARLIEST, LATEST = 60, 3 * 3600

_STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
_BURST = create_request("burst", "pk", StreamSpecification=_STREAM)


class FastClock(SystemClock):
    """Time that runs faster than it does."""

    def __init__(self) -> None:
        super().__init__()
        self._start_ns = time.time_ns()

    def now_ns(self) -> int:
        """Return nanoseconds since the epoch."""
        return self._start_ns + (super().now_ns() - self._start_ns) * PACE

    def sleep(self, seconds: float) -> None:
        """Sleep until these seconds of this time are over."""
        super().sleep(seconds / PACE)


# What is measured


class Hold(NamedTuple):
    """A time for which a lock was held.

    Attributes:
        thread_seconds: Processor time of the holder, without the collection of garbage.
        wall_seconds: Time of the clock.
        collected_seconds: Processor time in which the holder collected garbage.
        ended: When it ended.
        holder: What the holder did.
    """

    thread_seconds: float
    wall_seconds: float
    collected_seconds: float
    ended: float
    holder: str


class LongCall(NamedTuple):
    """A call that took long, and why."""

    wall_seconds: float
    name: str
    reason: str


class _Current(threading.local):
    """What the thread is doing, how long it has waited for locks, and collected garbage."""

    name = "nothing"
    waited = 0.0
    collecting_from = 0.0
    collected = 0.0


class Watch:
    """Notes holds, long calls and refusals, from all threads."""

    def __init__(self) -> None:
        self.current = _Current()
        #: By what the holder did.
        self.longest: dict[str, Hold] = {}
        self.recent: list[Hold] = []
        self.calls: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.long_calls: list[LongCall] = []
        self._collected = 0.0
        self._collecting_from = 0.0
        gc.callbacks.append(self._collect)

    def _collect(self, phase: str, _info: object) -> None:
        current = self.current
        if phase == "start":
            self._collecting_from = time.perf_counter()
            current.collecting_from = time.thread_time()
        else:
            self._collected += time.perf_counter() - self._collecting_from
            current.collected += time.thread_time() - current.collecting_from

    def held(self, thread_seconds: float, wall_seconds: float, collected_seconds: float) -> None:
        """Note that the calling thread has held a lock; it still has it."""
        name, own = self.current.name, thread_seconds - collected_seconds
        longest = self.longest.get(name)
        if longest is None or own > longest.thread_seconds or wall_seconds > 0.02:
            hold = Hold(own, wall_seconds, collected_seconds, time.perf_counter(), name)
            self.longest[name] = hold if longest is None else max(longest, hold)
            self.recent = [*self.recent[-200:], hold]

    @contextlib.contextmanager
    def doing(self, name: str) -> Iterator[None]:
        """Note how long a call takes, and how it ends."""
        current = self.current
        current.name, current.waited = name, 0.0
        collected, used = self._collected, time.process_time()
        own, began = time.thread_time(), time.perf_counter()
        try:
            yield
        except ApiError as error:
            self.refusals[f"{name}: {error.code}"] += 1
        except Exception as error:  # whatever it is, it is counted
            self.errors[f"{name}: {error!r}"[:200]] += 1
        wall = time.perf_counter() - began
        self.calls[name] += 1
        if wall > LONG_CALL_SECONDS:
            reason = self._reason(
                wall,
                own=time.thread_time() - own,
                used=time.process_time() - used,
                collected=self._collected - collected,
            )
            self.long_calls.append(LongCall(wall, name, reason))
        current.name = "nothing"

    def _reason(self, wall: float, *, own: float, used: float, collected: float) -> str:
        others = " (the processor was with other processes)" if used < wall * 0.6 else ""
        if collected > wall / 2:
            return "garbage collection" + others
        if own > wall / 2:
            return "its own work"
        if self.current.waited < wall / 2:
            return "other threads had the interpreter" + others
        since = time.perf_counter() - wall
        during = [hold for hold in self.recent if hold.ended > since]
        most = max(during, key=lambda hold: hold.wall_seconds, default=None)
        if most is None or most.wall_seconds < wall / 2:
            return "the lock: many short holds" + others
        if most.collected_seconds > most.wall_seconds / 2:
            return "the lock: garbage collection under it" + others
        if most.thread_seconds < most.wall_seconds / 2:
            return f"the lock: {most.holder} had it and did not run" + others
        return f"the lock: {most.holder} worked under it" + others


class MeasuredLock:
    """A lock that says for how long it was waited for and held."""

    watch: Watch

    def __init__(self) -> None:
        self._lock = _thread.RLock()
        self._depth = 0
        self._own = self._began = self._collected = 0.0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock."""
        asked = time.perf_counter()
        if not self._lock.acquire(blocking, timeout):
            return False
        self._depth += 1
        if self._depth == 1:
            self._own, self._began = time.thread_time(), time.perf_counter()
            self._collected = self.watch.current.collected
            self.watch.current.waited += self._began - asked
        return True

    def release(self) -> None:
        """Give the lock back."""
        if self._depth == 1:
            self.watch.held(
                time.thread_time() - self._own,
                time.perf_counter() - self._began,
                self.watch.current.collected - self._collected,
            )
        self._depth -= 1
        self._lock.release()

    __enter__ = acquire

    def __exit__(self, *_: object) -> None:
        self.release()


# Who does what


class Soak:
    """An emulator, and what its threads do until a moment.

    Args:
        emulator: The emulator.
        watch: Notes what calls take.
        seconds: For how long.
    """

    def __init__(self, emulator: Emulator, watch: Watch, seconds: float) -> None:
        self._emulator = emulator
        self._watch = watch
        self._ends = time.perf_counter() + seconds

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Make a call; a refusal is noted and answers nothing."""
        answer: dict[str, Any] = {}
        with self._watch.doing(operation):
            answer |= self._emulator.call(operation, request)
        return answer

    def _turns(self, pause_seconds: float) -> Iterator[int]:
        """Yield numbers until the end, with a pause after each."""
        number = 0
        while time.perf_counter() < self._ends:
            yield number
            number += 1
            time.sleep(pause_seconds)

    def _expiry(self, seconds: float) -> dict[str, str]:
        return {"N": str(int(self._emulator.clock.now() + seconds))}

    def send_load(self, number: int) -> None:
        """Send the mixed load; what is written expires."""
        chance = random.Random(number)
        load = requests()
        for turn in self._turns(PAUSE_SECONDS):
            operation, request = load[(number * 31 + turn * 997) % len(load)]
            expiry = self._expiry(chance.uniform(EARLIEST, LATEST))
            if operation == "PutItem":
                request = request | {"Item": request["Item"] | {"expiry": expiry}}
            elif operation == "UpdateItem":
                values = request["ExpressionAttributeValues"] | {":expiry": expiry}
                update = f"{request['UpdateExpression']}, expiry = :expiry"
                request = request | {
                    "UpdateExpression": update,
                    "ExpressionAttributeValues": values,
                }
            self.call(operation, request)

    def write_bursts(self) -> None:
        """Write items that expire at one moment."""
        for turn in self._turns(BURST_EVERY_SECONDS):
            expiry = self._expiry(600)
            for first in range(0, BURST_ITEMS, 25):
                items = [
                    {"pk": {"S": f"{turn}#{number}"}, "text": {"S": "x" * 200}, "expiry": expiry}
                    for number in range(first, first + 25)
                ]
                puts = [{"PutRequest": {"Item": item}} for item in items]
                self.call("BatchWriteItem", {"RequestItems": {"burst": puts}})
                time.sleep(PAUSE_SECONDS)

    def read_stream(self, name: str) -> None:
        """Read every record of a table's stream, from the oldest on, again and again."""
        arn = self._emulator.call("DescribeTable", {"TableName": name})["Table"]["LatestStreamArn"]
        for _ in self._turns(1):
            described = self.call("DescribeStream", {"StreamArn": arn})
            for shard in described["StreamDescription"]["Shards"]:
                one = {"StreamArn": arn, "ShardId": shard["ShardId"]}
                answer = self.call("GetShardIterator", one | {"ShardIteratorType": "TRIM_HORIZON"})
                iterator = answer.get("ShardIterator")
                while iterator is not None and time.perf_counter() < self._ends:
                    answer = self.call("GetRecords", {"ShardIterator": iterator})
                    iterator = answer.get("NextShardIterator") if answer.get("Records") else None
                    time.sleep(PAUSE_SECONDS)

    def scan(self) -> None:
        """Scan the tables, page by page."""
        for turn in self._turns(0.2):
            request = {"TableName": ("soak", "burst")[turn % 2]}
            answer = self.call("Scan", request)
            while (start := answer.get("LastEvaluatedKey")) and time.perf_counter() < self._ends:
                answer = self.call("Scan", request | {"ExclusiveStartKey": start})

    def keep(self) -> None:
        """Take snapshots and go back to them; save and load; make backups."""
        with tempfile.TemporaryDirectory(prefix="holds") as folder:
            path = Path(folder) / "saved"
            for _ in self._turns(KEEPING_EVERY_SECONDS):
                with self._watch.doing("snapshot"):
                    snapshot = self._emulator.snapshot()
                with self._watch.doing("restore"):
                    self._emulator.restore(snapshot)
                with self._watch.doing("save"):
                    self._emulator.save(path)
                with self._watch.doing("load"):
                    Emulator.load(path, clock=self._emulator.clock)
                for name in ("soak", "burst"):
                    made = self.call("CreateBackup", {"TableName": name, "BackupName": "kept"})
                    arn = made["BackupDetails"]["BackupArn"]
                    self.call("DeleteBackup", {"BackupArn": arn})

    def note_memory(self) -> list[Slice]:
        """Return a slice for each twelfth of the time, with the memory at its end."""
        slices = []
        seconds = (self._ends - time.perf_counter()) / SLICES
        for _ in range(SLICES):
            time.sleep(seconds)
            calls, mib = self._watch.calls.total(), resident_mib("self") or 0.0
            slices.append(Slice(calls, self._watch.errors.total(), seconds, 0.0, 0.0, mib))
            print(f"{calls:,} calls, {mib:.0f} MiB", file=sys.stderr, flush=True)
        return slices


def run(seconds: float) -> tuple[Watch, list[Slice]]:
    """Play the soak; return the notes and the slices."""
    MeasuredLock.watch = watch = Watch()
    with mock.patch("threading.RLock", MeasuredLock):
        emulator = Emulator(clock=FastClock())
        emulator.account()
    for made in (TABLE | {"StreamSpecification": _STREAM}, _BURST):
        emulator.call("CreateTable", made)
        expiring = {"Enabled": True, "AttributeName": "expiry"}
        request = {"TableName": made["TableName"], "TimeToLiveSpecification": expiring}
        emulator.call("UpdateTimeToLive", request)
    soak = Soak(emulator, watch, seconds)
    jobs: list[Callable[[], None]] = [soak.write_bursts, soak.scan, soak.keep]
    jobs += [partial(soak.send_load, number) for number in range(CLIENTS)]
    jobs += [partial(soak.read_stream, name) for name in ("soak", "burst")]
    threads = [threading.Thread(target=job) for job in jobs]
    for thread in threads:
        thread.start()
    slices = soak.note_memory()
    for thread in threads:
        thread.join()
    return watch, slices


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=120)
    given = parser.parse_args()
    watch, slices = run(given.minutes * 60)
    memory = ", ".join(f"{one.mib:.0f}" for one in slices)
    print(f"{given.minutes:g} minutes, {watch.calls.total():,} calls; MiB: {memory}")
    for kind, counted in (("refused", watch.refusals), ("failed", watch.errors)):
        for name, count in counted.most_common():
            print(f"{kind}: {count:,} {name}")
    rows = [
        [hold.holder, *(f"{1e3 * seconds:.1f}" for seconds in hold[:3])]
        for hold in sorted(watch.longest.values(), reverse=True)
    ]
    print_table("The longest holds of a lock", ["by", "processor ms", "ms", "garbage ms"], rows)
    reasons = Counter((call.name, call.reason) for call in watch.long_calls)
    rows = [
        [name, reason, str(count), f"{1e3 * _longest(watch, name, reason):.0f}"]
        for (name, reason), count in reasons.most_common()
    ]
    print_table("Calls of more than 250 ms", ["call", "reason", "calls", "longest ms"], rows)
    longest = max(hold.thread_seconds for hold in watch.longest.values())
    return 1 if longest > MOST_HELD_SECONDS or watch.errors or not is_flat(slices) else 0


def _longest(watch: Watch, name: str, reason: str) -> float:
    calls = (call for call in watch.long_calls if (call.name, call.reason) == (name, reason))
    return max(call.wall_seconds for call in calls)


if __name__ == "__main__":
    sys.exit(main())
