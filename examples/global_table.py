"""A global table, and what another region sees of it, and when.

Scenario: a shop has its carts in Virginia and in Ireland. A write is acknowledged where it is made
and is in the other region a second later (Settings.replication_lag). Until then each region answers
from its own copy, even a strongly consistent read and a condition: two buyers can both have the
last item. Then the later write wins everywhere, and the earlier one is gone without an error.

While Ireland is out of reach, Virginia goes on; when it is back, everything arrives. Every write
is paid for in both regions.
"""

from emulator import Emulator, ManualClock

VIRGINIA, IRELAND = "us-east-1", "eu-west-1"
OUTAGE_SECONDS = 600


def create(emu: Emulator) -> None:
    client = emu.client(VIRGINIA)
    client.create_table(
        TableName="stock",
        AttributeDefinitions=[{"AttributeName": "item", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "item", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    client.update_table(TableName="stock", ReplicaUpdates=[{"Create": {"RegionName": IRELAND}}])


def buy(emu: Emulator, region: str, buyer: str) -> str:
    """Take the last lamp, if it is still there."""
    try:
        emu.table("stock", region).update_item(
            Key={"item": "lamp"},
            UpdateExpression="SET buyer = :b",
            ConditionExpression="attribute_not_exists(buyer)",
            ExpressionAttributeValues={":b": buyer},
        )
    except emu.client().exceptions.ConditionalCheckFailedException:
        return "too late"
    return "sold"


def show(emu: Emulator, what: str) -> None:
    buyers = []
    for region in (VIRGINIA, IRELAND):
        try:
            answer = emu.table("stock", region).get_item(Key={"item": "lamp"}, ConsistentRead=True)
            lamp = answer.get("Item")
            buyers.append("no lamp" if lamp is None else lamp.get("buyer", "for sale"))
        except emu.client().exceptions.InternalServerError:
            buyers.append("no answer")
    print(f"{what:<34}{buyers[0]:<10}{buyers[1]}")


def main() -> None:
    clock = ManualClock()
    emu = Emulator(clock=clock)
    create(emu)
    print(f"{'the lamp':<34}{'Virginia':<10}Ireland")
    with emu.budget(calls=100) as ledger:
        emu.table("stock", VIRGINIA).put_item(Item={"item": "lamp"})
    show(emu, "at once")
    clock.advance(1)
    show(emu, "after a second")

    first = buy(emu, VIRGINIA, "Ann")
    clock.advance(0.2)
    second = buy(emu, IRELAND, "Bob")
    show(emu, f"Ann: {first}, Bob: {second}")
    clock.advance(1)
    show(emu, "a second later")

    emu.faults.add(kind="outage", regions=IRELAND, until=clock.now() + OUTAGE_SECONDS)
    emu.table("stock", VIRGINIA).put_item(Item={"item": "lamp", "buyer": "Cleo"})
    clock.advance(OUTAGE_SECONDS / 2)
    show(emu, "Ireland is out")
    clock.advance(OUTAGE_SECONDS / 2)
    show(emu, "Ireland is back")

    worst = emu.account(IRELAND).metrics.get("ReplicationLatency", table="stock", stat="Maximum")
    print(f"longest way to Ireland: {max(value for _, value in worst) / 1000:g} s")
    print(f"units of one put: {ledger.write_units:g} here, {ledger.replicated_units:g} elsewhere")


if __name__ == "__main__":
    main()
