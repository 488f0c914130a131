"""Observe: what a door may see of a running emulator, and the one way for it to look.

This room decides what is counted against a piece of code (``Ledger``), when that is too much
(``Budget``), where it is concentrated (``Concentration``), how it could be done better
(``Finding``), what of it does not count (``uncounted``), and how tables, partitions and snapshots
are looked into. What the engine reports and what can be injected into it (events, faults, request
metrics) is defined there and offered here, so that a door needs nothing of the engine's drawers.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from emulator.engine import (
    CapacityMode,
    Event,
    Events,
    Faults,
    IndexApplied,
    IndexClosed,
    IndexDelayed,
    Namespace,
    RequestServed,
    Scaled,
    Snapshot,
    Split,
    SplitRefused,
    Throttled,
    tables_of,
)

if TYPE_CHECKING:
    from emulator.engine import FaultRule
    from emulator.observe.budget import LIMITS, Budget, BudgetExceeded
    from emulator.observe.call_finding import CallFinding
    from emulator.observe.concentration import FirstLimit, KeyLoad, LoadConcentration
    from emulator.observe.findings import KINDS, REPEAT_THRESHOLD, advice_for, findings_of
    from emulator.observe.inspection import (
        Backlog,
        HotKey,
        NamespaceView,
        PartitionView,
        backlog_of,
        changed_tables,
        expiries_of,
        insights_of,
        last_moment,
        namespace_of,
        partitions_of,
        resource_of,
        running_keys_of,
        table_of,
        tables_by_region,
    )
    from emulator.observe.ledger import Ledger, LedgerEntry, as_table, resource_names, uncounted
    from emulator.observe.places import Place, calling_place, file_of, function_of, where
    from emulator.observe.spending import Spending, spending_of

#: What only those load who ask what something cost, and where.
_HOMES: Final = {
    "budget": ("LIMITS", "Budget", "BudgetExceeded"),
    "concentration": ("LoadConcentration", "FirstLimit", "KeyLoad"),
    "call_finding": ("CallFinding",),
    "findings": ("KINDS", "REPEAT_THRESHOLD", "advice_for", "findings_of"),
    "inspection": (
        "Backlog",
        "HotKey",
        "NamespaceView",
        "PartitionView",
        "backlog_of",
        "changed_tables",
        "expiries_of",
        "insights_of",
        "last_moment",
        "namespace_of",
        "partitions_of",
        "resource_of",
        "running_keys_of",
        "table_of",
        "tables_by_region",
    ),
    "ledger": ("LedgerEntry", "Ledger", "as_table", "resource_names", "uncounted"),
    "places": ("Place", "calling_place", "file_of", "function_of", "where"),
    "spending": ("Spending", "spending_of"),
}
_HOME_OF: Final = {"FaultRule": "emulator.engine"} | {
    name: f"{__name__}.{home}" for home, names in _HOMES.items() for name in names
}

__all__ = [
    "KINDS",
    "LIMITS",
    "REPEAT_THRESHOLD",
    "Backlog",
    "Budget",
    "BudgetExceeded",
    "CallFinding",
    "CapacityMode",
    "Event",
    "Events",
    "FaultRule",
    "Faults",
    "FirstLimit",
    "HotKey",
    "IndexApplied",
    "IndexClosed",
    "IndexDelayed",
    "KeyLoad",
    "Ledger",
    "LedgerEntry",
    "LoadConcentration",
    "Namespace",
    "NamespaceView",
    "PartitionView",
    "Place",
    "RequestServed",
    "Scaled",
    "Snapshot",
    "Spending",
    "Split",
    "SplitRefused",
    "Throttled",
    "advice_for",
    "as_table",
    "backlog_of",
    "calling_place",
    "changed_tables",
    "expiries_of",
    "file_of",
    "findings_of",
    "function_of",
    "insights_of",
    "last_moment",
    "namespace_of",
    "partitions_of",
    "resource_names",
    "resource_of",
    "running_keys_of",
    "spending_of",
    "table_of",
    "tables_by_region",
    "tables_of",
    "uncounted",
    "where",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)  # looked for once
    return value
