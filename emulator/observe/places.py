"""Places: which line of the caller's own code made a call."""

from __future__ import annotations

import os
import sys
from types import FrameType
from typing import Final, TypeAlias

ELSEWHERE: Final = "(elsewhere)"

#: File, line and function; None where no frame is the caller's own, as over HTTP.
Place: TypeAlias = tuple[str, int, str] | None

_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_PLUGIN: Final = os.path.join(os.path.dirname(_PACKAGE[:-1]), "pytest_dynamometer.py")
_STANDARD_LIBRARY: Final = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
#: What runs tests is called by a script of the caller's own.
_RUNNER: Final = f"{os.sep}_pytest{os.sep}"
#: Code of these is a function of its own before Python 3.12.
_COMPREHENSIONS: Final = ("<listcomp>", "<dictcomp>", "<setcomp>")
_INSTALLED: Final = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def calling_place() -> Place:
    """Return the nearest line that is neither ours nor an installed package's."""
    return calling_place_and_entry()[0]


def calling_place_and_entry() -> tuple[Place, FrameType | None]:
    """Return the calling place, and the call of a function by which the caller's code got there.

    That function is the one that the outermost frame has called: in a test, what the test calls.
    The search ends at a test runner.
    """
    place: Place = None
    entry = outermost = None
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        is_own = _own_files.get(code.co_filename)
        if is_own is None:
            if _RUNNER in code.co_filename:
                break
            is_own = _own_files[code.co_filename] = _is_callers_own(code.co_filename)
        if is_own:
            if outermost is None:
                place, entry = (code.co_filename, frame.f_lineno, code.co_qualname), frame
            else:
                entry = outermost
            outermost = frame
        frame = frame.f_back
    return place, entry


_own_files: dict[str, bool] = {}


def _is_callers_own(file: str) -> bool:
    return not (
        file.startswith(("<", _PACKAGE, _PLUGIN, _STANDARD_LIBRARY))
        or any(marker in file for marker in _INSTALLED)
    )


def file_of(place: Place) -> str:
    """Return the file of a place, seen from the present directory."""
    return ELSEWHERE if place is None else place[0].removeprefix(os.getcwd() + os.sep)


def function_of(place: Place) -> str:
    """Return the function of a place, by its qualified name; the same in every Python.

    >>> function_of(("shop.py", 3, "load.<locals>.<listcomp>"))
    'load'
    """
    if place is None:
        return ""
    function, _, inner = place[2].rpartition(".<locals>.")
    return function if inner in _COMPREHENSIONS else place[2]


def where(place: Place) -> str:
    """Return a place as ``file:line``, seen from the present directory.

    >>> where(None)
    '(elsewhere)'
    """
    return ELSEWHERE if place is None else f"{file_of(place)}:{place[1]}"
