"""Workloads: requests over time, to be played against an emulator in virtual time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from emulator.clock import ManualClock
from emulator.observe import Ledger
from emulator.service.errors import ApiError, EmulatorError
from emulator.service.throttling import is_throttle
from emulator.strategies import whole_requests
from emulator.strategies.schemas import table_schemas
from emulator.strategies.table_schema import Schema
from emulator.strategies.values import checked_when_drawn
from emulator.strategies.whole_requests import Request

if TYPE_CHECKING:
    from emulator.api import Emulator

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

    def play(self, emulator: Emulator) -> Ledger:
        """Send every request at its time, and return what they cost.

        A request that is throttled is not repeated.

        Raises:
            EmulatorError: the emulator has no manual clock.
            ApiError: a request is refused for anything but throughput.
        """
        clock = emulator.clock
        if not isinstance(clock, ManualClock):
            raise EmulatorError(NOT_MANUAL)
        ledger = Ledger()
        leave = emulator.events.subscribe(ledger.hear)
        start = clock.now()
        try:
            for moment, request in self.timed():
                clock.advance(max(0.0, start + moment - clock.now()))
                _send(emulator, request)
        finally:
            leave()
        return ledger


def _send(emulator: Emulator, request: Request) -> None:
    try:
        emulator.call(*request)
    except ApiError as error:
        if not is_throttle(error):
            raise


@checked_when_drawn
def workloads(
    schema: Schema,
    *,
    requests: SearchStrategy[Request] | None = None,
    max_bursts: int = 3,
    max_count: int = 50,
    max_seconds: int = 60,
) -> SearchStrategy[Workload]:
    """Draw traffic over time, for experiments with capacity.

    Args:
        schema: A TableSchema, a CreateTable request or a table's description.
        requests: What is sent; ``requests(schema)`` by default.
        max_bursts: The most bursts; they may overlap.
        max_count: The most requests of one burst.
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
    sent = whole_requests.requests(schema) if requests is None else requests
    bursts = st.builds(
        Burst,
        at=st.integers(0, max_seconds),
        seconds=st.integers(0, max_seconds),
        count=st.integers(1, max_count),
        requests=st.lists(sent, min_size=1, max_size=3).map(tuple),
    )
    return st.lists(bursts, min_size=1, max_size=max_bursts).map(
        lambda drawn: Workload(tuple(drawn))
    )


st.register_type_strategy(Workload, table_schemas().flatmap(workloads))
