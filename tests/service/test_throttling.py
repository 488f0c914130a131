"""Limits and their reasons."""

import pytest

from emulator.service.throttling import AXES, ThrottlingLimit


@pytest.mark.parametrize("limit", ThrottlingLimit)
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("is_index", [False, True])
def test_a_reason_leads_back_to_its_limit(limit, axis, is_index):
    """CAP-702."""
    assert ThrottlingLimit.of(limit.reason(axis, is_index=is_index)) is limit
