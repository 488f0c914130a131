"""UpdateTable: its rules in order, and how changes take effect on the clock."""

import pytest

from emulator import Emulator, ManualClock
from emulator.errors import UnservedMemberWarning
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

TAB = {"TableName": "tab"}
MORE = {"ReadCapacityUnits": 10, "WriteCapacityUnits": 10}
STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
NO_STREAM = {"StreamEnabled": False}
GSI = index("gsi", schema("g"))
CREATE = {
    "AttributeDefinitions": types("g"),
    "GlobalSecondaryIndexUpdates": [{"Create": GSI}],
}
DELETE = {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "gsi"}}]}
WARM = {"WarmThroughput": {"ReadUnitsPerSecond": 13_000}}


def units(read, write):
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


def provisioned(**members):
    """Return a request for a provisioned table with a global and a local index."""
    return table(
        "pk",
        "sk",
        "pk sk g",
        ProvisionedThroughput=UNITS,
        GlobalSecondaryIndexes=[GSI | {"ProvisionedThroughput": UNITS}],
        LocalSecondaryIndexes=[index("lsi", schema("pk", "g"))],
        **members,
    )


def on_demand(**members):
    return table(names="pk g", GlobalSecondaryIndexes=[GSI], **members)


def created(request=None, **settings):
    emu = emulator(**settings)
    emu.call("CreateTable", request or table())
    if settings.get("table_delay"):
        emu.clock.advance(settings["table_delay"])
    return emu


def update(emu, **members):
    return emu.call("UpdateTable", {**TAB, **members})["TableDescription"]


def update_index(**members):
    return {"GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": "gsi", **members}}]}


def create_index(definition, names="g"):
    return {
        "AttributeDefinitions": types(names),
        "GlobalSecondaryIndexUpdates": [{"Create": definition}],
    }


# What is decided from the request alone comes before the table is looked up (UT-1).

NOTHING = (
    "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
    "GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, "
    "ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, "
    "OnDemandThroughput, WarmThroughput or TableClass is required"
)
OLDER = (
    "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
    "GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required"
)
ALONE = INVALID + "{} must be the only operation in the request"
SSE = {"SSESpecification": {"Enabled": True}}
REPLICA = {"ReplicaUpdates": [{"Create": {"RegionName": "eu-west-1"}}]}

BY_REQUEST = {
    # ERR-UT-2: definitions alone, or an empty list, are no change
    "nothing": ({}, NOTHING),
    "definitions only": ({"AttributeDefinitions": types("g")}, NOTHING),
    "no index updates": ({"GlobalSecondaryIndexUpdates": []}, NOTHING),
    # ERR-UT-3
    "encryption": (
        SSE | {"BillingMode": "PROVISIONED"},
        ALONE.format("Server-Side Encryption modification"),
    ),
    "class": ({"TableClass": "STANDARD", **DELETE}, ALONE.format("TableClass modification")),
    "protection": (
        {"DeletionProtectionEnabled": True, "ProvisionedThroughput": MORE},
        ALONE.format("DeletionProtection modification"),
    ),
    "replicas": (REPLICA | {"StreamSpecification": STREAM}, ALONE.format("Replica modification")),
    "warm": (WARM | {"StreamSpecification": STREAM}, ALONE.format("WarmThroughput")),
    "maximum": (
        {"OnDemandThroughput": {"MaxReadRequestUnits": 1}, "StreamSpecification": STREAM},
        INVALID
        + "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request",
    ),
    "create and warm": (
        WARM | CREATE,
        INVALID + "Create global secondary index cannot be specified when updating WarmThroughput",
    ),
    "stream and units": (
        {"StreamSpecification": STREAM, "ProvisionedThroughput": MORE},
        INVALID + "You cannot modify stream status while updating table IOPS",
    ),
    "index and units": (
        CREATE | {"ProvisionedThroughput": MORE},
        INVALID + "You cannot create or delete index while updating table IOPS",
    ),
    "index and stream": (
        DELETE | {"StreamSpecification": STREAM},
        INVALID + "You cannot create or delete index while changing stream status",
    ),
    # ERR-UT-4
    "no index updates beside another change": (
        {"GlobalSecondaryIndexUpdates": [], "DeletionProtectionEnabled": True},
        INVALID + "List of GlobalSecondaryIndexUpdates is empty",
    ),
    "no action": (
        {"GlobalSecondaryIndexUpdates": [{}]},
        INVALID + "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
        "GlobalSecondaryIndexUpdate.Delete must not be null",
    ),
    "two actions": (
        {"GlobalSecondaryIndexUpdates": [{"Create": GSI, "Delete": {"IndexName": "gsi"}}]},
        INVALID + "Only one global secondary index action is allowed per "
        "GlobalSecondaryIndexUpdate object",
    ),
    "two updates of an index": (
        {
            "GlobalSecondaryIndexUpdates": [
                {"Update": {"IndexName": "gsi", "ProvisionedThroughput": MORE}},
                {"Delete": {"IndexName": "gsi"}},
            ]
        },
        INVALID + "Only one global secondary index update per index is allowed simultaneously. "
        "Index: gsi",
    ),
    "no definitions": (
        {"GlobalSecondaryIndexUpdates": [{"Create": GSI}]},
        INVALID + "AttributeDefinitions is not specified for index: gsi",
    ),
}


@pytest.mark.parametrize("case", BY_REQUEST)
def test_a_request_that_contradicts_itself_is_refused_before_the_table_is_looked_up(case):
    """UT-1, UT-2, UT-7, UT-8, ERR-UT-1 to ERR-UT-4, MAK-17."""
    members, message = BY_REQUEST[case]
    assert refusal(emulator(), "UpdateTable", TAB | members) == ("ValidationException", message)


def test_the_older_layer_knows_fewer_changes():
    """ERR-UT-2, PRO-3."""
    emu = emulator(messages="classic")
    assert refusal(emu, "UpdateTable", TAB) == ("ValidationException", OLDER)


def test_constraints_are_told_together():
    """ERR-UT-1, TBL-5 to TBL-7."""
    missing = "The parameter 'TableName' is required but was not present in the request"
    assert refusal(emulator(), "UpdateTable", {})[1] == missing
    request = {"TableName": "ab", "BillingMode": "FREE"}
    assert refusal(emulator(), "UpdateTable", request)[1] == (
        "2 validation errors detected: Value 'ab' at 'tableName' failed to satisfy constraint: "
        "Member must have length greater than or equal to 3; Value 'FREE' at 'billingMode' failed "
        "to satisfy constraint: Member must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]"
    )


def test_an_unknown_table_comes_after_the_structure_of_the_request():
    """TBL-4, ERR-UT-1."""
    assert refusal(emulator(), "UpdateTable", TAB | {"ProvisionedThroughput": MORE}) == (
        "ResourceNotFoundException",
        "Requested resource not found: Table: tab not found",
    )


# Throughput

UNCHANGED = (
    "The provisioned throughput for the {which} will not change. The requested value equals the "
    "current value. Current ReadCapacityUnits provisioned for the {kind}: 5. Requested "
    "ReadCapacityUnits: 5. Current WriteCapacityUnits provisioned for the {kind}: 5. Requested "
    "WriteCapacityUnits: 5. Refer to the Amazon DynamoDB Developer Guide for current limits and "
    "how to request higher limits."
)
NEITHER = (
    INVALID + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
    "BillingMode is PAY_PER_REQUEST"
)
MAXIMUM = (
    INVALID + "MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table "
    "BillingMode is PROVISIONED"
)
RANGE = INVALID + "Requested {} for OnDemandThroughput for {} is outside of valid range"
FALLS = (
    INVALID + "Requested {} for WarmThroughput for {} is lower than current WarmThroughput, "
    "decreasing WarmThroughput is not supported"
)
TO_PROVISIONED = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": UNITS}

BY_THROUGHPUT = {
    "units on demand": (
        provisioned(),
        {"BillingMode": "PAY_PER_REQUEST", "ProvisionedThroughput": MORE},
        NEITHER,
    ),
    "units of an on-demand table": (table(), {"ProvisionedThroughput": MORE}, NEITHER),
    "no units": (
        table(),
        {"BillingMode": "PROVISIONED"},
        INVALID + "ProvisionedThroughput must be specified when BillingMode is PROVISIONED",
    ),
    "no units for an index": (
        on_demand(),
        TO_PROVISIONED,
        INVALID + "ProvisionedThroughput must be specified for index: gsi",
    ),
    "an index without units": (
        provisioned(),
        update_index(),
        INVALID + "Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: gsi",
    ),
    "index units on demand": (
        on_demand(),
        update_index(ProvisionedThroughput=MORE),
        INVALID + "The only Updates for index: gsi when TableThroughputMode is PAY_PER_REQUEST "
        "can be to OnDemandThroughput, WarmThroughput",
    ),
    "unchanged": (
        provisioned(),
        {"ProvisionedThroughput": UNITS},
        UNCHANGED.format(which="table", kind="table"),
    ),
    "unchanged by mode": (
        provisioned(),
        TO_PROVISIONED,
        UNCHANGED.format(which="table", kind="table"),
    ),
    "unchanged index": (
        provisioned(),
        update_index(ProvisionedThroughput=UNITS),
        UNCHANGED.format(which="index gsi", kind="index"),
    ),
    "bound": (
        provisioned(),
        {"ProvisionedThroughput": units(10**12 + 1, 1)},
        "Given value 1000000000001 for ReadCapacityUnits is out of bounds",
    ),
    "maximum of a provisioned table": (
        provisioned(),
        {"OnDemandThroughput": {"MaxReadRequestUnits": 1}},
        MAXIMUM,
    ),
    "maximum of a provisioned index": (
        provisioned(),
        update_index(OnDemandThroughput={"MaxReadRequestUnits": 1}),
        MAXIMUM,
    ),
    "maximum of nothing": (
        table(),
        {"OnDemandThroughput": {"MaxWriteRequestUnits": 0}},
        RANGE.format("MaxWriteRequestUnits", "table"),
    ),
    "index maximum above the quota": (
        on_demand(),
        update_index(OnDemandThroughput={"MaxReadRequestUnits": 40_001}),
        RANGE.format("MaxReadRequestUnits", "index : gsi"),
    ),
    "cooler": (
        table(),
        {"WarmThroughput": {"ReadUnitsPerSecond": 11_999}},
        FALLS.format("ReadUnitsPerSecond", "table"),
    ),
    "cooler index": (
        on_demand(),
        update_index(WarmThroughput={"WriteUnitsPerSecond": 3_999}),
        FALLS.format("WriteUnitsPerSecond", "index gsi"),
    ),
    "warmer than the quota": (
        table(),
        {"WarmThroughput": {"WriteUnitsPerSecond": 40_001}},
        INVALID + "Requested WriteUnitsPerSecond for WarmThroughput for table is outside of valid "
        "range",
    ),
}


@pytest.mark.parametrize("case", BY_THROUGHPUT)
def test_throughput_that_does_not_fit_the_table_is_refused(case):
    """UT-4, UT-5, CT-12, CAP-509, ERR-UT-5."""
    definition, members, message = BY_THROUGHPUT[case]
    emu = created(definition)
    before = described(emu)
    assert refusal(emu, "UpdateTable", TAB | members) == ("ValidationException", message)
    assert described(emu) == before


def test_units_are_raised_and_lowered():
    """UT-16, DS-3, CAP-618: when is told, how often is counted."""
    emu = created(table(ProvisionedThroughput=UNITS))
    start = emu.clock.now()
    assert update(emu, ProvisionedThroughput=MORE)["TableStatus"] == "UPDATING"
    emu.clock.advance(60)
    update(emu, ProvisionedThroughput=units(1, 20))
    found = described(emu)
    assert (found["TableStatus"], found["ProvisionedThroughput"]) == (
        "ACTIVE",
        {
            "ReadCapacityUnits": 1,
            "WriteCapacityUnits": 20,
            "NumberOfDecreasesToday": 1,
            "LastIncreaseDateTime": start,
            "LastDecreaseDateTime": start + 60,
        },
    )


def test_until_a_change_is_complete_the_old_units_are_told():
    """UT-17: those of the table and of its indexes; the time of the change is told at once."""
    emu = created(provisioned(), table_delay=10)
    indexes = update_index(ProvisionedThroughput=units(1, 1))
    told = update(emu, ProvisionedThroughput=MORE, **indexes)
    now = emu.clock.now()
    old = {"NumberOfDecreasesToday": 0, **UNITS}
    assert told["ProvisionedThroughput"] == old | {"LastIncreaseDateTime": now}
    gsi = told["GlobalSecondaryIndexes"][0]
    assert gsi["ProvisionedThroughput"] == old | {"LastDecreaseDateTime": now}
    assert described(emu)["ProvisionedThroughput"] == told["ProvisionedThroughput"]
    emu.clock.advance(10)
    found = described(emu)
    assert found["ProvisionedThroughput"]["ReadCapacityUnits"] == 10
    gsi = found["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]
    assert (gsi["ReadCapacityUnits"], gsi["NumberOfDecreasesToday"]) == (1, 1)
    told = update(emu, StreamSpecification=STREAM)
    assert told["ProvisionedThroughput"]["ReadCapacityUnits"] == 10


def test_a_change_of_the_billing_mode_is_told_at_once_but_not_its_date():
    """UT-17, DS-11."""
    told = update(created(provisioned()), BillingMode="PAY_PER_REQUEST")
    assert told["BillingModeSummary"] == {"BillingMode": "PAY_PER_REQUEST"}
    assert told["ProvisionedThroughput"] == {"NumberOfDecreasesToday": 0, **units(0, 0)}
    told = update(
        created(on_demand()), **TO_PROVISIONED, **update_index(ProvisionedThroughput=MORE)
    )
    assert told["ProvisionedThroughput"] == {"NumberOfDecreasesToday": 0, **UNITS}


def test_encryption_is_updating_until_it_is_switched_on_or_off():
    """UT-18, DS-7."""
    emu = created(table_delay=10)
    key = {"SSEType": "KMS", "KMSMasterKeyArn": "arn:aws:kms:us-east-1:000000000000:key/k"}
    on = {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "k"}
    told = update(emu, SSESpecification=on)
    assert told["SSEDescription"] == key | {"Status": "UPDATING"}
    emu.clock.advance(10)
    assert described(emu)["SSEDescription"] == key | {"Status": "ENABLED"}
    told = update(emu, SSESpecification={"Enabled": False})
    assert told["SSEDescription"] == key | {"Status": "UPDATING"}
    assert described(emu)["SSEDescription"] == key | {"Status": "UPDATING"}
    emu.clock.advance(10)
    assert "SSEDescription" not in described(emu)


def test_warm_throughput_keeps_the_highest_units_ever():
    """DS-6, CAP-509."""
    emu = created(table(ProvisionedThroughput=UNITS))
    update(emu, ProvisionedThroughput=units(900, 7))
    update(emu, ProvisionedThroughput=units(1, 30))
    assert described(emu)["WarmThroughput"] == {
        "ReadUnitsPerSecond": 900,
        "WriteUnitsPerSecond": 30,
        "Status": "ACTIVE",
    }


def test_partitions_grow_with_the_units_and_never_shrink():
    """CAP-502, CAP-507, CAP2-1: halves until none is too wide."""
    emu = created(table(ProvisionedThroughput=UNITS))
    counts = []
    for wanted in (units(3_000, 2_000), units(1, 1), units(3_000, 2_000), units(6_000, 3_000)):
        update(emu, ProvisionedThroughput=wanted)
        counts.append(len(emu.partitions("tab")))
    assert counts == [4, 4, 4, 8]


def test_units_lowered_too_often_are_refused_whole():
    """CAP-618, UT-15: four a day, then one an hour; index and table fall together or not."""
    emu = created(provisioned())
    update(emu, ProvisionedThroughput=units(100, 100))
    for read in (99, 98, 97, 96):
        update(emu, ProvisionedThroughput=units(read, 100))
    both = {
        "ProvisionedThroughput": units(95, 100),
        **update_index(ProvisionedThroughput=units(1, 1)),
    }
    before = described(emu)
    code, message = refusal(emu, "UpdateTable", TAB | both)
    assert code == "LimitExceededException"
    assert message.startswith(
        "Subscriber limit exceeded: Provisioned throughput decreases are limited within a given "
        "UTC day."
    )
    assert described(emu) == before
    emu.clock.advance(3600)
    update(emu, **both)
    found = described(emu)
    assert found["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 5
    assert found["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]["ReadCapacityUnits"] == 1


def test_an_index_is_updated_by_itself():
    """UT-7: the index is UPDATING while the table is."""
    emu = created(provisioned(), table_delay=5)
    answer = update(emu, **update_index(ProvisionedThroughput=MORE))
    statuses = [answer["TableStatus"], answer["GlobalSecondaryIndexes"][0]["IndexStatus"]]
    assert statuses == ["UPDATING", "UPDATING"]
    assert described(emu)["GlobalSecondaryIndexes"][0]["IndexStatus"] == "UPDATING"
    emu.clock.advance(5)
    found = described(emu)["GlobalSecondaryIndexes"][0]
    assert (found["IndexStatus"], found["ProvisionedThroughput"]["ReadCapacityUnits"]) == (
        "ACTIVE",
        10,
    )


def test_quotas_hold_for_changes_too():
    """CAP-615."""
    emu = created(table(ProvisionedThroughput=UNITS))
    request = TAB | {"ProvisionedThroughput": units(40_001, 1)}
    assert refusal(emu, "UpdateTable", request) == (
        "LimitExceededException",
        "Subscriber limit exceeded: Provisioned ReadCapacityUnits exceeds the per-table limit of "
        "40000",
    )


@pytest.mark.parametrize("wanted", [40_001, 10**12])
def test_quotas_hold_for_an_index_that_is_added(wanted):
    """CAP-615: found by fuzzing, it was added with a partition for every thousand units."""
    emu = created(table(ProvisionedThroughput=UNITS))
    index = {
        "IndexName": "added",
        "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
        "ProvisionedThroughput": units(1, wanted),
    }
    request = TAB | {
        "AttributeDefinitions": [{"AttributeName": "g", "AttributeType": "S"}],
        "GlobalSecondaryIndexUpdates": [{"Create": index}],
    }
    code, told = refusal(emu, "UpdateTable", request)
    assert code == "LimitExceededException"
    assert told.endswith("Provisioned WriteCapacityUnits exceeds the per-table limit of 40000")
    assert "GlobalSecondaryIndexes" not in described(emu)


# Billing mode


def test_a_table_goes_on_demand_with_its_indexes():
    """UT-5, DS-4, CAP-617."""
    emu = created(provisioned())
    emu.clock.advance(60)
    update(emu, BillingMode="PAY_PER_REQUEST")
    found = described(emu)
    assert found["BillingModeSummary"] == {
        "BillingMode": "PAY_PER_REQUEST",
        "LastUpdateToPayPerRequestDateTime": emu.clock.now(),
    }
    zero = {"NumberOfDecreasesToday": 0, **units(0, 0)}
    held = [found, *found["GlobalSecondaryIndexes"]]
    assert [one["ProvisionedThroughput"] for one in held] == [zero, zero]
    assert [one["WarmThroughput"]["WriteUnitsPerSecond"] for one in held] == [4_000, 4_000]
    assert [len(emu.partitions("tab", name)) for name in (None, "gsi")] == [4, 4]


def test_a_table_comes_back_with_units_for_every_index_and_without_maxima():
    """UT-5, UT-6, CAP-617: partitions are kept."""
    emu = created(on_demand(OnDemandThroughput={"MaxReadRequestUnits": 9}))
    update(emu, **TO_PROVISIONED, **update_index(ProvisionedThroughput=MORE))
    found = described(emu)
    assert found["BillingModeSummary"]["BillingMode"] == "PROVISIONED"
    assert "OnDemandThroughput" not in found
    assert found["ProvisionedThroughput"]["ReadCapacityUnits"] == 5
    assert found["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]["ReadCapacityUnits"] == 10
    assert len(emu.partitions("tab")) == 4


def test_on_demand_again_is_no_change():
    """UT-4."""
    emu = created()
    before = described(emu)
    emu.clock.advance(60)
    update(emu, BillingMode="PAY_PER_REQUEST")
    assert described(emu) == before


def test_a_fifth_switch_to_on_demand_in_a_day_is_refused():
    """CAP-617."""
    emu = created(table(ProvisionedThroughput=UNITS))
    for _ in range(4):
        update(emu, BillingMode="PAY_PER_REQUEST")
        update(emu, **TO_PROVISIONED)
    switch = TAB | {"BillingMode": "PAY_PER_REQUEST"}
    assert refusal(emu, "UpdateTable", switch)[0] == "LimitExceededException"
    assert described(emu)["BillingModeSummary"]["BillingMode"] == "PROVISIONED"
    emu.clock.advance(24 * 3600)
    update(emu, BillingMode="PAY_PER_REQUEST")


def test_a_maximum_is_set_and_removed():
    """UT-6, CAP-616: -1 clears one maximum."""
    emu = created(on_demand())
    update(emu, OnDemandThroughput={"MaxReadRequestUnits": 7, "MaxWriteRequestUnits": 8})
    update(emu, **update_index(OnDemandThroughput={"MaxReadRequestUnits": 3}))
    update(emu, OnDemandThroughput={"MaxReadRequestUnits": -1})
    found = described(emu)
    assert found["OnDemandThroughput"] == {"MaxWriteRequestUnits": 8}
    assert found["GlobalSecondaryIndexes"][0]["OnDemandThroughput"] == {"MaxReadRequestUnits": 3}


def test_a_maximum_may_come_with_members_nobody_knows():
    """WIR-15."""
    emu = created()
    with pytest.warns(UnservedMemberWarning, match="OnDemandThroughput.Unknown"):
        update(emu, OnDemandThroughput={"MaxReadRequestUnits": 7, "Unknown": "text"})
    assert described(emu)["OnDemandThroughput"] == {"MaxReadRequestUnits": 7}


# Warm throughput


def test_warm_throughput_comes_when_the_partitions_do():
    """CAP-509, CAP2-1: doubling four partitions to eight, then to sixteen, takes two minutes."""
    emu = created()
    update(emu, WarmThroughput={"WriteUnitsPerSecond": 10_000})
    assert described(emu)["WarmThroughput"] == {
        "ReadUnitsPerSecond": 12_000,
        "WriteUnitsPerSecond": 4_000,
        "Status": "UPDATING",
    }
    emu.clock.advance(119)
    assert len(emu.partitions("tab")) == 4
    emu.clock.advance(1)
    assert described(emu)["WarmThroughput"] == {
        "ReadUnitsPerSecond": 12_000,
        "WriteUnitsPerSecond": 10_000,
        "Status": "ACTIVE",
    }
    assert len(emu.partitions("tab")) == 16


def test_how_long_doubling_takes_is_a_setting():
    """CAP-509, prewarm_doubling_seconds: two doublings, noticed at a full minute."""
    for seconds, minutes in ((2.5, 1), (89.75, 3), (90.25, 4)):
        emu = created(prewarm_doubling_seconds=seconds)
        update(emu, WarmThroughput={"WriteUnitsPerSecond": 10_000})
        emu.clock.advance(minutes * 60 - 1)
        assert described(emu)["WarmThroughput"]["Status"] == "UPDATING"
        emu.clock.advance(1)
        assert described(emu)["WarmThroughput"]["Status"] == "ACTIVE"
    at_once = created(prewarm_doubling_seconds=0)
    update(at_once, WarmThroughput={"WriteUnitsPerSecond": 10_000})
    assert described(at_once)["WarmThroughput"]["Status"] == "ACTIVE"


def test_warm_throughput_that_needs_no_partition_is_there_at_once():
    """CAP-509."""
    emu = created(on_demand(WarmThroughput={"ReadUnitsPerSecond": 13_000}))
    assert len(emu.partitions("tab")) == 5
    update(emu, WarmThroughput={"ReadUnitsPerSecond": 15_000})
    update(emu, **update_index(WarmThroughput={"ReadUnitsPerSecond": 12_000}))
    found = described(emu)["WarmThroughput"]
    assert (found["ReadUnitsPerSecond"], found["Status"]) == (15_000, "ACTIVE")


# Indexes against the table


def test_an_index_is_made_filled_and_opened_on_the_clock():
    """UT-8, UT-10, UT-11, MAK-26: wrong types are skipped; reads wait for ACTIVE."""
    emu = created(table_delay=10, index_delay=60)
    put(emu, pk="a", g="x")
    put(emu, pk="b")
    emu.call("PutItem", {**TAB, "Item": {"pk": {"S": "c"}, "g": {"N": "1"}}})
    answer = update(emu, **CREATE)
    states = [_state(answer)]
    query = {
        **TAB,
        "IndexName": "gsi",
        "KeyConditionExpression": "g = :g",
        "ExpressionAttributeValues": {":g": {"S": "x"}},
    }
    for seconds in (0, 10, 59):
        emu.clock.advance(seconds)
        states.append(_state(described(emu)))
        assert refusal(emu, "Query", query) == (
            "ValidationException",
            "Cannot read from backfilling global secondary index: gsi",
        )
    emu.clock.advance(1)
    states.append(_state(described(emu)))
    assert states == [
        ("UPDATING", "CREATING", False),
        ("UPDATING", "CREATING", False),
        ("ACTIVE", "CREATING", True),
        ("ACTIVE", "CREATING", True),
        ("ACTIVE", "ACTIVE", None),
    ]
    assert [item["pk"] for item in emu.call("Query", query)["Items"]] == [{"S": "a"}]


def _state(found):
    made = found["GlobalSecondaryIndexes"][0]
    return found["TableStatus"], made["IndexStatus"], made.get("Backfilling")


def test_items_written_during_the_backfill_are_in_the_index():
    """UT-10, UT-11."""
    emu = created(table_delay=10, index_delay=60)
    update(emu, **CREATE)
    put(emu, pk="a", g="x")
    emu.call("DeleteItem", {**TAB, "Key": {"pk": {"S": "a"}}})
    put(emu, pk="b", g="x")
    emu.clock.advance(70)
    scan = emu.call("Scan", {**TAB, "IndexName": "gsi"})
    assert scan["Items"] == [{"pk": {"S": "b"}, "g": {"S": "x"}}]


@pytest.mark.parametrize(
    ("key", "value"),
    [("g", ""), ("g", "x" * 2049), ("pk g", ""), ("pk g", "x" * 1025)],
)
def test_an_added_index_passes_over_values_that_can_be_no_key(key, value):
    """IXV-6, MAK-26: empty or too long; the item stays, can be changed and can go."""
    emu = created()
    put(emu, pk="a", g=value)
    put(emu, pk="b", g="x")
    update(emu, **create_index(index("gsi", schema(*key.split())), "pk g"))
    scan = {**TAB, "IndexName": "gsi"}
    only = [{"pk": {"S": "b"}, "g": {"S": "x"}}]
    assert emu.call("Scan", scan)["Items"] == only
    change = {"Key": {"pk": {"S": "a"}}, "UpdateExpression": "SET x = pk"}
    emu.call("UpdateItem", {**TAB, **change})
    assert emu.call("Scan", scan)["Items"] == only
    emu.call("DeleteItem", {**TAB, "Key": {"pk": {"S": "a"}}})
    assert emu.call("Scan", scan)["Items"] == only


def test_an_added_index_keeps_the_types_of_other_indexes():
    """MAK-17."""
    emu = created()
    update(emu, **create_index(index("gsi", schema("g"))))
    another = index("other", schema("g"))
    request = {
        **TAB,
        "AttributeDefinitions": types("g", "N"),
        "GlobalSecondaryIndexUpdates": [{"Create": another}],
    }
    assert refusal(emu, "UpdateTable", request) == (
        "ValidationException",
        "One or more parameter values were invalid: Attributes cannot be redefined. Please check "
        "that your attribute has the same type as previously defined. Existing schema: "
        "Schema:[SchemaElement: key{g:S:HASH}] New schema: Schema:[SchemaElement: key{g:N:HASH}]",
    )


def test_two_indexes_do_not_go_at_once_even_if_there_are_none():
    """UT-7, UT-13."""
    updates = [{"Delete": {"IndexName": name}} for name in ("one", "two")]
    request = {**TAB, "GlobalSecondaryIndexUpdates": updates}
    assert refusal(created(), "UpdateTable", request) == (
        "LimitExceededException",
        "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously "
        "per table",
    )


def test_an_added_index_may_have_several_key_attributes():
    """MAK-1, MAK-17: definitions are a delta; stored types stay, unused ones are ignored."""
    emu = created(table("pk", "sk"))
    key = schema("sk g", "pk")
    definitions = [*types("g pk unused"), *types("sk", "N")]
    update(
        emu,
        AttributeDefinitions=definitions,
        GlobalSecondaryIndexUpdates=[{"Create": index("gsi", key)}],
    )
    found = described(emu)
    assert found["GlobalSecondaryIndexes"][0]["KeySchema"] == key
    assert found["AttributeDefinitions"] == types("g pk sk")


def test_a_deleted_index_is_deleting_then_gone_and_its_definitions_with_it():
    """UT-9, DS-5; deletion protection does not protect indexes (DT-2)."""
    emu = created(on_demand(DeletionProtectionEnabled=True), table_delay=10)
    answer = update(emu, **DELETE)
    assert (answer["TableStatus"], answer["GlobalSecondaryIndexes"][0]["IndexStatus"]) == (
        "UPDATING",
        "DELETING",
    )
    found = described(emu)
    assert found["GlobalSecondaryIndexes"][0]["IndexStatus"] == "DELETING"
    assert found["AttributeDefinitions"] == types("g pk")
    emu.clock.advance(10)
    found = described(emu)
    assert "GlobalSecondaryIndexes" not in found
    assert found["AttributeDefinitions"] == types("pk")


def test_a_deleted_index_no_longer_judges_writes():
    """UT-9."""
    emu = created(on_demand())
    item = {"pk": {"S": "a"}, "g": {"N": "1"}}
    assert refusal(emu, "PutItem", {**TAB, "Item": item})[0] == "ValidationException"
    update(emu, **DELETE)
    emu.call("PutItem", {**TAB, "Item": item})


def test_the_answer_tells_of_its_own_change_only():
    """UT-16: with no delay, an index deleted before is not told again."""
    emu = created(on_demand())
    update(emu, **DELETE)
    answer = update(emu, **CREATE)
    assert [_state(answer)] == [("UPDATING", "CREATING", False)]
    assert len(answer["GlobalSecondaryIndexes"]) == 1


UNDEFINED = (
    INVALID + "Some index key attributes are not defined in AttributeDefinitions. Keys: [h], "
    "AttributeDefinitions: [g]"
)
NEW = index("new", schema("g"))
BY_INDEX = {
    "exists": (CREATE, "ValidationException", "Attempting to create an index which already exists"),
    "exists as a local index": (
        create_index(index("lsi", schema("g"))),
        "ValidationException",
        "Attempting to create an index which already exists",
    ),
    "undefined": (create_index(index("new", schema("h"))), "ValidationException", UNDEFINED),
    "defined for the table alone": (
        create_index(index("new", schema("pk"))),
        "ValidationException",
        UNDEFINED.replace("[h]", "[pk]"),
    ),
    "half of it defined for the table alone": (
        create_index(index("new", schema("g", "pk"))),
        "ValidationException",
        "Invalid KeySchema: Some index key attribute have no definition",
    ),
    "defined twice": (
        create_index(NEW, "g g"),
        "ValidationException",
        "Attribute Name is duplicated: g",
    ),
    "hash after range": (
        create_index(index("new", [*schema("g", "pk"), *schema("sk")]), "g pk sk"),
        "ValidationException",
        INVALID + "All HASH key attributes must precede RANGE key attributes in the KeySchema",
    ),
    "five hashes": (
        create_index(index("new", schema("a b c d e")), "a b c d e"),
        "ValidationException",
        INVALID + "The KeySchema exceeds the maximum allowed number of HASH key attributes",
    ),
    "projection": (
        create_index(index("new", schema("g"), "INCLUDE")),
        "ValidationException",
        INVALID + "ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
    ),
    "no units": (
        create_index(NEW),
        "ValidationException",
        INVALID + "ProvisionedThroughput is not specified for index: new",
    ),
    "maximum": (
        create_index(
            NEW | {"ProvisionedThroughput": UNITS, "OnDemandThroughput": {"MaxReadRequestUnits": 1}}
        ),
        "ValidationException",
        INVALID + "MaxReadRequestUnits for OnDemandThroughput for index : new cannot be specified "
        "when table BillingMode is PROVISIONED.",
    ),
    "delete of nothing": (
        {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "none"}}]},
        "ResourceNotFoundException",
        "Requested resource not found: Index none for table tab",
    ),
    "delete of a local index": (
        {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "lsi"}}]},
        "ValidationException",
        "Cannot delete an index that is not a GlobalSecondaryIndex: lsi",
    ),
    "update of nothing": (
        {
            "GlobalSecondaryIndexUpdates": [
                {"Update": {"IndexName": "none", "ProvisionedThroughput": MORE}}
            ]
        },
        "ResourceNotFoundException",
        "Requested resource not found: Index none for table tab",
    ),
    "update of a local index": (
        {
            "GlobalSecondaryIndexUpdates": [
                {"Update": {"IndexName": "lsi", "ProvisionedThroughput": MORE}}
            ]
        },
        "ValidationException",
        "Cannot update an index that is not a GlobalSecondaryIndex: lsi",
    ),
    "two at once": (
        {
            "AttributeDefinitions": types("g"),
            "GlobalSecondaryIndexUpdates": [
                {"Create": NEW | {"ProvisionedThroughput": UNITS}},
                {"Delete": {"IndexName": "gsi"}},
            ],
        },
        "LimitExceededException",
        "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously "
        "per table",
    ),
}


@pytest.mark.parametrize("case", BY_INDEX)
def test_an_index_change_that_does_not_fit_the_table_is_refused(case):
    """UT-12, UT-13, ERR-UT-6, MAK-10 to MAK-17."""
    members, code, message = BY_INDEX[case]
    emu = created(provisioned())
    before = described(emu)
    assert refusal(emu, "UpdateTable", TAB | members) == (code, message)
    assert described(emu) == before


def test_a_21st_index_is_refused():
    """UT-13."""
    indexes = [index(f"index{n}", schema("pk")) for n in range(20)]
    emu = created(table(GlobalSecondaryIndexes=indexes))
    assert refusal(emu, "UpdateTable", TAB | CREATE) == (
        "LimitExceededException",
        "Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit of "
        "20",
    )


def test_names_projected_by_all_indexes_are_counted():
    """CT-8, MAK-6."""
    names = {"ProjectionType": "INCLUDE", "NonKeyAttributes": [f"a{n}" for n in range(20)]}
    indexes = [index(f"index{n}", schema("pk"), names) for n in range(5)]
    emu = created(table(GlobalSecondaryIndexes=indexes))
    one = {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x"]}
    request = TAB | create_index(index("new", schema("g"), one))
    assert refusal(emu, "UpdateTable", request) == (
        "ValidationException",
        INVALID + "Number of NonKeyAttributes over all indexes exceeds per-table limit of 100",
    )


def test_one_index_changes_at_a_time_and_a_backfill_may_be_ended():
    """UT-13, UT-10."""
    emu = created(table_delay=10, index_delay=60)
    update(emu, **CREATE)
    emu.clock.advance(10)
    second = TAB | create_index(index("other", schema("g")))
    assert refusal(emu, "UpdateTable", second)[0] == "LimitExceededException"
    update(emu, **DELETE)
    emu.clock.advance(10)
    update(emu, **create_index(index("other", schema("g"))))


# Stream, encryption, class, protection, state


def test_a_stream_is_enabled_disabled_and_enabled_anew():
    """UT-14, TBL-2: each time another ARN and label."""
    emu = created()
    update(emu, StreamSpecification=STREAM)
    first = described(emu)
    assert first["StreamSpecification"] == STREAM
    update(emu, StreamSpecification=NO_STREAM)
    closed = described(emu)
    assert "StreamSpecification" not in closed
    assert closed["LatestStreamArn"] == first["LatestStreamArn"]
    update(emu, StreamSpecification=STREAM)
    labels = [one["LatestStreamLabel"] for one in (first, described(emu))]
    assert labels == ["2026-01-01T00:00:00.000", "2026-01-01T00:00:00.001"]


BY_STREAM = {
    "no view": (
        table(),
        {"StreamEnabled": True},
        INVALID + "If stream is being enabled then UpdateViewType is required",
    ),
    "a view and no stream": (
        table(),
        {"StreamEnabled": False, "StreamViewType": "NEW_IMAGE"},
        INVALID + "If stream is being disabled, then UpdateViewType must not be specified",
    ),
    "on already": (
        table(StreamSpecification=STREAM),
        STREAM,
        "Table already has an enabled stream: TableName: tab",
    ),
    "off already": (table(), NO_STREAM, "Table has no stream to disable: TableName: tab"),
}


@pytest.mark.parametrize("case", BY_STREAM)
def test_a_stream_change_that_changes_nothing_is_refused(case):
    """UT-14, ERR-UT-7."""
    definition, spec, message = BY_STREAM[case]
    request = TAB | {"StreamSpecification": spec}
    assert refusal(created(definition), "UpdateTable", request) == ("ValidationException", message)


SAME_KEY = (
    INVALID + "Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId parameter "
    "if you want to change Master Key"
)
KEY = {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "one"}


def test_encryption_is_switched_on_changed_and_switched_off():
    """CT-10, DS-7."""
    emu = created()
    update(emu, SSESpecification={"Enabled": True})
    update(emu, SSESpecification=KEY)
    arn = described(emu)["SSEDescription"]["KMSMasterKeyArn"]
    assert arn == "arn:aws:kms:us-east-1:000000000000:key/one"
    update(emu, SSESpecification={"Enabled": False})
    assert "SSEDescription" not in described(emu)


@pytest.mark.parametrize(
    ("before", "spec", "message"),
    [
        (None, {"Enabled": False}, INVALID + "Table is already encrypted by default"),
        (KEY, {"Enabled": True}, SAME_KEY),
        (KEY, KEY, SAME_KEY),
        (
            None,
            {"Enabled": False, "SSEType": "KMS"},
            INVALID + "SSEType can not be specified if Enabled is false",
        ),
    ],
)
def test_an_encryption_change_that_changes_nothing_is_refused(before, spec, message):
    """ERR-UT-8, ERR-CT-15."""
    emu = created(table(SSESpecification=before))
    request = TAB | {"SSESpecification": spec}
    assert refusal(emu, "UpdateTable", request) == ("ValidationException", message)


def test_the_table_class_changes():
    """DS-7."""
    emu = created()
    emu.clock.advance(60)
    update(emu, TableClass="STANDARD_INFREQUENT_ACCESS")
    assert described(emu)["TableClassSummary"] == {
        "TableClass": "STANDARD_INFREQUENT_ACCESS",
        "LastUpdateDateTime": emu.clock.now(),
    }


def test_protection_changes_at_once():
    """UT-16."""
    emu = created(table_delay=10)
    answer = update(emu, DeletionProtectionEnabled=True)
    assert (answer["TableStatus"], answer["DeletionProtectionEnabled"]) == ("ACTIVE", True)


def test_a_table_that_changes_is_in_use_and_still_serves_items():
    """UT-3."""
    emu = created(table(ProvisionedThroughput=UNITS), table_delay=10)
    update(emu, ProvisionedThroughput=MORE)
    request = TAB | {"ProvisionedThroughput": UNITS}
    assert refusal(emu, "UpdateTable", request) == (
        "ResourceInUseException",
        "Attempt to change a resource which is still in use: Table is being updated: tab",
    )
    put(emu, pk="a")
    emu.clock.advance(10)
    update(emu, ProvisionedThroughput=UNITS)


def test_a_table_is_named_by_its_arn():
    """TBL-1."""
    emu = created()
    emu.call("UpdateTable", {"TableName": ARN, "DeletionProtectionEnabled": True})
    assert described(emu)["DeletionProtectionEnabled"] is True


# Backfill that is paid for


def enforced(**settings):
    emu = Emulator(clock=ManualClock(), capacity="enforce", settings=emulator(**settings).settings)
    emu.call("CreateTable", table(ProvisionedThroughput=units(100, 100)))
    for n in range(30):
        put(emu, pk=str(n), g=str(n))
    emu.clock.advance(1)
    definition = index("gsi", schema("g"), ProvisionedThroughput=units(1, 2))
    emu.call("UpdateTable", TAB | create_index(definition))
    return emu


def test_a_backfill_costs_nothing_unless_it_is_simulated():
    """CAP-1106."""
    emu = enforced()
    assert described(emu)["GlobalSecondaryIndexes"][0]["IndexStatus"] == "ACTIVE"
    put(emu, pk="new", g="new")


def test_a_simulated_backfill_draws_on_the_index_and_throttles_writes_meanwhile():
    """CAP-1106, CAP-609: 30 entries, 2 of them from the full bucket, 2 a second."""
    emu = enforced(simulate_backfill=True, gsi_buffer_seconds=0)
    emu.clock.advance(13)
    assert _state(described(emu)) == ("ACTIVE", "CREATING", True)
    item = {**TAB, "Item": {"pk": {"S": "new"}, "g": {"S": "new"}}}
    assert refusal(emu, "PutItem", item)[0] == "ProvisionedThroughputExceededException"
    emu.clock.advance(2)
    assert _state(described(emu)) == ("ACTIVE", "ACTIVE", None)
    emu.call("PutItem", item)


def test_a_write_during_a_simulated_backfill_waits_behind_it():
    """CAP-1106, CAP2-4.8: it is accepted, and in the index once the backfill is paid."""
    emu = enforced(simulate_backfill=True)
    emu.clock.advance(13)
    put(emu, pk="new", g="new")
    assert emu.backlog("tab", "gsi").units == 1
    emu.clock.advance(2)
    assert emu.backlog("tab", "gsi").units == 0


def test_a_simulated_backfill_on_demand_is_bound_by_the_partitions_only():
    """CAP-1106, CAP-501: 1,200 units of one key at 1,000 a second."""
    emu = created(simulate_backfill=True)
    for n in range(300):
        put(emu, pk=str(n), g="same", text="x" * 4_000)
    emu.clock.advance(1)
    update(emu, **CREATE)
    states = []
    for seconds in (0, 0.19, 0.02):
        emu.clock.advance(seconds)
        states.append(_state(described(emu))[1])
    assert states == ["CREATING", "CREATING", "ACTIVE"]
