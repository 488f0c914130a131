"""Bodies: JSON as the service reads and writes it."""

from __future__ import annotations

import contextlib
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.protocol import decode_json, encode_json, encode_page
from emulator.protocol.bodies import _encoder, encode_plainly
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


def test_text_is_written_as_it_is():
    assert encode_json({"a": "\u00e9\u2028"}) == '{"a":"\u00e9\u2028"}'.encode()


@pytest.mark.parametrize("members", [{"a": "\ud800"}, {"a": 2**70}])
def test_what_the_faster_encoder_refuses_is_written_by_the_other(members):
    assert json.loads(encode_json(members)) == members


@given(members=st.dictionaries(st.text(), values | st.floats(min_value=0.001, max_value=1e15)))
def test_both_encoders_write_the_same_bytes(members):
    pytest.importorskip("orjson", reason="orjson comes with the extra fast")
    assert encode_json(members) == encode_plainly(members)


@given(
    items=st.lists(values, max_size=5),
    times=st.integers(1, 40),
    others=st.dictionaries(st.text(), values),
)
def test_a_page_in_pieces_has_the_bytes_of_the_whole(items, times, others):
    others.pop("Items", None)
    whole = encode_json({"Items": items * times, **others})
    pieces = list(encode_page(items * times, others))

    assert b"".join(pieces) == whole
    assert len(pieces) == 2 + -(-len(items) * times // 64)


def test_items_that_are_written_are_let_go():
    items = [{}] * 100
    left = [len(items) for _ in encode_page(items, {})]

    assert left == [100, 36, 0, 0]


def test_without_the_extra_answers_are_written_all_the_same(monkeypatch):
    monkeypatch.setitem(sys.modules, "orjson", None)
    _encoder.cache_clear()
    try:
        assert encode_json({"a": ["b"]}) == b'{"a":["b"]}'
    finally:
        _encoder.cache_clear()


@given(body=st.binary(max_size=64))
def test_bytes_decode_to_an_object_or_are_not_serialized(body):
    with contextlib.suppress(SerializationException):
        assert isinstance(decode_json(body), dict)
