"""Hypothesis strategies and the state machine, under their public name.

>>> from emulator.strategies import create_request, items
>>> items(create_request("orders", "customer", "created:N"))
deferred(...)
"""

from emulator.frontends.strategies import (
    ATTRIBUTES,
    Burst,
    DynamoDBMachine,
    NaiveTable,
    Request,
    TableSchema,
    Workload,
    attribute_values,
    create_request,
    filters,
    items,
    key_conditions,
    keys,
    numbers,
    requests,
    table_schemas,
    updates,
    workloads,
)

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
