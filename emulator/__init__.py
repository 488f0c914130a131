"""dynamometer: an in-memory emulator of Amazon DynamoDB's semantics, capacity included.

Importing this package starts nothing and patches nothing; names load on first use.

>>> from emulator import Emulator
>>> emu = Emulator()
>>> emu.call("ListTables", {})
{'TableNames': []}
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from emulator.api import Emulator
    from emulator.clock import Clock, ManualClock, SystemClock
    from emulator.errors import ApiError, EmulatorError
    from emulator.frontends.boto import mock_dynamodb
    from emulator.settings import Settings

_HOMES = {
    "ApiError": "emulator.errors",
    "Clock": "emulator.clock",
    "Emulator": "emulator.api",
    "EmulatorError": "emulator.errors",
    "ManualClock": "emulator.clock",
    "Settings": "emulator.settings",
    "SystemClock": "emulator.clock",
    "mock_dynamodb": "emulator.frontends.boto",
}

__all__ = [
    "ApiError",
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
