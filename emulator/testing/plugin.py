"""The pytest plugin: an emulated DynamoDB per test, budgets, faults, and a report.

Loaded into every session of a project that has the package installed, so it costs nothing until
it is used: neither the engine nor boto3 is imported before a fixture asks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from emulator.testing import configuration

if TYPE_CHECKING:
    from emulator.api import Emulator
    from emulator.clients import Table
    from emulator.clock import ManualClock
    from emulator.observe import Ledger
    from emulator.testing.seeded_databases import Template, Templates
    from emulator.testing.session_report import Record

NOT_MANUAL: Final = (
    "ddb_clock needs a manual clock, and this test's emulator was made before it was asked for: "
    'name ddb_clock among the arguments, or mark the test with ddb(clock="manual")'
)
NEEDS_BOTO3: Final = "ddb_resource needs boto3: pip install 'dynamometer[boto]'"
REPORT_SUFFIX: Final = "--ddb-report: {path} does not end in .json or .html"

_LEDGER: Final = pytest.StashKey["Ledger"]()
_STATE: Final = pytest.StashKey["_State"]()


class _State:
    """What the plugin keeps of a session.

    Attributes:
        options: What the command line and the ini file say.
        emulators: Those that fixtures hold at the moment.
        body: The body of the test that is running, or None.
    """

    def __init__(self, options: configuration.Options) -> None:
        self.options = options
        self.emulators: list[Emulator] = []
        self.body: _Body | None = None
        self._templates: Templates | None = None

    @property
    def templates(self) -> Templates:
        """The templates built so far."""
        if self._templates is None:
            from emulator.testing.seeded_databases import Templates

            self._templates = Templates()
        return self._templates


# Configuration and collection


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    configuration.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers, read the settings, and set up who reports."""
    for line in configuration.MARKERS.values():
        config.addinivalue_line("markers", line)
    config.stash[_STATE] = _State(configuration.configured(config))
    configuration.scope(config)
    path = config.getoption("--ddb-report")
    if path is not None and Path(path).suffix.lower() not in (".json", ".html"):
        raise pytest.UsageError(REPORT_SUFFIX.format(path=path))
    if not hasattr(config, "workerinput"):
        target = None if path is None else config.invocation_params.dir / path
        config.pluginmanager.register(_Recorder(target), "ddb-recorder")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    """Judge the markers of what was collected, and give the marked tests their fixture."""
    report: pytest.CollectReport = yield  # type: ignore[assignment]  # a wrapper is sent the result
    faults: list[str] = []
    for item in report.result or ():
        if isinstance(item, pytest.Item):
            faults += _faults(item)
    if faults:
        report.outcome, report.longrepr, report.result = "failed", "\n".join(faults), []
    return report  # type: ignore[return-value]  # as above


def _faults(item: pytest.Item) -> Iterator[str]:
    if not any(mark.name in configuration.MARKERS for mark in item.iter_markers()):
        return
    path, line, _ = item.location
    for fault in configuration.faults_of(item):
        yield f"{path}:{(line or 0) + 1}: {fault}"
    names: list[str] = getattr(item, "fixturenames", [])
    if "ddb" not in names:
        names.append("ddb")


# The body of a test


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Listen to the emulators while a test's body runs, and hold it to its budget."""
    state = item.config.stash[_STATE]
    with ExitStack() as stack:
        state.body = _Body(item, stack)
        stack.callback(setattr, state, "body", None)
        for emulator in state.emulators:
            state.body.meet(emulator, state.options)
        state.body.meet_mocks(state.options)
        result = yield
    if _LEDGER in item.stash:
        budget = configuration.budget_of(item)
        verdict = None if budget is None else budget.verdict(item.stash[_LEDGER])
        if verdict is not None:
            pytest.fail(verdict, pytrace=False)
    return result


class _Body:
    """The body of a test that is running."""

    def __init__(self, item: pytest.Item, stack: ExitStack) -> None:
        self._item = item
        self._stack = stack
        self._met: list[object] = []

    def meet_mocks(self, options: configuration.Options) -> None:
        """Hold a mock that the body enters to the same: it serves in the fixture's place."""
        if not any(any(self._item.iter_markers(name)) for name in ("ddb_budget", "ddb_faults")):
            return
        from emulator.api import Emulator
        from emulator.sdk.scopes import listen

        def hear(served: object) -> None:
            if isinstance(served, Emulator):
                self.meet(served, options)

        self._stack.callback(listen(hear))

    def meet(self, emulator: Emulator, options: configuration.Options) -> None:
        """Listen to an emulator, and inject the test's faults into it, until the body ends."""
        if emulator.events in self._met:
            return
        self._met.append(emulator.events)
        self._stack.callback(emulator.events.subscribe(_ledger(self._item).hear))
        rules = configuration.fault_rules_of(self._item)
        if rules:
            seed = configuration.options_of(self._item, options).fault_seed
            for rule in rules:
                added = emulator.faults.add(**{"seed": seed, **rule})
                self._stack.callback(emulator.faults.rules.remove, added)


def _ledger(item: pytest.Item) -> Ledger:
    ledger = item.stash.get(_LEDGER, None)
    if ledger is None:
        from emulator.observe import Ledger

        ledger = item.stash[_LEDGER] = Ledger()
    return ledger


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Let the report of a test's body carry what it did, and perhaps why it failed."""
    report: Any = yield
    emulators = item.config.stash[_STATE].emulators
    ledger = item.stash.get(_LEDGER, None) if call.when == "call" else None
    if report.failed and emulators:
        from emulator.testing.session_report import region_hints

        report.sections += [("dynamometer", hint) for hint in region_hints(emulators)]
    if ledger is not None and ledger.calls:
        from emulator.testing.session_report import record_of

        report.ddb_record = record_of(item.nodeid, ledger, emulators)
    return report  # type: ignore[no-any-return]  # a wrapper passes the result on


class _Recorder:
    """Gathers the records of all tests, those of other processes too, and reports them."""

    def __init__(self, target: Path | None) -> None:
        self._target = target
        self._by_test: dict[str, Record] = {}

    @property
    def _records(self) -> list[Record]:
        """In an order that is the same however the tests were spread and shuffled."""
        return [self._by_test[test] for test in sorted(self._by_test)]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a test's record; of a test that ran again, the last."""
        record: Record | None = getattr(report, "ddb_record", None)
        if record is not None:
            self._by_test[report.nodeid] = record

    def pytest_sessionfinish(self) -> None:
        """Write the report, if one is wanted."""
        if self._target is not None:
            from emulator.testing.session_report import write

            write(self._target, self._records)

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, config: pytest.Config
    ) -> None:
        """Show what is worth knowing."""
        lines: list[str] = []
        if self._by_test and config.getini("ddb_summary"):
            from emulator.testing.session_report import summary

            lines += summary(self._records, with_costs=config.get_verbosity() >= 0)
        if self._target is not None:
            lines.append(f"report: {self._target}")
        if lines:
            terminalreporter.write_sep("=", "dynamometer")
            for line in lines:
                terminalreporter.write_line(line)


# Fixtures


def _scope(fixture_name: str, config: pytest.Config) -> Any:  # noqa: ARG001  # pytest's signature
    return configuration.scope(config)


@pytest.fixture(scope="session")
def ddb_build(pytestconfig: pytest.Config) -> Callable[..., Template]:
    """Build a template: ``ddb_build(tables="main.tf", seed="items.jsonl")``, or in a with block.

    For the override of ``ddb_template``.
    """
    options = pytestconfig.stash[_STATE].options

    def build(*, tables: Any = None, seed: Any = None) -> Template:
        from emulator.testing.seeded_databases import Template

        return Template(
            tables=tables,
            seed=seed,
            start=options.start,
            region=options.region,
            settings=options.settings,
        )

    return build


@pytest.fixture(scope="session")
def ddb_template() -> Template | None:
    """Return the database that every test starts from; override it, in any scope."""
    return None


@pytest.fixture(scope=_scope)
def ddb(request: pytest.FixtureRequest, ddb_template: object) -> Iterator[Emulator]:
    """An emulated DynamoDB of the test's own; boto3 is routed to it, real credentials hidden."""
    from emulator.testing.seeded_databases import routed

    state = request.config.stash[_STATE]
    emulator = _emulator(request, state, ddb_template)
    if state.body is not None:  # the fixture is asked for in a test's body
        state.body.meet(emulator, state.options)
    state.emulators.append(emulator)
    try:
        with routed(emulator, fast=request.config.getini("ddb_fast")):
            yield emulator
    finally:
        state.emulators.remove(emulator)


def _emulator(request: pytest.FixtureRequest, state: _State, base: object) -> Emulator:
    """Return an emulator as the test's markers ask for it, filled from its template."""
    from emulator.api import Emulator
    from emulator.sdk.region import default_region
    from emulator.testing.seeded_databases import make_clock

    options = configuration.options_of(request.node, state.options)
    templates = state.templates
    given = templates.given(base)
    region = options.region or (default_region() if given is None else given.region)
    shape = {"start": options.start, "region": region, "settings": options.settings}
    template = templates.get(given, options.tables, options.seed, **shape)
    kind = options.clock
    if kind == "system" and "ddb_clock" in request.fixturenames:
        kind = "manual"
    emulator = Emulator(
        clock=make_clock(kind, template, start=options.start),
        capacity=options.capacity,
        region=region,
        settings=options.settings,
    )
    if template is not None:
        emulator.restore(template.snapshot)
    return emulator


@pytest.fixture(scope=_scope)
def ddb_client(ddb: Emulator) -> Any:
    """A boto3 client of the test's DynamoDB; without boto3, one of its shape."""
    if find_spec("boto3") is None:
        return ddb.client()
    import boto3

    return boto3.client("dynamodb", region_name=ddb.region)


@pytest.fixture(scope=_scope)
def ddb_resource(ddb: Emulator) -> Any:
    """A boto3 resource of the test's DynamoDB."""
    if find_spec("boto3") is None:
        pytest.fail(NEEDS_BOTO3, pytrace=False)
    import boto3

    return boto3.resource("dynamodb", region_name=ddb.region)


@pytest.fixture(scope=_scope)
def ddb_table(ddb: Emulator) -> Callable[..., Table]:
    """Create a table: ``ddb_table("orders", "customer", "created:N", items=[...])``.

    That is set-up: it draws on no throughput, no budget counts it and no fault strikes it.
    """

    def create(
        name: str = "table",
        partition: str = "pk",
        sort: str | None = None,
        *,
        items: Any = (),
        **options: Any,
    ) -> Table:
        from emulator.observe import uncounted
        from emulator.testing.table_notation import create_request

        request = create_request(name, partition, sort, **options)
        table = ddb.table(name)
        with uncounted(ddb.account()):
            ddb.call("CreateTable", request)
            for item in items:
                table.put_item(Item=item)
        return table

    return create


@pytest.fixture(scope=_scope)
def ddb_clock(ddb: Emulator) -> ManualClock:
    """The test's clock, which stands still until ``ddb_clock.advance(seconds)``."""
    from emulator.clock import ManualClock

    if not isinstance(ddb.clock, ManualClock):
        pytest.fail(NOT_MANUAL, pytrace=False)
    return ddb.clock


@pytest.fixture(scope=_scope)
def ddb_endpoint(ddb: Emulator) -> Iterator[str]:
    """The URL of an HTTP server for the test's DynamoDB, on a free port of this machine."""
    from emulator.http.server import ServerThread

    with ServerThread(ddb) as server:
        yield server.endpoint_url


@pytest.fixture
def ddb_report(request: pytest.FixtureRequest, ddb: Emulator) -> Ledger:  # noqa: ARG001  # what it reports of
    """What the test's body has asked of its DynamoDB so far."""
    return _ledger(request.node)
