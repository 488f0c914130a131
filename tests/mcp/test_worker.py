"""The process that runs tools: bounded whatever it is asked, and started anew after that."""

import json
from io import StringIO

import pytest

from emulator.lab import DocumentError
from emulator.mcp import worker
from emulator.mcp.tools import Tools
from emulator.mcp.worker import MOST_TEXT, Worker, serve
from tests.mcp.test_tools import TABLE


def answers_to(tmp_path, *calls):
    lines, answers = StringIO("".join(f"{json.dumps(call)}\n" for call in calls)), StringIO()
    serve(tmp_path, 60.0, lines, answers)
    return [json.loads(line) for line in answers.getvalue().splitlines()]


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    started = Worker(tmp_path_factory.mktemp("designs"), 60.0, "ask for less")
    yield started
    started.close()


def test_a_call_is_answered_with_a_paragraph_and_data(running):
    paragraph, data = running.call("check_design", {"text": TABLE})
    assert "time-key" in paragraph
    assert data["tables"] == ["events"]


def test_a_call_past_its_limit_is_stopped_and_the_next_one_served(running):
    running.close()
    running._time_limit = 0.0
    with pytest.raises(DocumentError, match="may take 0 seconds and 4 GB of memory: ask for less"):
        running.call("check_design", {"text": TABLE})
    running._time_limit = 60.0
    assert running.call("check_design", {"text": TABLE})[1]["tables"] == ["events"]


def test_a_process_that_was_ended_from_outside_is_replaced(running):
    listing = {"operation": "ListTables", "request": {}}
    running.call("execute", listing)
    running._process.kill()
    running._process.wait()
    assert running.call("execute", listing)[1]["ok"]


def test_a_mistake_of_the_agent_is_told(running):
    with pytest.raises(DocumentError, match="give exactly one of text and path"):
        running.call("check_design", {})


@pytest.mark.parametrize("path", ["p" * 5_000, "a\0b"])
def test_a_path_that_cannot_be_one_is_told(tmp_path, path):
    [answer] = answers_to(tmp_path, ["check_design", {"path": path}])
    assert "cannot be read" in answer["error"] or len(answer["error"]) == MOST_TEXT


@pytest.mark.parametrize(
    "call",
    [
        ["check_design", {"text": "x", "format": "f" * 900_000}],
        ["explain_throttle", {"error": "ThrottlingException", "table": "t" * 900_000}],
        ["execute", {"operation": "O" * 900_000, "request": {}}],
    ],
)
def test_an_answer_does_not_repeat_what_is_long(tmp_path, call):
    [answer] = answers_to(tmp_path, call)
    assert len(json.dumps(answer)) < 12_000


def test_an_unexpected_error_does_not_end_the_process(tmp_path, monkeypatch, capsys):
    def broken(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(Tools, "check_design", broken)
    listing = ["execute", {"operation": "ListTables", "request": {}}]
    failed, served = answers_to(tmp_path, ["check_design", {}], listing)
    assert failed == {"error": worker.UNEXPECTED.format(error="ZeroDivisionError")}
    assert served["data"]["ok"]
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_a_process_without_memory_ends(tmp_path, monkeypatch):
    def greedy(*_, **__):
        raise MemoryError

    monkeypatch.setattr(Tools, "check_design", greedy)
    with pytest.raises(MemoryError):
        answers_to(tmp_path, ["check_design", {}])
