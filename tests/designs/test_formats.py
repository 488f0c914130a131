"""Findings in the forms of CI systems, each read back by its own rules."""

import json
import re
from xml.etree import ElementTree

import pytest

from emulator.designs import Finding
from emulator.designs.findings import Position
from emulator.designs.formats import FORMATS, FindingsReport, render

KEY = Finding("time-key", "warning", "t", "the key\nis 100 % a date", "change it", "KeySchema").at(
    "infra/ma,in:.tf", Position(4, 3, 4, 29)
)
BLOCK = Finding("refused", "problem", "t <b>", "a | b", "do").at("b.tf", Position(1, 1, 9, 2))
NOWHERE = Finding("spread", "info", "a table", "it is", "so")
REPORT = FindingsReport((NOWHERE, KEY, BLOCK, BLOCK), ("clean.tf", "b.tf"))


@pytest.fixture(autouse=True)
def repository(tmp_path, monkeypatch):
    """Paths are relative to a repository, not to the directory one stands in (ICH-82)."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")


def test_the_gravest_come_first_in_every_format():
    for name in FORMATS:
        text = render(REPORT, name)
        if name != "junit":
            assert text.index("refused") < text.index("time-key") < text.index("spread")


def test_an_unknown_format_is_refused():
    with pytest.raises(ValueError, match="a format is one of text, json, sarif, github"):
        render([], "html")


def test_text_names_rule_cure_and_place():
    assert render([KEY], "text") == (
        "warning  t: The key is 100 % a date. [time-key]\n"
        "         Change it.\n"
        "         infra/ma,in:.tf:4\n"
        "1 warning\n"
    )
    assert render([BLOCK], colour=True).startswith("\x1b[31mproblem  \x1b[0mt <b>: ")
    assert render([]) == "no findings\n"


def test_json_has_the_members_that_are_promised():
    """ICH-103."""
    document = json.loads(render([KEY], "json"))
    assert document["findings"] == [
        {
            "rule": "time-key",
            "severity": "warning",
            "subject": "t",
            "attribute": "KeySchema",
            "message": "The key\nis 100 % a date.",
            "fix": "Change it.",
            "file": "infra/ma,in:.tf",
            "line": 4,
            "column": 3,
            "end_line": 4,
            "end_column": 29,
        }
    ]


# SARIF

LEVELS = {"none", "note", "warning", "error"}


def check_sarif(document):
    """Hold a document to the parts of the published schema that it uses.

    The schema closes every object, so each has the members that are named here and no others.
    """
    assert set(document) == {"$schema", "version", "runs"}
    assert document["version"] == "2.1.0"
    for run in document["runs"]:
        assert set(run) == {"tool", "results", "columnKind"}
        assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
        assert set(run["tool"]) == {"driver"}
        driver = run["tool"]["driver"]
        assert set(driver) == {"name", "version", "rules"}
        assert all(isinstance(driver[name], str) for name in ("name", "version"))
        rules = driver["rules"]
        assert len({rule["id"] for rule in rules}) == len(rules)
        for rule in rules:
            assert set(rule) == {"id", "shortDescription", "defaultConfiguration"}
            check_text(rule["shortDescription"])
            assert set(rule["defaultConfiguration"]) == {"level"}
            assert rule["defaultConfiguration"]["level"] in LEVELS
        for result in run["results"]:
            assert set(result) == {
                *("ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints"),
            }
            assert result["ruleIndex"] >= 0
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
            assert result["level"] in LEVELS
            check_text(result["message"])
            [location] = result["locations"]
            assert set(location) == {"physicalLocation"}
            place = location["physicalLocation"]
            assert set(place) == {"artifactLocation", "region"}
            assert set(place["artifactLocation"]) == {"uri"}
            uri = place["artifactLocation"]["uri"]
            assert re.fullmatch(r"[A-Za-z0-9._~%/,-]+", uri)
            assert not uri.startswith(("/", ".."))
            region = place["region"]
            assert {"startLine"} <= set(region)
            assert set(region) <= {"startLine", "startColumn", "endLine", "endColumn"}
            assert all(isinstance(value, int) and value >= 1 for value in region.values())
            assert region["startLine"] <= region.get("endLine", region["startLine"])
            assert all(isinstance(value, str) for value in result["partialFingerprints"].values())


def check_text(message):
    assert set(message) == {"text"}
    assert isinstance(message["text"], str)
    assert message["text"]


def test_sarif_keeps_to_its_schema():
    """ICH-82."""
    document = json.loads(render(REPORT, "sarif"))
    check_sarif(document)
    [run] = document["runs"]
    assert [result["level"] for result in run["results"]] == ["error", "error", "warning", "note"]
    assert run["results"][2]["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "sub/infra/ma%2Cin%3A.tf"},
        "region": {"startLine": 4, "startColumn": 3, "endLine": 4, "endColumn": 29},
    }


def test_a_rule_of_another_command_has_a_title_too():
    document = json.loads(render([Finding("repeated-get", "warning", "t", "m", "f")], "sarif"))
    check_sarif(document)
    [rule] = document["runs"][0]["tool"]["driver"]["rules"]
    assert rule["shortDescription"] == {"text": "Repeated get."}


def test_a_fingerprint_does_not_know_its_line():
    """ICH-82."""
    moved = KEY.at("other.tf", Position(99))
    assert moved.fingerprint == KEY.fingerprint
    assert Finding("spread", "info", "t", "m", "f").fingerprint != KEY.fingerprint


# GitHub

COMMAND = re.compile(r"::(?P<level>\w+) (?P<properties>[^:]*)::(?P<message>.*)")


def parsed_command(line):
    """Read a workflow command as a runner does."""
    command = COMMAND.fullmatch(line)
    properties = {}
    for pair in command["properties"].split(","):
        name, _, value = pair.partition("=")
        for code, sign in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
            value = value.replace(code, sign)
        properties[name] = value
    message = command["message"]
    for code, sign in (("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        message = message.replace(code, sign)
    return command["level"], properties, message


def test_github_lines_are_commands():
    """ICH-83."""
    lines = [parsed_command(line) for line in render(REPORT, "github").splitlines()]
    assert [level for level, _, _ in lines] == ["error", "error", "warning", "notice"]
    assert lines[0][1] == {"file": "sub/b.tf", "line": "1", "endLine": "9", "title": "refused"}
    assert lines[2][1:] == (
        {
            "file": "sub/infra/ma,in:.tf",
            "line": "4",
            "col": "3",
            "endColumn": "29",
            "title": "time-key",
        },
        "t: The key\nis 100 % a date. Change it.",
    )
    assert lines[3][1] == {"title": "spread"}


# GitLab and JUnit


def test_gitlab_fingerprints_differ():
    """ICH-84."""
    entries = json.loads(render(REPORT, "gitlab"))
    assert len({entry["fingerprint"] for entry in entries}) == len(entries) == 4
    assert [entry["severity"] for entry in entries] == ["critical", "critical", "minor", "info"]
    assert entries[2]["location"] == {"path": "sub/infra/ma,in:.tf", "lines": {"begin": 4}}
    assert json.loads(render([], "gitlab")) == []


def test_junit_has_a_suite_for_each_file_and_a_clean_one_passes():
    """ICH-85."""
    root = ElementTree.fromstring(render(REPORT, "junit"))
    suites = {suite.get("name"): suite for suite in root.iter("testsuite")}
    assert list(suites) == ["sub/clean.tf", "sub/b.tf", "sub", "sub/infra/ma,in:.tf"]
    [clean] = suites["sub/clean.tf"]
    assert list(clean) == []
    assert [case.get("name") for case in suites["sub/b.tf"]] == ["refused", "refused"]
    for suite in suites.values():
        assert int(suite.get("tests")) == len(suite)
        assert int(suite.get("failures")) == len(suite.findall("testcase/failure"))
    [case] = suites["sub/infra/ma,in:.tf"]
    assert {one.get("name"): one.get("value") for one in case.iter("property")} == {
        "severity": "warning",
        "file": "infra/ma,in:.tf",
        "line": "4",
    }
    assert case.find("failure").get("type") == "warning"


def test_markdown_cells_stay_cells():
    [_, _, _, row] = render([BLOCK], "markdown").splitlines()[-4:]
    assert row == r"| problem | `t <b>`<br>sub/b.tf:1 | A \| b. `refused` | Do. |"
