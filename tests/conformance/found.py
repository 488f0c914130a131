"""What comparisons with other emulators found: orders and answers that two of them share."""

from tests.conformance.case import (
    Case,
    detected,
    put,
    refused,
    wire,
)

A = wire({"pk": "a"})
DUPLICATES = "Provided list of item keys contains duplicates"
OTHER_SCHEMA = "The provided key element does not match the schema"


def puts(*items):
    """Return put requests of a batch."""
    return [{"PutRequest": {"Item": wire(item)}} for item in items]


CASES = [
    Case(
        "CND-12, CND-2 a size that does not exist differs",
        "PutItem",
        {
            "TableName": "hash",
            "Item": A,
            "ConditionExpression": "size(n) <> :one AND size(gone) <> :one",
            "ExpressionAttributeValues": wire({":one": 1}),
        },
        given=[put("hash", pk="a", n=1)],
        answer={},
    ),
    Case(
        "UPD-16 the type set of DELETE",
        "UpdateItem",
        {
            "TableName": "hash",
            "Key": A,
            "UpdateExpression": "DELETE x :v",
            "ExpressionAttributeValues": wire({":v": True}),
        },
        error=refused(
            detected(
                "Invalid UpdateExpression: Incorrect operand type for operator or function; "
                "operator: DELETE, operand type: BOOL, typeSet: ALLOWED_FOR_ADD_OPERAND"
            )
        ),
        classic="Invalid UpdateExpression: Incorrect operand type for operator or function; "
        "operator: DELETE, operand type: BOOLEAN, typeSet: ALLOWED_FOR_DELETE_OPERAND",
    ),
    Case(
        "WIR-15 GetItem knows no values",
        "GetItem",
        {"TableName": "hash", "Key": A, "ExpressionAttributeValues": {}},
        given=[put("hash", pk="a")],
        answer={"Item": A},
        http_only=True,
    ),
    Case(
        "LEG-6 nothing to join",
        "DeleteItem",
        {"TableName": "hash", "Key": A, "ConditionalOperator": "OR"},
        error=refused(detected("ConditionalOperator cannot be used without Filter or Expected")),
        classic="ConditionalOperator cannot be used without Filter or Expected",
    ),
    Case(
        "LEG-6 one to join",
        "Scan",
        {
            "TableName": "hash",
            "ConditionalOperator": "OR",
            "ScanFilter": {"x": {"ComparisonOperator": "NULL"}},
        },
        error=refused(
            "ConditionalOperator can only be used when Filter or Expected has two or more elements"
        ),
    ),
    Case(
        "BGI-3, ERR-BGET-1 the same key twice in no table",
        "BatchGetItem",
        {"RequestItems": {"none": {"Keys": [A, A]}}},
        error=refused(DUPLICATES),
    ),
    Case(
        "BGI-3, ERR-BGET-1 the same key twice, and one of another schema",
        "BatchGetItem",
        {"RequestItems": {"hash": {"Keys": [wire({"x": "a"}), A, A]}}},
        error=refused(DUPLICATES),
    ),
    Case(
        "BWI-2, BWI-6 the same key twice before one of another schema",
        "BatchWriteItem",
        {"RequestItems": {"hash": puts({"pk": "a"}, {"pk": "a"}, {"x": "a"})}},
        error=refused(DUPLICATES),
    ),
    Case(
        "BWI-2, BWI-6 a key of another schema before the same key twice",
        "BatchWriteItem",
        {"RequestItems": {"hash": puts({"x": "a"}, {"pk": "a"}, {"pk": "a"})}},
        error=refused(OTHER_SCHEMA),
    ),
]
