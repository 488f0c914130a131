"""Data models of AWS's agent tools as a workload and a design.

The agent toolkit's ``dynamodb_data_model.json`` states tables, entities and rates, and so is a
whole workload (ICH-10 to ICH-14). What the MCP server computes costs from has rates and no keys;
with tables from elsewhere it is one, too (ICH-32). Both state the same patterns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from emulator.designs import models
from emulator.designs.declared import DeclaredPattern, DeclaredTable
from emulator.designs.files import parse, read_document
from emulator.designs.rules import follows_the_clock, has_few_values, words
from emulator.lab.inputs.design import Capacity, Design, Index, Key, Table
from emulator.lab.inputs.distributions import Distribution, Hotspot, Sequential, Uniform, Zipf
from emulator.lab.inputs.patterns import OPERATIONS, TIMESTAMP, Field, Pattern, Preload
from emulator.lab.inputs.workload import Workload
from emulator.service.errors import DocumentError

#: What the toolkit takes for a count that is not said (ICH-10).
ITEM_COUNT: Final = 100_000
#: Assumed: the toolkit's figure for load risk (ICH-12).
SKEW: Final = 1.1
#: Assumed: what a key has whose name says that it has few values (ICH-11).
FEW: Final = 5
RUN_SECONDS: Final = 600
MOST_PRELOADED: Final = 20_000
_DAY: Final = 86_400
#: Assumed: an attribute that an index includes.
_INCLUDED_BYTES: Final = 16
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
_SKEWS: Final = "a skew is uniform, zipf:S or hotspot:KEYS,TRAFFIC, such as zipf:1.1, not {text!r}"


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
    if path.suffix.lower() != ".json" or not path.is_file():
        return False
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
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
        patterns = list(_by_entity(reading.patterns, value))
        items = {str(table["table_name"]): _item_count(table) for table in value["tables"]}
    elif models.is_performance_input(value):
        if tables is None:
            raise DocumentError(_NO_KEYS.format(path=path))
        reading = read_document(parse(tables)) if tables.is_file() else _read_folder(tables)
        patterns = list(models.read_performance_input(document).patterns)
        items = {str(entry.get("name")): int(entry["item_count"]) for entry in value["table_list"]}
    else:
        raise DocumentError(_NO_RATES.format(path=path))
    for finding in reading.findings:
        if finding.rule == "unreadable" and finding.subject != "table_list":
            raise DocumentError(f"{path}: {finding.subject}: {finding.message}")
    declared = {table.request["TableName"]: table for table in reading.tables}
    return _Builder(path, declared, patterns, items, _skew(skew, config), config).run()


def _read_folder(path: Path) -> Any:
    from emulator.designs.files import read_design

    return read_design(path)


def _item_count(table: Mapping[str, Any]) -> int:
    counts = [
        int(entity.get("estimated_item_count") or ITEM_COUNT)
        for entity in table.get("entities") or ()
    ]
    return sum(counts) or ITEM_COUNT


def _config_beside(path: Path) -> dict[str, Any]:
    """Return the benchmark's settings that lie beside a model (ICH-20)."""
    beside = path.parent / _CONFIG
    if not beside.is_file():
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

    >>> read_skew("hotspot:0.01,0.5")
    Hotspot(keys=0.01, traffic=0.5)
    """
    kind, _, numbers = text.partition(":")
    try:
        if kind == "uniform" and not numbers:
            return Uniform()
        if kind == "zipf":
            return Zipf(float(numbers) if numbers else SKEW)
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
            )


# The workload


_STEPS: Final = ("second", "minute", "hour", "day", "month", "year")
_DATES: Final = {"date": "day", "week": "day", "quarter": "month"}
_NAME: Final = re.compile(r"\W")


class _Builder:
    """Makes the fields, patterns and tables of a run."""

    def __init__(
        self,
        path: Path,
        tables: Mapping[str, DeclaredTable],
        patterns: Sequence[DeclaredPattern],
        items: Mapping[str, int],
        skew: Distribution,
        config: Mapping[str, Any],
    ) -> None:
        self._path = path
        self._tables = tables
        self._stated = patterns
        self._items = items
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

    def _table(self, name: str) -> Table:
        request = self._tables[name].request
        partition, sort = self._key(name, request, None)
        units = request.get("ProvisionedThroughput") or self._config.get("provisioned_capacity")
        capacity = _capacity(units)
        indexes = [self._index(name, index) for index in request.get("GlobalSecondaryIndexes", ())]
        key = Key(partition=partition[0], sort=sort[0] if sort else None)
        return Table(
            name=name,
            entities={name: key},
            indexes=tuple(indexes),
            capacity=capacity,
            table_class=request.get("TableClass", "STANDARD"),
        )

    def _index(self, table: str, index: Mapping[str, Any]) -> Index:
        partition, sort = self._key(table, index, index["IndexName"])
        kind = index["Projection"].get("ProjectionType", "ALL")
        included = tuple(index["Projection"].get("NonKeyAttributes") or ())
        for attribute in included:
            self._attributes.setdefault(attribute, _INCLUDED_BYTES)
            self._note(f"{attribute}, which {index['IndexName']} includes, has 16 bytes")
        return Index(
            index["IndexName"],
            partition=tuple(partition),
            sort=tuple(sort),
            projection=included or "KEYS_ONLY" if kind == "INCLUDE" else kind,
        )

    def _key(
        self, table: str, holder: Mapping[str, Any], index: str | None
    ) -> tuple[list[str], list[str]]:
        """Return the templates of a key, and make its fields (ICH-11)."""
        roles: dict[str, list[str]] = {"HASH": [], "RANGE": []}
        for element in holder["KeySchema"]:
            role = element["KeyType"]
            template = self._template(table, element["AttributeName"], role, index)
            roles[role].append(template)
        return roles["HASH"], roles["RANGE"]

    def _template(self, table: str, attribute: str, role: str, index: str | None) -> str:
        name = field_name(attribute)
        if follows_the_clock(attribute):
            step = _step(attribute) if role == "HASH" else None
            return f"{{{TIMESTAMP}:{step}}}" if step else f"{{{TIMESTAMP}}}"
        if role == "HASH":
            made = self._partition_field(table, name, attribute, index)
            known = self._fields.get(name)
            if known is None or (known.count or 0) < (made.count or 0):
                self._fields[name] = made
        else:
            self._fields.setdefault(name, Field(name, unique="random"))
        return f"{{{name}}}"

    def _partition_field(self, table: str, name: str, attribute: str, index: str | None) -> Field:
        if has_few_values(attribute):
            self._note(f"{attribute} has {FEW} values, judged by its name")
            return Field(name, count=FEW, distribution=self._skew)
        per_key = self._items_per_key(table, index)
        count = max(1, self._items.get(table, ITEM_COUNT) // per_key)
        return Field(name, count=count, distribution=self._skew)

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
        own = self._names(request)
        options: dict[str, Any] = {"by": own, "fields": self._all_names(request)}
        if pattern.operation in ("Query", "Scan"):
            options["items"] = pattern.items
            options["by"] = self._asked(pattern, request)
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
                entity=pattern.table,
                size=pattern.size_bytes,
                consistent=pattern.consistent and pattern.index is None,
                **options,
            )
        except ValueError as error:
            raise DocumentError(f"{self._path}: {error}") from error

    def _asked(self, pattern: DeclaredPattern, request: Mapping[str, Any]) -> tuple[str, ...]:
        """Return what a Query knows: the partition key of what it asks."""
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
        return tuple(field_name(name) for name in names if not follows_the_clock(name))

    def _names(self, holder: Mapping[str, Any]) -> tuple[str, ...]:
        names = (element["AttributeName"] for element in holder["KeySchema"])
        return tuple(field_name(name) for name in names if not follows_the_clock(name))

    def _all_names(self, request: Mapping[str, Any]) -> tuple[str, ...]:
        holders = (request, *request.get("GlobalSecondaryIndexes", ()))
        return tuple(dict.fromkeys(name for holder in holders for name in self._names(holder)))

    def _preload(self, patterns: list[Pattern]) -> Iterator[Preload]:
        """Yield what is there before the run; a table that is only read gets a pattern for it."""
        for table in self._used_tables():
            items = min(self._items.get(table, ITEM_COUNT), MOST_PRELOADED)
            own = [pattern for pattern in patterns if pattern.entity == table]
            puts = [pattern for pattern in own if pattern.operation == "PutItem"]
            if puts and not puts[0].by:
                yield Preload(pattern=puts[0].name, items=items)
                continue
            if not own:
                continue
            name = f"items of {table}"
            names = self._all_names(self._tables[table].request)
            picks = {
                field: Sequential() for field in names if self._fields[field].count is not None
            }
            loader = Pattern(
                name,
                "PutItem",
                rate=0,
                entity=table,
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


def _step(attribute: str) -> str | None:
    """Return what an attribute is cut to, judged by its last word.

    >>> _step("eventDate"), _step("hour"), _step("createdAt")
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
