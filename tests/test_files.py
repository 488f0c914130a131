"""Files are replaced whole or not at all, and nothing is left beside them."""

import ast
import errno
import os
import stat
import threading
from pathlib import Path

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


# What is read


def test_a_file_is_read_through_a_link(path, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(path)
    with files.open_file(link) as file:
        assert file.read() == b"old"


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path, kind):
    """ICH-6."""
    path = tmp_path / "x.tf"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(os.devnull)
    with pytest.raises(OSError, match="not a regular file") as refusal:
        files.open_file(path)
    assert refusal.value.filename == str(path)


@pytest.fixture
def places(tmp_path):
    """Return a folder that may be read, and one beside it that may not."""
    inside, outside = tmp_path / "inside", tmp_path / "inside-out"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "x.tf").write_text("")
    (inside / "file.tf").symlink_to(outside / "x.tf")
    (inside / "folder").symlink_to(outside)
    return inside, outside


WAYS_OUT = ("../inside-out/x.tf", "file.tf", "folder/x.tf", "folder/none.tf", "/dev/null")


@pytest.mark.parametrize("name", WAYS_OUT)
def test_below_a_folder_no_file_elsewhere_is_opened(places, name):
    """ICH-104: also one that is not there is not below the folder."""
    inside, _ = places
    with files.reading_below(inside):
        with pytest.raises(OSError, match="it is not below the folder that may be read"):
            files.open_file(inside / name)
        assert not files.is_file(inside / name)
        files.open_file(inside / "x.tf").close()
    files.open_file(inside / "file.tf").close()


@pytest.mark.parametrize("name", ["..", "folder", "../none"])
def test_below_a_folder_no_folder_elsewhere_is_listed(places, name):
    """ICH-104."""
    inside, _ = places
    with files.reading_below(inside):
        with pytest.raises(OSError, match="it is not below the folder that may be read"):
            files.list_folder(inside / name)
        assert not files.is_folder(inside / name)
        assert inside / "x.tf" in files.list_folder(inside)


def test_several_folders_may_be_read(places):
    with files.reading_below(*places):
        assert files.is_file(places[0] / "file.tf")
        assert files.is_folder(places[0] / "folder")
        assert not files.is_folder(places[0].parent)


#: Where files are read that a person, an agent or another file names.
READERS = ("designs", "check", "diff", "mcp", "lab/inputs")
OPENING = {"open", "read_bytes", "read_text", "iterdir", "is_file"}
#: What opens and lists through the gate.
GATE = {"documents", "files"}
#: Nothing that is named: the null device, an archive in memory, the nearest pyproject.toml.
OWN = {
    "designs/ignores.py: is_file",
    "diff/revision.py: open",
    "mcp/worker.py: open",
}


def ways_in(source):
    """Yield how a file opens or lists files by itself."""
    for call in ast.walk(ast.parse(source)):
        match call:
            case ast.Call(func=ast.Name(id="open")):
                yield "open"
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name)):
                if name in OPENING and module not in GATE:
                    yield name
            case ast.Call(func=ast.Attribute(attr=name)) if name in OPENING:
                yield name


def test_readers_open_files_through_one_gate():
    """ICH-6, ICH-104."""
    found = {
        f"{path.relative_to('emulator')}: {name}"
        for room in READERS
        for path in Path("emulator", room).rglob("*.py")
        for name in ways_in(path.read_text(encoding="utf-8"))
    }
    assert found == OWN
