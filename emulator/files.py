"""Files that are replaced whole or not at all.

The data is written beside the file, and renamed into its place when the disk has it. A crash at any
byte leaves the old file or the new one, and perhaps a temporary file, which the next save removes.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import BinaryIO, Final

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows: a file that is in use cannot be removed there
    fcntl = None

#: How temporary files end; their names begin with a dot and the name of the file they are for.
TEMPORARY: Final = ".saving"


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file, or leave the old one as it was.

    A link stays a link: what it leads to is replaced. The new file has the permissions of the old
    one. What saves that were killed left behind is removed.

    Raises:
        OSError: there is no room, no folder or no permission; the old file is as it was. It names
            the path as it was given.
    """
    try:
        _replace(Path(os.path.realpath(path)), data)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), os.fspath(path)) from error


def _replace(target: Path, data: bytes) -> None:
    mode = _mode(target)
    _sweep(target)
    with _temporary(target) as (file, temporary):
        if mode is not None:
            temporary.chmod(mode)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
        if fcntl is None:
            file.close()  # Windows renames no open file
        temporary.replace(target)
    _sync_folder(target.parent)


def _mode(target: Path) -> int | None:
    """Return the permissions of the file that is replaced, or None for a new one.

    Raises:
        OSError: it is a device, a pipe or a folder.
    """
    try:
        status = target.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(target))
    return stat.S_IMODE(status.st_mode)


@contextlib.contextmanager
def _temporary(target: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """Open a new file beside the target; it is gone afterwards, unless it was renamed."""
    while True:
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}{TEMPORARY}")
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(handle, "wb") as file:
            try:
                if not _claim(file.fileno(), temporary):
                    continue
                yield file, temporary
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
            return


def _claim(handle: int, temporary: Path) -> bool:
    """Lock a temporary file; return False if a sweep removed it before it was locked."""
    if fcntl is None:
        return True
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        return os.path.samestat(os.fstat(handle), temporary.stat())
    except FileNotFoundError:
        return False


def _sweep(target: Path) -> None:
    """Remove temporary files of this target that are not being written; ignore failures."""
    for temporary in target.parent.glob(f".{glob.escape(target.name)}.*{TEMPORARY}"):
        with contextlib.suppress(OSError), temporary.open("rb") as file:
            if fcntl is not None:
                fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            temporary.unlink()


def _sync_folder(folder: Path) -> None:
    """Let the disk know of the new name; some systems cannot sync a folder."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
