"""Plans and states of Terraform, as JSON (ICH-40, ICH-41)."""

import json

import pytest

from emulator.check.findings_of import check
from emulator.designs.files import read_design
from emulator.service.errors import DocumentError

VALUES = {
    "name": "orders",
    "billing_mode": "PAY_PER_REQUEST",
    "hash_key": "id",
    "attribute": [{"name": "id", "type": "S"}],
}


def resource(address="aws_dynamodb_table.orders", kind="aws_dynamodb_table", **values):
    return {"address": address, "mode": "managed", "type": kind, "values": VALUES | values}


def plan(*resources, changes=(), **members):
    document = {
        "format_version": "1.2",
        "planned_values": {"root_module": {"resources": list(resources)}},
        "resource_changes": list(changes),
    }
    return document | members


def change(actions, address="aws_dynamodb_table.orders", **unknown):
    return {
        "address": address,
        "type": "aws_dynamodb_table",
        "change": {"actions": actions, "after_unknown": unknown},
    }


def read(directory, document):
    path = directory / "plan.json"
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    return read_design(path)


def test_a_state_is_read_as_a_plan_is(tmp_path):
    document = plan(resource())
    document["values"] = document.pop("planned_values")
    [table] = read(tmp_path, document).tables
    assert (table.resource, table.request["TableName"]) == ("aws_dynamodb_table.orders", "orders")
    assert table.places["", "KeySchema"].line > table.places["", ""].line > 1


def test_data_sources_are_no_tables(tmp_path):
    document = plan(resource() | {"mode": "data"}, resource("aws_s3_bucket.b", "aws_s3_bucket"))
    assert read(tmp_path, document).tables == ()


@pytest.mark.parametrize(
    "unknown",
    [
        {"hash_key": True},
        {"attribute": [{"name": True}]},
        {"attribute": True},
        {"global_secondary_index": True},
    ],
)
def test_what_is_known_after_apply_is_no_key(tmp_path, unknown):
    reading = read(tmp_path, plan(resource(), changes=[change(["create"], **unknown)]))
    assert reading.tables == ()
    [finding] = reading.findings
    assert finding.rule == "unknown-value"
    assert "known only after terraform apply" in finding.message


def test_a_name_that_is_known_after_apply_is_assumed(tmp_path):
    reading = read(tmp_path, plan(resource(), changes=[change(["create"], name=True, arn=True)]))
    [table] = reading.tables
    assert [finding.rule for finding in table.findings] == ["assumed-value"]


@pytest.mark.parametrize(
    ("actions", "rules"),
    [
        (["delete", "create"], ["table-replaced"]),
        (["create", "delete"], ["table-replaced"]),
        (["update"], []),
        (["no-op"], []),
    ],
)
def test_a_table_that_is_replaced_is_a_problem(tmp_path, actions, rules):
    read(tmp_path, plan(resource(), changes=[change(actions)]))
    report = check([tmp_path / "plan.json"])
    assert [finding.rule for finding in report.findings] == rules


def test_scaling_and_indexes_beside_a_table_are_joined_by_name(tmp_path):
    """ICH-44, ICH-45."""
    target = {"resource_id": "table/orders", "scalable_dimension": "dynamodb:table:Write"}
    index = {
        "table_name": "orders",
        "index_name": "byKind",
        "key_schema": [{"attribute_name": "kind", "attribute_type": "S", "key_type": "HASH"}],
        "projection": [{"projection_type": "ALL", "non_key_attributes": None}],
    }
    [table] = read(
        tmp_path,
        plan(
            resource(billing_mode="PROVISIONED", read_capacity=5, write_capacity=6),
            {"type": "aws_appautoscaling_target", "values": target},
            {"type": "aws_dynamodb_global_secondary_index", "values": index},
        ),
    ).tables
    assert table.scaled
    assert [finding.rule for finding in table.findings] == ["scaling-without-policy"]
    assert table.request["GlobalSecondaryIndexes"] == [
        {
            "IndexName": "byKind",
            "KeySchema": [{"AttributeName": "kind", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
            "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6},
        }
    ]


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        (plan(format_version="2.0"), "format_version 2.0 is not known; expected 0.x or 1.x"),
        (plan(planned_values=[1]), "planned_values: expected a root_module with resources"),
    ],
)
def test_another_form_is_one_sentence(tmp_path, document, complaint):
    """ICH-2: unknown major versions are refused."""
    with pytest.raises(DocumentError) as caught:
        read(tmp_path, document)
    assert str(caught.value).startswith(f"{tmp_path / 'plan.json'}: {complaint}")


def test_a_plan_without_tables_is_told(tmp_path):
    read(tmp_path, plan())
    with pytest.raises(DocumentError, match="no DynamoDB table is declared in it"):
        check([tmp_path / "plan.json"])


@pytest.mark.parametrize(
    ("unknown", "told"),
    [
        ({"key_schema": [{"attribute_name": True}]}, "byKind: key_schema is decided elsewhere"),
        ({"table_name": True}, "table_name is decided elsewhere"),
    ],
    ids=["key", "table"],
)
def test_an_index_that_is_known_after_apply_is_told(tmp_path, unknown, told):
    """ICH-41, ICH-44."""
    index = resource("i", "aws_dynamodb_global_secondary_index")
    index["values"] = {
        "table_name": "orders",
        "index_name": "byKind",
        "key_schema": [{"attribute_name": None, "attribute_type": "S", "key_type": "HASH"}],
        "projection": [{"projection_type": "ALL"}],
    }
    marks = change(["create"], "i", **unknown)
    reading = read(tmp_path, plan(resource(), index, changes=[marks]))
    [table] = reading.tables
    [finding] = list(reading.findings) + list(table.findings)
    assert "GlobalSecondaryIndexes" not in table.request
    assert (finding.rule, finding.subject) == ("unknown-value", "i")
    assert finding.message.startswith(told)
