"""UpdateItem: its shape, its rules in order, its behaviour.

Further requests with their whole answers stand in ``cases/update_item.py``.
"""

import pytest

from emulator import ApiError, Emulator, Settings
from emulator.operations.update_item import SHAPE
from tests.operations.cases.case import (
    AT_LEAST,
    CAPACITY_ENUM,
    FAILED,
    INDEXED_KEY,
    INVALID,
    METRICS_ENUM,
    MIXED,
    NOT_A_NUMBER,
    NOT_FOUND,
    NOT_NULL,
    NOT_SCALAR,
    OF_VALUES,
    RETURN_ENUM,
    TOO_DEEP,
    constraint,
    detected,
    filled,
    nested,
    put,
    wire,
)
from tests.operations.ladders import (
    answer,
    expression_steps,
    key_steps,
    ladder,
    members_step,
    misjudged,
    placeholder_steps,
    step,
    table_name_steps,
    unused_steps,
    wrapped,
)
from tests.tables import table

VALID = {"TableName": "indexed", "Key": INDEXED_KEY}


def update(text, table="indexed", **values):
    """Return an update of {pk: a, sk: b} that answers the new item."""
    request = {**VALID, "TableName": table, "UpdateExpression": text, "ReturnValues": "ALL_NEW"}
    if values:
        request["ExpressionAttributeValues"] = wire({f":{name}": v for name, v in values.items()})
    return request


def stored(**attributes):
    """Return the put of an item under the key."""
    return put("indexed", pk="a", sk="b", **attributes)


# Shape


def test_the_members_are_those_of_the_service():
    """UIT-1."""
    assert list(SHAPE.members) == [
        "ReturnConsumedCapacity",
        "TableName",
        "ReturnItemCollectionMetrics",
        "ReturnValues",
        "ReturnValuesOnConditionCheckFailure",
        "ConditionalOperator",
        "Key",
        "AttributeUpdates",
        "Expected",
        "UpdateExpression",
        "ConditionExpression",
        "ExpressionAttributeNames",
        "ExpressionAttributeValues",
    ]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"Key": []}, "Unrecognized collection type java.util.Map<java.lang.String, "
                      "com.amazonaws.dynamodb.v20120810.AttributeValue>"),
        ({"UpdateExpression": 5}, "NUMBER_VALUE cannot be converted to String"),
        ({"AttributeUpdates": {"a": {"Value": {"N": 1}}}},
         "NUMBER_VALUE cannot be converted to String"),
        ({"AttributeUpdates": {"a": []}}, "Unrecognized collection type class "
                                          "com.amazonaws.dynamodb.v20120810.AttributeValueUpdate"),
    ],
)  # fmt: skip
def test_a_wrong_json_type_is_reported_before_everything(members, message):
    """WIR-12, ORD-1."""
    request = {"TableName": "", "Key": {}, "ReturnConsumedCapacity": "X", **members}
    assert answer("UpdateItem", request) == ("SerializationException", message)


@pytest.mark.parametrize("profile", ["2026-10", "classic"])
def test_without_a_key_the_older_form_joins_everything(profile):
    """ERR-UPD-2, ERR-SHAPE-6."""
    request = {"TableName": "", "ReturnConsumedCapacity": "X"}
    assert answer("UpdateItem", request, profile) == (
        "ValidationException",
        detected(
            "; ".join(
                [
                    constraint("'X'", "returnConsumedCapacity", CAPACITY_ENUM),
                    constraint("''", "tableName", AT_LEAST.format(1)),
                    constraint("null", "key", NOT_NULL),
                ]
            ),
            3,
        ),
    )


def test_the_actions_of_legacy_updates_are_an_enumeration():
    """LEG-8, ERR-SHAPE-3."""
    request = {**VALID, "AttributeUpdates": {"a": {"Action": "X"}}}
    assert answer("UpdateItem", request) == (
        "ValidationException",
        detected(
            constraint(
                "'X'",
                "attributeUpdates.a.member.action",
                "Member must satisfy enum value set: [ADD, PUT, DELETE]",
            )
        ),
    )


# Rules, in the order of ERR-UPD-1; UPD-18 is the order inside the expression

PREFIX = "Invalid UpdateExpression: "
NAMES = {"#u": "u"}
VALUES = wire({":u": 1, ":s": "text", ":n": 5})


def updating(rules, text, message, classic=None):
    """Return a fault of the update, beside a condition and placeholders that come later."""
    fault = {
        "UpdateExpression": text,
        "ExpressionAttributeNames": NAMES,
        "ExpressionAttributeValues": VALUES,
    }
    classic = PREFIX + (classic or message)
    return step(f"ERR-UPD-1, UPD-18 {rules}", fault, detected(PREFIX + message), classic)


ORDER = ladder(
    VALID,
    *table_name_steps("ERR-UPD-1"),
    members_step(
        "ERR-UPD-1, ERR-SHAPE-5",
        {
            "TableName": "none",
            "ReturnValues": "X",
            "ReturnConsumedCapacity": "X",
            "ReturnItemCollectionMetrics": "X",
        },
        constraint("'X'", "returnConsumedCapacity", CAPACITY_ENUM),
        constraint("'X'", "returnItemCollectionMetrics", METRICS_ENUM),
        constraint("'X'", "returnValues", RETURN_ENUM),
        alone=detected(
            "Failed to satisfy constraint: Member must satisfy enum value set: "
            "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
        ),
    ),
    wrapped(
        "ERR-UPD-1 legacy and current parameters, LEG-1",
        {
            "ReturnValues": None,
            "ReturnConsumedCapacity": None,
            "ReturnItemCollectionMetrics": None,
            "AttributeUpdates": {"a": {"Action": "PUT"}},
            "Expected": {"a": {"Exists": False}},
            "ConditionalOperator": "OR",
            "UpdateExpression": "",
            "ConditionExpression": "",
        },
        MIXED
        % (
            "AttributeUpdates, Expected, ConditionalOperator",
            "UpdateExpression, ConditionExpression",
        ),
    ),
    *placeholder_steps(
        "ERR-UPD-1",
        ("UpdateExpression", "ConditionExpression"),
        "",
        values=": UpdateExpression and ConditionExpression are null",
    ),
    wrapped(
        "ERR-UPD-1 a value of the key, NUM-2",
        {
            "AttributeUpdates": None,
            "Key": {"pk": {"N": "x"}},
            "ExpressionAttributeNames": None,
            "ExpressionAttributeValues": {":v": {"N": "y"}},
        },
        NOT_A_NUMBER.format("x"),
    ),
    step(
        "ERR-UPD-1 an expression value, PRO-6",
        {"Key": {"pk": nested(32)}, "ExpressionAttributeValues": {":v": {"N": "y"}}},
        detected(NOT_A_NUMBER.format("y")),
        OF_VALUES.format(NOT_A_NUMBER.format("y"), ":v"),
    ),
    # The static texts: ERR-UPD-5.
    updating("an empty update, EXP-3", "", "The expression can not be empty;"),
    updating(
        "an update of 4,097 bytes, EXP-4, ERR-EXP-2",
        "(" * 4097,
        "Expression size has exceeded the maximum allowed size; expression size: 4097",
        "Expression size has exceeded the maximum allowed size;",
    ),
    updating("syntax, LEX-8", "SET a = b c d", 'Syntax error; token: "c", near: "b c d"'),
    updating(
        "syntax of arithmetic, UPD-12",
        "SET a = b + c - d",
        'Syntax error; token: "-", near: "c - d"',
    ),
    updating("a path to add, UPD-17", "ADD a b", 'Syntax error; token: "b", near: "a b"'),
    updating(
        "a reserved word, LEX-7",
        "SET name = :u",
        "Attribute name is a reserved keyword; reserved keyword: name",
    ),
    updating(
        "an unknown function, EXP-9", "SET a = nope(b)", "Invalid function name; function: nope"
    ),
    updating(
        "too many operands, EXP-10",
        "SET a = if_not_exists(a, :u, :u)",
        "Incorrect number of operands for operator or function; "
        "operator or function: if_not_exists, number of operands: 3",
    ),
    updating(
        "a section twice, UPD-2",
        "REMOVE a REMOVE #gone",
        'The "REMOVE" section can only be used once in an update expression;',
    ),
    updating(
        "an undefined name, PLH-1",
        "SET #gone = :gone, a = :u, a = :u",
        "An expression attribute name used in the document path is not defined; "
        "attribute name: #gone",
    ),
    updating(
        "an undefined value, PLH-1",
        "SET a = :gone, a = :u",
        "An expression attribute value used in expression is not defined; attribute value: :gone",
    ),
    updating(
        "overlapping paths, UPD-3",
        "SET a = b - :s REMOVE a.b",
        "Two document paths overlap with each other; must remove or rewrite one of these paths; "
        "path one: [a], path two: [a, b]",
    ),
    updating(
        "conflicting paths, UPD-4",
        "SET a[0] = b - :s, a.b = :u",
        "Two document paths conflict with each other; must remove or rewrite one of these paths; "
        "path one: [a, [0]], path two: [a, b]",
    ),
    updating(
        "a value in place of a path, EXP-11",
        "SET a = if_not_exists(:u, :u)",
        "Operator or function requires a document path; operator or function: if_not_exists",
    ),
    updating(
        "an operand of the wrong type, UPD-11",
        "SET a = b - :s",
        "Incorrect operand type for operator or function; operator or function: -, operand type: S",
    ),
    updating(
        "list_append of a number, UPD-14",
        "SET a = list_append(b, :n)",
        "Incorrect operand type for operator or function; "
        "operator or function: list_append, operand type: N",
    ),
    updating(
        "ADD of a text, UPD-15",
        "ADD a :s",
        "Incorrect operand type for operator or function; "
        "operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND",
    ),
    *expression_steps("ERR-UPD-1", "ConditionExpression", UpdateExpression="SET a = b"),
    *unused_steps(
        "ERR-UPD-1", "ConditionExpression", "attribute_exists(pk.a)", UpdateExpression="SET pk = b"
    ),
    wrapped(
        "ERR-UPD-1 a key of 32 levels, TYP-5",
        {"Key": {"pk": nested(32)}, "ExpressionAttributeValues": None},
        TOO_DEEP,
    ),
    step("ERR-UPD-1 no such table, TBL-4", {"TableName": "none", "Key": {}}, NOT_FOUND),
    *key_steps("ERR-UPD-1"),
    step(
        "QRY-7 a condition below a key",
        {
            "TableName": "indexed",
            "Key": INDEXED_KEY,
            "ConditionExpression": "attribute_exists(pk.a)",
            "UpdateExpression": "SET pk = b",
        },
        NOT_SCALAR.format("Key: pk"),
    ),
    step(
        "ERR-UPD-1, ERR-UPD-4 a key attribute, UPD-5",
        {"ConditionExpression": "attribute_exists(pk)", "UpdateExpression": "SET a = b REMOVE sk"},
        INVALID + "Cannot update attribute sk. This attribute is part of the key",
    ),
    step(
        "QRY-7 an update below a key of an index",
        {"ConditionExpression": "attribute_exists(pk)", "UpdateExpression": "SET a = g.b"},
        NOT_SCALAR.format("IndexKey: g"),
    ),
    step(
        "ERR-UPD-1 the condition, CND-14",
        {"ConditionExpression": "attribute_exists(pk)", "UpdateExpression": "SET a = b"},
        FAILED,
    ),
)
EVALUATION = ladder(
    VALID,
    step(
        "ERR-UPD-1, ERR-UPD-6 an operand that is not there, UPD-10",
        {
            "UpdateExpression": "SET x = gone, g = :e",
            "ExpressionAttributeValues": wire({":e": ""}),
        },
        "The provided expression refers to an attribute that does not exist in the item",
    ),
    step(
        "ERR-UPD-1 an index key of another type, IXV-1, MAK-21",
        {
            "UpdateExpression": "SET g = :n, l = :e",
            "ExpressionAttributeValues": wire({":n": 1, ":e": ""}),
        },
        INVALID + "Type mismatch for Index Key g Expected: S Actual: N IndexName: all",
    ),
    step(
        "ERR-UPD-1 an empty index key, IXV-3",
        {
            "UpdateExpression": "SET g = :e, v = :v",
            "ExpressionAttributeValues": wire({":e": "", ":v": "x" * 409_600}),
        },
        "One or more parameter values are not valid. The update expression attempted to update "
        "a secondary index key to a value that is not supported. The AttributeValue for a key "
        "attribute cannot contain an empty string value.",
    ),
    step(
        "ERR-UPD-1 an index key of 1,025 bytes, IXV-7",
        {
            "UpdateExpression": "SET l = :long, v = :v",
            "ExpressionAttributeValues": wire({":long": "x" * 1025, ":v": "x" * 409_600}),
        },
        INVALID + "Aggregated size of all range keys has exceeded the size limit of 1024 bytes",
    ),
    step(
        "ERR-UPD-1 the size of the item, SIZ-3",
        {
            "UpdateExpression": "SET v = :v",
            "ExpressionAttributeValues": wire({":v": "x" * 409_600}),
        },
        "Item size to update has exceeded the maximum allowed size",
    ),
)


def test_a_fault_is_reported_before_those_that_come_after_it():
    """ERR-UPD-1."""
    assert misjudged("UpdateItem", ORDER + EVALUATION) == {}


@pytest.mark.parametrize(
    ("item", "text", "message"),
    [
        (
            {},
            "SET m.a = :one",
            "The document path provided in the update expression is invalid for update",
        ),
        (
            {"m": "text"},
            "SET m.a = :one",
            "The document path provided in the update expression is invalid for update",
        ),
        (
            {"m": {"M": {}}},
            "SET m[0] = :one",
            "The document path provided in the update expression is invalid for update",
        ),
        (
            {},
            "REMOVE m.a",
            "The document path provided in the update expression is invalid for update",
        ),
        (
            {},
            "SET x = y + :one",
            "The provided expression refers to an attribute that does not exist in the item",
        ),
        (
            {"y": "text"},
            "SET x = y + :one",
            "An operand in the update expression has an incorrect data type",
        ),
        (
            {"y": "text"},
            "SET x = list_append(y, y)",
            "An operand in the update expression has an incorrect data type",
        ),
        (
            {"y": "text"},
            "ADD y :one",
            "An operand in the update expression has an incorrect data type",
        ),
        (
            {"y": {"SS": ["a"]}},
            "DELETE y :set",
            "An operand in the update expression has an incorrect data type",
        ),
        (
            {"y": {"N": "9" * 38}},
            "SET y = y + :tenth",
            "Number overflow. Attempting to store a number with magnitude larger than supported "
            "range",
        ),
        (
            {"y": {"N": "9E125"}},
            "ADD y :huge",
            "Number overflow. Attempting to store a number with magnitude larger than supported "
            "range",
        ),
    ],
)  # fmt: skip
def test_what_only_the_stored_item_shows_is_reported_bare(item, text, message):
    """ERR-UPD-6, UPD-6, UPD-8, UPD-10, UPD-11, UPD-14 to UPD-16, NUM-10, PRO-5."""
    values = {
        ":one": {"N": "1"},
        ":set": {"NS": ["1"]},
        ":tenth": {"N": "0.1"},
        ":huge": {"N": "9E125"},
    }
    request = {**VALID, "UpdateExpression": text}
    used = {name: value for name, value in values.items() if name in text}
    if used:
        request["ExpressionAttributeValues"] = used
    assert answer("UpdateItem", request, given=[stored(**item)]) == ("ValidationException", message)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"Action": "PUT"}, "Only DELETE action is allowed when no attribute value is specified"),
        ({"Action": "DELETE", "Value": {"N": "1"}},
         "DELETE action with value is not supported for the type N"),
        ({"Action": "ADD", "Value": {"S": "x"}}, "ADD action is not supported for the type S"),
    ],
)  # fmt: skip
def test_a_legacy_update_is_judged_before_the_table(entry, message):
    """LEG-8, ORD-2."""
    request = {**VALID, "TableName": "none", "AttributeUpdates": {"a": entry}}
    assert answer("UpdateItem", request) == ("ValidationException", detected(INVALID + message))


def test_a_legacy_update_names_its_attribute():
    """TYP-6, ORD-2."""
    request = {**VALID, "TableName": "none", "AttributeUpdates": {"": {"Action": "DELETE"}}}
    code, message = answer("UpdateItem", request)
    assert (code, message.removeprefix("1 validation error detected: ")) == (
        "ValidationException",
        "Empty attribute name",
    )


# Behaviour


def test_an_update_creates_a_missing_item():
    """UPD-19: the key and the results."""
    assert answer("UpdateItem", update("SET x = :one", one=1)) == {
        "Attributes": wire({"pk": "a", "sk": "b", "x": 1})
    }


@pytest.mark.parametrize("given", [[], [stored(x=1)]])
def test_an_update_that_says_nothing_makes_sure_that_the_item_exists(given):
    """UPD-19."""
    emulator = filled("2026-10")
    for one in given:
        emulator.call(*one)
    assert emulator.call("UpdateItem", VALID) == {}
    item = given[0][1]["Item"] if given else INDEXED_KEY
    assert emulator.call("GetItem", VALID) == {"Item": item}


@pytest.mark.parametrize("asked", ["NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"])
def test_removals_alone_create_nothing(asked):
    """UPD-20."""
    emulator = filled("2026-10")
    request = update("REMOVE x DELETE s :members", members={"SS": ["a"]})
    assert emulator.call("UpdateItem", request | {"ReturnValues": asked}) == {}
    assert emulator.call("GetItem", VALID) == {}


def test_removals_alone_create_as_dynamodb_local_does_if_told_so():
    """UPD-20, Settings.removal_creates_item."""
    emulator = Emulator(settings=Settings(removal_creates_item=True))
    emulator.call("CreateTable", table())
    key = {"TableName": "tab", "Key": {"pk": {"S": "a"}}}
    request = {**key, "UpdateExpression": "REMOVE x", "ReturnValues": "ALL_NEW"}
    assert emulator.call("UpdateItem", request) == {"Attributes": key["Key"]}
    assert emulator.call("GetItem", key) == {"Item": key["Key"]}


def test_a_failed_condition_leaves_no_ghost():
    """UIT-6, ORD-3."""
    emulator = filled("2026-10")
    request = {**update("SET x = :one", one=1), "ConditionExpression": "attribute_exists(pk)"}
    with pytest.raises(ApiError):
        emulator.call("UpdateItem", request)
    assert emulator.call("GetItem", VALID) == {}


ALL = {
    "NONE": None,
    "ALL_OLD": {"pk": "a", "sk": "b", "x": 1, "y": 2, "m": {"M": wire({"p": 1, "q": 2})}},
    "ALL_NEW": {"pk": "a", "sk": "b", "x": 5, "z": 6, "m": {"M": wire({"p": 7, "q": 2})}},
    "UPDATED_OLD": {"x": 1, "y": 2, "m": {"M": wire({"p": 1})}},
    "UPDATED_NEW": {"x": 5, "z": 6, "m": {"M": wire({"p": 7})}},
}


@pytest.mark.parametrize("return_values", ALL)
def test_return_values_show_the_item_or_what_was_touched(return_values):
    """UIT-2, UIT-3, OPC-4."""
    request = {
        **update("SET x = :x, z = :z, m.p = :p REMOVE y", x=5, z=6, p=7),
        "ReturnValues": return_values,
    }
    given = [stored(x=1, y=2, m={"M": wire({"p": 1, "q": 2})})]
    shown = ALL[return_values]
    assert answer("UpdateItem", request, given=given) == (
        {} if shown is None else {"Attributes": wire(shown)}
    )


@pytest.mark.parametrize(
    ("return_values", "shown"),
    [
        ("ALL_OLD", None),
        ("UPDATED_OLD", None),
        ("ALL_NEW", {"pk": "a", "sk": "b", "x": 1}),
        ("UPDATED_NEW", {"x": 1}),
    ],
)
def test_return_values_of_a_new_item(return_values, shown):
    """UIT-2, UIT-5."""
    request = {**update("SET x = :one", one=1), "ReturnValues": return_values}
    assert answer("UpdateItem", request) == ({} if shown is None else {"Attributes": wire(shown)})


def test_several_elements_past_the_end_are_appended_in_order_of_index():
    """UPD-7."""
    request = update("SET q[9] = :nine, q[5] = :five", nine="9", five="5")
    assert answer("UpdateItem", request, given=[stored(q=["0"])]) == {
        "Attributes": wire({"pk": "a", "sk": "b", "q": ["0", "5", "9"]})
    }


def test_only_index_keys_that_change_are_judged():
    """IXV-4, MAK-24: an index may come after an item that violates it."""
    emulator = Emulator()
    emulator.call("CreateTable", table())
    emulator.call(*put("tab", pk="a", g=5))
    create = {
        "IndexName": "gsi",
        "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    emulator.call(
        "UpdateTable",
        {
            "TableName": "tab",
            "AttributeDefinitions": [{"AttributeName": "g", "AttributeType": "S"}],
            "GlobalSecondaryIndexUpdates": [{"Create": create}],
        },
    )
    request = {
        "TableName": "tab",
        "Key": wire({"pk": "a"}),
        "UpdateExpression": "SET x = :v",
        "ExpressionAttributeValues": wire({":v": 1}),
        "ReturnValues": "ALL_NEW",
    }
    assert emulator.call("UpdateItem", request) == {"Attributes": wire({"pk": "a", "g": 5, "x": 1})}


@pytest.mark.parametrize(
    ("rule", "length", "accepted"),
    [
        ("request", 409_576, True),
        ("request", 409_577, False),
        ("item", 409_592, True),
        ("item", 409_593, False),
    ],
)
def test_the_statement_counts_towards_the_size(rule, length, accepted):
    """SIZ-5: 3 + 19 for one SET from a value; ten regions measure the item alone."""
    emulator = Emulator(settings=Settings(update_size_rule=rule))
    emulator.call("CreateTable", table("pk", "sk"))
    request = {
        **VALID,
        "TableName": "tab",
        "UpdateExpression": "SET vv = :v",
        "ExpressionAttributeValues": wire({":v": "x" * length}),
    }
    try:
        outcome = emulator.call("UpdateItem", request)
    except ApiError as error:
        outcome = error.message
    assert outcome == (
        {} if accepted else "Item size to update has exceeded the maximum allowed size"
    )


@pytest.mark.parametrize(
    ("old_bytes", "text", "units"),
    [
        (None, "SET x = :v", 1.0),
        (3000, "SET x = :v", 3.0),
        (3000, "REMOVE v", 3.0),
        (1000, "SET x = :v, y = :v, z = :v", 1.0),
        (1024, "SET x = :v", 2.0),
    ],
)
def test_an_update_costs_the_larger_of_both_images(old_bytes, text, units):
    """RCC-2, CAP-301, CAP-302: however little it changes."""
    given = [] if old_bytes is None else [stored(v="x" * (old_bytes - 7))]
    request = {**VALID, "UpdateExpression": text, "ReturnConsumedCapacity": "TOTAL"}
    if ":v" in text:
        request["ExpressionAttributeValues"] = wire({":v": 1})
    assert answer("UpdateItem", request, given=given) == {
        "ConsumedCapacity": {"TableName": "indexed", "CapacityUnits": units}
    }


@pytest.mark.parametrize(
    ("text", "arms"),
    [
        ("SET x = :v", {"all": 1.0, "some": 1.0}),
        ("SET g = :v", {"all": 2.0, "keys": 2.0}),
        ("REMOVE g", {"all": 1.0, "keys": 1.0}),
        ("SET n = n", None),
    ],
)
def test_an_index_entry_has_its_own_price(text, arms):
    """RCC-4, CAP-309, MAK-23: changed in place 1, moved 2, removed 1, unchanged 0."""
    request = {**VALID, "UpdateExpression": text, "ReturnConsumedCapacity": "INDEXES"}
    if ":v" in text:
        request["ExpressionAttributeValues"] = wire({":v": "new"})
    consumed = answer("UpdateItem", request, given=[stored(g="x", n=1)])["ConsumedCapacity"]
    indexes = consumed.get("GlobalSecondaryIndexes")
    expected = arms and {name: {"CapacityUnits": units} for name, units in arms.items()}
    assert (indexes, consumed["Table"]) == (expected, {"CapacityUnits": 1.0})


def test_collection_metrics_are_those_of_tables_with_a_local_index():
    """ICM-1, CAP-407."""
    asked = {"ReturnItemCollectionMetrics": "SIZE"}
    assert answer("UpdateItem", {**VALID, **asked}) == {
        "ItemCollectionMetrics": {
            "ItemCollectionKey": wire({"pk": "a"}),
            "SizeEstimateRangeGB": [0.0, 1.0],
        }
    }
    assert answer("UpdateItem", {"TableName": "hash", "Key": wire({"pk": "a"}), **asked}) == {}


@pytest.mark.parametrize(
    ("asked", "members"),
    [("ALL_OLD", {"Item": wire({"pk": "a", "sk": "b", "x": 1})}), ("NONE", {}), (None, {})],
)
def test_a_failed_condition_shows_the_stored_item_if_asked_for(asked, members):
    """OPC-3, CAP-408."""
    emulator = filled("2026-10")
    emulator.call(*stored(x=1))
    request = {**update("REMOVE x"), "ConditionExpression": "attribute_not_exists(x)"}
    if asked is not None:
        request["ReturnValuesOnConditionCheckFailure"] = asked
    with pytest.raises(ApiError) as caught:
        emulator.call("UpdateItem", request)
    assert (caught.value.code, caught.value.members) == (FAILED[0], members)
