"""Clients: how Python code without an SDK speaks to an emulator.

This room decides how Python values become wire dictionaries and back, and how a refusal
becomes an exception. It knows an emulator only by its ``call``.
"""

from emulator.clients.client import Client
from emulator.clients.conditions import Attr, Key
from emulator.clients.conversion import Binary, client_response, wire_request
from emulator.clients.exceptions import (
    ClientError,
    WaiterError,
    connection_closed,
    error_response,
    response_metadata,
)
from emulator.clients.table import Table

__all__ = [
    "Attr",
    "Binary",
    "Client",
    "ClientError",
    "Key",
    "Table",
    "WaiterError",
    "client_response",
    "connection_closed",
    "error_response",
    "response_metadata",
    "wire_request",
]
