"""A run as a table: a column for each callable, a row for each request.

The request of each, its answer, and its line; an update that a write has lost is named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from emulator.observe import where
from emulator.service.catalogue import Kind
from emulator.testing.schedule import (
    DIES_AFTER,
    DIES_BEFORE,
    EXPIRED,
    LOST_ANSWER,
    ONE_DONE,
    ONE_UNDONE,
    STALE,
    Ask,
    Played,
    ProcessDied,
    Step,
    batch_size,
)

_WORDS: Final = {
    STALE: "stale",
    EXPIRED: "after the item expired",
    DIES_BEFORE: "dies before it",
    DIES_AFTER: "served, dies without the answer",
    LOST_ANSWER: "served, the answer is lost",
}
_WIDTH: Final = 38
REPLAY: Final = "play it again: pytest --ddb-schedule '{schedule}'"
LOST_UPDATE: Final = "LOST UPDATE: it overwrites request {number}, which came after its read"


def table_of(run: Played) -> str:
    """Return a run as a table with a column for each callable."""
    width = max(_WIDTH, *map(len, run.names))
    lines = ["  ".join(["  #", *(name.ljust(width) for name in run.names)]).rstrip()]
    for number, step in enumerate(run.steps, start=1):
        cells = _cells(run.steps, number, step)
        indent = " " * (5 + (width + 2) * step.choice.task)
        lines.append(f"{number:>3}{indent[3:]}{cells[0]}")
        lines += [f"{indent}  {cell}" for cell in cells[1:]]
    lines.append(
        "  ".join(
            ["   ", *(_short(outcome, width).ljust(width) for outcome in run.outcomes)]
        ).rstrip()
    )
    return "\n".join([*lines, REPLAY.format(schedule=run.schedule)])


def _cells(steps: Sequence[Step], number: int, step: Step) -> list[str]:
    """Return the lines that tell of a request."""
    named = _key_text(step.ask)
    cells = [_short(" ".join([str(step.ask), *named]), _WIDTH)]
    word = _WORDS.get(step.choice.mark)
    if step.choice.mark == DIES_BEFORE and step.choice.number is not None:
        word = f"dies after {step.choice.number} of {batch_size(step.ask)} items"
    elif step.choice.mark in (ONE_UNDONE, ONE_DONE):
        undone = "only" if step.choice.mark == ONE_UNDONE else "all but"
        word = f"unprocessed: {undone} item {step.choice.number} of {batch_size(step.ask)}"
    if word is not None:
        cells.append(word)
    if step.error is not None and step.error != ProcessDied.__name__:
        cells.append(_short(f"-> {step.error}"))
    elif step.answer or (step.answer is not None and not step.ask.changes):
        cells.append(_short(f"-> {_plain(step.answer)}"))
    overwritten = _overwritten(steps, number)
    if overwritten is not None:
        cells.append(LOST_UPDATE.format(number=overwritten))
    cells.append(where(step.ask.place))
    return cells


def _key_text(ask: Ask) -> list[str]:
    """Return the values of the keys of a single item that a request names."""
    items = sorted(ask.footprint.items, key=lambda item: str(item[1][1:]))
    return [_plain(value) for _, position in items for value in position[1:]][:3]


def _plain(value: Any) -> str:
    """Return a value of the wire in few signs: without the letters of its types."""
    if isinstance(value, Mapping):
        if len(value) == 1 and next(iter(value)) in ("S", "N", "B", "BOOL", "M", "L"):
            return _plain(next(iter(value.values())))
        return "{" + ", ".join(f"{name}: {_plain(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_plain, value)) + "]"
    return str(value)


def _short(text: str, width: int = 60) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _overwritten(steps: Sequence[Step], number: int) -> int | None:
    """Return which request's write an unconditional write has lost, if it has.

    Another wrote the item since the writer last read it.
    """
    writer = steps[number - 1]
    is_blind = (
        "ConditionExpression" not in writer.ask.request and "Expected" not in writer.ask.request
    )
    if not (is_blind and writer.applied and writer.ask.kind is Kind.WRITE):
        return None
    other, has_read = None, False
    for at in range(number - 2, -1, -1):
        step = steps[at]
        if step.ask.footprint.items.isdisjoint(writer.ask.footprint.items):
            continue
        if step.choice.task != writer.choice.task:
            if step.applied and step.ask.changes:
                other = at + 1
                if has_read:  # of a time before this write
                    return other
        elif step.choice.mark == STALE and other is None:
            has_read = True
        else:
            return other
    return None
