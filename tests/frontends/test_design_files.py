"""Design files: the tables that a project's infrastructure code declares."""

import json

import pytest

from emulator import Emulator, EmulatorError
from emulator.frontends.design_files import read_designs

TERRAFORM = """
resource "aws_s3_bucket" "other" {}

resource "aws_dynamodb_table" "matches" {
  name             = "${var.stage}-matches"
  hash_key         = "id"
  range_key        = "created"
  read_capacity    = 5
  write_capacity   = 6
  stream_enabled   = true
  stream_view_type = "NEW_IMAGE"

  attribute {
    name = "id"
    type = "S"
  }
  attribute {
    name = "created"
    type = "N"
  }
  attribute {
    name = "region"
    type = "S"
  }
  ttl {
    attribute_name = "expires"
    enabled        = true
  }
  global_secondary_index {
    name               = "by_region"
    projection_type    = "INCLUDE"
    non_key_attributes = ["score"]
    read_capacity      = 7
    write_capacity     = 8
    key_schema {
      attribute_name = "region"
      key_type       = "HASH"
    }
    key_schema {
      attribute_name = "created"
      key_type       = "RANGE"
    }
  }
  global_secondary_index {
    name            = "old_style"
    hash_key        = ["region", "id"]
    range_key       = ["created"]
    projection_type = "KEYS_ONLY"
    read_capacity   = 1
    write_capacity  = 1
  }
  local_secondary_index {
    name            = "local"
    range_key       = "region"
    projection_type = "ALL"
  }
}

resource "aws_dynamodb_table" "plain" {
  name         = "plain"
  hash_key     = "pk"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "pk"
    type = "B"
  }
}
"""

CLOUDFORMATION = """
Resources:
  Queue:
    Type: AWS::SQS::Queue
  Orders:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: !Sub "${Stage}-orders"
      BillingMode: PROVISIONED
      KeySchema:
        - {AttributeName: pk, KeyType: HASH}
      AttributeDefinitions:
        - {AttributeName: pk, AttributeType: S}
      ProvisionedThroughput: {ReadCapacityUnits: "5", WriteCapacityUnits: 5}
      StreamSpecification: {StreamViewType: NEW_IMAGE}
      TimeToLiveSpecification: {AttributeName: ttl, Enabled: true}
      Tags: [{Key: a, Value: b}]
"""


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    return path


def schema(*names):
    kinds = {"h": "HASH", "r": "RANGE"}
    return [{"AttributeName": name[2:], "KeyType": kinds[name[0]]} for name in names]


def throughput(read, write):
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


def test_terraform_is_read_in_both_notations_of_keys(tmp_path):
    """The lessons' L4: key_schema blocks, and list-valued hash_key and range_key."""
    matches, plain = read_designs(written(tmp_path, "main.tf", TERRAFORM))
    assert matches.ttl_attribute == "expires"
    assert matches.request == {
        "TableName": "matches",
        "KeySchema": schema("h:id", "r:created"),
        "AttributeDefinitions": [
            {"AttributeName": "id", "AttributeType": "S"},
            {"AttributeName": "created", "AttributeType": "N"},
            {"AttributeName": "region", "AttributeType": "S"},
        ],
        "BillingMode": "PROVISIONED",
        "ProvisionedThroughput": throughput(5, 6),
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "by_region",
                "KeySchema": schema("h:region", "r:created"),
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["score"]},
                "ProvisionedThroughput": throughput(7, 8),
            },
            {
                "IndexName": "old_style",
                "KeySchema": schema("h:region", "h:id", "r:created"),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
                "ProvisionedThroughput": throughput(1, 1),
            },
        ],
        "LocalSecondaryIndexes": [
            {
                "IndexName": "local",
                "KeySchema": schema("h:id", "r:region"),
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
    }
    assert plain == (
        {
            "TableName": "plain",
            "KeySchema": schema("h:pk"),
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "B"}],
            "BillingMode": "PAY_PER_REQUEST",
        },
        None,
    )


def test_cloudformation_is_read_with_its_intrinsic_functions(tmp_path):
    (orders,) = read_designs(written(tmp_path, "template.yaml", CLOUDFORMATION))
    assert orders == (
        {
            "TableName": "Orders",
            "KeySchema": schema("h:pk"),
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "BillingMode": "PROVISIONED",
            "ProvisionedThroughput": throughput(5, 5),
            "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        },
        "ttl",
    )


@pytest.mark.parametrize("billing", ["PAY_PER_REQUEST", "PROVISIONED"])
def test_a_description_makes_the_table_it_describes(tmp_path, billing):
    created = {"ProvisionedThroughput": throughput(3, 4)} if billing == "PROVISIONED" else {}
    emu = Emulator()
    request = {
        "TableName": "orders",
        "KeySchema": schema("h:pk", "r:sk"),
        "AttributeDefinitions": [
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "N"},
        ],
        "BillingMode": billing,
        **created,
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "gsi",
                "KeySchema": schema("h:sk"),
                "Projection": {"ProjectionType": "ALL"},
                **created,
            }
        ],
    }
    emu.call("CreateTable", request)
    described = emu.call("DescribeTable", {"TableName": "orders"})
    (design,) = read_designs(written(tmp_path, "described.json", json.dumps(described)))
    assert design == (request, None)


def test_requests_are_read_one_or_several(tmp_path):
    request = {"TableName": "a", "KeySchema": schema("h:pk"), "AttributeDefinitions": []}
    one = written(tmp_path, "one.json", json.dumps(request))
    two = written(tmp_path, "two.json", json.dumps([request, {"TableDescription": request}]))
    assert [design.request for design in read_designs(one)] == [request]
    assert [design.request["TableName"] for design in read_designs(two)] == ["a", "a"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.txt", "", "a design is a .tf, .json, .yaml, .yml or .template file"),
        ("a.json", "{", "not a readable JSON file: Expecting property name*"),
        ("a.json", "3", "no DynamoDB table is declared in it"),
        ("a.yaml", "a: [", "not a readable YAML file: *"),
        ("a.tf", 'resource "aws_dynamodb_table" {', "not a readable Terraform file: *"),
        ("a.tf", 'resource "aws_dynamodb_table" "t" {\n name = "t"\n}', "t has no hash_key"),
        (
            "a.tf",
            'resource "aws_dynamodb_table" "t" {\n hash_key = "a"\n read_capacity = var.n\n}',
            "t.read_capacity is a number, not '${var.n}'",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_reason(tmp_path, name, text, message):
    path = written(tmp_path, name, text)
    with pytest.raises(EmulatorError) as caught:
        read_designs(path)
    told = str(caught.value)
    expected = f"{path}: {message}"
    assert told == expected or (message[-1] == "*" and told.startswith(expected[:-1]))


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(EmulatorError, match=r"none\.tf: No such file or directory"):
        read_designs(tmp_path / "none.tf")


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "hcl2", None)
    with pytest.raises(EmulatorError, match="reading it needs python-hcl2: pip install"):
        read_designs(written(tmp_path, "main.tf", TERRAFORM))
