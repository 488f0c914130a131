"""Tokens of PartiQL (PQL-3)."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.expressions import END, NAME
from emulator.partiql.lexer import NUMBER, STRING, tokenize
from emulator.service.errors import ValidationException


def kinds(text):
    return [token.kind for token in tokenize(text)[:-1]]


def texts(text):
    return [token.text for token in tokenize(text)[:-1]]


def test_keywords_have_no_case_and_names_keep_theirs():
    assert kinds("select SeLeCt Selected") == ["SELECT", "SELECT", NAME]
    assert texts("Name name") == ["Name", "name"]


def test_a_name_in_double_quotes_is_never_a_keyword():
    assert kinds('"select" "a b" "it""s"') == [NAME, NAME, NAME]
    assert texts('"select" "a b" "it""s"') == ["select", "a b", 'it"s']


def test_a_doubled_quote_stands_for_itself():
    assert kinds("'it''s' ''") == [STRING, STRING]
    assert texts("'it''s' ''") == ["it's", ""]


@pytest.mark.parametrize("number", ["1", "1.", ".5", "1.5", "7.31e6", "7.31E+6", "731e-4"])
def test_numbers_may_have_a_point_and_an_exponent(number):
    """PQL-12."""
    assert kinds(number) == [NUMBER]


@pytest.mark.parametrize(
    "text", ["-- a note\nx", "x -- a note", "/* a note */x", "x/**/", "/* -- */ x", "\t\r\nx\f"]
)
def test_comments_are_white_space(text):
    assert texts(text) == ["x"]


def test_comments_in_texts_are_text():
    assert texts("'a--b /*c*/'") == ["a--b /*c*/"]


def test_signs_are_read_as_long_as_they_go():
    assert kinds("<<a>>b<=c<>d!=e<f") == [
        "<<", NAME, ">>", NAME, "<=", NAME, "<>", NAME, "!=", NAME, "<", NAME,
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["a # b", "'open", '"open', "/* open", "a ~ b", "`open", "é"])
def test_what_is_no_token_leaves_nothing_to_say(text):
    """PQL-11, as the public suite has it for comments, quotes and signs."""
    with pytest.raises(ValidationException) as caught:
        tokenize(text)
    assert caught.value.message == "Statement wasn't well formed, can't be processed: "


@given(st.text())
def test_any_text_is_tokens_or_refused(text):
    try:
        tokens = tokenize(text)
    except ValidationException:
        return
    assert tokens[-1].kind == END
    assert all(one.end <= two.start for one, two in itertools.pairwise(tokens))
