"""The routes under ``/_emulator/``: what a test needs of a server and the service has not.

Everything is JSON. A wrong request is answered with ``{"error": one sentence}``; nothing here
looks like an answer of the service. docs/how-to/server.md shows each route.
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import logging
import operator
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from emulator import __version__
from emulator.clock import ManualClock
from emulator.http.http_protocol import HttpRequest, HttpResponse
from emulator.http.json_protocol import PLAIN_JSON, LaterResponse
from emulator.protocol import decode_json, encode_json
from emulator.service.errors import EmulatorError, SerializationException

if TYPE_CHECKING:
    from emulator.api import Emulator
    from emulator.observe import NamespaceView
    from emulator.settings import Settings

#: Assumed: a suite keeps a few filled databases, and a forgotten loop must not fill memory.
SNAPSHOTS_KEPT: Final = 64

_log = logging.getLogger(__name__)

_MOST_PARAMETERS: Final = 100
_DIMENSIONS: Final = ("table", "index", "operation", "stream")
#: The arguments of a fault rule, besides its kind.
FAULT_MEMBERS: Final = (
    *("operations", "tables", "key", "share", "times", "after", "until"),
    *("latency", "seed", "namespace", "regions"),
)
#: How the statistics of several namespaces become one.
_JOINS: Final[dict[str, Callable[[float, float], float]]] = {
    "Sum": operator.add,
    "SampleCount": operator.add,
    "Maximum": max,
    "Minimum": min,
}

Parameters = Mapping[str, Any]


class Route(NamedTuple):
    """The handler of one method of a private route, and its description for ``openapi.py``.

    Attributes:
        answer: Returns what becomes JSON, or a whole answer.
        summary: One line; without it the route is the console's own, and is not described.
        needs: The parameters that a request must have.
        takes: Those that it may have.
        gives: The members that an answer has.
    """

    answer: Callable[[Parameters], Any]
    summary: str = ""
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()


Routes = Mapping[str, dict[str, Route]]


class ControlRoutes:
    """Answers the private routes of one server.

    Args:
        emulator: The emulator that they concern.
        more: Routes of others, by name and method.
    """

    def __init__(self, emulator: Emulator, more: Routes = MappingProxyType({})) -> None:
        self._emulator = emulator
        self._snapshots: dict[str, Any] = {}
        self._ids = itertools.count(1)
        self.routes: Routes = {**self._own_routes(), **more}

    def _own_routes(self) -> Routes:
        where = ("namespace",)
        seen = (*where, "index")
        metric = ("metric", "stat", "start", "end", *_DIMENSIONS)
        return {
            "openapi.json": {
                "GET": Route(self._describe, "This description", (), (), ("openapi", "paths"))
            },
            "health": {
                "GET": Route(self._health, "Whether it answers", (), (), ("status", "version"))
            },
            "namespaces": {
                "GET": Route(self._list_namespaces, "What holds data", (), where, ("namespaces",)),
                "DELETE": Route(self._reset, "Delete the data of a namespace", where),
            },
            "metrics": {
                "GET": Route(
                    self._metrics,
                    "All metrics with their sums as series, or the points of one metric",
                    takes=(*where, *metric),
                )
            },
            "partitions": {
                "GET": Route(
                    self._partitions,
                    "Live partitions of a table or index",
                    ("table",),
                    seen,
                    ("partitions", "settings"),
                )
            },
            "insights": {
                "GET": Route(
                    self._insights,
                    "The most accessed and most throttled keys",
                    ("table",),
                    seen,
                    ("accessed_partition_keys", "throttled_partition_keys"),
                )
            },
            "import-errors": {
                "GET": Route(
                    self._import_errors, "What an import refused", ("import",), where, ("errors",)
                )
            },
            "clock": {
                "GET": Route(self._read_clock, "The time", (), (), ("kind", "now")),
                "POST": Route(
                    self._advance_clock, "Let time pass", ("advance",), (), ("kind", "now")
                ),
            },
            "capacity": {
                "GET": Route(self._read_capacity, "The capacity mode", (), (), ("capacity",)),
                "POST": Route(
                    self._set_capacity, "Change the mode", ("capacity",), (), ("capacity",)
                ),
            },
            "reset": {"POST": Route(self._reset, "Delete all data", takes=where)},
            "snapshot": {
                "GET": Route(self._list_snapshots, "The snapshots kept", (), (), ("ids",)),
                "POST": Route(self._take_snapshot, "Keep the present state", (), (), ("id",)),
                "DELETE": Route(self._drop_snapshots, "Drop one, or all", takes=("id",)),
            },
            "snapshot/restore": {
                "POST": Route(self._restore_snapshot, "Go back to a snapshot", ("id",), where)
            },
            "faults": {
                "GET": Route(self._list_faults, "The rules in force", (), where, ("rules",)),
                "POST": Route(
                    self._add_fault, "Have requests fail", ("kind",), FAULT_MEMBERS, ("rule",)
                ),
                "DELETE": Route(self._clear_faults, "Drop the rules", takes=where),
            },
        }

    def answer(self, request: HttpRequest) -> HttpResponse:
        """Return the answer to a request whose target starts with ``/_emulator/``."""
        url = urlsplit(request.target)
        name = url.path.removeprefix("/_emulator/").strip("/")
        methods = self.routes.get(name)
        if methods is None:
            listed = ", ".join(f"/_emulator/{route}" for route in self.routes)
            return _fault(404, f"there is no route {url.path}; there are {listed}")
        route = methods.get("GET" if request.method == "HEAD" else request.method)
        if route is None:
            return _fault(405, f"{url.path} takes {' or '.join(methods)}, not {request.method}")
        try:
            parameters: dict[str, Any] = dict(parse_qsl(url.query, max_num_fields=_MOST_PARAMETERS))
            if request.body:
                parameters |= decode_json(request.body)
            for needed in route.needs:
                named_parameter(parameters, needed)
            answer = route.answer(parameters)
            return answer if isinstance(answer, HttpResponse) else _json_response(200, answer)
        except SerializationException:
            return _fault(400, "the body must be a JSON object")
        except (EmulatorError, TypeError, ValueError) as error:
            return _fault(400, str(error))
        except Exception:
            _log.exception("the emulator failed on %s %s", request.method, request.target)
            return _fault(500, "the emulator failed; the server's log says how")

    # Routes

    def _describe(self, _parameters: Parameters) -> Any:
        from emulator.http.openapi import description  # for the few who ask

        return description(self.routes)

    def _health(self, _parameters: Parameters) -> Any:
        return {"status": "ok", "version": __version__}

    def _list_namespaces(self, parameters: Parameters) -> Any:
        return {
            "namespaces": [
                {"namespace": str(view.namespace), **plain(view.namespace), **_without_name(view)}
                for view in self._chosen(parameters)
            ]
        }

    def _chosen(self, parameters: Parameters) -> list[NamespaceView]:
        """Return the namespaces that a request is about: one, those of one key, or all.

        Raises:
            EmulatorError: there is none of the name.
        """
        views = self._emulator.namespaces()
        name = parameters.get("namespace")
        if name is None:
            return views
        chosen = [view for view in views if view.namespace.is_called(name)]
        if not chosen:
            listed = ", ".join(str(view.namespace) for view in views) or "none"
            raise EmulatorError(f"there is no namespace {name!r} with anything in it: {listed}")
        return chosen

    def _holding(self, parameters: Parameters) -> list[Emulator]:
        """Return the emulator, narrowed to each chosen namespace that has the table asked for.

        Raises:
            EmulatorError: none has it.
        """
        table = parameters["table"]
        chosen = [view for view in self._chosen(parameters) if table in view.tables]
        if not chosen:
            raise EmulatorError(f"there is no table {table!r}: create it first")
        return [self._emulator.within(view.namespace) for view in chosen]

    def _metrics(self, parameters: Parameters) -> Any:
        namespaces = [view.namespace for view in self._chosen(parameters)]
        own = self._emulator.namespace  # counts errors even if it holds nothing
        if "namespace" not in parameters and own not in namespaces:
            namespaces.append(own)
        narrowed = [self._emulator.within(namespace) for namespace in namespaces]
        if "metric" in parameters:
            return {"points": _joined_points(narrowed, parameters)}
        series = []
        for emulator in narrowed:
            metrics = emulator.metrics
            for name in metrics.names():
                for dimensions in metrics.dimensions(name):
                    asked = {key: value for key, value in plain(dimensions).items() if value}
                    total = {"sum": metrics.sum(name, **asked)}
                    series.append(
                        {"metric": name, **asked, **total, "namespace": str(emulator.namespace)}
                    )
        return {"series": series}

    def _partitions(self, parameters: Parameters) -> Any:
        table, index = parameters["table"], parameters.get("index")
        holding = self._holding(parameters)
        answer = {
            "partitions": [
                {**plain(partition), "namespace": str(emulator.namespace)}
                for emulator in holding
                for partition in emulator.partitions(table, index)
            ],
            "settings": _shown_settings(self._emulator.settings),
        }
        if index is not None:
            backlogs = [
                {**plain(emulator.backlog(table, index)), "namespace": str(emulator.namespace)}
                for emulator in holding
            ]
            answer["backlogs"] = backlogs
            if len(backlogs) == 1:
                answer["backlog"] = backlogs[0]
        return answer

    def _insights(self, parameters: Parameters) -> Any:
        table, index = parameters["table"], parameters.get("index")
        answer: dict[str, list[Any]] = {}
        for emulator in self._holding(parameters):
            report = plain(emulator.insights(table, index))
            for name, keys in report.items():
                rows = [{**row, "namespace": str(emulator.namespace)} for row in keys]
                answer[name] = answer.get(name, []) + rows
        return answer

    def _import_errors(self, parameters: Parameters) -> Any:
        """Return the errors that the service would log for an import (S3X-23)."""
        arn = parameters["import"]
        for view in self._chosen(parameters):
            emulator = self._emulator.within(view.namespace)
            with contextlib.suppress(EmulatorError):
                return {"errors": emulator.import_errors(arn)}
        raise EmulatorError(f"there is no import {arn!r}")

    def _read_clock(self, _parameters: Parameters) -> Any:
        clock = self._emulator.clock
        kind = "manual" if isinstance(clock, ManualClock) else "system"
        return {"kind": kind, "now": clock.now()}

    def _advance_clock(self, parameters: Parameters) -> Any:
        clock = self._emulator.clock
        if not isinstance(clock, ManualClock):
            raise EmulatorError("this clock runs by itself; start with --clock manual to advance")
        seconds = parameters["advance"]
        if isinstance(seconds, bool) or not isinstance(seconds, int | float):
            raise EmulatorError(f"advance takes a number of seconds, not {seconds!r}")
        turns = clock.advance_in_turns(seconds)
        for _ in turns:
            return LaterResponse(PLAIN_JSON, self._finish_advance(turns, parameters))
        return self._read_clock(parameters)

    def _finish_advance(
        self, turns: Iterator[None], parameters: Parameters
    ) -> Generator[None, None, bytes]:
        yield from turns
        return encode_json(self._read_clock(parameters))

    def _read_capacity(self, _parameters: Parameters) -> Any:
        return {"capacity": self._emulator.capacity}

    def _set_capacity(self, parameters: Parameters) -> Any:
        self._emulator.set_capacity(parameters["capacity"])
        return self._read_capacity(parameters)

    def _reset(self, parameters: Parameters) -> Any:
        for emulator in self._narrowed(parameters):
            emulator.reset()
        return {}

    def _narrowed(self, parameters: Parameters) -> list[Emulator]:
        """Return the whole emulator, or what it is in the namespaces that are named."""
        if "namespace" not in parameters:
            return [self._emulator]
        return [self._emulator.within(view.namespace) for view in self._chosen(parameters)]

    def _list_snapshots(self, _parameters: Parameters) -> Any:
        return {"ids": list(self._snapshots)}

    def _take_snapshot(self, _parameters: Parameters) -> Any:
        if len(self._snapshots) >= SNAPSHOTS_KEPT:
            raise EmulatorError(f"{SNAPSHOTS_KEPT} snapshots are kept; delete some first")
        name = str(next(self._ids))
        self._snapshots[name] = self._emulator.snapshot()
        return {"id": name}

    def _restore_snapshot(self, parameters: Parameters) -> Any:
        snapshot = self._snapshots[self._snapshot_id(parameters)]
        name = parameters.get("namespace")
        if name is None:
            self._emulator.restore(snapshot)
            return {}
        kept = {namespace for namespace in snapshot.states if namespace.is_called(name)}
        there = {
            view.namespace for view in self._emulator.namespaces() if view.namespace.is_called(name)
        }
        for namespace in sorted(kept | there, key=str):
            self._emulator.within(namespace).restore(snapshot)
        return {}

    def _drop_snapshots(self, parameters: Parameters) -> Any:
        if "id" in parameters:
            del self._snapshots[self._snapshot_id(parameters)]
        else:
            self._snapshots.clear()
        return {}

    def _snapshot_id(self, parameters: Parameters) -> str:
        name = str(parameters["id"])
        if name not in self._snapshots:
            raise EmulatorError(f"there is no snapshot {name!r}")
        return name

    def _list_faults(self, parameters: Parameters) -> Any:
        return {"rules": self._emulator.faults.of(parameters.get("namespace"))}

    def _add_fault(self, parameters: Parameters) -> Any:
        return {"rule": self._emulator.faults.add(**parameters)}

    def _clear_faults(self, parameters: Parameters) -> Any:
        faults = self._emulator.faults
        for rule in faults.of(parameters.get("namespace")):
            faults.rules.remove(rule)
        return {}


def _shown_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings without the store, which may be a folder of the server or an object."""
    shown: dict[str, Any] = plain(replace(settings, s3=None))
    del shown["s3"]
    return shown


def _without_name(view: NamespaceView) -> dict[str, Any]:
    return {name: value for name, value in view._asdict().items() if name != "namespace"}


def _joined_points(emulators: list[Emulator], parameters: Parameters) -> list[Any]:
    """Return the points of a metric over some namespaces, minute by minute."""
    selected = {name: parameters[name] for name in _DIMENSIONS if name in parameters}
    for name in ("start", "end"):
        if name in parameters:
            selected[name] = float(parameters[name])
    stat = parameters.get("stat", "Sum")
    every = [emu.metrics.get(parameters["metric"], stat=stat, **selected) for emu in emulators]
    points = [of_one for of_one in every if of_one]
    if len(points) <= 1:
        return points[0] if points else []
    if stat not in _JOINS:
        raise EmulatorError(
            f"{stat} of several namespaces is meaningless: choose one with namespace="
        )
    joined: dict[Any, float] = {}
    for minute, value in (point for namespace in points for point in namespace):
        joined[minute] = _JOINS[stat](joined[minute], value) if minute in joined else value
    return sorted(joined.items())


def named_parameter(parameters: Parameters, name: str) -> Any:
    """Return a parameter that a request must name.

    Raises:
        EmulatorError: it does not.
    """
    if name not in parameters:
        raise EmulatorError(f"this route needs {name!r}")
    return parameters[name]


def _fault(status: int, sentence: str) -> HttpResponse:
    return _json_response(status, {"error": sentence})


def _json_response(status: int, value: Any) -> HttpResponse:
    return HttpResponse(status, PLAIN_JSON, encode_json(plain(value)))


def plain(value: Any) -> Any:
    """Return the JSON value of a record, a key or a number of ours.

    >>> plain({"key": ("a", Decimal("1.5"), b"x")})
    {'key': ['a', 1.5, 'eA==']}
    """
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if is_dataclass(value):
        names = [field.name for field in fields(value) if not field.name.startswith("_")]
        return {name: plain(getattr(value, name)) for name in names}
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {str(name): plain(member) for name, member in value.items()}
    return [plain(member) for member in value]
