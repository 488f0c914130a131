"""The MCP server, tried with the SDK's own client (ICH-100, ICH-101)."""

import asyncio
import json
import os
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


OUTSIDE = TABLE.replace('"events"', '"outside"')
SECRET = {"Table": {"TableName": "outside", "KeySchema": [{"AttributeName": "outside"}]}}
NESTED = {
    "Type": "AWS::CloudFormation::Stack",
    "Metadata": {"aws:asset:path": "../../outside/stack.json"},
}
STACK = {
    "Type": "AWS::DynamoDB::Table",
    "Properties": {
        "TableName": "outside",
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    },
}
LAB = {"workload": WORKLOAD, "designs": [SMALL]}


def assembly(template):
    artifact = {"type": "aws:cloudformation:stack", "properties": {"templateFile": template}}
    return json.dumps({"version": "36.0.0", "artifacts": {"app": artifact}})


def lab_file(outside, field=None):
    """Return a lab file that names a file of keys, or of a table's description."""
    workload = WORKLOAD if field is None else WORKLOAD | {"fields": {"userId": field}}
    named = {"history": {"describe_table": f"{outside}/table.json"}} if field is None else {}
    return {"workload": workload, "designs": [SMALL | named]}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Return a folder whose files lead out of it in every way that a reader follows."""
    place = tmp_path_factory.mktemp("place")
    folder, outside = place / "folder", place / "outside"
    for name in ("link", "module", "absolute", "variables", "text", "cdk", "nested", "serverless"):
        (folder / name).mkdir(parents=True)
    (folder / "pipes").mkdir()
    outside.mkdir()
    (outside / "x.tf").write_text(OUTSIDE)
    (outside / "x.auto.tfvars").write_text('name = "outside"\n')
    (outside / "name.txt").write_text("outside")
    (outside / "stack.json").write_text(json.dumps({"Resources": {"T": STACK}}))
    (outside / "table.json").write_text(json.dumps(SECRET))
    (outside / "keys.csv").write_text("outside\noutside\n")
    named = TABLE.replace('= "events"', "= var.name") + 'variable "name" {}\n'

    (folder / "link" / "main.tf").write_text(TABLE)
    (folder / "link" / "x.tf").symlink_to(outside / "x.tf")
    (folder / "link" / "x.json").symlink_to(outside / "stack.json")
    (folder / "linked").symlink_to(outside)
    (folder / "module" / "main.tf").write_text('module "m" {\n  source = "../../outside"\n}\n')
    (folder / "absolute" / "main.tf").write_text(
        f'module "m" {{\n  source = "./../../../../../../../../../..{outside}"\n}}\n'
    )
    (folder / "variables" / "main.tf").write_text(named)
    (folder / "variables" / "x.auto.tfvars").symlink_to(outside / "x.auto.tfvars")
    (folder / "text" / "main.tf").write_text(
        TABLE.replace('= "events"', f'= file("{outside}/name.txt")')
    )
    (folder / "cdk" / "manifest.json").write_text(assembly("../../outside/stack.json"))
    (folder / "nested" / "manifest.json").write_text(assembly("stack.json"))
    (folder / "nested" / "stack.json").write_text(json.dumps({"Resources": {"N": NESTED}}))
    (folder / "serverless" / "serverless.yml").write_text(
        "service: s\nprovider: {name: aws}\nresources: ${file(../../outside/stack.json)}\n"
    )
    (folder / "keys.yaml").write_text(
        json.dumps(lab_file(outside, {"csv": f"{outside}/keys.csv", "column": "outside"}))
    )
    (folder / "table.yaml").write_text(json.dumps(lab_file(outside)))
    (folder / "pipes" / "main.tf").write_text(TABLE)
    os.mkfifo(folder / "pipes" / "pipe.tf")
    (folder / "large.tf").write_text(TABLE + "#" * 1_000_000)
    return folder


LEADING_OUT = {
    "a linked folder": ("check_design", {"path": "linked"}),
    "a file through a linked folder": ("check_design", {"path": "linked/x.tf"}),
    "a link beside a design": ("check_design", {"path": "link"}),
    "a linked file": ("check_design", {"path": "link/x.tf"}),
    "a module": ("check_design", {"path": "module"}),
    "a module as a file": ("check_design", {"path": "module/main.tf"}),
    "a module by an absolute path": ("check_design", {"path": "absolute"}),
    "values of variables": ("check_design", {"path": "variables"}),
    "a file in an expression": ("check_design", {"path": "text"}),
    "a stack": ("check_design", {"path": "cdk"}),
    "a nested stack": ("check_design", {"path": "nested"}),
    "an include": ("check_design", {"path": "serverless/serverless.yml"}),
    "keys of a lab file": ("simulate", {"path": "keys.yaml", "worlds": 1}),
    "a described table": ("simulate", {"path": "table.yaml", "worlds": 1}),
    "the root folder": ("check_design", {"path": "/"}),
    "a process": ("check_design", {"path": "/proc/self/environ"}),
}
REFUSED = {
    "a pipe": ({"path": "pipes/pipe.tf"}, "pipe.tf: cannot be read: not a regular file"),
    "a large file": ({"path": "large.tf"}, "a source has at most 1,000,000 bytes"),
}


@pytest.fixture(scope="module")
def from_outside(hostile):
    """Return what a server in a process of its own answers to a client on its pipes."""
    mcp = pytest.importorskip("mcp", reason="the SDK comes with the extra mcp")
    from mcp.client.stdio import StdioServerParameters, stdio_client

    outside = hostile.parent / "outside"
    model = {
        "a model with keys": lab_file(outside, {"csv": f"{outside}/keys.csv", "column": "outside"}),
        "a model with a described table": lab_file(outside),
    }
    calls = {
        **LEADING_OUT,
        **{name: ("simulate", {"model": each, "worlds": 1}) for name, each in model.items()},
        **{name: ("check_design", arguments) for name, (arguments, _) in REFUSED.items()},
        "a folder with a pipe": ("check_design", {"path": "pipes"}),
    }
    arguments = ["-m", "emulator", "mcp", "--folder", str(hostile), "--time-limit", "20"]

    async def ask():
        server = StdioServerParameters(command=sys.executable, args=arguments)
        async with mcp.Client(stdio_client(server)) as client:
            return {name: await client.call_tool(*call) for name, call in calls.items()}

    return asyncio.run(ask())


@pytest.mark.parametrize(
    "name", [*LEADING_OUT, "a model with keys", "a model with a described table"]
)
def test_nothing_outside_of_the_folder_is_told(from_outside, hostile, name):
    """ICH-104: every file has the word ``outside`` in it, and its own path may say it."""
    answer = from_outside[name]
    told = json.dumps(answer.structured_content) + "".join(each.text for each in answer.content)
    for path in (f"{hostile.parent}/outside", "../../outside", '"column": "outside"'):
        told = told.replace(path, "")
    assert "outside" not in told
    assert "stopped" not in told
    assert "unexpected" not in told


@pytest.mark.parametrize(
    "name",
    [
        "keys of a lab file",
        "a described table",
        "a model with keys",
        "a model with a described table",
    ],
)
def test_a_lab_file_that_names_a_file_elsewhere_is_refused(from_outside, name):
    """ICH-104."""
    answer = from_outside[name]
    assert answer.is_error is True
    assert "cannot be read: it is not below the folder that may be read" in answer.content[0].text


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_bounded_regular_file_is_one_sentence(from_outside, name):
    """ICH-6."""
    answer = from_outside[name]
    assert answer.is_error is True
    assert REFUSED[name][1] in answer.content[0].text


def test_a_pipe_in_a_folder_is_a_finding_beside_the_others(from_outside):
    """ICH-3, ICH-6."""
    answer = from_outside["a folder with a pipe"].structured_content
    assert answer["tables"] == ["events"]
    [pipe] = [finding for finding in answer["findings"] if finding["rule"] == "unreadable"]
    assert pipe["file"] == "pipes/pipe.tf"
    assert pipe["message"].endswith("pipe.tf: cannot be read: not a regular file.")
