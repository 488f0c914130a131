"""The MCP server, tried with the SDK's own client (ICH-100, ICH-101)."""

import asyncio
import sys

import pytest

from emulator.__main__ import main
from emulator.mcp.server import make_server
from tests.mcp.test_tools import SMALL, TABLE, WORKLOAD


def test_a_missing_sdk_is_one_sentence(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert main(["mcp"]) == 2
    complaint = capsys.readouterr().err
    assert complaint.startswith("dynamometer: 'mcp' needs the module mcp")
    assert complaint.endswith(": pip install 'dynamometer[mcp]'\n")


def test_a_folder_that_is_not_there_is_told(capsys):
    assert main(["mcp", "--folder", "nowhere"]) == 2
    assert capsys.readouterr().err == "dynamometer: nowhere: there is no such folder\n"


@pytest.fixture
def connected(tmp_path):
    """Return a client of a server, to be entered within the test."""
    mcp = pytest.importorskip("mcp", reason="the SDK comes with the extra mcp")
    return mcp.Client(make_server(tmp_path))


async def test_the_tools_are_listed_with_their_schemas(connected):
    async with connected as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}

        assert sorted(tools) == [
            *("check_design", "compare", "execute", "explain_throttle", "simulate"),
        ]
        assert tools["execute"].annotations.read_only_hint is False
        assert tools["simulate"].annotations.read_only_hint is True
        source = tools["check_design"].input_schema["properties"]["text"]
        assert source["description"].startswith("The source itself.")
        assert set(tools["simulate"].output_schema["required"]) >= {
            "grade",
            "risk",
            "fix",
            "verdict",
        }
        assert tools["compare"].description.startswith("Play one workload on 2 to 8")


CALLS = {
    "a design": ("check_design", {"text": TABLE}),
    "a run": ("simulate", {"model": {"workload": WORKLOAD, "designs": [SMALL]}, "worlds": 2}),
    "no design": ("check_design", {}),
    "no request": ("execute", {"operation": "ListTables"}),
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Return what one session answers to its calls; each session starts processes of its own."""
    mcp = pytest.importorskip("mcp", reason="the SDK comes with the extra mcp")

    async def ask():
        async with mcp.Client(make_server(tmp_path_factory.mktemp("folder"))) as client:
            return {name: await client.call_tool(*call) for name, call in CALLS.items()}

    return asyncio.run(ask())


def test_an_answer_has_data_and_a_paragraph(answers):
    answer = answers["a design"]

    assert answer.is_error is False
    assert answer.structured_content["findings"][0]["rule"] == "time-key"
    assert "time-key" in answer.content[0].text


def test_a_simulation_over_the_protocol(answers):
    assert answers["a run"].structured_content["grade"] == "throttles"


def test_a_mistake_is_told_in_its_own_words(answers):
    answer = answers["no design"]
    assert answer.is_error is True
    assert "give exactly one of text and path" in answer.content[0].text
    assert answers["no request"].is_error is True


@pytest.mark.parametrize(
    ("tool", "arguments", "complaint"),
    [
        (
            "simulate",
            {"model": {}, "world": 2},
            "there is no argument 'world'; did you mean 'worlds'?",
        ),
        ("compare", {"Designs": []}, "there is no argument 'Designs'; did you mean 'designs'?"),
        (
            "execute",
            {"operation": "ListTables", "request": {}, "advance": 5},
            "there is no argument 'advance'; did you mean 'advance_seconds'?",
        ),
        (
            "check_design",
            {"text": TABLE, "x": None},
            "there is no argument 'x'; there are text, path, format",
        ),
    ],
)
async def test_an_argument_that_no_tool_has_is_told_with_the_nearest(
    connected, tool, arguments, complaint
):
    """ICH-101: a misspelt argument is a mistake, not a default."""
    async with connected as client:
        answer = await client.call_tool(tool, arguments)
        assert answer.is_error is True
        assert answer.content[0].text == complaint


async def test_schemas_say_that_there_are_no_other_arguments(connected):
    async with connected as client:
        for tool in (await client.list_tools()).tools:
            assert tool.input_schema["additionalProperties"] is False


async def test_a_call_that_takes_too_long_is_stopped(tmp_path):
    mcp = pytest.importorskip("mcp", reason="the SDK comes with the extra mcp")
    async with mcp.Client(make_server(tmp_path, time_limit=0.0)) as client:
        answer = await client.call_tool("check_design", {"text": TABLE})
        assert answer.is_error is True
        assert "stopped" in answer.content[0].text


def test_a_limit_that_is_none_is_told(capsys):
    assert main(["mcp", "--time-limit", "0"]) == 2
    assert capsys.readouterr().err == "dynamometer: --time-limit is a number above 0, not 0\n"


async def test_requests_of_a_session_see_one_database(connected):
    async with connected as client:
        listing = {"operation": "ListTables", "request": {}}
        answer = await client.call_tool("execute", listing)
        assert answer.structured_content["response"] == {"TableNames": []}
        assert answer.structured_content["ok"] is True
