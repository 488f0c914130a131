"""The news of an open console: requests with their receipts, throttles and splits.

A console asks again and again (docs/decisions/0039-the-console.md); while one does, the feed
listens to the emulator, and when none has asked for a while it leaves and forgets everything. It
hears inside of the emulator's locks, so hearing puts aside and no more: what a page is shown is
made when it asks. All that is kept is bounded in number and in bytes.
"""

from __future__ import annotations

import itertools
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import get_ident
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from emulator.clock import NANOSECONDS
from emulator.http.http_protocol import HttpRequest, HttpResponse
from emulator.http.namespaces import CallerNamespaces
from emulator.http.request_log import members_of, tables_named
from emulator.locks import Rank, new_lock
from emulator.observe import (
    Event,
    IndexClosed,
    RequestServed,
    Scaled,
    Split,
    SplitRefused,
    Throttled,
    resource_names,
    tables_of,
)
from emulator.service.catalogue import ON_ITEMS
from emulator.service.limits import KIB, MIB
from emulator.service.throttling import THROTTLE_CODES, ThrottlingLimit

if TYPE_CHECKING:
    from emulator.api import Emulator

#: Assumed: how many lines are kept from one answer to the next; if there were more, the page says
#: how many were left out. Every line kept makes the next request slower, so this limits the cost.
LINES_PER_ANSWER: Final = 60
#: Lines that are kept for other pages, which ask later. A page keeps more of its own.
LOG_LINES: Final = 2 * LINES_PER_ANSWER
#: Assumed: how many throttles and splits are kept until a page asks for them.
EVENTS_KEPT: Final = 500
#: Assumed: how much traffic is kept for a workload: requests, and bytes of their bodies.
TRAFFIC_REQUESTS: Final = 30_000
TRAFFIC_BYTES: Final = 32 * MIB
#: A console that has not asked for this long is closed; a tab in the background does not ask.
LEASE_SECONDS: Final = 10.0
#: Assumed: more pages than anybody has open; beyond that, the least recently seen is dropped.
CONSOLES: Final = 64

_LONGEST_BODY_BYTES: Final = 16 * KIB  # of a refused request, for the tables it names
_LONGEST_TEXT: Final = 200
_READ_AXIS: Final = 0
_HAPPENINGS: Final = (Throttled, Split, SplitRefused, Scaled, IndexClosed)
_ERROR_CODE: Final = re.compile(rb'"__type" *: *"(?:[^"#]*#)?([^"]*)"')
_ATTEMPT: Final = re.compile(r"\battempt=([0-9]{1,3})\b")
#: Refusals that the workload of an application contains all the same.
_REFUSED_TRAFFIC: Final = THROTTLE_CODES | {"ConditionalCheckFailedException"}

Body: TypeAlias = bytes | Mapping[str, Any]


class Seen(NamedTuple):
    """One request as it was heard.

    Attributes:
        number: Its place among all requests that were heard.
        served: The engine's event of it; None if it was refused before it got there.
        throttled: Events of the throttles; in "observe", those that would have been.
        seconds: How long the server took; None for a call within the process.
        fields: Those of the HTTP request that concern the caller and the attempt.
        body: The body of a refused request.
        answer: The answer's body, of a refused request.
        is_own: Whether a console itself has asked.
    """

    number: int
    served: RequestServed | None
    throttled: tuple[Throttled, ...] = ()
    seconds: float | None = None
    fields: Mapping[str, str] = MappingProxyType({})
    body: bytes = b""
    answer: bytes = b""
    is_own: bool = False


def _nothing() -> None:
    """Do nothing: there is no subscription to end."""


class ConsoleFeed:
    """Listens while a console is open, and tells each of them what is new.

    Args:
        emulator: The emulator to listen to.
        callers: Tells whose a request is.
        time: Real time in seconds, from any start.
    """

    def __init__(
        self, emulator: Emulator, callers: CallerNamespaces, time: Callable[[], float]
    ) -> None:
        self._emulator = emulator
        self._callers = callers
        self._time = time
        self.is_open = False
        self._leave: Callable[[], None] = _nothing
        self._leave_requests: Callable[[], None] = _nothing
        self._now_ns: Callable[[], int] = lambda: self._emulator.clock.now_ns()
        self._leases: dict[str, float] = {}
        self._lock = new_lock(Rank.LEDGER)
        self._server_thread = 0
        self._served: RequestServed | None = None
        self._throttled: tuple[Throttled, ...] = ()
        self._numbers = itertools.count(1)
        self._event_numbers = itertools.count(1)
        self._hears_others = False  # whether other threads have made calls since a page asked
        self._last_number = 0
        self._room = LINES_PER_ANSWER  # how many more are entered until a page asks
        self._log: deque[Seen] = deque(maxlen=LOG_LINES)
        self._events: deque[tuple[int, Event]] = deque(maxlen=EVENTS_KEPT)
        self._traffic: deque[tuple[int, str, str | None, str, Body]] = deque()
        self._traffic_bytes = 0

    # Who is open

    @property
    def consoles(self) -> int:
        """How many pages are open."""
        return len(self._leases)

    def renew(self, console: str) -> None:
        """Note that a page has asked, and begin to listen with the first."""
        self._leases.pop(console, None)
        while len(self._leases) >= CONSOLES:
            del self._leases[next(iter(self._leases))]
        self._leases[console] = self._time() + LEASE_SECONDS
        if not self.is_open:
            self.is_open = True
            self._server_thread = get_ident()
            self._now_ns = self._emulator.clock.now_ns
            self._leave = self._emulator.events.subscribe(self.hear, _HAPPENINGS)
            self._make_room()

    def release(self, console: str) -> None:
        """Note that a page was closed."""
        self._leases.pop(console, None)
        self.sweep()

    def sweep(self) -> None:
        """Forget the pages that ask no more; without any, stop listening and forget all."""
        if not self.is_open:
            return
        now = self._time()
        self._leases = {name: until for name, until in self._leases.items() if until > now}
        if not self._leases:
            self.close()

    def close(self) -> None:
        """Stop listening, and forget what was heard."""
        self.is_open = False
        self._leave()
        self._leave_requests()
        self._leave = self._leave_requests = _nothing
        self._leases = {}
        self._served, self._throttled = None, ()
        self._room = LINES_PER_ANSWER
        self._log.clear()
        self._events.clear()
        with self._lock:
            self._traffic.clear()
            self._traffic_bytes = 0

    # Hearing

    def hear(self, event: Event) -> None:
        """Put a throttle, a split or the like aside."""
        if self._room and type(event) is Throttled and get_ident() == self._server_thread:
            self._throttled += (event,)
        self._events.append((next(self._event_numbers), event))

    def hear_request(self, event: Event) -> None:
        """Put a request aside; one of the server's own thread is entered by ``note``."""
        assert isinstance(event, RequestServed), "nothing else is listened to"
        if get_ident() == self._server_thread:
            self._served = event
            return
        self._hears_others = True
        self._enter(Seen(self._next_number(), event))
        call = (event.time_ns, event.operation, event.error, "", event.request)
        with self._lock:
            self._traffic.append(call)
            self._traffic_bytes += _size_of(event.request)
        if self._traffic_bytes > TRAFFIC_BYTES or len(self._traffic) > TRAFFIC_REQUESTS:
            self._drop_oldest()

    def note(self, request: HttpRequest, response: HttpResponse, seconds: float) -> None:
        """Count a request that the server has answered, keep its traffic, and enter it.

        It is on the way of every request while a console is open. Only as many are entered as an
        answer shows, and then the engine makes no more events of them until a page has asked.
        """
        fields, body = request.fields, request.body
        target = fields.get("x-amz-target")
        if target is None:
            return
        self._last_number = number = next(self._numbers)
        if self._room:
            self._note_thoroughly(number, request, response, seconds)
        refusal = None if response.status == 200 else _error_code(response.body)
        attempt = fields.get("amz-sdk-request", "")
        self._traffic.append((self._now_ns(), target, refusal, attempt, body))
        self._traffic_bytes += len(body)
        if self._traffic_bytes > TRAFFIC_BYTES or len(self._traffic) > TRAFFIC_REQUESTS:
            self._drop_oldest()

    def _note_thoroughly(
        self, number: int, request: HttpRequest, response: HttpResponse, seconds: float
    ) -> None:
        """Enter a request with all that is known of it; of a long body, no more than its start."""
        served, self._served = self._served, None
        throttled, self._throttled = self._throttled, ()
        if served is not None and len(request.body) > _LONGEST_BODY_BYTES:
            served = served._replace(request={})
        is_fine = response.status == 200
        body = b"" if is_fine else request.body[:_LONGEST_BODY_BYTES]
        answer = b"" if is_fine else response.body
        self._enter(Seen(number, served, throttled, seconds, request.fields, body, answer))

    def _enter(self, seen: Seen) -> None:
        """Keep a request for the log, if there is room; with the last, hear of no more."""
        if not self._room:
            return
        self._room -= 1
        self._log.append(seen)
        if not self._room and not self._hears_others:
            self._leave_requests()
            self._leave_requests = _nothing

    def _make_room(self) -> None:
        """Hear of requests again, as many as the next answer shows."""
        self._room = LINES_PER_ANSWER
        self._hears_others = False
        if self.is_open and self._leave_requests is _nothing:
            subscribe = self._emulator.events.subscribe
            self._leave_requests = subscribe(self.hear_request, (RequestServed,))

    def _next_number(self) -> int:
        self._last_number = number = next(self._numbers)
        return number

    def note_own(self, seconds: float) -> None:
        """Enter a call that the console itself has made; it is no traffic of the application."""
        served, self._served = self._served, None
        throttled, self._throttled = self._throttled, ()
        if served is not None:
            self._enter(Seen(self._next_number(), served, throttled, seconds, is_own=True))

    def _drop_oldest(self) -> None:
        """Forget the oldest traffic, a tenth at once: each time for one request would cost."""
        traffic = self._traffic
        most_requests, most_bytes = TRAFFIC_REQUESTS * 9 // 10, TRAFFIC_BYTES * 9 // 10
        with self._lock:
            while traffic and (len(traffic) > most_requests or self._traffic_bytes > most_bytes):
                self._traffic_bytes -= _size_of(traffic.popleft()[-1])

    # Telling

    @property
    def last_number(self) -> int:
        """The number of the last request that was heard, 0 if none was."""
        return self._last_number

    def requests_since(self, number: int) -> tuple[list[dict[str, Any]], int]:
        """Return the requests after a number, oldest first, and how many are left out.

        Of 0, whatever is kept is shown, and nothing is left out.
        """
        self._make_room()
        newest_first = reversed(self._log.copy())
        kept = list(itertools.takewhile(lambda seen: seen.number > number, newest_first))
        left_out = max(0, self._last_number - number - len(kept)) if number else 0
        return [self._line(seen) for seen in reversed(kept)], left_out

    def events_since(self, number: int) -> list[dict[str, Any]]:
        """Return throttles, splits and the like after a number, oldest first."""
        newest_first = reversed(self._events.copy())
        kept = list(itertools.takewhile(lambda entry: entry[0] > number, newest_first))
        return [_happening(*entry) for entry in reversed(kept)]

    def traffic(self, table: str) -> Iterator[tuple[float, str, Mapping[str, Any]]]:
        """Yield time in seconds, operation and request of what was first asked of a table.

        Retries of the SDK are left out, and so are requests that never were good ones.
        """
        for time_ns, target, error, attempt, body in self._traffic.copy():
            operation = target.rpartition(".")[2]
            is_wanted = error is None or error in _REFUSED_TRAFFIC
            if operation not in ON_ITEMS or not is_wanted or (_attempt(attempt) or 1) > 1:
                continue
            request = members_of(body) if isinstance(body, bytes) else body
            if table in tables_of(request):
                yield time_ns / NANOSECONDS, operation, request

    def traffic_kept(self) -> dict[str, float]:
        """Return how many requests are kept as traffic, and how many seconds they span."""
        with self._lock:
            kept = self._traffic
            span_ns = kept[-1][0] - kept[0][0] if kept else 0
            return {"requests": len(kept), "seconds": span_ns / NANOSECONDS}

    def _line(self, seen: Seen) -> dict[str, Any]:
        """Return a request as a page shows it."""
        served, fields = seen.served, seen.fields
        receipts = () if served is None else served.receipts
        target = fields.get("x-amz-target", "").rpartition(".")[2]
        time_ns = self._emulator.clock.now_ns() if served is None else served.time_ns
        reasons = dict.fromkeys((*_reasons_of(seen.throttled), *_reasons_of(_costs(receipts))))
        caller = fields.get("authorization", "")
        line: dict[str, Any] = {
            "number": seen.number,
            "time": time_ns / NANOSECONDS,
            "operation": _cut(target if served is None else served.operation),
            "tables": list(dict.fromkeys(table for table, _ in receipts)),
            "key": _key_of(receipts, seen.throttled),
            "read_units": _units(receipts, is_read=True),
            "write_units": _units(receipts, is_read=False),
            "evaluated": sum(receipt.items_evaluated for _, receipt in receipts),
            "returned": sum(receipt.items_returned for _, receipt in receipts),
            "reasons": [_reason(reason) for reason in reasons],
            "seconds": seen.seconds,
            "attempt": _attempt(fields.get("amz-sdk-request", "")),
            "is_own": seen.is_own,
            "namespace": str(self._callers.of(caller)) if caller else None,
        }
        if served is None or served.error is not None:
            line |= self._refusal(seen)
        return line

    def _refusal(self, seen: Seen) -> dict[str, Any]:
        """Return why a request was refused, and where else its table is."""
        answer = members_of(seen.answer) if seen.answer else {}
        code = str(answer.get("__type", "")).rpartition("#")[2]
        asked: Mapping[str, Any] = {}
        if seen.served is not None:
            code, asked = seen.served.error or code, seen.served.request
        tables = tables_named(seen.body) if seen.body else tables_of(asked)
        message = str(answer.get("message") or answer.get("Message") or "")
        refusal: dict[str, Any] = {"error": code, "message": _cut(message)}
        if tables:
            refusal["tables"] = list(map(_cut, tables))
        caller = seen.fields.get("authorization", "")
        if code == "ResourceNotFoundException" and caller:
            refusal["elsewhere"] = [
                {"table": table, "namespaces": holders}
                for table, holders in self._callers.elsewhere(tables, self._callers.of(caller))
            ]
        return refusal


def _size_of(body: Body) -> int:
    """Return the bytes of a body; what was asked within the process is taken to be small."""
    return len(body) if isinstance(body, bytes) else KIB


def _error_code(body: bytes) -> str:
    match = _ERROR_CODE.search(body)
    return "" if match is None else match[1].decode(errors="replace")


def _attempt(words: str) -> int | None:
    match = _ATTEMPT.search(words)
    return None if match is None else int(match[1])


def _units(receipts: Iterable[tuple[str, Any]], *, is_read: bool) -> float:
    return float(sum(each.total for _, each in receipts if (each.axis == _READ_AXIS) is is_read))


def _costs(receipts: Iterable[tuple[str, Any]]) -> Iterator[Any]:
    return (receipt for _, receipt in receipts)


def _reasons_of(refused: Iterable[Any]) -> Iterator[Any]:
    for each in refused:
        yield from each.reasons


def _key_of(
    receipts: Iterable[tuple[str, Any]], throttled: Iterable[Throttled]
) -> list[str] | None:
    """Return the key that a request is about: of several, the first; of a Scan, none."""
    charged = (charge.position for cost in _costs(receipts) for charge in cost.charges)
    return _first_key(charged) or _first_key(event.position for event in throttled)


def _first_key(positions: Iterable[tuple[Any, ...] | None]) -> list[str] | None:
    named = next((position for position in positions if position is not None), None)
    return None if named is None else shown_key(named[1:])


def _reason(reason: Any) -> dict[str, Any]:
    table, index = resource_names(reason.resource)
    words = ThrottlingLimit.of(reason.reason).words
    return {"reason": reason.reason, "words": words, "table": table, "index": index}


def _happening(number: int, event: Any) -> dict[str, Any]:
    """Return a throttle, a split or another event as a page shows it."""
    happening: dict[str, Any] = {
        "number": number,
        "kind": type(event).__name__,
        "time": event.time_ns / NANOSECONDS,
    }
    if type(event) is Throttled:
        key = None if event.position is None else shown_key(event.position[1:])
        reasons = [_reason(reason) for reason in event.reasons]
        return happening | {
            "operation": event.operation,
            "table": event.table,
            "key": key,
            "reasons": reasons,
            "units": event.units,
        }
    table, index = resource_names(event.resource)
    members = {name: value for name, value in event._asdict().items() if name != "time_ns"}
    return happening | members | {"table": table, "index": index}


def shown_key(values: Iterable[object]) -> list[str]:
    """Return key values as text; binary as its hexadecimal digits.

    >>> from decimal import Decimal
    >>> shown_key(("a", Decimal("1.50"), b"x"))
    ['a', '1.50', '0x78']
    """
    return [_cut(f"0x{value.hex()}" if isinstance(value, bytes) else value) for value in values]


def _cut(value: object) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"
