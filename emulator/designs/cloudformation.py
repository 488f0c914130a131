"""CloudFormation and SAM: the DynamoDB tables of a template, YAML or JSON.

Parameters with defaults, mappings and conditions are worked out. A table whose key depends on
anything else is reported and left out; for a name, a capacity or a condition that is decided at
deployment a stated assumption stands.

Source: CloudFormation User Guide, intrinsic functions and conditions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Any, Final, TypeAlias

from emulator.designs import declared, ignores
from emulator.designs.declared import (
    INDEX_MEMBERS,
    UNITS,
    DeclaredTable,
    Notes,
    Reading,
    UndecidedError,
    expecting,
    kept,
)
from emulator.designs.documents import Document
from emulator.designs.event_sources import template_sources
from emulator.service.errors import DocumentError

_TABLE: Final = "AWS::DynamoDB::Table"
_GLOBAL: Final = "AWS::DynamoDB::GlobalTable"
_SIMPLE: Final = "AWS::Serverless::SimpleTable"
_SCALING: Final = "AWS::ApplicationAutoScaling::ScalableTarget"
_NO_VALUE: Final = {"Ref": "AWS::NoValue"}
_REGION: Final = "AWS::Region"
_FOR_EACH: Final = "Fn::ForEach::"
#: A template has at most 500 resources.
_MOST_ROUNDS: Final = 5_000
_MEMBERS: Final = (
    "KeySchema",
    "AttributeDefinitions",
    "LocalSecondaryIndexes",
    "GlobalSecondaryIndexes",
    "BillingMode",
    "ProvisionedThroughput",
    "OnDemandThroughput",
    "WarmThroughput",
    "TableClass",
)
_TYPES: Final = {"String": "S", "Number": "N", "Binary": "B"}
_GIVE_DEFAULT: Final = "Give its parameter a default, or check what describe-table prints."


def is_template(document: Any) -> bool:
    """Return whether a document has the form of a template."""
    return isinstance(document, Mapping) and isinstance(document.get("Resources"), Mapping)


def read_template(
    document: Document,
    *,
    parameters: Mapping[str, Any] | None = None,
    region: str | None = None,
) -> Reading:
    """Return the tables that a template declares.

    Args:
        document: The template.
        parameters: Values of its parameters, instead of their defaults.
        region: The region of the stack: which replica of a global table is meant.

    Raises:
        DocumentError: Its parameters are no map.
    """
    template = document.value
    values = _values(document, parameters, region)
    resolver = Resolver(template, values)
    try:
        resources = dict(_expanded(template["Resources"], values, count(1)))
    except DocumentError as fault:
        raise DocumentError(f"{document.source}: {fault}") from fault
    scaled = set(_scaled_tables(resources))
    readings = [
        Reading(
            ignores=tuple(_ignored_everywhere(template, document.source)),
            sources=tuple(template_sources(resources, resolver.resolved)),
        )
    ]
    for name, resource in resources.items():
        kind = resource.get("Type") if isinstance(resource, Mapping) else None
        if isinstance(kind, str) and kind in _READERS:
            readings.append(_resource(document, resolver, name, resource, region))
        elif isinstance(resource, list) and _mentions_table(resource):
            error = UndecidedError("its collection", _told(resource[1]))
            finding = declared.undecided(name, error, _GIVE_DEFAULT)
            position = document.position(("Resources", name))
            readings.append(Reading(findings=(finding.at(document.source, position),)))
    reading = Reading.joined(readings)
    return replace(
        reading,
        tables=tuple(
            replace(table, scaled=table.scaled or table.resource in scaled)
            for table in reading.tables
        ),
    )


def nested_parameters(
    document: Document,
    resource: Mapping[str, Any],
    *,
    parameters: Mapping[str, Any] | None = None,
    region: str | None = None,
) -> dict[str, Any]:
    """Return the parameters that a template gives to a nested stack; some may be undecided."""
    resolver = Resolver(document.value, _values(document, parameters, region))
    properties = resolver.resolved(resource.get("Properties") or {})
    given = properties.get("Parameters") if isinstance(properties, Mapping) else None
    return dict(given) if isinstance(given, Mapping) else {}


def _values(
    document: Document, parameters: Mapping[str, Any] | None, region: str | None
) -> dict[str, Any]:
    """Return the known values of a template's parameters."""
    with expecting(f"{document.source}: Parameters", "a map of parameters"):
        values = _defaults(document.value) | dict(parameters or {})
    return values if region is None else values | {_REGION: region}


def _resource(
    document: Document,
    resolver: Resolver,
    name: str,
    resource: Mapping[str, Any],
    region: str | None,
) -> Reading:
    """Return the table of one resource, or what keeps it from being one."""
    source, position = document.source, document.position(("Resources", name))
    ignored = tuple(ignores.from_metadata(resource.get("Metadata"), source, name))
    resolver.assumed.clear()
    if not resolver.condition(resource.get("Condition"), if_unknown=True):
        return Reading(ignores=ignored)
    kind = resource["Type"]
    try:
        with expecting("", f"the properties of {kind}"):
            properties = resolver.resolved(resource.get("Properties") or {})
            _check_conditions(resolver, properties, resource.get("Properties"))
            table = _with_assumptions(_READERS[kind](name, properties, region), resolver.assumed)
            path = ("Resources", name, "Properties")
            places = dict(declared.request_places(document, path, properties))
            places["", ""] = position
    except UndecidedError as error:
        finding = declared.undecided(name, error, _GIVE_DEFAULT)
        return Reading(findings=(finding.at(source, position),), ignores=ignored)
    except DocumentError as error:
        finding = declared.unreadable(name, error)
        return Reading(findings=(finding.at(source, position),), ignores=ignored)
    return Reading(tables=(replace(table, file=source, places=places),), ignores=ignored)


def _defaults(template: Mapping[str, Any]) -> dict[str, Any]:
    """Return the defaults of parameters; that of an SSM parameter is its path, not its value."""
    return {
        name: _default(parameter["Default"], str(parameter.get("Type")))
        for name, parameter in (template.get("Parameters") or {}).items()
        if isinstance(parameter, Mapping)
        and "Default" in parameter
        and not str(parameter.get("Type")).startswith("AWS::SSM::")
    }


def _default(value: Any, kind: str) -> Any:
    """Return a default as its type has it: lists are written with commas."""
    if kind.startswith(("CommaDelimitedList", "List<")) and isinstance(value, str):
        return [element.strip() for element in value.split(",")]
    return value


def _check_conditions(resolver: Resolver, properties: Any, written: Any) -> None:
    """Refuse a key that is another one if an unknown condition holds, or not.

    Raises:
        UndecidedError: There is such a key.
    """
    conditions = ", ".join(resolver.assumed)
    if conditions:
        keys, others = _keys(properties), _keys(resolver.turned().resolved(written or {}))
        for name in keys.keys() & others.keys():
            if keys[name] != others[name]:
                raise UndecidedError(f"{name}KeySchema", f"the condition {conditions}")


def _keys(properties: Any) -> dict[str, Any]:
    """Return the keys of a table and of its indexes, by what they are called in messages."""
    if not isinstance(properties, Mapping):
        return {}
    keys = {"": properties.get("KeySchema", properties.get("PrimaryKey"))}
    for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        indexes = properties.get(member)
        for index in indexes if isinstance(indexes, list) else ():
            if isinstance(index, Mapping):
                keys[f"{index.get('IndexName')}: "] = index.get("KeySchema")
    return keys


def _ignored_everywhere(template: Mapping[str, Any], source: str) -> Iterator[ignores.Ignore]:
    for ignore in ignores.from_metadata(template.get("Metadata"), source, "*"):
        yield replace(ignore, address=None)


def _with_assumptions(table: DeclaredTable, conditions: Mapping[str, bool]) -> DeclaredTable:
    notes = Notes(table.resource, remedy=_GIVE_DEFAULT)
    for condition, taken in conditions.items():
        notes.assumed(f"the condition {condition}", str(taken).lower())
    return replace(table, findings=(*table.findings, *notes.findings))


def _expanded(
    resources: Mapping[str, Any], values: Mapping[str, Any], rounds: Iterator[int]
) -> Iterator[tuple[str, Any]]:
    """Yield resources by name, those of ``Fn::ForEach`` one by one.

    Raises:
        DocumentError: Its loops make more rounds than any template has resources.
    """
    for written, resource in resources.items():
        name = str(written)  # a number, in YAML
        loop = name.startswith(_FOR_EACH) and isinstance(resource, list) and len(resource) == 3
        if not loop:
            yield name, resource
            continue
        variable, collection, body = resource
        if isinstance(collection, Mapping) and isinstance(collection.get("Ref"), str):
            listed = values.get(collection["Ref"])
            collection = listed.split(",") if isinstance(listed, str) else listed
        if not isinstance(collection, list) or any(map(is_undecided, collection)):
            yield name, resource
            continue
        for element in collection:
            if next(rounds) > _MOST_ROUNDS:
                raise DocumentError(f"{name}: the loops make more than {_MOST_ROUNDS:,} rounds")
            yield from _expanded(_filled(body, str(variable), str(element)), values, rounds)


def _mentions_table(node: Any) -> bool:
    """Return whether a table is declared somewhere below."""
    if isinstance(node, Mapping):
        return node.get("Type") in (*_READERS,) or any(map(_mentions_table, node.values()))
    return isinstance(node, list) and any(map(_mentions_table, node))


def _filled(node: Any, variable: str, element: str) -> Any:
    """Return a body with ``${variable}``, and references to it, replaced."""
    if isinstance(node, str):
        return node.replace(f"${{{variable}}}", element).replace(f"&{{{variable}}}", element)
    if isinstance(node, list):
        return [_filled(child, variable, element) for child in node]
    if isinstance(node, Mapping):
        if node == {"Ref": variable}:
            return element
        return {
            _filled(name, variable, element): _filled(child, variable, element)
            for name, child in node.items()
        }
    return node


class Resolver:
    """Works out intrinsic functions, as far as the template tells.

    >>> resolver = Resolver({}, {"Size": 5, "Env": "test"})
    >>> resolver.resolved({"a": {"Ref": "Size"}, "b": {"Fn::Sub": "x-${Env}"},
    ...                    "c": {"Ref": "AWS::NoValue"}})
    {'a': 5, 'b': 'x-test'}
    """

    def __init__(
        self, template: Mapping[str, Any], values: Mapping[str, Any], *, turns: bool = False
    ) -> None:
        self._conditions = template.get("Conditions") or {}
        self._mappings = template.get("Mappings") or {}
        self._template = template
        self._values = values
        self._turns = turns
        #: Conditions that are decided at deployment, and what they were taken as.
        self.assumed: dict[str, bool] = {}

    def turned(self) -> Resolver:
        """Return one that takes conditions which are not known the other way round."""
        return Resolver(self._template, self._values, turns=not self._turns)

    def resolved(self, node: Any) -> Any:
        """Return a value with functions worked out; those that cannot be stay as they are."""
        if isinstance(node, list):
            return [self.resolved(child) for child in node if not self._is_absent(child)]
        if not isinstance(node, Mapping):
            return node
        if len(node) == 1:
            [(name, inner)] = node.items()
            function = _FUNCTIONS.get(name)
            if function is not None:
                return function(self, inner, node)
        return {
            name: self.resolved(child) for name, child in node.items() if not self._is_absent(child)
        }

    def _is_absent(self, node: Any) -> bool:
        """Return whether nothing is meant: no value, or a condition that leaves none."""
        if node == _NO_VALUE:
            return True
        branches = node.get("Fn::If") if isinstance(node, Mapping) and len(node) == 1 else None
        if not isinstance(branches, list) or len(branches) != 3:
            return False
        return self._is_absent(self._branch(branches))

    def _branch(self, branches: list[Any]) -> Any:
        """Return a branch; of a condition that is not known the first with a value."""
        prefers_first = branches[1] != _NO_VALUE
        taken = self.condition(branches[0], if_unknown=prefers_first)
        return branches[1] if taken else branches[2]

    def condition(self, name: Any, *, if_unknown: bool) -> bool:
        """Return whether a condition holds."""
        if name is None:
            return True
        holds = self._holds(self._conditions.get(name) if isinstance(name, str) else None)
        if holds is None:
            self.assumed[str(name)] = if_unknown
            return if_unknown is not self._turns
        return holds

    def _holds(self, node: Any, depth: int = 0) -> bool | None:
        """Return whether a condition function holds; None if that is not known."""
        if not isinstance(node, Mapping) or len(node) != 1 or depth > 20:
            return None
        [(name, inner)] = node.items()
        if name == "Condition":
            known = self._conditions.get(inner) if isinstance(inner, str) else None
            return self._holds(known, depth + 1)
        if not isinstance(inner, list):
            return None
        if name == "Fn::Equals" and len(inner) == 2:
            left, right = (self.resolved(side) for side in inner)
            decided = not any(is_undecided(side) for side in (left, right))
            return str(left) == str(right) if decided else None
        sides = [self._holds(child, depth + 1) for child in inner]
        if name == "Fn::Not" and len(sides) == 1:
            return None if sides[0] is None else not sides[0]
        if name in ("Fn::And", "Fn::Or"):
            decides: bool = name == "Fn::Or"
            if decides in sides:
                return decides
            return None if None in sides else not decides
        return None

    def ref(self, inner: Any, node: Any) -> Any:
        """Return a parameter's value."""
        return self._values[inner] if isinstance(inner, str) and inner in self._values else node

    def sub(self, inner: Any, node: Any) -> Any:
        """Return a text with the names in it replaced."""
        values = dict(self._values)
        text = inner
        if isinstance(inner, list) and len(inner) == 2 and isinstance(inner[1], Mapping):
            text = inner[0]
            values |= {name: self.resolved(value) for name, value in inner[1].items()}
        if not isinstance(text, str):
            return node

        def replaced(match: re.Match[str]) -> str:
            value = values.get(match[1])
            return match[0] if value is None or is_undecided(value) else str(value)

        return re.sub(r"\$\{([\w:]+)\}", replaced, text).replace("${!", "${")

    def chosen(self, inner: Any, node: Any) -> Any:
        """Return the branch of a condition."""
        if not isinstance(inner, list) or len(inner) != 3:
            return node
        return self.resolved(self._branch(inner))

    def joined(self, inner: Any, node: Any) -> Any:
        """Return texts joined by another."""
        if not isinstance(inner, list) or len(inner) != 2 or not isinstance(inner[0], str):
            return node
        texts = self.resolved(inner[1])
        if not isinstance(texts, list) or any(is_undecided(text) for text in texts):
            return node
        return inner[0].join(str(text) for text in texts)

    def split(self, inner: Any, node: Any) -> Any:
        """Return the parts of a text."""
        if not isinstance(inner, list) or len(inner) != 2 or not isinstance(inner[0], str):
            return node
        text = self.resolved(inner[1])
        return text.split(inner[0]) if isinstance(text, str) and not is_undecided(text) else node

    def selected(self, inner: Any, node: Any) -> Any:
        """Return one element of a list."""
        if not isinstance(inner, list) or len(inner) != 2:
            return node
        number, elements = self.resolved(inner[0]), self.resolved(inner[1])
        if isinstance(elements, list) and str(number).isdecimal() and int(number) < len(elements):
            return elements[int(number)]
        return node

    def mapped(self, inner: Any, node: Any) -> Any:
        """Return a value of the template's mappings."""
        if not isinstance(inner, list) or len(inner) < 3:
            return node
        value: Any = self._mappings
        for key in inner[:3]:
            name = self.resolved(key)
            if not isinstance(value, Mapping) or not isinstance(name, str) or name not in value:
                return node
            value = value[name]
        return value


_FUNCTIONS: Final[dict[str, Callable[[Resolver, Any, Any], Any]]] = {
    "Ref": Resolver.ref,
    "Fn::Sub": Resolver.sub,
    "Fn::If": Resolver.chosen,
    "Fn::Join": Resolver.joined,
    "Fn::Select": Resolver.selected,
    "Fn::Split": Resolver.split,
    "Fn::FindInMap": Resolver.mapped,
}


def is_undecided(value: Any) -> bool:
    """Return whether a value is still a function, or a text with a name in it.

    >>> is_undecided({"Ref": "Key"}), is_undecided("${Stage}-id"), is_undecided("id")
    (True, True, False)
    >>> is_undecided("{{resolve:ssm:/orders/key}}")
    True
    """
    if isinstance(value, str):
        return "${" in value or "{{resolve:" in value
    return isinstance(value, Mapping)


def _decided(name: str, value: Any) -> Any:
    if isinstance(value, Mapping) and not _is_function(value):
        raise ValueError(f"{name} has the wrong type")
    if is_undecided(value):
        raise UndecidedError(name, _told(value))
    return value


def _is_function(value: Mapping[str, Any]) -> bool:
    names = list(value)
    return len(names) == 1 and names[0].startswith(("Ref", "Fn::", "Condition"))


def _told(value: Any) -> Any:
    """Return the target of a function, or its name if the target is no single word."""
    if not isinstance(value, Mapping) or not value:
        return value
    [(function, inner), *_] = value.items()
    return inner if isinstance(inner, str) else function


def _scaled_tables(resources: Mapping[str, Any]) -> Iterator[str]:
    """Yield the logical names that an auto scaling target mentions."""
    for resource in resources.values():
        if isinstance(resource, Mapping) and resource.get("Type") == _SCALING:
            target = str((resource.get("Properties") or {}).get("ResourceId"))
            yield from (name for name in resources if re.search(rf"\b{re.escape(name)}\b", target))


# Tables


def _table(name: str, properties: Mapping[str, Any], _region: str | None = None) -> DeclaredTable:
    notes = Notes(name, remedy=_GIVE_DEFAULT)
    written = properties.get("TableName")
    request: dict[str, Any] = {
        "TableName": notes.name({} if is_undecided(written) else written, name)
    }
    request |= kept(properties, _MEMBERS)
    request["KeySchema"] = list(_decided("KeySchema", properties["KeySchema"]))
    _check_decided(request)
    provisioned = _is_provisioned(notes, request)
    request["BillingMode"] = "PROVISIONED" if provisioned else "PAY_PER_REQUEST"
    for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        if member in request:
            request[member] = [kept(index, INDEX_MEMBERS) for index in request[member]]
    for target in (request, *request.get("GlobalSecondaryIndexes", ())):
        _settle_throughput(notes, target, provisioned=provisioned)
    _add_options(properties, request)
    return DeclaredTable(
        resource=name,
        request=request,
        ttl_attribute=_ttl(properties),
        tells_ttl=True,
        findings=tuple(notes.findings),
    )


def _check_decided(request: Mapping[str, Any]) -> None:
    """Refuse a table whose keys, or the names and projections of indexes, are not known."""
    holders = [request]
    for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        indexes = request.get(member) or ()
        if isinstance(indexes, Mapping):
            _decided(member, indexes)
        holders += indexes
    for holder in holders:
        label = f"{_decided('IndexName', holder['IndexName'])}: " if "IndexName" in holder else ""
        for member in ("KeySchema", "AttributeDefinitions"):
            entries = holder.get(member) or ()
            if isinstance(entries, Mapping):
                _decided(member, entries)
            for entry in entries:
                for name, value in entry.items():
                    _decided(f"{label}{member}.{name}", value)
        projection = holder.get("Projection") or {}
        for value in (
            projection.get("ProjectionType"),
            *(projection.get("NonKeyAttributes") or ()),
        ):
            _decided(f"{label}Projection", value)


def _is_provisioned(notes: Notes, request: Mapping[str, Any]) -> bool:
    mode = request.get("BillingMode", "PROVISIONED")
    if isinstance(mode, str):
        return mode != "PAY_PER_REQUEST"
    provisioned = "ProvisionedThroughput" in request
    notes.assumed("BillingMode", "PROVISIONED" if provisioned else "PAY_PER_REQUEST")
    return provisioned


def _settle_throughput(notes: Notes, target: dict[str, Any], *, provisioned: bool) -> None:
    throughput = target.pop("ProvisionedThroughput", {})
    where = f"{target['IndexName']}: " if "IndexName" in target else ""
    units = notes.units(throughput, UNITS, where) if provisioned else {}
    if units:
        target["ProvisionedThroughput"] = units
    warm = target.get("WarmThroughput", {})
    if not all(isinstance(own, int) for own in warm.values()):  # decided elsewhere
        del target["WarmThroughput"]


def _add_options(properties: Mapping[str, Any], request: dict[str, Any]) -> None:
    stream = properties.get("StreamSpecification")
    if isinstance(stream, Mapping):
        view = kept(stream, ("StreamViewType",))
        request["StreamSpecification"] = {"StreamEnabled": True} | view
    if properties.get("DeletionProtectionEnabled") is True:
        request["DeletionProtectionEnabled"] = True


def _ttl(properties: Mapping[str, Any]) -> str | None:
    specification = properties.get("TimeToLiveSpecification") or {}
    name = specification.get("AttributeName") if specification.get("Enabled", True) else None
    return name if isinstance(name, str) else None


def _global_table(
    name: str, properties: Mapping[str, Any], region: str | None = None
) -> DeclaredTable:
    """Read a global table: its writes scale for all replicas, its reads for each.

    The replica is that of the stack's region, or the first (ICH-50).
    """
    if "KeySchema" not in properties and "GlobalTableSourceArn" in properties:
        raise UndecidedError("KeySchema", "it is a replica of GlobalTableSourceArn")
    replicas = properties.get("Replicas") or [{}]
    here = (replica for replica in replicas if region and replica.get("Region") == region)
    replica = next(here, replicas[0])
    plain = dict(properties)
    plain["ProvisionedThroughput"] = _global_units(properties, replica)
    plain["OnDemandThroughput"] = _global_limits(properties, replica) or None
    by_name = {index["IndexName"]: index for index in replica.get("GlobalSecondaryIndexes") or ()}
    plain["GlobalSecondaryIndexes"] = [
        dict(index)
        | {
            "ProvisionedThroughput": _global_units(index, by_name.get(index.get("IndexName"), {})),
            "OnDemandThroughput": _global_limits(index, by_name.get(index.get("IndexName"), {}))
            or None,
        }
        for index in properties.get("GlobalSecondaryIndexes") or ()
    ] or None
    plain["TableClass"] = replica.get("TableClass")
    scaled = properties.get("BillingMode") != "PAY_PER_REQUEST"
    return replace(_table(name, plain), scaled=scaled)


def _global_units(writes: Mapping[str, Any], reads: Mapping[str, Any]) -> dict[str, Any]:
    write = writes.get("WriteProvisionedThroughputSettings") or {}
    read = reads.get("ReadProvisionedThroughputSettings") or {}
    least = (write.get("WriteCapacityAutoScalingSettings") or {}).get("MinCapacity")
    scaling = read.get("ReadCapacityAutoScalingSettings") or {}
    return {
        "WriteCapacityUnits": least,
        "ReadCapacityUnits": read.get("ReadCapacityUnits", scaling.get("MinCapacity")),
    }


def _global_limits(writes: Mapping[str, Any], reads: Mapping[str, Any]) -> dict[str, Any]:
    """Return the on-demand limits of a global table."""
    write = writes.get("WriteOnDemandThroughputSettings") or {}
    read = reads.get("ReadOnDemandThroughputSettings") or {}
    limits = kept(read, ("MaxReadRequestUnits",)) | kept(write, ("MaxWriteRequestUnits",))
    return {name: limit for name, limit in limits.items() if not is_undecided(limit)}


def _simple_table(
    name: str, properties: Mapping[str, Any], _region: str | None = None
) -> DeclaredTable:
    """Read a SAM table: one key, on demand unless it says otherwise.

    Source: SAM, AWS::Serverless::SimpleTable; the key defaults to ``id``, a string.
    """
    key = properties.get("PrimaryKey") or {"Name": "id", "Type": "String"}
    _decided("PrimaryKey.Type", key["Type"])
    if key["Type"] not in _TYPES:
        raise ValueError(f"PrimaryKey.Type is one of {', '.join(_TYPES)}, not {key['Type']!r}")
    plain = {
        "TableName": properties.get("TableName"),
        "KeySchema": [{"AttributeName": key["Name"], "KeyType": "HASH"}],
        "AttributeDefinitions": [
            {"AttributeName": key["Name"], "AttributeType": _TYPES[key["Type"]]}
        ],
        "BillingMode": "PROVISIONED"
        if "ProvisionedThroughput" in properties
        else "PAY_PER_REQUEST",
        "ProvisionedThroughput": properties.get("ProvisionedThroughput"),
    }
    return _table(name, plain)


_Reader: TypeAlias = Callable[[str, Mapping[str, Any], str | None], DeclaredTable]
_READERS: Final[dict[str, _Reader]] = {
    _TABLE: _table,
    _GLOBAL: _global_table,
    _SIMPLE: _simple_table,
}
