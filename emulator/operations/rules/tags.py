"""Rules about tags (TAG-2)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from emulator.service import errors, limits

RESERVED_KEY: Final = "Tag Key cannot be prefixed with aws:, Key: {key}"
INVALID_KEY: Final = "The Tag Key provided is invalid, Key: {key}"
INVALID_VALUE: Final = "The Tag Value provided is invalid, Value: {value}"
DUPLICATE_KEY: Final = "Duplicate Tag Keys provided as input: Duplicate Tag Key found {key}"
TOO_MANY: Final = "Number of Tags exceed the current limit for the provided ResourceArn"

_MOST_KEY: Final = 128
_MOST_VALUE: Final = 256
# Source: Developer Guide, Tagging restrictions: letters, white space, numbers and + - = . _ : /
_ALLOWED: Final = re.compile(r"[\w\s+\-=.:/@]*")


def load_tags(written: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return tags by key, or say what is wrong with them (TAG-2).

    Assumed: the order of these faults, and that characters outside the guide's set are
    invalid.
    """
    tags: dict[str, str] = {}
    for tag in written:
        key, value = tag.get("Key"), tag.get("Value")
        if key is not None and key.startswith("aws:"):
            raise errors.ValidationException(RESERVED_KEY.format(key=key))
        if not key or len(key) > _MOST_KEY or not _ALLOWED.fullmatch(key):
            raise errors.ValidationException(INVALID_KEY.format(key="null" if key is None else key))
        if value is None or len(value) > _MOST_VALUE or not _ALLOWED.fullmatch(value):
            raise errors.ValidationException(
                INVALID_VALUE.format(value="null" if value is None else value)
            )
        if key in tags:
            raise errors.ValidationException(DUPLICATE_KEY.format(key=key))
        tags[key] = value
    tags_are_not_too_many(tags)
    return tags


def tags_are_not_too_many(tags: Mapping[str, str]) -> None:
    """Refuse more than fifty tags on one table (TAG-2)."""
    if len(tags) > limits.TAGS:
        raise errors.ValidationException(TOO_MANY)
