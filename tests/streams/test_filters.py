"""The filter language: the developer guide's table, and what is refused."""

import json
import warnings

import pytest

from emulator.service.errors import EventSourceWarning
from emulator.streams.filters import predicate_of

#: The guide's table of operators: a rule, records that match and records that do not (EVS-10).
GUIDE = {
    "null": ({"UserID": [None]}, [{"UserID": None}], [{"UserID": ""}, {}]),
    "empty": ({"LastName": [""]}, [{"LastName": ""}], [{"LastName": None}, {}]),
    "equals": ({"Name": ["Alice"]}, [{"Name": "Alice"}], [{"Name": "alice"}, {}]),
    "equals, ignoring case": (
        {"Name": [{"equals-ignore-case": "alice"}]},
        [{"Name": "Alice"}, {"Name": "ALICE"}],
        [{"Name": "Alicia"}, {"Name": 1}],
    ),
    "and": (
        {"Location": ["New York"], "Day": ["Monday"]},
        [{"Location": "New York", "Day": "Monday"}],
        [{"Location": "New York"}, {"Location": "New York", "Day": "Friday"}],
    ),
    "or": (
        {"PaymentType": ["Credit", "Debit"]},
        [{"PaymentType": "Credit"}, {"PaymentType": "Debit"}],
        [{"PaymentType": "Cash"}],
    ),
    "or, several fields": (
        {"$or": [{"Location": ["New York"]}, {"Day": ["Monday"]}]},
        [{"Location": "New York"}, {"Day": "Monday"}],
        [{"Location": "Paris", "Day": "Friday"}],
    ),
    "not": (
        {"Weather": [{"anything-but": ["Raining"]}]},
        [{"Weather": "Sunny"}, {"Weather": 1}],
        [{"Weather": "Raining"}, {}],
    ),
    "numeric, equals": (
        {"Price": [{"numeric": ["=", 100]}]},
        [{"Price": 100}, {"Price": 100.0}],
        [{"Price": 101}, {"Price": "100"}, {"Price": True}],
    ),
    "numeric, range": (
        {"Price": [{"numeric": [">", 10, "<=", 20]}]},
        [{"Price": 20}, {"Price": 10.5}],
        [{"Price": 10}, {"Price": 21}],
    ),
    "exists": (
        {"ProductName": [{"exists": True}]},
        [{"ProductName": "x"}, {"ProductName": None}],
        [{}, {"ProductName": {"S": "x"}}],
    ),
    "does not exist": (
        {"ProductName": [{"exists": False}]},
        [{}, {"ProductName": {"S": "x"}}],
        [{"ProductName": "x"}],
    ),
    "begins with": ({"Region": [{"prefix": "us-"}]}, [{"Region": "us-x"}], [{"Region": "eu-us-"}]),
    "ends with": ({"FileName": [{"suffix": ".png"}]}, [{"FileName": "a.png"}], [{"FileName": 1}]),
}


@pytest.mark.parametrize("name", GUIDE)
def test_the_guides_operators_match_what_it_says(name):
    rule, matching, others = GUIDE[name]
    matches = predicate_of([rule])
    assert [matches(record) for record in matching] == [True] * len(matching)
    assert [matches(record) for record in others] == [False] * len(others)


def test_every_operator_of_the_guide_is_in_the_table_of_the_rules():
    """EVS-10."""
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs/rules/event_sources.md").read_text()
    rules = [line.split(" | ") for line in page.splitlines() if line.startswith("| ")][2:]
    written = [json.loads("{" + rule[2].strip(" |`") + "}") for rule in rules]
    assert written == [rule for rule, _, _ in GUIDE.values()]


def test_numbers_are_equal_if_they_are_written_alike():
    """EVS-11."""
    matches = predicate_of(['{"a": [3.0e2]}'])
    assert [matches({"a": value}) for value in (300, 300.0)] == [False, False]
    assert predicate_of([{"a": [300]}])({"a": 300})
    assert predicate_of([{"a": [300.0]}])({"a": 300.0})
    assert not predicate_of([{"a": [1]}])({"a": True})


def test_a_record_has_to_match_one_pattern_at_every_depth():
    """EVS-14."""
    matches = predicate_of([{"a": {"b": ["x"]}}, {"a": {"c": [None]}, "d": ["y"]}])
    assert matches({"a": {"b": "x"}})
    assert matches({"a": {"c": None}, "d": "y"})
    assert not matches({"a": {"c": None}})
    assert not matches({"a": "x"})


def test_in_a_list_one_element_has_to_match():
    """EVS-10."""
    assert predicate_of([{"SS": ["b"]}])({"SS": ["a", "b"]})
    assert predicate_of([{"L": {"S": ["b"]}}])({"L": [{"S": "a"}, {"S": "b"}]})
    assert not predicate_of([{"L": {"S": ["c"]}}])({"L": [{"S": "a"}]})
    assert not predicate_of([{"SS": [{"exists": True}]}])({"SS": []})


def test_an_or_stands_beside_other_rules():
    matches = predicate_of([{"e": ["x"], "$or": [{"a": ["1"]}, {"b": ["2"]}]}])
    assert matches({"e": "x", "b": "2"})
    assert not matches({"e": "y", "b": "2"})


def test_without_patterns_there_is_no_predicate():
    assert predicate_of([]) is None


@pytest.mark.parametrize(
    ("pattern", "where"),
    [
        ("simple text", "not JSON"),
        ("[]", "expected an object"),
        ({}, "expected an object"),
        (5, "expected an object or JSON text"),
        ({"a": {1, 2}}, "not JSON serializable"),
        ({"eventName": "INSERT"}, "eventName: expected a list or an object"),
        ({"a": {"b": []}}, "a.b: expected a list or an object"),
        ({"a": [{"wildcard": "x*"}]}, "a: there is no operator 'wildcard'; there are equals-"),
        ({"a": [{"prefix": "x", "suffix": "y"}]}, "a: expected a value or one operator"),
        ({"a": [{"prefix": 1}]}, "a: expected text"),
        ({"a": [{"exists": "yes"}]}, "a: exists takes true or false"),
        ({"a": [{"numeric": [">"]}]}, "a: numeric takes signs and numbers"),
        ({"a": [{"numeric": ["!", 1]}]}, "a: numeric takes signs and numbers"),
        ({"a": [{"anything-but": []}]}, "a: anything-but takes texts and numbers"),
        ({"$or": {}}, "$or: expected a list of objects"),
        ({"$or": [[]]}, "$or: expected objects with keys"),
    ],
)
def test_a_wrong_pattern_has_the_services_message_and_says_where(pattern, where):
    """EVS-14."""
    with pytest.raises(ValueError, match=r"^Invalid filter pattern definition\. ") as caught:
        predicate_of([pattern])
    assert where in str(caught.value)


def test_there_are_at_most_ten_patterns_of_4096_characters():
    """EVS-14."""
    pattern = {"a": ["x"]}
    assert predicate_of([pattern] * 10)
    with pytest.raises(ValueError, match=r"at most 10 filters, .* not 11"):
        predicate_of([pattern] * 11)
    longest = json.dumps({"a": ["x" * (4096 - len('{"a": [""]}'))]})
    assert predicate_of([longest])
    with pytest.raises(ValueError, match="at most 4096 characters, not 4097"):
        predicate_of([longest.replace("x", "xx", 1)])


def test_numbers_under_n_are_warned_about():
    """EVS-13."""
    pattern = {"dynamodb": {"NewImage": {"total": {"N": [{"numeric": [">", 5]}]}}}}
    with pytest.warns(EventSourceWarning, match="dynamodb.NewImage.total.N can never match"):
        matches = predicate_of([pattern])
    assert not matches({"dynamodb": {"NewImage": {"total": {"N": "6"}}}})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predicate_of([{"dynamodb": {"SizeBytes": [{"numeric": [">", 5]}]}}])
