"""FilterSpecification: which items an export writes, and what of them (S3X-9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from emulator.engine import Table
from emulator.expressions import (
    Condition,
    PathProjection,
    parse_condition,
    parse_key_condition,
    parse_projection,
)
from emulator.model import Item
from emulator.model.wire import WireItem, dump_item
from emulator.operations import paging, shapes
from emulator.operations.rules import expressions
from emulator.service.errors import ValidationException
from emulator.storage import Position, bounds

#: Observed: another project's probes of the service, October 2026.
EMPTY: Final = "Invalid Request: Invalid FilterSpecification: The specification can not be empty"
SHAPE: Final = shapes.structure(
    "FilterSpecification",
    FilterExpression=shapes.STRING,
    ProjectionExpression=shapes.STRING,
    KeyConditionExpression=shapes.STRING,
    ExpressionAttributeNames=shapes.STRING_MAP,
    ExpressionAttributeValues=shapes.ATTRIBUTE_MAP,
)
_CURRENT: Final = ("ProjectionExpression", "FilterExpression", "KeyConditionExpression")
_WITH_VALUES: Final = ("FilterExpression", "KeyConditionExpression")


class ExportFilter(NamedTuple):
    """The filter of a FilterSpecification.

    Attributes:
        bounds: The positions that the key condition covers; None for all of them.
        condition: The condition on an item.
        projection: The attributes to write; None for all.
    """

    bounds: tuple[Position, Position] | None = None
    condition: Condition | None = None
    projection: PathProjection | None = None

    def takes(self, position: Position, item: Item) -> bool:
        """Return whether an item is to be written."""
        if self.bounds is not None and not self.bounds[0] <= position < self.bounds[1]:
            return False
        return self.condition is None or self.condition.holds(item.attributes)

    def shown(self, item: Item) -> WireItem:
        """Return the exported attributes of an item, in wire form."""
        if self.projection is None:
            return dump_item(item.attributes)
        return dump_item(self.projection.pick(item.attributes))


def load_filter(written: Mapping[str, Any] | None, table: Table) -> ExportFilter:
    """Return the filter of an export, or say what is wrong with it.

    Assumed: faults are those of a Query, in its order.
    """
    if written is None:
        return ExportFilter()
    if not any(written.get(member) is not None for member in SHAPE.members):
        raise ValidationException(EMPTY)
    expressions.placeholders_come_with_expressions(written, _CURRENT, _WITH_VALUES)
    placeholders = expressions.load_placeholders(written)
    condition = projection = limits = None
    if written.get("FilterExpression") is not None:
        text = written["FilterExpression"]
        condition = parse_condition(text, placeholders, kind="FilterExpression")
    if written.get("ProjectionExpression") is not None:
        projection = parse_projection(written["ProjectionExpression"], placeholders)
    source = paging.PagedSource(table, None, table.key, table.key.names)
    if written.get("KeyConditionExpression") is not None:
        key_condition = parse_key_condition(written["KeyConditionExpression"], placeholders)
        limits = bounds(key_condition.range(table.key), table.settings.placement_salt)
        paging.filter_leaves_keys_alone(condition, source, "Filter Expression")
    placeholders.check_unused()
    paging.keys_are_scalars(source, projection)
    paging.keys_are_scalars(source, condition)
    return ExportFilter(limits, condition, projection)
