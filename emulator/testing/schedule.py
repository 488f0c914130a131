"""The schedule of an experiment: in which order requests are served, and where code dies.

A *run* plays callables, each in a thread of its own, of which one goes at a time: it holds the
baton until it asks for something that another is to do first, or ends. Every request passes the
gate (``Faults.gated``), where the run's script says which is served next, and how. A *choice* is a
callable and a mark: served as usual, a stale answer, a death. A schedule is the text of the choices
that a run begins with; from there on whoever has the baton keeps it.

Which runs there are is found without playing them. A callable's next request depends only on the
answers it got, and an answer only on those earlier requests that do not commute with it: its
*past*. So two orders with equal pasts are one run, and requests that are known for a past are not
asked for again. A run is played when it holds a past that no run had: no order is played twice and
none in vain. Orders come by the number of their preemptions, so a bound loses nothing below it.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import math
import random
import re
import selectors
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from traceback import extract_stack
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, Self, TypeAlias

from emulator.api import footprint_of
from emulator.clients import connection_closed
from emulator.clock import NANOSECONDS
from emulator.observe import (
    Place,
    Snapshot,
    calling_place,
    tables_by_region,
    tables_of,
    uncounted,
    where,
)
from emulator.service.catalogue import OPERATIONS, Kind
from emulator.service.errors import EmulatorError

if TYPE_CHECKING:
    from emulator.api import Account, Emulator, Footprint

Call: TypeAlias = Callable[[], Any]
Reads: TypeAlias = Literal["any", "latest"]
CrashKind: TypeAlias = Literal["crash", "lost_answer", "unprocessed"]

#: What a request's turn may come to, beside being served; each is a mark in a schedule.
STALE: Final = "~"
CONFLICT: Final = "!"
EXPIRED: Final = "-"
DIES_BEFORE: Final = "<"
DIES_AFTER: Final = ">"
LOST_ANSWER: Final = "?"
ONE_UNDONE: Final = "/"
ONE_DONE: Final = "%"

#: For how long a callable may go on without a request.
TIMEOUT_SECONDS: Final = 5
#: Runs beyond this are not those of a program that ends.
MOST_REQUESTS: Final = 10_000
_MOST_CALLABLES: Final = 26
_CHOICE: Final = re.compile(r"([a-z])([~!<>?/%-]?)(\d*)")

NOT_CALLABLE: Final = "{what} takes functions without arguments, not {value!r}"
NO_CALLABLES: Final = "every_interleaving() takes at least one callable, and at most 26"
BAD_READS: Final = 'reads is "any" or "latest", not {value!r}'
BAD_KIND: Final = 'kind is "crash", "lost_answer" or "unprocessed", not {value!r}'
BAD_NUMBER: Final = "{name} is a number of at least {least}, or None, not {value!r}"
BAD_EXPECTED: Final = "expected takes classes of exceptions, not {value!r}"
NO_REQUEST: Final = "{name} made no request to this emulator: there is nothing to schedule"
FOREIGN: Final = (
    "while interleavings or crashes are played, only the threads of the callables send requests: "
    "this one comes from the thread {thread!r}"
)
INSIDE: Final = "an experiment cannot be played inside another: end the loop around it first"
STUCK: Final = "{name} made no request for {seconds:g} s: it is at {place}{holders}"
HOLDERS: Final = "; what it waits for may be held by {names}"
NOT_DETERMINISTIC: Final = (
    "{name} is not deterministic: where it asked for {before} in an earlier run, it asks for "
    "{now}; its requests may depend on nothing but the answers it gets"
)
UNFIT: Final = (
    "the schedule {schedule!r} does not fit: {why}; run the test without --ddb-schedule to see "
    "the schedules that do"
)
ENDLESS: Final = f"a run made {MOST_REQUESTS:,} requests: callables must come to an end"
BOUND: Final = "{runs} runs; max_preemptions={bound} refused {refused} further switches"

_log: Final = logging.getLogger(__name__)


class ProcessDied(BaseException):
    """The process that made a request dies at it; no later request of its is served.

    >>> issubclass(ProcessDied, Exception)
    False
    """


class _Stopped(BaseException):
    """The run is over before its callables are."""


class _NotAsPlanned(Exception):
    """The service has nothing but the usual answer here; the run is given up, and not shown."""


class Choice(NamedTuple):
    """Whose request is served, and how.

    Attributes:
        task: The number of the callable.
        mark: The outcome of the request; nothing for being served as usual.
        number: Which item of a batch, or how many, if the mark needs it.
    """

    task: int
    mark: str = ""
    number: int | None = None

    def __str__(self) -> str:
        return f"{_letter(self.task)}{self.mark}{'' if self.number is None else self.number}"


def _letter(task: int) -> str:
    return chr(ord("a") + task)


def _parse(schedule: str) -> list[Choice]:
    """Return the choices that a schedule is the text of.

    >>> "".join(map(str, _parse("aab~a<2")))
    'aab~a<2'
    """
    if not re.fullmatch(f"({_CHOICE.pattern})+", schedule):
        raise _unfit(schedule, "it is none")
    return [
        Choice(ord(letter) - ord("a"), mark, int(number) if number else None)
        for letter, mark, number in _CHOICE.findall(schedule)
    ]


class Ask(NamedTuple):
    """A request as it is sent, and where in the caller's code."""

    operation: str
    request: dict[str, Any]
    footprint: Footprint
    place: Place

    @property
    def kind(self) -> Kind:
        """The kind of its operation."""
        facts = OPERATIONS.get(self.operation)
        return Kind.CONTROL if facts is None else facts.kind

    @property
    def is_transaction(self) -> bool:
        """Whether it is a transaction that writes, which others can be in conflict with."""
        return self.kind is Kind.TRANSACTION and bool(self.footprint.written)

    @property
    def changes(self) -> bool:
        """Whether it changes something if it succeeds."""
        return bool(self.footprint.written) and not self.operation.startswith(_LOOKING)

    def __str__(self) -> str:
        return " ".join([self.operation, *sorted(set(tables_of(self.request)))])


_LOOKING: Final = ("Describe", "List", "Get", "TransactGet")


@dataclass(slots=True)
class Step:
    """One request of a run, and its outcome.

    Attributes:
        choice: Its callable and its outcome.
        ask: The request.
        answer: Its answer, if it got one.
        error: The name of the error that it got in place of an answer.
        raised: That error, if it is no error of the usual service.
        applied: Whether it was served, its answer received or not.
        expired: The writes of deleting the expired items that it names, if there are any.
        before: The contents before it, if a later read may still see them.
    """

    choice: Choice
    ask: Ask
    answer: Mapping[str, Any] | None = None
    error: str | None = None
    raised: BaseException | None = None
    applied: bool = False
    expired: Footprint | None = None
    before: Snapshot | None = None

    @property
    def footprint(self) -> Footprint:
        """Its names, and its writes if it is the first to find an item expired."""
        is_deletion = self.choice.mark == EXPIRED and self.expired is not None
        return self.expired if is_deletion else self.ask.footprint  # type: ignore[return-value]  # not None


# One run: threads, a baton, a gate


class Script(Protocol):
    """The order in which callables go on.

    Attributes:
        needs_all: Whether every callable has to be at its first request before any is served.
        keeps_earlier: Whether a later read is to see the contents before some write.
    """

    needs_all: bool
    keeps_earlier: bool

    def next(self, current: int | None, open_tasks: Sequence[int]) -> Choice:
        """Return the next choice; ``current`` asks for something, or has ended if it is None."""

    def expected(self, task: int) -> Ask | None:
        """Return the request that a callable made here in an earlier run, if there was one."""

    def met(self, task: int, ask: Ask | None) -> None:
        """Note what a callable asks for next; None if it has ended."""

    def served(self, step: Step) -> None:
        """Note what came of a request."""


class Follow:
    """The script that follows choices, and then lets everyone go on to his end."""

    def __init__(self, choices: Sequence[Choice] = ()) -> None:
        self.choices = choices
        self.needs_all = any(choice.mark == CONFLICT for choice in choices)
        self.keeps_earlier = any(choice.mark == STALE for choice in choices)
        self._turn = 0

    def next(self, current: int | None, open_tasks: Sequence[int]) -> Choice:
        """Return the next of the choices, or whoever has the baton."""
        turn = self._turn
        self._turn += 1
        if turn < len(self.choices):
            return self.choices[turn]
        return Choice(open_tasks[0] if current is None else current)

    def expected(self, task: int) -> Ask | None:
        """Expect nothing."""

    def met(self, task: int, ask: Ask | None) -> None:
        """Note nothing."""

    def served(self, step: Step) -> None:
        """Note nothing."""


class _Task:
    """A callable of a run, and its thread."""

    def __init__(self, number: int, call: Call, context: Context) -> None:
        self.number = number
        self.call = call
        self.context = context
        self.baton = threading.Lock()
        self.baton.acquire()
        self.thread: threading.Thread | None = None
        self.turn: Choice | None = None
        self.asked: Ask | None = None
        self.is_served = self.is_over = self.is_dead = False
        self.result: Any = None
        self.error: BaseException | None = None

    @property
    def name(self) -> str:
        return _name(self.number, self.call)


def _name(number: int, call: Call) -> str:
    return f"{_letter(number)} ({getattr(call, '__qualname__', None) or repr(call)})"


class Stage:
    """Plays one run of some callables on an emulator.

    Args:
        emulator: Whose requests are scheduled.
        calls: The callables.
        script: The order in which callables go on.
        timeout: After how many seconds without a request a callable is given up.
    """

    def __init__(
        self, emulator: Emulator, calls: Sequence[Call], script: Script, timeout: float
    ) -> None:
        self._emulator = emulator
        self._script = script
        self._timeout = timeout
        self.tasks = [_Task(number, call, copy_context()) for number, call in enumerate(calls)]
        self.steps: list[Step] = []
        self._by_thread: dict[int, _Task] = {}
        self._over = threading.Lock()
        self._progress = 0
        self._failure: BaseException | None = None
        self._current: _Task | None = None
        #: Who is to make its first request before any is served.
        self._to_come = list(self.tasks) if script.needs_all else []

    def play(self) -> None:
        """Play the run to its end; then no thread of it is left.

        Raises:
            EmulatorError: it cannot be played, and why.
        """
        if self._emulator.faults.gate is not None:
            raise EmulatorError(INSIDE)
        self._over.acquire()
        with self._emulator.faults.gated(self._gate), _sleeping_virtually(self._sleep):
            if self._to_come:
                self._begin(self._to_come.pop(0))
            else:
                self._pass_on()
            idle, seen = 0, -1
            while not self._over.acquire(timeout=self._timeout / _LOOKS):
                idle, seen = (idle + 1 if seen == self._progress else 1), self._progress
                if idle > _LOOKS and not self._stop_stuck():
                    break
            for task in self.tasks:
                if task.thread is not None:
                    task.thread.join(None if self._failure is None else _GRACE_SECONDS)
        if self._failure is not None:
            raise self._failure

    @property
    def results(self) -> list[Any]:
        """The results or exceptions of the callables."""
        return [task.result if task.error is None else task.error for task in self.tasks]

    def _begin(self, task: _Task) -> None:
        """Start a callable, which has the baton from its beginning."""
        self._current = task
        name = f"dynamometer-{_letter(task.number)}"
        task.thread = threading.Thread(target=self._body, args=(task,), daemon=True, name=name)
        task.thread.start()

    def _body(self, task: _Task) -> None:
        self._by_thread[threading.get_ident()] = task
        try:
            task.result = task.context.run(_called, task.call, self._emulator)
        except BaseException as error:  # it is the result of the run
            task.error = error
        task.is_over = True
        self._progress += 1
        try:
            if not task.is_dead and self._failure is None:
                _require_request(task)
                self._script.met(task.number, None)
            self._pass_on()
        except BaseException as error:  # told by ``play``
            self._fail(error)

    def _gate(
        self, account: Account, operation: str, request: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Let a request wait for its turn, and serve it; the one place where a run is steered."""
        task = self._by_thread.get(threading.get_ident())
        if task is None:
            raise EmulatorError(FOREIGN.format(thread=threading.current_thread().name))
        if task.is_served:
            return None
        if task.is_dead:
            raise ProcessDied
        if self._failure is not None:
            raise _Stopped
        try:
            choice = self._turn_of(task, account, operation, request)
        except (EmulatorError, _NotAsPlanned) as error:
            self._failure = error
            raise _Stopped from None
        return self._serve(task, account, choice)

    def _turn_of(
        self, task: _Task, account: Account, operation: str, request: dict[str, Any]
    ) -> Choice:
        """Return the choice for a request once it has its turn."""
        self._progress += 1
        if self._progress > MOST_REQUESTS:
            raise EmulatorError(ENDLESS)
        known = self._script.expected(task.number)
        if known is None or (known.operation, known.request) != (operation, request):
            footprint = footprint_of(account, operation, request)
            known = Ask(operation, request, footprint, calling_place())
        task.asked = known
        self._script.met(task.number, known)
        if task.turn is None and self._to_come:
            self._begin(self._to_come.pop(0))
            self._wait(task)
        elif task.turn is None:
            choice = self._script.next(task.number if self.steps else None, self._open())
            if choice.task == task.number:
                return choice
            self._hand_over(choice)
            self._wait(task)
        turn, task.turn = task.turn, None
        assert turn is not None, "who has the baton has a turn"
        return turn

    def _wait(self, task: _Task) -> None:
        """Wait for the baton."""
        task.baton.acquire()
        self._current = task
        if self._failure is not None:
            raise _Stopped

    def _open(self) -> list[int]:
        return [task.number for task in self.tasks if not task.is_over]

    def _pass_on(self) -> None:
        """Let another go on after one has ended."""
        still_open = self._open()
        if self._failure is not None:
            still_open = [number for number in still_open if self.tasks[number].thread is not None]
        if not still_open:
            self._over.release()
        elif self._failure is not None:
            self.tasks[still_open[0]].baton.release()
        else:
            self._hand_over(self._script.next(None, still_open))

    def _hand_over(self, choice: Choice) -> None:
        if not choice.task < len(self.tasks) or self.tasks[choice.task].is_over:
            raise _NotAsPlanned
        task = self.tasks[choice.task]
        task.turn = choice
        if task.thread is None:
            self._begin(task)
        else:
            task.baton.release()

    def _fail(self, error: BaseException) -> None:
        self._failure = self._failure or error
        self._pass_on()

    def _stop_stuck(self) -> bool:
        """Give up a run in which nothing moves; return whether its end may still be seen."""
        if self._failure is not None:
            return False
        stuck = self._current
        assert stuck is not None, "a callable has the baton"
        waiting = [
            f"{task.name}, which waits at {where(task.asked.place)}"
            for task in self.tasks
            if task.asked is not None and task is not stuck and not task.is_over
        ]
        holders = HOLDERS.format(names=" or ".join(waiting)) if waiting else ""
        place = _line_of(stuck)
        self._failure = EmulatorError(
            STUCK.format(name=stuck.name, seconds=self._timeout, place=place, holders=holders)
        )
        for task in self.tasks:
            if task is not stuck and task.thread is not None and not task.is_over:
                task.baton.release()
        return True

    def _sleep(self, seconds: float) -> bool:
        """Let a callable's sleep move the clock; return whether it is one's."""
        task = self._by_thread.get(threading.get_ident())
        if task is None or task.is_served:
            return False
        if seconds > 0:
            self._emulator.clock.advance(seconds)
        return True

    # What becomes of a request

    def _serve(self, task: _Task, account: Account, choice: Choice) -> dict[str, Any]:
        ask = task.asked
        assert ask is not None, "a request has come"
        step = Step(choice, ask)
        self.steps.append(step)
        task.is_served = True
        try:
            answer = self._answer(task, account, step)
            step.answer = answer
        except BaseException as error:
            if isinstance(error, _NotAsPlanned):
                self._failure = error
                raise _Stopped from None
            step.error = getattr(error, "code", None) or type(error).__name__
            if step.choice.mark:  # only then: by its traceback an exception keeps the whole run
                step.raised = error
            raise
        finally:
            task.is_served = False
            if self._failure is None:
                self._script.served(step)
        return answer

    def _answer(self, task: _Task, account: Account, step: Step) -> dict[str, Any]:
        ask, choice = step.ask, step.choice
        step.expired = ask.footprint.expired(account)
        if self._script.keeps_earlier and (ask.changes or choice.mark == EXPIRED):
            step.before = self._emulator.snapshot()
        match choice.mark:
            case "":
                return self._call(account, step)
            case mark if mark == STALE:
                return self._stale(account, step)
            case mark if mark == CONFLICT:
                return self._conflicting(task, account, step)
            case mark if mark == EXPIRED:
                if step.expired is None:
                    raise _NotAsPlanned
                with account.lock:
                    step.expired.expire(account)
                return self._call(account, step)
            case mark if mark in (DIES_BEFORE, DIES_AFTER):
                self._die(task, account, step)
            case mark if mark == LOST_ANSWER:
                self._call(account, step)
                raise connection_closed()
        return self._partly(account, step)

    def _call(
        self, account: Account, step: Step, request: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        key, region = account.namespace
        answer = self._emulator.call(
            step.ask.operation,
            step.ask.request if request is None else request,
            region=region,
            access_key=key,
        )
        step.applied = True
        return answer

    def _stale(self, account: Account, step: Step) -> dict[str, Any]:
        """Answer as before the last write of this run that changes the answer."""
        latest = self._call(account, step)
        key, region = account.namespace
        for earlier in reversed(self.steps[:-1]):
            if earlier.before is None or not step.ask.footprint.conflicts(earlier.footprint):
                continue
            with self._emulator.trial(earlier.before):
                then = self._emulator.account(region)
                with uncounted(then):
                    answer = self._emulator.call(
                        step.ask.operation, step.ask.request, region=region, access_key=key
                    )
            if answer != latest:
                return answer
        raise _NotAsPlanned

    def _conflicting(self, task: _Task, account: Account, step: Step) -> dict[str, Any]:
        """Refuse a request because a transaction that waits has begun with its items."""
        other = _transaction_against(
            task.number,
            step.ask,
            {each.number: each.asked for each in self.tasks if not each.is_over},
        )
        if other is None:
            raise _NotAsPlanned
        held = self.tasks[other].asked
        assert held is not None, "it waits"
        with account.holds.held(held.footprint.items):
            self._call(account, step)
        raise _NotAsPlanned  # it was not refused

    def _die(self, task: _Task, account: Account, step: Step) -> None:
        done = step.choice.number
        if done is not None:
            self._call(account, step, _batch_of(step.ask, lambda number: number < done))
        elif step.choice.mark == DIES_AFTER:
            self._call(account, step)
        task.is_dead = True
        raise ProcessDied

    def _partly(self, account: Account, step: Step) -> dict[str, Any]:
        """Leave one item of a batch unprocessed, or all but one."""
        chosen, leaves_one = step.choice.number, step.choice.mark == ONE_UNDONE
        left = _batch_of(step.ask, lambda number: (number == chosen) is leaves_one)
        served = _batch_of(step.ask, lambda number: (number == chosen) is not leaves_one)
        answer: dict[str, Any] = {}
        if served["RequestItems"]:
            answer = self._call(account, step, served)
        reads = step.ask.operation == "BatchGetItem"
        if reads and not answer:
            answer["Responses"] = {table: [] for table in step.ask.request["RequestItems"]}
        member = "UnprocessedKeys" if reads else "UnprocessedItems"
        return answer | {member: left["RequestItems"]}


#: Into how many looks a timeout is divided.
_LOOKS: Final = 10
#: How long a run that has failed waits for a thread that may never end.
_GRACE_SECONDS: Final = 0.1


def _require_request(task: _Task) -> None:
    if task.asked is None and task.error is None:
        raise EmulatorError(NO_REQUEST.format(name=task.name))


def _called(call: Call, emulator: Emulator) -> Any:
    """Call a function; if it is a coroutine function, run it in a loop of its own."""
    result = call()
    if not inspect.iscoroutine(result):
        return result
    with asyncio.Runner(loop_factory=lambda: _VirtualLoop(emulator)) as runner:
        return runner.run(result)


class _VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop that never waits for real time: it moves the emulator's clock."""

    def __init__(self, emulator: Emulator) -> None:
        self._virtual = emulator.clock
        self._start_ns = self._virtual.now_ns()
        super().__init__(_VirtualSelector(self._virtual.advance))

    def time(self) -> float:
        # From its own beginning: of seconds since the epoch, a float does not hold the nanoseconds.
        return (self._virtual.now_ns() - self._start_ns) / NANOSECONDS


class _VirtualSelector(selectors.DefaultSelector):
    def __init__(self, advance: Callable[[float], None]) -> None:
        super().__init__()
        self._advance = advance

    def select(self, timeout: float | None = None) -> Any:
        if timeout is not None and timeout > 0:
            self._advance(timeout)
            timeout = 0
        return super().select(timeout)


@contextmanager
def _sleeping_virtually(sleep: Callable[[float], bool]) -> Iterator[None]:
    """Let ``time.sleep`` ask who sleeps first."""
    real = time.sleep  # noqa: TID251  # what callables are written with

    def sleep_of(seconds: float) -> None:
        if not sleep(seconds):
            real(seconds)

    time.sleep = sleep_of  # type: ignore[assignment]  # noqa: TID251  # nobody names its argument
    try:
        yield
    finally:
        time.sleep = real  # noqa: TID251


def _line_of(task: _Task) -> str:
    """Return where a callable is: the innermost line of the caller's own code, if there is one."""
    frame = sys._current_frames().get(0 if task.thread is None else task.thread.ident or 0)
    lines = [] if frame is None else extract_stack(frame)
    own = [line for line in lines if _is_own(line.filename)] or lines
    return f"{own[-1].filename}:{own[-1].lineno}" if own else "an unknown line"


def _is_own(file: str) -> bool:
    return (
        not file.startswith(("<", sys.prefix, sys.base_prefix)) and "emulator/testing" not in file
    )


def _transaction_against(task: int, ask: Ask, asked: Mapping[int, Ask | None]) -> int | None:
    """Return which other callable waits with a transaction on an item of a request, if one does.

    Source: Developer Guide, "Transactional conflict handling": a write of one item, or another
    transaction, is refused while a TransactWriteItems on its items is under way.
    """
    if ask.kind not in (Kind.WRITE, Kind.TRANSACTION) and not (
        ask.kind is Kind.STATEMENT and ask.footprint.written
    ):
        return None
    for other, waiting in asked.items():
        if other == task or waiting is None or not waiting.is_transaction:
            continue
        if not waiting.footprint.items.isdisjoint(ask.footprint.items):
            return other
    return None


def _batch_of(ask: Ask, chosen: Callable[[int], bool]) -> dict[str, Any]:
    """Return a batch request with some of its items, counted through all tables."""
    number = 0
    tables: dict[str, Any] = {}
    for table, wanted in ask.request["RequestItems"].items():
        members = wanted["Keys"] if ask.operation == "BatchGetItem" else wanted
        kept = [member for at, member in enumerate(members, number) if chosen(at)]
        number += len(members)
        if kept:
            tables[table] = wanted | {"Keys": kept} if isinstance(wanted, dict) else kept
    return ask.request | {"RequestItems": tables}


def batch_size(ask: Ask) -> int:
    """Return how many items a batch has; none if it is no batch of items."""
    if ask.operation not in ("BatchGetItem", "BatchWriteItem"):
        return 0
    wanted = ask.request["RequestItems"].values()
    return sum(len(one["Keys"] if isinstance(one, dict) else one) for one in wanted)


# Which runs there are


class _Event(NamedTuple):
    """A request in its place: its callable, its outcome, and all it depends on.

    Attributes:
        choice: Its callable and its outcome.
        footprint: The names in it; with an item that expires, those that the deletion has as well.
        against: The callable with whose waiting transaction it is in conflict, if it is.
        past: Each callable's latest event that does not commute with it; that one's past has those
            before.
    """

    choice: Choice
    footprint: Footprint
    against: int | None
    past: frozenset[int]


class _Node:
    """The beginning of a run.

    Attributes:
        parent: The beginning before its last event; None for the beginning of all runs.
        choice: The callable of the last event, and its outcome.
        heads: The number of each callable's last event, -1 if it has none. They have all others
            in their pasts, so beginnings with the same heads are the same but for the order of
            what commutes.
        last: Whose event is last.
        preemptions: How many preemptions it has.
    """

    __slots__ = ("choice", "heads", "last", "parent", "preemptions")

    def __init__(
        self, parent: _Node | None, choice: Choice, heads: tuple[int, ...], preemptions: int
    ) -> None:
        self.parent = parent
        self.choice = choice
        self.heads = heads
        self.last = choice.task
        self.preemptions = preemptions

    def choices(self) -> list[Choice]:
        """Return the choices that lead to it."""
        choices = []
        node: _Node | None = self
        while node is not None and node.parent is not None:
            choices.append(node.choice)
            node = node.parent
        return choices[::-1]

    def events(self) -> Iterator[int]:
        """Yield the numbers of its events, the latest first."""
        node: _Node | None = self
        while node is not None and node.parent is not None:
            yield node.heads[node.last]
            node = node.parent


class _Known:
    """Lessons of runs: the next request of each callable after each past.

    Attributes:
        asks: A callable and its last event, to its next request; None if it ends.
        finished: The heads of the runs that were played to their end.
        expired: The event of a request that names expired items, to the writes of their end.
        unavailable: Events that were tried, and that the service has no answer for.
        seen_at_large: Names in eventually consistent reads of several items.
    """

    def __init__(self, calls: Sequence[Call], *, plays_stale: bool) -> None:
        self._calls = calls
        self._plays_stale = plays_stale
        self._numbers: dict[_Event, int] = {}
        self._events: list[_Event] = []
        self.asks: dict[tuple[int, int], Ask | None] = {}
        self.finished: set[tuple[int, ...]] = set()
        self.expired: dict[int, Footprint] = {}
        self.unavailable: set[int] = set()
        self.seen_at_large: set[frozenset[Any]] = set()
        self._played: list[list[tuple[Choice, Ask, Footprint | None]]] = []
        self._seen_before = 0

    def root(self) -> _Node:
        """Return the beginning of all runs."""
        return _Node(None, Choice(-1), (-1,) * len(self._calls), 0)

    def step(self, node: _Node, choice: Choice, preemptions: int = 0) -> _Node:
        """Return a beginning with one more event."""
        task = choice.task
        ask = self.asks[task, node.heads[task]]
        assert ask is not None, "it asks for something"
        footprint, against = ask.footprint, None
        if choice.mark == EXPIRED:
            plain = self.step(node, Choice(task))
            footprint = self.expired.get(plain.heads[task], footprint)
        elif choice.mark == CONFLICT:
            against = _transaction_against(task, ask, self.asked(node))
        event = _Event(choice, footprint, against, self._past(node, task, footprint, against))
        number = self._numbers.setdefault(event, len(self._events))
        if number == len(self._events):
            self._events.append(event)
        heads = (*node.heads[:task], number, *node.heads[task + 1 :])
        return _Node(node, choice, heads, preemptions)

    def _past(
        self, node: _Node, task: int, footprint: Footprint, against: int | None
    ) -> frozenset[int]:
        past: dict[int, int] = {}
        begun = sum(head >= 0 for head in node.heads)
        for number in node.events():
            event = self._events[number]
            other = event.choice.task
            if other not in past and (
                other in (task, against)
                or event.against == task
                or event.footprint.conflicts(footprint)
                or self._is_seen_between(event.footprint, footprint)
            ):
                past[other] = number
                if len(past) == begun:
                    break
        return frozenset(past.values())

    def _is_seen_between(self, one: Footprint, other: Footprint) -> bool:
        """Return whether a stale read may see one of two writes without the other."""
        return any(
            not (seen.isdisjoint(one.written) or seen.isdisjoint(other.written))
            for seen in self.seen_at_large
        )

    def asked(self, node: _Node) -> dict[int, Ask | None]:
        """Return the request of every callable; None if it has ended, no entry if unknown."""
        return {
            task: self.asks[task, head]
            for task, head in enumerate(node.heads)
            if (task, head) in self.asks
        }

    def changes_something(self, node: _Node, ask: Ask) -> bool:
        """Return whether an earlier write may have changed what a read answers."""
        return any(
            self._events[number].footprint.written
            and self._events[number].footprint.conflicts(ask.footprint)
            for number in node.events()
        )

    # Learning from a run

    def meets(self, task: int, head: int, ask: Ask | None) -> None:
        """Learn what a callable asks for after its last event.

        Raises:
            EmulatorError: it asked for something else before.
        """
        known = self.asks.setdefault((task, head), ask)
        if known is ask:  # as nearly always: see ``Trace.expected``
            return
        if known is None or str(known) != str(ask):  # operation and tables
            raise EmulatorError(
                NOT_DETERMINISTIC.format(
                    name=_name(task, self._calls[task]),
                    before=known or "nothing more",
                    now=ask or "nothing more",
                )
            )

    def notes(self, node: _Node, step: Step) -> None:
        """Learn from a request that was served, at the end of a beginning."""
        footprint = step.ask.footprint
        if step.expired is not None and not step.choice.mark:
            self.expired[node.heads[node.last]] = step.expired
        if self._plays_stale and footprint.is_eventual and len(footprint.items) != 1:
            self.seen_at_large.add(footprint.touched - {("*",)})

    def keeps(self, steps: Sequence[Step]) -> bool:
        """Keep a run; return whether it has shown that fewer requests commute than was thought.

        Then all that was learned is learned again, from the runs that were played.
        """
        if not self._plays_stale:
            return False
        self._played.append([(step.choice, step.ask, step.expired) for step in steps])
        if len(self.seen_at_large) == self._seen_before:
            return False
        self._seen_before = len(self.seen_at_large)
        self._numbers, self._events = {}, []
        self.asks, self.finished, self.expired, self.unavailable = {}, set(), {}, set()
        for played in self._played:
            trace = Trace(self)
            for choice, ask, expired in played:
                trace.met(choice.task, ask)
                trace.served(Step(choice, ask, expired=expired))
            for task in range(len(self._calls)):
                trace.met(task, None)
            self.finished.add(trace.node.heads)
        return True


class Trace(Follow):
    """The script that follows choices, and learns what they lead to."""

    def __init__(self, known: _Known, choices: Sequence[Choice] = ()) -> None:
        super().__init__(choices)
        self._known = known
        self.node = known.root()
        self.preemptions = 0

    def next(self, current: int | None, open_tasks: Sequence[int]) -> Choice:
        """Return the next of the choices, and count it if it is a preemption."""
        choice = super().next(current, open_tasks)
        self.preemptions += (current is not None and choice.task != current) + bool(choice.mark)
        return choice

    def expected(self, task: int) -> Ask | None:
        """Return the next request of a callable, if it is known."""
        return self._known.asks.get((task, self.node.heads[task]))

    def met(self, task: int, ask: Ask | None) -> None:
        """Learn what a callable asks for."""
        self._known.meets(task, self.node.heads[task], ask)

    def served(self, step: Step) -> None:
        """Learn from a request that was served."""
        self.node = self._known.step(self.node, step.choice)
        self._known.notes(self.node, step)


class _Search:
    """Finds the runs to play, those with fewer preemptions first.

    Attributes:
        refused: How many choices had one preemption too many.
    """

    def __init__(self, known: _Known, *, bound: float, plays_more: bool) -> None:
        self._known = known
        self._bound = bound
        self._plays_more = plays_more
        self._stack: list[_Node] = []
        self._later: dict[int, list[_Node]] = {}
        self._covered: dict[tuple[int, ...], tuple[int, set[int | None]]] = {}
        self.refused = 0
        #: How often it has begun: what is known is numbered again each time.
        self._beginnings = 0
        self.restart()

    def restart(self) -> None:
        """Begin again: what is known has changed, and what was played stays played."""
        self._stack, self._later, self._covered = [self._known.root()], {}, {}
        self._beginnings += 1
        self.refused = 0

    def nodes(self) -> Iterator[_Node]:
        """Yield the beginnings to play on from; each is to be played before the next is asked for.

        A beginning is covered if another leads to the same with as few preemptions, whatever comes
        next: with fewer, or with the same callable to go on for free.
        """
        known = self._known
        while self._stack or self._later:
            if not self._stack:
                self._stack = self._later.pop(min(self._later))[::-1]
            node = self._stack.pop()
            if not self._is_known(node):
                beginnings = self._beginnings
                yield node
                if self._beginnings != beginnings or not self._is_known(node):
                    continue
            self._add_expiry(node)
            asked = known.asked(node)
            open_tasks = [task for task, ask in asked.items() if ask is not None]
            last = node.last if node.last in open_tasks else None
            if self._is_covered(node, last):
                continue
            if open_tasks:
                self._branch(node, last, asked, open_tasks)
            elif node.heads not in known.finished:
                yield node

    def _is_known(self, node: _Node) -> bool:
        """Return whether every callable's next request is known."""
        known = self._known
        if node.last >= 0 and node.heads[node.last] in known.unavailable:
            return False
        return all((task, head) in known.asks for task, head in enumerate(node.heads))

    def _is_covered(self, node: _Node, last: int | None) -> bool:
        least, lasts = self._covered.setdefault(node.heads, (node.preemptions, set()))
        if node.preemptions > least or last in lasts or None in lasts:
            return True
        lasts.add(last)
        return False

    def _branch(
        self, node: _Node, last: int | None, asked: Mapping[int, Ask | None], open_tasks: list[int]
    ) -> None:
        """Put what can come next on the stack, or aside if it takes another preemption."""
        known, at_once = self._known, []
        if last is not None:
            open_tasks.remove(last)
            open_tasks.insert(0, last)
        for task in open_tasks:
            cost = node.preemptions + (last is not None and task != last)
            marks = [""]
            if self._plays_more:
                ask = asked[task]
                assert ask is not None, "it is open"
                if ask.footprint.is_eventual and known.changes_something(node, ask):
                    marks.append(STALE)
                if _transaction_against(task, ask, asked) is not None:
                    marks.append(CONFLICT)
            for mark in marks:
                at_once += self._add(node, Choice(task, mark), cost + bool(mark))
        self._stack += at_once[::-1]

    def _add(self, node: _Node, choice: Choice, preemptions: int) -> list[_Node]:
        """Return the node after a choice if it is to be looked at now, else put it aside."""
        if preemptions > self._bound:
            self.refused += 1
            return []
        child = self._known.step(node, choice, preemptions)
        if preemptions == node.preemptions:
            return [child]
        self._later.setdefault(preemptions, []).append(child)
        return []

    def _add_expiry(self, node: _Node) -> None:
        """Put aside that the items which the last request names have expired before it."""
        if node.parent is None or node.choice.mark or not self._plays_more:
            return
        if node.heads[node.last] in self._known.expired:
            choice = Choice(node.last, EXPIRED)
            # Aside in any case: it takes one preemption more than the request as it is.
            self._stack += self._add(node.parent, choice, node.preemptions + 1)


# What is handed to a test


class _Session:
    """The schedule that a test session asks for, and the run that the plugin shows.

    Attributes:
        schedule: The one schedule to play; None for all.
        last: The last run that was played.
    """

    def __init__(self) -> None:
        self.schedule: str | None = None
        self.last: Played | None = None

    def begin(self, schedule: str | None) -> None:
        """Begin a test."""
        self.schedule, self.last = schedule, None


session: Final = _Session()
#: The gates of the emulators on which an experiment is played.
_playing: Final[list[object]] = []


class _World:
    """The state that every run of a loop begins with, and what callables are played in it."""

    def __init__(
        self, emulator: Emulator, calls: Sequence[Call], timeout: float, *, plays_stale: bool
    ) -> None:
        self.emulator = emulator
        self.calls = calls
        self.known = _Known(calls, plays_stale=plays_stale)
        self.serial_runs: list[Run] = []
        self._timeout = timeout
        self._start = Snapshot({})
        self._random = random.getstate()

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Keep the world until a loop ends."""
        faults = self.emulator.faults
        if faults in _playing or faults.gate is not None:
            raise EmulatorError(INSIDE)
        _playing.append(faults)
        try:
            with self.emulator.trial():
                self._start = self.emulator.snapshot()
                yield
        finally:
            _playing.remove(faults)
            random.setstate(self._random)

    @contextmanager
    def played(self, choices: Sequence[Choice]) -> Iterator[tuple[Stage, Trace]]:
        """Play one run, and keep what it leaves until the block ends."""
        with self.emulator.trial(self._start):
            random.setstate(self._random)
            trace = Trace(self.known, choices)
            stage = Stage(self.emulator, self.calls, trace, self._timeout)
            stage.play()
            if len(stage.steps) < len(choices):
                raise _NotAsPlanned
            self.known.finished.add(trace.node.heads)
            yield stage, trace

    def play_without_switches(self) -> None:
        """Play what a run is compared with, where only that run is asked for."""
        for node in _Search(self.known, bound=0, plays_more=False).nodes():
            with self.played(node.choices()) as played:
                _run_of(self, *played)

    @contextmanager
    def replayed(self, schedule: str, marks: Sequence[str]) -> Iterator[tuple[Stage, Trace]]:
        """Play the run that was asked for by its schedule."""
        choices = _parse(schedule)
        if any(choice.mark and choice.mark not in marks for choice in choices):
            raise _unfit(schedule, "it is of another kind of loop")
        try:
            with self.played(choices) as (stage, trace):
                yield stage, trace
        except _NotAsPlanned:
            raise _unfit(schedule, "the callables do not make these requests") from None


def _unfit(schedule: str, why: str) -> EmulatorError:
    return EmulatorError(UNFIT.format(schedule=schedule, why=why))


@dataclass(eq=False)
class Played:
    """The record of a run, to look at.

    Attributes:
        schedule: The text for ``pytest --ddb-schedule`` to play it again.
        steps: Its requests, in the order in which they were served.
    """

    schedule: str
    steps: tuple[Step, ...]
    names: tuple[str, ...] = field(repr=False)
    outcomes: tuple[str, ...] = field(repr=False)

    def unless_it_raised(self, stage: Stage, expected: tuple[type[BaseException], ...]) -> Self:
        """Return this run, unless one of its callables raised what is not expected.

        Raises:
            BaseException: a callable raised it; the run is its note.
        """
        for task in stage.tasks:
            if task.error is not None and not isinstance(task.error, expected):
                task.error.add_note(str(self))
                raise task.error
        return self

    def __str__(self) -> str:
        # Most runs are never shown.
        from emulator.testing.run_table import table_of

        return table_of(self)


@dataclass(eq=False)
class Run(Played):
    """One interleaving.

    Attributes:
        results: The callables' results, in their order; exceptions that were expected.
        preemptions: How many of its choices went away from a callable whose request waited, or had
            the service do what it does not do as a rule.

    >>> from emulator import Emulator
    >>> emu = Emulator()
    >>> [run.results for run in every_interleaving(emu, lambda: len(emu.call("ListTables", {})))]
    [[1]]
    """

    results: list[Any]
    preemptions: int
    _world: _World = field(repr=False)
    _end: Snapshot = field(repr=False)
    _held: dict[tuple[str, str], list[str] | None] = field(default_factory=dict, repr=False)

    @property
    def serial(self) -> bool:
        """Whether results and tables are those of some order without switches."""
        return any(self._equals(other) for other in self._world.serial_runs)

    def _equals(self, other: Run) -> bool:
        if other is self:
            return True
        if [_comparable(one) for one in self.results] != [
            _comparable(one) for one in other.results
        ]:
            return False
        tables = self._written() | other._written()
        return self._contents(tables) == other._contents(tables)

    def _written(self) -> set[str]:
        """Return the tables that it may have changed."""
        if any(step.ask.kind is Kind.CONTROL and step.ask.changes for step in self.steps):
            return {table for tables in tables_by_region(self._end).values() for table in tables}
        return {
            table for step in self.steps if step.ask.changes for table in step.ask.footprint.tables
        }

    def _contents(self, tables: set[str]) -> dict[tuple[str, str], list[str] | None]:
        """Return the items of tables as it left them, in every region."""
        places = [
            (region, table)
            for region, present in tables_by_region(self._end).items()
            for table in present
            if table in tables
        ]
        missing = [place for place in places if place not in self._held]
        if missing:
            emulator = self._world.emulator
            with emulator.trial(self._end):
                for region, table in missing:
                    with uncounted(emulator.account(region)):
                        self._held[region, table] = _items_of(emulator, region, table)
        return {place: self._held[place] for place in places}


@dataclass(eq=False)
class Crash(Played):
    """One way to be interrupted.

    Attributes:
        at: Which request it was, counted from one.
        request: Its operation and parameters.
        applied: Whether it was served, or some of its items were.
        result: The callable's result or exception, if it came to an end.
    """

    at: int
    request: tuple[str, dict[str, Any]]
    applied: bool
    result: Any


def _items_of(emulator: Emulator, region: str, table: str) -> list[str]:
    request: dict[str, Any] = {"TableName": table}
    items: list[str] = []
    while True:
        page = emulator.call("Scan", request, region=region)
        items += [json.dumps(item, sort_keys=True) for item in page["Items"]]
        if "LastEvaluatedKey" not in page:
            return sorted(items)
        request["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def _comparable(result: Any) -> Any:
    return (type(result), str(result)) if isinstance(result, BaseException) else result


class _Tally:
    """How many runs were played, and how many choices were refused."""

    def __init__(self) -> None:
        self.played = self.refused = 0


class Runs(Iterator[Any]):
    """The runs of a loop, as they are played; when it is dropped, the loop has ended.

    Args:
        iterator: Plays them. It must not refer to this object, or it would not be dropped.
        tally: Its counts.
        bound: The most preemptions of a run.
    """

    def __init__(
        self, iterator: Generator[Any, None, None], tally: _Tally, bound: float = math.inf
    ) -> None:
        self._iterator = iterator
        self._tally = tally
        self._bound = bound

    def __next__(self) -> Any:
        return next(self._iterator)

    def __str__(self) -> str:
        return BOUND.format(runs=self.played, bound=self._bound, refused=self.refused)

    @property
    def played(self) -> int:
        """How many there were so far."""
        return self._tally.played

    @property
    def refused(self) -> int:
        """How many further switches ``max_preemptions`` refused; known when the loop has ended."""
        return self._tally.refused

    def close(self) -> None:
        """End the loop: the emulator is what it was before."""
        self._iterator.close()


def every_interleaving(
    emu: Emulator,
    *callables: Call,
    max_preemptions: int | None = 2,
    max_runs: int | None = None,
    reads: Reads = "any",
    expected: type[BaseException] | tuple[type[BaseException], ...] = (),
    timeout: float = TIMEOUT_SECONDS,
) -> Runs:
    """Play callables at once, in every order of their requests that can make a difference.

    Each runs as it is, in a thread of its own. All runs begin with the present contents, at the
    present moment, on virtual time; after the loop contents, time and all counts are as before.

    Args:
        emu: The emulator that the callables send their requests to.
        callables: Functions without arguments, or coroutine functions.
        max_preemptions: How often a run may switch away from a callable whose request waits; None
            for any number.
        max_runs: The most runs to play.
        reads: "any" also has eventually consistent reads answered as before the last write,
            requests refused by a transaction that waits, and expired items deleted; "latest"
            does not.
        expected: Exceptions that are results; any other is raised from the loop.
        timeout: Seconds after which a callable that makes no request is given up.

    Raises:
        EmulatorError: the callables cannot be played: one makes no request, waits for another or
            asks for something else each time; or requests come from another thread.

    >>> from emulator import Emulator
    >>> from emulator.strategies import create_request
    >>> emu = Emulator()
    >>> _ = emu.call("CreateTable", create_request("visits", "page"))
    >>> visits = emu.table("visits")
    >>> def count():
    ...     seen = visits.get_item(Key={"page": "home"}).get("Item", {"n": 0})["n"]
    ...     visits.put_item(Item={"page": "home", "n": seen + 1})
    >>> for run in every_interleaving(emu, count, count):
    ...     n = visits.get_item(Key={"page": "home"})["Item"]["n"]
    ...     print(run.schedule, n, run.serial)
    aabb 2 True
    bbaa 2 True
    abba 1 False
    aab~b 1 False
    baab 1 False
    bba~a 1 False
    """
    _check_calls("every_interleaving()", callables)
    if not 0 < len(callables) <= _MOST_CALLABLES:
        raise ValueError(NO_CALLABLES)
    _check_number("max_preemptions", max_preemptions, 0)
    _check_number("max_runs", max_runs, 1)
    if reads not in ("any", "latest"):
        raise ValueError(BAD_READS.format(value=reads))
    kinds: tuple[Any, ...] = expected if isinstance(expected, tuple) else (expected,)
    if not all(isinstance(kind, type) and issubclass(kind, BaseException) for kind in kinds):
        raise TypeError(BAD_EXPECTED.format(value=expected))
    bound = math.inf if max_preemptions is None else max_preemptions
    plays_more = reads == "any" and bound > 0
    world = _World(emu, callables, timeout, plays_stale=plays_more)
    search = _Search(world.known, bound=bound, plays_more=plays_more)
    tally = _Tally()

    def play() -> Generator[Run, None, None]:
        with world.opened():
            if session.schedule is not None:
                world.play_without_switches()
                with world.replayed(session.schedule, _INTERLEAVED) as played:
                    yield _run_of(world, *played).unless_it_raised(played[0], kinds)
                return
            for node in search.nodes():
                try:
                    with world.played(node.choices()) as played:
                        run = _run_of(world, *played).unless_it_raised(played[0], kinds)
                        if world.known.keeps(run.steps):
                            search.restart()
                        tally.played += 1
                        yield run
                except _NotAsPlanned:
                    world.known.unavailable.add(node.heads[node.last])
                if tally.played == max_runs:
                    break
            tally.refused = search.refused
            _log.info(BOUND.format(runs=tally.played, bound=bound, refused=tally.refused))

    return Runs(play(), tally, bound)


_INTERLEAVED: Final = (STALE, CONFLICT, EXPIRED)


def _run_of(world: _World, stage: Stage, trace: Trace) -> Run:
    """Return a run that was played; one without a preemption is what others are compared with."""
    end = world.emulator.snapshot()
    session.last = run = Run(*_told(stage), stage.results, trace.preemptions, world, end)
    if not run.preemptions:
        world.serial_runs.append(run)
    return run


def _told(stage: Stage) -> tuple[str, tuple[Step, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the members of every played run: schedule, steps, names and outcomes."""
    schedule = "".join(str(step.choice) for step in stage.steps)
    names = tuple(task.name for task in stage.tasks)
    outcomes = tuple(
        f"returned {task.result!r}" if task.error is None else f"raised {task.error!r}"
        for task in stage.tasks
    )
    return schedule, tuple(stage.steps), names, outcomes


def every_crash(
    emu: Emulator, callable: Call, kind: CrashKind = "crash"
) -> Runs:  # its name is public
    """Play a function once for every way in which it can be interrupted at a request.

    State, time and counts are as in ``every_interleaving``; what the body of the loop finds is what
    was left behind.

    Args:
        emu: The emulator that it sends its requests to.
        callable: A function without arguments, or a coroutine function.
        kind: "crash": the process dies before a request, or after one that changes something, or
            in the middle of a BatchWriteItem; ``ProcessDied`` is raised at it and at every later
            request. "lost_answer": a request is served and its connection closed without an
            answer, so that the SDK tries again. "unprocessed": one item of a batch stays
            unprocessed, or all but one.

    >>> from emulator import Emulator
    >>> from emulator.strategies import create_request
    >>> emu = Emulator()
    >>> _ = emu.call("CreateTable", create_request("orders", "id"))
    >>> orders = emu.table("orders")
    >>> def place():
    ...     orders.put_item(Item={"id": "o1"})
    ...     orders.put_item(Item={"id": "o1#receipt"})
    >>> for crash in every_crash(emu, place):
    ...     print(crash.at, crash.applied, orders.scan()["Count"])
    1 False 0
    1 True 1
    2 False 1
    2 True 2
    """
    _check_calls("every_crash()", (callable,))
    if kind not in _POINTS:
        raise ValueError(BAD_KIND.format(value=kind))
    world = _World(emu, (callable,), TIMEOUT_SECONDS, plays_stale=False)
    tally = _Tally()

    def play() -> Generator[Crash, None, None]:
        with world.opened():
            with world.played(()) as (whole, _):
                [task] = whole.tasks
                if task.error is not None:
                    raise task.error
            if session.schedule is not None:
                with world.replayed(session.schedule, _POINTS[kind]) as (stage, _):
                    yield _crash_of(stage)
                return
            for choices in _interruptions(whole.steps, kind):
                with world.played(choices) as (stage, _):
                    tally.played += 1
                    yield _crash_of(stage)

    return Runs(play(), tally)


_POINTS: Final[Mapping[str, tuple[str, ...]]] = {
    "crash": (DIES_BEFORE, DIES_AFTER),
    "lost_answer": (LOST_ANSWER,),
    "unprocessed": (ONE_UNDONE, ONE_DONE),
}


def _interruptions(steps: Sequence[Step], kind: CrashKind) -> Iterator[list[Choice]]:
    """Yield the schedules of all interruptions of a run that was not interrupted."""
    for number, step in enumerate(steps):
        size = batch_size(step.ask)
        marks: list[tuple[str, int | None]] = []
        if kind == "lost_answer":
            marks.append((LOST_ANSWER, None))
        elif kind == "crash":
            marks.append((DIES_BEFORE, None))
            if step.ask.operation == "BatchWriteItem":
                marks += [(DIES_BEFORE, done) for done in range(1, size)]
            if step.ask.changes and step.error is None:
                marks.append((DIES_AFTER, None))
        elif size > 1:  # the service refuses a batch of which it can process nothing
            marks += [(ONE_UNDONE, item) for item in range(size)]
            marks += [(ONE_DONE, item) for item in range(size) if size > 2]
        for mark, item in marks:
            yield [Choice(0)] * number + [Choice(0, mark, item)]


def _crash_of(stage: Stage) -> Crash:
    """Return the crash of an interruption.

    Raises:
        BaseException: the callable raised something else than it was interrupted with.
    """
    marked = [number for number, step in enumerate(stage.steps, start=1) if step.choice.mark]
    if not marked:
        raise _unfit("".join(str(step.choice) for step in stage.steps), "nothing is interrupted")
    at = marked[0]
    step = stage.steps[at - 1]
    request = (step.ask.operation, step.ask.request)
    crash = Crash(*_told(stage), at, request, step.applied, stage.results[0])
    session.last = crash
    # Whatever is raised because of the interruption, as an SDK does that gives up.
    if step.raised not in list(_causes(stage.tasks[0].error)):
        crash.unless_it_raised(stage, ())
    return crash


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and those that it was raised from or beside."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


class Switches(Follow):
    """The script that was drawn: who goes first, and after which requests the next goes on."""

    def __init__(self, first: int, after: Sequence[int]) -> None:
        super().__init__()
        self._first = first
        self._after = after

    def next(self, current: int | None, open_tasks: Sequence[int]) -> Choice:
        """Return whose turn it is."""
        served = self._turn
        self._turn += 1
        if current is None:
            return Choice(self._first if self._first in open_tasks else open_tasks[0])
        if served in self._after:
            current = open_tasks[(open_tasks.index(current) + 1) % len(open_tasks)]
        return Choice(current)


class Dies(Follow):
    """The script that was drawn: a callable dies after some requests, if it makes as many."""

    def __init__(self, served: int, *, is_served: bool) -> None:
        mark = DIES_AFTER if is_served else DIES_BEFORE
        super().__init__([Choice(0)] * served + [Choice(0, mark)])


@dataclass(eq=False)
class KeptRun(Played):
    """A run that left its state where it was played.

    Attributes:
        results: The callables' results; ``ProcessDied`` for one that died.
    """

    results: list[Any]


def play_once(emu: Emulator, calls: Sequence[Call], script: Script) -> KeptRun:
    """Play one run on an emulator as it is, and keep what it leaves.

    Raises:
        BaseException: a callable raised it; the run is its note.
    """
    _check_calls("interleaved()", calls)
    stage = Stage(emu, calls, script, TIMEOUT_SECONDS)
    stage.play()
    session.last = run = KeptRun(*_told(stage), stage.results)
    return run.unless_it_raised(stage, (ProcessDied,))


def _check_calls(what: str, calls: Sequence[object]) -> None:
    for call in calls:
        if not callable(call):
            raise TypeError(NOT_CALLABLE.format(what=what, value=call))


def _check_number(name: str, value: object, least: int) -> None:
    if value is not None and (type(value) is not int or value < least):
        raise ValueError(BAD_NUMBER.format(name=name, least=least, value=value))
