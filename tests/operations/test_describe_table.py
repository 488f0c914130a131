"""DescribeTable: what a table says of itself, in every state."""

import pytest

from tests.tables import (
    ARN,
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

START = 1_767_225_600.0


def created(**members):
    emu = emulator()
    emu.call("CreateTable", table(**members))
    return emu


def test_a_provisioned_table_is_described_whole():
    """DS-1, DS-3, DS-6, DS-7: no billing summary, warm throughput as provisioned."""
    found = described(
        created(ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 2})
    )
    assert found == {
        "TableName": "tab",
        "TableArn": ARN,
        "TableId": found["TableId"],
        "TableStatus": "ACTIVE",
        "CreationDateTime": START,
        "KeySchema": schema("pk"),
        "AttributeDefinitions": types("pk"),
        "ItemCount": 0,
        "TableSizeBytes": 0,
        "DeletionProtectionEnabled": False,
        "ProvisionedThroughput": {
            "NumberOfDecreasesToday": 0,
            "ReadCapacityUnits": 5,
            "WriteCapacityUnits": 2,
        },
        "WarmThroughput": {
            "ReadUnitsPerSecond": 5,
            "WriteUnitsPerSecond": 2,
            "Status": "ACTIVE",
        },
    }


def test_an_on_demand_table_has_no_units_and_a_billing_summary():
    """DS-3, DS-4, DS-6."""
    found = described(created(OnDemandThroughput={"MaxReadRequestUnits": 7}))
    throughput = {name: found[name] for name in found if "Throughput" in name or "Billing" in name}
    assert throughput == {
        "BillingModeSummary": {
            "BillingMode": "PAY_PER_REQUEST",
            "LastUpdateToPayPerRequestDateTime": START,
        },
        "ProvisionedThroughput": {
            "NumberOfDecreasesToday": 0,
            "ReadCapacityUnits": 0,
            "WriteCapacityUnits": 0,
        },
        "OnDemandThroughput": {"MaxReadRequestUnits": 7},
        "WarmThroughput": {
            "ReadUnitsPerSecond": 12_000,
            "WriteUnitsPerSecond": 4_000,
            "Status": "ACTIVE",
        },
    }


def test_definitions_and_projected_names_are_sorted_and_indexes_are_not():
    """DS-2."""
    names = {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["z", "a", "m"]}
    found = described(
        created(
            names="z pk a",
            GlobalSecondaryIndexes=[
                index("zzz", schema("z", "a"), names),
                index("aaa", schema("a"), "KEYS_ONLY"),
            ],
        )
    )
    assert found["AttributeDefinitions"] == types("a pk z")
    assert [one["IndexName"] for one in found["GlobalSecondaryIndexes"]] == ["zzz", "aaa"]
    assert found["GlobalSecondaryIndexes"][0]["Projection"] == {
        "ProjectionType": "INCLUDE",
        "NonKeyAttributes": ["a", "m", "z"],
    }


def test_a_global_index_is_described_whole_and_a_local_one_has_no_throughput():
    """DS-5."""
    emu = created(
        partition="pk",
        sort="sk",
        names="pk sk g",
        ProvisionedThroughput=UNITS,
        GlobalSecondaryIndexes=[index("gsi", schema("g"), ProvisionedThroughput=UNITS)],
        LocalSecondaryIndexes=[index("lsi", schema("pk", "g"), "KEYS_ONLY")],
    )
    put(emu, pk="p", sk="s", g="g", more="text")
    found = described(emu)
    assert found["GlobalSecondaryIndexes"] == [
        {
            "IndexName": "gsi",
            "KeySchema": schema("g"),
            "Projection": {"ProjectionType": "ALL"},
            "IndexStatus": "ACTIVE",
            "IndexSizeBytes": 16,
            "ItemCount": 1,
            "IndexArn": f"{ARN}/index/gsi",
            "ProvisionedThroughput": {"NumberOfDecreasesToday": 0, **UNITS},
            "WarmThroughput": {
                "ReadUnitsPerSecond": 5,
                "WriteUnitsPerSecond": 5,
                "Status": "ACTIVE",
            },
        }
    ]
    assert found["LocalSecondaryIndexes"] == [
        {
            "IndexName": "lsi",
            "KeySchema": schema("pk", "g"),
            "Projection": {"ProjectionType": "KEYS_ONLY"},
            "IndexSizeBytes": 8,
            "ItemCount": 1,
            "IndexArn": f"{ARN}/index/lsi",
        }
    ]
    assert (found["ItemCount"], found["TableSizeBytes"]) == (1, 16)


def test_settings_are_described_once_they_were_set():
    """DS-7, CT-10, CT-11."""
    emu = created(
        SSESpecification={"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "alias/mine"},
        TableClass="STANDARD_INFREQUENT_ACCESS",
        DeletionProtectionEnabled=True,
    )
    found = described(emu)
    assert found["SSEDescription"] == {
        "Status": "ENABLED",
        "SSEType": "KMS",
        "KMSMasterKeyArn": "arn:aws:kms:us-east-1:000000000000:alias/mine",
    }
    assert found["TableClassSummary"] == {"TableClass": "STANDARD_INFREQUENT_ACCESS"}
    assert found["DeletionProtectionEnabled"] is True


@pytest.mark.parametrize(
    ("key", "arn"),
    [
        ("1234", "arn:aws:kms:us-east-1:000000000000:key/1234"),
        ("arn:aws:kms:eu-west-1:1:key/1", "arn:aws:kms:eu-west-1:1:key/1"),
    ],
)
def test_a_key_is_described_by_its_arn(key, arn):
    """DS-7."""
    spec = {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": key}
    assert described(created(SSESpecification=spec))["SSEDescription"]["KMSMasterKeyArn"] == arn


def test_encryption_that_is_off_is_not_described():
    """DS-7."""
    assert "SSEDescription" not in described(created(SSESpecification={"Enabled": False}))


def test_a_stream_is_described():
    """DS-1, TBL-2."""
    spec = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    found = described(created(StreamSpecification=spec))
    assert (
        found["StreamSpecification"],
        found["LatestStreamArn"],
        found["LatestStreamLabel"],
    ) == (spec, f"{ARN}/stream/2026-01-01T00:00:00.000", "2026-01-01T00:00:00.000")


@pytest.mark.parametrize("name", ["tab", ARN])
def test_a_table_is_named_by_name_or_arn(name):
    """TBL-1."""
    assert described(created(), name)["TableName"] == "tab"


NOT_FOUND = "Requested resource not found: Table: {} not found"
REFUSED = {
    "unknown": ("none", "ResourceNotFoundException", NOT_FOUND.format("none")),
    "short": (
        "ab",
        "ValidationException",
        "1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: "
        "Member must have length greater than or equal to 3",
    ),
    "missing": (
        None,
        "ValidationException",
        "The parameter 'TableName' is required but was not present in the request",
    ),
    "bad ARN": (
        "arn:aws:dynamodb:us-east-1:000000000000:tab",
        "ValidationException",
        "Invalid TableArn: Invalid ResourceArn provided as input "
        "arn:aws:dynamodb:us-east-1:000000000000:tab",
    ),
    "long ARN": (
        "arn:" + "a" * 1021,
        "ValidationException",
        f"1 validation error detected: Value 'arn:{'a' * 1021}' at 'tableName' failed to satisfy "
        "constraint: Member must have length less than or equal to 1024",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_name_that_is_none_is_refused(case):
    """TBL-3 to TBL-7, ERR-OTH-2."""
    name, code, message = REFUSED[case]
    assert refusal(created(), "DescribeTable", {"TableName": name}) == (code, message)


def test_counts_and_sizes_are_those_of_now():
    """DS-8, CAP-110: the service refreshes them every six hours."""
    emu = created(indexes={"gsi": "g"})
    found = []
    for item in ({"pk": "a", "g": "x"}, {"pk": "b"}, {"pk": "b", "v": "xyz"}):
        put(emu, **item)
        shown = described(emu)
        [one] = shown["GlobalSecondaryIndexes"]
        found.append([shown["ItemCount"], shown["TableSizeBytes"], one["ItemCount"]])
    assert found == [[1, 5, 1], [2, 8, 1], [2, 12, 1]]


def test_states_are_those_of_the_service_model():
    """DS-9: the four that a table and an index go through here."""
    emu = emulator(table_delay=10, index_delay=10)

    def states():
        shown = described(emu)
        of_indexes = [one["IndexStatus"] for one in shown.get("GlobalSecondaryIndexes", ())]
        return shown["TableStatus"], *of_indexes

    def change(**update):
        emu.call("UpdateTable", {"TableName": "tab", "GlobalSecondaryIndexUpdates": [update]})

    emu.call("CreateTable", table())
    found = [states()]
    emu.clock.advance(10)
    found.append(states())
    definitions = {"AttributeDefinitions": types("g")}
    updates = [{"Create": index("new", schema("g"))}]
    request = {"TableName": "tab", "GlobalSecondaryIndexUpdates": updates} | definitions
    emu.call("UpdateTable", request)
    found.append(states())
    emu.clock.advance(20)
    found.append(states())
    change(Delete={"IndexName": "new"})
    found.append(states())
    emu.clock.advance(10)
    emu.call("DeleteTable", {"TableName": "tab"})
    found.append(states())
    assert found == [
        ("CREATING",),
        ("ACTIVE",),
        ("UPDATING", "CREATING"),
        ("ACTIVE", "ACTIVE"),
        ("UPDATING", "DELETING"),
        ("DELETING",),
    ]
