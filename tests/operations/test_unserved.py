"""What is asked for and not served."""

import warnings

import pytest

from emulator import ApiError
from emulator.errors import UnservedMemberWarning
from emulator.operations.unserved import MOST_MENTIONS
from emulator.service.catalogue import UNSERVED_MEMBERS, UNSERVED_OPERATIONS, Unserved
from tests.architecture.rules import ROOT
from tests.tables import emulator, refusal, table

COLOURED = table() | {"Colour": "red"}
TOLD = "CreateTable: Colour has no effect in this emulator: see docs/reference/fidelity.md"


@pytest.fixture
def colour(monkeypatch):
    """Let the catalogue list a member that the service has and the emulator has not."""
    part = Unserved("colours", "reference/fidelity.md")
    monkeypatch.setitem(UNSERVED_MEMBERS, ("CreateTable", "Colour"), part)


def told(emu, operation, request):
    """Return the warnings of a call, under filters that make errors of all warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        emu.call(operation, request)
    return [str(warning.message) for warning in caught]


@pytest.mark.usefixtures("colour")
def test_a_member_without_effect_is_mentioned_once_by_name_and_page():
    """WIR-15; no filter makes an error of it."""
    emu = emulator()
    assert told(emu, "CreateTable", COLOURED) == [TOLD]
    assert told(emu, "CreateTable", COLOURED | {"TableName": "other"}) == []
    assert told(emulator(), "CreateTable", COLOURED) == [TOLD]


def test_a_member_that_nobody_knows_is_mentioned_too():
    """WIR-15."""
    unknown = "ListTables: Colour is no member that this emulator knows, and has no effect: see "
    assert told(emulator(), "ListTables", {"Colour": "red"}) == [
        unknown + "docs/reference/operations.md"
    ]
    assert told(emulator(), "ListTables", {"Colour": None}) == []


def test_a_member_inside_of_another_is_named_by_its_path():
    """WIR-15."""
    emu = emulator()
    emu.call("CreateTable", table())
    creation = {"RegionName": "eu-west-1", "Colour": "red"}
    request = {"TableName": "tab", "ReplicaUpdates": [{"Create": creation}]}
    with pytest.warns(UnservedMemberWarning, match="UpdateTable: ReplicaUpdates.Create.Colour"):
        emu.call("UpdateTable", request)


@pytest.mark.usefixtures("colour")
def test_the_settings_can_refuse_it():
    """WIR-15."""
    emu = emulator(unknown_members="refuse")
    assert refusal(emu, "CreateTable", COLOURED) == ("ValidationException", TOLD)
    assert emu.call("ListTables", {}) == {"TableNames": []}


def test_a_fault_of_the_request_comes_first():
    request = COLOURED | {"TableName": "a!"}
    with warnings.catch_warnings(record=True) as caught:
        assert refusal(emulator(), "CreateTable", request)[0] == "ValidationException"
    assert caught == []


@pytest.mark.parametrize("operation", sorted(UNSERVED_OPERATIONS))
def test_an_operation_that_is_not_served_names_itself(operation):
    """OTH-20."""
    with pytest.raises(ApiError) as caught:
        emulator().call(operation, {})
    assert caught.value.code == "UnknownOperationException"
    page = UNSERVED_OPERATIONS[operation].page
    text = f"{operation} is not served by this emulator: see docs/{page}"
    assert caught.value.message == text


def test_an_operation_of_nobody_names_itself():
    """WIR-6."""
    with pytest.raises(ApiError, match="FlyToTheMoon is no operation that this emulator knows"):
        emulator().call("FlyToTheMoon", {})


def test_invented_members_fill_neither_memory_nor_log():
    emu = emulator()
    with warnings.catch_warnings(record=True) as caught:
        for number in range(MOST_MENTIONS + 10):
            emu.call("ListTables", {f"{number:05}" + "x" * 10_000: 1})
    assert len(caught) == len(emu.account().mentioned) == MOST_MENTIONS
    assert max(map(len, emu.account().mentioned)) < 500


def test_what_is_listed_has_a_page():
    pages = {part.page.partition("#")[0] for part in UNSERVED_MEMBERS.values()}
    assert all((ROOT / "docs" / page).exists() for page in pages)
