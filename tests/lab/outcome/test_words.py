"""Numbers in words: rounding never hides that something happened."""

from hypothesis import given
from hypothesis import strategies as st

from emulator.lab.outcome import words


def plain(text):
    return text.replace(words.SPACE, " ")


@given(st.floats(min_value=0, max_value=1, exclude_min=True, exclude_max=True))
def test_a_share_that_is_neither_none_nor_all_is_never_shown_as_such(share):
    assert plain(words.percent(share)) not in ("0 %", "100 %")


@given(st.floats(min_value=1e-9, max_value=1e9))
def test_a_cost_is_never_shown_as_nothing(amount):
    assert words.dollars(amount) != "$0"


@given(st.floats(min_value=1e-6, max_value=1e9))
def test_a_duration_is_never_shown_as_nothing(seconds):
    assert plain(words.duration(seconds)) not in ("0 s", "0 ms")


@given(st.floats(min_value=1, max_value=1e15))
def test_a_count_is_within_one_percent_of_its_text(value):
    text = plain(words.count(value)).replace(",", "")
    number, _, suffix = text.partition(" ")
    shown = float(number) * {"": 1, "k": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}[suffix]
    assert abs(shown - value) <= max(0.5, value / 100)


def test_each_reason_of_the_service_has_words():
    """CAP-705: table or index, read or write, and one of four limits."""
    assert words.reason("IndexReadMaxOnDemandThroughputExceeded") == (
        "index reads: the on-demand maximum is reached"
    )
    assert words.reason("TableWriteAccountLimitExceeded") == (
        "table writes: the account's quota is reached"
    )
    assert words.reason("something else") == "something else"
