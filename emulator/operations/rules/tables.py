"""Rules about table definitions, in the order of CreateTable (ERR-CT-1).

Each takes the request, or the part it judges, and says what is wrong with it. Null members
inside lists have been refused by the shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from emulator.capacity.units import on_demand_start
from emulator.engine import Account, Throughput
from emulator.model import first_repeat
from emulator.model.wire import INVALID
from emulator.service import errors, limits
from emulator.settings import Settings

Wire: TypeAlias = Mapping[str, Any]

# Throughput
NO_UNITS_ON_DEMAND: Final = (
    INVALID + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
    "BillingMode is PAY_PER_REQUEST"
)
UNITS_NEEDED: Final = (
    INVALID + "ReadCapacityUnits and WriteCapacityUnits must both be specified when "
    "BillingMode is PROVISIONED"
)
OUT_OF_BOUNDS: Final = "Given value {n} for {member} is out of bounds"
INDEX_UNITS_ON_DEMAND: Final = (
    INVALID + "ProvisionedThroughput should not be specified for index: {index} when "
    "BillingMode is PAY_PER_REQUEST"
)
INDEX_UNITS_NEEDED: Final = INVALID + "ProvisionedThroughput is not specified for index: {index}"
MAXIMUM_PROVISIONED: Final = (
    INVALID + "{member} for OnDemandThroughput{resource} cannot be specified when table "
    "BillingMode is PROVISIONED."
)
MAXIMUM_RANGE: Final = (
    INVALID + "Requested {member} for OnDemandThroughput for {resource} is outside of valid range"
)
WARM_BELOW_START: Final = (
    INVALID + "Requested {member} for WarmThroughput for {resource} is lower than initial "
    "throughput for OnDemand. See: {url}"
)
WARM_BELOW_PROVISIONED: Final = (
    INVALID + "Requested {member} for WarmThroughput for {resource} is lower than {units} of "
    "ProvisionedThroughput"
)
WARM_RANGE: Final = (
    INVALID + "Requested {member} for WarmThroughput for {resource} is outside of valid range"
)
_WARM_URL: Final = (
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"
    "on-demand-capacity-mode.html#on-demand-capacity-mode-initial"
)
TABLE_QUOTA: Final = (
    "Subscriber limit exceeded: Provisioned {member} exceeds the per-table limit of {quota}"
)
ACCOUNT_QUOTA: Final = (
    "Subscriber limit exceeded: Provisioned {member} exceeds the account limit of {quota}"
)
_MOST_UNITS: Final = 1_000_000_000_000

# Keys
NO_DEFINITION: Final = "Invalid KeySchema: Some index key attribute have no definition"
UNDEFINED: Final = (
    INVALID + "Some index key attributes are not defined in AttributeDefinitions. "
    "Keys: [{missing}], AttributeDefinitions: [{defined}]"
)
COUNT_DIFFERS: Final = (
    INVALID + "Number of attributes in KeySchema does not exactly match number of attributes "
    "defined in AttributeDefinitions"
)
UNUSED: Final = (
    INVALID + "Some AttributeDefinitions are not used. AttributeDefinitions: [{defined}], "
    "keys used: [{used}]"
)
DUPLICATE_DEFINITION: Final = "Attribute Name is duplicated: {name}"
FIRST_NOT_HASH: Final = "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"
SECOND_NOT_RANGE: Final = "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"
SAME_NAME: Final = "Both the Hash Key and the Range Key element in the KeySchema have the same name"
SAME_NAMES: Final = "The KeySchema contains multiple key attributes with the same name"
HASH_AFTER_RANGE: Final = (
    INVALID + "All HASH key attributes must precede RANGE key attributes in the KeySchema"
)
TOO_MANY_ATTRIBUTES: Final = (
    INVALID + "The KeySchema exceeds the maximum allowed number of {role} key attributes"
)

# Indexes
EMPTY_INDEX_LIST: Final = INVALID + "List of {member} is empty"
LOCAL_NEEDS_SORT_KEY: Final = (
    INVALID + "Table KeySchema does not have a range key, which is required when specifying a "
    "LocalSecondaryIndex"
)
LOCAL_WITHOUT_SORT_KEY: Final = (
    INVALID + "Index KeySchema does not have a range key for index: {index}"
)
LOCAL_OTHER_PARTITION_KEY: Final = (
    INVALID + "Index KeySchema does not have the same leading hash key as table KeySchema for "
    "index: {index}. index hash key: {given}, table hash key: {wanted}"
)
TOO_MANY_LOCAL: Final = INVALID + "Number of LocalSecondaryIndexes exceeds per-table limit of 5"
TOO_MANY_GLOBAL: Final = INVALID + "GlobalSecondaryIndex count exceeds the per-table limit of 20"
DUPLICATE_INDEX: Final = INVALID + "Duplicate index name: {index}"
UNKNOWN_PROJECTION: Final = INVALID + "Unknown ProjectionType: null"
NAMES_NOT_ALLOWED: Final = INVALID + "ProjectionType is {kind}, but NonKeyAttributes is specified"
NAMES_NEEDED: Final = INVALID + "ProjectionType is INCLUDE, but NonKeyAttributes is not specified"
DUPLICATE_NAME: Final = INVALID + "Duplicate element in NonKeyAttributes: {name}"
TOO_MANY_NAMES: Final = (
    INVALID + "Number of NonKeyAttributes over all indexes exceeds per-table limit of 100"
)

# Settings
VIEW_NEEDED: Final = (
    INVALID + "Table is being created with a stream enabled, UpdateViewType is required"
)
VIEW_NOT_ALLOWED: Final = (
    INVALID + "Table is being created with a stream disabled, UpdateViewType should not be "
    "specified"
)
SSE_TYPE_DISABLED: Final = INVALID + "SSEType can not be specified if Enabled is false"
SSE_KEY_DISABLED: Final = INVALID + "KMSMasterKeyId can not be specified if Enabled is false"
SSE_KEY_NEEDS_KMS: Final = INVALID + "SSEType KMS is required if KMSMasterKeyId is specified"
SSE_AES256: Final = INVALID + "SSEType AES256 is not supported"
TABLE_CLASS: Final = (
    "Invalid table-class parameter provided. Please try again with a valid table-class value: "
    "[STANDARD, STANDARD_INFREQUENT_ACCESS]."
)
TABLE_CLASSES: Final = ("STANDARD", "STANDARD_INFREQUENT_ACCESS")


def billing(request: Wire) -> str:
    """Return the billing mode a CreateTable request asks for (CT-1)."""
    mode: str = request.get("BillingMode") or "PROVISIONED"
    return mode


def indexes(request: Wire) -> list[Wire]:
    """Return the definitions of all indexes of a request, global ones first."""
    return [
        *(request.get("GlobalSecondaryIndexes") or ()),
        *(request.get("LocalSecondaryIndexes") or ()),
    ]


def names_of(elements: Sequence[Wire]) -> list[str]:
    """Return the attribute names of a schema or of AttributeDefinitions, in order."""
    return [element["AttributeName"] for element in elements]


def throughput_fits_the_billing_mode(request: Wire) -> None:
    """Refuse units with on-demand billing, and provisioned billing without (CT-4, ERR-CT-2)."""
    has_units = request.get("ProvisionedThroughput") is not None
    if billing(request) == "PAY_PER_REQUEST":
        if has_units:
            raise errors.ValidationException(NO_UNITS_ON_DEMAND)
    elif not has_units:
        raise errors.ValidationException(UNITS_NEEDED)


def table_units_are_in_bounds(request: Wire) -> None:
    """Refuse units that no table could have (ERR-CT-3)."""
    units_are_in_bounds(request.get("ProvisionedThroughput"))


def units_are_in_bounds(throughput: Wire | None) -> None:
    """Refuse units that no table or index could have (ERR-CT-3)."""
    for member in ("ReadCapacityUnits", "WriteCapacityUnits"):
        n = (throughput or {}).get(member, 0)
        if n > _MOST_UNITS:
            raise errors.ValidationException(OUT_OF_BOUNDS.format(n=n, member=member))


def units_are_within_the_quotas(
    account: Account, table_name: str, wanted: Sequence[Throughput]
) -> None:
    """Refuse more provisioned units than a table or an account may have (CAP-615).

    Assumed: the texts, and that each index counts as a table does.

    Args:
        account: The account, with the throughput of its other tables.
        table_name: The table to be made or changed.
        wanted: The throughput of the table and of each of its global indexes.
    """
    others = [
        resource.throughput
        for table in account.visible_tables().values()
        if table.name != table_name
        for resource in table.resources()
    ]
    for axis, member in (("read", "ReadCapacityUnits"), ("write", "WriteCapacityUnits")):
        units = [getattr(throughput, axis) for throughput in wanted]
        quota = account.settings.table_quota
        if max(units) > quota:
            raise errors.LimitExceededException(TABLE_QUOTA.format(member=member, quota=quota))
        quota = account.settings.account_quota
        if sum(units) + sum(getattr(throughput, axis) for throughput in others) > quota:
            raise errors.LimitExceededException(ACCOUNT_QUOTA.format(member=member, quota=quota))


def keys_are_defined(request: Wire) -> None:
    """Refuse a key attribute without a definition (CT-3, ERR-CT-4, MAK-16).

    Observed: createTable.test.ts, "duplicate attribute in KeySchema", 2026.
    """
    defined = names_of(request["AttributeDefinitions"])
    key = names_of(request["KeySchema"])
    if not defined:
        raise errors.ValidationException(NO_DEFINITION)
    if len(key) == 2 and (
        not set(key) <= set(defined) or (key[0] == key[1] and len(defined) != len(key))
    ):
        raise errors.ValidationException(NO_DEFINITION)
    index_keys_are_defined([request, *indexes(request)], defined)


def index_keys_are_defined(holders: Sequence[Wire], defined: Sequence[str]) -> None:
    """Refuse a KeySchema with attributes that have no definition (MAK-16, MAK-17)."""
    for holder in holders:
        names = dict.fromkeys(names_of(holder["KeySchema"]))
        missing = [name for name in names if name not in defined]
        if missing:
            raise errors.ValidationException(
                UNDEFINED.format(missing=", ".join(missing), defined=", ".join(defined))
            )


def index_key_names_differ(request: Wire) -> None:
    """Refuse a global index whose key names an attribute twice (MAK-13).

    Observed: ScyllaDB's tests, run against the service: reported before an unused definition.
    """
    for index in request.get("GlobalSecondaryIndexes") or ():
        _key_names_differ(index["KeySchema"])


def definitions_are_used(request: Wire) -> None:
    """Refuse a definition that no key and no search schema uses (CT-3, ERR-CT-5, VIX-5)."""
    defined = set(names_of(request["AttributeDefinitions"]))
    searched = {
        name
        for index in request.get("VectorIndexes") or ()
        for name in names_of(index.get("SearchSchema") or ())
    }
    if not indexes(request) and not searched:
        if len(request["KeySchema"]) != len(defined):
            raise errors.ValidationException(COUNT_DIFFERS)
        return
    used = {
        name for holder in (request, *indexes(request)) for name in names_of(holder["KeySchema"])
    } | searched
    if defined != used:
        raise errors.ValidationException(
            UNUSED.format(defined=", ".join(sorted(defined)), used=", ".join(sorted(used)))
        )


def definitions_are_unique(request: Wire) -> None:
    """Refuse an attribute that is defined twice (ERR-CT-6)."""
    name = _first_repeated(names_of(request["AttributeDefinitions"]))
    if name is not None:
        raise errors.ValidationException(DUPLICATE_DEFINITION.format(name=name))


def table_key_is_well_formed(elements: Sequence[Wire]) -> None:
    """Refuse a key other than HASH, or HASH and RANGE (CT-2, ERR-CT-7, MAK-15)."""
    if elements[0]["KeyType"] != "HASH":
        raise errors.ValidationException(FIRST_NOT_HASH)
    if len(elements) == 2:
        if elements[1]["KeyType"] != "RANGE":
            raise errors.ValidationException(SECOND_NOT_RANGE)
        if elements[0]["AttributeName"] == elements[1]["AttributeName"]:
            raise errors.ValidationException(SAME_NAME)


def global_key_is_well_formed(elements: Sequence[Wire]) -> None:
    """Refuse a key other than one to four HASH, then none to four RANGE (MAK-2, MAK-10 to MAK-13).

    Assumed: the order of the faults, and the text for two equal names (MAK-13, MAK-18).
    """
    roles = [element["KeyType"] for element in elements]
    if roles[0] != "HASH":
        raise errors.ValidationException(FIRST_NOT_HASH)
    if roles != sorted(roles):
        raise errors.ValidationException(HASH_AFTER_RANGE)
    for role, most in (
        ("HASH", limits.INDEX_PARTITION_ATTRIBUTES),
        ("RANGE", limits.INDEX_SORT_ATTRIBUTES),
    ):
        if roles.count(role) > most:
            raise errors.ValidationException(TOO_MANY_ATTRIBUTES.format(role=role))
    _key_names_differ(elements)


def _key_names_differ(elements: Sequence[Wire]) -> None:
    names = names_of(elements)
    if len(set(names)) < len(names):
        roles = [element["KeyType"] for element in elements]
        raise errors.ValidationException(SAME_NAME if roles == ["HASH", "RANGE"] else SAME_NAMES)


def keys_are_well_formed(request: Wire) -> None:
    """Refuse a malformed key of the table, a global or a local index, in this order."""
    table_key_is_well_formed(request["KeySchema"])
    for index in request.get("GlobalSecondaryIndexes") or ():
        global_key_is_well_formed(index["KeySchema"])
    for index in request.get("LocalSecondaryIndexes") or ():
        table_key_is_well_formed(index["KeySchema"])


def index_lists_are_not_empty(request: Wire) -> None:
    """Refuse a list of no indexes (ERR-CT-8)."""
    for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        if request.get(member) == []:
            raise errors.ValidationException(EMPTY_INDEX_LIST.format(member=member))


def local_indexes_share_the_partition_key(request: Wire) -> None:
    """Refuse local indexes that do not refine the table's key (CT-5, ERR-CT-9)."""
    table_key = request["KeySchema"]
    for index in request.get("LocalSecondaryIndexes") or ():
        if len(table_key) < 2:
            raise errors.ValidationException(LOCAL_NEEDS_SORT_KEY)
        name, key = index["IndexName"], index["KeySchema"]
        if len(key) < 2:
            raise errors.ValidationException(LOCAL_WITHOUT_SORT_KEY.format(index=name))
        actual, wanted = key[0]["AttributeName"], table_key[0]["AttributeName"]
        if actual != wanted:
            raise errors.ValidationException(
                LOCAL_OTHER_PARTITION_KEY.format(index=name, given=actual, wanted=wanted)
            )


def indexes_are_not_too_many(request: Wire) -> None:
    """Refuse more than 5 local or 20 global indexes (CT-5, CT-6, ERR-CT-10)."""
    if len(request.get("LocalSecondaryIndexes") or ()) > limits.LOCAL_INDEXES:
        raise errors.ValidationException(TOO_MANY_LOCAL)
    if len(request.get("GlobalSecondaryIndexes") or ()) > limits.GLOBAL_INDEXES:
        raise errors.ValidationException(TOO_MANY_GLOBAL)


def index_names_are_unique(request: Wire) -> None:
    """Refuse two indexes of one name, global or local (CT-7, ERR-CT-10)."""
    name = _first_repeated([index["IndexName"] for index in indexes(request)])
    if name is not None:
        raise errors.ValidationException(DUPLICATE_INDEX.format(index=name))


def projections_are_complete(request: Wire) -> None:
    """Refuse projections that say too little or too much (CT-8, ERR-CT-11)."""
    count = 0
    for index in indexes(request):
        projection_is_complete(index["Projection"])
        count += len(index["Projection"].get("NonKeyAttributes") or ())
    projected_names_are_not_too_many(count)


def projection_is_complete(projection: Wire) -> None:
    """Refuse a projection that says too little or too much (CT-8, ERR-CT-11)."""
    kind, names = projection.get("ProjectionType"), projection.get("NonKeyAttributes")
    if kind is None:
        raise errors.ValidationException(UNKNOWN_PROJECTION)
    if kind != "INCLUDE" and names is not None:
        raise errors.ValidationException(NAMES_NOT_ALLOWED.format(kind=kind))
    if kind == "INCLUDE" and names is None:
        raise errors.ValidationException(NAMES_NEEDED)
    repeated = _first_repeated(names or ())
    if repeated is not None:
        raise errors.ValidationException(DUPLICATE_NAME.format(name=repeated))


def projected_names_are_not_too_many(count: int) -> None:
    """Refuse more than 100 INCLUDE attributes over all indexes of a table (CT-8).

    Assumed: the text.
    """
    if count > limits.PROJECTED_ATTRIBUTES:
        raise errors.ValidationException(TOO_MANY_NAMES)


def index_throughput_fits_the_billing_mode(request: Wire) -> None:
    """Refuse a global index with units on demand, or provisioned without (ERR-CT-12)."""
    for index in request.get("GlobalSecondaryIndexes") or ():
        index_throughput_fits(index, billing(request))


def index_throughput_fits(index: Wire, mode: str) -> None:
    """Refuse a global index whose throughput does not fit its table's billing mode."""
    throughput, name = index.get("ProvisionedThroughput"), index["IndexName"]
    if mode == "PAY_PER_REQUEST" and throughput is not None:
        raise errors.ValidationException(INDEX_UNITS_ON_DEMAND.format(index=name))
    if mode == "PROVISIONED" and throughput is None:
        raise errors.ValidationException(INDEX_UNITS_NEEDED.format(index=name))
    units_are_in_bounds(throughput)


def stream_names_its_view(request: Wire) -> None:
    """Refuse a stream without a view, and a view without a stream (CT-9, ERR-CT-13)."""
    stream = request.get("StreamSpecification")
    if stream is None:
        return
    has_view = stream.get("StreamViewType") is not None
    if stream["StreamEnabled"] and not has_view:
        raise errors.ValidationException(VIEW_NEEDED)
    if has_view and not stream["StreamEnabled"]:
        raise errors.ValidationException(VIEW_NOT_ALLOWED)


def maxima_and_warm_throughput_fit(request: Wire, settings: Settings) -> None:
    """Refuse maxima and warm throughput that cannot be (CT-12, CT-13, ERR-CT-14)."""
    mode = billing(request)
    on_demand_maximum_fits(request, mode, settings.table_quota)
    warm_throughput_fits(request, mode, settings)
    for index in request.get("GlobalSecondaryIndexes") or ():
        on_demand_maximum_fits(index, mode, settings.table_quota)
        warm_throughput_fits(index, mode, settings)


def on_demand_maximum_fits(
    holder: Wire,
    mode: str,
    quota: int,
    provisioned: str = MAXIMUM_PROVISIONED,
    *,
    also: tuple[int, ...] = (),
) -> None:
    """Refuse a maximum on a provisioned resource, or out of range.

    Assumed: the upper end of the range is the table's quota; an index is named as shown.

    Args:
        holder: The table or index with the maximum.
        mode: The billing mode.
        quota: The highest maximum.
        provisioned: The message for one on a provisioned resource.
        also: Values that are allowed though they are no maximum.
    """
    index = holder.get("IndexName")
    maxima = holder.get("OnDemandThroughput") or {}
    for member in ("MaxReadRequestUnits", "MaxWriteRequestUnits"):
        n = maxima.get(member)
        if n is None:
            continue
        if mode == "PROVISIONED":
            resource = "" if index is None else f" for index : {index}"
            raise errors.ValidationException(provisioned.format(member=member, resource=resource))
        if n not in also and not 1 <= n <= quota:
            resource = "table" if index is None else f"index : {index}"
            raise errors.ValidationException(MAXIMUM_RANGE.format(member=member, resource=resource))


def warm_throughput_fits(holder: Wire, mode: str, settings: Settings) -> None:
    """Refuse warm throughput below what the resource has anyway, or above its quota (CAP-509).

    Assumed: the text above the quota, and the address in the text below the start.
    """
    index = holder.get("IndexName")
    resource = "table" if index is None else f"index {index}"
    warm = holder.get("WarmThroughput") or {}
    provisioned = holder.get("ProvisionedThroughput") or {}
    read_start, write_start = on_demand_start(settings.on_demand_partitions)
    for member, units, start in (
        ("ReadUnitsPerSecond", "ReadCapacityUnits", read_start),
        ("WriteUnitsPerSecond", "WriteCapacityUnits", write_start),
    ):
        n = warm.get(member)
        if n is None:
            continue
        if mode == "PAY_PER_REQUEST" and n < start:
            raise errors.ValidationException(
                WARM_BELOW_START.format(member=member, resource=resource, url=_WARM_URL)
            )
        if mode == "PROVISIONED" and n < provisioned[units]:
            raise errors.ValidationException(
                WARM_BELOW_PROVISIONED.format(member=member, resource=resource, units=units)
            )
        if n > settings.table_quota:
            raise errors.ValidationException(WARM_RANGE.format(member=member, resource=resource))


def encryption_is_consistent(request: Wire) -> None:
    """Refuse combinations of SSE members that contradict each other (CT-10, ERR-CT-15)."""
    specification = request.get("SSESpecification")
    if specification is None:
        return
    kind, key = specification.get("SSEType"), specification.get("KMSMasterKeyId")
    if not specification.get("Enabled"):
        if kind is not None:
            raise errors.ValidationException(SSE_TYPE_DISABLED)
        if key is not None:
            raise errors.ValidationException(SSE_KEY_DISABLED)
    if key is not None and kind != "KMS":
        raise errors.ValidationException(SSE_KEY_NEEDS_KMS)
    if kind == "AES256":
        raise errors.ValidationException(SSE_AES256)


def table_class_exists(request: Wire) -> None:
    """Refuse an unknown table class (CT-11, ERR-CT-15)."""
    table_class = request.get("TableClass")
    if table_class is not None and table_class not in TABLE_CLASSES:
        raise errors.ValidationException(TABLE_CLASS)


def _first_repeated(names: Sequence[str]) -> str | None:
    index = first_repeat(names)
    return None if index is None else names[index]
