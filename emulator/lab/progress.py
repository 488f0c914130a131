"""Progress of a run: a bar on a terminal, nothing in a pipe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from emulator.lab.analysis.comparison import Progress

_WIDTH: Final = 78


@contextmanager
def shown_progress(stream: TextIO) -> Iterator[Progress | None]:
    """Yield a function that shows progress, or None where nobody looks.

    >>> import io
    >>> with shown_progress(io.StringIO()) as progress:
    ...     print(progress)
    None
    """
    if not stream.isatty():
        yield None
    elif find_spec("rich") is not None:
        with _rich_bar(stream) as tell:
            yield tell
    else:
        yield lambda what, done, total: _write_line(stream, what, done, total)
        stream.write("\r" + " " * _WIDTH + "\r")


def _write_line(stream: TextIO, what: str, done: int, total: int) -> None:
    part = f" {done / total:.0%}" if done and total else ""
    stream.write(f"\r{(what + part)[:_WIDTH]:<{_WIDTH}}")
    stream.flush()


@contextmanager
def _rich_bar(stream: TextIO) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(file=stream), transient=True) as bar:
        task = bar.add_task("", total=1)

        def tell(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total if done else None)

        yield tell
