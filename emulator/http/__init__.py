"""HTTP: the server, for SDKs of every language and for the AWS CLI.

This room decides how bytes become requests, which of them are answered and in which order faults
are reported, and what the private routes under ``/_emulator/`` do.
"""

from emulator.http.server import ServerOptions, ServerThread, serve

__all__ = ["ServerOptions", "ServerThread", "serve"]
