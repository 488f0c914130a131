"""Hypothesis strategies over what the service accepts, and over what it refuses.

Everything is drawn in wire form (``{"S": "x"}``), as ``Emulator.call`` and boto3's client take
it; ``form="python"`` gives natural values instead, as boto3's ``Table`` takes them. Arguments
say what is valid; wrong ones raise ``InvalidArgument`` when something is drawn.

    attribute_values, numbers                values of every type
    table_schemas                            tables with local and multi-attribute global indexes
    keys, items                              what a table may hold
    key_conditions, filters, updates         parts of requests, with their placeholders
    requests, workloads                      whole requests, and traffic over time
    loads, key_schemes                       what the lab plays: workloads and designs

``create_request("orders", "customer", "created:N", indexes={"by_status": "status"})`` writes a
CreateTable request in few words, for every argument that is a schema.

``DynamoDBMachine`` is a state machine to test data-access code with, ``NaiveTable`` its oracle.

>>> items(create_request("orders", "customer", "created:N"))
deferred(...)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from emulator.strategies.bursts import Burst, Workload, workloads
    from emulator.strategies.expressions import filters, key_conditions, updates
    from emulator.strategies.lab_loads import key_schemes, loads
    from emulator.strategies.machine import DynamoDBMachine
    from emulator.strategies.oracle.tables import NaiveTable
    from emulator.strategies.schemas import ATTRIBUTES, items, keys, table_schemas
    from emulator.strategies.table_schema import TableSchema
    from emulator.strategies.values import attribute_values, numbers
    from emulator.strategies.whole_requests import Request, requests
    from emulator.testing.table_notation import create_request

_MODULES: Final = {
    "emulator.strategies.bursts": ("Burst", "Workload", "workloads"),
    "emulator.strategies.expressions": ("filters", "key_conditions", "updates"),
    "emulator.strategies.lab_loads": ("key_schemes", "loads"),
    "emulator.strategies.machine": ("DynamoDBMachine",),
    "emulator.strategies.oracle.tables": ("NaiveTable",),
    "emulator.strategies.schemas": (
        "ATTRIBUTES",
        "TableSchema",
        "items",
        "keys",
        "table_schemas",
    ),
    "emulator.strategies.values": ("attribute_values", "numbers"),
    "emulator.strategies.whole_requests": ("Request", "requests"),
    "emulator.testing.table_notation": ("create_request",),
}
_MODULE_OF: Final = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "ATTRIBUTES",
    "Burst",
    "DynamoDBMachine",
    "NaiveTable",
    "Request",
    "TableSchema",
    "Workload",
    "attribute_values",
    "create_request",
    "filters",
    "items",
    "key_conditions",
    "key_schemes",
    "keys",
    "loads",
    "numbers",
    "requests",
    "table_schemas",
    "updates",
    "workloads",
]


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(import_module(module), name)
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            f"emulator.strategies needs the module {missing.name}: "
            "pip install 'dynamometer[hypothesis]'",
            name=missing.name,
        ) from missing
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
