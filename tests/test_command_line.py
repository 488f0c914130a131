"""What all commands share: exit codes, and complaints of one sentence."""

import argparse
import re
from pathlib import Path

import pytest

from emulator import command_line
from emulator.command_line import FAILED, FINE, INTERRUPTED, WRONG_USAGE, answered
from emulator.service.errors import DocumentError
from tests.architecture.test_imports import FILES

CODE = re.compile(r"^(FINE|FAILED|WRONG_USAGE|INTERRUPTED)\b.*= \d", re.MULTILINE)


def raising(error):
    def run(_arguments):
        raise error

    return run


def test_exit_codes_have_one_home():
    homes = {path for path in FILES if CODE.search(path.read_text())}
    assert homes == {Path(command_line.__file__)}
    assert (FINE, FAILED, WRONG_USAGE, INTERRUPTED) == (0, 1, 2, 130)


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (DocumentError("a: b"), WRONG_USAGE, "a: b"),
        (FileNotFoundError(2, "No such file", "a.tf"), WRONG_USAGE, "a.tf: No such file"),
        (OSError("odd"), WRONG_USAGE, "odd"),
        (
            ModuleNotFoundError(name="rich"),
            WRONG_USAGE,
            "reading needs the module rich: pip install 'dynamometer[lab]'",
        ),
        (KeyboardInterrupt(), INTERRUPTED, command_line.NOTHING_WRITTEN),
    ],
)
def test_a_fault_is_one_sentence_and_a_code(error, code, sentence, capsys):
    """ICH-80, ICH-86."""
    assert answered(raising(error), argparse.Namespace(), what="reading") == code
    assert capsys.readouterr().err == f"dynamometer: {sentence}\n"
