"""The command ``dynamometer mcp``: the tools on standard input and output."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from emulator.command_line import FINE, WRONG_USAGE
from emulator.mcp.server import make_server

NEEDS: Final = "'mcp' needs the module {module}: pip install 'dynamometer[mcp]'"
NO_LIMIT: Final = "--time-limit is a number above 0, not {value:g}"
_EPILOG: Final = """\
An MCP client starts it; by hand it waits for a client on standard input. To register it:

  claude mcp add dynamometer -- dynamometer mcp
  {"mcpServers": {"dynamometer": {"command": "dynamometer", "args": ["mcp"]}}}

Tools: check_design, simulate, compare, execute, explain_throttle. No network, no credentials.
"""


def add_mcp_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``dynamometer mcp``."""
    parser.description = "Serve agents: check and simulate designs over the Model Context Protocol."
    parser.epilog = _EPILOG
    parser.add_argument(
        "--folder",
        metavar="DIR",
        default=".",
        help="tools read files below DIR; default: this folder",
    )
    parser.add_argument(
        "--time-limit",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="limit for one call of a tool; default: %(default)g",
    )


def run_mcp(arguments: argparse.Namespace) -> int:
    """Serve until the client leaves."""
    folder = Path(arguments.folder)
    if not folder.is_dir():
        sys.stderr.write(f"dynamometer: {folder}: there is no such folder\n")
        return WRONG_USAGE
    if not arguments.time_limit > 0:
        sys.stderr.write(f"dynamometer: {NO_LIMIT.format(value=arguments.time_limit)}\n")
        return WRONG_USAGE
    try:
        server = make_server(folder, arguments.time_limit)
    except ModuleNotFoundError as missing:
        sys.stderr.write(f"dynamometer: {NEEDS.format(module=missing.name)}\n")
        return WRONG_USAGE
    server.run()
    return FINE
