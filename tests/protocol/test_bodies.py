"""Bodies: JSON as the service reads and writes it."""

from __future__ import annotations

import contextlib
import json
import sys
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.protocol import decode_json, encode_in_pieces, encode_json
from emulator.protocol.bodies import _encoder, encode_plainly
from emulator.service.errors import SerializationException

texts = st.text(max_size=6)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=10,
)
objects = st.dictionaries(texts, values, max_size=4)


def test_a_whole_surrogate_pair_is_one_character():
    assert decode_json(b'{"a": "\\ud83d\\ude00"}') == {"a": "\U0001f600"}


@given(members=objects)
def test_what_is_encoded_is_decoded(members):
    assert decode_json(encode_json(members)) == members


def test_text_is_written_as_it_is():
    assert encode_json({"a": "\u00e9\u2028"}) == '{"a":"\u00e9\u2028"}'.encode()


@pytest.mark.parametrize("members", [{"a": "\ud800"}, {"a": 2**70}])
def test_what_the_faster_encoder_refuses_is_written_by_the_other(members):
    assert json.loads(encode_json(members)) == members


@given(members=st.dictionaries(texts, values | st.floats(min_value=0.001, max_value=1e15)))
def test_both_encoders_write_the_same_bytes(members):
    pytest.importorskip("orjson", reason="orjson comes with the extra fast")
    assert encode_json(members) == encode_plainly(members)


pieces = st.lists(st.lists(values, min_size=1, max_size=3), max_size=5)


@given(
    members=objects,
    lists=st.dictionaries(texts, pieces, max_size=2),
    batches=st.dictionaries(texts, pieces, max_size=2),
)
def test_a_long_answer_in_pieces_has_the_bytes_of_the_whole(members, lists, batches):
    """Lists come in pieces as members, as those of a page, and one level below, as of a batch."""

    def answer(form):
        below = {name: form(value) for name, value in batches.items()}
        return members | {name: form(value) for name, value in lists.items()} | {"Responses": below}

    whole = encode_json(answer(lambda value: list(chain.from_iterable(value))))

    assert b"".join(encode_in_pieces(answer(iter))) == whole


def test_a_piece_is_asked_for_when_the_one_before_it_is_written():
    taken = []

    def pieces():
        for number in range(3):
            taken.append(number)
            yield [number]

    seen = [(bytes(written), len(taken)) for written in encode_in_pieces({"Items": pieces()})]

    assert [(written, count) for written, count in seen if written.isdigit()] == [
        (b"0", 1),
        (b"1", 2),
        (b"2", 3),
    ]


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
