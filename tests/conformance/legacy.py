"""Legacy parameters: LEG-1 to LEG-11."""

from tests.conformance.case import INVALID, Case, detected, put, refused, value_of, wire

KEY = wire({"pk": "a"})
STORED = [put("hash", pk="a", n=5, s="abc", l=["x"], ss={"SS": ["a", "b"]})]
FAILED = ("ConditionalCheckFailedException", "The conditional request failed")


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


def compare(operator, *values):
    """Return an Expected entry with a comparison."""
    entry = {"ComparisonOperator": operator}
    if values:
        entry["AttributeValueList"] = [value_of(value) for value in values]
    return entry


def updates(rules, entries, result, given=STORED):
    """Return a case: an update by AttributeUpdates and what the item becomes."""
    request = {
        "TableName": "hash",
        "Key": KEY,
        "AttributeUpdates": entries,
        "ReturnValues": "ALL_NEW",
    }
    if isinstance(result, str):
        return Case(
            rules,
            "UpdateItem",
            request,
            error=refused(detected(result)),
            classic=result,
            given=given,
        )
    answer = {"Attributes": wire({"pk": "a", **result})} if result is not None else {}
    return Case(rules, "UpdateItem", request, answer=answer, given=given)


def change(action, value=None):
    """Return an AttributeUpdates entry."""
    entry = {"Action": action}
    if value is not None:
        entry["Value"] = value_of(value)
    return entry


REST = {"n": 5, "s": "abc", "l": ["x"], "ss": {"SS": ["a", "b"]}}
ROWS = [put("pair", pk="a", sk=number, v=f"v{number % 2}") for number in range(1, 6)]


def query(rules, conditions, numbers, **more):
    """Return a case: a Query by KeyConditions, and the sort keys it finds."""
    request = {
        "TableName": "pair",
        "KeyConditions": {"pk": compare("EQ", "a"), **conditions},
        "AttributesToGet": ["sk"],
        **more,
    }
    found = [wire({"sk": number}) for number in numbers]
    scanned = more.pop("scanned", len(found))
    request.pop("scanned", None)
    return Case(
        rules,
        "Query",
        request,
        given=ROWS,
        answer={"Items": found, "Count": len(found), "ScannedCount": scanned},
    )


CASES = [
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
    # AttributeUpdates
    updates("LEG-7 PUT", {"n": change("PUT", 6)}, {**REST, "n": 6}),
    updates("LEG-7 the default is PUT", {"n": {"Value": value_of(7)}}, {**REST, "n": 7}),
    updates("LEG-7 ADD", {"n": change("ADD", 2)}, {**REST, "n": 7}),
    updates("LEG-7 ADD to a list", {"l": change("ADD", ["y"])}, {**REST, "l": ["x", "y"]}),
    updates(
        "LEG-7 DELETE members",
        {"ss": change("DELETE", {"SS": ["a"]})},
        {**REST, "ss": {"SS": ["b"]}},
    ),
    updates(
        "LEG-7 DELETE",
        {"s": change("DELETE")},
        {name: value for name, value in REST.items() if name != "s"},
    ),
    updates("LEG-7 DELETE alone creates nothing", {"s": change("DELETE")}, None, given=[]),
    updates("LEG-7 ADD creates", {"n": change("ADD", 2)}, {"n": 2}, given=[]),
    updates(
        "LEG-8 no value",
        {"n": change("PUT")},
        INVALID + "Only DELETE action is allowed when no attribute value is specified",
    ),
    updates(
        "LEG-8 DELETE of a scalar",
        {"n": change("DELETE", 1)},
        INVALID + "DELETE action with value is not supported for the type N",
    ),
    updates(
        "LEG-8 ADD of text",
        {"n": change("ADD", "x")},
        INVALID + "ADD action is not supported for the type S",
    ),
    Case(
        "LEG-8 another type is stored",
        "UpdateItem",
        {"TableName": "hash", "Key": KEY, "AttributeUpdates": {"s": change("ADD", 1)}},
        given=STORED,
        error=refused("Type mismatch for attribute to update"),
    ),
    Case(
        "LEG-8, UPD-5",
        "UpdateItem",
        {"TableName": "hash", "Key": KEY, "AttributeUpdates": {"pk": change("PUT", "b")}},
        error=refused(INVALID + "Cannot update attribute pk. This attribute is part of the key"),
    ),
    # KeyConditions, filters, AttributesToGet
    query("LEG-9", {}, [1, 2, 3, 4, 5]),
    query("LEG-9 BETWEEN, VEC-8", {"sk": compare("BETWEEN", 2, 4)}, [2, 3, 4]),
    query("LEG-9 GT backwards", {"sk": compare("GT", 3)}, [5, 4], ScanIndexForward=False),
    query(
        "LEG-5 a QueryFilter",
        {"sk": compare("LE", 4)},
        [2, 4],
        QueryFilter={"v": compare("EQ", "v0")},
        scanned=4,
    ),
    Case(
        "QRY-6 a QueryFilter on a key",
        "Query",
        {
            "TableName": "pair",
            "KeyConditions": {"pk": compare("EQ", "a")},
            "QueryFilter": {"sk": compare("EQ", 1)},
        },
        error=refused(
            "QueryFilter can only contain non-primary key attributes: Primary key attribute: sk"
        ),
    ),
    Case(
        "LEG-5 a ScanFilter",
        "Scan",
        {
            "TableName": "pair",
            "ScanFilter": {"v": compare("EQ", "v0"), "sk": compare("LT", 4)},
            "AttributesToGet": ["sk"],
        },
        given=ROWS,
        answer={"Items": [wire({"sk": 2})], "Count": 1, "ScannedCount": 5},
    ),
    Case(
        "LEG-10, PRJ-5",
        "GetItem",
        {"TableName": "hash", "Key": KEY, "AttributesToGet": ["n", "absent"]},
        given=STORED,
        answer={"Item": wire({"n": 5})},
    ),
    Case(
        "PRJ-5 a name twice",
        "GetItem",
        {"TableName": "hash", "Key": KEY, "AttributesToGet": ["n", "s", "n"]},
        error=refused(INVALID + "Duplicate value in attribute name: n"),
    ),
    Case(
        "GET-3",
        "GetItem",
        {"TableName": "hash", "Key": KEY, "AttributesToGet": []},
        error=refused(
            detected(
                "Value '[]' at 'attributesToGet' failed to satisfy constraint: "
                "Member must have length greater than or equal to 1"
            )
        ),
    ),
    Case(
        "LEG-1, ERR-BGET-1 across tables",
        "BatchGetItem",
        {
            "RequestItems": {
                "hash": {"Keys": [KEY], "AttributesToGet": ["n"]},
                "pair": {"Keys": [wire({"pk": "a", "sk": 1})], "ProjectionExpression": "v"},
            }
        },
        error=refused(
            "Can not use both expression and non-expression parameters in the same request: "
            "Non-expression parameters: {AttributesToGet} "
            "Expression parameters: {ProjectionExpression}"
        ),
    ),
]
