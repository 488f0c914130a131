"""Sources: a design or workload that an agent hands over, as text or as a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from emulator.designs.files import design_files
from emulator.files import reading_below
from emulator.service.errors import DocumentError

#: The longest text, or largest file, that is read.
MOST_BYTES: Final = 1_000_000
#: Of a folder: files that could be designs, and their bytes together.
MOST_FILES: Final = 2_000
MOST_FOLDER_BYTES: Final = 10_000_000

_SUFFIXES: Final = {
    "terraform": ".tf",
    "cloudformation": ".yaml",
    "json": ".json",
    "lab": ".yaml",
}
FORMATS: Final = ("auto", *_SUFFIXES)

NOT_ONE: Final = "give exactly one of text and path"
OUTSIDE: Final = "{path} is not below the folder that this server reads, {folder}"
TOO_WIDE: Final = (
    "{path}: a folder has at most {files:,} files and {most:,} bytes that could be designs: name "
    "one below it"
)
TOO_LARGE: Final = "a source has at most {most:,} bytes, this one {size:,}"
NO_FORMAT: Final = "format is one of {formats}, not {format!r}"


@contextmanager
def source_file(text: str | None, path: str | None, format_: str, folder: Path) -> Iterator[Path]:
    """Yield the file that a source is, or a temporary one with its text.

    Args:
        text: The source itself.
        path: Or its file or directory, below ``folder``.
        format_: The format of the text; ``auto`` looks at how it begins.
        folder: The folder that may be read.

    Raises:
        DocumentError: The source cannot be used.
    """
    if (text is None) == (path is None):
        raise DocumentError(NOT_ONE)
    if format_ not in FORMATS:
        raise DocumentError(NO_FORMAT.format(formats=", ".join(FORMATS), format=format_))
    if path is not None:
        file = _below(path, folder)
        with reading_below(folder):
            yield file
        return
    assert text is not None
    _check_size(len(text.encode()))
    suffix = _suffix_of(text) if format_ == "auto" else _SUFFIXES[format_]
    with TemporaryDirectory() as directory:
        file = Path(directory, f"text{suffix}")
        file.write_text(text, encoding="utf-8")
        try:
            with reading_below(folder, Path(directory)):
                yield file
        except DocumentError as error:  # the caller knows of a text, not of our file
            raise DocumentError(str(error).replace(str(file), "text")) from error


def _below(path: str, folder: Path) -> Path:
    root = folder.resolve()
    try:
        file = (root / path).resolve()
        exists = file.exists()
    except (OSError, ValueError) as error:  # too long, or with a character that no name has
        raise DocumentError(f"{path}: cannot be read: {error}") from error
    if not file.is_relative_to(root):
        raise DocumentError(OUTSIDE.format(path=path, folder=root))
    if not exists:
        raise DocumentError(f"{path}: cannot be read: No such file or directory")
    if file.is_dir():
        _check_folder(path, file)
    else:
        _check_size(file.stat().st_size)
    return file


def _check_folder(path: str, folder: Path) -> None:
    """Refuse a folder that takes long to look through, or has many designs."""
    size = 0
    for number, member in enumerate(design_files(folder)):
        size += member.stat().st_size
        if number >= MOST_FILES or size > MOST_FOLDER_BYTES:
            raise DocumentError(
                TOO_WIDE.format(path=path, files=MOST_FILES, most=MOST_FOLDER_BYTES)
            )


def _check_size(size: int) -> None:
    if size > MOST_BYTES:
        raise DocumentError(TOO_LARGE.format(most=MOST_BYTES, size=size))


def _suffix_of(text: str) -> str:
    """Return the file suffix that a text looks like.

    >>> _suffix_of('{"Table": {}}'), _suffix_of('resource "aws_dynamodb_table" "t" {}')
    ('.json', '.tf')
    """
    beginning = text.lstrip()
    if beginning.startswith(("{", "[")):
        return ".json"
    is_terraform = 'resource "' in text or 'module "' in text
    return ".tf" if is_terraform else ".yaml"
