"""The lines of an object, as far as it can be read."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.objects import DamagedObject, lines_of

LINES = st.lists(st.binary(min_size=1).filter(lambda line: not set(line) & {10, 13}))


@settings(max_examples=30)
@given(lines=LINES, end=st.sampled_from([b"\n", b"\r\n"]), members=st.integers(1, 3))
def test_lines_come_out_as_they_went_in(lines, end, members):
    text = b"".join(line + end for line in lines)
    assert list(lines_of(text, "NONE")) == lines
    packed = gzip.compress(text) * members
    assert list(lines_of(packed, "GZIP")) == lines * members


def test_a_long_object_is_read_in_pieces():
    text = b"x" * 3_000_000 + b"\n" + b"y" * 5
    assert [len(line) for line in lines_of(gzip.compress(text), "GZIP")] == [3_000_000, 5]


@given(kept=st.integers(min_value=1, max_value=200))
def test_damage_shows_behind_the_lines_that_could_be_read(kept):
    """S3X-22: the rest of an unreadable object is skipped."""
    lines = [b"%d" % number for number in range(100)]
    packed = gzip.compress(b"\n".join(lines) + b"\n")
    seen = []
    with pytest.raises(DamagedObject):
        seen.extend(lines_of(packed[: min(kept, len(packed) - 1)], "GZIP"))
    assert seen == lines[: len(seen)]


def test_an_empty_object_has_no_lines():
    """S3X-22: such as the one that says an export has begun."""
    assert list(lines_of(b"", "GZIP")) == list(lines_of(b"", "NONE")) == []


DAMAGED = {
    "text": b"plain text",
    "header": b"\x1f\x8b but no gzip",
    "more": gzip.compress(b"a", mtime=0) + b"b",
}


@pytest.mark.parametrize("case", DAMAGED)
def test_what_is_no_gzip_is_damaged(case):
    with pytest.raises(DamagedObject):
        list(lines_of(DAMAGED[case], "GZIP"))
