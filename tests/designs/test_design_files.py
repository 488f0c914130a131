"""Any file gets an answer: tables, or one sentence; and any table gets findings."""

import json

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from emulator.check.findings_of import check
from emulator.designs import read_tables
from emulator.designs.formats import FORMATS, render
from emulator.service.errors import DocumentError

scalars = st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "id", "HASH", "S"])
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["Ref", "Fn::Sub", "Fn::If", "AttributeName", "KeyType", "x"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)
KEY = [{"AttributeName": "id", "KeyType": "HASH"}]
MEMBERS = [
    "KeySchema",
    "AttributeDefinitions",
    "GlobalSecondaryIndexes",
    "LocalSecondaryIndexes",
    "BillingMode",
    "ProvisionedThroughput",
    "OnDemandThroughput",
    "StreamSpecification",
    "TimeToLiveSpecification",
    "TableName",
    "Replicas",
    "PrimaryKey",
    "KeyAttributes",
    "ProvisionedCapacitySettings",
    "TableData",
]
bodies = st.dictionaries(st.sampled_from(MEMBERS), values, max_size=5)
bodies_with_keys = bodies.map(lambda body: {"KeySchema": KEY} | body)


def answered(path):
    """Read and check a file; return its complaint, or None."""
    try:
        report = check([path])
    except DocumentError as error:
        return str(error)
    assert all(render(report, name) for name in FORMATS if name != "github")
    try:
        read_tables(path)
    except DocumentError as error:
        return str(error)
    return None


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("designs")


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(
    kind=st.sampled_from(["Table", "GlobalTable"]),
    body=bodies_with_keys | values,
)
@example(kind="Table", body={"KeySchema": [None]})
def test_any_template_is_answered(place, kind, body):
    path = place / "template.json"
    resource = {"Type": f"AWS::DynamoDB::{kind}", "Properties": body}
    path.write_text(json.dumps({"Resources": {"T": resource}}), encoding="utf-8")
    complaint = answered(path)
    assert complaint is None or complaint.startswith(str(path))


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(bodies_with_keys | values)
def test_any_model_or_description_is_answered(place, body):
    path = place / "model.json"
    for document in ({"DataModel": [body]}, {"Table": body}, body):
        path.write_text(json.dumps(document), encoding="utf-8")
        complaint = answered(path)
        assert complaint is None or complaint.startswith(str(path))


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(
        st.sampled_from(
            [
                "name",
                "hash_key",
                "range_key",
                "attribute",
                "global_secondary_index",
                "local_secondary_index",
                "key_schema",
                "billing_mode",
                "read_capacity",
                "ttl",
                "on_demand_throughput",
                "dynamic",
            ]
        ),
        values,
        max_size=5,
    )
)
def test_any_terraform_in_json_is_answered(place, body):
    path = place / "main.tf.json"
    document = {"resource": {"aws_dynamodb_table": {"t": {"hash_key": "id"} | body}}}
    path.write_text(json.dumps(document), encoding="utf-8")
    complaint = answered(path)
    assert complaint is None or complaint.startswith(f"{path}")
