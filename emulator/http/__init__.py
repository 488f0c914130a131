"""HTTP: the server, for SDKs of every language and for the AWS CLI.

This room decides how bytes become requests, which of them are answered and in which order faults
are reported, what the private routes under ``/_emulator/`` do, and what the console shows.
"""

from emulator.http.closing import closing_lines
from emulator.http.server import ServerOptions, ServerThread, serve

__all__ = ["ServerOptions", "ServerThread", "closing_lines", "serve"]
