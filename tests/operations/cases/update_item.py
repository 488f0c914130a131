"""Cases of UpdateItem: requests with their whole answer or exact error, for every door."""

from tests.operations.cases.case import (
    CAPACITY_ENUM,
    INDEXED,
    INDEXED_KEY,
    INVALID,
    KEY,
    MAP,
    NOT_NULL,
    NOT_SCALAR,
    NOT_THE_SCHEMA,
    RETURN_ENUM,
    STORED,
    Case,
    constraint,
    detected,
    either,
    put,
    refused,
    value_of,
    wire,
)


def update(expression, names=None, **values):
    """Return an UpdateItem request on the item {pk: a}."""
    request = {"TableName": "hash", "Key": KEY, "UpdateExpression": expression}
    if names:
        request["ExpressionAttributeNames"] = names
    if values:
        request["ExpressionAttributeValues"] = {
            f":{name}": value_of(value) for name, value in values.items()
        }
    return request


def updates(rules, entries, result, given=STORED):
    """Return a case: an update by AttributeUpdates and what the item becomes."""
    request = {
        "TableName": "hash",
        "Key": KEY,
        "AttributeUpdates": entries,
        "ReturnValues": "ALL_NEW",
    }
    if isinstance(result, str):
        return Case(
            rules,
            "UpdateItem",
            request,
            error=refused(detected(result)),
            classic=result,
            given=given,
        )
    answer = {"Attributes": wire({"pk": "a", **result})} if result is not None else {}
    return Case(rules, "UpdateItem", request, answer=answer, given=given)


def change(action, value=None):
    """Return an AttributeUpdates entry."""
    entry = {"Action": action}
    if value is not None:
        entry["Value"] = value_of(value)
    return entry


REST = {"n": 5, "s": "abc", "l": ["x"], "ss": {"SS": ["a", "b"]}}


def update_returning_new(expression, names=None, given=(), **values):
    """Return an UpdateItem on {pk: a} that answers the new item."""
    request = {
        "TableName": "hash",
        "Key": KEY,
        "UpdateExpression": expression,
        "ReturnValues": "ALL_NEW",
    }
    if names:
        request["ExpressionAttributeNames"] = names
    if values:
        request["ExpressionAttributeValues"] = {
            f":{name}": value_of(value) for name, value in values.items()
        }
    return request


def updated(rules, stored, expression, result, **values):
    """Return a case: an update of a stored item, and what it becomes."""
    return Case(
        rules,
        "UpdateItem",
        update_returning_new(expression, **values),
        given=[put("hash", pk="a", **stored)] if stored is not None else [],
        answer={"Attributes": wire({"pk": "a", **result})},
    )


def fragment(rules, stored, expression, return_values, result, **values):
    """Return a case: an update, and the fragment it answers (UIT-3 to UIT-5)."""
    return Case(
        rules,
        "UpdateItem",
        {**update_returning_new(expression, **values), "ReturnValues": return_values},
        given=[put("hash", pk="a", **stored)] if stored is not None else [],
        answer={"Attributes": wire(result)} if result else {},
    )


CASES = [
    # Which fault is reported first
    Case(
        "ERR-UPD-2 without Key the older form joins everything",
        "UpdateItem",
        {"TableName": ""},
        error=refused(
            detected(
                "; ".join(
                    [
                        constraint(
                            "''",
                            "tableName",
                            "Member must have length greater than or equal to 1",
                        ),
                        constraint("null", "key", NOT_NULL),
                    ]
                ),
                2,
            )
        ),
    ),
    Case(
        "ERR-UPD-1 the first enumeration alone in the current layer",
        "UpdateItem",
        {"TableName": "hash", "Key": KEY, "ReturnValues": "X", "ReturnConsumedCapacity": "X"},
        error=refused(
            detected(
                "Failed to satisfy constraint: Member must satisfy enum value set: "
                "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
            )
        ),
        classic=detected(
            "; ".join(
                [
                    constraint("'X'", "returnConsumedCapacity", CAPACITY_ENUM),
                    constraint("'X'", "returnValues", RETURN_ENUM),
                ]
            ),
            2,
        ),
    ),
    # Keys (KV-*)
    Case(
        "KV-6 wrong type",
        "UpdateItem",
        {"TableName": "hash", "Key": wire({"pk": 1})},
        error=refused(NOT_THE_SCHEMA),
    ),
    # Index keys (IXV-*)
    Case(
        "IXV-3",
        "UpdateItem",
        {
            "TableName": "indexed",
            "Key": wire(INDEXED),
            "UpdateExpression": "SET g = :e",
            "ExpressionAttributeValues": {":e": value_of("")},
        },
        error=refused(
            "One or more parameter values are not valid. The update expression attempted to update "
            "a secondary index key to a value that is not supported. The AttributeValue for a key "
            "attribute cannot contain an empty string value."
        ),
    ),
    Case(
        "MAK-21, IXV-1 on update",
        "UpdateItem",
        {
            "TableName": "indexed",
            "Key": wire(INDEXED),
            "UpdateExpression": "SET n = :e",
            "ExpressionAttributeValues": {":e": value_of("x")},
        },
        error=refused(
            INVALID + "Type mismatch for Index Key n Expected: N Actual: S IndexName: all"
        ),
    ),
    # Placeholders (PLH-*)
    Case(
        "PLH-1 name",
        "UpdateItem",
        update("SET #a = :v", v=1),
        **either(
            "Invalid UpdateExpression: An expression attribute name used in the document path is "
            "not defined; attribute name: #a"
        ),
    ),
    Case(
        "PLH-1 value",
        "UpdateItem",
        update("SET a = :v"),
        **either(
            "Invalid UpdateExpression: An expression attribute value used in expression is not "
            "defined; attribute value: :v"
        ),
    ),
    Case(
        "PLH-2 names before values",
        "UpdateItem",
        update("SET a = :v", names={"#x": "x"}, v=1, w=2),
        **either("Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}"),
    ),
    Case(
        "PLH-2 values",
        "UpdateItem",
        update("SET a = :v", v=1, w=2),
        **either("Value provided in ExpressionAttributeValues unused in expressions: keys: {:w}"),
    ),
    Case(
        "PLH-4",
        "UpdateItem",
        {**update("REMOVE a"), "ExpressionAttributeNames": {}},
        **either("ExpressionAttributeNames must not be empty"),
    ),
    Case(
        "LEX-4",
        "UpdateItem",
        update("SET a = :v", names={"a": "x"}, v=1),
        **either('ExpressionAttributeNames contains invalid key: Syntax error; key: "a"'),
    ),
    # Updates (UPD-*)
    Case(
        "UPD-2",
        "UpdateItem",
        update("SET a = :v SET b = :v", v=1),
        **either(
            'Invalid UpdateExpression: The "SET" section can only be used once in an update '
            "expression;"
        ),
    ),
    Case(
        "UPD-3",
        "UpdateItem",
        update("SET a = :v, a.b = :v", v=1),
        **either(
            "Invalid UpdateExpression: Two document paths overlap with each other; must remove or "
            "rewrite one of these paths; path one: [a], path two: [a, b]"
        ),
    ),
    Case(
        "UPD-5, PRO-5 never enveloped",
        "UpdateItem",
        update("SET pk = :v", v="a"),
        error=refused(INVALID + "Cannot update attribute pk. This attribute is part of the key"),
    ),
    Case(
        "UPD-6",
        "UpdateItem",
        update("SET a.b = :v", v=1),
        error=refused("The document path provided in the update expression is invalid for update"),
    ),
    Case(
        "UPD-10",
        "UpdateItem",
        update("SET a = b + :v", v=1),
        error=refused(
            "The provided expression refers to an attribute that does not exist in the item"
        ),
    ),
    Case(
        "UPD-11 stored type",
        "UpdateItem",
        update("SET n = n + :v", v=1),
        given=[put("hash", pk="a", n="text")],
        error=refused("An operand in the update expression has an incorrect data type"),
    ),
    Case(
        "UPD-15",
        "UpdateItem",
        update("ADD a :v", v="x"),
        **either(
            "Invalid UpdateExpression: Incorrect operand type for operator or function; "
            "operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND"
        ),
    ),
    # AttributeUpdates
    updates("LEG-7 PUT", {"n": change("PUT", 6)}, {**REST, "n": 6}),
    updates("LEG-7 the default is PUT", {"n": {"Value": value_of(7)}}, {**REST, "n": 7}),
    updates("LEG-7 ADD", {"n": change("ADD", 2)}, {**REST, "n": 7}),
    updates("LEG-7 ADD to a list", {"l": change("ADD", ["y"])}, {**REST, "l": ["x", "y"]}),
    updates(
        "LEG-7 DELETE members",
        {"ss": change("DELETE", {"SS": ["a"]})},
        {**REST, "ss": {"SS": ["b"]}},
    ),
    updates(
        "LEG-7 DELETE",
        {"s": change("DELETE")},
        {name: value for name, value in REST.items() if name != "s"},
    ),
    updates("LEG-7 DELETE alone creates nothing", {"s": change("DELETE")}, None, given=[]),
    updates("LEG-7 ADD creates", {"n": change("ADD", 2)}, {"n": 2}, given=[]),
    updates(
        "LEG-8 no value",
        {"n": change("PUT")},
        INVALID + "Only DELETE action is allowed when no attribute value is specified",
    ),
    updates(
        "LEG-8 DELETE of a scalar",
        {"n": change("DELETE", 1)},
        INVALID + "DELETE action with value is not supported for the type N",
    ),
    updates(
        "LEG-8 ADD of text",
        {"n": change("ADD", "x")},
        INVALID + "ADD action is not supported for the type S",
    ),
    Case(
        "LEG-8 another type is stored",
        "UpdateItem",
        {"TableName": "hash", "Key": KEY, "AttributeUpdates": {"s": change("ADD", 1)}},
        given=STORED,
        error=refused("Type mismatch for attribute to update"),
    ),
    Case(
        "LEG-8, UPD-5",
        "UpdateItem",
        {"TableName": "hash", "Key": KEY, "AttributeUpdates": {"pk": change("PUT", "b")}},
        error=refused(INVALID + "Cannot update attribute pk. This attribute is part of the key"),
    ),
    # Found by comparing with other emulators
    Case(
        "UPD-16 the type set of DELETE",
        "UpdateItem",
        {
            "TableName": "hash",
            "Key": KEY,
            "UpdateExpression": "DELETE x :v",
            "ExpressionAttributeValues": wire({":v": True}),
        },
        error=refused(
            detected(
                "Invalid UpdateExpression: Incorrect operand type for operator or function; "
                "operator: DELETE, operand type: BOOL, typeSet: ALLOWED_FOR_ADD_OPERAND"
            )
        ),
        classic="Invalid UpdateExpression: Incorrect operand type for operator or function; "
        "operator: DELETE, operand type: BOOLEAN, typeSet: ALLOWED_FOR_DELETE_OPERAND",
    ),
    # Paths below a key (QRY-7)
    Case(
        "QRY-7 an update below an index key",
        "UpdateItem",
        {"TableName": "indexed", "Key": INDEXED_KEY, "UpdateExpression": "REMOVE g.a"},
        error=refused(NOT_SCALAR.format("IndexKey: g")),
    ),
    Case(
        "QRY-7 an update from below a key",
        "UpdateItem",
        {"TableName": "indexed", "Key": INDEXED_KEY, "UpdateExpression": "SET x = pk.a"},
        error=refused(NOT_SCALAR.format("Key: pk")),
    ),
    Case(
        "UPD-5 comes before QRY-7",
        "UpdateItem",
        {"TableName": "indexed", "Key": INDEXED_KEY, "UpdateExpression": "REMOVE g.a, pk.a"},
        error=refused(INVALID + "Cannot update attribute pk. This attribute is part of the key"),
    ),
    Case(
        "QRY-7 a condition below a key: UpdateItem",
        "UpdateItem",
        {"TableName": "hash", "Key": KEY, "ConditionExpression": "attribute_not_exists(pk.a)"},
        error=refused(NOT_SCALAR.format("Key: pk")),
    ),
    # Updates
    Case(
        "UPD-12, UPD-13 a function takes no bare arithmetic",
        "UpdateItem",
        {
            "TableName": "hash",
            "Key": KEY,
            "UpdateExpression": "SET n = if_not_exists(n, m + :one)",
            "ExpressionAttributeValues": wire({":one": 1}),
        },
        error=refused(
            detected('Invalid UpdateExpression: Syntax error; token: "+", near: "m + :one"')
        ),
        classic='Invalid UpdateExpression: Syntax error; token: "+", near: "m + :one"',
    ),
    Case(
        "UPD-21, UPD-6 a path that leads nowhere before a number that is too large",
        "UpdateItem",
        {
            "TableName": "hash",
            "Key": KEY,
            "UpdateExpression": "SET n = :big + :big, gone.x = :big",
            "ExpressionAttributeValues": {":big": {"N": "9E125"}},
        },
        error=refused("The document path provided in the update expression is invalid for update"),
    ),
    Case(
        "UPD-21, NUM-10 only the result is stored",
        "UpdateItem",
        {
            "TableName": "hash",
            "Key": KEY,
            "UpdateExpression": "SET n = (:big + :one) - :big",
            "ExpressionAttributeValues": {":big": {"N": "1E125"}, ":one": {"N": "1"}},
            "ReturnValues": "UPDATED_NEW",
        },
        answer={"Attributes": {"n": {"N": "1"}}},
    ),
    Case(
        "UPD-21, NUM-4 a sum that is too large, after all",
        "UpdateItem",
        {
            "TableName": "hash",
            "Key": KEY,
            "AttributeUpdates": {"n": {"Action": "ADD", "Value": {"N": "9E125"}}},
        },
        given=[put("hash", pk="a", n={"N": "9E125"})],
        error=refused(
            "Number overflow. Attempting to store a number with magnitude larger than "
            "supported range"
        ),
    ),
    # Members
    Case(
        "TYP-6 an empty name in AttributeUpdates",
        "UpdateItem",
        {"TableName": "hash", "Key": KEY, "AttributeUpdates": {"": {"Value": {"S": "x"}}}},
        error=refused("Empty attribute name"),
    ),
    # Legacy parameters
    Case(
        "UPD-19, LEG-7 an update of nothing creates the item",
        "UpdateItem",
        {"TableName": "hash", "Key": KEY, "AttributeUpdates": {}, "ReturnValues": "ALL_NEW"},
        answer={"Attributes": KEY},
    ),
    # Updates
    Case(
        "UPD-8, UPD-20 removing from an item that does not exist",
        "UpdateItem",
        {"TableName": "hash", "Key": KEY, "UpdateExpression": "REMOVE x.y, z[0]"},
        answer={},
    ),
    # Updates (UPD-*, VEC-4 to VEC-6)
    updated("UPD-19 creation", None, "SET x = :v", {"x": 1}, v=1),
    updated(
        "UPD-1 actions do not see each other",
        {"x": 1, "y": 2},
        "SET x = y, y = x",
        {"x": 2, "y": 1},
    ),
    updated(
        "UPD-7, VEC-4 append",
        {"l": ["a", "b", "c"]},
        "SET l[5] = :v",
        {"l": ["a", "b", "c", "d"]},
        v="d",
    ),
    updated("VEC-4 into an empty list", {"l": []}, "SET l[0] = :v", {"l": ["x"]}, v="x"),
    updated(
        "UPD-9, VEC-4 removal shifts",
        {"l": ["a", "b", "c", "d"]},
        "REMOVE l[1]",
        {"l": ["a", "c", "d"]},
    ),
    updated(
        "UPD-9 original indexes",
        {"l": ["a", "b", "c", "d"]},
        "REMOVE l[0], l[2]",
        {"l": ["b", "d"]},
    ),
    updated(
        "VEC-5",
        {"m": {"M": wire({"c": 10})}},
        "SET m.c = m.c + :i",
        {"m": {"M": wire({"c": 15})}},
        i=5,
    ),
    updated("VEC-6, UPD-15 ADD creates", {}, "ADD n :five", {"n": 5}, five=5),
    updated("UPD-15 ADD adds", {"n": 1}, "ADD n :five", {"n": 6}, five=5),
    updated(
        "UPD-15 ADD unites",
        {"s": {"SS": ["a"]}},
        "ADD s :m",
        {"s": {"SS": ["a", "b"]}},
        m={"SS": ["b"]},
    ),
    updated(
        "UPD-16 DELETE removes members",
        {"s": {"NS": ["1", "2"]}},
        "DELETE s :m",
        {"s": {"NS": ["1"]}},
        m={"NS": ["2.0"]},
    ),
    updated("SET-7, VEC-6", {"s": {"SS": ["a"]}}, "DELETE s :m", {}, m={"SS": ["a"]}),
    updated("UPD-8, VEC-6 removing nothing", {"m": MAP}, "REMOVE m.x, z", {"m": MAP}),
    updated(
        "UPD-13",
        {"n": 1},
        "SET n = if_not_exists(n, :z) + :o, p = if_not_exists(q, :z)",
        {"n": 2, "p": 0},
        z=0,
        o=1,
    ),
    updated(
        "UPD-14", {}, "SET l = list_append(if_not_exists(l, :e), :n)", {"l": ["x"]}, e=[], n=["x"]
    ),
    updated("UPD-12", {"b": 1}, "SET a = (b + :x) - :y", {"b": 1, "a": 2}, x=3, y=2),
    Case(
        "UPD-20 removals alone create nothing",
        "UpdateItem",
        update_returning_new("REMOVE x"),
        answer={},
    ),
    fragment("UIT-3", {"m": MAP}, "SET m.b = :v", "UPDATED_NEW", {"m": {"M": wire({"b": 2})}}, v=2),
    fragment(
        "UIT-3 before", {"m": MAP}, "SET m.b = :v", "UPDATED_OLD", {"m": {"M": wire({"b": 1})}}, v=2
    ),
    fragment(
        "UIT-4",
        {"l": ["a", "b", "c"]},
        "SET l[2] = :v, l[0] = :v",
        "UPDATED_NEW",
        {"l": ["x", "x"]},
        v="x",
    ),
    fragment("UIT-5 without the key", None, "SET x = :v", "UPDATED_NEW", {"x": 1}, v=1),
    fragment("UIT-3 nothing left", {"x": 1}, "REMOVE x", "UPDATED_NEW", None),
    fragment("UIT-2 nothing before", None, "SET x = :v", "ALL_OLD", None, v=1),
]
