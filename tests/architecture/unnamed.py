"""Members and states of the service model's answers that the emulator never names.

``reference.py`` writes them into docs/reference/fidelity.md; ``test_operations.py`` holds them
against the model of the botocore that is installed.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

from tests.architecture.rules import ROOT

NAME = re.compile(r"[A-Za-z_]\w*")


class Unnamed(NamedTuple):
    """A part of the answers that is never named.

    Attributes:
        subject: What it belongs to.
        reason: Why it is not there.
        members: The shapes, and their members or states that are never named.
    """

    subject: str
    reason: str
    members: dict[str, tuple[str, ...]]


UNNAMED = (
    Unnamed(
        "global tables of 2017",
        "their operations refuse, as the service does",
        {
            "CreateGlobalTableOutput": ("GlobalTableDescription",),
            "DescribeGlobalTableOutput": ("GlobalTableDescription",),
            "UpdateGlobalTableOutput": ("GlobalTableDescription",),
            "DescribeGlobalTableSettingsOutput": ("ReplicaSettings",),
            "UpdateGlobalTableSettingsOutput": ("ReplicaSettings",),
            "GlobalTableDescription": ("GlobalTableArn", "GlobalTableStatus"),
            "ListGlobalTablesOutput": ("LastEvaluatedGlobalTableName",),
            "ReplicaSettingsDescription": (
                "ReplicaBillingModeSummary",
                "ReplicaGlobalSecondaryIndexSettings",
                "ReplicaProvisionedReadCapacityAutoScalingSettings",
                "ReplicaProvisionedWriteCapacityAutoScalingSettings",
                "ReplicaProvisionedWriteCapacityUnits",
            ),
            "ReplicaGlobalSecondaryIndexSettingsDescription": (
                "ProvisionedReadCapacityAutoScalingSettings",
                "ProvisionedWriteCapacityAutoScalingSettings",
            ),
        },
    ),
    Unnamed(
        "auto scaling of replicas",
        "no replica scales by itself; `emu.auto_scale` scales tables and indexes",
        {
            "AutoScalingSettingsDescription": ("ScalingPolicies",),
            "ReplicaAutoScalingDescription": (
                "ReplicaProvisionedReadCapacityAutoScalingSettings",
                "ReplicaProvisionedWriteCapacityAutoScalingSettings",
            ),
            "ReplicaGlobalSecondaryIndexAutoScalingDescription": (
                "ProvisionedReadCapacityAutoScalingSettings",
                "ProvisionedWriteCapacityAutoScalingSettings",
            ),
        },
    ),
    Unnamed(
        "archived tables, and keys of KMS that are out of reach",
        "KMS keys are names, which are always in reach",
        {
            "ArchivalSummary": ("ArchivalBackupArn", "ArchivalReason"),
            "TableStatus": (
                "ARCHIVED",
                "ARCHIVING",
                "INACCESSIBLE_ENCRYPTION_CREDENTIALS",
                "REPLICATION_NOT_AUTHORIZED",
            ),
        },
    ),
    Unnamed(
        "replicas that fail",
        "a replica is made at once, and no region or permission goes away",
        {
            "ReplicaDescription": ("ReplicaStatusDescription", "ReplicaStatusPercentProgress"),
            "ReplicaStatus": (
                "ARCHIVED",
                "ARCHIVING",
                "CREATION_FAILED",
                "INACCESSIBLE_ENCRYPTION_CREDENTIALS",
                "REGION_DISABLED",
                "REPLICATION_NOT_AUTHORIZED",
            ),
        },
    ),
    Unnamed(
        "Contributor Insights that cannot be switched on",
        "they always can",
        {
            "DescribeContributorInsightsOutput": ("FailureException",),
            "FailureException": ("ExceptionDescription", "ExceptionName"),
        },
    ),
)


@cache
def named() -> frozenset[str]:
    """Return every word in the emulator's source."""
    sources = (ROOT / "emulator").rglob("*.py")
    return frozenset(word for path in sources for word in NAME.findall(path.read_text()))


def answers_of(model: Any) -> frozenset[tuple[str, str]]:
    """Return the shapes that answers of a botocore model have, with each member or state."""
    operations = map(model.operation_model, model.operation_names)
    unseen = [
        shape
        for operation in operations
        for shape in (operation.output_shape, *operation.error_shapes)
        if shape is not None
    ]
    shapes: dict[str, Any] = {}
    while unseen:
        shape = unseen.pop()
        if shape.name not in shapes:
            shapes[shape.name] = shape
            inner = [getattr(shape, "member", None), getattr(shape, "value", None)]
            unseen.extend(each for each in inner if each is not None)
            unseen.extend(getattr(shape, "members", {}).values())
    return frozenset(
        (name, member)
        for name, shape in shapes.items()
        for member in (*getattr(shape, "members", ()), *getattr(shape, "enum", ()))
    )
