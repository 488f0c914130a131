"""Auto scaling of replicas, and how replicas are described."""

import pytest

from tests.tables import described, emulator, refusal, table

TAB = {"TableName": "tab"}
EUROPE = {"RegionName": "eu-west-1"}


def created():
    emu = emulator()
    emu.call("CreateTable", table())
    return emu


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
    emu.call("UpdateTable", {**TAB, "ReplicaUpdates": [{"Create": EUROPE}]})
    answer = emu.call("DescribeTableReplicaAutoScaling", TAB)["TableAutoScalingDescription"]
    assert answer["Replicas"] == [EUROPE | {"ReplicaStatus": "ACTIVE"}]


@pytest.mark.parametrize(
    "operation", ["DescribeTableReplicaAutoScaling", "UpdateTableReplicaAutoScaling"]
)
def test_an_unknown_table_is_named(operation):
    """OTH-15, TBL-4."""
    assert refusal(emulator(), operation, TAB) == (
        "ResourceNotFoundException",
        "Requested resource not found: Table: tab not found",
    )


def test_each_replica_describes_the_others_and_their_states():
    """GTB-4."""
    emu = emulator(table_delay=20)
    emu.call("CreateTable", table())
    emu.clock.advance(20)
    request = {**TAB, "ReplicaUpdates": [{"Create": EUROPE | {"KMSMasterKeyId": "key"}}]}
    answer = emu.call("UpdateTable", request)["TableDescription"]
    replica = EUROPE | {
        "ReplicaStatus": "CREATING",
        "ReplicaArn": "arn:aws:dynamodb:eu-west-1:000000000000:table/tab",
        "KMSMasterKeyId": "key",
    }
    assert (answer["TableStatus"], answer["Replicas"]) == ("UPDATING", [replica])
    assert described(emu)["Replicas"] == [replica]
    emu.clock.advance(20)
    assert described(emu)["Replicas"] == [replica | {"ReplicaStatus": "ACTIVE"}]
    assert described(emu)["GlobalTableVersion"] == "2019.11.21"
    seen = emu.call("DescribeTable", TAB, region="eu-west-1")["Table"]
    assert [other["RegionName"] for other in seen["Replicas"]] == ["us-east-1"]
    assert seen["TableStatus"] == "ACTIVE"
