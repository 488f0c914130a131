"""Progress: a bar for those who look, a line now and then for those who do not."""

import pytest

from emulator.lab import progress
from emulator.lab.progress import shown_progress
from tests.lab.report.test_text import Stream


@pytest.mark.parametrize("installed", [True, False], ids=["rich", "plain"])
def test_a_terminal_is_told_what_is_done_and_left_clean(monkeypatch, installed):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(progress, "find_spec", lambda _name: installed or None)
    stream = Stream(terminal=True)
    with shown_progress(stream) as shown:
        shown.tell("hour key: running", 5, 10)
        shown.tell("hour key: searching headroom", 0, 1)
    written = stream.getvalue()
    assert "hour key: searching headroom" in written
    assert not written.endswith("\n")


def test_the_plain_line_says_how_much_is_done(monkeypatch):
    monkeypatch.setattr(progress, "find_spec", lambda _name: None)
    stream = Stream(terminal=True)
    with shown_progress(stream) as shown:
        shown.tell("running", 1, 4)
    assert stream.getvalue().startswith("\rrunning 25% ")


def test_a_pipe_gets_a_line_every_few_seconds_and_a_short_run_none(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = Stream()
    with shown_progress(stream) as shown:
        for second in range(12):
            now[0] = float(second)
            shown.tell("hour key: worlds", second, 20)
    assert stream.getvalue() == (
        "hour key: worlds 25%, about 15 s left (5 s)\n"
        "hour key: worlds 50%, about 10 s left (10 s)\n"
    )


def test_the_first_verdict_is_announced_once_a_run_takes_seconds(monkeypatch):
    """Also a verdict that came sooner: the whole answer may be a minute away."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = Stream()
    with shown_progress(stream) as shown:
        shown.announce("hour key throttles in all of 20 worlds")
        shown.tell("designs", 0, 2)
        assert stream.getvalue() == ""
        now[0] = 5.0
        shown.tell("designs", 1, 2)
        now[0] = 5.6
        shown.announce("device key throttles in none of 20 worlds")
    assert stream.getvalue() == (
        "hour key throttles in all of 20 worlds\ndevice key throttles in none of 20 worlds\n"
    )
