"""Wordings, and a third one of them: a profile is a column of the catalogue (PRO-1)."""

import pytest

from emulator import ApiError, Emulator, Settings
from emulator import settings as settings_module
from emulator.operations.rules import expressions, updates
from emulator.service.catalogue import OPERATIONS, Layer
from emulator.service.wording import Wording


def test_a_column_that_is_not_there_says_the_current_words():
    wording = Wording("now", older="then")
    assert [wording.text(column) for column in ("current", "older", "newest")] == [
        "now",
        "then",
        "now",
    ]


def test_the_first_column_that_is_there_is_read():
    wording = Wording("now", older="then", classic="long ago")
    assert wording.text("classic", "older") == "long ago"
    assert wording.text("2026-10", "older") == "then"


def test_a_wording_in_a_wording_keeps_its_columns():
    inner = Wording("{x} bad", older="bad: {x}").format(x=1)
    outer = Wording("{message}", newest="<{message}>").format(message=inner)
    assert outer.columns == {"current": "1 bad", "older": "bad: 1", "newest": "<1 bad>"}


@pytest.fixture
def third(monkeypatch):
    """Return an emulator whose PutItem and UpdateTable speak a third wording."""
    monkeypatch.setitem(settings_module._CHOICES, "messages", ("2026-10", "classic", "2027-03"))
    monkeypatch.setitem(OPERATIONS["UpdateTable"].layers, "2027-03", Layer("newest"))
    monkeypatch.setitem(OPERATIONS["PutItem"].layers, "2027-03", Layer("newest", is_enveloped=True))
    monkeypatch.setitem(updates.NOTHING_TO_DO.columns, "newest", "Nothing to update")
    monkeypatch.setitem(expressions.BAD_VALUE.columns, "newest", "{key}: {message}")
    return Emulator(settings=Settings(messages="2027-03"))


def refusal(emulator, operation, request):
    with pytest.raises(ApiError) as caught:
        emulator.call(operation, request)
    return caught.value.message


def test_a_third_profile_reads_its_own_column(third):
    assert refusal(third, "UpdateTable", {"TableName": "table"}) == "Nothing to update"


def test_a_third_profile_words_what_others_said_and_envelopes_it(third):
    request = {
        "TableName": "table",
        "Item": {},
        "ConditionExpression": "a = :v",
        "ExpressionAttributeValues": {":v": {"N": "x"}},
    }
    assert refusal(third, "PutItem", request) == (
        "1 validation error detected: :v: The parameter cannot be converted to a numeric value: x"
    )


def test_where_a_third_profile_has_no_row_the_older_layer_answers(third):
    request = {"TableName": "table", "Key": {"pk": {"NS": ["1", "1"]}}}
    assert refusal(third, "GetItem", request) == "Input collection contains duplicates"
