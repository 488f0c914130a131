"""Message profiles: how a fault reads under each (PRO-1 to PRO-7).

A rule raises ``RequestFault`` with its wording. Which column of it the client reads, and whether
it stands inside ``1 validation error detected:``, depends on the profile and on the operation's
row in the catalogue, and is decided here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from emulator.operations.shapes import envelope
from emulator.service.catalogue import OLDER, OPERATIONS, MessageProfile
from emulator.service.errors import ApiError, RequestFault, ValidationException

#: JSON nested deeper than this is left to the older layer by those that use the envelope.
#: Observed: the public suite in October 2026: those in 63 maps are, those in 40 not (ERR-UPD-3).
_CURRENT_JSON_LEVELS: Final = 128


def worded(
    fault: RequestFault, operation: str, profile: MessageProfile, request: Mapping[str, Any]
) -> ValidationException:
    """Return the fault as the client of this operation reads it."""
    layer = OPERATIONS[operation].layer(profile)
    if layer.is_enveloped and _is_deeper(request, _CURRENT_JSON_LEVELS):
        layer = OLDER
    text = fault.wording.text(profile, layer.wording)
    if layer.is_enveloped and not fault.is_final:
        text = envelope(text)
    return ValidationException(text)


def name_text(failure: ApiError, operation: str, profile: MessageProfile) -> None:
    """Have the older layer put the text of a failed condition under ``Message`` (WIR-10).

    Observed: LocalStack's recording of 8 October 2025, and moto's verified tests, which found no
    ``message`` beside ``Item`` in 2023 and 2024 and find it since 22 August 2026.
    """
    if "Item" in failure.members and OPERATIONS[operation].layer(profile) == OLDER:
        failure.message_member = "Message"


def _is_deeper(request: Mapping[str, Any], levels: int) -> bool:
    """Return whether a request is nested deeper than ``levels`` levels of JSON.

    It is not followed further: a caller in the same process may have tied it into a ring.

    >>> request = {"Key": {"pk": {"S": "a"}}}
    >>> _is_deeper(request, 2), _is_deeper(request, 3)
    (True, False)
    """
    level: list[Any] = [request]
    for _ in range(levels):
        level = [
            member
            for container in level
            for member in (container.values() if isinstance(container, dict) else container)
            if isinstance(member, (dict, list))
        ]
    return bool(level)
