"""ExecuteTransaction: all statements or none, reads or writes."""

import pytest

from emulator import ApiError
from tests.operations.statement_runs import (
    INVALID,
    NOT_WELL_FORMED,
    get,
    put,
    with_indexes,
    with_sorted_table,
    with_table,
)
from tests.tables import refusal

CANCELLED = "Transaction cancelled, please refer cancellation reasons for specific reasons "
NOT_THE_SCHEMA = "The provided key element does not match the schema"
NOT_BY_KEY = (
    "Select statements within ExecuteTransaction must specify the primary key in the where clause."
)
EXISTS_FORM = "EXISTS() must contain a single item read with additional condition"
NONE = {"Code": "None"}


def request(*statements, **members):
    written = [
        {"Statement": one} if isinstance(one, str) else {"Statement": one[0], **one[1]}
        for one in statements
    ]
    return {"TransactStatements": written, **members}


def transact(emu, *statements, **members):
    """Run statements, each a text or a text with further members."""
    return emu.call("ExecuteTransaction", request(*statements, **members))


def fault(emu, *statements):
    """Return the message of a transaction that is refused, not cancelled."""
    code, message = refusal(emu, "ExecuteTransaction", request(*statements))
    assert code == "ValidationException", (code, message)
    return message


def reasons(emu, *statements, **members):
    """Return the reasons of a cancelled transaction; its message lists their codes."""
    with pytest.raises(ApiError) as caught:
        transact(emu, *statements, **members)
    assert caught.value.code == "TransactionCanceledException", caught.value
    found = caught.value.members["CancellationReasons"]
    codes = ", ".join(reason["Code"] for reason in found)
    assert caught.value.message == f"{CANCELLED}[{codes}]"
    return found


def reason(code, message, **members):
    return {"Code": code, "Message": message, **members}


def numbered(number, message):
    return f"Validation failed in TransactStatements[{number}]: {message}"


@pytest.fixture
def emu():
    emu = with_table()
    for key in "abc":
        put(emu, "tab", pk=key, v=key)
    return emu


@pytest.fixture
def sort():
    emu = with_sorted_table()
    put(emu, "srt", pk="a", sk="1", flag="x")
    put(emu, "srt", pk="a", sk="2", flag="y")
    return emu


# Shape


def test_a_transaction_has_one_to_a_hundred_statements(emu):
    """PQL-19, ERR-PQL-3."""
    assert fault(emu) == (
        "1 validation error detected: Value '[]' at 'transactStatements' failed to satisfy "
        "constraint: Member must have length greater than or equal to 1"
    )
    assert fault(emu, *["SELECT"] * 101).endswith(
        "at 'transactStatements' failed to satisfy constraint: "
        "Member must have length less than or equal to 100"
    )


def test_a_token_has_at_most_36_characters(emu):
    """TXW-9."""
    written = request("DELETE FROM tab WHERE pk = 'a'", ClientRequestToken="x" * 37)
    assert refusal(emu, "ExecuteTransaction", written) == (
        "ValidationException",
        f"1 validation error detected: Value '{'x' * 37}' at 'clientRequestToken' failed to "
        "satisfy constraint: Member must have length less than or equal to 36",
    )


# Statements at fault


def test_parameters_are_told_without_a_number(emu):
    """PQL-12: and before any statement is read."""
    good = ("UPDATE tab SET n = ? WHERE pk = 'a'", {"Parameters": [{"N": "1"}]})
    bad = ("UPDATE tab SET n = ? WHERE pk = 'b'", {"Parameters": [{"SS": ["a", "a"]}]})
    duplicates = INVALID + "Input collection [a, a] contains duplicates."
    assert fault(emu, good, bad) == duplicates
    assert fault(emu, "SLECT", bad) == duplicates


def test_a_statement_that_cannot_be_read_is_numbered(emu):
    """PQL-11, PQL-20."""
    good = "DELETE FROM tab WHERE pk = 'a'"
    assert fault(emu, good, "SELECT * FROM tab WHERE") == numbered(
        1, NOT_WELL_FORMED + "Unexpected term"
    )
    assert fault(emu, "UPDATE tab SET n = n + [1] WHERE pk = 'a'") == numbered(
        0,
        "Incorrect operand type for operator or function; operator or function: +, operand type: L",
    )
    assert fault(emu, "SELECT * FROM tab WHERE pk = ?") == numbered(
        0, "Number of parameters in request and statement don't match."
    )


def test_reads_and_writes_do_not_mix(emu):
    """PQL-19: EXISTS counts among the writes."""
    mixed = (
        "ExecuteTransaction API does not support both read and write operations "
        "in the same request."
    )
    select = "SELECT * FROM tab WHERE pk = 'a'"
    assert fault(emu, select, "DELETE FROM tab WHERE pk = 'b'") == mixed
    faulty = f"{select} AND begins_with(v, 1)"  # ERR-PQL-3: mixed comes before each statement
    assert fault(emu, faulty, "DELETE FROM tab WHERE pk = 'b'") == mixed
    assert fault(emu, select, "EXISTS(SELECT * FROM tab WHERE pk = 'b' AND v = 'b')") == mixed


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE tab SET a = 1 WHERE pk = 'a' RETURNING ALL NEW *",
         "RETURNING clause is not supported in ExecuteTransaction."),
        ("DELETE FROM tab WHERE pk = 'a' RETURNING ALL OLD *",
         "RETURNING clause is not supported in ExecuteTransaction."),
        ("SELECT * FROM tab.\"nope\" WHERE pk = 'a'",
         "Reads on indices are not supported within transactions."),
        ("SELECT COUNT(*) FROM tab WHERE pk = 'a'", "Unexpected path component at 1:8:5"),
        ("EXISTS(SELECT * FROM tab WHERE pk = 'a')", EXISTS_FORM),
        ("EXISTS(SELECT * FROM tab WHERE v = 'a')", EXISTS_FORM),
        ("EXISTS(SELECT * FROM tab)", EXISTS_FORM),
        ("EXISTS(SELECT * FROM tab WHERE pk IN ['a'] AND v = 'a')", EXISTS_FORM),
        ("EXISTS(SELECT * FROM tab.\"nope\" WHERE pk = 'a' AND v = 'a')",
         "Operations on indices are not supported in transactions"),
    ],
)  # fmt: skip
def test_what_a_transaction_cannot_do(emu, statement, message):
    """PQL-20."""
    assert fault(emu, statement) == numbered(0, message)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("pk = 'a'", NOT_BY_KEY),
        ("pk = 'a' AND sk > '1'", NOT_BY_KEY),
        ("pk = 'a' AND sk = '1' AND flag = 'x'", NOT_BY_KEY),
        ("pk = 'a' AND sk = '1' AND attribute_exists(flag)", NOT_BY_KEY),
        ("pk = 'a' AND sk = '1' AND pk = 'b'", NOT_BY_KEY),
        ("pk IN ['b'] AND pk = 'a' AND sk = '1'", NOT_BY_KEY),
        ("pk IN ['a', 'a'] AND sk = '1'",
         "Overlapping conditions with range keys are not supported in where clause"),
    ],
)  # fmt: skip
def test_a_read_names_the_key_and_nothing_else(sort, condition, message):
    """PQL-20."""
    assert fault(sort, f"SELECT * FROM srt WHERE {condition}") == numbered(0, message)


# Cancellation


def test_a_missing_table_cancels(emu):
    """PQL-19: as the service was seen to do, unlike TransactWriteItems."""
    missing = reason("ResourceNotFound", "Requested resource not found")
    update = "UPDATE none SET a = 1 WHERE pk = 'a'"
    assert reasons(emu, update + " RETURNING ALL NEW *", "DELETE FROM tab WHERE pk = 'a'") == [
        missing, NONE,
    ]  # fmt: skip
    read = "SELECT * FROM tab WHERE pk = 'a'"
    assert reasons(emu, read, "SELECT * FROM none.\"i\" WHERE pk = 'a'") == [NONE, missing]
    returning = "UPDATE tab SET a = 1 WHERE pk = 'a' RETURNING ALL NEW *"
    assert fault(emu, update, returning) == numbered(
        1, "RETURNING clause is not supported in ExecuteTransaction."
    )
    assert get(emu, "tab", pk="a") == {"pk": {"S": "a"}, "v": {"S": "a"}}


def test_a_key_that_does_not_suit_cancels(sort):
    """PQL-19, TXG-3, KV-8."""
    mismatch = reason("ValidationError", NOT_THE_SCHEMA)
    update = "UPDATE srt SET a = 1 WHERE {}"
    assert reasons(
        sort,
        update.format("pk = 'a'"),
        update.format("pk IN ['a'] AND sk = '1'"),
        update.format("pk = 'a' AND sk = '1' AND pk = 'b'"),
        update.format("pk = 'a' AND sk = 1"),
        update.format("pk = 'a' AND sk = '1'"),
    ) == [mismatch, mismatch, mismatch, mismatch, NONE]
    insert = "INSERT INTO srt VALUE {'pk': 'new'}"
    assert reasons(sort, insert, "DELETE FROM srt WHERE sk = '1'") == [
        reason("ValidationError", INVALID + "Missing the key sk in the item"),
        mismatch,
    ]
    assert reasons(sort, "SELECT * FROM srt WHERE pk = 'a' AND sk = 1") == [mismatch]
    assert "a" not in get(sort, "srt", pk="a", sk="1")


def test_no_item_comes_twice(sort):
    """ERR-PQL-3, TXG-2: but a cancellation comes first."""
    twice = "Transaction request cannot include multiple operations on one item"
    select = "SELECT * FROM srt WHERE pk = 'a' AND sk = '1'"
    other = "SELECT flag FROM srt WHERE sk = '1' AND pk = 'a'"
    assert fault(sort, select, other) == twice
    assert reasons(sort, select, other, "SELECT * FROM srt WHERE pk = 1 AND sk = '1'") == [
        NONE, NONE, reason("ValidationError", NOT_THE_SCHEMA),
    ]  # fmt: skip
    check = f"EXISTS({select} AND flag = 'x')"
    assert fault(sort, check, "DELETE FROM srt WHERE pk = 'a' AND sk = '1'") == twice


def test_a_failed_statement_cancels_all(emu):
    """PQL-19, TXW-5 to TXW-8: an INSERT has a code of its own."""
    failed = reason("ConditionalCheckFailed", "The conditional request failed")
    assert reasons(
        emu,
        "INSERT INTO tab VALUE {'pk': 'new'}",
        "INSERT INTO tab VALUE {'pk': 'a'}",
        "UPDATE tab SET v = 'x' WHERE pk = 'b' AND v = 'wrong'",
        "UPDATE tab SET v = 'x' WHERE pk = 'none'",
        "UPDATE tab SET v = nope WHERE pk = 'c'",
        "DELETE FROM tab WHERE pk = 'missing' AND v = 'x'",
    ) == [
        NONE,
        reason("DuplicateItem", "Duplicate primary key exists in table"),
        failed,
        failed,
        reason(
            "ValidationError",
            "The provided expression refers to an attribute that does not exist in the item",
        ),
        NONE,
    ]
    assert get(emu, "tab", pk="new") is None


def test_a_reason_shows_the_item_if_asked(emu):
    """TXW-7."""
    asked = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    statement = "UPDATE tab SET v = 'x' WHERE pk = '{}' AND v = 'wrong'"
    assert reasons(emu, (statement.format("b"), asked), statement.format("c")) == [
        reason(
            "ConditionalCheckFailed",
            "The conditional request failed",
            Item={"pk": {"S": "b"}, "v": {"S": "b"}},
        ),
        reason("ConditionalCheckFailed", "The conditional request failed"),
    ]


# Writes


def test_writes_are_carried_out_together(emu):
    """PQL-19, TXW-3."""
    assert transact(
        emu,
        "INSERT INTO tab VALUE {'pk': 'new', 'v': 1}",
        "UPDATE tab SET v = 'x' WHERE pk = 'a'",
        "FROM tab WHERE pk = 'b' AND attribute_exists(v) REMOVE v",
        "DELETE FROM tab WHERE pk = 'c'",
    ) == {"Responses": []}
    assert emu.call("Scan", {"TableName": "tab"})["Count"] == 3
    assert get(emu, "tab", pk="a")["v"] == {"S": "x"}
    assert get(emu, "tab", pk="b") == {"pk": {"S": "b"}}
    assert get(emu, "tab", pk="new") == {"pk": {"S": "new"}, "v": {"N": "1"}}


def test_exists_checks_a_condition(emu):
    """PQL-19: of an item that exists."""
    exists = "EXISTS(SELECT * FROM tab WHERE pk = '{}' AND {})"
    update = "UPDATE tab SET done = true WHERE pk = 'b'"
    failed = reason("ConditionalCheckFailed", "The conditional request failed")
    for key, condition in (("a", "v = 'x'"), ("none", "v IS MISSING"), ("a", "pk = 'c'")):
        assert reasons(emu, exists.format(key, condition), update) == [failed, NONE]
    assert "done" not in get(emu, "tab", pk="b")
    assert transact(emu, exists.format("a", "w IS MISSING"), update) == {"Responses": []}
    assert get(emu, "tab", pk="b")["done"] == {"BOOL": True}


def test_a_token_makes_a_repeat_harmless(emu):
    """PQL-19, TXW-9, CAP-406: the repeat is read."""
    update = "UPDATE tab SET n = 1 WHERE pk = 'a' AND attribute_not_exists(n)"
    asked = {"ClientRequestToken": "token", "ReturnConsumedCapacity": "TOTAL"}
    first = transact(emu, update, **asked)
    assert first == {
        "Responses": [],
        "ConsumedCapacity": [{"TableName": "tab", "CapacityUnits": 2.0, "WriteCapacityUnits": 2.0}],
    }
    assert transact(emu, update, **asked) == {
        "Responses": [],
        "ConsumedCapacity": [{"TableName": "tab", "CapacityUnits": 2.0, "ReadCapacityUnits": 2.0}],
    }
    other = request("DELETE FROM tab WHERE pk = 'a'", **asked)
    assert refusal(emu, "ExecuteTransaction", other)[0] == "IdempotentParameterMismatchException"
    emu.clock.advance(601)
    assert reasons(emu, update, **asked)[0]["Code"] == "ConditionalCheckFailed"


def test_writes_cost_twice_the_table_and_once_the_index():
    """CAP-305, CAP-306, CAP-313, CAP-406."""
    emu = with_indexes()
    answer = transact(
        emu, "INSERT INTO inx VALUE {'pk': 'p', 'sk': '1', 'g': 'x'}",
        ReturnConsumedCapacity="INDEXES",
    )  # fmt: skip
    one = {"CapacityUnits": 1.0, "WriteCapacityUnits": 1.0}
    assert answer["ConsumedCapacity"] == [
        {
            "TableName": "inx",
            "CapacityUnits": 5.0,
            "WriteCapacityUnits": 5.0,
            "Table": {"CapacityUnits": 2.0, "WriteCapacityUnits": 2.0},
            "GlobalSecondaryIndexes": {"gsi-all": one, "gsi-keys": one, "gsi-some": one},
        }
    ]


# Reads


def test_reads_answer_in_order(sort):
    """PQL-19, TXG-1."""
    assert transact(
        sort,
        "SELECT flag FROM srt WHERE pk = 'a' AND sk = '2'",
        "SELECT * FROM srt WHERE pk IN ['a'] AND sk IN ['9']",
        "SELECT * FROM srt WHERE (sk = '1') AND pk = 'a' AND pk = 'a'",
    ) == {
        "Responses": [
            {"Item": {"flag": {"S": "y"}}},
            {},
            {"Item": {"pk": {"S": "a"}, "sk": {"S": "1"}, "flag": {"S": "x"}}},
        ]
    }


def test_reads_cost_twice(sort):
    """CAP-203, CAP-215, CAP-406."""
    select = "SELECT flag FROM srt WHERE pk = 'a' AND sk = '{}'"
    answer = transact(sort, select.format("1"), select.format("9"), ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"] == [
        {"TableName": "srt", "CapacityUnits": 4.0, "ReadCapacityUnits": 4.0}
    ]


def test_an_aggregate_beyond_4_mb_is_refused(emu):
    """TXG-4, TXW-10."""
    large = {"Parameters": [{"S": "x" * 400_000}]}
    inserts = [(f"INSERT INTO tab VALUE {{'pk': 'n{n}', 'v': ?}}", large) for n in range(11)]
    message = (
        "Collection size of items exceeded, which can also be caused by the aggregate size "
        "of the items in the transaction exceeding the 4MB limit"
    )
    assert fault(emu, *inserts) == message
    for number in range(11):
        put(emu, "tab", pk=f"n{number}", v="x" * 400_000)
    selects = [f"SELECT pk FROM tab WHERE pk = 'n{number}'" for number in range(11)]
    assert fault(emu, *selects) == message


@pytest.mark.parametrize(("extra_bytes", "fits"), [(0, True), (1, False)])
def test_a_transaction_takes_exactly_four_megabytes(emu, extra_bytes, fits):
    """TXG-4, TXW-10: 4,194,304 bytes, inclusive, written and read."""
    sizes = [400_000] * 10 + [194_304 + extra_bytes]
    texts = {f"{number:02}": "x" * (size - 5) for number, size in enumerate(sizes)}
    inserts = [
        (f"INSERT INTO tab VALUE {{'pk': '{key}', 'v': ?}}", {"Parameters": [{"S": text}]})
        for key, text in texts.items()
    ]
    selects = [f"SELECT pk FROM tab WHERE pk = '{key}'" for key in texts]
    if fits:
        transact(emu, *inserts)
        transact(emu, *selects)
    else:
        assert "exceeding the 4MB limit" in fault(emu, *inserts)
        for key, text in texts.items():
            put(emu, "tab", pk=key, v=text)
        assert "exceeding the 4MB limit" in fault(emu, *selects)


def test_a_key_value_that_no_key_can_be_refuses_the_transaction(emu):
    """PQL-8, PQL-20; the key of an INSERT cancels, in the words of PutItem (KV-8)."""
    assert fault(emu, "UPDATE tab SET x = 1 WHERE pk = true") == (
        "Validation failed in TransactStatements[0]: Key value must be of type S, N, or B. "
        "Key name: pk, Key type: BOOL"
    )
    mismatch = INVALID + "Type mismatch for key pk expected: S actual: BOOL"
    assert reasons(emu, "INSERT INTO tab VALUE {'pk': true}") == [
        reason("ValidationError", mismatch)
    ]
