"""The private routes as OpenAPI 3.1, read off the table that routes them.

``GET /_emulator/openapi.json`` gives it, for clients in other languages to be written or made from.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from emulator.http.control import Route, Routes
from emulator.http.doorkeeper import PRIVATE_ROUTES

#: Of the routes and not of the distribution: the first number changes if a client must.
VERSION: Final = "1.0"

_TEXT: Final = {"type": "string"}
_NUMBER: Final = {"type": "number"}
_TEXTS: Final = {"type": "array", "items": _TEXT}
#: What a parameter is, whichever route takes it.
PARAMETERS: Final[dict[str, dict[str, Any]]] = {
    "access_key": _TEXT | {"description": "only calls with this key are of the test"},
    "advance": _NUMBER | {"description": "seconds; with --clock manual only"},
    "after": _NUMBER,
    "begin": _TEXT | {"description": "the name of a test"},
    "capacity": {"enum": ["observe", "enforce", "off"]},
    "end": {"type": ["string", "number"], "description": "the name of a test; of metrics a time"},
    "id": _TEXT | {"description": "of a snapshot"},
    "import": _TEXT | {"description": "the ARN of an import"},
    "index": _TEXT,
    "key": {"type": "object", "description": "attribute values in wire form"},
    "kind": _TEXT | {"description": "of a fault, such as throttle"},
    "latency": _NUMBER,
    "metric": _TEXT,
    "namespace": _TEXT | {"description": "KEY/REGION, or KEY for all its regions"},
    "operation": _TEXT,
    "operations": _TEXTS,
    "regions": _TEXTS,
    "seed": {"type": "integer"},
    "share": _NUMBER | {"minimum": 0, "maximum": 1},
    "start": _NUMBER,
    "stat": {"enum": ["Sum", "SampleCount", "Average", "Maximum", "Minimum"]},
    "stream": _TEXT,
    "table": _TEXT,
    "tables": _TEXTS,
    "times": {"type": "integer"},
    "until": _NUMBER,
}
_ERROR: Final = {
    "description": "What is wrong, in one sentence",
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "properties": {"error": _TEXT},
                "required": ["error"],
            }
        }
    },
}


def description(routes: Routes) -> dict[str, Any]:
    """Return the description of all routes that have a summary."""
    paths = {
        f"{PRIVATE_ROUTES}{name}": {
            method.lower(): _operation(name, method, route)
            for method, route in methods.items()
            if route.summary
        }
        for name, methods in routes.items()
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "dynamometer, private routes", "version": VERSION},
        "paths": {path: operations for path, operations in paths.items() if operations},
    }


def _operation(name: str, method: str, route: Route) -> dict[str, Any]:
    words = name.replace("/", " ").replace("-", " ").replace(".", " ").split()
    operation: dict[str, Any] = {
        "operationId": method.lower() + "".join(map(str.capitalize, words)),
        "summary": route.summary,
        "responses": {"200": _answer(route.gives), "default": _ERROR},
    }
    if method == "POST":
        if route.needs or route.takes:
            body = _members(route.needs, route.takes)
            operation["requestBody"] = {
                "required": bool(route.needs),
                "content": {"application/json": {"schema": body}},
            }
    else:
        operation["parameters"] = [
            {"name": name, "in": "query", "required": required, "schema": PARAMETERS[name]}
            for names, required in ((route.needs, True), (route.takes, False))
            for name in names
        ]
    return operation


def _members(needs: Iterable[str], takes: Iterable[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: PARAMETERS[name] for name in (*needs, *takes)},
        "required": list(needs),
    }


def _answer(gives: Iterable[str]) -> dict[str, Any]:
    schema = {"type": "object", "required": list(gives)}
    return {"description": "Done", "content": {"application/json": {"schema": schema}}}
