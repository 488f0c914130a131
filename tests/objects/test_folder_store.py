"""Buckets as folders: what is below them is reached, and nothing else."""

import os

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emulator.objects import StoreFault
from emulator.objects.folder_store import FolderStore


@pytest.fixture
def folder(tmp_path):
    """Return the folder of a store with one bucket; a secret lies beside it."""
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "s3" / "bucket").mkdir(parents=True)
    return tmp_path / "s3"


def fault_of(method, *arguments):
    with pytest.raises(StoreFault) as caught:
        method(*arguments)
    return caught.value.code


def test_what_is_written_is_a_file_and_is_read_again(folder):
    store = FolderStore(folder)
    store.write("bucket", "a/b.json", b"old")
    store.write("bucket", "a/b.json", b"new")
    assert (folder / "bucket" / "a" / "b.json").read_bytes() == b"new"
    assert store.read("bucket", "a/b.json") == b"new"


def test_keys_are_listed_by_prefix_in_the_order_of_their_bytes(folder):
    store = FolderStore(folder)
    for key in ("a/é", "a/z", "a/b/c", "a-b", "b"):
        store.write("bucket", key, b"")
    assert store.keys("bucket") == ["a-b", "a/b/c", "a/z", "a/é", "b"]
    assert store.keys("bucket", "a/") == ["a/b/c", "a/z", "a/é"]
    assert store.keys("bucket", "a/b/") == ["a/b/c"]
    assert store.keys("bucket", "a") == ["a-b", "a/b/c", "a/z", "a/é"]
    assert store.keys("bucket", "none/") == []


def test_a_bucket_is_a_folder_in_the_folder(folder):
    """S3X-1."""
    store = FolderStore(folder)
    (folder / "file").write_bytes(b"")
    (folder / "bucket" / "inner").mkdir()
    for bucket in ("other", "file", "..", ".", "", "bucket/inner", "../s3", str(folder)):
        assert fault_of(store.keys, bucket) == "S3NoSuchBucket"
        assert fault_of(store.write, bucket, "key", b"") == "S3NoSuchBucket"


@pytest.mark.parametrize(
    "key", ["../secret", "/etc/hostname", "a/../../../secret", "nul\0", "", "a/"]
)
def test_a_key_never_leaves_its_bucket(folder, key):
    store = FolderStore(folder)
    assert fault_of(store.read, "bucket", key) == "S3NoSuchKey"
    assert fault_of(store.write, "bucket", key, b"changed") == "S3InternalError"
    assert store.keys("bucket", key) == []
    assert (folder.parent / "secret").read_bytes() == b"secret"


@settings(max_examples=40)
@given(parts=st.lists(st.sampled_from(["..", ".", "", "a", "link", "s3", "\0"]), min_size=1))
@example(parts=["link", "secret"])
def test_no_key_reaches_what_lies_outside(tmp_path_factory, parts):
    top = tmp_path_factory.mktemp("top")
    (top / "secret").write_bytes(b"secret")
    (top / "s3" / "bucket").mkdir(parents=True)
    (top / "s3" / "bucket" / "link").symlink_to(top)
    store = FolderStore(top / "s3")
    key = "/".join(parts)
    for name in (key, f"{key}/secret"):
        with pytest.raises(StoreFault):
            store.read("bucket", name)
        try:
            store.write("bucket", name, b"changed")
        except StoreFault:
            continue
    assert (top / "secret").read_bytes() == b"secret"
    assert sorted(os.listdir(top)) == ["s3", "secret"]
    assert os.listdir(top / "s3") == ["bucket"]


def test_links_are_not_followed(folder):
    (folder / "linked").symlink_to(folder.parent)
    (folder / "bucket" / "up").symlink_to(folder.parent)
    (folder / "bucket" / "file").symlink_to(folder.parent / "secret")
    store = FolderStore(folder)
    assert fault_of(store.keys, "linked") == "S3NoSuchBucket"
    assert store.keys("bucket") == []
    assert store.keys("bucket", "up/") == []
    assert fault_of(store.read, "bucket", "file") == "S3NoSuchKey"
    assert fault_of(store.write, "bucket", "up/made/here", b"") == "S3InternalError"
    assert fault_of(store.write, "bucket", "file", b"") == "S3InternalError"
    assert not (folder.parent / "made").exists()


def test_the_folder_itself_may_be_a_link(folder):
    link = folder.parent / "link"
    link.symlink_to(folder)
    FolderStore(link).write("bucket", "key", b"data")
    assert (folder / "bucket" / "key").read_bytes() == b"data"


def test_what_is_still_being_written_is_no_object(folder):
    (folder / "bucket" / ".data.json.0011aabb.saving").write_bytes(b"half")
    assert FolderStore(folder).keys("bucket") == []


def test_a_key_below_another_one_cannot_be_a_file(folder):
    """S3 allows both; a folder does not, and says so."""
    store = FolderStore(folder)
    store.write("bucket", "a", b"")
    assert fault_of(store.write, "bucket", "a/b", b"") == "S3InternalError"
    assert fault_of(store.write, "bucket", "n" * 300, b"") == "S3InternalError"
    assert fault_of(store.read, "bucket", "a/b") == "S3NoSuchKey"


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_what_may_not_be_read_is_denied(folder):
    (folder / "bucket" / "key").touch(mode=0)
    assert fault_of(FolderStore(folder).read, "bucket", "key") == "S3AccessDenied"


def test_a_refusal_of_the_disk_has_its_code(folder, monkeypatch):
    def refuse(*_arguments):
        raise PermissionError(13, "Permission denied")

    store = FolderStore(folder)
    store.write("bucket", "key", b"")
    monkeypatch.setattr("emulator.objects.folder_store.replace_file", refuse)
    assert fault_of(store.write, "bucket", "key", b"") == "S3AccessDenied"
    monkeypatch.setattr("builtins.open", refuse)
    assert fault_of(store.read, "bucket", "key") == "S3AccessDenied"
