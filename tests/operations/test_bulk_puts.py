"""Bulk puts: start, describe, list and cancel."""

import gzip
import json

import pytest

from emulator import Emulator, ManualClock, Settings
from emulator.service import limits
from tests.tables import (
    ARN,
    described,
    index,
    nearest_keys,
    refusal,
    schema,
    table,
    vector,
    vector_table,
)

#: What makes an item take four units.
LARGE = {"x": {"S": "x" * 4000}}
TOKEN_REUSED = (
    "Request uses the same client token as a previous, but non-identical request. Do not reuse a "
    "client token with different requests, unless the requests are identical"
)


@pytest.fixture
def folder(tmp_path):
    for bucket in ("in", "out"):
        (tmp_path / bucket).mkdir()
    return tmp_path


def filled(folder, *items, key="items.json", compress=False):
    """Write records to the input bucket: items, or whole lines."""
    lines = [item if isinstance(item, str) else json.dumps({"Item": item}) for item in items]
    data = "".join(line + "\n" for line in lines).encode()
    path = folder / "in" / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data) if compress else data)
    return len(path.read_bytes())


def made(folder, request=None, *, capacity="enforce", **settings):
    emu = Emulator(clock=ManualClock(), capacity=capacity, settings=Settings(s3=folder, **settings))
    emu.call("CreateTable", request or table())
    return emu


def asked(**members):
    request = {
        "TableName": "tab",
        "InputS3Configuration": {"S3Bucket": "in", "InputFormat": "DYNAMODB_JSON"},
        "OutputS3Configuration": {
            "S3Bucket": "out",
            "OutputType": ["ERROR", "CONDITION_CHECK_FAILURE"],
        },
    }
    return {name: value for name, value in (request | members).items() if value is not None}


def started(emu, **members):
    return emu.call("StartBulkPutItems", asked(**members))["BulkOperationDescription"]


def told(emu, job):
    request = {"BulkOperationArn": job["BulkOperationArn"]}
    return emu.call("DescribeBulkOperation", request)["BulkOperationDescription"]


def reported(folder, job, name, prefix=""):
    number = job["BulkOperationArn"].rpartition("/")[2]
    path = folder / "out" / prefix / "AWSDynamoDB" / number / f"{name}.json"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else None


def key(name):
    return {"pk": {"S": name}}


# Shape


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"TableName": None},
            "The parameter 'TableName' is required but was not present in the request",
        ),
        (
            {"MaxWriteRequestUnits": 1023},
            "1 validation error detected: Value '1023' at 'maxWriteRequestUnits' failed to satisfy "
            "constraint: Member must have value greater than or equal to 1024",
        ),
        (
            {"OutputS3Configuration": {"OutputType": ["ERROR"]}},
            "1 validation error detected: Value null at 'outputS3Configuration.s3Bucket' failed to "
            "satisfy constraint: Member must not be null",
        ),
        (
            {"OutputS3Configuration": {"OutputType": [], "S3Bucket": "out"}},
            "OutputS3Configuration must have at least one OutputType",
        ),
    ],
)
def test_faults_of_the_request(folder, change, message):
    """BLK-1."""
    emu = made(folder)
    assert refusal(emu, "StartBulkPutItems", asked(**change)) == ("ValidationException", message)


def test_without_s3_it_is_refused_in_one_sentence():
    emu = Emulator(clock=ManualClock())
    emu.call("CreateTable", table())
    code, message = refusal(emu, "StartBulkPutItems", asked())
    assert code == "ValidationException"
    assert "Settings(s3=FOLDER)" in message


# Behaviour


def test_a_description_tells_what_was_asked_and_what_was_done(folder):
    """BLK-1, BLK-2, BLK-3."""
    size = filled(folder, key("a"), key("b"))
    emu = made(folder)
    start = emu.clock.now()
    job = started(emu, ClientToken="token")
    assert job["BulkOperationStatus"] == "IN_PROGRESS"
    assert job["BulkOperationArn"].startswith(f"{ARN}/bulk-operation/")
    assert told(emu, job) == {
        "BulkOperationArn": job["BulkOperationArn"],
        "BulkOperationStatus": "COMPLETED",
        "TableDetails": [{"TableName": "tab", "TableId": described(emu)["TableId"]}],
        "ClientToken": "token",
        "InputS3Configuration": {
            "S3BucketOwner": "000000000000",
            "S3Bucket": "in",
            "InputFormat": "DYNAMODB_JSON",
            "InputCompressionType": "NONE",
        },
        "OutputS3Configuration": {
            "S3BucketOwner": "000000000000",
            "S3Bucket": "out",
            "OutputType": ["ERROR", "CONDITION_CHECK_FAILURE"],
        },
        "StartTime": start,
        "EndTime": start,
        "ProcessedItemCount": 2,
        "ProcessedInputBytes": size,
        "TotalInputBytes": size,
        "FailedItemCount": 0,
        "PerformanceTier": "STANDARD",
        "BulkOperationUsage": [
            {"TableName": "tab", "BulkPutBytes": 2048, "Table": {"BulkPutBytes": 2048}}
        ],
    }
    assert described(emu)["ItemCount"] == 2
    assert list((folder / "out").iterdir()) == []


def test_objects_are_read_below_a_prefix_in_the_order_of_their_keys(folder):
    """BLK-1: the last record of a key wins."""
    filled(folder, key("a") | {"x": {"S": "1"}}, key="p/1.json")
    filled(folder, key("a") | {"x": {"S": "2"}}, key="p/2.json.gz")
    filled(folder, key("b"), key="other.json")
    emu = made(folder)
    source = {"S3Bucket": "in", "S3KeyPrefix": "p/", "InputFormat": "DYNAMODB_JSON"}
    job = started(emu, InputS3Configuration=source)
    assert told(emu, job)["ProcessedItemCount"] == 2
    items = emu.call("Scan", {"TableName": "tab"})["Items"]
    assert items == [key("a") | {"x": {"S": "2"}}]


def test_compressed_objects_are_read(folder):
    """BLK-1."""
    filled(folder, key("a"), key="a.gz", compress=True)
    emu = made(folder)
    source = {"S3Bucket": "in", "InputFormat": "DYNAMODB_JSON", "InputCompressionType": "GZIP"}
    assert (
        told(emu, started(emu, InputS3Configuration=source))["BulkOperationStatus"] == "COMPLETED"
    )
    assert described(emu)["ItemCount"] == 1


def test_a_record_acts_as_a_put_on_indexes_and_streams(folder):
    """BLK-6, BLK-7: nothing of it counts as the table's units."""
    gsi = index("gsi", schema("y"), "KEYS_ONLY")
    request = vector_table(GlobalSecondaryIndexes=[gsi], names="pk y")
    request["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    filled(folder, key("a") | {"y": {"S": "y"}, "x": {"S": "x" * 3000}, "emb": vector(1, 0)})
    emu = made(folder, request)
    (usage,) = told(emu, started(emu))["BulkOperationUsage"]
    assert usage == {
        "TableName": "tab",
        "BulkPutBytes": 4 * 1024,
        "Table": {"BulkPutBytes": 3 * 1024},
        "GlobalSecondaryIndexes": {"gsi": {"BulkPutBytes": 1024}},
        "VectorIndexes": {"vix": {"BulkPutVectorBytes": 3017}},
    }
    assert nearest_keys(emu, 1, 0) == ["a"]
    assert emu.call("Scan", {"TableName": "tab", "IndexName": "gsi"})["Count"] == 1
    assert len(emu.account().tables["tab"].stream.records) == 1
    assert emu.metrics.sum("ConsumedWriteCapacityUnits", table="tab") == 0
    assert emu.metrics.sum("ConsumedWriteCapacityUnits", table="tab", index="gsi") == 0
    assert emu.metrics.sum("VectorWriteRequestBytes", table="tab", index="vix") == 0


def test_records_that_are_none_are_reported_and_counted(folder):
    """BLK-3, BLK-7, BLK-9: one that is no item spoils no other."""
    lines = [
        '{"Item": {"sk": {"S": "a"}}}',
        '{"Item": {"pk": {"N": "1"}}}',
        '{"Item": {"pk": {"S": "a"}}, "Colour": 1}',
        '{"Item": {"pk": {"S": "a"}}, "ConditionExpression": 1}',
        '{"Item": {"pk": {"S": "a"}}, "ConditionExpression": "a b"}',
        '{"Item": {"pk": {"S": "good"}}}',
    ]
    filled(folder, *lines)
    emu = made(folder)
    job = started(emu)
    ended = told(emu, job)
    assert ended["BulkOperationStatus"] == "COMPLETED_WITH_ERRORS"
    assert (ended["ProcessedItemCount"], ended["FailedItemCount"]) == (6, 5)
    report = reported(folder, job, "error")
    pointers = [line["itemS3Pointer"] for line in report]
    assert pointers[0] == {"bucket": "in", "key": "items.json", "itemIndex": 0}
    assert [line["errorMessages"][0].partition(":")[0] for line in report] == [
        "One or more parameter values were invalid",
        "One or more parameter values were invalid",
        "The record has a member that is none",
        "Unexpected token",
        "Invalid ConditionExpression",
    ]
    assert described(emu)["ItemCount"] == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("no JSON", "Unexpected token"),
        ('{"pk": {"S": "a"}}', "Expected 'Item' top level container"),
        ("5", "Expected 'Item' top level container"),
    ],
)
def test_what_is_no_record_ends_its_object_and_the_next_is_read(folder, line, message):
    """BLK-9."""
    filled(folder, key("first"), line, key("last"), line, key="1.json")
    filled(folder, key("other"), key="2.json")
    emu = made(folder)
    job = started(emu)
    ended = told(emu, job)
    assert ended["BulkOperationStatus"] == "COMPLETED_WITH_ERRORS"
    assert (ended["ProcessedItemCount"], ended["FailedItemCount"]) == (3, 1)
    assert ended["ProcessedInputBytes"] == ended["TotalInputBytes"]
    [report] = reported(folder, job, "error")
    assert report == {
        "itemS3Pointer": {"bucket": "in", "key": "1.json", "itemIndex": 1},
        "errorMessages": [message],
    }
    items = emu.call("Scan", {"TableName": "tab"})["Items"]
    assert {item["pk"]["S"] for item in items} == {"first", "other"}


def test_a_damaged_object_ends_and_the_next_is_read(folder):
    """BLK-3."""
    filled(folder, *[key(str(n)) for n in range(2000)], key="1.gz", compress=True)
    whole = (folder / "in" / "1.gz").read_bytes()
    (folder / "in" / "1.gz").write_bytes(whole[:-200])
    filled(folder, key("last"), key="2.gz", compress=True)
    emu = made(folder)
    source = {"S3Bucket": "in", "InputFormat": "DYNAMODB_JSON", "InputCompressionType": "GZIP"}
    ended = told(emu, started(emu, InputS3Configuration=source))
    assert ended["FailedItemCount"] == 1
    assert emu.call("GetItem", {"TableName": "tab", "Key": key("last")})["Item"] == key("last")
    assert ended["ProcessedInputBytes"] == ended["TotalInputBytes"]


def test_a_condition_that_does_not_hold_is_reported_and_is_no_error(folder):
    """BLK-3, BLK-6."""
    record = {
        "Item": key("a") | {"n": {"N": "2"}},
        "ConditionExpression": "attribute_not_exists(#p) OR n > :n",
        "ExpressionAttributeNames": {"#p": "pk"},
        "ExpressionAttributeValues": {":n": {"N": "5"}},
    }
    other = record | {"Item": key("b")}
    filled(folder, json.dumps(record), json.dumps(other))
    emu = made(folder)
    emu.call("PutItem", {"TableName": "tab", "Item": key("a")})
    output = {
        "S3Bucket": "out",
        "S3KeyPrefix": "deep/down",
        "OutputType": ["CONDITION_CHECK_FAILURE"],
    }
    job = started(emu, OutputS3Configuration=output)
    ended = told(emu, job)
    assert (ended["BulkOperationStatus"], ended["FailedItemCount"]) == ("COMPLETED", 0)
    assert ended["BulkOperationUsage"][0]["Table"] == {"BulkPutBytes": 2048}
    assert reported(folder, job, "condition_check_failure", "deep/down") == [
        {
            "itemS3Pointer": {"bucket": "in", "key": "items.json", "itemIndex": 0},
            "Item": key("a") | {"n": {"N": "2"}},
            "ExistingItem": key("a"),
        }
    ]
    assert described(emu)["ItemCount"] == 2


def test_only_reports_that_were_asked_for_are_written(folder):
    """BLK-1."""
    filled(folder, "no JSON")
    emu = made(folder)
    output = {"S3Bucket": "out", "OutputType": ["CONDITION_CHECK_FAILURE"]}
    job = started(emu, OutputS3Configuration=output)
    assert told(emu, job)["BulkOperationStatus"] == "COMPLETED_WITH_ERRORS"
    assert list((folder / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("source", "output", "code"),
    [
        ({"S3Bucket": "nowhere"}, {}, "S3NoSuchBucket"),
        ({}, {"S3Bucket": "nowhere"}, "S3NoSuchBucket"),
        ({"InputFormat": "ION"}, {}, "UnsupportedFormat"),
        ({"InputCompressionType": "ZSTD"}, {}, "UnsupportedFormat"),
    ],
)
def test_what_cannot_be_read_or_written_fails_the_operation(folder, source, output, code):
    """BLK-3, S3X-1: the call itself succeeds."""
    filled(folder, key("a"))
    emu = made(folder)
    request = asked()
    job = started(
        emu,
        InputS3Configuration=request["InputS3Configuration"] | source,
        OutputS3Configuration=request["OutputS3Configuration"] | output,
    )
    assert job["BulkOperationStatus"] == "IN_PROGRESS"
    ended = told(emu, job)
    assert (ended["BulkOperationStatus"], ended["FailureCode"]) == ("FAILED", code)
    assert ended["FailureMessage"]
    assert described(emu)["ItemCount"] == 0


# Tokens


def test_a_token_stands_for_one_operation_for_eight_hours(folder):
    """BLK-1, BLK-5."""
    filled(folder, key("a"))
    emu = made(folder)
    first = started(emu, ClientToken="token")
    again = started(emu, ClientToken="token")
    assert again["BulkOperationArn"] == first["BulkOperationArn"]
    assert refusal(
        emu, "StartBulkPutItems", asked(ClientToken="token", PerformanceTier="ACCELERATED")
    ) == (
        "IdempotentParameterMismatchException",
        TOKEN_REUSED,
    )
    emu.clock.advance(8 * 3600)
    later = started(emu, ClientToken="token")
    assert later["BulkOperationArn"] != first["BulkOperationArn"]
    other = started(emu, ClientToken="other")
    assert other["BulkOperationArn"] not in (first["BulkOperationArn"], later["BulkOperationArn"])
    tokens = [told(emu, started(emu))["ClientToken"] for _ in range(2)]
    assert tokens[0] != tokens[1]


def arns(emu, **members):
    answer = emu.call("ListBulkOperations", members)
    return [summary["BulkOperationArn"] for summary in answer["BulkOperationsSummaryList"]]


# The table


def test_the_table_must_be_there_and_ready(folder):
    """BLK-5."""
    emu = made(folder, table_delay=30.0, index_delay=60.0)
    assert refusal(emu, "StartBulkPutItems", asked(TableName="nobody"))[0] == (
        "ResourceNotFoundException"
    )
    assert refusal(emu, "StartBulkPutItems", asked())[0] == "ResourceInUseException"
    emu.clock.advance(30)
    emu.call(
        "UpdateTable",
        {
            "TableName": "tab",
            "AttributeDefinitions": [{"AttributeName": "x", "AttributeType": "S"}],
            "GlobalSecondaryIndexUpdates": [{"Create": index("gsi", schema("x"))}],
        },
    )
    emu.clock.advance(40)
    assert refusal(emu, "StartBulkPutItems", asked()) == (
        "ResourceInUseException",
        "Attempt to change a resource which is still in use: Index is being created.  Table: tab "
        "Index: gsi",
    )
    emu.clock.advance(60)
    assert told(emu, started(emu))["BulkOperationStatus"] == "COMPLETED"


def test_a_table_whose_vector_index_is_being_created_is_not_filled(folder):
    """BLK-5."""
    filled(folder, key("a"))
    emu = made(folder, index_delay=60.0)
    create = {"Create": vector_table()["VectorIndexes"][0]}
    emu.call("UpdateTable", {"TableName": "tab", "VectorIndexUpdates": [create]})
    code, message = refusal(emu, "StartBulkPutItems", asked())
    assert (code, message.partition("Index: ")[2]) == ("ResourceInUseException", "vix")


def test_one_that_has_failed_at_once_begins_as_any_other(folder):
    """BLK-2, BLK-3: why it failed is said where it is described."""
    emu = made(folder)
    nowhere = {"S3Bucket": "nowhere", "InputFormat": "DYNAMODB_JSON"}
    begun = started(emu, InputS3Configuration=nowhere)
    assert begun["BulkOperationStatus"] == "IN_PROGRESS"
    assert not begun.keys() & {"EndTime", "FailureCode", "FailureMessage"}
    ended = told(emu, begun)
    assert (ended["BulkOperationStatus"], ended["FailureCode"]) == ("FAILED", "S3NoSuchBucket")
    assert (ended["TotalInputBytes"], ended["ProcessedItemCount"]) == (0, 0)


def test_bytes_are_those_of_the_table_and_of_its_indexes(folder):
    """BLK-2."""
    filled(folder, key("a") | {"sk": {"S": "1"}, "loc": {"S": "x"}})
    local = {
        "IndexName": "local",
        "KeySchema": schema("pk", "loc"),
        "Projection": {"ProjectionType": "ALL"},
    }
    emu = made(folder, table("pk", "sk", names="pk sk loc", LocalSecondaryIndexes=[local]))
    (usage,) = told(emu, started(emu))["BulkOperationUsage"]
    (parts,) = usage["LocalSecondaryIndexes"].values()
    assert usage["BulkPutBytes"] == usage["Table"]["BulkPutBytes"] + parts["BulkPutBytes"]
    assert parts["BulkPutBytes"] > 0


def test_global_tables_are_not_filled_and_tables_being_filled_get_no_replica(folder):
    """BLK-5."""
    filled(folder, *[key(str(n)) | LARGE for n in range(500)])
    emu = made(folder)
    replicate = {"TableName": "tab", "ReplicaUpdates": [{"Create": {"RegionName": "eu-west-1"}}]}
    started(emu, MaxWriteRequestUnits=1024)
    assert refusal(emu, "UpdateTable", replicate)[0] == "ResourceInUseException"
    assert refusal(emu, "StartBulkPutItems", asked())[0] == "LimitExceededException"
    emu.clock.advance(2)
    emu.call("UpdateTable", replicate)
    code, message = refusal(emu, "StartBulkPutItems", asked())
    assert code == "ValidationException"
    assert "global tables" in message


# Lists and cancelling


def test_operations_are_listed_for_90_days_the_newest_first(folder):
    """BLK-4."""
    emu = made(folder)
    jobs = []
    for _ in range(12):
        jobs.append(started(emu)["BulkOperationArn"])
        emu.clock.advance(1)
    assert arns(emu) == jobs[:1:-1]
    answer = emu.call("ListBulkOperations", {"MaxResults": 5})
    first = answer["BulkOperationsSummaryList"][0]
    assert set(first) == {"BulkOperationArn", "BulkOperationStatus", "StartTime", "EndTime"}
    pages = (
        emu.client()
        .get_paginator("list_bulk_operations")
        .paginate(PaginationConfig={"PageSize": 5})
    )
    listed = [
        one["BulkOperationArn"] for page in pages for one in page["BulkOperationsSummaryList"]
    ]
    assert listed == jobs[::-1]
    assert refusal(emu, "ListBulkOperations", {"MaxResults": 26})[0] == "ValidationException"
    emu.clock.advance(90 * 86_400)
    assert arns(emu) == []


def test_a_cancelled_operation_keeps_what_it_has_written(folder):
    """BLK-3."""
    filled(folder, *[key(str(n)) | LARGE for n in range(1024)])
    emu = made(folder)
    job = started(emu, MaxWriteRequestUnits=1024)
    emu.clock.advance(1)
    request = {"BulkOperationArn": job["BulkOperationArn"]}
    assert emu.call("CancelBulkOperation", request) == request | {
        "BulkOperationStatus": "CANCELLING"
    }
    ended = told(emu, job)
    assert (ended["BulkOperationStatus"], ended["FailureCode"]) == ("CANCELLED", "UserCancelled")
    written = described(emu)["ItemCount"]
    assert written == ended["ProcessedItemCount"] == 257
    emu.clock.advance(60)
    assert described(emu)["ItemCount"] == written
    assert emu.call("CancelBulkOperation", request)["BulkOperationStatus"] == "CANCELLED"


@pytest.mark.parametrize("operation", ["DescribeBulkOperation", "CancelBulkOperation"])
def test_an_operation_of_nobody_is_not_found(folder, operation):
    """BLK-5."""
    arn = f"{ARN}/bulk-operation/01"
    assert refusal(made(folder), operation, {"BulkOperationArn": arn})[0] == (
        "ResourceNotFoundException"
    )


@pytest.mark.parametrize(("objects", "status"), [(2, "COMPLETED"), (3, "FAILED")])
def test_as_many_objects_are_read_as_there_may_be(folder, monkeypatch, objects, status):
    """BLK-5."""
    monkeypatch.setattr(limits, "BULK_OBJECTS", 2)
    for number in range(objects):
        filled(folder, key(str(number)), key=f"{number}.json")
    emu = made(folder)
    assert told(emu, started(emu))["BulkOperationStatus"] == status
