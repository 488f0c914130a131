"""The cases of all operations through every door: call, boto3, aiobotocore, HTTP.

The cases stand beside their operation, in ``tests/operations/cases``.
"""

import asyncio
import http.client
import json
from importlib import import_module
from pathlib import Path

import pytest

from emulator import ApiError, mock_dynamodb
from emulator.http.server import ServerThread
from tests.operations import cases
from tests.operations.cases.case import TABLES, filled

CASES = [
    case
    for path in sorted(Path(*cases.__path__).glob("*.py"))
    if path.stem != "case"
    for case in import_module(f"tests.operations.cases.{path.stem}").CASES
]
AUTHORIZATION = (
    "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host, Signature=0"
)
PROFILES = ("2026-10", "classic")


def by_call(emulator, operation, request):
    try:
        return emulator.call(operation, request), None
    except ApiError as error:
        return None, (error.code, error.message)


@pytest.fixture(scope="module", params=PROFILES)
def prepared(request):
    emulator = filled(request.param)
    return request.param, emulator, emulator.snapshot()


def ready(prepared, case):
    profile, emulator, snapshot = prepared
    emulator.restore(snapshot)
    for operation, request in case.given:
        emulator.call(operation, request)
    return profile, emulator


def expected(case, profile):
    error = case.error
    if error is not None and profile == "classic" and case.classic is not None:
        error = (error[0], case.classic)
    return case.answer, error


def named(case):
    return f"{case.operation}: {case.rules}"


@pytest.mark.parametrize("case", CASES, ids=named)
def test_by_call(prepared, case):
    profile, emulator = ready(prepared, case)
    assert by_call(emulator, case.operation, case.request) == expected(case, profile)


@pytest.mark.parametrize("case", [case for case in CASES if case.error], ids=named)
def test_a_refused_request_changes_nothing(prepared, case):
    """ORD-3."""
    _, emulator = ready(prepared, case)
    before = {name: emulator.call("Scan", {"TableName": name}) for name in TABLES}
    by_call(emulator, case.operation, case.request)
    assert {name: emulator.call("Scan", {"TableName": name}) for name in TABLES} == before


@pytest.fixture(scope="module")
def server(prepared):
    with ServerThread(prepared[1]) as running:
        yield running


@pytest.mark.parametrize("case", CASES, ids=named)
def test_by_http(prepared, server, case):
    profile, _ = ready(prepared, case)
    connection = http.client.HTTPConnection(server.host, server.port)
    connection.request(
        "POST",
        "/",
        json.dumps(case.request),
        {
            "X-Amz-Target": f"DynamoDB_20120810.{case.operation}",
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Date": "20260101T000000Z",
            "Authorization": AUTHORIZATION,
        },
    )
    response = connection.getresponse()
    body = json.loads(response.read())
    connection.close()
    if response.status == 200:
        outcome = (body, None)
    else:
        text = body.get("message", body.get("Message"))
        outcome = (None, (body["__type"].split("#")[1], text))
    assert outcome == expected(case, profile)


SDK_CASES = [case for case in CASES if not case.http_only]


def sdk_outcome(answer, error):
    if error is not None:
        return None, (error["Error"]["Code"], error["Error"]["Message"])
    answer.pop("ResponseMetadata")
    return answer, None


@pytest.fixture(scope="module")
def sdk_client(prepared):
    """A boto3 client, made once: it costs more than all calls together."""
    boto3 = pytest.importorskip("boto3")
    from botocore.config import Config

    with mock_dynamodb(prepared[1]):
        yield boto3.Session(region_name="us-east-1").client(
            "dynamodb", config=Config(parameter_validation=False)
        )


@pytest.mark.parametrize("case", SDK_CASES, ids=named)
def test_by_boto3(prepared, sdk_client, case):
    from botocore.exceptions import ClientError

    profile, _ = ready(prepared, case)
    try:
        outcome = sdk_outcome(sdk_client._make_api_call(case.operation, case.request), None)
    except ClientError as error:
        outcome = sdk_outcome(None, error.response)
    assert outcome == expected(case, profile)


def test_by_aiobotocore(prepared):
    """All cases in one loop: a session costs more than a call."""
    session_module = pytest.importorskip("aiobotocore.session")
    from botocore.config import Config
    from botocore.exceptions import ClientError

    async def outcomes():
        found = []
        with mock_dynamodb(prepared[1]):
            session = session_module.get_session()
            config = Config(parameter_validation=False)
            async with session.create_client(
                "dynamodb", region_name="us-east-1", config=config
            ) as client:
                for case in SDK_CASES:
                    ready(prepared, case)
                    try:
                        answer = await client._make_api_call(case.operation, case.request)
                        found.append(sdk_outcome(answer, None))
                    except ClientError as error:
                        found.append(sdk_outcome(None, error.response))
        return found

    profile = prepared[0]
    for case, outcome in zip(SDK_CASES, asyncio.run(outcomes()), strict=True):
        assert outcome == expected(case, profile), named(case)


def test_a_failed_condition_shows_the_stored_item():
    """OPC-3, TXW-7."""
    emulator = filled("2026-10")
    emulator.call("PutItem", {"TableName": "hash", "Item": {"pk": {"S": "a"}, "x": {"N": "1"}}})
    request = {
        "TableName": "hash",
        "Key": {"pk": {"S": "a"}},
        "ConditionExpression": "attribute_not_exists(pk)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    stored = {"pk": {"S": "a"}, "x": {"N": "1"}}
    with pytest.raises(ApiError) as caught:
        emulator.call("DeleteItem", request)
    assert caught.value.members == {"Item": stored}
    with pytest.raises(ApiError) as caught:
        emulator.call("TransactWriteItems", {"TransactItems": [{"Delete": request}]})
    assert caught.value.members == {
        "CancellationReasons": [
            {
                "Code": "ConditionalCheckFailed",
                "Message": "The conditional request failed",
                "Item": stored,
            }
        ]
    }
