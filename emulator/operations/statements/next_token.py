"""NextToken: where a SELECT goes on, bound to the statement that it came from. Rule PQL-17.

Observed: another emulator's capture of eu-west-1, September 2026: text and parameters of the
statement are bound, Limit and ConsistentRead are not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from emulator.model import Item, wire
from emulator.operations.tokens import open_token, seal
from emulator.service.errors import ApiError, ValidationException

INVALID_TOKEN: Final = "Invalid NextToken"
OTHER_REQUEST: Final = "NextToken does not match request"


class Start(NamedTuple):
    """Where to go on: in which of the statement's ranges, and behind which key."""

    number: int
    key: Item


def next_token(request: Mapping[str, Any], number: int, key: wire.WireItem) -> str:
    """Return the token that goes on behind a key."""
    return seal(_binding(request), str(number), json.dumps(key))


def load_next_token(request: Mapping[str, Any]) -> Start | None:
    """Return where a request goes on, or None if it starts.

    Raises:
        ValidationException: the token is none, or belongs to another request.
    """
    written = request.get("NextToken")
    if written is None:
        return None
    try:
        binding, number, key = open_token(written, INVALID_TOKEN)
        start = Start(int(number), wire.load_item(json.loads(key)))
    except (ValueError, AttributeError, RecursionError, ApiError):
        raise ValidationException(INVALID_TOKEN) from None
    if start.number < 0:
        raise ValidationException(INVALID_TOKEN)
    if binding != _binding(request):
        raise ValidationException(OTHER_REQUEST)
    return start


def _binding(request: Mapping[str, Any]) -> str:
    """Return the hash that a token has in common with its request."""
    bound = [request["Statement"], request.get("Parameters")]
    written = json.dumps(bound, sort_keys=True, default=repr)
    return hashlib.sha256(written.encode()).hexdigest()
