"""The tests that use a server: which of them a request is of, what each consumed, what fails it.

A test says its name in the field ``X-Dynamometer-Test``, by two calls of ``/_emulator/tests``, or
as the app id of its SDK. Calls that name none are counted for their namespace, so that workers of a
suite with an access key each are counted apart (docs/how-to/server.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from emulator.http.control import Parameters, Route, Routes
from emulator.http.http_protocol import HttpRequest, HttpResponse
from emulator.observe import Event, Ledger, Namespace, expiries_of, findings_of
from emulator.service.errors import EmulatorError
from emulator.sessions.session_report import Record, record_of
from emulator.sessions.session_rules import SessionRules

if TYPE_CHECKING:
    from emulator.api import Emulator

FIELD: Final = "x-dynamometer-test"
#: Assumed: a suite has fewer tests; the calls of more are counted for their namespace.
MOST_TESTS: Final = 10_000

NOT_BEGUN: Final = "there is no test {test!r} that has begun; begin it by {{'begin': {test!r}}}"
NOT_A_NAME: Final = "a test's name is text of 1 to {most} characters, not {value!r}"
TOO_MANY: Final = "this server keeps the records of {most} tests and takes no more"
NO_STEP: Final = "this route needs 'begin' or 'end' with the name of a test"
_LONGEST_NAME: Final = 500
#: How SDKs say the app id of their configuration in the field User-Agent.
_APP_ID = re.compile(r"(?:^|\s)app/([!#$%&'*+.^_`|~0-9A-Za-z-]+)")


def _nowhere() -> tuple[None, None]:
    """Return where calls over HTTP come from: no line of theirs is known."""
    return None, None


@dataclass(slots=True)
class _Test:
    """The requests of a test so far, and their namespaces."""

    ledger: Ledger = field(default_factory=lambda: Ledger(_nowhere))
    namespaces: set[Namespace] = field(default_factory=set)


class ServedSession:
    """Keeps the records of the tests that use a server.

    Args:
        emulator: The emulator that answers them.
        rules: The rules that fail a test.
        is_on: Whether to listen from the start; else from the first test that begins.

    >>> from emulator import Emulator
    >>> session = ServedSession(Emulator())
    >>> session.begin("TestOrders")
    >>> session.end("TestOrders")["failures"]
    []
    """

    def __init__(
        self, emulator: Emulator, rules: SessionRules | None = None, *, is_on: bool = False
    ) -> None:
        self._emulator = emulator
        self._rules = SessionRules() if rules is None else rules
        self._tests: dict[str, _Test] = {}
        self._ended: dict[str, Record] = {}
        #: The test that runs, by the access key of its calls; None is any key.
        self._running: dict[str | None, str] = {}
        self._served: Ledger | None = None  # hears of the request that is being answered
        self.is_on = False
        if is_on:
            self._listen()

    def _listen(self) -> None:
        if not self.is_on:
            self.is_on = True
            self._emulator.events.subscribe(self._hear)

    def _hear(self, event: Event) -> None:
        if self._served is not None:
            self._served.hear(event)

    def answer(
        self,
        request: HttpRequest,
        namespace: Namespace,
        answer: Callable[[HttpRequest], HttpResponse],
    ) -> HttpResponse:
        """Have a request answered, and count what it takes for the test that it is of."""
        test = self._test(self._name_of(request, namespace), namespace)
        test.namespaces.add(namespace)
        self._served = test.ledger
        try:
            return answer(request)
        finally:
            self._served = None

    def _name_of(self, request: HttpRequest, namespace: Namespace) -> str:
        fields = request.fields
        running = self._running.get(namespace.access_key) or self._running.get(None)
        named = fields.get(FIELD) or running
        if named:
            return named[:_LONGEST_NAME]
        app_id = _APP_ID.search(fields.get("user-agent", ""))
        return str(namespace) if app_id is None else app_id[1]

    def _test(self, name: str, namespace: Namespace) -> _Test:
        if self._is_one_too_many(name):
            name = str(namespace)
        return self._tests.setdefault(name, _Test())

    def _is_one_too_many(self, name: str) -> bool:
        is_known = name in self._tests or name in self._ended
        return not is_known and len(self._tests) + len(self._ended) >= MOST_TESTS

    def begin(self, name: Any, access_key: str | None = None) -> None:
        """Count calls for a test from now on, all of them or those with an access key.

        Raises:
            EmulatorError: that is no name, or there are too many tests.
        """
        if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME:
            raise EmulatorError(NOT_A_NAME.format(most=_LONGEST_NAME, value=name))
        if self._is_one_too_many(name):
            raise EmulatorError(TOO_MANY.format(most=MOST_TESTS))
        self._listen()
        self._tests[name] = _Test()
        self._running[access_key] = name

    def end(self, name: str) -> Record:
        """Return the record of a test that ends.

        Raises:
            EmulatorError: it has not begun.
        """
        keys = [key for key, running in self._running.items() if running == name]
        if not keys:
            raise EmulatorError(NOT_BEGUN.format(test=name))
        for key in keys:
            del self._running[key]
        record = self._ended[name] = self._record(name, self._tests.pop(name))
        return record

    def records(self) -> list[Record]:
        """Return the records of all tests that made a call, by name."""
        open_tests = {name: self._record(name, test) for name, test in self._tests.items()}
        by_name = self._ended | {name: one for name, one in open_tests.items() if one["calls"]}
        return [by_name[name] for name in sorted(by_name) if by_name[name]["calls"]]

    def unused_budgets(self) -> list[str]:
        """Return the budgets of tests that made no call."""
        return self._rules.unused(record["test"] for record in self.records())

    def _record(self, name: str, test: _Test) -> Record:
        namespaces = sorted(test.namespaces, key=str)
        emulators = [self._emulator.within(namespace) for namespace in namespaces]
        threshold = self._rules.policy.threshold
        expiries: dict[str, str] = {}
        for emulator in emulators:
            expiries |= expiries_of(emulator.snapshot())
        findings = findings_of(test.ledger, threshold=threshold, expiries=expiries)
        record = record_of(name, test.ledger, emulators or [self._emulator], findings)
        record["namespaces"] = [str(namespace) for namespace in namespaces]
        record["failures"] = self._rules.failures(name, test.ledger, findings)
        return record

    # Routes

    @property
    def routes(self) -> Routes:
        """The routes of tests, by name and method."""
        return {
            "tests": {
                "GET": Route(self._show, "The tests so far", (), (), ("running", "tests")),
                "POST": Route(
                    self._step,
                    "Begin a test, or end one and get its record",
                    takes=("begin", "access_key", "end"),
                ),
            }
        }

    def _show(self, _parameters: Parameters) -> Any:
        return {"running": list(self._running.values()), "tests": self.records()}

    def _step(self, parameters: Parameters) -> Any:
        if "begin" in parameters:
            self.begin(parameters["begin"], parameters.get("access_key"))
            return {"running": list(self._running.values())}
        if "end" not in parameters:
            raise EmulatorError(NO_STEP)
        return self.end(parameters["end"])
