"""ListTables: names in byte order, page by page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import emulator, refusal, table

NAMES = ["Zzz", "abc", "abc.d", "abc-d", "abc_d", "000"]


def filled(names=NAMES):
    emu = emulator()
    for name in names:
        emu.call("CreateTable", table(TableName=name))
    return emu


def test_names_come_in_byte_order():
    """LT-1."""
    assert filled().call("ListTables", {}) == {"TableNames": sorted(NAMES)}


def test_a_page_ends_with_the_last_name_when_more_follow():
    """LT-1: LastEvaluatedTableName exactly when more names follow."""
    emu = filled(["aaa", "bbb", "ccc"])
    assert emu.call("ListTables", {"Limit": 2}) == {
        "TableNames": ["aaa", "bbb"],
        "LastEvaluatedTableName": "bbb",
    }
    assert emu.call("ListTables", {"Limit": 3}) == {"TableNames": ["aaa", "bbb", "ccc"]}


def test_the_start_need_not_exist():
    """LT-1."""
    emu = filled(["aaa", "ccc"])
    request = {"ExclusiveStartTableName": "bbb"}
    assert emu.call("ListTables", request) == {"TableNames": ["ccc"]}


@given(limit=st.integers(min_value=1, max_value=len(NAMES)))
def test_pages_concatenate_to_the_whole(limit):
    emu = filled()
    names, request = [], {"Limit": limit}
    while True:
        page = emu.call("ListTables", request)
        names += page["TableNames"]
        if "LastEvaluatedTableName" not in page:
            break
        request["ExclusiveStartTableName"] = page["LastEvaluatedTableName"]
    assert names == sorted(NAMES)


def test_a_page_has_a_hundred_names_at_the_most():
    """LT-1."""
    emu = filled([f"table{n:03}" for n in range(101)])
    page = emu.call("ListTables", {})
    assert (len(page["TableNames"]), page["LastEvaluatedTableName"]) == (100, "table099")


@pytest.mark.parametrize(
    ("request_members", "problems"),
    [
        (
            {"ExclusiveStartTableName": "a!", "Limit": 0},
            [
                "Value 'a!' at 'exclusiveStartTableName' failed to satisfy constraint: Member must "
                "satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
                "Value 'a!' at 'exclusiveStartTableName' failed to satisfy constraint: Member must "
                "have length greater than or equal to 3",
                "Value '0' at 'limit' failed to satisfy constraint: Member must have value greater "
                "than or equal to 1",
            ],
        ),
        (
            {"Limit": 101},
            [
                "Value '101' at 'limit' failed to satisfy constraint: Member must have value less "
                "than or equal to 100"
            ],
        ),
    ],
)
def test_constraints_are_told_together(request_members, problems):
    """ERR-OTH-3."""
    noun = "error" if len(problems) == 1 else "errors"
    message = f"{len(problems)} validation {noun} detected: {'; '.join(problems)}"
    assert refusal(emulator(), "ListTables", request_members) == ("ValidationException", message)


def test_a_table_is_listed_until_its_deletion_is_complete():
    """DT-1."""
    emu = emulator(table_delay=5)
    emu.call("CreateTable", table())
    emu.clock.advance(5)
    emu.call("DeleteTable", {"TableName": "tab"})
    assert emu.call("ListTables", {}) == {"TableNames": ["tab"]}
    emu.clock.advance(5)
    assert emu.call("ListTables", {}) == {"TableNames": []}


def test_regions_are_apart():
    emu = emulator()
    emu.call("CreateTable", table(), region="eu-west-1")
    assert emu.call("ListTables", {}) == {"TableNames": []}
