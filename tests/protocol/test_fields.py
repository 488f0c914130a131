"""The fields of an answer: the same over HTTP and inside of an SDK."""

from __future__ import annotations

import zlib

from hypothesis import given
from hypothesis import strategies as st

from emulator.protocol import next_request_id, request_ids, response_fields


def test_an_answer_has_the_fields_of_the_service():
    """WIR-11."""
    fields = response_fields(
        b"{}",
        content_type="application/json",
        seconds=1_767_225_600,
        request_id="ID",
        connection="close",
    )

    assert list(fields.items()) == [
        ("Server", "Server"),
        ("Date", "Thu, 01 Jan 2026 00:00:00 GMT"),
        ("Content-Type", "application/json"),
        ("Content-Length", "2"),
        ("Connection", "close"),
        ("x-amzn-RequestId", "ID"),
        ("x-amz-crc32", str(zlib.crc32(b"{}"))),
    ]


@given(first=st.integers(min_value=0, max_value=2**128))
def test_request_ids_have_52_characters_and_differ(first):
    """WIR-11."""
    ids = request_ids(first)
    drawn = [next(ids) for _ in range(3)]

    assert len(set(drawn)) == 3
    for request_id in drawn:
        assert len(request_id) == 52
        assert request_id.isalnum()
        assert request_id == request_id.upper()


def test_the_ids_of_a_process_differ():
    assert next_request_id() != next_request_id()
