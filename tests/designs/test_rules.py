"""Static advice: each rule on a table that breaks it and on one that does not."""

import subprocess
import sys
from dataclasses import replace

import pytest

from emulator.api import Emulator
from emulator.designs import DeclaredTable, rules
from emulator.designs.rules import follows_the_clock, has_few_values, tells_nothing
from tests.each import each


def check_table(table):
    """Return the findings about a table, on an account of its own."""
    return rules.check_table(table, Emulator(capacity="off").call)


def test_the_rules_need_neither_the_lab_nor_numpy():
    program = (
        "import sys, emulator.designs.rules; "
        "print([name for name in sys.modules if name.startswith(('emulator.lab', 'numpy'))])"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout == "[]\n"


def told(given):
    """Return the findings about a table but that its names tell nothing."""
    return [one for one in check_table(given) if one.rule != "generic-key"]


def key(text):
    """Return a KeySchema from ``"a+b / c"``."""
    partition, _, sort = text.partition(" / ")
    roles = (("HASH", partition), ("RANGE", sort))
    return [
        {"AttributeName": name, "KeyType": role}
        for role, names in roles
        for name in names.split("+")
        if name
    ]


def index(name, text, kind="KEYS_ONLY", **units):
    made = {
        "IndexName": name,
        "KeySchema": key(text),
        "Projection": {"ProjectionType": kind},
    }
    return made | ({"ProvisionedThroughput": units} if units else {})


def table(text="id / at", indexes=(), *, samples=(), scaled=True, **members):
    """Return a declared table on demand, or provisioned if it is given units."""
    used = [*key(text)] + [one for given in indexes for one in given["KeySchema"]]
    used += [
        one for given in members.get("LocalSecondaryIndexes", ()) for one in given["KeySchema"]
    ]
    names = dict.fromkeys(one["AttributeName"] for one in used)
    request = {
        "TableName": "things",
        "KeySchema": key(text),
        "AttributeDefinitions": [{"AttributeName": n, "AttributeType": "S"} for n in names],
        "BillingMode": "PROVISIONED" if "ProvisionedThroughput" in members else "PAY_PER_REQUEST",
        **members,
    }
    if indexes:
        request["GlobalSecondaryIndexes"] = list(indexes)
    return DeclaredTable(resource="t", request=request, samples=tuple(samples), scaled=scaled)


def units(read, write):
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


def provisioned(read, write, *args, **more):
    return table(*args, ProvisionedThroughput=units(read, write), **more)


LOCAL = {"LocalSecondaryIndexes": [index("loc", "id / name")]}
SAMPLES = [{"id": {"S": "same"}}] * 9 + [{"id": {"S": "other"}}] * 3
FIVE = [index(f"gsi{n}", f"a{n}") for n in range(5)]

JOINED = [
    {"GSI1PK": {"S": f"{tenant}#open"}, "tenant": {"S": tenant}, "status": {"S": "open"}}
    for tenant in ("t1", "t2")
]
OVERLOADED = [{"GSI1PK": {"S": f"USER#{n}"}, "id": {"S": str(n)}} for n in range(3)]

FOUND = {
    "status key": (table("status / at"), [("low-cardinality-key", "warning", "t")]),
    "date key": (table("orderDate / id"), [("time-key", "warning", "t")]),
    "index on a type": (
        table(indexes=[index("byType", "eventType / at")]),
        [("low-cardinality-key", "warning", "t byType")],
    ),
    "type and day together": (
        table(indexes=[index("byBoth", "eventType+day")]),
        [("low-cardinality-key", "warning", "t byBoth")],
    ),
    "slow index": (
        provisioned(5, 50, indexes=[index("slow", "name", **units(5, 10))]),
        [("index-back-pressure", "warning", "t slow")],
    ),
    "same key": (
        table(indexes=[index("same", "id / at")]),
        [("redundant-index", "warning", "t same")],
    ),
    "the partition key of its table alone": (
        table(indexes=[index("same", "id")]),
        [("redundant-index", "warning", "t same")],
    ),
    "the key of another index": (
        table(indexes=[index("first", "name / at"), index("again", "name / at")]),
        [("redundant-index", "warning", "t again")],
    ),
    "a local index in the order of its table": (
        table(LocalSecondaryIndexes=[index("again", "id / at")]),
        [("redundant-index", "warning", "t again"), ("collection-limit", "warning", "t")],
    ),
    "a state without a word of its own": (
        table(indexes=[index("byState", "ORDERSTATE / at")]),
        [("low-cardinality-key", "warning", "t byState")],
    ),
    "a yes or no": (
        table(indexes=[index("left", "CartAbandoned / at")]),
        [("low-cardinality-key", "warning", "t left")],
    ),
    "when it was changed": (
        table(indexes=[index("changed", "lastUpdated")]),
        [("time-key", "warning", "t changed")],
    ),
    "local index": (table(**LOCAL), [("collection-limit", "warning", "t")]),
    "wide index": (
        table(indexes=[index("wide", "name", "ALL")]),
        [("wide-projection", "info", "t wide")],
    ),
    "many indexes": (table(indexes=FIVE), [("many-indexes", "warning", "t")]),
    "much capacity": (provisioned(100, 5000), [("spread", "info", "t")]),
    "fixed capacity": (provisioned(5, 5, scaled=False), [("fixed-capacity", "info", "t")]),
    "uneven samples": (table(samples=SAMPLES), [("sample-skew", "info", "t")]),
    "joined by its name": (
        table(indexes=[index("joined", "tenant#status / at")]),
        [("concatenated-key", "info", "t joined")],
    ),
    "joined names of others": (
        table("tenant / status", indexes=[index("joined", "tenantStatus")]),
        [("concatenated-key", "info", "t joined")],
    ),
    "joined by its values": (
        table(indexes=[index("GSI1", "GSI1PK / name")], samples=JOINED),
        [("concatenated-key", "info", "t GSI1")],
    ),
    "a stream of new images": (
        table(StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}),
        [("stream-view-type", "info", "t")],
    ),
    "events for ever": (
        replace(table("deviceId / timestamp", TableName="app-events"), tells_ttl=True),
        [("no-ttl", "info", "t")],
    ),
    "refused": (table("id / id"), [("refused", "problem", "t")]),
}
FINE = {
    "plain": table(),
    "overloaded index": table(indexes=[index("GSI1", "GSI1PK / name")], samples=OVERLOADED),
    "both images": table(
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    ),
    "events that expire": replace(
        table("deviceId / timestamp", TableName="events"), tells_ttl=True, ttl_attribute="ttl"
    ),
    "events of a description": table("deviceId / timestamp", TableName="events"),
    "orders for ever": replace(table("customerId / orderedAt"), tells_ttl=True),
    "a pair that one key can use": provisioned(3000, 1000),
    "composite": table(indexes=[index("byBoth", "status+userId / at")]),
    "generic": table("PK / SK", indexes=[index("GSI1", "GSI1PK / GSI1SK")]),
    "equal index": provisioned(5, 5, indexes=[index("even", "name", **units(5, 5))]),
    "few samples": table(samples=SAMPLES[:5]),
    "even samples": table(samples=[{"id": {"S": str(n)}} for n in range(20)]),
}


@each(("given", "expected"), FOUND.values(), ids=FOUND)
def test_a_rule_speaks_of_what_it_is_about(given, expected):
    found = [(one.check, one.severity, one.subject) for one in told(given)]
    assert found == expected


@pytest.mark.parametrize("given", FINE.values(), ids=FINE)
def test_a_sound_table_has_no_findings(given):
    assert told(given) == []


def test_five_thousand_writes_want_twelve_keys():
    """L0: cardinality at least twice the partitions; CAP-502: the read units count too."""
    [finding] = check_table(provisioned(100, 5000))
    assert finding.message == (
        "100 RCU and 5,000 WCU are spread over 6 partitions; one key value can use 100 RCU and "
        "1,000 WCU of them."
    )
    assert finding.fix == "Make sure that traffic is even over at least 12 values of the key."


def test_partitions_are_those_of_the_engine():
    """CAP-502: 500 RCU and 2,000 WCU are three partitions, and one key cannot use 3,000 of 500."""
    given = provisioned(500, 2000)
    [finding] = check_table(given)
    emulator = Emulator()
    emulator.call("CreateTable", given.request)
    count = len(emulator.partitions("things"))
    assert count == 3
    assert finding.message == (
        f"500 RCU and 2,000 WCU are spread over {count} partitions; one key value can use 500 RCU "
        "and 1,000 WCU of them."
    )


def test_a_refused_table_is_told_in_the_words_of_the_service():
    [finding] = check_table(table(BillingMode="PROVISIONED"))
    assert finding.message == (
        "The service refuses this table: One or more parameter values were invalid: "
        "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is "
        "PROVISIONED"
    )


def test_break_even_is_that_of_the_price_list():
    """CAP-1008."""
    [finding] = check_table(provisioned(5, 5, scaled=False))
    assert "28.9%" in finding.message


@pytest.mark.parametrize(
    "name", ["status", "orderStatus", "is_active", "HasPaid", "country", "currency_code", "TYPE"]
)
def test_names_of_few_values(name):
    assert has_few_values(name)


@pytest.mark.parametrize(
    "name", ["userId", "statusId", "PK", "postcode", "prototype", "island", ""]
)
def test_names_of_many_values(name):
    assert not has_few_values(name)


@pytest.mark.parametrize("name", ["date", "createdAt", "event_time", "TS", "yearMonth", "sentAt"])
def test_names_of_times(name):
    assert follows_the_clock(name)


@pytest.mark.parametrize("name", ["at", "update", "dayId", "format", "thermostat", "runtimeId"])
def test_names_of_no_times(name):
    assert not follows_the_clock(name)


FEW = ("brand", "genre", "categoryId", "timezone", "timeZone", "shard", "shardId", "bucket")
FEW_BEFORE = ("region", "isActive", "level", "entityType", "gender", "priority", "flag", "kind")


@each("name", (*FEW, *FEW_BEFORE, "orderStatus"))
def test_these_have_few_values(name):
    assert has_few_values(name)


@each("name", ("yyyymm", "YYYYMMDD", "date", "year", "tenant_month", "month_tenant", "dayDevice"))
def test_the_order_of_words_does_not_decide_whether_a_name_follows_the_clock(name):
    assert follows_the_clock(name)


UNSUSPECTED = ("typeId", "statusPageId", "stateMachineArn", "dateOfBirth", "updateId", "runtimeId")


@each("name", (*UNSUSPECTED, "", "monthName", "yearId", "bucketArn", "customerId", "id"))
def test_nothing_is_said_of_other_names(name):
    assert not has_few_values(name)
    assert not follows_the_clock(name)
    assert not tells_nothing(name)


@each("name", ("pk", "sk", "PK", "gsi1pk", "GSI1PK", "GSI1-SK", "gsi2", "id1", "partition_key"))
def test_these_names_tell_nothing(name):
    assert tells_nothing(name)


def test_a_key_whose_name_tells_nothing_is_named_with_the_command_that_answers():
    generic = table("pk / sk", [index("first", "gsi1pk"), index("second", "customerId")])
    [finding] = [own for own in check_table(generic) if own.rule == "generic-key"]
    assert finding.message == (
        "The names pk, gsi1pk tell nothing about their values, so hot keys were not looked for."
    )
    assert "'dynamometer lab FILE'" in finding.fix
    located = replace(generic, file="infra/main.tf")
    [finding] = [own for own in check_table(located) if own.rule == "generic-key"]
    assert "'dynamometer lab infra/main.tf'" in finding.fix
    named = table("customerId / sk", [index("first", "orderId")])
    assert "generic-key" not in {own.rule for own in check_table(named)}
