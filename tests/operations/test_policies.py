"""Policy documents: what is one, and what it says."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.operations.policies import Caller, Verdict, judge, parse
from tests.each import each

ANN, BOB = Caller("000000000000", "ann"), Caller("000000000000", "bob")
TABLE = "arn:aws:dynamodb:us-east-1:000000000000:table/tab"


def statement(**members):
    return {"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"} | members


def verdict(*statements, caller=ANN, action="dynamodb:PutItem", resource=TABLE, context=()):
    parsed = parse(json.dumps({"Version": "2012-10-17", "Statement": list(statements)}))
    return judge(parsed, caller, action, resource, dict(context))


PRINCIPALS = {
    "everybody": ("*", True),
    "everybody of AWS": ({"AWS": "*"}, True),
    "the caller": ({"AWS": ANN.arn}, True),
    "one of several": ({"AWS": [BOB.arn, ANN.arn]}, True),
    "the account": ({"AWS": "000000000000"}, True),
    "its root": ({"AWS": "arn:aws:iam::000000000000:root"}, True),
    "somebody else": ({"AWS": BOB.arn}, False),
    "another account": ({"AWS": "arn:aws:iam::999999999999:root"}, False),
    "a service": ({"Service": "lambda.amazonaws.com"}, False),
}


@pytest.mark.parametrize("case", PRINCIPALS)
def test_a_statement_is_for_its_principals(case):
    """OTH-22."""
    principal, is_allowed = PRINCIPALS[case]
    wanted = Verdict.ALLOWED if is_allowed else Verdict.NOT_MENTIONED
    assert verdict(statement(Principal=principal)) is wanted


ABOUT = {
    "the action": ({"Action": "dynamodb:PutItem"}, True),
    "in any case": ({"Action": "DynamoDB:putitem"}, True),
    "a pattern": ({"Action": ["dynamodb:Get*", "dynamodb:P?tItem"]}, True),
    "another action": ({"Action": "dynamodb:Put"}, False),
    "the table": ({"Resource": TABLE}, True),
    "tables": ({"Resource": "arn:aws:dynamodb:*:*:table/t*"}, True),
    "its indexes": ({"Resource": TABLE + "/index/*"}, False),
    "a table with brackets": ({"Resource": TABLE.replace("tab", "[t]ab")}, False),
    "other actions": ({"Action": None, "NotAction": "dynamodb:Get*"}, True),
    "all but this action": ({"Action": None, "NotAction": "dynamodb:Put*"}, False),
    "all but this table": ({"Resource": None, "NotResource": TABLE}, False),
    "all but the caller": ({"Principal": None, "NotPrincipal": {"AWS": ANN.arn}}, False),
}


@pytest.mark.parametrize("case", ABOUT)
def test_a_statement_is_about_actions_and_resources(case):
    """OTH-22."""
    members, is_allowed = ABOUT[case]
    written = {name: value for name, value in statement(**members).items() if value is not None}
    wanted = Verdict.ALLOWED if is_allowed else Verdict.NOT_MENTIONED
    assert verdict(written) is wanted


@given(st.text("ab*?", max_size=8), st.text("ab", max_size=8))
def test_a_pattern_is_any_way_to_fill_its_stars(pattern, text):
    """OTH-22: against the expression that tries them all."""
    every_way = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
    is_about = re.fullmatch(every_way, text) is not None
    wanted = Verdict.ALLOWED if is_about else Verdict.NOT_MENTIONED
    assert verdict(statement(Resource=pattern), resource=text) is wanted


def test_a_pattern_of_many_stars_is_judged_at_once():
    """Found by a look at every expression: the ways to fill ten stars took hours."""
    stars = statement(Resource="arn:" + "*a" * 100 + "*b")
    assert verdict(stars, resource="arn:" + "a" * 250) is Verdict.NOT_MENTIONED


def test_a_denial_counts_more_than_anything():
    """OTH-22."""
    denial = statement(Effect="Deny", Action="dynamodb:Put*")
    assert verdict(statement(), denial) is verdict(denial, statement()) is Verdict.DENIED
    assert verdict(statement(), denial, action="dynamodb:GetItem") is Verdict.ALLOWED
    assert verdict() is Verdict.NOT_MENTIONED


@pytest.mark.parametrize(
    "condition",
    [
        {"StringResembles": {"aws:username": "ann"}},
        {"StringEquals": {"aws:shoesize": "44"}},
        {"ForSomeValues:StringEquals": {"aws:username": "ann"}},
        {"NullIfExists": {"aws:username": "true"}},
    ],
    ids=str,
)
def test_what_cannot_be_judged_allows_nothing_and_denies(condition):
    """OTH-23: such a policy can only come from a file."""
    condition = {"Condition": condition}
    context = {"aws:username": ("ann",)}.items()
    assert verdict(statement(**condition), context=context) is Verdict.NOT_MENTIONED
    denial = statement(Effect="Deny", **condition)
    assert verdict(statement(), denial, context=context) is Verdict.DENIED


def test_a_condition_decides_whether_a_statement_applies():
    """OTH-23."""
    condition = {"Condition": {"StringEquals": {"aws:username": "ann"}}}
    denial = statement(Effect="Deny", **condition)
    for name, wanted in (("ann", Verdict.ALLOWED), ("bob", Verdict.NOT_MENTIONED)):
        context = {"aws:username": (name,)}.items()
        assert verdict(statement(**condition), context=context) is wanted
    assert verdict(statement(), denial, context={"aws:username": ("bob",)}.items()) is (
        Verdict.ALLOWED
    )


def test_a_search_is_not_judged_by_fine_grained_conditions():
    """VIX-51: they allow it nothing, and deny."""
    condition = {"Condition": {"ForAllValues:StringEquals": {"dynamodb:Attributes": ["a"]}}}
    search = {"action": "dynamodb:SearchVectors"}
    assert verdict(statement(**condition), **search) is Verdict.NOT_MENTIONED
    assert verdict(statement(**condition)) is Verdict.ALLOWED
    denial = statement(Effect="Deny", **condition)
    assert verdict(statement(), denial, **search) is Verdict.DENIED


def test_a_resource_may_have_variables():
    """OTH-23: since version 2012-10-17."""
    own = statement(Resource=TABLE.replace("tab", "${aws:username}"))
    for name, wanted in (("tab", Verdict.ALLOWED), ("t*", Verdict.NOT_MENTIONED)):
        assert verdict(own, context={"aws:username": (name,)}.items()) is wanted
    assert verdict(own) is Verdict.NOT_MENTIONED
    [literal] = parse(json.dumps({"Statement": own}))
    assert not literal.has_variables


@each(
    "text",
    [
        "",
        "[]",
        "{}",
        "[" * 100_000,
        '{"Statement": 5}',
        '{"Statement": [5]}',
        json.dumps({"Statement": statement(Effect="Perhaps")}),
        json.dumps({"Statement": statement(Principal=[])}),
        json.dumps({"Statement": statement(Principal={})}),
        json.dumps({"Statement": statement(Principal={"AWS": 5})}),
        json.dumps({"Statement": statement(Action=5)}),
        json.dumps({"Statement": statement(Action=[5])}),
        json.dumps({"Statement": statement(NotAction="*")}),
        json.dumps({"Statement": {"Effect": "Allow", "Principal": "*", "Action": "*"}}),
        json.dumps({"Statement": statement(Condition="aws:username")}),
        json.dumps({"Statement": statement(Condition={"Bool": "true"})}),
        json.dumps({"Statement": statement(Condition={"Bool": {"aws:SecureTransport": "yes"}})}),
        json.dumps({"Statement": statement(Condition={"Null": {"aws:username": {}}})}),
        json.dumps({"Statement": statement(Condition={"IpAddress": {"aws:SourceIp": "a.b"}})}),
        json.dumps({"Statement": statement(Condition={"DateLessThan": {"aws:CurrentTime": "?"}})}),
        json.dumps({"Statement": statement(Condition={"NumericEquals": {"aws:EpochTime": "x"}})}),
    ],
    ids=lambda text: text[:60],
)
def test_what_is_no_policy_is_none(text):
    """ERR-OTH-6."""
    assert parse(text) is None
