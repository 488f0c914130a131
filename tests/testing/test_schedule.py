"""Experiments: which orders and interruptions are played, and what is as before afterwards."""

import asyncio
import itertools
import json
import random
import re
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import boto3
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emulator import ApiError, Emulator, ManualClock, mock_dynamodb
from emulator.errors import EmulatorError
from emulator.testing import every_crash, every_interleaving, schedule
from emulator.testing.table_notation import create_request

NOW = 1_800_000_000
STOCK = create_request("stock", "shelf", "sku")
#: Items, by the letter that programs call them by; x has expired and is still there.
KEYS = {name: {"shelf": {"S": "s1"}, "sku": {"S": name}} for name in "abx"}


def emulator(capacity="observe", **options):
    emu = Emulator(clock=ManualClock(NOW), capacity=capacity, **options)
    emu.call("CreateTable", STOCK)
    ttl = {"AttributeName": "ttl", "Enabled": True}
    emu.call("UpdateTimeToLive", {"TableName": "stock", "TimeToLiveSpecification": ttl})
    item = KEYS["x"] | {"n": {"S": "0"}, "ttl": {"N": str(NOW - 10)}}
    emu.call("PutItem", {"TableName": "stock", "Item": item})
    return emu


# Programs: each step is a letter for what is done, and one for the item

READ_ALL = {
    "KeyConditionExpression": "shelf = :s",
    "ExpressionAttributeValues": {":s": {"S": "s1"}},
}


def request_of(step, seen):
    """Return the request of a step; what is written tells what was seen before."""
    kind, name = step
    table, key = {"TableName": "stock"}, KEYS[name]
    value = {"n": {"S": f"{seen[-6:]}{name}"}}
    match kind:
        case "get" | "get consistently":
            return "GetItem", table | {"Key": key, "ConsistentRead": kind != "get"}
        case "put":
            return "PutItem", table | {"Item": key | value}
        case "put new":
            condition = {"ConditionExpression": "attribute_not_exists(sku)"}
            return "PutItem", table | {"Item": key | value} | condition
        case "query":
            return "Query", table | READ_ALL
        case "scan":
            return "Scan", table | {"ConsistentRead": True}
        case "delete":
            return "DeleteItem", table | {"Key": key, "ReturnValues": "ALL_OLD"}
    other = KEYS["b" if name == "a" else "a"]
    puts = [{"Put": table | {"Item": one | value}} for one in (key, other)]
    return "TransactWriteItems", {"TransactItems": puts}


STEPS = st.tuples(
    st.sampled_from(
        ["get", "put", "get consistently", "put new", "query", "scan", "delete", "transact"]
    ),
    st.sampled_from("abx"),
)
PROGRAMS = st.lists(st.lists(STEPS, min_size=1, max_size=3), min_size=1, max_size=3).filter(
    lambda programs: sum(map(len, programs)) <= 5
)


def heard(call, operation, request):
    """Return what a request is answered, as text."""
    try:
        return json.dumps(call(operation, request), sort_keys=True)
    except ApiError as error:
        return error.code


def digest(answer):
    """Return two digits that tell answers apart."""
    return f"{zlib.crc32(answer.encode()) % 100:02}"


def program_of(emu, steps):
    def run():
        seen = ""
        for step in steps:
            seen += digest(heard(emu.call, *request_of(step, seen)))
        return seen

    return run


def contents(emu):
    with emu.trial():
        return json.dumps(emu.call("Scan", {"TableName": "stock"})["Items"], sort_keys=True)


class AllOrders:
    """Plays every order, one request at a time and from the beginning, and forgets nothing."""

    def __init__(self, emu, programs, *, bound, plays_more):
        self.emu = emu
        self.programs = programs
        self.bound = bound
        self.plays_more = plays_more
        self.outcomes = set()
        self.extend([], 0)

    def extend(self, choices, cost):
        with self.emu.trial():
            seen, done, history = self.replay(choices)
            asked = {
                task: request_of(steps[done[task]], seen[task])
                for task, steps in enumerate(self.programs)
                if done[task] < len(steps)
            }
            if not asked:
                self.outcomes.add((tuple(seen), contents(self.emu)))
                return
            coming = [
                (
                    task,
                    mark,
                    cost + bool(mark) + (bool(choices) and task != choices[-1][0] in asked),
                )
                for task in asked
                for mark in ("", *self.marks(task, asked, history))
            ]
        for task, mark, price in coming:
            if price <= self.bound:
                self.extend([*choices, (task, mark)], price)

    def replay(self, choices):
        seen, done, history = [""] * len(self.programs), [0] * len(self.programs), []
        for task, mark in choices:
            request = request_of(self.programs[task][done[task]], seen[task])
            before = self.emu.snapshot()
            if mark == "expired":
                self.emu.call("DeleteItem", {"TableName": "stock", "Key": KEYS["x"]})
            answer = (
                heard(self.emu.call, *request) if mark != "conflict" else self.conflict(request)
            )
            if mark == "stale":
                answer = self.stale(request, history)
            history.append(before)
            seen[task] += digest(answer)
            done[task] += 1
        return seen, done, history

    def marks(self, task, asked, history):
        if not self.plays_more:
            return
        operation, request = asked[task]
        is_eventual = operation in ("GetItem", "Query") and not request.get("ConsistentRead")
        if is_eventual and self.stale(asked[task], history) is not None:
            yield "stale"
        others = [names_of(asked[other]) for other in asked if other != task]
        writes = operation in ("PutItem", "DeleteItem", "TransactWriteItems")
        if writes and any(len(named) > 1 and named & names_of(asked[task]) for named in others):
            yield "conflict"
        if self.x_has_expired() and (
            operation in ("Query", "Scan") or "x" in names_of(asked[task])
        ):
            yield "expired"

    def stale(self, request, history):
        latest = heard(self.emu.call, *request)
        for before in reversed(history):
            with self.emu.trial(before):
                answer = heard(self.emu.call, *request)
            if answer != latest:
                return answer
        return None

    def conflict(self, request):
        if request[0] != "TransactWriteItems":
            return "TransactionConflictException"
        return "TransactionCanceledException"

    def x_has_expired(self):
        item = self.emu.call("GetItem", {"TableName": "stock", "Key": KEYS["x"]}).get("Item", {})
        return "ttl" in item


def names_of(asked):
    """Return the letters of the items that a request of one or several items names."""
    operation, request = asked
    bodies = [request]
    if operation == "TransactWriteItems":
        bodies = [action["Put"] for action in request["TransactItems"]]
    keys = [body.get("Key") or body.get("Item") or {} for body in bodies]
    return {key["sku"]["S"] for key in keys if key}


@settings(max_examples=60)
@given(
    programs=PROGRAMS,
    bound=st.sampled_from([0, 1, 2, None]),
    reads=st.sampled_from(["any", "latest"]),
    capacity=st.sampled_from(["observe", "enforce"]),
)
@example(  # a stale query sees one of two writes that commute, and either can be the last
    programs=[[("put", "a")], [("put", "b"), ("get", "a"), ("query", "a")]],
    bound=2,
    reads="any",
    capacity="observe",
)
@example(  # of two writes, a stale read misses the last only
    programs=[[("put", "a"), ("put", "a"), ("get", "a")]],
    bound=2,
    reads="any",
    capacity="observe",
)
def test_the_outcomes_are_those_of_all_orders(programs, bound, reads, capacity):
    emu = emulator(capacity)
    calls = [program_of(emu, steps) for steps in programs]
    most = 9 if bound is None else bound
    expected = AllOrders(emu, programs, bound=most, plays_more=reads == "any").outcomes

    outcomes = [
        (tuple(run.results), contents(emu))
        for run in every_interleaving(emu, *calls, max_preemptions=bound, reads=reads)
    ]

    assert set(outcomes) == expected


# How many runs, and in which order


def counter(emu, name="a", attempts=1):
    """Return code that counts: carelessly, or with a condition in up to so many attempts."""

    def count():
        for _ in range(attempts):
            item = emu.call("GetItem", {"TableName": "stock", "Key": KEYS[name]}).get("Item", {})
            seen = int(item["n"]["N"]) if item else 0
            request = {"TableName": "stock", "Item": KEYS[name] | {"n": {"N": str(seen + 1)}}}
            if attempts > 1:
                request["ConditionExpression"] = "attribute_not_exists(n) OR n = :seen"
                request["ExpressionAttributeValues"] = {":seen": {"N": str(seen)}}
            if "Conditional" not in heard(emu.call, "PutItem", request):
                return "counted"
        return "gave up"

    return count


def counted(emu, name="a"):
    return int(emu.call("GetItem", {"TableName": "stock", "Key": KEYS[name]})["Item"]["n"]["N"])


ALL_LATEST = {"reads": "latest", "max_preemptions": None}


def test_two_careless_counters_have_four_orders_and_two_lose():
    emu = emulator()
    runs = every_interleaving(emu, counter(emu), counter(emu), **ALL_LATEST)

    seen = [(run.schedule, run.preemptions, counted(emu), run.serial) for run in runs]

    assert seen == [
        ("aabb", 0, 2, True),
        ("bbaa", 0, 2, True),
        ("abba", 1, 1, False),
        ("baab", 1, 1, False),
    ]


def test_three_careful_counters_have_108_orders_and_none_loses():
    emu = emulator()
    calls = [counter(emu, attempts=5)] * 3

    outcomes = [
        (counted(emu), run.results) for run in every_interleaving(emu, *calls, **ALL_LATEST)
    ]

    assert outcomes == [(3, ["counted"] * 3)] * 108


def test_what_commutes_is_played_once():
    emu = emulator()

    runs = every_interleaving(emu, counter(emu, "a"), counter(emu, "b"))

    assert [run.schedule for run in runs] == ["aabb"]


def test_runs_can_be_limited_and_the_bound_says_what_it_refused():
    emu = emulator()
    runs = every_interleaving(emu, counter(emu), counter(emu), reads="latest", max_preemptions=0)

    assert [run.schedule for run in runs] == ["aabb", "bbaa"]
    assert str(runs) == "2 runs; max_preemptions=0 refused 2 further switches"
    assert len(list(every_interleaving(emu, counter(emu), counter(emu), max_runs=1))) == 1


# State


def test_everything_is_as_before_afterwards():
    emu = Emulator()
    emu.call("CreateTable", STOCK)
    clock, events, moment = emu.clock, [], emu.clock.now()
    emu.events.subscribe(events.append)
    emu.faults.add(kind="latency", latency=1.0, times=1)
    threads = threading.active_count()

    with emu.budget(calls=0):
        for run in every_interleaving(emu, counter(emu), counter(emu)):
            assert emu.clock.now() - moment < 3600
            assert threading.active_count() == threads
            emu.clock.advance(7200)
            assert run.steps

    assert (events, emu.clock, emu.faults.rules[0].hits) == ([], clock, 0)
    emu.faults.clear()
    assert emu.call("Scan", {"TableName": "stock"})["Count"] == 0
    assert emu.faults.gate is None


def test_a_loop_that_is_left_has_ended():
    emu = emulator()
    for _ in every_interleaving(emu, counter(emu)):
        break

    assert list(every_crash(emu, counter(emu)))
    assert "Item" not in emu.call("GetItem", {"TableName": "stock", "Key": KEYS["a"]})


def test_sleeps_move_the_clock_and_take_no_time():
    emu = Emulator()
    emu.call("CreateTable", STOCK)

    async def wait():
        await asyncio.sleep(3600)
        counter(emu)()
        time.sleep(60)  # noqa: TID251  # what is to be virtual
        return emu.clock.now()

    [run] = every_interleaving(emu, wait)

    assert round(run.results[0] - emu.clock.now()) == 3660


# What is refused


WRONG: list[tuple[Any, tuple[Any, ...], dict[str, Any], str]] = [
    (every_interleaving, (3,), {}, "takes functions without arguments, not 3"),
    (every_interleaving, (), {}, "takes at least one callable"),
    (every_interleaving, (print,), {"reads": "x"}, "reads is"),
    (every_interleaving, (print,), {"max_runs": 0}, "max_runs is a number"),
    (every_interleaving, (print,), {"expected": 3}, "expected takes classes"),
    (every_crash, (3,), {}, "takes functions without arguments, not 3"),
    (every_crash, (print,), {"kind": "x"}, "kind is"),
]


@pytest.mark.parametrize(("play", "calls", "options", "error"), WRONG)
def test_wrong_arguments_are_refused_before_the_loop(play, calls, options, error):
    with pytest.raises((TypeError, ValueError), match=error):
        play(emulator(), *calls, **options)


def test_a_callable_without_a_request_is_named():
    with pytest.raises(EmulatorError, match=r"a \(.*\) made no request"):
        list(every_interleaving(emulator(), lambda: None))


def test_requests_of_other_threads_are_refused():
    emu = emulator()

    def in_a_pool():
        with ThreadPoolExecutor(1) as pool:
            pool.submit(counter(emu)).result()

    with pytest.raises(EmulatorError, match="only the threads of the callables"):
        list(every_interleaving(emu, in_a_pool))


def test_who_waits_for_a_lock_and_who_holds_it_are_named():
    emu, lock = emulator(), threading.Lock()

    def locked():
        with lock:
            counter(emu)()

    with pytest.raises(EmulatorError, match=r"b \(.*locked\) made no request.*held by a"):
        list(every_interleaving(emu, locked, locked, timeout=0.05))


def test_code_that_asks_for_something_else_each_time_is_named():
    emu, times = emulator(), itertools.count()

    def scan_once():
        if next(times):
            counter(emu)()
        else:
            emu.call("Scan", {"TableName": "stock"})

    with pytest.raises(EmulatorError, match="not deterministic: where it asked for Scan stock"):
        list(every_interleaving(emu, scan_once, counter(emu)))


def test_a_loop_inside_another_is_refused():
    emu = emulator()

    runs = every_interleaving(emu, counter(emu))
    next(runs)

    with pytest.raises(EmulatorError, match="inside another"):
        list(every_crash(emu, counter(emu)))
    runs.close()
    assert list(every_crash(emu, counter(emu)))


def test_an_exception_is_raised_with_its_run_unless_it_is_expected():
    emu = emulator()

    def fail():
        counter(emu)()
        raise KeyError("x")

    with pytest.raises(KeyError) as raised:
        list(every_interleaving(emu, fail))
    assert "play it again: pytest --ddb-schedule 'aa'" in raised.value.__notes__[0]
    [run] = every_interleaving(emu, fail, expected=KeyError, reads="latest")
    assert repr(run.results) == "[KeyError('x')]"


# A schedule that is played again


@pytest.fixture
def asked_for():
    yield schedule.session
    schedule.session.begin(None)


def test_one_schedule_is_played_again(asked_for):
    emu = emulator()
    asked_for.begin("abba")

    [run] = every_interleaving(emu, counter(emu), counter(emu))

    assert (run.schedule, run.preemptions, run.serial) == ("abba", 1, False)


def test_a_run_that_is_played_again_is_compared_with_those_without_switches(asked_for):
    emu = emulator()
    asked_for.begin("abab")

    [run] = every_interleaving(emu, counter(emu, "a"), counter(emu, "b"))

    assert run.serial


@pytest.mark.parametrize("text", ["?", "abc", "aa<", "ab!", "aaaa"])
def test_a_schedule_that_does_not_fit_is_refused(asked_for, text):
    emu = emulator()
    asked_for.begin(text)

    with pytest.raises(EmulatorError, match=rf"the schedule {re.escape(repr(text))} does not fit"):
        list(every_interleaving(emu, counter(emu), counter(emu)))


# Crashes


def interruptions(emu, call, kind="crash"):
    return [(crash.schedule, crash.at, crash.applied) for crash in every_crash(emu, call, kind)]


def load_of(emu):
    rows = [{"PutRequest": {"Item": KEYS[name]}} for name in "abx"]

    def load():
        left = {"stock": rows}
        while left:
            left = emu.call("BatchWriteItem", {"RequestItems": left})["UnprocessedItems"]

    return load


def test_a_process_dies_before_each_request_and_after_each_write():
    emu = emulator()

    assert interruptions(emu, counter(emu)) == [
        ("a<", 1, False),
        ("aa<", 2, False),
        ("aa>", 2, True),
    ]


def test_a_process_dies_within_a_batch():
    emu = emulator()

    expected = [("a<", 1, False), ("a<1", 1, True), ("a<2", 1, True), ("a>", 1, True)]
    assert interruptions(emu, load_of(emu)) == expected


def test_items_of_a_batch_stay_unprocessed():
    emu = emulator()

    schedules = [crash.schedule for crash in every_crash(emu, load_of(emu), kind="unprocessed")]

    assert schedules == ["a/0a", "a/1a", "a/2a", "a%0a", "a%1a", "a%2a"]


def test_a_dead_process_sends_nothing_more():
    emu = emulator()

    def die_hard():
        try:
            counter(emu)()
        finally:
            counter(emu, "b")()

    left = [emu.call("Scan", {"TableName": "stock"})["Count"] for _ in every_crash(emu, die_hard)]

    assert left == [1, 1, 2, 2, 2, 3]


def test_boto3_tries_again_when_an_answer_is_lost():
    emu = emulator()

    def put():
        boto3.resource("dynamodb", "us-east-1").Table("stock").put_item(
            Item={"shelf": "s1", "sku": "a"}
        )

    with mock_dynamodb(emu):
        [crash] = every_crash(emu, put, kind="lost_answer")

    assert [(step.choice.mark, step.applied) for step in crash.steps] == [("?", True), ("", True)]


def test_chance_is_the_same_in_every_run():
    emu = emulator()

    def draw():
        counter(emu)()
        return random.random()  # noqa: TID251  # what callables may do

    drawn = [run.results for run in every_interleaving(emu, draw, draw, reads="latest")]

    assert sorted(drawn[0]) == sorted(drawn[1])
    assert random.random() in drawn[0]  # noqa: TID251  # the loop has drawn nothing
