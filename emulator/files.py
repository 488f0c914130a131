"""Files: which ones are read, and how one is replaced whole or not at all.

Only regular files are read, because a pipe or a device may never end. In a context that reads below
some folders no file elsewhere is opened or listed, whatever path or link leads to it.

New content is written beside the file, and renamed into its place when the disk has it. A crash
at any byte leaves the old file or the new one, and perhaps a temporary file, which the next save
removes.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import secrets
import stat
from collections.abc import Iterator
from contextvars import ContextVar
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

NOT_REGULAR: Final = "not a regular file"
OUTSIDE: Final = "it is not below the folder that may be read"

#: Without waiting, and without following a link that was put there after it was looked at.
_READING: Final = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_BINARY", "O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK")
)

_FOLDERS: ContextVar[tuple[Path, ...]] = ContextVar("_FOLDERS", default=())


@contextlib.contextmanager
def reading_below(*folders: Path) -> Iterator[None]:
    """Let this context read files below some folders only; links are followed first."""
    token = _FOLDERS.set(tuple(folder.resolve() for folder in folders))
    try:
        yield
    finally:
        _FOLDERS.reset(token)


def open_file(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file for reading; nothing is waited for.

    Raises:
        OSError: there is none, it is a pipe, device or folder, or it may not be read here.
    """
    real = _permitted(path)
    if not stat.S_ISREG(real.stat().st_mode):
        raise OSError(errno.EINVAL, NOT_REGULAR, str(path))
    handle = os.open(real, _READING)
    if not stat.S_ISREG(os.fstat(handle).st_mode):  # another process has put a pipe there
        os.close(handle)
        raise OSError(errno.EINVAL, NOT_REGULAR, str(path))
    return os.fdopen(handle, "rb")


def list_folder(path: Path) -> list[Path]:
    """Return the members of a folder, sorted.

    Raises:
        OSError: it is no folder, or may not be read here.
    """
    _permitted(path)
    return sorted(path.iterdir())


def is_file(path: Path) -> bool:
    """Return whether there is a regular file that may be read here."""
    try:
        return _permitted(path).is_file()
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """Return whether there is a folder that may be read here."""
    try:
        return _permitted(path).is_dir()
    except OSError:
        return False


def _permitted(path: str | os.PathLike[str]) -> Path:
    """Return where a path leads.

    Raises:
        OSError: it leads to where this context does not read.
    """
    real = Path(os.path.realpath(path))
    folders = _FOLDERS.get()
    if folders and not any(real.is_relative_to(folder) for folder in folders):
        raise OSError(errno.EACCES, OUTSIDE, str(path))
    return real


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
        raise OSError(errno.EINVAL, NOT_REGULAR, str(target))
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
