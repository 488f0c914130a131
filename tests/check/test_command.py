"""dynamometer check: what it prints, writes and answers (ICH-80)."""

import json
import re
import shlex
import subprocess
import sys

import pytest
import yaml

from emulator.__main__ import main
from emulator.designs.catalogue import RULES
from tests.architecture.rules import ROOT

HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())

TERRAFORM = """\
resource "aws_dynamodb_table" "orders" {
  name         = "orders"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "status"
  range_key    = "createdAt"
  attribute {
    name = "status"
    type = "S"
  }
  attribute {
    name = "createdAt"
    type = "S"
  }
}
"""
FINE = TERRAFORM.replace("status", "customerId")
BROKEN = TERRAFORM.replace('    name = "createdAt"', '    name = "other"')


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A working directory with a design in it."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "main.tf", TERRAFORM)
    return tmp_path


def write(place, name, text):
    path = place / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_a_design_file_is_advised_on(place, capsys):
    assert main(["check", "main.tf"]) == 0
    assert capsys.readouterr().out == (
        "warning  aws_dynamodb_table.orders: The partition key status seems to have few values; "
        "each lives in\n"
        "         one partition, which carries 1,000 writes/s. [low-cardinality-key]\n"
        "         Choose a key with many values, and put this one into an index.\n"
        "         main.tf:4\n"
        "1 warning\n"
    )


@pytest.mark.parametrize(
    ("text", "threshold", "code"),
    [
        (TERRAFORM, "problem", 0),
        (TERRAFORM, "error", 0),
        (TERRAFORM, "warning", 1),
        (TERRAFORM, "info", 1),
        (BROKEN, "problem", 1),
        (BROKEN, "error", 1),
        (BROKEN, "never", 0),
        (FINE, "info", 0),
    ],
)
def test_what_fails_is_asked_for(place, text, threshold, code):
    """ICH-80: exit 1 from the severity of --fail-on, which is problem; error is the same."""
    write(place, "main.tf", text)
    assert main(["check", "main.tf", "--fail-on", threshold]) == code
    if threshold == "problem":
        assert main(["check", "main.tf"]) == code


def test_a_refusal_is_a_problem_in_the_words_of_the_service(place, capsys):
    write(place, "main.tf", BROKEN)
    assert main(["check", "main.tf"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("problem  aws_dynamodb_table.orders: The service refuses this table: ")
    assert out.endswith("\n1 problem\n")


def test_nothing_to_object_to_is_said(place, capsys):
    write(place, "main.tf", FINE)
    assert main(["check", "main.tf"]) == 0
    assert capsys.readouterr().out == "no findings\n"


def test_a_report_is_written_where_it_is_wanted(place, capsys):
    assert main(["check", ".", "--format", "json", "--output", "out.json"]) == 0
    assert capsys.readouterr().out == ""
    document = json.loads((place / "out.json").read_text(encoding="utf-8"))
    assert document["counts"] == {"problem": 0, "warning": 1, "info": 0}
    assert [(one["rule"], one["line"]) for one in document["findings"]] == [
        ("low-cardinality-key", 4)
    ]


@pytest.mark.parametrize(
    ("ignored", "left"),
    [
        ("low-cardinality-key", []),
        ("low-cardinality-key@aws_dynamodb_table.orders", []),
        ("low-cardinality-key@aws_dynamodb_table.*", []),
        ("low-cardinality-key@aws_dynamodb_table.other", ["low-cardinality-key"]),
        ("*", []),
        ("low-cardinality", ["low-cardinality-key", "unknown-ignore"]),
    ],
)
def test_a_rule_is_left_out_on_request(place, capsys, ignored, left):
    main(["check", "main.tf", "--format", "json", "--ignore", ignored])
    assert [one["rule"] for one in json.loads(capsys.readouterr().out)["findings"]] == left


def test_a_project_ignores_rules_in_its_settings(place, capsys):
    """ICH-81: of the nearest pyproject.toml."""
    write(
        place,
        "pyproject.toml",
        '[tool.dynamometer.check]\nignore = [{rule = "low-cardinality-key", reason = "small"}]\n',
    )
    (place / "infra").mkdir()
    assert main(["check", "main.tf"]) == 0
    assert capsys.readouterr().out == "no findings\n"


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ("[tool.dynamometer.check]\nignore = 5\n", "tool.dynamometer.check.ignore: expected a "),
        ("[tool.dynamometer.check]\nignore = [5]\n", "tool.dynamometer.check.ignore: expected a "),
        ("[tool\n", "not TOML: "),
    ],
)
def test_broken_settings_are_one_sentence(place, capsys, settings, complaint):
    write(place, "pyproject.toml", settings)
    assert main(["check", "main.tf"]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"dynamometer: {place / 'pyproject.toml'}: {complaint}")
    assert err.count("\n") == 1


def test_every_rule_is_listed(capsys):
    assert main(["check", "--list-rules"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(RULES)
    assert lines[0] == "unreadable                  problem  A table cannot be read"


def test_one_table_that_cannot_be_read_does_not_end_a_folder(place, capsys):
    """ICH-3."""
    write(place, "other.tf", 'resource "aws_dynamodb_table" "x" {\n  name = "x"\n}\n')
    write(place, "worse.tf", "resource {\n")
    assert main(["check", ".", "--format", "json"]) == 1
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [(one["rule"], one["file"], one["line"]) for one in findings] == [
        ("unreadable", "other.tf", 1),
        ("unreadable", "worse.tf", 2),
        ("low-cardinality-key", "main.tf", 4),
    ]


def test_several_paths_are_checked_together(place, capsys):
    write(place, "fine.tf", FINE)
    assert main(["check", "main.tf", "fine.tf", "none.tf", "--format", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["files"] == ["main.tf", "fine.tf"]
    assert [one["rule"] for one in document["findings"]] == ["unreadable", "low-cardinality-key"]


def test_no_path_is_wrong_usage(capsys):
    assert main(["check"]) == 2
    assert capsys.readouterr().err == (
        "dynamometer: name the files or directories to check; see 'dynamometer check --help'\n"
    )


def test_what_is_not_there_is_one_sentence(place, capsys):
    for name in ("none", "none.tf", "none.yaml"):
        assert main(["check", name]) == 2
        assert capsys.readouterr().err == (
            f"dynamometer: {name}: cannot be read: No such file or directory\n"
        )


def test_a_place_that_cannot_be_written_is_one_sentence(place, capsys):
    assert main(["check", "main.tf", "--output", "none/out.json"]) == 2
    assert capsys.readouterr().err == "dynamometer: none/out.json: No such file or directory\n"


def test_a_file_of_no_known_kind_is_one_sentence(place, capsys):
    write(place, "x.json", json.dumps({"a": 1}))
    assert main(["check", "x.json"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("dynamometer: x.json: expected Terraform (.tf) or its plan as JSON, ")
    assert err.count("\n") == 1


LAB = """\
workload:
  duration: 60
  warm_up: 0
  fields: {customerId: {count: 500}, status: {values: [open, paid, sent]}}
  patterns:
    - {name: order, operation: PutItem, rate: 40, size: 300}
designs:
  - {name: by status, partition: "{status}", sort: "{timestamp}#{customerId}", read: 100, write: 10}
  - {name: by customer, partition: "{customerId}", sort: "{timestamp}", read: 100, write: 100}
"""


def test_a_lab_file_is_checked_under_its_workload(place, capsys):
    write(place, "shop.yaml", LAB)
    assert main(["check", "shop.yaml"]) in (0, 1)
    out = capsys.readouterr().out
    assert "by status: table: The partition key '{status}' has 3 values. [low-cardinality" in out
    lines = [line for line in out.splitlines() if "would cost" in line]
    assert [line.split(":")[0] for line in lines] == ["info     by customer"]


def test_checking_needs_neither_numpy_nor_any_reader_of_terraform(place):
    """A folder of Terraform is checked by the bare package."""
    program = (
        "import sys\n"
        "sys.modules.update(dict.fromkeys(['numpy', 'yaml', 'hcl2', 'lark'], None))\n"
        "from emulator.__main__ import main\n"
        "raise SystemExit(main(['check', '.', '--fail-on', 'warning']))\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (1, "")


def test_yaml_without_its_reader_is_one_sentence(place, capsys, monkeypatch):
    write(place, "template.yaml", "Resources: {}\n")
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert main(["check", "template.yaml"]) == 2
    assert capsys.readouterr().err == (
        "dynamometer: template.yaml: reading it needs the module yaml: pip install "
        "'dynamometer[designs]'\n"
    )


def test_a_file_without_tables_beside_others_is_no_fault(place, capsys):
    write(place, "variables.tf", 'variable "x" {}\n')
    assert main(["check", "variables.tf", "main.tf"]) == 0
    assert "unreadable" not in capsys.readouterr().out


def test_the_hook_runs_what_this_repository_offers(place, capsys):
    """ICH-87: its command, on the files that it is given."""
    [hook] = (one for one in HOOKS if one["id"] == "dynamometer-check")
    assert {"id", "name", "entry", "language"} <= hook.keys()
    program, *arguments = shlex.split(hook["entry"])
    assert program == "dynamometer"
    names = [
        "main.tf",
        "plan.tf.json",
        "template.yaml",
        "serverless.yml",
        "dynamodb_data_model.json",
    ]
    assert all(re.search(hook["files"], f"folder/{name}") for name in names)
    assert not re.search(hook["files"], "folder/main.tf.bak")
    assert main([*arguments, "main.tf"]) == 0
    write(place, "main.tf", BROKEN)
    assert main([*arguments, "main.tf"]) == 1


def test_a_hook_may_be_given_files_without_tables(place, capsys):
    """pre-commit names what changed, and that may be a file of outputs or another's template."""
    write(place, "outputs.tf", 'output "x" { value = 1 }\n')
    write(place, "template.yaml", "apiVersion: v1\n")
    assert main(["check", "--allow-none", "outputs.tf", "template.yaml"]) == 0
    assert capsys.readouterr().out == "no findings\n"
    assert main(["check", "outputs.tf", "template.yaml"]) == 2
    write(place, "broken.tf", "resource {")
    assert main(["check", "--allow-none", "outputs.tf", "broken.tf"]) == 2
    assert capsys.readouterr().err.count("\n") == 2
