"""Opaque tokens."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.operations.tokens import open_token, seal
from emulator.service.errors import ValidationException

parts = st.lists(
    st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"])), min_size=1
)


@given(parts)
def test_a_token_carries_its_parts(texts):
    token = seal(*texts)
    assert open_token(token) == tuple(texts)
    assert re.fullmatch("([0-9a-f]{16})*", token)


@given(st.text())
def test_any_text_is_opened_or_refused(token):
    try:
        open_token(token)
    except ValidationException as fault:
        assert fault.message == "Invalid NextToken provided"


def test_the_message_is_the_caller_s():
    with pytest.raises(ValidationException, match=r"^Invalid ShardIterator\.$"):
        open_token("?", "Invalid ShardIterator.")
