"""Request members as data, one checker, aggregated messages.

Each operation declares a ``structure`` of members in the order in which the service reports
their faults. A request is read twice only when something is wrong: ``accepts`` is one quick
pass; if it fails, JSON types are judged first (WIR-12), then every constraint, and all
broken ones are answered together (ERR-SHAPE-1).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from copy import copy
from functools import partial
from itertools import chain
from math import isfinite
from typing import Any, Final, NamedTuple, Self

from emulator.model import wire
from emulator.service.errors import RequestFault, SerializationException
from emulator.service.wording import Wording

CONSTRAINT: Final = "Value {value} at '{path}' failed to satisfy constraint: {rule}"
NEWER_CONSTRAINT: Final = "Value at '{path}' failed to satisfy constraint: {rule}"
_NULL_AT, _NULL_RULE = CONSTRAINT.format(
    value="null", path="\0", rule="Member must not be null"
).split("\0")
MIN_LENGTH: Final = "Member must have length greater than or equal to {n}"
MAX_LENGTH: Final = "Member must have length less than or equal to {n}"
MIN_VALUE: Final = "Member must have value greater than or equal to {n}"
MAX_VALUE: Final = "Member must have value less than or equal to {n}"
PATTERN: Final = "Member must satisfy regular expression pattern: {pattern}"
ENUM: Final = "Member must satisfy enum value set: [{values}]"
NAME_PATTERN: Final = "[a-zA-Z0-9_.-]+"
_ARN_LENGTH: Final = 1024  # Source: TBL-1
_KNOWN_NAMES: Final = 1024  # table names that are not judged again
#: The largest whole number of the service's own language.
_LONG: Final = 2**63 - 1
#: ERR-SHAPE-1: at most ten are listed.
MOST_FAULTS: Final = 10


def envelope(*problems: str) -> str:
    """Join constraint problems into the message that lists them (the E() of the rules).

    >>> envelope("Value null at 'key' failed to satisfy constraint: Member must not be null")
    "1 validation error detected: Value null at 'key' failed to satisfy constraint: Member ..."
    """
    count = len(problems)
    noun = "error" if count == 1 else "errors"
    return f"{count} validation {noun} detected: {'; '.join(problems[:MOST_FAULTS])}"


def camel(name: str) -> str:
    """Return a member name as constraint paths write it (ERR-SHAPE-3).

    >>> camel("TableName"), camel("SSESpecification")
    ('tableName', 'sSESpecification')
    """
    return name[:1].lower() + name[1:]


def enveloped(text: str) -> Wording:
    """Return a sentence that the current layer puts into the envelope, whatever the operation."""
    return Wording(envelope(text), older=text)


class Rewording(NamedTuple):
    """The words of some request layers for a member's fault (ERR-SHAPE-4).

    Attributes:
        text: The whole problem.
        hides_others: Whether no other problem is reported beside it.
        is_enveloped: Whether it stands in the envelope; one that does not hides the others.
        columns: The wordings that say it.
    """

    text: str
    hides_others: bool = False
    is_enveloped: bool = True
    columns: tuple[str, ...] = ("current",)


class Member:
    """A member of a request: its JSON type and its constraints."""

    is_required: bool = False
    rewording: Rewording | None = None

    def reworded(self, rewording: Rewording) -> Self:
        """Return this member with other words for its faults."""
        twin = copy(self)
        twin.rewording = rewording
        return twin

    @property
    def required(self) -> Self:
        """Return this member as one that must not be null."""
        twin = copy(self)
        twin.is_required = True
        return twin

    def accepts(self, value: Any) -> bool:
        """Return whether type and constraints hold."""
        raise NotImplementedError

    def check_types(self, value: Any) -> None:
        """Raise SerializationException if the JSON type is wrong, at any depth."""
        raise NotImplementedError

    def problems(self, value: Any, path: str) -> Iterator[str]:
        """Yield the message of each broken constraint, in the service's order."""
        raise NotImplementedError

    def unknown(self, value: Any, path: str) -> Iterator[str]:  # noqa: ARG002 - for subclasses
        """Yield the dotted names of members, at any depth, that no structure has."""
        return iter(())


def _too_short(value: Sized, least: int, shown: Callable[[], str], path: str) -> Iterator[str]:
    if len(value) < least:
        yield CONSTRAINT.format(value=shown(), path=path, rule=MIN_LENGTH.format(n=least))


def _too_long(value: Sized, most: int | None, shown: Callable[[], str], path: str) -> Iterator[str]:
    if most is not None and len(value) > most:
        yield CONSTRAINT.format(value=shown(), path=path, rule=MAX_LENGTH.format(n=most))


class String(Member):
    """A text with length, pattern or enumeration constraints."""

    def __init__(
        self,
        least: int = 0,
        most: int | None = None,
        pattern: str | None = None,
        enum: tuple[str, ...] = (),
    ) -> None:
        self.least, self.most = least, most
        self.pattern = pattern
        self._matches = re.compile(pattern).fullmatch if pattern else None
        self.enum = enum

    def accepts(self, value: Any) -> bool:
        """Return whether type and constraints hold."""
        if type(value) is not str:
            return False
        if self.enum:
            return value in self.enum
        if len(value) < self.least or (self.most is not None and len(value) > self.most):
            return False
        return self._matches is None or self._matches(value) is not None

    def check_types(self, value: Any) -> None:
        """Raise SerializationException unless the value is a text."""
        if type(value) is not str:
            raise SerializationException(wire.scalar_text(value, "String"))

    def problems(self, value: Any, path: str) -> Iterator[str]:
        """Yield pattern, minimum, maximum and enumeration faults."""
        quoted = f"'{value}'"
        if self._matches is not None and self._matches(value) is None:
            yield CONSTRAINT.format(
                value=quoted, path=path, rule=PATTERN.format(pattern=self.pattern)
            )
        yield from _too_short(value, self.least, lambda: quoted, path)
        yield from _too_long(value, self.most, lambda: quoted, path)
        if self.enum and value not in self.enum:
            rule = ENUM.format(values=", ".join(self.enum))
            yield CONSTRAINT.format(value=quoted, path=path, rule=rule)


class Integer(Member):
    """A whole number with bounds."""

    def __init__(
        self, least: int | None = None, most: int | None = None, java: str = "Integer"
    ) -> None:
        self.least, self.most, self.java = least, most, java
        self._low = -_LONG if least is None else least
        self._high = _LONG if most is None else most

    def accepts(self, value: Any) -> bool:
        """Return whether type and constraints hold."""
        return type(value) is int and self._low <= value <= self._high

    def check_types(self, value: Any) -> None:
        """Raise SerializationException unless the value is a whole number of 64 bits.

        Assumed: a number written with a fraction is not a whole number, even if that is zero.
        """
        if type(value) is not int or not -_LONG <= value <= _LONG:
            raise SerializationException(wire.scalar_text(value, self.java))

    def problems(self, value: Any, path: str) -> Iterator[str]:
        """Yield bound faults."""
        if self.least is not None and value < self.least:
            rule = MIN_VALUE.format(n=self.least)
            yield CONSTRAINT.format(value=f"'{value}'", path=path, rule=rule)
        if self.most is not None and value > self.most:
            rule = MAX_VALUE.format(n=self.most)
            yield CONSTRAINT.format(value=f"'{value}'", path=path, rule=rule)


class TruncatedInteger(Integer):
    """A whole number of which a fraction is cut off (VIX-10)."""

    def accepts(self, value: Any) -> bool:
        """Return whether type and constraints hold."""
        return super().accepts(int(value) if type(value) is float and isfinite(value) else value)

    def check_types(self, value: Any) -> None:
        """Raise SerializationException unless the value is a number of 64 bits."""
        super().check_types(int(value) if type(value) is float and isfinite(value) else value)

    def problems(self, value: Any, path: str) -> Iterator[str]:
        """Yield bound faults."""
        return super().problems(int(value), path)


class Boolean(Member):
    """True or false."""

    def accepts(self, value: Any) -> bool:
        """Return whether the type holds."""
        return value is True or value is False

    def check_types(self, value: Any) -> None:
        """Raise SerializationException unless the value is a boolean."""
        if type(value) is not bool:
            raise SerializationException(wire.scalar_text(value, "Boolean"))

    def problems(self, value: Any, path: str) -> Iterator[str]:  # noqa: ARG002 - the Member interface
        """Yield nothing: a boolean has no constraints."""
        return iter(())


class Number(Member):
    """A number of any kind; a time is seconds since the epoch."""

    def __init__(self, java: str) -> None:
        self.java = java

    def accepts(self, value: Any) -> bool:
        """Return whether the type holds."""
        return type(value) in (int, float) and abs(value) <= _LONG

    def check_types(self, value: Any) -> None:
        """Raise SerializationException unless the value is a number, neither endless nor none."""
        if not self.accepts(value):
            raise SerializationException(wire.scalar_text(value, self.java))

    def problems(self, value: Any, path: str) -> Iterator[str]:  # noqa: ARG002 - the Member interface
        """Yield nothing: such a number has no constraints."""
        return iter(())


class AttributeValue(Member):
    """A value; what is in it is judged when it is loaded."""

    def accepts(self, value: Any) -> bool:
        """Return whether the type holds on the surface."""
        return type(value) is dict

    def check_types(self, value: Any) -> None:
        """Raise SerializationException if a JSON type is wrong anywhere in the value."""
        wire.check_value_types(value)

    def problems(self, value: Any, path: str) -> Iterator[str]:  # noqa: ARG002 - the Member interface
        """Yield nothing: values have rules of their own."""
        return iter(())


class List(Member):
    """A list of members, with length constraints."""

    def __init__(self, member: Member, least: int = 0, most: int | None = None) -> None:
        self.member, self.least, self.most = member, least, most

    def accepts(self, value: Any) -> bool:
        """Return whether type and constraints hold, for every member."""
        if type(value) is not list:
            return False
        if len(value) < self.least or (self.most is not None and len(value) > self.most):
            return False
        return all(map(self.member.accepts, value))

    def check_types(self, value: Any) -> None:
        """Raise SerializationException unless the value is a list of the right things."""
        if type(value) is not list:
            if type(value) is dict:
                raise SerializationException("Start of structure or map found where not expected")
            raise SerializationException("Unexpected field type")
        for member in value:
            if member is not None:
                self.member.check_types(member)

    def problems(self, value: Any, path: str) -> Iterator[str]:
        """Yield a fault of too few, those of the members, then one of too many (ERR-CT-1).

        A list of empty structures has more faults than bytes. After the ten that are listed, no
        other is worded (ERR-SHAPE-1).
        """
        shown = partial(_quoted, value, self)
        yield from _too_short(value, self.least, shown, path)
        unlisted = self.member.unlisted if isinstance(self.member, Structure) else ()
        reported = 0
        for number, member in enumerate(value, start=1):
            if not member and unlisted and reported >= MOST_FAULTS:
                yield from ("",) if member is None else unlisted
                continue
            member_path = f"{path}.{number}.member"
            if member is None:
                problems: Iterable[str] = (f"{_NULL_AT}{member_path}{_NULL_RULE}",)
            else:
                problems = self.member.problems(member, member_path)
            for problem in problems:
                reported += 1
                yield problem
        yield from _too_long(value, self.most, shown, path)

    def unknown(self, value: Any, path: str) -> Iterator[str]:
        """Yield those of the members."""
        for member in value:
            if member is not None:
                yield from self.member.unknown(member, path)


class Map(Member):
    """A map from texts to members, with constraints on its keys and its size."""

    def __init__(
        self, member: Member, key: String | None = None, least: int = 0, most: int | None = None
    ) -> None:
        self.member, self.key, self.least, self.most = member, key, least, most

    def accepts(self, value: Any) -> bool:
        """Return whether type and constraints hold, for every entry."""
        if type(value) is not dict:
            return False
        if len(value) < self.least or (self.most is not None and len(value) > self.most):
            return False
        if self.key is not None and not all(map(self.key.accepts, value)):
            return False
        return all(map(self.member.accepts, value.values()))

    def check_types(self, value: Any) -> None:
        """Raise SerializationException unless the value is a map of the right things."""
        if type(value) is not dict:
            if type(value) is list and isinstance(self.member, AttributeValue):
                raise SerializationException(
                    "Unrecognized collection type java.util.Map<java.lang.String, "
                    "com.amazonaws.dynamodb.v20120810.AttributeValue>"
                )
            raise SerializationException("Unexpected field type")
        for member in value.values():
            if member is not None:
                self.member.check_types(member)

    def problems(self, value: Any, path: str) -> Iterator[str]:
        """Yield size and key faults, then those of the entries."""
        shown = partial(_quoted, value, self)
        yield from _too_short(value, self.least, shown, path)
        yield from _too_long(value, self.most, shown, path)
        if self.key is not None and not all(map(self.key.accepts, value)):
            rules = (
                f"{MAX_LENGTH.format(n=self.key.most)}, {MIN_LENGTH.format(n=self.key.least)}, "
                f"{PATTERN.format(pattern=self.key.pattern)}"
            )
            rule = f"Map keys must satisfy constraint: [{rules}]"
            yield CONSTRAINT.format(value=shown(), path=path, rule=rule)
        for name, member in value.items():
            if member is not None:
                yield from self.member.problems(member, f"{path}.{name}.member")
            elif not isinstance(self.member, AttributeValue):
                # Assumed: as in a list. A null value is checked when it is loaded.
                yield f"{_NULL_AT}{path}.{name}.member{_NULL_RULE}"

    def unknown(self, value: Any, path: str) -> Iterator[str]:
        """Yield those of the entries."""
        for member in value.values():
            if member is not None:
                yield from self.member.unknown(member, path)


class AttributeMap(Map):
    """A map of values, as items and keys are: the most frequent member by far."""

    def __init__(self) -> None:
        super().__init__(AttributeValue())

    def accepts(self, value: Any) -> bool:
        """Return whether it is a map; its values are judged when they are loaded."""
        return type(value) is dict


class Structure(Member):
    """A structure: named members; unknown ones have no effect, null ones are absent (WIR-15)."""

    def __init__(self, members: Mapping[str, Member], name: str = "") -> None:
        self.members = dict(members)
        self.name = name
        self._needed = tuple(name for name, member in members.items() if member.is_required)
        self._paths = {name: camel(name) for name in members}
        #: The faults of an empty structure, counted but not worded.
        self.unlisted = ("",) * len(self._needed)

    def accepts(self, value: Any) -> bool:
        """Return whether all types and constraints hold, and nothing is unknown or null."""
        if type(value) is not dict:
            return False
        members = self.members
        for name, member_value in value.items():
            member = members.get(name)
            if member is None or not member.accepts(member_value):
                return False
        for name in self._needed:  # noqa: SIM110 - asked of every request
            if name not in value:
                return False
        return True

    def check_types(self, value: Any) -> None:
        """Raise SerializationException for the first wrong JSON type."""
        if type(value) is not dict:
            if type(value) is list:
                raise SerializationException(
                    "Unrecognized collection type class com.amazonaws.dynamodb.v20120810."
                    + (self.name or "Structure")
                )
            raise SerializationException("Unexpected field type")
        for name, member_value in value.items():
            member = self.members.get(name)
            if member is not None and member_value is not None:
                member.check_types(member_value)

    def problems(self, value: Any, path: str) -> Iterator[str]:
        """Yield the faults of the members, in declared order."""
        for _, problems in self._member_problems(value, f"{path}."):
            yield from problems

    def _member_problems(self, value: Any, prefix: str) -> Iterator[tuple[Member, list[str]]]:
        """Yield the members that have faults, each with its own."""
        for name, member in self.members.items():
            member_value = value.get(name)
            if member_value is not None:
                problems = list(member.problems(member_value, prefix + self._paths[name]))
                if problems:
                    yield member, problems
            elif member.is_required:
                yield member, [f"{_NULL_AT}{prefix}{self._paths[name]}{_NULL_RULE}"]

    def unknown(self, value: Any, path: str = "") -> Iterator[str]:
        """Yield the names of members that the structure does not have."""
        for name, member_value in value.items():
            member = self.members.get(name)
            member_path = f"{path}.{name}" if path else name
            if member is None and member_value is not None:
                yield member_path
            elif member is not None and member_value is not None:
                yield from member.unknown(member_value, member_path)

    def without_nulls(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return a request without the members that are null: they are absent (WIR-15)."""
        return {member: value for member, value in request.items() if value is not None}

    def check(self, request: Any) -> Sequence[str]:
        """Refuse a faulty request: types first, then all broken constraints together.

        Nearly every request is accepted, and callers that asked ``accepts`` need not call this.

        Returns:
            The names of members that the request has and the structure does not.

        Raises:
            SerializationException: a wrong JSON type.
            RequestFault: the aggregated constraint message; no profile wraps it again.
        """
        self.check_types(request)
        problems = list(self._member_problems(request, ""))
        if problems:
            self._refuse(request, problems)
        return tuple(dict.fromkeys(self.unknown(request)))

    def _refuse(self, request: Any, problems: list[tuple[Member, list[str]]]) -> None:
        """Raise the aggregated fault, in every wording that has words of its own."""
        rewordings = {member.rewording for member, _ in problems} - {None}
        if not rewordings:
            text = envelope(*chain.from_iterable(own for _, own in problems))
            raise RequestFault(Wording(text, older=text), is_final=True)
        columns = {"current", "older"}.union(*(own.columns for own in rewordings if own))
        complete = self.is_complete(request)
        wording = {column: _aggregated(column, problems, complete) for column in columns}
        raise RequestFault(Wording(**wording), is_final=True)

    def is_complete(self, request: Any) -> bool:
        """Return whether a request has every member that it needs."""
        return all(request.get(name) is not None for name in self._needed)


def _aggregated(column: str, problems: list[tuple[Member, list[str]]], complete: bool) -> str:  # noqa: FBT001 - private
    """Return the message of one wording; an incomplete request hides no problem (ERR-UPD-2)."""
    texts: list[str] = []
    for member, own in problems:
        rewording = member.rewording
        if (
            rewording is None
            or column not in rewording.columns
            or (rewording.hides_others and not complete)
        ):
            texts += own
        elif rewording.hides_others:
            return envelope(rewording.text) if rewording.is_enveloped else rewording.text
        else:
            texts += [rewording.text] * len(own)
    return envelope(*texts)


class TableName(String):
    """A table's name, or its ARN, on the data plane (TBL-1).

    Observed: another emulator's captures of seven regions, October 2026: one or two characters
    are too few, as they are for CreateTable.
    """

    def __init__(self) -> None:
        super().__init__(3, 255, NAME_PATTERN)
        self._known: set[str] = set()

    def accepts(self, value: Any) -> bool:
        """Return whether type and constraints hold; names that did are remembered."""
        if type(value) is not str:
            return False
        if value in self._known:
            return True
        if not super().accepts(value) and not (
            value.startswith("arn:") and len(value) <= _ARN_LENGTH
        ):
            return False
        if len(self._known) < _KNOWN_NAMES:
            self._known.add(value)
        return True

    def problems(self, value: Any, path: str) -> Iterator[str]:
        """Yield pattern and length faults; an empty name breaks only the length."""
        if self.accepts(value):
            return
        if value:
            yield from super().problems(value, path)
        else:
            yield CONSTRAINT.format(value="''", path=path, rule=MIN_LENGTH.format(n=1))


class ItemRequest(Structure):
    """A request of the data plane: a bad table name is reported alone (ERR-SHAPE-7)."""

    def _refuse(self, request: Any, problems: list[tuple[Member, list[str]]]) -> None:
        texts = [text for member, own in problems if isinstance(member, TableName) for text in own]
        if texts and self.is_complete(request):
            newer = NEWER_CONSTRAINT.format(path="TableName", rule=MIN_LENGTH.format(n=1))
            current = texts if request["TableName"] else [newer]
            wording = Wording(envelope(*current), older=envelope(*texts))
            raise RequestFault(wording, is_final=True)
        super()._refuse(request, problems)


def item_request(**members: Member) -> ItemRequest:
    """Return the shape of a data-plane request, faults reported in this order."""
    return ItemRequest(members)


def structure(name: str = "", /, **members: Member) -> Structure:
    """Return a structure of these members, reported in this order."""
    return Structure(members, name)


def _quoted(value: Any, member: Member) -> str:
    """Return a value as faults show it; only they pay for that."""
    return f"'{java_text(value, member)}'"


def java_text(value: Any, member: Member) -> str:
    """Write a list, map or structure as the service echoes it.

    >>> element = structure("KeySchemaElement", AttributeName=String(), KeyType=String())
    >>> java_text([{"AttributeName": "pk", "KeyType": "HASH"}], List(element))
    '[KeySchemaElement(attributeName=pk, keyType=HASH)]'

    Raises:
        SerializationException: a JSON type in it is wrong, which comes before all else (ORD-1).
    """
    if value is None:
        return "null"
    if isinstance(member, List):
        return f"[{', '.join(java_text(entry, member.member) for entry in value)}]"
    if isinstance(member, Map):
        entries = (f"{name}={java_text(entry, member.member)}" for name, entry in value.items())
        return f"{{{', '.join(entries)}}}"
    if isinstance(member, Structure):
        shown = (
            f"{camel(name)}={java_text(value[name], inner)}"
            for name, inner in member.members.items()
            if value.get(name) is not None
        )
        return f"{member.name}({', '.join(shown)})"
    if isinstance(member, AttributeValue):
        member.check_types(value)  # values are judged when they are loaded, and this comes before
        return "AttributeValue(" + ", ".join(f"{tag}={raw}" for tag, raw in value.items()) + ")"
    return str(value)


# Members that many operations share. The order of enumerations is observable (ERR-SHAPE-5).

STRING: Final = String()
BOOLEAN: Final = Boolean()
TIMESTAMP: Final = Number("Date")
DOUBLE: Final = Number("Double")
VALUE: Final = AttributeValue()
ATTRIBUTE_MAP: Final = AttributeMap()
VALUE_LIST: Final = List(VALUE)
STRING_MAP: Final = Map(STRING)
INDEX_NAME: Final = String(3, 255, NAME_PATTERN)
TABLE_NAME: Final = TableName()
POSITIVE: Final = Integer(least=1)
POSITIVE_LONG: Final = Integer(least=1, java="Long")
LONG: Final = Integer(java="Long")
RETURN_CONSUMED_CAPACITY: Final = String(enum=("INDEXES", "TOTAL", "NONE"))
RETURN_ITEM_COLLECTION_METRICS: Final = String(enum=("SIZE", "NONE"))
RETURN_VALUES: Final = String(enum=("ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"))
RETURN_ON_FAILURE: Final = String(enum=("ALL_OLD", "NONE"))
CONDITIONAL_OPERATOR: Final = String(enum=("OR", "AND"))
SELECT: Final = String(
    enum=("SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES")
)
COMPARISON_OPERATOR: Final = String(
    enum=(
        "IN", "NULL", "BETWEEN", "LT", "NOT_CONTAINS", "EQ", "GT", "NOT_NULL", "NE", "LE",
        "BEGINS_WITH", "GE", "CONTAINS",
    )
)  # fmt: skip
EXPECTED: Final = Map(
    structure(
        "ExpectedAttributeValue",
        Value=VALUE,
        Exists=BOOLEAN,
        ComparisonOperator=COMPARISON_OPERATOR,
        AttributeValueList=VALUE_LIST,
    )
)
CONDITION: Final = structure(
    "Condition",
    AttributeValueList=VALUE_LIST,
    ComparisonOperator=COMPARISON_OPERATOR.required,
)
CONDITIONS: Final = Map(CONDITION)
ATTRIBUTES_TO_GET: Final = List(STRING, least=1)


def write_request(return_values: Member = RETURN_VALUES, /, **own: Member) -> ItemRequest:
    """Return the shape of a write of one item; its own members come after the enumerations."""
    enumerations: dict[str, Member] = {
        "ReturnConsumedCapacity": RETURN_CONSUMED_CAPACITY,
        "TableName": TABLE_NAME.required,
        "ReturnItemCollectionMetrics": RETURN_ITEM_COLLECTION_METRICS,
        "ReturnValues": return_values,
        "ReturnValuesOnConditionCheckFailure": RETURN_ON_FAILURE,
        "ConditionalOperator": CONDITIONAL_OPERATOR,
    }
    conditions: dict[str, Member] = {
        "Expected": EXPECTED,
        "ConditionExpression": STRING,
        "ExpressionAttributeNames": STRING_MAP,
        "ExpressionAttributeValues": ATTRIBUTE_MAP,
    }
    return ItemRequest(enumerations | own | conditions)
