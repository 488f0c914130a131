"""Budgets by record (ICH-111): the file, its tolerances, and the lines that grew."""

import json

import pytest

from emulator.sessions import Fault
from emulator.testing.recorded_budgets import RecordedBudgets, measured, tolerances_of


def record(test="test_it.py::test_it", *, writes=5, reads=0.0, where="shop.py:3", scans=0):
    entry = {"table": "orders", "index": None, "where": where, "file": "shop.py"}
    put = {"operation": "PutItem", "function": "save", "calls": writes}
    scan = {"operation": "Scan", "function": "search", "calls": scans}
    entries = [entry | put | {"read_units": 0.0, "write_units": float(writes)}]
    if scans:
        entries.append(entry | scan | {"read_units": reads, "write_units": 0.0})
    return {
        "test": test,
        "calls": writes + scans,
        "read_units": reads,
        "write_units": float(writes),
        "entries": entries,
    }


@pytest.fixture
def path(tmp_path):
    (tmp_path / "test_it.py").touch()
    budgets = RecordedBudgets(tmp_path / "ddb-budgets.json", [])
    budgets.write([record()], only_new=False, root=tmp_path)
    return tmp_path / "ddb-budgets.json"


def held(path, now, tolerances="rcu:0%,wcu:0%"):
    return RecordedBudgets(path, tolerances_of(tolerances)).verdict(now["test"], now, ["less"])


def test_whole_units_are_written_whole():
    assert measured(record(reads=0.5, scans=1)) == {
        "rcu": 0.5,
        "wcu": 5,
        "calls": 6,
        "scans": 1,
        "lines": {
            "shop.py save PutItem orders": {"rcu": 0, "wcu": 5, "calls": 5},
            "shop.py search Scan orders": {"rcu": 0.5, "wcu": 0, "calls": 1},
        },
    }


@pytest.mark.parametrize(
    ("tolerances", "is_kept"),
    [
        ("wcu:0%", False),
        ("wcu:19%", False),
        ("wcu:20%", True),
        ("wcu:0", False),
        ("wcu:1", True),
        ("rcu:0%", True),
        ("rcu:0% calls:0", False),
        ("calls:1,wcu:1", True),
    ],
)
def test_a_tolerance_is_a_share_or_a_number(path, tolerances, is_kept):
    assert (held(path, record(writes=6), tolerances) is None) is is_kept


def test_growth_from_nothing_is_more_than_any_share(path):
    grown = record(reads=0.5, scans=1)
    assert held(path, grown, "rcu:100%").splitlines()[1:4] == [
        "  0.5 read units: 0 on record, and 100 % more is allowed",
        "grown:",
        "  shop.py:3 in search: Scan orders: 0.5 read units, 0 on record",
    ]
    assert held(path, grown, "scans:0").splitlines()[1] == (
        "  1 page of Scan: 0 on record, and 0 more is allowed"
    )
    assert held(path, grown, "scans:1") is None


def test_less_and_other_lines_are_no_growth(path):
    assert held(path, record(writes=4)) is None
    assert held(path, record(where="shop.py:77")) is None


def test_a_test_that_is_not_on_record_passes(path):
    assert held(path, record("test_it.py::test_new", writes=100)) is None
    assert not RecordedBudgets(path, []).knows("test_it.py::test_new")


def test_the_file_is_sorted_and_forgets_what_has_no_file(path, tmp_path):
    (tmp_path / "test_a.py").touch()
    records = [record("test_a.py::test_b"), record("test_a.py::test_a")]
    RecordedBudgets(path, []).write(records, only_new=False, root=tmp_path)
    names = list(json.loads(path.read_text())["tests"])
    assert names == ["test_a.py::test_a", "test_a.py::test_b", "test_it.py::test_it"]
    (tmp_path / "test_it.py").unlink()
    RecordedBudgets(path, []).write([], only_new=False, root=tmp_path)
    assert "test_it.py" not in path.read_text()


def test_what_is_on_record_stays_if_only_new_tests_are_added(path, tmp_path):
    before = path.read_text()
    RecordedBudgets(path, []).write([record(writes=9)], only_new=True, root=tmp_path)
    assert path.read_text() == before


@pytest.mark.parametrize("text", ["wcu", "wcu:", "wcu:x%", "usd:5%", "wcu:-1", "wcu:inf", ":5"])
def test_a_wrong_tolerance_is_one_sentence(text):
    with pytest.raises(Fault, match="is not of the form FIELD:NUMBER or FIELD:NUMBER%"):
        tolerances_of(text)


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"version": 2, "tests": {}}', "null"])
def test_a_file_of_another_kind_is_one_sentence(tmp_path, text):
    (tmp_path / "other.json").write_text(text)
    with pytest.raises(Fault, match=r"other.json is not a record of budgets: "):
        RecordedBudgets(tmp_path / "other.json", [])
