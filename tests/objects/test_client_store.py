"""A client's buckets: boto3's shapes in, faults by their codes out."""

import io

import pytest

from emulator.objects import StoreFault
from emulator.objects.client_store import ClientStore


class Refusal(Exception):
    def __init__(self, code):
        super().__init__(f"An error occurred ({code})")
        self.response = {"Error": {"Code": code}}


class Client:
    """The three methods of boto3's S3 client that a store needs; a page has two keys."""

    def __init__(self):
        self.objects = {}

    def put_object(self, **request):
        if request["Bucket"] != "bucket":
            raise Refusal(request["Bucket"])
        self.objects[request["Key"]] = request["Body"]

    def get_object(self, **request):
        if request["Key"] not in self.objects:
            raise Refusal("NoSuchKey")
        return {"Body": io.BytesIO(self.objects[request["Key"]])}

    def list_objects_v2(self, **request):
        keys = sorted(key for key in self.objects if key.startswith(request["Prefix"]))
        later = [key for key in keys if key > request.get("ContinuationToken", "")]
        page = {"Contents": [{"Key": key} for key in later[:2]]} if later else {}
        if len(later) > 2:
            page |= {"IsTruncated": True, "NextContinuationToken": later[1]}
        return page


def test_objects_are_written_read_and_listed_over_pages():
    store = ClientStore(Client())
    keys = ["a/1", "a/2", "a/3", "b"]
    for key in keys:
        store.write("bucket", key, key.encode())
    assert store.keys("bucket") == keys
    assert store.keys("bucket", "a/") == keys[:3]
    assert store.keys("bucket", "none") == []
    assert store.read("bucket", "a/2") == b"a/2"


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
        ClientStore(Client()).write(refused, "key", b"")
    assert caught.value.code == code


def test_a_missing_object_is_named():
    with pytest.raises(StoreFault, match=r"The specified key does not exist.*: a/b") as caught:
        ClientStore(Client()).read("bucket", "a/b")
    assert caught.value.code == "S3NoSuchKey"


def test_whatever_a_client_raises_is_a_fault():
    with pytest.raises(StoreFault, match="no attribute"):
        ClientStore(object()).keys("bucket")
