"""(f) What a fixture costs a test: set-up and taking down, for every test anew.

    python -m benchmarks.fixtures [--tests 200]

Files of tests that do nothing but ask for their fixture are run by pytest, one process each, in
turns; the time of the same number of tests without any fixture is taken off. It is processor time,
which neighbours stretch less. What each asks for:

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
import resource
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from benchmarks.measure import table

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
    one, many = ({name: [] for name in cases} for _ in range(2))
    for _ in range(rounds):
        for name in cases:
            one[name].append(seconds(name, 1))
            many[name].append(seconds(name, tests))
    # The quickest round is the least disturbed one.
    per_test = {name: (min(many[name]) - min(one[name])) / (tests - 1) * 1e3 for name in cases}
    nothing = per_test.pop("nothing")
    # What is less than the noise of starting pytest shows as nothing.
    rows = [[name, f"{max(0.0, taken - nothing):.2f}"] for name, taken in per_test.items()]
    table(f"Fixtures, {tests} tests", ["what a test asks for", "ms per test"], rows)
    return rows


def seconds(name, tests):
    """Return the processor time of pytest over so many tests of a kind; starting up included."""
    head, fixture, body = CASES[name]
    functions = [f"def test_{number}({fixture}):\n    {body}\n" for number in range(tests)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "test_fixtures.py"
        path.write_text(head + "\n".join(functions))
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        before = processor_seconds_of_children()
        subprocess.run(
            [*command, "--rootdir", folder, str(path)],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return processor_seconds_of_children() - before


def processor_seconds_of_children():
    """Return what processes that have ended took, as far as they were waited for."""
    taken = resource.getrusage(resource.RUSAGE_CHILDREN)
    return taken.ru_utime + taken.ru_stime


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tests", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    main(**vars(parser.parse_args()))
