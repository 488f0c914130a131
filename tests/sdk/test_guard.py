"""The guard: what it refuses, what it lets pass, and that it goes without a trace."""

import socket

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
    yield leave
    leave()
    assert (botocore.httpsession.URLLib3Session.send, botocore.auth.SigV4Auth.add_auth) == before


@pytest.mark.parametrize("service", ["dynamodb", "dynamodbstreams"])
def test_a_request_that_would_leave_the_machine_is_refused(service):
    client = boto3.client(service, **KEYS)
    call = client.list_tables if service == "dynamodb" else client.list_streams
    with pytest.raises(EmulatorError, match=r"List\w+ was about to be sent to .*amazonaws.com"):
        call()


ROLE = """
[default]
role_arn = arn:aws:iam::123456789012:role/deploy
source_profile = base
[profile base]
aws_access_key_id = any
aws_secret_access_key = any
"""
PROGRAM = """
[default]
credential_process = touch {file}
"""


@pytest.fixture
def stranger(monkeypatch):
    """A machine without credentials."""
    for name in (
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_PROFILE",
        "AWS_EC2_METADATA_DISABLED",
    ):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, "/dev/null")


@pytest.fixture
def attempts(monkeypatch):
    """Every address that was looked up or connected to."""
    found = []

    def refuse(*address):
        found.append(address)
        raise OSError("no network in this test")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return found


@pytest.mark.parametrize("variable", ["NONE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"])
def test_nobody_is_asked_for_credentials(stranger, attempts, monkeypatch, variable):
    monkeypatch.setenv(variable, "/credentials")
    client = boto3.session.Session().client("dynamodb", region_name="us-east-1")
    with pytest.raises(EmulatorError, match="ListTables was about to be sent"):
        client.list_tables()
    assert attempts == []


async def test_nobody_is_asked_for_credentials_asynchronously(stranger, attempts):
    async with get_session().create_client("dynamodb", region_name="us-east-1") as client:
        with pytest.raises(EmulatorError, match="ListTables was about to be sent"):
            await client.list_tables()
    assert attempts == []


def test_no_program_is_run_for_credentials(stranger, tmp_path, monkeypatch):
    (tmp_path / "config").write_text(PROGRAM.format(file=tmp_path / "ran"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    boto3.session.Session().client("dynamodb", region_name="us-east-1")
    assert not (tmp_path / "ran").exists()


def test_a_client_from_before_the_guard_renews_no_credentials(
    stranger, guarded, attempts, tmp_path, monkeypatch
):
    (tmp_path / "config").write_text(ROLE)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    guarded()
    client = boto3.session.Session().client("dynamodb", region_name="us-east-1")
    leave = guard()
    with pytest.raises(EmulatorError, match=r"ListTables was about to ask sts.*amazonaws.com for"):
        client.list_tables()
    leave()
    assert attempts == []


def test_credentials_of_files_are_used(stranger, attempts, tmp_path, monkeypatch):
    (tmp_path / "config").write_text(ROLE)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    session = boto3.session.Session(profile_name="base")
    client = session.client("dynamodb", region_name="us-east-1")
    assert client._request_signer._credentials.access_key == "any"
    assert attempts == []


def test_other_services_find_credentials_as_ever(stranger, attempts):
    boto3.session.Session().client("sqs", region_name="us-east-1")
    assert {address[0] for address in attempts} == {"169.254.169.254"}


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
