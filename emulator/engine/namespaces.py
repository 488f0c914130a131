"""Namespaces: whose data it is, where the data of different access keys is kept apart.

A namespace is an access key in a region, and has an account of its own there. What belongs to no
key, because it was loaded from a file or made in this process, is in an account of the region that
every key sees: its tables are found after those of the key's own, and are the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from emulator.locks import Rank, new_lock

if TYPE_CHECKING:
    from emulator.clock import Clock
    from emulator.engine.account import Account, CapacityMode
    from emulator.engine.network import Network

R = TypeVar("R")

#: How the name of what every key sees begins.
EVERY_KEY: Final = "*"
#: Assumed: more regions than are in use at once; beyond that, only those that hold data are kept.
REGIONS_KEPT: Final = 64


class Namespace(NamedTuple):
    """An access key in a region; the key is None for what every key sees.

    >>> str(Namespace("local", "eu-west-1")), str(Namespace(None, "eu-west-1"))
    ('local/eu-west-1', '*/eu-west-1')
    """

    access_key: str | None
    region: str

    def __str__(self) -> str:
        return f"{EVERY_KEY if self.access_key is None else self.access_key}/{self.region}"

    def is_called(self, name: str) -> bool:
        """Return whether a name means it: key and region, or the key for all of its regions."""
        return name in (str(self), str(self).removesuffix(f"/{self.region}"))


class Accounts:
    """The accounts of an emulator, by namespace, in the order in which they were met.

    Made-up keys and regions cost no memory: an account is kept once it holds something. Nothing
    here refers to the emulator, so that what it holds is freed with it, and not when Python next
    looks for cycles.

    Args:
        make: ``Account``, or what takes the same keyword arguments as ``new`` passes to it.
        network: The link between the regions.
        clock: The clock of accounts to come.
        capacity: Their capacity mode.
    """

    def __init__(
        self,
        make: Callable[..., Account],
        *,
        network: Network,
        clock: Clock,
        capacity: CapacityMode,
    ) -> None:
        self._make = make
        self._network = network
        self.clock = clock
        self.capacity = capacity
        self._kept: dict[tuple[str | None, str], Account] = {}
        self._making = new_lock(Rank.ACCOUNTS)
        self.find = self._kept.get

    def __iter__(self) -> Iterator[Account]:
        return iter(list(self._kept.values()))

    def get(self, namespace: Namespace) -> Account:
        """Return the account of a namespace, and keep it from now on."""
        account = self._kept.get(namespace)
        if account is None:
            with self._making:
                account = self._kept.get(namespace) or self._new(namespace)
                self._keep(account)
        return account

    def known(self, namespace: Namespace) -> Account | None:
        """Return the account of a namespace, or None if it can hold nothing that is kept."""
        if namespace in self._kept or Namespace(None, namespace.region) in self._kept:
            return self.get(namespace)
        return None

    def meet(self, namespace: Namespace) -> Account:
        """Return the account of a namespace; only the first regions are kept for being met."""
        if namespace.access_key is None and len(self._kept) < REGIONS_KEPT:
            return self.get(namespace)
        return self._kept.get(namespace) or self._new(namespace)

    def serve(self, namespace: Namespace, serve: Callable[[Account], R]) -> R:
        """Let an account that is not kept yet serve; it is kept if it holds something then.

        Others that are not kept wait meanwhile, so ``serve`` must not let time pass.
        """
        with self._making:
            account = self.meet(namespace)
            try:
                return serve(account)
            finally:
                if not account.is_empty:
                    self._keep(account)

    def set_aside(self, clock: Clock) -> Callable[[], None]:
        """Go on without any account, on another clock; returns how to put all back."""
        kept, kept_clock, kept_capacity = dict(self._kept), self.clock, self.capacity
        self._kept.clear()
        self.clock = clock

        def put_back() -> None:
            self._kept.clear()
            self._kept.update(kept)
            self.clock, self.capacity = kept_clock, kept_capacity

        return put_back

    def forget_empty(self) -> None:
        """Forget the keys that hold nothing any more."""
        for account in self:
            with self._making, account.lock:
                account.forget_deleted()
                if account.namespace.access_key is not None and account.is_empty:
                    self._kept.pop(account.namespace, None)

    def reach_in_turns(self, now_ns: int) -> Iterator[None]:
        """Move every account to a moment, and yield whenever others may be served."""
        self._network.catch_up(now_ns)
        for account in self:
            yield from account.reach_in_turns(now_ns)

    def new(self, namespace: Namespace, common: Account | None = None) -> Account:
        """Return an empty account, which is not kept."""
        return self._make(
            region=namespace.region,
            access_key=namespace.access_key,
            common=common,
            network=self._network,
            clock=self.clock,
            capacity=self.capacity,
        )

    def _new(self, namespace: Namespace) -> Account:
        if namespace.access_key is None:
            return self.new(namespace)
        shared = Namespace(None, namespace.region)
        return self.new(namespace, self._kept.get(shared) or self.new(shared))

    def _keep(self, account: Account) -> None:
        if account.common is not None:
            self._kept.setdefault(account.common.namespace, account.common)
        self._kept[account.namespace] = account
