"""What patterns say they need: attributes, order, and how much depends on them."""

import pytest

from emulator.lab import DocumentError, Field, Pattern, Workload
from emulator.lab.files import loads

TEXT = """\
workload:
  duration: 1m
  attributes: {{notes: 1 KB}}
  fields: {{userId: {{count: 10}}, score: {{count: 5}}, email: {{count: 9}}}}
  patterns:
    - {{name: save, operation: PutItem, rate: 1, fields: [userId, score]}}
    - {{name: best, operation: Query, rate: 1, by: [userId], {members}}}
designs:
  - {{name: d, partition: "{{userId}}", sort: "{{timestamp}}"}}
"""


def pattern_of(members):
    return loads(TEXT.format(members=members), "lab.yaml").workload.pattern("best")


@pytest.mark.parametrize(
    ("members", "reads", "order", "class_"),
    [
        ("items: 3", None, (), "important"),
        ("reads: all", "all", (), "important"),
        ("reads: [score, notes]", ("score", "notes"), (), "important"),
        ("order: newest", None, ("-timestamp",), "important"),
        ("order: oldest", None, ("timestamp",), "important"),
        ("order: score desc", None, ("-score",), "important"),
        ("order: [score, timestamp asc]", None, ("score", "timestamp"), "important"),
        ("class: analytics", None, (), "analytics"),
    ],
)
def test_a_pattern_says_what_it_needs_and_is_written_as_it_was_read(members, reads, order, class_):
    pattern = pattern_of(members)

    assert (pattern.reads, pattern.order, pattern.class_) == (reads, order, class_)
    workload = Workload(
        fields=[Field("userId", count=10), Field("score", count=5)],
        patterns=[pattern],
        attributes={"notes": 9},
    )
    assert Workload.from_document(workload.to_document()).pattern("best") == pattern


@pytest.mark.parametrize(
    ("members", "complaint"),
    [
        ("reads: [scores]", r"lab\.yaml:7: .*reads.*: expected one of the items' attributes"),
        ("reads: [email]", r"lab\.yaml:7: .*reads 'email', which no pattern that creates"),
        ("reads: some", r"lab\.yaml:7: .*reads: expected all, or a list of attributes"),
        ("order: scores", r"lab\.yaml:7: .*order: expected a field \(email, score"),
        ("order: [score, -timestamp]", r"lab\.yaml:7: .*order has both directions"),
        ("class: vital", r"lab\.yaml:7: .*class: expected one of critical, important, analytics"),
    ],
)
def test_what_cannot_be_needed_is_refused_where_it_stands(members, complaint):
    with pytest.raises(DocumentError, match=complaint):
        pattern_of(members)


def test_python_refuses_a_class_that_there_is_not():
    with pytest.raises(ValueError, match="takes 'critical' or 'important' or 'analytics'"):
        Pattern("p", "Query", rate=1, class_="vital")
