"""Injected faults: rules that make chosen requests fail, by seed and repeatable.

A rule names the requests that it hits (by operation, table, key and time), how often (a share of
them, and a largest number of times) and what happens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeAlias

from emulator.service import limits

if TYPE_CHECKING:
    from emulator.engine.account import Account
    from emulator.engine.fault_rules import FaultRule

#: Answers a request in place of the service, or returns None to have it served.
Gate: TypeAlias = Callable[["Account", str, dict[str, Any]], dict[str, Any] | None]


def tables_of(request: object) -> list[str]:
    """Return the tables that a request names; it may be malformed, and is judged later.

    >>> tables_of({"RequestItems": {"a": [], "b": []}})
    ['a', 'b']
    >>> tables_of({"TransactItems": 5})
    []
    """
    if not isinstance(request, Mapping):
        return []
    if isinstance(request.get("TableName"), str):
        return [request["TableName"]]
    if isinstance(request.get("RequestItems"), Mapping):
        return [name for name in request["RequestItems"] if isinstance(name, str)]
    return [
        body["TableName"]
        for action in actions_of(request)
        if isinstance(action, Mapping)
        for body in action.values()
        if isinstance(body, Mapping) and isinstance(body.get("TableName"), str)
    ]


def actions_of(request: object) -> list[Any]:
    """Return the actions of a transaction, as many as one may have."""
    if not isinstance(request, Mapping):
        return []
    actions = request.get("TransactItems") or request.get("TransactStatements")
    return actions[: limits.TRANSACTION_ACTIONS] if isinstance(actions, list) else []


class Faults:
    """The fault rules of an emulator, and the gate that requests pass in an experiment.

    Attributes:
        rules: The rules, in the order in which they were added.
        gate: Asked about every request before any rule, while an experiment is played.
        in_the_way: The check before a request is served: the gate, or else the rules. A call
            tests only this, so that neither costs anything where there is none.

    >>> faults = Faults()
    >>> rule = faults.add(kind="internal_error", operations=("PutItem",), times=1)
    >>> len(faults.rules)
    1
    """

    def __init__(self) -> None:
        self.rules: list[FaultRule] = []
        self.gate: Gate | None = None
        self.in_the_way: list[FaultRule] | Gate = self.rules

    @contextmanager
    def gated(self, gate: Gate) -> Iterator[None]:
        """Ask a gate about every request that comes while a block runs."""
        self.gate = self.in_the_way = gate
        try:
            yield
        finally:
            self.gate, self.in_the_way = None, self.rules

    @contextmanager
    def lifted(self) -> Iterator[None]:
        """Let requests pass while a block runs: neither rules nor a gate are in their way."""
        kept = self.rules, self.in_the_way
        self.rules = self.in_the_way = []
        try:
            yield
        finally:
            self.rules, self.in_the_way = kept

    def set_aside(self) -> Callable[[], None]:
        """Go on with copies of the rules and without a gate; returns how to put all back."""
        kept = self.rules, self.gate, self.in_the_way
        self.rules = self.in_the_way = deepcopy(self.rules) if self.rules else []
        self.gate = None

        def put_back() -> None:
            self.rules, self.gate, self.in_the_way = kept

        return put_back

    def add(self, **rule: Any) -> FaultRule:
        """Add a rule; see ``FaultRule`` for its arguments.

        Raises:
            TypeError: An argument is none of them, or there is no kind.
        """
        from dataclasses import fields

        from emulator.engine.fault_rules import FaultRule

        known = [member.name for member in fields(FaultRule) if member.init]
        unknown = next((name for name in rule if name not in known), None)
        if unknown is not None or "kind" not in rule:
            wrong = "needs a kind" if unknown is None else f"has no {unknown!r}"
            raise TypeError(f"a fault rule {wrong}; it takes {', '.join(known)}")
        added = FaultRule(**rule)
        self.rules.append(added)
        return added

    def of(self, namespace: str | None) -> list[FaultRule]:
        """Return the rules that are for a namespace only, or all rules."""
        return [rule for rule in self.rules if namespace in (None, rule.namespace)]

    def clear(self) -> None:
        """Drop all rules."""
        self.rules.clear()

    def strike(self, account: Account, operation: str, request: Mapping[str, Any]) -> None:
        """Raise, or let time pass, as the rules say of a request about to be served."""
        clock = account.clock
        for rule in self.rules:
            if rule.kind == "unprocessed" or not rule.hit(
                operation, request, clock.now(), account.namespace
            ):
                continue
            if rule.kind == "latency":
                clock.sleep(rule.latency)
            else:
                raise rule.error(account, operation, request)

    def reachable_ns(self, regions: Iterable[str], time_ns: int) -> float:
        """Return the first moment from a given one on at which no region has an outage.

        >>> faults = Faults()
        >>> _ = faults.add(kind="outage", regions="eu-west-1", until=5)
        >>> faults.reachable_ns(("us-east-1", "eu-west-1"), 1_000_000_000)
        5000000000
        """
        reached_ns: float = time_ns
        while self.rules and reached_ns < math.inf:
            ends = [
                end_ns
                for rule in self.rules
                for region in regions
                if (end_ns := rule.ends_ns(region, int(reached_ns))) is not None
            ]
            if not ends:
                break
            reached_ns = max(ends)
        return reached_ns

    def unprocessed(
        self, account: Account, operation: str, request: Mapping[str, Any], count: int
    ) -> set[int]:
        """Return which of a batch's items the rules leave undone, never all of them."""
        if not self.rules:
            return set()
        now, namespace = account.now_seconds, account.namespace
        undone: set[int] = set()
        for rule in self.rules:
            if rule.kind == "unprocessed" and rule.hit(operation, request, now, namespace):
                undone |= rule.undone(count)
        return undone if len(undone) < count else undone - {min(undone)}
