"""The command ``dynamometer design``: what it reads, prints, writes and refuses."""

import json

import pytest

from emulator.__main__ import main
from emulator.designs import create_table_requests
from emulator.lab.files import load

LAB = """\
title: Events
worlds: 3
workload:
  duration: 10s
  warm_up: 5s
  fields: {deviceId: {count: 50}}
  patterns:
    - {name: record, operation: PutItem, rate: 20}
    - {name: last, operation: Query, rate: 1, by: [deviceId], items: 5MORE}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.cpu_count", lambda: 1)  # a process is not what is tested here
    (tmp_path / "lab.yaml").write_text(LAB.replace("MORE", ""))
    return tmp_path


def test_a_lab_file_without_designs_gives_a_short_list(folder, capsys):
    assert main(["design", "lab.yaml", "--json", "out.json", "--html", "out.html"]) == 0

    printed = capsys.readouterr().out
    assert printed.startswith("1. [fine] {deviceId}\n")
    assert "   - last: one Query on the table\n" in printed
    assert "1 design answer" in printed or "were played" in printed
    [design] = json.loads((folder / "out.json").read_text())["designs"]
    assert design["table"]["partition"] == "{deviceId}"
    assert "one Query on the table" in (folder / "out.html").read_text()


@pytest.mark.parametrize(
    ("form", "name"), [("terraform", "a.tf"), ("cloudformation", "a.yaml"), ("cdk-json", "a.json")]
)
def test_the_best_design_is_written_ready_to_use(folder, capsys, form, name):
    assert main(["design", "lab.yaml", "--out", form]) == 0

    (folder / name).write_text(capsys.readouterr().out)
    [request] = create_table_requests(folder / name)
    assert [own["AttributeName"] for own in request["KeySchema"]] == ["deviceId", "timestamp"]


def test_a_lab_file_is_written_that_the_lab_reads(folder, capsys):
    assert main(["design", "lab.yaml", "--out", "lab"]) == 0

    (folder / "out.yaml").write_text(capsys.readouterr().out)
    assert [own.name for own in load(folder / "out.yaml").workload.patterns] == ["record", "last"]


def test_declared_tables_are_where_the_way_begins(folder, capsys):
    assert main(["design", "lab.yaml", "--out", "terraform"]) == 0
    (folder / "now.tf").write_text(capsys.readouterr().out)

    assert main(["design", "lab.yaml", "--given", "now.tf"]) == 0

    assert "from what exists: nothing to do: it is what exists" in capsys.readouterr().out


def test_an_attribute_that_is_no_field_is_refused(folder, capsys):
    (folder / "now.tf").write_text(
        'resource "aws_dynamodb_table" "t" {\n  name = "t"\n  billing_mode = "PAY_PER_REQUEST"\n'
        '  hash_key = "pk"\n  attribute {\n    name = "pk"\n    type = "S"\n  }\n}\n'
    )

    assert main(["design", "lab.yaml", "--given", "now.tf"]) == 2
    assert "'pk' is no field of the workload, which has deviceId, timestamp" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (", reads: [colour]", "lab.yaml:9: workload.patterns[1].reads"),
        (", by: [colour]", "lab.yaml:9:"),
        ("}\n    - {name: no rate, operation: Query", "the field 'rate' is missing"),
    ],
)
def test_bad_input_is_refused_with_file_and_line(folder, capsys, more, complaint):
    (folder / "lab.yaml").write_text(LAB.replace("MORE", more))

    assert main(["design", "lab.yaml"]) == 2
    assert complaint in capsys.readouterr().err


def test_a_field_without_cardinality_is_asked_for(folder, capsys):
    (folder / "lab.yaml").write_text(LAB.replace("{count: 50}", "{}").replace("MORE", ""))

    assert main(["design", "lab.yaml"]) == 2
    assert "Field 'deviceId' needs exactly one of count, values, unique" in capsys.readouterr().err


def test_a_pattern_without_an_answer_fails_the_command(folder, capsys):
    more = "}\n    - {name: export, operation: Scan, rate: 1"
    (folder / "lab.yaml").write_text(LAB.replace("MORE", more))

    assert main(["design", "lab.yaml"]) == 1
    assert "no design answers export: it reads the whole table" in capsys.readouterr().out
