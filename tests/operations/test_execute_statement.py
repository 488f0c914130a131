"""ExecuteStatement: its shape, its rules in order, and what each statement does."""

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator import ApiError
from tests.operations.statement_runs import (
    INVALID,
    NOT_WELL_FORMED,
    fault,
    get,
    put,
    rows,
    run,
    with_indexes,
    with_sorted_table,
    with_table,
)
from tests.tables import index, refusal, schema, types

MANDATORY_KEY = "Where clause does not contain a mandatory equality on all key attributes"
OVERLAP = "Overlapping conditions with range keys are not supported in where clause"
KEY_TYPE = "Key attribute's data type should match its data type in table's schema: Key "
OPERAND_TYPE = (
    "Incorrect operand type for operator or function; operator or function: {}, operand type: {}"
)

INVALID_PATH = "The document path provided in the update expression is invalid for update"
MISSING_OPERAND = "The provided expression refers to an attribute that does not exist in the item"
WRONG_TYPE = "An operand in the update expression has an incorrect data type"


@pytest.fixture
def emu():
    return with_table()


@pytest.fixture
def sort():
    """Three items of one partition and one of another."""
    emu = with_sorted_table()
    for number in "123":
        put(emu, "srt", pk="a", sk=number, n={"N": number})
    put(emu, "srt", pk="b", sk="1")
    return emu


@pytest.fixture
def indexed():
    emu = with_indexes()
    for number, g in (("1", "x"), ("2", "y"), ("3", "x")):
        put(emu, "inx", pk="p", sk=number, g=g, l=number, shown=f"s{number}", hidden=f"h{number}")
    put(emu, "inx", pk="p", sk="4", hidden="h4")
    return emu


def sort_keys(emu, condition, **members):
    statement = f"SELECT sk FROM srt WHERE {condition}"
    return [row["sk"]["S"] for row in rows(emu, statement, **members)]


def units(answer):
    return answer["ConsumedCapacity"]["CapacityUnits"]


# Shape


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ({"Statement": ""}, "Value '' at 'statement' failed to satisfy constraint: "
         "Member must have length greater than or equal to 1"),
        ({}, "Value null at 'statement' failed to satisfy constraint: Member must not be null"),
        ({"Statement": "x", "Limit": 0}, "Value '0' at 'limit' failed to satisfy constraint: "
         "Member must have value greater than or equal to 1"),
        ({"Statement": "x", "Parameters": []}, "Value '[]' at 'parameters' failed to satisfy "
         "constraint: Member must have length greater than or equal to 1"),
        ({"Statement": "x", "ReturnConsumedCapacity": "ALL"}, "Value 'ALL' at "
         "'returnConsumedCapacity' failed to satisfy constraint: "
         "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"),
    ],
)  # fmt: skip
def test_members_have_constraints(emu, members, problem):
    """PQL-1, QRY-3, OPC-1."""
    message = f"1 validation error detected: {problem}"
    assert refusal(emu, "ExecuteStatement", members) == ("ValidationException", message)


def test_a_statement_has_at_most_8192_characters(emu):
    """PQL-1."""
    longest = "SELECT * FROM tab WHERE pk = 'x' --"
    longest += "." * (8192 - len(longest))
    assert rows(emu, longest) == []
    message = fault(emu, longest + ".")
    assert message.endswith(
        "at 'statement' failed to satisfy constraint: "
        "Member must have length less than or equal to 8192"
    )


def test_parameters_are_typed_values(emu):
    """WIR-12."""
    request = {"Statement": "SELECT * FROM tab WHERE pk = ?", "Parameters": [{"S": 5}]}
    assert refusal(emu, "ExecuteStatement", request) == (
        "SerializationException",
        "NUMBER_VALUE cannot be converted to String",
    )


# Order of faults


@pytest.mark.parametrize(
    ("statement", "parameters", "message"),
    [
        ("UPDATE nope SET WHERE", [{"SS": ["a", "a"]}],
         INVALID + "Input collection [a, a] contains duplicates."),
        ("SELECT * FROM nope WHERE", [], NOT_WELL_FORMED + "Unexpected term"),
        ("SELECT * FROM nope WHERE a = ?", [],
         "Number of parameters in request and statement don't match."),
        ("SELECT * FROM nope WHERE a = 1", [{"S": "x"}],
         "Number of parameters in request and statement don't match."),
        ("SELECT * FROM nope WHERE a < ?", [{"BOOL": True}], OPERAND_TYPE.format("<", "BOOL")),
        ("SELECT * FROM nope WHERE nope(a)", [], "Unrecognized function: nope at 1:26:4"),
        ('SELECT * FROM ""', [], "Path component cannot be an empty string"),
        ("UPDATE nope SET n = 'a' + 1", [], OPERAND_TYPE.format("+", "S")),
    ],
)  # fmt: skip
def test_what_needs_no_table_is_told_before_the_table(emu, statement, parameters, message):
    """ERR-PQL-1, PQL-4, PQL-12, PQL-22, PQL-23."""
    assert fault(emu, statement, *parameters) == message


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM nope",
        "SELECT COUNT(*) FROM nope",
        "INSERT INTO nope VALUE {'pk': 'x'}",
        "UPDATE nope SET a = 1",
        "DELETE FROM nope",
        "FROM nope WHERE pk = 'x' SET a = 1",
    ],
)
def test_a_table_that_does_not_exist(emu, statement):
    """PQL-13."""
    assert refusal(emu, "ExecuteStatement", {"Statement": statement}) == (
        "ResourceNotFoundException",
        "Requested resource not found",
    )


def test_the_index_is_looked_for_before_anything_is_asked_of_it(indexed):
    """ERR-PQL-1, PQL-13, PQL-14, PQL-16, MAK-61."""
    multi = (
        "PartiQL statements cannot be executed on tables with multi-attribute HASH keys "
        "or multi-attribute RANGE keys."
    )
    missing = "The table does not have the specified index"
    consistent = "Strongly consistent read is not supported on Global Secondary Indexes"
    assert fault(indexed, 'SELECT * FROM inx."nope"', ConsistentRead=True) == missing
    assert fault(indexed, 'SELECT * FROM inx."inx"') == missing
    for rest in ("", " WHERE h1 = 5", " WHERE pk = 'p'", " WHERE h1 = 'a' ORDER BY g"):
        assert fault(indexed, f'SELECT * FROM inx."gsi-multi"{rest}', ConsistentRead=True) == multi
    assert fault(indexed, 'SELECT COUNT(*) FROM inx."gsi-multi"') == multi
    assert fault(indexed, 'SELECT COUNT(*) FROM inx."gsi-all"', ConsistentRead=True) == consistent
    assert fault(indexed, 'SELECT COUNT(*) FROM inx."gsi-all" WHERE g = 5') == (
        "Unexpected path component at 1:8:5"
    )


def test_an_index_is_not_read_while_it_is_filled():
    """UT-10."""
    emu = with_table(index_delay=60.0)
    create = {"Create": index("new", schema("g"))}
    emu.call(
        "UpdateTable",
        {
            "TableName": "tab",
            "AttributeDefinitions": types("pk g"),
            "GlobalSecondaryIndexUpdates": [create],
        },
    )
    assert fault(emu, 'SELECT * FROM tab."new"') == (
        "Cannot read from backfilling global secondary index: new"
    )
    emu.clock.advance(61)
    assert rows(emu, 'SELECT * FROM tab."new"') == []


def test_a_table_with_such_an_index_is_read_and_written_otherwise(indexed):
    """PQL-16, MAK-61, MAK-62."""
    assert len(rows(indexed, "SELECT * FROM inx WHERE pk = 'p'")) == 4
    assert len(rows(indexed, "SELECT * FROM inx.\"gsi-all\" WHERE g = 'x'")) == 2
    assert len(rows(indexed, "SELECT * FROM inx.\"lsi-all\" WHERE pk = 'p'")) == 3
    run(indexed, "INSERT INTO inx VALUE {'pk': 'p', 'sk': '5', 'h1': 'a', 'h2': 'b', 'g': 'x'}")
    run(indexed, "UPDATE inx SET h1 = 'c' WHERE pk = 'p' AND sk = '5'")
    run(indexed, "DELETE FROM inx WHERE pk = 'p' AND sk = '5'")
    assert get(indexed, "inx", pk="p", sk="5") is None


# INSERT


def test_an_insert_stores_every_type(emu):
    """PQL-2, PQL-7."""
    answer = run(
        emu,
        "INSERT INTO tab VALUE {'pk': 'k', 'n': 7.32e6, 'neg': -.5, 's': 'it''s', 'b': ?, "
        "'t': true, 'nul': null, 'l': [1, 'x'], 'm': {'a': {'b': 2}}, 'ss': <<'a', 'b'>>, "
        "'ns': <<1, 2.50>>}",
        {"B": b"\x01"},
    )
    assert answer == {"Items": []}
    assert get(emu, "tab", pk="k") == {
        "pk": {"S": "k"},
        "n": {"N": "7320000"},
        "neg": {"N": "-0.5"},
        "s": {"S": "it's"},
        "b": {"B": base64.b64encode(b"\x01").decode()},
        "t": {"BOOL": True},
        "nul": {"NULL": True},
        "l": {"L": [{"N": "1"}, {"S": "x"}]},
        "m": {"M": {"a": {"M": {"b": {"N": "2"}}}}},
        "ss": {"SS": ["a", "b"]},
        "ns": {"NS": ["1", "2.5"]},
    }


def test_an_insert_never_replaces(emu):
    """PQL-7, ERR-TYPE-14."""
    run(emu, "INSERT INTO tab VALUE {'pk': 'k', 'v': 1}")
    request = {
        "Statement": "INSERT INTO tab VALUE {'pk': 'k', 'v': 2}",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    with pytest.raises(ApiError) as caught:
        emu.call("ExecuteStatement", request)
    assert caught.value.body() == {
        "__type": "com.amazonaws.dynamodb.v20120810#DuplicateItemException",
        "message": "Duplicate primary key exists in table",
    }
    assert get(emu, "tab", pk="k") == {"pk": {"S": "k"}, "v": {"N": "1"}}


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("{}", INVALID + "Missing the key pk in the item"),
        ("{'pk': 1}", KEY_TYPE + "pk"),
        ("{'pk': ''}", "One or more parameter values are not valid. The AttributeValue for a key "
         "attribute cannot contain an empty string value. Key: pk"),
    ],
)  # fmt: skip
def test_an_inserted_item_has_its_key(emu, item, message):
    """PQL-7, KV-3 to KV-5."""
    assert fault(emu, f"INSERT INTO tab VALUE {item}") == message


def test_an_inserted_item_fits_its_indexes(indexed):
    """IXV-1."""
    assert fault(indexed, "INSERT INTO inx VALUE {'pk': 'p', 'sk': '9', 'g': 1}") == (
        INVALID + "Type mismatch for Index Key g Expected: S Actual: N IndexName: gsi-all"
    )


def test_an_inserted_item_has_at_most_400_kb(emu):
    """SIZ-3, CAP-105."""
    text = "x" * (409_600 - len("pkkv"))
    statement = "INSERT INTO tab VALUE {'pk': 'k', 'v': ?}"
    assert fault(emu, statement, {"S": text + "x"}) == (
        "Item size has exceeded the maximum allowed size"
    )
    assert run(emu, statement, {"S": text}, ReturnConsumedCapacity="TOTAL") == {
        "Items": [],
        "ConsumedCapacity": {"TableName": "tab", "CapacityUnits": 400.0},
    }


# Keys of a SELECT


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("pk = 'a'", "123"),
        ("'a' = pk", "123"),
        ("pk = 'none'", ""),
        ("pk = 'a' AND sk = '2'", "2"),
        ("pk = 'a' AND sk > '1'", "23"),
        ("pk = 'a' AND '1' < sk", "23"),
        ("pk = 'a' AND sk >= '2'", "23"),
        ("pk = 'a' AND sk < '3'", "12"),
        ("pk = 'a' AND sk <= '2'", "12"),
        ("pk = 'a' AND sk BETWEEN '2' AND '3'", "23"),
        ("pk = 'a' AND begins_with(sk, '2')", "2"),
        ("pk = 'a' AND sk > '1' AND sk < '3'", "2"),
        ("pk = 'a' AND sk = '1' AND sk > '0'", "1"),
        ("pk = 'a' AND sk = '1' AND sk > '1'", ""),
        ("pk = 'a' AND sk >= '2' AND sk <= '2' AND sk BETWEEN '1' AND '9'", "2"),
        ("pk = 'a' AND sk >= '2' AND sk < '2'", ""),
        ("pk = 'a' AND pk = 'a'", "123"),
        ("pk = 'a' AND pk = 'b'", ""),
        ("pk = 'a' AND (sk = '3' OR sk = '1')", "13"),
        ("pk = 'a' AND sk IN ['3', '1']", "13"),
        ("pk = 'a' AND (sk < '2' OR sk > '2' OR sk = '2')", "123"),
        ("pk = 'a' AND sk <> '2'", "13"),
        ("pk = 'a' AND NOT sk = '2'", "13"),
        ("pk = 'a' AND sk > '1' AND sk <> '2'", "3"),
        ("pk = 'a' AND attribute_exists(pk)", "123"),
        ("pk = 'a' AND n > 1", "23"),
        ("pk = 'a' AND 1 = 2", ""),
        ("pk = 'a' AND 1 = 1", "123"),
        ("pk IN ['a', 'b'] AND sk = '1'", "11"),
        ("pk IN ['b', 'none', 'a'] AND sk > '0' AND n = 2", "2"),
        ("(pk = 'a' AND sk = '2') OR (pk = 'b' AND sk = '1')", "21"),
        ("pk = 'a' AND sk IN ['2'] OR pk = 'b'", "21"),
    ],
)
def test_conditions_on_the_partition_key_are_queries(sort, condition, found):
    """PQL-5: results of a query are in key order; CAP-215: they cost what a query costs."""
    assert "".join(sort_keys(sort, condition)) == found
    answer = run(sort, f"SELECT * FROM srt WHERE {condition}", ReturnConsumedCapacity="TOTAL")
    assert units(answer) <= 1.5


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("sk = '1'", "11"),
        ("pk > 'a'", "1"),
        ("begins_with(pk, 'b')", "1"),
        ("pk = 'b' OR sk = '2'", "12"),
        ("NOT pk = 'a'", "1"),
        ("pk <> 'b' AND n IN [1, 3]", "13"),
        ("pk > 1", ""),
        # Branches that negate the sort key may overlap; each item comes once.
        ("pk = 'a' AND NOT sk = '1' OR pk = 'a' AND sk = '2'", "23"),
        ("pk = 'a' AND sk <> '1' OR pk = 'a' AND sk = '2'", "23"),
        ("pk = 'a' AND NOT sk IN ['1', '3'] OR pk = 'a' AND sk = '2'", "2"),
        ("pk = 'a' AND NOT (sk = '1') OR pk = 'a' AND sk = '2'", "23"),
        ("pk = 'a' OR pk = 'a' AND NOT sk = '1'", "123"),
    ],
)
def test_any_other_condition_is_a_scan(sort, condition, found):
    """PQL-5, CAP-215: everything is read and paid for, then filtered."""
    assert sorted(sort_keys(sort, condition)) == sorted(found)
    scan = sort.call("Scan", {"TableName": "srt", "ReturnConsumedCapacity": "TOTAL"})
    answer = run(sort, f"SELECT * FROM srt WHERE {condition}", ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"] == scan["ConsumedCapacity"]


def test_a_select_without_a_condition_is_a_scan(sort):
    """PQL-5."""
    scanned = sort.call("Scan", {"TableName": "srt"})["Items"]
    assert rows(sort, "SELECT * FROM srt") == scanned
    assert len(scanned) == 4


@pytest.mark.parametrize(
    "condition",
    [
        "pk IN ['a', 'a']",
        "pk = 'a' OR pk = 'a'",
        "pk = 'a' AND (sk > '0' OR sk < '5')",
        "pk = 'a' AND (sk = '1' OR n = 2)",
        "(pk = 'a' AND n = 1) OR (pk = 'a' AND n = 2)",
        "pk = 'a' AND n = 1 OR pk = 'a' AND sk = '2'",
        "pk = 'a' AND n <> 1 OR pk = 'a' AND sk = '2'",
        "pk = 'a' AND (sk BETWEEN '1' AND '2' OR sk BETWEEN '2' AND '3')",
        "pk = 'a' AND sk IN ['1', '1']",
    ],
)
def test_alternatives_must_not_overlap(sort, condition):
    """PQL-9."""
    assert fault(sort, f"SELECT * FROM srt WHERE {condition}") == OVERLAP


@pytest.mark.parametrize(
    ("condition", "name"),
    [
        ("pk = 1", "pk"),
        ("pk = 1 OR pk = 'a'", "pk"),
        ("pk = 'a' AND sk = 1", "sk"),
        ("pk = 'a' AND sk IN ['1', 2]", "sk"),
        ("pk = 'a' AND sk > 1", "sk"),
    ],
)
def test_key_values_have_the_type_of_the_schema(sort, condition, name):
    """PQL-5."""
    assert fault(sort, f"SELECT * FROM srt WHERE {condition}") == KEY_TYPE + name


@pytest.mark.parametrize(
    ("statement", "given"),
    [
        ("SELECT * FROM srt WHERE pk IN ['a', true]", "pk, Key type: BOOL"),
        ("UPDATE srt SET x = 1 WHERE pk = 'a' AND sk = [1]", "sk, Key type: L"),
        ("DELETE FROM srt WHERE pk = NULL AND sk = '1'", "pk, Key type: NULL"),
    ],
)
def test_key_values_are_of_a_type_that_keys_have(sort, statement, given):
    """PQL-5, PQL-8."""
    assert fault(sort, statement) == f"Key value must be of type S, N, or B. Key name: {given}"


def test_an_update_that_leaves_an_item_too_deep(emu):
    """TYP-5, PQL-8."""
    run(emu, "INSERT INTO tab VALUE {'pk': 'deep', 'm': {}}")
    value = {"S": "x"}
    for _ in range(31):
        value = {"M": {"a": value}}
    statement = "UPDATE tab SET m.deep = ? WHERE pk = 'deep'"
    assert fault(emu, statement, Parameters=[value]) == (
        "Nesting Levels have exceeded supported limits"
    )


def test_key_values_are_neither_empty_nor_too_long(sort):
    """KV-2, KV-3."""
    assert fault(sort, "SELECT * FROM srt WHERE pk = ''") == (
        "One or more parameter values are not valid. The AttributeValue for a key attribute "
        "cannot contain an empty string value. Key: pk"
    )
    assert fault(sort, "SELECT * FROM srt WHERE pk = 'a' AND sk = ?", {"S": "x" * 1025}) == (
        INVALID + "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"
    )


def test_a_key_has_no_members(sort):
    """QRY-7."""
    assert fault(sort, "SELECT * FROM srt WHERE pk.x = 'a'") == (
        "Key attributes must be scalars; list random access '[]' and map lookup '.' "
        "are not allowed: Key: pk"
    )


def test_a_statement_becomes_at_most_fifty_reads(sort):
    """PQL-5."""

    def values(count):
        return ", ".join(f"'v{number}'" for number in range(count))

    too_many = "Too many decomposed read operations for a given query."
    for condition in (
        f"pk IN [{values(51)}]",
        f"pk = 'a' AND sk IN [{values(51)}]",
        f"pk IN [{values(26)}] AND sk IN ['1', '2']",
    ):
        assert fault(sort, f"SELECT * FROM srt WHERE {condition}") == too_many
    assert sort_keys(sort, f"pk IN [{values(50)}] AND n IN [{values(100)}]") == []
    assert sort_keys(sort, f"pk IN [{values(51)}] OR n = 1") == ["1"]


# Order of a SELECT


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("pk = 'a' ORDER BY sk", ["a1", "a2", "a3"]),
        ("pk = 'a' ORDER BY sk ASC", ["a1", "a2", "a3"]),
        ("pk = 'a' ORDER BY sk DESC", ["a3", "a2", "a1"]),
        ("pk = 'a' ORDER BY pk ASC", ["a3", "a2", "a1"]),
        ("pk IN ['b', 'a'] ORDER BY pk, sk", ["a1", "a2", "a3", "b1"]),
        ("pk IN ['a', 'b'] ORDER BY pk DESC, sk", ["b1", "a1", "a2", "a3"]),
        ("pk IN ['a', 'b'] ORDER BY pk DESC", ["b1", "a3", "a2", "a1"]),
        ("pk = 'a' AND sk IN ['1', '3'] ORDER BY sk DESC", ["a3", "a1"]),
    ],
)
def test_results_come_in_the_order_of_keys(sort, condition, found):
    """PQL-5."""
    statement = f"SELECT pk, sk FROM srt WHERE {condition}"
    expected = [{"pk": {"S": key[0]}, "sk": {"S": key[1]}} for key in found]
    assert rows(sort, statement) == expected
    assert paged(sort, statement, 1) == expected
    assert paged(sort, statement, 2) == expected


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("ORDER BY sk", "Must have WHERE clause in the statement when using ORDER BY clause."),
        ("WHERE pk = 'a' ORDER BY n",
         "Attribute n in ORDER BY clause must be part of the primary key"),
        ("WHERE pk > 'a' ORDER BY sk",
         "Must have at least one non-optional hash key condition in WHERE clause "
         "when using ORDER BY clause."),
        ("WHERE pk IN ['a', 'b'] ORDER BY sk",
         "Must have hash key in ORDER BY clause when more than one hash key condition "
         "specified in WHERE clause."),
    ],
)  # fmt: skip
def test_only_keys_have_an_order(sort, rest, message):
    """PQL-5."""
    assert fault(sort, f"SELECT sk FROM srt {rest}") == message


# Conditions of a SELECT


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("attribute_exists(ss)", True),
        ("ATTRIBUTE_EXISTS(nope)", False),
        ("attribute_not_exists(nope)", True),
        ("NOT attribute_exists(nope)", True),
        ('(attribute_exists(nope) OR attribute_exists("ss"))', True),
        ("attribute_exists(m.sub)", True),
        ("attribute_exists(m.nope)", False),
        ("attribute_exists(ss) = true", True),
        ("attribute_exists(nope) = false", True),
        ("true = attribute_exists(ss)", True),
        ("attribute_exists(ss) <> 1", True),
        ("attribute_exists(ss) = 1", False),
        ("attribute_exists(ss) = flag", True),
        ("attribute_exists(ss) = attribute_exists(s)", True),
        ("attribute_exists(nope) IN [true, false]", True),
        ("(n BETWEEN 0 AND 9) = true", True),
        ("(n = 5 OR s = 'x') = false", False),
        ("NOT attribute_exists(ss) = true", False),
        ("size(s) = 3", True),
        ("size(s) = 4", False),
        ("attribute_type(ss, 'SS')", True),
        ("attribute_type(ss, 'S')", False),
        ("begins_with(s, 'st')", True),
        ("contains(ss, 'a')", True),
        ("contains(s, 'tr')", True),
        ("contains(l, 2)", True),
        ("nul IS NULL", True),
        ("s IS NULL", False),
        ("nope IS NULL", False),
        ("s IS NOT NULL", True),
        ("nope IS NOT NULL", True),
        ("nul IS NOT NULL", False),
        ("nope IS MISSING", True),
        ("s IS MISSING", False),
        ("s IS NOT MISSING", True),
        ("flag IS BOOL", True),
        ("s IS STRING", True),
        ("n IS NUMERIC", True),
        ("m IS STRUCT", True),
        ("l IS LIST", True),
        ("s IS BOOL", False),
        ("n != 5", False),
        ("n <> 4", True),
        ("n < 's'", False),
        ("nope <> 1", True),
        ("m.sub = 'x' AND l[0] = 1", True),
        ("n IN (4, 5)", True),
        ("n NOT IN [4, 6]", True),
        ("n NOT BETWEEN 1 AND 4", True),
        ("ss = <<'b', 'a'>>", True),
        ("l = [1, 2]", True),
        ("l = [2, 1]", False),
        ("m = {'sub': 'x'}", True),
        ("5 = 5", True),
    ],
)
def test_conditions_are_those_of_expressions(emu, condition, holds):
    """PQL-2, PQL-24, CND-1 to CND-17."""
    put(
        emu, "tab", pk="k", s="str", n={"N": "5"}, ss={"SS": ["a", "b"]}, nul={"NULL": True},
        m={"M": {"sub": {"S": "x"}}}, l={"L": [{"N": "1"}, {"N": "2"}]}, flag={"BOOL": True},
    )  # fmt: skip
    for statement in (
        f"SELECT pk FROM tab WHERE pk = 'k' AND {condition}",
        f"SELECT pk FROM tab WHERE {condition}",
    ):
        assert rows(emu, statement) == [{"pk": {"S": "k"}}] * holds


@pytest.mark.parametrize(
    ("value", "other"),
    [
        ({"SS": ["a", "b"]}, {"SS": ["a", "c"]}),
        ({"NS": ["1", "2"]}, {"NS": ["1", "3"]}),
        ({"BS": ["AQ=="]}, {"BS": ["Ag=="]}),
        ({"L": [{"S": "a"}]}, {"L": [{"S": "b"}]}),
        ({"M": {"x": {"N": "1"}}}, {"M": {"x": {"N": "2"}}}),
        ({"B": "AQ=="}, {"B": "Ag=="}),
        ({"NULL": True}, {"S": "x"}),
    ],
)
def test_every_type_can_be_compared_for_equality(emu, value, other):
    """CMP-1."""
    put(emu, "tab", pk="k", v=value)
    for operator, asked, count in (
        ("=", value, 1), ("=", other, 0), ("<>", value, 0), ("<>", other, 1),
    ):  # fmt: skip
        assert (
            len(rows(emu, f"SELECT * FROM tab WHERE pk = 'k' AND v {operator} ?", asked)) == count
        )


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"BOOL": True}, "BOOL"),
        ({"NULL": True}, "NULL"),
        ({"L": []}, "L"),
        ({"M": {}}, "M"),
        ({"SS": ["a"]}, "SS"),
        ({"NS": ["1"]}, "NS"),
        ({"BS": ["AQ=="]}, "BS"),
    ],
)
@pytest.mark.parametrize("operator", ["<", "<=", ">", ">="])
def test_types_without_order_are_not_ordered(emu, operator, value, name):
    """PQL-22."""
    statement = f"SELECT pk FROM tab WHERE pk = 'x' AND v {operator} ?"
    assert fault(emu, statement, value) == OPERAND_TYPE.format(operator, name)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("attribute_exists('ss')", "Operator or function requires a document path; "
         "operator or function: attribute_exists"),
        ("attribute_exists()", "Incorrect number of operands for operator or function; "
         "operator or function: attribute_exists, number of operands: 0"),
        ("attribute_exists(a, b)", "Incorrect number of operands for operator or function; "
         "operator or function: attribute_exists, number of operands: 2"),
        ("attribute_type(a, 1)", OPERAND_TYPE.format("attribute_type", "N")),
        ("attribute_type(a, true)", OPERAND_TYPE.format("attribute_type", "BOOL")),
        ("begins_with(a, 1)", OPERAND_TYPE.format("begins_with", "N")),
        ("v < true", OPERAND_TYPE.format("<", "BOOL")),
        ("v BETWEEN true AND false", OPERAND_TYPE.format("BETWEEN", "BOOL")),
        ("v BETWEEN 2 AND 1", "The BETWEEN operator requires upper bound to be greater than or "
         "equal to lower bound; lower bound operand: AttributeValue: {N:2}, "
         "upper bound operand: AttributeValue: {N:1}"),
    ],
)  # fmt: skip
def test_operands_are_judged_without_a_prefix(emu, condition, message):
    """PQL-22, EXP-10, EXP-11, CND-4, CND-5, CND-8, CND-9."""
    assert fault(emu, f"SELECT * FROM tab WHERE pk = 'k' AND {condition}") == message


# Columns of a SELECT


def test_columns_come_back_under_their_last_name(emu):
    """PQL-6: what is missing is left out."""
    nested = {"M": {"b": {"S": "leaf"}, "k": {"L": [{"S": "c"}]}}}
    put(emu, "tab", pk="k", a=nested, l={"L": [{"S": "x"}]})
    statement = "SELECT pk, a.b, l[0], a.k[0], l[7], nope.x FROM tab WHERE pk = 'k'"
    assert rows(emu, statement) == [
        {"pk": {"S": "k"}, "b": {"S": "leaf"}, "l[0]": {"S": "x"}, "k[0]": {"S": "c"}}
    ]
    assert rows(emu, "SELECT nope FROM tab WHERE pk = 'k'") == [{}]
    assert rows(emu, "SELECT a FROM tab WHERE pk = 'k'") == [{"a": nested}]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("a AS b", "Aliasing is not supported"),
        ("COUNT(*)", "Unexpected path component at 1:8:5"),
        ("attribute_exists(ss)", "Unexpected path component at 1:8:16"),
    ],
)
def test_only_paths_are_columns(emu, columns, message):
    """PQL-6."""
    assert fault(emu, f"SELECT {columns} FROM tab") == message


# A SELECT from an index


def test_an_index_answers_what_it_holds(indexed):
    """PQL-15: the items in it, and the attributes that it projects."""
    keys = {"pk", "sk", "g"}
    for name, names in (
        ("gsi-all", keys | {"l", "shown", "hidden"}),
        ("gsi-some", keys | {"shown"}),
        ("gsi-keys", keys),
    ):
        found = rows(indexed, f"SELECT * FROM inx.\"{name}\" WHERE g = 'x'")
        assert [row["sk"]["S"] for row in found] == ["1", "3"]
        assert all(set(row) == names for row in found)
    found = rows(indexed, "SELECT * FROM inx.\"lsi-keys\" WHERE pk = 'p'")
    assert [set(row) for row in found] == [{"pk", "sk", "l"}] * 3


def test_an_index_without_a_condition_on_its_key_is_scanned(indexed):
    """PQL-5, QRY-10: a filter sees what the index holds, and nothing else."""
    found = rows(indexed, "SELECT sk FROM inx.\"gsi-keys\" WHERE pk = 'p'")
    assert sorted(row["sk"]["S"] for row in found) == ["1", "2", "3"]
    assert rows(indexed, "SELECT sk FROM inx.\"gsi-some\" WHERE hidden = 'h1'") == []
    assert rows(indexed, "SELECT hidden FROM inx.\"lsi-keys\" WHERE hidden = 'h1'") == []
    assert len(rows(indexed, "SELECT sk FROM inx.\"gsi-keys\" WHERE NOT hidden = 'h1'")) == 3


def test_a_global_index_cannot_answer_what_it_does_not_hold(indexed):
    """PQL-15."""
    message = INVALID + "Global secondary index gsi-some does not project [zz, hidden]"
    for rest in (" WHERE g = 'x'", "", " WHERE zz = 1"):
        assert fault(indexed, f'SELECT zz, hidden, shown FROM inx."gsi-some"{rest}') == message


def test_a_local_index_fetches_what_it_does_not_hold(indexed):
    """PQL-15, CAP-210, CAP-403."""
    statement = "SELECT hidden FROM inx.\"lsi-keys\" WHERE pk = 'p'"
    answer = run(indexed, statement, ReturnConsumedCapacity="INDEXES")
    assert answer == {
        "Items": [{"hidden": {"S": f"h{number}"}} for number in "123"],
        "ConsumedCapacity": {
            "TableName": "inx",
            "CapacityUnits": 2.0,
            "Table": {"CapacityUnits": 1.5},
            "LocalSecondaryIndexes": {"lsi-keys": {"CapacityUnits": 0.5}},
        },
    }
    strong = run(indexed, statement, ReturnConsumedCapacity="TOTAL", ConsistentRead=True)
    assert units(strong) == 4.0


@pytest.mark.parametrize(
    "condition",
    [
        "g = 'x' AND hidden = 'h1'",
        "g = 'x' AND NOT hidden = 'h1'",
        "g = 'x' AND hidden IS MISSING",
        "g = 'x' AND begins_with(hidden, 'h')",
        "g = 'x' AND NOT (hidden = 'h1' OR shown = 's1')",
        "g IN ['x', 'y'] AND hidden = 'h1'",
        "(g = 'x' OR g = 'y') AND hidden = 'h1'",
    ],
)
def test_a_keyed_read_does_not_filter_on_what_the_index_does_not_hold(indexed, condition):
    """PQL-15."""
    assert fault(indexed, f'SELECT pk FROM inx."gsi-some" WHERE {condition}') == (
        INVALID + "Secondary index gsi-some does not project one or more filter attributes: "
        "[hidden]"
    )


def test_filter_attributes_are_told_as_a_java_set_has_them(indexed):
    """PQL-15."""
    message = INVALID + "Secondary index gsi-some does not project one or more filter attributes: "
    statement = "SELECT pk FROM inx.\"gsi-some\" WHERE g = 'x' AND {}"
    for condition, names in (
        ("b = '1' AND (a = '2' OR shown = '3')", "[a, b]"),
        ("(zz = '1' OR aa = '2' OR mm = '3')", "[zz, aa, mm]"),
    ):
        assert fault(indexed, statement.format(condition)) == message + names
    many = [f"k{number:02}" for number in range(13)]
    told = fault(indexed, statement.format(" AND ".join(f"{name} = 1" for name in many)))
    assert sorted(told.removeprefix(message)[1:-1].split(", ")) == many


def test_a_branch_that_nothing_can_match_needs_no_attribute(indexed):
    """PQL-15."""
    condition = "g = 'x' AND (g = 'y' OR hidden = 'h1')"
    assert rows(indexed, f'SELECT sk FROM inx."gsi-some" WHERE {condition}') == []


def test_a_local_index_is_filtered_by_the_same_rule(indexed):
    """PQL-15."""
    statement = "SELECT pk FROM inx.\"lsi-keys\" WHERE pk = 'p' AND l BETWEEN '1' AND '4' AND {}"
    assert fault(indexed, statement.format("hidden = 'h1'")) == (
        INVALID + "Secondary index lsi-keys does not project one or more filter attributes: "
        "[hidden]"
    )


def test_branches_are_refused_only_together(indexed):
    """PQL-15: and then for the branch with the highest partition key."""
    statement = 'SELECT sk FROM inx."gsi-some" WHERE '
    one, two = "(g = 'b' AND u1 = '1')", "(g = 'q' AND u2 = '1')"
    message = INVALID + "Secondary index gsi-some does not project one or more filter attributes: "
    assert fault(indexed, f"{statement}{one} OR {two}") == message + "[u2]"
    assert fault(indexed, f"{statement}{two} OR {one}") == message + "[u2]"
    for accepted in (
        "(g = 'x' AND hidden = 'h1') OR (g = 'y')",
        "(g = 'x' AND shown = 's9') OR (g = 'y' AND hidden = 'h1')",
        "g > 'a' AND hidden = 'h1'",
        "(g = 'x' AND hidden = 'h1') OR u1 = '1'",
        "g = 'x' AND g = 'y' AND hidden = 'h1'",
    ):
        rows(indexed, statement + accepted)
    found = rows(indexed, f"{statement}(g = 'x' AND hidden = 'h1') OR (g = 'y')")
    assert found == [{"sk": {"S": "2"}}]


def test_reading_an_index_costs_the_index(indexed):
    """CAP-215, CAP-402, CAP-403."""
    answer = run(
        indexed, "SELECT pk FROM inx.\"gsi-all\" WHERE g = 'x'", ReturnConsumedCapacity="INDEXES"
    )
    assert answer["ConsumedCapacity"] == {
        "TableName": "inx",
        "CapacityUnits": 0.5,
        "Table": {"CapacityUnits": 0.0},
        "GlobalSecondaryIndexes": {"gsi-all": {"CapacityUnits": 0.5}},
    }


def test_several_queries_cost_each_their_own(sort):
    """CAP-215."""
    statement = "SELECT * FROM srt WHERE pk IN ['a', 'b', 'none']"
    answer = run(sort, statement, ReturnConsumedCapacity="TOTAL", ConsistentRead=True)
    assert answer["ConsumedCapacity"] == {"TableName": "srt", "CapacityUnits": 3.0}


def test_a_filter_saves_nothing(sort):
    """CAP-204: but the receipt says what came back."""
    run(sort, "SELECT * FROM srt WHERE pk = 'a' AND n = 2")
    ((name, receipt),) = sort.account().last_receipts
    assert (name, receipt.items_evaluated, receipt.items_returned) == ("srt", 3, 1)


# Pages


def paged(emu, statement, limit, *parameters, **members):
    """Return all items of a statement, read in pages."""
    found, token = [], None
    for _ in range(50):
        more = {} if token is None else {"NextToken": token}
        answer = run(emu, statement, *parameters, Limit=limit, **more, **members)
        found += answer["Items"]
        assert len(answer["Items"]) <= limit
        token = answer.get("NextToken")
        assert (token is None) == ("LastEvaluatedKey" not in answer)
        if token is None:
            return found
    raise AssertionError("the pages do not end")


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM srt",
        "SELECT * FROM srt WHERE n > 1",
        "SELECT * FROM srt WHERE pk = 'a'",
        "SELECT sk FROM srt WHERE pk = 'a' AND sk > '1'",
        "SELECT * FROM srt WHERE pk IN ['b', 'a']",
        "SELECT * FROM srt WHERE pk = 'a' AND sk IN ['1', '3'] ORDER BY sk DESC",
    ],
)
@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_pages_make_up_the_whole(sort, statement, limit):
    """PQL-17, QRY-4."""
    assert paged(sort, statement, limit) == rows(sort, statement)


def test_pages_of_an_index_make_up_the_whole(indexed):
    """PQL-17, QRY-5."""
    statement = "SELECT * FROM inx.\"gsi-keys\" WHERE g = 'x'"
    answer = run(indexed, statement, Limit=1)
    assert answer["LastEvaluatedKey"] == {"pk": {"S": "p"}, "sk": {"S": "1"}, "g": {"S": "x"}}
    assert paged(indexed, statement, 1) == rows(indexed, statement)
    everything = 'SELECT * FROM inx."lsi-keys"'
    assert paged(indexed, everything, 2) == rows(indexed, everything)


def test_a_page_ends_after_a_megabyte(sort):
    """PQL-17, SIZ-6: also when it goes through several partitions."""
    for number in range(6):
        put(sort, "srt", pk=f"big{number}", sk="1", v="x" * 300_000)
    keys = ", ".join(f"'big{number}'" for number in range(6))
    statement = f"SELECT pk FROM srt WHERE pk IN [{keys}]"
    first = run(sort, statement)
    assert [row["pk"]["S"] for row in first["Items"]] == ["big0", "big1", "big2", "big3"]
    second = run(sort, statement, NextToken=first["NextToken"])
    assert [row["pk"]["S"] for row in second["Items"]] == ["big4", "big5"]
    assert "NextToken" not in second


def test_a_token_belongs_to_its_statement_and_parameters(sort):
    """PQL-17."""
    statement = "SELECT * FROM srt WHERE pk = ?"
    token = run(sort, statement, {"S": "a"}, Limit=1)["NextToken"]
    mismatch = "NextToken does not match request"
    assert fault(sort, statement, {"S": "b"}, NextToken=token) == mismatch
    assert fault(sort, "SELECT * FROM srt", NextToken=token) == mismatch
    assert len(rows(sort, statement, {"S": "a"}, Limit=2, NextToken=token)) == 2
    assert len(rows(sort, statement, {"S": "a"}, ConsistentRead=True, NextToken=token)) == 2


@pytest.mark.parametrize("token", ["x", "zz", "00", "é", "5b5d", " ", "a" * 32768])
def test_a_token_that_is_none(sort, token):
    """PQL-17."""
    assert fault(sort, "SELECT * FROM srt", NextToken=token) == "Invalid NextToken"


@given(st.data())
@settings(max_examples=50)
def test_a_forged_token_is_refused_or_goes_on(data):
    """PQL-17: whatever stands in it."""
    emu = with_sorted_table()
    put(emu, "srt", pk="a", sk="1")
    token = run(emu, "SELECT * FROM srt", Limit=1)["NextToken"]
    place = data.draw(st.integers(0, len(token) - 1))
    digit = data.draw(st.sampled_from("0123456789abcdef"))
    forged = token[:place] + digit + token[place + 1 :]
    try:
        # A start key that was changed may lie before the only item, or behind it.
        only = {"pk": {"S": "a"}, "sk": {"S": "1"}}
        assert rows(emu, "SELECT * FROM srt", NextToken=forged) in ([], [only])
    except ApiError as error:
        assert error.message in ("Invalid NextToken", "NextToken does not match request")


def test_a_limit_counts_what_is_read(sort):
    """QRY-3, CND-15."""
    answer = run(sort, "SELECT * FROM srt WHERE pk = 'a' AND n = 3", Limit=2)
    assert answer["Items"] == []
    assert answer["LastEvaluatedKey"] == {"pk": {"S": "a"}, "sk": {"S": "2"}}


# UPDATE


def test_an_update_changes_an_item(emu):
    """PQL-1, PQL-8."""
    put(emu, "tab", pk="k", a={"N": "1"}, b="x", l={"L": [{"N": "1"}]}, m={"M": {"x": {"N": "1"}}})
    answer = run(
        emu,
        "UPDATE tab SET a = a + 100, c = b SET l = list_append(l, [2]) SET m.y = [1, 'z'] "
        "REMOVE b WHERE pk = 'k'",
    )
    assert answer == {"Items": []}
    assert get(emu, "tab", pk="k") == {
        "pk": {"S": "k"},
        "a": {"N": "101"},
        "c": {"S": "x"},
        "l": {"L": [{"N": "1"}, {"N": "2"}]},
        "m": {"M": {"x": {"N": "1"}, "y": {"L": [{"N": "1"}, {"S": "z"}]}}},
    }


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ("n - 1", "4"),
        ("n-1", "4"),
        ("n - - 2", "7"),
        ("n + m", "8"),
        ("1 + n", "6"),
        ("n + 1 + 1", "7"),
        ("(n + 1) - 2", "4"),
        ("n + ?", "9"),
    ],
)
def test_sums_and_differences(emu, value, result):
    """PQL-2."""
    put(emu, "tab", pk="k", n={"N": "5"}, m={"N": "3"})
    run(emu, f"UPDATE tab SET r = {value} WHERE pk = 'k'", *[{"N": "4"}] * value.count("?"))
    assert get(emu, "tab", pk="k")["r"] == {"N": result}


@pytest.mark.parametrize("form", ["UPDATE tab SET c = 1 WHERE {}", "FROM tab WHERE {} SET c = 1"])
def test_an_update_is_conditional(emu, form):
    """PQL-8: an update of a missing item is a failed condition, whatever it asks."""
    put(emu, "tab", pk="k", a={"N": "1"})
    run(emu, form.format("pk = 'k' AND a = 1"))
    assert get(emu, "tab", pk="k")["c"] == {"N": "1"}
    for condition in ("pk = 'k' AND a = 2", "pk = 'z'", "pk = 'z' AND attribute_not_exists(pk)"):
        assert refusal(emu, "ExecuteStatement", {"Statement": form.format(condition)}) == (
            "ConditionalCheckFailedException",
            "The conditional request failed",
        )
    assert get(emu, "tab", pk="z") is None


def test_a_failed_condition_shows_the_item_if_asked(emu):
    """OPC-3."""
    put(emu, "tab", pk="k", a={"N": "1"})
    with pytest.raises(ApiError) as caught:
        run(
            emu,
            "UPDATE tab SET c = 1 WHERE pk = 'k' AND a = 2",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    assert caught.value.members == {"Item": {"pk": {"S": "k"}, "a": {"N": "1"}}}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE srt SET a = 1",
        "UPDATE srt SET a = 1 WHERE pk = 'a'",
        "UPDATE srt SET a = 1 WHERE a = 1",
        "UPDATE srt SET a = 1 WHERE pk = 'a' AND sk > '1'",
        "UPDATE srt SET a = 1 WHERE pk IN ['a'] AND sk = '1'",
        "UPDATE srt SET a = 1 WHERE pk = 'a' AND sk = '1' OR a = 1",
        "FROM srt SET a = 1",
        "FROM srt REMOVE a",
        "DELETE FROM srt",
        "DELETE FROM srt WHERE pk = 'a'",
        "DELETE FROM srt WHERE sk = '1'",
    ],
)
def test_a_write_names_the_whole_key(sort, statement):
    """PQL-8."""
    assert fault(sort, statement) == MANDATORY_KEY


@pytest.mark.parametrize("form", ["UPDATE srt SET a = 1 WHERE {}", "DELETE FROM srt WHERE {}"])
def test_a_write_names_one_key(sort, form):
    """PQL-8."""
    assert fault(sort, form.format("pk = 'a' AND sk = '1' AND pk = 'b'")) == (
        "Multiple conditions on same key pk. Only single item Update/Insert/Delete are supported"
    )
    assert fault(sort, form.format("pk = 'a' AND sk = 1")) == KEY_TYPE + "sk"
    assert run(sort, form.format("(pk = 'a' AND sk = '1') AND pk = 'a' AND n = 1")) == {"Items": []}


def test_a_key_attribute_is_not_updated(sort):
    """UPD-5."""
    assert fault(sort, "UPDATE srt SET sk = '9' WHERE pk = 'a' AND sk = '1'") == (
        INVALID + "Cannot update attribute sk. This attribute is part of the key"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("nope[0] = 'x'", INVALID_PATH),
        ("a = nope", MISSING_OPERAND),
        ("a = list_append(nope, [1])", MISSING_OPERAND),
        ("a = s + 1", WRONG_TYPE),
        ("ss = set_add(ss, <<1>>)", WRONG_TYPE),
        ("s = set_add(s, <<'x'>>)", WRONG_TYPE),
        ("ss = set_delete(ss, <<1>>)", WRONG_TYPE),
        ("a = n - null", OPERAND_TYPE.format("-", "NULL")),
        ("a = 1, a = 2", "Two document paths overlap with each other; must remove or rewrite "
         "one of these paths; path one: [a], path two: [a]"),
    ],
)  # fmt: skip
def test_an_update_that_does_not_suit(emu, change, message):
    """UPD-3, UPD-6, UPD-10, UPD-11, PQL-21: told without a prefix."""
    put(emu, "tab", pk="k", n={"N": "1"}, s="str", ss={"SS": ["a"]})
    assert fault(emu, f"UPDATE tab SET {change} WHERE pk = 'k'") == message


def test_a_parameter_for_a_set_is_a_set(emu):
    """PQL-21."""
    put(emu, "tab", pk="k", ss={"SS": ["a"]})
    statement = "UPDATE tab SET ss = set_add(ss, ?) WHERE pk = 'k'"
    assert fault(emu, statement, {"S": "x"}) == (
        "The second argument to SET_ADD must be a value with type SET at 1:29:2"
    )
    run(emu, statement, {"SS": ["b"]})
    assert get(emu, "tab", pk="k")["ss"] == {"SS": ["a", "b"]}


@pytest.mark.parametrize(
    ("change", "name", "result"),
    [
        ("ss = set_add(ss, <<'0', 'z'>>)", "ss", {"SS": ["0", "a", "b", "z"]}),
        ("ns = SET_ADD(ns, <<4, 1>>)", "ns", {"NS": ["1", "2", "4"]}),
        ("ss = set_add(ss, <<'a'>>)", "ss", {"SS": ["a", "b"]}),
        ("fresh = set_add(fresh, <<'x'>>)", "fresh", {"SS": ["x"]}),
        ("ss = set_delete(ss, <<'a'>>)", "ss", {"SS": ["b"]}),
        ("ss = set_delete(ss, <<'a', 'b'>>)", "ss", None),
        ("ss = set_delete(ss, <<'zz'>>)", "ss", {"SS": ["a", "b"]}),
        ("fresh = set_delete(fresh, <<'x'>>)", "fresh", None),
        ("m.ss = set_add(m.ss, <<'y'>>)", "m", {"M": {"ss": {"SS": ["x", "y"]}}}),
    ],
)
def test_members_of_sets_come_and_go(emu, change, name, result):
    """PQL-21, UPD-15, UPD-16."""
    sets = {"ss": {"SS": ["a", "b"]}, "ns": {"NS": ["1", "2"]}}
    put(emu, "tab", pk="k", m={"M": {"ss": {"SS": ["x"]}}}, **sets)
    run(emu, f"UPDATE tab SET {change} WHERE pk = 'k'")
    assert get(emu, "tab", pk="k").get(name) == result


def test_the_finished_item_has_at_most_400_kb(emu):
    """SIZ-5: the statement itself is not measured."""
    put(emu, "tab", pk="k")
    text = "x" * (409_600 - len("pkkv"))
    statement = "UPDATE tab SET v = ? WHERE pk = 'k'"
    assert fault(emu, statement, {"S": text + "x"}) == (
        "Item size to update has exceeded the maximum allowed size"
    )
    assert rows(emu, statement, {"S": text}) == []


# DELETE


def test_a_delete_removes_an_item(emu):
    """PQL-8."""
    put(emu, "tab", pk="k", a={"N": "1"})
    statement = "DELETE FROM tab WHERE pk = 'k' AND a = 2"
    assert refusal(emu, "ExecuteStatement", {"Statement": statement}) == (
        "ConditionalCheckFailedException",
        "The conditional request failed",
    )
    assert run(emu, "DELETE FROM tab WHERE pk = 'k' AND a = 1") == {"Items": []}
    assert get(emu, "tab", pk="k") is None


@pytest.mark.parametrize("further", ["", " AND a = 1", " AND attribute_exists(a)"])
def test_a_delete_of_a_missing_item_succeeds(emu, further):
    """PQL-8: the public suite has it for further conditions, too."""
    statement = f"DELETE FROM tab WHERE pk = 'k'{further} RETURNING ALL OLD *"
    assert run(emu, statement, ReturnConsumedCapacity="TOTAL") == {
        "Items": [],
        "ConsumedCapacity": {"TableName": "tab", "CapacityUnits": 1.0},
    }


# RETURNING


def test_what_a_delete_returns(emu):
    """PQL-10."""
    put(emu, "tab", pk="k", a={"N": "1"})
    statement = "DELETE FROM tab WHERE pk = 'k' RETURNING ALL OLD *"
    assert rows(emu, statement) == [{"pk": {"S": "k"}, "a": {"N": "1"}}]


@pytest.mark.parametrize(
    ("change", "returning", "item"),
    [
        ("SET a = 2", "ALL OLD", {"pk": {"S": "k"}, "a": {"N": "1"}, "l": {"L": [{"S": "x"}]}}),
        ("SET a = 2", "ALL NEW", {"pk": {"S": "k"}, "a": {"N": "2"}, "l": {"L": [{"S": "x"}]}}),
        ("SET a = 2", "MODIFIED OLD", {"a": {"N": "1"}}),
        ("SET a = 2", "MODIFIED NEW", {"a": {"N": "2"}}),
        ("SET b = 2", "MODIFIED NEW", {"b": {"N": "2"}}),
        ("SET b = 2", "MODIFIED OLD", None),
        ("REMOVE a", "MODIFIED OLD", {"a": {"N": "1"}}),
        ("REMOVE a", "MODIFIED NEW", None),
        ("SET l[0] = 'y'", "MODIFIED NEW", {"l": {"L": [{"S": "y"}]}}),
        ("SET l[5] = 'y'", "MODIFIED NEW", None),
        ("SET l[1] = 'y'", "MODIFIED NEW", {"l": {"L": [{"S": "y"}]}}),
        ("SET l[1] = 'y'", "MODIFIED OLD", None),
    ],
)
def test_what_an_update_returns(emu, change, returning, item):
    """PQL-10, UIT-2 to UIT-5: nothing to return is no row."""
    put(emu, "tab", pk="k", a={"N": "1"}, l={"L": [{"S": "x"}]})
    statement = f"UPDATE tab {change} WHERE pk = 'k' RETURNING {returning} *"
    assert rows(emu, statement) == ([] if item is None else [item])


# Prices, streams, admission


def test_writes_cost_what_the_item_operations_cost(indexed):
    """CAP-313, CAP-402."""
    key = "{'pk': 'p', 'sk': '9', 'g': 'x', 'shown': 's'}"
    answer = run(indexed, f"INSERT INTO inx VALUE {key}", ReturnConsumedCapacity="INDEXES")
    assert answer["ConsumedCapacity"] == {
        "TableName": "inx",
        "CapacityUnits": 4.0,
        "Table": {"CapacityUnits": 1.0},
        "GlobalSecondaryIndexes": {
            name: {"CapacityUnits": 1.0} for name in ("gsi-all", "gsi-keys", "gsi-some")
        },
    }
    change = "UPDATE inx SET g = 'y' WHERE pk = 'p' AND sk = '9'"
    assert units(run(indexed, change, ReturnConsumedCapacity="TOTAL")) == 7.0
    delete = "DELETE FROM inx WHERE pk = 'p' AND sk = '9'"
    assert units(run(indexed, delete, ReturnConsumedCapacity="TOTAL")) == 4.0


def test_writes_are_streamed(emu):
    """STM-1: a statement leaves the records of the operation it stands for."""
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    emu.call("UpdateTable", {"TableName": "tab", "StreamSpecification": stream})
    run(emu, "INSERT INTO tab VALUE {'pk': 'k'}")
    run(emu, "UPDATE tab SET a = 1 WHERE pk = 'k'")
    run(emu, "DELETE FROM tab WHERE pk = 'k'")
    run(emu, "DELETE FROM tab WHERE pk = 'k'")
    arn = emu.call("DescribeTable", {"TableName": "tab"})["Table"]["LatestStreamArn"]
    shard = emu.call("DescribeStream", {"StreamArn": arn})["StreamDescription"]["Shards"][0]
    iterator = emu.call(
        "GetShardIterator",
        {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"},
    )
    records = emu.call("GetRecords", {"ShardIterator": iterator["ShardIterator"]})["Records"]
    assert [record["eventName"] for record in records] == ["INSERT", "MODIFY", "REMOVE"]


def test_a_refused_statement_changes_nothing(emu):
    """ORD-3."""
    put(emu, "tab", pk="k", n={"N": "1"})
    for statement in (
        "INSERT INTO tab VALUE {'pk': 'x'} foo",
        "DELETE FROM tab x WHERE pk = 'k'",
        "DELETE FROM tab WHERE pk = 'k' ORDER BY pk",
        "UPDATE tab SET n = n--1 WHERE pk = 'k'",
        "EXISTS(SELECT * FROM tab WHERE pk = 'k' AND n = 1)",
    ):
        fault(emu, statement)
    assert emu.call("Scan", {"TableName": "tab"})["Items"] == [{"pk": {"S": "k"}, "n": {"N": "1"}}]


def test_exists_belongs_to_transactions(emu):
    """PQL-2."""
    assert fault(emu, "EXISTS(SELECT * FROM tab WHERE pk = 'k' AND n = 1)") == (
        "EXISTS can only be used in ExecuteTransaction write requests."
    )
