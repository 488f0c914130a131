"""SearchVectors: the entries of a vector index that are nearest to a vector (VIX-40 to VIX-45)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from emulator.capacity import Receipt
from emulator.engine import Account, Table
from emulator.engine.vector_indexes import SEARCHED, VectorIndex, search
from emulator.expressions import PathProjection, parse_projection
from emulator.expressions.search_condition import SearchCondition, parse_search_condition
from emulator.model import Item, Value, attributes_size, equal
from emulator.model.vectors import Vector, is_single, to_vector, vector_value
from emulator.model.wire import dump_item, load_value
from emulator.operations import paging, shapes
from emulator.operations.registry import Request, Response, operation
from emulator.operations.rules import expressions
from emulator.service import errors, limits
from emulator.storage.vectors import Hit, VectorSearch

MISSING: Final = "missing field `{name}` at line 1 column {column}"
WRONG_TYPE: Final = "invalid type: {given}, expected {wanted} at line 1 column {column}"
TOO_MANY: Final = (
    "Provided TopK value '{count}' is out of valid range. The value must be between 1 and 100 "
    "inclusive"
)
BACKFILLING: Final = "Cannot search backfilling vector index: {index}"
BAD_VECTOR: Final = (
    "Search vector contains invalid values. All values in the search vector must be a 32-bit "
    "floating-point number attribute"
)
WRONG_LENGTH: Final = (
    "Input search vector dimension {given} does not match vector index dimension {wanted}"
)
CONDITION_NEEDED: Final = (
    "SearchConditionExpression must be provided when SearchSchema has a HASH key"
)
# Assumed: the text, and that it is refused.
TOO_LARGE: Final = "Search results exceed the maximum size of 16 MB: ask for fewer or less of each"

#: What the service expects of a member, in the words of its parser (VIX-44).
_EXPECTED: Final = {
    "TableName": "a string",
    "IndexName": "a string",
    "SearchVector": "a sequence",
    "TopK": "i32",
}


class SearchRequest(shapes.Structure):
    """A request whose faults another parser reports than those of other operations (VIX-44).

    Assumed: columns are counted in JSON without spaces; the service counts in what was sent.
    """

    def without_nulls(self, request: dict[str, Any]) -> dict[str, Any]:
        """Refuse a null where a value is needed; elsewhere it is absent."""
        for name in _EXPECTED:
            if name in request and request[name] is None:
                raise errors.SerializationException(_wrong_type(request, name))
        return super().without_nulls(request)

    def check(self, request: Any) -> Sequence[str]:
        """Refuse wrong types, then what is missing, then the first broken constraint."""
        for name in _EXPECTED:
            if name in request and not _has_type(name, request[name]):
                raise errors.SerializationException(_wrong_type(request, name))
        self.check_types(request)
        for name in _EXPECTED:
            if name not in request:
                column = len(_text(request))
                raise errors.ValidationException(MISSING.format(name=name, column=column))
        problems = [text for name in self.members for text in self._problems(name, request)]
        if problems:
            raise errors.RequestFault(shapes.envelope(*problems), is_final=True)
        return tuple(dict.fromkeys(self.unknown(request)))

    def _problems(self, name: str, request: Mapping[str, Any]) -> Iterator[str]:
        """Yield the faults of a member: its name as it is written, and never its value."""
        if request.get(name) is None:
            return
        for problem in self.members[name].problems(request[name], name):
            rule = problem.partition("failed to satisfy constraint: ")[2]
            yield shapes.NEWER_CONSTRAINT.format(path=name, rule=rule)


def _has_type(name: str, value: Any) -> bool:
    if name == "TopK":
        return type(value) is int
    return type(value) is (list if name == "SearchVector" else str)


def _text(request: Mapping[str, Any]) -> str:
    return json.dumps(request, separators=(",", ":"), default=str)


def _wrong_type(request: Mapping[str, Any], name: str) -> str:
    """Return the message on a member's type; the column is that of the value's last letter."""
    before = {}
    for member, value in request.items():
        before[member] = value
        if member == name:
            break
    column = len(_text(before)) - 1
    return WRONG_TYPE.format(given=_kind(request[name]), wanted=_EXPECTED[name], column=column)


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"boolean `{str(value).lower()}`"
    if isinstance(value, int | float):
        return f"{'floating point' if isinstance(value, float) else 'integer'} `{value}`"
    if isinstance(value, str):
        return f'string "{value}"'
    return "map" if isinstance(value, dict) else "sequence"


SHAPE = SearchRequest(
    {
        "TableName": shapes.TABLE_NAME.required,
        "IndexName": shapes.INDEX_NAME.required,
        "SearchVector": shapes.List(shapes.VALUE, least=1, most=limits.VECTOR_DIMENSIONS).required,
        "TopK": shapes.POSITIVE.required,
        "ReturnConsumedCapacity": shapes.RETURN_CONSUMED_CAPACITY,
        "SearchConditionExpression": shapes.STRING,
        "ProjectionExpression": shapes.STRING,
        "ExpressionAttributeNames": shapes.STRING_MAP,
        "ExpressionAttributeValues": shapes.ATTRIBUTE_MAP,
    }
)
CURRENT = ("SearchConditionExpression", "ProjectionExpression")
VALUES_FOR = ("SearchConditionExpression",)


@operation("SearchVectors", shape=SHAPE)
def search_vectors(account: Account, request: Request) -> Response:
    """Return the nearest entries, most similar first, each with its score."""
    # The order is observable (VIX-44); the numbers are its steps, the shape has 1 to 3.
    if request["TopK"] > limits.SEARCH_RESULTS:  # 4
        raise errors.ValidationException(TOO_MANY.format(count=request["TopK"]))
    condition, projection = _load_expressions(request)  # 5
    table = account.table(request["TableName"])  # 6
    index = _searchable(account, table, request["IndexName"])  # 7
    vector = _load_vector(request["SearchVector"])  # 8
    if len(vector) != index.schema.dimensions:  # 9
        raise errors.ValidationException(
            WRONG_LENGTH.format(given=len(vector), wanted=index.schema.dimensions)
        )
    wanted = VectorSearch(vector, request["TopK"], index.schema.distance)
    shows_vector = (
        projection is not None
        and index.schema.projects_vector
        and index.schema.attribute in projection.names
    )
    hits, receipt = search(
        account,
        table,
        index,
        _narrowed(wanted, index, condition),  # 10 to 16
        shows_vector=shows_vector,
    )
    results = [_result(hit, index, projection, shows_vector=shows_vector) for hit in hits]
    if sum(attributes_size(item) for item, _ in results) > limits.SEARCH_BYTES:
        raise errors.ValidationException(TOO_LARGE)
    response: Response = {
        "SearchResults": [{"Item": dump_item(item), "Score": score} for item, score in results]
    }
    return response | _consumed(request.get("ReturnConsumedCapacity"), receipt)


def _load_expressions(request: Request) -> tuple[SearchCondition | None, PathProjection | None]:
    expressions.placeholders_come_with_expressions(request, CURRENT, VALUES_FOR)
    placeholders = expressions.load_placeholders(request)
    condition = projection = None
    if request.get("SearchConditionExpression") is not None:
        condition = parse_search_condition(request["SearchConditionExpression"], placeholders)
    if request.get("ProjectionExpression") is not None:
        projection = parse_projection(request["ProjectionExpression"], placeholders)
    placeholders.check_unused()
    return condition, projection


def _searchable(account: Account, table: Table, name: str) -> VectorIndex:
    """Return the index to search, or say why it cannot be (VIX-21, VIX-22)."""
    now_ns = account.now_ns
    index = None if table.vectors is None else table.vectors.live.get(name)
    if index is not None and index.is_backfilling(now_ns):
        raise errors.ValidationException(BACKFILLING.format(index=name))
    if index is None or now_ns < index.searchable_at_ns or index.status(now_ns) == "CREATING":
        raise errors.ValidationException(paging.NO_INDEX.format(index=name))
    return index


def _load_vector(written: Sequence[Any]) -> Vector:
    try:
        values = [load_value(value) for value in written]
    except errors.ValidationException:
        raise errors.ValidationException(BAD_VECTOR) from None
    numbers = [value for value in values if isinstance(value, Decimal) and is_single(value)]
    if len(numbers) < len(values):
        raise errors.ValidationException(BAD_VECTOR)
    return to_vector(numbers)


def _narrowed(
    wanted: VectorSearch, index: VectorIndex, condition: SearchCondition | None
) -> VectorSearch:
    """Return the search within the partition and by the filters that a condition names."""
    partition = index.schema.partition
    if condition is None:
        if partition is not None:
            raise errors.ValidationException(CONDITION_NEEDED)
        return wanted
    values = condition.under(index.schema)
    if partition is not None:
        wanted = wanted._replace(partition=values.pop(partition.name))  # type: ignore[arg-type]  # a key's type
    if not values:
        return wanted

    def keep(item: Item) -> bool:
        attributes = item.attributes
        return all(
            name in attributes and equal(attributes[name], value) for name, value in values.items()
        )

    return wanted._replace(keep=keep)


def _result(
    hit: Hit, index: VectorIndex, projection: PathProjection | None, *, shows_vector: bool
) -> tuple[dict[str, Value], float]:
    """Return the attributes and score of an entry: the vector only where named (VIX-41)."""
    attributes = hit.item.attributes
    if projection is None:
        return dict(attributes), hit.score
    if shows_vector:
        attributes = {**attributes, index.schema.attribute: vector_value(hit.vector)}
    return projection.pick(attributes), hit.score


def _consumed(mode: str | None, receipt: Receipt) -> Response:
    """Return the bytes searched, whichever report is asked for (VIX-60)."""
    if mode is None or mode == "NONE":
        return {}
    return {"ConsumedCapacity": {SEARCHED: sum(receipt.vectors.values())}}
