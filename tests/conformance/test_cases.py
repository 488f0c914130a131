"""The cases of all operations through every door: call, boto3, aiobotocore, HTTP.

The cases stand beside their operation, in ``tests/operations/cases``. A test plays all cases of an
operation, each from the same state, and names those that fail.
"""

import asyncio
import http.client
import json
from contextlib import closing
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest

from emulator import ApiError, mock_dynamodb
from emulator.http.server import ServerThread
from tests.conformance.first_state import FirstState
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
OPERATIONS = sorted({case.operation for case in CASES})
each_operation = pytest.mark.parametrize("operation", OPERATIONS)


def by_call(emulator, operation, request):
    try:
        return emulator.call(operation, request), None
    except ApiError as error:
        return None, (error.code, error.message)


@pytest.fixture(scope="module", params=PROFILES)
def prepared(request):
    emulator = filled(request.param)
    return request.param, emulator, FirstState(emulator)


def ready(prepared, case):
    profile, emulator, state = prepared
    state.begin(is_refused=case.error is not None and not case.given)
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


def departures(prepared, cases, outcome_of):
    """Return the cases that do not end as they should, with what came of them instead."""
    failed = []
    for case in cases:
        profile, _ = ready(prepared, case)
        outcome = outcome_of(case)
        if outcome != expected(case, profile):
            failed.append((named(case), case.request, outcome, expected(case, profile)))
    return failed


def cases_of(operation):
    return [case for case in CASES if case.operation == operation]


@each_operation
def test_by_call(prepared, operation):
    def outcome_of(case):
        return by_call(prepared[1], case.operation, case.request)

    assert departures(prepared, cases_of(operation), outcome_of) == []


@each_operation
def test_a_refused_request_changes_nothing(prepared, operation):
    """ORD-3."""
    changed = []
    for case in filter(lambda case: case.error, cases_of(operation)):
        _, emulator = ready(prepared, case)
        before = {name: emulator.call("Scan", {"TableName": name}) for name in TABLES}
        by_call(emulator, case.operation, case.request)
        after = {name: emulator.call("Scan", {"TableName": name}) for name in TABLES}
        if after != before:
            changed.append((named(case), case.request, before, after))
    assert changed == []


@pytest.fixture(scope="module")
def server(prepared):
    with ServerThread(prepared[1]) as running:
        yield running


def by_http(connection, case):
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
    if response.status == 200:
        return body, None
    text = body.get("message", body.get("Message"))
    return None, (body["__type"].split("#")[1], text)


@each_operation
def test_by_http(prepared, server, operation):
    with closing(http.client.HTTPConnection(server.host, server.port)) as connection:
        failed = departures(prepared, cases_of(operation), partial(by_http, connection))
    assert failed == []


def sdk_cases(operation):
    return [case for case in cases_of(operation) if not case.http_only]


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


@each_operation
def test_by_boto3(prepared, sdk_client, operation):
    from botocore.exceptions import ClientError

    def outcome_of(case):
        try:
            return sdk_outcome(sdk_client._make_api_call(case.operation, case.request), None)
        except ClientError as error:
            return sdk_outcome(None, error.response)

    assert departures(prepared, sdk_cases(operation), outcome_of) == []


def test_by_aiobotocore(prepared):
    """All cases in one loop: a session costs more than a call."""
    session_module = pytest.importorskip("aiobotocore.session")
    from botocore.config import Config
    from botocore.exceptions import ClientError

    async def departures():
        failed = []
        profile = prepared[0]
        with mock_dynamodb(prepared[1]):
            session = session_module.get_session()
            config = Config(parameter_validation=False)
            async with session.create_client(
                "dynamodb", region_name="us-east-1", config=config
            ) as client:
                for case in [case for name in OPERATIONS for case in sdk_cases(name)]:
                    ready(prepared, case)
                    try:
                        answer = await client._make_api_call(case.operation, case.request)
                        outcome = sdk_outcome(answer, None)
                    except ClientError as error:
                        outcome = sdk_outcome(None, error.response)
                    if outcome != expected(case, profile):
                        failed.append((named(case), case.request, outcome))
        return failed

    assert asyncio.run(departures()) == []


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
