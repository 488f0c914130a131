"""The private routes as OpenAPI 3.1, read off the table that routes them.

``GET /_emulator/openapi.json`` gives it, for clients in other languages to be written or made from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from emulator.http.control import Route, Routes
from emulator.http.doorkeeper import PRIVATE_ROUTES

#: Of the routes and not of the distribution: the first number changes if a client must.
VERSION: Final = "1.0"
_WORDS = re.compile("[a-z]+")

_TEXT: Final = {"type": "string"}
_NUMBER: Final = {"type": "number"}
_INTEGER: Final = {"type": "integer"}
_TEXTS: Final = {"type": "array", "items": _TEXT}
#: What a parameter is, whichever route takes it.
PARAMETERS: Final[dict[str, dict[str, Any]]] = {
    **dict.fromkeys(("index", "metric", "operation", "stream", "table"), _TEXT),
    **dict.fromkeys(("after", "latency", "start", "until"), _NUMBER),
    **dict.fromkeys(("seed", "times"), _INTEGER),
    **dict.fromkeys(("operations", "regions", "tables"), _TEXTS),
    "access_key": _TEXT | {"description": "only calls with this key are of the test"},
    "advance": _NUMBER | {"description": "seconds; with --clock manual only"},
    "begin": _TEXT | {"description": "the name of a test"},
    "capacity": {"enum": ["observe", "enforce", "off"]},
    "end": {"type": ["string", "number"], "description": "the name of a test; of metrics a time"},
    "id": _TEXT | {"description": "of a snapshot"},
    "import": _TEXT | {"description": "the ARN of an import"},
    "key": {"type": "object", "description": "attribute values in wire form"},
    "kind": _TEXT | {"description": "of a fault, such as throttle"},
    "namespace": _TEXT | {"description": "KEY/REGION, or KEY for all its regions"},
    "share": _NUMBER | {"minimum": 0, "maximum": 1},
    "stat": {"enum": ["Sum", "SampleCount", "Average", "Maximum", "Minimum"]},
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
    operation: dict[str, Any] = {
        "operationId": method.lower() + "".join(map(str.capitalize, _WORDS.findall(name))),
        "summary": route.summary,
        "responses": {
            "200": {"description": "Done", **_json({}, route.gives)},
            "default": {
                "description": "What is wrong, in one sentence",
                **_json({"error": _TEXT}, ("error",)),
            },
        },
    }
    takes = {name: PARAMETERS[name] for name in (*route.needs, *route.takes)}
    if method != "POST":
        operation["parameters"] = [
            {"name": name, "in": "query", "required": name in route.needs, "schema": schema}
            for name, schema in takes.items()
        ]
    elif takes:
        operation["requestBody"] = {"required": bool(route.needs), **_json(takes, route.needs)}
    return operation


def _json(members: dict[str, Any], required: Iterable[str]) -> dict[str, Any]:
    """Return a body that is an object with these members, and perhaps others."""
    schema = {"type": "object", "properties": members, "required": list(required)}
    return {"content": {"application/json": {"schema": schema}}}
