"""How hypothesis runs here: HYPOTHESIS_PROFILE is ci (default), dev or deep.

``ci`` draws the same examples every time, so that a red run is red for a reason in the change;
``dev`` draws new ones while one works on a room, ``deep`` many more of them at night.

And what coverage is measured of: everything but plays. And what thousands of tests would otherwise
do thousands of times: look for garbage among what was collected, compile the sources in every
process, read botocore's model of the service.
"""

import functools
import gc
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

#: A process here holds millions of objects for good; by default Python would go through all of
#: them every few seconds, for a fifth of the whole time.
gc.set_threshold(100_000, 20, 100)

#: Where compiled sources go if they must not lie beside them. Without it each process, a worker or
#: one that a test starts, compiles all it imports and rewrites the asserts of all tests.
BYTECODE = Path(__file__).parents[1] / ".pytest_cache" / "bytecode"
if sys.dont_write_bytecode:
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(BYTECODE)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(BYTECODE)

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
#: coverage measured they take four times as long.
PLAYS = (
    "examples",
    "lab/aggregate/test_courses.py",
    "lab/aggregate/test_worlds.py",
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
)


def pytest_configure(config):
    """Keep the order of files: by default those with the fewest tests, the long plays, come last.

    Then one process plays and the other has nothing left to do; the doctests are a better end.
    """
    config.option.loadscopereorder = False


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


def pytest_unconfigure(config):
    """Forget the bytecode of what tests wrote into temporary folders: nobody asks for it again."""
    if not hasattr(config, "workerinput"):
        shutil.rmtree(BYTECODE.joinpath(*Path(tempfile.gettempdir()).parts[1:]), ignore_errors=True)
