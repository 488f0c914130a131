"""``dynamometer lab PATH`` for declared tables: their limits, and a lab file under a stated load.

What holds without a guess comes first. What is neither given nor seen has a default, which is
asked on a terminal and said in the first line elsewhere; the number of values of an index's key
has none, so that index gets its limit and no grade.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

from emulator.designs.declared import DeclaredTable, NothingDeclaredError
from emulator.designs.files import read_design
from emulator.lab.analysis.key_limits import key_limits
from emulator.lab.inputs.agent_models import time_step
from emulator.lab.inputs.drafted_lab_file import drafted, judged_by_name, key_of
from emulator.lab.inputs.stated_load import FIGURES, StatedLoad, assumed, read_load
from emulator.service.errors import DocumentError

#: Findings of reading after which there is no table to play.
_UNREAD: Final = ("unreadable", "unknown-value")
_NO_RATE: Final = "no rate is stated for any table of {path}, so nothing is played"
_UNGRADED: Final = (
    "{index} has no grade: how many values {key} has is not stated (--keys {index}=N); it is "
    "played with a value for each item\n"
)
_ONE_SAVED: Final = "--save writes one lab file: name one design"
_OF_DESIGNS: Final = (
    "{flag} is about tables that a design file declares; {path} states its own load"
)


def add_load_arguments(add: Callable[..., object]) -> None:
    """Add the flags that state the load of declared tables."""
    every = "; TABLE=N for one table, may be repeated"
    ends = {
        "rate": every,
        "writes": every,
        "mean": ", for costs",
        "keys": "; TABLE=N or TABLE.INDEX=N, may be repeated",
        "skew": ": uniform, 80/20, zipf:S, hotspot:KEYS,SHARE or one-tenant; TABLE[.INDEX]=SKEW, "
        "may be repeated; also of a data model's keys",
        "item_size": every,
    }
    for name, figure in FIGURES.items():
        add(
            figure.flag,
            metavar=figure.flag.rpartition("-")[2].upper(),
            action="append",
            default=[],
            help=f"{figure.meaning}{ends[name]}; default: {figure.default}",
        )
    add("--save", metavar="OUT", help="write the lab file that was played, to refine it")


@dataclass(frozen=True)
class StatedRun:
    """Declared tables under a stated load.

    Attributes:
        text: The lab file that is played; "" if no table has a rate.
        opening: What is said before it is played.
    """

    text: str
    opening: str


def stated_run(path: Path, arguments: argparse.Namespace) -> StatedRun:
    """Return the lab file of the tables below a path, and what holds for them without a guess.

    Raises:
        DocumentError: No table can be read, or a flag does not fit them.
    """
    reading = read_design(path)
    unread = [finding for finding in reading.findings if finding.rule in _UNREAD]
    if not reading.tables:
        if unread:
            raise DocumentError(f"{path}: {unread[0].subject}: {unread[0].message}")
        raise NothingDeclaredError(path)
    tables = {
        str(table.request["TableName"]): [
            str(index["IndexName"]) for index in table.request.get("GlobalSecondaryIndexes", ())
        ]
        for table in reading.tables
    }
    texts = {name: list(getattr(arguments, name)) for name in FIGURES}
    read_load(texts, tables)  # complains before anything is asked
    asked = sys.stdin.isatty() and sys.stdout.isatty()
    first = ""
    if asked:
        _ask(texts, tables, sys.stdout)
    elif defaults := assumed(texts):
        first = f"assumed, since it was not given: {defaults}\n"
    load = read_load(texts, tables)
    computed = key_limits(reading.tables, load)
    opening = [first, *(f"{limit.sentence()}\n" for limit in computed)]
    opening += [f"{finding.subject}: {finding.message}\n" for finding in unread]
    opening += [
        f"{table.resource}: {finding.message}\n"
        for table in reading.tables
        for finding in table.findings
        if finding.rule == "assumed-value"
    ]
    opening += (f"{said}\n" for said in judged_by_name(reading.tables, load))
    doubtful = {limit.name for limit in computed if not limit.holds_in_one_value()}
    opening += (said for name, said in _ungraded(reading.tables, load) if name in doubtful)
    if not any(load.of(name) for name in tables):
        return StatedRun("", "".join([*opening, _NO_RATE.format(path=path), "\n"]))
    text = drafted(
        reading.tables, load, path=str(path), age=arguments.age, saved=arguments.save or "FILE"
    )
    return StatedRun(text, "".join([*opening, "\n"]))


def _ungraded(tables: tuple[DeclaredTable, ...], load: StatedLoad) -> Iterator[tuple[str, str]]:
    """Yield the indexes of tables with a rate that are played unjudged, each with a sentence."""
    for table in tables:
        name = str(table.request["TableName"])
        known = key_of(table.request, "HASH")
        for index in table.request.get("GlobalSecondaryIndexes", ()):
            target = f"{name}.{index['IndexName']}"
            own = [key for key in key_of(index, "HASH") if key not in known]
            timed = all(time_step(key) is not None for key in own)
            if load.of(name) is not None and target not in load.keys and not timed:
                yield target, _UNGRADED.format(index=target, key=" + ".join(own))


def check_flags(path: str, arguments: argparse.Namespace) -> None:
    """Refuse flags about declared tables beside a file that has a load of its own."""
    for name in (*FIGURES, "save"):
        if name != "skew" and getattr(arguments, name):
            flag = FIGURES[name].flag if name in FIGURES else "--save"
            raise DocumentError(_OF_DESIGNS.format(flag=flag, path=path))


def check_saving(arguments: argparse.Namespace) -> None:
    """Refuse to save what could not be written after a run."""
    if arguments.save is None:
        return
    if len(arguments.files) != 1:
        raise DocumentError(_ONE_SAVED)
    if not Path(arguments.save).absolute().parent.is_dir():
        raise DocumentError(f"{arguments.save}: there is no directory to write it in")


def _ask(texts: dict[str, list[str]], tables: dict[str, list[str]], stream: TextIO) -> None:
    """Ask for the figures that were not given; an empty answer takes the default.

    Keys and their skew are one question, so there are five at most.
    """
    for name, figure in FIGURES.items():
        if texts[name] or name == "skew":
            continue
        meaning, default = figure.meaning, figure.default
        if name == "keys" and not texts["skew"]:
            meaning = f"{meaning}, and {FIGURES['skew'].meaning}"
            default = f"{default} {FIGURES['skew'].default}"
        while True:
            answer = _answer(f"{meaning} ({figure.flag}) [{default}]: ", stream).split()
            given = {name: [one for one in answer if not _is_skew(name, one)]}
            if name == "keys":
                given["skew"] = [one for one in answer if _is_skew(name, one)] or texts["skew"]
            try:
                read_load(given, tables)
            except DocumentError as error:
                stream.write(f"{error}\n")
                continue
            texts |= given
            break


def _is_skew(name: str, answer: str) -> bool:
    """Return whether a word of the answer about keys is no number, and so how uneven they are."""
    return name == "keys" and not answer.rpartition("=")[2].isdecimal()


def _answer(question: str, stream: TextIO) -> str:
    stream.write(question)
    stream.flush()
    return sys.stdin.readline()
