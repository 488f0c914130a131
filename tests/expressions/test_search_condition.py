"""Search conditions: what is wrong with a text, and with it under a search schema."""

from decimal import Decimal

import pytest

from emulator.expressions import Placeholders
from emulator.expressions.search_condition import parse_search_condition
from emulator.model import KeyAttribute, KeySchema, Projection
from emulator.model.vectors import SearchAttribute, VectorSchema
from emulator.service.errors import ApiError

SCHEMA = VectorSchema(
    "v",
    "emb",
    2,
    "COSINE",
    Projection("ALL"),
    (SearchAttribute("tenant", "S", "HASH"), SearchAttribute("kind", "N", "INLINE_FILTER")),
    KeySchema((KeyAttribute("pk", "S"),)),
)
INVALID = "Invalid SearchConditionExpression: "
COMPARATOR = INVALID + "Invalid comparator used in SearchConditionExpression"
OPERATOR = INVALID + "Invalid operator used in SearchConditionExpression"
VALUES = {":t": "acme", ":n": Decimal(1)}


def parsed(text, values=None, names=None):
    used = values or {key: value for key, value in VALUES.items() if key in text}
    placeholders = Placeholders(names, used or None)
    return parse_search_condition(text, placeholders).under(SCHEMA)


@pytest.mark.parametrize("text", ["tenant = :t AND kind = :n", ":t = tenant AND (:n = kind)"])
def test_equalities_name_partition_and_filters_either_side_first(text):
    """VIX-43."""
    assert parsed(text) == {"tenant": "acme", "kind": 1}
    assert parsed("#x = :t", names={"#x": "tenant"}) == {"tenant": "acme"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((f"tenant {comparator} :t", COMPARATOR) for comparator in ("<>", "<", "<=", ">", ">=")),
        ("tenant BETWEEN :t AND :t", OPERATOR),
        ("tenant IN (:t)", OPERATOR),
        ("tenant = :t OR kind = :n", OPERATOR),
        ("NOT tenant = :t", OPERATOR),
        ("begins_with(tenant, :t)", OPERATOR),
        ("size(tenant) = :n", OPERATOR),
        ("tenant = kind", INVALID + "Invalid condition in SearchConditionExpression: Multiple "
         "attribute names used in one condition"),
        (":t = :n", INVALID + "Invalid condition in SearchConditionExpression: No attribute "
         "specified"),
        ("tenant =", INVALID + 'Syntax error; token: "<EOF>", near: "="'),
        ("", INVALID + "The expression can not be empty;"),
        ("tenant = :x", INVALID + "An expression attribute value used in expression is not "
         "defined; attribute value: :x"),
        ("#x = :t", INVALID + "An expression attribute name used in the document path is not "
         "defined; attribute name: #x"),
    ],
)  # fmt: skip
def test_a_text_that_is_no_search_condition_is_refused(text, message):
    """VIX-44."""
    with pytest.raises(ApiError) as caught:
        parsed(text)
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("text", "values", "message"),
    [
        ("colour.x = :t", None, "SearchConditionExpression must not contain any attributes that is "
         "not in SearchSchema. Invalid attribute: colour"),
        ("tenant.x = :t AND tenant = :t", None,
         INVALID + "SearchConditionExpression cannot have conditions on nested attributes"),
        ("kind = :n AND kind = :n", None,
         INVALID + "SearchConditionExpression must only contain one condition per attribute"),
        ("kind = :t", None,
         "SearchConditionExpression must have all HASH attributes in configured SearchSchema"),
        ("tenant = :n", None, "Type of 'tenant' attribute in SearchConditionExpression (N) does "
         "not match type in search schema (S)"),
        ("tenant = :t", {":t": ""}, "One or more parameter values are not valid. The "
         "AttributeValue for a key attribute cannot contain an empty string value. Key: tenant"),
    ],
)  # fmt: skip
def test_a_condition_that_does_not_suit_the_schema_is_refused_in_this_order(text, values, message):
    """VIX-44, numbers 11 to 16."""
    with pytest.raises(ApiError) as caught:
        parsed(text, values)
    assert caught.value.message == message
