"""Event sources that designs declare: one mapping in every language (EVS-1)."""

import json

import pytest

from emulator.designs.event_sources import read_event_sources

PATTERN = {"eventName": ["INSERT"]}
SETTINGS = {
    "batch_size": 25,
    "batch_window": 5,
    "parallelization_factor": 2,
    "retries": 3,
    "max_record_age": 120,
    "bisect_on_error": True,
    "tumbling_window": 30,
    "starting_position": "LATEST",
    "report_item_failures": True,
}
PROPERTIES = {
    "BatchSize": 25,
    "MaximumBatchingWindowInSeconds": "5",
    "ParallelizationFactor": 2,
    "MaximumRetryAttempts": 3,
    "MaximumRecordAgeInSeconds": 120,
    "BisectBatchOnFunctionError": True,
    "TumblingWindowInSeconds": 30,
    "StartingPosition": "LATEST",
    "FunctionResponseTypes": ["ReportBatchItemFailures"],
    "FilterCriteria": {"Filters": [{"Pattern": json.dumps(PATTERN)}]},
}
TABLE = {
    "Type": "AWS::DynamoDB::Table",
    "Properties": {
        "TableName": "orders",
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
        "StreamSpecification": {"StreamViewType": "NEW_IMAGE"},
    },
}
STREAM = {"Fn::GetAtt": ["Orders", "StreamArn"]}
TERRAFORM = """
resource "aws_dynamodb_table" "orders" {
  name             = "orders"
  billing_mode     = "PAY_PER_REQUEST"
  hash_key         = "id"
  stream_enabled   = true
  stream_view_type = "NEW_IMAGE"
  attribute {
    name = "id"
    type = "S"
  }
}

resource "aws_lambda_function" "mail" {
  function_name = "send-mail"
}

resource "aws_lambda_event_source_mapping" "mail" {
  event_source_arn                   = aws_dynamodb_table.orders.stream_arn
  function_name                      = aws_lambda_function.mail.arn
  batch_size                         = 25
  maximum_batching_window_in_seconds = 5
  parallelization_factor             = 2
  maximum_retry_attempts             = 3
  maximum_record_age_in_seconds      = 120
  bisect_batch_on_function_error     = true
  tumbling_window_in_seconds         = 30
  starting_position                  = "LATEST"
  function_response_types            = ["ReportBatchItemFailures"]
  filter_criteria {
    filter {
      pattern = jsonencode({ eventName = ["INSERT"] })
    }
  }
}

resource "aws_lambda_event_source_mapping" "queue" {
  event_source_arn = aws_sqs_queue.mail.arn
  function_name    = aws_lambda_function.mail.arn
}
"""


def template(resources, **members):
    return json.dumps({"Resources": {"Orders": TABLE, **resources}, **members})


def declared(tmp_path, text, name="template.json"):
    path = tmp_path / name
    path.write_text(text)
    return read_event_sources(path)


def assert_is_whole(source, functions):
    settings = dict(source.settings)
    filters = settings.pop("filters")
    assert [json.loads(p) if isinstance(p, str) else p for p in filters] == [PATTERN]
    assert settings == SETTINGS
    assert (source.functions, source.table) == (functions, "orders")


def test_terraform(tmp_path):
    [source] = declared(tmp_path, TERRAFORM, "main.tf")
    assert_is_whole(source, ("send-mail", "mail"))


def test_cloudformation(tmp_path):
    resources = {
        "Mail": {"Type": "AWS::Lambda::Function", "Properties": {"FunctionName": "send-mail"}},
        "OnOrders": {
            "Type": "AWS::Lambda::EventSourceMapping",
            "Properties": {"EventSourceArn": STREAM, "FunctionName": {"Ref": "Mail"}, **PROPERTIES},
        },
    }
    [source] = declared(tmp_path, template(resources))
    assert_is_whole(source, ("send-mail", "Mail"))


def test_sam(tmp_path):
    event = {"Type": "DynamoDB", "Properties": {"Stream": STREAM, **PROPERTIES}}
    other = {"Type": "Api", "Properties": {"Path": "/", "Method": "get"}}
    resources = {
        "Mail": {
            "Type": "AWS::Serverless::Function",
            "Properties": {"Events": {"New": event, "Get": other}},
        }
    }
    [source] = declared(tmp_path, template(resources))
    assert_is_whole(source, ("Mail",))


def test_serverless(tmp_path):
    stream = {
        "type": "dynamodb",
        "arn": STREAM,
        "batchSize": 25,
        "batchWindow": 5,
        "parallelizationFactor": 2,
        "maximumRetryAttempts": 3,
        "maximumRecordAgeInSeconds": 120,
        "bisectBatchOnFunctionError": True,
        "tumblingWindowInSeconds": 30,
        "startingPosition": "LATEST",
        "functionResponseType": "ReportBatchItemFailures",
        "filterPatterns": [PATTERN],
    }
    service = {
        "service": "shop",
        "provider": {"name": "aws"},
        "functions": {"mail": {"handler": "a.b", "events": [{"stream": stream}, {"sqs": "arn"}]}},
        "resources": {"Resources": {"Orders": TABLE}},
    }
    [source] = declared(tmp_path, json.dumps(service), "serverless.yml")
    assert_is_whole(source, ("mail",))


def test_a_terraform_state_that_knows_the_arn(tmp_path):
    arn = "arn:aws:dynamodb:eu-west-1:123456789012:table/orders/stream/2026-01-01T00:00:00.000"
    values = {"name": "orders", "hash_key": "id", "billing_mode": "PAY_PER_REQUEST"}
    table = values | {"attribute": [{"name": "id", "type": "S"}]}
    function = "arn:aws:lambda:eu-west-1:123456789012:function:send-mail"
    mapping = {"event_source_arn": arn, "function_name": function, "batch_size": 25}
    resources = [
        {"address": "a", "type": "aws_dynamodb_table", "values": table},
        {"address": "b", "type": "aws_lambda_event_source_mapping", "values": mapping},
    ]
    state = {"format_version": "1.0", "values": {"root_module": {"resources": resources}}}
    [source] = declared(tmp_path, json.dumps(state), "state.json")
    assert (source.functions, source.table) == (("send-mail",), "orders")
    assert source.settings == {"batch_size": 25}


@pytest.mark.parametrize(
    "properties",
    [
        {"EventSourceArn": STREAM, "FunctionName": {"Ref": "Mail"}, "Enabled": False},
        {"EventSourceArn": {"Ref": "StreamArn"}, "FunctionName": "mail"},
        {"EventSourceArn": {"Fn::GetAtt": ["Elsewhere", "StreamArn"]}, "FunctionName": "mail"},
        {"EventSourceArn": STREAM},
    ],
)
def test_a_source_that_is_off_or_not_of_a_table_of_the_design_is_left_out(tmp_path, properties):
    resource = {"Type": "AWS::Lambda::EventSourceMapping", "Properties": properties}
    assert declared(tmp_path, template({"OnOrders": resource})) == []


def test_what_is_decided_elsewhere_keeps_its_default(tmp_path):
    properties = {
        "EventSourceArn": STREAM,
        "FunctionName": "arn:aws:lambda:us-east-1:000000000000:function:mail",
        "BatchSize": {"Ref": "Size"},
        "FilterCriteria": {"Ref": "Filters"},
        "FunctionResponseTypes": {"Ref": "Types"},
    }
    resource = {"Type": "AWS::Lambda::EventSourceMapping", "Properties": properties}
    [source] = declared(tmp_path, template({"OnOrders": resource}))
    assert (source.functions, source.settings) == (("mail",), {})


def test_forms_that_are_none_break_nothing(tmp_path):
    function = {"Type": "AWS::Serverless::Function", "Properties": {"Events": [1]}}
    broken = {"Type": "AWS::Serverless::Function", "Properties": "x"}
    events = {"Type": "AWS::Serverless::Function", "Properties": {"Events": {"a": 5, "b": {}}}}
    assert declared(tmp_path, template({"A": function, "B": broken, "C": events})) == []
