"""LEX-7: the reserved words."""

import pytest

from emulator.expressions.reserved import RESERVED_WORDS, is_reserved


def test_there_are_573_words_in_upper_case():
    assert len(RESERVED_WORDS) == 573
    assert all(word == word.upper() and word.isalpha() for word in RESERVED_WORDS)


@pytest.mark.parametrize("word", ["ABORT", "status", "Name", "zONE", "ttl", "size"])
def test_a_word_is_reserved_in_any_case(word):
    assert is_reserved(word)


@pytest.mark.parametrize("word", ["pk", "sk", "status_", "#status", "remove", ""])
def test_other_words_are_free(word):
    assert not is_reserved(word)
