"""The tools, as plain methods; a text beside a parameter's type says what it is for.

Nothing here knows the SDK. A ``DocumentError`` is what an agent did wrong, in one sentence.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, Final

from emulator.api import Emulator
from emulator.check.findings_of import check, is_lab_file
from emulator.clock import ManualClock
from emulator.designs import DeclaredTable, Finding
from emulator.designs.files import read_design
from emulator.designs.findings import counted, gravest_first, sentence
from emulator.lab import files
from emulator.lab.inputs import agent_models
from emulator.lab.inputs.documents import Entry
from emulator.mcp import answers, simulation, sources, throttle_causes
from emulator.mcp.simulation import MOST_SECONDS, SimulationRun
from emulator.observe.ledger import Ledger
from emulator.service.errors import ApiError, DocumentError, EmulatorError

#: Characters of an answer (ICH-103).
MOST_CHARACTERS: Final = 8_000
#: Characters of all requests to one emulator, which bounds what it keeps.
MOST_REQUESTED: Final = 64_000_000
#: Tables of a design.
MOST_TABLES: Final = 500
#: Virtual seconds of one call: a day.
MOST_ADVANCED: Final = 86_400

ONE_DESIGN: Final = "there is no design {name!r}; there are {known}"
TOO_FEW: Final = "compare takes 2 to {most} designs, not {count}"
MANY_TABLES: Final = "a design has at most {most} tables, this one {count:,}: check a part of it"
FULL: Final = "the emulator was sent {most:,} characters, which is its limit: call with reset=true"
NOT_A_SPAN: Final = "advance_seconds is a number from 0 to {most}, not {value}"
A_LAB_FILE: Final = "this is a lab file, which has a workload: call simulate with it"

Text = Annotated[str | None, "The source itself. Exactly one of text and path."]
FilePath = Annotated[str | None, "A file or folder below the folder that this server reads."]
Format = Annotated[str, "What the text is: auto, terraform, cloudformation, json or lab."]
Skew = Annotated[
    str | None,
    "How popular the values of every field are, instead of what the workload says: uniform, "
    "zipf:S such as zipf:1.1, or hotspot:KEYS,TRAFFIC such as hotspot:0.1,0.9.",
]
Load = Annotated[float, "A multiple of every rate."]
Seconds = Annotated[int, f"The length of the simulated run, at most; up to {MOST_SECONDS}."]
Seed = Annotated[int, "The seed of the first world; the same seed gives the same answer."]
Worlds = Annotated[int, "How many draws of what AWS does not publish are played, 1 to 200."]
Quick = Annotated[bool, "False also searches for the headroom, which takes longer."]


class Tools:
    """The tools of an agent; ``execute`` works on one emulator with a clock of its own."""

    def __init__(self, folder: Path, time_limit: float = 60.0) -> None:
        self._folder = folder
        self._time_limit = time_limit
        self._emulator = _new_emulator()
        self._requested = 0
        self._lock = Lock()

    def check_design(
        self, text: Text = None, path: FilePath = None, format: Format = "auto"
    ) -> answers.CheckAnswer:
        """Check the DynamoDB tables of a design for keys and indexes that will throttle.

        Reads Terraform, CloudFormation, SAM, NoSQL Workbench models, DescribeTable output and
        CreateTable requests. Static rules only; simulate plays a workload.
        """
        with sources.source_file(text, path, format, self._folder) as file:
            if is_lab_file(file):
                raise DocumentError(A_LAB_FILE)
            declared = read_design(file).tables
            if len(declared) > MOST_TABLES:
                raise DocumentError(MANY_TABLES.format(most=MOST_TABLES, count=len(declared)))
            findings = check([file]).findings
            tables = [str(table.request["TableName"]) for table in declared]
        return _check_answer(findings, tables, None if path is None else self._folder.resolve())

    def simulate(
        self,
        *,
        model: Annotated[
            dict[str, Any] | None,
            "A lab file as an object (workload with fields and patterns, designs with keys as "
            "templates), or a dynamodb_data_model of AWS's agent toolkit. Or give text or path.",
        ] = None,
        text: Text = None,
        path: FilePath = None,
        design: Annotated[str | None, "The design to simulate; the first by default."] = None,
        skew: Skew = None,
        load: Load = 1.0,
        seconds: Seconds = 600,
        seed: Seed = 0,
        worlds: Worlds = 20,
        quick: Quick = True,
    ) -> answers.SimulateAnswer:
        """Play a workload on a DynamoDB design: does it throttle, why, what fixes it, and its cost.

        The model has the form that 'dynamometer schema lab' describes.
        """
        file, skew = self._lab_file(model, text, path, skew)
        names = {stated.name: stated for stated in file.designs}
        if design is not None and design not in names:
            raise DocumentError(ONE_DESIGN.format(name=design, known=", ".join(names)))
        chosen = file.designs[0] if design is None else names[design]
        run = self._run(skew, load, seconds, seed, worlds, quick=quick)
        return simulation.simulated(replace(file, designs=(chosen,)), run)[0]

    def compare(
        self,
        *,
        workload: Annotated[dict[str, Any], "The workload of a lab file: fields and patterns."],
        designs: Annotated[list[dict[str, Any]], "2 to 8 designs, as in a lab file."],
        skew: Skew = None,
        load: Load = 1.0,
        seconds: Seconds = 600,
        seed: Seed = 0,
        worlds: Worlds = 20,
        quick: Quick = True,
    ) -> answers.CompareAnswer:
        """Play one workload on 2 to 8 DynamoDB designs, and say which is best."""
        if not 2 <= len(designs) <= simulation.MOST_DESIGNS:
            raise DocumentError(TOO_FEW.format(most=simulation.MOST_DESIGNS, count=len(designs)))
        file, _ = self._lab_file({"workload": workload, "designs": designs}, None, None)
        run = self._run(skew, load, seconds, seed, worlds, quick=quick)
        ranked = simulation.best_first(simulation.simulated(file, run))
        return _fitting(answers.CompareAnswer(best=ranked[0].name, designs=ranked))

    def execute(
        self,
        *,
        operation: Annotated[str, "A DynamoDB operation, such as CreateTable or Query."],
        request: Annotated[dict[str, Any], "Its request in wire form, with typed values."],
        advance_seconds: Annotated[float, "Virtual seconds that pass before the request."] = 0.0,
        reset: Annotated[bool, "Begin with an empty account."] = False,
    ) -> answers.ExecuteAnswer:
        """Send one request to an in-memory DynamoDB that enforces its capacity.

        Tables and items stay until reset; time passes only by advance_seconds. A refusal is a
        result: its code, message and throttling reasons are those of the service.
        """
        if not 0 <= advance_seconds <= MOST_ADVANCED:
            raise DocumentError(NOT_A_SPAN.format(most=MOST_ADVANCED, value=advance_seconds))
        with self._lock:
            if reset:
                self._emulator, self._requested = _new_emulator(), 0
            self._requested += len(json.dumps(request))
            if self._requested > MOST_REQUESTED:
                raise DocumentError(FULL.format(most=MOST_REQUESTED))
            self._emulator.clock.advance(advance_seconds)
            return _executed(self._emulator, operation, request)

    def explain_throttle(
        self,
        *,
        error: Annotated[
            dict[str, Any] | str, "The error, as an object or as the text that was logged."
        ],
        table: Annotated[str | None, "The table, if the error does not name it."] = None,
        text: Text = None,
        path: FilePath = None,
        format: Format = "auto",
    ) -> answers.ExplainAnswer:
        """Explain a throttling error of DynamoDB: which limit was reached, and what helps.

        With the design as text or path the provisioned limit is named too.
        """
        declared: list[DeclaredTable] = []
        if text is not None or path is not None:
            with sources.source_file(text, path, format, self._folder) as file:
                declared = list(read_design(file).tables)
        return throttle_causes.explain(error, table, declared)

    def _lab_file(
        self,
        model: dict[str, Any] | None,
        text: str | None,
        path: str | None,
        skew: str | None = None,
    ) -> tuple[files.LabFile, str | None]:
        """Return a lab file or data model, and the skew if it is not in it yet."""
        if sum(source is not None for source in (model, text, path)) != 1:
            raise DocumentError("give exactly one of model, text and path")
        if model is not None:
            text = json.dumps(model)
        with sources.source_file(text, path, "auto", self._folder) as file:
            if agent_models.is_model(file):
                return files.load(file, skew=skew), None
            return (
                files.load(file) if model is None else files.read(Entry.of(model, "model"))
            ), skew

    def _run(
        self, skew: str | None, load: float, seconds: int, seed: int, worlds: int, *, quick: bool
    ) -> SimulationRun:
        return SimulationRun(skew, load, seconds, seed, worlds, quick, self._time_limit)


def _new_emulator() -> Emulator:
    return Emulator(clock=ManualClock(), capacity="enforce")


def _check_answer(
    findings: Sequence[Finding], tables: list[str], folder: Path | None
) -> answers.CheckAnswer:
    """Return findings, the gravest first; files are named below ``folder``, of texts none is."""
    ranked = gravest_first(findings)
    counts = {str(severity): count for severity, count in counted(ranked).items() if count}
    listed = [
        answers.FindingAnswer(
            rule=finding.rule,
            severity=finding.severity,
            subject=finding.subject,
            message=sentence(finding.message),
            fix=sentence(finding.fix),
            file=_below(finding.file, folder),
            line=finding.line,
        )
        for finding in ranked
    ]
    answer = answers.CheckAnswer(findings=listed, tables=tables, counts=counts)
    while _size(answer) > MOST_CHARACTERS and listed:
        listed = listed[:-1]
        left_out = len(ranked) - len(listed)
        answer = answers.CheckAnswer(
            findings=listed, tables=tables[:50], counts=counts, left_out=left_out
        )
    return answer


def _below(file: str | None, folder: Path | None) -> str | None:
    if file is None or folder is None:
        return None
    path = Path(file).resolve()
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else file


def _size(answer: Any) -> int:
    return len(json.dumps(asdict(answer)))


def _fitting(answer: answers.CompareAnswer) -> answers.CompareAnswer:
    """Return a comparison that is small enough: of each design the busiest pattern and resource."""
    if _size(answer) <= MOST_CHARACTERS:
        return answer
    short = [
        answers.SimulateAnswer(
            **{
                **vars(design),
                "patterns": design.patterns[:1],
                "resources": design.resources[:1],
                "left_out": design.left_out + len(design.patterns) + len(design.resources) - 2,
            }
        )
        for design in answer.designs
    ]
    return answers.CompareAnswer(best=answer.best, designs=short)


def _executed(emulator: Emulator, operation: str, request: dict[str, Any]) -> answers.ExecuteAnswer:
    response: dict[str, Any] | None = None
    error: answers.ErrorAnswer | None = None
    left_out = 0
    ledger = Ledger()
    leave = emulator.events.subscribe(ledger.hear)
    try:
        response = emulator.call(operation, request)
    except ApiError as refusal:
        reasons = refusal.members.get("ThrottlingReasons", ())
        error = answers.ErrorAnswer(
            code=refusal.code,
            message=refusal.message,
            reasons=[str(reason.get("reason")) for reason in reasons],
        )
    except EmulatorError as wrong:
        raise DocumentError(str(wrong)) from wrong
    finally:
        leave()
    if response is not None:
        response, left_out = _shortened(response)
    return answers.ExecuteAnswer(
        ok=error is None,
        response=response,
        error=error,
        read=ledger.read_units,
        write=ledger.write_units,
        left_out=left_out,
    )


def _shortened(response: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Return a response whose lists are cut until it is small enough, and how much was cut."""
    short: dict[str, Any] = json.loads(json.dumps(response, default=_readable))
    left_out = 0
    while len(json.dumps(short)) > MOST_CHARACTERS:
        lists = [name for name, value in short.items() if isinstance(value, list) and value]
        if not lists:
            kept = {name: value for name, value in short.items() if isinstance(value, int | bool)}
            return kept, left_out + len(short) - len(kept)
        longest = max(lists, key=lambda name: len(json.dumps(short[name])))
        half = len(short[longest]) // 2
        left_out += len(short[longest]) - half
        short[longest] = short[longest][:half]
    return short, left_out


def _readable(value: object) -> Any:
    """Return binary values as the wire has them."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return str(value)
