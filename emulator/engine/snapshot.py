"""Snapshots: the state of every namespace at one moment, shared until written.

Taking one and going back to it cost a few microseconds a table, whatever the tables hold. A
snapshot has tables, items, indexes, streams, partitions, tokens, backups and the items that
transactions hold; what was observed (metrics, traffic, insights, receipts) is not state and starts
empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.engine.propagation import has_backlog

if TYPE_CHECKING:
    from emulator.engine.account import Account
    from emulator.engine.namespaces import Namespace


class Snapshot(NamedTuple):
    """The result of ``Emulator.snapshot``; opaque, never changed, usable any number of times."""

    states: Mapping[Namespace, Mapping[str, Any]]

    @property
    def regions(self) -> dict[str, Mapping[str, Any]]:
        """The contents that every access key sees, by region."""
        return {
            namespace.region: state
            for namespace, state in self.states.items()
            if namespace.access_key is None
        }


def capture(account: Account) -> dict[str, Any]:
    """Return the account's state, independent of what happens next."""
    tables = {name: table.copy() for name, table in account.tables.items()}
    live = {table.stream.arn: table.stream for table in tables.values() if table.stream}
    return {
        "tables": tables,
        "streams": {
            arn: live.get(arn) or stream.share() for arn, stream in account.streams.items()
        },
        "tokens": account.tokens.copy(),
        "holds": account.holds.copy(),
        "archive": account.archive.copy(),
        "ids_made": account.ids_made,
    }


def reinstate(account: Account, state: Mapping[str, Any]) -> None:
    """Put an account back into a captured state, which stays as it is."""
    tables = {name: table.copy() for name, table in state["tables"].items()}
    live = {table.stream.arn: table.stream for table in tables.values() if table.stream}
    account.tables = tables
    account.streams = {
        arn: live.get(arn) or stream.share() for arn, stream in state["streams"].items()
    }
    account.tokens = state["tokens"].copy()
    account.holds = state["holds"].copy()
    account.archive = state["archive"].copy()
    account.ids_made = max(account.ids_made, state["ids_made"])
    account.has_backlog = has_backlog(account)
    account.network.note(account)
    account.begin_observing()
