"""Replicas of global tables, version 2019: described, never replicated (OTH-14, OTH-15)."""

from __future__ import annotations

from typing import Any, Final

from emulator.engine import Account, Table
from emulator.model.wire import INVALID
from emulator.operations import definitions, shapes
from emulator.operations.registry import Request, Response, operation
from emulator.service.errors import ValidationException

# Assumed: the texts; the service model gives UpdateTable no error shape for replicas.
REPLICA_EXISTS: Final = INVALID + "Replica already exists in region: {region}"
NO_REPLICA: Final = INVALID + "Replica does not exist in region: {region}"
OWN_REGION: Final = (
    INVALID + "Cannot add, delete, or update the local region through ReplicaUpdates"
)
NO_ACTION: Final = INVALID + "One of Create, Update, Delete must be specified in a ReplicaUpdate"
VERSION: Final = "2019.11.21"

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
    ),
    least=1,
)


def update_replicas(account: Account, table: Table, request: Request) -> None:
    """Add, change and remove the replicas that a table describes (OTH-14)."""
    known = {replica["RegionName"]: replica for replica in table.options.extra.get("Replicas", ())}
    for update in request["ReplicaUpdates"]:
        actions = [kind for kind in ("Create", "Update", "Delete") if update.get(kind) is not None]
        if len(actions) != 1:
            raise ValidationException(NO_ACTION)
        _update_replica(account, known, actions[0], update[actions[0]])
    extra = table.options.extra
    extra.pop("Replicas", None)
    extra.pop("GlobalTableVersion", None)
    if known:
        extra |= {"Replicas": list(known.values()), "GlobalTableVersion": VERSION}
        if request.get("MultiRegionConsistency") is not None:
            extra["MultiRegionConsistency"] = request["MultiRegionConsistency"]


def _update_replica(
    account: Account, known: dict[str, dict[str, Any]], kind: str, action: dict[str, Any]
) -> None:
    region = action["RegionName"]
    if region == account.region:
        raise ValidationException(OWN_REGION)
    if (kind == "Create") == (region in known):
        message = REPLICA_EXISTS if kind == "Create" else NO_REPLICA
        raise ValidationException(message.format(region=region))
    if kind == "Delete":
        del known[region]
        return
    described = {name: value for name, value in action.items() if name in _OVERRIDES}
    table_class = described.pop("TableClassOverride", None)
    if table_class is not None:
        described["ReplicaTableClassSummary"] = {"TableClass": table_class}
    known[region] = (
        known.get(region, {}) | {"RegionName": region, "ReplicaStatus": "ACTIVE"} | described
    )


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
        for replica in table.options.extra.get("Replicas", ())
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
