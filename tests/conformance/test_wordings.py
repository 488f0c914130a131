"""The twenty sentences of May that are said otherwise since: each in its profile."""

import pytest

from tests.conformance.recordings.recording import prepared
from tests.conformance.wordings import REWORDED
from tests.tables import refusal

#: How many cases of the suite of May the default profile answers in other words.
CHANGED = 20


@pytest.mark.parametrize("profile", ["classic", "2026-10"])
def test_each_profile_has_its_words(profile):
    """PRO-2, PRO-3."""
    emulator = prepared(profile)
    said = [refusal(emulator, one.operation, one.request) for one in REWORDED]
    wanted = [one.before if profile == "classic" else one.since for one in REWORDED]
    assert said == [("ValidationException", text) for text in wanted]


def test_the_table_has_them_all():
    assert len(REWORDED) == CHANGED
    assert all(one.before != one.since for one in REWORDED)
