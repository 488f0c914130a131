"""Ask emulators the same, and list every class of answers that differ from ours.

    DYNAMODB_LOCAL=folder DYNOXIDE=command python -m benchmarks.differential --requests 50000

Requests are seeded and of every kind on items, with ConsumedCapacity and PartiQL. Where a write
was answered differently, the peer is brought to our state before the next request, so that one
disagreement is not counted twice. Which class is right, and why, is said in
docs/decisions/0033-what-comparisons-found-again.md.
"""

import argparse
import contextlib
import itertools
import json
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from benchmarks.differential.compare import Outcome, disagreement
from benchmarks.differential.requests import TABLES, Requests, create_requests
from benchmarks.servers import commands, running
from emulator import ApiError, Emulator, ManualClock, Settings

PEERS = ("DynamoDB Local", "dynoxide")
READS = {"GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems"}
ATTRIBUTES_SHOWN = 400


class Ours:
    """Our emulator, in this process."""

    def __init__(self, messages):
        # Peers create such an item (decision 32), and would have more items than we from then on.
        settings = Settings(messages=messages, removal_creates_item=True)
        self._emulator = Emulator(clock=ManualClock(), capacity="off", settings=settings)

    def ask(self, operation, request):
        try:
            return Outcome(operation, 200, self._emulator.call(operation, request))
        except ApiError as error:
            return Outcome(operation, error.status, error.body())


class Peer:
    """Another emulator, over HTTP."""

    def __init__(self, name, server):
        self.name = name
        self._server = server
        self.classes = Counter()
        self.examples = {}

    def ask(self, operation, request):
        answer, body = self._server.call._post(operation, request)
        members = json.loads(body) if body else {}
        return Outcome(operation, answer.status, members)

    def compare(self, operation, request, ours):
        """Note a disagreement; return whether items may differ from now on."""
        theirs = self.ask(operation, request)
        kind = disagreement(operation, ours, theirs)
        if kind is None:
            return False
        self.classes[kind] += 1
        if kind not in self.examples:
            self.examples[kind] = {
                "operation": operation,
                "request": request,
                "ours": _shown(ours),
                "theirs": _shown(theirs),
            }
        return operation not in READS and ".ConsumedCapacity" not in kind


def _shown(outcome):
    if outcome.code is not None:
        return f"{outcome.code}: {outcome.message} {json.dumps(outcome.answer)[:200]}"
    return json.dumps(outcome.answer)[:ATTRIBUTES_SHOWN]


def bring_to(ours, peer, named=None):
    """Give a peer the items that we have, in the table that is named or in all."""
    for table in [named] if named in TABLES else TABLES:
        names = [element["AttributeName"] for element in TABLES[table]["KeySchema"]]
        mine, theirs = (_items(emulator, table, names) for emulator in (ours, peer))
        for key in theirs.keys() - mine.keys():
            item = theirs[key]
            request = {"TableName": table, "Key": {name: item[name] for name in names}}
            peer.ask("DeleteItem", request)
        for key, item in mine.items():
            if theirs.get(key) != item:
                peer.ask("PutItem", {"TableName": table, "Item": item})


def _items(emulator, table, names):
    answer = emulator.ask("Scan", {"TableName": table, "ConsistentRead": True}).answer
    return {json.dumps([item[name] for name in names]): item for item in answer["Items"]}


def run(ours, peer, count, seed):
    """Ask us and a peer the same; return how many requests each operation had."""
    asked = Counter()
    for request in create_requests():
        ours.ask("CreateTable", request)
        peer.ask("CreateTable", request)
    for operation, request in itertools.islice(Requests(seed), count):
        asked[operation] += 1
        outcome = ours.ask(operation, json.loads(json.dumps(request)))
        if peer.compare(operation, request, outcome):
            bring_to(ours, peer, request.get("TableName"))
        if sum(asked.values()) % 1000 == 0:
            print(f"{peer.name}: {sum(asked.values())} of {count}", file=sys.stderr)
    return asked


def report(peer, count, shown):
    """Print a peer's classes, the most frequent first."""
    total = sum(peer.classes.values())
    print(f"\n{peer.name}: {total} of {count} answers differ, in {len(peer.classes)} classes")
    for kind, times in peer.classes.most_common(shown):
        print(f"  {times:>6}  {kind}")


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.differential", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--requests", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--messages", default="classic", help="our wording; peers have the older")
    parser.add_argument("--shown", type=int, default=60, help="classes to print for each peer")
    parser.add_argument("--json", metavar="FILE", help="write every class with an example")
    arguments = parser.parse_args(argv)

    names = [name for name in PEERS if commands(0)[name]]
    if not names:
        print("no peer is installed: set DYNAMODB_LOCAL or DYNOXIDE", file=sys.stderr)
        return 2
    with contextlib.ExitStack() as stack:
        peers = [Peer(name, stack.enter_context(running(name))) for name in names]
        # A peer is waited for most of the time, so each has a thread, and an emulator of ours.
        pool = stack.enter_context(ThreadPoolExecutor(len(peers)))
        running_all = [
            pool.submit(run, Ours(arguments.messages), peer, arguments.requests, arguments.seed)
            for peer in peers
        ]
        asked, *_ = [finished.result() for finished in running_all]
    print(", ".join(f"{operation} {times}" for operation, times in asked.most_common()))
    for peer in peers:
        report(peer, arguments.requests, arguments.shown)
    if arguments.json:
        classes = {
            peer.name: [
                {"class": kind, "count": times, **peer.examples[kind]}
                for kind, times in peer.classes.most_common()
            ]
            for peer in peers
        }
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(classes, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
