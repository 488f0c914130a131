"""A lab file for declared tables under a stated load.

The text is what is played and what ``--save`` writes, so a refined file starts from the first
answer. Whatever a design file cannot tell stands in a comment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

from emulator.designs.declared import DeclaredTable, Wire
from emulator.designs.rules import follows_the_clock, has_few_values
from emulator.lab.inputs.agent_models import (
    FEW,
    INCLUDED_BYTES,
    MOST_PRELOADED,
    RUN_SECONDS,
    field_name,
    time_step,
)
from emulator.lab.inputs.distributions import Distribution, Hotspot
from emulator.lab.inputs.patterns import TIMESTAMP
from emulator.lab.inputs.stated_load import StatedLoad, TableLoad
from emulator.lab.inputs.workload import Age

#: How the values of a sort key follow each other, where its name does not tell.
_Order: TypeAlias = Literal["random", "sequential"]
AS_DECLARED: Final = "as declared"
_ASCENDING: Final = "sort keys ascend"
_IN_NO_ORDER: Final = "sort keys in no order"
_HEAD: Final = """\
# The tables of {path} under a stated load. Refine it, then run: dynamometer lab {saved}
# Every member is explained in docs/reference/lab-file.md and by 'dynamometer schema lab'.
title: {title}
workload:
  duration: {seconds}  # seconds at the peak
"""


def drafted(
    tables: Sequence[DeclaredTable],
    load: StatedLoad,
    *,
    path: str,
    age: Age | None = None,
    saved: str = "FILE",
) -> str:
    """Return the text of a lab file for the tables whose rate is stated.

    Args:
        tables: At least one of them has a rate.
        load: What is stated.
        path: Where the tables are declared, for the title.
        age: Whether the load is there already; None leaves it out.
        saved: Where the file will be kept, for its first line.
    """
    loaded = _loaded(tables, load)
    lines = [
        _HEAD.format(
            path=path, saved=saved, title=_text(Path(path).resolve().name), seconds=RUN_SECONDS
        ).rstrip()
    ]
    lines.append(f"  mean: {load.mean:g}  # the mean of a month as a share of it, for costs")
    if age is not None:
        lines.append(f"  age: {age}")
    for member in ("fields", "attributes", "patterns", "preload"):
        members = dict.fromkeys(line for table in loaded for line in getattr(table, member)())
        lines += [f"  {member}:", *(f"    {line}" for line in members)] if members else []
    lines.append("designs:")
    if any(table.has_open_order for table in loaded):
        lines.append("  # No name tells whether sort keys ascend, so both are played.")
        lines += _design(_IN_NO_ORDER, loaded, "random")
        lines += _design(_ASCENDING, loaded, "sequential")
    else:
        lines += _design(AS_DECLARED, loaded, "random")
    return "\n".join(lines) + "\n"


def _loaded(tables: Sequence[DeclaredTable], load: StatedLoad) -> list[_LoadedTable]:
    """Return the tables whose rate is stated."""
    return [
        _LoadedTable(table.request, own, load, has_prefix=len(tables) > 1)
        for table in tables
        if (own := load.of(str(table.request["TableName"]))) is not None
    ]


def judged_by_name(tables: Sequence[DeclaredTable], load: StatedLoad) -> Iterator[str]:
    """Yield what is taken from names, as no figure says otherwise."""
    for table in _loaded(tables, load):
        yield from table.judged_by_name()


def _design(name: str, tables: Sequence[_LoadedTable], order: _Order) -> Iterator[str]:
    yield f"  - name: {name}"
    answers = {name: index for table in tables for name, index in table.answers().items()}
    if answers:
        yield "    answers:"
        yield from (f"      {name}: {_text(index)}" for name, index in answers.items())
    yield "    tables:"
    for table in tables:
        yield from (f"      {line}" for line in table.declaration(order))


_PLAIN: Final = re.compile(r"[A-Za-z][\w.-]*(?: [\w.-]+)*")
_YAML_WORDS: Final = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})


def _text(value: str) -> str:
    """Return a text as YAML has it, in quotes only where it needs them.

    >>> _text("read orders"), _text("{orderId}"), _text("on")
    ('read orders', '"{orderId}"', '"on"')
    """
    is_plain = _PLAIN.fullmatch(value) and value.lower() not in _YAML_WORDS
    return value if is_plain else json.dumps(value, ensure_ascii=False)


def _listed(values: Iterable[str]) -> str:
    return f"[{', '.join(map(_text, values))}]"


def _skew(distribution: Distribution) -> str:
    """Return a distribution in YAML, which reads 1e-09 as a text."""
    if isinstance(distribution, Hotspot):
        return f"{{hotspot: {{keys: {distribution.keys:.9f}, traffic: {distribution.traffic:g}}}}}"
    return json.dumps(distribution.to_document())


class _LoadedTable:
    """A declared table and its load, as members of a lab file.

    Attributes:
        has_open_order: Whether a sort key has a name that does not tell its order.
    """

    def __init__(
        self, request: Wire, load: TableLoad, stated: StatedLoad, *, has_prefix: bool
    ) -> None:
        self._request = request
        self._load = load
        self._stated = stated
        self._name = str(request["TableName"])
        self._has_prefix = has_prefix
        self._global = list(request.get("GlobalSecondaryIndexes", ()))
        self._local = list(request.get("LocalSecondaryIndexes", ()))
        holders = [request, *self._global]
        self._partitions = dict.fromkeys(name for own in holders for name in key_of(own, "HASH"))
        sorts = [name for own in (*holders, *self._local) for name in key_of(own, "RANGE")]
        self._sorts = [name for name in dict.fromkeys(sorts) if not self._is_known(name)]
        self.has_open_order = bool(self._sorts)

    def _is_known(self, attribute: str) -> bool:
        """Return whether an attribute's values are known without its order."""
        return follows_the_clock(attribute) or attribute in self._partitions

    # Fields

    def fields(self) -> Iterator[str]:
        """Yield a line for each field of the table's keys."""
        for attribute in self._partitions:
            target = self._stated_target(attribute)
            name = self._field(attribute)
            if target is not None:
                count = self._count(attribute, target)
                skew = _skew(self._stated.skew_of(target))
                yield f"{name}: {{count: {count}, distribution: {skew}}}  # values of {target}"
            elif time_step(attribute) is None:
                yield f"{name}: {{unique: random}}  # how many values there are is not stated"
        for attribute in self._sorts:
            yield f"{self._field(attribute)}: {{unique: random}}"
            yield f"{self._field(attribute, 'sequential')}: {{unique: sequential}}"

    def _count(self, attribute: str, target: str) -> int:
        """Return how many values an attribute has: few by its name, if it is not stated of it."""
        if target not in self._stated.keys and has_few_values(attribute):
            return FEW
        return self._stated.keys_of(target)

    def judged_by_name(self) -> Iterator[str]:
        """Yield what is taken from the names of partition keys, as sentences."""
        for attribute in self._partitions:
            target = self._stated_target(attribute)
            if target is None and (step := time_step(attribute)) is not None:
                taken = f"is the {step} of the write"
            elif target == self._name and self._count(attribute, target) != self._stated.keys_of(
                target
            ):
                taken = f"has {FEW} values"
            else:
                continue
            yield f"{attribute} of {self._name} {taken}, judged by its name (--keys {self._name}=N)"

    def _stated_target(self, attribute: str) -> str | None:
        """Return the table or index whose number of key values is stated, by its partition key.

        A flag without a table speaks of tables only, and not of keys like an hour.
        """
        for index in self._global:
            target = f"{self._name}.{index['IndexName']}"
            if attribute in key_of(index, "HASH") and target in self._stated.keys:
                return target
        if attribute in key_of(self._request, "HASH") and (
            self._name in self._stated.keys or time_step(attribute) is None
        ):
            return self._name
        return None

    def _field(self, attribute: str, order: _Order = "random") -> str:
        own = f"{self._name}_{attribute}" if self._has_prefix else attribute
        name = field_name(f"{own}_ascending" if order == "sequential" else own)
        return f"{name}_" if name == TIMESTAMP else name

    def _names(self) -> list[str]:
        """Return every field of an item."""
        return [line.partition(":")[0] for line in self.fields()]

    def _template(self, attribute: str, role: str, order: _Order) -> str:
        """Return the template of a key attribute."""
        if attribute in self._partitions and self._stated_target(attribute) is not None:
            return f"{{{self._field(attribute)}}}"
        if role == "HASH" and (step := time_step(attribute)) is not None:
            return f"{{{TIMESTAMP}:{step}}}"
        if role == "RANGE" and follows_the_clock(attribute):
            return f"{{{TIMESTAMP}}}"
        return f"{{{self._field(attribute, order if attribute in self._sorts else 'random')}}}"

    def attributes(self) -> Iterator[str]:
        """Yield a line for each attribute that an index includes and no key has."""
        for index in (*self._global, *self._local):
            for name in self._included(index):
                if name not in self._names():
                    yield f"{name}: {INCLUDED_BYTES}"

    def _included(self, index: Wire) -> list[str]:
        """Return the names of attributes that an index includes besides keys."""
        included = index["Projection"].get("NonKeyAttributes") or ()
        keys = {*self._partitions, *self._sorts}
        return [
            self._field(name) if name in keys else field_name(name)
            for name in included
            if not (name in keys and follows_the_clock(name))
        ]

    # Patterns

    def patterns(self) -> Iterator[str]:
        """Yield a line for each pattern: writes, and reads of the table and of known indexes."""
        size = self._stated.size_of(self._name)
        rest = f"entity: {_text(self._name)}, size: {size}"
        of_items = f"{rest}, fields: {_listed(self._names())}"
        if self._load.writes_a_second:
            rate = f"rate: {self._load.writes_a_second:g}, arrivals: poisson"
            operation = "PutItem" if self._has_sort else "UpdateItem"
            yield f"- {{name: {self._write}, operation: {operation}, {rate}, {of_items}}}"
        if not self._has_sort or not self._load.writes_a_second:
            yield f"- {{name: {self._loader}, operation: PutItem, rate: 0, {of_items}}}"
        for name, index, share in self._reads():
            rate = f"rate: {share:g}, arrivals: poisson"
            if index is None:
                yield f"- {{name: {name}, operation: GetItem, {rate}, {rest}}}"
            else:
                by = [self._field(own) for own in key_of(index, "HASH") if self._is_asked(own)]
                yield (
                    f"- {{name: {name}, operation: Query, {rate}, {rest}, by: {_listed(by)}, "
                    "items: 1}"
                )

    @property
    def _has_sort(self) -> bool:
        """Whether the table has a sort key: writes then add items, and else change one."""
        return bool(key_of(self._request, "RANGE"))

    @property
    def _write(self) -> str:
        return _text(f"write {self._name}")

    @property
    def _loader(self) -> str:
        return _text(f"items of {self._name}")

    def _is_asked(self, attribute: str) -> bool:
        return self._stated_target(attribute) is not None

    def _reads(self) -> Iterator[tuple[str, Wire | None, float]]:
        """Yield what is read, each with its share of the requests: of one item each."""
        known = [index for index in self._global if all(map(self._is_asked, key_of(index, "HASH")))]
        share = self._load.reads_a_second / (1 + len(known))
        if share:
            yield _text(f"read {self._name}"), None, share
            for index in known:
                yield _text(f"read {self._name} by {index['IndexName']}"), index, share

    def answers(self) -> dict[str, str]:
        """Return the index that answers each read of one."""
        return {name: str(index["IndexName"]) for name, index, _ in self._reads() if index}

    def preload(self) -> Iterator[str]:
        """Yield the items that are there: one for each key value, up to a number that is quick."""
        key = key_of(self._request, "HASH")[0]
        known = self._stated_target(key)
        keys = MOST_PRELOADED if known is None else self._count(key, known)
        has_writes = self._has_sort and self._load.writes_a_second
        pattern = self._write if has_writes else self._loader
        yield f"- {{pattern: {pattern}, items: {min(keys, MOST_PRELOADED)}}}"

    # The design

    def declaration(self, order: _Order) -> Iterator[str]:
        """Yield the lines of the table in a design."""
        yield f"{_text(self._name)}:"
        yield from (f"  {line}" for line in self._key(self._request, order))
        yield from (f"  {line}" for line in _capacity(self._request))
        if "TableClass" in self._request:
            yield f"  table_class: {self._request['TableClass']}"
        if self._global or self._local:
            yield "  indexes:"
        for index in (*self._global, *self._local):
            yield f"    - name: {_text(index['IndexName'])}"
            yield from (f"      {line}" for line in self._key(index, order, is_index=True))
            yield from (f"      {line}" for line in self._projection(index))
            if index in self._local:
                yield "      local: true"
            else:
                yield from (f"      {line}" for line in _capacity(index))

    def _key(self, holder: Wire, order: _Order, *, is_index: bool = False) -> Iterator[str]:
        for role, member in (("HASH", "partition"), ("RANGE", "sort")):
            templates = [self._template(name, role, order) for name in key_of(holder, role)]
            if templates:
                texts = _listed(templates) if is_index else _text(templates[0])
                yield f"{member}: {texts}"

    def _projection(self, index: Wire) -> Iterator[str]:
        kind = index["Projection"].get("ProjectionType", "ALL")
        if kind == "INCLUDE":
            kind = _listed(self._included(index)) if self._included(index) else "KEYS_ONLY"
        yield f"projection: {kind}"


_UNITS: Final = {
    "ProvisionedThroughput": {"ReadCapacityUnits": "read", "WriteCapacityUnits": "write"},
    "OnDemandThroughput": {"MaxReadRequestUnits": "max_read", "MaxWriteRequestUnits": "max_write"},
}


def _capacity(holder: Wire) -> Iterator[str]:
    """Yield the units of a table or index; on demand it has none, or its own limits."""
    for member, names in _UNITS.items():
        for name, ours in names.items():
            units = (holder.get(member) or {}).get(name)
            if units is not None and int(units) > 0:
                yield f"{ours}: {int(units)}"


def key_of(holder: Wire, role: str) -> list[str]:
    """Return the attributes of a part of a key.

    >>> key_of({"KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]}, "HASH")
    ['id']
    """
    return [
        str(element["AttributeName"])
        for element in holder["KeySchema"]
        if element["KeyType"] == role
    ]
