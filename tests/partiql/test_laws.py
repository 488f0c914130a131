"""Laws of PartiQL: nothing but a service error, and the same answer as the item operations."""

from functools import partial

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emulator import ApiError
from emulator.model.wire import load_item
from tests.operations.statement_runs import (
    NOT_WELL_FORMED,
    put,
    rows,
    run,
    with_indexes,
    with_sorted_table,
)

# Whatever is written, the service answers.

WORDS = """
SELECT FROM WHERE INSERT INTO VALUE UPDATE SET REMOVE DELETE EXISTS RETURNING ALL OLD NEW MODIFIED
ORDER BY ASC DESC AND OR NOT IN BETWEEN IS MISSING NULL LIKE TRUE FALSE LIMIT AS inx pk sk g l h1 a
b.c "gsi-all" "" 'p' '1' 1 -2 1e126 1e999999999999 .5 ? * ( ) [ ] { } << >> , . : ; = <> != < <= >
>= + - / % || size begins_with contains attribute_exists attribute_type list_append set_add
set_delete COUNT nope STRING FOO -- /* */ ` ' " # é
"""
SOUP = st.lists(st.sampled_from(WORDS.split()), max_size=30).map(" ".join)
#: What makes sense in one clause or another, so that many statements are carried out.
SENSE = st.sampled_from(
    [
        *("*", "pk, a", "sk", "sk DESC", "'9'", "a[0]", "?", "a + 1", "list_append(a, [?])"),
        *("sk = '1'", "sk > '1'", "sk = ?", "a = ?", "a[0] = 1", "size(a) = 1", "b = ?"),
        *("pk = 'p' AND sk = '2'", "begins_with(sk, '1') OR a IS MISSING", "g IN ['x', ?]"),
        *("SET a = ?", "REMOVE a RETURNING ALL OLD *", "SET b = 1 SET c = ?", "{'n': [1, ?]}"),
        *("INSERT INTO inx VALUE {'pk': 'p', 'sk': '9'}", "SELECT * FROM inx", "nope = 1"),
    ]
)
CLAUSES = st.sampled_from(
    [
        "SELECT * FROM inx WHERE {}",
        "SELECT {} FROM inx",
        'SELECT pk FROM inx."gsi-some" WHERE {}',
        "SELECT * FROM inx WHERE pk = 'p' AND {}",
        "SELECT * FROM inx WHERE pk = 'p' ORDER BY {}",
        "INSERT INTO inx VALUE {{'pk': 'p', 'sk': {}}}",
        "UPDATE inx SET a = {} WHERE pk = 'p' AND sk = '1'",
        "UPDATE inx SET {} WHERE pk = 'p' AND sk = '1'",
        "UPDATE inx REMOVE a WHERE {}",
        "DELETE FROM inx WHERE pk = 'p' AND sk = '1' AND {}",
        "FROM inx WHERE pk = 'p' AND sk = '1' {}",
        "EXISTS(SELECT * FROM inx WHERE pk = 'p' AND sk = '1' AND {})",
        "{}",
    ]
)
STATEMENTS = st.builds(lambda clause, rest: clause.format(rest), CLAUSES, st.one_of(SOUP, SENSE))
VALUES = st.sampled_from(
    [{"S": "p"}, {"N": "1"}, {"SS": ["a"]}, {"L": []}, {"BOOL": True}, {"N": "x"}, {"S": "\ud800"}]
)


@pytest.fixture(scope="module")
def indexed():
    emu = with_indexes()
    for number in "123":
        put(emu, "inx", pk="p", sk=number, g="x", a={"L": [{"N": number}]})
    return emu


@pytest.fixture(scope="module")
def beginning(indexed):
    return indexed.snapshot()


#: What a statement may be refused with, if nobody else writes and nothing is throttled.
REFUSALS = {
    "ValidationException",
    "ResourceNotFoundException",
    "ConditionalCheckFailedException",
    "DuplicateItemException",
    "SerializationException",
    "TransactionCanceledException",
}
#: The same of one statement of a batch (ERR-PQL-4), and of one of a transaction.
BATCH_REFUSALS = {"ValidationError", "ResourceNotFound", "ConditionalCheckFailed", "DuplicateItem"}
REASONS = {"None", "ValidationError", "ConditionalCheckFailed", "DuplicateItem"}


def contents(emu):
    """Return all items of the table and the entries of an index."""
    indexes = ({}, {"IndexName": "gsi-all"}, {"IndexName": "lsi-keys"})
    return [emu.call("Scan", {"TableName": "inx"} | index)["Items"] for index in indexes]


def refused(emu, operation, request, beginning, before):
    """Return the message of a refusal, None if there is none; whatever it is, it must be proper.

    What was answered may have written: afterwards the table is as it was.
    """
    try:
        answer = emu.call(operation, request)
    except ApiError as error:
        assert error.status == 400
        assert error.code in REFUSALS
        assert error.message or error.code == "SerializationException"
        for reason in error.members.get("CancellationReasons", ()):
            assert reason["Code"] in REASONS
        assert contents(emu) == before
        return error.message
    try:
        return answered(emu, operation, request, answer, before)
    finally:
        emu.restore(beginning)


def answered(emu, operation, request, answer, before):
    """Return the first fault that an answer tells, None if there is none."""
    if operation == "ExecuteStatement":
        assert set(answer) == {"Items"}
        for item in answer["Items"]:
            load_item(item)
        return None
    asked = request.get("Statements") or request["TransactStatements"]
    assert set(answer) == {"Responses"}
    is_written = operation == "ExecuteTransaction" and contents(emu) != before
    assert is_written or len(answer["Responses"]) == len(asked)
    for response in answer["Responses"]:
        assert response.keys() <= {"TableName", "Item", "Error"}
        load_item(response.get("Item", {}))
    faults = [response["Error"] for response in answer["Responses"] if "Error" in response]
    assert {fault["Code"] for fault in faults} <= BATCH_REFUSALS
    if len(faults) == len(asked):
        assert contents(emu) == before
    return faults[0]["Message"] if faults else None


@given(st.one_of(STATEMENTS, st.text(min_size=1)), st.lists(VALUES, min_size=1, max_size=3))
@example("SELECT * FROM inx WHERE " + "(" * 8000, [{"S": "p"}])
@example("SELECT * FROM inx WHERE " + "NOT " * 2000 + "a = ?", [{"S": "p"}])
@example("SELECT * FROM inx WHERE a" + " = a" * 2000, [{"S": "p"}])
@example("SELECT * FROM inx WHERE a = ? OR " + "- " * 4000 + "a", [{"S": "p"}])
@example("SELECT * FROM inx WHERE a = ? AND " + "size(" * 1500, [{"S": "p"}])
@example("SELECT * FROM inx WHERE pk = ?" + " OR (pk = ''" * 600 + ")" * 600, [{"S": "p"}])
@example("INSERT INTO inx VALUE " + "{'a': " * 1300, [{"S": "p"}])
@example("UPDATE inx SET a = " + "(" * 90 + "a" + ")" * 90 + " + 1", [{"S": "p"}])
@example("UPDATE inx SET a" + "[0]" * 2000 + " = ?", [{"S": "p"}])
@settings(max_examples=4 * settings().max_examples)
def test_any_statement_is_answered_or_refused(indexed, beginning, statement, parameters):
    """PQL-11: by a refusal of the service, which changes nothing, and alike by all operations."""
    one = {"Statement": statement, "Parameters": parameters}
    bare = {"Statement": statement}
    indexed.restore(beginning)
    before = contents(indexed)
    tried = partial(refused, indexed, beginning=beginning, before=before)
    tried("BatchExecuteStatement", {"Statements": [one, bare]})
    tried("ExecuteTransaction", {"TransactStatements": [one, bare]})
    for member in (one, bare):
        alone = tried("ExecuteStatement", member)
        batch = tried("BatchExecuteStatement", {"Statements": [member]})
        together = tried("ExecuteTransaction", {"TransactStatements": [member]})
        if alone is not None and alone.startswith(NOT_WELL_FORMED):
            assert batch == alone
            assert together == f"Validation failed in TransactStatements[0]: {alone}"  # ERR-PQL-3


@given(st.integers(0, 90), st.integers(0, 100))
def test_brackets_do_not_change_a_condition(indexed, opened, negations):
    """PQL-2: as long as there are no more of them than the parser takes."""
    condition = "(" * opened + "sk = '1'" + ")" * opened
    negated = "NOT " * (2 * negations)
    statement = f"SELECT sk FROM inx WHERE pk = 'p' AND {negated}{condition}"
    assert rows(indexed, statement) == [{"sk": {"S": "1"}}]


# A condition finds what a Scan with the same filter finds.

KEYS = st.sampled_from(["1", "2", "3", "4"])
COMPARATORS = st.sampled_from(["=", "<", "<=", ">", ">=", "<>"])


@st.composite
def conditions(draw, depth=2):
    """Draw a condition over pk, sk and n."""
    if depth and draw(st.booleans()):
        kind = draw(st.sampled_from([" AND ", " OR "]))
        parts = draw(st.lists(conditions(depth=depth - 1), min_size=2, max_size=3))
        return "(" + kind.join(parts) + ")"
    name = draw(st.sampled_from(["pk", "pk", "sk", "sk", "n"]))
    form = draw(st.sampled_from(["compare", "compare", "between", "in", "begins", "not"]))
    if form == "between":
        low, high = sorted([draw(KEYS), draw(KEYS)])
        return f"{name} BETWEEN '{low}' AND '{high}'"
    if form == "in":
        values = draw(st.lists(KEYS, min_size=1, max_size=3, unique=True))
        return f"{name} IN (" + ", ".join(f"'{value}'" for value in values) + ")"
    if form == "begins":
        return f"begins_with({name}, '{draw(KEYS)}')"
    compared = f"{name} {draw(COMPARATORS)} '{draw(KEYS)}'"
    return f"NOT {compared}" if form == "not" else compared


@pytest.fixture(scope="module")
def grid():
    emu = with_sorted_table()
    for pk in "123":
        for sk in ("1", "2", "22", "3"):
            put(emu, "srt", pk=pk, sk=sk, n=str((int(pk) + int(sk)) % 4))
    return emu


def filtered(emu, condition):
    """Return what a Scan finds; values become placeholders."""
    parts = condition.split("'")
    values = {f":v{place}": {"S": text} for place, text in enumerate(parts[1::2])}
    names = [f":v{place}" for place in range(len(values))]
    expression = parts[0] + "".join(
        name + part for name, part in zip(names, parts[2::2], strict=True)
    )
    # The expression language has no redundant brackets; those of a statement may be.
    scan = {
        "TableName": "srt",
        "FilterExpression": f"{expression} AND attribute_exists(pk)",
        "ExpressionAttributeValues": values,
    }
    return emu.call("Scan", scan)["Items"]


def by_key(items):
    return sorted(items, key=lambda item: (item["pk"]["S"], item["sk"]["S"]))


@given(conditions(), st.sampled_from([1, 2, 5, 100]))
@example("(pk = '1' AND sk = '2' OR pk = '2')", 2)
@example("(pk = '1' AND NOT sk = '1' OR pk = '1' AND sk = '2')", 2)
@settings(max_examples=2 * settings().max_examples)
def test_a_select_finds_what_a_scan_finds(grid, condition, limit):
    """PQL-5, PQL-17: whatever ranges it reads, in whatever pages."""
    statement = f"SELECT * FROM srt WHERE {condition}"
    try:
        found = rows(grid, statement)
    except ApiError as error:
        assert error.message == (
            "Overlapping conditions with range keys are not supported in where clause"
        )
        return
    assert by_key(found) == by_key(filtered(grid, condition))
    paged, token = [], {}
    while True:
        answer = run(grid, statement, Limit=limit, **token)
        paged += answer["Items"]
        if "NextToken" not in answer:
            break
        token = {"NextToken": answer["NextToken"]}
    assert paged == found


@given(conditions())
@settings(max_examples=settings().max_examples)
def test_a_write_is_guarded_by_the_same_condition(condition):
    """PQL-8: the write happens just when a SELECT finds the item."""
    emu = with_sorted_table()
    put(emu, "srt", pk="1", sk="2", n="3")
    key = "pk = '1' AND sk = '2'"
    # One more bracket: a condition that names the key again says nothing about which item.
    holds = bool(rows(emu, f"SELECT * FROM srt WHERE NOT (NOT ({key} AND {condition}))"))
    try:
        run(emu, f"UPDATE srt SET done = 1 WHERE {key} AND NOT (NOT ({condition}))")
    except ApiError as error:
        assert (error.code, holds) == ("ConditionalCheckFailedException", False)
    else:
        assert holds
