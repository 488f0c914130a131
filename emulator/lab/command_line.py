"""What the lab's commands have in common: exit codes, and complaints of one sentence."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import Final

from emulator.lab import NEEDS
from emulator.service.errors import DocumentError

FINE: Final = 0
FAILED: Final = 1
WRONG_USAGE: Final = 2
INTERRUPTED: Final = 130

NOTHING_WRITTEN: Final = "interrupted; only what is shown above was written"


def answered(
    run: Callable[[argparse.Namespace], int],
    arguments: argparse.Namespace,
    interrupted: str = NOTHING_WRITTEN,
) -> int:
    """Turn what is wrong with a file into one sentence and the exit code of wrong usage."""
    try:
        code = run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the report has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE
    except KeyboardInterrupt:
        sys.stderr.write(f"dynamometer: {interrupted}\n")
        return INTERRUPTED
    except (DocumentError, OSError, ModuleNotFoundError) as error:
        sys.stderr.write(f"dynamometer: {_complaint(error)}\n")
        return WRONG_USAGE
    return code


def _complaint(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError):
        return NEEDS.format(what="this", module=error.name)
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def whole_number(least: int) -> Callable[[str], int]:
    """Return what reads a whole number of the command line."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"a whole number from {least}, not {text!r}")
        return int(text)

    return read
