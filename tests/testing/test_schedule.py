"""Experiments: which orders and interruptions are played, and what is as before afterwards."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from emulator import ApiError, Emulator, ManualClock
from emulator.testing import every_interleaving
from tests.tables import create_request

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


def program_of(emu, steps):
    def run():
        seen = ""
        for step in steps:
            seen += f"{len(heard(emu.call, *request_of(step, seen))) % 10}"
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
            seen[task] += f"{len(answer) % 10}"
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
