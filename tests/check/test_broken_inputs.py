"""Thirty inputs that cannot be used: one clear sentence each, and exit code 2."""

import json

import pytest

from emulator.__main__ import main

TABLE = (
    'resource "aws_dynamodb_table" "t" {\n  name = "t"\n  billing_mode = "PAY_PER_REQUEST"\n'
    '  hash_key = "id"\n  attribute {\n    name = "id"\n    type = "S"\n  }\n}\n'
)
BROKEN = {
    "no value": ("main.tf", "a = \n", "main.tf:1: not Terraform: expected a value"),
    "open quote": ("main.tf", 'a = "x\n', "main.tf:1: not Terraform: expected a closing quote"),
    "open block": ("main.tf", "x {\n", "main.tf:2: not Terraform: expected '}'"),
    "open list": ("main.tf", "a = [1\n", "main.tf:2: not Terraform: expected ']'"),
    "no bracket": ("main.tf", "a = f(1\n", "main.tf:2: not Terraform: expected ')'"),
    "stray brace": ("main.tf", "}\n", "main.tf:1: not Terraform: expected an argument or a block"),
    "half a condition": ("main.tf", "a = b ? 1\n", "main.tf:2: not Terraform: expected ':'"),
    "half a loop": ("main.tf", "a = [for x : 1]\n", "main.tf:1: not Terraform: expected 'in'"),
    "no table": ("main.tf", "a = 1\n", "main.tf: no DynamoDB table is declared in it"),
    "empty": ("main.tf", "", "main.tf: no DynamoDB table is declared in it"),
    "binary": ("main.tf", b"\xff\xfe\x00", "main.tf: cannot be read: not UTF-8 text"),
    "json of terraform": ("main.tf.json", "{", "main.tf.json:1: not JSON: "),
    "not json": ("x.json", "{\n\n]", "x.json:3: not JSON: "),
    "empty json": ("x.json", "", "x.json:1: not JSON: "),
    "deep json": ("x.json", "[" * 100_000, "x.json:1: nested too deeply"),
    "a number": ("x.json", "1", "x.json: expected Terraform (.tf) or its plan as JSON"),
    "an empty list": ("x.json", "[]", "x.json: no DynamoDB table is declared in it"),
    "a package": ("package.json", '{"name": "x"}', "package.json: expected Terraform (.tf) or its"),
    "not yaml": ("t.yaml", "a: [", "t.yaml:1: not YAML: "),
    "a tab": ("t.yaml", "a:\n\t- b", "t.yaml:2: not YAML: "),
    "empty yaml": ("t.yml", "", "t.yml: expected Terraform (.tf) or its plan as JSON"),
    "no resources": ("t.yaml", "Resources: {}", "t.yaml: no DynamoDB table is declared in it"),
    "other resources": (
        "t.yaml",
        "Resources: {Q: {Type: 'AWS::SQS::Queue'}}",
        "t.yaml: no DynamoDB table is declared in it",
    ),
    "parameters": (
        "t.yaml",
        "Parameters: [1]\nResources: {}",
        "t.yaml: Parameters: expected a map of parameters",
    ),
    "a plan of tomorrow": (
        "plan.json",
        '{"format_version": "7.0", "planned_values": {}}',
        "plan.json: format_version 7.0 is not known; expected 0.x or 1.x",
    ),
    "a plan without modules": (
        "plan.json",
        '{"format_version": "1.0", "planned_values": 5}',
        "plan.json: planned_values: expected a root_module with resources",
    ),
    "a service without tables": (
        "serverless.yml",
        "service: s\nprovider: {name: aws}\n",
        "serverless.yml: no DynamoDB table is declared in it",
    ),
    "an alias in itself": (
        "x.yaml",
        "Resources: &r\n  T: {Type: 'AWS::DynamoDB::Table', Properties: *r}\n",
        "x.yaml:1: an alias refers to what it is in",
    ),
    "names of tables": (
        "x.json",
        '{"TableNames": ["a"]}',
        "x.json: it has names only; give what 'aws dynamodb describe-table' prints",
    ),
    "a description of nothing": (
        "x.json",
        '{"Table": 5}',
        "x.json: expected Terraform (.tf) or its plan as JSON",
    ),
    "patterns of another kind": (
        "x.json",
        '{"access_pattern_list": [5], "table_list": []}',
        "x.json: access_pattern_list: expected a list of patterns; a member has the wrong type",
    ),
    "a picture": ("x.png", "", "x.png: unknown kind of file; expected Terraform (.tf)"),
    "a lab file": ("lab.yaml", "workload: 5\n", "lab.yaml:1: the field 'designs' is missing"),
    "values of terraform": (
        "terraform.tfvars.tf",
        "a = 1\nb = \n",
        "terraform.tfvars.tf:2: not Terraform: expected a value",
    ),
    "an unknown anchor": ("t.yaml", "a: *b\n", "t.yaml:1: not YAML: found undefined alias"),
    "two documents": ("t.yaml", "a: 1\n---\nb: 2\n", "t.yaml:2: not YAML: "),
    "a model of nothing": (
        "m.json",
        '{"DataModel": 5}',
        "m.json: expected Terraform (.tf) or its plan as JSON",
    ),
    "an index of another kind": (
        "x.json",
        '{"TableName": "xxx", "KeySchema": [], "GlobalSecondaryIndexes": [5]}',
        "x.json: expected a table's description or a CreateTable request; a member has the wrong",
    ),
    "a plan of other modules": (
        "plan.json",
        '{"format_version": "1.2", "planned_values": {"root_module": {"resources": "x"}}}',
        "plan.json: planned_values: expected a root_module with resources; a member has the wrong",
    ),
    "an assembly": (
        "manifest.json",
        '{"version": "48", "artifacts": {}}',
        "manifest.json: the manifest of a cloud assembly; give its folder",
    ),
}


def test_there_are_thirty_and_more():
    assert len(BROKEN) >= 30


@pytest.mark.parametrize(("name", "content", "sentence"), BROKEN.values(), ids=BROKEN)
def test_an_input_that_cannot_be_used_is_one_sentence(
    tmp_path, monkeypatch, capsys, name, content, sentence
):
    monkeypatch.chdir(tmp_path)
    text = content if isinstance(content, bytes) else content.encode()
    (tmp_path / name).write_bytes(text)
    assert main(["check", name]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"dynamometer: {sentence}")
    assert err.count("\n") == 1
    assert "object" not in err.replace("object with", "")


def test_a_folder_in_which_nothing_can_be_read_is_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "main.tf").write_text("a = \n", encoding="utf-8")
    assert main(["check", "."]) == 2
    assert capsys.readouterr().err == (
        "dynamometer: main.tf:1: not Terraform: expected a value, found the end of the line\n"
    )


#: Files beside a design that are no tables: one finding each that says what is wrong.
FOUND = {
    "a key of a map": (
        "main.tf",
        TABLE.replace('hash_key = "id"', "hash_key = {a = 1}"),
        "the name of a key attribute is a text, not {'a': 1}",
    ),
    "instances of a number": (
        "main.tf",
        TABLE.replace('name = "t"', "for_each = 5", 1),
        "for_each: expected a map or a set, found 5",
    ),
    "a missing include": (
        "serverless.yml",
        "service: s\nprovider: {name: aws}\nresources:\n  - ${file(none.yml)}\n",
        "none.yml: cannot be read: No such file or directory",
    ),
    "a module that is gone": (
        "main.tf",
        'module "x" {\n  source = "./gone"\n}\n',
        "The module ./gone is not read: No such file or directory",
    ),
    "a key schema of one": (
        "t.yaml",
        "Resources: {T: {Type: 'AWS::DynamoDB::Table', Properties: {KeySchema: {a: b}}}}",
        "KeySchema has the wrong type",
    ),
    "a type of SAM": (
        "t.yaml",
        "Resources: {T: {Type: 'AWS::Serverless::SimpleTable', "
        "Properties: {PrimaryKey: {Name: id, Type: Text}}}}",
        "PrimaryKey.Type is one of String, Number, Binary, not 'Text'",
    ),
    "a rate in words": (
        "m.json",
        '{"tables": [{"table_name": "Ttt", "key_schema": {"partition_key": "a"}}], '
        '"access_patterns": [{"pattern_id": "x", "peak_rps": "many"}]}',
        "peak_rps: expected a number of 0 or more, found 'many'",
    ),
}


@pytest.mark.parametrize(("name", "content", "sentence"), FOUND.values(), ids=FOUND)
def test_a_table_that_is_none_is_a_finding_that_says_why(
    tmp_path, monkeypatch, capsys, name, content, sentence
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(content)
    assert main(["check", name, "--fail-on", "warning"]) == 1
    assert sentence in " ".join(capsys.readouterr().out.split())


LAB = """\
workload:
  duration: 5s
  warm_up: 0
  fields: {a: {count: 10}}
  patterns: [{name: p, operation: PutItem, rate: 1}]
designs:
  - {name: d, partition: "{a}"}
"""


def metrics(*moments, values=(1,)):
    """Return what get-metric-data prints of one series."""
    series = {"Id": "requests_PutItem", "Timestamps": moments, "Values": values}
    return json.dumps({"MetricDataResults": [series]})


NOON = "2026-11-02T12:00:00Z"
RUNS = {
    "counts below zero": (
        ["lab", "l.yaml", "--traffic", "f"],
        metrics(NOON, values=[-7]),
        "requests_PutItem: a count is 0 or more, not -7",
    ),
    "more values": (
        ["lab", "l.yaml", "--traffic", "f"],
        metrics(NOON, values=[1, 2]),
        "requests_PutItem does not have as many Values as Timestamps",
    ),
    "years of metrics": (
        ["lab", "l.yaml", "--traffic", "f"],
        metrics(NOON, "2016-11-02T12:00:00Z", values=[1, 2]),
        "the series span 3,652 days, and a load curve has at most 31",
    ),
    "no number": (["sweep", "l.yaml", "--over", "load=nan"], "", "expected numbers, found 'nan'"),
    "no end": (["sweep", "l.yaml", "--over", "load=inf"], "", "expected numbers, found 'inf'"),
    "entities of another kind": (
        ["lab", "f.json"],
        '{"tables": [{"table_name": "Ttt", "key_schema": {"partition_key": "a"}, '
        '"entities": ["x", "y"]}], "access_patterns": []}',
        "tables: expected entities with entity_name and numbers; a member has the wrong type",
    ),
    "items in words": (
        ["lab", "f.json"],
        '{"tables": [{"table_name": "Ttt", "key_schema": {"partition_key": "a"}, '
        '"entities": [{"estimated_item_count": "lots"}]}], "access_patterns": []}',
        "estimated_item_count: expected a number of 0 or more, found 'lots'",
    ),
}


@pytest.mark.parametrize(("words", "content", "sentence"), RUNS.values(), ids=RUNS)
def test_a_run_that_cannot_begin_is_one_sentence(
    tmp_path, monkeypatch, capsys, words, content, sentence
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "l.yaml").write_text(LAB)
    (tmp_path / "f").write_text(content)
    (tmp_path / "f.json").write_text(content)
    assert main([*words, *(["--no-html"] if words[0] == "lab" else [])]) == 2
    err = capsys.readouterr().err
    assert sentence in err
    assert err.count("\n") == 1


def test_rates_may_be_joined_with_a_terraform_file(tmp_path, monkeypatch, capsys):
    """ICH-32: --tables main.tf, as the complaint about missing keys says."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "main.tf").write_text(TABLE.replace('"t"\n', '"ttt"\n'))
    put = {"pattern": "W", "operation": "PutItem", "table": "ttt", "rps": 1, "item_size_bytes": 99}
    tables = [{"name": "ttt", "item_count": 10}]
    costs = {"access_pattern_list": [put], "table_list": tables}
    (tmp_path / "costs.json").write_text(json.dumps(costs))
    words = ["--no-html", "--quick", "--worlds", "1", "--duration", "2s", "--engine", "aggregate"]
    assert main(["lab", "costs.json", *words]) == 2
    assert "name the tables with --tables, such as main.tf" in capsys.readouterr().err
    assert main(["lab", "costs.json", "--tables", "main.tf", *words]) == 0
