"""Global tables, version 2017."""

import pytest

from tests.tables import INVALID, emulator, refusal

NAME = {"GlobalTableName": "tab"}
UNSUPPORTED = (
    INVALID + "DynamoDB global tables version 2017.11.29 is not supported. We recommend using "
    "DynamoDB global tables version 2019.11.21, instead of version 2017.11.29 (Legacy)."
)


@pytest.mark.parametrize(
    ("operation", "members"),
    [
        ("CreateGlobalTable", {"ReplicationGroup": [{"RegionName": "us-east-1"}]}),
        ("UpdateGlobalTable", {"ReplicaUpdates": [{"Create": {"RegionName": "us-east-1"}}]}),
    ],
)
def test_none_is_made_or_changed(operation, members):
    """OTH-13."""
    assert refusal(emulator(), operation, NAME | members) == ("ValidationException", UNSUPPORTED)


@pytest.mark.parametrize(
    "operation",
    ["DescribeGlobalTable", "DescribeGlobalTableSettings", "UpdateGlobalTableSettings"],
)
def test_none_is_found(operation):
    """OTH-13."""
    assert refusal(emulator(), operation, NAME) == (
        "GlobalTableNotFoundException",
        "Global table not found: Global table with name tab does not exist",
    )


def test_none_is_listed():
    """OTH-13."""
    assert emulator().call("ListGlobalTables", {"Limit": 5}) == {"GlobalTables": []}
