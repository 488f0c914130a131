"""Runs a page of the documentation: its files are written, its commands are run.

A fenced block whose info string names a file (``yaml shop.yaml``) is written to it. In a
``console`` block a line that begins with ``$ dynamometer`` is run and what follows is what it
must print, where ``...`` stands for anything; other commands are not run. The built-in comparison
is cut to half a minute of its hour and of its warm-up, and where a page shows 73 worlds two are
played, without asking what the answer depends on: those lines of a page are not held. Python is
run as it stands.
"""

import contextlib
import doctest
import io
import re
import shlex

from emulator.__main__ import main

BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.M | re.S)
#: What a page shows of a whole run; tests play two worlds.
SURE = "100 worlds"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def run_page(text, directory):
    """Carry out a page inside a directory; return the commands that were run."""
    done = []
    with contextlib.chdir(directory):
        for language, name, body in BLOCK.findall(text):
            if name:
                (directory / name).write_text(body, encoding="utf-8")
            elif language == "python":
                exec(compile(body, "page", "exec"), {})
            elif language == "console":
                done += [run_command(line, shown) for line, shown in commands(body)]
    return done


def commands(block):
    """Yield each command of a console block with what it shall print."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        line, _, shown = part.partition("\n")
        if line.startswith("dynamometer "):
            yield line, shown


def run_command(line, shown):
    """Run one command and compare what it prints; return it with its exit code."""
    line, asked, _ = line.partition("; echo $?")
    out, err = io.StringIO(), io.StringIO()
    shorter = []
    if line == "dynamometer lab":
        shorter += ["--duration", "30s"]
    if SURE in shown:
        shorter += ["--worlds", "2", "--no-sensitivity"]
        shown = re.sub(r"^  depends on: .*\n", "", shown, flags=re.M).replace(SURE, "2 worlds")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        answer = main([*shlex.split(line)[1:], *shorter])
    complaint = err.getvalue() if answer else ""  # else it is progress, for long runs
    printed = (out.getvalue() + complaint).replace("\u202f", " ")
    if asked:
        printed += f"{answer}\n"
    checker = doctest.OutputChecker()
    assert checker.check_output(shown, printed, FLAGS), f"$ {line}\n{printed}\nexpected:\n{shown}"
    return line, answer
