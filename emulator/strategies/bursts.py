"""Workloads: requests over time, to be played against an emulator in virtual time."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from emulator.clock import ManualClock
from emulator.observe import Event, Ledger, Place, Throttled, calling_place
from emulator.service.errors import ApiError, EmulatorError
from emulator.service.throttling import is_throttle
from emulator.strategies import whole_requests
from emulator.strategies.schemas import table_schemas
from emulator.strategies.table_schema import Schema, TableSchema
from emulator.strategies.values import checked_when_drawn
from emulator.strategies.whole_requests import Request

if TYPE_CHECKING:
    from emulator.api import Emulator

#: The operations that workloads are made of, unless others are named.
SINGLE_ITEMS: Final = ("PutItem", "GetItem", "UpdateItem", "DeleteItem")
#: What items hold besides their keys: traffic depends on how much that is, and on nothing else.
_CONTENTS: Final[Mapping[str, str]] = {"data": "B", "total": "N"}
_POOLS: Final[Mapping[str, Sequence[Any]]] = {
    "S": ("a", "b", "c", "d"),
    "N": tuple(map(Decimal, range(4))),
    "B": (b"a", b"b", b"c", b"d"),
}

NOT_MANUAL: Final = "a workload is played in virtual time: give the emulator a ManualClock"


@dataclass(frozen=True)
class Burst:
    """A number of requests, taken in turn and spread evenly over some seconds.

    >>> from emulator.strategies import Request
    >>> burst = Burst(at=0, seconds=2, count=4, requests=(Request("ListTables", {}),))
    >>> [moment for moment, request in burst.timed()]
    [0.0, 0.5, 1.0, 1.5]
    """

    at: int
    seconds: int
    count: int
    requests: tuple[Request, ...]

    def timed(self) -> Iterator[tuple[float, Request]]:
        """Yield each request with its time."""
        for number in range(self.count):
            moment = self.at + self.seconds * number / self.count
            yield moment, self.requests[number % len(self.requests)]


@dataclass(frozen=True)
class Workload:
    """Bursts of requests; times are in seconds from the start of the workload.

    >>> from emulator import Emulator, ManualClock
    >>> from emulator.strategies import Request
    >>> burst = Burst(at=0, seconds=2, count=4, requests=(Request("ListTables", {}),))
    >>> Workload((burst,)).play(Emulator(clock=ManualClock())).calls
    4
    """

    bursts: tuple[Burst, ...]

    def timed(self) -> list[tuple[float, Request]]:
        """Return every request with its time, in the order of time."""
        timed = (pair for burst in self.bursts for pair in burst.timed())
        return sorted(timed, key=itemgetter(0))

    def play(self, emulator: Emulator, *, until_throttled: bool = False) -> Ledger:
        """Send every request at its time, and return the ledger.

        A request that is throttled is not repeated.

        Args:
            emulator: The emulator to play on; it has a manual clock.
            until_throttled: End with the first request that is, or in "observe" would be, refused
                for throughput.

        Raises:
            EmulatorError: the emulator has no manual clock.
            ApiError: a request is refused for anything but throughput.
        """
        clock = emulator.clock
        if not isinstance(clock, ManualClock):
            raise EmulatorError(NOT_MANUAL)
        heard: list[Event] = []
        throttles: list[Event] = []
        stop_hearing = emulator.events.subscribe(heard.append)
        stop_watching = emulator.events.subscribe(throttles.append, (Throttled,))
        start = clock.now()
        tracer = _without_hypothesis()
        try:
            for moment, (operation, parameters) in self.timed():
                ahead = start + moment - clock.now()
                if ahead > 0:
                    clock.advance(ahead)
                try:
                    emulator.call(operation, parameters)
                except ApiError as error:
                    if not is_throttle(error):
                        raise
                if until_throttled and throttles:
                    break
        finally:
            sys.settrace(tracer)
            stop_hearing()
            stop_watching()
        return _LateLedger(heard, calling_place())


def _without_hypothesis() -> Any:
    """Stop the trace by which Hypothesis explains failures; return the present tracer.

    It looks for lines that only failing examples reach. The emulator's say nothing of that, and to
    be traced makes a play ten times as dear.
    """
    tracer = sys.gettrace()
    if getattr(tracer, "__module__", "").startswith("hypothesis."):
        sys.settrace(None)
    return tracer


class _LateLedger(Ledger):
    """A ledger that is written when it is first read: most searches ask for nothing of it."""

    def __init__(self, heard: list[Event], place: Place) -> None:
        self._heard = heard
        self._place = place

    def __getattr__(self, name: str) -> Any:
        heard, self._heard = self._heard, []
        super().__init__(lambda: (self._place, None))
        tracer = _without_hypothesis()
        for event in heard:
            self.hear(event)
        sys.settrace(tracer)
        return getattr(self, name)


@checked_when_drawn
def workloads(
    schema: Schema,
    *,
    requests: SearchStrategy[Request] | None = None,
    operations: Sequence[str] = SINGLE_ITEMS,
    max_bursts: int = 3,
    max_count: int = 50,
    max_seconds: int = 60,
) -> SearchStrategy[Workload]:
    """Draw traffic over time, for experiments with capacity.

    Args:
        schema: A TableSchema, a CreateTable request or a table's description.
        requests: Requests to send; by default valid requests on few keys, so that some become hot.
        operations: The operations of these; by default those on single items.
        max_bursts: The most bursts; they may overlap.
        max_count: The most requests of one burst; counts are 1, 2, 5, 10, 20 and so on, and sums of
            them where two bursts are alike.
        max_seconds: The latest beginning of a burst, and its longest duration.

    >>> from emulator.strategies import create_request
    >>> orders = create_request("orders", "customer", "created:N")
    >>> from hypothesis import given, settings
    >>> @settings(max_examples=1)
    ... @given(workloads(orders, max_bursts=2))
    ... def law(workload):
    ...     assert len(workload.bursts) <= 2
    >>> law()
    """
    sent = requests
    if sent is None:
        sent = whole_requests.requests(
            schema, operations=operations, attributes={**_CONTENTS, **_few_keys(schema)}
        )
    bursts = st.builds(
        Burst,
        at=st.sampled_from([0, *_round_numbers(max_seconds, (1,))]),
        # Few lengths, so that a burst is often one.
        seconds=st.sampled_from([0, *_round_numbers(max_seconds, (1,))]),
        count=st.sampled_from(_round_numbers(max_count)),
        requests=st.lists(sent, min_size=1, max_size=3).map(tuple),
    )
    return st.lists(bursts, min_size=1, max_size=max_bursts).map(_joined)


def _joined(drawn: Sequence[Burst]) -> Workload:
    """Return a workload of bursts, of which those that differ only in their counts are one.

    Two bursts of 1 and 1,000 requests shrink no further where 1,001 are needed; joined, they are
    the one burst that is looked for.
    """
    joined: list[Burst] = []
    for burst in drawn:
        same = [at for at, one in enumerate(joined) if replace(one, count=burst.count) == burst]
        if same:
            joined[same[0]] = replace(burst, count=burst.count + joined[same[0]].count)
        else:
            joined.append(burst)
    return Workload(tuple(joined))


def _few_keys(schema: Schema) -> dict[str, SearchStrategy[Any]]:
    """Return strategies that draw the values of key attributes from a small pool."""
    types = TableSchema.of(schema).key_types
    return {name: st.sampled_from(_POOLS[letter]) for name, letter in types.items()}


def _round_numbers(most: int, digits: tuple[int, ...] = (1, 2, 5)) -> list[int]:
    """Return 1, 2, 5, 10 and so on up to a number, which comes last.

    >>> _round_numbers(60)
    [1, 2, 5, 10, 20, 50, 60]
    """
    scale = (digit * 10**power for power in range(len(str(most))) for digit in digits)
    return sorted({number for number in scale if number <= most} | {most})


st.register_type_strategy(Workload, table_schemas().flatmap(workloads))
