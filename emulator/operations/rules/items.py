"""Rules about items: how large, how deep."""

from __future__ import annotations

from typing import Final

from emulator.model import (
    ITEM_TOO_LARGE,
    UPDATE_TOO_LARGE,
    Item,
    check_name,
    first_repeat,
    wire,
)
from emulator.service import errors, limits

RETURN_VALUES: Final = "ReturnValues can only be ALL_OLD or NONE"
DUPLICATE_NAME: Final = wire.INVALID + "Duplicate value in attribute name: {name}"


def item_fits(item: Item) -> None:
    """Refuse an item beyond 400 KB or 32 levels (SIZ-3, TYP-5)."""
    if item.size_bytes > limits.ITEM_BYTES:
        raise errors.ValidationException(ITEM_TOO_LARGE)
    wire.check_levels(item.levels)


def updated_item_fits(item: Item, request_bytes: int = 0) -> None:
    """Refuse an update that makes an item too large or too deep (SIZ-5, UPD-21).

    Observed: the public suite in October 2026 (of a transaction), another emulator's capture of
    eu-west-2 (of PartiQL): the words for too deep. Assumed: that UpdateItem uses the same.
    """
    if max(item.size_bytes, request_bytes) > limits.ITEM_BYTES:
        raise errors.ValidationException(UPDATE_TOO_LARGE)
    if item.levels > limits.NESTING_LEVELS:
        raise errors.ValidationException(wire.TOO_NESTED)


def old_item_at_most(return_values: str | None) -> None:
    """Refuse ReturnValues that only an update can give (PUT-3)."""
    if return_values not in (None, "NONE", "ALL_OLD"):
        raise errors.RequestFault(RETURN_VALUES)


def names_are_distinct(names: list[str] | None) -> None:
    """Refuse a bad name in AttributesToGet (TYP-6), and one that comes twice (PRJ-5)."""
    if names is None:
        return
    for name in names:
        check_name(name)
    repeat = first_repeat(names)
    if repeat is not None:
        raise errors.ValidationException(DUPLICATE_NAME.format(name=names[repeat]))
