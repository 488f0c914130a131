"""The joined machine: accounts, tables, reads, writes, transactions, and what time does.

This room decides in which order things happen: plan, price, admit, judge, apply; what a
transaction holds together; when a partition splits; and what falls due as the clock moves on.
What operations do stands in ``reads``, ``writes``, ``transactions`` and ``updates``, whose
functions are called by those names.
"""

from emulator.engine import reads, replication, transactions, updates, writes
from emulator.engine.account import Account, CapacityMode
from emulator.engine.archive import Archive, Backup, Transfer
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
from emulator.engine.faults import FaultRule, Faults, tables_of
from emulator.engine.namespaces import Accounts, Namespace
from emulator.engine.options import TableOptions
from emulator.engine.replicas import Member, Network, RegionsNeeded, Replica, Witness
from emulator.engine.resource import BillingMode, Replaced, Resource, Throughput
from emulator.engine.snapshot import Snapshot, capture, reinstate
from emulator.engine.streams import Stream, StreamRecord
from emulator.engine.table import Index, Table

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
    "Member",
    "Namespace",
    "Network",
    "RegionsNeeded",
    "Replaced",
    "Replica",
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
    "replication",
    "tables_of",
    "transactions",
    "updates",
    "writes",
]
