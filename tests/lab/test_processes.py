"""Processes that study designs: they say how far they are, and end with the one that waits."""

import time

import pytest

from emulator.lab.processes import processes


def half(path, *, progress):
    """Say that half is done, until a file is there."""
    progress("worlds", 1, 2)
    while not path.exists():
        time.sleep(0.001)  # noqa: TID251 - another process waits in real time
    return "done"


def test_a_task_says_how_far_it_is_while_it_works(tmp_path):
    go = tmp_path / "go"
    with processes(1) as pool:
        task = pool.submit(half, go)
        while pool.share_done(task) == 0.0 and not task.done():
            time.sleep(0.001)  # noqa: TID251
        shown = pool.share_done(task)
        go.touch()
        assert task.result() == "done"
    assert shown == 0.5


def test_processes_end_when_the_one_that_waits_is_interrupted(tmp_path):
    tasks = []

    def interrupted():
        with processes(1) as pool:
            tasks.append(pool.submit(half, tmp_path / "never"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not tasks[0].done() or tasks[0].cancelled() or tasks[0].exception() is not None
