"""What fails a test that is not pytest's: budgets in a file, findings by kind."""

import pytest

from emulator import Emulator
from emulator.observe import KINDS, Ledger, findings_of
from emulator.service.errors import DocumentError
from emulator.sessions import Fault
from emulator.sessions.session_rules import SessionRules, rules_of
from tests.sessions.test_session_report import hot_index


@pytest.fixture
def scanned():
    """A ledger of four writes and a page of Scan, with its findings."""
    _, ledger = hot_index()
    return ledger, findings_of(ledger)


def file_of(folder, text, name="budgets.yaml"):
    path = folder / name
    path.write_text(text)
    return path


def test_without_rules_nothing_fails(scanned):
    assert SessionRules().failures("TestOrders", *scanned) == []


@pytest.mark.parametrize("name", ["TestOrders", "Test*", "*"])
def test_a_budget_is_for_the_tests_that_its_pattern_names(tmp_path, scanned, name):
    rules = rules_of("", file_of(tmp_path, f'"{name}": {{wcu: 3, scans: 1}}'))
    [failure] = rules.failures("TestOrders", *scanned)
    assert failure.splitlines()[0] == "8 write units were consumed, and the budget is 3"
    assert len(rules.failures("OtherTest", *scanned)) == (name == "*")


def test_budgets_may_be_json(tmp_path):
    rules = rules_of("budget", file_of(tmp_path, '{"TestOrders": {"rcu": 4}}', "budgets.json"))
    assert rules.budgets["TestOrders"].rcu == 4


def test_budgets_that_no_test_came_for_are_known(tmp_path):
    rules = rules_of("", file_of(tmp_path, "TestA: {rcu: 1}\nTestB*: {rcu: 1}"))
    assert rules.unused(["TestB1", "TestC"]) == ["TestA"]


def test_a_finding_fails_a_test_by_its_kind(scanned):
    [failure] = rules_of("throttle, scan", None).failures("TestOrders", *scanned)
    assert [line.split()[0] for line in failure.splitlines()[1:]] == ["would-throttle", "scan"]
    assert rules_of("write-loop", None).failures("TestOrders", *scanned) == []
    assert rules_of("finding", None).policy.fail_on == set(KINDS)


@pytest.mark.parametrize(
    ("fail_on", "sentence"),
    [
        ("scans", "there is no finding 'scans'; there are throttle, would-throttle, scan"),
        ("budget", "budget needs a file of budgets: --budget FILE"),
    ],
)
def test_a_wrong_kind_is_one_sentence(fail_on, sentence):
    with pytest.raises(Fault) as caught:
        rules_of(fail_on, None)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("- TestA", ": expected budgets by test, such as 'TestOrders: {rcu: 4, wcu: 2}'"),
        ("TestA: 4", ":1: expected budgets by test, such as 'TestOrders: {rcu: 4, wcu: 2}'"),
        ("TestA: {wcu: 1}\nTestB: {wcus: 1}", ":2: TestB: there is no limit 'wcus'; there are rcu"),
        ("TestA: {wcu: much}", ":1: TestA: a budget's wcu is a number, not 'much'"),
        ("TestA: {}", ":1: TestA: a budget limits at least one of rcu"),
        ("no/such_test.go::TestA: {wcu: 1}", ":1: there is no test no/such_test.go::TestA: "),
        ("TestA: {", ":1: not YAML"),
    ],
)
def test_a_wrong_file_is_one_sentence_with_its_line(tmp_path, text, sentence):
    path = file_of(tmp_path, text)
    with pytest.raises(DocumentError) as caught:
        rules_of("", path)
    assert str(caught.value).startswith(f"{path}{sentence}")


def test_a_test_of_a_file_that_is_there_is_known(tmp_path):
    test = f"{file_of(tmp_path, '', 'orders_test.go')}::TestA"
    assert list(rules_of("", file_of(tmp_path, f'"{test}": {{wcu: 1}}')).budgets) == [test]


def test_a_ledger_without_places_says_so():
    """Over HTTP no line of the caller's code is known, whatever the server's own is."""
    emu, ledger = Emulator(), Ledger(lambda: (None, None))
    emu.events.subscribe(ledger.hear)
    emu.call("ListTables", {})
    assert "(elsewhere)" in ledger.table()
