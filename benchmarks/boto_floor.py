"""(a) What a boto3 call costs in-process, against boto3 itself with a canned answer.

    python -m benchmarks.boto_floor                 about half a minute
    python -m benchmarks.boto_floor --rounds 40     steadier figures

One process, one thread; lanes take turns. The lanes:

- floor: boto3 as it is, answered with constant bytes by an event handler of its own: what
  serialising, signing and parsing cost.
- dynamometer: ``mock_dynamodb()``. It saves the SDK the writing of user agents and the computing
  of signatures, each about a quarter of the floor of a small call.
- fast lane: ``mock_dynamodb(fast=True)``, which skips the SDK's serialising and parsing as well.
- moto: ``mock_aws()``, if moto is installed.

The item has eight attributes and some 250 bytes; the query returns ten of them, the scan a hundred,
the batch writes 25. Two further tables take the scan and the batch apart.
"""

import argparse
import json
import zlib
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial

import boto3
from botocore.awsrequest import AWSResponse

from benchmarks.in_process import REGION, Backend, backends
from benchmarks.measure import in_milliseconds, interleave, table
from emulator.protocol import decode_json, encode_json

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
ITEMS = 100


def item(number):
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


KEY = {"pk": {"S": "device-0001"}, "sk": {"N": "3"}}
REQUESTS = {
    "GetItem": {"TableName": "floor", "Key": KEY},
    "PutItem": {"TableName": "floor", "Item": item(3)},
    "UpdateItem": {
        "TableName": "floor",
        "Key": KEY,
        "UpdateExpression": "SET #value = :v",
        "ExpressionAttributeNames": {"#value": "value"},
        "ExpressionAttributeValues": {":v": {"N": "22"}},
    },
    "Query": {
        "TableName": "floor",
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": {"S": "device-0001"}},
        "Limit": 10,
    },
    "Scan": {"TableName": "floor"},
    "BatchWriteItem": {
        "RequestItems": {"floor": [{"PutRequest": {"Item": item(n)}} for n in range(25)]}
    },
}


def main(rounds=20, calls=25):
    found = backends()
    for backend in found.values():
        with backend.entered():
            backend.call("CreateTable", TABLE)
            for number in range(ITEMS):
                backend.call("PutItem", {"TableName": "floor", "Item": item(number)})
    found = {"floor": floor(found["dynamometer"])} | found
    rows = []
    for operation, request in REQUESTS.items():
        lanes = {name: partial(backend.call, operation, request) for name, backend in found.items()}
        around = {name: backend.entered for name, backend in found.items()}
        timings = interleave(
            lanes, yardstick="floor", rounds=rounds, batch=calls, around=around, patience=20
        )
        rows.append([operation, *map(in_milliseconds, timings)])
    table("boto3, one call: ms (ratio to the floor)", ["operation", *found], rows)
    scan = parts_of_a_scan(found["dynamometer"], rounds)
    table("boto3, a Scan of 100 items: ms (share)", ["part", "ms (share)"], scan)
    batch = parts_of_a_batch(found["dynamometer"], rounds)
    table("boto3, a BatchWriteItem of 25 items: ms (share)", ["part", "ms (share)"], batch)
    return {"names": list(found), "rows": rows, "scan": scan, "batch": batch}


def parts_of_a_scan(ours, rounds):
    """Return what a Scan of all items takes, and which part of that is boto3's and which ours."""
    request = REQUESTS["Scan"]
    with ours.entered() as emulator:
        client = ours.client
        answer = emulator.call("Scan", request)
        body = encode_json(answer)
        shape = client.meta.service_model.operation_model("Scan").output_shape
        parse = client._response_parser.parse
        received = {"body": body, "headers": {}, "status_code": 200, "context": {}}
        lanes = {
            "all": partial(ours.call, "Scan", request),
            "ours: Emulator.call": partial(emulator.call, "Scan", request),
            "ours: encode the answer": partial(encode_json, answer),
            "boto3: parse the answer by its model": partial(parse, received, shape),
        }
        timings = interleave(lanes, yardstick="all", rounds=rounds, batch=5, patience=20)
    return [[one.name, in_milliseconds(one)] for one in timings]


def parts_of_a_batch(ours, rounds):
    """Return what a BatchWriteItem of 25 items takes, and which part of that is whose."""
    request = REQUESTS["BatchWriteItem"]
    with ours.entered() as emulator:
        client = ours.client
        model = client.meta.service_model.operation_model("BatchWriteItem")
        serialize = client._serializer.serialize_to_request
        body = bytes(serialize(request, model)["body"])
        lanes = {
            "all": partial(ours.call, "BatchWriteItem", request),
            "ours: Emulator.call": partial(emulator.call, "BatchWriteItem", request),
            "ours: read the request": partial(decode_json, body),
            "boto3: check and write the request by its model": partial(serialize, request, model),
        }
        timings = interleave(lanes, yardstick="all", rounds=rounds, batch=5, patience=20)
    return [[one.name, in_milliseconds(one)] for one in timings]


def floor(ours):
    """Return boto3 as it is, with a client whose every request is answered with the same bytes."""
    with ours.entered() as emulator:
        bodies = {
            operation: json.dumps(emulator.call(operation, request), separators=(",", ":")).encode()
            for operation, request in REQUESTS.items()
        }

    def answer(request, event_name, **_):
        body = bodies[event_name.rpartition(".")[2]]
        headers = {
            "x-amzn-RequestId": "A" * 52,
            "x-amz-crc32": str(zlib.crc32(body)),
            "Content-Type": "application/x-amz-json-1.0",
            "Content-Length": str(len(body)),
            "Server": "Server",
            "Date": "Thu, 01 Jan 2026 00:00:00 GMT",
        }
        return AWSResponse(request.url, 200, headers, Body(body))

    client = boto3.client("dynamodb", region_name=REGION)
    client.meta.events.register("before-send", answer)
    return Backend(nullcontext, client)


class Body:
    """A body as botocore reads it."""

    def __init__(self, body):
        self.body = body

    def stream(self) -> Iterator[bytes]:
        yield self.body


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--calls", type=int, default=25, help="of each client in a round")
    main(**vars(parser.parse_args()))
