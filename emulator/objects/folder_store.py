"""Buckets as folders: ``FOLDER/bucket/a/b.json`` is the object ``a/b.json`` of the bucket.

Callers of the emulator name buckets and keys, so nothing outside of the folder is ever
reached: names with ``.``, ``..`` or empty parts are no files, and symbolic links below the folder
are not followed. A bucket is made by making its folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from emulator.files import TEMPORARY, replace_file
from emulator.objects.store import (
    ACCESS_DENIED,
    OTHER_FAULT,
    StoreFault,
    no_such_bucket,
    no_such_key,
)

NO_FILE_NAME: Final = (
    "The key {key!r} cannot be a file below the folder of its bucket: no part of it may be empty, "
    "'.' or '..', and no folder on its way a link"
)


class FolderStore:
    """A store whose buckets are the sub-folders of one folder.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     os.mkdir(os.path.join(folder, "logs"))
    ...     store = FolderStore(folder)
    ...     store.write("logs", "2026/11.json", b"{}")
    ...     store.keys("logs", "2026/"), store.read("logs", "2026/11.json")
    (['2026/11.json'], b'{}')
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = os.path.realpath(folder)

    def keys(self, bucket: str, prefix: str = "") -> list[str]:
        """Return the keys that begin with a prefix, in the order of their UTF-8 bytes."""
        root = self._bucket(bucket)
        inside = prefix.rpartition("/")[0]
        start = _below(root, inside) if inside else root
        if start is None:
            return []
        keys = (os.path.relpath(path, root).replace(os.sep, "/") for path in _files(start))
        return sorted((key for key in keys if key.startswith(prefix)), key=os.fsencode)

    def read(self, bucket: str, key: str) -> bytes:
        """Return the content of an object."""
        path = _below(self._bucket(bucket), key)
        if path is None or not os.path.isfile(path):
            raise no_such_key(key)
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError as error:
            raise _fault(error) from error

    def write(self, bucket: str, key: str, data: bytes) -> None:
        """Store an object, whole or not at all; one that has the key is replaced."""
        path = _below(self._bucket(bucket), key)
        if path is None:
            raise StoreFault(OTHER_FAULT, NO_FILE_NAME.format(key=key))
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            replace_file(path, data)
        except OSError as error:
            raise _fault(error) from error

    def _bucket(self, bucket: str) -> str:
        root = _below(self._folder, bucket)
        if root is None or "/" in bucket or not os.path.isdir(root):
            raise no_such_bucket(bucket)
        return root


def _below(root: str, name: str) -> str | None:
    """Return the path of a name below a folder, or None if it leads elsewhere."""
    parts = name.split("/")
    if any(part in ("", ".", "..") or "\0" in part or os.sep in part for part in parts):
        return None
    path = os.path.join(root, *parts)
    return path if os.path.realpath(path) == path else None


def _files(start: str) -> Iterator[str]:
    """Yield the path of every file below a folder, but links and what is still being written."""
    for folder, _, names in os.walk(start):
        for name in names:
            path = os.path.join(folder, name)
            is_temporary = name.startswith(".") and name.endswith(TEMPORARY)
            if not is_temporary and not os.path.islink(path):
                yield path


def _fault(error: OSError) -> StoreFault:
    code = ACCESS_DENIED if isinstance(error, PermissionError) else OTHER_FAULT
    return StoreFault(code, f"The object could not be read or written: {error.strerror or error}")
