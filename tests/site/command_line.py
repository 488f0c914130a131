"""The reference of the command line, read off its parsers."""

import argparse
import os
from collections.abc import Iterator
from unittest import mock

from emulator import __main__ as program

HEAD = """\
# Command line

Every command with its options, written from the program's own parsers when this site is built.
`dynamometer COMMAND --help` says the same. Exit codes of all commands: 0 fine, 1 a promise is not
kept or a finding fails the check, 2 wrong usage, 130 interrupted.
"""


def page() -> str:
    """Return the page."""
    with mock.patch.dict(os.environ, {"COLUMNS": "88"}):
        return HEAD + "".join(f"\n{text}" for text in _commands())


def commands() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command, with its arguments, in the order of the help text."""
    names = list(_choices(program._parser("")))
    return {name: _choices(program._parser(name))[name] for name in names}


def _choices(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _commands() -> Iterator[str]:
    for parser in commands().values():
        yield from _command(parser, level=2)


def _command(parser: argparse.ArgumentParser, level: int) -> Iterator[str]:
    yield f"{'#' * level} {parser.prog}\n"
    if parser.description:
        yield f"{_text(parser.description)}\n"
    usage = parser.format_usage().removeprefix("usage: ").strip()
    yield f"```text\n{usage}\n```\n"
    for group in parser._action_groups:
        yield from _group(group)
    if parser.epilog:
        yield f"```text\n{parser.epilog.strip()}\n```\n"
    for below in _choices(parser).values():
        yield from _command(below, level + 1)


def _group(group: argparse._ArgumentGroup) -> Iterator[str]:
    rows = [
        action
        for action in group._group_actions
        if action.help != argparse.SUPPRESS and not isinstance(action, argparse._HelpAction)
    ]
    if rows:
        head = f"| {(group.title or '').capitalize()} | what it does |\n| --- | --- |\n"
        yield head + "".join(f"| {_names(action)} | {_help(action)} |\n" for action in rows)


def _names(action: argparse.Action) -> str:
    value = action.metavar or (
        "{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper()
    )
    value = " ".join(value) if isinstance(value, tuple) else value
    if not action.option_strings:
        return _code(value)
    takes = "" if action.nargs == 0 else f" {value}"
    return ", ".join(_code(f"{name}{takes}") for name in action.option_strings)


def _help(action: argparse.Action) -> str:
    names = {**vars(action), "prog": "dynamometer"}
    return _text((action.help or "") % names if "%" in (action.help or "") else action.help or "")


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "&#124;") if "|" not in text else f"<code>{_text(text)}</code>"


def _text(text: str) -> str:
    return text.replace("|", "&#124;").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")
