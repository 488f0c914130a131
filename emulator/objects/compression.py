"""The lines of an object, as plain text or out of gzip.

Zstandard and Amazon Ion are not read: both need a library that this package does not depend on. A
job that asks for one of them ends FAILED, and says so (S3X-21).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final

_CHUNK_BYTES: Final = 1 << 20
#: Makes zlib expect gzip's header and checksum.
_GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS


class DamagedObject(Exception):
    """An object that cannot be read from here on; what came before it can."""


def lines_of(data: bytes, compression: str) -> Iterator[bytes]:
    r"""Yield the lines of an object without their ends, as far as it can be read.

    Args:
        data: The object's content.
        compression: The compression that the request names: ``NONE`` or ``GZIP``.

    Raises:
        DamagedObject: it is not what it should be, at its beginning or later.

    >>> list(lines_of(b"one\r\ntwo", "NONE"))
    [b'one', b'two']
    """
    rest = b""
    for chunk in _gunzipped(data) if data and compression == "GZIP" else (data,):
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.removesuffix(b"\r")
    if rest:
        yield rest.removesuffix(b"\r")


def _gunzipped(data: bytes) -> Iterator[bytes]:
    """Yield the content of a gzip file, member after member."""
    while True:
        reader = zlib.decompressobj(_GZIP_WINDOW)
        try:
            while data:
                yield reader.decompress(data, _CHUNK_BYTES)
                data = reader.unconsumed_tail
            yield reader.flush()
        except zlib.error as error:
            raise DamagedObject(f"Not in GZIP format: {error}") from error
        if not reader.eof:
            raise DamagedObject("Unexpected end of ZLIB input stream")
        data = reader.unused_data
        if not data:
            return
