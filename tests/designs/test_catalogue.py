"""Every rule has its page, and what the page shows is what the rule finds."""

import ast
import re
from pathlib import Path

import pytest

from emulator import Emulator, ManualClock
from emulator.check.findings_of import check
from emulator.designs.catalogue import RULES
from emulator.lab.files import loads
from emulator.observe import KINDS, Ledger, expiries_of, findings_of
from emulator.sessions.session_report import record_of, unread_indexes
from emulator.testing.table_notation import create_request
from tests.each import each

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "checks"
HEADINGS = ["## Why", "## Example", "## Fix", "## Source"]
BLOCK = re.compile(r"^```(\w+) (\S+)\n(.*?)^```$", re.M | re.S)
#: Whose findings are told by rules that the catalogue lists.
RULE_FILES = [*(ROOT / "emulator/designs").glob("*.py"), ROOT / "emulator/lab/analysis/advice.py"]


def test_there_is_a_page_for_each_rule_and_no_other():
    assert {path.stem for path in PAGES.glob("*.md")} == {*RULES, "README"}


def test_the_list_is_that_of_the_command():
    rows = re.findall(r"^\| \[([\w-]+)\]\(\1\.md\) \| (\w+) \| (.*) \|$", readme(), re.M)
    assert sorted(rows) == sorted((rule.id, rule.severity, rule.title) for rule in RULES.values())


def readme():
    return (PAGES / "README.md").read_text(encoding="utf-8")


def findings_of_calls(body):
    """Return what is found in calls to a table with an index, whose items expire by ``ttl``."""
    emulator, ledger, names = Emulator(clock=ManualClock()), Ledger(), {}
    emulator.call("CreateTable", create_request("things", "pk", indexes={"gsi": "status"}))
    expiry = {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ttl"}}
    emulator.call("UpdateTimeToLive", {"TableName": "things", **expiry})
    emulator.events.subscribe(ledger.hear)
    exec(body, names)
    names["calls"](emulator.table("things"))
    findings = findings_of(ledger, expiries=expiries_of(emulator.snapshot()))
    unread = unread_indexes([record_of("test", ledger, [emulator])])
    return {*(finding.kind for finding in findings), *("unread-index" for _ in unread)}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_page_says_why_and_its_example_is_found(rule, tmp_path):
    text = (PAGES / f"{rule.id}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {rule.id}\n\n**{rule.severity}** · {rule.title}\n\n")
    assert re.findall(r"^## .*$", text, re.M) == HEADINGS
    [(language, name, body)] = BLOCK.findall(text)
    path = tmp_path / name
    path.write_text(body, encoding="utf-8")
    if language == "python":
        assert rule.id in findings_of_calls(body)
    elif language == "yaml":
        loads(body)  # the lab's own tests play such workloads
    else:
        assert rule.id in {finding.rule for finding in check([path]).findings}


@each("path", RULE_FILES, ids=lambda path: path.stem)
def test_a_finding_names_a_rule_of_the_catalogue(path):
    """ICH-4: an id is kebab-case, and the same wherever it is named."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in ("Finding", "finding", "warn"):
                assert node.args[0].value in RULES, f"{path.name}:{node.lineno}"


def test_rules_of_calls_are_kinds_of_findings():
    of_calls = {rule.id for rule in RULES.values() if rule.basis == "calls"}
    assert of_calls - {"unread-index"} <= set(KINDS)
