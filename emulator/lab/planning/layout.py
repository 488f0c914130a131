"""Layout: a design's templates as tables that the emulator can create.

A key template becomes one attribute. It takes the field's name where it is that field and
nothing else; otherwise ``pk`` and ``sk``, or the index's name with ``_pk`` and ``_sk``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from emulator.lab.inputs.design import DEFAULT_UNITS, Capacity, Design, Index, Table
from emulator.lab.inputs.key_templates import KeyTemplate
from emulator.lab.inputs.patterns import TIMESTAMP, Pattern
from emulator.lab.inputs.workload import Workload

#: The attribute that fills an item up to its size.
PAYLOAD: Final = "payload"


@dataclass(frozen=True)
class KeyLayout:
    """The templates of one key."""

    partition: tuple[KeyTemplate, ...]
    sort: tuple[KeyTemplate, ...]

    @property
    def names(self) -> frozenset[str]:
        """Every field with a say in the key."""
        return frozenset().union(*(template.names for template in (*self.partition, *self.sort)))


@dataclass(frozen=True)
class IndexLayout:
    """A secondary index with its attributes."""

    name: str
    key: KeyLayout
    partition_names: tuple[str, ...]
    sort_names: tuple[str, ...]
    design: Index

    @property
    def is_global(self) -> bool:
        """Return whether it has throughput of its own."""
        return not self.design.local

    def holds(self, fields: frozenset[str]) -> bool:
        """Return whether an item with these fields has an entry."""
        return self.key.names <= fields


@dataclass(frozen=True)
class TableLayout:
    """A table with its attributes."""

    name: str
    partition_name: str
    sort_name: str | None
    #: By entity; None is the general key.
    keys: dict[str | None, KeyLayout]
    indexes: tuple[IndexLayout, ...]
    design: Table
    #: Attributes of index keys that are not the table's own.
    index_attributes: dict[str, KeyTemplate] = field(default_factory=dict)

    def key(self, entity: str | None) -> KeyLayout:
        """Return the key of a kind of item."""
        return self.keys[entity] if entity in self.keys else self.keys[None]

    def index(self, name: str) -> IndexLayout:
        """Return the index of that name.

        Raises:
            KeyError: There is none.
        """
        return {index.name: index for index in self.indexes}[name]

    @property
    def global_indexes(self) -> tuple[IndexLayout, ...]:
        """The indexes that have throughput of their own."""
        return tuple(index for index in self.indexes if index.is_global)

    @property
    def names(self) -> frozenset[str]:
        """Every field with a say in any key of the table."""
        keys = (*self.keys.values(), *(index.key for index in self.indexes))
        return frozenset().union(*(key.names for key in keys))

    def create_request(self) -> dict[str, Any]:
        """Return the CreateTable request."""
        provisioned = self.design.capacity.is_provisioned
        names = [self.partition_name]
        schema = [_element(self.partition_name, "HASH")]
        if self.sort_name is not None:
            names.append(self.sort_name)
            schema.append(_element(self.sort_name, "RANGE"))
        request: dict[str, Any] = {
            "TableName": self.name,
            "KeySchema": schema,
            "BillingMode": "PROVISIONED" if provisioned else "PAY_PER_REQUEST",
            "TableClass": self.design.table_class,
            **_throughput(self.design.capacity, provisioned=provisioned),
        }
        for member, wanted in (
            ("GlobalSecondaryIndexes", True),
            ("LocalSecondaryIndexes", False),
        ):
            indexes = [index for index in self.indexes if index.is_global is wanted]
            if indexes:
                request[member] = [self._index_request(index) for index in indexes]
                names += [name for index in indexes for name in _attribute_names(index)]
        request["AttributeDefinitions"] = [
            {"AttributeName": name, "AttributeType": "S"} for name in dict.fromkeys(names)
        ]
        return request

    def _index_request(self, index: IndexLayout) -> dict[str, Any]:
        projection = index.design.projection
        request: dict[str, Any] = {
            "IndexName": index.name,
            "KeySchema": [
                *(_element(name, "HASH") for name in index.partition_names),
                *(_element(name, "RANGE") for name in index.sort_names),
            ],
            "Projection": {"ProjectionType": projection}
            if isinstance(projection, str)
            else {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(projection)},
        }
        if index.is_global:
            provisioned = self.design.capacity.is_provisioned
            request |= _throughput(self.index_capacity(index), provisioned=provisioned)
        return request

    def index_capacity(self, index: IndexLayout) -> Capacity:
        """Return the capacity of a global index: its own setting, or the table's."""
        own = index.design.capacity
        if self.design.capacity.is_provisioned and not own.is_provisioned:
            table = self.design.capacity
            return Capacity(
                read=table.read, write=table.write, scaling=own.scaling or table.scaling
            )
        return own


def _attribute_names(index: IndexLayout) -> Iterable[str]:
    return (*index.partition_names, *index.sort_names)


def _element(name: str, kind: str) -> dict[str, str]:
    return {"AttributeName": name, "KeyType": kind}


def _throughput(capacity: Capacity, *, provisioned: bool) -> dict[str, Any]:
    request: dict[str, Any] = {}
    if provisioned:
        request["ProvisionedThroughput"] = {
            "ReadCapacityUnits": capacity.read or DEFAULT_UNITS,
            "WriteCapacityUnits": capacity.write or DEFAULT_UNITS,
        }
    maxima = {
        "MaxReadRequestUnits": capacity.max_read,
        "MaxWriteRequestUnits": capacity.max_write,
    }
    if any(maxima.values()) and not provisioned:
        request["OnDemandThroughput"] = {name: units for name, units in maxima.items() if units}
    warm = {
        "ReadUnitsPerSecond": capacity.warm_read,
        "WriteUnitsPerSecond": capacity.warm_write,
    }
    if any(warm.values()):
        request["WarmThroughput"] = {name: units for name, units in warm.items() if units}
    return request


class Layout:
    """All tables of a design, for a workload.

    Attributes:
        workload: The workload, with a pattern for every further read that an answer takes.
        guessed: The patterns of which nothing says in which of several tables their items are.

    Raises:
        ValueError: The design names fields that the workload has not, or has no place for a
            pattern's items.
    """

    def __init__(self, design: Design, workload: Workload) -> None:
        self.design = design
        self.workload = workload
        self.tables = tuple(_table(design, table) for table in design.tables)
        self._check_fields()
        self.guessed: list[Pattern] = []
        self._by_pattern = {pattern.name: self._place(pattern) for pattern in workload.patterns}
        if any(pattern.reads is not None for pattern in workload.patterns):
            self._add_further_reads()

    def _add_further_reads(self) -> None:
        """Add the second steps of answers to the workload, as patterns of their own."""
        from emulator.lab.planning.access_paths import further_reads  # it reads layouts

        there = set(self._by_pattern)
        added = [pattern for pattern in further_reads(self) if pattern.name not in there]
        self.workload = replace(self.workload, patterns=(*self.workload.patterns, *added))
        self._by_pattern |= {pattern.name: self._place(pattern) for pattern in added}

    def repeated(self, times: int) -> Layout:
        """Return the design under the same run, repeated ``times`` in a row."""
        return Layout(self.design, self.workload.repeated(times))

    def table_of(self, pattern: Pattern) -> TableLayout:
        """Return the table that holds a pattern's items."""
        return self._by_pattern[pattern.name]

    def item_fields(self, pattern: Pattern) -> frozenset[str]:
        """Return the fields of the items that a pattern writes."""
        if pattern.fields is None:
            return frozenset((*(field.name for field in self.workload.fields), TIMESTAMP))
        parents = [self.workload.field(name).per for name in pattern.fields if name != TIMESTAMP]
        return frozenset((*pattern.fields, *(parent for parent in parents if parent), TIMESTAMP))

    def resource_name(self, table: TableLayout, index: str | None) -> str:
        """Return the name of a table or index in results."""
        if index is None:
            return table.name
        return index if len(self.tables) == 1 else f"{table.name}/{index}"

    @property
    def capacities(self) -> dict[str, Capacity]:
        """The capacity of every table and global index, by what results call it."""
        made: dict[str, Capacity] = {}
        for table in self.tables:
            made[self.resource_name(table, None)] = table.design.capacity
            for index in table.global_indexes:
                made[self.resource_name(table, index.name)] = table.index_capacity(index)
        return made

    @property
    def is_scaled(self) -> bool:
        """Whether auto scaling sets the capacity of some table or index."""
        return any(capacity.scaling is not None for capacity in self.capacities.values())

    def _place(self, pattern: Pattern) -> TableLayout:
        """Return the table that lists the pattern's entity, has its name, or comes first."""
        entity = pattern.entity
        special = [table for table in self.tables if entity is not None and entity in table.keys]
        general = [table for table in self.tables if None in table.keys]
        named = [table for table in general if table.name == entity]
        homes = special or named or general
        if not homes:
            raise ValueError(
                f"design {self.design.name!r} has no key for pattern {pattern.name!r} "
                f"(entity {entity!r}): give an entity that one of its tables names"
            )
        if homes is general and len(general) > 1:
            self.guessed.append(pattern)
        return homes[0]

    def _check_fields(self) -> None:
        known = {field.name for field in self.workload.fields} | {TIMESTAMP}
        for table in self.tables:
            missing = sorted(table.names - known)
            if missing:
                raise ValueError(
                    f"design {self.design.name!r}: no field {missing[0]!r} in the workload; "
                    f"it has {', '.join(sorted(known))}"
                )


def _table(design: Design, table: Table) -> TableLayout:
    keys: dict[str | None, KeyLayout] = {}
    if table.partition:
        keys[None] = _key(design, (table.partition,), _some(table.sort))
    for entity, key in table.entities.items():
        keys[entity] = _key(design, (key.partition,), _some(key.sort))
    if len({len(key.sort) for key in keys.values()}) > 1:
        raise ValueError(
            f"design {design.name!r}: all items of table {table.name!r} need a sort key, or none"
        )
    partition_name = _shared_name([key.partition[0] for key in keys.values()]) or "pk"
    sorts = [key.sort[0] for key in keys.values() if key.sort]
    sort_name = (_shared_name(sorts) or "sk") if sorts else None
    names = {}
    if len(keys) == 1:
        [only] = keys.values()
        names = {only.partition[0].text: partition_name}
        if only.sort and sort_name is not None:
            names[only.sort[0].text] = sort_name
    indexes = tuple(_index(design, index, names, partition_name) for index in table.indexes)
    own = {partition_name, sort_name}
    attributes = {
        name: template
        for index in indexes
        for name, template in zip(
            (*index.partition_names, *index.sort_names),
            (*index.key.partition, *index.key.sort),
            strict=True,
        )
        if name not in own
    }
    return TableLayout(table.name, partition_name, sort_name, keys, indexes, table, attributes)


def _some(text: str | None) -> tuple[str, ...]:
    return () if text is None else (text,)


def _key(design: Design, partition: Iterable[str], sort: Iterable[str]) -> KeyLayout:
    return KeyLayout(
        tuple(design.template(text) for text in partition),
        tuple(design.template(text) for text in sort),
    )


def _shared_name(templates: list[KeyTemplate]) -> str | None:
    """Return the field that all these templates are, if they are one and the same."""
    names = {template.single_field for template in templates}
    return names.pop() if len(names) == 1 else None


def _index(design: Design, index: Index, names: dict[str, str], partition_name: str) -> IndexLayout:
    key = _key(design, index.partition_texts, index.sort_texts)
    partition_names = [
        _index_name(template, names, f"{index.name}_pk{number or ''}")
        for number, template in enumerate(key.partition)
    ]
    if index.local:
        partition_names = [partition_name]
    return IndexLayout(
        index.name,
        key,
        tuple(partition_names),
        tuple(
            _index_name(template, names, f"{index.name}_sk{number or ''}")
            for number, template in enumerate(key.sort)
        ),
        index,
    )


def _index_name(template: KeyTemplate, names: dict[str, str], fallback: str) -> str:
    """Return the attribute of a template: one that has it already, or a new one."""
    return names.setdefault(template.text, template.single_field or fallback)
