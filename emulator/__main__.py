"""The command line: ``dynamometer serve``, ``dynamometer lab``, ``dynamometer check`` and others.

Reading the arguments needs no engine: a command loads what it uses when it runs, so that
``--version`` and ``--help`` answer at once. Exit codes: 0 fine, 1 a budget or a verdict
failed, 2 wrong usage, said in one sentence, 130 interrupted.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import re
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, get_args
from urllib.parse import urlsplit

from emulator import __version__
from emulator.command_line import FAILED, FINE, INTERRUPTED, WRONG_USAGE
from emulator.http.local_command_line import (
    DATABASE_FILE,
    TRANSIENT_SECONDS,
    add_local_flags,
    first_lines,
    is_meant,
    words_of_serve,
)
from emulator.http.session_options import (
    add_session_arguments,
    check_session_arguments,
    end_session,
    session_of,
)
from emulator.service.catalogue import MessageProfile

if TYPE_CHECKING:
    from emulator.api import Emulator
    from emulator.http.event_sources import ServedSources
    from emulator.http.served_session import ServedSession

_DESCRIPTION = "An in-memory DynamoDB with partitions, throttling and costs."
_EPILOG = """\
examples:
  dynamometer serve
  aws dynamodb list-tables --endpoint-url http://127.0.0.1:8000

  dynamometer serve --capacity enforce --snapshot test-data.snapshot
  dynamometer lab --html report.html
  dynamometer design patterns.yaml
  dynamometer check main.tf
  dynamometer diff base/infra infra

'dynamometer COMMAND --help' explains the rest.
"""
_SERVE_HELP = "any AWS SDK or the AWS CLI on a local port"
_SERVE_EPILOG = """\
examples:
  dynamometer serve                          on http://127.0.0.1:8000, nothing is refused
  dynamometer serve --port 0                 on a free port, printed when it answers
  dynamometer serve --capacity enforce       requests throttle as they would in production
  dynamometer serve --clock manual           time passes only when you POST to /_emulator/clock
  dynamometer serve --snapshot data.snapshot loads the file, and writes it on Ctrl-C
  dynamometer serve --console read-only      the console shows everything and changes nothing
  dynamometer serve --s3 buckets             exports and imports use the folders in buckets/
  dynamometer serve --import AWSDynamoDB     starts from a DynamoDB export, copied from S3
  dynamometer serve --report tests.html --fail-on throttle,scan --rate 50
                                             judges the tests that use it, in any language

Any credentials will do. Data is kept apart by access key and region, as DynamoDB Local does,
unless -sharedDb is given; if a table is missing, --log says where else it exists. Tables loaded
from a file that names no key are visible to every key. In a browser the address is a console:
tables, items, live partitions, requests. The routes under /_emulator/ (health, namespaces,
metrics, partitions, insights, import-errors, clock, capacity, reset, snapshot, faults, tests, stop)
are for tests; openapi.json there describes them. They act on all namespaces, or on those of
?namespace=KEY/REGION. A test says its name in the header X-Dynamometer-Test.

Exit codes: 0 stopped cleanly, 1 a test failed, or the snapshot or the report could not be written,
2 wrong usage, 130 interrupted before the snapshot was saved.
"""


class _Elsewhere(NamedTuple):
    """A command whose module has ``add_NAME_arguments`` and ``run_NAME``.

    Attributes:
        module: Loaded when the command is named.
        help: One line.
        extra: What to install where a module of others is missing.
    """

    module: str
    help: str
    extra: str


_ELSEWHERE: Final = {
    "lab": _Elsewhere("emulator.lab.command", "compare key designs under a workload", "lab"),
    "check": _Elsewhere(
        "emulator.check.command", "check tables declared in Terraform and other formats", "designs"
    ),
    "mcp": _Elsewhere(
        "emulator.mcp.command", "serve agents over the Model Context Protocol", "mcp"
    ),
    "diff": _Elsewhere(
        "emulator.diff.command", "say what a change does to designs, for a pull request", "lab"
    ),
    "sweep": _Elsewhere(
        "emulator.lab.sweep_command", "compare designs at every point of a grid", "lab"
    ),
    "design": _Elsewhere(
        "emulator.lab.design_command", "look for the best key designs for access patterns", "lab"
    ),
    "cloudwatch-queries": _Elsewhere(
        "emulator.designs.cloudwatch_queries", "print the CloudWatch queries for a table", "lab"
    ),
    "schema": _Elsewhere("emulator.lab.schema", "print the JSON Schema of the lab file", "lab"),
}
NOT_WRITABLE: Final = (
    "{folder} belongs to user {owner}, and user {user} cannot write there: run as its owner (in a "
    "container: --user {owner}), or give it away (chown {user})"
)
_NEEDS: Final = "'{name}' needs the module {module}: pip install 'dynamometer[{extra}]'"


class UsageError(Exception):
    """The command line asks for something that cannot be; the message is one sentence."""


class _CommandParser(argparse.ArgumentParser):
    def __init__(self, **options: Any) -> None:
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see '{self.prog} --help'")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    >>> main(["--version"])
    dynamometer ...
    0
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:2] == ["lab", "diff"]:
        del words[0]  # its first name
    try:
        is_local = is_meant(words)
        if is_local:
            words = ["serve", *_local_words(words)]
        arguments = _parser(words[0] if words else "", is_local=is_local).parse_args(words)
        return int(arguments.run(arguments))
    except UsageError as error:
        sys.stderr.write(f"dynamometer: {error}\n")
        return WRONG_USAGE
    except KeyboardInterrupt:  # a second Ctrl-C, while stopping
        return INTERRUPTED
    except SystemExit as end:  # argparse has shown a help or the version
        return int(end.code or FINE)


def _local_words(words: Sequence[str]) -> list[str]:
    try:
        return words_of_serve(words)
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(WRONG_USAGE) from error


def _parser(command: str, *, is_local: bool = False) -> _CommandParser:
    parser = _CommandParser(prog="dynamometer", description=_DESCRIPTION, epilog=_EPILOG)
    parser.add_argument("--version", action="version", version=f"dynamometer {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    serve = commands.add_parser(
        "serve",
        help=f"answer {_SERVE_HELP}",
        description=f"Answer {_SERVE_HELP}.",
        epilog=_SERVE_EPILOG,
    )
    serve.set_defaults(run=_serve, is_local=is_local)
    _add_serve_arguments(serve)
    for name, elsewhere in _ELSEWHERE.items():
        parser_of_command = commands.add_parser(name, help=elsewhere.help)
        if name == command:
            _load(name, elsewhere, parser_of_command)
    return parser


# serve


def _add_serve_arguments(parser: argparse.ArgumentParser) -> None:
    _add_server_arguments(parser)
    _add_service_arguments(parser)
    _add_data_arguments(parser)
    add_session_arguments(parser)
    add_local_flags(parser)


def _add_server_arguments(parser: argparse.ArgumentParser) -> None:
    """Say where it listens, who may call, and what it shows."""
    add = parser.add_argument_group("the server").add_argument
    add("--host", default="127.0.0.1", help="address to listen on; default: this machine only")
    add(
        "--port", "-port", type=_port, default=8000, help="default: %(default)s; 0 picks a free one"
    )
    add(
        "--cors",
        "-cors",
        metavar="ORIGIN",
        default="local",
        help="origins, separated by commas, whose pages may call the server: local (default) "
        "stands for this machine, * for any origin, none for none",
    )
    add(
        "--allow-host",
        dest="allow_hosts",
        action="append",
        default=[],
        metavar="NAME",
        help="a host name to answer to, besides localhost and that of --host; may be repeated",
    )
    add(
        "--check-times",
        action="store_true",
        help="refuse requests that were signed more than 15 minutes ago or ahead, as AWS does",
    )
    add(
        "--console",
        choices=("on", "read-only", "off"),
        default="on",
        help="the page for browsers at the server's address: on (default) shows and changes "
        "things, read-only only shows them, off leaves it out",
    )
    add("--log", action="store_true", help="print a line for each request")
    add(
        "--event-source",
        dest="event_sources",
        action="append",
        default=[],
        metavar="TABLE=URL",
        help="post the changes of a table with a stream to a local Lambda runtime, or to any URL, "
        "as Lambda would send them; may be repeated",
    )


def _add_service_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the emulated service is like."""
    add = parser.add_argument_group("the service").add_argument
    add(
        "--capacity",
        choices=("observe", "enforce", "off"),
        default="observe",
        help="observe (default): record what would throttle; enforce: refuse it; off: neither",
    )
    add(
        "--messages",
        choices=get_args(MessageProfile),
        default="2026-10",
        help="the wording of validation errors: today's (default), or that from before 2026-10",
    )
    add(
        "--clock",
        choices=("system", "manual"),
        default="system",
        help="system (default): real time; manual: time passes only by POST /_emulator/clock",
    )
    add(
        "--region",
        default="us-east-1",
        help="region of requests that name none; default: %(default)s",
    )
    add(
        "--account-id",
        type=_account_id,
        default="000000000000",
        metavar="DIGITS",
        help="the account in the tables' ARNs; default: %(default)s",
    )
    add(
        "--table-delay",
        type=_seconds,
        default=0.0,
        metavar="SECONDS",
        help="how long tables stay CREATING, UPDATING or DELETING; default: %(default)g",
    )
    add(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set any of emulator.Settings, such as gsi_buffer_seconds=0; may be repeated",
    )


def _add_data_arguments(parser: argparse.ArgumentParser) -> None:
    """Say where tables come from and go to, and how much is kept."""
    add = parser.add_argument_group("data").add_argument
    add("--snapshot", metavar="FILE", help="load FILE if it exists, and save it when stopped")
    add(
        "--import",
        dest="imports",
        action="append",
        default=[],
        metavar="DIR",
        help="fill tables from a folder of DynamoDB exports, copied from S3; may be repeated",
    )
    add("--s3", metavar="DIR", help="a folder that stands for S3; each folder in it is a bucket")
    add(
        "--namespace-idle",
        type=_seconds,
        default=0.0,
        metavar="SECONDS",
        help="drop the data of a key and region that has been unused for this long; default: never",
    )
    add(
        "--memory",
        type=_size,
        default=0,
        metavar="SIZE",
        help="keep at most about this much data, such as 512MB: beyond it the least recently used "
        "namespaces are dropped, then writes are refused; default: no limit",
    )


_ACCOUNT_DIGITS: Final = 12
_LAST_PORT: Final = 65_535


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or int(text) > _LAST_PORT:
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to 65535, not {text!r}")
    return int(text)


def _account_id(text: str) -> str:
    if not (text.isascii() and text.isdecimal() and len(text) == _ACCOUNT_DIGITS):
        raise argparse.ArgumentTypeError(f"an account id has 12 digits, not {text!r}")
    return text


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"a delay is a number of seconds, not {text!r}")
    return seconds


_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) *([KMG]?)I?B?", re.IGNORECASE)
_SIZE_UNITS: Final = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


def _size(text: str) -> int:
    size = _SIZE.fullmatch(text.strip())
    if size is None:
        raise argparse.ArgumentTypeError(f"a size is written as 512MB or 2GB, not {text!r}")
    return int(float(size[1]) * _SIZE_UNITS[size[2].upper()])


def _serve(arguments: argparse.Namespace) -> int:
    from emulator.http import ServerOptions, closing_lines, serve

    warnings.showwarning = _log_warning
    from emulator.service.errors import DocumentError
    from emulator.sessions import Fault

    try:
        check_session_arguments(arguments)
        path = _snapshot_path(arguments)
        emulator = _emulator(arguments, path)
        session = session_of(emulator, arguments)
    except (DocumentError, Fault) as error:
        raise UsageError(str(error)) from error
    imported = [line for folder in arguments.imports for line in _import(emulator, folder)]
    sources = _event_sources(emulator, arguments)
    try:
        serve(
            emulator,
            arguments.host,
            arguments.port,
            options=ServerOptions(
                cors=arguments.cors,
                allow_hosts=tuple(arguments.allow_hosts),
                check_times=arguments.check_times,
                as_local=arguments.is_local,
                shared=arguments.sharedDb,
                keys_apart=True,
                namespace_idle_seconds=arguments.namespace_idle,
                memory_bytes=arguments.memory,
                console=arguments.console,
                log=_print_line if arguments.log else None,
            ),
            session=session,
            on_ready=lambda url: _announce(url, arguments, path, imported),
        )
    except OSError as error:
        raise UsageError(_why_not_listening(error, arguments)) from error
    finally:
        sources.close()
    for line in closing_lines(emulator):
        _print_line(line)
    code = _report(session, arguments)
    return code if path is None else max(code, _save(emulator, path))


def _report(session: ServedSession, arguments: argparse.Namespace) -> int:
    try:
        lines, code = end_session(session, arguments.report)
    except OSError as error:
        sys.stderr.write(
            f"dynamometer: {arguments.report} could not be written: {error.strerror}\n"
        )
        return FAILED
    for line in lines:
        _print_line(line)
    return code


def _event_sources(emulator: Emulator, arguments: argparse.Namespace) -> ServedSources:
    """Begin to post the changes of tables to URLs."""
    from emulator.http.event_sources import ServedSources, table_and_url

    if arguments.event_sources and arguments.clock == "manual":
        raise UsageError("--event-source needs --clock system: a function runs in real time")
    try:
        wanted = [table_and_url(text) for text in arguments.event_sources]
    except ValueError as error:
        raise UsageError(f"--event-source: {error}") from error
    return ServedSources(emulator, wanted)


def _print_line(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _log_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Write a warning, such as of what is not served, as a line of the server's log."""
    sys.stderr.write(f"dynamometer: {message}\n")
    sys.stderr.flush()


def _snapshot_path(arguments: argparse.Namespace) -> str | None:
    path: str | None = arguments.snapshot
    if arguments.dbPath is not None:
        if arguments.inMemory or path is not None:
            raise UsageError("-dbPath cannot be combined with -inMemory or --snapshot")
        path = os.path.join(arguments.dbPath, DATABASE_FILE)
        _require_writable(arguments.dbPath)
    if path is not None and not os.path.isdir(os.path.dirname(os.path.abspath(path))):
        raise UsageError(f"there is no directory to keep {path} in")
    return path


def _require_writable(folder: str) -> None:
    """Refuse a folder that cannot be written, before anything is served.

    Raises:
        UsageError: such as that of a volume which a container mounts as another user.
    """
    if os.path.isdir(folder) and not os.access(folder, os.W_OK):
        owner, user = os.stat(folder).st_uid, os.getuid() if hasattr(os, "getuid") else "this one"
        raise UsageError(NOT_WRITABLE.format(folder=folder, owner=owner, user=user))


def _emulator(arguments: argparse.Namespace, path: str | None) -> Emulator:
    from emulator.api import Emulator
    from emulator.clock import ManualClock, PacedClock, SystemClock
    from emulator.service.errors import EmulatorError
    from emulator.settings import Settings, setting_values

    chosen = {
        "messages": arguments.messages,
        "table_delay": arguments.table_delay,
        "index_delay": TRANSIENT_SECONDS if arguments.delayTransientStatuses else 0.0,
    }
    if arguments.s3 is not None:
        chosen["s3"] = arguments.s3
    try:
        settings = Settings(**(chosen | setting_values(arguments.settings)))
    except (TypeError, ValueError) as error:
        raise UsageError(f"--set: {error}") from error
    clock = SystemClock() if arguments.rate is None else PacedClock(arguments.rate)
    options: dict[str, Any] = {
        "clock": ManualClock() if arguments.clock == "manual" else clock,
        "capacity": arguments.capacity,
        "region": arguments.region,
        "account_id": arguments.account_id,
        "settings": settings,
    }
    if path is None or not os.path.exists(path):
        try:
            return Emulator(**options)
        except EmulatorError as error:
            raise UsageError(str(error)) from error
    try:
        return Emulator.load(path, **options)
    except (EmulatorError, OSError) as error:
        raise UsageError(f"{path} cannot be loaded: {error}") from error


def _import(emulator: Emulator, folder: str) -> list[str]:
    """Fill the tables of exports that are not there yet; return a line about each."""
    from emulator.service.errors import EmulatorError

    try:
        imported = emulator.import_exports(folder, missing_only=True)
    except (EmulatorError, OSError) as error:
        raise UsageError(f"--import: {error}") from error
    lines = []
    for table in imported:
        line = f"imported {table.items:,} items into {table.name}"
        if table.deduced_key is not None:
            line += f", whose key is taken to be {', '.join(table.deduced_key)}"
        lines.append(line)
    return lines


def _save(emulator: Emulator, path: str) -> int:
    try:
        emulator.save(path)
    except OSError as error:
        sys.stderr.write(f"dynamometer: {path} could not be saved: {error.strerror}\n")
        return FAILED
    sys.stdout.write(f"saved {path}\n")
    return FINE


def _announce(
    url: str, arguments: argparse.Namespace, path: str | None, imported: list[str]
) -> None:
    if arguments.is_local:
        port = urlsplit(url).port or arguments.port
        sys.stdout.writelines(f"{line}\n" for line in [*first_lines(arguments, port), ""])
    kept = "in memory" if path is None else f"kept in {path}"
    sys.stdout.write(
        f"dynamometer {__version__} answers on {url} (capacity {arguments.capacity}, data {kept}); "
        "Ctrl-C stops it\n"
    )
    if arguments.console != "off":
        sys.stdout.write(f"console: open {url} in a browser\n")
    sys.stdout.writelines(f"{line}\n" for line in imported)
    sys.stdout.flush()
    if not arguments.host.startswith(("127.", "localhost", "::1")):
        sys.stderr.write(f"dynamometer: anyone who can reach {url} can read and change this data\n")


def _why_not_listening(error: OSError, arguments: argparse.Namespace) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {arguments.port} is taken on {arguments.host}; choose another with --port"
    return f"cannot listen on {arguments.host} port {arguments.port}: {error.strerror or error}"


# Commands that live in rooms of their own


def _load(name: str, elsewhere: _Elsewhere, parser: argparse.ArgumentParser) -> None:
    try:
        command = importlib.import_module(elsewhere.module)
    except ModuleNotFoundError as missing:
        if str(missing.name).startswith("emulator"):
            raise UsageError(f"this version comes without '{name}'") from missing
        needs = _NEEDS.format(name=name, module=missing.name, extra=elsewhere.extra)
        raise UsageError(needs) from missing
    function = name.replace("-", "_")
    getattr(command, f"add_{function}_arguments")(parser)
    parser.set_defaults(run=getattr(command, f"run_{function}"))


if __name__ == "__main__":
    sys.exit(main())
