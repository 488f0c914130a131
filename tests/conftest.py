"""How hypothesis runs here: HYPOTHESIS_PROFILE is ci (default), dev or deep.

``ci`` draws the same examples every time, so that a red run is red for a reason in the change;
``dev`` draws new ones while one works on a room, ``deep`` many more of them at night.

And what coverage is measured of: everything but plays. And what thousands of tests would otherwise
do thousands of times: look for garbage among what was collected, compile the sources in every
process, read botocore's model of the service, tell the other process that nothing has happened.
"""

import functools
import gc
import os
import sys
from pathlib import Path

#: Without compiled sources each process, a worker or one that a test starts, compiles all that it
#: imports and rewrites the asserts of all tests. Git ignores where they lie, so they are written
#: whatever the environment says; and before hypothesis is loaded, which has many.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import pytest  # noqa: E402
from _pytest.runner import runtestprotocol  # noqa: E402
from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis.strategies import none  # noqa: E402

#: A process here holds millions of objects for good; by default Python would go through all of
#: them every few seconds, for a fifth of the whole time.
gc.set_threshold(100_000, 20, 100)

try:
    import botocore.session
except ImportError:  # an extra: its tests are skipped
    pass
else:
    botocore.session.create_loader = functools.cache(botocore.session.create_loader)

#: Hypothesis asks the wall clock whether drawing is too slow; on a busy machine it is.
UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "ci", UNTIMED, derandomize=True, print_blob=True, max_examples=50, stateful_step_count=40
)
settings.register_profile("dev", UNTIMED)
settings.register_profile("deep", UNTIMED, max_examples=2_000, stateful_step_count=100)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

#: Plays go round the loops that the tests of rooms have covered, some a million times; with
#: coverage measured they take four times as long. And some tests only read the sources.
PLAYS = (
    "architecture/test_imports.py",
    "architecture/test_rules.py",
    "architecture/test_unused.py",
    "examples",
    "lab/world/test_run.py",
    "lab/world/test_worlds.py",
    "lab/test_agreement.py",
    "lab/test_doc_pages.py",
    "lab/test_index_backlog.py",
    "lab/test_key_schemes.py",
    "lab/test_world_laws.py",
    "partiql/test_laws.py",
    "properties/test_cookbook.py",
    "properties/test_fuzz.py",
    "properties/test_measured_laws.py",
    "properties/test_pace.py",
    "properties/test_tables.py",
    "published",
    "site/test_troubleshooting.py",
)


def pytest_configure(config):
    """Keep the order of files: by default those with the fewest tests, the long plays, come last.

    Then one process plays and the other has nothing left to do; the doctests are a better end.
    """
    config.option.loadscopereorder = False


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path):
    """Look for examples in those files of tests that have any, and not through all names of all."""
    collectors = yield
    if b">>>" in file_path.read_bytes():
        return collectors
    return [collector for collector in collectors if type(collector) is pytest.Module]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Send one report of a test that passes to the process that prints them, not three.

    A report takes longer to send and to read than most tests take to run, and those of a setup and
    a teardown in which all went well are only looked at for their durations.
    """
    config = item.config
    if not hasattr(config, "workerinput") or config.option.durations is not None:
        return None
    hook, place = item.ihook, {"nodeid": item.nodeid, "location": item.location}
    hook.pytest_runtest_logstart(**place)
    for report in runtestprotocol(item, nextitem=nextitem, log=False):
        if report.when == "call" or not report.passed:
            hook.pytest_runtest_logreport(report=report)
    hook.pytest_runtest_logfinish(**place)
    return True


def pytest_collection_finish():
    """Keep what was collected, a million objects, out of all searches for garbage from here on."""
    # Hypothesis makes its source of chance in its first test and then searches for who holds it;
    # from 3.14 on the holder would be among what is frozen here, and not be found.
    given(none())(lambda _: None)()
    gc.freeze()


def pytest_collection_modifyitems(config, items):
    """Leave plays out of what coverage is measured of."""
    if not config.pluginmanager.hasplugin("_cov"):
        return
    places = [Path(__file__).parent / name for name in PLAYS]
    files = {item.path for item in items}
    played = {file for file in files if any(map(file.is_relative_to, places))}
    for item in items:
        if item.path in played:
            item.add_marker(pytest.mark.no_cover)
