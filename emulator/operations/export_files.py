"""The files of an export, as the service lays them out (S3X-6 to S3X-8).

Below ``{prefix/}AWSDynamoDB/{id}/``: a file that says the export has begun, one or more files of
records for every partition, a list of them, a summary, and checksums of both. The records of
incremental exports lie in a folder that all exports share.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from emulator.objects import ObjectStore

FULL_VERSION: Final = "2020-06-30"
INCREMENTAL_VERSION: Final = "2023-08-01"
_FOLDER: Final = "AWSDynamoDB"


class ExportFiles(NamedTuple):
    """Where the files of one export go.

    >>> ExportFiles("bucket", "daily/", "01604474914028-3f2e5aa4").manifest
    'daily/AWSDynamoDB/01604474914028-3f2e5aa4/manifest-summary.json'
    """

    bucket: str
    prefix: str | None
    export_id: str
    is_incremental: bool = False

    @property
    def manifest(self) -> str:
        """The key of the summary, which is written last."""
        return self._key("manifest-summary.json")

    @property
    def manifest_files(self) -> str:
        """The key of the list of data files."""
        return self._key("manifest-files.json")

    def write(
        self,
        store: ObjectStore,
        partitions: Iterable[list[Mapping[str, Any]]],
        summary: Mapping[str, Any],
    ) -> None:
        """Write all files, the summary last.

        Args:
            store: Where they go.
            partitions: The records of each partition.
            summary: The members of the summary.

        Raises:
            StoreFault: a file cannot be written.
        """
        store.write(self.bucket, self._key("_started"), b"")
        listed = [
            self._write_records(store, number, records) for number, records in enumerate(partitions)
        ]
        lines = b"".join(_encoded(line) + b"\n" for line in listed)
        self._write_with_checksum(store, self.manifest_files, lines)
        self._write_with_checksum(store, self.manifest, _encoded(summary))

    def _write_records(
        self, store: ObjectStore, number: int, records: list[Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Write one data file; return its line in the list."""
        packed = gzip.compress(b"".join(_encoded(record) + b"\n" for record in records), 6, mtime=0)
        name = f"{_data_name(f'{self.export_id}/{number}')}.json.gz"
        key = self._joined("data", name) if self.is_incremental else self._key(f"data/{name}")
        store.write(self.bucket, key, packed)
        digest = hashlib.md5(packed, usedforsecurity=False).digest()
        # What S3 gives an object that was uploaded in one part of a multipart upload.
        etag = hashlib.md5(digest, usedforsecurity=False).hexdigest() + "-1"
        return {
            "itemCount": len(records),
            "md5Checksum": base64.b64encode(digest).decode(),
            "etag": etag,
            "dataFileS3Key": key,
        }

    def _write_with_checksum(self, store: ObjectStore, key: str, data: bytes) -> None:
        store.write(self.bucket, key, data)
        digest = hashlib.md5(data, usedforsecurity=False).digest()
        checksum = f"{key.removesuffix('.json')}.md5"
        store.write(self.bucket, checksum, base64.b64encode(digest))

    def _key(self, name: str) -> str:
        return self._joined(self.export_id, name)

    def _joined(self, *names: str) -> str:
        prefix = (self.prefix or "").removesuffix("/")
        return "/".join((*([prefix] if prefix else ()), _FOLDER, *names))


def written_moment(time_ns: int) -> str:
    """Return a moment as manifests write it.

    >>> written_moment(1_604_474_914_028_000_000)
    '2020-11-04T07:28:34.028Z'
    """
    milliseconds = time_ns // 1_000_000
    date = datetime.fromtimestamp(milliseconds // 1000, UTC)
    return f"{date:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03}Z"


def _encoded(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()


def _data_name(seed: str) -> str:
    """Return 26 lower-case letters and digits, the same for the same seed."""
    return base64.b32encode(uuid.uuid5(uuid.NAMESPACE_URL, seed).bytes)[:26].decode().lower()
