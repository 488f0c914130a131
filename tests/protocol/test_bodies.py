"""Bodies: JSON as the service reads and writes it."""

from __future__ import annotations

import contextlib

from hypothesis import given
from hypothesis import strategies as st

from emulator.protocol import decode_json, encode_json
from emulator.service.errors import SerializationException

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def test_a_whole_surrogate_pair_is_one_character():
    assert decode_json(b'{"a": "\\ud83d\\ude00"}') == {"a": "\U0001f600"}


@given(members=st.dictionaries(st.text(), values))
def test_what_is_encoded_is_decoded(members):
    assert decode_json(encode_json(members)) == members


@given(body=st.binary(max_size=64))
def test_bytes_decode_to_an_object_or_are_not_serialized(body):
    with contextlib.suppress(SerializationException):
        assert isinstance(decode_json(body), dict)
