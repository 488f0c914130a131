"""A live table, and the traffic just seen on it, as a lab file.

The table becomes a design whose keys are its attributes; the requests become a workload that is
replayed as it came. Attributes that an index includes have their mean size in the items put; others
that are in no key are left out, and a key attribute that no request named has one value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from emulator.lab.inputs.design import Capacity, Design, Index
from emulator.lab.inputs.patterns import TIMESTAMP, Field
from emulator.lab.inputs.traces import entries_of, from_trace, mean_sizes
from emulator.service.errors import DocumentError

NO_TRAFFIC: Final = "no traffic on table {table} was seen while the console was open"
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_UNSEEN: Final = "unseen"
_UNITS: Final = {"read": "ReadCapacityUnits", "write": "WriteCapacityUnits"}
_MAXIMA: Final = {"max_read": "MaxReadRequestUnits", "max_write": "MaxWriteRequestUnits"}


def lab_document(
    calls: Iterable[tuple[float, str, Mapping[str, Any]]], description: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a lab file of recorded calls, for ``dynamometer lab``.

    Args:
        calls: Time in seconds, operation and request of each call, in order of time.
        description: The table, as DescribeTable describes it.

    Raises:
        DocumentError: there are no calls on items of the table.
    """
    table = str(description["TableName"])
    names = _field_names(description)
    calls = list(calls)
    included = mean_sizes(calls, table, _included(description) - set(names))
    lines = [
        json.dumps({"time": time, **entry, "fields": _renamed(entry["fields"], names)})
        for time, operation, request in calls
        for entry in entries_of(operation, request, table)
    ]
    if not lines:
        raise DocumentError(NO_TRAFFIC.format(table=table))
    workload = from_trace(lines).to_document()
    for name in names.values():
        if name not in workload["fields"]:
            workload["fields"][name] = Field(name, values=(_UNSEEN,)).to_document()
    if included:
        workload["attributes"] = included
    return {
        "title": f"Traffic seen on {table}",
        "workload": workload,
        "designs": [_design(table, description, names, included).to_document()],
    }


def _included(description: Mapping[str, Any]) -> set[str]:
    """Return the attributes that indexes include."""
    return {
        name
        for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes")
        for index in description.get(member, ())
        for name in index["Projection"].get("NonKeyAttributes", ())
    }


def _field_names(description: Mapping[str, Any]) -> dict[str, str]:
    """Return the field for each key attribute; a template can name identifiers only."""
    names: dict[str, str] = {}
    for number, definition in enumerate(description["AttributeDefinitions"], 1):
        attribute = definition["AttributeName"]
        is_plain = _PLAIN_NAME.fullmatch(attribute) and attribute != TIMESTAMP
        names[attribute] = attribute if is_plain else f"attribute_{number}"
    return names


def _renamed(fields: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    return {names[attribute]: text for attribute, text in fields.items() if attribute in names}


def _design(
    table: str,
    description: Mapping[str, Any],
    names: Mapping[str, str],
    included: Collection[str],
) -> Design:
    partition, sort = _templates(description, names)
    is_provisioned = _is_provisioned(description)
    indexes = [
        _index(index, names, included, local=local, is_provisioned=is_provisioned)
        for member, local in (("GlobalSecondaryIndexes", False), ("LocalSecondaryIndexes", True))
        for index in description.get(member, ())
    ]
    table_class = description.get("TableClassSummary", {}).get("TableClass")
    options = {} if table_class is None else {"table_class": table_class}
    return Design(
        table,
        partition=partition[0],
        sort=sort[0] if sort else None,
        indexes=indexes,
        capacity=_capacity(description, is_provisioned=is_provisioned),
        **options,
    )


def _index(
    index: Mapping[str, Any],
    names: Mapping[str, str],
    included: Collection[str],
    *,
    local: bool,
    is_provisioned: bool,
) -> Index:
    partition, sort = _templates(index, names)
    projection = index["Projection"]
    kind = projection["ProjectionType"]
    known = (names.get(name, name) for name in projection.get("NonKeyAttributes", ()))
    copied = tuple(name for name in known if name in included or name in names.values())
    return Index(
        index["IndexName"],
        partition=partition,
        sort=sort,
        projection=copied or "KEYS_ONLY" if kind == "INCLUDE" else kind,
        local=local,
        capacity=Capacity() if local else _capacity(index, is_provisioned=is_provisioned),
    )


def _templates(
    resource: Mapping[str, Any], names: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the templates of the partition attributes and of the sort attributes."""
    by_type: dict[str, tuple[str, ...]] = {"HASH": (), "RANGE": ()}
    for element in resource["KeySchema"]:
        by_type[element["KeyType"]] += (f"{{{names[element['AttributeName']]}}}",)
    return by_type["HASH"], by_type["RANGE"]


def _is_provisioned(description: Mapping[str, Any]) -> bool:
    summary = description.get("BillingModeSummary", {})
    return bool(summary.get("BillingMode", "PROVISIONED") == "PROVISIONED")


def _capacity(resource: Mapping[str, Any], *, is_provisioned: bool) -> Capacity:
    member = "ProvisionedThroughput" if is_provisioned else "OnDemandThroughput"
    described = resource.get(member, {})
    units = {
        name: described[wire]
        for name, wire in (_UNITS if is_provisioned else _MAXIMA).items()
        if described.get(wire, 0) > 0
    }
    return Capacity(**units)
