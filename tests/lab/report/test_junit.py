"""The lab's results as JUnit XML (ICH-85), and several files at a time."""

from xml.etree import ElementTree

import pytest

from emulator.__main__ import main

SHOP = """\
workload:
  duration: 10s
  warm_up: 0
  fields: {orderId: {unique: random}}
  patterns: [{name: save, operation: PutItem, rate: 40}]
designs:
  - {name: small, partition: "{orderId}", write: 1}
  - {name: large, partition: "{orderId}", write: 60}
expect:
  small: {grade: tight, throttled: 1}
"""
QUICK = ("--quick", "--worlds", "1", "--no-html")


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    (tmp_path / "shop.yaml").write_text(SHOP)
    (tmp_path / "other.yaml").write_text("title: Other\n" + SHOP.partition("expect:")[0])
    return tmp_path


def test_a_design_is_a_suite_and_a_promise_a_case(place):
    assert main(["lab", "shop.yaml", *QUICK, "--junit", "lab.xml"]) == 1

    root = ElementTree.parse(place / "lab.xml").getroot()
    assert [(suite.get("name"), suite.get("failures")) for suite in root] == [
        ("shop: small", "1"),
        ("shop: large", "0"),
    ]
    small, large = root
    figures = {one.get("name"): one.get("value") for one in small.iter("property")}
    assert figures["grade"] == "throttles"
    assert set(figures) == {"grade", "risk", "throttled_share", "monthly_cost"}
    cases = {case.get("name"): case.find("failure") for case in small.iter("testcase")}
    assert set(cases) == {"grade", "throttled"}
    assert cases["grade"].get("message") == "small is graded throttles, not tight"
    assert cases["throttled"] is None
    assert [case.get("name") for case in large.iter("testcase")] == ["run"]


def test_several_files_are_run_one_after_the_other(place, capsys, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(place / "summary"))
    assert main(["lab", "other.yaml", "shop.yaml", *QUICK, "--junit", "lab.xml"]) == 1
    assert len(ElementTree.parse(place / "lab.xml").getroot()) == 4
    summary = (place / "summary").read_text()
    assert summary.startswith("### Other\n")
    assert "### shop\n" in summary
    assert "- ❌ small is graded throttles, not tight" in summary
    assert "| calls throttled, median world |" in summary
    capsys.readouterr()
    assert main(["lab", "other.yaml", "shop.yaml", "--quick"]) == 2
    assert "several files at a time take --no-html and no --json" in capsys.readouterr().err
