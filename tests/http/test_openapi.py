"""The description of the private routes: it is of OpenAPI 3.1, and true."""

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from emulator import Emulator, ManualClock, __version__
from emulator.http.control import FAULT_MEMBERS, ControlRoutes
from emulator.http.http_protocol import HttpRequest
from emulator.http.openapi import PARAMETERS, description
from emulator.http.server import HttpServer, ServerOptions
from emulator.observe import FaultRule
from emulator.testing.table_notation import create_request

jsonschema = pytest.importorskip("jsonschema")

ROOT = Path(__file__).parents[2]
#: How the clients name a route.
ASKS = re.compile(r"""\b(?:post|ask)\("([a-z/]+)\"""")
#: What OpenAPI 3.1 asks of the parts that occur here. Source: its specification, sections 4.8.
FORM = {
    "type": "object",
    "required": ["openapi", "info", "paths"],
    "additionalProperties": False,
    "properties": {
        "openapi": {"pattern": r"^3\.1\.\d+$"},
        "info": {"type": "object", "required": ["title", "version"]},
        "paths": {
            "type": "object",
            "propertyNames": {"pattern": "^/"},
            "additionalProperties": {
                "type": "object",
                "propertyNames": {"enum": ["get", "post", "delete"]},
                "additionalProperties": {"$ref": "#/$defs/operation"},
            },
        },
    },
    "$defs": {
        "operation": {
            "type": "object",
            "required": ["operationId", "summary", "responses"],
            "additionalProperties": False,
            "properties": {
                "operationId": {"type": "string"},
                "summary": {"type": "string", "minLength": 1},
                "parameters": {
                    "type": "array",
                    "items": {
                        "required": ["name", "in", "schema", "required"],
                        "properties": {
                            "in": {"const": "query"},
                            "schema": {"$ref": "https://json-schema.org/draft/2020-12/schema"},
                        },
                    },
                },
                "requestBody": {"required": ["content"]},
                "responses": {
                    "additionalProperties": {"required": ["description", "content"]},
                    "required": ["200"],
                },
            },
        }
    },
}
#: A request of every operation that is described, on a manual clock.
ASKED = [
    ("GET", "openapi.json", None),
    ("GET", "health", None),
    ("GET", "namespaces", None),
    ("GET", "metrics", None),
    ("GET", "partitions?table=tab", None),
    ("GET", "insights?table=tab", None),
    ("GET", "clock", None),
    ("POST", "clock", {"advance": 1}),
    ("GET", "capacity", None),
    ("POST", "capacity", {"capacity": "enforce"}),
    ("POST", "snapshot", None),
    ("GET", "snapshot", None),
    ("POST", "snapshot/restore", {"id": "1"}),
    ("DELETE", "snapshot?id=1", None),
    ("POST", "faults", {"kind": "throttle", "share": 0.5}),
    ("GET", "faults", None),
    ("DELETE", "faults", None),
    ("POST", "tests", {"begin": "TestA"}),
    ("GET", "tests", None),
    ("DELETE", "namespaces?namespace=*", None),
    ("POST", "reset", None),
    ("POST", "stop", None),
]


@pytest.fixture(scope="module")
def server():
    emulator = Emulator(clock=ManualClock())
    emulator.call("CreateTable", create_request("tab"))
    return HttpServer(emulator, ServerOptions(), stop=lambda: None)


def ask(server, method, target, members=None):
    request = HttpRequest(method, f"/_emulator/{target}", {})
    request.body = b"" if members is None else json.dumps(members).encode()
    head, _, body = server.answer(request, keep_alive=True).partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


@pytest.fixture(scope="module")
def described(server):
    return ask(server, "GET", "openapi.json")[1]


def operation(described, method, target):
    return described["paths"][f"/_emulator/{target.partition('?')[0]}"][method.lower()]


def test_the_description_is_openapi(described):
    jsonschema.Draft202012Validator(FORM).validate(described)
    ids = [
        one["operationId"]
        for operations in described["paths"].values()
        for one in operations.values()
    ]
    assert len(set(ids)) == len(ids)
    for name in PARAMETERS:
        jsonschema.Draft202012Validator.check_schema(PARAMETERS[name])


def test_every_route_but_those_of_the_console_is_described(described, server):
    routes = {
        (f"/_emulator/{name}", method.lower())
        for name, methods in server._control.routes.items()
        for method in methods
        if not name.startswith("console/")
    }
    paths = described["paths"].items()
    assert {(path, method) for path, operations in paths for method in operations} == routes


@pytest.mark.parametrize(("method", "target", "members"), ASKED)
def test_answers_are_as_described(described, server, method, target, members):
    told = operation(described, method, target)
    status, answer = ask(server, method, target, members)
    assert status == 200, answer
    jsonschema.validate(answer, told["responses"]["200"]["content"]["application/json"]["schema"])
    if members is not None:
        body = told["requestBody"]["content"]["application/json"]["schema"]
        jsonschema.validate(members, body)
        assert members.keys() <= body["properties"].keys()


def test_every_operation_is_asked_but_one(described):
    """What an import refused needs an import."""
    asked = {
        (f"/_emulator/{target.partition('?')[0]}", method.lower()) for method, target, _ in ASKED
    }
    paths = described["paths"].items()
    known = {(path, method) for path, operations in paths for method in operations}
    assert known - asked == {("/_emulator/import-errors", "get")}


@pytest.mark.parametrize(("language", "suffix"), [("go", "go"), ("node", "cjs"), ("java", "java")])
def test_a_client_asks_for_what_is_described(described, language, suffix):
    """And is of this version."""
    files = list((ROOT / "clients" / language).rglob(f"*.{suffix}"))
    asked = {route for file in files for route in ASKS.findall(file.read_text())}
    assert {"tests", "reset", "snapshot", "snapshot/restore", "stop"} <= asked
    assert [
        route for route in asked if "post" not in described["paths"][f"/_emulator/{route}"]
    ] == []


@pytest.mark.parametrize("file", ["node/package.json", "java/pom.xml"])
def test_a_client_has_the_version_of_the_server(file):
    text = (ROOT / "clients" / file).read_text()
    assert re.search(r'(?:<version>|"version": ")([\d.]+)', text)[1] == __version__


def test_the_members_of_a_fault_are_those_of_a_rule():
    members = {member.name for member in fields(FaultRule) if member.init} - {"kind"}
    assert set(FAULT_MEMBERS) == members


def test_a_server_that_cannot_be_stopped_has_no_route_for_it():
    assert "/_emulator/stop" not in description(ControlRoutes(Emulator()).routes)["paths"]
