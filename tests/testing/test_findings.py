"""Which code is a test, and not under test."""

from pathlib import Path

import pytest

from emulator.testing.findings import is_test_code


@pytest.mark.parametrize(
    ("file", "is_test"),
    [
        ("test_orders.py", True),
        ("shop/orders_test.py", True),
        ("conftest.py", True),
        ("tests/helpers.py", True),
        ("shop/test/data.py", True),
        ("shop/orders.py", False),
        ("shop/testing.py", False),
    ],
)
def test_tests_are_not_the_code_under_test(pytestconfig, file, is_test):
    assert is_test_code(pytestconfig, pytestconfig.rootpath / file) is is_test


def test_folders_above_the_project_make_no_tests(pytestconfig):
    assert not is_test_code(pytestconfig, Path("/srv/tests/shop/orders.py"))
