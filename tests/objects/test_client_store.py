"""A client's buckets: boto3's shapes in, faults by their codes out."""

import pytest

from emulator.objects import StoreFault
from emulator.objects.client_store import ClientStore
from tests.objects.memory_s3 import MemoryS3, Refusal


def test_objects_are_written_read_and_listed_over_pages():
    store = ClientStore(MemoryS3("bucket"))
    keys = ["a/1", "a/2", "a/3", "b"]
    for key in keys:
        store.write("bucket", key, key.encode())
    assert store.keys("bucket") == keys
    assert store.keys("bucket", "a/") == keys[:3]
    assert store.keys("bucket", "none") == []
    assert store.read("bucket", "a/2") == b"a/2"


class Refusing:
    """A client whose every answer is a refusal."""

    def __init__(self, code):
        self._code = code

    def list_objects_v2(self, **_request):
        raise Refusal(self._code)


@pytest.mark.parametrize(
    ("refused", "code"),
    [
        ("NoSuchBucket", "S3NoSuchBucket"),
        ("AccessDenied", "S3AccessDenied"),
        ("SlowDown", "S3InternalError"),
    ],
)
def test_faults_have_the_codes_of_failed_jobs(refused, code):
    """S3X-1."""
    with pytest.raises(StoreFault) as caught:
        ClientStore(Refusing(refused)).keys("bucket")
    assert caught.value.code == code


def test_a_missing_object_is_named():
    with pytest.raises(StoreFault, match=r"The specified key does not exist.*: a/b") as caught:
        ClientStore(MemoryS3("bucket")).read("bucket", "a/b")
    assert caught.value.code == "S3NoSuchKey"


def test_whatever_a_client_raises_is_a_fault():
    with pytest.raises(StoreFault, match="no attribute"):
        ClientStore(object()).keys("bucket")
