"""Is there a serial order? A checker of histories that threads have recorded.

A history is linearizable if every operation can be given one moment between its call and its
return, so that one after the other, in the order of these moments, they give the answers that were
seen. The checker goes through calls and returns in the order in which they happened. It keeps every
state that the database can be in, each with the operations under way that have taken effect in it;
when an operation returns, only states remain in which it has. Operations under way are as many as
there are threads, so the work grows with the length of the history and not with its orders.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, NamedTuple

State = Hashable


class Operation(NamedTuple):
    """One call, as the thread that made it saw it.

    Attributes:
        name: What was called.
        arguments: With what.
        answer: What came back.
        called: When, among all calls and returns of the history.
        returned: When the answer was there.
    """

    name: str
    arguments: tuple[Any, ...]
    answer: Any
    called: int
    returned: int


#: From a state and an operation to the state after it, or ``IMPOSSIBLE``.
Step = Callable[[State, Operation], State]


class Impossible:
    """Stands for no state: the operation cannot have given its answer."""


IMPOSSIBLE = Impossible()


class Violation(Exception):
    """No serial order explains the history; the operation is the first that none explains."""

    def __init__(self, operation: Operation, before: Iterable[State]) -> None:
        self.operation = operation
        states = list(before)
        super().__init__(
            f"no serial order gives {operation.name}{operation.arguments} the answer "
            f"{operation.answer!r}; before it the state was one of {states[:3]!r}"
        )


def possible_states(
    history: Iterable[Operation], states: Iterable[State], step: Step
) -> set[State]:
    """Return every state that a complete history can end in.

    Args:
        history: The operations, in any order.
        states: Those that it can have begun in.
        step: What an operation does.

    Raises:
        Violation: there is no serial order.
    """
    under_way: set[Operation] = set()
    # A state, and which of the operations under way have taken effect in it.
    known: set[tuple[State, frozenset[Operation]]] = {(state, frozenset()) for state in states}
    for is_return, operation in _events(history):
        if not is_return:
            under_way.add(operation)
            continue
        before = {state for state, _ in known}
        known = set(_with_effect_of(operation, known, under_way, step))
        if not known:
            raise Violation(operation, before)
        under_way.remove(operation)
    return {state for state, _ in known}


def _events(history: Iterable[Operation]) -> Iterator[tuple[bool, Operation]]:
    events = []
    for operation in history:
        events.append((operation.called, False, operation))
        events.append((operation.returned, True, operation))
    events.sort(key=lambda event: event[0])
    return ((is_return, operation) for _, is_return, operation in events)


def _with_effect_of(
    operation: Operation,
    known: Iterable[tuple[State, frozenset[Operation]]],
    under_way: set[Operation],
    step: Step,
) -> Iterator[tuple[State, frozenset[Operation]]]:
    """Yield what can be known after a return: the operation has taken effect, others may have."""
    waiting = list(known)
    met = set(waiting)
    while waiting:
        state, done = waiting.pop()
        if operation in done:
            yield state, done - {operation}
            continue
        for candidate in under_way - done:
            after = step(state, candidate)
            if after is not IMPOSSIBLE and (after, done | {candidate}) not in met:
                met.add((after, done | {candidate}))
                waiting.append((after, done | {candidate}))
