"""Traffic of production on a workload: every kind of file, and what is wrong with it."""

import gzip
import json
import sys
import tracemalloc

import pytest

from emulator.designs.cloudwatch_queries import queries
from emulator.lab import Field, Pattern, Workload
from emulator.lab.inputs.traffic import with_traffic
from emulator.service.errors import DocumentError

WORKLOAD = Workload(
    fields=[Field("deviceId", count=4000), Field("kind", count=3)],
    patterns=[
        Pattern("record", "PutItem", rate=30, size=300),
        Pattern("alarm", "PutItem", rate=10, size=300),
        Pattern("last", "Query", rate=5, by=("deviceId",)),
    ],
    duration=3600,
)
METRICS = {
    "MetricDataResults": [
        {
            "Id": "requests_PutItem",
            "Label": "SuccessfulRequestLatency",
            "StatusCode": "Complete",
            "Timestamps": ["2026-11-02T10:02:00+00:00", "2026-11-02T10:00:00Z"],
            "Values": [5400.0, 3000.0],
        },
        {
            "Id": "units_write",
            "Timestamps": ["2026-11-02T10:02:00+00:00", "2026-11-02T10:00:00+00:00"],
            "Values": [10800.0, 6000.0],
        },
    ]
}
REPORT = {
    "KeyLabels": ["deviceId"],
    "AggregateValue": 900000,
    "ApproximateUniqueCount": 4000,
    "Contributors": [
        {"Keys": ["d-17"], "ApproximateAggregateValue": 270000, "Datapoints": []},
        {"Keys": ["d-5"], "ApproximateAggregateValue": 90000, "Datapoints": []},
    ],
    "MetricDatapoints": [],
}
TRACE = '{"time": 3, "operation": "PutItem", "fields": {"deviceId": "a"}}\n'
COUNTS = (
    "minute,pattern,deviceId,count\n"
    "2026-11-02T10:00,record,d-1,120\n"
    "2026-11-02T10:00,record,d-2,60\n"
    "2026-11-02T10:02Z,record,d-1,600\n"
    "2026-11-02T10:02,last,d-2,60\n"
)


def event(second, key, name="PutItem", **members):
    return {
        "eventTime": f"2026-11-02T10:00:{second:02}Z",
        "eventSource": "dynamodb.amazonaws.com",
        "eventName": name,
        "eventCategory": "Data",
        "requestParameters": {"tableName": "Events", "key": {"deviceId": key}},
    } | members


def written(directory, document, name="file.json"):
    path = directory / name
    text = document if isinstance(document, str) else json.dumps(document)
    path.write_text(text, encoding="utf-8")
    return path


def rates(workload, name):
    """Return the rate of a pattern in the first second of each minute."""
    return workload.rates(workload.pattern(name))[::60].round(3).tolist()


def test_metrics_are_a_load_curve_shared_by_patterns_of_an_operation(tmp_path):
    """ICH-60, ICH-61: the smallest gap is the period, gaps are zero."""
    statistics = {
        "Label": "SuccessfulRequestLatency",
        "Datapoints": [
            {"Timestamp": f"2026-11-02T10:0{minute}:00+00:00", "Sum": 600.0 * minute}
            for minute in (2, 1)
        ],
    }
    workload = with_traffic(
        WORKLOAD,
        [written(tmp_path, statistics)],
        names={"SuccessfulRequestLatency": "requests_PutItem"},
    )
    assert workload.duration == 120
    assert rates(workload, "record") == [7.5, 15]
    assert rates(workload, "alarm") == [2.5, 5]
    assert rates(workload, "last") == [5, 5]


def test_units_per_write_are_a_size(tmp_path):
    """ICH-62: 1024 x units - 512; a period of two minutes here."""
    workload = with_traffic(WORKLOAD, [written(tmp_path, METRICS)])
    assert workload.pattern("record").sizes.mean == 1536
    assert workload.duration == 240
    assert rates(workload, "record") == [18.75, 18.75, 33.75, 33.75]


def test_queries_have_the_ids_that_are_known():
    """ICH-60."""
    ids = [query["Id"] for query in queries("Events", ["by-kind"])]
    assert "requests_PutItem" in ids
    assert "index_write_by_kind" in ids
    assert all(name[0].islower() and name.replace("_", "").isalnum() for name in ids)
    assert len(set(ids)) == len(ids)


def test_insights_are_the_popularity_of_keys(tmp_path):
    """ICH-65, ICH-66: what contributors do not have is spread over the other values."""
    workload = with_traffic(WORKLOAD, [written(tmp_path, REPORT)])
    field = workload.field("deviceId")
    shares = field.distribution.probabilities(field.size)
    assert field.size == 4000
    assert field.values[:2] == ("d-17", "d-5")
    assert shares[:2].tolist() == pytest.approx([0.3, 0.1])
    assert shares[2] == pytest.approx(0.6 / 3998)


def test_keys_can_be_made_anonymous(tmp_path):
    workload = with_traffic(WORKLOAD, [written(tmp_path, REPORT)], anonymous=True)
    assert workload.field("deviceId").values[:2] == ("deviceId-1", "deviceId-2")


def test_units_of_the_same_time_are_the_whole(tmp_path):
    """ICH-65, ICH-66: reads and three times the writes, from metrics given before."""
    metrics = written(tmp_path, METRICS, "metrics.json")
    report = json.loads(json.dumps(REPORT))
    report["Contributors"][0]["ApproximateAggregateValue"] = 3 * 8400
    report["Contributors"].pop()
    workload = with_traffic(WORKLOAD, [metrics, written(tmp_path, report)])
    field = workload.field("deviceId")
    assert field.distribution.probabilities(field.size)[0] == pytest.approx(0.5)


def test_a_recording_replaces_the_patterns(tmp_path):
    workload = with_traffic(WORKLOAD, [written(tmp_path, TRACE * 2, "trace.jsonl")])
    assert [pattern.name for pattern in workload.patterns] == ["PutItem by deviceId"]
    assert workload.field("deviceId").values == ("a",)
    assert workload.field("kind").count == 3


def peak_bytes(path):
    tracemalloc.start()
    try:
        with_traffic(WORKLOAD, [path])
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_files_of_traffic_may_be_large_because_they_are_read_line_by_line(tmp_path):
    """ICH-6."""
    line = TRACE.replace("}}", f'}}, "note": "{"x" * 100_000}"}}')
    trace = written(tmp_path, line * 110, "trace.jsonl")
    header, row = COUNTS.splitlines()[:2]
    counts = written(tmp_path, "\n".join([header, *[row] * 70_000]), "counts.csv")

    assert trace.stat().st_size > 10_000_000
    assert peak_bytes(trace) < 1_500_000
    assert counts.stat().st_size > 2_000_000
    assert peak_bytes(counts) < 1_000_000


@pytest.mark.parametrize("name", ["metrics.json", "trace.jsonl", "trail.json.gz"])
def test_traffic_is_nested_no_deeper_than_designs(tmp_path, name):
    """ICH-6."""
    deep = TRACE[:-2] + ', "note": ' + "[" * 20_000 + "]" * 20_000 + "}\n"
    path = tmp_path / name
    path.write_bytes(gzip.compress(deep.encode()) if name.endswith("gz") else deep.encode())
    with pytest.raises(DocumentError, match=rf"{name}:1: nested too deeply: at most 100 levels$"):
        with_traffic(WORKLOAD, [path])


def test_a_trace_of_one_line_is_one(tmp_path):
    assert with_traffic(WORKLOAD, [written(tmp_path, TRACE)]).requests == 1


@pytest.mark.parametrize("compressed", [False, True])
def test_a_trail_is_a_trace(tmp_path, compressed):
    """ICH-70: spread over their second; a refused attempt that succeeded is no request."""
    records = [
        event(0, "d-1"),
        event(0, "d-2"),
        event(5, "d-3", errorCode="ProvisionedThroughputExceededException"),
        event(9, "d-3"),
        event(11, "d-4", errorCode="ThrottlingException"),
        event(12, "x", "ExecuteStatement")
        | {"requestParameters": {"statement": "SELECT * FROM \"E\" WHERE deviceId = 'd-9'"}},
        event(13, "x", "DescribeTable"),
        event(14, "x", eventSource="s3.amazonaws.com"),
    ]
    path = written(tmp_path, {"Records": records})
    if compressed:
        path = tmp_path / "file.json.gz"
        path.write_bytes(gzip.compress(json.dumps({"Records": records}).encode()))
    workload = with_traffic(WORKLOAD, [path])
    puts = workload.pattern("PutItem by deviceId").recorded
    assert puts.times == (0.0, 0.5, 9.0, 11.0)
    assert workload.field("deviceId").values == ("d-1", "d-2", "d-3", "d-4", "d-9")
    assert workload.pattern("Query by deviceId").recorded.times == (12.0,)


def test_counts_are_rates_and_shares_of_keys(tmp_path):
    workload = with_traffic(WORKLOAD, [written(tmp_path, COUNTS, "counts.csv")])
    assert workload.duration == 180
    assert rates(workload, "record") == [3, 0, 10]
    assert rates(workload, "last") == [0, 0, 1]
    assert rates(workload, "alarm") == [10, 10, 10]
    field = workload.field("deviceId")
    assert field.values == ("d-1", "d-2")
    shares = workload.pattern("record").pick(field).probabilities(2)
    assert shares.tolist() == pytest.approx([720 / 780, 60 / 780])
    assert workload.pattern("last").pick(field).probabilities(2).tolist() == [0, 1]


def test_parquet_without_its_reader_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / "counts.parquet"
    with pytest.raises(DocumentError) as caught:
        with_traffic(WORKLOAD, [path])
    assert str(caught.value) == (
        f"{path}: reading Parquet needs the module pyarrow: pip install pyarrow"
    )


def test_parquet_is_read_as_csv_is(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    names, *lines = (line.split(",") for line in COUNTS.split())
    rows = [dict(zip(names, line, strict=True)) for line in lines]
    path = tmp_path / "counts.parquet"
    from pyarrow import parquet

    parquet.write_table(arrow.Table.from_pylist(rows), path)
    assert rates(with_traffic(WORKLOAD, [path]), "record") == [3, 0, 10]


BROKEN = {
    "another document": ({"a": 1}, "x.json", ": expected metrics of CloudWatch, a report of"),
    "no such file": (None, "none.json", ": cannot be read: No such file or directory"),
    "metrics of others": (
        {"MetricDataResults": [{"Id": "m1", "Timestamps": [], "Values": []}]},
        "x.json",
        ": no series is that of an operation; ids such as requests_PutItem",
    ),
    "metrics without times": (
        {"MetricDataResults": [{"Id": "m1", "Values": []}]},
        "x.json",
        ": expected what the AWS CLI prints of metrics",
    ),
    "other operations": (
        json.loads(json.dumps(METRICS).replace("PutItem", "Scan")),
        "x.json",
        ": the metrics are those of Scan, and no pattern of the workload is one of them",
    ),
    "another key": (
        REPORT | {"KeyLabels": ["pk"]},
        "x.json",
        ": its key is 'pk'; the workload has deviceId, kind",
    ),
    "a report without values": (
        REPORT | {"Contributors": [{"Keys": []}]},
        "x.json",
        ": expected what get-insight-rule-report prints",
    ),
    "an empty trail": (
        {"Records": [event(0, "x", "DescribeTable")]},
        "x.json",
        ": no data event of DynamoDB is in it",
    ),
    "a trail without times": (
        {"Records": [event(0, "x", eventTime="soon")]},
        "x.json",
        ": Records[0].eventTime: expected a time",
    ),
    "a broken line": (TRACE + "{", "x.jsonl", ":2: not JSON"),
    "not compressed": ("x", "x.json.gz", ": cannot be read: not JSON, nor compressed JSON"),
    "no columns": ("a,b\n1,2\n", "x.csv", ": expected the columns minute, pattern and count"),
    "no rows": ("minute,pattern,deviceId,count\n", "x.csv", ": it has no rows"),
    "no such field": (
        COUNTS.replace("deviceId", "pk"),
        "x.csv",
        ": the workload has no field 'pk'; it has deviceId, kind",
    ),
    "a column too many": (
        COUNTS.replace("deviceId,", "deviceId,kind,").replace("d-", "x,d-"),
        "x.csv",
        ": expected the columns minute, pattern and count, and one named like a field, found",
    ),
    "no such pattern": (
        COUNTS.replace("last", "first"),
        "x.csv",
        ":5: pattern: the workload has no pattern 'first'",
    ),
    "no number": (COUNTS.replace("600", "many"), "x.csv", ":4: count: expected a number, found"),
    "no minute": (
        COUNTS.replace("2026-11-02T10:02Z", "noon"),
        "x.csv",
        ":4: minute: expected a time or a number, found 'noon'",
    ),
}


@pytest.mark.parametrize(("document", "name", "complaint"), BROKEN.values(), ids=BROKEN)
def test_a_file_that_does_not_fit_is_one_sentence(tmp_path, document, name, complaint):
    path = tmp_path / name
    if document is not None:
        path = written(tmp_path, document, name)
    with pytest.raises(DocumentError) as caught:
        with_traffic(WORKLOAD, [path])
    assert str(caught.value).startswith(f"{path}{complaint}")
    assert "\n" not in str(caught.value)
