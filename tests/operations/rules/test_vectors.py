"""Vector indexes: what definitions, changes and items are refused for."""

import pytest

from tests.tables import (
    INVALID,
    described,
    emulator,
    index,
    refusal,
    schema,
    table,
    types,
    vector,
    vector_index,
    vector_table,
)

BILLED = INVALID + "Vector indexes are only supported for PAY_PER_REQUEST tables"
CONFLICT = INVALID + "Conflicting attribute definition for 'emb'. "
IN_USE = "Attempt to change a resource which is still in use: "
ONE_AT_A_TIME = (
    "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per "
    "table"
)
COUNT = (
    INVALID
    + "Value '{}' at 'SearchSchema' failed to satisfy constraint: Member must have {} count "
    "less than or equal to {}"
)


def refused(request):
    return refusal(emulator(), "CreateTable", request)[1]


def changed(emu, *updates, **members):
    request = {"TableName": "tab", "VectorIndexUpdates": list(updates)} | members
    return emu.call("UpdateTable", request)["TableDescription"]


def refused_change(emu, *updates, **members):
    request = {"TableName": "tab", "VectorIndexUpdates": list(updates)} | members
    return refusal(emu, "UpdateTable", request)


def fault(value, path, rule):
    shown = value if value == "null" else f"'{value}'"
    return f"Value {shown} at '{path}' failed to satisfy constraint: Member must {rule}"


# Definitions


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"Projection": None}, ("null", "projection", "not be null")),
        ({"IndexName": "ab"}, ("ab", "indexName", "have length greater than or equal to 3")),
        ({"Dimensions": 0}, ("0", "dimensions", "have value greater than or equal to 1")),
        ({"Dimensions": 0.5}, ("0", "dimensions", "have value greater than or equal to 1")),
        (
            {"DistanceFunction": "X"},
            ("X", "distanceFunction", "satisfy enum value set: [DOT_PRODUCT, COSINE, EUCLIDEAN]"),
        ),
    ],
)
def test_faults_of_the_model_are_told_by_their_path(change, problem):
    """VIX-10."""
    value, path, rule = problem
    written = {m: v for m, v in (vector_index() | change).items() if v is not None}
    told = fault(value, f"vectorIndexes.1.member.{path}", rule)
    assert refused(vector_table(written)) == f"1 validation error detected: {told}"
    emu = emulator()
    emu.call("CreateTable", table())
    told = fault(value, f"vectorIndexUpdates.1.member.create.{path}", rule)
    assert refused_change(emu, {"Create": written})[1] == f"1 validation error detected: {told}"


def test_faults_of_global_indexes_come_before_those_of_vector_indexes():
    """VIX-10."""
    request = vector_table(vector_index("ab"))
    request["GlobalSecondaryIndexes"] = [index("ab", schema("pk"))]
    message = refused(request)
    assert message.startswith("2 validation errors detected: ")
    assert message.index("globalSecondaryIndexes") < message.index("vectorIndexes")


def test_a_fraction_of_dimensions_is_cut_off():
    """VIX-10."""
    emu = emulator()
    emu.call("CreateTable", vector_table(vector_index(size=3.5)))
    assert described(emu)["VectorIndexes"][0]["Dimensions"] == 3


MANY = [vector_index(f"v{number:02}") for number in range(6)]


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (vector_table() | {"VectorIndexes": []}, INVALID + "List of VectorIndexes is empty"),
        (vector_table() | {"BillingMode": "PROVISIONED"}, BILLED),
        ({m: v for m, v in vector_table().items() if m != "BillingMode"}, BILLED),
        (vector_table(*MANY), INVALID + "VectorIndex count exceeds the per-table limit of 5"),
        (vector_table(*MANY[:2], MANY[0]), INVALID + "Duplicate index name: v00"),
        (
            vector_table(GlobalSecondaryIndexes=[index("vix", schema("pk"))]),
            INVALID + "Duplicate index name: vix",
        ),
        (
            vector_table(vector_index(size=4097)),
            INVALID + "Number of dimensions must be between 1 and 4096 inclusive.",
        ),
        (
            vector_table(vector_index(partition="a b"), names="pk a b"),
            COUNT.format(2, "HASH", 1),
        ),
        (
            vector_table(vector_index(filters=" ".join(f"f{n}" for n in range(19)))),
            COUNT.format(19, "INLINE_FILTER", 18),
        ),
        (
            vector_table(vector_index(partition="a", filters="a"), names="pk a"),
            INVALID + "SearchSchema contains a duplicate AttributeName",
        ),
        (
            vector_table(vector_index(partition="a")),
            INVALID + "One element in SearchSchema is not defined in attribute definitions",
        ),
        (
            vector_table(names="pk emb"),
            CONFLICT + "An attribute cannot be defined in AttributeDefinitions when used as a "
            "VectorAttribute.",
        ),
        (
            vector_table(vector_index(), vector_index("other", size=3)),
            CONFLICT + "All VectorIndexes on the same vector attribute must use the same "
            "dimensions.",
        ),
        (
            vector_table(vector_index(project={"ProjectionType": "INCLUDE"})),
            INVALID + "ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
        ),
        (
            vector_table(names="pk unused", GlobalSecondaryIndexes=None),
            INVALID + "Number of attributes in KeySchema does not exactly match number of "
            "attributes defined in AttributeDefinitions",
        ),
    ],
)
def test_faults_of_definitions(request_, message):
    """VIX-5, VIX-6, VIX-11."""
    assert refused(request_) == message


def test_the_largest_definition_is_accepted_and_described_as_submitted():
    """VIX-1, VIX-3, VIX-5, VIX-6, VIX-7."""
    filters = [f"f{number:02}" for number in range(18)][::-1]
    largest = vector_index(
        size=4096, partition="tenant", filters=" ".join(filters), project=["b", "a"]
    )
    four = [vector_index(f"v{number:02}", size=4096) for number in range(4)]
    names = " ".join(["pk", "tenant:N", *filters])
    emu = emulator()
    emu.call("CreateTable", vector_table(largest, *four, names=names))
    shown = described(emu)["VectorIndexes"]
    assert shown[0] == largest | {
        "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["a", "b"]},
        "IndexStatus": "ACTIVE",
        "IndexSizeBytes": 0,
        "ItemCount": 0,
        "IndexArn": "arn:aws:dynamodb:us-east-1:000000000000:table/tab/index/vix",
    }
    assert [written["IndexName"] for written in shown] == ["vix", "v00", "v01", "v02", "v03"]
    assert "VectorIndexes" not in described(made(table(TableName="plain")), "plain")


def made(request):
    emu = emulator()
    emu.call("CreateTable", request)
    return emu


# Changes


def test_nothing_but_creation_and_deletion_changes_an_index():
    """VIX-2, VIX-6."""
    emu = made(table())
    answer = changed(emu, {"Create": vector_index()})
    assert answer["TableStatus"] == "UPDATING"
    assert answer["VectorIndexes"][0]["IndexStatus"] == "CREATING"
    assert answer["VectorIndexes"][0]["Backfilling"] is False
    assert changed(emu, {"Delete": {"IndexName": "vix"}})["VectorIndexes"][0]["IndexStatus"] == (
        "DELETING"
    )
    assert "VectorIndexes" not in described(emu)
    assert refusal(emu, "UpdateTable", {"TableName": "tab", "VectorIndexUpdates": []})[
        1
    ].startswith("At least one of")


def test_definitions_of_a_search_schema_come_and_go_with_its_index():
    """VIX-5."""
    emu = made(table())
    tenant = vector_index(partition="tenant")
    changed(emu, {"Create": tenant}, AttributeDefinitions=types("tenant"))
    assert described(emu)["AttributeDefinitions"] == types("pk tenant")
    changed(emu, {"Delete": {"IndexName": "vix"}})
    assert described(emu)["AttributeDefinitions"] == types("pk")


@pytest.mark.parametrize(
    ("updates", "code", "message"),
    [
        (
            [{"Create": vector_index("one")}, {"Create": vector_index("two")}],
            "LimitExceededException",
            ONE_AT_A_TIME,
        ),
        (
            [{"Create": vector_index("one"), "Delete": {"IndexName": "vix"}}],
            "ValidationException",
            INVALID + "Only one vector index action is allowed per VectorIndexUpdate object",
        ),
        (
            [{}],
            "ValidationException",
            INVALID + "One of VectorIndexUpdate.Create, VectorIndexUpdate.Delete must not be null",
        ),
        (
            [{"Create": vector_index()}],
            "ValidationException",
            "Attempting to create an index which already exists",
        ),
        (
            [{"Create": vector_index("gsi")}],
            "ValidationException",
            "Attempting to create an index which already exists",
        ),
        (
            [{"Create": vector_index("one", attribute="pk", size=3)}],
            "ValidationException",
            INVALID + "Attributes cannot be redefined. Please check that your attribute has the "
            "same type as previously defined. Existing schema: Schema:[SchemaElement: "
            "key{pk:S:HASH}] New schema: VectorIndexSchema:[VectorAttribute: key{pk:L:3}]",
        ),
        (
            [{"Delete": {"IndexName": "nobody"}}],
            "ResourceNotFoundException",
            "Requested resource not found: Index nobody for table tab",
        ),
        (
            [{"Create": vector_index("one", partition="pk")}],
            "ValidationException",
            INVALID + "One element in SearchSchema is not defined in attribute definitions",
        ),
        (
            [{"Create": vector_index("one", size=3)}],
            "ValidationException",
            CONFLICT + "All VectorIndexes on the same vector attribute must use the same "
            "dimensions.",
        ),
    ],
)
def test_faults_of_changes(updates, code, message):
    """VIX-11, VIX-12."""
    gsi = [index("gsi", schema("other"))]
    emu = made(vector_table(names="pk other", GlobalSecondaryIndexes=gsi))
    before = described(emu)
    assert refused_change(emu, *updates) == (code, message)
    assert described(emu) == before


def test_a_global_index_has_neither_the_name_nor_the_vector_of_a_vector_index():
    """VIX-12."""
    emu = made(vector_table())
    request = {"TableName": "tab", "AttributeDefinitions": types("x emb")}
    named = {"Create": index("vix", schema("x"))}
    assert refusal(emu, "UpdateTable", request | {"GlobalSecondaryIndexUpdates": [named]})[1] == (
        "Attempting to create an index which already exists"
    )
    keyed = {"Create": index("gsi", schema("emb"))}
    message = refusal(emu, "UpdateTable", request | {"GlobalSecondaryIndexUpdates": [keyed]})[1]
    assert message.endswith(
        "Existing schema: VectorIndexSchema:[VectorAttribute: key{emb:L:2}] New schema: "
        "Schema:[SchemaElement: key{emb:S:HASH}]"
    )


def test_tables_with_vector_indexes_stay_on_demand():
    """VIX-12."""
    emu = made(vector_table())
    request = {
        "TableName": "tab",
        "BillingMode": "PROVISIONED",
        "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
    }
    assert refusal(emu, "UpdateTable", request)[1] == (
        INVALID + "Tables with vector indexes must be in PAY_PER_REQUEST mode"
    )
    units = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    provisioned = made(table(ProvisionedThroughput=units))
    assert refused_change(provisioned, {"Create": vector_index()})[1] == BILLED


def test_a_sixth_index_is_one_too_many():
    """VIX-11."""
    emu = made(vector_table(*MANY[:5]))
    assert refused_change(emu, {"Create": MANY[5]}) == (
        "LimitExceededException",
        "Subscriber limit exceeded: Number of vector secondary indexes exceeds per-table limit of "
        "5",
    )


def test_one_index_changes_at_a_time_whatever_its_kind():
    """VIX-12."""
    emu = emulator(vector_backfill_delay=60.0)
    emu.call("CreateTable", table())
    changed(emu, {"Create": vector_index()})
    assert refused_change(emu, {"Create": vector_index("other")})[1] == ONE_AT_A_TIME
    gsi = {"Create": index("gsi", schema("x"))}
    request = {"TableName": "tab", "AttributeDefinitions": types("x")}
    assert refusal(emu, "UpdateTable", request | {"GlobalSecondaryIndexUpdates": [gsi]})[1] == (
        ONE_AT_A_TIME
    )
    assert refused_change(emu, {"Create": vector_index()}) == (
        "ResourceInUseException",
        IN_USE + "Index is being created.  Table: tab Index: vix",
    )
    changed(emu, {"Delete": {"IndexName": "vix"}})  # ends the backfill
    assert "VectorIndexes" not in described(emu)


# Items

WRONG = "One or more parameter values were invalid. "
TYPED = vector_index("schema", partition="tenant", filters="kind")


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        (
            {"emb": {"S": "x"}},
            "Invalid type for parameter emb, Expected: 32-bit floating point number list "
            "IndexName: plain",
        ),
        (
            {"emb": {"NS": ["1", "2"]}},
            "Invalid type for parameter emb, Expected: 32-bit floating point number list "
            "IndexName: plain",
        ),
        (
            {"emb": {"L": [{"N": "1"}, {"S": "x"}, {"N": "1"}]}},
            "Invalid type for parameter emb[1], Expected: 32-bit floating point number, Actual: S. "
            "IndexName: plain",
        ),
        (
            {"emb": vector("-3.5E38", 1)},
            "Invalid value for parameter emb[0], Value: -35" + "0" * 37 + " is outside valid range "
            "[-3.4028235E38, 3.4028235E38]. IndexName: plain",
        ),
        (
            {"emb": vector(1, 2, 3)},
            "Invalid size for parameter emb, Expected: 2, Actual: 3 IndexName: plain",
        ),
        (
            {"tenant": {"N": "1"}, "kind": {"S": "x"}},
            "Attribute 'tenant' type mismatch. Expected: S, Actual: N. IndexName: schema",
        ),
        (
            {"kind": {"S": "x"}},
            "Attribute 'kind' type mismatch. Expected: N, Actual: S. IndexName: schema",
        ),
    ],
)
def test_every_write_is_refused_for_what_an_index_cannot_hold(attributes, message):
    """VIX-31, VIX-32."""
    emu = made(vector_table(vector_index("plain"), TYPED, names="pk tenant kind:N"))
    item = {"pk": {"S": "a"}} | attributes
    put = {"TableName": "tab", "Item": item}
    assert refusal(emu, "PutItem", put) == ("ValidationException", WRONG + message)
    values = {f":{name}": value for name, value in attributes.items()}
    update = {
        "TableName": "tab",
        "Key": {"pk": {"S": "a"}},
        "UpdateExpression": "SET " + ", ".join(f"{name} = :{name}" for name in attributes),
        "ExpressionAttributeValues": values,
    }
    assert refusal(emu, "UpdateItem", update) == ("ValidationException", WRONG + message)
    batch = {"RequestItems": {"tab": [{"PutRequest": {"Item": item}}]}}
    assert refusal(emu, "BatchWriteItem", batch) == ("ValidationException", WRONG + message)
    for action in ({"Put": put}, {"Update": update}):
        code, text = refusal(emu, "TransactWriteItems", {"TransactItems": [action]})
        assert code == "TransactionCanceledException"
        assert text.endswith("[ValidationError]")
    assert described(emu)["ItemCount"] == 0


@pytest.mark.parametrize("empty", [{"S": ""}, {"B": ""}])
def test_an_empty_partition_is_refused_as_an_empty_index_key_is(empty):
    """VIX-31; an empty filter is accepted."""
    kind = next(iter(empty))
    emu = made(vector_table(TYPED, names=f"pk tenant:{kind} kind:S"))
    word = {"S": "string", "B": "binary"}[kind]
    item = {"pk": {"S": "a"}, "tenant": empty, "kind": {"S": ""}}
    assert refusal(emu, "PutItem", {"TableName": "tab", "Item": item})[1] == (
        "One or more parameter values are not valid. A value specified for a secondary index key "
        "is not supported. The AttributeValue for a key attribute cannot contain an empty "
        f"{word} value. IndexName: schema, IndexKey: tenant"
    )
    update = {
        "TableName": "tab",
        "Key": {"pk": {"S": "a"}},
        "UpdateExpression": "SET tenant = :t",
        "ExpressionAttributeValues": {":t": empty},
    }
    assert refusal(emu, "UpdateItem", update)[1] == (
        "One or more parameter values are not valid. The update expression attempted to update a "
        "secondary index key to a value that is not supported. The AttributeValue for a key "
        f"attribute cannot contain an empty {word} value."
    )
    emu.call("PutItem", {"TableName": "tab", "Item": item | {"tenant": {kind: "eHg="}}})


def test_a_set_is_judged_as_a_set_first():
    """VIX-31."""
    emu = made(vector_table())
    item = {"pk": {"S": "a"}, "emb": {"NS": ["1", "1"]}}
    assert "Input collection" in refusal(emu, "PutItem", {"TableName": "tab", "Item": item})[1]


def test_an_update_is_judged_by_what_it_changes():
    """VIX-32: an item that an index passes over may be written."""
    emu = made(table())
    item = {"pk": {"S": "a"}, "emb": {"S": "no vector"}}
    emu.call("PutItem", {"TableName": "tab", "Item": item})
    changed(emu, {"Create": vector_index()})
    update = {
        "TableName": "tab",
        "Key": {"pk": {"S": "a"}},
        "UpdateExpression": "SET x = :x",
        "ExpressionAttributeValues": {":x": {"S": "y"}},
    }
    emu.call("UpdateItem", update)
    update["UpdateExpression"] = "SET emb = :x"
    assert refusal(emu, "UpdateItem", update)[1].startswith(WRONG)
