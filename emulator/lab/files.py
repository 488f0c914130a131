"""Files: a workload and its designs in one YAML file, read with complaints that name the place.

title: Device events
parameters: {shards: 10}           # numbers that templates may name
settings: {heat_threshold: 0.8}    # adjustable constants, if any
worlds: 50                         # play exactly so many; without it as many as it takes
engine: auto
workload: {...}                    # emulator.lab.inputs.workload
designs: [{...}, ...]              # emulator.lab.inputs.design
expect: {all: {grade: tight}}      # emulator.lab.outcome.expectations
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Literal, get_args

from emulator.lab.inputs import design as designs_module
from emulator.lab.inputs import workload as workload_module
from emulator.lab.inputs.design import Design
from emulator.lab.inputs.documents import Entry
from emulator.lab.inputs.workload import Workload
from emulator.lab.outcome import expectations
from emulator.lab.outcome.expectations import Expectation
from emulator.lab.outcome.result_types import Comparison
from emulator.lab.planning.access_paths import find_path
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.settings import Settings

EngineChoice = Literal["auto", "exact", "aggregate"]
_ENGINES: Final[dict[str, EngineChoice]] = {name: name for name in get_args(EngineChoice)}


@dataclass(frozen=True, kw_only=True)
class LabFile:
    """What a file says; ``compare(**file.arguments())`` runs it.

    ``failures`` tells which of the promises under ``expect`` a comparison does not keep.
    """

    workload: Workload
    designs: tuple[Design, ...]
    title: str = ""
    about: str = ""
    worlds: int | None = None
    seeds: tuple[int, ...] = ()
    engine: EngineChoice = "auto"
    settings: Settings = field(default_factory=Settings)
    #: The settings that the file names; they are the same in every world.
    known: frozenset[str] = frozenset()
    expected: tuple[Expectation, ...] = ()

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``compare``."""
        return {
            "workload": self.workload,
            "designs": self.designs,
            "worlds": self.worlds,
            "seeds": self.seeds or None,
            "engine": self.engine,
            "settings": self.settings,
            "known": self.known,
            "title": self.title,
        }

    def failures(self, comparison: Comparison) -> list[str]:
        """Return a sentence for every promise of the file that a comparison does not keep."""
        return list(expectations.failures(comparison, self.expected))


def load(path: Path | str) -> LabFile:
    """Read a file.

    Raises:
        DocumentError: It cannot be read, or something in it is missing, unknown or wrong; the
            message names file, line, field and what was expected.
    """
    return read(Entry.read(Path(path)))


def loads(text: str, source: str = "text") -> LabFile:
    """Read the text of a file.

    >>> loads("workload: 5", "lab.yaml")
    Traceback (most recent call last):
    emulator.lab.inputs.documents.DocumentError: lab.yaml:1: the field 'designs' is missing
    """
    return read(Entry.parse(text, source))


def read(entry: Entry) -> LabFile:
    """Read an entry that was parsed already."""
    members = entry.members(
        required=("workload", "designs"),
        optional=(
            *("title", "about", "parameters", "settings", "worlds", "seeds", "engine", "expect"),
        ),
    )
    if "parameters" in members:
        _spread_parameters(members["parameters"], members["designs"])
    settings = _read_settings(members["settings"]) if "settings" in members else Settings()
    workload = workload_module.from_entry(members["workload"])
    designs = _read_designs(members["designs"], workload, settings)
    return LabFile(
        title=members["title"].text() if "title" in members else "",
        about=members["about"].text().strip() if "about" in members else "",
        workload=workload,
        designs=tuple(designs.values()),
        worlds=members["worlds"].integer(least=1) if "worlds" in members else None,
        seeds=(
            tuple(seed_entry.integer() for seed_entry in members["seeds"].items(least=1))
            if "seeds" in members
            else ()
        ),
        engine=members["engine"].choice(_ENGINES) if "engine" in members else "auto",
        settings=settings,
        known=frozenset(members["settings"].mapping()) if "settings" in members else frozenset(),
        expected=expectations.from_entry(members["expect"], designs) if "expect" in members else (),
    )


def _read_designs(entry: Entry, workload: Workload, settings: Settings) -> dict[str, Design]:
    """Return the designs by name; each fits the workload and has a name of its own."""
    designs: dict[str, Design] = {}
    for member in entry.items(least=1):
        design = designs_module.from_entry(member)
        if design.name in designs:
            member.complain(f"two designs are called {design.name!r}")
        designs[design.name] = design
        _check_fit(member, design, workload, settings)
    return designs


def _spread_parameters(parameters: Entry, designs: Entry) -> None:
    """Give every design the file's parameters that it does not set itself."""
    common = parameters.mapping()
    for value in common.values():
        value.integer(least=1)
    for design in designs.items(least=1):
        own = design.mapping().get("parameters")
        merged = dict(common) | ({} if own is None else own.mapping())
        design.value["parameters"] = Entry(
            merged,
            field=f"{design.field}.parameters",
            source=design.source,
            line=parameters.line if own is None else own.line,
        )


def _check_fit(entry: Entry, design: Design, workload: Workload, settings: Settings) -> None:
    """Complain at the design if it does not fit the workload, or no such table can be."""
    patterns = {pattern.name for pattern in workload.patterns}
    for name in design.answers:
        if name not in patterns:
            answers = entry.mapping()["answers"].mapping()
            answers[name].complain(f"no pattern is called {name!r}")
    try:
        layout = Layout(design, workload)
        for pattern in workload.patterns:
            find_path(layout, pattern)
        RunEmulator(layout, settings)
    except ValueError as error:
        entry.complain(str(error))


def _read_settings(entry: Entry) -> Settings:
    known = [setting.name for setting in fields(Settings)]
    members = entry.members(optional=known)
    try:
        return Settings(**{name: _plain(member) for name, member in members.items()})
    except (TypeError, ValueError) as error:
        return entry.complain(str(error))


def _plain(entry: Entry) -> Any:
    """Return the value of a setting: a scalar, or the three numbers of a delay."""
    value = entry.value
    return tuple(number.value for number in value) if isinstance(value, list) else value
