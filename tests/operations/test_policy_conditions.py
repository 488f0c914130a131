"""Conditions of policies: operators, missing keys, several values, variables (OTH-23)."""

import pytest

from emulator.operations.policy_conditions import UnknownCondition, parse
from tests.each import each

CONTEXT = {
    "aws:username": ("ann",),
    "aws:sourceip": ("10.1.2.3",),
    "aws:epochtime": ("1767225600",),
    "aws:currenttime": ("2026-01-01T00:00:00Z",),
    "aws:securetransport": ("true",),
    "aws:principalarn": ("arn:aws:iam::000000000000:user/ann",),
    "dynamodb:attributes": ("a", "b"),
    "aws:resourcetag/raw": ("eA==",),
}


def holds(operator, key, *values, has_variables=True):
    [clause] = parse({operator: {key: list(values)}}, has_variables=has_variables)
    return clause.holds(CONTEXT)


NAME, ABSENT, LISTED = "aws:username", "aws:SourceVpce", "dynamodb:Attributes"
TIME, CLOCK = "aws:EpochTime", "aws:CurrentTime"
USER = "aws:PrincipalArn"


@each(
    ("operator", "key", "values", "wanted"),
    [
        ("StringEquals", NAME, ["ann"], True),
        ("StringEquals", NAME, ["bob", "ann"], True),
        ("StringEquals", NAME, ["Ann"], False),
        ("stringequals", "AWS:UserName", ["ann"], True),
        ("StringNotEquals", NAME, ["bob"], True),
        ("StringNotEquals", NAME, ["bob", "ann"], False),
        ("StringEqualsIgnoreCase", NAME, ["ANN"], True),
        ("StringNotEqualsIgnoreCase", NAME, ["ANN"], False),
        ("StringLike", NAME, ["a?n"], True),
        ("StringLike", NAME, ["a?"], False),
        ("StringNotLike", NAME, ["a*"], False),
        ("NumericEquals", TIME, [1767225600], True),
        ("NumericEquals", TIME, ["1.7672256e9"], True),
        ("NumericNotEquals", TIME, ["1"], True),
        ("NumericLessThan", TIME, ["1767225600"], False),
        ("NumericLessThanEquals", TIME, ["1767225600"], True),
        ("NumericGreaterThan", TIME, ["1767225599.5"], True),
        ("NumericGreaterThanEquals", TIME, ["1767225601"], False),
        ("NumericEquals", NAME, ["1"], False),
        ("DateEquals", CLOCK, ["1767225600"], True),
        ("DateNotEquals", CLOCK, ["2026-01-01"], False),
        ("DateLessThan", CLOCK, ["2026-01-01T01:00:00+01:00"], False),
        ("DateGreaterThan", TIME, ["2025-12-31T23:59:59Z"], True),
        ("Bool", "aws:SecureTransport", [True], True),
        ("Bool", "aws:SecureTransport", ["False"], False),
        ("BinaryEquals", "aws:ResourceTag/raw", ["eA=="], True),
        ("BinaryEquals", "aws:ResourceTag/raw", ["eQ=="], False),
        ("IpAddress", "aws:SourceIp", ["10.1.0.0/16"], True),
        ("IpAddress", "aws:SourceIp", ["10.1.2.3"], True),
        ("IpAddress", "aws:SourceIp", ["2001:db8::/32"], False),
        ("NotIpAddress", "aws:SourceIp", ["10.1.2.4"], True),
        ("IpAddress", NAME, ["10.0.0.0/8"], False),
        ("ArnEquals", USER, ["arn:aws:iam::000000000000:user/ann"], True),
        ("ArnLike", USER, ["arn:aws:iam::*:user/*"], True),
        ("ArnLike", USER, ["arn:*/ann"], False),
        ("ArnNotLike", USER, ["arn:aws:iam::*:user/b*"], True),
        ("ArnNotEquals", USER, ["arn:aws:iam::000000000000:user/ann"], False),
        ("Null", NAME, ["false"], True),
        ("Null", NAME, [True], False),
        ("Null", ABSENT, ["true"], True),
    ],
)
def test_operators(operator, key, values, wanted):
    """OTH-23."""
    assert holds(operator, key, *values) is wanted


@pytest.mark.parametrize(
    ("operator", "wanted"),
    [
        ("StringEquals", False),
        ("StringNotEquals", True),
        ("NotIpAddress", True),
        ("StringEqualsIfExists", True),
        ("ForAllValues:StringEquals", True),
        ("ForAnyValue:StringEquals", False),
        ("ForAnyValue:StringNotEquals", False),
        ("ForAnyValue:StringEqualsIfExists", True),
    ],
)
def test_a_key_that_a_request_does_not_have(operator, wanted):
    """OTH-23."""
    assert holds(operator, ABSENT, "10.0.0.0") is wanted


@pytest.mark.parametrize(
    ("operator", "values", "wanted"),
    [
        ("ForAllValues:StringEquals", "abc", True),
        ("ForAllValues:StringEquals", "a", False),
        ("ForAnyValue:StringEquals", "a", True),
        ("ForAnyValue:StringEquals", "c", False),
        ("ForAllValues:StringNotEquals", "c", True),
        ("ForAllValues:StringNotEquals", "a", False),
        ("ForAnyValue:StringNotEquals", "a", True),
        ("ForAnyValue:StringNotEquals", "ab", False),
        ("StringEquals", "a", True),
        ("StringNotEquals", "a", False),
    ],
)
def test_a_key_with_several_values(operator, values, wanted):
    """OTH-23."""
    assert holds(operator, LISTED, *values) is wanted


@pytest.mark.parametrize(
    ("operator", "value", "wanted"),
    [
        ("StringEquals", "${aws:username}", True),
        ("StringEquals", "${AWS:UserName}", True),
        ("StringLike", "${aws:username}", True),
        ("StringLike", "a${*}", False),
        ("StringLike", "${aws:SourceVpce, 'a'}nn", True),
        ("StringEquals", "${aws:SourceVpce}", False),
        ("StringNotEquals", "${aws:SourceVpce}", True),
        ("StringEquals", "${dynamodb:Attributes}", False),
    ],
)
def test_variables(operator, value, wanted):
    """OTH-23: since version 2012-10-17; a value whose variable is missing is no value."""
    assert holds(operator, NAME, value) is wanted
    assert holds("StringEquals", NAME, value, has_variables=False) is False


def test_all_clauses_are_read():
    """OTH-23."""
    written = {"StringEquals": {NAME: "ann", LISTED: ["a"]}, "Null": {ABSENT: True}}
    assert [clause.key for clause in parse(written, has_variables=True)] == [
        "aws:username",
        "dynamodb:attributes",
        "aws:sourcevpce",
    ]
    with pytest.raises(UnknownCondition, match="aws:Shoe"):
        parse({"StringEquals": {"aws:Shoe": "44"}}, has_variables=True)
