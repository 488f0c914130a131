"""The two message profiles, in one place (PRO-1 to PRO-7).

A rule raises ``RequestFault`` with the current wording and, where it differs, the older one.
Which of them the client reads, and whether it stands inside ``1 validation error detected:``,
depends on the profile and the operation alone, and is decided here.
"""

from __future__ import annotations

from emulator.operations.shapes import envelope
from emulator.service.catalogue import OPERATIONS
from emulator.service.errors import RequestFault, ValidationException
from emulator.settings import MessageProfile


def worded(fault: RequestFault, operation: str, profile: MessageProfile) -> ValidationException:
    """Return the fault as the client of this operation reads it."""
    layer = OPERATIONS[operation].layer(profile)
    text = fault.message if layer.wording == "current" else fault.older
    assert text is not None, "a RequestFault has a message"
    if layer.is_enveloped and not fault.wrapped:
        text = envelope(text)
    return ValidationException(text)
