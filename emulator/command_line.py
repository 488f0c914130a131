"""Exit codes and one-sentence complaints, shared by all commands."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import Final

from emulator.service.errors import DocumentError

FINE: Final = 0
FAILED: Final = 1
WRONG_USAGE: Final = 2
INTERRUPTED: Final = 130  # as a shell has it

NEEDS: Final = "{what} needs the module {module}: pip install 'dynamometer[lab]'"
NOTHING_WRITTEN: Final = "interrupted; only what is shown above was written"


def answered(
    run: Callable[[argparse.Namespace], int],
    arguments: argparse.Namespace,
    interrupted: str = NOTHING_WRITTEN,
    *,
    what: str = "this",
) -> int:
    """Run a command, and return its exit code; a fault in its files is one sentence and code 2.

    Args:
        run: The command.
        arguments: Its arguments.
        interrupted: The sentence for an interruption.
        what: The work that needs a module which is not installed.
    """
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
        sys.stderr.write(f"dynamometer: {_complaint(error, what)}\n")
        return WRONG_USAGE
    return code


def _complaint(error: Exception, what: str) -> str:
    if isinstance(error, ModuleNotFoundError):
        return NEEDS.format(what=what, module=error.name)
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def whole_number(least: int) -> Callable[[str], int]:
    """Return a reader of whole numbers, for ``argparse``."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"a whole number from {least}, not {text!r}")
        return int(text)

    return read
