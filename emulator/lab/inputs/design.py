"""Designs: tables and indexes with keys as templates over the workload's fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Final, Literal

from emulator.capacity import ScalingPolicy
from emulator.capacity.prices import STANDARD, TABLE_CLASSES
from emulator.lab.inputs import extras as extras_module
from emulator.lab.inputs import history as history_module
from emulator.lab.inputs import key_templates
from emulator.lab.inputs.documents import Entry, mapping_of
from emulator.lab.inputs.extras import NO_EXTRAS, Extras
from emulator.lab.inputs.history import NEWBORN, Histories, History
from emulator.lab.inputs.key_templates import KeyTemplate, TemplateError

Billing = Literal["on-demand", "provisioned"]

DEFAULT_TABLE: Final = "table"
#: What a provisioned axis has unless the design says otherwise.
DEFAULT_UNITS: Final = 100
_KEY_MEMBERS: Final = ("partition", "sort")
_PROJECTIONS: Final = {"ALL": "ALL", "KEYS_ONLY": "KEYS_ONLY"}
NOT_QUOTED: Final = (
    "expected a template, found a mapping, for which YAML takes braces: quote it, "
    'as in "{{{name}}}"'
)
LOCAL_HISTORY: Final = "index {name!r} is local: it shares the table's partitions and its history"


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """What a table or global index may consume.

    Provisioned: ``read`` and ``write`` units per second; if only one of them is set, the other
    is ``DEFAULT_UNITS``. On demand: the optional maxima. Warm throughput is what its owner asked
    it to serve at once (CAP-509).
    """

    read: int | None = None
    write: int | None = None
    max_read: int | None = None
    max_write: int | None = None
    warm_read: int | None = None
    warm_write: int | None = None
    #: Auto scaling of provisioned capacity, on both axes.
    scaling: ScalingPolicy | None = None

    @property
    def is_provisioned(self) -> bool:
        """Return whether any provisioned rate is set."""
        return self.read is not None or self.write is not None

    def to_document(self) -> dict[str, Any]:
        """Return what ``from_members`` reads."""
        document: dict[str, Any] = {
            name: getattr(self, name) for name in _UNITS if getattr(self, name) is not None
        }
        if self.scaling is not None:
            document["autoscaling"] = {
                name: getattr(self.scaling, name) for name in ("target", "minimum", "maximum")
            }
        return document


_UNITS: Final = ("read", "write", "max_read", "max_write", "warm_read", "warm_write")


@dataclass(frozen=True, kw_only=True)
class Key:
    """The key of one kind of item: a partition template and perhaps a sort template."""

    partition: str
    sort: str | None = None


@dataclass(frozen=True)
class Index:
    """A secondary index; up to four templates for each part of a global one's key.

    >>> Index("byStatus", partition="{status}", sort="{timestamp}").partition
    ('{status}',)
    """

    name: str
    _: KW_ONLY
    partition: str | tuple[str, ...]
    sort: str | tuple[str, ...] = ()
    #: ``"ALL"``, ``"KEYS_ONLY"``, or the names of attributes to include.
    projection: str | tuple[str, ...] = "ALL"
    local: bool = False
    #: Of a global index; a provisioned table's indexes default to what the table has.
    capacity: Capacity = field(default_factory=Capacity)
    #: Of a global index: what it brings along from its life before the run.
    history: History = NEWBORN

    def __post_init__(self) -> None:
        object.__setattr__(self, "partition", _tuple(self.partition))
        object.__setattr__(self, "sort", _tuple(self.sort))
        if not isinstance(self.projection, str):
            object.__setattr__(self, "projection", tuple(self.projection))
        if self.local and not self.history.is_newborn:
            raise ValueError(LOCAL_HISTORY.format(name=self.name))

    @property
    def partition_texts(self) -> tuple[str, ...]:
        """The templates of the partition attributes."""
        return _tuple(self.partition)

    @property
    def sort_texts(self) -> tuple[str, ...]:
        """The templates of the sort attributes."""
        return _tuple(self.sort)

    def to_document(self) -> dict[str, Any]:
        """Return what ``from_entry`` reads."""
        projection = self.projection if isinstance(self.projection, str) else list(self.projection)
        document: dict[str, Any] = {
            "name": self.name,
            "partition": list(self.partition),
            "sort": list(self.sort),
            "projection": projection,
        }
        if self.local:
            document["local"] = True
        return document | self.capacity.to_document() | _history_document(self.history)


def _history_document(history: History) -> dict[str, Any]:
    return {} if history.is_newborn else {"history": history.to_document()}


def _tuple(value: str | Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


@dataclass(frozen=True, kw_only=True)
class Table:
    """One table of a design."""

    name: str = DEFAULT_TABLE
    #: The key of items whose entity has none of its own.
    partition: str = ""
    sort: str | None = None
    #: The keys of particular kinds of items, by entity.
    entities: Mapping[str, Key] = field(default_factory=dict)
    indexes: tuple[Index, ...] = ()
    capacity: Capacity = field(default_factory=Capacity)
    table_class: str = STANDARD.name
    #: What it brings along from its life before the run.
    history: History = NEWBORN
    #: What it has besides its capacity, as far as it is paid for.
    extras: Extras = NO_EXTRAS

    def __post_init__(self) -> None:
        if not self.partition and not self.entities:
            raise ValueError(f"table {self.name!r} needs a partition key template")
        if self.table_class not in TABLE_CLASSES:
            raise ValueError(f"table_class must be one of {', '.join(TABLE_CLASSES)}")

    @property
    def billing(self) -> Billing:
        """How the table is paid for."""
        return "provisioned" if self.capacity.is_provisioned else "on-demand"

    @property
    def local_indexes(self) -> tuple[Index, ...]:
        """The local secondary indexes."""
        return tuple(index for index in self.indexes if index.local)

    def key(self, entity: str | None) -> Key | None:
        """Return the key of a kind of item, or None if the table has no place for it."""
        if entity is not None and entity in self.entities:
            return self.entities[entity]
        if self.partition:
            return Key(partition=self.partition, sort=self.sort)
        return None

    def all_keys(self) -> list[Key]:
        """Return every key of the table, the general one first."""
        general = [Key(partition=self.partition, sort=self.sort)] if self.partition else []
        return [*general, *self.entities.values()]

    def to_document(self) -> dict[str, Any]:
        """Return what ``from_entry`` reads."""
        document: dict[str, Any] = {}
        if self.partition:
            document["partition"] = self.partition
        if self.sort is not None:
            document["sort"] = self.sort
        if self.entities:
            document["entities"] = {
                name: {"partition": key.partition}
                | ({} if key.sort is None else {"sort": key.sort})
                for name, key in self.entities.items()
            }
        if self.indexes:
            document["indexes"] = [index.to_document() for index in self.indexes]
        if self.table_class != STANDARD.name:
            document["table_class"] = self.table_class
        if self.extras != NO_EXTRAS:
            document["extras"] = self.extras.to_document()
        return document | self.capacity.to_document() | _history_document(self.history)


class Design:
    """One way to lay out the data: usually one table, sometimes several.

    Args:
        name: What reports call it.
        partition: The table's partition key, as a template.
        sort: The table's sort key, as a template.
        indexes: Its secondary indexes.
        tables: Instead of the above, several tables.
        parameters: Numbers that templates may name, such as ``shards``.
        answers: Pattern name to the index, or ``"table"``, or ``"scan"``, that shall answer it;
            the best way is taken for patterns that are not named.
        table: Other members of the one table: entities, capacity, table_class, history.

    >>> design = Design("device", partition="{deviceId}", sort="{timestamp}",
    ...                 capacity=Capacity(read=100, write=5000))
    >>> design.tables[0].billing
    'provisioned'
    >>> Design("bad", partition="{deviceId")
    Traceback (most recent call last):
    ValueError: design 'bad': '{deviceId': '{' at column 1 is never closed
    """

    __slots__ = ("answers", "name", "parameters", "tables")

    def __init__(
        self,
        name: str,
        *,
        partition: str = "",
        sort: str | None = None,
        indexes: Iterable[Index] = (),
        tables: Iterable[Table] = (),
        parameters: Mapping[str, int] | None = None,
        answers: Mapping[str, str] | None = None,
        **table: Any,
    ) -> None:
        self.name = name
        self.parameters = dict(parameters or {})
        self.answers = dict(answers or {})
        self.tables = tuple(tables) or (
            Table(partition=partition, sort=sort, indexes=tuple(indexes), **table),
        )
        try:
            self.check()
        except TemplateError as error:
            raise ValueError(f"design {name!r}: {error}") from error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Design) and self.to_document() == other.to_document()

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        keys = ", ".join(
            f"{key.partition!r}/{key.sort!r}" for table in self.tables for key in table.all_keys()
        )
        return f"Design({self.name!r}, {keys})"

    def template(self, text: str) -> KeyTemplate:
        """Return a template of this design, with its parameters filled in."""
        return key_templates.parse(text, self.parameters)

    def check(self) -> None:
        """Read every template once.

        Raises:
            TemplateError: One of them cannot be read.
        """
        for table in self.tables:
            for key in table.all_keys():
                self.template(key.partition)
                if key.sort is not None:
                    self.template(key.sort)
            for index in table.indexes:
                for text in (*index.partition_texts, *index.sort_texts):
                    self.template(text)

    def with_tables(self, *tables: Table) -> Design:
        """Return the design with other tables."""
        return Design(self.name, tables=tables, parameters=self.parameters, answers=self.answers)

    def with_parameter(self, name: str, value: int) -> Design:
        """Return the design with another value of one of its parameters."""
        parameters = {**self.parameters, name: value}
        return Design(self.name, tables=self.tables, parameters=parameters, answers=self.answers)

    def to_document(self) -> dict[str, Any]:
        """Return the design as dictionaries, lists and scalars."""
        document: dict[str, Any] = {"name": self.name}
        if self.parameters:
            document["parameters"] = dict(self.parameters)
        if self.answers:
            document["answers"] = dict(self.answers)
        if len(self.tables) == 1 and self.tables[0].name == DEFAULT_TABLE:
            return document | self.tables[0].to_document()
        document["tables"] = {table.name: table.to_document() for table in self.tables}
        return document

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Design:
        """Read what ``to_document`` wrote, or a person in the same form.

        Raises:
            DocumentError: Something is missing, unknown or out of bounds.
        """
        return from_entry(Entry.of(document, "design"))


# Reading

_CAPACITY_MEMBERS: Final = (*_UNITS, "autoscaling")
_TABLE_MEMBERS: Final = (
    *_KEY_MEMBERS,
    "entities",
    "indexes",
    "table_class",
    "history",
    "extras",
    *_CAPACITY_MEMBERS,
)


def from_entry(entry: Entry) -> Design:
    """Read a design.

    Raises:
        DocumentError: Something is missing, unknown or out of bounds.
    """
    several = isinstance(entry.value, dict) and "tables" in entry.value
    members = entry.members(
        required=("name", "tables") if several else ("name",),
        optional=("parameters", "answers", *(() if several else _TABLE_MEMBERS)),
    )
    written = mapping_of(members, "parameters").items()
    parameters = {name: parameter.integer(least=1) for name, parameter in written}
    answers = {name: answer.text() for name, answer in mapping_of(members, "answers").items()}
    if several:
        named = members["tables"].mapping()
        tables = [_read_table(name, key_entry, parameters) for name, key_entry in named.items()]
    else:
        tables = [_read_table(DEFAULT_TABLE, entry, parameters)]
    if not tables:
        members["tables"].complain("expected at least one table")
    return Design(members["name"].text(), tables=tables, parameters=parameters, answers=answers)


def _read_table(name: str, entry: Entry, parameters: Mapping[str, int]) -> Table:
    members = entry.mapping() if name == DEFAULT_TABLE else entry.members(optional=_TABLE_MEMBERS)
    if "partition" not in members and "entities" not in members:
        entry.complain("the field 'partition' is missing: a table needs a partition key template")
    named = mapping_of(members, "entities").items()
    entities = {kind: _read_key(key_entry, parameters) for kind, key_entry in named}
    indexes = members["indexes"].items() if "indexes" in members else ()
    histories = (
        history_module.from_entry(members["history"]) if "history" in members else Histories()
    )
    return Table(
        name=name,
        partition=read_template(members["partition"], parameters) if "partition" in members else "",
        sort=read_template(members["sort"], parameters) if "sort" in members else None,
        entities=entities,
        indexes=tuple(
            _read_index(index_entry, parameters, histories.indexes) for index_entry in indexes
        ),
        capacity=_read_capacity(members),
        table_class=(
            members["table_class"].choice({name: name for name in TABLE_CLASSES})
            if "table_class" in members
            else STANDARD.name
        ),
        history=histories.table,
        extras=extras_module.from_entry(members["extras"]) if "extras" in members else NO_EXTRAS,
    )


def read_template(entry: Entry, parameters: Mapping[str, int]) -> str:
    """Read a template and return its text."""
    if isinstance(entry.value, dict):
        entry.complain(NOT_QUOTED.format(name=next(iter(entry.value), "field")))
    text = entry.text()
    try:
        key_templates.parse(text, parameters)
    except TemplateError as error:
        entry.complain(str(error))
    return text


def _read_key(entry: Entry, parameters: Mapping[str, int]) -> Key:
    members = entry.members(required=("partition",), optional=("sort",))
    return Key(
        partition=read_template(members["partition"], parameters),
        sort=read_template(members["sort"], parameters) if "sort" in members else None,
    )


def _read_index(
    entry: Entry, parameters: Mapping[str, int], described: Mapping[str, History]
) -> Index:
    members = entry.members(
        required=("name", "partition"),
        optional=("sort", "projection", "local", "history", *_CAPACITY_MEMBERS),
    )
    name = members["name"].text()
    local = members["local"].boolean() if "local" in members else False
    history = NEWBORN if local else described.get(name, NEWBORN)
    if "history" in members:
        if local:
            members["history"].complain(LOCAL_HISTORY.format(name=name))
        history = history_module.index_from_entry(members["history"], history)
    return Index(
        name=name,
        partition=_read_templates(members["partition"], parameters),
        sort=_read_templates(members["sort"], parameters) if "sort" in members else (),
        projection=_read_projection(members["projection"]) if "projection" in members else "ALL",
        local=local,
        capacity=_read_capacity(members),
        history=history,
    )


def _read_templates(entry: Entry, parameters: Mapping[str, int]) -> tuple[str, ...]:
    if not isinstance(entry.value, list):
        return (read_template(entry, parameters),)
    if len(entry.value) > 4:
        entry.complain(f"expected at most 4 attributes, found {len(entry.value)}")
    return tuple(read_template(member, parameters) for member in entry.value)


def _read_projection(entry: Entry) -> str | tuple[str, ...]:
    if isinstance(entry.value, list):
        return tuple(member.text() for member in entry.items(least=1))
    if entry.value not in _PROJECTIONS:
        entry.fail("ALL, KEYS_ONLY or a list of attributes to include")
    return entry.text()


def _read_capacity(members: Mapping[str, Entry]) -> Capacity:
    options: dict[str, Any] = {
        name: members[name].integer(least=1)
        for name in _UNITS
        if name in members and members[name].value is not None
    }
    capacity = Capacity(**options)
    if capacity.is_provisioned:
        for name in ("max_read", "max_write"):
            if name in members:
                members[name].complain(
                    "an on-demand maximum next to provisioned read or write; choose one"
                )
    if "autoscaling" not in members:
        return capacity
    if not capacity.is_provisioned:
        members["autoscaling"].complain("only provisioned capacity scales; give read and write")
    return replace(capacity, scaling=_read_scaling(members["autoscaling"]))


def _read_scaling(entry: Entry) -> ScalingPolicy:
    members = entry.members(optional=("target", "minimum", "maximum"))
    options: dict[str, Any] = {}
    if "target" in members:
        options["target"] = members["target"].number()
    for name in ("minimum", "maximum"):
        if name in members:
            options[name] = members[name].integer(least=1)
    try:
        return ScalingPolicy(**options)
    except ValueError as error:
        return entry.complain(str(error))
