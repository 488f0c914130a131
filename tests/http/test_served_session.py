"""Which test a request is of, and what each test consumed."""

import json

import pytest

from emulator import Emulator
from emulator.http import served_session
from emulator.http.http_protocol import HttpRequest
from emulator.http.served_session import ServedSession
from emulator.http.server import HttpServer, ServerOptions
from emulator.observe import Budget
from emulator.sessions.session_rules import SessionRules, rules_of

TABLE = {
    "TableName": "orders",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}


class Served:
    """A server without a socket, and the session of the tests that call it."""

    def __init__(self, *, rules=None, is_on=False):
        emulator = Emulator()
        self.session = ServedSession(emulator, rules, is_on=is_on)
        self.server = HttpServer(
            emulator, ServerOptions(keys_apart=True), session=self.session, stop=lambda: None
        )

    def _send(self, target, members, fields):
        request = HttpRequest("POST", target, fields)
        request.body = json.dumps(members).encode()
        answer = self.server.answer(request, keep_alive=True)
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), json.loads(body)

    def call(self, operation, members, key="worker", **fields):
        signed = {
            "content-type": "application/x-amz-json-1.0",
            "x-amz-date": "20260101T000000Z",
            "x-amz-target": f"DynamoDB_20120810.{operation}",
            "authorization": f"AWS4-HMAC-SHA256 Credential={key}/1/eu-west-1/dynamodb/aws4_request,"
            " SignedHeaders=host, Signature=0",
        }
        named = {name.replace("_", "-"): value for name, value in fields.items()}
        status, answer = self._send("/", members, signed | named)
        assert status == 200, answer
        return answer

    def step(self, **members):
        return self._send("/_emulator/tests", members, {})

    def put(self, pk, **options):
        self.call("PutItem", {"TableName": "orders", "Item": {"pk": {"S": pk}}}, **options)

    def counts(self):
        return {record["test"]: record["calls"] for record in self.session.records()}


@pytest.fixture
def served():
    """A server with a table, which listens from now on."""
    made = Served()
    made.call("CreateTable", TABLE)
    made.step(begin="ends at once")
    made.step(end="ends at once")
    return made


def test_nothing_is_kept_before_a_test_begins():
    served = Served()
    served.call("CreateTable", TABLE)
    assert (served.session.is_on, served.session.records()) == (False, [])


def test_a_request_that_names_no_test_is_of_its_namespace(served):
    served.put("a")
    assert served.counts() == {"worker/eu-west-1": 1}


def test_a_test_says_its_name_with_each_request(served):
    served.put("a", x_dynamometer_test="TestA")
    served.put("a", x_dynamometer_test="TestB")
    served.put("a", x_dynamometer_test="TestA")
    assert served.counts() == {"TestA": 2, "TestB": 1}


def test_a_test_may_be_the_app_id_of_an_sdk(served):
    agent = "aws-sdk-go-v2/1.30.0 ua/2.1 os/linux lang/go#1.26 app/TestOrders-1 m/E,e"
    served.put("a", user_agent=agent)
    served.put("a", user_agent="whatsapp/2.0 wrapp/1")
    assert served.counts() == {"TestOrders-1": 1, "worker/eu-west-1": 1}


def test_a_test_takes_all_calls_from_its_begin_to_its_end(served):
    served.step(begin="TestA")
    served.put("a", user_agent="app/Shop")
    served.put("a", x_dynamometer_test="TestC")
    status, record = served.step(end="TestA")
    served.put("a")
    assert (status, record["calls"], record["write_units"]) == (200, 1, 1.0)
    assert record["namespaces"] == ["worker/eu-west-1"]
    assert served.counts() == {"TestA": 1, "TestC": 1, "worker/eu-west-1": 1}


def test_tests_that_run_at_the_same_time_are_told_apart_by_their_keys(served):
    served.call("CreateTable", TABLE, key="two")
    served.step(begin="TestOne", access_key="worker")
    served.step(begin="TestTwo", access_key="two")
    served.put("a")
    served.put("a", key="two")
    served.put("b", key="two")
    assert served.step(end="TestTwo")[1]["calls"] == 2
    assert served.step(end="TestOne")[1]["calls"] == 1


def test_a_test_that_runs_again_begins_with_nothing(served):
    for pk in ("a", "b"):
        served.step(begin="TestA")
        served.put(pk)
        assert served.step(end="TestA")[1]["calls"] == 1
    assert served.counts() == {"TestA": 1}


def test_what_a_test_consumed_outlives_its_tables(served):
    served.step(begin="TestA")
    served.put("a")
    served.step(end="TestA")
    served.session._emulator.reset()
    [record] = served.session.records()
    assert (record["test"], record["write_units"]) == ("TestA", 1.0)


def test_a_budget_fails_the_test_that_exceeds_it():
    served = Served(rules=SessionRules(budgets={"TestA": Budget(wcu=1)}), is_on=True)
    served.call("CreateTable", TABLE)
    served.step(begin="TestA")
    served.put("a")
    served.put("b")
    [failure] = served.step(end="TestA")[1]["failures"]
    assert failure.startswith("2 write units were consumed, and the budget is 1\n")


def test_a_finding_fails_the_test_that_scans():
    served = Served(rules=rules_of("scan", None), is_on=True)
    served.call("CreateTable", TABLE)
    served.call("Scan", {"TableName": "orders"}, x_dynamometer_test="TestA")
    failed = {record["test"]: bool(record["failures"]) for record in served.session.records()}
    assert failed == {"TestA": True, "worker/eu-west-1": False}


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        ({}, "this route needs 'begin' or 'end' with the name of a test"),
        ({"begin": ""}, "a test's name is text of 1 to 500 characters, not ''"),
        ({"begin": 3}, "a test's name is text of 1 to 500 characters, not 3"),
        (
            {"end": "TestA"},
            "there is no test 'TestA' that has begun; begin it by {'begin': 'TestA'}",
        ),
    ],
)
def test_a_wrong_step_is_one_sentence(served, step, sentence):
    assert served.step(**step) == (400, {"error": sentence})


def test_more_tests_than_are_kept_are_counted_for_their_namespace(served, monkeypatch):
    monkeypatch.setattr(served_session, "MOST_TESTS", 2)
    served.put("a", x_dynamometer_test="TestA")
    served.put("a", x_dynamometer_test="TestB")
    assert served.counts() == {"TestA": 1, "worker/eu-west-1": 1}
    status, answer = served.step(begin="TestC")
    sentence = "this server keeps the records of 2 tests and takes no more"
    assert (status, answer) == (400, {"error": sentence})
