"""Tables and items in the service's own forms: descriptions, and DynamoDB JSON lines."""

import json

import pytest

from emulator import Emulator, EmulatorError, ManualClock
from emulator.persistence import exchange
from tests.persistence.test_snapshot_file import filled


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
        ("[" * 100_000, r"items:2: not a line of DynamoDB JSON"),
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
        exchange.create_request({"TableName": "t"})


def test_unknown_tables_are_named(tmp_path):
    with pytest.raises(EmulatorError, match="there is no table 'x' in us-east-1"):
        Emulator().export_items("x", tmp_path / "file")
