"""Rules about UpdateTable, in its order (ERR-UT-1 to ERR-UT-8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from emulator.engine import Index, Table, Throughput
from emulator.model import KeySchema
from emulator.model.wire import INVALID, load_types
from emulator.operations.rules import tables as rules
from emulator.service import errors, limits
from emulator.service.wording import Wording

Wire: TypeAlias = Mapping[str, Any]

NOTHING_TO_DO: Final = Wording(
    "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
    "GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, "
    "ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, "
    "OnDemandThroughput, WarmThroughput or TableClass is required",
    older="At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
    "GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required",
)

# Exclusivity
ALONE: Final = INVALID + "{what} must be the only operation in the request"
MAXIMUM_COMBINED: Final = (
    INVALID + "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request"
)
CREATE_AND_WARM: Final = (
    INVALID + "Create global secondary index cannot be specified when updating WarmThroughput"
)
STREAM_AND_UNITS: Final = INVALID + "You cannot modify stream status while updating table IOPS"
INDEX_AND_UNITS: Final = INVALID + "You cannot create or delete index while updating table IOPS"
INDEX_AND_STREAM: Final = INVALID + "You cannot create or delete index while changing stream status"

# Index updates
EMPTY_UPDATES: Final = INVALID + "List of GlobalSecondaryIndexUpdates is empty"
NO_ACTION: Final = (
    INVALID + "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
    "GlobalSecondaryIndexUpdate.Delete must not be null"
)
SEVERAL_ACTIONS: Final = (
    INVALID + "Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate "
    "object"
)
SEVERAL_UPDATES: Final = (
    INVALID + "Only one global secondary index update per index is allowed simultaneously. "
    "Index: {index}"
)
NO_DEFINITIONS: Final = INVALID + "AttributeDefinitions is not specified for index: {index}"
REDEFINED: Final = (
    INVALID + "Attributes cannot be redefined. Please check that your attribute has the same type "
    "as previously defined. Existing schema: {existing} New schema: {new}"
)
INDEX_EXISTS: Final = "Attempting to create an index which already exists"
NO_INDEX: Final = "Requested resource not found: Index {index} for table {table}"
NOT_GLOBAL: Final = "Cannot {verb} an index that is not a GlobalSecondaryIndex: {index}"
TOO_MANY_INDEXES: Final = (
    "Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit of 20"
)
ONE_AT_A_TIME: Final = (
    "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously "
    "per table"
)

# Throughput
UNITS_NEEDED: Final = (
    INVALID + "ProvisionedThroughput must be specified when BillingMode is PROVISIONED"
)
INDEX_UNITS_NEEDED: Final = INVALID + "ProvisionedThroughput must be specified for index: {index}"
BOTH_UNITS_NEEDED: Final = (
    INVALID + "Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: {index}"
)
INDEX_ON_DEMAND: Final = (
    INVALID + "The only Updates for index: {index} when TableThroughputMode is PAY_PER_REQUEST "
    "can be to OnDemandThroughput, WarmThroughput"
)
MAXIMUM_PROVISIONED: Final = (
    INVALID + "{member} for OnDemandThroughput cannot be specified when the table BillingMode is "
    "PROVISIONED"
)
WARM_FALLS: Final = (
    INVALID + "Requested {member} for WarmThroughput for {resource} is lower than current "
    "WarmThroughput, decreasing WarmThroughput is not supported"
)
UNCHANGED: Final = (
    "The provisioned throughput for the {which} will not change. The requested value equals the "
    "current value. Current ReadCapacityUnits provisioned for the {kind}: {read}. Requested "
    "ReadCapacityUnits: {read}. Current WriteCapacityUnits provisioned for the {kind}: {write}. "
    "Requested WriteCapacityUnits: {write}. Refer to the Amazon DynamoDB Developer Guide for "
    "current limits and how to request higher limits."
)

# Stream and encryption
VIEW_NEEDED: Final = INVALID + "If stream is being enabled then UpdateViewType is required"
VIEW_NOT_ALLOWED: Final = (
    INVALID + "If stream is being disabled, then UpdateViewType must not be specified"
)
STREAM_IS_ON: Final = "Table already has an enabled stream: TableName: {table}"
STREAM_IS_OFF: Final = "Table has no stream to disable: TableName: {table}"
SSE_IS_DEFAULT: Final = INVALID + "Table is already encrypted by default"
SSE_IS_SAME: Final = (
    INVALID + "Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId parameter "
    "if you want to change Master Key"
)

#: Members that ask for a change; AttributeDefinitions alone is none.
_CHANGES: Final = (
    "ProvisionedThroughput",
    "BillingMode",
    "StreamSpecification",
    "GlobalSecondaryIndexUpdates",
    "VectorIndexUpdates",
    "SSESpecification",
    "ReplicaUpdates",
    "MultiRegionConsistency",
    "GlobalTableWitnessUpdates",
    "GlobalTableSettingsReplicationMode",
    "DisassociationProtectionEnabled",
    "DeletionProtectionEnabled",
    "OnDemandThroughput",
    "WarmThroughput",
    "TableClass",
)
#: Members that must stand alone, with the name their message gives them (UT-2).
_ALONE: Final = {
    "SSESpecification": "Server-Side Encryption modification",
    "TableClass": "TableClass modification",
    "DeletionProtectionEnabled": "DeletionProtection modification",
    "ReplicaUpdates": "Replica modification",
    "DisassociationProtectionEnabled": "DisassociationProtection modification",
    "WarmThroughput": "WarmThroughput",
}
_TOGETHER: Final = {
    "ReplicaUpdates": {"ReplicaUpdates", "MultiRegionConsistency", "GlobalTableWitnessUpdates"}
}
_UNITS: Final = {"ProvisionedThroughput", "BillingMode"}


def changes_of(request: Wire) -> set[str]:
    """Return the members of a request that ask for a change; an empty list is none."""
    return {name for name in _CHANGES if request.get(name) not in (None, [])}


def actions_of(request: Wire, kind: str) -> list[Wire]:
    """Return the Create, Update or Delete actions on indexes, in order."""
    updates = request.get("GlobalSecondaryIndexUpdates") or ()
    return [update[kind] for update in updates if update.get(kind) is not None]


def index_moves(request: Wire) -> list[Wire]:
    """Return every Create and Delete action, on indexes of either kind (UT-13, VIX-12)."""
    updates = (
        *(request.get("GlobalSecondaryIndexUpdates") or ()),
        *(request.get("VectorIndexUpdates") or ()),
    )
    actions = (update.get(kind) for update in updates for kind in ("Create", "Delete"))
    return [action for action in actions if action is not None]


def something_changes(request: Wire) -> None:
    """Refuse a request that asks for nothing (UT-1, ERR-UT-2)."""
    if not changes_of(request):
        raise errors.RequestFault(NOTHING_TO_DO)


def changes_go_together(request: Wire) -> None:
    """Refuse changes that exclude each other (UT-2, ERR-UT-3)."""
    changes = changes_of(request)
    moves_index = bool(index_moves(request))
    if "WarmThroughput" in changes and actions_of(request, "Create"):
        raise errors.ValidationException(CREATE_AND_WARM)
    for member, what in _ALONE.items():
        if member in changes and not changes <= _TOGETHER.get(member, {member}):
            raise errors.ValidationException(ALONE.format(what=what))
    if "OnDemandThroughput" in changes and changes - {"OnDemandThroughput", "BillingMode"}:
        raise errors.ValidationException(MAXIMUM_COMBINED)
    if changes & _UNITS:
        if "StreamSpecification" in changes:
            raise errors.ValidationException(STREAM_AND_UNITS)
        if moves_index:
            raise errors.ValidationException(INDEX_AND_UNITS)
    if moves_index and "StreamSpecification" in changes:
        raise errors.ValidationException(INDEX_AND_STREAM)


def index_updates_are_well_formed(request: Wire) -> None:
    """Refuse index updates that say nothing, or too much at once (UT-7, UT-8, ERR-UT-4)."""
    updates = request.get("GlobalSecondaryIndexUpdates")
    if updates == []:
        raise errors.ValidationException(EMPTY_UPDATES)
    seen: set[str] = set()
    for update in updates or ():
        actions = [update[kind] for kind in ("Update", "Create", "Delete") if update.get(kind)]
        if not actions:
            raise errors.ValidationException(NO_ACTION)
        if len(actions) > 1:
            raise errors.ValidationException(SEVERAL_ACTIONS)
        name = actions[0]["IndexName"]
        if name in seen:
            raise errors.ValidationException(SEVERAL_UPDATES.format(index=name))
        seen.add(name)
    for index in actions_of(request, "Create"):
        if request.get("AttributeDefinitions") is None:
            raise errors.ValidationException(NO_DEFINITIONS.format(index=index["IndexName"]))


def throughput_fits(request: Wire, table: Table, mode: str) -> None:
    """Refuse units that do not fit the table's mode to be (UT-4, UT-5, ERR-UT-5)."""
    throughput = request.get("ProvisionedThroughput")
    if mode == "PAY_PER_REQUEST":
        if throughput is not None:
            raise errors.ValidationException(rules.NO_UNITS_ON_DEMAND)
    elif throughput is None and request.get("BillingMode") is not None:
        raise errors.ValidationException(UNITS_NEEDED)
    rules.units_are_in_bounds(throughput)
    updates = {action["IndexName"]: action for action in actions_of(request, "Update")}
    for name, action in updates.items():
        _index_units_fit(name, action, mode)
    if mode == "PROVISIONED" and table.resource.throughput.on_demand:
        for index in table.global_indexes:
            name = index.schema.name
            if updates.get(name, {}).get("ProvisionedThroughput") is None:
                raise errors.ValidationException(INDEX_UNITS_NEEDED.format(index=name))


def _index_units_fit(name: str, action: Wire, mode: str) -> None:
    throughput = action.get("ProvisionedThroughput")
    if mode == "PAY_PER_REQUEST":
        if throughput is not None:
            raise errors.ValidationException(INDEX_ON_DEMAND.format(index=name))
    elif (
        throughput is None
        and not action.get("OnDemandThroughput")
        and not action.get("WarmThroughput")
    ):
        raise errors.ValidationException(BOTH_UNITS_NEEDED.format(index=name))
    rules.units_are_in_bounds(throughput)


def maximum_fits(holder: Wire, mode: str, quota: int) -> None:
    """Refuse a maximum on a provisioned resource, or out of range; -1 removes one (UT-6)."""
    rules.on_demand_maximum_fits(holder, mode, quota, MAXIMUM_PROVISIONED, also=(-1,))


def warm_throughput_rises(holder: Wire, warm: tuple[int, int], quota: int) -> None:
    """Refuse warm throughput below what there is, or above the quota (CAP-509)."""
    index = holder.get("IndexName")
    resource = "table" if index is None else f"index {index}"
    throughput = holder.get("WarmThroughput") or {}
    members = ("ReadUnitsPerSecond", "WriteUnitsPerSecond")
    for member, current in zip(members, warm, strict=True):
        n = throughput.get(member)
        if n is not None and n < current:
            raise errors.ValidationException(WARM_FALLS.format(member=member, resource=resource))
        if n is not None and n > quota:
            raise errors.ValidationException(
                rules.WARM_RANGE.format(member=member, resource=resource)
            )


def units_change(current: Throughput, wanted: Throughput, index: str | None = None) -> None:
    """Refuse provisioned throughput that is what it was (UT-4, ERR-UT-5).

    Assumed: the second half of the text for an index.
    """
    if current.on_demand or (current.read, current.write) != (wanted.read, wanted.write):
        return
    which = "table" if index is None else f"index {index}"
    kind = "table" if index is None else "index"
    raise errors.ValidationException(
        UNCHANGED.format(which=which, kind=kind, read=wanted.read, write=wanted.write)
    )


def indexes_fit_the_table(request: Wire, table: Table, mode: str) -> None:
    """Refuse index changes that the table's indexes rule out (UT-12, ERR-UT-6)."""
    for action in actions_of(request, "Create"):
        if action["IndexName"] in table.indexes:
            raise errors.ValidationException(INDEX_EXISTS)
        new_index_is_well_formed(action, request, table, mode)
    for verb in ("Update", "Delete"):
        for action in actions_of(request, verb):
            global_index(table, action["IndexName"], verb.lower())


def global_index(table: Table, name: str, verb: str) -> Index:
    """Return the global index to change, or say that it is none."""
    index = table.indexes.get(name)
    if index is None:
        raise errors.ResourceNotFoundException(NO_INDEX.format(index=name, table=table.name))
    if not index.schema.is_global:
        raise errors.ValidationException(NOT_GLOBAL.format(verb=verb, index=name))
    return index


def new_index_is_well_formed(action: Wire, request: Wire, table: Table, mode: str) -> None:
    """Refuse a new index as CreateTable would (MAK-10 to MAK-17, ERR-CT-11, ERR-CT-12)."""
    new_keys_are_defined(action, rules.names_of(request["AttributeDefinitions"]))
    rules.definitions_are_unique(request)
    rules.global_key_is_well_formed(action["KeySchema"])
    index_keys_keep_their_types(action, request, table)
    rules.projection_is_complete(action["Projection"])
    names = sum(len(schema.projection.names) for schema in table.index_schemas)
    names += len(action["Projection"].get("NonKeyAttributes") or ())
    rules.projected_names_are_not_too_many(names)
    rules.index_throughput_fits(action, mode)
    rules.on_demand_maximum_fits(action, mode, table.settings.table_quota)
    rules.warm_throughput_fits(action, mode, table.settings)


def new_keys_are_defined(action: Wire, defined: Sequence[str]) -> None:
    """Refuse a new index whose key the request does not define, whatever the table has (MAK-17).

    Observed: the public suite in October 2026: the table's definitions do not count; a tutorial's
    reader in 2019: the words for a key of two attributes.
    """
    key = rules.names_of(action["KeySchema"])
    if len(key) == 2 and not set(key) <= set(defined):
        raise errors.ValidationException(rules.NO_DEFINITION)
    rules.index_keys_are_defined([action], defined)


def index_keys_keep_their_types(action: Wire, request: Wire, table: Table) -> None:
    """Refuse a new index that gives another index's key attribute a new type (MAK-17).

    Observed: ScyllaDB's tests, run against the service, for keys of one attribute. Assumed: how
    several are listed. A key attribute of the table keeps its type, without an error.
    """
    wanted = key_elements(action, request)
    new_types = {name: type_name for name, type_name, _ in wanted}
    for index in table.global_indexes:
        existing = key_roles(index.schema.key)
        if any(new_types.get(name, type_name) != type_name for name, type_name, _ in existing):
            raise errors.ValidationException(
                REDEFINED.format(existing=schema_text(existing), new=schema_text(wanted))
            )


def key_elements(action: Wire, request: Wire) -> list[tuple[str, str | None, str]]:
    """Return name, type and role of each attribute of a new index's key."""
    types = load_types(request["AttributeDefinitions"])
    return [
        (name, types.get(name), element["KeyType"])
        for element in action["KeySchema"]
        for name in (element["AttributeName"],)
    ]


def key_roles(key: KeySchema) -> list[tuple[str, str, str]]:
    """Return name, type and role of each attribute of a key."""
    roles = ["HASH"] * len(key.partition) + ["RANGE"] * len(key.sort)
    return [(*attribute, role) for attribute, role in zip(key.attributes, roles, strict=True)]


def schema_text(elements: Iterable[tuple[Any, ...]]) -> str:
    """Return how messages write a key: names, types and roles."""
    keys = ", ".join("SchemaElement: key{{{}:{}:{}}}".format(*element) for element in elements)
    return f"Schema:[{keys}]"


def one_index_comes_or_goes(request: Wire) -> None:
    """Refuse to create or delete two indexes in one request, whatever they are (UT-7, UT-13).

    Observed: ScyllaDB's tests, run against the service: also where the indexes do not exist.
    """
    updates = request.get("VectorIndexUpdates") or ()
    if len(actions_of(request, "Create")) + len(actions_of(request, "Delete")) + len(updates) > 1:
        raise errors.LimitExceededException(ONE_AT_A_TIME)


def index_changes_are_few(request: Wire, table: Table, now_ns: int) -> None:
    """Refuse a second index change at a time, and a 21st index (UT-13).

    An index whose backfill runs may be deleted: that ends the backfill.
    Source: Developer Guide, Managing Global Secondary Indexes, deleting during creation.
    """
    created, moves = actions_of(request, "Create"), index_moves(request)
    if not moves:
        return
    named = {action["IndexName"] for action in moves}
    changing: list[Any] = [
        index for index in table.global_indexes if index.status(now_ns) == "CREATING"
    ]
    if table.vectors is not None:
        changing += table.vectors.changing(now_ns)
    changing = [index for index in changing if index.schema.name not in named]
    if len(moves) + len(changing) + len(table.leaving) > 1:
        raise errors.LimitExceededException(ONE_AT_A_TIME)
    if len(table.global_indexes) + len(created) > limits.GLOBAL_INDEXES:
        raise errors.LimitExceededException(TOO_MANY_INDEXES)


def stream_changes(request: Wire, table: Table) -> None:
    """Refuse a stream change that is incomplete or changes nothing (UT-14, ERR-UT-7)."""
    specification = request.get("StreamSpecification")
    if specification is None:
        return
    has_view = specification.get("StreamViewType") is not None
    is_on = table.stream is not None and table.stream.is_open
    if specification["StreamEnabled"]:
        if not has_view:
            raise errors.ValidationException(VIEW_NEEDED)
        if is_on:
            raise errors.ValidationException(STREAM_IS_ON.format(table=table.name))
    else:
        if has_view:
            raise errors.ValidationException(VIEW_NOT_ALLOWED)
        if not is_on:
            raise errors.ValidationException(STREAM_IS_OFF.format(table=table.name))


def encryption_changes(request: Wire, table: Table, key_arn: str | None) -> None:
    """Refuse an encryption change that changes nothing (ERR-UT-8).

    Args:
        request: The request.
        table: The table.
        key_arn: The ARN of the key asked for, if one is.
    """
    specification = request.get("SSESpecification")
    if specification is None:
        return
    current = table.options.sse
    if not specification.get("Enabled"):
        if current is None:
            raise errors.ValidationException(SSE_IS_DEFAULT)
    elif current is not None and key_arn in (None, current["KMSMasterKeyArn"]):
        raise errors.ValidationException(SSE_IS_SAME)
