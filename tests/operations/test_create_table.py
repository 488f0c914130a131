"""CreateTable: its constraints, its rules in order, and what it makes."""

import pytest

from tests.each import each
from tests.tables import (
    ARN,
    INVALID,
    UNITS,
    described,
    emulator,
    index,
    put,
    refusal,
    schema,
    table,
    types,
)

LOW = "Member must have length greater than or equal to {}"
HIGH = "Member must have length less than or equal to {}"
PATTERN = "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
NULL = "Value null at '{}' failed to satisfy constraint: Member must not be null"


def at(value, path, rule):
    return f"Value '{value}' at '{path}' failed to satisfy constraint: {rule}"


def envelope(*problems):
    noun = "error" if len(problems) == 1 else "errors"
    return f"{len(problems)} validation {noun} detected: {'; '.join(problems)}"


def units(read, write):
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


ENUM_KEY = "Member must satisfy enum value set: [HASH, RANGE]"
ENUM_TYPE = "Member must satisfy enum value set: [B, N, S]"
ENUM_MODE = "Member must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]"
ENUM_PROJECTION = "Member must satisfy enum value set: [ALL, INCLUDE, KEYS_ONLY]"
ONE = "Member must have value greater than or equal to 1"
BAD_ELEMENT = [{"AttributeName": "pk", "KeyType": "HISH"}]
THREE = schema("pk", "sk tk")
THREE_SHOWN = (
    "[KeySchemaElement(attributeName=pk, keyType=HASH), "
    "KeySchemaElement(attributeName=sk, keyType=RANGE), "
    "KeySchemaElement(attributeName=tk, keyType=RANGE)]"
)
GSI = index("gsi", schema("g"))

CONSTRAINTS = {
    # TBL-6, TBL-7: the name is judged alone, whatever else is wrong (ERR-CT-1).
    "short": (table(TableName="ab", KeySchema=[]), envelope(at("ab", "tableName", LOW.format(3)))),
    "empty": (
        table(TableName="", KeySchema=[]),
        envelope(at("", "tableName", PATTERN), at("", "tableName", LOW.format(3))),
    ),
    "long": (
        table(TableName="a" * 256),
        envelope(at("a" * 256, "tableName", HIGH.format(255))),
    ),
    "characters": (table(TableName="a;bc"), envelope(at("a;bc", "tableName", PATTERN))),
    # CT-1, ERR-CT-1 step 3
    "no key": (table(KeySchema=None), envelope(NULL.format("keySchema"))),
    "empty key": (table(KeySchema=[]), envelope(at("[]", "keySchema", LOW.format(1)))),
    "no definitions": (
        table(AttributeDefinitions=None),
        envelope(NULL.format("attributeDefinitions")),
    ),
    "order": (
        table(
            BillingMode="FREE",
            ProvisionedThroughput=units(0, -1),
            KeySchema=BAD_ELEMENT,
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "X"}],
        ),
        envelope(
            at("FREE", "billingMode", ENUM_MODE),
            at("-1", "provisionedThroughput.writeCapacityUnits", ONE),
            at("0", "provisionedThroughput.readCapacityUnits", ONE),
            at("HISH", "keySchema.1.member.keyType", ENUM_KEY),
            at("X", "attributeDefinitions.1.member.attributeType", ENUM_TYPE),
        ),
    ),
    # MAK-14
    "three elements": (
        table(KeySchema=THREE, AttributeDefinitions=types("pk sk tk")),
        envelope(at(THREE_SHOWN, "keySchema", HIGH.format(2))),
    ),
    "three elements in an LSI": (
        table("pk", "sk", "pk sk tk", LocalSecondaryIndexes=[index("lsi", THREE)]),
        envelope(at(THREE_SHOWN, "localSecondaryIndexes.1.member.keySchema", HIGH.format(2))),
    ),
    "elements before their number": (
        table(KeySchema=[*BAD_ELEMENT, *schema("sk tk")]),
        envelope(
            at("HISH", "keySchema.1.member.keyType", ENUM_KEY),
            at(
                "[KeySchemaElement(attributeName=pk, keyType=HISH), "
                "KeySchemaElement(attributeName=sk, keyType=HASH), "
                "KeySchemaElement(attributeName=tk, keyType=HASH)]",
                "keySchema",
                HIGH.format(2),
            ),
        ),
    ),
    "null elements": (
        table(KeySchema=[None, None, None]),
        envelope(
            *(NULL.format(f"keySchema.{n}.member") for n in (1, 2, 3)),
            at("[null, null, null]", "keySchema", HIGH.format(2)),
        ),
    ),
    "index name": (
        table(GlobalSecondaryIndexes=[index("g!", schema("g"))]),
        envelope(
            at("g!", "globalSecondaryIndexes.1.member.indexName", PATTERN),
            at("g!", "globalSecondaryIndexes.1.member.indexName", LOW.format(3)),
        ),
    ),
    "no projection": (
        table(GlobalSecondaryIndexes=[{"IndexName": "gsi", "KeySchema": schema("g")}]),
        envelope(NULL.format("globalSecondaryIndexes.1.member.projection")),
    ),
    "projection type": (
        table(GlobalSecondaryIndexes=[index("gsi", schema("g"), "SOME")]),
        envelope(
            at("SOME", "globalSecondaryIndexes.1.member.projection.projectionType", ENUM_PROJECTION)
        ),
    ),
    # CT-8, ERR-CT-11: none, or more than twenty
    "no names": (
        table(
            GlobalSecondaryIndexes=[
                index("gsi", schema("g"), {"ProjectionType": "INCLUDE", "NonKeyAttributes": []})
            ]
        ),
        envelope(
            at("[]", "globalSecondaryIndexes.1.member.projection.nonKeyAttributes", LOW.format(1))
        ),
    ),
    "stream without a switch": (
        table(StreamSpecification={"StreamViewType": "NEW_IMAGE"}),
        envelope(NULL.format("streamSpecification.streamEnabled")),
    ),
}


@pytest.mark.parametrize("case", CONSTRAINTS)
def test_constraints_are_reported_in_the_service_s_order(case):
    """TBL-6, TBL-7, CT-1, ERR-SHAPE-1 to ERR-SHAPE-5, ERR-CT-1 (steps 2 and 3), MAK-14."""
    request, message = CONSTRAINTS[case]
    assert refusal(emulator(), "CreateTable", request) == ("ValidationException", message)


def test_a_missing_name_has_a_message_of_its_own():
    """TBL-5, ERR-CT-1 step 1. Observed: createTable.test.ts, 2026."""
    message = "The parameter 'TableName' is required but was not present in the request"
    request = {"KeySchema": [], "BillingMode": "FREE"}
    assert refusal(emulator(), "CreateTable", request) == ("ValidationException", message)


def test_a_wrong_json_type_comes_before_a_missing_name():
    """ORD-1, WIR-12."""
    assert refusal(emulator(), "CreateTable", {"KeySchema": "pk"}) == (
        "SerializationException",
        "Unexpected field type",
    )


def include(*names):
    return {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(names)}


def with_index(**members):
    return table(names="pk g", GlobalSecondaryIndexes=[GSI | members])


def with_key(key, names):
    return table(names=names, GlobalSecondaryIndexes=[index("gsi", key)])


def local(key, names="pk sk g", partition="pk", sort="sk"):
    return table(partition, sort, names, LocalSecondaryIndexes=[index("lsi", key)])


def named(count, kind):
    return [index(f"index{n:02}", schema("pk", "sk"), kind) for n in range(count)]


UNDEFINED = (
    INVALID + "Some index key attributes are not defined in AttributeDefinitions. Keys: [{}], "
    "AttributeDefinitions: [{}]"
)
NO_DEFINITION = "Invalid KeySchema: Some index key attribute have no definition"
SAME_NAME = "Both the Hash Key and the Range Key element in the KeySchema have the same name"
FIRST = "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"
SECOND = "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"
TOO_MANY = INVALID + "The KeySchema exceeds the maximum allowed number of {} key attributes"
MAXIMUM = INVALID + "Requested {} for OnDemandThroughput for {} is outside of valid range"
WARM = INVALID + "Requested {} for WarmThroughput for {} is lower than "
START = (
    "initial throughput for OnDemand. See: https://docs.aws.amazon.com/amazondynamodb/latest/"
    "developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial"
)

RULES = {
    # ERR-CT-2, CT-4
    "units on demand": (
        table(ProvisionedThroughput=UNITS, BillingMode="PAY_PER_REQUEST"),
        INVALID + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
        "BillingMode is PAY_PER_REQUEST",
    ),
    "no units": (
        table(BillingMode="PROVISIONED"),
        INVALID + "ReadCapacityUnits and WriteCapacityUnits must both be specified when "
        "BillingMode is PROVISIONED",
    ),
    # ERR-CT-3
    "read bound": (
        table(ProvisionedThroughput=units(10**12 + 1, 1)),
        "Given value 1000000000001 for ReadCapacityUnits is out of bounds",
    ),
    "write bound": (
        table(ProvisionedThroughput=units(1, 10**12 + 1)),
        "Given value 1000000000001 for WriteCapacityUnits is out of bounds",
    ),
    # ERR-CT-4
    "undefined hash": (table(names="other"), UNDEFINED.format("pk", "other")),
    "undefined range": (table("pk", "sk", "pk"), NO_DEFINITION),
    "the same name twice": (table("pk", "pk", "pk"), NO_DEFINITION),
    "nothing defined": (table(AttributeDefinitions=[]), NO_DEFINITION),
    "undefined index key": (
        table(names="pk", GlobalSecondaryIndexes=[GSI]),
        UNDEFINED.format("g", "pk"),
    ),
    "undefined before unused": (
        table(names="pk other", GlobalSecondaryIndexes=[GSI]),
        UNDEFINED.format("g", "pk, other"),
    ),
    # ERR-CT-5
    "unused": (
        table(names="pk other"),
        INVALID + "Number of attributes in KeySchema does not exactly match number of attributes "
        "defined in AttributeDefinitions",
    ),
    "unused beside an index": (
        table(names="pk z g", GlobalSecondaryIndexes=[GSI]),
        INVALID + "Some AttributeDefinitions are not used. AttributeDefinitions: [g, pk, z], "
        "keys used: [g, pk]",
    ),
    "unused before projections": (
        table(names="pk z g", GlobalSecondaryIndexes=[index("gsi", schema("g"), {})]),
        INVALID + "Some AttributeDefinitions are not used. AttributeDefinitions: [g, pk, z], "
        "keys used: [g, pk]",
    ),
    # ERR-CT-6
    "defined twice": (table(names="pk pk"), "Attribute Name is duplicated: pk"),
    # ERR-CT-7, MAK-15
    "range first": (table(KeySchema=schema("", "pk")), FIRST),
    "two hashes": (table("pk sk"), SECOND),
    "same names, two definitions": (table("pk", "pk", "pk other"), SAME_NAME),
    "LSI of two hashes": (local(schema("pk g")), SECOND),
    # MAK-10 to MAK-13, MAK-18
    "GSI range first": (with_key(schema("", "g"), "pk g"), FIRST),
    "GSI hash after range": (
        with_key([*schema("g", "r"), *schema("h")], "pk g h r"),
        INVALID + "All HASH key attributes must precede RANGE key attributes in the KeySchema",
    ),
    "GSI of five hashes": (with_key(schema("g h i j k"), "pk g h i j k"), TOO_MANY.format("HASH")),
    "GSI of five ranges": (
        with_key(schema("g", "r s t u v"), "pk g r s t u v"),
        TOO_MANY.format("RANGE"),
    ),
    "GSI with a name twice": (
        with_key(schema("g h", "g"), "pk g h"),
        "The KeySchema contains multiple key attributes with the same name",
    ),
    "GSI with a name twice, before an unused one": (
        with_key(schema("g g"), "pk g h"),
        "The KeySchema contains multiple key attributes with the same name",
    ),
    "GSI of one name": (with_key(schema("g", "g"), "pk g"), SAME_NAME),
    # ERR-CT-8
    "no GSIs": (
        table(GlobalSecondaryIndexes=[]),
        INVALID + "List of GlobalSecondaryIndexes is empty",
    ),
    "no LSIs": (
        table(LocalSecondaryIndexes=[]),
        INVALID + "List of LocalSecondaryIndexes is empty",
    ),
    # ERR-CT-9, CT-5
    "LSI on a hash table": (
        local(schema("pk", "g"), "pk g", "pk", ""),
        INVALID + "Table KeySchema does not have a range key, which is required when specifying a "
        "LocalSecondaryIndex",
    ),
    "LSI without range": (
        local(schema("pk"), "pk sk"),
        INVALID + "Index KeySchema does not have a range key for index: lsi",
    ),
    "LSI with another hash": (
        local(schema("g", "sk")),
        INVALID + "Index KeySchema does not have the same leading hash key as table KeySchema for "
        "index: lsi. index hash key: g, table hash key: pk",
    ),
    # ERR-CT-10, CT-5, CT-6, CT-7
    "six LSIs": (
        table("pk", "sk", LocalSecondaryIndexes=named(6, "ALL")),
        INVALID + "Number of LocalSecondaryIndexes exceeds per-table limit of 5",
    ),
    "21 GSIs": (
        table("pk", "sk", GlobalSecondaryIndexes=named(21, "ALL")),
        INVALID + "GlobalSecondaryIndex count exceeds the per-table limit of 20",
    ),
    "one name, two GSIs": (
        table(names="pk g", GlobalSecondaryIndexes=[GSI, GSI]),
        INVALID + "Duplicate index name: gsi",
    ),
    "one name, GSI and LSI": (
        table(
            "pk",
            "sk",
            GlobalSecondaryIndexes=[index("same", schema("pk"))],
            LocalSecondaryIndexes=[index("same", schema("pk", "sk"))],
        ),
        INVALID + "Duplicate index name: same",
    ),
    # ERR-CT-11
    "no projection type": (with_index(Projection={}), INVALID + "Unknown ProjectionType: null"),
    "ALL with names": (
        with_index(Projection={"ProjectionType": "ALL", "NonKeyAttributes": ["x"]}),
        INVALID + "ProjectionType is ALL, but NonKeyAttributes is specified",
    ),
    "KEYS_ONLY with names": (
        with_index(Projection={"ProjectionType": "KEYS_ONLY", "NonKeyAttributes": ["x"]}),
        INVALID + "ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified",
    ),
    "INCLUDE without names": (
        with_index(Projection={"ProjectionType": "INCLUDE"}),
        INVALID + "ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
    ),
    "a name twice": (
        with_index(Projection=include("x", "x")),
        INVALID + "Duplicate element in NonKeyAttributes: x",
    ),
    "101 names": (
        table(
            "pk",
            "sk",
            GlobalSecondaryIndexes=[
                *named(5, include(*(f"a{n}" for n in range(20)))),
                index("more", schema("pk"), include("x")),
            ],
        ),
        INVALID + "Number of NonKeyAttributes over all indexes exceeds per-table limit of 100",
    ),
    # ERR-CT-12
    "index units on demand": (
        with_index(ProvisionedThroughput=UNITS),
        INVALID + "ProvisionedThroughput should not be specified for index: gsi when BillingMode "
        "is PAY_PER_REQUEST",
    ),
    "no index units": (
        table(names="pk g", ProvisionedThroughput=UNITS, GlobalSecondaryIndexes=[GSI]),
        INVALID + "ProvisionedThroughput is not specified for index: gsi",
    ),
    # ERR-CT-13, CT-9
    "no view": (
        table(StreamSpecification={"StreamEnabled": True}),
        INVALID + "Table is being created with a stream enabled, UpdateViewType is required",
    ),
    "a view and no stream": (
        table(StreamSpecification={"StreamEnabled": False, "StreamViewType": "NEW_IMAGE"}),
        INVALID + "Table is being created with a stream disabled, UpdateViewType should not be "
        "specified",
    ),
    # ERR-CT-14, CT-12, CT-13
    "maximum, provisioned": (
        table(ProvisionedThroughput=UNITS, OnDemandThroughput={"MaxReadRequestUnits": 1}),
        INVALID + "MaxReadRequestUnits for OnDemandThroughput cannot be specified when table "
        "BillingMode is PROVISIONED.",
    ),
    "no maximum": (
        table(OnDemandThroughput={"MaxWriteRequestUnits": -1}),
        MAXIMUM.format("MaxWriteRequestUnits", "table"),
    ),
    "index maximum": (
        with_index(OnDemandThroughput={"MaxReadRequestUnits": 0}),
        MAXIMUM.format("MaxReadRequestUnits", "index : gsi"),
    ),
    "cold read": (
        table(WarmThroughput={"ReadUnitsPerSecond": 11_999}),
        WARM.format("ReadUnitsPerSecond", "table") + START,
    ),
    "cold index write": (
        with_index(WarmThroughput={"WriteUnitsPerSecond": 3_999}),
        WARM.format("WriteUnitsPerSecond", "index gsi") + START,
    ),
    "colder than provisioned": (
        table(ProvisionedThroughput=UNITS, WarmThroughput={"WriteUnitsPerSecond": 4}),
        WARM.format("WriteUnitsPerSecond", "table") + "WriteCapacityUnits of ProvisionedThroughput",
    ),
    "warmer than the quota": (
        table(WarmThroughput={"ReadUnitsPerSecond": 40_001}),
        INVALID + "Requested ReadUnitsPerSecond for WarmThroughput for table is outside of valid "
        "range",
    ),
    # ERR-CT-15, CT-10, CT-11
    "SSE type, disabled": (
        table(SSESpecification={"Enabled": False, "SSEType": "KMS"}),
        INVALID + "SSEType can not be specified if Enabled is false",
    ),
    "SSE key, disabled": (
        table(SSESpecification={"KMSMasterKeyId": "k"}),
        INVALID + "KMSMasterKeyId can not be specified if Enabled is false",
    ),
    "SSE key without type": (
        table(SSESpecification={"Enabled": True, "KMSMasterKeyId": "k"}),
        INVALID + "SSEType KMS is required if KMSMasterKeyId is specified",
    ),
    "AES256": (
        table(SSESpecification={"Enabled": True, "SSEType": "AES256"}),
        INVALID + "SSEType AES256 is not supported",
    ),
    "table class": (
        table(TableClass="COLD"),
        "Invalid table-class parameter provided. Please try again with a valid table-class value: "
        "[STANDARD, STANDARD_INFREQUENT_ACCESS].",
    ),
    # ERR-CT-16, TAG-2
    "reserved tag": (
        table(Tags=[{"Key": "aws:x", "Value": ""}]),
        "Tag Key cannot be prefixed with aws:, Key: aws:x",
    ),
    "51 tags": (
        table(Tags=[{"Key": str(n), "Value": ""} for n in range(51)]),
        "Number of Tags exceed the current limit for the provided ResourceArn",
    ),
    # ERR-OTH-6
    "policy": (
        table(ResourcePolicy="no json"),
        INVALID + "Invalid policy document: no json",
    ),
}


@each("case", RULES)
def test_a_definition_that_breaks_a_rule_is_refused(case):
    """CT-2 to CT-13, ERR-CT-2 to ERR-CT-16, MAK-10 to MAK-17."""
    request, message = RULES[case]
    emu = emulator()
    assert refusal(emu, "CreateTable", request) == ("ValidationException", message)
    assert emu.call("ListTables", {}) == {"TableNames": []}


# Each adds one fault of a later step to the request of an earlier one.
LATER = {
    "no units": {"AttributeDefinitions": []},
    "read bound": {"AttributeDefinitions": []},
    "undefined hash": {"GlobalSecondaryIndexes": []},
    "undefined before unused": {"StreamSpecification": {"StreamEnabled": True}},
    "unused": {"KeySchema": schema("", "pk")},
    "unused beside an index": {"KeySchema": schema("", "pk")},
    "defined twice": {"KeySchema": schema("", "pk")},
    "range first": {"GlobalSecondaryIndexes": []},
    "no GSIs": {"StreamSpecification": {"StreamEnabled": True}},
    "LSI without range": {"GlobalSecondaryIndexes": [index("lsi", schema("pk"))]},
    "six LSIs": {"GlobalSecondaryIndexes": [index("index01", schema("pk"))]},
    "one name, GSI and LSI": {"StreamSpecification": {"StreamEnabled": True}},
    "no projection type": {"StreamSpecification": {"StreamEnabled": True}},
    "index units on demand": {"StreamSpecification": {"StreamEnabled": True}},
    "no view": {"OnDemandThroughput": {"MaxReadRequestUnits": 0}},
    "no maximum": {"SSESpecification": {"Enabled": True, "SSEType": "AES256"}},
    "AES256": {"TableClass": "COLD"},
    "table class": {"Tags": [{"Key": "", "Value": ""}]},
    "reserved tag": {"TableName": "taken"},
}


@pytest.mark.parametrize("case", LATER)
def test_of_two_faults_the_first_is_told(case):
    """ERR-CT-1, steps 4 to 20."""
    emu = emulator()
    emu.call("CreateTable", table(TableName="taken"))
    request, message = RULES[case]
    assert refusal(emu, "CreateTable", request | LATER[case])[1] == message


def test_a_table_that_exists_is_told_last():
    """CT-14, ERR-CT-16 step 20."""
    emu = emulator()
    emu.call("CreateTable", table())
    exists = ("ResourceInUseException", "Table already exists: tab")
    assert refusal(emu, "CreateTable", table(names="pk", partition="pk")) == exists
    assert refusal(emu, "CreateTable", table(TableClass="COLD"))[0] == "ValidationException"


@pytest.mark.parametrize(
    ("request_units", "message"),
    [
        (units(40_001, 1), "Provisioned ReadCapacityUnits exceeds the per-table limit of 40000"),
        (units(1, 40_001), "Provisioned WriteCapacityUnits exceeds the per-table limit of 40000"),
        # Found by fuzzing: a partition was made for every thousand of these first.
        (units(1, 10**12), "Provisioned WriteCapacityUnits exceeds the per-table limit of 40000"),
    ],
)
def test_a_table_has_a_quota(request_units, message):
    """CAP-615."""
    code, told = refusal(emulator(), "CreateTable", table(ProvisionedThroughput=request_units))
    assert (code, told) == ("LimitExceededException", "Subscriber limit exceeded: " + message)


def test_an_account_has_a_quota_over_tables_and_indexes():
    """CAP-615."""
    emu = emulator()
    most = units(40_000, 1)
    emu.call("CreateTable", table(ProvisionedThroughput=most))
    request = table(
        TableName="other",
        names="pk g",
        ProvisionedThroughput=most,
        GlobalSecondaryIndexes=[GSI | {"ProvisionedThroughput": units(1, 1)}],
    )
    assert refusal(emu, "CreateTable", request) == (
        "LimitExceededException",
        "Subscriber limit exceeded: Provisioned ReadCapacityUnits exceeds the account limit of "
        "80000",
    )


def test_the_answer_says_creating_and_the_next_call_finds_the_table_active():
    """CT-15, DS-1."""
    emu = emulator()
    answer = emu.call("CreateTable", table(names="pk g", GlobalSecondaryIndexes=[GSI]))
    told = answer["TableDescription"]
    assert (told["TableStatus"], told["GlobalSecondaryIndexes"][0]["IndexStatus"]) == (
        "CREATING",
        "CREATING",
    )
    assert "Backfilling" not in told["GlobalSecondaryIndexes"][0]
    found = described(emu)
    assert (found["TableStatus"], found["GlobalSecondaryIndexes"][0]["IndexStatus"]) == (
        "ACTIVE",
        "ACTIVE",
    )


def test_the_answer_has_no_warm_throughput_and_no_date_of_the_billing_mode():
    """DS-10, DS-11: DescribeTable has them."""
    emu = emulator()
    answer = emu.call("CreateTable", table(names="pk g", GlobalSecondaryIndexes=[GSI]))
    told = answer["TableDescription"]
    assert told["BillingModeSummary"] == {"BillingMode": "PAY_PER_REQUEST"}
    holders = [told, *told["GlobalSecondaryIndexes"]]
    assert all("WarmThroughput" not in holder for holder in holders)
    found = described(emu)
    assert "LastUpdateToPayPerRequestDateTime" in found["BillingModeSummary"]
    holders = [found, *found["GlobalSecondaryIndexes"]]
    assert [holder["WarmThroughput"]["Status"] for holder in holders] == ["ACTIVE", "ACTIVE"]


def test_warm_throughput_that_is_asked_for_is_updating_first():
    """DS-10."""
    emu = emulator()
    warm = {"ReadUnitsPerSecond": 13_000, "WriteUnitsPerSecond": 5_000}
    gsi = GSI | {"WarmThroughput": warm}
    request = table(names="pk g", GlobalSecondaryIndexes=[gsi], WarmThroughput=warm)
    told = emu.call("CreateTable", request)["TableDescription"]
    for holder in [told, *told["GlobalSecondaryIndexes"]]:
        assert holder["WarmThroughput"] == warm | {"Status": "UPDATING"}
    assert described(emu)["WarmThroughput"] == warm | {"Status": "ACTIVE"}
    gone = emu.call("DeleteTable", {"TableName": "tab"})["TableDescription"]
    assert gone["WarmThroughput"] == warm | {"Status": "ACTIVE"}


def test_a_table_in_creation_is_unknown_to_the_data_plane():
    """CT-15: states follow the clock."""
    emu = emulator(table_delay=10)
    emu.call("CreateTable", table())
    request = {"TableName": "tab", "Key": {"pk": {"S": "x"}}}
    unknown = ("ResourceNotFoundException", "Requested resource not found")
    assert refusal(emu, "GetItem", request) == unknown
    emu.clock.advance(9.999)
    assert refusal(emu, "GetItem", request) == unknown
    assert described(emu)["TableStatus"] == "CREATING"
    emu.clock.advance(0.001)
    assert emu.call("GetItem", request) == {}
    assert described(emu)["TableStatus"] == "ACTIVE"


def test_an_arn_stands_for_the_name():
    """TBL-1."""
    emu = emulator()
    emu.call("CreateTable", table(TableName=ARN))
    assert emu.call("ListTables", {}) == {"TableNames": ["tab"]}


@pytest.mark.parametrize(
    "key",
    [
        schema("g h i j"),
        schema("g", "r s t u"),
        schema("g h i j", "r s t u"),
        schema("pk", "g"),
        schema("pk"),
    ],
)
def test_a_global_key_has_up_to_four_attributes_in_each_role(key):
    """CT-6, MAK-1 to MAK-3, MAK-5, MAK-19: echoed in the submitted order."""
    names = " ".join(dict.fromkeys(["pk", *(one["AttributeName"] for one in key)]))
    emu = emulator()
    emu.call("CreateTable", table(names=names, GlobalSecondaryIndexes=[index("tab", key)]))
    assert described(emu)["GlobalSecondaryIndexes"][0]["KeySchema"] == key


def test_an_index_key_attribute_may_be_projected_and_an_lsi_may_repeat_the_table_key():
    """CT-5, CT-8."""
    emu = emulator()
    emu.call(
        "CreateTable",
        table("pk", "sk", LocalSecondaryIndexes=[index("lsi", schema("pk", "sk"), include("pk"))]),
    )
    assert described(emu)["LocalSecondaryIndexes"][0]["Projection"] == include("pk")


def test_a_table_made_again_under_its_name_has_another_id():
    """TBL-8."""
    emu = emulator()
    first = emu.call("CreateTable", table())["TableDescription"]["TableId"]
    emu.call("DeleteTable", {"TableName": "tab"})
    second = emu.call("CreateTable", table())["TableDescription"]["TableId"]
    assert first != second
    assert described(emu)["TableId"] == second


def test_ids_are_the_same_in_every_run():
    """Same calls, same answers: the emulator is deterministic."""
    made = [emulator().call("CreateTable", table()) for _ in range(2)]
    assert made[0] == made[1]


def test_partitions_follow_the_throughput():
    """CAP-502: provisioned rates are added, on demand they are not."""
    emu = emulator()
    emu.call("CreateTable", table(ProvisionedThroughput=units(3_000, 1_001)))
    emu.call("CreateTable", table(TableName="free"))
    emu.call("CreateTable", table(TableName="warm", WarmThroughput={"WriteUnitsPerSecond": 9_001}))
    counts = [len(emu.partitions(name)) for name in ("tab", "free", "warm")]
    assert counts == [3, 4, 10]


def test_a_refused_table_leaves_no_stream():
    """ORD-3."""
    emu = emulator(table_quota=10)
    spec = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    request = table(ProvisionedThroughput=units(11, 1), StreamSpecification=spec)
    assert refusal(emu, "CreateTable", request)[0] == "LimitExceededException"
    assert emu.call("ListStreams", {}) == {"Streams": []}


def test_indexes_of_the_definition_hold_what_is_put():
    """IDX-1, IDX-2."""
    emu = emulator()
    emu.call("CreateTable", table(names="pk g", GlobalSecondaryIndexes=[GSI]))
    put(emu, pk="a", g="x")
    put(emu, pk="b")
    assert described(emu)["GlobalSecondaryIndexes"][0]["ItemCount"] == 1


def test_the_number_of_tables_is_not_limited():
    """CT-16: the service lets 500 be CREATING at a time."""
    emu = emulator(table_delay=60)
    for number in range(501):
        emu.call("CreateTable", table(TableName=f"table-{number}"))
    assert len(emu.call("ListTables", {})["TableNames"]) == 100


@pytest.mark.parametrize("kind", ["S", "N", "B"])
def test_a_key_is_text_number_or_bytes(kind):
    """KV-1: one attribute or two, and of no other type."""
    emu = emulator()
    emu.call("CreateTable", table(f"pk:{kind}", f"sk:{kind}"))
    value = {"S": "a", "N": "1", "B": "YQ=="}[kind]
    item = {"pk": {kind: value}, "sk": {kind: value}}
    emu.call("PutItem", {"TableName": "tab", "Item": item})
    assert emu.call("GetItem", {"TableName": "tab", "Key": item}) == {"Item": item}
    for other in ({"BOOL": True}, {"NULL": True}, {"L": []}, {"M": {}}, {"SS": ["a"]}):
        request = {"TableName": "tab", "Item": item | {"sk": other}}
        assert refusal(emu, "PutItem", request) == (
            "ValidationException",
            f"{INVALID}Type mismatch for key sk expected: {kind} actual: {next(iter(other))}",
        )
