"""Static advice on a declared table: what its keys, indexes and capacity will lead to.

There is no workload here, so a rule can only go by names and numbers; it says so by its
severity. ``dynamometer lab`` measures what these rules suspect.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from emulator.capacity.prices import STANDARD
from emulator.capacity.units import WRITE, partition_count
from emulator.designs.catalogue import RULES as KNOWN
from emulator.designs.declared import DeclaredTable, Wire
from emulator.designs.findings import Finding
from emulator.service import errors, limits

#: Assumed: attributes whose names end in one of these words have few values.
FEW_VALUES: Final = frozenset(
    {
        *("status", "state", "type", "kind", "category", "class", "level", "priority", "severity"),
        *("country", "region", "continent", "language", "currency", "gender", "role", "flag"),
        *("stage", "env", "environment", "tier", "plan", "enabled", "active", "deleted"),
        *("archived", "visible", "published", "bool", "boolean", "disabled", "abandoned"),
        *("completed", "processed", "approved", "verified", "paid", "locked", "expired"),
        *("brand", "genre", "timezone", "shard", "bucket"),
    }
)
#: Assumed: so have the ids of these; that of a type or status is mostly the id of something else.
_FEW_IDS: Final = frozenset(
    {"category", "country", "region", "language", "currency", "brand", "genre", "shard", "bucket"}
)
#: Assumed: so have those that end in one of these without a separator, such as orderstatus.
_FEW_VALUES_ENDINGS: Final = ("status", "state", "type", "category", "country", "gender")
_OTHER_WORDS: Final = ("estate", "interstate", "prototype", "archetype", "genotype", "phenotype")
#: Assumed: attributes whose names end in one of these words follow the clock.
TIMES: Final = frozenset(
    {
        *("date", "day", "hour", "minute", "second", "month", "quarter", "week", "year"),
        *("time", "timestamp", "datetime", "ts", "epoch", "created", "updated", "modified"),
        *("yyyy", "yyyymm", "yyyymmdd", "yyyymmddhh"),
    }
)
#: Assumed: of two words the first tells, too, if it is one of these: month_tenant, tenant_month.
_STRETCHES: Final = frozenset({"date", "day", "hour", "month", "quarter", "week", "year"})
#: Words after which the one before them only tells of what something is the name.
_NAMES: Final = frozenset({"id", "ids", "uuid", "key", "code", "name", "number", "arn", "of"})
#: Assumed: attributes so called hold keys of several kinds of items.
_GENERIC: Final = re.compile(
    r"(?:(?:gsi|lsi|gs|ls|index|idx)\d*)?(?:pk|sk|(?:hash|range|partition|sort)key|key)?\d*|id\d+"
)
#: Assumed: tables with one of these words in their names record events; old ones are rarely read.
HAPPENINGS: Final = frozenset(
    {
        *("event", "log", "metric", "reading", "measurement", "session", "telemetry", "history"),
        *("audit", "click", "message", "notification", "token", "cache", "job", "trace"),
    }
)
_WORDS: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_MANY_INDEXES: Final = 5
_SAMPLES: Final = 10
_SAMPLE_SHARE: Final = 0.5
_JOINED_SAMPLES: Final = 2


class DeclaredResource(NamedTuple):
    """The table, or one of its global indexes, as rules see it."""

    name: str
    is_index: bool
    partition: tuple[str, ...]
    sort: tuple[str, ...]
    units: Mapping[str, int]

    def finding(self, rule: str, attribute: str, message: str, fix: str) -> Finding:
        """Return the finding of a rule about it, as grave as the rule is."""
        return Finding(rule, KNOWN[rule].severity, self.name, message, fix, attribute)


#: Answers a request by operation name, as ``Emulator.call`` does.
Call = Callable[[str, dict[str, Any]], object]


def check_table(table: DeclaredTable, call: Call) -> list[Finding]:
    """Return the findings about a table, those of reading it first.

    Args:
        table: What a file declares.
        call: Says whether the service accepts the table; best an account of its own.
    """
    findings = list(table.findings)
    refusal = refused(table, call)
    if refusal is not None:
        return [*findings, refusal]
    for rule in RULES:
        findings += rule(table)
    return findings


def refused(table: DeclaredTable, call: Call) -> Finding | None:
    """Return the service's error for a definition that it does not accept."""
    try:
        call("CreateTable", table.request)
    except errors.ApiError as error:
        message = f"The service refuses this table: {error.message}"
        fix = "Correct the definition; nothing else was checked."
        return Finding("refused", "problem", table.resource, message, fix)
    return None


def resources(table: DeclaredTable) -> Iterator[DeclaredResource]:
    """Yield the table and its global indexes."""
    request = table.request
    for source in (request, *request.get("GlobalSecondaryIndexes", ())):
        index = source.get("IndexName")
        yield DeclaredResource(
            table.resource if index is None else f"{table.resource} {index}",
            index is not None,
            _names(source, "HASH"),
            _names(source, "RANGE"),
            source.get("ProvisionedThroughput", {}),
        )


def _local_indexes(table: DeclaredTable) -> Iterator[DeclaredResource]:
    for source in table.request.get("LocalSecondaryIndexes", ()):
        name = f"{table.resource} {source['IndexName']}"
        keys = (_names(source, "HASH"), _names(source, "RANGE"))
        yield DeclaredResource(name, is_index=True, partition=keys[0], sort=keys[1], units={})


def _names(source: Wire, role: str) -> tuple[str, ...]:
    return tuple(
        element["AttributeName"] for element in source["KeySchema"] if element["KeyType"] == role
    )


def words(name: str) -> list[str]:
    """Return the words of an attribute's name.

    >>> words("createdAt"), words("order_status"), words("GSI1PK")
    (['created', 'at'], ['order', 'status'], ['gsi', '1', 'pk'])
    """
    return [word.lower() for word in _WORDS.findall(name)]


def has_few_values(name: str) -> bool:
    """Return whether an attribute looks as if it had few values.

    >>> [has_few_values(name) for name in ("orderStatus", "isActive", "countryCode", "statusId")]
    [True, True, True, False]
    >>> [has_few_values(name) for name in ("ORDERSTATE", "eventtype", "realestate")]
    [True, True, False]
    """
    parts = words(name) or [""]
    if parts[-1] == "code" and len(parts) > 1:
        parts.pop()
    if parts[-1] == "id" and parts[-2:-1] and parts[-2] in _FEW_IDS:
        parts.pop()
    last = "timezone" if parts[-2:] == ["time", "zone"] else parts[-1]
    joined = last.endswith(_FEW_VALUES_ENDINGS) and not last.endswith(_OTHER_WORDS)
    return parts[0] in ("is", "has") or last in FEW_VALUES or joined


def follows_the_clock(name: str) -> bool:
    """Return whether an attribute looks like a date or time.

    >>> [follows_the_clock(name) for name in ("createdDate", "created_at", "ts", "dateId", "seat")]
    [True, True, True, False, False]
    """
    parts = words(name) or [""]
    is_stretch_first = len(parts) == 2 and parts[0] in _STRETCHES and parts[1] not in _NAMES
    return parts[-1] in TIMES or parts[1:][-1:] == ["at"] or is_stretch_first


def tells_nothing(name: str) -> bool:
    """Return whether an attribute's name says nothing about its values.

    >>> [tells_nothing(name) for name in ("pk", "GSI1PK", "gsi_2_sk", "id1", "id", "userKey")]
    [True, True, True, True, False, False]
    """
    spelled = "".join(words(name))
    return bool(spelled) and _GENERIC.fullmatch(spelled) is not None


def keys_have_many_values(table: DeclaredTable) -> Iterator[Finding]:
    """Warn of partition keys that send much traffic to one partition at a time.

    Source: Developer Guide, designing partition keys to distribute your workload.
    """
    known = _known_attributes(table)
    for resource in resources(table):
        shown = " + ".join(resource.partition)
        # A name that joins others has as many values as they have together.
        names = [own for name in resource.partition for own in _attributes_of(name, known)]
        limit = f"one partition, which carries {limits.PARTITION_WRITE_UNITS:,} writes/s"
        if all(follows_the_clock(name) for name in names):
            message = (
                f"The partition key {shown} follows the clock: what is written now goes to {limit}."
            )
            fix = "Make the id of a thing the partition key and the time the sort key."
            yield resource.finding("time-key", "KeySchema", message, fix)
        elif all(has_few_values(name) or follows_the_clock(name) for name in names):
            message = f"The partition key {shown} seems to have few values; each lives in {limit}."
            fix = (
                f"Add an attribute with many values to the index's key, or a suffix to {shown}."
                if resource.is_index
                else "Choose a key with many values, and put this one into an index."
            )
            yield resource.finding("low-cardinality-key", "KeySchema", message, fix)


def names_tell_their_values(table: DeclaredTable) -> Iterator[Finding]:
    """Report partition keys whose names tell nothing, which no rule here can judge."""
    names = dict.fromkeys(
        name for resource in resources(table) for name in resource.partition if tells_nothing(name)
    )
    if names:
        one = (
            "The name {0} tells nothing about its values"
            if len(names) == 1
            else ("The names {0} tell nothing about their values")
        )
        message = f"{one.format(', '.join(names))}, so hot keys were not looked for."
        fix = (
            f"Run 'dynamometer lab {table.file or 'FILE'}', which says what each key holds and "
            "judges it under the load that you state."
        )
        first, *_ = resources(table)
        yield first.finding("generic-key", "KeySchema", message, fix)


def capacity_is_usable(table: DeclaredTable) -> Iterator[Finding]:
    """Report how many key values it takes to use what is provisioned, if one cannot.

    Source: CAP-501, CAP-502; Assumed: twice as many evenly used keys as partitions (L0).
    """
    for resource in resources(table):
        write = resource.units.get("WriteCapacityUnits", 0)
        read = resource.units.get("ReadCapacityUnits", 0)
        usable_write = min(write, limits.PARTITION_WRITE_UNITS)
        usable_read = min(read, limits.PARTITION_READ_UNITS)
        if (read, write) == (usable_read, usable_write):
            continue
        partitions = partition_count(provisioned=(read, write))
        message = (
            f"{read:,} RCU and {write:,} WCU are spread over {partitions} partitions; one key "
            f"value can use {usable_read:,} RCU and {usable_write:,} WCU of them."
        )
        fix = f"Make sure that traffic is even over at least {2 * partitions} values of the key."
        yield resource.finding("spread", "ProvisionedThroughput", message, fix)


def indexes_keep_up(table: DeclaredTable) -> Iterator[Finding]:
    """Warn of an index with less write capacity than its table.

    Source: Developer Guide, GSI write considerations: the index throttles its table.
    """
    first, *indexes = resources(table)
    write = first.units.get("WriteCapacityUnits", 0)
    for index in indexes:
        units = index.units.get("WriteCapacityUnits", write)
        if units < write:
            message = (
                f"It has {units:,} WCU and its table {write:,}: when the index is full, writes to "
                "the table are throttled."
            )
            fix = f"Give the index {write:,} WCU, or less only if few writes touch its key."
            yield index.finding("index-back-pressure", "ProvisionedThroughput", message, fix)


def projections_are_narrow(table: DeclaredTable) -> Iterator[Finding]:
    """Report indexes that copy every attribute: each write is paid again in full size."""
    indexes = table.request.get("GlobalSecondaryIndexes", ())
    wide = [index for index in indexes if index["Projection"].get("ProjectionType") == "ALL"]
    for index in wide:
        message = "It projects ALL: each write to the table is paid a second time at its full size."
        fix = "Project KEYS_ONLY, or INCLUDE the few attributes that its queries show."
        name = f"{table.resource} {index['IndexName']}"
        yield Finding("wide-projection", "info", name, message, fix, "Projection")
    if len(indexes) >= _MANY_INDEXES:
        message = (
            f"{len(indexes)} global indexes: a write can cost {len(indexes) + 1} times its size."
        )
        fix = "Drop indexes that no frequent access pattern needs, or overload one of them."
        yield Finding(
            "many-indexes", "warning", table.resource, message, fix, "GlobalSecondaryIndexes"
        )


def indexes_differ_from_the_table(table: DeclaredTable) -> Iterator[Finding]:
    """Warn of an index that orders items as its table, or as an index before it, does."""
    first, *indexes = resources(table)
    seen = {(first.partition, first.sort): "its table", (first.partition, ()): "its table"}
    for index in (*indexes, *_local_indexes(table)):
        holder = seen.setdefault((index.partition, index.sort), index.name)
        if holder == index.name:
            continue
        of_table = holder == "its table"
        same = "its table" if of_table else holder.removeprefix(f"{table.resource} ")
        part = "partition key" if index.sort != first.sort and of_table else "key"
        message = f"It has the {part} of {same} and answers no question that {same} does not."
        fix = (
            f"Drop it and query {'the table' if of_table else same}, unless its narrower copy is "
            "read far more often than it is written."
        )
        yield index.finding("redundant-index", "KeySchema", message, fix)


def local_indexes_are_wanted(table: DeclaredTable) -> Iterator[Finding]:
    """Warn that local indexes bound the size of item collections.

    Source: CAP-111.
    """
    local = table.request.get("LocalSecondaryIndexes", ())
    if local:
        names = ", ".join(index["IndexName"] for index in local)
        size = limits.COLLECTION_BYTES // limits.GIB
        message = (
            f"With local indexes ({names}) the items of one partition key value may not exceed "
            f"{size} GB, and the indexes cannot be removed."
        )
        fix = "Use a global index unless strongly consistent index reads are needed."
        yield Finding(
            "collection-limit", "warning", table.resource, message, fix, "LocalSecondaryIndexes"
        )


def provisioned_capacity_pays(table: DeclaredTable) -> Iterator[Finding]:
    """Report when fixed provisioned capacity is dearer than paying per request."""
    mode = table.request.get("BillingMode", "PROVISIONED")
    if mode == "PROVISIONED" and not table.scaled:
        even = f"{STANDARD.break_even(WRITE):.1%}"
        message = f"Capacity does not scale; under {even} average use on-demand is cheaper."
        fix = "Add auto scaling, or use PAY_PER_REQUEST until the load is known."
        yield Finding(
            "fixed-capacity", "info", table.resource, message, fix, "ProvisionedThroughput"
        )


def samples_are_spread(table: DeclaredTable) -> Iterator[Finding]:
    """Report if one key value holds most of the sample items."""
    key = _names(table.request, "HASH")[0]
    values = Counter(_shown(item.get(key)) for item in table.samples)
    if sum(values.values()) < _SAMPLES:
        return
    value, count = values.most_common(1)[0]
    if count > sum(values.values()) * _SAMPLE_SHARE:
        message = f"{count} of {sum(values.values())} sample items have {key} = {value}."
        fix = "If real items are as uneven, divide that value by a suffix or another attribute."
        yield Finding("sample-skew", "info", table.resource, message, fix)


def old_items_expire(table: DeclaredTable) -> Iterator[Finding]:
    """Report tables of what happened, ordered by time, that keep it for ever.

    Source: L0, L4: time to live saves storage.
    """
    first, *_ = resources(table)
    named = {*words(table.request["TableName"]), *words(table.resource)}
    happens = any(word.removesuffix("s") in HAPPENINGS for word in named)
    timed = any(follows_the_clock(name) for name in (*first.partition, *first.sort))
    if table.tells_ttl and table.ttl_attribute is None and happens and timed:
        message = "It holds what happened, in order of time, and no item ever expires."
        fix = "Name an attribute with an expiry time for time to live, or say why all are kept."
        yield first.finding("no-ttl", "TimeToLiveSpecification", message, fix)


def streams_carry_enough(table: DeclaredTable) -> Iterator[Finding]:
    """Report streams with less than both images: their view type is for good.

    Source: L4.
    """
    stream = table.request.get("StreamSpecification") or {}
    view = stream.get("StreamViewType")
    if stream.get("StreamEnabled") and view not in (None, "NEW_AND_OLD_IMAGES"):
        message = (
            f"Its stream carries {view}; a view type cannot be changed, only by a new stream "
            "with a new ARN, to which every consumer must move."
        )
        fix = "Take NEW_AND_OLD_IMAGES unless no consumer will ever want the other image."
        first, *_ = resources(table)
        yield first.finding("stream-view-type", "StreamSpecification", message, fix)


def index_keys_are_attributes(table: DeclaredTable) -> Iterator[Finding]:
    """Report index keys that join several attributes in one text.

    A global index takes up to four attributes for each part of its key.
    Source: L4, MAK-1.
    """
    known = _known_attributes(table)
    for index in list(resources(table))[1:]:
        for name in (*index.partition, *index.sort):
            joined = _joined_names(name, known) or _joined_values(name, table.samples)
            if joined:
                message = (
                    f"The key {name} joins {' and '.join(joined)} in one text, which must be "
                    "written and kept right by hand, and orders numbers as letters."
                )
                fix = (
                    f"Name {', '.join(joined)} as key attributes of the index instead; keep the "
                    "text where a query takes only its beginning, or the index serves several "
                    "kinds of items."
                )
                yield index.finding("concatenated-key", "KeySchema", message, fix)


def _known_attributes(table: DeclaredTable) -> set[str]:
    """Return the attributes that a table's definition and samples name."""
    declared = {entry["AttributeName"] for entry in table.request.get("AttributeDefinitions", ())}
    return declared | {name for item in table.samples for name in item}


def _attributes_of(name: str, known: set[str]) -> list[str]:
    return _joined_names(name, known) or [name]


def _joined_names(name: str, known: set[str]) -> list[str]:
    """Return the attributes that a name is made of, judged by the name.

    >>> _joined_names("tenant_status", {"tenant", "status"}), _joined_names("a#b", set())
    (['tenant', 'status'], ['a', 'b'])
    """
    if "#" in name.strip("#"):
        return [joined for joined in name.split("#") if joined]
    spelled = "".join(words(name))
    for first in known - {name}:
        for second in known - {name, first}:
            left, right = "".join(words(first)), "".join(words(second))
            if left and right and spelled in (left + right, f"{left}and{right}"):
                return [first, second]
    return []


def _joined_values(name: str, samples: Sequence[Wire]) -> list[str]:
    """Return the attributes whose values, joined by ``#``, are the key of every sample item."""
    holders = [item for item in samples if "#" in _shown(item.get(name))]
    if len(holders) < _JOINED_SAMPLES:
        return []
    made: set[tuple[str, ...]] = set()
    for item in holders:
        by_value = {_shown(value): other for other, value in item.items() if other != name}
        texts = _shown(item[name]).split("#")
        made.add(tuple(by_value.get(text, "") for text in texts))
    [names, *others] = made
    return list(names) if not others and all(names) else []


def _shown(value: Any) -> str:
    return str(next(iter(value.values()))) if isinstance(value, Mapping) and value else str(value)


Rule = Callable[[DeclaredTable], Iterator[Finding]]
RULES: Final[tuple[Rule, ...]] = (
    keys_have_many_values,
    names_tell_their_values,
    indexes_keep_up,
    indexes_differ_from_the_table,
    local_indexes_are_wanted,
    index_keys_are_attributes,
    projections_are_narrow,
    streams_carry_enough,
    old_items_expire,
    capacity_is_usable,
    provisioned_capacity_pays,
    samples_are_spread,
)
