"""DynamoDB Local's command line: its flags, what comes before them, and its first lines.

Set-ups for tests start DynamoDB Local by its own words, and wait for what it prints; given the same
words, this server prints the same (docs/decisions/0076-in-place-of-dynamodb-local.md).

Source: Developer Guide, DynamoDB local usage notes, command line options.
Observed: DynamoDB Local 2.6.1, November 2026; rules WIR-24, WIR-25.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from typing import Final

from emulator import __version__

#: Assumed: DynamoDB Local does not say how long its delays are.
TRANSIENT_SECONDS: Final = 5.0
#: The file that stands for DynamoDB Local's database under ``-dbPath``.
DATABASE_FILE: Final = "dynamometer.snapshot"

HEADING: Final = "Initializing DynamoDB Local with the following configuration:"
UNRECOGNIZED: Final = "Error while parsing options. Unrecognized option: {word}"

_FLAGS: Final = frozenset(
    {
        "-port",
        "-cors",
        "-inMemory",
        "-dbPath",
        "-sharedDb",
        "-delayTransientStatuses",
        "-optimizeDbBeforeStartup",
        "-disableTelemetry",
        "-help",
        "-version",
    }
)
_JAR: Final = "-jar"
_OF_JAVA: Final = ("-D", "-X")
_SINGLE_DASH = re.compile(r"-[A-Za-z]\w")


def is_meant(words: Sequence[str]) -> bool:
    """Return whether a command line is one of DynamoDB Local, or of ``java`` with its jar.

    >>> is_meant(["-Xmx1g", "-jar", "DynamoDBLocal.jar"]), is_meant(["serve", "-sharedDb"])
    (True, True)
    >>> is_meant(["serve", "--port", "0"]), is_meant(["lab", "-cors"])
    (False, False)
    """
    if words and words[0] == "serve":
        return any(word in _FLAGS or word == _JAR or word.startswith(_OF_JAVA) for word in words)
    return bool(words and _SINGLE_DASH.match(words[0]))


def words_of_serve(words: Sequence[str]) -> list[str]:
    """Return the words of ``serve`` that mean the same.

    >>> words_of_serve(["-Xmx1g", "-jar", "DynamoDBLocal.jar", "-inMemory"])
    ['-inMemory']

    Raises:
        ValueError: one is no option of DynamoDB Local; the message is its own.
    """
    kept = []
    coming = iter(words[1:] if words[0] == "serve" else words)
    for word in coming:
        if word == _JAR:
            next(coming, None)
        elif _SINGLE_DASH.match(word) is None or word.partition("=")[0] in _FLAGS:
            kept.append(word)
        elif not word.startswith(_OF_JAVA):
            raise ValueError(UNRECOGNIZED.format(word=word))
    return kept


def add_local_flags(parser: argparse.ArgumentParser) -> None:
    """Accept what DynamoDB Local accepts; ``-port`` and ``-cors`` stand beside our own names."""
    add = parser.add_argument_group("options of DynamoDB Local (also -port and -cors)").add_argument
    add("-inMemory", action="store_true", help="keep data in memory only, which is the default")
    add("-dbPath", metavar="DIR", help=f"the same as --snapshot DIR/{DATABASE_FILE}")
    add("-sharedDb", action="store_true", help="one database for all access keys and regions")
    add(
        "-delayTransientStatuses",
        action="store_true",
        help=f"new indexes stay CREATING for {TRANSIENT_SECONDS:g} seconds",
    )
    add("-optimizeDbBeforeStartup", action="store_true", help="accepted; has no effect")
    add("-disableTelemetry", action="store_true", help="accepted; there is no telemetry")
    add("-help", action="help", help=argparse.SUPPRESS)
    add("-version", action="version", version=f"dynamometer {__version__}", help=argparse.SUPPRESS)


def first_lines(arguments: argparse.Namespace, port: int) -> Iterator[str]:
    """Yield the lines that DynamoDB Local begins with; set-ups wait for the first or the last.

    They say how this server is: in memory without ``-dbPath``, and without ``-cors`` open to pages
    of this machine only.
    """
    values = {
        "Port": port,
        "InMemory": arguments.dbPath is None,
        "Version": f"dynamometer {__version__}",
        "DbPath": arguments.dbPath,
        "SharedDb": arguments.sharedDb,
        "shouldDelayTransientStatuses": arguments.delayTransientStatuses,
        "CorsParams": arguments.cors,
    }
    yield HEADING
    for name, value in values.items():
        yield f"{name}:\t{_in_java(value)}"


def _in_java(value: object) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
