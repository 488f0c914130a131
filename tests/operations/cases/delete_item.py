"""Cases of DeleteItem: requests with their whole answer or exact error, for every door."""

from tests.operations.cases.case import (
    FAILED,
    INVALID,
    KEY,
    NOT_SCALAR,
    NOT_THE_SCHEMA,
    PAIR,
    STORED,
    Case,
    compare,
    detected,
    put,
    refused,
    value_of,
    wire,
)


def expected(rules, entries, outcome, *, operator=None, given=STORED):
    """Return a case: a delete with Expected that passes (True), fails (False) or is refused."""
    request = {"TableName": "hash", "Key": KEY, "Expected": entries}
    if operator:
        request["ConditionalOperator"] = operator
    if outcome is True:
        return Case(rules, "DeleteItem", request, answer={}, given=given)
    if outcome is False:
        return Case(rules, "DeleteItem", request, error=FAILED, given=given)
    return Case(
        rules, "DeleteItem", request, error=refused(detected(outcome)), classic=outcome, given=given
    )


def condition(rules, stored, text, holds, **values):
    """Return a case: a delete under a condition that holds or not."""
    request = {"TableName": "hash", "Key": KEY, "ConditionExpression": text}
    if values:
        request["ExpressionAttributeValues"] = {
            f":{name}": value_of(value) for name, value in values.items()
        }
    return Case(
        rules,
        "DeleteItem",
        request,
        given=[put("hash", pk="a", **stored)] if stored is not None else [],
        answer={} if holds else None,
        error=None if holds else FAILED,
    )


CASES = [
    # Keys (KV-*)
    Case(
        "KV-6 extra attribute",
        "DeleteItem",
        {"TableName": "hash", "Key": PAIR},
        error=refused(NOT_THE_SCHEMA),
    ),
    # Expected
    expected("LEG-4 value", {"n": {"Value": value_of(5)}}, True),
    expected("LEG-4 value with Exists", {"n": {"Exists": True, "Value": value_of(6)}}, False),
    expected("LEG-4 Exists false", {"absent": {"Exists": False}}, True),
    expected("LEG-4 Exists false on a present one", {"n": {"Exists": False}}, False),
    expected(
        "LEG-4 value as single argument",
        {"n": {"ComparisonOperator": "GE", "Value": value_of(5)}},
        True,
    ),
    expected("LEG-5 NE of a missing attribute", {"absent": compare("NE", 1)}, True),
    expected("LEG-5 NULL", {"absent": compare("NULL")}, True),
    expected("LEG-5 NOT_NULL", {"absent": compare("NOT_NULL")}, False),
    expected("LEG-5 BETWEEN", {"n": compare("BETWEEN", 1, 5)}, True),
    expected("LEG-5 IN", {"n": compare("IN", 1, 5)}, True),
    expected("LEG-5 BEGINS_WITH", {"s": compare("BEGINS_WITH", "ab")}, True),
    expected("LEG-5 CONTAINS", {"ss": compare("CONTAINS", "b")}, True),
    expected("LEG-5 NOT_CONTAINS", {"s": compare("NOT_CONTAINS", "bc")}, False),
    expected("LEG-6 AND", {"n": compare("EQ", 5), "s": compare("EQ", "x")}, False, operator="AND"),
    expected("LEG-6 OR", {"n": compare("EQ", 5), "s": compare("EQ", "x")}, True, operator="OR"),
    expected(
        "LEG-6 one entry",
        {"n": compare("EQ", 5)},
        "ConditionalOperator can only be used when Filter or Expected has two or more elements",
        operator="OR",
    ),
    expected(
        "LEG-4 Exists true without value",
        {"n": {"Exists": True}},
        INVALID + "Value must be provided when Exists is true for Attribute: n",
    ),
    expected(
        "LEG-4 nothing",
        {"n": {}},
        INVALID + "Value must be provided when Exists is null for Attribute: n",
    ),
    expected(
        "LEG-4 value with Exists false",
        {"n": {"Exists": False, "Value": value_of(1)}},
        INVALID + "Value cannot be used when Exists is false for Attribute: n",
    ),
    expected(
        "LEG-4 Exists beside an operator",
        {"n": {"Exists": True, **compare("EQ", 1)}},
        INVALID + "Exists and ComparisonOperator cannot be used together for Attribute: n",
    ),
    expected(
        "LEG-4 value beside a list",
        {"n": {"Value": value_of(1), **compare("EQ", 1)}},
        INVALID + "Value and AttributeValueList cannot be used together for Attribute: n",
    ),
    expected(
        "LEG-4 a list alone",
        {"n": {"AttributeValueList": [value_of(1)]}},
        INVALID + "AttributeValueList can only be used with a ComparisonOperator for Attribute: n",
    ),
    expected(
        "LEG-4 an operator alone",
        {"n": compare("EQ")},
        INVALID
        + "Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: n",
    ),
    expected(
        "LEG-2",
        {"n": compare("BETWEEN", 1)},
        INVALID + "Invalid number of argument(s) for the BETWEEN ComparisonOperator",
    ),
    expected(
        "LEG-3",
        {"n": compare("LT", {"BOOL": True})},
        INVALID + "ComparisonOperator LT is not valid for BOOL AttributeValue type",
    ),
    expected(
        "LEG-3 mixed types",
        {"n": compare("IN", 1, "a")},
        INVALID + "AttributeValues inside AttributeValueList must be of same type",
    ),
    # Found by comparing with other emulators
    Case(
        "LEG-6 nothing to join",
        "DeleteItem",
        {"TableName": "hash", "Key": KEY, "ConditionalOperator": "OR"},
        error=refused(detected("ConditionalOperator cannot be used without Filter or Expected")),
        classic="ConditionalOperator cannot be used without Filter or Expected",
    ),
    # Paths below a key (QRY-7)
    Case(
        "QRY-7 a condition below a key: DeleteItem",
        "DeleteItem",
        {"TableName": "hash", "Key": KEY, "ConditionExpression": "attribute_not_exists(pk.a)"},
        error=refused(NOT_SCALAR.format("Key: pk")),
    ),
    # Put, get, delete
    Case("DEL-1", "DeleteItem", {"TableName": "hash", "Key": KEY}, answer={}),
    Case(
        "DEL-2",
        "DeleteItem",
        {"TableName": "hash", "Key": KEY, "ReturnValues": "ALL_OLD"},
        given=[put("hash", pk="a", x=1)],
        answer={"Attributes": wire({"pk": "a", "x": 1})},
    ),
    # Conditions (CND-*, VEC-3)
    condition("CND-2, VEC-3", None, "s <> :v", True, v=1),
    condition("CND-2, VEC-3", None, "s = :v", False, v=1),
    condition("VEC-3", None, "s <> :v OR u < :v", True, v=1),
    condition("CND-13, VEC-3", None, "NOT attribute_exists(x)", True),
    condition("CND-3 types differ", {"s": "1"}, "s = :v OR s < :v OR s > :v", False, v=1),
    condition("CND-3 types differ", {"s": "1"}, "s <> :v", True, v=1),
    condition("CND-5", {"n": 5}, "n BETWEEN :a AND :b", True, a=5, b=5),
    condition("CND-6", {"s": {"SS": ["a", "b"]}}, "s IN (:a, :b)", True, a=1, b={"SS": ["b", "a"]}),
    condition("CND-7 NULL exists", {"z": {"NULL": True}}, "attribute_exists(z)", True),
    condition("CND-8", {"n": 5}, "attribute_type(n, :t)", True, t="N"),
    condition("CND-9", {"s": "abc"}, "begins_with(s, :p)", True, p="ab"),
    condition("CND-9 another type", {"s": 12}, "begins_with(s, :p)", False, p="1"),
    condition("CND-10 text", {"s": "abc"}, "contains(s, :p)", True, p="bc"),
    condition("CND-10 set", {"s": {"NS": ["1"]}}, "contains(s, :p)", True, p={"N": "1.0"}),
    condition("CND-10 list", {"s": [["x"]]}, "contains(s, :p)", True, p=["x"]),
    condition("CND-12", {"s": "abc", "l": ["x"]}, "size(s) = :n AND size(l) < :n", True, n=3),
    condition("CND-12 of a number", {"n": 5}, "size(n) > :n", False, n=0),
    condition(
        "EXP-1", {"a": 1}, "a = :one OR a = :two AND a = :three", True, one=1, two=2, three=3
    ),
]
