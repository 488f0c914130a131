"""Tables on disk: saved whole or not at all, refused when damaged or foreign."""

import hashlib
import json
import os
import random
from pathlib import Path

import pytest

from emulator import Emulator, EmulatorError, ManualClock, Settings, SystemClock
from emulator.__main__ import main
from emulator.clock import DEFAULT_START, NANOSECONDS
from tests.tables import index, schema, table


def filled(region=None):
    emulator = Emulator(clock=ManualClock())
    definition = {
        "TableName": "tab",
        "KeySchema": [
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        "AttributeDefinitions": [
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "B"},
            {"AttributeName": "n", "AttributeType": "N"},
        ],
        "ProvisionedThroughput": {"ReadCapacityUnits": 3, "WriteCapacityUnits": 4},
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "gsi",
                "KeySchema": [{"AttributeName": "n", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x"]},
                "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 2},
            }
        ],
        "LocalSecondaryIndexes": [
            {
                "IndexName": "lsi",
                "KeySchema": [
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "n", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        "Tags": [{"Key": "team", "Value": "a"}],
        "TableClass": "STANDARD_INFREQUENT_ACCESS",
        "DeletionProtectionEnabled": True,
        "SSESpecification": {"Enabled": True, "SSEType": "KMS"},
    }
    emulator.call("CreateTable", definition, region=region)
    for number in range(20):
        item = {
            "pk": {"S": f"p{number % 3}"},
            "sk": {"B": "AAE="} if number % 2 else {"B": "AA=="},
            "n": {"N": str(number)},
            "x": {"L": [{"SS": ["a", "é"]}, {"NULL": True}]},
        }
        emulator.call("PutItem", {"TableName": "tab", "Item": item}, region=region)
    emulator.call(
        "UpdateTimeToLive",
        {
            "TableName": "tab",
            "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "t"},
        },
        region=region,
    )
    return emulator


def seen(emulator, region=None):
    """Return what a client sees of a table, without what a new table cannot keep."""
    described = emulator.call("DescribeTable", {"TableName": "tab"}, region=region)["Table"]
    for member in ("TableId", "CreationDateTime", "LatestStreamArn", "LatestStreamLabel"):
        described.pop(member)
    described.get("SSEDescription", {}).pop("KMSMasterKeyArn", None)
    scans = [
        emulator.call("Scan", {"TableName": "tab", **index}, region=region)
        for index in ({}, {"IndexName": "gsi"}, {"IndexName": "lsi"})
    ]
    ttl = emulator.call("DescribeTimeToLive", {"TableName": "tab"}, region=region)
    tags = emulator.call(
        "ListTagsOfResource", {"ResourceArn": described["TableArn"]}, region=region
    )
    return described, scans, ttl, tags


def test_a_loaded_emulator_shows_what_was_saved(tmp_path):
    saved = filled()
    saved.save(tmp_path / "file")
    loaded = Emulator.load(tmp_path / "file", clock=ManualClock())
    assert seen(loaded) == seen(saved)
    for loaded_table in loaded.account().tables.values():
        loaded_table.store.check()


def test_regions_are_kept_apart(tmp_path):
    filled("eu-west-1").save(tmp_path / "file")
    loaded = Emulator.load(tmp_path / "file", clock=ManualClock())
    assert loaded.call("ListTables", {}) == {"TableNames": []}
    assert loaded.call("ListTables", {}, region="eu-west-1") == {"TableNames": ["tab"]}


def test_access_keys_are_kept_apart(tmp_path):
    """A key's own table, and one of the same name that every key sees."""
    saved = Emulator(clock=ManualClock())
    for key in ("ann", "bob", None):
        saved.call("CreateTable", table("pk"), access_key=key)
        item = {"pk": {"S": key or "everybody"}}
        saved.call("PutItem", {"TableName": "tab", "Item": item}, access_key=key)
    saved.save(tmp_path / "file")
    loaded = Emulator.load(tmp_path / "file", clock=ManualClock())
    for key in ("ann", "bob", None, "carol"):
        items = loaded.call("Scan", {"TableName": "tab"}, access_key=key)["Items"]
        assert items == saved.call("Scan", {"TableName": "tab"}, access_key=key)["Items"]
    assert items == [{"pk": {"S": "everybody"}}]
    assert loaded.namespaces() == saved.namespaces()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is not a dynamometer snapshot"),
        (b"PK\x03\x04\xff", "is not a dynamometer snapshot"),
        (b'{"format": "other"}\n', "is not a dynamometer snapshot"),
        (b"[]\n", "is not a dynamometer snapshot"),
        (b"[" * 100_000, "is not a dynamometer snapshot"),
        (b'{"format": "dynamometer-snapshot", "version": 9}\n', "has snapshot version 9"),
        (b'{"format": "dynamometer-snapshot", "version": true}\n', "has snapshot version True"),
        (
            b'{"format": "dynamometer-snapshot", "version": [1]}\n',
            "has snapshot version of another",
        ),
        (
            b'{"format": "dynamometer-snapshot", "version": 1, "sha256": "0"}\n{}\n',
            "is damaged",
        ),
    ],
)
def test_foreign_and_damaged_files_are_refused(tmp_path, content, reason):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(EmulatorError, match=reason):
        Emulator.load(path)


def test_a_file_cut_short_is_refused(tmp_path):
    path = tmp_path / "file"
    filled().save(path)
    data = path.read_bytes()
    for length in (len(data) - 1, len(data) // 2, data.index(b"\n") + 1):
        path.write_bytes(data[:length])
        with pytest.raises(EmulatorError, match="is damaged"):
            Emulator.load(path)


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    emulator = filled()
    emulator.save(path)
    before = path.read_bytes()

    def broken(_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", broken)
    emulator.call(
        "PutItem",
        {"TableName": "tab", "Item": {"pk": {"S": "new"}, "sk": {"B": "AA=="}}},
    )
    with pytest.raises(OSError, match="disk full"):
        emulator.save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["file"]


# Files of every version: one of each is kept, as the release of its time wrote it.

FILES = Path(__file__).parent / "files"


def scanned(emulator, region, **request):
    return emulator.call("Scan", request, region=region)["Items"]


@pytest.mark.parametrize("version", [1, 2, 3])
def test_files_of_every_version_load_for_ever(version):
    loaded = Emulator.load(FILES / f"version_{version}.snapshot", capacity="enforce")
    orders = loaded.call("DescribeTable", {"TableName": "orders"})["Table"]
    assert orders["ProvisionedThroughput"]["WriteCapacityUnits"] == 50
    assert orders["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    assert len(scanned(loaded, None, TableName="orders")) == 6
    for name in ("gsi", "lsi"):
        assert len(scanned(loaded, None, TableName="orders", IndexName=name)) == 6
    described = loaded.call("DescribeTimeToLive", {"TableName": "orders"})
    assert described["TimeToLiveDescription"]["TimeToLiveStatus"] == "ENABLED"
    late = {item["pk"]["S"] for item in scanned(loaded, "eu-west-1", TableName="late")}
    assert late == {"text", "number", "empty", "long", "map"}
    (entry,) = scanned(loaded, "eu-west-1", TableName="late", IndexName="by_g")
    assert entry["pk"] == {"S": "text"}


def test_what_waited_when_version_2_was_written_waits_on():
    loaded = Emulator.load(FILES / "version_2.snapshot", capacity="enforce", clock=ManualClock())
    assert loaded.backlog("slow", "by_g").units == 2
    loaded.clock.advance(10)
    assert len(scanned(loaded, None, TableName="slow", IndexName="by_g")) == 3


@pytest.mark.parametrize(
    "value",
    [
        {"N": "5"},
        {"S": ""},
        {"S": "x" * 2_049},
        {"M": {}},
        {"L": []},
        {"NULL": True},
        {"B": "AA=="},
    ],
    ids=lambda value: next(iter(value)),
)
def test_what_an_index_that_came_later_passes_over_is_loaded(tmp_path, value):
    """MAK-26: the index has no entry, and the table has the item."""
    emulator = Emulator()
    emulator.call("CreateTable", table("pk"))
    item = {"pk": {"S": "a"}, "g": value}
    emulator.call("PutItem", {"TableName": "tab", "Item": item})
    create = index("late", schema("g"))
    emulator.call(
        "UpdateTable",
        {
            "TableName": "tab",
            "AttributeDefinitions": [{"AttributeName": "g", "AttributeType": "S"}],
            "GlobalSecondaryIndexUpdates": [{"Create": create}],
        },
    )
    emulator.save(tmp_path / "file")
    loaded = Emulator.load(tmp_path / "file")
    assert loaded.call("Scan", {"TableName": "tab"})["Items"] == [item]
    assert loaded.call("Scan", {"TableName": "tab", "IndexName": "late"})["Items"] == []


# Clocks that stand earlier than the file


@pytest.mark.parametrize("capacity", ["off", "observe", "enforce"])
@pytest.mark.parametrize("seconds", [0.5, 30, 90])
def test_what_was_loaded_by_an_earlier_clock_can_be_saved_and_loaded_again(
    tmp_path, capacity, seconds
):
    emulator = filled()
    emulator.clock.advance(seconds)
    emulator.save(tmp_path / "file")
    loaded = Emulator.load(tmp_path / "file", clock=ManualClock(), capacity=capacity)
    loaded.save(tmp_path / "file")
    again = Emulator.load(tmp_path / "file", clock=ManualClock(), capacity=capacity)
    assert seen(again) == seen(emulator)


def test_a_clock_that_begins_in_1970_is_before_all_that_a_file_holds(tmp_path):
    emulator = filled()
    emulator.clock.advance(3_600)
    for _ in range(2):
        emulator.save(tmp_path / "file")
        emulator = Emulator.load(tmp_path / "file", clock=ManualClock(0))
    described = emulator.call("DescribeTable", {"TableName": "tab"})["Table"]
    assert described["CreationDateTime"] == -3_600


class Ticking(SystemClock):
    """A clock on which a second passes whenever it is asked."""

    def __init__(self, start):
        self.seconds = start

    def now_ns(self):
        self.seconds += 1
        return self.seconds * NANOSECONDS


@pytest.mark.parametrize("start", range(DEFAULT_START + 50, DEFAULT_START + 60))
def test_all_regions_are_moved_by_the_same_minutes(tmp_path, start):
    emulator = Emulator(clock=Ticking(start))
    regions = ("us-east-1", "eu-west-1")
    for region in regions:
        emulator.call("CreateTable", table("pk"), region=region)
    emulator.save(tmp_path / "file")
    loaded = Emulator.load(tmp_path / "file", clock=ManualClock())
    created, moved = (
        [one.account(region).tables["tab"].created_ns for region in regions]
        for one in (emulator, loaded)
    )
    assert moved[1] - moved[0] == created[1] - created[0]


# What is on its way out is not saved


def test_a_table_that_is_being_deleted_is_not_saved(tmp_path):
    emulator = Emulator(clock=ManualClock(), settings=Settings(table_delay=10))
    emulator.call("CreateTable", table("pk"))
    emulator.clock.advance(10)
    emulator.call("DeleteTable", {"TableName": "tab"})
    assert emulator.call("ListTables", {}) == {"TableNames": ["tab"]}
    emulator.save(tmp_path / "file")
    loaded = Emulator.load(tmp_path / "file", clock=ManualClock())
    assert loaded.call("ListTables", {}) == {"TableNames": []}


def test_an_index_that_is_being_deleted_is_not_saved(tmp_path):
    emulator = Emulator(clock=ManualClock(), settings=Settings(table_delay=10))
    emulator.call("CreateTable", table("pk", GlobalSecondaryIndexes=[index("gone", schema("g"))]))
    emulator.clock.advance(10)
    delete = {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "gone"}}]}
    emulator.call("UpdateTable", {"TableName": "tab", **delete})
    emulator.save(tmp_path / "file")
    loaded = Emulator.load(tmp_path / "file", clock=ManualClock(), settings=Settings())
    described = loaded.call("DescribeTable", {"TableName": "tab"})["Table"]
    assert "GlobalSecondaryIndexes" not in described
    assert described["AttributeDefinitions"] == [{"AttributeName": "pk", "AttributeType": "S"}]


# Files whose checksum fits, and whose content does not


def signed(lines, version=3):
    """Return a snapshot file of these lines, with a header that fits."""
    body = b"".join(
        line if type(line) is bytes else json.dumps(line).encode() + b"\n" for line in lines
    )
    header = {"format": "dynamometer-snapshot", "version": version}
    header["sha256"] = hashlib.sha256(body).hexdigest()
    return json.dumps(header).encode() + b"\n" + body


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """The lines of a file behind its header: a region, a table, six items, a stream, records."""
    path = tmp_path_factory.mktemp("saved") / "file"
    filled().save(path)
    return [json.loads(line) for line in path.read_bytes().splitlines()[1:]]


LARGE = {"pk": {"S": "large"}, "sk": {"B": "AA=="}, "x": {"S": "x" * 2_000_000}}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda lines: lines[:4], r"line 5 .*\(the file ends too early\)"),
        (lambda lines: [*lines, {}], r"\('region' is missing\)"),
        (lambda lines: [*lines, [1]], r"\(an object is expected\)"),
        (lambda lines: [*lines, lines[0]], r"\(a namespace comes twice\)"),
        (lambda lines: [b"[" * 100_000 + b"\n"], r"line 2 .*\(it is nested too deeply\)"),
        (lambda lines: [*lines[:2], LARGE, *lines[3:]], r"line 4 .*Item size has exceeded"),
        (lambda lines: [*lines[:2], lines[3], *lines[3:]], r"\(an item comes twice\)"),
        (lambda lines: [*lines[:2], {"pk": {"S": "a"}}, *lines[3:]], r"Missing the key sk"),
        (lambda lines: [lines[0] | {"now": 10**40}, *lines[1:]], r"\(a whole number within bounds"),
        (lambda lines: [lines[0] | {"region": 5}, *lines[1:]], r"\(a text is expected\)"),
    ],
)
def test_a_file_that_does_not_hold_together_is_refused(tmp_path, lines, change, reason):
    path = tmp_path / "file"
    path.write_bytes(signed(change(lines)))
    with pytest.raises(EmulatorError, match=reason) as refusal:
        Emulator.load(path)
    assert str(refusal.value).startswith(f"{path} line ")
    assert "\n" not in str(refusal.value)


def test_serving_a_file_that_does_not_hold_together_is_wrong_usage(tmp_path, lines, capsys):
    path = tmp_path / "file"
    path.write_bytes(signed(lines[:4]))
    assert main(["serve", "--port", "0", "--snapshot", str(path)]) == 2
    assert capsys.readouterr().err.startswith(
        f"dynamometer: {path} cannot be loaded: {path} line 5"
    )


def damaged(value, path, chance):
    """Return a value with the leaf or branch at a path taken out or replaced."""
    if not path:
        return chance.choice(
            [None, True, -1, 0, 10**30, 0.5, 1e308, "", "x", [], {}, [[]], {"S": "x"}, [value]]
        )
    step, *rest = path
    copied = value.copy()
    if not rest and chance.random() < 0.3:
        del copied[step]
    else:
        copied[step] = damaged(value[step], rest, chance)
    return copied


def paths(value):
    """Yield the path of every branch and leaf of a JSON value."""
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for step, member in members:
        yield [step]
        if isinstance(member, dict | list):
            yield from ([step, *path] for path in paths(member))


@pytest.mark.parametrize("seed", range(2))
def test_whatever_is_wrong_with_a_line_is_one_sentence(tmp_path, lines, seed):
    """Anything taken out or replaced: the file loads, or is refused with one sentence."""
    chance = random.Random(seed)
    path = tmp_path / "file"
    everywhere = [[number, *inner] for number, line in enumerate(lines) for inner in paths(line)]
    refused = 0
    for where in chance.sample(everywhere, 100):
        path.write_bytes(signed(damaged(lines, where, chance)))
        try:
            loaded = Emulator.load(path, clock=ManualClock())
        except EmulatorError as refusal:
            refused += 1
            assert "\n" not in str(refusal)
        else:
            loaded.call("ListTables", {})
            loaded.clock.advance(3_600)
    assert refused > 60
