"""aiobotocore and aioboto3 through ``mock_dynamodb``."""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import socket
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version

import pytest
from botocore.exceptions import ClientError

from emulator import EmulatorError, ManualClock, SystemClock, errors, mock_dynamodb
from emulator.sdk import retry_sleeps

aiobotocore = pytest.importorskip("aiobotocore")
pytest.importorskip("aiobotocore.session")
pytest.importorskip("aiobotocore.httpsession")

from aiobotocore.config import AioConfig  # noqa: E402
from aiobotocore.session import get_session  # noqa: E402

SCHEMA = {
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}


@pytest.fixture(autouse=True)
def no_settings(monkeypatch, tmp_path):
    """No region, no credentials, no files, and no way out."""

    def refuse(*_args, **_kwargs):
        raise AssertionError("something tried to leave this machine")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))


def _major_version(distribution):
    try:
        return int(version(distribution).partition(".")[0])
    except PackageNotFoundError:
        return 0


def client_in(mode=None, **settings):
    config = AioConfig(retries={"mode": mode, "total_max_attempts": 10}) if mode else None
    return get_session().create_client("dynamodb", config=config, **settings)


@pytest.mark.parametrize("fast", [False, True])
async def test_a_client_is_served(fast):
    with mock_dynamodb(fast=fast, region="eu-west-1") as emulator:
        async with client_in() as client:
            assert client.meta.region_name == "eu-west-1"
            await client.create_table(TableName="table", **SCHEMA)
            await client.get_waiter("table_exists").wait(TableName="table")
            item = {"pk": {"S": "a"}, "data": {"B": b"\0\xff"}}
            await client.put_item(TableName="table", Item=item)
            read = await client.get_item(TableName="table", Key={"pk": {"S": "a"}})
            assert read["Item"] == item
            pages = client.get_paginator("scan").paginate(TableName="table")
            assert [page["Count"] async for page in pages] == [1]
            with pytest.raises(client.exceptions.ResourceNotFoundException) as refusal:
                await client.get_item(TableName="none", Key={"pk": {"S": "a"}})
        assert refusal.value.response["Error"]["Message"] == "Requested resource not found"
        assert emulator.call("ListTables", {}) == {"TableNames": ["table"]}


async def test_a_client_made_before_is_served():
    session = get_session()
    session.set_credentials("AKIAREAL", "real")
    seen = []
    async with session.create_client("dynamodb", region_name="us-east-1") as client:
        client.meta.events.register(
            "before-send", lambda request, **_: seen.append(request.headers["Authorization"])
        )
        with mock_dynamodb():
            assert (await client.list_tables())["TableNames"] == []
    assert b"Credential=emulator/" in seen[0]


async def test_streams_are_served():
    with mock_dynamodb():
        async with get_session().create_client("dynamodbstreams") as client:
            assert (await client.list_streams())["Streams"] == []


async def test_both_sdks_share_the_emulator():
    boto3 = pytest.importorskip("boto3")
    with mock_dynamodb():
        boto3.client("dynamodb", region_name="us-east-1").create_table(TableName="table", **SCHEMA)
        async with client_in() as client:
            assert (await client.list_tables())["TableNames"] == ["table"]


async def test_tasks_with_their_own_mocks_do_not_mix():
    async def work(name):
        with mock_dynamodb():
            async with client_in() as client:
                await client.create_table(TableName=name, **SCHEMA)
                await asyncio.sleep(0)
                return (await client.list_tables())["TableNames"]

    assert await asyncio.gather(work("one"), work("two")) == [["one"], ["two"]]


def test_aiobotocore_may_come_later_or_never():
    program = (
        "import asyncio, sys\n"
        "from emulator import mock_dynamodb\n"
        "with mock_dynamodb(region='us-east-1'):\n"
        "    print('aiobotocore' in sys.modules)\n"
        "    from aiobotocore.session import get_session\n"
        "    async def main():\n"
        "        async with get_session().create_client('dynamodb') as client:\n"
        "            print((await client.list_tables())['TableNames'])\n"
        "    asyncio.run(main())\n"
        "import aiobotocore.endpoint\n"
        "print(aiobotocore.endpoint.asyncio is asyncio)\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert answer.stdout == "False\n[]\nTrue\n"


async def test_older_versions_find_the_headers_with_the_body():
    """aiobotocore 2.13 reads them there."""
    with mock_dynamodb():
        async with client_in() as client:
            bodies = []
            client.meta.events.register(
                "after-call", lambda http_response, **_: bodies.append(http_response.raw)
            )
            response = await client.list_tables()
    headers = {name.decode().lower(): value.decode() for name, value in bodies[0].raw_headers}
    assert headers == dict(response["ResponseMetadata"]["HTTPHeaders"])


# Credentials


async def test_credentials_are_hidden_or_left(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAREAL")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "real")
    with mock_dynamodb():
        assert (await get_session().get_credentials()).access_key == "emulator"
    with mock_dynamodb(hide_credentials=False):
        assert (await get_session().get_credentials()).access_key == "AKIAREAL"


async def test_no_metadata_service_is_asked_even_if_they_are_left():
    with mock_dynamodb(hide_credentials=False):
        async with client_in() as client:
            assert (await client.list_tables())["TableNames"] == []


async def test_a_client_made_before_the_mock_finds_the_account_in_its_address():
    try:
        config = AioConfig(account_id_endpoint_mode="required")
    except TypeError:
        pytest.skip("an option that this version does not have")
    keys = {"aws_access_key_id": "AKIAREAL", "aws_secret_access_key": "real"}
    session = get_session()
    async with session.create_client("dynamodb", "us-east-1", config=config, **keys) as client:
        with mock_dynamodb():
            assert (await client.list_tables())["TableNames"] == []


async def test_expired_credentials_are_not_refreshed():
    credentials = pytest.importorskip("aiobotocore.credentials")

    async def refresh():
        raise AssertionError("the token service was asked")

    session = get_session()
    session._credentials = credentials.AioDeferredRefreshableCredentials(refresh, "test")
    async with session.create_client("dynamodb", region_name="us-east-1") as client:
        with mock_dynamodb():
            assert (await client.list_tables())["TableNames"] == []
        with pytest.raises(AssertionError, match="the token service was asked"):
            await client.list_tables()


# Others


async def test_other_services_pass_untouched(monkeypatch):
    sent = []

    class Raw:
        raw_headers = ()

        async def read(self):
            return b"{}"

    async def send(_self, request):
        sent.append(request.url)
        return aiobotocore.awsrequest.AioAWSResponse(request.url, 200, {}, Raw())

    monkeypatch.setattr(aiobotocore.httpsession.AIOHTTPSession, "send", send)
    with mock_dynamodb():
        async with get_session().create_client("sqs", region_name="us-east-1") as client:
            await client.list_queues()
    assert sent == ["https://sqs.us-east-1.amazonaws.com/"]


async def test_a_request_sent_by_hand_is_refused():
    from botocore.awsrequest import AWSRequest

    request = AWSRequest(
        "POST", "https://dynamodb.us-east-1.amazonaws.com/", {"X-Amz-Target": "DynamoDB_20120810.X"}
    )
    with mock_dynamodb():
        async with aiobotocore.httpsession.AIOHTTPSession() as session:
            with pytest.raises(EmulatorError, match="would leave this machine"):
                await session.send(request.prepare())


# Time


class Throttling:
    """An emulator that refuses the first calls, and notes when each came."""

    region, account_id = "us-east-1", "000000000000"

    def __init__(self, refusals, clock=None):
        self.clock = ManualClock(start=0) if clock is None else clock
        self.refusals = refusals
        self.times = []

    def call(self, operation, request, *, region=None):
        self.times.append(self.clock.now())
        if len(self.times) <= self.refusals:
            raise errors.ProvisionedThroughputExceededException("slow down")
        return {"TableNames": [], "Table": {"TableStatus": "CREATING"}}


@pytest.fixture
def slept(monkeypatch):
    """What was slept for real."""
    sleeps = []

    async def sleep(seconds, *_args):
        sleeps.append(seconds)

    monkeypatch.setattr(retry_sleeps.asyncio, "sleep", sleep)
    return sleeps


async def test_legacy_retries_advance_the_clock(slept):
    """CAP-707."""
    with mock_dynamodb(Throttling(refusals=99)) as emulator:
        async with client_in("legacy") as client:
            with pytest.raises(ClientError) as refusal:
                await client.list_tables()
    waits = [later - earlier for earlier, later in itertools.pairwise(emulator.times)]
    assert waits == pytest.approx([0.05 * 2**retry for retry in range(9)])
    assert refusal.value.response["ResponseMetadata"]["RetryAttempts"] == 9
    assert set(slept) == {0}


async def test_standard_retries_advance_the_clock(slept):
    """CAP-708."""
    dice = random.Random(7)
    random.seed(7)
    with mock_dynamodb(Throttling(refusals=2)) as emulator:
        async with client_in("standard") as client:
            await client.list_tables()
    first = dice.random()
    assert emulator.times == pytest.approx([0, first, first + 2 * dice.random()])
    assert set(slept) == {0}


async def test_adaptive_retries_wait_in_virtual_time(slept):
    """CAP-708."""
    random.seed(7)
    with mock_dynamodb(Throttling(refusals=4)) as emulator:
        async with client_in("adaptive") as client:
            for _ in range(12):
                await client.list_tables()
    assert len(emulator.times) == 16
    assert emulator.times[-1] > 10
    assert set(slept) == {0}


async def test_waiters_advance_the_clock(slept):
    with mock_dynamodb(Throttling(0)) as emulator:
        async with client_in() as client:
            with pytest.raises(Exception, match="Max attempts exceeded"):
                await client.get_waiter("table_exists").wait(
                    TableName="t", WaiterConfig={"Delay": 7, "MaxAttempts": 3}
                )
    assert emulator.clock.now() == 14
    assert slept == [0, 0]


async def test_real_time_is_slept_through(slept):
    with mock_dynamodb(Throttling(2, clock=SystemClock())):
        async with client_in("legacy") as client:
            await client.list_tables()
    assert slept == pytest.approx([0.05, 0.1])


async def test_an_adaptive_client_on_real_time_is_left_alone(slept):
    with mock_dynamodb(Throttling(0, clock=SystemClock())):
        async with client_in("adaptive") as client:
            await client.list_tables()
            await client.list_tables()
    assert slept == []


async def test_asking_the_bucket_without_waiting_is_left_alone():
    bucket = pytest.importorskip("aiobotocore.retries.bucket")
    with mock_dynamodb(Throttling(0)):
        tokens = bucket.AsyncTokenBucket(1, bucket.Clock())
        with pytest.raises(bucket.CapacityNotAvailableError):
            await tokens.acquire(5, block=False)


async def test_the_httpx_back_end_sleeps_in_virtual_time():
    endpoint = pytest.importorskip("aiobotocore.endpoint")
    if not hasattr(endpoint, "AnyioEndpoint"):
        pytest.skip("this version has no httpx back end")
    pytest.importorskip("anyio")
    from emulator.sdk.scopes import innermost, serving

    clock = ManualClock(start=0)
    with mock_dynamodb(Throttling(0, clock=clock)):
        token = serving.set(innermost())
        await endpoint.AnyioEndpoint._sleep(object(), 5)
        serving.reset(token)
    assert clock.now() == 5


async def test_an_aioboto3_client_is_served():
    aioboto3 = pytest.importorskip("aioboto3")
    with mock_dynamodb():
        async with aioboto3.Session(region_name="us-east-1").client("dynamodb") as client:
            assert (await client.list_tables())["TableNames"] == []


@pytest.mark.skipif(
    _major_version("aioboto3") < 9, reason="older ones cannot make resources with this aiobotocore"
)
async def test_an_aioboto3_resource_is_served():
    aioboto3 = pytest.importorskip("aioboto3")
    with mock_dynamodb():
        session = aioboto3.Session(region_name="us-east-1")
        async with session.resource("dynamodb") as resource:
            table = await resource.create_table(TableName="table", **SCHEMA)
            async with table.batch_writer() as batch:
                await batch.put_item(Item={"pk": "a", "n": 1})
            assert (await table.get_item(Key={"pk": "a"}))["Item"] == {"pk": "a", "n": 1}
