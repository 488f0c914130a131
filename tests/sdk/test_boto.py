"""boto3 and botocore through ``mock_dynamodb``."""

from __future__ import annotations

import operator
import os
import socket
import subprocess
import sys
import types
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import boto3
import botocore.auth
import botocore.client
import botocore.credentials
import botocore.endpoint
import botocore.hooks
import botocore.httpsession
import botocore.loaders
import botocore.regions
import botocore.retries.bucket
import botocore.session
import botocore.signers
import botocore.useragent
import botocore.waiter
import pytest
from boto3.dynamodb.conditions import Attr, Key
from botocore import UNSIGNED
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.exceptions import ClientError, EndpointResolutionError, NoCredentialsError

from emulator import Emulator, EmulatorError, ManualClock, Settings, mock_dynamodb
from emulator.sdk.interception import NOWHERE
from emulator.sdk.scopes import HIDDEN_ENVIRONMENT
from tests.tables import vector, vector_index, vector_table

SCHEMA = {
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "N"},
    ],
    "KeySchema": [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ],
    "BillingMode": "PAY_PER_REQUEST",
}


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """Whoever opens a connection fails."""

    def refuse(*_args, **_kwargs):
        raise AssertionError("something tried to leave this machine")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture(autouse=True)
def no_settings(monkeypatch, tmp_path):
    """Nothing is configured: no region, no credentials, no files, no default session."""
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)


@pytest.fixture
def emulator():
    with mock_dynamodb(clock=ManualClock()) as emulator:
        yield emulator


@pytest.fixture
def client(emulator):
    return boto3.client("dynamodb")


@pytest.fixture
def table(client):
    client.create_table(TableName="table", **SCHEMA)
    return boto3.resource("dynamodb").Table("table")


# What is served


def test_a_client_is_served(emulator, client):
    client.create_table(TableName="table", **SCHEMA)
    item = {"pk": {"S": "a"}, "sk": {"N": "1"}, "data": {"B": b"\0\xff"}, "text": {"S": "é"}}
    client.put_item(TableName="table", Item=item)
    read = client.get_item(TableName="table", Key={"pk": {"S": "a"}, "sk": {"N": "1"}})
    assert read["Item"] == item
    assert emulator.call("ListTables", {}) == {"TableNames": ["table"]}


def test_responses_have_the_services_headers(client):
    """WIR-11."""
    metadata = client.list_tables()["ResponseMetadata"]
    headers = metadata["HTTPHeaders"]
    assert metadata["HTTPStatusCode"] == 200
    assert metadata["RetryAttempts"] == 0
    assert metadata["RequestId"] == headers["x-amzn-requestid"]
    assert set(headers) == {
        "server",
        "date",
        "content-type",
        "content-length",
        "x-amzn-requestid",
        "x-amz-crc32",
    }
    assert headers["date"] == "Thu, 01 Jan 2026 00:00:00 GMT"
    assert headers["content-type"] == "application/x-amz-json-1.0"
    assert headers["content-length"] == str(len(b'{"TableNames":[]}'))


def test_errors_are_the_clients(client):
    with pytest.raises(client.exceptions.ResourceNotFoundException) as refusal:
        client.get_item(TableName="none", Key={"pk": {"S": "a"}})
    assert refusal.value.response["Error"] == {
        "Code": "ResourceNotFoundException",
        "Message": "Requested resource not found",
    }
    assert refusal.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


def test_a_resource_is_served(table):
    table.put_item(Item={"pk": "a", "sk": 1, "price": Decimal("1.5"), "tags": {"x"}})
    with table.batch_writer() as batch:
        for number in range(2, 32):
            batch.put_item(Item={"pk": "a", "sk": number})
    found = table.query(
        KeyConditionExpression=Key("pk").eq("a") & Key("sk").lt(4),
        FilterExpression=Attr("price").not_exists(),
    )
    assert [item["sk"] for item in found["Items"]] == [2, 3]
    assert table.scan(Select="COUNT")["Count"] == 31
    assert table.table_status == "ACTIVE"
    assert [table.name for table in boto3.resource("dynamodb").tables.all()] == ["table"]


def test_paginators_and_waiters_are_served(client, table):
    client.get_waiter("table_exists").wait(TableName="table")
    with table.batch_writer() as batch:
        for number in range(10):
            batch.put_item(Item={"pk": "a", "sk": number})
    pages = client.get_paginator("scan").paginate(
        TableName="table", PaginationConfig={"PageSize": 4}
    )
    assert [page["Count"] for page in pages] == [4, 4, 2]
    client.delete_table(TableName="table")
    client.get_waiter("table_not_exists").wait(TableName="table")


def test_streams_are_served(client):
    stream = client.create_table(
        TableName="table",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        **SCHEMA,
    )["TableDescription"]["LatestStreamArn"]
    client.put_item(TableName="table", Item={"pk": {"S": "a"}, "sk": {"N": "1"}})
    streams = boto3.client("dynamodbstreams")
    [shard, *_] = streams.describe_stream(StreamArn=stream)["StreamDescription"]["Shards"]
    iterator = streams.get_shard_iterator(
        StreamArn=stream, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
    )["ShardIterator"]
    [record] = streams.get_records(ShardIterator=iterator)["Records"]
    assert record["dynamodb"]["NewImage"] == {"pk": {"S": "a"}, "sk": {"N": "1"}}


@pytest.fixture
def no_metadata_service(monkeypatch):
    """For clients made outside of a mock, which would ask it for credentials."""
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.mark.usefixtures("no_metadata_service")
def test_a_client_made_before_is_served_and_free_again_afterwards():
    client = boto3.client("dynamodb", region_name="us-east-1")
    table = boto3.resource("dynamodb", region_name="us-east-1").Table("table")
    with mock_dynamodb():
        client.create_table(TableName="table", **SCHEMA)
        table.put_item(Item={"pk": "a", "sk": 1})
        assert table.get_item(Key={"pk": "a", "sk": 1})["Item"] == {"pk": "a", "sk": 1}
    with pytest.raises(NoCredentialsError):
        client.list_tables()


class OwnSession(boto3.Session):
    """A session as a project may derive one."""


#: How the documents of the SDK make a client.
WAYS = {
    "client": lambda: boto3.client("dynamodb", "eu-west-1"),
    "resource": lambda: boto3.resource("dynamodb", "eu-west-1").meta.client,
    "table": lambda: boto3.resource("dynamodb", "eu-west-1").Table("table").meta.client,
    "session": lambda: boto3.Session(region_name="eu-west-1").client("dynamodb"),
    "derived session": lambda: OwnSession(region_name="eu-west-1").client("dynamodb"),
    "botocore": lambda: botocore.session.get_session().create_client("dynamodb", "eu-west-1"),
    "both": lambda: boto3.Session(
        botocore_session=botocore.session.Session(), region_name="eu-west-1"
    ).client("dynamodb"),
}


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_no_client_escapes_however_and_wherever_it_is_made(way, fast, monkeypatch):
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    made = WAYS[way]
    before = made()
    with (
        ThreadPoolExecutor(1) as pool,
        mock_dynamodb(region="eu-west-1", fast=fast) as emu,
    ):
        emu.call("CreateTable", {"TableName": "table", **SCHEMA})
        asked = [before, made(), pool.submit(made).result()]
        lists = [client.list_tables()["TableNames"] for client in asked]
        lists += [pool.submit(client.list_tables).result()["TableNames"] for client in asked]
    assert lists == [["table"]] * 6


@pytest.mark.parametrize(
    "settings",
    [
        {"region_name": "eu-central-1"},
        {"region_name": "cn-north-1"},
        {"region_name": "local"},
        {"endpoint_url": "http://localhost:8000"},
        {"endpoint_url": "https://vpce-1.dynamodb.us-east-1.vpce.amazonaws.com"},
        {"use_ssl": False},
        {"aws_access_key_id": "AKIAREAL", "aws_secret_access_key": "real"},
        {"config": {"signature_version": UNSIGNED}},
        {"config": {"use_dualstack_endpoint": True}},
        {"config": {"use_fips_endpoint": True}},
        {"config": {"region_name": "ap-south-1"}},
        {"config": {"account_id_endpoint_mode": "required"}},
        {"config": {"account_id_endpoint_mode": "disabled"}},
        {"config": {"endpoint_discovery_enabled": True}},
        {"config": {"proxies": {"https": "http://proxy:1"}}},
    ],
    ids=lambda settings: " ".join(str(settings.get("config", settings)).split(" object at ")[:1]),
)
@pytest.mark.parametrize("service", ["dynamodb", "dynamodbstreams"])
@pytest.mark.usefixtures("emulator")
def test_whatever_a_client_is_set_to_it_is_served(service, settings):
    if "config" in settings:
        settings = {"config": config_of(**settings["config"])}
    client = boto3.client(service, **settings)
    if service == "dynamodb":
        assert client.list_tables()["TableNames"] == []
    else:
        assert client.list_streams()["Streams"] == []


def config_of(**options):
    try:
        return Config(**options)
    except TypeError:
        pytest.skip("an option that this version of botocore does not have")


def test_an_endpoint_in_the_environment_is_served(monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://localhost:4566")
    with mock_dynamodb():
        client = boto3.client("dynamodb")
        assert client.meta.endpoint_url == "http://localhost:4566"
        assert client.list_tables()["TableNames"] == []


def test_endpoint_discovery_asks_the_emulator(emulator):
    client = boto3.client("dynamodb", config=Config(endpoint_discovery_enabled=True))
    seen = []
    client.meta.events.register("before-send", lambda request, **_: seen.append(request.url))
    client.list_tables()
    client.list_tables()
    assert set(seen) == {NOWHERE}


# Regions and accounts


def test_regions_are_apart(emulator):
    here, there = (
        boto3.client("dynamodb", region_name=name) for name in ("us-west-2", "eu-west-1")
    )
    arn = here.create_table(TableName="table", **SCHEMA)["TableDescription"]["TableArn"]
    assert arn == "arn:aws:dynamodb:us-west-2:000000000000:table/table"
    assert there.list_tables()["TableNames"] == []
    assert here.list_tables()["TableNames"] == ["table"]
    assert emulator.call("ListTables", {}, region="us-west-2") == {"TableNames": ["table"]}


def test_the_region_is_the_one_a_request_is_signed_for(emulator):
    """The region ``local`` is signed as us-east-1, and so DynamoDB Local takes it."""
    boto3.client("dynamodb", region_name="local").create_table(TableName="table", **SCHEMA)
    assert emulator.call("ListTables", {}, region="us-east-1") == {"TableNames": ["table"]}


def test_an_unsigned_request_has_its_clients_region(emulator):
    client = boto3.client(
        "dynamodb", region_name="eu-west-3", config=Config(signature_version=UNSIGNED)
    )
    client.create_table(TableName="table", **SCHEMA)
    assert emulator.call("ListTables", {}, region="eu-west-3") == {"TableNames": ["table"]}


def test_a_client_without_a_region_has_the_emulators():
    with mock_dynamodb(region="sa-east-1", account_id="123456789012"):
        client = boto3.client("dynamodb")
        assert client.meta.region_name == "sa-east-1"
        described = client.create_table(TableName="table", **SCHEMA)["TableDescription"]
        assert described["TableArn"] == "arn:aws:dynamodb:sa-east-1:123456789012:table/table"
        assert botocore.session.get_session().create_client("dynamodb").meta.region_name == (
            "sa-east-1"
        )


def test_without_a_region_the_emulator_has_that_of_the_clients(monkeypatch, tmp_path):
    """A client made at import has the region of the environment, the profile or the session."""
    with mock_dynamodb() as emu:
        assert emu.region == "us-east-1"
    (tmp_path / "config").write_text("[profile prod]\nregion = eu-west-1\n")
    monkeypatch.setenv("AWS_PROFILE", "prod")
    with mock_dynamodb() as emu:
        assert emu.region == "eu-west-1"
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-north-1")
    given = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
    early = boto3.client("dynamodb", **given)
    with mock_dynamodb() as emu:
        early.create_table(TableName="table", **SCHEMA)
        assert emu.region == "eu-north-1"
        assert emu.call("ListTables", {}) == {"TableNames": ["table"]}
    boto3.setup_default_session(region_name="eu-south-2")
    with mock_dynamodb() as emu:
        assert emu.region == boto3.client("dynamodb").meta.region_name == "eu-south-2"
    with mock_dynamodb(region="sa-east-1") as emu:
        assert emu.region == "sa-east-1"


def test_what_cannot_serve_is_refused():
    with pytest.raises(TypeError, match="an emulator, a function or a class, not 'eu-west-1'"):
        mock_dynamodb("eu-west-1")


def test_a_profile_that_is_not_there_has_no_region(monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "missing")
    with mock_dynamodb() as emu:
        assert emu.region == "us-east-1"


def test_a_configured_region_comes_first(monkeypatch):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-north-1")
    with mock_dynamodb(region="sa-east-1"):
        assert boto3.client("dynamodb").meta.region_name == "eu-north-1"
        assert boto3.Session(region_name="eu-west-2").client("dynamodb").meta.region_name == (
            "eu-west-2"
        )
        session = botocore.session.get_session()
        session.set_default_client_config(Config(region_name="eu-west-1"))
        assert session.create_client("dynamodb").meta.region_name == "eu-west-1"
        assert session.create_client("dynamodb", "eu-south-1").meta.region_name == "eu-south-1"


# Credentials


def test_real_credentials_are_hidden_and_restored(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAREAL")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "real")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token")
    monkeypatch.setenv("AWS_PROFILE", "missing")
    before = dict(os.environ)
    with mock_dynamodb():
        hidden = {name: os.environ.get(name) for name in HIDDEN_ENVIRONMENT}
        assert hidden == dict(HIDDEN_ENVIRONMENT)
        credentials = boto3.Session().get_credentials()
        assert (credentials.access_key, credentials.token) == ("emulator", None)
        with mock_dynamodb():
            pass
        assert os.environ["AWS_ACCESS_KEY_ID"] == "emulator"
    assert dict(os.environ) == before


def signed_by(client):
    """The access keys that a client's requests were signed with."""
    seen = []

    def look(request, **_):
        seen.append(request.headers["Authorization"].decode().split("Credential=")[1])

    client.meta.events.register("before-send", look)
    client.list_tables()
    return [credential.partition("/")[0] for credential in seen]


def test_a_profile_is_hidden_too(tmp_path):
    (tmp_path / "credentials").write_text(
        "[prod]\naws_access_key_id = AKIAREAL\naws_secret_access_key = real\n"
    )
    (tmp_path / "config").write_text("[profile prod]\nregion = eu-west-1\n")
    with mock_dynamodb():
        session = boto3.Session(profile_name="prod")
        assert session.get_credentials().access_key == "emulator"
        client = session.client("dynamodb")
        assert client.meta.region_name == "eu-west-1"
        assert signed_by(client) == ["emulator"]
    assert session.get_credentials().access_key == "AKIAREAL"


def test_a_signature_has_its_headers_and_is_not_computed(emulator, monkeypatch):
    """Nobody checks it, and it is a quarter of a small call."""
    monkeypatch.setattr(botocore.auth.SigV4Auth, "signature", lambda *_: pytest.fail("computed"))
    with mock_dynamodb(emulator):
        client = boto3.client("dynamodb", region_name="eu-west-1")
        seen = []
        client.meta.events.register("before-send", lambda request, **_: seen.append(request))
        client.list_tables()
    headers = {
        name: str(value, "ascii") if isinstance(value, bytes) else value
        for name, value in seen[0].headers.items()
    }
    day = headers["X-Amz-Date"][:8]
    assert headers["Authorization"] == (
        f"AWS4-HMAC-SHA256 Credential=emulator/{day}/eu-west-1/dynamodb/aws4_request, "
        f"SignedHeaders=host;x-amz-date, Signature={'0' * 64}"
    )


def test_an_endpoint_is_found_once_for_a_client_and_operation(emulator):
    looked = []
    with mock_dynamodb(emulator):
        client = boto3.client("dynamodb", region_name="eu-west-1")
        client.meta.events.register("before-endpoint-resolution", lambda **_: looked.append(1))
        for _ in range(3):
            client.list_tables()
        client.describe_limits()
    assert len(looked) == 2


def test_real_credentials_never_sign_even_if_given_or_older():
    given = {"region_name": "us-east-1", "aws_access_key_id": "AKIAREAL"}
    older = boto3.client("dynamodb", **given, aws_secret_access_key="real")
    with mock_dynamodb():
        newer = boto3.client("dynamodb", **given, aws_secret_access_key="real")
        assert signed_by(older) == signed_by(newer) == ["emulator"]


def test_credentials_can_be_left_in_sight(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAREAL")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "real")
    with mock_dynamodb(hide_credentials=False):
        assert os.environ["AWS_ACCESS_KEY_ID"] == "AKIAREAL"
        assert boto3.Session().get_credentials().access_key == "AKIAREAL"
        s3 = boto3.client("s3", region_name="us-east-1")
        assert "AKIAREAL" in s3.generate_presigned_url(
            "get_object", Params={"Bucket": "b", "Key": "k"}
        )
        assert signed_by(boto3.client("dynamodb")) == ["emulator"]


def test_no_metadata_service_is_asked_even_then():
    with mock_dynamodb(hide_credentials=False):
        assert signed_by(boto3.client("dynamodb")) == ["emulator"]


@pytest.mark.parametrize("hide_credentials", [True, False])
@pytest.mark.parametrize("mode", ["preferred", "required", "disabled"])
def test_a_client_made_before_the_mock_finds_the_account_in_its_address(mode, hide_credentials):
    keys = {"aws_access_key_id": "AKIAREAL", "aws_secret_access_key": "real"}
    config = config_of(account_id_endpoint_mode=mode)
    client = boto3.client("dynamodb", "us-east-1", config=config, **keys)
    found = []
    client.meta.events.register("before-call.*.*", lambda params, **_: found.append(params["url"]))
    with mock_dynamodb(account_id="210987654321", hide_credentials=hide_credentials):
        assert client.list_tables()["TableNames"] == []
    name = "dynamodb" if mode == "disabled" else "210987654321.ddb"
    assert found == [f"https://{name}.us-east-1.amazonaws.com/"]


def test_after_the_mock_such_a_client_has_no_account_again():
    config = config_of(account_id_endpoint_mode="required")
    keys = {"aws_access_key_id": "AKIAREAL", "aws_secret_access_key": "real"}
    client = boto3.client("dynamodb", "us-east-1", config=config, **keys)
    with mock_dynamodb():
        client.list_tables()
    with pytest.raises(EndpointResolutionError, match="no AccountID was provided"):
        client.list_tables()


@pytest.mark.parametrize("mode", ["preferred", "required", "disabled"])
def test_expired_credentials_are_not_refreshed(mode):
    def refresh():
        raise AssertionError("the token service was asked")

    session = botocore.session.get_session()
    session._credentials = botocore.credentials.RefreshableCredentials(
        "AKIAREAL",
        "real",
        "token",
        botocore.credentials.datetime.datetime(2020, 1, 1, tzinfo=botocore.credentials.tzlocal()),
        refresh,
        "test",
    )
    session._credentials._account_id = "123456789012"
    config = config_of(account_id_endpoint_mode=mode)
    client = session.create_client("dynamodb", "us-east-1", config=config)
    with mock_dynamodb():
        assert signed_by(client) == ["emulator"]
    with pytest.raises(AssertionError, match="the token service was asked"):
        client.list_tables()


def test_credentials_that_were_never_loaded_are_not_asked_for_the_account():
    def refresh():
        raise AssertionError("the token service was asked")

    session = botocore.session.get_session()
    session._credentials = botocore.credentials.DeferredRefreshableCredentials(refresh, "test")
    client = session.create_client("dynamodb", "us-east-1")
    with mock_dynamodb():
        assert signed_by(client) == ["emulator"]


# Other services, other tools


def test_other_services_pass_untouched(monkeypatch):
    monkeypatch.undo()  # this one does leave, as far as the next line
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    sent = []

    def send(_self, request):
        sent.append(request.url)
        return botocore.awsrequest.AWSResponse(request.url, 200, {}, _Raw())

    monkeypatch.setattr(botocore.httpsession.URLLib3Session, "send", send)
    client = boto3.client(
        "sqs", region_name="us-east-1", aws_access_key_id="AKIA", aws_secret_access_key="x"
    )
    with mock_dynamodb():
        client.list_queues()
    assert sent == ["https://sqs.us-east-1.amazonaws.com/"]


class _Raw:
    def stream(self):
        yield b"{}"


@pytest.mark.parametrize("moto_first", [True, False])
def test_moto_serves_the_others_in_any_order(moto_first):
    moto = pytest.importorskip("moto")
    contexts = [moto.mock_aws(), mock_dynamodb()]
    first, second = contexts if moto_first else reversed(contexts)
    with first, second:
        s3 = boto3.client("s3", region_name="us-east-1")
        s3.create_bucket(Bucket="bucket")
        s3.put_object(Bucket="bucket", Key="key", Body=b"body")
        dynamodb = boto3.client("dynamodb", region_name="us-east-1")
        arn = dynamodb.create_table(TableName="table", **SCHEMA)["TableDescription"]["TableArn"]
        assert s3.get_object(Bucket="bucket", Key="key")["Body"].read() == b"body"
        assert boto3.client("sts", region_name="us-east-1").get_caller_identity()["Account"] == (
            "123456789012"
        )
    assert arn == "arn:aws:dynamodb:us-east-1:000000000000:table/table"


def test_a_call_to_another_service_inside_a_hook_is_not_served(emulator, client, monkeypatch):
    sent = []

    def send(_self, request):
        sent.append(request.url)
        return botocore.awsrequest.AWSResponse(request.url, 200, {}, _Raw())

    monkeypatch.setattr(botocore.httpsession.URLLib3Session, "send", send)
    sqs = boto3.client("sqs", region_name="us-east-1")
    client.meta.events.register("before-send", lambda **_: sqs.list_queues() and None)
    assert client.list_tables()["TableNames"] == []
    assert sent == ["https://sqs.us-east-1.amazonaws.com/"]


def test_hooks_of_others_still_run(client):
    events = []
    for name in ("before-parameter-build", "request-created", "before-send", "after-call"):
        client.meta.events.register(name, lambda event_name, **_: events.append(event_name))
    client.list_tables()
    assert events == [
        "before-parameter-build.dynamodb.ListTables",
        "request-created.dynamodb.ListTables",
        "before-send.dynamodb.ListTables",
        "after-call.dynamodb.ListTables",
    ]


@pytest.mark.usefixtures("emulator")
def test_a_user_agent_is_its_clients():
    agents = []
    for extra in ("one", "two", "one"):
        client = boto3.client("dynamodb", config=Config(user_agent_extra=extra))
        client.meta.events.register(
            "before-send", lambda request, **_: agents.append(request.headers["User-Agent"])
        )
        client.list_tables()
        client.list_tables()
    assert [agent.split()[-1] for agent in agents] == [b"one"] * 2 + [b"two"] * 2 + [b"one"] * 2
    assert agents[0].startswith(b"Boto3/")


@pytest.mark.usefixtures("emulator")
def test_a_user_agent_is_written_once_for_clients_configured_alike(monkeypatch):
    """Each of a client's requests would have the SDK write it twice."""
    written = []
    build = botocore.useragent.UserAgentString._build_sdk_metadata
    monkeypatch.setattr(
        botocore.useragent.UserAgentString,
        "_build_sdk_metadata",
        lambda self: written.append(self) or build(self),
    )
    for appid in ("one", "one", "two", "one"):
        boto3.client("dynamodb", config=Config(user_agent_appid=appid)).list_tables()
    first = [agent for agent in written if agent._client_config.user_agent_appid == "one"]
    assert len(first) == 2  # as the client begins with it, and as it is configured in the end
    assert len(written) == 2 * len(first)


def test_a_request_sent_by_hand_is_refused(emulator):
    request = AWSRequest(
        method="POST",
        url="https://dynamodb.us-east-1.amazonaws.com/",
        data=b"{}",
        headers={"X-Amz-Target": "DynamoDB_20120810.ListTables"},
    )
    SigV4Auth(boto3.Session().get_credentials(), "dynamodb", "us-east-1").add_auth(request)
    session = botocore.httpsession.URLLib3Session()
    with pytest.raises(EmulatorError) as refusal:
        session.send(request.prepare())
    assert str(refusal.value) == (
        "a DynamoDB request to https://dynamodb.us-east-1.amazonaws.com/ would leave this "
        "machine: inside mock_dynamodb, send it with a boto3, botocore or aiobotocore client"
    )


def test_a_fault_of_the_emulator_reaches_the_caller_as_it_is():
    class Broken:
        clock, region, account_id = ManualClock(), "us-east-1", "0" * 12

        def call(self, operation, request, *, region=None):
            raise EmulatorError("broken")

    with mock_dynamodb(Broken()):
        client = boto3.client("dynamodb")
        with pytest.raises(EmulatorError, match=r"^broken$"):
            client.list_tables()


# Beginning and end

WRAPPED = [
    (botocore.client.BaseClient, "_make_api_call"),
    (botocore.loaders.Loader, "load_service_model"),
    (botocore.loaders.Loader, "load_data_with_path"),
    (botocore.client.ClientCreator, "create_client"),
    (botocore.client.ClientCreator, "_load_service_model"),
    (botocore.client.ClientCreator, "_create_methods"),
    (botocore.translate, "build_retry_config"),
    (botocore.regions, "EndpointProvider"),
    (botocore.hooks.EventAliaser, "__copy__"),
    (botocore.hooks._PrefixTrie, "__copy__"),  # type: ignore[attr-defined]  # not in the stubs
    (botocore.hooks, "accepts_kwargs"),
    (botocore.endpoint, "get_environ_proxies"),
    (botocore.endpoint.EndpointCreator, "create_endpoint"),
    (botocore.session.Session, "__init__"),
    (botocore.session.Session, "create_client"),
    (botocore.session.Session, "get_credentials"),
    (botocore.session.Session, "get_scoped_config"),
    (botocore.regions.EndpointRulesetResolver, "_resolve_param_as_builtin"),
    (botocore.signers.RequestSigner, "get_auth_instance"),
    (botocore.useragent.UserAgentString, "to_string"),
    (botocore.regions.EndpointRulesetResolver, "construct_endpoint"),
    (botocore.endpoint.Endpoint, "prepare_request"),
    (botocore.endpoint.Endpoint, "_send"),
    (botocore.httpsession.URLLib3Session, "send"),
    (botocore.waiter.Waiter, "wait"),
    (botocore.waiter, "time"),
    (botocore.endpoint, "time"),
    (botocore.retries.bucket.Clock, "current_time"),
    (botocore.retries.bucket.TokenBucket, "acquire"),
]


def attributes():
    return [vars(owner).get(name) for owner, name in WRAPPED]


def test_everything_is_put_back():
    before = attributes()
    handlers = list(botocore.handlers.BUILTIN_HANDLERS)
    with mock_dynamodb():
        assert set(attributes()).isdisjoint(before)
        with mock_dynamodb():
            pass
        assert set(attributes()).isdisjoint(before)
    assert attributes() == before
    assert handlers == botocore.handlers.BUILTIN_HANDLERS


def test_everything_is_put_back_after_an_error():
    before = attributes()

    def fail():
        with mock_dynamodb():
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert attributes() == before


@pytest.mark.usefixtures("no_metadata_service")
def test_what_somebody_else_wrapped_meanwhile_is_left_to_him():
    before = attributes()
    client = boto3.client("dynamodb", region_name="us-east-1")
    theirs = []
    try:
        with mock_dynamodb():
            for owner, name in WRAPPED:
                theirs.append(wrapped_once_more(owner, name))
            assert client.list_tables()["TableNames"] == []
        assert attributes() == theirs
        with pytest.raises(NoCredentialsError):
            client.list_tables()
        assert boto3.Session(region_name="us-east-1").client("sqs").meta.region_name == "us-east-1"
    finally:
        for (owner, name), old in zip(WRAPPED, before, strict=True):
            setattr(owner, name, old)


def wrapped_once_more(owner, name):
    ours = vars(owner)[name]
    if name == "time":
        theirs = types.SimpleNamespace(sleep=ours.sleep)
    else:
        theirs = lambda *args, **kwargs: ours(*args, **kwargs)  # noqa: E731
    setattr(owner, name, theirs)
    return theirs


def test_a_half_done_installation_is_undone(monkeypatch):
    before = attributes()[:-1]
    monkeypatch.delattr(botocore.retries.bucket.TokenBucket, "acquire")
    with pytest.raises(KeyError, match="acquire"):
        mock_dynamodb().__enter__()
    assert attributes()[:-1] == before


def test_every_mock_wraps_what_it_finds(monkeypatch):
    """What the last mock replaced is replaced alike, unless somebody changed it in between."""
    with mock_dynamodb():
        first = attributes()
    with mock_dynamodb():
        assert attributes() == first
    owner, name = WRAPPED[0]
    original = vars(owner)[name]
    theirs = lambda *args, **kwargs: original(*args, **kwargs)  # noqa: E731
    monkeypatch.setattr(owner, name, theirs)
    with mock_dynamodb():
        assert attributes()[0] not in (first[0], theirs)
        client = boto3.client("dynamodb", region_name="us-east-1")
        assert client.list_tables()["TableNames"] == []
    assert vars(owner)[name] is theirs


def test_a_mock_after_one_that_failed_wraps_everything(monkeypatch):
    with mock_dynamodb():
        pass
    with monkeypatch.context() as patched:
        patched.delattr(botocore.retries.bucket.TokenBucket, "acquire")
        with pytest.raises(KeyError, match="acquire"):
            mock_dynamodb().__enter__()
    before = attributes()
    with mock_dynamodb():
        assert not any(map(operator.is_, attributes(), before))


def test_importing_it_imports_no_sdk():
    program = (
        "import sys, emulator.sdk.boto as boto\n"
        "boto.mock_dynamodb()\n"
        "print([name for name in sys.modules if name.startswith(('boto', 'aiob', 'unittest'))])\n"
        "with boto.mock_dynamodb():\n"
        "    print('botocore' in sys.modules, 'boto3' in sys.modules, 'aiobotocore' in sys.modules)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert answer.stdout == "[]\nTrue False False\n"


def test_without_botocore_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr("emulator.sdk.boto.find_spec", lambda _: None)
    with pytest.raises(EmulatorError, match=r"pip install 'dynamometer\[boto\]'"):
        mock_dynamodb().__enter__()


# Making the emulator


def test_every_entry_has_its_own_emulator():
    mock = mock_dynamodb()
    with mock as first:
        boto3.client("dynamodb").create_table(TableName="table", **SCHEMA)
    with mock as second:
        assert boto3.client("dynamodb").list_tables()["TableNames"] == []
    assert first is not second


def test_a_given_emulator_serves_every_entry():
    emulator = Emulator()
    with mock_dynamodb(emulator) as first:
        boto3.client("dynamodb").create_table(TableName="table", **SCHEMA)
    with mock_dynamodb(emulator=emulator) as second:
        assert boto3.client("dynamodb").list_tables()["TableNames"] == ["table"]
    assert first is second is emulator


def test_options_make_the_emulator():
    clock = ManualClock()
    with mock_dynamodb(
        capacity="enforce", clock=clock, region="eu-west-1", account_id="111111111111"
    ) as emulator:
        assert (emulator.capacity, emulator.clock, emulator.region, emulator.account_id) == (
            "enforce",
            clock,
            "eu-west-1",
            "111111111111",
        )


def test_an_emulator_and_options_exclude_each_other():
    with pytest.raises(TypeError) as refusal:
        mock_dynamodb(Emulator(), capacity="off", region="eu-west-1")
    assert str(refusal.value) == (
        "mock_dynamodb takes an emulator or the options to make one, not both: capacity, region"
    )


def test_a_condition_that_fails_is_a_client_error(table):
    table.put_item(Item={"pk": "a", "sk": 1})
    with pytest.raises(ClientError) as refusal:
        table.put_item(
            Item={"pk": "a", "sk": 1},
            ConditionExpression=Attr("pk").not_exists(),
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    assert refusal.value.response["Item"] == {"pk": {"S": "a"}, "sk": {"N": "1"}}


@pytest.mark.skipif(
    "SearchVectors"
    not in botocore.session.get_session().get_service_model("dynamodb").operation_names,
    reason="this SDK has no vector search",
)
@pytest.mark.parametrize("fast", [True, False])
def test_a_search_is_served_though_its_host_is_another(fast):
    """VIX-52: whatever host the SDK's rules choose, and whichever lane serves it."""
    with mock_dynamodb():
        client = boto3.client("dynamodb", "eu-west-1")
        if not fast:  # a hook takes the long way, with a signed request
            hosts = []
            client.meta.events.register(
                "before-sign.dynamodb.SearchVectors",
                lambda request, **_: hosts.append(request.url),
            )
        index = vector_index(distance="EUCLIDEAN")
        client.create_table(**vector_table(index))
        client.get_waiter("table_exists").wait(TableName="tab")
        client.put_item(TableName="tab", Item={"pk": {"S": "a"}, "emb": vector(3, 4)})
        answer = client.search_vectors(
            TableName="tab",
            IndexName="vix",
            SearchVector=[{"N": "0"}, {"N": "0"}],
            TopK=5,
            ReturnConsumedCapacity="TOTAL",
        )
        assert answer["SearchResults"] == [{"Item": {"pk": {"S": "a"}}, "Score": 5.0}]
        assert answer["ConsumedCapacity"] == {"VectorSearchRequestBytes": 1024}
        with pytest.raises(ClientError, match="does not have the specified index: nobody"):
            client.search_vectors(
                TableName="tab", IndexName="nobody", SearchVector=[{"N": "0"}], TopK=5
            )
        if not fast:
            assert ["search-" in host for host in hosts] == [True, True]


@pytest.mark.skipif(
    "StartBulkPutItems"
    not in botocore.session.get_session().get_service_model("dynamodb").operation_names,
    reason="this SDK has no bulk puts",
)
def test_bulk_puts_have_their_waiter_and_their_paginator(tmp_path):
    """BLK-3, BLK-4."""
    (tmp_path / "bucket").mkdir()
    (tmp_path / "bucket" / "items").write_text(
        '{"Item": {"pk": {"S": "a"}, "sk": {"N": "1"}}}\n' * 3
    )
    request = {
        "TableName": "tab",
        "InputS3Configuration": {"S3Bucket": "bucket", "InputFormat": "DYNAMODB_JSON"},
        "OutputS3Configuration": {"S3Bucket": "bucket", "OutputType": ["ERROR"]},
    }
    with mock_dynamodb(clock=ManualClock(), settings=Settings(s3=tmp_path)):
        client = boto3.client("dynamodb")
        client.create_table(TableName="tab", **SCHEMA)
        arns = []
        for _ in range(3):
            job = client.start_bulk_put_items(**request)["BulkOperationDescription"]
            arns.append(job["BulkOperationArn"])
            waiter = client.get_waiter("bulk_operation_completed")
            waiter.wait(BulkOperationArn=arns[-1])
        pages = client.get_paginator("list_bulk_operations").paginate(
            PaginationConfig={"PageSize": 2}
        )
        listed = [summary for page in pages for summary in page["BulkOperationsSummaryList"]]
        assert sorted(summary["BulkOperationArn"] for summary in listed) == sorted(arns)
        assert client.scan(TableName="tab")["Count"] == 1


def test_a_conflict_with_another_region_is_tried_again():
    """CAP-707, ERR-TYPE-20, GTB-7: in legacy mode, because its status is 409."""
    config = Config(retries={"mode": "legacy"})
    with mock_dynamodb(clock=ManualClock()) as emu:
        client = boto3.client("dynamodb", region_name="us-east-1", config=config)
        client.create_table(TableName="table", **SCHEMA)
        emu.faults.add(kind="replication_conflict", times=2)
        item = {"pk": {"S": "a"}, "sk": {"N": "1"}}
        metadata = client.put_item(TableName="table", Item=item)["ResponseMetadata"]
    assert metadata["RetryAttempts"] == 2
