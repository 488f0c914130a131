"""The two message profiles, in one place (PRO-1 to PRO-7).

A rule raises ``RequestFault`` with the current wording and, where it differs, the older one.
Which of them the client reads, and whether it stands inside ``1 validation error detected:``,
depends on the profile and the operation alone, and is decided here.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from emulator.operations.shapes import envelope
from emulator.service.errors import RequestFault, ValidationException
from emulator.settings import MessageProfile


class Layer(NamedTuple):
    """Which request layer answers for an operation."""

    current: bool
    enveloped: bool


_OLDER = Layer(current=False, enveloped=False)
_CURRENT = Layer(current=True, enveloped=False)
_ENVELOPED = Layer(current=True, enveloped=True)

# Observed: the public suite in October 2026, us-east-1 (PRO-2).
_LAYERS_2026_10: Final = {
    "PutItem": _ENVELOPED,
    "UpdateItem": _ENVELOPED,
    "DeleteItem": _ENVELOPED,
    "GetItem": _CURRENT,
    "BatchGetItem": _CURRENT,
    "Query": _CURRENT,
    # Observed: live control-plane probes, October 2026 (ERR-UT-2).
    "UpdateTable": _CURRENT,
}


def layer(operation: str, profile: MessageProfile) -> Layer:
    """Return the layer that answers an operation's faults under a profile.

    >>> layer("PutItem", "2026-10").enveloped, layer("PutItem", "classic").enveloped
    (True, False)
    """
    if profile == "classic":
        return _OLDER
    return _LAYERS_2026_10.get(operation, _OLDER)


def worded(fault: RequestFault, operation: str, profile: MessageProfile) -> ValidationException:
    """Return the fault as the client of this operation reads it."""
    chosen = layer(operation, profile)
    text = fault.message if chosen.current else fault.older
    assert text is not None, "a RequestFault has a message"
    if chosen.enveloped and not fault.wrapped:
        text = envelope(text)
    return ValidationException(text)
