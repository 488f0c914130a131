"""Data models of AWS's agent tools as a workload and a design.

The agent toolkit's ``dynamodb_data_model.json`` states tables, entities and rates, and so is a
whole workload (ICH-10 to ICH-14). What the MCP server computes costs from has rates and no keys;
with tables from elsewhere it is one, too (ICH-32). Both state the same patterns.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from emulator.designs import models
from emulator.designs.declared import DeclaredPattern, DeclaredTable, expecting
from emulator.designs.documents import load_json, read_text
from emulator.designs.files import parse, read_design, read_document
from emulator.designs.rules import follows_the_clock, has_few_values, words
from emulator.files import is_file
from emulator.lab.inputs.design import Capacity, Design, Index, Key, Table
from emulator.lab.inputs.distributions import Distribution, Hotspot, Sequential, Uniform, Zipf
from emulator.lab.inputs.patterns import OPERATIONS, TIMESTAMP, Field, Pattern, Preload
from emulator.lab.inputs.workload import Workload
from emulator.service.errors import DocumentError

#: What the toolkit takes for a count that is not said (ICH-10).
ITEM_COUNT: Final = 100_000
#: Assumed: the toolkit's figure for load risk (ICH-12).
SKEW: Final = 1.1
#: Assumed: how many values a key has whose name suggests few (ICH-11).
FEW: Final = 5
RUN_SECONDS: Final = 600
MOST_PRELOADED: Final = 20_000
_DAY: Final = 86_400
#: Assumed: the size of an attribute that an index includes.
INCLUDED_BYTES: Final = 16
_CONFIG: Final = "benchmark_config.json"
_MODES: Final = ("standard", "quick", "representative")
_REPRESENTATIVE_ITEMS: Final = 40
_NO_KEYS: Final = (
    "{path}: it states rates and no keys; name the tables with --tables, such as main.tf or "
    "dynamodb_data_model.json"
)
_NO_RATES: Final = (
    "{path}: it states no rates; the lab needs what compute_performances_and_costs takes, with "
    "--tables {path}"
)
_SKEWS: Final = (
    "a skew is uniform, 80/20, zipf:S, hotspot:KEYS,SHARE or one-tenant, such as zipf:1.1, not "
    "{text!r}"
)
#: Skews that have a name. However few values there are, one of them is hot at least.
_NAMED_SKEWS: Final[Mapping[str, Distribution]] = {
    "uniform": Uniform(),
    "80/20": Hotspot(0.2, 0.8),
    "one-tenant": Hotspot(1e-9, 0.5),
}


@dataclass(frozen=True)
class ModelRun:
    """A model as the lab runs it, and what was assumed for that."""

    workload: Workload
    design: Design
    assumptions: tuple[str, ...] = ()
    #: Average requests per second of each pattern.
    averages: Mapping[str, float] = field(default_factory=dict)


def is_model(path: Path) -> bool:
    """Return whether a file is one of these models; lab files are YAML."""
    if path.suffix.lower() != ".json" or not is_file(path):
        return False
    try:
        document = load_json(read_text(path), str(path))
    except DocumentError:
        return False
    kinds = (models.is_toolkit_model, models.is_server_model, models.is_performance_input)
    return any(is_kind(document) for is_kind in kinds)


def read_model(path: Path, *, tables: Path | None = None, skew: str | None = None) -> ModelRun:
    """Return a model as a workload and a design.

    Args:
        path: The model.
        tables: Where the tables are declared, for a model without keys.
        skew: ``uniform``, ``zipf:S`` or ``hotspot:KEYS,TRAFFIC`` on partition keys.

    Raises:
        DocumentError: It cannot be read, or has no keys or no rates.
    """
    document = parse(path)
    value = document.value
    config = _config_beside(path)
    if models.is_toolkit_model(value):
        reading = read_document(document)
        with expecting(f"{path}: tables", "entities with entity_name and numbers"):
            patterns = list(_by_entity(reading.patterns, value))
            kinds = {str(table["table_name"]): _entities(table) for table in value["tables"]}
        shares: dict[str, dict[str, float]] = {}
    elif models.is_performance_input(value):
        if tables is None:
            raise DocumentError(_NO_KEYS.format(path=path))
        reading = read_design(tables)
        patterns = list(models.read_performance_input(document).patterns)
        with expecting(f"{path}: table_list", "tables with name and item_count"):
            kinds = {
                str(entry["name"]): [_Kind(str(entry["name"]), int(entry["item_count"]))]
                for entry in value["table_list"]
            }
            shares = {str(entry["name"]): _shares(entry) for entry in value["table_list"]}
    else:
        raise DocumentError(_NO_RATES.format(path=path))
    for finding in reading.findings:
        if finding.rule == "unreadable" and finding.subject != "table_list":
            raise DocumentError(f"{path}: {finding.subject}: {finding.message}")
    declared = {table.request["TableName"]: table for table in reading.tables}
    patterns = [
        part
        for pattern in patterns
        for part in _by_index(
            pattern, shares.get(pattern.table, {}), _index_names(declared.get(pattern.table))
        )
    ]
    return _Builder(path, declared, patterns, kinds, _skew(skew, config), config).run()


@dataclass(frozen=True)
class _Kind:
    """The items of a table, or those of one entity where it has several."""

    #: How the lab calls it.
    name: str
    items: int = ITEM_COUNT
    #: Of an entity beside others.
    entity: str | None = None
    size_bytes: int | None = None
    #: Its attributes, if the model lists them.
    attributes: frozenset[str] = frozenset()


def _entities(table: Mapping[str, Any]) -> list[_Kind]:
    """Return the kinds of items of a table: its entities, if there are several (ICH-11)."""
    name = str(table["table_name"])
    entities = table.get("entities") or ()
    if len(entities) < 2:
        return [_Kind(name, sum(map(_item_count, entities)) or ITEM_COUNT)]
    return [
        _Kind(
            f"{name} {entity.get('entity_name')}",
            _item_count(entity),
            str(entity.get("entity_name")),
            int(models.stated_number(entity, "estimated_item_size_bytes", models.ITEM_BYTES)),
            frozenset(str(each.get("name")) for each in entity.get("attributes") or ()),
        )
        for entity in entities
    ]


def _item_count(entity: Mapping[str, Any]) -> int:
    stated = models.stated_number(entity, "estimated_item_count", ITEM_COUNT)
    return int(stated) or ITEM_COUNT


def _index_names(table: DeclaredTable | None) -> list[str]:
    indexes = () if table is None else table.request.get("GlobalSecondaryIndexes", ())
    return [str(index["IndexName"]) for index in indexes]


def _shares(table: Mapping[str, Any]) -> dict[str, float]:
    """Return the share of a table's items that each sparse index has (ICH-32)."""
    items = int(table["item_count"])
    return {
        str(index["name"]): int(index["item_count"]) / items
        for index in table.get("gsi_list") or ()
        if "item_count" in index and int(index["item_count"]) < items
    }


def _config_beside(path: Path) -> dict[str, Any]:
    """Return the benchmark's settings that lie beside a model (ICH-20)."""
    beside = path.parent / _CONFIG
    if not is_file(beside):
        return {}
    config = parse(beside).value
    if not isinstance(config, dict):
        raise DocumentError(f"{beside}: expected an object with the settings of the benchmark")
    mode = config.get("mode", _MODES[0])
    if mode not in _MODES:
        raise DocumentError(f"{beside}: mode: expected one of {', '.join(_MODES)}, found {mode!r}")
    return config


def _skew(text: str | None, config: Mapping[str, Any]) -> Distribution:
    """Return how popular partition keys are: as asked, as the benchmark has it, or Zipf."""
    if text is not None:
        return read_skew(text)
    if config.get("mode") == "representative":
        return Zipf(float(config.get("zipf_s", SKEW)))
    sampling = config.get("read_pattern_key_sampling")
    if sampling == "uniform":
        return Uniform()
    return Zipf(float(config.get("zipf_s", SKEW)))


def read_skew(text: str) -> Distribution:
    """Read a skew of the command line.

    Raises:
        DocumentError: It is none.

    >>> read_skew("hotspot:0.01,0.5"), read_skew("80/20")
    (Hotspot(keys=0.01, traffic=0.5, moves=None), Hotspot(keys=0.2, traffic=0.8, moves=None))
    """
    kind, _, numbers = text.partition(":")
    try:
        if text in _NAMED_SKEWS:
            return _NAMED_SKEWS[text]
        if kind == "zipf" and 0 < (s := float(numbers or SKEW)) < math.inf:
            return Zipf(s)
        if kind == "hotspot":
            keys, traffic = (float(number) for number in numbers.split(","))
            if 0 < keys <= 1 and 0 <= traffic <= 1:
                return Hotspot(keys, traffic)
    except ValueError:
        pass
    raise DocumentError(_SKEWS.format(text=text))


# Patterns


def _by_entity(
    patterns: Iterable[DeclaredPattern], model: Mapping[str, Any]
) -> Iterator[DeclaredPattern]:
    """Yield each pattern; one that writes several entities as a pattern of each."""
    sizes = {
        entity.get("entity_name"): entity.get("estimated_item_size_bytes")
        for table in model["tables"]
        for entity in table.get("entities") or ()
    }
    for pattern in patterns:
        if len(pattern.entities) < 2:
            yield pattern
            continue
        for entity, count in pattern.entities:
            yield replace(
                pattern,
                name=f"{pattern.name} {entity}",
                rate=pattern.rate * count,
                average=pattern.average * count,
                size_bytes=int(sizes.get(entity) or pattern.size_bytes),
                entities=((entity, count),),
            )


def _by_index(
    pattern: DeclaredPattern,
    shares: Mapping[str, float],
    indexes: Sequence[str],
) -> Iterator[DeclaredPattern]:
    """Yield a pattern; one that writes new items in parts, by the sparse indexes they are in.

    Assumed: the items of a smaller index are also in the larger ones.

    Args:
        pattern: The stated pattern.
        shares: The share of the table's items that each sparse index has.
        indexes: All indexes of the table.
    """
    if not shares or pattern.indexes is not None or pattern.operation not in _NEW_ITEMS:
        yield pattern
        return
    ordered = sorted(shares, key=lambda name: -shares[name])
    bounds = [1.0, *(shares[name] for name in ordered), 0.0]
    for number, (more, fewer) in enumerate(pairwise(bounds)):
        lacking = ordered[number:]
        if more > fewer:
            yield replace(
                pattern,
                name=f"{pattern.name} not in {', '.join(lacking)}" if lacking else pattern.name,
                rate=pattern.rate * (more - fewer),
                average=pattern.average * (more - fewer),
                indexes=tuple(name for name in indexes if name not in lacking),
            )


# The workload


_NEW_ITEMS: Final = ("PutItem", "BatchWriteItem", "TransactWriteItems")
_STEPS: Final = ("second", "minute", "hour", "day", "month", "year")
_DATES: Final = {
    "date": "day",
    "week": "day",
    "quarter": "month",
    "yyyy": "year",
    "yyyymm": "month",
    "yyyymmdd": "day",
    "yyyymmddhh": "hour",
}
_NAME: Final = re.compile(r"\W")


class _Builder:
    """Makes the fields, patterns and tables of a run."""

    def __init__(
        self,
        path: Path,
        tables: Mapping[str, DeclaredTable],
        patterns: Sequence[DeclaredPattern],
        kinds: Mapping[str, list[_Kind]],
        skew: Distribution,
        config: Mapping[str, Any],
    ) -> None:
        self._path = path
        self._tables = tables
        self._stated = patterns
        self._kinds = kinds
        self._skew = skew
        self._config = config
        self._fields: dict[str, Field] = {}
        self._assumptions: list[str] = []
        self._attributes: dict[str, int] = {}

    def run(self) -> ModelRun:
        """Return the run.

        Raises:
            DocumentError: No pattern of it can be run.
        """
        tables = [self._table(name) for name in self._used_tables()]
        made = map(self._pattern, self._stated)
        patterns = [pattern for pattern in made if pattern is not None]
        if not patterns:
            raise DocumentError(f"{self._path}: no access pattern of it has a rate above 0")
        preload = list(self._preload(patterns))
        answers = {
            stated.name: stated.index
            for stated in self._stated
            if stated.index is not None and stated.name in {pattern.name for pattern in patterns}
        }
        retention = [
            stated.retention_days * _DAY
            for stated in self._stated
            if stated.retention_days is not None
        ]
        self._note(f"partition keys are used by {_shown(self._skew)}; --skew says otherwise")
        try:
            workload = Workload(
                fields=list(self._fields.values()),
                patterns=patterns,
                duration=RUN_SECONDS,
                preload=preload,
                attributes=self._attributes,
                retention=max(retention, default=None),
            )
            design = Design(self._path.stem, tables=tables, answers=answers)
        except ValueError as error:
            raise DocumentError(f"{self._path}: {error}") from error
        averages = {pattern.name: pattern.average for pattern in self._stated}
        return ModelRun(workload, design, tuple(self._assumptions), averages)

    def _note(self, assumption: str) -> None:
        if assumption not in self._assumptions:
            self._assumptions.append(assumption)

    def _used_tables(self) -> list[str]:
        """Return the tables that patterns name; others get no traffic."""
        names = dict.fromkeys(pattern.table for pattern in self._stated)
        for name in names:
            if name not in self._tables:
                raise DocumentError(
                    f"{self._path}: an access pattern names the table {name!r}; there are "
                    f"{', '.join(self._tables) or 'none'}"
                )
        return list(names)

    # Tables

    def _kinds_of(self, table: str) -> list[_Kind]:
        return self._kinds.get(table) or [_Kind(table)]

    def _table(self, name: str) -> Table:
        request = self._tables[name].request
        kinds = self._kinds_of(name)
        if len(kinds) > 1:
            self._note(f"the entities of {name} have keys of their own")
        entities = {kind.name: self._entity_key(name, request, kind) for kind in kinds}
        units = request.get("ProvisionedThroughput") or self._config.get("provisioned_capacity")
        capacity = _capacity(units)
        indexes = [self._index(name, index) for index in request.get("GlobalSecondaryIndexes", ())]
        return Table(
            name=name,
            entities=entities,
            indexes=tuple(indexes),
            capacity=capacity,
            table_class=request.get("TableClass", "STANDARD"),
        )

    def _entity_key(self, table: str, request: Mapping[str, Any], kind: _Kind) -> Key:
        partition, sort = self._key(table, request, None, kind)
        # Entities that draw from the same field are still different items.
        begin = "" if kind.entity is None else f"{field_name(kind.entity)}#"
        return Key(partition=f"{begin}{partition[0]}", sort=sort[0] if sort else None)

    def _index(self, table: str, index: Mapping[str, Any]) -> Index:
        partition, sort = self._key(table, index, index["IndexName"])
        kind = index["Projection"].get("ProjectionType", "ALL")
        included = tuple(index["Projection"].get("NonKeyAttributes") or ())
        for attribute in included:
            self._attributes.setdefault(attribute, INCLUDED_BYTES)
            self._note(f"{attribute}, which {index['IndexName']} includes, has 16 bytes")
        return Index(
            index["IndexName"],
            partition=tuple(partition),
            sort=tuple(sort),
            projection=included or "KEYS_ONLY" if kind == "INCLUDE" else kind,
        )

    def _key(
        self, table: str, holder: Mapping[str, Any], index: str | None, kind: _Kind | None = None
    ) -> tuple[list[str], list[str]]:
        """Return the templates of a key, and make its fields (ICH-11)."""
        roles: dict[str, list[str]] = {"HASH": [], "RANGE": []}
        for element in holder["KeySchema"]:
            role = element["KeyType"]
            template = self._template(table, element["AttributeName"], role, index, kind)
            roles[role].append(template)
        return roles["HASH"], roles["RANGE"]

    def _field(self, table: str, attribute: str, kind: _Kind | None) -> str:
        """Return the field of an attribute; that of an entity's key is its own (ICH-11).

        The key of an index is one field for all entities, which may all be in the index.
        """
        if kind is None or kind.entity is None:
            return field_name(attribute)
        indexes = self._tables[table].request.get("GlobalSecondaryIndexes", ())
        shared = {element["AttributeName"] for index in indexes for element in index["KeySchema"]}
        return field_name(attribute if attribute in shared else f"{kind.entity}_{attribute}")

    def _template(
        self, table: str, attribute: str, role: str, index: str | None, kind: _Kind | None
    ) -> str:
        name = self._field(table, attribute, kind)
        if follows_the_clock(attribute):
            step = time_step(attribute) if role == "HASH" else None
            return f"{{{TIMESTAMP}:{step}}}" if step else f"{{{TIMESTAMP}}}"
        if role == "HASH":
            items = kind.items if kind is not None else self._item_count(table)
            made = self._partition_field(name, attribute, items, self._items_per_key(table, index))
            known = self._fields.get(name)
            if known is None or (known.count or 0) < (made.count or 0):
                self._fields[name] = made
        else:
            self._fields.setdefault(name, Field(name, unique="random"))
        return f"{{{name}}}"

    def _item_count(self, table: str) -> int:
        return sum(kind.items for kind in self._kinds_of(table))

    def _partition_field(self, name: str, attribute: str, items: int, per_key: int) -> Field:
        if has_few_values(attribute):
            self._note(f"{attribute} has {FEW} values, judged by its name")
            return Field(name, count=FEW, distribution=self._skew)
        return Field(name, count=max(1, items // per_key), distribution=self._skew)

    def _items_per_key(self, table: str, index: str | None) -> int:
        asked = [
            pattern.items
            for pattern in self._stated
            if (pattern.table, pattern.index) == (table, index) and pattern.operation == "Query"
        ]
        stated = int(self._config.get("items_per_partition") or 1)
        if self._config.get("mode") == "representative":
            stated = max(stated, _REPRESENTATIVE_ITEMS)
        return max([stated, *asked])

    # Patterns

    def _pattern(self, pattern: DeclaredPattern) -> Pattern | None:
        if pattern.operation not in OPERATIONS or pattern.rate <= 0:
            why = "has no rate" if pattern.operation in OPERATIONS else "is not simulated"
            self._note(f"{pattern.name} ({pattern.operation}) {why} and is left out")
            return None
        request = self._tables[pattern.table].request
        kind = self._kind_of(pattern)
        own = self._names(pattern.table, request, kind)
        options: dict[str, Any] = {
            "by": own,
            "fields": self._all_names(pattern.table, kind, pattern.indexes),
        }
        if pattern.operation in ("Query", "Scan"):
            options["items"] = pattern.items
            options["by"] = self._asked(pattern, request, kind)
        elif pattern.operation in ("PutItem", "BatchWriteItem", "TransactWriteItems"):
            options["by"] = own if pattern.updates else ()
        if pattern.operation.startswith(("Batch", "Transact")):
            options["actions"] = pattern.items
        if pattern.operation == "UpdateItem":
            changed = (field_name(name) for name in pattern.changes)
            options["changes"] = tuple(name for name in changed if name in self._fields)
        try:
            return Pattern(
                pattern.name,
                pattern.operation,
                rate=pattern.rate,
                arrivals="poisson",
                entity=kind.name,
                size=pattern.size_bytes,
                consistent=pattern.consistent and pattern.index is None,
                **options,
            )
        except ValueError as error:
            raise DocumentError(f"{self._path}: {error}") from error

    def _kind_of(self, pattern: DeclaredPattern) -> _Kind:
        """Return the items that a pattern is about; a model tells it of writes only."""
        kinds = self._kinds_of(pattern.table)
        if len(kinds) == 1:
            return kinds[0]
        written = [kind for kind in kinds if kind.entity in dict(pattern.entities)]
        if len(written) == 1:
            return written[0]
        alike = [kind for kind in kinds if kind.size_bytes == pattern.size_bytes]
        chosen = alike[0] if len(alike) == 1 else max(kinds, key=lambda kind: kind.items)
        why = "the size of its items" if len(alike) == 1 else "the number of items"
        self._note(f"{pattern.name} is about {chosen.entity}, judged by {why}")
        return chosen

    def _asked(
        self, pattern: DeclaredPattern, request: Mapping[str, Any], kind: _Kind
    ) -> tuple[str, ...]:
        """Return the fields that a Query knows: those of the partition key that it asks for."""
        if pattern.operation == "Scan":
            return ()
        holders = [
            index
            for index in request.get("GlobalSecondaryIndexes", ())
            if index["IndexName"] == pattern.index
        ]
        if pattern.index is not None and not holders:
            raise DocumentError(
                f"{self._path}: {pattern.name}: {pattern.table} has no index {pattern.index!r}"
            )
        holder = holders[0] if holders else request
        names = [
            element["AttributeName"]
            for element in holder["KeySchema"]
            if element["KeyType"] == "HASH"
        ]
        owner = None if holders else kind
        return tuple(
            self._field(pattern.table, name, owner) for name in names if not follows_the_clock(name)
        )

    def _names(
        self, table: str, holder: Mapping[str, Any], kind: _Kind | None = None
    ) -> tuple[str, ...]:
        names = (element["AttributeName"] for element in holder["KeySchema"])
        return tuple(
            self._field(table, name, kind) for name in names if not follows_the_clock(name)
        )

    def _all_names(
        self, table: str, kind: _Kind, indexes: Sequence[str] | None = None
    ) -> tuple[str, ...]:
        """Return the fields of an item: of its key, and of the indexes that it is in."""
        request = self._tables[table].request
        names = dict.fromkeys(self._names(table, request, kind))
        for index in request.get("GlobalSecondaryIndexes", ()):
            keys = {element["AttributeName"] for element in index["KeySchema"]}
            own = {element["AttributeName"] for element in request["KeySchema"]}
            lacks = kind.attributes and not keys <= kind.attributes | own
            if not lacks and (indexes is None or index["IndexName"] in indexes):
                names |= dict.fromkeys(self._names(table, index))
        return tuple(names)

    def _preload(self, patterns: list[Pattern]) -> Iterator[Preload]:
        """Yield the preloaded items; a table that is only read gets a pattern for it."""
        kinds = [(table, kind) for table in self._used_tables() for kind in self._kinds_of(table)]
        rates = {stated.name: stated.rate for stated in self._stated}
        for table, kind in kinds:
            items = min(kind.items, MOST_PRELOADED)
            own = [pattern for pattern in patterns if pattern.entity == kind.name]
            puts = [pattern for pattern in own if pattern.operation == "PutItem" and not pattern.by]
            total = sum(rates[put.name] for put in puts)
            if total:
                for put in puts:
                    part = round(items * rates[put.name] / total)
                    if part:
                        yield Preload(pattern=put.name, items=part)
                continue
            if not own:
                continue
            name = f"items of {kind.name}"
            names = self._all_names(table, kind)
            picks = {
                field: Sequential() for field in names if self._fields[field].count is not None
            }
            loader = Pattern(
                name,
                "PutItem",
                rate=0,
                entity=kind.name,
                fields=names,
                size=own[0].sizes,
                distributions=picks,
            )
            patterns.append(loader)
            yield Preload(pattern=name, items=items)


def _shown(skew: Distribution) -> str:
    """Return a skew as the command line has it.

    >>> _shown(Zipf(1.1)), _shown(Uniform())
    ('zipf:1.1', 'uniform')
    """
    if isinstance(skew, Zipf):
        return f"zipf:{skew.s:g}"
    return f"hotspot:{skew.keys:g},{skew.traffic:g}" if isinstance(skew, Hotspot) else "uniform"


def _capacity(units: Mapping[str, Any] | None) -> Capacity:
    if not units:
        return Capacity()
    read = units.get("ReadCapacityUnits", units.get("read"))
    write = units.get("WriteCapacityUnits", units.get("write"))
    return Capacity(read=int(read or 1), write=int(write or 1))


def time_step(attribute: str) -> str | None:
    """Return the unit of time that an attribute is cut to, judged by its last word.

    >>> time_step("eventDate"), time_step("hour"), time_step("createdAt")
    ('day', 'hour', None)
    """
    last = words(attribute)[-1]
    step = _DATES.get(last, last)
    return step if step in _STEPS else None


def field_name(attribute: str) -> str:
    """Return an attribute's name as a template may have it.

    >>> field_name("tenant#status"), field_name("1st")
    ('tenant_status', '_1st')
    """
    name = _NAME.sub("_", attribute)
    return f"_{name}" if name[:1].isdigit() else name
