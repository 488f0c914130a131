"""(f) What a fixture costs a test: set-up and taking down, for every test anew.

    python -m benchmarks.fixtures [--tests 200] [--rounds 3]

Files of tests that do nothing but ask for their fixture are run by pytest, one process each, in
turns. A clock inside of pytest takes the processor time of each test, from before its set-up until
after its report; the first tests, in which modules are loaded, do not count. Of each kind the mean
counts, so that collecting garbage is in it, of the quickest round, less that of tests without any
fixture. What each asks for:

- a fixture of pytest's own: one that does nothing and one that it asks for; the floor of all others
- ddb: an account of its own, boto3 routed to it
- ddb and a table: the same with ``ddb_table``
- ddb with 10,000 items: the same from a template that is built once and gone back to
- boto3 and a table: ``ddb``, a new boto3 client, and CreateTable through it
- boto3's own share: a new boto3 client, and CreateTable through it, answered with constant bytes
- a session and a table: as "boto3 and a table", with a new ``boto3.Session``
- a session, boto3's own share: the same, answered with constant bytes
- moto and a table: ``mock_aws``, a new boto3 client, and CreateTable through it
- moto with 10,000 items: is not tried, since moto has no way back but filling it again
"""

import argparse
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from benchmarks.measure import table

#: Tests of a file that do not count: in them modules are loaded and caches filled.
FIRST = 10
#: Kinds of tests that take so long that a tenth of their number tells as much.
SLOW = ("a session, boto3's own share", "moto and a table")
#: Takes the processor time of each test, and writes all of them into a file.
CLOCK = """
import pathlib, time, pytest
taken = []
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol():
    begun = time.process_time()
    try:
        return (yield)
    finally:
        taken.append(time.process_time() - begun)
def pytest_sessionfinish():
    pathlib.Path(__file__).with_name("taken").write_text(" ".join(map(str, taken)))
"""
PLAIN = """
import pytest
@pytest.fixture(scope="session")
def template():
    return None
@pytest.fixture
def plain(request, template):
    yield template
"""
TABLE = """
import boto3, pytest
TABLE = dict(
    TableName="things",
    KeySchema=[dict(AttributeName="pk", KeyType="HASH")],
    AttributeDefinitions=[dict(AttributeName="pk", AttributeType="S")],
    BillingMode="PAY_PER_REQUEST",
)
def create(session=boto3):
    session.client("dynamodb", region_name="us-east-1").create_table(**TABLE)
"""
FILLED = """
import pytest
from benchmarks.workbench import definition, item
@pytest.fixture(scope="session")
def ddb_template(ddb_build):
    template = ddb_build()
    with template as emu:
        emu.call("CreateTable", definition())
        for number in range(10_000):
            emu.call("PutItem", {"TableName": "bench", "Item": item(number)})
    return template
"""
#: The floor: nobody serves, and nothing is mocked.
CANNED = """
from botocore.awsrequest import AWSResponse
from emulator import Emulator
import json
BODY = json.dumps(Emulator().call("CreateTable", TABLE)).encode()
class Body:
    def stream(self):
        yield BODY
def answer(request, **_):
    fields = {"x-amzn-RequestId": "A" * 52, "Content-Length": str(len(BODY))}
    return AWSResponse(request.url, 200, fields, Body())
def create_canned(session=boto3):
    keys = dict(aws_access_key_id="local", aws_secret_access_key="local")
    client = session.client("dynamodb", region_name="us-east-1", **keys)
    client.meta.events.register("before-send", answer)
    client.create_table(**TABLE)
"""
MOTO = """
from moto import mock_aws
@pytest.fixture
def moto_table():
    with mock_aws():
        create()
        yield
"""
CASES = {
    "nothing": ("", "", "pass"),
    "a fixture of pytest's own": (PLAIN, "plain", "pass"),
    "ddb": ("", "ddb", "pass"),
    "ddb and a table": ("", "ddb_table", "ddb_table('things', 'pk')"),
    "ddb with 10,000 items": (FILLED, "ddb", "pass"),
    "boto3 and a table": (TABLE, "ddb", "create()"),
    "boto3's own share": (TABLE + CANNED, "", "create_canned()"),
    "a session and a table": (TABLE, "ddb", "create(boto3.Session())"),
    "a session, boto3's own share": (TABLE + CANNED, "", "create_canned(boto3.Session())"),
    "moto and a table": (TABLE + MOTO, "moto_table", "pass"),
}


def main(tests=200, rounds=3):
    cases = [name for name in CASES if "moto" not in name or find_spec("moto") is not None]
    taken = {name: [] for name in cases}
    for _ in range(rounds):
        for name in cases:
            number = tests // 10 if name in SLOW else tests
            taken[name].append(seconds_of_a_test(name, number))
    # The quickest round is the least disturbed one.
    per_test = {name: min(taken[name]) * 1e3 for name in cases}
    nothing = per_test.pop("nothing")
    # What is less than the noise shows as nothing.
    rows = [[name, f"{max(0.0, taken - nothing):.2f}"] for name, taken in per_test.items()]
    table(f"Fixtures, {tests} tests", ["what a test asks for", "ms per test"], rows)
    return rows


def seconds_of_a_test(name, tests):
    """Return the processor time of a test of a kind, in a pytest without other plugins."""
    head, fixture, body = CASES[name]
    functions = [f"def test_{number}({fixture}):\n    {body}\n" for number in range(FIRST + tests)]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "conftest.py").write_text(CLOCK)
        path = Path(folder) / "test_fixtures.py"
        path.write_text(head + "\n".join(functions))
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += ["-p", "pytest_dynamometer"]
        subprocess.run(
            [*command, "--rootdir", folder, str(path)],
            check=True,
            env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        counted = [float(text) for text in (Path(folder) / "taken").read_text().split()][FIRST:]
        return sum(counted) / len(counted)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tests", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    main(**vars(parser.parse_args()))
