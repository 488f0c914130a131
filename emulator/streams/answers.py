"""The answers of functions: how far a batch came (EVS-20 to EVS-23)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

MEMBER: Final = "batchItemFailures"


def first_failed(answer: Any, numbers: Sequence[str]) -> int | None:
    """Return the index of the first record that failed, or None if none has.

    A report that names no record of the batch fails all of it, as one that names its first does.

    >>> numbers = ["100", "101", "102"]
    >>> first_failed({"batchItemFailures": [{"itemIdentifier": "102"}]}, numbers)
    2
    >>> first_failed({"batchItemFailures": [{"itemIdentifier": ""}]}, numbers)
    0
    >>> first_failed({"batchItemFailures": None}, numbers) is None
    True
    """
    if answer is None:
        return None
    if not isinstance(answer, Mapping):
        return 0
    reported = answer.get(MEMBER)
    if reported is None or reported == []:
        return None
    if not isinstance(reported, Sequence) or isinstance(reported, str):
        return 0
    indexes = {number: index for index, number in enumerate(numbers)}
    return min(_index(failure, indexes) for failure in reported)


def _index(failure: Any, indexes: Mapping[str, int]) -> int:
    named = failure.get("itemIdentifier") if isinstance(failure, Mapping) else None
    return indexes.get(named, 0) if isinstance(named, str) else 0


def reports_failures(answer: Any) -> bool:
    """Return whether an answer names failed records, whoever listens.

    >>> reports_failures({"batchItemFailures": [{"itemIdentifier": "1"}]}), reports_failures(None)
    (True, False)
    """
    return isinstance(answer, Mapping) and bool(answer.get(MEMBER))
