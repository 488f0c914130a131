"""Rendering: the text of a tree, with the parentheses it needs and no more."""

import pytest

from emulator.expressions import render
from emulator.expressions.parser import parse


@pytest.mark.parametrize(
    ("kind", "text", "rendered"),
    [
        ("ConditionExpression", "(a = :v)", "a = :v"),
        ("ConditionExpression", "(a)<>(:v)AND(b<c)", "a <> :v AND b < c"),
        ("ConditionExpression", "a=b or c=d and e=f", "a = b OR c = d AND e = f"),
        ("ConditionExpression", "(a=b or c=d) and e=f", "(a = b OR c = d) AND e = f"),
        ("ConditionExpression", "a=b and (c=d and e=f)", "a = b AND (c = d AND e = f)"),
        ("ConditionExpression", "a=b or (c=d or e=f)", "a = b OR (c = d OR e = f)"),
        ("ConditionExpression", "not(not(a=b))", "NOT NOT a = b"),
        ("ConditionExpression", "not(a=b and c=d)", "NOT (a = b AND c = d)"),
        ("ConditionExpression", "a between(b)and c", "a BETWEEN b AND c"),
        ("ConditionExpression", "#a[0].b in(:v,size(c))", "#a[0].b IN (:v, size(c))"),
        (
            "UpdateExpression",
            "set a=(b+:v)-:w,c=if_not_exists(c,(d+:v))remove e,f[1]add g :v delete h :w",
            "SET a = (b + :v) - :w, c = if_not_exists(c, (d + :v)) REMOVE e, f[1] ADD g :v "
            "DELETE h :w",
        ),
        ("ProjectionExpression", "a ,b . c [ 1 ]", "a, b.c[1]"),
    ],
)
def test_render(kind, text, rendered):
    assert render(parse(kind, text)) == rendered
