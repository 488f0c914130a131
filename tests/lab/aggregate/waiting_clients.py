"""Rows of calls and the queues in front of them, without worlds, tables or partitions."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from emulator.capacity.retries import STANDARD
from emulator.lab import Clients
from emulator.lab.aggregate.client_queues import QueueContext
from emulator.lab.aggregate.retry_times import RetryTimes


class Rows:
    """One row of calls for each world and pattern.

    Args:
        worlds: How many.
        items: By pattern, how many items go in one call.
        limited: By pattern, whether its clients limit their rate.
    """

    def __init__(self, worlds: int, items: tuple[int, ...], limited: tuple[bool, ...]) -> None:
        self.patterns = [
            SimpleNamespace(
                model=SimpleNamespace(
                    pattern=f"pattern {number}",
                    per_request=own,
                    policy=SimpleNamespace(limits_rate=is_limited),
                )
            )
            for number, (own, is_limited) in enumerate(zip(items, limited, strict=True))
        ]
        self.world = np.repeat(np.arange(worlds), len(items))
        self.pattern = np.tile(np.arange(len(items)), worlds)

    def __len__(self) -> int:
        return len(self.world)

    def by_segment(self, calls: Any) -> Any:
        """Return sums by world and pattern: each row is one."""
        return np.asarray(calls, dtype=np.float64).copy()


def context(
    clients: Clients | None = None,
    *,
    worlds: int = 1,
    items: tuple[int, ...] = (1,),
    limited: tuple[bool, ...] | None = None,
    span: tuple[int, int] = (-5, 60),
) -> Any:
    """Return what a queue is made for."""
    clients = clients or Clients(count=1)
    rows: Any = Rows(worlds, items, limited or (True,) * len(items))
    retry_times = [RetryTimes(STANDARD, clients.timeout) for _ in items]
    retries = len(retry_times[0].waits)
    tally: Any = SimpleNamespace(
        never_sent=np.zeros(len(rows)), retried=np.zeros((retries, len(rows)))
    )
    return QueueContext(clients, rows, retry_times, span, list(range(worlds)), tally)


def all_served(_new: Any, _due: Any) -> None:
    """Refuse nothing."""
