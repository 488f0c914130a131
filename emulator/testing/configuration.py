"""The configuration of the pytest plugin: options, ini settings and marker arguments.

Everything is judged when it is read, marker arguments at collection, so that a mistake is reported
once, with its place, before any test runs. Nothing here loads the engine until a marker is met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from math import inf
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import pytest

from emulator.sessions import Fault

if TYPE_CHECKING:
    from emulator.observe import Budget

CAPACITIES: Final = ("off", "observe", "enforce")
CLOCKS: Final = ("system", "manual")

_NO_POSITIONAL: Final = "arguments are given by name"
_ONE_POSITIONAL: Final = "only the kind may be given without a name"
_ONLY_KINDS: Final = "kinds of findings are given without names"
_UNKNOWN: Final = "there is no argument {name!r}; there are {known}"
_CHOICE: Final = "{name} is one of {choices}, not {value!r}"
_NOT_TEXT: Final = "{name} is text, not {value!r}"
_NOT_A_CLOCK: Final = "clock is 'system', 'manual' or a clock, not {value!r}"
_NOT_A_TIME: Final = "start is a date, ISO text or epoch seconds, not {value!r}"
_NOT_A_RATE: Final = "rate is a number of requests a second, above 0, not {value!r}"
_RATE_AND_MANUAL: Final = (
    "rate is for real time: on a manual clock calls arrive when the test has advanced it"
)
_NO_FILE: Final = "{name}: there is no file {value!r} in {places}"
_NOT_TABLES: Final = (
    "tables is a design file, a folder of exports, CreateTable requests or a function of the "
    "emulator, not {value!r}"
)
_NOT_A_SEED: Final = (
    "seed is a file of JSON lines, a folder of exports, items by table name, a function of the "
    "emulator, or a number for the faults, not {value!r}"
)


class Options(NamedTuple):
    """The emulator that a test asks for.

    Attributes:
        capacity: "off", "observe" or "enforce".
        clock: "system", "manual" or a clock.
        start: Where a manual clock starts, in epoch seconds; None for the default.
        rate: Requests a second at which a test's calls are taken to arrive, on real time in
            "observe"; None if none was set, and then nothing throttles.
        region: The region of calls that name none; None for the one that boto3 has configured.
        tables: Tables to create, see ``seeded_databases.Tables``.
        seed: Items to fill them with, see ``seeded_databases.Seed``.
        fault_seed: Seeds fault rules that have no seed of their own.
        settings: Arguments of ``Settings``, or a Settings.
    """

    capacity: Any = "observe"
    clock: Any = "system"
    start: float | None = None
    rate: float | None = None
    region: str | None = None
    tables: Any = None
    seed: Any = None
    fault_seed: int = 0
    settings: Any = None

    @property
    def asks_for_nothing(self) -> bool:
        """Whether any emulator will do."""
        return self._replace(fault_seed=0) == Options()


# The command line and the ini file


def configured(written: Mapping[str, Any]) -> Options:
    """Return the options that the command line and the ini file have written.

    Raises:
        pytest.UsageError: a setting is wrong.
    """
    from emulator.settings import setting_values

    changes = dict(written)
    try:
        if "settings" in changes:
            changes["settings"] = setting_values(changes["settings"])
        if "rate" in changes:
            changes["rate"] = _number(changes["rate"])
        return _judged(Options(), changes)
    except (Fault, TypeError, ValueError) as fault:
        raise pytest.UsageError(f"ddb: {fault}") from None


T = TypeVar("T")
R = TypeVar("R")


def reading(read: Callable[[T], R], written: T) -> R:
    """Return settings as a reader reads them.

    Raises:
        pytest.UsageError: a setting is wrong.
    """
    try:
        return read(written)
    except Fault as fault:
        raise pytest.UsageError(f"ddb: {fault}") from None


# Markers


def faults_of(item: pytest.Item) -> list[str]:
    """Return a sentence for every wrong argument of an item's markers."""
    sentences = []
    for name, judge in _JUDGES.items():
        for mark in item.iter_markers(name):
            try:
                judge(item, mark)
            except (Fault, TypeError, ValueError) as fault:
                sentences.append(f"@pytest.mark.{name}: {_first_line(fault)}")
    return sentences


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def options_of(node: pytest.Item | pytest.Collector, base: Options) -> Options:
    """Return the options of a node: those configured, changed by its markers; the closest wins."""
    for mark in reversed(list(node.iter_markers("ddb"))):
        base = _marked(node, mark, base)
    return base


def budget_of(item: pytest.Item) -> Budget | None:
    """Return the budget of an item; the closest marker wins, limit by limit."""
    limits: dict[str, Any] = {}
    for mark in reversed(list(item.iter_markers("ddb_budget"))):
        limits |= mark.kwargs
    return _budget(limits) if limits else None


def fault_rules_of(item: pytest.Item) -> list[dict[str, Any]]:
    """Return the arguments of an item's fault rules, the outermost marker's first."""
    return [_fault_rule(mark) for mark in reversed(list(item.iter_markers("ddb_faults")))]


def _judge_ddb(item: pytest.Item, mark: pytest.Mark) -> None:
    _marked(item, mark, Options())


def _judge_budget(_item: pytest.Item, mark: pytest.Mark) -> None:
    if mark.args:
        raise Fault(_NO_POSITIONAL)
    from emulator.observe import LIMITS

    _known(mark.kwargs, LIMITS)
    _budget(mark.kwargs)


def _judge_faults(_item: pytest.Item, mark: pytest.Mark) -> None:
    from emulator.observe import FaultRule, Faults

    rule = _fault_rule(mark)
    _known(rule, [field.name for field in fields(FaultRule) if field.init])
    Faults().add(**{"kind": None, **rule})


def _judge_allow(_item: pytest.Item, mark: pytest.Mark) -> None:
    from emulator.sessions.finding_policy import kinds_of

    if mark.kwargs:
        raise Fault(_ONLY_KINDS)
    kinds_of(mark.args)


def event_sources_of(item: pytest.Item) -> list[Any]:
    """Return the event sources that an item's markers ask for, the outermost's first."""
    from emulator.testing.event_sources import judged

    marks = reversed(list(item.iter_markers("ddb_event_source")))
    return [judged(mark.args, mark.kwargs) for mark in marks]


def _judge_event_source(_item: pytest.Item, mark: pytest.Mark) -> None:
    from emulator.testing.event_sources import judged

    judged(mark.args, mark.kwargs)


_JUDGES: Final = {
    "ddb": _judge_ddb,
    "ddb_budget": _judge_budget,
    "ddb_allow": _judge_allow,
    "ddb_faults": _judge_faults,
    "ddb_event_source": _judge_event_source,
}


def _fault_rule(mark: pytest.Mark) -> dict[str, Any]:
    if len(mark.args) > 1:
        raise Fault(_ONE_POSITIONAL)
    return {"kind": mark.args[0], **mark.kwargs} if mark.args else dict(mark.kwargs)


def _budget(limits: Mapping[str, Any]) -> Budget:
    from emulator.observe import Budget

    return Budget(**limits)


def _marked(node: pytest.Item | pytest.Collector, mark: pytest.Mark, base: Options) -> Options:
    if mark.args:
        raise Fault(_NO_POSITIONAL)
    arguments = dict(mark.kwargs)
    if arguments.get("start") is not None:
        arguments.setdefault("clock", "manual")
    if arguments.get("rate") is not None and arguments.get("clock", "system") != "system":
        raise Fault(_RATE_AND_MANUAL)
    for name in ("tables", "seed"):
        if isinstance(arguments.get(name), str | PathLike):
            arguments[name] = _located(node, name, arguments[name])
    return _judged(base, arguments)


def _judged(base: Options, arguments: Mapping[str, Any]) -> Options:
    """Return the options with these changes, each of them judged."""
    _known(
        arguments,
        ("capacity", "clock", "start", "rate", "region", "seed", "tables", "settings"),
    )
    changes = {name: value for name, value in arguments.items() if value is not None}
    if changes.get("capacity", "off") not in CAPACITIES:
        listed = ", ".join(CAPACITIES)
        raise Fault(_CHOICE.format(name="capacity", choices=listed, value=changes["capacity"]))
    clock = changes.get("clock", "system")
    if clock not in CLOCKS and not hasattr(clock, "now_ns"):
        raise Fault(_NOT_A_CLOCK.format(value=clock))
    if not isinstance(changes.get("region", ""), str):
        raise Fault(_NOT_TEXT.format(name="region", value=changes["region"]))
    if "rate" in changes:
        _judge_rate(changes["rate"])
    if "start" in changes:
        changes["start"] = _epoch_seconds(changes["start"])
    if "settings" in changes:
        changes["settings"] = _settings(changes["settings"])
    _judge_data(changes)
    if isinstance(changes.get("seed"), int):
        changes["fault_seed"] = changes.pop("seed")
    return base._replace(**changes)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Fault(_NOT_A_RATE.format(value=text)) from None


def _judge_rate(rate: Any) -> None:
    is_number = isinstance(rate, int | float) and not isinstance(rate, bool)
    if not is_number or not 0 < rate < inf:
        raise Fault(_NOT_A_RATE.format(value=rate))


def _judge_data(changes: Mapping[str, Any]) -> None:
    tables, seed = changes.get("tables", ()), changes.get("seed", {})
    if not callable(tables) and not isinstance(tables, str | Path | Mapping | list | tuple):
        raise Fault(_NOT_TABLES.format(value=tables))
    if not callable(seed) and not isinstance(seed, str | Path | Mapping | list | tuple | int):
        raise Fault(_NOT_A_SEED.format(value=seed))


def _settings(settings: Any) -> Any:
    from emulator.settings import Settings

    if isinstance(settings, Settings):
        return settings
    _known(settings, [field.name for field in fields(Settings)])
    return Settings(**settings)


def _known(names: Iterable[str], known: Iterable[str]) -> None:
    known = list(known)
    for name in names:
        if name not in known:
            raise Fault(_UNKNOWN.format(name=name, known=", ".join(known)))


def _epoch_seconds(start: Any) -> float:
    """Return a moment in epoch seconds; a date without a zone is in UTC."""
    if isinstance(start, str):
        try:
            start = datetime.fromisoformat(start)
        except ValueError:
            raise Fault(_NOT_A_TIME.format(value=start)) from None
    if isinstance(start, datetime):
        return (start if start.tzinfo else start.replace(tzinfo=UTC)).timestamp()
    if isinstance(start, bool) or not isinstance(start, int | float):
        raise Fault(_NOT_A_TIME.format(value=start))
    return start


def _located(node: pytest.Item | pytest.Collector, name: str, value: str | PathLike[str]) -> Path:
    """Return a file that is named from the test's directory, or from the project's."""
    folders = dict.fromkeys((node.path.parent, node.config.rootpath))
    for folder in folders:
        if (folder / value).exists():
            return folder / value
    listed = " or in ".join(map(str, folders))
    raise Fault(_NO_FILE.format(name=name, value=str(value), places=listed))
