"""The doorway: what ``import emulator`` offers, and how little it costs."""

import importlib
import subprocess
import sys

import pytest

import emulator

SCHEMA = {
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}


def test_every_public_name_loads():
    for name in emulator.__all__:
        assert getattr(emulator, name) is not None


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("clients", "Key"),
        ("clock", "ManualClock"),
        ("designs", "read_tables"),
        ("errors", "ValidationException"),
        ("lab", "compare"),
        ("settings", "Settings"),
        ("strategies", "items"),
    ],
)
def test_every_public_module_stays_importable(module, name):
    public = importlib.import_module(f"emulator.{module}")
    assert getattr(public, name) is not None


@pytest.mark.parametrize("room", ["http", "observe", "protocol", "sdk"])
def test_the_front_of_a_room_offers_what_it_lists(room):
    front = importlib.import_module(f"emulator.{room}")
    assert len(front.__all__) == len(set(front.__all__))  # their order is ruff's matter
    assert all(getattr(front, name) is not None for name in front.__all__)


def test_dir_lists_the_public_names():
    assert dir(emulator) == sorted(emulator.__all__)


def test_a_budget_that_is_exceeded_is_caught_by_its_public_name():
    emu = emulator.Emulator()
    emu.call("CreateTable", {"TableName": "orders", **SCHEMA})
    with pytest.raises(emulator.BudgetExceeded, match="1 page of Scan"), emu.budget(scans=0):
        emu.call("Scan", {"TableName": "orders"})


def loaded_by(statement):
    """Return the modules that a statement loads in a fresh interpreter."""
    script = (
        f"import sys; before = set(sys.modules); {statement}; print(*(set(sys.modules) - before))"
    )
    return set(subprocess.check_output([sys.executable, "-c", script], text=True).split())


def test_importing_the_package_loads_nothing_of_it():
    loaded = loaded_by("import emulator")
    assert {name for name in loaded if name.startswith("emulator.")} == set()


def test_the_engine_loads_no_optional_package():
    loaded = loaded_by("from emulator import Emulator; Emulator().call('ListTables', {})")
    optional = {"boto3", "botocore", "numpy", "yaml", "rich", "hypothesis", "pytest", "asyncio"}
    assert loaded & optional == set()


@pytest.mark.parametrize(
    ("missing", "statement", "sentence"),
    [
        (
            "numpy",
            "from emulator.lab import compare",
            "emulator.lab.compare needs the module numpy: pip install 'dynamometer[lab]'",
        ),
        (
            "hypothesis",
            "from emulator.strategies import items",
            "emulator.strategies needs the module hypothesis: "
            "pip install 'dynamometer[hypothesis]'",
        ),
    ],
)
def test_what_an_extra_lacks_is_told_with_its_remedy(missing, statement, sentence):
    script = f"import sys; sys.modules[{missing!r}] = None; {statement}"
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert ended.stderr.splitlines()[-1] == f"ModuleNotFoundError: {sentence}"
