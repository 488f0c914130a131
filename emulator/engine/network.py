"""What joins the regions of an emulator; most have no global tables, and nothing to join."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from emulator.engine.namespaces import Namespace
from emulator.locks import Rank, new_lock

if TYPE_CHECKING:
    from emulator.engine.account import Account


class RegionsNeeded(Exception):
    """An operation acts in several regions; it begins anew once all their accounts are held.

    Args:
        namespaces: Whose accounts, the own among them.
        if_known: Whether accounts that hold nothing yet are left out, and not made.
    """

    def __init__(self, namespaces: Iterable[Namespace], *, if_known: bool = False) -> None:
        super().__init__("the accounts of several regions must be held")
        self.namespaces = tuple(namespaces)
        self.if_known = if_known


class Network:
    """What joins the regions of an emulator.

    Attributes:
        accounts: The accounts that have replicas, by namespace; empty while there are none.
        lock: Held while an inbox is touched; taken after the locks of accounts.
    """

    def __init__(self) -> None:
        self.accounts: dict[Namespace, Account] = {}
        self.lock = new_lock(Rank.NETWORK)

    def catch_up(self, now_ns: int) -> None:
        """Move all regions that have replicas to a moment."""
        if self.accounts:
            # Loaded with the first global table: most emulators never have one.
            from emulator.engine.replication import catch_up

            catch_up(self, now_ns)

    def note(self, account: Account) -> None:
        """Find out which tables of an account are replicas, after some came or went."""
        account.replicated = {
            name: table for name, table in account.tables.items() if table.replica is not None
        }
        if account.replicated:
            self.accounts[account.namespace] = account
        else:
            self.accounts.pop(account.namespace, None)
