"""Concurrency checked by history: threads record what they did, and a serial order is looked for.

    python -m benchmarks.reliability.histories --seconds 60 [--threads 8] [--seed 0] [--http]

Threads put, read, add, delete, compare and set, transfer, read together, read through an index and
scan, over few keys, so that they meet. Faults are injected, items expire, and one thread in a while
moves the clock. Every answer goes into a history, which ``serial_order`` then explains or refuses;
histories are cut into rounds, between which all threads wait for each other.

With ``--http`` the emulator is a server in a process of its own, and each thread has a connection.

Operations that are refused (throttled, a fault, a conflict) must have had no effect: they are part
of the history, too.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import table as print_table
from benchmarks.reliability.serial_order import (
    IMPOSSIBLE,
    Operation,
    Violation,
    possible_states,
)
from benchmarks.servers import HEADERS
from emulator import ApiError, Emulator, ManualClock, Settings
from emulator.clock import DEFAULT_START
from emulator.testing.table_notation import create_request

ROOT = Path(__file__).parents[2]

KEYS = ("a", "b", "c", "d", "e")
GROUPS = ("x", "y")
STEP_SECONDS = 60
REFUSED = "refused"
#: How often each operation of ``MODEL`` comes, in its order.
WEIGHTS = (15, 15, 5, 15, 10, 15, 8, 10, 5, 2)
TABLE = create_request("register", "pk", indexes={"by_group": "group"})
TIME_TO_LIVE = {
    "TableName": "register",
    "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "expiry"},
}


# The model: what each operation does, in a few lines


class Value(NamedTuple):
    """An item: its number, its group in the index if it has one, and when it expires."""

    number: int
    group: str | None = None
    expiry: int | None = None


class Register(NamedTuple):
    """A whole database: the items, by the order of ``KEYS``, and the time."""

    items: tuple[Value | None, ...]
    now: int

    def of(self, key: str) -> Value | None:
        """Return the item under a key."""
        return self.items[KEYS.index(key)]

    def put(self, key: str, value: Value | None) -> Register:
        """Return the database with another item under a key."""
        items = list(self.items)
        items[KEYS.index(key)] = value
        return self._replace(items=tuple(items))


def step(before: Any, operation: Operation) -> Any:
    """Return the database after an operation, if it can have given its answer."""
    if operation.answer == REFUSED:
        return before
    answer, after = MODEL[operation.name](before, *operation.arguments)
    return after if answer == operation.answer else IMPOSSIBLE


def _put(before: Register, key: str, value: Value) -> tuple[Any, Register]:
    return before.of(key), before.put(key, value)


def _get(before: Register, key: str) -> tuple[Any, Register]:
    return before.of(key), before


def _delete(before: Register, key: str) -> tuple[Any, Register]:
    return before.of(key), before.put(key, None)


def _add(before: Register, key: str, amount: int) -> tuple[Any, Register]:
    old = before.of(key) or Value(0)
    new = old._replace(number=old.number + amount)
    return new, before.put(key, new)


def _compare_and_set(before: Register, key: str, number: int, value: Value) -> tuple[Any, Register]:
    old = before.of(key)
    if old is None or old.number != number:
        return False, before
    return True, before.put(key, value)


def _transfer(before: Register, source: str, target: str, amount: int) -> tuple[Any, Register]:
    giver, taker = before.of(source), before.of(target)
    if giver is None or taker is None:
        return False, before
    after = before.put(source, giver._replace(number=giver.number - amount))
    return True, after.put(target, taker._replace(number=taker.number + amount))


def _read_together(before: Register, keys: Sequence[str]) -> tuple[Any, Register]:
    return tuple(before.of(key) for key in keys), before


def _read_group(before: Register, group: str) -> tuple[Any, Register]:
    items = zip(KEYS, before.items, strict=True)
    return frozenset((key, item) for key, item in items if item and item.group == group), before


def _scan(before: Register) -> tuple[Any, Register]:
    items = zip(KEYS, before.items, strict=True)
    return frozenset((key, item) for key, item in items if item), before


def _advance(before: Register) -> tuple[Any, Register]:
    now = before.now + STEP_SECONDS
    items = tuple(
        None if item and item.expiry is not None and item.expiry < now else item
        for item in before.items
    )
    return None, Register(items, now)


MODEL: dict[str, Callable[..., tuple[Any, Register]]] = {
    "put": _put,
    "get": _get,
    "delete": _delete,
    "add": _add,
    "compare_and_set": _compare_and_set,
    "transfer": _transfer,
    "read_together": _read_together,
    "read_group": _read_group,
    "scan": _scan,
    "advance": _advance,
}


# The emulator: the same operations, as requests

Call = Callable[[str, dict[str, Any]], dict[str, Any]]


class Caller:
    """Carries out operations of the model by requests, and reads their answers."""

    def __init__(self, call: Call, advance: Callable[[int], None]) -> None:
        self._call = call
        self._move_clock = advance

    def __call__(self, name: str, arguments: tuple[Any, ...]) -> Any:
        """Return what an operation answered."""
        try:
            return getattr(self, name)(*arguments)
        except ApiError:
            return REFUSED

    def _one(self, operation: str, **request: Any) -> dict[str, Any]:
        return self._call(operation, {"TableName": "register", **request})

    def put(self, key: str, value: Value) -> Value | None:
        answer = self._one("PutItem", Item=_item(key, value), ReturnValues="ALL_OLD")
        return _value(answer.get("Attributes"))

    def get(self, key: str) -> Value | None:
        return _value(self._one("GetItem", Key=_key(key), ConsistentRead=True).get("Item"))

    def delete(self, key: str) -> Value | None:
        answer = self._one("DeleteItem", Key=_key(key), ReturnValues="ALL_OLD")
        return _value(answer.get("Attributes"))

    def add(self, key: str, amount: int) -> Value | None:
        answer = self._one(
            "UpdateItem",
            Key=_key(key),
            UpdateExpression="ADD #number :amount",
            ExpressionAttributeNames={"#number": "number"},
            ExpressionAttributeValues={":amount": {"N": str(amount)}},
            ReturnValues="ALL_NEW",
        )
        return _value(answer["Attributes"])

    def compare_and_set(self, key: str, number: int, value: Value) -> bool:
        try:
            self._one(
                "PutItem",
                Item=_item(key, value),
                ConditionExpression="#number = :number",
                ExpressionAttributeNames={"#number": "number"},
                ExpressionAttributeValues={":number": {"N": str(number)}},
            )
        except ApiError as error:
            if error.code == "ConditionalCheckFailedException":
                return False
            raise
        return True

    def transfer(self, source: str, target: str, amount: int) -> bool:
        changes = [_change(source, -amount), _change(target, amount)]
        try:
            self._call("TransactWriteItems", {"TransactItems": changes})
        except ApiError as error:
            reasons = error.members.get("CancellationReasons", ())
            if any(reason["Code"] == "ConditionalCheckFailed" for reason in reasons):
                return False
            raise
        return True

    def read_together(self, keys: Sequence[str]) -> tuple[Value | None, ...]:
        gets = [{"Get": {"TableName": "register", "Key": _key(key)}} for key in keys]
        answer = self._call("TransactGetItems", {"TransactItems": gets})
        return tuple(_value(response.get("Item")) for response in answer["Responses"])

    def read_group(self, group: str) -> frozenset[tuple[str, Value | None]]:
        answer = self._one(
            "Query",
            IndexName="by_group",
            KeyConditionExpression="#group = :group",
            ExpressionAttributeNames={"#group": "group"},
            ExpressionAttributeValues={":group": {"S": group}},
        )
        return frozenset((item["pk"]["S"], _value(item)) for item in answer["Items"])

    def scan(self) -> frozenset[tuple[str, Value | None]]:
        answer = self._one("Scan", ConsistentRead=True)
        return frozenset((item["pk"]["S"], _value(item)) for item in answer["Items"])

    def advance(self) -> None:
        self._move_clock(STEP_SECONDS)


def _key(key: str) -> dict[str, Any]:
    return {"pk": {"S": key}}


def _item(key: str, value: Value) -> dict[str, Any]:
    item = {**_key(key), "number": {"N": str(value.number)}}
    if value.group is not None:
        item["group"] = {"S": value.group}
    if value.expiry is not None:
        item["expiry"] = {"N": str(value.expiry)}
    return item


def _value(item: dict[str, Any] | None) -> Value | None:
    if item is None:
        return None
    group, expiry = item.get("group"), item.get("expiry")
    return Value(int(item["number"]["N"]), group and group["S"], expiry and int(expiry["N"]))


def _change(key: str, amount: int) -> dict[str, Any]:
    return {
        "Update": {
            "TableName": "register",
            "Key": _key(key),
            "UpdateExpression": "SET #number = #number + :amount",
            "ConditionExpression": "attribute_exists(pk)",
            "ExpressionAttributeNames": {"#number": "number"},
            "ExpressionAttributeValues": {":amount": {"N": str(amount)}},
        }
    }


# Recording


def some_operation(chance: random.Random, now: int) -> tuple[str, tuple[Any, ...]]:
    """Return an operation with its arguments."""
    name = chance.choices(list(MODEL), WEIGHTS)[0]
    key = chance.choice(KEYS)
    value = Value(
        chance.randrange(4),
        chance.choice((*GROUPS, None)),
        chance.choice((None, None, now + 30)),
    )
    arguments: dict[str, tuple[Any, ...]] = {
        "put": (key, value),
        "add": (key, chance.randrange(1, 4)),
        "compare_and_set": (key, chance.randrange(6), value),
        "transfer": (*chance.sample(KEYS, 2), 1),
        "read_together": (tuple(chance.sample(KEYS, 3)),),
        "read_group": (chance.choice(GROUPS),),
        "scan": (),
        "advance": (),
    }
    return name, arguments.get(name, (key,))


class Recorder:
    """Lets threads call at once, and records what each of them saw.

    Args:
        callers: One for each thread.
        now: Tells the time, for items that expire.
        seed: Seeds what the threads do.
    """

    def __init__(self, callers: Sequence[Caller], now: Callable[[], float], seed: int) -> None:
        self._now = now
        chances = (random.Random(f"{seed}/{number}") for number in range(len(callers)))
        self._threads = list(zip(callers, chances, strict=True))
        self._pool = ThreadPoolExecutor(len(callers))
        #: Numbers every call and return; handing out a number is one step for Python.
        self._moments = itertools.count()

    def round(self, calls: int) -> list[Operation]:
        """Return the history of some calls by every thread, begun together."""
        barrier = threading.Barrier(len(self._threads))
        works = [
            self._pool.submit(self._work, caller, chance, calls, barrier)
            for caller, chance in self._threads
        ]
        return [operation for work in works for operation in work.result()]

    def _work(
        self, caller: Caller, chance: random.Random, calls: int, barrier: threading.Barrier
    ) -> list[Operation]:
        barrier.wait()
        history = []
        for _ in range(calls):
            name, arguments = some_operation(chance, int(self._now()))
            called = next(self._moments)
            answer = caller(name, arguments)
            history.append(Operation(name, arguments, answer, called, next(self._moments)))
        return history

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()


FAULTS = ("throttle", "internal_error", "conflict")
FAULT_SHARE = 0.03


def make_table(call: Call) -> None:
    """Make the table of the model."""
    call("CreateTable", TABLE)
    call("UpdateTimeToLive", TIME_TO_LIVE)


@contextmanager
def within_this_process(
    threads: int, seed: int = 0, *, faults: bool = True
) -> Iterator[tuple[Recorder, Emulator]]:
    """Give a recorder of calls to an emulator, which faults hit now and then."""
    emulator = Emulator(clock=ManualClock(), capacity="enforce", settings=Settings(ttl_delay=0))
    make_table(emulator.call)
    for kind in FAULTS if faults else ():
        emulator.faults.add(kind=kind, share=FAULT_SHARE, seed=seed)
    caller = Caller(emulator.call, emulator.clock.advance)
    recorder = Recorder([caller] * threads, emulator.clock.now, seed)
    try:
        with quick_switches():
            yield recorder, emulator
    finally:
        recorder.close()


class RemoteError(ApiError):
    """An error answer that came over HTTP; each has a class of its own, named as its code."""


class Connection:
    """One thread's connection to a server."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request in wire form.

        Raises:
            RemoteError: what the server answered.
        """
        fields = HEADERS | {"X-Amz-Target": f"DynamoDB_20120810.{operation}"}
        status, answer = self._send("/", request, fields)
        if status == http.HTTPStatus.OK:
            return answer
        code = answer["__type"].partition("#")[2]
        raise type(code, (RemoteError,), {})(answer.get("message"), answer)

    def control(self, route: str, members: dict[str, Any]) -> dict[str, Any]:
        """Ask a control route."""
        status, answer = self._send(f"/_emulator/{route}", members, {})
        assert status == http.HTTPStatus.OK, answer
        return answer

    def _send(
        self, path: str, members: dict[str, Any], fields: dict[str, str]
    ) -> tuple[int, dict[str, Any]]:
        self._connection.request("POST", path, json.dumps(members), fields)
        answer = self._connection.getresponse()
        return answer.status, json.loads(answer.read())

    def advance(self, seconds: int) -> None:
        """Move the server's clock."""
        self.control("clock", {"advance": seconds})


@contextmanager
def over_http(threads: int, seed: int = 0) -> Iterator[Recorder]:
    """Give a recorder of calls to a server in a process of its own."""
    command = [sys.executable, "-m", "emulator", "serve", "--port", "0", "--clock", "manual"]
    command += ["--capacity", "enforce", "--set", "ttl_delay=0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline().partition("http://")[2].split()[0].split(":")[1])
            connections = [Connection(port) for _ in range(threads)]
            first = connections[0]
            make_table(first.call)
            for kind in FAULTS:
                first.control("faults", {"kind": kind, "share": FAULT_SHARE, "seed": seed})
            callers = [Caller(one.call, one.advance) for one in connections]
            # Nobody asks for the time: an expiry that was stated long ago is one, too.
            recorder = Recorder(callers, lambda: DEFAULT_START + 600, seed)
            yield recorder
            recorder.close()
        finally:
            process.kill()


def check(
    recorder: Recorder, start: Register, rounds: Iterator[int], calls: int
) -> tuple[Counter[str], set[Any]]:
    """Record rounds and explain each of them; return what was called, and the states at the end.

    Raises:
        Violation: a round has no serial order.
    """
    states: set[Any] = {start}
    counts: Counter[str] = Counter()
    for _ in rounds:
        history = recorder.round(calls)
        states = possible_states(history, states, step)
        counts.update(
            REFUSED if operation.answer == REFUSED else operation.name for operation in history
        )
    return counts, states


@contextmanager
def quick_switches() -> Iterator[None]:
    """Let threads take turns far more often than usual."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


EMPTY = Register((None,) * len(KEYS), DEFAULT_START)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--calls", type=int, default=50, help="of each thread in a round")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--http", action="store_true", help="a server in a process of its own")
    given = parser.parse_args()

    def rounds() -> Iterator[int]:
        ends = time.perf_counter() + given.seconds
        for number in itertools.count():
            if time.perf_counter() > ends:
                return
            yield number

    with ExitStack() as stack:
        if given.http:
            recorder = stack.enter_context(over_http(given.threads, given.seed))
        else:
            recorder, _ = stack.enter_context(within_this_process(given.threads, given.seed))
        try:
            counts, _ = check(recorder, EMPTY, rounds(), given.calls)
        except Violation as violation:
            print(violation)
            return 1
    rows = [[name, f"{count:,}"] for name, count in counts.most_common()]
    threads = f"{given.threads} {'connections' if given.http else 'threads'}"
    title = (
        f"{counts.total():,} operations of {threads} in {given.seconds:g} s, all in serial order"
    )
    print_table(title, ["operation", "answers"], rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
