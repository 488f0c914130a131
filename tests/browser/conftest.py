"""Chromium for the tests of pages.

The tests run where they are asked for by name, ``pytest tests/browser``. Without Chromium and
chromedriver they are skipped, unless BROWSER_TESTS=required, as in ``.ci/run``: then they fail.
"""

import os

import pytest

from tests.browser.webdriver import Browser, missing_programs, running_driver

VIEWS = [(1400, "light"), (1400, "dark"), (390, "light"), (390, "dark")]


@pytest.fixture(scope="session")
def window():
    """One browser for the session."""
    missing = missing_programs()
    if missing and os.environ.get("BROWSER_TESTS") == "required":
        pytest.fail(f"not on this machine: {', '.join(missing)}")
    if missing:
        pytest.skip(f"not on this machine: {', '.join(missing)}")
    with running_driver() as address, Browser(address) as browser:
        yield browser


@pytest.fixture
def browser(window):
    """A window of 1400 pixels in light; at the end the page has complained about nothing."""
    window.show()
    window.open("about:blank")
    yield window
    window.without_scripts(disabled=False)
    assert window.console_errors() == []


@pytest.fixture(params=VIEWS, ids=lambda view: f"{view[0]}-{view[1]}")
def every_view(request, browser):
    """The window at both widths, in light and in dark."""
    width, scheme = request.param
    browser.show(width=width, scheme=scheme)
    return browser
