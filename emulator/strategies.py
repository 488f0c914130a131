"""Hypothesis strategies over what the service accepts, and over what it refuses.

Everything is drawn in wire form (``{"S": "x"}``), as ``Emulator.call`` and boto3's client take
it; ``form="python"`` gives natural values instead, as boto3's ``Table`` takes them. Arguments
say what is valid; wrong ones raise ``InvalidArgument`` when something is drawn.

    attribute_values, numbers                values of every type
    table_schemas                            tables with local and multi-attribute global indexes
    keys, items                              what a table may hold
    key_conditions, filters, updates         parts of requests, with their placeholders
    requests, workloads                      whole requests, and traffic over time

``create_request("orders", "customer", "created:N", indexes={"by_status": "status"})`` writes a
CreateTable request in few words, for every argument that is a schema.

``DynamoDBMachine`` is a state machine to test data-access code with, ``NaiveTable`` its oracle.

>>> items(create_request("orders", "customer", "created:N"))
deferred(...)
"""

from __future__ import annotations

try:
    from emulator.frontends.machine import DynamoDBMachine
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"emulator.strategies needs the module {missing.name}: "
        "pip install 'dynamometer[hypothesis]'",
        name=missing.name,
    ) from missing
from emulator.frontends.naive import NaiveTable
from emulator.frontends.phrase_strategies import filters, key_conditions, updates
from emulator.frontends.request_strategies import Request, requests
from emulator.frontends.schema_strategies import ATTRIBUTES, items, keys, table_schemas
from emulator.frontends.schemas import TableSchema
from emulator.frontends.table_notation import create_request
from emulator.frontends.value_strategies import attribute_values, numbers
from emulator.frontends.workloads import Burst, Workload, workloads

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
    "keys",
    "numbers",
    "requests",
    "table_schemas",
    "updates",
    "workloads",
]
