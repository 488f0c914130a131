"""Files are replaced whole or not at all, and nothing is left beside them."""

import errno
import os
import stat
import threading

import pytest

from emulator import files


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "data.snapshot"
    path.write_bytes(b"old")
    return path


def test_a_link_stays_a_link(path, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(path)
    files.replace_file(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"


def test_a_link_to_nothing_is_filled(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    files.replace_file(link, b"new")
    assert (tmp_path / "target").read_bytes() == b"new"


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o664])
def test_permissions_are_kept(path, mode):
    path.chmod(mode)
    files.replace_file(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path):
    files.replace_file(tmp_path / "ours", b"new")
    (tmp_path / "any").write_bytes(b"new")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "any").stat().st_mode


def test_what_killed_saves_left_behind_is_removed(path, tmp_path):
    orphan = tmp_path / ".data.snapshot.0badcafe.saving"
    others = [tmp_path / ".other.0badcafe.saving", tmp_path / ".data.snapshot.mine"]
    for left in (orphan, *others):
        left.write_bytes(b"half")
    files.replace_file(path, b"new")
    assert set(tmp_path.iterdir()) == {path, *others}


def test_another_save_that_is_under_way_is_left_alone(path, tmp_path, monkeypatch):
    """Two processes may save to one file: the last one wins, and none of them fails."""
    begun, over = threading.Event(), threading.Event()
    fsync = os.fsync

    def slow(handle):
        if threading.current_thread() is thread:
            begun.set()
            over.wait(10)
        fsync(handle)

    monkeypatch.setattr(os, "fsync", slow)
    thread = threading.Thread(target=files.replace_file, args=(path, b"first"))
    thread.start()
    begun.wait()
    files.replace_file(path, b"second")
    assert path.read_bytes() == b"second"
    over.set()
    thread.join()
    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]


def test_the_disk_knows_of_the_new_name(path, monkeypatch):
    """The file is synced before it is renamed, its folder after."""
    steps = []
    fsync, replace = os.fsync, files.Path.replace

    def noted_sync(handle):
        steps.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    def noted_replace(self, target):
        steps.append("rename")
        replace(self, target)

    monkeypatch.setattr(os, "fsync", noted_sync)
    monkeypatch.setattr(files.Path, "replace", noted_replace)
    files.replace_file(path, b"new")
    assert steps == ["file", "rename", "folder"]


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_step_that_fails_leaves_the_old_file_alone(path, tmp_path, monkeypatch, step):
    def fails(*_):
        raise OSError("no space left")

    if step == "fsync":
        monkeypatch.setattr(os, "fsync", fails)
    elif step == "replace":
        monkeypatch.setattr(files.Path, "replace", fails)
    with pytest.raises((OSError, TypeError)):
        files.replace_file(path, None if step == "write" else b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_names_the_path_that_was_given_and_the_reason(tmp_path, monkeypatch):
    """Neither the name of the temporary file nor none, as when the disk is full."""
    missing = tmp_path / "none" / "saved"
    with pytest.raises(FileNotFoundError) as failure:
        files.replace_file(missing, b"new")
    assert str(failure.value) == f"[Errno 2] No such file or directory: '{missing}'"

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OSError, match=r"^.Errno 28. No space left on device: 'saved'$"):
        files.replace_file("saved", b"new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_only_a_file_is_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for target in (pipe, tmp_path):
        with pytest.raises(OSError, match="not a regular file"):
            files.replace_file(target, b"new")
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_sweep_that_wins_the_race_is_no_harm(path, tmp_path, monkeypatch):
    """A temporary file may be swept between being made and being locked: then another is made."""
    claim = files._claim
    swept = []

    def late(handle, temporary):
        if not swept:
            swept.append(temporary)
            temporary.unlink()
        return claim(handle, temporary)

    monkeypatch.setattr(files, "_claim", late)
    files.replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]
