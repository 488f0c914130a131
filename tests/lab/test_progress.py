"""Progress: a bar for those who look, silence for those who do not."""

import pytest

from emulator.lab import progress
from emulator.lab.progress import shown_progress
from tests.lab.report.test_text import Stream


@pytest.mark.parametrize("installed", [True, False], ids=["rich", "plain"])
def test_a_terminal_is_told_what_is_done_and_left_clean(monkeypatch, installed):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(progress, "find_spec", lambda _name: installed or None)
    stream = Stream(terminal=True)
    with shown_progress(stream) as tell:
        tell("hour key: running", 5, 10)
        tell("hour key: searching headroom", 0, 1)
    shown = stream.getvalue()
    assert "hour key: searching headroom" in shown
    assert not shown.endswith("\n")


def test_the_plain_line_says_how_much_is_done(monkeypatch):
    monkeypatch.setattr(progress, "find_spec", lambda _name: None)
    stream = Stream(terminal=True)
    with shown_progress(stream) as tell:
        tell("running", 1, 4)
    assert stream.getvalue().startswith("\rrunning 25% ")


def test_a_pipe_is_not_told():
    stream = Stream()
    with shown_progress(stream) as tell:
        assert tell is None
    assert stream.getvalue() == ""
