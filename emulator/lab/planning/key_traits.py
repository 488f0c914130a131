"""Traits of key values, read off templates: new every time, many, or in order."""

from __future__ import annotations

import math

from emulator.lab.inputs.key_templates import FieldPart, KeyTemplate, Part, TimePart
from emulator.lab.inputs.workload import Workload
from emulator.lab.planning.layout import KeyLayout, Layout, TableLayout


def is_new_every_time(key: KeyLayout, workload: Workload, *, creates: bool) -> bool:
    """Return whether the partition key takes a new value every time."""
    for template in key.partition:
        if template.step_seconds == 0:
            return True
        if creates and any(workload.field(name).unique for name in template.fields):
            return True
    return False


def is_unbounded(key: KeyLayout, workload: Workload) -> bool:
    """Return whether many items can differ in nothing but a moment or a unique value."""
    for template in (*key.partition, *key.sort):
        if template.times or any(workload.field(name).unique for name in template.fields):
            return True
    return False


def most_items(table: TableLayout, layout: Layout) -> float:
    """Return how many items a table can hold: one for each key that its writes can have."""
    writes = [pattern for pattern in layout.workload.patterns if pattern.is_write]
    entities = {pattern.entity for pattern in writes if layout.table_of(pattern) is table}
    keys = {table.key(entity) for entity in entities}
    return sum((_most_keys(key, layout.workload) for key in keys), 0.0)


def _most_keys(key: KeyLayout, workload: Workload) -> float:
    if is_unbounded(key, workload):
        return math.inf
    templates = (*key.partition, *key.sort)
    fields = {name: workload.field(name) for template in templates for name in template.fields}
    parents = {field.per for field in fields.values()}  # each follows from its child
    sizes = [field.size for name, field in fields.items() if name not in parents]
    suffixes = [
        part.count
        for template in templates
        for part in template.shards
        if not part.fields or not fields.keys() >= set(part.fields)
    ]
    return float(math.prod((*sizes, *suffixes)))


def is_in_order(key: KeyLayout, workload: Workload) -> bool:
    """Return whether sort keys within one partition key are written in ascending order.

    So it is if time, or a sequential id, is the first thing that varies.
    """
    fixed = {name for template in key.partition for name in template.fields}
    for template in key.sort:
        for part in template.parts:
            if isinstance(part, TimePart):
                return True
            if isinstance(part, FieldPart) and part.name not in fixed:
                return workload.field(part.name).unique == "sequential"
    return False


def fixed_parts(template: KeyTemplate, workload: Workload) -> tuple[tuple[Part, ...], bool]:
    """Return the parts of a sort template before any moment or unique value; whether all are."""
    for number, part in enumerate(template.parts):
        is_unique = isinstance(part, FieldPart) and workload.field(part.name).unique is not None
        if isinstance(part, TimePart) or is_unique:
            return template.parts[:number], False
    return template.parts, True
