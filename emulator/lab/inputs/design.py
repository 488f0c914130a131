"""Designs: tables and indexes with keys as templates over the workload's fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Final, Literal

from emulator.capacity import ScalingPolicy
from emulator.capacity.prices import STANDARD, TABLE_CLASSES
from emulator.lab.inputs import extras as extras_module
from emulator.lab.inputs import forms, key_templates
from emulator.lab.inputs import history as history_module
from emulator.lab.inputs.arguments import explain_arguments
from emulator.lab.inputs.documents import Entry
from emulator.lab.inputs.extras import NO_EXTRAS, Extras
from emulator.lab.inputs.forms import ANY_NAME, Form, FormMember, FormScope, Record
from emulator.lab.inputs.history import NEWBORN, Histories, History
from emulator.lab.inputs.key_templates import KeyTemplate, TemplateError

Billing = Literal["on-demand", "provisioned"]

DEFAULT_TABLE: Final = "table"
#: What a provisioned axis has unless the design says otherwise.
DEFAULT_UNITS: Final = 100
#: The most that a file may ask for: ten thousand partitions, far beyond what the service gives
#: without a talk.
MOST_UNITS: Final = 10_000_000
_PROJECTIONS: Final = {"ALL": "ALL", "KEYS_ONLY": "KEYS_ONLY"}
#: Of one part of a global index's key (MAK-1).
_MOST_ATTRIBUTES: Final = 4
LOCAL_HISTORY: Final = "index {name!r} is local: it shares the table's partitions and its history"


@explain_arguments()
@dataclass(frozen=True, kw_only=True)
class Capacity:
    """The capacity of a table or global index.

    Provisioned: ``read`` and ``write`` units per second; if only one of them is set, the other
    is ``DEFAULT_UNITS``. On demand: the optional maxima. Warm throughput is what its owner asked
    it to serve at once (CAP-509).

    >>> Capacity(read=100, write=1_000).write
    1000
    >>> Capacity(max_write=2_000).is_provisioned
    False
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
        """Return the document that ``from_members`` reads."""
        document: dict[str, Any] = {
            name: getattr(self, name) for name in _UNITS if getattr(self, name) is not None
        }
        if self.scaling is not None:
            document["autoscaling"] = {
                name: getattr(self.scaling, name) for name in ("target", "minimum", "maximum")
            }
        return document


_UNITS: Final = ("read", "write", "max_read", "max_write", "warm_read", "warm_write")


@explain_arguments()
@dataclass(frozen=True, kw_only=True)
class Key:
    """The key of one kind of item: a partition template and perhaps a sort template.

    >>> Key(partition="{customerId}", sort="ORDER#{orderId}").sort
    'ORDER#{orderId}'
    """

    partition: str
    sort: str | None = None


@explain_arguments(capacity=Capacity, history=History)
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
    #: The state of a global index from its use before the run.
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
        """Return the document that ``from_entry`` reads."""
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


@explain_arguments(capacity=Capacity, history=History, extras=Extras)
@dataclass(frozen=True, kw_only=True)
class Table:
    """One table of a design.

    >>> Table(name="orders", partition="{customerId}", sort="{orderId}").name
    'orders'
    """

    name: str = DEFAULT_TABLE
    #: The key of items whose entity has none of its own.
    partition: str = ""
    sort: str | None = None
    #: The keys of particular kinds of items, by entity.
    entities: Mapping[str, Key] = field(default_factory=dict)
    indexes: tuple[Index, ...] = ()
    capacity: Capacity = field(default_factory=Capacity)
    table_class: str = STANDARD.name
    #: The state of the table from its use before the run.
    history: History = NEWBORN
    #: What it has, and pays for, besides its capacity.
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
        """Return the document that ``from_entry`` reads."""
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


@explain_arguments(Table, capacity=Capacity, history=History, extras=Extras)
class Design:
    """One way to lay out the data: usually one table, sometimes several.

    Args:
        name: Its name in reports.
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
        """Read what ``to_document`` or a person wrote in that form.

        Raises:
            DocumentError: Something is missing, unknown or out of bounds.
        """
        return from_entry(Entry.of(document, "design"))


# Reading

_SCALING: Final = ScalingPolicy()
AUTOSCALING: Final = Record(
    "autoscaling",
    "Target tracking of provisioned capacity, on both axes.",
    {
        "target": FormMember(
            forms.number(),
            "The utilisation that is kept, in percent.",
            default=_SCALING.target,
        ),
        "minimum": FormMember(
            forms.integer(least=1), "The fewest units.", default=_SCALING.minimum, example=50
        ),
        "maximum": FormMember(
            forms.integer(least=1), "The most units.", default=_SCALING.maximum, example=1000
        ),
    },
)
_UNIT: Final = forms.integer(least=1, most=MOST_UNITS)
_CAPACITY_MEMBERS: Final = {
    "read": FormMember(
        _UNIT,
        f"Provisioned read units per second. Without `read` and `write`: on demand; without one of "
        f"them, it is {DEFAULT_UNITS}. An index of a provisioned table has the table's units by "
        "default. More than 40,000 needs `settings: {table_quota: ...}`.",
        example=100,
        nullable=True,
    ),
    "write": FormMember(
        _UNIT, "Provisioned write units per second; see `read`.", example=100, nullable=True
    ),
    "max_read": FormMember(
        _UNIT, "On demand: the most read units per second.", example=5000, nullable=True
    ),
    "max_write": FormMember(
        _UNIT, "On demand: the most write units per second.", example=5000, nullable=True
    ),
    "warm_read": FormMember(
        _UNIT,
        "The warm throughput requested when the table is created: read units per second, at most "
        "`table_quota`.",
        example=20000,
        nullable=True,
    ),
    "warm_write": FormMember(
        _UNIT, "The same in write units per second.", example=8000, nullable=True
    ),
    "autoscaling": FormMember(
        AUTOSCALING.form.made(lambda _, values: ScalingPolicy(**values)),
        "Auto scaling of `read` and `write`. Without it: none.",
        example={"target": 70, "minimum": 50, "maximum": 1000},
    ),
}
#: Billing modes as reports name them, and as the service does.
_BILLING_MODES: Final[dict[str, Billing]] = {
    "on-demand": "on-demand",
    "provisioned": "provisioned",
    "PAY_PER_REQUEST": "on-demand",
    "PROVISIONED": "provisioned",
}
_TEMPLATES: Final = forms.many(forms.template(), most=_MOST_ATTRIBUTES)
_ONE_TEMPLATE: Final = forms.template().made(lambda _, text: (text,))
_INDEX_KEY: Final = forms.either(
    _ONE_TEMPLATE,
    _TEMPLATES,
    select=lambda entry: _TEMPLATES if isinstance(entry.value, list) else _ONE_TEMPLATE,
)
_INCLUDED: Final = forms.many(forms.attribute_name(), least=1)
_PROJECTION_NAME: Final = forms.choice(_PROJECTIONS)


def _suited_projection(entry: Entry) -> Form:
    if isinstance(entry.value, list):
        return _INCLUDED
    if entry.value not in _PROJECTIONS:
        entry.fail("ALL, KEYS_ONLY or a list of attributes to include")
    return _PROJECTION_NAME


INDEX: Final = Record(
    "index",
    "A secondary index.",
    {
        "name": FormMember(forms.text(), "Its name.", required=True, example="byStatus"),
        "partition": FormMember(
            _INDEX_KEY,
            "The partition key: one attribute, or up to four of a global index.",
            required=True,
            example=["{tenant}", "{status}"],
        ),
        "sort": FormMember(_INDEX_KEY, "The sort key. Without it: none.", example="{timestamp}"),
        "projection": FormMember(
            forms.either(_PROJECTION_NAME, _INCLUDED, select=_suited_projection),
            "What is copied: everything, the keys, or the attributes that are listed.",
            default=Index.projection,
            example="KEYS_ONLY",
        ),
        "local": FormMember(
            forms.boolean(),
            "Whether it is a local index, which shares the table's partitions.",
            default=Index.local,
        ),
        "history": FormMember(
            history_module.INDEX_FORM,
            "The state of a global index from its use before the run. Without it: as the table's "
            "`describe_table` says.",
            example={"partitions": 4},
        ),
        **_CAPACITY_MEMBERS,
    },
)
KEY: Final = Record(
    "key",
    "The key of one kind of item.",
    {
        "partition": FormMember(
            forms.template(), "The partition key.", required=True, example="{userId}"
        ),
        "sort": FormMember(
            forms.template(), "The sort key. Without it: none.", example="ORDER#{orderId}"
        ),
    },
)
TABLE: Final = Record(
    "table",
    "One of several tables of a design.",
    {
        "partition": FormMember(
            forms.template(),
            "The partition key; needed unless `entities` has a key for every kind of item.",
            example="{userId}",
        ),
        "sort": FormMember(
            forms.template(), "The sort key. Without it: none.", example="{timestamp}"
        ),
        "entities": FormMember(
            forms.by_name(KEY.form.made(lambda _, values: Key(**values)), names="kind of item"),
            "The keys of particular kinds of items, by the `entity` of patterns.",
            example={"order": {"partition": "{userId}", "sort": "ORDER#{orderId}"}},
        ),
        "indexes": FormMember(
            forms.many(INDEX.form.made(lambda entry, values: (entry, values))),
            "Its secondary indexes.",
            example=[{"name": "byStatus", "partition": "{status}", "sort": "{timestamp}"}],
        ),
        "billing": FormMember(
            forms.choice(_BILLING_MODES),
            "The billing mode, if you want it written down: `read` and `write` decide it.",
            example="on-demand",
        ),
        "table_class": FormMember(
            forms.choice({name: name for name in TABLE_CLASSES}),
            "The table class.",
            default=STANDARD.name,
        ),
        "history": FormMember(
            history_module.FORM,
            "The state of the table from its use before the run. Without it: a new table.",
            example={"partitions": 4, "burst_start": 1},
        ),
        "extras": FormMember(
            extras_module.FORM,
            "What it has, and pays for, besides its capacity.",
            example={"point_in_time_recovery": True},
        ),
        **_CAPACITY_MEMBERS,
    },
    needs_one=("partition", "entities"),
)
PARAMETERS: Final = forms.by_name(forms.integer(least=1))
_DESIGN_MEMBERS: Final = {
    "name": FormMember(forms.text(), "What reports call it.", required=True, example="by user"),
    "parameters": FormMember(
        PARAMETERS,
        "Numbers that templates may name; they override those of the file.",
        example={"shards": 10},
    ),
    "answers": FormMember(
        forms.by_name(forms.text(), names="pattern"),
        "What answers a pattern: an index by its name, `table` or `scan`. Without it: whatever "
        "reads least.",
        example={"orders of a user": "byUser"},
    ),
}
DESIGN: Final = Record(
    "design",
    "A design of one table.",
    {**_DESIGN_MEMBERS, **TABLE.members},
    needs_one=TABLE.needs_one,
)
DESIGN_OF_TABLES: Final = Record(
    "design of tables",
    "A design of several tables.",
    {
        **_DESIGN_MEMBERS,
        "tables": FormMember(
            forms.by_name(TABLE.form.made(lambda entry, values: (entry, values)), names="name"),
            "The tables.",
            required=True,
            example={"users": {"partition": "{userId}"}, "orders": {"partition": "{orderId}"}},
        ),
    },
)


def _suited_design(entry: Entry) -> Form:
    several = isinstance(entry.value, dict) and "tables" in entry.value
    return DESIGN_OF_TABLES.form if several else DESIGN.form


_EITHER: Final = forms.either(DESIGN.form, DESIGN_OF_TABLES.form, select=_suited_design)
FORM: Final = Form(
    lambda entry, scope: from_entry(entry, scope), _EITHER.schema, _EITHER.words, _EITHER.records
)


def from_entry(entry: Entry, scope: FormScope = ANY_NAME) -> Design:
    """Read a design.

    Raises:
        DocumentError: Something is missing, unknown or out of bounds.
    """
    written = entry.value.get("parameters") if isinstance(entry.value, dict) else None
    parameters = {} if written is None else PARAMETERS.read(written)
    values = _EITHER.read(entry, replace(scope, parameters=parameters))
    if "tables" in values:
        tables = [_table(name, *written) for name, written in values["tables"].items()]
    else:
        tables = [_table(DEFAULT_TABLE, entry, values)]
    if not tables:
        entry.mapping()["tables"].complain("expected at least one table")
    return Design(
        values["name"], tables=tables, parameters=parameters, answers=values.get("answers")
    )


def _table(name: str, entry: Entry, values: Mapping[str, Any]) -> Table:
    if "partition" not in values and "entities" not in values:
        entry.complain("the field 'partition' is missing: a table needs a partition key template")
    histories: Histories = values.get("history", Histories())
    _check_billing(entry, values)
    _check_reserved(entry, values)
    return Table(
        name=name,
        indexes=tuple(
            _index(index_entry, index_values, histories.indexes)
            for index_entry, index_values in values.get("indexes", ())
        ),
        capacity=_capacity(entry, values),
        history=histories.table,
        **{
            member: values[member]
            for member in ("partition", "sort", "entities", "table_class", "extras")
            if member in values
        },
    )


def _check_billing(entry: Entry, values: Mapping[str, Any]) -> None:
    """Complain about a billing mode that the capacity contradicts."""
    has_units = "read" in values or "write" in values
    billing: Billing | None = values.get("billing")
    if billing == "on-demand" and has_units:
        entry.mapping()["billing"].complain("read and write are provisioned capacity; choose one")
    if billing == "provisioned" and not has_units:
        entry.mapping()["billing"].complain("give read and write, the units provisioned")


def _check_reserved(entry: Entry, values: Mapping[str, Any]) -> None:
    """Complain about reserved capacity that would cover nothing (CAP-1003)."""
    extras: Extras = values.get("extras", NO_EXTRAS)
    if not any(extras.reserved.units):
        return
    reserved = entry.mapping()["extras"].mapping()["reserved"]
    if "read" not in values and "write" not in values:
        reserved.complain("covers provisioned capacity only; give read and write")
    if values.get("table_class", STANDARD.name) != STANDARD.name:
        reserved.complain(f"covers tables of the class {STANDARD.name} only")
    if extras.replicas:
        reserved.complain("covers tables in one region only, and this one has replicas")


def _index(entry: Entry, values: Mapping[str, Any], described: Mapping[str, History]) -> Index:
    name, local = values["name"], values.get("local", Index.local)
    history = NEWBORN if local else described.get(name, NEWBORN)
    if "history" in values:
        if local:
            entry.mapping()["history"].complain(LOCAL_HISTORY.format(name=name))
        history = replace(history, **values["history"])
    return Index(
        name,
        partition=values["partition"],
        sort=values.get("sort", ()),
        projection=values.get("projection", Index.projection),
        local=local,
        capacity=_capacity(entry, values),
        history=history,
    )


def _capacity(entry: Entry, values: Mapping[str, Any]) -> Capacity:
    capacity = Capacity(**{name: values[name] for name in _UNITS if name in values})
    if capacity.is_provisioned:
        for name in ("max_read", "max_write"):
            if name in values:
                entry.mapping()[name].complain(
                    "an on-demand maximum next to provisioned read or write; choose one"
                )
    if "autoscaling" not in values:
        return capacity
    if not capacity.is_provisioned:
        entry.mapping()["autoscaling"].complain(
            "only provisioned capacity scales; give read and write"
        )
    return replace(capacity, scaling=values["autoscaling"])
