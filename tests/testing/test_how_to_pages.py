"""What the how-to pages show is run here, but for those of boto3 and the lab.

A block whose first line names a file is written there; the files of a page are one project.
"""

import re
import tempfile
from pathlib import Path

import aiobotocore.session  # noqa: F401  # loaded before a pytest that forgets it
import pytest
from hypothesis import settings

pytest_plugins = ["pytester"]

PAGES = Path(__file__).parents[2] / "docs" / "how-to"
#: Plugins that every run would begin with, and that no page speaks of.
OTHERS = (
    *("anyio", "cacheprovider", "pytest_cov", "randomly", "xdist", "xdist.looponfail"),
    # They look for garbage five times at the end of every run; the run around it does so, too.
    *("threadexception", "unraisableexception"),
)
BLOCK = re.compile(r"^```python\n# (\S+\.py)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def profile():
    """Keep the profile of these tests, whatever a page loads in its own."""
    before = settings.get_current_profile_name()
    yield
    settings.load_profile(before)


@pytest.mark.parametrize(
    ("page", "tests"),
    [
        ("pytest.md", 13),
        ("migrate.md", 1),
        ("hypothesis.md", 5),
        ("interleavings.md", 2),
        ("faq.md", 4),
        ("from-moto.md", 2),
        ("from-dynamodb-local.md", 2),
        ("from-localstack.md", 1),
        ("from-dynalite.md", 1),
    ],
)
def test_the_examples_of_a_page_pass(pytester, page, tests):
    examples_pass(pytester, PAGES / page, tests)


def examples_pass(pytester, page, tests):
    """Write the files that a page shows, and run them with pytest."""
    blocks = BLOCK.findall(page.read_text())
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    for name, text in blocks:
        (pytester.path / name).write_text(text)
    without = [option for name in OTHERS for option in ("-p", f"no:{name}")]
    pytester.runpytest_inprocess(*without, "--strict-markers").assert_outcomes(passed=tests)


def test_the_examples_of_the_server_page_run(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "any")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")
    text = (PAGES / "server.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    for block in blocks:
        exec(compile(block, "server.md", "exec"), {})
    assert len(blocks) == 2


@pytest.mark.parametrize(
    ("page", "count"),
    [("data-in-and-out.md", 3), ("global-tables.md", 2), ("streams.md", 5), ("vectors.md", 2)],
)
def test_the_examples_of_a_page_on_emulators_run(page, count, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    blocks = re.findall(r"^```python\n(.*?)^```", (PAGES / page).read_text(), re.M | re.DOTALL)
    names: dict = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    assert len(blocks) == count
