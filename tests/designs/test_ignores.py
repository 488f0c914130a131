"""Findings that a project lives with: comments, Metadata, and complaints about them (ICH-81)."""

import json

import pytest

from emulator.check.findings_of import check

TABLE = """\
{top}
# an ordinary comment
{above_block}
resource "aws_dynamodb_table" "orders" {{
  name         = "orders"
  billing_mode = "PAY_PER_REQUEST"
  {above}
  # another ordinary comment

  hash_key     = "status" {behind}
  attribute {{
    name = "status" {elsewhere}
    type = "S"
  }}
}}
"""
IGNORE = "# dynamometer: ignore[low-cardinality-key] a dozen orders a day"


def rules(tmp_path, **comments):
    places = dict.fromkeys(("top", "above_block", "above", "behind", "elsewhere"), "") | comments
    (tmp_path / "main.tf").write_text(TABLE.format(**places), encoding="utf-8")
    return [finding.rule for finding in check([tmp_path / "main.tf"]).findings]


@pytest.mark.parametrize("place", ["above_block", "above", "behind"])
@pytest.mark.parametrize("mark", ["#", "//", "/*"])
def test_a_comment_on_the_line_above_it_or_above_the_block_is_enough(tmp_path, place, mark):
    closing = " */" if mark == "/*" else ""
    assert rules(tmp_path, **{place: IGNORE.replace("#", mark) + closing}) == []


def test_a_comment_elsewhere_is_reported_as_unused(tmp_path):
    assert rules(tmp_path, elsewhere=IGNORE) == ["low-cardinality-key", "unused-ignore"]


def test_a_whole_file_is_ignored_at_its_top_only(tmp_path):
    whole = IGNORE.replace("ignore[", "ignore-file[")
    assert rules(tmp_path, top=whole) == []
    assert rules(tmp_path, above=whole) == ["low-cardinality-key", "unused-ignore"]


def test_several_rules_share_a_comment(tmp_path):
    both = "# dynamometer: ignore[low-cardinality-key, spread] why"
    assert rules(tmp_path, above=both) == ["unused-ignore"]


def test_a_rule_that_does_not_exist_is_named(tmp_path):
    slip = "# dynamometer: ignore[low-cardinality] why"
    assert rules(tmp_path, above=slip) == ["low-cardinality-key", "unknown-ignore"]
    [_, slip] = check([tmp_path / "main.tf"]).findings
    assert (slip.line, slip.fix) == (7, "Did you mean low-cardinality-key?")


def test_a_reason_is_asked_for(tmp_path):
    assert rules(tmp_path, above=IGNORE.partition("]")[0] + "]") == ["ignore-without-reason"]


@pytest.mark.parametrize(
    ("ignore", "left"),
    [
        (["low-cardinality-key"], ["ignore-without-reason"]),
        ([{"rule": "low-cardinality-key", "reason": "few orders"}], []),
        ({"low-cardinality-key": "few orders"}, []),
        ({"time-key": "few orders"}, ["low-cardinality-key", "unused-ignore"]),
        (5, ["low-cardinality-key"]),
    ],
)
def test_a_resource_of_cloudformation_says_so_in_its_metadata(tmp_path, ignore, left):
    table = {
        "Type": "AWS::DynamoDB::Table",
        "Metadata": {"dynamometer": {"ignore": ignore}},
        "Properties": {
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "status", "AttributeType": "S"}],
        },
    }
    path = tmp_path / "template.json"
    path.write_text(json.dumps({"Resources": {"Orders": table}}), encoding="utf-8")
    assert [finding.rule for finding in check([path]).findings] == left


def test_comments_of_yaml_are_read_too(tmp_path):
    path = tmp_path / "template.yaml"
    path.write_text(
        "Resources:\n"
        "  # dynamometer: ignore[low-cardinality-key] few orders\n"
        "  Orders:\n"
        "    Type: AWS::DynamoDB::Table\n"
        "    Properties:\n"
        "      BillingMode: PAY_PER_REQUEST\n"
        "      KeySchema: [{AttributeName: status, KeyType: HASH}]\n"
        "      AttributeDefinitions: [{AttributeName: status, AttributeType: S}]\n",
        encoding="utf-8",
    )
    assert check([path]).findings == ()
    path.write_text(path.read_text().replace("  # dyn", "# dyn"), encoding="utf-8")
    assert check([path]).findings == ()
