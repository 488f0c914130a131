"""Message profiles: how a fault reads under each (PRO-1 to PRO-7).

A rule raises ``RequestFault`` with its wording. Which column of it the client reads, and whether
it stands inside ``1 validation error detected:``, depends on the profile and on the operation's
row in the catalogue, and is decided here.
"""

from __future__ import annotations

from emulator.operations.shapes import envelope
from emulator.service.catalogue import OPERATIONS, MessageProfile
from emulator.service.errors import RequestFault, ValidationException


def worded(fault: RequestFault, operation: str, profile: MessageProfile) -> ValidationException:
    """Return the fault as the client of this operation reads it."""
    layer = OPERATIONS[operation].layer(profile)
    text = fault.wording.text(profile, layer.wording)
    if layer.is_enveloped and not fault.is_final:
        text = envelope(text)
    return ValidationException(text)
