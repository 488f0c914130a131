"""What the templates of a key say of its values: new every time, many, or in order."""

from __future__ import annotations

from emulator.lab.inputs.key_templates import FieldPart, KeyTemplate, Part, TimePart
from emulator.lab.inputs.workload import Workload
from emulator.lab.planning.layout import KeyLayout


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
