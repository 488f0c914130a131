"""Refusals that CloudWatch counted stand beside those of the run (ICH-61)."""

import json

import pytest

from emulator.__main__ import main
from emulator.designs.cloudwatch_queries import queries
from emulator.lab.inputs.cloudwatch import throttles_of
from emulator.lab.inputs.traffic import measured_throttles
from emulator.lab.outcome.result_types import Comparison, MeasuredRefusals
from emulator.service.throttling import ThrottlingLimit

FILE = """\
workload:
  duration: 60s
  warm_up: 0
  fields: {orderId: {unique: random}, status: {values: [open]}}
  patterns:
    - {name: save, operation: PutItem, rate: 5, size: 1000}
    - {name: all, operation: Scan, rate: 1, items: 1}
designs:
  - {name: small, partition: "{status}", sort: "{orderId}", read: 5, write: 1}
  - {name: large, partition: "{orderId}", read: 5, write: 100}
"""
TITLE = "Attempts refused, beside what was measured"
AT = ["2026-11-02T10:00:00+00:00"]


def metrics(**values):
    """Return what get-metric-data prints; a series of no value has no points."""
    return {
        "MetricDataResults": [
            {"Id": name, "Timestamps": AT[: len(points)], "Values": points}
            for name, points in values.items()
        ]
    }


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.yaml").write_text(FILE)
    return tmp_path


def printed(place, capsys, document, *words):
    (place / "metrics.json").write_text(json.dumps(document))
    command = ["lab", "shop.yaml", "--traffic", "metrics.json", "--no-html", "--quick", *words]
    assert main([*command, "--worlds", "1", "--engine", "exact"]) == 0
    _, _, shown = capsys.readouterr().out.partition(f"{TITLE}\n")
    return [line.split() for line in shown.splitlines()]


def test_shares_of_operations_and_limits_stand_in_one_table(place, capsys):
    rows = printed(
        place,
        capsys,
        metrics(
            requests_PutItem=[300.0],
            throttled_PutItem=[100.0],
            throttled_GetItem=[7.0],
            throttled_Scan=[],
            throttles_WriteProvisionedThroughputThrottleEvents=[75.0],
            throttles_WriteKeyRangeThroughputThrottleEvents=[25.0],
        ),
    )
    *name, small, _, large, _ = rows[0]
    assert (" ".join(name), large) == ("PutItem (measured: 25 %)", "0")
    assert float(small) > 0
    assert " ".join(rows[1]) == "Scan (measured: 0 %) 0 % 0 %"
    assert " ".join(rows[2]) == "of these: provisioned capacity is used up (measured: 75 %) 100 % –"
    assert " ".join(rows[3]) == "of these: one partition is full (measured: 25 %) 0 % –"
    assert rows[4] == ["Waiting"]


def test_without_counts_of_refusals_there_is_no_table(place, capsys):
    assert printed(place, capsys, metrics(requests_PutItem=[300.0])) == []


def test_counts_of_other_operations_are_told_apart(place, capsys):
    (place / "metrics.json").write_text(json.dumps(metrics(requests_PutItem=[3.0], m1=[7.0])))
    command = ["lab", "shop.yaml", "--traffic", "metrics.json", "--no-html", "--quick"]
    words = ["--worlds", "1", "--engine", "exact", "--map", "m1=throttled_GetItem"]
    assert main([*command, *words]) == 0
    shown = capsys.readouterr().out
    assert "\nNo pattern of the workload is of an operation whose refusals" in shown
    assert TITLE not in shown


def test_the_result_the_page_the_summary_and_a_difference_have_it(place, monkeypatch):
    document = metrics(
        requests_PutItem=[300.0],
        throttled_PutItem=[100.0],
        throttles_WriteKeyRangeThroughputThrottleEvents=[100.0],
    )
    (place / "metrics.json").write_text(json.dumps(document))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(place / "summary"))
    command = ["lab", "shop.yaml", "--traffic", "metrics.json", "--quick", "--worlds", "1"]
    assert main([*command, "--engine", "exact", "--html", "r.html", "--json", "r.json"]) == 0
    result = Comparison.from_json((place / "r.json").read_text())
    assert result.measured == MeasuredRefusals(
        {"PutItem": 300.0}, {"PutItem": 100.0}, {"KeyRangeThroughputExceeded": 100.0}
    )
    for name in ("r.html", "summary"):
        assert "PutItem (measured: 25 %)" in (place / name).read_text().replace("\u202f", " ")
    (place / "other.json").write_text((place / "r.json").read_text())
    words = ["--json", "d.json", "--output", "comment", "--format", "markdown"]
    assert main(["diff", "r.json", "other.json", *words]) == 0
    assert "| PutItem (measured: 25 %) |" in (place / "comment").read_text()
    small = json.loads((place / "d.json").read_text())["designs"][0]
    assert small["measured"]["refused"] == {"PutItem": 100.0}
    assert small["after"]["refused_share"]["PutItem"] > 0


def test_queries_ask_for_what_is_compared():
    """ICH-60: each id that is printed is understood."""
    ids = {query["Id"]: [1.0] for query in queries("orders")}
    measured = throttles_of(metrics(**ids), {})
    assert set(measured.refused) == set(measured.answered)
    assert measured.by_limit == dict.fromkeys(ThrottlingLimit, 2.0)


def test_files_are_joined_and_other_kinds_are_passed_over(tmp_path):
    paths = [tmp_path / name for name in ("a.json", "b.json", "c.csv", "d.json")]
    paths[0].write_text(json.dumps(metrics(throttled_PutItem=[1.0])))
    paths[1].write_text(json.dumps(metrics(throttled_GetItem=[], requests_GetItem=[])))
    paths[3].write_text('{"KeyLabels": []}')
    measured = measured_throttles(paths)
    assert measured.refused == {"PutItem": 1.0, "GetItem": 0.0}
    assert measured_throttles(paths[3:]) is None
