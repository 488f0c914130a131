"""How a snapshot file writes what JSON has no form for: moments, positions, checked numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from emulator.clock import LATEST, NANOSECONDS
from emulator.model.wire import dump_value, load_value
from emulator.storage import HASH_SPACE, TOP, Position

#: How a position writes what lies above every key value.
_TOP: Final = "TOP"
_MINUTE_NS: Final = 60 * NANOSECONDS
#: Dates begin here: 0001-01-01T00:00:00Z.
_EARLIEST: Final = -62_135_596_800
#: The members of descriptions that are moments, in seconds.
_MOMENTS: Final = frozenset(
    ("StartTime", "EndTime", "ExportTime", "ExportFromTime", "ExportToTime", "RestoreDateTime")
)


class Moments(NamedTuple):
    """From moments of a file to those of the emulator that loads it.

    They are the same, unless its clock is behind the file: then everything is moved back by whole
    minutes, so that what was a minute ago still is, and minutes stay minutes. On a clock that
    begins in 1970 that was before; what would be before the first date is at the first date.
    """

    shift_ns: int

    @classmethod
    def of(cls, saved_ns: int, now_ns: int) -> Moments:
        """Return the moments of a file that was saved at one time and is loaded at another.

        >>> Moments.of(saved_ns=90 * NANOSECONDS, now_ns=100 * NANOSECONDS)
        Moments(shift_ns=0)
        >>> Moments.of(saved_ns=90 * NANOSECONDS, now_ns=50 * NANOSECONDS)
        Moments(shift_ns=-60000000000)
        """
        minutes = -(-(saved_ns - now_ns) // _MINUTE_NS)
        return cls(-max(0, minutes) * _MINUTE_NS)

    def ns(self, written: object) -> int:
        """Return a moment, in nanoseconds since the epoch."""
        earliest_ns = _EARLIEST * NANOSECONDS
        moment_ns = integer(written, earliest_ns, 2 * LATEST * NANOSECONDS) + self.shift_ns
        return max(earliest_ns, moment_ns)

    def seconds(self, written: object) -> float:
        """Return a moment, in seconds since the epoch."""
        return max(_EARLIEST, number(written) + self.shift_ns // NANOSECONDS)

    def whole_seconds(self, written: object) -> int:
        """Return a moment, in whole seconds since the epoch."""
        moment_s = integer(written, _EARLIEST, 2 * LATEST) + self.shift_ns // NANOSECONDS
        return max(_EARLIEST, moment_s)

    def description(self, written: Mapping[str, Any]) -> dict[str, Any]:
        """Return a description, with the moments that it has at any depth."""
        return {name: self._member(name, value) for name, value in written.items()}

    def _member(self, name: str, value: object) -> object:
        if isinstance(value, Mapping):
            return self.description(value)
        return self.seconds(value) if name in _MOMENTS else value


class Times(NamedTuple):
    """When things are in the emulator that loads a file.

    Attributes:
        dates: Moments by the clock.
        throughput: Moments of throughput, which may go by a pace of its own.
        throughput_ns: The moment of throughput at which the emulator goes on.
    """

    dates: Moments
    throughput: Moments
    throughput_ns: int


def integer(written: object, least: int | None = 0, most: int | None = None) -> int:
    """Return a whole number within bounds.

    Raises:
        ValueError: it is none.
    """
    if (
        type(written) is not int
        or (least is not None and written < least)
        or (most is not None and written > most)
    ):
        raise ValueError("a whole number within bounds is expected")
    return written


def number(written: object) -> float:
    """Return a finite number.

    Raises:
        ValueError: it is none.
    """
    if type(written) not in (int, float) or not abs(written) < float("inf"):  # type: ignore[arg-type]
        raise ValueError("a finite number is expected")
    return written  # type: ignore[return-value]


def text(written: object) -> str:
    """Return a text.

    Raises:
        ValueError: it is none.
    """
    if type(written) is not str:
        raise ValueError("a text is expected")
    return written


def dump_position(position: Position) -> list[Any]:
    """Return a position as a file writes it.

    >>> load_position(dump_position((17, "abc", TOP)))
    (17, 'abc', TOP)
    """
    return [position[0], *(_TOP if value is TOP else dump_value(value) for value in position[1:])]


def load_position(written: Sequence[Any]) -> Position:
    """Return a position that a file writes.

    Raises:
        ValueError: it is none.
    """
    first, *others = written
    values = (TOP if value == _TOP else load_value(value) for value in others)
    return (integer(first, 0, HASH_SPACE), *values)
