"""The pytest plugin: an emulated DynamoDB per test, budgets, faults, and a report.

Loaded into every session of a project that has the distribution installed, so it must cost nothing
and harm nobody until it is used. It lies outside of our package and imports nothing of it before a
fixture or a marker of ours is met: a project may have a package ``emulator`` of its own, and that
one is then the only one that its tests see.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from emulator.api import Emulator
    from emulator.clients import Table
    from emulator.clock import ManualClock
    from emulator.observe import Ledger
    from emulator.sdk.scopes import Scope
    from emulator.sessions.finding_policy import FindingsPolicy
    from emulator.sessions.session_report import Record
    from emulator.testing.configuration import Options
    from emulator.testing.event_sources import EventSources
    from emulator.testing.recorded_budgets import RecordedBudgets
    from emulator.testing.seeded_databases import SeededDatabase, SeededDatabases

SHADOWED: Final = (
    "dynamometer's fixtures need its package 'emulator', but here that name is another package, "
    "from {origin}: rename that one, or keep it off the import path of these tests"
)
OVERWRITTEN: Final = (
    "dynamometer's fixtures need its package 'emulator', but another distribution was installed "
    "over it in {folder}: uninstall that one, and install dynamometer again"
)
NOT_MANUAL: Final = (
    "ddb_clock needs a manual clock, but this test's emulator was created first, with another: "
    'name ddb_clock among the arguments, or mark the test with ddb(clock="manual")'
)
CONSOLE: Final = "dynamometer: the console of this test is at {url}"
#: Where runs are played; asked only where a test has loaded it, or a run is to be played again.
EXPERIMENTS: Final = "emulator.testing.schedule"
#: Modules of the debuggers of editors, which no hook tells of.
_DEBUGGERS: Final = frozenset(("debugpy", "pydevd"))
NEEDS_BOTO3: Final = "ddb_resource needs boto3: pip install 'dynamometer[boto]'"
NO_RECORD: Final = (
    "ddb: there is no record of budgets {path}; create it: pytest --ddb-budget-update"
)
#: Where GitHub Actions takes Markdown from; our package is left alone where it is not set.
STEP_SUMMARY: Final = "GITHUB_STEP_SUMMARY"
REPORT_SUFFIX: Final = "--ddb-report: {path} does not end in .json or .html"
WRONG_SCOPE: Final = "ddb: ddb_scope is one of {scopes}, not {value!r}"
SCOPES: Final = ("function", "class", "module", "package", "session")
MARKERS: Final = {
    "ddb": "ddb(capacity, clock, start, rate, region, seed, tables, settings): the test has an "
    "emulated DynamoDB of this kind, and boto3 is routed to it",
    "ddb_budget": "ddb_budget(rcu, wcu, calls, usd, throttles, scans, filtered): the test fails if "
    "it consumes more than this; usd is the cost of a million runs",
    "ddb_allow": "ddb_allow(*kinds): findings of these kinds in the test are not reported and do "
    "not fail it",
    "ddb_faults": "ddb_faults(kind, operations, tables, key, share, times, regions, after, until, "
    "latency, seed): some of the test's requests to its emulated DynamoDB fail",
    "ddb_event_source": "ddb_event_source(table, handler, handlers, ...): a table's stream is "
    "delivered to a handler, or to those that stand for the functions of a design",
}
#: Fixtures for which a test's clock is a manual one, unless it says otherwise.
_ON_MANUAL_CLOCKS: Final = ("ddb_clock", "ddb_event_source")

_LEDGER: Final = pytest.StashKey["Ledger"]()
_RECORD: Final = pytest.StashKey["Record"]()
_STATE: Final = pytest.StashKey["_State"]()


class _State:
    """What the plugin keeps of a session.

    Attributes:
        emulators: Those that fixtures hold at the moment.
        body: The body of the test that is running, or None.
        mock: The scope of the mock that a fixture of the test has entered, or None.
        endpoints: The addresses of the servers that fixtures run at the moment.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self.emulators: list[Emulator] = []
        self.body: _Body | None = None
        self.mock: Scope | None = None
        self.endpoints: list[str] = []

    @cached_property
    def options(self) -> Options:
        """What the command line and the ini file say."""
        from emulator.testing.configuration import configured

        return configured(_configuration(self._config))

    @cached_property
    def policy(self) -> FindingsPolicy:
        """What the command line and the ini file say about findings."""
        from emulator.sessions.finding_policy import policy_of
        from emulator.testing.configuration import reading

        written = _written(self._config, FINDING_SETTINGS)
        path = written.pop("baseline", None)
        if _updates_baseline(self._config):
            written["fail_on"] = ""  # what is found is accepted
            written["findings"] = "warn"
        elif path is not None:
            written["baseline"] = self._config.rootpath / path
        return reading(policy_of, written)

    @cached_property
    def budgets(self) -> RecordedBudgets:
        """What tests consumed when it was put on record."""
        from emulator.testing.configuration import reading
        from emulator.testing.recorded_budgets import (
            DEFAULT,
            RecordedBudgets,
            tolerances_of,
        )

        written = _written(self._config, BUDGET_SETTINGS)
        path = self._config.rootpath / written.get("compare", BUDGET_FILE)
        if "compare" in written and not path.exists() and not _updates_budgets(self._config):
            raise pytest.UsageError(NO_RECORD.format(path=path))
        tolerances = reading(tolerances_of, written.get("compare_fail", DEFAULT))
        return reading(lambda path: RecordedBudgets(path, tolerances), path)

    def judge(self) -> None:
        """Read everything that is configured.

        Raises:
            pytest.UsageError: something of it is wrong.
        """
        _ = self.options, self.policy, self.budgets

    @cached_property
    def databases(self) -> SeededDatabases:
        """The databases built so far."""
        from emulator.testing.seeded_databases import SeededDatabases

        return SeededDatabases()


# Which package `emulator` is


def _shadow() -> str | None:
    """Return why our package cannot be imported, if another of its name is."""
    package = import_module("emulator")
    if getattr(package, "__distribution__", None) == "dynamometer":
        return None
    if package.__file__ is None:
        return SHADOWED.format(origin=", ".join(package.__path__))
    folder = Path(package.__file__).parent
    if (folder / "testing" / "seeded_databases.py").exists():
        return OVERWRITTEN.format(folder=folder)
    return SHADOWED.format(origin=package.__file__)


def _require_our_package() -> None:
    """Fail a test that needs our package where it cannot be imported."""
    sentence = _shadow()
    if sentence is not None:
        pytest.fail(sentence, pytrace=False)


# Configuration and collection


#: What the ini file or the command line may say about findings, and about recorded budgets.
FINDING_SETTINGS: Final = ("findings", "fail_on", "repeat_threshold", "ignore", "baseline")
BUDGET_SETTINGS: Final = ("compare", "compare_fail")
#: Where recorded budgets are if nobody says otherwise.
BUDGET_FILE: Final = "ddb-budgets.json"
#: Where accepted findings are written if nobody says otherwise.
BASELINE_FILE: Final = "ddb-baseline.json"


#: Where the SDKs are told whom to ask for the credentials of the machine.
METADATA_DISABLED: Final = "AWS_EC2_METADATA_DISABLED"
CONTAINER_CREDENTIALS: Final = (
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options and ini settings; all of them begin with ddb."""
    group = parser.getgroup("ddb", "dynamometer: an emulated DynamoDB")
    add, ini = group.addoption, parser.addini
    add("--ddb-capacity", metavar="MODE", help="observe (default), enforce or off")
    ini("ddb_capacity", "observe (default): record throttles; enforce: refuse; off: neither")
    add("--ddb-clock", metavar="CLOCK", help="system (default) or manual")
    ini("ddb_clock", "the clock, unless a marker sets it: system (default) or manual")
    add("--ddb-start", metavar="TIME", help="where manual clocks start: an ISO date and time")
    ini("ddb_start", "where manual clocks start: an ISO date and time")
    add("--ddb-rate", metavar="NUMBER", help="assume this many requests a second")
    ini("ddb_rate", "assume this many requests a second; without it no throttles are counted")
    add("--ddb-region", metavar="REGION", help="the region of clients that do not name one")
    ini("ddb_region", "the region of clients that do not name one; default: boto3's or us-east-1")
    ini("ddb_tables", "files that declare the tables every test starts with", type="paths")
    ini("ddb_seed", "files of JSON lines with the items of these tables", type="paths")
    ini("ddb_settings", "lines of name=value, see emulator.Settings", type="linelist")
    ini("ddb_scope", "the scope of the ddb fixtures; default: function")
    ini("ddb_fast", "skip the SDK's serialising, signing and retrying", type="bool", default=False)
    add("--ddb-fail-on", metavar="KINDS", help="fail on these findings, such as scan,throttle")
    ini("ddb_fail_on", "the findings that fail a test, such as scan, throttle")
    ini("ddb_findings", "calls that could be improved: off, warn (default, in the summary) or fail")
    ini("ddb_repeat_threshold", "how many calls at one line count as repeated; default: 5")
    ini(
        "ddb_ignore",
        "findings to ignore: lines of KIND TABLE [file=PATTERN] [function=PATTERN]",
        type="linelist",
    )
    flag = {"action": "store_true"}
    add("--ddb-baseline", metavar="FILE", help="a file of accepted findings")
    ini("ddb_baseline", "a file of accepted findings")
    add("--ddb-update-baseline", help="accept the findings of this session", **flag)
    add("--ddb-sarif", metavar="FILE", help="write findings as SARIF, for code scanning")
    add("--ddb-budget-update", help="record what each test consumes", **flag)
    add("--ddb-budget-update-new", help="the same, for tests not yet recorded", **flag)
    add("--ddb-compare", metavar="FILE", help="the recorded budgets; default: ddb-budgets.json")
    ini("ddb_compare", "the recorded budgets; default: ddb-budgets.json")
    add("--ddb-compare-fail", metavar="LIMITS", help="allowed growth, such as wcu:5%%,calls:2")
    ini("ddb_compare_fail", "how far a test may exceed its record; default: rcu:0%,wcu:0%")
    add("--ddb-report", metavar="PATH", help="write what tests consumed, as .json or .html")
    add("--ddb-schedule", metavar="ID", help="play only this run of every_interleaving")
    ini("ddb_guard", "refuse requests to the real DynamoDB", type="bool", default=False)
    ini("ddb_summary", "print the summary at the end", type="bool", default=True)


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers, judge what is configured, and set up who reports."""
    for line in MARKERS.values():
        config.addinivalue_line("markers", line)
    config.stash[_STATE] = _State(config)
    _scope("ddb", config)
    path = config.getoption("--ddb-report")
    if path is not None and Path(path).suffix.lower() not in (".json", ".html"):
        raise pytest.UsageError(REPORT_SUFFIX.format(path=path))
    if not hasattr(config, "workerinput"):
        target = None if path is None else config.invocation_params.dir / path
        config.pluginmanager.register(_Recorder(target), "ddb-recorder")


def _configuration(config: pytest.Config) -> dict[str, Any]:
    """Return what the command line and the ini file say of emulators, as it is written."""
    written = {
        name: config.getoption(f"--ddb-{name}") or config.getini(f"ddb_{name}")
        for name in ("capacity", "clock", "start", "rate", "region")
    }
    for name in ("tables", "seed", "settings"):
        written[name] = config.getini(f"ddb_{name}")
    return {name: value for name, value in written.items() if value}


def _written(config: pytest.Config, names: tuple[str, ...]) -> dict[str, Any]:
    """Return what the command line or the ini file say, as it is written."""
    written = {
        name: config.getoption(f"--ddb-{name.replace('_', '-')}", None)
        or config.getini(f"ddb_{name}")
        for name in names
    }
    return {name: value for name, value in written.items() if value}


def _scope(fixture_name: str, config: pytest.Config) -> Any:  # noqa: ARG001  # pytest's signature
    """Return the scope of the fixtures."""
    scope = config.getini("ddb_scope") or "function"
    if scope not in SCOPES:
        raise pytest.UsageError(WRONG_SCOPE.format(scopes=", ".join(SCOPES), value=scope))
    return scope


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Judge what is configured, so that a wrong setting ends the session before any test.

    Not earlier: only now is a package ``emulator`` of the project's own on the import path. Of
    pytest-xdist's processes the one that collects nothing judges for all.
    """
    config = session.config
    with _no_machine_credentials(config):
        result = yield
    written = _configuration(config) or _written(config, FINDING_SETTINGS + BUDGET_SETTINGS)
    has_record = (config.rootpath / BUDGET_FILE).exists()
    if not (written or has_record or config.getini("ddb_guard")) or _shadow() is not None:
        return result
    if not hasattr(config, "workerinput"):
        config.stash[_STATE].judge()
    if config.getini("ddb_guard"):
        from emulator.sdk import guard

        config.add_cleanup(guard())
    return result


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    """Keep clients that a conftest makes off the network."""
    with _no_machine_credentials(early_config):
        return (yield)


@contextmanager
def _no_machine_credentials(config: pytest.Config) -> Iterator[None]:
    """Keep SDKs from asking for the machine's credentials where the guard cannot stand yet.

    A client that is made while modules are imported would ask at once, by the network.
    """
    with pytest.MonkeyPatch.context() as environment:
        if config.getini("ddb_guard"):
            if METADATA_DISABLED not in os.environ:
                environment.setenv(METADATA_DISABLED, "true")
            for name in CONTAINER_CREDENTIALS:
                environment.delenv(name, raising=False)
        yield


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
    if not any(mark.name in MARKERS for mark in item.iter_markers()):
        return
    names: list[str] = getattr(item, "fixturenames", [])
    marked = any(item.iter_markers("ddb_event_source"))
    for name in ("ddb", "ddb_event_source") if marked else ("ddb",):
        if name not in names:
            names.append(name)
    if _shadow() is not None:  # the fixture reports it
        return
    from emulator.testing.configuration import faults_of

    path, line, _ = item.location
    for fault in faults_of(item):
        yield f"{path}:{(line or 0) + 1}: {fault}"


# The body of a test


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin anew with a test that runs again."""
    if _LEDGER in item.stash:
        del item.stash[_LEDGER]
    if _RECORD in item.stash:
        from emulator.sessions.session_report import properties

        for written in properties(item.stash[_RECORD]):
            item.user_properties.remove(written)
        del item.stash[_RECORD]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Listen to the emulators while a test's body runs, and hold it to its budget."""
    state = item.config.stash[_STATE]
    _begin_experiments(item.config.getoption("--ddb-schedule"))
    with ExitStack() as stack:
        state.body = _Body(item, stack)
        stack.callback(setattr, state, "body", None)
        for emulator in state.emulators:
            state.body.meet(emulator, state)
        state.body.meet_mocks(state)
        result = yield
    if _LEDGER in item.stash:
        verdicts = list(_verdicts(item, item.stash[_LEDGER], state))
        if verdicts:
            pytest.fail("\n\n".join(verdicts), pytrace=False)
    return result


def _begin_experiments(schedule: str | None) -> None:
    """Have the loops of a test play one schedule, if one is asked for."""
    if schedule is not None and _shadow() is None:
        import_module(EXPERIMENTS)
    experiments = sys.modules.get(EXPERIMENTS)
    if experiments is not None:
        experiments.session.begin(schedule)


def _last_run(error: BaseException | None) -> str | None:
    """Return the last run that a failing test has played, unless the error tells of it."""
    experiments = sys.modules.get(EXPERIMENTS)
    run = None if experiments is None else experiments.session.last
    told = getattr(error, "__notes__", ())
    return None if run is None or str(run) in told else str(run)


def _verdicts(item: pytest.Item, ledger: Ledger, state: _State) -> Iterator[str]:
    """Yield why a test fails for what its body did: its budget, its record, its findings."""
    from emulator.observe import advice_for
    from emulator.sessions.finding_policy import verdict
    from emulator.testing.configuration import budget_of
    from emulator.testing.findings import findings_of_test

    budget = budget_of(item)
    sentences = [] if budget is None else [budget.verdict(ledger)]
    if not _updates_budgets(item.config) and state.budgets.knows(item.nodeid):
        record = _record(item, ledger, state)
        sentences.append(state.budgets.verdict(item.nodeid, record, advice_for(ledger)))
    findings = findings_of_test(item, ledger, state.policy, state.emulators)
    sentences.append(verdict(findings, state.policy))
    yield from filter(None, sentences)


def _updates_budgets(config: pytest.Config) -> bool:
    return bool(
        config.getoption("--ddb-budget-update") or config.getoption("--ddb-budget-update-new")
    )


def _updates_baseline(config: pytest.Config) -> bool:
    return bool(config.getoption("--ddb-update-baseline"))


def _record(item: pytest.Item, ledger: Ledger, state: _State) -> Record:
    """Return what a test did; made once, while its emulators are there."""
    if _RECORD not in item.stash:
        from emulator.sessions.session_report import record_of
        from emulator.testing.configuration import budget_of
        from emulator.testing.findings import findings_of_test

        findings = findings_of_test(item, ledger, state.policy, state.emulators)
        record = record_of(item.nodeid, ledger, state.emulators, findings)
        record["is_recorded"] = state.budgets.knows(item.nodeid)
        budget = budget_of(item)
        limits_throttles = budget is not None and budget.throttles is not None
        record["fails_on_throttles"] = limits_throttles or state.policy.fails_on_throttles
        item.stash[_RECORD] = record
    return item.stash[_RECORD]


class _Body:
    """The body of a test that is running."""

    def __init__(self, item: pytest.Item, stack: ExitStack) -> None:
        self._item = item
        self._stack = stack
        self._met: list[object] = []

    def meet_mocks(self, state: _State) -> None:
        """Hold a mock that the body enters to the same: it serves in the fixture's place."""
        if not any(any(self._item.iter_markers(name)) for name in ("ddb_budget", "ddb_faults")):
            return
        from emulator.api import Emulator
        from emulator.sdk import listen
        from emulator.testing.configuration import options_of
        from emulator.testing.seeded_databases import take_pace

        def hear(served: object) -> None:
            if isinstance(served, Emulator):
                take_pace(served, options_of(self._item, state.options).rate)
                self.meet(served, state)

        self._stack.callback(listen(hear))

    def meet(self, emulator: Emulator, state: _State) -> None:
        """Listen to an emulator, and inject the test's faults into it, until the body ends."""
        from emulator.testing.configuration import fault_rules_of, options_of

        if emulator.events in self._met:
            return
        self._met.append(emulator.events)
        self._stack.callback(emulator.events.subscribe(_ledger(self._item).hear))
        rules = fault_rules_of(self._item)
        if rules:
            seed = options_of(self._item, state.options).fault_seed
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
    state = item.config.stash[_STATE]
    emulators = state.emulators
    ledger = item.stash.get(_LEDGER, None) if call.when == "call" else None
    if report.failed and emulators:
        from emulator.sessions.session_report import region_hints

        report.sections += [("dynamometer", hint) for hint in region_hints(emulators)]
    last_run = _last_run(_raised(call)) if report.failed and call.when == "call" else None
    if last_run is not None:
        report.sections.append(("dynamometer: the last run", last_run))
    if ledger is not None and ledger.calls:
        from emulator.sessions.session_report import properties, throttle_hints

        report.ddb_record = _record(item, ledger, state)
        item.user_properties.extend(properties(report.ddb_record))
        refuses = any(emulator.capacity == "enforce" for emulator in emulators)
        if report.failed and refuses and not isinstance(_raised(call), pytest.fail.Exception):
            report.sections += [("dynamometer", hint) for hint in throttle_hints(report.ddb_record)]
    return report  # type: ignore[no-any-return]  # a wrapper passes the result on


def _raised(call: pytest.CallInfo[None]) -> BaseException | None:
    return None if call.excinfo is None else call.excinfo.value


class _Recorder:
    """Gathers the records of all tests, those of other processes too, and reports them."""

    def __init__(self, target: Path | None) -> None:
        self._target = target
        self._by_test: dict[str, Record] = {}
        self._passed: set[str] = set()

    @property
    def _records(self) -> list[Record]:
        """In an order that is the same however the tests were spread and shuffled."""
        return [self._by_test[test] for test in sorted(self._by_test)]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a test's record; of a test that ran again, the last."""
        record: Record | None = getattr(report, "ddb_record", None)
        if record is not None:
            self._by_test[report.nodeid] = record
            (self._passed.add if report.passed else self._passed.discard)(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the report and the record of budgets, if they are wanted."""
        if self._target is not None:
            from emulator.sessions.session_report import write

            write(self._target, self._records)
        config = session.config
        self._write_findings(config)
        if self._passed and _updates_budgets(config):
            config.stash[_STATE].budgets.write(
                [record for record in self._records if record["test"] in self._passed],
                only_new=not config.getoption("--ddb-budget-update"),
                root=config.rootpath,
            )

    def _write_findings(self, config: pytest.Config) -> None:
        """Write findings as SARIF, as the baseline, and to the summary of a build."""
        path = config.getoption("--ddb-sarif")
        if path is not None:
            from emulator.sessions.accepted_findings import sarif

            text = sarif(self._records, config.stash[_STATE].policy.fail_on)
            (config.invocation_params.dir / path).write_text(text, encoding="utf-8")
        if _updates_baseline(config) and self._by_test:
            from emulator.sessions.accepted_findings import write_baseline

            baseline = _written(config, ("baseline",)).get("baseline", BASELINE_FILE)
            write_baseline(config.rootpath / baseline, self._records)
        if self._by_test and config.getini("ddb_summary") and os.environ.get(STEP_SUMMARY):
            from emulator.sessions.markdown_summary import markdown_summary
            from emulator.step_summary import append_to_step_summary

            append_to_step_summary(markdown_summary(self._records))

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, config: pytest.Config
    ) -> None:
        """Show what is worth knowing."""
        lines: list[str] = []
        if self._by_test and config.getini("ddb_summary"):
            from emulator.sessions.session_report import summary

            is_whole = _is_whole(config) and not _UNFINISHED & set(terminalreporter.stats)
            with_costs = config.get_verbosity() >= 0
            lines += summary(self._records, with_costs=with_costs, is_whole=is_whole)
            lines += self._notes(config)
        if self._target is not None:
            lines.append(f"report: {self._target}")
        if lines:
            terminalreporter.write_sep("=", "dynamometer")
            for line in lines:
                terminalreporter.write_line(line)

    def _notes(self, config: pytest.Config) -> Iterator[str]:
        """Yield what a setting asks for and could not have."""
        from emulator.sessions.session_report import not_judged, not_on_record

        state = config.stash[_STATE]
        if state.budgets.has_tests and not _updates_budgets(config):
            yield from not_on_record(self._records)
        yield from not_judged(self._records)


#: Outcomes of which one is enough for something to be left undone.
_UNFINISHED: Final = frozenset({"deselected", "error", "failed", "skipped", "xfailed"})


def _is_whole(config: pytest.Config) -> bool:
    """Return whether a session was asked for all tests."""
    names_tests = config.args_source is pytest.Config.ArgsSource.ARGS
    chosen = [config.getoption(name, None) for name in ("keyword", "markexpr", "lf", "stepwise")]
    return not names_tests and not any(chosen)


# Fixtures


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Iterator[None]:
    """Note a mock that a fixture of one test enters: the fixture ``ddb`` joins it.

    One that a fixture of a wider scope enters is shared by tests, and ``ddb`` keeps them apart.
    """
    if fixturedef.scope != "function":
        return (yield)
    before = _enclosing_mock()
    result = yield
    entered = _enclosing_mock()
    if entered is not before:
        request.config.stash[_STATE].mock = entered
    return result


def _enclosing_mock() -> Scope | None:
    """Return the scope of the mock that is active here; nothing is loaded to find it."""
    scopes = sys.modules.get("emulator.sdk.scopes")
    return None if scopes is None else scopes.enclosing()


@pytest.fixture(scope="session")
def ddb_build(pytestconfig: pytest.Config) -> Callable[..., SeededDatabase]:
    """Build a database: ``ddb_build(tables="main.tf", seed="items.jsonl")``, or in a with block.

    Use it to override ``ddb_template``.
    """
    _require_our_package()
    options = pytestconfig.stash[_STATE].options

    def build(*, tables: Any = None, seed: Any = None) -> SeededDatabase:
        from emulator.testing.seeded_databases import SeededDatabase

        return SeededDatabase(
            tables=tables,
            seed=seed,
            start=options.start,
            region=options.region,
            settings=options.settings,
        )

    return build


@pytest.fixture(scope="session")
def ddb_template() -> SeededDatabase | None:
    """Return the database that every test starts from; override it, in any scope."""
    return None


@pytest.fixture(scope=_scope)
def ddb(request: pytest.FixtureRequest, ddb_template: object) -> Iterator[Emulator]:
    """The test's own emulated DynamoDB; boto3 is routed to it, and real credentials are hidden.

    If a fixture of the same test has entered ``mock_dynamodb``, it is the emulator of that mock,
    unless a marker, an option or a template asks for a particular kind.
    """
    _require_our_package()
    from emulator.testing.seeded_databases import routed

    state = request.config.stash[_STATE]
    emulator = _emulator(request, state, ddb_template)
    if state.body is not None:  # the fixture is asked for in a test's body
        state.body.meet(emulator, state)
    state.emulators.append(emulator)
    try:
        with routed(emulator, fast=request.config.getini("ddb_fast")):
            yield emulator
    finally:
        state.emulators.remove(emulator)


def _emulator(request: pytest.FixtureRequest, state: _State, base: object) -> Emulator:
    """Return an emulator as the test's markers ask for it, filled from its template."""
    from emulator.api import Emulator
    from emulator.sdk import default_region
    from emulator.service.errors import EmulatorError
    from emulator.testing.configuration import options_of
    from emulator.testing.seeded_databases import make_clock

    options = options_of(request.node, state.options)
    template = state.databases.of_fixture(base)
    wants_manual = not set(_ON_MANUAL_CLOCKS).isdisjoint(request.fixturenames)
    mock = _enclosing_mock()
    any_will_do = template is None and options.asks_for_nothing and not wants_manual
    if any_will_do and mock is not None and mock is state.mock:
        return mock.emulator
    region = options.region or (default_region() if template is None else template.region)
    shape = {"start": options.start, "region": region, "settings": options.settings}
    try:
        database = state.databases.get(template, options.tables, options.seed, **shape)
    except EmulatorError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    kind = options.clock
    if kind == "system" and wants_manual:
        kind = "manual"
    emulator = Emulator(
        clock=make_clock(kind, database, start=options.start, rate=options.rate),
        capacity=options.capacity,
        region=region,
        settings=options.settings,
    )
    if database is not None:
        emulator.restore(database.snapshot)
    return emulator


@pytest.fixture(scope=_scope)
def ddb_client(ddb: Emulator) -> Any:
    """A boto3 client of the test's DynamoDB; without boto3, a client with the same methods."""
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
def ddb_event_source(request: pytest.FixtureRequest, ddb: Emulator) -> Iterator[EventSources]:
    """Deliver streams to handlers: ``ddb_event_source("orders", handler, batch_size=10)``.

    Those of the test's markers are open. ``ddb_event_source.drain()`` delivers what is left to all.
    """
    from emulator.service.errors import EmulatorError
    from emulator.testing.configuration import event_sources_of, options_of
    from emulator.testing.event_sources import EventSources, designs_of

    with ExitStack() as stack:
        sources = EventSources(ddb, stack)
        tables = options_of(request.node, request.config.stash[_STATE].options).tables
        try:
            for wanted in event_sources_of(request.node):
                sources.open(wanted, designs_of(tables))
        except (EmulatorError, TypeError, ValueError) as error:
            raise pytest.fail.Exception(str(error), pytrace=False) from None
        yield sources


@pytest.fixture(scope=_scope)
def ddb_endpoint(request: pytest.FixtureRequest, ddb: Emulator) -> Iterator[str]:
    """The URL of an HTTP server for the test's DynamoDB, on a free port of this machine.

    In a browser it is the test's console; when a debugger starts, the address is printed.
    """
    from emulator.http import ServerThread

    endpoints = request.config.stash[_STATE].endpoints
    with ServerThread(ddb) as server:
        endpoints.append(server.endpoint_url)
        if not _DEBUGGERS.isdisjoint(sys.modules):
            _show_consoles(request.config)
        yield server.endpoint_url
        endpoints.remove(server.endpoint_url)


def pytest_enter_pdb(config: pytest.Config) -> None:
    """Say where the console of the test is that is looked into."""
    _show_consoles(config)


def _show_consoles(config: pytest.Config) -> None:
    writer = config.get_terminal_writer()
    capture = config.pluginmanager.getplugin("capturemanager")
    with nullcontext() if capture is None else capture.global_and_fixture_disabled():
        for endpoint in config.stash[_STATE].endpoints:
            writer.line()
            writer.line(CONSOLE.format(url=endpoint))


@pytest.fixture
def ddb_report(request: pytest.FixtureRequest, ddb: Emulator) -> Ledger:  # noqa: ARG001  # what it reports of
    """What the test's body has asked of its DynamoDB so far."""
    return _ledger(request.node)
