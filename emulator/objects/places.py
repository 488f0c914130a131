"""Which store ``Settings.s3`` names."""

from __future__ import annotations

import os
from typing import Any, Final

from emulator.objects.client_store import ClientStore
from emulator.objects.folder_store import FolderStore
from emulator.objects.store import ObjectStore
from emulator.service.errors import EmulatorError, ValidationException

NO_FOLDER: Final = (
    "Settings.s3: there is no folder {folder}: make it, and a folder in it for each bucket"
)
NO_STORE: Final = (
    "{operation} moves data, and this emulator has no S3 to move it to or from: give it a folder "
    "with Settings(s3=FOLDER) or dynamometer serve --s3 FOLDER"
)


def open_store(place: Any) -> ObjectStore | None:
    """Return the store that ``Settings.s3`` names, or None if it names none.

    Args:
        place: A folder's path, an S3 client, a function that returns one when it is needed, or
            None.
    """
    if place is None:
        return None
    if isinstance(place, str | os.PathLike):
        return FolderStore(place)
    return ClientStore(place() if callable(place) else place)


def needed_store(place: Any, operation: str) -> ObjectStore:
    """Return the store that an operation cannot do without.

    Raises:
        ValidationException: there is none; the sentence says how to give one (S3X-1).
    """
    store = open_store(place)
    if store is None:
        raise ValidationException(NO_STORE.format(operation=operation))
    return store


def check_place(place: Any) -> None:
    """Refuse a folder that is not there.

    Raises:
        EmulatorError: it is not there.
    """
    if isinstance(place, str | os.PathLike) and not os.path.isdir(place):
        raise EmulatorError(NO_FOLDER.format(folder=os.fspath(place)))
