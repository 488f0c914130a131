"""The joined machine: accounts, tables, reads, writes, transactions, and what time does.

This room decides in which order things happen: plan, price, admit, judge, apply; what a
transaction holds together; when a partition splits; and what falls due as the clock moves on.
The steps of operations stand in ``reads``, ``writes``, ``transactions`` and ``updates``, whose
functions are called by those names.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from emulator.engine.account import Account, CapacityMode
from emulator.engine.archive import Archive
from emulator.engine.events import (
    Event,
    Events,
    IndexApplied,
    IndexClosed,
    IndexDelayed,
    RequestServed,
    Scaled,
    Split,
    SplitRefused,
    Throttled,
)
from emulator.engine.faults import Faults, tables_of
from emulator.engine.namespaces import Accounts, Namespace
from emulator.engine.network import Network, Regions, RegionsNeeded
from emulator.engine.snapshot import Snapshot, capture, reinstate

if TYPE_CHECKING:
    from emulator.engine import reads, transactions, updates, writes
    from emulator.engine.archived import Backup, Transfer
    from emulator.engine.fault_rules import FaultRule
    from emulator.engine.options import TableOptions
    from emulator.engine.replicas import Replica, ReplicaMember, Witness
    from emulator.engine.resource import BillingMode, Replaced, Resource, Throughput
    from emulator.engine.streams import Stream, StreamRecord
    from emulator.engine.table import Index, Table

#: What only those load who use it, by the file it is in: tables among them, since an emulator has
#: none when it begins.
_HOMES: Final = {
    "Backup": "archived",
    "BillingMode": "resource",
    "FaultRule": "fault_rules",
    "Index": "table",
    "Replaced": "resource",
    "Replica": "replicas",
    "ReplicaMember": "replicas",
    "Resource": "resource",
    "Stream": "streams",
    "StreamRecord": "streams",
    "Table": "table",
    "TableOptions": "options",
    "Throughput": "resource",
    "Transfer": "archived",
    "Witness": "replicas",
}

__all__ = [
    "Account",
    "Accounts",
    "Archive",
    "Backup",
    "BillingMode",
    "CapacityMode",
    "Event",
    "Events",
    "FaultRule",
    "Faults",
    "Index",
    "IndexApplied",
    "IndexClosed",
    "IndexDelayed",
    "Namespace",
    "Network",
    "Regions",
    "RegionsNeeded",
    "Replaced",
    "Replica",
    "ReplicaMember",
    "RequestServed",
    "Resource",
    "Scaled",
    "Snapshot",
    "Split",
    "SplitRefused",
    "Stream",
    "StreamRecord",
    "Table",
    "TableOptions",
    "Throttled",
    "Throughput",
    "Transfer",
    "Witness",
    "capture",
    "reads",
    "reinstate",
    "tables_of",
    "transactions",
    "updates",
    "writes",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
