"""Saved files load again, whatever the clocks: only moments differ, by the documented minutes."""

import json
import math
import re
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from emulator import ApiError, Emulator, ManualClock, Settings
from emulator.capacity import ScalingPolicy
from emulator.clock import NANOSECONDS
from tests.tables import ARN, index, schema, table, vector, vector_index, vector_table

MINUTE = 60
DAY = 24 * 60 * MINUTE
HOME, AWAY = "us-east-1", "eu-west-1"
STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
UNITS = {"ReadCapacityUnits": 2, "WriteCapacityUnits": 1}
SETTINGS = {
    "table_delay": 5,
    "index_delay": 7,
    "recovery_lag": 0,
    "transfer_seconds": 90,
    "transaction_seconds": 2,
    "ttl_change_interval": 3_600,
    "gsi_buffer_seconds": 20,
    "replication_lag": 3,
    "vector_search_delay": 4,
    "heat_threshold": 0.001,
    "split_delay": 400,
    "stream_shards": "partitions",
    "stream_shard_seconds": 600,
}
#: A number is a moment if it is one of these seconds, or of their nanoseconds.
MOMENTS = range(1_764_000_000, 1_775_000_000)
#: Names in which a moment takes part; each is another, and stands where the other stands.
NAMES = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f-]{21}|shardId--?\d+-[0-9a-f]{8}|\d{14,}-[0-9a-f]{8}"
    r"|[0-9-]{10}T[0-9:.]{12}"
)
#: The moment at which an item expires is the client's, and is not moved.
EXPIRY = re.compile(r'(?<="ttl":{"N":")-?\d+')

keys = st.sampled_from("abcdef")
pauses = st.sampled_from([0, 0.25, 3, 59.5, 60, 400, 3_601, DAY + 0.5])


def seconds_of(clock):
    """Return the time to the nanosecond; a float is not so exact."""
    return Decimal(clock.now_ns()) / NANOSECONDS


class SavedFile:
    """The lines of a saved file, with names of moments in the order in which they are met."""

    def __init__(self, emu, path):
        emu.save(path)
        lines = [json.loads(line) for line in path.read_text().splitlines()[1:]]
        for before, line in pairwise(lines):
            if "backup" in before:  # a backup need not know whether its table had a stream
                line["state"]["stream"] = line["history"] = None
        names = {}
        text = EXPIRY.sub("0", json.dumps(lines, separators=(",", ":")))
        self.lines = json.loads(
            NAMES.sub(lambda met: names.setdefault(met[0], f"name {len(names)}"), text)
        )


def moved(written, seconds):
    """Return the lines of a file with all moments moved back."""
    if isinstance(written, dict):
        # What a client has asked stays as it was asked.
        return {
            name: value if name == "asked" else moved(value, seconds)
            for name, value in written.items()
        }
    if isinstance(written, list):
        return [moved(value, seconds) for value in written]
    if type(written) in (int, float):
        if int(written) in MOMENTS:
            return written - seconds
        if int(written) // NANOSECONDS in MOMENTS:
            return written - seconds * NANOSECONDS
    return written


class SavedFiles(RuleBasedStateMachine):
    """Two emulators with one history, except that the clock of one is set back while it is saved.

    Attributes:
        ahead: Its clock only goes on.
        behind: Its clock was set back now and then.
        moved_s: By how much, in whole minutes.
    """

    @initialize(
        capacity=st.sampled_from(("off", "observe", "enforce")), start=st.sampled_from([0, 30, 0.5])
    )
    def begin(self, capacity, start):
        self.folder = TemporaryDirectory()
        self.capacity = capacity
        self.moved_s = 0
        self.has_decreased = False
        self.stores = {}
        for side in ("ahead", "behind"):
            for bucket in ("in", "out"):
                (Path(self.folder.name) / side / bucket).mkdir(parents=True)
            lines = [
                json.dumps({"Item": {"pk": {"S": key}, "sk": {"S": "bulk"}}}) for key in "abcd"
            ]
            (Path(self.folder.name) / side / "in" / "items").write_text("\n".join([*lines, "none"]))
        self.ahead, self.behind = (
            Emulator(clock=ManualClock(1_767_225_600 + start), **self.options(side))
            for side in ("ahead", "behind")
        )
        for emu in (self.ahead, self.behind):
            fill(emu)

    def options(self, side):
        place = Path(self.folder.name) / side
        return {"capacity": self.capacity, "settings": Settings(s3=place, **SETTINGS)}

    def teardown(self):
        if hasattr(self, "folder"):
            self.folder.cleanup()

    def both(self, operation, region=HOME, **request):
        """Ask both the same; what one refuses the other refuses."""
        codes = []
        for emu in (self.ahead, self.behind):
            try:
                emu.call(operation, request, region=region)
                codes.append(None)
            except ApiError as error:
                codes.append(error.code)
        assert codes[0] == codes[1]

    def advance(self, seconds):
        for emu in (self.ahead, self.behind):
            emu.clock.advance(seconds)

    # What happens

    @rule(seconds=pauses)
    def wait(self, seconds):
        self.advance(seconds)

    @rule(key=keys, size=st.sampled_from([0, 1_500]))
    def put(self, key, size):
        item = {"pk": {"S": key}, "sk": {"S": "s"}, "g": {"S": "g"}, "x": {"S": "x" * size}}
        self.both("PutItem", TableName="tab", Item=item)

    @rule(key=keys)
    def delete(self, key):
        self.both("DeleteItem", TableName="tab", Key={"pk": {"S": key}, "sk": {"S": "s"}})

    @rule(first=keys, second=keys)
    def transact(self, first, second):
        puts = [
            {"Put": {"TableName": "tab", "Item": {"pk": {"S": key}, "sk": {"S": "t"}}}}
            for key in (first, second)
        ]
        self.both("TransactWriteItems", TransactItems=puts)

    @rule(key=keys)
    def expire(self, key):
        for emu in (self.ahead, self.behind):
            ttl = {"N": str(int(emu.clock.now()) - 1)}
            item = {"pk": {"S": key}, "sk": {"S": "old"}, "ttl": ttl}
            try:
                emu.call("PutItem", {"TableName": "tab", "Item": item})
            except ApiError as error:
                assert error.code == "ProvisionedThroughputExceededException"
        self.advance(MINUTE)

    @rule(region=st.sampled_from((HOME, AWAY)), key=keys, seconds=st.sampled_from([0, 1, 4]))
    def replicate(self, region, key, seconds):
        item = {"pk": {"S": key}, "v": {"S": region}}
        self.both("PutItem", region, TableName="everywhere", Item=item)
        self.advance(seconds)

    @rule(key=keys, number=st.integers(-2, 2))
    def put_vector(self, key, number):
        item = {"pk": {"S": key}, "emb": vector(number, 1)}
        self.both("PutItem", TableName="vectors", Item=item)

    @rule()
    def back_up(self):
        self.both("CreateBackup", TableName="tab", BackupName="more")

    @rule()
    def export(self):
        self.both("ExportTableToPointInTime", TableArn=ARN, S3Bucket="out")

    @rule()
    def bulk_put(self):
        bulk_put(self.both)

    @rule()
    def lower(self):
        if not self.has_decreased:  # how many of a day are left depends on where the days end
            units = {"ReadCapacityUnits": 2, "WriteCapacityUnits": 1}
            self.both("UpdateTable", TableName="tab", ProvisionedThroughput=units)
            self.has_decreased = True

    @rule()
    def delete_and_create(self):
        self.both("DeleteTable", TableName="short")
        self.advance(5)
        request = table("pk", StreamSpecification=STREAM, TableName="short")
        self.both("CreateTable", **request)
        self.advance(5)

    # What is saved and loaded

    @rule(back=st.sampled_from([0.5, 29, 60, 90.25, 5_000, 3 * DAY, 10**12]), pause=pauses)
    def reload(self, back, pause):
        """Load both: one by a clock that has gone on, the other by one that was set back."""
        paths = {side: Path(self.folder.name) / f"{side}.saved" for side in ("ahead", "behind")}
        before = SavedFile(self.ahead, paths["ahead"])
        self.behind.save(paths["behind"])
        stands_s = seconds_of(self.behind.clock)
        begins_s = max(Decimal(0), stands_s - Decimal(back)) if back else stands_s + Decimal(pause)
        minutes = max(0, math.ceil((stands_s - begins_s) / MINUTE))
        self.moved_s += minutes * MINUTE
        went_on_s = begins_s - stands_s + minutes * MINUTE
        clocks = {
            "ahead": ManualClock(seconds_of(self.ahead.clock) + went_on_s),
            "behind": ManualClock(begins_s),
        }
        self.ahead, self.behind = (
            Emulator.load(paths[side], clock=clock, **self.options(side))
            for side, clock in clocks.items()
        )
        if went_on_s == 0:
            assert SavedFile(self.ahead, paths["ahead"]).lines == before.lines
        self.agree()

    def agree(self):
        """What one holds is what the other holds, with every moment moved."""
        place = Path(self.folder.name) / "compared"
        ahead, behind = (SavedFile(emu, place).lines for emu in (self.ahead, self.behind))
        assert behind == moved(ahead, self.moved_s)


def fill(emu):
    """Make one of everything that a file can hold."""
    slow = index("slow", schema("g"), ProvisionedThroughput=UNITS)
    request = table("pk", "sk", names="pk sk g", provisioned=(2, 3), StreamSpecification=STREAM)
    emu.call("CreateTable", request | {"GlobalSecondaryIndexes": [slow]})
    emu.call("CreateTable", table("pk", TableName="short", StreamSpecification=STREAM))
    emu.call("CreateTable", table("pk", TableName="everywhere", indexes={"by_v": "v"}))
    emu.call("CreateTable", vector_table(vector_index(), TableName="vectors"))
    emu.clock.advance(5)
    emu.auto_scale("tab", read=ScalingPolicy(minimum=2, maximum=100))
    for operation, members in {
        "UpdateTimeToLive": {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ttl"}},
        "UpdateContinuousBackups": {
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}
        },
        "UpdateContributorInsights": {"ContributorInsightsAction": "ENABLE"},
        "CreateBackup": {"BackupName": "first"},
    }.items():
        emu.call(operation, {"TableName": "tab", **members})
    replica = [{"Create": {"RegionName": AWAY}}]
    emu.call("UpdateTable", {"TableName": "everywhere", "ReplicaUpdates": replica})
    warm = {"ReadUnitsPerSecond": 40_000, "WriteUnitsPerSecond": 20_000}
    emu.call("UpdateTable", {"TableName": "short", "WarmThroughput": warm})
    emu.clock.advance(1_200)
    now = emu.clock.now()
    period = {"ExportFromTime": now - 1_000, "ExportToTime": now}
    emu.call(
        "ExportTableToPointInTime",
        {
            "TableArn": ARN,
            "S3Bucket": "out",
            "ExportType": "INCREMENTAL_EXPORT",
            "IncrementalExportSpecification": period,
        },
    )
    emu.call(
        "RestoreTableToPointInTime",
        {"SourceTableName": "tab", "TargetTableName": "restored", "RestoreDateTime": now - 60},
    )
    source = {"S3Bucket": "in"}
    parameters = table("pk", "sk", TableName="imported")
    emu.call(
        "ImportTable",
        {
            "S3BucketSource": source,
            "InputFormat": "DYNAMODB_JSON",
            "TableCreationParameters": parameters,
        },
    )
    bulk_put(lambda operation, **request: emu.call(operation, request))


def bulk_put(call):
    call(
        "StartBulkPutItems",
        TableName="tab",
        InputS3Configuration={"S3Bucket": "in", "InputFormat": "DYNAMODB_JSON"},
        OutputS3Configuration={"S3Bucket": "out", "OutputType": ["ERROR"]},
        MaxWriteRequestUnits=1024,
    )


TestSavedFiles = SavedFiles.TestCase
TestSavedFiles.settings = settings(max_examples=20, stateful_step_count=12, deadline=None)
