"""The one way in, for every front end: ``Emulator.call("PutItem", {...}) -> {...}``."""

from __future__ import annotations

from typing import Any

from emulator.clock import Clock, ManualClock, SystemClock
from emulator.engine.account import Account, CapacityMode
from emulator.engine.events import Events
from emulator.engine.faults import Faults
from emulator.errors import ApiError
from emulator.operations import run
from emulator.settings import Settings

_MODES = ("off", "observe", "enforce")


class Emulator:
    """An in-memory DynamoDB: one account, any number of regions.

    Args:
        clock: Where time comes from; real time by default, a ``ManualClock`` for virtual.
        capacity: ``"off"`` reports units and admits everything; ``"observe"`` also records
            what would have throttled; ``"enforce"`` refuses as the service would.
        region: The region of calls that name none.
        account_id: The account that owns every table.
        settings: The adjustable constants.

    >>> emu = Emulator()
    >>> emu.call("ListTables", {})
    {'TableNames': []}
    """

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        capacity: CapacityMode = "observe",
        region: str = "us-east-1",
        account_id: str = "000000000000",
        settings: Settings | None = None,
    ) -> None:
        if capacity not in _MODES:
            raise ValueError(f"capacity must be one of {', '.join(_MODES)}, not {capacity!r}")
        self.clock: Clock = SystemClock() if clock is None else clock
        self.capacity: CapacityMode = capacity
        self.region = region
        self.account_id = account_id
        self.settings = Settings() if settings is None else settings
        self.events = Events()
        self.faults = Faults()
        self._accounts: dict[str, Account] = {}
        if isinstance(self.clock, ManualClock):
            self.clock.subscribe(self._catch_up)

    def call(
        self, operation: str, request: dict[str, Any], *, region: str | None = None
    ) -> dict[str, Any]:
        """Serve one request in wire form.

        Args:
            operation: The operation's name, such as ``"PutItem"``.
            request: Its parameters; binary values are base64 text or bytes.
            region: The region, if not the emulator's own.

        Raises:
            ApiError: what the service would answer; nothing has changed then.
        """
        account = self.account(region)
        with account.lock:
            account.begin(operation)
            try:
                if self.faults.rules:
                    self.faults.strike(operation, request, self.clock, account.arn("table/*"))
                answer = run(account, operation, request)
            except ApiError as error:
                account.end(error.code)
                raise
            account.end()
            return answer

    def account(self, region: str | None = None) -> Account:
        """Return the account's part in a region; tables of different regions are apart."""
        name = region or self.region
        account = self._accounts.get(name)
        if account is None:
            account = self._accounts.setdefault(
                name,
                Account(
                    clock=self.clock,
                    settings=self.settings,
                    capacity=self.capacity,
                    region=name,
                    account_id=self.account_id,
                    events=self.events,
                    faults=self.faults,
                ),
            )
        return account

    def _catch_up(self, now_ns: int) -> None:
        for account in list(self._accounts.values()):
            with account.lock:
                account.catch_up(now_ns)
