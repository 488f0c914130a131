"""What declared keys hold, computed and not played."""

import pytest

from emulator.designs.declared import DeclaredTable
from emulator.lab.analysis.comparison import compare
from emulator.lab.analysis.key_limits import key_limits
from emulator.lab.files import loads
from emulator.lab.inputs.drafted_lab_file import drafted
from emulator.lab.inputs.stated_load import read_load
from emulator.lab.outcome import words

NARROW = {"ProjectionType": "KEYS_ONLY"}


def table(name="app", key="pk", *indexes, **members):
    """Return a declared table with indexes of one attribute each."""

    def schema(attribute):
        return [{"AttributeName": attribute, "KeyType": "HASH"}]

    names = [key, *(attribute for attribute, _ in indexes)]
    request = {
        "TableName": name,
        "KeySchema": schema(key),
        "AttributeDefinitions": [
            {"AttributeName": own, "AttributeType": "S"} for own in dict.fromkeys(names)
        ],
        "BillingMode": "PAY_PER_REQUEST",
        **members,
    }
    if indexes:
        request["GlobalSecondaryIndexes"] = [
            {"IndexName": f"gsi{number}", "KeySchema": schema(own), "Projection": projection}
            for number, (own, projection) in enumerate(indexes, 1)
        ]
    return DeclaredTable(resource=name, request=request)


def sentences(declared, **flags):
    """Return the limits of a table under flags, with plain spaces."""
    texts = {name: [str(value)] for name, value in flags.items()}
    indexes = [own["IndexName"] for own in declared.request.get("GlobalSecondaryIndexes", ())]
    load = read_load(texts, {declared.request["TableName"]: indexes})
    limits = key_limits([declared], load)
    return [limit.sentence().replace(words.SPACE, " ") for limit in limits]


def test_a_rate_says_how_uneven_key_values_may_be():
    """CAP-501: a partition serves 1,000 writes a second, so one of 6,000 gets a sixth of it."""
    [_, index] = sentences(
        table("app", "pk", ("status", {"ProjectionType": "ALL"})), rate=20_000, writes=0.3
    )
    assert index == (
        "app.gsi1 (status): holds 6,000 writes/s once it has grown (new, it serves 4,000) while "
        "no value of status gets over 16.7 % of them; on demand $2,956 a month at a mean of 30 %"
    )


def test_a_small_rate_is_held_however_uneven_it_is():
    [own] = sentences(table(), rate=500)
    assert own == (
        "app (pk): holds 150 writes/s and 350 reads/s, even if one value of pk gets all of them; "
        "on demand $91.16 a month at a mean of 30 %"
    )


def test_without_a_rate_the_limit_is_that_of_one_value():
    load = read_load({"rate": ["other=1"], "item_size": ["2 KB"]}, {"app": (), "other": ()})
    [limit] = key_limits([table()], load)
    assert limit.sentence().replace(words.SPACE, " ") == (
        "app (pk): one value of pk holds at most 500 writes/s or 6,000 reads/s of 2 KB; no rate is "
        "stated"
    )


def test_a_key_that_follows_the_clock_holds_what_one_value_holds():
    [own] = sentences(table(key="hour"), rate=5_000, writes=0.5)
    assert own.startswith(
        "app (hour): does not hold 2,500 writes/s: hour follows the clock, so one value gets all "
        "of them, and holds 1,000; holds 2,500 reads/s"
    )


def test_provisioned_capacity_and_own_limits_are_the_most_there_is():
    units = {"ReadCapacityUnits": 100, "WriteCapacityUnits": 10}
    [own] = sentences(table(BillingMode="PROVISIONED", ProvisionedThroughput=units), rate=100)
    assert own == (
        "app (pk): does not hold 30 writes/s: they take 30 units a second, and it has 10 at most; "
        "holds 70 reads/s, even if one value of pk gets all of them; as provisioned $14.23 a month"
    )
    [own] = sentences(table(OnDemandThroughput={"MaxWriteRequestUnits": 20}), rate=100)
    assert "does not hold 30 writes/s: they take 30 units a second, and it has 20" in own


def test_what_is_computed_costs_what_is_played():
    """Writes, reads and indexes of the drafted lab file are priced as the limits price them."""
    declared = table("app", "pk", ("status", {"ProjectionType": "ALL"}), ("owner", NARROW))
    sort = {"AttributeName": "createdAt", "KeyType": "RANGE"}  # every write adds an item
    declared.request["KeySchema"].append(sort)
    load = read_load({"rate": ["200"], "item_size": ["2500"]}, {"app": ["gsi1", "gsi2"]})
    computed = sum(limit.month for limit in key_limits([declared], load))
    file = loads(drafted([declared], load, path="app"))
    result = compare(**file.arguments() | {"worlds": 2}, headroom=False, fix=False)
    [cost] = [cost for cost in result.designs[0].costs if cost.chosen]
    units = sum(line.amount for line in cost.lines if line.item in ("reads", "writes"))
    assert units == pytest.approx(computed, rel=0.02)
