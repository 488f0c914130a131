"""Items that transactions hold, and the tokens that make a repeat harmless.

Every account asks for both, also those that never see a transaction.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from emulator.capacity import Receipt, units
from emulator.clock import NANOSECONDS
from emulator.service import limits
from emulator.service.errors import (
    IdempotentParameterMismatchException,
    TransactionConflictException,
)

if TYPE_CHECKING:
    from emulator.engine.account import Account
    from emulator.engine.table import Table
    from emulator.engine.transactions import TransactionAction
    from emulator.engine.writes import Planned
    from emulator.storage import Position

CONFLICT: Final = "Transaction is ongoing for the item"
TOKEN_MISMATCH: Final = (
    "Request uses the same client token as a previous, but non-identical request. "
    "Do not reuse a client token with different requests, unless the requests are identical"
)


class Holds:
    """Items that a transaction keeps to itself for a while.

    Operations of the emulator run one after the other, so transactions overlap only where
    ``Settings.transaction_seconds`` says that they take time.
    """

    __slots__ = ("_until",)

    def __init__(self) -> None:
        self._until: dict[tuple[str, Position], int] = {}

    def copy(self) -> Holds:
        """Return an independent record of the same items."""
        twin = Holds()
        twin._until = dict(self._until)
        return twin

    def holds(self, account: Account, table: Table, position: Position) -> bool:
        """Return whether a transaction holds an item now."""
        return self._until.get((table.name, position), 0) > account.now_ns

    def hold(self, account: Account, actions: Sequence[TransactionAction]) -> None:
        """Keep the items of a transaction for the time the settings say."""
        seconds = account.settings.transaction_seconds
        if seconds:
            self._until = {key: at for key, at in self._until.items() if at > account.now_ns}
            for action in actions:
                if action.position is not None:
                    key = (action.table.name, action.position)
                    self._until[key] = account.now_ns + round(seconds * NANOSECONDS)

    @contextmanager
    def held(self, items: Iterable[tuple[str, Position]]) -> Iterator[None]:
        """Keep items for as long as a block runs, as a transaction under way does."""
        kept = self._until
        self._until = kept | dict.fromkeys(items, sys.maxsize)
        try:
            yield
        finally:
            self._until = kept

    def check(self, account: Account, table: Table, position: Position) -> None:
        """Refuse to touch an item that a transaction holds (ERR-TYPE-11)."""
        if self._until and self.holds(account, table, position):
            raise TransactionConflictException(CONFLICT)


class _Token(NamedTuple):
    """The request that a client token stands for."""

    expires_ns: int
    fingerprint: bytes
    receipts: list[tuple[str, Receipt]]


class Tokens:
    """Client tokens of the last ten minutes and what they stand for (TXW-9).

    Keeping one costs the same however many there are: time never runs back, so those that
    expire first lie in front.
    """

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: OrderedDict[str, _Token] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def copy(self) -> Tokens:
        """Return an independent record of the same tokens."""
        twin = Tokens()
        twin._kept = self._kept.copy()
        return twin

    def replay(
        self, token: str | None, fingerprint: bytes, now_ns: int
    ) -> list[tuple[str, Receipt]] | None:
        """Return the receipts of a repeat, or None if this is no repeat.

        Raises:
            IdempotentParameterMismatchException: the token stands for another request.
        """
        kept = self._kept.get(token) if token is not None else None
        if kept is None or kept.expires_ns <= now_ns:
            return None
        if kept.fingerprint != fingerprint:
            raise IdempotentParameterMismatchException(TOKEN_MISMATCH)
        return kept.receipts

    def keep(
        self, token: str | None, fingerprint: bytes, planned: Sequence[Planned], now_ns: int
    ) -> None:
        """Remember a transaction that went through."""
        if token is None:
            return
        self._kept.pop(token, None)  # one that has expired
        while self._kept and next(iter(self._kept.values())).expires_ns <= now_ns:
            self._kept.popitem(last=False)
        images: dict[str, list[tuple[int | None, int | None]]] = {}
        for write, old, new, *_ in planned:
            sizes = (
                None if old is None else old.size_bytes,
                None if new is None else new.size_bytes,
            )
            images.setdefault(write.table.name, []).append(sizes)
        receipts = [
            (name, Receipt(units.READ, units.replay_units(pairs), transactional=True))
            for name, pairs in images.items()
        ]
        expires_ns = now_ns + limits.TOKEN_SECONDS * NANOSECONDS
        self._kept[token] = _Token(expires_ns, fingerprint, receipts)
