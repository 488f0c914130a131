"""Tables on disk: saved whole or not at all, refused when damaged or foreign."""

import json
import os

import pytest

from emulator import Emulator, EmulatorError, ManualClock
from emulator.persistence import snapshot_file


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
    for table in loaded.account().tables.values():
        table.store.check()


def test_regions_are_kept_apart(tmp_path):
    filled("eu-west-1").save(tmp_path / "file")
    loaded = Emulator.load(tmp_path / "file", clock=ManualClock())
    assert loaded.call("ListTables", {}) == {"TableNames": []}
    assert loaded.call("ListTables", {}, region="eu-west-1") == {"TableNames": ["tab"]}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is no dynamometer snapshot"),
        (b"PK\x03\x04\xff", "is no dynamometer snapshot"),
        (b'{"format": "other"}\n', "is no dynamometer snapshot"),
        (b"[]\n", "is no dynamometer snapshot"),
        (b'{"format": "dynamometer-snapshot", "version": 9}\n', "has snapshot version 9"),
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


def test_items_travel_as_dynamodb_json_lines(tmp_path):
    emulator = filled()
    assert emulator.export_items("tab", tmp_path / "items") == 6
    lines = (tmp_path / "items").read_text().splitlines()
    assert all(set(json.loads(line)) == {"Item"} for line in lines)
    other = Emulator(clock=ManualClock())
    other.import_table(emulator.call("DescribeTable", {"TableName": "tab"}))
    assert other.import_items("tab", tmp_path / "items") == 6
    assert other.call("Scan", {"TableName": "tab"}) == emulator.call("Scan", {"TableName": "tab"})


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", r"items:2: not a line of DynamoDB JSON"),
        ('{"Item": {"pk": {"S": "a"}}}', r"items:2: .*Missing the key sk in the item"),
        ('{"pk": {"N": "x"}}', r"items:2: The parameter cannot be converted"),
        ("5", r"items:2: not a line of DynamoDB JSON"),
    ],
)
def test_a_wrong_line_is_named_and_nothing_is_imported(tmp_path, line, reason):
    path = tmp_path / "items"
    path.write_text('{"pk": {"S": "new"}, "sk": {"B": "AA=="}}\n' + line + "\n\n")
    emulator = filled()
    before = emulator.call("Scan", {"TableName": "tab"})
    with pytest.raises(EmulatorError, match=reason):
        emulator.import_items("tab", path)
    assert emulator.call("Scan", {"TableName": "tab"}) == before


def test_a_description_needs_its_keys():
    with pytest.raises(EmulatorError, match="needs KeySchema"):
        snapshot_file.create_request({"TableName": "t"})


def test_unknown_tables_are_named(tmp_path):
    with pytest.raises(EmulatorError, match="there is no table 'x' in us-east-1"):
        Emulator().export_items("x", tmp_path / "file")
