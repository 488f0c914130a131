"""Replicas of global tables, version 2019: their members on the wire, and auto scaling (OTH-15)."""

from __future__ import annotations

from typing import Final

from emulator.engine import Account
from emulator.operations import definitions, shapes
from emulator.operations.descriptions import describe_replicas
from emulator.operations.registry import Request, Response, operation

_READ_OVERRIDE = shapes.structure(
    "ProvisionedThroughputOverride", ReadCapacityUnits=shapes.POSITIVE_LONG
)
_MAXIMUM_OVERRIDE = shapes.structure("OnDemandThroughputOverride", MaxReadRequestUnits=shapes.LONG)
_OVERRIDES = {
    "KMSMasterKeyId": shapes.STRING,
    "ProvisionedThroughputOverride": _READ_OVERRIDE,
    "OnDemandThroughputOverride": _MAXIMUM_OVERRIDE,
    "GlobalSecondaryIndexes": shapes.List(
        shapes.structure(
            "ReplicaGlobalSecondaryIndex",
            IndexName=shapes.INDEX_NAME.required,
            ProvisionedThroughputOverride=_READ_OVERRIDE,
            OnDemandThroughputOverride=_MAXIMUM_OVERRIDE,
        ),
        least=1,
    ),
    "TableClassOverride": shapes.String(enum=("STANDARD", "STANDARD_INFREQUENT_ACCESS")),
}
REPLICA_UPDATES: Final = shapes.List(
    shapes.structure(
        "ReplicationGroupUpdate",
        Create=shapes.structure(
            "CreateReplicationGroupMemberAction", RegionName=shapes.STRING.required, **_OVERRIDES
        ),
        Update=shapes.structure(
            "UpdateReplicationGroupMemberAction", RegionName=shapes.STRING.required, **_OVERRIDES
        ),
        Delete=shapes.structure(
            "DeleteReplicationGroupMemberAction", RegionName=shapes.STRING.required
        ),
        Disassociate=shapes.structure(
            "DisassociateReplicationGroupMemberAction",
            RegionName=shapes.STRING.required,
            DisassociationMode=shapes.String(enum=("WAIT_FOR_REPLICATION",)).required,
        ),
    ),
    least=1,
)


WITNESS_UPDATES: Final = shapes.List(
    shapes.structure(
        "GlobalTableWitnessGroupUpdate",
        Create=shapes.structure(
            "CreateGlobalTableWitnessGroupMemberAction", RegionName=shapes.STRING.required
        ),
        Delete=shapes.structure(
            "DeleteGlobalTableWitnessGroupMemberAction", RegionName=shapes.STRING.required
        ),
    ),
    least=1,
    most=1,
)
SETTINGS_MODE: Final = shapes.String(enum=("ENABLED", "DISABLED", "ENABLED_WITH_OVERRIDES"))


_POLICY = shapes.structure(
    "AutoScalingPolicyUpdate",
    PolicyName=shapes.String(1, 256),
    TargetTrackingScalingPolicyConfiguration=shapes.structure(
        "AutoScalingTargetTrackingScalingPolicyConfigurationUpdate",
        DisableScaleIn=shapes.BOOLEAN,
        ScaleInCooldown=shapes.Integer(),
        ScaleOutCooldown=shapes.Integer(),
        TargetValue=shapes.DOUBLE.required,
    ).required,
)
AUTO_SCALING = shapes.structure(
    "AutoScalingSettingsUpdate",
    MinimumUnits=shapes.POSITIVE_LONG,
    MaximumUnits=shapes.POSITIVE_LONG,
    AutoScalingDisabled=shapes.BOOLEAN,
    AutoScalingRoleArn=shapes.String(1, 1600),
    ScalingPolicyUpdate=_POLICY,
)
UPDATE_SHAPE = definitions.table_request(
    GlobalSecondaryIndexUpdates=shapes.List(
        shapes.structure(
            "GlobalSecondaryIndexAutoScalingUpdate",
            IndexName=shapes.INDEX_NAME,
            ProvisionedWriteCapacityAutoScalingUpdate=AUTO_SCALING,
        ),
        least=1,
    ),
    ProvisionedWriteCapacityAutoScalingUpdate=AUTO_SCALING,
    ReplicaUpdates=shapes.List(
        shapes.structure(
            "ReplicaAutoScalingUpdate",
            RegionName=shapes.STRING.required,
            ReplicaGlobalSecondaryIndexUpdates=shapes.List(
                shapes.structure(
                    "ReplicaGlobalSecondaryIndexAutoScalingUpdate",
                    IndexName=shapes.INDEX_NAME,
                    ProvisionedReadCapacityAutoScalingUpdate=AUTO_SCALING,
                )
            ),
            ReplicaProvisionedReadCapacityAutoScalingUpdate=AUTO_SCALING,
        ),
        least=1,
    ),
)


@operation("DescribeTableReplicaAutoScaling", shape=definitions.table_request())
def describe_auto_scaling(account: Account, request: Request) -> Response:
    """Return the replicas of a table; none of them scales (OTH-15)."""
    table = account.described_table(request["TableName"])
    replicas = [
        {"RegionName": replica["RegionName"], "ReplicaStatus": replica["ReplicaStatus"]}
        for replica in describe_replicas(account, table)
    ]
    return {
        "TableAutoScalingDescription": {
            "TableName": table.name,
            "TableStatus": table.status(account.now_ns),
            "Replicas": replicas,
        }
    }


@operation("UpdateTableReplicaAutoScaling", shape=UPDATE_SHAPE)
def update_auto_scaling(account: Account, request: Request) -> Response:
    """Accept settings for replicas, which are not served here (OTH-15)."""
    return describe_auto_scaling(account, request)
