"""Pages of Query and Scan: what both decide alike.

Select and projection against an index, the start key, the filter, and the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import compress
from typing import Any, Final, NamedTuple

from emulator.engine import Account, Index, Table
from emulator.engine.reads import Page
from emulator.expressions import Condition, PathProjection, Placeholders, parse_projection
from emulator.model import NOT_THE_SCHEMA, Item, KeySchema, key_values_are_not_empty
from emulator.model.wire import BAD_START, INVALID, dump_item, load_start_key
from emulator.operations import responses, shapes
from emulator.operations.rules import keys
from emulator.service.errors import RequestFault, ValidationException
from emulator.service.wording import Wording
from emulator.storage import Position, key_position

NO_INDEX: Final = "The table does not have the specified index: {index}"
BACKFILLING: Final = "Cannot read from backfilling global secondary index: {index}"
QUERY_OF_VECTORS: Final = "Query operation not supported on this index type."
SCAN_OF_VECTORS: Final = "Scan operation not supported on this index type"
CONSISTENT_GSI: Final = "Consistent reads are not supported on global secondary indexes"
# Observed: another emulator's captures of three regions, October 2026: the current layer puts
# these into its envelope.
NO_PROJECTION: Final = shapes.enveloped(
    "Must specify the AttributesToGet or ProjectionExpression "
    "when choosing to get SPECIFIC_ATTRIBUTES"
)
PROJECTION_AND_SELECT: Final = shapes.enveloped(
    "Cannot specify the {member} when choosing to get {select}"
)
NOT_QUERYING_AN_INDEX: Final = shapes.enveloped(
    "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"
)
NOT_ALL_PROJECTED: Final = (
    INVALID + "Select type ALL_ATTRIBUTES is not supported for global secondary index {index} "
    "because its projection type is not ALL"
)
NOT_PROJECTED: Final = INVALID + "Global secondary index {index} does not project [{names}]"
FILTER_NOT_PROJECTED: Final = (
    INVALID + "Secondary index {index} does not project one or more filter attributes: [{names}]"
)
KEY_IN_FILTER: Final = (
    "{member} can only contain non-primary key attributes: Primary key attribute: {name}"
)
# Observed: another emulator's captures of four regions, October 2026: the current layer has one
# message for every start key that does not fit.
START_IS_NO_KEY: Final = f"{BAD_START}: {NOT_THE_SCHEMA}"
START_NOT_THE_SCHEMA: Final = Wording(BAD_START, older=START_IS_NO_KEY)
START_NOT_THE_INDEX: Final = Wording(BAD_START, older=NOT_THE_SCHEMA)


class PagedSource(NamedTuple):
    """The source of a read: a table or one of its indexes.

    Attributes:
        table: The table.
        secondary: The index, or None for the table itself.
        key: The effective key schema.
        key_names: The attributes of a LastEvaluatedKey (QRY-5).
    """

    table: Table
    secondary: Index | None
    key: KeySchema
    key_names: tuple[str, ...]

    @property
    def is_global(self) -> bool:
        """Return whether a global index is read."""
        return self.secondary is not None and self.secondary.schema.is_global


def source_of(account: Account, request: Mapping[str, Any]) -> PagedSource:
    """Return the table or index that a request reads, or refuse it (QRY-8, QRY-12, UT-10)."""
    table = account.table(request["TableName"])
    name = request.get("IndexName")
    if name is None:
        return PagedSource(table, None, table.key, table.key.names)
    index = table.indexes.get(name)
    if index is None:
        raise ValidationException(_refusal_of_index(table, request))
    schema = index.schema
    if schema.is_global and index.status(account.now_ns) == "CREATING":
        raise ValidationException(BACKFILLING.format(index=name))
    if schema.is_global and request.get("ConsistentRead"):
        raise ValidationException(CONSISTENT_GSI)
    return PagedSource(table, index, schema.key, schema.key_names)


def _refusal_of_index(table: Table, request: Mapping[str, Any]) -> str:
    """Return why an index cannot be read as others can: it is not there, or has vectors (VIX-50).

    Of the two operations only Query has a key condition, and it tells of ConsistentRead first.
    """
    name = request["IndexName"]
    if table.vectors is None or name not in table.vectors.live:
        return NO_INDEX.format(index=name)
    if request.keys().isdisjoint(("KeyConditionExpression", "KeyConditions")):
        return SCAN_OF_VECTORS
    return CONSISTENT_GSI if request.get("ConsistentRead") else QUERY_OF_VECTORS


# The start key


def load_start(request: Mapping[str, Any]) -> Item | None:
    """Return ExclusiveStartKey with its values loaded (ESK-3)."""
    written = request.get("ExclusiveStartKey")
    return None if written is None else load_start_key(written)


def start_position(source: PagedSource, start: Item, *, wrong_count: str = BAD_START) -> Position:
    """Return the position of a start key, or say why it is none (ESK-1, ESK-2).

    Args:
        source: The table or index to read.
        start: The start key.
        wrong_count: The message for a key with too few or too many attributes.
    """
    attributes = start.attributes
    if len(attributes) != len(source.key_names):
        raise ValidationException(wrong_count)
    if source.secondary is not None:
        for attribute in source.key.attributes:
            if attribute.name not in attributes:
                raise ValidationException(BAD_START)
            if not attribute.accepts(attributes[attribute.name]):
                raise RequestFault(START_NOT_THE_INDEX)
    for attribute in source.table.key.attributes:
        if not attribute.accepts(attributes.get(attribute.name)):
            raise RequestFault(START_NOT_THE_SCHEMA)
    key_values_are_not_empty(start, source.table.key)
    values = source.key.values(start)
    if source.secondary is not None:
        values += source.table.key.values(start)
    salt = source.table.settings.placement_salt
    return key_position(values, salt, len(source.key.partition))


# Select and projection


def load_projection(
    request: Mapping[str, Any], placeholders: Placeholders
) -> PathProjection | None:
    """Return the projection, legacy or current, or None."""
    text = request.get("ProjectionExpression")
    if text is not None:
        return parse_projection(text, placeholders)
    names = request.get("AttributesToGet")
    return None if names is None else PathProjection.of_names(names)


def select_fits(request: Mapping[str, Any]) -> None:
    """Refuse a Select that contradicts the projection or the lack of an index (SEL-2 to SEL-4)."""
    select = request.get("Select")
    if select is None:
        return
    member = next(
        (name for name in ("ProjectionExpression", "AttributesToGet") if request.get(name)), None
    )
    if select == "SPECIFIC_ATTRIBUTES":
        if member is None:
            raise RequestFault(NO_PROJECTION)
    elif member is not None:
        shown = "only the Count" if select == "COUNT" else select
        raise RequestFault(PROJECTION_AND_SELECT.format(member=member, select=shown))
    if select == "ALL_PROJECTED_ATTRIBUTES" and request.get("IndexName") is None:
        raise RequestFault(NOT_QUERYING_AN_INDEX)


def index_projects(
    source: PagedSource, request: Mapping[str, Any], projection: PathProjection | None
) -> None:
    """Refuse to read from a global index what it does not hold (SEL-5, SEL-6)."""
    if source.secondary is None or not source.is_global:
        return
    schema = source.secondary.schema
    if request.get("Select") == "ALL_ATTRIBUTES" and schema.projection.kind != "ALL":
        raise ValidationException(NOT_ALL_PROJECTED.format(index=schema.name))
    if projection is not None:
        absent = [name for name in projection.names if not schema.projects(name)]
        if absent:
            names = ", ".join(absent)
            raise ValidationException(NOT_PROJECTED.format(index=schema.name, names=names))


def needs_fetch(
    source: PagedSource, request: Mapping[str, Any], projection: PathProjection | None
) -> bool:
    """Return whether a local index must ask the table for attributes it lacks (CAP-210)."""
    if source.secondary is None or source.is_global:
        return False
    schema = source.secondary.schema
    if request.get("Select") == "ALL_ATTRIBUTES":
        return schema.entry_names is not None
    return projection is not None and not all(map(schema.projects, projection.names))


# The filter


def filter_leaves_keys_alone(condition: Condition | None, source: PagedSource, member: str) -> None:
    """Refuse a Query's filter on key attributes of what is read (QRY-6).

    Args:
        condition: The filter.
        source: The table or index to read.
        member: How messages call the filter.
    """
    if condition is None:
        return
    for path in condition.paths:
        if path[0] in source.key.names:
            raise ValidationException(KEY_IN_FILTER.format(member=member, name=path[0]))


def keys_are_scalars(source: PagedSource, mentions: Condition | PathProjection | None) -> None:
    """Refuse a filter or projection of what lies below a key attribute (QRY-7)."""
    if mentions is not None:
        keys.keys_are_scalars(mentions.paths, source.table.key, source.table.index_schemas)


def index_projects_filter(condition: Condition | None, source: PagedSource) -> None:
    """Refuse a Query's filter on what the index does not hold (QRY-10).

    A Scan accepts it, and finds nothing under the attribute.

    Observed: field reports of AppSync and dynamodb-toolbox, 2025 and 2026, and a capture of
    PartiQL in eu-west-2, August 2026, for global and local indexes alike.
    Assumed: the attributes come in alphabetical order, as in DynamoDB Local.
    """
    if condition is None or source.secondary is None:
        return
    schema = source.secondary.schema
    absent = {str(path[0]) for path in condition.paths if not schema.projects(str(path[0]))}
    if absent:
        names = ", ".join(sorted(absent))
        raise ValidationException(FILTER_NOT_PROJECTED.format(index=schema.name, names=names))


# The response


def page_response(
    request: Mapping[str, Any],
    source: PagedSource,
    page: Page,
    condition: Condition | None,
    projection: PathProjection | None,
) -> dict[str, Any]:
    """Filter and project a page, and say where the next one begins (QRY-2, QRY-4)."""
    kept = page.items
    if condition is not None:
        kept = list(compress(kept, condition.holding([item.attributes for item in kept])))
        page.receipt.items_returned = len(kept)
        page.receipt.bytes_returned = sum(item.size_bytes for item in kept)
    response: dict[str, Any] = {}
    if request.get("Select") == "COUNT":
        pass
    elif page.receipt.bytes_returned > responses.LONG_BYTES:
        show = partial(_shown, projection=projection)
        response = responses.LongAnswer(Items=responses.in_pieces(kept, show))
    else:
        response["Items"] = _shown(kept, projection)
    response["Count"] = len(kept)
    response["ScannedCount"] = len(page.items)
    if page.last is not None:
        attributes = page.last.attributes
        response["LastEvaluatedKey"] = dump_item(
            {name: attributes[name] for name in source.key_names}
        )
    mode = request.get("ReturnConsumedCapacity")
    if mode is not None:
        response.update(responses.consumed(mode, request["TableName"], page.receipt))
    return response


def _shown(kept: list[Item], projection: PathProjection | None) -> list[dict[str, Any]]:
    if projection is not None:
        return [dump_item(projection.pick(item.attributes)) for item in kept]
    return [dump_item(item.attributes) for item in kept]
