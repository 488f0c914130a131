"""The guard: what it refuses, what it lets pass, and that it goes without a trace."""

import boto3
import botocore.auth
import botocore.httpsession
import pytest
from aiobotocore.session import get_session
from botocore.config import Config
from botocore.stub import Stubber

from emulator import EmulatorError, mock_dynamodb
from emulator.sdk import guard

KEYS = {
    "region_name": "us-east-1",
    "aws_access_key_id": "any",
    "aws_secret_access_key": "any",
}


@pytest.fixture(autouse=True)
def guarded():
    before = botocore.httpsession.URLLib3Session.send, botocore.auth.SigV4Auth.add_auth
    leave = guard()
    yield
    leave()
    assert (botocore.httpsession.URLLib3Session.send, botocore.auth.SigV4Auth.add_auth) == before


@pytest.mark.parametrize("service", ["dynamodb", "dynamodbstreams"])
def test_a_request_that_would_leave_the_machine_is_refused(service):
    client = boto3.client(service, **KEYS)
    call = client.list_tables if service == "dynamodb" else client.list_streams
    with pytest.raises(EmulatorError, match=r"List\w+ was about to be sent to .*amazonaws.com"):
        call()


def test_without_credentials_the_sentence_is_the_same(monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, "/dev/null")
    client = boto3.session.Session().client("dynamodb", region_name="us-east-1")
    with pytest.raises(EmulatorError, match="ListTables was about to be sent"):
        client.list_tables()


async def test_asynchronous_requests_are_refused():
    async with get_session().create_client("dynamodb", **KEYS) as client:
        with pytest.raises(EmulatorError, match="ListTables was about to be sent"):
            await client.list_tables()


def test_mocks_and_stubs_still_serve():
    client = boto3.client("dynamodb", **KEYS)
    with mock_dynamodb():
        assert client.list_tables()["TableNames"] == []
    with Stubber(client) as stubber:
        stubber.add_response("list_tables", {"TableNames": ["orders"]})
        assert client.list_tables()["TableNames"] == ["orders"]
    with pytest.raises(EmulatorError):
        client.list_tables()


def test_a_server_on_this_machine_may_be_asked():
    once = Config(retries={"total_max_attempts": 1})
    client = boto3.client("dynamodb", endpoint_url="http://127.0.0.1:9", config=once, **KEYS)
    with pytest.raises(Exception, match="Could not connect"):
        client.list_tables()
