"""What clients do with batches, and when they begin another call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from emulator.lab.aggregate.admission import Crowd, RowBehaviour
from emulator.lab.aggregate.call_rows import CallRows
from emulator.lab.aggregate.retry_times import RetryTimes
from emulator.lab.inputs.clients import BatchRetry
from emulator.lab.inputs.distributions import Floats


class ClientBehaviour:
    """What the clients of all worlds do, as the last second with refusals has shown it.

    Args:
        batch_retry: What becomes of the unprocessed items of a batch (CAP2-9).
        rows: Whose calls.
        retry_times: Of each pattern.
        worlds: How many.
    """

    def __init__(
        self,
        batch_retry: BatchRetry,
        rows: CallRows,
        retry_times: Sequence[RetryTimes],
        worlds: int,
    ) -> None:
        items = np.asarray([float(own.model.per_request) for own in rows.patterns])
        is_batch = items > 1
        self._items = items
        self._is_cut = is_batch & (batch_retry == "none")
        self._resent: Floats = np.where(is_batch & (batch_retry == "backoff"), 1.0, 0.0)
        attempts = max(len(own.waits) for own in retry_times) + 1
        self._restarted = np.zeros((attempts, len(items)))
        if batch_retry == "requeue":
            for number, own in enumerate(retry_times):
                self._restarted[: len(own.still_waiting), number] = own.still_waiting
        #: Items of a batch that is sent: those of one that is sent again are the fewer, the more
        #: often it was.
        self._sizes = items if batch_retry == "none" else (2 * items + 1) / 3
        #: By world, the share of calls that begin when another one ends.
        self._queued = np.zeros(worlds)
        #: By world, how uneven the gaps between calls are.
        self._unevenness = np.ones(worlds)

    def of(self, crowd: Crowd) -> RowBehaviour:
        """Return the behaviour of a crowd's rows."""
        patterns = crowd.patterns
        return RowBehaviour(
            self._queued[crowd.worlds],
            self._unevenness[crowd.worlds],
            self._sizes[patterns],
            self._is_cut[patterns],
            self._resent[patterns],
            self._restarted[:, patterns],
        )

    def note(self, queued: Floats, unevenness: Floats) -> None:
        """Note by world who begins when another ends, and how uneven gaps between calls are."""
        self._queued = queued
        self._unevenness = unevenness
