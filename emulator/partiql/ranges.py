"""Key ranges of a SELECT: branches with their values, checked, apart and in order.

Rules PQL-5, PQL-9. What a range cannot hold stays a filter; the filter is the whole condition,
so a range only has to be wide enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final, NamedTuple

from emulator import model
from emulator.partiql.ast import Order, Values
from emulator.partiql.branches import Branch, BranchClause, Branches
from emulator.service.errors import ValidationException

OVERLAP: Final = "Overlapping conditions with range keys are not supported in where clause"
# Observed: another emulator's capture of eu-west-2, September 2026.
KEY_TYPE: Final = (
    "Key attribute's data type should match its data type in table's schema: Key {name}"
)
# Source: the list of validation messages of DynamoDB Local, as two other emulators have it.
NO_KEY_VALUE: Final = "Key value must be of type S, N, or B. Key name: {name}, Key type: {type}"
ORDER_WITHOUT_WHERE: Final = "Must have WHERE clause in the statement when using ORDER BY clause."
ORDER_NO_KEY: Final = "Attribute {name} in ORDER BY clause must be part of the primary key"
ORDER_WITHOUT_KEY: Final = (
    "Must have at least one non-optional hash key condition in WHERE clause "
    "when using ORDER BY clause."
)
ORDER_OF_PARTITIONS: Final = (
    "Must have hash key in ORDER BY clause when more than one hash key condition "
    "specified in WHERE clause."
)


class KeyFault(ValidationException):
    """A statement names no key of the schema; transactions word it in their own way."""

    code = "ValidationException"

    def __init__(self, message: str, in_transactions: str = model.NOT_THE_SCHEMA) -> None:
        super().__init__(message)
        self.in_transactions = in_transactions


class Range(NamedTuple):
    """A run of keys in one item collection, while its bounds are being found.

    ``filters`` are the attributes that the branch filters on beside, and ``is_filtered`` is
    whether it filters at all.
    """

    partition: model.KeyValue
    lower: model.KeyValue | None = None
    upper: model.KeyValue | None = None
    lower_inclusive: bool = True
    upper_inclusive: bool = True
    filters: tuple[str, ...] = ()
    is_filtered: bool = False

    @property
    def is_empty(self) -> bool:
        """Return whether no key can lie in the range."""
        if self.lower is None or self.upper is None:
            return False
        if self.lower == self.upper:
            return not (self.lower_inclusive and self.upper_inclusive)
        return bool(self.lower > self.upper)  # type: ignore[operator]  # one type per key

    @property
    def key_range(self) -> model.KeyRange:
        """The range as stores know it."""
        if self.lower is not None and self.lower == self.upper:
            return model.KeyRange((self.partition,), (self.lower,))
        return model.KeyRange(
            (self.partition,),
            (),
            self.lower,
            self.upper,
            self.lower_inclusive,
            self.upper_inclusive,
        )

    def above(self, bound: model.KeyValue, *, inclusive: bool) -> Range:
        """Return the part of the range above a bound."""
        if self.lower is not None and (
            bound < self.lower  # type: ignore[operator]  # one type per key
            or (bound == self.lower and inclusive >= self.lower_inclusive)
        ):
            return self
        return self._replace(lower=bound, lower_inclusive=inclusive)

    def below(self, bound: model.KeyValue, *, inclusive: bool) -> Range:
        """Return the part of the range below a bound."""
        if self.upper is not None and (
            bound > self.upper  # type: ignore[operator]  # one type per key
            or (bound == self.upper and inclusive >= self.upper_inclusive)
        ):
            return self
        return self._replace(upper=bound, upper_inclusive=inclusive)

    def reaches(self, other: Range) -> bool:
        """Return whether a range that begins no earlier in the same collection overlaps."""
        if self.upper is None or other.lower is None:
            return True
        if self.upper == other.lower:
            return self.upper_inclusive and other.lower_inclusive
        return bool(self.upper > other.lower)  # type: ignore[operator]  # one type per key


def ranges_of(branches: Branches, values: Values, key: model.KeySchema) -> list[Range] | None:
    """Return the ranges of branches in key order, or None if only a scan can serve them.

    Raises:
        ValidationException: a value does not suit the key, or ranges overlap (PQL-9).
    """
    all_ranges = [_range_of(branch, values, key) for branch in branches]
    ranges = [
        key_range for key_range in all_ranges if key_range is not None and not key_range.is_empty
    ]
    if len(ranges) > 1:
        distinct = dict.fromkeys(key_range.partition for key_range in ranges)
        ranks = {partition: rank for rank, partition in enumerate(distinct)}
        ranges.sort(key=lambda key_range: (ranks[key_range.partition], *_start(key_range)))
        if _overlap(ranges):
            # Observed: the public suite, October 2026: what a negated sort key overlaps is
            # read all the same. Assumed: by a scan.
            if any(branch.negates for branch in branches):
                return None
            raise ValidationException(OVERLAP)
    return ranges


def _start(key_range: Range) -> tuple[Any, ...]:
    return key_range.lower is not None, key_range.lower, not key_range.lower_inclusive


def _overlap(ranges: Sequence[Range]) -> bool:
    return any(
        first.partition == second.partition and first.reaches(second)
        for first, second in pairwise(ranges)
    )


def _range_of(branch: Branch, values: Values, key: model.KeySchema) -> Range | None:
    """Return the range of a branch, or None if it asks for two partitions at once."""
    partition_name = key.names[0]
    for clause in branch.clauses:
        _check_values(clause, values, key)
    wanted = [
        _key_value(clause.literals[0], values)
        for clause in branch.clauses
        if clause.name == partition_name
    ]
    if any(value != wanted[0] for value in wanted):
        return None
    key_range = Range(wanted[0], filters=branch.filters, is_filtered=branch.is_filtered)
    for clause in branch.clauses:
        if clause.name != partition_name:
            key_range = _narrowed(key_range, clause, values)
    return key_range


def _key_value(literal: str, values: Values) -> model.KeyValue:
    return values[literal]  # type: ignore[return-value]  # _check_values saw to it


def _check_values(clause: BranchClause, values: Values, key: model.KeySchema) -> None:
    attribute = key.attributes[key.names.index(clause.name)]
    wanted = model.KEY_CLASSES[attribute.type]
    for literal in clause.literals:
        value = values[literal]
        if type(value) is not wanted:
            if model.type_name(value) not in model.KEY_CLASSES:
                raise KeyFault(NO_KEY_VALUE.format(name=clause.name, type=model.type_name(value)))
            raise KeyFault(KEY_TYPE.format(name=clause.name))
        if wanted is not Decimal and not 0 < len(value) <= key.short:  # type: ignore[arg-type]  # text or bytes
            key_item = model.Item.of({clause.name: value})
            model.key_values_are_not_empty(key_item, key)
            model.key_values_are_not_too_long(key_item, key)


def _narrowed(key_range: Range, clause: BranchClause, values: Values) -> Range:
    """Return the part of a range that a condition on the sort key leaves."""
    operator = clause.operator
    first = _key_value(clause.literals[0], values)
    last = _key_value(clause.literals[-1], values)
    if operator == "begins_with":
        following = model.successor(first)  # type: ignore[arg-type]  # checked to be text or binary
        key_range = key_range.above(first, inclusive=True)
        return key_range if following is None else key_range.below(following, inclusive=False)
    if operator in ("=", ">", ">=", "BETWEEN"):
        key_range = key_range.above(first, inclusive=operator != ">")
    if operator in ("=", "<", "<=", "BETWEEN"):
        key_range = key_range.below(last, inclusive=operator != "<")
    return key_range


def in_order(
    ranges: list[Range] | None, order: Sequence[Order], key: model.KeySchema
) -> tuple[list[Range] | None, bool]:
    """Return the ranges as ORDER BY asks, and whether each is read backwards (PQL-5).

    Observed: another emulator's capture of eu-west-2, September 2026: an ORDER BY that does
    not name the sort key reads it from above.

    Raises:
        ValidationException: the order is not one of keys, or the keys are not fixed.
    """
    if not order:
        return ranges, False
    for term in order:
        if term.name not in key.names:
            raise ValidationException(ORDER_NO_KEY.format(name=term.name))
    if ranges is None:
        raise ValidationException(ORDER_WITHOUT_KEY)
    directions = {term.name: term.descending for term in reversed(order)}
    partition_name, *sort_names = key.names
    if partition_name not in directions and len({key_range.partition for key_range in ranges}) > 1:
        raise ValidationException(ORDER_OF_PARTITIONS)
    backwards = all(directions.get(name, True) for name in sort_names)
    if backwards:
        ranges = ranges[::-1]
    if partition_name in directions:
        ranges = sorted(
            ranges,
            key=lambda key_range: key_range.partition,
            reverse=directions[partition_name],
        )
    return ranges, backwards
