"""Which store ``Settings.s3`` names."""

import re

import pytest

from emulator import Emulator, Settings
from emulator.errors import ApiError, EmulatorError
from emulator.objects import needed_store
from emulator.objects.client_store import ClientStore
from emulator.objects.folder_store import FolderStore


class Client:
    list_objects_v2 = get_object = put_object = None


def test_a_path_is_a_folder_and_a_client_is_asked(tmp_path):
    assert isinstance(needed_store(tmp_path, "ImportTable"), FolderStore)
    assert isinstance(needed_store(str(tmp_path), "ImportTable"), FolderStore)
    assert isinstance(needed_store(Client(), "ImportTable"), ClientStore)
    assert isinstance(needed_store(Client, "ImportTable"), ClientStore)


def test_without_a_store_the_operation_is_refused_in_one_sentence():
    with pytest.raises(ApiError) as caught:
        needed_store(None, "ImportTable")
    assert caught.value.code == "ValidationException"
    assert caught.value.message == (
        "ImportTable moves data, and this emulator has no S3 to move it to or from: give it a "
        "folder with Settings(s3=FOLDER) or dynamometer serve --s3 FOLDER"
    )


def test_a_folder_must_be_there(tmp_path):
    missing = tmp_path / "none"
    with pytest.raises(EmulatorError, match=re.escape(str(missing))):
        Emulator(settings=Settings(s3=missing))
    Emulator(settings=Settings(s3=tmp_path))


def test_anything_else_is_no_store():
    with pytest.raises(TypeError, match=r"Settings\.s3 is a folder"):
        Settings(s3=4)
