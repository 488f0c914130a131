"""Histories as a person states them."""

import json

import pytest

from emulator.lab import Capacity, Design, History, Index, Table, Units, load
from emulator.service.errors import DocumentError

LAB = """\
workload:
  fields: {{userId: {{count: 5}}, orderId: {{unique: random}}}}
  patterns: [{{name: put, operation: PutItem, rate: 1}}]
designs:
  - name: d
    partition: "{{userId}}"
    sort: "{{orderId}}"
    history: {history}
    indexes:
      - {{name: byOrder, partition: "{{orderId}}"{index}}}
"""
TABLE = {
    "TableName": "orders",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "TableSizeBytes": 31 * 1024**3,
    "WarmThroughput": {
        "ReadUnitsPerSecond": 12_000,
        "WriteUnitsPerSecond": 9_000,
        "Status": "ACTIVE",
    },
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "byOrder",
            "IndexSizeBytes": 11 * 1024**3,
            "WarmThroughput": {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 4_000},
        },
        {"IndexName": "other", "IndexSizeBytes": 0},
    ],
}


@pytest.fixture
def read(tmp_path):
    """Return a function that reads a lab file with a history."""

    def read_lab(history, index="", described=None):
        if described is not None:
            (tmp_path / "table.json").write_text(described, encoding="utf-8")
        path = tmp_path / "lab.yaml"
        path.write_text(LAB.format(history=history, index=index), encoding="utf-8")
        [design] = load(path).designs
        return design.tables[0]

    return read_lab


def test_a_history_is_read_from_its_members(read):
    table = read(
        "{partitions: 12, previous_peak: {write: 6000}, warm: {read: 20000, write: 4000}, "
        "burst_start: 0.5}"
    )

    assert table.history == History(
        partitions=12,
        previous_peak=Units(write=6_000),
        warm=Units(20_000, 4_000),
        burst_start=0.5,
    )
    assert table.history.promised == (20_000, 12_000)
    assert table.indexes[0].history.is_newborn


@pytest.mark.parametrize("wrapped", [True, False])
def test_a_history_is_read_from_what_describe_table_answered(read, wrapped):
    """CAP2-10: the file lies beside the lab file; warm throughput, and partitions for the size."""
    document = {"Table": TABLE} if wrapped else TABLE

    table = read("{describe_table: table.json}", described=json.dumps(document))

    assert table.history == History(partitions=4, warm=Units(12_000, 9_000))
    assert table.indexes[0].history == History(partitions=2, warm=Units(12_000, 4_000))


def test_members_stand_over_what_the_file_says(read):
    table = read(
        "{describe_table: table.json, partitions: 9}",
        index=", history: {burst_start: 1}",
        described=json.dumps(TABLE),
    )

    assert table.history == History(partitions=9, warm=Units(12_000, 9_000))
    assert table.indexes[0].history.burst_start == 1
    assert table.indexes[0].history.partitions == 2


def test_a_history_is_written_without_the_file():
    index = Index("i", partition="{b}", history=History(burst_start=1.0))
    table = Table(
        partition="{a}",
        indexes=(index,),
        capacity=Capacity(read=1, write=1),
        history=History(partitions=3, warm=Units(write=5), previous_peak=Units(read=7)),
    )
    design = Design("d", tables=[table])

    assert Design.from_document(design.to_document()) == design
    assert Design.from_document(design.to_document()).tables == (table,)
    assert "history" not in Design("d", partition="{a}").to_document()


@pytest.mark.parametrize(
    ("history", "complaint"),
    [
        ("{partitions: 0}", r"lab.yaml:8: designs\[0\].history.partitions: expected a whole"),
        ("{warm: 5}", r"designs\[0\].history.warm: expected a mapping"),
        ("{warm: {}}", "history.warm: expected read and write units per second, or one of them"),
        ("{previous_peak: {writes: 1}}", "did you mean 'write'"),
        ("{burst_start: 2}", "burst_start: expected a number of at most 1"),
        (
            "{describe_table: none.json}",
            "describe_table: .*none.json: cannot be read: No such",
        ),
    ],
)
def test_what_a_history_cannot_be_is_said_with_its_line(read, history, complaint):
    with pytest.raises(DocumentError, match=complaint):
        read(history)


@pytest.mark.parametrize(
    ("described", "complaint"),
    [
        ("{", "table.json:1: not JSON"),
        ("[1]", "expected what 'aws dynamodb describe-table' prints"),
        ("{}", "expected what 'aws dynamodb describe-table' prints"),
        ('{"Table": {"KeySchema": [], "WarmThroughput": 5}}', "expected what 'aws dynamodb"),
    ],
)
def test_a_file_that_describes_no_table_is_refused(read, described, complaint):
    with pytest.raises(DocumentError, match=complaint):
        read("{describe_table: table.json}", described=described)


def test_a_local_index_has_no_history_of_its_own(read):
    with pytest.raises(DocumentError, match="index 'byOrder' is local: it shares the table's"):
        read("{}", index=", local: true, history: {partitions: 2}")
    with pytest.raises(ValueError, match="is local"):
        Index("i", partition="{a}", local=True, history=History(partitions=2))


@pytest.mark.parametrize("options", [{"partitions": 0}, {"burst_start": 1.5}])
def test_a_history_that_makes_no_sense_is_refused(options):
    with pytest.raises(ValueError, match=r"History\."):
        History(**options)
