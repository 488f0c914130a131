"""HTTP: the server, for SDKs of every language and for the AWS CLI.

This room decides how bytes become requests, which of them are answered and in which order faults
are reported, what the private routes under ``/_emulator/`` do, and what the console shows.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from emulator.http.closing import closing_lines
    from emulator.http.server import ServerOptions, ServerThread, serve

#: Loaded when asked for: the command line is read before there is a server.
_HOMES: Final = {
    "ServerOptions": "server",
    "ServerThread": "server",
    "closing_lines": "closing",
    "serve": "server",
}

__all__ = ["ServerOptions", "ServerThread", "closing_lines", "serve"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
