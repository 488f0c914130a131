"""Items: the names of their attributes."""

import pytest

from emulator.model.items import LONG_NAME, check_name
from emulator.service.errors import ValidationException


@pytest.mark.parametrize("name", ["a" * 65_535, "\u20ac" * 21_845])
def test_a_name_has_65535_bytes_at_most(name):
    """TYP-6: bytes of UTF-8, not characters."""
    check_name(name)
    with pytest.raises(ValidationException) as caught:
        check_name(name + "a")
    assert caught.value.message == LONG_NAME
