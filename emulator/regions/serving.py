"""How a request is served where there are global tables, or where it acts in several regions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from emulator.engine import Account, Accounts, RegionsNeeded
from emulator.locks import holding

R = TypeVar("R")


def serve(
    accounts: Accounts,
    account: Account,
    answer: Callable[[Account], R],
    needed: RegionsNeeded | None = None,
) -> R:
    """Serve a request once all regions with replicas have come to this moment.

    Args:
        accounts: All that the emulator has.
        account: The account that is asked.
        answer: Answers the request in this account, under its lock.
        needed: The regions that the request has turned out to act in, if it has.
    """
    if needed is None:
        try:
            return _in_one(account, answer)
        except RegionsNeeded as error:
            needed = error
    return _in_several(accounts, account, answer, needed)


def _in_one(account: Account, answer: Callable[[Account], R]) -> R:
    """Serve a request in its own region.

    The network is held throughout, so that strongly consistent writes come one after another.
    """
    network, now_ns = account.network, account.clock.now_ns()
    network.catch_up(now_ns)
    account.reach(now_ns)
    with account.lock, network.lock:
        return answer(account)


def _in_several(
    accounts: Accounts, account: Account, answer: Callable[[Account], R], needed: RegionsNeeded
) -> R:
    """Serve a request that acts in several regions, whose accounts are all held."""
    get = accounts.known if needed.if_known else accounts.get
    others = (name for name in needed.namespaces if name != account.namespace)
    others_held = {name: held for name in others if (held := get(name)) is not None}
    held_accounts = {account.namespace: account, **others_held}
    account.network.catch_up(account.clock.now_ns())
    with holding({account.lock, *(held.lock for held in held_accounts.values())}):
        for held in held_accounts.values():
            held.reach(account.clock.now_ns())
        account.held = held_accounts
        try:
            return answer(account)
        finally:
            account.held = {}
