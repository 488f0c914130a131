"""NextToken: bound to its request, and refused when it is none (PQL-17)."""

import pytest

from emulator.operations.statements.next_token import load_next_token, next_token
from emulator.operations.tokens import open_token, seal
from emulator.service.errors import ValidationException
from tests.operations.statement_runs import fault, put, with_sorted_table

REQUEST = {"Statement": "SELECT * FROM srt WHERE pk = ?", "Parameters": [{"S": "a"}]}
KEY = {"pk": {"S": "a\n\0"}, "sk": {"N": "1"}}


def told(request, token):
    with pytest.raises(ValidationException) as caught:
        load_next_token({**request, "NextToken": token})
    return caught.value.message


def test_a_request_without_a_token_starts():
    assert load_next_token(REQUEST) is None


def test_a_token_carries_range_and_key():
    token = next_token(REQUEST, 3, KEY)
    start = load_next_token({**REQUEST, "NextToken": token, "Limit": 5, "ConsistentRead": True})
    assert (start.number, start.key.attributes) == (3, {"pk": "a\n\0", "sk": 1})


@pytest.mark.parametrize(
    "other",
    [
        {"Statement": "SELECT * FROM srt WHERE pk = ? "},
        {"Parameters": [{"S": "b"}]},
        {"Parameters": None},
    ],
)
def test_another_statement_or_other_parameters_do_not_match(other):
    token = next_token(REQUEST, 0, KEY)
    assert told({**REQUEST, **other}, token) == "NextToken does not match request"


@pytest.mark.parametrize(
    ("number", "key"),
    [("-1", "{}"), ("x", "{}"), ("0", "[]"), ("0", "{"), ("0", '{"a": {}}'), ("0", "[" * 9000)],
)
def test_a_forged_token_is_none(number, key):
    binding, _, _ = open_token(next_token(REQUEST, 0, KEY))
    assert told(REQUEST, seal(binding, number, key)) == "Invalid NextToken"


@pytest.mark.parametrize(
    ("number", "key"), [("7", '{"pk": {"S": "a"}, "sk": {"S": "1"}}'), ("0", '{"pk": {"S": "a"}}')]
)
def test_a_token_that_does_not_suit_the_table_is_none(number, key):
    emu = with_sorted_table()
    put(emu, "srt", pk="a", sk="1")
    statement = "SELECT * FROM srt WHERE pk = 'a'"
    binding, _, _ = open_token(next_token({"Statement": statement}, 0, KEY))
    token = seal(binding, number, key)
    assert fault(emu, statement, NextToken=token) == "Invalid NextToken"
