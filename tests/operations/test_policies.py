"""Policy documents: which texts have the form of one."""

import json

from emulator.operations.policies import is_policy
from tests.each import each

VARIABLE = {"Bool": {"aws:SecureTransport": "${aws:username}"}}


def statement(**members):
    return {"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"} | members


@each(
    "written",
    [
        [],
        statement(),
        [statement(Effect="Deny"), statement(Action=["a", "b"])],
        statement(Principal={"AWS": ["a", "b"], "Service": "c"}),
        {"Effect": "Deny", "NotPrincipal": "*", "NotAction": "*", "NotResource": "*"},
        statement(Condition=None),
        statement(Condition=VARIABLE),
        statement(Condition={"Bool": {"aws:SecureTransport": [True, "false"]}}),
        statement(Condition={"ForAnyValue:NumericLessThanIfExists": {"k": [5, "1e3"]}}),
        statement(Condition={"DateLessThan": {"k": ["2026-01-01", "1700000000"]}}),
        statement(Condition={"IpAddress": {"k": "10.0.0.0/8"}, "NotIpAddress": {"k": "::1"}}),
        statement(Condition={"BinaryEquals": {"k": "QUJD"}, "Null": {"k": "true"}}),
        statement(Condition={"StringResembles": {"aws:shoesize": "44"}}),
    ],
    ids=str,
)
def test_a_policy_has_statements_of_one_form(written):
    """OTH-18, OTH-23: an operator that is none of IAM's has values of any kind."""
    assert is_policy(json.dumps({"Version": "2012-10-17", "Statement": written}))


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
        json.dumps({"Statement": statement(Condition={"BinaryEquals": {"aws:username": "A"}})}),
        json.dumps({"Statement": statement(Condition=VARIABLE)}),
    ],
    ids=lambda text: text[:60],
)
def test_text_of_another_form_is_no_policy(text):
    """ERR-OTH-6, OTH-23."""
    assert not is_policy(text)
