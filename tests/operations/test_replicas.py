"""Replicas of version 2019, and their auto scaling."""

import pytest

from tests.tables import INVALID, described, emulator, refusal, table

TAB = {"TableName": "tab"}
EUROPE = {"RegionName": "eu-west-1"}


def created():
    emu = emulator()
    emu.call("CreateTable", table())
    return emu


def update(emu, *updates, **members):
    return emu.call("UpdateTable", {**TAB, "ReplicaUpdates": list(updates), **members})


def test_replicas_are_added_changed_and_removed():
    """OTH-14."""
    emu = created()
    update(emu, {"Create": EUROPE}, MultiRegionConsistency="EVENTUAL")
    found = described(emu)
    assert found["Replicas"] == [EUROPE | {"ReplicaStatus": "ACTIVE"}]
    assert found["GlobalTableVersion"] == "2019.11.21"
    assert found["MultiRegionConsistency"] == "EVENTUAL"
    override = {"ProvisionedThroughputOverride": {"ReadCapacityUnits": 3}}
    update(emu, {"Update": EUROPE | override | {"TableClassOverride": "STANDARD"}})
    assert described(emu)["Replicas"] == [
        EUROPE
        | {"ReplicaStatus": "ACTIVE", "ReplicaTableClassSummary": {"TableClass": "STANDARD"}}
        | override
    ]
    update(emu, {"Delete": EUROPE})
    found = described(emu)
    assert "Replicas" not in found
    assert "GlobalTableVersion" not in found


REFUSED = {
    "own region": (
        [{"Create": {"RegionName": "us-east-1"}}],
        INVALID + "Cannot add, delete, or update the local region through ReplicaUpdates",
    ),
    "twice": (
        [{"Create": EUROPE}, {"Create": EUROPE}],
        INVALID + "Replica already exists in region: eu-west-1",
    ),
    "none to delete": (
        [{"Delete": EUROPE}],
        INVALID + "Replica does not exist in region: eu-west-1",
    ),
    "none to update": (
        [{"Update": EUROPE}],
        INVALID + "Replica does not exist in region: eu-west-1",
    ),
    "no action": (
        [{}],
        INVALID + "One of Create, Update, Delete must be specified in a ReplicaUpdate",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_replica_change_that_cannot_be_is_refused(case):
    """OTH-14."""
    updates, message = REFUSED[case]
    emu = created()
    request = {**TAB, "ReplicaUpdates": updates}
    assert refusal(emu, "UpdateTable", request) == ("ValidationException", message)
    assert "Replicas" not in described(emu)


def test_auto_scaling_of_replicas_is_accepted_and_told():
    """OTH-15."""
    emu = created()
    empty = {
        "TableAutoScalingDescription": {
            "TableName": "tab",
            "TableStatus": "ACTIVE",
            "Replicas": [],
        }
    }
    assert emu.call("DescribeTableReplicaAutoScaling", TAB) == empty
    policy = {"TargetTrackingScalingPolicyConfiguration": {"TargetValue": 70.5}}
    settings = {"MinimumUnits": 1, "MaximumUnits": 2, "ScalingPolicyUpdate": policy}
    request = {**TAB, "ProvisionedWriteCapacityAutoScalingUpdate": settings}
    assert emu.call("UpdateTableReplicaAutoScaling", request) == empty
    update(emu, {"Create": EUROPE})
    found = emu.call("DescribeTableReplicaAutoScaling", TAB)["TableAutoScalingDescription"]
    assert found["Replicas"] == [EUROPE | {"ReplicaStatus": "ACTIVE"}]


@pytest.mark.parametrize(
    "operation", ["DescribeTableReplicaAutoScaling", "UpdateTableReplicaAutoScaling"]
)
def test_an_unknown_table_is_named(operation):
    """OTH-15, TBL-4."""
    assert refusal(emulator(), operation, TAB) == (
        "ResourceNotFoundException",
        "Requested resource not found: Table: tab not found",
    )
