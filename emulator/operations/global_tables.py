"""Global tables, version 2017: the service no longer makes any (OTH-13)."""

from __future__ import annotations

from typing import Final, NoReturn

from emulator.engine import Account
from emulator.model.wire import INVALID
from emulator.operations import definitions, shapes
from emulator.operations.registry import Request, Response, operation
from emulator.operations.replicas import AUTO_SCALING
from emulator.service import errors, limits
from emulator.service.throttling import Axis

NOT_SUPPORTED: Final = (
    INVALID + "DynamoDB global tables version 2017.11.29 is not supported. We recommend using "
    "DynamoDB global tables version 2019.11.21, instead of version 2017.11.29 (Legacy)."
)
#: Assumed: the text.
NOT_FOUND: Final = "Global table not found: Global table with name {name} does not exist"

_REGION = shapes.structure("Replica", RegionName=shapes.STRING)
_NAMED = shapes.structure(GlobalTableName=shapes.INDEX_NAME.required)


@operation(
    "CreateGlobalTable",
    shape=shapes.structure(
        GlobalTableName=shapes.INDEX_NAME.required,
        ReplicationGroup=shapes.List(_REGION).required,
    ),
)
def create_global_table(_: Account, __: Request) -> NoReturn:
    """Refuse: only version 2019 is supported, through UpdateTable."""
    raise errors.ValidationException(NOT_SUPPORTED)


@operation(
    "UpdateGlobalTable",
    shape=shapes.structure(
        GlobalTableName=shapes.INDEX_NAME.required,
        ReplicaUpdates=shapes.List(
            shapes.structure(
                "ReplicaUpdate",
                Create=shapes.structure("CreateReplicaAction", RegionName=shapes.STRING.required),
                Delete=shapes.structure("DeleteReplicaAction", RegionName=shapes.STRING.required),
            )
        ).required,
    ),
)
def update_global_table(_: Account, __: Request) -> NoReturn:
    """Refuse: there is no global table of version 2017 to change."""
    raise errors.ValidationException(NOT_SUPPORTED)


def _index_settings(holder: str, axis: Axis) -> shapes.Member:
    """Return the settings of one axis of a table's or a replica's global indexes."""
    members = {
        "IndexName": shapes.INDEX_NAME.required,
        f"Provisioned{axis}CapacityUnits": shapes.POSITIVE_LONG,
        f"Provisioned{axis}CapacityAutoScalingSettingsUpdate": AUTO_SCALING,
    }
    name = f"{holder}GlobalSecondaryIndexSettingsUpdate"
    return shapes.List(shapes.structure(name, **members), least=1, most=limits.GLOBAL_INDEXES)


@operation("DescribeGlobalTable", shape=_NAMED)
@operation("DescribeGlobalTableSettings", shape=_NAMED)
@operation(
    "UpdateGlobalTableSettings",
    shape=shapes.structure(
        GlobalTableName=shapes.INDEX_NAME.required,
        GlobalTableBillingMode=definitions.BILLING_MODE,
        GlobalTableProvisionedWriteCapacityUnits=shapes.POSITIVE_LONG,
        GlobalTableProvisionedWriteCapacityAutoScalingSettingsUpdate=AUTO_SCALING,
        GlobalTableGlobalSecondaryIndexSettingsUpdate=_index_settings("GlobalTable", "Write"),
        ReplicaSettingsUpdate=shapes.List(
            shapes.structure(
                "ReplicaSettingsUpdate",
                RegionName=shapes.STRING.required,
                ReplicaProvisionedReadCapacityUnits=shapes.POSITIVE_LONG,
                ReplicaProvisionedReadCapacityAutoScalingSettingsUpdate=AUTO_SCALING,
                ReplicaGlobalSecondaryIndexSettingsUpdate=_index_settings("Replica", "Read"),
                ReplicaTableClass=shapes.String(enum=("STANDARD", "STANDARD_INFREQUENT_ACCESS")),
            ),
            least=1,
            most=50,
        ),
    ),
)
def find_global_table(_: Account, request: Request) -> NoReturn:
    """Refuse: no such global table exists."""
    raise errors.GlobalTableNotFoundException(NOT_FOUND.format(name=request["GlobalTableName"]))


@operation(
    "ListGlobalTables",
    shape=shapes.structure(
        ExclusiveStartGlobalTableName=shapes.INDEX_NAME,
        Limit=shapes.POSITIVE,
        RegionName=shapes.STRING,
    ),
)
def list_global_tables(_: Account, __: Request) -> Response:
    """Return no global tables of version 2017."""
    return {"GlobalTables": []}
