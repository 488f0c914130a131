"""Scan: every item of a table or index, a page at a time, whole or in segments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from emulator.engine import Account
from emulator.engine.reads import PageRequest, read_page
from emulator.expressions import parse_condition
from emulator.model.wire import BAD_START
from emulator.operations import paging, shapes
from emulator.operations.registry import Request, Response, operation
from emulator.operations.rules import conditions, expressions, items
from emulator.service import errors, limits
from emulator.storage import Position, segment_bounds

NO_TOTAL: Final = (
    "The TotalSegments parameter is required but was not present in the request "
    "when Segment parameter is present"
)
NO_SEGMENT: Final = (
    "The Segment parameter is required but was not present in the request "
    "when parameter TotalSegments is present"
)
SEGMENT_TOO_HIGH: Final = (
    "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
    "Segment: {segment} is not less than TotalSegments: {total}"
)
START_ELSEWHERE: Final = (
    "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use "
    "ExclusiveStartKey with correct Segment. TotalSegments: {total} Segment: {segment}"
)

SHAPE = shapes.item_request(
    ReturnConsumedCapacity=shapes.RETURN_CONSUMED_CAPACITY,
    TableName=shapes.TABLE_NAME.required,
    Select=shapes.SELECT,
    Limit=shapes.POSITIVE,
    ConditionalOperator=shapes.CONDITIONAL_OPERATOR,
    Segment=shapes.Integer(0, limits.SEGMENTS - 1),
    TotalSegments=shapes.Integer(1, limits.SEGMENTS),
    IndexName=shapes.INDEX_NAME,
    AttributesToGet=shapes.ATTRIBUTES_TO_GET,
    ScanFilter=shapes.CONDITIONS,
    ConsistentRead=shapes.BOOLEAN,
    ExclusiveStartKey=shapes.ATTRIBUTE_MAP,
    ProjectionExpression=shapes.STRING,
    FilterExpression=shapes.STRING,
    ExpressionAttributeNames=shapes.STRING_MAP,
    ExpressionAttributeValues=shapes.ATTRIBUTE_MAP,
)
LEGACY = ("AttributesToGet", "ScanFilter", "ConditionalOperator")
CURRENT = ("ProjectionExpression", "FilterExpression")
VALUES_FOR = ("FilterExpression",)


@operation("Scan", shape=SHAPE)
def scan(account: Account, request: Request) -> Response:
    """Return one page in position order, filtered after it was read and paid for."""
    # The order is observable (ERR-SCAN-1).
    expressions.parameters_are_legacy_or_current(request, LEGACY, CURRENT)
    expressions.placeholders_come_with_expressions(request, CURRENT, VALUES_FOR)
    condition = conditions.joined(conditions.load_conditions(request.get("ScanFilter")), request)
    items.names_are_distinct(request.get("AttributesToGet"))
    start = paging.load_start(request)
    placeholders = expressions.load_placeholders(request)
    if request.get("FilterExpression") is not None:
        condition = parse_condition(
            request["FilterExpression"], placeholders, kind="FilterExpression"
        )
    projection = paging.load_projection(request, placeholders)
    paging.select_fits(request)
    segments_come_in_pairs(request)
    placeholders.check_unused()

    source = paging.source_of(account, request)
    low, high = segment_bounds(request.get("Segment", 0), request.get("TotalSegments", 1))
    start_at: Position | None = None
    if start is not None:
        misfit = BAD_START if source.secondary else paging.START_IS_NO_KEY
        start_at = paging.start_position(source, start, wrong_count=misfit)
        if not low <= start_at < high:
            raise errors.ValidationException(
                START_ELSEWHERE.format(total=request["TotalSegments"], segment=request["Segment"])
            )
    paging.keys_are_scalars(source, projection)
    paging.keys_are_scalars(source, condition)
    paging.index_projects(source, request, projection)

    consistent = request.get("ConsistentRead", False)
    fetch = paging.needs_fetch(source, request, projection)
    table, index, limit = source.table, source.secondary, request.get("Limit")
    page = read_page(
        account,
        PageRequest(table, index, low, high, start_at, False, limit, consistent, fetch),  # noqa: FBT003 - by keyword it takes twice as long
    )
    return paging.page_response(request, source, page, condition, projection)


def segments_come_in_pairs(request: Mapping[str, Any]) -> None:
    """Refuse a segment without its total, or beyond it (SCN-2)."""
    segment, total = request.get("Segment"), request.get("TotalSegments")
    if segment is None and total is None:
        return
    if total is None:
        raise errors.ValidationException(NO_TOTAL)
    if segment is None:
        raise errors.ValidationException(NO_SEGMENT)
    if segment >= total:
        raise errors.ValidationException(SEGMENT_TOO_HIGH.format(segment=segment, total=total))
