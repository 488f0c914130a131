"""The sentences that the suite of May expects and us-east-1 no longer says, with their evidence.

``test_wordings.py`` plays them; ``tests/architecture/reference.py`` makes the table of
docs/reference/conformance.md of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.conformance.recordings.recording import INVALID, detected, key, s
from tests.operations.cases.case import MIXED

NO_NAME = "failed to satisfy constraint: Member must have length greater than or equal to 1"
ENUM = "failed to satisfy constraint: Member must satisfy enum value set: "

#: Where and when the present words were seen; all dates are of 2026.
JUNE = "suite: four regions, June"
MOTO = f"{JUNE}; moto: us-east-1, 22 August, the whole sentence"
PINNED = f"{JUNE}; us-east-1 and eu-west-2, 9 October, the whole sentence"
SPLIT = "suite: 33 regions, 9 June to 7 October, the whole sentence"
NULLS = "suite: 33 regions, 21 July"
BATCHES = "suite: 33 regions, 8 August to 2 September, the whole sentence"
#: The regions that said the older words when they were last asked.
OLDER = "eu-south-2, me-central-1"


class Reworded(NamedTuple):
    """A case of the suite of May whose sentence has changed since.

    Attributes:
        case: Its name in the suite, shortened.
        operation: What is asked.
        request: With what.
        before: The sentence in May, which the classic profile says.
        since: The sentence in us-east-1 in October.
        seen: Where and when that was recorded.
        older: The regions that said the older words in October, as far as is known.
        rule: The rule.
    """

    case: str
    operation: str
    request: dict[str, Any]
    before: str
    since: str
    seen: str
    older: str
    rule: str


def _unnamed(case: str, operation: str, request: dict[str, Any], seen: str, older: str) -> Reworded:
    return Reworded(
        case,
        operation,
        {"TableName": "", **request},
        detected(f"Value '' at 'tableName' {NO_NAME}"),
        detected(f"Value at 'TableName' {NO_NAME}"),
        seen,
        older,
        "TBL-7",
    )


def _wrapped(
    case: str, operation: str, request: dict[str, Any], text: str, rule: str, seen: str = JUNE
) -> Reworded:
    """Return a case whose sentence stands inside the envelope now."""
    fixed = {"Item": key()} if operation == "PutItem" else {"Key": key()}
    request = {"TableName": "hash", **fixed, **request}
    return Reworded(case, operation, request, text, detected(text), seen, OLDER, rule)


def _item(value: dict[str, Any]) -> dict[str, Any]:
    return {"Item": {**key(), "bad": value}}


_SET_A = {"UpdateExpression": "SET a = :v", "ExpressionAttributeValues": {":v": s("x")}}
VALUES_ALONE = "ExpressionAttributeValues can only be specified when using expressions"
_TWICE = INVALID + "Input collection {} contains duplicates."
_SYNTAX = 'Invalid UpdateExpression: Syntax error; token: "INVALID", near: "INVALID SYNTAX"'
_UNUSED = "Value provided in ExpressionAttribute{} unused in expressions: keys: {{{}}}"
_UNDEFINED = (
    "Invalid UpdateExpression: An expression attribute value used in expression is not defined; "
    "attribute value: :v"
)

REWORDED = (
    _wrapped(
        "an empty string set",
        "PutItem",
        _item({"SS": []}),
        INVALID + "An string set  may not be empty",
        "SET-1",
        MOTO,
    ),
    _wrapped(
        "an empty number set",
        "PutItem",
        _item({"NS": []}),
        INVALID + "An number set  may not be empty",
        "SET-1",
        MOTO,
    ),
    _wrapped("a member twice", "PutItem", _item({"SS": ["a", "a"]}), "", "SET-3")._replace(
        before=_TWICE.format("[a, a]"), since=detected(_TWICE.format('["a", "a"]'))
    ),
    _wrapped(
        "NULL false",
        "PutItem",
        _item({"NULL": False}),
        INVALID + "Null attribute value types must have the value of true",
        "TYP-2",
        NULLS,
    ),
    _wrapped(
        "both kinds of parameters",
        "PutItem",
        {
            "Expected": {"pk": {"Exists": False}},
            "ConditionExpression": "attribute_not_exists(pk)",
        },
        MIXED % ("Expected", "ConditionExpression"),
        "LEG-1",
    ),
    _wrapped(
        "values without an expression",
        "PutItem",
        {"ExpressionAttributeValues": {":v": s("x")}},
        VALUES_ALONE,
        "PLH-3",
        PINNED,
    )._replace(before=f"{VALUES_ALONE}: ConditionExpression is null"),
    _wrapped(
        "a syntax error",
        "UpdateItem",
        {"UpdateExpression": "INVALID SYNTAX HERE"},
        _SYNTAX,
        "PRO-4",
    ),
    _wrapped(
        "an unused name",
        "UpdateItem",
        {**_SET_A, "ExpressionAttributeNames": {"#unused": "x"}},
        _UNUSED.format("Names", "#unused"),
        "PRO-4",
        MOTO,
    ),
    _wrapped(
        "an unused value",
        "UpdateItem",
        {**_SET_A, "ExpressionAttributeValues": {":v": s("x"), ":unused": s("y")}},
        _UNUSED.format("Values", ":unused"),
        "PRO-4",
        MOTO,
    ),
    _wrapped(
        "an undefined value", "UpdateItem", {"UpdateExpression": "SET a = :v"}, _UNDEFINED, "PRO-4"
    ),
    _wrapped(
        "both kinds of parameters",
        "UpdateItem",
        {**_SET_A, "AttributeUpdates": {"a": {"Value": s("x"), "Action": "PUT"}}},
        MIXED % ("AttributeUpdates", "UpdateExpression"),
        "LEG-1",
    ),
    _wrapped(
        "an empty update",
        "UpdateItem",
        {"UpdateExpression": ""},
        "Invalid UpdateExpression: The expression can not be empty;",
        "PRO-4",
        MOTO,
    ),
    _unnamed("an empty table name", "PutItem", {"Item": key()}, JUNE, OLDER),
    _unnamed("an empty table name, no key", "PutItem", {"Item": {}}, JUNE, OLDER),
    _unnamed(
        "an empty table name, an unknown enum",
        "PutItem",
        {"Item": {}, "ReturnValues": "INVALID"},
        SPLIT,
        OLDER,
    ),
    _unnamed("an empty table name, no key", "UpdateItem", {"Key": {}}, JUNE, OLDER),
    _unnamed("an empty table name, no key", "DeleteItem", {"Key": {}}, JUNE, "not recorded"),
    Reworded(
        "two unknown enums",
        "UpdateItem",
        {
            "TableName": "hash",
            "Key": key(),
            "ReturnValues": "INVALID",
            "ReturnConsumedCapacity": "INVALID",
        },
        detected(
            f"Value 'INVALID' at 'returnConsumedCapacity' {ENUM}[INDEXES, TOTAL, NONE]; "
            f"Value 'INVALID' at 'returnValues' {ENUM}"
            "[ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]",
            2,
        ),
        detected(
            "Failed to satisfy constraint: Member must satisfy enum value set: "
            "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
        ),
        SPLIT,
        OLDER,
        "ERR-UPD-1",
    ),
    *(
        Reworded(
            case,
            "BatchGetItem",
            {"RequestItems": {}},
            "The requestItems parameter is required for BatchGetItem",
            detected(f"Value at 'RequestItems' {NO_NAME}"),
            BATCHES,
            "me-central-1",
            "ERR-BGET-2",
        )
        for case in ("no tables: the order", "no tables: the sentence")
    ),
)
