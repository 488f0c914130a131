"""Files: a workload and its designs in one YAML file, read with complaints that name the place.

title: Device events
parameters: {shards: 10}           # numbers that templates may name
settings: {heat_threshold: 0.8}    # adjustable constants, if any
worlds: 50                         # play this number of worlds; without it as many as it takes
engine: auto
workload: {...}                    # emulator.lab.inputs.workload
designs: [{...}, ...]              # emulator.lab.inputs.design
expect: {all: {grade: tight}}      # emulator.lab.outcome.expectations
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, get_args

from emulator.lab.inputs import agent_models, forms, setting_form
from emulator.lab.inputs import design as designs_module
from emulator.lab.inputs import workload as workload_module
from emulator.lab.inputs.design import Design
from emulator.lab.inputs.documents import Entry, nearest
from emulator.lab.inputs.forms import FormMember, FormScope, Record
from emulator.lab.inputs.patterns import TIMESTAMP
from emulator.lab.inputs.workload import Workload
from emulator.lab.outcome import expectations
from emulator.lab.outcome.expectations import Expectation, Judgement
from emulator.lab.outcome.result_types import Comparison
from emulator.lab.planning.access_paths import SCAN, TABLE, find_path
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.settings import Settings

EngineChoice = Literal["auto", "exact", "aggregate"]
_ENGINES: Final[dict[str, EngineChoice]] = {name: name for name in get_args(EngineChoice)}


@dataclass(frozen=True, kw_only=True)
class LabFile:
    """The content of a file; ``compare(**file.arguments())`` runs it.

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

    def judgements(self, comparison: Comparison) -> list[Judgement]:
        """Return every promise of the file, and whether a comparison keeps it."""
        return list(expectations.judgements(comparison, self.expected))

    def failures(self, comparison: Comparison) -> list[str]:
        """Return a sentence for every promise of the file that a comparison does not keep."""
        return list(expectations.failures(comparison, self.expected))


def load(
    path: Path | str,
    *,
    tables: Path | None = None,
    skew: str | None = None,
    needs_designs: bool = True,
) -> LabFile:
    """Read a file, or a data model of AWS's agent tools (``emulator.lab.inputs.agent_models``).

    Args:
        path: The file.
        tables: Where the tables of a model without keys are declared.
        skew: How popular the partition keys of a model are.
        needs_designs: Whether a file without designs is a broken one; of others they are left out.

    Raises:
        DocumentError: It cannot be read, or something in it is missing, unknown or wrong; the
            message names file, line, field and what was expected.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "lab.yaml").write_text('''
    ... workload:
    ...   duration: 1m
    ...   fields: {deviceId: {count: 100}}
    ...   patterns:
    ...     - {name: record event, operation: PutItem, rate: 50}
    ... designs:
    ...   - {name: device key, partition: "{deviceId}", sort: "{timestamp}"}
    ... ''')
    ...     loaded = load(Path(folder, "lab.yaml"))
    >>> [design.name for design in loaded.designs]
    ['device key']
    """
    path = Path(path)
    if not agent_models.is_model(path):
        return read(Entry.read(path), needs_designs=needs_designs)
    run = agent_models.read_model(path, tables=tables, skew=skew)
    about = "\n".join(f"assumed: {assumption}" for assumption in run.assumptions)
    return LabFile(title=path.stem, about=about, workload=run.workload, designs=(run.design,))


def loads(text: str, source: str = "text") -> LabFile:
    """Read the text of a file.

    >>> loads("workload: 5", "lab.yaml")
    Traceback (most recent call last):
    emulator.lab.inputs.documents.DocumentError: lab.yaml:1: the field 'designs' is missing
    """
    return read(Entry.parse(text, source))


LAB_FILE: Final = Record(
    "lab file",
    "A workload and the designs that are compared under it.",
    {
        "title": FormMember(
            forms.text(), "What the report is called. Without it: the file.", example="Orders"
        ),
        "about": FormMember(
            forms.text(), "What the file is for; for its readers.", example="Orders of a shop."
        ),
        "parameters": FormMember(
            designs_module.PARAMETERS,
            "Numbers that the templates of all designs may name.",
            example={"shards": 4},
        ),
        "settings": FormMember(
            setting_form.FORM,
            "Constants that the service does not publish; those given are the same in every world.",
            example={"heat_threshold": 0.7},
        ),
        "worlds": FormMember(
            forms.integer(least=1),
            "Play exactly this many worlds. Without it: as many as it takes, 20 to 200.",
            example=50,
        ),
        "seeds": FormMember(
            forms.many(forms.integer(), least=1),
            "In older files: play as many worlds as there are seeds, starting with the first seed.",
            example=[0, 1, 2],
        ),
        "engine": FormMember(
            forms.choice(_ENGINES),
            "`exact` runs the emulator request by request, `aggregate` computes with totals, "
            "`auto` uses `exact` for small workloads.",
            default="auto",
        ),
        "workload": FormMember(
            workload_module.FORM,
            "The requests.",
            required=True,
            example={"patterns": [{"name": "save", "operation": "PutItem", "rate": 40}]},
        ),
        "designs": FormMember(
            forms.many(designs_module.FORM, least=1),
            "The designs.",
            required=True,
            example=[{"name": "by user", "partition": "{userId}"}],
        ),
        "expect": FormMember(
            expectations.FORM,
            "Promises about the designs; `dynamometer lab` fails if one is broken.",
            example={"all": {"grade": "tight"}},
        ),
    },
)

_WITHOUT_DESIGNS: Final = replace(
    LAB_FILE,
    members={**LAB_FILE.members, "designs": replace(LAB_FILE.members["designs"], required=False)},
)


def read(entry: Entry, *, needs_designs: bool = True) -> LabFile:
    """Read an entry that was parsed already."""
    if not needs_designs and isinstance(entry.value, dict):
        for name in ("designs", "expect", "parameters"):
            entry.value.pop(name, None)
    members = (LAB_FILE if needs_designs else _WITHOUT_DESIGNS).entries(entry)
    if "parameters" in members:
        _spread_parameters(members["parameters"], members["designs"])
    values = {
        name: member.form.read(members[name])
        for name, member in LAB_FILE.members.items()
        if name in members and name not in ("designs", "expect", "parameters")
    }
    settings, known = values.get("settings", (Settings(), frozenset()))
    workload = values["workload"]
    designs = _read_designs(members["designs"], workload, settings) if needs_designs else {}
    expected = expectations.from_entry(members["expect"], designs) if "expect" in members else ()
    return LabFile(
        **{name: values[name] for name in ("title", "worlds", "seeds", "engine") if name in values},
        about=values.get("about", "").strip(),
        workload=workload,
        designs=tuple(designs.values()),
        settings=settings,
        known=known,
        expected=expected,
    )


def _read_designs(entry: Entry, workload: Workload, settings: Settings) -> dict[str, Design]:
    """Return the designs by name; each fits the workload and has a name of its own."""
    designs: dict[str, Design] = {}
    fields = frozenset(field.name for field in workload.fields) | {TIMESTAMP}
    scope = FormScope(fields, attributes=frozenset(workload.attributes))
    for member in entry.items(least=1):
        design = designs_module.from_entry(member, scope)
        if design.name in designs:
            member.complain(f"two designs are called {design.name!r}")
        designs[design.name] = design
        _check_fit(member, design, workload, settings)
    return designs


def _spread_parameters(parameters: Entry, designs: Entry) -> None:
    """Give every design the file's parameters that it does not set itself."""
    designs_module.PARAMETERS.read(parameters)
    for design in designs.items(least=1):
        own = design.mapping().get("parameters")
        merged = dict(parameters.mapping()) | ({} if own is None else own.mapping())
        design.value["parameters"] = Entry(
            merged,
            field=f"{design.field}.parameters",
            source=design.source,
            line=parameters.line if own is None else own.line,
        )


def _check_fit(entry: Entry, design: Design, workload: Workload, settings: Settings) -> None:
    """Complain at the design if it does not fit the workload, or no such table can be."""
    try:
        layout = Layout(design, workload)
        _check_answers(entry, layout)
        for pattern in workload.patterns:
            find_path(layout, pattern)
        RunEmulator(layout, settings)
    except ValueError as error:
        entry.complain(str(error))


def _check_answers(entry: Entry, layout: Layout) -> None:
    """Complain at an answer that names no pattern, no index, or one that cannot answer it."""
    patterns = {pattern.name: pattern for pattern in layout.workload.patterns}
    for name, answer in layout.design.answers.items():
        answers = entry.mapping()["answers"].mapping()
        if name not in patterns:
            answers[name].complain(f"no pattern is called {name!r}{nearest(name, patterns)}")
        indexes = [index.name for index in layout.table_of(patterns[name]).indexes]
        ways = [*indexes, TABLE, SCAN]
        if answer not in ways:
            answers[name].fail(f"one of {', '.join(ways)}", ways)
        try:
            find_path(layout, patterns[name])
        except ValueError:
            by = ", ".join(patterns[name].by) or "no field"
            answers[name].complain(
                f"{answer!r} cannot answer pattern {name!r}, which knows {by}: name a way whose "
                f"partition key follows from that, or {SCAN!r}"
            )
