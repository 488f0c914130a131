"""serverless.yml: variables are resolved, and what is not known is no key (ICH-51)."""

import pytest

from emulator.designs.files import read_design

SERVICE = """\
service: shop
provider:
  name: aws
  {stage}
params: {{default: {{key: x}}, dev: {{key: id}}}}
stages: {{default: {{params: {{newer: id}}}}}}
custom:
  key: id
  byStage: {{dev: id, prod: other}}
  loop: ${{self:custom.loop}}
resources:
  Resources:
    Things:
      Type: AWS::DynamoDB::Table
      Properties:
        BillingMode: PAY_PER_REQUEST
        KeySchema: [{{AttributeName: "{key}", KeyType: HASH}}]
        AttributeDefinitions: [{{AttributeName: "{key}", AttributeType: S}}]
"""


def read(directory, key, stage="stage: dev"):
    path = directory / "serverless.yml"
    path.write_text(SERVICE.format(key=key, stage=stage), encoding="utf-8")
    return read_design(path)


@pytest.mark.parametrize(
    "key",
    [
        "id",
        "${self:custom.key}",
        "${self:custom.byStage.${sls:stage}}",
        "${self:custom.byStage.${opt:stage, 'dev'}}",
        "${env:NO_SUCH_VARIABLE, 'id'}",
        "${param:nothing, self:custom.key}",
        "${param:key}",
        "${param:newer}",
        "${opt:nothing, ${self:custom.key}}",
        "${file(keys.yml):key}",
    ],
)
def test_a_variable_is_what_the_file_says(tmp_path, key):
    (tmp_path / "keys.yml").write_text("key: id\n", encoding="utf-8")
    [table] = read(tmp_path, key).tables
    assert table.request["KeySchema"] == [{"AttributeName": "id", "KeyType": "HASH"}]


@pytest.mark.parametrize(
    "key",
    [
        "${self:custom.nothing}",
        "${opt:key}",
        "${env:NO_SUCH_VARIABLE}",
        "${ssm:/shop/key}",
        "${self:custom.loop}",
        "${file(none.yml):key}",
        "x-${cf:stack.Key}",
    ],
)
def test_what_is_not_known_is_no_key(tmp_path, key):
    reading = read(tmp_path, key)
    assert reading.tables == ()
    assert [finding.rule for finding in reading.findings] == ["unknown-value"]


def test_the_stage_is_dev_unless_the_file_says_otherwise(tmp_path):
    key = "${self:custom.byStage.${sls:stage}}"
    for stage, name in (("runtime: x", "id"), ("stage: prod", "other")):
        [table] = read(tmp_path, key, stage).tables
        assert table.request["KeySchema"][0]["AttributeName"] == name


def test_resources_may_be_a_file_of_their_own(tmp_path):
    text = SERVICE.format(key="id", stage="stage: dev")
    head, _, resources = text.partition("resources:\n  Resources:\n")
    (tmp_path / "tables.yml").write_text(resources, encoding="utf-8")
    (tmp_path / "serverless.yml").write_text(
        f"{head}resources:\n  Resources: ${{file(tables.yml)}}\n", encoding="utf-8"
    )
    [table] = read_design(tmp_path / "serverless.yml").tables
    assert table.file == str(tmp_path / "tables.yml")
    assert table.places["", "KeySchema"].line == 5


def test_a_file_that_is_not_there_does_not_end_the_others(tmp_path):
    text = SERVICE.format(key="id", stage="stage: dev")
    head, _, resources = text.partition("resources:\n  Resources:\n")
    (tmp_path / "tables.yml").write_text(resources, encoding="utf-8")
    (tmp_path / "serverless.yml").write_text(
        f"{head}resources:\n- ${{file(gone.yml)}}\n- Resources: ${{file(tables.yml)}}\n",
        encoding="utf-8",
    )
    reading = read_design(tmp_path / "serverless.yml")
    assert [table.resource for table in reading.tables] == ["Things"]
    [finding] = reading.findings
    assert (finding.rule, finding.subject) == ("unreadable", "resources.0")
