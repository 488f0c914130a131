"""What tests consumed as JUnit XML."""

from xml.etree import ElementTree

from emulator.sessions.junit import as_junit
from emulator.sessions.session_report import record_of, write
from tests.sessions.test_session_report import hot_index


def records():
    emu, ledger = hot_index()
    passed = record_of("TestPasses", ledger, [emu])
    return [passed, passed | {"test": "TestFails", "failures": ["too much\nof it", "a <scan>"]}]


def test_a_test_is_a_case_with_its_figures_and_its_failures():
    [suite] = ElementTree.fromstring(as_junit(records()))
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    passed, failed = suite
    figures = {one.get("name"): one.get("value") for one in passed.iter("property")}
    assert figures["ddb_write_units"] == "8.0"
    assert passed.findall("failure") == []
    said = [(one.get("message"), one.text) for one in failed.iter("failure")]
    assert said == [("too much", "too much\nof it"), ("a <scan>", "a <scan>")]


def test_a_report_is_junit_by_its_name(tmp_path):
    for name in ("report.xml", "report.junit"):
        write(tmp_path / name, records())
        assert ElementTree.parse(tmp_path / name).getroot().tag == "testsuites"
