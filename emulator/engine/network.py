"""The link between the regions of an emulator; most have no global tables, and need none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from emulator.engine.namespaces import Namespace
from emulator.locks import Rank, new_lock

if TYPE_CHECKING:
    from emulator.engine.account import Account
    from emulator.engine.replicas import Replica
    from emulator.engine.table import Table
    from emulator.model import Item
    from emulator.storage import Position


class RegionsNeeded(Exception):
    """An operation acts in several regions; it starts over once all their accounts are held.

    Args:
        namespaces: Whose accounts, the own among them.
        if_known: Whether accounts that hold nothing yet are left out, and not made.
    """

    def __init__(self, namespaces: Iterable[Namespace], *, if_known: bool = False) -> None:
        super().__init__("the accounts of several regions must be held")
        self.namespaces = tuple(namespaces)
        self.if_known = if_known


class Regions(Protocol):
    """The questions of an engine about replicas; ``emulator.regions`` answers."""

    def check_write(self, account: Account, replica: Replica, position: Position) -> None:
        """Refuse a write that another region's write of the item has not let through."""

    def send(self, account: Account, table: Table, position: Position, new: Item | None) -> None:
        """Put a write that was made here on its way to the other replicas."""

    def expires_here(self, account: Account, replica: Replica) -> bool:
        """Return whether expired items are deleted by this replica."""

    def deliver(self, account: Account, now_ns: int) -> None:
        """Take in every write of other regions that is due until a moment."""

    def catch_up(self, network: Network, now_ns: int) -> None:
        """Move all regions that have replicas to a moment."""


class Network:
    """The link between the regions of an emulator.

    Args:
        load: Returns what decides about replicas; asked first when there is one.

    Attributes:
        accounts: The accounts that have replicas, by namespace; empty while there are none.
        lock: Held while an inbox is touched; taken after the locks of accounts.
    """

    def __init__(self, load: Callable[[], Regions]) -> None:
        self._load = load
        self.accounts: dict[Namespace, Account] = {}
        self.lock = new_lock(Rank.NETWORK)

    @property
    def regions(self) -> Regions:
        """The part that decides about replicas."""
        return self._load()

    def set_aside(self) -> Callable[[], None]:
        """Go on without any replica; returns how to put all back."""
        kept, self.accounts = self.accounts, {}

        def put_back() -> None:
            self.accounts = kept

        return put_back

    def catch_up(self, now_ns: int) -> None:
        """Move all regions that have replicas to a moment."""
        if self.accounts:
            self.regions.catch_up(self, now_ns)

    def note(self, account: Account) -> None:
        """Find out which tables of an account are replicas, after some came or went."""
        account.replicated = {
            name: table for name, table in account.tables.items() if table.replica is not None
        }
        if account.replicated:
            self.accounts[account.namespace] = account
        else:
            self.accounts.pop(account.namespace, None)
