"""The console: a page for people, what it shows, and what it may change.

``GET /`` gives the page to a browser. It asks the routes here and those of ``control.py``; all of
them are private, so the rules about Host and Origin hold (docs/decisions/0023-browsers.md). A
console that is read-only may look at everything; whatever would change something is refused here,
not merely hidden in the page.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from emulator import __version__
from emulator.api import LongAnswer
from emulator.clock import ManualClock
from emulator.http import console_pages
from emulator.http.console_feed import CONSOLES, ConsoleFeed, shown_key
from emulator.http.console_report import LabReport
from emulator.http.control import Parameters, Route, Routes, named_parameter, plain
from emulator.http.doorkeeper import PRIVATE_ROUTES, Doorkeeper
from emulator.http.http_protocol import HttpRequest, HttpResponse
from emulator.http.json_protocol import PLAIN_JSON
from emulator.http.namespaces import CallerNamespaces
from emulator.http.origins import is_same_origin
from emulator.observe import Namespace, PartitionView, tables_of, uncounted
from emulator.protocol import Call, encode_json
from emulator.service import limits
from emulator.service.catalogue import OPERATIONS, Kind
from emulator.service.errors import ApiError, DocumentError, EmulatorError
from emulator.service.throttling import ThrottlingLimit

if TYPE_CHECKING:
    from emulator.api import Emulator

ConsoleMode = Literal["on", "read-only", "off"]
MODES: Final = get_args(ConsoleMode)
PREFIX: Final = f"{PRIVATE_ROUTES}console/"

READ_ONLY: Final = "this console is read-only; start the server with --console on to change things"
NOT_HERE: Final = "there is no table {table} in {namespace}"
NEEDS_LAB: Final = "a workload needs the module {module}: pip install 'dynamometer[lab]'"
#: Asking may take this part of the server's time, over all consoles.
ASKING_SHARE: Final = 0.02
#: How often a console asks if that takes hardly any time.
ASKING_SECONDS: Final = 1.0

#: Where a browser gets the page; the last two are those of DynamoDB Local's JavaScript shell.
_PAGE_PATHS: Final = frozenset(("/", "/shell", "/shell/"))
_HOTTEST: Final = 25
_LONGEST_ID: Final = 64
_FORBIDDEN: Final = 403
_SAFE_METHODS: Final = frozenset(("GET", "HEAD"))
#: Operations of the control plane that change nothing.
_LOOKS: Final = ("Describe", "List", "Get")
_HASHES: Final = 2**64
_FILE_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]+")


class Console:
    """Answers what concerns the console of one server.

    Args:
        emulator: The emulator to show.
        mode: Whether the page may change things.
        call: Answers operations.
        doorkeeper: Tells whether a name is one of this server's.
        callers: Tells whose a request is.
        time: Real time in seconds, from any start.
    """

    def __init__(
        self,
        emulator: Emulator,
        mode: ConsoleMode,
        *,
        call: Call,
        doorkeeper: Doorkeeper,
        callers: CallerNamespaces,
        time: Callable[[], float],
    ) -> None:
        self._emulator = emulator
        self._mode = mode
        self._call = call
        self._doorkeeper = doorkeeper
        self._callers = callers
        self.feed = ConsoleFeed(emulator, callers, time)
        self._report = LabReport()
        self._minutes: dict[tuple[str, str, str | None], _KeyMinutes] = {}

    @property
    def routes(self) -> Routes:
        """The console's own routes, by name and method."""
        if self._mode == "off":
            return {}
        return {
            "console/state": {"GET": Route(self._state)},
            "console/feed": {"GET": Route(self._ask), "DELETE": Route(self._close)},
            "console/call": {"POST": Route(self._make_call)},
            "console/workload": {"GET": Route(self._workload)},
            "console/report": {"GET": Route(self._report_state), "POST": Route(self._start_report)},
            "console/report/page": {"GET": Route(self._report_page)},
        }

    def page(self, request: HttpRequest) -> HttpResponse | None:
        """Return the page or one of its files, or None if something else is asked for."""
        if self._mode == "off" or request.method not in _SAFE_METHODS:
            return None
        path = request.target.partition("?")[0]
        if path.startswith(console_pages.FILES):
            return console_pages.page_file(path.removeprefix(console_pages.FILES))
        wants_page = path in _PAGE_PATHS and "text/html" in request.fields.get("accept", "")
        if wants_page and self._doorkeeper.trusts(request.fields.get("host")):
            return console_pages.page_file(console_pages.PAGE)
        return None

    def refusal(self, request: HttpRequest) -> HttpResponse | None:
        """Return why the page may not do something, or None if it may, or another asks."""
        if self._mode == "on" or request.method in _SAFE_METHODS:
            return None
        fields = request.fields
        target = request.target.partition("?")[0]
        is_own_page = is_same_origin(fields.get("origin", ""), fields.get("host"))
        judges_itself = target == f"{PREFIX}call" or target == f"{PREFIX}feed"
        if not target.startswith(PRIVATE_ROUTES) or not is_own_page or judges_itself:
            return None
        return HttpResponse(_FORBIDDEN, PLAIN_JSON, encode_json({"error": READ_ONLY}))

    def close(self) -> None:
        """Stop listening, and stop a report that is being made."""
        self.feed.close()
        self._report.close()

    # What there is

    def _state(self, _parameters: Parameters) -> Any:
        emulator = self._emulator
        clock = emulator.clock
        return {
            "version": __version__,
            "console": self._mode,
            "capacity": emulator.capacity,
            "region": emulator.region,
            "clock": "manual" if isinstance(clock, ManualClock) else "system",
            "now": clock.now(),
            "partition_units": limits.PARTITION_UNITS,
            "throttling": {limit.suffix: limit.words for limit in ThrottlingLimit},
            "faults": emulator.faults.rules,
            "namespaces": [
                {
                    "namespace": str(view.namespace),
                    "access_key": view.namespace.access_key,
                    "region": view.namespace.region,
                    "tables": self._descriptions(view.namespace, view.tables),
                }
                for view in emulator.namespaces()
            ],
        }

    def _descriptions(self, namespace: Namespace, tables: list[str]) -> list[Any]:
        """Return the descriptions of tables, and count none of the calls."""
        narrowed = self._emulator.within(namespace)
        with uncounted(narrowed.account()):
            asked = [narrowed.call("DescribeTable", {"TableName": name}) for name in tables]
        return [answer["Table"] for answer in asked]

    # What happens

    def _ask(self, parameters: Parameters) -> Any:
        """Answer a page that asks for news.

        The answer says when to ask again, so that asking takes a small part of the server's time
        however much news there is.
        """
        started = time.perf_counter()
        self.feed.renew(str(named_parameter(parameters, "console"))[:_LONGEST_ID])
        requests, left_out = self.feed.requests_since(int(parameters.get("since", 0)))
        answer: dict[str, Any] = {
            "now": self._emulator.clock.now(),
            "last": self.feed.last_number,
            "requests": requests,
            "left_out": left_out,
            "events": self.feed.events_since(int(parameters.get("since_event", 0))),
            "traffic": self.feed.traffic_kept(),
            "capacity": self._emulator.capacity,
            "tables": [[str(view.namespace), view.tables] for view in self._emulator.namespaces()],
        }
        if "table" in parameters:
            answer["watched"] = self._watched(parameters)
        if "spending" in parameters:
            answer["spending"] = self._spending()
        took = time.perf_counter() - started
        answer["again"] = max(ASKING_SECONDS, took * self.feed.consoles / ASKING_SHARE)
        return HttpResponse(200, PLAIN_JSON, encode_json(answer))

    def _close(self, parameters: Parameters) -> Any:
        self.feed.release(str(named_parameter(parameters, "console"))[:_LONGEST_ID])
        return {}

    def _spending(self) -> list[Any]:
        return [
            {"namespace": str(view.namespace), **plain(spending)}
            for view in self._emulator.namespaces()
            for spending in self._emulator.within(view.namespace).spending()
        ]

    def _watched(self, parameters: Parameters) -> Any:
        """Return partitions, hottest keys and backlog of a table or index, if it is there."""
        table, index = parameters["table"], parameters.get("index") or None
        name = str(named_parameter(parameters, "namespace"))
        try:
            emulator = self._holding(name, table)
            partitions = [_partition(view) for view in emulator.partitions(table, index)]
            watched = {
                "namespace": name,
                "table": table,
                "index": index,
                "partitions": partitions,
                "keys": self._hottest_keys(emulator, table, index, parameters.get("keys")),
            }
            if index is not None:
                watched["backlog"] = plain(emulator.backlog(table, index))
        except EmulatorError as error:
            return {"namespace": name, "table": table, "index": index, "error": str(error)}
        return watched

    def _hottest_keys(
        self, emulator: Emulator, table: str, index: str | None, span: str | None
    ) -> list[Any]:
        """Return the hottest partition keys: of the last two minutes, or ever ("all")."""
        if span == "all":
            report = emulator.insights(table, index)
            throttled = {each.key: each.value for each in report.throttled_partition_keys}
            rows = [
                (each.key, each.value, throttled.get(each.key, 0.0))
                for each in report.accessed_partition_keys
            ]
        else:
            resource = (str(emulator.namespace), table, index)
            minutes = self._minutes.pop(resource, None) or _KeyMinutes()
            self._minutes[resource] = minutes
            while len(self._minutes) > CONSOLES:
                del self._minutes[next(iter(self._minutes))]
            running = emulator.running_keys(table, index, most=_HOTTEST)
            minute = int(emulator.clock.now() // 60)
            rows = minutes.joined(minute, [tuple(key) for key in running])
        return [
            {"key": shown_key(key), "accessed": accessed, "throttled": throttled}
            for key, accessed, throttled in rows[:_HOTTEST]
        ]

    def _holding(self, name: str, table: str) -> Emulator:
        """Return the emulator, narrowed to the namespace of this name, if it has the table.

        Raises:
            EmulatorError: it has not; where else the table is, is said.
        """
        views = self._emulator.namespaces()
        for view in views:
            if str(view.namespace) == name and table in view.tables:
                return self._emulator.within(view.namespace)
        sentence = NOT_HERE.format(table=table, namespace=name)
        holders = [str(view.namespace) for view in views if table in view.tables]
        raise EmulatorError(f"{sentence}; it is in {', '.join(holders)}" if holders else sentence)

    # What the page does

    def _make_call(self, parameters: Parameters) -> Any:
        """Make a call for the page, in a namespace, and answer as the service does."""
        operation = str(named_parameter(parameters, "operation"))
        request = named_parameter(parameters, "request")
        if operation not in OPERATIONS or not isinstance(request, dict):
            raise EmulatorError("a call names an operation, such as Query, and its request")
        if self._mode != "on" and not _only_reads(operation):
            raise EmulatorError(READ_ONLY)
        namespace = _namespace(str(named_parameter(parameters, "namespace")))
        started = time.perf_counter()
        try:
            answer = self._call(
                operation, request, region=namespace.region, access_key=namespace.access_key
            )
            if isinstance(answer, LongAnswer):
                answer = answer.whole()
            result = {"status": 200, "answer": answer}
        except ApiError as error:
            holders = dict(self._callers.elsewhere(tables_of(request), namespace))
            result = {"status": error.status, "error": error.body(), "elsewhere": holders}
        if self.feed.is_open:
            self.feed.note_own(time.perf_counter() - started)
        return result

    def _workload(self, parameters: Parameters) -> Any:
        table = str(named_parameter(parameters, "table"))
        document = self._document(parameters)
        name = _FILE_NAME.sub("-", table)
        body = encode_json(document)
        return console_pages.download(f"{name}-traffic.yaml", PLAIN_JSON, body)

    def _start_report(self, parameters: Parameters) -> Any:
        self._report.start(self._document(parameters))
        return self._report_state(parameters)

    def _report_state(self, _parameters: Parameters) -> Any:
        state = self._report.state()
        return {"state": state, "complaint": self._report.complaint}

    def _report_page(self, _parameters: Parameters) -> Any:
        return console_pages.report_page(self._report.page())

    def _document(self, parameters: Parameters) -> dict[str, Any]:
        """Return the traffic on a table that is kept, and the table, as a lab file.

        Raises:
            EmulatorError: there is no such table or traffic, or the lab is not installed.
        """
        table = str(named_parameter(parameters, "table"))
        emulator = self._holding(str(named_parameter(parameters, "namespace")), table)
        try:
            from emulator.lab.live_traffic import lab_document  # only for those who ask
        except ModuleNotFoundError as missing:
            raise EmulatorError(NEEDS_LAB.format(module=missing.name)) from missing
        [description] = self._descriptions(emulator.namespace, [table])
        try:
            return lab_document(self.feed.traffic(table), description)
        except DocumentError as error:
            raise EmulatorError(str(error)) from error


class _KeyMinutes:
    """The hottest keys of the running minute and of the one before, as they were last asked for."""

    def __init__(self) -> None:
        self._minute = 0
        self._before: list[tuple[Any, ...]] = []
        self._running: list[tuple[Any, ...]] = []

    def joined(self, minute: int, running: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Return the keys of both minutes, heaviest first."""
        if minute != self._minute:
            self._before = self._running if minute == self._minute + 1 else []
            self._minute = minute
        self._running = running
        tallies: dict[Any, tuple[float, float]] = {}
        for key, accessed, throttled in (*self._before, *running):
            before = tallies.get(key, (0.0, 0.0))
            tallies[key] = before[0] + accessed, before[1] + throttled
        rows = [(key, *tally) for key, tally in tallies.items()]
        return sorted(rows, key=lambda row: (-row[1], -row[2]))


def _only_reads(operation: str) -> bool:
    kind = OPERATIONS[operation].kind
    if kind is Kind.CONTROL:
        return operation.startswith(_LOOKS)
    return kind in (Kind.READ, Kind.PAGE) or operation in ("BatchGetItem", "TransactGetItems")


def _namespace(name: str) -> Namespace:
    """Return the namespace of a name such as ``local/us-east-1``; ``*`` is what every key sees."""
    key, stroke, region = name.rpartition("/")
    if not stroke or not key or not region:
        raise EmulatorError(f"a namespace is written as KEY/REGION, not {name!r}")
    return Namespace(None if key == "*" else key, region)


def _partition(view: PartitionView) -> dict[str, Any]:
    """Return a partition as a page shows it: its range as shares of all hashes."""
    shown = {name: value for name, value in view._asdict().items() if name not in ("low", "high")}
    return {
        **shown,
        "low": view.low[0] / _HASHES,
        "high": view.high[0] / _HASHES,
        "low_key": shown_key(view.low[1:]),
        "high_key": shown_key(view.high[1:]),
    }
