"""The tables that are fuzzed, and what can be seen of a database: every list and description."""

import io
import json

from emulator import ApiError, Emulator, ManualClock, Settings
from emulator.operations import find
from emulator.service.catalogue import OPERATIONS
from emulator.testing.table_notation import create_request

_STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
_CREATED = (
    create_request(
        "tab",
        "pk",
        "sk:N",
        indexes={"wide": (("a", "b:N"), ("c", "d:B")), "gsi": "g"},
        local_indexes={"local": "e"},
        StreamSpecification=_STREAM,
    ),
    create_request("hash", "pk", StreamSpecification=_STREAM),
    create_request("paid", "pk", "sk:N", provisioned=(50, 50)),
    create_request("near", "pk")
    | {
        "VectorIndexes": [
            {
                "IndexName": "nearest",
                "VectorAttribute": {"AttributeName": "v"},
                "Dimensions": 2,
                "DistanceFunction": "COSINE",
                "Projection": {"ProjectionType": "ALL"},
            }
        ]
    },
)
#: Most requests are about the first, so that most of their keys fit.
TABLE_NAMES = (*("tab",) * 6, "paid", "hash", "near", "new1", "new2")
INDEX_NAMES = ("wide", "gsi", "local", "nearest", "absent")
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/"
KINESIS_ARN = "arn:aws:kinesis:us-east-1:000000000000:stream/changes"
BUCKET = "bucket"
POLICY = '{"Version": "2012-10-17", "Statement": []}'
KEYS = tuple(
    {"pk": {"S": name}} | ({"sk": {"N": number}} if number else {})
    for name in ("x", "y", "z")
    for number in ("1", "2", "3", "4", "")
)


class Bucket:
    """An S3 client with one bucket: its objects stay as they are, and what is written is dropped.

    Args:
        objects: Key to content.
    """

    def __init__(self, objects):
        self._objects = objects

    def put_object(self, **request):
        """Check that there is such a bucket."""
        self._check(request)

    def get_object(self, **request):
        """Return an object."""
        self._check(request)
        return {"Body": io.BytesIO(self._objects[request["Key"]])}

    def list_objects_v2(self, **request):
        """Return the keys that have a prefix."""
        self._check(request)
        keys = [key for key in self._objects if key.startswith(request["Prefix"])]
        return {"Contents": [{"Key": key} for key in keys]}

    def _check(self, request):
        if request["Bucket"] != BUCKET:
            raise LookupError(f"there is no bucket {request['Bucket']}")


def filled(capacity, objects=None):
    """Return an emulator with the tables, each with a few items, on a clock that stands.

    Everything else that can be asked for is there, too: a backup, recovery, an export, an import,
    a bulk put, and a destination of changes.

    Args:
        capacity: The mode of the emulator.
        objects: What imports and bulk puts read: key to content.
    """
    objects = {"items": b'{"Item": {"pk": {"S": "w"}}}'} if objects is None else objects
    settings = Settings(s3=Bucket(objects), recovery_lag=0)
    emulator = Emulator(clock=ManualClock(), capacity=capacity, settings=settings)
    for request in _CREATED:
        emulator.call("CreateTable", request)
        has_sort_key = len(request["KeySchema"]) > 1
        for key in KEYS:
            if ("sk" in key) is has_sort_key:
                emulator.call("PutItem", {"TableName": request["TableName"], "Item": key | _ITEM})
    for operation, request in _KEPT:
        emulator.call(operation, request)
    return emulator


def has_tables(emulator):
    """Return whether the tables are there: without them nearly everything would be refused."""
    return {request["TableName"] for request in _CREATED} <= set(
        emulator.call("ListTables", {})["TableNames"]
    )


_ITEM = {
    "a": {"S": "x"},
    "b": {"N": "1"},
    "c": {"S": "x"},
    "d": {"B": "YQ=="},
    "e": {"S": "e"},
    "g": {"S": "g"},
    "n": {"N": "7"},
    "m": {"M": {"a": {"S": "x"}}},
    "l": {"L": [{"S": "p"}, {"N": "2"}]},
    "ss": {"SS": ["p", "q"]},
    "v": {"L": [{"N": "1"}, {"N": "0"}]},
}
_SOURCE = {"S3Bucket": BUCKET, "InputFormat": "DYNAMODB_JSON"}
_KEPT = (
    (
        "UpdateContinuousBackups",
        {
            "TableName": "tab",
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
        },
    ),
    ("CreateBackup", {"TableName": "tab", "BackupName": "kept"}),
    ("ExportTableToPointInTime", {"TableArn": ARN + "tab", "S3Bucket": BUCKET}),
    (
        "ImportTable",
        {
            "S3BucketSource": {"S3Bucket": BUCKET},
            "InputFormat": "DYNAMODB_JSON",
            "TableCreationParameters": create_request("imported", "pk"),
        },
    ),
    (
        "StartBulkPutItems",
        {
            "TableName": "hash",
            "InputS3Configuration": _SOURCE,
            "OutputS3Configuration": {"S3Bucket": BUCKET, "OutputType": ["ERROR"]},
        },
    ),
    ("EnableKinesisStreamingDestination", {"TableName": "tab", "StreamArn": KINESIS_ARN}),
    ("PutResourcePolicy", {"ResourceArn": ARN + "tab", "Policy": POLICY}),
)

#: Members that name a table or its ARN.
_TABLE_MEMBERS = frozenset(("TableName", "ResourceArn", "TableArn", "GlobalTableName"))


def _readers():
    """Return the operations that only tell, with the members that must name a table."""
    for name in OPERATIONS:
        if name.startswith(("Describe", "List", "GetResourcePolicy")):
            members = find(name).shape.members.items()
            needed = {member for member, shape in members if shape.is_required}
            if needed <= _TABLE_MEMBERS:
                yield name, needed


_READERS = tuple(_readers())


def visible(emulator):
    """Return everything that a client can see of a database, as text.

    Driven by the catalogue: all operations that describe or list, of each table and of the
    account, and the items of each table and index.
    """
    names = emulator.call("ListTables", {})["TableNames"]
    seen = [(name, _answer(emulator, name, {})) for name, needed in _READERS if not needed]
    for table in names:
        described = emulator.call("DescribeTable", {"TableName": table})["Table"]
        for name, needed in _READERS:
            arn = described["TableArn"]
            request = {member: arn if "Arn" in member else table for member in needed}
            seen.append((name, table, _answer(emulator, name, request) if needed else None))
        indexes = [
            *described.get("GlobalSecondaryIndexes", ()),
            *described.get("LocalSecondaryIndexes", ()),
        ]
        seen.append((table, _answer(emulator, "Scan", {"TableName": table})))
        for index in indexes:
            request = {"TableName": table, "IndexName": index["IndexName"]}
            seen.append((table, _answer(emulator, "Scan", request)))
    seen.append(len(emulator.account().tokens))
    return json.dumps(seen, sort_keys=True, default=repr)


def _answer(emulator, name, request):
    try:
        return emulator.call(name, request)
    except ApiError as error:
        return error.body()
