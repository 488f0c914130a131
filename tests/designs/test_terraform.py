"""Terraform files become CreateTable requests; both forms of index keys are read."""

import json

import pytest

from emulator import Emulator
from emulator.designs import create_table_requests, read_tables
from emulator.service.errors import DocumentError

EVENTS = """
resource "aws_dynamodb_table" "events" {
  name           = "events"
  read_capacity  = 10
  write_capacity = 20
  hash_key       = "deviceId"
  range_key      = "ts"

  attribute {
    name = "deviceId"
    type = "S"
  }
  attribute {
    name = "ts"
    type = "N"
  }
  attribute {
    name = "region"
    type = "S"
  }

  global_secondary_index {
    name               = "byRegion"
    projection_type    = "INCLUDE"
    non_key_attributes = ["value"]
    read_capacity      = 1
    write_capacity     = 2
    %s
  }

  ttl {
    attribute_name = "expires"
    enabled        = true
  }
}
"""
BLOCKS = """key_schema {
      attribute_name = "region"
      key_type       = "HASH"
    }
    key_schema {
      attribute_name = "deviceId"
      key_type       = "HASH"
    }
    key_schema {
      attribute_name = "ts"
      key_type       = "RANGE"
    }"""
LISTS = 'hash_key = ["region", "deviceId"]\n    range_key = ["ts"]'


def key(**roles):
    return [{"AttributeName": name, "KeyType": role} for name, role in roles.items()]


REQUEST = {
    "TableName": "events",
    "KeySchema": key(deviceId="HASH", ts="RANGE"),
    "AttributeDefinitions": [
        {"AttributeName": "deviceId", "AttributeType": "S"},
        {"AttributeName": "ts", "AttributeType": "N"},
        {"AttributeName": "region", "AttributeType": "S"},
    ],
    "BillingMode": "PROVISIONED",
    "ProvisionedThroughput": {"ReadCapacityUnits": 10, "WriteCapacityUnits": 20},
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "byRegion",
            "KeySchema": key(region="HASH", deviceId="HASH", ts="RANGE"),
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["value"]},
            "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 2},
        }
    ],
}


def written(directory, text, name="main.tf"):
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return path


def minimal(extra="", **replaced):
    """Return a table on demand with other lines in it."""
    given = {"name": '"things"', "billing_mode": '"PAY_PER_REQUEST"', "hash_key": '"id"'} | replaced
    lines = "\n".join(f"  {name} = {value}" for name, value in given.items())
    attribute = '  attribute {\n    name = "id"\n    type = "S"\n  }'
    return f'resource "aws_dynamodb_table" "things" {{\n{lines}\n{attribute}\n{extra}\n}}\n'


@pytest.mark.parametrize("keys", [BLOCKS, LISTS], ids=["blocks", "lists"])
def test_both_forms_of_a_key_of_several_attributes_are_read(tmp_path, keys):
    """L4: repeated key_schema blocks, and the lists of early documentation."""
    [table] = read_tables(written(tmp_path, EVENTS % keys))
    assert table.request == REQUEST
    assert (table.resource, table.ttl_attribute) == ("aws_dynamodb_table.events", "expires")
    Emulator().call("CreateTable", table.request)


def test_a_key_of_one_attribute_may_be_a_text(tmp_path):
    [request] = create_table_requests(written(tmp_path, EVENTS % 'hash_key = "region"'))
    assert request["GlobalSecondaryIndexes"][0]["KeySchema"] == key(region="HASH")


def test_only_lists_are_warned_of(tmp_path):
    [blocks] = read_tables(written(tmp_path, EVENTS % BLOCKS))
    [lists] = read_tables(written(tmp_path, EVENTS % LISTS))
    assert blocks.findings == ()
    assert [(one.check, one.severity, one.message) for one in lists.findings] == [
        (
            "key-as-list",
            "warning",
            "byRegion: The key is written as a list; the provider accepts repeated key_schema "
            "blocks only.",
        )
    ]


def test_variables_locals_and_tfvars_of_the_directory_are_filled_in(tmp_path):
    written(tmp_path, 'variable "read" {\n  default = 7\n}\nvariable "env" {\n}\n', "variables.tf")
    written(tmp_path, 'env = "test"\n', "terraform.tfvars")
    text = (EVENTS % BLOCKS).replace('"events"\n', '"${local.prefix}-events"\n')
    text = text.replace("= 10", "= var.read")
    path = written(tmp_path, 'locals {\n  prefix = "app-${var.env}"\n}\n' + text)
    [request] = create_table_requests(path)
    assert request["TableName"] == "app-test-events"
    assert request["ProvisionedThroughput"]["ReadCapacityUnits"] == 7


def test_what_is_decided_elsewhere_is_assumed_and_said(tmp_path):
    text = (EVENTS % BLOCKS).replace("= 10", "= var.read").replace('"events"\n', "var.name\n")
    [table] = read_tables(written(tmp_path, text))
    assert table.request["TableName"] == "events"
    assert table.request["ProvisionedThroughput"]["ReadCapacityUnits"] == 5
    assert [one.message for one in table.findings] == [
        "the table's name is decided elsewhere; it is taken as events.",
        "read_capacity is decided elsewhere; it is taken as 5.",
    ]


def test_options_of_a_table_are_read(tmp_path):
    extra = """
  range_key = "at"
  attribute {
    name = "at"
    type = "N"
  }
  local_secondary_index {
    name            = "byAt"
    range_key       = "at"
    projection_type = "KEYS_ONLY"
  }
  on_demand_throughput {
    max_read_request_units = 100
  }
  stream_enabled   = true
  stream_view_type = "NEW_IMAGE"
  table_class      = "STANDARD_INFREQUENT_ACCESS"
  deletion_protection_enabled = true
"""
    [request] = create_table_requests(written(tmp_path, minimal(extra)))
    assert request == {
        "TableName": "things",
        "KeySchema": key(id="HASH", at="RANGE"),
        "AttributeDefinitions": [
            {"AttributeName": "id", "AttributeType": "S"},
            {"AttributeName": "at", "AttributeType": "N"},
        ],
        "BillingMode": "PAY_PER_REQUEST",
        "OnDemandThroughput": {"MaxReadRequestUnits": 100},
        "LocalSecondaryIndexes": [
            {
                "IndexName": "byAt",
                "KeySchema": key(id="HASH", at="RANGE"),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        "TableClass": "STANDARD_INFREQUENT_ACCESS",
        "DeletionProtectionEnabled": True,
    }
    Emulator().call("CreateTable", request)


def test_a_table_with_a_scaling_target_scales(tmp_path):
    target = (
        'resource "aws_appautoscaling_target" "write" {\n'
        '  resource_id = "table/${aws_dynamodb_table.events.name}"\n}\n'
    )
    [scaled] = read_tables(written(tmp_path, EVENTS % BLOCKS + target))
    [fixed] = read_tables(written(tmp_path, EVENTS % BLOCKS))
    assert (scaled.scaled, fixed.scaled) == (True, False)


def test_json_syntax_is_read_too(tmp_path):
    body = {
        "name": "${var.env}-things",
        "billing_mode": "PAY_PER_REQUEST",
        "hash_key": "id",
        "attribute": {"name": "id", "type": "S"},
    }
    document = {
        "variable": {"env": {"default": "test"}},
        "resource": {"aws_dynamodb_table": {"things": body}},
    }
    [request] = create_table_requests(written(tmp_path, json.dumps(document), "main.tf.json"))
    assert request == {
        "TableName": "test-things",
        "KeySchema": key(id="HASH"),
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
    }


def test_a_directory_is_all_its_files(tmp_path):
    written(tmp_path, minimal(), "a.tf")
    written(tmp_path, EVENTS % BLOCKS, "b.tf")
    assert [one["TableName"] for one in create_table_requests(tmp_path)] == ["things", "events"]


BROKEN = {
    "not terraform": ('resource "x" {\n  a = \n}\n', ":2: not Terraform: "),
    "no table": ('resource "aws_s3_bucket" "b" {\n}\n', ": no DynamoDB table is declared in it"),
    "no key": (
        '\nresource "aws_dynamodb_table" "t" {\n  name = "t"\n}\n',
        ":2: aws_dynamodb_table.t: It cannot be read: expected hash_key or key_schema, found "
        "neither",
    ),
}


@pytest.mark.parametrize(("text", "complaint"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_one_sentence_with_its_place(tmp_path, text, complaint):
    path = written(tmp_path, text)
    with pytest.raises(DocumentError) as caught:
        read_tables(path)
    assert str(caught.value).startswith(f"{path}{complaint}")
    assert "\n" not in str(caught.value)


def test_a_broken_neighbour_does_not_matter(tmp_path):
    written(tmp_path, "}{", "other.tf")
    assert len(create_table_requests(written(tmp_path, minimal()))) == 1
