"""Buckets of an S3 client: whatever the client reaches is the store.

The client is boto3's, or anything with its three methods. With moto's mock active it reaches moto's
S3 in the same process; with an endpoint, a server. Its errors are recognised by their code
alone, so that nothing of boto3 is needed here.
"""

from __future__ import annotations

from typing import Any

from emulator.objects.store import (
    ACCESS_DENIED,
    OTHER_FAULT,
    StoreFault,
    no_such_bucket,
    no_such_key,
)


class ClientStore:
    """A store that an S3 client reaches."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def keys(self, bucket: str, prefix: str = "") -> list[str]:
        """Return the keys that begin with a prefix, in the order of their UTF-8 bytes."""
        keys: list[str] = []
        request = {"Bucket": bucket, "Prefix": prefix}
        while True:
            page = self._ask("list_objects_v2", request)
            keys += [listed["Key"] for listed in page.get("Contents", ())]
            if not page.get("IsTruncated"):
                return sorted(keys, key=lambda key: key.encode())
            request["ContinuationToken"] = page["NextContinuationToken"]

    def read(self, bucket: str, key: str) -> bytes:
        """Return the content of an object."""
        content: bytes = self._ask("get_object", {"Bucket": bucket, "Key": key})["Body"].read()
        return content

    def write(self, bucket: str, key: str, data: bytes) -> None:
        """Store an object, whole or not at all; one that has the key is replaced."""
        self._ask("put_object", {"Bucket": bucket, "Key": key, "Body": data})

    def _ask(self, method: str, request: dict[str, Any]) -> Any:
        # Whatever a client of others raises, the job that asked ends in a state of its own.
        try:
            return getattr(self._client, method)(**request)
        except Exception as error:
            raise _fault(error, request) from error


def _fault(error: Exception, request: dict[str, Any]) -> StoreFault:
    response = getattr(error, "response", None) or {}
    code = response.get("Error", {}).get("Code", "")
    if code == "NoSuchBucket":
        return no_such_bucket(request["Bucket"])
    if code == "NoSuchKey":
        return no_such_key(request["Key"])
    is_denied = code in ("AccessDenied", "403", "InvalidAccessKeyId", "SignatureDoesNotMatch")
    return StoreFault(ACCESS_DENIED if is_denied else OTHER_FAULT, str(error))
