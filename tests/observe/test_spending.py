"""What tables consumed, what refused them, and what it costs (CAP-1001, CAP-802)."""

from emulator import Emulator, ManualClock
from emulator.settings import Settings

KEY = {
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "kind", "AttributeType": "S"},
    ],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "byKind",
            "KeySchema": [{"AttributeName": "kind", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
}
ITEM = {"pk": {"S": "a"}, "kind": {"S": "x"}}


def made(**table):
    emulator = Emulator(clock=ManualClock(), settings=Settings(free_tier=False))
    emulator.call("CreateTable", {"TableName": "orders", **KEY, **table})
    return emulator


def test_units_on_demand_are_paid_by_arm_at_the_price_of_the_class():
    emulator = made(BillingMode="PAY_PER_REQUEST", TableClass="STANDARD_INFREQUENT_ACCESS")
    emulator.call("PutItem", {"TableName": "orders", "Item": ITEM})
    emulator.call(
        "GetItem", {"TableName": "orders", "Key": {"pk": {"S": "a"}}, "ConsistentRead": True}
    )
    table, index = emulator.spending()
    assert (table.read_units, table.write_units, table.index) == (1.0, 1.0, None)
    assert table.usd == (0.155 + 0.78) / 1_000_000
    assert (index.index, index.write_units, index.usd) == ("byKind", 1.0, 0.78 / 1_000_000)
    assert (table.usd_write_unit, table.usd_hour) == (0.78 / 1_000_000, 0.0)


def test_provisioned_capacity_is_paid_by_the_hour_used_or_not():
    units = {"ReadCapacityUnits": 10, "WriteCapacityUnits": 10}
    index = KEY["GlobalSecondaryIndexes"][0] | {"ProvisionedThroughput": units}
    emulator = made(ProvisionedThroughput=units, GlobalSecondaryIndexes=[index])
    emulator.clock.advance(3600 - 300)
    table = emulator.spending()[0]
    assert round(table.usd, 6) == round(10 * (0.00013 + 0.00065), 6)
    assert (table.usd_read_unit, table.usd_hour) == (0.0, 10 * (0.00013 + 0.00065))


def test_refusals_are_counted_by_reason():
    emulator = made(BillingMode="PAY_PER_REQUEST", OnDemandThroughput={"MaxWriteRequestUnits": 1})
    for _ in range(3):
        emulator.call("PutItem", {"TableName": "orders", "Item": ITEM})
    assert emulator.spending()[0].throttles == {"TableWriteMaxOnDemandThroughputExceeded": 2}


def test_a_deleted_table_is_still_counted():
    emulator = made(BillingMode="PAY_PER_REQUEST")
    emulator.call("PutItem", {"TableName": "orders", "Item": ITEM})
    emulator.call("DeleteTable", {"TableName": "orders"})
    table, index = emulator.spending()
    assert (table.is_deleted, table.write_units, table.usd) == (True, 1.0, 0.625 / 1_000_000)
    assert index.index == "byKind"
