"""Thirty inputs that cannot be used: one clear sentence each, and exit code 2."""

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
    "deep json": ("x.json", "[" * 100_000, "x.json: nested too deeply"),
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
    "a missing include": (
        "serverless.yml",
        "service: s\nprovider: {name: aws}\nresources:\n  - ${file(none.yml)}\n",
        "none.yml: cannot be read: No such file or directory",
    ),
    "a description of nothing": (
        "x.json",
        '{"Table": 5}',
        "x.json: expected Terraform (.tf) or its plan as JSON",
    ),
    "patterns of another kind": (
        "x.json",
        '{"access_pattern_list": [5], "table_list": []}',
        "x.json: access_pattern_list: expected a list of patterns; a member is of another kind",
    ),
    "a picture": ("x.png", "", "x.png: unknown kind of file; expected Terraform (.tf)"),
    "a lab file": ("lab.yaml", "workload: 5\n", "lab.yaml:1: the field 'designs' is missing"),
    "an assembly": (
        "manifest.json",
        '{"version": "48", "artifacts": {}}',
        "manifest.json: expected Terraform (.tf) or its plan as JSON",
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
