"""CloudFormation and SAM templates become CreateTable requests."""

import json

import pytest

from emulator import Emulator
from emulator.designs import create_table_requests, read_tables
from emulator.designs.files import read_design
from emulator.service.errors import DocumentError

TEMPLATE = """
AWSTemplateFormatVersion: "2010-09-09"
Parameters:
  Write:
    Type: Number
    Default: 20
  Stage:
    Type: String
Conditions:
  IsProd: !Equals [!Ref Stage, prod]
Resources:
  Topic:
    Type: AWS::SNS::Topic
  Events:
    Type: AWS::DynamoDB::Table
    DeletionPolicy: Retain
    Properties:
      TableName: !Sub "${AWS::StackName}-events"
      BillingMode: PROVISIONED
      KeySchema:
        - {AttributeName: deviceId, KeyType: HASH}
        - {AttributeName: ts, KeyType: RANGE}
      AttributeDefinitions:
        - {AttributeName: deviceId, AttributeType: S}
        - {AttributeName: ts, AttributeType: N}
        - {AttributeName: region, AttributeType: S}
      ProvisionedThroughput:
        ReadCapacityUnits: !If [IsProd, 100, 10]
        WriteCapacityUnits: !Ref Write
      GlobalSecondaryIndexes:
        - IndexName: byRegion
          KeySchema:
            - {AttributeName: region, KeyType: HASH}
            - {AttributeName: deviceId, KeyType: HASH}
          Projection: {ProjectionType: KEYS_ONLY}
          ProvisionedThroughput:
            ReadCapacityUnits: 1
            WriteCapacityUnits: !GetAtt Other.Units
          ContributorInsightsSpecification: {Enabled: true}
      TimeToLiveSpecification: {AttributeName: expires, Enabled: true}
      StreamSpecification: {StreamViewType: NEW_IMAGE}
      SSESpecification: !If [IsProd, {SSEEnabled: true}, !Ref AWS::NoValue]
      Tags:
        - {Key: a, Value: !Ref Stage}
  Target:
    Type: AWS::ApplicationAutoScaling::ScalableTarget
    Properties:
      ResourceId: !Join ["/", [table, !Ref Events]]
"""
REQUEST = {
    "TableName": "Events",
    "KeySchema": [
        {"AttributeName": "deviceId", "KeyType": "HASH"},
        {"AttributeName": "ts", "KeyType": "RANGE"},
    ],
    "AttributeDefinitions": [
        {"AttributeName": "deviceId", "AttributeType": "S"},
        {"AttributeName": "ts", "AttributeType": "N"},
        {"AttributeName": "region", "AttributeType": "S"},
    ],
    "BillingMode": "PROVISIONED",
    "ProvisionedThroughput": {"ReadCapacityUnits": 100, "WriteCapacityUnits": 20},
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "byRegion",
            "KeySchema": [
                {"AttributeName": "region", "KeyType": "HASH"},
                {"AttributeName": "deviceId", "KeyType": "HASH"},
            ],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
            "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 5},
        }
    ],
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
}


def written(directory, text, name="template.yaml"):
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return path


def stack(**resources):
    return json.dumps({"Resources": resources})


def test_a_template_with_intrinsic_functions_is_read(tmp_path):
    [table] = read_tables(written(tmp_path, TEMPLATE))
    assert table.request == REQUEST
    assert (table.resource, table.ttl_attribute, table.scaled) == ("Events", "expires", True)
    assert [one.message for one in table.findings] == [
        "the table's name is decided elsewhere; it is taken as Events.",
        "byRegion: WriteCapacityUnits is decided elsewhere; it is taken as 5.",
        "the condition IsProd is decided elsewhere; it is taken as true.",
    ]
    assert {one.check for one in table.findings} == {"assumed-value"}
    Emulator().call("CreateTable", table.request)


@pytest.mark.parametrize("name", ["template.json", "stack.template"])
def test_long_forms_in_json_mean_the_same(tmp_path, name):
    properties = {
        "TableName": {"Fn::Sub": "things"},
        "BillingMode": {"Ref": "Mode"},
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "OnDemandThroughput": {"Ref": "AWS::NoValue"},
    }
    document = {
        "Parameters": {"Mode": {"Type": "String", "Default": "PAY_PER_REQUEST"}},
        "Resources": {"Things": {"Type": "AWS::DynamoDB::Table", "Properties": properties}},
    }
    assert create_table_requests(written(tmp_path, json.dumps(document), name)) == [
        {
            "TableName": "things",
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
            "BillingMode": "PAY_PER_REQUEST",
        }
    ]


def test_an_unknown_billing_mode_follows_from_what_is_given(tmp_path):
    properties = {
        "BillingMode": {"Ref": "Mode"},
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    }
    text = stack(Things={"Type": "AWS::DynamoDB::Table", "Properties": properties})
    [table] = read_tables(written(tmp_path, text, "t.json"))
    assert table.request["BillingMode"] == "PAY_PER_REQUEST"
    assert [one.message for one in table.findings] == [
        "BillingMode is decided elsewhere; it is taken as PAY_PER_REQUEST."
    ]


def test_a_table_without_the_capacity_it_needs_keeps_its_fault(tmp_path):
    properties = {
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    }
    text = stack(Things={"Type": "AWS::DynamoDB::Table", "Properties": properties})
    [request] = create_table_requests(written(tmp_path, text, "t.json"))
    assert "ProvisionedThroughput" not in request
    assert request["BillingMode"] == "PROVISIONED"


def test_a_global_table_is_its_first_replica(tmp_path):
    scaling = {"MinCapacity": 4, "MaxCapacity": 40}
    properties = {
        "BillingMode": "PROVISIONED",
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "WriteProvisionedThroughputSettings": {"WriteCapacityAutoScalingSettings": scaling},
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "again",
                "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
                "WriteProvisionedThroughputSettings": {"WriteCapacityAutoScalingSettings": scaling},
            }
        ],
        "Replicas": [
            {
                "Region": "eu-west-1",
                "TableClass": "STANDARD",
                "ReadProvisionedThroughputSettings": {"ReadCapacityUnits": 3},
                "GlobalSecondaryIndexes": [
                    {
                        "IndexName": "again",
                        "ReadProvisionedThroughputSettings": {
                            "ReadCapacityAutoScalingSettings": {"MinCapacity": 2}
                        },
                    }
                ],
            }
        ],
    }
    text = stack(Things={"Type": "AWS::DynamoDB::GlobalTable", "Properties": properties})
    [table] = read_tables(written(tmp_path, text, "t.json"))
    assert table.scaled
    assert table.request["ProvisionedThroughput"] == {
        "ReadCapacityUnits": 3,
        "WriteCapacityUnits": 4,
    }
    [index] = table.request["GlobalSecondaryIndexes"]
    assert index["ProvisionedThroughput"] == {"ReadCapacityUnits": 2, "WriteCapacityUnits": 4}
    Emulator().call("CreateTable", table.request)


def test_a_simple_table_of_sam_has_one_key(tmp_path):
    text = stack(
        Plain={"Type": "AWS::Serverless::SimpleTable"},
        Given={
            "Type": "AWS::Serverless::SimpleTable",
            "Properties": {
                "PrimaryKey": {"Name": "n", "Type": "Number"},
                "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 2},
            },
        },
    )
    plain, given = create_table_requests(written(tmp_path, text, "sam.json"))
    assert plain == {
        "TableName": "Plain",
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    assert given["AttributeDefinitions"] == [{"AttributeName": "n", "AttributeType": "N"}]
    assert given["ProvisionedThroughput"] == {"ReadCapacityUnits": 1, "WriteCapacityUnits": 2}


BROKEN = {
    "not yaml": ("a: [", "t.yaml", ":1: not YAML: "),
    "not json": ("{\n\n]", "t.json", ":3: not JSON: "),
    "no tables": ("Resources: {}", "t.yaml", ": no DynamoDB table is declared in it"),
    "no key": (
        "Resources: {T: {Type: 'AWS::DynamoDB::Table'}}",
        "t.yaml",
        ":1: T: It cannot be read: expected the properties of AWS::DynamoDB::Table: 'KeySchema' "
        "is missing",
    ),
    "wrong kind": (
        "Resources: {T: {Type: 'AWS::DynamoDB::Table', Properties: [1]}}",
        "t.yaml",
        ":1: T: It cannot be read: expected the properties of AWS::DynamoDB::Table; a member has "
        "the wrong type",
    ),
    "something else": ("a: 1", "t.yaml", ": expected Terraform (.tf) or its plan"),
    "a number": ("1", "t.json", ": expected Terraform (.tf) or its plan"),
    "unknown suffix": ("x", "t.txt", ": unknown kind of file; expected Terraform (.tf)"),
}


@pytest.mark.parametrize(("text", "name", "complaint"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_one_sentence_with_its_place(tmp_path, text, name, complaint):
    path = written(tmp_path, text, name)
    with pytest.raises(DocumentError) as caught:
        read_tables(path)
    assert str(caught.value).startswith(f"{path}{complaint}")
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_one_sentence(tmp_path):
    path = tmp_path / "none.yaml"
    with pytest.raises(DocumentError) as caught:
        read_tables(path)
    assert str(caught.value) == f"{path}: cannot be read: No such file or directory"


def test_parameters_that_are_no_map_are_pointed_at(tmp_path):
    """Found by fuzzing: an error of Python's."""
    path = tmp_path / "template.json"
    path.write_text(json.dumps({"Resources": {}, "Parameters": "x"}))
    with pytest.raises(DocumentError, match="Parameters: expected a map of parameters"):
        read_tables(path)


# What cannot be worked out is no key


def key_of(expression):
    """Return a template whose key is an expression."""
    return {
        "Parameters": {
            "Stage": {"Type": "String"},
            "Kind": {"Type": "String", "Default": "a"},
            "Names": {"Type": "CommaDelimitedList", "Default": "x, id"},
            "Path": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/keys/id"},
        },
        "Mappings": {"Keys": {"a": {"name": "id"}}},
        "Conditions": {
            "IsA": {"Fn::Equals": [{"Ref": "Kind"}, "a"]},
            "IsNotA": {"Fn::Not": [{"Condition": "IsA"}]},
            "IsBoth": {"Fn::And": [{"Condition": "IsA"}, {"Condition": "IsNotA"}]},
            "IsX": {"Fn::Equals": [{"Ref": "Stage"}, "x"]},
            "IsEither": {"Fn::Or": [{"Fn::Equals": [{"Ref": "Stage"}, "x"]}, {"Condition": "IsA"}]},
        },
        "Resources": {
            "Things": {
                "Type": "AWS::DynamoDB::Table",
                "Properties": {
                    "BillingMode": "PAY_PER_REQUEST",
                    "KeySchema": [{"AttributeName": expression, "KeyType": "HASH"}],
                    "AttributeDefinitions": [{"AttributeName": expression, "AttributeType": "S"}],
                },
            }
        },
    }


@pytest.mark.parametrize(
    "expression",
    [
        {"Fn::FindInMap": ["Keys", {"Ref": "Kind"}, "name"]},
        {"Fn::Join": ["", ["i", "d"]]},
        {"Fn::Select": [1, ["x", "id"]]},
        {"Fn::Sub": ["${First}d", {"First": "i"}]},
        {"Fn::If": ["IsA", "id", {"Ref": "Stage"}]},
        {"Fn::If": ["IsNotA", {"Ref": "Stage"}, "id"]},
        {"Fn::If": ["IsBoth", {"Ref": "Stage"}, "id"]},
        {"Fn::If": ["IsEither", "id", {"Ref": "Stage"}]},
        {"Fn::Select": [1, {"Fn::Split": ["#", "x#id"]}]},
        {"Fn::Select": [1, {"Ref": "Names"}]},
    ],
    ids=lambda expression: next(iter(expression)),
)
def test_a_function_that_the_template_decides_is_worked_out(tmp_path, expression):
    [table] = read_tables(written(tmp_path, json.dumps(key_of(expression)), "t.json"))
    assert table.request["KeySchema"] == [{"AttributeName": "id", "KeyType": "HASH"}]
    assert table.findings == ()


@pytest.mark.parametrize(
    "expression",
    [
        {"Ref": "Stage"},
        {"Fn::Sub": "${Stage}-id"},
        {"Fn::GetAtt": ["Other", "Key"]},
        {"Fn::ImportValue": "key"},
        {"Fn::Join": ["", ["i", {"Ref": "Stage"}]]},
        {"Fn::FindInMap": ["Keys", "none", "name"]},
        {"Fn::Select": [{"Ref": "Stage"}, ["a"]]},
        {"Fn::If": ["IsA", {"Ref": "Stage"}, "id"]},
        {"Fn::If": ["IsX", "x", "id"]},
        {"Ref": "Path"},
        {"Fn::Sub": "{{resolve:ssm:/keys/id}}"},
        {"Fn::Select": [0, {"Fn::Split": ["#", {"Ref": "Stage"}]}]},
    ],
    ids=lambda expression: next(iter(expression)),
)
def test_a_key_that_is_decided_at_deployment_is_no_table(tmp_path, expression):
    path = written(tmp_path, json.dumps(key_of(expression), indent=1), "t.json")
    reading = read_design(path)
    assert reading.tables == ()
    [finding] = reading.findings
    assert (finding.rule, finding.subject) == ("unknown-value", "Things")
    assert finding.line == path.read_text().split('"Things"')[0].count("\n") + 1


def test_a_loop_over_what_is_not_known_is_told(tmp_path):
    template = key_of("id")
    table = template["Resources"].pop("Things")
    loops = {"Fn::ForEach::Tables": table, "Fn::ForEach::Topics": {"Type": "AWS::SNS::Topic"}}
    for name, body in loops.items():
        template["Resources"][name] = ["Name", {"Ref": "Stage"}, {"Things${Name}": body}]
    reading = read_design(written(tmp_path, json.dumps(template), "t.json"))
    assert reading.tables == ()
    assert [(finding.rule, finding.subject) for finding in reading.findings] == [
        ("unknown-value", "Fn::ForEach::Tables")
    ]


def test_loops_within_loops_end(tmp_path):
    names = [str(number) for number in range(100)]
    body = {"T${A}${B}${C}": key_of("id")["Resources"]["Things"]}
    for variable in "CBA":
        body = {f"Fn::ForEach::{variable}": [variable, names, body]}
    path = written(tmp_path, json.dumps({"Resources": body}), "t.json")
    with pytest.raises(DocumentError, match=r"Fn::ForEach::C: the loops make more than 5,000"):
        read_design(path)


def test_a_loop_of_the_template_makes_a_table_of_each(tmp_path):
    template = key_of("id")
    resource = template["Resources"].pop("Things")
    resource["Properties"]["TableName"] = {"Fn::Sub": "t-${Name}"}
    body = {"Things${Name}": resource}
    template["Resources"]["Fn::ForEach::Tables"] = ["Name", ["One", "Two"], body]
    tables = read_tables(written(tmp_path, json.dumps(template), "t.json"))
    assert [(one.resource, one.request["TableName"]) for one in tables] == [
        ("ThingsOne", "t-One"),
        ("ThingsTwo", "t-Two"),
    ]


REPLICA = """
Resources:
  Replica:
    Type: AWS::DynamoDB::GlobalTable
    Properties:
      GlobalTableSourceArn: !ImportValue SourceArn
      Replicas: [{Region: us-west-2}]
"""
INCLUDED = """
Resources:
  Included:
    Type: AWS::DynamoDB::Table
    Properties:
      BillingMode: PAY_PER_REQUEST
      KeySchema:
        Fn::Transform: [{Name: AWS::Include, Parameters: {Location: keys.yaml}}]
      AttributeDefinitions: [{AttributeName: id, AttributeType: S}]
"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (REPLICA, "KeySchema is decided elsewhere (it is a replica of GlobalTableSourceArn)"),
        (INCLUDED, "KeySchema is decided elsewhere (Fn::Transform)"),
    ],
    ids=["replica", "transform"],
)
def test_a_key_that_another_template_has_is_no_fault(tmp_path, text, reason):
    """A stack may hold the replica of a table in another account, or include its keys."""
    path = tmp_path / "template.yaml"
    path.write_text(text)
    [finding] = read_design(path).findings
    assert finding.rule == "unknown-value"
    assert finding.message == f"{reason}, so there is no table to check."


def test_a_resource_whose_name_is_a_number_is_read(tmp_path):
    """Found by fuzzing: an error of Python's."""
    path = tmp_path / "template.yaml"
    path.write_text(TEMPLATE.replace("  Events:\n", "  9:\n"))
    assert "9" in [table.resource for table in read_design(path).tables]
