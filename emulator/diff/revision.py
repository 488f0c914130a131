"""A path as it was in another revision of its git repository."""

from __future__ import annotations

import io
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from emulator.service.errors import DocumentError

NO_GIT: Final = "--base needs git, which is not installed"
NOT_KNOWN: Final = "--base {revision}: git cannot read it: {reason}"
_REVISION_FORM: Final = "--base {revision}: expected a branch, tag or commit"


@contextmanager
def at_revision(path: Path, revision: str) -> Iterator[Path]:
    """Yield the file or folder as it was; an empty folder if it was not there.

    Raises:
        DocumentError: It lies in no repository, or the revision is not known.
    """
    if revision.startswith("-"):
        raise DocumentError(_REVISION_FORM.format(revision=revision))
    full = path.resolve()
    folder = full if full.is_dir() else full.parent
    top = Path(_git(folder, revision, "rev-parse", "--show-toplevel").decode().strip())
    prefix = folder.relative_to(top.resolve()).as_posix()
    prefix = "" if prefix == "." else prefix
    name = prefix if full.is_dir() else f"{prefix}/{full.name}".lstrip("/")
    begun = revision != "HEAD" or _git(top, revision, "rev-list", "-n", "1", "--all")
    # Before the first commit there was nothing.
    within = ["--", name] if name else []
    listed = _git(top, revision, "ls-tree", revision, *within) if begun else b""
    with TemporaryDirectory() as directory:
        if not listed.strip():
            yield Path(directory)
            return
        names = [] if full.is_dir() else ["--", full.name]
        archive = _git(top, revision, "archive", "--format=tar", f"{revision}:{prefix}", *names)
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(directory, filter="data")
        yield Path(directory) if full.is_dir() else Path(directory, full.name)


def _git(folder: Path, revision: str, *words: str) -> bytes:
    try:
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, check=False)
    except FileNotFoundError as missing:
        raise DocumentError(NO_GIT) from missing
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"]
        raise DocumentError(NOT_KNOWN.format(revision=revision, reason=lines[0]))
    return done.stdout
