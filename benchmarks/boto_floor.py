"""What a boto3 call costs in-process, against boto3 itself with a canned answer.

    python -m benchmarks.boto_floor                 about half a minute
    python -m benchmarks.boto_floor --rounds 40     steadier figures

One process, one thread. Lanes take turns, a few calls each per round, so that all of them meet
the same machine; a lane's time is its median round, its ratio the median of the ratios to the
floor of the same round. The lanes:

- floor: boto3 as it is, answered with constant bytes by an event handler of its own: what
  serialising, signing and parsing cost.
- mock: ``mock_dynamodb()``. It saves the SDK the writing of user agents and the computing of
  signatures, each about a quarter of the floor of a small call.
- fast: ``mock_dynamodb(fast=True)``, which skips the SDK's serialising, signing and parsing.
- moto: ``mock_aws()``, if moto is installed.

The item has eight attributes and some 250 bytes; the query returns ten of them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from typing import Any

import boto3
from botocore.awsrequest import AWSResponse

from benchmarks.measure import table
from emulator import Emulator, mock_dynamodb

REGION = "us-east-1"
TABLE = {
    "TableName": "floor",
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
ITEMS_IN_QUERY = 10

Lane = tuple[str, Callable[[], AbstractContextManager[None]], Any]


def item(number: int) -> dict[str, Any]:
    return {
        "pk": {"S": "device-0001"},
        "sk": {"N": str(number)},
        "kind": {"S": "temperature"},
        "value": {"N": "21.5"},
        "ok": {"BOOL": True},
        "tags": {"SS": ["cellar", "north", "spare"]},
        "place": {"M": {"lat": {"N": "52.52"}, "lon": {"N": "13.40"}}},
        "notes": {"L": [{"S": "calibrated in spring"}, {"S": "battery changed in autumn"}]},
    }


REQUESTS: dict[str, dict[str, Any]] = {
    "GetItem": {
        "TableName": "floor",
        "Key": {"pk": {"S": "device-0001"}, "sk": {"N": "3"}},
    },
    "PutItem": {"TableName": "floor", "Item": item(3)},
    "Query": {
        "TableName": "floor",
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": {"S": "device-0001"}},
    },
}
METHODS = {"GetItem": "get_item", "PutItem": "put_item", "Query": "query"}


def main(rounds: int = 20, calls: int = 25) -> list[list[str]]:
    os.environ |= {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}
    lanes = list(_lanes())
    rows = []
    for operation in REQUESTS:
        costs = _measure(operation, lanes, rounds, calls)
        rows.append([operation, *(_cell(taken, costs["floor"]) for taken in costs.values())])
    table(
        f"boto3, one call: us (ratio to the floor); J = {1e6 * _json_cost():.1f} us",
        ["operation", *(name for name, *_ in lanes)],
        rows,
    )
    return rows


def _cell(rounds: list[float], floor: list[float]) -> str:
    ratio = statistics.median(cost / base for cost, base in zip(rounds, floor, strict=True))
    return f"{1e6 * statistics.median(rounds):.0f} ({ratio:.2f})"


def _measure(operation: str, lanes: list[Lane], rounds: int, calls: int) -> dict[str, list[float]]:
    """Return the seconds per call of each lane, round by round."""
    costs: dict[str, list[float]] = {name: [] for name, *_ in lanes}
    for _ in range(rounds + 1):
        for name, entered, client in lanes:
            with entered():
                method = getattr(client, METHODS[operation])
                costs[name].append(_time(method, REQUESTS[operation], calls))
    # The first round warms up caches on all sides.
    return {name: rounds_of[1:] for name, rounds_of in costs.items()}


def _time(method: Callable[..., Any], request: dict[str, Any], calls: int) -> float:
    started = time.perf_counter()
    for _ in range(calls):
        method(**request)
    return (time.perf_counter() - started) / calls


def _json_cost(calls: int = 20_000) -> float:
    sample = item(3)
    started = time.perf_counter()
    for _ in range(calls):
        json.loads(json.dumps(sample))
    return (time.perf_counter() - started) / calls


def _lanes() -> Iterator[Lane]:
    emulator = Emulator()
    emulator.call("CreateTable", TABLE)
    for number in range(ITEMS_IN_QUERY):
        emulator.call("PutItem", {"TableName": "floor", "Item": item(number)})
    client = boto3.client("dynamodb", region_name=REGION)

    @contextmanager
    def outside() -> Iterator[None]:
        yield

    @contextmanager
    def mock(*, fast: bool) -> Iterator[None]:
        with mock_dynamodb(emulator, fast=fast):
            yield

    yield "floor", outside, _canned_client(emulator)
    yield "mock", lambda: mock(fast=False), client
    yield "fast", lambda: mock(fast=True), client
    if find_spec("moto") is not None:
        yield "moto", *_moto()


def _canned_client(emulator: Emulator) -> Any:
    """A client whose every request is answered with the same bytes."""
    bodies = {
        operation: json.dumps(emulator.call(operation, request), separators=(",", ":")).encode()
        for operation, request in REQUESTS.items()
    }
    client = boto3.client("dynamodb", region_name=REGION)

    class Body:
        def __init__(self, body: bytes) -> None:
            self.body = body

        def stream(self) -> Iterator[bytes]:
            yield self.body

    def answer(request: Any, event_name: str, **_: Any) -> AWSResponse:
        body = bodies[event_name.rpartition(".")[2]]
        headers = {
            "x-amzn-RequestId": "A" * 52,
            "x-amz-crc32": str(zlib.crc32(body)),
            "Content-Type": "application/x-amz-json-1.0",
            "Content-Length": str(len(body)),
            "Server": "Server",
            "Date": "Thu, 01 Jan 2026 00:00:00 GMT",
        }
        return AWSResponse(request.url, 200, headers, Body(body))  # type: ignore[arg-type]  # as moto

    client.meta.events.register("before-send", answer)
    return client


def _moto() -> tuple[Callable[[], AbstractContextManager[None]], Any]:
    from moto import mock_aws

    @contextmanager
    def entered() -> Iterator[None]:
        mock = mock_aws()
        mock.start(reset=False)
        try:
            yield
        finally:
            mock.stop(remove_data=False)

    with entered():
        client = boto3.client("dynamodb", region_name=REGION)
        client.create_table(**TABLE)
        for number in range(ITEMS_IN_QUERY):
            client.put_item(TableName="floor", Item=item(number))
    return entered, client


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--calls", type=int, default=25, help="per lane and round")
    main(**vars(parser.parse_args()))
