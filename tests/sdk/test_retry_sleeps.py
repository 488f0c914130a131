"""The SDK's retries and waiters on the emulator's clock (CAP-707, CAP-708)."""

from __future__ import annotations

import itertools
import random
import time

import boto3
import botocore.endpoint
import botocore.retries.bucket
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, WaiterError

from emulator import Emulator, ManualClock, SystemClock, errors, mock_dynamodb
from emulator.sdk import retry_sleeps

THROTTLED = errors.ProvisionedThroughputExceededException("slow down")


class Throttling:
    """An emulator that refuses the first calls, and notes when each came."""

    region, account_id = "us-east-1", "000000000000"

    def __init__(self, refusals, clock=None, error=THROTTLED):
        self.clock = ManualClock(start=0) if clock is None else clock
        self.refusals = refusals
        self.error = error
        self.times = []

    def call(self, operation, request, *, region=None):
        self.times.append(self.clock.now())
        if len(self.times) <= self.refusals:
            raise self.error
        return {"TableNames": []}


def client_in(mode, **config):
    retries = {"mode": mode} | config
    return boto3.client("dynamodb", region_name="us-east-1", config=Config(retries=retries))


@pytest.fixture(autouse=True)
def no_real_sleep(monkeypatch):
    """A test that sleeps for real fails."""

    def refuse(seconds):
        assert seconds == 0

    monkeypatch.setattr(retry_sleeps.time, "sleep", refuse)


def test_legacy_retries_advance_the_clock_as_they_would_sleep():
    """CAP-707: 10 attempts, 50 ms doubling, 25.55 s in all."""
    with mock_dynamodb(Throttling(refusals=99)) as emulator:
        client = client_in("legacy")
        with pytest.raises(client.exceptions.ProvisionedThroughputExceededException) as refusal:
            client.list_tables()
    waits = [later - earlier for earlier, later in itertools.pairwise(emulator.times)]
    assert waits == pytest.approx([0.05 * 2**retry for retry in range(9)])
    assert emulator.clock.now() == pytest.approx(25.55)
    assert refusal.value.response["ResponseMetadata"]["RetryAttempts"] == 9
    assert "(reached max retries: 9)" in str(refusal.value)


def test_a_retry_that_succeeds_says_how_many_it_took():
    with mock_dynamodb(Throttling(refusals=3)) as emulator:
        response = client_in("legacy").list_tables()
    assert response["ResponseMetadata"]["RetryAttempts"] == 3
    assert len(emulator.times) == 4
    assert emulator.clock.now() == pytest.approx(0.05 + 0.1 + 0.2)


def test_standard_retries_advance_the_clock():
    """CAP-708: 3 attempts, random() * 2^(n-1) seconds; a seed makes it repeat."""
    dice = random.Random(7)
    expected = itertools.accumulate([0, dice.random(), 2 * dice.random()])
    random.seed(7)
    with mock_dynamodb(Throttling(refusals=99)) as emulator:
        client = client_in("standard")
        with pytest.raises(ClientError) as refusal:
            client.list_tables()
    assert emulator.times == pytest.approx(list(expected))
    assert refusal.value.response["ResponseMetadata"]["RetryAttempts"] == 2


def adaptive_run(calls=12, client=None):
    random.seed(7)
    with mock_dynamodb(Throttling(refusals=4)) as emulator:
        client = client or client_in("adaptive", total_max_attempts=10)
        for _ in range(calls):
            client.list_tables()
    return emulator.times


def test_adaptive_retries_wait_in_virtual_time():
    """CAP-708: the rate limiter reads the virtual clock, and waits for tokens on it."""
    started = time.perf_counter()
    times = adaptive_run()
    assert len(times) == 16
    assert times == sorted(times)
    # Throttled to its lowest rate, half a request per second, the client holds itself back.
    assert times[-1] > 10
    assert time.perf_counter() - started < 5


def test_adaptive_runs_repeat():
    assert adaptive_run() == pytest.approx(adaptive_run())


def test_an_adaptive_client_may_outlive_a_virtual_clock():
    client = boto3.client(
        "dynamodb",
        region_name="us-east-1",
        aws_access_key_id="x",
        aws_secret_access_key="x",
        config=Config(retries={"mode": "adaptive", "total_max_attempts": 10}),
    )
    first = adaptive_run(client=client)
    second = adaptive_run(client=client)
    assert second[-1] < 3 * first[-1]


def test_adaptive_time_passes_when_the_test_advances_the_clock():
    with mock_dynamodb(Throttling(refusals=2)) as emulator:
        client = client_in("adaptive")
        client.list_tables()
        emulator.clock.advance(3600)
        rested = emulator.clock.now()
        client.list_tables()
    assert emulator.times[-1] == rested


def test_asking_the_bucket_without_waiting_is_left_alone():
    with mock_dynamodb(Throttling(0)):
        bucket = botocore.retries.bucket.TokenBucket(1, botocore.retries.bucket.Clock())
        with pytest.raises(botocore.exceptions.CapacityNotAvailableError):
            bucket.acquire(5, block=False)


def test_an_injected_server_error_is_retried():
    """CAP-707: HTTP 500 is retried."""
    error = errors.InternalServerError("failed")
    with mock_dynamodb(Throttling(refusals=1, error=error)) as emulator:
        assert client_in("legacy").list_tables()["ResponseMetadata"]["RetryAttempts"] == 1
    assert len(emulator.times) == 2


@pytest.mark.parametrize(
    "error",
    [
        errors.RequestLimitExceeded("account"),
        errors.TransactionCanceledException("no", {"CancellationReasons": []}),
        errors.ConditionalCheckFailedException("no"),
    ],
)
def test_what_legacy_mode_does_not_retry_it_does_not(error):
    """CAP-707."""
    with mock_dynamodb(Throttling(refusals=1, error=error)) as emulator:
        client = client_in("legacy")
        with pytest.raises(ClientError):
            client.list_tables()
    assert len(emulator.times) == 1


def test_a_waiter_advances_the_clock():
    class Creating(Emulator):
        """DescribeTable says CREATING for a minute."""

        def call(self, operation, request, *, region=None):
            status = "ACTIVE" if self.clock.now() >= 60 else "CREATING"
            return {"Table": {"TableStatus": status}}

    with mock_dynamodb(Creating(clock=ManualClock(start=0))) as emulator:
        client = client_in("legacy")
        client.get_waiter("table_exists").wait(TableName="t")
        assert emulator.clock.now() == 60
        boto3.resource("dynamodb", region_name="us-east-1").Table("t").wait_until_exists()
        with pytest.raises(WaiterError):
            client.get_waiter("table_not_exists").wait(
                TableName="t", WaiterConfig={"Delay": 2, "MaxAttempts": 3}
            )
    assert emulator.clock.now() == 64


def test_real_time_is_slept_through(monkeypatch):
    slept = []
    monkeypatch.setattr(retry_sleeps.time, "sleep", slept.append)
    with mock_dynamodb(Throttling(refusals=2, clock=SystemClock())):
        client_in("legacy").list_tables()
    assert slept == pytest.approx([0.05, 0.1])


def test_another_services_retries_sleep_for_real(monkeypatch):
    slept, statuses = [], iter([500, 500, 200])
    monkeypatch.setattr(retry_sleeps.time, "sleep", slept.append)

    class Raw:
        def stream(self):
            yield b"{}"

    def send(_self, request):
        return botocore.awsrequest.AWSResponse(request.url, next(statuses), {}, Raw())

    monkeypatch.setattr(botocore.httpsession.URLLib3Session, "send", send)
    dice = random.Random(7)
    random.seed(7)
    with mock_dynamodb(Throttling(0)) as emulator:
        sqs = boto3.client(
            "sqs", region_name="us-east-1", config=Config(retries={"mode": "standard"})
        )
        sqs.list_queues()
    assert slept == [dice.random(), 2 * dice.random()]
    assert emulator.clock.now() == 0


def test_the_rest_of_the_module_is_as_it_was():
    with mock_dynamodb(Throttling(0)):
        assert botocore.endpoint.time.monotonic is time.monotonic
    assert botocore.endpoint.time is time


def test_throttling_by_the_engine_is_survived_by_retries():
    """A provisioned table with one unit refuses, the SDK waits, and the write is done."""
    with mock_dynamodb(clock=ManualClock(), capacity="enforce") as emulator:
        client = client_in("legacy")
        client.create_table(
            TableName="table",
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
        )
        started = emulator.clock.now()
        retries = 0
        for number in range(400):
            response = client.put_item(TableName="table", Item={"pk": {"S": str(number)}})
            retries += response["ResponseMetadata"]["RetryAttempts"]
        assert retries > 0
        assert 50 < emulator.clock.now() - started < 400
        assert client.scan(TableName="table", Select="COUNT")["Count"] == 400
