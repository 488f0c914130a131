"""Members and operations not served: they are mentioned, never dropped in silence (WIR-15, OTH-20).

A member that has no effect warns once, by name and page, or is refused, as
``Settings(unknown_members=...)`` says. The warning is a Python warning that a filter may hide
and none turns into an error: a suite that runs with ``-W error`` and asks what the service would
serve still passes, and pytest lists the warning at its end.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Final

from emulator.engine import Account
from emulator.service.catalogue import UNSERVED_MEMBERS, UNSERVED_OPERATIONS
from emulator.service.errors import (
    UnknownOperationException,
    UnservedMemberWarning,
    ValidationException,
)

KNOWN: Final = "{operation}: {member} has no effect in this emulator: see docs/{page}"
UNKNOWN: Final = (
    "{operation}: {member} is no member that this emulator knows, and has no effect: see "
    "docs/reference/operations.md"
)
#: A client that invents one name after the other fills neither memory nor log.
MOST_MENTIONS: Final = 256
_SHOWN_CHARACTERS: Final = 255
NOT_SERVED: Final = "{operation} is not served by this emulator: see docs/{page}"
NO_OPERATION: Final = "{operation} is no operation that this emulator knows"


def mention(account: Account, operation: str, members: Sequence[str]) -> None:
    """Say which members of a request have no effect.

    Raises:
        ValidationException: the settings refuse them.
    """
    for member in members:
        part = UNSERVED_MEMBERS.get((operation, member))
        template = UNKNOWN if part is None else KNOWN
        page = "" if part is None else part.page
        shown = member[:_SHOWN_CHARACTERS]
        text = template.format(operation=operation, member=shown, page=page)
        if account.settings.unknown_members == "refuse":
            raise ValidationException(text)
        warn_once(account, text)


def warn_once(account: Account, text: str) -> None:
    """Warn of something without effect, once for each account."""
    if text in account.mentioned or len(account.mentioned) >= MOST_MENTIONS:
        return
    account.mentioned.add(text)
    try:
        warnings.warn(text, UnservedMemberWarning, stacklevel=2)
    except UnservedMemberWarning:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UnservedMemberWarning)
            warnings.warn(text, UnservedMemberWarning, stacklevel=2)


def unknown_operation(operation: str) -> UnknownOperationException:
    """Return the error of an operation that is not served; it names the operation."""
    part = UNSERVED_OPERATIONS.get(operation)
    if part is None:
        return UnknownOperationException(NO_OPERATION.format(operation=operation))
    return UnknownOperationException(NOT_SERVED.format(operation=operation, page=part.page))
