"""Retry tokens: the retry quotas of all clients, as one quota in numbers."""

from __future__ import annotations

from collections.abc import Iterable

from emulator.capacity.retries import RetryPolicy, RetryQuota
from emulator.lab.inputs.distributions import Floats


class RetryTokens:
    """What clients may still spend on retries (CAP-708).

    >>> from emulator.capacity.retries import STANDARD
    >>> tokens = RetryTokens(clients=1)
    >>> tokens.affordable([STANDARD])
    1.0
    """

    def __init__(self, clients: int) -> None:
        self._most = float(RetryQuota().tokens * clients)
        self._tokens = self._most
        #: Retries in the last second in which something was refused.
        self._last_retries = 0.0

    def affordable(self, policies: Iterable[RetryPolicy]) -> float:
        """Return the share of retries that the quotas allow."""
        cost = max(policy.cost() for policy in policies)
        if not cost:
            return 1.0
        wanted = self._last_retries * cost
        return 1.0 if wanted <= self._tokens else max(0.0, self._tokens / wanted)

    def begin_second(self) -> None:
        """Count the retries of another second."""
        self._last_retries = 0.0

    def pay(self, policy: RetryPolicy, answered: Floats, waits: float) -> None:
        """Take the tokens of retries that wait, and give back what answers give.

        Args:
            policy: How the calls are retried.
            answered: Calls answered, by number of the attempt.
            waits: Calls that wait for another attempt.
        """
        cost = policy.cost()
        if cost:
            self._last_retries += waits
            self._tokens = max(0.0, self._tokens - waits * cost)
            self.refund(policy, float(answered[0] + answered[1:].sum() * cost))

    def refund(self, policy: RetryPolicy, tokens: float) -> None:
        """Give tokens back, if the policy has a quota."""
        if policy.cost():
            self._tokens = min(self._most, self._tokens + tokens)
