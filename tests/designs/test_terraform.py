"""Terraform files become CreateTable requests; both forms of index keys are read."""

import json

import pytest

from emulator import Emulator
from emulator.designs import create_table_requests, read_tables
from emulator.designs.files import read_design
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


@pytest.mark.parametrize(
    ("ignored", "is_scaled"),
    [("[read_capacity, write_capacity]", True), ("all", True), ("[tags]", False)],
)
def test_a_table_whose_capacity_terraform_ignores_is_scaled_elsewhere(tmp_path, ignored, is_scaled):
    lifecycle = f"  lifecycle {{\n    ignore_changes = {ignored}\n  }}\n"
    text = EVENTS.replace("  range_key ", f"{lifecycle}  range_key ", 1) % BLOCKS
    [table] = read_tables(written(tmp_path, text))
    assert table.scaled is is_scaled


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


# What Terraform expands (ICH-47)


def findings_and_tables(directory, text, name="main.tf"):
    reading = read_design(written(directory, text, name))
    findings = [(one.check, one.subject, one.line) for one in reading.findings]
    return findings, {table.resource: table.request for table in reading.tables}


def keyed(body, label="t"):
    """Return a table whose lines are given."""
    return (
        f'resource "aws_dynamodb_table" "{label}" {{\n{body}\n  billing_mode = "PAY_PER_REQUEST"\n'
        '  attribute {\n    name = "id"\n    type = "S"\n  }\n}\n'
    )


def test_for_each_makes_a_table_of_every_element(tmp_path):
    text = keyed('  for_each = toset(["b", "a"])\n  name = "t-${each.key}"\n  hash_key = "id"')
    findings, tables = findings_and_tables(tmp_path, text)
    assert findings == []
    assert {address: request["TableName"] for address, request in tables.items()} == {
        'aws_dynamodb_table.t["a"]': "t-a",
        'aws_dynamodb_table.t["b"]': "t-b",
    }


def test_for_each_over_a_variable_takes_its_default(tmp_path):
    """The key was the literal ``${each.value}``."""
    text = 'variable "keys" {\n  default = { orders = "id" }\n}\n'
    text += keyed("  for_each = var.keys\n  name = each.key\n  hash_key = each.value")
    findings, tables = findings_and_tables(tmp_path, text)
    assert findings == []
    assert tables['aws_dynamodb_table.t["orders"]']["KeySchema"] == key(id="HASH")


def test_count_numbers_its_tables(tmp_path):
    text = keyed('  count = 2\n  name = "shard-${count.index}"\n  hash_key = "id"')
    text += keyed('  count = var.off ? 1 : 0\n  name = "none"\n  hash_key = "id"', "none")
    text += 'variable "off" {\n  default = false\n}\n'
    _, tables = findings_and_tables(tmp_path, text)
    assert {address: request["TableName"] for address, request in tables.items()} == {
        "aws_dynamodb_table.t[0]": "shard-0",
        "aws_dynamodb_table.t[1]": "shard-1",
    }


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("  for_each = var.keys\n  hash_key = each.value", 2),
        ("  count = var.number\n  hash_key = 5", 2),
        ('  name = "x"\n  hash_key = var.key', 3),
        ('  hash_key = "id"\n  range_key = "a-${local.sort}"', 3),
        ('  hash_key = "id"\n  attribute {\n    name = var.key\n    type = "S"\n  }', 1),
        (
            '  hash_key = "id"\n  dynamic "attribute" {\n    for_each = var.x\n    content {}\n  }',
            1,
        ),
        (
            '  hash_key = "id"\n  global_secondary_index {\n    name = "g"\n'
            '    projection_type = "ALL"\n    hash_key = each.value\n  }',
            6,
        ),
        (
            '  hash_key = "id"\n  attribute {\n    name = "g"\n    type = "S"\n  }\n'
            '  global_secondary_index {\n    name = "g"\n    hash_key = each.value\n  }',
            9,
        ),
        ('  name = "x"\n  hash_key = join("#", ["a", var.key])', 3),
    ],
    ids=[
        "for_each",
        "count",
        "hash_key",
        "range_key",
        "attribute",
        "dynamic",
        "index",
        "same-name",
        "in-a-list",
    ],
)
def test_a_key_that_is_not_known_is_no_table(tmp_path, body, line):
    findings, tables = findings_and_tables(tmp_path, keyed(body))
    assert tables == {}
    assert findings == [("unknown-value", "aws_dynamodb_table.t", line)]
    with pytest.raises(DocumentError, match="is decided elsewhere"):
        read_tables(tmp_path / "main.tf")


def test_the_others_go_on(tmp_path):
    """ICH-3."""
    text = keyed('  name = "a"', "a") + keyed("  hash_key = var.x", "b")
    text += keyed('  name = "fine"\n  hash_key = "id"', "c")
    findings, tables = findings_and_tables(tmp_path, text)
    assert [rule for rule, _, _ in findings] == ["unreadable", "unknown-value"]
    assert list(tables) == ["aws_dynamodb_table.c"]


def test_dynamic_blocks_are_expanded(tmp_path):
    extra = """
  dynamic "global_secondary_index" {
    for_each = { byKind = "kind" }
    content {
      name            = global_secondary_index.key
      hash_key        = global_secondary_index.value
      projection_type = "KEYS_ONLY"
    }
  }
  attribute {
    name = "kind"
    type = "S"
  }
"""
    [request] = create_table_requests(written(tmp_path, minimal(extra)))
    [index] = request["GlobalSecondaryIndexes"]
    assert (index["IndexName"], index["KeySchema"]) == ("byKind", key(kind="HASH"))


def test_both_spellings_of_an_index_key_may_stand_together(tmp_path):
    """ICH-43: key_schema wins, and partition attributes come first."""
    keys = (
        'hash_key = "deviceId"\n    key_schema {\n      attribute_name = "ts"\n'
        '      key_type = "RANGE"\n    }\n    key_schema {\n      attribute_name = "region"\n'
        '      key_type = "HASH"\n    }'
    )
    [request] = create_table_requests(written(tmp_path, EVENTS % keys))
    schema = request["GlobalSecondaryIndexes"][0]["KeySchema"]
    assert schema == key(region="HASH", ts="RANGE")


def test_an_index_may_be_a_resource_of_its_own(tmp_path):
    """ICH-44."""
    text = minimal() + (
        'resource "aws_dynamodb_global_secondary_index" "g" {\n'
        "  table_name = aws_dynamodb_table.things.name\n"
        '  index_name = "byKind"\n'
        '  key_schema {\n    attribute_name = "kind"\n    attribute_type = "S"\n'
        '    key_type = "HASH"\n  }\n'
        '  projection {\n    projection_type = "KEYS_ONLY"\n  }\n}\n'
    )
    [request] = create_table_requests(written(tmp_path, text))
    assert request["GlobalSecondaryIndexes"] == [
        {
            "IndexName": "byKind",
            "KeySchema": key(kind="HASH"),
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ]
    assert {"AttributeName": "kind", "AttributeType": "S"} in request["AttributeDefinitions"]
    Emulator().call("CreateTable", request)


INDEX = """resource "aws_dynamodb_global_secondary_index" "g" {
  %s
  table_name = aws_dynamodb_table.t[each.key].name
  index_name = "by-${each.key}"
  key_schema {
    attribute_name = %s
    attribute_type = "S"
    key_type       = "HASH"
  }
  projection {
    projection_type = "ALL"
  }
}
"""


def test_an_index_of_each_table_goes_to_its_own(tmp_path):
    text = keyed('  for_each = toset(["a", "b"])\n  name = "tab-${each.key}"\n  hash_key = "id"')
    text += INDEX % ('for_each = toset(["a", "b"])', "each.key")
    indexes = {
        request["TableName"]: [index["IndexName"] for index in request["GlobalSecondaryIndexes"]]
        for request in create_table_requests(written(tmp_path, text))
    }
    assert indexes == {"tab-a": ["by-a"], "tab-b": ["by-b"]}


def test_an_index_that_is_not_known_leaves_its_table(tmp_path):
    text = keyed('  for_each = toset(["a"])\n  name = "tab-${each.key}"\n  hash_key = "id"')
    text += INDEX % ('for_each = toset(["a"])', "var.elsewhere")
    [table] = read_tables(written(tmp_path, text))
    assert "GlobalSecondaryIndexes" not in table.request
    [finding] = table.findings
    assert (finding.rule, finding.subject) == (
        "unknown-value",
        'aws_dynamodb_global_secondary_index.g["a"]',
    )
    assert finding.message.endswith("(var.elsewhere), so there is no index to check.")


def test_a_count_that_is_no_number_is_told(tmp_path):
    findings, tables = findings_and_tables(tmp_path, keyed('  count = "x"\n  hash_key = "id"'))
    assert (findings, tables) == ([("unreadable", "aws_dynamodb_table.t", 2)], {})


def test_a_name_that_the_service_refuses_stays_the_name(tmp_path):
    [table] = read_tables(written(tmp_path, keyed('  name = "t1"\n  hash_key = "id"')))
    assert (table.request["TableName"], table.findings) == ("t1", ())


def test_tables_may_be_a_file_each(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "users.json").write_text('{"key": "userId"}', encoding="utf-8")
    (tmp_path / "tables" / "notes.txt").write_text("", encoding="utf-8")
    text = keyed(
        '  for_each = fileset("${path.module}/tables", "*.json")\n'
        '  name = trimsuffix(each.key, ".json")\n'
        '  hash_key = jsondecode(file("${path.module}/tables/${each.key}")).key'
    )
    [request] = create_table_requests(written(tmp_path, text))
    assert (request["TableName"], request["KeySchema"]) == ("users", key(userId="HASH"))


def test_files_outside_of_the_project_are_not_listed(tmp_path):
    for pattern in ("../*.json", "/*.json", "{a,b}.json"):
        text = keyed(f'  for_each = fileset("${{path.module}}", "{pattern}")\n  hash_key = "id"')
        findings, tables = findings_and_tables(tmp_path, text)
        assert (findings, tables) == ([("unknown-value", "aws_dynamodb_table.t", 2)], {})


def test_a_target_without_a_policy_scales_nothing(tmp_path):
    """ICH-45."""
    target = (
        'resource "aws_appautoscaling_target" "write" {\n'
        '  resource_id = "table/${aws_dynamodb_table.events.name}"\n}\n'
    )
    policy = (
        'resource "aws_appautoscaling_policy" "write" {\n'
        "  resource_id = aws_appautoscaling_target.write.resource_id\n}\n"
    )
    [alone] = read_tables(written(tmp_path, EVENTS % BLOCKS + target))
    assert [one.check for one in alone.findings] == ["scaling-without-policy"]
    [both] = read_tables(written(tmp_path, EVENTS % BLOCKS + target + policy))
    assert both.findings == ()


MODULE = """\
module "orders" {
  source   = "%s"
  name     = "orders"
  hash_key = "id"
  attributes = [{ name = "id", type = "S" }]
  %s
}
"""
PUBLIC = [
    "terraform-aws-modules/dynamodb-table/aws",
    "registry.example.com/terraform-aws-modules/dynamodb-table/aws",
    "git::https://github.com/terraform-aws-modules/terraform-aws-dynamodb-table.git?ref=v5",
]


@pytest.mark.parametrize("source", PUBLIC)
def test_the_public_module_is_known(tmp_path, source):
    """ICH-46: on demand unless it says otherwise."""
    text = MODULE % (source, 'ttl_enabled = true\n  ttl_attribute_name = "expires"')
    [table] = read_tables(written(tmp_path, text))
    assert table.request == {
        "TableName": "orders",
        "KeySchema": key(id="HASH"),
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    assert (table.resource, table.ttl_attribute, table.scaled) == (
        "module.orders",
        "expires",
        False,
    )


def test_the_public_module_may_scale_or_make_nothing(tmp_path):
    scaling = 'billing_mode = "PROVISIONED"\n  read_capacity = 5\n  write_capacity = 5'
    text = MODULE % (PUBLIC[0], scaling + "\n  autoscaling_enabled = true")
    [table] = read_tables(written(tmp_path, text))
    assert table.scaled
    findings, tables = findings_and_tables(tmp_path, MODULE % (PUBLIC[0], "create_table = false"))
    assert (findings, tables) == ([], {})


def test_modules_of_others_are_pointed_at_if_they_seem_to_have_tables(tmp_path):
    text = MODULE % ("app.example.com/acme/dynamodb/aws", "")
    text += 'module "network" {\n  source = "terraform-aws-modules/vpc/aws"\n}\n'
    findings, tables = findings_and_tables(tmp_path, text)
    assert (findings, tables) == ([("unread-module", "module.orders", 1)], {})


def test_a_module_without_its_arguments_is_not_guessed(tmp_path):
    (tmp_path / "modules").mkdir()
    written(tmp_path / "modules", 'variable "key" {}\n' + keyed("  hash_key = var.key"))
    text = 'module "a" {\n  source = "./modules"\n  key = "id"\n}\n'
    text += 'module "b" {\n  source = "./modules"\n  key = var.nothing\n}\n'
    findings, tables = findings_and_tables(tmp_path, text)
    assert list(tables) == ["module.a.aws_dynamodb_table.t"]
    assert findings == [("unknown-value", "module.b.aws_dynamodb_table.t", 3)]


def test_a_module_that_calls_itself_ends(tmp_path):
    text = keyed('  hash_key = "id"\n  name = "x"') + 'module "a" {\n  source = "./"\n}\n'
    _, tables = findings_and_tables(tmp_path, text)
    assert len(tables) == 6


def test_a_mark_of_byte_order_and_lines_of_windows_are_no_matter(tmp_path):
    path = tmp_path / "main.tf"
    path.write_bytes(b"\xef\xbb\xbf" + minimal().replace("\n", "\r\n").encode())
    assert create_table_requests(path) == create_table_requests(written(tmp_path, minimal()))


def test_a_key_whose_default_is_null_is_left_to_the_caller(tmp_path):
    """The root of a module that others call has variables without a value."""
    (tmp_path / "main.tf").write_text(
        'variable "key" { default = null }\n'
        'resource "aws_dynamodb_table" "this" {\n  name = "things"\n  hash_key = var.key\n}\n'
    )
    [finding] = read_design(tmp_path).findings
    assert (finding.rule, finding.line) == ("unknown-value", 4)
    assert finding.message.startswith("hash_key is decided elsewhere (it is null here)")


def test_a_target_is_about_the_table_that_it_refers_to(tmp_path):
    """Tables of one name, in two regions, are told apart by the reference."""
    table = """
resource "aws_dynamodb_table" "{name}" {{
  name           = "orders"
  hash_key       = "id"
  read_capacity  = 5
  write_capacity = 5
  attribute {{
    name = "id"
    type = "S"
  }}
}}
"""
    target = """
resource "aws_appautoscaling_target" "west" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${aws_dynamodb_table.west.name}"
  scalable_dimension = "dynamodb:table:ReadCapacityUnits"
}
"""
    text = table.format(name="east") + table.format(name="west") + target
    (tmp_path / "main.tf").write_text(text)
    scaled = {found.resource: found.scaled for found in read_design(tmp_path).tables}
    assert scaled == {"aws_dynamodb_table.east": False, "aws_dynamodb_table.west": True}


FROM_FILES = """
locals {
  tables = { for t in yamldecode(file("${path.module}/tables.yaml")) : t.name => t }
  more   = jsondecode(file("more.json"))
  else   = yamldecode(file("%s"))
}
resource "aws_dynamodb_table" "each" {
  for_each     = merge(local.tables, local.more)
  name         = each.key
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = each.value.key
  attribute {
    name = each.value.key
    type = "S"
  }
}
resource "aws_dynamodb_table" "outside" {
  for_each = local.else
  name     = each.key
  hash_key = each.value
}
"""


@pytest.mark.parametrize("nested", [False, True], ids=["root", "module"])
def test_tables_may_be_listed_in_files_of_the_project(tmp_path, nested):
    """A file outside of the project is not read, whatever it is."""
    (tmp_path / "secret.yaml").write_text("a: secret")
    root = tmp_path / "infra"
    folder = root / "modules" / "tables" if nested else root
    folder.mkdir(parents=True)
    (folder / "main.tf").write_text(FROM_FILES % (tmp_path / "secret.yaml"))
    (folder / "tables.yaml").write_text("[{name: users, key: userId}]")
    (root / "more.json").write_text('{"jobs": {"key": "jobId"}}')
    if nested:
        (root / "main.tf").write_text('module "tables" {\n  source = "./modules/tables"\n}\n')
    reading = read_design(root)
    keys = {found.request["TableName"]: found.request["KeySchema"] for found in reading.tables}
    assert {name: entries[0]["AttributeName"] for name, entries in keys.items()} == {
        "users": "userId",
        "jobs": "jobId",
    }
    assert [finding.rule for finding in reading.findings] == ["unknown-value"]
    assert "secret" not in str(reading.findings)
