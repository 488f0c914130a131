"""Query: the items of one partition, in sort order, a page at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from emulator.engine import Account
from emulator.engine.reads import PageRequest, read_page
from emulator.expressions import (
    Condition,
    KeyCondition,
    PathProjection,
    legacy_key_condition,
    parse_condition,
    parse_key_condition,
    shown_value,
)
from emulator.model import Item, KeyRange
from emulator.operations import paging, shapes
from emulator.operations.registry import Request, Response, operation
from emulator.operations.rules import conditions, expressions, items
from emulator.service.errors import ValidationException
from emulator.storage import bounds

NO_KEY_CONDITION: Final = (
    "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
)
START_OUTSIDE: Final = (
    "The provided starting key is outside query boundaries based on provided conditions"
)
START_OF_ONE: Final = (
    "The provided exclusive start key is invalid: "
    "ExclusiveStartKey: {{{name}=AttributeValue: {{{value}}}}}"
)
START_OUTSIDE_RANGE: Final = "The provided starting key does not match the range key predicate"

SHAPE = shapes.item_request(
    # The value set is the service's own (LEG-11).
    ConditionalOperator=shapes.CONDITIONAL_OPERATOR.reworded(
        shapes.Rewording(
            "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]",
            hides_others=True,
            is_enveloped=False,
        )
    ),
    ReturnConsumedCapacity=shapes.RETURN_CONSUMED_CAPACITY,
    TableName=shapes.TABLE_NAME.required,
    Select=shapes.SELECT,
    Limit=shapes.POSITIVE.reworded(
        shapes.Rewording(
            shapes.NEWER_CONSTRAINT.format(path="Limit", rule=shapes.MIN_VALUE.format(n=1)),
            columns=("current", "older"),  # Observed: the public suite, May 2026
        )
    ),
    IndexName=shapes.INDEX_NAME,
    AttributesToGet=shapes.ATTRIBUTES_TO_GET,
    ConsistentRead=shapes.BOOLEAN,
    KeyConditions=shapes.CONDITIONS,
    QueryFilter=shapes.CONDITIONS,
    ScanIndexForward=shapes.BOOLEAN,
    ExclusiveStartKey=shapes.ATTRIBUTE_MAP,
    ProjectionExpression=shapes.STRING,
    FilterExpression=shapes.STRING,
    KeyConditionExpression=shapes.STRING,
    ExpressionAttributeNames=shapes.STRING_MAP,
    ExpressionAttributeValues=shapes.ATTRIBUTE_MAP,
)
LEGACY = ("AttributesToGet", "QueryFilter", "ConditionalOperator", "KeyConditions")
CURRENT = ("ProjectionExpression", "FilterExpression", "KeyConditionExpression")
VALUES_FOR = ("FilterExpression", "KeyConditionExpression")


@operation("Query", shape=SHAPE)
def query(account: Account, request: Request) -> Response:
    """Return one page of a partition, filtered after it was read and paid for."""
    # The order is observable (ERR-QUERY-1); the numbers are its steps.
    is_legacy = not request.keys().isdisjoint(LEGACY)
    if is_legacy:
        expressions.parameters_are_legacy_or_current(request, _legacy_of(request), CURRENT)  # 4
    expressions.placeholders_come_with_expressions(request, CURRENT, VALUES_FOR)  # 5
    condition, key_condition = _load_legacy(request) if is_legacy else (None, None)  # 6, 7
    start = paging.load_start(request)  # 8
    placeholders = expressions.load_placeholders(request)  # 9
    key_text = request.get("KeyConditionExpression")
    if key_text == "":  # 10
        key_condition = parse_key_condition("", placeholders)
    if "FilterExpression" in request:
        condition = parse_condition(
            request["FilterExpression"], placeholders, kind="FilterExpression"
        )
    projection = paging.load_projection(request, placeholders)
    if "Select" in request:
        paging.select_fits(request)  # 11
    if key_text is not None:  # 12
        key_condition = parse_key_condition(key_text, placeholders)
    placeholders.check_unused()
    if key_condition is None:  # 13
        raise ValidationException(NO_KEY_CONDITION)

    source = paging.source_of(account, request)  # 14 to 16
    start_at = None if start is None else paging.start_position(source, start)  # 17
    key_range = key_condition.range(source.key)  # 18
    if start is not None:
        _start_lies_in_range(source, start, key_range)
    is_plain = condition is None and projection is None and source.secondary is None
    if not is_plain:
        _mentions_fit(source, request, condition, projection)  # 19, 20

    low, high = bounds(key_range, source.table.settings.placement_salt)
    reverse = not request.get("ScanIndexForward", True)
    consistent = request.get("ConsistentRead", False)
    fetch = not is_plain and paging.needs_fetch(source, request, projection)
    key = low[: 1 + len(source.key.partition)]
    table, index, limit = source.table, source.secondary, request.get("Limit")
    page = read_page(
        account,
        PageRequest(table, index, low, high, start_at, reverse, limit, consistent, fetch, key),
    )
    if page.last is not None and _has_one_item(source):
        page = page._replace(last=None)
    return paging.page_response(request, source, page, condition, projection)


def key_condition_of(request: Request) -> KeyCondition:
    """Return the key condition of a Query that was not judged yet.

    Raises:
        ValidationException: it has none, or one that cannot be read.
    """
    text = request.get("KeyConditionExpression")
    if text is not None:
        return parse_key_condition(text, expressions.load_placeholders(request))
    _, key_condition = _load_legacy(request)
    if key_condition is None:
        raise ValidationException(NO_KEY_CONDITION)
    return key_condition


def _load_legacy(request: Request) -> tuple[Condition | None, KeyCondition | None]:
    """Return the filter and the key condition of legacy parameters, where there are any."""
    filter_entries = conditions.load_conditions(request.get("QueryFilter"))
    key_entries = conditions.load_conditions(request.get("KeyConditions"))
    condition = conditions.joined(filter_entries, request)
    key_condition = None if key_entries is None else legacy_key_condition(key_entries)
    items.names_are_distinct(request.get("AttributesToGet"))
    return condition, key_condition


def _mentions_fit(
    source: paging.PagedSource,
    request: Request,
    condition: Condition | None,
    projection: PathProjection | None,
) -> None:
    """Refuse a filter or projection that the keys or the index do not allow."""
    member = "QueryFilter" if "QueryFilter" in request else "Filter Expression"
    paging.keys_are_scalars(source, projection)
    paging.filter_leaves_keys_alone(condition, source, member)
    paging.keys_are_scalars(source, condition)
    paging.index_projects(source, request, projection)
    paging.index_projects_filter(condition, source)


def _legacy_of(request: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the parameters that no expression may stand beside (LEG-1).

    Observed: dynalite's and ScyllaDB's tests, both run against the service: KeyConditions goes
    with FilterExpression and ProjectionExpression, and only KeyConditionExpression forbids it.
    """
    return LEGACY if request.get("KeyConditionExpression") is not None else LEGACY[:-1]


def _has_one_item(source: paging.PagedSource) -> bool:
    """Return whether a partition is one item, after which nothing comes (ESK-5).

    Observed: ScyllaDB's tests, run against the service: no start key is taken then, not even the
    item's own; the words are those of November 2025. Assumed: so there is no
    LastEvaluatedKey; DynamoDB Local returns none.
    """
    return source.secondary is None and not source.key.sort


def _start_lies_in_range(source: paging.PagedSource, start: Item, key_range: KeyRange) -> None:
    """Refuse a start key that this query could not have returned (ESK-5).

    Observed: another emulator's captures of four regions, October 2026.
    """
    values = source.key.values(start)
    if _has_one_item(source):
        shown = shown_value(values[0])
        raise ValidationException(START_OF_ONE.format(name=source.key.names[0], value=shown))
    width = len(source.key.partition)
    if values[:width] != key_range.partition:
        raise ValidationException(START_OUTSIDE)
    if not key_range.holds(values[width:]):
        raise ValidationException(START_OUTSIDE_RANGE)
