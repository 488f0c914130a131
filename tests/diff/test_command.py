"""``dynamometer diff``: two sides of a change, and one Terraform plan (ICH-86, ICH-41)."""

import json
from pathlib import Path

import pytest

from emulator.__main__ import main
from emulator.diff import comment
from emulator.diff.changes import Changes

BASE = """\
resource "aws_dynamodb_table" "orders" {
  name           = "orders"
  billing_mode   = "PROVISIONED"
  read_capacity  = 10
  write_capacity = 10
  hash_key       = "orderId"
  attribute {
    name = "orderId"
    type = "S"
  }
}
"""
HEAD = BASE.replace("orderId", "status")
SHOP = """\
workload:
  duration: 10s
  warm_up: 0
  fields: {orderId: {unique: random}}
  patterns: [{name: save, operation: PutItem, rate: 40}]
designs:
  - {name: orders, partition: "{orderId}", write: 60}
"""
QUICK = ("--worlds", "1", "--quick")
#: What Terraform's own plan has of one table; the format is ICH-40 and ICH-41.
TABLE = {
    "name": "orders",
    "billing_mode": "PAY_PER_REQUEST",
    "hash_key": "orderId",
    "attribute": [{"name": "orderId", "type": "S"}],
}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    for side in ("base", "head"):
        (tmp_path / side).mkdir()
    return tmp_path


def write(place, base, head, name="main.tf"):
    (place / "base" / name).write_text(base)
    (place / "head" / name).write_text(head)


def diff(*words):
    return main(["diff", *words])


def document(place, *words):
    code = diff("base", "head", "--json", "diff.json", *words)
    return code, json.loads((place / "diff.json").read_text())


def test_a_changed_key_is_a_replaced_table_and_fails(place, capsys):
    write(place, BASE, HEAD)

    code, found = document(place)

    assert code == 1
    [table] = found["tables"]
    assert (table["name"], table["status"]) == ("aws_dynamodb_table.orders", "changed")
    assert {"what": "key", "before": "orderId", "after": "status"} in table["differences"]
    rules = {finding["rule"]: finding["severity"] for finding in found["new_findings"]}
    assert rules["table-replaced"] == "problem"
    assert rules["low-cardinality-key"] == "warning"
    shown = capsys.readouterr()
    assert shown.out.startswith("worse (1 table changed, ")
    assert "key: orderId → status" in shown.out
    assert "dynamometer: aws_dynamodb_table.orders: new problem table-replaced" in shown.err


def test_what_is_the_same_is_nothing(place, capsys):
    write(place, BASE, BASE)
    assert diff("base", "head") == 0
    assert capsys.readouterr().out == "nothing changed\n"


def test_findings_that_were_there_before_do_not_fail(place):
    write(place, HEAD, HEAD.replace("= 10", "= 20"))
    code, found = document(place, "--fail-on", "warning")
    assert (code, found["new_findings"], found["failures"]) == (0, [], [])
    changed = {
        one["what"]: (one["before"], one["after"]) for one in found["tables"][0]["differences"]
    }
    assert changed == {"ReadCapacityUnits": ("10", "20"), "WriteCapacityUnits": ("10", "20")}


def test_a_finding_that_went_is_resolved(place):
    write(place, HEAD, BASE)
    _, found = document(place, "--fail-on", "never")
    assert "low-cardinality-key" in [finding["rule"] for finding in found["resolved_findings"]]


def test_nothing_is_resolved_in_a_table_that_could_not_be_checked(place):
    """The service refuses the table, so its rules were not asked."""
    index = """
  global_secondary_index {
    name            = "by-status"
    hash_key        = "status"
    projection_type = "ALL"
    read_capacity   = 10
    write_capacity  = 10
  }
}
"""
    with_index = HEAD.rstrip().removesuffix("}") + index
    write(place, with_index, with_index.replace('type = "S"', 'type = "X"'))
    _, found = document(place, "--fail-on", "never")
    assert "refused" in [finding["rule"] for finding in found["new_findings"]]
    assert found["resolved_findings"] == []


def test_tables_are_added_and_removed(place):
    (place / "base" / "main.tf").write_text(BASE)
    (place / "head" / "main.tf").write_text(BASE.replace("orders", "events"))
    _, found = document(place)
    assert [(one["name"], one["status"]) for one in found["tables"]] == [
        ("aws_dynamodb_table.orders", "removed"),
        ("aws_dynamodb_table.events", "added"),
    ]


def test_lab_files_that_differ_are_run_and_a_fallen_grade_fails(place, capsys):
    write(place, SHOP, SHOP.replace("write: 60", "write: 1"), "shop.yaml")

    code, found = document(place, *QUICK)

    assert code == 1
    [design] = found["designs"]
    assert (design["file"], design["name"]) == ("shop.yaml", "orders")
    assert (design["before"]["grade"], design["after"]["grade"]) == ("fine", "throttles")
    assert design["differences"] == [{"what": "write", "before": "60", "after": "1"}]
    assert design["before"]["units"]["table"]["write"] == 400
    assert "orders was fine and is throttles" in found["failures"]
    assert "orders: fine → throttles" in capsys.readouterr().out


BROKEN = SHOP.replace("rate: 40", "rate: many")
#: Read without complaint, and refused by a run.
CANNOT_RUN = SHOP.replace("{orderId}", "{unknownField}")


@pytest.mark.parametrize("broken", [BROKEN, CANNOT_RUN], ids=["reading", "running"])
def test_a_broken_lab_file_is_a_finding_and_the_rest_goes_on(place, broken):
    """ICH-3."""
    write(place, SHOP, broken, "shop.lab.yaml")
    write(place, BASE, BASE.replace("10", "20"))
    code, found = document(place, *QUICK)
    assert code == 1
    assert [table["name"] for table in found["tables"]] == ["aws_dynamodb_table.orders"]
    [finding] = found["new_findings"]
    assert (finding["rule"], finding["subject"]) == ("unreadable", "shop.lab.yaml")
    assert str(place) not in finding["message"]


def test_mending_a_broken_lab_file_passes(place):
    write(place, BROKEN, SHOP, "shop.lab.yaml")
    code, found = document(place, *QUICK)
    assert (code, found["failures"]) == (0, [])
    [finding] = found["resolved_findings"]
    assert finding["rule"] == "unreadable"


@pytest.mark.parametrize("broken", [BROKEN, CANNOT_RUN], ids=["reading", "running"])
def test_two_lab_files_of_which_one_is_broken_cannot_be_compared(place, capsys, broken):
    write(place, SHOP, broken, "shop.lab.yaml")
    assert diff("base/shop.lab.yaml", "head/shop.lab.yaml", *QUICK) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_month_may_cost_only_so_much_more(place):
    write(place, SHOP, SHOP.replace("write: 60", "write: 120"), "shop.yaml")
    assert diff("base", "head", *QUICK) == 0
    code, found = document(place, *QUICK, "--max-increase", "10%")
    assert code == 1
    assert found["failures"][0].startswith("orders costs ")
    assert found["failures"][0].endswith(" more a month, over 10.0%")
    assert diff("base", "head", *QUICK, "--max-increase", "500%") == 0


def test_lab_files_that_are_the_same_are_not_run(place, monkeypatch):
    write(place, SHOP, SHOP, "shop.yaml")
    monkeypatch.setattr("emulator.diff.command.run_comparison", None)
    code, found = document(place)
    assert (code, found["designs"], found["unchanged"]) == (0, [], ["shop.yaml"])


def test_saved_results_are_compared_also_under_the_older_name(place, capsys):
    old = Path(__file__).parents[1] / "lab" / "outcome" / "results" / "0.1.0.json"
    for words in (["diff"], ["lab", "diff"]):
        assert main([*words, str(old), str(old)]) == 0
        shown = capsys.readouterr().out
        assert "small: throttles" in shown
        assert "worlds that throttle" in shown


def plan(place, actions, after):
    change = {"actions": actions, "before": TABLE, "after": after, "after_unknown": {}}
    common = {
        "address": "aws_dynamodb_table.orders",
        "mode": "managed",
        "type": "aws_dynamodb_table",
        "name": "orders",
    }
    path = place / "plan.json"
    path.write_text(
        json.dumps(
            {
                "format_version": "1.2",
                "planned_values": {"root_module": {"resources": [{**common, "values": after}]}},
                "resource_changes": [{**common, "change": change}],
            }
        )
    )
    return path


def test_one_plan_is_compared_before_and_after(place, capsys):
    """ICH-41: a replaced table is a problem."""
    after = {**TABLE, "hash_key": "status", "attribute": [{"name": "status", "type": "S"}]}

    assert diff(str(plan(place, ["delete", "create"], after)), "--json", "diff.json") == 1

    found = json.loads((place / "diff.json").read_text())
    assert [one["status"] for one in found["tables"]] == ["changed"]
    rules = [finding["rule"] for finding in found["new_findings"]]
    assert rules.count("table-replaced") == 1
    assert diff(str(plan(place, ["update"], {**TABLE, "table_class": "STANDARD"}))) == 0


def test_the_comment_has_its_marker_first_and_a_table(place, capsys):
    """ICH-86."""
    write(place, BASE, HEAD)
    assert diff("base", "head", "--markdown", "--tag", "infra") == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "<!-- dynamometer:diff:infra -->"
    assert lines[2].startswith("### ❌ DynamoDB designs: worse")
    assert "| `aws_dynamodb_table.orders` changed | key | `orderId` | `status` |" in lines
    assert diff("base", "head", "--format", "markdown", "--output", "c.markdown") == 1
    assert (place / "c.markdown").read_text().startswith("<!-- dynamometer:diff:default -->\n")


def test_a_comment_fits_into_what_github_takes():
    many = Changes(
        tables=(), designs=(), new_findings=(), resolved_findings=(), unchanged=("x" * 99,) * 1000
    )
    text = comment.markdown(many, [], "default")
    assert len(text) <= 65_536
    assert text.startswith("<!-- dynamometer:diff:default -->\n")
    assert text.endswith("the JSON beside it has everything.*\n")


def test_the_step_summary_gets_the_comment(place, monkeypatch):
    """ICH-83."""
    summary = place / "summary.markdown"
    summary.write_text("# before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    write(place, BASE, HEAD)
    diff("base", "head")
    assert summary.read_text().startswith("# before\n<!-- dynamometer:diff:default -->")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "name two paths, BASE and HEAD, or one plan; see 'dynamometer diff --help'"),
        (("base",), "base: one file is compared with itself only if it is a Terraform plan"),
        (("base", "none"), "none: cannot be read: No such file or directory"),
        (("base", "head"), "base and head: no table, lab file or saved result is in them"),
        (("base", "head", "--max-increase", "much"), "a rise is written as 10%, not 'much'"),
        (("base", "head", "--tag", "a b"), "a tag has letters, digits and . _ -, not 'a b'"),
        (("base", "broken.json"), "broken.json:"),
    ],
)
def test_wrong_usage_is_one_sentence(place, capsys, words, complaint):
    (place / "broken.json").write_text("{")
    assert diff(*words) == 2
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1
