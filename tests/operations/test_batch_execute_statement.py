"""BatchExecuteStatement: one answer per statement, whatever becomes of the others."""

import pytest

from tests.operations.statement_runs import (
    INVALID,
    NOT_WELL_FORMED,
    get,
    put,
    with_indexes,
    with_sorted_table,
    with_table,
)
from tests.tables import emulator, refusal, table

NOT_BY_KEY = (
    "Select statements within BatchExecuteStatement must specify the primary key "
    "in the where clause."
)
DUPLICATES = "Provided list of item keys contains duplicates"


def batch(emu, *statements, **members):
    """Run statements, each a text or a text with further members."""
    written = [
        {"Statement": one} if isinstance(one, str) else {"Statement": one[0], **one[1]}
        for one in statements
    ]
    return emu.call("BatchExecuteStatement", {"Statements": written, **members})


def responses(emu, *statements, **members):
    return batch(emu, *statements, **members)["Responses"]


def error(code, message, **members):
    return {"Error": {"Code": code, "Message": message}, **members}


def fault(emu, *statements):
    """Return the message of a batch that is refused as a whole."""
    written = [{"Statement": one} for one in statements]
    code, message = refusal(emu, "BatchExecuteStatement", {"Statements": written})
    assert code == "ValidationException"
    return message


@pytest.fixture
def emu():
    emu = with_table()
    for key in "abc":
        put(emu, "tab", pk=key, v=key)
    return emu


# Shape


def test_a_batch_has_one_to_twenty_five_statements(emu):
    """PQL-18, ERR-PQL-2."""
    assert fault(emu) == (
        "1 validation error detected: Value '[]' at 'statements' failed to satisfy constraint: "
        "Member must have length greater than or equal to 1"
    )
    message = fault(emu, *[f"SELECT * FROM tab WHERE pk = '{number}'" for number in range(26)])
    assert message.startswith(
        "1 validation error detected: Value '[BatchStatementRequest(statement=SELECT"
    )
    assert message.endswith(
        "at 'statements' failed to satisfy constraint: "
        "Member must have length less than or equal to 25"
    )
    selects = [f"SELECT * FROM tab WHERE pk = '{number}'" for number in range(25)]
    assert responses(emu, *selects) == [{"TableName": "tab"}] * 25


def test_a_wrong_json_type_anywhere_comes_first(emu):
    """ORD-1, WIR-12."""
    request = {
        "Statements": [
            {"Statement": "SELECT * FROM tab WHERE pk = ?", "Parameters": [{"N": "x"}]},
            {"Statement": "SELECT * FROM tab WHERE pk = ?", "Parameters": [{"S": 5}]},
        ]
    }
    assert refusal(emu, "BatchExecuteStatement", request) == (
        "SerializationException",
        "NUMBER_VALUE cannot be converted to String",
    )


# What is refused as a whole


def test_reads_and_writes_do_not_mix(emu):
    """PQL-18, ERR-PQL-2: statements that cannot be read take no part."""
    select, delete = "SELECT * FROM tab WHERE pk = 'a'", "DELETE FROM tab WHERE pk = 'a'"
    mixed = "Read and write requests together in the same batch is not supported."
    assert fault(emu, select, delete) == mixed
    assert fault(emu, "SELECT", select, delete) == mixed
    assert fault(emu, f"{select} AND begins_with(v, 1)", delete) == mixed
    assert get(emu, "tab", pk="a") is not None


def test_no_item_comes_twice(emu):
    """PQL-18."""
    select = "SELECT * FROM tab WHERE pk = '{}'"
    assert fault(emu, select.format("a"), select.format("b"), select.format("a")) == DUPLICATES
    assert fault(emu, "INSERT INTO tab VALUE {'pk': 'x'}", "DELETE FROM tab WHERE pk = 'x'") == (
        DUPLICATES
    )
    assert get(emu, "tab", pk="x") is None


# Reads


def test_reads_answer_in_order(emu):
    """PQL-18."""
    assert responses(
        emu,
        "SELECT * FROM tab WHERE pk = 'c'",
        "SELECT v FROM tab WHERE pk IN ['a']",
        "SELECT * FROM tab WHERE pk = 'none'",
        "SELECT v.x FROM tab WHERE pk = 'b'",
    ) == [
        {"TableName": "tab", "Item": {"pk": {"S": "c"}, "v": {"S": "c"}}},
        {"TableName": "tab", "Item": {"v": {"S": "a"}}},
        {"TableName": "tab"},
        {"TableName": "tab", "Item": {}},
    ]


@pytest.mark.parametrize(
    "condition",
    [
        "v = 'a'",
        "pk > 'a'",
        "pk = 'a' AND v = 'a'",
        "pk = 'a' AND pk = 'b'",
        "pk IN ['a', 'b']",
        "pk = 'a' AND 1 = 1",
        "pk = 'a' AND attribute_exists(v)",
        "pk = 'a' OR v = 'a'",
    ],
)
def test_a_read_names_the_key_and_nothing_else(emu, condition):
    """PQL-18: the others are answered."""
    assert responses(
        emu, f"SELECT * FROM tab WHERE {condition}", "SELECT v FROM tab WHERE pk = 'c'"
    ) == [
        error("ValidationError", NOT_BY_KEY),
        {"TableName": "tab", "Item": {"v": {"S": "c"}}},
    ]


def test_a_read_names_the_whole_key():
    """PQL-18."""
    emu = with_sorted_table()
    put(emu, "srt", pk="a", sk="1")
    assert responses(
        emu,
        "SELECT * FROM srt WHERE pk = 'a'",
        "SELECT * FROM srt WHERE pk = 'a' AND sk > '0'",
        "SELECT sk FROM srt WHERE sk = '1' AND pk = 'a'",
        "SELECT * FROM srt",
    ) == [
        error("ValidationError", NOT_BY_KEY),
        error("ValidationError", NOT_BY_KEY),
        {"TableName": "srt", "Item": {"sk": {"S": "1"}}},
        error("ValidationError", NOT_BY_KEY),
    ]


def test_an_index_is_not_read():
    """PQL-18, MAK-61: an index of several attributes says so itself."""
    emu = with_indexes()
    put(emu, "inx", pk="p", sk="1", g="x")
    assert responses(
        emu,
        "SELECT * FROM inx.\"gsi-all\" WHERE g = 'x'",
        "SELECT * FROM inx.\"gsi-all\" WHERE pk = 'p' AND sk = '1' AND g = 'x'",
        "SELECT * FROM inx.\"gsi-multi\" WHERE h1 = 'a' AND h2 = 'b' AND g = 'x'",
        "SELECT * FROM inx.\"nope\" WHERE g = 'x'",
        "SELECT g FROM inx WHERE pk = 'p' AND sk = '1'",
    ) == [
        error("ValidationError", NOT_BY_KEY),
        error("ValidationError", NOT_BY_KEY),
        error(
            "ValidationError",
            "PartiQL statements cannot be executed on tables with multi-attribute HASH keys "
            "or multi-attribute RANGE keys.",
        ),
        error("ValidationError", "The table does not have the specified index"),
        {"TableName": "inx", "Item": {"g": {"S": "x"}}},
    ]


# Faults of single statements


def test_one_failing_statement_does_not_affect_the_others(emu):
    """PQL-18, ERR-PQL-4: a statement that never ran names no table."""
    emu.call("CreateTable", table(TableName="other", names="pk"))
    assert responses(
        emu,
        "SLECT * FROM tab",
        "INSERT INTO tab VALUE {'pk': 'a'}",
        "INSERT INTO none VALUE {'pk': 'a'}",
        "UPDATE tab SET v = 'new' WHERE pk = 'b' AND v = 'wrong'",
        "UPDATE tab SET v = 'new' WHERE v = 'b'",
        "DELETE FROM tab WHERE pk = 'c' RETURNING MODIFIED OLD *",
        "EXISTS(SELECT * FROM tab WHERE pk = 'c' AND v = 'c')",
        ("UPDATE tab SET v = ? WHERE pk = 'b'", {"Parameters": [{"N": "1e99999999999"}]}),
        ("UPDATE tab SET v = ? WHERE pk = 'b'", {"Parameters": [{"SS": []}]}),
        "UPDATE tab SET v = nope WHERE pk = 'c'",
        "INSERT INTO other VALUE {'pk': 'a'}",
    ) == [
        error("ValidationError", NOT_WELL_FORMED + "Expected data manipulation"),
        error("DuplicateItem", "Duplicate primary key exists in table", TableName="tab"),
        error("ResourceNotFound", "Requested resource not found"),
        error("ConditionalCheckFailed", "The conditional request failed", TableName="tab"),
        error(
            "ValidationError",
            "Where clause does not contain a mandatory equality on all key attributes",
        ),
        error(
            "ValidationError",
            "Invalid returning clause: RETURNING MODIFIED OLD *. "
            "Only RETURNING ALL OLD * is allowed in DELETE statements.",
        ),
        error("ValidationError", "EXISTS can only be used in ExecuteTransaction write requests."),
        error(
            "ValidationError",
            "The parameter cannot be converted to a numeric value: 1e99999999999",
        ),
        error("ValidationError", INVALID + "An string set  may not be empty"),
        error(
            "ValidationError",
            "The provided expression refers to an attribute that does not exist in the item",
            TableName="tab",
        ),
        {"TableName": "other"},
    ]


def test_a_failed_condition_shows_the_item_if_asked(emu):
    """PQL-18, OPC-3."""
    asked = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    statement = "UPDATE tab SET v = 'new' WHERE pk = 'b' AND v = 'wrong'"
    (answer,) = responses(emu, (statement, asked))
    assert answer == {
        "TableName": "tab",
        "Error": {
            "Code": "ConditionalCheckFailed",
            "Message": "The conditional request failed",
            "Item": {"pk": {"S": "b"}, "v": {"S": "b"}},
        },
    }


def test_throttling_is_told_statement_by_statement():
    """ERR-PQL-4: in an emulator that enforces."""
    emu = emulator()
    emu.account().capacity = "enforce"
    few = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    emu.call("CreateTable", table(ProvisionedThroughput=few))
    statement = "INSERT INTO tab VALUE {{'pk': '{}', 'v': ?}}"
    large = {"Parameters": [{"S": "x" * 300_000}]}
    first, second = responses(emu, (statement.format("a"), large), (statement.format("b"), large))
    assert first == {"TableName": "tab"}
    assert second["Error"]["Code"] == "ProvisionedThroughputExceeded"
    assert get(emu, "tab", pk="b") is None


def test_a_table_on_demand_throttles_by_another_name():
    """ERR-PQL-4."""
    emu = emulator()
    emu.account().capacity = "enforce"
    emu.call("CreateTable", table(OnDemandThroughput={"MaxReadRequestUnits": 1}))
    for key in "ab":
        put(emu, "tab", pk=key, v="x" * 300_000)
    strong = {"ConsistentRead": True}
    select = "SELECT pk FROM tab WHERE pk = '{}'"
    first, second = responses(emu, (select.format("a"), strong), (select.format("b"), strong))
    assert first == {"TableName": "tab", "Item": {"pk": {"S": "a"}}}
    assert second["Error"]["Code"] == "ThrottlingError"


# Writes


def test_writes_are_carried_out_one_by_one(emu):
    """PQL-10, PQL-18."""
    assert responses(
        emu,
        "INSERT INTO tab VALUE {'pk': 'x', 'v': 1}",
        "UPDATE tab SET v = 'new' WHERE pk = 'a' RETURNING MODIFIED NEW *",
        "FROM tab WHERE pk = 'b' REMOVE v RETURNING MODIFIED NEW *",
        "DELETE FROM tab WHERE pk = 'c' RETURNING ALL OLD *",
        "DELETE FROM tab WHERE pk = 'none' RETURNING ALL OLD *",
    ) == [
        {"TableName": "tab"},
        {"TableName": "tab", "Item": {"v": {"S": "new"}}},
        {"TableName": "tab"},
        {"TableName": "tab", "Item": {"pk": {"S": "c"}, "v": {"S": "c"}}},
        {"TableName": "tab"},
    ]
    assert get(emu, "tab", pk="x") == {"pk": {"S": "x"}, "v": {"N": "1"}}
    assert get(emu, "tab", pk="b") == {"pk": {"S": "b"}}
    assert get(emu, "tab", pk="c") is None


# Prices


def test_each_read_is_charged_by_its_own_consistency(emu):
    """CAP-215, CAP-404."""
    answer = batch(
        emu,
        ("SELECT * FROM tab WHERE pk = 'a'", {"ConsistentRead": True}),
        ("SELECT * FROM tab WHERE pk = 'b'", {"ConsistentRead": False}),
        "SELECT * FROM tab WHERE pk = 'none'",
        ReturnConsumedCapacity="TOTAL",
    )
    assert answer["ConsumedCapacity"] == [{"TableName": "tab", "CapacityUnits": 2.0}]


def test_a_failed_write_counts_beside_one_that_succeeded(emu):
    """CAP-313: into the total of its table, and into no arm."""
    put(emu, "tab", pk="large", v="x" * 3000)
    failing = [
        "INSERT INTO tab VALUE {'pk': 'a'}",
        "INSERT INTO tab VALUE {'pk': 'large'}",
        ("INSERT INTO tab VALUE {'pk': 'b', 'v': ?}", {"Parameters": [{"S": "x" * 1500}]}),
    ]
    answer = batch(
        emu, *failing, "INSERT INTO tab VALUE {'pk': 'new'}", ReturnConsumedCapacity="INDEXES"
    )
    assert answer["ConsumedCapacity"] == [
        {"TableName": "tab", "CapacityUnits": 7.0, "Table": {"CapacityUnits": 1.0}}
    ]
    assert "ConsumedCapacity" not in batch(emu, *failing, ReturnConsumedCapacity="TOTAL")


def test_costs_are_told_table_by_table(emu):
    """CAP-404."""
    emu.call("CreateTable", table(TableName="other"))
    answer = batch(
        emu,
        "INSERT INTO other VALUE {'pk': 'x'}",
        "INSERT INTO tab VALUE {'pk': 'x'}",
        "INSERT INTO other VALUE {'pk': 'y'}",
        ReturnConsumedCapacity="TOTAL",
    )
    assert answer["ConsumedCapacity"] == [
        {"TableName": "other", "CapacityUnits": 2.0},
        {"TableName": "tab", "CapacityUnits": 1.0},
    ]
