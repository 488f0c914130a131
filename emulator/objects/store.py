"""The methods of a store of objects, and how its faults are described (S3X-1)."""

from __future__ import annotations

from typing import Final, Protocol

NO_SUCH_BUCKET: Final = "S3NoSuchBucket"
NO_SUCH_KEY: Final = "S3NoSuchKey"
ACCESS_DENIED: Final = "S3AccessDenied"
#: Assumed: the code of all faults that have no code of their own.
OTHER_FAULT: Final = "S3InternalError"

_MISSING_BUCKET: Final = (
    "The specified bucket does not exist (Service: Amazon S3; Status Code: 404; "
    "Error Code: NoSuchBucket): {bucket}"
)
_MISSING_KEY: Final = (
    "The specified key does not exist (Service: Amazon S3; Status Code: 404; "
    "Error Code: NoSuchKey): {key}"
)


class StoreFault(Exception):
    """An object cannot be listed, read or written.

    Attributes:
        code: The FailureCode of a job that meets it.
        message: Its FailureMessage.

    >>> no_such_bucket("logs").code
    'S3NoSuchBucket'
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def no_such_bucket(bucket: str) -> StoreFault:
    """Return the fault of a bucket that is not there."""
    return StoreFault(NO_SUCH_BUCKET, _MISSING_BUCKET.format(bucket=bucket))


def no_such_key(key: str) -> StoreFault:
    """Return the fault of an object that is not there."""
    return StoreFault(NO_SUCH_KEY, _MISSING_KEY.format(key=key))


class ObjectStore(Protocol):
    """Buckets of objects; every method raises ``StoreFault`` and nothing else."""

    def keys(self, bucket: str, prefix: str = "") -> list[str]:
        """Return the keys that begin with a prefix, in the order of their UTF-8 bytes."""
        ...

    def read(self, bucket: str, key: str) -> bytes:
        """Return the content of an object."""
        ...

    def write(self, bucket: str, key: str, data: bytes) -> None:
        """Store an object, whole or not at all; one that has the key is replaced."""
        ...
