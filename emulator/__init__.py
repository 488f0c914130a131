"""dynamometer: an in-memory emulator of Amazon DynamoDB's semantics, capacity included.

Importing this package starts nothing and patches nothing; names load on first use.

    Emulator                    an account of its own: call, client, table, snapshot, metrics
    mock_dynamodb               serves every boto3 and aiobotocore client from an emulator
    ManualClock, SystemClock    virtual and real time; Clock is what one of your own must do
    Settings                    the constants that can be adjusted
    ApiError                    an error of the service; EmulatorError is one of ours
    BudgetExceeded              what Emulator.budget raises

    emulator.clients            Key, Attr and the clients that need no boto3
    emulator.streams            event sources: a table's stream, delivered to a handler
    emulator.strategies         hypothesis strategies and a state machine
    emulator.lab                compares designs under a workload

With pytest installed there are the fixtures ddb, ddb_client, ddb_resource, ddb_table, ddb_clock,
ddb_endpoint and ddb_report; ``pytest --fixtures`` and ``pytest --markers`` describe them.

>>> from emulator import Emulator
>>> emu = Emulator()
>>> emu.call("ListTables", {})
{'TableNames': []}
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"
#: How ``pytest_dynamometer`` tells this package from another of its name.
__distribution__ = "dynamometer"

if TYPE_CHECKING:
    from emulator.api import Emulator
    from emulator.clock import Clock, ManualClock, SystemClock
    from emulator.observe import BudgetExceeded
    from emulator.sdk import mock_dynamodb
    from emulator.service.errors import ApiError, EmulatorError
    from emulator.settings import Settings

_HOMES = {
    "ApiError": "emulator.service.errors",
    "BudgetExceeded": "emulator.observe",
    "Clock": "emulator.clock",
    "Emulator": "emulator.api",
    "EmulatorError": "emulator.service.errors",
    "ManualClock": "emulator.clock",
    "Settings": "emulator.settings",
    "SystemClock": "emulator.clock",
    "mock_dynamodb": "emulator.sdk",
}

__all__ = [
    "ApiError",
    "BudgetExceeded",
    "Clock",
    "Emulator",
    "EmulatorError",
    "ManualClock",
    "Settings",
    "SystemClock",
    "__version__",
    "mock_dynamodb",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
