"""Progress of a run: a bar on a terminal, in a pipe a line every few seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from emulator.lab.analysis.study import Progress

_WIDTH: Final = 78
#: Seconds between two lines in a pipe; a short run stays quiet.
_PAUSE: Final = 5.0


@dataclass(frozen=True)
class Shown:
    """How a run says how far it is, and what it knows already."""

    tell: Progress
    announce: Callable[[str], None]


@contextmanager
def shown_progress(stream: TextIO) -> Iterator[Shown]:
    """Yield what shows progress on a stream.

    >>> import io
    >>> pipe = io.StringIO()
    >>> with shown_progress(pipe) as shown:
    ...     shown.tell("hour key: worlds", 3, 20)
    >>> pipe.getvalue()
    ''
    """
    if not stream.isatty():
        yield _ProgressLines(stream).shown()
    elif find_spec("rich") is not None:
        with _rich_bar(stream) as shown:
            yield shown
    else:
        since = _stopwatch()
        yield Shown(
            lambda what, done, total: _write_over(stream, _text(what, done, total, since())),
            lambda sentence: _write_over(stream, f"{sentence}\n"),
        )
        _write_over(stream, "")


def _text(what: str, done: float, total: int, seconds: float = 0.0) -> str:
    """Return the name of the work, the share that is done, and the time left.

    >>> _text("worlds", 5, 20, 3.0), _text("worlds", 0, 20, 3.0)
    ('worlds 25%, about 9 s left', 'worlds 0%')
    """
    text = f"{what} {done / total:.0%}"
    left = seconds * (total - done) / done if done else 0.0
    return f"{text}, about {left:.0f} s left" if left >= 1 else text


def _stopwatch() -> Callable[[], float]:
    """Return a function that gives the seconds since now."""
    began = time.monotonic()
    return lambda: time.monotonic() - began


def _write_over(stream: TextIO, text: str) -> None:
    """Write a line over the last one."""
    end = "\n" if text.endswith("\n") else ""
    stream.write(f"\r{text.rstrip()[:_WIDTH]:<{_WIDTH}}{end}\r")
    stream.flush()


class _ProgressLines:
    """Writes a line where the last one is some seconds old."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._since = _stopwatch()
        self._last = 0.0
        self._announced: list[str] = []

    def shown(self) -> Shown:
        return Shown(self._tell, self._announce)

    def _tell(self, what: str, done: float, total: int) -> None:
        seconds = self._since()
        if seconds >= _PAUSE:
            self._write_announced()
        if seconds - self._last >= _PAUSE:
            self._write(f"{_text(what, done, total, seconds)} ({seconds:.0f} s)")

    def _announce(self, sentence: str) -> None:
        """Write what is known already as soon as the run is no short one."""
        self._announced.append(sentence)
        if self._since() >= _PAUSE:
            self._write_announced()

    def _write_announced(self) -> None:
        announced, self._announced = self._announced, []
        for sentence in announced:
            self._write(sentence)

    def _write(self, text: str) -> None:
        self._last = self._since()
        self._stream.write(f"{text}\n")
        self._stream.flush()


@contextmanager
def _rich_bar(stream: TextIO) -> Iterator[Shown]:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(file=stream), transient=True) as bar:
        task = bar.add_task("", total=1)

        def tell(what: str, done: float, total: int) -> None:
            bar.update(task, description=escape(what), completed=done, total=total)

        yield Shown(tell, lambda sentence: bar.console.print(escape(sentence), highlight=False))
