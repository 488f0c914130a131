"""Whatever a request holds, the answer is the service's error, and nothing has changed."""

import json
import math
import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from benchmarks.fuzz.growth import cases
from benchmarks.fuzz.operations import Operations
from benchmarks.fuzz.requests import RequestMaker, statement_operations
from benchmarks.fuzz.run import PARTS, run, seldom_served
from benchmarks.fuzz.tally import Tally
from emulator import ApiError, Emulator, ManualClock, Settings
from emulator.operations import find, shapes
from emulator.service.catalogue import OPERATIONS
from emulator.strategies import requests
from emulator.testing.table_notation import create_request
from tests.objects.memory_s3 import MemoryS3

#: Fuzzed requests have members that nobody knows.
pytestmark = pytest.mark.filterwarnings("ignore::emulator.errors.UnservedMemberWarning")

TABLE = create_request(
    "table",
    "pk",
    "sk:N",
    indexes={"wide": (("a", "b:N"), ("c", "d:B"))},
    local_indexes={"local": "e"},
    StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
)
NAMES = [
    "TableName", "Item", "Key", "Keys", "KeyConditionExpression", "FilterExpression", "Limit",
    "ExclusiveStartKey", "ExpressionAttributeNames", "ExpressionAttributeValues", "TransactItems",
    "RequestItems", "UpdateExpression", "Statement", "Parameters", "ResourceArn", "StreamArn",
    "AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexUpdates", "Select", "IndexName",
]  # fmt: skip


def nested(levels, kind):
    value = {"S": "x"}
    for _ in range(levels):
        value = {"L": [value]} if kind == "L" else {"M": {"a": value}}
    return value


def deep_list(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


NASTY = [
    None, True, 0, -1, 10**40, 0.5, math.nan, math.inf, "", "table", "a" * 300, "\ud800", "\x00",
    "1E9999999999", "NaN", "#a", ":a", "arn:aws:dynamodb:us-east-1:000000000000:table/table",
    "arn:", b"bytes", [], [None], {}, {"": ""}, {"S": "\udfff"}, {"N": "1E-9999999999"},
    {"N": "9" * 5000}, {"S": "a" * 500_000}, {"SS": ["\ud83d"]}, {"B": "===="}, {"B": "é"},
    {"S": None}, {"L": [{}]}, nested(33, "L"), nested(33, "M"), nested(99, "L"), nested(500, "M"),
    deep_list(300), "(" * 2000 + "a = :a" + ")" * 2000, "NOT " * 1000 + "a = :a",
    "a = :a AND " * 360 + "a = :a", "SET " + "a" * 4100, "a" + ".a" * 1000, "a" + "[0]" * 1000,
    {1: 2}, {None: "x"}, (1, 2), {"a": {"S": "x"}}, "SELECT * FROM " + "(" * 900, object,
]  # fmt: skip

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
anything = st.sampled_from(NASTY) | json_values


def fresh():
    emu = Emulator(clock=ManualClock())
    emu.call("CreateTable", TABLE)
    for number in "123":
        item = {"pk": {"S": "x"}, "sk": {"N": number}, "a": {"S": "y"}, "b": {"N": "2"}}
        emu.call("PutItem", {"TableName": "table", "Item": item})
    return emu


def state(emu):
    """Return everything that a request might have changed, as text."""
    told = [
        emu.call("DescribeTable", {"TableName": "table"}),
        emu.call("ListTables", {}),
        *(
            emu.call("Scan", {"TableName": "table"} | index)
            for index in ({}, {"IndexName": "local"})
        ),
        emu.call("DescribeTimeToLive", {"TableName": "table"}),
        emu.call("ListStreams", {}),
        emu.call("ListBackups", {}),
    ]
    return json.dumps(told, sort_keys=True, default=repr)


EMU = fresh()
BEGINNING = EMU.snapshot()
STATE = state(EMU)


def refused(operation, request):
    """Say whether a request is refused; it must then have left no trace.

    Only what was answered, or left one, takes a restored emulator afterwards.
    """
    is_as_it_was = False
    try:
        EMU.call(operation, request)
    except ApiError as error:
        assert isinstance(error.body(), dict)
        is_as_it_was = state(EMU) == STATE
        assert is_as_it_was
        return True
    finally:
        if not is_as_it_was:
            EMU.restore(BEGINNING)
    return False


fuzzing = settings(
    max_examples=settings().max_examples,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.large_base_example,
    ],
)


@st.composite
def spoilt(draw):
    """Draw a valid request, with something in it replaced by something nasty."""
    operation, parameters = draw(requests(TABLE, conditional=True))
    return operation, _replaced(draw, parameters, draw(anything))


def _replaced(draw, node, nasty):
    """Put something nasty into a node, or somewhere below it."""
    if isinstance(node, dict) and node and draw(st.integers(0, 3)):
        name = draw(st.sampled_from(sorted(node)))
        return node | {name: _replaced(draw, node[name], nasty)}
    if isinstance(node, list) and node and draw(st.integers(0, 3)):
        number = draw(st.integers(0, len(node) - 1))
        return [*node[:number], _replaced(draw, node[number], nasty), *node[number + 1 :]]
    return nasty


@fuzzing
@given(spoilt())
def test_a_spoilt_request_is_answered_or_refused_without_a_trace(request):
    refused(*request)


@fuzzing
@given(
    st.sampled_from(sorted(OPERATIONS)),
    st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=5), anything, max_size=4),
    st.booleans(),
)
@example(
    "PutItem", {"TableName": "table", "Item": {"pk": {"S": "\ud800"}, "sk": {"N": "1"}}}, False
)
def test_garbage_is_answered_or_refused_without_a_trace(operation, request, named):
    refused(operation, request | ({"TableName": "table"} if named else {}))


@settings(max_examples=30)
@given(st.sampled_from(sorted(OPERATIONS)) | st.text(max_size=8), anything)
def test_a_request_that_is_no_object_is_refused(operation, request):
    if not isinstance(request, dict):
        assert refused(operation, request)


def test_every_nasty_value_in_every_place_of_a_few_requests():
    """A sweep that does not depend on luck."""
    key = {"pk": {"S": "x"}, "sk": {"N": "1"}}
    bases = {
        "PutItem": {"Item": key, "ConditionExpression": "a = :a"},
        "UpdateItem": {"Key": key, "UpdateExpression": "SET z = :a"},
        "Query": {"KeyConditionExpression": "pk = :a", "FilterExpression": "z = :a"},
        "GetItem": {"Key": key, "ProjectionExpression": "z"},
        "Scan": {"ProjectionExpression": "z", "ExclusiveStartKey": key},
        "ExecuteStatement": {"Statement": "SELECT * FROM table", "Parameters": [{"S": "a"}]},
    }
    for operation, base in bases.items():
        base = {"TableName": "table", "ExpressionAttributeValues": {":a": {"S": "x"}}} | base
        for member in base:
            for nasty in NASTY:
                refused(operation, base | {member: nasty})
        for nasty in NASTY:
            refused(operation, base | {"ExpressionAttributeValues": {":a": nasty}})
            if "Item" in base:
                refused(operation, base | {"Item": key | {"z": nasty}})
            if "Key" in base:
                refused(operation, base | {"Key": key | {"sk": nasty}})


# Moments: every member that is one, in a request in which it is looked at


def timestamps(member, path=()):
    """Yield the path of every member that is a moment."""
    if member is shapes.TIMESTAMP:
        yield path
    for name, inner in getattr(member, "members", {}).items():
        yield from timestamps(inner, (*path, name))


def remembering():
    """Return an emulator with a recoverable table that has a stream and a backup."""
    emu = Emulator(clock=ManualClock(), settings=Settings(s3=MemoryS3("bucket"), recovery_lag=0))
    emu.call("CreateTable", TABLE)
    recovery = {"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}
    emu.call("UpdateContinuousBackups", {"TableName": "table"} | recovery)
    emu.call("CreateBackup", {"TableName": "table", "BackupName": "first"})
    emu.clock.advance(3_600)
    return emu


def moment_requests(emu):
    """Return a request for every member that is a moment, to be given one."""
    table = emu.call("DescribeTable", {"TableName": "table"})["Table"]
    stream = {"StreamArn": table["LatestStreamArn"]}
    shards = emu.call("DescribeStream", stream)["StreamDescription"]["Shards"]
    export = {"TableArn": table["TableArn"], "S3Bucket": "bucket"}
    now = emu.clock.now()
    increment = {
        "ExportType": "INCREMENTAL_EXPORT",
        "IncrementalExportSpecification": {
            "ExportFromTime": now - 1_800,
            "ExportToTime": now,
        },
    }
    restore = {"SourceTableName": "table", "TargetTableName": "restored"}
    iterator = {"ShardId": shards[0]["ShardId"], "ShardIteratorType": "AT_TIMESTAMP"}
    return {
        ("ExportTableToPointInTime", "ExportTime"): export,
        ("ExportTableToPointInTime", INCREMENT, "ExportFromTime"): export | increment,
        ("ExportTableToPointInTime", INCREMENT, "ExportToTime"): export | increment,
        ("GetShardIterator", "Timestamp"): stream | iterator,
        ("ListBackups", "TimeRangeLowerBound"): {},
        ("ListBackups", "TimeRangeUpperBound"): {},
        ("RestoreTableToPointInTime", "RestoreDateTime"): restore,
    }


INCREMENT = "IncrementalExportSpecification"
REMEMBERING = remembering()
REMEMBERED = REMEMBERING.snapshot()
MOMENT_REQUESTS = moment_requests(REMEMBERING)


def test_every_member_that_is_a_moment_is_known():
    found = {(name, *path) for name in OPERATIONS for path in timestamps(find(name).shape)}
    assert found == MOMENT_REQUESTS.keys()


@settings(max_examples=300)
@given(
    st.sampled_from(sorted(MOMENT_REQUESTS)),
    st.integers(-(2**64), 2**64)
    | st.floats()
    | st.integers(-7_200, 7_200).map(lambda seconds: REMEMBERING.clock.now() + seconds),
)
@example(("RestoreTableToPointInTime", "RestoreDateTime"), 1e14)
@example(("ExportTableToPointInTime", INCREMENT, "ExportFromTime"), -1e14)
@example(("ExportTableToPointInTime", INCREMENT, "ExportToTime"), 1e14)
def test_any_moment_is_answered(path, moment):
    """S3X-33."""
    operation, *names, last = path
    request = MOMENT_REQUESTS[path]
    for name in names:
        request = {**request, name: {**request[name], last: moment}}
    if not names:
        request = {**request, last: moment}
    try:
        REMEMBERING.call(operation, request)
    except ApiError as error:
        assert error.status == 400
    finally:
        REMEMBERING.restore(REMEMBERED)


# The fuzzer of ``benchmarks/fuzz``, for a moment


def test_a_short_run_of_the_fuzzer_finds_nothing():
    """Longer ones are a command; how long requests take is judged there, too."""
    tallies = run(1000, seed=1)
    found = [str(finding) for tally in tallies for finding in tally.findings.values()]
    assert [finding for finding in found if ": slow: " not in finding] == []
    assert {tally.part for tally in tallies if tally.requests} == set(PARTS)


def test_the_fuzzer_makes_requests_of_every_operation_of_the_catalogue():
    maker = RequestMaker(random.Random(0))
    for name in OPERATIONS:
        request = maker.request(name)
        assert request.keys() <= find(name).shape.members.keys()
    assert {maker.operation() for _ in range(2000)} == OPERATIONS.keys()
    assert statement_operations() == (
        "BatchExecuteStatement",
        "ExecuteStatement",
        "ExecuteTransaction",
    )
    assert {case.operation for case in cases()} == {
        name for name in OPERATIONS if find(name).shape.members
    }


def test_an_operation_that_the_fuzzer_is_seldom_served_is_named():
    counts = Counter(dict.fromkeys(OPERATIONS, 26) | {"PutItem": 24, "CreateGlobalTable": 0})
    tallies = [Tally("one", served=counts), Tally("two", served=counts)]
    assert seldom_served(tallies, 1_000_000) == {"PutItem": 48}
    assert seldom_served(tallies, 900_000) == {}


class Leaky(Operations):
    """Changes something whenever it refuses."""

    def play_request(self, operation, request):
        put = {"TableName": "hash", "Item": {"pk": {"S": "leak"}}}
        original = self._emulator.call

        def call(*arguments):
            try:
                return original(*arguments)
            except ApiError:
                original("PutItem", put)
                raise

        self._emulator.call = call
        super().play_request(operation, request)


class Failing(Operations):
    """Meets an error of Python's, and answers that JSON cannot write."""

    def play_request(self, operation, request):
        self._emulator.call = lambda *_: [][1]
        super().play_request(operation, request)


@pytest.mark.parametrize(
    ("player", "requests_made", "kind"), [(Leaky, 40, "changed"), (Failing, 2, "escaped")]
)
def test_the_fuzzer_finds_what_it_looks_for(player, requests_made, kind):
    tally = Tally("trial")
    played = player(random.Random(0), tally)
    for _ in range(requests_made):
        played.play()
    played.end()
    assert {finding.kind for finding in tally.findings.values()} == {kind}
