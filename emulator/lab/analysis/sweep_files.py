"""Files of sweeps: a JSON line for every point that is done, to go on from and to merge.

A point is known by its id, which follows from the workload, the designs and the options alone, so
parts of one sweep can be run on machines that know nothing of each other.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from emulator.service.errors import DocumentError

_DIGITS: Final = 16

NOT_A_PART: Final = "{path}: has no results of a sweep"
ANOTHER_SWEEP: Final = (
    "{path}: belongs to a different sweep than {first}: other points, designs or options"
)


def id_of(*texts: str) -> str:
    """Return the digest that tells a point, or a whole sweep, from every other.

    >>> id_of("a", "b"), id_of("ab")
    ('59b271ae1bbcb1d3', 'fb8e20fc2e4c3f24')
    """
    return sha256("\0".join(texts).encode()).hexdigest()[:_DIGITS]


@dataclass(frozen=True)
class SweepRow:
    """A point that is done.

    Attributes:
        id: The point's id.
        sweep: The id of the sweep that it was run for.
        number: Its place among the points of that sweep, from 1.
        of: How many points there are.
        point: Parameter to value.
        comparison: The result as a document.
    """

    id: str
    sweep: str
    number: int
    of: int
    point: Mapping[str, float]
    comparison: dict[str, Any]

    def line(self) -> str:
        """Return it as a line of a file."""
        return json.dumps(vars(self)) + "\n"


_ROW_BEGINS: Final = b'{"id": '


def _is_row(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def read_rows(path: Path) -> list[SweepRow]:
    """Return the rows of a file; lines that are torn or something else are left aside."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            rows.append(SweepRow(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return rows


class SweepFile:
    """A file to which points are added as they are done; without a path nothing is kept."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._rows: dict[str, SweepRow] = {}
        if path is not None and path.exists():
            self._rows = {row.id: row for row in read_rows(path)}
            self._mend(path)

    def find(self, point_id: str) -> SweepRow | None:
        """Return the row of a point, if it is there."""
        return self._rows.get(point_id)

    def keep(self, row: SweepRow) -> None:
        """Add a row, unless it is there already."""
        if self._path is None or self._rows.get(row.id) == row:
            return
        self._rows[row.id] = row
        with self._path.open("a", encoding="utf-8") as file:
            file.write(row.line())

    def _mend(self, path: Path) -> None:
        """Cut off a row that was torn, so that every line can be read by others, too.

        Another end is not ours: it becomes a line of its own.
        """
        text = path.read_bytes()
        *_, torn = text.rpartition(b"\n")
        if not torn:
            return
        with path.open("r+b") as file:
            if torn.startswith(_ROW_BEGINS) and not _is_row(torn):
                file.truncate(len(text) - len(torn))
            else:
                file.seek(0, os.SEEK_END)
                file.write(b"\n")


@dataclass(frozen=True)
class Merged:
    """The rows of a sweep in the order of its points, and the numbers of those that are missing."""

    rows: tuple[SweepRow, ...]
    missing: tuple[int, ...]


def merged(parts: Sequence[Path]) -> Merged:
    """Return the points of one sweep in several files; an empty file is a part without points.

    Raises:
        DocumentError: A file holds something else, or points of another sweep.
    """
    sweep, first = "", Path()
    rows: dict[int, SweepRow] = {}
    for path in parts:
        own = read_rows(path)
        if not own and path.read_text(encoding="utf-8").strip():
            raise DocumentError(NOT_A_PART.format(path=path))
        if own and not sweep:
            sweep, first = own[-1].sweep, path
        of_sweep = [row for row in own if row.sweep == sweep]
        if own and not of_sweep:
            raise DocumentError(ANOTHER_SWEEP.format(path=path, first=first))
        rows |= {row.number: row for row in of_sweep}
    total = max((row.of for row in rows.values()), default=0)
    ordered = tuple(rows[number] for number in sorted(rows))
    return Merged(ordered, _missing(rows, total))


def _missing(numbers: Iterable[int], total: int) -> tuple[int, ...]:
    present = set(numbers)
    return tuple(number for number in range(1, total + 1) if number not in present)
